"""Which methods differ, after the Friedman test: Holm's steps, Nemenyi's critical difference."""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mauc.checks import check_choice, check_level
from mauc.exceptions import MaucError
from mauc.stats.ranks import average_ranks, check_scores

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]


def holm_test(
    scores: ArrayLike,
    names: Sequence[str],
    control: str | None = None,
    alpha: float = 0.05,
    *,
    higher_is_better: bool = True,
) -> "pd.DataFrame":
    r"""Compare mean ranks in pairs, with Holm's correction for their number.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)
        At least 2 of each, without NaN.
    names : sequence of str, length n_methods
    control : str, optional
        Compare each other method with this one only: fewer comparisons, smaller p-values. By
        default all pairs of methods are compared.
    alpha : float, default=0.05
        A mark is given for adjusted p-values below it.
    higher_is_better : bool, default=True
        False for seconds or errors.

    Returns
    -------
    pairs : DataFrame
        Columns method, other, rank, other_rank, statistic (z, positive if the method ranks
        better), p_value, p_holm and mark (what the method is against the other: "better",
        "worse" or "none"). Without a control the method is the one of better rank. Smallest
        p-values first.

    Notes
    -----
    For N problems and k methods with mean ranks :math:`R_i` (section 3.2.2 of [1]_)

    .. math:: z = \frac{R_j - R_i}{\sqrt{k (k + 1) / (6 N)}}

    is standard normal. With the m p-values in ascending order, the adjusted ones are
    :math:`\max_{l \le i} \min(1, (m - l + 1) p_l)`.

    References
    ----------
    .. [1] J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7,
       2006.
    .. [2] S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
       Journal of Statistics 6, 1979.

    Examples
    --------
    >>> from mauc.stats import holm_test
    >>> scores = [[0.9, 0.8, 0.7]] * 6
    >>> pairs = holm_test(scores, ["mdfs", "su", "chi"], control="mdfs")
    >>> pairs[["method", "rank", "p_holm", "mark"]].round(4)
      method  rank  p_holm   mark
    0    chi   3.0  0.0011  worse
    1     su   2.0  0.0833   none
    """
    import pandas as pd

    scores = check_scores(scores)
    names = _check_names(names, scores.shape[1])
    check_level("alpha", alpha)
    ranks = average_ranks(scores, higher_is_better)
    if control is None:
        # Best rank first, ties in the order given.
        pairs = list(combinations(np.argsort(ranks, kind="stable").tolist(), 2))
    else:
        place = names.index(check_choice("control", control, names))
        pairs = [(method, place) for method in range(len(names)) if method != place]
    method, other = np.array(pairs).T
    z = (ranks[other] - ranks[method]) / _rank_error(len(names), len(scores))
    p_value = 2 * stats.norm.sf(np.abs(z))
    order = np.argsort(p_value, kind="stable")
    method, other, z, p_value = method[order], other[order], z[order], p_value[order]
    p_holm = holm_adjust(p_value)
    is_significant = p_holm < alpha
    return pd.DataFrame(
        {
            "method": [names[place] for place in method],
            "other": [names[place] for place in other],
            "rank": ranks[method],
            "other_rank": ranks[other],
            "statistic": z,
            "p_value": p_value,
            "p_holm": p_holm,
            "mark": np.select(
                [is_significant & (z > 0), is_significant & (z < 0)], ["better", "worse"], "none"
            ),
        }
    )


def holm_adjust(p_values: ArrayLike) -> Array:
    r"""Correct p-values for their number by Holm's procedure.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    adjusted : ndarray of shape (n_tests,)
        In the order given. The i-th smallest of m p-values becomes
        :math:`\max_{l \le i} \min(1, (m - l + 1) p_l)`.

    Examples
    --------
    >>> from mauc.stats import holm_adjust
    >>> holm_adjust([0.04, 0.01, 0.03])
    array([0.06, 0.03, 0.06])
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p_values, kind="stable")
    steps = np.minimum(1.0, p_values[order] * np.arange(len(p_values), 0, -1))
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(steps)
    return adjusted


def critical_difference(n_methods: int, n_problems: int, alpha: float = 0.05) -> float:
    r"""Compute Nemenyi's critical difference of mean ranks.

    Parameters
    ----------
    n_methods, n_problems : int
        At least 2 methods and 1 problem.
    alpha : float, default=0.05

    Returns
    -------
    difference : float
        Two methods differ if their mean ranks are at least so far apart.

    Notes
    -----
    .. math:: CD = q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    with :math:`q_\alpha` the quantile of the studentized range of k means over
    :math:`\sqrt 2` (Table 5(a) of [1]_).

    References
    ----------
    .. [1] J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7,
       2006.

    Examples
    --------
    >>> from mauc.stats import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_problems < 1:
        raise MaucError(
            f"critical_difference needs at least 2 methods and 1 problem, "
            f"got n_methods={n_methods}, n_problems={n_problems}."
        )
    quantile = stats.studentized_range.ppf(1 - check_level("alpha", alpha), n_methods, np.inf)
    return float(quantile / np.sqrt(2) * _rank_error(n_methods, n_problems))


def rank_cliques(ranks: ArrayLike, difference: float) -> list[tuple[int, ...]]:
    """Group methods whose mean ranks do not differ: the bars of a critical-difference diagram.

    Parameters
    ----------
    ranks : array-like of shape (n_methods,)
        Mean ranks, as `average_ranks` gives.
    difference : float
        Critical difference; ranks so far apart or farther are told apart.

    Returns
    -------
    cliques : list of tuple of int
        Places in `ranks`, best rank first: the largest groups of at least two methods with all
        ranks closer than the critical difference. Groups may overlap, none holds another.

    Examples
    --------
    >>> from mauc.stats import rank_cliques
    >>> rank_cliques([2.5, 1.0, 1.8], difference=1.0)
    [(1, 2), (2, 0)]
    """
    array = np.asarray(ranks, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise MaucError(f"ranks must be finite numbers of shape (n_methods,), got {ranks!r}.")
    order = np.argsort(array, kind="stable")
    sorted_ranks = array[order]
    cliques: list[tuple[int, ...]] = []
    reached = 0
    for start, rank in enumerate(sorted_ranks):
        # sorted_ranks[start:stop] are closer than the difference to the best of them
        stop = start + int(np.count_nonzero(sorted_ranks[start:] - rank < difference))
        if stop > reached and stop - start > 1:
            cliques.append(tuple(order[start:stop].tolist()))
            reached = stop
    return cliques


def _rank_error(n_methods: int, n_problems: int) -> float:
    """Return the standard error of a difference of two mean ranks."""
    return float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_problems)))


def _check_names(names: Sequence[str], n_methods: int) -> list[str]:
    checked = [str(name) for name in names]
    if len(checked) != n_methods or len(set(checked)) != n_methods:
        raise MaucError(
            f"names must be {n_methods} different names, one per column of scores, got {checked}."
        )
    return checked
