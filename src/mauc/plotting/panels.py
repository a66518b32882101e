"""Panels of a figure, and what is not measured: no panel stays empty."""

from typing import Any, NamedTuple

import numpy as np

from mauc.exceptions import MaucError
from mauc.plotting.axes import MAX_WIDTH, new_axes

_MAX_COLUMNS = 3  # panels side by side, if they form no table
_MARGIN = (0.6, 0.5)  # inches


class Panels(NamedTuple):
    """Axes in the order of what they show, and where they stand."""

    axes: Any  #: ndarray of Axes, shape (n_panels,)
    free: Any  #: Axes of the first place without a panel, or None
    n_columns: int

    @property
    def lowest(self) -> Any:
        """The last panel of every column."""
        return self.axes[-self.n_columns :]

    @property
    def leftmost(self) -> Any:
        """The first panel of every row."""
        return self.axes[:: self.n_columns]


def make_panels(
    ax: Any, n_panels: int, *, size: tuple[float, float], n_columns: int | None = None
) -> Panels:
    """Return the Axes of some panels: those given, or those of a new figure.

    Parameters
    ----------
    ax : matplotlib Axes, array of them or None
    n_panels : int
    size : tuple of float
        Width and height of a panel in inches; panels become narrower where a figure would be
        wider than `MAX_WIDTH`.
    n_columns : int, optional
        Panels per row; by default as few rows of up to three panels as possible, of equal length.

    Returns
    -------
    panels : Panels
    """
    if n_columns is None:
        n_rows = -(-n_panels // _MAX_COLUMNS)
        n_columns = -(-n_panels // n_rows)
    n_rows = -(-n_panels // n_columns)
    if ax is None:
        width = min(size[0] * n_columns + _MARGIN[0], MAX_WIDTH)
        axes = new_axes(
            n_rows, n_columns, figsize=(width, size[1] * n_rows + _MARGIN[1]), squeeze=False
        ).ravel()
        for unused in axes[n_panels + 1 :]:
            unused.remove()
        free = axes[n_panels] if len(axes) > n_panels else None
        return Panels(axes[:n_panels], free, n_columns)
    axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if axes.size != n_panels:
        shape = f" ({n_rows} x {n_columns} panels)" if n_rows * n_columns == n_panels else ""
        raise MaucError(f"ax must hold {n_panels} Axes{shape}, got {axes.size}.")
    return Panels(axes, None, n_columns)


def say_nothing_measured(ax: Any, text: str) -> None:
    """Write into a panel why it shows no value."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.35")
    ax.set_xticks([])
    ax.set_yticks([])
