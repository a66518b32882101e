"""Arrays that lie by rows, as columns: memory maps, Zarr, HDF5."""

import os

import numpy as np
import pytest

from mauc import MDFS
from mauc.exceptions import MaucError
from mauc.sources.transposed import arrays, layout, list_caches, open_transposed_array

MEMORY = 2**26


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "columns"


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(arrays, "MAX_BLOCK_BYTES", 3000)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u1", "?", ">f8", "M8[s]"])
@pytest.mark.usefixtures("small_blocks")
def test_types(tmp_path, dtype):
    X = np.random.default_rng(0).integers(0, 2, (101, 13)).astype(dtype)
    np.save(tmp_path / "x.npy", X)
    source = open_transposed_array(np.load(tmp_path / "x.npy", mmap_mode="r"), memory=MEMORY)
    assert source.shape == X.shape
    assert source.name == str(tmp_path / "x.npy")
    assert len(source.row_parts()) > 1 or X.itemsize <= 2
    for places in ([0, 1, 2], [12, 3], list(range(13))):
        for j, values in zip(places, source.read(np.array(places)), strict=True):
            assert values.dtype.isnative
            np.testing.assert_array_equal(values, X[:, j])
        for j, values in zip(places, source.read_rows(20, 77, np.array(places)), strict=True):
            np.testing.assert_array_equal(values, X[20:77, j])


@pytest.mark.parametrize("direct_bytes", [1, 2**30])
@pytest.mark.usefixtures("small_blocks")
def test_selection_equals_that_in_memory(tmp_path, monkeypatch, direct_bytes):
    monkeypatch.setattr(layout, "_DIRECT_BYTES", direct_bytes)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 500)
    X = rng.normal(size=(500, 30)) + y[:, np.newaxis] * np.linspace(0, 1, 30)
    X[::5, 2] = np.nan
    np.save(tmp_path / "x.npy", X)
    expected = MDFS(9, random_state=0).fit(X, y)
    for _ in range(2):  # the second time from the cache
        source = open_transposed_array(np.load(tmp_path / "x.npy", mmap_mode="r"), memory=MEMORY)
        found = MDFS(9, random_state=0).fit(source, y)
        np.testing.assert_array_equal(found.ranking_, expected.ranking_)
        np.testing.assert_array_equal(found.pair_auc_, expected.pair_auc_)


@pytest.mark.usefixtures("small_blocks")
def test_chunks_are_read_whole(tmp_path):
    zarr = pytest.importorskip("zarr")
    X = np.random.default_rng(0).normal(size=(200, 6))
    array = zarr.create_array(str(tmp_path / "x.zarr"), shape=X.shape, chunks=(25, 6), dtype="f8")
    array[:] = X
    source = open_transposed_array(array, "x.zarr", stamp={"made": 1}, memory=MEMORY)
    assert {start % 25 for start, _ in source.row_parts()} == {0}
    np.testing.assert_array_equal(np.column_stack(source.read(np.arange(6))), X)


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    X = np.random.default_rng(0).normal(size=(200, 6)).astype(np.float32)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        data = file.create_dataset("X", data=X, chunks=(50, 6), compression="gzip")
        source = open_transposed_array(data, "x.h5::X", stamp={}, feature_names=list("abcdef"))
    np.testing.assert_array_equal(np.column_stack(source.read(np.arange(6))), X)
    assert source.feature_names.tolist() == list("abcdef")


def test_another_stamp_builds_anew(tmp_path):
    X = np.zeros((10, 3))
    open_transposed_array(X, "x", stamp={"version": 1})
    source = open_transposed_array(X + 1, "x", stamp={"version": 1})
    assert source.read(np.array([0]))[0].sum() == 0
    source = open_transposed_array(X + 1, "x", stamp={"version": 2})
    assert source.read(np.array([0]))[0].sum() == 10
    assert len(list_caches()) == 1


def test_changed_file(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((10, 3)))
    source = open_transposed_array(np.load(path, mmap_mode="r"))
    source.check_unchanged()
    np.save(path, np.ones((10, 3)))
    os.utime(path, ns=(1, 1))
    with pytest.raises(MaucError, match=r"x\.npy changed while its columns were read"):
        source.check_unchanged()
    source = open_transposed_array(np.load(path, mmap_mode="r"))
    assert source.read(np.array([1]))[0].sum() == 10
    source.check_unchanged()


def test_parts_of_a_map_are_tables_of_their_own(tmp_path):
    path = tmp_path / "x.bin"
    np.arange(40.0).tofile(path)
    whole = np.memmap(path, np.float64, "r", shape=(20, 2))
    later = np.memmap(path, np.float64, "r", offset=160, shape=(10, 2))
    np.testing.assert_array_equal(open_transposed_array(whole).read([0])[0], whole[:, 0])
    np.testing.assert_array_equal(open_transposed_array(later).read([0])[0], later[:, 0])
    for part in (whole[5:15], whole[10:], whole[:, :1], whole[::-1]):
        np.testing.assert_array_equal(open_transposed_array(part).read([0])[0], part[:, 0])


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (np.zeros((3, 2)), {}, "name must tell what the array is called"),
        (np.zeros((3, 2)), {"name": "x"}, "x is no file; say stamp="),
        (np.zeros(3), {"name": "x"}, "two dimensions are wanted, got an array of float64 with 1"),
        (np.array([["a"]]), {"name": "x"}, "numbers in two dimensions are wanted, got an array of"),
    ],
)
def test_errors(array, options, message):
    with pytest.raises(MaucError, match=message):
        open_transposed_array(array, **options)


def test_map_with_changes_of_its_own(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    with pytest.raises(MaucError, match=r"x\.npy is mapped with mode 'c'.*map it with mode 'r'"):
        open_transposed_array(np.load(tmp_path / "x.npy", mmap_mode="c"))


def test_fewer_rows_than_before(tmp_path, cache):
    class Shrinking:
        shape, dtype = (10, 2), np.dtype(float)

        def __getitem__(self, rows):
            return np.zeros((3, 2))

    with pytest.raises(MaucError, match="it has fewer rows than before"):
        open_transposed_array(Shrinking(), "x", stamp={})
    assert [path for path in cache.iterdir() if path.is_dir()] == []
