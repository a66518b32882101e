"""Colour, line and marker of every selector, and the legend that explains them."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from mauc.plotting.axes import MAX_WIDTH, make_room, room_for, shorten
from mauc.registry import SELECTORS
from mauc.stats.rows import shown_name

# Okabe and Ito's colours for all kinds of colour vision, but the yellow, pale on paper. A style
# is a colour, a line and a marker in cycles of 7, 7 x 3 and 10; the markers of the second of
# three lines of a colour are hollow. So 21 selectors differ in colour and line, 70 in colour and
# marker.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_LINES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

_MAX_BELOW = 9  # names of a legend below the panels
_LINE = 0.2  # inches of a line of the legend


def selector_styles(selectors: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return colour, line and marker of each selector, always the same for those of the library.

    Others take the first styles that are free.

    Parameters
    ----------
    selectors : sequence of str
        Short names of the registry, or any others.

    Returns
    -------
    styles : dict of str to dict
        Options of ``ax.plot``. No two of up to 70 names share colour and marker.

    Examples
    --------
    >>> from mauc.plotting.styles import selector_styles
    >>> selector_styles(["chi", "mdfs"])["mdfs"]["color"]
    '#000000'
    """
    styles = {}
    for name, at in _places(selectors).items():
        line = at // len(_COLOURS) % len(_LINES)
        colour = _COLOURS[at % len(_COLOURS)]
        styles[name] = {
            "color": colour,
            "linestyle": _LINES[line],
            "marker": _MARKERS[at % len(_MARKERS)],
            "markerfacecolor": "white" if line == 1 else colour,
        }
    return styles


def _places(selectors: Sequence[str]) -> dict[str, int]:
    order = list(SELECTORS)
    places = {name: order.index(name) for name in selectors if name in SELECTORS}
    for name in selectors:
        # "MDFS" is drawn as mdfs, unless that is there, too.
        if name.lower() in SELECTORS and order.index(name.lower()) not in places.values():
            places[name] = order.index(name.lower())
    taken = set(places.values())
    free = (at for at in count() if at not in taken)
    return {name: places[name] if name in places else next(free) for name in selectors}


def selector_label(name: str) -> str:
    """Return how plots write a selector."""
    return shorten(shown_name("selector", name))


def add_legend(
    axes: Any, free: Any, selectors: Sequence[str], styles: dict[str, Any], *, may_grow: bool
) -> None:
    """Put one legend for all panels into a free place, below them or, of many names, to the right.

    A figure of our own grows by the width or height of the legend, so that panels keep theirs.

    Parameters
    ----------
    axes : sequence of matplotlib Axes
    free : matplotlib Axes or None
        A place of the grid without a panel.
    selectors : sequence of str
    styles : dict
        Of `selector_styles`.
    may_grow : bool
        Whether the figure is our own.
    """
    from matplotlib.lines import Line2D

    labels = [selector_label(name) for name in selectors]
    handles = [
        Line2D([], [], **styles[name], markersize=4.5, label=label)
        for name, label in zip(selectors, labels, strict=True)
    ]
    look = {"handles": handles, "frameon": False, "handlelength": 3.2}
    figure = axes[0].figure
    width, height = figure.get_size_inches()
    if free is not None:
        n_rows, n_columns = free.get_gridspec().get_geometry()
        n_lines = max(1, int((height / n_rows - 0.6) / 0.17))
        n_legend_columns = -(-len(handles) // n_lines)
        # letters of 7 points
        if n_legend_columns * (0.55 + 0.65 * room_for(labels)) <= width / n_columns - 0.3:
            free.set_axis_off()
            legend = free.legend(
                loc="center", ncols=n_legend_columns, fontsize=7, columnspacing=1.2, **look
            )
            legend.set_in_layout(False)  # panels keep their width
            return
        free.remove()
    entry = 0.72 + room_for(labels)  # inches
    n_columns = -(-len(handles) // max(1, int(height / _LINE)))
    if len(handles) > _MAX_BELOW and width + n_columns * entry <= MAX_WIDTH:
        place, grow = "outside right center", (entry * n_columns, 0.0)
    else:
        # rows of equal length, e.g. 9 names as 5 + 4 and not as 8 + 1
        n_lines = -(-len(handles) // max(1, int(width / entry)))
        n_columns = -(-len(handles) // n_lines)
        place, grow = "outside lower center", (0.0, _LINE * n_lines)
    make_room(figure)
    figure.legend(loc=place, ncols=n_columns, fontsize=8, **look)
    if may_grow:
        figure.set_size_inches(width + grow[0], height + grow[1])
