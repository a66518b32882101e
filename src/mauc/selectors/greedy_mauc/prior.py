"""Weights of the features in the greedy search, made of the importances of extra trees."""

import numpy as np

from mauc.data.problem import Problem
from mauc.memory import check_memory
from mauc.parallel import count_threads
from mauc.selectors.greedy_mauc.scores import MAX_SCORE, UNIT, NormalScores

_N_TREES, _SEED = 200, 0
_POWER, _MIN_IMPORTANCE = 0.2, 1e-4
_SMALL_CELLS = 2**26  # below this, free memory is not checked
_BYTES_PER_CELL = 10  # a value, and twice as the float32 that trees read
_QUARTILE = 1.349  # standard deviations between the quartiles of normal values
_MIN_SPREAD = 0.05  # standard deviations: with less, the quartiles tell nothing of most values


def tree_prior(problem: Problem, scores: NormalScores, n_jobs=None) -> np.ndarray:
    """Return weights of the features made of the importances of extra trees."""
    importances = tree_importances(problem, scores, n_jobs)
    largest = importances.max()
    if not largest > 0.0:  # there was nothing to be split
        return np.ones(len(importances))
    return np.maximum(importances / largest, _MIN_IMPORTANCE) ** _POWER


def tree_importances(problem: Problem, scores: NormalScores, n_jobs=None) -> np.ndarray:
    """Return the importances of all features in extremely randomised trees of `value_scores`."""
    from joblib import parallel_config
    from sklearn.ensemble import ExtraTreesClassifier

    n_features, n_kept = len(scores.varies), int(scores.class_counts.sum())
    _check_cells(n_features, n_kept)
    values = value_scores(problem, scores, n_jobs).astype(np.float32)
    values *= _signs(scores)[:, np.newaxis]
    codes = np.repeat(np.arange(len(scores.class_counts)), scores.class_counts)
    trees = ExtraTreesClassifier(_N_TREES, random_state=_SEED, n_jobs=count_threads(n_jobs))
    with parallel_config(backend="threading"):
        weights = None if scores.weights is None else scores.weights[:n_kept]
        importances = trees.fit(values.T, codes, weights).feature_importances_
    for column, confirmed in scores.nominal_squares.items():
        importances[column] *= min(1.0, confirmed / max(_apparent(scores, column), 1e-300))
    return importances


def _signs(scores):
    """Return 1 or -1 for every feature, the other one for its negative."""
    signs = np.zeros(len(scores.varies), np.float32)
    for sums in scores.sums:
        signs = np.where(signs == 0.0, np.sign(sums), signs)
    return np.where(signs == 0.0, 1.0, signs).astype(np.float32)


def _apparent(scores, column):
    """Return the sum over the class pairs of the squared distances of the means of a feature."""
    present = np.flatnonzero(scores.class_counts)
    sizes = scores.class_weights[present]
    n_free = sizes.sum() - len(present)
    scale = scores.within_scales()[1][column] * np.sqrt(max(n_free, 1))
    means = scores.sums[present, column] / sizes * scale
    return float(len(means) * (means**2).sum() - means.sum() ** 2)


def _check_cells(n_features, n_kept):
    """Raise if the values of all features cannot be brought together for the trees."""
    n_cells = n_features * n_kept
    if n_cells > _SMALL_CELLS:
        check_memory(
            _BYTES_PER_CELL * n_cells,
            f'prior="extra_trees": {n_features:,} features x {n_kept:,} samples for the trees',
            "lower max_samples, leave out some features before, or fit with prior=None",
        )


def value_scores(problem: Problem, scores: NormalScores, n_jobs=None) -> np.ndarray:
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
    nominal = np.array(sorted(scores.nominal_squares), np.int64)
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
