"""The trace shows who asked for what, and when."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError

from mauc import MAUCD, MDFS, SpreadFx
from mauc.plotting import TraceDisplay

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
    assert display.frame()["rank"].tolist() == selector.trace_.ranks.tolist()
    matplotlib.pyplot.close(display.figure_)


@pytest.mark.parametrize("selector", [SpreadFx("all"), MDFS("all", random_state=0), MAUCD("all")])
def test_many_steps_and_one_list_can_be_drawn(selector):
    X, y = load_digits(return_X_y=True)
    display = TraceDisplay.from_selector(selector.fit(X, y)).plot()
    assert len(display.ax_.get_xticks()) <= 60
    matplotlib.pyplot.close(display.figure_)


def test_an_unfitted_selector():
    with pytest.raises(NotFittedError):
        TraceDisplay.from_selector(MDFS())
