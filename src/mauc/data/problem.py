"""How many columns are worked on together: a Problem in, the width of its blocks out."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_X_y, column_or_1d
from sklearn.utils.validation import validate_data

from mauc.checks import check_class_count
from mauc.data.categories import encode_nominal
from mauc.data.columns import (
    float_columns,
    is_frame,
    is_wide,
    ordered_columns,
    ordered_entries,
    value_columns,
)
from mauc.data.frames import FrameColumns, has_number_columns
from mauc.data.source import ColumnSource
from mauc.data.streaming import MEMORY_SHARE, SourceColumns
from mauc.data.validate import (
    check_no_missing_label,
    check_table,
    check_weights,
    encode_labels,
    mauc_errors,
)
from mauc.data.weights import effective_rows, scale_weights
from mauc.data.workspace import Room
from mauc.engine.arrays import is_row_major, read_only, take_columns
from mauc.engine.special import log_table
from mauc.exceptions import ConstantInputWarning, MaucError, SmallClassWarning, listed, warn_user
from mauc.parallel import run_blocks
from mauc.registry import Accepts

# A block of columns and its copies fit into the second-level cache, and the number of scores of a
# block is limited, for problems with many classes.
_BLOCK_BYTES = 2**20
_BLOCK_SCORES = 2**20
# Where X lies row by row, columns of one cache line are read together: taken apart, each would
# read the line again. Tall columns limit that, and so do threads: they share few blocks badly.
_LINE_BYTES = 64
_ROW_BLOCK_BYTES = 2**24
_MIN_BLOCKS = 8
_ROW_CELLS = 2**23


def block_width(problem, n_columns, n_scores=1, *, is_dense=False, reads_rows=False):
    """Return how many columns make a block.

    Parameters
    ----------
    problem : Problem
    n_columns : int
        Of all blocks together.
    n_scores, is_dense, reads_rows
        As in `Problem.blocks`.
    """
    column_bytes = problem.X.dtype.itemsize * problem.n_samples
    block_bytes = _BLOCK_BYTES
    if isinstance(problem.X, SourceColumns):
        block_bytes = min(block_bytes, problem.X.source.memory // MEMORY_SHARE)
        column_bytes = max(column_bytes, int(problem.X.source.widths.max()) * problem.n_samples)
    width = min(block_bytes // column_bytes, 256)
    if problem.is_sparse and not is_dense:
        width = 256
    elif problem.is_by_rows and reads_rows:
        # Pieces of rows are read slower than rows; threads need them where there is much to do.
        n_pieces = min(4, 1 + n_columns * problem.n_samples // _ROW_CELLS)
        width = min(max(n_columns // n_pieces, 16), 512)
    elif problem.is_by_rows:
        in_line = min(_LINE_BYTES // problem.X.itemsize, _ROW_BLOCK_BYTES // column_bytes)
        width = max(width, min(in_line, n_columns // _MIN_BLOCKS))
    return max(1, min(width, _BLOCK_SCORES // n_scores))


def group_by_class(y, n_classes, sample_weight=None):
    """Sort the samples by class, keeping their order within a class.

    Class by class, sums stay in registers; in row order, adding to the sums of ``y[i]`` would
    wait for the store before it.

    Parameters
    ----------
    y : ndarray of shape (n_samples,), int32
    n_classes : int
    sample_weight : ndarray of shape (n_samples,) or None

    Returns
    -------
    order : ndarray of uint32
        Samples, class after class; those of weight 0 are left out.
    starts : ndarray of shape (n_classes + 1,), int64
        Class k is ``order[starts[k]:starts[k + 1]]``.
    weights : ndarray of float64
        Weight of ``order[i]``, or empty where all weights are 1.
    """
    # NumPy's stable sort of 16-bit integers is a radix sort.
    short = y.astype(np.uint16) if n_classes <= 2**16 else y
    order = np.argsort(short, kind="stable").astype(np.uint32)
    weights = np.empty(0, dtype=np.float64)
    if sample_weight is not None:
        order = order[sample_weight[order] > 0]
        weights = np.ascontiguousarray(sample_weight[order], dtype=np.float64)
    counts = np.bincount(y[order], minlength=n_classes)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return order, starts, weights


_FIRST_ROWS, _FIRST_COLUMNS = 16, 4096  # in which two values are searched first


@dataclass(frozen=True)
class Problem:
    """A validated classification problem.

    Parameters
    ----------
    X : ndarray, csc_array, FrameColumns or SourceColumns of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,), int32
        Class of each sample, as a place in `classes`.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    class_counts : ndarray of shape (n_classes,), int64
    sample_weight : ndarray of shape (n_samples,), float64, or None
    feature_names : ndarray of shape (n_features,), or None
    is_nominal : ndarray of shape (n_features,), bool, or None
        Columns that hold category codes.
    column_labels : list of length n_features, or None
        Those of a data frame that has no `feature_names`, as not all of them are strings.
    """

    X: np.ndarray | sparse.csc_array | FrameColumns | SourceColumns
    codes: np.ndarray
    classes: np.ndarray
    class_counts: np.ndarray
    sample_weight: np.ndarray | None = None
    feature_names: np.ndarray | None = None
    is_nominal: np.ndarray | None = None
    column_labels: list[Any] | None = None

    @property
    def n_samples(self):
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self):
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_classes(self):
        """Number of classes."""
        return len(self.classes)

    @property
    def is_sparse(self):
        """Whether `X` is a sparse matrix."""
        return sparse.issparse(self.X)

    @property
    def is_streamed(self):
        """Whether `X` is a source, whose columns are read when they are needed."""
        return isinstance(self.X, SourceColumns)

    @cached_property
    def is_by_rows(self):
        """Whether `X` is an array that lies row by row."""
        return isinstance(self.X, np.ndarray) and is_row_major(self.X)

    @property
    def cluster(self):
        """The `mauc.cluster.Cluster` whose workers read `X`, or None."""
        return getattr(self.X, "cluster", None)

    @cached_property
    def class_weights(self):
        """Total weight of each class, float64; the class counts where there are no weights."""
        if self.sample_weight is None:
            return self.class_counts.astype(np.float64)
        return np.bincount(self.codes, self.sample_weight, minlength=self.n_classes)

    @cached_property
    def row_weights(self):
        """The weights as numbers of rows: see `effective_rows`; None where there are none."""
        if self.sample_weight is None:
            return None
        return effective_rows(self.sample_weight, self.codes, self.n_classes)

    @cached_property
    def pair_weights(self):
        """The weights as AUCs of class pairs take them: see `scale_weights`."""
        return scale_weights(self.sample_weight, self.codes, self.class_weights)

    @cached_property
    def max_wins(self):
        """The wins 2 n_i n_j of a perfect feature on every class pair; of `pair_weights`."""
        first, second = np.triu_indices(self.n_classes, 1)
        totals = self.pair_weights[1]
        return 2 * totals[first] * totals[second]

    @cached_property
    def count_logs(self):
        """L(v) = v ln v of the counts up to n_samples in fixed point, and its unit."""
        return log_table(self.n_samples, 1.0)[1:]

    @cached_property
    def by_class(self):
        """Samples sorted by class: their order, the start of each class, their weights."""
        return group_by_class(self.codes, self.n_classes, self.sample_weight)

    @cached_property
    def room(self) -> Room:
        """Gives out the arrays of what is made of all columns: see `Room`."""
        return self.X.room if isinstance(self.X, SourceColumns) else Room()

    def in_groups(self, columns: np.ndarray) -> Generator[int]:
        """Yield columns that are looked at one by one; those of a source are read in groups."""
        yield from self.X.in_groups(columns) if isinstance(self.X, SourceColumns) else columns

    def nominal_columns(self, chosen) -> list[tuple[int, int]]:
        """Return the place in `chosen` and the number of the nominal columns among them."""
        if self.is_nominal is None:
            return []
        numbers = np.arange(self.n_features)[chosen]
        return [(place, int(j)) for place, j in enumerate(numbers) if self.is_nominal[j]]

    def run_blocks(
        self,
        function: Callable[[slice], Any],
        n_scores: int = 1,
        n_jobs: int | None = None,
        **layout: bool,
    ) -> Iterator[tuple[slice, Any]]:
        """Yield ``(block, function(block))`` for every block of columns, in order, in threads.

        Where `X` is a source, the next columns are read while these are worked on.

        Parameters
        ----------
        function : callable
        n_scores, **layout
            As in `blocks`.
        n_jobs : int, optional
            Threads, as joblib counts them.
        """
        blocks = list(self.blocks(n_scores, **layout))
        if isinstance(self.X, SourceColumns):
            return self.X.run_blocks(function, blocks, n_jobs)
        return run_blocks(function, blocks, n_jobs)

    def run_chosen(
        self,
        function: Callable[[np.ndarray], Any],
        chosen: np.ndarray,
        n_scores: int = 1,
        n_jobs: int | None = None,
    ) -> Iterator[tuple[np.ndarray, Any]]:
        """Yield ``(places, function(places))`` for the blocks of `chosen_blocks`, in threads."""
        blocks = list(self.chosen_blocks(chosen, n_scores))
        if isinstance(self.X, SourceColumns):
            n_jobs = self.X.count_threads(max(map(len, blocks), default=0), n_jobs)
        return run_blocks(function, blocks, n_jobs)

    def blocks(
        self, n_scores: int = 1, *, is_dense: bool = False, reads_rows: bool = False
    ) -> Iterator[slice]:
        """Yield blocks of columns.

        They depend on the shape of the problem only, not on the number of threads.

        Parameters
        ----------
        n_scores : int, default=1
            Scores per column that will be held.
        is_dense : bool, default=False
            Whether sparse columns will be made dense.
        reads_rows : bool, default=False
            Whether rows will be read, not columns, where `X` lies row by row.
        """
        width = block_width(
            self, self.n_features, n_scores, is_dense=is_dense, reads_rows=reads_rows
        )
        for start in range(0, self.n_features, width):
            yield slice(start, min(start + width, self.n_features))

    def chosen_blocks(self, chosen: np.ndarray, n_scores: int = 1) -> Iterator[np.ndarray]:
        """Yield blocks of chosen columns, as places in `chosen`; neighbours come together.

        Parameters
        ----------
        chosen : ndarray of shape (n_chosen,)
        n_scores : int, default=1
            Scores per column that will be held.
        """
        places = np.argsort(chosen, kind="stable")
        width = block_width(self, len(chosen), n_scores)
        for start in range(0, len(chosen), width):
            yield places[start : start + width]

    def ordered_columns(self, chosen) -> np.ndarray:
        """Return columns for kernels that depend only on the order of values.

        Returns
        -------
        XT : ndarray of shape (n_chosen, n_samples), uint8, float32 or float64
            Read-only and contiguous, one row per column of `X`; a view if possible.
        """
        return self._columns(chosen, ordered_columns)

    def float_columns(self, chosen) -> np.ndarray:
        """Return columns for kernels that need the values in any unit, as float32 or float64."""
        return self._columns(chosen, float_columns)

    def value_columns(self, chosen) -> np.ndarray:
        """Return columns for kernels that need the values in their unit, as float32 or float64."""
        return self._columns(chosen, value_columns)

    def _columns(self, chosen, convert):
        if isinstance(self.X, FrameColumns | SourceColumns):
            return self.X.block(chosen, convert)
        if self.is_sparse:
            return convert(self.X[:, chosen].toarray().T)
        return convert(take_columns(self.X, chosen))

    @cached_property
    def is_wide(self) -> bool:
        """Whether `X` is an array of values that float64 does not hold."""
        return isinstance(self.X, np.ndarray) and is_wide(self.X)

    @property
    def is_constant(self) -> bool:
        """Whether no column has more than one known value."""
        if self.cluster is not None:
            return self.cluster.is_constant(self)
        if isinstance(self.X, np.ndarray):
            first = self.X[:_FIRST_ROWS, :_FIRST_COLUMNS]  # usually they differ
            if (np.fmin.reduce(first) < np.fmax.reduce(first)).any():
                return False
        return all(map(self._is_constant, self.in_groups(np.arange(self.n_features))))

    def _is_constant(self, column):
        if isinstance(self.X, FrameColumns | SourceColumns):
            return is_constant(self.X.column(column))
        if not self.is_sparse:
            return is_constant(self.X[:, column])
        stored = self.X.data[self.X.indptr[column] : self.X.indptr[column + 1]]
        known = stored[stored == stored]
        only = known[0] if len(known) and len(stored) == self.n_samples else 0
        return bool((known == only).all())

    def stored_columns(self, chosen):
        """Return columns of a sparse `X` for kernels that depend only on the order of values.

        Returns
        -------
        data : ndarray, float64
        indices : ndarray, int32
        indptr : ndarray of shape (n_chosen + 1,), int64
            All read-only: the parts of a CSC matrix without duplicate entries.
        """
        part = self.X[:, chosen]
        arrays = (
            ordered_entries(part.data),
            np.ascontiguousarray(part.indices, dtype=np.int32),
            np.ascontiguousarray(part.indptr, dtype=np.int64),
        )
        return tuple(read_only(array) for array in arrays)


def is_constant(values):
    """Whether a column has at most one known value."""
    known = values[values == values]
    return len(known) == 0 or bool((known == known[0]).all())


def take_rows(problem, rows):
    """Return the problem of some of the rows; columns keep their types, classes their places.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of shape (n_taken,), int64
        Ascending. Every class must have one of them.

    Returns
    -------
    part : Problem
        Of a source, its columns are read again; its memory is that of the source.
    """
    X = problem.X
    if isinstance(X, SourceColumns):
        mask = np.zeros(problem.n_samples, bool)
        mask[rows] = True
        X = SourceColumns(
            X.source.take_rows(mask), problem.is_nominal, accept_infinite=X.accept_infinite
        )
    elif isinstance(X, FrameColumns):
        X = X.take_rows(rows)
    elif sparse.issparse(X):
        X = X[rows]
        X.sort_indices()
    else:
        X = X[rows]
    codes = problem.codes[rows]
    weight = problem.sample_weight
    return replace(
        problem,
        X=X,
        codes=codes,
        class_counts=np.bincount(codes, minlength=problem.n_classes).astype(np.int64),
        sample_weight=None if weight is None else weight[rows],
    )


_ORDERED = Accepts(sparse=True, infinite=True)  # what looks at the order of values alone


def make_problem(estimator, X, y, sample_weight=None, *, accepts=_ORDERED, cluster=None):
    """Validate the arguments of a selector's ``fit`` and encode the labels.

    Missing values of X are allowed.

    Parameters
    ----------
    estimator : BaseEstimator
        Gets ``n_features_in_`` and ``feature_names_in_``.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    sample_weight : array-like of shape (n_samples,), optional
    accepts : Accepts, optional
        What X may hold: sparse matrices and infinite values by default. Where it may hold nominal
        columns, those of a categorical dtype or of strings in a data frame and those that
        ``estimator.categorical_features`` names are encoded and marked.
    cluster : Cluster, optional
        Whose workers read the columns of X, a source.

    Returns
    -------
    problem : Problem
    """
    if y is None:
        raise MaucError("this estimator requires y to be passed, but the target y is None.")
    if isinstance(X, ColumnSource):
        X, y = _check_source(X, y, estimator, accepts, cluster)
        return _problem_of(X, y, sample_weight, X.source.feature_names, X.is_nominal)
    is_nominal, labels = None, list(X.columns) if is_frame(X) else None
    flags = getattr(estimator, "categorical_features", None) if accepts.nominal else None
    if accepts.nominal and (is_frame(X) or flags is not None):
        X, is_nominal = encode_nominal(X, flags)
    if is_frame(X) and has_number_columns(X):
        X, y = _check_frame(X, y, estimator, accepts.infinite)
    else:
        X, y = check_table(
            X, y, estimator=estimator, accept_sparse="csc" if accepts.sparse else False,
            accept_infinite=accepts.infinite, dtype="numeric", takes_nominal=accepts.nominal,
            keep_dates=True,
        )  # fmt: skip
    if sparse.issparse(X):
        X = sparse.csc_array(X, copy=not X.has_canonical_format)
        X.sum_duplicates()
    names = getattr(estimator, "feature_names_in_", None)
    return _problem_of(X, y, sample_weight, names, is_nominal, labels if names is None else None)


def _problem_of(X, y, sample_weight, feature_names, is_nominal, labels=None):
    classes, codes, class_counts = encode_labels(y)
    check_class_count(len(classes), len(codes))
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, codes)
        _check_class_weights(classes, codes, sample_weight)
    problem = Problem(
        X, codes, classes, class_counts, sample_weight, feature_names, is_nominal, labels
    )
    _warn_of_degenerate(problem)
    return problem


def _check_source(source, y, estimator, accepts, cluster):
    """Check a source of columns and its labels as `check_table` does; no column is read."""
    check_no_missing_label(y)
    with mauc_errors():
        y = column_or_1d(y, warn=True)
    n, m = source.shape
    if n != len(y):
        raise MaucError(f"{source.name} has {n} rows, but y has {len(y)} labels.")
    if n == 0 or m == 0:
        raise MaucError(f"{source.name} has {n} rows and {m} columns; at least one is needed.")
    flags = getattr(estimator, "categorical_features", None) if accepts.nominal else None
    columns = SourceColumns(
        source, flags, accept_nominal=accepts.nominal, accept_infinite=accepts.infinite,
        cluster=cluster,
    )  # fmt: skip
    estimator.n_features_in_ = m
    if source.feature_names is not None:
        estimator.feature_names_in_ = source.feature_names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return columns, y


def _check_frame(frame, y, estimator, accept_infinite):
    """Check a data frame of several numeric types as `check_table` does, without a copy."""
    check_no_missing_label(y)
    stand_in = np.broadcast_to(np.float64(0.0), frame.shape)  # takes no memory
    with mauc_errors():
        validate_data(estimator, frame, skip_check_array=True)
        _, y = check_X_y(stand_in, y, estimator=estimator, ensure_all_finite=False)
        X = FrameColumns(frame)
        if not accept_infinite:
            for column in range(X.shape[1]):
                assert_all_finite(X.column(column), allow_nan=True, input_name="X")
    return X, y


def _check_class_weights(classes, codes, sample_weight):
    totals = np.bincount(codes, sample_weight)
    if not np.isfinite(totals.sum()):
        raise MaucError(
            f"sample_weight must have a finite total, got weights up to {sample_weight.max():.3g}; "
            f"divide them by their largest."
        )
    if (totals <= 0).any():
        raise MaucError(
            f"sample_weight must give every class a positive total, "
            f"got 0 for class {listed(classes[totals <= 0][:1])}."
        )


def _warn_of_degenerate(problem):
    single = problem.classes[problem.class_counts == 1]
    if len(single):
        warn_user(
            f"{len(single)} of {problem.n_classes} classes have a single sample "
            f"({listed(single)}): what is measured on them rests on that sample alone.",
            SmallClassWarning,
        )
    if problem.is_constant:
        warn_user(
            "every feature is constant or missing: none tells classes apart, and features are "
            "chosen by their order.",
            ConstantInputWarning,
        )
