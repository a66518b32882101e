"""Demšar's diagram: mean ranks of selectors, a bar joins those that do not differ."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mauc.checks import check_choice
from mauc.exceptions import MaucError
from mauc.plotting.axes import MAX_WIDTH, new_axes, room_for
from mauc.plotting.styles import selector_label
from mauc.stats import (
    average_ranks,
    critical_difference,
    holm_test,
    problem_scores,
    rank_cliques,
)
from mauc.stats.rows import labels_of, rows_of

_POSTHOC = {"holm": "Holm", "nemenyi": "Nemenyi"}


class CriticalDifferenceDisplay:
    """Mean ranks on a line, best to the left; a bar joins those without a significant difference.

    Parameters
    ----------
    names : sequence of str
    ranks : ndarray of shape (n_selectors,)
        Mean ranks, 1 is best.
    difference : float
        Ranks so far apart differ.
    n_problems : int
    posthoc : {"holm", "nemenyi"}
        Where the difference comes from; that of Nemenyi is drawn as a ruler.

    Attributes
    ----------
    cliques_ : list of tuple of int
        Selectors joined by a bar, as positions in names.
    ax_, figure_ : matplotlib Axes and Figure

    Notes
    -----
    Holm's steps reject the pairs of largest rank difference, so they too come down to one
    difference: the smallest rejected one.

    Ranks over cells (data set, classifier, size) are many but not independent; the tests then
    give p-values that are too small. Ranks over data sets are what [1]_ means.

    References
    ----------
    .. [1] J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7
       (2006).

    Examples
    --------
    >>> from mauc.plotting.critical_difference import CriticalDifferenceDisplay
    >>> scores = [[0.9, 0.8, 0.7]] * 6
    >>> display = CriticalDifferenceDisplay.from_scores(scores, ["mdfs", "chi", "su"])
    >>> display.cliques_
    [(0, 1), (1, 2)]
    """

    def __init__(
        self, names: Sequence[str], ranks: Any, *, difference: float, n_problems: int, posthoc: str
    ) -> None:
        self.names = list(names)
        self.ranks = np.asarray(ranks, dtype=float)
        self.difference = difference
        self.n_problems = n_problems
        self.posthoc = posthoc
        self.cliques_ = rank_cliques(self.ranks, difference)

    @classmethod
    def from_scores(
        cls, scores: Any, names: Sequence[str], *, posthoc: str = "holm", alpha: float = 0.05
    ) -> "CriticalDifferenceDisplay":
        """Rank scores of shape (n_problems, n_selectors), larger is better."""
        check_choice("posthoc", posthoc, _POSTHOC)
        scores = np.asarray(scores, dtype=float)
        if scores.ndim != 2 or min(scores.shape) < 2:
            want = "at least 2 problems that all selectors have and 2 selectors"
            raise MaucError(f"mean ranks need {want}, got scores of shape {scores.shape}.")
        ranks = average_ranks(scores)
        if posthoc == "nemenyi":
            difference = critical_difference(scores.shape[1], len(scores), alpha)
        else:
            pairs = holm_test(scores, [str(name) for name in names], alpha=alpha)
            told_apart = pairs[pairs["mark"] != "none"]
            apart = (told_apart["other_rank"] - told_apart["rank"]).abs()
            difference = float(apart.min()) if len(apart) else np.inf
        return cls(names, ranks, difference=difference, n_problems=len(scores), posthoc=posthoc)

    @classmethod
    def from_run(
        cls,
        run: Any,
        *,
        problems: str = "dataset",
        posthoc: str = "holm",
        alpha: float = 0.05,
        classifiers: Iterable[str] | str | None = None,
        selectors: Iterable[str] | str | None = None,
    ) -> "CriticalDifferenceDisplay":
        """Rank the selectors of a run.

        Parameters
        ----------
        run : DataFrame or path
            The rows of a run, or its folder.
        problems : {"dataset", "cell"}, default="dataset"
            Rank the means of data sets, or each data set, classifier and size by itself.
        posthoc : {"holm", "nemenyi"}, default="holm"
        alpha : float, default=0.05
        classifiers, selectors : sequences of str, optional
            What to rank; everything by default.

        Returns
        -------
        display : CriticalDifferenceDisplay
        """
        rows = rows_of(run)
        rows = rows[rows["classifier"].isin(labels_of(rows, "classifier", classifiers))]
        rows = rows[rows["selector"].isin(labels_of(rows, "selector", selectors))]
        scores = problem_scores(rows, problems)
        return cls.from_scores(scores, list(scores.columns), posthoc=posthoc, alpha=alpha)

    def to_frame(self) -> Any:
        """Return selector and mean rank as a DataFrame, best first."""
        import pandas as pd

        frame = pd.DataFrame({"selector": self.names, "rank": self.ranks})
        return frame.sort_values("rank", kind="stable").reset_index(drop=True)

    def plot(self, ax: Any = None) -> "CriticalDifferenceDisplay":
        """Draw the diagram.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure of fitting size by default.

        Returns
        -------
        self : CriticalDifferenceDisplay
        """
        n = len(self.names)
        bars = self._bar_levels()
        n_levels = max([level for *_, level in bars], default=-1) + 1
        n_lines = -(-n // 2)
        low, high = self._limits()
        has_ruler = self.posthoc == "nemenyi" and self.difference < high - low
        top = 0.9 + 0.55 * n_levels  # where the first name stands below the axis, in lines
        if ax is None:
            width = 3.6 + 2 * (0.5 + room_for([selector_label(name) for name in self.names]))
            ax = new_axes(figsize=(min(width, MAX_WIDTH), 0.9 + 0.24 * (top + n_lines + has_ruler)))
        order = np.argsort(self.ranks, kind="stable")
        ink = {"color": "black", "linewidth": 0.9, "clip_on": False}
        pad = 0.03 * (high - low)
        for at, index in enumerate(order):
            # The better half goes to the left, from the top; the other to the right, from below.
            is_left = at < n_lines
            line = top + (at if is_left else n - 1 - at)
            edge, side = (low - pad, "right") if is_left else (high + pad, "left")
            rank = self.ranks[index]
            ax.plot([rank, rank, edge], [0, line, line], **ink)
            name, number = selector_label(self.names[index]), f"{rank:.2f}"
            text = f"{name}  {number} " if is_left else f" {number}  {name}"
            ax.text(edge, line, text, ha=side, va="center", fontsize=9)
        for left, right, level in bars:
            height = 0.55 + 0.55 * level
            reach = 0.008 * (high - low)
            ax.plot([left - reach, right + reach], [height, height], color="black", linewidth=3.2,
                    solid_capstyle="butt", clip_on=False)  # fmt: skip
        ax.set_xlim(low, high)
        ax.set_ylim(top + n_lines - 0.4 + has_ruler, 0)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set_xticks(range(low, high + 1))
        ax.set_xlabel(self._title(), fontsize=9, labelpad=8)
        ax.yaxis.set_visible(False)
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        if has_ruler:
            self._draw_ruler(ax, low, top + n_lines + 0.1)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _limits(self) -> tuple[int, int]:
        # The axis covers the ranks present: 1 to n would waste the width.
        low, high = int(np.floor(self.ranks.min())), int(np.ceil(self.ranks.max()))
        return (low, high) if high > low else (low, low + 1)

    def _bar_levels(self) -> list[tuple[float, float, int]]:
        bars: list[tuple[float, float, int]] = []
        ends: list[float] = []  # of the last bar on each level
        room = 0.03 * (self.ranks.max() - self.ranks.min())
        for clique in self.cliques_:
            left, right = self.ranks[list(clique)].min(), self.ranks[list(clique)].max()
            level = next((at for at, end in enumerate(ends) if end + room < left), len(ends))
            ends[level : level + 1] = [right]
            bars.append((left, right, level))
        return bars

    def _title(self) -> str:
        test = _POSTHOC[self.posthoc]
        return f"mean rank over {self.n_problems} problems (bar: no significant difference, {test})"

    def _draw_ruler(self, ax: Any, low: int, line: float) -> None:
        end = low + self.difference
        ax.plot([low, end], [line, line], color="black", linewidth=0.9)
        ax.plot([low, end], [line, line], color="black", marker="|", markersize=7, linestyle="")
        ax.text(end, line, f"  CD = {self.difference:.2f}", va="center", fontsize=8)
