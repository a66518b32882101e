"""One sort for AUCs and ranks: words that carry the row, against NumPy's own sort."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator

from mauc.data.problem import make_problem
from mauc.engine.arrays import read_only
from mauc.engine.words import sort_with_rows
from mauc.selectors.pair_auc import ColumnReader, dense_wins


def columns_of_all_kinds(rng, n, dtype):
    """Return columns whose words keep or lose bits, with and without ties."""
    XT = rng.normal(size=(9, n))
    width = 40 if dtype == np.float64 else 15
    XT[1] = XT[1].round(1) / 3  # ties on no grid
    XT[2] = np.exp(width * XT[2])  # all magnitudes
    XT[3] = np.where(rng.random(n) < 0.4, XT[3, 0], np.exp(width * XT[3]))
    XT[4, ::7] = np.nan
    XT[5] = 1.0 + np.arange(n)[::-1] * 2.0**-52  # neighbours that differ in the last bit
    XT[5, :2] = 1e30, -1e-30
    XT[6] = np.nan
    XT[7, :2] = np.inf, -np.inf
    XT[8] = np.where(XT[8] > 0, 0.0, -0.0)
    return read_only(XT.astype(dtype))


@pytest.mark.parametrize("n", [2, 3, 60, 700, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_words_give_order_and_ties(rng, n, dtype):
    XT = columns_of_all_kinds(rng, n, dtype)
    rows = rng.permutation(n).astype(np.int32)
    labels = np.empty(n, np.int32)
    labels[rows] = np.arange(n)
    words, n_known, row_bits = sort_with_rows(XT, labels, rows)
    for x, row, n_here in zip(XT, words, n_known, strict=True):
        keys, numbers = row[:n_here] >> row_bits, row[:n_here] & ((1 << row_bits) - 1)
        values = x[rows[numbers.astype(np.int64)]]
        assert_array_equal(values, np.sort(x[~np.isnan(x)]))
        assert_array_equal(np.sort(numbers), np.sort(labels[~np.isnan(x)]))
        assert_array_equal(np.diff(keys.astype(object)) > 0, np.diff(values) != 0)


class Noted:
    """A writer that notes which columns it was given."""

    def __init__(self):
        self.levels, self.sorted = [], []

    def write_levels(self, LT, columns):
        assert LT.dtype == np.uint8
        self.levels.extend(columns)

    def write_sorted(self, words, n_known, row_bits, columns):
        assert len(words) == len(n_known) == len(columns)
        self.sorted.extend(columns)


def test_wins_are_those_of_the_engine(rng):
    X = columns_of_all_kinds(rng, 200, np.float64).T.copy()
    X[:, 0] = rng.integers(0, 9, 200)
    problem = make_problem(BaseEstimator(), X, rng.integers(0, 5, 200))
    for order in (np.arange(200), np.argsort(problem.codes, kind="stable")):
        noted = Noted()
        reader = ColumnReader(problem, noted, order.astype(np.int32))
        wins = np.concatenate([reader.read(slice(0, 4)), reader.read(slice(4, 9))])
        XT = problem.ordered_columns(slice(0, 9))
        assert_array_equal(wins, dense_wins(XT, problem.codes, problem.class_counts))
        assert sorted(noted.levels + noted.sorted) == list(range(9))
        assert {0, 8} <= set(noted.levels)
        assert {1, 2, 3, 4, 5, 7} <= set(noted.sorted)
