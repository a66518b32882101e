"""On a core install everything works or names the extra that it needs."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from mauc import extras
from mauc.extras import MissingExtraError, optional_import
from tests.helpers.core_install import OPTIONAL, PACKAGES

ROOT = Path(__file__).resolve().parents[1]
#: What a core install can do.
WORKS = {
    *(f"import {package}" for package in PACKAGES), "print", "verbose", "mauc_interval", "select_k",
    "evaluate_ranking", "plan_schema", "stats.friedman_test", "stats.wilcoxon_test",
    "datasets.list_datasets", "datasets.write_table.npz", "warmup",
}  # fmt: skip


@pytest.fixture(scope="module")
def results():
    program = Path(__file__).parent / "helpers" / "core_install.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_core_works_without_extras(results):
    assert {name: results[name] for name in WORKS} == dict.fromkeys(WORKS)


def test_everything_else_names_its_extra(results):
    for name in set(results) - WORKS:
        assert results[name] is not None, name
        kind, message = results[name]
        assert kind == "MissingExtraError", (name, results[name])
        assert re.search(r"pip install 'mauc\[\w+\]'\.$", message), (name, message)


def test_displays_ask_for_the_extra_of_plots(results):
    for name in ("PairMapDisplay.plot", "TraceDisplay", "SizeCurveDisplay", "SirenDisplay",
                 "TreeDisplay"):  # fmt: skip
        assert "pip install 'mauc[plot]'" in results[f"plotting.{name}"][1]


def test_every_optional_package_of_the_project_is_refused_and_has_its_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for extra, packages in project["optional-dependencies"].items():
        for package in packages:
            name = re.match(r"[\w-]+", package)[0].replace("-", "_")
            if name == "mauc":
                continue
            assert name in OPTIONAL
            assert extras._EXTRA_OF[name] == extra


def test_no_module_imports_an_optional_package_unguarded():
    # Inside functions `optional_import` says what to install; TYPE_CHECKING is for type checkers.
    for path in (ROOT / "src" / "mauc").rglob("*.py"):
        if "cli" in path.parts:
            continue  # which begins with a check of all that it needs
        for line in path.read_text().splitlines():
            found = re.match(r"(?:import|from) (\w+)", line)
            assert not (found and found[1] in OPTIONAL), (path, line)


def test_an_unknown_package_is_named_itself_and_a_broken_one_is_not_hidden(tmp_path, monkeypatch):
    with pytest.raises(MissingExtraError, match="wonders need the package nowhere: pip install no"):
        optional_import("nowhere", "wonders")
    (tmp_path / "broken_package.py").write_text("import not_there_either")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="not_there_either"):
        optional_import("broken_package", "wonders")
