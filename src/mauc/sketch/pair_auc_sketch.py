"""A sketch of rows that come in batches, from which AUCs and their largest errors are read."""

from copy import copy

import numpy as np

from mauc.checks import check_int
from mauc.data.source import ColumnSource
from mauc.data.validate import as_mauc_error
from mauc.exceptions import (
    LooseBoundWarning,
    MaucError,
    MaucTypeError,
    UndefinedMAUCError,
    format_labels,
    warn_user,
)
from mauc.memory import format_bytes
from mauc.parallel import count_threads, run_blocks
from mauc.sketch.bins import add_column, limit_bins, merge_bins, no_bins, pair_bounds
from mauc.sketch.rows import as_row_source, check_rows, join_batches, read_parts
from mauc.texts import insert_texts

_MIN_BINS, _MAX_BINS = 16, 2**20
_ROWS_PER_BIN, _MIN_ROWS_PER_BIN = 16, 4  # of the rows by which bins are fixed
_BUFFER_BYTES = 2**28
_CHUNK_ROWS = 2**17  # rows that are counted in one pass: columns of a block stay in the cache
_BLOCK_WIDTH = 16  # columns of a block: those of a cache line of single precision
_ROUNDING = 2.0**-50  # at least the error of the quotients and sums
# Rows like the first have bounds of about the number of classes per 2 * n_bins.
_LOOSE_FACTOR, _LOOSE_BOUND = 4, 0.1


@insert_texts
class PairAUCSketch:
    r"""Mergeable summary of rows from which the AUCs of all features and class pairs are read.

    The first rows are kept as they are. When they are too many, the bins of every feature are fixed
    by their quantiles, and from then on only integer counts per feature, bin and class are held,
    whatever the number of rows. It knows how far each AUC can be from that of all rows:
    `error_bound` is never exceeded. The AUCs of the first rows, and of features with at most
    `n_bins` distinct values, are exact.

    Parameters
    ----------
    n_bins : int, default=1024
        Bins per feature.
    classes : array-like, optional
        All labels; others are refused then. By default labels may come at any time.
    n_buffered : int, optional
        Rows that are kept as they are before the bins are fixed by them; ``16 * n_bins`` by
        default, fewer where that takes more than 256 MB.
    {n_jobs}

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

    Three quarters of the bins hold equal shares of the first rows, with the same weight for every
    class; a quarter is spaced around them by width, for rows that are not like the first. Frequent
    values have a bin of their own, where ties are known to be ties. Where later rows differ so much
    from the first that the bound grows, a `LooseBoundWarning` names it.

    Sketches of the same bins (`empty_like`) merge without loss, in any order to the same bits.
    After others were merged, the number of values of a class below an edge is only known to lie
    between two counts, and the bound is half the difference between the AUC with class i as high
    and j as low as these allow and that of the reverse.

    It takes 8 bytes per feature, class and bin, twice that for features with few values, whose gaps
    have bins as well, or after merges of different bins. A missing value ties with every value,
    infinities are ordinary values, and dates count in seconds, as in `feature_pair_auc`.

    Examples
    --------
    >>> import numpy as np
    >>> from mauc import PairAUCSketch
    >>> X, y = np.array([[1.0], [2.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> sketch = PairAUCSketch().update(X[:3], y[:3]).update(X[3:], y[3:])
    >>> sketch.pair_auc(), sketch.error_bound()
    (array([[0.875]]), array([[0.]]))
    """

    # Arrays, and the lists of them, are replaced and never written to: copies share them.
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
        self._buffer = []  # of RowBatch, while there are no bins
        self._bins = None  # of every feature, once they are fixed
        self._bounds = None  # until the next rows come

    @property
    def n_rows(self):
        """Number of rows so far."""
        return int(self.class_counts.sum())

    def update(self, X, y):
        """Add rows of numbers of any type, with the class labels `y`, and return self.

        X is array-like, a sparse matrix or a data frame; a source, or a Dask collection, is read by
        parts of its rows.
        """
        if y is None:
            raise MaucError("y must hold a label for every row, got None.")
        X, y = as_row_source(X, y)
        for rows in read_parts(X, y) if isinstance(X, ColumnSource) else [check_rows(X, y)]:
            self._add(*rows)
        return self

    def _add(self, rows, classes, n_features, feature_names):
        rows = rows.with_codes(self._join(n_features, feature_names, classes))
        added = np.bincount(rows.codes, minlength=len(self.classes_))
        self.class_counts = self.class_counts + added
        fits = self._bins is None and self.n_rows <= self.n_first_rows(self.n_features)
        if fits and not rows.is_sparse:
            self._buffer = [*self._buffer, rows.as_floats()]
        else:
            self._count([*self._buffer, rows])

    def merge(self, other):
        """Add the rows of another sketch of the same features, and return self.

        The bins and classes of the other one, which is not changed, may differ.
        """
        if not isinstance(other, PairAUCSketch):
            raise MaucError(f"other must be a PairAUCSketch, got {type(other).__name__}.")
        slots = self._join(other.n_features, other.feature_names, other.classes_)
        if other.n_features is None:
            return self
        counts = self.class_counts.copy()
        counts[slots] += other.class_counts
        self.class_counts = counts
        waiting = [*self._buffer, *(rows.with_codes(slots) for rows in other._buffer)]
        if other._bins is not None:
            theirs = [bins.take_classes(slots, len(counts)) for bins in other._bins]
            if self._bins is None:
                self._bins = [limit_bins(bins, self.n_bins) for bins in theirs]
            else:
                pairs = list(zip(self._bins, theirs, strict=True))
                self._bins = self._run(
                    lambda block: [merge_bins(*pair, self.n_bins) for pair in pairs[block]]
                )
        if self._bins is None and self.n_rows <= self.n_first_rows(self.n_features):
            self._buffer = waiting
        elif waiting:
            self._count(waiting)
        return self

    def __add__(self, other):
        """Return a new sketch of the rows of both."""
        if not isinstance(other, PairAUCSketch):
            return NotImplemented
        return self.copy().merge(other)

    def copy(self):
        """Return an independent sketch of the same rows."""
        return copy(self)

    def empty_like(self):
        """Return a sketch with the same bins, which are fixed now, and no rows.

        Sketches made this way from one another keep their bins, so that they merge without loss,
        in any order to the same bits. Values that no bin was made for fall between those that had
        one: features with few distinct values stay exact as long as no others come.
        """
        if self.n_features is None:
            raise MaucError("a sketch must have rows to have bins; update it first.")
        made = self.copy()
        if made._bins is None:
            made._count(made._buffer)
        made._bins = [bins.without_counts() for bins in made._bins]
        made.class_counts, made._bounds = np.zeros_like(self.class_counts), None
        return made

    def pair_auc(self, folded=True):
        """Return the AUC of every feature on every class pair, shape (n_features, n_pairs).

        It is max(A, 1 - A) if `folded`, otherwise A, the AUC with the first class of the pair as
        the higher one. Pairs of the sorted labels are in the order (0, 1), (0, 2), ...,
        (c-2, c-1); pairs of a class without rows have 1/2.
        """
        wins, divisor = self.pair_wins(), np.where(self.max_wins > 0, self.max_wins, 1.0)
        return (np.maximum(divisor - wins, wins) if folded else wins) / divisor

    def error_bound(self):
        """Return how far `pair_auc` can be from the AUC of all rows, folded or not.

        Of shape (n_features, n_pairs); 0 where the AUC is exact.
        """
        return self._find_bounds()[2]

    def pair_wins(self):
        """Return the wins of every feature on every class pair, in the middle of their bounds.

        Of int64 or float64 and shape (n_features, n_pairs): an AUC is wins per `max_wins`.
        """
        fewest, most, _ = self._find_bounds()
        wins = np.where(fewest == most, fewest, fewest / 2 + most / 2)
        return np.where(self.max_wins > 0, wins, 0.5)

    @property
    def max_wins(self):
        """The wins 2 n_i n_j of a perfect feature on every class pair, float64."""
        first, second = np.triu_indices(len(self.classes_), 1)
        totals = self.class_counts.astype(np.float64)
        return 2 * totals[first] * totals[second]

    def n_first_rows(self, n_features):
        """Return the number of rows by which the bins of `n_features` features are fixed."""
        wanted = self.n_buffered or _ROWS_PER_BIN * self.n_bins
        return max(1, min(wanted, _BUFFER_BYTES // (8 * n_features)))

    @property
    def nbytes(self):
        """Bytes of the counts, edges and buffered rows."""
        arrays = [array for bins in self._bins or () for array in bins[:3] if array is not None]
        return sum(array.nbytes for array in arrays) + sum(rows.X.nbytes for rows in self._buffer)

    def __repr__(self):
        """Return the numbers of rows, features, classes and bins."""
        if self.n_features is None:
            return f"PairAUCSketch(n_bins={self.n_bins}): no rows yet"
        return (
            f"PairAUCSketch(n_bins={self.n_bins}): {self.n_rows:,} rows, {self.n_features:,} "
            f"features, {len(self.classes_):,} classes, {format_bytes(self.nbytes)}"
        )

    def __getstate__(self):
        """Return the pickled state: all but results that can be computed again."""
        return self.__dict__ | {"_bounds": None}

    def _count(self, batches):
        """Count rows in bins, which are fixed by them if there are none yet; empty the buffer."""
        batches = join_batches(batches)
        if self._bins is None:
            n_wanted = max(self.n_first_rows(self.n_features), _MIN_ROWS_PER_BIN * self.n_bins)
            some = slice(None, None, -(-sum(rows.n_rows for rows in batches) // n_wanted))
            self._bins = [no_bins(len(self.classes_))] * self.n_features
            for rows in join_batches([rows.part(some).as_floats() for rows in batches]):
                self._bins = self._counted(rows)
            self._bins = [
                bins.without_counts()._replace(is_open=bins.is_open) for bins in self._bins
            ]
        for rows in batches:
            for start in range(0, rows.n_rows, _CHUNK_ROWS):
                self._bins = self._counted(rows.part(slice(start, start + _CHUNK_ROWS)))
        self._buffer = []

    def _counted(self, rows):
        """Return the bins with rows added."""

        def add(block):
            pairs = zip(self._bins[block], rows.columns(block, len(self.classes_)), strict=True)
            return [add_column(bins, column, self.n_bins) for bins, column in pairs]

        return self._run(add)

    def _run(self, function):
        """Return the results of a function for blocks of features, in one list."""
        m, width = self.n_features, _BLOCK_WIDTH
        blocks = [slice(start, min(start + width, m)) for start in range(0, m, width)]
        return [made for _, some in run_blocks(function, blocks, self.n_jobs) for made in some]

    def _find_bounds(self):
        """Return the fewest and the most wins, and the largest error of AUCs in their middle."""
        if len(self.classes_) < 2 or self.n_features is None:
            raise UndefinedMAUCError(
                f"a sketch must have rows of at least 2 classes, got {len(self.classes_)}."
            )
        if self._bounds is None:
            self._buffer = join_batches(self._buffer)
            fewest, most = map(np.array, zip(*self._run(self._block_bounds), strict=True))
            max_wins = self.max_wins
            error = (most - fewest) / (2 * np.maximum(max_wins, 1.0)) + _ROUNDING
            error = np.where(max_wins > 0, np.where(fewest == most, 0.0, error), 0.5)
            self._bounds = fewest, most, error
            self._warn_loose(error[:, max_wins > 0])
        return self._bounds

    def _block_bounds(self, block):
        if self._bins is not None:
            return [pair_bounds(bins) for bins in self._bins[block]]
        n_classes = len(self.classes_)
        # Enough bins that each value has its own, and an end and a beginning of its own.
        return [
            pair_bounds(add_column(no_bins(n_classes), column, 4 * len(column.values)))
            for rows in self._buffer
            for column in rows.columns(block, n_classes)
        ]

    def _warn_loose(self, error):
        largest = error.max(axis=1, initial=0.0)
        limit = min(_LOOSE_FACTOR * max(4, len(self.classes_)) / self.n_bins, _LOOSE_BOUND)
        is_loose = largest > limit
        if self._bins is None or not is_loose.any():
            return
        worst = int(np.argmax(largest))
        name = f"x{worst}" if self.feature_names is None else self.feature_names[worst]
        warn_user(
            f"the AUCs of {is_loose.sum()} of {self.n_features} features may be off by more than "
            f"{limit:.2g}, those of {name!r} by up to {largest[worst]:.2g}: rows are not like the "
            f"first ones, by which bins were fixed, or values differ by less than float64 holds. "
            f"Shuffle the rows, or pass larger n_buffered or n_bins.",
            LooseBoundWarning,
        )

    def _join(self, n_features, names, classes):
        """Check columns and labels of further rows, add new labels; return the slots of all."""
        mine = self.feature_names
        if None not in (n_features, self.n_features) and n_features != self.n_features:
            raise MaucError(
                f"X has {n_features} features, but the sketch has {self.n_features} features."
            )
        if names is not None and mine is not None and not np.array_equal(names, mine):
            column = int(np.argmax(names != mine))
            raise MaucError(
                f"X must have the columns of the sketch, in their order: column {column} is "
                f"{names[column]!r}, but was {mine[column]!r}."
            )
        if self.classes is not None and not np.isin(classes, self.classes_).all():
            others = np.setdiff1d(classes, self.classes_)
            raise MaucError(
                f"y must hold the labels of classes alone, got {format_labels(others)}; name all "
                f"labels in classes, or pass None to accept any labels."
            )
        joined, kept, slots = _join_classes(self.classes_, np.asarray(classes))
        if len(joined) > len(self.classes_) or joined.dtype != self.classes_.dtype:
            counts = np.zeros(len(joined), np.int64)
            counts[kept] = self.class_counts
            self.classes_, self.class_counts = joined, counts
            self._buffer = [rows.with_codes(kept) for rows in self._buffer]
            if self._bins is not None:
                self._bins = [bins.take_classes(kept, len(joined)) for bins in self._bins]
        if self.n_features is None:
            self.n_features, self.feature_names = n_features, names
        self._bounds = None
        return slots


def _join_classes(first, second):
    """Return the sorted union of two sorted arrays of labels, and the slots of both in it."""
    if len(first) == 0:
        return second, np.empty(0, np.int32), np.arange(len(second), dtype=np.int32)
    kinds = {first.dtype.kind, second.dtype.kind}
    if len(kinds) > 1 and "O" not in kinds and not kinds <= set("biuf"):
        raise MaucTypeError(
            f"y must hold labels of one kind, got {second.dtype} after {first.dtype}."
        )
    try:
        classes = np.union1d(first, second)
    except TypeError as error:
        raise as_mauc_error(error) from error
    slots = (np.searchsorted(classes, labels).astype(np.int32) for labels in (first, second))
    return classes, *slots


def _sorted_labels(classes):
    labels = np.unique(np.asarray(classes))
    if len(labels) < 2:
        raise MaucError(f"classes must hold at least 2 labels, got {format_labels(labels)}.")
    return labels
