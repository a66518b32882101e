"""A drawn tree can be read: no edge and no text is drawn through a text, deep ones are cut."""

from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib.transforms import Bbox
from sklearn.datasets import load_iris

from mauc.classifiers import C45
from mauc.exceptions import MaucError
from mauc.plotting import TreeDisplay
from tests.helpers.plot_cases import AWKWARD_CLASSES, LONG, make_chain, make_tree

pytestmark = pytest.mark.long

matplotlib.use("Agg")


def iris_tree(**options):
    iris = load_iris(as_frame=True)
    tree = C45(**options).fit(iris.data, iris.target)
    return TreeDisplay.from_estimator(tree, class_names=iris.target_names)


def check_apart(display, *, dpi=None):
    """Measure the texts and frames against the edges and against each other, in pixels."""
    figure = display.figure_
    if dpi:
        figure.set_dpi(dpi)
    figure.canvas.draw()
    boxes = [text.get_bbox_patch().get_window_extent() for text in display.boxes_]
    texts = [*boxes, *(text.get_window_extent() for text in display.tests_)]
    inner = [Bbox.from_extents(b.x0 + 1, b.y0 + 1, b.x1 - 1, b.y1 - 1) for b in texts]
    corners = np.array([[b.x0, b.y0, b.x1, b.y1] for b in inner])
    for line in display.edges_.get_segments():
        points = display.ax_.transData.transform(line)
        # Edges bend at right angles: each part is a box of no width or no height.
        for one, two in pairwise(points):
            (x0, y0), (x1, y1) = np.minimum(one, two), np.maximum(one, two)
            assert min(x1 - x0, y1 - y0) < 1e-6
            is_crossed = (
                (corners[:, 0] < x1) & (x0 < corners[:, 2])
                & (corners[:, 1] < y1) & (y0 < corners[:, 3])
            )  # fmt: skip
            assert not is_crossed.any()
    for at, box in enumerate(corners):
        rest = corners[at + 1 :]
        meets = (
            (rest[:, 0] < box[2]) & (box[0] < rest[:, 2])
            & (rest[:, 1] < box[3]) & (box[1] < rest[:, 3])
        )  # fmt: skip
        assert not meets.any()
    page = figure.bbox
    assert corners[:, :2].min() >= 0
    assert (corners[:, 2] <= page.x1).all()
    assert (corners[:, 3] <= page.y1).all()


@pytest.mark.parametrize("orientation", ["auto", "down", "right"])
@pytest.mark.parametrize("dpi", [60, 100, 200])
def test_no_edge_is_drawn_through_a_text(orientation, dpi):
    names = [LONG[at % len(LONG)] for at in range(6)]
    for display in (
        make_chain(40, names=("f1", "petal width (cm)")),
        make_tree(300, 6, 4, names=names, class_names=AWKWARD_CLASSES),
        iris_tree(),
    ):
        check_apart(display.plot(orientation=orientation), dpi=dpi)


def test_a_deep_tree_stays_on_the_page_and_says_what_is_left_out():
    for orientation in ("auto", "down", "right"):
        display = make_chain(100).plot(orientation=orientation)
        width, height = display.figure_.get_size_inches()
        assert width <= 12
        assert height < 30
        n_levels = len(display.layout_.bands) - 1
        assert 3 <= n_levels < 100
        (note,) = (t.get_text() for t in display.boxes_ if "more" in t.get_text())
        assert note == f"… and {100 - n_levels} more levels"
        # every level has a test and a leaf, the last one a note beside its leaf
        assert len(display.boxes_) == 2 * n_levels + 1


def test_max_depth_by_hand():
    # Node 0 asks, 1 is a leaf of 6 and 1, 2 asks, 3 is a leaf of 4 and 1, 4 has children.
    display = make_chain(3).plot(max_depth=2)
    texts = [text.get_text() for text in display.boxes_]
    assert texts == ["f", "a\n(7.0/1.0)", "f", "a\n(5.0/1.0)", "… and 1 more level"]
    assert len(make_chain(3).plot(max_depth=0).boxes_) == 1
    assert len(make_chain(3).plot().boxes_) == 7
    with pytest.raises(MaucError, match="max_depth must be an int of at least 0"):
        make_chain(3).plot(max_depth=-1)
    with pytest.raises(MaucError, match="orientation must be one of"):
        make_chain(3).plot(orientation="up")


def test_a_tree_of_one_leaf():
    display = make_chain(0).plot()
    assert len(display.boxes_) == 1
    assert display.tests_ == []


def test_a_wide_tree_turns_to_the_right_and_a_small_one_stays_upright():
    assert iris_tree().plot().layout_.is_down
    wide = make_tree(1500, 6, 26).plot()
    assert not wide.layout_.is_down
    assert len(wide.boxes_) > len(make_tree(1500, 6, 26).plot(orientation="down").boxes_)


def test_tests_stand_before_the_box_they_lead_to():
    display = iris_tree().plot()
    assert display.boxes_[0].get_text() == "petal width (cm)"
    assert [test.get_text() for test in display.tests_[:2]] == ["<= 0.6", "> 0.6"]
    for test, box in zip(display.tests_, display.boxes_[1:], strict=True):
        assert test.get_position()[0] == box.get_position()[0]
        assert test.get_position()[1] < box.get_position()[1]  # y grows downwards


@pytest.mark.parametrize("size", [(6, 4), (3, 8), (2, 2)])
def test_given_axes_are_filled_as_far_as_they_go(size):
    figure, ax = matplotlib.pyplot.subplots(figsize=size)
    display = make_chain(30).plot(ax)
    assert display.figure_ is figure
    assert figure.get_size_inches().tolist() == list(size)
    assert any("more level" in text.get_text() for text in display.boxes_)
    check_apart(display)


def test_names_with_dollars_are_no_formulas():
    display = make_tree(200, 2, 2, names=["$a$", "b$"], class_names=["$5", "$10"]).plot()
    texts = [text.get_text() for text in display.boxes_]
    assert any(r"\$" in text for text in texts)
    display.figure_.canvas.draw()
