"""What leaving out features costs at most, on rows that had no say in the choice."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mauc.data.arguments import Classifier, Splits, TableLike
from mauc.data.columns import is_frame
from mauc.data.door import check_columns, make_problem
from mauc.data.problem import Problem
from mauc.data.training_rows import Recognised, TrainingRows
from mauc.estimator import Ranker
from mauc.evaluation.fold import Judged, ask_judges
from mauc.evaluation.folds import make_folds
from mauc.evaluation.judges import judged_rows
from mauc.exceptions import MaucError
from mauc.metrics.compare import MAUCComparison, compare_mauc
from mauc.results import Result, measure_name, plural


@dataclass(frozen=True, repr=False)
class Certificate(Result):
    """A bound on the loss of MAUC by leaving out features; made by a selector's ``certificate``.

    Parameters
    ----------
    n_selected, n_features : int
    judge : str
        The classifier that was trained on all features, and on the selected ones.
    comparison : MAUCComparison
        Of the selected features (a) with all features (b), on the same rows.
    """

    n_selected: int
    n_features: int
    judge: str
    comparison: MAUCComparison

    @property
    def loss(self) -> float:
        """MAUC of all features less that of the selected ones."""
        return -self.comparison.difference

    @property
    def bound(self) -> float:
        """The largest loss that the rows are consistent with, at the level of the comparison."""
        return -self.comparison.lower

    @property
    def sentence(self) -> str:
        """The bound in words, rounded up."""
        left_out = (
            f"Leaving out {self.n_features - self.n_selected:,} of {self.n_features:,} features"
        )
        sure = f"({100 * self.comparison.level:g} %, by {self.judge})"
        bound = math.ceil(1000 * self.bound - 1e-9) / 1000
        measure = measure_name(len(self.comparison.classes))
        if bound < 0:
            return f"{left_out} raises {measure} by at least {-bound:.3f} {sure}."
        return f"{left_out} costs at most {bound:.3f} {measure} {sure}."

    def frame_columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`: the AUCs of every pair with both sets of features."""
        return self.comparison.frame_columns()

    def printed_parts(self) -> list[Any]:
        """Return the sentence."""
        return [self.sentence]


def certify(
    selector: Ranker,
    X: TableLike,
    y: ArrayLike,
    estimator: Classifier | None,
    sample_weight: ArrayLike | None,
    groups: ArrayLike | None,
    cv: Splits,
    level: float,
) -> Certificate:
    """Bound the loss of a fitted selector on other rows, by cross-validation among them."""
    ranking = selector.ranking_
    if len(ranking) == selector.n_features_in_:
        raise MaucError("all features are selected: a certificate is about those left out.")
    if is_frame(X):
        check_columns(X, selector)
    options = replace(selector.fit_options, dates="leave_out")
    problem = make_problem(X, y, options, sample_weight, groups)
    if problem.n_features != selector.n_features_in_:
        raise MaucError(
            f"X must have {plural(selector.n_features_in_, 'feature')} (as in fit), got "
            f"{problem.n_features}."
        )
    if found := _is_training(selector, problem):
        raise MaucError(
            f"X must hold rows that the selector was not fitted on, but {found.sentence}: a choice "
            f"is not judged by the rows that made it. Pass rows that were kept apart."
        )
    problem = problem.drop_zero_weight()
    folds = make_folds(problem, cv)
    if estimator is None:  # the panel takes a part of a large table
        is_judged = np.zeros(problem.n_samples, bool)
        is_judged[judged_rows(problem)] = True
        folds = [(train[is_judged[train]], test[is_judged[test]]) for train, test in folds]
    chosen, every = (
        ask_judges(problem, folds, [columns] * len(folds), estimator, n_jobs=selector.n_jobs)
        for columns in (ranking, np.arange(problem.n_features))
    )
    return bound_loss(problem, chosen, every, len(ranking), level)


def bound_loss(
    problem: Problem, chosen: Judged, every: Judged, n_selected: int, level: float = 0.95
) -> Certificate:
    """Compare what the judge that does best with all features makes of the chosen ones.

    Another judge may do better with the chosen features, so that the loss is not understated.
    """
    judge = every.best
    options = every.pooled(problem)
    comparison = compare_mauc(
        scores_a=np.concatenate(chosen.scores[judge]),
        scores_b=np.concatenate(every.scores[judge]),
        alternative="noninferior",
        level=level,
        **options,
    )
    return Certificate(n_selected, problem.n_features, every.judges[judge], comparison)


def _is_training(selector: Ranker, problem: Problem) -> Recognised | None:
    """Return how many rows are those of the fit, if they are clearly more than by chance."""
    fitted = selector._training_rows
    given = None if fitted is None else TrainingRows.of(problem, selector.n_jobs)
    if fitted is None or given is None:
        return None
    found: Recognised = fitted.recognise(given)
    return found if found.is_clear or given.digest == fitted.digest else None
