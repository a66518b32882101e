"""GreedyMAUC written as its definition: literal loops, matrices inverted, nothing kept."""

import math

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata


def normal_scores(x):
    """Phi^-1((r - 1/2) / n) in whole 1/32; a missing value is tied with all."""
    n, known = len(x), ~np.isnan(x)
    z = np.zeros(n)
    ranks = rankdata(x[known]) - 0.5 + (n - known.sum()) / 2
    z[known] = np.clip(np.rint(32 * ndtri(ranks / n)), -127, 127)
    return z


def effects(x, y):
    """Effects of a column on all class pairs, freed of noise, with their signs."""
    n, known = len(x), ~np.isnan(x)
    n_missing = n - known.sum()
    z = normal_scores(x) / 32
    value_counts = np.unique(x[known], return_counts=True)[1]
    n_tied = (value_counts.astype(float) ** 2).sum() + n**2 - (n - n_missing) ** 2
    t = n_tied / n**2 if n_tied > n else 0.0
    classes = np.unique(y)
    means = np.array([z[y == k].mean() for k in classes])
    squares = np.array([((z[y == k] - z[y == k].mean()) ** 2).sum() for k in classes])
    pooled = squares.sum() / max(n - len(classes), 1)
    found = []
    for i in range(len(classes)):
        for j in range(i + 1, len(classes)):
            a, b = x[y == classes[i]], x[y == classes[j]]
            n_i, n_j = len(a), len(b)
            wins = (a[:, None] > b).sum() - (a[:, None] < b).sum()
            d = np.sqrt(2) * ndtri(np.clip(0.5 + wins / (2 * n_i * n_j), 1e-4, 1 - 1e-4))
            variance = (squares[i] + squares[j] + 40 * pooled) / (n_i + n_j - 2 + 40)
            g = np.clip((means[i] - means[j]) / np.sqrt(max(variance, 1e-18)), -5.26, 5.26)
            h = 2 / (1 / n_i + 1 / n_j)
            w = np.clip((t - 0.1) / 0.4, 0, 1) * h / (h + 30)
            w = 1 - (1 - w) * (1 - 0.5 * max(0, 1 - h / 100))
            d = w * g + (1 - w) * d
            noise = (1 / n_i + 1 / n_j) * (1 + min(d**2, 11) / 8) + 0.05
            ratio = d**2 / noise
            found.append(d * (ratio / 4 if ratio < 2 else 1 - 1 / ratio))
    return found


def pearson(a, b):
    """Correlation of two rows of mean 0; 0 if one does not vary."""
    length = math.sqrt(sum(a**2) * sum(b**2))
    return sum(a * b) / length if length > 1e-6 else 0.0


def deviations(X, y):
    """Normal scores less the means of their classes, one row a feature."""
    rows = []
    for column in X.T:
        z = normal_scores(column)
        for k in np.unique(y):
            z[y == k] -= z[y == k].mean()
        rows.append(z)
    return rows


def doubt_of(y):
    """The part of a correlation that the search replaces by its cube, where it estimates both."""
    return 1.5 / len(np.unique(y))


def trusted(R, shrinkage, doubt):
    """The correlations that a search goes by."""
    R = (1 - shrinkage) * ((1 - doubt) * R + doubt * R**3)
    np.fill_diagonal(R, 1.0)
    return R


def correlations(X, y, shrinkage, doubt=0.0):
    """Correlations of the normal scores within the classes, shrunk and doubted."""
    rows = deviations(X, y)
    return trusted(np.array([[pearson(a, b) for b in rows] for a in rows]), shrinkage, doubt)


def shrinkage_intensity(X, y):
    """h / (h + mean r^2) over all pairs of the features, which are to vary, at most 64.

    At least what chance makes of the largest of as many correlations as there are features.
    """
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
    floor = min(0.5, np.sqrt(2 * np.log(len(rows)) / (len(y) - len(classes))))
    return max(floor, h / (h + np.mean(squares)))


def score_correlations(scores, shrinkage, doubt=0.0):
    """Correlations within the classes, shrunk and doubted, of scores that were measured."""
    parts = np.split(scores.scores.astype(float), np.cumsum(scores.class_counts)[:-1], axis=1)
    centred = np.hstack([part - part.mean(axis=1, keepdims=True) for part in parts])
    norms = np.sqrt((centred**2).sum(axis=1))
    R = (centred @ centred.T) / np.maximum(np.outer(norms, norms), 1e-12)
    return trusted(R, shrinkage, doubt)


def separations(d, R, chosen):
    """D_p^2 = d' R^-1 d of every pair; d of shape (n_features, n_pairs)."""
    return (d[chosen] * np.linalg.solve(R[np.ix_(chosen, chosen)], d[chosen])).sum(axis=0)


def pair_stakes(y):
    """What the error of each class pair counts: h / (h + 10), h the harmonic mean size."""
    counts = np.unique(y, return_counts=True)[1]
    sizes = [
        2 / (1 / counts[i] + 1 / counts[j])
        for i in range(len(counts))
        for j in range(i + 1, len(counts))
    ]
    return np.array([h / (h + 10) for h in sizes])


def greedy(X, y, k, shrinkage, doubt=0.0):
    """Every candidate at every step from the definition; ties by column index.

    Candidates whose sums differ by less than 1e-12 of themselves count as equal. Returns the
    ranking, the gains and the separations after every step.
    """
    d, stakes = np.array([effects(column, y) for column in X.T]), pair_stakes(y)
    R = correlations(X, y, shrinkage, doubt)
    is_constant = [len(set(normal_scores(column))) == 1 for column in X.T]
    chosen, gains, history = [], [], []
    while len(chosen) < min(k, len(d) - sum(is_constant)):
        before = stakes @ np.exp(-separations(d, R, chosen) / 8)
        best, least = None, math.inf
        for f in range(len(d)):
            if f in chosen or is_constant[f]:
                continue
            error = stakes @ np.exp(-separations(d, R, [*chosen, f]) / 8)
            if error < least * (1 - 1e-12):
                best, least = f, error
        chosen.append(best)
        gains.append(1 - least / before)
        history.append(separations(d, R, chosen))
    constants = [f for f in range(len(d)) if is_constant[f]]
    return (chosen + constants)[:k], gains, history
