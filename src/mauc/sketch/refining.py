"""Add a column of new values to the bins of a feature, with new bins where they are needed."""

from typing import NamedTuple

import numpy as np

from mauc.sketch.bins import FeatureBins, add_bins, edges_around, rebase
from mauc.sketch.counting import count_values
from mauc.sketch.edges import bin_costs, prune

_CANDIDATES = 4  # values per bin by which the edges are chosen
_FULL = 16.0  # times its cost when it was chosen: a bin is divided


class Column(NamedTuple):
    """New values of one feature."""

    values: np.ndarray  #: shape (n_values,), float32 or float64
    codes: np.ndarray  #: shape (n_values,), int32, class of each value
    n_classes: int
    zeros: np.ndarray | None = None  #: shape (n_classes,), further zeros of each class
    is_rounded: bool = False

    def count(self, edges):
        """Return the counts of the values by bin and class."""
        counts = count_values(self.values, self.codes, edges, self.n_classes)
        if self.zeros is not None:
            counts[np.searchsorted(edges, 0.0, "right")] += self.zeros
        return FeatureBins(edges, counts, None, self.is_rounded)

    def take(self, edges, is_chosen, limits, *, takes_all):
        """Return distinct values in chosen bins, of evenly spaced rows or of all.

        Of very many values as many as bins could be chosen by; frequent ones are among them.
        """
        values, zero = self.values, [0.0]
        if len(edges):
            values = values[is_chosen[np.searchsorted(edges, values, "right")]]
            zero = zero if is_chosen[np.searchsorted(edges, 0.0, "right")] else []
        step = 1 if takes_all else max(1, -(-len(values) // limits.n_sampled))
        taken = np.sort(values[::step])
        taken = taken[: np.searchsorted(taken, np.nan)].astype(np.float64)
        distinct = np.unique(taken)
        most = _CANDIDATES * limits.n_bins
        if len(distinct) > most:
            distinct = np.unique(taken[:: -(-len(taken) // most)])
        if self.zeros is not None and self.zeros.any():
            distinct = np.union1d(distinct, zero)
        return distinct


class Limits(NamedTuple):
    """How many bins a feature may have, and when they are chosen anew."""

    n_bins: int
    n_sampled: int  #: rows whose values may become edges
    is_check: bool  #: whether bins that have become full are divided
    min_cost: float  #: no bin that costs less is divided


def add_column(bins, column, limits, frame=None, *, is_open=True):
    """Return the bins of a feature with the values of a column added.

    As long as the feature has no more than ``n_bins`` distinct values each has a bin of its own.
    Then the edges stay, but that at times (`Limits.is_check`) bins that became too full are divided
    for what comes, and neighbours are put together in exchange.

    Parameters
    ----------
    bins : FeatureBins
    column : Column
    limits : Limits
    frame : ndarray of shape (n_edges,), optional
        Edges that are always kept; if single values can no longer be, they are all there is.
    is_open : bool, default=True
        With a `frame`, whether further values may have bins of their own.

    Returns
    -------
    bins : FeatureBins
    """
    counted = column.count(bins.edges)
    total = add_bins(bins, counted)
    is_single = total.is_single
    if is_open and not total.is_rounded and has_few(bins):
        is_bad = total.counts[:-1].any(axis=1) & ~is_single
    elif frame is None and (limits.is_check or len(bins.edges) == 0):
        is_full = bin_costs(total) > _FULL * max(bins.spread, limits.min_cost)
        is_bad = (is_full | (len(bins.edges) == 0)) & counted.counts[:-1].any(axis=1)
    else:
        return total
    if not is_bad.any():
        return total
    return _refine(bins, column, is_bad, limits, frame)


def has_few(bins):
    """Whether every value so far has a bin of its own, and bins were not chosen for more yet."""
    return bins.spread == 0.0 and bins.is_exact


def _refine(bins, column, is_bad, limits, frame):
    was_exact = not column.is_rounded and has_few(bins)
    edges = bins.edges
    # Rare values may be missing from the evenly spaced rows; if there are few, all are collected.
    for takes_all in (False, True):
        found = column.take(edges, is_bad, limits, takes_all=takes_all)
        edges = np.union1d(edges, edges_around(found))
        total = add_bins(rebase(bins, edges), column.count(edges))
        if not was_exact or total.n_filled > limits.n_bins:
            break
        is_bad = total.counts[:-1].any(axis=1) & ~total.is_single
        if not is_bad.any():
            break
    return prune(total, limits.n_bins, frame)


def merge_bins(first, second, n_bins, frame=None):
    """Return the sum of the counts of two sketches of one feature.

    With the same edges nothing but the counts changes; otherwise with the edges of both, of which
    the best are kept.
    """
    if np.array_equal(first.edges, second.edges):
        return add_bins(first, second)
    edges = np.union1d(first.edges, second.edges)
    return prune(add_bins(rebase(first, edges), rebase(second, edges)), n_bins, frame)
