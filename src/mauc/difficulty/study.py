"""The result of a siren study: how hard every class pair is, and where features stand on it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.difficulty.measures import columns_of, siren_index, third_weights
from mauc.exceptions import MaucError
from mauc.extras import optional_import
from mauc.printing import MAX_ROWS, Printed, SmallTable, number, short_name
from mauc.problem.decomposition import Decomposition

if TYPE_CHECKING:
    import pandas as pd

_MAX_LISTED = 5  # pairs that are printed


@dataclass(frozen=True, eq=False, repr=False)
class SirenStudy(Printed):
    r"""How hard every class pair is, and where features stand on it.

    Pairs of the sorted labels are in the order (0, 1), (0, 2), ..., (c-2, c-1).

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
    class_counts : ndarray of shape (n_classes,)
    feature_names : ndarray of shape (n_features,)
    relevance : str
        What ranks the features, on the whole problem and on the pairs.
    n_folds : int
    auc : ndarray of shape (n_pairs,)
        Cross-validated AUC of Naive Bayes on the pair: the smaller, the harder. NaN if a class
        has a single sample, which leaves nothing to train or nothing to test on.
    ranks : ndarray of shape (n_features, n_pairs)
        Rank of every feature on every pair, 1 for the best; ties share the mean of their ranks.
    feature_auc : ndarray of shape (n_features, n_pairs)
        Folded AUC of every feature on every pair.
    chosen : ndarray of shape (n_chosen,)
        The best features of the whole problem by the relevance, best first.
    selections : dict of str to ndarray
        What selectors chose, best first.

    See Also
    --------
    siren_study : Makes one.
    siren_index : The formula of `index`.
    """

    classes: np.ndarray
    class_counts: np.ndarray
    feature_names: np.ndarray
    relevance: str
    n_folds: int
    auc: np.ndarray
    ranks: np.ndarray
    feature_auc: np.ndarray
    chosen: np.ndarray
    selections: Mapping[str, np.ndarray] = field(default_factory=dict)

    @cached_property
    def names(self) -> list[str]:
        """Names of the pairs, such as "a vs b"."""
        names: list[str] = Decomposition("one-vs-one", len(self.classes)).names(self.classes)
        return names

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

    def neglect(self, selection: Any = None) -> np.ndarray:
        """Return how far down every pair ranks the chosen features, see `siren_index`.

        Parameters
        ----------
        selection : fitted selector, ranking or mask, optional
            The best features of the whole problem if not given.

        Returns
        -------
        neglect : ndarray of shape (n_pairs,)
            0 if the chosen are the best of the pair, about 1/2 if drawn at random, 1 if the worst.
        """
        columns = self._columns(selection)
        n_left = len(self.ranks) - len(columns)
        if n_left == 0:
            return np.zeros(len(self.auc))
        best = (len(columns) + 1) / 2
        return np.asarray((self.ranks[columns].mean(axis=0) - best) / n_left).clip(0.0, 1.0)

    def shortfall(self, selection: Any = None) -> np.ndarray:
        """Return how much AUC the best single feature of every pair has over the best chosen.

        Parameters
        ----------
        selection : fitted selector, ranking or mask, optional
            The best features of the whole problem if not given.

        Returns
        -------
        shortfall : ndarray of shape (n_pairs,)
        """
        chosen_auc = self.feature_auc[self._columns(selection)].max(axis=0)
        return np.asarray(self.best_auc - chosen_auc)

    def weights(self, third: str) -> np.ndarray:
        """Return the weight of every pair in the mean over the hardest or the easiest third.

        Parameters
        ----------
        third : {"hard", "easy"}

        Returns
        -------
        weights : ndarray of shape (n_pairs,)
            They sum to 1. Pairs that are equally hard share what is left of the third.
        """
        return third_weights(self.auc if third == "hard" else -self.auc)

    def frame(self) -> "pd.DataFrame":
        """Return one row per pair, the hardest first, as a pandas DataFrame."""
        pd = optional_import("pandas", "data frames")
        first, second = np.triu_indices(len(self.classes), 1)
        chosen_auc = self.feature_auc[self.chosen]
        columns = {
            "pair": self.names,
            "class_i": self.classes[first],
            "class_j": self.classes[second],
            "n_i": self.class_counts[first],
            "n_j": self.class_counts[second],
            "auc": self.auc,
            "third": self._thirds(),
            "neglect": self.neglect(),
            "mean_rank": self.ranks[self.chosen].mean(axis=0),
            "best_auc": self.best_auc,
            "best_feature": self.feature_names[self.feature_auc.argmax(axis=0)],
            "chosen_auc": chosen_auc.max(axis=0),
            "chosen_feature": self.feature_names[self.chosen[chosen_auc.argmax(axis=0)]],
            "shortfall": self.shortfall(),
        }
        return pd.DataFrame(columns).iloc[self.order].reset_index(drop=True)

    def comparison(self) -> "pd.DataFrame":
        """Compare the selectors by what they leave to the hard pairs.

        Returns
        -------
        comparison : pandas.DataFrame
            One row per selector, with its number of features, its siren index, its mean neglect
            of the hardest (``hard``) and of the easiest third of the pairs (``easy``), its mean
            shortfall on the hardest third, and the pair of that third it neglects most.
        """
        pd = optional_import("pandas", "data frames")
        if not self.selections:
            raise MaucError("there must be selectors to compare: give siren_study selectors=.")
        rows = [{"selector": name, **self._measures(one)} for name, one in self.selections.items()]
        return pd.DataFrame(rows)

    def printed_parts(self) -> list[str | SmallTable]:
        """Return the hardest pairs, the index, and the selectors if there are any."""
        neglect, shortfall = self.neglect(), self.shortfall()
        pairs = [
            [
                short_name(self.names[pair]), number(self.auc[pair]), f"{neglect[pair]:.3f}",
                f"{shortfall[pair]:.4f}",
            ]
            for pair in self.order[:_MAX_LISTED]
        ]  # fmt: skip
        easy, hard = (float(self.weights(third) @ neglect) for third in ("easy", "hard"))
        parts: list[str | SmallTable] = [
            f"{len(self.auc)} class pairs; the best {len(self.chosen)} of {len(self.ranks)} "
            f"features by {self.relevance}",
            SmallTable(["hardest pairs", "AUC", "neglect", "shortfall"], pairs, len(self.auc)),
            f"siren index {self.index:.3f} (neglect {hard:.3f} on the hardest third, "
            f"{easy:.3f} on the easiest)",
        ]
        if self.selections:
            parts.append(self._selector_table())
        return parts

    def _selector_table(self) -> SmallTable:
        heads = ["index", "hard", "easy", "shortfall"]
        forms = [".3f", ".3f", ".3f", ".4f"]
        rows = []
        for name, chosen in list(self.selections.items())[:MAX_ROWS]:
            measures = self._measures(chosen)
            cells = [number(measures[key], form) for key, form in zip(heads, forms, strict=True)]
            rows.append([short_name(name), *cells])
        return SmallTable(["selector", *heads], rows, len(self.selections))

    def _measures(self, selection: np.ndarray) -> dict[str, Any]:
        hard, neglect = self.weights("hard"), self.neglect(selection)
        return {
            "n_features": len(selection),
            "index": siren_index(selection, self),
            "hard": float(hard @ neglect),
            "easy": float(self.weights("easy") @ neglect),
            "shortfall": float(hard @ self.shortfall(selection)),
            "worst_pair": self.names[int(np.argmax(np.where(hard > 0, neglect, -1.0)))],
        }

    def _thirds(self) -> np.ndarray:
        is_hard, is_easy = (self.weights(third) > 0 for third in ("hard", "easy"))
        # A pair in both is one of so many equals that the thirds cannot be told apart.
        cases = [np.isnan(self.auc), is_hard & ~is_easy, is_easy & ~is_hard]
        return np.select(cases, ["unknown", "hard", "easy"], "middle")

    def _columns(self, selection: Any) -> np.ndarray:
        return self.chosen if selection is None else columns_of(selection, len(self.ranks))
