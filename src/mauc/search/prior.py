"""Weights of the features in the greedy search: the importances of an estimator."""

from reprlib import repr as short_repr

import numpy as np
from joblib import parallel_config
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from mauc.data.problem import Problem
from mauc.exceptions import MaucError
from mauc.measure.normal_scores import MAX_SCORE, UNIT, NormalScores
from mauc.memory import check_memory

_SEED = 0
_POWER, _MIN_IMPORTANCE = 0.2, 1e-4
_SMALL_CELLS = 2**26  # below this, free memory is not checked
_BYTES_PER_CELL = 10  # a value, its copies, and twice as float32
_QUARTILE = 1.349  # standard deviations between the quartiles of normal values
_MIN_SPREAD = 0.05  # standard deviations: with less, the quartiles tell nothing of most values


def check_prior(prior: object) -> BaseEstimator:
    """Return an estimator, checked."""
    if hasattr(prior, "fit") and not isinstance(prior, type):
        return prior
    raise MaucError(
        f"prior must be None or an estimator with feature_importances_ or coef_ after fit, such as "
        f"ExtraTreesClassifier(200, random_state=0), got {short_repr(prior)}."
    )


def prior_weights(
    prior: BaseEstimator, problem: Problem, scores: NormalScores, n_jobs: int | None = None
) -> np.ndarray:
    """Return the weights of all features, made of the importances of an estimator."""
    importances = learn_importances(prior, problem, scores, n_jobs)
    largest = importances.max()
    if not largest > 0.0:  # there was nothing to be split
        return np.ones(len(importances))
    return np.maximum(importances / largest, _MIN_IMPORTANCE) ** _POWER


def learn_importances(
    estimator: BaseEstimator, problem: Problem, scores: NormalScores, n_jobs: int | None = None
) -> np.ndarray:
    """Return the importances of all features in an estimator that is fitted on `value_scores`."""
    n_features, n_kept = len(scores.varies), int(scores.class_counts.sum())
    _check_cells(n_features, n_kept)
    values = value_scores(problem, scores, n_jobs) * _signs(scores)[:, np.newaxis]
    codes = np.repeat(np.arange(len(scores.class_counts)), scores.class_counts)
    weights = None if scores.weights is None else scores.weights[:n_kept]
    order = _order_rows(values, codes, weights)
    importances = _fit_importances(
        estimator,
        values.T[order] / np.float32(UNIT),
        codes[order],
        None if weights is None else weights[order],
    )
    for column, known in scores.nominal.items():
        importances[column] *= known.share
    return importances


def _order_rows(values: np.ndarray, codes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return an order of the samples by what they hold, so that bootstraps of them are the same."""
    order = np.arange(len(codes)) if weights is None else np.lexsort((weights, codes))
    rows = np.ascontiguousarray(values.T[order]).view(f"V{len(values)}").ravel()
    return order[np.argsort(rows, kind="stable")]


def _fit_importances(
    estimator: BaseEstimator, X: np.ndarray, codes: np.ndarray, weights: np.ndarray | None
) -> np.ndarray:
    """Return the importances of a fitted copy of an estimator, or sizes of its coefficients."""
    name, n_features = type(estimator).__name__, X.shape[1]
    try:
        estimator = clone(estimator)
        unseeded = {
            name: _SEED
            for name, value in estimator.get_params().items()
            if value is None and name.split("__")[-1] == "random_state"
        }
        last, prefix = estimator.set_params(**unseeded), ""
        while hasattr(last, "steps"):  # of a pipeline
            step, last = last.steps[-1]
            prefix += f"{step}__"
        takes_weights = weights is not None and has_fit_parameter(last, "sample_weight")
        given = {f"{prefix}sample_weight": weights} if takes_weights else {}
        with parallel_config(backend="threading"):
            estimator.fit(X, codes, **given)
    except Exception as error:  # the estimator is not ours and may raise anything
        raise MaucError(
            f"prior must be an estimator that can be fitted; {name}: {error}"
        ) from error
    found = getattr(last, "feature_importances_", None)
    if found is None and (found := getattr(last, "coef_", None)) is not None:
        found = np.abs(np.atleast_2d(np.asarray(found))).sum(axis=0)
    if found is None or np.shape(found) != (n_features,) or not np.isfinite(found).all():
        got = "nothing" if found is None else f"{np.size(found):,}"
        raise MaucError(
            f"prior must be an estimator that has feature_importances_ or coef_ after fit, finite "
            f"ones of all {n_features:,} features; {name} has {got}."
        )
    return np.array(found, np.float64)


def _signs(scores: NormalScores) -> np.ndarray:
    """Return 1 or -1 for every feature, the other one for its negative."""
    signs = np.zeros(len(scores.varies), np.int8)
    for sums in scores.sums:
        signs = np.where(signs == 0, np.sign(sums), signs)
    return np.where(signs == 0, 1, signs).astype(np.int8)


def _check_cells(n_features: int, n_kept: int) -> None:
    """Raise if the values of all features cannot be brought together for the estimator."""
    n_cells = n_features * n_kept
    if n_cells > _SMALL_CELLS:
        check_memory(
            _BYTES_PER_CELL * n_cells,
            f"prior: {n_features:,} features x {n_kept:,} samples for the estimator",
            "lower max_samples, leave out some features before, or fit with prior=None",
        )


def value_scores(problem: Problem, scores: NormalScores, n_jobs: int | None = None) -> np.ndarray:
    """Return the values of all features in robust standard deviations, as bytes like the scores.

    Sums are of sorted values, so that the order of the rows does not matter. Nominal features keep
    their normal scores.
    """
    out = np.zeros((problem.n_features, len(scores.rows)), np.int8)

    for _ in problem.map(_score_block, scores.rows, out=(out,), n_jobs=n_jobs, is_dense=True):
        pass
    nominal = np.array(sorted(scores.nominal), np.int64)
    if len(nominal) > 0:
        out[nominal] = scores.scores[nominal]
    return out


def _score_block(problem: Problem, block: slice, rows: np.ndarray, out: np.ndarray) -> None:
    """Write the scores of some columns in the rows that are kept."""
    out[:] = _robust_scores(problem.value_columns(block), problem.sample_weight)[:, rows]


def _robust_scores(XT: np.ndarray, sample_weight: np.ndarray | None = None) -> np.ndarray:
    """Return the scores of columns, shape (n_columns, n_samples), int8."""
    values = _in_range(XT.astype(np.float64))
    if sample_weight is None:
        ordered, weights = np.sort(values, axis=1), np.ones(1)  # missing values come last
    else:
        order = np.argsort(values, axis=1)
        ordered, weights = np.take_along_axis(values, order, axis=1), sample_weight[order]
    weights = np.where(ordered == ordered, weights, 0.0)
    low, middle, high = (_quantile(ordered, weights, share) for share in (0.25, 0.5, 0.75))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        spread = (high - low) / _QUARTILE
        deviation = _deviation(ordered, weights)
        spread = np.where(spread > _MIN_SPREAD * deviation, spread, deviation)
        scaled = (values - middle[:, np.newaxis]) / spread[:, np.newaxis]
    scaled = np.nan_to_num(scaled, nan=0.0, posinf=MAX_SCORE, neginf=-MAX_SCORE)
    return np.rint(np.clip(UNIT * scaled, -MAX_SCORE, MAX_SCORE)).astype(np.int8)


def _in_range(values: np.ndarray) -> np.ndarray:
    """Return columns in units in which no square overflows; infinite values become -2 or 2."""
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1)
    exponents = np.frexp(sizes)[1]
    return np.clip(np.ldexp(values, -exponents[:, np.newaxis]), -2.0, 2.0)


def _quantile(ordered: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """Return a quantile of the known values of every sorted row, between two of them by share."""
    ends = np.cumsum(weights, axis=1)
    last = np.maximum(ends[:, -1:] - 1.0, 0.0)
    rank = share * last
    below = np.floor(rank)
    low, high = (
        # The value that covers this rank, counted from 0, of as many rows as the weights say.
        np.take_along_axis(ordered, np.argmax(ends > at, axis=1)[:, np.newaxis], axis=1)[:, 0]
        for at in (below, np.minimum(below + 1.0, last))
    )
    part = (rank - below)[:, 0]
    return (1.0 - part) * low + part * high


def _deviation(ordered: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the known values of every row; 0 if there is none."""
    known = np.where(weights > 0.0, ordered, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    total[total == 0.0] = 1.0
    mean = (weights * known).sum(axis=1, keepdims=True) / total
    return np.sqrt((weights * (known - mean) ** 2).sum(axis=1) / total[:, 0])
