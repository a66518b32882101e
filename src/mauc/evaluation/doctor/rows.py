"""Rows that repeat others, as they are or with a little noise."""

from collections.abc import Iterator

import numpy as np
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from mauc.data.rows import copied_share
from mauc.evaluation.doctor.case import Case
from mauc.evaluation.doctor.findings import Finding
from mauc.evaluation.folds import Folds
from mauc.evaluation.judges import split_fold

Array = np.ndarray

_MIN_COPIED = 0.02  # share of the tested rows
_MAX_SEARCHED = 3_000  # rows whose nearest rows are looked for
_MAX_RATIO = 0.1  # of the distances to the nearest and the second row
_MIN_NEAR = 5  # rows
_MIN_SAME = 0.8  # share of the near copies that have the class of the other row
_MAX_LEVELS = 10  # of a column in which near copies are equal
_BY_CHANCE = 0.001  # share of the rows that have such a ratio by chance
_TIMES_CHANCE = 10.0


def find_copied_rows(case: Case, folds: Folds) -> Iterator[Finding]:
    """Yield the share of tested rows that have an equal row in the training part."""
    if case.sample.groups is not None or not case.looks_for("copied rows"):
        return
    share = copied_share(case.sample, folds)
    if share >= _MIN_COPIED:
        firsts = np.unique(case.hashes, return_index=True)[1]
        yield case.finding(
            "copied rows",
            f"{share:.0%} of the tested rows are in the training part as well, with the same "
            f"values in all features",
            f"diagnose(X, y, groups={case.code[3]})",
            rows=np.delete(case.rows, firsts),
        )


def find_near_copies(case: Case) -> Iterator[Finding]:
    """Yield the rows that are far nearer to one other row than to the next.

    Of rows that are spread evenly in d dimensions the distances to the nearest and to the second
    row have a ratio below t with probability t^d (Facco et al. 2017). The median of the ratios
    gives d; rows with a ratio that one in a thousand has, and below 0.1, are near copies if they
    are ten times as many.
    """
    sample = case.sample
    is_fine = np.array(
        [
            not sample.is_nominal[j]
            and len(np.unique(sample.columns.ordered([j])[0])) > _MAX_LEVELS
            for j in range(sample.n_features)
        ]
    )
    kept = np.flatnonzero(case.used & is_fine)
    if sample.groups is not None or not len(kept) or not case.looks_for("near copies"):
        return
    order = np.lexsort((sample.codes, case.hashes))
    is_first = np.append(True, case.hashes[order][1:] != case.hashes[order][:-1])
    everything = np.sort(order[is_first][:_MAX_SEARCHED])  # hashes are as good as random
    if len(everything) < 4 * _MIN_NEAR:
        return
    Z = np.nan_to_num(split_fold(sample, kept, everything, everything).train)
    with threadpool_limits(1):
        search = NearestNeighbors(n_neighbors=3).fit(Z)
        distances, neighbours = search.kneighbors(Z)
    near, second = distances[:, 1], distances[:, 2]
    is_apart = near > 0.0  # others are copies in the columns that are numbers
    if is_apart.sum() < 4 * _MIN_NEAR:
        return
    ratios = near[is_apart] / second[is_apart]
    middle = float(np.median(ratios))
    dimension = np.log(0.5) / np.log(min(max(middle, 1e-6), 1 - 1e-6))
    limit = min(_MAX_RATIO, _BY_CHANCE ** (1.0 / dimension))
    rows = np.flatnonzero(is_apart)[ratios <= limit]
    coarse = sample.value_columns(np.flatnonzero(case.used & ~is_fine))[:, everything]
    others = neighbours[rows, 1]
    rows = rows[
        ((coarse[:, rows] == coarse[:, others]) | np.isnan(coarse[:, rows])).all(axis=0)
    ]  # equal in all categories and few values
    least = max(_MIN_NEAR, _MIN_COPIED * len(Z), _TIMES_CHANCE * _BY_CHANCE * len(Z))
    if not len(rows):
        return
    same = np.mean(sample.codes[everything[rows]] == sample.codes[everything[neighbours[rows, 1]]])
    if len(rows) < least or same < _MIN_SAME:
        return
    found = np.sort(case.rows[everything[rows]])
    yield case.finding(
        "near copies",
        f"{len(rows)} of {len(Z):,} rows are far nearer to one other row than to the next (at most "
        f"{limit:.2g} of that distance); {same:.0%} of them have the class of that row: rows that "
        f"are tested are nearly the same as rows of the training part",
        case.show(found),
        rows=found,
    )
