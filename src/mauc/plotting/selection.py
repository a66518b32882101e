"""One fitted selector: its features on the class pairs, its trace, its number of features."""

from typing import Any

import numpy as np

from mauc.checks import check_choice
from mauc.data.door import check_fitted
from mauc.data.problem import Decomposition
from mauc.evaluation import SizeCurve
from mauc.exceptions import MaucError
from mauc.measure.pair_tests import significant_cells
from mauc.plotting.axes import (
    BLUE,
    MAX_TICKS,
    MAX_WIDTH,
    ORANGE,
    VERMILION,
    label_axis,
    mark_sizes,
    new_axes,
    room_for,
)
from mauc.results import measure_name
from mauc.selectors.explain import problem_of_fit

_MAX_RANKS = 6  # colours of single ranks
_MAX_NUMBERS = 12  # of features along a curve


class PairMapDisplay:
    """Map of the folded AUC of selected features on every class pair.

    Rows are features in the order of selection, columns are class pairs. A dot marks the pair
    that a feature was chosen for, a cross an AUC that is not significant: with a false discovery
    rate of 5 %, over all features and pairs of `mauc.pair_tests`. More than 60 pairs open as a map
    of classes by classes, with the best AUC of a feature on each pair.

    Parameters
    ----------
    pair_auc : ndarray of shape (n_selected, n_pairs)
    feature_names : sequence of str
    class_names : sequence
        Pairs are in the order (0, 1), (0, 2), ..., (c-2, c-1).
    asked_by : ndarray of shape (n_selected,), optional
        Pair that each feature was chosen for.
    significant : ndarray of shape (n_selected, n_pairs), bool, optional
        Cells without a cross. `from_selector` finds them if it is given the data of the fit.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    image_ : matplotlib AxesImage

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MDFS
    >>> from mauc.plotting import PairMapDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = PairMapDisplay.from_selector(MDFS(4, random_state=0).fit(X, y), X, y)
    >>> display.pair_auc.shape
    (4, 3)
    """

    def __init__(
        self,
        pair_auc: Any,
        feature_names: Any,
        class_names: Any,
        asked_by: Any = None,
        significant: Any = None,
    ) -> None:
        self.pair_auc = pair_auc
        self.feature_names = feature_names
        self.class_names = class_names
        self.pair_names: list[str] = Decomposition("one-vs-one", len(class_names)).names(
            class_names
        )
        self.asked_by = asked_by
        self.significant = significant

    @classmethod
    def from_selector(
        cls, selector: Any, X: Any = None, y: Any = None, *, ax: Any = None, by: str = "auto"
    ) -> "PairMapDisplay":
        """Draw the map of a fitted selector; `ax` and `by` are those of `plot`.

        Crosses need `X` and `y`, what the selector was fitted on. Leave them out after a fit with
        weights or groups, which the tests do not know.
        """
        check_fitted(selector)
        is_paired = selector.decomposition_.name == "one-vs-one"
        asked_by = selector.trace_.subproblems if is_paired else None
        names = selector.trace_.feature_names
        found = None
        if X is not None:
            found = significant_cells(problem_of_fit(selector, X, y), selector.ranking_)
        return cls(selector.pair_auc_, names, selector.classes_, asked_by, found).plot(ax, by=by)

    def to_frame(self) -> Any:
        """Return the map as a pandas DataFrame, features by pairs."""
        import pandas as pd

        return pd.DataFrame(self.pair_auc, index=self.feature_names, columns=self.pair_names)

    def plot(self, ax: Any = None, *, by: str = "auto") -> "PairMapDisplay":
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Those of a new figure of fitting size by default.
        by : {"auto", "pairs", "classes"}, default="auto"
            Every feature on every pair, or the best feature on every pair, classes by classes;
            "auto" takes classes from 61 pairs on.
        """
        check_choice("by", by, ("auto", "pairs", "classes"))
        shown, rows, columns = self.pair_auc, self.feature_names, self.pair_names
        what = "classes" if len(self.class_names) == 2 else "class pair"
        labels = (what, "feature, in order of selection", "AUC")
        has_dots = self.asked_by is not None and len(columns) > 1
        weak = np.zeros_like(shown, bool) if self.significant is None else ~self.significant
        if by == "classes" or (by == "auto" and len(columns) > MAX_TICKS):
            rows = columns = self.class_names
            shown = np.full((len(rows), len(rows)), np.nan)
            shown[np.triu_indices(len(rows), 1)] = np.fmax.reduce(self.pair_auc)
            shown = np.fmax(shown, shown.T)
            of_pairs, weak = weak.all(axis=0), np.zeros_like(shown, bool)
            weak[np.triu_indices(len(rows), 1)] = of_pairs
            weak |= weak.T
            labels, has_dots = ("class", "class", "best AUC of a feature"), False
        if ax is None:
            width = max(3.2, 2.0 + 0.24 * len(columns) + room_for(rows))
            height = max(2.2, min(1.3 + 0.24 * len(rows), 10)) + room_for(columns)
            ax = new_axes(figsize=(min(width, MAX_WIDTH), height))
        image = ax.imshow(
            shown, vmin=0.5, vmax=1.0, cmap="cividis", aspect="auto", interpolation="none"
        )
        if has_dots:
            # White with a dark rim shows on both ends of the colour scale.
            ax.scatter(
                self.asked_by,
                np.arange(len(rows)),
                s=14,
                color="white",
                edgecolors="black",
                linewidths=0.8,
            )
        for color, width in (("black", 2.0), ("white", 0.8)) if weak.any() else ():
            y, x = np.nonzero(weak)
            ax.scatter(x, y, s=12, marker="x", color=color, linewidths=width)
        label_axis(ax.xaxis, columns)
        label_axis(ax.yaxis, rows)
        marks = [*["dot: chosen for it"] * has_dots, *["×: not significant"] * bool(weak.any())]
        ax.set_xlabel(labels[0] + (f" ({'; '.join(marks)})" if marks else ""))
        ax.set_ylabel(labels[1])
        ax.figure.colorbar(image, ax=ax, label=f"{labels[2]}, folded around 1/2", pad=0.02)
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        self.image_: Any = image
        return self


class TraceDisplay:
    """Which sub-problem each feature was chosen for, step by step, and what it added.

    A column is a step, a row is a sub-problem (a class pair, or a class against the rest) that
    a feature was chosen for. The colour of a dot is the rank of the feature in the list of its
    sub-problem, 1 for the best; larger ranks share colours. Where the trace has a predicted MAUC,
    as that of `GreedyMAUC`, it stands above, with what each step added as a bar.

    Parameters
    ----------
    trace : SelectionTrace

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Of the predicted MAUC, where it is drawn, and of the sub-problems.
    ax_, figure_ : matplotlib Axes and Figure
        The last of them, and where they are.
    dots_ : matplotlib PathCollection

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MDFS
    >>> from mauc.plotting import TraceDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = TraceDisplay.from_selector(MDFS(4, random_state=0).fit(X, y))
    >>> display.to_frame()["subproblem_name"].tolist()
    ['0 vs 1', '0 vs 2', '0 vs 1', '0 vs 2']
    """

    def __init__(self, trace: Any) -> None:
        self.trace = trace

    @classmethod
    def from_selector(cls, selector: Any, *, ax: Any = None) -> "TraceDisplay":
        """Draw the trace of a fitted selector; `ax` is that of `plot`."""
        check_fitted(selector)
        return cls(selector.trace_).plot(ax)

    def to_frame(self) -> Any:
        """Return the trace as a pandas DataFrame, one row per step."""
        return self.trace.to_frame()

    def plot(self, ax: Any = None) -> "TraceDisplay":
        """Draw the trace on a new figure, on two Axes or, without the predicted MAUC, on one."""
        subproblems, first, rows = np.unique(
            self.trace.subproblems, return_index=True, return_inverse=True
        )
        names = self.trace.subproblem_names[first]
        n_steps, details = len(self.trace), self.trace.detail_columns()
        has_upper = "predicted_mauc" in details
        if ax is None:
            width = max(4.0, 2.4 + 0.22 * n_steps + room_for(names))
            height = max(2.0, min(1.4 + 0.2 * len(subproblems), 10))
            ratios = [1.5, height - 0.8] if has_upper else [1]
            height += room_for(self.trace.feature_names) + 2.0 * has_upper
            ax = new_axes(
                len(ratios),
                1,
                figsize=(min(width, MAX_WIDTH), height),
                sharex=True,
                height_ratios=ratios,
                squeeze=False,
            )
        self.axes_: np.ndarray = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if not 1 <= len(self.axes_) <= 1 + has_upper:
            raise MaucError(
                f"ax must be one Axes{' or two' if has_upper else ''}, got {len(self.axes_)}."
            )
        ax = self.axes_[-1]
        import matplotlib as mpl
        from matplotlib.colors import BoundaryNorm

        ranks = self.trace.ranks
        last = rank_classes(int(ranks.max()))
        edges = np.concatenate([[0.5], last + 0.5])
        colours = mpl.colormaps["viridis_r"].resampled(len(last))
        self.dots_: Any = ax.scatter(
            np.arange(n_steps),
            rows,
            c=ranks,
            cmap=colours,
            edgecolors="black",
            linewidths=0.5,
            s=28 if n_steps <= 120 else 12,
            norm=BoundaryNorm(edges, len(last)),
            zorder=2,
        )
        ax.set_axisbelow(True)
        ax.grid(axis="y", color="0.9", linewidth=0.6)
        label_axis(ax.xaxis, self.trace.feature_names)
        label_axis(ax.yaxis, names)
        ax.set_xlim(-0.7, n_steps - 0.3)
        ax.set_ylim(len(subproblems) - 0.3, -0.7)  # the first on top
        ax.set_xlabel("feature, in order of selection")
        ax.set_ylabel("chosen for")
        bar = ax.figure.colorbar(
            self.dots_,
            ax=ax,
            label="rank in its list",
            pad=0.02,
            spacing="uniform",
            ticks=(edges[1:] + edges[:-1]) / 2,
        )
        first = np.concatenate([[1], last[:-1] + 1])
        bar.ax.set_yticklabels(
            [f"{a}" if a == b else f"{a}–{b}" for a, b in zip(first, last, strict=True)]
        )
        bar.ax.tick_params(length=0)
        bar.minorticks_off()
        if len(self.axes_) == 2:
            _draw_prediction(self.axes_[0], details["predicted_mauc"], details["added"])
            self.axes_[0].set_ylabel(f"predicted {measure_name(self.trace.n_classes)}")
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        return self


class SizeCurveDisplay:
    """Cross-validated MAUC over the number of features, the best size and the chosen one.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import MAUCD
    >>> from mauc.plotting import SizeCurveDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> SizeCurveDisplay.from_selector(MAUCD("auto").fit(X, y)).curve.size
    2
    """

    def __init__(self, curve: SizeCurve) -> None:
        self.curve = curve

    @classmethod
    def from_selector(cls, selector: Any, *, ax: Any = None) -> "SizeCurveDisplay":
        """Draw the curve of a selector fitted with ``n_features_to_select="auto"``."""
        return cls(selector.size_curve_).plot(ax)

    def to_frame(self) -> Any:
        """Return the curve as a pandas DataFrame."""
        return self.curve.to_frame()

    def plot(self, ax: Any = None) -> "SizeCurveDisplay":
        """Draw the curve, with a note above it if the best size is at its edge."""
        if ax is None:
            ax = new_axes(figsize=(6.4, 3.8))
        curve, sizes, mean = self.curve, self.curve.sizes, self.curve.mean
        # MAUC is in [0, 1], and so is the band.
        lower, upper = (
            np.clip(mean + side * curve.standard_error, 0.0, 1.0) for side in (-1.0, 1.0)
        )
        ax.fill_between(
            sizes, lower, upper, color=BLUE, alpha=0.2, linewidth=0, label="± standard error"
        )
        if len(sizes) == 1:
            ax.vlines(sizes, lower, upper, color=BLUE)
        ax.plot(sizes, mean, color=BLUE, marker="o", markersize=3, label="mean")
        ax.axhline(
            curve.threshold, color="0.4", linewidth=0.8, linestyle=":", label="still accepted"
        )
        is_one = curve.leader is curve and curve.best_size == curve.size
        if curve.leader is curve and not is_one:
            ax.axvline(
                curve.best_size,
                color="0.4",
                linewidth=1,
                linestyle="--",
                label=f"best: {curve.best_size}",
                zorder=1,
            )
        label = f"{'best and chosen' if is_one else 'chosen'}: {curve.size}"
        ax.axvline(curve.size, color=VERMILION, linewidth=1.5, label=label, zorder=1)
        mark_sizes(ax, sizes, curve.size)
        ax.set_xlabel("number of features")
        ax.set_ylabel(f"cross-validated {curve.measure} of\n{curve.judge}")
        # Above the panel, where it hides nothing.
        ax.legend(
            loc="lower center",
            bbox_to_anchor=(0.5, 1.0),
            ncols=5,
            fontsize="small",
            frameon=False,
            handletextpad=0.4,
            columnspacing=1.2,
            title=curve.edge_note or None,
            title_fontsize="small",
        )
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        return self


class CostCurveDisplay:
    """Predicted MAUC against what the features so far cost.

    Parameters
    ----------
    curve : CostCurve

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import GreedyMAUC
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = GreedyMAUC(feature_costs=[1, 1, 5, 4], budget=7).fit(X, y)
    >>> selector.cost_curve_.plot().ax_.get_xlabel()
    'cost of the features so far'
    """

    def __init__(self, curve: Any) -> None:
        self.curve = curve

    def to_frame(self) -> Any:
        """Return the curve as a pandas DataFrame."""
        return self.curve.to_frame()

    def plot(self, ax: Any = None) -> "CostCurveDisplay":
        """Draw the curve as steps, with the number of features at each."""
        if ax is None:
            ax = new_axes(figsize=(6.4, 3.8))
        frame = self.to_frame()
        ax.step(frame["cost"], frame["mauc"], where="post", color=BLUE)
        ax.plot(frame["cost"], frame["mauc"], "o", color=BLUE, markersize=4)
        every = -(-len(frame) // _MAX_NUMBERS)
        for row in frame.iloc[::every].itertuples():
            ax.annotate(
                str(row.n_features),
                (row.cost, row.mauc),
                xytext=(0, 5),
                ha="center",
                textcoords="offset points",
                fontsize="small",
            )
        ax.margins(0.05, 0.12)
        ax.set_xlabel("cost of the features so far")
        ax.set_ylabel("predicted MAUC\n(numbers: features)")
        self.ax_: Any = ax
        self.figure_: Any = ax.figure
        return self


def _draw_prediction(ax: Any, predicted: np.ndarray, added: np.ndarray) -> None:
    """Draw the MAUC predicted after every step, and what the step added to it."""
    steps = np.arange(len(predicted))
    ax.bar(steps, added, 0.7, predicted - added, color=ORANGE, label="added by the step")
    ax.plot(steps, predicted, color=BLUE, marker="o", markersize=3, label="after the step")
    # The first step adds most: its bar is cut, so that the others can be seen.
    span = max(np.ptp(predicted), 0.01)
    ax.set_ylim(predicted.min() - 0.3 * span, predicted.max() + 0.1 * span)
    ax.set_xlim(-0.7, len(predicted) - 0.3)
    ax.tick_params(labelbottom=False)
    ax.grid(axis="y", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, fontsize="small", frameon=False
    )


def rank_classes(highest: int) -> np.ndarray:
    """Return the last rank of every colour: each rank its own, or few classes if there are many.

    >>> rank_classes(4).tolist(), rank_classes(48).tolist()
    ([1, 2, 3, 4], [1, 2, 5, 10, 20, 48])
    """
    if highest <= _MAX_RANKS:
        return np.arange(1, highest + 1)
    steps = [digit * 10**power for power in range(len(str(highest))) for digit in (1, 2, 5)]
    # The last class begins at no more than half of the highest rank.
    return np.array([*(rank for rank in steps if 2 * rank <= highest), highest])
