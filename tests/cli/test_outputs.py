"""Nothing is lost: places that cannot be written are refused before the work, results shown."""

import pytest
from click.testing import CliRunner

from mauc.cli.app import app
from mauc.exceptions import MaucError
from tests.helpers.cli_helpers import refusal, run

WORDS = ("select", "iris", "-m", "maucd", "-k", "2")


@pytest.fixture
def refused(monkeypatch):
    """Let no file be made in a folder, as on a read-only disk; root may write anywhere."""

    def refuse(*_, **__):
        raise PermissionError(30, "Read-only file system")

    monkeypatch.setattr("mauc.cli.outputs.tempfile.TemporaryFile", refuse)


@pytest.mark.parametrize(
    "words",
    [
        (*WORDS, "-o", "small.csv"),
        (*WORDS, "--report", "page.html"),
        ("rank", "iris", "--pairs", "auc.csv"),
        ("score", "--pairs", "pairs.csv"),
        ("compare", "iris", "-o", "run"),
        ("compare", "iris", "-o", "run/deep/er"),
        ("compare", "iris", "--figure", "curves.png"),
        ("compare", "iris", "--report", "page.html"),
        ("run", "plan.toml", "-o", "run"),
        ("tables", "no_run", "-o", "tables"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_first(tmp_path, monkeypatch, refused, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(
        'datasets = ["iris"]\nselectors = ["mdfs"]\nclassifiers = ["nb"]\nsizes = [1]\n'
    )
    result = run(*words, code=2)
    assert "cannot be written: Read-only file system" in result.stderr
    assert result.stdout == ""


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "run").write_text("")
    error = refusal("compare", "iris", "-o", tmp_path / "run")
    assert "run is a file; the name of a folder is wanted" in error


@pytest.mark.parametrize(
    ("target", "words", "shown"),
    [
        ("mauc.datasets.write_table", (*WORDS, "-o"), "maucd chose 2"),
        (
            "mauc.cli.outputs.write_atomic",
            ("rank", "iris", "-m", "maucd", "--pairs"),
            "petal width",
        ),
        ("mauc.cli.outputs.write_atomic", ("score", "--bootstrap", "0", "--pairs"), "MAUC 0.9"),
    ],
)
def test_what_cannot_be_written_after_all_is_shown_first(
    tmp_path, monkeypatch, target, words, shown
):
    def fail(*_, **__):
        raise MaucError("small.csv cannot be written: No space left on device.")

    monkeypatch.setattr(target, fail)
    result = CliRunner().invoke(app, [*words, str(tmp_path / "small.csv")])
    assert result.exit_code == 2
    assert shown in result.stdout
    assert "No space left on device" in result.stderr
    assert "wrote" not in result.stderr


def test_the_other_files_are_written_and_json_is_whole(tmp_path, monkeypatch):
    import json

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mauc.datasets.write_table", fail)
    result = CliRunner().invoke(
        app, [*WORDS, "-o", str(tmp_path / "s.csv"), "--report", str(tmp_path / "p.json"), "--json"]
    )
    assert result.exit_code == 2
    assert json.loads(result.stdout)["files"] == [str(tmp_path / "p.json")]
    assert (tmp_path / "p.json").exists()
