"""Figure 4 of the paper: how often a selector wins, draws and loses against each other one."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mauc.exceptions import MaucError
from mauc.plotting.axes import make_room, room_for
from mauc.plotting.panels import make_panels
from mauc.plotting.styles import selector_label
from mauc.stats import PAPER_COMPARISON, Comparison, compare_to, win_draw_loss
from mauc.stats.rows import labels_of, rows_of, shown_name

# Colours of the bars, which differ in grey too, and of the numbers on them.
_PARTS = {
    "win": ("#0072B2", "white"),
    "draw": ("#DDDDDD", "black"),
    "loss": ("#E69F00", "black"),
}
_ROOM_FOR_DIGIT = 0.03  # share of the axis; narrower parts of a bar stay without their number


class WinDrawLossDisplay:
    """Bars of win, draw and loss of a baseline against each selector, a panel per classifier.

    Parameters
    ----------
    counts : DataFrame
        Columns classifier, selector, win, draw, loss, as `mauc.stats.win_draw_loss` gives.
    comparison : Comparison, default=PAPER_COMPARISON
        The baseline whose wins these are, and the test that decided.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One per classifier.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure

    See Also
    --------
    mauc.stats.compare_to : The tests behind the counts.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.plotting.win_draw_loss import WinDrawLossDisplay
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
    ) -> "WinDrawLossDisplay":
        """Count over all sizes and data sets of a run.

        Parameters
        ----------
        run : DataFrame or path
            The rows of a run, or its folder.
        comparison : Comparison, default=PAPER_COMPARISON
            Baseline selector, test and level.
        datasets, classifiers : sequences of str, optional
            What to count; everything by default.

        Returns
        -------
        display : WinDrawLossDisplay
        """
        rows = rows_of(run)
        rows = rows[rows["dataset"].isin(labels_of(rows, "dataset", datasets))]
        rows = rows[rows["classifier"].isin(labels_of(rows, "classifier", classifiers))]
        return cls(win_draw_loss(compare_to(rows, comparison)), comparison)

    def to_frame(self) -> Any:
        """Return the counts as a DataFrame, one row per classifier and selector."""
        return self.counts.copy()

    def plot(self, ax: Any = None) -> "WinDrawLossDisplay":
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, optional
            Where to draw, one Axes for each classifier; a new figure by default.

        Returns
        -------
        self : WinDrawLossDisplay
        """
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
        panels = make_panels(ax, len(classifiers), size=size)
        if panels.free is not None:
            panels.free.remove()
        axes = panels.axes
        total = self.counts[["win", "draw", "loss"]].sum(axis=1).max()
        for here, classifier in zip(axes, classifiers, strict=True):
            counts = self.counts[self.counts["classifier"] == classifier].set_index("selector")
            _draw_bars(here, counts.reindex(selectors, fill_value=0), total)
            here.set_title(shown_name("classifier", classifier), fontsize=10)
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
            handles, texts, loc="outside lower center", ncols=1 if is_wide else 3,
            frameon=False, fontsize=9, title=str(self.comparison), title_fontsize=8,
        )  # fmt: skip
        if ax is None:
            figure.set_size_inches(width, height + (0.8 if is_wide else 0.4))
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        return self


def _draw_bars(ax: Any, counts: Any, total: int) -> None:
    places = np.arange(len(counts))
    left = np.zeros(len(counts))
    for part, (colour, ink) in _PARTS.items():
        width = counts[part].to_numpy()
        ax.barh(
            places, width, left=left, height=0.78, color=colour, edgecolor="black",
            linewidth=0.4, label=part,
        )  # fmt: skip
        for place, start, count in zip(places, left, width, strict=True):
            if count > 0 and count >= _ROOM_FOR_DIGIT * len(str(count)) * max(total, 1):
                middle = start + count / 2
                ax.text(middle, place, str(count), ha="center", va="center", fontsize=7, color=ink)
        left = left + width
    ax.set_yticks(places, [selector_label(name) for name in counts.index], fontsize=8)
    ax.set_ylim(len(counts) - 0.5, -0.5)  # the first selector on top
    ax.set_xlim(0, 1.01 * max(total, 1))
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.spines[["top", "right"]].set_visible(False)
