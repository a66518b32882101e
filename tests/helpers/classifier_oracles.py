"""The classifiers as their definitions read, in plain loops."""

import itertools
import math

import numpy as np
from scipy.special import ndtr


def column_precision(column):
    distinct = sorted({float(x) for x in column if not math.isnan(x)})
    if len(distinct) < 2:
        return 0.01
    total = 0.0
    for below, above in itertools.pairwise(distinct):
        total += above - below
    return total / (len(distinct) - 1)


def round_to(x, precision):
    return np.rint(x / precision) * precision


def running_moments(values, weights, precision):
    """Return mean and deviation of one class, as WEKA updates them value by value."""
    total = total_x = total_xx = mean = 0.0
    deviation = precision / 6
    for x, w in zip(values, weights, strict=True):
        if w == 0 or math.isnan(x):
            continue
        r = round_to(x, precision)
        total += w
        total_x += r * w
        total_xx += r * r * w
        mean = total_x / total
        new = math.sqrt(abs(total_xx - mean * total_x) / total)
        if new > 1e-10:
            deviation = max(precision / 6, new)
    return mean, deviation


def naive_bayes(X, y, X_test, n_classes, nominal=(), weights=None):
    """Return the class probabilities of WEKA's NaiveBayes."""
    weights = np.ones(len(y)) if weights is None else weights
    X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
    totals = [weights[y == k].sum() for k in range(n_classes)]
    out = np.empty((len(X_test), n_classes))
    columns = []
    for j in range(X.shape[1]):
        if j in nominal:
            seen = sorted({float(x) for x in X[:, j] if not math.isnan(x)})
            columns.append(_nominal_table(X[:, j], y, weights, seen, n_classes))
        else:
            p = column_precision(X[:, j])
            columns.append(
                (p, [running_moments(X[y == k, j], weights[y == k], p) for k in range(n_classes)])
            )
    for i, row in enumerate(X_test):
        joint = [(totals[k] + 1) / (sum(totals) + n_classes) for k in range(n_classes)]
        for j, x in enumerate(row):
            if math.isnan(x) or (j in nominal and float(x) not in columns[j]):
                continue
            for k in range(n_classes):
                if j in nominal:
                    likelihood = columns[j][float(x)][k]
                else:
                    p, moments = columns[j]
                    mean, deviation = moments[k]
                    r = round_to(x, p)
                    upper, lower = (r - mean + p / 2) / deviation, (r - mean - p / 2) / deviation
                    likelihood = ndtr(upper) - ndtr(lower)
                joint[k] *= max(1e-75, likelihood)
            if 0 < max(joint) < 1e-75:
                joint = [value * 1e75 for value in joint]
        out[i] = np.array(joint) / sum(joint)
    return out


def _nominal_table(column, y, weights, seen, n_classes):
    counts = {
        v: [1.0 + weights[(column == v) & (y == k)].sum() for k in range(n_classes)] for v in seen
    }
    sums = [sum(counts[v][k] for v in seen) for k in range(n_classes)]
    return {v: [counts[v][k] / sums[k] for k in range(n_classes)] for v in seen}


def nearest(X, x, low, high, nominal=(), min_range=0.0):
    """Return the squared distances of x to the rows of X, summed in column order."""
    total = np.zeros(len(X))
    for j, value in enumerate(x):
        if j in nominal:
            total += value != X[:, j]
        else:
            total += _differences(value, X[:, j], low[j], high[j], min_range) ** 2
    return total


def _differences(value, column, low, high, min_range):
    a, b = (scale(np.asarray(one), low, high, min_range) for one in (value, column))
    known = np.where(np.isnan(b), a, b)
    farthest = np.where(known < 0.5, 1 - known, known)
    one_missing = np.where(np.isnan(known), 1.0, farthest)  # or both
    return np.where(np.isnan(a - b), one_missing, a - b)


def scale(x, low, high, min_range):
    if high == low or high - low < min_range:
        return np.where(np.isnan(x), x, 0.0)
    return (x - low) / (high - low)


def nearest_neighbor(X, y, X_test, n_classes, *, smooth, min_range=0.0, nominal=(), widen=False):
    """Return the scores of IB1 (hard) or IBk with k = 1 (smooth).

    With `widen`, the ranges take in every test row before its distances are computed, and keep
    it, as WEKA does.
    """
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    low, high = np.where(np.isnan(low), 0, low), np.where(np.isnan(high), 0, high)
    out = np.zeros((len(X_test), n_classes))
    for i, x in enumerate(X_test):
        if widen:
            low, high = np.fmin(low, x), np.fmax(high, x)
        distances = nearest(X, x, low, high, nominal, min_range)
        if smooth:
            tied = np.bincount(y[distances == distances.min()], minlength=n_classes)
            out[i] = (1 / len(X) + tied) / (n_classes / len(X) + tied.sum())
        else:
            out[i, y[np.argmin(distances)]] = 1.0
    return out
