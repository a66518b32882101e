"""The seven rival filters: equal to WEKA, or to their definitions as literal loops."""

import itertools
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_wine

from mauc import (
    FSDD,
    MRMR,
    ChiSquare,
    ReliefF,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
)
from mauc.binning.states import BINNINGS
from mauc.exceptions import ConstantInputWarning
from mauc.selectors.relieff.relieff import relieff_weights
from tests.helpers import oracle_fsdd, oracle_mdl, oracle_mrmr, oracle_relief, oracles, weka_filters


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def by_score(scores):
    return np.argsort(-np.asarray(scores), kind="stable")


@pytest.mark.parametrize("name", weka_filters.REFERENCES)
def test_chi_square_su_and_ig_equal_weka(name):
    X, y, _, reference = weka_filters.load(name)
    for make, key in ((ChiSquare, "score_chi"), (SymmetricalUncertainty, "score_su")):
        selector = make("all", n_jobs=2).fit(X, y)
        assert_allclose(selector.scores_, reference[key], rtol=1e-9, atol=1e-14)
        assert_array_equal(selector.ranking_, by_score(selector.scores_))
        assert_array_equal(selector.trace_.scores, selector.scores_[selector.ranking_])
    gain = SubproblemSelector("all", decomposition="whole", relevance="ig", n_jobs=2).fit(X, y)
    assert_allclose(gain.scores_, reference["score_ig"], rtol=1e-9, atol=1e-14)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.TinyUnitsWarning")  # the edges are tiny
@pytest.mark.parametrize("name", weka_filters.REFERENCES)
def test_relieff_equals_weka(name):
    X, y, _, reference = weka_filters.load(name)
    wanted = [weights for rows, weights in weka_filters.relieff_runs(reference) if rows is None]
    if not wanted:
        pytest.skip("WEKA ran on sampled rows only")
    selector = ReliefF("all", n_jobs=2).fit(X, y)
    assert_allclose(selector.scores_, wanted[0], rtol=1e-9, atol=1e-15)
    assert_array_equal(selector.ranking_, by_score(selector.scores_))


def spread(X, y, statistic):
    """Rank by SpreadFx as it is told: discretise for every class, go round the classes."""
    n_classes, n_features = y.max() + 1, X.shape[1]
    relevance = np.empty((n_features, n_classes))
    for f, k in itertools.product(range(n_features), range(n_classes)):
        role = np.where(np.arange(n_classes) == k, 0, 1)
        relevance[f, k] = oracle_mdl.subproblem_scores(X[:, f], y, role)[1][statistic]
    chosen = oracles.algorithm_1(relevance, n_features, itertools.cycle(range(n_classes)))
    return chosen, relevance


@pytest.mark.parametrize(("relevance", "statistic"), [("chi2", 0), ("su", 1), ("ig", 2)])
@pytest.mark.parametrize("data", ["wine", "digits"])
def test_spreadfx_equals_the_definition(relevance, statistic, data):
    X, y = load_wine(return_X_y=True) if data == "wine" else load_digits(return_X_y=True)
    X, y = (X, y) if data == "wine" else (X[:120, ::3], y[:120])
    selector = SpreadFx("all", relevance=relevance).fit(X, y)
    chosen, scores = spread(X, y, statistic)
    assert_allclose(selector.scores_, scores.mean(axis=1), rtol=1e-9, atol=1e-12)
    for step, (feature, k, rank) in zip(selector.trace_, chosen, strict=True):
        assert (step.feature, step.subproblem, step.rank) == (feature, k, rank)
        assert step.subproblem_name == f"{k} vs rest"
        assert step.score == pytest.approx(scores[feature, k], rel=1e-9, abs=1e-12)


def states_of(X, y, binning, n_bins):
    n_classes = y.max() + 1
    make = {
        "three_states": lambda x: oracle_mrmr.three_states(x)[0],
        "mdl": lambda x: oracle_mdl.bins_of(x, oracle_mdl.cut_points(x, y, n_classes)),
        "equal_width": lambda x: oracle_mrmr.equal_width(x, n_bins),
        "equal_frequency": lambda x: oracle_mrmr.equal_frequency(x, n_bins),
        "none": lambda x: np.unique(x, return_inverse=True)[1],
    }[binning]
    return [make(column).tolist() for column in X.T]


@pytest.mark.parametrize("criterion", ["difference", "quotient"])
@pytest.mark.parametrize("binning", BINNINGS)
def test_mrmr_equals_the_definition(wine, binning, criterion):
    X, y = wine
    selector = MRMR("all", binning=binning, criterion=criterion, n_bins=6).fit(X, y)
    states = states_of(X, y, binning, 6)
    is_quotient = criterion == "quotient"
    ranking, scores, relevance = oracle_mrmr.mrmr(
        states, y, 13, is_quotient, oracle_mrmr.fixed_information(len(y))
    )
    assert_array_equal(selector.ranking_, ranking)
    assert_array_equal(selector.trace_.scores, scores)
    assert_array_equal(selector.scores_, relevance)
    # and the information itself, from probabilities
    literal = [oracle_mrmr.mutual_information(row, y.tolist()) for row in states]
    assert_allclose(selector.scores_, literal, rtol=1e-12)
    assert_allclose(
        selector.trace_.scores,
        oracle_mrmr.mrmr(states, y.tolist(), 13, is_quotient)[1],
        rtol=1e-9,
        atol=1e-13,
    )


@pytest.mark.parametrize("offset", [0.0, 1e9])
@pytest.mark.parametrize("beta", [0.0, 1, 2.0])
def test_fsdd_equals_the_definition(wine, offset, beta):
    X, y = wine[0] + offset, wine[1]
    selector = FSDD("all", beta=beta).fit(X, y)
    literal = [oracle_fsdd.fsdd(column, y, beta) for column in X.T]
    assert_allclose(selector.scores_, literal, rtol=1e-10, atol=1e-10)
    assert_array_equal(selector.ranking_, by_score(literal))


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e9 + 0.1])
def test_constant_features_are_last_for_fsdd(wine, value):
    X, y = wine
    X = np.insert(X, [0, 5], value, axis=1)  # columns 0 and 6
    selector = FSDD(13).fit(X, y)  # warnings are errors: none where no constant is selected
    assert not {0, 6} & set(selector.ranking_)
    assert_array_equal(np.isneginf(selector.scores_), np.isin(np.arange(15), [0, 6]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = FSDD(14).fit(X, y)
    assert selector.ranking_[-1] == 0
    assert [w.category for w in caught] == [ConstantInputWarning]
    assert "1 of the 14 selected features are constant" in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(ConstantInputWarning, match="2 of the 15 selected features"):
        assert FSDD("all").fit(X, y).ranking_[-2:].tolist() == [0, 6]


@pytest.mark.parametrize("criterion", ["difference", "quotient"])
@pytest.mark.parametrize("binning", BINNINGS)
def test_constant_features_are_last_for_mrmr(wine, binning, criterion):
    X, y = wine
    X = np.insert(X, [0, 5], 3.0, axis=1)
    selector = MRMR("all", binning=binning, criterion=criterion).fit(X, y)
    n_useless = np.isneginf(selector.trace_.scores).sum()
    assert n_useless >= 2
    assert {0, 6} <= set(selector.ranking_[-n_useless:])


@pytest.mark.parametrize(
    "selector", [ChiSquare("all"), SymmetricalUncertainty("all"), SpreadFx("all")], ids=repr
)
def test_a_feature_without_a_cut_scores_nothing(rng, selector):
    # the second column is in the order of the rows, in which the classes alternate
    y = np.arange(60) % 3
    X = np.column_stack([np.full(60, 2.0), np.arange(60.0), rng.normal(size=60) + 5 * y])
    assert_array_equal(selector.fit(X, y).scores_ > 0, [False, False, True])
    assert_array_equal(selector.ranking_, [2, 0, 1])


class TestIterationsOfReliefF:
    """Which samples look at their neighbours."""

    @pytest.mark.parametrize(("wanted", "size"), [("log", 5), (1, 1), (7, 7), (np.int64(500), 500)])
    def test_rows_are_drawn_with_replacement(self, wine, wanted, size):
        X, y = wine
        selector = ReliefF("all", n_iterations=wanted, random_state=3).fit(X, y)
        assert size == 5 if wanted == "log" else size == wanted  # ln 178 = 5.18
        rows = np.random.RandomState(3).randint(len(y), size=size)
        XT = np.ascontiguousarray(X.T)
        assert_array_equal(selector.scores_, relieff_weights(XT, y, 3, rows))

    def test_the_state_decides_the_draws(self, wine):
        def scores(state):
            selector = ReliefF(n_iterations="log", random_state=state)
            return selector.fit(*wine).scores_.tolist()

        assert scores(0) == scores(0) == scores(np.random.RandomState(0))
        assert len({tuple(scores(seed)) for seed in range(5)}) == 5

    def test_all_samples_need_no_state(self, wine):
        X, y = wine
        first = ReliefF(random_state=0).fit(X, y)
        assert_array_equal(ReliefF(n_iterations="all").fit(X, y).scores_, first.scores_)
        assert_allclose(first.scores_, oracle_relief.relieff_oracle(X, y, 3), rtol=1e-12)

    @pytest.mark.parametrize("n_neighbors", [1, 3, 1000])
    def test_number_of_neighbours(self, wine, n_neighbors):
        X, y = wine[0][::3], wine[1][::3]
        selector = ReliefF(n_neighbors=n_neighbors).fit(X, y)
        wanted = oracle_relief.relieff_oracle(X, y, 3, n_neighbors=n_neighbors)
        assert_allclose(selector.scores_, wanted, rtol=1e-12)
