"""Rows of a problem of any kind of columns."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator

from mauc.data.problem import make_problem, take_rows

ROWS = np.array([0, 2, 3, 5])


def values(problem):
    return problem.float_columns(slice(None))


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
    problem = make_problem(BaseEstimator(), X, y)
    part = take_rows(problem, ROWS)
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
    accepts = make_problem.__kwdefaults__["accepts"]._replace(nominal=True)
    source, _ = open_columns(tmp_path / "table.parquet", y)
    streamed = make_problem(BaseEstimator(), source, y, accepts=accepts)
    held = make_problem(BaseEstimator(), frame, y, accepts=accepts)
    part, expected = take_rows(streamed, ROWS), take_rows(held, ROWS)
    assert_array_equal(values(part)[0], values(expected)[0])
    assert_array_equal(part.is_nominal, expected.is_nominal)
    assert part.is_streamed
