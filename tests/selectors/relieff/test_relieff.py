"""ReliefF: kernels by hand, weights against the definition, WEKA, and any cut of the work."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine

from mauc import ReliefF
from mauc.exceptions import TinyUnitsWarning
from mauc.selectors.relieff import relieff as weights_module
from mauc.selectors.relieff.relieff import (
    add_weights,
    fill_panel,
    new_slots,
    relieff_weights,
    scale_columns,
    scan_panel,
)
from tests.helpers import oracle_relief, rival_strategies, weka
from tests.helpers.oracle_relief import relieff_oracle
from tests.helpers.strategies import examples


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


def test_columns_are_scaled_to_their_range_and_missing_values_stay():
    ZT, has_missing = scaled([[2.0, 4.0, 3.0], [7.0, 7.0, 7.0], [0.0, 9e-7, 0.0]])
    assert_array_equal(ZT, [[0.0, 1.0, 0.5], [0.0] * 3, [0.0] * 3])
    assert not has_missing
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


def as_columns(X, dtype=np.float64):
    XT = np.ascontiguousarray(np.asarray(X).T, dtype=dtype)
    XT.flags.writeable = False
    return XT


@contextmanager
def panels(n_queries, use_symmetry):
    """Cut the queries into panels of a size; without symmetry every distance is computed twice."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weights_module, "PANEL_QUERIES", n_queries)
        if not use_symmetry:
            patch.setattr(weights_module, "SLOT_BYTES", -1)
        yield


@pytest.mark.parametrize("name", weka.REFERENCES)
def test_weights_equal_weka(name):
    X, y, n_classes, reference = weka.load(name)
    runs = list(weka.relieff_runs(reference))
    assert len(runs) >= 4
    for rows, wanted in runs:
        weights = relieff_weights(weka.columns(X), y, n_classes, rows, n_threads=2)
        assert_allclose(weights, wanted, rtol=1e-9, atol=1e-15)


def test_by_hand():
    # z = 0, 1/4, 3/4, 1; one hit and one miss each. Rows 0 and 3: hit 1/4, miss 3/4.
    # Rows 1 and 2: hit 1/4, miss 1/2. Mean of 1/2, 1/4, 1/4, 1/2.
    XT = as_columns([[0.0], [1.0], [3.0], [4.0]])
    y = np.array([0, 0, 1, 1], np.int32)
    assert_array_equal(relieff_weights(XT, y, 2, n_neighbors=1), [0.375])
    # row 1 alone, drawn twice
    assert_array_equal(relieff_weights(XT, y, 2, rows=[1, 1], n_neighbors=1), [0.25])


def test_missing_by_hand():
    # Row 2 is missing. |z0 - z1| = 1, diff(0, ?) = max(0, 1) = 1, diff(1, ?) = max(1, 0) = 1:
    # row 0: hit 1, miss 1; row 1: the same; row 2 has no hit, its miss adds 1. (0 + 0 + 1) / 3.
    XT = as_columns([[0.0], [1.0], [np.nan]])
    y = np.array([0, 0, 1], np.int32)
    assert_array_equal(relieff_weights(XT, y, 2, n_neighbors=1), [1.0 * (1.0 / 3)])


def test_nominal_by_hand():
    # Categories a a b c of classes 0 0 1 1, one neighbour: rows 0 and 1: hit 0, miss 1;
    # rows 2 and 3: hit 1, miss 1. (1 + 1 + 0 + 0) / 4.
    XT = as_columns([[0.0], [0.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1], np.int32)
    weights = relieff_weights(XT, y, 2, n_neighbors=1, is_nominal=np.array([True]))
    assert_array_equal(weights, [0.5])


@given(
    rival_strategies.relief_problems(),
    st.sampled_from([256, 1, 2, 5]),
    st.booleans(),
    st.integers(1, 3),
)
@examples(120)
def test_equals_the_definition(problem, panel_queries, use_symmetry, n_threads):
    X, y, n_classes, rows, n_neighbors, is_nominal = problem
    with panels(panel_queries, use_symmetry):
        weights = relieff_weights(
            as_columns(X), y, n_classes, rows, n_neighbors, n_threads, is_nominal
        )
    assert_array_equal(weights, relieff_oracle(X, y, n_classes, rows, n_neighbors, is_nominal))


def test_an_offset_and_a_scale_change_little(rng):
    X, y = rng.integers(0, 64, (80, 6)) / 8.0, rng.integers(0, 3, 80).astype(np.int32)
    plain = relieff_weights(as_columns(X), y, 3)
    assert_array_equal(relieff_weights(as_columns(X * 4 + 1024), y, 3), plain)


@pytest.mark.parametrize("as_frame", [False, True])
def test_tiny_units_are_warned_of(as_frame):
    X, y = load_iris(return_X_y=True, as_frame=as_frame)
    name = r"'petal width \(cm\)'" if as_frame else "'x3'"
    unit = np.array([1, 1, 1, 1e-7])
    with pytest.warns(
        TinyUnitsWarning, match=f"1 of 4 features \\({name}\\) vary by less than 1e-06"
    ):
        selector = ReliefF("all").fit(X * unit, y)
    assert selector.scores_[3] == 0


def test_constant_and_nominal_columns_are_not_warned_of():
    X, y = load_iris(return_X_y=True)
    columns = np.column_stack([X, np.ones(len(y)), y * 1e-7])
    selector = ReliefF(categorical_features=[5]).fit(columns, y)  # a warning would be an error
    assert selector.scores_[4] == 0
    assert selector.scores_[5] > 0


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


class TestIterationsOfReliefF:
    """Which samples look at their neighbours."""

    @pytest.mark.parametrize(("wanted", "size"), [("log", 5), (1, 1), (7, 7), (np.int64(500), 500)])
    def test_rows_are_drawn_with_replacement(self, wine, wanted, size):
        X, y = wine
        selector = ReliefF("all", n_iterations=wanted, random_state=3).fit(X, y)
        assert size == 5 if wanted == "log" else size == wanted  # ln 178 = 5.18
        rows = np.random.RandomState(3).randint(len(y), size=size)
        XT = np.ascontiguousarray(X.T)
        assert_array_equal(selector.scores_, relieff_weights(XT, y, 3, rows))

    def test_the_state_decides_the_draws(self, wine):
        def scores(state):
            selector = ReliefF(n_iterations="log", random_state=state)
            return selector.fit(*wine).scores_.tolist()

        assert scores(0) == scores(0) == scores(np.random.RandomState(0))
        assert len({tuple(scores(seed)) for seed in range(5)}) == 5

    def test_all_samples_need_no_state(self, wine):
        X, y = wine
        first = ReliefF(random_state=0).fit(X, y)
        assert_array_equal(ReliefF(n_iterations="all").fit(X, y).scores_, first.scores_)
        assert_allclose(first.scores_, oracle_relief.relieff_oracle(X, y, 3), rtol=1e-12)
