"""Files of scores: which columns are scores, and which rows of two files are the same."""

import numpy as np
import pandas as pd
import pytest

from mauc import compare_mauc, mauc_interval, mauc_score, pair_auc_scores
from tests.helpers.cli_helpers import refusal, run, run_json

NAMES = ["score_a", "score_b", "score_c"]


@pytest.fixture
def frames():
    """Scores of two models for 60 rows of three classes."""
    rng = np.random.default_rng(0)
    codes = np.arange(60) % 3
    tables = [np.eye(3)[codes] * gain + rng.normal(size=(60, 3)) for gain in (1.5, 1.0)]
    return [
        pd.DataFrame(table, columns=NAMES).assign(label=np.array(list("abc"))[codes])
        for table in tables
    ]


@pytest.fixture
def write(tmp_path):
    def write(name, frame):
        frame.to_csv(tmp_path / name, index=False)
        return tmp_path / name

    return write


def shuffled_in_classes(frame):
    """Return the rows in another order that keeps the class of every place."""
    rng, order = np.random.default_rng(1), np.arange(len(frame))
    for label in "abc":
        at = np.flatnonzero(frame["label"] == label)
        order[at] = rng.permutation(at)
    return frame.iloc[order]


def test_python_and_the_command_take_columns_alike(frames, write):
    frame = frames[0][["score_c", "score_a", "label", "score_b"]]
    found = run_json("score", write("a.csv", frame))
    y, scores = frame["label"], frame[["score_c", "score_a", "score_b"]]
    assert found["mauc"] == mauc_score(y, scores) == mauc_score(y, frame[NAMES].to_numpy())
    assert found["lower"] == mauc_interval(y, scores).lower
    assert [row["auc"] for row in found["pairs"]] == pair_auc_scores(y, scores).auc.tolist()


@pytest.mark.parametrize("prefix", ["", "score_"])
def test_columns_beside_the_scores_are_no_classes(frames, write, prefix):
    frame = frames[0].rename(columns=lambda name: name.replace("score_", prefix))
    beside = {"fold": np.arange(60) % 5, "age": np.arange(60) * 1.5, "sample_weight": 1.0}
    found = run_json("score", write("a.csv", frame.assign(**beside)))
    assert found["absent"] == []
    assert found["columns"][0] == (
        "3 columns of scores; left out: 'fold', 'age', 'sample_weight', no scores"
    )
    assert found["mauc"] == run_json("score", write("b.csv", frame))["mauc"]


def test_a_class_without_samples_is_named_as_the_others(frames, write):
    path = write("a.csv", frames[0].assign(score_d=0.5, fold=1))
    assert run_json("score", path)["absent"] == ["d"]
    # Named as the class alone, its probabilities complete those of the others.
    shares = frames[0][NAMES].abs().assign(d=0.5)
    shares = shares.div(shares.sum(axis=1), axis=0).rename(columns=lambda name: name[-1])
    path = write("b.csv", shares.assign(label=frames[0]["label"]))
    assert run_json("score", path)["absent"] == ["d"]


def test_numbers_name_classes_with_and_without_a_point(frames, write):
    wanted = run_json("score", write("a.csv", frames[0]))["mauc"]
    numbers = {"a": 1.0, "b": 2.0, "c": 3.0}
    names = dict(zip(NAMES, ("score_1", "2.0", "3"), strict=True))
    frame = frames[0].assign(label=frames[0]["label"].map(numbers)).rename(columns=names)
    assert run_json("score", write("b.csv", frame))["mauc"] == wanted


def test_ids_match_rows(frames, write):
    first, second = (frame.assign(id=np.arange(60) + 7) for frame in frames)
    paths = write("a.csv", first), write("b.csv", shuffled_in_classes(second))
    wanted = compare_mauc(first["label"], first[NAMES], second[NAMES])
    found = run_json("score", paths[0], "--against", paths[1])["comparison"]
    assert found["p_value"] == pytest.approx(wanted.p_value)
    assert found["matched_by"] == ["id"]
    by_position = run_json("score", paths[0], "--against", paths[1], "--drop", "id")["comparison"]
    assert by_position["lower"] != pytest.approx(wanted.lower, rel=0.02)
    assert by_position["matched_by"] == []
    for words, text in (((), "rows were matched by 'id'"), (("--drop", "id"), "by position")):
        assert text in run("score", paths[0], "--against", paths[1], *words).stdout
    # In any order, and by what names rows in words.
    first, second = (one.assign(id=[f"r{row}" for row in range(60)]) for one in (first, second))
    paths = write("a.csv", first), write("b.csv", second.sample(frac=1, random_state=0))
    found = run_json("score", paths[0], "--against", paths[1])["comparison"]
    assert found["p_value"] == pytest.approx(wanted.p_value)


def test_ids_may_have_several_columns_or_any_name(frames, write):
    first, second = (
        frame.assign(patient_id=np.arange(60) // 4, visit_id=np.arange(60) % 4) for frame in frames
    )
    second = shuffled_in_classes(second)
    paths = write("a.csv", first), write("b.csv", second)
    wanted = compare_mauc(first["label"], first[NAMES], frames[1][NAMES]).p_value
    words = ("score", paths[0], "--against", paths[1])
    found = run_json(*words)["comparison"]
    assert (found["p_value"], found["matched_by"]) == (
        pytest.approx(wanted),
        ["patient_id", "visit_id"],
    )
    first, second = (
        frame.assign(case=4 * frame["patient_id"] + frame["visit_id"]).drop(
            columns=["patient_id", "visit_id"]
        )
        for frame in (first, second)
    )
    write("a.csv", first), write("b.csv", second)
    assert "--id COLUMN matches rows by a column that identifies them" in refusal(*words)
    assert run_json(*words, "--id", "case")["comparison"]["p_value"] == pytest.approx(wanted)
    assert "did you mean 'case'" in refusal(*words, "--id", "cas")
    assert "--id goes with --against" in refusal(*words[:2], "--id", "case")
    assert "--id must not name columns of scores, got 'score_a'" in refusal(
        *words, "--id", NAMES[0]
    )


def test_the_swaps_of_a_comparison_are_drawn_by_the_seed(frames, write):
    few = [frame[(frame["label"] != "a") | (frame.index < 15)] for frame in frames]
    paths = [write(name, frame) for name, frame in zip(("a.csv", "b.csv"), few, strict=True)]
    a, b = (frame[NAMES] for frame in few)
    for seed in (3, 4):
        told = run_json("score", paths[0], "--against", paths[1], "--seed", seed)["comparison"]
        again = compare_mauc(few[0]["label"], a, b, random_state=seed)
        assert (told["method"], told["p_value"]) == ("permutation", again.p_value)


def test_ids_that_contradict_are_refused(frames, write):
    first, second = (frame.assign(id=np.arange(60)) for frame in frames)
    words = ("score", write("a.csv", first), "--against", write("b.csv", second.iloc[:50]))
    assert "id '50' (10 in all) is in " in refusal(*words)
    assert "a.csv only; --drop id compares rows by position" in refusal(*words)
    write("b.csv", second.assign(id=np.arange(60) + 5))
    said = refusal(*words)
    assert "id '0' (5 in all) is in " in said
    assert "and id '60' (5 in all) is in " in said
    write("b.csv", second.assign(id=[0, *range(59)]))
    assert "b.csv has several rows with id '0': --id must name" in refusal(*words)
    write("b.csv", second.assign(label=np.roll(second["label"], 1)))
    assert "id '0' is of class 'a' in " in refusal(*words)
    # Ids that repeat do not tell rows apart, but they tell that the order differs.
    for frame, name in ((first, "a.csv"), (shuffled_in_classes(second), "b.csv")):
        write(name, frame.assign(id=frame["id"] // 4))
    assert "the same rows in the same order, but row" in refusal(*words)
    write("b.csv", second.assign(id=np.arange(60) // 4))
    assert run_json(*words)["comparison"]["matched_by"] == []
    assert "several rows with id '0'" in refusal(*words, "--id", "id")
    assert run_json(*words, "--groups", "id")["n_groups"] == 15
    write("b.csv", second.assign(id=np.arange(60) // 5))
    assert "the same --groups, but row 5 of" in refusal(*words, "--groups", "id")
    write("a.csv", first)
    write("b.csv", second.assign(id=[None, *range(1, 60)]))
    assert "column 'id' has no value in row 1" in refusal(*words, "--id", "id")


def test_what_both_models_say_of_themselves_is_no_id(frames, write):
    paths = [
        write(f"{name}.csv", frame.assign(model_id=name, fold=np.arange(60) % 5))
        for frame, name in zip(frames, "mn", strict=True)
    ]
    assert run_json("score", paths[0], "--against", paths[1])["comparison"]["matched_by"] == []


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["ill", "well"], ("--positive", "well")),
        ([0, 1], ()),
        ([-1, 1], ()),
        (["False", "True"], ()),
        ([0, 1], ("--positive", "1.0")),
    ],
)
def test_a_single_column_is_of_the_positive_class(write, labels, words):
    rng, codes = np.random.default_rng(0), np.arange(40) % 2
    frame = pd.DataFrame({"label": np.array(labels)[codes], "score": codes + rng.normal(size=40)})
    path = write("a.csv", frame.assign(fold=np.arange(40) % 5))
    found = run_json("score", path, *words)
    assert found["mauc"] == mauc_score(codes, frame["score"])
    assert found["lower"] == mauc_interval(codes, frame["score"]).lower
    assert found["columns"][0].startswith(f"1 column of scores, 'score', of class '{labels[1]}'")
    other = run_json("score", path, "--positive", labels[0])
    assert other["mauc"] == pytest.approx(1 - found["mauc"])
    against = run_json("score", path, "--against", path, *words)["comparison"]
    assert against["difference"] == 0


def test_a_single_column_needs_its_class(frames, write):
    codes = np.arange(40) % 2
    frame = pd.DataFrame({"label": np.array(["ill", "well"])[codes], "margin": codes * 1.0})
    path = write("a.csv", frame)
    assert "--positive names it: 'ill', 'well'." in refusal("score", path)
    assert "did you mean 'well'" in refusal("score", path, "--positive", "wells")
    both = write("b.csv", frame.assign(other=1 - codes))
    assert "A single column of scores is called 'score'" in refusal(
        "score", both, "--positive", "ill"
    )
    named = write("c.csv", frame.rename(columns={"margin": "score_well"}))
    assert "--positive names it: 'well'." in refusal("score", named)
    assert run_json("score", named, "--positive", "well")["mauc"] == 1.0
    assert "no column of scores for class 'ill'" in refusal("score", named, "--positive", "ill")
    assert "--positive goes with two classes" in refusal(
        "score", write("d.csv", frames[0]), "--positive", "a"
    )
    assert "--positive goes with a file of scores" in refusal("score", "--positive", "a")
