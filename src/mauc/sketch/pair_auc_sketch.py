"""PairAUCSketch: rows in, batch by batch; AUCs of all class pairs with their largest error out."""

from copy import copy

import numpy as np

from mauc.checks import check_int
from mauc.data.source import ColumnSource
from mauc.exceptions import MaucError, UndefinedMAUCError, format_labels
from mauc.memory import format_bytes
from mauc.parallel import count_threads
from mauc.sketch.bounds import estimate_auc
from mauc.sketch.dask_rows import by_rows
from mauc.sketch.held_rows import HeldRows
from mauc.sketch.tables import Rows, check_known, join_classes, source_parts
from mauc.sources import as_vector

_MIN_BINS, _MAX_BINS = 16, 2**20


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

    It takes 8 bytes per feature, class and bin, twice that for features with few values, whose gaps
    have bins as well, or after merges of different bins.

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
        self.feature_names = None
        self._held = HeldRows(self.n_bins, self.n_buffered, len(self.classes_))
        self._kept = None  # the bounds until the next rows come

    @property
    def n_features(self):
        """Number of features; None before the first rows."""
        return self._held.n_features

    @property
    def class_counts(self):
        """Rows of each class so far, shape (n_classes,), int64."""
        return self._held.class_counts

    @property
    def n_rows(self):
        """Number of rows so far."""
        return int(self.class_counts.sum())

    def update(self, X, y):
        """Add rows.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or ColumnSource of shape (n_rows, n_features)
            Numbers of any type; a source, or a Dask collection, is read by parts of its rows.
        y : array-like of shape (n_rows,)
            Class labels.

        Returns
        -------
        self : PairAUCSketch
        """
        if y is None:
            raise MaucError("y must hold a label for every row, got None.")
        X, y = by_rows(X), as_vector(y)
        if isinstance(X, ColumnSource):
            for part, labels in source_parts(X, y):
                self.update(part, labels)
            return self
        rows = Rows(X, y)
        self._check_features(rows.n_features, rows.feature_names)
        codes = self._join(rows.classes)[rows.codes]
        if self.n_features is None:
            self.feature_names = rows.feature_names
        self._kept = None
        self._held.add(rows, codes, self.n_jobs)
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
        if other.n_features is not None:
            self._check_features(other.n_features, other.feature_names)
        places = self._join(other.classes_)
        if other.n_features is None:
            return self
        if self.n_features is None:
            self.feature_names = other.feature_names
        self._kept = None
        self._held.merge(other._held, places, self.n_jobs)
        return self

    def __add__(self, other):
        """Return a new sketch of the rows of both."""
        if not isinstance(other, PairAUCSketch):
            return NotImplemented
        return self.copy().merge(other)

    def copy(self):
        """Return a sketch of the same rows that goes its own way; counts are shared until then."""
        made = copy(self)
        made._held = self._held.copy()
        return made

    def empty_like(self):
        """Return a sketch with the same bins and no rows.

        Sketches made this way from one another keep their bins, so that they merge without loss,
        in any order to the same bits. Features that had at most `n_bins` distinct values take
        further values as long as that holds.
        """
        if self.n_features is None:
            raise MaucError("a sketch must have rows to have bins; update it first.")
        made = copy(self)
        made._held = self._held.empty(self.n_jobs)
        made._kept = None
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
        first, second = np.triu_indices(len(self.classes_), 1)
        totals = self.class_counts.astype(np.float64)
        return 2 * totals[first] * totals[second]

    @property
    def n_sampled(self):
        """Number of rows by which the bins are chosen."""
        return self.n_sampled_of(self.n_features or 1)

    def n_sampled_of(self, n_features):
        """Return what `n_sampled` is for so many features."""
        return self._held.n_sampled_of(n_features)

    @property
    def nbytes(self):
        """Bytes of the counts, edges and buffered rows."""
        return self._held.nbytes

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
        return self.__dict__ | {"_kept": None}

    def _estimate(self, folded):
        if len(self.classes_) < 2 or self.n_features is None:
            raise UndefinedMAUCError(
                f"a sketch must have rows of at least 2 classes, got {len(self.classes_)}."
            )
        if self._kept is None:
            self._kept = self._held.bounds(self.n_jobs)
        return estimate_auc(*self._kept, self.max_wins, folded=folded)

    def _join(self, classes):
        """Make room for the classes of others; return their places."""
        if self.classes is not None:
            check_known(classes, self.classes_)
        joined, mine, theirs = join_classes(self.classes_, np.asarray(classes))
        if len(joined) > len(self.classes_) or joined.dtype != self.classes_.dtype:
            self.classes_ = joined
            self._held.move_classes(mine, len(joined))
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
        raise MaucError(f"classes must hold at least 2 labels, got {format_labels(labels)}.")
    return labels
