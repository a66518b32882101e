"""Excel workbooks: types of cells, sheets, and errors that name the row."""

import datetime
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import load_dataset
from mauc.exceptions import LeftOutWarning, MaucError

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")


@pytest.fixture
def write(tmp_path):
    def write(rows, name="data.xlsx", **sheets):
        book = openpyxl.Workbook()
        book.active.title = "first"
        for title, others in {"first": rows, **sheets}.items():
            sheet = book[title] if title in book.sheetnames else book.create_sheet(title)
            for row in others:
                sheet.append(row)
        book.save(tmp_path / name)
        return tmp_path / name

    return write


ROWS = [["a", "colour", "label"], [1, "red", "u"], [2.5, "blue", "v"], [None, "?", "u"]]


def test_numbers_words_and_labels(write):
    dataset = load_dataset(write(ROWS), "label")
    assert_array_equal(dataset.X["a"], [1, 2.5, np.nan])
    assert dataset.categories == {"colour": ("blue", "red")}
    assert dataset.X["colour"].isna().tolist() == [False, False, True]
    assert dataset.y.tolist() == ["u", "v", "u"]
    assert dataset.notes == ("1 number, 1 nominal",)


def test_empty_rows_and_columns_are_none(write):
    rows = [[None], ["a", "label", None], [None], [1, "u"], [2, "v"], [None]]
    assert_array_equal(load_dataset(write(rows), "label").X, [[1], [2]])


def test_the_first_sheet_or_another(write):
    path = write(ROWS, other=[["b", "label"], [7, 1], [8, 2]])
    dataset = load_dataset(path, "label")
    assert dataset.feature_names == ["a", "colour"]
    assert dataset.notes[1] == "the first sheet; sheet names another: other"
    for sheet in ("other", 1, "1"):
        assert load_dataset(path, "label", sheet=sheet).feature_names == ["b"]
    with pytest.raises(MaucError, match="sheet must be one of first, other, got 'others'; did"):
        load_dataset(path, "label", sheet="others")
    with pytest.raises(MaucError, match="sheet must be one of first, other, got 2"):
        load_dataset(path, "label", sheet=2)


def test_missing_words_and_a_class_called_na(write):
    rows = [["a", "label"], [1, "NA"], ["-", "EU"], ["NA", "NA"], [4, "EU"]]
    dataset = load_dataset(write(rows), "label", missing="-", categorical_features="label")
    assert_array_equal(dataset.X[:, 0], [1, np.nan, np.nan, 4])
    assert dataset.y.tolist() == ["NA", "EU", "NA", "EU"]
    labelled = load_dataset(write(rows), "label", missing="-", skip_unlabelled=True)
    assert labelled.y.tolist() == ["EU", "EU"]


def test_texts_are_judged_as_those_of_text_files(write):
    rows = [["a", "b", "label"], *([f"{i},5", i, i % 2] for i in range(9)), [1.5, "low", 1]]
    dataset = load_dataset(write(rows), "label", decimal=",", keep_ids=True)
    assert_array_equal(dataset.X["a"], [*np.arange(9) + 0.5, 1.5])
    assert dataset.notes[1] == "column 'b' mixes 1 word and 9 numbers: nominal"
    with pytest.raises(MaucError, match=r"'0,5'; pass decimal=','"):
        load_dataset(write([["a", "label"], ["0,5", 0], ["2,25", 1]]), "label")


def test_dates_are_left_out(write):
    rows = [["a", "day", "label"]]
    rows += [[i * 1.5, datetime.datetime(2020, 1, 1 + i), i % 2] for i in range(5)]
    with pytest.warns(LeftOutWarning, match="'day', dates"):
        assert load_dataset(write(rows), "label").feature_names == ["a"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["a", "label"]], "must hold names of columns and rows, got 2 names only"),
        ([], "must hold names of columns and rows, got 0 names"),
        ([["a", "a", "label"], [1, 2, "u"]], "columns 1 and 2 both have the name 'a'"),
        ([*ROWS, [1, "red", None]], "column 'label' has no label in row 5"),
        ([["a", "label"], [1, "u"], [2, "v"], ["x", "u"]], "mixes 2 numbers and 1 text;.* row 4"),
    ],
)
def test_bad_sheets(write, rows, message):
    with pytest.raises(MaucError, match=message):
        load_dataset(write(rows), "label")


def test_the_extra_is_named(write, monkeypatch):
    path = write(ROWS)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MaucError, match=r"ods files need the package python_cal.*mauc\[excel\]"):
        load_dataset(path, "label")


def test_title_rows(write):
    path = write([["Flowers of 2020"], [None], ["measured by hand"], *ROWS])
    dataset = load_dataset(path, "label")
    assert dataset.feature_names == ["a", "colour"]
    assert "2 title rows above the names left out: 'Flowers of 2020'" in dataset.notes
    assert load_dataset(path, "label", skip_rows=3).notes == ("1 number, 1 nominal",)
    with pytest.raises(MaucError, match="no column 'label'"):
        load_dataset(path, "label", skip_rows=0)


DATA = [["kind", "width", "label"], *[["ab"[i % 2], 1.5 * i, "uv"[i % 2]] for i in range(12)]]


@pytest.mark.parametrize(
    ("footers", "said"),
    [
        ([["Total", 99]], "a footer row below the data left out: row 14 'Total 99'; skip_rows=0"),
        ([["Source: Ministry of Wine"]], "row 14 'Source: Ministry of Wine'"),
        ([[None], ["Total", 99], [None], ["Note: rounded"]], "row 15 'Total 99', row 17 'Note: ro"),
    ],
)
def test_footer_rows(write, footers, said):
    path = write([*DATA, *footers])
    dataset = load_dataset(path, "label")
    assert dataset.X["width"].tolist() == [1.5 * i for i in range(12)]
    assert said in dataset.notes[1]
    with pytest.raises(MaucError, match=r"no label in row 1[45]"):
        load_dataset(path, "label", skip_rows=0)


def test_rows_of_data_that_begin_as_footers(write):
    assert len(load_dataset(write([*DATA, ["Total", 99, "u"]]), "label").y) == 13
    coded = [DATA[0], *[[*row[:2], i % 2] for i, row in enumerate(DATA[1:])]]
    assert len(load_dataset(write([*coded, ["Total", 99, 6]]), "label").y) == 12  # adds up
    assert len(load_dataset(write([*coded, ["Total", 98, 6]]), "label").y) == 13
    with pytest.raises(MaucError, match="no label in row 14"):
        load_dataset(write([*DATA, ["Rome", 99]]), "label")


def test_sheets_that_have_the_target_are_named(write):
    path = write([["About"], ["made by me"]], data=DATA, old=[["Old"], [None], *DATA], more=ROWS)
    with pytest.raises(
        MaucError,
        match="first sheet, 'first', has no column 'width', but sheets 'data', 'old' "
        "have one; pass sheet='data'",
    ):
        load_dataset(path, "width")
    with pytest.raises(MaucError, match=r"sheet 'data' has no .*'more' has one; pass sheet='more'"):
        load_dataset(path, "colour", sheet="data")
    with pytest.raises(MaucError, match=r"mean 'label'.* Other sheets: first, old, more"):
        load_dataset(path, "labels", sheet="data")
    with pytest.raises(MaucError, match="Other sheets: data; sheet names one"):
        load_dataset(write([], data=DATA), -1)
