"""The feature x class-pair map shows what the selector holds."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError

from mauc import MAUCD, MDFS
from mauc.plotting import PairMapDisplay

matplotlib.use("Agg")


def test_frame_and_image_are_the_aucs_of_the_selector():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = MDFS(4, random_state=0).fit(X, y)
    display = PairMapDisplay.from_selector(selector)
    frame = display.to_frame()
    assert_array_equal(frame.to_numpy(), selector.pair_auc_)
    assert frame.index.tolist() == X.columns[selector.ranking_].tolist()
    assert frame.columns.tolist() == ["0 vs 1", "0 vs 2", "1 vs 2"]
    assert display.plot() is display
    assert_array_equal(display.image_.get_array(), selector.pair_auc_)
    dots = display.ax_.collections[0].get_offsets()
    assert_array_equal(dots[:, 0], selector.trace_.subproblems)
    matplotlib.pyplot.close(display.figure_)


def test_many_pairs_thin_out_the_labels_and_one_list_has_no_dots():
    X, y = load_digits(return_X_y=True)
    display = PairMapDisplay.from_selector(MAUCD("all").fit(X, y)).plot()
    assert len(display.ax_.get_xticks()) <= 60
    assert len(display.ax_.get_yticks()) <= 60
    assert len(display.ax_.collections) == 0
    matplotlib.pyplot.close(display.figure_)


def test_long_names_show_both_classes_and_dollars_are_no_formulas():
    pairs = ["Iris versicolor of the coast vs Iris virginica", "$5 vs $10"]
    display = PairMapDisplay(np.full((1, 2), 0.7), ["cost in $ per $ earned"], pairs).plot()
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels == ["Iris ver…e coast vs Iris virginica", r"\$5 vs \$10"]
    assert display.ax_.get_yticklabels()[0].get_text() == r"cost in \$ per \$ earned"
    matplotlib.pyplot.close(display.figure_)


def test_names_that_fit_side_by_side_are_not_turned():
    few = PairMapDisplay(np.full((2, 3), 0.7), ["f", "g"], ["0 vs 1", "0 vs 2", "1 vs 2"])
    _, ax = matplotlib.pyplot.subplots(figsize=(8, 3))
    assert few.plot(ax).ax_.get_xticklabels()[0].get_rotation() == 0
    _, ax = matplotlib.pyplot.subplots(figsize=(2, 3))
    assert few.plot(ax).ax_.get_xticklabels()[0].get_rotation() == 90
    matplotlib.pyplot.close("all")


def test_an_unfitted_selector():
    with pytest.raises(NotFittedError):
        PairMapDisplay.from_selector(MDFS())
