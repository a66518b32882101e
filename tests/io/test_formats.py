"""Files that pandas reads, archives of them, heads of text files, and columns by patterns."""

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

FRAME = pd.DataFrame({"a": [1.5, 2.0, np.nan, 4.0], "word": ["x", "y", "x", "?"],
                      "label": ["u", "v", "u", "v"]})  # fmt: skip
TEXT = FRAME.to_csv(index=False)
ODS = """<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>
<table:table table:name="one">{}</table:table>
</office:spreadsheet></office:body></office:document-content>"""

MANIFEST = """<manifest:manifest
xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry
manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>"""


def write_sqlite(frame, path):
    with sqlite3.connect(path) as base:
        frame.to_sql("t", base, index=False)
    base.close()


def write_ods(frame, path):
    cells = [list(frame.columns), *frame.astype(object).to_numpy().tolist()]
    kinds = {str: 'office:value-type="string"', float: 'office:value-type="float"'}
    rows = ""
    for row in cells:
        rows += "<table:table-row>"
        for cell in row:
            value = f' office:value="{cell}"' if isinstance(cell, float) else ""
            rows += (
                "<table:table-cell/>" if cell != cell else
                f"<table:table-cell {kinds[type(cell)]}{value}><text:p>{cell}</text:p>"
                "</table:table-cell>"
            )  # fmt: skip
        rows += "</table:table-row>"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("content.xml", ODS.format(rows))


def write_sav(frame, path):
    pytest.importorskip("pyreadstat").write_sav(frame, path)


def write_xpt(frame, path):
    pytest.importorskip("pyreadstat").write_xport(frame, path, file_format_version=5)


WRITERS = {
    "json": lambda frame, path: frame.to_json(path, orient="records"),
    "columns.json": lambda frame, path: frame.to_json(path),
    "split.json": lambda frame, path: frame.to_json(path, orient="split", index=False),
    "lines.json": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "jsonl.gz": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "dta": lambda frame, path: frame.to_stata(path, write_index=False),
    "labels.dta": lambda frame, path: frame.astype({"label": "category"}).to_stata(
        path, write_index=False
    ),
    "sav": write_sav, "xpt": write_xpt, "sqlite": write_sqlite, "ods": write_ods,
    "db": write_sqlite, "xlsx": lambda frame, path: frame.to_excel(path, index=False),
}  # fmt: skip


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
    assert source.shape == (4, 1)
    assert_array_equal(y, dataset.y)


def write_zip(content, path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("__MACOSX/._data.csv", b"")
        archive.writestr("folder/data.csv", content)


def write_zst(content, path):
    with pa.OSFile(str(path), "wb") as file, pa.CompressedOutputStream(file, "zstd") as packed:
        packed.write(content)


ARCHIVES = {
    "csv.gz": lambda content, path: path.write_bytes(gzip.compress(content)),
    "csv.bz2": lambda content, path: path.write_bytes(bz2.compress(content)),
    "csv.xz": lambda content, path: path.write_bytes(lzma.compress(content)),
    "csv.zst": write_zst, "csv.zip": write_zip, "zip": write_zip,
}  # fmt: skip


@pytest.mark.parametrize("ending", ARCHIVES)
def test_archives(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    ARCHIVES[ending](TEXT.encode(), path)
    dataset = load_dataset(path, "label")
    assert (dataset.name, dataset.y.tolist()) == ("data", ["u", "v", "u", "v"])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(MaucError, match="data"):
        load_dataset(path, "label")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"{no", r"is not a json file \(.*\): by its first bytes it is text"),
        ("a.json", b"[1, 2]", "has no column 'label'"),
        ("a.json", b"[]", "is not a json file"),
        ("a.dta", b"a,label\n1,u\n", "is not a dta file .* it is text"),
        ("a.sav", b"a,label\n1,u\n", "is not a sav file"),
        ("a.xpt", b"a,label\n1,u\n", "is not a sas file"),
        ("a.sqlite", b"a,label\n1,u\n", "cannot be queried: .*file is not a database"),
        ("a.csv.bz2", b"a,label\n1,u\n", "is not a bzip2 archive"),
        ("a.sav.gz", b"a", "sav files are not read compressed"),
    ],
)
def test_files_of_another_kind(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MaucError, match=message):
        load_dataset(tmp_path / name, "label")


def test_archives_of_several_files_name_them(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("train.csv", TEXT)
        archive.writestr("test.csv", TEXT)
    with pytest.raises(MaucError, match=r"of one file, got 2: train\.csv, test\.csv; extract"):
        load_dataset(tmp_path / "a.zip", "label")


def test_queries(tmp_path):
    path = tmp_path / "a.db"
    write_sqlite(FRAME, path)
    query = "SELECT a * 2 AS twice, label FROM t WHERE a IS NOT NULL"
    for address in (path, f"sqlite:///{path}"):
        assert_array_equal(load_dataset(address, "label", sql=query).X, [[3], [4], [8]])
    with sqlite3.connect(path) as base:
        FRAME.to_sql("second", base, index=False)
    base.close()
    with pytest.raises(MaucError, match=r"has 2 tables \(t, second\); .*sql='SELECT \* FROM t'"):
        load_dataset(path, "label")
    with pytest.raises(MaucError, match="cannot be queried: .*no such table: u"):
        load_dataset(path, "label", sql="SELECT * FROM u")
    (tmp_path / "a.csv").write_text(TEXT)
    with pytest.raises(MaucError, match="sql goes with sql files, not with csv"):
        load_dataset(tmp_path / "a.csv", "label", sql=query)


@pytest.mark.parametrize(
    ("package", "name"), [("pyreadstat", "a.sav"), ("sqlalchemy", "sqlite:///a.db")]
)
def test_the_extra_is_named(tmp_path, monkeypatch, package, name):
    (tmp_path / "a.sav").write_bytes(b"$FL2")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MaucError, match=rf"need the package {package}: pip install 'mauc\["):
        load_dataset(name, "label", sql="SELECT 1" if "://" in name else None)


def test_memory_is_estimated_before_a_file_is_read_whole(tmp_path, monkeypatch):
    (tmp_path / "a.json").write_text("[" + " " * 1000 + "]")
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 5000)
    with pytest.raises(MaucError, match=r"json file, which are read at once, need 6 kB .*parquet"):
        load_dataset(tmp_path / "a.json", "label")


CSV2 = '"a";"b";"label"\n1,5;7;"u"\n2,25;8;"v"\n-3;9;"u"\n'


@pytest.mark.parametrize(
    ("name", "text", "first", "note"),
    [
        ("a.csv", CSV2, 1.5, "the separator ';' was found; the decimal comma was found"),
        ("a.txt", CSV2.replace(";", " "), 1.5, "the decimal comma was found"),
        ("a.tsv", CSV2.replace(";", "\t"), 1.5, "the decimal comma was found"),
        ("a.csv", CSV2.replace(",", "."), 1.5, "the separator ';' was found"),
        ("a.csv", "Flowers of 2020\n\na,b,label\n1,2,u\n3,4,v\n", 1, "a title row"),
        ("a.csv", "Flowers, 2020\nby hand\na;b;label\n1;2;u\n3;4;v\n", 1, "2 title rows"),
        ("a.csv", "Flowers of 2020,,\na,b,label\n1,2,u\n3,4,v\n", 1, "a title row"),
        ("a.csv", "a,b,label\n1,,u\nx,y,v\n"[:-6] + "3,4,v\n", 1, None),
    ],
)
@pytest.mark.parametrize("memory", [None, 10**5])
def test_heads_of_text_files(tmp_path, cache, name, text, first, note, memory):
    (tmp_path / name).write_text(text)
    if memory is None:
        dataset = load_dataset(tmp_path / name, "label")
        assert (note or "2 numbers") in "; ".join(dataset.notes[1:] if note else dataset.notes)
        assert dataset.feature_names == ["a", "b"]
        assert dataset.X[0, 0] == first
    else:
        source, _ = open_columns(tmp_path / name, "label", memory=memory)
        assert source.read(np.array([0]))[0][0] == first


def test_skipped_rows_are_lines_of_the_file(tmp_path):
    (tmp_path / "a.csv").write_text("x, y, z\n1,2\n\na,label\n1,u\n2,v\nmany,v\n")
    with pytest.raises(MaucError, match="'many' on line 7"):
        load_dataset(tmp_path / "a.csv", "label", skip_rows=2)
    assert load_dataset(tmp_path / "a.csv", "label", skip_rows=2, missing="many").X.shape == (3, 1)


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
def test_tables_of_orange(tmp_path, text):
    (tmp_path / "a.tab").write_text(text)
    dataset = load_dataset(tmp_path / "a.tab")
    assert (dataset.feature_names, dataset.target_name) == (["age", "sex"], "iris")
    assert dataset.nominal_features == ["sex"]
    assert dataset.y.tolist() == ["A", "B", "A"]
    with pytest.raises(MaucError, match="line [57]"):
        (tmp_path / "a.tab").write_text(text + "1\t2\n")
        load_dataset(tmp_path / "a.tab")


@pytest.mark.parametrize(
    ("drop", "kept"),
    [
        ("Class*", ["a", "b"]), ("a,b", ["Class2"]), (["a,b", "Class2"], None),
        ("1,Class?", ["a"]), ("*2, a", ["b"]),
    ],
)  # fmt: skip
def test_columns_by_lists_and_patterns(tmp_path, drop, kept):
    (tmp_path / "a.csv").write_text("a,b,Class,Class2\n1,2,u,3\n3,4,v,5\n")
    if kept is None:
        with pytest.raises(MaucError, match="no column left"):
            load_dataset(tmp_path / "a.csv", "Class", drop=drop)
        return
    assert load_dataset(tmp_path / "a.csv", "Class", drop=drop).feature_names == kept
    with pytest.raises(MaucError, match=r"has no column 'Klass\*'"):
        load_dataset(tmp_path / "a.csv", "Class", drop="a,Klass*")
    (tmp_path / "a.csv").write_text('a,"a,b",b,label\n1,2,3,u\n3,4,5,v\n')
    assert load_dataset(tmp_path / "a.csv", "label", drop="a,b").feature_names == ["a", "b"]


@pytest.mark.parametrize("text", ["9007199254740993", "99999999999999999999999", '"9.5"\n1e999'])
def test_one_value_beyond_float64_is_a_warning(tmp_path, text):
    rows = "".join(f"{value},u\n{j},v\n" for j, value in enumerate(text.splitlines()))
    (tmp_path / "a.csv").write_text("a,label\n" + rows)
    if "." in text:
        load_dataset(tmp_path / "a.csv", "label")
        return
    with pytest.warns(MaucWarning, match=f"column 'a' holds {text}, which is beyond 2"):
        assert load_dataset(tmp_path / "a.csv", "label").X[0, 0] == float(text)


BIRDS = "a,kind\n" + "".join(f"{j},{kind}\n" for j, kind in enumerate("AABBBCCCCDEF"))


@pytest.mark.parametrize(
    ("options", "classes", "note"),
    [
        ({"min_class_size": 3}, "BC", "4 classes of 5 rows left out: A, D, E, F"),
        ({"merge": "D,E, F=X"}, "ABCX", "classes D,E, F taken as one, 'X'"),
        ({"classes": "A,C"}, "AC", "4 classes of 6 rows left out: B, D, E, F"),
        ({"classes": ["A", "X"], "merge": ["D,E=X"]}, "AX", "3 classes of 8 rows left out"),
        ({"merge": "A,D=A", "min_class_size": 3}, "ABC", "2 classes of 2 rows left out: E, F"),
        ({}, "ABCDEF", "single row are no evidence: min_class_size=2 leaves out the 3 of 6"),
    ],
)
def test_classes_to_keep_and_to_merge(tmp_path, options, classes, note):
    (tmp_path / "a.csv").write_text(BIRDS)
    dataset = load_dataset(tmp_path / "a.csv", "kind", keep_ids=True, **options)
    assert sorted(set(dataset.y.tolist())) == list(classes)
    assert note in "; ".join(dataset.notes)
    assert len(dataset.X) == len(dataset.y)
    rows = [j for j, kind in enumerate("AABBBCCCCDEF") if kind in classes or "merge" in options]
    if "merge" not in options:
        assert dataset.X[:, 0].tolist() == rows
    source, y = open_columns(tmp_path / "a.csv", "kind", **options)
    assert_array_equal(y, dataset.y)
    assert_array_equal(source.read(np.array([0]))[0], dataset.X[:, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"classes": "A,b"}, "classes must be one of A, B, C, D, E, F, got 'b'; did you mean 'B'"),
        ({"merge": "A,B"}, "merge must be classes and a name, A,B=AB, got 'A,B'"),
        (
            {"min_class_size": 5},
            r"two classes of column 'kind' must be left, got 6 classes of 12 rows left out",
        ),
        ({"min_class_size": 0}, "min_class_size must be None or an int of at least 1, got 0"),
    ],
)
def test_classes_that_cannot_be_chosen(tmp_path, options, message):
    (tmp_path / "a.csv").write_text(BIRDS)
    with pytest.raises(MaucError, match=message):
        load_dataset(tmp_path / "a.csv", "kind", **options)


def test_numbers_as_classes_stay_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n" + "".join(f"{j},{j % 4}\n" for j in range(12)))
    kept = {"target": "y", "keep_ids": True}
    assert load_dataset(tmp_path / "a.csv", **kept, merge="2,3=9").y.tolist()[:4] == [0, 1, 9, 9]
    assert load_dataset(tmp_path / "a.csv", **kept, merge="2,3=x").y.tolist()[:4] == list("01xx")
    message = r"many_classes=True; min_class_size=2 leaves out the 40 of 41 .*='A,B=AB'"
    (tmp_path / "b.csv").write_text("a,y\n" + "".join(f"{j},{min(j, 40)}\n" for j in range(60)))
    with pytest.raises(MaucError, match=message):
        load_dataset(tmp_path / "b.csv", "y")
