"""The scikit-learn face of C4.5."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from mauc.exceptions import MaucError, TinyUnitsWarning
from mauc.lab.c45.estimator import C45


@pytest.fixture
def iris():
    return load_iris(as_frame=True)


@pytest.mark.parametrize("spelling", [[1], [False, True], ["colour"]])
def test_nominal_column_by_index_mask_or_name(spelling):
    X = pd.DataFrame({"size": np.zeros(15), "colour": np.repeat([3.0, 7.0, 9.0], 5)})
    y = np.repeat(["a", "b", "a"], 5)
    tree = C45(categorical_features=spelling, prune=False).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), y)
    assert tree.to_text().splitlines()[:3] == [
        "colour = 3: a (5.0)",
        "colour = 7: b (5.0)",
        "colour = 9: a (5.0)",
    ]
    # a colour never seen gets the fractions of the node, a missing one the mean of the branches
    unseen = pd.DataFrame({"size": [0.0, 0.0], "colour": [5.0, np.nan]})
    np.testing.assert_allclose(tree.predict_proba(unseen), [[2 / 3, 1 / 3]] * 2)


def test_weight_zero_is_no_sample(iris):
    X, y = iris.data.to_numpy(), iris.target.to_numpy()
    kept = np.random.default_rng(1).random(len(y)) < 0.6
    weighted = C45().fit(X, y, sample_weight=kept.astype(float))
    np.testing.assert_array_equal(
        weighted.predict_proba(X), C45().fit(X[kept], y[kept]).predict_proba(X)
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"confidence": 0.0}, r"confidence must be a number in \(0, 0.5\], got 0.0"),
        ({"confidence": 0.6}, "confidence must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a number >= 1, got 0"),
        ({"categorical_features": [4]}, r"must be column numbers below 4, got 4"),
        ({"categorical_features": [0.5]}, "must be a mask, column numbers or names"),
    ],
)
def test_errors_name_the_thing_the_want_and_the_got(iris, option, message):
    with pytest.raises(MaucError, match=message):
        clone(C45(**option)).fit(iris.data, iris.target)


def test_tiny_units_are_warned_of(iris):
    # In units of 10 km neighbouring lengths, 1 mm apart, differ by 1e-7: J48 grows a stump.
    tiny = iris.data * 1e-6
    with pytest.warns(TinyUnitsWarning, match=r"4 of 4 features \('sepal length \(cm\)', .*1e-05"):
        tree = C45().fit(tiny, iris.target)
    assert tree.tree_size_ == 1
    one = iris.data.assign(**{"petal width (cm)": tiny["petal width (cm)"]})
    with pytest.warns(TinyUnitsWarning, match=r"1 of 4 features \('petal width \(cm\)'\)"):
        C45().fit(one, iris.target)


def test_ordinary_units_are_not_warned_of(iris, rng):
    # A warning is an error in all tests; the trees are no stumps either.
    assert C45().fit(iris.data * 1e-3, iris.target).tree_size_ > 1
    constant = np.zeros((len(iris.target), 1))
    both = np.hstack([iris.data.to_numpy(), constant])
    assert C45().fit(both, iris.target).tree_size_ == C45().fit(iris.data, iris.target).tree_size_
    codes = np.arange(len(iris.target))[:, np.newaxis] * 1e-7
    # Categories have no distance.
    assert len(C45(categorical_features=[0]).fit(codes, iris.target).categories_[0]) == len(codes)
    missing = iris.data.to_numpy().copy()
    missing[::3] = np.nan
    assert C45().fit(missing, iris.target).tree_size_ > 1
    some_close = np.concatenate([rng.random(200), [0.5, 0.5 + 1e-7]])
    C45().fit(some_close[:, np.newaxis], np.arange(202) % 2)
