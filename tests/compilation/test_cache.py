"""Where the cache is, and what is said if it cannot be written."""

import os
from pathlib import Path

import pytest
from numba.core import config

import mauc
from mauc.compilation import cache, find_cache
from mauc.exceptions import MaucError


@pytest.fixture
def no_setting(monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", "")


def refuse(monkeypatch, *folders):
    """Make folders that cannot be written, whoever asks: root may write anywhere."""
    known = cache._why_not

    def why_not(folder):
        is_refused = any(folder.is_relative_to(refused) for refused in folders)
        return "Permission denied" if is_refused else known(folder)

    monkeypatch.setattr(cache, "_why_not", why_not)


def test_the_folder_of_the_environment_variable_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "new"))
    assert find_cache() == str(tmp_path / "new")
    assert os.listdir(tmp_path / "new") == []


def test_a_folder_that_is_a_file_is_named_with_the_way_out(monkeypatch, tmp_path):
    path = tmp_path / "file"
    path.touch()
    monkeypatch.setattr(config, "CACHE_DIR", str(path))
    with pytest.raises(MaucError, match=f"cache folder {path} .* File exists; set .*NUMBA_CACHE"):
        find_cache()


def test_without_the_variable_it_is_the_package_then_the_user(monkeypatch, no_setting, tmp_path):
    package = Path(mauc.__file__).parent
    assert find_cache() == f"{package} (__pycache__)"
    refuse(monkeypatch, package)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert "numba" in find_cache()
    refuse(monkeypatch, package, Path("/"))
    with pytest.raises(MaucError, match=f"neither {package} nor .* Permission denied; set"):
        find_cache()


def test_nothing_is_compiled_where_compilation_is_off(monkeypatch):
    monkeypatch.setattr(config, "DISABLE_JIT", 1)
    with pytest.raises(MaucError, match="NUMBA_DISABLE_JIT"):
        find_cache()
