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
from mauc.sketch.bins import add_values, merge_bins, no_bins, pair_bounds
from mauc.sketch.rows import as_rows, check_rows, is_of_dask, join_batches
from mauc.texts import insert_texts

_MIN_BINS, _MAX_BINS = 16, 2**20
_ROWS_PER_BIN, _MIN_ROWS_PER_BIN = 16, 4  # of the rows by which bins are fixed
_BUFFER_BYTES = 2**28
_CHUNK_ROWS = 2**17  # rows that are counted in one pass: columns of a block stay in the cache
_BLOCK_WIDTH = 16  # columns of a block: those of a cache line of single precision
_ROUNDING = 2.0**-50  # at least the error of the quotients and sums
# Rows like the first have bounds of less than the number of classes per 2 * n_bins.
_LOOSE_FACTOR, _LOOSE_BOUND = 4, 0.1


@insert_texts
class PairAUCSketch:
    r"""Mergeable summary of rows from which the AUCs of all features and class pairs are read.

    The first rows are kept as they are. When they are too many, the bins of every feature are fixed
    by their quantiles, and from then on integer counts per feature, bin and class are held,
    whatever the number of rows. It knows how far each AUC can be from that of all rows:
    `error_bound` is never exceeded. The AUCs of the first rows, and of features with at most
    `n_bins` distinct values, are exact.

    Parameters
    ----------
    n_bins : int, default=1024
        Resolution: twice as many bins per feature are fixed, up to four times as many are held.
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
    class; a quarter is spaced around them by width. Frequent values have bins of their own, where
    ties are known to be ties. A bin that gets more than twice its share, most of it from rows that
    come now, is split at their quantiles. What it held before may then lie in any of its parts:
    below an edge the values of a class are known to lie between two counts, and the bound is half
    the difference of the AUCs with class i as high and j as low as these allow and the reverse. So
    rows may come in the order of their classes, or drift; where the bound grows far beyond that of
    shuffled rows, a `LooseBoundWarning` says so. Sketches of different bins merge in the same way,
    those of the same bins (`empty_like`) without loss, in any order to the same bits.

    It takes 8 bytes per feature, class and bin, twice that after splits or merges of different
    bins. A missing value ties with every value, infinities are ordinary values, and dates count in
    seconds, as in `feature_pair_auc`.

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
        self.classes_ = np.unique([] if classes is None else np.asarray(classes))
        if classes is not None and len(self.classes_) < 2:
            raise MaucError(
                f"classes must hold at least 2 labels, got {format_labels(self.classes_)}."
            )
        self.class_counts = np.zeros(len(self.classes_), np.int64)
        self.n_features = self.feature_names = None
        self._buffer = []  # of RowBatch: copies as floats of rows that are not counted yet
        self._bins = None  # of every feature, once they are fixed
        self._is_rounded = None  # of every feature, whether different values may share a float
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
        for rows, is_rounded, classes, names in check_rows(*as_rows(X, y)):
            slots = self._join(len(is_rounded), names, classes)
            rows = rows._replace(codes=slots[rows.codes])
            self._is_rounded = self._is_rounded | is_rounded
            self.class_counts = self.class_counts + np.bincount(
                rows.codes, minlength=len(self.classes_)
            )
            if self._has_room(len(rows.codes)):
                self._buffer = [*self._buffer, rows.as_floats()]
            else:
                self._count(rows)
        return self

    def merge(self, other):
        """Add the rows of another sketch of the same features, and return self.

        The bins and classes of the other one, which is not changed, may differ.
        """
        if not isinstance(other, PairAUCSketch):
            raise MaucError(f"other must be a PairAUCSketch, got {type(other).__name__}.")
        slots = self._join(other.n_features, other.feature_names, other.classes_)
        if other.n_features is None:
            return self
        self._is_rounded = self._is_rounded | other._is_rounded
        n_classes = len(self.classes_)
        self.class_counts = self.class_counts + _spread(other.class_counts, slots, n_classes)
        if other._bins is not None:
            mine = self._bins or [no_bins(n_classes)] * self.n_features

            def merge(block):
                theirs = [bins.take_classes(slots, n_classes) for bins in other._bins[block]]
                pairs = zip(mine[block], theirs, strict=True)
                return [merge_bins(*pair, self.n_bins) for pair in pairs]

            self._bins = self._run(merge)
        waiting = [rows._replace(codes=slots[rows.codes]) for rows in other._buffer]
        self._buffer = self._buffer + waiting
        if not self._has_room(0):
            self._count()
        return self

    def __add__(self, other):
        """Return a new sketch of the rows of both."""
        return self.copy().merge(other) if isinstance(other, PairAUCSketch) else NotImplemented

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
        made = self._all_counted()
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
        return self._find_bounds()[1]

    def pair_wins(self):
        """Return the wins of every feature on every class pair, in the middle of their bounds.

        Of int64 or float64 and shape (n_features, n_pairs): an AUC is wins per `max_wins`.
        """
        return self._find_bounds()[0]

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
        return sum(array.nbytes for array in [*arrays, *(r.table.array for r in self._buffer)])

    def __repr__(self):
        """Return the numbers of rows, features, classes and bins."""
        text = "no rows yet" if self.n_features is None else (
            f"{self.n_rows:,} rows, {self.n_features:,} features, {len(self.classes_):,} classes, "
            f"{format_bytes(self.nbytes)}"
        )  # fmt: skip
        return f"PairAUCSketch(n_bins={self.n_bins}): {text}"

    def _has_room(self, n_rows):
        """Whether rows may wait: for the bins, or for others, with which they split bins better."""
        room = self.n_first_rows(self.n_features)
        if self._bins is not None:
            room = min(room, self.n_bins)
        return n_rows + sum(len(rows.codes) for rows in self._buffer) <= room

    def _count(self, rows=None):
        """Count the buffer and further rows in bins, which are fixed by them if there are none."""
        batches = [join_batches(self._buffer)] if self._buffer else []
        batches += [] if rows is None else [rows]
        if self._bins is None:
            n_wanted = max(self.n_first_rows(self.n_features), _MIN_ROWS_PER_BIN * self.n_bins)
            every = slice(None, None, -(-sum(len(rows.codes) for rows in batches) // n_wanted))
            self._bins = [no_bins(len(self.classes_))] * self.n_features
            self._add(join_batches([rows.part(every).as_floats() for rows in batches]))
            self._bins = [bins.without_counts(bins.growth) for bins in self._bins]
        for rows in batches:
            for start in range(0, len(rows.codes), _CHUNK_ROWS):
                self._add(rows.part(slice(start, start + _CHUNK_ROWS)))
        self._buffer = []

    def _add(self, rows):
        """Add rows to the bins."""

        def add(block):
            pairs = zip(self._bins[block], rows.columns(block), strict=True)
            return [add_values(bins, values, rows.codes, self.n_bins) for bins, values in pairs]

        self._bins = self._run(add)

    def _all_counted(self):
        """Return a copy whose rows are all in bins."""
        made = self.copy()
        if made._buffer:
            made._count()
        return made

    def _run(self, function):
        """Return the results of a function for blocks of features, in one list."""
        m, width = self.n_features, _BLOCK_WIDTH
        blocks = [slice(start, min(start + width, m)) for start in range(0, m, width)]
        return [made for _, some in run_blocks(function, blocks, self.n_jobs) for made in some]

    def _find_bounds(self):
        """Return the wins in the middle of their bounds, and the largest error of their AUCs."""
        if len(self.classes_) < 2 or self.n_features is None:
            raise UndefinedMAUCError(
                f"a sketch must have rows of at least 2 classes, got {len(self.classes_)}."
            )
        if self._bounds is not None:
            return self._bounds
        rows = join_batches(self._buffer) if self._bins is None else None
        all_bins = None if rows is not None else self._all_counted()._bins

        def find(block):
            bins = all_bins and all_bins[block]
            if bins is None:  # so many bins that each value has its own
                open_bins, codes = no_bins(len(self.classes_)), rows.codes
                bins = [add_values(open_bins, x, codes, len(x)) for x in rows.columns(block)]
            return [pair_bounds(*pair) for pair in zip(bins, self._is_rounded[block], strict=True)]

        fewest, most = map(np.array, zip(*self._run(find), strict=True))
        is_seen, max_wins = self.max_wins > 0, np.maximum(self.max_wins, 1.0)
        wins = np.where(fewest == most, fewest, fewest / 2 + most / 2)
        error = np.where(fewest == most, 0.0, (most - fewest) / (2 * max_wins) + _ROUNDING)
        self._bounds = np.where(is_seen, wins, 0.5), np.where(is_seen, error, 0.5)
        if self._bins is not None:
            self._warn_loose(error[:, is_seen].max(axis=1, initial=0.0))
        return self._bounds

    def _warn_loose(self, largest):
        """Warn of features whose largest error is much more than that of rows like the first."""
        limit = min(_LOOSE_FACTOR * max(4, len(self.classes_)) / self.n_bins, _LOOSE_BOUND)
        worst = int(np.argmax(largest))
        if largest[worst] > limit:
            name = f"x{worst}" if self.feature_names is None else self.feature_names[worst]
            warn_user(
                f"the AUCs of {(largest > limit).sum()} of {self.n_features} features may be off "
                f"by more than {limit:.2g}, those of {name!r} by up to {largest[worst]:.2g}: rows "
                f"are not like the first ones, by which bins were fixed, or values differ by less "
                f"than float64 holds. Shuffle the rows, or pass larger n_buffered or n_bins.",
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
        joined = _join_classes(self.classes_, np.asarray(classes))
        kept, slots = (np.searchsorted(joined, labels) for labels in (self.classes_, classes))
        if len(joined) > len(self.classes_) or joined.dtype != self.classes_.dtype:
            self.class_counts = _spread(self.class_counts, kept, len(joined))
            self._buffer = [
                rows._replace(codes=kept[rows.codes].astype(np.int32)) for rows in self._buffer
            ]
            if self._bins is not None:
                self._bins = [bins.take_classes(kept, len(joined)) for bins in self._bins]
        self.classes_, self._bounds = joined, None
        if self.n_features is None and n_features is not None:
            self.n_features, self.feature_names = n_features, names
            self._is_rounded = np.zeros(n_features, bool)
        return slots.astype(np.int32)


def _spread(counts, slots, n_classes):
    """Return counts of `n_classes` classes, those of class k at ``slots[k]``."""
    out = np.zeros(n_classes, np.int64)
    out[slots] = counts
    return out


def _join_classes(first, second):
    """Return the sorted union of two sorted arrays of labels."""
    kinds = {first.dtype.kind, second.dtype.kind}
    if len(first) == 0:
        return second
    if len(kinds) > 1 and "O" not in kinds and not kinds <= set("biuf"):
        raise MaucTypeError(
            f"y must hold labels of one kind, got {second.dtype} after {first.dtype}."
        )
    try:
        return np.union1d(first, second)
    except TypeError as error:
        raise as_mauc_error(error) from error


def sketch_rows(data, y=None, *, n_bins=1024, classes=None, n_jobs=None):
    """Read rows once, part by part, and return a sketch of the AUCs of all class pairs.

    Memory is that of the sketch and half of that of the source, whatever the number of rows.

    Parameters
    ----------
    data : ColumnSource, Dask collection, or iterable of (X, y)
        A source or collection is read in parts of its rows, the next one while the last is counted;
        an iterable yields pairs of rows and labels for `PairAUCSketch.update`.
    y : array-like of shape (n_rows,), or str, optional
        Labels of a source or collection, or the name of the column of a Dask data frame.
    n_bins, classes, n_jobs
        As in `PairAUCSketch`.

    Returns
    -------
    sketch : PairAUCSketch

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc import MDFS, sketch_rows
    >>> X, y = load_iris(return_X_y=True)
    >>> parts = ((X[i::3], y[i::3]) for i in range(3))
    >>> MDFS(2, random_state=0).fit_sketch(sketch_rows(parts)).ranking_
    array([2, 3])
    """
    sketch = PairAUCSketch(n_bins, classes=classes, n_jobs=n_jobs)
    if isinstance(data, ColumnSource) or is_of_dask(data):
        if isinstance(y, str):
            if y not in getattr(data, "columns", ()):
                raise MaucError(f"y must name a column of a Dask data frame, got {y!r}.")
            data, y = data.drop(columns=y), data[y]
        return sketch.update(data, y)
    if y is not None or not hasattr(data, "__iter__") or isinstance(data, np.ndarray | str):
        raise MaucTypeError(
            f"data must be a source or a Dask collection, or without y an iterable of (X, y), got "
            f"{type(data).__name__}; rows in memory are sketched by PairAUCSketch().update(X, y)."
        )
    for number, part in enumerate(data):
        if not isinstance(part, tuple | list) or len(part) != 2:
            raise MaucTypeError(f"part {number} of data must be a pair (X, y), got {part!r:.80}.")
        sketch.update(*part)
    return sketch
