"""No panel is empty: what was not measured has none, what nobody measured is said."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from mauc.plotting import CurvesDisplay, StabilityDisplay, WinDrawLossDisplay
from tests.helpers.hand_run import THREE, make_run

matplotlib.use("Agg")


def test_a_combination_without_a_measurement_has_no_panel():
    rows = make_run(THREE, classifiers=["nb", "1nn", "svm"])
    is_gap = (rows["dataset"] == "glass") & (rows["classifier"] == "svm")
    failed = rows.copy()
    failed.loc[is_gap, ["status", "mauc"]] = ["failed", np.nan]
    for part in (rows[~is_gap], failed):
        display = CurvesDisplay.from_run(part).plot()
        assert display.axes_.shape == (2, 3)
        assert display.axes_[1, 2] is None
        titles = [ax.get_title() for ax in display.figure_.axes if ax.axison]
        assert titles == ["wine, Naive Bayes", "wine, 1NN", "wine, SVM", "glass, Naive Bayes",
                          "glass, 1NN"]  # fmt: skip
        # the free place has the legend
        (free,) = (ax for ax in display.figure_.axes if not ax.axison)
        assert len(free.get_legend().get_texts()) == 3


def test_a_run_without_any_measurement_says_so():
    rows = make_run(THREE)
    rows[["status", "mauc"]] = ["failed", np.nan]
    display = CurvesDisplay.from_run(rows).plot()
    assert [text.get_text() for text in display.ax_.texts] == ["nothing was measured"]
    assert len(display.figure_.axes) == 1
    one_fold = make_run(THREE).query("fold == 0")
    for size in (None, 2):
        display = StabilityDisplay.from_run(one_fold).plot(size=size)
        assert [text.get_text() for text in display.ax_.texts] == ["fewer than two selections"]


@pytest.mark.parametrize(
    ("n_panels", "shape"), [(1, (1, 1)), (2, (1, 2)), (3, (1, 3)), (4, (2, 2)), (5, (2, 3))]
)
def test_panels_form_rows_of_equal_length(n_panels, shape):
    rows = make_run(THREE, datasets=[f"d{at}" for at in range(n_panels)], classifiers=["nb"])
    for display in (CurvesDisplay.from_run(rows), StabilityDisplay.from_run(rows)):
        figure = display.plot().figure_
        figure.canvas.draw()
        assert display.ax_.get_gridspec().get_geometry() == shape
        assert len([ax for ax in figure.axes if ax.axison]) == n_panels


def test_a_classifier_without_a_comparison_has_no_bars_to_show():
    counts = pd.DataFrame({
        "classifier": ["nb", "svm"], "selector": "chi", "win": [3, 0], "draw": [1, 0],
        "loss": [0, 0],
    })  # fmt: skip
    display = WinDrawLossDisplay(counts).plot()
    assert [ax.get_title() for ax in display.figure_.axes] == ["Naive Bayes"]
