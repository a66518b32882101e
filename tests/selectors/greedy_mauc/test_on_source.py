import numpy as np
import pytest

from mauc import GreedyMAUC
from mauc.exceptions import MaucError, NotEnoughMemoryError
from mauc.selectors.greedy_mauc import estimator as greedy_mauc
from tests.helpers.array_source import CountingSource


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 900)
    X = (rng.normal(size=(900, 80)) + y[:, np.newaxis] * rng.uniform(0, 0.5, 80)).astype(np.float32)
    X[:, 30:34] = rng.integers(0, 6, (900, 4)) + y[:, np.newaxis] % 3
    X[::7, 3] = X[::5, 30] = np.nan
    return X, y


def check_fits(selector, X, y, memory=400_000):
    source = CountingSource(X, memory=memory)
    expected = [selector.fit(X, y)]
    results = ("ranking_", "scores_", "pair_auc_", "predicted_mauc_", "separations_")
    expected = {name: getattr(selector, name) for name in results}
    for n_jobs in (1, 2):
        selector.set_params(n_jobs=n_jobs).fit(source, y)
        for name in results:
            np.testing.assert_array_equal(getattr(selector, name), expected[name])
    return source


@pytest.mark.parametrize(
    "options",
    [
        {"max_samples": 200},
        {"max_samples": 200, "categorical_features": [30, 31, 33]},
        {"max_samples": None, "shrinkage": 0.2},
        {"n_features_to_select": "predicted", "max_samples": 100},
    ],
    ids=str,
)
def test_equals_array(table, options):
    X, y = table
    check_fits(GreedyMAUC(**{"n_features_to_select": 12, **options}), X, y)


@pytest.mark.parametrize("values", [2, 3])
def test_rows_that_many_columns_tell_apart(table, values):
    _, y = table
    X = np.random.default_rng(2).integers(0, values, (900, 80)).astype(np.float32)
    X[100:400] = X[500:800]  # equal rows
    nominal = [5, 6, 70]
    source = check_fits(GreedyMAUC(8, max_samples=150, categorical_features=nominal), X, y)
    # Looked at one by one, but read in groups, each twice as large as the last.
    reads = source.reads[: len(source.reads) // 2]
    sizes = [len(places) for places in reads]
    assert sizes[1:7] == [1, 2, 4, 8, 13, 13]  # columns that an eighth of the memory holds


def test_few_columns_are_read_to_choose_rows(table):
    X, y = table
    source = CountingSource(X, memory=400_000)
    GreedyMAUC(5, max_samples=200).fit(source, y)
    first = source.reads.index(next(places for places in source.reads[1:] if len(places) > 2))
    assert sum(map(len, source.reads[1:first])) <= 3


def test_held_columns_are_let_go_after_an_error(table):
    X, y = table

    class Broken(CountingSource):
        def read(self, places):
            if len(places) > 1:
                raise MaucError("part 7 is broken.")
            return super().read(places)

    X = np.random.default_rng(2).integers(0, 2, (900, 80)).astype(np.float32)
    with pytest.raises(MaucError, match="part 7 is broken"):
        GreedyMAUC(5, max_samples=200).fit(Broken(X, memory=400_000), y)


def test_only_chosen_columns_are_read_again(table):
    X, y = table
    source = CountingSource(X, memory=400_000)
    selector = GreedyMAUC(3, max_samples=None).fit(source, y)
    n_read = np.bincount(np.concatenate(source.reads), minlength=80)
    n_read[0] -= 1  # not all columns are constant
    n_read[selector.ranking_] -= 1
    np.testing.assert_array_equal(n_read, np.ones(80))


def test_too_little_memory(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(greedy_mauc, "_SMALL_BYTES", 0)
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 50_000)
    for data in (X, CountingSource(X, memory=400_000)):
        with pytest.raises(
            NotEnoughMemoryError, match=r"80 features x 900 samples.*lower max_samples \(2048\)"
        ):
            GreedyMAUC(5).fit(data, y)
    GreedyMAUC(5, max_samples=100).fit(X, y)
