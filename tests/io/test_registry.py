"""Names are looked for among bundled sets, in MAUC_DATA, in the cache, and then as paths."""

import gzip

import numpy as np
import pytest

from mauc.datasets import BUNDLED, dataset_info, list_datasets, load_bundled, load_dataset
from mauc.exceptions import MaucError


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    """Give empty folders for MAUC_DATA and MAUC_CACHE, and work in a third."""
    for name in ("data", "cache", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("MAUC_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def save(path, value):
    np.savez(path, X=np.full((2, 1), value), y=[0, 1])


@pytest.mark.parametrize("name", BUNDLED)
def test_the_registry_tells_the_truth_of_bundled_sets(name):
    entry, dataset = dataset_info(name), load_dataset(name)
    assert (entry.n_samples, entry.n_features) == dataset.X.shape
    assert (dataset.name, dataset.y.dtype.kind) == (name, "U")
    assert len(dataset.feature_names) == entry.n_features
    counts = np.unique(dataset.y, return_counts=True)[1]
    assert list(entry.class_counts) == sorted(counts, reverse=True)
    assert entry.n_classes == len(counts)
    assert entry.is_bundled


@pytest.mark.data
@pytest.mark.parametrize("name", ["isolet", "mnist", "phoneme", "synthetic"])
def test_the_registry_tells_the_truth_of_the_sets_of_the_paper(load_paper_data, name):
    X, y = load_paper_data(name)
    entry = dataset_info(name)
    assert (entry.n_samples, entry.n_features) == X.shape
    assert list(entry.class_counts) == sorted(np.bincount(y), reverse=True)
    assert entry.versus_paper.startswith("same")


def test_bundled_sets_take_the_options_of_features_only():
    assert load_dataset("iris", drop=[0, -1]).feature_names[0] == "sepal width (cm)"
    with pytest.raises(MaucError, match=r"wine has its labels already .* got target 'x'"):
        load_dataset("wine", "x")
    with pytest.raises(MaucError, match="encoding goes with files, not with the bundled"):
        load_dataset("wine", encoding="utf-8")
    with pytest.raises(MaucError, match="data set must be one of"):
        load_bundled("none")


def test_a_local_folder_has_data_sets_by_name(folders):
    save(folders / "data" / "usps.npz", 5.0)
    save(folders / "data" / "mine.npz", 6.0)
    assert load_dataset("usps").X[0, 0] == 5
    assert load_dataset("usps").name == "usps"
    assert load_dataset("mine").X[0, 0] == 6


def test_bundled_names_come_first_and_paths_last(folders):
    save(folders / "data" / "wine.npz", 5.0)
    assert load_dataset("wine").n_features == 13
    save(folders / "data" / "mine.npz", 6.0)
    (folders / "work" / "mine").write_text("a,label\n1,u\n2,v\n")
    assert load_dataset("mine").X[0, 0] == 6
    assert load_dataset("./mine", "label", format="csv").X[0, 0] == 1
    save(folders / "work" / "mine.npz", 7.0)
    assert load_dataset("mine.npz").X[0, 0] == 7


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("usps", r"'usps' is not on this machine: .*`mauc datasets fetch usps`.*set MAUC_DATA"),
        ("isolett", r"is neither a file nor a bundled data set .* did you mean 'isolet'"),
        ("none.csv", r"none\.csv is neither a file nor a bundled data set \(breast_cancer, "),
        ("no/such.csv", "is neither a file nor"),
        ("mine", "mine is neither a file"),
    ],
)
def test_what_is_not_there(folders, monkeypatch, source, message):
    for name in ("mine.old.csv", "mine_2.csv"):  # names are whole names
        (folders / "data" / name).write_text("a,class\n1,u\n2,v\n")
    with pytest.raises(MaucError, match=message):
        load_dataset(source)
    monkeypatch.setenv("MAUC_DATA", "/no/such/folder")
    with pytest.raises(MaucError, match="MAUC_DATA must be a folder with data sets, got /no/such"):
        load_dataset("usps")


def test_the_list_is_sorted_and_complete():
    names = [entry.name for entry in list_datasets()]
    assert names == sorted(names)
    assert set(BUNDLED) <= set(names)
    for entry in list_datasets():
        assert entry.title
        assert entry.licence
        assert entry.versus_paper
        assert entry.is_bundled + (entry.openml_id is not None) + (entry.url is not None) == 1
    with pytest.raises(MaucError, match=r"data set must be one of breast_cancer, .* got 'none'"):
        dataset_info("none")


def test_a_folder_in_front_of_a_name_is_looked_for_in_mauc_data_after_paths(folders):
    (folders / "data" / "more").mkdir()
    save(folders / "data" / "more" / "su.npz", 1.0)
    dataset = load_dataset("more/su")
    assert (dataset.name, dataset.X[0, 0]) == ("more/su", 1.0)
    (folders / "work" / "more").mkdir()
    save(folders / "work" / "more" / "su.npz", 2.0)
    assert load_dataset("more/su.npz").X[0, 0] == 2.0
    with pytest.raises(MaucError, match="more/us is neither a file"):
        load_dataset("more/us")


def test_files_of_other_formats_are_found_by_name(folders):
    (folders / "data" / "mine.csv").write_text("a,class\n1,u\n2,v\n")
    dataset = load_dataset("mine")
    assert (dataset.name, dataset.y.tolist()) == ("mine", ["u", "v"])
    assert load_dataset("mine", "a").y.tolist() == [1, 2]
    (folders / "data" / "more").mkdir()
    (folders / "data" / "more" / "it.tsv.gz").write_bytes(gzip.compress(b"a\tclass\n1\tu\n2\tv\n"))
    assert load_dataset("more/it").n_samples == 2
    save(folders / "data" / "mine.npz", 6.0)  # comes first
    assert load_dataset("mine").X[0, 0] == 6
    (folders / "data" / "headless.csv").write_text("1,u\n2,v\n")
    assert load_dataset("headless", header=False).y.tolist() == ["u", "v"]


def test_several_files_of_one_name_are_refused(folders):
    for ending in ("csv", "tsv", "md"):  # the last is no format
        (folders / "data" / f"mine.{ending}").write_text("a,class\n1,u\n2,v\n")
    with pytest.raises(MaucError, match=r"has several files for 'mine': mine\.csv, mine\.tsv; "):
        load_dataset("mine")
