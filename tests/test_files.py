"""Files are written whole or not at all."""

import os
from pathlib import Path

import pytest

from mauc import files
from mauc.exceptions import MaucError
from mauc.files import is_part, open_atomic, remove_parts, write_atomic


def test_text_and_bytes_arrive_as_they_are(tmp_path):
    assert write_atomic(tmp_path / "a.txt", "zwei\nΣ\r\n").read_bytes() == "zwei\nΣ\r\n".encode()
    assert write_atomic(str(tmp_path / "b"), b"\x00\xff").read_bytes() == b"\x00\xff"
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b"]


def test_a_file_is_replaced_only_by_force(tmp_path):
    path = write_atomic(tmp_path / "a", "old")
    with pytest.raises(MaucError, match="a exists already"):
        write_atomic(path, "new")
    assert path.read_text() == "old"
    write_atomic(path, "new", force=True)
    assert path.read_text() == "new"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_the_old_file_and_no_part(tmp_path, monkeypatch, step):
    path = write_atomic(tmp_path / "a", "old")

    def fail(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, step, fail)
    with pytest.raises(MaucError, match="cannot be written: No space"):
        write_atomic(path, "new", force=True)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a"]


def test_only_parts_of_our_own_are_removed(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    kept = [tmp_path / ".film.part", inner / "x.part", inner / f".y.{'g' * 32}.part", inner / "z"]
    for path in kept:
        path.touch()
    with open_atomic(inner / "shard") as file:
        # What a process leaves that is killed here: the part, not yet under its name.
        left = inner / Path(file.name).name
        copy = left.read_bytes()
    left.write_bytes(copy)
    assert is_part(left)
    assert not any(map(is_part, kept))
    remove_parts(tmp_path)
    assert not left.exists()
    assert all(path.exists() for path in kept)
