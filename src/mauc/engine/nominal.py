"""AUC of nominal columns, leave-pair-out: docs/methods/selectors.md has the formula.

Categories have no order of their own. Every pair of rows is judged by the other rows alone, so that
a column of noise has AUC 1/2 however many categories it has; in sample it would come near 1.

Weights are scaled to the effective number of rows of each class, and the n are sums of them. What
is left out is then not 1 but the mean of the own weights of the rows of a class in a category,
sum w^2 / sum w.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from mauc.compile import njit, njit_part
from mauc.engine.arrays import n_pairs_of

_MIN_TABLE = 2**16  # entries that a table of counts may have, however few the rows are
_MAX_ORDERED = 2  # categories that have an order
_SPLITTER = 2.0**12 + 1.0  # by which a double is rounded to 53 - 12 bits


class CategoryCounts(NamedTuple):
    """Rows of every class in the categories of a column, class after class."""

    starts: np.ndarray  #: (n_classes + 1,), int64: class k has the entries from starts[k] on
    categories: np.ndarray  #: (n_entries,), int64: ascending within a class
    counts: np.ndarray  #: (n_entries,), float64: rows, or their scaled weights; positive
    own: np.ndarray  #: (n_entries,), float64: what one row counts, 1 without weights
    totals: np.ndarray  #: (n_classes,), float64: rows of each class, or their scaled weights
    units: np.ndarray  #: (n_classes,), float64: what a row of each class weighs, 1 without weights
    n_categories: int  #: categories that occur are below this number

    @property
    def is_ordered(self) -> bool:
        """Whether there are at most two categories that occur."""
        return len(np.unique(self.categories)) <= _MAX_ORDERED

    @property
    def max_wins(self) -> np.ndarray:
        """The wins 2 n_i n_j of a perfect feature on every class pair."""
        first, second = np.triu_indices(len(self.totals), 1)
        return 2.0 * self.totals[first] * self.totals[second]

    def of_class(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the categories of class k and their counts."""
        part = slice(self.starts[k], self.starts[k + 1])
        return self.categories[part], self.counts[part]


def count_categories(
    values: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    row_weights: tuple[np.ndarray, np.ndarray] | None = None,
) -> CategoryCounts:
    """Count the rows of every class by category, with the `row_weights` of a `Problem`."""
    categories, y = values.astype(np.int64), codes.astype(np.int64)
    if row_weights is None:
        weights, units = None, np.ones(n_classes)
        totals: np.ndarray = np.bincount(codes, minlength=n_classes).astype(np.float64)
    else:
        weights, units = row_weights
        totals = np.bincount(codes, weights, minlength=n_classes)
        is_there = weights > 0
        categories, y, weights = categories[is_there], y[is_there], weights[is_there]
    n_categories = int(categories.max(initial=-1)) + 1
    cells = y * n_categories + categories
    n_cells = n_classes * n_categories
    if n_cells <= max(_MIN_TABLE, 4 * len(cells)):
        counts = np.bincount(cells, minlength=n_cells)
        found = entries = np.flatnonzero(counts)
    else:  # a table of all classes and categories would be nearly empty
        found, cells, counts = np.unique(cells, return_inverse=True, return_counts=True)
        entries = np.arange(len(found))
    counts = counts[entries].astype(np.float64)
    own = np.ones(len(found))
    if weights is not None:
        counts = np.bincount(cells, weights)[entries]
        own = np.bincount(cells, weights * weights)[entries] / counts
    n_categories = max(n_categories, 1)
    starts = np.searchsorted(found, np.arange(n_classes + 1) * n_categories)
    return CategoryCounts(
        starts.astype(np.int64), found % n_categories, counts, own, totals, units, n_categories
    )


def nominal_wins(counts: CategoryCounts) -> np.ndarray:
    """Return the wins of a nominal column on class pairs, from n_i n_j (no win) to 2 n_i n_j."""
    wins = np.empty(n_pairs_of(len(counts.totals)))
    longest = int(np.diff(counts.starts).max(initial=0))
    count_wins(
        counts.starts,
        counts.categories,
        counts.counts,
        counts.own,
        counts.totals,
        bool((counts.own != 1.0).any()),
        np.empty((4, longest)),
        wins,
    )
    return wins


def nominal_pair_auc(counts: CategoryCounts) -> np.ndarray:
    """Return the AUC of a nominal column on every class pair, 1/2 where weights underflow."""
    max_wins = counts.max_wins
    wins = np.minimum(nominal_wins(counts), max_wins)  # sums of weights are rounded
    return np.divide(wins, max_wins, out=np.full(len(wins), 0.5), where=max_wins > 0)


def apparent_pair_auc(counts: CategoryCounts) -> np.ndarray:
    """Return the same with no row left out: too high, the more so the more categories there are."""
    wins = nominal_wins(counts._replace(own=np.zeros_like(counts.own)))
    shape = len(counts.totals), counts.n_categories
    table = sparse.csr_array((counts.counts, counts.categories, counts.starts), shape)
    # Rows of one category are counted as lost where one is left out, and here tie besides.
    wins -= (table @ table.T).toarray()[np.triu_indices(shape[0], 1)]
    max_wins = counts.max_wins
    return np.divide(wins, max_wins, out=np.full(len(wins), 0.5), where=max_wins > 0)


def nominal_rest_auc(counts: CategoryCounts) -> np.ndarray:
    """Return the AUC of a nominal column on every class against the others, shape (n_classes,)."""
    n_classes = len(counts.totals)
    classes = np.repeat(np.arange(n_classes), np.diff(counts.starts))
    auc = np.empty(n_classes)
    for k in range(n_classes):
        own, own_counts = counts.of_class(k)
        is_other = np.arange(n_classes) != k
        # Weights of the others, in units of the largest of them, where those of a class sum to
        # the same as their squares; then scaled to their effective number of rows.
        units = counts.units * is_other / counts.units[is_other].max()
        total = (units * counts.totals).sum()
        factor = total / (units * units * counts.totals).sum()
        entries = np.flatnonzero(units[classes] * counts.counts)  # tiny weights may vanish
        of_entries = units[classes[entries]] * counts.counts[entries]
        squares = units[classes[entries]] * of_entries * counts.own[entries]
        at = counts.categories[entries]
        rest = np.unique(at)
        in_rest = np.bincount(at, of_entries, minlength=1)[rest]
        own_in_rest = np.bincount(at, squares, minlength=1)[rest] / in_rest
        auc[k] = nominal_pair_auc(
            CategoryCounts(
                np.array([0, len(own), len(own) + len(rest)]),
                np.concatenate([own, rest]),
                np.concatenate([own_counts, factor * in_rest]),
                np.concatenate([counts.own[classes == k], factor * own_in_rest]),
                np.array([counts.totals[k], factor * total]),
                np.ones(2),
                counts.n_categories,
            )
        )[0]
    return auc


@njit
def count_wins(starts, categories, counts, own, totals, is_rounded, work, wins):
    """Fill in the wins of all pairs; with `is_rounded`, scores that agree in 41 bits are equal."""
    pair = 0
    for i in range(totals.shape[0]):
        for j in range(i + 1, totals.shape[0]):
            won = _wins_of_pair(
                categories,
                counts,
                own,
                starts[i],
                starts[i + 1],
                starts[j],
                starts[j + 1],
                totals[i],
                totals[j],
                is_rounded,
                work,
            )
            wins[pair] = max(won, totals[i] * totals[j])
            pair += 1


@njit_part
def _wins_of_pair(categories, counts, own, a, a_stop, b, b_stop, n_i, n_j, is_rounded, work):
    """Return the wins of the rows of one pair, whose lists are a..a_stop and b..b_stop."""
    keys_i, counts_i, keys_j, counts_j = work[0], work[1], work[2], work[3]
    n = n_i + n_j
    n_a, n_b = 0, 0
    won = 0.0
    # Odds are times n / n: of whole numbers, so that equal ones are equal to the bit.
    while a < a_stop or b < b_stop:
        is_of_i = b == b_stop or (a < a_stop and categories[a] <= categories[b])
        is_of_j = a == a_stop or (b < b_stop and categories[b] <= categories[a])
        in_i = counts[a] if is_of_i else 0.0
        in_j = counts[b] if is_of_j else 0.0
        if is_of_i:
            keys_i[n_a] = (max(in_i - own[a], 0.0) * n + n_i) / (in_j * n + n_j)
            counts_i[n_a] = in_i
            n_a += 1
            a += 1
        if is_of_j:
            keys_j[n_b] = (in_i * n + n_i) / (max(in_j - own[b], 0.0) * n + n_j)
            counts_j[n_b] = in_j
            n_b += 1
            b += 1
        won += in_i * in_j  # the same category: a tie, where the keys would say lost
    if is_rounded:
        for side in range(2):
            keys = work[2 * side]
            for u in range(n_a if side == 0 else n_b):
                scaled = keys[u] * _SPLITTER
                keys[u] = scaled - (scaled - keys[u])
    for side in range(2):  # not two calls: the sort would be compiled into each
        _sort(work[2 * side], work[2 * side + 1], n_a if side == 0 else n_b)
    below = 0.0  # rows of j whose keys are less than that of u
    v = 0
    for u in range(n_a):
        while v < n_b and keys_j[v] < keys_i[u]:
            below += counts_j[v]
            v += 1
        equal = 0.0
        w = v
        while w < n_b and keys_j[w] == keys_i[u]:
            equal += counts_j[w]
            w += 1
        won += counts_i[u] * (2.0 * below + equal)
    return won


@njit_part
def _sort(keys, values, n):
    """Sort the first n keys in place, ascending, and the values with them (heapsort)."""
    # First every entry above the leaves sinks in the heap, then the largest goes behind it.
    for turn in range(n // 2 + n - 1):
        root, size = n // 2 - 1 - turn, n
        if root < 0:
            size = n + root
            keys[0], keys[size] = keys[size], keys[0]
            values[0], values[size] = values[size], values[0]
            root = 0
        child = 2 * root + 1
        while child < size:
            if child + 1 < size and keys[child + 1] > keys[child]:
                child += 1
            if keys[child] <= keys[root]:
                break
            keys[root], keys[child] = keys[child], keys[root]
            values[root], values[child] = values[child], values[root]
            root, child = child, 2 * child + 1
