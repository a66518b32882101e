"""CSV and TSV files; a bad file gets an error that names file, line or column, and the way out."""

import gzip

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import load_dataset, read_csv
from mauc.exceptions import LeftOutWarning, MaucError


@pytest.fixture
def write(tmp_path):
    def write(text, name="data.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


def test_numbers_names_and_labels(write):
    dataset = load_dataset(write("a,label,b\n1,u,2.5\n2,v,3\n"), "label")
    assert_array_equal(dataset.X, [[1, 2.5], [2, 3]])
    assert dataset.feature_names == ["a", "b"]
    assert dataset.y.tolist() == ["u", "v"]
    assert (dataset.name, dataset.target_name) == ("data", "label")


def test_missing_values_stay_missing(write):
    dataset = read_csv(write("a,label,b\n1,u,?\n,v,NA\nNaN,v,3\n"), "label")
    assert_array_equal(dataset.X, [[1, np.nan], [np.nan, np.nan], [np.nan, 3]])


def test_further_texts_for_missing_values(write):
    path = write("a,label\n1,u\n-,v\n3,v\n")
    assert_array_equal(load_dataset(path, "label", missing="-").X, [[1], [np.nan], [3]])


def test_numbers_keep_their_last_bit(write, rng):
    values = rng.normal(size=200) * 10.0 ** rng.integers(-200, 200, 200)
    path = write("a,label\n" + "".join(f"{value!r},u\n" for value in values.tolist()))
    assert_array_equal(load_dataset(path, "label").X[:, 0], values)


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("a\tlabel\n1\tu\n2\tv\n", "data.tsv", {}),
        ("a\tlabel\n1\tu\n2\tv\n", "data.txt", {"format": "tsv"}),
        ("a;label\n1;u\n2;v\n", "data.csv", {"separator": ";"}),
        ("a;label\n1,0;u\n2,0;v\n", "data.csv", {"separator": ";", "decimal": ","}),
        ('"a","label"\r\n1,"u"\r\n\r\n2,"v"\r\n', "data.csv", {}),
        ('a, "label"\n1, "u"\n  2, v\n', "data.csv", {}),
        ("a label\n1 u\n2 v\n", "data.csv", {"separator": " "}),
        (gzip.compress(b"a,label\n1,u\n2,v\n", mtime=0), "data.csv.gz", {}),
        (gzip.compress(b"a\tlabel\n1\tu\n2\tv\n", mtime=0), "data.tsv.gz", {}),
        (gzip.compress(b"a,label\n1,u\n2,v\n", mtime=0), "data.csv", {}),
        (b"\xef\xbb\xbfa,label\n1,u\n2,v\n", "data.csv", {}),
        ("a,label\n1,u\n2,v\n".encode("utf-16"), "data.csv", {"encoding": "utf-16"}),
    ],
)
def test_dialects(write, text, name, options):
    dataset = load_dataset(write(text, name), "label", **options)
    assert_array_equal(dataset.X, [[1], [2]])
    assert dataset.feature_names == ["a"]
    assert dataset.y.tolist() == ["u", "v"]
    assert dataset.name == "data"


def test_another_encoding(write):
    path = write("a,Gr\xf6\xdfe\n1,\xe9\n", encoding="latin-1")
    dataset = load_dataset(path, "Gr\xf6\xdfe", encoding="latin-1")
    assert dataset.y.tolist() == ["\xe9"]


def test_without_header_the_last_column_is_the_target(write):
    dataset = load_dataset(write("1,2,u\n3,4,v\n"), header=False)
    assert_array_equal(dataset.X, [[1, 2], [3, 4]])
    assert dataset.feature_names == ["x0", "x1"]
    assert dataset.y.tolist() == ["u", "v"]


@pytest.mark.parametrize("target", ["label", 0, -3, "0", "-3"])
def test_the_target_goes_by_name_or_number(write, target):
    dataset = load_dataset(write("label,a,b\n7,1,2\n8,3,4\n"), target)
    assert dataset.y.tolist() == [7, 8]
    assert dataset.feature_names == ["a", "b"]


def test_text_categories_and_truth_values_are_nominal(write):
    path = write("color,is_big,size,label\nred,True,1,u\n?,False,2,v\nblue,True,3,u\n")
    dataset = load_dataset(path, "label")
    assert dataset.nominal_features == ["color", "is_big"]
    assert dataset.categories == {"color": ("blue", "red"), "is_big": (False, True)}
    assert dataset.X["color"].isna().tolist() == [False, True, False]
    assert isinstance(dataset.X["color"].dtype, pd.CategoricalDtype)


def test_numbers_can_be_nominal(write):
    dataset = load_dataset(
        write("code,size,label\n01,1,u\n1,2,v\nx,3,u\n"), "label", categorical_features="code"
    )
    assert dataset.categories == {"code": ("01", "1", "x")}


@pytest.mark.parametrize("column", ["code", 1, -2, "1", np.int64(1)])
def test_nominal_columns_by_number_are_read_as_by_name(write, column):
    path = write("size,code,label\n1,007,u\n2,7,v\n3,08,u\n4,8,v\n")
    dataset = load_dataset(path, "label", categorical_features=[column])
    assert dataset.categories["code"] == ("007", "08", "7", "8")


def test_columns_can_be_left_out(write):
    path = write("id,a,b,label\nq,1,2,u\nr,3,4,v\n")
    assert load_dataset(path, "label", drop=["id", 1]).feature_names == ["b"]


def test_labels_of_any_number_of_digits(write):
    dataset = load_dataset(write("a,label\n1,9007199254740993\n2,9007199254740995\n"), "label")
    assert dataset.y.tolist() == [2**53 + 1, 2**53 + 3]


def test_labels_may_mix_numbers_and_text(write):
    assert load_dataset(write("a,label\n1,1\n2,x\n"), "label").y.tolist() == ["1", "x"]


def test_a_quoted_cell_may_hold_separators_and_line_ends(write):
    path = write('a,label\n1,"u, or\nso"\n2,v\n')
    assert load_dataset(path, "label").y.tolist() == ["u, or\nso", "v"]


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
        ('a,label\n1,"u\n2,v\n', r"cannot be read as rows and columns: it ends inside a quoted value"),
        ("a,b\n1,2\n", r"has no column 'label'\. Its columns: a, b"),
        ("a,Labels\n1,2\n", "has no column 'label'; did you mean 'Labels'"),
        ("5.1,3.5,x\n4,3,y\n", r"first line holds data and not names, pass header=False"),
        ("a;label\n1;u\n", r"single column when split at ','.*has ';' in it; pass separator=';'"),
        ("a\tlabel\n1\tu\n", "has tabs in it; pass format='tsv'"),
        ("a|label\n1|u\n", r"pass separator='\|'"),
        ("a,a,label\n1,2,u\n", "columns 1 and 2 both have the name 'a'"),
        (
            "a,label\n1,u\n2,v\nlots,u\n",
            r"column 'a' mixes 2 numbers and 1 texts; the first odd value is 'lots' on line 4\. .*"
            "missing='lots'.*categorical_features='a'",
        ),
        ("a,label\nx,u\ny,v\n\n3,u\n", "the first odd value is '3' on line 5"),
        ("a;label\n1;u\n", "pass separator"),
        ("id,label\n9007199254740993,u\n1,v\n", r"column 'id' .* beyond 2\*\*53.*drop='id'"),
        ("id,label\n9007199254740993,u\n,v\n", r"column 'id' .* 9007199254740993"),
        ("id,label\n99999999999999999999999,u\n1,v\n", r"column 'id' .* beyond 2\*\*53"),
    ],
)
def test_bad_files(write, text, message):
    path = write(text)
    with pytest.raises(MaucError, match=message) as caught:
        load_dataset(path, "label")
    assert str(path) in str(caught.value)


def test_large_floats_are_no_integers(write):
    assert load_dataset(write("a,label\n1e300,u\n-1e20,v\n"), "label").X.max() == 1e300


def test_a_column_without_a_name_that_is_no_row_number_is_a_feature(write):
    dataset = load_dataset(write(",a,label\n4,5,u\n1,6,v\n"), "label")
    assert dataset.feature_names == ["column1", "a"]


def test_a_decimal_comma_is_told(write):
    path = write("a;label\n1,5;u\n2;v\n")
    with pytest.raises(MaucError, match=r"decimal comma, such as '1,5'; pass decimal=','"):
        load_dataset(path, "label", separator=";")


def test_a_wrong_byte_is_named_by_its_offset(write):
    path = write(b"a,label\n1,u\n2,\xe9\n")
    with pytest.raises(
        MaucError, match=r"not UTF-8 text: byte 0xe9 at offset 14 \(line 3\).*encoding='latin-1'"
    ):
        load_dataset(path, "label")


def test_a_wrong_byte_far_into_the_file(write):
    head = b"a,label\n" + b"1,u\n" * 300_000
    path = write(head + b"2,\xff\n")
    with pytest.raises(MaucError, match=rf"byte 0xff at offset {len(head) + 2} \(line 300002\)"):
        load_dataset(path, "label")


def test_a_character_cut_off_at_the_end(write):
    path = write(b"a,label\n1,u\n2,\xc3")
    with pytest.raises(MaucError, match=r"at offset 14 \(line 3\)"):
        load_dataset(path, "label")


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "data.csv", "by its first bytes it is a PNG image"),
        (b"PAR1\x15\x04PAR1", "data.csv", "it is a Parquet file"),
        (b"a,\0b\0\n", "data.csv", "a binary file of an unknown kind"),
        (b"% no csv\n@relation r\n", "data.csv", "it is an ARFF file"),
        (b"<!DOCTYPE html><html>", "data.csv", "an HTML or XML page"),
        ("a,label\n1,u\n".encode("utf-16"), "data.csv", "pass encoding='utf-16'"),
        (b"a,label\n1,u\n", "data.csv.gz", "is not a gzip archive: .* it is text"),
        (gzip.compress(b"a,label\n1,u\n" * 99, mtime=0)[:-9], "data.csv.gz", "broken gzip archive"),
        (gzip.compress(b"", mtime=0), "data.csv.gz", "is empty"),
    ],
)
def test_files_that_are_not_what_their_name_says(write, content, name, message):
    with pytest.raises(MaucError, match=message):
        load_dataset(write(content, name), "label")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": None}, r"needs target: the name or number of .* Its columns: a, b, label"),
        ({"target": 3}, r"target as a column number must be in \[-3, 2\], got 3"),
        ({"drop": "c"}, r"has no column 'c'\. Its columns"),
        ({"drop": "label"}, "drop has 'label', which is the target"),
        ({"categorical_features": "bb"}, "no column 'bb'; did you mean 'b'"),
        ({"encoding": "none"}, "encoding must be one that Python knows"),
        ({"separator": ",,"}, "separator must be one character of ASCII, or 'whitespace'.* got ',,'"),
        ({"decimal": ",", "separator": ","}, "separator and decimal must differ"),
        ({"thousands": "."}, "decimal and thousands must differ.*pass decimal=','"),
        ({"thousands": ".."}, "thousands must be one character"),
        ({"sheet": "one"}, "sheet goes with txt, xlsx files, not with csv"),
        ({"format": "xls"}, "format must be one of 'arff', 'csv'"),
        ({"nominal": "maybe"}, "nominal must be one of 'keep', 'ordinal', 'onehot', 'drop', got"),
        ({"target": "b"}, r"column 'b' holds 2\.5 in line 2: labels are names or integers"),
    ],
)
def test_wrong_options(write, options, message):
    path = write("a,b,label\n1,2.5,u\n3,4,v\n")
    with pytest.raises(MaucError, match=message):
        load_dataset(path, **{"target": "label", **options})


def test_an_extension_that_tells_nothing(write):
    with pytest.raises(MaucError, match=r"extension '\.dat' is not a known format.*format='csv'"):
        load_dataset(write("a,label\n1,u\n", "data.dat"), "label")


def test_an_option_of_another_format(write):
    with pytest.raises(MaucError, match="separator goes with csv, tsv, txt files, not with arff"):
        load_dataset(write("@relation r\n", "data.arff"), separator=";")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(MaucError, match="has no file: a file, or a folder or pattern"):
        load_dataset(tmp_path, "label")


def test_a_class_may_be_called_na(write):
    path = write("a,label\n1,EU\n2,NA\n3,NA\nNA,EU\n")
    dataset = load_dataset(path, "label")
    assert dataset.y.tolist() == ["EU", "NA", "NA", "EU"]
    assert np.isnan(dataset.X[3, 0])
    assert "'NA' is a class; missing='NA' makes it a missing label" in dataset.notes
    with pytest.raises(MaucError, match=r"no label in line 3 \(2 rows have none\)"):
        load_dataset(path, "label", missing="NA")


def test_rows_without_a_label_are_skipped_and_counted(write):
    path = write("a,c,label\n1,x,u\n2,y,\n3,x,?\n4,y,v\n")
    dataset = load_dataset(path, "label", skip_unlabelled=True)
    assert dataset.X["a"].tolist() == [1, 4]
    assert dataset.y.tolist() == ["u", "v"]
    assert dataset.notes == ("1 number, 1 nominal", "2 rows without a label left out")
    with pytest.raises(MaucError, match="has no label in any row"):
        load_dataset(write("a,label\n1,\n2,\n"), "label", skip_unlabelled=True)


def test_numbers_among_skipped_labels_stay_integers(write):
    path = write("a,label\n1,7\n2,NA\n3,8\n")
    assert load_dataset(path, "label", skip_unlabelled=True).y.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("cells", "options", "wanted"),
    [
        (["3,070", "1,234,567", "12"], {}, [3070, 1234567, 12]),
        (["3,070.5", "12", "-1,000"], {}, [3070.5, 12, -1000]),
        (["3,070", "8,120", "12"], {"thousands": ","}, [3070, 8120, 12]),
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


def test_a_comma_that_may_be_either_is_asked_about(write):
    path = write('a,label\n"3,070",u\n"8,120",v\n')
    with pytest.raises(MaucError, match=r"'3,070': pass thousands=',' .* decimal=','"):
        load_dataset(path, "label")
    with pytest.raises(MaucError, match="decimal comma, such as '3,07'"):
        load_dataset(write('a,label\n"3,07",u\n"8,120",v\n'), "label", thousands=",")


@pytest.mark.parametrize(
    "text",
    ["a;b;label\n1;2;u\n3;4;v\n", "a\tb\tlabel\n1\t2\tu\n3\t4\tv\n", "a|b|label\n1|2|u\n3|4|v\n",
     "a,b,label\n1,2,u\n3,4,v\n", "a  b label\n 1 2   u\n3\t4 v \n"],
)  # fmt: skip
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


def test_many_words_among_numbers_make_a_nominal_column(write):
    cells = ["A/5 21171", "PC 17599"] + [
        str(n) for n in (113803, 373450, 330877, 17463, 1, 1, 2, 2)
    ]
    path = write("t,label\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells)))
    dataset = load_dataset(path, "label")
    assert dataset.nominal_features == ["t"]
    assert dataset.notes == ("1 nominal", "column 't' mixes 2 words and 8 numbers: nominal")


def test_a_decimal_comma_goes_with_semicolons(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a;b;label\n1,5;2;x\n2,5;3;y\n")
    dataset = load_dataset(path, "label", decimal=",", keep_ids=True)
    assert dataset.X.tolist() == [[1.5, 2.0], [2.5, 3.0]]
