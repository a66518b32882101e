r"""Choose the edges of bins: counts between many edges in, the few edges that are kept out.

The largest error of a pair of classes is half of :math:`\sum_b p_i(b) p_j(b)`, where
:math:`p_k(b)` is the share of class k in bin b. Bins are therefore filled until the product of
their two largest shares, the *cost*, reaches a limit, the same for all bins, and the limit is the
smallest for which the bins suffice. A class that is alone in a bin has no error there now, but
others may come: its own share counts a little.
"""

import math

import numpy as np
from numba import njit, uintp

from mauc.auc.sketch.bins import rebase

_OWN_SHARE = 1 / 16  # of the largest share's square in the cost
_N_HALVINGS = 14  # of the interval in which the limit of the cost is searched
_GOOD_SHARE = 0.98  # of the bins: no better limit is searched then
_NO_LIMIT = 1e9


def prune(bins, n_bins, frame=None):
    """Return bins with no more edges than allowed.

    A feature whose order is known and that has no more than `n_bins` distinct values keeps a bin
    for each of them, with the gaps between them.

    Parameters
    ----------
    bins : FeatureBins
    n_bins : int
    frame : ndarray of shape (n_edges,), optional
        The edges to fall back on; chosen by the counts otherwise.
    """
    if bins.is_exact and bins.n_filled <= n_bins:
        is_filled = bins.counts[:-1].any(axis=1)
        is_kept = is_filled[:-1] | is_filled[1:]  # an edge at either side of a filled bin
        edges = bins.edges[is_kept]
        return rebase(bins, edges if frame is None else np.union1d(edges, frame))
    if frame is not None:
        return rebase(bins, frame)
    if len(bins.edges) < n_bins:
        return bins._replace(spread=largest_cost(bins))
    edges = choose_edges(bins, n_bins)
    kept = rebase(bins, edges)
    return kept._replace(spread=largest_cost(kept))


def choose_edges(bins, n_bins):
    """Return at most ``n_bins - 1`` of the edges."""
    shares = class_shares(bins)
    is_single = bins.is_single
    first = np.empty(len(shares), np.int64)
    low, high = 0.0, _NO_LIMIT
    # Bins of n_bins equal costs would have a limit near 1 / n_bins**2: the search is geometric.
    limit = (4.0 / n_bins) ** 2
    for _ in range(_N_HALVINGS):
        n_found = group_bins(shares, is_single, limit, first)
        if n_found > n_bins:
            low = limit
            limit = limit * 16 if high == _NO_LIMIT else math.sqrt(low * high)
        else:
            high = limit
            if n_found >= _GOOD_SHARE * n_bins:
                break
            limit = limit / 16 if low == 0.0 else math.sqrt(low * high)
    n_found = group_bins(shares, is_single, high, first)
    return bins.edges[first[1:n_found] - 1]


def class_shares(bins):
    """Return the estimated share of every class in every bin, shape (n_bins, n_classes)."""
    counts = bins.counts[:-1].astype(np.float64)
    if bins.slack is not None:  # half-way between the bounds
        moved = bins.slack / 2
        counts[:-1] += moved
        counts[1:] -= moved
    return counts / np.maximum(bins.counts.sum(axis=0), 1)


def largest_cost(bins):
    """Return the largest cost of a bin that may hold several values."""
    costs = bin_costs(bins)
    return float(costs.max(initial=0.0))


def bin_costs(bins):
    """Return the cost of every bin, shape (n_bins,); 0 where there is one value only."""
    costs = np.empty(len(bins.edges) + 1)
    add_costs(class_shares(bins), costs)
    costs[bins.is_single] = 0.0
    return costs


@njit(cache=True, nogil=True)
def add_costs(shares, costs):
    """Fill in the cost of every bin."""
    for b in range(uintp(shares.shape[0])):
        row = shares[b]
        first, second = 0.0, 0.0
        for k in range(uintp(row.shape[0])):
            if row[k] > first:
                second = first
                first = row[k]
            elif row[k] > second:
                second = row[k]
        costs[b] = first * (second + _OWN_SHARE * first)


@njit(cache=True, nogil=True)
def group_bins(shares, is_single, limit, first):
    """Put neighbouring bins together until their cost would exceed a limit.

    A bin of one value that costs a quarter of the limit or more stays alone, without the gap
    behind it: there its ties are known.

    Parameters
    ----------
    shares : ndarray of shape (n_bins, n_classes), float64
    is_single : ndarray of shape (n_bins,), bool
    limit : float
    first : ndarray of shape (n_bins,), int64
        Receives the first bin of every group.

    Returns
    -------
    n_groups : int
    """
    n_bins, n_classes = uintp(shares.shape[0]), uintp(shares.shape[1])
    total = np.zeros(shares.shape[1])
    n_groups = 1
    first[0] = 0
    is_closed, is_empty = False, True
    for b in range(n_bins):
        row = shares[b]
        largest, second, own, own_second = 0.0, 0.0, 0.0, 0.0
        for k in range(n_classes):
            share = row[k]
            if share > own:
                own_second = own
                own = share
            elif share > own_second:
                own_second = share
            share += total[k]
            if share > largest:
                second = largest
                largest = share
            elif share > second:
                second = share
        cost = largest * (second + _OWN_SHARE * largest)
        is_heavy = is_single[b] and 4.0 * own * (own_second + _OWN_SHARE * own) >= limit
        is_full = not is_empty and own > 0.0 and cost > limit
        if is_closed or is_full or (is_heavy and first[n_groups - 1] < b):
            first[n_groups] = b
            n_groups += 1
            is_empty = True
            for k in range(n_classes):
                total[k] = 0.0
        for k in range(n_classes):
            total[k] += row[k]
        is_closed = is_heavy
        if own > 0.0:
            is_empty = False
    return n_groups

