"""How many features are enough: cross-validated MAUC over their number, with the choice."""

from typing import Any

import numpy as np

from mauc.evaluation import SizeCurve, select_k
from mauc.plotting.axes import new_axes
from mauc.plotting.spread import mark_sizes

_BLUE, _VERMILION = "#0072B2", "#D55E00"  # of Okabe and Ito


class SizeCurveDisplay:
    """Cross-validated MAUC over the number of features, the best size and the chosen one.

    Parameters
    ----------
    curve : SizeCurve

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

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
    def from_selector(cls, selector: Any) -> "SizeCurveDisplay":
        """Take the curve of a selector fitted with ``n_features_to_select="auto"``."""
        return cls(selector.size_curve_)

    @classmethod
    def from_data(cls, selector: Any, X: Any, y: Any, **options: Any) -> "SizeCurveDisplay":
        """Compute the curve by `select_k`."""
        return cls(select_k(selector, X, y, **options))

    def frame(self) -> Any:
        """Return the curve as a pandas DataFrame."""
        return self.curve.to_frame()

    def plot(self, ax: Any = None) -> "SizeCurveDisplay":
        """Draw the curve; a best size at its edge is said above it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        if ax is None:
            ax = new_axes(figsize=(6.4, 3.8))
        curve, sizes, mean = self.curve, self.curve.sizes, self.curve.mean
        # MAUC ends at 0 and 1, and so does the band.
        lower, upper = (
            np.clip(mean + side * curve.standard_error, 0.0, 1.0) for side in (-1.0, 1.0)
        )
        ax.fill_between(sizes, lower, upper, color=_BLUE, alpha=0.2, linewidth=0)
        if len(sizes) == 1:
            ax.vlines(sizes, lower, upper, color=_BLUE)
        ax.plot(sizes, mean, color=_BLUE, marker="o", markersize=3, label="mean ± standard error")
        ax.axhline(
            curve.threshold, color="0.4", linewidth=0.8, linestyle=":", label="still accepted"
        )
        is_one = curve.best_size == curve.size
        if not is_one:
            ax.axvline(
                curve.best_size, color="0.4", linewidth=1, linestyle="--",
                label=f"best: {curve.best_size}", zorder=1,
            )  # fmt: skip
        label = f"{'best and chosen' if is_one else 'chosen'}: {curve.size}"
        ax.axvline(curve.size, color=_VERMILION, linewidth=1.5, label=label, zorder=1)
        mark_sizes(ax, sizes)
        ax.set_xlabel("number of features")
        ax.set_ylabel("cross-validated MAUC")
        # Above the panel, where it hides nothing.
        ax.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, fontsize="small",
            frameon=False, handletextpad=0.4, columnspacing=1.2, title=curve.edge_note or None,
            title_fontsize="small",
        )  # fmt: skip
        self.ax_, self.figure_ = ax, ax.figure
        return self
