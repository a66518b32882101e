"""How much the selections of a selector agree from split to split."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mauc.checks import unknown_choice
from mauc.exceptions import MaucError
from mauc.plotting.axes import room_for, shorten
from mauc.plotting.panels import make_panels, say_nothing_measured
from mauc.plotting.spread import draw_curves, mark_sizes
from mauc.plotting.styles import add_legend, selector_label, selector_styles
from mauc.stats import selector_stability
from mauc.stats.rows import labels_of, rows_of, shown_name


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
    >>> StabilityDisplay.from_run(rows).to_frame()[["selector", "size", "stability"]].round(3)
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

    def to_frame(self) -> Any:
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
                raise unknown_choice("size", size, sizes)
            shown = shown[shown["size"] == size]
        selectors = labels_of(shown, "selector")
        # A data set with fewer than two selections has no panel, unless no other has one.
        known = shown[shown["stability"].notna()]
        datasets = labels_of(known, "dataset") or labels_of(shown, "dataset")[:1]
        panel_size = (3.4, 2.6) if len(datasets) > 1 else (5.2, 3.7)
        if size is not None:
            names = [selector_label(name) for name in selectors]
            panel_size = (2.2 + room_for(names), 0.9 + 0.22 * len(selectors))
        panels = make_panels(ax, len(datasets), size=panel_size)
        styles = selector_styles(selectors)
        for here, dataset in zip(panels.axes, datasets, strict=True):
            panel = shown[shown["dataset"] == dataset]
            here.set_title(shorten(shown_name("dataset", dataset)), fontsize=10)
            here.spines[["top", "right"]].set_visible(False)
            if len(known) == 0:
                say_nothing_measured(here, "fewer than two selections")
            elif size is None:
                _draw_curves(here, panel, styles)
            else:
                _draw_intervals(here, panel, styles)
                here.set_xlabel(f"stability of {size} features")
        if size is None:
            for here in panels.lowest:
                here.set_xlabel("number of features")
            for here in panels.leftmost:
                here.set_ylabel("stability")
            add_legend(panels.axes, panels.free, selectors, styles, may_grow=ax is None)
        elif panels.free is not None:
            panels.free.remove()
        self.axes_, self.ax_, self.figure_ = panels.axes, panels.axes[0], panels.axes[0].figure
        return self


def _limits(panel: Any) -> tuple[Any, float]:
    """Return the smallest and the largest value that n selections can have."""
    n = panel["n"].to_numpy(float)
    return -1 / np.maximum(n - 1, 1), 1.0


def _draw_curves(ax: Any, panel: Any, styles: dict[str, Any]) -> None:
    columns = ["size", "stability", "lower", "upper"]
    curves = {
        name: tuple(curve[column].to_numpy(float) for column in columns)
        for name, curve in panel.groupby("selector", sort=False)
    }
    draw_curves(ax, curves, styles, (_limits(panel)[0].min(), 1.0))
    mark_sizes(ax, panel["size"].to_numpy())


def _draw_intervals(ax: Any, panel: Any, styles: dict[str, Any]) -> None:
    panel = panel.sort_values("stability", ascending=False, kind="stable", na_position="last")
    lower, upper = (np.clip(panel[end], *_limits(panel)) for end in ("lower", "upper"))
    ends = zip(panel["selector"], panel["stability"], lower, upper, strict=True)
    for place, (name, value, low, high) in enumerate(ends):
        style = {**styles[name], "linestyle": ""}
        ax.hlines(place, low, high, colors=style["color"], linewidth=1.6)
        ax.plot(value, place, **style, markersize=5)
    names = [selector_label(name) for name in panel["selector"]]
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(min(0.0, float(np.nanmin(lower, initial=0.0))) - 0.03, 1.03)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
