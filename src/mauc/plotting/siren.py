"""The siren pitfall: how hard each class pair is, and how it ranks the chosen features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.checks import check_choice
from mauc.difficulty import SirenStudy
from mauc.exceptions import MaucError
from mauc.plotting.axes import (
    BLUE,
    MAX_WIDTH,
    ORANGE,
    VERMILION,
    label_axis,
    new_axes,
    size_in_inches,
)

if TYPE_CHECKING:
    import pandas as pd

_MIN_LINE = 7.0  # inches that title and legend need side by side
_MAX_BOXES = 80  # boxes that do not touch; more pairs become a band
_GREY = "#555555"


class SirenDisplay:
    """Difficulty of the class pairs and ranks of the best features of the whole problem on them.

    Attributes
    ----------
    axes_ : tuple of matplotlib Axes
        Of the difficulty and of the ranks, or of the one that was drawn.
    ax_, figure_ : matplotlib Axes and Figure
        The first of them, and where they are.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc.difficulty import siren_study
    >>> from mauc.plotting import SirenDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> display = SirenDisplay.from_study(siren_study(X, y, n_features=4))
    >>> display.to_frame()["pair"].tolist()
    ['0 vs 1', '0 vs 2', '1 vs 2']
    """

    def __init__(self, study: SirenStudy) -> None:
        self.study = study

    @classmethod
    def from_study(
        cls, study: SirenStudy, *, ax: Any = None, order: str = "difficulty"
    ) -> "SirenDisplay":
        """Draw a study; `ax` and `order` are those of `plot`."""
        return cls(study).plot(ax, order=order)

    def to_frame(self) -> "pd.DataFrame":
        """Return the numbers as a pandas DataFrame, one row per pair, the hardest first."""
        return self.study.to_frame()

    def plot(self, ax: Any = None, *, order: str = "difficulty") -> "SirenDisplay":
        """Draw the difficulty of the pairs above the ranks of the features on them.

        Parameters
        ----------
        ax : matplotlib Axes or two of them, optional
            Where to draw; one is divided in two. A new figure of fitting size by default.
        order : {"difficulty", "pair"}, default="difficulty"
            The hardest pair first, or the pairs in the order of the classes, as in the paper.
        """
        if ax is None:
            upper, lower = self._new_axes(2)
        elif isinstance(ax, tuple | list | np.ndarray):
            if len(ax) != 2:
                raise MaucError(f"ax must be one Axes or two, got {len(ax)}.")
            upper, lower = ax
        else:
            ax.set_axis_off()
            upper = ax.inset_axes([0, 0.65, 1, 0.3])
            lower = ax.inset_axes([0, 0, 1, 0.47], sharex=upper)
        self.plot_difficulty(upper, order=order)
        self.plot_ranks(lower, order=order)
        upper.tick_params(labelbottom=False)
        upper.set_xlabel("")
        self.axes_: tuple[Any, ...] = (upper, lower)
        self.ax_, self.figure_ = upper, upper.figure
        return self

    def plot_difficulty(self, ax: Any = None, *, order: str = "difficulty") -> "SirenDisplay":
        """Draw the AUC of the judge on every pair (Figure 1 of the paper), as `plot`.

        Beside it are the best single feature of the pair and the best of the chosen features; a
        line joins them where the better one was not chosen.
        """
        ax = self._new_axes(1)[0] if ax is None else ax
        pairs, study = self._pairs(order), self.study
        x = np.arange(len(pairs))
        size = _scaled(34, len(pairs), 6)
        best, chosen = study.best_auc[pairs], (study.best_auc - study.shortfall())[pairs]
        self._shade(ax, pairs)
        ax.vlines(x, chosen, best, color=VERMILION, linewidth=_scaled(2.5, len(pairs), 0.8))
        ax.scatter(x, best, s=size, marker="_", color=_GREY, label="best single feature", zorder=2)
        ax.scatter(
            x,
            chosen,
            s=0.7 * size,
            marker="v",
            color=VERMILION,
            linewidths=0,
            zorder=3,
            label=f"best of the {len(study.chosen)} chosen",
        )
        ax.scatter(
            x,
            study.auc[pairs],
            s=size,
            color=BLUE,
            linewidths=0,
            zorder=4,
            label="all features",
        )
        ax.set_ylabel("AUC on the pair" if len(pairs) > 1 else "AUC")
        ax.set_title(f"difficulty for {study.judge}", loc="left", fontsize="medium")
        return self._finish(ax, pairs, order)

    def plot_ranks(self, ax: Any = None, *, order: str = "difficulty") -> "SirenDisplay":
        """Draw where each pair ranks the chosen features (Figures 2 and 3 of the paper).

        A box or band holds the middle half of the ranks, a line or the outer band the middle 80 %,
        a dot is their mean.
        """
        ax = self._new_axes(1)[0] if ax is None else ax
        from matplotlib.ticker import MaxNLocator

        pairs, study = self._pairs(order), self.study
        x = np.arange(len(pairs))
        ranks = study.ranks[study.chosen][:, pairs]
        low, first, third, high = np.percentile(ranks, (10, 25, 75, 90), axis=0)
        n_features, n_chosen = len(study.ranks), len(study.chosen)
        self._shade(ax, pairs)
        if len(pairs) > _MAX_BOXES:
            inner, outer = "dark band", "light band"
            for bottom, top in ((low, high), (first, third)):
                ax.fill_between(x, bottom, top, step="mid", color=BLUE, alpha=0.22, linewidth=0)
        else:
            inner, outer = "box", "line"
            ax.vlines(x, low, high, color=BLUE, linewidth=1.2)
            ax.bar(x, third - first, 0.7, first, color=BLUE, alpha=0.45, linewidth=0)
        size = _scaled(30, len(pairs), 7)
        ax.scatter(
            x,
            ranks.mean(axis=0),
            s=size,
            color="black",
            linewidths=0,
            zorder=3,
            label="mean rank",
        )
        levels = {"best possible": (n_chosen + 1) / 2, "drawn at random": (n_features + 1) / 2}
        for (name, level), style in zip(levels.items(), ("--", ":"), strict=True):
            ax.axhline(level, color=_GREY, linestyle=style, linewidth=1.2, label=name, zorder=1)
        ax.set_ylim(n_features + 0.5, 0.5)  # rank 1 at the top
        ticks = MaxNLocator(6, integer=True).tick_values(1, n_features)
        step = n_features / 20  # ranks so near to 1 make room for its tick
        ax.set_yticks([1, *(int(tick) for tick in ticks if 1 + step < tick <= n_features)])
        ax.set_ylabel(f"rank{' on the pair' * (len(pairs) > 1)}, 1 to {n_features}")
        ax.set_title(
            f"the best {n_chosen} feature{'s' if n_chosen > 1 else ''} by {study.relevance}"
            + f": siren index {study.index:.3f}" * (len(pairs) > 1),
            loc="left",
            fontsize="medium",
        )
        self._finish(ax, pairs, order)
        spread = f"{inner}: middle half of the ranks, {outer}: middle 80 %"
        ax.set_xlabel(f"{ax.get_xlabel()}\n{spread}")
        return self

    def _pairs(self, order: str) -> np.ndarray:
        check_choice("order", order, ("difficulty", "pair"))
        return self.study.order if order == "difficulty" else np.arange(len(self.study.auc))

    def _new_axes(self, n_panels: int) -> Any:
        n_pairs = len(self.study.auc)
        size = (float(np.clip(3.0 + 0.22 * n_pairs, 8.0, MAX_WIDTH)), 2.4 + 2.3 * n_panels)
        return new_axes(n_panels, 1, figsize=size, sharex=True, squeeze=False)[:, 0]

    def _shade(self, ax: Any, pairs: np.ndarray) -> None:
        """Shade the pairs of the hardest third, those that are tied at its end lightly."""
        strength = self._shading()[pairs]
        for x in np.flatnonzero(strength):
            ax.axvspan(
                x - 0.5,
                x + 0.5,
                color=ORANGE,
                alpha=0.18 * strength[x],
                linewidth=0,
                zorder=0,
            )

    def _shading(self) -> np.ndarray:
        """Return how strongly each pair is shaded; a pair that ties into both thirds is in none."""
        hard, easy = (np.nan_to_num(self.study.weights(third)) for third in ("hard", "easy"))
        hard[easy > 0] = 0.0
        return hard / max(hard.max(), 1e-300)

    def _finish(self, ax: Any, pairs: np.ndarray, order: str) -> "SirenDisplay":
        names = [self.study.names[pair] for pair in pairs]
        label_axis(ax.xaxis, names, fontsize="small")
        ax.set_xlim(-0.6, len(pairs) - 0.4)
        what = "class pair, the hardest first" if order == "difficulty" else "class pair"
        shaded = " (shaded: the hardest third)" if self._shading().any() else ""
        ax.set_xlabel(what + shaded if len(pairs) > 1 else "classes")
        is_narrow = size_in_inches(ax)[0] < _MIN_LINE
        if is_narrow:  # title above the legend, not beside it
            ax.set_title(ax.get_title(loc="left"), loc="left", fontsize="medium", pad=19)
        ax.set_axisbelow(True)
        ax.grid(axis="y", color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
        # Above the panel, where it hides nothing.
        legend = ax.legend(
            loc="lower right",
            bbox_to_anchor=(1.0, 1.0),
            ncols=3,
            fontsize="x-small" if is_narrow else "small",
            frameon=False,
            borderaxespad=0.2,
            handletextpad=0.4,
            columnspacing=1.2,
        )
        for handle in legend.legend_handles:
            if hasattr(handle, "set_sizes"):
                handle.set_sizes([24])  # seen however small the marks of many pairs are
        self.axes_, self.ax_, self.figure_ = (ax,), ax, ax.figure
        return self


def _scaled(size: float, n_pairs: int, smallest: float) -> float:
    """Return a mark size that shrinks as pairs crowd."""
    return max(smallest, size * min(1.0, 40 / n_pairs))
