"""Run the command line inside the test's process."""

import json
from functools import cache
from importlib.resources import files

from click.testing import CliRunner
from jsonschema import Draft202012Validator

from mauc.cli.app import app


def run(*words, code=0):
    """Run a command; its exit code must be the one wanted."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def refusal(*words):
    """Run a command that refuses its input; return what it says on standard error."""
    return run(*words, code=2).stderr


def run_json(*words, code=0):
    """Run a command with --json; all of standard output is one value, as its schema says."""
    value = json.loads(run(*words, "--json", code=code).stdout)
    check_schema(value)
    return value


def check_schema(value):
    """Check a value by the schema that it names."""
    assert next(iter(value)) == "schema"
    schema_of(value["schema"]).validate(value)


@cache
def schema_of(name):
    """Return the validator of a schema by its name, such as mauc/select-1."""
    schema = json.loads(
        (files("mauc") / "schemas" / f"{name.removeprefix('mauc/')}.json").read_text()
    )
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)
