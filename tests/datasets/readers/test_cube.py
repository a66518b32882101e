"""Image cubes with ground truth: one row per labelled pixel, whatever files hold them."""

import numpy as np
import pytest
from scipy.io import savemat

from mauc.datasets import load_dataset
from mauc.exceptions import MaucError
from tests.helpers.image_files import AXES, CUBE, NAMES, TRUTH, write_envi

LABELLED = np.flatnonzero(TRUTH)  # 7 of 12 pixels
X = CUBE.reshape(12, 5)[LABELLED]
Y = TRUTH.ravel()[LABELLED]


def write(folder, cube, truth):
    """Write the cube and its truth in a form each."""
    for name, value, form in (("a", CUBE, cube), ("a_gt", TRUTH, truth)):
        if form == "mat":
            savemat(folder / f"{name}.mat", {"any": value})
        else:
            write_envi(folder / name, value, interleave=form)
    return folder / ("a.mat" if cube == "mat" else "a.hdr")


@pytest.mark.parametrize("truth", ["mat", "bsq"])
@pytest.mark.parametrize("cube", ["mat", *AXES])
def test_all_forms_give_the_same_data(tmp_path, cube, truth):
    dataset = load_dataset(write(tmp_path, cube, truth))
    np.testing.assert_array_equal(dataset.X, X)
    assert dataset.y.tolist() == Y.tolist() == [1, 2, 2, 1, 3, 3, 1]
    assert dataset.feature_names == ["band_1", "band_2", "band_3", "band_4", "band_5"]
    assert dataset.name == "a"
    assert "7 of 12 pixels have a label" in dataset.notes[1]


def test_names_of_classes_and_bands_are_used(tmp_path):
    write_envi(tmp_path / "a", CUBE, extra=["wavelength = {1, 2, 3, 4, 5}"])
    write_envi(tmp_path / "a_gt", TRUTH, dtype="u1", extra=[NAMES])
    dataset = load_dataset(tmp_path / "a.hdr")
    assert dataset.y.tolist() == ["roof", "grass", "grass", "roof", "water", "water", "roof"]
    assert dataset.feature_names == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("names", [["roof", "grass", "water"], ["Unclassified", "r", "g", "w"]])
def test_names_in_a_mat_file_count_from_one_or_begin_with_none(tmp_path, names):
    savemat(tmp_path / "a.mat", {"cube": CUBE})
    savemat(tmp_path / "a_gt.mat", {"map": TRUTH, "classes": np.array(names, dtype=object)})
    assert load_dataset(tmp_path / "a.mat").y[:2].tolist() == names[-3:-1]


def test_classes_that_are_called_unlabelled_are_left_out(tmp_path):
    names = "class names = {Unclassified, roof, Background, water}"
    write_envi(tmp_path / "a", CUBE)
    write_envi(tmp_path / "a_gt", TRUTH, extra=[names])
    dataset = load_dataset(tmp_path / "a.hdr")
    assert dataset.y.tolist() == ["roof", "roof", "water", "water", "roof"]
    assert "5 of 12 pixels" in dataset.notes[1]


def test_a_class_0_with_a_name_is_left_out_and_told(tmp_path):
    write_envi(tmp_path / "a", CUBE)
    write_envi(tmp_path / "a_gt", TRUTH, extra=["class names = {soil, roof, grass, water}"])
    dataset = load_dataset(tmp_path / "a.hdr")
    assert dataset.n_samples == 7
    assert "5 pixels of class 0 ('soil') left out as unlabelled" in dataset.notes


def test_a_ground_truth_within_the_file_of_the_cube(tmp_path):
    savemat(tmp_path / "a.mat", {"X": CUBE, "GT": TRUTH.astype(float), "scale": 2.0})
    np.testing.assert_array_equal(load_dataset(tmp_path / "a.mat").X, X)
    savemat(tmp_path / "a_gt.mat", {"other": np.where(TRUTH == 3, 0, TRUTH)})  # it comes first
    assert sorted(set(load_dataset(tmp_path / "a.mat").y)) == [1, 2]


def test_the_names_of_the_usual_collections(tmp_path):
    savemat(tmp_path / "Pines_corrected.mat", {"cube": CUBE})
    savemat(tmp_path / "Pines_gt.mat", {"gt": TRUTH})
    assert load_dataset(tmp_path / "Pines_corrected.mat").n_samples == 7


def test_missing_labels_of_the_ground_truth(tmp_path):
    write_envi(tmp_path / "a", CUBE)
    write_envi(tmp_path / "a_gt", TRUTH, dtype="f4", extra=["data ignore value = 3"])
    assert sorted(set(load_dataset(tmp_path / "a.hdr").y)) == [1, 2]
    (tmp_path / "a_gt.hdr").unlink()
    savemat(tmp_path / "a_gt.mat", {"gt": np.where(TRUTH == 3, np.nan, TRUTH)})
    assert sorted(set(load_dataset(tmp_path / "a.hdr").y)) == [1, 2]


def test_pixels_and_values_without_data(tmp_path):
    cube = CUBE.copy()
    cube[0, 2] = -1  # a labelled pixel
    cube[1, 2, 3] = -1
    cube[0, 1] = -1  # without a label
    write_envi(tmp_path / "a", cube, extra=["data ignore value = -1", "bbl = {1, 1, 0, 1, 1}"])
    write_envi(tmp_path / "a_gt", TRUTH)
    dataset = load_dataset(tmp_path / "a.hdr")
    assert dataset.y.tolist() == [1, 2, 1, 3, 3, 1]
    wanted = X[[0, 2, 3, 4, 5, 6]].astype(float)
    wanted[2, 3] = np.nan
    np.testing.assert_array_equal(dataset.X, wanted)
    assert "1 labelled pixels without data (-1) left out" in dataset.notes
    assert "1 values of -1 (data ignore value) are missing" in dataset.notes
    assert dataset.notes[-1].endswith("kept all the same: 3")


def test_only_labelled_pixels_are_read(tmp_path, monkeypatch):
    read = []
    original = np.memmap.__getitem__

    def counted(self, index):
        found = original(self, index)
        if not np.shares_memory(found, self):
            read.append(found.size)
        return found

    monkeypatch.setattr(np.memmap, "__getitem__", counted)
    for interleave in AXES:
        read.clear()
        load_dataset(write(tmp_path, interleave, "mat"))
        assert sum(read) == X.size


def test_a_matrix_x_is_no_cube(tmp_path):
    values = {"X": np.arange(6.0).reshape(3, 2), "y": [0, 1, 1], "extra": CUBE}
    savemat(tmp_path / "a.mat", values)
    assert load_dataset(tmp_path / "a.mat").X.shape == (3, 2)


@pytest.mark.parametrize(
    ("truth", "message"),
    [
        ({}, r"a_gt\.mat must hold the ground truth of a\.mat .* 3 x 4; it holds nothing"),
        ({"g": TRUTH[:2]}, r"its variable 'g' is 2 x 4 pixels, but the cube a\.mat is 3 x 4"),
        ({"g": TRUTH.T}, r"'g' is 4 x 3 pixels, .*; one of them is transposed"),
        ({"g": TRUTH, "h": TRUTH}, r"several variables of 3 x 4 .*: g, h; save the right one"),
        ({"g": TRUTH * 0}, "no pixel has a label; all are 0"),
        ({"g": TRUTH - 1}, "must hold whole numbers, 0 for pixels without a label, got -1"),
        ({"g": TRUTH / 2}, r"must hold whole numbers, .* got 0\.5\. Is it the image itself"),
        ({"g": TRUTH, "names": ["u", "v"]}, "it has 2 names of classes, but a pixel of class 3"),
        ({"g": TRUTH, "names": ["u", "v", "u"]}, "two classes have the name 'u'"),
    ],
)
def test_ground_truth_that_does_not_fit(tmp_path, truth, message):
    savemat(tmp_path / "a.mat", {"cube": CUBE})
    savemat(tmp_path / "a_gt.mat", truth)
    with pytest.raises(MaucError, match=message):
        load_dataset(tmp_path / "a.mat")


def test_ground_truth_of_envi_that_does_not_fit(tmp_path):
    write_envi(tmp_path / "a", CUBE)
    write_envi(tmp_path / "a_gt", CUBE)
    with pytest.raises(MaucError, match=r"a_gt\.hdr: the ground truth of a\.hdr must have 1 band"):
        load_dataset(tmp_path / "a.hdr")
    write_envi(tmp_path / "a_gt", TRUTH[:, :3])
    with pytest.raises(MaucError, match=r"it is 3 x 3 pixels, but the cube a\.hdr is 3 x 4"):
        load_dataset(tmp_path / "a.hdr")
    savemat(tmp_path / "a_gt.mat", {"gt": TRUTH})
    with pytest.raises(MaucError, match=r"more than one ground truth .*: a_gt\.hdr, a_gt\.mat"):
        load_dataset(tmp_path / "a.hdr")


def test_cubes_that_are_none(tmp_path):
    savemat(tmp_path / "a.mat", {"cube": CUBE, "again": CUBE})
    with pytest.raises(MaucError, match=r"must hold one image cube .* it holds cube, again; save"):
        load_dataset(tmp_path / "a.mat")
    savemat(tmp_path / "a.mat", {"flat": TRUTH})
    with pytest.raises(MaucError, match=r"or an image cube of three dimensions; it holds flat"):
        load_dataset(tmp_path / "a.mat")
    savemat(tmp_path / "a.mat", {"cube": CUBE})
    with pytest.raises(
        MaucError, match=r"3 x 4 pixels and 5 bands .*a_gt\.mat or a_gt\.hdr, or as"
    ):
        load_dataset(tmp_path / "a.mat")
    header = write_envi(tmp_path / "b", CUBE, extra=["data ignore value = 7"])
    with pytest.raises(MaucError, match=r"put its ground truth, .*b_gt\.mat or b_gt\.hdr\."):
        load_dataset(header)
    write_envi(tmp_path / "b", CUBE * 0 + 7, extra=["data ignore value = 7"])
    write_envi(tmp_path / "b_gt", TRUTH)
    with pytest.raises(MaucError, match="all labelled pixels hold the 'data ignore value' 7"):
        load_dataset(header)
    with pytest.raises(MaucError, match="separator goes with csv, tsv, txt files, not with envi"):
        load_dataset(header, separator=";")
    with pytest.raises(MaucError, match="has its labels already"):
        load_dataset(write(tmp_path, "mat", "mat"), "class")


@pytest.mark.parametrize("name", ["dc.tif", "dc.lan"])
def test_images_of_other_formats_are_to_be_converted(tmp_path, name):
    (tmp_path / name).write_bytes(b"II*")
    with pytest.raises(MaucError, match=rf"`gdal_translate -of ENVI {name} dc`, and give dc\.hdr"):
        load_dataset(tmp_path / name)
