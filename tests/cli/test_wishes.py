"""Wishes and costs on the command line, in plans and on the page."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mauc import MAUCD, GreedyMAUC, mauc_score
from mauc.cli.wishes import find_names
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.experiments import DatasetSpec, MethodSpec, Plan, run_plan
from tests.helpers.cli_helpers import refusal, run, run_json

WINE = load_dataset("wine")
NAMES = list(WINE.feature_names)
CLASSES = [str(label) for label in np.unique(WINE.y)]
COSTS = {"class_0": {"class_1": 5.0}}


@pytest.fixture
def files(tmp_path):
    """Write tables of costs and groups; return their folder."""
    prices = [1 + at % 4 for at in range(len(NAMES))]
    pd.DataFrame({"Feature": NAMES, "cost": prices}).to_csv(tmp_path / "prices.csv", index=False)
    groups = pd.DataFrame({"feature": ["ash", "hue"], "group": ["pair", "pair"]})
    groups.to_csv(tmp_path / "groups.csv", index=False, sep=";")
    square = pd.DataFrame(1.0, index=CLASSES, columns=CLASSES)
    square.loc["class_0", "class_1"] = square.loc["class_1", "class_0"] = 5.0
    square.to_csv(tmp_path / "square.csv")
    (tmp_path / "pairs.csv").write_text("class,other,cost\nclass_0,class_1,5\n")
    return tmp_path


def chosen(*words):
    return [row["feature"] for row in run_json("select", "wine", *words)["features"]]


def test_wishes_are_those_of_the_library(files):
    names = chosen("-k", 4, "--keep", "ash", "--exclude", "flav*,hue")
    wanted = GreedyMAUC(4, keep=["ash"], exclude=["flavanoids", "hue"])
    frame = pd.DataFrame(WINE.X, columns=NAMES)
    assert names == [NAMES[column] for column in wanted.fit(frame, WINE.y).ranking_]
    assert {"ash", "hue"} <= set(
        chosen("-k", 4, "--keep", "hue", "--groups-of", files / "groups.csv")
    )
    words = ("--feature-costs", files / "prices.csv", "--budget", 6)
    for method in ("greedy", "mdfs", "maucd", "mrmr"):
        rows = run_json("select", "wine", "-m", method, *words)["features"]
        assert rows[-1]["spent"] <= 6
    assert "cost so far" in run("select", "wine", *words).stdout
    ranked = run_json("rank", "wine", "-m", "maucd", "--exclude", "ash")["features"]
    assert len(ranked) == len(NAMES) - 1


def test_names_with_commas_and_quotes():
    names = ["a,b", "a", "b", 'q"', " s ", "it's"]

    def find(text):
        return find_names(text, names, "--keep")

    assert find("a, b") == ["a", "b"]
    assert find("a,b") == ["a,b"]  # a name as it stands is that name
    assert find('"a","b"') == ["a", "b"]
    assert find('b,"a,b"') == ["b", "a,b"]
    assert find('"q""", " s ",it*') == ['q"', " s ", "it's"]
    for text in ("", " , ", '""'):
        with pytest.raises(MaucError, match="--keep must"):
            find(text)


@pytest.mark.parametrize("name", ["square.csv", "pairs.csv"])
def test_costs_of_confusing_classes(files, name):
    got = run_json("select", "wine", "-m", "maucd", "-k", 3, "--costs", files / name)
    selector = MAUCD(3, pair_weight=COSTS).fit(WINE.X, WINE.y)
    assert [row["column"] for row in got["features"]] == selector.ranking_.tolist()
    scores = np.eye(3)[np.searchsorted(CLASSES, WINE.y)] + np.arange(len(WINE.y))[:, None] % 2
    table = pd.DataFrame(scores, columns=CLASSES).assign(label=WINE.y)
    table.to_csv(files / "scores.csv", index=False)
    scored = run_json("score", files / "scores.csv", "--costs", files / name, "--bootstrap", 0)
    assert_allclose(scored["mauc"], mauc_score(WINE.y, scores, pair_weight=COSTS))
    compared = run_json(
        "compare",
        "wine",
        "-m",
        "maucd",
        "-c",
        "nb",
        "--sizes",
        3,
        "--repeats",
        1,
        "--folds",
        2,
        "-j",
        1,
        "--costs",
        files / name,
    )
    assert not compared["failures"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--keep", "ashes"), "--keep must name features .*, got 'ashes'"),
        (("--keep", "ash", "--exclude", "ash"), "--keep and --exclude must not name .*'ash'"),
        (("-m", "su", "--keep", "ash"), "--keep goes with the methods .*, not with su"),
        (("-m", "mrmr", "--costs", "x.csv"), "--costs goes with the methods .*, not with mrmr"),
        (("--budget", 3), "--budget needs --feature-costs"),
        (("--costs", "missing.csv"), "--costs: missing.csv cannot be read"),
        (("-k", 1, "--keep", "ash,hue"), r"-k must be at least 2 \(the features of --keep\)"),
        (("--set", "keep=ash"), "--set keep: use --keep instead"),
    ],
)
def test_what_cannot_be_done_is_said_in_the_words_of_the_command(words, message):
    assert re.search(message, refusal("select", "wine", *words))


def test_files_of_another_form_are_refused(files):
    wrong = files / "prices.csv"
    assert "columns feature and group" in refusal("select", "wine", "--groups-of", wrong)
    assert "a row and a column per class" in refusal("select", "wine", "--costs", wrong)


def test_plans_take_wishes_and_weights_of_pairs():
    wished = {"keep": ["ash"], "feature_groups": {"pair": ["hue", "alcohol"]}}
    plan = Plan(
        "wishes",
        (DatasetSpec("wine", pair_weight=COSTS),),
        (MethodSpec("maucd"), MethodSpec("wished", "maucd", wished)),
        (MethodSpec("nb"),),
        sizes=(2, 3),
        repeats=1,
        folds=2,
    )
    rows = run_plan(plan, engine="serial", progress="quiet").rows
    assert (rows["status"] == "ok").all()
    ash, pair = NAMES.index("ash"), {NAMES.index("hue"), NAMES.index("alcohol")}
    for row in rows[rows["selector"] == "wished"].itertuples():
        assert row.features[0] == ash
        assert pair <= set(row.features) or not pair & set(row.features)
    plain = run_plan(
        Plan(
            "plain",
            (DatasetSpec("wine"),),
            (MethodSpec("maucd"),),
            (MethodSpec("nb"),),
            sizes=(2, 3),
            repeats=1,
            folds=2,
        ),
        engine="serial",
        progress="quiet",
    ).rows
    assert not np.allclose(plain["mauc"], rows[rows["selector"] == "maucd"]["mauc"])


def test_the_page_says_what_was_wished(files):
    page, prices = files / "page.html", ("--feature-costs", files / "prices.csv", "--budget", 8)
    costs = ("--costs", files / "pairs.csv", "--report", page)
    run("select", "wine", "--keep", "ash", "--exclude", "hue", *prices, *costs)
    text = " ".join(page.read_text(encoding="utf-8").split())
    kept = "Kept beforehand: &#39;ash&#39;. Excluded: &#39;hue&#39;."
    weighted = "weighted by what they count"
    for words in (kept, "of a budget of 8.", weighted, "keeps to what was wished"):
        assert words in text
