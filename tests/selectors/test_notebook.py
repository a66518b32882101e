"""What a notebook shows of selectors: scikit-learn's diagram, and below it the selection."""

import pytest
from sklearn import config_context
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline

from mauc import MAUCD, MDFS, GreedyMAUC, MDLDiscretizer
from mauc.lab import C45

PAGES = "https://mauc-learn.github.io/mauc/reference/generated/"


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_a_fitted_selector_shows_its_selection_below_the_diagram(wine):
    selector = GreedyMAUC(2)
    before = selector._repr_html_()
    assert "GreedyMAUC</" in before
    assert "<table " not in before.partition("selected")[2]
    shown = selector.fit(*wine)._repr_html_()
    _, sentence, below = shown.partition("<p>GreedyMAUC selected 2 of 13 features:</p>")
    assert sentence
    assert below == selector.trace_._repr_html_()
    assert below.count("<tr>") == 3
    assert selector._repr_mimebundle_()["text/html"].endswith(sentence + below)
    assert sentence not in make_pipeline(selector)._repr_html_()


def test_text_is_shown_where_scikit_learn_is_asked_for_text(wine):
    selector = MAUCD(2).fit(*wine)
    with config_context(display="text"):
        assert not hasattr(selector, "_repr_html_")
        assert set(selector._repr_mimebundle_()) == {"text/plain"}


def test_names_of_features_are_text_not_html(wine):
    X, y = wine
    shown = MAUCD(1).fit(X[["proline"]].rename(columns={"proline": "<b>p"}), y)._repr_html_()
    assert "&lt;b&gt;p" in shown
    assert "<b>p" not in shown


@pytest.mark.parametrize(
    ("estimator", "page"),
    [
        (MDFS(), "mauc.MDFS.html"),
        (MDLDiscretizer(), "mauc.MDLDiscretizer.html"),
        (C45(), "mauc.classifiers.C45.html"),
    ],
)
def test_the_diagram_links_to_the_page_of_the_estimator(estimator, page):
    assert f'href="{PAGES}{page}"' in estimator._repr_html_()

    class Other(type(estimator)):
        """A class of somebody else has no page here."""

    assert PAGES not in Other()._repr_html_()
