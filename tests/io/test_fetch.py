"""Downloads are checked, kept and found again; a server of the test stands for the origins."""

import hashlib
import json
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.datasets import dataset_info, fetch, load_dataset, registry
from mauc.exceptions import MaucError

CSV = b"row.names,x.1,x.2,g,speaker\n1,0.5,2,aa,s1\n2,1.5,4,sh,s2\n3,3.5,3,aa,s3\n"
ARFF = (
    b"@relation r\n@attribute number numeric\n@attribute id string\n@attribute a numeric\n"
    b"@attribute kind {u,v}\n@attribute b numeric\n@data\n"
    b"1,i1,5,u,0.5\n2,i2,7,v,1.5\n3,i3,7,v,1.5\n4,i4,9,u,1.5\n"
)


class Origin:
    """Files by path, and how often each was asked for."""

    def __init__(self):
        self.files, self.asked = {}, []


@pytest.fixture
def origin():
    origin = Origin()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            origin.asked.append(self.path)
            content = origin.files.get(self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
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
    origin.files["/phoneme.data"] = CSV
    small = {"n_samples": 3, "n_features": 2, "n_classes": 2, "class_counts": (2, 1)}
    entry = replace(dataset_info("phoneme"), url=f"{origin.url}/phoneme.data", **small)

    def register(**changes):
        monkeypatch.setitem(registry.REGISTRY, "phoneme", replace(entry, **changes))

    register()
    return register


def describe(origin, **more):
    description = {"url": f"{origin.url}/file/1", "default_target_attribute": "kind", **more}
    return json.dumps({"data_set_description": description}).encode()


@pytest.fixture
def isolet(origin, monkeypatch):
    import sys

    monkeypatch.setattr(sys.modules["mauc.datasets.fetch"], "OPENML", origin.url)
    origin.files["/file/1"] = ARFF
    origin.files["/api/v1/json/data/300"] = describe(
        origin, md5_checksum=hashlib.md5(ARFF).hexdigest(), row_id_attribute="number"
    )
    small = {"n_samples": 4, "n_features": 2, "n_classes": 2, "class_counts": (2, 2)}
    entry = dataset_info("isolet")

    def register(**changes):
        monkeypatch.setitem(registry.REGISTRY, "isolet", replace(entry, **{**small, **changes}))

    register()
    return register


def test_a_fetched_set_is_loaded_by_its_name(phoneme, cache):
    path = fetch("phoneme")
    assert path == cache / "phoneme.npz"
    dataset = load_dataset("phoneme")
    assert_array_equal(dataset.X, [[0.5, 2], [1.5, 4], [3.5, 3]])
    assert dataset.y.tolist() == ["aa", "sh", "aa"]
    assert dataset.feature_names == ["x.1", "x.2"]
    note = json.loads((cache / "phoneme.json").read_text())
    assert note["sha256"] == hashlib.sha256(CSV).hexdigest()
    assert note["fingerprint"] == dataset.fingerprint()
    assert note["licence"] == dataset_info("phoneme").licence
    assert note["url"].endswith("/phoneme.data")


def test_a_set_is_downloaded_once(phoneme, origin):
    fetch("phoneme")
    fetch("phoneme")
    assert origin.asked == ["/phoneme.data"]
    fetch("phoneme", force=True)
    assert origin.asked == ["/phoneme.data"] * 2


def test_a_known_digest_is_checked_even_by_force(phoneme, cache):
    phoneme(sha256=hashlib.sha256(CSV).hexdigest())
    fetch("phoneme")
    phoneme(sha256="0" * 64)
    with pytest.raises(
        MaucError, match=f"has the SHA-256 digest .* wanted {'0' * 64}: it is broken"
    ):
        fetch("phoneme", force=True)
    assert not (cache / "downloads" / "phoneme.data").exists()


def test_another_file_than_the_recorded_one_needs_force(phoneme, origin, cache):
    fetch("phoneme")
    (cache / "phoneme.npz").unlink()
    (cache / "downloads" / "phoneme.data").unlink()
    origin.files["/phoneme.data"] = CSV.replace(b"0.5", b"0.75")
    with pytest.raises(MaucError, match="was recorded when 'phoneme' was first fetched; force"):
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
    with pytest.raises(MaucError, match=message + r": it was changed at its origin.*loaded by its"):
        fetch("phoneme")
    assert not (cache / "phoneme.npz").exists()


def test_rows_of_a_part(phoneme):
    phoneme(rows=(1, 3), n_samples=2, class_counts=(1, 1))
    fetch("phoneme")
    assert load_dataset("phoneme").y.tolist() == ["sh", "aa"]


def test_openml_tells_file_target_and_what_is_no_feature(isolet, cache):
    fetch("isolet")
    dataset = load_dataset("isolet")
    assert dataset.feature_names == ["a", "b"]
    assert_array_equal(dataset.X, [[5, 0.5], [7, 1.5], [7, 1.5], [9, 1.5]])
    assert dataset.y.tolist() == ["u", "v", "v", "u"]


@pytest.mark.parametrize("told", ["number,id", ["number", "id"], None])
def test_openml_tells_ignored_columns_in_several_ways(isolet, origin, told):
    origin.files["/api/v1/json/data/300"] = describe(origin, ignore_attribute=told)
    fetch("isolet")
    assert load_dataset("isolet").feature_names == ["a", "b"]


def test_a_download_of_another_md5_is_refused(isolet, origin, cache):
    origin.files["/file/1"] = ARFF + b"5,i5,9,u,1.5\n"
    with pytest.raises(MaucError, match="does not have the MD5 digest that its origin gives"):
        fetch("isolet")
    assert not (cache / "isolet.npz").exists()


def test_an_answer_that_is_no_description(isolet, origin):
    origin.files["/api/v1/json/data/300"] = b"<html>"
    with pytest.raises(MaucError, match="did not answer with the description of a data set"):
        fetch("isolet")


def test_an_origin_that_does_not_answer(phoneme, origin):
    del origin.files["/phoneme.data"]
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
    with pytest.raises(MaucError, match=r"cannot be made: .*set MAUC_CACHE"):
        fetch("phoneme")


def test_bundled_and_unknown_names():
    with pytest.raises(MaucError, match="'wine' is bundled; it needs no download"):
        fetch("wine")
    with pytest.raises(MaucError, match="data set must be one of"):
        fetch("none")
