"""The page of the comparison with rivals, from tiny runs that were made up."""

import json

import numpy as np
import pandas as pd
import pytest

from mauc.exceptions import MaucError
from mauc.experiments import DatasetSpec, MethodSpec, Plan
from reproduction.beyond import make_rivals
from reproduction.beyond import rivals_tables as tables

FOLDS = [(repeat, fold) for repeat in range(2) for fold in range(5)]


def made_up(selectors, datasets=("su", "vehicle", "libras"), folds=FOLDS):
    """Rows in which a selector has its own MAUC everywhere, but for a little noise per fold."""
    rng = np.random.default_rng(0)
    rows = [
        {
            "dataset": dataset, "repeat": repeat, "fold": fold, "selector": name,
            "classifier": classifier, "size": size, "mauc": mauc + 0.001 * rng.random(),
            "select_seconds": 0.1, "status": "ok", "error": None, "n_train": 80, "n_test": 20,
            "n_features": 30,
        }
        for dataset in datasets
        for repeat, fold in folds
        for name, mauc in selectors.items()
        for classifier in ("nb", "svm")
        for size in (5, 10)
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def rows():
    made = made_up({"greedy": 0.9, "mdfs": 0.8, "svm_rfe": 0.85, "slow": 0.99})
    # One rival is better on one data set, another did not finish there.
    made.loc[(made.selector == "svm_rfe") & (made.dataset == "su"), "mauc"] += 0.1
    is_slow = (made.selector == "slow") & (made.dataset == "vehicle")
    made.loc[is_slow, ["mauc", "status", "error"]] = (np.nan, "failed", "TimeLimitError: 60 s")
    return made


def test_only_common_folds_are_compared():
    ours, theirs = made_up({"greedy": 0.9}), made_up({"svm_rfe": 0.8}, folds=FOLDS[:3])
    joined = tables.common_splits([ours, theirs[theirs.dataset != "su"]])
    assert set(joined.dataset) == {"vehicle", "libras"}
    assert len(joined) == 2 * 3 * 2 * 2 * 2  # data sets, folds, selectors, classifiers, sizes


def test_an_unfinished_selector_has_no_rank_but_all_that_it_finished(rows):
    ranks, scores = tables.rank_table(rows)
    assert list(scores.columns) == ["greedy", "mdfs", "svm_rfe"]
    # Ranks 1, 1 and 2 of three data sets.
    assert ranks.set_index("selector")["all"]["greedy"] == pytest.approx(4 / 3)
    assert list(ranks.columns) == ["selector", "all", "nb", "svm", "Holm p"]
    means = tables.dataset_means(rows)
    assert np.isnan(means.loc["vehicle", "slow"])
    assert means.loc["su", "slow"] > 0.98
    unfinished = tables.unfinished_table(rows)
    assert unfinished.to_dict("records") == [
        {"selector": "slow", "data set": "vehicle", "sizes": "5, 10", "folds": 10, "why": "60 s"}
    ]


def test_one_against_one():
    scores = pd.DataFrame({"greedy": np.full(8, 0.9), "near": 0.9, "far": 0.8})
    scores.loc[:3, "near"] -= 0.01 * np.arange(1, 5)
    scores.loc[4:, "near"] += 0.01 * np.arange(1, 5)
    duels = tables.duel_table(scores).set_index("selector")
    assert list(duels.index) == ["near", "far"]  # the closest first
    assert list(duels["greedy higher"]) == [4, 8]
    assert list(duels["lower"]) == [4, 0]
    assert duels["worst"].to_numpy() == pytest.approx([-0.04, 0.1])
    assert duels["mean difference"].to_numpy() == pytest.approx([0.0, 0.1], abs=1e-12)
    assert duels.loc["far", "p"] == pytest.approx(2 / 2**8)
    assert duels.loc["far", "Holm p"] == pytest.approx(4 / 2**8)
    assert duels.loc["near", "Holm p"] == duels.loc["near", "p"] > 0.5


def test_losses_are_all_there(rows):
    wins, compared = tables.win_table(rows)
    losses = tables.loss_table(rows, compared)
    assert list(zip(losses["data set"], losses["selector"], strict=True)) == [
        ("su", "slow"), ("libras", "slow"), ("su", "svm_rfe")
    ]  # fmt: skip
    assert (losses["significantly worse"] == losses["cells"]).all()
    shown = wins.set_index("selector")["all"]
    # 3 data sets, 2 classifiers, 2 sizes.
    assert shown["mdfs"] == "12/0/0"
    assert shown["svm_rfe"] == "8/0/4"


def test_sizes_and_small_sets(rows):
    by_size = tables.size_table(rows).set_index("selector")
    assert by_size.loc["mdfs", "K = 5"] == pytest.approx(0.1, abs=0.001)
    small = tables.small_table(rows).set_index("data set")
    assert list(small.index) == ["su", "libras", "mean"]
    assert small.loc["su", "difference"] == pytest.approx(-0.05, abs=0.001)
    assert small.loc["libras", "difference"] == pytest.approx(0.05, abs=0.001)
    assert small.loc["mean", "difference"] == pytest.approx(0, abs=0.001)
    assert list(small["best rival"]) == ["svm_rfe", "svm_rfe", ""]


def test_a_small_set_that_is_missing_leaves_no_mean(rows):
    is_gone = (rows.selector == "greedy") & (rows.dataset == "su")
    rows.loc[is_gone, ["mauc", "status"]] = (np.nan, "failed")
    small = tables.small_table(rows).set_index("data set")["difference"]
    assert np.isnan(small["su"])
    assert np.isnan(small["mean"])


def test_the_place_by_classifier_for_small_sizes_and_for_all(rows):
    # With one classifier another selector is better at the largest size, by much.
    large = pd.concat([rows, rows[rows["size"] == 10].assign(size=100)], ignore_index=True)
    is_better = (large.selector == "mdfs") & (large.classifier == "nb") & (large["size"] == 100)
    large.loc[is_better, "mauc"] = 1.2
    table = tables.place_table(large).set_index("classifier")
    assert list(table.index) == ["all", "nb", "svm"]
    # Ranks 2 (su), 1 and 1; 3, 2 and 2 behind the better one.
    assert list(table["rank, K <= 50"]) == pytest.approx([4 / 3] * 3)
    assert list(table["rank, all K"]) == pytest.approx([4 / 3, 7 / 3, 4 / 3])
    assert list(table["place, K <= 50"]) == ["1 of 3"] * 3
    assert list(table["place, all K"]) == ["1 of 3", "2 of 3", "1 of 3"]
    assert table.loc["nb", "best other, all K"] == "mdfs 1.33"


def test_an_unfinished_selector_is_ranked_where_it_finished(rows):
    # Only 5 features on one of its two data sets.
    is_short = (rows.selector == "slow") & (rows.dataset == "libras") & (rows["size"] == 10)
    rows.loc[is_short, ["mauc", "status"]] = (np.nan, "failed")
    rows.loc[(rows.selector == "slow") & (rows.dataset == "libras"), "mauc"] -= 0.11
    assert tables.partial_table(rows).to_dict("records") == [
        {
            "selector": "slow", "data sets": 2, "K": "5, 10", "mean rank": 1.5, "greedy": 2.0,
            "greedy higher": 1, "of selectors": 4,
        }
    ]  # fmt: skip
    assert tables.partial_table(rows[rows.selector != "slow"]).empty


@pytest.fixture
def runs(tmp_path, rows, monkeypatch):
    """Two run folders by their plans, and rows for them."""
    parts = {
        "rivals": rows[rows.selector.isin(["svm_rfe", "slow"])],
        "ours": rows[rows.selector.isin(["greedy", "mdfs"])],
        "all_features": made_up({"all": 0.95}, folds=FOLDS[:1]),
    }
    for name in parts:
        (tmp_path / name).mkdir()
        plan = dict.fromkeys(make_rivals.SAME, 1)
        (tmp_path / name / "plan.json").write_text(json.dumps(plan))
        data = {"datasets": {"su": {"fingerprint": "1"}}}
        (tmp_path / name / "provenance.json").write_text(json.dumps(data))
    monkeypatch.setattr(make_rivals, "load_part", lambda folder: parts[folder.name])
    return tmp_path


@pytest.mark.usefixtures("_agg")
def test_the_page_says_what_is_missing_and_draws(runs, tmp_path):
    make_rivals.write_page(runs, tmp_path)
    page = (tmp_path / "rivals.md").read_text()
    assert "**Incomplete**: `rivals.toml` 30 of 220 folds" in page
    assert "| slow | vehicle | 5, 10 | 10 | 60 s |" in page
    assert "number 1 of 3 selectors" in page
    assert "| all | 1.33 | 1 of 3 | svm_rfe 1.67 |" in page
    assert "| slow | 2 | 5, 10 | 1.00 | 2.50 | 0 | 4 |" in page
    assert "A fit may take 120 s of processor time" in page
    assert (tmp_path / "rivals_seconds.png").stat().st_size > 1000
    assert "rivals_seconds.png" in page
    assert "rivals_ranks.png" not in page  # of three data sets
    for spec in make_rivals.read_plan(make_rivals.FOLDER_OF_PLANS / "rivals.toml").selectors:
        assert f"| {spec.name} | " in page.partition("## Settings")[2]


def test_runs_of_other_data_or_folds_are_refused(runs):
    data = {"datasets": {"su": {"fingerprint": "2"}}}
    (runs / "ours" / "provenance.json").write_text(json.dumps(data))
    with pytest.raises(MaucError, match="different data of su"):
        make_rivals.check_same_folds(runs)
    (runs / "ours" / "plan.json").write_text(json.dumps(dict.fromkeys(make_rivals.SAME, 2)))
    with pytest.raises(MaucError, match="seed of the runs rivals and ours must be the same"):
        make_rivals.check_same_folds(runs)


def test_seconds_are_measured_once(tmp_path):
    plan = Plan(
        "seconds", (DatasetSpec("iris"),),
        (MethodSpec("mdfs"), MethodSpec("mine", "reproduction.beyond.rivals.SVMRFE"),
         MethodSpec("broken", "reproduction.beyond.rivals.Rival")),
        (MethodSpec("nb"),), sizes=(2, 100), folds=5, max_rows=100,
    )  # fmt: skip
    path = tmp_path / "new" / "seconds.csv"
    make_rivals.measure_seconds([plan], path)
    seconds = pd.read_csv(path).set_index("selector")
    assert (seconds.loc[["mdfs", "mine"], "seconds"] >= 0).all()
    assert "AttributeError" in seconds.loc["broken", "error"]
    before = path.read_text()
    make_rivals.measure_seconds([plan], path)
    assert path.read_text() == before


@pytest.fixture
def _agg():
    import matplotlib

    matplotlib.use("agg")
