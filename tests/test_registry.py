"""The registry is complete, and what it says of a method is true."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone

import mauc
import mauc.classifiers
import mauc.selectors
from mauc.exceptions import MaucError
from mauc.registry import (
    CLASSIFIERS,
    PAPER_SELECTORS,
    RELEVANCES,
    SELECTOR_CLASSES,
    SELECTORS,
    make_classifier,
    make_selector,
)
from mauc.selectors.base import RankingSelector

METHODS = {**SELECTORS, **CLASSIFIERS}


@pytest.fixture
def table(rng):
    y = np.repeat([0, 1, 2], 12)
    return rng.integers(0, 4, (36, 5)).astype(float) + y[:, np.newaxis], y


def test_every_selector_class_has_an_entry_and_is_public():
    public = {name: getattr(mauc.selectors, name) for name in mauc.selectors.__all__}
    classes = {
        name
        for name, value in public.items()
        if isinstance(value, type) and issubclass(value, RankingSelector)
    }
    assert classes == set(SELECTOR_CLASSES)
    assert classes <= set(mauc.__all__)


def test_every_classifier_class_has_an_entry():
    classes = {
        name
        for name, value in vars(mauc.classifiers).items()
        if isinstance(value, type) and hasattr(value, "fit")
    }
    assert classes == {entry.class_name for entry in CLASSIFIERS.values()}


@pytest.mark.parametrize("table_of_methods", [SELECTORS, CLASSIFIERS])
def test_names_and_labels_are_unique(table_of_methods):
    labels = [entry.label for entry in table_of_methods.values()]
    assert len(set(labels)) == len(labels)
    assert all(name == entry.name for name, entry in table_of_methods.items())


def test_the_nine_selectors_of_the_paper_in_its_order():
    assert PAPER_SELECTORS == (
        "mdfs",
        "maucd",
        "mrmr",
        "fsdd",
        "schi",
        "ssu",
        "chi",
        "su",
        "relieff",
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_method_and_its_tags_say_what_the_entry_says(name):
    made, accepts = METHODS[name](), METHODS[name].accepts
    assert made.accepts == accepts
    assert "sample_weight" in inspect.signature(made.fit).parameters
    assert accepts.nominal <= ("categorical_features" in made.get_params())
    tags = made.__sklearn_tags__().input_tags
    assert (tags.sparse, tags.categorical) == (made.accepts.sparse, made.accepts.nominal)


@pytest.mark.parametrize("name", SELECTORS)
def test_infinite_values_are_accepted_as_the_entry_says(name, table):
    X, y = table
    X[0, 0] = np.inf
    selector = make_selector(name, 2)
    if SELECTORS[name].accepts.infinite:
        selector.fit(X, y)
    else:
        with pytest.raises(MaucError, match="infinity"):
            selector.fit(X, y)


@pytest.mark.parametrize("relevance", RELEVANCES)
def test_what_a_list_selector_accepts_follows_its_relevance(relevance):
    selector = mauc.SubproblemSelector(relevance=relevance)
    assert selector.accepts == RELEVANCES[relevance].accepts
    assert mauc.SpreadFx(relevance=relevance).accepts == RELEVANCES[relevance].accepts


def test_a_subclass_accepts_what_its_ancestor_does():
    class Mine(mauc.MRMR):
        pass

    assert clone(Mine()).accepts == SELECTORS["mrmr"].accepts


def test_an_unknown_option_is_refused_with_the_nearest():
    with pytest.raises(MaucError, match=r"option of selector mdfs .* did you mean 'schedule'"):
        make_selector("mdfs", shedule="random")
    with pytest.raises(MaucError, match=r"option of classifier svm .* did you mean 'gamma'"):
        make_classifier("svm", gama=1)
    with pytest.raises(
        MaucError,
        match="must be one of nb, c45, 1nn, svm, logistic, knn, svc, forest, boosting, got 'lda'",
    ):
        make_classifier("lda")


def test_an_entry_makes_what_its_class_makes():
    assert repr(SELECTORS["ssu"](7)) == repr(mauc.SpreadFx(7, relevance="su"))
    assert repr(CLASSIFIERS["c45"](prune=False)) == repr(mauc.classifiers.C45(prune=False))
