"""AUC of single features: a block of columns in, one AUC per feature and sub-problem out."""

import numpy as np
from sklearn.base import BaseEstimator

from mauc.auc.pair_auc import dense_wins, fold_wins, sparse_wins, weighted_wins
from mauc.parallel import run_blocks
from mauc.problem.decomposition import Decomposition
from mauc.problem.problem import make_problem


def auc_relevance(problem, decomposition, chosen):
    r"""Return the folded AUC of features on every sub-problem.

    A feature that ranks the second class above the first serves as well as one that does the
    reverse, so an AUC below 1/2 is folded: max(A, 1 - A).

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
        For ``"whole"`` the score is the mean over all class pairs, the MAUC of the feature.
    chosen : slice or list of int
        Columns.

    Returns
    -------
    scores : ndarray of shape (n_chosen, n_subproblems)

    Notes
    -----
    With values x of a feature and classes i, j (Eq. 13-14 of [1]_),

    .. math:: A_{ij} = \frac{2\,\#(x_i > x_j) + \#(x_i = x_j)}{2\,n_i n_j}

    and class k against the rest sums numerator and denominator over j. A missing value ties
    with every value.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    """
    wins, most_wins = pair_wins(problem, chosen)
    if decomposition.name == "one-vs-rest":
        wins, most_wins = _rest_wins(wins, most_wins, problem.n_classes)
    folded = np.empty(wins.shape)
    fold_wins(wins, most_wins, folded)
    if decomposition.name == "whole":
        return folded.mean(axis=1, keepdims=True)
    return folded


def pair_wins(problem, chosen):
    """Return the wins of features on every class pair, and the largest possible wins.

    Returns
    -------
    wins : ndarray of shape (n_chosen, n_pairs)
        Of integers, or of floats where samples have weights or X is sparse.
    most_wins : ndarray of shape (n_pairs,)
        2 n_i n_j, as floats.
    """
    weights, totals = problem.sample_weight, problem.class_weights
    if problem.is_sparse:
        if weights is None:
            weights = np.ones(problem.n_samples)
        data, indices, indptr = problem.stored_columns(chosen)
        wins = sparse_wins(data, indices, indptr, problem.codes, weights, totals)
    elif weights is not None:
        wins = weighted_wins(problem.ordered_columns(chosen), problem.codes, weights, totals)
    else:
        wins = dense_wins(problem.ordered_columns(chosen), problem.codes, problem.class_counts)
    return wins, problem.most_wins


def _rest_wins(wins, most_wins, n_classes):
    """Sum pair wins to the wins of each class over all others."""
    first, second = np.triu_indices(n_classes, 1)
    rest = np.zeros((wins.shape[0], n_classes))  # whole numbers are exact up to 2**53
    most = np.zeros(n_classes)
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        rest[:, i] += wins[:, pair]
        rest[:, j] += most_wins[pair] - wins[:, pair]
        most[[i, j]] += most_wins[pair]
    return rest, most


def feature_pair_auc(X, y, *, folded=True, sample_weight=None, n_jobs=None):
    """Compute the AUC of every feature on every pair of classes.

    One sort per feature serves all pairs.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        NaN ties with every value; infinities are ordinary extreme values.
    y : array-like of shape (n_samples,)
        Class labels.
    folded : bool, default=True
        Return max(A, 1 - A); otherwise A, the AUC with the first class of the pair as the
        higher one.
    sample_weight : array-like of shape (n_samples,), optional
        A pair of samples counts with the product of their weights.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores.

    Returns
    -------
    pair_auc : ndarray of shape (n_features, n_pairs)
        Pairs of the sorted labels in the order (0, 1), (0, 2), ..., (c-2, c-1).

    Examples
    --------
    Of the four pairs, three are in order and one is a tie:

    >>> import numpy as np
    >>> from mauc import feature_pair_auc
    >>> feature_pair_auc(np.array([[1], [2], [2], [3]]), [0, 0, 1, 1])
    array([[0.875]])
    """
    problem = make_problem(BaseEstimator(), X, y, sample_weight)
    decomposition = Decomposition("one-vs-one", problem.n_classes)
    pair_auc = np.empty((problem.n_features, decomposition.n_subproblems))

    def fill(block):
        if folded:
            pair_auc[block] = auc_relevance(problem, decomposition, block)
        else:
            wins, most_wins = pair_wins(problem, block)
            np.divide(wins, most_wins, out=pair_auc[block])

    for _ in run_blocks(fill, problem.blocks(decomposition.n_subproblems), n_jobs):
        pass
    return pair_auc
