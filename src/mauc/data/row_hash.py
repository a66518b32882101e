"""Rows known by what they hold, not by where they stand: hashes of rows, and samples of them.

The rows of a class are sorted by a hash of the ranks of their values: neither the order of the rows
nor a strictly monotone map of a column matters. Rows that share a hash are told apart by further
columns. A category has no rank: it is known by its counts per class, and its code decides last.
"""

from collections.abc import Iterator
from itertools import islice
from math import gcd, log2
from typing import Any

import numpy as np

from mauc.data.problem import Problem
from mauc.engine.levels import find_levels
from mauc.engine.nominal import count_categories

_MAX_MIXED = 64  # columns that the hashes of all rows are made of
_LOOK_EVERY = 4  # columns are mixed before rows are compared
_ENOUGH = 3.0  # times the information that tells all rows apart, for columns repeat each other
_MULTIPLIERS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)

_OpenGroup = tuple[np.ndarray, int]  # offsets of rows of one hash, and how many of them to take


def sample_rows(
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
