"""`diagnose`: one fault is put into a sound table, and is what is found first."""

import shlex

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict

from mauc import diagnose
from mauc.exceptions import MaucError
from tests.helpers.cli_helpers import refusal, run, run_json

X, Y = load_wine(return_X_y=True, as_frame=True)


def first_of(*arguments, **options):
    return diagnose(*arguments, **options)[0]


@pytest.mark.parametrize("load", [load_wine, load_iris, load_breast_cancer])
def test_nothing_is_found_in_sound_tables(load):
    found = diagnose(*load(return_X_y=True))
    assert not found.findings
    assert "Nothing was found." in str(found)


def test_a_recoded_label_leaks():
    found = first_of(X.assign(code=Y.map({0: 7, 1: -1, 2: 3})), Y)
    assert (found.kind, found.features) == ("leak", ("code",))
    assert "AUC 1 on every pair" in found.evidence


def test_columns_that_repeat_or_do_not_vary():
    found = first_of(X.assign(again=np.exp(X["ash"])), Y)
    assert (found.kind, found.features) == ("duplicated columns", ("again",))
    found = first_of(X.assign(flat=np.r_[1.0, np.zeros(177)]), Y)
    assert (found.kind, found.features) == ("constant columns", ("flat",))


def test_a_class_split_at_random_cannot_be_separated():
    generator = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 300)
    table = generator.normal(size=(900, 6)) + 3.0 * (y == 0)[:, np.newaxis]
    found = diagnose(table, y)
    assert (found[0].kind, found[0].classes) == ("inseparable pair", (1, 2)), found


def test_labels_that_were_exchanged():
    generator = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 150)
    table = generator.normal(size=(450, 6)) + 3.0 * np.eye(3, 6)[y]
    wrong = np.arange(20)
    y[wrong] = 1
    found = first_of(table, y)
    assert (found.kind, found.classes) == ("wrong labels", (1, 0))
    assert len(set(found.rows) & set(wrong)) >= 7
    assert set(found.rows) <= set(range(150))  # none of those that are right


def test_a_class_of_six_rows():
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [100, 100, 6])
    found = first_of(generator.normal(size=(206, 5)) + y[:, np.newaxis], y)
    assert (found.kind, found.classes[0]) == ("few rows", 2)
    assert "has 6 rows" in found.evidence


def test_a_class_of_two_clusters():
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1], 120)
    table = generator.normal(size=(240, 4))
    table[y == 1] += [6, 0, 0, 0]
    table[180:, 1] += 14
    assert "merged class" in [one.kind for one in diagnose(table, y)]


def test_a_pair_that_the_model_misses():
    scores = np.eye(3)[Y] + 0.3 * np.random.default_rng(0).normal(size=(178, 3))
    is_missed = Y.to_numpy() > 0
    scores[is_missed, 1:] = np.random.default_rng(1).normal(size=(is_missed.sum(), 2))
    found = first_of(X, Y, scores)
    assert (found.kind, found.classes) == ("missed pair", (1, 2))


def test_rows_of_patients():
    generator = np.random.default_rng(0)
    patients = np.repeat(np.arange(40), 5)
    table = pd.DataFrame(generator.normal(size=(200, 4)), columns=list("abcd"))
    found = first_of(table.assign(patient=patients), patients % 2)
    assert (found.kind, found.features) == ("group column", ("patient",))
    copied = pd.concat([table, table.iloc[:100]], ignore_index=True)
    labels = np.r_[patients % 2, patients[:100] % 2]
    assert first_of(copied, labels).kind == "copied rows"


def test_a_model_that_saw_rows_of_the_groups_it_is_tested_on():
    generator = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 5)
    y = groups % 3
    table = generator.normal(size=(60, 8))[groups] + 0.1 * generator.normal(size=(300, 8))
    forest = RandomForestClassifier(50, random_state=0)
    mixed = StratifiedKFold(5, shuffle=True, random_state=0)
    by_rows = cross_val_predict(forest, table, y, cv=mixed, method="predict_proba")
    found = diagnose(table, y, by_rows, groups=groups)
    assert (found[0].kind, found[0].severity) == ("groups across folds", "high")
    apart = GroupKFold(5)
    kept = cross_val_predict(forest, table, y, groups=groups, cv=apart, method="predict_proba")
    found = diagnose(table, y, kept, groups=groups)
    assert "groups across folds" not in [one.kind for one in found]


def test_neither_the_order_of_rows_nor_of_scores_matters():
    generator = np.random.default_rng(0)
    y, order = Y.to_numpy().copy(), generator.permutation(178)
    y[:12] = 1
    scores = generator.random((178, 3))
    found = diagnose(X, y, scores)
    again = diagnose(X.iloc[order], y[order], scores[order][:, [2, 0, 1]], labels=[2, 0, 1])
    assert [one.evidence for one in found] == [one.evidence for one in again]
    assert {one.kind for one in found} >= {"missed pair", "wrong labels"}


def test_the_order_of_rows_does_not_matter_where_a_part_is_judged():
    generator = np.random.default_rng(0)
    y, order = np.repeat(np.arange(3), 4000), generator.permutation(12_000)
    table = generator.normal(size=(12_000, 4)) + 3.0 * np.eye(3, 4)[y]
    y[:400] = 1
    table[-1000:, 3] += 20.0
    found, again = diagnose(table, y), diagnose(table[order], y[order])
    assert {one.kind for one in found} >= {"wrong labels", "merged class"}
    assert "(10,000 judged)" in found.checked
    for one, other in zip(found, again, strict=True):
        assert one._replace(rows=(), next="") == other._replace(rows=(), next="")
        assert set(one.rows) == set(order[list(other.rows)])


def faults():
    """Return tables with a fault each, as X, y and the kind."""
    generator, y = np.random.default_rng(0), np.repeat(np.arange(3), 60)
    table = generator.normal(size=(180, 5)) + 3.0 * np.eye(3, 5)[y]
    wrong, split, far = y.copy(), y.copy(), table.copy()
    wrong[:10] = 1
    split[generator.permutation(60)] = 4 * (np.arange(60) % 2)
    far[:25, 4] += 12.0
    few = y != 2
    few[-5:] = True
    return {
        "leak": (np.column_stack([table, np.eye(3)[y]]), y),
        "group column": (np.column_stack([table, np.arange(180) // 4]), generator.permutation(y)),
        "copied rows": (np.r_[table, table[::4]], np.r_[y, y[::4]]),
        "inseparable pair": (table, split),
        "wrong labels": (table, wrong),
        "duplicated columns": (np.column_stack([table, -table[:, 1]]), y),
        "constant columns": (np.column_stack([table, np.arange(180) < 2]), y),
        "merged class": (far, y),
        "few rows": (table[few], y[few]),
    }  # fmt: skip


@pytest.mark.parametrize("kind", faults())
@pytest.mark.parametrize("made", ["array", "pandas", "polars", "sparse"])
def test_what_comes_next_runs(kind, made, tmp_path):
    table, labels = faults()[kind]
    frame = pd.DataFrame(table).add_prefix("f")
    if made == "polars":
        table = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    makers = {"pandas": lambda _: frame, "sparse": sparse.csr_array}
    names = {"X": makers.get(made, lambda same: same)(table), "y": labels}
    found = first_of(names["X"], labels)
    assert found.kind == kind
    after = eval(found.next, {"np": np, "diagnose": diagnose, **names})  # our own text
    if found.rows and kind != "copied rows":
        assert after.shape[0] == min(len(found.rows), 20)
    else:
        assert kind not in [one.kind for one in after]
    if made == "pandas":
        path = tmp_path / "data.csv"
        names["X"].assign(label=[f"c{label}" for label in labels]).to_csv(path, index=False)
        told = run_json("doctor", path, "-t", "label")["findings"][0]
        assert told["kind"] == kind
        if not found.rows:
            again = run_json(*shlex.split(told["next"])[1:])
            assert kind not in [one["kind"] for one in again["findings"]]


@pytest.mark.parametrize("table", [X, X[[]].assign(code=2 - Y)])  # the second is not judged
def test_wrong_scores_are_refused(table):
    for wrong in (np.zeros((178, 2)), np.zeros((3, 3)), np.full((178, 3), np.nan)):
        with pytest.raises(MaucError, match="score"):
            diagnose(table, Y, wrong)
    with pytest.raises(MaucError, match="labels"):
        diagnose(table, Y, np.zeros((178, 3)), labels=[0, 1, 3])


def test_only_what_ran_is_said_to_be_checked():
    scores = np.eye(3)[Y]
    columns = "leak, duplicated columns, constant columns."
    assert diagnose(X[[]].assign(code=2 - Y), Y, scores).checked.endswith(f"for: {columns}")
    assert "missed pair" in diagnose(X, Y, scores).checked
    assert "groups across folds" not in diagnose(X, Y, scores).checked
    assert "missed pair" not in diagnose(X, Y).checked


def test_a_weak_difference_of_many_rows_is_not_called_inseparable():
    y = np.repeat(np.arange(3), 8000)
    table = np.random.default_rng(0).normal(size=(24_000, 4))
    table[:, 0] += 0.08 * y
    pairs = {one.classes for one in diagnose(table, y) if one.kind == "inseparable pair"}
    assert not pairs
    pairs = {one.classes for one in diagnose(table[:, 1:], y) if one.kind == "inseparable pair"}
    assert pairs == {(0, 1), (0, 2), (1, 2)}


def test_command(tmp_path):
    X.assign(code=Y * 2, label=Y.map({0: "a", 1: "b", 2: "c"})).to_csv(
        tmp_path / "data.csv", index=False
    )
    got = run_json("doctor", tmp_path / "data.csv", "-t", "label")
    first = got["findings"][0]
    assert (first["kind"], first["features"]) == ("leak", ["code"])
    words = first["next"].split()
    assert words[:2] == ["mauc", "doctor"]
    assert "Nothing was found." in run(*words[1:]).stdout  # the next command runs
    assert "1. leak (high): 'code'" in run("doctor", tmp_path / "data.csv", "-t", "label").stdout


def test_command_with_predictions(tmp_path):
    labels = Y.map({0: "a", 1: "b", 2: "c"})
    X.assign(label=labels).to_csv(tmp_path / "data.csv", index=False)
    scores = pd.DataFrame(np.random.default_rng(0).random((178, 3)), columns=list("abc"))
    scores.assign(label=labels).to_csv(tmp_path / "scores.csv", index=False)
    words = ("doctor", tmp_path / "data.csv", "-t", "label", "--predictions")
    got = run_json(*words, tmp_path / "scores.csv")
    assert {one["kind"] for one in got["findings"]} == {"missed pair"}
    scores.assign(label=labels).head(50).to_csv(tmp_path / "scores.csv", index=False)
    assert "the 178 rows of the data" in refusal(*words, tmp_path / "scores.csv")
