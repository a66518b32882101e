"""Evidence per feature and class pair: AUC with interval, Mann-Whitney test, adjusted p-value."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr
from scipy.stats import false_discovery_control, hypergeom
from sklearn.utils import gen_batches

from mauc.checks import check_level
from mauc.compile import njit
from mauc.data.arguments import CategoricalFeatures, TableLike
from mauc.data.columns import ColumnBlock
from mauc.data.door import AUCS, FitOptions, make_problem, open_input
from mauc.data.problem import Problem
from mauc.engine.arrays import read_only
from mauc.engine.keys import key_blocks, label_bits_of, sort_columns
from mauc.engine.nominal import CategoryCounts, nominal_pair_auc
from mauc.exceptions import NoEvidenceWarning, option, warn_user
from mauc.layout import plain_layout
from mauc.measure.pair_auc import unordered_columns
from mauc.metrics.interval import binomial_bounds
from mauc.results import MAX_ROWS, Result, number, short_name

TESTS = ("Mann-Whitney", "Fisher")
MAP_LEVEL = 0.05  # false discovery rate of what maps show as significant
_MIN_OTHERS = 40  # rows but for the commonest value: with fewer, z is not normal
_MAX_TABLE = 2**20  # pairs times categories that are tested at once
_MAX_MAPPED = 2**25  # cells that are tested for a map


def pair_tests(
    X: TableLike,
    y: ArrayLike,
    *,
    level: float = 0.95,
    categorical_features: CategoricalFeatures = None,
    n_jobs: int | None = None,
) -> "PairTests":
    """Test every feature on every pair of classes.

    Parameters
    ----------
    X : array-like, sparse matrix or source of shape (n_samples, n_features)
        As in `feature_pair_auc`. Rows that lack a value are left out of the tests of its feature,
        as by ``nan_policy="omit"`` of SciPy.
    y : array-like of shape (n_samples,)
        Class labels.
    level : float, default=0.95
        Confidence level of the intervals.
    categorical_features : array-like of bool, int or str, optional
        Nominal columns, as a mask, numbers or names; columns of a categorical dtype or of strings
        in a data frame are nominal anyway.
    n_jobs : int, optional
        Threads; None is 1 unless a joblib context says otherwise, -1 is all cores. The result
        does not depend on it.

    Returns
    -------
    tests : PairTests
        It prints the most significant rows, iterates over all, and has ``to_frame()``.

    Notes
    -----
    z is that of the Mann-Whitney test with correction for ties and continuity, and p, two-sided,
    that of ``scipy.stats.mannwhitneyu(..., method="asymptotic")``. Where more than half of the rows
    of two classes share one value, as zeros of counts do, and few have another one, the normal
    approximation fails: if fewer than 40 such rows are expected in the smaller class, its size
    times their share in both, p is at least that of Fisher's exact test of having this value, twice
    the smaller tail. A nominal feature of more than two categories has no order and no z: p is the
    smallest of Fisher's tests of its categories, times their number. ``test`` says which p it is.

    These are tests of location: a feature whose values only spread more in one class, around the
    same middle, is not significant.

    ``p_adjusted`` is for all features and pairs at once, by Benjamini and Yekutieli [1]_: of the
    rows with ``p_adjusted <= 0.05``, at most 5 % are expected to be false, however features
    depend on each other. Rows of X must be independent: there are no groups. Simulations, by
    benchmarks/coverage_fdr.py, are in docs/answers/evidence.md.

    Intervals are those of the pairs of `mauc_interval`, each for itself; nominal features of more
    than two categories, whose AUC is leave-pair-out, have none.

    References
    ----------
    .. [1] Y. Benjamini, D. Yekutieli, "The Control of the False Discovery Rate in Multiple Testing
       under Dependency", Annals of Statistics 29, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from mauc import pair_tests
    >>> wine = load_wine(as_frame=True)
    >>> tests = pair_tests(wine.data, wine.target)
    >>> best = tests[0]
    >>> best.feature, f"{best.class_i} vs {best.class_j}", f"{best.auc:.3f}"
    ('proline', '0 vs 1', '0.987')
    >>> frame = tests.to_frame()
    >>> int((frame["p_adjusted"] <= 0.05).sum()), len(frame)
    (35, 39)
    """
    check_level("level", level)
    options = FitOptions(AUCS, categorical_features=categorical_features)
    X, y, _, joined = open_input(X, y)
    with joined as executor:
        problem = make_problem(X, y, options, executor=executor)
        cells = _over_columns(problem, _test_cells, n_jobs, level)
    p = cells[:, 4]
    features, pairs = np.unravel_index(np.lexsort((-cells[:, 0].ravel(), p.ravel())), p.shape)
    auc, lower, upper, z, p, test, direction = cells[features, :, pairs].T
    first, second = np.array(np.triu_indices(problem.n_classes, 1))[:, pairs]
    higher = problem.classes[np.where(direction > 0, first, second)].astype(object)
    higher[direction == 0] = None
    return PairTests(
        problem.names_of(features),
        problem.classes[first],
        problem.classes[second],
        higher,
        auc,
        lower,
        upper,
        z,
        p,
        adjust(p),
        np.array(TESTS)[test.astype(int)],
        features,
        level,
    )


@dataclass(frozen=True, repr=False)
class PairTests(Result):
    """Tests of features on class pairs, the most significant first; made by `pair_tests`.

    Parameters
    ----------
    feature, class_i, class_j : ndarray of shape (n_features * n_pairs,)
        Name of the feature, and the two classes.
    higher : ndarray of object
        The class whose values are higher; None where neither is, or the feature is nominal.
    auc, lower, upper : ndarray
        AUC folded around 1/2, and its interval, which may begin below 1/2. NaN, with an interval
        from 0 to 1, where no row of a class has a value.
    z, p, p_adjusted : ndarray
        z is at least 0, and NaN for nominal features of more than two categories.
    test : ndarray of str
        "Mann-Whitney" or "Fisher", see `pair_tests`.
    column : ndarray of int
        Number of the feature.
    level : float
        Confidence level of the intervals.
    """

    feature: np.ndarray
    class_i: np.ndarray
    class_j: np.ndarray
    higher: np.ndarray
    auc: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    z: np.ndarray
    p: np.ndarray
    p_adjusted: np.ndarray
    test: np.ndarray
    column: np.ndarray
    level: float

    def frame_columns(self) -> dict[str, Any]:
        """Return the columns of `to_frame`, one row per feature and pair."""
        return {name: part for name, part in vars(self).items() if name != "level"}

    def printed_parts(self) -> Any:
        """Return the most significant rows as a table."""
        heads = [
            "feature",
            "classes",
            "higher",
            "AUC",
            f"{100 * self.level:g}% interval",
            "z",
            "adjusted p",
        ]
        rows = [
            [
                short_name(row.feature),
                short_name(f"{row.class_i} vs {row.class_j}"),
                "-" if row.higher is None else short_name(row.higher),
                number(row.auc),
                f"{number(row.lower)} to {number(row.upper)}",
                number(row.z, ".2f"),
                f"{row.p_adjusted:.2g}",
            ]
            for row in islice(self, MAX_ROWS)
        ]
        return [plain_layout(heads, rows, len(self.p), right=("z", "adjusted p"))]


def significant_features(problem: Problem, alpha: float, n_jobs: int | None = None) -> np.ndarray:
    """Return the mask of features with a class pair that they separate, at a false discovery rate.

    Of a feature, the smallest p counts, times the number of pairs; features are adjusted by
    Benjamini and Yekutieli. Where none is significant, the best one is there, and a warning.
    """
    wishes = problem.wishes
    is_open = np.ones(problem.n_features, bool) if wishes is None else wishes.unit_of >= 0
    smallest = _over_columns(problem, _smallest_p, n_jobs)[is_open]
    adjusted = np.full(problem.n_features, np.inf)
    adjusted[is_open] = adjust(smallest)
    if adjusted.min() > alpha:
        warn_user(
            f"no feature separates two classes significantly: the smallest adjusted p-value is "
            f"{adjusted.min():.2g}, {option('fdr_alpha')} is {alpha:g}. One feature is selected, "
            f"that of the smallest p-value.",
            NoEvidenceWarning,
        )
        return np.arange(problem.n_features) == np.flatnonzero(is_open)[np.argmin(smallest)]
    return adjusted <= alpha


def significant_cells(
    problem: Problem, columns: np.ndarray, n_jobs: int | None = None
) -> np.ndarray | None:
    """Return which cells of columns and pairs are significant among those of all columns.

    None where rows have weights or groups, which the tests do not know, and of very large tables.
    The columns were chosen on the same rows, so that all features are tested, not these alone.
    """
    n_cells = problem.n_features * problem.n_pairs
    if problem.sample_weight is not None or problem.groups is not None or n_cells > _MAX_MAPPED:
        return None
    return (adjust(_over_columns(problem, _p_values, n_jobs)) <= MAP_LEVEL)[columns]


def adjust(p: np.ndarray) -> np.ndarray:
    """Return p-values adjusted for each other by Benjamini and Yekutieli, in any shape."""
    return false_discovery_control(p.ravel(), method="by").reshape(p.shape)


def _over_columns(
    problem: Problem, function: Callable[..., np.ndarray], n_jobs: int | None, *arguments: object
) -> np.ndarray:
    """Return what ``function(problem, block, *arguments)`` finds, for all columns in order."""
    n_scores = 4 * problem.n_classes**2
    found = problem.map(function, *arguments, n_scores=n_scores, n_jobs=n_jobs)
    return np.concatenate([part for _, part in found])


def _p_values(problem: Problem, block: ColumnBlock) -> np.ndarray:
    return _test_cells(problem, block)[:, 4]


def _smallest_p(problem: Problem, block: ColumnBlock) -> np.ndarray:
    """Return the smallest p-value of each column, times the number of pairs that count."""
    p, shares = _p_values(problem, block), problem.pair_shares
    p = p if shares is None else p[:, shares > 0]
    return np.minimum(1.0, p.shape[1] * p.min(axis=1))


def _test_cells(problem: Problem, block: ColumnBlock, level: float | None = None) -> np.ndarray:
    """Return AUC, bounds, z, p, the number of the test and the direction: (n_columns, 7, n_pairs).

    Without a level, there are no bounds.
    """
    counts, (wins, squares, ties, modes) = _sweep(problem, block)
    i, j = np.triu_indices(problem.n_classes, 1)
    n_i, n_j = counts[:, i], counts[:, j]
    n, n_both = n_i + n_j, n_i * n_j
    won, most = wins[:, i, j], np.maximum(wins[:, i, j], wins[:, j, i])  # doubled
    cells = np.zeros((len(counts), 7, len(i)))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Of t_i and t_j tied rows: (t_i + t_j)^3, summed.
        cubes = ties[:, i, i] + ties[:, j, j] + 3.0 * (ties[:, i, j] + ties[:, j, i])
        variance = n_both / 12.0 * (n + 1.0 - (cubes - n) / (n * (n - 1.0)))
        z = np.fmax((most - n_both - 1.0) / 2.0 / np.sqrt(variance), 0.0)  # 0 of what is constant
        cells[:, 0], cells[:, 3], cells[:, 4] = most / (2.0 * n_both), z, 2.0 * ndtr(-z)
        cells[:, 6] = np.sign(won - n_both)
        if level is not None:
            # DeLong: how the share of the other class that is below varies within each class.
            sides = [
                np.where(
                    own > 1.0,
                    np.maximum(own * squares[:, a, b] - wins[:, a, b] ** 2, 0.0)
                    / (own * (own - 1.0) * (2.0 * other) ** 2),
                    np.inf,
                )
                for a, b, own, other in ((i, j, n_i, n_j), (j, i, n_j, n_i))
            ]
            bounds = binomial_bounds(cells[:, 0], sides, (n_i, n_j), level)
            cells[:, 1:3] = np.moveaxis(bounds, 0, 1)
    n_mode = modes[:, i, j] + modes[:, j, i]
    n_others = np.minimum(n_i, n_j) * (n - n_mode)  # times n: expected in the smaller class
    has_mode = (n_mode > 0.0) & (n_both > 0.0) & (n_others < _MIN_OTHERS * n)
    exact = _fisher(modes[:, i, j][has_mode], modes[:, j, i][has_mode], n_i[has_mode], n[has_mode])
    cells[:, 5][has_mode] = exact > cells[:, 4][has_mode]
    cells[:, 4][has_mode] = np.maximum(cells[:, 4][has_mode], exact)
    if problem.missing == "side":  # to lack a value is evidence as well: the better of two tests
        gone, totals = problem.class_counts - counts, problem.class_counts
        lacking = _fisher(gone[:, i], gone[:, j], totals[i], totals[i] + totals[j])
        either = np.minimum(1.0, 2.0 * np.minimum(cells[:, 4], lacking))
        cells[:, 4] = np.where(gone[:, i] + gone[:, j] > 0.0, either, cells[:, 4])
    cells[:, 6][problem.is_nominal[block]] = 0.0
    for slot, categories in unordered_columns(problem, block):
        cells[slot, :4] = nominal_pair_auc(categories), *np.full((3, len(i)), np.nan)
        cells[slot, 4:6] = _category_p(categories, i, j), np.ones(len(i))
    return cells


def _category_p(categories: CategoryCounts, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the smallest p of Fisher's tests of categories for each pair, times their number."""
    n_classes = len(categories.totals)
    table = np.zeros((n_classes, categories.n_categories))
    classes = np.repeat(np.arange(n_classes), np.diff(categories.starts))
    table[classes, categories.categories] = categories.counts
    found = np.empty(len(i))
    for part in gen_batches(len(i), max(1, _MAX_TABLE // table.shape[1])):
        one, other = table[i[part]], table[j[part]]
        has, p = one + other > 0.0, np.ones(one.shape)
        n_i, n = (np.broadcast_to(n.sum(axis=1)[:, None], p.shape) for n in (one, one + other))
        p[has] = _fisher(one[has], other[has], n_i[has], n[has])
        n_tests = has.sum(axis=1)  # two categories are one test
        found[part] = np.minimum(1.0, p.min(axis=1) * np.where(n_tests > 2, n_tests, 1))
    return found


def _fisher(in_i: np.ndarray, in_j: np.ndarray, n_i: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return two-sided exact p-values that a class has `in_i` of the rows of a value."""
    law = n, in_i + in_j, n_i
    tails = hypergeom.cdf(in_i, *law), hypergeom.sf(in_i - 1.0, *law)
    return np.minimum(1.0, 2.0 * np.minimum(*tails))


def _sweep(problem: Problem, block: ColumnBlock) -> tuple[np.ndarray, np.ndarray]:
    """Return known rows by class, (n_columns, n_classes), and the sums of `_add_groups`."""
    XT, bits = problem.columns.ordered(block), label_bits_of(problem.n_classes)
    if XT.dtype == np.uint8:
        XT = read_only(XT.astype(np.float32))
    counts = np.zeros((len(XT), problem.n_classes))
    sums = np.zeros((4, len(XT), problem.n_classes, problem.n_classes))
    for part in key_blocks(XT):
        keys, n_known = sort_columns(XT[part], problem.codes, bits)
        _add_groups(keys, n_known, np.uint64(bits), counts[part], sums[:, part])
    return counts, sums


@njit
def _add_groups(keys, n_known, shift, counts, sums):
    """Sum over groups of tied keys, t_k of class k and b_k below, for classes i and j.

    With m = 2 b_j + t_j: t_i m, t_i m^2, t_i^2 t_j, and the t_i of a value that more than half of
    the rows of i and j have.
    """
    mask, n_classes = (np.uint64(1) << shift) - np.uint64(1), counts.shape[1]
    below, tied = np.empty(n_classes), np.zeros(n_classes)
    for f in range(keys.shape[0]):
        w, n, known = keys[f], n_known[f], counts[f]
        wins, squares, ties, modes = sums[0, f], sums[1, f], sums[2, f], sums[3, f]
        for at in range(n):
            known[np.int64(w[at] & mask)] += 1.0
        for k in range(n_classes):
            below[k] = 0.0
        start = 0
        while start < n:
            stop = start
            while stop < n and w[stop] >> shift == w[start] >> shift:
                tied[np.int64(w[stop] & mask)] += 1.0
                stop += 1
            for i in range(n_classes):
                t = tied[i]
                if t > 0.0:
                    for j in range(n_classes):
                        middle = 2.0 * below[j] + tied[j]
                        wins[i, j] += t * middle
                        squares[i, j] += t * middle * middle
                        ties[i, j] += t * t * tied[j]
            if stop - start > 1:
                for i in range(n_classes):
                    for j in range(n_classes):
                        if 2.0 * (tied[i] + tied[j]) > known[i] + known[j]:
                            modes[i, j] = tied[i]
            for k in range(n_classes):
                below[k] += tied[k]
                tied[k] = 0.0
            start = stop
