"""FAST: a block of columns in, the area under the ROC curve of sliding thresholds out."""

import numpy as np

from mauc.auc.pair_auc import folded_auc
from mauc.binning.value_runs import sorted_columns
from mauc.numerics.exact_mean import mean_of_quotients
from mauc.problem.decomposition import Decomposition
from mauc.selectors.relevance.sliding_thresholds import sliding_wins


def fast_relevance(problem, decomposition, chosen, n_bins=10):
    r"""Score features by the area under a ROC curve of few thresholds.

    Parameters
    ----------
    problem : Problem
        A missing value ties with every value.
    decomposition : Decomposition
        For ``"whole"`` the score is the mean over all class pairs.
    chosen : slice or list of int
    n_bins : int, default=10
        Bins, and thresholds, of every sub-problem.

    Returns
    -------
    scores : ndarray of shape (n_chosen, n_subproblems)
        In [1/2, 1]; 1/2 for a constant feature.

    Notes
    -----
    On a sub-problem of n samples the values in ascending order are cut into bins that end at
    round(b n / n_bins); the mean of each bin is a threshold t, above which a sample is called
    positive; a value that equals t up to rounding is not above it. The area under the points of
    all thresholds and the corners, by trapezoids, is folded around 1/2.

    References
    ----------
    .. [1] X. Chen, M. Wasikowski, "FAST: a ROC-based feature selection metric for small samples
       and imbalanced data classification problems", KDD 2008.
    """
    XT = problem.float_columns(chosen)
    is_whole = decomposition.name == "whole"
    parts = Decomposition("one-vs-one", problem.n_classes) if is_whole else decomposition
    roles = parts.roles
    wins = np.empty((len(XT), parts.n_subproblems), np.int64)
    columns = sorted_columns(XT, problem.codes, problem.n_classes)
    sliding_wins(*columns, _are_whole(XT), roles, n_bins, wins)
    sizes = [(roles == side) @ problem.class_counts for side in (0, 1)]
    max_wins = 2.0 * sizes[0] * sizes[1]
    folded = folded_auc(wins, max_wins)
    return mean_of_quotients(folded, max_wins)[:, np.newaxis] if is_whole else folded


def _are_whole(XT):
    """Return which columns hold whole numbers only, small enough to be exact; NaN is ignored."""
    is_exact = np.fmax.reduce(np.abs(XT), axis=1) <= 2.0**53
    return is_exact & (np.fmax.reduce(np.abs(np.rint(XT) - XT), axis=1) == 0)
