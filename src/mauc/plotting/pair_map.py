"""The feature x class-pair map: which selected feature separates which classes."""

from typing import Any

import numpy as np

from mauc.data.decomposition import Decomposition
from mauc.data.validate import check_fitted
from mauc.plotting.axes import MAX_WIDTH, label_axis, new_axes, room_for


class PairMapDisplay:
    """Map of the folded AUC of selected features on every class pair.

    Rows are features in the order of selection, columns are class pairs. A dot marks the
    pair that asked for a feature.

    Parameters
    ----------
    pair_auc : ndarray of shape (n_selected, n_pairs)
    feature_names : sequence of str
    pair_names : sequence of str
    asked_by : ndarray of shape (n_selected,), optional
        Pair that brought each feature.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    image_ : matplotlib AxesImage

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MDFS
    >>> from mauc.plotting import PairMapDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = PairMapDisplay.from_selector(MDFS(4, random_state=0).fit(X, y))
    >>> display.pair_auc.shape
    (4, 3)
    """

    def __init__(self, pair_auc, feature_names, pair_names, asked_by=None):
        self.pair_auc = pair_auc
        self.feature_names = feature_names
        self.pair_names = pair_names
        self.asked_by = asked_by

    @classmethod
    def from_selector(cls, selector):
        """Take the numbers from a fitted selector."""
        check_fitted(selector)
        pairs = Decomposition("one-vs-one", len(selector.classes_))
        is_paired = selector.decomposition_.name == "one-vs-one"
        return cls(
            pair_auc=selector.pair_auc_,
            feature_names=[step.feature_name for step in selector.trace_],
            pair_names=pairs.names(selector.classes_),
            asked_by=selector.trace_.subproblems if is_paired else None,
        )

    def to_frame(self):
        """Return the map as a pandas DataFrame, features by pairs."""
        import pandas as pd

        return pd.DataFrame(self.pair_auc, index=self.feature_names, columns=self.pair_names)

    def plot(self, ax: Any = None) -> "PairMapDisplay":
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure of fitting size by default.
        """
        n_selected, n_pairs = self.pair_auc.shape
        if ax is None:
            width = max(3.2, 2.0 + 0.24 * n_pairs + room_for(self.feature_names))
            height = max(2.2, min(1.3 + 0.24 * n_selected, 10)) + room_for(self.pair_names)
            width = min(width, MAX_WIDTH)
            ax = new_axes(figsize=(width, height))
        image = ax.imshow(
            self.pair_auc, vmin=0.5, vmax=1.0, cmap="cividis", aspect="auto", interpolation="none"
        )
        if self.asked_by is not None:
            # White with a dark rim shows on both ends of the colour scale.
            ax.scatter(
                self.asked_by, np.arange(n_selected), s=14, color="white",
                edgecolors="black", linewidths=0.8,
            )  # fmt: skip
        label_axis(ax.xaxis, self.pair_names)
        label_axis(ax.yaxis, self.feature_names)
        ax.set_xlabel("class pair" + ("" if self.asked_by is None else " (dot: asked for it)"))
        ax.set_ylabel("feature, in order of selection")
        ax.figure.colorbar(image, ax=ax, label="AUC, folded around 1/2", pad=0.02)
        self.ax_, self.figure_, self.image_ = ax, ax.figure, image
        return self
