"""The search of GreedyMAUC: its arithmetic, and features that are not scored again."""

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose

from mauc import GreedyMAUC
from mauc.measure.effects import measure
from mauc.search.greedy import dot, exp_minus, pair_stakes
from tests.helpers.told_prior import prior_of


def test_exponential_is_right_to_1e_14():
    x = np.concatenate([[0.0, 5e-324, 1e-300], np.linspace(0, 40, 4001), np.linspace(40, 700, 999)])
    exponential = njit(lambda v: exp_minus(v))
    assert_allclose([exponential(v) for v in x], np.exp(-x), rtol=2e-14)
    assert exponential(1e300) == exponential(700.0)


@pytest.mark.parametrize("n", [1, 15, 64, 65536, 140_001])
def test_products_are_exact(rng, n):
    a, b = rng.choice(np.array([-127, 127, 3], np.int8), (2, n))
    product = njit(lambda v, w: dot(v, w))
    assert product(a.astype(np.int16), a) == (a.astype(np.int64) ** 2).sum()
    assert product(a.astype(np.int16), b) == (a.astype(np.int64) * b).sum()


@pytest.mark.parametrize("has_prior", [False, True])
def test_most_features_are_scored_once(rng, monkeypatch, has_prior):
    X, y = rng.normal(size=(300, 3000)), np.arange(300) % 10
    X[:, :30] += rng.normal(size=(10, 30))[y]
    kept = {}

    def keep(*args, **options):
        effects, scores = measure(*args, **options)
        kept.update(now=effects, first=effects.copy())
        return effects, scores

    monkeypatch.setattr("mauc.selectors.greedy_mauc.measure", keep)
    prior = prior_of(rng.uniform(0.5, 1, 3000)) if has_prior else None
    GreedyMAUC(20, prior=prior).fit(X, y)
    assert (kept["now"] == kept["first"]).all(axis=1).mean() > 0.9


def test_errors_of_pairs_with_few_samples_count_less():
    # Harmonic means of sizes 10 and 10, 10 and 30 (15), 30 and 30: h / (h + 10), the largest 1.
    sizes = np.array([10, 10, 30, 30])
    expected = np.array([10 / 20, 15 / 25, 15 / 25, 15 / 25, 15 / 25, 30 / 40]) / (30 / 40)
    assert_allclose(pair_stakes(sizes, None), expected)
    shares = np.array([4.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert_allclose(pair_stakes(sizes, shares), shares * expected / (4 * expected[0]))
