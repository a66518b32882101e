"""The suggested step: it follows from the conclusion, and what it says to type runs."""

import shlex

import pytest
from sklearn.datasets import load_wine

from mauc import MDFS, GreedyMAUC
from mauc.report.html.next_step import reading_words, suggest
from tests.helpers.cli_helpers import run


def conclusion(*kinds, loss=0.0, stable=0.9):
    return {
        "hard": [{"kind": kind} for kind in kinds],
        "chosen": {"mauc": 0.95}, "every": {"mauc": 0.95 + loss},
        "stability": {"value": stable},
    }  # fmt: skip


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
        (MDFS("auto", random_state=0), conclusion("more", loss=0.01), "compare"),
        (GreedyMAUC("auto"), conclusion("left_out"), "more"),
        (MDFS(4, random_state=0), conclusion("none", "few"), "compare"),
        (MDFS(4, random_state=0), conclusion("limit") | POOR, "compare"),
        (MDFS(4, random_state=0), conclusion("limit", stable=0.1), "compare"),
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
    step = suggest(selector, found, "mauc select wine -k 4 --report page.html", 13)
    assert step["kind"] == kind
    words = shlex.split(step["command"])
    assert words[0] == "mauc"
    assert "--report" not in words
    if kind == "compare":
        words += ["--repeats", "1", "--classifiers", "nb", "--jobs", "1"]
    result = run(*words[1:])
    assert result.stdout
    assert (tmp_path / "reduced.csv").exists() == (kind == "use")

    step = suggest(selector, found, None, 13)
    assert step["command"] is None
    scope = {"X": X, "y": y, "selector": selector}
    exec(step["code"], scope)
    if kind in ("greedy", "auto", "more"):
        assert scope["selector"] is not selector
        assert len(scope["selector"].ranking_) >= 1
    if kind == "use":
        assert scope["X_chosen"].shape == (178, 4)


def test_a_table_that_was_written_is_not_suggested_again(wine):
    selector = MDFS(4, random_state=0).fit(*wine)
    step = suggest(selector, conclusion("limit"), "mauc select wine -o small.csv", 13)
    assert step["command"] == "mauc compare wine --methods mdfs,greedy,mrmr --sizes 4"
    step = suggest(selector, conclusion("limit"), "mauc compare wine -o run", 13)
    assert step["command"] == "mauc select wine --method mdfs -k 4 --output reduced.csv"


def test_options_of_reading_and_of_the_method_stay(wine):
    selector = MDFS(4, random_state=0, ties="mauc").fit(*wine)
    command = (
        "mauc select 'my data.csv' --target=label -k4 -m mdfs --set ties=mauc --drop id "
        "--separator ';' --report p.html --force --json --seed 3"
    )
    assert reading_words(command) == [
        "my data.csv", "--target=label", "--drop", "id", "--separator", ";", "--seed", "3",
    ]  # fmt: skip
    step = suggest(selector, conclusion("more", loss=0.02), command, 13)
    assert step["command"] == (
        "mauc select 'my data.csv' --target=label --drop id --separator ';' --seed 3 "
        "--method mdfs --set ties=mauc -k auto"
    )
    other = suggest(selector, conclusion("more", loss=0.02), "python make_page.py", 13)
    assert other["command"] is None


class Own(MDFS):
    """A method that the command line does not know."""


def test_a_method_without_a_short_name_gets_python(wine):
    X, y = wine
    selector = Own(4, random_state=0).fit(X, y)
    step = suggest(selector, conclusion("limit", stable=0.1), "mauc select wine", 13)
    assert step["command"] is None
    assert "GreedyMAUC(), MDFS(random_state=0), MRMR()" in step["code"]
    exec(step["code"], {"X": X, "y": y})
