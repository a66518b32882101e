import datetime
import os
import threading
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

import mauc.io.parquet
from mauc import MDFS, SymmetricalUncertainty, feature_pair_auc, open_columns
from mauc.exceptions import MaucError
from tests.io.conftest import assert_same_fit

#: of a column of integers that doubles merge
pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.TinyUnitsWarning")


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("selector", [MDFS(6, random_state=0), SymmetricalUncertainty(6)])
def test_mixed_types_equal_a_frame(mixed, tmp_path, selector, library):
    path = tmp_path / "mixed.parquet"
    mixed.to_parquet(path, row_group_size=170)
    source, y = open_columns(path, "label", memory="1MB")
    X = mixed.drop(columns="label")
    if library == "polars":
        X = pl.read_parquet(path).drop("label")
    assert_array_equal(y, mixed["label"])
    assert_array_equal(feature_pair_auc(source, y), feature_pair_auc(X, y))
    dates = ["day", "wait"]  # which selectors leave out of a frame
    X = X.drop(columns=dates) if library == "pandas" else X.drop(dates)
    source, y = open_columns(path, "label", memory="1MB", drop=dates)
    assert_same_fit(selector, source, X, y)


def test_types_that_pandas_has_not(tmp_path):
    days = [datetime.date(2020, 1, 1), None, datetime.date(1969, 12, 31)]
    table = pa.table(
        {
            "half": pa.array(np.array([1, 2, 3], np.float16)),
            "day": pa.array(days),
            "time": pa.array([datetime.time(1, 2, 3), None, datetime.time(0)], pa.time64("us")),
            "price": pa.array([Decimal("1.10"), None, Decimal("2.25")]),
            "nothing": pa.nulls(3),
            "zoned": pa.array([0, None, 5], pa.timestamp("ms", "Europe/Berlin")),
            "codes": pa.array([7, None, 5]).dictionary_encode(),
            "a.b": pa.array([1, 2, 3], pa.int8()),
            "label": ["u", "v", "v"],
        }
    )
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=2)
    source, y = open_columns(tmp_path / "t.parquet", "label")
    half, day, time, price, nothing, zoned, codes, dotted = source.read(np.arange(8))
    assert half.dtype == np.float16
    assert_array_equal(day, np.array(days, "datetime64[D]"))
    assert time[0] == np.timedelta64(3723, "s")
    assert np.isnat(time[1])
    assert_array_equal(price, [1.10, np.nan, 2.25])
    assert np.isnan(nothing).all()
    assert zoned.dtype == np.dtype("datetime64[ms]")
    assert np.isnat(zoned[1])
    assert codes.tolist() == [7, None, 5] or np.isnan(codes.tolist()[1])
    assert_array_equal(dotted, [1, 2, 3])
    assert y.tolist() == ["u", "v", "v"]


def test_long_columns_are_read_in_batches(numbers, tmp_path, monkeypatch):
    X, y = numbers
    pd.DataFrame(X[:, :3]).set_axis(list("abc"), axis=1).to_parquet(tmp_path / "x.parquet")
    monkeypatch.setattr(mauc.io.parquet, "_CALL_BYTES", 2**8)
    monkeypatch.setattr(mauc.io.parquet, "_MIN_BATCH", 100)
    source, _ = open_columns(tmp_path / "x.parquet", y)
    assert_array_equal(np.array(source.read(np.arange(3))).T, X[:, :3])
    assert_array_equal(np.array(source.read_rows(150, 420, np.arange(3))).T, X[150:420, :3])


def test_a_pass_keeps_to_the_memory(tmp_path):
    rng = np.random.default_rng(0)
    n, m = 20_000, 120
    y = rng.integers(0, 2, n)
    table = {f"f{j}": rng.normal(size=n).astype(np.float32) for j in range(m)}
    pq.write_table(pa.table({**table, "label": y}), tmp_path / "x.parquet", row_group_size=6_000)
    memory = 3_000_000  # of 9.6 MB
    source, y = open_columns(tmp_path / "x.parquet", "label", memory=memory)
    feature_pair_auc(source, y)  # compiled
    pool, before = pa.default_memory_pool(), pa.total_allocated_bytes()
    reads, most, lock = [], [0], threading.Lock()
    read = type(source).read

    def watched(self, places):
        found = read(self, places)
        with lock:
            reads.append(sum(column.nbytes for column in found))
            most[0] = max(most[0], pool.bytes_allocated() - before)
        return found

    type(source).read = watched
    try:
        MDFS(3, n_jobs=2).fit(source, y)
    finally:
        type(source).read = read
    assert 3 * max(reads) <= memory  # the stripe at work, the next one, one that is let go
    assert most[0] <= memory // 2
    assert sum(reads) < 1.5 * 4 * n * m


def test_integers_with_missing_values_count_as_floats(tmp_path):
    bits = np.arange(20, dtype=np.int8) % 3
    table = {"bits": bits, "gaps": pa.array(bits, mask=bits == 1), "label": bits}
    pq.write_table(pa.table(table), tmp_path / "x.parquet")
    assert open_columns(tmp_path / "x.parquet", "label")[0].widths.tolist() == [1, 10]


def test_partitioned_folder(numbers, tmp_path):
    X, y = numbers
    frame = pd.DataFrame(X[:, :6]).set_axis(list("abcdef"), axis=1)
    frame["label"] = np.array(["one", "two", "three/4"])[y]
    frame["year"] = 2020 + np.arange(900) % 2
    frame.to_parquet(tmp_path / "t", partition_cols=["label", "year"])
    known = pd.read_parquet(tmp_path / "t")
    source, labels = open_columns(tmp_path / "t", "label", memory="1MB")
    assert_array_equal(labels, known["label"].astype(str))
    assert source.feature_names.tolist() == [*"abcdef", "year"]
    assert_same_fit(MDFS(4, random_state=0), source, known.drop(columns="label"), labels)
    assert source.read_rows(100, 103, np.array([6]))[0].tolist() == known["year"][100:103].tolist()


def test_partitions_of_odd_digits(tmp_path):
    for value in ("1", "²"):
        (tmp_path / f"power={value}").mkdir()
        pq.write_table(pa.table({"a": [1.0, 2.0]}), tmp_path / f"power={value}" / "x.parquet")
    _, labels = open_columns(tmp_path, "power")
    assert labels.tolist() == ["1", "1", "²", "²"]
    (tmp_path / "power=²").rename(tmp_path / "power=10")
    (tmp_path / "power=1").rename(tmp_path / "power=9")
    source, _ = open_columns(tmp_path, [0, 1, 0, 1])
    assert source.read(np.array([1]))[0].cat.categories.tolist() == [9, 10]


def test_the_index_of_pandas_is_no_feature(numbers, tmp_path):
    X, y = numbers
    frame = pd.DataFrame(X[:, :2], index=pd.Index(np.arange(900) + 7, name="row"))
    frame.set_axis(["a", "b"], axis=1).assign(y=y).to_parquet(tmp_path / "x.parquet")
    source, _ = open_columns(tmp_path / "x.parquet", "y")
    assert source.feature_names.tolist() == ["a", "b"]
    source, _ = open_columns(tmp_path / "x.parquet", "y", columns=["row", "b"])
    assert source.feature_names.tolist() == ["row", "b"]


def write_two(folder, first, second):
    pq.write_table(pa.table(first), folder / "a.parquet")
    pq.write_table(pa.table(second), folder / "b.parquet")


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (pa.array([1, 2], pa.int32()), pa.array([2**40, 3]), np.array([1, 2, 2**40, 3])),
        (pa.array([1, 2]), pa.array([0.5, None]), np.array([1, 2, 0.5, np.nan])),
        (pa.array([0.5, 2], pa.float32()), pa.array([1, 3], pa.int8()), np.array([0.5, 2, 1, 3])),
        (pa.nulls(2), pa.array([1, 3], pa.int8()), np.array([np.nan, np.nan, 1, 3])),
        (
            pa.array([1, 2], pa.timestamp("s")),
            pa.array([1, 2], pa.timestamp("us")),
            np.array([1_000_000, 2_000_000, 1, 2], "datetime64[us]"),
        ),
    ],
)
def test_types_widen_exactly(tmp_path, first, second, expected):
    y = pa.array([0, 1])
    write_two(tmp_path, {"x": first, "y": y}, {"y": y, "x": second})
    source, _ = open_columns(tmp_path, "y")
    found = source.read(np.array([0]))[0]
    assert_array_equal(found, expected)
    assert found.dtype.kind == expected.dtype.kind


def test_words_of_several_files(tmp_path):
    y = pa.array([0, 1])
    write_two(
        tmp_path,
        {"x": pa.array(["a", "b"]), "y": y},
        {"x": pa.array(["c", None]).dictionary_encode(), "y": y},
    )
    source, _ = open_columns(tmp_path, "y")
    assert source.read(np.array([0]))[0].astype(object).fillna("-").tolist() == ["a", "b", "c", "-"]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2], ["a", "b"], r"column 'x' is int64 in .*a\.parquet but string in .*b\.parquet"),
        ([True, False], [1, 2], r"column 'x' is bool in .*a\.parquet but int64 in .*b\.parquet"),
        ([2**53 + 1, 2], [0.5, 1], r"a\.parquet: column 'x' is int64 here and double together"),
    ],
)
def test_types_that_do_not_go_together(tmp_path, first, second, message):
    y = pa.array([0, 1])
    write_two(tmp_path, {"x": pa.array(first), "y": y}, {"x": pa.array(second), "y": y})
    with pytest.raises(MaucError, match=message):
        open_columns(tmp_path, "y")[0].read(np.array([0]))


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_column_of_several_types_can_be_left_out(tmp_path, ending):
    for number, odd in enumerate(([1.5, 2.5], ["a", "b"])):
        frame = pd.DataFrame({"odd": odd, "x": [1.0, 2.0], "y": [0, 1]})
        getattr(frame, f"to_{ending}")(tmp_path / f"{number}.{ending}")
    with pytest.raises(MaucError, match=r"column 'odd' is double in .*leave it out \(drop='odd'\)"):
        open_columns(tmp_path, "y")
    source, _ = open_columns(tmp_path, "y", drop="odd")
    assert_array_equal(source.read(np.array([0]))[0], [1, 2, 1, 2])


def test_files_with_other_columns(tmp_path):
    tables = {"x": [1], "z": [2], "y": [0]}, {"x": [1], "y": [0]}
    for first, second, verb in ((*tables, "lacks"), (*tables[::-1], "has")):
        write_two(tmp_path, first, second)
        with pytest.raises(MaucError, match=rf"b\.parquet {verb} column 'z', which .*a\.parquet"):
            open_columns(tmp_path, "y")


def test_nested_columns(tmp_path):
    table = pa.table({"s": [{"a": 1, "b": 2}, None], "x": [1, 2], "l": [[1], []], "y": [0, 1]})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(MaucError, match=r"column 's' has the type struct.*drop='s'"):
        open_columns(tmp_path / "x.parquet", "y")
    source, y = open_columns(tmp_path / "x.parquet", "y", drop=["s", "l"])
    assert_array_equal(source.read(np.array([0]))[0], [1, 2])
    assert_array_equal(y, [0, 1])


@pytest.fixture
def file(numbers, tmp_path):
    X, y = numbers
    path = tmp_path / "x.parquet"
    frame = pd.DataFrame(X).set_axis(map(str, range(37)), axis=1).assign(label=y)
    frame.to_parquet(path, row_group_size=200, write_page_checksum=True)
    return path


def test_overwritten_page(file):
    source, y = open_columns(file, "label", memory="1MB")
    footer = pq.ParquetFile(file).metadata.row_group(2).column(20)
    held = os.stat(file)
    with file.open("r+b") as raw:
        raw.seek(footer.data_page_offset + 60)
        raw.write(b"\xa5" * 40)
    os.utime(file, ns=(held.st_atime_ns, held.st_mtime_ns))  # it seems to be the same
    with pytest.raises(MaucError, match=r"x\.parquet cannot be read as a Parquet file"):
        MDFS(3).fit(source, y)


@pytest.mark.parametrize("what", ["changed", "removed"])
def test_changed_while_it_is_read(file, monkeypatch, what):
    source, y = open_columns(file, "label", memory="1MB")
    read = mauc.io.parquet.ParquetSource.read

    def then_change(self, places):
        found = read(self, places)
        if 36 in places:
            os.utime(file, ns=(1, 1)) if what == "changed" else file.unlink()
        return found

    monkeypatch.setattr(mauc.io.parquet.ParquetSource, "read", then_change)
    with pytest.raises(MaucError, match=rf"x\.parquet .*{what}.* while it was being read"):
        MDFS(3).fit(source, y)


def test_many_files_are_not_all_kept_open(numbers, tmp_path, monkeypatch):
    X, y = numbers
    for start in range(0, 900, 100):
        frame = pd.DataFrame(X[start : start + 100, :4]).set_axis(list("abcd"), axis=1)
        frame.assign(y=y[start : start + 100]).to_parquet(tmp_path / f"{start:03}.parquet")
    monkeypatch.setattr(mauc.io.parquet, "_MAX_OPEN", 2)
    monkeypatch.setattr(mauc.io.parquet, "_MAX_CHUNKS", 15)
    source, labels = open_columns(tmp_path, "y")
    assert_array_equal(labels, y)
    assert_array_equal(np.array(source.read(np.arange(4))).T, X[:, :4])
