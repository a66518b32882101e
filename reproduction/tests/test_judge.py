"""Judging selectors on tables, and the page of it, on tiny tables."""

import json

import numpy as np
import pandas as pd
import pytest

from mauc import mauc_score
from reproduction.beyond import judge, make_rivals
from reproduction.beyond.make_rivals import Results, markdown, table_means


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder of data sets with one table of 60 rows; columns 3 and 5 tell the classes apart."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 7))
    X[:, 3] += 4 * (y == 1)
    X[:, 5] = (y == 2) + 2 * (rng.random(60) < 0.1)
    (tmp_path / "tables").mkdir()
    nominal = np.arange(7) == 5
    np.savez(tmp_path / "tables" / "tiny.npz", X=X, y=y, nominal=nominal)
    monkeypatch.setenv("MAUC_DATA", str(tmp_path))
    return tmp_path


def test_a_fold_is_judged_once_and_a_run_goes_on(data):
    run = data / "run"
    arguments = [str(run), "--classifiers=nb,trees", "--folds=2", "--jobs=1"]
    judge.main([*arguments, "--only=greedy"])
    before = {path.name: json.loads(path.read_text()) for path in run.glob("*.json")}
    assert sorted(before) == ["tiny-0-0.json", "tiny-0-1.json"]
    judge.main([*arguments, "--only=greedy,f_classif"])
    facts, fits, scores = judge.read_run(run)
    assert facts.loc["tiny", ["rows", "columns", "classes", "nominal"]].tolist() == [60, 7, 3, True]
    assert set(fits["selector"]) == {"greedy", "f_classif"}
    # What was there stays: the same fit, not another one.
    first = fits[(fits["selector"] == "greedy") & (fits["fold"] == "tiny-0-0")].iloc[0]
    assert first["seconds"] == before["tiny-0-0.json"]["selectors"]["greedy"]["seconds"]
    # K = 5 is the only size below seven columns; two selectors, two folds, two classifiers.
    assert len(scores) == 8
    assert scores["k"].unique().tolist() == [5]


def test_a_score_is_the_mauc_of_the_classifier_on_the_test_rows(data):
    run = data / "run"
    judge.main([str(run), "--only=f_classif", "--classifiers=nb", "--folds=1", "--jobs=1"])
    _, fits, scores = judge.read_run(run)
    table = next(iter(judge.read_tables(data)))
    fold = judge.Fold(table, 0, 0, data / "none.json")
    columns = fits["ranking"][0][:5]
    parts = []
    for j in columns:
        values, seen = table.X[:, j], table.X[fold.train, j]
        if table.nominal[j]:  # one indicator per category of the training part
            parts += [(values == word).astype(float) for word in np.unique(seen)]
        else:
            parts.append((values - seen.mean()) / seen.std())
    X, model = np.column_stack(parts), judge.CLASSIFIERS["nb"]
    model.fit(X[fold.train], table.y[fold.train])
    expected = mauc_score(table.y[fold.test], model.predict_proba(X[fold.test]))
    assert scores["mauc"][0] == pytest.approx(expected, abs=1e-12)


def test_a_selector_that_fails_has_its_error_and_no_rank(data, monkeypatch):
    def fail(*_):
        raise ValueError("no trees here")

    monkeypatch.setitem(judge.SELECTORS, "su", fail)
    table = next(iter(judge.read_tables(data)))
    fold = judge.Fold(table, 0, 0, data / "tiny-0-0.json")
    fold.run(["su", "greedy"], None, ["nb"])
    _, fits, scores = judge.read_run(data)
    assert fits.set_index("selector")["error"]["su"] == "ValueError: no trees here"
    means = table_means(scores, fits)
    assert list(means.columns) == ["greedy"]


@pytest.fixture
def results():
    """Five real tables and a simulated one; `su` is best on b, `boruta` failed on c."""
    names = ["a", "b", "c", "d", "e", "sim_f"]
    kinds = {
        "folder": ["paper", "more", "tables", "tables", "tables", "tables"],
        "columns": [20, 60, 600, 20, 20, 9],
        "classes": [2, 4, 12, 2, 2, 2],
        "nominal": [True, False, False, False, False, False],
    }
    index = pd.Index(names, name="table")
    facts = pd.DataFrame(kinds | {"rows": 100, "imbalance": 1.0}, index=index)
    level = {"greedy": 0.9, "su": 0.8, "mdfs": 0.7, "boruta": 0.95}
    rows, fits = [], []
    for table in names:
        for fold in (0, 1):
            for name, mauc in level.items():
                failed = name == "boruta" and table == "c"
                error = "TimeLimitError: not finished within 10 s" if failed else None
                ranking = None if failed else list(range(fold, 10 + fold))
                fits.append((table, f"{table}-0-{fold}", name, 0.1, error, ranking))
                better = 0.15 if name == "su" and table == "b" else 0.0
                for classifier in ("nb", "svm") if not failed else ():
                    for k in (5, 10):
                        mauc_here = mauc + better + 0.01 * fold
                        rows.append((table, f"{table}-0-{fold}", name, k, classifier, mauc_here))
    columns = ["table", "fold", "selector"]
    return Results(
        facts,
        pd.DataFrame(fits, columns=[*columns, "seconds", "error", "ranking"]),
        pd.DataFrame(rows, columns=[*columns, "k", "classifier", "mauc"]),
    )


def test_ranks_are_of_selectors_that_finished_on_all_real_tables(results):
    assert results.finished == ["greedy", "mdfs", "su"]
    # Second on one of five tables, first on the others.
    assert results.ranks["greedy"].mean() == pytest.approx(6 / 5)
    assert results.by_group().set_index("selector").loc["greedy", "3-5 (1)"] == 2.0
    assert list(results.by("k")) == ["selector", "K = 5", "K = 10"]


def test_duels_are_of_the_tables_that_both_finished(results):
    duels = results.duels().set_index("selector")
    assert duels.loc["boruta", "tables"] == 4
    assert duels.loc["boruta", "mean difference"] == pytest.approx(-0.05)
    assert duels.loc["su", ["greedy higher", "lower"]].tolist() == ["4", "1"]
    assert np.isnan(duels.loc["boruta", "mean rank"])


def test_losses_are_against_the_best_of_all_others(results):
    losses = results.losses().set_index("table")
    assert losses.loc["a", "best other"] == "boruta"
    assert losses.loc["b", "difference"] == pytest.approx(-0.05)
    assert "c" not in losses.index
    assert results.unfinished()["tables"].tolist() == [1]


def test_stability_counts_what_two_folds_share(results):
    # Columns 0 to 9 and 1 to 10: nine of eleven.
    assert results.stability().set_index("selector")["Jaccard"]["su"] == pytest.approx(9 / 11)


def test_the_page_says_what_the_tables_say(results, monkeypatch, tmp_path):
    parts = results.facts, results.fits, results.scores
    monkeypatch.setattr(judge, "read_run", lambda run: parts)
    monkeypatch.setattr(make_rivals, "PUBLIC", ["greedy", "mdfs", "su"])
    make_rivals.write_page(tmp_path, tmp_path, tmp_path)
    text = (tmp_path / "rivals.md").read_text()
    assert "number 1 of 3 selectors that finished on all 5 real tables" in text
    assert "boruta (4 tables, -50.0 thousandths)" in text
    assert "## 5 public tables" in text
    assert (tmp_path / "rivals_ranks.png").stat().st_size > 1000
    assert markdown(pd.DataFrame({"p": [0.00001, np.nan]})).splitlines()[2:] == [
        "| < 0.0001 |",
        "| - |",
    ]
