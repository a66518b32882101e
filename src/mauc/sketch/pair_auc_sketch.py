"""A sketch of rows that come in batches, from which AUCs and their largest errors are read."""

from collections.abc import Callable
from copy import copy
from itertools import pairwise
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from mauc.checks import check_int
from mauc.data.arguments import MatrixLike
from mauc.data.columns import DenseColumns
from mauc.data.source import ColumnSource
from mauc.exceptions import (
    LooseBoundWarning,
    MaucError,
    MaucTypeError,
    UndefinedMAUCError,
    mauc_errors,
    warn_user,
)
from mauc.memory import format_bytes
from mauc.parallel import count_threads, run_blocks
from mauc.results import plural
from mauc.sketch.bins import Bins, add_values, merge_bins, no_bins, pair_bounds, spread
from mauc.sketch.rows import RowBatch, as_rows, check_rows, is_of_dask, join_batches

_MIN_BINS, _MAX_BINS = 16, 2**20
_ROWS_PER_BIN, _MIN_ROWS_PER_BIN = 16, 4  # of the rows by which bins are fixed
_BUFFER_BYTES = 2**28
_CHUNK_ROWS = 2**17  # rows that are counted in one pass: columns of a block stay in the cache
_BLOCK_WIDTH = 16  # columns of a block: those of a cache line of single precision
# At least the error of quotients, and of sums where they exceed the whole numbers of float64.
_ROUNDING, _SUM_ROUNDING, _MAX_EXACT = 2.0**-50, 2.0**-30, 2.0**52
# Rows like the first have bounds of less than the number of classes per 2 * n_bins.
_LOOSE_FACTOR, _LOOSE_BOUND = 4, 0.1

_Made = TypeVar("_Made")  # of a feature


class PairAUCSketch:
    """Mergeable summary of rows from which the AUCs of all features and class pairs are read.

    The first rows are kept as they are. When they are too many, the bins of every feature are fixed
    by their quantiles, and from then on integer counts per feature, bin and class are held,
    whatever the number of rows. It knows how far each AUC can be from that of all rows:
    `error_bound` is never exceeded. The AUCs of the first rows, and of features with at most
    `n_bins` distinct values, are exact.

    Parameters
    ----------
    n_bins : int, default=1024
        Resolution: three times as many bins per feature are fixed, and splits may double them.
    n_buffered : int, optional
        Rows that are kept as they are before the bins are fixed by them; ``16 * n_bins`` by
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
        The labels that came, sorted.
    n_features : int or None
        None before the first rows.
    feature_names : ndarray of str, or None

    See Also
    --------
    feature_pair_auc : The exact AUCs of data that are read by columns.
    MDFS.partial_fit : Selects features by a sketch.

    Notes
    -----
    Only the order of values within a bin is unknown; docs/methods/selectors.md has the bound. A bin
    that gets too large a share is split, so that rows may come in the order of their classes, or
    drift; where the bound grows far beyond that of shuffled rows, a `LooseBoundWarning` says so.
    Sketches of different bins merge in the same way, those of the same bins (`empty_like`) without
    loss, in any order to the same bits.

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
    def __init__(
        self, n_bins: int = 1024, *, n_buffered: int | None = None, n_jobs: int | None = None
    ):
        self.n_bins: int = check_int("n_bins", n_bins, _MIN_BINS, _MAX_BINS)
        self.n_buffered: int | None = check_int("n_buffered", n_buffered, 1, optional=True)
        count_threads(n_jobs)
        self.n_jobs = n_jobs
        self.classes_: np.ndarray = np.empty(0, np.int64)
        self.class_counts: np.ndarray = self.classes_
        self.n_features: int | None = None
        self.feature_names: np.ndarray | None = None
        self._buffer: list[RowBatch] = []  # copies as floats of rows not counted yet
        self._bins: list[Bins] | None = None  # of every feature, once they are fixed
        self._bounds: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None  # until new rows come

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return int(self.class_counts.sum())

    def update(self, X: MatrixLike, y: ArrayLike) -> Self:
        """Add rows of numbers of any type, with the class labels `y`, and return self.

        X is array-like, a sparse matrix or a data frame; a source, or a Dask collection, is read by
        parts of its rows.
        """
        if y is None:
            raise MaucError("y must hold a label for every row, got None.")
        for rows, classes, names in check_rows(*as_rows(X, y)):
            slots = self._join(rows.table.shape[1], names, classes)
            rows = rows._replace(codes=slots[rows.codes])
            added = np.bincount(rows.codes, minlength=len(self.classes_))
            self.class_counts = self.class_counts + added
            # Small batches wait for each other: a pass over all bins takes as long as many rows.
            if sum(len(waiting.codes) for waiting in [*self._buffer, rows]) <= self._n_first:
                self._buffer = [*self._buffer, rows.as_floats()]
            else:
                self._count([*self._buffer, rows])
        return self

    def merge(self, other: "PairAUCSketch") -> Self:
        """Add the rows of another sketch of the same features, and return self.

        The bins and classes of the other one, which is not changed, may differ.
        """
        if not isinstance(other, PairAUCSketch):
            raise MaucError(f"other must be a PairAUCSketch, got {type(other).__name__}.")
        if other.n_features is None:
            return self
        slots = self._join(other.n_features, other.feature_names, other.classes_)
        n_classes = len(self.classes_)
        self.class_counts = self.class_counts + spread(other.class_counts, slots, n_classes)
        if other._bins is not None:
            mine = self._bins or [no_bins(n_classes)] * other.n_features
            theirs = other._bins

            def merge(block: slice) -> list[Bins]:
                """Return the bins of some features with those of the other sketch."""
                further = [bins.take_classes(slots, n_classes) for bins in theirs[block]]
                pairs = zip(mine[block], further, strict=True)
                return [merge_bins(*pair, self.n_bins) for pair in pairs]

            self._bins = self._run(merge, other.n_features)
        waiting = [rows._replace(codes=slots[rows.codes]) for rows in other._buffer]
        self._buffer = self._buffer + waiting
        if self._buffer and (self._bins is not None or self.n_rows > self._n_first):
            self._count(self._buffer)
        return self

    def __add__(self, other: "PairAUCSketch") -> "PairAUCSketch":
        """Return a new sketch of the rows of both."""
        return self.copy().merge(other)

    def copy(self) -> "PairAUCSketch":
        """Return an independent sketch of the same rows."""
        return copy(self)

    def empty_like(self) -> "PairAUCSketch":
        """Return a sketch with the same bins, which are fixed now, and no rows.

        Sketches made this way from one another keep their bins, so that they merge without loss,
        in any order to the same bits. Values that no bin was made for fall between those that had
        one: features with few distinct values stay exact as long as no others come.
        """
        if self.n_features is None:
            raise MaucError("a sketch must have rows to have bins; update it first.")
        made = self.copy()
        made._count(made._buffer)
        made._bins = [bins.without_counts() for bins in made._bins or ()]
        made.class_counts, made._bounds = np.zeros_like(self.class_counts), None
        return made

    def pair_auc(self, folded: bool = True) -> np.ndarray:
        """Return the AUC of every feature on every class pair, shape (n_features, n_pairs).

        It is max(A, 1 - A) if `folded`, otherwise A, the AUC with the first class of the pair as
        the higher one. Pairs of the sorted labels are in the order (0, 1), (0, 2), ...,
        (c-2, c-1); pairs of a class without rows have 1/2.
        """
        wins, max_wins, _ = self._find_bounds()
        return (np.maximum(max_wins - wins, wins) if folded else wins) / max_wins

    def error_bound(self) -> np.ndarray:
        """Return how far `pair_auc` can be from the AUC of all rows, folded or not.

        Of shape (n_features, n_pairs); 0 where the AUC is exact.
        """
        return self._find_bounds()[2]

    def pair_wins(self) -> np.ndarray:
        """Return the wins of every feature on every class pair, in the middle of their bounds.

        Of float64 and shape (n_features, n_pairs): an AUC is wins per 2 n_i n_j.
        """
        return self._find_bounds()[0]

    @property
    def _n_first(self) -> int:
        """Number of rows by which the bins are fixed, and that wait to be counted together."""
        wanted = self.n_buffered or _ROWS_PER_BIN * self.n_bins
        return max(1, min(wanted, _BUFFER_BYTES // (8 * (self.n_features or 1))))

    @property
    def nbytes(self) -> int:
        """Bytes of the counts, edges and buffered rows."""
        arrays = [array for bins in self._bins or () for array in bins[:3] if array is not None]
        arrays += [
            rows.table.array for rows in self._buffer if isinstance(rows.table, DenseColumns)
        ]
        return sum(array.nbytes for array in arrays)

    def __repr__(self) -> str:
        text = f"PairAUCSketch(n_bins={self.n_bins}): "
        if self.n_features is None:
            return text + "no rows yet"
        return text + (
            f"{plural(self.n_rows, 'row')}, {plural(self.n_features, 'feature')}, "
            f"{plural(len(self.classes_), 'class')}, "
            f"{format_bytes(self.nbytes)}"
        )

    def _count(self, batches: list[RowBatch]) -> None:
        """Count rows in bins, which are fixed by them if there are none yet; empty the buffer."""
        if self._bins is None:
            n_wanted = max(self._n_first, _MIN_ROWS_PER_BIN * self.n_bins)
            every = slice(None, None, -(-sum(len(rows.codes) for rows in batches) // n_wanted))
            bins = [no_bins(len(self.classes_))] * batches[0].table.shape[1]
            bins = self._add(bins, join_batches([rows.part(every).as_floats() for rows in batches]))
            self._bins = [one.without_counts(one.growth) for one in bins]
        for rows in [join_batches(batches[:-1]), batches[-1]] if batches[1:] else batches:
            for start in range(0, len(rows.codes), _CHUNK_ROWS):
                self._bins = self._add(self._bins, rows.part(slice(start, start + _CHUNK_ROWS)))
        self._buffer = []

    def _add(self, before: list[Bins], rows: RowBatch) -> list[Bins]:
        """Return the bins with rows added."""

        def add(block: slice) -> list[Bins]:
            """Return the bins of some features with the rows."""
            pairs = zip(before[block], rows.columns(block), strict=True)
            return [add_values(bins, values, rows.codes, self.n_bins) for bins, values in pairs]

        return self._run(add, len(before))

    def _run(self, function: Callable[[slice], list[_Made]], n_features: int) -> list[_Made]:
        """Return the results of a function for blocks of features, in one list."""
        edges = [*range(0, n_features, _BLOCK_WIDTH), n_features]
        blocks = [slice(*part) for part in pairwise(edges)]
        return [made for _, some in run_blocks(function, blocks, self.n_jobs) for made in some]

    def _find_bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the wins in the middle of their bounds, the most, and the errors of their AUCs."""
        if len(self.classes_) < 2:
            raise UndefinedMAUCError(
                f"a sketch must have rows of at least 2 classes, got {len(self.classes_)}."
            )
        if self._bounds is not None:
            return self._bounds
        if self._bins is not None:
            counted = self.copy()  # a question changes nothing: what waits goes on waiting
            counted._count(counted._buffer)
            fixed = counted._bins or []

            def bins_of(block: slice) -> list[Bins]:
                """Return the bins of some features."""
                return fixed[block]

        else:
            rows, none = join_batches(self._buffer), no_bins(len(self.classes_))

            def bins_of(block: slice) -> list[Bins]:  # so many that each value has its own
                """Return bins of some features that give each value its own."""
                return [add_values(none, x, rows.codes, len(x)) for x in rows.columns(block)]

        def find(block: slice) -> list[tuple[np.ndarray, np.ndarray]]:
            """Return the bounds of the wins of some features."""
            return [pair_bounds(bins) for bins in bins_of(block)]

        fewest, most = map(np.array, zip(*self._run(find, self.n_features or 0), strict=True))
        first, second = np.triu_indices(len(self.classes_), 1)
        max_wins = 2.0 * self.class_counts[first] * self.class_counts[second]
        is_seen, max_wins = max_wins > 0, np.maximum(max_wins, 1.0)
        wins = fewest / 2 + most / 2
        error = np.where(fewest == most, 0.0, (most - fewest) / (2 * max_wins) + _ROUNDING)
        error += np.where(max_wins > _MAX_EXACT, _SUM_ROUNDING, 0.0)
        wins, error_bound = (np.where(is_seen, part, 0.5) for part in (wins, error))
        self._bounds = wins, max_wins, error_bound
        if self._bins is not None:
            self._warn_loose(error[:, is_seen].max(axis=1, initial=0.0))
        return self._bounds

    def _warn_loose(self, largest: np.ndarray) -> None:
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

    def _join(self, n_features: int, names: np.ndarray | None, classes: np.ndarray) -> np.ndarray:
        """Check columns and labels of further rows, add new labels; return the slots of all."""
        mine, known = self.feature_names, self.classes_
        if self.n_features not in (None, n_features):
            raise MaucError(
                f"X has {plural(n_features, 'feature')}, but the sketch has {self.n_features}."
            )
        if names is not None and mine is not None and not np.array_equal(names, mine):
            column = int(np.argmax(names != mine))
            raise MaucError(
                f"X must have the columns of the sketch, in their order: column {column} is "
                f"{names[column]!r}, but was {mine[column]!r}."
            )
        kinds = {known.dtype.kind, classes.dtype.kind}
        if len(known) == 0:
            joined = classes
        elif len(kinds) > 1 and "O" not in kinds and not kinds <= set("biuf"):
            raise MaucTypeError(
                f"y must hold labels of one kind, got {classes.dtype} after {known.dtype}."
            )
        else:
            with mauc_errors():
                joined = np.union1d(known, classes)
        kept, slots = (np.searchsorted(joined, part).astype(np.int32) for part in (known, classes))
        if len(joined) > len(known):
            self.class_counts = spread(self.class_counts, kept, len(joined))
            self._buffer = [rows._replace(codes=kept[rows.codes]) for rows in self._buffer]
            if self._bins is not None:
                self._bins = [bins.take_classes(kept, len(joined)) for bins in self._bins]
        self.classes_, self._bounds = joined, None
        if self.n_features is None:
            self.n_features, self.feature_names = n_features, names
        return slots


def sketch_rows(
    data: Any, y: Any = None, *, n_bins: int = 1024, n_jobs: int | None = None
) -> PairAUCSketch:
    """Read rows once, part by part, and return a sketch of the AUCs of all class pairs.

    Parameters
    ----------
    data : ColumnSource, Dask collection, or iterable of (X, y)
        A source or collection is read in parts of its rows, which take half of its memory, the next
        one while the last is counted; an iterable yields rows and labels for
        `PairAUCSketch.update`.
    y : array-like of shape (n_rows,), or str, optional
        Labels of a source or collection, or the name of the column of a Dask data frame.
    n_bins, n_jobs
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
    sketch = PairAUCSketch(n_bins, n_jobs=n_jobs)
    if isinstance(data, ColumnSource) or is_of_dask(data):
        if isinstance(y, str):
            if y not in getattr(data, "columns", ()):
                raise MaucError(f"y must name a column of a Dask data frame, got {y!r}.")
            return sketch.update(data.drop(columns=y), data[y])
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
