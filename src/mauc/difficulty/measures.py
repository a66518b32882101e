"""How far features fall on the hard class pairs: ranks in, neglect and siren index out."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mauc.exceptions import MaucError
from mauc.selectors.base import RankingSelector

if TYPE_CHECKING:
    from mauc.difficulty.study import SirenStudy


def siren_index(selection: Any, study: "SirenStudy", *, n_features: int | None = None) -> float:
    r"""Return how much more a selection neglects the hard class pairs than the easy ones.

    Parameters
    ----------
    selection : fitted selector, ranking or mask
        A selector that was fitted on the features of the study, the numbers of columns in order,
        or a mask of the columns.
    study : SirenStudy
        Of the same data.
    n_features : int, optional
        Take only the first of a ranking. What has no order is taken whole.

    Returns
    -------
    index : float
        In [0, 1]. 0 if the hard pairs are served no worse than the easy ones, 1 if the easy ones
        get their best features and the hard ones their worst. NaN if no pair could be measured.

    See Also
    --------
    SirenStudy.comparison : The index of several selectors and the two means it is made of.

    Notes
    -----
    Of m features let S be the K chosen ones and :math:`r_p(f)` the rank of feature f on pair p,
    ties sharing their mean rank. The pair is neglected by

    .. math:: N_p = \frac{\frac{1}{K} \sum_{f \in S} r_p(f) - \frac{K + 1}{2}}{m - K}

    which is 0 if S are the best K features of the pair, 1 if they are its worst, and the
    probability that a feature which was left out outranks a chosen one on the pair (0 if none
    was left out). With :math:`\bar N_h` and :math:`\bar N_e` the means over the hardest and the
    easiest third of the pairs, by the AUC of Naive Bayes,

    .. math:: \mathrm{index} = \max(0, \bar N_h - \bar N_e)

    A third of n pairs is n/3, rounded up; pairs that are equally hard share what is left of it
    in equal weights; pairs without an AUC are left out. With two classes there is one pair,
    which is both thirds, and the index is 0. Random draws also have an index about 0, for they
    neglect all pairs alike: look at :math:`\bar N_h` and the shortfall as well.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import MAUCD
    >>> from mauc.difficulty import siren_index, siren_study
    >>> X, y = load_wine(return_X_y=True)
    >>> study = siren_study(X, y, relevance="auc")
    >>> round(siren_index(MAUCD(4).fit(X, y), study), 3)
    0.0
    >>> round(siren_index([2, 3], study), 3)
    0.136
    """
    neglect = study.neglect(columns_of(selection, len(study.ranks), n_features))
    difference = (study.weights("hard") - study.weights("easy")) @ neglect
    return float(np.maximum(0.0, difference))  # unlike max, np.maximum propagates NaN


def third_weights(difficulty: np.ndarray) -> np.ndarray:
    """Return weights, summing to 1, of a mean over the smallest third of some numbers.

    Parameters
    ----------
    difficulty : ndarray of shape (n_pairs,)
        NaN gets no weight; if there is nothing else, all weights are NaN.

    Examples
    --------
    A third of five numbers is two: the smallest, and one shared by the two that come next.

    >>> import numpy as np
    >>> from mauc.difficulty.measures import third_weights
    >>> third_weights(np.array([0.9, 0.6, 0.7, 0.7, 1.0]))
    array([0.  , 0.5 , 0.25, 0.25, 0.  ])
    """
    known = np.sort(difficulty[~np.isnan(difficulty)])
    if len(known) == 0:
        return np.full(len(difficulty), np.nan)
    n_places = -(-len(known) // 3)
    is_inside = difficulty < known[n_places - 1]
    is_edge = difficulty == known[n_places - 1]
    n_left = n_places - is_inside.sum()
    return np.asarray((is_inside + is_edge * (n_left / is_edge.sum())) / n_places)


def columns_of(selection: Any, n_columns: int, n_features: int | None = None) -> np.ndarray:
    """Return the columns of a fitted selector, a ranking or a mask."""
    if isinstance(selection, RankingSelector):
        check_is_fitted(selection)
        selection = selection.ranking_
    elif hasattr(selection, "get_support"):
        selection = selection.get_support()
    columns = np.asarray(selection)
    if columns.dtype == bool and columns.shape == (n_columns,):
        columns, n_features = np.flatnonzero(columns), None
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or len(columns) == 0:
        raise MaucError(
            f"a selection must be a fitted selector, column numbers or a mask of {n_columns} "
            f"columns with one at least, got {selection!r}."
        )
    if columns.min() < 0 or columns.max() >= n_columns or len(np.unique(columns)) < len(columns):
        raise MaucError(
            f"a selection must hold distinct columns in [0, {n_columns - 1}], got {selection!r}."
        )
    return columns[:n_features]
