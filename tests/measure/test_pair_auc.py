"""AUC of features: every path equals the double loop, its laws, and what is kept of it."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits

from mauc import (
    ARCO,
    MAUCD,
    MDFS,
    ConsensusSelector,
    GreedyMAUC,
    SubproblemSelector,
    feature_pair_auc,
)
from mauc.data.door import FitOptions, make_problem
from mauc.data.problem import Decomposition
from mauc.exceptions import MaucError
from mauc.measure import pair_auc
from mauc.measure.pair_auc import (
    auc_relevance,
    dense_wins,
    missing_report,
    pair_wins,
    sparse_wins,
    weighted_wins,
)
from mauc.registry import Accepts
from mauc.selectors import base
from tests.helpers import oracles, strategies
from tests.helpers.strategies import examples

quiet = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")

ACCEPTS = Accepts(sparse=True, infinite=True)


def auc_on(name, X, y, sample_weight=None):
    problem = make_problem(X, y, FitOptions(ACCEPTS), sample_weight)
    return auc_relevance(problem, Decomposition(name, problem.n_classes), slice(None))


@quiet
def test_by_hand():
    # Of four pairs three are in order and one is a tie: 3.5 / 4.
    X, y = np.array([[1.0], [2.0], [2.0], [3.0]]), [0, 0, 1, 1]
    assert_array_equal(feature_pair_auc(X, y), [[3.5 / 4]])
    assert_array_equal(feature_pair_auc(X, y, folded=False), [[0.5 / 4]])
    assert_array_equal(feature_pair_auc(-X, y, folded=False), [[3.5 / 4]])


@quiet
@examples(120)
@given(st.one_of(strategies.problems(), strategies.problems(strategies.integer_tables)))
def test_every_type_equals_the_definition(problem):
    X, y = problem
    assert_array_equal(feature_pair_auc(X, y), oracles.folded_auc(X, y, int(y.max()) + 1))


@quiet
@given(strategies.problems())
def test_one_versus_rest_equals_the_definition(problem):
    X, y = problem
    assert_array_equal(auc_on("one-vs-rest", X, y), oracles.rest_auc(X, y, int(y.max()) + 1))


@quiet
@given(st.data())
def test_weights_equal_the_definition(data):
    X, y = data.draw(strategies.problems(max_samples=20))
    n_classes = int(y.max()) + 1
    w = data.draw(strategies.weights(len(y)))
    assume((np.bincount(y, w) > 1e-3).all())
    wanted = oracles.folded_auc(X, y, n_classes, w)
    assert_allclose(feature_pair_auc(X, y, sample_weight=w), wanted, rtol=0, atol=1e-12)
    by_rest = auc_on("one-vs-rest", X, y, w)
    assert_allclose(by_rest, oracles.rest_auc(X, y, n_classes, w), rtol=0, atol=1e-12)


@quiet
@given(strategies.problems(strategies.float_tables, dtypes=(np.float64,)), st.data())
def test_a_monotone_map_keeps_the_auc(problem, data):
    X, y = problem
    # Ranks are a monotone image of any column; so is any growing function of them.
    image = np.full(X.shape, np.nan)
    for j in range(X.shape[1]):
        is_known = X[:, j] == X[:, j]
        image[is_known, j] = np.unique(X[is_known, j], return_inverse=True)[1]
    grow = data.draw(st.sampled_from([np.expm1, np.cbrt, lambda r: r**3 - 50, np.arctan]))
    wanted = feature_pair_auc(X, y, folded=False)
    assert_array_equal(feature_pair_auc(grow(image), y, folded=False), wanted)


@quiet
@given(strategies.problems())
def test_turned_around_gives_one_minus_auc_and_folds_alike(problem):
    X, y = problem
    forth, back = (
        make_problem(S * X, y, FitOptions(ACCEPTS)) for S in (X.dtype.type(1), -X.dtype.type(1))
    )
    wins, most = pair_wins(forth, slice(None))
    assert_array_equal(pair_wins(back, slice(None))[0], most - wins)
    assert_array_equal(feature_pair_auc(-X, y), feature_pair_auc(X, y))


@quiet
@given(st.integers(2, 40), st.floats(width=32), st.integers(2, 5))
def test_a_constant_column_gives_one_half(n_samples, value, n_classes):
    y = np.arange(max(n_samples, n_classes)) % n_classes
    X = np.full((len(y), 1), value)
    assert_array_equal(feature_pair_auc(X, y), np.full((1, n_classes * (n_classes - 1) // 2), 0.5))


@quiet
def test_a_missing_value_ties_with_every_value():
    # 1 of 2 known in order, the other three pairs hold a missing value: (1 + 3/2) / 4.
    X = np.array([[3.0], [np.nan], [1.0], [np.nan]])
    assert_array_equal(feature_pair_auc(X, [0, 0, 1, 1]), [[(1 + 3 / 2) / 4]])


FORMATS = ("csc_array", "csr_array", "coo_array", "csc_matrix", "csr_matrix", "lil_array")


@quiet
@pytest.mark.parametrize("name", FORMATS)
def test_sparse_equals_dense(rng, name):
    X = np.where(rng.random((80, 9)) < 0.7, 0.0, rng.normal(size=(80, 9)).round(1))
    X[3, 2], X[5, 2], X[7, 1] = np.nan, np.inf, -np.inf
    X[:, 4], X[:, 5], X[:, 6] = 0.0, 1.5, -1.5
    y = rng.integers(0, 4, 80)
    S = getattr(sparse, name)(X)
    assert_array_equal(feature_pair_auc(S, y, n_jobs=2), oracles.folded_auc(X, y, 4))
    w = rng.random(80)
    weighted = feature_pair_auc(S, y, sample_weight=w)
    assert_allclose(weighted, oracles.folded_auc(X, y, 4, w), rtol=0, atol=1e-12)


@quiet
def test_stored_zeros_and_duplicates_of_a_sparse_matrix():
    rows, columns = [0, 0, 1, 3, 4, 4], [0, 0, 0, 0, 0, 0]
    S = sparse.coo_array(([1.0, 2.0, 0.0, -0.0, 5.0, -5.0], (rows, columns)), shape=(6, 1))
    y = [0, 1, 0, 1, 0, 1]
    X = np.array([[3.0], [0], [0], [0], [0], [0]])
    assert_array_equal(feature_pair_auc(S, y), feature_pair_auc(X, y))


def columns_of(X):
    """Return the columns as the kernels take them."""
    XT = np.ascontiguousarray(X.T)
    XT.flags.writeable = False
    return XT


def dense(X, y):
    return dense_wins(columns_of(X), y, np.bincount(y))


def weighted(X, y, weights):
    return weighted_wins(columns_of(X), y, weights, np.bincount(y, weights))


def stored(X, y, weights):
    S = sparse.csc_array(X)
    parts = (S.data.astype(np.float64), S.indices.astype(np.int32), S.indptr.astype(np.int64))
    for part in parts:
        part.flags.writeable = False
    return sparse_wins(*parts, y, weights, np.bincount(y, weights))


def no_column_has_levels(XT):
    nothing = np.zeros(len(XT), np.int64)
    return np.zeros(XT.shape, np.uint8), nothing, nothing


def assert_all_paths(X, y):
    """Compare dense (chosen path and forced sort), weighted and sparse with the oracle."""
    n_classes = int(y.max()) + 1
    wanted = oracles.long_pair_wins(X, y, n_classes)
    unit = np.ones(len(y))
    for wins in (dense(X, y), weighted(X, y, unit), stored(X, y, unit)):
        assert_array_equal(wins, wanted)
    if X.dtype != np.uint8:
        with mock.patch.object(pair_auc, "find_levels", no_column_has_levels):
            assert_array_equal(dense(X, y), wanted)
    return wanted


def of_bytes(problem):
    return problem[0].astype(np.uint8), problem[1]


@examples(150)
@given(
    st.one_of(
        strategies.problems(),
        strategies.problems(strategies.integer_tables).map(of_bytes),
        strategies.long_problems(),
    )
)
def test_every_path_equals_the_definition(problem):
    X, y = problem
    assert_all_paths(X, y)
    thin = np.where((np.arange(len(y)) % 3 > 0)[:, np.newaxis], X.dtype.type(0), X)
    wanted = oracles.long_pair_wins(thin, y, int(y.max()) + 1)
    assert_array_equal(stored(thin, y, np.ones(len(y))), wanted)


@pytest.mark.parametrize("n_classes", [16, 17, 64, 65, 256, 257])
def test_many_classes(rng, n_classes):
    # 16 and 64 are the widths of the vector sweep, 256 is the last that is counted in bytes.
    n_samples = 3 * n_classes
    y = rng.permutation(np.arange(n_samples) % n_classes).astype(np.int32)
    mixed = np.column_stack(
        (
            rng.normal(size=n_samples),
            rng.integers(0, 9, n_samples),
            np.where(rng.random(n_samples) < 0.2, np.nan, rng.normal(size=n_samples).round(1)),
        )
    )
    assert_all_paths(mixed, y)
    assert_all_paths(rng.integers(0, 256, (n_samples, 2), dtype=np.uint8), y)


@pytest.mark.parametrize("n_samples", [46_341, 100_001])
def test_more_rows_than_32_bits_can_count(rng, n_samples):
    # From 46341 rows on 2 n n passes 2**32; with 100001 rows so does the first column's count.
    y = (np.arange(n_samples) % 2).astype(np.int32)
    X = np.column_stack(
        (
            np.where(y == 0, 2.0, 1.0) + rng.random(n_samples),
            np.where(y == 0, 2.0, 1.0),
            rng.normal(size=n_samples).round(3),
            np.where(rng.random(n_samples) < 0.1, np.nan, rng.normal(size=n_samples)),
        )
    )
    # Both directions: a kernel may count the wins of either class.
    wanted = assert_all_paths(np.column_stack((X, -X)), y)
    assert wanted[0, 0] == 2 * (n_samples // 2) * (n_samples - n_samples // 2)
    assert wanted[4, 0] == 0
    assert_all_paths(rng.integers(0, 3, (n_samples, 1), dtype=np.uint8), y)


KEEPING = [
    MDFS(20, random_state=0),
    MAUCD(20),
    ARCO(20),
    GreedyMAUC(20),
    GreedyMAUC("predicted"),
    SubproblemSelector(20, decomposition="one-vs-rest", schedule="round_robin"),
]


@pytest.mark.parametrize("selector", KEEPING, ids=str)
def test_nothing_is_computed_twice_where_there_is_room(selector, monkeypatch):
    X, y = load_digits(return_X_y=True)
    counted, count = [], pair_auc.count_levels
    again, compute = [], base.chosen_pair_auc

    def count_levels(LT, *args, **options):
        counted.append(len(LT))
        return count(LT, *args, **options)

    def chosen_pair_auc(*args):
        again.append(args)
        return compute(*args)

    monkeypatch.setattr(pair_auc, "count_levels", count_levels)
    monkeypatch.setattr(base, "chosen_pair_auc", chosen_pair_auc)
    wanted = selector.fit(X, y).pair_auc_
    assert sum(counted) == X.shape[1]
    assert again == []
    assert_array_equal(wanted, feature_pair_auc(X, y)[selector.ranking_])
    monkeypatch.setattr(pair_auc, "_MAX_KEPT", 0)
    assert_array_equal(selector.fit(X, y).pair_auc_, wanted)
    assert len(again) == 1


def test_few_of_many_features_take_no_room():
    problem = type("Shape", (), {"n_features": 1600, "n_classes": 3, "n_pairs": 3})
    assert pair_auc.allocate_pair_auc(problem, 99) is None
    assert pair_auc.allocate_pair_auc(problem, 100).shape == (1600, 3)
    wide = type("Shape", (), {"n_features": 2**22 // 3 + 1, "n_classes": 3, "n_pairs": 3})
    assert pair_auc.allocate_pair_auc(wide, wide.n_features) is None


def test_missing_values_on_the_better_side_of_each_pair(rng):
    y = rng.integers(0, 3, 70)
    X = rng.normal(size=(70, 5)).round(1) + 0.4 * y[:, np.newaxis]
    X[rng.random(X.shape) < 0.1 + 0.2 * (y[:, np.newaxis] == 2)] = np.nan
    X[:, 4] = np.where(y == 1, np.nan, 7)  # one value alone
    weights = rng.integers(1, 4, 70)
    for options in ({}, {"sample_weight": weights}):
        low, high = (
            feature_pair_auc(np.nan_to_num(X, nan=side), y, **options) for side in (-99, 99)
        )
        found = feature_pair_auc(X, y, missing="side", **options)
        assert_array_equal(found, np.maximum(low, high))
        tied = feature_pair_auc(X, y, **options)
        in_missing = feature_pair_auc(np.isnan(X), y, **options)
        assert_allclose(found, tied + in_missing - 0.5, rtol=1e-12)
    assert found[4, 0] == 1.0
    stored = sparse.csc_array(np.nan_to_num(X, nan=np.inf))
    stored.data[stored.data == np.inf] = np.nan
    assert_array_equal(feature_pair_auc(stored, y, missing="side", sample_weight=weights), found)
    assert_allclose(MDFS("all", missing="side").fit(X, y, weights).scores_, found.mean(axis=1))
    halves = ConsensusSelector(MAUCD(2, missing="side"), random_state=0).fit(X, y)
    assert_array_equal(halves.pair_auc_, feature_pair_auc(X, y, missing="side")[halves.ranking_])


def test_missing_values_of_a_sketch_tie():
    with pytest.raises(MaucError, match='missing must be "tie" for a sketch'):
        MAUCD(1, missing="side").partial_fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(MaucError, match="missing must be one of 'tie', 'side', got 'sid'"):
        MDFS(1, missing="sid").fit([[1.0], [2.0]], [0, 1])


def test_what_is_reported_of_missing_values():
    # Known: 1 < 2 in three of three pairs; missing: one of two, and one of four.
    X = np.array([[1.0, 0.0], [np.nan, 1.0], [2.0, 0.0], [2.0, 1.0], [2.0, 2.0], [np.nan, 3.0]])
    found = missing_report(X, [0, 0, 1, 1, 1, 1])
    assert found == {0: {"missing": 1 / 3, "known_auc": 1.0, "missing_auc": 0.625}}
    assert missing_report(X[:, 1:], [0, 0, 1, 1, 1, 1]) == {}
