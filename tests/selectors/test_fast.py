"""FAST does not see the unit of a feature: k and k / 10 have the same thresholds."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc import FAST, SubproblemSelector

FACTORS = [0.1, 0.3, 1 / 3, 1 / 7, 1e-3, 1e-9, 1e-200, 7.7, np.pi, 1e5, 1e200, -1.0, -0.1]


def whole_numbers(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 90)
    return rng.integers(0, (5, 20, 1000)[seed % 3], (90, 6)).astype(float), y


def test_countable_by_hand():
    # Bins {1, 2, 3} and {4, 5, 6}; the means 2 and 5 are values themselves, and not above it.
    # States 0 0 1 1 1 2: first class 0, 1, 1 and second 0, 1, 2: 2 wins, 3 ties of 9 pairs.
    k = np.array([1.0, 3.0, 4.0, 2.0, 5.0, 6.0])
    y = np.array([0, 0, 0, 1, 1, 1])
    for x in (k, k / 10, k * 0.1, k / 3, k * 1e-9):
        assert FAST("all", n_bins=2).fit(x[:, np.newaxis], y).scores_[0] == 1 - 3.5 / 9


@pytest.mark.parametrize("factor", FACTORS)
def test_the_unit_does_not_matter(factor):
    for seed in range(12):
        X, y = whole_numbers(seed)
        wanted = FAST("all").fit(X, y)
        for scaled in (X * factor, X / factor, X / 10 * factor):
            found = FAST("all").fit(scaled, y)
            if factor > 0:
                assert_array_equal(found.scores_, wanted.scores_)
                assert_array_equal(found.ranking_, wanted.ranking_)
            else:  # a value at a threshold lies on the other side of it
                mirrored = FAST("all").fit(-X, y)
                assert_array_equal(found.scores_, mirrored.scores_)


@pytest.mark.parametrize("decomposition", ["one-vs-one", "one-vs-rest"])
def test_the_unit_does_not_matter_on_sub_problems(decomposition):
    options = {"relevance": "fast", "decomposition": decomposition, "schedule": "round_robin"}
    for seed in range(6):
        X, y = whole_numbers(seed)
        wanted = SubproblemSelector("all", **options).fit(X, y)
        for factor in (0.1, 1 / 3, 1e5):
            found = SubproblemSelector("all", **options).fit(X * factor, y)
            assert_array_equal(found.ranking_, wanted.ranking_)
            assert_array_equal(found.scores_, wanted.scores_)


def test_whole_numbers_far_from_zero_are_exact():
    X, y = whole_numbers(1)
    for offset in (1e12, 2.0**52, -(2.0**52)):
        assert_array_equal(FAST("all").fit(X + offset, y).scores_, FAST("all").fit(X, y).scores_)


def test_missing_values(rng):
    X, y = whole_numbers(2)
    X[rng.random(X.shape) < 0.2] = np.nan
    for factor in (0.1, 1 / 3):
        found = FAST("all").fit(X * factor, y)
        assert_array_equal(found.scores_, FAST("all").fit(X, y).scores_)
