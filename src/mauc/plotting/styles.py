"""What the displays of a run share: styles, panels and legends."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mauc.exceptions import MaucError
from mauc.plotting.axes import new_axes
from mauc.registry import PAPER_SELECTORS
from mauc.stats.rows import shown_name

# Okabe and Ito's colours for all kinds of colour vision, but the yellow, pale on paper. A style
# is a colour, a line and a marker in cycles of 7, 7 x 3 and 10, so 21 selectors stay apart.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_LINES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

_MAX_BELOW = 9  # names of a legend below the panels


def selector_styles(selectors: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return colour, line and marker of each selector, the same for the paper's in all plots.

    Examples
    --------
    >>> from mauc.plotting.styles import selector_styles
    >>> selector_styles(["chi", "mdfs"])["mdfs"]["color"]
    '#000000'
    """
    others = [name for name in selectors if name.lower() not in PAPER_SELECTORS]
    places = [*PAPER_SELECTORS, *others]
    styles = {}
    for name in selectors:
        at = places.index(name if name in others else name.lower())
        styles[name] = {
            "color": _COLOURS[at % len(_COLOURS)],
            "linestyle": _LINES[at // len(_COLOURS) % len(_LINES)],
            "marker": _MARKERS[at % len(_MARKERS)],
        }
    return styles


def make_panels(ax: Any, n_rows: int, n_columns: int, *, size: tuple[float, float]) -> Any:
    """Return an array of Axes (n_rows, n_columns): those given, or those of a new figure."""
    if ax is None:
        figsize = (size[0] * n_columns + 0.6, size[1] * n_rows + 0.5)
        if n_rows * n_columns == 1:
            figsize = (6.4, 4.2)
        return new_axes(n_rows, n_columns, figsize=figsize, squeeze=False)
    axes = np.atleast_1d(np.asarray(ax, dtype=object))
    if axes.size != n_rows * n_columns:
        want = f"{n_rows * n_columns} Axes ({n_rows} x {n_columns} panels)"
        raise MaucError(f"ax must hold {want}, got {axes.size}.")
    return axes.reshape(n_rows, n_columns)


def add_legend(
    axes: Any, selectors: Sequence[str], styles: dict[str, Any], *, may_grow: bool
) -> None:
    """Put one legend for all panels below them, or, of many names, to their right.

    A figure of our own grows by the width or height of the legend, so that panels keep theirs.
    """
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], **styles[name], markersize=4, label=shown_name("selector", name))
        for name in selectors
    ]
    figure = axes.flat[0].figure
    width, height = figure.get_size_inches()
    entry = 0.72 + 0.075 * max(len(shown_name("selector", name)) for name in selectors)  # inches
    if len(handles) <= _MAX_BELOW:
        # rows of equal length, e.g. 9 names as 5 + 4 and not as 8 + 1
        n_lines = -(-len(handles) // max(1, int(width / entry)))
        place, n_columns, grow = (
            "outside lower center",
            -(-len(handles) // n_lines),
            (0.0, 0.2 * n_lines),
        )
    else:
        n_columns = -(-len(handles) // max(1, int(height / 0.2)))
        place, grow = "outside right center", (entry * n_columns, 0.0)
    figure.legend(
        handles=handles, loc=place, ncols=n_columns, frameon=False, fontsize=8, handlelength=3.2
    )
    if may_grow:
        figure.set_size_inches(width + grow[0], height + grow[1])
