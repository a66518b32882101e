"""The kernels of ReliefF: scaled columns, distances, and the neighbours that hold a slot."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.selectors.relieff.relieff import (
    add_weights,
    fill_panel,
    new_slots,
    scale_columns,
    scan_panel,
)


def scaled(columns, n_values=None):
    XT = np.array(columns, dtype=np.float64)
    n_values = np.zeros(len(XT), np.int32) if n_values is None else np.array(n_values, np.int32)
    ZT = np.empty_like(XT)
    has_missing = scale_columns(XT, n_values, ZT)
    return ZT, has_missing


def distances(ZT, n_values, queries):
    """Distances of the queries to all rows, the mixed way."""
    n = ZT.shape[1]
    panel = np.empty((len(queries) + -len(queries) % 4, n))
    fill_panel(
        ZT, np.arange(len(ZT)), np.array(n_values, np.int32), False, np.array(queries), False,
        0, n, np.zeros(n, np.int32), panel, *new_slots(len(queries), 1, 1),
    )  # fmt: skip
    return panel[: len(queries)]


def test_columns_are_scaled_to_their_range():
    ZT, has_missing = scaled([[2.0, 4.0, 3.0], [7.0, 7.0, 7.0], [0.0, 9e-7, 0.0]])
    assert_array_equal(ZT, [[0.0, 1.0, 0.5], [0.0] * 3, [0.0] * 3])
    assert not has_missing


def test_missing_values_stay_and_nominal_columns_are_copied():
    ZT, has_missing = scaled([[np.nan, 4.0, 2.0], [5.0, np.nan, 5.0], [0.0, 2.0, 1.0]], [0, 0, 3])
    assert_array_equal(ZT, [[np.nan, 1.0, 0.0], [0.0, np.nan, 0.0], [0.0, 2.0, 1.0]])
    assert has_missing


def test_differences_by_hand():
    nan = np.nan
    # numeric: |z - z|, max(z, 1 - z) for one gap, 1 for two
    ZT = np.array([[0.0, 0.25, 1.0, nan]])
    wanted = [[0.0, 0.25, 1.0, 1.0], [0.25, 0.0, 0.75, 0.75], [1.0, 0.75, 0.0, 1.0]]
    assert_array_equal(distances(ZT, [0], [0, 1, 2]), wanted)
    assert_array_equal(distances(ZT, [0], [3]), [[1.0, 0.75, 1.0, 1.0]])
    # nominal with four values: 0 or 1, and 1 - 1/4 for a gap
    ZT = np.array([[0.0, 3.0, 0.0, nan]])
    assert_array_equal(distances(ZT, [4], [0]), [[0.0, 1.0, 0.0, 0.75]])
    assert_array_equal(distances(ZT, [4], [3]), [[0.75] * 4])


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        # free slots are filled in order; row 3 (0.5) then takes that of row 1 (4.0)
        ([9.0, 4.0, 1.0, 0.5, 3.0], [3, 2]),
        # equal distances keep who came first
        ([9.0, 1.0, 1.0, 1.0, 1.0], [1, 2]),
        # of two equally far slots the first goes
        ([9.0, 2.0, 2.0, 1.0, 3.0], [3, 2]),
    ],
)
def test_slots_by_hand(row, wanted):
    near_dist, near_row, bound, target = new_slots(1, 1, 2)
    panel = np.array([row])
    y = np.zeros(5, np.int32)
    scan_panel(np.array([0]), False, 0, 1, 0, y, panel, near_dist, near_row, bound, target)
    assert near_row[0, 0].tolist() == wanted
    assert near_dist[0, 0].tolist() == [row[i] for i in wanted]
    assert bound[0, 0] == max(row[i] for i in wanted)


def test_a_class_with_fewer_rows_keeps_free_slots():
    near_dist, near_row, bound, target = new_slots(1, 2, 3)
    y = np.array([0, 0, 1], np.int32)
    panel = np.array([[0.0, 1.0, 2.0]])
    scan_panel(np.array([0]), False, 0, 1, 0, y, panel, near_dist, near_row, bound, target)
    assert near_row[0].tolist() == [[1, -1, -1], [2, -1, -1]]
    assert np.isinf(bound).all()


def test_weights_by_hand():
    # Row 0 of class 0, hit row 1, misses row 2 (class 1) and row 3 (class 2). Shares 1/2, 1/4,
    # 1/4: each miss counts (1/4) / (1 - 1/2) = 1/2. -0.25 + (1.0 + 0.5) / 2 = 0.5.
    ZT = np.array([[0.0, 0.25, 1.0, 0.5]])
    y = np.array([0, 0, 1, 2], np.int32)
    near_row = np.array([[[1], [2], [3]]], np.int32)
    for is_plain in (True, False):
        weights = np.zeros(1)
        add_weights(
            ZT, np.zeros(1, np.int32), is_plain, np.array([0]), y, np.bincount(y), near_row, 0, 1,
            weights,
        )  # fmt: skip
        assert_array_equal(weights, [0.5])
