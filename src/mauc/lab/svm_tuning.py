"""Choose C and gamma of the RBF SVM by cross-validated MAUC."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.svm import SVC
from sklearn.utils import _safe_indexing

from mauc.checks import check_choice, check_int
from mauc.classifiers.base import Samples, drop_zero_weight
from mauc.classifiers.svm import RBFSVM, SquaredDistances, unequal
from mauc.data.arguments import CategoricalFeatures, Seed, TableLike
from mauc.data.door import check_generator, check_table
from mauc.data.labels import encode_labels
from mauc.data.nominal import learn_categories
from mauc.exceptions import MaucError, mauc_errors
from mauc.metrics.mauc import ClassPairs
from mauc.parallel import run_blocks

PAPER_C = tuple(2.0**power for power in range(-5, 16, 2))
PAPER_GAMMA = tuple(2.0**power for power in range(-15, 4, 2))
_STRIDE = 3  # of the coarse grid


@dataclass(frozen=True)
class TuningResult:
    """What a search found, and how much of the grid it evaluated.

    Parameters
    ----------
    C, gamma : float
        The best point; of equal ones that of the smallest C, then of the smallest gamma.
    mauc : float
        Its mean MAUC over the folds.
    scores : ndarray of shape (n_C, n_gamma)
        Mean MAUC of every point; NaN where it was not evaluated.
    C_values, gamma_values : ndarray
        The grid, ascending.
    search : {"full", "coarse_to_fine"}
    """

    C: float
    gamma: float
    mauc: float
    scores: np.ndarray
    C_values: np.ndarray
    gamma_values: np.ndarray
    search: str

    @property
    def n_evaluated(self) -> int:
        """Number of grid points that were evaluated."""
        return int(np.count_nonzero(~np.isnan(self.scores)))

    @property
    def is_complete(self) -> bool:
        """Whether the whole grid was evaluated."""
        return self.n_evaluated == self.scores.size

    def classifier(self) -> RBFSVM:
        """Return an unfitted RBFSVM with the parameters found."""
        return RBFSVM(C=self.C, gamma=self.gamma)

    def __str__(self) -> str:
        scope = "all" if self.is_complete else f"{self.n_evaluated} of"
        return (
            f"C = {self.C:g}, gamma = {self.gamma:g}: MAUC {self.mauc:.4f}, the best of "
            f"{scope} {self.scores.size} grid points ({self.search})"
        )

    __repr__ = __str__


def tune_rbf_svm(
    X: TableLike,
    y: ArrayLike,
    *,
    C_values: ArrayLike = PAPER_C,
    gamma_values: ArrayLike = PAPER_GAMMA,
    search: Literal["full", "coarse_to_fine"] = "full",
    n_folds: int = 3,
    groups: ArrayLike | None = None,
    response_method: Literal["predict_proba", "decision_function"] = "predict_proba",
    sample_weight: ArrayLike | None = None,
    categorical_features: CategoricalFeatures = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> TuningResult:
    """Choose C and gamma of `RBFSVM` by cross-validated MAUC.

    The squared distances of a fold are computed once for the whole grid, and a kernel matrix
    once for all C. Where a larger C gives the same machines, to the bit, no bound is active, so
    all still larger ones give them too and are not trained again.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training data: the columns that the classifier will see. NaN is a missing value.
    y : array-like of shape (n_samples,)
    C_values, gamma_values : sequence of float
        The grid; by default the paper's, 2^-5, 2^-3, ..., 2^15 and 2^-15, ..., 2^3.
    search : {"full", "coarse_to_fine"}, default="full"
        "coarse_to_fine" evaluates every third value of both parameters and then, repeatedly,
        the neighbours of the best point, at most a quarter of the grid in all.
    n_folds : int, default=3
    groups : array-like of shape (n_samples,), optional
        What rows belong to, such as a patient: those of a group are on one side of every split.
    response_method : {"predict_proba", "decision_function"}, default="predict_proba"
        What MAUC is computed from: the hard scores of the paper, or the decision values.
    sample_weight : array-like of shape (n_samples,), optional
        For the machines and MAUC; samples of weight 0 count as absent. A sample is in one fold with
        all of its weight.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
    random_state : int, SeedSequence, Generator, RandomState or None, default=0
        Shuffles the samples before they are divided into stratified folds.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Returns
    -------
    result : TuningResult

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mauc.lab import tune_rbf_svm
    >>> X, y = load_iris(return_X_y=True)
    >>> print(tune_rbf_svm(X, y, search="coarse_to_fine"))
    C = 2048, gamma = 0.125: MAUC 0.9752, the best of 25 of 110 grid points (coarse_to_fine)
    """
    check_choice("search", search, ("full", "coarse_to_fine"))
    check_choice("response_method", response_method, ("predict_proba", "decision_function"))
    check_int("n_folds", n_folds, 2)
    C_values = _check_axis("C_values", C_values)
    gamma_values = _check_axis("gamma_values", gamma_values)
    _, table, is_nominal = learn_categories(X, categorical_features)
    table, labels = check_table(table, y, takes_nominal=True)
    nominal = np.flatnonzero(is_nominal)
    if groups is not None and sample_weight is not None:
        groups = np.asarray(groups)[np.asarray(sample_weight) > 0]
    table, labels, weights = drop_zero_weight(table, labels, sample_weight)
    weights = np.ones(len(labels)) if weights is None else weights
    classes, codes, _ = encode_labels(labels)
    with mauc_errors():
        generator = check_generator(random_state)
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        splitter = kind(n_folds, shuffle=True, random_state=generator)
        folds = list(splitter.split(table, codes, groups))
    if groups is not None:  # folds that train on all classes and test two or more
        n_seen = [[len(np.unique(codes[part])) for part in fold] for fold in folds]
        folds = [f for f, (n, m) in zip(folds, n_seen, strict=True) if n == len(classes) and m > 1]
        if not folds:
            raise MaucError("groups must leave a fold all classes to train on and 2 to test.")
    scores = np.full((len(C_values), len(gamma_values)), np.nan)

    def evaluate(wanted: np.ndarray) -> None:
        """Score the points of a mask of the grid."""
        total = np.zeros(scores.shape)
        for train, test in folds:
            samples = Samples(table[train], codes[train], weights[train], len(classes), nominal)
            fold = _TuningFold(samples, table[test], codes[test], weights[test])

            def score_column(j: np.intp, fold: _TuningFold = fold) -> np.ndarray:
                """Score the points of a column of the grid on a fold."""
                return fold.score(gamma_values[j], C_values[wanted[:, j]], response_method)

            for j, values in run_blocks(score_column, np.flatnonzero(wanted.any(axis=0)), n_jobs):
                total[wanted[:, j], j] += values
        scores[wanted] = total[wanted] / len(folds)

    if search == "full":
        evaluate(np.ones(scores.shape, dtype=bool))
    else:
        _search_coarse_to_fine(evaluate, scores, scores.size // 4)
    row, column = np.unravel_index(np.nanargmax(scores), scores.shape)
    return TuningResult(
        float(C_values[row]),
        float(gamma_values[column]),
        float(scores[row, column]),
        scores,
        C_values,
        gamma_values,
        search,
    )


def tune_on_features(
    X: TableLike,
    y: np.ndarray,
    features: np.ndarray,
    is_nominal: np.ndarray | None = None,
    *,
    max_samples: int | None = None,
    groups: np.ndarray | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    **options: Any,
) -> tuple[TuningResult, int]:
    """Tune on some columns, of a stratified sample if there are many rows; return its size, too."""
    if max_samples is not None and len(y) > max_samples:
        rows = _stratified_rows(y, max_samples, check_generator(random_state))
        X, y = _safe_indexing(X, rows), y[rows]
        sample_weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        groups = None if groups is None else groups[rows]
    nominal = None if is_nominal is None else is_nominal[features]
    X = _safe_indexing(X, features, axis=1)
    options |= {"categorical_features": nominal, "random_state": random_state, "groups": groups}
    return tune_rbf_svm(X, y, sample_weight=sample_weight, **options), len(y)


def _stratified_rows(y: np.ndarray, n_rows: int, generator: np.random.RandomState) -> np.ndarray:
    """Return the rows of a stratified sample, ascending; classes of one row are left out."""
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    several = np.flatnonzero(counts[codes] > 1)
    # The sampler needs a sample of every class in the part that is left out.
    size = min(n_rows, len(several) - len(np.unique(codes[several])))
    sampler = StratifiedShuffleSplit(1, train_size=size, random_state=generator)
    rows, _ = next(sampler.split(np.zeros((len(several), 1)), y[several]))
    return np.sort(several[rows])


class _TuningFold:
    """One split of the data: distances computed once."""

    def __init__(
        self, samples: Samples, X_test: np.ndarray, codes_test: np.ndarray, test_weights: np.ndarray
    ) -> None:
        train = RBFSVM().prepare(samples)
        QT, ZT = train.scale(X_test), train.ZT
        self._within = SquaredDistances(ZT).add(range(len(ZT)))
        self._between = SquaredDistances(QT, ZT).add(range(len(QT)))
        self._codes, self._n_classes = samples.codes, samples.n_classes
        self._weights, classes = unequal(samples.weights), np.arange(samples.n_classes)
        self._pairs = ClassPairs(codes_test, classes, unequal(test_weights), name="a fold")

    def score(self, gamma: float, C_values: np.ndarray, response_method: str) -> np.ndarray:
        """Return the MAUC for each of the ascending values of C."""
        within, between = self._within.kernel(gamma), self._between.kernel(gamma)
        values, last = np.empty(len(C_values)), None
        for i, C in enumerate(C_values):
            svc = SVC(C=C, kernel="precomputed").fit(within, self._codes, self._weights)
            if last is not None and _are_same(svc, last):
                values[i:] = values[i - 1]
                break
            values[i] = self._mauc(svc, between, response_method)
            last = svc
        return values

    def _mauc(self, svc: SVC, kernel: np.ndarray, response_method: str) -> float:
        """Return the MAUC of a machine on the test part."""
        if response_method == "predict_proba":
            return self._pairs.mauc(np.eye(self._n_classes)[svc.predict(kernel)])
        # A class that is absent from the training part gets no votes.
        scores = np.full((len(kernel), self._n_classes), -np.inf)
        values = svc.decision_function(kernel)
        scores[:, svc.classes_] = np.column_stack((-values, values)) if values.ndim == 1 else values
        return self._pairs.mauc(scores)


def _search_coarse_to_fine(
    evaluate: Callable[[np.ndarray], None], scores: np.ndarray, n_allowed: int
) -> None:
    """Evaluate a coarse grid, then the neighbours of the best point, while points are allowed."""
    n_allowed = max(1, n_allowed)
    stride = _STRIDE
    while (coarse := _coarse_grid(scores.shape, stride)).sum() > max(1, n_allowed // 2):
        stride += 1
    evaluate(coarse)
    while (n_left := n_allowed - np.count_nonzero(~np.isnan(scores))) > 0:
        # Neighbours of the best point that are not evaluated yet, in grid order.
        row, column = np.unravel_index(np.nanargmax(scores), scores.shape)
        near = np.zeros(scores.shape, dtype=bool)
        near[max(0, row - 1) : row + 2, max(0, column - 1) : column + 2] = True
        near &= np.isnan(scores)
        if not near.any():
            return
        near.flat[np.flatnonzero(near)[n_left:]] = False
        evaluate(near)


def _coarse_grid(shape: tuple[int, ...], stride: int) -> np.ndarray:
    """Return a mask of every `stride`-th row and column, centred."""
    mask = np.zeros(shape, dtype=bool)
    starts = [((n - 1) % stride) // 2 for n in shape]
    mask[starts[0] :: stride, starts[1] :: stride] = True
    return mask


def _are_same(one: SVC, other: SVC) -> bool:
    """Whether two machines are equal to the bit."""
    learned = ("support_", "dual_coef_", "intercept_")
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in learned)


def _check_axis(name: str, values: ArrayLike) -> np.ndarray:
    """Return the values of an axis of the grid, ascending."""
    try:
        grid = np.unique(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.size == 0 or not (np.isfinite(grid) & (grid > 0)).all():
        raise MaucError(f"{name} must be positive numbers, got {values!r}.")
    return grid
