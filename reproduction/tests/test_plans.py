"""The plans of this folder, and what the scripts use of the library."""

import ast
import importlib
import json
import tomllib
from pathlib import Path

import pytest

from mauc.experiments import parse_plan, plan_schema, plan_to_toml, read_plan

ROOT = Path(__file__).resolve().parents[1]
PLANS = sorted((ROOT / "plans").glob("*.toml"))
#: they study inner parts of methods
LOOK_INSIDE = ("consensus", "few_samples", "greedy", "nominal", "predicted", "siren", "spreadfx")
SCRIPTS = [path for path in sorted(ROOT.rglob("*.py")) if path.stem not in LOOK_INSIDE]


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_plan_is_read_written_and_known_to_editors(path):
    jsonschema = pytest.importorskip("jsonschema")
    plan = read_plan(path)
    assert parse_plan(plan_to_toml(plan)) == plan
    text = path.read_text(encoding="utf-8")
    jsonschema.validate(tomllib.loads(text), plan_schema())
    assert text.startswith("#:schema plan.schema.json\n")


def test_the_schema_is_the_present_one():
    named = ROOT / "plans" / "plan.schema.json"
    committed = json.loads(named.read_text(encoding="utf-8"))
    assert without_methods(committed) == without_methods(plan_schema())
    for part, names in methods_of(committed).items():
        assert set(names) <= set(methods_of(plan_schema())[part])


def methods_of(schema):
    """Give the short names of selectors and classifiers that a schema completes."""
    items = {part: schema["properties"][part]["items"] for part in ("selectors", "classifiers")}
    return {part: item["anyOf"][0]["anyOf"][0]["enum"] for part, item in items.items()}


def without_methods(schema):
    """Give a schema without the lists of methods, to which new ones may have come."""
    text = json.dumps(schema, sort_keys=True)
    for names in methods_of(schema).values():
        text = text.replace(json.dumps(names), "[]")
    return text


def test_the_plan_of_the_paper():
    # Six data sets, ten times tenfold; nine selectors, four classifiers, sizes 10 to 100.
    paper = read_plan(ROOT / "plans" / "wang2011.toml")
    assert len(paper.cells()) == 600
    assert (len(paper.selectors), len(paper.classifiers)) == (9, 4)
    assert paper.sizes == tuple(range(10, 101, 10))
    assert paper.selectors[-1].options == {"n_iterations": "log"}


@pytest.mark.parametrize("name", ["washington", "thyroid"])
def test_data_sets_to_be_got_by_hand_have_the_plan_of_the_paper(name):
    own, paper = (read_plan(ROOT / "plans" / f"{one}.toml") for one in (name, "wang2011"))
    assert [spec.name for spec in own.datasets] == [own.name] == [name]
    for part in ("selectors", "classifiers", "sizes", "repeats", "folds", "seed", "tuning"):
        assert getattr(own, part) == getattr(paper, part)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_use_public_names_of_the_library(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "mauc":
            module = importlib.import_module(node.module)
            public = getattr(module, "__all__", None) or dir(module)
            assert node.module.count(".") <= 1, f"{node.module} is not public"
            assert {alias.name for alias in node.names} <= set(public)
