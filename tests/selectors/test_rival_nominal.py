"""Nominal columns of the rival filters: by type, by mask, by number and by name."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import oracle_mdl
import oracle_relief
from mauc import (
    FSDD,
    MAUCD,
    MRMR,
    ChiSquare,
    MDLDiscretizer,
    ReliefF,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
)
from mauc.exceptions import MaucError

RIVALS = {
    "CHI": ChiSquare("all"),
    "SU": SymmetricalUncertainty("all"),
    "SCHI": SpreadFx("all"),
    "SSU": SpreadFx("all", relevance="su"),
    "ReliefF": ReliefF("all"),
    "mRMR": MRMR("all"),
    "mRMR MDL": MRMR("all", binning="mdl"),
    "mRMR width": MRMR("all", binning="equal_width"),
    "mRMR frequency": MRMR("all", binning="equal_frequency", n_bins=4),
    "pairs IG": SubproblemSelector("all", relevance="ig", schedule="round_robin"),
}


@pytest.fixture(params=RIVALS)
def selector(request):
    """Every rival that takes nominal columns."""
    return clone(RIVALS[request.param])


@pytest.fixture
def mixed(rng):
    """A numeric, a nominal, a numeric and a nominal column, each with gaps, of three classes."""
    y = rng.integers(0, 3, 80)
    X = np.column_stack(
        [
            rng.normal(size=80) + y,
            # no order, and one category far from the others: bins by value would merge them
            np.array([0, 1, 2, 100])[(rng.integers(0, 3, 80) + y) % 4],
            rng.normal(size=80),
            rng.integers(0, 3, 80),
        ]
    )
    X[rng.random(X.shape) < 0.08] = np.nan
    return X, y


def assert_same_fit(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.scores_, other.scores_)
    assert_array_equal(one.trace_.scores, other.trace_.scores)
    assert_array_equal(one.pair_auc_, other.pair_auc_)


def fitted_with(selector, X, y, flags=None):
    return clone(selector).set_params(categorical_features=flags).fit(X, y)


def test_masks_numbers_and_names(selector, mixed):
    pd = pytest.importorskip("pandas")
    X, y = mixed
    wanted = fitted_with(selector, X, y, [False, True, False, True])
    assert not np.array_equal(wanted.scores_, fitted_with(selector, X, y).scores_)
    for flags in ([1, 3], [-3, -1], np.array([3, 1]), (1, 3)):
        assert_same_fit(fitted_with(selector, X, y, flags), wanted)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    for flags in (["b", "d"], [1, 3], [False, True, False, True]):
        assert_same_fit(fitted_with(selector, frame, y, flags), wanted)


def test_categorical_types(selector, mixed):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = mixed
    wanted = fitted_with(selector, X, y, [1, 3])
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    typed = frame.astype({"b": "category", "d": "category"})
    assert_same_fit(fitted_with(selector, typed, y), wanted)
    assert_same_fit(fitted_with(selector, frame.astype({"b": "category"}), y, ["d"]), wanted)
    names = {j: [None if v != v else f"v{v:03.0f}" for v in X[:, j].tolist()] for j in (1, 3)}
    typed = pl.DataFrame(
        {
            "a": X[:, 0],
            "b": pl.Series(names[1], dtype=pl.Categorical),
            "c": X[:, 2],
            "d": pl.Series(names[3], dtype=pl.Enum(["v000", "v001", "v002"])),
        }
    )
    assert_same_fit(fitted_with(selector, typed, y), wanted)


def test_strings_of_an_object_array(selector, mixed):
    X, y = mixed
    wanted = fitted_with(selector, X, y, [1, 3])
    data = X.astype(object)
    for j in (1, 3):
        data[:, j] = [None if v != v else f"v{v:03.0f}" for v in X[:, j].tolist()]
    assert_same_fit(fitted_with(selector, data, y, [1, 3]), wanted)


def test_transform_keeps_categories(selector, mixed):
    pd = pytest.importorskip("pandas")
    X, y = mixed
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).astype({"b": "category"})
    frame["d"] = pd.Series([None if v != v else f"v{v:03.0f}" for v in X[:, 3]]).astype("category")
    fitted = fitted_with(selector, frame, y).set_output(transform="pandas")
    pd.testing.assert_frame_equal(fitted.transform(frame), frame)
    plain = fitted_with(selector, frame, y)
    assert plain.transform(frame).shape == (80, 4)


def test_no_auc_without_an_order(selector, mixed):
    fitted = fitted_with(selector, *mixed, [1, 3])
    is_nominal = np.isin(fitted.ranking_, [1, 3])
    assert np.isnan(fitted.pair_auc_[is_nominal]).all()
    assert (fitted.pair_auc_[~is_nominal] >= 0.5).all()


def test_scores_equal_the_definitions(mixed):
    X, y = mixed
    for j in (1, 3):
        values = np.unique(X[~np.isnan(X[:, j]), j])
        bins = np.where(np.isnan(X[:, j]), -1, np.searchsorted(values, X[:, j]))
        wanted = oracle_mdl.scores(bins, y, len(values), 3)
        chi = ChiSquare(categorical_features=[1, 3]).fit(X, y)
        su = SymmetricalUncertainty(categorical_features=[1, 3]).fit(X, y)
        assert_allclose([chi.scores_[j], su.scores_[j]], wanted[:2], rtol=1e-9)
    relief = ReliefF(categorical_features=[1, 3]).fit(X, y)
    wanted = oracle_relief.relieff_oracle(X, y, 3, is_nominal=[False, True, False, True])
    assert_allclose(relief.scores_, wanted, rtol=1e-12)


@pytest.mark.parametrize("name", ["CHI", "SSU", "mRMR"])
def test_flagged_columns_of_a_sparse_matrix(rng, name):
    X, y = rng.integers(0, 4, (60, 5)).astype(float), rng.integers(0, 3, 60)
    wanted = fitted_with(RIVALS[name], X, y, [1, 3])
    for make in (sparse.csr_array, sparse.csc_matrix):
        assert_same_fit(fitted_with(RIVALS[name], make(X), y, [1, 3]), wanted)


def test_a_category_goes_to_those_that_take_it(mixed):
    pd = pytest.importorskip("pandas")
    X, y = mixed
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(y == 1, "u", "v")})
    typed = frame.astype({"b": "category"})
    with pytest.raises(MaucError, match="X must be numeric, but column 'b' has dtype"):
        ChiSquare().fit(frame, y)
    assert ChiSquare(1).fit(typed, y).get_feature_names_out().tolist() == ["b"]


@pytest.mark.parametrize(
    "refuses", [FSDD(), MAUCD(), SpreadFx(relevance="auc"), MDLDiscretizer()], ids=repr
)
def test_a_category_where_order_counts(refuses, mixed):
    pd = pytest.importorskip("pandas")
    X, y = mixed
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(y == 1, "u", "v"))})
    with pytest.raises(MaucError, match="X must be numeric, but column 'b' has dtype category"):
        refuses.fit(frame, y)


@pytest.mark.parametrize("relevance", ["auc", "fsdd"])
def test_flags_where_order_counts(mixed, relevance):
    text = f"categorical_features must be None for relevance '{relevance}'"
    for make in (SpreadFx, SubproblemSelector):
        with pytest.raises(MaucError, match=text):
            make(relevance=relevance, categorical_features=[1]).fit(*mixed)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ([True, False], "categorical_features as a mask must have 4 entries .*, got 2"),
        ([4], "categorical_features must be column numbers below 4, got 4"),
        ([-5], "categorical_features must be column numbers below 4, got -5"),
        (["b"], "categorical_features names 'b', but X has no column names"),
    ],
)
def test_flags_that_fit_nothing(selector, mixed, flags, text):
    with pytest.raises(MaucError, match=text):
        fitted_with(selector, *mixed, flags)


def test_an_unknown_name(selector, mixed):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(mixed[0], columns=["a", "b", "c", "d"])
    with pytest.raises(MaucError, match="names 'z', but X has no such column"):
        fitted_with(selector, frame, mixed[1], ["b", "z"])


def test_polars_columns_keep_their_types(mixed):
    pl = pytest.importorskip("polars")
    X, y = mixed
    frame = pl.DataFrame({"a": X[:, 0], "n": np.arange(len(y)), "b": np.where(y == 1, "u", "v")})
    frame = frame.with_columns(pl.col("b").cast(pl.Categorical))
    selector = MRMR("all").set_output(transform="polars").fit(frame, y)
    assert selector.transform(frame).schema == frame.schema


def test_hardest_does_not_look_at_the_numbers_of_categories(rng):
    X, y = rng.integers(0, 3, (90, 6)).astype(float), rng.integers(0, 3, 90)
    rankings = set()
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        renamed = X.copy()
        renamed[:, 2] = np.take(order, X[:, 2].astype(int))
        selector = SpreadFx("all", schedule="hardest", categorical_features=[2])
        rankings.add(tuple(selector.fit(renamed, y).ranking_))
    assert len(rankings) == 1
