"""The size curve shows best and choice, ends where MAUC does, and says a best at its edge."""

import matplotlib
import numpy as np

from mauc import SizeCurve
from mauc.plotting import SizeCurveDisplay
from tests.helpers.plot_cases import make_curve

matplotlib.use("Agg")


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


def test_ticks_stand_at_the_sizes():
    sizes = [1, 2, 3, 4, 5, 7, 13, 24, 56, 100]
    ax = SizeCurveDisplay(make_curve(sizes)).plot().ax_
    assert sorted([*ax.get_xticks(), *ax.get_xticks(minor=True)]) == sizes
    assert ax.get_xscale() == "log"
    assert SizeCurveDisplay(make_curve(range(1, 14))).plot().ax_.get_xscale() == "linear"
