"""Shares of luck in class means: the limits that are known."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mauc.selectors.greedy_mauc.prediction import count_sizes, selection_bias


def test_all_is_luck_if_all_features_are_noise(rng):
    z = rng.normal(size=(3, 4000))
    chosen = np.array([2.5, 3.0, 3.5])
    assert_allclose(selection_bias(chosen, count_sizes(z)), 1 - 1 / chosen**2, atol=0.1)


@pytest.mark.parametrize("variance", [1.0, 3.0, 8.0])
def test_normal_effects_shrink_as_they_must(rng, variance):
    true = rng.normal(size=20_000) * np.sqrt(variance)
    z = true + rng.normal(size=20_000)
    chosen = np.sort(np.abs(z))[-200:]
    # E(true | z) = z variance / (1 + variance), chosen or not.
    wanted = 1 / (1 + variance) - 1 / chosen**2
    assert_allclose(selection_bias(chosen, count_sizes(z)).mean(), wanted.mean(), atol=0.06)


def test_the_expected_truth_is_that_of_the_chosen(rng):
    # One feature in ten tells something; the 50 largest of 5000 are looked at.
    true = np.where(rng.random(5000) < 0.1, rng.normal(size=5000) * 3, 0.0)
    z = true + rng.normal(size=5000)
    largest = np.argsort(np.abs(z))[-50:]
    kept = 1 - selection_bias(z[largest], count_sizes(z)) - 1 / z[largest] ** 2
    assert_allclose((kept * z[largest] ** 2).sum(), (true * z)[largest].sum(), rtol=0.1)


def test_clear_differences_are_not_luck(rng):
    z = rng.normal(size=(4, 50)) * 60
    assert selection_bias(z, count_sizes(z)).max() < 0.02


@pytest.mark.parametrize("z", [[0.0], [1e6], [0.0, 1e300, -5.0], [3.0] * 7])
def test_shares_are_shares(z):
    shares = selection_bias(np.array(z), count_sizes(np.array(z)))
    assert ((shares >= 0) & (shares <= 1)).all()
