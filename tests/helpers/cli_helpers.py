"""Run the command line inside the test's process."""

import json

from click.testing import CliRunner

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
    """Run a command with --json; all of standard output is one value."""
    return json.loads(run(*words, "--json", code=code).stdout)
