"""CSV and TSV files; a bad file gets an error that names file, line or column, and the way out."""

import gzip
import os
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import load_dataset
from mauc.exceptions import LeftOutWarning, MaucError, MaucWarning
from mauc.io import text
from mauc.io.cache import list_caches
from mauc.io.options import ReadOptions

MEMORY = 2**20


def test_numbers_names_and_labels(write):
    dataset = load_dataset(write("a,label,b\n1,u,2.5\n2,v,3\n"), "label")
    assert_array_equal(dataset.X, [[1, 2.5], [2, 3]])
    assert dataset.feature_names == ["a", "b"]
    assert dataset.y.tolist() == ["u", "v"]
    assert (dataset.name, dataset.target_name) == ("data", "label")


@pytest.mark.parametrize(
    ("text", "options", "names", "labels"),
    [
        ("1,2,u\n3,4,v\n", {"header": False}, ["x0", "x1"], ["u", "v"]),  # the last column
        *(
            ("label,a,b\n7,1,2\n8,3,4\n", {"target": target}, ["a", "b"], [7, 8])
            for target in ("label", 0, -3, "0", "-3")
        ),
        (
            "a,y\n1,9007199254740993\n2,9007199254740995\n",
            {"target": 1},
            ["a"],
            [2**53 + 1, 2**53 + 3],
        ),
        ("a,y\n1,1\n2,x\n", {"target": "y"}, ["a"], ["1", "x"]),
        (",a,y\n4,5,u\n1,6,v\n", {"target": "y"}, ["column1", "a"], ["u", "v"]),
    ],
)
def test_names_and_labels(write, text, options, names, labels):
    dataset = load_dataset(write(text), **options)
    assert (dataset.feature_names, dataset.y.tolist()) == (names, labels)


@pytest.mark.parametrize("column", ["code", 1, -2, "1", np.int64(1)])
def test_nominal_columns_by_number_are_read_as_by_name(write, column):
    path = write("size,code,label\n1,007,u\n2,7,v\n3,08,u\n4,8,v\n")
    dataset = load_dataset(path, "label", categorical_features=[column])
    assert dataset.categories["code"] == ("007", "08", "7", "8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"data\.csv is empty"),
        ("\n\n", r"data\.csv is empty"),
        ("a,label\n", "has a header line but no rows"),
        ("label\nu\nv\n", "no column left to be a feature"),
        ("a,label\n1,u\n2,\n", "column 'label' has no label in line 3; give it one"),
        ("a,label\n1,u\n2,\n2,?\n", r"in line 3 \(2 rows have none\).*skip_unlabelled=True"),
        ("a,label\n1,7\n2,NA\n2,8\n", "column 'label' has no label in line 3"),
        ("a,label\n1,u\n1,2,3,4\n", r"line 3: the row has 4 values, but line 1 has 2\."),
        ("a,label\n1,u\n\n7\n", r"line 4: the row has 1 value, but line 1 has 2\."),
        ('a,label\n"1\n",u\n7\n', "line 4: the row has 1 value"),
        (
            'a,label\n1,"u\n2,v\n',
            r"cannot be read as rows and columns: it ends inside a quoted value",
        ),
        ("a,b\n1,2\n", r"has no column 'label'\. Its columns: a, b"),
        ("a,Labels\n1,2\n", "has no column 'label'; did you mean 'Labels'"),
        (
            "5.1,3.5,x\n4,3,y\n",
            r"first line is taken for names; if it holds data, pass header=False",
        ),
        ("a;label\n1;u\n2\n", "line 3: the row has 1 value, but line 1 has 2"),
        ("a,a,label\n1,2,u\n", "columns 1 and 2 both have the name 'a'"),
        (
            "a,label\n1,u\n2,v\nlots,u\n",
            r"column 'a' mixes 2 numbers and 1 text; the first odd value is 'lots' on line 4\. .*"
            "missing='lots'.*categorical_features='a'",
        ),
        ("a,label\nx,u\ny,v\n\n3,u\n", "the first odd value is '3' on line 5"),
        (
            "id,label\n9007199254740993,u\n9007199254740995,v\n",
            r"column 'id' .* beyond 2\*\*53.*drop='id'",
        ),
        (
            "id,label\n99999999999999999999999,u\n-99999999999999999999999,v\n",
            r"column 'id' .* beyond 2\*\*53",
        ),
    ],
)
def test_bad_files(write, text, message):
    path = write(text)
    with pytest.raises(MaucError, match=message) as caught:
        load_dataset(path, "label")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": None}, r"needs target: the name or number of .* Its columns: a, b, label"),
        ({"target": 3}, r"target as a column number must be in \[-3, 2\], got 3"),
        ({"drop": "c"}, r"has no column 'c'\. Its columns"),
        ({"drop": "label"}, "drop has 'label', which is the target"),
        ({"categorical_features": "bb"}, "no column 'bb'; did you mean 'b'"),
        ({"encoding": "none"}, "encoding must be one that Python knows"),
        (
            {"separator": ",,"},
            "separator must be one character of ASCII, or 'whitespace'.* got ',,'",
        ),
        ({"decimal": ",", "separator": ","}, "separator and decimal must differ"),
        ({"thousands": "."}, "decimal and thousands must differ.*pass decimal=','"),
        ({"thousands": ".."}, "thousands must be one character"),
        ({"sheet": "one"}, "sheet goes with txt, xlsx files, not with csv"),
        ({"format": "arff", "separator": ";"}, "separator goes with csv, tsv, txt files, not with"),
        ({"format": "xls"}, "format must be one of 'arff', 'csv'"),
        ({"nominal": "maybe"}, "nominal must be one of 'keep', 'ordinal', 'onehot', 'drop', got"),
        ({"target": "b"}, r"column 'b' holds 2\.5 in line 2: labels are names or integers"),
    ],
)
def test_wrong_options(write, options, message):
    path = write("a,b,label\n1,2.5,u\n3,4,v\n")
    with pytest.raises(MaucError, match=message):
        load_dataset(path, **{"target": "label", **options})


def test_a_class_may_be_called_na(write):
    path = write("a,label\n1,EU\n2,NA\n3,NA\n,EU\n")
    dataset = load_dataset(path, "label")
    assert dataset.y.tolist() == ["EU", "NA", "NA", "EU"]
    assert "'NA' is a class; missing='NA' makes it a missing label" in dataset.notes
    with pytest.raises(MaucError, match=r"no label in line 3 \(2 rows have none\)"):
        load_dataset(path, "label", missing="NA")


def test_na_is_a_missing_label_where_other_columns_have_missing_values_of_that_name(write):
    path = write("a,label\n1,EU\n2,NA\n3,US\nNA,EU\n")
    with pytest.raises(MaucError, match=r"no label in line 3.*'NA' is a missing label, as"):
        load_dataset(path, "label")
    dataset = load_dataset(path, "label", skip_unlabelled=True)
    assert dataset.y.tolist() == ["EU", "US", "EU"]
    assert dataset.notes[1].startswith("'NA' is a missing label")
    named = load_dataset(path, "label", categorical_features="label")
    assert named.y.tolist() == ["EU", "NA", "US", "EU"]


@pytest.mark.parametrize(
    ("texts", "values", "note"),
    [
        (["18.7 mm", "3 mm", "NA"], [18.7, 3, np.nan], "'mm' taken off (categorical_features='a'"),
        (["$5", "-$6.5", "$1,234.50"], [5, -6.5, 1234.5], "'$' taken off"),
        (["5 €", "€ 7", "9€"], [5, 7, 9], "'€' taken off"),
        (["1 year", "2 years", "7 years"], [1, 2, 7], "'year' taken off"),
        ([*(f"{i}%" for i in range(19)), "20"], [*range(19), 20], "'%' taken off, 1 of 20 texts"),
        (
            ["4 mm", "5 mm", "6 mm", "1 in", "2 in", "3 in"],
            None,
            "nominal because of '1 in'; write one",
        ),
        (
            [*(f"${i}" for i in range(19)), "free"],
            None,
            "because of 'free'; write one unit, or pass missing='free'",
        ),
        (["3,50 €", "4,20 €"], None, "no number that can be read; decimal=','"),
        (["1st", "2nd", "3rd"], None, ""),
        (["A1", "A2", "A3"], None, ""),
    ],
)
@pytest.mark.parametrize("memory", [None, MEMORY])
def test_numbers_with_a_unit_are_numbers(write, texts, values, note, memory):
    path = write("a;label\n" + "".join(f"{text};{at % 2}\n" for at, text in enumerate(texts)))
    options = ReadOptions.make("t", {"target": "label", "separator": ";"})
    table = text.open_text(path, replace(options, format="csv"), memory)
    assert "".join(table.notes).count(note) == (note != "" or len(table.notes) == 0)
    (column,) = table.source.read(np.array([0]))
    if values is None:
        assert column.tolist() == texts
        assert all(one.startswith("warning: column 'a'") for one in table.notes)
    else:
        assert_array_equal(column, values)


ROWS = "6,3,4.5,u\n5,2,1.5,v\n4,7,3.5,u\n9,5,2.5,v\n"


@pytest.mark.parametrize(
    ("first", "options", "is_data"),
    [
        ("5,4,2,u", {}, True),
        ("5,?,2,v", {}, True),
        ("5,4,2,u", {"header": True}, False),
        ("2001,2002,2004,class", {}, False),  # no row is so large, "class" no label
        ("4,5,6,u", {}, False),  # as pandas numbers columns
        ("5,4,2.5,u", {"target": "u"}, False),  # the user knows a name
        ("a,4,2,u", {}, False),
        ("5,4,2,w", {}, False),
        ("4,5,6,u", {"header": False}, True),
    ],
)
def test_a_first_line_of_numbers_is_data_where_it_is_like_the_others(
    write, first, options, is_data
):
    path = write(f"{first}\n{ROWS}")
    dataset = load_dataset(path, **{"target": 3, **options})
    assert len(dataset.y) == 4 + is_data
    assert (dataset.feature_names[0] == "x0") is is_data
    taken = f"the first line is taken for {'data' if is_data else 'names'}"
    is_said = any(note.startswith(taken) for note in dataset.notes)
    assert is_said is ("header" not in options)


def test_rows_without_a_label_are_skipped_and_counted(write):
    path = write("a,c,label\n1,x,u\n2,y,\n3,x,?\n4,y,v\n")
    dataset = load_dataset(path, "label", skip_unlabelled=True)
    assert dataset.X["a"].tolist() == [1, 4]
    assert dataset.y.tolist() == ["u", "v"]
    assert dataset.notes == ("1 number, 1 nominal", "2 rows without a label left out")
    with pytest.raises(MaucError, match="has no label in any row"):
        load_dataset(write("a,label\n1,\n2,\n"), "label", skip_unlabelled=True)
    path = write("a,label\n1,7\n2,NA\n3,8\n")
    assert load_dataset(path, "label", skip_unlabelled=True).y.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("cells", "options", "wanted"),
    [
        (["3,070", "1,234,567", "12"], {}, [3070, 1234567, 12]),
        (["3,070.5", "12", "-1,000"], {}, [3070.5, 12, -1000]),
        (["1.234.567", "3.070", "12"], {}, [1234567, 3070, 12]),
        (["1.234,5", "3.070", "12,25"], {"decimal": ","}, [1234.5, 3070, 12.25]),
        (["1 234 567", "12", "1"], {}, [1234567, 12, 1]),
    ],
)
def test_separated_thousands(write, cells, options, wanted):
    path = write("a;label\n" + "".join(f"{cell};{i % 2}\n" for i, cell in enumerate(cells)))
    dataset = load_dataset(path, "label", separator=";", **options)
    assert_array_equal(dataset.X[:, 0], wanted)
    assert "numbers with separated thousands" in dataset.notes[1]


@pytest.mark.parametrize(
    "text",
    [
        "a;b;label\n1;2;u\n3;4;v\n",
        "a\tb\tlabel\n1\t2\tu\n3\t4\tv\n",
        "a|b|label\n1|2|u\n3|4|v\n",
        "a,b,label\n1,2,u\n3,4,v\n",
        "a  b label\n 1 2   u\n3\t4 v \n",
    ],
)
def test_the_separator_of_a_txt_file_is_found(write, text):
    dataset = load_dataset(write(text, "data.txt"), "label")
    assert_array_equal(dataset.X, [[1, 2], [3, 4]])
    assert dataset.y.tolist() == ["u", "v"]


def test_row_names_as_r_writes_them(write):
    path = write('"a" "b" "label"\n"1" 1 2 "u"\n"2" 3 4 "v"\n', "data.txt")
    with pytest.warns(LeftOutWarning, match="'column1', numbers the rows"):
        dataset = load_dataset(path, "label")
    assert_array_equal(dataset.X, [[1, 2], [3, 4]])


def test_a_txt_file_may_be_anything(write):
    head = "@relation r\n@attribute a numeric\n@attribute label {u,v}\n@data\n1,u\n2,v\n"
    assert load_dataset(write(head, "data.txt")).y.tolist() == ["u", "v"]
    assert load_dataset(write("1 1:5 2:6\n0 1:7\n", "data.txt")).X.shape == (2, 2)


SMALL = {
    "_MEMORY_SHARE": 10**9,
    "MIN_BLOCK_BYTES": 64,
    "BATCH_BYTES": 0,
    "COLUMN_BYTES": 0,
    "_BLOCK_SHARE": 10**9,
}
HELD = {"MAX_BLOCK_BYTES": 64, "CELL_BYTES": 0}


@pytest.fixture(params=["memory", "cache"])
def read(request, write, tmp_path, monkeypatch):
    """Open a file in memory, or by way of the cache in blocks of a few lines."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # hundreds of small files
    is_held = request.param == "memory"
    for name, value in (SMALL | (HELD if is_held else {})).items():
        monkeypatch.setattr(text, name, value)

    def read(content, name="data.csv", **options):
        path = write(content, name)
        options = ReadOptions.make("read", {"format": path.suffixes[0][1:], **options})
        return text.open_text(path, options, None if is_held else MEMORY)

    return read


def plain(table, j):
    (column,) = table.source.read(np.array([j]))
    values = [None if value != value else value for value in column.tolist()]
    (part,) = table.source.read_rows(1, 3, np.array([j]))
    assert [None if value != value else value for value in part.tolist()] == values[1:3]
    return values


@pytest.mark.parametrize(
    ("content", "name", "options"),
    [
        ("a\tlabel\n1\tu\n2\tv\n", "data.tsv", {}),
        ("a\tlabel\n1\tu\n2\tv\n", "data.txt", {"format": "tsv"}),
        ("a;label\n1;u\n2;v\n", "data.csv", {"separator": ";"}),
        ('"a","label"\r\n1,"u"\r\n\r\n2,"v"\r\n', "data.csv", {}),
        ("a label\n1 u\n2 v\n", "data.csv", {"separator": " "}),
        (gzip.compress(b"a,label\n1,u\n2,v\n", mtime=0), "data.csv", {}),
        ('a,label\n1,"u, or\nso"\n2,v\n', "data.csv", {}),
        ('a, label\n1, "u, or\nso"\n  2, v\n', "data.csv", {}),
        ("a,label\r1,u\r2,v\r", "data.csv", {}),
        ("\n\n  \na,label\n1,u\n\n2,v\n\n\n", "data.csv", {}),
        ('a,label\n1,5" pipe\n2,v\n', "data.csv", {}),
        ('a label\n1 "u  v"\n2\t"v ""w"""\n', "data.txt", {}),
        ("a  label\n1 u\n 2\tv \n", "data.txt", {}),
        ("a;label\n1,0;u\n2,0;v\n", "data.csv", {"decimal": ","}),
        ("a,label\n1,é\n2,v\n".encode("utf-16"), "data.csv", {"encoding": "utf-16"}),
        ("a,label\n1,é\n2,v\n".encode("utf-16"), "data.csv", {"mark": True}),
        ("\ufeffa,label\n1,é\n2,v\n".encode("utf-16-be"), "data.csv", {"mark": True}),
        ("\ufeffa,label\n1,é\n2,v".encode("utf-16-le"), "data.csv", {"encoding": "utf-16-le"}),
        ("\ufeffa\tlabel\n1\té\n2\tv\n".encode("utf-16-be"), "data.tsv", {"mark": True}),
        ("a  label\n1 é\n2  v\n".encode("utf-16"), "data.txt", {"mark": True}),
        (
            gzip.compress("a,label\n1,é\n2,v\n".encode("utf-16"), mtime=0),
            "data.csv.gz",
            {"mark": True},
        ),
        ("a,label\n1,é\n2,v\n".encode("utf-32"), "data.csv", {"encoding": "utf-32"}),
        ("a,label\n1,é\n2,v\n".encode("latin-1"), "data.csv", {"encoding": "latin-1"}),
        (b"\xef\xbb\xbf1,u\n2,v\n", "data.csv", {"header": False}),
        (gzip.compress(b"a\tlabel\n1\tu\n2\tv\n", mtime=0), "data.tsv.gz", {}),
    ],
)
def test_dialects_in_blocks(read, content, name, options):
    is_marked = "mark" in options
    options = {key: value for key, value in options.items() if key != "mark"}
    table = read(content, name, **options)
    assert (table.names, plain(table, 0)) == (["a", "label"], [1, 2]) or "header" in options
    labels = {"so": "u, or\nso", "pipe": '5" pipe', "u  v": "u  v", "é": "é"}
    known = content if isinstance(content, str) else ""
    if "encoding" in options or is_marked:
        known = "é"
    first = next((label for part, label in labels.items() if part in known), "u")
    assert plain(table, 1) == [first, 'v "w"' if '""' in known else "v"]


def long_column(*parts):
    """Return a file with one column of interest whose parts are a few blocks long each."""
    cells = [cell for part in parts for cell in part for _ in range(12)]
    lines = [f"{i % 7},{x},{'uv'[i % 2]}\n" for i, x in enumerate(cells)]
    return "a,x,label\n" + "".join(lines)


COLUMNS = {  # cells in parts; type; distinct values; what is said of it as a feature
    "integers": ((["1", "-2"],), int, [1, -2], None),
    "integers, then floats": ((["1", "2"], ["2.5"]), float, [1, 2, 2.5], None),
    "integers, then missing": ((["1", "2"], ["", "NA"], ["3"]), float, [1, 2, None, 3], None),
    "nothing at all": (([""], ["NA"], ["?"]), float, [None], None),
    "nothing, then integers": (([""], ["1"]), float, [None, 1], None),
    "nothing, then words": (([""], ["red", "blue"]), str, [None, "red", "blue"], None),
    "numbers, then words": (
        (["1", "2.50", "007"], ["red"]),
        str,
        ["1", "2.50", "007", "red"],
        "mixes 12 words and 36 numbers: nominal",
    ),
    "words, then numbers": (
        (["red"], ["1", "007"]),
        str,
        ["red", "1", "007"],
        "mixes 12 words and 24 numbers: nominal",
    ),
    "few words among numbers": (
        (["1"] * 10, ["x"]),
        str,
        ["1", "x"],
        "first odd value is 'x' on line 122",
    ),
    "truth": ((["True", "false"], ["TRUE"]), bool, [True, False], None),
    "truth with gaps": ((["True"], [""], ["False", "NA"]), bool, [True, None, False], None),
    "truth, then words": ((["True"], ["maybe"]), str, ["True", "maybe"], None),
    "truth, then numbers": ((["True"], ["1"]), str, ["True", "1"], "mixes 12 words and 12 numbers"),
    "beyond 2**53": ((["1"], ["9007199254740993"]), int, [1, 2**53 + 1], "beyond 2"),
    "beyond 2**53 with gaps": (
        (["9007199254740993"], ["", "1"]),
        float,
        [2.0**53, None, 1],
        "beyond 2",
    ),
    "beyond 2**53, then floats": (
        (["9007199254740993"], ["1.5"]),
        float,
        [2.0**53, 1.5],
        "beyond 2",
    ),
    "beyond int64": ((["18446744073709551615"], ["3"]), float, [2.0**64, 3], "beyond 2"),
    "beyond uint64, behind a float": (
        (["1.5"], ["99999999999999999999999"]),
        float,
        [1.5, 1e23],
        "beyond 2",
    ),
    "infinite": ((["inf", "1"], ["-inf", "nan"]), float, [np.inf, 1, -np.inf, None], None),
    "extreme": (
        (["5e-324", "1.7976931348623157e308"], ["0.1", "1e400"]),
        float,
        [5e-324, 1.7976931348623157e308, 0.1, np.inf],
        None,
    ),
    "signs and blanks": (
        (["+1", " 2", "3 "], ["-0.5", "1e-3"]),
        float,
        [1, 2, 3, -0.5, 0.001],
        None,
    ),
    "decimal commas": ((['"1,5"'], ['"2"', '"3,25"']), str, ["1,5", "2", "3,25"], "decimal comma"),
    "thousands": ((['"1,234,567"'], ["12"], ['"3,070"']), int, [1234567, 12, 3070], None),
    "thousands and decimals": ((['"1,234.5"'], [""], ["7"]), float, [1234.5, None, 7], None),
    "thousands or decimals": (
        (['"1,234"'], ['"2,500"']),
        str,
        ["1,234", "2,500"],
        "pass thousands=','",
    ),
    "apostrophes": ((["1'234'567"], ["8"]), int, [1234567, 8], None),
    "hexadecimal": ((["2"], ["0x1F"]), str, ["2", "0x1F"], "mixes 12 words and 12 numbers"),
    "dates": ((["2024-01-31"], ["2024-02-01"]), str, ["2024-01-31", "2024-02-01"], None),
    "unsorted words": (
        (["b", "B", "é", "a b"], ["漢字", "Z"]),
        str,
        ["b", "B", "é", "a b", "漢字", "Z"],
        None,
    ),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(read, name):
    parts, kind, distinct, said = COLUMNS[name]
    table = read(long_column(*parts), target="label")
    assert list(dict.fromkeys(plain(table, 1))) == distinct
    (column,) = table.source.read(np.array([1]))
    if kind in (int, float):
        assert column.dtype == kind
    else:
        assert table.source.is_text[1]
        assert column.cat.categories.tolist() == sorted(x for x in distinct if x is not None)
        assert isinstance(column.cat.categories.tolist()[0], kind)
    assert bool(table.notes) == (name in ("thousands", "thousands and decimals", "apostrophes"))
    try:
        notes = " ".join(table.check_column(1))
    except (MaucError, MaucWarning) as error:
        notes = str(error)
    assert (said or "") in notes
    assert bool(notes) == bool(said)


@pytest.mark.parametrize(
    ("name", "options", "distinct"),
    [
        ("numbers, then words", {"categorical_features": ["x"]}, ["1", "2.50", "007", "red"]),
        ("integers", {"categorical_features": [1, "a"]}, ["1", "-2"]),
        ("truth with gaps", {"categorical_features": 1}, ["True", None, "False"]),
        (
            "truth with gaps",
            {"categorical_features": 1, "target": "x"},
            ["True", None, "False", "NA"],
        ),
        ("integers", {"missing": ["-2"]}, [1, None]),
        ("integers, then floats", {"missing": ["2.50"]}, [1, 2, None]),
        ("numbers, then words", {"missing": "red"}, [1, 2.5, 7, None]),
        ("thousands or decimals", {"thousands": ","}, [1234, 2500]),
        ("integers, then missing", {"target": "x"}, [1, 2, None, 3]),
        ("nothing, then words", {"target": "x", "missing": "blue"}, [None, "red"]),
        ("truth", {"target": "x"}, [True, False]),
    ],
)
def test_options_of_columns(read, name, options, distinct):
    table = read(long_column(*COLUMNS[name][0]), **options)
    assert list(dict.fromkeys(plain(table, 1))) == distinct


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,label\n" + "1,u\n" * 60 + "1,2,3,4\n", r"line 62: the row has 4 values, but line 1"),
        ("a,label\n" + "1,u\n" * 60 + "\n7\n", r"line 63: the row has 1 value, but line 1 has 2"),
        ("a,label\n" + "1,u\n" * 60 + '1,"u\n2,v\n', "ends inside a quoted value"),
        (b"a,label\n" + b"1,u\n" * 60 + b"2,\xff\n", r"byte 0xff at offset 250 \(line 62\)"),
        (b"a,label\n1,u\n2,\xe9\n", r"not UTF-8 text: byte 0xe9 at offset 14.*encoding='latin-1'"),
        (b"a,label\n1,u\n2,\xc3", r"at offset 14 \(line 3\)"),  # a character that is cut off
        (b"a,label\n" + b"1,u\n" * 60 + b"\xff,v\n", r"byte 0xff at offset 248 \(line 62\)"),
    ],
)
def test_errors_far_into_a_file(read, tmp_path, content, message):
    with pytest.raises(MaucError, match=message):
        read(content)
    assert not list(tmp_path.glob("cache/**/.*.part"))


def test_many_columns_with_late_words(read):
    late = "".join(f"{','.join('x' if j == i else '1' for j in range(9))},u\n" for i in range(9))
    table = read("a,b,c,d,e,f,g,h,i,label\n" + "1,2,3,4,5,6,7,8,9,v\n" * 30 + late)
    assert table.source.is_text.all()
    assert [plain(table, j)[30 + j] for j in range(9)] == ["x"] * 9


def test_threads_of_arrow_have_let_go_of_the_file(read, monkeypatch):
    wait, lent = text._wait_for_release, []
    monkeypatch.setattr(text, "_wait_for_release", lambda held: lent.append((wait(held), held)))
    read(long_column(*COLUMNS["numbers, then words"][0]))
    assert len(lent) > 2  # the types, and the rows until the first word and all of them
    assert all(held() is None for _, refs in lent for held in refs)


def test_rows_longer_than_a_block(read):
    table = read("a,label\n" + f"1,{'u' * 500}\n2,v\n" * 3)
    assert plain(table, 1) == ["u" * 500, "v"] * 3


@pytest.mark.parametrize("seed", range(6))
def test_memory_and_cache_agree_on_any_table(write, tmp_path, monkeypatch, seed):
    monkeypatch.setattr(text, "_MEMORY_SHARE", 10**9)
    rng = np.random.default_rng(seed)
    words = [cell for parts, *_ in COLUMNS.values() for part in parts for cell in part]
    cells = [rng.choice(rng.choice(words, rng.integers(1, 5)), 60).tolist() for _ in range(6)]
    for column in cells[::2]:
        column.sort()  # one kind of cells after the other
    lines = [",".join(row) + ",u" for row in zip(*cells, strict=True)]
    path = write("\n".join(["a,b,c,d,e,f,label", *lines]))
    options = ReadOptions(format="csv", target=["label", "c", None][seed % 3])
    whole = text.open_text(path, options, None)
    for name, value in SMALL.items():
        monkeypatch.setattr(text, name, value)
    cached = text.open_text(path, options, MEMORY)
    assert len(cached.source.row_parts()) > 5
    assert cached.notes == whole.notes
    for j in range(7):
        assert plain(cached, j) == plain(whole, j)


def test_complete_columns_need_not_be_read_to_judge_them(write, monkeypatch):
    monkeypatch.setattr(text, "_MEMORY_SHARE", 10**9)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(3000, 3)), columns=list("abc"))
    frame.loc[::7, "b"] = np.nan
    path = write(frame.assign(label=rng.integers(0, 2, 3000)).to_csv(index=False))
    table = text.open_text(path, ReadOptions(format="csv"), MEMORY)
    assert table.source.complete == {0, 2, 3}


def test_a_column_of_too_many_words_is_refused_when_it_is_read(write, tmp_path, monkeypatch):
    rows = "".join(f"{i},{'name' * 20}{i},{'uv'[i % 2]}\n" for i in range(3000))
    path = write("a,id,label\n" + rows)
    monkeypatch.setattr(text, "_MEMORY_SHARE", 100)
    source = text.open_text(path, ReadOptions(format="csv"), 600_000).source
    assert source.is_text.tolist() == [False, True, True]
    assert_array_equal(source.read(np.array([0]))[0], np.arange(3000))
    with pytest.raises(MaucError, match=r"column 'id' has more different texts.*drop='id'"):
        source.read(np.array([0, 1]))
    source = text.open_text(path, ReadOptions(format="csv"), 2_000_000).source  # enough now
    assert len(source.read(np.array([1]))[0].cat.categories) == 3000


def test_another_target_uses_the_same_columns(write, tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_MEMORY_SHARE", 10**9)
    path = write("a,b,c,d\n" + "1,2.5,u,NA\n2,,v,x\n" * 20)

    def column(j, **options):
        table = text.open_text(path, ReadOptions.make("x", {"format": "csv", **options}), MEMORY)
        return plain(table, j)[:2]

    assert column(3, target="a") == [None, "x"]
    assert column(3, target="d") == ["NA", "x"]  # a class, not a missing value
    assert len(list_caches()) == 1
    assert column(0, categorical_features="a") == ["1", "2"]
    assert column(0) == [1, 2]
    assert len(list_caches()) == 2
