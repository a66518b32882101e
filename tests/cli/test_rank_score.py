"""`mauc rank`, `mauc score`: their numbers are those of the library."""

import json

import numpy as np
import pandas as pd
import pytest

from mauc import (
    compare_mauc,
    feature_pair_auc,
    mauc_interval,
    mauc_score,
    pair_auc_scores,
)
from mauc.datasets import load_dataset
from mauc.selectors import make_selector
from tests.helpers.cli_helpers import refusal, run, run_json


@pytest.fixture
def many_classes(tmp_path):
    rng = np.random.default_rng(0)
    codes = np.arange(260) % 26
    frame = pd.DataFrame(rng.normal(size=(260, 3)) + codes[:, None] * 0.2, columns=list("xyz"))
    frame["label"] = [chr(97 + code) for code in codes]
    frame.to_csv(tmp_path / "letters.csv", index=False)
    return tmp_path / "letters.csv"


@pytest.fixture
def scores_file(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.random((30, 3)), columns=["score_a", "score_b", "score_c"])
    frame["label"] = list("abc") * 10
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


def test_rank_says_what_missing_numbers_tell(tmp_path):
    rows = [
        f"{'' if i % 2 and i % 4 else i % 7},{i % 5},{'no' if i % 2 else 'yes'}" for i in range(40)
    ]
    path = tmp_path / "gaps.csv"
    path.write_text("\n".join(["a,b,label", *rows]))
    got = {row["feature"]: row for row in run_json("rank", path, "-t", "label")["features"]}
    assert (got["a"]["missing"], got["a"]["missing_auc"]) == (0.5, 1.0)
    assert "missing" not in got["b"]
    assert "missing   known AUC   missing AUC" in run("rank", path, "-t", "label").stdout
    assert "missing" not in run("rank", "wine").stdout


def test_rank_gives_the_scores_of_the_selector():
    got = run_json("rank", "wine", "--method", "su")["features"]
    wine = load_dataset("wine")
    selector = make_selector("su", "all").fit(wine.X, wine.y)
    assert [row["column"] for row in got] == selector.ranking_.tolist()
    assert [row["score"] for row in got] == selector.scores_[selector.ranking_].tolist()
    assert len(run_json("rank", "wine", "-k", 4)["features"]) == 4


@pytest.mark.parametrize(
    ("method", "head"),
    [
        ("mdfs", "mean AUC"),
        ("maucd", "mean AUC"),
        ("mrmr", "score alone"),
        ("su", "symm. uncertainty"),
    ],
)
def test_rank_and_select_call_the_scores_alike(method, head):
    for command in ("rank", "select"):
        line = next(
            line
            for line in run(command, "wine", "-k", 3, "-m", method).stdout.splitlines()
            if "feature  " in line
        )
        words = [word.strip() for word in line.split("  ") if word.strip()]
        assert words[-1 if command == "rank" else -2] == head


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_the_file_of_pairs_has_every_feature_on_every_pair(many_classes, tmp_path, extension):
    path = tmp_path / f"auc.{extension}"
    result = run("rank", many_classes, "-t", "label", "--pairs", path)
    assert f"wrote {path}" in result.stderr
    frame = pd.read_csv(path) if extension == "csv" else pd.read_parquet(path)
    assert frame.shape == (3, 1 + 325)
    data = load_dataset(many_classes, "label")
    np.testing.assert_array_equal(frame.iloc[:, 1:], feature_pair_auc(data.X, data.y))
    run("rank", many_classes, "-t", "label", "--pairs", path, code=2)


def test_two_classes_have_one_pair():
    got = run_json("select", "breast_cancer", "-k", 2)
    assert {row["chosen_for"] for row in got["features"]} == {"benign vs malignant"}


@pytest.mark.parametrize(
    ("arguments", "options", "origin"),
    [
        ((), {}, "DeLong variance"),
        (("--level", 0.9), {"level": 0.9}, "DeLong variance"),
        (
            ("--bootstrap", 50, "--seed", 4),
            {"method": "percentile", "n_bootstrap": 50, "random_state": 4},
            "50 resamples",
        ),
    ],
)
def test_score_gives_mauc_pairs_and_interval(scores_file, arguments, options, origin):
    got = run_json("score", scores_file, *arguments)
    frame = pd.read_csv(scores_file)
    y, values = frame.pop("label").to_numpy(), frame.to_numpy()
    interval = mauc_interval(y, values, **options)
    assert got["mauc"] == mauc_score(y, values)
    assert (got["lower"], got["upper"]) == (interval.lower, interval.upper)
    assert (got["method"], got["level"]) == (interval.method, interval.level)
    assert [row["auc"] for row in got["pairs"]] == pair_auc_scores(y, values).auc.tolist()
    assert [row["lower"] for row in got["pairs"]] == interval.pair_lower.tolist()
    text = " ".join(run("score", scores_file, *arguments).stdout.split())
    assert (
        f"MAUC {interval.mauc:.4f} over 3 pairs, {100 * interval.level:g}% interval "
        f"{interval.lower:.4f} to {interval.upper:.4f} ({origin})" in text
    )


def test_score_without_a_file_shows_an_example():
    text = run("score", "--bootstrap", 0).stdout
    assert "Naive Bayes on wine, cross-validated" in text
    assert "interval" not in text


def test_score_writes_its_pairs(scores_file, tmp_path):
    run("score", scores_file, "--pairs", tmp_path / "pairs.csv")
    assert pd.read_csv(tmp_path / "pairs.csv").columns[-2:].tolist() == ["lower", "upper"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, 2], "label": ["a", "b"]}, "has no column of scores for class 'b'"),
        ({"a": [1, 2], "b": [2, 1], "score_b": [1, 1], "label": ["a", "b"]}, "two columns"),
        ({"a": [1, 2], "b": ["u", "v"], "label": ["a", "b"]}, "holds texts, not scores"),
    ],
)
def test_a_file_that_has_no_scores_is_refused(tmp_path, columns, message):
    pd.DataFrame(columns).to_csv(tmp_path / "s.csv", index=False)
    assert message in refusal("score", tmp_path / "s.csv")


def test_score_refuses_what_makes_no_sense(scores_file):
    assert "--level must be a number in (0, 1)" in refusal("score", "--level", 95)
    assert "takes a file of scores" in refusal("score", "wine")
    for words, message in (
        (("--no-header",), "mauc: --no-header goes with a file of scores."),
        (("--keep-ids",), "mauc: --keep-ids goes with a file of scores."),
        (("--categorical", "a"), "--categorical goes with a file of scores, got ['a'] without one"),
        (("--target", "y"), "--target goes with a file of scores, got 'y' without one."),
    ):
        assert message in refusal("score", *words)


def test_groups_on_the_command_line(tmp_path):
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(20), 4)
    y = (rng.permutation(20) % 2)[patient]
    frame = pd.DataFrame({"b": y + rng.normal(size=80), "a": rng.normal(size=80)})
    frame["patient"], frame["label"] = patient, np.array(["a", "b"])[y]
    path = tmp_path / "p.csv"
    frame.to_csv(path, index=False)
    given = (path, "-t", "label", "--groups", "patient")
    interval = mauc_interval(frame["label"], frame[["a", "b"]], groups=patient)
    got = run_json("score", *given)
    assert (got["lower"], got["upper"], got["n_groups"]) == (interval.lower, interval.upper, 20)
    assert "leave --bootstrap out" in refusal("score", *given, "--bootstrap", "5")
    said = run("select", *given, "-k", "1").stderr
    assert "--groups leaves its column out, but changes nothing else here" in said
    assert "--groups patient keeps its rows" in run("select", *given[:3], "-k", "1").stderr
    report = tmp_path / "page.json"
    said = run("select", *given, "-k", "auto", "--report", report).stderr
    assert "changes nothing" not in said
    page = json.loads(report.read_text())
    assert page["conclusion"]["parts"].endswith("each of whole groups (20 in all),")
    assert "groups='patient'" in page["reproduce"]["code"]
    assert "fit(X, y, groups=groups)" in page["reproduce"]["code"]
    assert "--groups patient" in page["conclusion"]["next"]["command"]


@pytest.fixture
def other_file(scores_file, tmp_path):
    frame = pd.read_csv(scores_file)
    frame[["score_c", "score_a", "label", "score_b"]].assign(
        score_a=frame["score_a"] + (frame["label"] == "a")
    ).to_csv(tmp_path / "other.csv", index=False)
    return tmp_path / "other.csv"


def test_two_files_of_scores_are_compared(scores_file, other_file):
    a, b = pd.read_csv(scores_file), pd.read_csv(other_file)
    names = ["score_a", "score_b", "score_c"]
    expected = compare_mauc(a["label"], a[names].to_numpy(), b[names].to_numpy())
    got = run_json("score", scores_file, "--against", other_file)["comparison"]
    assert got["difference"] == pytest.approx(expected.difference)
    assert got["p_value"] == pytest.approx(expected.p_value)
    assert len(got["pairs"]) == 3
    assert str(expected) in run("score", scores_file, "--against", other_file).stdout
    words = ("score", scores_file, "--against", other_file, "--margin", 0.9)
    assert run_json(*words)["comparison"]["alternative"] == "noninferior"
    assert "no more than 0.9 worse" in run(*words).stdout


def test_files_of_other_rows_are_not_compared(scores_file, other_file):
    frame = pd.read_csv(other_file)
    frame.iloc[::-1].to_csv(other_file, index=False)
    assert "row 1 is of class 'c', not 'a'" in refusal(
        "score", scores_file, "--against", other_file
    )
    frame.head(20).to_csv(other_file, index=False)
    assert "the 30 rows of the scores, got 20" in refusal(
        "score", scores_file, "--against", other_file
    )
    assert "--margin goes with --against" in refusal("score", scores_file, "--margin", 0.1)
    assert "goes with a file of scores" in refusal("score", "--against", other_file)
