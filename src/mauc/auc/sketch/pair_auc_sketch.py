"""PairAUCSketch: rows in, batch by batch; AUCs of all class pairs with their largest error out."""

from copy import copy

import numpy as np

from mauc.auc.sketch.bins import no_bins, take_classes
from mauc.auc.sketch.bounds import estimate_auc, pair_bounds
from mauc.auc.sketch.refining import Limits, add_column, merge_bins
from mauc.auc.sketch.tables import BufferedRows, Rows, check_known, join_classes
from mauc.checks import check_int
from mauc.exceptions import MaucError, UndefinedMAUCError, listed
from mauc.memory import format_bytes
from mauc.parallel import count_threads, run_blocks
from mauc.problem.decomposition import n_pairs_of
from mauc.problem.source import ColumnSource

_MIN_BINS, _MAX_BINS = 16, 2**20
_BUFFERED_PER_BIN = 16  # rows by which bins are chosen
_BUFFER_BYTES = 2**28
_BLOCK_BYTES = 2**22  # of columns that a thread counts together
_MAX_WIDTH = 16
_GROWTH = 1.25  # of a class, after which full bins are divided


class PairAUCSketch:
    r"""Mergeable summary of rows from which the AUCs of all features and class pairs are read.

    Per feature and class it holds integer counts over at most `n_bins` bins, whatever the number
    of rows, and it knows how far each AUC can be from that of all rows: `error_bound` is never
    exceeded. Features with at most `n_bins` distinct values are exact.

    Parameters
    ----------
    n_bins : int, default=1024
        Bins per feature.
    classes : array-like, optional
        All labels; others are refused then. By default labels may come at any time.
    n_buffered : int, optional
        Rows that are kept as they are before the bins are chosen by them; ``16 * n_bins`` by
        default, fewer where that takes more than 256 MB.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Attributes
    ----------
    n_rows : int
    class_counts : ndarray of shape (n_classes,), int64
        Rows of each class, in the order of `classes_`.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted: those of `classes`, or those that came.
    n_features : int or None
        None before the first rows.
    feature_names : ndarray of str, or None

    See Also
    --------
    feature_pair_auc : The exact AUCs of data that are read by columns.
    MDFS.partial_fit : Selects features by a sketch.

    Notes
    -----
    With :math:`n_k(b)` of the :math:`n_k` values of class k in bin b, only the order of values
    within a bin is unknown. The estimate is in the middle, as if they were ties, and its largest
    error

    .. math:: |\hat A_{ij} - A_{ij}| \le \frac{1}{2}
       \sum_{b \text{ with several values}} \frac{n_i(b)\,n_j(b)}{n_i n_j}.

    Bins are narrow where two classes are frequent, and frequent values have a bin of their own,
    where ties are known to be ties. After sketches with different bins were merged, or bins were
    divided because of rows unlike the first, the number of values of class k below edge e is known
    to be in :math:`[L_k(e), U_k(e)]` only; the bound is then half the difference between the AUC
    with class i as high and j as low as these allow and that of the reverse. Sketches of the same
    bins (`empty_like`) merge without loss, in any order to the same bits.

    A missing value ties with every value, infinities are ordinary values, and dates count in
    seconds, as in `feature_pair_auc`. Columns must be numeric.

    Examples
    --------
    >>> import numpy as np
    >>> from mauc import PairAUCSketch
    >>> X, y = np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> sketch = PairAUCSketch().update(X[:3], y[:3]).update(X[3:], y[3:])
    >>> sketch.pair_auc(), sketch.error_bound()
    (array([[0.875]]), array([[0.]]))
    """

    def __init__(self, n_bins=1024, *, classes=None, n_buffered=None, n_jobs=None):
        self.n_bins = check_int("n_bins", n_bins, _MIN_BINS, _MAX_BINS)
        self.n_buffered = check_int("n_buffered", n_buffered, 1, optional=True)
        count_threads(n_jobs)
        self.n_jobs = n_jobs
        self.classes = classes
        self.classes_ = np.empty(0, np.int64) if classes is None else _sorted_labels(classes)
        self.class_counts = np.zeros(len(self.classes_), np.int64)
        self.n_features = None
        self.feature_names = None
        self._bins = None  # of every feature, once they are chosen
        self._buffer = BufferedRows()
        self._frame = None  # edges of every feature that stay, and whether values may join them
        self._checked = self.class_counts  # class counts when bins were chosen or checked
        self._kept = {}  # results until the next rows come

    @property
    def n_rows(self):
        """Number of rows so far."""
        return int(self.class_counts.sum())

    def update(self, X, y):
        """Add rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or ColumnSource of shape (n_rows, n_features)
            Numbers of any type; a source is read by parts of its rows.
        y : array-like of shape (n_rows,)
            Class labels.

        Returns
        -------
        self : PairAUCSketch
        """
        if isinstance(X, ColumnSource):
            from mauc.auc.sketch.rows import source_parts

            for part, labels in source_parts(X, y):
                self.update(part, labels)
            return self
        rows = Rows(X, y)
        self._check_features(rows.n_features, rows.feature_names)
        if self.classes is not None:
            check_known(rows.classes, self.classes_)
        codes = self._join(rows.classes)[rows.codes]
        if self.n_features is None:
            self.n_features, self.feature_names = rows.n_features, rows.feature_names
        waits = self._bins is None and not rows.is_sparse
        n_wanted = self._n_buffered(rows.n_features)
        if waits and self._buffer.n_rows + rows.n_rows <= n_wanted:
            self._buffer.add(rows, codes)
        else:
            self._flush()
            self._count(rows, codes)
        self.class_counts = self.class_counts + self._class_counts(codes)
        self._kept = {}
        return self

    def merge(self, other):
        """Add the rows of another sketch, which stays as it is.

        Parameters
        ----------
        other : PairAUCSketch
            Of the same features; its bins and classes may differ.

        Returns
        -------
        self : PairAUCSketch
        """
        if not isinstance(other, PairAUCSketch):
            raise MaucError(f"other must be a PairAUCSketch, got {type(other).__name__}.")
        if other.n_features is None:
            self._join(other.classes_)
            return self
        self._check_features(other.n_features, other.feature_names)
        if self.classes is not None:
            check_known(other.classes_, self.classes_)
        places = self._join(other.classes_)
        if self.n_features is None:
            self.n_features, self.feature_names = other.n_features, other.feature_names
            self._frame = other._frame
        n_together = self._buffer.n_rows + other._buffer.n_rows
        is_buffered = self._bins is None and other._bins is None
        if is_buffered and n_together <= self._n_buffered(self.n_features):
            self._buffer.extend(other._buffer, places)
        else:
            self._merge_bins(other, places)
        counts = np.zeros_like(self.class_counts)
        counts[places] = other.class_counts
        self.class_counts = self.class_counts + counts
        self._kept = {}
        return self

    def __add__(self, other):
        """Return a new sketch of the rows of both."""
        if not isinstance(other, PairAUCSketch):
            return NotImplemented
        return self.copy().merge(other)

    def copy(self):
        """Return a sketch of the same rows that goes its own way; counts are shared until then."""
        made = copy(self)
        made._bins = None if self._bins is None else list(self._bins)
        made._buffer = self._buffer.copy()
        made._kept = {}
        return made

    def empty_like(self):
        """Return a sketch with the same bins and no rows.

        Sketches made this way from one another keep their bins, so that they merge without loss,
        in any order to the same bits. Features that had at most `n_bins` distinct values take
        further values as long as that holds.
        """
        settled = self._settled()
        made = PairAUCSketch(
            self.n_bins, classes=self.classes, n_buffered=self.n_buffered, n_jobs=self.n_jobs
        )
        made._join(self.classes_)
        made.n_features, made.feature_names = self.n_features, self.feature_names
        if settled._frame is not None:
            made._frame = settled._frame
        elif settled._bins is not None:
            made._frame = [(bins.edges, bins.is_exact) for bins in settled._bins]
        if made._frame is not None:
            made._bins = [no_bins(len(made.classes_), edges) for edges, _ in made._frame]
        return made

    def pair_auc(self, folded=True):
        """Return the AUC of every feature on every pair of classes.

        Parameters
        ----------
        folded : bool, default=True
            Return max(A, 1 - A); otherwise A, the AUC with the first class of the pair as the
            higher one.

        Returns
        -------
        pair_auc : ndarray of shape (n_features, n_pairs)
            Pairs of the sorted labels in the order (0, 1), (0, 2), ..., (c-2, c-1); 1/2 for pairs
            of a class without rows.
        """
        return self._estimate(folded)[0]

    def error_bound(self):
        """Return how far `pair_auc` can be from the AUC of all rows, folded or not.

        Returns
        -------
        error : ndarray of shape (n_features, n_pairs)
            0 where the AUC is exact.
        """
        return self._estimate(True)[1]

    @property
    def max_wins(self):
        """The wins 2 n_i n_j of a perfect feature on every class pair, float64."""
        first, second = np.triu_indices(len(self.class_counts), 1)
        totals = self.class_counts.astype(np.float64)
        return 2 * totals[first] * totals[second]

    @property
    def nbytes(self):
        """Bytes of the counts, edges and buffered rows."""
        held = [part.nbytes for part in self._buffer.parts]
        for bins in self._bins or []:
            held += [array.nbytes for array in bins[:3] if array is not None]
        return sum(held)

    def __repr__(self):
        """Return the numbers of rows, features, classes and bins."""
        if self.n_features is None:
            return f"PairAUCSketch(n_bins={self.n_bins}): no rows yet"
        return (
            f"PairAUCSketch(n_bins={self.n_bins}): {self.n_rows:,} rows, {self.n_features:,} "
            f"features, {len(self.classes_):,} classes, {format_bytes(self.nbytes)}"
        )

    def __getstate__(self):
        """Return what is pickled: all but results that can be computed again."""
        return self.__dict__ | {"_kept": {}}

    def _estimate(self, folded):
        if len(self.classes_) < 2 or self.n_features is None:
            raise UndefinedMAUCError(
                f"a sketch must have rows of at least 2 classes, got {len(self.classes_)}."
            )
        if "bounds" not in self._kept:
            self._kept["bounds"] = self._settled()._bounds()
        fewest, most = self._kept["bounds"]
        return estimate_auc(fewest, most, self.max_wins, folded=folded)

    def _bounds(self):
        blocks = self._blocks(0)

        def bound(block):
            return [pair_bounds(bins) for bins in self._bins[block]]

        found = [pair for _, pairs in run_blocks(bound, blocks, self.n_jobs) for pair in pairs]
        return np.array([few for few, _ in found]), np.array([most for _, most in found])

    def _settled(self):
        """Return a sketch of the same rows that has bins; this one is not changed."""
        if self._bins is not None or self.n_features is None:
            return self
        made = self.copy()
        made._flush()
        return made

    def _flush(self):
        """Count the buffered rows; bins are chosen by them."""
        if self._bins is None:
            self._bins = [no_bins(len(self.classes_))] * self.n_features
        if self._buffer.n_rows:
            buffer, self._buffer = self._buffer, BufferedRows()
            self._count(buffer, buffer.all_codes(), is_counted=True)

    def _count(self, rows, codes, *, is_counted=False):
        of_batch = self._class_counts(codes)
        known = self.class_counts if is_counted else self.class_counts + of_batch
        is_check = bool((known > _GROWTH * self._checked).any())
        limits = Limits(self.n_bins, self._n_buffered(1), is_check, 1.0 / self.n_bins**2)
        frame = self._frame or [(None, True)] * self.n_features

        def count(block):
            columns = rows.columns(block, codes, of_batch)
            return [
                add_column(self._bins[j], column, limits, frame[j][0], is_open=frame[j][1])
                for j, column in zip(range(block.start, block.stop), columns, strict=True)
            ]

        blocks = self._blocks(rows.n_rows)
        made = [bins for _, some in run_blocks(count, blocks, self.n_jobs) for bins in some]
        self._bins = made
        if is_check:
            self._checked = known

    def _merge_bins(self, other, places):
        n_classes = len(self.classes_)
        if other._bins is None:
            self._flush()
            buffer = BufferedRows()
            buffer.extend(other._buffer, places)
            self._count(buffer, buffer.all_codes())
            return
        if self._bins is None:
            mine = self._buffer
            self._buffer = BufferedRows()
            self._bins = [take_classes(bins, places, n_classes) for bins in other._bins]
            self._frame = other._frame
            if mine.n_rows:
                self._count(mine, mine.all_codes())
            return
        if self._frame is not None and not _is_same_frame(self._frame, other._frame):
            self._frame = None
        frame = self._frame or [(None, True)] * self.n_features

        def merge(block):
            return [
                merge_bins(
                    self._bins[j], take_classes(other._bins[j], places, n_classes), self.n_bins,
                    frame[j][0],
                )
                for j in range(block.start, block.stop)
            ]  # fmt: skip

        blocks = self._blocks(0)
        self._bins = [bins for _, some in run_blocks(merge, blocks, self.n_jobs) for bins in some]

    def _blocks(self, n_rows):
        width = min(_MAX_WIDTH, max(1, _BLOCK_BYTES // max(8 * n_rows, 1)))
        edges = range(0, self.n_features, width)
        return [slice(start, min(start + width, self.n_features)) for start in edges]

    def _n_buffered(self, n_features):
        wanted = self.n_buffered or _BUFFERED_PER_BIN * self.n_bins
        return max(1, min(wanted, _BUFFER_BYTES // (8 * n_features)))

    def _class_counts(self, codes):
        return np.bincount(codes, minlength=len(self.classes_)).astype(np.int64)

    def _join(self, classes):
        """Make room for the classes of others; return their places."""
        joined, mine, theirs = join_classes(self.classes_, np.asarray(classes))
        if len(joined) > len(self.classes_) or joined.dtype != self.classes_.dtype:
            self.classes_ = joined
            for name in ("class_counts", "_checked"):
                counts = np.zeros(len(joined), np.int64)
                counts[mine] = getattr(self, name)
                setattr(self, name, counts)
            self._buffer.move_classes(mine)
            if self._bins is not None:
                self._bins = [take_classes(bins, mine, len(joined)) for bins in self._bins]
        return theirs

    def _check_features(self, n_features, names):
        if self.n_features is None:
            return
        if n_features != self.n_features:
            raise MaucError(
                f"X has {n_features} features, but the sketch has {self.n_features} features."
            )
        mine = self.feature_names
        if names is not None and mine is not None and not np.array_equal(names, mine):
            place = int(np.argmax(names != mine))
            raise MaucError(
                f"X must have the columns of the sketch, in their order: column {place} is "
                f"{names[place]!r}, but was {mine[place]!r}."
            )


def _sorted_labels(classes):
    labels = np.unique(np.asarray(classes))
    if len(labels) < 2:
        raise MaucError(f"classes must hold at least 2 labels, got {listed(labels)}.")
    return labels


def _is_same_frame(first, second):
    if first is second:
        return True
    return second is not None and all(
        is_open == other_open and np.array_equal(edges, other)
        for (edges, is_open), (other, other_open) in zip(first, second, strict=True)
    )
