"""Files are written whole or not at all, by one process, in folders that others cannot change."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mauc import files
from mauc.exceptions import MaucError
from mauc.files import is_part, locked, make_private, open_atomic, remove_parts, write_atomic


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


CONTEND = """
import sys
from pathlib import Path
from mauc.files import locked
folder = Path(sys.argv[1])
for _ in range(300):
    with locked(folder / ".lock"):
        (folder / "inside").mkdir()  # fails if another process is inside
        (folder / "count").write_text(str(int((folder / "count").read_text()) + 1))
        (folder / "inside").rmdir()
"""


@pytest.mark.processes
def test_a_lock_is_held_by_one_and_its_file_goes(tmp_path):
    (tmp_path / "count").write_text("0")
    words = [sys.executable, "-c", CONTEND, str(tmp_path)]
    rivals = [subprocess.Popen(words) for _ in range(3)]
    assert [rival.wait(60) for rival in rivals] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "900"
    with locked(tmp_path / ".lock"), pytest.raises(TimeoutError), locked(tmp_path / ".lock", 0.1):
        pass
    assert os.listdir(tmp_path) == ["count"]


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such permissions")
def test_a_folder_that_others_can_change_is_refused(tmp_path, monkeypatch):
    folder, link = tmp_path / "a" / "b", tmp_path / "link"
    assert make_private(folder) == make_private(folder) == folder
    assert [path.stat().st_mode & 0o777 for path in (folder, folder.parent)] == [0o700] * 2
    link.symlink_to(folder)
    assert make_private(link) == link  # one's own
    refused = pytest.raises(PermissionError, match="other users can change what is in it")
    folder.chmod(0o1777)
    with refused:
        make_private(link)
    folder.chmod(0o755)
    uid, is_root = os.getuid(), os.getuid() == 0  # who alone may give files away
    for foreign in (folder, link):  # a folder, or a link that somebody else put there
        if is_root:
            os.chown(foreign, 12345, -1, follow_symlinks=False)
        monkeypatch.setattr(os, "getuid", lambda: uid if is_root else 12345)
        with refused:
            make_private(link)
        os.chown(foreign, uid, -1, follow_symlinks=False)
