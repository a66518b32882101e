"""FCBF: predominant features by symmetrical uncertainty, then those that they cover.

The rounds are a loop of their own, not the lazy search: the order of the features is known before
the first round, and a term decides about a feature at once, so that there is no sum to bound. What
a kept feature covers leaves the list, and all that are left are compared with the next by one call.

Entropies and information are sums of whole numbers divided once, so copies have an uncertainty of
exactly 1 with each other.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mauc.checks import check_int, check_real
from mauc.data.problem import Problem
from mauc.measure.information import BinnedFeatures, target_information
from mauc.parallel import even_ranges, run_in
from mauc.search.selection import Ranked
from mauc.selectors.base import single_ranking
from mauc.selectors.information import BinnedSelector

# Samples of candidates that make a second thread worth its start; an estimate.
BLOCK_WORK = 1 << 25


@dataclass(kw_only=True, eq=False, repr=False)
class FCBF(BinnedSelector):
    r"""Select predominant features: a fast correlation-based filter.

    A feature is predominant if none of the better ones has as much information about it as it has
    about the class. FCBF keeps these and so decides by itself how many they are; to get just
    them, take ``FCBF("all", max_rounds=1)``. So that any number can be selected, the filter is
    repeated on what it dropped.

    Parameters
    ----------
    n_features_to_select : int, float, "all", "auto", "fdr" or None, default=None
        How many features to select: a number, a fraction of all, all of them (a full ranking), as
        many as `mauc.select_k` finds enough, whose curve is then `size_curve_`, those that separate
        some pair of classes significantly ("fdr"), or half of them (None).
    fdr_alpha : float, default=0.05
        Of "fdr": the share of the selected features that may be expected to separate no classes, by
        the tests of `mauc.pair_tests`, which are of location: features that differ between classes
        in spread alone are left out. Where no feature is significant, one is selected, with a
        warning.
    threshold : float, default=0.0
        In [0, 1]: features whose symmetrical uncertainty with the class is lower take no part in
        the rounds and come last.
    max_rounds : int, optional
        Rounds after which to stop. Features that no round kept are not selected then, so that
        fewer than `n_features_to_select` may be, but at least one.
    binning : {"three_states", "mdl", "equal_width", "equal_frequency", "none"}
        How numeric features become discrete, by default by "mdl"; see `MRMR`.
    n_bins : int, default=10
        Bins of "equal_width" and "equal_frequency".
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        Each category is a state.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.
    verbose : bool, default=False
        Whether to show on standard error how far a fit is that takes longer than two seconds.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        Selected columns in the order of selection. Rankings are nested: the first 10 are the
        choice for 10.
        They go by round, in a round by symmetrical uncertainty, equal ones by column.
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Symmetrical uncertainty of every feature and the class, in [0, 1].
    trace_ : SelectionTrace
        For each step the feature and its symmetrical uncertainty with the class.
    rounds_ : ndarray of shape (n_selected,)
        Round that kept each selected feature: 1 for the predominant ones, 2 for the predominant
        ones of the rest, and so on; 0 for features that no round looks at.
    pair_auc_ : ndarray of shape (n_selected, n_pairs)
        Folded AUC of the selected features, in the order of `ranking_`, on every class pair; of
        nominal ones as in `MDFS`.
    decomposition_ : Decomposition
        The sub-problems.
    subproblem_names_ : list of str
        Their names, such as "setosa vs virginica".
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names; only for data frames with string column names.

    See Also
    --------
    SymmetricalUncertainty : The same without the look at redundancy.

    Notes
    -----
    With :math:`SU(a, b) = 2 I(a; b) / (H(a) + H(b))` a round goes through its features by
    descending SU(f, y) [1]_. It keeps the first, p, drops every later f with

    .. math:: SU(f, p) \ge SU(f, y),

    and goes on with the next that is left. The first round is FCBF; the features that a round
    drops are those of the next one. Then come features below the threshold by SU, and in any case
    last those of SU 0 by column: constant features and those that no cut divides. A missing
    value is one more state. The states of a source of columns, one byte per cell, are kept in a
    temporary file where its `memory` does not hold them.

    References
    ----------
    .. [1] L. Yu, H. Liu, "Feature selection for high-dimensional data: a fast correlation-based
       filter solution", ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import FCBF
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = FCBF("all").fit(X, y)
    >>> list(X.columns[selector.ranking_[:3]])
    ['flavanoids', 'od280/od315_of_diluted_wines', 'color_intensity']
    >>> selector.rounds_
    array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2])
    """

    threshold: float = 0.0
    max_rounds: int | None = None
    binning: str = "mdl"

    @property
    def rounds_(self) -> np.ndarray:
        """Round that kept each selected feature; 0 for features that no round looks at."""
        rounds: np.ndarray = self._round_of[self.ranking_]
        return rounds

    def check_options(self) -> None:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        check_real("threshold", self.threshold, 0, 1)
        check_int("max_rounds", self.max_rounds, 1, optional=True)
        super().check_options()

    def _rank(self, problem: Problem, n_wanted: int, options: object) -> Ranked:
        with self.binned(problem) as features:
            ranking, rounds, relevance = fcbf_search(
                features, n_wanted, float(self.threshold), self.max_rounds
            )
        self._round_of = np.zeros(problem.n_features, np.int64)
        self._round_of[ranking] = rounds
        return single_ranking(problem, ranking, relevance[ranking], relevance)


def fcbf_search(
    features: "BinnedFeatures", k: int, threshold: float = 0.0, max_rounds: int | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return k features in order of rounds, the round of each, and SU(f, y) of all features."""
    arrays = features.arrays
    entropies, relevance = features.uncertainties()

    def cover(kept: int, left: np.ndarray) -> np.ndarray:
        """Return whether SU(kept, f) >= SU(f, y), of the features that are left."""
        target, shared = arrays.column(kept), np.empty(len(left))

        def fill(block: tuple[int, int]) -> None:
            """Fill in I(kept; f) of a range of them."""
            joint = np.empty((arrays.counts.shape[1], target.n_states), np.int64)
            for first in range(*block, features.max_rows):
                part = slice(first, min(first + features.max_rows, block[1]))
                target_information(*arrays, *target, left[part], joint, shared[part])
                if features.spilled is not None:
                    features.spilled.release()

        n_blocks = min(len(features.blocks), 1 + len(left) * arrays.states.shape[1] // BLOCK_WORK)
        run_in(features.pool, fill, even_ranges(len(left), n_blocks))
        both = entropies[left] + entropies[kept]
        uncertainty = np.divide(2.0 * shared, both, out=np.zeros(len(left)), where=both > 0.0)
        return uncertainty >= relevance[left]

    order = np.argsort(-relevance, kind="stable")
    # Features of SU 0 would fill one round each, by column.
    is_ranked = (relevance >= threshold) & (relevance > 0.0)
    ranking, rounds = _rounds(order[is_ranked[order]], k, max_rounds, cover)
    n_rest = k - len(ranking) if max_rounds is None else int(not ranking)
    rest = order[~is_ranked[order]][:n_rest]
    return (
        np.append(ranking, rest).astype(np.int64),
        np.append(rounds, np.zeros(len(rest))).astype(np.int64),
        relevance,
    )


def _rounds(
    order: np.ndarray,
    k: int,
    max_rounds: int | None,
    cover: Callable[[int, np.ndarray], np.ndarray],
) -> tuple[list[int], list[int]]:
    """Go through rounds until k features are ranked; return them and their rounds."""
    ranking: list[int] = []
    rounds: list[int] = []
    n_round, left = 0, order
    while len(left) and len(ranking) < k and n_round != max_rounds:
        n_round += 1
        covered = [left[:0]]
        # left are the features of this round that are neither kept nor covered, best first
        while len(left) and len(ranking) < k:
            ranking.append(left[0])
            rounds.append(n_round)
            is_covered = cover(left[0], left[1:])
            covered.append(left[1:][is_covered])
            left = left[1:][~is_covered]
        left = order[np.isin(order, np.concatenate(covered))]
    return ranking, rounds
