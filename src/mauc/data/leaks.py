"""Signs that rows are not independent: columns that look like groups, rows that are copies."""

import re
from collections.abc import Iterable
from math import log2
from typing import Any

import numpy as np
from scipy.stats import binom

from mauc.data.problem import Problem
from mauc.data.row_hash import hash_all_rows

Array = np.ndarray[Any, Any]

_MIN_GROUPS = 10
_MIN_ROWS, _MAX_ROWS = 2.0, 50.0  # of a group, in the mean
_MIN_REPEATED = 0.9  # share of the groups that have several rows
_MIN_PURE = 0.95  # share of these whose rows have one class
_MAX_CHANCE = 0.6  # such share by chance, for it to mean something
_EVEN = 0.5  # variance of the sizes of groups, over that of random ones
_NEAR = 0.2  # by which neighbours of an ordered feature agree more often than by chance
_ENOUGH = 3.0  # times the information that tells all rows apart: copies are then no chance
_MIN_SEVERAL = 0.5  # share of the groups that have several rows, if they agree on the class
_MIN_PURITY = 0.8  # of rows of a value, by which they agree on the class beyond chance
_TIMES_NEARER = 3.0  # less often do rows of a value differ than those of neighbouring values
_MIN_BETWEEN = 0.1  # of what chance has, that neighbouring values differ at least
_RARE = 1e-6  # probability of such values by chance
_SUBJECT_NAME = re.compile(
    r"(patient|subject|participant|person|proband|donor|individual|animal|mouse|user|customer"
    r"|client|student|speaker|household|family|member|employee|account)"
    r"[\W_]*(id|no|nr|num|number|code|key|name)$"
)
_MIN_SUBJECTS = 3  # different values of a column with such a name
# With few values such a column may be a code of kinds, as category_id.
_ID_NAME = re.compile(
    r"(^|[\W_])(id|uid|uuid|guid|e?mail|sur ?name)$|^(first|last|full)?[\W_]*name$"
)
_NAMES = re.compile(
    r"(patient|subject|participant|person|proband|donor|individual|animal|mouse|user|customer"
    r"|client|student|speaker|household|family)[\W_]*(id|no|nr|num|number|code)?$"
    r"|(^|[\W_])(id|uid|uuid|guid)$"
)


def looks_like_group(
    values: Array,
    codes: Array,
    name: str = "",
    *,
    is_nominal: bool = False,
    if_even: bool = False,
) -> bool:
    """Whether a column has a few rows of each of many values, and a name or labels of groups.

    Whole numbers with as many rows each, but for the last, are taken for groups `if_even`. A name
    such as subject_id does whatever the number of values, if values repeat.

    Labels do if they are the same within a value by more than chance, and are not so because
    values near each other have the same, as those of a good feature do. NaN is missing.
    """
    is_known = values == values
    if not is_known.all():
        values, codes = values[is_known], codes[is_known]
    if _is_id_column(values, name, is_nominal=is_nominal) and len(np.unique(values)) < len(values):
        return True
    return _has_labels_of_groups(values, codes, name, is_nominal=is_nominal, if_even=if_even)


def is_identifier(values: Array, name: str, *, is_nominal: bool = False) -> bool:
    """Whether a column is called an identifier of rows, and holds whole numbers or texts."""
    return _is_id_column(values[values == values], name, is_nominal=is_nominal)


def _is_id_column(values: Array, name: str, *, is_nominal: bool) -> bool:
    """Whether known values are whole numbers or categories, with the name of an identifier."""
    if not name:
        return False
    is_subject = _SUBJECT_NAME.search(name.lower()) is not None
    if not is_subject and _ID_NAME.search(name.lower()) is None:
        return False
    is_whole = is_nominal or bool((values == np.floor(values)).all())
    return is_whole and len(np.unique(values)) >= (_MIN_SUBJECTS if is_subject else _MIN_GROUPS)


def _has_labels_of_groups(
    values: Array, codes: Array, name: str, *, is_nominal: bool, if_even: bool
) -> bool:
    """Whether known values are those of groups, see `looks_like_group`."""
    in_order = np.sort(values)
    starts = np.flatnonzero(np.append(in_order[:1] == in_order[:1], in_order[1:] != in_order[:-1]))
    n_groups, n = len(starts), len(values)
    if n_groups < _MIN_GROUPS or not _MIN_ROWS * n_groups <= n <= _MAX_ROWS * n_groups:
        return False
    counts = np.diff(np.append(starts, n))
    labels = codes[np.argsort(values, kind="stable")]
    is_code = is_nominal or bool((values == np.floor(values)).all())
    are_several = is_code and np.mean(counts > 1) >= _MIN_SEVERAL
    if are_several and _agree_within(labels, starts, counts, is_nominal=is_nominal):
        return True
    if np.mean(counts > 1) < _MIN_REPEATED:
        return False
    is_named = _NAMES.search(name.lower()) or (if_even and (counts != counts[0]).sum() < 2)
    if is_named and (is_nominal or (values == np.floor(values)).all()):
        return True
    is_pure = np.minimum.reduceat(labels, starts) == np.maximum.reduceat(labels, starts)
    shares = np.bincount(codes) / n
    chance = np.mean((shares[:, np.newaxis] ** counts).sum(axis=0))
    if is_pure[counts > 1].mean() < _MIN_PURE or chance > _MAX_CHANCE:
        return False
    firsts = labels[starts]
    is_alike = np.mean(firsts[1:] == firsts[:-1]) > (shares**2).sum() + _NEAR
    return bool(is_nominal or not is_alike or counts.var() < _EVEN * counts.mean())


def _agree_within(labels: Array, starts: Array, counts: Array, *, is_nominal: bool) -> bool:
    """Whether rows of a value share the class far more often than chance and neighbours do.

    Labels are sorted by value; each value has `counts` rows from `starts`.
    """
    n_classes, n = int(labels.max()) + 1, len(labels)
    members = np.zeros((len(starts), n_classes))
    np.add.at(members, (np.repeat(np.arange(len(starts)), counts), labels), 1.0)
    shares = np.bincount(labels) / n
    by_chance = 1.0 - float((shares**2).sum())
    is_repeated = counts > 1
    if by_chance <= 0.0 or is_repeated.sum() < _MIN_GROUPS:
        return False
    several, sizes = members[is_repeated], counts[is_repeated]
    equal = (several * (several - 1)).sum(axis=1) / (sizes * (sizes - 1))
    within = 1.0 - float(np.average(equal, weights=sizes))
    if within > (1.0 - _MIN_PURITY) * by_chance:
        return False
    rates = members / counts[:, np.newaxis]
    between = 1.0 - float((rates[1:] * rates[:-1]).sum(axis=1).mean())
    if not is_nominal and between < max(within * _TIMES_NEARER, by_chance * _MIN_BETWEEN):
        return False
    # By chance one pair of rows of a value has the same class with 1 - by_chance.
    n_agreeing = int(np.floor(equal.sum()))
    return bool(binom.sf(n_agreeing - 1, len(equal), 1.0 - by_chance) < _RARE)


def find_group_column(problem: Problem, *, if_even: bool = False) -> int | None:
    """Return the first column that looks like a group, if there is one."""
    names = problem.feature_names
    for block in problem.blocks():
        columns = range(problem.n_features)[block]
        for j, values in zip(columns, problem.columns.ordered(block), strict=True):
            name = "" if names is None else str(names[j])
            if looks_like_group(
                values, problem.codes, name, is_nominal=problem.is_nominal[j], if_even=if_even
            ):
                return j
    return None


def copied_share(problem: Problem, folds: Iterable[tuple[Array, Array]]) -> float:
    """Return the share of the tested rows of which the training part has a copy, if by no chance.

    Few features, or coarse ones, have equal rows anyway: 0 where their values, by the information
    in each, would not tell three times as many bits as the rows need.
    """
    found = np.unique(hash_all_rows(problem), return_index=True, return_inverse=True)
    _, firsts, rows = found
    if len(firsts) == problem.n_samples:
        return 0.0
    n_bits = _ENOUGH * log2(problem.n_samples)
    for j in range(problem.n_features):
        values = problem.columns.ordered([j])[0][firsts]
        shares = np.unique(values, return_counts=True)[1] / len(firsts)
        n_bits += log2(float((shares**2).sum()))
        if n_bits <= 0.0:
            break
    else:
        return 0.0
    tested = [np.isin(rows[test], rows[train]) for train, test in folds]
    return float(np.concatenate(tested).mean())
