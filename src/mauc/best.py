"""Race selectors, sizes and classifiers against each other, and keep the simplest good one."""

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import groupby
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from mauc.checks import check_int, is_int
from mauc.classifiers.base import BaseClassifier, Indicators, find_categories
from mauc.classifiers.bayes import NormalNaiveBayes
from mauc.classifiers.svm import RBFSVM
from mauc.data.categories import learn_categories
from mauc.data.problem import Problem, make_problem
from mauc.data.validate import check_fitted, check_table
from mauc.evaluation.evaluate import RESPONSES, FoldEvaluator, check_sizes, rank_part
from mauc.evaluation.folds import make_folds, warn_of_leaks
from mauc.evaluation.panel import MAX_ROWS, sample_rows
from mauc.exceptions import MaucError, MaucWarning
from mauc.experiments.plan import MethodSpec, Plan, build_classifier, build_selector
from mauc.layout import plain_layout
from mauc.metrics.interval import MAUCInterval, mauc_interval
from mauc.metrics.mauc import score_columns
from mauc.progress import track
from mauc.registry import Accepts
from mauc.results import MAX_ROWS as MAX_SHOWN
from mauc.results import Result, for_classes, short_name
from mauc.texts import insert_texts

SELECTORS = ("greedy", "mdfs", "mrmr", "maucd")
CLASSIFIERS = ("nb", "logistic", "c45", "1nn", "svm", "boosting")  #: the simplest first
SIZES = (5, 10, 20, 50, 100)
ALL = "all"  #: in place of a selector: all features
MAX_ALL = 1000  # features up to which all of them race
MIN_LOSS = 0.001  # of MAUC that is always accepted: near MAUC 1 standard errors vanish
MAX_LOSS = 0.005  # of MAUC that a simpler combination may cost, whatever the standard error

Array = np.ndarray[Any, Any]


class Combination(NamedTuple):
    """What races: a classifier on the first features of a selector's ranking."""

    selector: str
    size: int
    classifier: str


@insert_texts
def best_subset(
    X: Any, y: Any, *, groups: Any = None, time: float = 300, selectors: Any = None,
    sizes: Any = None, classifiers: Any = None, cv: Any = 5, outer: Any = 5, random_state: Any = 0,
    n_jobs: int | None = None,
) -> "BestSubset":  # fmt: skip
    """Find a small set of features and a classifier for it, and say how good they are.

    Combinations of a selector, a number of features and a classifier race in cross-validation.
    The simplest of those that are as good as the best is fitted on all rows. The whole choice is
    repeated without each of `outer` parts of the rows, which then measure it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        An array or a data frame; columns of a categorical dtype or of strings are nominal, NaN is
        a missing value.
    y : array-like of shape (n_samples,)
    groups : array-like of shape (n_samples,), optional
        What rows belong together, such as a patient; they are in one fold.
    time : float, str or None, default=300
        Seconds, or a text such as "90s", "5m" or "1h", that races and fits may take; what has begun
        is finished. A shorter time tries fewer combinations on fewer folds, so that the result may
        differ between machines. With None all is tried, and the result is always the same.
    selectors : sequence of str or selector, optional
        Short names as in `mauc.registry`, or estimators of this library; GreedyMAUC, MDFS,
        mRMR and MAUCD by default. All features race as well, if there are at most 1000.
    sizes : array-like of int, optional
        Numbers of features, by default those of 5, 10, 20, 50 and 100 that are fewer than all.
    classifiers : sequence of str or classifier, optional
        Short names or estimators, the simplest first: of sets of the same size the first that is
        good enough is taken. By default Naive Bayes, logistic regression, C4.5, 1NN, an RBF SVM
        and gradient boosting.
    cv : int, default=5
        Folds of the race.
    outer : int or None, default=5
        Folds of the honest estimate; None leaves it out and gives the race all the time.
    random_state : int, default=0
        Of folds, and of selectors that draw.
    {n_jobs}

    Returns
    -------
    best : BestSubset
        ``best.pipeline`` is fitted on all rows, ``best.interval`` its honest MAUC.

    Notes
    -----
    Naive Bayes, C4.5 and 1NN race at all sizes of all rankings, fold by fold. After a fold
    those whose mean is more than two standard errors of the paired difference below the best are
    dropped. Every other classifier then races at the sizes that are left, with the selector that
    leads there; after each fold the better half goes on, and at its best size it meets the other
    selectors. Of more than 10,000 rows a stratified sample of so many races; the winner is fitted
    on all.

    Good enough is a combination whose mean is below the best by at most one standard error of the
    paired difference, or 0.001 if that is more, and at most 0.005. Of these the fewest features
    win, then the simplest classifier.

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
    problem = _problem(X, y, groups)
    grid = _Grid.of(problem, selectors, sizes, classifiers, random_state, n_jobs)
    splits = make_folds(problem, outer, random_state) if outer else []
    warn_of_leaks(problem, splits or make_folds(problem, cv, random_state))

    def choose(rows: Array, n_left: int) -> "_Race":
        """Race on some rows; the time that is left is shared with the races to come."""
        now = perf_counter()
        end = None if seconds is None else now + max(start + seconds - now, 0.0) / n_left
        sampled = rows[sample_rows(problem.codes[rows], MAX_ROWS)]
        some_groups = None if groups is None else _safe_indexing(groups, sampled)
        race = _Race(
            grid, _safe_indexing(X, sampled), _safe_indexing(y, sampled), some_groups, cv, end
        )
        race.run()
        return race

    def fit(choice: Combination, rows: Array) -> Pipeline:
        given = {}
        if problem.groups is not None and choice.selector != ALL:
            given["select__groups"] = problem.groups[rows]
        pipeline = grid.pipeline(choice)
        return pipeline.fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **given)

    everything = np.arange(problem.n_samples)
    with threadpool_limits(1), warnings.catch_warnings():  # the same bits on any number of cores
        warnings.simplefilter("ignore", MaucWarning)  # raised above, for all rows
        race = choose(everything, len(splits) + 1)
        choice = race.choose()
        pipeline = fit(choice, everything)
        scores = np.full((problem.n_samples, problem.n_classes), np.nan)
        folds, outer_choices = np.full(problem.n_samples, -1), []
        for fold, (train, test) in enumerate(track(splits, "races", len(splits))):
            outer_choices.append(choose(train, len(splits) - fold).choose())
            model = fit(outer_choices[-1], train)
            found = getattr(model, _response(model[-1]))(_safe_indexing(X, test))
            trained = np.unique(problem.codes[train])
            scores[test] = 0.0
            scores[np.ix_(test, trained)] = score_columns(found, "the scores").T
            folds[test] = fold
    interval, is_tested = None, folds >= 0
    if splits:
        interval = mauc_interval(
            problem.classes[problem.codes[is_tested]], scores[is_tested], labels=problem.classes,
            folds=folds[is_tested] if len(splits) > 1 else None,
            groups=None if problem.groups is None else problem.groups[is_tested],
        )  # fmt: skip
    columns = np.arange(problem.n_features) if choice.selector == ALL else pipeline[0].ranking_
    names = problem.feature_names
    labels = [f"x{column}" for column in columns] if names is None else names[columns].tolist()
    return BestSubset(
        pipeline, choice, [str(label) for label in labels], interval, tuple(outer_choices),
        race.table(), race.is_finished, grid, cv, random_state, problem.n_samples,
        min(race.problem.n_samples, problem.n_samples), problem.n_features,
        for_classes("MAUC", problem.n_classes),
    )  # fmt: skip


def _problem(X: Any, y: Any, groups: Any) -> Problem:
    accepts = Accepts(infinite=True, nominal=True)
    return make_problem(BaseEstimator(), X, y, None, groups, accepts=accepts)


def _seconds(time: Any) -> float | None:
    """Return a time in seconds; None is no limit."""
    if time is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smh]?)\s*", str(time))
    if found is None or isinstance(time, bool) or float(found[1]) == 0.0:
        raise MaucError(f"time must be seconds above 0, or such as 90s, 5m or 1h, got {time!r}.")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[found[2]]


def _response(classifier: Any) -> str:
    """Return what MAUC is computed from; probabilities of Naive Bayes saturate."""
    if isinstance(classifier, NormalNaiveBayes):
        return "predict_log_proba"
    return next((name for name in RESPONSES if hasattr(classifier, name)), RESPONSES[0])


def _named(what: str, given: Iterable[Any], build: Any) -> dict[str, Any]:
    """Return estimators by short name, or by the name of their class."""
    made: dict[str, Any] = {}
    for one in [given] if isinstance(given, str) else given:
        name = one if isinstance(one, str) else type(one).__name__
        if name in made:
            raise MaucError(f"{what} must differ in name, got {name} twice.")
        made[name] = build(MethodSpec(one)) if isinstance(one, str) else clone(one)
    if not made:
        raise MaucError(f"{what} must name at least one.")
    return made


@dataclass(frozen=True)
class _Grid:
    """All that may race."""

    selectors: dict[str, Any]
    sizes: Array
    classifiers: dict[str, Any]
    n_features: int
    has_nominal: bool
    n_jobs: int | None
    seed: int

    @classmethod
    def of(
        cls, problem: Problem, selectors: Any, sizes: Any, classifiers: Any, seed: int,
        n_jobs: int | None,
    ) -> "_Grid":  # fmt: skip
        """Return what races by default, or as asked for."""
        ranked = _named("selectors", selectors or SELECTORS, build_selector)
        for selector in ranked.values():
            if "random_state" in selector.get_params():
                selector.set_params(random_state=seed)
        models = _named("classifiers", classifiers or CLASSIFIERS, build_classifier)
        n_features = problem.n_features
        if sizes is None:
            sizes = [size for size in SIZES if size < n_features] or [n_features]
        elif is_int(sizes):
            sizes = [sizes]
        sizes = np.unique(check_sizes(sizes, n_features, "the number of features"))
        return cls(ranked, sizes, models, n_features, bool(problem.is_nominal.any()), n_jobs, seed)

    def combinations(self, classifier: str) -> list[Combination]:
        """Return the combinations of a classifier."""
        made = [
            Combination(selector, int(size), classifier)
            for selector in self.selectors
            for size in self.sizes
        ]
        if self.n_features <= MAX_ALL and self.n_features not in self.sizes:
            made.append(Combination(ALL, self.n_features, classifier))
        return made

    def pipeline(self, choice: Combination) -> Pipeline:
        """Return the unfitted pipeline of a combination."""
        select: Any = "passthrough"
        if choice.selector != ALL:
            select = clone(self.selectors[choice.selector])
            select.set_params(n_features_to_select=choice.size)
        model = clone(self.classifiers[choice.classifier])
        steps = [("select", select), ("encode", OneHotColumns()), ("classify", model)]
        if isinstance(model, BaseClassifier) or not self.has_nominal:
            del steps[1]
        return Pipeline(steps)


class OneHotColumns(TransformerMixin, BaseEstimator):
    """Replace nominal columns by indicators of their categories, all 0 where a value is missing."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the categories."""
        self._coder, X, is_nominal = learn_categories(X, None)
        X = check_table(X, estimator=self, takes_nominal=True)
        self.nominal_: np.ndarray = np.flatnonzero(is_nominal)
        self._indicators = Indicators(X.shape[1], find_categories(X, self.nominal_))
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns as numbers."""
        check_fitted(self)
        if self._coder.categories:
            X = self._coder.check_table(X)
        X = check_table(self._coder.encode(X), estimator=self, reset=False)
        X = self._indicators.expand(X)
        columns = self._indicators.columns(self.nominal_)
        X[:, columns] = np.nan_to_num(X[:, columns])
        return X


class _Race:
    """MAUC of combinations on the folds of some rows, as far as the time went."""

    def __init__(
        self, grid: _Grid, X: Any, y: Any, groups: Any, cv: int, end: float | None
    ) -> None:
        self._grid, self._X, self._end = grid, X, end
        self.problem = _problem(X, y, groups)
        self._folds = make_folds(self.problem, cv, grid.seed)
        self._rankings: dict[tuple[int, str], Array] = {}
        #: MAUC on the first folds, as many as were tried
        self.mauc: dict[Combination, list[float]] = {}
        self.is_finished = True  #: whether the time was enough
        self.n_fits = 0

    def run(self) -> None:
        """Race all combinations, the cheap classifiers first."""
        cheap = [name for name, model in self._grid.classifiers.items() if _is_cheap(model)]
        self._halve([one for name in cheap for one in self._grid.combinations(name)], False)
        for name in self._grid.classifiers:
            if name not in cheap:
                self._search(name)

    def run_all(self) -> None:
        """Measure every combination on every fold."""
        for name in self._grid.classifiers:
            for fold in range(len(self._folds)):
                self._measure(fold, self._grid.combinations(name))

    def _search(self, name: str) -> None:
        """Race a classifier where it may win: sizes first, then selectors at the best size."""
        mine = self._grid.combinations(name)
        leaders = self._leaders()
        first = [
            one for one in mine
            if one.selector == ALL or leaders.get(one.size, next(iter(self._grid.selectors)))
            == one.selector
        ]  # fmt: skip
        self._halve(first, True)
        tried = [one for one in first if len(self.mauc.get(one, ())) == self._n_tried(first)]
        if tried:
            size = max(tried, key=self._mean).size
            self._halve([one for one in mine if one.size == size], True)

    def _leaders(self) -> dict[int, str]:
        """Return the best selector so far of each size, none of sizes that were dropped."""
        tried = [one for one in self._complete() if one.selector != ALL]
        if not tried:
            return {}
        largest = int(self._grid.sizes[-1])  # at which trees and margins may still gain
        found = {int(size): "" for size in self._grid.sizes if size != largest}
        for one in sorted(tried, key=self._mean):
            found[one.size] = one.selector
        return found

    def _halve(self, alive: list[Combination], is_halved: bool) -> None:
        """Measure combinations fold by fold, and drop those that will not win."""
        for fold in track(range(len(self._folds)), "folds", len(self._folds)):
            self._measure(fold, alive)
            alive = [one for one in alive if len(self.mauc.get(one, ())) > fold]
            if not self.is_finished or not alive:
                return
            alive = self._survivors(alive, fold + 1)
            if is_halved:
                alive = sorted(alive, key=lambda one: -np.mean(self.mauc[one][: fold + 1]))
                alive = alive[: (len(alive) + 1) // 2]

    def _survivors(self, alive: list[Combination], n_folds: int) -> list[Combination]:
        """Return those whose mean is within two standard errors of the best so far."""
        known = {
            one: np.array(found[:n_folds])
            for one, found in self.mauc.items()
            if len(found) >= n_folds
        }
        best = max(known.values(), key=np.mean)
        if n_folds == 1:  # the error of as many trials as rows were tested
            n_tested = len(self._folds[0][1])
            error = float(np.sqrt(max(best[0] * (1.0 - best[0]), 1e-4) / n_tested))
            return [one for one in alive if best[0] - known[one][0] <= 2.0 * error]
        losses = np.array([best - known[one] for one in alive])
        spread = losses.std(axis=1, ddof=1)
        # Few folds may agree by chance: no spread is taken as smaller than the usual one.
        error = np.maximum(spread, np.median(spread)) / np.sqrt(n_folds)
        kept = losses.mean(axis=1) <= 2.0 * error + 0.001
        return [one for one, is_kept in zip(alive, kept, strict=True) if is_kept]

    def _measure(self, fold: int, wanted: Sequence[Combination]) -> None:
        """Measure what was measured on the folds before, and not yet on this one."""
        wanted = [one for one in wanted if len(self.mauc.get(one, ())) == fold]
        for (selector, name), group in groupby(wanted, lambda one: (one.selector, one.classifier)):
            if self.mauc and self._end is not None and perf_counter() > self._end:
                self.is_finished = False
                return
            model = self._grid.classifiers[name]
            ranking = self._ranking(fold, selector)
            sizes = [one.size for one in group if one.size <= len(ranking)]
            if not sizes:
                continue
            train, test = self._folds[fold]
            columns = np.ascontiguousarray(self.problem.value_columns(ranking).T)
            evaluator = FoldEvaluator(
                columns[train], self.problem.codes[train], columns[test], self.problem.codes[test],
                categorical_features=self.problem.is_nominal[ranking], n_jobs=self._grid.n_jobs,
            )  # fmt: skip
            if not isinstance(model, BaseClassifier):
                model = Pipeline([("classify", model)])  # which gets indicators of nominal columns
            order = np.arange(len(ranking))
            try:
                found = evaluator.evaluate(order, sizes, model, response_method=_response(model))
            except MaucError:
                raise
            except Exception as error:  # the classifier is not ours and may raise anything
                raise MaucError(f"{name} cannot be used on these data: {error}") from error
            for size, mauc in zip(sizes, found, strict=True):
                self.mauc.setdefault(Combination(selector, size, name), []).append(float(mauc))
                self.n_fits += 1

    def _ranking(self, fold: int, selector: str) -> Array:
        if selector == ALL:
            return np.arange(self._grid.n_features)
        if (fold, selector) not in self._rankings:
            self._rankings[fold, selector] = rank_part(
                self._grid.selectors[selector], self._X, self.problem, self._folds[fold][0],
                int(self._grid.sizes[-1]),
            )  # fmt: skip
        return self._rankings[fold, selector]

    def _n_tried(self, some: Iterable[Combination]) -> int:
        return max((len(self.mauc.get(one, ())) for one in some), default=0)

    def _mean(self, one: Combination) -> float:
        return float(np.mean(self.mauc[one]))

    def _complete(self) -> list[Combination]:
        """Return the combinations that were tried on the most folds."""
        most = self._n_tried(self.mauc)
        return [one for one, found in self.mauc.items() if len(found) == most]

    def choose(self) -> Combination:
        """Return the simplest combination that is good enough."""
        tried = self._complete()
        best = max(tried, key=self._mean)
        simplicity = list(self._grid.classifiers)
        return min(
            (one for one in tried if self._loss(one, best) <= self._slack(one, best)),
            key=lambda one: (one.size, simplicity.index(one.classifier), -self._mean(one)),
        )

    def _loss(self, one: Combination, best: Combination) -> float:
        return self._mean(best) - self._mean(one)

    def _slack(self, one: Combination, best: Combination) -> float:
        """Return one standard error of the paired difference, within `MIN_LOSS` and `MAX_LOSS`."""
        losses = np.subtract(self.mauc[best], self.mauc[one])
        if len(losses) < 2:
            return 0.0
        error = float(losses.std(ddof=1) / np.sqrt(len(losses)))
        return min(max(error, MIN_LOSS), MAX_LOSS)

    def table(self) -> list[tuple[str, int, str, int, float, float]]:
        """Return combinations with folds, mean and standard error, the best first."""
        rows = []
        for one, found in self.mauc.items():
            error = np.std(found, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else np.nan
            rows.append((*one, len(found), self._mean(one), float(error)))
        return sorted(rows, key=lambda row: (-row[3], -row[4], row[1]))


def _is_cheap(classifier: Any) -> bool:
    """Whether a classifier measures all sizes at once in little time."""
    return "nest" in vars(type(classifier)) and not isinstance(classifier, RBFSVM)


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
        What was chosen without each of the outer folds.
    race : list of tuple
        Selector, size, classifier, folds, mean MAUC and standard error, the best first.
    is_finished : bool
        Whether the time was enough for the race on all rows.
    grid : object
        What could race.
    cv, random_state : int
        As given.
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
    random_state: int
    n_samples: int
    n_raced: int
    n_features: int
    measure: str = "MAUC"

    def plan(self, dataset: Any) -> Plan:
        """Return the `mauc.experiments.Plan` of all that could race, on a `DatasetSpec`."""
        specs = [
            tuple(MethodSpec(name, options=_FIXED.get(name, {})) for name in methods)
            for methods in (self.grid.selectors, self.grid.classifiers)
        ]
        sizes = sorted({one[1] for one in self.race} | {*map(int, self.grid.sizes)})
        return Plan(
            f"best of {dataset.name}", (dataset,), specs[0], specs[1], sizes=tuple(sizes),
            repeats=1, folds=self.cv, seed=self.random_state,
        )  # fmt: skip

    def report(self, X: Any, y: Any, **options: Any) -> Any:
        """Return the page of the choice: `mauc.report.selection_report` with its classifier."""
        if self.choice.selector == ALL:
            raise MaucError("all features were chosen, so there is no selection to report.")
        # By name: reports build on results, not the other way round.
        make = import_module("mauc.report").selection_report
        return make(self.pipeline[0], X, y, **{"classifier": self.pipeline[-1], **options})

    def frame_columns(self) -> dict[str, list[str | int | float]]:
        """Return the columns of `to_frame`, one row per combination that raced."""
        heads = ("selector", "size", "classifier", "folds", "mauc", "standard_error")
        return {head: [row[at] for row in self.race] for at, head in enumerate(heads)}

    def printed_parts(self) -> list[Any]:
        """Return the answer, and the best of the race as a table."""
        shown = ", ".join(short_name(name) for name in self.features[:MAX_SHOWN])
        more = len(self.features) - MAX_SHOWN
        plural = "s" * (self.choice.size > 1)
        lines = [
            f"{self.choice.size} of {self.n_features} feature{plural} by {self.choice.selector}, "
            f"classifier {self.choice.classifier}: {shown}" + f" and {more} more" * (more > 0)
        ]
        if self.interval is not None:
            lines.append(f"On rows that the choice did not see: {self.interval}")
        if self.n_raced < self.n_samples:
            lines.append(f"{self.n_raced} of {self.n_samples} rows raced; all were fitted.")
        if not self.is_finished:
            lines.append("The time was over before the race was; a longer one tries more.")
        rows = [
            [selector, str(size), classifier, str(folds), f"{mauc:.4f}"]
            for selector, size, classifier, folds, mauc, _ in self.race[:MAX_SHOWN]
        ]
        heads = ["selector", "features", "classifier", "folds", self.measure]
        table = plain_layout(heads, rows, len(self.race), right=("features", "folds"))
        return [*lines, table]


#: plans tune an SVM unless they fix its parameters; the race does not
_FIXED = {"svm": {"C": 1.0}}
