"""Packages of extras are imported when they are needed, or the extra is named."""

import re
import tomllib
from pathlib import Path

import pytest

from mauc import extras
from mauc.extras import MissingExtraError, optional_import

ROOT = Path(__file__).resolve().parents[1]


def test_every_package_of_an_extra_is_known_by_its_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = {
        re.match(r"[\w-]+", package)[0].replace("-", "_"): extra
        for extra, packages in project["optional-dependencies"].items()
        for package in packages
        if not package.startswith("mauc[")
    }
    assert {**found, "distributed": "dask"} == extras._EXTRA_OF


def test_no_module_imports_an_optional_package_unguarded():
    # `optional_import` says what to install; imports of type checkers are indented.
    for path in (ROOT / "src" / "mauc").rglob("*.py"):
        for line in path.read_text().splitlines():
            found = re.match(r"(?:import|from) (\w+)", line)
            assert not (found and found[1] in extras._EXTRA_OF), (path, line)


def test_an_unknown_package_is_named_itself_and_a_broken_one_is_not_hidden(tmp_path, monkeypatch):
    with pytest.raises(MissingExtraError, match="wonders need the package nowhere: pip install no"):
        optional_import("nowhere", "wonders")
    (tmp_path / "broken_package.py").write_text("import not_there_either")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_either"):
        optional_import("broken_package", "wonders")
