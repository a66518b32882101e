"""FSDD as Eq. (8)-(11), in rational arithmetic."""

import math
from fractions import Fraction


def fsdd(column, y, beta=2.0, weight=None):
    """Score one feature; NaN left out, weights as frequencies."""
    weight = [1] * len(column) if weight is None else weight
    rows = [
        (Fraction(float(x)), int(k), Fraction(float(w)))
        for x, k, w in zip(column, y, weight, strict=True)
        if x == x and w > 0
    ]
    n = sum(w for _, _, w in rows)
    if n <= 1:
        return -math.inf
    mean = sum(w * x for x, _, w in rows) / n
    variance = sum(w * (x - mean) ** 2 for x, _, w in rows) / (n - 1)
    if variance == 0:
        return -math.inf
    between = within = Fraction(0)
    for k in {k for _, k, _ in rows}:
        own = [(x, w) for x, label, w in rows if label == k]
        n_k = sum(w for _, w in own)
        mean_k = sum(w * x for x, w in own) / n_k
        between += n_k / n * (mean_k - mean) ** 2
        if n_k > 1:
            within += n_k / n * sum(w * (x - mean_k) ** 2 for x, w in own) / (n_k - 1)
    return float((between - Fraction(beta) * within) / variance)
