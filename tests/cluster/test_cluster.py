"""A fit on a Dask cluster gives the same bits as one in this process."""

import numpy as np
import pytest
from file_source import FileSource
from sklearn.base import clone

from mauc import feature_pair_auc
from mauc.registry import SELECTORS

distributed = pytest.importorskip("distributed")
LISTS = ("mdfs", "maucd", "fsdd", "schi", "ssu", "chi", "su", "ig", "fisher", "anova", "fast")


def make_table(n_samples=600, n_features=70, n_classes=4):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n_samples)
    X = rng.normal(size=(n_samples, n_features)) + y[:, None] * rng.uniform(0, 0.5, n_features)
    X[::7, 3] = np.nan
    X[:, 5] = 1.0
    return X.astype(np.float32), y


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = make_table()
    path = tmp_path_factory.mktemp("data") / "columns.npy"
    np.save(path, np.ascontiguousarray(X.T))
    return X, y, FileSource(path)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def assert_same_fit(found, expected):
    for name in ("ranking_", "scores_", "pair_auc_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert found.trace_.to_frame().equals(expected.trace_.to_frame())


@pytest.mark.parametrize("name", LISTS)
def test_equals_array(table, client, name):
    X, y, source = table
    selector = SELECTORS[name](6)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    expected = clone(selector).fit(X, y)
    assert_same_fit(selector.fit(source, y, client=client), expected)


def test_pair_auc_by_address(table, client):
    X, y, source = table
    found = feature_pair_auc(source, y, folded=False, client=client.scheduler.address)
    np.testing.assert_array_equal(found, feature_pair_auc(X, y, folded=False))
