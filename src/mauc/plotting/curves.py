"""Curves over the number of features: MAUC of a run, and the stability of its selections."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mauc.checks import check_choice, unknown_choice
from mauc.exceptions import MaucError
from mauc.plotting.axes import (
    Panels,
    add_legend,
    annotate_empty,
    draw_curves,
    make_panels,
    mark_sizes,
    room_for,
    selector_label,
    selector_styles,
    shorten,
)
from mauc.results import plural
from mauc.stats import mean_interval, mean_mauc, selector_stability
from mauc.stats.rows import labels_of, rows_of, select_rows, shown_name

_MAX_DIRECT = 12  # names that find room at the ends of the curves
_MAX_TABLE = 4  # classifiers side by side
_SPREADS = {"interval": "95 % interval", "std": "± 1 standard deviation", "none": ""}
_ALONE, _BESIDE = (5.2, 3.7), (3.4, 2.7)  # inches of the only panel, and of one of several


class CurvesDisplay:
    """MAUC of every selector against the number of features, a panel per data set and classifier.

    Parameters
    ----------
    curves : DataFrame
        Columns dataset, classifier, selector, size, n, mean, lower, upper; labels in the order
        in which they are to be shown.
    spread : {"interval", "std", "none"}
        What lower and upper are.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (n_datasets, n_classifiers)
        None where nothing was measured: such a combination has no panel.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and where they are.

    See Also
    --------
    mauc.stats.mean_interval : The means and their intervals.
    """

    def __init__(self, curves: Any, *, spread: str = "interval") -> None:
        self.curves = curves
        self.spread = spread

    @classmethod
    def from_run(
        cls,
        run: Any,
        *,
        datasets: Iterable[str] | str | None = None,
        classifiers: Iterable[str] | str | None = None,
        selectors: Iterable[str] | str | None = None,
        spread: str = "interval",
        ax: Any = None,
        labels: str = "auto",
    ) -> "CurvesDisplay":
        """Draw the curves of a run, its rows or folder; `ax` and `labels` are those of `plot`.

        Parameters
        ----------
        run : DataFrame or path
        datasets, classifiers, selectors : sequences of str, optional
            What to show and in which order; everything by default.
        spread : {"interval", "std", "none"}, default="interval"
            A 95 % interval of the mean, one standard deviation of the folds, or the means alone.
        """
        check_choice("spread", spread, _SPREADS)
        rows = rows_of(run)
        shown = {"dataset": datasets, "classifier": classifiers, "selector": selectors}
        wanted = {column: labels_of(rows, column, labels) for column, labels in shown.items()}
        rows = select_rows(rows, **wanted)
        if spread == "interval":
            curves = mean_interval(rows)
        else:
            curves = mean_mauc(rows)
            half = curves["std"] if spread == "std" else 0.0
            curves = curves.assign(lower=curves["mean"] - half, upper=curves["mean"] + half)
        ranks = [curves[column].map(labels.index) for column, labels in wanted.items()]
        order = np.lexsort([curves["size"], *reversed(ranks)])
        columns = ["dataset", "classifier", "selector", "size", "n", "mean", "lower", "upper"]
        curves = curves[columns].iloc[order].reset_index(drop=True)
        return cls(curves, spread=spread).plot(ax, labels=labels)

    def to_frame(self) -> Any:
        """Return the curves as a DataFrame, one row per point."""
        return self.curves.copy()

    def plot(self, ax: Any = None, *, labels: str = "auto") -> "CurvesDisplay":
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, optional
            Where to draw, one Axes for each panel; a new figure by default.
        labels : {"auto", "direct", "legend"}, default="auto"
            "direct" writes the names at the ends of the curves, "legend" makes one legend for all
            panels; "auto" is "direct" for a single panel of up to 12 selectors.
        """
        check_choice("labels", labels, ("auto", "direct", "legend"))
        datasets, classifiers, selectors = (
            labels_of(self.curves, column) for column in ("dataset", "classifier", "selector")
        )
        measured = self.curves[self.curves["mean"].notna()]
        groups = dict(list(measured.groupby(["dataset", "classifier"], sort=False)))
        if not groups:  # every measurement failed: one panel says so
            groups = {(datasets[0], classifiers[0]): measured}
        is_alone = len(groups) == 1
        is_direct = labels == "direct" or (
            labels == "auto" and is_alone and len(selectors) <= _MAX_DIRECT
        )
        panels = self._make_panels(ax, groups, selectors, is_direct=is_direct)
        styles = selector_styles(selectors)
        marks = set()
        self.axes_: np.ndarray = np.full((len(datasets), len(classifiers)), None, dtype=object)
        for here, (dataset, classifier) in zip(panels.axes, groups, strict=True):
            self.axes_[datasets.index(dataset), classifiers.index(classifier)] = here
            names = shown_name("dataset", dataset), shown_name("classifier", classifier)
            here.set_title(", ".join(map(shorten, names)), fontsize=10)
            group = self.curves[
                (self.curves["dataset"] == dataset) & (self.curves["classifier"] == classifier)
            ]
            if group["mean"].isna().all():
                annotate_empty(here, "nothing was measured")
            else:
                marks.add(_draw_panel(here, group, "mean", styles, (0.0, 1.0)))
        _label_panels(panels, "MAUC", marks, _SPREADS[self.spread])
        if is_direct:
            for here, group in zip(panels.axes, groups.values(), strict=True):
                _label_ends(here, group, styles)
        else:
            add_legend(panels, selectors, styles, may_grow=ax is None)
        self.ax_: Any = panels.axes[0]
        self.figure_: Any = panels.axes[0].figure
        return self

    def _make_panels(
        self, ax: Any, groups: Any, selectors: list[str], *, is_direct: bool
    ) -> Panels:
        n_datasets, n_classifiers = (len({key[at] for key in groups}) for at in (0, 1))
        # A full table keeps its rows and columns; other panels follow each other.
        is_table = min(n_datasets, n_classifiers) > 1 and n_classifiers <= _MAX_TABLE
        is_table = is_table and len(groups) == n_datasets * n_classifiers
        size = _ALONE if len(groups) == 1 else _BESIDE
        if is_direct:
            size = (size[0] + room_for([selector_label(name) for name in selectors]), size[1])
        return make_panels(
            ax, len(groups), size=size, n_columns=n_classifiers if is_table else None
        )


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
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and where they are.

    See Also
    --------
    mauc.stats.stability : The measure: 1 for equal selections, 0 for those drawn at random.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.plotting import StabilityDisplay
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
        ax: Any = None,
        size: int | None = None,
    ) -> "StabilityDisplay":
        """Draw the stability of a run, its rows or folder; `ax` and `size` are those of `plot`."""
        rows = select_rows(rows_of(run), dataset=datasets, selector=selectors)
        return cls(selector_stability(rows)).plot(ax, size=size)

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
        panel_size = _ALONE if len(datasets) == 1 else _BESIDE
        if size is not None:
            names = [selector_label(name) for name in selectors]
            panel_size = (2.2 + room_for(names), 0.9 + 0.22 * len(selectors))
        panels = make_panels(ax, len(datasets), size=panel_size)
        styles, marks = selector_styles(selectors), set()
        for here, dataset in zip(panels.axes, datasets, strict=True):
            panel = shown[shown["dataset"] == dataset]
            here.set_title(shorten(shown_name("dataset", dataset)), fontsize=10)
            here.spines[["top", "right"]].set_visible(False)
            if len(known) == 0:
                annotate_empty(here, "fewer than two selections")
            elif size is None:
                limits = (_limits(panel)[0].min(), 1.0)
                marks.add(_draw_panel(here, panel, "stability", styles, limits))
            else:
                _draw_intervals(here, panel, styles)
                here.set_xlabel(f"stability of {plural(size, 'feature')}\n(line: 95 % interval)")
        if size is None:
            _label_panels(panels, "stability", marks, _SPREADS["interval"])
            add_legend(panels, selectors, styles, may_grow=ax is None)
        self.axes_: Any = panels.axes
        self.ax_: Any = panels.axes[0]
        self.figure_: Any = panels.axes[0].figure
        return self


def _draw_panel(
    ax: Any, panel: Any, column: str, styles: dict[str, Any], limits: tuple[Any, float]
) -> str:
    """Draw a column of a panel against the size, a curve per selector; return what spreads are."""
    curves = {
        name: tuple(curve[part].to_numpy(float) for part in ("size", column, "lower", "upper"))
        for name, curve in panel.groupby("selector", sort=False)
    }
    mark = draw_curves(ax, curves, styles, limits)
    mark_sizes(ax, panel["size"].to_numpy())
    return mark


def _label_panels(panels: Panels, measure: str, marks: set[str], spread: str) -> None:
    """Name the axes, and what the marks around the curves are."""
    if marks and spread:
        measure = f"{measure}\n({' or '.join(sorted(marks))}: {spread})"
    for lowest in panels.axes[-panels.n_columns :]:
        lowest.set_xlabel("number of features")
    for leftmost in panels.axes[:: panels.n_columns]:
        leftmost.set_ylabel(measure)


def _label_ends(ax: Any, measured: Any, styles: dict[str, Any]) -> None:
    if len(measured) == 0:
        return
    ends = {
        name: (curve["size"].iloc[-1], curve["mean"].iloc[-1])
        for name, curve in measured.groupby("selector", sort=False)
    }
    ax.figure.draw_without_rendering()  # lays the panels out, so that heights are known
    low, high = ax.get_ylim()
    height = ax.get_window_extent().height / ax.figure.dpi * 72  # in points
    names = sorted(ends, key=lambda name: ends[name][1])
    wanted = np.array([(ends[name][1] - low) / (high - low) for name in names])
    heights = _spread_out(wanted, 10 / height)
    # A block of labels that leaves the panel moves back into it, if it fits.
    heights = heights - max(0.0, heights[-1] - 1.0) if heights[0] >= 0.0 else heights - heights[0]
    for name, at in zip(names, heights, strict=True):
        ax.annotate(
            selector_label(name),
            ends[name],
            xytext=(1.04, at),
            textcoords="axes fraction",
            color=styles[name]["color"],
            fontsize=8,
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": styles[name]["color"],
                "lw": 0.5,
                "alpha": 0.6,
                "shrinkA": 1,
                "shrinkB": 2,
                "relpos": (0, 0.5),
            },
        )


def _spread_out(wanted: Any, step: float) -> Any:
    """Move ascending positions at least a step apart; those that touch are centred as a block."""
    blocks: list[tuple[float, int]] = []  # middle, number of labels
    for position in wanted:
        middle, n = float(position), 1
        while (
            blocks and middle - (n - 1) / 2 * step < blocks[-1][0] + (blocks[-1][1] + 1) / 2 * step
        ):
            other, m = blocks.pop()
            middle, n = (middle * n + other * m) / (n + m), n + m
        blocks.append((middle, n))
    return np.concatenate([m + step * (np.arange(n) - (n - 1) / 2) for m, n in blocks])


def _limits(panel: Any) -> tuple[Any, float]:
    """Return the smallest and the largest value that n selections can have."""
    n = panel["n"].to_numpy(float)
    return -1 / np.maximum(n - 1, 1), 1.0


def _draw_intervals(ax: Any, panel: Any, styles: dict[str, Any]) -> None:
    panel = panel.sort_values("stability", ascending=False, kind="stable", na_position="last")
    lower, upper = (np.clip(panel[end], *_limits(panel)) for end in ("lower", "upper"))
    ends = zip(panel["selector"], panel["stability"], lower, upper, strict=True)
    for row, (name, value, low, high) in enumerate(ends):
        style = {**styles[name], "linestyle": ""}
        ax.hlines(row, low, high, colors=style["color"], linewidth=1.6)
        ax.plot(value, row, **style, markersize=5)
    names = [selector_label(name) for name in panel["selector"]]
    ax.set_yticks(range(len(names)), names, fontsize=8)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlim(min(0.0, float(np.nanmin(lower, initial=0.0))) - 0.03, 1.03)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
