"""Nominal columns, rare classes and memory in runs: told in lines, never a failed combination."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import Dataset
from mauc.exceptions import MaucError
from mauc.experiments import DatasetSpec, MethodSpec, run_plan
from mauc.experiments.cell import select_features, split_cell, split_rows
from mauc.experiments.data import cell_memory, nominal_notes
from mauc.experiments.plan import Cell
from tests.helpers.run_tools import make_plan

N = 90
RNG = np.random.default_rng(0)
Y = np.array(["u", "v", "w"])[np.arange(N) % 3]
FRAME = pd.DataFrame(
    {
        "a": np.arange(N) % 3 + RNG.normal(size=N),
        "c": pd.Categorical(np.where(Y == "v", "x", RNG.choice(["y", "z"], N))),
    }
)
MIXED = Dataset("mixed", FRAME, Y, ["a", "c"])


def plan_of(selectors=("su", "fsdd"), classifiers=("nb", "1nn", "c45"), **options):
    parts = {"datasets": ("mixed",), "selectors": selectors, "classifiers": classifiers}
    return make_plan(**{**parts, "sizes": (1, 2), **options})


def run_notes(plan, dataset, capsys):
    summary = run_plan(
        plan, engine="serial", progress="lines", data={plan.datasets[0].name: dataset}
    )
    return summary, capsys.readouterr().err


def test_nominal_columns_are_codes_and_a_mask():
    split = split_cell(plan_of(), Cell("mixed", 0, 0), MIXED)
    assert split.X_train.dtype == np.float64
    assert_array_equal(split.is_nominal, [False, True])
    assert set(np.unique(split.X_train[:, 1])) == {0.0, 1.0, 2.0}
    plain = Dataset("plain", FRAME[["a"]].to_numpy(), Y, ["a"])
    assert split_cell(plan_of(), Cell("mixed", 0, 0), plain).is_nominal is None


def test_the_order_of_codes_matters_to_no_method_that_takes_nominal_columns():
    other = MIXED.X.assign(c=FRAME["c"].cat.reorder_categories(["z", "x", "y"]))
    turned = Dataset("mixed", other, Y, ["a", "c"])
    plan = plan_of(("su", "mrmr", "relieff"))
    rows, again = (
        run_plan(plan, engine="serial", progress="quiet", data={"mixed": data}).rows
        for data in (MIXED, turned)
    )
    assert (rows["status"] == "ok").all()
    assert_array_equal(rows["mauc"], again["mauc"])


def test_it_is_said_who_takes_them_and_all_combinations_succeed(capsys):
    summary, notes = run_notes(plan_of(), MIXED, capsys)
    assert "1 nominal column as such for su, nb, 1nn, c45; as codes 0, 1, ... for fsdd" in notes
    assert summary.n_failed == 0
    assert nominal_notes(plan_of(), Dataset("d", np.eye(3), Y[:3], ["a", "b", "c"])) == []


def test_a_plan_reads_a_mixed_file(tmp_path, capsys):
    frame = FRAME.assign(id=np.arange(N), other=FRAME["a"], y=Y)
    frame.to_csv(tmp_path / "d.csv", index=False)
    source = DatasetSpec("d", str(tmp_path / "d.csv"), "y", {"drop": ["other"]})
    plan = plan_of(("su",), ("nb",), datasets=(source,), sizes=(2,), folds=2)
    summary = run_plan(plan, engine="serial", progress="lines")
    notes = capsys.readouterr().err
    assert "d: 1 number, 1 nominal; left out: 'id', numbers the rows" in notes
    assert summary.n_failed == 0


def test_the_options_of_a_plan_come_before_the_mask():
    spec = MethodSpec("su", options={"categorical_features": [0]})
    split = split_cell(plan_of(), Cell("mixed", 0, 0), MIXED)
    ranking, _ = select_features(spec, split, 2, 0, 1)
    assert sorted(ranking) == [0, 1]


def test_the_only_sample_of_a_class_stays_in_the_training_part():
    y = np.array(["u", "v"] * 10 + ["rare"])
    for fold in range(3):
        train, test = split_rows(plan_of(), Cell("mixed", 0, fold), y)
        assert 20 in train
        assert 20 not in test
        assert len(train) + len(test) == 21
        assert (np.diff(train) > 0).all()


def test_a_class_of_one_sample_is_one_line_and_no_error(capsys):
    y = Y.astype("U4")
    y[0] = "rare"
    data = Dataset("mixed", FRAME[["a"]].to_numpy().repeat(2, axis=1), y, ["a", "b"])
    plan = plan_of(("su", "mdfs"), ("nb", "1nn", "c45", "svm"))
    summary, notes = run_notes(plan, data, capsys)
    assert summary.n_failed == 0
    assert notes.count("single sample") == 1
    assert "mixed: class 'rare' has a single sample, which stays in the training part" in notes
    assert "Join such classes with others, or remove their rows." in notes
    assert summary.rows["mauc"].notna().all()


def test_fewer_than_two_classes_of_two_samples_are_refused(capsys):
    data = Dataset("mixed", np.arange(6.0)[:, None], np.array(list("uuuuvw")), ["a"])
    with pytest.raises(MaucError, match="at least 2 classes of 2 samples or more, got 1"):
        run_notes(plan_of(folds=2, sizes=(1,)), data, capsys)


def test_memory_grows_with_what_takes_it():
    wide = Dataset("wide", np.zeros((100, 50)), np.arange(100) % 50, [f"x{j}" for j in range(50)])
    few = Dataset("few", wide.X, np.arange(100) % 2, wide.feature_names)
    assert cell_memory(plan_of(("greedy",)), wide) > cell_memory(plan_of(("su",)), wide)
    assert cell_memory(plan_of(), wide) > cell_memory(plan_of(), few)
    assert (
        cell_memory(plan_of(classifiers=("1nn",)), few)
        > cell_memory(plan_of(classifiers=("c45",)), few) - 8 * 100 * 50
    )


def test_a_run_that_does_not_fit_is_refused_before_it_begins(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 10**6)
    with pytest.raises(
        MaucError, match=r"a fold of mixed need .* MB of memory, .* are free; use f"
    ):
        run_plan(
            plan_of(), tmp_path / "run", engine="serial", progress="quiet", data={"mixed": MIXED}
        )
    assert not (tmp_path / "run" / "plan.toml").exists()


def test_so_many_workers_as_memory_has_room_for(monkeypatch, capsys):
    monkeypatch.setattr("mauc.experiments.run.free_memory", lambda: 5 * 10**8)
    summary = run_plan(
        plan_of(("su",), ("nb",)),
        engine="processes",
        n_jobs=2,
        progress="lines",
        data={"mixed": MIXED},
    )
    assert "1 of 2 workers are used: a fold of mixed takes about" in capsys.readouterr().err
    assert summary.n_failed == 0
