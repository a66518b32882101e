"""What a sketch holds of its rows: the first as they are, the others as counts in bins."""

from copy import copy

import numpy as np

from mauc.sketch.binned_rows import BinnedRows
from mauc.sketch.tables import BufferedRows

_BUFFERED_PER_BIN = 16  # rows by which bins are chosen
_BUFFER_BYTES = 2**28


class HeldRows:
    """Rows that wait in a buffer until bins are chosen by them, and are counted from then on.

    Features and classes are numbers here; their names and labels are those of the sketch.

    Parameters
    ----------
    n_bins : int
        Most bins of a feature.
    n_buffered : int or None
        Rows by which bins are chosen; ``16 * n_bins`` if None.
    n_classes : int

    Attributes
    ----------
    n_features : int or None
        None before the first rows.
    n_classes : int
    binned : BinnedRows or None
        None before bins are chosen.
    """

    def __init__(self, n_bins, n_buffered, n_classes):
        self.n_bins, self.n_buffered, self.n_classes = n_bins, n_buffered, n_classes
        self.n_features = None
        self.binned = None
        self._buffer = BufferedRows()

    @property
    def class_counts(self):
        """Rows of each class, shape (n_classes,), int64."""
        counts = np.zeros(self.n_classes, np.int64)
        if self.binned is not None:
            counts += self.binned.class_counts
        if self._buffer.n_rows:
            counts += np.bincount(self._buffer.all_codes(), minlength=len(counts))
        return counts

    @property
    def nbytes(self):
        """Bytes of the counts, edges and buffered rows."""
        return self._buffer.nbytes + (0 if self.binned is None else self.binned.nbytes)

    def n_sampled_of(self, n_features):
        """Return the number of rows by which the bins of so many features are chosen."""
        wanted = self.n_buffered or _BUFFERED_PER_BIN * self.n_bins
        return max(1, min(wanted, _BUFFER_BYTES // (8 * n_features)))

    def add(self, rows, codes, n_jobs):
        """Add rows, to the buffer as long as it has room.

        Parameters
        ----------
        rows : Rows
        codes : ndarray of shape (n_rows,), int32
        n_jobs : int or None
        """
        self.n_features = rows.n_features
        if self.binned is None and not rows.is_sparse:
            n_wanted = self._n_sampled
            if self._buffer.n_rows + rows.n_rows <= n_wanted:
                self._buffer.add(rows, codes)
                return
            if rows.n_rows >= n_wanted:
                self.binned = self._no_bins()
                self.binned.choose(rows, codes, n_jobs)
        self.flush(n_jobs)
        self.binned.add(rows, codes, n_jobs)

    def merge(self, other, places, n_jobs):
        """Add the rows of another, whose class k stands at ``places[k]``; it stays as it is."""
        self.n_features = other.n_features
        waiting = BufferedRows()
        waiting.extend(other._buffer, places)
        same = np.arange(self.n_classes, dtype=np.int32)
        if other.binned is not None and self.binned is None:
            mine, self._buffer = self._buffer, BufferedRows()
            self.binned = other.binned.copy()
            self.binned.limit(self.n_bins)
            self.binned.move_classes(places, self.n_classes)
            waiting.extend(mine, same)
        elif other.binned is not None:
            self.binned.merge(other.binned, places, n_jobs)
        if self.binned is None:
            self._buffer.extend(waiting, same)
            if self._buffer.n_rows > self._n_sampled:
                self.flush(n_jobs)
        elif waiting.n_rows:
            self.binned.add(waiting, waiting.all_codes(), n_jobs)

    def flush(self, n_jobs):
        """Count the buffered rows; bins are chosen by them if there are none yet."""
        if self.binned is None:
            self.binned = self._no_bins()
        if self._buffer.n_rows:
            buffer, self._buffer = self._buffer, BufferedRows()
            self.binned.add(buffer, buffer.all_codes(), n_jobs)

    def move_classes(self, places, n_classes):
        """Write class k as ``places[k]``, one of `n_classes`."""
        self.n_classes = n_classes
        self._buffer.move_classes(places)
        if self.binned is not None:
            self.binned.move_classes(places, n_classes)

    def copy(self):
        """Return the same rows, to go their own way; arrays are shared, and never written to."""
        made = copy(self)
        made.binned = None if self.binned is None else self.binned.copy()
        made._buffer = self._buffer.copy()
        return made

    def empty(self, n_jobs):
        """Return the same bins without rows; they are chosen now if that was not done yet."""
        made = self.copy()
        made.flush(n_jobs)
        made.binned = made.binned.empty()
        return made

    def bounds(self, n_jobs):
        """Return the fewest and the most wins of every feature and class pair."""
        settled = self if self.binned is not None else self.copy()
        settled.flush(n_jobs)
        return settled.binned.bounds(n_jobs)

    @property
    def _n_sampled(self):
        return self.n_sampled_of(self.n_features or 1)

    def _no_bins(self):
        return BinnedRows(self.n_features, self.n_classes, self.n_bins, self._n_sampled)
