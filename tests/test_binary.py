"""Two classes: MAUC is the AUC, and whatever is shown to people says so."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from mauc import GreedyMAUC, mauc_interval, mauc_score, pair_auc_scores, select_k
from mauc.plotting import PairMapDisplay
from mauc.report import mauc_table
from mauc.report.html import selection_report
from mauc.stats import Comparison
from tests.helpers.cli_helpers import run, run_json
from tests.helpers.selector_cases import SELECTORS

#: words about pairs of classes, or a mean over them
said = re.compile(r"\b[Pp]airs?\b|\bMAUC\b|\bmean AUC").findall


def table(n=120, m=8, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, "ill", "well")
    X = pd.DataFrame(rng.normal(size=(n, m)).round(1), columns=[f"f{j}" for j in range(m)])
    X.iloc[:, :4] += np.outer(y == "ill", [1.0, -0.8, 0.6, 0.4])
    return X, y


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    X, y = table()
    path = tmp_path_factory.mktemp("two") / "two.csv"
    X.assign(state=y).to_csv(path, index=False)
    return path


class TestScores:
    """The AUC of scores, of one column or of two."""

    def test_by_hand(self):
        # Of 4 comparisons three are right and one is a tie.
        y, x = [0, 0, 1, 1], np.array([1.0, 2, 2, 3])
        for scores in (x, np.column_stack([-x, x])):
            assert mauc_score(y, scores) == 3.5 / 4

    @pytest.mark.parametrize("is_weighted", [False, True])
    @pytest.mark.parametrize("seed", range(3))
    def test_equals_roc_auc_score(self, seed, is_weighted):
        rng = np.random.default_rng(seed)
        y, x = rng.integers(0, 2, 80), rng.normal(size=80).round(1)
        w = rng.integers(0, 4, 80) if is_weighted else None
        wanted = roc_auc_score(y, x, sample_weight=w)
        for scores in (x, np.column_stack([-x, x])):
            found = [
                mauc_score(y, scores, sample_weight=w),
                mauc_score(y, scores, sample_weight=w, pair_weight={(0, 1): 7.0}),
                mauc_score(y, scores, sample_weight=w, average="weighted"),
                mauc_interval(y, scores, sample_weight=w).mauc,
            ]
            assert_allclose(found, wanted, rtol=1e-12)

    def test_what_is_printed(self):
        y, x = list("aabb"), np.array([1.0, 2, 2, 3])
        assert str(pair_auc_scores(y, x)) == "AUC 0.8750 (a vs b)"
        both = pair_auc_scores(y, np.column_stack([x, x]))
        assert str(both) == "AUC 0.5000 (a vs b; mean of A_ij 0.1250 and A_ji 0.8750)"
        assert str(mauc_interval(y, x)).startswith("AUC 0.8750, 95% interval ")


@pytest.mark.parametrize("name", SELECTORS)
def test_selectors(name):
    X, y = table()
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=3).fit(X, y)
    auc = np.array([roc_auc_score(y == "ill", column) for column in X.to_numpy().T])
    folded = np.maximum(auc, 1 - auc)
    assert_allclose(selector.pair_auc_[:, 0], folded[selector.ranking_], rtol=1e-12)
    assert "f0" in X.columns[selector.ranking_]
    assert set(selector.trace_.subproblem_names) <= {"ill vs well", "all classes", "ill vs rest"}
    assert not said(str(selector.trace_))


def test_auto_weights_and_curve():
    X, y = table()
    curve = GreedyMAUC("auto").fit(X, y).size_curve_
    assert curve.measure == "AUC"
    assert not said(str(curve))
    weighted = select_k(SELECTORS["mdfs"], X, y, sample_weight=np.arange(120) % 3 + 1)
    assert not said(str(weighted))
    label = curve.plot().ax_.get_ylabel()
    assert label.startswith("cross-validated AUC")


@pytest.mark.parametrize("name", ["mdfs", "maucd", "greedy"])
def test_one_pair_has_all_weight(name):
    X, y = table()
    plain = clone(SELECTORS[name]).set_params(n_features_to_select=4)
    costly = clone(plain).set_params(pair_weight={("ill", "well"): 5.0}).fit(X, y)
    plain.fit(X, y)
    assert_array_equal(costly.ranking_, plain.ranking_)
    assert_array_equal(costly.scores_, plain.scores_)


def test_groups():
    X, y = table()
    curve = GreedyMAUC("auto").fit(X, y, groups=np.arange(120) // 6).size_curve_
    assert 0.7 < curve.honest_mauc < 1.0
    assert not said(str(curve))


def test_figures():
    X, y = table()
    selector = GreedyMAUC(3).fit(X, y)
    displays = selector.trace_.plot(), PairMapDisplay.from_selector(selector, X, y)
    for display in displays:
        for ax in display.figure_.axes:
            words = ax.get_xlabel(), ax.get_ylabel(), *(ax.get_title(loc) for loc in ("left",))
            assert not said(" ".join(words))
    assert displays[0].axes_[0].get_ylabel() == "predicted AUC"


@pytest.mark.parametrize("method", ["greedy", "mdfs", "maucd", "schi", "consensus"])
@pytest.mark.parametrize("command", ["select", "rank"])
def test_select_and_rank(file, command, method):
    found = run(command, file, "--target", "state", "--method", method, "-k", 3)
    assert "AUC" in found.stdout or method in ("schi", "consensus") or command == "rank"
    assert not said(found.output)
    assert "vs" not in found.stdout.replace("f", "")
    facts = run_json(command, file, "--target", "state", "--method", method, "-k", 3)
    assert len(facts["features"]) == 3


def test_other_commands(file, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(40)
    scores = pd.DataFrame({"label": ["ill", "well"] * 20, "ill": p, "well": 1 - p})
    scores.to_csv(tmp_path / "scores.csv", index=False)
    wanted = roc_auc_score(scores["label"] == "ill", p)
    found = run("score", tmp_path / "scores.csv").stdout
    assert found.startswith(f"AUC {wanted:.4f} (ill vs well), 95% interval ")
    assert run("score", tmp_path / "scores.csv", "--bootstrap", 0).stdout == (
        f"AUC {wanted:.4f} (ill vs well)\n"
    )
    assert len(run_json("score", tmp_path / "scores.csv")["pairs"]) == 1
    compared = run(
        "compare",
        file,
        "--target",
        "state",
        "-m",
        "mdfs,chi",
        "--classifiers",
        "nb",
        "--sizes",
        "2,4",
        "--repeats",
        1,
        "--folds",
        2,
        "-j",
        1,
        "--progress",
        "quiet",
        "--figure",
        tmp_path / "c.png",
    ).stdout
    assert compared.startswith("Mean AUC of 2 selectors")
    assert "mean AUC" in compared
    assert not re.search(r"\bMAUC\b|\bpair", compared)


@pytest.mark.parametrize("method", ["greedy", "mdfs", "schi"])
def test_no_pair_is_seen_on_the_page(method):
    X, y = table()
    selector = clone(SELECTORS[method]).set_params(n_features_to_select=3).fit(X, y)
    report = selection_report(selector, X, y)
    page = report.to_html()
    text = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.DOTALL)
    shown = re.findall(r'(?:aria-label|title|placeholder)="([^"]*)"', text)
    assert not said(re.sub(r"<[^>]*>", " ", text) + " ".join(shown))
    script = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)[0]
    assert not re.search(r"\bMAUC\b|mean AUC|Over all pairs", script)
    assert 'id="hard"' not in page
    assert "The two classes" in text


@pytest.mark.parametrize("n_classes", [2, 3])
def test_names_of_users_stay_as_they_are(n_classes):
    rng = np.random.default_rng(0)
    labels = ["MAUC", "class pair", "mean AUC"][:n_classes]
    y = np.repeat(labels, 40)
    X = pd.DataFrame(rng.normal(size=(len(y), 3)), columns=["the pairs above", "MAUC", "AUC"])
    X["MAUC"] += y == "MAUC"
    selector = GreedyMAUC(2).fit(X, y)
    for name in X:
        assert str(selector.explain(name, X, y)).startswith(f"{name} was ")
    page = selection_report(selector, X, y, data_name="mean AUC of MAUC").to_html()
    assert "mean AUC of MAUC" in page
    assert '"the pairs above"' in page
    rows = pd.DataFrame(
        {
            "dataset": "MAUC",
            "repeat": 0,
            "fold": [0, 1],
            "classifier": "nb",
            "size": 5,
            "selector": "mdfs",
            "mauc": [0.9, 0.8],
            "status": "ok",
            "error": None,
            "n_train": 89,
            "n_test": 89,
        }
    )
    text = mauc_table(rows, "MAUC", Comparison(None), measure="AUC").to_text()
    assert text.startswith("Mean AUC of 1 selectors on the MAUC data set")
