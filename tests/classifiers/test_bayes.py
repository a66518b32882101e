"""NormalNaiveBayes: WEKA's probabilities, and logarithms that do not saturate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_ndtr, logsumexp
from scipy.stats import norm
from sklearn.datasets import load_wine

from mauc.classifiers import NormalNaiveBayes
from mauc.classifiers.bayes import log_odds, log_probabilities
from mauc.data.weights import as_counts
from mauc.engine.special import log_normal_cell, normal_cdf
from tests.helpers.classifier_oracles import naive_bayes
from tests.helpers.strategies import examples
from tests.helpers.weka import load_reference, reference_names

# A column with an offset of 1e6 deviations: WEKA's own sums have lost those digits.
OFFSET = ["edge", "edge_missing"]


def test_two_values_by_hand():
    # precision 2, class means 0 and 2 with deviation 2 / 6; x = 0 is the cell [-1, 1]
    model = NormalNaiveBayes().fit([[0.0], [0.0], [2.0], [2.0]], ["a", "a", "b", "b"])
    assert model.precision_ == [2.0]
    inside, outside = norm.cdf(3) - norm.cdf(-3), norm.cdf(-3) - norm.cdf(-9)
    expected = [[inside / (inside + outside), outside / (inside + outside)]]
    np.testing.assert_allclose(model.predict_proba([[0.0]]), expected, rtol=1e-12)


@pytest.mark.parametrize("name", reference_names(without=OFFSET))
def test_probabilities_are_wekas(name):
    reference, X, y, X_test, _ = load_reference(name)
    scores = NormalNaiveBayes().fit(X, y).predict_proba(X_test)
    np.testing.assert_allclose(scores, reference["proba_nb"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", OFFSET)
def test_an_offset_costs_weka_digits(name):
    reference, X, y, X_test, _ = load_reference(name)
    # ours is the definition without the offset, and off from WEKA by what WEKA lost
    model = NormalNaiveBayes().fit(X, y)
    kept = [j for j in range(X.shape[1]) if j != 6]
    without = NormalNaiveBayes().fit(X[:, kept], y)
    literal = naive_bayes(X[:, kept], y, X_test[:, kept], 4)
    np.testing.assert_allclose(without.predict_proba(X_test[:, kept]), literal, atol=1e-9, rtol=0)
    p = model.precision_[6]
    rounded = np.rint(X[:, 6] / p) * p - 1e6
    exact = [np.nanstd(rounded[y == k]) for k in range(4)]
    np.testing.assert_allclose(model.deviation_[6], exact, rtol=1e-9)
    np.testing.assert_allclose(
        model.predict_proba(X_test), reference["proba_nb"], rtol=0, atol=2e-3
    )


@st.composite
def problems(draw):
    n, m = draw(st.integers(2, 25)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["normal", "coarse", "constant"]))
    X = rng.normal(size=(n + 8, m)) * 10.0 ** rng.integers(-3, 4, m)
    if kind == "coarse":
        X = rng.integers(0, 3, (n + 8, m)).astype(float)
    if kind == "constant":
        X[:, 0] = 2.5
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.3]))] = np.nan
    y = rng.integers(0, draw(st.integers(1, 4)), n)
    y = np.unique(y, return_inverse=True)[1]
    nominal = [0] if kind == "coarse" and draw(st.booleans()) else []
    weights = rng.choice([0.5, 1.0, 3.0], n) if draw(st.booleans()) else np.ones(n)
    return X[:n], y, X[n:], nominal, weights


@examples(150)
@given(problems())
def test_probabilities_follow_the_definition(problem):
    X, y, X_test, nominal, weights = problem
    model = NormalNaiveBayes(categorical_features=nominal).fit(X, y, weights)
    counts = as_counts(weights)
    weights = weights if counts is None else counts
    expected = naive_bayes(X, y, X_test, y.max() + 1, nominal, weights)
    np.testing.assert_allclose(model.predict_proba(X_test), expected, rtol=1e-7, atol=1e-9)


def test_logarithms_agree_where_nothing_saturates():
    X, y = load_wine(return_X_y=True)
    model = NormalNaiveBayes().fit(X[::2, :3], y[::2])
    probabilities = model.predict_proba(X[1::2, :3])
    logarithms = model.predict_log_proba(X[1::2, :3])
    is_safe = probabilities > 1e-6
    np.testing.assert_allclose(logarithms[is_safe], np.log(probabilities)[is_safe], atol=1e-8)
    np.testing.assert_allclose(np.exp(logarithms).sum(axis=1), 1.0)


def test_logarithms_do_not_saturate():
    X, y = load_wine(return_X_y=True)
    X = np.tile(X, (1, 60))
    model = NormalNaiveBayes().fit(X, y)
    assert (model.predict_proba(X).max(axis=1) == 1.0).mean() > 0.9
    logarithms, odds = model.predict_log_proba(X), model.decision_function(X)
    assert np.isfinite(logarithms).all()
    assert np.isfinite(odds).all()
    for k in range(3):  # no two samples tie
        assert len(np.unique(odds[:, k])) == len(X)
        below = logarithms[:, k] < -1e-300
        assert len(np.unique(logarithms[below, k])) == below.sum()
        assert (np.diff(logarithms[np.argsort(odds[:, k]), k]) >= 0).all()


@settings(deadline=None)
@given(st.lists(st.floats(-300, 300), min_size=2, max_size=6))
def test_log_odds(joint):
    odds = log_odds(np.array([joint]))[0]
    for k, own in enumerate(joint):
        others = logsumexp(joint[:k] + joint[k + 1 :])
        np.testing.assert_allclose(odds[k], own - others, rtol=1e-12, atol=1e-12)
    expected = np.array(joint) - logsumexp(joint)
    np.testing.assert_allclose(log_probabilities(odds), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("extreme", [1e308, -1e308, 1e-320, 1e20])
@pytest.mark.parametrize("is_trained", [True, False])
def test_no_value_is_too_large(extreme, is_trained):
    X = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 1.5], [3.0, 0.0], [4.0, 7.0]])
    X_test = np.array([[extreme, -extreme], [1.0, 1.0], [-extreme, 0.0]])
    if is_trained:
        X[0], X[3] = [extreme, -extreme], [-extreme, extreme]
    model = NormalNaiveBayes().fit(X, [0, 1, 0, 1, 1])
    with np.errstate(all="raise"):
        probabilities, logarithms = model.predict_proba(X_test), model.predict_log_proba(X_test)
    assert np.isfinite(probabilities).all()
    assert np.isfinite(logarithms).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_normal_cdf_and_log_cells():
    z = np.linspace(-37, 37, 2001)
    np.testing.assert_allclose([normal_cdf(x) for x in z], norm.cdf(z), rtol=1e-13)
    for width in (1e-3, 0.1, 1.0, 6.0):
        below = -np.abs(np.r_[z, 1e3, 1e5])
        upper, lower = log_ndtr(below + width / 2), log_ndtr(below - width / 2)
        expected = upper + np.log(-np.expm1(lower - upper))
        cells = [log_normal_cell(x, width) for x in np.r_[z, 1e3, 1e5]]
        np.testing.assert_allclose(cells, expected, rtol=1e-9)
    # narrow cells: width times density; the two formulas meet
    for x in (0.0, 3.0, 29.0, 31.0, 500.0):
        below, above = (log_normal_cell(x, w / (1 + x)) for w in (0.99999e-4, 1.00001e-4))
        np.testing.assert_allclose(above - below, np.log(1.00001 / 0.99999), atol=1e-8)
