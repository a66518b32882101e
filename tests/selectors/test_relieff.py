"""ReliefF: weights by hand, against the definition and WEKA, and by any cut of the work."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine

from mauc import ConsensusSelector, ReliefF
from mauc.exceptions import MaucError, TinyUnitsWarning
from mauc.measure import relieff as weights_module
from mauc.measure.relieff import weigh_columns
from tests.helpers import oracle_relief, rival_strategies, weka
from tests.helpers.array_source import CountingSource
from tests.helpers.oracle_relief import relieff_oracle
from tests.helpers.strategies import examples


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
        weights = weigh_columns(weka.columns(X), y, n_classes, rows, n_threads=2)
        assert_allclose(weights, wanted, rtol=1e-9, atol=1e-15)


def test_by_hand():
    # z = 0, 1/4, 3/4, 1; one hit and one miss each. Rows 0 and 3: hit 1/4, miss 3/4.
    # Rows 1 and 2: hit 1/4, miss 1/2. Mean of 1/2, 1/4, 1/4, 1/2.
    XT = as_columns([[0.0], [1.0], [3.0], [4.0]])
    y = np.array([0, 0, 1, 1], np.int32)
    assert_array_equal(weigh_columns(XT, y, 2, n_neighbors=1), [0.375])
    # row 1 alone, drawn twice
    assert_array_equal(weigh_columns(XT, y, 2, rows=[1, 1], n_neighbors=1), [0.25])


def test_missing_by_hand():
    # Row 2 is missing. |z0 - z1| = 1, diff(0, ?) = max(0, 1) = 1, diff(1, ?) = max(1, 0) = 1:
    # row 0: hit 1, miss 1; row 1: the same; row 2 has no hit, its miss adds 1. (0 + 0 + 1) / 3.
    XT = as_columns([[0.0], [1.0], [np.nan]])
    y = np.array([0, 0, 1], np.int32)
    assert_array_equal(weigh_columns(XT, y, 2, n_neighbors=1), [1.0 * (1.0 / 3)])


def test_nominal_by_hand():
    # Categories a a b c of classes 0 0 1 1, one neighbour: rows 0 and 1: hit 0, miss 1;
    # rows 2 and 3: hit 1, miss 1. (1 + 1 + 0 + 0) / 4.
    XT = as_columns([[0.0], [0.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1], np.int32)
    weights = weigh_columns(XT, y, 2, n_neighbors=1, is_nominal=np.array([True]))
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
        weights = weigh_columns(
            as_columns(X), y, n_classes, rows, n_neighbors, n_threads, is_nominal
        )
    assert_array_equal(weights, relieff_oracle(X, y, n_classes, rows, n_neighbors, is_nominal))


def test_an_offset_and_a_scale_change_little(rng):
    X, y = rng.integers(0, 64, (80, 6)) / 8.0, rng.integers(0, 3, 80).astype(np.int32)
    plain = weigh_columns(as_columns(X), y, 3)
    assert_array_equal(weigh_columns(as_columns(X * 4 + 1024), y, 3), plain)


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
        assert_array_equal(selector.scores_, weigh_columns(XT, y, 3, rows))

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


@pytest.mark.parametrize(
    "selector", [ReliefF(3), ReliefF("auto"), ConsensusSelector(ReliefF(3), random_state=0)]
)
def test_a_source_is_refused_before_it_is_read(selector, wine):
    X, y = wine
    source = CountingSource(X)
    text = (
        r"X must be in memory for .*, where rows are compared with rows: about 37 kB for 178 rows "
        r"and 13 columns. an array is read in blocks; load it .*source.take_rows\(mask\).write"
    )
    with pytest.raises(MaucError, match=text):
        selector.fit(source, y)
    assert source.reads == []
