"""Robust scores of columns in 8 bits: columns in, values in robust standard deviations out.

Normal scores know the order of values, not how far they are apart. Trees that place their cuts at
random between the smallest and the largest value find a gap between two classes the more often the
wider it is; with few samples, when the order alone separates the classes by many features, that
tells the better ones.
"""

import numpy as np

from mauc.selectors.greedy_mauc.measuring.score_columns import MAX_SCORE, UNIT

_QUARTILE = 1.349  # standard deviations between the quartiles of normal values
_MIN_SPREAD = 0.05  # standard deviations: with less, the quartiles tell nothing of most values


def value_scores(problem, scores, n_jobs=None):
    r"""Return the values of all features in robust standard deviations.

    Parameters
    ----------
    problem : Problem
    scores : NormalScores
        Of the same problem; they tell the rows, and those of nominal features are taken over.
    n_jobs : int, optional

    Returns
    -------
    values : ndarray of shape (n_features, n_kept), int8
        In units of 1/32, the rows sorted by class like the normal scores; missing values are 0.

    Notes
    -----
    The score of a value x is (x - median) / s, clipped to [-3.97, 3.97], where
    :math:`s = (q_3 - q_1) / 1.349` by the quartiles of all rows, or the standard deviation if that
    is more than 20 times as large: most values are equal, or some are very far out. An infinite
    value counts as one just beyond the finite ones. A positive factor and a shift of a column
    change nothing but rounding; sums are of sorted values, so that the order of the rows does not
    matter.
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
    """Return columns times powers of two: finite values within [-1, 1], infinite ones -2 or 2.

    No square overflows then, and none that counts is lost.
    """
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1)
    exponents = np.frexp(sizes)[1]
    return np.clip(np.ldexp(values, -exponents[:, np.newaxis]), -2.0, 2.0)


def _quantile(ordered, n_known, share):
    """Return a quantile of the known values of every sorted row, between two of them by share."""
    place = share * np.maximum(n_known - 1, 0)
    below = place.astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_known - 1, 0))
    rows = np.arange(len(ordered))
    part = place - below
    return (1.0 - part) * ordered[rows, below] + part * ordered[rows, above]


def _deviation(ordered, n_known):
    """Return the standard deviation of the known values of every row; 0 if there is none."""
    is_known = np.arange(ordered.shape[1]) < n_known[:, np.newaxis]
    known = np.where(is_known, ordered, 0.0)
    n = np.maximum(n_known, 1)[:, np.newaxis]
    mean = known.sum(axis=1, keepdims=True) / n
    squares = np.where(is_known, (known - mean) ** 2, 0.0)
    return np.sqrt(squares.sum(axis=1) / n[:, 0])
