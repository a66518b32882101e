"""The bins of one feature: fixed by its first values, split where they crowd, counted by class."""

from typing import NamedTuple

import numpy as np
from numba import uintp

from mauc.compile import njit
from mauc.parallel import scratch_array

# Bins per `n_bins`: those that the first values fix, and the most that splits make of them.
_FIRST, _MOST = 3, 6
# Of the first bins one in four lies around the values by width, not by their number: rows of other
# classes, or of another time, may lie there. Widths grow from the centre on, by sinh of up to
# _REACH: up to 14 times the central range of the first values, to either side.
_SPACED_SHARE, _REACH = 4, 4.0
_CENTRAL = (0.05, 0.95)  # quantiles of the central range
_HEAVY = 2.0  # shares of a bin: a value with more has its own, and a bin with more is split
_TILE = 512  # rows whose bins are found in one pass
#: How bins grow: not at all, by splits, or by one for every new value.
FIXED, SPLITTING, OPEN = range(3)


class Bins(NamedTuple):
    """Counts of one feature by bin and class.

    Bin b holds the values v with ``edges[b - 1] <= v < edges[b]``. The number of values of class k
    below ``edges[e]`` is at least the sum of ``counts[:e + 1, k]``, and at most ``loose[e, k]``
    more: counts made with other edges, before a split or in another sketch, leave that open.
    """

    edges: np.ndarray  #: shape (n_edges,), float64, strictly ascending
    counts: np.ndarray  #: shape (n_edges + 2, n_classes), int64; the last row is of missing values
    loose: np.ndarray | None = None  #: shape (n_edges, n_classes), int64; None stands for zeros
    growth: int = FIXED

    def without_counts(self, growth: int = FIXED) -> "Bins":
        """Return bins with the same edges and no counts."""
        return Bins(self.edges, np.zeros_like(self.counts), growth=growth)

    def take_classes(self, slots: np.ndarray, n_classes: int) -> "Bins":
        """Return bins of `n_classes` classes, in which class k becomes class ``slots[k]``."""
        loose = None if self.loose is None else spread(self.loose, slots, n_classes)
        return self._replace(counts=spread(self.counts, slots, n_classes), loose=loose)


def spread(counts: np.ndarray, slots: np.ndarray, n_classes: int) -> np.ndarray:
    """Return counts with `n_classes` classes, the last axis, those of class k at ``slots[k]``."""
    out = np.zeros((*counts.shape[:-1], n_classes), np.int64)
    out[..., slots] = counts
    return out


def no_bins(n_classes: int) -> Bins:
    """Return open bins without values."""
    return Bins(np.empty(0), np.zeros((2, n_classes), np.int64), growth=OPEN)


def add_values(bins: Bins, values: np.ndarray, codes: np.ndarray, n_bins: int) -> Bins:
    """Return bins with values, float32 or float64 with NaN for missing ones, of classes `codes`.

    Up to `n_bins` distinct values have a bin each. Those that exceed it fix the edges; later a bin
    is split at quantiles if it has twice the share of a bin, most of it by the new values.
    """
    new = count_bins(values, codes, bins.edges, bins.counts.shape[1])
    counts, growth = bins.counts + new, bins.growth
    if growth == FIXED:
        return bins._replace(counts=counts)
    class_counts = counts.sum(axis=0)
    share, room = (class_counts > 0).sum() / (_FIRST * n_bins), _MOST * n_bins - len(bins.edges)
    is_chosen = new[:-1].any(axis=1) & ~single_bins(bins.edges)
    if growth == SPLITTING:
        weights, added = (_weights(part[:-1][is_chosen], class_counts) for part in (counts, new))
        is_chosen[is_chosen] = (added > _HEAVY * share) & (2 * added >= weights) & (room > 1)
    if not is_chosen.any():
        return bins._replace(counts=counts)
    floats = values.astype(np.float64) + 0.0  # -0.0 is 0.0
    is_in = is_chosen[np.searchsorted(bins.edges, floats, "right")] & (floats == floats)
    distinct, slots = np.unique(floats[is_in], return_inverse=True)
    weights = np.bincount(slots, (1.0 / np.maximum(class_counts, 1))[codes[is_in]], len(distinct))
    is_filled = bins.counts[:-1].any(axis=1)
    if growth == SPLITTING:
        n_parts = min(int(weights.sum() / share) + 1, room)
        edges = np.union1d(bins.edges, choose_edges(distinct, _next(distinct), weights, n_parts))
    elif is_filled.sum() + len(distinct) <= n_bins:
        edges = np.union1d(bins.edges, edges_around(distinct))
    else:
        known = np.append(-np.inf, bins.edges)[is_filled]
        all_weights = np.append(_weights(bins.counts[:-1][is_filled], class_counts), weights)
        all_values = np.append(known, distinct)
        order = np.argsort(all_values, kind="stable")
        edges = fix_edges(all_values[order], all_weights[order], _FIRST * n_bins)
        growth = SPLITTING
    moved = rebase(bins, edges)
    counts = moved.counts + count_bins(values, codes, edges, len(class_counts))
    return moved._replace(counts=counts, growth=growth)


def count_bins(
    values: np.ndarray, codes: np.ndarray, edges: np.ndarray, n_classes: int
) -> np.ndarray:
    """Return the counts by bin and class, of shape (n_edges + 2, n_classes); missing last."""
    n_edges = len(edges)
    counts = np.zeros((n_edges + 2, n_classes), np.int32)  # half the bytes in the cache
    ladder = scratch_array("ladder", (2 ** n_edges.bit_length() - 1,), values.dtype)
    with np.errstate(over="ignore", under="ignore"):
        ladder[:n_edges] = edges
    is_below = ladder[:n_edges] < edges  # a value of single precision reaches the next one
    ladder[:n_edges][is_below] = _next(ladder[:n_edges][is_below])
    ladder[n_edges:] = np.nan
    count_column(values, codes, ladder, scratch_array("slots", (_TILE,), np.uint32), counts)
    return counts


def _weights(counts: np.ndarray, class_counts: np.ndarray) -> np.ndarray:
    """Return weights with which all classes have the same sum."""
    return (counts / np.maximum(class_counts, 1)).sum(axis=-1)


def fix_edges(values: np.ndarray, weights: np.ndarray, n_bins: int) -> np.ndarray:
    """Return at most ``n_bins - 1`` edges for values like these, ascending and distinct."""
    low, high = np.searchsorted(np.cumsum(weights), np.multiply(_CENTRAL, weights.sum()))
    first, last = np.clip(values[[low, high]], -1e300, 1e300)
    if first == last:  # one value has nearly all the weight
        first, last = np.clip(values[[0, -1]], -1e300, 1e300)
    steps = np.sinh(np.linspace(-_REACH, _REACH, n_bins // _SPACED_SHARE))
    with np.errstate(over="ignore"):
        spaced = (first / 2 + last / 2) + (last / 2 - first / 2) * steps
    spaced = np.unique(spaced[np.isfinite(spaced)])
    return np.union1d(choose_edges(values, _next(values), weights, n_bins - len(spaced)), spaced)


def choose_edges(
    low: np.ndarray,
    high: np.ndarray,
    weights: np.ndarray,
    n_bins: int,
    is_single: bool | np.ndarray = True,
) -> np.ndarray:
    """Return at most ``n_bins - 1`` of the ends of ranges; a heavy single value stays alone."""
    is_heavy = is_single & (weights * n_bins > _HEAVY * weights.sum())
    heavy = np.concatenate([low[is_heavy], high[is_heavy]])
    below = np.cumsum(np.where(is_heavy, 0.0, weights))
    n_light = n_bins - len(heavy)
    targets = below[-1] * np.arange(1, n_light) / n_light
    edges = np.unique(np.concatenate([heavy, high[np.searchsorted(below, targets)]]))
    return edges[edges > -np.inf]  # the last range may have no end, NaN


def edges_around(values: np.ndarray) -> np.ndarray:
    """Return the edges that give every value, of float64 without NaN, a bin of its own."""
    # Nothing lies below -inf: what ends at the next float holds it alone.
    return np.unique(np.concatenate([values[values > -np.inf], _next(values)]))


def single_bins(edges: np.ndarray) -> np.ndarray:
    """Return which bins, of n_edges + 1, hold one value only: the next float is an edge."""
    is_single = np.zeros(len(edges) + 1, bool)
    if len(edges):
        is_single[:-1] = _next(np.concatenate([[-np.inf], edges[:-1]])) == edges
        is_single[-1] = edges[-1] == np.inf
    return is_single


def _next(values: np.ndarray) -> np.ndarray:
    """Return the next larger floating-point numbers."""
    with np.errstate(over="ignore", under="ignore"):  # the next one may be infinite
        return np.nextafter(values, np.inf)


def merge_bins(first: Bins, second: Bins, n_bins: int) -> Bins:
    """Return the sum of the counts of two sketches of one feature, at the edges of both if few."""
    if not np.array_equal(first.edges, second.edges):
        edges = np.union1d(first.edges, second.edges)
        first, second = rebase(first, edges), rebase(second, edges)
    loose = first.loose if second.loose is None else second.loose
    if first.loose is not None and second.loose is not None:
        loose = first.loose + second.loose
    growth = first.growth if first.growth == second.growth else SPLITTING
    bins = Bins(first.edges, first.counts + second.counts, loose, growth)
    if growth == OPEN:
        is_few = bins.counts[:-1].any(axis=1).sum() <= n_bins
    else:
        is_few = len(bins.edges) < _MOST * n_bins
    if is_few:
        return bins
    low, high = np.append(-np.inf, bins.edges), np.append(bins.edges, np.nan)
    middle = np.add(*_bin_counts(bins)) / 2  # half-way between the bounds
    weights = _weights(middle, bins.counts.sum(axis=0))
    edges = choose_edges(low, high, weights, _FIRST * n_bins, single_bins(bins.edges))
    return rebase(bins, edges)._replace(growth=min(growth, SPLITTING))


def rebase(bins: Bins, edges: np.ndarray) -> Bins:
    """Express counts by other edges, with what that leaves unknown in `loose`."""
    below = np.cumsum(bins.counts[:-1], axis=0)  # its last row is the total
    start = np.zeros((1, below.shape[1]), np.int64)
    lowest, highest = np.concatenate([start, below[:-1]]), below
    if bins.loose is not None:
        highest = below.copy()
        highest[:-1] += bins.loose
    low = lowest[np.searchsorted(bins.edges, edges, "right")]
    loose = highest[np.searchsorted(bins.edges, edges, "left")] - low
    counts = np.diff(low, axis=0, prepend=start, append=below[-1:])
    return bins._replace(
        edges=edges,
        counts=np.concatenate([counts, bins.counts[-1:]]),
        loose=loose if loose.any() else None,
    )


def _bin_counts(bins: Bins) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences of L and of U, see `Bins`: those of all bins, (n_bins, n_classes)."""
    low = high = bins.counts[:-1]
    if bins.loose is not None:
        high = low.copy()
        high[:-1] += bins.loose
        high[1:] -= bins.loose
    return low, high


def pair_bounds(bins: Bins) -> tuple[np.ndarray, np.ndarray]:
    """Return the fewest and most wins of every class pair, as in docs/methods/selectors.md."""
    low, high = (counts.astype(np.float64) for counts in _bin_counts(bins))
    is_filled = low.any(axis=1) | high.any(axis=1)
    is_single = single_bins(bins.edges)[is_filled, np.newaxis]
    totals, missing = bins.counts.sum(axis=0).astype(np.float64), bins.counts[-1]
    first, second = np.triu_indices(len(totals), 1)
    ties = missing[first] * totals[second] + (totals - missing)[first] * missing[second]

    def wins(upper: np.ndarray, lower: np.ndarray, factors: np.ndarray) -> np.ndarray:
        """Return the wins of every class pair from counts by bin."""
        upper, lower = upper[is_filled], lower[is_filled]
        # Sums of whole numbers: exact up to 2**53, whatever their order. Not by BLAS, whose threads
        # would compete with those of blocks.
        beaten = 2 * (np.cumsum(lower, axis=0) - lower) + factors * lower
        return np.einsum("bi,bj->ij", upper, beaten)[first, second] + ties

    fewest = wins(high, low, 1.0 * is_single)
    if bins.loose is None and is_single.all():
        return fewest, fewest
    return fewest, wins(low, high, 2.0 - is_single)


@njit
def count_column(values, codes, ladder, slots, counts):
    """Add the values of a column to `counts`, of shape (n_edges + 2, n_classes).

    `ladder`, of shape (2**n_levels - 1,), holds the edges and then NaN. All values of a tile take a
    step of the binary search before any takes the next: LLVM vectorises it, ten times as fast.
    """
    one = uintp(1)
    n, n_tile = uintp(values.shape[0]), uintp(slots.shape[0])
    missing = uintp(counts.shape[0]) - one
    for start in range(uintp(0), n, n_tile):
        width = min(n_tile, n - start)
        for i in range(width):
            slots[i] = 0
        step = (uintp(ladder.shape[0]) + one) >> one
        while step > uintp(0):
            # slots[i] edges are known to be <= the value; of the next 2 * step - 1 it is not known
            for i in range(width):
                slot = slots[i]
                further = slot + np.uint32(step)
                is_above = ladder[uintp(further) - one] <= values[start + i]
                slots[i] = further if is_above else slot
            step >>= one
        for i in range(width):
            value = values[start + i]
            bin = uintp(slots[i]) if value == value else missing
            counts[bin, codes[start + i]] += 1
