"""Fingerprints depend on values, labels and names alone; nominal columns become numbers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from mauc import feature_pair_auc, open_columns
from mauc.datasets import Dataset, check_numeric, encode_dataset, load_dataset
from mauc.exceptions import ColumnWarning, MaucError

X = np.array([[1.0, 0.0, -3.0], [0.0, 2.0, 0.0], [5.0, 0.0, np.nan]])
y = np.array(["u", "v", "u"])
names = ["a", "b", "c"]


def fingerprint(X=X, y=y, names=names):
    return Dataset("any", X, y, names).fingerprint()


def test_it_is_32_hex_digits_known_for_ever():
    assert fingerprint() == "370cb6733e1b4dca4f9f05eda267d5a3"


@pytest.mark.parametrize(
    "other",
    [
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        X[:, ::-1].copy()[:, ::-1],
        X.astype(np.float32),
        X.astype(">f8"),
        np.where(X == 0, -0.0, X),
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        sparse.coo_array(X),
        pd.DataFrame(X, columns=names),
    ],
)
def test_layout_and_type_do_not_matter(other):
    assert fingerprint(other) == fingerprint()


def test_stored_zeros_and_repeated_entries_do_not_matter():
    parts = sparse.coo_array(([1.0, 1.0, 0.0], ([0, 0, 1], [0, 0, 1])), shape=(3, 3))
    assert fingerprint(parts) == fingerprint(parts.toarray())


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float32, ">i4"])
def test_integers_count_by_value(dtype):
    whole = np.array([[1, 0], [0, 200], [7, 0]])
    same = fingerprint(whole.astype(dtype), names=["a", "b"])
    assert same == fingerprint(whole.astype(float), names=["a", "b"])


def test_wide_integers_keep_their_last_digit():
    wide = np.array([[2**53], [2**53 + 1], [0]])
    assert fingerprint(wide, names=["a"]) != fingerprint(wide - [[0], [1], [0]], names=["a"])


@pytest.mark.parametrize(
    "labels", [np.array(["u", "v", "u"], object), np.array(["u", "v", "u"], "U9")]
)
def test_type_of_labels_does_not_matter(labels):
    assert fingerprint(y=labels) == fingerprint()


def test_every_part_counts():
    swapped = X[:, [1, 0, 2]]
    moved = X.copy()
    moved[0, 0] = 1.5
    seen = {
        fingerprint(),
        fingerprint(moved),
        fingerprint(swapped),
        fingerprint(X[[1, 0, 2]]),
        fingerprint(y=np.array(["u", "u", "v"])),
        fingerprint(y=np.array(["u", "w", "u"])),
        fingerprint(names=["a", "b", "d"]),
        fingerprint(names=["ab", "", "c"]),
    }
    assert len(seen) == 8


def test_categories_count_by_value_not_by_code():
    def frame(values, categories):
        return pd.DataFrame({"a": pd.Categorical(values, categories=categories)})

    one = frame(["r", "g", None], ["r", "g"])
    same = frame(["r", "g", None], ["g", "unused", "r"])
    other = frame(["r", "g", "g"], ["r", "g"])
    assert fingerprint(one, names=["a"]) == fingerprint(same, names=["a"])
    assert fingerprint(one, names=["a"]) != fingerprint(other, names=["a"])
    assert Dataset("any", one, y, ["a"]).nominal_features == ["a"]


nan = np.nan
TEXT = "size,color,is_new,label\n1,red,True,u\n2,?,False,v\n3,blue,True,u\n4,green,True,v\n"


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
def test_ways_to_numbers(write, nominal, names, values):
    dataset = load_dataset(write(TEXT), "label", nominal=nominal)
    assert dataset.feature_names == names
    assert_array_equal(dataset.X, values)
    assert dataset.nominal_features == []
    assert dataset.target_name == "label"
    known = {"color": ("blue", "green", "red"), "is_new": (False, True)}
    assert dataset.categories == (known if nominal == "ordinal" else {})


def test_a_method_of_numbers_names_column_and_option(write):
    with pytest.raises(
        MaucError,
        match=r"data: column 'color' \(and 1 more\) is nominal \(values such as blue, green, "
        r"red\), and mdfs takes numbers only; pass nominal='ordinal', or onehot or drop",
    ):
        check_numeric(load_dataset(write(TEXT), "label"), "mdfs")
    check_numeric(load_dataset(write(TEXT), "label", nominal="ordinal"), "mdfs")


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


def test_flags_of_one_value_are_features(write):
    rows = [f"{'t' if i % 2 else '?'},{'t' if i % 3 else '?'},{'ab'[i % 2]}" for i in range(24)]
    path = write("\n".join([*BASKETS, "@data", *rows]), "market.arff")
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


@pytest.fixture
def patients(tmp_path):
    rows = [f"{i // 3 + 100},{i % 7 / 2},{'ab'[i % 2]}" for i in range(60)]
    path = tmp_path / "p.csv"
    path.write_text("\n".join(["patient,x,label", *rows]) + "\n,1.5,a\n")
    return path


def test_a_column_of_groups(patients):
    with pytest.raises(MaucError, match="groups 'patient' has no value in line 62; every row"):
        load_dataset(patients, "label", groups="patient")
    patients.write_text(patients.read_text().replace("\n,1.5,a", "\n119,1.5,"))
    dataset = load_dataset(patients, "label", groups="patient", skip_unlabelled=True)
    assert dataset.feature_names == ["x"]
    assert_array_equal(dataset.groups, np.arange(60) // 3 + 100)
    assert "20 groups by 'patient'" in dataset.notes
    assert dataset.source.endswith("groups='patient', skip_unlabelled=True)")
    assert dataset.take([0]).groups is dataset.groups
    other = Dataset("p", dataset.X, dataset.y, ["x"], groups=dataset.groups + 1)
    assert (
        len({dataset.fingerprint(), other.fingerprint(), replace(other, groups=None).fingerprint()})
        == 3
    )
    with pytest.warns(ColumnWarning, match="'patient' looks like a group.*groups='patient' keeps"):
        load_dataset(patients, "label", skip_unlabelled=True)
    for given, message in (
        ({"groups": "label"}, "target has 'label', which says what rows belong to"),
        ({"groups": "patient", "drop": "patient"}, "drop has 'patient', which says"),
        ({"groups": "patients"}, "no column 'patients'; did you mean 'patient'"),
    ):
        with pytest.raises(MaucError, match=message):
            load_dataset(patients, "label", **given)
    with pytest.raises(MaucError, match=r"groups must be None here.* pass it to fit"):
        open_columns(str(patients), "label", groups="patient")
