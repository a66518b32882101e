"""The race of `best_subset`: what may race, fold by fold, and the simplest that is good enough."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from mauc.classifiers.base import BaseClassifier, OneHotColumns
from mauc.data.problem import Problem
from mauc.data.wishes import WISHES
from mauc.estimator import Ranker
from mauc.evaluation.fold import Fold, check_sizes
from mauc.evaluation.folds import make_folds
from mauc.exceptions import MaucError
from mauc.progress import track
from mauc.registry import Accepts, import_estimator, make_classifier, make_selector

SELECTORS = ("greedy", "mdfs", "mrmr", "maucd")
CLASSIFIERS = ("nb", "logistic", "knn", "svc", "forest", "boosting")  #: the simplest first
SIZES = (5, 10, 20, 50, 100)
ALL = "all"  #: in place of a selector: all features
MAX_ALL = 1000  # features up to which all of them race
ACCEPTS = Accepts(infinite=True, nominal=True)
MIN_LOSS = 0.001  # of MAUC that is always accepted: near MAUC 1 standard errors vanish
MAX_LOSS = 0.005  # of MAUC that a simpler combination may cost, whatever the standard error

Array = np.ndarray
Methods = Sequence[str | BaseEstimator] | str  # short names, import paths or estimators


class Combination(NamedTuple):
    """What races: a classifier on the first features of a selector's ranking."""

    selector: str
    size: int
    classifier: str


Blocks = Iterator[tuple[int, list[Combination]]]  # a fold, and what is measured on it


def _named(
    what: str, given: Methods, make: Callable[[str], BaseEstimator]
) -> dict[str, BaseEstimator]:
    """Return estimators by short name, or by the name of their class, the second as "MDFS-2"."""
    given = [given] if isinstance(given, str) else list(given)
    words = [one for one in given if isinstance(one, str)]
    if not given or len({*words}) < len(words):
        raise MaucError(f"{what} must be one or more of different names, got {given}.")
    made: dict[str, BaseEstimator] = {}
    for at, one in enumerate(given):
        if isinstance(one, str):
            made[one] = import_estimator(what, one) if "." in one else make(one)
            continue
        name = type(one).__name__
        n_before = sum(type(other).__name__ == name for other in given[:at])
        made[f"{name}-{n_before + 1}" if n_before else name] = clone(one)
    return made


class Grid:
    """All that may race, by default or as asked for."""

    def __init__(
        self,
        problem: Problem,
        selectors: Methods | None = None,
        sizes: ArrayLike | None = None,
        classifiers: Methods | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.selectors = _named(
            "selectors", SELECTORS if selectors is None else selectors, make_selector
        )
        for name, selector in self.selectors.items():
            if not isinstance(selector, Ranker):
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
        self.classifiers = _named(
            "classifiers", CLASSIFIERS if classifiers is None else classifiers, make_classifier
        )
        slow = [name for name, model in self.classifiers.items() if _is_slow(model)]
        self.slow: list[str] = (
            slow if len(slow) < len(self.classifiers) else []
        )  # unless there is no other
        self.columns: Array = np.setdiff1d(np.arange(problem.n_features), problem.dated)
        self.n_features: int = len(self.columns)
        self.has_nominal: bool = bool(problem.is_nominal.any())
        self.leaves_out: bool = self.n_features < problem.n_features
        if sizes is None:
            sizes = [size for size in SIZES if size < self.n_features] or [self.n_features]
        self.sizes: Array = check_sizes(np.unique(sizes), self.n_features, "the number of features")
        self.seed: int = seed
        self.n_jobs: int | None = n_jobs

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
            steps.append(("select", make_selector("maucd", "all")))
        if self.has_nominal and not isinstance(model, BaseClassifier):
            steps.append(("encode", OneHotColumns()))
        return Pipeline([*steps, ("classify", model)])


class Race:
    """MAUC of combinations on the folds of some rows, block by block.

    A block is some combinations on one fold. First all features race with every classifier; then
    the selections of one selector after the other, with quick classifiers; then slow classifiers
    where quick ones did best. So whenever the time ends there are strong combinations that were
    measured on the same folds, and only those are compared.
    """

    def __init__(self, grid: Grid, problem: Problem, *, cv: int, end: float | None = None) -> None:
        self._grid, self._end, self.problem = grid, end, problem
        self._folds = [
            Fold(problem, train, test, n_jobs=grid.n_jobs)
            for train, test in make_folds(problem, cv, grid.seed)
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
                if not isinstance(model, BaseClassifier | Pipeline):
                    model = Pipeline([("classify", model)])  # which gets indicators
                tried = list(group)
                found = asked.mauc(model, [one.size for one in tried])
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


def _is_slow(classifier: BaseEstimator) -> bool:
    """Whether fits may take long: neither of this library nor a logistic regression."""
    last = classifier[-1] if isinstance(classifier, Pipeline) else classifier
    return not isinstance(last, BaseClassifier | LogisticRegression)
