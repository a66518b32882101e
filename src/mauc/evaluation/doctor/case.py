"""The table that is examined: what the checks share, and how their findings are worded."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mauc.data.arguments import Seed
from mauc.data.columns import DenseColumns
from mauc.data.problem import Problem
from mauc.data.rows import hash_all_rows
from mauc.evaluation.doctor.findings import Finding
from mauc.evaluation.doctor.kinds import KINDS, TABLE
from mauc.evaluation.folds import Folds, make_folds
from mauc.evaluation.judges import judged_rows
from mauc.measure.pair_auc import chosen_pair_auc
from mauc.results import plural, short_name

Array = np.ndarray

_UNIQUE = "np.unique({}, axis=0, return_inverse=True)[1].ravel()"
# Of a table without columns, one column, some rows, equal rows, rows of other classes, a column
# with missing values in place of a number.
_CODES = {
    "array": (
        "np.delete(X, {}, axis=1)",
        "X[:, {}]",
        "X[{}]",
        _UNIQUE.format("X"),
        "X[y != {0}]",
        "np.where((X == {1!r}) & (np.arange(X.shape[1]) == {0!r}), np.nan, X)",
    ),
    "pandas": (
        "X.drop(columns={})",
        "X[{}]",
        "X.iloc[{}]",
        "X.groupby(list(X), dropna=False).ngroup()",
        "X[y != {0}]",
        "X.replace({{{0!r}: {1!r}}}, np.nan)",
    ),
    "polars": (
        "X.drop({})",
        "X[{}]",
        "X[{}]",
        "X.hash_rows()",
        "X.filter(y != {0})",
        "X.with_columns(X[{0!r}].replace({1!r}, None))",
    ),
    "sparse": (
        "X[:, np.delete(np.arange(X.shape[1]), {})]",
        "X[:, [{}]].toarray().ravel()",
        "X[{}]",
        _UNIQUE.format("X.toarray()"),
        "X[y != {0}]",
        "np.where((X.toarray() == {1!r}) & (np.arange(X.shape[1]) == {0!r}), np.nan, X.toarray())",
    ),
}


class Case:
    """The table that is examined, the rows that judges see, and what was looked for."""

    def __init__(
        self, problem: Problem, kind: str, seed: Seed, n_jobs: int | None, ignored: frozenset[str]
    ) -> None:
        self.problem: Problem = problem
        self.seed: Seed = seed
        self.n_jobs: int | None = n_jobs
        self.code: tuple[str, ...] = _CODES[kind]
        self.ignored = ignored
        self.names: Array = problem.names_of()
        self.pair_auc: Array = chosen_pair_auc(problem, np.arange(problem.n_features), n_jobs)
        self.first: Array
        self.second: Array
        self.first, self.second = np.triu_indices(problem.n_classes, 1)
        self.used: Array = np.ones(problem.n_features, bool)  # columns that are judged
        self._ran: set[str] = set()  # kinds that were looked for
        hashes = hash_all_rows(problem)
        self.all_hashes = hashes
        order = np.lexsort((hashes, problem.codes))  # rows are drawn by what they hold
        self.rows: Array = np.sort(order[judged_rows(replace(problem, codes=problem.codes[order]))])
        self.sample: Problem = problem.take_rows(self.rows)
        self.hashes: Array = hashes[self.rows]
        self.sizes: Array = self.sample.class_counts

    def looks_for(self, *kinds: str) -> bool:
        """Note that kinds are looked for; return whether any of them is not ignored."""
        wanted = {*kinds} - self.ignored
        self._ran |= wanted
        return bool(wanted)

    def finding(
        self,
        kind: str,
        evidence: str,
        next: str,
        codes: Sequence[int] = (),
        columns: Sequence[int] = (),
        rows: Sequence[int] | np.ndarray = (),
    ) -> Finding:
        """Return a finding on classes, columns and rows."""
        classes = tuple(self.problem.classes[np.array(codes, int)].tolist())
        features = tuple(str(self.names[j]) for j in columns)
        rows = tuple(int(row) for row in rows)
        known = KINDS[kind]
        return Finding(known.code, kind, known.severity, classes, features, rows, evidence, next)

    def label(self, code: int) -> str:
        """Return the name of a class."""
        return short_name(self.problem.classes[code])

    def pair(self, at: int) -> str:
        """Return the name of a pair."""
        return f"{self.label(self.first[at])} vs {self.label(self.second[at])}"

    def key(self, column: int) -> str | int:
        """Return what Python calls a column: its name, or its number if it has none."""
        return int(column) if self.problem.feature_names is None else str(self.names[column])

    def drop(self, columns: Sequence[int]) -> str:
        """Return the code that leaves columns out."""
        return f"diagnose({self.code[0].format([self.key(j) for j in columns])}, y)"

    def column(self, column: int) -> str:
        """Return the code of a column."""
        return self.code[1].format(repr(self.key(column)))

    def show(self, rows: Array) -> str:
        """Return the code that shows some rows."""
        return self.code[2].format(rows[:20].tolist())

    def again(self, arguments: str, *codes: int) -> str:
        """Return the code that merges classes or leaves one out; two classes are needed."""
        if self.problem.n_classes == 2:
            return "feature_pair_auc(X, y)"
        labels = [repr(label) for label in self.problem.classes[list(codes)].tolist()]
        return f"diagnose({arguments.format(*labels)})"

    def folds(self, sample: Problem, hashes: Array | None = None) -> Folds:
        """Return folds that do not depend on the order of the rows, unless by groups."""
        if sample.groups is not None:
            return make_folds(sample, 5, self.seed)
        order = np.lexsort((self.hashes if hashes is None else hashes, sample.codes))
        found = make_folds(replace(sample, codes=sample.codes[order]), 5, self.seed)
        return [(np.sort(order[train]), np.sort(order[test])) for train, test in found]

    def checked(self) -> str:
        """Return what was looked at."""
        kinds = [kind.name for kind in TABLE if kind.name in self._ran]
        is_part = "few rows" in self._ran and len(self.rows) < self.problem.n_samples
        part = f" ({len(self.rows):,} judged)" * is_part
        return (
            f"Checked {plural(self.problem.n_samples, 'row')}{part} and "
            f"{plural(self.problem.n_features, 'feature')} for: {', '.join(kinds)}."
        )


def of_values(problem: Problem, X: Array, codes: Array, columns: Array) -> Problem:
    """Return a problem of other rows, with the values X of some columns of a problem."""
    return replace(
        problem,
        columns=DenseColumns(X),
        codes=codes.astype(np.int32),
        class_counts=np.bincount(codes, minlength=problem.n_classes).astype(np.int64),
        is_nominal=problem.is_nominal[columns],
        feature_names=None,
        column_labels=None,
        groups=None,
    )
