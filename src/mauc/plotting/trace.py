"""The selection trace: which sub-problem asked for which feature, and when."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mauc.plotting.axes import label_axis, new_axes, room_for


class TraceDisplay:
    """Which sub-problem asked for each feature, step by step.

    A column is a step, a row is a sub-problem (a class pair, or a class against the rest) that
    asked for a feature at least once. The colour of a dot is the rank of the
    feature in the list of its sub-problem, 1 for the best.

    Parameters
    ----------
    trace : SelectionTrace

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    dots_ : matplotlib PathCollection

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MDFS
    >>> from mauc.plotting import TraceDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = TraceDisplay.from_selector(MDFS(4, random_state=0).fit(X, y))
    >>> display.frame()["subproblem_name"].tolist()
    ['0 vs 1', '0 vs 2', '0 vs 1', '0 vs 2']
    """

    def __init__(self, trace: Any) -> None:
        self.trace = trace

    @classmethod
    def from_selector(cls, selector: Any) -> "TraceDisplay":
        """Take the trace of a fitted selector."""
        check_is_fitted(selector)
        return cls(selector.trace_)

    def frame(self) -> Any:
        """Return the trace as a pandas DataFrame, one row per step."""
        return self.trace.to_frame()

    def plot(self, ax: Any = None) -> "TraceDisplay":
        """Draw the trace.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure of fitting size by default.
        """
        subproblems, first, rows = np.unique(
            self.trace.subproblems, return_index=True, return_inverse=True
        )
        names = self.trace.subproblem_names[first]
        n_steps = len(self.trace)
        if ax is None:
            width = min(2.4 + 0.22 * n_steps, 13) + room_for(names)
            height = min(1.4 + 0.2 * len(subproblems), 10) + room_for(self.trace.feature_names)
            ax = new_axes(figsize=(width, height))
        from matplotlib.colors import LogNorm

        ranks = self.trace.ranks
        self.dots_ = ax.scatter(
            np.arange(n_steps), rows, c=ranks, cmap="cividis_r", edgecolors="black",
            linewidths=0.5, s=28 if n_steps <= 120 else 9,
            norm=LogNorm(1, max(2, int(ranks.max()))), zorder=2,
        )  # fmt: skip
        ax.set_axisbelow(True)
        ax.grid(axis="y", color="0.9", linewidth=0.6)
        label_axis(ax.set_xticks, self.trace.feature_names, rotation=90)
        label_axis(ax.set_yticks, names)
        ax.invert_yaxis()
        ax.set_xlabel("feature, in order of selection")
        ax.set_ylabel("asked for by")
        bar = ax.figure.colorbar(self.dots_, ax=ax, label="rank in its list", pad=0.02)
        highest = int(ranks.max())
        ticks = [rank for rank in (1, 2, 5, 10, 20, 50, 100, 200, 500) if 2 * rank <= highest]
        ticks = sorted({1, *ticks, highest})
        bar.set_ticks(ticks, labels=[str(rank) for rank in ticks])
        bar.minorticks_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self
