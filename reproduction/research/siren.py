"""The siren study of the paper's section 4.1: do the best features serve the hard class pairs?

A feature that separates the easy pairs scores high on the whole problem, so a selector that looks
at the whole problem may leave the hard pairs without features (Forman, "A Pitfall and Solution in
Multi-Class Feature Selection for Text Classification", ICML 2004). A pair is neglected by the
probability that a feature which was left out outranks a chosen one on it; the siren index is the
mean over the hardest third of the pairs less that over the easiest, at least 0. Random draws also
have an index about 0, for they neglect all pairs alike: the mean over the hardest third is shown
beside it. Figure 1 of the paper is `draw_difficulty`, Figures 2 and 3 are `draw_ranks`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.base import clone

from mauc.data.door import make_problem
from mauc.data.problem import Decomposition
from mauc.layout import Layout, plain_layout, render_text
from mauc.plotting.axes import BLUE, MAX_WIDTH, ORANGE, VERMILION, label_axis, new_axes
from mauc.registry import RELEVANCES
from mauc.results import number, short_name

MAX_LISTED = 5  # pairs that are printed
MAX_BOXES = 80  # boxes that do not touch; more pairs become a band
GREY = "#555555"


def siren_study(
    X: ArrayLike,
    y: ArrayLike,
    auc: ArrayLike,
    *,
    relevance: str = "chi2",
    n_features: int = 100,
    selectors: Mapping[str, Any] | None = None,
    judge: str = "a given measure",
) -> "SirenStudy":
    """Return how the best features of the whole problem, and those of selectors, serve each pair.

    `auc` says how hard the pairs of the sorted labels are: the smaller, the harder. `selectors` are
    selectors of this library by name, which are cloned and asked for `n_features`.
    """
    problem = make_problem(X, y)
    pairs = Decomposition("one-vs-one", problem.n_classes)
    scores = RELEVANCES[relevance].score(problem, pairs, slice(None))
    whole = Decomposition("whole", problem.n_classes)
    merit = RELEVANCES[relevance].score(problem, whole, slice(None))[:, 0]
    chosen = {
        name: clone(selector).set_params(n_features_to_select=n_features).fit(X, y).ranking_
        for name, selector in (selectors or {}).items()
    }
    return SirenStudy(
        problem.classes,
        relevance,
        np.asarray(auc, float),
        rankdata(-scores, axis=0),
        RELEVANCES["auc"].score(problem, pairs, slice(None)),
        np.argsort(-merit, kind="stable")[:n_features],
        chosen,
        judge,
    )


@dataclass(frozen=True, eq=False)
class SirenStudy:
    """How hard every class pair is, and how features rank on it.

    Pairs of the sorted labels are in the order (0, 1), (0, 2), ..., (c-2, c-1); `ranks` and
    `feature_auc` have shape (n_features, n_pairs).
    """

    classes: np.ndarray
    relevance: str  #: what ranks the features, on the whole problem and on the pairs
    auc: np.ndarray  #: of the judge on the pairs: the smaller, the harder
    ranks: np.ndarray  #: of every feature on every pair, 1 for the best, ties sharing the mean
    feature_auc: np.ndarray  #: folded
    chosen: np.ndarray  #: the best features of the whole problem
    selections: Mapping[str, np.ndarray] = field(default_factory=dict)
    judge: str = "a given measure"

    @cached_property
    def names(self) -> list[str]:
        """Names of the pairs, such as "a vs b"."""
        return Decomposition("one-vs-one", len(self.classes)).names(self.classes)

    @property
    def order(self) -> np.ndarray:
        """Pairs from the hardest to the easiest, those without an AUC last."""
        return np.argsort(self.auc, kind="stable")

    @property
    def best_auc(self) -> np.ndarray:
        """Largest folded AUC of a single feature on every pair."""
        return np.asarray(self.feature_auc.max(axis=0))

    @property
    def index(self) -> float:
        """Siren index of the best features of the whole problem."""
        return siren_index(self.chosen, self)

    def neglect(self, selection: np.ndarray | None = None) -> np.ndarray:
        """Return how far down every pair ranks the chosen features, from 0, its best, to 1."""
        columns = self.chosen if selection is None else np.asarray(selection)
        n_left = len(self.ranks) - len(columns)
        if n_left == 0:
            return np.zeros(len(self.auc))
        best = (len(columns) + 1) / 2
        return np.asarray((self.ranks[columns].mean(axis=0) - best) / n_left).clip(0.0, 1.0)

    def shortfall(self, selection: np.ndarray | None = None) -> np.ndarray:
        """Return how much AUC the best single feature of every pair has over the best chosen."""
        columns = self.chosen if selection is None else np.asarray(selection)
        return np.asarray(self.best_auc - self.feature_auc[columns].max(axis=0))

    def weights(self, third: str) -> np.ndarray:
        """Return the weight of every pair in the mean over the third "hard" or "easy"."""
        return third_weights(self.auc if third == "hard" else -self.auc)

    def measures(self, selection: np.ndarray) -> dict[str, float]:
        """Return the siren index of a selection, what it is made of, and its shortfall."""
        hard, neglect = self.weights("hard"), self.neglect(selection)
        return {
            "index": siren_index(selection, self),
            "hard": float(hard @ neglect),
            "easy": float(self.weights("easy") @ neglect),
            "shortfall": float(hard @ self.shortfall(selection)),
        }

    def __str__(self) -> str:
        neglect, shortfall, whole = self.neglect(), self.shortfall(), self.measures(self.chosen)
        pairs = [
            [
                short_name(self.names[pair]),
                number(self.auc[pair]),
                number(neglect[pair], ".3f"),
                number(shortfall[pair]),
            ]
            for pair in self.order[:MAX_LISTED]
        ]
        heads = ["hardest pairs", "AUC", "neglect", "shortfall"]
        parts: list[str | Layout] = [
            f"{len(self.auc)} class pairs; the best {len(self.chosen)} of {len(self.ranks)} "
            f"features by {self.relevance}",
            f"AUC with all features by {self.judge}",
            plain_layout(heads, pairs, len(self.auc)),
            f"siren index {self.index:z.3f} (neglect {whole['hard']:.3f} on the hardest third, "
            f"{whole['easy']:.3f} on the easiest)",
        ]
        if self.selections:
            rows = []
            for name, chosen in self.selections.items():
                index, hard, easy, lost = self.measures(chosen).values()
                rows.append([name, *(number(one, ".3f") for one in (index, hard, easy))])
                rows[-1].append(number(lost))
            parts.append(plain_layout(["selector", "index", "hard", "easy", "shortfall"], rows))
        texts = (one if isinstance(one, str) else render_text(one).rstrip("\n") for one in parts)
        return "\n".join(texts)


def siren_index(selection: np.ndarray, study: SirenStudy) -> float:
    """Return how much more a selection neglects the hard class pairs than the easy ones."""
    difference = (study.weights("hard") - study.weights("easy")) @ study.neglect(selection)
    return float(np.maximum(0.0, difference))  # unlike max, np.maximum propagates NaN


def third_weights(difficulty: np.ndarray) -> np.ndarray:
    """Return weights, summing to 1, of a mean over the smallest third; NaN gets none.

    A third of five numbers is two: the smallest, and one shared by the two that come next.

    >>> third_weights(np.array([0.9, 0.6, 0.7, 0.7, 1.0]))
    array([0.  , 0.5 , 0.25, 0.25, 0.  ])
    """
    known = np.sort(difficulty[~np.isnan(difficulty)])
    if len(known) == 0:
        return np.full(len(difficulty), np.nan)
    n_third = -(-len(known) // 3)
    is_inside = difficulty < known[n_third - 1]
    is_edge = difficulty == known[n_third - 1]
    n_left = n_third - is_inside.sum()
    return np.asarray((is_inside + is_edge * (n_left / is_edge.sum())) / n_third)


def draw(study: SirenStudy) -> Any:
    """Return a figure of the difficulty of the pairs above the ranks of the features on them."""
    size = (float(np.clip(3.0 + 0.22 * len(study.auc), 8.0, MAX_WIDTH)), 7.0)
    upper, lower = new_axes(2, 1, figsize=size, sharex=True, squeeze=False)[:, 0]
    draw_difficulty(study, upper)
    draw_ranks(study, lower)
    upper.tick_params(labelbottom=False)
    upper.set_xlabel("")
    return upper.figure


def draw_difficulty(study: SirenStudy, ax: Any) -> None:
    """Draw the AUC of the judge on every pair (Figure 1 of the paper), the hardest first.

    Beside it are the best single feature of the pair and the best of the chosen features; a line
    joins them where the better one was not chosen.
    """
    pairs = study.order
    x = np.arange(len(pairs))
    size = _scaled(34, len(pairs), 6)
    best, chosen = study.best_auc[pairs], (study.best_auc - study.shortfall())[pairs]
    _shade(study, ax)
    ax.vlines(x, chosen, best, color=VERMILION, linewidth=_scaled(2.5, len(pairs), 0.8))
    ax.scatter(x, best, s=size, marker="_", color=GREY, label="best single feature", zorder=2)
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
    _finish(study, ax)


def draw_ranks(study: SirenStudy, ax: Any) -> None:
    """Draw where each pair ranks the chosen features (Figures 2 and 3 of the paper).

    A box or band holds the middle half of the ranks, a line or the outer band the middle 80 %, a
    dot is their mean.
    """
    from matplotlib.ticker import MaxNLocator

    pairs = study.order
    x = np.arange(len(pairs))
    ranks = study.ranks[study.chosen][:, pairs]
    low, first, third, high = np.percentile(ranks, (10, 25, 75, 90), axis=0)
    n_features, n_chosen = len(study.ranks), len(study.chosen)
    _shade(study, ax)
    if len(pairs) > MAX_BOXES:
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
        ax.axhline(level, color=GREY, linestyle=style, linewidth=1.2, label=name, zorder=1)
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
    _finish(study, ax)
    spread = f"{inner}: middle half of the ranks, {outer}: middle 80 %"
    ax.set_xlabel(f"{ax.get_xlabel()}\n{spread}")


def _shading(study: SirenStudy) -> np.ndarray:
    """Return how strongly each pair is shaded; a pair that ties into both thirds is in none."""
    hard, easy = (np.nan_to_num(study.weights(third)) for third in ("hard", "easy"))
    hard[easy > 0] = 0.0
    return np.asarray(hard / max(hard.max(), 1e-300))


def _shade(study: SirenStudy, ax: Any) -> None:
    """Shade the pairs of the hardest third, those that are tied at its end lightly."""
    strength = _shading(study)[study.order]
    for x in np.flatnonzero(strength):
        ax.axvspan(x - 0.5, x + 0.5, color=ORANGE, alpha=0.18 * strength[x], linewidth=0, zorder=0)


def _finish(study: SirenStudy, ax: Any) -> None:
    """Label the pairs, and put the legend above the panel, where it hides nothing."""
    label_axis(ax.xaxis, [study.names[pair] for pair in study.order], fontsize="small")
    ax.set_xlim(-0.6, len(study.auc) - 0.4)
    shaded = " (shaded: the hardest third)" if _shading(study).any() else ""
    ax.set_xlabel("class pair, the hardest first" + shaded)
    ax.set_axisbelow(True)
    ax.grid(axis="y", color="0.9")
    ax.spines[["top", "right"]].set_visible(False)
    legend = ax.legend(
        loc="lower right",
        bbox_to_anchor=(1.0, 1.0),
        ncols=3,
        fontsize="small",
        frameon=False,
        borderaxespad=0.2,
        handletextpad=0.4,
        columnspacing=1.2,
    )
    for handle in legend.legend_handles:
        if hasattr(handle, "set_sizes"):
            handle.set_sizes([24])  # seen however small the marks of many pairs are


def _scaled(size: float, n_pairs: int, smallest: float) -> float:
    """Return a mark size that shrinks as pairs crowd."""
    return max(smallest, size * min(1.0, 40 / n_pairs))
