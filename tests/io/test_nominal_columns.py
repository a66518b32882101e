"""Nominal columns are kept, coded, spread out or dropped, as the caller says."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import Dataset, check_numeric, encode_dataset, load_dataset
from mauc.exceptions import MaucError

nan = np.nan
TEXT = "size,color,is_new,label\n1,red,True,u\n2,?,False,v\n3,blue,True,u\n4,green,True,v\n"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.csv").write_text(TEXT)
    return tmp_path / "data.csv"


@pytest.mark.parametrize(
    ("nominal", "names", "values"),
    [
        ("ordinal", ["size", "color", "is_new"], [[1, 2, 1], [2, nan, 0], [3, 0, 1], [4, 1, 1]]),
        (
            "onehot",
            ["size", "color=blue", "color=green", "color=red", "is_new=True"],
            [[1, 0, 0, 1, 1], [2, nan, nan, nan, 0], [3, 1, 0, 0, 1], [4, 0, 1, 0, 1]],
        ),
        ("drop", ["size"], [[1], [2], [3], [4]]),
    ],
)
def test_ways_to_numbers(path, nominal, names, values):
    dataset = load_dataset(path, "label", nominal=nominal)
    assert dataset.feature_names == names
    assert_array_equal(dataset.X, values)
    assert dataset.nominal_features == []
    assert dataset.target_name == "label"
    known = {"color": ("blue", "green", "red"), "is_new": (False, True)}
    assert dataset.categories == (known if nominal == "ordinal" else {})


def test_a_method_of_numbers_names_column_and_option(path):
    with pytest.raises(
        MaucError,
        match=r"data: column 'color' \(and 1 more\) is nominal \(values such as blue, green, "
        r"red\), and mdfs takes numbers only; pass nominal='ordinal', or onehot or drop",
    ):
        check_numeric(load_dataset(path, "label"), "mdfs")
    check_numeric(load_dataset(path, "label", nominal="ordinal"), "mdfs")


def test_values_that_do_not_occur_get_no_column():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", "z"], categories=["w", "x", "y", "z"])})
    dataset = Dataset("small", frame, np.array([0, 1, 1]), ["a"])
    assert encode_dataset(dataset, "onehot").feature_names == ["a=x", "a=y", "a=z"]


@pytest.mark.parametrize(
    ("frame", "nominal", "message"),
    [
        ({"a": pd.Categorical(["x", "y"])}, "drop", "all features are nominal, such as 'a'"),
        ({"a=y": [1.0, 2.0], "a": pd.Categorical(["x", "y"])}, "onehot", "second column 'a=y'"),
    ],
)
def test_what_cannot_be_encoded(frame, nominal, message):
    dataset = Dataset("small", pd.DataFrame(frame), np.array([0, 1]), list(frame))
    with pytest.raises(MaucError, match=message):
        encode_dataset(dataset, nominal)
