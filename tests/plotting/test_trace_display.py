"""The trace shows who asked for what, and when."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError

from mauc import MAUCD, MDFS, SpreadFx
from mauc.plotting import TraceDisplay
from tests.helpers.plot_cases import make_trace

matplotlib.use("Agg")


def test_a_dot_for_every_step_in_the_row_of_its_pair():
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = MDFS(6, random_state=1).fit(X, y)
    display = TraceDisplay.from_selector(selector).plot()
    steps, rows = np.asarray(display.dots_.get_offsets()).T
    assert_array_equal(steps, np.arange(6))
    labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert [labels[int(row)] for row in rows] == selector.trace_.subproblem_names.tolist()
    assert_array_equal(display.dots_.get_array(), selector.trace_.ranks)
    assert display.to_frame()["rank"].tolist() == selector.trace_.ranks.tolist()
    matplotlib.pyplot.close(display.figure_)


@pytest.mark.parametrize("selector", [SpreadFx("all"), MDFS("all", random_state=0), MAUCD("all")])
def test_many_steps_and_one_list_can_be_drawn(selector):
    X, y = load_digits(return_X_y=True)
    display = TraceDisplay.from_selector(selector.fit(X, y)).plot()
    assert len(display.ax_.get_xticks()) <= 60
    matplotlib.pyplot.close(display.figure_)


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
    matplotlib.pyplot.close(display.figure_)


def test_an_unfitted_selector():
    with pytest.raises(NotFittedError):
        TraceDisplay.from_selector(MDFS())
