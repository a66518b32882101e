"""Every kind of source gives selectors what an array gives them, to the bit."""

import os
import pickle
from uuid import uuid4

import dask.array as da
import dask.dataframe as dd
import fsspec
import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
import zarr
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

import mauc.io.objects
from mauc import MAUCD, MDFS, AnovaF, ChiSquare, feature_pair_auc, open_columns
from mauc.data.source import ColumnSource
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.io.objects import as_source
from tests.io.conftest import assert_same_fit

MEMORY = 300_000  # a third of the data take more


def npy(X, y, path):
    np.save(path / "x.npy", X)
    np.save(path / "y.npy", y)
    return path / "x.npy", path / "y.npy"


def npy_by_columns(X, y, path):
    np.save(path / "x.npy", np.asfortranarray(X))
    return path / "x.npy", y


def memmap(X, y, path):
    held = np.memmap(path / "x.bin", X.dtype, "w+", shape=X.shape, order="F")
    held[:] = X
    return held, y


def zarr_group(X, y, path):
    group = zarr.open_group(path / "x.zarr", mode="w")
    group.create_array("X", data=X, chunks=(300, 7))
    group.create_array("y", data=y)
    return path / "x.zarr::X", "y"


def hdf5(X, y, path):
    with h5py.File(path / "x.h5", "w") as file:
        file.create_dataset("deep/X", data=X, chunks=(90, 4), compression="gzip")
        file["y"] = y
    return path / "x.h5", "y"


def hdf5_by_rows(X, y, path):
    with h5py.File(path / "x.h5", "w") as file:
        file["X"] = X
    return str(path / "x.h5::X"), y


def _frame(X, y):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).assign(label=y)


def arrow_dataset(X, y, path):
    _frame(X, y)[:500].to_parquet(path / "a.parquet")
    _frame(X, y)[500:].to_parquet(path / "b.parquet", index=False)
    return ds.dataset([path / "a.parquet", path / "b.parquet"], format="parquet"), "label"


def feather(X, y, path):
    _frame(X, y).to_feather(path / "x.feather")
    return path / "x.feather", "label"


def parquet(X, y, path):
    _frame(X, y).to_parquet(path / "x.parquet", row_group_size=170)
    return path / "x.parquet", "label"


def parquet_folder(X, y, path):
    (path / "table").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(len(y)), 4)):
        _frame(X, y).iloc[rows].to_parquet(path / "table" / f"{number}.pq", index=False)
    return path / "table", "label"


def csv(X, y, path):
    _frame(X.astype(np.float64), y).to_csv(path / "x.csv", index=False)
    return path / "x.csv", "label"


def npz(X, y, path):
    np.savez(path / "x.npz", X=X, y=y)
    return path / "x.npz", None


KINDS = {
    maker.__name__: maker
    for maker in (
        npy,
        npy_by_columns,
        memmap,
        zarr_group,
        hdf5,
        hdf5_by_rows,
        arrow_dataset,
        feather,
        parquet,
        parquet_folder,
        csv,
        npz,
    )
} | {
    "big_endian": lambda X, y, path: (X.astype(">f4"), y),
    "zarr_array": lambda X, y, path: (
        zarr.create_array(path / "x.zarr", data=X, chunks=(200, 5)),
        y,
    ),
    "sparse_matrix": lambda X, y, path: (sparse.csr_array(X), y),
    "pandas_frame": lambda X, y, path: (_frame(X, y), "label"),
    "polars_frame": lambda X, y, path: (pl.from_pandas(_frame(X, y)), "label"),
    "arrow_table": lambda X, y, path: (pa.Table.from_pandas(_frame(X, y)), "label"),
    "dask_array": lambda X, y, path: (
        da.from_array(X, chunks=(130, 11)),
        da.from_array(y, chunks=500),
    ),
    "dask_frame": lambda X, y, path: (dd.from_pandas(_frame(X, y), npartitions=11), "label"),
}


@pytest.fixture(scope="module")
def expected(numbers):
    X, y = numbers
    selectors = [MDFS(5, random_state=0), MAUCD(5), ChiSquare(5), AnovaF(5)]
    return [selector.fit(X, y) for selector in selectors], feature_pair_auc(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_equals_array(numbers, expected, tmp_path, kind):
    X, _ = numbers
    source, y = open_columns(*KINDS[kind](*numbers, tmp_path), memory=MEMORY)
    assert source.shape == X.shape
    assert source.memory == MEMORY
    assert_array_equal(feature_pair_auc(source, y), expected[1])
    for known in expected[0]:
        found = clone(known).set_params(n_jobs=2).fit(source, y)
        for name in ("ranking_", "scores_", "pair_auc_"):
            assert_array_equal(getattr(found, name), getattr(known, name))
    assert_array_equal(found.transform(source), known.transform(X))


@pytest.mark.parametrize("kind", KINDS)
def test_parts_and_copies(numbers, tmp_path, kind):
    X, _ = numbers
    source, _ = open_columns(*KINDS[kind](*numbers, tmp_path), memory=MEMORY)
    places = np.array([30, 2, 3, 2, 36])
    for held in (source, pickle.loads(pickle.dumps(source)), source.with_memory(10**6)):
        assert_array_equal(np.array(held.read(places)).T, X[:, places])
        part = held.read_rows(190, 610, places)
        assert_array_equal(np.array(part).T, X[190:610, places])
    parts = source.row_parts()
    assert [start for start, _ in parts] == [0, *(stop for _, stop in parts[:-1])]
    assert parts[-1][1] == 900


@pytest.mark.parametrize(
    "kind", ["zarr_array", "arrow_table", "dask_array", "dask_frame", "memmap"]
)
def test_selectors_take_objects(numbers, tmp_path, monkeypatch, kind):
    X, y = numbers
    data, target = KINDS[kind](X, y, tmp_path)
    if isinstance(target, str):
        target = data[target]
        data = data.drop_columns("label") if kind == "arrow_table" else data.drop(columns="label")
    monkeypatch.setattr(mauc.io.objects, "free_memory", lambda: X.nbytes)
    assert isinstance(as_source(data), ColumnSource)
    known, found = MDFS(5, random_state=0).fit(X, y), MDFS(5, random_state=0).fit(data, target)
    assert_array_equal(found.ranking_, known.ranking_)
    assert_array_equal(found.scores_, known.scores_)
    assert_array_equal(found.transform(data), known.transform(X))
    assert_array_equal(feature_pair_auc(data, target), feature_pair_auc(X, y))


def test_h5py_dataset(numbers, tmp_path):
    X, y = numbers
    hdf5(X, y, tmp_path)
    with h5py.File(tmp_path / "x.h5") as file:
        found = MDFS(5, random_state=0).fit(file["deep/X"], file["y"])
    assert_array_equal(found.scores_, MDFS(5, random_state=0).fit(X, y).scores_)


def test_ordinary_data_stay_as_they_are(numbers, tmp_path):
    X, _ = numbers
    held, _ = memmap(X, None, tmp_path)
    for data in (X, X.tolist(), sparse.csr_array(X), pd.DataFrame(X), pl.DataFrame(X), held):
        assert as_source(data) is data


def test_no_chunk_is_read_twice_in_a_pass(numbers, tmp_path):
    X, y = numbers

    class Counted:
        shape, dtype, chunks = X.shape, X.dtype, (300, 5)
        cells = 0

        def __getitem__(self, key):
            rows, columns = key
            Counted.cells += (rows.stop - rows.start) * (columns.stop - columns.start)
            return X[key]

    source = mauc.io.arrays.ArraySource(Counted(), "counted", memory=MEMORY)
    feature_pair_auc(source, y)
    assert Counted.cells == X.size


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros(5), "two dimensions"),
        (np.array([["a", "b"], ["c", "d"]]), "array of numbers"),
        ("nowhere.parquet", "does not exist"),
        ("nowhere.npy", "does not exist"),
        ("nowhere.h5", "does not exist"),
    ],
)
def test_refused(data, message):
    with pytest.raises(MaucError, match=message):
        open_columns(data, [0, 1])


@pytest.mark.parametrize("kind", ["hdf5", "zarr_array"])
def test_transposed_arrays_that_change_are_noticed(numbers, tmp_path, cache, kind):
    data, target = KINDS[kind](*numbers, tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.is_file() and cache not in file.parents]
    source, _ = open_columns(data, target, memory=10_000)
    assert "Cached" in type(source).__name__
    pickle.loads(pickle.dumps(source)).check_unchanged()
    for file in files:
        os.utime(file, ns=(1, 1))
    with pytest.raises(MaucError, match="changed while its columns were read"):
        source.check_unchanged()


def test_rows_of_later_files_do_not_read_the_first_ones(numbers, tmp_path):
    X, y = numbers
    for number in range(3):
        rows = slice(300 * number, 300 * number + 300)
        _frame(X[rows], y[rows]).to_feather(tmp_path / f"{number}.feather")
    source, _ = open_columns(tmp_path, "label")
    assert source.row_parts() == [(0, 300), (300, 600), (600, 900)]
    assert_array_equal(source.read(np.array([5]))[0], X[:, 5])
    chosen = ds.dataset(tmp_path, format="ipc").filter(ds.field("f0") > 0)
    filtered, _ = open_columns(chosen, "label")
    assert_array_equal(filtered.read(np.array([5]))[0], X[X[:, 0] > 0, 5])
    (tmp_path / "0.feather").write_bytes(b"no more")
    assert_array_equal(source.read_rows(500, 700, np.array([5]))[0], X[500:700, 5])


@pytest.mark.parametrize(
    "kind", ["npy_by_columns", "hdf5", "zarr_array", "feather", "arrow_dataset"]
)
def test_changed_since_it_was_opened(numbers, tmp_path, kind):
    data, target = KINDS[kind](*numbers, tmp_path)
    source, y = open_columns(data, target, memory=MEMORY)
    source.check_unchanged()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            os.utime(file, ns=(1, 1))
    with pytest.raises(MaucError, match="changed while it was being read"):
        MAUCD(2).fit(source, y)


@pytest.fixture
def address():
    """Of a folder that only fsspec knows."""
    folder = f"memory://{uuid4().hex}"
    yield folder
    system = fsspec.filesystem("memory")
    system.rm(folder, recursive=True)


def test_zarr_at_an_address_waits(numbers, address):
    X, y = numbers
    group = zarr.open_group(f"{address}/x.zarr", mode="w")
    held = group.create_array("X", data=X, chunks=(300, 7))
    group.create_array("y", data=y)
    source, labels = open_columns(f"{address}/x.zarr::X", "y", memory="1MB")
    assert source.waits
    assert as_source(held).waits
    assert source.take([3, 1]).waits
    assert source.with_memory(10**6).waits
    assert pickle.loads(pickle.dumps(as_source(held))).waits
    assert_same_fit(MDFS(5, random_state=0), source, X, labels)


@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_zarr_that_is_here_does_not_wait(numbers, tmp_path, kind):
    X, _ = numbers
    path = str(tmp_path / "x.zarr")
    store = zarr.storage.MemoryStore() if kind == "memory" else path
    held = zarr.create_array(store, data=X, chunks=(300, 7))
    source = as_source(held)
    assert not source.waits
    assert_array_equal(np.array(source.read(np.arange(37))).T, X)


def test_pickles_of_zarr_are_refused(tmp_path):
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=2)
    group.create_array("X", data=np.zeros((4, 2)))
    (tmp_path / "x.zarr" / "y").mkdir()
    (tmp_path / "x.zarr" / "y" / ".zarray").write_text(
        '{"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|O", "compressor": null, '
        '"order": "C", "fill_value": "", "filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]}'
    )
    with pytest.raises(MaucError, match="holds pickles, which are never read"):
        load_dataset(tmp_path / "x.zarr", "y")
