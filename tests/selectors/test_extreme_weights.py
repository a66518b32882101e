"""Weights and units of any size: 1e200 and 1e-200 are as good as 1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mauc import (
    ARCO,
    FSDD,
    MAUCD,
    MDFS,
    AnovaF,
    ConsensusSelector,
    FisherScore,
    GreedyMAUC,
    ReliefF,
    SubproblemSelector,
    feature_pair_auc,
    pair_auc_scores,
)
from mauc.exceptions import MaucError

Y = np.repeat([0, 1, 2], 20)
SELECTORS = {
    "MDFS": MDFS("all", random_state=0),
    "MDFS by MAUC": MDFS("all", ties="mauc", random_state=0),
    "MAUCD": MAUCD("all"),
    "one-vs-rest": SubproblemSelector("all", decomposition="one-vs-rest", random_state=0),
    "by shares": SubproblemSelector("all", schedule="rand_robin", random_state=0),
    "Fisher": FisherScore("all"),
    "Fisher on pairs": SubproblemSelector("all", relevance="fisher", random_state=0),
}


@pytest.fixture
def X(rng):
    X = rng.normal(size=(60, 4))
    X[:, 1] += Y
    X[rng.random(60) < 0.1, 2] = np.nan
    return X


@pytest.mark.parametrize("unit", [2.0**660, 2.0**-660, 2.0**1000, 2.0**-1000])
@pytest.mark.parametrize("name", SELECTORS)
def test_the_unit_of_the_weights_does_not_matter(X, rng, name, unit):
    weight = rng.random(60) + 0.5
    wanted = SELECTORS[name].fit(X, Y, sample_weight=weight)
    scores, ranking, pair_auc = wanted.scores_, wanted.ranking_, wanted.pair_auc_
    found = SELECTORS[name].fit(X, Y, sample_weight=weight * unit)
    assert_array_equal(found.scores_, scores)
    assert_array_equal(found.ranking_, ranking)
    assert_array_equal(found.pair_auc_, pair_auc)


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize("selector", [*SELECTORS.values(), FSDD("all"), AnovaF("all")])
@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
def test_nothing_becomes_nan(X, selector, unit):
    for weight in (np.full(60, unit), np.where(Y == 0, unit, 1 / unit)):
        fitted = selector.fit(X, Y, sample_weight=weight)
        assert not np.isnan(fitted.scores_).any()
        assert not np.isnan(fitted.pair_auc_).any()


def test_the_heaviest_classes_decide_against_the_rest(X):
    # Against the light class 2 both heavy ones stand; against a heavy one only the other.
    weight = np.array([1e200, 1e200, 1e-200])[Y]
    options = {"decomposition": "one-vs-rest", "schedule": "round_robin"}
    fitted = SubproblemSelector("all", **options).fit(X, Y, sample_weight=weight)
    pairs = feature_pair_auc(X, Y, folded=False)
    third = 1 - (pairs[:, 1] + pairs[:, 2]) / 2
    folded = np.maximum(
        [pairs[:, 0], pairs[:, 0], third], 1 - np.array([pairs[:, 0]] * 2 + [third])
    )
    assert_allclose(fitted.scores_, folded.mean(axis=0), rtol=1e-12)


def test_a_total_beyond_the_doubles_is_refused(X):
    with pytest.raises(MaucError, match=r"finite total, got weights up to 1e\+308; divide them"):
        MAUCD().fit(X, Y, sample_weight=np.full(60, 1e308))


@pytest.mark.parametrize(
    "selector",
    [FSDD(2), AnovaF(2), GreedyMAUC(2), ARCO(2), ReliefF(2), ConsensusSelector(random_state=0)],
)
@pytest.mark.parametrize("unit", [1e-200, 0.1, 2.5])
def test_weights_that_are_no_counts_have_no_scale(X, rng, selector, unit):
    assert_array_equal(
        clone(selector).fit(X, Y, sample_weight=np.full(60, unit)).scores_,
        clone(selector).fit(X, Y).scores_,
    )
    weight = rng.random(60) + 0.5
    scores = clone(selector).fit(X, Y, sample_weight=weight).scores_
    assert_allclose(clone(selector).fit(X, Y, sample_weight=unit * weight).scores_, scores)


def test_weighted_values_are_at_most_one():
    # Sums of such weights are rounded: perfect columns came out at 1 + 2e-16.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights, halves = rng.random(60) ** 4, rng.integers(0, 2, 60)
        X = np.column_stack([Y, -Y, 2 * Y + halves, np.where(halves, Y, np.nan)])
        folded = feature_pair_auc(X, Y, sample_weight=weights, categorical_features=[2])
        plain = feature_pair_auc(X[:, :2], Y, sample_weight=weights, folded=False)
        perfect = pair_auc_scores(Y, np.eye(3)[Y], sample_weight=weights)
        assert max(folded.max(), plain.max(), perfect.auc.max()) <= 1.0
        assert plain.min() >= 0.0
