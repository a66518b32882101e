"""Halves of the rows and of groups: complementary, balanced, the same for any order of the rows."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.data.door import make_problem
from mauc.exceptions import MaucError, SmallClassWarning
from mauc.selectors.halves import complementary_halves


def deal(X, y, n_pairs=3, seed=0, groups=None):
    problem = make_problem(X, y, groups=groups)
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


@pytest.mark.filterwarnings("ignore:.*rests on that sample")
def test_a_class_of_one_is_in_both_halves_and_said_so(rng):
    y = np.repeat(["a", "b", "c"], [6, 2, 1])
    with pytest.warns(SmallClassWarning, match=r"needs 2 samples to be in both halves.*'c'"):
        halves = deal(rng.normal(size=(9, 3)), y)
    for half in halves:
        assert set(y[half]) == {"a", "b", "c"}
        assert (y[half] == "b").sum() == 1


def test_halves_of_whole_groups(rng):
    groups = np.repeat(np.arange(24), rng.integers(1, 7, 24))
    y = np.where(rng.random(len(groups)) < 0.8, groups % 3, 2)
    X = rng.normal(size=(len(y), 4))
    halves = deal(X, y, 20, groups=groups)
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        assert_array_equal(np.sort(np.concatenate([first, second])), np.arange(len(y)))
        assert not set(groups[first]) & set(groups[second])
        shares = np.bincount(y[first]) / np.bincount(y)
        assert (np.abs(shares - 0.5) < 0.2).all()
    together = np.mean([np.isin(np.arange(24), groups[half]) for half in halves[::2]], axis=0)
    assert ((together > 0) & (together < 1)).all()  # no group is always in the first
    assert len({tuple(half) for half in halves}) == 40
    order = rng.permutation(len(y))
    again = deal(X[order], y[order], 20, groups=(-groups)[order])  # nor do names matter
    for half, other in zip(halves, again, strict=True):
        assert_array_equal(half, np.sort(order[other]))


@pytest.mark.filterwarnings("ignore:.*rests on that sample")
def test_every_class_is_in_both_halves_if_groups_allow(rng):
    groups = np.repeat(np.arange(4), 4)
    X = rng.normal(size=(16, 3))
    y = np.array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2])
    for half in deal(X, y, 5, groups=groups):
        assert set(y[half]) == {0, 1, 2}
    y[11] = 0
    with pytest.warns(SmallClassWarning, match="needs 2 groups to be in both halves; .* of 2 is"):
        halves = deal(X, y, 5, groups=groups)
    assert all(15 in half and set(y[half]) == {0, 1, 2} for half in halves)
    # Every two of the three groups share a class that the third has not.
    y, groups = np.array([0, 1, 1, 2, 2, 0] * 2), np.array([0, 0, 1, 1, 2, 2] * 2)
    with pytest.raises(MaucError, match="groups must let every class be in both halves"):
        deal(rng.normal(size=(12, 3)), y, groups=groups)
