"""A cell is a pure function of its names, and a failure in it is a row."""

import random
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from mauc import MDFS, load_run
from mauc.classifiers import NormalNaiveBayes
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.experiments import Cell, MethodSpec, TuningSpec
from mauc.experiments.cell import (
    Split,
    ranking_of,
    run_cell,
    seed_of,
    split_cell,
    split_rows,
    tune_dataset,
    tune_on,
)
from mauc.experiments.rows import combinations_of, rows_to_table
from mauc.metrics import mauc_score
from tests.helpers.run_tools import assert_same_results, crashing, make_plan, results, run_quietly

pytestmark = pytest.mark.long

WINE = load_dataset("wine")


def test_seeds_are_hashes_of_names_and_nothing_else():
    # Frozen: a change would make every run differ from those before.
    assert seed_of(0, "usps", 3) == 3113585972
    assert seed_of(1, "a", 11) != seed_of(11, "a", 1)
    many = {seed_of(0, "d", r, f, s) for r in range(10) for f in range(10) for s in ("a", "b")}
    assert len(many) == 200
    assert all(0 <= seed < 2**32 for seed in many)


def test_the_folds_of_a_repeat_part_the_rows_with_all_classes_in_each():
    plan = make_plan(datasets=("wine",), repeats=2)
    parts = [split_rows(plan, Cell("wine", 0, fold), WINE.y) for fold in range(3)]
    assert_array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(178))
    for train, test in parts:
        assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(178))
        # 59, 71 and 48 samples over three folds.
        counts = np.unique(WINE.y[test], return_counts=True)[1]
        assert all(
            abs(n - expected / 3) < 1 for n, expected in zip(counts, (59, 71, 48), strict=True)
        )
    other = split_rows(plan, Cell("wine", 1, 0), WINE.y)[1]
    assert set(other) != set(parts[0][1])


def test_groups_are_in_one_fold_and_reach_the_selectors():
    groups = np.arange(178) // 4
    wine = replace(WINE, groups=groups)
    plan = make_plan(datasets=("wine",), selectors=("consensus",), folds=4, sizes=(2,))
    parts = [split_rows(plan, Cell("wine", 0, fold), WINE.y, groups) for fold in range(4)]
    assert_array_equal(np.sort(np.concatenate([test for _, test in parts])), np.arange(178))
    for train, test in parts:
        assert not set(groups[train]) & set(groups[test])
    assert_array_equal(split_cell(plan, Cell("wine", 0, 1), wine).groups, groups[parts[1][0]])
    lone = np.where(groups == 0, "z", WINE.y)  # the class of one group is not tested
    for cell in plan.cells():
        assert "z" not in lone[split_rows(plan, cell, lone, groups)[1]]
    row = run_cell(plan, Cell("wine", 0, 0), wine)[0]
    assert (row.status, row.n_test) == ("ok", len(parts[0][1]))
    other = run_cell(plan, Cell("wine", 0, 0), replace(wine, groups=np.arange(178)))[0]
    assert row.mauc != other.mauc


def test_a_row_is_the_plain_experiment_done_by_hand():
    plan = make_plan(datasets=("wine",), seed=7)
    rows = run_cell(plan, Cell("wine", 0, 1), WINE)
    splitter = StratifiedKFold(3, shuffle=True, random_state=seed_of(7, "wine", 0))
    train, test = list(splitter.split(WINE.X, WINE.y))[1]
    seed = seed_of(7, "wine", 0, 1, "mdfs")
    ranking = MDFS(4, random_state=seed).fit(WINE.X[train], WINE.y[train]).ranking_
    for row, size in zip(rows, (2, 4), strict=False):
        columns = ranking[:size]
        model = NormalNaiveBayes().fit(WINE.X[train][:, columns], WINE.y[train])
        scores = model.predict_proba(WINE.X[test][:, columns])
        assert (row.selector, row.classifier, row.size, row.status) == ("mdfs", "nb", size, "ok")
        assert row.mauc == mauc_score(WINE.y[test], scores)
        assert_array_equal(row.features, columns)
        assert (row.seed, row.n_train, row.n_test, row.n_features) == (seed, 119, 59, 13)
        assert row.error is None
        assert row.select_seconds > 0
    assert len(rows) == 3 * 2 * 2


def test_a_cell_alone_in_any_order_with_any_threads_gives_the_same_bits():
    plan = make_plan(
        datasets=("wine",),
        classifiers=("nb", "c45", "1nn", "svm"),
        tuning=TuningSpec(scope="fold", max_samples=60),
    )
    cells = plan.cells()
    drop = ["select_seconds", "fit_seconds", "score_seconds"]
    tables = {}
    for cell in cells:
        tables[cell] = rows_to_table(run_cell(plan, cell, WINE)).drop_columns(drop)
    random.Random(0).shuffle(cells)
    for cell in cells:
        again = rows_to_table(run_cell(plan, cell, WINE, n_jobs=2)).drop_columns(drop)
        assert_same_results(again, tables[cell])
    # One combination alone, and selectors in another order.
    turned = replace(plan, selectors=plan.selectors[::-1])
    (cell, *_) = cells
    some = rows_to_table(run_cell(turned, cell, WINE, wanted=frozenset({("chi", "c45")})))
    is_there = [pair == ("chi", "c45") for pair in combinations_of(tables[cell])]
    assert_same_results(some.drop_columns(drop), tables[cell].filter(is_there))


def test_a_selector_is_fitted_once_for_all_classifiers_and_sizes(tmp_path):
    log = tmp_path / "log"
    counting = crashing("CountingSelector", log=str(log))
    plan = make_plan(datasets=("wine",), selectors=(counting,), sizes=(1, 2, 3, 4))
    run_quietly(plan, tmp_path / "run")
    fits = [int(line) for line in log.read_text().split()]
    # 178 rows in three folds; a fit on a corner of the data is the warm-up of this process.
    assert sorted(n for n in fits if n >= 118) == [118, 119, 119]
    assert len(fits) <= 4


def test_other_selectors_are_ranked_by_their_scores():
    plan = make_plan(
        datasets=("wine",),
        selectors=(MethodSpec("f", "sklearn.feature_selection.SelectKBest"),),
        classifiers=(MethodSpec("gauss", "sklearn.naive_bayes.GaussianNB"),),
    )
    rows = run_cell(plan, Cell("wine", 0, 0), WINE)
    train, test = split_rows(plan, Cell("wine", 0, 0), WINE.y)
    columns = rows[0].features
    model = GaussianNB().fit(WINE.X[train][:, columns], WINE.y[train])
    scores = model.predict_proba(WINE.X[test][:, columns])
    assert rows[0].mauc == mauc_score(WINE.y[test], scores)
    best = np.argsort(-f_classif(WINE.X[train], WINE.y[train])[0], kind="stable")
    assert_array_equal(rows[1].features, best[:4])


def test_equal_scores_go_by_column_and_nan_goes_last():
    class Scored:
        scores_ = np.array([1.0, np.nan, 3.0, 1.0])

    assert ranking_of(Scored()).tolist() == [2, 0, 3, 1]
    Scored.scores_ = np.array([1.0, -np.inf, 3.0, -np.inf])  # minus infinity: not ranked
    assert ranking_of(Scored()).tolist() == [2, 0]
    with pytest.raises(MaucError, match="must have scores_"):
        ranking_of(object())


def test_a_classifier_with_a_seed_gets_one_of_its_names(tmp_path):
    plan = make_plan(datasets=("wine",), classifiers=(crashing("RandomClassifier"),))
    for name in ("a", "b"):
        run_quietly(plan, tmp_path / name)
    assert_same_results(results(tmp_path / "a"), results(tmp_path / "b"))
    own = replace(plan.classifiers[0], options={"random_state": 1})
    run_quietly(replace(plan, classifiers=(own,)), tmp_path / "c")
    assert results(tmp_path / "c")["mauc"] != results(tmp_path / "a")["mauc"]


def test_failing_combinations_are_rows_and_the_others_stand(tmp_path):
    plan = make_plan(datasets=("wine",), selectors=("mdfs", "chi"), classifiers=("nb",))
    run_quietly(plan, tmp_path / "good")
    failing = replace(
        plan,
        selectors=(plan.selectors[0], crashing("RaisingSelector"), plan.selectors[1]),
        classifiers=(crashing("MeanClassifier", n_features=4), *plan.classifiers),
    )
    summary = run_quietly(failing, tmp_path / "bad")
    rows = load_run(tmp_path / "bad")
    assert len(rows) == summary.n_rows == 3 * 3 * 2 * 2
    raised = rows[rows.selector == "RaisingSelector"]
    assert set(raised.status) == {"failed"}
    assert set(raised.error) == {"ArithmeticError: no ranking ? today"}
    assert raised.mauc.isna().all()
    assert [len(features) for features in raised.features] == [0] * 12
    # A classifier that fails at size 4 keeps what it did at size 2.
    mean = rows[(rows.selector == "mdfs") & (rows.classifier == "MeanClassifier")]
    assert mean.status.tolist() == ["ok", "failed"] * 3
    assert set(mean.error.dropna()) == {"ArithmeticError: 4 features are too many"}
    assert mean.select_seconds.notna().all()
    assert summary.n_failed == 12 + 2 * 3
    assert "18 failed" in str(summary)
    assert "6 x RaisingSelector, nb: ArithmeticError: no ranking ? today" in str(summary)
    good = rows[(rows.classifier == "nb") & (rows.selector != "RaisingSelector")]
    assert_array_equal(good.mauc, load_run(tmp_path / "good").mauc)


def test_failed_combinations_are_tried_again_only_on_demand(tmp_path):
    log = tmp_path / "log"
    counting = crashing("CountingSelector", log=str(log))
    plan = make_plan(
        datasets=("wine",),
        selectors=(counting, "mdfs"),
        classifiers=("nb", crashing("MeanClassifier", n_features=2)),
        folds=2,
    )
    assert run_quietly(plan, tmp_path / "run").n_run == 2
    before, n_fits = results(tmp_path / "run"), len(log.read_text().split())
    summary = run_quietly(plan, tmp_path / "run")
    assert (summary.n_run, summary.n_failed, summary.n_rows) == (0, 8, 16)
    assert len(log.read_text().split()) == n_fits
    assert run_quietly(plan, tmp_path / "run", retry_failed=True).n_run == 2
    assert len(log.read_text().split()) == n_fits + 2
    assert_same_results(results(tmp_path / "run"), before)


def test_a_tuning_that_fails_costs_the_machine_alone(tmp_path):
    plan = make_plan(
        datasets=("wine",),
        selectors=(crashing("RaisingSelector"), "mdfs"),
        classifiers=("nb", "svm"),
    )
    run_quietly(plan, tmp_path)
    rows = load_run(tmp_path)
    mdfs = rows[rows.selector == "mdfs"]
    assert set(mdfs[mdfs.classifier == "nb"].status) == {"ok"}
    errors = set(mdfs[mdfs.classifier == "svm"].error)
    assert errors == {"MaucError: the SVM could not be tuned: ArithmeticError: no ranking ? today"}


@pytest.mark.parametrize(("scope", "keys"), [("dataset", [2]), ("dataset_size", [1, 2, 4])])
def test_tuning_once_per_data_set_or_size(tmp_path, scope, keys):
    tuning = TuningSpec(scope=scope, max_samples=60, size=2)
    plan = make_plan(datasets=("iris",), classifiers=("svm",), sizes=(1, 2, 4), tuning=tuning)
    run_quietly(plan, tmp_path)
    tuned = tune_dataset(plan, "iris", load_dataset("iris"))
    assert list(tuned) == keys
    assert all(found.n_samples == 60 for found in tuned.values())
    fixed = {"C": tuned[2].C, "gamma": tuned[2].gamma}
    by_hand = replace(plan, classifiers=(MethodSpec("svm", options=fixed),), sizes=(2,))
    rows = load_run(tmp_path)
    expected = run_cell(by_hand, Cell("iris", 0, 0), load_dataset("iris"))
    got = rows[(rows.fold == 0) & (rows["size"] == 2)].mauc
    assert got.tolist() == [row.mauc for row in expected]


def test_tuning_on_nearly_all_rows_leaves_one_of_each_class_out():
    spec = TuningSpec(max_samples=len(WINE.y) - 1, n_folds=2)
    found = tune_on(spec, Split(WINE.X, WINE.y, None, None), np.array([0, 6]), seed=0)
    assert found.n_samples == len(WINE.y) - 3


def test_sizes_beyond_the_data_are_left_out_and_one_size_is_always_there(tmp_path):
    run_quietly(make_plan(sizes=(3, 5, 20), selectors=("chi",)), tmp_path / "some")
    rows = load_run(tmp_path / "some")
    assert sorted(set(rows[rows.dataset == "wine"]["size"])) == [3, 5]
    assert sorted(set(rows[rows.dataset == "iris"]["size"])) == [3]
    run_quietly(make_plan(sizes=(20,), datasets=("iris",)), tmp_path / "none")
    assert set(load_run(tmp_path / "none")["size"]) == {4}


def test_data_that_cannot_be_split_do_not_bind_the_folder(tmp_path):
    text = "100 folds: its largest class has 71 samples, its smallest, 'class_2', 48"
    with pytest.raises(MaucError, match=f"cannot be split into {text}"):
        run_quietly(make_plan(datasets=("wine",), folds=100), tmp_path / "run")
    run_quietly(make_plan(datasets=("wine",)), tmp_path / "run")


def test_a_short_ranking_gives_what_it_reaches_and_says_the_rest():
    short = MethodSpec("once", "fcbf", {"max_rounds": 1})
    plan = make_plan(datasets=("wine",), selectors=(short,), classifiers=("nb",), sizes=(2, 13))
    small, large = run_cell(plan, plan.cells()[0], WINE)
    assert (small.size, small.status) == (2, "ok")
    assert (large.size, large.status) == (13, "failed")
    assert "ranked" in large.error


def test_an_imported_selector_of_ours_ranks_as_many_as_are_asked_for():
    methods = (MethodSpec("ours", "maucd"), MethodSpec("it", "mauc.selectors.MAUCD"))
    plan = make_plan(datasets=("wine",), selectors=methods, classifiers=("nb",), sizes=(2, 13))
    rows = run_cell(plan, plan.cells()[0], WINE)
    assert [row.mauc for row in rows[:2]] == [row.mauc for row in rows[2:]]
    assert {row.status for row in rows} == {"ok"}
