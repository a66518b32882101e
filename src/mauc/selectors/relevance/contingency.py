"""CHI, SU and information gain of MDL-discretised columns: blocks in, scores out."""

from functools import partial

import numpy as np

from mauc.binning.contingency import CHI, IG, SU, nominal_scores
from mauc.binning.subproblem_scores import subproblem_scores


def contingency_scores(problem, decomposition, chosen, statistics):
    r"""Score features by statistics of the table of bins and classes.

    Every sub-problem discretises a column against its own classes by the method of Fayyad and
    Irani; the column is sorted once for all of them. Nominal columns have one bin per
    category. Missing values are distributed over the bins in proportion to the known ones.

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
    chosen : slice or list of int
    statistics : list of {CHI, SU, IG}

    Returns
    -------
    scores : ndarray of shape (n_statistics, n_chosen, n_subproblems)

    Notes
    -----
    With O the table of n samples and E its expectation under independence (Eq. 1-7 of [1]_),

    .. math::

        \mathrm{CHI} = \sum_{jk} \frac{(O_{jk} - E_{jk})^2}{E_{jk}}, \qquad
        \mathrm{SU} = \frac{2 I(f; y)}{H(f) + H(y)}, \qquad \mathrm{IG} = I(f; y)

    IG in bits. A column without an accepted cut has one bin and scores 0.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    .. [2] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued
       attributes for classification learning", IJCAI 1993.
    """
    XT = problem.float_columns(chosen)
    roles, logs = decomposition.roles, problem.count_logs
    scores = np.empty((len(statistics), len(XT), decomposition.n_subproblems))
    is_nominal = np.zeros(len(XT), bool)
    if problem.is_nominal is not None:
        is_nominal = problem.is_nominal[chosen]
    if not is_nominal.any():
        subproblem_scores(XT, problem.codes, roles, statistics, scores, logs)
        return scores
    for j in range(len(XT)):
        if is_nominal[j]:
            category = np.where(np.isnan(XT[j]), -1, XT[j]).astype(np.int64)
            scores[:, j] = nominal_scores(category, problem.codes, roles)[statistics]
        else:
            subproblem_scores(
                XT[j : j + 1], problem.codes, roles, statistics, scores[:, j : j + 1], logs
            )
    return scores


def _score_by_one(statistic, problem, decomposition, chosen):
    return contingency_scores(problem, decomposition, chosen, [statistic])[0]


chi2_relevance = partial(_score_by_one, CHI)
su_relevance = partial(_score_by_one, SU)
ig_relevance = partial(_score_by_one, IG)
