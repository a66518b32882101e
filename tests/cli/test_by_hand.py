"""Washington and Thyroid, which users get by hand: described, found by name."""

import numpy as np
import pytest

from mauc.datasets import load_dataset
from tests.helpers.cli_helpers import run, run_json
from tests.helpers.image_files import write_mall

pytestmark = pytest.mark.long


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give the folder MAUC_DATA, which is empty, and work beside it."""
    for name in ("data", "cache", "work"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("MAUC_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "data"


def write_matrix(folder, n_samples=40, n_genes=12):
    """Write a made-up expression matrix with four classes."""
    rng = np.random.default_rng(0)
    codes = np.arange(n_samples) % 4
    values = rng.normal(size=(n_genes, n_samples)) + np.outer(np.linspace(0, 2, n_genes), codes)
    samples = [f"s{j}" for j in range(n_samples)]
    lines = ["\t".join(["gene", *samples])]
    lines += ["\t".join([f"g{j}", *map(repr, row)]) for j, row in enumerate(values.tolist())]
    (folder / "thyroid.tsv").write_text("\n".join(lines))
    names = np.array(["FA", "FC", "NT", "PC"])[codes]
    pairs = [f"{sample}\t{name}" for sample, name in zip(samples, names, strict=True)]
    (folder / "thyroid_labels.tsv").write_text("\n".join(pairs))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("washington", ["11200", "210", "7", "engineering.purdue.edu", "gdal_translate -of ENVI",
                        "washington.hdr", "washington.mat", "washington_gt.hdr",
                        "washington_gt.mat", "dctest.project"]),
        ("thyroid", ["168", "2000", "4", "10.1186/1471-2164-7-190", "thyroid.tsv",
                     "thyroid_labels.tsv", "a line called class"]),
    ],
)  # fmt: skip
def test_info_says_what_where_and_how(folder, name, words):
    text = run("datasets", "info", name).stdout
    for word in words:
        assert word in text
    assert f"set MAUC_DATA to it, and say: mauc run {name} --tables tables/{name}" in text
    got = run_json("datasets", "info", name)
    assert got["where"] == "by hand"
    assert got["run"] == f"mauc run {name} --tables tables/{name}"
    assert len(got["files"]) == 3
    listed = {row["name"]: row["where"] for row in run_json("datasets", "list")}
    assert listed[name] == "by hand"


@pytest.mark.parametrize("name", ["washington", "thyroid"])
def test_what_is_not_here_is_told_with_the_way_to_get_it(folder, name):
    for command in (["select", name], ["datasets", "fetch", name]):
        assert f"`mauc datasets info {name}`" in run(*command, code=2).stderr


def test_an_image_is_found_by_name(folder):
    cube, truth = write_mall(folder)
    got = run_json("datasets", "info", "washington")
    assert got["where"] == "here"
    counts = np.bincount(truth.ravel())
    assert got["class_samples"] == {"grass": counts[2], "roof": counts[1], "water": counts[3]}
    assert got["read"] == f"{counts[1:].sum()} samples, 6 features, 3 classes"
    dataset = load_dataset("washington")
    np.testing.assert_array_equal(dataset.X, cube[truth > 0])
    assert got["fingerprint"] == dataset.fingerprint()
    text = run("datasets", "info", "washington").stdout
    assert f"{counts[1:].sum()} of 480 pixels have a label" in text
    assert "Put the files" not in text
    chosen = run_json("select", "washington", "-k", "2", "--method", "mdfs")["features"]
    assert chosen[0]["feature"].startswith("band_")
    assert run("datasets", "fetch", "washington").stdout.startswith("washington is in ")


def test_a_matrix_is_found_by_name(folder):
    write_matrix(folder)
    got = run_json("datasets", "info", "thyroid")
    assert got["class_samples"] == {"FA": 10, "FC": 10, "NT": 10, "PC": 10}
    assert got["read"] == "40 samples, 12 features, 4 classes"
    chosen = run_json("select", "thyroid", "-k", "2", "--method", "mdfs")["features"]
    assert chosen[0]["feature"].startswith("g")
    stopped = run("select", "thyroid", "--memory", "1GB", code=2).stderr
    assert "labels are in another one, thyroid_labels.tsv, is read whole" in stopped


def test_files_that_cannot_be_read_are_described_and_named(folder):
    write_mall(folder)
    (folder / "washington_gt.hdr").unlink()
    got = run("datasets", "info", "washington", code=2)
    assert "gdal_translate" in got.stdout
    assert "put its ground truth, 24 x 20 numbers of classes" in got.stderr
    (folder / "washington.mat").touch()
    got = run("datasets", "info", "washington", code=2)
    assert "several files for 'washington': washington.hdr, washington.mat" in got.stderr
