"""A validated classification problem: columns of any type in, blocks that kernels take out."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from mauc.numerics.log_table import log_table
from mauc.parallel import run_blocks
from mauc.problem import columns
from mauc.problem.block_width import block_width
from mauc.problem.class_order import group_by_class
from mauc.problem.columns import (
    float_columns,
    is_by_rows,
    ordered_columns,
    ordered_entries,
    read_only,
    take_columns,
    value_columns,
)
from mauc.problem.frame_columns import FrameColumns
from mauc.problem.source_columns import SourceColumns
from mauc.problem.spill import Room
from mauc.problem.weights import effective_rows, scale_weights
from mauc.problem.wide_columns import is_wide

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
        return isinstance(self.X, np.ndarray) and is_by_rows(self.X)

    @property
    def cluster(self):
        """The `mauc.cluster.Cluster` whose workers read `X`, or None."""
        return getattr(self.X, "cluster", None)

    @property
    def is_small(self):
        """Whether any loop is done before another one, made for such data, would be compiled."""
        return self.n_samples * self.n_features <= columns.SMALL_SIZE

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
