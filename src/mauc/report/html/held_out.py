"""Held-out samples: what a selector chooses without them, and the scores that they then get."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from mauc.data.problem import Problem, make_problem
from mauc.evaluation.evaluate import assign_folds, rank_part
from mauc.evaluation.panel import MAX_ROWS, sample_rows, score_fold, split_fold
from mauc.exceptions import UndefinedMAUCError
from mauc.selectors.base import RankingSelector

N_FOLDS = 5
MAX_VALUES = 10_000_000  # rows x features; of larger tables a part of the rows is judged
MIN_ROWS = 1_000  # that wide tables keep whatever their width

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class HeldOut:
    """What a selector finds without some of the samples, and scores of those samples."""

    problem: Problem  #: the samples that were used
    folds: list[tuple[Array, Array]]  #: training and test rows of the problem
    selections: list[Array]  #: features chosen on each training part, best first
    n_jobs: int | None = None  #: threads

    @property
    def labels(self) -> Array:
        """Labels of the held-out samples, fold after fold."""
        return np.asarray(self.problem.classes[self.problem.codes[self._rows]])

    @property
    def weights(self) -> Array | None:
        """Weights of the held-out samples, or None."""
        weights = self.problem.sample_weight
        return None if weights is None else np.asarray(weights[self._rows])

    @property
    def _rows(self) -> Array:
        return np.concatenate([test for _, test in self.folds])

    def scores(self, judge: str, columns: Array | None = None, added: int | None = None) -> Array:
        """Return the scores of a judge by `columns`, by default those chosen, and by `added`."""
        return self.ask([judge], columns, added)[judge]

    def ask(
        self, judges: Iterable[str], columns: Array | None = None, added: int | None = None
    ) -> dict[str, Array]:
        """Return the scores of several judges."""
        parts: dict[str, list[Array]] = {judge: [] for judge in judges}
        with threadpool_limits(1):  # the same bits on any number of cores
            for (train, test), chosen in zip(self.folds, self.selections, strict=True):
                used = chosen if columns is None else columns
                if added is not None and added not in used:
                    used = np.append(used, added)
                split = split_fold(self.problem, used, train, test, self.n_jobs)
                for judge, found in parts.items():
                    found.append(next(score_fold(judge, split, [len(used)])))
        return {judge: np.concatenate(found) for judge, found in parts.items()}


def drop_zero_weight(selector: RankingSelector, X: Any, problem: Problem) -> tuple[Any, Problem]:
    """Return the data without the rows of weight 0; every class has a row with a weight."""
    if problem.sample_weight is None or (problem.sample_weight > 0).all():
        return X, problem
    return _take_rows(selector, X, problem, np.flatnonzero(problem.sample_weight > 0))


def hold_out(selector: RankingSelector, X: Any, problem: Problem) -> HeldOut:
    """Fit a copy of a selector without each of five parts of the samples, all of weight > 0."""
    n_testable = int((problem.class_counts > 1).sum())
    if n_testable < 2:
        raise UndefinedMAUCError(
            "cross-validation needs at least 2 classes of 2 samples or more, got "
            f"{n_testable} of {problem.n_classes}."
        )
    limit = min(MAX_ROWS, max(MIN_ROWS, MAX_VALUES // problem.n_features))
    rows = sample_rows(problem.codes, limit)
    with warnings.catch_warnings():
        # fit has given those that matter; smaller parts add some on few samples
        warnings.simplefilter("ignore", UserWarning)
        if len(rows) < problem.n_samples:
            X, problem = _take_rows(selector, X, problem, rows)
        folds = split_rows(problem.codes)
        selections = [rank_part(selector, X, problem, train) for train, _ in folds]
    return HeldOut(problem, folds, selections, selector.n_jobs)


def split_rows(codes: Array) -> list[tuple[Array, Array]]:
    """Return training and test rows of stratified folds, assigned by a fixed seed.

    Each training part has all classes; held-out scores are judged together, so a test part need
    not.
    """
    assigned = assign_folds(codes, N_FOLDS, np.random.default_rng(0))
    folds = [fold for fold in range(N_FOLDS) if (assigned == fold).any()]
    return [(np.flatnonzero(assigned != fold), np.flatnonzero(assigned == fold)) for fold in folds]


def _take_rows(
    selector: RankingSelector, X: Any, problem: Problem, rows: Array
) -> tuple[Any, Problem]:
    X = _safe_indexing(X, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fit has given those that matter
        part: Problem = make_problem(
            clone(selector), X, problem.classes[problem.codes[rows]],
            None if problem.sample_weight is None else problem.sample_weight[rows],
            accepts=selector.accepts,
        )  # fmt: skip
    return X, part
