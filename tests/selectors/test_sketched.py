"""partial_fit and fit_sketch of MDFS and MAUCD: what fit finds, where the sketch is exact."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError

from mauc import MAUCD, MDFS, PairAUCSketch, feature_pair_auc
from mauc.exceptions import MaucError

SELECTORS = [
    MDFS(10, random_state=3),
    MDFS(0.4, schedule="hardest", ties="mauc"),
    MDFS("all", schedule="rand_robin", random_state=0),
    MAUCD(7),
    MDFS(6, exclude=[42, 26], keep=[3, 60], random_state=0),
    MDFS(8, feature_groups={"row": range(16, 24)}, keep="row", schedule="hardest"),
    MAUCD(feature_costs=np.arange(64) % 3 + 1.0, budget=9.0),
    MDFS(5, feature_costs=np.arange(64) % 3 + 1.0, budget=9.0, random_state=0),
]


def assert_same(first, second):
    for name in ("ranking_", "scores_", "pair_auc_", "support_", "classes_"):
        assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.subproblem_names_ == second.subproblem_names_
    assert list(first.trace_) == list(second.trace_)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_partial_fit_is_fit_where_the_sketch_is_exact(selector, digits):
    X, y = digits
    streamed, whole = clone(selector), clone(selector).fit(X, y)
    for rows in np.array_split(np.arange(len(y)), 5):
        assert streamed.partial_fit(X[rows], y[rows]) is streamed
    assert_same(streamed, whole)
    assert_array_equal(streamed.error_bound_, np.zeros_like(whole.pair_auc_))
    assert_array_equal(streamed.transform(X), whole.transform(X))
    assert streamed.n_features_in_ == 64


@pytest.mark.parametrize("selector", SELECTORS[:4], ids=str)
def test_fit_sketch_knows_its_error(selector):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 3000)
    X = rng.normal(size=(3000, 20)) + np.outer(y, np.linspace(0, 1, 20))
    sketch = PairAUCSketch(64, n_buffered=500).update(X, y)
    fitted = clone(selector).fit_sketch(sketch)
    exact = feature_pair_auc(X, y)[fitted.ranking_]
    assert fitted.error_bound_.shape == fitted.pair_auc_.shape
    assert (np.abs(fitted.pair_auc_ - exact) <= fitted.error_bound_).all()
    assert 0 < fitted.error_bound_.max() < 0.05
    assert fitted.sketch_ is sketch


def test_wishes_that_cannot_be_met_are_refused_before_rows_are_added(digits):
    X, y = digits
    selector = MDFS(2, random_state=0).partial_fit(X[:100], y[:100])
    for wishes, text in (
        ({"exclude": ["pixel"]}, "exclude must name features"),
        ({"keep": [0, 1, 2]}, "at least 3"),
        ({"budget": 1.0}, "budget needs feature_costs"),
    ):
        with pytest.raises(MaucError, match=text):
            selector.set_params(**wishes).partial_fit(X[100:], y[100:])
        selector.set_params(exclude=None, keep=None, budget=None)
        assert selector.sketch_.n_rows == 100


def test_fit_after_partial_fit_starts_anew(digits):
    X, y = digits
    selector = MDFS(5, random_state=0).partial_fit(X[:100], y[:100])
    selector.fit(X, y)
    assert not hasattr(selector, "sketch_")
    assert not hasattr(selector, "error_bound_")
    assert_same(selector, MDFS(5, random_state=0).fit(X, y))
    selector.partial_fit(X[:300], y[:300])
    assert_same(selector, MDFS(5, random_state=0).fit(X[:300], y[:300]))
    assert selector.sketch_.n_rows == 300


def test_one_class_alone_ranks_nothing():
    X, y = load_iris(return_X_y=True)
    selector = MDFS(2, random_state=0).partial_fit(X[:50], y[:50])
    with pytest.raises(NotFittedError):
        selector.transform(X)
    selector.partial_fit(X[50:], y[50:])
    assert_same(selector, MDFS(2, random_state=0).fit(X, y))


def test_classes_without_rows_are_left_out():
    X, y = load_iris(return_X_y=True)
    selector = MDFS(2, random_state=0)
    selector.fit_sketch(PairAUCSketch().update(X, y).empty_like().update(X[:100], y[:100]))
    assert_array_equal(selector.classes_, [0, 1])
    assert selector.subproblem_names_ == ["0 vs 1"]
    assert_same(selector, MDFS(2, random_state=0).fit(X[:100], y[:100]))


def test_a_class_that_comes_late_is_ranked_with_the_others():
    X, y = load_iris(return_X_y=True)
    selector = MDFS(2, random_state=0).partial_fit(X[:100], y[:100])
    assert selector.pair_auc_.shape == (2, 1)
    assert_same(selector.partial_fit(X[100:], y[100:]), MDFS(2, random_state=0).fit(X, y))
    assert selector.subproblem_names_ == ["0 vs 1", "0 vs 2", "1 vs 2"]


def test_rows_of_a_call_that_failed_are_not_added():
    X, y = load_iris(return_X_y=True)
    selector = MDFS(9, random_state=0)
    for _ in range(2):
        with pytest.raises(MaucError, match="n_features_to_select must be"):
            selector.partial_fit(X, y)
    selector.set_params(n_features_to_select=2).partial_fit(X, y)
    with pytest.raises(MaucError, match="n_features_to_select must be"):
        selector.set_params(n_features_to_select=9).partial_fit(X, y)
    assert selector.sketch_.n_rows == 150


@pytest.mark.parametrize("kind", ["category", "object"])
def test_words_are_refused(kind):
    frame = pd.DataFrame({"v": [1.0, 2.0, 3.0], "w": pd.Series(["a", "b", "c"], dtype=kind)})
    with pytest.raises(MaucError, match="X must be numeric, but column 'w' has dtype"):
        MDFS(1).partial_fit(frame, [0, 1, 0])


def test_columns_must_stay_the_same():
    frame = pd.DataFrame(load_iris().data, columns=list("abcd"))
    y = load_iris().target
    selector = MAUCD(2).partial_fit(frame, y)
    assert_array_equal(selector.feature_names_in_, list("abcd"))
    with pytest.raises(MaucError, match="feature names should match"):
        selector.partial_fit(frame[list("bacd")], y)
    with pytest.raises(MaucError, match="3 features, but MAUCD is expecting 4"):
        MAUCD(2).partial_fit(frame.to_numpy(), y).partial_fit(frame.to_numpy()[:, :3], y)
    assert selector.trace_[0].feature_name == "c"


@pytest.mark.parametrize(
    ("selector", "match"),
    [
        (MDFS("auto"), '"auto" cross-validates on rows in memory'),
        (MDFS(2, categorical_features=[0]), "categorical_features must be None"),
        (MDFS(2, schedule="none"), "schedule must be one of"),
        (MDFS(9), r"n_features_to_select must be in \[1, 4\]"),
        (MDFS(2.5), r"must be in \(0, 1\], got 2.5"),
        (MAUCD("most"), "n_features_to_select must be an int, a fraction"),
    ],
)
def test_options_are_checked(selector, match):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(MaucError, match=match):
        selector.partial_fit(X, y)


def test_fit_sketch_refuses_what_is_none():
    with pytest.raises(MaucError, match="must be a PairAUCSketch, got ndarray"):
        MDFS().fit_sketch(np.zeros(3))
    with pytest.raises(MaucError, match="rows of at least 2 classes"):
        MDFS().fit_sketch(PairAUCSketch().update([[1.0]], [0]))
