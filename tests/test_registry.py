"""The registry is complete, and what it says of a method is true."""

import importlib
import inspect
import re
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import mauc
import mauc.classifiers
import mauc.lab
import mauc.selectors
from mauc.data.problem import DECOMPOSITIONS, MISSING, DecompositionName, MissingRule
from mauc.exceptions import MaucError
from mauc.measure import relevance as relevance_module
from mauc.registry import (
    CLASSIFIERS,
    PAPER_SELECTORS,
    RELEVANCES,
    SELECTOR_CLASSES,
    SELECTORS,
    RelevanceName,
    make_classifier,
    make_selector,
)
from mauc.search.lists import SCHEDULES, TIES, ScheduleName, TieRule
from mauc.selectors.base import RankingSelector

METHODS = {**SELECTORS, **CLASSIFIERS}


@pytest.fixture
def table(rng):
    y = np.repeat([0, 1, 2], 12)
    return rng.integers(0, 4, (36, 5)).astype(float) + y[:, np.newaxis], y


@pytest.mark.parametrize("name", METHODS)
def test_every_entry_has_its_class(name):
    entry = METHODS[name]
    try:
        assert isinstance(entry.estimator_class, type)
    except AttributeError as error:
        pytest.fail(
            f"{entry.class_name} of src/mauc/registry.py cannot be imported ({error}): write the "
            "class, a filter in src/mauc/selectors/filters.py, and its line in "
            "src/mauc/__init__.pyi"
        )


def subclasses(kind):
    """Give the subclasses of a class in the library."""
    return [one for one in kind.__subclasses__() if one.__module__.startswith("mauc.")]


def leaves(kind):
    """Give the classes below a class in the library that are no base of others."""
    below = subclasses(kind)
    return {name for one in below for name in leaves(one)} if below else {kind.__name__}


def test_every_selector_class_has_an_entry():
    for home in {entry.estimator_class.__module__ for entry in SELECTORS.values()}:
        importlib.import_module(home)
    missing = leaves(RankingSelector) - set(SELECTOR_CLASSES)
    assert not missing, (
        f"a selector needs an entry in SELECTORS of src/mauc/registry.py; {missing} have none"
    )


def test_every_relevance_has_an_entry():
    functions = {
        name.removesuffix("_relevance")
        for name in vars(relevance_module)
        if name.endswith("_relevance")
    }
    assert functions == set(RELEVANCES), (
        "a function of src/mauc/measure/relevance.py named ..._relevance needs an entry in "
        "RELEVANCES of src/mauc/registry.py, and each entry such a function"
    )


@pytest.mark.parametrize(
    ("literal", "known"),
    [
        (RelevanceName, RELEVANCES),
        (ScheduleName, SCHEDULES),
        (TieRule, TIES),
        (DecompositionName, DECOMPOSITIONS),
        (MissingRule, MISSING),
    ],
    ids=["RelevanceName", "ScheduleName", "TieRule", "DecompositionName", "MissingRule"],
)
def test_editors_complete_the_choices(literal, known):
    assert set(get_args(literal)) == set(known), "name each choice in the Literal beside the table"


def test_the_docstring_names_the_relevances():
    text = re.search(r"relevance : (.+?)\n    \w", mauc.SubproblemSelector.__doc__, re.DOTALL)[1]
    assert set(re.findall(r'"(\w+)"', text)) == set(RELEVANCES), (
        "the description of `relevance` in SubproblemSelector, src/mauc/selectors/filters.py, "
        "names other values than RELEVANCES"
    )


def test_every_classifier_class_has_an_entry():
    classes = {
        name
        for home in (mauc.classifiers, mauc.lab)
        for name, value in vars(home).items()
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


@pytest.mark.parametrize("name", SELECTORS)
def test_columns_of_words_are_accepted_as_the_entry_says(name, table):
    X, y = table
    frame = pd.DataFrame(X).assign(word=np.array(["a", "b", "c"])[X[:, 0].astype(int) % 3])
    frame.columns = frame.columns.astype(str)
    selector = make_selector(name, 2)
    if SELECTORS[name].accepts.nominal:
        selector.fit(frame, y)
    else:
        with pytest.raises(MaucError, match="must be numeric, but column 'word'"):
            selector.fit(frame, y)


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
    assert repr(CLASSIFIERS["c45"](prune=False)) == repr(mauc.lab.C45(prune=False))
