"""AUC of single features: a block of columns in, one AUC per feature and sub-problem out."""

import numpy as np

from mauc.auc.pair_auc import folded_auc, pair_wins


def auc_relevance(problem, decomposition, chosen, pair_auc=None):
    r"""Return the folded AUC of features on every sub-problem.

    A feature that ranks the second class above the first is as useful as one that does the
    reverse, so an AUC below 1/2 is folded: max(A, 1 - A).

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
        For ``"whole"`` the score is the mean over all class pairs, the MAUC of the feature.
    chosen : slice or list of int
        Columns.
    pair_auc : ndarray of shape (n_features, n_pairs), optional
        Receives the folded AUCs of the columns on the class pairs; `chosen` must then be a slice.

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
    wins, max_wins = pair_wins(problem, chosen)
    folded = folded_auc(wins, max_wins)
    if pair_auc is not None:
        pair_auc[chosen] = folded
    if decomposition.name == "one-vs-rest":
        folded = folded_auc(*_rest_wins(wins, max_wins, problem.pair_weights[2]))
    if decomposition.name == "whole":
        return folded.mean(axis=1, keepdims=True)
    return folded


def _rest_wins(wins, max_wins, exponents):
    """Sum pair wins to the wins of each class over all others, whose weights are scaled back."""
    n_classes = len(exponents)
    others = np.where(np.eye(n_classes, dtype=bool), np.iinfo(np.int64).min, exponents)
    scale = np.ldexp(1.0, exponents - others.max(axis=1, keepdims=True))
    first, second = np.triu_indices(n_classes, 1)
    rest = np.zeros((wins.shape[0], n_classes))  # whole numbers are exact up to 2**53
    rest_max = np.zeros(n_classes)
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        rest[:, i] += scale[i, j] * wins[:, pair]
        rest[:, j] += scale[j, i] * (max_wins[pair] - wins[:, pair])
        rest_max[i] += scale[i, j] * max_wins[pair]
        rest_max[j] += scale[j, i] * max_wins[pair]
    return rest, rest_max
