"""Work that would need more memory than is free is refused beforehand."""

import pytest

from mauc import memory
from mauc.exceptions import MaucError
from mauc.memory import check_memory, free_memory


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system whose memory is written in files."""
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_GROUPS", ((tmp_path / "max", tmp_path / "current"),))
    return tmp_path


def test_free_is_what_the_system_can_give(system):
    assert free_memory() == 8000 * 1024


def test_a_container_may_have_less(system):
    (system / "current").write_text("1000\n")
    (system / "max").write_text("max\n")
    assert free_memory() == 8000 * 1024
    (system / "max").write_text("5000\n")
    assert free_memory() == 4000
    (system / "max").write_text("500\n")
    assert free_memory() == 0


@pytest.mark.parametrize("name", ["inactive_file", "total_inactive_file"])
def test_files_that_a_container_has_read_do_not_count_as_used(system, name):
    (system / "current").write_text("4900\n")
    (system / "max").write_text("5000\n")
    (system / "memory.stat").write_text(f"anon 900\n{name} 3000\n")
    assert free_memory() == 3100


def test_other_systems_count_pages_or_do_not_know(system, monkeypatch):
    (system / "meminfo").unlink()
    monkeypatch.setattr(memory.os, "sysconf", {"SC_AVPHYS_PAGES": 3, "SC_PAGE_SIZE": 4096}.get)
    assert free_memory() == 3 * 4096

    def unknown(name):
        raise ValueError(name)

    monkeypatch.setattr(memory.os, "sysconf", unknown)
    assert free_memory() is None
    check_memory(10**18, "anything", "nothing")


def test_the_error_names_the_need_what_is_free_and_the_way_out(system):
    check_memory(8000 * 1024, "9 pairs", "merge classes")
    message = r"^9 pairs need 2\.0 GB of memory, but 8\.2 MB are free; merge classes\.$"
    with pytest.raises(MaucError, match=message):
        check_memory(2 * 10**9, "9 pairs", "merge classes")
