"""Fisher score, ANOVA F, ARCO, JMI and FCBF written as their definitions, in plain loops."""

import math
from fractions import Fraction

import numpy as np

from tests.helpers import oracles


def scatters(x, y):
    """Scatter between and within classes, known values and classes with any, exactly."""
    known = [(Fraction(float(v)), int(k)) for v, k in zip(x, y, strict=True) if v == v]
    groups = {k: [v for v, own in known if own == k] for k in {own for _, own in known}}
    if not known:
        return Fraction(0), Fraction(0), 0, 0
    mean = sum(v for v, _ in known) / len(known)
    between = within = Fraction(0)
    for group in groups.values():
        center = sum(group) / len(group)
        between += len(group) * (center - mean) ** 2
        within += sum((v - center) ** 2 for v in group)
    return between, within, len(known), len(groups)


def fisher(x, y):
    """Scatter between classes over that within; 0 / 0 is 0."""
    between, within, _, _ = scatters(x, y)
    if within == 0:
        return math.inf if between > 0 else 0.0
    return float(between / within)


def anova(x, y):
    """The F statistic; 0 where it has no degrees of freedom."""
    _, _, n, c = scatters(x, y)
    return fisher(x, y) * (n - c) / (c - 1) if n > c > 1 else 0.0


def centred_rank(x):
    """Values below less values above; a missing value is neither."""
    return [sum(v < u for v in x) - sum(v > u for v in x) for u in x]


def spearman(a, b):
    """Absolute rank correlation, 0 for a constant."""
    product = abs(sum(u * v for u, v in zip(a, b, strict=True)))
    squares = float(sum(u * u for u in a)) * float(sum(v * v for v in b))
    return product / math.sqrt(squares) if squares else 0.0


def greedy(k, first, criterion, is_last):
    """Take the first, then whatever has the largest criterion given the chosen ones."""
    chosen, scores = [], []
    while len(chosen) < k:
        step = {}
        for f in range(len(first)):
            if f not in chosen:
                step[f] = criterion(f, chosen) if chosen else first[f]
                if is_last[f]:
                    step[f] = -math.inf
        best = max(step, key=lambda f: (step[f], -f))
        chosen.append(best)
        scores.append(step[best])
    return chosen, scores


def arco(X, y, n_classes, k, weight):
    """AUC less the mean absolute correlation, correlations added in the order of choice."""
    relevance = oracles.exact_mean(oracles.folded_auc(X, y, n_classes)).tolist()
    ranks = [centred_rank(x.tolist()) for x in np.asarray(X).T]

    def criterion(f, chosen):
        total = 0.0
        for s in chosen:
            total += spearman(ranks[f], ranks[s])
        return relevance[f] - weight * (total / len(chosen))

    is_last = [not any(row) for row in ranks]
    return *greedy(k, relevance, criterion, is_last), relevance


def merged(a, b):
    """Two rows of states as one."""
    pairs = list(zip(a, b, strict=True))
    names = {pair: code for code, pair in enumerate(dict.fromkeys(pairs))}
    return [names[pair] for pair in pairs]


def jmi(D, y, k, information):
    """Sum of I(f, s; y) over the chosen features s, added in the order of choice."""
    D = [list(map(int, row)) for row in D]
    relevance = [information(row, y) for row in D]

    def criterion(f, chosen):
        total = 0.0
        for s in chosen:
            total += information(merged(D[f], D[s]), y)
        return total

    is_last = [len(set(row)) == 1 for row in D]
    return *greedy(k, relevance, criterion, is_last), relevance


def symmetrical_uncertainty(a, b, information):
    """2 I / (H + H), with H(a) = I(a; a)."""
    total = information(a, a) + information(b, b)
    return 2.0 * information(a, b) / total if total > 0 else 0.0


def fcbf_round(order, relevance, D, information):
    """Split features in order of relevance into predominant ones and the others."""
    left, kept = list(order), []
    while left:
        p = left.pop(0)
        kept.append(p)
        left = [q for q in left if symmetrical_uncertainty(D[p], D[q], information) < relevance[q]]
    return kept, [q for q in order if q not in kept]


def fcbf(D, y, threshold, information):
    """All features by repeated rounds, then those below the threshold; the rounds and SU."""
    D = [list(map(int, row)) for row in D]
    relevance = [symmetrical_uncertainty(row, y, information) for row in D]
    order = sorted(range(len(D)), key=lambda f: (-relevance[f], f))
    left, rounds = [f for f in order if relevance[f] >= threshold], []
    while left:
        kept, left = fcbf_round(left, relevance, D, information)
        rounds.append(kept)
    return rounds, [f for f in order if relevance[f] < threshold], relevance
