import time
import weakref
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from sklearn.base import clone

from mauc import MDFS, feature_pair_auc
from mauc.data.door import make_problem
from mauc.data.streaming import SourceColumns
from mauc.exceptions import MaucError
from mauc.registry import SELECTORS
from tests.helpers.array_source import BrokenSource, CountingSource
from tests.helpers.run_tools import wait_for


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 800)
    X = (rng.normal(size=(800, 90)) + y[:, np.newaxis] * rng.uniform(0, 0.5, 90)).astype(np.float32)
    X[::7, 3] = np.nan
    return X, y


@pytest.mark.parametrize("name", [name for name in SELECTORS if SELECTORS[name].accepts.sources])
def test_equals_array(table, name):
    X, y = table
    selector = SELECTORS[name](6)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    expected = clone(selector).fit(X, y)
    source = CountingSource(X, memory=400_000)
    found = selector.set_params(n_jobs=2).fit(source, y)
    np.testing.assert_array_equal(found.ranking_, expected.ranking_)
    np.testing.assert_array_equal(found.scores_, expected.scores_)
    np.testing.assert_array_equal(found.pair_auc_, expected.pair_auc_)
    assert max(map(len, source.reads)) < 90


def test_every_column_is_read_once(table):
    X, y = table
    source = CountingSource(X, memory=200_000)
    feature_pair_auc(source, y)
    first, *others = source.reads  # the first looks whether all columns are constant
    assert first == [0]
    assert list(chain.from_iterable(others)) == list(range(90))
    assert len(others) > 2


def test_too_little_memory(table):
    X, y = table
    with pytest.raises(
        MaucError, match=r"memory of 10 kB is too little for columns of 800 rows.* take 48 kB"
    ):
        MDFS(3).fit(CountingSource(X, memory=10_000), y)


@pytest.mark.parametrize(("memory", "n_threads"), [(60_000, 1), (400_000, 3)])
def test_threads_fit_the_memory(table, memory, n_threads):
    # 24 bytes per row for labels and, in half of the rest, as many for each thread and its columns
    X, y = table
    columns = make_problem(CountingSource(X, memory=memory), y).columns
    assert columns.limit_threads(7, n_jobs=3) == n_threads


def test_stripes_that_slow_threads_keep_fit_the_memory(monkeypatch):
    # Many short columns: three stripes are alive when a thread still works on the one before last.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 1500)).astype(np.float32), rng.integers(0, 2, 300)
    source = CountingSource(X, memory=600_000)
    read = source.read

    held, stripes = [], []

    def into_stripes(columns):
        stripe = np.empty((len(columns), 300), np.float32)
        stripe[:] = read(columns)
        stripes.append(weakref.ref(stripe))
        held.append(sum(one().nbytes for one in stripes if one() is not None))
        return list(stripe)

    source.read = into_stripes
    problem = make_problem(source, y)
    is_slow = iter([False] * 12 + [True, False, False] * 100)
    monkeypatch.setattr(SourceColumns, "block_width", lambda *_, **__: 10)

    def work(problem, block):
        values = problem.columns.ordered(block)
        if next(is_slow):
            time.sleep(0.02)
        return float(values.sum())

    found = list(problem.map(work, n_jobs=2))
    assert len(found) == 150
    assert [value for _, value in found] == [float(X[:, at].T.copy().sum()) for at, _ in found]
    assert max(held) <= 600_000


def test_parts_within():
    source = CountingSource(np.zeros((1000, 3), np.float32))
    source.row_parts = lambda: [(0, 10), (10, 1000)]
    assert source.parts_within(12 * 1000) == [(0, 10), (10, 1000)]
    assert source.parts_within(12 * 500) == [(0, 10), (10, 505), (505, 1000)]
    assert len(source.parts_within(1)) == 1000


def test_failed_read_is_raised(table):
    X, y = table

    with pytest.raises(MaucError, match="part 7 is broken"):
        MDFS(3, n_jobs=2).fit(BrokenSource(X, memory=400_000), y)


def test_infinite_values(table):
    X, y = table
    X = X.copy()
    X[5, 7] = np.inf
    names = [f"f{j}" for j in range(90)]
    source = CountingSource(X, memory=400_000, feature_names=names)
    MDFS(3).fit(source, y)
    with pytest.raises(MaucError, match="column 'f7' holds infinite values"):
        SELECTORS["fsdd"](3).fit(source, y)


def test_rows_and_columns_of_a_source(table):
    X, _ = table
    mask = np.arange(800) % 3 > 0
    source = CountingSource(X).take(slice(None, None, -1)).take_rows(mask)
    np.testing.assert_array_equal(source.read(np.array([2]))[0], X[mask, 87])
    np.testing.assert_array_equal(source.read_rows(5, 9, np.array([2]))[0], X[mask, 87][5:9])
    assert source.shape == (mask.sum(), 90)
    ranges = source.row_parts()
    assert ranges[0][0] == 0
    assert ranges[-1][1] == mask.sum()


def widest(source):
    """How many columns a source gave at once, at most."""
    return max(map(len, source.reads))


def test_nothing_is_read_ahead_unless_wanted(table, monkeypatch):
    X, _ = table
    for reads_ahead in (True, False):
        source = CountingSource(X, memory=200_000)
        columns = SourceColumns(source, reads_ahead=reads_ahead)
        problem = replace(make_problem(X, table[1]), columns=columns)
        n_read = []
        monkeypatch.setattr(SourceColumns, "block_width", lambda *_, **__: 5)

        def take(problem, block, source=source, n_read=n_read, ahead=reads_ahead):
            problem.columns.ordered(block)
            if ahead and not n_read:
                wait_for(lambda: max(map(max, source.reads)) - block.stop > widest(source))
            time.sleep(0.01)
            n_read.append(max(map(max, source.reads)) - block.stop)

        for _ in problem.map(take):
            pass
        # at the first block of a stripe the next one is being read, or it is not
        assert (max(n_read) > widest(source)) == reads_ahead


def test_derived_sources_are_read_like_the_one_below(table):
    source = CountingSource(table[0])
    source.waits, source.stripe_bytes = True, 2**20
    derived = source.take([3, 1]).take_rows(np.arange(800) > 3)
    assert derived.waits
    assert derived.stripe_bytes == 2**20
