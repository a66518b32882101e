"""Every display, small or large, can be read: nothing is clipped, covered, crowded or empty."""

from itertools import pairwise

import pytest
from matplotlib.text import Annotation, Text

from mauc.plotting import __all__
from tests.helpers.plot_cases import cases

CASES = cases()


@pytest.fixture(params=CASES)
def drawn(request):
    display = CASES[request.param]()
    display.figure_.canvas.draw()
    return display


def extent(text):
    """Return the box of the letters, without the line from a label to its curve."""
    return (
        Text.get_window_extent(text) if isinstance(text, Annotation) else text.get_window_extent()
    )


def shown_axes(figure):
    found = list(figure.axes)
    for ax in figure.axes:
        found += ax.child_axes
    return [ax for ax in found if ax.get_visible()]


def tick_labels(ax, axis):
    """Return the labels of an axis that are drawn."""
    low, high = sorted(axis.get_view_interval())
    labels = [
        label
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high
        for label in (tick.label1, tick.label2)
    ]
    is_drawn = ax.axison and axis.get_visible()
    return [label for label in labels if is_drawn and label.get_visible() and label.get_text()]


def drawn_texts(figure):
    """Return all texts that are drawn; Matplotlib holds ticks outside an axis, too."""
    axes = [(ax, axis) for ax in shown_axes(figure) for axis in (ax.xaxis, ax.yaxis)]
    of_axes = {text for _, axis in axes for text in axis.findobj(Text)}
    others = [text for text in figure.findobj(Text) if text not in of_axes]
    names = [axis.label for ax, axis in axes if ax.axison and axis.get_visible()]
    ticks = [label for ax, axis in axes for label in tick_labels(ax, axis)]
    return [t for t in (*others, *names, *ticks) if t.get_visible() and t.get_text().strip()]


def check_size(figure):
    width, height = figure.get_size_inches()
    assert width <= 12
    assert height < 30


def check_nothing_is_clipped(figure):
    page = figure.bbox.padded(1)
    for text in drawn_texts(figure):
        box = extent(text)
        assert page.x0 <= box.x0 <= box.x1 <= page.x1, text
        assert page.y0 <= box.y0 <= box.y1 <= page.y1, text


def check_ticks_are_apart(figure):
    for ax in shown_axes(figure):
        across = sorted(map(extent, tick_labels(ax, ax.xaxis)), key=lambda box: box.x0)
        assert all(left.x1 <= right.x0 + 1 for left, right in pairwise(across))
        up = sorted(map(extent, tick_labels(ax, ax.yaxis)), key=lambda box: box.y0)
        assert all(low.y1 <= high.y0 + 2 for low, high in pairwise(up))


def check_no_panel_is_empty(figure):
    for ax in shown_axes(figure):
        if ax.axison:
            marks = [*ax.lines, *ax.collections, *ax.images, *ax.patches, *ax.texts]
            assert marks, ax.get_title()


def check_legends_hide_nothing(figure):
    legends = list(figure.legends)
    for ax in shown_axes(figure):
        legends += [ax.get_legend()] if ax.get_legend() else []
    for legend in legends:
        box = legend.get_window_extent()
        for ax in shown_axes(figure):
            if ax.axison and (ax.lines or ax.collections or ax.patches):
                panel = ax.get_window_extent()
                wide = min(box.x1, panel.x1) - max(box.x0, panel.x0)
                high = min(box.y1, panel.y1) - max(box.y0, panel.y0)
                assert min(wide, high) <= 6, "a legend covers a panel"
            for title in (ax.title, ax._left_title):
                assert not (title.get_text() and extent(title).overlaps(box)), title


def check_colour_bars_are_named(figure):
    for ax in figure.axes:
        if hasattr(ax, "_colorbar"):
            assert ax.get_ylabel()


def test_it_can_be_read(drawn):
    figure = drawn.figure_
    check_size(figure)
    check_nothing_is_clipped(figure)
    check_ticks_are_apart(figure)
    check_no_panel_is_empty(figure)
    check_legends_hide_nothing(figure)
    check_colour_bars_are_named(figure)


def test_every_display_is_among_the_cases():
    shortest = {
        "CriticalDifference": "ranks",
        "WinDrawLoss": "wins",
        "PairMap": "map",
        "SizeCurve": "size_curve",
        "CostCurve": "cost_curve",
    }
    for name in __all__:
        kind = name.removesuffix("Display")
        assert any(case.startswith(shortest.get(kind, kind.lower())) for case in CASES)
