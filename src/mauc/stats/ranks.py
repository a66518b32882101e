"""Ranks of methods over problems: whether they differ (Friedman) and which (Holm, Nemenyi)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mauc.checks import check_choice, check_level
from mauc.exceptions import MaucError
from mauc.stats.paired import marks_of

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray


@dataclass(frozen=True)
class FriedmanTest:
    """Result of `friedman_test`."""

    statistic: float  #: Friedman's chi-square
    p_value: float
    f_statistic: float  #: its less conservative form of Iman and Davenport
    f_p_value: float
    ranks: Array  #: of shape (n_methods,): mean rank of each method; 1 is best


def average_ranks(scores: ArrayLike) -> Array:
    """Rank the methods on each problem and average the ranks.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)
        The larger, the better: negate seconds or errors. Without NaN: leave out problems where
        a method failed.

    Returns
    -------
    ranks : ndarray of shape (n_methods,)
        Rank 1 is best; equal scores share their mean rank.

    Examples
    --------
    >>> from mauc.stats import average_ranks
    >>> average_ranks([[0.9, 0.8, 0.7], [0.9, 0.9, 0.5]])
    array([1.25, 1.75, 3.  ])
    """
    return np.asarray(stats.rankdata(-check_scores(scores, 1), axis=1).mean(axis=0))


def friedman_test(scores: ArrayLike) -> FriedmanTest:
    """Test whether methods differ over several problems.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)
        At least 2 of each, without NaN; such as the mean MAUC of selectors on data sets.

    Returns
    -------
    test : FriedmanTest
        If every problem ties all methods the p-values are 1; if all problems give the
        same ranking without ties F is infinite.

    See Also
    --------
    holm_test : Which methods differ.
    critical_difference : Smallest difference of mean ranks that is significant.

    Notes
    -----
    The statistics of N problems and k methods follow chi-square with k - 1 and F with k - 1 and
    (k - 1)(N - 1) degrees of freedom; docs/methods/measures.md has the formulas. They are divided
    by the variance that ranks with these ties have, as SciPy does; that of [1]_ ignores ties.

    References
    ----------
    .. [1] J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7,
       2006, section 3.2.2.
    .. [2] R. L. Iman, J. M. Davenport, "Approximations of the Critical Region of the Friedman
       Statistic", Communications in Statistics A9, 1980.

    Examples
    --------
    >>> from mauc.stats import friedman_test
    >>> test = friedman_test([[3, 2, 1], [3, 2, 1], [3, 1, 2], [3, 2, 1]])
    >>> test.ranks, round(test.statistic, 2), round(test.f_statistic, 2)
    (array([1.  , 2.25, 2.75]), 6.5, 13.0)
    """
    scores = check_scores(scores)
    ranks = stats.rankdata(-scores, axis=1)
    n_problems, n_methods = scores.shape
    mean_ranks = ranks.mean(axis=0)
    # SciPy's function refuses two methods, warns when all are tied, and lacks the F form.
    excess = ((mean_ranks - (n_methods + 1) / 2) ** 2).sum()
    statistic = 12 * n_problems / (n_methods * (n_methods + 1)) * excess
    if excess > 0:
        # The variance of ranks within problems is k (k^2 - 1) / 12 without ties.
        spread = 12 * ((ranks - (n_methods + 1) / 2) ** 2).sum()
        statistic *= n_problems * n_methods * (n_methods**2 - 1) / spread
    largest = n_problems * (n_methods - 1)
    # A statistic of the maximum, but for rounding, means that all problems give one ranking.
    rest = largest - statistic
    f_statistic = np.inf if rest <= 1e-12 * largest else (n_problems - 1) * statistic / rest
    degrees = n_methods - 1, (n_methods - 1) * (n_problems - 1)
    return FriedmanTest(
        statistic=float(statistic),
        p_value=float(stats.chi2.sf(statistic, degrees[0])),
        f_statistic=float(f_statistic),
        f_p_value=float(stats.f.sf(f_statistic, *degrees)),
        ranks=mean_ranks,
    )


def holm_test(
    scores: ArrayLike, names: Sequence[str], control: str | None = None, alpha: float = 0.05
) -> "pd.DataFrame":
    """Compare mean ranks in pairs, with Holm's correction for their number.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)
        At least 2 of each, without NaN; the larger, the better.
    names : sequence of str, length n_methods
    control : str, optional
        Compare the other methods with this one only: fewer comparisons, smaller p-values. By
        default all pairs of methods are compared.
    alpha : float, default=0.05
        A mark is given for adjusted p-values below it.

    Returns
    -------
    pairs : DataFrame
        Columns method, other, rank, other_rank, statistic (z, positive if the method ranks
        better), p_value, p_holm and mark (what the method is against the other: "better",
        "worse" or "none"). Without a control the method is the one of better rank. Smallest
        p-values first.

    Notes
    -----
    For N problems and k methods the difference of two mean ranks over sqrt(k (k + 1) / (6 N)) is
    standard normal (section 3.2.2 of [1]_). Adjusted p-values are those of `holm_adjust`.

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
    names = [str(name) for name in names]
    if not len(names) == len(set(names)) == scores.shape[1]:
        raise MaucError(
            f"names must be {scores.shape[1]} different names, one per column of scores, "
            f"got {names}."
        )
    check_level("alpha", alpha)
    ranks = average_ranks(scores)
    if control is None:
        # Best rank first, ties in the order given.
        pairs = list(combinations(np.argsort(ranks, kind="stable").tolist(), 2))
    else:
        index = names.index(check_choice("control", control, names))
        pairs = [(method, index) for method in range(len(names)) if method != index]
    method, other = np.array(pairs).T
    z = (ranks[other] - ranks[method]) / _rank_error(len(names), len(scores))
    p_value = 2 * stats.norm.sf(np.abs(z))
    p_holm = holm_adjust(p_value)
    frame = pd.DataFrame(
        {
            "method": [names[index] for index in method],
            "other": [names[index] for index in other],
            "rank": ranks[method],
            "other_rank": ranks[other],
            "statistic": z,
            "p_value": p_value,
            "p_holm": p_holm,
            "mark": marks_of(z, p_holm, alpha),
        }
    )
    return frame.sort_values("p_value", kind="stable", ignore_index=True)


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
    """Compute Nemenyi's critical difference of mean ranks.

    Parameters
    ----------
    n_methods, n_problems : int
        At least 2 methods and 1 problem.
    alpha : float, default=0.05

    Returns
    -------
    difference : float
        Two methods differ if their mean ranks are at least this far apart.

    Notes
    -----
    It is q sqrt(k (k + 1) / (6 N)), q the quantile of the studentized range of k means over sqrt(2)
    (Table 5(a) of [1]_).

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
        Critical difference: methods whose ranks are at least this far apart differ.

    Returns
    -------
    cliques : list of tuple of int
        Indices into `ranks`, best rank first: the largest groups of at least two methods with all
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


def check_scores(scores: ArrayLike, min_problems: int = 2) -> Array:
    """Return scores as an array of shape (n_problems, n_methods), 2 methods at least, no NaN."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] < min_problems or array.shape[1] < 2:
        raise MaucError(
            f"scores must have shape (n_problems, n_methods) with at least {min_problems} "
            f"problems and 2 methods, got shape {array.shape}."
        )
    lacking = np.flatnonzero(np.isnan(array).any(axis=1))
    if len(lacking):
        shown = ", ".join(str(row) for row in lacking[:5]) + (", ..." if len(lacking) > 5 else "")
        raise MaucError(
            f"scores must be complete, got NaN in {len(lacking)} of {len(array)} problems "
            f"(rows {shown}); leave these problems out."
        )
    return array
