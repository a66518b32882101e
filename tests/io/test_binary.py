"""Files of arrays: npz, mat and svmlight."""

import gzip

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.io import savemat

from mauc.datasets import load_dataset
from mauc.exceptions import MaucError

X = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])


@pytest.fixture
def save(tmp_path):
    def save(**arrays):
        path = tmp_path / "data.npz"
        np.savez(path, **arrays)
        return path

    return save


@pytest.mark.parametrize(
    ("arrays", "values", "names", "labels"),
    [
        (
            {"X": X, "y": [1, 0, 1], "classes": ["u", "v"], "feature_names": ["a", "b"]},
            X,
            ["a", "b"],
            ["v", "u", "v"],
        ),
        (
            {"X": X[:, :1].astype(np.uint8), "y": [7, 8, 7]},
            X[:, :1].astype(np.uint8),
            ["x0"],
            [7, 8, 7],
        ),
        ({"X": [[1.5, 0], [2.5, 1]]}, np.array([[1.5], [2.5]]), ["x0"], [0, 1]),  # last column
    ],
)
def test_npz(save, arrays, values, names, labels):
    dataset = load_dataset(save(**arrays))
    assert_array_equal(dataset.X, values, strict=True)
    assert (dataset.feature_names, dataset.y.tolist()) == (names, labels)


def test_npz_columns_can_be_nominal(save):
    dataset = load_dataset(save(X=X, y=[0, 1, 0]), categorical_features=[0])
    assert dataset.categories == {"x0": (1.0, 3.0, 5.0)}
    assert_array_equal(dataset.X["x1"], X[:, 1])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"data": X, "y": [0, 1, 0]}, "must hold an array 'X' .* it holds data, y"),
        ({"X": X[0], "y": [0]}, r"X must be a numeric array of two dimensions .* shape \(2,\)"),
        ({"X": X.astype(str), "y": [0, 1, 0]}, "X must be a numeric array"),
        ({"X": X, "y": [0, 1]}, r"y must hold 3 labels .* got shape \(2,\)"),
        ({"X": X, "y": [0, 1, 2], "classes": ["u", "v"]}, r"codes in \[0, 1\].* got 0, 1, 2"),
        ({"X": X, "y": [0, 1, 0.5], "classes": ["u", "v"]}, r"y must hold codes in \[0, 1\]"),
        ({"X": X, "y": [0, 1, 0], "feature_names": ["a"]}, "must hold 2 names .* got 1"),
        ({"X": X, "y": [0, 1, 0], "feature_names": ["a", "a"]}, "both have the name 'a'"),
        ({"X": X, "y": [0, 1, np.nan]}, "y has no label in row 3"),
        ({"X": [[2**53 + 1], [2**54]], "y": [0, 1]}, r"column 'x0' holds integers beyond 2\*\*53"),
        ({"X": X, "y": np.array([{}, 1, 2], object)}, "holds Python objects, which are not loaded"),
    ],
)
def test_bad_npz(save, arrays, message):
    with pytest.raises(MaucError, match=message) as caught:
        load_dataset(save(**arrays))
    assert "data.npz" in str(caught.value)


@pytest.mark.parametrize("names", [("X", "y"), ("X", "Y"), ("fea", "gnd")])
def test_mat_under_its_usual_names(tmp_path, names):
    savemat(tmp_path / "data.mat", {names[0]: X, names[1]: np.array([[1], [2], [1]])})
    dataset = load_dataset(tmp_path / "data.mat")
    assert_array_equal(dataset.X, X)
    assert dataset.y.tolist() == [1, 2, 1]


def test_mat_with_names(tmp_path):
    names = {"classes": np.array(["one", "three"], object), "feature_names": np.array(["a", "bcd"])}
    savemat(tmp_path / "data.mat", {"X": X, "y": [1, 2, 1], **names})
    dataset = load_dataset(tmp_path / "data.mat")
    assert dataset.y.tolist() == ["one", "three", "one"]
    assert dataset.feature_names == ["a", "bcd"]


def test_mat_with_labels_of_text_and_a_sparse_matrix(tmp_path):
    arrays = {"X": sparse.csc_array(np.eye(3)), "y": np.array(["u", "v", "u"], object)}
    savemat(tmp_path / "data.mat", arrays)
    dataset = load_dataset(tmp_path / "data.mat")
    assert sparse.issparse(dataset.X)
    assert dataset.y.tolist() == ["u", "v", "u"]


def test_mat_without_a_matrix(tmp_path):
    savemat(tmp_path / "data.mat", {"other": X})
    with pytest.raises(MaucError, match=r"must hold a matrix 'X' .* it holds other"):
        load_dataset(tmp_path / "data.mat")


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("is_packed", [False, True])
def test_svmlight_stays_sparse(tmp_path, first, is_packed):
    text = (
        f"# note\n1 {first}:0.5 {first + 2}:-3\n\n-1 {first + 1}:1e-3 # said of the row\n".encode()
    )
    path = tmp_path / ("data.svm.gz" if is_packed else "data.svm")
    path.write_bytes(gzip.compress(text) if is_packed else text)
    dataset = load_dataset(path)
    assert sparse.issparse(dataset.X)
    assert_array_equal(dataset.X.toarray(), [[0.5, 0, -3], [0, 1e-3, 0]])
    assert dataset.y.tolist() == [1, -1]
    assert dataset.feature_names == ["x0", "x1", "x2"]
