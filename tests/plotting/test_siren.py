"""The siren display draws the numbers of the study, for few pairs and for many."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine

from mauc.difficulty import siren_study
from mauc.exceptions import MaucError
from mauc.plotting import SirenDisplay
from tests.helpers.plot_cases import make_study

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def study():
    given = siren_study(*load_wine(return_X_y=True), n_features=4, auc=[0.8, 0.9, 0.7])
    return replace(given, judge="a nearest-neighbour rule")  # the longest name


def dots(ax, label):
    (found,) = (c for c in ax.collections if c.get_label() == label)
    return np.asarray(found.get_offsets())[:, 1]


def test_panels_show_the_study_hardest_pair_first(study):
    display = study.plot()
    assert isinstance(display, SirenDisplay)
    upper, lower = display.axes_
    order = study.order
    assert_array_equal(dots(upper, "all features"), study.auc[order])
    assert_array_equal(dots(upper, "best single feature"), study.best_auc[order])
    assert_allclose(
        dots(upper, "best of the 4 chosen"), study.feature_auc[study.chosen].max(axis=0)[order]
    )
    assert_allclose(dots(lower, "mean rank"), study.ranks[study.chosen].mean(axis=0)[order])
    labels = [label.get_text() for label in lower.get_xticklabels()]
    assert labels == np.array(study.names)[order].tolist()
    assert lower.get_ylim() == (13.5, 0.5)  # rank 1 at the top
    assert upper.get_title(loc="left") == f"difficulty for {study.judge}"
    assert f"siren index {study.index:.3f}" in lower.get_title(loc="left")
    assert display.to_frame().equals(study.to_frame())


def test_pairs_in_the_order_of_the_paper(study):
    display = SirenDisplay(study).plot_difficulty(order="pair")
    (ax,) = display.axes_
    assert_array_equal(dots(ax, "all features"), study.auc)
    assert [label.get_text() for label in ax.get_xticklabels()] == study.names


def test_given_axes_are_drawn_on(study):
    figure, axes = plt.subplots(2, 1)
    assert SirenDisplay(study).plot(axes).axes_ == tuple(axes)
    (ax,) = SirenDisplay(study).plot_ranks(axes[0]).axes_
    assert ax is axes[0]
    figure, ax = plt.subplots()
    display = SirenDisplay(study).plot(ax)
    assert display.figure_ is figure
    assert all(panel in ax.child_axes for panel in display.axes_)
    with pytest.raises(MaucError, match="one Axes or two, got 3"):
        SirenDisplay(study).plot(plt.subplots(3, 1)[1])


@pytest.mark.parametrize("width", [5, 12, None])
def test_titles_and_legends_are_apart_on_narrow_axes(study, width):
    ax = None if width is None else plt.subplots(figsize=(width, 4))[1]
    display = SirenDisplay(study).plot(ax)
    upper, lower = display.axes_
    figure = display.figure_
    figure.canvas.draw()
    for panel in (upper, lower):
        title, legend = panel._left_title.get_window_extent(), panel.get_legend()
        assert not title.overlaps(legend.get_window_extent())
        assert legend.get_window_extent().x0 >= 0
    top = lower._left_title.get_window_extent().y1
    assert top <= upper.get_window_extent().y0


def test_marks_of_a_legend_are_seen_and_rank_one_has_a_tick():
    display = SirenDisplay(make_study(range(26), 30, 10)).plot()
    for ax in display.axes_:
        for handle in ax.get_legend().legend_handles:
            if hasattr(handle, "get_sizes"):
                assert handle.get_sizes().min() >= 20
    assert display.axes_[1].get_yticks()[0] == 1


def test_the_hardest_third_is_shaded():
    study = make_study("abcd", 30, 10)
    (ax,) = SirenDisplay(study).plot_ranks(order="pair").axes_
    spans = [patch for patch in ax.patches if patch.get_height() == 1]  # axes coordinates
    centres = sorted(round(patch.get_x() + patch.get_width() / 2) for patch in spans)
    assert centres == np.flatnonzero(study.weights("hard")).tolist()


def test_pairs_that_tie_into_both_thirds_are_not_shaded():
    study = make_study("abcd", 30, 10)
    for auc, shaded in (([0.9] * 6, []), ([0.9, 0.8, *[0.9] * 4], [1])):
        study.auc[:] = auc
        (ax,) = SirenDisplay(study).plot_ranks(order="pair").axes_
        spans = [patch for patch in ax.patches if patch.get_height() == 1]
        assert [round(patch.get_x() + patch.get_width() / 2) for patch in spans] == shaded
        assert ("shaded" in ax.get_xlabel()) == bool(shaded)


def test_a_study_without_any_auc_is_drawn(study):
    blank = make_study("abc", 30, 10)
    blank.auc[:] = np.nan
    display = SirenDisplay(blank).plot()
    display.figure_.canvas.draw()
    assert not [patch for patch in display.axes_[1].patches if patch.get_height() == 1]


def test_an_unknown_order(study):
    with pytest.raises(MaucError, match="did you mean 'difficulty'"):
        SirenDisplay(study).plot(order="difficult")
