"""Files that pandas reads, archives, heads of text files, columns by patterns, classes to keep."""

import bz2
import gzip
import lzma
import sqlite3
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from mauc import open_columns
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError, MaucWarning

FRAME = pd.DataFrame(
    {"a": [1.5, 2.0, np.nan, 4.0], "word": ["x", "y", "x", "?"], "label": ["u", "v", "u", "v"]}
)
TEXT = FRAME.to_csv(index=False)
RECORDS = {"orient": "records"}
URN = "urn:oasis:names:tc:opendocument:xmlns"
ODS = f"""<office:document-content xmlns:office="{URN}:office:1.0" xmlns:table="{URN}:table:1.0"
xmlns:text="{URN}:text:1.0"><office:body><office:spreadsheet><table:table table:name="one">ROWS
</table:table></office:spreadsheet></office:body></office:document-content>"""
MANIFEST = f"""<m:manifest xmlns:m="{URN}:manifest:1.0"><m:file-entry m:full-path="content.xml"
m:media-type="text/xml"/></m:manifest>"""


def write_sqlite(frame, path, table="t"):
    base = sqlite3.connect(path)
    frame.to_sql(table, base, index=False)
    base.close()


def write_ods(frame, path):
    pytest.importorskip("python_calamine")

    def cell(value):
        if value != value:
            return "<table:table-cell/>"
        kind = "string" if isinstance(value, str) else f'float" office:value="{value}'
        start = f'<table:table-cell office:value-type="{kind}">'
        return f"{start}<text:p>{value}</text:p></table:table-cell>"

    cells = [frame.columns, *frame.astype(object).to_numpy()]
    rows = [f"<table:table-row>{''.join(map(cell, row))}</table:table-row>" for row in cells]
    write_zip(
        path,
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "META-INF/manifest.xml": MANIFEST,
            "content.xml": ODS.replace("ROWS", "".join(rows)),
        },
    )


def write_zip(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def write_zst(path, content):
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as packed:
        packed.write(content)


WRITERS = {
    "json": lambda frame, path: frame.to_json(path, **RECORDS),
    "columns.json": lambda frame, path: frame.to_json(path),
    "split.json": lambda frame, path: frame.to_json(path, orient="split", index=False),
    "jsonl.gz": lambda frame, path: frame.to_json(path, **RECORDS, lines=True),
    "dta": lambda frame, path: frame.to_stata(path, write_index=False),
    "labels.dta": lambda frame, path: frame.astype({"label": "category"}).to_stata(
        path, write_index=False
    ),
    "sav": lambda *args: pytest.importorskip("pyreadstat").write_sav(*args),
    "xpt": lambda *args: pytest.importorskip("pyreadstat").write_xport(
        *args, file_format_version=5
    ),
    "sqlite": write_sqlite,
    "ods": write_ods,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_table(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    WRITERS[ending](FRAME, path)
    dataset = load_dataset(path, "label")
    assert_array_equal(dataset.X["a"], FRAME["a"])
    assert dataset.X["word"].tolist() == ["x", "y", "x", np.nan]
    assert dataset.y.tolist() == ["u", "v", "u", "v"]
    assert dataset.notes == ("1 number, 1 nominal",)
    assert_array_equal(load_dataset(path, "label", missing="2").X["a"], [1.5, np.nan, np.nan, 4])
    source, y = open_columns(path, "label", nominal="drop")
    assert_array_equal(source.read(np.array([0]))[0], FRAME["a"])
    assert_array_equal(y, dataset.y)


def test_labels_of_a_few_numbers_are_words_among_numbers(tmp_path):
    frame = pd.DataFrame({"age": [*range(30, 50), 99.0], "y": ["u", "v", "w"] * 7})
    pytest.importorskip("pyreadstat").write_sav(
        frame, tmp_path / "a.sav", variable_value_labels={"age": {99.0: "refused"}}
    )
    with pytest.raises(MaucError, match=r"first odd value is 'refused' on row 21.*missing='ref"):
        load_dataset(tmp_path / "a.sav", "y")
    assert load_dataset(tmp_path / "a.sav", "y", missing="refused", keep_ids=True).X[0] == 30


IN_ZIP = {"__MACOSX/._data.csv": "", "folder/data.csv": TEXT}
ARCHIVES = {
    "csv.gz": lambda path, content: path.write_bytes(gzip.compress(content)),
    "csv.bz2": lambda path, content: path.write_bytes(bz2.compress(content)),
    "csv.xz": lambda path, content: path.write_bytes(lzma.compress(content)),
    "csv.zst": write_zst,
    "csv.zip": lambda path, content: write_zip(path, IN_ZIP),
    "zip": lambda path, content: write_zip(path, IN_ZIP),
}


@pytest.mark.parametrize("ending", ARCHIVES)
def test_archives(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    ARCHIVES[ending](path, TEXT.encode())
    dataset = load_dataset(path, "label")
    assert (dataset.name, dataset.y.tolist()) == ("data", ["u", "v", "u", "v"])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(MaucError, match="data"):
        load_dataset(path, "label")


ROWS = b"a,label\n1,u\n"
SVM_ROW = r"line {}: a row 'label place:value place:value \.\.\.' with .* got '{}'"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"\x89PNG\r\n\x1a\n\0\0", "by its first bytes it is a PNG image"),
        ("a.csv", b"PAR1\x15\x04PAR1", "it is a Parquet file"),
        ("a.csv", b"a,\0b\0\n", "a binary file of an unknown kind"),
        ("a.csv", b"% no csv\n@relation r\n", "it is an ARFF file"),
        ("a.csv", b"<!DOCTYPE html><html>", "an HTML or XML page"),
        ("a.csv", ROWS.decode().encode("utf-32"), "is UTF-32 text; pass encoding='utf-32'"),
        ("a.csv.gz", ROWS, "is not a gzip archive: .* it is text"),
        ("a.csv.gz", gzip.compress(ROWS * 99, mtime=0)[:-9], "broken .gz archive"),
        ("a.csv.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("a.csv.bz2", ROWS, "is not a bzip2 archive"),
        ("a.sav.gz", b"a", "sav files are not read compressed"),
        ("a.dat", ROWS, r"extension '\.dat' is not a known format.*format='csv'"),
        ("a.arff", b"\x89PNG\r\n\x1a\n", "is not an ARFF file: .* a PNG image"),
        ("a.json", b"{no", r"is not a json file \(.*\): by its first bytes it is text"),
        ("a.json", b"[]", "is not a json file"),
        ("a.dta", ROWS, "is not a dta file .* it is text"),
        ("a.sav", ROWS, "is not a sav file"),
        ("a.xpt", ROWS, "is not a sas file"),
        ("a.sqlite", ROWS, "cannot be queried: .*file is not a database"),
        ("a.xlsx", ROWS, "is not an Excel workbook .* it is text"),
        ("a.xlsx", b"PK\x05\x06" + b"\0" * 18, "is not an Excel workbook"),
        ("a.parquet", ROWS, "is not a Parquet file: .* it is text"),
        ("a.parquet", b"PAR1 and nothing else", "cannot be read as a Parquet file"),
        ("a.parquet", b"", "is empty"),
        ("a.parquet.gz", b"PAR1", "parquet files are not read compressed"),
        ("a.feather", ROWS, r"is not a Feather \(Arrow IPC\) file: .* it is text"),
        ("a.feather", b"ARROW1\0\0 and nothing else", "cannot be read as a Feather"),
        ("a.feather", b"FEA1....", "by its first bytes it is a Feather file of version 1"),
        ("a.npz", ROWS, r"a\.npz is not an \.npz file"),
        ("a.npz", b"PK\x03\x04 broken", r"a\.npz is not an \.npz file"),
        ("a.npz", b"\x93NUMPY", r"a\.npz is not an \.npz file"),
        ("a.mat", b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF", r"version 7\.3 .*'-v7'"),
        ("a.mat", b"\x89HDF\r\n\x1a\n" + b"\0" * 200, r"version 7\.3"),
        ("a.mat", ROWS * 50, "is not a MATLAB file .* it is text"),
        ("a.mat", b"a", "is not a MATLAB file"),
        ("a.svm", b"1 1:2\n1 x:3\n", SVM_ROW.format(2, "1 x:3")),
        ("a.svm", b"1 1:2\nu 1:3\n", SVM_ROW.format(2, "u 1:3")),
        ("a.svm", b"a,b\n1,2\n", SVM_ROW.format(1, "a,b")),
        ("a.svm", b"1 2:1 1:2\n", "cannot be read as an svmlight file"),
        ("a.svm", b"# nothing\n", "has no rows"),
        ("a.svm", b"0.5 1:2\n1 1:3\n", r"y holds 0\.5 in row 1: labels are names or integers"),
    ],
)
def test_files_that_are_not_what_their_name_says(write, name, content, message):
    with pytest.raises(MaucError, match=message):
        load_dataset(write(content, name))


def test_archives_of_several_files_name_them(tmp_path):
    write_zip(tmp_path / "a.zip", {"train.csv": TEXT, "test.csv": TEXT})
    with pytest.raises(MaucError, match=r"of one file, got 2: train\.csv, test\.csv; extract"):
        load_dataset(tmp_path / "a.zip", "label")


def test_queries(tmp_path, write):
    path = tmp_path / "a.db"
    write_sqlite(FRAME, path)
    query = "SELECT a * 2 AS twice, label FROM t WHERE a IS NOT NULL"
    pytest.importorskip("sqlalchemy")
    for address in (path, f"sqlite:///{path}"):
        assert_array_equal(load_dataset(address, "label", sql=query).X, [[3], [4], [8]])
    write_sqlite(FRAME, tmp_path / "b.db", 'a "b" ; c')
    assert load_dataset(tmp_path / "b.db", "label").n_samples == len(FRAME.dropna(subset="label"))
    write_sqlite(FRAME, path, "second")
    with pytest.raises(MaucError, match=r"has 2 tables \(t, second\); .*sql='SELECT \* FROM t'"):
        load_dataset(path, "label")
    with pytest.raises(MaucError, match=r"cannot be queried: .*no such table: u"):
        load_dataset(path, "label", sql="SELECT * FROM u")
    with pytest.raises(MaucError, match=r"u:\*\*\*@/a\.db cannot be queried") as error:
        load_dataset("sqlite://u:secret@/a.db", "label", sql="SELECT 1")
    assert "secret" not in str(error.value)
    with pytest.raises(MaucError, match="sql goes with sql files, not with csv"):
        load_dataset(write(TEXT), "label", sql=query)


@pytest.mark.parametrize(
    ("package", "name"), [("pyreadstat", "a.sav"), ("sqlalchemy", "sqlite:///a.db")]
)
def test_the_extra_is_named(tmp_path, monkeypatch, package, name):
    (tmp_path / "a.sav").write_bytes(b"$FL2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MaucError, match=rf"need the package {package}: pip install 'mauc\["):
        load_dataset(name, "label", sql="SELECT 1" if "://" in name else None)


def test_memory_is_estimated_before_a_file_is_read_whole(write, monkeypatch):
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 5000)
    with pytest.raises(MaucError, match=r"json file, which are read at once, need 8 kB .*parquet"):
        load_dataset(write("[" + " " * 1000 + "]", "a.json"), "label")


CSV2 = '"a";"b";"label"\n1,5;7;"u"\n2,25;8;"v"\n-3;9;"u"\n'


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        ("a.csv", CSV2, "the separator ';' was found; the decimal comma was found"),
        ("a.csv", "Flowers, by hand\n" + CSV2, "a title row above the names left out: 'Flowers, b"),
        ("a.txt", CSV2.replace(";", " "), "the decimal comma was found"),
        ("a.tsv", CSV2.replace(";", "\t"), "the decimal comma was found"),
        ("a.csv", CSV2.replace(",", "."), "the separator ';' was found"),
        ("a.csv", "Flowers of 2020\n\na,b,label\n1.5,2,u\n3,4,v\n", "a title row"),
        ("a.csv", "Flowers of 2020,,\na,b,label\n1.5,2,u\n3,4,v\n", "a title row"),
        ("a.csv", "x, y\nby hand\na,b,c,label\n1.5,2,3,u\n3,4,5,v\n", "2 title rows"),
        ("a.csv", "a,b,label\n1.5,,u\n3,4,v\n", "2 numbers"),
        ("a.csv", "a,b,label\n1.5,2,u\n3,4,v\n5,6,v,7\n", "line 4: the row has 4 values"),
    ],
)
@pytest.mark.parametrize("memory", [None, 10**5])
def test_heads_of_text_files(write, name, text, note, memory):
    path = write(text, name)
    if "line" in note:
        with pytest.raises(MaucError, match=note):
            load_dataset(path, "label")
    elif memory is None:
        dataset = load_dataset(path, "label")
        assert note in "; ".join(dataset.notes)
        assert dataset.feature_names[:2] == ["a", "b"]
        assert dataset.X[0, 0] == 1.5
    else:
        source, _ = open_columns(path, "label", memory=memory)
        assert source.read(np.array([0]))[0][0] == 1.5


def test_skipped_rows_are_lines_of_the_file(write):
    path = write("x, y, z\n1,2\n\na,label\n1,u\n2,v\nmany,v\n")
    with pytest.raises(MaucError, match="'many' on line 7"):
        load_dataset(path, "label", skip_rows=2)
    assert load_dataset(path, "label", skip_rows="2", missing="many").X.shape[0] == 3


ORANGE = (
    "age\tsex\tname\tid\tiris\nc\td\ts\td\tA B\n\t\tmeta\tignore\tclass\n"
    "1\t0\tx\t1\tA\n2\t1\ty\t2\tB\n3\t0\tz\t3\tA\n"
)


@pytest.mark.parametrize(
    "text",
    [
        ORANGE,
        ORANGE.replace("c\td\ts\td\tA B", "continuous\tdiscrete\tstring\td\tdiscrete"),
        "C#age\tD#sex\tmS#name\ti#id\tcD#iris" + ORANGE[ORANGE.index("\n1\t") :],
    ],
)
def test_tables_of_orange(write, text):
    dataset = load_dataset(write(text, "a.tab"))
    assert (dataset.feature_names, dataset.target_name) == (["age", "sex"], "iris")
    assert dataset.nominal_features == ["sex"]
    assert dataset.y.tolist() == ["A", "B", "A"]
    with pytest.raises(MaucError, match=r"line [57]: the row has 2 values"):
        load_dataset(write(text + "1\t2\n", "a.tab"))


def test_letters_are_not_types_of_orange(write):
    path = write("a,b,label\nc,d,n\nc,i,m\ns,t,m\nd,c,n\n")
    assert len(load_dataset(path, "label").y) == 4


@pytest.mark.parametrize(
    ("drop", "kept"),
    [("Class*", ["a", "b"]), ("a,b", ["Class2"]), ("1,Class?", ["a"]), (["*2, a", "a"], ["b"])],
)
def test_columns_by_lists_and_patterns(write, drop, kept):
    path = write("a,b,Class,Class2\n1,2,u,3\n3,4,v,5\n")
    assert load_dataset(path, "Class", drop=drop).feature_names == kept
    with pytest.raises(MaucError, match=r"has no column 'Klass\*'"):
        load_dataset(path, "Class", drop="a,Klass*")
    path = write('a,"a,b",b,label\n1,2,3,u\n3,4,5,v\n')
    assert load_dataset(path, "label", drop="a,b").feature_names == ["a", "b"]


@pytest.mark.parametrize("text", ["9007199254740993", "99999999999999999999999"])
def test_one_value_beyond_float64_is_a_warning(write, text):
    path = write(f"a,label\n{text},u\n1,v\n")
    with pytest.warns(MaucWarning, match=f"column 'a' holds {text}, which is beyond 2"):
        assert load_dataset(path, "label").X[0, 0] == float(text)


KINDS = "AABBBCCCCDEF"


@pytest.fixture
def birds(write):
    return write("a,kind\n" + "".join(f"{j},{kind}\n" for j, kind in enumerate(KINDS)))


@pytest.mark.parametrize(
    ("options", "classes", "note"),
    [
        ({"min_class_size": 3}, "BC", "4 classes of 5 rows left out: A, D, E, F"),
        ({"merge": "D,E, F=X"}, "ABCX", "classes D,E, F taken as one, 'X'"),
        ({"classes": "A,C"}, "AC", "4 classes of 6 rows left out: B, D, E, F"),
        ({"classes": ["A", "X"], "merge": ["D,E=X"]}, "AX", "3 classes of 8 rows left out"),
        ({"merge": "A,D,E=A", "min_class_size": 2}, "ABC", "1 class of 1 row left out: F"),
        ({}, "ABCDEF", "no evidence, and 3 of 6 classes have one row: min_class_size=2"),
    ],
)
def test_classes_to_keep_and_to_merge(birds, options, classes, note):
    dataset = load_dataset(birds, "kind", keep_ids=True, **options)
    assert sorted(set(dataset.y.tolist())) == list(classes)
    assert note in "; ".join(dataset.notes)
    if "merge" not in options:
        assert "".join(KINDS[int(j)] for j in dataset.X[:, 0]) == "".join(dataset.y)
    source, y = open_columns(birds, "kind", **options)
    assert_array_equal(y, dataset.y)
    assert_array_equal(source.read(np.array([0]))[0], dataset.X[:, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": "A,b"}, "classes must be one of A, B, C, D, E, F, got 'b'; did you mean 'B'"),
        ({"merge": "A,B"}, "merge must be classes and a name, A,B=AB, got 'A,B'"),
        ({"min_class_size": 5}, "two classes of column 'kind' must be left, got 6 classes of 12"),
        ({"min_class_size": 0}, "min_class_size must be None or an int of at least 1, got 0"),
    ],
)
def test_classes_that_cannot_be_chosen(birds, options, message):
    with pytest.raises(MaucError, match=message):
        load_dataset(birds, "kind", **options)


def test_numbers_as_classes_stay_numbers_and_many_have_ways_out(write):
    path = write("a,y\n" + "".join(f"{j},{min(j, 40)}\n" for j in range(60)))
    merge = [f"{','.join(map(str, range(19)))}=-1", f"{','.join(map(str, range(19, 40)))}=9"]
    kept = {"target": "y", "keep_ids": True}
    assert sorted(set(load_dataset(path, **kept, merge=merge).y.tolist())) == [-1, 9, 40]
    ways = r"many_classes=True. 40 of 41 classes have .*: min_class_size=2 .*='A,B=AB'"
    with pytest.raises(MaucError, match=ways):
        load_dataset(path, **kept)
