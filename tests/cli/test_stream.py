"""Data that are not read into memory: what select and rank find is the same, to the bit."""

import json
from datetime import time
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
    frame = pd.DataFrame(
        {
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
        }
    )
    frame.loc[::9, "width"] = np.nan
    frame.loc[4::11, "colour"] = None
    return frame


@pytest.fixture(scope="module")
def messy_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("messy") / "messy.parquet"
    table = pa.Table.from_pandas(messy_frame(), preserve_index=False)
    rng = np.random.default_rng(1)
    optional = [
        None if at % 7 == 0 else int(value) for at, value in enumerate(rng.integers(0, 9, N))
    ]
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


@pytest.mark.parametrize(
    "method", [name for name, entry in SELECTORS.items() if entry.accepts.sources]
)
def test_select_equals_memory(messy_file, method):
    expected, found = both("select", messy_file, "-m", method, "-k", "6")
    assert found == expected
    assert "left out: 'PassengerId'" in found["columns"][0]
    assert found["data"] == "messy"


def test_a_method_that_compares_rows_is_refused_before_the_file_is_read():
    text = refusal("select", "absent.parquet", "--target", "y", "-m", "relieff", "--memory", "2MB")
    assert "--method relieff compares rows with rows and needs all data in memory, but" in text
    assert "choose another method" in text


def test_words_that_are_no_labels(messy_file):
    words = ("select", messy_file, "--memory", "2MB")
    assert "not measurements" in refusal(*words, "--target", "narrow")
    assert "pass --many-classes" in refusal(*words, "--target", "PassengerId")
    assert "did you mean 'label'?" in refusal(*words, "--target", "labl")
    assert "needs --target: the name or number of the column" in refusal(*words)


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


def test_pairs_are_the_same(messy_file, tmp_path):
    words = ("rank", messy_file, "--target", "label", "-m", "mdfs")
    run(*words, "--pairs", tmp_path / "whole.csv")
    run(*words, "--memory", "2MB", "--pairs", tmp_path / "blocks.csv")
    assert (tmp_path / "blocks.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_what_needs_memory_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "broken.parquet").write_bytes(b"PAR1")
    words = ("select", tmp_path / "broken.parquet", "--target", "label", "--memory", "1GB")
    assert "-k auto (cross-validation) needs all data in memory" in refusal(*words, "-k", "auto")
    error = refusal(*words, "--report", tmp_path / "page.html")
    assert "--report needs all data in memory" in error
    assert "--output reduced.parquet" in error
    assert "say how many by -k" in refusal("rank", *words[1:], "-k", "auto")
    assert "may stand for many files" in refusal("select", tmp_path, *words[2:4], "-k", "auto")
    assert "broken.parquet" in refusal(*words)


@pytest.mark.parametrize("size", ["much", "-1GB", "0", "1XB", ""])
def test_a_wrong_size(messy_file, size):
    result = run("select", messy_file, "--target", "label", f"--memory={size}", code=2)
    assert "--memory must be a number of bytes or a text such as '500MB'" in result.stderr


def test_too_little_memory(messy_file):
    words = ("select", messy_file, "--target", "label", "-m", "ig", "--keep-ids")
    error = refusal(*words, "--memory", "50kB")
    assert "--memory of 50 kB is too little for columns of 2,500 rows" in error
    assert "or sketch the AUCs over the rows (--sketch, with --method mdfs or maucd)" in error


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
