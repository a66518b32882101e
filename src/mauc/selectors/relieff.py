"""ReliefF: features that differ between a sample and its nearest misses, and not its hits."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mauc.checks import check_int, is_int
from mauc.data.arguments import CategoricalFeatures, Seed
from mauc.data.door import check_generator
from mauc.data.problem import Problem
from mauc.exceptions import MaucError
from mauc.measure.relieff import relieff_weights
from mauc.search.selection import Ranked
from mauc.selectors.base import RankingSelector, single_ranking


@dataclass(kw_only=True, eq=False, repr=False)
class ReliefF(RankingSelector):
    r"""Rank features by ReliefF weights.

    A feature is good if it differs between a sample and its nearest neighbours of other
    classes (misses) and does not between the sample and its nearest neighbours of the same
    class (hits). The weights are those of WEKA's ReliefFAttributeEval, to the bit.

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
    n_neighbors : int, default=10
        Hits, and misses of every other class, of a sample.
    n_iterations : "all", "log" or int, default="all"
        How many samples are compared with their neighbours: all of them once, or this many drawn
        with replacement, in proportion to weights; "log" is round(ln n), the paper's choice (noisy,
        but linear time).
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
        They differ by 0 or 1.
    random_state : int, SeedSequence, Generator, RandomState or None, default=None
        Pass an int or a SeedSequence for reproducible results; the others are advanced.
        Draws of the samples.
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
    support_ : ndarray of shape (n_features,), bool
        Mask of the selected columns.
    scores_ : ndarray of shape (n_features,)
        Weight of every feature, in [-1, 1]; equal ones rank by column.
    trace_ : SelectionTrace
        For each step the feature, the list that it was drawn from, and its rank and score there.
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

    Notes
    -----
    With diff the difference of two samples in feature f, scaled by its range, S the samples
    drawn, :math:`H_r` the k nearest hits and :math:`M_{r,c}` the k nearest misses of class c,

    .. math:: W_f = \frac{1}{|S|} \sum_{r \in S} \Big[ -\frac{1}{k} \sum_{h \in H_r}
              \mathrm{diff}_f(r, h) + \sum_{c \ne c_r} \frac{P(c)}{1 - P(c_r)}
              \frac{1}{k} \sum_{m \in M_{r,c}} \mathrm{diff}_f(r, m) \Big]

    Distances are sums of differences. A missing value differs from a known one z, scaled to
    [0, 1], by max(z, 1 - z), and from a missing one by 1. Memory is O(n c k), never n x n.

    Rows are compared with rows, so X must be in memory: a source of columns is refused.

    With weights, neighbours are taken until their weights sum to k, of equal distances those of
    earlier rows first; the copies that a weight above 1 stands for are hits of each other.

    A feature whose range is below 1e-6, whatever its unit, counts as constant, as in WEKA; `fit`
    warns of it. Scale features in tiny units first.

    References
    ----------
    .. [1] M. Robnik-Sikonja, I. Kononenko, "Theoretical and empirical analysis of ReliefF and
       RReliefF", Machine Learning 53, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import ReliefF
    >>> X, y = load_iris(return_X_y=True)
    >>> ReliefF(2).fit(X, y).ranking_
    array([3, 2])
    """

    n_neighbors: int = 10
    n_iterations: int | Literal["all", "log"] = "all"
    categorical_features: CategoricalFeatures = None
    random_state: Seed = None

    def check_options(self) -> Any:
        """Return the checked parameters for `_rank`; raise a `MaucError` for a wrong one."""
        wanted = self.n_iterations
        is_word = isinstance(wanted, str) and wanted in ("all", "log")
        if not is_word and not (is_int(wanted) and wanted >= 1):
            raise MaucError(
                f'n_iterations must be "all", "log" or an int of at least 1, got {wanted!r}.'
            )
        if self.random_state is not None:
            check_generator(self.random_state)
        is_plain = type(self.n_neighbors) is int and self.n_neighbors >= 1
        return self.n_neighbors if is_plain else check_int("n_neighbors", self.n_neighbors, 1)

    def _rank(self, problem: Problem, n_wanted: int, n_neighbors: int) -> Ranked:
        weights = relieff_weights(problem, self._draw_rows(problem), n_neighbors, self.n_jobs)
        ranking = np.argsort(-weights, kind="stable")[:n_wanted]
        return single_ranking(problem, ranking, weights[ranking], weights)

    def _draw_rows(self, problem: Problem) -> np.ndarray | None:
        """Return the sampled rows, or None for all."""
        wanted, total = self.n_iterations, problem.class_weights.sum()
        if wanted == "all":
            return None
        n_iterations = max(1, round(np.log(total))) if isinstance(wanted, str) else wanted
        generator = check_generator(self.random_state)
        if problem.sample_weight is None:
            return generator.randint(problem.n_samples, size=n_iterations)
        ends = np.cumsum(problem.sample_weight)
        if total.is_integer():  # the rows that would be drawn if each were given so often
            return np.searchsorted(ends, generator.randint(int(total), size=n_iterations), "right")
        drawn = np.searchsorted(ends, total * generator.random_sample(n_iterations), "right")
        return np.minimum(drawn, len(ends) - 1)
