"""ReliefF written as its definition: plain loops, one row at a time."""

import math

import numpy as np


def scale(column):
    """(x - lo) / (hi - lo) of the known values, 0 where the range is below 1e-6."""
    known = [x for x in column if not math.isnan(x)]
    lo, hi = (min(known), max(known)) if known else (0.0, 0.0)
    flat = hi - lo < 1e-6
    return [x if math.isnan(x) else (0.0 if flat else (x - lo) / (hi - lo)) for x in column]


def difference(u, v, nominal):
    """Difference of two (scaled) values."""
    if nominal:
        return float(u != v)
    missing = math.isnan(u) + math.isnan(v)
    if missing == 2:
        return 1.0
    if missing == 1:
        known = v if math.isnan(u) else u
        return 1.0 - known if known < 0.5 else known
    return abs(u - v)


def relieff_oracle(X, y, n_classes, rows=None, n_neighbors=10, is_nominal=None):
    """ReliefF weights of the columns of X (n_samples, n_features)."""
    n_samples, n_features = X.shape
    nominal = [False] * n_features if is_nominal is None else [bool(b) for b in is_nominal]
    columns = [[float(x) for x in X[:, a]] for a in range(n_features)]
    z = [columns[a] if nominal[a] else scale(columns[a]) for a in range(n_features)]
    y = [int(k) for k in y]
    share = [y.count(c) / n_samples for c in range(n_classes)]
    rows = range(n_samples) if rows is None else [int(r) for r in rows]

    def diff(a, r, i):
        return difference(z[a][r], z[a][i], nominal[a])

    weights = [0.0] * n_features
    for r in rows:
        slots = [[] for _ in range(n_classes)]
        for i in range(n_samples):
            if i == r:
                continue
            distance = 0.0
            for a in range(n_features):
                distance += diff(a, r, i)
            near = slots[y[i]]
            if len(near) < n_neighbors:
                near.append((distance, i))
                continue
            worst = max(range(n_neighbors), key=lambda s: (near[s][0], -s))
            if distance < near[worst][0]:
                near[worst] = (distance, i)
        own = y[r]
        for a in range(n_features):
            for _, i in slots[own]:
                weights[a] -= diff(a, r, i) / len(slots[own])
            for c in range(n_classes):
                if c == own or not slots[c]:
                    continue
                factor = share[c] / (1.0 - share[own]) if n_classes > 2 else 1.0
                for _, i in slots[c]:
                    weights[a] += factor * (diff(a, r, i) / len(slots[c]))
    return np.array(weights) * (1.0 / len(rows))
