"""Every command's JSON names its schema, and the schemas describe what is printed."""

import ast
import json
from importlib.resources import files
from pathlib import Path

import click
import pytest
from jsonschema import ValidationError

from mauc.cli.app import app
from tests.helpers.cli_helpers import check_schema, refusal, run, run_json, schema_of

FOLDER = files("mauc") / "schemas"
NAMES = sorted(file.name.removesuffix(".json") for file in FOLDER.iterdir())


def commands(group, *before):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *before, name)
        else:
            yield "-".join((*before, name))


def test_every_command_has_a_schema_and_every_schema_a_command():
    assert {name.rpartition("-")[0] for name in NAMES} == set(commands(app))


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_valid_named_and_closed(name):
    schema = schema_of(f"mauc/{name}").schema
    assert schema["$id"] == schema["properties"]["schema"]["const"] == f"mauc/{name}"
    assert schema["title"] == f"mauc {name.rpartition('-')[0].replace('-', ' ')} --json"
    assert schema["description"]
    assert schema["additionalProperties"] is False
    assert "schema" in schema["required"]


def test_all_json_of_commands_names_a_schema():
    """Only schemas themselves are printed without one."""
    sources = Path(__file__).parents[2].joinpath("src", "mauc", "cli").glob("*.py")
    calls = [
        call
        for path in sources
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("print_json")
    ]
    named = {ast.literal_eval(call.args[1]) for call in calls if len(call.args) > 1}
    unnamed = [ast.unparse(call) for call in calls if len(call.args) == 1]
    assert named == set(NAMES)
    assert len(unnamed) == 2, unnamed  # mauc schema NAME and mauc run --schema


def test_a_selection_is_as_its_schema_says():
    value = run_json("select", "iris", "-k", 2)
    assert value["schema"] == "mauc/select-1"
    value["features"][0]["step"] = "first"
    with pytest.raises(ValidationError):
        check_schema(value)
    with pytest.raises(ValidationError):
        check_schema({"schema": "mauc/select-1"})


def test_schema_prints_what_is_in_the_package():
    shown = json.loads(run("schema", "select").stdout)
    assert shown == json.loads((FOLDER / "select-1.json").read_text())
    assert json.loads(run("schema", "datasets list").stdout)["$id"] == "mauc/datasets-list-1"
    assert set(run_json("schema")["schemas"]) == set(NAMES)
    assert "select-1" in run("schema").stdout
    assert "select" in refusal("schema", "nothing")
