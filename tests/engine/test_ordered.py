"""The ordered sweep: weights, implicit zeros and missing values of one column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mauc.engine.ordered import rank_ordered, sweep_ordered
from tests.helpers import oracles, strategies

ZERO, ONE = np.zeros(2), np.ones(2)


def swept(values, codes, weights, implicit=ZERO, missing=ZERO):
    """Sweep sorted values of two classes."""
    values, weights = np.array(values, float), np.array(weights, float)
    codes = np.array(codes, np.int32)
    totals = np.bincount(codes, weights, minlength=2) + implicit + missing
    out = np.empty(1)
    sweep_ordered(values, codes, weights, np.array(implicit), np.array(missing), totals, out)
    return out[0]


def test_by_hand():
    # Class 0 weighs 2 at 1.0 and 3 at 3.0, class 1 weighs 5 at 1.0 and 7 at 2.0.
    wins = swept([1, 1, 2, 3], [0, 1, 1, 0], [2, 5, 7, 3])
    assert wins == 2 * 5 + 2 * 3 * (5 + 7)


def test_centred_ranks_by_hand():
    # 2.0 weighs 1 + 3 and lies above 1.0, which weighs 2; NaN, 4, ties with all 10.
    x, ranks, tied = np.array([[2.0, np.nan, 1.0, 2.0]]), np.empty((1, 4)), np.empty(1)
    rank_ordered(x, np.argsort(x), np.array([1.0, 4.0, 2.0, 3.0]), ranks, tied)
    assert_array_equal(ranks, [[2, 0, -4, 2]])
    assert tied == 2 * 2 + 4 * 4 + 4 * 10 + 6 * 4


@pytest.mark.parametrize(
    ("values", "wins"),
    [
        ([-2, -1], 0 + 2 + 1),  # the zeros come last: -2 loses twice, 0 beats -1 and ties with 0
        ([-2, 1], 0 + 0 + 1),  # and in between: 0 ties with 0 only
        ([1, 2], 2 + 1),  # and first: 1 beats 0
        ([0, 0], 2 + 2),  # stored zeros tie with the others
        ([-0.0, 0.0], 2 + 2),
        ([-np.inf, np.inf], 0 + 0 + 1),
    ],
)
def test_rows_that_are_not_stored_tie_at_zero(values, wins):
    # One row of each class is stored, one of each is an implicit zero.
    assert swept(values, [0, 1], [1, 1], implicit=ONE) == wins


def test_a_stored_zero_ties_with_one_that_is_not():
    # Class 0 stores its zero, class 1 does not, or the other way round.
    assert swept([0.0], [0], [1], implicit=np.array([0.0, 1.0])) == 1
    assert swept([-0.0], [1], [1], implicit=np.array([1.0, 0.0])) == 1


def test_missing_values_tie_with_everything():
    # The known pair is won, the other three have a missing value.
    assert swept([1, 2], [1, 0], [1, 1], missing=ONE) == 2 + 3


@given(st.data())
def test_equals_the_double_loop(data):
    X, y = data.draw(strategies.problems(max_features=1, max_samples=25, allow_missing=False))
    w = data.draw(strategies.weights(len(y)))
    x, n_classes = X[:, 0].astype(float), int(y.max()) + 1
    order = np.argsort(x, kind="stable")
    out = np.empty(n_classes * (n_classes - 1) // 2)
    none = np.zeros(n_classes)
    sweep_ordered(x[order], y[order], w[order], none, none, np.bincount(y, w), out)
    assert_allclose(out, oracles.column_wins(x, y, n_classes, w), rtol=1e-12, atol=1e-9)


@given(strategies.problems(max_features=1, allow_missing=False))
def test_whole_weights_are_exact(problem):
    X, y = problem
    x, n_classes = X[:, 0].astype(float), int(y.max()) + 1
    order = np.argsort(x, kind="stable")
    out = np.empty(n_classes * (n_classes - 1) // 2)
    w, none = np.arange(1.0, len(y) + 1), np.zeros(n_classes)
    sweep_ordered(x[order], y[order], w[order], none, none, np.bincount(y, w), out)
    assert_array_equal(out, oracles.column_wins(x, y, n_classes, w.astype(int).tolist()))
