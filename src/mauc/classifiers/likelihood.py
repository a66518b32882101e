"""Likelihoods of Naive Bayes, column by column, for the classifier and size curves.

`fit_normals` and `normal_likelihoods` are WEKA's normal densities; `nested_log_probabilities` takes
plain densities, for all subset sizes by a few matrix products.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numba import uintp
from sklearn.utils import gen_batches

from mauc.compile import njit, njit_part
from mauc.data.weights import scale_by_class
from mauc.engine.special import log_normal_cell, normal_cdf

DEFAULT_PRECISION = 0.01  # of a column with fewer than two distinct values
MIN_LIKELIHOOD = 1e-75  # of one column; a smaller largest product is scaled up by its inverse
MIN_SPREAD = 0.05  # of a class, relative to that of all training samples
_MIN_DEVIATION = 1e-10  # WEKA ignores smaller deviations
_MIN_DIVISOR = 2.2250738585072014e-308  # the smallest normal float64
_MAX_VALUE = 1e100  # beyond, squares would overflow
_SMALL_SCALE = 2.0**-700  # of columns with such values
_BLOCK_VALUES = 2**17  # values sorted at a time: they fit the second-level cache

# normal_cdf is below MIN_LIKELIHOOD left of the first and exactly 1 right of the second
_FLOOR_Z = -18.5
_ONE_Z = 8.5


def fit_normals(
    XT: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return scales (powers of two against overflow), precisions, means and deviations by class."""
    n_features, n_samples = XT.shape
    scales, precisions = np.ones(n_features), np.empty(n_features)
    means, deviations = np.empty((2, n_features, n_classes))
    # A block of columns at a time: a sorted copy of all of them would double the memory.
    width = max(1, _BLOCK_VALUES // n_samples)
    for here in gen_batches(n_features, width):
        ordered = np.sort(XT[here], axis=1).astype(np.float64, copy=False)
        _fit_block(
            XT[here],
            ordered,
            codes,
            weights,
            scales[here],
            precisions[here],
            means[here],
            deviations[here],
        )
    return scales, precisions, means, deviations


def nested_log_probabilities(
    X_train: np.ndarray,
    codes: np.ndarray,
    X_test: np.ndarray,
    n_classes: int,
    sizes: Sequence[int],
    weights: np.ndarray,
) -> Iterator[np.ndarray]:
    """Yield the log-probabilities given the first k columns, for each k of the ascending sizes.

    Every class is present in `codes`; NaN is a missing value; weights are positive. The order of
    sums depends on the number of BLAS threads, which the caller keeps at one.
    """
    known = ~np.isnan(X_train)
    members = np.eye(n_classes)[codes].T
    shares = np.ldexp(weights, -np.frexp(weights.max())[1])
    counts = _positive(shares @ known)
    center = shares @ np.where(known, X_train, 0.0) / counts
    Z = np.where(known, X_train - center, 0.0)
    scale = np.sqrt(shares @ Z**2 / counts)
    # Within a class only ratios of weights matter; between them logarithms do not overflow.
    scaled, exponents = scale_by_class(weights, codes, n_classes)
    members *= scaled
    prior = np.log(members.sum(axis=1)) + exponents * np.log(2.0)
    prior -= np.logaddexp.reduce(prior)
    # Standardised, so that nothing cancels; a class without spread must not dominate.
    scale[scale == 0.0] = 1.0
    Z /= scale
    n_known = _positive(members @ known)
    mean = (members @ Z) / n_known
    spread = np.sqrt(np.maximum((members @ Z**2) / n_known - mean**2, MIN_SPREAD**2))
    precision = 1.0 / spread**2
    constant = mean**2 * precision / 2 + np.log(spread)
    is_given = ~np.isnan(X_test)
    is_complete = is_given.all(axis=0)
    Q = np.where(is_given, (X_test - center) / scale, 0.0)
    joint = np.tile(prior, (len(Q), 1))
    start = 0
    for size in sizes:
        part = slice(start, size)
        joint += Q[:, part] @ (mean * precision)[:, part].T
        joint -= Q[:, part] ** 2 @ (precision / 2)[:, part].T
        if is_complete[part].all():
            joint -= constant[:, part].sum(axis=1)
        else:
            joint -= is_given[:, part].astype(np.float64) @ constant[:, part].T
        odds = joint - joint.max(axis=1, keepdims=True)
        yield odds - np.log(np.exp(odds).sum(axis=1, keepdims=True))
        start = size


def _positive(sums: np.ndarray) -> np.ndarray:
    """Return sums of weights, 1 where nothing was summed: all that is divided by it is 0."""
    return np.where(sums > 0.0, sums, 1.0)


@njit
def normal_likelihoods(XT, scales, precisions, means, deviations, is_log, out):
    """Fill `out`, (n_features, n_samples, n_classes), with probabilities of cells; 1 if missing."""
    n_features, n = XT.shape
    n_classes = means.shape[1]
    for j in range(n_features):
        precision, scale = precisions[j], scales[j]
        last = math.nan
        for i in range(uintp(n)):
            value = XT[j, i] * scale
            if math.isnan(value):
                for k in range(uintp(n_classes)):
                    out[j, i, k] = 0.0 if is_log else 1.0
                last = value
                continue
            value = np.rint(value / precision) * precision
            if value == last:  # as in the row before: common in columns with many zeros
                for k in range(uintp(n_classes)):
                    out[j, i, k] = out[j, i - uintp(1), k]
                continue
            last = value
            for k in range(uintp(n_classes)):
                distance, deviation = value - means[j, k], deviations[j, k]
                if is_log:
                    out[j, i, k] = log_normal_cell(distance / deviation, precision / deviation)
                else:
                    out[j, i, k] = _normal_cell(distance, deviation, precision)


@njit
def multiply_likelihoods(likelihoods, joint):
    """Multiply likelihoods, (n_columns, n, n_classes), in order into joint, (n, n_classes)."""
    for column in range(likelihoods.shape[0]):
        for i in range(uintp(joint.shape[0])):
            largest = 0.0
            for k in range(uintp(joint.shape[1])):
                joint[i, k] *= likelihoods[column, i, k]
                largest = max(largest, joint[i, k])
            if 0.0 < largest < MIN_LIKELIHOOD:
                for k in range(uintp(joint.shape[1])):
                    joint[i, k] *= 1e75


def add_log_likelihoods(likelihoods: np.ndarray, joint: np.ndarray) -> None:
    """Add log-likelihoods of columns, in their order, to the joint log-probabilities."""
    for of_column in likelihoods:
        joint += of_column


@njit
def _fit_block(XT, ordered, codes, weights, scales, precisions, means, deviations):
    """Fill the results of some columns; `ordered` holds them sorted, NaN last, and may change."""
    sums = np.empty((means.shape[1], 4))
    for j in range(len(XT)):
        scales[j], precisions[j] = _scale_and_precision(ordered[j])
        _fit_column(XT[j], codes, weights, scales[j], precisions[j], sums, means[j], deviations[j])


@njit_part
def _scale_and_precision(ordered):
    """Return the scale of a sorted column, NaN last, and its mean gap in it; `ordered` changes."""
    n_known, scale = len(ordered), 1.0
    while n_known > 0 and math.isnan(ordered[n_known - 1]):
        n_known -= 1
    if n_known > 0 and max(-ordered[0], ordered[n_known - 1]) > _MAX_VALUE:
        scale = _SMALL_SCALE
        for i in range(n_known):
            ordered[i] *= scale
    total, n_gaps = 0.0, 0
    for i in range(1, n_known):
        if ordered[i] != ordered[i - 1]:
            total += ordered[i] - ordered[i - 1]  # one by one: max - min would round differently
            n_gaps += 1
    return scale, (total / n_gaps if n_gaps > 0 else DEFAULT_PRECISION)


@njit_part
def _fit_column(column, codes, weights, scale, precision, sums, means, deviations):
    """Fill the means and deviations of the classes, shape (n_classes,), of one column.

    A row of `sums` belongs to a class: its weight, the sums of its values and of their squares,
    both relative to its first value (so that a large offset costs no digits), and that value.
    """
    for k in range(len(means)):
        means[k] = 0.0
        deviations[k] = max(precision / 6.0, _MIN_DIVISOR)
        for part in range(3):
            sums[k, part] = 0.0
    for i in range(len(column)):
        _add(column[i] * scale, codes[i], weights[i], precision, sums)
    is_vague = False
    for k in range(len(means)):
        is_vague |= not _set_moments(k, sums, precision, means, deviations)
    if not is_vague:
        return
    # WEKA updates the deviation after each row, unless the new one vanishes: the result is the last
    # one that did not vanish.
    for k in range(len(means)):
        for part in range(3):
            sums[k, part] = 0.0
    for i in range(len(column)):
        if not math.isnan(column[i]):
            _add(column[i] * scale, codes[i], weights[i], precision, sums)
            _set_moments(codes[i], sums, precision, means, deviations)


@njit_part
def _add(value, k, weight, precision, sums):
    """Add a value, rounded to its cell, to the sums of class `k`."""
    if not math.isnan(value):
        value = np.rint(value / precision) * precision
        if sums[k, 0] == 0.0:
            sums[k, 3] = value
        value -= sums[k, 3]
        sums[k, 0] += weight
        sums[k, 1] += value * weight
        sums[k, 2] += value * value * weight


@njit_part
def _set_moments(k, sums, precision, means, deviations):
    """Set the moments of class `k`; return whether its deviation is known for sure."""
    if sums[k, 0] == 0.0:
        return True
    offset = sums[k, 1] / sums[k, 0]
    means[k] = sums[k, 3] + offset
    deviation = math.sqrt(abs(sums[k, 2] - offset * sums[k, 1]) / sums[k, 0])
    if deviation > _MIN_DEVIATION:
        deviations[k] = max(precision / 6.0, deviation)
        return True
    return sums[k, 2] == 0.0  # all values equal: it vanished after every row


@njit_part
def _normal_cell(distance, deviation, precision):
    """Return the probability of the cell at a distance from the mean, `MIN_LIKELIHOOD` at least."""
    half = precision / 2.0
    lower, upper = (distance - half) / deviation, (distance + half) / deviation
    likelihood = 0.0
    if upper > _FLOOR_Z and lower < _ONE_Z:
        likelihood = normal_cdf(upper) - normal_cdf(lower)
    return max(MIN_LIKELIHOOD, likelihood)
