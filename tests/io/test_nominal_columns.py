"""Nominal columns are kept, coded, spread out or dropped, as the caller says."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc import MDFS, ReliefF, SymmetricalUncertainty
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


def test_codes_can_be_read_back(path):
    dataset = load_dataset(path, "label", nominal="ordinal")
    assert dataset.categories == {"color": ("blue", "green", "red"), "is_new": (False, True)}


def test_kept_columns_go_to_a_selector_that_takes_them(path):
    dataset = load_dataset(path, "label")
    selector = SymmetricalUncertainty(3).fit(dataset.X, dataset.y)
    assert selector.n_features_in_ == 3


def test_a_method_of_numbers_names_column_and_option(path):
    with pytest.raises(
        MaucError,
        match=r"data: column 'color' \(and 1 more\) is nominal \(values such as blue, green, "
        r"red\), and mdfs takes numbers only; pass nominal='ordinal', or onehot or drop",
    ):
        check_numeric(load_dataset(path, "label"), "mdfs")
    check_numeric(load_dataset(path, "label", nominal="ordinal"), "mdfs")


@pytest.mark.parametrize("nominal", ["ordinal", "onehot", "drop"])
@pytest.mark.parametrize("selector", [MDFS(1, random_state=0), ReliefF(1, n_neighbors=1)])
def test_numbers_go_to_every_selector(path, nominal, selector):
    dataset = load_dataset(path, "label", nominal=nominal)
    assert len(selector.fit(dataset.X, dataset.y).ranking_) == 1


def test_nothing_left_after_dropping():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"])})
    with pytest.raises(MaucError, match="all features are nominal, such as 'a'"):
        encode_dataset(Dataset("small", frame, np.array([0, 1]), ["a"]), "drop")


def test_values_that_do_not_occur_get_no_column():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y", "z"], categories=["w", "x", "y", "z"])})
    dataset = Dataset("small", frame, np.array([0, 1, 1]), ["a"])
    assert encode_dataset(dataset, "onehot").feature_names == ["a=x", "a=y", "a=z"]


def test_a_spread_column_may_not_get_the_name_of_another():
    frame = pd.DataFrame({"a=y": [1.0, 2.0], "a": pd.Categorical(["x", "y"])})
    with pytest.raises(MaucError, match="makes a second column 'a=y'"):
        encode_dataset(Dataset("small", frame, np.array([0, 1]), ["a=y", "a"]), "onehot")
