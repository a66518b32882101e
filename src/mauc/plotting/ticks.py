"""Names along an axis, as many as stay readable."""

from collections.abc import Callable, Sequence
from typing import Any

MOST_TICKS = 60  # labels that stay readable along one axis


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
    set_ticks(range(0, len(names), step), [str(name) for name in names[::step]], **options)
