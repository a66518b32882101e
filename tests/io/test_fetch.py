"""Downloads are checked, kept and found again; a server of the test stands for the origins."""

import json
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets
from numpy.testing import assert_array_equal
from sklearn.utils import Bunch

from mauc.datasets import dataset_info, fetch, load_dataset
from mauc.exceptions import MaucError
from mauc.io import registry

CSV = b"row.names,x.1,x.2,g,speaker\n1,0.5,2,aa,s1\n2,1.5,4,sh,s2\n3,3.5,3,aa,s3\n"


@pytest.fixture
def origin(tmp_path):
    """A folder that is served, with the address, and what was asked for."""
    origin = Bunch(folder=tmp_path / "origin", asked=[])
    origin.folder.mkdir()

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *args):
            origin.asked.append(self.path)

    handler = partial(Handler, directory=origin.folder)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    origin.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield origin
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("MAUC_DATA", raising=False)
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "cache"))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def phoneme(origin, monkeypatch):
    """The registered set, made small and served from here."""
    (origin.folder / "phoneme.data").write_bytes(CSV)
    small = {"n_samples": 3, "n_features": 2, "n_classes": 2, "class_counts": (2, 1)}
    entry = replace(dataset_info("phoneme"), url=f"{origin.url}/phoneme.data", **small)

    def register(**changes):
        monkeypatch.setitem(registry.REGISTRY, "phoneme", replace(entry, **changes))

    register()
    return register


@pytest.fixture
def isolet(monkeypatch):
    """A registered set of OpenML, made small; a function stands for its server."""
    frame = pd.DataFrame({"id": ["i1", "i2", "i3", "i4"], "a": [5, 7, 7, 9], "b": [0.5, 1.5, 1, 1]})
    labels = pd.Series(["u", "v", "v", "u"], dtype="category")
    answer = Bunch(data=frame, target=labels)

    def fetch_openml(*, data_id, data_home, as_frame, cache):
        assert data_id == 300
        assert as_frame
        if isinstance(answer.data, Exception):
            raise answer.data
        return answer

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    small = {"n_samples": 4, "n_features": 2, "n_classes": 2, "class_counts": (2, 2)}
    monkeypatch.setitem(registry.REGISTRY, "isolet", replace(dataset_info("isolet"), **small))
    return answer


def test_a_fetched_set_is_loaded_by_its_name(phoneme, cache):
    path = fetch("phoneme")
    assert path == cache / "phoneme.npz"
    dataset = load_dataset("phoneme")
    assert_array_equal(dataset.X, [[0.5, 2], [1.5, 4], [3.5, 3]])
    assert dataset.y.tolist() == ["aa", "sh", "aa"]
    assert dataset.feature_names == ["x.1", "x.2"]
    note = json.loads((cache / "phoneme.json").read_text())
    assert note["fingerprint"] == dataset.fingerprint()
    assert note["licence"] == dataset_info("phoneme").licence
    assert note["url"].endswith("/phoneme.data")


def test_a_set_is_downloaded_once(phoneme, origin):
    fetch("phoneme")
    fetch("phoneme")
    assert origin.asked == ["/phoneme.data"]
    fetch("phoneme", force=True)
    assert origin.asked == ["/phoneme.data"] * 2


def test_another_file_than_the_recorded_one_needs_force(phoneme, origin, cache):
    fetch("phoneme")
    (cache / "phoneme.npz").unlink()
    (cache / "downloads" / "phoneme.data").unlink()
    (origin.folder / "phoneme.data").write_bytes(CSV.replace(b"0.5", b"0.75"))
    with pytest.raises(MaucError, match="was recorded when it was first fetched; force"):
        fetch("phoneme")
    fetch("phoneme", force=True)
    assert load_dataset("phoneme").X[0, 0] == 0.75


def test_a_changed_file_in_the_cache_is_refused(phoneme):
    path = fetch("phoneme")
    np.savez(path, X=np.zeros((3, 2)), y=[0, 1, 0])
    with pytest.raises(MaucError, match="is not what was recorded"):
        load_dataset("phoneme")
    with pytest.raises(MaucError, match="is not what was recorded"):
        fetch("phoneme")
    fetch("phoneme", force=True)
    assert load_dataset("phoneme").X[0, 0] == 0.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_samples": 4}, "has 3 samples, wanted 4"),
        ({"n_features": 3}, "has 2 features, wanted 3"),
        ({"n_classes": 3}, "has 2 classes, wanted 3"),
        ({"class_counts": (3, 0)}, r"has \(2, 1\) samples of each class, wanted \(3, 0\)"),
    ],
)
def test_a_set_of_another_shape_is_refused(phoneme, cache, changes, message):
    phoneme(**changes)
    with pytest.raises(MaucError, match=message + r": it was changed at its origin"):
        fetch("phoneme")
    assert not (cache / "phoneme.npz").exists()


def test_rows_of_a_part(phoneme):
    phoneme(rows=(1, 3), n_samples=2, class_counts=(1, 1))
    fetch("phoneme")
    assert load_dataset("phoneme").y.tolist() == ["sh", "aa"]


def test_a_set_of_openml(isolet, cache):
    fetch("isolet")
    dataset = load_dataset("isolet")
    assert dataset.feature_names == ["a", "b"]  # the other column only names the rows
    assert_array_equal(dataset.X, [[5, 0.5], [7, 1.5], [7, 1], [9, 1]])
    assert dataset.y.tolist() == ["u", "v", "v", "u"]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("md5 checksum of local file is not the expected one"), "cannot be read: md5"),
        (URLError("no route"), r"300 of OpenML cannot be downloaded \(URLError\).*set MAUC_DATA"),
    ],
)
def test_openml_that_does_not_answer(isolet, cache, error, message):
    isolet.data = error
    with pytest.raises(MaucError, match=message):
        fetch("isolet")
    assert not (cache / "isolet.npz").exists()


def test_an_origin_that_does_not_answer(phoneme, origin):
    (origin.folder / "phoneme.data").unlink()
    with pytest.raises(MaucError, match=r"cannot be downloaded \(HTTPError\).*set MAUC_DATA"):
        fetch("phoneme")
    phoneme(url="http://127.0.0.1:9/phoneme.data")
    with pytest.raises(MaucError, match=r"cannot be downloaded \(ConnectionError\)"):
        fetch("phoneme")


def test_a_local_folder_needs_no_network(tmp_path, monkeypatch, cache):
    np.savez(tmp_path / "usps.npz", X=np.zeros((2, 1)), y=[0, 1])
    monkeypatch.setenv("MAUC_DATA", str(tmp_path))
    assert fetch("usps") == tmp_path / "usps.npz"
    assert not cache.exists()


def test_a_cache_folder_that_cannot_be_made(phoneme, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(MaucError, match=r"cannot be used: .*MAUC_CACHE"):
        fetch("phoneme")


def test_bundled_and_unknown_names():
    with pytest.raises(MaucError, match="'wine' is bundled; it needs no download"):
        fetch("wine")
    with pytest.raises(MaucError, match="data set must be one of"):
        fetch("none")
