"""sketch_rows: sources part by part, streams of pairs, and Dask data frames by partitions."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc import MDFS, PairAUCSketch, feature_pair_auc, sketch_rows
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, MaucTypeError
from mauc.sketch import choose_strategy, dask_strategy, fitting, pair_auc_sketch
from mauc.sketch.fitting import reads_columns


class ListSource(ColumnSource):
    """Columns of several types, read in parts of 70 rows; whole columns are refused."""

    def __init__(self, columns, names=None, types=None):
        self._columns = columns
        self.n_checks = 0
        types = types or [column.dtype for column in columns]
        super().__init__("table.bin", len(columns[0]), types, feature_names=names)

    def read(self, places):
        raise AssertionError("a whole column was read")

    def read_rows(self, start, stop, places):
        return [self._columns[j][start:stop] for j in places]

    def row_parts(self):
        return [(at, min(at + 70, self.shape[0])) for at in range(0, self.shape[0], 70)]

    def check_unchanged(self):
        self.n_checks += 1


@pytest.fixture
def columns(rng):
    n = 500
    days = np.datetime64("2021-03-01", "s") + rng.integers(0, 40, n).astype("m8[D]")
    return [
        rng.normal(size=n).astype(np.float32), rng.integers(0, 9, n), rng.random(n) < 0.4, days,
        np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    ]  # fmt: skip


def test_a_source_is_read_by_parts_of_its_rows(columns, rng):
    y = rng.integers(0, 3, 500)
    source = ListSource(columns, names=list("abcde"))
    sketch = sketch_rows(source, y, n_bins=64)
    assert source.n_checks == 1
    assert sketch.n_rows == 500
    assert_array_equal(sketch.feature_names, list("abcde"))
    exact = np.concatenate([feature_pair_auc(column[:, np.newaxis], y) for column in columns])
    bound = sketch.error_bound()
    assert (np.abs(sketch.pair_auc() - exact) <= bound).all()
    assert_array_equal(sketch.pair_auc()[1:4], exact[1:4])
    same = PairAUCSketch(64).update(source, y)
    assert_array_equal(same.pair_auc(), sketch.pair_auc())


def test_dask_collections_are_read_by_parts_of_their_rows(columns, rng, monkeypatch):
    X, y = np.column_stack([columns[0], columns[4]]), rng.integers(0, 3, 500)
    blocks = da.from_array(X, chunks=(60, 2))
    monkeypatch.setattr(da.Array, "__array__", lambda *_: pytest.fail("all rows were computed"))
    sketch = PairAUCSketch(64).update(blocks, da.from_array(y, chunks=100))
    parts = PairAUCSketch(64)
    for start in range(0, 500, 60):
        parts.update(X[start : start + 60], y[start : start + 60])
    assert_array_equal(sketch.pair_auc(), parts.pair_auc())
    found = MDFS(1, random_state=0).partial_fit(blocks, y)
    assert found.sketch_.n_rows == 500


def test_pairs_are_added_one_by_one(columns, rng):
    X, y = np.column_stack([columns[0], columns[4]]), rng.integers(0, 2, 500)
    whole = PairAUCSketch(64).update(X, y)
    parts = ((X[at : at + 90], y[at : at + 90]) for at in range(0, 500, 90))
    assert_array_equal(sketch_rows(parts, n_bins=64).pair_auc(), whole.pair_auc())


def test_errors_name_the_thing(columns, rng):
    y = rng.integers(0, 2, 500)
    with pytest.raises(MaucError, match=r"label for every row of table.bin, got None"):
        sketch_rows(ListSource(columns))
    with pytest.raises(MaucError, match=r"table.bin has 500 rows, but y has 3 labels"):
        sketch_rows(ListSource(columns), y[:3])
    types = [column.dtype for column in columns[:-1]] + [np.dtype(object)]
    with pytest.raises(MaucError, match=r"table.bin: column 'x4' holds text"):
        sketch_rows(ListSource(columns, types=types), y)
    with pytest.raises(MaucTypeError, match="data must be a source or a Dask data frame"):
        sketch_rows(np.zeros((3, 2)), [0, 1, 1])
    with pytest.raises(MaucTypeError, match="got ndarray"):
        sketch_rows(np.zeros((3, 2)))
    with pytest.raises(MaucTypeError, match="part 0 of data must be a pair"):
        sketch_rows([np.zeros((3, 2))])


def as_it_is(part):
    return part


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(2000, 4)), columns=list("abcd"))
    table["few"] = rng.integers(0, 20, 2000)
    table["label"] = rng.choice(["x", "y", "z"], 2000)
    table["a"] += table["label"] == "x"
    table.loc[::9, "b"] = np.nan
    return table


def test_within_its_bound_whatever_the_scheduler(frame):
    parts = dd.from_pandas(frame, npartitions=11).map_partitions(as_it_is)
    X, y = frame.drop(columns="label"), frame["label"]
    exact = feature_pair_auc(X, y)
    found = []
    shuffled = [3, 9, 0, 5, 1, 2, 4, 10, 8, 7, 6]
    for scheduler, order in (("threads", range(11)), ("synchronous", shuffled)):
        with dask.config.set(scheduler=scheduler):
            some = dd.concat([parts.partitions[[at]] for at in order])
            found.append(sketch_rows(some, "label", n_bins=64))
    for sketch in found:
        bound = sketch.error_bound()
        assert (np.abs(sketch.pair_auc() - exact) <= bound).all()
        assert (bound[4] == 0).all()  # few values
        assert 0 < bound[:4].max() < 0.02
        assert_array_equal(sketch.pair_auc(), found[0].pair_auc())
        assert_array_equal(bound, found[0].error_bound())
    assert_array_equal(found[0].feature_names, X.columns)


def test_labels_may_be_a_name_a_series_or_an_array(frame):
    parts = dd.from_pandas(frame, npartitions=4)
    wanted = sketch_rows(parts, "label", n_bins=32).pair_auc()
    X = parts.drop(columns="label")
    for y in (parts["label"], frame["label"].to_numpy()):
        assert_array_equal(sketch_rows(X, y, n_bins=32).pair_auc(), wanted)


def test_empty_partitions_are_passed_over(frame):
    parts = dd.from_pandas(frame, npartitions=4)
    wanted = sketch_rows(parts[parts["few"] < 7], "label", n_bins=32)
    some = frame[frame["few"] < 7]
    exact = feature_pair_auc(some.drop(columns="label"), some["label"])
    assert (np.abs(wanted.pair_auc() - exact) <= wanted.error_bound()).all()
    sorted_parts = dd.from_pandas(frame.sort_values("few"), npartitions=8, sort=False)
    few = sketch_rows(sorted_parts[sorted_parts["few"] < 7], "label", n_bins=32)
    assert few.n_rows == len(some)


def test_sample_of_wide_frames_is_limited(frame, monkeypatch):
    taken = []
    take_rows = fitting.take_rows

    def watched(*arguments):
        X, y = take_rows(*arguments)
        taken.append(X.memory_usage(index=False).sum())
        return X, y

    monkeypatch.setattr(fitting, "take_rows", watched)
    monkeypatch.setattr(pair_auc_sketch, "_BUFFER_BYTES", 8000)
    with dask.config.set(scheduler="synchronous"):
        sketch = sketch_rows(dd.from_pandas(frame, npartitions=4), "label")
    assert sum(taken) <= 8000
    assert sketch.n_rows == 2000
    assert PairAUCSketch().n_first_rows(10**9) == 1


def test_errors_of_dask_frames_name_the_thing(frame):
    parts = dd.from_pandas(frame, npartitions=4)
    with pytest.raises(MaucError, match="must name a column of the Dask data frame, got 'labels'"):
        sketch_rows(parts, "labels")
    with pytest.raises(MaucError, match="got None"):
        sketch_rows(parts)
    with pytest.raises(MaucError, match="X has 4, y has 2"):
        sketch_rows(parts, dd.from_pandas(frame["label"], npartitions=2))
    with pytest.raises(MaucError, match="has 2000 rows, but y has 3 labels"):
        sketch_rows(parts, np.array([0, 1, 2]))
    with pytest.raises(MaucError, match="no rows"):
        sketch_rows(parts[parts["few"] < 0], "label")


def test_which_frames_have_columns_that_can_be_read_apart(frame, tmp_path):
    frame.to_parquet(tmp_path / "x.parquet")
    frame.to_csv(tmp_path / "x.csv", index=False)
    parts = dd.from_pandas(frame, npartitions=4)
    assert reads_columns(parts)
    assert reads_columns(dd.read_parquet(tmp_path / "x.parquet"))
    assert reads_columns(dd.read_parquet(tmp_path / "x.parquet")[["a", "b"]].fillna(0))
    assert not reads_columns(dd.read_csv(tmp_path / "x.csv"))
    assert not reads_columns(parts.map_partitions(as_it_is))
    assert not reads_columns(dd.from_delayed(parts.to_delayed()))
    assert dask_strategy(parts) == (False, "read by columns: exact; 96 kB read once")


@pytest.mark.parametrize(
    ("options", "is_by_rows", "words"),
    [
        ({}, False, "exact; 800 MB read once"),
        (
            {"is_columnar": False},
            True,
            "all columns would take 2.4 GB of memory, 1.0 GB may be used",
        ),
        ({"is_columnar": False, "memory": 10**10}, False, "800 MB fit into memory"),
        ({"n_rows": 10**9}, True, "its sort would take 60.0 GB of memory, 1.0 GB may be used"),
        ({"n_parts": 50_000, "waits": True}, True, "10,000,000 reads, about 198 times as long"),
        # from a file the same reads take microseconds: slower than a sketch, but not that much
        ({"n_parts": 1000, "waits": True}, True, "200,000 reads, about 143 times as long"),
        ({"n_parts": 1000}, False, "exact; 800 MB read once"),
        ({"n_parts": 50_000}, True, "10,000,000 reads, about 112 times as long"),
        # many reads of small parts, but done in a minute: exact all the same
        ({"n_rows": 10_000, "n_parts": 100, "waits": True}, False, "exact; 8 MB read once"),
        # the sketch itself would not fit either: exact then
        ({"n_parts": 50_000, "n_classes": 1000}, False, "read once"),
    ],
)
def test_exact_where_that_is_affordable(options, is_by_rows, words):
    given = {"n_rows": 10**6, "n_columns": 200, "bytes_per_cell": 4, "memory": 10**9} | options
    found, why = choose_strategy(**given)
    assert found == is_by_rows
    assert words in why
    assert why.startswith("sketched by rows" if is_by_rows else "read by columns")
