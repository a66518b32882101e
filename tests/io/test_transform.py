"""Selectors after the fit on a source: transform, write, sizes found by themselves."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import mauc.memory
from mauc import MAUCD, MDFS, GreedyMAUC, open_columns
from mauc.classifiers import NormalNaiveBayes
from mauc.exceptions import MaucError, NotEnoughMemoryError

# Files keep integers that float64 does not hold; a fit warns of them.
pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.TinyUnitsWarning")


@pytest.fixture
def opened(mixed, tmp_path):
    mixed.to_parquet(tmp_path / "mixed.parquet", row_group_size=170)
    return open_columns(tmp_path / "mixed.parquet", "label", memory="1MB")


@pytest.mark.parametrize("kind", ["default", "pandas", "polars"])
def test_frames_keep_types(mixed, opened, kind):
    source, y = opened
    selector = MDFS(8, random_state=0).set_output(transform=kind).fit(source, y)
    found = selector.transform(source)
    names = mixed.columns[selector.get_support(indices=True)]
    assert isinstance(found, pl.DataFrame if kind == "polars" else pd.DataFrame)
    assert list(found.columns) == list(names)
    for name in names:
        expected = mixed[name].isna().to_numpy()
        values = found[name].to_pandas() if kind == "polars" else found[name]
        assert_array_equal(values.isna().to_numpy(), expected)
    if kind != "polars":
        assert str(found["words"].dtype) == "category"
        assert found["day"].dtype.kind == "M"


def test_columns_are_checked(mixed, opened, tmp_path):
    source, y = opened
    selector = MDFS(3).fit(source, y)
    with pytest.raises(MaucError, match=r"must have the columns that MDFS was fitted on.*miss.*f0"):
        selector.transform(source.take(slice(1, None)))
    with pytest.raises(MaucError, match="in their order"):
        selector.transform(source.take(slice(None, None, -1)))
    number = open_columns(np.zeros((4, 3)), [0, 1, 0, 1])[0]
    unnamed = MDFS(1, random_state=0).fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(MaucError, match="3 features"):
        unnamed.transform(number)


def test_too_much_for_the_memory(opened, monkeypatch):
    source, y = opened
    selector = MDFS(3).fit(source, y)
    monkeypatch.setattr(mauc.memory, "free_memory", lambda: 1_000)
    with pytest.raises(NotEnoughMemoryError, match=r"3 columns of 600 rows need .*\.write\("):
        selector.transform(source)


def test_write(mixed, opened, tmp_path):
    source, y = opened
    path = tmp_path / "reduced.parquet"
    assert source.with_memory(40_000).write(path, y=y, target_name="label") == path
    again, labels = open_columns(path, "label")
    assert_array_equal(labels, y)
    assert again.feature_names.tolist() == source.feature_names.tolist()
    assert [str(kind) for kind in again.types] == [str(kind) for kind in source.types]
    known, found = MDFS(5, random_state=0).fit(source, y), MDFS(5, random_state=0).fit(again, y)
    assert_array_equal(found.scores_, known.scores_)
    with pytest.raises(MaucError, match="exists already"):
        source.write(path)
    chosen = source.take(known.get_support(indices=True))
    chosen.write(path, force=True)
    assert open_columns(path, y)[0].shape == (600, 5)
    with pytest.raises(MaucError, match="y must hold 600 labels"):
        source.write(path, y=[1], force=True)
    with pytest.raises(MaucError, match="which is the name of a feature"):
        source.write(path, y=y, target_name="f0", force=True)
    assert sorted(file.name for file in tmp_path.iterdir() if file.is_file()) == [
        "mixed.parquet",
        "reduced.parquet",
    ]


@pytest.mark.parametrize("dtype", ["Int64", "UInt64"])
def test_wide_integers_with_missing_values(tmp_path, dtype):
    # Beyond what float64 holds; those of int64 are read as durations without a unit, the others
    # in extended precision.
    first = np.array(2**62 if dtype == "Int64" else 2**63, dtype.lower())
    wide = pd.array(first + np.arange(60, dtype=dtype.lower()) % 7, dtype=dtype)
    frame = pd.DataFrame({"wide": wide, "f": np.arange(60.0)})
    frame.loc[::5, "wide"] = pd.NA
    y = np.arange(60) % 2
    for more in ({}, {"word": list("ab") * 30}):
        known = frame.assign(**more)
        known.to_parquet(tmp_path / "x.parquet")
        source, _ = open_columns(tmp_path / "x.parquet", y)
        selector = MDFS("all").fit(source, y)
        found, expected = selector.transform(source), MDFS("all").fit(known, y).transform(known)
        assert type(found) is type(expected)
        if more:
            assert found["wide"].dtype == dtype
            found, expected = found["wide"].to_list(), expected["wide"].to_list()
            assert found == expected or str(found) == str(expected)
        else:
            assert_array_equal(found, np.asarray(expected, np.float64))


def test_write_words_that_begin_late(tmp_path):
    words = pd.Series([None] * 50 + ["a", "b"] * 25)
    codes = pd.Series(pd.Categorical([1, 2, None, 2] * 25))
    path = tmp_path / "late.parquet"
    table = {"words": pa.array(words), "nothing": pa.nulls(100, pa.string()), "codes": codes}
    pq.write_table(pa.table(table), path, row_group_size=10)
    source, _ = open_columns(path, [0, 1] * 50, memory=1000)
    source.write(tmp_path / "again.parquet")
    again = pq.read_table(tmp_path / "again.parquet")
    assert again["words"].to_pylist() == [None] * 50 + ["a", "b"] * 25
    assert again["nothing"].null_count == 100
    assert again["codes"].to_pylist() == [1, 2, None, 2] * 25
    with pytest.raises(MaucError, match="has no rows to write"):
        source.take_rows(np.zeros(100, bool)).write(tmp_path / "none.parquet")
    assert not (tmp_path / "none.parquet").exists()


def test_size_found_by_itself(numbers, monkeypatch):
    X, y = numbers[0][::3], numbers[1][::3]
    source, _ = open_columns(X, y, memory=100_000)
    known, found = (
        MDFS("auto", random_state=0).fit(X, y),
        MDFS("auto", random_state=0).fit(source, y),
    )
    assert_array_equal(found.ranking_, known.ranking_)
    assert_array_equal(found.size_curve_.mean, known.size_curve_.mean)
    monkeypatch.setattr(mauc.memory, "free_memory", lambda: 30_000)
    with pytest.raises(NotEnoughMemoryError, match=r"300 rows of 37 columns need .*name a number"):
        MDFS("auto").fit(source, y)
    with pytest.raises(NotEnoughMemoryError, match='"predicted"'):
        GreedyMAUC("auto").fit(source, y)


def test_in_a_pipeline(numbers, tmp_path):
    X, y = numbers
    np.save(tmp_path / "x.npy", np.asfortranarray(np.nan_to_num(X)))
    source, y = open_columns(tmp_path / "x.npy", y, memory=300_000)
    pipeline = make_pipeline(MAUCD(4), NormalNaiveBayes())
    expected = clone(pipeline).fit(np.nan_to_num(X), y).predict(np.nan_to_num(X))
    assert_array_equal(pipeline.fit(source, y).predict(source), expected)
