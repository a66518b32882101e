"""Held-out samples: what a selector chooses without them, and the scores that they then get."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mauc.data.problem import Problem
from mauc.evaluation.fold import Fold, Judged, ask_judges
from mauc.evaluation.folds import make_folds, take_splits, warn_of_leaks
from mauc.evaluation.judges import judged_rows
from mauc.exceptions import MaucError
from mauc.selectors.base import RankingSelector

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class HeldOut:
    """What a selector finds without some of the samples, and who judges it on those samples."""

    problem: Problem  #: the samples that were used
    folds: list[tuple[Array, Array]]  #: training and test rows of the problem
    selections: list[Array]  #: features chosen on each training part, best first
    classifier: Any = None  #: that judges; None for the panel
    n_jobs: int | None = None  #: threads

    def ask(
        self,
        columns: Array | None = None,
        added: int | None = None,
        judges: Iterable[str] | None = None,
    ) -> Judged:
        """Ask about `columns`, by default those chosen on each part, and about `added`."""
        sets = self.selections if columns is None else [columns] * len(self.folds)
        if added is not None:
            sets = [used if added in used else np.append(used, added) for used in sets]
        return ask_judges(self.problem, self.folds, sets, self.classifier, judges, self.n_jobs)


def hold_out(
    selector: RankingSelector, problem: Problem, classifier: Any = None, cv: Any = 5
) -> HeldOut:
    """Fit a copy of a selector without each of several parts of the samples, all of weight > 0.

    The parts are those of `mauc.select_k`, and so is the number of features that it chose.
    """
    rows = judged_rows(problem)
    size = len(selector.ranking_) if hasattr(selector, "size_curve_") else None
    with warnings.catch_warnings():
        # fit has given those that matter; smaller parts add some on few samples
        warnings.simplefilter("ignore", UserWarning)
        if len(rows) < problem.n_samples:
            problem, cv = take_part(problem, cv, rows)
        folds = make_folds(problem, cv)
        if len(folds) < 2:
            raise MaucError(f"the page needs at least 2 folds, got {len(folds)}.")
    if size is None:  # else the search of the size has told
        warn_of_leaks(problem, folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        selections = [Fold(problem, *rows).rank(selector, size) for rows in folds]
    return HeldOut(problem, folds, selections, classifier, selector.n_jobs)


def take_part(problem: Problem, cv: Any, rows: Array) -> tuple[Problem, Any]:
    """Return the problem of some of the rows, and `cv` for them."""
    return problem.training_part(rows), take_splits(cv, rows, problem.n_samples)
