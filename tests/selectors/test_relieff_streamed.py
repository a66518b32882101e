import shutil
from collections import namedtuple

import numpy as np
import pytest
from sklearn.base import clone

from mauc import ReliefF
from mauc import memory as spill
from mauc.exceptions import LongFitWarning, MaucError, TinyUnitsWarning
from mauc.selectors import relieff_streamed as streamed
from tests.helpers.array_source import CountingSource

Usage = namedtuple("Usage", "total used free")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 4, 300)
    X = (rng.normal(size=(300, 50)) + y[:, np.newaxis] * rng.uniform(0, 0.5, 50)).astype(np.float32)
    X[:, 7] = 2.0
    X[10:20] = X[30:40]  # ties
    return X, y


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the arrays that are put into files: shapes and types."""
    made, map_file = [], spill.map_file

    def observed(shape, dtype, later):
        made.append((shape, np.dtype(dtype)))
        return map_file(shape, dtype, later)

    monkeypatch.setattr(spill, "map_file", observed)
    monkeypatch.setenv("MAUC_CACHE", str(tmp_path))
    return made


def with_holes(X):
    X = X.copy()
    X[:, 20:23] = np.random.default_rng(4).integers(0, 4, (300, 3))
    X[::6, 3] = X[::9, 21] = np.nan
    return X


CASES = [
    ({"n_iterations": "all"}, False, np.float32),
    ({"n_iterations": "all", "n_neighbors": 3}, True, np.float64),
    ({"n_iterations": 50, "random_state": 1}, True, np.float32),
    ({"n_iterations": "log", "random_state": 2}, True, np.float32),
    ({"n_iterations": "all", "categorical_features": [20, 21, 22]}, True, np.float32),
    ({"n_iterations": "log", "random_state": 0, "categorical_features": [20, 21]}, True, np.int16),
]


@pytest.mark.parametrize(
    ("memory", "n_jobs"), [(60_000, 2), (150_000, 1), (400_000, 2), (4_000_000, 1)]
)
@pytest.mark.parametrize(("options", "holes", "kind"), CASES, ids=str)
def test_equals_array(table, files, tmp_path, options, holes, kind, memory, n_jobs):
    X, y = table
    X = with_holes(X) if holes else X
    X = (np.nan_to_num(X) * 30).astype(kind) if np.dtype(kind).kind == "i" else X.astype(kind)
    expected = ReliefF(10, **options).fit(X, y)
    found = ReliefF(10, n_jobs=n_jobs, **options).fit(CountingSource(X, memory=memory), y)
    for name in ("scores_", "ranking_", "pair_auc_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    # Six samples are "log", and the least memory has room for four of them at once.
    is_spilled = memory < (100_000 if options["n_iterations"] == "log" else 1_000_000)
    stored = np.result_type(kind, np.float32)
    assert files == ([((50, 300), stored)] if is_spilled else [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n_iterations", ["all", "log"])
@pytest.mark.parametrize("is_whole", [True, False])
def test_weights_equal_array(table, n_iterations, is_whole):
    X, y = with_holes(table[0]), table[1]
    weight = np.random.default_rng(5).integers(1, 4, len(y)) + (0.0 if is_whole else 0.25)
    model = ReliefF(10, n_iterations=n_iterations, random_state=0, n_jobs=2)
    expected = clone(model).fit(X, y, sample_weight=weight).scores_
    found = model.fit(CountingSource(X, memory=400_000), y, sample_weight=weight).scores_
    np.testing.assert_array_equal(found, expected)


def test_few_samples_take_two_passes(table, files):
    X, y = table
    source = CountingSource(X, memory=150_000)
    selector = ReliefF(3, n_iterations="log", random_state=0).fit(source, y)
    n_read = np.bincount(np.concatenate(source.reads), minlength=50)
    n_read[0] -= 1  # not all columns are constant
    n_read[selector.ranking_] -= 1  # their AUCs
    np.testing.assert_array_equal(n_read, np.full(50, 2))
    assert files == []


def test_many_samples_read_the_source_once(table, files):
    X, y = table
    source = CountingSource(X, memory=150_000)
    selector = ReliefF(3).fit(source, y)
    n_read = np.bincount(np.concatenate(source.reads), minlength=50)
    n_read[0] -= 1
    n_read[selector.ranking_] -= 1
    np.testing.assert_array_equal(n_read, np.ones(50))
    assert len(files) == 1


def test_tiny_ranges_warn(table):
    X, y = table
    X = X.astype(np.float64)
    X[:, 11] *= 1e-9
    with pytest.warns(TinyUnitsWarning, match=r"1 of 50 features \('x11'\) vary by less than"):
        ReliefF(3, n_iterations="log", random_state=0).fit(CountingSource(X, memory=400_000), y)


def test_long_fit_warns(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(streamed, "_LONG", 1e-6)
    source = CountingSource(X, memory=150_000)
    with pytest.warns(
        LongFitWarning, match=r'300 samples with all 300 in 50 columns.*"log" draws 6'
    ):
        ReliefF(3).fit(source, y)
    ReliefF(3, n_iterations="log", random_state=0).fit(source, y)  # two passes


def test_disk_is_too_small(table, files, tmp_path, monkeypatch):
    X, y = table
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 0))
    source = CountingSource(X, memory=60_000)
    with pytest.raises(MaucError, match=f"{tmp_path} has .* free, but .* are needed"):
        ReliefF(3).fit(source, y)
    assert len(source.reads) <= 1


def test_too_little_memory(table):
    X, y = table
    with pytest.raises(MaucError, match="is too little for columns of 300 rows"):
        ReliefF(3).fit(CountingSource(X, memory=20_000), y)
