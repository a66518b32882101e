"""New figures, and names along an axis, as many as stay readable."""

from collections.abc import Sequence
from typing import Any

from mauc.extras import optional_import

MAX_WIDTH = 12.0  # inches of a new figure: the width of a notebook's cell
MAX_TICKS = 60  # labels that stay readable along one axis
MAX_LETTERS = 34  # of a label; the rest is left out
_INCHES = 0.078  # width of one letter of a label
_LINE = 0.17  # height of one


def new_axes(*shape: int, **options: Any) -> Any:
    """Return the Axes of a new figure; shape and options are those of ``plt.subplots``."""
    plt = optional_import("matplotlib.pyplot", "plots")
    return plt.subplots(*shape, **{"layout": "constrained", **options})[1]


def make_room(figure: Any) -> None:
    """Let a figure without a layout of its own make room for what stands beside its panels."""
    if figure.get_layout_engine() is None and hasattr(figure, "set_layout_engine"):
        figure.set_layout_engine("constrained")


def label_axis(axis: Any, names: Sequence[Any], **options: Any) -> None:
    """Label positions 0, 1, ... by their names, or every k-th of them if there are many.

    Names below a plot are written upright where they do not fit side by side.

    Parameters
    ----------
    axis : matplotlib Axis
        Such as ``ax.xaxis``.
    names : sequence
    **options
        Of the texts.
    """
    width, height = size_in_inches(axis.axes)
    is_below = axis.axis_name == "x"
    room = width if is_below else height
    step = -(-len(names) // max(1, min(MAX_TICKS, int(room / _LINE))))
    shown = [shorten(name) for name in names[::step]]
    if is_below and len(shown) * (room_for(shown) + _INCHES) > room:
        options = {"rotation": 90, **options}
    axis.set_ticks(range(0, len(names), step), shown, **options)


def size_in_inches(ax: Any) -> tuple[float, float]:
    """Return width and height of Axes."""
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi, box.height / ax.figure.dpi


def shorten(name: Any, n_letters: int = MAX_LETTERS) -> str:
    r"""Return a name of at most `n_letters` letters for a plot.

    The middle of a longer one is left out, of a class pair that of both classes. A dollar sign
    stays one: Matplotlib would read a formula between two of them.

    Examples
    --------
    >>> from mauc.plotting.axes import shorten
    >>> shorten("Iris versicolor of the coast vs Iris virginica")
    'Iris ver…e coast vs Iris virginica'
    >>> print(shorten("$5 to $10"))
    \$5 to \$10
    """
    text = " ".join(str(name).split())
    first, vs, second = text.partition(" vs ")
    if vs and len(text) > n_letters:
        room = n_letters - len(vs)
        n_first = min(len(first), max(room // 2, room - len(second)))
        text = f"{_elide(first, n_first)}{vs}{_elide(second, room - n_first)}"
    return _elide(text, n_letters).replace("$", r"\$")


def _elide(text: str, n_letters: int) -> str:
    if len(text) <= n_letters:
        return text
    half = n_letters // 2
    return f"{text[:half]}…{text[half + 1 - n_letters :]}"


def room_for(names: Sequence[Any]) -> float:
    """Return the inches that the longest of some labels takes."""
    return _INCHES * max((len(shorten(name).replace("\\$", "$")) for name in names), default=0)
