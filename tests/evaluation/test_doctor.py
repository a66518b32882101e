"""`diagnose`: one fault is put into a sound table, and is what is found first."""

import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict

from mauc import diagnose
from mauc.data.rows import looks_like_group
from mauc.datasets import load_dataset
from mauc.evaluation.doctor import TABLE
from mauc.exceptions import ColumnWarning, MaucError
from tests.helpers.cli_helpers import refusal, run, run_json, schema_of

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
    }


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
    columns = (
        "leak, class marker, target means, missing by class, sentinel, duplicated columns, "
        "constant columns."
    )
    assert diagnose(X[[]].assign(code=2 - Y), Y, scores).checked.endswith(f"for: {columns}")
    assert "missed pair" in diagnose(X, Y, scores).checked
    assert "groups across folds" not in diagnose(X, Y, scores).checked
    assert "missed pair" not in diagnose(X, Y).checked


@pytest.mark.slow  # half a minute of judging
def test_a_weak_difference_of_many_rows_is_not_called_inseparable():
    y = np.repeat(np.arange(3), 8000)
    table = np.random.default_rng(0).normal(size=(24_000, 4))
    table[:, 0] += 0.08 * y
    pairs = {one.classes for one in diagnose(table, y) if one.kind == "inseparable pair"}
    assert not pairs
    pairs = {one.classes for one in diagnose(table[:, 1:], y) if one.kind == "inseparable pair"}
    assert len(pairs) >= 2  # of three; of a pair it is not said once in twenty


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
    assert (
        "1. MD01 leak (high): 'code'" in run("doctor", tmp_path / "data.csv", "-t", "label").stdout
    )


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


# ---- codes


def test_every_kind_has_a_code_and_a_line_in_the_docs():
    codes = [kind.code for kind in TABLE]
    assert sorted(codes) == [f"MD{at:02}" for at in range(1, len(TABLE) + 1)]
    text = Path(__file__).parents[2].joinpath("docs", "answers", "doctor.md").read_text()
    lines = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    shown = {cells[1]: cells[2:4] for cells in lines if len(cells) > 4 and cells[1] in codes}
    assert set(shown) == set(codes)
    for kind in TABLE:
        assert shown[kind.code][0] == kind.name
        assert kind.severity in shown[kind.code][1]
    schema = schema_of("mauc/doctor-1").schema["properties"]["findings"]["items"]["properties"]
    assert sorted(schema["kind"]["enum"]) == sorted(kind.name for kind in TABLE)


def test_codes_are_ignored():
    table = X.assign(flat=3.0, again=X["ash"])
    assert {one.code for one in diagnose(table, Y)} == {"MD09", "MD10"}
    found = diagnose(table, Y, ignore=["md09"])
    assert [one.code for one in found] == ["MD10"]
    assert "duplicated" not in found.checked
    assert not diagnose(table, Y, ignore=("MD09", "MD10")).findings
    with pytest.raises(MaucError, match=r"ignore must be one of MD01, .*, got 'MD77'"):
        diagnose(table, Y, ignore="MD77")
    checked = run_json("doctor", "wine", "--ignore", "MD03, md07", "--ignore", "MD08")["checked"]
    assert "leak" in checked
    assert not [kind for kind in ("copied", "inseparable", "wrong labels") if kind in checked]
    message = refusal("doctor", "wine", "--ignore", "MD03,MD77")
    assert "--ignore must be one of MD01" in message
    assert "got 'MD77'; did you mean 'MD17'?" in message


# ---- what is new


def plain(n=180):
    """Return a frame that tells three classes apart in part, and the classes."""
    generator, y = np.random.default_rng(0), np.arange(n) % 3
    table = generator.normal(size=(n, 5)) + 1.5 * np.eye(3, 5)[y]
    return generator, pd.DataFrame(table, columns=list("abcde")), y


def found_kinds(table, y, **options):
    return {one.kind: one for one in diagnose(table, y, **options)}


def test_a_category_and_missing_values_mark_a_class():
    generator, table, y = plain()
    city = np.where(y == 2, "X", generator.choice(list("ABCD"), len(y)))
    one = found_kinds(table.assign(city=city), y)["class marker"]
    assert (one.features, one.classes, one.severity) == (("city",), (2,), "high")
    one = found_kinds(table.assign(gone=table["d"].mask(y == 1)), y)["class marker"]
    assert (one.features, one.classes) == (("gone",), (1,))
    some = table["d"].mask((y == 1) & (generator.random(len(y)) < 0.5))
    one = found_kinds(table.assign(gone=some), y)["missing by class"]
    assert (one.features, one.classes) == (("gone",), (1,))
    at_random = table["d"].mask(generator.random(len(y)) < 0.3)
    assert "missing by class" not in found_kinds(table.assign(gone=at_random), y)


def test_dates_are_looked_at_before_they_are_left_out(tmp_path):
    generator, table, y = plain()
    days = 50 * (y == 1) + 40 * generator.random(len(y))
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D")
    one = found_kinds(table.assign(when=when), y)["dates by class"]
    assert (one.features, one.classes) == (("when",), (1,))
    path = tmp_path / "data.csv"
    table.assign(when=when.strftime("%d.%m.%Y"), label=y).to_csv(path, index=False)
    told = run_json("doctor", path, "-t", "label")["findings"][0]
    assert (told["code"], told["features"]) == ("MD14", ["when"])
    apart = pd.Timestamp("2024-01-01") + pd.to_timedelta(500 * y + days, unit="D")
    for ignore, code in (("MD13", "MD01"), ("MD01", "MD14")):  # a column has one diagnosis
        found = diagnose(table.assign(when=apart), y, ignore=ignore).findings
        assert [one.code for one in found if "when" in one.features] == [code]
    at_random = generator.permutation(when)
    assert "dates by class" not in found_kinds(table.assign(when=at_random), y)


def test_numbers_of_nines_far_from_others():
    _, table, y = plain()
    odd = table["d"].copy()
    odd[[3, 50, 90]] = -999.0
    one = found_kinds(table.assign(odd=odd), y)["sentinel"]
    assert one.features == ("odd",)
    assert "-999 in 3 rows" in one.evidence
    counts = np.arange(len(y)) % 100.0  # 99 is a number like others
    assert "sentinel" not in found_kinds(table.assign(odd=counts), y)


def test_two_columns_that_tell_only_together():
    generator = np.random.default_rng(0)
    y, noise = generator.integers(0, 2, 300), generator.normal(size=(300, 8))
    noise[:, 7] = np.where(y == 1, 1, -1) * np.sign(noise[:, 6]) * np.abs(noise[:, 7])
    found = found_kinds(noise, y)
    assert found["interaction"].features == ("x6", "x7")
    assert "inseparable pair" not in found


@pytest.mark.parametrize("smoothing", [0, 10])
def test_shares_of_a_class_as_a_column(smoothing):
    generator, table, y = plain()
    city = pd.Series(generator.integers(0, 12, len(y)))
    own = pd.Series(y == 2).groupby(city)
    means = (own.transform("sum") + smoothing / 3) / (own.transform("size") + smoothing)
    assert found_kinds(table.assign(means=means), y)["target means"].features == ("means",)
    of_others = city.map(pd.Series(generator.random(12)))
    assert "target means" not in found_kinds(table.assign(means=of_others), y)


def test_rows_that_repeat_others_nearly():
    generator, table, y = plain()
    near = table.iloc[::6] + 0.001 * generator.normal(size=(30, 5))
    found = found_kinds(np.r_[table, near], np.r_[y, y[::6]])["near copies"]
    assert set(found.rows) == {*range(0, 180, 6), *range(180, 210)}
    assert "near copies" not in found_kinds(table, y)


def test_subjects_under_a_neutral_name_and_identifiers():
    generator, table, _ = plain()
    subject = np.repeat(np.arange(100), generator.integers(1, 7, 100))[:180]
    y = generator.integers(0, 3, 100)[subject]
    code = generator.permutation(1000)[subject]
    found = found_kinds(table.assign(code=code), y)
    assert found["group column"].features == ("code",)
    y = np.arange(180) % 3
    found = found_kinds(table.assign(subject_id=generator.integers(0, 5, 180)), y)
    assert found["group column"].features == ("subject_id",)
    found = found_kinds(table.assign(subject_id=generator.permutation(180)), y)
    assert found["identifier"].features == ("subject_id",)


@pytest.mark.parametrize("n_values", [4, 40, 110])
def test_a_column_called_an_identifier_warns_where_it_is_read(n_values, tmp_path):
    generator, table, y = plain()
    ids = generator.integers(0, n_values, len(y))
    assert looks_like_group(ids.astype(float), y, "subject_id")
    assert not looks_like_group((ids > 2).astype(float), y, "user")
    table.assign(subject_id=ids, label=y).to_csv(tmp_path / "data.csv", index=False)
    with pytest.warns(ColumnWarning, match="'subject_id' looks like a group"):
        load_dataset(tmp_path / "data.csv", "label")


def test_the_column_with_a_wrong_unit_is_named():
    _, table, y = plain(360)
    table = table + 10.0
    table.loc[np.flatnonzero(y == 1)[::2], "d"] *= 100.0
    one = found_kinds(table, y)["merged class"]
    assert (one.features, one.classes) == (("d",), (1,))
    assert "unit or decimal point?" in one.evidence


# ---- what was false


@pytest.mark.parametrize("shape", ["t", "binary", "lognormal"])
def test_tails_and_few_values_are_no_wrong_labels(shape):
    """Of the tables that a normal tail took for wrongly labelled none is left."""
    kinds = []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        y = np.repeat(np.arange(3), 120)
        centers = 2.0 * generator.normal(size=(3, 3))[y]
        table = centers + generator.standard_t(2, (360, 3))
        if shape == "binary":
            table = (generator.random((360, 3)) < 1 / (1 + np.exp(-centers))).astype(float)
        if shape == "lognormal":
            table = np.exp(centers / 2 + generator.normal(size=(360, 3)))
        others = [kind.code for kind in TABLE if kind.name != "wrong labels"]
        kinds += [one.kind for one in diagnose(table, y, ignore=others)]
    assert not kinds


def test_a_counter_of_rows_is_no_code_of_the_classes():
    y = np.sort(np.random.default_rng(0).integers(0, 15, 360))
    found = diagnose(np.column_stack([np.arange(360) // 3.5, np.eye(15)[y]]), y, ignore="MD07")
    by_auc, codes = found[0], found[1]
    assert (by_auc.kind, by_auc.features) == ("leak", ("x0",))
    assert "codes" not in by_auc.evidence
    assert "together codes of the classes" in codes.evidence


def test_two_values_are_no_code_of_seven_classes():
    y = np.repeat(np.arange(7), 40)
    table = np.random.default_rng(0).normal(size=(280, 3)) + y[:, np.newaxis]
    found = found_kinds(np.column_stack([table, y > 3]), y)
    assert "leak" not in found
    assert (found["class marker"].severity, found["class marker"].features) == ("medium", ("x3",))


@pytest.mark.parametrize("seed", [2, 5])
def test_a_pair_that_a_linear_model_tells_is_not_called_inseparable(seed):
    """Weak in each of many columns: no feature shows it, and intervals are wide."""
    generator = np.random.default_rng(seed)
    y = np.repeat([0, 1], 90)
    table = generator.normal(size=(180, 12)) + 0.19 * y[:, np.newaxis]
    assert "inseparable pair" not in found_kinds(table, y)


def test_rows_are_those_of_the_file(tmp_path):
    """Line 1 is the header, row 3 has no label, line 12 is blank."""
    _, table, y = plain()
    table = table.to_numpy() + 3.0 * np.eye(3, 5)[y]
    wrong = np.flatnonzero(y == 0)[:12]
    labels = np.array([f"c{one}" for one in y], dtype=object)
    labels[wrong] = "c1"
    labels[2] = ""
    lines = [",".join(map(str, [*row, one])) for row, one in zip(table, labels, strict=True)]
    lines.insert(10, "")
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["a,b,c,d,e,label", *lines, ""]))
    told = run_json("doctor", path, "-t", "label", "--skip-unlabelled")["findings"][0]
    assert told["kind"] == "wrong labels"
    assert set(told["rows"]) <= set(wrong.tolist())
    numbers = [int(one) for one in told["next"].removeprefix("look at lines ").split(", ")]
    text = path.read_text().splitlines()
    assert [text[number - 1] for number in numbers] == [
        lines[row + (row >= 10)] for row in told["rows"]
    ]


def test_widths_that_are_shown_differ():
    """0.052 shows as 0.05: nothing is to be gained that two digits tell."""
    for seed in range(6):
        _, table, y = plain(120 + 60 * seed)
        for one in diagnose(table, y):
            if one.kind == "few rows":
                assert "known to +-0.05," not in one.evidence
