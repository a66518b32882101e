"""Displays of a run: to_frame() has the numbers, plot() draws them on labelled axes."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from numpy.testing import assert_array_equal
from scipy.stats import t

from mauc.exceptions import MaucError
from mauc.plotting import (
    CriticalDifferenceDisplay,
    CurvesDisplay,
    StabilityDisplay,
    WinDrawLossDisplay,
)
from mauc.stats import Comparison, problem_scores

pytestmark = pytest.mark.long

THREE = ["mdfs", "chi", "my_own"]
FIVE = ["wine", "glass", "iris", "letters", "isolet"]
MANY = [f"selector {place}" for place in range(18)]


def make_run(selectors, *, datasets=("wine", "glass"), classifiers=("nb", "svm"), sizes=(2, 4)):
    """Six folds; each selector lies 0.01 below the one before it, on every fold."""
    n_features = 10 if max(sizes) <= 10 else 200
    rows = [
        {
            "dataset": dataset,
            "repeat": 0,
            "fold": fold,
            "selector": selector,
            "classifier": classifier,
            "size": size,
            "status": "ok",
            "error": None,
            "mauc": 0.9 + 0.01 * fold - 0.01 * place + 0.001 * size,
            "features": (np.arange(size) + fold * (place > 0)) % n_features,
            "n_train": 90,
            "n_test": 10,
            "n_features": n_features,
        }
        for dataset in datasets
        for fold in range(6)
        for place, selector in enumerate(selectors)
        for classifier in classifiers
        for size in sizes
    ]
    return pd.DataFrame(rows)


def test_curves_by_hand():
    display = CurvesDisplay.from_run(make_run(THREE), spread="std")
    frame = display.to_frame()
    assert len(frame) == 2 * 2 * 3 * 2
    first = frame.iloc[0]
    assert first[["dataset", "classifier", "selector", "size", "n"]].tolist() == [
        "wine",
        "nb",
        "mdfs",
        2,
        6,
    ]
    std = np.sqrt(17.5 / 5) / 100  # of 0, 0.01, ..., 0.05
    assert first["mean"] == pytest.approx(0.927)
    assert first["upper"] - first["mean"] == pytest.approx(std)
    corrected = CurvesDisplay.from_run(make_run(THREE)).to_frame().iloc[0]
    half = t.ppf(0.975, 5) * std * np.sqrt(1 / 6 + 10 / 90)
    assert corrected["mean"] - corrected["lower"] == pytest.approx(half)


def test_curves_draw_a_panel_per_data_set_and_classifier():
    display = CurvesDisplay.from_run(make_run(THREE))
    assert display.axes_.shape == (2, 2)
    assert display.ax_.get_title() == "wine, Naive Bayes"
    assert display.axes_[1, 0].get_xlabel() == "number of features"
    assert display.axes_[1, 0].get_ylabel() == "MAUC\n(band: 95 % interval)"
    lines = display.ax_.get_lines()
    assert lines[0].get_ydata() == pytest.approx([0.927, 0.929])
    names = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert names == ["MDFS", "CHI", "my_own"]


def test_a_selector_may_lack_a_data_set():
    rows = make_run(THREE)
    rows = rows[(rows["dataset"] == "wine") | (rows["selector"] != "chi")]
    display = CurvesDisplay.from_run(rows, datasets="glass")
    assert display.to_frame()["selector"].unique().tolist() == ["mdfs", "my_own"]
    assert len(CurvesDisplay.from_run(rows, datasets="wine", selectors="chi").to_frame()) == 4
    with pytest.raises(MaucError, match="at least one selection"):
        StabilityDisplay.from_run(rows, datasets="glass", selectors="chi")


def test_a_single_panel_names_the_curves_at_their_ends():
    display = CurvesDisplay.from_run(make_run(THREE), datasets="wine", classifiers="nb")
    assert [text.get_text() for text in display.ax_.texts] == ["my_own", "CHI", "MDFS"]
    heights = [text.xyann[1] for text in display.ax_.texts]
    assert (np.diff(heights) > 0).all()
    assert display.figure_.legends == []


def test_labels_of_equal_curves_do_not_touch():
    rows = make_run(["a", "b", "c", "d"], datasets=["wine"], classifiers=["nb"])
    rows["mauc"] = 0.9
    display = CurvesDisplay.from_run(rows)
    display.figure_.canvas.draw()
    boxes = sorted(
        (Text.get_window_extent(text) for text in display.ax_.texts), key=lambda box: box.y0
    )
    bottoms, tops = [box.y0 for box in boxes], [box.y1 for box in boxes]
    assert all(bottom >= top - 1 for bottom, top in zip(bottoms[1:], tops[:-1], strict=True))


def test_curves_skip_what_failed():
    rows = make_run(THREE, datasets=["wine"], classifiers=["nb"])
    failed = (rows["selector"] == "chi") & (rows["size"] == 4)
    rows.loc[failed, ["status", "mauc"]] = ["failed", np.nan]
    rows.loc[rows["selector"] == "my_own", ["status", "mauc"]] = ["failed", np.nan]
    display = CurvesDisplay.from_run(rows)
    assert np.isnan(display.to_frame().set_index(["selector", "size"]).loc[("chi", 4), "mean"])
    assert np.isnan(display.ax_.get_lines()[1].get_ydata()[1])
    # CHI is named at its last value, a curve without a value not at all
    assert [text.get_text() for text in display.ax_.texts] == ["CHI", "MDFS"]


def test_win_draw_loss_counts_and_bars():
    display = WinDrawLossDisplay.from_run(make_run(THREE))
    frame = display.to_frame()
    # six of six folds worse on 2 data sets x 2 sizes
    assert frame[["win", "draw", "loss"]].to_numpy().tolist() == [[4, 0, 0]] * 4
    assert [ax.get_title() for ax in display.axes_] == ["Naive Bayes", "SVM"]
    assert "comparisons" in display.ax_.get_xlabel()
    widths = [bar.get_width() for bar in display.ax_.containers[0]]
    assert widths == [4, 4]
    labels = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert labels == ["MDFS wins", "draw", "MDFS loses"]
    title = display.figure_.legends[0].get_title().get_text()
    assert title == "Wilcoxon signed-rank test at 5 %"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["CHI", "my_own"]
    other = WinDrawLossDisplay.from_run(make_run(THREE), Comparison("my_own")).to_frame()
    assert other["loss"].tolist() == [4] * 4


def test_critical_difference_by_hand():
    rows = make_run(THREE, datasets=FIVE, sizes=[2])
    scores = problem_scores(rows)
    assert scores.shape == (5, 3)
    assert problem_scores(rows, "cell").shape == (10, 3)
    assert scores.loc["wine", "mdfs"] == pytest.approx(0.925 + 0.002)
    display = CriticalDifferenceDisplay.from_run(rows, problems="cell", posthoc="nemenyi")
    assert display.to_frame()["rank"].tolist() == [1.0, 2.0, 3.0]
    # q 2.343 sqrt(3 * 4 / (6 * 10)) = 1.05: neighbours are not told apart
    assert display.difference == pytest.approx(1.0480, abs=1e-3)
    assert display.cliques_ == [(0, 1), (1, 2)]
    texts = [text.get_text().strip() for text in display.ax_.texts]
    assert texts == ["MDFS  1.00", "CHI  2.00", "3.00  my_own", "CD = 1.05"]
    assert "mean rank over 10 problems" in display.ax_.get_xlabel()


def test_holm_joins_what_it_does_not_reject():
    scores = np.tile([0.9, 0.8, 0.7], (6, 1))
    # z of neighbours 1.73, p 0.083; of the ends 3.46: only the ends differ
    display = CriticalDifferenceDisplay.from_scores(scores, THREE)
    assert display.cliques_ == [(0, 1), (1, 2)]
    assert display.difference == 2.0
    none = CriticalDifferenceDisplay.from_scores(scores, THREE, alpha=1e-4)
    assert none.cliques_ == [(0, 1, 2)]
    assert none.difference == np.inf


@pytest.mark.parametrize("problems", ["dataset", "cell"])
def test_critical_difference_needs_five_data_sets(problems):
    rows = make_run(THREE, datasets=FIVE)
    for part, got in (
        (rows[rows["dataset"] != "wine"], "4 and 3"),
        (rows[rows["selector"] == "chi"], "5 and 1"),
    ):
        with pytest.raises(MaucError, match=f"at least 5 data sets .* got {got}: draw Curves"):
            CriticalDifferenceDisplay.from_run(part, problems=problems)
    with pytest.raises(MaucError, match="got 4 and 3"):
        CriticalDifferenceDisplay.from_scores(np.eye(4, 3), THREE)


def test_stability_numbers_and_axes():
    display = StabilityDisplay.from_run(make_run(THREE))
    frame = display.to_frame().set_index(["dataset", "selector", "size"])
    assert frame.loc[("wine", "mdfs", 2), "stability"] == 1.0  # the same features on each fold
    assert frame.loc[("wine", "chi", 2), "stability"] < 0.5
    assert [ax.get_title() for ax in display.axes_] == ["wine", "glass"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "number of features",
        "stability\n(band: 95 % interval)",
    )
    display.plot(size=4)
    assert display.ax_.get_xlabel() == "stability of 4 features\n(line: 95 % interval)"
    assert display.ax_.get_yticklabels()[0].get_text() == "MDFS"
    with pytest.raises(MaucError, match="size must be one of 2, 4, got 3"):
        display.plot(size=3)


def test_displays_draw_on_given_axes():
    rows, five = make_run(MANY), make_run(MANY, datasets=FIVE, sizes=[2])
    displays = {
        lambda ax: CurvesDisplay.from_run(rows, ax=ax, labels="legend"): 4,
        lambda ax: WinDrawLossDisplay.from_run(rows, Comparison(MANY[0]), ax=ax): 2,
        lambda ax: StabilityDisplay.from_run(rows, ax=ax, size=2): 2,
        lambda ax: CriticalDifferenceDisplay.from_run(five, ax=ax): 1,
    }
    for draw, n_panels in displays.items():
        figure, axes = plt.subplots(1, n_panels)
        display = draw(axes)
        assert display.figure_ is figure
        assert plt.get_fignums() == [figure.number]  # and nowhere else
        figure.canvas.draw()
        for legend in figure.legends:  # beside the panels, not over them
            box = legend.get_window_extent()
            assert not any(box.overlaps(ax.get_window_extent()) for ax in figure.axes)
        plt.close(figure)


def test_too_few_axes_and_unknown_words():
    rows = make_run(THREE)
    _, ax = plt.subplots()
    with pytest.raises(MaucError, match=r"ax must hold 4 Axes \(2 x 2 panels\), got 1"):
        CurvesDisplay.from_run(rows, ax=ax)
    with pytest.raises(MaucError, match="spread must be one of"):
        CurvesDisplay.from_run(rows, spread="sem")
    with pytest.raises(MaucError, match="labels must be one of"):
        CurvesDisplay.from_run(rows, labels="no")
    with pytest.raises(MaucError, match="did you mean 'wine'"):
        CurvesDisplay.from_run(rows, datasets=["vine"])
    with pytest.raises(MaucError, match="posthoc must be one of"):
        CriticalDifferenceDisplay.from_scores(np.eye(5, 3), THREE, posthoc="tukey")
    with pytest.raises(MaucError, match="problems must be one of"):
        CriticalDifferenceDisplay.from_run(rows, problems="size")


def test_a_combination_without_a_measurement_has_no_panel():
    rows = make_run(THREE, classifiers=["nb", "1nn", "svm"])
    is_gap = (rows["dataset"] == "glass") & (rows["classifier"] == "svm")
    failed = rows.copy()
    failed.loc[is_gap, ["status", "mauc"]] = ["failed", np.nan]
    for part in (rows[~is_gap], failed):
        display = CurvesDisplay.from_run(part)
        assert display.axes_.shape == (2, 3)
        assert display.axes_[1, 2] is None
        titles = [ax.get_title() for ax in display.figure_.axes if ax.axison]
        assert titles == [
            "wine, Naive Bayes",
            "wine, 1NN",
            "wine, SVM",
            "glass, Naive Bayes",
            "glass, 1NN",
        ]
        assert len(display.figure_.legends[0].get_texts()) == 3


def test_a_run_without_any_measurement_says_so():
    rows = make_run(THREE)
    rows[["status", "mauc"]] = ["failed", np.nan]
    display = CurvesDisplay.from_run(rows)
    assert [text.get_text() for text in display.ax_.texts] == ["nothing was measured"]
    assert len(display.figure_.axes) == 1
    one_fold = make_run(THREE).query("fold == 0")
    for size in (None, 2):
        display = StabilityDisplay.from_run(one_fold, size=size)
        assert [text.get_text() for text in display.ax_.texts] == ["fewer than two selections"]


@pytest.mark.parametrize(("n_panels", "shape"), [(1, (1, 1)), (3, (1, 3)), (5, (2, 3))])
def test_panels_form_rows_of_equal_length(n_panels, shape):
    rows = make_run(THREE, datasets=[f"d{at}" for at in range(n_panels)], classifiers=["nb"])
    for display in (CurvesDisplay.from_run(rows), StabilityDisplay.from_run(rows)):
        figure = display.figure_
        figure.canvas.draw()
        assert display.ax_.get_gridspec().get_geometry() == shape
        assert len([ax for ax in figure.axes if ax.axison]) == n_panels


def test_a_classifier_without_a_comparison_has_no_bars_to_show():
    counts = pd.DataFrame(
        {
            "classifier": ["nb", "svm"],
            "selector": "chi",
            "win": [3, 0],
            "draw": [1, 0],
            "loss": [0, 0],
        }
    )
    display = WinDrawLossDisplay(counts).plot()
    assert [ax.get_title() for ax in display.figure_.axes] == ["Naive Bayes"]


@pytest.mark.parametrize("n_selectors", [3, 18])
@pytest.mark.parametrize("sizes", [(5, 10, 20, 30), (1, 2, 3, 4, 5, 7, 10, 30, 50, 100)])
def test_curves_and_ticks_stand_at_the_sizes(n_selectors, sizes):
    rows = make_run(MANY[:n_selectors], sizes=sizes)
    for display in (CurvesDisplay.from_run(rows), StabilityDisplay.from_run(rows)):
        ax = display.ax_
        for line in ax.get_lines():
            assert_array_equal(line.get_xdata(), sizes)
        ticks = sorted([*ax.get_xticks(), *ax.get_xticks(minor=True)])
        assert_array_equal(ticks, sizes)
        labels = [label.get_text() for label in ax.get_xticklabels()]
        assert labels == [str(int(tick)) for tick in ax.get_xticks()]
        assert {str(sizes[0]), str(sizes[-1])} <= set(labels)


@pytest.mark.parametrize(
    ("sizes", "spread", "label"),
    [
        ((2, 4), "std", "MAUC\n(band: ± 1 standard deviation)"),
        ([2], "interval", "MAUC\n(bar: 95 % interval)"),
        ((2, 4), "none", "MAUC"),
    ],
)
def test_curves_say_what_their_spread_is(sizes, spread, label):
    display = CurvesDisplay.from_run(make_run(THREE, sizes=sizes), spread=spread)
    assert display.ax_.get_ylabel() == label


def test_greedy_is_thick_and_over_the_others():
    ax = CurvesDisplay.from_run(make_run(["greedy", *THREE])).ax_
    greedy, *others = ax.get_lines()
    assert all(greedy.get_zorder() > other.get_zorder() for other in others)
    assert all(greedy.get_linewidth() > 2 * other.get_linewidth() for other in others)


def bars(ax):
    """Return size, lower and upper end of every bar, and how far it is drawn from its size."""
    for collection in ax.collections:
        for path, (left, _) in zip(
            collection.get_paths(),
            (
                collection.get_transform().transform(path.vertices[0])
                for path in collection.get_paths()
            ),
            strict=True,
        ):
            (size, lower), (_, upper) = path.vertices
            yield size, lower, upper, left - ax.transData.transform((size, lower))[0]


def test_bars_stand_beside_each_other_within_one_percent_of_the_panel():
    ax = CurvesDisplay.from_run(make_run(MANY), classifiers="nb").ax_
    ax.figure.canvas.draw()
    shifts = np.array([shift for *_, shift in bars(ax)])
    assert len(shifts) == 18 * 2
    assert len(np.unique(shifts.round(3))) == 18
    assert np.abs(shifts).max() < 0.01 * ax.get_window_extent().width


@pytest.mark.parametrize("n_selectors", [3, 7])
def test_the_spread_ends_where_mauc_does(n_selectors):
    rows = make_run(MANY[:n_selectors], datasets=["wine"], classifiers=["nb"])
    rows["mauc"] = np.where(rows["fold"] % 2, 1.0, np.where(rows["size"] == 2, 0.0, 0.9))
    display = CurvesDisplay.from_run(rows)
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
    stability = pd.DataFrame(
        {
            "dataset": "wine",
            "selector": MANY[:6],
            "size": 2,
            "n": 5,
            "stability": [1.0, 0.9, 0.5, 0, 0, -0.2],
            "lower": [0.9, 0.7, 0.3, -0.5, -0.1, -0.6],
            "upper": [1.1, 1.2, 0.7, 0.5, 0.1, 0.2],
        }
    )
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
