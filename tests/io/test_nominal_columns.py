"""Nominal columns are kept, coded, spread out or dropped, as the caller says."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc import feature_pair_auc, open_columns
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
            ["size", "color=blue", "color=green", "color=red", "color missing", "is_new=True"],
            [[1, 0, 0, 1, 0, 1], [2, 0, 0, 0, 1, 0], [3, 1, 0, 0, 0, 1], [4, 0, 1, 0, 0, 1]],
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


BASKETS = ["@relation m", "@attribute bread {t}", "@attribute milk {t}", "@attribute y {a, b}"]


def test_flags_of_one_value_are_features(tmp_path):
    rows = [f"{'t' if i % 2 else '?'},{'t' if i % 3 else '?'},{'ab'[i % 2]}" for i in range(24)]
    path = tmp_path / "market.arff"
    path.write_text("\n".join([*BASKETS, "@data", *rows]))
    dataset = load_dataset(path, "y")
    assert dataset.feature_names == ["bread", "milk"]
    assert_array_equal(feature_pair_auc(dataset.X, dataset.y), [[1.0], [0.5]])
    assert_array_equal(feature_pair_auc(*open_columns(path, "y")), [[1.0], [0.5]])
    assert encode_dataset(dataset, "onehot").feature_names == ["bread=t", "milk=t"]


@pytest.mark.parametrize("kind", ["str", "category", "polars"])
def test_a_missing_word_is_a_category_in_frames(kind):
    # As in the list of the Titanic: cabins are known of the first class, and differ.
    cabins = [f"C{i}" if i < 8 else None for i in range(10)] + [None] * 9 + ["G6"]
    frame = pd.DataFrame({"cabin": cabins}, dtype=None if kind == "polars" else kind)
    if kind == "polars":
        frame = pytest.importorskip("polars").DataFrame({"cabin": cabins})
    # Of 100 pairs 72 are of a cabin and none: won. 8 of two cabins, and 18 of none, are ties.
    assert feature_pair_auc(frame, np.repeat([1, 3], 10)) == 0.85
