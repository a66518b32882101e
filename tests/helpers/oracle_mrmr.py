"""mRMR and its discretisers written as their definitions, with plain loops."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np

from mauc.engine.arrays import log_table
from tests.helpers import oracle_mdl
from tests.helpers.oracle_further import greedy


def mutual_information(a, b):
    """sum_ab p_ab log(p_ab / (p_a p_b)), in nats."""
    n = len(a)
    joint, left, right = Counter(zip(a, b, strict=True)), Counter(a), Counter(b)
    return math.fsum(
        c / n * math.log(Fraction(c * n, left[u] * right[v])) for (u, v), c in joint.items()
    )


def fixed_information(n):
    """Mutual information as the library rounds it: sums of whole numbers, divided once."""
    _, table, unit = log_table(n, 1.0)

    def inform(a, b):
        a, b = np.asarray(a, dtype=np.int64), np.asarray(b, dtype=np.int64)
        joint = np.zeros((a.max() + 1, b.max() + 1), dtype=np.int64)
        np.add.at(joint, (a, b), 1)
        total = table[joint].sum() + table[n]
        total -= table[joint.sum(axis=1)].sum() + table[joint.sum(axis=0)].sum()
        return max(int(total), 0) / (n * unit)

    return inform


def mrmr(D, y, k, quotient, information=mutual_information):
    """Every candidate against every chosen feature at every step; ties by column index."""
    relevance = [information(row, y) for row in D]

    def criterion(f, chosen):
        mean = sum(information(D[f], D[s]) for s in chosen) / len(chosen)
        return relevance[f] / max(mean, 1e-9) if quotient else relevance[f] - mean

    is_constant = [len(set(row)) == 1 for row in D]
    return *greedy(k, relevance, criterion, is_constant), relevance


def three_states(column):
    """Codes and the cuts, in rational arithmetic up to the square root."""
    known = [Fraction(float(x)) for x in column if x == x]
    if not known:
        return np.full(len(column), 3), (0.0, 0.0)
    mean = sum(known) / len(known)
    variance = sum((x - mean) ** 2 for x in known) / max(len(known) - 1, 1)
    low, high = float(mean) - math.sqrt(variance), float(mean) + math.sqrt(variance)

    def state(x):
        if x != x:
            return 3
        # (x - mean)^2 > variance, exactly
        if (Fraction(float(x)) - mean) ** 2 <= variance:
            return 1
        return 0 if Fraction(float(x)) < mean else 2

    codes = [state(x) for x in column]
    if variance > 0 and 0 not in codes and 2 not in codes:
        codes = [c if c == 3 else 1 + (x > mean) for c, x in zip(codes, column, strict=True)]
    return np.array(codes), (low, high)


def equal_frequency(column, n_bins):
    """floor(n_bins * (number of known values below x) / (number of known values))."""
    known = [x for x in column if x == x]
    return np.array(
        [n_bins if x != x else n_bins * sum(v < x for v in known) // len(known) for x in column]
    )


def equal_width(column, n_bins):
    """Index of the interval of width (max - min) / n_bins, the maximum in the last one."""
    known = [Fraction(float(x)) for x in column if x == x]

    def code(x):
        if x != x:
            return n_bins
        low, high = min(known), max(known)
        if low == high:
            return 0
        return min(n_bins - 1, math.floor(n_bins * (Fraction(float(x)) - low) / (high - low)))

    return np.array([code(x) for x in column])


def states_of(X, y, binning, n_bins):
    """Return the states of all columns by one of the binnings."""
    make = {
        "three_states": lambda x: three_states(x)[0],
        "mdl": lambda x: oracle_mdl.bins_of(x, oracle_mdl.cut_points(x, y, y.max() + 1)),
        "equal_width": lambda x: equal_width(x, n_bins),
        "equal_frequency": lambda x: equal_frequency(x, n_bins),
        "none": lambda x: np.unique(x, return_inverse=True)[1],
    }[binning]
    return [make(column).tolist() for column in X.T]
