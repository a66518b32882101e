"""New figures, and names along an axis, as many as stay readable."""

from collections.abc import Callable, Sequence
from typing import Any

from mauc.extras import optional_import

MAX_TICKS = 60  # labels that stay readable along one axis
MAX_LETTERS = 30  # of a label; the rest is left out
_INCHES = 0.075  # width of one letter of a label


def new_axes(*shape: int, **options: Any) -> Any:
    """Return the Axes of a new figure; shape and options are those of ``plt.subplots``."""
    plt = optional_import("matplotlib.pyplot", "plots")
    return plt.subplots(*shape, **{"layout": "constrained", **options})[1]


def label_axis(set_ticks: Callable[..., Any], names: Sequence[Any], **options: Any) -> None:
    """Label positions 0, 1, ... by their names, or every k-th of them if there are many.

    Parameters
    ----------
    set_ticks : callable
        Such as ``ax.set_xticks``.
    names : sequence
    **options
        Of the texts.
    """
    step = -(-len(names) // MAX_TICKS)
    set_ticks(range(0, len(names), step), [shorten(name) for name in names[::step]], **options)


def shorten(name: Any) -> str:
    """Return a name of at most `MAX_LETTERS` letters."""
    text = str(name)
    return text if len(text) <= MAX_LETTERS else text[: MAX_LETTERS - 1] + "…"


def room_for(names: Sequence[Any]) -> float:
    """Return the inches that the longest of some labels takes."""
    return _INCHES * max((len(shorten(name)) for name in names), default=0)
