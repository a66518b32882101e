"""Counted rows of all features: blocks of columns in, bins of every feature, in threads."""

from copy import copy

import numpy as np

from mauc.parallel import run_blocks
from mauc.sketch.bins import no_bins, take_classes
from mauc.sketch.bounds import pair_bounds
from mauc.sketch.edges import prune
from mauc.sketch.refining import Limits, add_column, merge_bins

_CHUNK_ROWS = 2**17  # rows that are counted together: columns of a block stay in the cache
_MAX_WIDTH = 16  # columns of a block: those of a cache line of single precision
_MIN_SAMPLED = 4  # rows per bin by which bins are chosen, if that many come together
# Full bins are divided if a class grew by this factor since, or if so large a part of it came.
_GROWTH, _LARGE_PART = 1.1, 0.01


class BinnedRows:
    """Rows that were counted: the bins of all features.

    Parameters
    ----------
    n_features, n_classes : int
    n_bins : int
        Most bins of a feature.
    n_sampled : int
        Rows by which bins are chosen.

    Attributes
    ----------
    class_counts : ndarray of shape (n_classes,), int64
        Rows that were counted.
    bins : list of FeatureBins
    frame : list of (edges, is_open) or None
        Edges of every feature that stay, and whether further values may have bins beside them.
    """

    def __init__(self, n_features, n_classes, n_bins, n_sampled):
        self.n_bins, self.n_sampled = n_bins, max(n_sampled, _MIN_SAMPLED * n_bins)
        self.class_counts = np.zeros(n_classes, np.int64)
        self.bins = [no_bins(n_classes)] * n_features
        self.frame = None
        self._checked = self.class_counts  # when bins were chosen or checked

    def copy(self):
        """Return bins that go their own way; arrays are shared, and never written to."""
        made = copy(self)
        made.bins = list(self.bins)
        return made

    def choose(self, rows, codes, n_jobs):
        """Choose bins by evenly spaced rows, which are not counted."""
        some = slice(None, None, -(-rows.n_rows // self.n_sampled))
        pilot = self.copy()
        pilot._count(rows.part(some), np.ascontiguousarray(codes[some]), n_jobs)
        self.bins = [
            no_bins(len(self.class_counts), bins.edges)._replace(spread=bins.spread)
            for bins in pilot.bins
        ]

    def add(self, rows, codes, n_jobs):
        """Count rows.

        Parameters
        ----------
        rows : Rows or BufferedRows
        codes : ndarray of shape (n_rows,), int32
        n_jobs : int or None
        """
        if rows.n_rows <= _CHUNK_ROWS:
            self._count(rows, codes, n_jobs)
            return
        for start in range(0, rows.n_rows, _CHUNK_ROWS):
            chunk = slice(start, start + _CHUNK_ROWS)
            self._count(rows.part(chunk), codes[chunk], n_jobs)

    def _count(self, rows, codes, n_jobs):
        added = np.bincount(codes, minlength=len(self.class_counts)).astype(np.int64)
        known = self.class_counts + added
        has_grown = known > _GROWTH * self._checked
        is_check = bool((has_grown | (added > _LARGE_PART * known)).any())
        limits = Limits(self.n_bins, self.n_sampled, is_check, 1.0 / self.n_bins**2)
        frame = self._frames()

        def count(block):
            columns = rows.columns(block, codes, added)
            return [
                add_column(self.bins[j], column, limits, frame[j][0], is_open=frame[j][1])
                for j, column in zip(range(block.start, block.stop), columns, strict=True)
            ]

        self.bins = self._run(count, n_jobs)
        self.class_counts = known
        if is_check:
            self._checked = known

    def merge(self, other, places, n_jobs):
        """Add the counts of other bins, whose class k stands at ``places[k]``."""
        n_classes = len(self.class_counts)
        if self.frame is not None and not _is_same_frame(self.frame, other.frame):
            self.frame = None
        frame = self._frames()

        def merge(block):
            return [
                merge_bins(
                    self.bins[j], take_classes(other.bins[j], places, n_classes), self.n_bins,
                    frame[j][0],
                )
                for j in range(block.start, block.stop)
            ]  # fmt: skip

        self.bins = self._run(merge, n_jobs)
        counts = self.class_counts.copy()
        counts[places] += other.class_counts
        self.class_counts = counts

    def limit(self, n_bins):
        """Keep at most `n_bins` bins per feature from now on."""
        if n_bins != self.n_bins:
            self.bins = [prune(bins, n_bins) for bins in self.bins]
            self.frame = None
        self.n_bins = n_bins

    def move_classes(self, places, n_classes):
        """Make room for `n_classes`: class k goes to ``places[k]``."""
        self.bins = [take_classes(bins, places, n_classes) for bins in self.bins]
        for name in ("class_counts", "_checked"):
            counts = np.zeros(n_classes, np.int64)
            counts[places] = getattr(self, name)
            setattr(self, name, counts)

    def empty(self):
        """Return bins with the same edges and no counts; these edges stay."""
        made = copy(self)
        made.class_counts = made._checked = np.zeros_like(self.class_counts)
        if made.frame is None:
            made.frame = [(bins.edges, bins.spread == 0.0) for bins in self.bins]
        made.bins = [no_bins(len(self.class_counts), edges) for edges, _ in made.frame]
        return made

    def bounds(self, n_jobs):
        """Return the fewest and the most wins, two arrays of shape (n_features, n_pairs)."""

        def bound(block):
            return [pair_bounds(bins) for bins in self.bins[block]]

        found = self._run(bound, n_jobs)
        return np.array([few for few, _ in found]), np.array([most for _, most in found])

    @property
    def nbytes(self):
        """Bytes of the counts and edges."""
        return sum(
            array.nbytes for bins in self.bins for array in bins[:3] if array is not None
        )  # fmt: skip

    def _frames(self):
        return self.frame or [(None, True)] * len(self.bins)

    def _run(self, function, n_jobs):
        m = len(self.bins)
        blocks = [slice(start, min(start + _MAX_WIDTH, m)) for start in range(0, m, _MAX_WIDTH)]
        return [made for _, some in run_blocks(function, blocks, n_jobs) for made in some]


def _is_same_frame(first, second):
    if first is second:
        return True
    return second is not None and all(
        is_open == other_open and np.array_equal(edges, other)
        for (edges, is_open), (other, other_open) in zip(first, second, strict=True)
    )
