"""The definitions as literal loops: slow, obvious, and what every fast path must equal.

A *win* of value a over value b counts 2, a tie 1, a loss 0, and a missing value ties with
every value; so counts are integers, and one division gives the AUC.
"""

import itertools
from fractions import Fraction

import numpy as np


def win(a, b):
    """Return 2 if a > b, 1 if they tie, 0 if a < b; NaN ties with everything."""
    if a != a or b != b:
        return 1
    return 2 if a > b else 1 if a == b else 0


def column_wins(x, y, n_classes, weights=None):
    """Return the wins of one column on the class pairs (0, 1), (0, 2), ..., row by row."""
    values = np.asarray(x).tolist()  # Python numbers compare exactly, whatever their width
    rows = [[row for row, k in enumerate(y) if k == c] for c in range(n_classes)]
    wins = []
    for i, j in itertools.combinations(range(n_classes), 2):
        total = 0
        for a in rows[i]:
            for b in rows[j]:
                weight = 1 if weights is None else weights[a] * weights[b]
                total += weight * win(values[a], values[b])
        wins.append(total)
    return wins


def pair_wins(X, y, n_classes, weights=None):
    """Return the wins of all columns of X, shape (n_features, n_pairs)."""
    X = np.asarray(X)
    wins = [column_wins(X[:, j], y, n_classes, weights) for j in range(X.shape[1])]
    shape = (X.shape[1], n_classes * (n_classes - 1) // 2)
    return np.array(wins, dtype=np.int64 if weights is None else np.float64).reshape(shape)


def long_pair_wins(X, y, n_classes):
    """Return the same as `pair_wins` for many rows: a loop over pairs, with binary search.

    In a sorted column of class j the places left and right of a value are the number of
    smaller values, and that of the smaller or equal ones: their sum is 2 * smaller + equal.
    """
    X, y = np.asarray(X), np.asarray(y)
    wins = np.zeros((X.shape[1], n_classes * (n_classes - 1) // 2), np.int64)
    for f in range(X.shape[1]):
        groups = [X[y == k, f] for k in range(n_classes)]
        known = [np.sort(group[group == group]) for group in groups]
        for p, (i, j) in enumerate(itertools.combinations(range(n_classes), 2)):
            left = np.searchsorted(known[j], known[i], "left")
            right = np.searchsorted(known[j], known[i], "right")
            n_missing_pairs = len(groups[i]) * len(groups[j]) - len(known[i]) * len(known[j])
            wins[f, p] = left.sum() + right.sum() + n_missing_pairs
    return wins


def max_wins(y, n_classes, weights=None):
    """Return 2 n_i n_j of every pair, or the weights' counterpart."""
    weights = [1] * len(y) if weights is None else list(weights)
    totals = [sum(w for w, k in zip(weights, y, strict=True) if k == c) for c in range(n_classes)]
    return np.array([2 * a * b for a, b in itertools.combinations(totals, 2)])


def folded_auc(X, y, n_classes, weights=None):
    """Return max(A, 1 - A) of every column and class pair."""
    wins, most = pair_wins(X, y, n_classes, weights), max_wins(y, n_classes, weights)
    return np.maximum(wins, most - wins) / most


def exact_mean(quotients):
    """Return the mean of every row of quotients of small whole numbers, rounded once."""
    means = []
    for row in np.asarray(quotients).tolist():
        total = sum(Fraction(value).limit_denominator(10**6) for value in row)
        means.append(float(total / len(row)))
    return np.array(means)


def rest_auc(X, y, n_classes, weights=None):
    """Return the folded AUC of every column, each class against all others."""
    columns = []
    for k in range(n_classes):
        is_rest = np.where(np.asarray(y) == k, 0, 1)
        columns.append(folded_auc(X, is_rest, 2, weights)[:, 0])
    return np.column_stack(columns)


def mauc(y, scores, n_classes, weights=None):
    """Return Hand & Till's M of a score matrix over the class pairs that are present."""
    y, scores = np.asarray(y), np.asarray(scores, dtype=float)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    pairs = []
    for i, j in itertools.combinations(range(n_classes), 2):
        if weights[y == i].sum() > 0 and weights[y == j].sum() > 0:
            a_ij = score_auc(scores[:, i], y == i, y == j, weights)
            a_ji = score_auc(scores[:, j], y == j, y == i, weights)
            pairs.append((a_ij + a_ji) / 2)
    return sum(pairs) / len(pairs)


def score_auc(scores, is_positive, is_negative, weights):
    """Return the AUC of scores that should rank the positives above the negatives."""
    total = 0.0
    for a in np.flatnonzero(is_positive):
        for b in np.flatnonzero(is_negative):
            total += weights[a] * weights[b] * win(scores[a], scores[b])
    return total / (2 * weights[is_positive].sum() * weights[is_negative].sum())


def algorithm_1(relevance, n_wanted, draws):
    """Select features as Algorithm 1 of the paper says, line by line, as (feature, pair, rank).

    `draws` yields pairs, at random for MDFS; one whose list is exhausted is drawn again.
    """
    n_features, n_pairs = relevance.shape
    lists = [
        sorted(range(n_features), key=lambda f, p=p: (-relevance[f, p], f)) for p in range(n_pairs)
    ]
    taken = [0] * n_pairs
    selected, steps = set(), []
    while len(selected) < n_wanted:
        pair = int(next(draws))
        if taken[pair] == n_features:
            continue
        feature = lists[pair][taken[pair]]
        taken[pair] += 1
        if feature not in selected:
            selected.add(feature)
            steps.append((feature, pair, taken[pair]))
    return steps


def uniform_draws(seed, n_pairs):
    """Yield pairs as `MDFS(random_state=seed)` draws them: batches of 256 from RandomState."""
    rng = np.random.RandomState(seed)
    while True:
        yield from rng.randint(n_pairs, size=256)
