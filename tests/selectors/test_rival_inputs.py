"""What the rival filters take in: types, layouts, storage, gaps, weights; what not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mauc import (
    FSDD,
    MRMR,
    ChiSquare,
    ReliefF,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
)
from mauc.exceptions import MaucError

RIVALS = {
    "FSDD": FSDD("all"),
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
    """Every rival in turn, unfitted."""
    return clone(RIVALS[request.param])


@pytest.fixture
def whole_numbers(rng):
    """Small whole numbers, which every type holds, of four classes."""
    y = rng.integers(0, 4, 90)
    return rng.integers(0, 30, (90, 12)) + rng.integers(0, 12, (4, 12))[y], y


def assert_same_fit(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.scores_, other.scores_)
    assert_array_equal(one.trace_.scores, other.trace_.scores)
    assert_array_equal(one.pair_auc_, other.pair_auc_)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_relieff_refuses_sparse(make):
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        ReliefF().fit(make(np.eye(6)), [0, 0, 0, 1, 1, 1])
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        ReliefF(categorical_features=[0]).fit(make(np.eye(6)), [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_gaps_and_infinity(selector, rng, offset):
    X, y = rng.normal(size=(30, 3)) + offset, np.arange(30) % 3
    X[4, 1] = np.inf
    with pytest.raises(ValueError, match="contains infinity"):
        selector.fit(X, y)


class TestWeights:
    """Weights are frequencies for FSDD; the others have none."""

    def test_weight_two_is_the_row_given_twice(self, rng):
        X, y = rng.normal(size=(50, 12)), rng.integers(0, 3, 50)
        X[rng.random(X.shape) < 0.1] = np.nan
        w = rng.integers(1, 4, 50)
        weighted = FSDD("all").fit(X, y, sample_weight=w)
        repeated = FSDD("all").fit(np.repeat(X, w, axis=0), np.repeat(y, w))
        assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-12)
        assert_array_equal(weighted.ranking_, repeated.ranking_)
        assert_allclose(weighted.pair_auc_, repeated.pair_auc_, rtol=1e-14)

    def test_weight_zero_is_the_row_left_out(self, rng):
        X, y = rng.normal(size=(50, 6)), np.arange(50) % 3
        w = np.ones(50)
        w[::4], X[::4] = 0, 1e6
        weighted = FSDD("all").fit(X, y, sample_weight=w)
        left = FSDD("all").fit(X[w > 0], y[w > 0])
        assert_allclose(weighted.scores_, left.scores_, rtol=1e-12)

    def test_unit_weights_and_sparse(self, rng):
        X = np.where(rng.random((60, 9)) < 0.6, 0.0, rng.normal(size=(60, 9)))
        y, w = rng.integers(0, 3, 60), rng.random(60) + 0.5
        plain, unit = FSDD().fit(X, y), FSDD().fit(X, y, sample_weight=np.ones(60))
        assert_allclose(unit.scores_, plain.scores_, rtol=1e-12)
        dense = FSDD().fit(X, y, sample_weight=w)
        stored = FSDD().fit(sparse.csr_array(X), y, sample_weight=w)
        assert_array_equal(stored.scores_, dense.scores_)

    @pytest.mark.parametrize("name", [n for n in RIVALS if n not in ("FSDD", "pairs IG")])
    def test_the_others_have_no_weights(self, name, whole_numbers):
        with pytest.raises(TypeError, match="sample_weight"):
            clone(RIVALS[name]).fit(*whole_numbers, sample_weight=np.ones(90))

    @pytest.mark.parametrize("relevance", ["chi2", "su", "ig"])
    def test_relevances_without_weights_refuse_them(self, relevance, whole_numbers):
        text = f"sample_weight must be None for relevance '{relevance}'; only 'auc', 'fsdd',"
        with pytest.raises(MaucError, match=text):
            SubproblemSelector(relevance=relevance).fit(*whole_numbers, sample_weight=np.ones(90))

    def test_a_class_without_weight(self, whole_numbers):
        X, y = whole_numbers
        text = r"sample_weight must give every class a positive total, got 0 for class 2\."
        with pytest.raises(MaucError, match=text):
            FSDD().fit(X, y, sample_weight=(y != 2).astype(float))


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (FSDD(beta=np.nan), "beta must be a finite number, got nan"),
        (FSDD(beta=np.inf), "beta must be a finite number, got inf"),
        (FSDD(beta="2"), "beta must be a finite number, got '2'"),
        (FSDD(beta=None), "beta must be a finite number, got None"),
        (ReliefF(n_neighbors=0), "n_neighbors must be an int of at least 1, got 0"),
        (ReliefF(n_neighbors=-3), "n_neighbors must be an int of at least 1, got -3"),
        (ReliefF(n_neighbors=2.5), r"n_neighbors must be an int of at least 1, got 2\.5"),
        (ReliefF(n_neighbors="10"), "n_neighbors must be an int of at least 1, got '10'"),
        (ReliefF(n_neighbors=None), "n_neighbors must be an int of at least 1, got None"),
        (ReliefF(n_iterations=0), 'n_iterations must be "all", "log" or an int .*, got 0'),
        (ReliefF(n_iterations=-1), 'n_iterations must be "all", "log" or an int .*, got -1'),
        (ReliefF(n_iterations="some"), 'n_iterations must be "all", "log" or .*, got \'some\''),
        (ReliefF(n_iterations=1.5), r'n_iterations must be "all", "log" or an int .*, got 1\.5'),
        (ReliefF(n_iterations=True), 'n_iterations must be "all", "log" or an int .*, got True'),
        (ReliefF(n_iterations=None), 'n_iterations must be "all", "log" or an int .*, got None'),
        (ReliefF(n_iterations=5, random_state="a"), "cannot be used to seed"),
        (MRMR(binning="bins"), "binning must be one of 'three_states', .*'none', got 'bins'"),
        (MRMR(binning=None), "binning must be one of .*, got None"),
        (MRMR(criterion="MID"), "criterion must be one of 'difference', 'quotient', got 'MID'"),
        (MRMR(criterion=None), "criterion must be one of .*, got None"),
        (MRMR(binning="equal_width", n_bins=1), r"n_bins must be an int in \[2, 255\], got 1"),
        (MRMR(binning="equal_frequency", n_bins=999), r"n_bins must be .*, got 999"),
        (SpreadFx(relevance="relief"), "relevance must be one of 'auc', 'chi2', .*, got 'relief'"),
        (SpreadFx(schedule="in turn"), "schedule must be one of 'random', .*, got 'in turn'"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_parameters_out_of_range(bad, text, whole_numbers):
    with pytest.raises(ValueError, match=text):
        bad.fit(*whole_numbers)


def test_too_many_values_to_be_states():
    X, y = np.arange(300.0)[:, np.newaxis], np.arange(300) % 2
    with pytest.raises(MaucError, match="column 0 must have at most 255 distinct values"):
        MRMR("all", binning="none").fit(X, y)
    with pytest.raises(MaucError, match="column 0 must have at most 255 distinct values"):
        MRMR("all", categorical_features=[0]).fit(X, y)
    MRMR("all", binning="none").fit(X // 2, y)


def test_labels_and_sizes_out_of_range(selector, whole_numbers):
    X, y = whole_numbers
    with pytest.raises(MaucError, match="y must hold at least 2 classes to tell apart"):
        clone(selector).fit(X, np.zeros(90))
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[90, 89\]"):
        clone(selector).fit(X, y[:89])
    with pytest.raises(ValueError, match=r"y must hold a label .* contains NaN"):
        clone(selector).fit(X, np.where(y == 0, np.nan, y))
    for wanted in (0, 13, -1):
        text = rf"n_features_to_select must be in \[1, 12\] .*, got {wanted}\."
        with pytest.raises(MaucError, match=text):
            clone(selector).set_params(n_features_to_select=wanted).fit(X, y)
    with pytest.raises(MaucError, match=r"must be in \(0, 1\], got 1.5"):
        clone(selector).set_params(n_features_to_select=1.5).fit(X, y)


def test_columns_without_a_known_value(selector, rng):
    X, y = rng.normal(size=(40, 4)) + np.arange(40)[:, np.newaxis] % 2, np.arange(40) % 2
    X[:, [1, 2]] = np.nan
    if isinstance(selector, FSDD):
        selector.set_params(n_features_to_select=2)
    selector.fit(X, y)
    if not isinstance(selector, ReliefF):
        assert set(selector.ranking_[:2]) == {0, 3}


def test_a_class_with_a_single_sample(selector, rng):
    X, y = rng.normal(size=(31, 5)), np.append(np.arange(30) % 2, 2)
    with pytest.warns(UserWarning, match="1 of 3 classes have a single sample"):
        selector.fit(X, y)
    assert np.isfinite(selector.scores_).all()
