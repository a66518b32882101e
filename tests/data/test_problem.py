"""From user types to a Problem: types without loss, views without copies, blocks by shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from mauc.data import columns as block_width_module
from mauc.data.columns import DenseColumns, SparseColumns
from mauc.data.door import AUCS, FitOptions, make_problem
from mauc.data.problem import Problem
from mauc.registry import Accepts
from tests.helpers import strategies

ACCEPTS = Accepts(sparse=True, infinite=True)


def problem_of(X, y, sample_weight=None):
    return make_problem(X, y, FitOptions(ACCEPTS), sample_weight)


def bare_problem(X):
    """Return a problem of any table, whose labels are not looked at."""
    columns = SparseColumns(X) if sparse.issparse(X) else DenseColumns(X)
    no_nominal = np.zeros(X.shape[1], bool)
    codes = np.zeros(X.shape[0], np.int32)
    return Problem(columns, codes, np.arange(2), np.array([1, 1]), no_nominal)


def ranks(x):
    return np.unique(x, return_inverse=True)[1]


@given(st.data())
def test_columns_keep_the_order_of_integers(data):
    n_samples = data.draw(st.integers(2, 30))
    X = data.draw(strategies.integer_tables(n_samples))
    problem = bare_problem(X)
    XT = problem.columns.ordered(slice(None))
    for j in range(X.shape[1]):
        assert_array_equal(ranks(XT[j]), ranks(X[:, j]))


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        ("bool", "uint8"),
        ("uint8", "uint8"),
        ("int8", "uint8"),
        ("int16", "float32"),
        ("uint16", "float32"),
        ("float16", "float32"),
        ("float32", "float32"),
        ("int32", "float64"),
        ("uint32", "float64"),
        ("int64", "float64"),
        ("uint64", "float64"),
        ("float64", "float64"),
        (">f4", None),
        (">f8", "float64"),
        (">i2", None),
        (">i8", "float64"),
    ],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_kernels_see_three_types(dtype, wanted, order):
    X = np.array([[0, 1], [1, 1], [1, 0]], dtype=dtype, order=order)
    problem = bare_problem(X)
    XT = problem.columns.ordered(slice(None))
    assert XT.dtype in (np.uint8, np.float32, np.float64)
    assert wanted is None or XT.dtype == wanted
    assert XT.dtype.isnative
    assert XT.flags.c_contiguous
    assert not XT.flags.writeable


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_fortran_order_is_not_copied(dtype):
    X = np.asfortranarray(np.arange(12).reshape(4, 3), dtype=dtype)
    problem = problem_of(X, [0, 0, 1, 1])
    assert np.shares_memory(problem.columns.array, X)
    assert np.shares_memory(problem.columns.ordered(slice(1, 3)), X)
    assert X.flags.writeable


def test_sparse_columns_are_canonical_and_the_input_is_left_alone():
    # Column 0 stores row 1 before row 0; column 1 stores row 2 twice.
    parts = (np.array([5.0, 4.0, 1.0, 2.0]), np.array([1, 0, 2, 2]), np.array([0, 2, 4]))
    X = sparse.csc_matrix(parts, shape=(4, 2), copy=True)
    problem = problem_of(X, [0, 0, 1, 1])
    data, indices, indptr = problem.columns.entries(slice(None))
    assert_array_equal(data, [4.0, 5.0, 3.0])
    assert_array_equal(indices, [0, 1, 2])
    assert_array_equal(indptr, [0, 2, 3])
    assert_array_equal(X.data, parts[0])
    assert_array_equal(X.indices, parts[1])
    assert_array_equal(problem.columns.entries([1])[0], [3.0])


@given(st.integers(1, 500), st.integers(1, 10**6), st.integers(1, 10**5), st.booleans())
def test_blocks_cover_every_column_once(n_features, n_samples, n_scores, is_sparse):
    shape = (n_samples, n_features)
    X = sparse.csc_array(shape) if is_sparse else np.broadcast_to(np.zeros(1), shape)
    problem = bare_problem(X)
    blocks = list(problem.blocks(n_scores))
    assert [j for block in blocks for j in range(block.start, block.stop)] == list(
        range(n_features)
    )
    widest = max(block.stop - block.start for block in blocks)
    assert widest == 1 or widest * n_scores <= block_width_module._BLOCK_SCORES


def test_blocks_of_chosen_columns_keep_neighbours_together(rng):
    X = np.broadcast_to(np.zeros(1), (10**6, 40))
    problem = bare_problem(X)
    chosen = rng.permutation(40)[:20]
    blocks = [part for part, _ in problem.map(len_of, columns=chosen)]
    assert_array_equal(chosen[np.concatenate(blocks)], np.sort(chosen))
    wide = bare_problem(np.zeros((10, 40)))
    assert len(list(wide.map(len_of, columns=chosen))) == 1


def len_of(problem, columns):
    """Return the number of columns of a block of chosen ones."""
    return len(columns)


def sum_up(problem, block, times, sums, table):
    """Fill in the sums of columns, and twice their number beside each."""
    sums[:] = times * problem.columns.floats(block).sum(axis=1)
    table[:, 1] = np.arange(problem.n_features)[block]
    return float(sums.sum())


def make_double(problem, times):
    """Return the arguments of `sum_up`, made once."""
    return (2 * times,)


def total(pairs):
    """Return the sum of the results."""
    return sum(result for _, result in pairs)


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("columns", [None, np.array([7, 0, 3, 39, 3])])
def test_map_fills_arrays_prepares_once_and_reduces(rng, monkeypatch, columns, n_jobs):
    monkeypatch.setattr(block_width_module, "_BLOCK_BYTES", 300)  # 3 columns
    problem = bare_problem(rng.integers(0, 9, (10, 40)).astype(np.float64))
    chosen = np.arange(40) if columns is None else columns
    wanted = 2 * problem.columns.array.sum(axis=0)[chosen]
    sums, table = np.empty(len(chosen)), np.zeros((len(chosen) + 2, 2))
    options = {"columns": columns, "out": (sums, table), "prepare": make_double, "n_jobs": n_jobs}
    pairs = list(problem.map(sum_up, 1, **options))
    assert_array_equal(sums, wanted)
    assert_array_equal(table[:, 1], [*chosen, 0, 0])
    assert len(pairs) > 1
    assert_array_equal([result for _, result in pairs], [sums[at].sum() for at, _ in pairs])
    [(whole, result)] = problem.map(sum_up, 1, reduce=total, **options)
    assert_array_equal(np.arange(len(chosen))[whole], np.arange(len(chosen)))
    assert result == wanted.sum()


def test_tall_rows_are_read_by_cache_lines():
    X = np.zeros((2**20, 32))  # not touched
    tall = bare_problem(X)
    assert {block.stop - block.start for block in tall.blocks()} == {2}


@pytest.mark.parametrize(
    ("column", "is_constant"),
    [
        (np.r_[np.ones(2000), 2.0], False),
        (np.r_[1.0, np.nan, 2.0], False),
        (np.r_[np.nan, np.ones(2000)], True),
        (np.full(9, np.nan), True),
        (np.zeros(9, bool), True),
    ],
)
def test_a_problem_is_constant(column, is_constant):
    n = len(column)
    X = np.column_stack([np.ones(n, column.dtype), column])
    for table in (X, sparse.csc_array(X)):
        problem = bare_problem(table)
        assert problem.is_constant == is_constant


ROWS = np.array([0, 2, 3, 5])


def values(problem):
    return problem.columns.floats(slice(None))


def kinds():
    X = np.array([[1, 0, 5.5], [2, 0, 1], [0, 3, 2], [4, np.nan, 0], [5, 1, 1], [6, 0, 2]])
    yield "array", X
    yield "columns", np.asfortranarray(X)
    yield "sparse", sparse.csr_array(X)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).astype({"a": "int32"})
    yield "pandas", frame.set_axis(list("pqrstu"))
    yield "polars", pytest.importorskip("polars").DataFrame(frame.reset_index(drop=True))


@pytest.mark.parametrize("case", [0, 1, 2, 3, 4])
def test_rows_of(case):
    _, X = list(kinds())[case]
    y = np.array(["u", "v", "v", "u", "u", "v"])
    problem = make_problem(X, y)
    part = problem.take_rows(ROWS)
    assert_array_equal(values(part), values(problem)[:, ROWS])
    assert_array_equal(part.codes, problem.codes[ROWS])
    assert_array_equal(part.class_counts, [2, 2])
    assert_array_equal(part.classes, problem.classes)
    assert part.n_samples == 4


def test_rows_of_a_source(tmp_path):
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    from mauc import open_columns

    frame = pd.DataFrame({"a": np.arange(6.0), "word": list("xyxyxz")})
    frame.to_parquet(tmp_path / "table.parquet")
    y = np.arange(6) % 2
    source, _ = open_columns(tmp_path / "table.parquet", y)
    streamed = make_problem(source, y, FitOptions(AUCS))
    held = make_problem(frame, y, FitOptions(AUCS))
    part, expected = streamed.take_rows(ROWS), held.take_rows(ROWS)
    assert_array_equal(values(part)[0], values(expected)[0])
    assert_array_equal(part.is_nominal, expected.is_nominal)
    assert part.columns.is_streamed
