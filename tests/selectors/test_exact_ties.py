"""Equal mean AUCs go by column: brute force in fractions over 400 small sets."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from mauc import ARCO, MAUCD, MDFS, SubproblemSelector

N_SETS = 400


def small_set(seed):
    """Few samples, few levels, classes of unequal sizes: many features have the same MAUC."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(3, 5))
    y = np.concatenate([np.tile(np.arange(n_classes), 2), rng.integers(0, n_classes, 10)])
    return rng.integers(0, 3, (len(y), 12)).astype(float), y


def pair_aucs(x, y):
    """Folded AUC of a column on every class pair, as fractions."""
    found = []
    for i, j in combinations(np.unique(y), 2):
        first, second = x[y == i][:, np.newaxis], x[y == j]
        wins = int(2 * (first > second).sum() + (first == second).sum())
        auc = Fraction(wins, 2 * first.size * second.size)
        found.append(max(auc, 1 - auc))
    return found


@pytest.fixture(scope="module")
def sets():
    made = []
    for seed in range(N_SETS):
        X, y = small_set(seed)
        aucs = [pair_aucs(x, y) for x in X.T]
        made.append((X, y, aucs, [sum(row) / len(row) for row in aucs]))
    return made


def in_order(means):
    return sorted(range(len(means)), key=lambda j: (-means[j], j))


def test_the_sets_have_exact_ties_that_plain_sums_miss(sets):
    n_missed = 0
    for _, _, aucs, means in sets:
        plain = np.array([[float(auc) for auc in row] for row in aucs]).mean(axis=1)
        n_missed += np.argsort(-plain, kind="stable").tolist() != in_order(means)
    assert n_missed > 5


@pytest.mark.parametrize(
    "selector",
    [MAUCD("all"), SubproblemSelector("all", decomposition="whole", schedule="round_robin")],
    ids=["MAUCD", "whole"],
)
def test_rankings_by_mean_auc(sets, selector):
    for X, y, _, means in sets:
        selector.fit(X, y)
        assert selector.ranking_.tolist() == in_order(means)
        assert selector.scores_.tolist() == [float(mean) for mean in means]


def test_ties_of_mdfs_by_mean_auc(sets):
    for X, y, aucs, means in sets[:100]:
        fitted = MDFS("all", ties="mauc", schedule="round_robin").fit(X, y)
        assert fitted.scores_.tolist() == [float(mean) for mean in means]
        first = fitted.trace_.subproblems[0]
        best = min(range(12), key=lambda j: (-aucs[j][first], -means[j], j))
        assert fitted.ranking_[0] == best


def test_the_first_feature_of_arco(sets):
    for X, y, _, means in sets[:100]:
        assert ARCO(1).fit(X, y).ranking_[0] == in_order(means)[0]


def test_one_versus_rest(sets):
    options = {"decomposition": "one-vs-rest", "ties": "mauc", "schedule": "round_robin"}
    for X, y, _, _ in sets[:50]:
        found = SubproblemSelector("all", **options).fit(X, y).scores_
        wanted = []
        for x in X.T:
            aucs = [pair_aucs(x, np.where(y == k, 0, 1))[0] for k in np.unique(y)]
            wanted.append(float(sum(aucs) / len(aucs)))
        assert found.tolist() == wanted
