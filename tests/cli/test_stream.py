"""Data that are not read into memory: what select and rank find is the same, to the bit."""

import json
from datetime import date, time
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mauc.registry import SELECTORS
from tests.helpers.cli_helpers import refusal, run, run_json

pytestmark = pytest.mark.long

N = 2500  # more than the first rows that are looked at


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))


def messy_frame():
    """Return a table with whatever users leave in one."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, N)
    days = pd.date_range("2020-01-01", periods=N, freq="h")
    frame = pd.DataFrame({
        "PassengerId": np.arange(N) + 7,
        "width": rng.normal(size=N) + codes,
        "narrow": (rng.normal(size=N) + 0.5 * codes).astype(np.float32),
        "count": rng.integers(0, 50, N) + 3 * codes,
        "small": rng.integers(0, 4, N).astype(np.int8) * codes.astype(np.int8),
        "colour": rng.choice(["red", "green", "blue"], N),
        "size": np.where(codes > rng.integers(0, 4, N), "large", "small"),
        "key": [f"{number:05d}-{number * 7919 % N}" for number in range(N)],
        "flag": rng.integers(0, 2, N) < codes,
        "constant": 3.0,
        "seen": days,
        "day": [value.date() for value in days],
        "empty": np.where(np.arange(N) % 50 == 0, 1.5, np.nan),
        "late": np.where(np.arange(N) < 0.03 * N, rng.normal(size=N), np.nan),
        "index": rng.permutation(N) + 100,
        "reading date": rng.choice([20200131, 20200201, 20211231], N),
        "n rooms": rng.integers(1, 9, N),
        "label": np.array(["u", "v", "w"])[codes],
    })  # fmt: skip
    frame.loc[::9, "width"] = np.nan
    frame.loc[4::11, "colour"] = None
    return frame


@pytest.fixture(scope="module")
def messy_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("messy") / "messy.parquet"
    table = pa.Table.from_pandas(messy_frame(), preserve_index=False)
    rng = np.random.default_rng(1)
    optional = [None if at % 7 == 0 else int(value) for at, value in
                enumerate(rng.integers(0, 9, N))]  # fmt: skip
    table = table.append_column("nullable", pa.array(optional, pa.int32()))
    truths = [None if at % 5 == 0 else bool(at % 3) for at in range(N)]
    table = table.append_column("maybe", pa.array(truths, pa.bool_()))
    prices = [Decimal(int(value)) / 4 for value in rng.integers(0, 99, N)]
    table = table.append_column("price", pa.array(prices, pa.decimal128(8, 2)))
    table = table.append_column("clock", pa.array([time(at % 24) for at in range(N)]))
    grades = pa.array([("good", "fair", "bad")[at % 7 % 3] for at in range(N)])
    table = table.append_column("grade", grades.dictionary_encode())
    table = table.append_column("nothing", pa.nulls(N))
    pq.write_table(table, path, row_group_size=600)
    return path


def both(command, path, *words, memory="2MB", **options):
    """Return what a command says of a file in memory and of the same in blocks."""
    words = (command, path, "--target", "label", *words)
    return run_json(*words, **options), run_json(*words, "--memory", memory, **options)


@pytest.mark.parametrize("method", [name for name in SELECTORS if name != "fast"])
def test_select_equals_memory(messy_file, method):
    expected, found = both("select", messy_file, "-m", method, "-k", "6")
    assert found == expected
    assert "left out: 'PassengerId'" in found["columns"][0]
    assert found["data"] == "messy"


@pytest.mark.parametrize("nominal", ["ordinal", "onehot", "drop"])
def test_nominal_columns_are_encoded_as_in_memory(messy_file, nominal):
    words = ("-k", "all", "-m", "fsdd", "--nominal", nominal)
    expected, found = both("select", messy_file, *words)
    assert found == expected


@pytest.mark.parametrize(
    "words",
    [
        ("--keep-ids", "--drop", "clock", "--drop", "nothing"),
        ("--drop", "width", "--drop", "3", "--categorical", "n rooms"),
        ("--keep-ids", "--drop", "clock", "--nominal", "ordinal", "-m", "fisher"),
    ],
)
def test_options_of_reading(messy_file, words):
    expected, found = both("rank", messy_file, "-m", "mdfs", *words)
    assert found == expected


def test_rows_without_a_label(messy_file, tmp_path):
    frame = messy_frame()
    frame.loc[::10, "label"] = None
    frame.loc[frame["label"].isna(), "size"] = "unseen"  # in no row that is left
    frame.to_parquet(tmp_path / "gaps.parquet", index=False)
    path = tmp_path / "gaps.parquet"
    for words in (("-m", "mdfs"), ("-m", "anova"), ("--nominal", "ordinal", "-m", "anova")):
        expected, found = both("select", path, "--skip-unlabelled", *words)
        assert found == expected
    result = run("select", path, "--target", "label", "--memory", "5MB", code=2)
    assert "has no label in row 1 (250 rows have none)" in result.stderr
    assert "leave such rows out (--skip-unlabelled)" in result.stderr


def test_a_column_that_is_empty_below_its_first_rows(tmp_path):
    n = 40_000
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, n)
    frame = pd.DataFrame({"a": rng.normal(size=n) + codes, "label": codes})
    frame["late"] = np.where(np.arange(n) < 1500, rng.normal(size=n), np.nan)
    frame["words"] = np.where(np.arange(n) < 1500, "w", [f"{at}-{at}" for at in range(n)])
    frame.loc[:1500:2, "words"] = "v"
    frame.to_parquet(tmp_path / "late.parquet", index=False)
    words = ("-k", "1", "-m", "mdfs")
    expected, found = both("select", tmp_path / "late.parquet", *words, memory="20MB")
    assert found == expected
    assert "96.2 % missing" in found["columns"][0]


def test_words_that_are_no_labels(messy_file):
    result = run("select", messy_file, "--target", "narrow", "--memory", "2MB", code=2)
    assert "labels are names or integers, not measurements" in result.stderr
    result = run("select", messy_file, "--target", "PassengerId", "--memory", "2MB", code=2)
    assert "pass --many-classes" in result.stderr
    result = run("select", messy_file, "--target", "labl", "--memory", "2MB", code=2)
    assert "did you mean 'label'?" in result.stderr
    result = run("select", messy_file, "--memory", "2MB", code=2)
    assert "needs --target: the name or number of the column" in result.stderr


def test_many_classes(messy_file):
    words = ("rank", messy_file, "--target", "day", "--drop", "label", "-m", "maucd")
    expected = run_json(*words)
    assert run_json(*words, "--memory", "5MB") == expected


def test_csv_is_converted_once(tmp_path):
    frame = messy_frame().drop(columns=["key", "seen"])  # their texts take more memory
    frame.to_csv(tmp_path / "messy.csv", index=False)
    for words in (("-m", "mdfs"), ("-m", "chi"), ("--nominal", "ordinal", "-m", "anova")):
        expected, found = both("select", tmp_path / "messy.csv", "-k", "5", *words, memory="1MB")
        assert found == expected
    (table,) = [path for path in (tmp_path / "cache" / "columns").iterdir() if path.is_dir()]
    before = (table / "note.json").stat().st_mtime_ns
    both("rank", tmp_path / "messy.csv", "-m", "mdfs", memory="1MB")
    assert (table / "note.json").stat().st_mtime_ns == before


def test_csv_with_options(tmp_path):
    frame = messy_frame()[["width", "count", "colour", "label"]]
    frame["colour"] = frame["colour"].fillna("none")
    path = tmp_path / "odd.txt"
    frame.to_csv(path, index=False, sep=";", decimal=",", encoding="latin-1")
    words = ("--separator", ";", "--decimal", ",", "--encoding", "latin-1", "--missing", "none")
    expected, found = both("select", path, "-m", "mdfs", *words)
    assert found == expected
    result = run("select", path, "--target", "label", "--memory", "5MB", "--sheet", "x", code=2)
    assert "--sheet goes with txt, xlsx files, not with csv" in result.stderr


def test_a_folder_is_one_table(messy_file, tmp_path):
    table = pq.read_table(messy_file)
    for at, start in enumerate(range(0, N, 700)):
        pq.write_table(table.slice(start, 700), tmp_path / f"part-{at}.parquet")
    expected = run_json("select", messy_file, "--target", "label", "-m", "mdfs")
    for data in (tmp_path, f"{tmp_path}/*.parquet", f"{tmp_path}/part-?.parquet"):
        found = run_json("select", data, "--target", "label", "-m", "mdfs")
        assert found["features"] == expected["features"]
        assert found["columns"] == expected["columns"]
    assert found["data"] == f"{tmp_path}/part-?.parquet"


def test_an_address(messy_file):
    import fsspec

    files = fsspec.filesystem("memory")
    files.pipe("/shelf/messy.parquet", messy_file.read_bytes())
    try:
        words = ("--target", "label", "-m", "mdfs")
        expected = run_json("select", messy_file, *words)
        assert run_json("select", "memory://shelf/messy.parquet", *words) == expected
        result = run("select", "memory://shelf/none.parquet", *words, code=2)
        assert "memory://shelf/none.parquet does not exist" in result.stderr
    finally:
        files.rm("/shelf", recursive=True)


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv", "tsv", "arff", "csv.gz"])
def test_chosen_columns_are_written(messy_file, tmp_path, ending):
    words = ("select", messy_file, "--target", "label", "-m", "mdfs", "-k", "8", "--memory", "1MB")
    for name, more in (("blocks", ()), ("again", ("--nominal", "onehot"))):
        run(*words, *more, "-o", tmp_path / f"{name}.{ending}")
    whole = ("select", messy_file, "--target", "label", "-m", "mdfs", "-k", "8")
    run(*whole, "-o", tmp_path / f"whole.{ending}")
    again = ("-m", "maucd", "--target", "label", "--keep-ids")
    found = run_json("rank", tmp_path / f"blocks.{ending}", *again)
    expected = run_json("rank", tmp_path / f"whole.{ending}", *again)
    assert found["features"] == expected["features"]


def test_pairs_are_the_same(messy_file, tmp_path):
    words = ("rank", messy_file, "--target", "label", "-m", "mdfs")
    run(*words, "--pairs", tmp_path / "whole.csv")
    run(*words, "--memory", "2MB", "--pairs", tmp_path / "blocks.csv")
    assert (tmp_path / "blocks.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_what_needs_memory_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    words = ("select", tmp_path / "broken.parquet", "--target", "label", "--memory", "1GB")
    assert "-k auto (cross-validation) needs all data in memory" in refusal(*words, "-k", "auto")
    result = run(*words, "--report", tmp_path / "page.html", code=2)
    assert "--report needs all data in memory" in result.stderr
    assert "--output reduced.parquet" in result.stderr
    assert "say how many by -k" in refusal("rank", *words[1:], "-k", "auto")
    result = run("select", tmp_path, "--target", "label", "-k", "auto", code=2)
    assert "may stand for many files" in result.stderr
    assert "broken.parquet" in refusal(*words)


@pytest.mark.parametrize("size", ["much", "-1GB", "0", "1XB", ""])
def test_a_wrong_size(messy_file, size):
    result = run("select", messy_file, "--target", "label", f"--memory={size}", code=2)
    assert "--memory must be a number of bytes or a text such as '500MB'" in result.stderr


def test_too_little_memory(messy_file):
    words = ("select", messy_file, "--target", "label", "-m", "ig", "--keep-ids")
    result = run(*words, "--memory", "50kB", code=2)
    assert "--memory of 50 kB is too little for columns of 2,500 rows" in result.stderr
    assert (
        "or sketch the AUCs over the rows (--sketch, with --method mdfs or maucd)" in result.stderr
    )


def test_texts_that_did_not_fit_are_read_with_more_memory(tmp_path):
    messy_frame().to_csv(tmp_path / "messy.csv", index=False)
    words = ("select", tmp_path / "messy.csv", "--target", "label", "-m", "ig", "-k", "3")
    result = run(*words, "--memory", "200kB", code=2)
    assert "column 'key' has more different texts than fit into 100 kB" in result.stderr
    assert "leave it out (--drop key), or allow more memory" in result.stderr
    assert run_json(*words, "--memory", "20MB") == run_json(*words)


def test_arrays(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 500)
    X = rng.normal(size=(500, 12)) + y[:, np.newaxis] * np.linspace(0, 1, 12)
    np.save(tmp_path / "X.npy", np.asfortranarray(X))
    np.save(tmp_path / "y.npy", y)
    np.savez(tmp_path / "both.npz", X=X, y=y)
    words = ("-m", "mdfs", "-k", "4")
    expected = run_json("select", tmp_path / "both.npz", *words)
    found = run_json("select", tmp_path / "X.npy", "--target", tmp_path / "y.npy", *words)
    assert found["features"] == expected["features"]
    assert found["columns"] == ["12 numbers"]
    result = run("select", tmp_path / "both.npz", *words, "--memory", "5MB", code=2)
    assert "npz files are read whole; --memory goes with csv, feather, hdf5" in result.stderr


def test_data_that_are_no_files():
    assert "not with the bundled data set 'siren'" in refusal("select", "siren", "--memory", "1GB")
    assert "write the stream to a file first" in refusal("select", "-", "--memory", "1GB")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_beyond_the_free_memory_is_read_in_blocks(tmp_path, monkeypatch, ending):
    frame = messy_frame()
    path = tmp_path / f"big.{ending}"
    (frame.to_parquet if ending == "parquet" else frame.to_csv)(path, index=False)
    words = ("select", path, "--target", "label", "-m", "mdfs", "-k", "3")
    expected = run_json(*words)
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 300_000)
    result = run(*words, "--json")
    assert json.loads(result.stdout) == expected
    assert "so that its columns are read in blocks (--memory says how much" in result.stderr
    assert "would take about" in refusal(*words[:-1], "auto")


def test_dates_that_are_kept_are_seconds(tmp_path):
    frame = pd.DataFrame({
        "day": [date(2020, 1, 1 + at % 28) for at in range(60)],
        "seen": pd.date_range("2020-01-01", periods=60, freq="h", tz="Europe/Berlin"),
        "label": [at // 30 for at in range(60)],
    })  # fmt: skip
    frame.to_parquet(tmp_path / "dates.parquet", index=False)
    path = tmp_path / "dates.parquet"
    expected, found = both("rank", path, "-m", "fisher", "--keep-ids")
    assert found == expected
