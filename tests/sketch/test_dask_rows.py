"""Dask data frames by rows: the same bits for all schedulers and orders of the partitions."""

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc import PairAUCSketch, feature_pair_auc, sketch_rows
from mauc.exceptions import MaucError
from mauc.sketch import dask_rows, held_rows
from mauc.sketch.dask_rows import dask_shape, reads_columns


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
    take_rows = dask_rows.take_rows

    def watched(*arguments):
        X, y = take_rows(*arguments)
        taken.append(X.memory_usage(index=False).sum())
        return X, y

    monkeypatch.setattr(dask_rows, "take_rows", watched)
    monkeypatch.setattr(held_rows, "_BUFFER_BYTES", 8000)
    with dask.config.set(scheduler="synchronous"):
        sketch = sketch_rows(dd.from_pandas(frame, npartitions=4), "label")
    assert sum(taken) <= 8000
    assert sketch.n_rows == 2000
    assert PairAUCSketch().n_sampled_of(10**9) == 1


def test_errors_name_the_thing(frame):
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
    shape = dask_shape(parts)
    assert shape == {
        "n_rows": 2000, "n_columns": 6, "bytes_per_cell": 8.0, "is_columnar": True, "n_parts": 4,
        "waits": True, "disk": 0,
    }  # fmt: skip
