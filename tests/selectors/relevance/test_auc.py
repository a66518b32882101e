"""AUC of features: equal to the definition, its laws, and agnostic to how the data come."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from mauc import feature_pair_auc
from mauc.data import columns as block_width_module
from mauc.data.decomposition import Decomposition
from mauc.data.problem import make_problem
from mauc.registry import Accepts
from mauc.selectors.relevance import auc_relevance, pair_wins
from tests.helpers import oracles, strategies

ACCEPTS = Accepts(sparse=True, infinite=True)

pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")


def auc_on(name, X, y, sample_weight=None):
    problem = make_problem(BaseEstimator(), X, y, sample_weight, accepts=ACCEPTS)
    return auc_relevance(problem, Decomposition(name, problem.n_classes), slice(None))


@pytest.fixture
def tied(rng):
    """A table with ties and reals: 120 rows, 7 columns, 4 classes."""
    X = rng.normal(size=(120, 7))
    X[:, ::2] = X[:, ::2].round(1)
    return X, rng.integers(0, 4, 120)


def test_by_hand():
    # Of four pairs three are in order and one is a tie: 3.5 / 4.
    X, y = np.array([[1.0], [2.0], [2.0], [3.0]]), [0, 0, 1, 1]
    assert_array_equal(feature_pair_auc(X, y), [[3.5 / 4]])
    assert_array_equal(feature_pair_auc(X, y, folded=False), [[0.5 / 4]])
    assert_array_equal(feature_pair_auc(-X, y, folded=False), [[3.5 / 4]])


@settings(max_examples=60)
@given(strategies.problems())
def test_floats_equal_the_definition(problem):
    X, y = problem
    assert_array_equal(feature_pair_auc(X, y), oracles.folded_auc(X, y, int(y.max()) + 1))


@settings(max_examples=100)
@given(strategies.problems(strategies.integer_tables))
def test_integers_and_booleans_equal_the_definition(problem):
    X, y = problem
    assert_array_equal(feature_pair_auc(X, y), oracles.folded_auc(X, y, int(y.max()) + 1))


@given(strategies.problems())
def test_one_versus_rest_equals_the_definition(problem):
    X, y = problem
    assert_array_equal(auc_on("one-vs-rest", X, y), oracles.rest_auc(X, y, int(y.max()) + 1))


@given(strategies.problems())
def test_whole_is_the_mean_over_the_pairs(problem):
    X, y = problem
    wanted = oracles.exact_mean(oracles.folded_auc(X, y, int(y.max()) + 1))
    assert_array_equal(auc_on("whole", X, y)[:, 0], wanted)


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


def test_whole_weights_are_repeated_rows(tied, rng):
    X, y = tied
    w = rng.integers(1, 4, len(y))
    repeated = feature_pair_auc(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_array_equal(feature_pair_auc(X, y, sample_weight=w), repeated)


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


@given(strategies.problems())
def test_turned_around_gives_one_minus_auc_and_folds_alike(problem):
    X, y = problem
    forth, back = (
        make_problem(BaseEstimator(), S * X, y, accepts=ACCEPTS)
        for S in (X.dtype.type(1), -X.dtype.type(1))
    )
    wins, most = pair_wins(forth, slice(None))
    assert_array_equal(pair_wins(back, slice(None))[0], most - wins)
    assert_array_equal(feature_pair_auc(-X, y), feature_pair_auc(X, y))


@given(strategies.problems(max_classes=2))
def test_swapped_classes_give_one_minus_auc(problem):
    X, y = problem
    swapped = feature_pair_auc(X, 1 - y, folded=False)
    assert_allclose(swapped, 1 - feature_pair_auc(X, y, folded=False), rtol=0, atol=1e-15)


@given(st.integers(2, 40), st.floats(width=32), st.integers(2, 5))
def test_a_constant_column_gives_one_half(n_samples, value, n_classes):
    y = np.arange(max(n_samples, n_classes)) % n_classes
    X = np.full((len(y), 1), value)
    assert_array_equal(feature_pair_auc(X, y), np.full((1, n_classes * (n_classes - 1) // 2), 0.5))


def test_a_missing_value_ties_with_every_value():
    # 1 of 2 known in order, the other three pairs hold a missing value: (1 + 3/2) / 4.
    X = np.array([[3.0], [np.nan], [1.0], [np.nan]])
    assert_array_equal(feature_pair_auc(X, [0, 0, 1, 1]), [[(1 + 3 / 2) / 4]])


@given(strategies.problems(), st.randoms(use_true_random=False))
def test_row_order_is_irrelevant(problem, random):
    X, y = problem
    rows = list(range(len(y)))
    random.shuffle(rows)
    assert_array_equal(feature_pair_auc(X[rows], y[rows]), feature_pair_auc(X, y))


@given(strategies.problems(max_features=6))
def test_column_order_is_irrelevant(problem):
    X, y = problem
    assert_array_equal(feature_pair_auc(X[:, ::-1], y)[::-1], feature_pair_auc(X, y))


@pytest.mark.parametrize("n_jobs", [2, 3, -1])
@pytest.mark.parametrize("weighted", [False, True])
def test_agnostic_to_threads(rng, n_jobs, weighted):
    X, y = rng.normal(size=(200, 300)).round(2), rng.integers(0, 6, 200)
    w = rng.random(200) if weighted else None
    for data in (X, sparse.csr_array(X)):
        wanted = feature_pair_auc(data, y, sample_weight=w)
        assert_array_equal(feature_pair_auc(data, y, sample_weight=w, n_jobs=n_jobs), wanted)


@pytest.mark.parametrize("constant", ["_BLOCK_BYTES", "_BLOCK_SCORES"])
@pytest.mark.parametrize("size", [1, 100, 5000, 2**40])
def test_agnostic_to_block_size(tied, monkeypatch, constant, size):
    X, y = tied
    w = np.linspace(0.5, 1.5, len(y))
    wanted = [feature_pair_auc(X, y, sample_weight=v) for v in (None, w)]
    monkeypatch.setattr(block_width_module, constant, size)
    assert_array_equal([feature_pair_auc(X, y, sample_weight=v) for v in (None, w)], wanted)
    assert_array_equal(feature_pair_auc(sparse.csc_array(X), y), wanted[0])


@pytest.mark.parametrize("dtype", ["bool", "u1", "i1", "i2", "f2", "f4", "f8", "i8", ">f8", ">i4"])
def test_agnostic_to_memory_layout(rng, tmp_path, dtype):
    X, y = rng.integers(0, 100, (90, 5)).astype(dtype), rng.integers(0, 3, 90)
    wanted = oracles.folded_auc(X, y, 3)
    wide = np.zeros((180, 15), dtype)
    wide[::2, ::3] = X
    backwards = np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1]
    read_only = X.copy()
    read_only.flags.writeable = False
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    memmap = np.load(tmp_path / "X.npy", mmap_mode="r")
    layouts = (X, np.asfortranarray(X), wide[::2, ::3], backwards, read_only, memmap)
    for layout in layouts:
        before = layout.copy()
        assert_array_equal(feature_pair_auc(layout, y), wanted)
        assert_array_equal(feature_pair_auc(layout, y, n_jobs=2), wanted)
        assert_array_equal(layout, before)


DTYPES = ("bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "g")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("byte_order", ["<", ">"])
def test_agnostic_to_dtype(rng, dtype, byte_order):
    X, y = rng.integers(0, 2 if dtype == "bool" else 100, (60, 4)), rng.integers(0, 3, 60)
    typed = X.astype(np.dtype(dtype).newbyteorder(byte_order))
    assert_array_equal(feature_pair_auc(typed, y), feature_pair_auc(X, y))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_wide_integers_are_not_rounded(dtype):
    X = np.array([[2**62], [2**62 + 1], [2**62 + 2], [2**62 + 3]], dtype)
    assert_array_equal(feature_pair_auc(X, [0, 0, 1, 1]), [[1.0]])


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_wide_integers_of_a_sparse_matrix_are_not_rounded(dtype):
    X = np.array([[2**62], [2**62 + 1], [2**62 + 2], [2**62 + 3], [0]], dtype)
    wanted = feature_pair_auc(X, [0, 0, 1, 1, 0])
    assert_array_equal(feature_pair_auc(sparse.csc_array(X), [0, 0, 1, 1, 0]), wanted)


def test_float64_is_not_rounded_to_float32():
    X = 1 + np.arange(4)[:, np.newaxis] * 2.0**-50
    assert_array_equal(feature_pair_auc(X, [0, 0, 1, 1]), [[1.0]])


FORMATS = ("csc_array", "csr_array", "coo_array", "csc_matrix", "csr_matrix", "lil_array")


@pytest.mark.parametrize("name", FORMATS)
def test_sparse_equals_dense(rng, name):
    X = np.where(rng.random((80, 9)) < 0.7, 0.0, rng.normal(size=(80, 9)).round(1))
    X[3, 2], X[5, 2], X[7, 1] = np.nan, np.inf, -np.inf
    X[:, 4], X[:, 5], X[:, 6] = 0.0, 1.5, -1.5
    y = rng.integers(0, 4, 80)
    S = getattr(sparse, name)(X)
    assert_array_equal(feature_pair_auc(S, y), feature_pair_auc(X, y))
    assert_array_equal(feature_pair_auc(S, y), oracles.folded_auc(X, y, 4))
    w = rng.random(80)
    weighted = feature_pair_auc(S, y, sample_weight=w)
    assert_allclose(weighted, oracles.folded_auc(X, y, 4, w), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float32])
def test_sparse_of_any_dtype(rng, dtype):
    X, y = rng.integers(0, 3, (50, 6)).astype(dtype), rng.integers(0, 3, 50)
    assert_array_equal(feature_pair_auc(sparse.csr_array(X), y), oracles.folded_auc(X, y, 3))


def test_stored_zeros_and_duplicates_of_a_sparse_matrix():
    rows, columns = [0, 0, 1, 3, 4, 4], [0, 0, 0, 0, 0, 0]
    S = sparse.coo_array(([1.0, 2.0, 0.0, -0.0, 5.0, -5.0], (rows, columns)), shape=(6, 1))
    y = [0, 1, 0, 1, 0, 1]
    X = np.array([[3.0], [0], [0], [0], [0], [0]])
    assert_array_equal(feature_pair_auc(S, y), feature_pair_auc(X, y))


@given(strategies.long_problems(max_classes=8, max_samples=400))
def test_some_columns_of_a_problem_are_scored_alone(problem):
    X, y = problem
    made = make_problem(BaseEstimator(), X, y, accepts=ACCEPTS)
    decomposition = Decomposition("one-vs-one", made.n_classes)
    chosen = list(range(X.shape[1]))[::-1]
    wanted = oracles.long_pair_wins(X, y, made.n_classes)[::-1]
    wins, most = pair_wins(made, chosen)
    assert_array_equal(wins, wanted)
    folded = np.maximum(wanted, most - wanted) / most
    assert_array_equal(auc_relevance(made, decomposition, chosen), folded)
