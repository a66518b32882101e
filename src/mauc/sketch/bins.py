"""The bins of one feature: edges, counts by class, and what is not known of older counts."""

from typing import NamedTuple

import numpy as np


class FeatureBins(NamedTuple):
    r"""Counts of one feature by bin and class.

    Bin b holds the values v with ``edges[b - 1] <= v < edges[b]``. The number of values of class k
    below ``edges[e]`` is at least :math:`L_k(e)`, the sum of ``counts[:e + 1, k]``, and at most
    :math:`U_k(e) = L_k(e) + slack[e, k]`. Counts that were made with these edges have no slack; it
    comes from counts that were made with others (`rebase`).
    """

    edges: np.ndarray  #: shape (n_edges,), float64, strictly ascending
    counts: np.ndarray  #: shape (n_edges + 2, n_classes), int64; the last row are missing values
    slack: np.ndarray | None = None  #: shape (n_edges, n_classes), int64; None stands for zeros
    is_rounded: bool = False  #: whether different values may share a float
    spread: float = 0.0  #: the cost that bins were chosen for; 0 while all values have their own

    @property
    def is_single(self):
        """Mask of the bins that hold one value only, shape (n_edges + 1,)."""
        if self.is_rounded:
            return np.zeros(len(self.edges) + 1, bool)
        return single_bins(self.edges)

    @property
    def is_exact(self):
        """Whether the order of all values is known."""
        return self.slack is None and not self.counts[:-1][~self.is_single].any()

    @property
    def n_filled(self):
        """Number of bins that hold a value."""
        return int(self.counts[:-1].any(axis=1).sum())


def no_bins(n_classes, edges=()):
    """Return bins without counts."""
    edges = np.array(edges, np.float64)
    return FeatureBins(edges, np.zeros((len(edges) + 2, n_classes), np.int64))


def single_bins(edges):
    """Return which of the bins between edges can hold one value only: the next float is an edge.

    Parameters
    ----------
    edges : ndarray of shape (n_edges,), float64

    Returns
    -------
    is_single : ndarray of shape (n_edges + 1,), bool
    """
    is_single = np.zeros(len(edges) + 1, bool)
    if len(edges):
        lowest = np.concatenate([[-np.inf], edges[:-1]])
        is_single[:-1] = _next(lowest) == edges
        is_single[-1] = edges[-1] == np.inf
    return is_single


def edges_around(values):
    """Return the edges that give every value a bin of its own.

    Parameters
    ----------
    values : ndarray of shape (n_values,)
        In any order; not NaN.
    """
    low = np.unique(values).astype(np.float64) + 0.0  # -0.0 is 0.0
    # Nothing lies below -inf: what ends at the next float holds it alone.
    return np.unique(np.concatenate([low[low > -np.inf], _next(low)]))


def _next(values):
    with np.errstate(over="ignore", under="ignore"):  # the next one may be infinite
        return np.nextafter(values, np.inf)


def rebase(bins, edges):
    r"""Express counts by other edges.

    Below a new edge e lie at least the values below the nearest old edge :math:`a \le e` and at
    most those below the nearest old edge :math:`b \ge e`: :math:`L(e) = L(a)`, :math:`U(e) = U(b)`.
    Nothing is lost at edges that were there before, nor in bins without values.

    Parameters
    ----------
    bins : FeatureBins
    edges : ndarray of shape (n_edges,), float64

    Returns
    -------
    bins : FeatureBins
    """
    if np.array_equal(bins.edges, edges):
        return bins
    if not bins.counts[:-1].any():
        counts = np.zeros((len(edges) + 2, bins.counts.shape[1]), np.int64)
        counts[-1] = bins.counts[-1]
        return bins._replace(edges=edges, counts=counts, slack=None)
    below = np.cumsum(bins.counts[:-1], axis=0)  # its last row is the total
    start = np.zeros((1, below.shape[1]), np.int64)
    lowest = np.concatenate([start, below[:-1]])  # by the number of old edges <= e
    highest = below
    if bins.slack is not None:
        highest = below.copy()
        highest[:-1] += bins.slack
    low = lowest[np.searchsorted(bins.edges, edges, "right")]
    high = highest[np.searchsorted(bins.edges, edges, "left")]
    counts = np.diff(low, axis=0, prepend=start, append=below[-1:])
    slack = high - low
    return FeatureBins(
        edges, np.concatenate([counts, bins.counts[-1:]]), slack if slack.any() else None,
        bins.is_rounded, bins.spread,
    )  # fmt: skip


def add_bins(first, second):
    """Return the sum of counts with the same edges."""
    slack = first.slack
    if second.slack is not None:
        slack = second.slack if slack is None else slack + second.slack
    return FeatureBins(
        first.edges, first.counts + second.counts, slack, first.is_rounded or second.is_rounded,
        max(first.spread, second.spread),
    )  # fmt: skip


def take_classes(bins, places, n_classes):
    """Return bins whose class k stands at ``places[k]`` of `n_classes`."""
    if len(places) == n_classes and np.array_equal(places, np.arange(n_classes)):
        return bins

    def spread(array):
        if array is None:
            return None
        out = np.zeros((len(array), n_classes), np.int64)
        out[:, places] = array
        return out

    return bins._replace(counts=spread(bins.counts), slack=spread(bins.slack))
