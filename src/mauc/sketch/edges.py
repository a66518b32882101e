r"""Choose the edges of bins: counts between many edges in, the few edges that are kept out.

The largest error of a pair of classes is half of :math:`\sum_b p_i(b) p_j(b)`, where
:math:`p_k(b)` is the share of class k in bin b. Bins are therefore filled until the product of
their two largest shares, the *cost*, reaches a limit, the same for all bins, and the limit is the
smallest for which the bins suffice. A class that is alone in a bin has no error there now, but
others may come: its own share counts a little.
"""

import math

import numpy as np
from numba import uintp

from mauc.compile import njit
from mauc.sketch.bins import rebase

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
        kept = rebase(bins, edges if frame is None else np.union1d(edges, frame))
        return kept._replace(spread=0.0)
    if frame is not None:
        return rebase(bins, frame)
    if len(bins.edges) < n_bins:
        return bins._replace(spread=1.0 / n_bins**2)
    edges, limit = choose_edges(bins, n_bins)
    return rebase(bins, edges)._replace(spread=limit)


def choose_edges(bins, n_bins):
    """Return at most ``n_bins - 1`` of the edges, and the cost that no bin exceeds if it can."""
    parts = _filled_shares(bins)
    first = np.empty(len(bins.edges) + 1, np.int64)
    total = np.empty(bins.counts.shape[1])
    low, high = 0.0, _NO_LIMIT
    # Bins of n_bins equal costs would have a limit near 1 / n_bins**2: the search is geometric.
    limit = (4.0 / n_bins) ** 2
    for _ in range(_N_HALVINGS):
        n_found = group_bins(*parts, limit, total, first)
        if n_found > n_bins:
            low = limit
            limit = limit * 16 if high == _NO_LIMIT else math.sqrt(low * high)
        else:
            high = limit
            if n_found >= _GOOD_SHARE * n_bins:
                break
            limit = limit / 16 if low == 0.0 else math.sqrt(low * high)
    n_found = group_bins(*parts, high, total, first)
    return bins.edges[first[1:n_found] - 1], high


def _filled_shares(bins):
    """Return the shares above 0 as `group_bins` takes them."""
    shares = class_shares(bins)
    rows, classes = np.nonzero(shares)
    filled, starts = np.unique(rows, return_index=True)
    starts = np.append(starts, len(rows))
    return filled, starts, classes, shares[rows, classes], bins.is_single


def class_shares(bins):
    """Return the estimated share of every class in every bin, shape (n_bins, n_classes)."""
    counts = bins.counts[:-1].astype(np.float64)
    if bins.slack is not None:  # half-way between the bounds
        moved = bins.slack / 2
        counts[:-1] += moved
        counts[1:] -= moved
    return counts / np.maximum(bins.counts.sum(axis=0), 1)


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
def group_bins(filled, starts, classes, shares, is_single, limit, total, first):
    """Put neighbouring bins together until their cost would exceed a limit.

    A bin of one value that costs a quarter of the limit or more stays alone, without the gap
    behind it: there its ties are known.

    Parameters
    ----------
    filled : ndarray of shape (n_filled,), int64
        The bins that hold values, ascending.
    starts : ndarray of shape (n_filled + 1,), int64
        The classes in ``filled[c]`` and their shares are those from ``starts[c]`` to
        ``starts[c + 1]``.
    classes : ndarray of shape (n_shares,), int64
    shares : ndarray of shape (n_shares,), float64
    is_single : ndarray of shape (n_bins,), bool
    limit : float
    total : ndarray of shape (n_classes,), float64
        Room for the shares of a group.
    first : ndarray of shape (n_bins,), int64
        Receives the first bin of every group.

    Returns
    -------
    n_groups : int
    """
    n_groups = 1
    first[0] = 0
    is_closed, is_empty = False, True
    largest, second = 0.0, 0.0
    top = np.int64(-1)  # the class of the largest share
    total[:] = 0.0
    for c in range(uintp(filled.shape[0])):
        b = filled[c]
        own, own_second = 0.0, 0.0
        for at in range(starts[c], starts[c + uintp(1)]):
            share = shares[at]
            if share > own:
                own, own_second = share, own
            elif share > own_second:
                own_second = share
        own_cost = own * (own_second + _OWN_SHARE * own)
        is_heavy = is_single[b] and 4.0 * own_cost >= limit
        if is_closed:
            # Behind a bin that stays alone another group begins, be it of empty bins.
            first[n_groups] = filled[c - uintp(1)] + 1
            n_groups += 1
            is_empty = True
        begins = is_heavy and first[n_groups - 1] < b
        for attempt in range(2):
            if attempt == 1:
                first[n_groups] = b
                n_groups += 1
                is_empty = True
            if is_empty:
                total[:] = 0.0
                largest, second, top = 0.0, 0.0, np.int64(-1)
            elif begins:
                continue
            for at in range(starts[c], starts[c + uintp(1)]):
                k = classes[at]
                total[k] += shares[at]
                if k == top:
                    largest = total[k]
                elif total[k] > largest:
                    largest, second, top = total[k], largest, k
                elif total[k] > second:
                    second = total[k]
            cost = largest * (second + _OWN_SHARE * largest)
            if attempt == 0 and not begins and (is_empty or cost <= limit):
                break
        is_closed, is_empty = is_heavy, False
    if is_closed and filled[-1] + 1 < is_single.shape[0]:
        first[n_groups] = filled[-1] + 1
        n_groups += 1
    return n_groups
