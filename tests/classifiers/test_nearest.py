"""NearestNeighbor: exact distances, WEKA's answers but for its widening ranges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from mauc.classifiers import NearestNeighbor
from mauc.exceptions import MaucError
from tests.helpers.classifier_oracles import nearest_neighbor
from tests.helpers.strategies import examples
from tests.helpers.weka import load_reference, reference_names

# Rows whose answer WEKA changes by widening the ranges with the test rows it has seen:
# (IB1, IBk) of all test rows.
WIDENED = {
    "breast_cancer": (3, 3),
    "digits": (1, 1),
    "edge_missing": (0, 1),
    "indiana": (1, 1),
}


def test_by_hand():
    # ranges 0..10 and 0..1: (5, 0) is 0.5 from the first, sqrt(0.25 + 1) from the second
    model = NearestNeighbor().fit([[0.0, 0.0], [10.0, 1.0]], ["a", "b"])
    np.testing.assert_array_equal(model.predict([[5.0, 0.0], [5.0, 0.5]]), ["a", "a"])
    smooth = NearestNeighbor(smooth=True).fit([[0.0, 0.0], [10.0, 1.0]], ["a", "b"])
    # one neighbour: (1/2 + 1) / (2/2 + 1); a tie of two: (1/2 + 1) / (2/2 + 2)
    np.testing.assert_array_equal(smooth.predict_proba([[5.0, 0.0], [5.0, 0.5]])[:, 0], [0.75, 0.5])


@pytest.mark.parametrize("name", reference_names())
def test_answers_are_wekas(name):
    reference, X, y, X_test, _ = load_reference(name)
    n_hard, n_smooth = WIDENED.get(name, (0, 0))
    for key, n_widened, options in (
        ("proba_ib1", n_hard, {"smooth": False, "min_range": 1e-6}),
        ("proba_ibk1", n_smooth, {"smooth": True}),
    ):
        scores = NearestNeighbor(**options).fit(X, y).predict_proba(X_test)
        differs = np.abs(scores - reference[key]).max(axis=1) > 1e-12
        assert differs.sum() == n_widened


@pytest.mark.parametrize("name", ["breast_cancer", "edge", "edge_missing", "iris", "wine"])
def test_widening_explains_every_difference(name):
    reference, X, y, X_test, _ = load_reference(name)
    for key, options in (
        ("proba_ib1", {"smooth": False, "min_range": 1e-6}),
        ("proba_ibk1", {"smooth": True}),
    ):
        n_classes = reference[key].shape[1]
        widened = nearest_neighbor(X, y, X_test, n_classes, widen=True, **options)
        np.testing.assert_allclose(widened, reference[key], rtol=0, atol=1e-12)


@st.composite
def problems(draw):
    n, m = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    levels = draw(st.sampled_from([2, 3, 10, 10**6]))
    X = rng.integers(0, levels, (n + 10, m)) / draw(st.sampled_from([1, 3, 7]))
    X *= 10.0 ** rng.integers(-8, 8, m)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.0, 0.2]))] = np.nan
    nominal = [m - 1] if draw(st.booleans()) else []
    y = np.unique(rng.integers(0, 4, n), return_inverse=True)[1]
    return X[:n], y, X[n:], nominal


@examples(150)
@given(problems(), st.booleans())
def test_scores_follow_the_definition(problem, smooth):
    X, y, X_test, nominal = problem
    model = NearestNeighbor(smooth, categorical_features=nominal).fit(X, y)
    expected = nearest_neighbor(X, y, X_test, y.max() + 1, smooth=smooth, nominal=nominal)
    np.testing.assert_allclose(model.predict_proba(X_test), expected, rtol=1e-14)


def test_both_searches_agree_to_the_bit():
    X, y = load_digits(return_X_y=True)
    model = NearestNeighbor(smooth=True).fit(X[::2], y[::2])
    QT = model.ranges_.scale(X[1::2])
    summed = model._search_by_sums(model._train, QT)(np.arange(64), [64])
    np.testing.assert_array_equal(model._search_by_product(model._train, QT), next(summed))


def test_blocks_do_not_matter(monkeypatch):
    X, y = load_digits(return_X_y=True)
    X[::7, 3] = np.nan
    model = NearestNeighbor(smooth=True).fit(X[::2], y[::2])
    expected = model.predict_proba(X[1::2])
    monkeypatch.setattr("mauc.classifiers.nearest._NESTED_DISTANCES", 5000)
    np.testing.assert_array_equal(model.predict_proba(X[1::2]), expected)


def test_a_prediction_does_not_depend_on_its_neighbours_in_the_test_set():
    X, y = load_digits(return_X_y=True)
    model = NearestNeighbor(smooth=True).fit(X[::2], y[::2])
    alone = np.concatenate([model.predict_proba(row[np.newaxis]) for row in 2 * X[1:60:2]])
    np.testing.assert_array_equal(model.predict_proba(2 * X[1:60:2]), alone)


@pytest.mark.parametrize("extreme", [1e308, 1e-320])
def test_extreme_values(extreme):
    X = np.array([[extreme, 0.0], [-extreme, 1.0], [0.0, 0.5]])
    model = NearestNeighbor().fit(X, [0, 1, 2])
    with np.errstate(all="raise"):
        np.testing.assert_array_equal(model.predict(X), [0, 1, 2])
    assert np.isfinite(model.predict_proba([[1e308, 1e308]])).all()


def test_bad_min_range():
    with pytest.raises(MaucError, match="min_range must be a number >= 0, got -1"):
        NearestNeighbor(min_range=-1).fit([[0], [1]], [0, 1])
