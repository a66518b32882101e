"""`mauc methods`, `mauc datasets`, help, version: what there is."""

from importlib.metadata import version

import pytest

from mauc.classifiers import CLASSIFIERS
from mauc.datasets import BUNDLED, FORMATS, NOMINAL, load_dataset
from mauc.experiments.parallel import ENGINES
from mauc.progress import KINDS
from mauc.registry import PEERS
from mauc.selectors import SELECTORS
from tests.helpers.cli_helpers import refusal, run, run_json

COMMANDS = [
    "select",
    "rank",
    "compare",
    "score",
    "methods",
    "run",
    "tables",
    "warmup",
    "datasets list",
    "datasets info",
    "datasets fetch",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command):
    text = run(*command.split(), "--help").stdout
    assert f"Example: mauc {command}" in text
    assert "--json" in text
    assert "--debug" in text


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("select", (*FORMATS, *NOMINAL)),
        ("run", (*ENGINES, *KINDS)),
    ],
)
def test_help_names_all_choices(command, words):
    text = run(command, "--help").stdout.replace("\n", " ")
    for word in words:
        assert word in text


def test_version():
    assert run("--version").stdout == f"mauc {version('mauc')}\n"


def test_methods_lists_all():
    got = run_json("methods")
    assert [row["name"] for row in got["selectors"]] == list(SELECTORS)
    assert [row["name"] for row in got["classifiers"]] == [*CLASSIFIERS, *PEERS]
    mdfs = got["selectors"][0]
    options = {"fdr_alpha": 0.05, "schedule": "random", "ties": "index", "missing": "tie"}
    assert mdfs["options"] == options
    rows = got["selectors"] + got["classifiers"]
    assert not {"categorical_features", "verbose"} & {
        name for row in rows for name in row["options"]
    }
    assert mdfs["accepts"] == ["sparse", "infinite", "nominal", "sources"]
    assert (mdfs["label"], mdfs["measure"]) == ("MDFS", SELECTORS["mdfs"].measure)
    assert "schedule=random, ties=index" in run("methods").stdout


def test_datasets_are_listed_and_described():
    names = {row["name"]: row for row in run_json("datasets", "list")["datasets"]}
    assert set(BUNDLED) <= set(names)
    assert names["wine"]["where"] == "bundled"
    assert "Iris flowers" in run("datasets", "list").stdout
    got = run_json("datasets", "info", "wine")
    assert got["class_samples"] == {"class_0": 59, "class_1": 71, "class_2": 48}
    assert got["fingerprint"] == load_dataset("wine").fingerprint()
    assert "CC BY 4.0" in run("datasets", "info", "wine").stdout
    assert "must be one of" in refusal("datasets", "info", "beer")
    assert "must be one of" in refusal("datasets", "fetch", "beer")
