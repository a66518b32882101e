"""Choose some of the rows by what they hold, not by where they stand: a Problem in, rows out.

The rows of a class are sorted by a hash of the ranks of their values, and taken at even distances.
So the order of the rows does not matter, nor does a strictly monotone map of a column. Rows that
share a hash are told apart by further columns; those that are equal everywhere are interchangeable.

A category has no rank. It is known by what does not depend on its name, its counts per class, and
so are its scores (`category_scores.py`): rows whose categories have equal
counts are as good as equal. Only two categories with the same counts, which are scored as numbers,
can differ; the codes of categories therefore decide, last of all, between rows that are open.
"""

from itertools import islice
from math import gcd, log2

import numpy as np

from mauc.engine.levels import find_levels
from mauc.selectors.pair_auc import category_counts

_MAX_MIXED = 64  # columns that the hashes of all rows are made of
_LOOK_EVERY = 4  # columns are mixed before rows are compared
_ENOUGH = 3.0  # times the information that tells all rows apart, for columns repeat each other
_MULTIPLIERS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


def sample_rows(problem, order, starts, n_kept):
    """Return the places of the chosen rows in `order`, ascending.

    Parameters
    ----------
    problem : Problem
    order : ndarray of shape (n_samples,), int32
        The rows sorted by class.
    starts : ndarray of shape (n_classes + 1,), int64
        Class k is ``order[starts[k]:starts[k + 1]]``.
    n_kept : int
        How many; each class gets its share of them.
    """
    n = problem.n_samples
    # As many of a class as even distances over all rows would take.
    wanted = np.diff(np.searchsorted(np.arange(n_kept) * n // n_kept, starts))
    columns = _spread_columns(problem)
    ahead = problem.in_groups(columns)
    hashes = _hash_rows(problem, ahead)
    place_bits = np.uint64(max(1, int(n - 1).bit_length()))
    low_bits = (np.uint64(1) << place_bits) - np.uint64(1)
    words = (hashes[order] & ~low_bits) | np.arange(n, dtype=np.uint64)
    chosen, open_groups = [], []
    for k in np.flatnonzero(wanted):
        part = np.sort(words[starts[k] : starts[k + 1]])
        found = _take_evenly(part >> place_bits, (part & low_bits).astype(np.int64), wanted[k])
        chosen.append(found[0])
        open_groups += found[1]
    # The columns that are left, and at last the codes of the nominal ones.
    looks = [(ahead, _values)]
    if problem.is_nominal.any():
        nominal = problem.in_groups(columns[problem.is_nominal[columns]])
        looks.append((nominal, lambda problem, column: problem.ordered_columns([column])[0]))
    for left, values_of in looks:
        # Whether a group is open is asked first: the next column may have to be read.
        while open_groups and (column := next(left, None)) is not None:
            found = _split_groups(values_of(problem, column)[order], open_groups)
            chosen += found[0]
            open_groups = found[1]
        left.close()
    chosen += [places[:n_taken] for places, n_taken in open_groups]  # rows that are all equal
    return np.sort(np.concatenate(chosen))


def hash_all_rows(problem):
    """Return a hash of every row that tells it from all rows that differ from it in any column.

    Returns
    -------
    hashes : ndarray of shape (n_samples,), uint64
        Of what a row holds, not of where it stands: columns are mixed in until all rows differ, or
        none is left; the codes of nominal columns come last.
    """
    hashes = np.zeros(problem.n_samples, np.uint64)
    columns = _spread_columns(problem)
    for is_last in (False, True):
        if is_last:
            columns = columns[problem.is_nominal[columns]]
        ahead = problem.in_groups(columns)
        for place, column in enumerate(ahead):
            if problem.is_nominal[column] and not is_last:
                ranks = _category_ranks(problem, column).astype(np.uint64)
            else:
                ranks = _dense_ranks(problem.ordered_columns([column]))[0]
            _mix(hashes, ranks)
            if place % _LOOK_EVERY == 0 and len(np.unique(hashes)) == problem.n_samples:
                ahead.close()
                return hashes
    return hashes


def _spread_columns(problem):
    """Return all columns, any first ones of them at about even distances, nominal ones last."""
    m = problem.n_features
    step = max(1, round(0.618 * m))
    while gcd(step, m) > 1:
        step += 1
    columns = np.arange(m) * step % m
    return columns[np.argsort(problem.is_nominal[columns], kind="stable")]


def _hash_rows(problem, columns):
    """Return a hash of the first columns of an iterator for every row.

    It takes so many that nearly all rows differ, as far as the entropies of the columns tell.
    """
    hashes = np.zeros(problem.n_samples, np.uint64)
    n_bits = _ENOUGH * log2(problem.n_samples)
    for column in islice(columns, _MAX_MIXED):
        if problem.is_nominal[column]:
            ranks = _category_ranks(problem, column)
            counts = np.bincount(ranks)
            ranks, counts = ranks.astype(np.uint64), counts[counts > 0]
        else:
            ranks, counts = _dense_ranks(problem.ordered_columns([column]))
        _mix(hashes, ranks)
        shares = counts / problem.n_samples
        n_bits += float(np.sum(shares * np.log2(shares)))
        if n_bits <= 0 or len(counts) == problem.n_samples:
            break
    return hashes


def _values(problem, column):
    """Return values of a column that tell its rows apart and have nothing of names in them."""
    if problem.is_nominal[column]:
        return _category_ranks(problem, column)
    return problem.ordered_columns([column])[0]


def _category_ranks(problem, column):
    """Return a number for every row, equal for categories with equal counts in all classes.

    Returns
    -------
    ranks : ndarray of shape (n_samples,), int64
        0 where the category is missing.
    """
    counts = category_counts(problem, column)
    words = np.repeat(np.arange(problem.n_classes, dtype=np.uint64), np.diff(counts.starts))
    _mix(words, np.uint64(1))
    _mix(words, counts.counts.astype(np.uint64))
    of_categories = np.zeros(counts.n_categories, np.uint64)
    np.add.at(of_categories, counts.categories, words)
    ranks = np.append(np.unique(of_categories, return_inverse=True)[1] + 1, 0)
    codes = problem.float_columns([column])[0]
    return ranks[np.where(np.isnan(codes), -1, codes).astype(np.int64)]


def _mix(hashes, ranks):
    """Mix ranks into hashes, in place."""
    hashes += ranks
    for multiplier in _MULTIPLIERS:
        hashes *= multiplier
        hashes ^= hashes >> np.uint64(31)


def _dense_ranks(XT):
    """Return the ranks 0, 1, ... of the distinct values of a column, and how often each occurs."""
    if XT.dtype != np.uint8:
        LT, n_levels, n_missing = find_levels(XT)
        if n_levels[0] > 0 and n_missing[0] == 0:  # then they need not be sorted
            XT = LT
    if XT.dtype != np.uint8:
        # All NaN are one value.
        _, ranks, counts = np.unique(XT[0], return_inverse=True, return_counts=True)
        return ranks.astype(np.uint64), counts
    counts = np.bincount(XT[0], minlength=256)
    is_there = counts > 0
    return (np.cumsum(is_there) - 1).astype(np.uint64)[XT[0]], counts[is_there]


def _take_evenly(keys, places, n_taken):
    """Take places at even distances; of those with the same key it is open which.

    Parameters
    ----------
    keys : ndarray of shape (n,)
        Ascending.
    places : ndarray of shape (n,), int64
    n_taken : int

    Returns
    -------
    taken : ndarray of int64
    open_groups : list of (places, n_taken)
        Places of one key, some of which are to be taken.
    """
    n = len(keys)
    taken = np.arange(n_taken) * n // n_taken
    firsts = np.searchsorted(keys, keys[taken], "left")
    lasts = np.searchsorted(keys, keys[taken], "right")
    is_alone = lasts - firsts == 1
    groups, n_of = np.unique(firsts[~is_alone], return_counts=True)
    chosen, open_groups = [places[taken[is_alone]]], []
    stops = dict(zip(firsts.tolist(), lasts.tolist(), strict=True))
    for first, n_here in zip(groups.tolist(), n_of.tolist(), strict=True):
        group = places[first : stops[first]]
        if n_here == len(group):
            chosen.append(group)
        else:
            open_groups.append((group, n_here))
    return np.concatenate(chosen), open_groups


def _split_groups(values, open_groups):
    """Decide between the rows of groups whose values of a column differ.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        By place.
    open_groups : list of (places, n_taken)

    Returns
    -------
    chosen : list of ndarray
    open_groups : list of (places, n_taken)
    """
    sizes = [len(places) for places, _ in open_groups]
    here = values[np.concatenate([places for places, _ in open_groups])]
    first = np.repeat(here[np.cumsum(sizes) - sizes], sizes)
    differs = (here != first) & ((here == here) | (first == first))
    is_split = np.logical_or.reduceat(differs, np.cumsum(sizes) - sizes)
    chosen, still_open = [], []
    for (places, n_taken), splits in zip(open_groups, is_split, strict=True):
        if not splits:
            still_open.append((places, n_taken))
            continue
        hashes = np.zeros(len(places), np.uint64)
        _mix(hashes, np.unique(values[places], return_inverse=True)[1].astype(np.uint64))
        by_hash = np.argsort(hashes, kind="stable")
        found = _take_evenly(hashes[by_hash], places[by_hash], n_taken)
        chosen.append(found[0])
        still_open += found[1]
    return chosen, still_open
