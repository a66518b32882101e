"""Data sets by name and by path; bad files get an error that names file and column."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import BUNDLED, load_bundled, load_dataset, read_csv
from mauc.exceptions import MaucError


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_have_names_for_columns_and_classes(name):
    dataset = load_dataset(name)
    assert dataset.X.shape == (len(dataset.y), len(dataset.feature_names))
    assert dataset.y.dtype.kind == "U"


def test_csv_keeps_missing_values(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("a,label,b\n1,u,2.5\n,v,3\n")
    dataset = read_csv(path, "label")
    assert_array_equal(dataset.X, [[1, 2.5], [np.nan, 3]])
    assert dataset.feature_names == ["a", "b"]
    assert dataset.y.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,label\n", "has a header line but no rows"),
        ("a,label\n1,u\n2,\n", "column 'label' has no label in data row 2"),
        ("a,label\nred,u\nblue,v\n", "column 'a' is not numeric"),
        ("a,label\n1,u\n1,2,3,4\n", "cannot be read as CSV"),
        ("a,b\n1,2\n", r"has no column 'label'\. Its columns: a, b"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(MaucError, match=message):
        read_csv(path, "label")


def test_bytes_that_are_not_text(tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("a,label\n1,\xe9\n".encode("latin-1"))
    with pytest.raises(MaucError, match="is not UTF-8 text"):
        read_csv(path, "label")


def test_no_target_and_no_such_set(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(MaucError, match=r"needs a target column \(--target\)\. Its columns: a, b"):
        read_csv(path, None)
    with pytest.raises(MaucError, match="data set must be one of"):
        load_bundled("none")
