"""Complementary halves of the rows, or of whole groups of them, balanced by class."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from mauc.data.problem import Problem, group_by_class
from mauc.data.rows import hash_all_rows
from mauc.data.weights import as_counts
from mauc.exceptions import MaucError, SmallClassWarning, format_labels, warn_user

_MAX_COPIES = 100  # of a row, in the mean, that are dealt out one by one


def complementary_halves(
    problem: Problem, n_pairs: int, rng: np.random.RandomState
) -> list[np.ndarray]:
    """Return the rows of 2 n_pairs halves, ascending, two after the other being complementary.

    Rows are known by a hash of the ranks of their values, so that their order changes nothing; so
    are groups, which stay together. A row of a whole weight is dealt out as its copies would be,
    and is in a half as often; any other weight goes with its row.
    """
    if problem.groups is not None:
        return _halves_of_groups(problem, problem.groups, n_pairs, rng)
    copies = copies_of_rows(problem)
    order, starts, _ = group_by_class(problem.codes[copies], problem.n_classes)
    order = copies[order]
    hashes = hash_all_rows(problem)[order]
    groups = [
        order[start + np.argsort(hashes[start:stop], kind="stable")]
        for start, stop in pairwise(starts)
    ]
    _warn_of_single(problem.classes[np.diff(starts) == 1], "sample")
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


def copies_of_rows(problem: Problem) -> np.ndarray:
    """Return each row as often as its weight says, once if weights are not whole or many."""
    rows, weights = np.arange(problem.n_samples), problem.sample_weight
    if weights is None or weights.sum() > _MAX_COPIES * len(rows):
        return rows
    counts = np.rint(weights).astype(np.int64)
    return np.repeat(rows, counts) if (counts == weights).all() else rows


def take_half(problem: Problem, half: np.ndarray) -> Problem:
    """Return the problem of a half; rows that it has several times weigh as much."""
    rows, counts = np.unique(half, return_counts=True)
    part = problem.take_rows(rows)
    if problem.groups is not None or len(copies_of_rows(problem)) == problem.n_samples:
        return part
    return replace(part, sample_weight=as_counts(counts.astype(np.float64)))


def _warn_of_single(classes: np.ndarray, what: str) -> None:
    if len(classes):
        warn_user(
            f"a class needs 2 {what}s to be in both halves; the one {what} of "
            f"{format_labels(classes)} is in all halves, so what is measured on it is "
            f"not resampled.",
            SmallClassWarning,
        )


def _halves_of_groups(
    problem: Problem, groups: np.ndarray, n_pairs: int, rng: np.random.RandomState
) -> list[np.ndarray]:
    """Return complementary halves of whole groups, every class as even as groups allow.

    Groups are dealt out one by one, those with the largest part of a class first, each to the half
    that has less of its classes; then moved where a class would be in one half alone.
    """
    names, groups = np.unique(groups, return_inverse=True)
    counts = np.zeros((len(names), problem.n_classes))
    np.add.at(counts, (groups, problem.codes), 1.0)
    has_class = counts > 0
    _warn_of_single(problem.classes[has_class.sum(axis=0) == 1], "group")
    is_shared = has_class[:, has_class.sum(axis=0) == 1].any(axis=1)  # in all halves
    shares = counts / problem.class_counts
    marks = hash_all_rows(problem) * np.uint64(problem.n_classes) + problem.codes.astype(np.uint64)
    keys = np.zeros(len(names), np.uint64)
    np.add.at(keys, groups, marks * (marks >> np.uint64(32)))  # a sum has no order
    free = np.flatnonzero(~is_shared)
    free = free[np.argsort(keys[free], kind="stable")]
    halves = []
    for _ in range(n_pairs):
        side = np.zeros(len(names))  # -1 or 1, 0 in both
        dealt = free[rng.permutation(len(free))]
        lead = np.zeros(problem.n_classes)  # of half 1 over half -1, in shares of the classes
        # By powers of two: the order of groups of about the same size is drawn.
        for group in dealt[np.argsort(-np.frexp(shares[dealt].max(axis=1))[1], kind="stable")]:
            turn = 2 * int(rng.randint(2)) - 1
            side[group] = -np.sign(lead @ shares[group]) or turn
            lead += side[group] * shares[group]
        _share_classes(problem, has_class, shares, side)
        halves += [np.flatnonzero(side[groups] != half) for half in (-1, 1)]
    return halves


def _share_classes(
    problem: Problem, has_class: np.ndarray, shares: np.ndarray, side: np.ndarray
) -> None:
    """Move groups, in place, so that every class is in both halves."""
    for lacking, code in ((half, code) for code in range(problem.n_classes) for half in (-1, 1)):
        if has_class[side != -lacking, code].any():
            continue
        # A group that leaves takes no other class away with it; the smallest does.
        n_left = has_class[side != lacking].sum(axis=0)
        can_move = has_class[:, code] & ~(has_class & (n_left == 1)).any(axis=1)
        if not can_move.any():
            raise MaucError(
                f"groups must let every class be in both halves, but those of class "
                f"{format_labels(problem.classes[[code]])} have the only rows of others, too; "
                f"merge classes, or leave groups out."
            )
        found = np.flatnonzero(can_move)
        side[found[np.argmin(shares[found].sum(axis=1))]] = lacking
