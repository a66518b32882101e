"""The selection trace: which sub-problem asked for which feature, and when."""

from typing import Any

import numpy as np

from mauc.data.validate import check_fitted
from mauc.plotting.axes import MAX_WIDTH, label_axis, new_axes, room_for

_MAX_RANKS = 6  # colours of single ranks


class TraceDisplay:
    """Which sub-problem asked for each feature, step by step.

    A column is a step, a row is a sub-problem (a class pair, or a class against the rest) that
    asked for a feature at least once. The colour of a dot is the rank of the
    feature in the list of its sub-problem, 1 for the best; larger ranks share colours.

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
        check_fitted(selector)
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
            width = max(4.0, 2.4 + 0.22 * n_steps + room_for(names))
            height = max(2.0, min(1.4 + 0.2 * len(subproblems), 10))
            height += room_for(self.trace.feature_names)
            ax = new_axes(figsize=(min(width, MAX_WIDTH), height))
        import matplotlib as mpl
        from matplotlib.colors import BoundaryNorm

        ranks = self.trace.ranks
        last = rank_classes(int(ranks.max()))
        edges = np.concatenate([[0.5], last + 0.5])
        colours = mpl.colormaps["viridis_r"].resampled(len(last))
        self.dots_ = ax.scatter(
            np.arange(n_steps), rows, c=ranks, cmap=colours, edgecolors="black",
            linewidths=0.5, s=28 if n_steps <= 120 else 12,
            norm=BoundaryNorm(edges, len(last)), zorder=2,
        )  # fmt: skip
        ax.set_axisbelow(True)
        ax.grid(axis="y", color="0.9", linewidth=0.6)
        label_axis(ax.xaxis, self.trace.feature_names)
        label_axis(ax.yaxis, names)
        ax.set_xlim(-0.7, n_steps - 0.3)
        ax.set_ylim(len(subproblems) - 0.3, -0.7)  # the first on top
        ax.set_xlabel("feature, in order of selection")
        ax.set_ylabel("chosen for")
        bar = ax.figure.colorbar(
            self.dots_, ax=ax, label="rank in its list", pad=0.02, spacing="uniform",
            ticks=(edges[1:] + edges[:-1]) / 2,
        )  # fmt: skip
        first = np.concatenate([[1], last[:-1] + 1])
        bar.ax.set_yticklabels(
            [f"{a}" if a == b else f"{a}–{b}" for a, b in zip(first, last, strict=True)]
        )
        bar.ax.tick_params(length=0)
        bar.minorticks_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def rank_classes(highest: int) -> np.ndarray:
    """Return the last rank of every colour: each rank its own, or few classes if there are many.

    Examples
    --------
    >>> from mauc.plotting.trace import rank_classes
    >>> rank_classes(4).tolist()
    [1, 2, 3, 4]
    >>> rank_classes(48).tolist()
    [1, 2, 5, 10, 20, 48]
    """
    if highest <= _MAX_RANKS:
        return np.arange(1, highest + 1)
    steps = [digit * 10**power for power in range(len(str(highest))) for digit in (1, 2, 5)]
    # The last class begins at no more than half of the highest rank.
    return np.array([*(rank for rank in steps if 2 * rank <= highest), highest])
