"""Halves are disjoint, stratified, and known by what rows hold."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from mauc.data.problem import make_problem
from mauc.exceptions import SmallClassWarning
from mauc.selectors.consensus import complementary_halves


def deal(X, y, n_pairs=3, seed=0):
    problem = make_problem(BaseEstimator(), X, y)
    return complementary_halves(problem, n_pairs, np.random.RandomState(seed))


def test_two_halves_are_all_rows_and_each_has_half_of_every_class(rng):
    y = np.repeat([0, 1, 2], [10, 7, 3])
    halves = deal(rng.normal(size=(20, 4)), y)
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        assert_array_equal(np.sort(np.concatenate([first, second])), np.arange(20))
        counts = np.array([np.bincount(y[half], minlength=3) for half in (first, second)])
        assert (np.abs(counts[0] - counts[1]) <= 1).all()
        assert abs(len(first) - len(second)) <= 1  # odd classes take turns
    assert len({tuple(half) for half in halves}) == 6


def test_the_order_of_rows_does_not_matter(rng):
    # Rows that agree in the first columns are told apart by later ones.
    X = rng.integers(0, 2, (40, 30)).astype(float)
    y = rng.integers(0, 3, 40)
    turned = rng.permutation(40)
    for one, other in zip(deal(X, y), deal(X[turned], y[turned]), strict=True):

        def rows(half, X=X, y=y):
            return sorted(map(tuple, np.column_stack([X, y])[half]))

        assert rows(one) == rows(turned[other])


def test_a_monotone_map_changes_no_half(rng):
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 2, 30)
    for one, other in zip(deal(X, y), deal(np.exp(X), y), strict=True):
        assert_array_equal(one, other)


@pytest.mark.filterwarnings("ignore:.*rests on that sample")
def test_a_class_of_one_is_in_both_halves_and_said_so(rng):
    y = np.repeat(["a", "b", "c"], [6, 2, 1])
    with pytest.warns(SmallClassWarning, match=r"needs 2 samples to be in both halves.*'c'"):
        halves = deal(rng.normal(size=(9, 3)), y)
    for half in halves:
        assert set(y[half]) == {"a", "b", "c"}
        assert (y[half] == "b").sum() == 1
