"""Washington and Thyroid, which users get by hand: their files in, a table that mauc reads out."""

import numpy as np
import pytest
from scipy.io import savemat

from mauc.datasets import load_dataset
from reproduction import thyroid, washington

CUBE = np.arange(60, dtype=np.int16).reshape(3, 4, 5)  # 3 lines, 4 columns, 5 bands
TRUTH = np.array([[1, 0, 2, 2], [0, 0, 1, 3], [3, 0, 0, 1]], dtype=np.uint8)
NAMES = ["Unclassified", "roof", "grass", "water"]


@pytest.mark.parametrize("interleave", ["bsq", "bil", "bip"])
@pytest.mark.parametrize("byte_order", [0, 1])
def test_an_envi_image_by_hand(tmp_path, interleave, byte_order, capsys):
    envi = pytest.importorskip("spectral").envi
    image, truth, output = (tmp_path / name for name in ("dc.hdr", "gt.hdr", "washington.npz"))
    envi.save_image(image, CUBE, interleave=interleave, byteorder=byte_order)
    envi.save_classification(truth, TRUTH, class_names=NAMES)
    washington.main([str(image), str(truth), str(output)])
    dataset = load_dataset(output)
    # The seven pixels with a class, line by line; pixel (0, 2) has the bands 10, ..., 14.
    np.testing.assert_array_equal(dataset.X[1], [10, 11, 12, 13, 14])
    np.testing.assert_array_equal(dataset.X, CUBE[TRUTH > 0])
    assert dataset.X.dtype == np.int16  # in the order of this machine
    assert list(dataset.y) == ["roof", "grass", "grass", "roof", "water", "water", "roof"]
    assert list(dataset.feature_names) == [f"band_{number}" for number in range(1, 6)]
    assert "7 of 12 pixels have a class; 5 bands" in capsys.readouterr().out


def test_a_matlab_image_by_hand(tmp_path):
    image, truth, output = (tmp_path / name for name in ("dc.mat", "gt.mat", "washington.npz"))
    savemat(image, {"cube": CUBE})
    savemat(truth, {"truth": TRUTH})
    washington.main([str(image), str(truth), str(output)])
    dataset = load_dataset(output)
    np.testing.assert_array_equal(dataset.X, CUBE[TRUTH > 0])
    assert list(dataset.y) == [1, 2, 2, 1, 3, 3, 1]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (({"a": CUBE, "b": CUBE}, {"t": TRUTH}), "must have one array of 3 dimensions, got a, b"),
        (({"a": CUBE}, {"t": TRUTH[:2]}), "the 3 x 4 pixels of the image, got 2 x 4"),
        (({"a": CUBE}, {"t": 0 * TRUTH}), "got 0 everywhere"),
    ],
)
def test_an_image_that_does_not_fit_is_refused(tmp_path, arrays, message):
    for name, values in zip(("dc.mat", "gt.mat"), arrays, strict=True):
        savemat(tmp_path / name, values)
    with pytest.raises(SystemExit, match=message):
        washington.main([str(tmp_path / name) for name in ("dc.mat", "gt.mat", "out.npz")])
    assert not (tmp_path / "out.npz").exists()


MATRIX = "gene\ts1\ts2\ts3\ng1\t1\t2\t3\ng2\t4.5\tNA\t6\n"


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_a_matrix_by_hand(tmp_path, separator, capsys):
    path, output = tmp_path / "matrix.txt", tmp_path / "thyroid.npz"
    path.write_text((MATRIX + "class\tNT\tPC\tNT\n").replace("\t", separator))
    thyroid.main([str(path), str(output)])
    dataset = load_dataset(output)
    np.testing.assert_array_equal(dataset.X, [[1, 4.5], [2, np.nan], [3, 6]])
    assert list(dataset.y) == ["NT", "PC", "NT"]
    assert list(dataset.feature_names) == ["g1", "g2"]
    assert "3 samples and 2 genes" in capsys.readouterr().out


def test_labels_in_a_file_of_their_own(tmp_path):
    path, labels = tmp_path / "matrix.tsv", tmp_path / "labels.tsv"
    path.write_text(MATRIX)
    labels.write_text("s3\tPC\ns1\tNT\ns2\tNT\ns9\tFA\n")
    X, y = thyroid.read_matrix(path, labels)
    assert list(y) == ["NT", "NT", "PC"]
    assert list(X.index) == ["s1", "s2", "s3"]
    labels.write_text("s1\tNT\ns2\tPC\n")
    with pytest.raises(SystemExit, match=r"the class of every sample .* got none for s3"):
        thyroid.read_matrix(path, labels)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MATRIX, "must have a line called class"),
        (MATRIX + "class\tNT\t\tPC\n", "every sample must have a class, got none for s2"),
        (MATRIX + "g3\ta\tb\tc\nclass\tNT\tPC\tPC\n", "must hold numbers"),
    ],
)
def test_a_matrix_that_lacks_something_is_refused(tmp_path, text, message):
    path = tmp_path / "matrix.tsv"
    path.write_text(text)
    with pytest.raises(SystemExit, match=message):
        thyroid.read_matrix(path)
