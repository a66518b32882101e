"""Weights of the features in the greedy search: given, or importances of an estimator."""

from collections import Counter
from collections.abc import Mapping
from reprlib import repr as short_repr
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from mauc.data.problem import Problem
from mauc.exceptions import MaucError
from mauc.memory import check_memory
from mauc.registry import import_estimator
from mauc.selectors.greedy_mauc.scores import MAX_SCORE, UNIT, NormalScores

_WANTED = "prior must be None, an estimator, its import path or one weight > 0 per feature"
_REMOVED = ("auto", "extra_trees")  # words for trees that GreedyMAUC grew itself
_SEED = 0
_POWER, _MIN_IMPORTANCE = 0.2, 1e-4
_SMALL_CELLS = 2**26  # below this, free memory is not checked
_BYTES_PER_CELL = 10  # a value, its copies, and twice as float32
_QUARTILE = 1.349  # standard deviations between the quartiles of normal values
_MIN_SPREAD = 0.05  # standard deviations: with less, the quartiles tell nothing of most values


def check_prior(prior: Any) -> Any:
    """Return None, an estimator, weights, or weights by name, checked."""
    if prior is None:
        return None
    if isinstance(prior, str):
        if prior in _REMOVED:
            raise MaucError(
                f"{_WANTED}, got {prior!r}: GreedyMAUC grows no trees of its own. Leave prior out, "
                f"or pass ExtraTreesClassifier(200, random_state=0) or the import path "
                f"'sklearn.ensemble.ExtraTreesClassifier'."
            )
        if "." not in prior:
            raise MaucError(f"{_WANTED}, got {prior!r}.")
        return import_estimator("prior", prior)
    if hasattr(prior, "fit") and not isinstance(prior, type):
        return prior
    if isinstance(prior, Mapping):
        names = list(prior)
    elif hasattr(prior, "index") and hasattr(prior, "to_numpy"):  # a Series of pandas
        names = list(prior.index)
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise MaucError(f"prior must name every feature once, got {repeated[0]!r} twice.")
    else:
        return _numbers(prior)
    if not names:
        return {}
    values = prior if hasattr(prior, "to_numpy") else list(prior.values())
    return dict(zip(names, _numbers(values, names).tolist(), strict=True))


def resolve_prior(prior: Any, problem: Problem) -> Any:
    """Return the weights of all features, the largest 1, None or an estimator."""
    if not isinstance(prior, dict | np.ndarray):
        return prior
    weights = _by_column(prior, problem) if isinstance(prior, dict) else prior
    if len(weights) != problem.n_features:
        raise MaucError(
            f"prior must have one weight for each of the {problem.n_features:,} features, got "
            f"{len(weights):,}."
        )
    # A weight that is lost in the division is still positive.
    return np.maximum(weights / weights.max(), np.finfo(np.float64).tiny)


def _numbers(values, names=None):
    """Return weights as an array of finite positive numbers; an error names a wrong one."""
    try:
        weights = np.asarray(values)
        if weights.dtype.kind == "c":
            raise TypeError
        weights = weights.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise MaucError(f"{_WANTED}, got {short_repr(values)}.") from error
    if weights.ndim != 1 or len(weights) == 0:
        shape = f"shape {weights.shape}" if weights.ndim > 0 else short_repr(values)
        raise MaucError(f"{_WANTED}, got {shape}.")
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0.0)))
    if len(wrong) > 0:
        where = f"at position {wrong[0]}" if names is None else f"for {names[wrong[0]]!r}"
        raise MaucError(
            f"prior must have finite weights > 0 (a small one for a feature that is hardly ever "
            f"to be chosen), got {weights[wrong[0]]:g} {where}."
        )
    return weights


def _by_column(by_name, problem):
    """Return weights in the order of the columns, 1 for those without a name in `by_name`."""
    if problem.feature_names is not None:
        names = [str(name) for name in problem.feature_names]
        if list(by_name) == list(range(len(names))):  # a Series without names
            return np.array(list(by_name.values()))
    else:
        names = problem.column_labels or range(problem.n_features)
    unknown = set(by_name) - set(names)
    if unknown:
        has_names = problem.feature_names is not None or problem.column_labels is not None
        how = "features of the data" if has_names else "features without names by column number"
        raise MaucError(
            f"prior must name {how}, got {min(unknown, key=str)!r}, which is none of them."
        )
    return np.array([by_name.get(name, 1.0) for name in names])


def prior_weights(
    prior: Any, problem: Problem, scores: NormalScores, n_jobs: int | None = None
) -> np.ndarray | None:
    """Return the weights of a resolved prior, those of an estimator made of its importances."""
    if prior is None or isinstance(prior, np.ndarray):
        return prior
    importances = learn_importances(prior, problem, scores, n_jobs)
    largest = importances.max()
    if not largest > 0.0:  # there was nothing to be split
        return np.ones(len(importances))
    return np.maximum(importances / largest, _MIN_IMPORTANCE) ** _POWER


def learn_importances(
    estimator: Any, problem: Problem, scores: NormalScores, n_jobs: int | None = None
) -> np.ndarray:
    """Return the importances of all features in an estimator that is fitted on `value_scores`."""
    n_features, n_kept = len(scores.varies), int(scores.class_counts.sum())
    _check_cells(n_features, n_kept)
    values = value_scores(problem, scores, n_jobs) * _signs(scores)[:, np.newaxis]
    codes = np.repeat(np.arange(len(scores.class_counts)), scores.class_counts)
    weights = None if scores.weights is None else scores.weights[:n_kept]
    order = _order_rows(values, codes, weights)
    importances = _fit_importances(
        estimator, values.T[order] / np.float32(UNIT), codes[order],
        None if weights is None else weights[order],
    )  # fmt: skip
    for column, share in scores.nominal_shares.items():
        importances[column] *= share
    return importances


def _order_rows(values, codes, weights):
    """Return an order of the samples by what they hold, so that bootstraps of them are the same."""
    order = np.arange(len(codes)) if weights is None else np.lexsort((weights, codes))
    rows = np.ascontiguousarray(values.T[order]).view(f"V{len(values)}").ravel()
    return order[np.argsort(rows, kind="stable")]


def _fit_importances(estimator, X, codes, weights):
    """Return the importances of a fitted copy of an estimator, or sizes of its coefficients."""
    name, n_features = type(estimator).__name__, X.shape[1]
    try:
        estimator = clone(estimator)
        unseeded = {
            name: _SEED for name, value in estimator.get_params().items()
            if value is None and name.split("__")[-1] == "random_state"
        }  # fmt: skip
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
        found = np.abs(np.atleast_2d(found)).sum(axis=0)
    if found is None or np.shape(found) != (n_features,) or not np.isfinite(found).all():
        got = "nothing" if found is None else f"{np.size(found):,}"
        raise MaucError(
            f"prior must be an estimator that has feature_importances_ or coef_ after fit, finite "
            f"ones of all {n_features:,} features; {name} has {got}."
        )
    return np.array(found, np.float64)


def _signs(scores):
    """Return 1 or -1 for every feature, the other one for its negative."""
    signs = np.zeros(len(scores.varies), np.int8)
    for sums in scores.sums:
        signs = np.where(signs == 0, np.sign(sums), signs)
    return np.where(signs == 0, 1, signs).astype(np.int8)


def _check_cells(n_features, n_kept):
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

    def fill(block):
        columns = np.arange(problem.n_features)[block]
        XT = problem.value_columns(columns)
        out[columns] = _robust_scores(XT, problem.sample_weight)[:, scores.rows]

    for _ in problem.run_blocks(fill, 1, n_jobs, is_dense=True):
        pass
    nominal = np.array(sorted(scores.nominal_shares), np.int64)
    if len(nominal) > 0:
        out[nominal] = scores.scores[nominal]
    return out


def _robust_scores(XT, sample_weight=None):
    """Return the scores of columns, shape (n_columns, n_samples), int8."""
    values = _in_range(XT.astype(np.float64))
    if sample_weight is None:
        ordered, weights = np.sort(values, axis=1), 1.0  # missing values come last
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


def _in_range(values):
    """Return columns in units in which no square overflows; infinite values become -2 or 2."""
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1)
    exponents = np.frexp(sizes)[1]
    return np.clip(np.ldexp(values, -exponents[:, np.newaxis]), -2.0, 2.0)


def _quantile(ordered, weights, share):
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


def _deviation(ordered, weights):
    """Return the standard deviation of the known values of every row; 0 if there is none."""
    known = np.where(weights > 0.0, ordered, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    total[total == 0.0] = 1.0
    mean = (weights * known).sum(axis=1, keepdims=True) / total
    return np.sqrt((weights * (known - mean) ** 2).sum(axis=1) / total[:, 0])
