import builtins
import sys

import fsspec
import h5py
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import zarr
from numpy.testing import assert_array_equal

from mauc import MDFS, open_columns
from mauc.datasets import load_dataset
from mauc.exceptions import LeftOutWarning, MaucError
from mauc.extras import MissingExtraError
from mauc.io.load import open_dataset
from tests.io.conftest import assert_same_fit

#: of a column of integers that doubles merge
pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.TinyUnitsWarning")

DATES = ["day", "wait"]  # which selectors leave out of a frame, and not of a source


@pytest.fixture
def path(mixed, tmp_path):
    mixed.to_parquet(tmp_path / "mixed.parquet", row_group_size=170)
    return tmp_path / "mixed.parquet"


def test_target_as_labels(path, mixed):
    source, y = open_columns(path, mixed["words"].fillna("none"), drop="label")
    assert source.shape[1] == mixed.shape[1] - 1
    assert set(y) == {"red", "green", "blue", "Ünder", "none"}


@pytest.mark.filterwarnings("ignore:.*looks ordinal")
def test_labels_are_those_of_load_dataset(path):
    for target in ("label", "byte", "yes", "whole"):
        _, y = open_columns(path, target, skip_unlabelled=True)
        expected = load_dataset(path, target, skip_unlabelled=True, keep_ids=True, drop="wide")
        assert_array_equal(y, expected.y)


def test_rows_without_label(path, mixed):
    with pytest.raises(MaucError, match=r"column 'words' has no label in row .*skip_unlabelled"):
        open_columns(path, "words")
    source, y = open_columns(path, "words", skip_unlabelled=True, memory="1MB", drop=DATES)
    kept = mixed[mixed["words"].notna()].reset_index(drop=True)
    assert_array_equal(y, kept["words"])
    assert_same_fit(MDFS(4, random_state=0), source, kept.drop(columns=["words", *DATES]), y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"mixed\.parquet needs target: .*Its columns: f0, f1"),
        ({"target": "f0"}, "labels are names or integers, not measurements"),
        ({"target": [0, 1]}, "600 rows, but target has 2 labels"),
        ({"target": "label", "columns": ["f0", "label"]}, "columns has 'label', which is the targ"),
        ({"target": "label", "columns": ["f0", 0]}, "columns has 'f0' twice"),
        ({"target": "label", "columns": "f0", "drop": "f0"}, "no column left to be a feature"),
        ({"target": "label", "memory": "lots"}, "memory must be a number of bytes or a text such"),
        ({"target": "label", "memory": 0}, "memory must be a number of bytes"),
        ({"target": "label", "format": "doc"}, "format must be"),
        ({"target": "label", "storage_options": {"key": 1}}, "storage_options go with addresses"),
        ({"data": "gopher://x"}, "gopher://x cannot be opened: Protocol not known"),
        ({"data": "s3://bucket/x.parquet"}, r"s3://bucket/x\.parquet needs a package.*s3fs"),
    ],
)
def test_refused(path, monkeypatch, options, message):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(MaucError, match=message):
        open_columns(**{"data": path, **options})


def test_chosen_columns_in_their_order(path):
    source, _ = open_columns(path, "label", columns=["wide", 0, "byte"], drop=["byte"])
    assert source.feature_names.tolist() == ["wide", "f0"]


def test_columns_of_arrays_keep_their_numbers(numbers):
    X, y = numbers
    source, found = open_columns(np.column_stack([X[:, :2], y, X[:, 2:4]]), 2)
    assert_array_equal(found, y)
    assert source.feature_names.tolist() == ["x0", "x1", "x3", "x4"]


def test_marked_columns_are_nominal(path, mixed):
    source, y = open_columns(
        path, "label", categorical_features=["byte", "f0"], memory="1MB", drop=DATES
    )
    assert source.is_text.sum() == 4
    X = mixed.drop(columns=["label", *DATES])
    known = MDFS(4, random_state=0, categorical_features=["byte", "f0"]).fit(X, y)
    found = MDFS(4, random_state=0).fit(source, y)
    assert_array_equal(found.scores_, known.scores_)
    assert_array_equal(found.ranking_, known.ranking_)


def test_columns_that_are_no_features(numbers, tmp_path):
    X, y = numbers
    frame = pd.DataFrame(X[:, :3]).set_axis(list("abc"), axis=1)
    frame["row"], frame["one"], frame["y"] = np.arange(900), 7, y
    frame["empty"] = np.where(np.arange(900) < 880, np.nan, X[:, 0])
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=100)
    with pytest.warns(LeftOutWarning, match="'row', numbers the rows; 'one', constant"):
        source, _ = open_columns(tmp_path / "x.parquet", "y", keep_ids=False)
    assert source.feature_names.tolist() == ["a", "b", "c"]
    assert open_columns(tmp_path / "x.parquet", "y")[0].shape[1] == 6


def test_addresses(mixed, tmp_path):
    files = fsspec.filesystem("memory")
    for number in range(3):
        with files.open(f"/table/part-{number}.parquet", "wb") as file:
            mixed[number * 200 : (number + 1) * 200].to_parquet(file, index=False)
    X, y = mixed.drop(columns=["label", *DATES]), mixed["label"].to_numpy()
    for address in ("memory://table", "memory://table/*.parquet", "memory:///table/"):
        source, labels = open_columns(address, "label", memory="1MB", drop=DATES)
        assert_array_equal(labels, y)
        assert_same_fit(MDFS(4, random_state=0), source, X, y)
    files.rm("/table/part-1.parquet")
    with pytest.raises(MaucError, match=r"memory:///?table/part-1\.parquet"):
        source.check_unchanged()
    files.rm("/table", recursive=True)
    with pytest.raises(MaucError, match="memory://table does not exist"):
        open_columns("memory://table", "label")


def test_without_fsspec(monkeypatch):
    import_one = builtins.__import__

    def without(name, *args, **options):
        if name.startswith("fsspec"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return import_one(name, *args, **options)

    monkeypatch.delitem(sys.modules, "fsspec.core")
    monkeypatch.delitem(sys.modules, "fsspec")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"fsspec: pip install 'mauc\[remote\]'"):
        open_columns("https://example.org/x.parquet", "label")


def test_folders(mixed, tmp_path):
    def refused(data, message):
        with pytest.raises(MaucError, match=message):
            open_columns(data, "label")

    refused(tmp_path, "has no file")
    refused(f"{tmp_path}/*.parquet", "has no file")
    (tmp_path / "README").write_text("hello")
    refused(tmp_path, "files of one format .* got none of a known ending")
    mixed.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.parquet").write_text("")
    assert open_columns(tmp_path, "label")[0].shape[0] == 600
    mixed.to_feather(tmp_path / "b.feather")
    refused(tmp_path, "files of one format .* got feather, parquet;")
    assert open_columns(f"{tmp_path}/*.feather", "label")[0].shape[0] == 600


def test_format_of_a_file_without_ending(mixed, tmp_path):
    mixed.to_parquet(tmp_path / "table")
    assert open_columns(tmp_path / "table", "label", format="parquet")[0].shape[0] == 600


def test_no_permission(path, monkeypatch):
    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")  # root may read everything

    monkeypatch.setattr(pq, "ParquetFile", refuse)
    with pytest.raises(MaucError, match=r"mixed\.parquet cannot be read: you have no permission"):
        open_columns(path, "label")


@pytest.fixture
def arrays(numbers, tmp_path):
    """A folder with arrays of Zarr and HDF5, and labels beside them."""
    X, y = numbers
    group = zarr.open_group(tmp_path / "x.zarr", mode="w")
    group.create_array("X", data=X)
    group.create_array("y", data=y)
    zarr.create_array(tmp_path / "one.zarr", data=X)
    with h5py.File(tmp_path / "x.h5", "w") as file, h5py.File(tmp_path / "one.h5", "w") as one:
        file["A"], file["B"], one["X"] = X, X, X
    (tmp_path / "bad.h5").write_bytes(b"no HDF5")
    np.save(tmp_path / "y.npy", y)
    return tmp_path


@pytest.mark.parametrize("name", ["one.h5", "one.zarr"])
def test_labels_of_a_file_beside_the_array(numbers, arrays, name):
    source, labels = open_columns(arrays / name, str(arrays / "y.npy"))
    assert source.shape == numbers[0].shape
    assert_array_equal(labels, numbers[1])


@pytest.mark.parametrize(
    ("name", "target", "message"),
    [
        ("x.zarr", "labels", r"x\.zarr has no array 'labels'\. Its arrays: X, y\."),
        ("x.zarr::Z", "y", r"x\.zarr has no array 'Z'\. Its arrays: X, y\."),
        ("one.zarr", "labels", r"one\.zarr::labels cannot be opened as a Zarr array"),
        ("x.h5", [0], r"x\.h5 must name one array .*as in .*::X. It holds: A, B"),
        ("x.h5::C", [0], r"has no dataset 'C'\. Its datasets: A, B"),
        ("bad.h5", [0], r"bad\.h5 cannot be read as an HDF5 file"),
    ],
)
def test_arrays_that_are_not_there(arrays, name, target, message):
    with pytest.raises(MaucError, match=message):
        open_columns(f"{arrays}/{name}", target)


def test_unknown_options_are_refused(path):
    with pytest.raises(TypeError, match="unexpected keyword argument 'seperator'"):
        open_columns(path, "label", seperator=";")


def test_files_that_are_read_whole_keep_names(tmp_path):
    (tmp_path / "x.arff").write_text(
        "@relation r\n@attribute a real\n@attribute b real\n@attribute c {u,v}\n@data\n"
        "1,4,u\n2,3,v\n3,2,?\n4,1,v\n"
    )
    with pytest.raises(MaucError, match="no label"):
        open_columns(tmp_path / "x.arff")
    source, y = open_columns(tmp_path / "x.arff", skip_unlabelled=True)
    assert source.feature_names.tolist() == ["a", "b"]
    assert y.tolist() == ["u", "v", "v"]


@pytest.mark.parametrize("ending", ["parq", "data", "tab", "npy"])
def test_formats_are_the_same_in_memory_and_streamed(tmp_path, ending):
    frame = pd.DataFrame(
        {"x0": [1.5, 2.5, 0.5, 3.5], "x1": [3.0, 1.0, 2.0, 9.0], "x2": [0, 1, 0, 1]}
    )
    path = tmp_path / f"data.{ending}"
    if ending == "parq":
        frame.to_parquet(path)
    elif ending == "npy":
        np.save(path, frame.to_numpy())
    else:
        frame.to_csv(path, index=False, sep="\t" if ending == "tab" else ",")
    dataset = load_dataset(path, -1)
    source, y = open_columns(path, -1, memory="1MB")
    assert_array_equal(np.column_stack(source.read(np.arange(2))), dataset.X)
    assert_array_equal(y, dataset.y)
    assert source.feature_names.tolist() == dataset.feature_names


def test_booleans_of_arrays_are_numbers_in_memory_and_streamed(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(4, 3) == 1)
    np.save(tmp_path / "y.npy", [0, 1, 0, 1])
    arguments = str(tmp_path / "x.npy"), str(tmp_path / "y.npy")
    held, streamed = load_dataset(*arguments), open_dataset(*arguments, memory=10**6)
    assert held.nominal_features == streamed.nominal_features == []
    assert held.fingerprint() == streamed.fingerprint()
