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
        importances = trees.fit(values.T, codes).feature_importances_
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
    n_free = scores.class_counts.sum() - len(present)
    scale = scores.within_scales()[1][column] * np.sqrt(max(n_free, 1))
    means = scores.sums[present, column] / scores.class_counts[present] * scale
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
        out[columns] = _robust_scores(problem.value_columns(columns))[:, scores.rows]

    for _ in problem.run_blocks(fill, 1, n_jobs, is_dense=True):
        pass
    nominal = np.array(sorted(scores.nominal_squares), np.int64)
    if len(nominal) > 0:
        out[nominal] = scores.scores[nominal]
    return out


def _robust_scores(XT):
    """Return the scores of columns, shape (n_columns, n_samples), int8."""
    values = _in_range(XT.astype(np.float64))
    ordered = np.sort(values, axis=1)  # missing values come last
    n_known = (ordered == ordered).sum(axis=1)
    low, middle, high = (_quantile(ordered, n_known, share) for share in (0.25, 0.5, 0.75))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        spread = (high - low) / _QUARTILE
        deviation = _deviation(ordered, n_known)
        spread = np.where(spread > _MIN_SPREAD * deviation, spread, deviation)
        scaled = (values - middle[:, np.newaxis]) / spread[:, np.newaxis]
    scaled = np.nan_to_num(scaled, nan=0.0, posinf=MAX_SCORE, neginf=-MAX_SCORE)
    return np.rint(np.clip(UNIT * scaled, -MAX_SCORE, MAX_SCORE)).astype(np.int8)


def _in_range(values):
    """Return columns in units in which no square overflows; infinite values become -2 or 2."""
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1)
    exponents = np.frexp(sizes)[1]
    return np.clip(np.ldexp(values, -exponents[:, np.newaxis]), -2.0, 2.0)


def _quantile(ordered, n_known, share):
    """Return a quantile of the known values of every sorted row, between two of them by share."""
    rank = share * np.maximum(n_known - 1, 0)
    below = rank.astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_known - 1, 0))
    rows = np.arange(len(ordered))
    part = rank - below
    return (1.0 - part) * ordered[rows, below] + part * ordered[rows, above]


def _deviation(ordered, n_known):
    """Return the standard deviation of the known values of every row; 0 if there is none."""
    is_known = np.arange(ordered.shape[1]) < n_known[:, np.newaxis]
    known = np.where(is_known, ordered, 0.0)
    n = np.maximum(n_known, 1)[:, np.newaxis]
    mean = known.sum(axis=1, keepdims=True) / n
    squares = np.where(is_known, (known - mean) ** 2, 0.0)
    return np.sqrt(squares.sum(axis=1) / n[:, 0])
