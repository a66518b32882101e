"""Seven further filters: equal to scikit-learn, WEKA or their definitions as literal loops."""

import math
from itertools import chain
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_selection import f_classif

from mauc import (
    ARCO,
    FAST,
    FCBF,
    JMI,
    MAUCD,
    AnovaF,
    FisherScore,
    InformationGain,
    SubproblemSelector,
    SymmetricalUncertainty,
)
from mauc.binning.states import BINNINGS
from mauc.data.problem import make_problem
from mauc.selectors import arco as rank_columns
from mauc.selectors.arco import measure
from mauc.selectors.information import fcbf as fcbf_module
from mauc.selectors.information import greedy as greedy_module
from mauc.selectors.information.greedy import binned_features
from tests.helpers import oracle_further as oracle
from tests.helpers import oracle_mdl, oracle_mrmr, rival_strategies, weka_filters
from tests.helpers.selectors import assert_same_fit


def jmi_ranking(D, n_states, y, n_classes, k, n_threads=1):
    """Rank discretised features by JMI."""
    with binned_features(D, n_states, y, n_classes, n_threads) as features:
        search = greedy_module.jmi_search(features, k)
    return SimpleNamespace(
        ranking=search.ranking, scores=search.scores, relevance=features.relevance
    )


def fcbf_ranking(D, n_states, y, n_classes, k, threshold=0.0, n_threads=1):
    """Rank discretised features by FCBF."""
    with binned_features(D, n_states, y, n_classes, n_threads) as features:
        ranking, rounds, relevance = fcbf_module.fcbf_search(features, k, threshold)
    return SimpleNamespace(ranking=ranking, rounds=rounds, relevance=relevance)


FURTHER = {
    "fisher": FisherScore(),
    "anova": AnovaF(),
    "ig": InformationGain(),
    "fast": FAST(),
    "arco": ARCO(),
    "jmi": JMI(),
    "fcbf": FCBF(),
    "jmi mdl": JMI(binning="mdl"),
    "fcbf frequency": FCBF(binning="equal_frequency", threshold=0.01),
    "pairs fast": SubproblemSelector(relevance="fast", schedule="round_robin"),
    "rest anova": SubproblemSelector(
        relevance="anova", decomposition="one-vs-rest", schedule="round_robin"
    ),
}


@pytest.fixture(params=FURTHER)
def selector(request):
    """Every filter in turn, unfitted."""
    return clone(FURTHER[request.param]).set_params(n_features_to_select="all")


@pytest.fixture
def many(rng):
    """Four classes, 30 columns with ties and gaps, two constant ones and a copy."""
    y = rng.integers(0, 4, 90)
    X = (rng.normal(size=(90, 30)) + rng.normal(size=(4, 30))[y]).round(1)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[:, 3], X[:, 17], X[:, 20] = 2.5, 0.0, X[:, 9]
    return X, y


def by_score(scores):
    return np.argsort(-np.array(scores, dtype=float), kind="stable")


class TestByHand:
    """Cases to be counted on paper."""

    def test_fisher_and_f(self):
        # means 1 and 5 about 3: between 2 * 4 + 2 * 4 = 16, within 4 * 1 = 4
        X, y = np.array([[0.0], [2.0], [4.0], [6.0]]), [0, 0, 1, 1]
        assert FisherScore("all").fit(X, y).scores_.tolist() == [4.0]
        assert AnovaF("all").fit(X, y).scores_.tolist() == [8.0]  # 4 * (4 - 2) / (2 - 1)

    def test_fast(self):
        # thresholds 1.5 and 3.5: states 0, 1, 1, 2; of four pairs three in order and one tie
        X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), [0, 0, 1, 1]
        assert FAST("all", n_bins=2).fit(X, y).scores_.tolist() == [3.5 / 4]
        assert FAST("all", n_bins=4).fit(X, y).scores_.tolist() == [1.0]

    def test_arco(self):
        # column 1 is column 0 upside down: AUC 1 but correlation 1; column 2 has AUC 3/4 and
        # ranks 2, 1, 4, 3: correlation 0.6; so 0.75 - 0.6 beats 1 - 1
        X = np.array([[1, 9, 2], [2, 8, 1], [3, 7, 4], [4, 6, 3]])
        selector = ARCO("all").fit(X, [0, 0, 1, 1])
        assert_allclose(selector.scores_, [1.0, 1.0, 1.0])
        assert selector.ranking_.tolist() == [0, 2, 1]
        assert_allclose(selector.trace_.scores, [1.0, 1 - 0.6, 1 - (1 + 0.6) / 2])

    def test_jmi_sees_what_two_features_tell_together(self):
        # the class is a xor b; no column tells anything alone
        a, b, c = np.array([[0, 0, 1, 1] * 2, [0, 1, 0, 1] * 2, [0] * 4 + [1] * 4])
        found = JMI("all").fit(np.column_stack([a, c, b]), a ^ b)
        assert found.ranking_.tolist() == [0, 2, 1]
        assert_allclose(found.scores_, 0.0, atol=1e-15)
        # I(c, a; y) + I(c, b; y) = 0
        assert_allclose(found.trace_.scores, [0.0, math.log(2), 0.0], atol=1e-15)

    def test_fcbf_keeps_one_of_two_copies(self):
        y = np.array([0, 1, 2, 2] * 2)
        X = np.column_stack([[0, 0, 1, 1] * 2, [5, 5, 3, 3] * 2, [0, 1, 0, 1] * 2])
        found = FCBF("all", binning="none").fit(X, y)
        assert found.ranking_.tolist() == [0, 2, 1]
        assert FCBF("all", binning="none", max_rounds=1).fit(X, y).ranking_.tolist() == [0, 2]
        assert found.rounds_.tolist() == [1, 1, 2]
        # H(y) = 1.5 bits, H(f) = 1 bit, I = 1 and 0.5 bits
        assert_allclose(found.scores_, [0.8, 0.8, 0.4])


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_f_equals_scikit_learn(load):
    X, y = load(return_X_y=True)
    selector = AnovaF("all").fit(X, y)
    wanted = f_classif(X, y)[0]
    assert_allclose(selector.scores_, wanted, rtol=1e-9)
    assert_array_equal(selector.ranking_, by_score(wanted))
    n, c = len(y), len(set(y))
    fisher = FisherScore("all").fit(X, y)
    assert_allclose(fisher.scores_, wanted * (c - 1) / (n - c), rtol=1e-9)
    assert_array_equal(fisher.ranking_, selector.ranking_)


@pytest.mark.parametrize("decomposition", ["one-vs-one", "one-vs-rest"])
def test_f_of_sub_problems_equals_scikit_learn(decomposition):
    X, y = load_wine(return_X_y=True)
    lists = [(0, 1), (0, 2), (1, 2)] if decomposition == "one-vs-one" else [(0,), (1,), (2,)]
    wanted = []
    for own in lists:
        rows = np.isin(y, own) if len(own) == 2 else np.ones(len(y), bool)
        wanted.append(f_classif(X[rows], y[rows] == own[0])[0])
    selector = SubproblemSelector("all", decomposition=decomposition, relevance="anova")
    assert_allclose(selector.fit(X, y).scores_, np.mean(wanted, axis=0), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@given(rival_strategies.moment_problems())
def test_fisher_and_f_equal_the_definition(problem):
    X, y, weight = problem
    rows = np.repeat(np.arange(len(y)), 1 if weight is None else weight)
    for make, literal in ((FisherScore, oracle.fisher), (AnovaF, oracle.anova)):
        selector = make("all").fit(X, y, sample_weight=weight)
        wanted = [literal(column, y[rows]) for column in X[rows].T]
        assert_allclose(selector.scores_, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", weka_filters.REFERENCES)
def test_information_gain_equals_weka(name):
    X, y, _, reference = weka_filters.load(name)
    selector = InformationGain("all", n_jobs=2).fit(X, y)
    assert_allclose(selector.scores_, reference["score_ig"], rtol=1e-9, atol=1e-14)
    assert_array_equal(selector.ranking_, by_score(selector.scores_))


@settings(max_examples=60)
@given(rival_strategies.seeds(), st.sampled_from([1, 2, 3, 10, 100]))
def test_fast_equals_the_definition(seed, n_bins):
    rng = np.random.default_rng(seed)
    n, n_classes = rng.integers(8, 40), rng.integers(2, 5)
    y = np.append(np.arange(n_classes).repeat(2), rng.integers(0, n_classes, n - 2 * n_classes))
    X = rng.normal(size=(n, 5)) + y[:, np.newaxis] * rng.normal(size=5)
    X[:, 1], X[:, 2] = X[:, 1].round(), 0.1
    X[rng.random((n, 5)) < rng.choice([0.0, 0.2])] = np.nan
    selector = FAST("all", n_bins=n_bins).fit(X, y)
    wanted = oracle.fast(X, y, n_classes, n_bins)
    assert_allclose(selector.scores_, np.array(wanted, float), rtol=1e-14)
    # Areas that are equal as fractions may differ in the last bit, so the scores decide on ties.
    assert_array_equal(selector.ranking_, by_score(selector.scores_))
    rest = SubproblemSelector("all", relevance="fast", decomposition="one-vs-rest")
    if n_bins == 10:
        wanted = [
            np.mean([float(oracle.fast_area(x[y == k], x[y != k], 10)) for k in range(n_classes)])
            for x in X.T
        ]
        assert_allclose(rest.fit(X, y).scores_, wanted, rtol=1e-14)


def test_fast_with_a_threshold_at_every_value_is_the_auc(rng):
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 8)) + y[:, np.newaxis] * rng.normal(size=8)
    fast, auc = FAST("all", n_bins=60).fit(X, y), MAUCD("all").fit(X, y)
    assert_array_equal(fast.scores_, auc.scores_)
    assert_array_equal(fast.ranking_, auc.ranking_)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@settings(max_examples=60)
@given(rival_strategies.seeds(), st.sampled_from([0.0, 0.3, 1.0, 2.5]), st.booleans())
def test_arco_equals_the_definition(seed, weight, is_small):
    rng = np.random.default_rng(seed)
    n, m, n_classes = rng.integers(8, 40), rng.integers(1, 9), rng.integers(2, 5)
    y = np.append(np.arange(n_classes).repeat(2), rng.integers(0, n_classes, n - 2 * n_classes))
    X = rng.normal(size=(n, m)) + y[:, np.newaxis] * rng.normal(size=m)
    if is_small:
        X = rng.integers(0, 3, (n, m)).astype(np.uint8)
        X[:, -1] = X[:, 0]
    else:
        X[:, m // 2] = X[:, m // 2].round()
        X[rng.random((n, m)) < rng.choice([0.0, 0.2])] = np.nan
        X[:, -1] = rng.choice([1.5, np.nan]) if rng.random() < 0.3 else X[:, -1]
    k = int(rng.integers(1, m + 1))
    selector = ARCO(k, redundancy_weight=weight).fit(X, y)
    ranking, scores, relevance = oracle.arco(X.astype(float), y, n_classes, k, weight)
    assert_array_equal(selector.ranking_, ranking)
    assert_allclose(selector.trace_.scores, scores, rtol=1e-13, atol=1e-15)
    assert_allclose(selector.scores_, relevance, rtol=1e-14)


def test_arco_of_weight_zero_is_maucd(many):
    X, y = many
    X = np.delete(X, [3, 17], axis=1)
    arco, maucd = ARCO("all", redundancy_weight=0).fit(X, y), MAUCD("all").fit(X, y)
    assert_same_fit(arco, maucd)


@pytest.mark.parametrize("n", [50, 2**15, 2**15 + 1])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_correlations_of_ranks_are_spearman(rng, n, dtype):
    XT = (rng.normal(size=(2, n)) * 30 + 100).clip(0, 255).astype(dtype)
    XT[1] = XT[0] // 2 + XT[1] // 2
    ranks, squares, _ = measure(make_problem(ARCO(), XT.T, np.arange(n) % 2))
    assert ranks.dtype == (np.int16 if n <= 2**15 else np.int32)
    product = rank_columns.rank_product(ranks[0], ranks[1])
    assert_array_equal(squares, (ranks.astype(np.int64) ** 2).sum(axis=1))
    rho = product / math.sqrt(float(squares[0]) * float(squares[1]))
    assert rho == pytest.approx(spearmanr(XT[0], XT[1]).statistic, abs=1e-12)


@pytest.mark.parametrize("n", [100, 2_000_000, 10**7, 10**9])
def test_squares_of_ranks_fit_63_bits(n):
    step = rank_columns.rank_step(n)
    assert (step == 1) == (n <= 2_000_000)
    assert n**3 / 3 / step**2 < 2**63


@settings(max_examples=80)
@given(rival_strategies.coded_features(max_states=10))
def test_jmi_equals_the_definition_to_the_bit(problem):
    D, n_states, y, n_classes, k = problem
    found = jmi_ranking(D, n_states, y, n_classes, k)
    fixed = oracle_mrmr.fixed_information(len(y))
    ranking, scores, relevance = oracle.jmi(D, y, k, fixed)
    assert_array_equal(found.ranking, ranking)
    assert_array_equal(found.scores, scores)
    assert_array_equal(found.relevance, relevance)
    literal = oracle.jmi(D, y.tolist(), 1, oracle_mrmr.mutual_information)[2]
    assert_allclose(found.relevance, literal, rtol=1e-12, atol=1e-14)


@given(rival_strategies.coded_features(max_states=8), st.integers(2, 4))
def test_jmi_is_agnostic_to_planes_and_threads(problem, n_threads):
    D, n_states, y, n_classes, k = problem
    found = jmi_ranking(D, n_states, y, n_classes, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy_module, "BLOCK_WORK", 1)
        patch.setattr(greedy_module, "MAX_CLASS_PRODUCTS", 0)
        other = jmi_ranking(D, n_states, y, n_classes, k, n_threads)
    for name in ("ranking", "scores", "relevance"):
        assert_array_equal(getattr(found, name), getattr(other, name))


def test_merged_codes_leave_no_gaps(rng):
    codes, y = np.array([4, 0, 4, 7, 7], np.uint8), np.array([2, 1, 0, 2, 2], np.int32)
    z, counts, groups = greedy_module.merge_classes(codes, y, 3)
    assert z.tolist() == [2, 0, 1, 3, 3]
    assert counts.tolist() == [1, 1, 1, 2]
    assert groups.tolist() == [0, 1, 3, 4]


@settings(max_examples=80)
@given(rival_strategies.coded_features(max_states=10), st.sampled_from([0.0, 0.05, 0.3]))
def test_fcbf_equals_the_definition(problem, threshold):
    D, n_states, y, n_classes, k = problem
    found = fcbf_ranking(D, n_states, y, n_classes, k, threshold)
    fixed = oracle_mrmr.fixed_information(len(y))
    rounds, rest, relevance = oracle.fcbf(D, y, threshold, fixed)
    assert_array_equal(found.relevance, relevance)
    assert_array_equal(found.ranking, [*chain(*rounds), *rest][:k])
    number = {f: 1 + r for r, kept in enumerate(rounds) for f in kept if relevance[f] > 0}
    assert_array_equal(found.rounds, [number.get(f, 0) for f in found.ranking])


@given(rival_strategies.coded_features(), st.integers(2, 4))
def test_fcbf_is_agnostic_to_threads(problem, n_threads):
    D, n_states, y, n_classes, k = problem
    found = fcbf_ranking(D, n_states, y, n_classes, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(greedy_module, "BLOCK_WORK", 1)
        patch.setattr(fcbf_module, "BLOCK_WORK", 1)
        other = fcbf_ranking(D, n_states, y, n_classes, k, n_threads=n_threads)
    for name in ("ranking", "rounds", "relevance"):
        assert_array_equal(getattr(found, name), getattr(other, name))


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@pytest.mark.parametrize("max_rounds", [1, 3])
def test_fcbf_selects_at_least_one(max_rounds, rng):
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 3
    strict = FCBF("all", threshold=0.999, max_rounds=max_rounds).fit(X + y[:, np.newaxis], y)
    assert strict.ranking_.tolist() == [np.argmax(strict.scores_)]
    assert FCBF("all", max_rounds=max_rounds).fit(np.ones((60, 4)), y).ranking_.tolist() == [0]


def test_fcbf_scores_are_symmetrical_uncertainties():
    X, y = load_wine(return_X_y=True)
    wanted = SymmetricalUncertainty().fit(X, y).scores_
    assert_allclose(FCBF().fit(X, y).scores_, wanted, rtol=1e-9)


def states_of(X, y, binning, n_bins):
    make = {
        "three_states": lambda x: oracle_mrmr.three_states(x)[0],
        "mdl": lambda x: oracle_mdl.bins_of(x, oracle_mdl.cut_points(x, y, y.max() + 1)),
        "equal_width": lambda x: oracle_mrmr.equal_width(x, n_bins),
        "equal_frequency": lambda x: oracle_mrmr.equal_frequency(x, n_bins),
        "none": lambda x: np.unique(x, return_inverse=True)[1],
    }[binning]
    return [make(column).tolist() for column in X.T]


@pytest.mark.parametrize("binning", BINNINGS)
def test_jmi_and_fcbf_with_every_binning(binning):
    X, y = load_wine(return_X_y=True)
    states, fixed = states_of(X, y, binning, 6), oracle_mrmr.fixed_information(len(y))
    selector = JMI("all", binning=binning, n_bins=6).fit(X, y)
    ranking, scores, relevance = oracle.jmi(states, y, 13, fixed)
    assert_array_equal(selector.ranking_, ranking)
    assert_array_equal(selector.trace_.scores, scores)
    assert_array_equal(selector.scores_, relevance)
    selector = FCBF("all", binning=binning, n_bins=6).fit(X, y)
    rounds, _, relevance = oracle.fcbf(states, y, 0.0, fixed)
    assert_array_equal(selector.ranking_, [*chain(*rounds)])
    assert_array_equal(selector.trace_.scores, np.array(relevance)[selector.ranking_])
    selector = FCBF("all", binning=binning, n_bins=6, max_rounds=1).fit(X, y)
    assert_array_equal(selector.ranking_, rounds[0])
    assert_array_equal(selector.get_support(indices=True), sorted(rounds[0]))
    assert selector.transform(X).shape == (178, len(rounds[0]))


def test_constant_features_are_last_and_copies_go_by_column(selector, many):
    ranking = selector.fit(*many).ranking_.tolist()
    assert ranking.index(9) < ranking.index(20)
    if isinstance(selector, ARCO | JMI | FAST | FisherScore | AnovaF):
        assert ranking[-2:] == [3, 17]
    else:
        assert not selector.scores_[[3, 17]].any() or isinstance(selector, SubproblemSelector)
    assert np.isfinite(selector.scores_).all()


def test_only_the_order_of_values_counts_for_arco(many):
    X, y = many
    X = np.delete(X, [3, 17], axis=1)
    assert_same_fit(ARCO("all").fit(np.exp(X), y), ARCO("all").fit(X, y))
    X = np.where(np.nanmax(X, axis=0) == X, np.inf, X)
    assert np.isfinite(ARCO("all").fit(X, y).scores_).all()


@pytest.mark.parametrize("make", [FisherScore, AnovaF])
def test_constant_within_the_classes_is_the_best_there_is(make, rng):
    y = np.arange(30) % 3
    X = np.column_stack([rng.normal(size=30) + 3 * y, np.array([0.1, 0.7, 0.3])[y]])
    selector = make("all").fit(X, y)
    assert selector.ranking_.tolist() == [1, 0]
    assert selector.scores_[1] == np.inf


@pytest.mark.filterwarnings("ignore::mauc.exceptions.SmallClassWarning")
def test_no_freedom_no_f():
    X, y = np.array([[1.0, 5.0], [2.0, 5.0], [np.nan, 5.0]]), ["a", "b", "b"]
    assert AnovaF("all").fit(X, y).scores_.tolist() == [0.0, 0.0]
    assert FisherScore("all").fit(X, y).scores_.tolist() == [np.inf, 0.0]


def test_digits(rng):
    # ten classes, constant columns, many ties
    X, y = load_digits(return_X_y=True)
    X, y = X[:150, ::3], y[:150]
    fixed = oracle_mrmr.fixed_information(len(y))
    states = states_of(X, y, "three_states", 0)
    assert_array_equal(JMI(8).fit(X, y).ranking_, oracle.jmi(states, y, 8, fixed)[0])
    assert_array_equal(ARCO(8).fit(X, y).ranking_, oracle.arco(X, y, 10, 8, 1.0)[0])
    states = states_of(X, y, "mdl", 0)
    rounds, _, _ = oracle.fcbf(states, y, 0.0, fixed)
    assert_array_equal(FCBF("all").fit(X, y).ranking_, [*chain(*rounds)])
    wanted = oracle.fast(X, y, 10, 10)
    order = sorted(range(X.shape[1]), key=lambda f: (-wanted[f], f))
    assert_array_equal(FAST("all").fit(X, y).ranking_, order)
