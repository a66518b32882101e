"""How much the selections of a selector agree from split to split."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mauc.checks import unknown_word
from mauc.exceptions import MaucError
from mauc.plotting.styles import add_legend, make_panels, selector_styles
from mauc.stats import selector_stability
from mauc.stats.rows import labels_of, rows_of, shown_name

_MAX_COLUMNS = 3  # panels side by side
_MAX_BANDS = 4  # more bands than these hide each other: thin bars instead


class StabilityDisplay:
    """Stability of each selector against the number of features, or at one number of them.

    Parameters
    ----------
    stability : DataFrame
        Columns dataset, selector, size, stability, lower, upper, n, as
        `mauc.stats.selector_stability` gives.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One per data set.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure

    See Also
    --------
    mauc.stats.stability : The measure: 1 for equal selections, 0 for those drawn at random.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.plotting.stability import StabilityDisplay
    >>> rows = pd.DataFrame({
    ...     "dataset": "glass", "selector": "mdfs", "size": 2, "repeat": 0, "fold": [0, 1, 2],
    ...     "features": [[0, 1], [0, 1], [0, 2]], "n_features": 4})
    >>> StabilityDisplay.from_run(rows).frame()[["selector", "size", "stability"]].round(3)
      selector  size  stability
    0     mdfs     2      0.333
    """

    def __init__(self, stability: Any) -> None:
        self.stability = stability

    @classmethod
    def from_run(
        cls,
        run: Any,
        *,
        datasets: Iterable[str] | str | None = None,
        selectors: Iterable[str] | str | None = None,
    ) -> "StabilityDisplay":
        """Measure the selections of a run.

        Parameters
        ----------
        run : DataFrame or path
            The rows of a run, or its folder.
        datasets, selectors : sequences of str, optional
            What to show; everything by default.

        Returns
        -------
        display : StabilityDisplay
        """
        rows = rows_of(run)
        rows = rows[rows["dataset"].isin(labels_of(rows, "dataset", datasets))]
        rows = rows[rows["selector"].isin(labels_of(rows, "selector", selectors))]
        return cls(selector_stability(rows))

    def frame(self) -> Any:
        """Return the numbers as a DataFrame, one row per data set, selector and size."""
        return self.stability.copy()

    def plot(self, ax: Any = None, *, size: int | None = None) -> "StabilityDisplay":
        """Draw the stability.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, optional
            Where to draw, one Axes for each data set; a new figure by default.
        size : int, optional
            Show this number of features alone, a line per selector with its 95 % interval,
            the most stable on top. By default curves over all sizes, with their intervals.

        Returns
        -------
        self : StabilityDisplay
        """
        shown = self.stability
        if len(shown) == 0:
            raise MaucError("stability needs at least one selection to show, got none.")
        if size is not None:
            sizes = sorted(int(k) for k in shown["size"].unique())
            if size not in sizes:
                raise unknown_word("size", size, sizes)
            shown = shown[shown["size"] == size]
        datasets, selectors = labels_of(shown, "dataset"), labels_of(shown, "selector")
        n_columns = min(len(datasets), _MAX_COLUMNS)
        n_rows = -(-len(datasets) // n_columns)
        height = 2.6 if size is None else 0.9 + 0.22 * len(selectors)
        if ax is None:
            axes = make_panels(None, n_rows, n_columns, size=(3.4, height))
        else:
            axes = make_panels(ax, 1, len(datasets), size=(0, 0))
        styles = selector_styles(selectors)
        used = axes.ravel()[: len(datasets)]
        for here, dataset in zip(used, datasets, strict=True):
            panel = shown[shown["dataset"] == dataset]
            if size is None:
                _draw_curves(here, panel, styles)
            else:
                _draw_intervals(here, panel, styles)
                here.set_xlabel(f"stability of {size} features")
            here.set_title(shown_name("dataset", dataset), fontsize=10)
            here.spines[["top", "right"]].set_visible(False)
        for unused in axes.ravel()[len(datasets) :]:
            unused.remove()
        if size is None:
            add_legend(used, selectors, styles, may_grow=ax is None)
        self.axes_, self.ax_, self.figure_ = used, used[0], used[0].figure
        return self


def _draw_curves(ax: Any, panel: Any, styles: dict[str, Any]) -> None:
    n_selectors = panel["selector"].nunique()
    sizes = np.unique(panel["size"])
    gap = np.diff(sizes).min() if len(sizes) > 1 else 1.0
    for at, (selector, curve) in enumerate(panel.groupby("selector", sort=False)):
        style = styles[selector]
        x, y = curve["size"].to_numpy(float), curve["stability"].to_numpy()
        lower, upper = curve["lower"].to_numpy(), curve["upper"].to_numpy()
        if n_selectors <= _MAX_BANDS:
            ax.fill_between(x, lower, upper, color=style["color"], alpha=0.13, lw=0)
        else:
            x = x + 0.4 * gap * (at / (n_selectors - 1) - 0.5)
            ax.vlines(x, lower, upper, colors=style["color"], linewidth=0.6, alpha=0.55)
        ax.plot(x, y, **style, markersize=3.6, linewidth=1.3)
    ax.set_xlabel("number of features")
    ax.set_ylabel("stability")
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)


def _draw_intervals(ax: Any, panel: Any, styles: dict[str, Any]) -> None:
    panel = panel.sort_values("stability", ascending=False, kind="stable", na_position="last")
    for place, row in enumerate(panel.itertuples(index=False)):
        style = styles[row.selector]
        ax.hlines(place, row.lower, row.upper, colors=style["color"], linewidth=1.6)
        ax.plot(row.stability, place, color=style["color"], marker=style["marker"], markersize=5)
    names = [shown_name("selector", name) for name in panel["selector"]]
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(right=1.02)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
