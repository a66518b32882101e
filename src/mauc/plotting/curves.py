"""MAUC against the number of features, with its spread over the folds."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mauc.checks import check_choice
from mauc.plotting.axes import room_for, shorten
from mauc.plotting.panels import Panels, make_panels, say_nothing_measured
from mauc.plotting.spread import draw_curves, mark_sizes
from mauc.plotting.styles import add_legend, selector_label, selector_styles
from mauc.stats import mean_interval, mean_mauc
from mauc.stats.rows import labels_of, rows_of, shown_name

_MAX_DIRECT = 12  # names that find room at the ends of the curves
_MAX_TABLE = 4  # classifiers side by side


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
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure

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
    ) -> "CurvesDisplay":
        """Take the numbers from a run.

        Parameters
        ----------
        run : DataFrame or path
            The rows of a run, or its folder.
        datasets, classifiers, selectors : sequences of str, optional
            What to show and in which order; everything by default.
        spread : {"interval", "std", "none"}, default="interval"
            A 95 % interval of the mean, one standard deviation of the folds, or the means alone.

        Returns
        -------
        display : CurvesDisplay
        """
        check_choice("spread", spread, ("interval", "std", "none"))
        rows = rows_of(run)
        wanted = {
            "dataset": labels_of(rows, "dataset", datasets),
            "classifier": labels_of(rows, "classifier", classifiers),
            "selector": labels_of(rows, "selector", selectors),
        }
        for column, labels in wanted.items():
            rows = rows[rows[column].isin(labels)]
        if spread == "interval":
            curves = mean_interval(rows)
        else:
            curves = mean_mauc(rows)
            half = curves["std"] if spread == "std" else 0.0
            curves = curves.assign(lower=curves["mean"] - half, upper=curves["mean"] + half)
        for column, labels in wanted.items():
            curves[column] = curves[column].map(labels.index)
        curves = curves.sort_values(["dataset", "classifier", "selector", "size"])
        for column, labels in wanted.items():
            curves[column] = [labels[at] for at in curves[column]]
        columns = ["dataset", "classifier", "selector", "size", "n", "mean", "lower", "upper"]
        return cls(curves[columns].reset_index(drop=True), spread=spread)

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

        Returns
        -------
        self : CurvesDisplay
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
        self.axes_ = np.full((len(datasets), len(classifiers)), None, dtype=object)
        for here, (dataset, classifier) in zip(panels.axes, groups, strict=True):
            self.axes_[datasets.index(dataset), classifiers.index(classifier)] = here
            names = shown_name("dataset", dataset), shown_name("classifier", classifier)
            here.set_title(", ".join(map(shorten, names)), fontsize=10)
            group = self.curves[
                (self.curves["dataset"] == dataset) & (self.curves["classifier"] == classifier)
            ]
            self._draw_panel(here, group, styles)
        for here in panels.lowest:
            here.set_xlabel("number of features")
        for here in panels.leftmost:
            here.set_ylabel("MAUC")
        if is_direct:
            for here, group in zip(panels.axes, groups.values(), strict=True):
                _label_ends(here, group, styles)
        if not is_direct:
            add_legend(panels.axes, panels.free, selectors, styles, may_grow=ax is None)
        elif panels.free is not None:
            panels.free.remove()
        self.ax_, self.figure_ = panels.axes[0], panels.axes[0].figure
        return self

    def _make_panels(
        self, ax: Any, groups: Any, selectors: list[str], *, is_direct: bool
    ) -> Panels:
        n_datasets, n_classifiers = (len({key[at] for key in groups}) for at in (0, 1))
        # A full table keeps its rows and columns; other panels follow each other.
        is_table = min(n_datasets, n_classifiers) > 1 and n_classifiers <= _MAX_TABLE
        is_table = is_table and len(groups) == n_datasets * n_classifiers
        size = (5.2, 3.7) if len(groups) == 1 else (3.4, 2.7)
        if is_direct:
            size = (size[0] + room_for([selector_label(name) for name in selectors]), size[1])
        return make_panels(
            ax, len(groups), size=size, n_columns=n_classifiers if is_table else None
        )

    def _draw_panel(self, ax: Any, panel: Any, styles: dict[str, Any]) -> None:
        if panel["mean"].isna().all():
            say_nothing_measured(ax, "nothing was measured")
            return
        curves = {}
        for name, curve in panel.groupby("selector", sort=False):
            columns = ["size", "mean", "lower", "upper"]
            curves[name] = tuple(curve[column].to_numpy(float) for column in columns)
        draw_curves(ax, curves, styles, (0.0, 1.0))
        mark_sizes(ax, panel["size"].to_numpy())


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
    places = _spread_out(wanted, 10 / height)
    # A block of labels that leaves the panel moves back into it, if it fits.
    places = places - max(0.0, places[-1] - 1.0) if places[0] >= 0.0 else places - places[0]
    for name, place in zip(names, places, strict=True):
        ax.annotate(
            selector_label(name), ends[name], xytext=(1.04, place), textcoords="axes fraction",
            color=styles[name]["color"], fontsize=8, va="center", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": styles[name]["color"], "lw": 0.5,
                        "alpha": 0.6, "shrinkA": 1, "shrinkB": 2, "relpos": (0, 0.5)},
        )  # fmt: skip


def _spread_out(wanted: Any, step: float) -> Any:
    # Labels keep their order and at least a step between them: those that touch form a block
    # around the mean of the positions wanted.
    blocks: list[tuple[float, int]] = []  # middle, number of labels
    for place in wanted:
        middle, n = float(place), 1
        while (
            blocks and middle - (n - 1) / 2 * step < blocks[-1][0] + (blocks[-1][1] + 1) / 2 * step
        ):
            other, m = blocks.pop()
            middle, n = (middle * n + other * m) / (n + m), n + m
        blocks.append((middle, n))
    return np.concatenate([m + step * (np.arange(n) - (n - 1) / 2) for m, n in blocks])
