"""The relevance of features on every sub-problem, of which ranking lists are made.

A relevance is a function ``(problem, decomposition, chosen, **options) -> scores``: `chosen` is a
slice or list of columns, the scores have shape (n_chosen, n_subproblems). The registry finds that
of the name "su" as `su_relevance`. The formulas stand with the selectors in
`mauc.selectors.filters`.

- of pair AUCs, in `mauc.measure.pair_auc`: `auc_relevance`, the AUC folded around 1/2.
- of bins, which are the categories of a nominal column and MDL bins of another one, cut anew for
  every sub-problem (`contingency_scores`): `chi2_relevance`, chi-square; `su_relevance`,
  symmetrical uncertainty; `ig_relevance`, information gain.
- of the counts, means and scatters of the classes (`subproblem_moments`): `fsdd_relevance`, spread
  between classes less that within; `fisher_relevance`, their quotient; `anova_relevance`, F.

What a user gives as a function instead is called by `mauc.measure.score_function`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeAlias

import numpy as np

from mauc.binning.contingency import CHI, IG, SU, nominal_scores, subproblem_scores
from mauc.data.columns import ColumnBlock
from mauc.data.problem import Decomposition, Problem
from mauc.engine.arrays import read_only
from mauc.engine.moments import class_moments
from mauc.measure.pair_auc import auc_relevance as auc_relevance

#: count, mean and scatter of classes, each of shape (n_features, n_classes) or (n_features,)
Moments: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]

_MIN_SQUARE, _MAX_SQUARE = 1e-200, 1e200  # of the scatter of columns in ordinary units
_MAX_EXPONENT = 300  # of two, in the range of such columns


def contingency_scores(
    problem: Problem, decomposition: Decomposition, chosen: ColumnBlock, statistics: list[int]
) -> np.ndarray:
    """Return statistics (CHI, SU, IG) of classes and bins, those of each sub-problem its own."""
    XT = problem.columns.floats(chosen)
    roles, rows = decomposition.roles, problem.row_counts
    scores = np.empty((len(statistics), len(XT), decomposition.n_subproblems))
    is_nominal = problem.is_nominal[chosen]
    if not is_nominal.any():
        subproblem_scores(XT, problem.codes, roles, statistics, scores, rows)
        return scores
    for j in range(len(XT)):
        if is_nominal[j]:
            category = XT[j].astype(np.int64)
            scores[:, j] = nominal_scores(category, problem.codes, roles, rows)[statistics]
        else:
            subproblem_scores(
                XT[j : j + 1], problem.codes, roles, statistics, scores[:, j : j + 1], rows
            )
    return scores


def _score_by_one(
    statistic: int, problem: Problem, decomposition: Decomposition, chosen: ColumnBlock
) -> np.ndarray:
    return contingency_scores(problem, decomposition, chosen, [statistic])[0]


chi2_relevance: Callable[..., np.ndarray] = partial(_score_by_one, CHI)
su_relevance: Callable[..., np.ndarray] = partial(_score_by_one, SU)
ig_relevance: Callable[..., np.ndarray] = partial(_score_by_one, IG)


def fisher_relevance(
    problem: Problem, decomposition: Decomposition, chosen: ColumnBlock
) -> np.ndarray:
    """Return the scatter between classes over that within them, see `FisherScore`."""
    parts = [_scatters(*part) for part in subproblem_moments(problem, decomposition, chosen)]
    return np.column_stack([_quotient(between, within) for between, within, _, _ in parts])


def anova_relevance(
    problem: Problem, decomposition: Decomposition, chosen: ColumnBlock
) -> np.ndarray:
    """Return the F statistic of a one-way analysis of variance, see `AnovaF`."""
    scores = []
    for part in subproblem_moments(problem, decomposition, chosen):
        between, within, n, n_groups = _scatters(*part)
        is_free = (n_groups > 1) & (n > n_groups)
        # An infinite quotient must not be multiplied by 0 degrees of freedom.
        freedom = np.where(is_free, n - n_groups, 1.0) / np.maximum(n_groups - 1, 1)
        scores.append(np.where(is_free, freedom * _quotient(between, within), 0.0))
    return np.column_stack(scores)


def _scatters(
    count: np.ndarray, offset: np.ndarray, scatter: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the scatter between and within classes, and the numbers of values and of classes."""
    n, _, between = pool_means(count, offset)
    return between, scatter.sum(axis=1), n, (count > 0).sum(axis=1)


def _quotient(between: np.ndarray, within: np.ndarray) -> np.ndarray:
    """Return between / within: inf without scatter within, 0 without any scatter."""
    has_within = within > 0
    quotient = between / np.where(has_within, within, 1.0)
    return np.where(has_within, quotient, np.where(between > 0, np.inf, 0.0))


def fsdd_relevance(
    problem: Problem,
    decomposition: Decomposition,
    chosen: ColumnBlock,
    beta: float = 2.0,
    constants: str = "last",
) -> np.ndarray:
    """Return the spread between classes minus that within them, see `FSDD`."""
    moments = subproblem_moments(problem, decomposition, chosen)
    scores = np.column_stack(
        [fsdd_of_moments(n, mean, spread, beta) for n, mean, spread in moments]
    )
    if constants == "first":
        scores[np.isneginf(scores)] = np.inf
    return scores


def fsdd_of_moments(
    count: np.ndarray, offset: np.ndarray, scatter: np.ndarray, beta: float
) -> np.ndarray:
    """Return FSDD from class counts, class means (minus any constant) and class scatters."""
    n = count.sum(axis=1)
    share = count / np.maximum(n, 1e-300)[:, np.newaxis]
    centre = (share * offset).sum(axis=1)
    between = (share * (offset - centre[:, np.newaxis]) ** 2).sum(axis=1)
    has_spread = count > 1.0
    class_variance = np.where(has_spread, scatter / np.where(has_spread, count - 1.0, 1.0), 0.0)
    within = (share * class_variance).sum(axis=1)
    # The squares about the mean are those within the classes plus those between them.
    total = scatter.sum(axis=1) + n * between
    is_scored = (n > 1) & (total > 0)
    variance = np.where(is_scored, total, 1.0) / np.where(is_scored, n - 1.0, 1.0)
    return np.where(is_scored, (between - beta * within) / variance, -np.inf)


def subproblem_moments(
    problem: Problem, decomposition: Decomposition, chosen: ColumnBlock
) -> Iterator[Moments]:
    """Yield count, offset and scatter (`class_moments`) of sub-problems, (n_chosen, n_sides)."""
    moments = _moments(problem, problem.columns.floats(chosen))
    _rescale_extreme(problem, chosen, moments)
    if decomposition.name == "whole":
        yield moments
        return
    for role in decomposition.roles:
        sides = [merge_classes(moments[0], moments[1], moments[2], role == side) for side in (0, 1)]
        count, mean, scatter = (np.column_stack(part) for part in zip(*sides, strict=True))
        yield count, mean, scatter


def _moments(problem: Problem, XT: np.ndarray) -> Moments:
    shift = np.empty(len(XT))
    count, offset, scatter = np.empty((3, len(XT), problem.n_classes))
    moments = count, offset, scatter
    class_moments(XT, *problem.by_class, shift, *moments)
    return moments


def _rescale_extreme(problem: Problem, chosen: ColumnBlock, moments: Moments) -> None:
    """Measure columns whose squares leave the doubles in other units; scores are quotients."""
    count, offset, scatter = moments
    with np.errstate(over="ignore", invalid="ignore"):
        size = scatter.max(axis=1) + (count * offset * offset).max(axis=1)
        suspects = np.flatnonzero(~((size > _MIN_SQUARE) & (size < _MAX_SQUARE)))
    if len(suspects) == 0:
        return
    columns = np.arange(problem.n_features)[chosen][suspects]
    XT = problem.columns.floats(columns).astype(np.float64)
    half_range = np.fmax.reduce(XT, axis=1) / 2 - np.fmin.reduce(XT, axis=1) / 2
    exponent = np.frexp(half_range)[1]
    is_extreme = (half_range > 0) & (np.abs(exponent) > _MAX_EXPONENT)
    if is_extreme.any():  # the others are constant or without known values
        unit = exponent[is_extreme][:, np.newaxis]
        scaled = _moments(problem, read_only(np.ldexp(XT[is_extreme], -unit)))
        for part, values in zip(moments, scaled, strict=True):
            part[suspects[is_extreme]] = values


def merge_classes(
    count: np.ndarray, offset: np.ndarray, scatter: np.ndarray, is_member: np.ndarray
) -> Moments:
    """Return count, mean and scatter, each of shape (n_features,), of some classes as one."""
    n, mean, between = pool_means(count[:, is_member], offset[:, is_member])
    return n, mean, scatter[:, is_member].sum(axis=1) + between


def pool_means(count: np.ndarray, offset: np.ndarray) -> Moments:
    """Return the count and mean of all classes, and the scatter of the class means about it."""
    n = count.sum(axis=1)
    mean = (count * offset).sum(axis=1) / np.maximum(n, 1e-300)
    # Rounding must not part the mean of equal means from them: a perfect feature would lose.
    known = np.where(count > 0, offset, np.nan)
    low = np.fmin.reduce(known, axis=1)
    is_equal = low == np.fmax.reduce(known, axis=1)
    mean = np.where(is_equal, low, mean)
    distance = np.where(is_equal[:, np.newaxis], 0.0, offset - mean[:, np.newaxis])
    return n, mean, (count * distance**2).sum(axis=1)
