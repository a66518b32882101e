"""The oracles themselves: by hand, and the long one against the literal one."""

import numpy as np
from hypothesis import given
from numpy.testing import assert_array_equal

from tests.helpers import oracles, strategies


def test_wins_by_hand():
    # 1 < 2, 1 < 3, 2 = 2, 2 < 3: class 0 has one tie of four; NaN ties with both.
    x = [1.0, 2.0, 2.0, 3.0, np.nan]
    assert oracles.column_wins(x, [0, 0, 1, 1, 0], 2) == [1 + 2]
    assert oracles.column_wins(x, [1, 1, 0, 0, 1], 2) == [7 + 2]


def test_mauc_by_hand():
    # A_01: of 2 pairs one right and one tie; A_10: both right.
    scores = [[3, 0], [1, 1], [1, 2]]
    assert oracles.mauc([0, 0, 1], scores, 2) == (3 / 4 + 1) / 2


def test_algorithm_1_by_hand():
    # Pair 0 likes feature 0 then 1, pair 1 likes 0 then 2: the second draw is wasted.
    relevance = np.array([[0.9, 0.9], [0.8, 0.6], [0.7, 0.8]])
    steps = oracles.algorithm_1(relevance, 3, iter([0, 1, 1, 0]))
    assert steps == [(0, 0, 1), (2, 1, 2), (1, 0, 2)]


@given(strategies.problems())
def test_long_oracle_equals_the_double_loop(problem):
    X, y = problem
    n_classes = int(y.max()) + 1
    assert_array_equal(oracles.long_pair_wins(X, y, n_classes), oracles.pair_wins(X, y, n_classes))
