"""Nominal features of the classifiers: words and categories are learnt, and found again."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

from mauc.classifiers import CLASSIFIERS, RBFSVM, make_classifier
from mauc.exceptions import MaucError
from mauc.lab import C45

WORDS = np.array(["sea", "hill", "wood", "town"])


@pytest.fixture(params=CLASSIFIERS)
def model(request):
    return make_classifier(request.param)


@pytest.fixture
def codes(rng):
    """Two numeric columns between two nominal ones, with gaps, and three classes."""
    y = rng.integers(0, 3, 120)
    X = np.column_stack(
        [
            (rng.integers(0, 2, 120) + y) % 4,
            rng.normal(size=120) + y,
            rng.normal(size=120),
            rng.integers(0, 3, 120),
        ]
    ).astype(float)
    X[rng.random(X.shape) < 0.06] = np.nan
    return X, y


def words_of(column):
    # The order of the codes, 0, 1, ..., is that of the sorted words.
    return [None if v != v else np.sort(WORDS)[int(v)] for v in column]


def frames(X):
    """Yield the table as data frames whose nominal columns are categories or words."""
    columns = {"a": words_of(X[:, 0]), "b": X[:, 1], "c": X[:, 2], "d": words_of(X[:, 3])}
    declared = ["zoo", *WORDS, "air"]
    yield pd.DataFrame(columns)
    yield pd.DataFrame(columns).astype({"a": object, "d": "category"})
    yield pd.DataFrame(columns).assign(
        a=pd.Categorical(columns["a"], declared), d=pd.Categorical(columns["d"], declared[::-1])
    )
    yield pl.DataFrame(columns)
    yield pl.DataFrame(columns, schema_overrides={"a": pl.Enum(declared), "d": pl.Categorical})


def test_frames_equal_codes(model, codes):
    X, y = codes
    wanted = clone(model).set_params(categorical_features=[0, 3]).fit(X[::2], y[::2])
    scores = wanted.predict_proba(X[1::2])
    assert not np.array_equal(scores, clone(model).fit(X[::2], y[::2]).predict_proba(X[1::2]))
    for train in frames(X[::2]):
        fitted = clone(model).fit(train, y[::2])
        for test in frames(X[1::2]):
            if list(test.columns) == list(train.columns):
                assert_array_equal(fitted.predict_proba(test), scores)
        assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(test), scores)


def test_words_of_an_object_array(model, codes):
    X, y = codes
    data = X.astype(object)
    data[:, 0], data[:, 3] = words_of(X[:, 0]), words_of(X[:, 3])
    model.set_params(categorical_features=[True, False, False, True])
    wanted = clone(model).fit(X, y).predict_proba(X)
    assert_array_equal(clone(model).fit(data, y).predict_proba(data), wanted)
    assert_array_equal(clone(model).fit(data, y).predict_proba(data.tolist()), wanted)
    with pytest.raises(MaucError, match="could not convert string to float"):
        clone(model).set_params(categorical_features=None).fit(data, y)


def test_numbers_of_a_categorical_dtype(model, codes):
    X, y = codes
    frame = pd.DataFrame(X, columns=list("abcd"))
    wanted = clone(model).set_params(categorical_features=["a", "d"]).fit(frame, y)
    typed = frame.astype({"a": "category", "d": "category"})
    fitted = clone(model).fit(typed, y)
    # In prediction the values count, not the type.
    for other in (typed, frame, typed.iloc[::-1].iloc[::-1]):
        assert_array_equal(fitted.predict_proba(other), wanted.predict_proba(frame))


def test_an_unseen_category_is_missing(model, codes):
    X, y = codes
    train = pd.DataFrame({"a": words_of(X[:, 0]), "b": X[:, 1], "d": words_of(X[:, 3])})
    fitted = model.fit(train, y)
    unseen, missing = train.copy(), train.copy()
    unseen.loc[::3, "a"] = "moon"
    missing.loc[::3, "a"] = None
    assert_array_equal(fitted.predict_proba(unseen), fitted.predict_proba(missing))
    assert_array_equal(
        fitted.predict_proba(unseen.astype({"a": "category"})[:7]),
        fitted.predict_proba(missing)[:7],
    )


def test_a_category_of_weight_0_is_unseen(model, codes):
    X, y = codes
    frame = pd.DataFrame({"a": words_of(X[:, 0]), "b": X[:, 1], "d": words_of(X[:, 3])})
    weights = (frame["a"] != "sea").to_numpy().astype(float)
    fitted = clone(model).fit(frame, y, sample_weight=weights)
    wanted = clone(model).fit(frame[weights > 0], y[weights > 0])
    assert_array_equal(fitted.predict_proba(frame), wanted.predict_proba(frame))


def test_columns_that_differ_are_refused(model, codes):
    X, y = codes
    frame = pd.DataFrame({"a": words_of(X[:, 0]), "b": X[:, 1]})
    fitted = model.fit(frame, y)
    with pytest.raises(MaucError, match="feature names"):
        fitted.predict(frame[["b", "a"]])
    with pytest.raises(MaucError, match="feature names"):
        fitted.predict(frame[["a"]])
    mixed = frame.assign(b=[*words_of(X[:-1, 0]), 3])
    with pytest.raises(MaucError, match=r"column 'b' .* name it in categorical_features"):
        clone(model).fit(mixed, y)


@pytest.mark.parametrize("name", ["nb", "c45", "svm"])
def test_categories_are_named(codes, name):
    X, y = codes
    frame = pd.DataFrame({"a": words_of(X[:, 0]), "b": X[:, 1], "c": X[:, 3]})
    fitted = make_classifier(name, categorical_features=["c"]).fit(frame, y)
    assert fitted.categories_[0].tolist() == sorted(WORDS)
    assert fitted.categories_[2].tolist() == [0, 1, 2]


def test_a_tree_prints_its_words():
    place = np.repeat(["wood", "sea", "town"], 10)
    tree = C45().fit(pd.DataFrame({"place": place}), place == "sea")
    assert "place = sea: True (10.0)" in tree.to_text()


@pytest.mark.parametrize("options", [{}, {"scaling": "standard"}, {"precompute": False}])
def test_the_machine_sees_indicators(codes, options):
    X, y = codes
    X = np.nan_to_num(X)
    encoded = OneHotEncoder(sparse_output=False).fit_transform(X[:, [0, 3]])
    wide = np.column_stack([encoded[:, :4], X[:, 1:3], encoded[:, 4:]])
    one = RBFSVM(gamma=0.3, categorical_features=[0, 3], **options).fit(X, y)
    other = RBFSVM(gamma=0.3, **options).fit(wide, y)
    assert_array_equal(one.predict(X), other.predict(wide))
    assert_allclose(one.decision_function(X), other.decision_function(wide), rtol=1e-9)
    assert one.mean_.shape == (wide.shape[1],)


def test_gamma_counts_features_not_indicators(codes):
    X, y = codes
    assert RBFSVM(categorical_features=[0, 3]).fit(X, y).gamma_ == 0.25
