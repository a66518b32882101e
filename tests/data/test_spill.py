import errno
import os
import shutil
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest

from mauc import memory
from mauc.exceptions import MaucError
from mauc.memory import Workspace, map_file, spill_folder

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path))
    return tmp_path


def test_without_a_limit_all_is_in_memory():
    space = Workspace()
    assert space.array((3, 4), np.int16).shape == (3, 4)
    assert not space.is_spilled
    assert space.rows_at_once(1000) > 2**60
    space.release()


def test_what_fits_is_in_memory():
    # Half of 1000 bytes, less what is taken.
    space = Workspace(1000, floor=100)
    space.reserve(100)
    space.array((4, 100), np.uint8)
    assert not space.is_spilled
    assert space.taken == 500
    space.array((1, 1), np.uint8)
    assert space.is_spilled


def test_floor_of_a_pass_is_left():
    space = Workspace(1000, floor=900)
    assert space.spare() == 100


def test_file_keeps_values_when_pages_are_released(folder):
    space = Workspace(0)
    array = space.array((5, 100_000), np.int32)
    expected = np.arange(array.size).reshape(array.shape)
    array[:] = expected
    space.release()
    np.testing.assert_array_equal(array, expected)
    assert list(folder.iterdir()) == []  # it has no name


def test_rows_at_once_of_each_thread():
    space = Workspace(1000)
    space.array((1, 501), np.uint8)
    assert space.rows_at_once(100) == 2
    assert space.rows_at_once(50, 2) == 2
    assert space.rows_at_once(5000) == 1


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="Linux only")
def test_room_on_the_disk_is_given_back(folder):
    def is_mapped():
        return str(folder) in Path("/proc/self/maps").read_text()

    array, mapped = map_file((1000, 1000), np.uint8)
    assert is_mapped()
    del array, mapped
    assert not is_mapped()


def test_too_little_room_on_the_disk(folder, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 0, 10**9))
    with pytest.raises(MaucError, match=r"has 1.0 GB free, but 6.0 GB are needed .* MAUC_CACHE"):
        map_file((6, 10**9), np.uint8)
    assert list(folder.iterdir()) == []


def test_room_for_what_comes_later(folder, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 0, 3 * 10**6))
    space = Workspace(1_000_000)
    space.array((2, 10**6), np.uint8, later=400_000)  # fits into the memory
    with pytest.raises(MaucError, match=r"has 3 MB free, but 4 MB are needed"):
        space.array((2, 10**6), np.uint8, later=2_000_000)


def test_disk_that_fills_up(folder, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", fail, raising=False)
    with pytest.raises(MaucError, match=r"no temporary file of 1 MB .*No space left on device"):
        map_file((1000, 1000), np.uint8)
    assert list(folder.iterdir()) == []


def test_without_fallocate_zeros_are_written(monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    monkeypatch.setattr(memory, "_CHUNK", 300)
    array, _ = map_file((1000,), np.uint8)
    np.testing.assert_array_equal(array, np.zeros(1000))


def test_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(MaucError, match="the folder MAUC_CACHE: no temporary file"):
        map_file((10,), np.uint8)


def test_folder(tmp_path, monkeypatch):
    assert spill_folder() == tmp_path
    monkeypatch.delenv("MAUC_CACHE")
    for name in ("TMPDIR", "TEMP", "TMP"):
        monkeypatch.delenv(name, raising=False)
    if os.access("/var/tmp", os.W_OK):
        assert spill_folder() == Path("/var/tmp")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert spill_folder() == tmp_path
