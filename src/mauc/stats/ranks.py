"""Ranks of methods over problems, and the Friedman test of whether they differ."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mauc.exceptions import MaucError

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class FriedmanTest:
    """Result of `friedman_test`.

    Parameters
    ----------
    statistic, p_value : float
        Friedman's chi-square.
    f_statistic, f_p_value : float
        Its less conservative form of Iman and Davenport.
    ranks : ndarray of shape (n_methods,)
        Mean rank of each method; 1 is best.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    ranks: Array


def average_ranks(scores: ArrayLike, higher_is_better: bool = True) -> Array:
    """Rank the methods on each problem and average the ranks.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)
        Without NaN: a problem where a method failed ranks nothing and has to be left out.
    higher_is_better : bool, default=True
        False for seconds or errors.

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
    ranks: Array = _rank_rows(check_scores(scores, 1), higher_is_better).mean(axis=0)
    return ranks


def friedman_test(
    scores: ArrayLike, *, higher_is_better: bool = True, correct_ties: bool = True
) -> FriedmanTest:
    r"""Test whether methods differ over several problems.

    Parameters
    ----------
    scores : array-like of shape (n_problems, n_methods)
        At least 2 of each, without NaN; such as the mean MAUC of selectors on data sets.
    higher_is_better : bool, default=True
        False reverses the ranks; the test is the same.
    correct_ties : bool, default=True
        Divide by the variance that ranks have with the ties present, as SciPy does. Without it
        the formula is that of [1]_, which ignores ties and so has less power.

    Returns
    -------
    test : FriedmanTest
        If every problem ranks all methods alike the p-values are 1; if all problems give the
        same ranking without ties F is infinite.

    See Also
    --------
    holm_test : Which methods differ.
    critical_difference : From which difference of ranks on they do.

    Notes
    -----
    For N problems and k methods with mean ranks :math:`R_j`

    .. math::

        \chi_F^2 = \frac{12 N}{k (k + 1)} \Big( \sum_j R_j^2 - \frac{k (k + 1)^2}{4} \Big)
                   \Big/ \Big( 1 - \frac{\sum (t^3 - t)}{N k (k^2 - 1)} \Big),
        \qquad
        F_F = \frac{(N - 1) \chi_F^2}{N (k - 1) - \chi_F^2}

    with t the sizes of the groups of ties. They follow chi-square with k - 1 and F with k - 1
    and (k - 1)(N - 1) degrees of freedom.

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
    ranks = _rank_rows(scores, higher_is_better)
    n_problems, n_methods = scores.shape
    mean_ranks = ranks.mean(axis=0)
    # SciPy's function refuses two methods, warns when all are tied, and lacks the F form.
    excess = ((mean_ranks - (n_methods + 1) / 2) ** 2).sum()
    statistic = 12 * n_problems / (n_methods * (n_methods + 1)) * excess
    if correct_ties and excess > 0:
        # The variance of ranks within problems is k (k^2 - 1) / 12 without ties.
        spread = 12 * ((ranks - (n_methods + 1) / 2) ** 2).sum()
        statistic *= n_problems * n_methods * (n_methods**2 - 1) / spread
    largest = n_problems * (n_methods - 1)
    # A statistic of the maximum, but for rounding, means that all problems rank alike.
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


def _rank_rows(scores: Array, higher_is_better: bool) -> Array:
    ranks: Array = stats.rankdata(-scores if higher_is_better else scores, axis=1)
    return ranks
