"""Displays of one selector: the pair map, the trace and the size curve show what it holds."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError

from mauc import MAUCD, MDFS, GreedyMAUC, SizeCurve
from mauc.exceptions import MaucError
from mauc.plotting import PairMapDisplay, SizeCurveDisplay, TraceDisplay
from tests.helpers.plot_cases import make_curve, make_trace


def test_frame_and_image_are_the_aucs_of_the_selector():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = MDFS(4, random_state=0).fit(X, y)
    display = PairMapDisplay.from_selector(selector)
    frame = display.to_frame()
    assert_array_equal(frame.to_numpy(), selector.pair_auc_)
    assert frame.index.tolist() == X.columns[selector.ranking_].tolist()
    assert frame.columns.tolist() == ["0 vs 1", "0 vs 2", "1 vs 2"]
    assert_array_equal(display.image_.get_array(), selector.pair_auc_)
    dots = display.ax_.collections[0].get_offsets()
    assert_array_equal(dots[:, 0], selector.trace_.subproblems)


def test_many_pairs_thin_out_the_labels_and_one_list_has_no_dots():
    X, y = load_digits(return_X_y=True)
    display = PairMapDisplay.from_selector(MAUCD("all").fit(X, y), X, y)
    assert len(display.ax_.get_xticks()) <= 60
    assert len(display.ax_.get_yticks()) <= 60
    assert display.asked_by is None
    (crosses, _) = display.ax_.collections  # black, and white above
    assert len(crosses.get_offsets()) == (~display.significant).sum() > 0
    assert display.ax_.get_xlabel() == "class pair (×: not significant)"
    plain = PairMapDisplay(display.pair_auc, display.feature_names, display.class_names).plot()
    assert len(plain.ax_.collections) == 0


def test_more_than_sixty_pairs_open_by_classes():
    X, y = load_digits(return_X_y=True)
    y = y + 10 * (np.arange(len(y)) % 2)  # 20 classes, 190 pairs
    selector = MAUCD(5).fit(X, y)
    display = PairMapDisplay.from_selector(selector, X, y)
    image = np.asarray(display.image_.get_array())
    assert image.shape == (20, 20)
    assert_array_equal(image[np.triu_indices(20, 1)], selector.pair_auc_.max(axis=0))
    assert_array_equal(image, image.T)
    assert np.isnan(np.diag(image)).all()
    assert display.ax_.get_ylabel() == "class"
    assert display.ax_.get_xlabel() == "class (×: not significant)"  # no feature is, on these pairs
    is_weak = (~display.significant).all(axis=0)
    assert len(display.ax_.collections[0].get_offsets()) == 2 * is_weak.sum() < 190
    assert display.plot(by="pairs").image_.get_array().shape == (5, 190)


def test_long_names_show_both_classes_and_dollars_are_no_formulas():
    classes = np.array(["Iris versicolor of the coast", "Iris virginica", "$5"])
    display = PairMapDisplay(np.full((1, 3), 0.7), ["cost in $ per $ earned"], classes).plot()
    labels = [label.get_text() for label in display.ax_.get_xticklabels()]
    assert labels[0] == "Iris ver…e coast vs Iris virginica"
    assert labels[2] == r"Iris virginica vs \$5"
    assert display.ax_.get_yticklabels()[0].get_text() == r"cost in \$ per \$ earned"


def test_names_that_fit_side_by_side_are_not_turned():
    few = PairMapDisplay(np.full((2, 3), 0.7), ["f", "g"], np.arange(3))
    _, ax = plt.subplots(figsize=(8, 3))
    assert few.plot(ax).ax_.get_xticklabels()[0].get_rotation() == 0
    _, ax = plt.subplots(figsize=(2, 3))
    assert few.plot(ax).ax_.get_xticklabels()[0].get_rotation() == 90


def test_a_dot_for_every_step_in_the_row_of_its_pair():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = MDFS(6, random_state=1).fit(X, y)
    display = TraceDisplay.from_selector(selector)
    steps, rows = np.asarray(display.dots_.get_offsets()).T
    assert_array_equal(steps, np.arange(6))
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert [labels[int(row)] for row in rows] == selector.trace_.subproblem_names.tolist()
    assert_array_equal(display.dots_.get_array(), selector.trace_.ranks)
    assert display.to_frame()["rank"].tolist() == selector.trace_.ranks.tolist()


def test_predicted_mauc_and_what_each_step_added_stand_above_the_trace():
    selector = GreedyMAUC(5).fit(*load_wine(return_X_y=True))
    display = selector.trace_.plot()
    upper, lower = display.axes_
    assert lower is display.ax_
    assert_array_equal(upper.get_lines()[0].get_ydata(), selector.predicted_mauc_)
    frame = display.to_frame()
    assert_allclose([bar.get_height() for bar in upper.patches], frame["added"])
    tops = [bar.get_y() + bar.get_height() for bar in upper.patches]
    assert_allclose(tops, frame["predicted_mauc"])
    _, axes = plt.subplots(3, 1)
    assert len(selector.trace_.plot(axes[0]).axes_) == 1
    with pytest.raises(MaucError, match="one Axes or two, got 3"):
        selector.trace_.plot(axes)


@pytest.mark.parametrize(
    ("highest", "labels"),
    [
        (1, ["1"]),
        (4, ["1", "2", "3", "4"]),
        (48, ["1", "2", "3–5", "6–10", "11–20", "21–48"]),
        (617, ["1", "2", "3–5", "6–10", "11–20", "21–50", "51–100", "101–200", "201–617"]),
    ],
)
def test_the_colours_of_ranks_are_classes(highest, labels):
    trace = make_trace(["f"], ["a", "b", "c"], 8)
    trace = replace(trace, ranks=np.linspace(1, highest, 8).round().astype(int))
    display = TraceDisplay(trace).plot()
    bar = display.dots_.colorbar
    assert [text.get_text() for text in bar.ax.get_yticklabels()] == labels
    assert bar.ax.get_ylabel() == "rank in its list"
    assert len(labels) == display.dots_.cmap.N  # one colour each, no shades between
    display.figure_.canvas.draw()
    place = np.searchsorted([int(label.split("–")[-1]) for label in labels], trace.ranks)
    assert_array_equal(display.dots_.get_facecolors(), display.dots_.cmap(place))


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_best_and_chosen_are_named():
    curve = make_curve(range(1, 8), level=0.98)
    assert curve.size < curve.best_size
    names = legend_of(SizeCurveDisplay(curve).plot())
    assert {f"best: {curve.best_size}", f"chosen: {curve.size}"} <= set(names)
    one = make_curve([1, 2, 3], best=1, noise=0.001)
    assert "best and chosen: 2" in legend_of(SizeCurveDisplay(one).plot())


def test_a_best_size_at_the_edge_is_said_above():
    inside, edge = make_curve([1, 2, 3, 4], best=1), make_curve([1, 2, 3, 4])
    titles = [
        SizeCurveDisplay(curve).plot().ax_.get_legend().get_title().get_text()
        for curve in (inside, edge)
    ]
    assert titles == ["", edge.edge_note]
    assert edge.edge_note


def test_the_band_ends_at_one_and_at_zero():
    # Means 0.1 and 0.95 with standard errors of 0.1 and 0.05, and rounding beyond the ends.
    folds = np.array([[-1e-9, 0.9], [0.2 - 1e-9, 1.0 + 1e-9]])
    curve = SizeCurve(np.array([1, 2]), folds)
    assert (curve.mean - curve.standard_error).min() < 0
    assert (curve.mean + curve.standard_error).max() > 1
    (band,) = SizeCurveDisplay(curve).plot().ax_.collections
    ends = band.get_paths()[0].vertices[:, 1]
    assert ends.max() == 1.0
    assert ends.min() == 0.0


def test_ticks_of_a_size_curve_are_at_its_sizes():
    sizes = [1, 2, 3, 4, 5, 7, 13, 24, 56, 100]
    ax = SizeCurveDisplay(make_curve(sizes)).plot().ax_
    assert sorted([*ax.get_xticks(), *ax.get_xticks(minor=True)]) == sizes
    assert ax.get_xscale() == "log"
    assert SizeCurveDisplay(make_curve(range(1, 14))).plot().ax_.get_xscale() == "linear"


@pytest.mark.parametrize("chosen", [2, 20, 39])
def test_the_chosen_size_has_a_tick(chosen):
    folds = np.full((2, 40), 0.6) + np.array([[0.0], [0.001]])
    folds[:, chosen - 1 :] += 0.3
    ax = SizeCurveDisplay(SizeCurve(np.arange(1, 41), folds)).plot().ax_
    labels = [int(label.get_text()) for label in ax.get_xticklabels()]
    assert chosen in labels
    assert len(labels) < 40  # not all have room


@pytest.mark.parametrize("display", [PairMapDisplay, TraceDisplay])
def test_an_unfitted_selector(display):
    with pytest.raises(NotFittedError):
        display.from_selector(MDFS())
