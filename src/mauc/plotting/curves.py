"""MAUC against the number of features, with its spread over the folds."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mauc.checks import check_choice
from mauc.plotting.styles import add_legend, make_panels, selector_styles
from mauc.stats import mean_interval, mean_mauc
from mauc.stats.rows import labels_of, rows_of, shown_name

_MAX_DIRECT = 12  # names that find room at the ends of the curves
_MAX_BANDS = 4  # more bands than these hide each other: thin bars instead


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

    def frame(self) -> Any:
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
        axes = make_panels(ax, len(datasets), len(classifiers), size=(3.4, 2.7))
        styles = selector_styles(selectors)
        is_room = axes.size == 1 and len(selectors) <= _MAX_DIRECT
        is_direct = labels == "direct" or (labels == "auto" and is_room)
        panels = self.curves.groupby(["dataset", "classifier"], sort=False)
        for (dataset, classifier), panel in panels:
            here = axes[datasets.index(dataset), classifiers.index(classifier)]
            ends = self._draw_panel(here, panel, styles)
            names = shown_name("dataset", dataset), shown_name("classifier", classifier)
            here.set_title(", ".join(names), fontsize=10)
            if is_direct:
                _label_ends(here, ends, styles)
        for here in axes[-1]:
            here.set_xlabel("number of features")
        for here in axes[:, 0]:
            here.set_ylabel("MAUC")
        if not is_direct:
            add_legend(axes, selectors, styles, may_grow=ax is None)
        self.axes_, self.ax_, self.figure_ = axes, axes[0, 0], axes[0, 0].figure
        return self

    def _draw_panel(self, ax: Any, panel: Any, styles: dict[str, Any]) -> dict[str, Any]:
        ends = {}
        n_selectors = panel["selector"].nunique()
        sizes = np.unique(panel["size"])
        gap = np.diff(sizes).min() if len(sizes) > 1 else 1.0
        for at, (selector, curve) in enumerate(panel.groupby("selector", sort=False)):
            style = styles[selector]
            x, mean = curve["size"].to_numpy(float), curve["mean"].to_numpy()
            # No MAUC is above 1, whatever the interval of a mean near it says.
            highest = np.minimum(curve["upper"].to_numpy(), np.maximum(mean, 1.0))
            below, above = mean - curve["lower"].to_numpy(), highest - mean
            if self.spread != "none" and n_selectors <= _MAX_BANDS:
                ax.fill_between(
                    x, mean - below, mean + above, color=style["color"], alpha=0.13, lw=0
                )
            elif self.spread != "none":
                # side by side, so that a bar hides no other
                x = x + 0.4 * gap * (at / (n_selectors - 1) - 0.5)
                ax.errorbar(
                    x, mean, (below, above), fmt="none", ecolor=style["color"],
                    elinewidth=0.6, alpha=0.55,
                )  # fmt: skip
            ax.plot(x, mean, **style, markersize=3.6, linewidth=1.3)
            measured = np.flatnonzero(~np.isnan(mean))
            if len(measured):
                ends[selector] = (x[measured[-1]], mean[measured[-1]])
        ax.grid(color="0.9", linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        return ends


def _label_ends(ax: Any, ends: dict[str, Any], styles: dict[str, Any]) -> None:
    if not ends:
        return
    low, high = ax.get_ylim()
    height = ax.get_window_extent().height / ax.figure.dpi * 72  # in points
    step = 9.5 / height
    names = sorted(ends, key=lambda name: ends[name][1])
    wanted = np.array([(ends[name][1] - low) / (high - low) for name in names])
    places = _spread_out(wanted, step)
    # A block of labels that leaves the panel moves back into it, if it fits.
    places = places - max(0.0, places[-1] - 1.0) if places[0] >= 0.0 else places - places[0]
    right = max(x for x, _ in ends.values())
    for name, place in zip(names, places, strict=True):
        x, y = ends[name]
        ax.annotate(
            shown_name("selector", name), (x, y), xytext=(1.05, place), textcoords="axes fraction",
            color=styles[name]["color"], fontsize=8, va="center", annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": styles[name]["color"], "lw": 0.5,
                        "alpha": 0.6, "shrinkA": 1, "shrinkB": 2, "relpos": (0, 0.5)},
        )  # fmt: skip
    ax.set_xlim(right=right + 0.01 * (right - ax.get_xlim()[0]))


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
