"""A fit on a Dask cluster gives the same bits as one in this process."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier

from mauc import (
    ARCO,
    FCBF,
    JMI,
    MDFS,
    MRMR,
    GreedyMAUC,
    SpreadFx,
    SubproblemSelector,
    feature_pair_auc,
    open_columns,
)
from mauc.cluster import Cluster
from mauc.exceptions import ConstantInputWarning, MaucError
from mauc.registry import SELECTORS
from tests.helpers.cluster_table import assert_same_fit, make_table
from tests.helpers.file_source import FileSource
from tests.helpers.told_prior import prior_of

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.processes


def source_of(X, folder):
    """Write the columns of a table, and return their source."""
    np.save(folder / "columns.npy", np.ascontiguousarray(X.T))
    return FileSource(folder / "columns.npy")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    X, y = make_table()
    return X, y, source_of(X, tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, entry in SELECTORS.items()
        if entry.accepts.sources and not entry()._needs_process
    ],
)
def test_equals_array(table, client, name):
    X, y, source = table
    selector = SELECTORS[name](6)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    expected = clone(selector).fit(X, y)
    assert_same_fit(selector.fit(source, y, client=client), expected)


@pytest.mark.parametrize(
    "selector",
    [
        MDFS("all", schedule="round_robin", ties="mauc"),
        SubproblemSelector(8, schedule="hardest", decomposition="one-vs-rest", random_state=0),
        GreedyMAUC("predicted", max_samples=200),
        GreedyMAUC("all", shrinkage=0.1),
        GreedyMAUC("all", prior=prior_of(np.linspace(0.2, 1, 24))),
        GreedyMAUC(8, prior=ExtraTreesClassifier(20), max_samples=200),
        MRMR("all", criterion="quotient", binning="mdl"),
        FCBF("all", max_rounds=2),
        JMI("all"),
        ARCO("all"),
        GreedyMAUC("fdr", max_samples=200),
        ARCO("fdr"),
    ],
)
def test_options(table, client, selector):
    X, y, source = table
    X, source = X[:, :24], source.take(slice(0, 24))  # "all" takes a step per column
    expected = clone(selector).fit(X, y)
    assert_same_fit(selector.fit(source, y, client=client), expected)


def test_weights_and_names(table, client):
    X, y, unnamed = table
    names = [f"f{j}" for j in range(X.shape[1])]
    source = FileSource(unnamed.path, feature_names=names)
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    expected = MDFS(6, random_state=0).fit(X, y, sample_weight=weights)
    found = MDFS(6, random_state=0).fit(source, y, sample_weight=weights, client=client)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    np.testing.assert_array_equal(found.pair_auc_, expected.pair_auc_)
    assert found.get_feature_names_out()[0].startswith("f")
    weights[::3] = 0.0
    for selector in (SpreadFx(6), MRMR(6), FCBF(6, binning="equal_frequency")):
        expected = clone(selector).fit(X, y, sample_weight=weights)
        found = selector.fit(unnamed, y, sample_weight=weights, client=client)
        assert_same_fit(found, expected)


@pytest.mark.parametrize("selector", [GreedyMAUC(5, max_samples=80), ARCO(5)])
def test_weights_of_searches(table, client, selector):
    X, y, source = table
    X, source = X[:, :24], source.take(slice(0, 24))
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weights[np.unique(y, return_index=True)[1]] = 1
    expected = clone(selector).fit(X, y, sample_weight=weights)
    assert_same_fit(selector.fit(source, y, sample_weight=weights, client=client), expected)


def test_nominal_columns(tmp_path, client):
    X, y = make_table(n_features=12)
    X[:, [2, 7]] = np.random.default_rng(1).integers(0, 9, (len(y), 2)) + y[:, None]
    source = source_of(X, tmp_path)
    for selector in (MDFS(6, random_state=0), GreedyMAUC(6), MRMR(6)):
        selector.set_params(categorical_features=[2, 7])
        expected = clone(selector).fit(X, y)
        assert_same_fit(selector.fit(source, y, client=client), expected)


def test_missing_values_on_a_side(tmp_path, client):
    X, y = make_table(n_features=6)
    X[(np.arange(len(y)) % 3 == 0) & (y > 0), 2] = np.nan
    found = feature_pair_auc(source_of(X, tmp_path), y, missing="side", client=client)
    np.testing.assert_array_equal(found, feature_pair_auc(X, y, missing="side"))
    assert (found[2] > feature_pair_auc(X, y)[2]).any()


def test_fewer_columns_than_threads(tmp_path, client):
    X, y = make_table(n_features=6)
    X = X[:, :1]
    source = source_of(X, tmp_path)
    for selector in (MDFS(1, random_state=0), GreedyMAUC(1), MRMR(1), JMI(1), ARCO(1), FCBF(1)):
        expected = clone(selector).fit(X, y)
        assert_same_fit(selector.fit(source, y, client=client), expected)


def test_pair_auc_by_address(table, client):
    X, y, source = table
    found = feature_pair_auc(source, y, folded=False, client=client.scheduler.address)
    np.testing.assert_array_equal(found, feature_pair_auc(X, y, folded=False))


def test_nothing_stays_on_the_cluster(table, client):
    _, y, source = table
    GreedyMAUC(3).fit(source, y, client=client)

    def n_keys(dask_scheduler):
        return len(dask_scheduler.tasks)

    for _ in range(100):
        if client.run_on_scheduler(n_keys) == 0:
            break
    assert client.run_on_scheduler(n_keys) == 0


def test_columns_are_read_by_workers_alone(table, client, monkeypatch):
    _, y, source = table
    expected = MDFS(3).fit(source, y, client=client).scores_

    def refuse(self, places):
        raise AssertionError("read in this process")

    monkeypatch.setattr(FileSource, "read", refuse)  # the workers have the other one
    np.testing.assert_array_equal(MDFS(3).fit(source, y, client=client).scores_, expected)


def test_all_columns_are_constant(tmp_path, client):
    source = source_of(np.ones((30, 20), np.float32), tmp_path)
    with pytest.warns(ConstantInputWarning, match="every feature is constant"):
        MDFS(3).fit(source, np.arange(30) % 2, client=client)


def test_an_error_of_the_data_names_worker_and_column(tmp_path, client):
    X, y = make_table(n_features=20)
    X[3, 17] = np.inf
    source = source_of(X, tmp_path)
    with pytest.raises(MaucError, match=r"worker tcp://.*column 'x17' holds infinite values"):
        SELECTORS["fsdd"](3).fit(source, y, client=client)


def test_too_little_memory_tells_the_share_of_a_task(table, client):
    _, y, source = table
    message = (
        r"worker tcp://.*is too little .* A task there may take .* shared by its threads \(1\)"
    )
    with pytest.raises(MaucError, match=message):
        MDFS(3).fit(source.with_memory(20_000), y, client=client)


def test_refused(table, client):
    X, y, source = table
    with pytest.raises(
        MaucError, match=r"X must be a source of columns .* got data in memory \(ndarray\)"
    ):
        MDFS(3).fit(X, y, client=client)
    with pytest.raises(MaucError, match="client must be None for ConsensusSelector"):
        SELECTORS["consensus"](3).fit(source, y, client=client)
    with pytest.raises(MaucError, match="X must be in memory for ReliefF, where rows are compared"):
        SELECTORS["relieff"](3).fit(source, y, client=client)
    with pytest.raises(MaucError, match=r"client must be a distributed.Client or the address"):
        MDFS(3).fit(source, y, client=7)


def test_the_estimator_of_a_prior_is_fitted_in_the_calling_process(table, client, monkeypatch):
    X, y, source = table
    selector = GreedyMAUC(3, prior=ExtraTreesClassifier(20))
    one = clone(selector).fit(X, y)
    other = clone(selector).fit(source, y, client=client)
    assert np.array_equal(one.prior_, other.prior_)
    assert np.array_equal(one.ranking_, other.ranking_)
    monkeypatch.setattr("mauc.search.prior._SMALL_CELLS", 0)
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 1000)
    with pytest.raises(MaucError, match=r"70 features x 600 samples for the est.*prior=None"):
        clone(selector).fit(source, y, client=client)


def test_client_is_not_routed():
    with config_context(enable_metadata_routing=True):
        for selector in (MDFS(), GreedyMAUC()):
            requests = selector.get_metadata_routing().fit.requests
            assert set(requests) == {"sample_weight", "groups", "cv"}


def test_dask_collections_go_to_the_active_client(table, client, monkeypatch):
    dask_array = pytest.importorskip("dask.array")
    X, y, _ = table
    collection = dask_array.from_array(X, chunks=(200, 20))
    joined = []
    share = Cluster.share
    monkeypatch.setattr(Cluster, "share", lambda *a: joined.append(1) or share(*a))
    for selector in (MDFS(6, random_state=0), MRMR(4)):
        expected = clone(selector).fit(X, y)
        assert_same_fit(selector.fit(collection, y), expected)
    assert joined
    joined.clear()
    # What lies on workers already comes to this process, in blocks.
    persisted = client.persist(collection)
    assert_same_fit(selector.fit(persisted, y), expected)
    assert not joined
    with pytest.raises(MaucError, match="whose parts lie on workers already"):
        selector.fit(persisted, y, client=client)


def test_parquet(table, client, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, _ = table
    frame = pandas.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    frame["label"] = y
    frame.to_parquet(tmp_path / "table.parquet", row_group_size=100)
    source, labels = open_columns(tmp_path / "table.parquet", target="label", memory="100MB")
    selector = MDFS(6, random_state=0)
    expected = clone(selector).fit(frame.drop(columns="label"), y)
    assert_same_fit(selector.fit(source, labels, client=client), expected)
    (tmp_path / "table.parquet").unlink()
    with pytest.raises(MaucError, match=r"worker tcp://\S* cannot read .*table.parquet \("):
        selector.fit(source, labels, client=client)


@pytest.mark.parametrize("selector", [MRMR(6), JMI(6), ARCO(6)])
def test_states_beyond_the_memory_of_the_source_go_to_a_file(
    table, client, tmp_path, monkeypatch, selector
):
    X, y, source = table
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path))
    small = source.with_memory(100_000)  # the states of 70 columns are 42 kB and more
    expected = clone(selector).fit(X, y)
    assert_same_fit(clone(selector).fit(small, y, client=client), expected)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=10_000))
    with pytest.raises(
        MaucError, match=r"has 10 kB free, but \d+ kB are needed for temporary file"
    ):
        clone(selector).fit(small, y, client=client)
