"""GreedyMAUC written as its definition: literal loops, matrices inverted, nothing kept."""

import math
from statistics import NormalDist

import numpy as np

PHI_INVERSE = NormalDist().inv_cdf


def auc(first, second):
    """Share of pairs in which the first is higher, ties and missing values half."""
    wins = 0
    for a in first:
        for b in second:
            wins += 2 if a > b else 0 if a < b else 1
    return wins / (2 * len(first) * len(second))


def effect(first, second, noise_correction):
    """sqrt(2) Phi^-1(AUC), folded, clipped and freed of noise, with its sign."""
    area = auc(first, second)
    size = math.sqrt(2) * PHI_INVERSE(min(max(area, 1 - area), 1 - 1e-4))
    variance = (1 / len(first) + 1 / len(second)) * (1 + min(size**2, 11) / 8)
    if size > 0:
        size *= max(0, 1 - noise_correction * variance / size**2)
    return size if area >= 0.5 else -size


def normal_scores(column):
    """Phi^-1((r - 1/2) / n) in whole 1/32; a missing value is tied with all."""
    n = len(column)
    scores = []
    for x in column:
        below = sum(1.0 if v < x else 0.0 if v > x else 0.5 for v in column)
        # below counts the value itself as half: it is r - 1/2
        scores.append(max(-127, min(127, round(32 * PHI_INVERSE(below / n)))))
    return scores


def correlations(X, y, shrinkage):
    """Correlations of the normal scores within the classes, shrunk; 0 where nothing varies."""
    deviations = []
    for column in X.T:
        z = np.array(normal_scores(column), dtype=float)
        for k in np.unique(y):
            z[y == k] -= z[y == k].mean()
        length = math.sqrt(sum(z**2))
        deviations.append(z / length if length > 1e-6 else 0 * z)
    R = np.array(deviations) @ np.array(deviations).T * (1 - shrinkage)
    np.fill_diagonal(R, 1.0)
    return R


def separations(d, R, chosen):
    """D_p^2 = d' R^-1 d of every pair; d of shape (n_features, n_pairs)."""
    if not chosen:
        return np.zeros(d.shape[1])
    inside = R[np.ix_(chosen, chosen)]
    return np.array([d[chosen, p] @ np.linalg.solve(inside, d[chosen, p]) for p in range(len(d.T))])


def greedy(X, y, k, shrinkage=0.2, alpha=1.0, noise_correction=1.0):
    """Every candidate at every step from the definition; ties by column index.

    Candidates whose sums differ by less than 1e-12 of themselves count as equal. Returns the
    ranking, the gains and the separations after every step.
    """
    classes = np.unique(y)
    d = np.array(
        [
            [
                effect(column[y == classes[i]], column[y == classes[j]], noise_correction)
                for i in range(len(classes))
                for j in range(i + 1, len(classes))
            ]
            for column in X.T
        ]
    )
    R = correlations(X, y, shrinkage)
    is_constant = [len(set(normal_scores(column))) == 1 for column in X.T]
    chosen, gains, history = [], [], []
    while len(chosen) < min(k, len(d) - sum(is_constant)):
        before = np.exp(-alpha * separations(d, R, chosen) / 8).sum()
        best, least = None, math.inf
        for f in range(len(d)):
            if f in chosen or is_constant[f]:
                continue
            error = np.exp(-alpha * separations(d, R, [*chosen, f]) / 8).sum()
            if error < least * (1 - 1e-12):
                best, least = f, error
        chosen.append(best)
        gains.append(1 - least / before)
        history.append(separations(d, R, chosen))
    constants = [f for f in range(len(d)) if is_constant[f]]
    return (chosen + constants)[:k], gains, history
