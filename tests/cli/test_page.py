"""The next step of a page: it follows from the conclusion, its command and its code run."""

import json
import shlex

import pytest
from sklearn.datasets import load_wine

from mauc import MDFS, GreedyMAUC
from mauc.cli.outputs import next_steps
from mauc.exceptions import MaucError
from mauc.report.html import selection_report
from mauc.report.html.conclude import STEPS, choose_step
from mauc.report.html.recipe import python_steps
from tests.helpers.cli_helpers import run


def conclusion(*kinds, loss=0.0, stable=0.9):
    return {
        "hard": [{"kind": kind} for kind in kinds],
        "chosen": {"mauc": 0.95},
        "every": {"mauc": 0.95 + loss},
        "stability": {"value": stable},
        "is_clear": True,
    }


POOR = {"chosen": {"mauc": 0.5}, "every": {"mauc": 0.5}}


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.mark.parametrize(
    ("method", "found", "kind"),
    [
        (MDFS(4, random_state=0), conclusion("left_out", "limit"), "greedy"),
        (GreedyMAUC(4), conclusion("left_out"), "auto"),
        (MDFS(4, random_state=0), conclusion("more", loss=0.01), "auto"),
        (MDFS("auto", random_state=0), conclusion("more", loss=0.2), "more"),
        (GreedyMAUC("auto"), conclusion("left_out"), "use"),
        (GreedyMAUC("auto"), conclusion("limit", stable=0.1), "compare"),
        (MDFS(4, random_state=0), conclusion("none", "few"), "compare"),
        (MDFS(4, random_state=0), conclusion("limit") | POOR, "compare"),
        (MDFS(4, random_state=0), conclusion("limit", stable=0.1), "auto"),
        (MDFS(4, random_state=0), conclusion("separated"), "use"),
        (
            MDFS(4, random_state=0),
            conclusion("few") | {"chosen": None, "stability": None},
            "compare",
        ),
        (MDFS(4, random_state=0), conclusion() | {"chosen": None, "stability": None}, "use"),
    ],
)
def test_what_is_suggested_runs(method, found, kind, wine, tmp_path, monkeypatch):
    X, y = wine
    selector = method.fit(X, y)
    monkeypatch.chdir(tmp_path)
    assert choose_step(selector, found, 13)[0] == kind
    words = shlex.split(next_steps(selector, 13, ["wine"])[kind])
    assert words[0] == "mauc"
    assert "--report" not in words
    if kind == "compare":
        words += ["--repeats", "1", "--classifiers", "nb", "--jobs", "1"]
    result = run(*words[1:])
    assert result.stdout
    assert (tmp_path / "reduced.csv").exists() == (kind == "use")

    scope = {"X": X, "y": y, "selector": selector}
    exec(python_steps(selector, 13)[kind], scope)
    if kind in ("greedy", "auto", "more"):
        assert scope["selector"] is not selector
        assert len(scope["selector"].ranking_) >= 1
    if kind == "use":
        assert scope["X_chosen"].shape == (178, 4)


def test_the_step_follows_the_comparison(wine):
    test = {
        "mark": "better",
        "selector": "SU",
        "size": 2,
        "classifier": "1NN",
        "mean": 0.9,
        "reference_mean": 0.8,
        "difference": 0.1,
    }
    selector = MDFS(4, random_state=0).fit(*wine)
    kind, why = choose_step(selector, conclusion("separated"), 13, {"tests": [test]})
    assert kind == "use"
    assert "SU significantly ahead with 2 features (1NN: 0.900 against 0.800)" in why
    same = choose_step(selector, conclusion("separated"), 13, {"tests": [test | {"mark": "none"}]})
    assert same[1].startswith("Nothing in this comparison")


def test_a_page_shows_the_step_of_its_caller(wine):
    X, y = wine
    selector = MDFS(4, random_state=0).fit(X, y)
    kind = selection_report(selector, X, y).to_dict()["conclusion"]["next"]["kind"]
    steps = {step: f"do {step} <b>" for step in STEPS}
    report = selection_report(selector, X, y, steps=steps)
    found = report.to_dict()["conclusion"]["next"]
    assert (found["kind"], found["command"], found["code"]) == (kind, f"do {kind} <b>", None)
    assert f"<code>do {kind} &lt;b&gt;</code>" in report.to_html()
    with pytest.raises(MaucError, match="steps must name greedy, auto, more, compare, use, got"):
        selection_report(selector, X, y, steps={"use": "take it"})


def test_a_table_that_was_written_is_not_suggested_again(wine):
    selector = MDFS(4, random_state=0).fit(*wine)
    steps = next_steps(selector, 13, ["wine"], is_table_written=True)
    assert "use" not in steps
    assert steps["compare"] == "mauc compare wine --methods mdfs,greedy,mrmr --sizes 4"
    kept = next_steps(selector, 13, ["wine"])
    assert kept["use"] == "mauc select wine --method mdfs -k 4 --output reduced.csv"
    all_features = MDFS("all", random_state=0).fit(*wine)
    assert choose_step(all_features, conclusion("limit"), 13)[0] == "use"
    report = selection_report(all_features, *wine, steps=steps)
    step = report.to_dict()["conclusion"]["next"]
    assert (step["kind"], step["command"]) == ("use", None)
    assert (
        step["why"] == "All features are in use: no other choice is possible. Continue with them."
    )


def test_options_of_reading_and_of_the_method_stay(tmp_path, monkeypatch):
    frame = load_wine(as_frame=True).frame.rename(columns={"target": "label"})
    frame.insert(0, "id", "x")
    frame.to_csv(tmp_path / "my data.csv", index=False, sep=";")
    monkeypatch.chdir(tmp_path)
    run(
        "select",
        "my data.csv",
        "--target=label",
        "-k4",
        "-m",
        "mdfs",
        "--set",
        "ties=mauc",
        "--drop",
        "id",
        "--separator",
        ";",
        "--seed",
        3,
        "--report",
        "p.json",
    )
    step = json.loads((tmp_path / "p.json").read_text())["conclusion"]["next"]
    assert step["command"].startswith(
        "mauc select 'my data.csv' --target label --drop id --separator ';' --seed 3"
    )
    if step["kind"] in ("auto", "more", "use"):
        assert "--method mdfs --set ties=mauc -k " in step["command"]


class Own(MDFS):
    """A method that the command line does not know."""


def test_a_method_without_a_short_name_gets_python(wine):
    X, y = wine
    selector = Own(4, random_state=0).fit(X, y)
    assert next_steps(selector, 13, ["wine"]) is None
    code = python_steps(selector, 13)["compare"]
    assert "GreedyMAUC(), MDFS(random_state=0), MRMR()" in code
    exec(code, {"X": X, "y": y})
