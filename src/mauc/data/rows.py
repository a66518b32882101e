"""Rows known by what they hold: hashes, samples of rows, copies, columns that look like groups.

The rows of a class are sorted by a hash of the ranks of their values: neither the order of the rows
nor a strictly monotone map of a column matters. Rows that share a hash are told apart by further
columns. A category has no rank: it is known by its counts per class, and its code decides last.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from math import gcd, log2
from typing import Any

import numpy as np
from scipy.stats import binom

from mauc.data.problem import Problem
from mauc.engine.levels import find_levels
from mauc.engine.nominal import count_categories

_MAX_MIXED = 64  # columns that the hashes of all rows are made of
_LOOK_EVERY = 4  # columns are mixed before rows are compared
_ENOUGH = 3.0  # times the information that tells all rows apart, for columns repeat each other
_MULTIPLIERS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)

_MIN_GROUPS = 10
_MIN_ROWS, _MAX_ROWS = 2.0, 50.0  # of a group, in the mean
_MIN_REPEATED = 0.9  # share of the groups that have several rows
_MIN_PURE = 0.95  # share of these whose rows have one class
_MAX_CHANCE = 0.6  # such share by chance, for it to mean something
_EVEN = 0.5  # variance of the sizes of groups, over that of random ones
_NEAR = 0.2  # by which neighbours of an ordered feature agree more often than by chance
_MIN_SEVERAL = 0.5  # share of the groups that have several rows, if they agree on the class
_MIN_PURITY = 0.8  # of rows of a value, by which they agree on the class beyond chance
_TIMES_NEARER = 3.0  # less often do rows of a value differ than those of neighbouring values
_MIN_BETWEEN = 0.1  # of what chance has, that neighbouring values differ at least
_RARE = 1e-6  # probability of such values by chance
_SUBJECT_NAME = re.compile(
    r"(patient|subject|participant|person|proband|donor|individual|animal|mouse|user|customer"
    r"|client|student|speaker|household|family|member|employee|account)"
    r"[\W_]*(id|no|nr|num|number|code|key|name)$"
)
_MIN_SUBJECTS = 3  # different values of a column with such a name
# With few values such a column may be a code of kinds, as category_id.
_ID_NAME = re.compile(
    r"(^|[\W_])(id|uid|uuid|guid|e?mail|sur ?name)$|^(first|last|full)?[\W_]*name$"
)
_NAMES = re.compile(
    r"(patient|subject|participant|person|proband|donor|individual|animal|mouse|user|customer"
    r"|client|student|speaker|household|family)[\W_]*(id|no|nr|num|number|code)?$"
    r"|(^|[\W_])(id|uid|uuid|guid)$"
)

Array = np.ndarray[Any, Any]
_OpenGroup = tuple[np.ndarray, int]  # offsets of rows of one hash, and how many of them to take


def hashed_rows(
    problem: Problem,
    order: np.ndarray,
    starts: np.ndarray,
    n_kept: int,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Choose rows, each class with its share; return their ascending offsets in `order`.

    `weights`, in this order, count rows: one that stands for several may be chosen again and again.
    """
    if len(order) < problem.n_samples:  # those of weight 0 are not there
        there = np.sort(order)
        problem, order = problem.take_rows(there), np.searchsorted(there, order)
    n = problem.n_samples
    ends = np.arange(n + 1) if weights is None else np.append(0.0, np.cumsum(weights))
    # As many of a class as even distances over all rows would take.
    wanted = np.diff(np.searchsorted(_even_points(n_kept, ends[-1]), ends[starts]))
    columns = _spread_columns(problem)
    ahead: Any = problem.columns.in_groups(columns)
    hashes = _hash_rows(problem, ahead)
    offset_bits = np.uint64(max(1, int(n - 1).bit_length()))
    low_bits = (np.uint64(1) << offset_bits) - np.uint64(1)
    keys = (hashes[order] & ~low_bits) | np.arange(n, dtype=np.uint64)
    chosen, open_groups = [], []
    for k in np.flatnonzero(wanted):
        part = np.sort(keys[starts[k] : starts[k + 1]])
        offsets = (part & low_bits).astype(np.int64)
        taken, left_open = _take_evenly(part >> offset_bits, offsets, wanted[k], weights)
        chosen.append(taken)
        open_groups += left_open
    # The columns that are left, and at last the codes of the nominal ones.
    nominal: Any = problem.columns.in_groups(columns[problem.is_nominal[columns]])
    for left, values_of in ((ahead, _values), (nominal, _codes)):
        # Whether a group is open is asked first: the next column may have to be read.
        while open_groups and (column := next(left, None)) is not None:
            values = values_of(problem, column)[order]
            decided, open_groups = _split_groups(values, open_groups, weights)
            chosen += decided
        left.close()
    chosen += [np.resize(*group) for group in open_groups]  # rows that are all equal
    return np.sort(np.concatenate(chosen))


def hash_all_rows(problem: Problem) -> np.ndarray:
    """Return a hash of every row, uint64, that tells it from all rows that differ in any column."""
    hashes = np.zeros(problem.n_samples, np.uint64)
    n_distinct = problem.n_samples
    if problem.sample_weight is not None:
        n_distinct = -1  # rows with copies are never all distinct: all columns are looked at
    columns = _spread_columns(problem)
    nominal = columns[problem.is_nominal[columns]]
    for some, ranks_of in ((columns, _ranks), (nominal, _code_ranks)):
        ahead: Any = problem.columns.in_groups(some)
        n_mixed, n_read = 0, 1
        while group := list(islice(ahead, n_read)):
            for ranks, _ in ranks_of(problem, group):
                _mix(hashes, ranks)
                if n_mixed % _LOOK_EVERY == 0 and len(np.unique(hashes)) == n_distinct:
                    ahead.close()
                    return hashes
                n_mixed += 1
            # Few columns tell most tables apart; what is streamed is read and held by itself.
            n_read = 1 if problem.columns.is_streamed else min(4 * n_read, _MAX_MIXED)
    return hashes


def _spread_columns(problem: Problem) -> np.ndarray:
    """Return all columns, any first ones of them at about even distances, nominal ones last."""
    m = problem.n_features
    step = max(1, round(0.618 * m))
    while gcd(step, m) > 1:
        step += 1
    columns = np.arange(m) * step % m
    return columns[np.argsort(problem.is_nominal[columns], kind="stable")]


def _hash_rows(problem: Problem, columns: Iterator[int]) -> np.ndarray:
    """Return a hash for every row, of so many columns that nearly all rows should differ."""
    hashes, weights = np.zeros(problem.n_samples, np.uint64), problem.sample_weight
    total = problem.n_samples if weights is None else max(float(weights.sum()), 1.0)
    n_bits = _ENOUGH * log2(total)
    for column in islice(columns, _MAX_MIXED):
        ((ranks, counts),) = _ranks(problem, [column])
        _mix(hashes, ranks)
        if weights is not None:
            counts = np.bincount(ranks.astype(np.int64), weights)
        shares = counts[counts > 0] / total
        n_bits += float(np.sum(shares * np.log2(shares)))
        if n_bits <= 0 or len(counts) == total:
            break
    return hashes


def _values(problem: Problem, column: int) -> np.ndarray:
    """Return values of a column that tell its rows apart and have nothing of names in them."""
    if problem.is_nominal[column]:
        return _category_ranks(problem, column)
    return _codes(problem, column)


def _codes(problem: Problem, column: int) -> np.ndarray:
    """Return the values of a column, or its category codes."""
    return problem.columns.ordered([column])[0]


def _ranks(problem: Problem, columns: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield ranks of the values of columns, uint64, and how often each of them occurs."""
    if not problem.is_nominal[columns].any():
        yield from _code_ranks(problem, columns)
        return
    for column in columns:
        if problem.is_nominal[column]:
            ranks = _category_ranks(problem, column)
            counts = np.bincount(ranks)
            yield ranks.astype(np.uint64), counts[counts > 0]
        else:
            yield from _code_ranks(problem, [column])


def _code_ranks(problem: Problem, columns: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the ranks 0, 1, ... of the distinct values of columns, and how often each occurs."""
    XT = problem.columns.ordered(columns)
    levels = [values if XT.dtype == np.uint8 else None for values in XT]
    if XT.dtype != np.uint8:
        LT, n_levels, n_missing = find_levels(XT)
        for at in np.flatnonzero((n_levels > 0) & (n_missing == 0)).tolist():
            levels[at] = LT[at]  # they need not be sorted
    for values, numbers in zip(XT, levels, strict=True):
        if numbers is None:
            # All NaN are one value.
            _, ranks, counts = np.unique(values, return_inverse=True, return_counts=True)
            yield ranks.astype(np.uint64), counts
        else:
            counts = np.bincount(numbers, minlength=256)
            occurs = counts > 0
            yield (np.cumsum(occurs) - 1).astype(np.uint64)[numbers], counts[occurs]


def _category_ranks(problem: Problem, column: int) -> np.ndarray:
    """Return a number per row, equal for categories of equal class counts."""
    codes = problem.columns.floats([column])[0]
    counts = count_categories(codes, problem.codes, problem.n_classes, problem.row_weights)
    mixed = np.repeat(np.arange(problem.n_classes, dtype=np.uint64), np.diff(counts.starts))
    _mix(mixed, np.uint64(1))
    _mix(mixed, counts.counts.astype(np.uint64))
    of_categories = np.zeros(counts.n_categories, np.uint64)
    np.add.at(of_categories, counts.categories, mixed)
    return np.unique(of_categories, return_inverse=True)[1][codes.astype(np.int64)]


def _mix(hashes: np.ndarray, ranks: np.ndarray | np.uint64) -> None:
    """Mix ranks into hashes, in place."""
    hashes += ranks
    for multiplier in _MULTIPLIERS:
        hashes *= multiplier
        hashes ^= hashes >> np.uint64(31)


def _even_points(n_points: int, total: float) -> np.ndarray:
    """Return points at even distances in [0, total), rounded down if they number rows."""
    points = np.arange(n_points) * total
    return points // n_points if points.dtype.kind == "i" else points / n_points


def _take_evenly(
    keys: np.ndarray, offsets: np.ndarray, n_taken: int, weights: np.ndarray | None
) -> tuple[np.ndarray, list[_OpenGroup]]:
    """Take offsets at even distances, their keys ascending; of those of one key it is open which.

    Returns the offsets taken and, for each open key, its offsets and how many of them to take.
    """
    if weights is None:
        taken = _even_points(n_taken, len(keys))
    else:
        ends = np.cumsum(weights[offsets])
        taken = np.searchsorted(ends, _even_points(n_taken, ends[-1]), "right")
    firsts = np.searchsorted(keys, keys[taken], "left")
    lasts = np.searchsorted(keys, keys[taken], "right")
    is_alone = lasts - firsts == 1
    groups, n_of = np.unique(firsts[~is_alone], return_counts=True)
    chosen, open_groups = [offsets[taken[is_alone]]], []
    stops = dict(zip(firsts.tolist(), lasts.tolist(), strict=True))
    for first, n_here in zip(groups.tolist(), n_of.tolist(), strict=True):
        group = offsets[first : stops[first]]
        if n_here == len(group) and weights is None:
            chosen.append(group)
        else:
            open_groups.append((group, n_here))
    return np.concatenate(chosen), open_groups


def _split_groups(
    values: np.ndarray, open_groups: list[_OpenGroup], weights: np.ndarray | None
) -> tuple[list[np.ndarray], list[_OpenGroup]]:
    """Return what a column decides to take of open groups, and the groups still open."""
    sizes = np.array([len(offsets) for offsets, _ in open_groups], np.int64)
    starts = np.cumsum(sizes) - sizes
    here = values[np.concatenate([offsets for offsets, _ in open_groups])]
    first = np.repeat(here[starts], sizes)
    differs = (here != first) & ((here == here) | (first == first))
    is_split = np.logical_or.reduceat(differs, starts)
    chosen, still_open = [], []
    for (offsets, n_taken), splits in zip(open_groups, is_split, strict=True):
        if not splits:
            still_open.append((offsets, n_taken))
            continue
        hashes = np.zeros(len(offsets), np.uint64)
        _mix(hashes, np.unique(values[offsets], return_inverse=True)[1].astype(np.uint64))
        by_hash = np.argsort(hashes, kind="stable")
        found = _take_evenly(hashes[by_hash], offsets[by_hash], n_taken, weights)
        chosen.append(found[0])
        still_open += found[1]
    return chosen, still_open


def looks_like_group(
    values: Array,
    codes: Array,
    name: str = "",
    *,
    is_nominal: bool = False,
    if_even: bool = False,
) -> bool:
    """Whether a column has a few rows of each of many values, and a name or labels of groups.

    Whole numbers with as many rows each, but for the last, are taken for groups `if_even`. A name
    such as subject_id does whatever the number of values, if values repeat.

    Labels do if they are the same within a value by more than chance, and are not so because
    values near each other have the same, as those of a good feature do. NaN is missing.
    """
    is_known = values == values
    if not is_known.all():
        values, codes = values[is_known], codes[is_known]
    if _is_id_column(values, name, is_nominal=is_nominal) and len(np.unique(values)) < len(values):
        return True
    return _has_labels_of_groups(values, codes, name, is_nominal=is_nominal, if_even=if_even)


def is_identifier(values: Array, name: str, *, is_nominal: bool = False) -> bool:
    """Whether a column is called an identifier of rows, and holds whole numbers or texts."""
    return _is_id_column(values[values == values], name, is_nominal=is_nominal)


def _is_id_column(values: Array, name: str, *, is_nominal: bool) -> bool:
    """Whether known values are whole numbers or categories, with the name of an identifier."""
    if not name:
        return False
    is_subject = _SUBJECT_NAME.search(name.lower()) is not None
    if not is_subject and _ID_NAME.search(name.lower()) is None:
        return False
    is_whole = is_nominal or bool((values == np.floor(values)).all())
    return is_whole and len(np.unique(values)) >= (_MIN_SUBJECTS if is_subject else _MIN_GROUPS)


def _has_labels_of_groups(
    values: Array, codes: Array, name: str, *, is_nominal: bool, if_even: bool
) -> bool:
    """Whether known values are those of groups, see `looks_like_group`."""
    in_order = np.sort(values)
    starts = np.flatnonzero(np.append(in_order[:1] == in_order[:1], in_order[1:] != in_order[:-1]))
    n_groups, n = len(starts), len(values)
    if n_groups < _MIN_GROUPS or not _MIN_ROWS * n_groups <= n <= _MAX_ROWS * n_groups:
        return False
    counts = np.diff(np.append(starts, n))
    labels = codes[np.argsort(values, kind="stable")]
    is_code = is_nominal or bool((values == np.floor(values)).all())
    are_several = is_code and np.mean(counts > 1) >= _MIN_SEVERAL
    if are_several and _agree_within(labels, starts, counts, is_nominal=is_nominal):
        return True
    if np.mean(counts > 1) < _MIN_REPEATED:
        return False
    is_named = _NAMES.search(name.lower()) or (if_even and (counts != counts[0]).sum() < 2)
    if is_named and (is_nominal or (values == np.floor(values)).all()):
        return True
    is_pure = np.minimum.reduceat(labels, starts) == np.maximum.reduceat(labels, starts)
    shares = np.bincount(codes) / n
    chance = np.mean((shares[:, np.newaxis] ** counts).sum(axis=0))
    if is_pure[counts > 1].mean() < _MIN_PURE or chance > _MAX_CHANCE:
        return False
    firsts = labels[starts]
    is_alike = np.mean(firsts[1:] == firsts[:-1]) > (shares**2).sum() + _NEAR
    return bool(is_nominal or not is_alike or counts.var() < _EVEN * counts.mean())


def _agree_within(labels: Array, starts: Array, counts: Array, *, is_nominal: bool) -> bool:
    """Whether rows of a value share the class far more often than chance and neighbours do.

    Labels are sorted by value; each value has `counts` rows from `starts`.
    """
    n_classes, n = int(labels.max()) + 1, len(labels)
    members = np.zeros((len(starts), n_classes))
    np.add.at(members, (np.repeat(np.arange(len(starts)), counts), labels), 1.0)
    shares = np.bincount(labels) / n
    by_chance = 1.0 - float((shares**2).sum())
    is_repeated = counts > 1
    if by_chance <= 0.0 or is_repeated.sum() < _MIN_GROUPS:
        return False
    several, sizes = members[is_repeated], counts[is_repeated]
    equal = (several * (several - 1)).sum(axis=1) / (sizes * (sizes - 1))
    within = 1.0 - float(np.average(equal, weights=sizes))
    if within > (1.0 - _MIN_PURITY) * by_chance:
        return False
    rates = members / counts[:, np.newaxis]
    between = 1.0 - float((rates[1:] * rates[:-1]).sum(axis=1).mean())
    if not is_nominal and between < max(within * _TIMES_NEARER, by_chance * _MIN_BETWEEN):
        return False
    # By chance one pair of rows of a value has the same class with 1 - by_chance.
    n_agreeing = int(np.floor(equal.sum()))
    return bool(binom.sf(n_agreeing - 1, len(equal), 1.0 - by_chance) < _RARE)


def find_group_column(problem: Problem, *, if_even: bool = False) -> int | None:
    """Return the first column that looks like a group, if there is one."""
    names = problem.feature_names
    for block in problem.blocks():
        columns = range(problem.n_features)[block]
        for j, values in zip(columns, problem.columns.ordered(block), strict=True):
            name = "" if names is None else str(names[j])
            if looks_like_group(
                values, problem.codes, name, is_nominal=problem.is_nominal[j], if_even=if_even
            ):
                return j
    return None


def copied_share(problem: Problem, folds: Iterable[tuple[Array, Array]]) -> float:
    """Return the share of the tested rows of which the training part has a copy, if by no chance.

    Few features, or coarse ones, have equal rows anyway: 0 where their values, by the information
    in each, would not tell three times as many bits as the rows need.
    """
    found = np.unique(hash_all_rows(problem), return_index=True, return_inverse=True)
    _, firsts, rows = found
    if len(firsts) == problem.n_samples:
        return 0.0
    n_bits = _ENOUGH * log2(problem.n_samples)
    for j in range(problem.n_features):
        values = problem.columns.ordered([j])[0][firsts]
        shares = np.unique(values, return_counts=True)[1] / len(firsts)
        n_bits += log2(float((shares**2).sum()))
        if n_bits <= 0.0:
            break
    else:
        return 0.0
    tested = [np.isin(rows[test], rows[train]) for train, test in folds]
    return float(np.concatenate(tested).mean())
