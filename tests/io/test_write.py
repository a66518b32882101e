"""What is written is read back alike; files are replaced whole, and only by force."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse

from mauc.datasets import Dataset, load_dataset, write_table
from mauc.exceptions import MaucError
from tests.helpers.strategies import examples

ENDINGS = ["arff", "csv", "feather", "npz", "parquet", "svm", "tsv", "csv.gz", "arff.gz", "svm.gz"]
OF_TABLES = ("csv", "tsv", "csv.gz", "parquet", "feather", "xlsx")
names = ["plain", "two words", "it's", 'a "b", c', "ü%"]


@pytest.fixture
def dataset(rng):
    X = rng.normal(size=(6, 5)) * 10.0 ** rng.integers(-9, 9, (6, 5))
    X[2, 1] = np.nan
    X[:, 4] = 0
    return Dataset("some", X, np.array(["u v", "it's", "u v", "w", "w", "it's"]), names)


def again(dataset, path, **options):
    written = write_table(dataset, path, **options)
    is_table = any(path.name.endswith(ending) for ending in OF_TABLES)
    return load_dataset(written, dataset.target_name if is_table else None)


@pytest.mark.parametrize("ending", ENDINGS)
def test_numbers_come_back_to_the_bit(dataset, tmp_path, ending):
    assert again(dataset, tmp_path / f"data.{ending}").fingerprint() == dataset.fingerprint()


def test_a_workbook_keeps_16_digits(dataset, tmp_path):
    back = again(dataset, tmp_path / "data.xlsx")
    np.testing.assert_allclose(back.X, dataset.X, rtol=1e-15)
    assert (back.feature_names, back.y.tolist()) == (names, dataset.y.tolist())
    wide = Dataset("wide", np.zeros((2, 16384)), np.array([0, 1]), [f"x{j}" for j in range(16384)])
    with pytest.raises(MaucError, match="wide does not fit into a sheet"):
        write_table(wide, tmp_path / "wide.xlsx")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool])
def test_other_types_of_numbers_come_back_by_value(dataset, tmp_path, ending, dtype):
    X = np.nan_to_num(dataset.X[:, :2]) % 100 + 0.1
    other = Dataset("some", X.astype(dtype), dataset.y, names[:2])
    assert again(other, tmp_path / f"data.{ending}").fingerprint() == other.fingerprint()


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_sparse_set_comes_back(dataset, tmp_path, ending):
    X = sparse.csr_array(np.where(np.isnan(dataset.X), 0, dataset.X * (dataset.X > 0)))
    thin = Dataset("thin", X, dataset.y, names)
    back = again(thin, tmp_path / f"data.{ending}")
    assert back.fingerprint() == thin.fingerprint()
    assert sparse.issparse(back.X) == ending.startswith(("svm", "arff"))


@pytest.mark.parametrize("ending", ["arff", "csv", "feather", "parquet", "tsv", "xlsx"])
def test_nominal_columns_come_back(tmp_path, ending):
    frame = pd.DataFrame({"a": pd.Categorical(["x y", None, "it's, so"]), "b": [1.5, np.nan, 2.0]})
    dataset = Dataset("some", frame, np.array(["u", "v", "u"]), ["a", "b"], target_name="kind")
    back = again(dataset, tmp_path / f"data.{ending}")
    assert back.fingerprint() == dataset.fingerprint()
    assert back.nominal_features == ["a"]


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet", "svm"])
def test_labels_that_are_numbers_come_back_as_numbers(dataset, tmp_path, ending):
    numbered = Dataset("some", dataset.X, np.array([3, -1, 3, 3, 7, 7]), names)
    assert again(numbered, tmp_path / f"data.{ending}").y.tolist() == [3, -1, 3, 3, 7, 7]


@examples(15)
@given(
    X=npst.arrays(
        np.float64, (3, 2), elements=st.floats(allow_infinity=False, allow_subnormal=True)
    ),
    ending=st.sampled_from(["arff", "csv", "svm", "npz"]),
)
def test_any_number_comes_back(tmp_path_factory, X, ending):
    dataset = Dataset("some", X, np.array(["u", "v", "u"]), ["a", "b"])
    path = tmp_path_factory.mktemp("any") / f"data.{ending}"
    assert again(dataset, path).fingerprint() == dataset.fingerprint()


def test_a_reduced_set_is_written_in_the_order_of_the_ranking(dataset, tmp_path):
    back = again(dataset.take([3, 0]), tmp_path / "data.csv")
    assert back.feature_names == ['a "b", c', "plain"]


def test_columns_of_a_frame_are_taken_with_their_categories():
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"]), "b": [1.5, 2.0]})
    dataset = Dataset("some", frame, np.array([0, 1]), ["a", "b"], {"a": ("x", "y")})
    assert dataset.take([1, 0]).categories == {"a": ("x", "y")}
    numbers = dataset.take([1])
    assert isinstance(numbers.X, np.ndarray)
    assert numbers.categories == {}


@pytest.mark.parametrize("columns", [[5], [-1], [0, 0]])
def test_columns_that_are_not_there(dataset, columns):
    with pytest.raises(MaucError, match=r"columns must be different numbers in \[0, 4\]"):
        dataset.take(columns)


def test_equal_tables_give_equal_packed_files(dataset, tmp_path):
    paths = [write_table(dataset, tmp_path / f"{name}.csv.gz") for name in "ab"]
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert gzip.decompress(paths[0].read_bytes()).startswith(b"plain,two words")


def test_a_file_is_replaced_only_by_force(dataset, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("precious")
    with pytest.raises(MaucError, match=r"data\.csv exists already; force"):
        write_table(dataset, path)
    assert path.read_text() == "precious"
    assert write_table(dataset, path, force=True) == path
    assert path.read_text() != "precious"


def test_a_failure_leaves_the_old_file_and_no_other(dataset, tmp_path):
    path = tmp_path / "data.arff"
    path.write_text("precious")
    endless = Dataset("some", np.where(dataset.X > 0, np.inf, 0), dataset.y, names)
    with pytest.raises(MaucError, match="column 'plain' holds infinite values"):
        write_table(endless, path, force=True)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["data.arff"]


def test_a_frame_with_its_target_and_a_class_called_na(tmp_path):
    frame = pd.DataFrame({"label": ["NA", "v"], "a": [1, 2]})
    path = write_table(frame, tmp_path / "data.csv", target="label")
    assert path.read_text() == "a,label\n1,NA\n2,v\n"
    assert load_dataset(path, "label").y.tolist() == ["NA", "v"]


def small(X, y=(0, 1), names=("a",)):
    return Dataset("some", X, np.array(y), list(names))


WORDS = small(pd.DataFrame({"a": pd.Categorical(["x", "y"])}))
ONE = small(np.eye(2)[:, :1])


@pytest.mark.parametrize(
    ("data", "name", "options", "message"),
    [
        (WORDS, "data.npz", {}, r"column 'a' is nominal .* file takes numbers only"),
        (WORDS, "data.svm", {}, r"column 'a' is nominal .* file takes numbers only"),
        (ONE, "data.ods", {}, "ods files are only read; write one of arff"),
        (ONE, "data.csv.xz", {}, "xz files are only read; write one of arff"),
        (ONE, "data.mat", {}, "mat files are only read; write one of arff, csv, feather, npz, par"),
        (ONE, "data.xyz", {}, "is not a known format"),
        (ONE, "none/data.csv", {}, r"the folder .*none does not exist"),
        (ONE, "folder.csv", {"force": True}, "is a folder"),
        ([[1]], "data.csv", {}, "data must be a Dataset or a pandas DataFrame, got list"),
        (pd.DataFrame({"a": [1]}), "data.csv", {}, "target must name the column of the data frame"),
        (ONE, "data.csv", {"target": "plain"}, "target goes with a data frame"),
        (small(ONE.X, names=["class"]), "data.csv", {}, "a feature both have the name 'class'"),
        (small(ONE.X, ["NA", "7"]), "data.csv", {}, "column 'class' has the value 'NA', which st"),
    ],
)
def test_what_cannot_be_written(tmp_path, data, name, options, message):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(MaucError, match=message):
        write_table(data, tmp_path / name, **options)
    assert os.listdir(tmp_path) == ["folder.csv"]
