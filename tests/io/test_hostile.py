"""Texts and archives that are made to fill the memory or to take forever: limits, and their errors.

More of them, in processes with limits of time and memory, are in tests/fuzz.
"""

import gzip
import json
import time
from contextlib import suppress

import numpy as np
import pytest

from mauc import open_columns
from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from mauc.io import files, text
from mauc.io.files import content_size
from tests.fuzz.hostile import FILES, arguments

ROWS = "0 1:1 2:3\n1 1:2 2:1\n0 1:3\n1 2:4\n"


def write(name, folder):
    FILES[name](folder / name)
    return folder / name


def load(path):
    return load_dataset(path, -1 if arguments(path) else None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bomb-rows.csv.gz", "over 100 times its size"),
        ("bomb-ones.csv.zst", "over 100 times"),
        ("bomb-rows.tsv.zip", "over 100 times"),
        ("bomb-list.json.xz", "over 100 times"),
        ("bomb-rows.arff.gz", "over 100 times"),
        ("bomb-rows.svm.gz", "over 100 times"),
        ("bomb-zeros.dta.xz", "over 100 times"),
        ("rows.xlsx", "over 100 times"),
        ("zeros.npz", "over 100 times"),
        ("count.xlsx", "claims to have more"),
        ("columns-1000000-one.csv", "at most 150,000 columns .* got 1,000,001"),
        ("open-quote.csv", "field larger than"),
        ("index-2000000000.svm", "line 1: .* got 2000000000"),
        ("index-999999999999999999999999999999.svm", "line 1: places up to 1,000,000,000 are read"),
        ("deep.json", "recursion"),
        ("integer.json", "digits"),
        ("surrogate.csv", "not UTF-8"),
        ("place-digits.arff", "line 5: a sparse row"),
    ],
)
def test_hostile_files_are_refused_by_name(tmp_path, name, message):
    path = write(name, tmp_path)
    start = time.process_time()
    with pytest.raises(MaucError, match=rf"{name}.*{message}"):
        load(path)
    assert time.process_time() - start < 5


def test_an_archive_of_twenty_times_its_size_is_read_and_estimated(tmp_path, monkeypatch):
    values = np.random.default_rng(0).integers(0, 2, (20_000, 8))
    content = "a,b,c,d,e,f,g,label\n" + "".join(
        ",".join(f"{value:.8f}" for value in row) + "\n" for row in values
    )
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(content.encode()))
    assert 20 < len(content) / path.stat().st_size < 100
    assert content_size(path) == len(content)
    monkeypatch.setattr(files, "_COUNTED_BYTES", 2**20)
    assert content_size(path) == pytest.approx(len(content), rel=0.5)
    monkeypatch.setattr(files, "MAX_GROWN", 1000)  # no bomb however small the limit
    assert load_dataset(path, "label").X.shape == (20_000, 7)


def test_few_columns_of_large_places_are_features_by_their_numbers(write):
    path = write("0 1:1 10000000:2\n1 1:3\n0 999999999:4\n", "a.svm")
    dataset = load_dataset(path)
    assert dataset.feature_names == ["x0", "x9999999", "x999999998"]
    assert dataset.X.toarray().tolist() == [[1, 2, 0], [3, 0, 0], [0, 0, 4]]
    assert "999,999,996 columns without a value in any row left out" in dataset.notes


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("note-")])
def test_notes_of_others_in_svmlight_files_are_ignored(tmp_path, name):
    dataset = load(write(name, tmp_path))
    assert dataset.y.tolist() == [0, 1, 0, 1]
    assert len(dataset.feature_names) == 2


def test_notes_of_ours_name_features_and_classes(write):
    note = json.dumps({"features": ["a", "b", "c"], "classes": ["u", "v"]})
    dataset = load_dataset(write(f"# mauc {note}\n{ROWS}", "a.svm"))
    assert dataset.feature_names == ["a", "b", "c"]
    assert dataset.y.tolist() == ["u", "v", "u", "v"]


@pytest.mark.parametrize(
    "name",
    [
        "quoted-head.arff",
        "quoted-values.arff",
        "quoted-row.arff",
        "quoted-comment.arff",
        "both-quotes.arff",
        "apostrophes.arff",
        "blank-row.arff",
        "blank-middle.arff",
        "value-lines.arff",
        "brace-lines.arff",
        "digits.svm",
        "dots.svm",
        "digits.txt",
        "flags.csv",
        "kinds.csv",
        "points.csv",
        "units.csv",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_lines_take_time_in_proportion_to_their_length(tmp_path, name):
    path, start = write(name, tmp_path), time.process_time()
    with suppress(MaucError):
        load(path)
    assert time.process_time() - start < 10


def test_lines_have_an_end(write, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE", 1000)
    with pytest.raises(MaucError, match=r"the line from byte 16 on is longer than the limit, 1 kB"):
        load_dataset(write("a,label\n1,u\n2,v\n" + "3" * 600_000 + ",u\n"), "label")


def test_columns_need_memory_whatever_they_hold(write, monkeypatch):
    path = write("a,b,label\n1,2,u\n2,1,v\n")
    monkeypatch.setattr(text, "_COLUMN_BYTES", 10**9)
    with pytest.raises(MaucError, match=r"its 3 columns need 3\.0 GB; allow it, or convert"):
        open_columns(path, "label", memory="1MB")
