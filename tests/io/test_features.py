"""Features of a table that is not in memory: read once, converted as those of a file."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mauc.datasets import encode_dataset, load_dataset, write_table
from mauc.exceptions import LeftOutWarning, MaucError
from mauc.io.load import open_dataset
from mauc.io.rules import N_FIRST, find_excluded
from mauc.io.table import Table
from tests.io.conftest import DictSource

pytestmark = pytest.mark.filterwarnings(f"ignore::{LeftOutWarning.__module__}.LeftOutWarning")
N = 3 * N_FIRST


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.arange(N),
            "width": rng.normal(size=N),
            "count": rng.integers(0, 9, N),
            "colour": rng.choice(["red", "green", "blue"], N),
            "flag": rng.integers(0, 2, N) == 1,
            "seen": pd.date_range("2020-01-01", periods=N, freq="h"),
            "constant": 1.0,
            "label": rng.integers(0, 3, N),
        }
    )
    frame.loc[::5, "colour"] = None
    frame.loc[::7, "width"] = np.nan
    path = tmp_path_factory.mktemp("features") / "table.parquet"
    frame.to_parquet(path, index=False, row_group_size=500)
    return path


def table_of(source):
    return Table("t", source, source.feature_names.tolist())


def opened(path, **options):
    return open_dataset(str(path), "label", memory=10**6, **options)


def test_columns_whose_missing_values_are_counted_are_not_read_to_judge_them():
    rng = np.random.default_rng(0)
    columns = {f"f{at}": rng.normal(size=N) for at in range(20)}
    columns["id"], columns["zero"] = np.arange(N), np.zeros(N)
    source = DictSource(columns)
    wanted = {20: "numbers the rows", 21: "constant"}
    assert find_excluded(table_of(source), source, range(22))[0] == wanted
    assert sorted(source.whole) == list(range(22))
    source.whole.clear()
    source.complete = set(range(22))  # as statistics of Parquet tell
    assert find_excluded(table_of(source), source, range(22))[0] == wanted
    assert sorted(source.whole) == [20, 21]
    assert find_excluded(table_of(source), source, range(22), {20, 21}) == ({}, {})


def test_integers_that_lose_digits_are_refused(tmp_path):
    wide = ([2**54, 2**53 + 1, None], [2**54, 2**53 + 1, 5], [2**54, 2**63 + 1, None])
    for values in (row * 20 for row in wide):
        kind = pa.uint64() if max(filter(None, values)) > 2**63 else pa.int64()
        table = pa.table({"wide": pa.array(values, kind), "label": [0, 1, 2] * 20})
        pq.write_table(table, tmp_path / "wide.parquet")
        dataset = opened(tmp_path / "wide.parquet")
        with pytest.raises(MaucError, match=r"'wide' holds integers beyond 2\*\*53, such as [19]"):
            dataset.X.read(np.array([0]))


@pytest.mark.parametrize("options", [{}, {"keep_ids": True}, {"categorical_features": ["count"]}])
@pytest.mark.parametrize("nominal", ["keep", "onehot", "ordinal", "drop"])
def test_data_sets_equal_those_in_memory(path, options, nominal):
    expected = encode_dataset(load_dataset(path, "label", **options), nominal)
    dataset = opened(path, nominal=nominal, **options)
    assert dataset.feature_names == expected.feature_names
    assert dataset.nominal_features == expected.nominal_features
    assert dataset.notes == expected.notes
    assert dataset.fingerprint() == expected.fingerprint()
    again = pickle.loads(pickle.dumps(dataset.X))
    places = np.arange(dataset.n_features)[::-1]
    for whole, rows in zip(again.read(places), again.read_rows(700, 1900, places), strict=True):
        part = pd.Series(whole)[700:1900].reset_index(drop=True).astype(object)
        assert part.equals(pd.Series(rows).astype(object))


def test_categories_of_rows_without_a_label_keep_their_codes(path, tmp_path):
    frame = pd.read_parquet(path).astype({"label": "float64"})
    frame.loc[::4, "label"] = np.nan
    frame["colour"] = np.where(frame["label"].isna(), "amber", frame["colour"].fillna("red"))
    frame.to_parquet(tmp_path / "gaps.parquet", index=False)
    for nominal, largest in (("ordinal", None), ("onehot", None), ("onehot", 2)):
        read = load_dataset(tmp_path / "gaps.parquet", "label", skip_unlabelled=True)
        expected = encode_dataset(read, nominal, max_categories=largest)
        dataset = opened(tmp_path / "gaps.parquet", skip_unlabelled=True)
        dataset = encode_dataset(dataset, nominal, max_categories=largest)
        assert dataset.fingerprint() == expected.fingerprint()
        assert dataset.notes == expected.notes


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv", "tsv", "npz", "arff"])
def test_written_in_parts(path, tmp_path, ending):
    dataset = opened(path).take([2, 0, 1, 3] if ending != "npz" else [0, 1])
    dataset.X.memory = 20_000  # a few hundred rows at a time
    expected = load_dataset(path, "label")
    expected = expected.take([2, 0, 1, 3] if ending != "npz" else [0, 1])
    write_table(dataset, tmp_path / f"parts.{ending}")
    write_table(expected, tmp_path / f"whole.{ending}")
    target = None if ending == "npz" else "label"
    found = load_dataset(tmp_path / f"parts.{ending}", target)
    whole = load_dataset(tmp_path / f"whole.{ending}", target)
    assert found.feature_names == whole.feature_names
    assert found.fingerprint() == whole.fingerprint()
    if ending == "parquet":
        assert pq.ParquetFile(tmp_path / "parts.parquet").num_row_groups > 5


def test_a_format_that_needs_all_rows_is_refused_beyond_the_memory(path, tmp_path, monkeypatch):
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 1000)
    with pytest.raises(MaucError, match=r"out\.npz: 3,072 rows x 4 columns, written at once"):
        write_table(opened(path), tmp_path / "out.npz")
    assert list(tmp_path.iterdir()) == []
