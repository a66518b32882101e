"""MDL discretisation and its scores written as the definitions, in plain Python loops."""

import math

import numpy as np

LN2 = math.log(2.0)


def ell(v):
    """v ln v, 0 for v <= 0."""
    return v * math.log(v) if v > 0 else 0.0


def entropy(counts):
    """Class entropy in bits."""
    total = sum(counts)
    if total == 0:
        return 0.0
    s = 0.0
    for v in counts:
        s -= ell(v)
    return (s + ell(total)) / (total * LN2)


def split_entropy(left, right):
    """Entropy of the classes given the side, in bits."""
    s = 0.0
    for side in (left, right):
        for v in side:
            s += ell(v)
        s -= ell(sum(side))
    return -s / ((sum(left) + sum(right)) * LN2)


def cut_points(x, y, n_classes, weights=None):
    """All accepted cut points of the known values of one column, ascending."""
    known = ~np.isnan(x)
    weights = np.ones(len(x), int) if weights is None else weights
    order = np.argsort(x[known], kind="stable")
    values = [float(v) for v in x[known][order]]
    codes = [int(k) for k in y[known][order]]
    return _cut_segment(values, codes, weights[known][order].tolist(), 0, len(values), n_classes)


def _cut_segment(values, codes, weights, a, b, n_classes):
    if b - a < 2:
        return []
    total = [0] * n_classes
    for i in range(a, b):
        total[codes[i]] += weights[i]
    prior = entropy(total)
    best, best_i, best_left = prior, -1, None
    left = [0] * n_classes
    n_boundaries = 0
    for i in range(a, b - 1):
        left[codes[i]] += weights[i]
        if values[i] < values[i + 1]:
            n_boundaries += 1
            e = split_entropy(left, [t - v for t, v in zip(total, left, strict=True)])
            if e < best:
                best, best_i, best_left = e, i, list(left)
    if prior - best <= 0:
        return []
    right = [t - v for t, v in zip(total, best_left, strict=True)]
    k, k_left, k_right = (sum(v > 0 for v in c) for c in (total, best_left, right))
    delta = math.log(3.0**k - 2.0) / LN2 - (
        k * prior - k_right * entropy(right) - k_left * entropy(best_left)
    )
    if not prior - best > (math.log(n_boundaries) / LN2 + delta) / sum(total):
        return []
    cut = (values[best_i] + values[best_i + 1]) / 2.0
    return [
        *_cut_segment(values, codes, weights, a, best_i + 1, n_classes),
        cut,
        *_cut_segment(values, codes, weights, best_i + 1, b, n_classes),
    ]


def bins_of(x, cuts):
    """Bin of each value: the number of cuts strictly below it; -1 for missing."""
    return np.array([-1 if v != v else sum(c < v for c in cuts) for v in x.tolist()], dtype=int)


def scores(bins, y, n_bins, n_classes):
    """CHI, SU and IG of a column of bins (-1: missing)."""
    table = np.zeros((n_bins, n_classes))
    missing = np.zeros(n_classes)
    for b, k in zip(bins, y, strict=True):
        if b < 0:
            missing[k] += 1
        else:
            table[b, k] += 1
    if table.sum() == 0:
        return np.zeros(3)
    rows = table.sum(axis=1)
    table = table + np.outer(rows / rows.sum(), missing)
    rows, columns, n = table.sum(axis=1), table.sum(axis=0), table.sum()
    chi = 0.0
    for i in range(n_bins):
        for j in range(n_classes):
            if rows[i] > 1e-6 and columns[j] > 1e-6:
                e = rows[i] * columns[j] / n
                chi += (table[i, j] - e) ** 2 / e
    hc = sum(map(ell, columns)) - ell(n)
    hr = sum(map(ell, rows)) - ell(n)
    hcr = sum(map(ell, table.ravel())) - sum(map(ell, rows))
    su = 0.0 if abs(hc) < 1e-6 or abs(hr) < 1e-6 else 2 * ((hc - hcr) / (hc + hr))
    ig = (hcr - hc) / (n * LN2)
    return np.array([chi, su, ig])


def subproblem(x, y, role):
    """Rows and classes of one sub-problem."""
    local = np.asarray(role)[y]
    keep = local >= 0
    return x[keep], local[keep]


def subproblem_scores(x, y, role):
    """Cut points and scores of one column on one sub-problem."""
    x, y = subproblem(x, y, role)
    n_classes = max(max(role) + 1, 1)
    cuts = cut_points(x, y, n_classes)
    return cuts, scores(bins_of(x, cuts), y, len(cuts) + 1, n_classes)
