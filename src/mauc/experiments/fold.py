"""One fold: seeds from names, the two parts of the data, and the ranking of a selector."""

import contextlib
import random
import warnings
from dataclasses import dataclass
from hashlib import blake2b
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from mauc.datasets import Dataset, coded_columns
from mauc.exceptions import MaucError
from mauc.experiments.methods import build_selector, tell_nominal
from mauc.experiments.plan import Cell, MethodSpec, Plan
from mauc.selectors.base import RankingSelector

_warm: set[tuple[Any, ...]] = set()  # what this process has fitted before
_WARM_ROWS = 30  # of each class, for a first fit that is not timed


def seed_of(*names: object) -> int:
    """Return a seed in [0, 2^32) that is a hash of names, the same on every machine.

    A seed depends on nothing else, so whatever is drawn for these names is the same in any order
    of work, on any number of workers, on any engine.

    Parameters
    ----------
    *names : object
        Words and numbers, such as the plan's seed, the data set, the repeat.

    Examples
    --------
    >>> from mauc.experiments.fold import seed_of
    >>> seed_of(0, "usps", 3) == seed_of(0, "usps", 3)
    True
    >>> seed_of("a", "bc") == seed_of("ab", "c")
    False
    """
    words = "\0".join(str(name) for name in names)
    return int.from_bytes(blake2b(words.encode(), digest_size=4).digest(), "big")


@dataclass(frozen=True)
class Split:
    """The two parts of a fold.

    Parameters
    ----------
    X_train, X_test : ndarray or sparse matrix of shape (n_samples, n_features)
        Codes in nominal columns.
    y_train, y_test : ndarray of shape (n_samples,)
    is_nominal : ndarray of shape (n_features,), bool, optional
        Which columns are nominal, if there are any.
    """

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    is_nominal: np.ndarray | None = None


def split_cell(plan: Plan, cell: Cell, dataset: Dataset) -> Split:
    """Return the training and the test part of a cell."""
    train, test = split_rows(plan, cell, dataset.y)
    (X, is_nominal), y = coded_columns(dataset), dataset.y
    return Split(_safe_indexing(X, train), y[train], _safe_indexing(X, test), y[test], is_nominal)


def split_rows(plan: Plan, cell: Cell, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and the test rows of a cell; `y` are all labels.

    The split is stratified; all selectors, classifiers and folds of a repeat share it. The only
    sample of a class is in every training part: a test part that has it would have nothing to
    learn the class from.
    """
    seed = seed_of(plan.seed, cell.dataset, cell.repeat)
    splitter = StratifiedKFold(plan.folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the run reports classes below n_folds
        train, test = list(splitter.split(np.zeros((len(y), 1)), y))[cell.fold]
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
    """Fit the selector of a spec on the training part.

    The seed and `n_jobs` are for selectors that have them, unless the options of the spec do.

    Returns
    -------
    ranking : ndarray of int
        The best `size` columns, best first.
    seconds : float
        Of the fit, without compilation.
    """
    selector = _make_selector(spec, split, size, seed, n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same text on every cell would drown the run
        _warm_up(spec, selector, split)
        start = perf_counter()
        selector.fit(split.X_train, split.y_train)
        seconds = perf_counter() - start
    return ranking_of(selector)[:size], seconds


def warm_up_selectors(specs: list[MethodSpec], split: Split, size: int) -> None:
    """Fit selectors on some rows, unless this process has done so, in an order of its own.

    Processes that begin with an empty cache then compile different kernels at the same time.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for spec in random.SystemRandom().sample(specs, len(specs)):
            with contextlib.suppress(Exception):  # raised again where it is recorded
                _warm_up(spec, _make_selector(spec, split, size, 0, 1), split)


def _make_selector(spec: MethodSpec, split: Split, size: int, seed: int, n_jobs: int) -> Any:
    selector = tell_nominal(build_selector(spec, size), spec.options, split.is_nominal)
    given = {"n_jobs": n_jobs, "random_state": seed}
    known = selector.get_params()
    return selector.set_params(
        **{key: value for key, value in given.items() if key in known and key not in spec.options}
    )


def ranking_of(selector: BaseEstimator) -> np.ndarray:
    """Return the columns that a fitted selector ranks, best first.

    Selectors of this library have a ranking; any other must have `scores_`, the larger the better,
    of which equal ones go by column. A feature of score minus infinity is not ranked.
    """
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


def _warm_up(spec: MethodSpec, selector: BaseEstimator, split: Split) -> None:
    """Fit once on some rows of each class, so that no timed fit compiles or loads kernels."""
    key = (spec.method, repr(spec.options), getattr(split.X_train, "dtype", None))
    if key in _warm:
        return
    _warm.add(key)
    y = split.y_train
    rows = np.concatenate([np.flatnonzero(y == label)[:_WARM_ROWS] for label in np.unique(y)])
    # The fit on all rows raises the same error, and that is recorded.
    with contextlib.suppress(Exception):
        clone(selector).fit(_safe_indexing(split.X_train, rows), y[rows])
