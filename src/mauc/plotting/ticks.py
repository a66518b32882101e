"""Names along an axis, as many as stay readable."""

from collections.abc import Callable, Sequence
from typing import Any

MOST_TICKS = 60  # labels that stay readable along one axis
MOST_LETTERS = 30  # of a label; the rest is left out
_INCHES = 0.075  # a letter of a label takes


def label_axis(set_ticks: Callable[..., Any], names: Sequence[Any], **options: Any) -> None:
    """Label places 0, 1, ... by their names, or every n-th of them if there are many.

    Parameters
    ----------
    set_ticks : callable
        Such as ``ax.set_xticks``.
    names : sequence
    **options
        Of the texts.
    """
    step = -(-len(names) // MOST_TICKS)
    set_ticks(range(0, len(names), step), [shorten(name) for name in names[::step]], **options)


def shorten(name: Any) -> str:
    """Return a name of at most `MOST_LETTERS` letters."""
    text = str(name)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


def room_for(names: Sequence[Any]) -> float:
    """Return the inches that the longest of some labels takes."""
    return _INCHES * max((len(shorten(name)) for name in names), default=0)
