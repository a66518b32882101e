"""MDLDiscretizer as a transformer, and the binnings of mRMR."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris, load_wine

from mauc import MDLDiscretizer
from mauc.binning.discretizer import find_cut_points
from mauc.binning.states import BINNINGS, bin_columns
from mauc.data import columns as block_width_module
from mauc.data.door import AUCS, FitOptions, make_problem
from mauc.exceptions import MaucError, SmallClassWarning
from tests.helpers import oracle_mdl, oracle_mrmr, weka


def problem_of(X, y, categorical_features=None):
    return make_problem(X, y, FitOptions(AUCS, categorical_features=categorical_features))


def assert_same_cuts(one, other):
    assert len(one) == len(other)
    for points, wanted in zip(one, other, strict=True):
        assert_array_equal(points, wanted)


@pytest.fixture
def gappy(rng):
    """Numbers with ties, gaps and a constant column, of three classes."""
    y = rng.integers(0, 3, 120)
    X = (rng.normal(size=(120, 5)) + y[:, np.newaxis] * [0, 1, 2, 4, 0]).round(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = 2.5
    return X, y


@pytest.mark.parametrize("name", weka.REFERENCES)
def test_cut_points_equal_weka(name):
    X, y, _, reference = weka.load(name)
    discretizer = MDLDiscretizer(n_jobs=2).fit(X, y)
    assert_same_cuts(discretizer.cut_points_, weka.cut_points(reference))


@pytest.mark.parametrize("name", weka.EVERYWHERE)
def test_bins_are_the_cut_points_below(name):
    X, y, _, reference = weka.load(name)
    bins = MDLDiscretizer().fit(X, y).transform(X)
    for j, points in enumerate(weka.cut_points(reference)):
        wanted = oracle_mdl.bins_of(np.asarray(X[:, j], float), points).astype(float)
        wanted[wanted < 0] = np.nan
        assert_array_equal(bins[:, j], wanted)


def test_values_at_and_beyond_the_cuts():
    X = np.arange(20.0)[:, np.newaxis]
    discretizer = MDLDiscretizer().fit(X, np.repeat(["u", "v"], 10))
    assert_array_equal(discretizer.cut_points_, [[9.5]])
    assert discretizer.classes_.tolist() == ["u", "v"]
    new = np.array([[9.5], [np.nextafter(9.5, 10)], [-1e300], [1e300], [np.nan]])
    assert_array_equal(discretizer.transform(new)[:, 0], [0, 1, 0, 1, np.nan])


def test_missing_values_are_left_out(gappy):
    X, y = gappy
    discretizer = MDLDiscretizer().fit(X, y)
    for j in range(X.shape[1]):
        known = ~np.isnan(X[:, j])
        alone = MDLDiscretizer().fit(X[known][:, [j]], y[known]) if j < 4 else None
        wanted = alone.cut_points_[0] if alone else []
        assert_array_equal(discretizer.cut_points_[j], wanted)
    assert_array_equal(np.isnan(discretizer.transform(X)), np.isnan(X))


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_equals_dense(rng, make):
    y = rng.integers(0, 3, 150)
    X = np.where(rng.random((150, 9)) < 0.6, 0.0, rng.normal(size=(150, 9)) + y[:, np.newaxis])
    X[4, 4] = np.nan
    dense, stored = MDLDiscretizer().fit(X, y), MDLDiscretizer().fit(make(X), y)
    assert sum(map(len, dense.cut_points_)) > 0
    assert_same_cuts(stored.cut_points_, dense.cut_points_)
    assert_array_equal(stored.transform(make(X)), dense.transform(X))


def test_agnostic_to_threads_and_blocks(monkeypatch):
    X, y, *_ = weka.load("digits")
    wanted = MDLDiscretizer(n_jobs=1).fit(X, y).cut_points_
    for block_bytes in (1, 40_000, 2**30):
        monkeypatch.setattr(block_width_module, "_BLOCK_BYTES", block_bytes)
        for n_jobs in (1, 3):
            assert_same_cuts(MDLDiscretizer(n_jobs=n_jobs).fit(X, y).cut_points_, wanted)


def test_frames_in_and_out():
    X, y = load_wine(return_X_y=True, as_frame=True)
    wanted = MDLDiscretizer().fit_transform(X.to_numpy(), y)
    discretizer = MDLDiscretizer().set_output(transform="pandas").fit(X, y)
    bins = discretizer.transform(X)
    assert isinstance(bins, pd.DataFrame)
    assert list(bins.columns) == list(X.columns) == list(discretizer.get_feature_names_out())
    assert_array_equal(bins, wanted)
    X = pl.DataFrame({name: X[name].to_numpy() for name in X})
    bins = (
        MDLDiscretizer().set_output(transform="polars").fit(X, pl.Series(y.tolist())).transform(X)
    )
    assert isinstance(bins, pl.DataFrame)
    assert bins.columns == X.columns
    assert_array_equal(bins.to_numpy(), wanted)


def test_bad_input():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(MaucError, match="y must hold at least 2 classes"):
        MDLDiscretizer().fit(X, np.zeros(150))
    with pytest.raises(ValueError, match="contains infinity"):
        MDLDiscretizer().fit(np.where(X > 7, np.inf, X), y)
    fitted = MDLDiscretizer().fit(X, y)
    with pytest.raises(ValueError, match="contains infinity"):
        fitted.transform(np.full((1, 4), -np.inf))
    with pytest.raises(ValueError, match="X has 3 features, but MDLDiscretizer is expecting 4"):
        fitted.transform(X[:, :3])


def test_a_warning_points_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MDLDiscretizer().fit(np.arange(5.0)[:, np.newaxis], [0, 0, 1, 1, 2])
    assert [w.category for w in caught] == [SmallClassWarning]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("binning", BINNINGS)
def test_binnings_equal_their_definitions(gappy, binning):
    X, y = gappy
    states, n_states = bin_columns(problem_of(X, y), binning, 7)
    assert states.dtype == np.uint8
    for j, column in enumerate(X.T):
        is_missing = np.isnan(column)
        points, values = oracle_mdl.cut_points(column, y, 3), np.unique(column[~is_missing])
        wanted, n_known = {
            "three_states": (oracle_mrmr.three_states(column)[0], 3),
            "equal_width": (oracle_mrmr.equal_width(column, 7), 7),
            "equal_frequency": (oracle_mrmr.equal_frequency(column, 7), 7),
            "mdl": (oracle_mdl.bins_of(column, points), len(points) + 1),
            "none": (np.searchsorted(values, column), len(values)),
        }[binning]
        wanted = np.where(is_missing, n_known, wanted)
        assert_array_equal(states[j], wanted)
        assert n_states[j] == n_known + is_missing.any()


def test_each_value_is_a_state():
    columns = [
        [3, 258, 3, 100, 258],  # whole numbers, not all of a range
        [1e15 + 9, 1e15, 1e15 + 2, 1e15, 1e15],
        [-1, 1 - 2.0**-53, 1, 1, 1],  # from -1 on, both values round to 2
        [0.1, 1.1, 2.1, 0.1, 0.6],
        [-np.inf, np.inf, 2, -np.inf, 0],
        [-1.7e308, 1.7e308, 0, 0, 0],
        [-np.inf, -np.inf, -np.inf, -np.inf, -np.inf],
        [7, 7, 7, 7, 7],
        [2, np.nan, 5, 2, np.nan],
    ]
    states, n_states = bin_columns(problem_of(np.array(columns).T, [0, 1, 0, 1, 0]), "none", 5)
    for j, column in enumerate(columns):
        values, wanted = np.unique(column, return_inverse=True)  # NaN comes last
        assert_array_equal(states[j], wanted)
        assert n_states[j] == len(values)
    # as many distinct values as there may be, and one more
    X, y = np.arange(510.0)[:, np.newaxis] // 2, np.arange(510) % 2
    assert_array_equal(bin_columns(problem_of(X, y), "none", 5)[0], X.T)
    with pytest.raises(MaucError, match="255 distinct values to be taken as discrete, got 256"):
        bin_columns(problem_of(np.arange(256.0)[:, np.newaxis], y[:256]), "none", 5)


@pytest.mark.parametrize("binning", BINNINGS)
def test_nominal_columns_keep_their_categories(gappy, binning):
    X, y = gappy
    X[:, 0] = np.where(np.isnan(X[:, 0]), np.nan, np.floor(X[:, 0]) * 10)
    states, n_states = bin_columns(problem_of(X, y, [0]), binning, 4)
    plain, n_plain = bin_columns(problem_of(X, y), binning, 4)
    assert_array_equal(states[1:], plain[1:])
    assert_array_equal(n_states[1:], n_plain[1:])
    values = np.unique(X[~np.isnan(X[:, 0]), 0])
    wanted = np.where(np.isnan(X[:, 0]), len(values), np.searchsorted(values, X[:, 0]))
    assert_array_equal(states[0], wanted)
    assert n_states[0] == len(values) + 1


def test_a_column_of_gaps_is_one_state(gappy):
    X, y = gappy
    X[:, 1] = np.nan
    for binning in ("mdl", "none"):
        states, n_states = bin_columns(problem_of(X, y), binning, 5)
        assert_array_equal(states[1], 0)
        assert n_states[1] == 1
    assert len(find_cut_points(problem_of(X, y))[1]) == 0
