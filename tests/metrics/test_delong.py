"""Components of samples and the variance that they give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from mauc import pair_auc_scores
from mauc.metrics.interval import PRIOR_SHARE, component_bounds, pair_components


def test_components_by_hand():
    # Column 1 ranks class 1 as 3 > 1 and 2 = 2; column 0 = -column 1 says the same.
    scores = np.array([1.0, 2.0, 2.0, 3.0])
    codes, weights = np.array([0, 0, 1, 1], np.int32), np.ones(4)
    got = pair_components(np.stack((-scores, scores)), codes, weights, np.array([2.0, 2.0]))
    assert got.tolist() == [[0, 1.0], [0, 0.75], [0.75, 0], [1.0, 0]]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_components_are_the_definition(rng, is_weighted):
    codes = rng.integers(0, 3, 30).astype(np.int32)
    ST = rng.integers(0, 5, (3, 30)).astype(float)
    weights = rng.random(30) if is_weighted else np.ones(30)
    got = pair_components(ST, codes, weights, np.bincount(codes, weights))
    for a in range(30):
        for j in set(range(3)) - {codes[a]}:
            i, others = codes[a], np.flatnonzero(codes == j)
            wins = (np.sign(ST[i, a] - ST[i, others]) + 1) / 2
            losses = (np.sign(ST[j, others] - ST[j, a]) + 1) / 2
            expected = np.average((wins + losses) / 2, weights=weights[others])
            assert got[a, j] == pytest.approx(expected, abs=1e-12)
    report = pair_auc_scores(codes, ST.T, sample_weight=weights)
    for auc, i, j in zip(report.auc, report.first, report.second, strict=True):
        for own, other in ((i, j), (j, i)):
            rows = codes == own
            assert np.average(got[rows, other], weights=weights[rows]) == pytest.approx(auc)


def test_the_bounds_are_binomial_ones_of_the_variance(rng):
    codes = np.repeat([0, 1, 2], [20, 30, 40]).astype(np.int32)
    ST = (np.eye(3)[codes] + rng.normal(size=(90, 3))).T.copy()
    weights, sizes = np.ones(90), np.array([20.0, 30.0, 40.0])
    components = pair_components(ST, codes, weights, sizes)
    auc = pair_auc_scores(codes, ST.T).auc
    bounds, pair_bounds = component_bounds(components, codes, weights, auc, 0.9)

    def literal(theta, variances, sizes, share):
        mixed = (variances + share / sizes) / (theta * (1 - theta) + 1 / sizes) / sizes
        freedom = mixed.sum() ** 2 / (mixed**2 / sizes).sum()
        trials = (stats.norm.ppf(0.95) / stats.t.ppf(0.95, freedom)) ** 2 / mixed.sum()
        wins = theta * trials
        return (
            stats.beta.ppf(0.05, wins, trials - wins + 1),
            stats.beta.ppf(0.95, wins + 1, trials - wins),
        )

    own = [components[codes == code] for code in range(3)]
    for pair, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        variances = np.array([own[i][:, j].var(ddof=1), own[j][:, i].var(ddof=1)])
        expected = literal(auc[pair], variances, sizes[[i, j]], PRIOR_SHARE)
        assert_allclose(pair_bounds[:, pair], expected, atol=1e-9)
    # MAUC is the mean of 3 pairs; 2 of them hold a class: (2 / 3)^2, between 1 and 1/2 of it.
    variances = np.array([(part.sum(axis=1) / 3).var(ddof=1) for part in own])
    share = PRIOR_SHARE * 4 / 9 / np.sqrt(2)
    assert_allclose(bounds, literal(auc.mean(), variances, sizes, share), atol=1e-9)


def test_the_variance_of_mauc_is_that_of_many_samples(rng):
    # The spread of MAUC over 300 samples of the same kind is what one sample says, on average.
    codes = np.repeat([0, 1, 2, 3], 40).astype(np.int32)
    values, variances = [], []
    for _ in range(300):
        ST = (np.eye(4)[codes] + rng.normal(size=(160, 4))).T.copy()
        components = pair_components(ST, codes, np.ones(160), np.full(4, 40.0))
        own = [components[codes == code].sum(axis=1) / 6 for code in range(4)]
        values.append(pair_auc_scores(codes, ST.T).mauc)
        variances.append(sum(part.var(ddof=1) / 40 for part in own))
    assert np.mean(variances) == pytest.approx(np.var(values), rel=0.3)


def test_many_matrices_at_once(rng):
    codes = np.repeat([0, 1, 2], 6).astype(np.int32)
    many = [rng.normal(size=(3, 18)) for _ in range(5)]
    weights = rng.random(18) + 0.1
    sizes = np.bincount(codes, weights)
    components = np.array([pair_components(ST, codes, weights, sizes) for ST in many])
    auc = np.array([pair_auc_scores(codes, ST.T, sample_weight=weights).auc for ST in many])
    bounds, pair_bounds = component_bounds(components, codes, weights, auc, 0.95)
    for place in range(5):
        one, pairs = component_bounds(components[place], codes, weights, auc[place], 0.95)
        assert_allclose(bounds[:, place], one, atol=1e-12)
        assert_allclose(pair_bounds[:, place], pairs, atol=1e-12)
