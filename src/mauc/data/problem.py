"""A validated classification problem: columns, class codes and what follows from them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from mauc.checks import MAX_CLASSES, check_class_count
from mauc.data.columns import Columns, DenseColumns, SparseColumns, default_names, is_frame
from mauc.data.frames import has_number_columns, with_numbers
from mauc.data.nominal import encode_nominal
from mauc.data.source import ColumnSource
from mauc.data.validate import (
    as_counts,
    check_class_weights,
    check_labels,
    check_number_frame,
    check_table,
    check_weights,
    effective_rows,
    encode_groups,
    encode_labels,
    scale_weights,
)
from mauc.data.weights import PairWeights
from mauc.data.wishes import Constraints
from mauc.engine.arrays import RowCounts, count_rows
from mauc.exceptions import (
    ConstantInputWarning,
    MaucError,
    SmallClassWarning,
    format_labels,
    warn_user,
)
from mauc.memory import Workspace
from mauc.parallel import run_blocks
from mauc.registry import Accepts
from mauc.results import plural

MISSING = ("tie", "side")
_ORDERED = Accepts(sparse=True, infinite=True)  # what looks at the order of values alone


@dataclass(frozen=True)
class Problem:
    """A validated classification problem."""

    columns: Columns  #: shape (n_samples, n_features)
    codes: np.ndarray  #: shape (n_samples,), int32: class of each sample, an index of `classes`
    classes: np.ndarray  #: shape (n_classes,), the labels, sorted
    class_counts: np.ndarray  #: shape (n_classes,), int64
    is_nominal: np.ndarray  #: shape (n_features,), bool: columns that hold category codes
    sample_weight: np.ndarray | None = None  #: shape (n_samples,), float64, see `as_counts`
    feature_names: np.ndarray | None = None  #: shape (n_features,)
    #: of a data frame without `feature_names`, as not all labels are strings
    column_labels: list[Any] | None = None
    missing: str = "tie"  #: what AUCs make of missing numbers, of `MISSING`
    groups: np.ndarray | None = None  #: shape (n_samples,), int64: rows that stay together
    #: shape (n_pairs,): what each class pair counts, summing to 1; None if all count the same
    pair_shares: np.ndarray | None = None
    constraints: Constraints | None = None  #: wishes about the features that are chosen

    @cached_property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.columns.shape[0]

    @cached_property
    def n_features(self) -> int:
        """Number of columns."""
        return self.columns.shape[1]

    @cached_property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def labels(self) -> list[Any]:
        """What wishes call the columns: their names, "x0", "x1", ... where they have none."""
        if self.feature_names is not None:
            return self.feature_names.tolist()
        return self.column_labels or default_names(range(self.n_features))

    @cached_property
    def cluster(self) -> Any:
        """The `mauc.cluster.Cluster` whose workers read the columns, or None."""
        return self.columns.cluster

    @property
    def workspace(self) -> Workspace:
        """Gives out the arrays of what is made of all columns."""
        return self.columns.workspace

    @cached_property
    def class_weights(self) -> np.ndarray:
        """Total weight of each class, float64; the class counts where there are no weights."""
        if self.sample_weight is None:
            return self.class_counts.astype(np.float64)
        return np.bincount(self.codes, self.sample_weight, minlength=self.n_classes)

    @cached_property
    def row_weights(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The weights as numbers of rows: see `effective_rows`; None where there are none."""
        if self.sample_weight is None:
            return None
        return effective_rows(self.sample_weight, self.codes, self.n_classes)

    @cached_property
    def pair_weights(self) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
        """The weights as AUCs of class pairs take them: see `scale_weights`."""
        return scale_weights(self.sample_weight, self.codes, self.class_weights)

    @cached_property
    def max_wins(self) -> np.ndarray:
        """The wins 2 n_i n_j of a perfect feature on every class pair; of `pair_weights`."""
        first, second = np.triu_indices(self.n_classes, 1)
        totals = self.pair_weights[1]
        return 2 * totals[first] * totals[second]

    @cached_property
    def row_counts(self) -> RowCounts:
        """How rows are counted by methods on discretised values."""
        return count_rows(self.n_samples, self.sample_weight)

    @cached_property
    def by_class(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Samples sorted by class: their order, the start of each class, their weights."""
        return group_by_class(self.codes, self.n_classes, self.sample_weight)

    @property
    def is_constant(self) -> bool:
        """Whether no column has more than one known value."""
        if self.cluster is not None:
            return self.cluster.is_constant(self)
        return self.columns.is_constant()

    def missing_weights(self, chosen: Any) -> np.ndarray:
        """Return the missing values of columns by class, (n_chosen, n_classes), or their weight."""
        columns, weights = np.arange(self.n_features)[chosen], self.pair_weights[0]
        found = np.zeros((len(columns), self.n_classes))
        for slot in np.flatnonzero(self.columns.count_missing(chosen)):
            values = self.columns.column(int(columns[slot]))
            gone = np.flatnonzero(values != values)
            of_gone = None if weights is None else weights[gone]
            found[slot] = np.bincount(self.codes[gone], of_gone, minlength=self.n_classes)
        return found

    def value_columns(self, chosen: Any) -> np.ndarray:
        """Return columns for kernels that need the values in their unit, as float32 or float64."""
        return self.columns.values(chosen)

    def blocks(
        self, n_scores: int = 1, *, is_dense: bool = False, reads_rows: bool = False
    ) -> list[slice]:
        """Return blocks of columns, for `n_scores` of each; they do not depend on the threads."""
        width = self.columns.block_width(
            self.n_features, n_scores, is_dense=is_dense, reads_rows=reads_rows
        )
        n = self.n_features
        return [slice(start, min(start + width, n)) for start in range(0, n, width)]

    def run_blocks(
        self,
        function: Callable[[slice], Any],
        n_scores: int = 1,
        n_jobs: int | None = None,
        **layout: bool,
    ) -> Iterator[tuple[slice, Any]]:
        """Yield ``(block, function(block))`` for every block of columns, in order, in threads."""
        return self.columns.run_blocks(function, self.blocks(n_scores, **layout), n_jobs)

    def run_chosen(
        self,
        function: Callable[[np.ndarray], Any],
        chosen: np.ndarray,
        n_scores: int = 1,
        n_jobs: int | None = None,
    ) -> Iterator[tuple[np.ndarray, Any]]:
        """Yield ``(part, function(part))`` for parts of the positions in `chosen`, in threads."""
        order = np.argsort(chosen, kind="stable")
        width = self.columns.block_width(len(chosen), n_scores)
        n_jobs = self.columns.limit_threads(min(width, len(chosen)), n_jobs)
        parts = [order[start : start + width] for start in range(0, len(chosen), width)]
        return run_blocks(function, parts, n_jobs)

    def take_rows(self, rows: np.ndarray) -> "Problem":
        """Return the problem of some of the rows, ascending, of every class at least one."""
        codes, weight = self.codes[rows], self.sample_weight
        return replace(
            self,
            columns=self.columns.take_rows(rows),
            codes=codes,
            class_counts=np.bincount(codes, minlength=self.n_classes).astype(np.int64),
            sample_weight=None if weight is None else weight[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def drop_zero_weight(self) -> "Problem":
        """Return the problem of the rows of positive weight."""
        weight = self.sample_weight
        if weight is None or (weight > 0).all() or self.cluster is not None:
            return self  # the workers of a cluster count such rows as absent
        rows = np.flatnonzero(weight)
        return replace(self.take_rows(rows), sample_weight=as_counts(weight[rows]))


def make_problem(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    groups: Any = None,
    *,
    accepts: Accepts = _ORDERED,
    cluster: Any = None,
) -> Problem:
    """Validate the arguments of a selector's ``fit`` and encode the labels.

    The estimator gets ``n_features_in_`` and ``feature_names_in_``. `accepts` says what X, in
    memory or a `ColumnSource`, may hold beside numbers; nominal columns are encoded by
    `encode_nominal`.
    """
    if y is None:
        raise MaucError("this estimator requires y to be passed, but the target y is None.")
    flags = getattr(estimator, "categorical_features", None) if accepts.nominal else None
    labels = None
    if isinstance(X, ColumnSource):
        columns, y = _open_source(X, y, estimator, flags, accepts, cluster)
        is_nominal, names = columns.is_nominal, X.feature_names
    else:
        labels = list(X.columns) if is_frame(X) else None
        is_nominal = None
        if accepts.nominal and (labels is not None or flags is not None):
            X, is_nominal = encode_nominal(X, flags)
        columns, y = make_columns(estimator, X, y, accepts)
        if is_nominal is None:
            is_nominal = np.zeros(columns.shape[1], bool)
        names = getattr(estimator, "feature_names_in_", None)
    classes, codes, class_counts = encode_labels(y)
    if len(classes) > MAX_CLASSES:
        check_class_count(len(classes), len(codes))
    if sample_weight is not None:
        sample_weight = check_weights(sample_weight, codes)
        check_class_weights(classes, codes, sample_weight)
        sample_weight = as_counts(sample_weight)
    if groups is not None:
        groups = encode_groups(groups, len(codes))
    totals = np.bincount(codes, sample_weight, minlength=len(classes))
    shares = PairWeights(getattr(estimator, "pair_weight", None)).shares(classes, totals)
    problem = Problem(
        columns,
        codes,
        classes,
        class_counts,
        is_nominal,
        sample_weight,
        names,
        labels if names is None else None,
        getattr(estimator, "missing", "tie"),
        groups,
        shares,
    )
    _warn_of_degenerate(problem)
    constraints = Constraints.of(estimator, problem.labels)
    return problem if constraints is None else replace(problem, constraints=constraints)


def make_columns(
    estimator: Any, X: Any, y: Any, accepts: Accepts = _ORDERED
) -> tuple[Columns, np.ndarray]:
    """Check a table in memory, its nominal columns encoded, and its labels; see `make_problem`."""
    X = with_numbers(X) if is_frame(X) else X
    if is_frame(X) and has_number_columns(X):
        return check_number_frame(X, y, estimator=estimator, accept_infinite=accepts.infinite)
    X, y = check_table(
        X,
        y,
        estimator=estimator,
        accept_sparse="csc" if accepts.sparse else False,
        accept_infinite=accepts.infinite,
        dtype="numeric",
        takes_nominal=accepts.nominal,
        keep_dates=True,
    )
    return SparseColumns(X) if sparse.issparse(X) else DenseColumns(X), y


def _open_source(source, y, estimator, flags, accepts, cluster):
    """Return the columns of a source, none of which is read, and the labels, checked."""
    from mauc.data.streaming import SourceColumns

    y = check_labels(y)
    n, m = source.shape
    if n != len(y):
        raise MaucError(
            f"{source.name} has {plural(n, 'row')}, but y has {plural(len(y), 'label')}."
        )
    if n == 0 or m == 0:
        raise MaucError(
            f"{source.name} has {plural(n, 'row')} and {plural(m, 'column')}; at least one is "
            f"needed."
        )
    columns = SourceColumns(
        source,
        flags,
        accept_nominal=accepts.nominal,
        accept_infinite=accepts.infinite,
        cluster=cluster,
    )
    estimator.n_features_in_ = m
    if source.feature_names is not None:
        estimator.feature_names_in_ = source.feature_names
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return columns, y


def _warn_of_degenerate(problem):
    single = problem.classes[problem.class_counts == 1]
    if len(single):
        warn_user(
            f"{len(single)} of {problem.n_classes} classes have a single sample "
            f"({format_labels(single)}): what is measured on them rests on that sample alone.",
            SmallClassWarning,
        )
    if problem.is_constant:
        warn_user(
            "every feature is constant or missing: none tells classes apart, and features are "
            "chosen by their order.",
            ConstantInputWarning,
        )


def group_by_class(
    y: np.ndarray, n_classes: int, sample_weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the samples (uint32) class after class, where each class starts, and their weights.

    Samples of weight 0 are left out; weights are empty where all are 1. Class by class, sums stay
    in registers; in row order, adding to the sums of ``y[i]`` would wait for the store before it.
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
