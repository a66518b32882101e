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


def effect(column, y, i, j, noise_correction):
    """Effect of a column on the classes i and j, freed of noise, with its sign."""
    first, second = column[y == i], column[y == j]
    weight = tie_weight(column, len(first), len(second))
    if noise_correction > 0:
        size = 2 / (1 / len(first) + 1 / len(second))
        weight = 1 - (1 - weight) * (1 - max(0, 1 - size / 100) / 2)
    area = auc(first, second)
    size = math.sqrt(2) * PHI_INVERSE(min(max(area, 1 - area), 1 - 1e-4))
    size = size if area >= 0.5 else -size
    if weight > 0:
        size = weight * standardised_difference(column, y, i, j) + (1 - weight) * size
    noise = (1 / len(first) + 1 / len(second)) * (1 + min(size**2, 11) / 8) + 0.05
    if size != 0:
        size *= max(0, 1 - noise_correction * noise / size**2)
    return size


def tied_share(column):
    """Share of ordered pairs of rows whose values are equal, or one of them missing."""
    tied = sum(not (a < b or a > b) for a in column for b in column)
    return tied / len(column) ** 2


def tie_weight(column, n_i, n_j):
    """Weight of the standardised difference by ties; 0 if no two rows are tied."""
    share = tied_share(column)
    if share * len(column) < 1.5:
        return 0.0
    h = 2 / (1 / n_i + 1 / n_j)
    return min(1, max(0, (share - 0.1) / 0.4)) * h / (h + 30)


def standardised_difference(column, y, i, j):
    """Difference of the class means of normal scores over a moderated standard deviation."""
    z = np.array(normal_scores(column)) / 32
    means = {k: z[y == k].mean() for k in np.unique(y)}
    squares = {k: ((z[y == k] - mean) ** 2).sum() for k, mean in means.items()}
    pooled = sum(squares.values()) / max(len(y) - len(means), 1)
    n = np.sum(y == i) + np.sum(y == j)
    difference = means[i] - means[j]
    if abs(difference) < 1e-12:
        return 0.0
    deviation = math.sqrt((squares[i] + squares[j] + 40 * pooled) / (n - 2 + 40))
    return min(5.26, max(-5.26, difference / max(deviation, 1e-12)))


def normal_scores(column):
    """Phi^-1((r - 1/2) / n) in whole 1/32; a missing value is tied with all."""
    n = len(column)
    scores = []
    for x in column:
        below = sum(1.0 if v < x else 0.0 if v > x else 0.5 for v in column)
        # below counts the value itself as half: it is r - 1/2
        scores.append(max(-127, min(127, round(32 * PHI_INVERSE(below / n)))))
    return scores


def pearson(a, b):
    """Correlation of two rows of mean 0; 0 if one does not vary."""
    length = math.sqrt(sum(a**2) * sum(b**2))
    return sum(a * b) / length if length > 1e-6 else 0.0


def deviations(X, y):
    """Normal scores less the means of their classes, one row a feature."""
    rows = []
    for column in X.T:
        z = np.array(normal_scores(column), dtype=float)
        for k in np.unique(y):
            z[y == k] -= z[y == k].mean()
        rows.append(z)
    return rows


def correlations(X, y, shrinkage):
    """Correlations of the normal scores within the classes, shrunk."""
    rows = deviations(X, y)
    R = np.array([[(1 - shrinkage) * pearson(a, b) for b in rows] for a in rows])
    np.fill_diagonal(R, 1.0)
    return R


def shrinkage_intensity(X, y):
    """h / (h + mean r^2) over all pairs of the features, which are to vary, at most 64."""
    rows = deviations(X, y)
    classes, counts = np.unique(y, return_counts=True)
    squares, chances, spreads = [], [], []
    for i in range(len(rows)):
        for j in range(i + 1, len(rows)):
            r = pearson(rows[i], rows[j])
            squares.append(r**2)
            chances.append((1 - r**2) ** 2 / (len(y) - len(classes)))
            terms, weight = 0.0, 0
            for k, n in zip(classes, counts, strict=True):
                if n >= 3:
                    r_k = pearson(rows[i][y == k], rows[j][y == k])
                    terms += n * ((r_k - r) ** 2 - (1 - r_k**2) ** 2 / (n - 1))
                    weight += n
            spreads.append(terms / weight if weight else 0.0)
    h = np.mean(chances) + max(0, np.mean(spreads)) / 2
    return h / (h + np.mean(squares))


def separations(d, R, chosen):
    """D_p^2 = d' R^-1 d of every pair; d of shape (n_features, n_pairs)."""
    if not chosen:
        return np.zeros(d.shape[1])
    inside = R[np.ix_(chosen, chosen)]
    return np.array([d[chosen, p] @ np.linalg.solve(inside, d[chosen, p]) for p in range(len(d.T))])


def greedy(X, y, k, shrinkage, alpha=1.0, noise_correction=1.0):
    """Every candidate at every step from the definition; ties by column index.

    Candidates whose sums differ by less than 1e-12 of themselves count as equal. Returns the
    ranking, the gains and the separations after every step.
    """
    classes = np.unique(y)
    d = np.array(
        [
            [
                effect(column, y, classes[i], classes[j], noise_correction)
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


def model_correlations(model):
    """Correlations within the classes, shrunk, of a model that was measured."""
    scores, counts = model.scores.scores.astype(float), model.scores.class_counts
    stops = np.cumsum(counts)
    parts = [scores[:, stop - n : stop] for stop, n in zip(stops, counts, strict=True)]
    centred = np.hstack([part - part.mean(axis=1, keepdims=True) for part in parts])
    norms = np.sqrt((centred**2).sum(axis=1))
    R = (1 - model.shrinkage) * (centred @ centred.T) / np.maximum(np.outer(norms, norms), 1e-12)
    np.fill_diagonal(R, 1.0)
    return R
