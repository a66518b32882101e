"""Values are float64: one warning, which names the columns, where that makes some of them equal."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mauc import MDFS, PairAUCSketch, feature_pair_auc, open_columns
from mauc.data.doubles import is_beyond_doubles, merges_values
from mauc.exceptions import TinyUnitsWarning

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

Y = np.array([0, 0, 1, 1])
STEPS = np.array([0, 2, 1, 3])
MERGED, KEPT = 2**53 + STEPS, 2**60 + 4096 * STEPS
NANOSECONDS = np.datetime64("2024-05-01", "ns") + STEPS.astype("m8[ns]")
HAS_EXTENDED = np.finfo(np.longdouble).nmant > 52


def objects(kind, values):
    return np.array([kind(int(value)) for value in values], object)


#: columns in which float64 makes two values equal, and such in which it does not
COLUMNS = {
    "int64": (MERGED, KEPT),
    "uint64": (MERGED.astype(np.uint64), KEPT.astype(np.uint64)),
    "Python integers": (2**80 + STEPS.astype(object), 2**80 * STEPS.astype(object)),
    "decimals": (objects(Decimal, MERGED), objects(Decimal, STEPS) / 10),
    "fractions": (1 + objects(Fraction, STEPS) / 10**30, objects(Fraction, STEPS) / 3),
    "nanoseconds": (NANOSECONDS, np.datetime64("2024-05-01", "ns") + STEPS.astype("m8[us]")),
    "durations": (NANOSECONDS - np.datetime64(0, "s"), NANOSECONDS - NANOSECONDS[0]),
}
if HAS_EXTENDED:
    eps = np.finfo(np.longdouble).eps
    COLUMNS["longdouble"] = (1 + STEPS * eps, STEPS * np.longdouble(0.1))
FRAMES = {
    "Int64": lambda values: pd.DataFrame({"a": pd.array([None, *values], "Int64")[1:], "b": STEPS}),
    "UInt64 with NA": lambda values: pd.DataFrame({"a": pd.array([*values[:3], None], "UInt64")}),
    "sparse": lambda values: pd.DataFrame({"a": pd.arrays.SparseArray(values), "b": STEPS / 2}),
    "Arrow": lambda values: pd.DataFrame({"a": pd.Series(values, dtype="int64[pyarrow]")}),
    "polars": lambda values: pl.DataFrame({"a": [*values[:3], None], "b": STEPS / 2}),
    "Int128": lambda values: pl.DataFrame({"a": pl.Series(values, dtype=pl.Int128)}),
    "Decimal": lambda values: pl.DataFrame({"a": [Decimal(int(value)) for value in values]}),
}


def warning_of(function, *arguments, **options):
    """Return the text of the one warning of merged values of a call; None without."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function(*arguments, **options)
    texts = [str(one.message) for one in seen if one.category is TinyUnitsWarning]
    assert len(texts) <= 1
    return texts[0] if texts else None


@pytest.mark.parametrize("name", COLUMNS)
def test_tables_of_arrays_and_frames(name):
    merged, kept = COLUMNS[name]
    assert merges_values(merged)
    assert not merges_values(kept)
    text = warning_of(feature_pair_auc, np.column_stack([kept, merged]), Y)
    assert text.startswith("X: some values in 1 column (1) differ by less than float64 holds")
    assert warning_of(feature_pair_auc, np.column_stack([kept, kept]), Y) is None
    for frame in (pd.DataFrame, pl.DataFrame) if merged.dtype != np.longdouble else [pd.DataFrame]:
        if name in ("Python integers", "fractions") and frame is pl.DataFrame:
            continue
        values = {"a": kept, "b": merged, "c": STEPS / 2}
        text = warning_of(feature_pair_auc, frame(values), Y)
        assert text.startswith("X: some values in 1 column ('b') differ")
        assert warning_of(feature_pair_auc, frame(values | {"b": kept}), Y) is None


@pytest.mark.parametrize("name", FRAMES)
def test_columns_of_frames(name):
    text = warning_of(feature_pair_auc, FRAMES[name](MERGED), Y)
    assert text.startswith("X: some values in 1 column ('a') differ")
    assert warning_of(feature_pair_auc, FRAMES[name](KEPT), Y) is None


def test_sparse_data():
    for values, column in ((MERGED, "(1)"), (KEPT, None)):
        X = sparse.csr_array(np.column_stack([STEPS, values]))
        text = warning_of(feature_pair_auc, X, Y)
        assert column is None if text is None else column in text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert_array_equal(feature_pair_auc(X, Y), feature_pair_auc(X.toarray() + 0.0, Y))


def test_a_nominal_column_keeps_its_categories():
    X = np.column_stack([MERGED, MERGED])
    assert "in 1 column (1)" in warning_of(feature_pair_auc, X, Y, categorical_features=[0])
    assert warning_of(feature_pair_auc, X, Y, categorical_features=[0, 1]) is None


@pytest.mark.parametrize("values", [MERGED, KEPT])
def test_files(tmp_path, values):
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    frame = pd.DataFrame({"b": STEPS / 2, "a": values, "c": pd.array([*values[:3], None], "Int64")})
    frame.to_parquet(path)
    np.save(tmp_path / "a.npy", np.column_stack([STEPS, values]))
    source, _ = open_columns(path, Y)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")
    for function, X in (
        (MDFS("all").fit, source),
        (PairAUCSketch().update, source),
        (MDFS("all").fit, mapped),
    ):
        text = warning_of(function, X, Y)
        if values is KEPT:
            assert text is None
        else:
            assert "('a'" in text or X is mapped
            assert text.startswith("X: some" if X is mapped else f"{path}: some values in")


@pytest.mark.parametrize(
    ("values", "is_beyond"),
    [
        (np.array([2**53, -(2**53)]), False),
        (np.array([2**53 + 1]), True),
        (np.array([-(2**53) - 1]), True),
        (np.array([2**63], np.uint64), True),
        (np.array([1.5, np.nan, np.inf], np.longdouble), False),
        (np.empty(0, np.int64), False),
    ],
)
def test_which_numbers_doubles_do_not_hold(values, is_beyond):
    assert is_beyond_doubles(values) == is_beyond
