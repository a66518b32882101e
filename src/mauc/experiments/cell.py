"""Run one cell: a fold of a data set in, one row per selector, classifier and size out.

All that is drawn in a cell is drawn by hashes of names: its rows depend on nothing else.
"""

import contextlib
import random
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from mauc.data.weights import PairWeights, pair_table
from mauc.data.wishes import WISHES, by_number
from mauc.datasets import Dataset, coded_columns
from mauc.evaluation import FoldEvaluator
from mauc.exceptions import MaucError
from mauc.experiments.plan import (
    Cell,
    Combination,
    MethodSpec,
    Plan,
    TuningSpec,
    build_classifier,
    build_selector,
    takes_nominal,
)
from mauc.experiments.rows import Row, error_text, versions
from mauc.lab.svm_tuning import tune_on_features
from mauc.results import plural
from mauc.selectors.base import RankingSelector

_WARM_ROWS = 30  # of each class, for a first fit that is not timed
_warm: set[tuple[Any, ...]] = set()  # what this process has fitted before


@dataclass(frozen=True)
class Split:
    """The two parts of a fold."""

    X_train: Any  #: array or sparse matrix (n_samples, n_features), codes in nominal columns
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    is_nominal: np.ndarray | None = None  #: bool, a value per column, if there are nominal ones
    groups: np.ndarray | None = None  #: of the training rows
    pair_weight: np.ndarray | None = None  #: (n_classes, n_classes), of the training labels
    names: tuple[str, ...] = ()  #: of the features


@dataclass(frozen=True)
class Tuned:
    """The parameters that a search found."""

    C: float
    gamma: float
    mauc: float  #: cross-validated
    n_evaluated: int  #: points of the grid
    n_samples: int  #: of the data that they were tuned on
    n_features: int


def seed_of(*names: object) -> int:
    """Return a seed in [0, 2^32) that is a hash of names, the same on every machine."""
    words = "\0".join(str(name) for name in names)
    return int.from_bytes(blake2b(words.encode(), digest_size=4).digest(), "big")


def run_cell(
    plan: Plan,
    cell: Cell,
    dataset: Dataset,
    *,
    tuned: Mapping[int, Tuned] | str | None = None,
    wanted: frozenset[Combination] | None = None,
    n_jobs: int = 1,
) -> list[Row]:
    """Return the rows of a cell; `tuned` is what `tune_dataset` found by size, or why it failed."""
    split = split_cell(plan, cell, dataset)
    sizes = sizes_of(plan, dataset.X.shape[1])
    evaluator: FoldEvaluator | None = None
    rows: list[Row] = []
    bases = _base_rows(plan, cell, split.y_train, split.y_test, dataset.X.shape[1], wanted)
    _warm_up([spec for spec, _, _ in bases], split, max(sizes))
    # Groups and budgets make another choice for every size; otherwise rankings are nested.
    parts = [
        (*one, part)
        for one in bases
        for part in ([[size] for size in sizes] if {*WISHES} & {*one[0].options} else [sizes])
    ]
    for spec, classifiers, base, sizes in parts:
        try:
            ranking, seconds = select_features(spec, split, max(sizes), base.seed, n_jobs)
            base = replace(base, select_seconds=seconds)
            evaluator = evaluator or FoldEvaluator(
                split.X_train,
                split.y_train,
                split.X_test,
                split.y_test,
                pair_weight=split.pair_weight,
                n_jobs=n_jobs,
            )
        except Exception as error:  # a failure is a row, the run goes on
            for classifier in classifiers:
                rows += _failed(base, classifier, sizes, error_text(error))
            continue
        # A selector may rank fewer features than it is asked for.
        reached = [size for size in sizes if size <= len(ranking)]
        sizes_of_rows = {}
        if {*WISHES} & {*spec.options}:  # what does not fit is not there
            sizes_of_rows = {len(ranking): sizes[0]}
            reached = sizes = [len(ranking)]
        beyond = error_text(MaucError(f"{spec.name} ranked {plural(len(ranking), 'feature')} only"))
        for classifier in classifiers:
            made: list[Row] = []
            try:
                for model, part in _models(
                    plan, cell, classifier, split, ranking, reached, tuned, base.seed, n_jobs
                ):
                    for one in evaluator.measure(ranking, part, model):
                        made.append(
                            replace(
                                base,
                                classifier=classifier.name,
                                size=sizes_of_rows.get(one.size, one.size),
                                mauc=one.mauc,
                                fit_seconds=one.fit_seconds,
                                score_seconds=one.score_seconds,
                                features=ranking[: one.size],
                                status="ok",
                            )
                        )
            except Exception as error:
                made += _failed(base, classifier, reached[len(made) :], error_text(error))
            rows += made + _failed(base, classifier, sizes[len(reached) :], beyond)
    return rows


def failed_cell(
    plan: Plan,
    cell: Cell,
    parts: tuple[np.ndarray, np.ndarray],
    n_features: int,
    error: str,
    wanted: frozenset[Combination] | None = None,
) -> list[Row]:
    """Return the rows of a cell whose worker returned nothing; `parts` are those of its split."""
    return [
        row
        for _, classifiers, base in _base_rows(plan, cell, *parts, n_features, wanted)
        for classifier in classifiers
        for row in _failed(base, classifier, sizes_of(plan, n_features), error)
    ]


def _base_rows(
    plan: Plan,
    cell: Cell,
    train: np.ndarray,
    test: np.ndarray,
    n_features: int,
    wanted: frozenset[Combination] | None,
) -> list[tuple[MethodSpec, list[MethodSpec], Row]]:
    """Return each selector that is wanted, the classifiers wanted for it, and a row to fill in."""
    found = []
    for spec in plan.selectors:
        classifiers = [
            classifier
            for classifier in plan.classifiers
            if wanted is None or (spec.name, classifier.name) in wanted
        ]
        seed = seed_of(plan.seed, cell.dataset, cell.repeat, cell.fold, spec.name)
        base = Row(
            dataset=cell.dataset,
            repeat=cell.repeat,
            fold=cell.fold,
            selector=spec.name,
            classifier="",
            size=0,
            mauc=np.nan,
            select_seconds=np.nan,
            fit_seconds=np.nan,
            score_seconds=np.nan,
            features=np.empty(0, np.int64),
            status="failed",
            error=None,
            n_train=len(train),
            n_test=len(test),
            n_features=n_features,
            seed=seed,
            versions=versions(),
        )
        if classifiers:
            found.append((spec, classifiers, base))
    return found


def _failed(base: Row, classifier: MethodSpec, sizes: list[int], error: str) -> list[Row]:
    return [replace(base, classifier=classifier.name, size=size, error=error) for size in sizes]


def _models(
    plan: Plan,
    cell: Cell,
    spec: MethodSpec,
    split: Split,
    ranking: np.ndarray,
    sizes: list[int],
    tuned: Mapping[int, Tuned] | str | None,
    seed: int,
    n_jobs: int,
) -> Iterator[tuple[Any, list[int]]]:
    """Yield the classifier with its parameters, and the sizes that share these."""
    classifier = _tell_nominal(build_classifier(spec), spec.options, split.is_nominal)
    if "random_state" in classifier.get_params() and "random_state" not in spec.options:
        # Without the selector, so that all selectors share what the evaluator keeps.
        own_seed = seed_of(plan.seed, cell.dataset, cell.repeat, cell.fold, spec.name)
        classifier.set_params(random_state=own_seed)
    if not spec.is_tuned:
        yield classifier, sizes
        return
    scope = plan.tuning.scope
    if scope.startswith("fold"):
        some = sizes if scope == "fold_size" else sizes[-1:]
        tuned = {size: tune_on(plan.tuning, split, ranking[:size], seed, n_jobs) for size in some}
    if tuned is None:
        raise MaucError(f"scope {scope!r} needs what tune_dataset found.")
    if isinstance(tuned, str):
        raise MaucError(f"the SVM could not be tuned: {tuned}")
    if len(tuned) == 1:
        parts = [(found, sizes) for found in tuned.values()]
    else:
        parts = [(tuned[size], [size]) for size in sizes]
    for found, part in parts:
        yield classifier.set_params(C=found.C, gamma=found.gamma), part


def split_cell(plan: Plan, cell: Cell, dataset: Dataset) -> Split:
    """Return the training and the test part of a cell."""
    train, test = split_rows(plan, cell, dataset.y, dataset.groups)
    (X, is_nominal), y = coded_columns(dataset), dataset.y
    return Split(
        _safe_indexing(X, train),
        y[train],
        _safe_indexing(X, test),
        y[test],
        is_nominal,
        None if dataset.groups is None else dataset.groups[train],
        _pair_weights(plan, cell, y, train),
        tuple(dataset.feature_names),
    )


def _pair_weights(plan: Plan, cell: Cell, y: np.ndarray, train: np.ndarray) -> np.ndarray | None:
    """Return the weights of the class pairs of a training part, None if they are equal."""
    given = next(spec.pair_weight for spec in plan.datasets if spec.name == cell.dataset)
    classes, counts = np.unique(y, return_counts=True)
    table = pair_table(PairWeights(given).shares(classes, counts.astype(float)), len(classes))
    present = np.flatnonzero(np.isin(classes, y[train]))
    return None if table is None else table[np.ix_(present, present)]


def split_rows(
    plan: Plan, cell: Cell, y: np.ndarray, groups: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and the test rows of a cell by the labels, and groups, of all rows.

    All folds of a repeat share the split. The only sample of a class is in every training part: a
    test part that has it would have nothing to learn the class from. Groups stay together: of a
    class whose groups are all in the test part nothing is tested.
    """
    seed = seed_of(plan.seed, cell.dataset, cell.repeat)
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    splitter = kind(plan.folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the run reports classes below n_folds
        train, test = list(splitter.split(np.zeros((len(y), 1)), y, groups))[cell.fold]
    if groups is not None:
        return train, test[np.isin(y[test], y[train])]
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    is_single = counts[codes[test]] == 1
    if is_single.any():
        train = np.sort(np.concatenate([train, test[is_single]]))
        test = test[~is_single]
    return train, test


def sizes_of(plan: Plan, n_features: int) -> list[int]:
    """Return the sizes for a data set with this many features; at least one."""
    return [size for size in plan.sizes if size <= n_features] or [n_features]


def select_features(
    spec: MethodSpec, split: Split, size: int, seed: int, n_jobs: int
) -> tuple[np.ndarray, float]:
    """Return the best columns by a selector, best first, and the seconds of its fit."""
    selector = _make_selector(spec, split, size, seed, n_jobs)
    is_ours = isinstance(selector, RankingSelector)
    given = {"groups": split.groups} if is_ours and split.groups is not None else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same text on every cell would drown the run
        start = perf_counter()
        selector.fit(split.X_train, split.y_train, **given)
        seconds = perf_counter() - start
    return ranking_of(selector)[:size], seconds


def _warm_up(specs: list[MethodSpec], split: Split, size: int) -> None:
    """Fit selectors on some rows of each class, so that no timed fit compiles or loads kernels."""
    y = split.y_train
    rows = np.concatenate([np.flatnonzero(y == label)[:_WARM_ROWS] for label in np.unique(y)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Drawn: processes with an empty cache compile different kernels at the same time.
        for spec in random.SystemRandom().sample(specs, len(specs)):
            key = (spec.method, repr(spec.options), getattr(split.X_train, "dtype", None))
            if key in _warm:
                continue
            _warm.add(key)
            # The fit on all rows raises the same error, and that is recorded.
            with contextlib.suppress(Exception):
                selector = _make_selector(spec, split, size, 0, 1)
                selector.fit(_safe_indexing(split.X_train, rows), y[rows])


def _make_selector(spec: MethodSpec, split: Split, size: int, seed: int, n_jobs: int) -> Any:
    selector = _tell_nominal(build_selector(spec, size), spec.options, split.is_nominal)
    given = {"n_jobs": n_jobs, "random_state": seed, "pair_weight": split.pair_weight}
    known = selector.get_params()
    wishes = {name: wish for name, wish in spec.options.items() if name in WISHES}
    if wishes and isinstance(selector, RankingSelector):
        selector.set_params(**by_number(wishes, split.names))
    return selector.set_params(
        **{key: value for key, value in given.items() if key in known and key not in spec.options}
    )


def _tell_nominal(method: Any, options: Any, is_nominal: Any) -> Any:
    """Tell a method which columns are nominal, if it takes them and was told of none."""
    if is_nominal is not None and takes_nominal(method) and "categorical_features" not in options:
        method.set_params(categorical_features=is_nominal)
    return method


def ranking_of(selector: BaseEstimator) -> np.ndarray:
    """Return the columns that a fitted selector ranks, best first; equal scores go by column."""
    if isinstance(selector, RankingSelector):
        return np.asarray(selector.ranking_)
    scores = getattr(selector, "scores_", None)
    if scores is None or np.ndim(scores) != 1:
        raise MaucError(
            f"{type(selector).__name__} must have scores_, one per feature, to be ranked by."
        )
    # NaN, the score of a constant column in scikit-learn, sorts last.
    scores = np.asarray(scores, dtype=float)
    return np.argsort(-scores, kind="stable")[: np.count_nonzero(scores != -np.inf)]


def tune_dataset(plan: Plan, name: str, dataset: Dataset, n_jobs: int = 1) -> dict[int, Tuned]:
    """Return what is tuned on the first cell: for all sizes, or for one (scope "dataset")."""
    split = split_cell(plan, Cell(name, 0, 0), dataset)
    sizes = sizes_of(plan, dataset.X.shape[1])
    seed = seed_of(plan.seed, name, "tuning")
    ranking, _ = select_features(plan.selectors[0], split, max(sizes), seed, n_jobs)
    if plan.tuning.scope == "dataset":
        middle = sizes[len(sizes) // 2]
        sizes = [min(plan.tuning.size or middle, len(ranking))]
    return {size: tune_on(plan.tuning, split, ranking[:size], seed, n_jobs) for size in sizes}


def tune_on(
    tuning: TuningSpec, split: Split, features: np.ndarray, seed: int, n_jobs: int = 1
) -> Tuned:
    """Tune on the columns `features` of the training part, on a stratified sample of many rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the run reports classes below n_folds
        found, n_samples = tune_on_features(
            split.X_train,
            split.y_train,
            features,
            split.is_nominal,
            random_state=seed,
            max_samples=tuning.max_samples,
            search=tuning.search,
            n_folds=tuning.n_folds,
            groups=split.groups,
            n_jobs=n_jobs,
        )
    return Tuned(
        C=float(found.C),
        gamma=float(found.gamma),
        mauc=float(found.mauc),
        n_evaluated=found.n_evaluated,
        n_samples=n_samples,
        n_features=len(features),
    )
