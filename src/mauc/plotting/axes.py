"""What displays share: figures and panels, labels of an axis, selector styles, legends, curves."""

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mauc.exceptions import MaucError, printable
from mauc.extras import optional_import
from mauc.layout import escape_latex
from mauc.registry import SELECTORS
from mauc.stats.rows import shown_name

MAX_WIDTH = 12.0  # inches of a new figure: the width of a notebook's cell
MAX_TICKS = 60  # labels that stay readable along one axis
MAX_LETTERS = 34  # of a label; the rest is left out
_LETTER = 0.078  # inches: width of one letter of a label
_LABEL = 0.17  # height of a label
_MAX_COLUMNS = 3  # panels side by side, if they form no table
_MARGIN = (0.6, 0.5)  # inches beside and below the panels

# Okabe and Ito's colours for all kinds of colour vision, but the yellow, pale on paper. A style
# is a colour, a line and a marker in cycles of 7, 7 x 3 and 10; the markers of the second of
# three lines of a colour are hollow. So 21 selectors differ in colour and line, 70 in colour and
# marker.
_COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
VERMILION, BLUE, ORANGE = _COLOURS[1], _COLOURS[2], _COLOURS[5]
_LINES = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

_OURS = ("greedy", "greedymauc")  # drawn thick, over the others

_MAX_BELOW = 9  # names of a legend below the panels
_LEGEND_LINE = 0.2  # inches of a line of the legend
_MAX_BANDS = 4  # more bands than these hide each other: thin bars instead
_MAX_STRONG = 9  # more bars are paler: together they would be darker than the curves
_MAX_SHIFT = 1.4  # points between a bar and its size, below 1 % of a panel


def new_axes(*shape: int, **options: Any) -> Any:
    """Return the Axes of a new figure; shape and options are those of ``plt.subplots``."""
    plt = optional_import("matplotlib.pyplot", "plots")
    return plt.subplots(*shape, **{"layout": "constrained", **options})[1]


def make_room(figure: Any) -> None:
    """Use a constrained layout, which makes room for legends, unless the figure has a layout."""
    if figure.get_layout_engine() is None and hasattr(figure, "set_layout_engine"):
        figure.set_layout_engine("constrained")


class Panels(NamedTuple):
    """Axes of panels, row by row."""

    axes: Any  #: ndarray of Axes, shape (n_panels,)
    n_columns: int


def make_panels(
    ax: Any, n_panels: int, *, size: tuple[float, float], n_columns: int | None = None
) -> Panels:
    """Return the Axes of panels, those given or new ones of a size in inches, as far as it fits."""
    if n_columns is None:
        n_rows = -(-n_panels // _MAX_COLUMNS)
        n_columns = -(-n_panels // n_rows)
    n_rows = -(-n_panels // n_columns)
    if ax is None:
        width = min(size[0] * n_columns + _MARGIN[0], MAX_WIDTH)
        axes = new_axes(
            n_rows, n_columns, figsize=(width, size[1] * n_rows + _MARGIN[1]), squeeze=False
        ).ravel()
        for unused in axes[n_panels:]:
            unused.remove()
        return Panels(axes[:n_panels], n_columns)
    axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if axes.size != n_panels:
        shape = f" ({n_rows} x {n_columns} panels)" if n_rows * n_columns == n_panels else ""
        raise MaucError(f"ax must hold {n_panels} Axes{shape}, got {axes.size}.")
    return Panels(axes, n_columns)


def annotate_empty(ax: Any, text: str) -> None:
    """Write into a panel why it shows no value."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.35")
    ax.set_xticks([])
    ax.set_yticks([])


def label_axis(axis: Any, names: Sequence[object], **options: Any) -> None:
    """Label positions 0, 1, ... of an axis by names, or every k-th; options are those of texts."""
    width, height = size_in_inches(axis.axes)
    is_below = axis.axis_name == "x"
    room = width if is_below else height
    step = -(-len(names) // max(1, min(MAX_TICKS, int(room / _LABEL))))
    shown = [shorten(name) for name in names[::step]]
    if is_below and len(shown) * (room_for(shown) + _LETTER) > room:
        options = {"rotation": 90, **options}
    axis.set_ticks(range(0, len(names), step), shown, **options)


def size_in_inches(ax: Any) -> tuple[float, float]:
    """Return width and height of Axes."""
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def shorten(name: object, n_letters: int = MAX_LETTERS) -> str:
    r"""Return a name of at most `n_letters` letters for a plot, without its middle.

    Of a class pair that of both classes is left out. Signs stay signs: Matplotlib would read a
    formula between two dollars, and LaTeX, where a user lets it set the texts, commands.

    >>> shorten("Iris versicolor of the coast vs Iris virginica")
    'Iris ver…e coast vs Iris virginica'
    """
    text = printable(" ".join(str(name).split()))
    first, vs, second = text.partition(" vs ")
    if vs and len(text) > n_letters:
        room = n_letters - len(vs)
        n_first = min(len(first), max(room // 2, room - len(second)))
        text = f"{_elide(first, n_first)}{vs}{_elide(second, room - n_first)}"
    text = _elide(text, n_letters)
    is_latex = optional_import("matplotlib", "plots").rcParams["text.usetex"]
    return escape_latex(text) if is_latex else text.replace("$", r"\$")


def _elide(text: str, n_letters: int) -> str:
    if len(text) <= n_letters:
        return text
    half = n_letters // 2
    return f"{text[:half]}…{text[half + 1 - n_letters :]}"


def room_for(names: Sequence[object]) -> float:
    """Return the inches that the longest of some labels takes."""
    return _LETTER * max((len(shorten(name).replace("\\$", "$")) for name in names), default=0)


def selector_styles(selectors: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return options of ``ax.plot`` for each selector, always the same for those of the library."""
    styles = {}
    for name, at in _style_numbers(selectors).items():  # other names take styles that are free
        line = at // len(_COLOURS) % len(_LINES)
        colour = _COLOURS[at % len(_COLOURS)]
        is_ours = name.lower() in _OURS
        styles[name] = {
            "linewidth": 2.8 if is_ours else 1.3,
            "zorder": 2.5 if is_ours else 2,
            "color": colour,
            "linestyle": _LINES[line],
            "marker": _MARKERS[at % len(_MARKERS)],
            "markerfacecolor": "white" if line == 1 else colour,
        }
    return styles


def _style_numbers(selectors: Sequence[str]) -> dict[str, int]:
    order = list(SELECTORS)
    numbers = {name: order.index(name) for name in selectors if name in SELECTORS}
    for name in selectors:
        # "MDFS" is drawn as mdfs, unless that is present, too.
        if name.lower() in SELECTORS and order.index(name.lower()) not in numbers.values():
            numbers[name] = order.index(name.lower())
    taken = set(numbers.values())
    free = (at for at in count() if at not in taken)
    return {name: numbers[name] if name in numbers else next(free) for name in selectors}


def selector_label(name: str) -> str:
    """Return how plots write a selector."""
    return shorten(shown_name("selector", name))


def add_legend(
    panels: Panels, selectors: Sequence[str], styles: dict[str, Any], *, may_grow: bool
) -> None:
    """Put one legend below the panels or, of many names, to the right; a new figure may grow."""
    from matplotlib.lines import Line2D

    labels = [selector_label(name) for name in selectors]
    handles = [
        Line2D([], [], **styles[name], markersize=4.5, label=label)
        for name, label in zip(selectors, labels, strict=True)
    ]
    look = {"handles": handles, "frameon": False, "handlelength": 3.2}
    figure = panels.axes[0].figure
    width, height = figure.get_size_inches()
    entry = 0.72 + room_for(labels)  # inches
    n_columns = -(-len(handles) // max(1, int(height / _LEGEND_LINE)))
    if len(handles) > _MAX_BELOW and width + n_columns * entry <= MAX_WIDTH:
        location, grow = "outside right center", (entry * n_columns, 0.0)
    else:
        # rows of equal length, e.g. 9 names as 5 + 4 and not as 8 + 1
        n_lines = -(-len(handles) // max(1, int(width / entry)))
        n_columns = -(-len(handles) // n_lines)
        location, grow = "outside lower center", (0.0, _LEGEND_LINE * n_lines)
    make_room(figure)
    figure.legend(loc=location, ncols=n_columns, fontsize=8, **look)
    if may_grow:
        figure.set_size_inches(width + grow[0], height + grow[1])


def draw_curves(
    ax: Any, curves: dict[str, Any], styles: dict[str, Any], limits: tuple[Any, float]
) -> str:
    """Draw curves (sizes, values, lower and upper ends); return "band" or, of many, "bar"."""
    from matplotlib.transforms import ScaledTranslation

    n_sizes = max((len(curve[0]) for curve in curves.values()), default=0)
    has_bands = len(curves) <= _MAX_BANDS and n_sizes > 1
    shifts = np.linspace(-1, 1, len(curves)) if len(curves) > 1 else np.zeros(1)
    for (name, (sizes, value, lower, upper)), shift in zip(curves.items(), shifts, strict=True):
        style = styles[name]
        # No interval reaches beyond the measure, unless the value itself does.
        lower = np.maximum(lower, np.minimum(value, limits[0]))
        upper = np.minimum(upper, np.maximum(value, limits[1]))
        if has_bands:
            ax.fill_between(sizes, lower, upper, color=style["color"], alpha=0.13, lw=0)
        else:
            # Shifted by about a point, so that one does not hide the others.
            aside = ScaledTranslation(_MAX_SHIFT * shift / 72, 0, ax.figure.dpi_scale_trans)
            ax.vlines(
                sizes,
                lower,
                upper,
                colors=style["color"],
                linewidth=0.6,
                alpha=0.55 if len(curves) <= _MAX_STRONG else 0.35,
                transform=ax.transData + aside,
            )
            ends = np.concatenate([lower, upper])
            is_known = ~np.isnan(ends)
            # Shifted bars do not widen the axis by themselves.
            ax.update_datalim(np.column_stack([np.tile(sizes, 2), ends])[is_known])
        ax.plot(sizes, value, **style, markersize=4.5, markeredgewidth=0.9)
    ax.autoscale_view()
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return "band" if has_bands else "bar"


def mark_sizes(ax: Any, sizes: ArrayLike, chosen: int | None = None) -> None:
    """Put ticks at the sizes and number those that have room, on a logarithmic axis if crowded."""
    sizes = np.unique(sizes)
    is_crowded = len(sizes) > 3 and np.median(sizes) < 0.3 * sizes[-1]
    if is_crowded:
        ax.set_xscale("log")
    positions = np.log(sizes) if is_crowded else sizes.astype(float)
    span = 1.1 * max(positions[-1] - positions[0], 1e-9)
    room = (room_for([sizes[-1]]) + 0.08) / size_in_inches(ax)[0] * span
    labelled: list[int] = []
    # A chosen size is named first, then the largest and the first, then what has room.
    for at in [*np.flatnonzero(sizes == chosen), len(sizes) - 1, 0, *range(len(sizes) - 2, 0, -1)]:
        if all(abs(positions[at] - positions[other]) >= room for other in labelled):
            labelled.append(at)
    ax.set_xticks(sizes[sorted(labelled)], [str(sizes[at]) for at in sorted(labelled)])
    ax.set_xticks(np.delete(sizes, labelled), [""] * (len(sizes) - len(labelled)), minor=True)
    if len(sizes) == 1:
        ax.set_xlim(sizes[0] - 1, sizes[0] + 1)
