"""The cache of columns: whole or not there, made anew when the source changes, removable."""

import errno
import os
import shutil
import subprocess
import sys
import textwrap
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mauc.exceptions import MaucError
from mauc.io import cache as io_cache
from mauc.io import text
from mauc.io.cache import (
    ColumnWriter,
    cache_array,
    cache_folder,
    clear_caches,
    file_stamp,
    list_caches,
)
from mauc.io.options import ReadOptions
from tests.helpers.run_tools import PATIENCE, wait_for

MEMORY = 2**16


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(text, "MIN_BLOCK_BYTES", 2**12)
    return tmp_path / "cache" / "columns"


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "data.csv")


def write(path, factor=1):
    rows = "".join(f"{factor * i},{i % 7},w{i % 3},{'uv'[i % 2]}\n" for i in range(2000))
    path.write_text("a,b,c,label\n" + rows)
    return path


def open_file(path, **options):
    options = ReadOptions.make("open_file", {"format": "csv", **options})
    return text.open_text(Path(path), options, MEMORY).source


def file_of(source):
    return source._source.path


def total(source):
    return int(source.read(np.array([0]))[0].sum())


def tables(cache):
    return [entry for entry in cache.iterdir() if entry.suffix in (".arrow", ".part")]


SUM = 1999 * 1000


def test_second_run_reads_the_cache(path, monkeypatch):
    assert total(open_file(path)) == SUM
    monkeypatch.setattr(text, "_Conversion", None)
    assert total(open_file(path)) == SUM
    assert total(open_file(os.path.relpath(path))) == SUM


@pytest.mark.parametrize("owner", [(ColumnWriter, "add"), (ColumnWriter, "close"), (os, "fsync")])
def test_disk_full(path, cache, monkeypatch, owner):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(*owner, full)
    with pytest.raises(MaucError) as caught:
        open_file(path)
    for word in (str(path), str(cache), "full", "free", "mauc cache clear", "MAUC_CACHE"):
        assert word in str(caught.value)
    assert tables(cache) == []
    monkeypatch.undo()
    monkeypatch.setenv("MAUC_CACHE", str(cache.parent))
    assert total(open_file(path)) == SUM


def test_too_little_room_is_known_beforehand(path, cache, monkeypatch):
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(io_cache.shutil, "disk_usage", lambda folder: usage)
    monkeypatch.setattr(text, "_Conversion", None)  # nothing is read
    with pytest.raises(MaucError) as caught:
        open_file(path)
    assert "its columns take about 64 kB on disk, but" in str(caught.value)
    assert f"{cache} has 1 kB left" in str(caught.value)
    assert "MAUC_CACHE" in str(caught.value)
    assert tables(cache) == []
    with pytest.raises(MaucError, match="big: its columns take about 8 MB on disk"):
        cache_array(np.zeros((1000, 1000)), "big", dict)


def test_cache_that_cannot_be_written(path, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("MAUC_CACHE", str(blocked))
    with pytest.raises(MaucError, match=r"the cache folder .* cannot be used: .*MAUC_CACHE"):
        open_file(path)


def test_a_cache_folder_is_private_and_others_are_refused(path, tmp_path, monkeypatch):
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "own"))
    open_file(path)
    folder = tmp_path / "own" / "columns"
    assert [one.stat().st_mode & 0o777 for one in (folder, folder.parent)] == [0o700] * 2
    assert len(os.listdir(folder)) == 1  # the table: no lock, no part
    folder.chmod(0o777)
    with pytest.raises(MaucError, match=r"own cannot be used: other users can change .*MAUC_CACHE"):
        open_file(path)


def test_changed_file_is_parsed_anew(path, cache):
    old = open_file(path)
    old.check_unchanged()
    size, status = path.stat().st_size, path.stat()
    write(path, factor=-1).write_text(path.read_text()[:size])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(MaucError, match=r"data\.csv changed while its columns were read"):
        old.check_unchanged()
    write(path, factor=2)
    assert [table.state for table in list_caches()] == ["changed"]
    assert total(open_file(path)) == 2 * SUM
    assert len(tables(cache)) == 1


def test_same_size_and_time_of_a_small_file(path):
    status = path.stat()
    open_file(path)
    path.write_text(path.read_text().replace("\n0,0,", "\n5,0,", 1))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert total(open_file(path)) == SUM + 5


def test_file_that_changes_while_it_is_parsed(path, cache, monkeypatch):
    original = ColumnWriter.close

    def growing(self):
        original(self)
        with path.open("a") as file:
            file.write("1,2,w,u\n")

    monkeypatch.setattr(ColumnWriter, "close", growing)
    with pytest.raises(MaucError, match=r"data\.csv changed while it was read"):
        open_file(path)
    assert tables(cache) == []


def test_file_that_goes_away(path):
    source = open_file(path)
    path.unlink()
    with pytest.raises(MaucError, match=r"data\.csv cannot be read: No such file"):
        source.check_unchanged()
    assert [table.state for table in list_caches()] == ["gone"]


@pytest.mark.parametrize("damage", ["note", "short", "empty", "version"])
def test_damaged_table_is_made_anew(path, monkeypatch, damage):
    table = file_of(open_file(path))
    content = table.read_bytes()
    other = f'"version": {io_cache.VERSION}'.encode(), b'"version": 0'
    damaged = {
        "note": content[:-30] + content[-8:],
        "short": content[:100],
        "empty": b"",
        "version": content.replace(*other),
    }
    table.write_bytes(damaged[damage])
    assert [table.state for table in list_caches()] == ["broken"]
    assert total(open_file(path)) == SUM
    assert [table.state for table in list_caches()] == ["current"]


def start(path, body):
    """Start a process that opens the file; `body` runs before each batch."""
    code = f"""
    import time
    from pathlib import Path
    from mauc.io import text
    from mauc.io.cache import ColumnWriter
    from mauc.io.options import ReadOptions
    text.MIN_BLOCK_BYTES = 2**12
    path = Path({str(path)!r})
    add = ColumnWriter.add
    def slow(self, columns):
        with path.with_name("builders").open("a") as builders:
            builders.write("x")
        {body}
        add(self, columns)
    ColumnWriter.add = slow
    source = text.open_text(path, ReadOptions(format="csv"), {MEMORY}).source
    print(int(source.read([0])[0].sum()))
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )


def test_killed_while_it_builds(path, cache):
    process = start(path, "time.sleep(6000)")
    wait_for(path.with_name("builders").exists)
    process.kill()
    process.wait()
    process.stdout.close()
    (part,) = tables(cache)
    assert part.name.startswith(".")
    assert list_caches() == []
    assert total(open_file(path)) == SUM
    assert not part.exists()
    assert len(tables(cache)) == 1


def test_two_processes_at_once(path, cache):
    processes = [start(path, "time.sleep(0.05)") for _ in range(2)]
    printed = [process.communicate(timeout=PATIENCE)[0].strip() for process in processes]
    assert printed == [str(SUM)] * 2
    assert len(tables(cache)) == 1
    # One of the two built it, the other one waited.
    n_batches = len(open_file(path).row_parts())
    assert n_batches > 1
    assert len(path.with_name("builders").read_text()) == n_batches


def test_without_locks_two_may_build_and_old_parts_go(path, cache, monkeypatch):
    def refuse(self, *arguments, **options):
        raise NotImplementedError

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    cache.mkdir(parents=True)
    for name, age in ((".old.x.part", 3 * 86_400), (".new.x.part", 10)):
        (cache / name).write_bytes(b"x")
        os.utime(cache / name, (time.time() - age,) * 2)
    original = ColumnWriter.close

    def overtaken(self):
        monkeypatch.setattr(ColumnWriter, "close", original)
        assert total(open_file(path)) == SUM
        original(self)

    monkeypatch.setattr(ColumnWriter, "close", overtaken)
    assert total(open_file(path)) == SUM
    assert sorted(entry.name[:4] for entry in tables(cache))[0] == ".new"
    assert len(tables(cache)) == 2


def test_list_and_clear(path, tmp_path, cache):
    other = write(tmp_path / "other.csv", factor=3)
    first = open_file(path)
    os.utime(file_of(first), (time.time() - 10 * 86_400,) * 2)
    open_file(other, target="label", separator=",")
    tables = list_caches()
    assert [table.source for table in tables] == [str(other), str(path)]
    assert [(table.n_samples, table.n_features) for table in tables] == [(2000, 4)] * 2
    assert tables[0].n_bytes > 2000 * (8 + 8 + 4 + 4)
    assert tables[0].options["separator"] == ","
    assert clear_caches(older_than=11) == []
    assert clear_caches(older_than=9) == [tables[1]]
    with pytest.raises(MaucError, match=r"has no table 'nothing'.* Its tables: "):
        clear_caches(["nothing"])
    assert clear_caches([str(other), tables[0].name]) == [tables[0]]
    assert list_caches() == []
    assert clear_caches() == []
    with pytest.raises(MaucError, match=r"were they removed by `mauc cache clear`"):
        total(first)
    assert total(open_file(path)) == SUM


def test_use_is_written_down(path):
    source = open_file(path)
    os.utime(file_of(source), (1, 1))
    assert list_caches()[0].last_used == 1
    before = int(time.time())
    open_file(path)
    assert list_caches()[0].last_used >= before


def test_downloaded_data_sets_stay(path, tmp_path):
    kept = cache_folder() / "usps.npz"
    kept.parent.mkdir()
    kept.write_bytes(b"x")
    open_file(path)
    clear_caches()
    assert kept.exists()


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u1", "?", ">f8", "M8[s]"])
def test_arrays_of_any_type(tmp_path, monkeypatch, dtype):
    monkeypatch.setattr(io_cache, "MAX_BLOCK_BYTES", 3000)
    X = np.random.default_rng(0).integers(0, 2, (101, 13)).astype(dtype)
    np.save(tmp_path / "x.npy", X)
    path = tmp_path / "x.npy"
    held = np.load(path, mmap_mode="r")
    source = cache_array(held, str(path), partial(file_stamp, path))
    assert source.shape == X.shape
    assert len(source.row_parts()) > 1 or X.itemsize <= 2
    for columns in ([0, 1, 2], [12, 3], list(range(13))):
        for j, values in zip(columns, source.read(np.array(columns)), strict=True):
            assert values.dtype.isnative
            np.testing.assert_array_equal(values, X[:, j])
        for j, values in zip(columns, source.read_rows(20, 77, np.array(columns)), strict=True):
            np.testing.assert_array_equal(values, X[20:77, j])


def test_arrays_that_change(tmp_path, cache):
    class Shrinking:
        shape, dtype = (10, 2), np.dtype(float)

        def __getitem__(self, rows):
            return np.zeros((3, 2))

    with pytest.raises(MaucError, match="it has fewer rows than before"):
        cache_array(Shrinking(), "x", dict)
    assert tables(cache) == []
    X = np.zeros((10, 3))
    for stamp, expected in ((1, 0), (1, 0), (2, 10)):
        source = cache_array(X, "x", lambda stamp=stamp: {"version": stamp})
        assert source.read(np.array([0]))[0].sum() == expected
        X = np.ones((10, 3))
    assert len(list_caches()) == 1
