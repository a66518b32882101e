"""Complementary pairs: rows of every class dealt to two disjoint halves, again and again."""

from itertools import pairwise

import numpy as np

from mauc.exceptions import SmallClassWarning, listed, warn_user
from mauc.problem.class_order import group_by_class
from mauc.selectors.greedy_mauc.measuring.row_sample import hash_all_rows


def complementary_halves(problem, n_pairs, rng):
    """Return the rows of the halves, two after the other being complementary.

    Parameters
    ----------
    problem : Problem
    n_pairs : int
    rng : RandomState

    Returns
    -------
    halves : list of ndarray, int64
        2 n_pairs arrays of ascending rows. The rows of a class are known by a hash of the ranks of
        their values: another order of the rows gives the same halves. A half has each class with
        half of its rows; where their number is odd, the halves take turns in having one more. The
        row of a class of one is in both.
    """
    order, starts, _ = group_by_class(problem.codes, problem.n_classes)
    hashes = hash_all_rows(problem)[order]
    groups = [
        order[start + np.argsort(hashes[start:stop], kind="stable")]
        for start, stop in pairwise(starts)
    ]
    single = problem.classes[problem.class_counts == 1]
    if len(single):
        warn_user(
            f"a class needs 2 samples to be in both halves; the one sample of {listed(single)} "
            f"is in all halves, so what is measured on it is not resampled.",
            SmallClassWarning,
        )
    halves = []
    for _ in range(n_pairs):
        first, second = [], []
        turn = int(rng.randint(2))
        for group in groups:
            shuffled = group[rng.permutation(len(group))]
            if len(shuffled) == 1:
                first.append(shuffled)
                second.append(shuffled)
                continue
            n_first = (len(shuffled) + turn) // 2
            turn = turn ^ (len(shuffled) % 2)
            first.append(shuffled[:n_first])
            second.append(shuffled[n_first:])
        halves += [np.sort(np.concatenate(half)).astype(np.int64) for half in (first, second)]
    return halves
