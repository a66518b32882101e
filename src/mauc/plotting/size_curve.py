"""How many features are enough: cross-validated MAUC over their number, with the choice."""

from typing import Any

from mauc.evaluation import SizeCurve, select_k
from mauc.plotting.axes import new_axes

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
        return self.curve.frame()

    def plot(self, ax: Any = None) -> "SizeCurveDisplay":
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        if ax is None:
            ax = new_axes(figsize=(6, 3.6))
        curve, sizes, mean = self.curve, self.curve.sizes, self.curve.mean
        error = curve.standard_error
        ax.fill_between(sizes, mean - error, mean + error, color=_BLUE, alpha=0.2, linewidth=0)
        ax.plot(sizes, mean, color=_BLUE, marker="o", markersize=3, label="mean ± standard error")
        ax.axhline(curve.threshold, color="0.4", linewidth=0.8, linestyle=":")
        ax.axvline(
            curve.best_size, color="0.4", linewidth=1, linestyle="--",
            label=f"best: {curve.best_size}",
        )  # fmt: skip
        ax.axvline(curve.size, color=_VERMILION, linewidth=1.5, label=f"chosen: {curve.size}")
        ax.set_xscale("log")
        ticks = [size for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if size <= sizes[-1]]
        ax.set_xticks(ticks, [str(size) for size in ticks])
        ax.minorticks_off()
        ax.set_xlabel("number of features")
        ax.set_ylabel("cross-validated MAUC")
        ax.legend(framealpha=1.0, edgecolor="none", loc="lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self
