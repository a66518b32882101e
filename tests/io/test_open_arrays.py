"""Arrays that are opened: where their chunks come from."""

import pickle
from uuid import uuid4

import fsspec
import numpy as np
import pytest

from mauc import MDFS, open_columns
from mauc.io.objects import as_source
from tests.io.conftest import assert_same_fit

zarr = pytest.importorskip("zarr")


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
    np.testing.assert_array_equal(np.array(source.read(np.arange(37))).T, X)
