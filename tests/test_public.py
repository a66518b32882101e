"""The public list is complete and sorted, and importing the package stays light."""

import ast
import importlib
import re
import subprocess
import sys
import types
from importlib.metadata import requires, version
from pathlib import Path

import pytest
from constraints import oldest

import mauc
import mauc.metrics
import mauc.selectors
from mauc.registry import SELECTOR_CLASSES
from tests.helpers import typed_client

ROOT = Path(__file__).resolve().parents[1]
#: tables of the public modules, which the pages that use them describe
CONSTANTS = {"BUNDLED", "CLASSIFIERS", "FORMATS", "NOMINAL", "PAPER_COMPARISON", "WRITABLE"}
HEAVY = ("dask", "jinja2", "matplotlib", "pandas", "polars", "pyarrow", "rich", "click")


def in_order(names):
    """Sort as ruff does: CONSTANTS, then Classes, then functions."""
    return sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))


def listed_in_the_stub():
    """Give the home of every name that ``__init__.pyi`` lists."""
    stub = ast.parse((Path(mauc.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    assert all(alias.asname == alias.name for line in imports for alias in line.names), (
        "a line of src/mauc/__init__.pyi must be `from .home import Name as Name`: checkers take "
        "other names of a stub for private"
    )
    return {alias.name: f"mauc.{line.module}" for line in imports for alias in line.names}


@pytest.mark.parametrize("module", [mauc, mauc.metrics])
def test_public_list_is_sorted(module):
    assert module.__all__ == in_order(module.__all__)
    assert len(module.__all__) == len(set(module.__all__))
    assert all(hasattr(module, name) for name in module.__all__)


def test_public_names_are_those_of_the_stub():
    homes = listed_in_the_stub()
    assert set(homes) == set(mauc.__all__) - {"__version__"}
    for name, home in homes.items():
        assert getattr(mauc, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match="magic"):
        mauc.magic  # noqa: B018
    assert set(mauc.__all__) <= set(dir(mauc))


def test_the_public_list_of_metrics_is_complete():
    made_here = {
        name
        for name, value in vars(mauc.metrics).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and getattr(value, "__module__", "mauc").startswith("mauc")
    }
    assert made_here == set(mauc.metrics.__all__)
    assert made_here <= set(mauc.__all__)


def test_selectors_are_public():
    missing = set(SELECTOR_CLASSES) - set(mauc.__all__)
    assert not missing, (
        f"a selector needs its line in src/mauc/__init__.pyi; there is none of {missing}"
    )
    for name in SELECTOR_CLASSES:
        assert getattr(mauc.selectors, name) is getattr(mauc, name)
    with pytest.raises(AttributeError, match="has no attribute 'magic'"):
        mauc.selectors.magic  # noqa: B018


@pytest.mark.parametrize("name", [n for n in mauc.__all__ if n != "__version__"])
def test_public_names_are_documented(name):
    assert getattr(mauc, name).__doc__


def test_a_typed_client_runs_and_uses_every_public_name(tmp_path):
    text = Path(typed_client.__file__).read_text()
    # Selectors that it does not name have the types of those that it does.
    names = set(mauc.__all__) - set(SELECTOR_CLASSES)
    assert not [name for name in names if not re.search(rf"\b{name}\b", text)]
    typed_client.main(tmp_path)


def test_a_typed_client_passes_strict_checks():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    done = subprocess.run([*command, typed_client.__file__], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_version():
    assert mauc.__version__ == version("mauc")


def test_every_dependency_has_an_oldest_version_to_test_with():
    needed = {re.match(r"[\w-]+", text)[0] for text in requires("mauc")} - {"mauc"}
    pins = {pin.split("==")[0] for pin in oldest()}
    assert needed <= pins
    assert "pytest" in pins


def run(program):
    command = [sys.executable, "-W", "error", "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loaded_by(imports):
    program = f"import sys, {imports}; print([m for m in {HEAVY!r} if m in sys.modules])"
    return set(ast.literal_eval(run(program)))


def test_import_loads_nothing_heavy():
    # scikit-learn itself loads pandas and rich where they are installed; mauc adds nothing.
    assert loaded_by("mauc, mauc.selectors, mauc.experiments") <= loaded_by(
        "sklearn.feature_selection"
    )


def test_import_alone_loads_next_to_nothing():
    program = (
        "import sys, mauc; print([m for m in ('numpy', 'numba', 'sklearn') if m in sys.modules])"
    )
    assert run(program).strip() == "[]"


@pytest.mark.parametrize(("name", "most"), [("mauc_score", 34), ("MDFS", 60)])
def test_a_name_imports_few_modules(name, most):
    program = (
        f"import sys; from mauc import {name}; "
        "print([module for module in sys.modules if module.split('.')[0] == 'mauc'])"
    )
    loaded = set(ast.literal_eval(run(program)))
    assert len(loaded) < most
    # Arrays need no readers.
    assert not {"mauc.datasets", "mauc.io", "mauc.cluster"} & loaded


def test_import_and_fit_need_nothing_heavy():
    program = f"""
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import mauc
print(mauc.MDFS(1).fit([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [4.0, 5.0]], [0, 0, 1, 1]).ranking_)
"""
    assert run(program).strip() == "[0]"


def test_every_public_name_is_in_the_reference():
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([A-Za-z]\w+)$", page, re.MULTILINE))
    assert ".. include:: _selectors.rst" in page  # docs/conf.py writes it
    listed |= set(SELECTOR_CLASSES)
    modules = re.findall(r"currentmodule:: ([\w.]+)", page)
    public = {name for module in modules for name in importlib.import_module(module).__all__}
    constants = {name for name in public if name.startswith("__") or name in CONSTANTS}
    assert listed == public - constants


def test_the_version_is_the_same_everywhere():
    for name, line in (("CITATION.cff", "version: {}"), ("packaging/recipe.yaml", 'version: "{}"')):
        assert line.format(version("mauc")) in (ROOT / name).read_text(encoding="utf-8"), name
