"""Normal scores of columns in 8 bits: columns in, scores sorted by class, ties and sums out.

A *score* is Phi^-1((r - 1/2) / n) in units of 1 / `UNIT`, rounded to a whole number, with r the
rank of the value among all n rows, ties averaged. Whole numbers make every sum of products
exact, so that no number of threads and no order of rows changes a bit. A missing value is tied
with every value: its score is 0, and it counts half below and half above each known value.

Columns in which more than 1/10 of the pairs of rows are tied, or all where classes are small, get
the sums of scores and of their squares over all rows of each class, beside those of the rows that
are kept.
"""

import numpy as np
from numba import uintp
from scipy import sparse
from scipy.special import ndtri

from mauc.compile import njit, njit_part

UNIT = 32  # steps per standard deviation: 127 of them reach 3.97, the extreme of 14000 ranks
MAX_SCORE = 127
MIN_TIED = 0.1  # share of tied pairs of rows up to which the AUC alone tells the effect
_STRIDE = 64  # ranks
# A sum of so many differences of scores and one of their squares fit into one word.
_MAX_ADDED, _SQUARE_SHIFT = 1 << 20, 28


def score_table(n_samples):
    """Return the score of every doubled rank.

    Returns
    -------
    table : ndarray of shape (2 n_samples + 1,), int8
        Entry t, for 0 < t < 2 n, is the score of (r - 1/2) / n = t / (2 n). It is odd about
        the middle, so that x and -x have opposite scores.
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


@njit_part
def _count_tied(n_pairs, n):
    """Return the tied of the n^2 ordered pairs of rows, 0 if they are few or each row's own."""
    is_tied = n_pairs > n and np.float64(n_pairs) > MIN_TIED * np.float64(n) * np.float64(n)
    return n_pairs if is_tied else np.int64(0)


@njit(cache=True, nogil=True)
def level_scores(
    LT, table, rows, columns, labels, class_counts, counts, scores, column, eights, words, added,
    out, varies, first, takes_all, n_tied, moments,
):  # fmt: skip
    """Fill `out` with the scores of columns of levels.

    Parameters
    ----------
    LT : ndarray of shape (n_columns, n_samples), uint8
        No value is missing.
    table : ndarray of shape (2 n_samples + 1,), int8
        From `score_table`.
    rows : ndarray of shape (n_kept,), int32
        Rows whose scores are kept, in their order there; all rows count for the ranks.
    columns : ndarray of shape (n_columns,), int64
        Where each column goes in `out` and `varies`.
    labels : ndarray of shape (>= n_samples,), int32
        Class codes, as long as `column`; zeros follow those of the samples.
    class_counts : ndarray of shape (n_classes,), int64
        All rows of each class.
    counts : ndarray of shape (4, 256), int32
    scores : ndarray of shape (256,), int8
        Work space.
    column : ndarray of shape (>= n_samples,), uint8
        Work space, its length a multiple of eight; zeros follow the samples.
    eights : ndarray, uint64
        The same bytes.
    words : ndarray of shape (256,), uint64
    added : ndarray of shape (2, n_classes), uint64
        Work space.
    out : ndarray of shape (n_features, >= n_kept), int8
    varies : ndarray of shape (n_features,), bool
        Filled: whether a column has more than one score.
    first : int
        Column whose ties go to the first place of `n_tied` and `moments`.
    takes_all : bool
        Whether `moments` are filled for columns with few ties, too.
    n_tied : ndarray of shape (n_places,), int64
        Filled: ordered pairs of rows with equal values, a row with itself among them; 0 if that
        is at most 1/10 of all, or no two rows have equal values.
    moments : ndarray of shape (n_places, 2, n_classes), int64
        Filled for columns with ties by that count, or for all: the sums of the scores of all rows
        of each class, and of their squares.
    """
    n = uintp(LT.shape[1])
    # Four counters per level: with one, each of a run of equal values would wait for the store
    # before it. Level 0, the background of images and counts, follows from the others: eight
    # rows of it are skipped at once.
    for j in range(LT.shape[0]):
        levels, target = LT[j], out[columns[j]]
        for level in range(256):
            counts[0, level] = counts[1, level] = counts[2, level] = counts[3, level] = 0
        for i in range(n):
            column[i] = levels[i]
        for block in range(uintp(eights.shape[0])):
            if eights[block] != 0:
                start = block << uintp(3)
                for lane in range(uintp(8)):
                    counts[lane & uintp(3), column[start + lane]] += 1
        n_above = 0
        for level in range(1, 256):
            n_above += counts[0, level] + counts[1, level] + counts[2, level] + counts[3, level]
        counts[1, 0] = counts[2, 0] = counts[3, 0] = 0
        counts[0, 0] = np.int64(n) - n_above
        n_less = n_pairs = 0
        lowest = last = table[0]
        for level in range(256):
            n_equal = counts[0, level] + counts[1, level] + counts[2, level] + counts[3, level]
            if n_equal > 0:
                last = table[2 * n_less + n_equal]
                lowest = last if n_less == 0 else lowest
                scores[level] = last
            n_less += n_equal
            n_pairs += np.int64(n_equal) * np.int64(n_equal)
        varies[columns[j]] = lowest != last
        place = columns[j] - first
        n_tied[place] = _count_tied(n_pairs, np.int64(n))
        if takes_all or n_tied[place] > 0:
            for level in range(256):
                n_equal = counts[0, level] + counts[1, level] + counts[2, level] + counts[3, level]
                above = np.int64(scores[level]) - np.int64(lowest) if n_equal > 0 else np.int64(0)
                words[level] = (above * above << _SQUARE_SHIFT) + above
            _sum_levels(column, eights, labels, words, added, moments[place])
            _shift_moments(np.int64(lowest), class_counts, moments[place])
        for i in range(uintp(rows.shape[0])):
            target[i] = scores[levels[uintp(rows[i])]]


@njit_part
def _sum_levels(column, eights, labels, words, added, moments):
    """Sum over the rows of each class the two numbers in the word of their level, 0 for level 0."""
    low_bits = (np.uint64(1) << np.uint64(_SQUARE_SHIFT)) - np.uint64(1)
    moments[:] = 0
    n_blocks = uintp(eights.shape[0])
    for start in range(uintp(0), n_blocks, uintp(_MAX_ADDED >> 3)):
        # Two counters per class, for rows that are sorted by class.
        added[:] = 0
        for block in range(start, min(start + uintp(_MAX_ADDED >> 3), n_blocks)):
            if eights[block] != 0:
                first = block << uintp(3)
                for lane in range(uintp(8)):
                    i = first + lane
                    added[lane & uintp(1), uintp(labels[i])] += words[column[i]]
        for k in range(added.shape[1]):
            total = added[0, k] + added[1, k]
            moments[0, k] += np.int64(total & low_bits)
            moments[1, k] += np.int64(total >> np.uint64(_SQUARE_SHIFT))


@njit_part
def _shift_moments(shift, class_counts, moments):
    """Turn sums of x and x^2 into those of x + shift."""
    for k in range(class_counts.shape[0]):
        moments[1, k] += shift * (2 * moments[0, k] + shift * class_counts[k])
        moments[0, k] += shift * class_counts[k]


@njit(cache=True, nogil=True)
def sorted_scores(
    words, n_known, row_bits, table, places, by_place, starts, columns, out, varies, first,
    takes_all, n_tied, moments,
):  # fmt: skip
    """Fill `out` with the scores of columns that are sorted already.

    Parameters
    ----------
    words : ndarray of shape (n_columns, n_samples), uint64
        Sorted words, the place of a row among the rows sorted by class in their `row_bits` low
        bits; words of equal values agree in the bits above.
    n_known : ndarray of shape (n_columns,), int64
        Words of each column; the others are of missing values.
    row_bits : int
    places : ndarray of shape (n_kept,), int64
        Places whose scores are kept.
    by_place : ndarray of shape (n_samples,), int8
        Work space.
    starts : ndarray of shape (n_classes + 1,), int64
        Where each class starts among all rows sorted by class.
    table, columns, out, varies, first, takes_all, moments
        See `level_scores`.
    n_tied : ndarray of shape (n_places,), int64
        As there; a pair of rows is tied, too, where one value or both are missing.
    """
    n = words.shape[1]
    shift = np.uint64(row_bits)
    mask = (np.uint64(1) << shift) - np.uint64(1)
    keeps_all = places.shape[0] == n
    for j in range(words.shape[0]):
        w, row = words[j], out[columns[j]]
        target = row[:n] if keeps_all else by_place
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
        place = columns[j] - first
        n_pairs += n_missing * (n + n_here)
        n_tied[place] = _count_tied(n_pairs, n)
        if takes_all or n_tied[place] > 0:
            for k in range(starts.shape[0] - 1):
                _sum_range(target, starts[k], starts[k + 1], k, moments[place])
        if not keeps_all:
            for i in range(uintp(places.shape[0])):
                row[i] = by_place[uintp(places[i])]


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
    """Fill in the sum of the scores over each class and of their squares over all rows.

    Parameters
    ----------
    scores : ndarray of shape (n_features, >= n_kept), int8
        Rows sorted by class.
    starts : ndarray of shape (n_classes + 1,), int64
        Where each class starts.
    columns : ndarray of shape (n_columns,), int64
        Features whose sums are filled in.
    sums : ndarray of shape (n_classes, n_features), int64
    squares : ndarray of shape (n_features,), int64
    """
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


_N_SQUARES = 8  # the power method takes 2^8 steps
_MAX_SQUARED = 64  # classes whose matrix is squared; with more, a vector is multiplied step by step
_MAX_DENSE = 2**22  # products of a dense table of categories and classes
_DECIMALS = 9  # scores that agree in so many are equal, whatever the order of their sums was


def category_scores(counts):
    r"""Return the score of every category.

    Parameters
    ----------
    counts : CategoryCounts

    Returns
    -------
    scores : ndarray of shape (n_categories,), float64
        The largest is 1 or -1; 0 for categories that do not occur.

    Notes
    -----
    With :math:`n_{kv}` rows of class k in category v, n in all and :math:`c_k` the share of class
    k, the axis is the unit vector u that maximises

    .. math:: \lambda = \sum_v \frac{n_v}{n} f_v^2, \qquad
        f_v = \frac{1}{n_v} \sum_k n_{kv} a_k, \qquad a_k = u_k / \sqrt{c_k},

    a mean over the rows of a category, whose variance by chance is :math:`1/n_v`. It is shrunk
    towards 0, the mean of all rows, to :math:`f_v n_v \tau^2 / (1 + n_v \tau^2)`, where

    .. math:: \tau^2 = \max(0, n \lambda - (\sqrt{V - 1} + \sqrt{c - 1})^2)
        / (n - \sum_v n_v^2 / n)

    is what the scores of the V categories vary beyond chance; so the rare categories of a column of
    noise do not lie at its ends.
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
    places = np.repeat(np.arange(n_classes), np.diff(counts.starts)), counts.categories
    table[places], profiles[places] = counts.counts, shares
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


_QUARTILE = 1.349  # standard deviations between the quartiles of normal values
_MIN_SPREAD = 0.05  # standard deviations: with less, the quartiles tell nothing of most values


def value_scores(problem, scores, n_jobs=None):
    r"""Return the values of all features in robust standard deviations.

    Parameters
    ----------
    problem : Problem
    scores : NormalScores
        Of the same problem; they tell the rows, and those of nominal features are taken over.
    n_jobs : int, optional

    Returns
    -------
    values : ndarray of shape (n_features, n_kept), int8
        In units of 1/32, the rows sorted by class like the normal scores; missing values are 0.

    Notes
    -----
    The score of a value x is (x - median) / s, clipped to [-3.97, 3.97], where
    :math:`s = (q_3 - q_1) / 1.349` by the quartiles of all rows, or the standard deviation if that
    is more than 20 times as large: most values are equal, or some are very far out. An infinite
    value counts as one just beyond the finite ones. A positive factor and a shift of a column
    change nothing but rounding; sums are of sorted values, so that the order of the rows does not
    matter.
    """
    out = np.zeros((problem.n_features, len(scores.rows)), np.int8)

    def fill(block):
        columns = np.arange(problem.n_features)[block]
        out[columns] = _robust_scores(problem.value_columns(columns))[:, scores.rows]

    for _ in problem.run_blocks(fill, 1, n_jobs, is_dense=True):
        pass
    nominal = np.array(sorted(scores.nominal_squares), np.int64)
    if len(nominal) > 0:
        out[nominal] = scores.scores[nominal]
    return out


def _robust_scores(XT):
    """Return the scores of columns, shape (n_columns, n_samples), int8."""
    values = _in_range(XT.astype(np.float64))
    ordered = np.sort(values, axis=1)  # missing values come last
    n_known = (ordered == ordered).sum(axis=1)
    low, middle, high = (_quantile(ordered, n_known, share) for share in (0.25, 0.5, 0.75))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        spread = (high - low) / _QUARTILE
        deviation = _deviation(ordered, n_known)
        spread = np.where(spread > _MIN_SPREAD * deviation, spread, deviation)
        scaled = (values - middle[:, np.newaxis]) / spread[:, np.newaxis]
    scaled = np.nan_to_num(scaled, nan=0.0, posinf=MAX_SCORE, neginf=-MAX_SCORE)
    return np.rint(np.clip(UNIT * scaled, -MAX_SCORE, MAX_SCORE)).astype(np.int8)


def _in_range(values):
    """Return columns times powers of two: finite values within [-1, 1], infinite ones -2 or 2.

    No square overflows then, and none that counts is lost.
    """
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0).max(axis=1)
    exponents = np.frexp(sizes)[1]
    return np.clip(np.ldexp(values, -exponents[:, np.newaxis]), -2.0, 2.0)


def _quantile(ordered, n_known, share):
    """Return a quantile of the known values of every sorted row, between two of them by share."""
    place = share * np.maximum(n_known - 1, 0)
    below = place.astype(np.int64)
    above = np.minimum(below + 1, np.maximum(n_known - 1, 0))
    rows = np.arange(len(ordered))
    part = place - below
    return (1.0 - part) * ordered[rows, below] + part * ordered[rows, above]


def _deviation(ordered, n_known):
    """Return the standard deviation of the known values of every row; 0 if there is none."""
    is_known = np.arange(ordered.shape[1]) < n_known[:, np.newaxis]
    known = np.where(is_known, ordered, 0.0)
    n = np.maximum(n_known, 1)[:, np.newaxis]
    mean = known.sum(axis=1, keepdims=True) / n
    squares = np.where(is_known, (known - mean) ** 2, 0.0)
    return np.sqrt(squares.sum(axis=1) / n[:, 0])
