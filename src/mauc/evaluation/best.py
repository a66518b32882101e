"""Race selectors, sizes and classifiers against each other, and keep the simplest good one."""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import signature
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from mauc.checks import check_int
from mauc.classifiers.base import BaseClassifier, OneHotColumns
from mauc.data.door import FitOptions, make_problem
from mauc.data.frames import leave_out_dates
from mauc.data.problem import Problem
from mauc.data.wishes import WISHES
from mauc.evaluation.fold import Fold, check_sizes, response_of
from mauc.evaluation.folds import make_folds, warn_of_leaks
from mauc.evaluation.judges import MAX_ROWS, stratified_rows
from mauc.exceptions import MaucError, MaucWarning
from mauc.experiments.plan import MethodSpec, Plan, build_classifier, build_selector
from mauc.layout import plain_layout
from mauc.metrics.interval import MAUCInterval, mauc_interval
from mauc.metrics.mauc import score_columns
from mauc.progress import track
from mauc.registry import Accepts
from mauc.results import MAX_ROWS as MAX_SHOWN
from mauc.results import Result, measure_name, plural, short_name
from mauc.selectors.base import RankingSelector
from mauc.selectors.filters import MAUCD

SELECTORS = ("greedy", "mdfs", "mrmr", "maucd")
CLASSIFIERS = ("nb", "logistic", "c45", "1nn", "svm", "boosting")  #: the simplest first
SIZES = (5, 10, 20, 50, 100)
ALL = "all"  #: in place of a selector: all features
MAX_ALL = 1000  # features up to which all of them race
ACCEPTS = Accepts(infinite=True, nominal=True)
MIN_LOSS = 0.001  # of MAUC that is always accepted: near MAUC 1 standard errors vanish
MAX_LOSS = 0.005  # of MAUC that a simpler combination may cost, whatever the standard error
MIN_OUTER = 2  # outer folds that are used even if the time is over

Array = np.ndarray[Any, Any]


class Combination(NamedTuple):
    """What races: a classifier on the first features of a selector's ranking."""

    selector: str
    size: int
    classifier: str


Blocks = Iterator[tuple[int, list[Combination]]]  # a fold, and what is measured on it


def best_subset(
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    time: float | str | None = 300,
    selectors: Any = None,
    sizes: Any = None,
    classifiers: Any = None,
    cv: Any = 5,
    outer: Any = 5,
    random_state: Any = 0,
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
        wins. By default Naive Bayes, logistic regression, C4.5, 1NN, an RBF SVM and gradient
        boosting (scikit-learn's HistGradientBoostingClassifier).
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
    logistic regression, such as gradient boosting, is slow: unless the best exceeds 0.999 it races
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
    with_dates = X
    X, dated = leave_out_dates(X)
    problem = _problem(X, y, groups)
    grid = _Grid(problem, selectors, sizes, classifiers, random_state, n_jobs, dated)
    splits = make_folds(problem, outer, random_state) if outer else []
    warn_of_leaks(problem, splits or make_folds(problem, cv, random_state))

    def run_race(rows: Array, end: float | None = None, until: Any = None) -> "_Race":
        """Race on some rows."""
        rows = rows[stratified_rows(problem.codes[rows], MAX_ROWS)]
        parts = [None if part is None else _safe_indexing(part, rows) for part in (X, y, groups)]
        race = _Race(grid, *parts, cv=cv, end=end)
        race.run(until)
        return race

    def fit(choice: Combination, rows: Array) -> Pipeline:
        pipeline, given = grid.pipeline(choice), {}
        if problem.groups is not None and "select" in pipeline.named_steps:
            given["select__groups"] = problem.groups[rows]
        return pipeline.fit(_safe_indexing(with_dates, rows), _safe_indexing(y, rows), **given)

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
            found = getattr(model, response_of(model[-1]))(_safe_indexing(with_dates, test))
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
        random_state,
        problem.n_samples,
        race.problem.n_samples,
        grid.n_features,
        measure_name(problem.n_classes),
    )


def _problem(X: Any, y: Any, groups: Any) -> Problem:
    return make_problem(X, y, FitOptions(ACCEPTS), None, groups)


def _seconds(time: Any) -> float | None:
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


def _named(what: str, given: Any, default: Any, build: Any) -> dict[str, Any]:
    """Return estimators by short name, or by the name of their class, the second as "MDFS-2"."""
    given = list(default if given is None else [given] if isinstance(given, str) else given)
    texts = [one for one in given if isinstance(one, str)]
    if not given or len({*texts}) < len(texts):
        raise MaucError(f"{what} must be one or more of different names, got {given}.")
    made: dict[str, Any] = {}
    for at, one in enumerate(given):
        name = type(one).__name__
        n_before = sum(type(other).__name__ == name for other in given[:at])
        name += f"-{n_before + 1}" * (n_before > 0)
        made |= {one: build(MethodSpec(one))} if isinstance(one, str) else {name: clone(one)}
    return made


class _Grid:
    """All that may race, by default or as asked for."""

    def __init__(
        self,
        problem: Problem,
        selectors: Any = None,
        sizes: Any = None,
        classifiers: Any = None,
        seed: int = 0,
        n_jobs: int | None = None,
        dated: Any = (),
    ) -> None:
        self.selectors = _named("selectors", selectors, SELECTORS, build_selector)
        for name, selector in self.selectors.items():
            if not isinstance(selector, RankingSelector):
                raise MaucError(f"selectors must be those of mauc, see mauc.registry, got {name}.")
            options = selector.get_params()
            set_options = [option for option, value in options.items() if value is not None]
            if wishes := [one for one in set_options if one.rpartition("__")[2] in WISHES]:
                raise MaucError(
                    f"selectors must be without wishes here, got {wishes[0]} of {name}; "
                    f"drop it, and columns of X instead."
                )
            if "random_state" in {*options} - {*set_options}:
                selector.set_params(random_state=seed)
        self.classifiers = _named("classifiers", classifiers, CLASSIFIERS, build_classifier)
        slow = [name for name, model in self.classifiers.items() if _is_slow(model)]
        self.slow = slow if len(slow) < len(self.classifiers) else []  # unless there is no other
        self.columns = np.setdiff1d(np.arange(problem.n_features), dated)
        self.n_features, self.has_nominal = len(self.columns), bool(problem.is_nominal.any())
        self.leaves_out = self.n_features < problem.n_features
        if sizes is None:
            sizes = [size for size in SIZES if size < self.n_features] or [self.n_features]
        self.sizes = check_sizes(np.unique(sizes), self.n_features, "the number of features")
        self.seed, self.n_jobs = seed, n_jobs

    def combinations(self) -> list[Combination]:
        """Return all combinations: selector by selector, classifier by classifier."""
        sizes = {name: self.sizes.tolist() for name in self.selectors}
        if self.n_features <= MAX_ALL and self.n_features not in self.sizes:
            sizes[ALL] = [self.n_features]
        return [
            Combination(selector, size, classifier)
            for selector, some in sizes.items()
            for classifier in self.classifiers
            for size in some
        ]

    def first(self) -> list[Combination]:
        """Return what races first: all features or, of too many, the largest selection."""
        everything = self.combinations()
        largest = max(everything, key=lambda one: one.size)  # the first of equals
        return [one for one in everything if one[:2] == largest[:2]]

    def quick(self, selector: str) -> list[Combination]:
        """Return the selections of a selector with classifiers that are not slow."""
        some = [one for one in self.combinations() if one.selector == selector]
        return [one for one in some if one.classifier not in self.slow]

    def pipeline(self, choice: Combination) -> Pipeline:
        """Return the unfitted pipeline of a combination."""
        steps, model = [], clone(self.classifiers[choice.classifier])
        if choice.selector != ALL:
            select = clone(self.selectors[choice.selector])
            steps.append(("select", select.set_params(n_features_to_select=choice.size)))
        elif self.leaves_out:  # a selector takes dates of a frame away, a classifier does not
            steps.append(("select", MAUCD("all")))
        if self.has_nominal and not isinstance(model, BaseClassifier):
            steps.append(("encode", OneHotColumns()))
        return Pipeline([*steps, ("classify", model)])


class _Race:
    """MAUC of combinations on the folds of some rows, block by block.

    A block is some combinations on one fold. First all features race with every classifier; then
    the selections of one selector after the other, with quick classifiers; then slow classifiers
    where quick ones did best. So whenever the time ends there are strong combinations that were
    measured on the same folds, and only those are compared.
    """

    def __init__(
        self, grid: _Grid, X: Any, y: Any, groups: Any, *, cv: int, end: float | None = None
    ) -> None:
        self._grid, self._end = grid, end
        self.problem = _problem(X, y, groups)
        self._folds = [
            Fold(self.problem, train, test, n_jobs=grid.n_jobs)
            for train, test in make_folds(self.problem, cv, grid.seed)
        ]
        #: MAUC on the first folds, as many as were tried
        self.mauc: dict[Combination, list[float]] = {}
        self.last = 0, 0  #: the latest stage, and the last of its folds, that were measured
        self.is_finished = False
        self._rankings: dict[tuple[int, str], Array] = {}

    def run(self, until: tuple[int, int] | None = None) -> None:
        """Race to the end, or until the time ends, or as far as another race went."""
        grid = self._grid
        stages = [
            self._first(grid.first()),
            *(self._fold_by_fold(grid.quick(selector)) for selector in grid.selectors),
            *(self._climb(classifier) for classifier in grid.slow),
        ]
        for stage, blocks in enumerate(track(stages, "stages")):
            for fold, wanted in blocks:
                is_needed = stage == fold == 0  # whatever the time: there must be a choice
                is_late = self._end is not None and perf_counter() > self._end
                if (is_late and not is_needed) or (until is not None and (stage, fold) > until):
                    return
                self.measure(fold, wanted)
                self.last = max(self.last, (stage, fold))
        self.is_finished = True

    def _first(self, some: list[Combination]) -> Blocks:
        """Race fold by fold; slow classifiers join as soon as they may gain."""
        waiting = [one for one in some if one.classifier in self._grid.slow]
        some = [one for one in some if one not in waiting]
        for fold in range(len(self._folds)):
            yield fold, some
            if waiting and self._can_gain():
                for earlier in range(fold + 1):
                    yield earlier, waiting
                some, waiting = some + waiting, []
            some = self._near(some, fold + 1, 2.0)

    def _fold_by_fold(self, some: list[Combination]) -> Blocks:
        """Race on one fold after the other, without those that are far behind."""
        for fold in range(len(self._folds)):
            yield fold, some
            some = self._near(some, fold + 1, 2.0)

    def _climb(self, classifier: str) -> Blocks:
        """Race a slow classifier where the best quick one is, then on more features."""
        quick = [one for one in self.mauc if one.classifier not in self._grid.slow]
        best = max(quick, key=lambda one: (len(self.mauc[one]), self._mean(one)))
        found: list[Combination] = []
        if not self._can_gain():
            return
        for one in self._grid.combinations():
            is_ahead = one.size >= best.size and one.selector in (best.selector, ALL)
            if one.classifier == classifier and is_ahead:
                yield 0, [one]
                is_worse = found and self.mauc[one][0] <= self.mauc[found[0]][0]
                if is_worse or not self._near([one], 1, 2.0):
                    break
                found = [one]
        yield from self._fold_by_fold(found)

    def _can_gain(self) -> bool:
        """Whether the best so far leaves more to gain than is always accepted as a loss."""
        return self._mean(self._best(self.n_folds)) <= 1.0 - MIN_LOSS

    @property
    def n_folds(self) -> int:
        """Folds that the choice is made from: those of the combinations with the most."""
        return max(map(len, self.mauc.values()))

    def choose(self) -> Combination:
        """Return the simplest combination that is good enough."""
        n_folds, simplicity = self.n_folds, list(self._grid.classifiers)
        return min(
            self._near(self.mauc, n_folds, 1.0, MAX_LOSS),
            key=lambda one: (one.size, simplicity.index(one.classifier), -self._mean(one)),
        )

    def _near(
        self, some: Iterable[Combination], n_folds: int, n_errors: float, max_loss: float = 1.0
    ) -> list[Combination]:
        """Return those whose mean on the first folds is at most so many errors below the best."""
        best, found = np.array(self.mauc[self._best(n_folds)][:n_folds]), []
        for one in some:
            if len(self.mauc.get(one, ())) < n_folds:
                continue
            losses = best - self.mauc[one][:n_folds]
            if n_folds == 1:  # of both, as the best may be 1 by luck
                mauc = best[0] - 0.5 * losses[0]
                error = np.sqrt(mauc * (1.0 - mauc) / self._n_trials)
            else:
                error = losses.std(ddof=1) / np.sqrt(n_folds)
            if losses.mean() <= min(max(n_errors * error, MIN_LOSS), max_loss):
                found.append(one)
        return found

    @cached_property
    def _n_trials(self) -> float:
        """Rows of the first fold that its error is of, fewer where classes are unequal."""
        counts = np.bincount(self.problem.codes[self._folds[0].test])
        counts = counts[counts > 0]
        return float(len(counts) ** 2 / (1.0 / counts).sum())

    def _best(self, n_folds: int) -> Combination:
        tried = [one for one, found in self.mauc.items() if len(found) >= n_folds]
        return max(tried, key=lambda one: self._mean(one, n_folds))

    def _mean(self, one: Combination, n_folds: int | None = None) -> float:
        return float(np.mean(self.mauc[one][:n_folds]))

    def measure(self, fold: int, wanted: Iterable[Combination]) -> None:
        """Measure what was measured on the folds before, and not yet on this one."""
        wanted = {one for one in wanted if len(self.mauc.get(one, ())) == fold}
        in_order = [one for one in self._grid.combinations() if one in wanted]
        for selector, some in groupby(in_order, lambda one: one.selector):
            asked = self._folds[fold].on(self._ranking(fold, selector))
            for name, group in groupby(some, lambda one: one.classifier):
                model = self._grid.classifiers[name]
                if not isinstance(model, BaseClassifier):
                    model = Pipeline([("classify", model)])  # which gets indicators
                tried = list(group)
                found = asked.mauc(model, [one.size for one in tried], response_of(model))
                for one, mauc in zip(tried, found.tolist(), strict=True):
                    self.mauc.setdefault(one, []).append(mauc)

    def _ranking(self, fold: int, selector: str) -> Array:
        if selector == ALL:
            return self._grid.columns
        if (fold, selector) not in self._rankings:
            chosen, size = self._grid.selectors[selector], int(self._grid.sizes[-1])
            self._rankings[fold, selector] = self._folds[fold].rank(chosen, size)
        return self._rankings[fold, selector]

    def table(self) -> list[tuple[str, int, str, int, float, float]]:
        """Return combinations with folds, mean and standard error, the best first."""
        rows = []
        for one, found in self.mauc.items():
            error = np.std(found, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
            rows.append((*one, len(found), float(np.mean(found)), float(error)))
        return sorted(rows, key=lambda row: (-row[3], -row[4], row[1]))


def _is_slow(classifier: Any) -> bool:
    """Whether fits may take long: neither of this library nor a logistic regression."""
    last = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    return not isinstance(last, BaseClassifier | LogisticRegression)


def _spec(name: str, model: Any) -> MethodSpec:
    """Return what a plan calls a method: its short name, or class and changed parameters."""
    kind = type(model)
    if name.partition("-")[0] != kind.__name__:  # as short names and import paths
        return MethodSpec(name, options={"C": 1.0} if name == "svm" else {})  # else it is tuned
    options = model.get_params(deep=False)
    for key, parameter in signature(kind).parameters.items():
        if key == "n_features_to_select" or repr(options.get(key)) == repr(parameter.default):
            options.pop(key, None)
    try:
        return MethodSpec(name, f"{kind.__module__}.{kind.__qualname__}", options)
    except MaucError as error:
        raise MaucError(f"{name} cannot be written into a plan: {error}") from error


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
    grid, cv, outer, random_state : object, int, int, int
        What could race, on how many folds, without how many outer folds, from which seed.
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
    grid: _Grid
    cv: int
    outer: int
    random_state: int
    n_samples: int
    n_raced: int
    n_features: int
    measure: str = "MAUC"

    def plan(self, dataset: Any) -> Plan:
        """Return the `Plan` of all that could race, on a `DatasetSpec`; it draws its own folds."""
        selectors, classifiers = (
            tuple(_spec(name, model) for name, model in methods.items())
            for methods in (self.grid.selectors, self.grid.classifiers)
        )
        sizes = tuple(sorted({one.size for one in self.grid.combinations()}))
        return Plan(
            f"best of {dataset.name}",
            (dataset,),
            selectors,
            classifiers,
            folds=self.cv,
            repeats=1,
            sizes=sizes,
            seed=self.random_state,
            max_rows=self.n_raced if self.n_raced < self.n_samples else None,
        )

    def report_arguments(self, X: Any, y: Any) -> tuple[Any, dict[str, Any]]:
        """Return selector and options of the page; all features are ranked by MAUCD for it."""
        options = {"classifier": self.grid.classifiers[self.choice.classifier]}
        if self.choice.selector != ALL:
            return self.pipeline[0], options
        title = f"all {self.n_features} features, ranked by MAUCD"
        return MAUCD("all").fit(X, y), {"title": title, **options}

    def report(self, X: Any, y: Any, **options: Any) -> Any:
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
