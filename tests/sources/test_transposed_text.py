"""Text files by columns: the types and values of the reader in memory, and its errors."""

import gzip
import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest

from mauc import MDFS
from mauc.data.source import StripePool
from mauc.datasets import load_dataset
from mauc.datasets.readers import read_table
from mauc.exceptions import LeftOutWarning, MaucError
from mauc.sources.transposed import build_text, list_caches, open_transposed_text, pieces

MEMORY = 2**27


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # hundreds of small files
    return tmp_path / "cache" / "columns"


@pytest.fixture(params=["threads", "in turn"])
def small_pieces(monkeypatch, request):
    """Pieces of a few lines, parsed by several threads or by one parser."""
    monkeypatch.setattr(build_text, "MIN_PIECE_BYTES", 1)
    monkeypatch.setattr(build_text, "MAX_PIECE_BYTES", 60)
    monkeypatch.setattr(build_text, "COLUMN_BYTES", 0)
    n_threads = 3 if request.param == "threads" else 2
    monkeypatch.setattr(build_text, "count_threads", lambda n_jobs: n_threads)


def write(folder, text, name="data.csv", encoding="utf-8"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
    return path


def attempt(function, *arguments):
    try:
        return function(*arguments)
    except MaucError as error:
        return str(error)


def check_equal(path, **options):
    """Compare all columns with those of the reader in memory: types, values, errors, notes."""
    table = attempt(lambda: read_table(path, **options))
    format = options.pop("format", None)
    source = attempt(lambda: open_transposed_text(path, memory=MEMORY, format=format, **options))
    if isinstance(table, str):
        assert source == table
        return None
    assert source.feature_names.tolist() == table.names
    assert source.shape == table.values.shape
    assert (source.target, source.hint) == (table.target, table.hint)
    assert source.missing_words == table.missing_words
    assert source.notes == list(table.notes)
    columns = source.read(np.arange(source.shape[1]))
    for j, found in enumerate(columns):
        expected = table.values.iloc[:, j]
        check_column(found, expected, source.is_text[j])
        part = source.read_rows(1, 3, np.array([j]))[0]
        check_column(part, expected.iloc[1:3].reset_index(drop=True), source.is_text[j], found)
        n_notes = len(table.notes)
        wanted = attempt(table.check_column, j)
        wanted = list(table.notes[n_notes:]) if wanted is None else wanted
        assert attempt(source.check_column, j) == wanted
    return source


def check_column(found, expected, is_word, whole=None):
    if is_word:
        dtype = None if whole is None else whole.dtype
        expected = pd.Series(pd.Categorical(expected, dtype=dtype))
        pd.testing.assert_series_equal(found, expected, check_names=False)
    else:
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.to_numpy().tobytes()


DIALECTS = [
    ("a,label,b\n1,u,2.5\n2,v,3\n7,u,\n", "data.csv", {}),
    ("a\tlabel\n1\tu\n2\tv\n", "data.tsv", {}),
    ("a\tlabel\n1\tu\n2\tv\n", "data.txt", {"format": "tsv"}),
    ("a\tlabel\n1\tu\n2\tv\n", "data.txt", {}),
    ("a  label\n1 u\n2\tv\n", "data.txt", {}),
    ("a;label\n1;u\n2;v\n", "data.csv", {"separator": ";"}),
    ("a;label\n1,25;u\n2,0;v\n", "data.csv", {"separator": ";", "decimal": ","}),
    ("a;label\n1,25;u\n2,0;v\n", "data.csv", {"decimal": ","}),
    ('"a","label"\r\n1,"u"\r\n\r\n2,"v"\r\n', "data.csv", {}),
    ("a,label\r\n1,u\r\n\r\n2,v\r\n", "data.csv", {}),
    ("a,label\r1,u\r2,v\r", "data.csv", {}),
    ('a, "label"\n1, "u"\n  2, v\n', "data.csv", {}),
    ('a,label\n1,"u, or\nso"\n2,v\n3,"w"\n', "data.csv", {}),
    ("a label\n1 u\n2 v\n", "data.csv", {"separator": " "}),
    (gzip.compress(b"a,label\n1,u\n2,v\n", mtime=0), "data.csv.gz", {}),
    (b"\xef\xbb\xbfa,label\n1,u\n2,v\n", "data.csv", {}),
    ("a,label\n1,u\n2,v\n".encode("utf-16"), "data.csv", {"encoding": "utf-16"}),
    ("a,Gr\xf6\xdfe\n1,\xe9\n".encode("latin-1"), "data.csv", {"encoding": "latin-1"}),
    ("a,Gr\xf6\xdfe\n1,\xe9\n2,\u6f22\n", "data.csv", {}),
    ("1,2,u\n3,4,v\n", "data.csv", {"header": False}),
    ("x y\n1 2 3\n2 4 5\n", "data.csv", {"separator": " "}),  # row names without a name
    ("\n\n  \na,label\n1,u\n\n2,v\n\n\n", "data.csv", {}),
    ("a,,label\n1,2,u\n3,4,v\n", "data.csv", {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "options"), DIALECTS)
@pytest.mark.usefixtures("small_pieces")
def test_dialects(tmp_path, text, name, options):
    assert check_equal(write(tmp_path, text, name), **options) is not None


def column(*parts):
    """Return a file with one column of interest whose parts are a few pieces long each."""
    cells = [cell for part in parts for cell in part for _ in range(12)]
    return "a,x,label\n" + "".join(f"{i % 7},{x},{'uv'[i % 2]}\n" for i, x in enumerate(cells))


COLUMNS = {
    "integers": (["1", "-2"],),
    "integers, then floats": (["1", "2"], ["2.5"]),
    "integers, then missing": (["1", "2"], ["", "NA"], ["3"]),
    "nothing at all": ([""], ["NA"], ["?"]),
    "nothing, then integers": ([""], ["1"]),
    "nothing, then words": ([""], ["red", "blue"]),
    "numbers, then words": (["1", "2.50", "007"], ["red"]),
    "words, then numbers": (["red"], ["1", "2.50", "007"]),
    "few words among numbers": (["1"] * 10, ["x"]),
    "few numbers among words": (["x", "y"] * 5, ["1"]),
    "truth": (["True", "false"], ["TRUE"]),
    "truth with gaps": (["True"], [""], ["False", "NA"]),
    "truth, then words": (["True"], ["maybe"]),
    "truth, then numbers": (["True"], ["1"]),
    "beyond 2**53": (["9007199254740993"], ["1"]),
    "beyond 2**53 with gaps": (["9007199254740993"], ["", "1"]),
    "beyond int64": (["18446744073709551615"], ["3"]),
    "beyond int64, negative": (["18446744073709551615"], ["-3"]),
    "beyond uint64": (["99999999999999999999999"], ["1.5"]),
    "beyond uint64, behind a float": (["1.5"], ["99999999999999999999999"]),
    "infinite": (["inf", "1"], ["-inf", "nan"]),
    "extreme": (["5e-324", "1.7976931348623157e308"], ["0.1", "1e400"]),
    "signs and blanks": (["+1", " 2", "3 "], ["-0.0", "1e-3"]),
    "decimal commas": (['"1,5"'], ['"2"', '"3,25"']),
    "thousands": (['"1,234,567"'], ["12"], ['"3,070"']),
    "thousands and decimals": (['"1,234.5"'], [""], ["7"]),
    "thousands or decimals": (['"1,234"'], ['"2,500"']),
    "apostrophes": (["1'234'567"], ["8"]),
    "hexadecimal": (["0x1F"], ["2"]),
    "dates": (["2024-01-31"], ["2024-02-01"]),
    "unsorted words": (["b", "B", "é", "a b"], ["漢字", "Z", "10"]),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("label", ["label", "x"])
@pytest.mark.usefixtures("small_pieces")
def test_columns(tmp_path, name, label):
    check_equal(write(tmp_path, column(*COLUMNS[name])), label=label)


@pytest.mark.parametrize(
    "options",
    [
        {"texts": ["x"]},
        {"texts": [1, "a"]},
        {"texts": ["x"], "label": "x"},
        {"missing": ["red", "-2"]},
        {"missing": "1"},
        {"thousands": ","},
    ],
)
@pytest.mark.parametrize(
    "name", ["numbers, then words", "truth with gaps", "integers", "thousands", "decimal commas"]
)
@pytest.mark.usefixtures("small_pieces")
def test_options(tmp_path, name, options):
    missing = options.get("missing")
    options = {**options, "missing": [missing] if isinstance(missing, str) else missing}
    check_equal(write(tmp_path, column(*COLUMNS[name])), **options)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.usefixtures("small_pieces")
def test_tables_of_all_kinds(tmp_path, seed):
    rng = np.random.default_rng(seed)
    words = [cell for parts in COLUMNS.values() for part in parts for cell in part]
    kinds = [rng.choice(words, rng.integers(1, 5)) for _ in range(6)]
    n = 40
    columns = [
        [kind[min(len(kind) - 1, int(u))] for u in rng.exponential(0.6, n)] for kind in kinds
    ]
    for cells in columns[::2]:
        cells.sort()  # one kind of cells after the other
    lines = [",".join(cells) + ",u" for cells in zip(*columns, strict=True)]
    text = "\n".join(["a,b,c,d,e,f,label", *lines])
    check_equal(write(tmp_path, text), label=["label", "c", None][seed % 3])


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("\n\n", {}),
        ("a,label\n", {}),
        ("a,a\n1,2\n", {}),
        ("a;label\n1;u\n", {}),
        ("a,label\n1,u\n1,2,3,4\n", {}),
        ("a,label\n1,u\n\n7\n", {}),
        ('a,label\n"1\n",u\n7\n', {}),
        ('a,label\n1,"u\n2,v\n', {}),
        (b"a,label\n1,u\n2,\xff\n", {}),
        (b"a,label\n1,u\n2,\xff\n" * 40, {}),
        (b"PAR1 and more", {}),
        (gzip.compress(b"a,label\n1,u\n2,v\n" * 500, mtime=0)[:-20], {}),
        ("a,label\n1,u\n", {"decimal": ","}),
        ("a,label\n1,u\n", {"separator": ",,"}),
        ("a,label\n1,u\n", {"encoding": "none such"}),
    ],
)
@pytest.mark.usefixtures("small_pieces")
def test_errors_are_those_of_the_reader_in_memory(tmp_path, cache, text, options):
    path = write(tmp_path, text)
    assert check_equal(path, **options) is None or "decimal" in options
    assert not list(cache.glob(".*.part"))


def test_other_formats_are_refused(tmp_path):
    path = write(tmp_path, "@relation x\n@attribute a numeric\n@data\n1\n", "data.txt")
    with pytest.raises(MaucError, match=r"data\.txt is no csv, tsv or txt file"):
        open_transposed_text(path)
    with pytest.raises(MaucError, match="does not exist"):
        open_transposed_text(tmp_path / "none.csv")


@pytest.fixture
def messy(tmp_path):
    rng = np.random.default_rng(1)
    n = 400
    y = rng.choice(["u", "v", "w"], n)
    frame = pd.DataFrame(rng.normal(size=(n, 12)), columns=[f"f{j}" for j in range(12)])
    frame["f3"] = rng.integers(0, 5, n)
    frame.loc[::9, "f4"] = np.nan
    frame["colour"] = np.where(rng.random(n) < 0.3, y, "none")
    frame["old"] = rng.random(n) < 0.5
    frame["late"] = [str(i % 5) if i < 300 else y[i] for i in range(n)]
    frame["label"] = y
    frame.to_csv(tmp_path / "messy.csv", index=False)
    return tmp_path / "messy.csv"


def test_selection_equals_that_in_memory(messy, monkeypatch):
    monkeypatch.setattr(build_text, "COLUMN_BYTES", 0)
    monkeypatch.setattr(build_text, "MAX_PIECE_BYTES", 2**12)
    monkeypatch.setattr(build_text, "MIN_PIECE_BYTES", 2**12)
    dataset = load_dataset(messy, "label")
    expected = MDFS(6, random_state=0).fit(dataset.X, dataset.y)
    source = open_transposed_text(messy, label="label", memory=MEMORY)
    y = np.asarray(source.read(np.array([15]))[0]).astype(str)
    np.testing.assert_array_equal(y, dataset.y)
    found = MDFS(6, random_state=0).fit(source.take(slice(0, 15)), y)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    np.testing.assert_array_equal(found.pair_auc_, expected.pair_auc_)
    assert len(source.row_parts()) > 5


def test_source_is_pickled_as_its_place(messy):
    source = open_transposed_text(messy, memory=MEMORY)
    text = pickle.dumps(source)
    assert len(text) < 5_000
    other = pickle.loads(text)
    np.testing.assert_array_equal(other.read(np.array([2]))[0], source.read(np.array([2]))[0])


def test_columns_in_any_order(messy):
    source = open_transposed_text(messy, memory=MEMORY)
    frame = pd.read_csv(messy)
    for places in ([3, 1, 2], [14, 0, 13, 1], [5, 5], []):
        columns = source.read(np.array(places, np.int64))
        for j, values in zip(places, columns, strict=True):
            assert [str(value) for value in values] == [str(value) for value in frame.iloc[:, j]]


def test_stripes_take_the_memory_of_those_before(messy):
    source = open_transposed_text(messy, memory=MEMORY)
    pool = StripePool()
    with pool:
        columns = source.read(np.array([0, 1]))
    expected = [column.copy() for column in columns]
    with pool:  # what is still used stays
        source.read(np.array([1, 0]))
    assert len(pool._free) > 0
    for column, values in zip(columns, expected, strict=True):
        np.testing.assert_array_equal(column, values)


@pytest.mark.usefixtures("small_pieces")
def test_another_target_uses_the_same_columns(tmp_path):
    text = "a,b,c,d\n" + "1,2.5,u,NA\n2,,v,x\n" * 20
    path = write(tmp_path, text)
    check_equal(path, label="a")
    for label in (None, "a", "c", 0, -2):
        check_equal(path, label=label)
        assert len(list_caches()) == 1
    check_equal(path, texts=["c"])
    assert len(list_caches()) == 1
    # "NA" is a class here, and no missing value.
    check_equal(path, label="d")
    assert len(list_caches()) == 2
    check_equal(path, texts=["a"])
    assert len(list_caches()) == 3
    check_equal(path, label="d", texts=["c"])
    check_equal(path, label="c")
    assert len(list_caches()) == 3


def test_a_column_of_too_many_words_is_refused_when_it_is_read(tmp_path):
    rows = "".join(f"{i},{'name' * 20}{i},{'uv'[i % 2]}\n" for i in range(3000))
    path = write(tmp_path, "a,id,label\n" + rows)
    source = open_transposed_text(path, memory=600_000)
    assert source.is_text.tolist() == [False, True, True]
    np.testing.assert_array_equal(source.read(np.array([0]))[0], np.arange(3000))
    with pytest.raises(MaucError, match=r"column 'id' has more different texts.*drop='id'"):
        source.read(np.array([0, 1]))


def test_pieces_of_wide_tables_are_larger():
    memory = 500_000_000
    assert build_text._plan_pieces(200, memory)[1] == build_text.MAX_PIECE_BYTES
    assert build_text._plan_pieces(20_000, memory) == (1, memory // 16)
    assert build_text._plan_pieces(10, 1000) == (1, build_text.MIN_PIECE_BYTES)


def test_file_is_parsed_once(messy, monkeypatch):
    n_reads = []
    monkeypatch.setattr(
        build_text, "read_pieces", lambda *a, **k: n_reads.append(k["texts"]) or original(*a, **k)
    )
    original = pieces.read_pieces
    open_transposed_text(messy, memory=MEMORY)
    assert n_reads == [None]
    open_transposed_text(messy, memory=MEMORY)
    assert n_reads == [None]


def test_progress_counts_blocks_of_rows(messy, monkeypatch):
    monkeypatch.setattr(build_text, "MAX_PIECE_BYTES", 2**12)
    monkeypatch.setattr(build_text, "MIN_PIECE_BYTES", 2**12)
    monkeypatch.setattr(build_text, "COLUMN_BYTES", 0)
    counted = []

    def track(items, unit, total, n_bytes):
        items = list(items)
        counted.append((unit, len(items), total))
        assert sum(n_bytes) == messy.stat().st_size
        assert len(n_bytes) == total
        return items

    monkeypatch.setattr(build_text, "track", track)
    open_transposed_text(messy, memory=600_000)
    ((unit, n_pieces, total), *_) = counted
    assert unit == "blocks of rows"
    assert total > 5
    assert 0.8 * total <= n_pieces <= 1.2 * total  # a piece ends with a line


def test_left_out_warning_is_that_of_load_dataset(tmp_path):
    # The table of the file has what `load_dataset` leaves out: leaving out is not reading.
    path = write(
        tmp_path, "id,a,label\n" + "".join(f"{i},{i % 3},{'uv'[i % 2]}\n" for i in range(20))
    )
    with pytest.warns(LeftOutWarning):
        load_dataset(path, "label")
    assert check_equal(path, label="label").shape == (20, 3)


def test_note_is_readable(messy, cache):
    source = open_transposed_text(messy, memory=MEMORY)
    note = json.loads((source.folder / "note.json").read_text())
    assert note["source"] == str(messy)
    assert note["n_rows"] == 400
    assert note["names"][-1] == "label"
    assert note["stamp"]["size"] == messy.stat().st_size
