"""Columns that are no features are left out and named; measurements never are."""

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mauc.datasets import Dataset, load_dataset
from mauc.exceptions import ColumnWarning, LeftOutWarning, MaucError
from mauc.io.arrays import ArraySource, FrameSource
from mauc.io.load import assemble
from mauc.io.options import ReadOptions
from mauc.io.rules import N_FIRST, find_excluded, is_date
from mauc.io.table import Table
from tests.io.conftest import DictSource

N = 40
NUMBERS = np.random.default_rng(0).permutation(1000)[:N]


def reasons_of(frame, marked=()):
    names = [str(name) for name in frame.columns]
    source = FrameSource(frame)
    found = find_excluded(Table("t", source, names), source, range(len(names)), set(marked))[0]
    return {names[j]: reason for j, reason in found.items()}


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("n", np.arange(N), "numbers the rows"),
        ("n", np.arange(1, N + 1), "numbers the rows"),
        ("n", np.arange(1.0, N + 1), "numbers the rows"),
        ("row", np.arange(500, 500 + N), "numbers the rows"),
        ("column1", np.arange(7, 7 + N), "numbers the rows"),
        ("PassengerId", NUMBERS, "40 values in 40 rows"),
        ("passenger_id", NUMBERS, "40 values in 40 rows"),
        ("CustomerID", NUMBERS, "40 values in 40 rows"),
        ("id", NUMBERS, "40 values in 40 rows"),
        ("order number", NUMBERS, "40 values in 40 rows"),
        ("Index", NUMBERS, "40 values in 40 rows"),
        ("Obs. No.", NUMBERS, "40 values in 40 rows"),
        ("index", np.arange(N), "numbers the rows"),
        ("No", np.arange(1, N + 1), "numbers the rows"),
        ("plot index", np.arange(5, N + 5), "numbers the rows"),
        ("plot_no", NUMBERS.argsort() + 7.0, "40 values in 40 rows"),
        ("customerid", np.where(np.arange(N) < 3, np.nan, NUMBERS), "37 values in 40 rows"),
        ("a", NUMBERS + 2**60, "40 values in 40 rows"),
        ("Id", np.append(NUMBERS[3:], NUMBERS[3:6]), "37 values in 40 rows"),
        ("patient_id", [f"{i}-" for i in [*range(37), 1, 2, 3]], "37 values in 40 rows"),
        ("obs", np.arange(N) % 8 + 1, "counts rows and starts again"),
        (
            "a",
            [f"it was {i} and no more" for i in [*range(30), *range(10)]],
            "free text, 30 different texts in 40 rows",
        ),
        ("a", [f"N{i}" for i in range(N)], "40 values in 40 rows"),
        ("name", ["Smith"] * 2 + [f"N{i}" for i in range(N - 2)], "39 values in 40 rows"),
        ("a", pd.Categorical([f"N{i}" for i in range(N)]), "40 values in 40 rows"),
        ("a", pd.date_range("2020-01-01", periods=N), "dates"),
        ("a", ["2020-01-31"] * N, "dates"),
        ("a", ["31.1.2020 08:15", None] * (N // 2), "dates"),
        ("a", ["13:45", "1:45:10", "1:45 PM", "7:00am"] * (N // 4), "dates"),
        ("a", ["T13:45", "13h45", "13:45 Uhr", "0 days 13:45:10"] * (N // 4), "dates"),
        ("a", ["09:00-10:30", "9:00 PM - 11:15 PM"] * (N // 2), "dates"),
        ("a", [*(f"{i % 24}:{i}" for i in range(10, N)), *["noon"] * 10], "dates"),
        ("start_date", np.where(np.arange(N) % 2, 20200131, 20190228), "dates"),
        ("a", np.full(N, 3.5), "constant"),
        ("a", ["x"] * N, "constant"),
        ("a", [True] * N, "constant"),
        ("a", np.full(N, np.nan), "no value"),
        ("a", [None] * N, "no value"),
        ("a", [1.0] + [np.nan] * (N - 1), "97.5 % missing"),
    ],
)
def test_what_is_no_feature(name, values, reason):
    assert reasons_of(pd.DataFrame({name: values})) == {name: reason}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("weight", np.random.default_rng(0).normal(size=N)),
        ("length", NUMBERS),
        ("number_of_inhabitants", NUMBERS),
        ("refractive index", NUMBERS),
        ("num_words", NUMBERS),
        ("key frames", NUMBERS),
        ("case_notes", NUMBERS),
        ("NO2", NUMBERS),
        *((name, NUMBERS) for name in ("acid", "humidity", "nose", "width", "idle")),
        ("index", NUMBERS / 7),
        ("year", np.arange(1990, 1990 + N)),
        ("start_date", np.full(N, 20200131) + np.arange(N) % 2),  # 20200132 is no day
        ("steps", np.arange(N)[::-1]),
        ("width", [f"{value:.3f}".replace(".", ",") for value in NUMBERS / 7]),
        ("mass", [*map(str, NUMBERS[:-1] / 7), "n/d"]),
        ("city", ["Rome", "Oslo"] * (N // 2)),
        ("when", ["08:00", "12:00", "20:00", "never"] * (N // 4)),
        ("id", NUMBERS % 7),
        ("half", [1.0] * 3 + [2.0] * 3 + [np.nan] * (N - 6)),
        ("is_new", [True, False] * (N // 2)),
    ],
)
def test_what_is_a_feature(name, values):
    assert reasons_of(pd.DataFrame({name: values})) == {}


@pytest.mark.parametrize(
    ("values", "doubt"),
    [
        (np.arange(N) % 8 + 1, "counts rows and starts again"),
        (np.arange(N) % 3, None),
        ([f"A{i}" for i in [*range(30), *range(10)]], "30 different texts in 40 rows"),
        (["A", "B"] * (N // 2), None),
    ],
)
def test_what_may_be_no_feature_is_kept_with_a_warning(tmp_path, values, doubt):
    frame = pd.DataFrame({"mass": NUMBERS / 7, "a": values, "y": ["u", "v"] * (N // 2)})
    frame.to_csv(tmp_path / "d.csv", index=False)
    warned = pytest.warns(ColumnWarning, match=f"may not be features: 'a', {doubt}; drop")
    with warned if doubt else nullcontext():
        dataset = load_dataset(tmp_path / "d.csv", "y")
    assert dataset.feature_names == ["mass", "a"]
    assert len(dataset.notes) == 1 + bool(doubt)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["u", "U", "v", "v "], "by case or blanks alone: 'U', 'u'; 'v', 'v '"),
        (np.random.default_rng(0).binomial(40, 0.5, 400), "looks ordinal or continuous"),
        (np.random.default_rng(0).integers(0, 30, 400) * 10, "looks ordinal or continuous"),
        (np.arange(400) % 26, ""),
        (np.random.default_rng(0).geometric(0.3, 400).clip(1, 10), ""),
        (np.repeat(np.arange(26), np.random.default_rng(0).integers(5, 30, 26)), ""),
    ],
)
def test_doubtful_labels_are_kept_with_a_warning(tmp_path, labels, message):
    frame = pd.DataFrame({"a": np.random.default_rng(1).normal(size=len(labels)), "y": labels})
    frame.to_csv(tmp_path / "d.csv", index=False)
    with pytest.warns(ColumnWarning, match=message) if message else nullcontext():
        assert len(load_dataset(tmp_path / "d.csv", "y").y) == len(labels)


def test_small_tables_and_marked_columns_are_taken_as_they_are():
    frame = pd.DataFrame({"id": np.arange(N), "a": ["x"] * N})
    assert set(reasons_of(frame)) == {"id", "a"}
    assert reasons_of(frame, marked=[0, 1]) == {}
    assert reasons_of(frame.head(9).assign(empty=np.nan)) == {}
    source = ArraySource(np.column_stack([np.arange(N), np.zeros(N)]), "t")
    table = Table("t", source, ["id", "b"], is_named=False)
    assert find_excluded(table, source, [0, 1]) == ({}, {})


@pytest.fixture
def path(tmp_path):
    frame = pd.DataFrame(
        {
            "id": np.arange(1, N + 1),
            "mass": NUMBERS / 7,
            "sex": ["m", "f"] * (N // 2),
            "day": ["2020-01-31"] * N,
            "a": 1,
            "b": 2,
            "species": ["u", "v", "w", "u"] * (N // 4),
        }
    )
    frame.to_csv(tmp_path / "birds.csv", index=False)
    return tmp_path / "birds.csv"


def test_the_notes_and_a_warning_name_them(path):
    with pytest.warns(
        LeftOutWarning, match=r"birds\.csv: left out: 'id'.*keep_ids=True keeps them"
    ):
        dataset = load_dataset(path, "species")
    assert dataset.feature_names == ["mass", "sex"]
    assert dataset.notes == (
        "1 number, 1 nominal; left out: 'id', numbers the rows; 'day', dates; 'a', 'b', constant",
    )
    kept = load_dataset(path, "species", keep_ids=True)
    assert kept.feature_names == ["id", "mass", "sex", "day", "a", "b"]
    assert kept.notes == ("4 numbers, 2 nominal",)


def test_what_the_user_drops_or_calls_nominal_is_not_named(path):
    dataset = load_dataset(path, "species", drop=["id", "day"], categorical_features=["a", "b"])
    assert dataset.notes == ("1 number, 3 nominal",)


def test_the_source_reads_the_data_again(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    options = {"drop": ["id"], "nominal": "ordinal", "keep_ids": True, "categorical_features": "a"}
    dataset = load_dataset("birds.csv", "species", **options)
    assert dataset.source == (
        "load_dataset('birds.csv', 'species', nominal='ordinal', categorical_features='a', "
        "drop=['id'], keep_ids=True)"
    )
    reduced = dataset.take([2, 0])
    again = eval(reduced.source, {"load_dataset": load_dataset})
    assert again.fingerprint() == reduced.fingerprint()


@pytest.mark.parametrize(
    ("drop", "written"),
    [
        (np.array([0, -1]), "[0, -1]"),
        (np.int64(0), "0"),
        (np.array(["hue"]), "['hue']"),
        (np.str_("hue"), "'hue'"),
        (pd.Index(["hue", "ash"]), "['hue', 'ash']"),
        (pd.Series([0, 1]), "[0, 1]"),
        (("hue", np.uint8(1)), "['hue', 1]"),
        (range(2), "[0, 1]"),
    ],
)
def test_columns_come_as_any_sequence(drop, written):
    dataset = load_dataset("wine", drop=drop)
    assert dataset.source == f"load_dataset('wine', drop={written})"
    again = eval(dataset.source, {"load_dataset": load_dataset})
    assert again.feature_names == dataset.feature_names
    assert len(again.feature_names) < 13


@pytest.mark.parametrize("drop", [0.5, None, True, [None], np.array([0.0]), [["hue"]]])
def test_what_is_no_column_is_refused(drop):
    with pytest.raises(MaucError, match="drop must name columns by text or whole number"):
        load_dataset("wine", drop=drop)


def test_a_table_of_ids_alone_says_the_way_out(tmp_path):
    pd.DataFrame({"id": range(N), "y": [0, 1] * (N // 2)}).to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(
        MaucError, match=r"no column left .* left out: 'id', numbers the rows.*keep_ids"
    ):
        load_dataset(tmp_path / "d.csv", "y")


def test_long_lists_say_how_many():
    names = [f"c{j}" for j in range(8)]
    frame = pd.DataFrame(np.ones((N, 8)), columns=names).assign(a=NUMBERS / 7, y=[0, 1] * (N // 2))
    table = Table("t", FrameSource(frame), list(frame.columns))
    with pytest.warns(LeftOutWarning):
        dataset = assemble(table, ReadOptions(target="y"), "t")
    assert dataset.notes[0].endswith("'c0', 'c1', 'c2', 'c3', 'c4' and 3 more, constant")


@pytest.mark.parametrize(
    "text",
    ["5", "1.5", "2020", "a-b", "12-34", "May", "3.14.15x", "", "1:2", "5h", "13:45 mix", "1:100"],
)
def test_texts_that_are_no_dates(text):
    assert not is_date(text)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.arange(3000) % 1500, "1,500 classes in 3,000 rows"),
        (np.arange(60) % 40, "40 classes in 60 rows"),
    ],
)
def test_a_target_that_is_no_class_is_refused(tmp_path, values, message):
    frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=len(values)), "price": values})
    frame.to_csv(tmp_path / "d.csv", index=False)
    with pytest.raises(MaucError, match=f"column 'price' has {message}.*many_classes=True"):
        load_dataset(tmp_path / "d.csv", "price")
    dataset = load_dataset(tmp_path / "d.csv", "price", many_classes=True)
    assert isinstance(dataset, Dataset)
    assert "many_classes=True" in dataset.source


def test_small_tables_may_have_classes_of_one_row(tmp_path):
    pd.DataFrame({"a": np.arange(20) ** 2, "y": range(20)}).to_csv(tmp_path / "d.csv", index=False)
    assert len(load_dataset(tmp_path / "d.csv", "y").y) == 20


M = 5 * N_FIRST
rng = np.random.default_rng(0)
HOLES = np.arange(M) % 5 == 0
COLUMNS = {
    "width": rng.normal(size=M),
    "with holes": np.where(HOLES, np.nan, rng.normal(size=M)),
    "row": np.arange(M),
    "user id": rng.permutation(M) * 3,
    "ids twice": rng.integers(0, 50, M),
    "plot index": rng.permutation(M) + 9,
    "refractive index": rng.permutation(M) * 2,
    "nearly constant": (np.arange(M) == M - 1).astype(np.int8),
    "empty": np.where(np.arange(M) % 40 == 0, 1.5, np.nan),
    "nothing": np.full(M, np.nan),
    "late": np.where(np.arange(M) < N_FIRST, rng.normal(size=M), np.nan),
    "date": rng.choice([20200101, 20211231], M),
    "wide": 2**60 + np.arange(M) * 8,
    "wide twice": np.full(M, 2**60) + np.arange(M) // 2 * 4096,
    "infinite id": np.where(HOLES, np.inf, np.arange(M)),
    "column1": np.arange(M) + 77,
    "true": np.full(M, True),
    "colour": rng.choice(["red", "green"], M).astype(object),
    "key": np.array([f"{at}-{at}" for at in range(M)], object),
    "key with holes": np.array([None if hole else f"k{at}-" for at, hole in enumerate(HOLES)]),
    "day": np.array([f"2020-01-{1 + at % 28:02d}" for at in range(M)], object),
    "no words": np.array([None] * M, object),
    "group counter": np.arange(M) % 3000,
    "most ids": np.append(rng.integers(0, 900, N_FIRST), np.arange(4 * N_FIRST)),
}


def reason_of(values, name, memory):
    source = DictSource({name: values}, memory, n_rows=1500)
    return find_excluded(Table("t", source, [name]), source, [0])[0].get(0)


@pytest.mark.parametrize("name", COLUMNS)
def test_parts_are_judged_as_the_whole(name):
    values = COLUMNS[name]
    whole = reasons_of(pd.DataFrame({name: values})).get(name)
    assert reason_of(values, name, 2**30) == whole
    if not name.startswith("key"):
        assert reason_of(values, name, 50_000) == whole


def test_what_cannot_be_told_is_said():
    assert reason_of(COLUMNS["key"], "key", 50_000) == "more different texts than fit into memory"
    many = np.array([f"{at % 400}-" for at in range(M)], object)
    with pytest.raises(MaucError, match="more different texts than fit into the memory"):
        reason_of(many, "many", 150_000)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([2**63, 2**64 - 1, None], "uint64"),
        ([2**60, 2**60 + 1, None], "int64"),
        ([5.0, -3.0, None], "int64"),
    ],
)
def test_labels_beyond_float64_keep_their_digits(tmp_path, values, kind):
    column = pa.array(values, kind if abs(values[0]) > 5 else "float64")
    pq.write_table(pa.table({"a": [1.5, 2.5, 3.5], "y": column}), tmp_path / "d.parquet")
    dataset = load_dataset(tmp_path / "d.parquet", "y", skip_unlabelled=True)
    assert dataset.y.dtype == kind
    assert dataset.y.tolist() == values[:2]


@pytest.mark.parametrize("value", [1e300, -1e19, np.inf])
def test_labels_that_no_integer_holds_are_refused(tmp_path, value):
    pd.DataFrame({"a": [1.5, 2.5], "y": [0.0, value]}).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(MaucError, match="in row 2: labels are names or integers"):
        load_dataset(tmp_path / "d.parquet", "y")
