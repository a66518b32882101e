"""The cache of columns: whole or not there, made anew when the source changes, removable."""

import errno
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from mauc.datasets import cache as datasets_cache
from mauc.exceptions import MaucError
from mauc.sources.transposed import (
    build_text,
    clear_caches,
    list_caches,
    open_transposed_array,
    open_transposed_text,
    store,
    text,
    writer,
)

MEMORY = 2**27


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(build_text, "MAX_PIECE_BYTES", 2**12)
    monkeypatch.setattr(build_text, "MIN_PIECE_BYTES", 2**12)
    monkeypatch.setattr(build_text, "COLUMN_BYTES", 0)
    return tmp_path / "cache" / "columns"


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "data.csv")


def write(path, factor=1):
    rows = "".join(f"{factor * i},{i % 7},w{i % 3},{'uv'[i % 2]}\n" for i in range(2000))
    path.write_text("a,b,c,label\n" + rows)
    return path


def total(source):
    return int(source.read(np.array([0]))[0].sum())


def folders(cache):
    return [entry for entry in cache.iterdir() if entry.is_dir()]


SUM = 1999 * 1000


def test_second_run_reads_the_cache(path, monkeypatch):
    assert total(open_transposed_text(path, memory=MEMORY)) == SUM
    monkeypatch.setattr(text, "build_text", None)
    monkeypatch.setattr(text, "plan_delimited", None)
    assert total(open_transposed_text(path, memory=MEMORY)) == SUM
    assert total(open_transposed_text(os.path.relpath(path), memory=MEMORY)) == SUM


@pytest.mark.parametrize("moment", ["group", "words", "column", "sync", "note"])
def test_disk_full(path, cache, monkeypatch, moment):
    n_calls = []

    def full(*arguments, **options):
        n_calls.append(1)
        if len(n_calls) > (2 if moment in ("group", "words") else 0):
            raise OSError(errno.ENOSPC, "No space left on device", *named)
        return original(*arguments, **options)

    named = ()
    if moment == "group":
        original = writer.write_bytes
        monkeypatch.setattr(writer, "write_bytes", full)
    elif moment == "words":
        original = build_text.WordSpill.add
        named = (str(cache / "x"),)
        monkeypatch.setattr(build_text.WordSpill, "add", full)
    elif moment == "column":
        original = writer.write_bytes
        monkeypatch.setattr(build_text, "type_column", column_that_fills(full, monkeypatch))
    elif moment == "sync":
        monkeypatch.setattr(os, "fsync", full)
    else:
        monkeypatch.setattr(store, "write_atomic", full)
        named = (str(cache / "x"),)
    with pytest.raises(MaucError) as caught:
        open_transposed_text(path, memory=MEMORY)
    for word in (str(path), str(cache), "full", "free", "mauc cache clear", "MAUC_CACHE"):
        assert word in str(caught.value)
    assert folders(cache) == []
    monkeypatch.undo()
    monkeypatch.setenv("MAUC_CACHE", str(cache.parent))
    assert total(open_transposed_text(path, memory=MEMORY)) == SUM


def column_that_fills(full, monkeypatch):
    original = build_text.type_column

    def type_column(*arguments, **options):
        monkeypatch.setattr(writer, "write_bytes", full)
        return original(*arguments, **options)

    return type_column


def test_disk_full_of_arrays(tmp_path, cache, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writer, "write_bytes", full)
    with pytest.raises(MaucError, match=r"big: the disk of .* is full"):
        open_transposed_array(np.zeros((5, 5)), "big", stamp={})
    assert folders(cache) == []


def test_too_little_room_is_known_beforehand(path, cache, monkeypatch):
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(store.shutil, "disk_usage", lambda folder: usage)
    monkeypatch.setattr(build_text, "read_pieces", None)  # nothing is read
    with pytest.raises(MaucError) as caught:
        open_transposed_text(path, memory=MEMORY)
    assert "its columns take about 70 kB on disk, but" in str(caught.value)
    assert f"{cache} has 1 kB left" in str(caught.value)
    assert "MAUC_CACHE" in str(caught.value)
    assert folders(cache) == []
    with pytest.raises(MaucError, match="big: its columns take about 8 MB on disk"):
        open_transposed_array(np.zeros((1000, 1000)), "big", stamp={})


def test_cache_that_cannot_be_written(path, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("MAUC_CACHE", str(blocked))
    with pytest.raises(
        MaucError, match=r"data\.csv: its columns cannot be written to .*MAUC_CACHE"
    ):
        open_transposed_text(path, memory=MEMORY)
    with pytest.raises(MaucError, match=r"big: its columns cannot be written to .*MAUC_CACHE"):
        open_transposed_array(np.zeros((5, 5)), "big", stamp={})


def test_changed_file_is_transposed_anew(path, cache):
    old = open_transposed_text(path, memory=MEMORY)
    old.check_unchanged()
    size, status = path.stat().st_size, path.stat()
    write(path, factor=-1).write_text(path.read_text()[:size])
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(MaucError, match=r"data\.csv changed while its columns were read"):
        old.check_unchanged()
    write(path, factor=2)
    assert [table.state for table in list_caches()] == ["changed"]
    assert total(open_transposed_text(path, memory=MEMORY)) == 2 * SUM
    assert len(folders(cache)) == 1
    with pytest.raises(MaucError, match=r"cannot be read .* Open the file again"):
        total(old)


def test_same_size_and_time_of_a_small_file(path):
    status = path.stat()
    open_transposed_text(path, memory=MEMORY)
    path.write_text(path.read_text().replace("\n0,0,", "\n5,0,", 1))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert total(open_transposed_text(path, memory=MEMORY)) == SUM + 5


def test_file_that_changes_while_it_is_transposed(path, cache, monkeypatch):
    original = build_text.read_pieces

    def growing(*arguments, **options):
        yield from original(*arguments, **options)
        with path.open("a") as file:
            file.write("1,2,w,u\n")

    monkeypatch.setattr(build_text, "read_pieces", growing)
    with pytest.raises(MaucError, match=r"data\.csv changed while it was read"):
        open_transposed_text(path, memory=MEMORY)
    assert folders(cache) == []


def test_file_that_goes_away(path):
    source = open_transposed_text(path, memory=MEMORY)
    path.unlink()
    with pytest.raises(MaucError, match=r"data\.csv cannot be read: No such file"):
        source.check_unchanged()
    assert [table.state for table in list_caches()] == ["gone"]


@pytest.mark.parametrize("damage", ["note", "no note", "short", "missing", "version"])
def test_damaged_table_is_made_anew(path, damage):
    folder = open_transposed_text(path, memory=MEMORY).folder
    note = folder / "note.json"
    if damage == "note":
        note.write_text(note.read_text()[:100])
    elif damage == "no note":
        note.unlink()
    elif damage == "short":
        os.truncate(folder / "groups.bin", 100)
    elif damage == "missing":
        (folder / "columns.bin").unlink()
    else:
        note.write_text(json.dumps({**json.loads(note.read_text()), "version": 0}))
    assert [table.state for table in list_caches()] == ["broken"]
    assert total(open_transposed_text(path, memory=MEMORY)) == SUM
    assert [table.state for table in list_caches()] == ["current"]


def start(path, body):
    """Start a process that opens the file; `body` runs before."""
    code = f"""
    import sys, time
    from pathlib import Path
    from mauc.sources.transposed import build_text, open_transposed_text, writer
    build_text.MAX_PIECE_BYTES = build_text.MIN_PIECE_BYTES = 2**12
    build_text.COLUMN_BYTES = 0
    path = Path({str(path)!r})
    original = writer.write_bytes
    def slow(file, view):
        with path.with_name("builders").open("a") as builders:
            builders.write("x")
        {body}
        return original(file, view)
    writer.write_bytes = slow
    source = open_transposed_text(path, memory={MEMORY})
    print(int(source.read([0])[0].sum()))
    """
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )


def wait_for(path):
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_killed_while_it_builds(path, cache):
    process = start(path, "time.sleep(60)")
    wait_for(path.with_name("builders"))
    process.kill()
    process.wait()
    process.stdout.close()
    (part,) = folders(cache)
    assert part.name.startswith(".")
    assert list_caches() == []
    assert total(open_transposed_text(path, memory=MEMORY)) == SUM
    assert not part.exists()
    assert len(folders(cache)) == 1


def test_two_processes_at_once(path, cache, monkeypatch):
    processes = [start(path, "time.sleep(0.05)") for _ in range(2)]
    printed = [process.communicate(timeout=120)[0].strip() for process in processes]
    assert printed == [str(SUM)] * 2
    assert len(folders(cache)) == 1
    clear_caches()
    n_writes = []
    original = writer.write_bytes
    monkeypatch.setattr(writer, "write_bytes", lambda *a: n_writes.append(1) or original(*a))
    open_transposed_text(path, memory=MEMORY)
    # One of the two built it, the other one waited.
    assert len(n_writes) == len(path.with_name("builders").read_text())


def test_without_locks_the_first_one_stays(path, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    original = build_text.commit

    def overtaken(*arguments):
        monkeypatch.setattr(build_text, "commit", original)
        assert total(open_transposed_text(path, memory=MEMORY)) == SUM
        return original(*arguments)

    monkeypatch.setattr(build_text, "commit", overtaken)
    assert total(open_transposed_text(path, memory=MEMORY)) == SUM
    assert len(folders(cache)) == 1


def test_parts_without_locks_are_removed_when_they_are_old(path, cache, monkeypatch):
    monkeypatch.setitem(sys.modules, "filelock", None)
    for name, age in ((".old-1.x.part", 3 * 86_400), (".new-1.x.part", 10)):
        (cache / name).mkdir(parents=True)
        (cache / name / "groups.bin").write_bytes(b"x")
        for entry in (cache / name / "groups.bin", cache / name):
            os.utime(entry, (time.time() - age,) * 2)
    open_transposed_text(path, memory=MEMORY)
    assert sorted(entry.name[:4] for entry in folders(cache))[0] == ".new"
    assert len(folders(cache)) == 2


def test_list_and_clear(path, tmp_path, cache):
    other = write(tmp_path / "other.csv", factor=3)
    first = open_transposed_text(path, memory=MEMORY)
    os.utime(first.folder / "used", (time.time() - 10 * 86_400,) * 2)
    open_transposed_text(other, memory=MEMORY, label="label", separator=",")
    tables = list_caches()
    assert [table.source for table in tables] == [str(other), str(path)]
    assert [(table.n_samples, table.n_features) for table in tables] == [(2000, 4)] * 2
    assert tables[0].n_bytes > 2000 * (8 + 8 + 4 + 4)
    assert tables[0].options["separator"] == ","
    assert clear_caches(older_than=11) == []
    assert clear_caches(older_than=9) == [tables[1]]
    locks = [file.name for file in cache.iterdir() if file.suffix == ".lock"]
    assert locks == [f".{tables[0].name.partition('-')[0]}.lock"]
    with pytest.raises(MaucError, match=r"has no table 'nothing'.* Its tables: "):
        clear_caches(["nothing"])
    with pytest.raises(MaucError, match="older_than must be a number of days"):
        clear_caches(older_than=-1)
    assert clear_caches([str(other), tables[0].name]) == [tables[0]]
    assert list(cache.iterdir()) == []
    assert clear_caches() == []
    with pytest.raises(MaucError, match=r"were they removed by `mauc cache clear`"):
        total(first)
    assert total(open_transposed_text(path, memory=MEMORY)) == SUM


def test_use_is_written_down(path):
    source = open_transposed_text(path, memory=MEMORY)
    os.utime(source.folder / "used", (1, 1))
    assert list_caches()[0].last_used == 1
    open_transposed_text(path, memory=MEMORY)
    assert time.time() - list_caches()[0].last_used < 60


def test_downloaded_data_sets_stay(path, tmp_path):
    kept = datasets_cache.cache_folder() / "usps.npz"
    kept.parent.mkdir()
    kept.write_bytes(b"x")
    open_transposed_text(path, memory=MEMORY)
    clear_caches()
    assert kept.exists()
