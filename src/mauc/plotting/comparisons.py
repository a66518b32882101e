"""Selectors of a run compared: win, draw and loss against a baseline, and mean ranks."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mauc.checks import check_choice
from mauc.exceptions import MaucError
from mauc.plotting.axes import (
    BLUE,
    MAX_WIDTH,
    ORANGE,
    make_panels,
    make_room,
    new_axes,
    room_for,
    selector_label,
    shorten,
)
from mauc.stats import (
    PAPER_COMPARISON,
    Comparison,
    average_ranks,
    compare_to,
    critical_difference,
    holm_test,
    problem_scores,
    rank_cliques,
    win_draw_loss,
)
from mauc.stats.rows import labels_of, rows_of, select_rows, shown_name

# Colours of the bars, which differ in grey too, and of the numbers on them.
_PARTS = {"win": (BLUE, "white"), "draw": ("#DDDDDD", "black"), "loss": (ORANGE, "black")}
_ROOM_FOR_DIGIT = 0.03  # share of the axis; narrower parts of a bar stay without their number
_POSTHOC = {"holm": "Holm", "nemenyi": "Nemenyi"}


class WinDrawLossDisplay:
    """Win, draw and loss of a baseline against each selector, a panel per classifier.

    Figure 4 of the paper.

    Parameters
    ----------
    counts : DataFrame
        Columns classifier, selector, win, draw, loss, as `mauc.stats.win_draw_loss` gives.
    comparison : Comparison, default=PAPER_COMPARISON
        Baseline whose wins are counted, test and level.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One per classifier.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and where they are.

    See Also
    --------
    mauc.stats.compare_to : The tests behind the counts.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.plotting import WinDrawLossDisplay
    >>> counts = pd.DataFrame({"classifier": ["nb"], "selector": ["chi"],
    ...                        "win": [7], "draw": [2], "loss": [1]})
    >>> WinDrawLossDisplay(counts).to_frame()
      classifier selector  win  draw  loss
    0         nb      chi    7     2     1
    """

    def __init__(self, counts: Any, comparison: Comparison = PAPER_COMPARISON) -> None:
        self.counts = counts
        self.comparison = comparison

    @classmethod
    def from_run(
        cls,
        run: Any,
        comparison: Comparison = PAPER_COMPARISON,
        *,
        datasets: Iterable[str] | str | None = None,
        classifiers: Iterable[str] | str | None = None,
        ax: Any = None,
    ) -> "WinDrawLossDisplay":
        """Draw the counts of a run, its rows or folder, over all sizes and data sets.

        Parameters
        ----------
        run : DataFrame or path
        comparison : Comparison, default=PAPER_COMPARISON
            Baseline selector, test and level.
        datasets, classifiers : sequences of str, optional
            What to count; everything by default. `ax` is that of `plot`.
        """
        rows = select_rows(rows_of(run), dataset=datasets, classifier=classifiers)
        return cls(win_draw_loss(compare_to(rows, comparison)), comparison).plot(ax)

    def to_frame(self) -> Any:
        """Return the counts as a DataFrame, one row per classifier and selector."""
        return self.counts.copy()

    def plot(self, ax: Any = None) -> "WinDrawLossDisplay":
        """Draw the bars, on one Axes for each classifier; those of a new figure by default."""
        if len(self.counts) == 0:
            raise MaucError("win/draw/loss needs at least one other selector, got none.")
        selectors = labels_of(self.counts, "selector")
        # A classifier without a comparison has no panel, unless no other has one.
        compared = self.counts[self.counts[["win", "draw", "loss"]].sum(axis=1) > 0]
        classifiers = labels_of(compared, "classifier")
        classifiers = classifiers or labels_of(self.counts, "classifier")[:1]
        names = [selector_label(name) for name in selectors]
        size = (2.4 + room_for(names), 0.8 + 0.24 * len(selectors))
        if len(classifiers) == 1:
            size = (4.4 + room_for(names), size[1] + 0.3)
        axes = make_panels(ax, len(classifiers), size=size).axes
        total = self.counts[["win", "draw", "loss"]].sum(axis=1).max()
        for here, classifier in zip(axes, classifiers, strict=True):
            counts = self.counts[self.counts["classifier"] == classifier].set_index("selector")
            _draw_bars(here, counts.reindex(selectors, fill_value=0), total)
            here.set_title(shorten(shown_name("classifier", classifier)), fontsize=10)
            here.set_xlabel("comparisons (data sets × sizes)")
        handles, labels = axes[0].get_legend_handles_labels()
        name = selector_label(str(self.comparison.reference))
        words = {"win": f"{name} wins", "draw": "draw", "loss": f"{name} loses"}
        figure = axes[0].figure
        width, height = figure.get_size_inches()
        texts = [words[label] for label in labels]
        make_room(figure)
        is_wide = 3 * (room_for([name]) + 1.1) > width
        figure.legend(
            handles,
            texts,
            loc="outside lower center",
            ncols=1 if is_wide else 3,
            frameon=False,
            fontsize=9,
            title=str(self.comparison),
            title_fontsize=8,
        )
        if ax is None:
            figure.set_size_inches(width, height + (0.8 if is_wide else 0.4))
        self.axes_: Any = axes
        self.ax_: Any = axes[0]
        self.figure_: Any = axes[0].figure
        return self


class CriticalDifferenceDisplay:
    """Demšar's diagram: mean ranks on a line, best to the left; bars join those that do not differ.

    Parameters
    ----------
    names : sequence of str
    ranks : ndarray of shape (n_selectors,)
        Mean ranks, 1 is best.
    difference : float
        Ranks at least this far apart differ significantly.
    n_problems : int
    posthoc : {"holm", "nemenyi"}
        Test that gave the difference; that of Nemenyi is drawn as a ruler.

    Attributes
    ----------
    cliques_ : list of tuple of int
        Selectors joined by a bar, as positions in names.
    ax_, figure_ : matplotlib Axes and Figure

    Notes
    -----
    Holm's procedure rejects the pairs of largest rank difference, so it too has one critical
    difference: the smallest that is rejected.

    Ranks over cells (data set, classifier, size) are many but not independent, so the p-values
    are too small. The tests of [1]_ are meant for ranks over data sets.

    References
    ----------
    .. [1] J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7
       (2006).

    Examples
    --------
    >>> from mauc.plotting import CriticalDifferenceDisplay
    >>> scores = [[0.9, 0.8, 0.7]] * 6
    >>> display = CriticalDifferenceDisplay.from_scores(scores, ["mdfs", "chi", "su"])
    >>> display.cliques_
    [(0, 1), (1, 2)]
    """

    #: With fewer data sets mean ranks do not follow the distribution that the tests assume.
    min_datasets = 5

    def __init__(
        self, names: Sequence[str], ranks: Any, *, difference: float, n_problems: int, posthoc: str
    ) -> None:
        self.names: list[str] = list(names)
        self.ranks: np.ndarray = np.asarray(ranks, dtype=float)
        self.difference = difference
        self.n_problems = n_problems
        self.posthoc = posthoc
        self.cliques_: list[tuple[int, ...]] = rank_cliques(self.ranks, difference)

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        names: Sequence[str],
        *,
        posthoc: str = "holm",
        alpha: float = 0.05,
        ax: Any = None,
    ) -> "CriticalDifferenceDisplay":
        """Rank scores of shape (n_problems, n_selectors), larger is better, and draw."""
        check_choice("posthoc", posthoc, _POSTHOC)
        scores = np.asarray(scores, dtype=float)
        if scores.ndim != 2:
            raise MaucError(f"scores must have 2 dimensions, got shape {scores.shape}.")
        cls._check_enough(*scores.shape)
        ranks = average_ranks(scores)
        if posthoc == "nemenyi":
            difference = critical_difference(scores.shape[1], len(scores), alpha)
        else:
            pairs = holm_test(scores, [str(name) for name in names], alpha=alpha)
            rejected = pairs[pairs["mark"] != "none"]
            apart = (rejected["other_rank"] - rejected["rank"]).abs()
            difference = float(apart.min()) if len(apart) else np.inf
        display = cls(names, ranks, difference=difference, n_problems=len(scores), posthoc=posthoc)
        return display.plot(ax)

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
        ax: Any = None,
    ) -> "CriticalDifferenceDisplay":
        """Draw the mean ranks of the selectors of a run, its rows or folder.

        Parameters
        ----------
        run : DataFrame or path
        problems : {"dataset", "cell"}, default="dataset"
            Rank the means of data sets, or every combination of data set, classifier and size.
        posthoc : {"holm", "nemenyi"}, default="holm"
        alpha : float, default=0.05
        classifiers, selectors : sequences of str, optional
            What to rank; everything by default. `ax` is that of `plot`.
        """
        rows = select_rows(rows_of(run), classifier=classifiers, selector=selectors)
        scores = problem_scores(rows, problems)
        cls._check_enough(scores.index.get_level_values("dataset").nunique(), scores.shape[1])
        return cls.from_scores(scores, list(scores.columns), posthoc=posthoc, alpha=alpha, ax=ax)

    @classmethod
    def _check_enough(cls, n_datasets: int, n_selectors: int) -> None:
        if n_datasets < cls.min_datasets or n_selectors < 2:
            raise MaucError(
                f"a critical-difference diagram needs at least {cls.min_datasets} data sets that "
                f"all selectors have and 2 selectors, got {n_datasets} and {n_selectors}: draw "
                "CurvesDisplay or WinDrawLossDisplay instead."
            )

    def to_frame(self) -> Any:
        """Return selector and mean rank as a DataFrame, best first."""
        import pandas as pd

        frame = pd.DataFrame({"selector": self.names, "rank": self.ranks})
        return frame.sort_values("rank", kind="stable").reset_index(drop=True)

    def plot(self, ax: Any = None) -> "CriticalDifferenceDisplay":
        """Draw the diagram, on the Axes of a new figure by default."""
        n = len(self.names)
        bars = self._bar_levels()
        n_levels = max([level for *_, level in bars], default=-1) + 1
        n_lines = -(-n // 2)
        # The axis covers the ranks present: 1 to n would waste the width.
        low, high = int(np.floor(self.ranks.min())), int(np.ceil(self.ranks.max()))
        high = max(high, low + 1)
        has_ruler = self.posthoc == "nemenyi" and self.difference < high - low
        top = 0.9 + 0.55 * n_levels  # lines from the axis down to the first name
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
            ax.plot(
                [left - reach, right + reach],
                [height, height],
                color="black",
                linewidth=3.2,
                solid_capstyle="butt",
                clip_on=False,
            )
        ax.set_xlim(low, high)
        ax.set_ylim(top + n_lines - 0.4 + has_ruler, 0)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set_xticks(range(low, high + 1))
        title = f"mean rank over {self.n_problems} problems (bar: no significant difference, "
        ax.set_xlabel(f"{title}{_POSTHOC[self.posthoc]})", fontsize=9, labelpad=8)
        ax.yaxis.set_visible(False)
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        if has_ruler:
            line, end = top + n_lines + 0.1, low + self.difference
            ax.plot(
                [low, end], [line, line], color="black", linewidth=0.9, marker="|", markersize=7
            )
            ax.text(end, line, f"  CD = {self.difference:.2f}", va="center", fontsize=8)
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        return self

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


def _draw_bars(ax: Any, counts: Any, total: int) -> None:
    rows = np.arange(len(counts))
    left = np.zeros(len(counts))
    for part, (colour, ink) in _PARTS.items():
        width = counts[part].to_numpy()
        ax.barh(
            rows,
            width,
            left=left,
            height=0.78,
            color=colour,
            edgecolor="black",
            linewidth=0.4,
            label=part,
        )
        for row, start, count in zip(rows, left, width, strict=True):
            if count > 0 and count >= _ROOM_FOR_DIGIT * len(str(count)) * max(total, 1):
                middle = start + count / 2
                ax.text(middle, row, str(count), ha="center", va="center", fontsize=7, color=ink)
        left = left + width
    ax.set_yticks(rows, [selector_label(name) for name in counts.index], fontsize=8)
    ax.set_ylim(len(counts) - 0.5, -0.5)  # the first selector on top
    ax.set_xlim(0, 1.01 * max(total, 1))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.spines[["top", "right"]].set_visible(False)
