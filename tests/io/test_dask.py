"""Dask collections are computed where they lie, whatever runs in this process."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc import MDFS, open_columns
from mauc.exceptions import MaucError
from mauc.io.dask import part_lengths
from tests.helpers.run_tools import PATIENCE
from tests.io.conftest import assert_same_fit

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    """A client that is not the active one; its worker makes this process one."""
    with (
        distributed.LocalCluster(
            1, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def array(X):
    return da.from_array(X, chunks=(40, 2))


def array_of_unknown_chunks(X):
    return dd.from_pandas(pd.DataFrame(X), npartitions=3).to_dask_array()


def frame(X):
    return dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), npartitions=3)


@pytest.mark.parametrize("make", [array, array_of_unknown_chunks, frame])
def test_persisted_collections_are_computed_by_their_own_client(client, rng, make):
    X, y = rng.normal(size=(150, 5)), rng.integers(0, 3, 150)
    source, _ = open_columns(client.persist(make(X)), y)
    assert_array_equal(np.stack(source.read(np.array([3, 0])), axis=1), X[:, [3, 0]])
    assert_same_fit(MDFS(2, random_state=0), source, X, y)


@pytest.mark.parametrize("make", [array, frame])
def test_a_task_does_not_wait_for_persisted_parts(client, make):
    def fit():
        X = np.arange(750.0).reshape(150, 5)
        try:
            MDFS(2).fit(make(X).persist(), np.arange(150) % 3)
        except MaucError as error:
            return str(error)

    assert "lies on workers already (persist)" in client.submit(fit, pure=False).result(
        timeout=PATIENCE
    )


def test_rows_are_counted_by_one_column():
    asked = []

    def load(part, columns=None):
        asked.append(columns)
        table = pd.DataFrame({"a": np.arange(part), "b": 1.0})
        return table if columns is None else table[columns]

    made = dd.from_map(load, [3, 5], meta=pd.DataFrame({"a": [0], "b": [1.0]}))
    asked.clear()
    assert part_lengths(made) == [3, 5]
    assert asked == [["a"], ["a"]]
