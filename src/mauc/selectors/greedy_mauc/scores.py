"""Normal scores of all features in 8 bits, with the ties and class sums of their columns.

A *score* is Phi^-1((r - 1/2) / n) in units of 1 / `UNIT`, rounded to a whole number, with r the
rank of the value among all n rows, ties averaged. Whole numbers make every sum of products
exact, so that no number of threads and no order of rows changes a bit. A missing value is tied
with every value: its score is 0, and it counts half below and half above each known value.
Rounding adds 1e-4 to a variance of about 1, far less than n rows tell about it.
"""

from dataclasses import dataclass, field

import numpy as np
from numba import uintp
from scipy import sparse
from scipy.special import ndtri

from mauc.compile import njit, njit_part
from mauc.data.problem import Problem, group_by_class
from mauc.engine.nominal import CategoryCounts
from mauc.selectors.row_hash import sample_rows

UNIT = 32  # steps per standard deviation: 127 of them reach 3.97, the extreme of 14000 ranks
MAX_SCORE = 127
MIN_TIED = 0.1  # share of tied pairs of rows up to which the AUC alone tells the effect
_ALIGN = 64  # scores: products over whole vectors have no remainder
_MIN_WITHIN = 0.25  # whole numbers that differ within a class have a scatter of 1/2 or more
_N_SHRINKAGE_FEATURES = 64  # enough for a mean over 2016 pairs of features
_MIN_CLASS_COUNT = 3  # samples that a class needs for a correlation of its own
_STRIDE = 64  # ranks
# A sum of this many differences of scores and one of their squares fit into 64 bits.
_MAX_ADDED, _SQUARE_SHIFT = 1 << 20, 28
_N_SQUARES = 8  # the power method takes 2^8 steps
_MAX_SQUARED = 64  # classes whose matrix is squared; with more, a vector is multiplied step by step
_MAX_DENSE = 2**22  # products of a dense table of categories and classes
_DECIMALS = 9  # scores that agree to this many are equal, whatever the order of their sums was


@dataclass(frozen=True)
class NormalScores:
    """Normal scores of all features."""

    padded: np.ndarray  #: (n_features, >= n_kept), int8: rows sorted by class, then zeros
    sums: np.ndarray  #: (n_classes, n_features), int64: over the kept rows of each class
    squares: np.ndarray  #: (n_features,), int64: sums of squares over all kept rows
    class_counts: np.ndarray  #: (n_classes,), int64: kept rows of each class
    varies: np.ndarray  #: (n_features,), bool: False if constant in all samples, kept or not
    rows: np.ndarray  #: (n_kept,), int32: the rows that are kept, sorted by class
    #: for nominal features of more than two categories, whose scores are made of the classes, the
    #: sum of their squared leave-pair-out effects over the class pairs
    nominal_squares: dict[int, float] = field(default_factory=dict)

    @property
    def scores(self) -> np.ndarray:
        """The scores alone, shape (n_features, n_kept)."""
        return self.padded[:, : self.class_counts.sum()]

    def within_scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the centers and scales that turn dot products into within-class correlations.

        Centers, of shape (n_classes, n_features), are the sums of a class over the root of its
        size; scales, of shape (n_features,), one over the root of the scatter within the classes,
        0 if there is none.
        """
        centers = self.sums / np.sqrt(np.maximum(self.class_counts, 1))[:, None]
        within = self.squares.astype(np.float64)
        for center in centers:
            within -= center * center
        return centers, np.where(within > _MIN_WITHIN, 1.0 / np.sqrt(np.maximum(within, 0.1)), 0.0)


class KeptRows:
    """The rows in `order` by class, class k from ``starts[k]`` on, and which are kept.

    `kept` are the offsets in `order` of the rows on which correlations are measured.
    """

    def __init__(self, problem: Problem, max_samples: int | None, kept: np.ndarray | None = None):
        order, self.starts, _ = group_by_class(problem.codes, problem.n_classes)
        self.order = order.astype(np.int32)
        self.kept = np.arange(problem.n_samples) if kept is None else kept
        if max_samples is not None and max_samples < problem.n_samples:
            self.kept = sample_rows(problem, self.order, self.starts, max_samples)


class NormalScorer:
    """Writes the scores of the columns of a problem, one block at a time, into `scores`."""

    def __init__(self, problem: Problem, rows: KeptRows):
        self.rows, self.class_counts = rows, problem.class_counts
        self.labels = np.zeros(-(-problem.n_samples // 8) * 8, np.int32)
        self.labels[: problem.n_samples] = problem.codes
        self.table = score_table(problem.n_samples)
        kept_rows = rows.order[rows.kept]
        counts = np.bincount(problem.codes[kept_rows], minlength=problem.n_classes)
        self.kept_starts = np.concatenate([[0], np.cumsum(counts)])
        n_features, n_padded = problem.n_features, -(-len(kept_rows) // _ALIGN) * _ALIGN
        self.scores = NormalScores(
            np.zeros((n_features, n_padded), np.int8),
            np.empty((problem.n_classes, n_features), np.int64),
            np.empty(n_features, np.int64),
            counts,
            np.empty(n_features, np.bool_),
            kept_rows,
        )


class BlockScores:
    """Scores, ties and class sums of a block of columns, written by a `ColumnReader`.

    Class sums are of all rows, kept or not, and of columns in which more than 1/10 of the pairs of
    rows are tied, or of all.
    """

    def __init__(self, scorer: NormalScorer, block: slice, *, takes_all: bool):
        self._scorer, self._first, self.takes_all = scorer, block.start, takes_all
        #: tied ordered pairs of rows per column, 0 if they are few
        self.n_tied = np.empty(block.stop - block.start, np.int64)
        #: sums of the scores over each class, and of their squares
        self.moments = np.empty((len(self.n_tied), 2, len(scorer.class_counts)), np.int64)

    @property
    def columns(self) -> np.ndarray:
        """The columns of the block whose sums are filled in."""
        return np.arange(len(self.n_tied)) if self.takes_all else np.flatnonzero(self.n_tied)

    def write_levels(self, LT: np.ndarray, columns: np.ndarray) -> None:
        """Write the scores of columns of levels, uint8, none of which is missing."""
        scorer = self._scorer
        out, n_classes = scorer.scores, len(scorer.class_counts)
        column = np.zeros(len(scorer.labels), np.uint8)
        level_scores(
            LT, scorer.table, out.rows, columns, scorer.labels, scorer.class_counts,
            np.empty(4 * 256, np.int32), np.empty(256, np.int8), column, column.view(np.uint64),
            np.empty(256, np.uint64), np.empty((2, n_classes), np.uint64), out.padded, out.varies,
            self._first, self.takes_all, self.n_tied, self.moments,
        )  # fmt: skip
        sum_scores(out.padded, scorer.kept_starts, columns, out.sums, out.squares)

    def write_sorted(
        self, keys: np.ndarray, n_known: np.ndarray, row_bits: int, columns: np.ndarray
    ) -> None:
        """Write the scores of sorted columns."""
        scorer = self._scorer
        out = scorer.scores
        sorted_scores(
            keys, n_known, row_bits, scorer.table, scorer.rows.kept,
            np.empty(keys.shape[1], np.int8), scorer.rows.starts, columns, out.padded, out.varies,
            self._first, self.takes_all, self.n_tied, self.moments,
        )  # fmt: skip
        sum_scores(out.padded, scorer.kept_starts, columns, out.sums, out.squares)


def score_table(n_samples: int) -> np.ndarray:
    """Return the score of every doubled rank, shape (2 n_samples + 1,), int8.

    Entry t, for 0 < t < 2 n, is the score of (r - 1/2) / n = t / (2 n). It is odd about the middle,
    so that x and -x have opposite scores.
    """

    def score(t):
        lower = ndtri(t / (2 * n_samples))
        return np.clip(np.rint(UNIT * lower), -MAX_SCORE, 0).astype(np.int8)

    # There are few scores and they ascend: between two equal ones nothing is computed.
    ends = np.append(np.arange(1, n_samples, _STRIDE), n_samples)
    of_ends = score(ends)
    table = np.zeros(2 * n_samples + 1, np.int8)
    table[1:n_samples] = np.repeat(of_ends[:-1], np.diff(ends))
    table[n_samples] = of_ends[-1]
    inner = ends[:-1][np.diff(of_ends) != 0, np.newaxis] + np.arange(_STRIDE)
    inner = inner[inner <= n_samples]
    table[inner] = score(inner)
    table[n_samples : 2 * n_samples] = -table[n_samples:0:-1]
    return table


def estimate_shrinkage(scores: NormalScores) -> float:
    r"""Return the shrinkage intensity of the within-class correlations, in [0, 1].

    One correlation r of two features is used for all class pairs, pooled over the c classes of n
    samples. It misses that of one pair of classes by chance, with variance
    :math:`(1 - r^2)^2 / (n - c)`, and because the classes differ, with half the variance s^2 of
    the correlation r_k of a class about r, :math:`s^2 = \sum_k (n_k / n) [(r_k - r)^2 - (1 -
    r_k^2)^2 / (n_k - 1)]`. With h the mean of the sum of both over pairs of features, the multiple
    of r with the least mean squared error has the shrinkage h / (h + mean r^2) (Ledoit and Wolf;
    Schaefer and Strimmer). Up to 64 of the features that vary, at even distances, are looked at.
    """
    varying = np.flatnonzero(scores.varies)
    n_chosen = min(_N_SHRINKAGE_FEATURES, len(varying))
    counts = scores.class_counts
    n_free = counts.sum() - np.count_nonzero(counts)
    if n_chosen < 2:
        return 0.0
    if n_free < 1:
        return 1.0
    chosen = varying[np.arange(n_chosen) * len(varying) // n_chosen]
    values = scores.scores[chosen].astype(np.float64)
    pairs = np.triu_indices(n_chosen, 1)
    stops = np.cumsum(counts)
    scatters = {}
    for k in np.flatnonzero(counts):
        part = values[:, stops[k] - counts[k] : stops[k]]
        total = part.sum(axis=1)
        # Products of whole numbers below 2^53: exact, whatever the order of the sum.
        scatters[k] = part @ part.T - np.outer(total, total) / counts[k]
    r = _correlations(sum(scatters.values()))[pairs]
    spread, weight = 0.0, 0
    for k, scatter in scatters.items():
        if counts[k] >= _MIN_CLASS_COUNT:
            r_k = _correlations(scatter)[pairs]
            chance = (1.0 - r_k**2) ** 2 / (counts[k] - 1)
            spread += counts[k] * np.mean((r_k - r) ** 2 - chance)
            weight += counts[k]
    error = np.mean((1.0 - r**2) ** 2) / n_free + max(0.0, spread) / max(weight, 1) / 2
    return float(min(1.0, error / (error + np.mean(r**2))))


def _correlations(scatter):
    """Return correlations from sums of squares and products, 0 where nothing varies."""
    deviations = np.sqrt(np.maximum(np.diag(scatter), 0.0))
    # Whole numbers that differ have a scatter of 1/2 or more.
    inverse = np.where(deviations > 0.5, 1.0 / np.maximum(deviations, 0.5), 0.0)
    return scatter * inverse[:, None] * inverse


def category_scores(counts: CategoryCounts) -> np.ndarray:
    r"""Return the score of every category; the largest is 1 or -1, 0 those that do not occur.

    With :math:`n_{kv}` rows of class k in category v, n in all and :math:`c_k` the share of class
    k, the axis is the unit vector u that maximises :math:`\lambda = \sum_v (n_v / n) f_v^2` with
    :math:`f_v = \sum_k n_{kv} a_k / n_v` and :math:`a_k = u_k / \sqrt{c_k}`, a mean over the rows
    of a category whose variance by chance is :math:`1/n_v`. It is shrunk towards 0, the mean of all
    rows, to :math:`f_v n_v \tau^2 / (1 + n_v \tau^2)`, where :math:`\tau^2 = \max(0, n \lambda -
    (\sqrt{V - 1} + \sqrt{c - 1})^2) / (n - \sum_v n_v^2 / n)` is what the scores of the V
    categories vary beyond chance; so the rare ones of a column of noise do not lie at its ends.
    """
    known = np.array([counts.of_class(k)[1].sum() for k in range(len(counts.totals))])
    n, shares = known.sum(), known / known.sum()
    inverse_roots = np.where(shares > 0, 1.0 / np.sqrt(np.maximum(shares, 1e-300)), 0.0)
    sizes = np.bincount(counts.categories, counts.counts, minlength=counts.n_categories)
    products = _profile_products(counts, sizes) / n - np.outer(shares, shares)
    products *= np.outer(inverse_roots, inverse_roots)
    axis, inertia = _leading_axis(products, np.sqrt(shares))
    classes = np.repeat(np.arange(len(known)), np.diff(counts.starts))
    of_entries = counts.counts * (axis * inverse_roots)[classes]
    totals = np.bincount(counts.categories, of_entries, minlength=counts.n_categories)
    n_categories, n_classes = np.count_nonzero(sizes), np.count_nonzero(known)
    chance = (np.sqrt(n_categories - 1) + np.sqrt(n_classes - 1)) ** 2
    variance = max(0.0, n * inertia - chance) / max(n - (sizes * sizes).sum() / n, 1e-300)
    scores = totals / (1.0 + sizes * variance)
    return scores / max(np.abs(scores).max(), 1e-300)


def rank_scores(scores):
    """Return the ranks 0, 1, ... of scores, float64; equal ones have the same."""
    return np.unique(scores.round(_DECIMALS), return_inverse=True)[1].astype(np.float64)


def class_signs(counts, scores):
    """Return for every class pair the sign of the difference of the mean scores, never 0."""
    means = np.zeros(len(counts.totals))
    for k in range(len(means)):
        categories, in_class = counts.of_class(k)
        means[k] = (scores[categories] * in_class).sum() / max(in_class.sum(), 1e-300)
    first, second = np.triu_indices(len(means), 1)
    return np.where(means[first] >= means[second], 1.0, -1.0)


def _profile_products(counts, sizes):
    """Return the sums over the categories of n_kv n_lv / n_v, shape (n_classes, n_classes)."""
    n_classes = len(counts.totals)
    shares = counts.counts / sizes[counts.categories]
    if counts.n_categories * n_classes**2 > _MAX_DENSE:
        shape = (counts.n_categories, n_classes)
        table = sparse.csc_array((counts.counts, counts.categories, counts.starts), shape)
        profiles = sparse.csc_array((shares, counts.categories, counts.starts), shape)
        return (table.T @ profiles).toarray()
    table, profiles = np.zeros((2, n_classes, counts.n_categories))
    cells = np.repeat(np.arange(n_classes), np.diff(counts.starts)), counts.categories
    table[cells], profiles[cells] = counts.counts, shares
    return np.einsum("kv,lv->kl", table, profiles)


def _leading_axis(matrix, trivial):
    """Return the eigenvector of the largest eigenvalue, and that, by the power method.

    It starts from the order of the classes, so that of several axes with the same eigenvalue
    (categories that determine the class) one is taken that tells all classes apart. Sums are
    NumPy's own: those of BLAS would depend on the number of threads.
    """
    axis = _unit(np.arange(1.0, len(matrix) + 1.0) * trivial, trivial)
    if len(matrix) <= _MAX_SQUARED:
        power = matrix
        for _ in range(_N_SQUARES):
            power = power / max(np.abs(power).max(), 1e-300)
            power = np.einsum("kl,lm->km", power, power)
        axis = _unit(np.einsum("kl,l->k", power, axis), trivial)
    else:
        for _ in range(2**_N_SQUARES):
            axis = _unit(np.einsum("kl,l->k", matrix, axis), trivial)
    return axis, float(np.einsum("k,k->", axis, np.einsum("kl,l->k", matrix, axis)))


def _unit(vector, trivial):
    """Return a vector of length 1, orthogonal to the unit vector `trivial`."""
    vector = vector - trivial * np.einsum("k,k->", trivial, vector)
    return vector / max(np.sqrt(np.einsum("k,k->", vector, vector)), 1e-300)


@njit(cache=True, nogil=True)
def level_scores(
    LT, table, rows, columns, labels, class_counts, counts, scores, column, eights, packed, added,
    out, varies, first, takes_all, n_tied, moments,
):  # fmt: skip
    """Fill `out` with the scores of columns of levels.

    `LT` of shape (n_columns, n_samples), uint8, has no missing value; column j goes to row
    ``columns[j]`` of `out`, with the scores of `rows`, and to ``columns[j] - first`` of `n_tied`
    and `moments`. `labels` and `column`, of equal length, a multiple of eight, end with zeros;
    `eights` are the bytes of `column` as uint64. `counts` (4 * 256,), `scores` and `packed`
    (256,) and `added` (2, n_classes) are work space. `n_tied` counts ordered pairs of rows with
    equal values, a row with itself among them; 0 if that is at most 1/10 of all, or nothing ties.
    `moments` are filled for columns with ties by that count, or for all.
    """
    n = uintp(LT.shape[1])
    # Four counters per level: with one, each of a run of equal values would wait for the store
    # before it. Level 0, the background of images and counts, follows from the others: eight
    # rows of it are skipped at once.
    for j in range(LT.shape[0]):
        levels, target = LT[j], out[columns[j]]
        for c in range(uintp(counts.shape[0])):
            counts[c] = 0
        for i in range(n):
            column[i] = levels[i]
        for block in range(uintp(eights.shape[0])):
            if eights[block] != 0:
                start = block << uintp(3)
                for lane in range(uintp(8)):
                    counts[((lane & uintp(3)) << uintp(8)) + uintp(column[start + lane])] += 1
        n_above = 0
        for level in range(uintp(1), uintp(256)):
            n_equal = counts[level] + counts[level + uintp(256)] + counts[level + uintp(512)]
            n_equal += counts[level + uintp(768)]
            counts[level] = n_equal
            n_above += n_equal
        counts[0] = np.int64(n) - n_above
        n_less = n_pairs = np.int64(0)
        lowest = last = table[0]
        for level in range(256):
            n_equal = np.int64(counts[level])
            if n_equal > 0:
                last = table[2 * n_less + n_equal]
                lowest = last if n_less == 0 else lowest
                scores[level] = last
            n_less += n_equal
            n_pairs += n_equal * n_equal
        varies[columns[j]] = lowest != last
        at = columns[j] - first
        n_tied[at] = _count_tied(n_pairs, np.int64(n))
        if takes_all or n_tied[at] > 0:
            for level in range(256):
                above = np.int64(scores[level]) - np.int64(lowest)
                above = above if counts[level] > 0 else np.int64(0)
                packed[level] = (above * above << _SQUARE_SHIFT) + above
            _sum_levels(
                column, eights, labels, packed, added, np.int64(lowest), class_counts, moments[at]
            )
        for i in range(uintp(rows.shape[0])):
            target[i] = scores[levels[uintp(rows[i])]]


@njit_part
def _sum_levels(column, eights, labels, packed, added, lowest, class_counts, moments):
    """Sum the scores of each class and their squares; those of a level above the lowest score.

    The two numbers of a level are in its word of `packed`, 0 for level 0.
    """
    low_bits = (np.uint64(1) << np.uint64(_SQUARE_SHIFT)) - np.uint64(1)
    total, square = moments[0], moments[1]
    for k in range(class_counts.shape[0]):
        total[k] = square[k] = 0
    n_blocks = uintp(eights.shape[0])
    for start in range(uintp(0), n_blocks, uintp(_MAX_ADDED >> 3)):
        # Two counters per class, for rows that are sorted by class.
        for k in range(class_counts.shape[0]):
            added[0, k] = added[1, k] = 0
        stop = start + uintp(_MAX_ADDED >> 3)
        for block in range(start, stop if stop < n_blocks else n_blocks):
            if eights[block] != 0:
                first = block << uintp(3)
                for lane in range(uintp(8)):
                    i = first + lane
                    added[lane & uintp(1), uintp(labels[i])] += packed[column[i]]
        for k in range(class_counts.shape[0]):
            word = added[0, k] + added[1, k]
            total[k] += np.int64(word & low_bits)
            square[k] += np.int64(word >> np.uint64(_SQUARE_SHIFT))
    # sums of x and x^2 become those of x + lowest
    for k in range(class_counts.shape[0]):
        shifted = lowest * class_counts[k]
        square[k] += lowest * (2 * total[k] + shifted)
        total[k] += shifted


@njit(cache=True, nogil=True)
def sorted_scores(
    keys, n_known, row_bits, table, kept, by_offset, starts, columns, out, varies, first,
    takes_all, n_tied, moments,
):  # fmt: skip
    """Fill `out` with the scores of columns that are sorted already.

    `keys` of shape (n_columns, n_samples), uint64, ascend, with the offset of a row among the rows
    sorted by class in their `row_bits` low bits; keys of equal values agree in the bits above, and
    those beyond ``n_known[j]`` are of missing values. `kept` are the offsets whose scores are kept,
    `by_offset` of shape (n_samples,), int8, is work space, class k starts at offset ``starts[k]``.
    The other arguments are those of `level_scores`; a pair of rows is tied, too, where one value or
    both are missing.
    """
    n = keys.shape[1]
    shift = np.uint64(row_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    keeps_all = kept.shape[0] == n
    for j in range(keys.shape[0]):
        w, row = keys[j], out[columns[j]]
        target = row[:n] if keeps_all else by_offset
        n_here = n_known[j]
        n_missing = n - n_here
        if n_missing > 0:
            for i in range(n):
                target[i] = 0
        n_equal = 0
        for i in range(uintp(1), uintp(max(n_here, 1))):
            n_equal += (w[i] >> shift) == (w[i - uintp(1)] >> shift)
        varies[columns[j]] = False
        n_pairs = n_here
        if n_equal == 0:
            for i in range(uintp(n_here)):
                target[uintp(w[i] & mask)] = table[uintp(2) * i + uintp(1 + n_missing)]
            if n_here > 0:
                varies[columns[j]] = table[1 + n_missing] != table[2 * n_here - 1 + n_missing]
        else:
            start = n_pairs = 0
            lowest = score = np.int8(0)
            # w[start] opens a run of equal values; the rows before it have their scores
            while start < n_here:
                stop = start + 1
                while stop < n_here and (w[stop] >> shift) == (w[start] >> shift):
                    stop += 1
                score = table[start + stop + n_missing]
                lowest = score if start == 0 else lowest
                for i in range(start, stop):
                    target[uintp(w[i] & mask)] = score
                n_pairs += (stop - start) * (stop - start)
                start = stop
            varies[columns[j]] = lowest != score
        at = columns[j] - first
        n_pairs += n_missing * (n + n_here)
        n_tied[at] = _count_tied(n_pairs, n)
        if takes_all or n_tied[at] > 0:
            for k in range(starts.shape[0] - 1):
                _sum_range(target, starts[k], starts[k + 1], k, moments[at])
        if not keeps_all:
            for i in range(uintp(kept.shape[0])):
                row[i] = by_offset[uintp(kept[i])]


@njit_part
def _sum_range(row, start, stop, k, moments):
    total = square = np.int64(0)
    for i in range(uintp(start), uintp(stop)):
        value = np.int64(row[i])
        total += value
        square += value * value
    moments[0, k], moments[1, k] = total, square


@njit(cache=True, nogil=True)
def sum_scores(scores, starts, columns, sums, squares):
    """Fill in the sum of the scores over each class, from ``starts[k]`` on, and of all squares."""
    for j in columns:
        row = scores[j]
        square = np.int64(0)
        for k in range(sums.shape[0]):
            total = np.int64(0)
            for i in range(uintp(starts[k]), uintp(starts[k + 1])):
                value = np.int64(row[i])
                total += value
                square += value * value
            sums[k, j] = total
        squares[j] = square


@njit_part
def _count_tied(n_pairs, n):
    """Return the tied of the n^2 ordered pairs of rows, 0 if they are few or each row's own."""
    is_tied = n_pairs > n and np.float64(n_pairs) > MIN_TIED * np.float64(n) * np.float64(n)
    return n_pairs if is_tied else np.int64(0)
