"""Race selectors, sizes and classifiers against each other, and keep the simplest good one."""

import re
import warnings
from dataclasses import dataclass
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from mauc.checks import check_int
from mauc.data.arguments import TableLike
from mauc.data.door import FitOptions, make_problem
from mauc.evaluation.fold import response_of
from mauc.evaluation.folds import make_folds, warn_of_leaks
from mauc.evaluation.judges import MAX_ROWS, stratified_rows
from mauc.evaluation.race import (
    ACCEPTS,
    ALL,
    Array,
    Combination,
    Grid,
    Methods,
    Race,
)
from mauc.exceptions import MaucError, MaucWarning
from mauc.layout import plain_layout
from mauc.metrics.interval import MAUCInterval, mauc_interval
from mauc.metrics.mauc import score_columns
from mauc.progress import track
from mauc.registry import make_selector
from mauc.results import MAX_ROWS as MAX_SHOWN
from mauc.results import Result, plural, short_name

MIN_OUTER = 2  # outer folds that are used even if the time is over


def best_subset(
    X: ArrayLike,
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    time: float | str | None = 300,
    selectors: Methods | None = None,
    sizes: ArrayLike | None = None,
    classifiers: Methods | None = None,
    cv: int = 5,
    outer: int | None = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> "BestSubset":
    """Find a small set of features and a classifier for it, and say how good they are.

    Selectors, numbers of features and classifiers race in cross-validation; the simplest of those
    combinations that are as good as the best is fitted on all rows. The whole choice is repeated
    without each of `outer` parts of the rows, which then measure it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        An array or a data frame; columns of a categorical dtype or of strings are nominal, NaN is
        a missing value.
    y : array-like of shape (n_samples,)
    groups : array-like of shape (n_samples,), optional
        What rows belong together, such as a patient; they are in one fold.
    time : float, str or None, default=300
        Seconds, or a text such as "90s", "5m" or "1h"; what has begun is finished. A shorter time
        tries fewer combinations on fewer folds, so that results may differ between machines. With
        None no race is cut short, and the result is always the same. However short the time is, all
        features race on one fold, and two outer folds are used.
    selectors : sequence of str or selector, optional
        Short names as in `mauc.registry`, or estimators of this library; GreedyMAUC, MDFS,
        mRMR and MAUCD by default. All features race as well, if there are at most 1000. Selectors
        race without `keep`, `exclude`, `feature_groups`, `feature_costs` and `budget`.
    sizes : array-like of int, optional
        Numbers of features, by default those of 5, 10, 20, 50 and 100 that are fewer than all.
    classifiers : sequence of str or classifier, optional
        Short names or estimators, the simplest first: of equal sizes the first that is good enough
        wins. By default Naive Bayes and, of scikit-learn, logistic regression, the 5 nearest
        neighbours, a support vector machine (SVC, which has ``decision_function`` and no
        ``predict_proba``), a random forest and HistGradientBoostingClassifier.
    cv : int, default=5
        Folds of the race.
    outer : int or None, default=5
        Folds of the honest estimate; None leaves it out and gives the race all the time.
    random_state : int, default=0
        Of folds, and of selectors that draw and have no `random_state` of their own.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Returns
    -------
    best : BestSubset
        ``best.pipeline`` is fitted on all rows, ``best.interval`` its honest MAUC.

    Notes
    -----
    All features race first, with every classifier (if there are more than 1000, the largest
    selection of the first selector does); then the selections of one selector after the other. They
    race fold by fold; after a fold those whose mean is more than two standard errors of the paired
    difference below the best are dropped. A classifier that is neither of this library nor a
    logistic regression, such as a random forest, is slow: unless the best exceeds 0.999 it races
    with all features, and at the end with the selector and size of the best other classifier on
    the first fold, then with more features while they gain, and the best of these on the other
    folds. Of more than 10,000 rows a stratified sample of 10,000 races; the winner is fitted on
    all.

    The choice is made from the combinations that were measured on the same folds: all of them or,
    if the time ended before, those that all features were measured on. Good enough is one whose
    mean is below the best by at most one standard error of the paired difference, or 0.001 if that
    is more, and at most 0.005. Of these the fewest features win, then the simplest classifier.

    The race on all rows gets its share of the time; the races without an outer fold measure what it
    did, however long that takes, so that they choose as it does. If the time is over, the outer
    folds that are left are not used.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import best_subset
    >>> X, y = load_wine(return_X_y=True)
    >>> best = best_subset(X, y, classifiers=["nb", "1nn"], cv=3, outer=3, time=None)
    >>> best.choice
    Combination(selector='mdfs', size=10, classifier='nb')
    >>> best.pipeline.predict_proba(X).shape
    (178, 3)
    """
    seconds, start = _seconds(time), perf_counter()
    check_int("random_state", random_state, 0)
    check_int("cv", cv, 2)
    check_int("outer", outer, 2, optional=True)
    problem = make_problem(X, y, FitOptions(ACCEPTS, dates="warn"), None, groups)
    grid = Grid(problem, selectors, sizes, classifiers, random_state, n_jobs)
    splits = make_folds(problem, outer, random_state) if outer else []
    warn_of_leaks(problem, splits or make_folds(problem, cv, random_state))

    def run_race(
        rows: Array, end: float | None = None, until: tuple[int, int] | None = None
    ) -> Race:
        """Race on some rows."""
        rows = rows[stratified_rows(problem.codes[rows], MAX_ROWS)]
        race = Race(grid, problem.training_part(rows), cv=cv, end=end)
        race.run(until)
        return race

    def fit(choice: Combination, rows: Array) -> Pipeline:
        """Return the pipeline of a combination, fitted on some rows."""
        pipeline, given = grid.pipeline(choice), {}
        if problem.groups is not None and "select" in pipeline.named_steps:
            given["select__groups"] = problem.groups[rows]
        return pipeline.fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **given)

    everything = np.arange(problem.n_samples)
    scores = np.zeros((problem.n_samples, problem.n_classes))
    folds, outer_choices = np.full(problem.n_samples, -1), []
    with threadpool_limits(1), warnings.catch_warnings():  # the same bits on any number of cores
        warnings.simplefilter("ignore", MaucWarning)  # raised above, for all rows
        share = None if seconds is None else seconds / (len(splits) + 1)
        race = run_race(everything, None if share is None else start + share)
        choice = race.choose()
        pipeline = fit(choice, everything)
        until = None if race.is_finished else race.last  # the same blocks, so as good a choice
        for fold, (train, test) in enumerate(track(splits, "races", len(splits))):
            is_over = seconds is not None and perf_counter() > start + seconds
            n_tested = len(np.unique(problem.codes[folds >= 0]))
            if is_over and fold >= MIN_OUTER and n_tested == problem.n_classes:
                break
            outer_choices.append(run_race(train, until=until).choose())
            model = fit(outer_choices[-1], train)
            found = getattr(model, response_of(model[-1]))(_safe_indexing(X, test))
            trained = np.unique(problem.codes[train])
            scores[np.ix_(test, trained)] = score_columns(found, "the scores").T
            folds[test] = fold
    interval, is_tested = None, folds >= 0
    if splits:
        interval = mauc_interval(
            problem.classes[problem.codes[is_tested]],
            scores[is_tested],
            labels=problem.classes,
            folds=folds[is_tested],
            groups=None if problem.groups is None else problem.groups[is_tested],
        )
    columns = grid.columns if choice.selector == ALL else pipeline[0].ranking_
    names = problem.feature_names
    labels = [str(f"x{column}" if names is None else names[column]) for column in columns]
    return BestSubset(
        pipeline,
        choice,
        labels,
        interval,
        tuple(outer_choices),
        race.table(),
        race.is_finished,
        grid,
        cv,
        len(splits),
        problem.n_samples,
        race.problem.n_samples,
        grid.n_features,
        problem.measure,
    )


def _seconds(time: float | str | None) -> float | None:
    """Return a time in seconds; None is no limit."""
    if time is None:
        return None
    seconds = 0.0
    if isinstance(time, float | np.floating):
        seconds = float(time)
    elif found := re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smh]?)\s*", str(time)):
        seconds = float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]
    if not 0.0 < seconds < np.inf:
        raise MaucError(f"time must be seconds above 0, or such as 90s, 5m or 1h, got {time!r}.")
    return seconds


@dataclass(frozen=True, repr=False)
class BestSubset(Result):
    """What `best_subset` found.

    Parameters
    ----------
    pipeline : Pipeline
        Selector and classifier, fitted on all rows.
    choice : Combination
        Names of both, and the number of features.
    features : list of str
        The features, best first.
    interval : MAUCInterval or None
        MAUC of the whole choice on rows that it did not see.
    outer_choices : tuple of Combination
        What was chosen without each of the outer folds; of fewer than `outer` if the time ended.
    race : list of tuple
        Selector, size, classifier, folds, mean MAUC and standard error, the best first.
    is_finished : bool
        Whether the time was enough for the race on all rows.
    grid, cv, outer : Grid, int, int
        What could race, on how many folds, and without how many outer folds.
    n_samples, n_raced, n_features : int
        Rows, rows that raced, and columns.
    measure : str
        "MAUC", or "AUC" of two classes.
    """

    pipeline: Pipeline
    choice: Combination
    features: list[str]
    interval: MAUCInterval | None
    outer_choices: tuple[Combination, ...]
    race: list[tuple[str, int, str, int, float, float]]
    is_finished: bool
    grid: Grid
    cv: int
    outer: int
    n_samples: int
    n_raced: int
    n_features: int
    measure: str = "MAUC"

    def report_arguments(self, X: TableLike, y: ArrayLike) -> tuple[Any, dict[str, Any]]:
        """Return selector and options of the page; all features are ranked by MAUCD for it."""
        options = {"classifier": self.grid.classifiers[self.choice.classifier]}
        if self.choice.selector != ALL:
            return self.pipeline[0], options
        title = f"all {self.n_features} features, ranked by MAUCD"
        return make_selector("maucd", "all").fit(X, y), {"title": title, **options}

    def report(self, X: TableLike, y: ArrayLike, **options: Any) -> Any:
        """Return the page of the choice: `mauc.report.selection_report` with its classifier."""
        # By name: reports build on results, not the other way round.
        make, (selector, given) = import_module("mauc.report"), self.report_arguments(X, y)
        return make.selection_report(selector, X, y, **{**given, **options})

    @property
    def n_folds(self) -> int:
        """Folds of the race that the choice was made from."""
        return max(row[3] for row in self.race)

    @property
    def n_compared(self) -> int:
        """Combinations that were measured on all of these folds."""
        return sum(row[3] == self.n_folds for row in self.race)

    def frame_columns(self) -> dict[str, list[str | int | float]]:
        """Return the columns of `to_frame`, one row per combination that raced."""
        heads = ("selector", "size", "classifier", "folds", "mauc", "standard_error")
        return {head: [row[at] for row in self.race] for at, head in enumerate(heads)}

    def printed_parts(self) -> list[Any]:
        """Return the answer, and the best of the race as a table."""
        shown = ", ".join(short_name(name) for name in self.features[:MAX_SHOWN])
        more = len(self.features) - MAX_SHOWN
        total, (selector, size, classifier) = self.n_features, self.choice
        n_compared, n_all = self.n_compared, len(self.grid.combinations())
        folds = f"{self.n_folds} of " * (self.n_folds < self.cv) + f"{self.cv} folds"
        lines = [
            f"{size} of {plural(total, 'feature')} by {selector}, classifier {classifier}: "
            f"{shown}" + f" and {more} more" * (more > 0),
            f"It is the simplest that is not clearly worse than the best of "
            f"{plural(n_compared, 'combination')} (of {n_all}) measured on the same {folds}.",
        ]
        if not self.is_finished:
            lines.append("Time ran out; a longer limit tries more.")
        if self.interval is not None:
            n_outer = len(self.outer_choices)
            some = f" ({n_outer} of {self.outer} outer folds)" * (n_outer < self.outer)
            lines.append(f"On rows that the choice did not see{some}: {self.interval}")
        if self.n_raced < self.n_samples:
            lines.append(f"{self.n_raced} of {self.n_samples} rows raced; all were fitted.")
        rows = [
            [*map(str, row[:4]), f"{row[4]:.4f}", "chosen" * (row[:3] == self.choice)]
            for row in self.race
            if row[:3] == self.choice or row in self.race[:MAX_SHOWN]
        ]
        heads = ["selector", "features", "classifier", "folds", self.measure, ""]
        table = plain_layout(heads, rows, len(self.race), right=("features", "folds"))
        return [*lines, table]
