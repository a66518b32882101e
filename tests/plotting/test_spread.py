"""Curves stand at their sizes, and their spread within the measure."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from mauc.plotting import CurvesDisplay, StabilityDisplay
from tests.helpers.hand_run import MANY, make_run

pytestmark = pytest.mark.long

matplotlib.use("Agg")


@pytest.mark.parametrize("n_selectors", [3, 18])
@pytest.mark.parametrize("sizes", [(5, 10, 20, 30), (1, 2, 3, 4, 5, 7, 10, 30, 50, 100)])
def test_curves_and_ticks_stand_at_the_sizes(n_selectors, sizes):
    rows = make_run(MANY[:n_selectors], sizes=sizes)
    for display in (CurvesDisplay.from_run(rows), StabilityDisplay.from_run(rows)):
        ax = display.plot().ax_
        for line in ax.get_lines():
            assert_array_equal(line.get_xdata(), sizes)
        ticks = sorted([*ax.get_xticks(), *ax.get_xticks(minor=True)])
        assert_array_equal(ticks, sizes)
        labels = [label.get_text() for label in ax.get_xticklabels()]
        assert labels == [str(int(tick)) for tick in ax.get_xticks()]
        assert {str(sizes[0]), str(sizes[-1])} <= set(labels)


def bars(ax):
    """Return size, lower and upper end of every bar, and how far it is drawn from its size."""
    for collection in ax.collections:
        for path, (left, _) in zip(
            collection.get_paths(),
            (collection.get_transform().transform(path.vertices[0]) for path in
             collection.get_paths()), strict=True,
        ):  # fmt: skip
            (size, lower), (_, upper) = path.vertices
            yield size, lower, upper, left - ax.transData.transform((size, lower))[0]


def test_bars_stand_beside_each_other_within_one_percent_of_the_panel():
    ax = CurvesDisplay.from_run(make_run(MANY), classifiers="nb").plot().ax_
    ax.figure.canvas.draw()
    shifts = np.array([shift for *_, shift in bars(ax)])
    assert len(shifts) == 18 * 2
    assert len(np.unique(shifts.round(3))) == 18
    assert np.abs(shifts).max() < 0.01 * ax.get_window_extent().width


@pytest.mark.parametrize("n_selectors", [3, 7])
def test_the_spread_ends_where_mauc_does(n_selectors):
    rows = make_run(MANY[:n_selectors], datasets=["wine"], classifiers=["nb"])
    rows["mauc"] = np.where(rows["fold"] % 2, 1.0, np.where(rows["size"] == 2, 0.0, 0.9))
    display = CurvesDisplay.from_run(rows).plot()
    assert display.to_frame()["upper"].max() > 1  # an interval of the mean knows no bounds
    assert display.to_frame()["lower"].min() < 0
    ends = np.concatenate(
        [path.vertices[:, 1] for c in display.ax_.collections for path in c.get_paths()]
    )
    assert (ends.min(), ends.max()) == (0.0, 1.0)
    low, high = display.ax_.get_ylim()
    assert low < 0 < 1 < high  # whole bars are seen


@pytest.mark.parametrize("size", [None, 2])
def test_intervals_of_the_stability_end_where_it_does(size):
    stability = pd.DataFrame({
        "dataset": "wine", "selector": MANY[:6], "size": 2, "n": 5,
        "stability": [1.0, 0.9, 0.5, 0, 0, -0.2],
        "lower": [0.9, 0.7, 0.3, -0.5, -0.1, -0.6], "upper": [1.1, 1.2, 0.7, 0.5, 0.1, 0.2],
    })  # fmt: skip
    ax = StabilityDisplay(stability).plot(size=size).ax_
    across = 1 if size is None else 0
    ends = np.concatenate(
        [path.vertices[:, across] for c in ax.collections for path in c.get_paths()]
    )
    assert ends.max() == 1.0
    assert ends.min() == -1 / 4  # the least that five selections can have
    limits = ax.get_ylim() if size is None else ax.get_xlim()
    assert limits[0] < -0.25
    assert limits[1] > 1
