"""Bounds on the number of wrong features: by hand, by optimisation, by simulation."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from mauc import AnovaF, ConsensusSelector
from mauc.exceptions import MaucError
from mauc.selectors.error_bound import (
    ErrorControl,
    concave_tail,
    r_concave,
    unimodal,
    worst_case,
)


def test_bounds_by_hand():
    # q = 10 of p = 200: q^2 / p = 0.5; 2 tau - 1 = 0.5 at 0.75, and 0.8 at 0.9
    assert_allclose(200 * worst_case(0.05, 0.75), 1.0)
    assert_allclose(200 * worst_case(0.05, 0.9), 0.625)
    # B = 50: 1 / (2 (0.4 - 0.01)) at 0.7 and 4 (0.1 + 0.01) / 1.02 at 0.9
    assert_allclose(200 * unimodal(0.05, 0.7, 50), 0.5 / 0.78)
    assert_allclose(200 * unimodal(0.05, 0.9, 50), 0.5 * 0.44 / 1.02)
    assert math.isnan(unimodal(0.6, 0.9, 50))  # theta above 1 / sqrt 3
    assert math.isnan(unimodal(0.4, 0.52, 50))  # the threshold is too low for theta


@pytest.mark.parametrize(("share", "n_pairs"), [(0.01, 25), (0.1, 10), (0.2, 25)])
def test_more_assumptions_give_lower_bounds_and_higher_thresholds_too(share, n_pairs):
    before = np.inf
    for threshold in (0.6, 0.8, 1.0):
        bounds = (
            worst_case(share, threshold),
            unimodal(share, threshold, n_pairs),
            r_concave(share, threshold, n_pairs),
        )
        assert bounds[0] >= bounds[1] >= bounds[2] > 0
        assert bounds[2] <= before
        before = bounds[2]


def test_few_pairs_have_bounds_too():
    # The authors' own algorithm: 1.489 features of 100 for one pair, where Theorem 2 knows better.
    assert_allclose(100 * concave_tail(0.05, 2, 2, -0.25), 1.489, atol=5e-4)
    assert r_concave(0.05, 1.0, 1) == unimodal(0.05, 1.0, 1)
    for share, n_pairs in ((0.05, 1), (0.025, 2), (0.1, 3)):
        for threshold in (0.6, 0.75, 1.0):
            known = np.fmin(worst_case(share, threshold), unimodal(share, threshold, n_pairs))
            assert 0 < r_concave(share, threshold, n_pairs) <= known


@pytest.mark.parametrize(
    ("mean", "t", "n", "r"), [(0.1, 4, 6, -0.5), (0.1, 3, 5, -0.25), (0.2, 4, 4, -0.5)]
)
def test_no_concave_distribution_has_a_larger_tail(rng, mean, t, n, r):
    """f is r-concave, r < 0, if f^r is convex: searched from many starts, and reached."""
    bound = concave_tail(mean, t, n, r)

    def probabilities(x):
        slopes = x[0] + np.concatenate([[0.0], np.cumsum(np.exp(x[2:]))])
        powers = np.exp(x[1]) + np.concatenate([[0.0], np.cumsum(slopes)])
        powers = np.maximum(powers, 1e-9)
        p = powers ** (1 / r)
        return p / p.sum()

    def loss(x):
        p = probabilities(x)
        return 50 * max(0.0, np.arange(n + 1) @ p - mean * n) - p[t:].sum()

    best = 0.0
    for _ in range(5):
        start = np.concatenate([[rng.normal()], [rng.normal()], rng.normal(size=n - 1) - 3])
        x = minimize(loss, start, method="Nelder-Mead", options={"maxfev": 1500}).x
        p = probabilities(x)
        if np.arange(n + 1) @ p <= mean * n * (1 + 1e-6):
            best = max(best, p[t:].sum())
    assert 0.7 * bound < best <= bound * (1 + 1e-3)


def test_simulated_errors_stay_below_the_bounds():
    """All features are noise: each has probability q / p, so that all chosen ones are wrong."""
    n_wrong, bound = {0.6: [], 0.7: []}, {}
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 40)), np.arange(30) % 2
        selector = ConsensusSelector(
            AnovaF(4), n_resamples=10, rule="frequency", random_state=seed
        ).fit(X, y)
        for threshold, found in n_wrong.items():
            found.append((selector.frequencies_ >= threshold - 1e-9).sum())
    for threshold in n_wrong:
        bound[threshold] = selector.error_control_.at(threshold)
    for threshold, found in n_wrong.items():
        error = np.std(found) / math.sqrt(len(found))
        assert 0 < np.mean(found) <= bound[threshold].worst_case + 2 * error
    # What halves share makes frequencies vary, but far less than the worst case allows.
    assert np.mean(n_wrong[0.7]) <= bound[0.7].unimodal + 2 * np.std(n_wrong[0.7]) / math.sqrt(30)


def test_thresholds_are_possible_frequencies():
    control = ErrorControl(np.array([1.0, 0.6, 0.58, 0.2]), 1, 25)
    assert control.at(0.6)[:2] == (0.6, 2)
    assert control.at(0.59)[:2] == (0.6, 2)
    assert control.at(0.57)[:2] == (0.58, 3)
    for wrong in (0.5, 1.1, "high"):
        with pytest.raises(MaucError, match=r"threshold must be a number in \(0\.5, 1\]"):
            control.at(wrong)


def test_printed_and_framed():
    pytest.importorskip("pandas")
    control = ErrorControl(np.array([1.0, 0.6, 0.58, 0.2] * 10), 4, 25)
    text = str(control)
    assert "at most 4/40" in text
    assert text.splitlines()[1].split() == [
        "frequency",
        "features",
        "worst",
        "case",
        "unimodal",
        "r-concave",
    ]
    assert len(text.splitlines()) == 7
    frame = control.to_frame()
    assert list(frame["threshold"]) == [0.6, 0.7, 0.8, 0.9, 1.0]
    assert list(frame["n_features"]) == [20, 10, 10, 10, 10]
