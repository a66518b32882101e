"""A validated classification problem, what follows from it, and its sub-problems."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Literal, get_args

import numpy as np

from mauc.data.columns import ColumnBlock, Columns, default_names
from mauc.data.weights import PairWeights, as_counts, effective_rows, pair_table, scale_weights
from mauc.data.wishes import Wishes
from mauc.engine.arrays import RowCounts, count_rows, n_pairs_of, pair_index
from mauc.memory import Workspace
from mauc.parallel import Work
from mauc.results import measure_name

MissingRule = Literal["tie", "side"]
MISSING: tuple[MissingRule, ...] = get_args(MissingRule)


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
    wishes: Wishes | None = None  #: wishes about the features that are chosen
    #: int64: columns that are dates, which are never chosen
    dated: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    categories: dict[int, np.ndarray] = field(default_factory=dict)  #: of nominal columns, by code

    n_samples: int = field(init=False)
    n_features: int = field(init=False)
    n_classes: int = field(init=False)
    n_pairs: int = field(init=False)  #: of classes

    def __post_init__(self) -> None:
        # The dataclass is frozen for everybody else.
        known, n_classes = vars(self), len(self.classes)
        known["n_samples"], known["n_features"] = self.columns.shape
        known["n_classes"], known["n_pairs"] = n_classes, n_classes * (n_classes - 1) // 2

    @property
    def labels(self) -> list[Any]:
        """What wishes call the columns: their names, "x0", "x1", ... where they have none."""
        if self.feature_names is not None:
            return self.feature_names.tolist()
        return self.column_labels or default_names(range(self.n_features))

    def names_of(self, chosen: ColumnBlock = slice(None)) -> np.ndarray:
        """Return the names of columns, "x0", "x1", ... where they have none."""
        if self.feature_names is not None:
            return self.feature_names[chosen]
        return np.array(default_names(np.arange(self.n_features)[chosen]))

    @property
    def measure(self) -> str:
        """What texts call the mean AUC over the class pairs."""
        return measure_name(self.n_classes)

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
    def auc_weights(self) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
        """The weights as AUCs of class pairs take them: see `scale_weights`."""
        if self.sample_weight is None:
            return None, self.class_weights, np.zeros(self.n_classes, np.int64)
        return scale_weights(self.sample_weight, self.codes, self.class_weights)

    @cached_property
    def max_wins(self) -> np.ndarray:
        """The wins 2 n_i n_j of a perfect feature on every class pair; of `auc_weights`."""
        first, second = np.triu_indices(self.n_classes, 1)
        totals = self.auc_weights[1]
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
        executor = self.columns.executor
        return self.columns.is_constant() if executor is None else executor.is_constant(self)

    def missing_weights(self, chosen: ColumnBlock) -> np.ndarray:
        """Return the missing values of columns by class, (n_chosen, n_classes), or their weight."""
        columns, weights = np.arange(self.n_features)[chosen], self.auc_weights[0]
        found = np.zeros((len(columns), self.n_classes))
        for slot in np.flatnonzero(self.columns.count_missing(chosen)):
            values = self.columns.column(int(columns[slot]))
            gone = np.flatnonzero(values != values)
            of_gone = None if weights is None else weights[gone]
            found[slot] = np.bincount(self.codes[gone], of_gone, minlength=self.n_classes)
        return found

    def value_columns(self, chosen: ColumnBlock) -> np.ndarray:
        """Return columns as float32 or float64."""
        return self.columns.floats(chosen)

    def blocks(self, n_scores: int = 1) -> list[slice]:
        """Return blocks of columns, for `n_scores` of each, to go through one by one."""
        return self.columns.blocks(n_scores)

    def map(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        columns: np.ndarray | None = None,
        out: tuple[np.ndarray, ...] = (),
        prepare: Callable[..., tuple[Any, ...]] | None = None,
        reduce: Callable[[Iterator[tuple[Any, Any]]], Any] | None = None,
        n_scores: int = 1,
        n_jobs: int | None = None,
        is_dense: bool = False,
    ) -> Iterator[tuple[Any, Any]]:
        """Yield ``(block, function(problem, block, *arguments, *views))`` for blocks of columns.

        Blocks come in order. The columns decide whether the work is done in threads, on stripes of
        a source or on a cluster; the results are the same to the bit.

        Parameters
        ----------
        function : callable
            A function of a module, which can be sent to a worker: it knows nothing but what it is
            given, and there the problem is that of some of the columns.
        *arguments : object
            Passed on as they are.
        columns : ndarray of int, optional
            Numbers of the columns in question. Then the function gets some of them in place of a
            slice, and the blocks that come back are arrays of positions in `columns`.
        out : tuple of ndarray
            Arrays to fill in, whose first axis is that of the columns: the function gets the part
            of each that belongs to the block.
        prepare : callable, optional
            ``prepare(problem, *arguments)`` makes, once per process, the arguments of the function
            of these: what is too large to be sent, or is the same for all blocks.
        reduce : callable, optional
            ``reduce(pairs)`` makes one result of the pairs (block, result) of a process. Then
            there is one pair per process, with the range of its columns.
        n_scores : int, default=1
            How many scores a column has in what is held of a block: it limits the width.
        n_jobs : int, optional
            Threads of this process.
        is_dense : bool, default=False
            Whether sparse columns are filled in.
        """
        work = Work(function, arguments, columns, out, prepare, reduce, n_scores, is_dense)
        return (self.columns.executor or self.columns).map(self, work, n_jobs)

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

    def training_part(self, rows: np.ndarray) -> "Problem":
        """Return what a fit on some of the rows, ascending, would make of them.

        Classes, groups and categories without a row there are gone, shares of the class pairs that
        are left sum to 1, and weights count the rows of the part.
        """
        part = self.take_rows(rows)
        present = np.flatnonzero(part.class_counts)
        codes, categories = {}, {}
        for j in np.flatnonzero(self.is_nominal).tolist():
            occurring, codes[j] = np.unique(part.columns.column(j), return_inverse=True)
            known = self.categories[j]  # a missing value has the code after the last
            categories[j] = known[occurring[occurring < len(known)].astype(np.int64)]
        shares, weight, groups = self.pair_shares, part.sample_weight, part.groups
        if shares is not None and len(present) < self.n_classes:
            table = pair_table(shares, self.n_classes)[np.ix_(present, present)]
            shares = PairWeights(table if table.any() else None).shares(
                self.classes[present], part.class_weights[present]
            )
        return replace(
            part,
            columns=part.columns.replace(codes) if codes else part.columns,
            codes=np.searchsorted(present, part.codes).astype(np.int32),
            classes=self.classes[present],
            class_counts=part.class_counts[present],
            sample_weight=None if weight is None else as_counts(weight),
            groups=None if groups is None else np.unique(groups, return_inverse=True)[1],
            pair_shares=shares,
            categories=categories,
        )

    def drop_zero_weight(self) -> "Problem":
        """Return the problem of the rows of positive weight."""
        weight = self.sample_weight
        if weight is None or (weight > 0).all():
            return self
        rows = np.flatnonzero(weight)
        return replace(self.take_rows(rows), sample_weight=as_counts(weight[rows]))


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


DecompositionName = Literal["one-vs-one", "one-vs-rest", "whole"]
DECOMPOSITIONS: tuple[DecompositionName, ...] = get_args(DecompositionName)


@dataclass(frozen=True)
class Decomposition:
    """The sub-problems: "one-vs-one", "one-vs-rest" or "whole", a single one.

    Pairs are in the order (0, 1), (0, 2), ..., (c-2, c-1), single classes in that of their labels.
    """

    name: str
    n_classes: int

    @cached_property
    def n_subproblems(self) -> int:
        """Number of sub-problems."""
        if self.name == "one-vs-one":
            return n_pairs_of(self.n_classes)
        return self.n_classes if self.name == "one-vs-rest" else 1

    @property
    def members(self) -> np.ndarray:
        """Class codes (first, second) of each sub-problem; -1 stands for all other classes."""
        if self.name == "one-vs-one":
            return np.column_stack(np.triu_indices(self.n_classes, 1))
        if self.name == "one-vs-rest":
            return np.column_stack((np.arange(self.n_classes), np.full(self.n_classes, -1)))
        return np.array([[-1, -1]])

    @property
    def roles(self) -> np.ndarray:
        """Local class of every class in every sub-problem (int32), -1 where it is excluded."""
        if self.name == "whole":
            return np.arange(self.n_classes, dtype=np.int32)[np.newaxis]
        outside = -1 if self.name == "one-vs-one" else 1
        roles = np.full((self.n_subproblems, self.n_classes), outside, dtype=np.int32)
        for subproblem, (first, second) in enumerate(self.members):
            roles[subproblem, first] = 0
            if second >= 0:
                roles[subproblem, second] = 1
        return roles

    def names(self, classes: np.ndarray) -> list[str]:
        """Return a readable name of each sub-problem."""
        if self.name == "whole":
            return ["all classes"]
        return [
            f"{classes[first]} vs {classes[second]}" if second >= 0 else f"{classes[first]} vs rest"
            for first, second in self.members
        ]

    def shares(self, class_weights: np.ndarray) -> np.ndarray:
        """Return the share of the samples in the classes of each sub-problem; they sum to 1."""
        if self.name == "whole":
            return np.ones(1)
        counts = np.append(np.asarray(class_weights, dtype=float), 0.0)
        sizes = counts[self.members].sum(axis=1)
        return sizes / sizes.sum()

    def rounds(self) -> np.ndarray:
        """Return the order in which a round-robin visits the sub-problems.

        Pairs are in the order of a tournament (circle method): in every round each class occurs
        once, or all but one if their number is odd.
        """
        if self.name != "one-vs-one":
            return np.arange(self.n_subproblems)
        # Class 0 stays, the others rotate by one place per round; -1 marks a bye.
        table = list(range(self.n_classes)) + [-1] * (self.n_classes % 2)
        order = []
        for _ in range(len(table) - 1):
            half = len(table) // 2
            for a, b in zip(table[:half], reversed(table[half:]), strict=True):
                if a >= 0 and b >= 0:
                    order.append(pair_index(min(a, b), max(a, b), self.n_classes))
            table.insert(1, table.pop())
        return np.array(order, dtype=np.int64)


#: Return the same `Decomposition` again for the same arguments.
decompose: Callable[..., Decomposition] = cache(Decomposition)
