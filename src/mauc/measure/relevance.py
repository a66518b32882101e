"""The relevance of features on every sub-problem, of which ranking lists are made.

A relevance is a function ``(problem, decomposition, chosen, **options) -> scores``: `chosen` is a
slice or list of columns, the scores have shape (n_chosen, n_subproblems). The formulas stand with
the selectors in `mauc.selectors.filters`.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from mauc.binning.contingency import CHI, IG, SU, nominal_scores, subproblem_scores
from mauc.binning.mdl import sorted_columns
from mauc.compile import njit, njit_part
from mauc.data.problem import Decomposition
from mauc.engine.arrays import mean_of_quotients, read_only
from mauc.engine.moments import class_moments, class_moments_by_rows
from mauc.measure.pair_auc import auc_relevance as auc_relevance
from mauc.measure.pair_auc import folded_auc

_MIN_SQUARE, _MAX_SQUARE = 1e-200, 1e200  # of the scatter of columns in ordinary units
_MAX_EXPONENT = 300  # of two, in the range of such columns
_EPSILON = 2.0**-52


def contingency_scores(
    problem: Any, decomposition: Decomposition, chosen: Any, statistics: Any
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


def _score_by_one(statistic, problem, decomposition, chosen):
    return contingency_scores(problem, decomposition, chosen, [statistic])[0]


chi2_relevance: Callable[..., np.ndarray] = partial(_score_by_one, CHI)
su_relevance: Callable[..., np.ndarray] = partial(_score_by_one, SU)
ig_relevance: Callable[..., np.ndarray] = partial(_score_by_one, IG)


def fisher_relevance(problem: Any, decomposition: Decomposition, chosen: Any) -> np.ndarray:
    """Return the scatter between classes over that within them, see `FisherScore`."""
    parts = [_scatters(*part) for part in subproblem_moments(problem, decomposition, chosen)]
    return np.column_stack([_quotient(between, within) for between, within, _, _ in parts])


def anova_relevance(problem: Any, decomposition: Decomposition, chosen: Any) -> np.ndarray:
    """Return the F statistic of a one-way analysis of variance, see `AnovaF`."""
    scores = []
    for part in subproblem_moments(problem, decomposition, chosen):
        between, within, n, n_groups = _scatters(*part)
        is_free = (n_groups > 1) & (n > n_groups)
        # An infinite quotient must not be multiplied by 0 degrees of freedom.
        freedom = np.where(is_free, n - n_groups, 1.0) / np.maximum(n_groups - 1, 1)
        scores.append(np.where(is_free, freedom * _quotient(between, within), 0.0))
    return np.column_stack(scores)


def _scatters(count, offset, scatter):
    """Return the scatter between and within classes, and the numbers of values and of classes."""
    n, _, between = pool_means(count, offset)
    return between, scatter.sum(axis=1), n, (count > 0).sum(axis=1)


def _quotient(between, within):
    """Return between / within: inf without scatter within, 0 without any scatter."""
    has_within = within > 0
    quotient = between / np.where(has_within, within, 1.0)
    return np.where(has_within, quotient, np.where(between > 0, np.inf, 0.0))


def fsdd_relevance(
    problem: Any,
    decomposition: Decomposition,
    chosen: Any,
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


def fsdd_of_moments(count: Any, offset: Any, scatter: Any, beta: Any) -> np.ndarray:
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


def subproblem_moments(problem: Any, decomposition: Decomposition, chosen: Any) -> Iterator[Any]:
    """Yield count, offset and scatter (`class_moments`) of sub-problems, (n_chosen, n_sides)."""
    if isinstance(chosen, slice) and problem.columns.row_major is not None:
        order, starts, weights = problem.by_class
        moments: Any = class_moments_by_rows(
            problem.columns.row_major,
            chosen,
            problem.codes,
            order,
            starts,
            weights,
            problem.sample_weight,
        )
    else:
        moments = _moments(problem, problem.columns.floats(chosen))
    _rescale_extreme(problem, chosen, moments)
    if decomposition.name == "whole":
        yield moments
        return
    for role in decomposition.roles:
        sides = [merge_classes(moments[0], moments[1], moments[2], role == side) for side in (0, 1)]
        yield tuple(np.column_stack(part) for part in zip(*sides, strict=True))


def _moments(problem, XT):
    shift = np.empty(len(XT))
    moments = tuple(np.empty((len(XT), problem.n_classes)) for _ in range(3))
    class_moments(XT, *problem.by_class, shift, *moments)
    return moments


def _rescale_extreme(problem, chosen, moments):
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


def merge_classes(count: Any, offset: Any, scatter: Any, is_member: Any) -> tuple[Any, Any, Any]:
    """Return count, mean and scatter, each of shape (n_features,), of some classes as one."""
    n, mean, between = pool_means(count[:, is_member], offset[:, is_member])
    return n, mean, scatter[:, is_member].sum(axis=1) + between


def pool_means(count: Any, offset: Any) -> tuple[Any, Any, Any]:
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


def fast_relevance(
    problem: Any, decomposition: Decomposition, chosen: Any, n_bins: int = 10
) -> np.ndarray:
    """Return the area under a ROC curve of few thresholds, see `FAST`."""
    XT = problem.columns.floats(chosen)
    is_whole = decomposition.name == "whole"
    parts = Decomposition("one-vs-one", problem.n_classes) if is_whole else decomposition
    roles = parts.roles
    n_classes, rows = problem.n_classes, problem.row_counts
    columns = sorted_columns(XT, problem.codes, n_classes, rows.weights)
    n, is_plain = XT.shape[1], rows.weights is None
    wins = np.empty((len(XT), parts.n_subproblems), np.int64 if is_plain else np.float64)
    sliding_wins(
        *columns,
        _are_whole(XT if is_plain else columns.values),
        roles,
        n_bins,
        rows.step,
        np.empty((2, n + n_classes)),
        np.empty((3, n_classes + 1), np.int64),
        np.empty(n, np.int64),
        None if is_plain else np.empty((2, n + n_classes), np.int64),
        np.empty((2, 2), wins.dtype),
        wins,
    )
    totals = np.bincount(problem.codes, rows.weights, n_classes)
    sizes = [(roles == side) @ totals for side in (0, 1)]
    max_wins = 2.0 * sizes[0] * sizes[1]
    folded = folded_auc(wins, max_wins)
    return mean_of_quotients(folded, max_wins)[:, np.newaxis] if is_whole else folded


def _are_whole(XT):
    """Return which columns hold whole numbers only, small enough to be exact; NaN is ignored."""
    is_exact = np.fmax.reduce(np.abs(XT), axis=1) <= 2.0**53
    return is_exact & (np.fmax.reduce(np.abs(np.rint(XT) - XT), axis=1) == 0)


@njit(cache=True, nogil=True)
def sliding_wins(
    values_of,
    codes_of,
    sizes_of,
    n_known_of,
    missing_of,
    is_whole,
    roles,
    n_bins,
    step,
    values_by,
    bounds,
    sides,
    sizes_by,
    counts,
    out,
):
    """Fill `out`, of shape (n_features, n_subproblems), with the wins of cut columns.

    The wins are 2 #(s_0 > s_1) + #(s_0 = s_1), s being the number of thresholds below a value of
    either side; a missing value ties with every value. A role is 0 or 1 for a side, -1 for none.
    Rows count 1 or, in wins of doubles, their sizes, in units of `step` rows. Work space:
    `values_by` and `sizes_by` (None without sizes), values by class, then of the sub-problem, whose
    `sides` are 0 or 1; `bounds` of the classes; `counts` of the sides, known and missing.
    """
    n_classes = roles.shape[1]
    grouped, part, known, gone = values_by[0], values_by[1], counts[0], counts[1]
    starts, totals = bounds[0], bounds[2]
    for f in range(values_of.shape[0]):
        values, codes, n_known = values_of[f], codes_of[f], n_known_of[f]
        missing = missing_of[f]
        _group(values, codes, sizes_of, f, n_known, bounds, grouped, sizes_by)
        for s in range(roles.shape[0]):
            role = roles[s]
            n_members, n_part, first, second = 0, np.int64(0), np.int64(-1), np.int64(-1)
            for side in range(2):
                known[side] = 0
                gone[side] = 0
            for k in range(n_classes):
                if role[k] >= 0:
                    n_members += 1
                    if role[k] == 0:
                        first = starts[k]
                    else:
                        second = starts[k]
                    n_part += starts[k + 1] - starts[k] - 1
                    known[role[k]] += totals[k]
                    gone[role[k]] += missing[k]
            if n_members == 2 and first >= 0 and second >= 0:
                _merge(grouped, first, second, n_part, part, sides, sizes_by)
            else:
                _take(values, codes, sizes_of, f, n_known, role, part, sides, sizes_by)
            wins = _cut_wins(part, sides, sizes_by, n_part, known, n_bins, is_whole[f], step)
            # A pair of samples with a missing value is a tie.
            both = (known[0] + gone[0]) * (known[1] + gone[1])
            out[f, s] = wins + both - known[0] * known[1]


@njit_part
def _group(values, codes, sizes_of, f, n_known, bounds, grouped, sizes_by):
    """Write the sorted values class by class, from ``bounds[0, k]`` to an infinity at the end."""
    starts, ends, totals = bounds[0], bounds[1], bounds[2]
    for k in range(len(starts)):
        starts[k] = 0
    for i in range(n_known):
        starts[codes[i] + 1] += 1
    for k in range(len(starts) - 1):
        starts[k + 1] += starts[k] + 1
        ends[k] = starts[k]
        grouped[starts[k + 1] - 1] = np.inf
        totals[k] = starts[k + 1] - starts[k] - 1 if sizes_of is None else 0
    for i in range(n_known):
        k = codes[i]
        grouped[ends[k]] = values[i]
        if sizes_of is not None:
            sizes_by[0, ends[k]] = sizes_of[f, i]
            totals[k] += sizes_of[f, i]
        ends[k] += 1


@njit_part
def _merge(grouped, a, b, n, part, sides, sizes_by):
    """Merge the n values of two classes, from a and from b on, into one ascending list."""
    # part[:i] holds the values before a and before b. A branch would be mispredicted half the time.
    for i in range(n):
        u, v = grouped[a], grouped[b]
        is_second = np.int64(v < u)
        part[i] = min(u, v)
        sides[i] = is_second
        if sizes_by is not None:
            sizes_by[1, i] = sizes_by[0, b if is_second else a]
        a += 1 - is_second
        b += is_second


@njit_part
def _take(values, codes, sizes_of, f, n_known, role, part, sides, sizes_by):
    """Copy the values of the classes that have a role, in order."""
    i = 0
    for row in range(n_known):
        side = role[codes[row]]
        if side >= 0:
            part[i], sides[i] = values[row], side
            if sizes_by is not None:
                sizes_by[1, i] = sizes_of[f, row]
            i += 1


@njit_part
def _cut_wins(values, sides, sizes_by, n, known, n_bins, is_whole, step):
    """Return the wins of side 0 over side 1 by the states of n ascending values."""
    zero = known.dtype.type(0)
    wins, less = zero, zero
    total_size = np.int64(known[0] + known[1])
    whole, rest = total_size // n_bins, total_size % n_bins
    top, i = np.int64(0), 0
    row, n_used = 0, np.int64(0)  # the bins so far hold the rows before, and this much of the row
    for b in range(n_bins + 1):
        low, rise = 0.0, np.inf
        if b < n_bins:
            # bounds are b n / n_bins, halves rounded up; a bin may be empty
            bottom = top
            top = (b + 1) * whole + (2 * (b + 1) * rest + n_bins) // (2 * n_bins)
            if top == bottom:
                continue
            size, total = (top - bottom) * step, 0.0
            if sizes_by is None:
                low, high = values[bottom], values[top - 1]
                for i_bin in range(bottom, top):
                    total += values[i_bin] - low
            else:
                low, left = values[row], top - bottom
                while left > 0:  # a row may be in several bins
                    part = min(left, sizes_by[1, row] - n_used)
                    high = values[row]
                    total += part * step * (high - low)
                    left -= part
                    n_used += part
                    if n_used == sizes_by[1, row]:
                        row, n_used = row + 1, np.int64(0)
            rise = min(total / size, high - low)
            if not is_whole:
                # Each value is rounded, and so is each addition: what is closer to the mean than
                # that counts as equal to it.
                rise += (4 + size) * _EPSILON * max(abs(low), abs(high))
        # values[:i] are at most an earlier threshold; `less` of them are of side 1
        n_first, n_second = zero, zero
        while i < n and values[i] - low <= rise:
            count = np.int64(1) if sizes_by is None else sizes_by[1, i]
            n_second += sides[i] * count
            n_first += (1 - sides[i]) * count
            i += 1
        wins += n_first * (2 * less + n_second)
        less += n_second
    return wins
