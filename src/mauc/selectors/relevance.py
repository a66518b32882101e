"""Class moments of columns: weights, means and scatters of every class, or of groups of classes."""

from functools import partial

import numpy as np

from mauc.binning.contingency import CHI, IG, SU, nominal_scores, subproblem_scores
from mauc.binning.mdl import sorted_columns
from mauc.compile import njit, njit_part
from mauc.data.decomposition import Decomposition
from mauc.engine.arrays import read_only
from mauc.engine.exact_mean import mean_of_quotients
from mauc.engine.moments import class_moments, class_moments_by_rows
from mauc.engine.nominal import nominal_pair_auc, nominal_rest_auc
from mauc.selectors.pair_auc import folded_auc, pair_wins, unordered_columns

_MIN_SQUARE, _MAX_SQUARE = 1e-200, 1e200  # of the scatter of columns in ordinary units
_MAX_EXPONENT = 300  # of two, in the range of such columns


def subproblem_moments(problem, decomposition, chosen):
    """Yield the moments of every sub-problem, its sides merged to one class each.

    Missing values are left out of their feature; weights are frequencies.

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
    chosen : slice or list of int

    Yields
    ------
    count, offset, scatter : ndarray of shape (n_chosen, n_sides)
        See `class_moments`. Two sides, or all classes for the whole problem.
    """
    if isinstance(chosen, slice) and problem.columns.row_major is not None:
        moments = class_moments_by_rows(
            problem.columns.row_major, chosen, problem.codes, *problem.by_class,
            problem.sample_weight,
        )  # fmt: skip
    else:
        moments = _moments(problem, problem.float_columns(chosen))
    _rescale_extreme(problem, chosen, moments)
    if decomposition.name == "whole":
        yield moments
        return
    for role in decomposition.roles:
        sides = [merge_classes(*moments, role == side) for side in (0, 1)]
        yield tuple(np.column_stack(part) for part in zip(*sides, strict=True))


def _moments(problem, XT):
    shift = np.empty(len(XT))
    moments = tuple(np.empty((len(XT), problem.n_classes)) for _ in range(3))
    class_moments(XT, *problem.by_class, shift, *moments)
    return moments


def _rescale_extreme(problem, chosen, moments):
    """Replace the moments of columns whose squares leave the doubles by those in other units.

    Scores are quotients of squares, so that the unit of a column does not matter.
    """
    count, offset, scatter = moments
    with np.errstate(over="ignore", invalid="ignore"):
        size = scatter.max(axis=1) + (count * offset * offset).max(axis=1)
        places = np.flatnonzero(~((size > _MIN_SQUARE) & (size < _MAX_SQUARE)))
    if len(places) == 0:
        return
    columns = np.arange(problem.n_features)[chosen][places]
    XT = problem.float_columns(columns).astype(np.float64)
    half_range = np.fmax.reduce(XT, axis=1) / 2 - np.fmin.reduce(XT, axis=1) / 2
    exponent = np.frexp(half_range)[1]
    is_extreme = (half_range > 0) & (np.abs(exponent) > _MAX_EXPONENT)
    if is_extreme.any():  # the others are constant or without known values
        unit = exponent[is_extreme][:, np.newaxis]
        scaled = _moments(problem, read_only(np.ldexp(XT[is_extreme], -unit)))
        for part, values in zip(moments, scaled, strict=True):
            part[places[is_extreme]] = values


def merge_classes(count, offset, scatter, is_member):
    """Return count, mean and scatter, each of shape (n_features,), of some classes as one."""
    n, mean, between = pool_means(count[:, is_member], offset[:, is_member])
    return n, mean, scatter[:, is_member].sum(axis=1) + between


def pool_means(count, offset):
    """Return the count and mean of all classes, and the scatter of the class means about it."""
    n = count.sum(axis=1)
    mean = (count * offset).sum(axis=1) / np.maximum(n, 1e-300)
    # Rounding must not part the mean of equal means from them: a perfect feature would lose.
    known = np.where(count > 0, offset, np.nan)
    low = np.fmin.reduce(known, axis=1)
    is_equal = low == np.fmax.reduce(known, axis=1)
    mean = np.where(is_equal, low, mean)
    distance = np.where(is_equal[:, np.newaxis], 0.0, offset - mean[:, np.newaxis])
    return n, mean, (count * distance**2).sum(axis=1)


def auc_relevance(problem, decomposition, chosen, pair_auc=None):
    r"""Return the folded AUC of features on every sub-problem.

    A feature that ranks the second class above the first is as useful as one that does the
    reverse, so an AUC below 1/2 is folded: max(A, 1 - A). Nominal features have the leave-pair-out
    AUC of `mauc.engine.nominal`.

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
        For ``"whole"`` the score is the mean over all class pairs, the MAUC of the feature.
    chosen : slice or list of int
        Columns.
    pair_auc : ndarray of shape (n_features, n_pairs), optional
        Receives the folded AUCs of the columns on the class pairs; `chosen` must then be a slice.

    Returns
    -------
    scores : ndarray of shape (n_chosen, n_subproblems)

    Notes
    -----
    With values x of a feature and classes i, j (Eq. 13-14 of [1]_),

    .. math:: A_{ij} = \frac{2\,\#(x_i > x_j) + \#(x_i = x_j)}{2\,n_i n_j}

    and class k against the rest sums numerator and denominator over j. A missing value ties
    with every value.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    """
    wins, max_wins = pair_wins(problem, chosen)
    folded = folded_auc(wins, max_wins)
    unordered = list(unordered_columns(problem, chosen))
    for place, counts in unordered:
        folded[place] = nominal_pair_auc(counts)
    if pair_auc is not None:
        pair_auc[chosen] = folded
    if decomposition.name == "one-vs-rest":
        folded = folded_auc(*_rest_wins(wins, max_wins, problem.pair_weights[2]))
        for place, counts in unordered:
            folded[place] = nominal_rest_auc(counts)
    if decomposition.name == "whole":
        return mean_of_quotients(folded, max_wins)[:, np.newaxis]
    return folded


def _rest_wins(wins, max_wins, exponents):
    """Sum pair wins to the wins of each class over all others.

    The wins of classes i and j are in units of two to the power ``exponents[i] + exponents[j]``;
    those of class i over the others come out in units of the heaviest other class.
    """
    n_classes = len(exponents)
    first, second = np.triu_indices(n_classes, 1)
    rest = np.zeros((wins.shape[0], n_classes))  # whole numbers are exact up to 2**53
    rest_max = np.zeros(n_classes)
    heaviest = [np.delete(exponents, k).max() for k in range(n_classes)]
    for pair, (i, j) in enumerate(zip(first, second, strict=True)):
        unit_i, unit_j = np.ldexp(1.0, [exponents[j] - heaviest[i], exponents[i] - heaviest[j]])
        rest[:, i] += unit_i * wins[:, pair]
        rest[:, j] += unit_j * (max_wins[pair] - wins[:, pair])
        rest_max[i] += unit_i * max_wins[pair]
        rest_max[j] += unit_j * max_wins[pair]
    return rest, rest_max


def contingency_scores(problem, decomposition, chosen, statistics):
    r"""Score features by statistics of the table of bins and classes.

    Every sub-problem discretises a column against its own classes by the method of Fayyad and
    Irani; the column is sorted once for all of them. Nominal columns have one bin per
    category. Missing values are distributed over the bins in proportion to the known ones.

    Parameters
    ----------
    problem : Problem
    decomposition : Decomposition
    chosen : slice or list of int
    statistics : list of {CHI, SU, IG}

    Returns
    -------
    scores : ndarray of shape (n_statistics, n_chosen, n_subproblems)

    Notes
    -----
    With O the table of n samples and E its expectation under independence (Eq. 1-7 of [1]_),

    .. math::

        \mathrm{CHI} = \sum_{jk} \frac{(O_{jk} - E_{jk})^2}{E_{jk}}, \qquad
        \mathrm{SU} = \frac{2 I(f; y)}{H(f) + H(y)}, \qquad \mathrm{IG} = I(f; y)

    IG in bits. A column without an accepted cut has one bin and scores 0.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    .. [2] U. M. Fayyad, K. B. Irani, "Multi-interval discretization of continuous-valued
       attributes for classification learning", IJCAI 1993.
    """
    XT = problem.float_columns(chosen)
    roles, logs = decomposition.roles, problem.count_logs
    scores = np.empty((len(statistics), len(XT), decomposition.n_subproblems))
    is_nominal = problem.is_nominal[chosen]
    if not is_nominal.any():
        subproblem_scores(XT, problem.codes, roles, statistics, scores, logs)
        return scores
    for j in range(len(XT)):
        if is_nominal[j]:
            category = np.where(np.isnan(XT[j]), -1, XT[j]).astype(np.int64)
            scores[:, j] = nominal_scores(category, problem.codes, roles)[statistics]
        else:
            subproblem_scores(
                XT[j : j + 1], problem.codes, roles, statistics, scores[:, j : j + 1], logs
            )
    return scores


def _score_by_one(statistic, problem, decomposition, chosen):
    return contingency_scores(problem, decomposition, chosen, [statistic])[0]


chi2_relevance = partial(_score_by_one, CHI)
su_relevance = partial(_score_by_one, SU)
ig_relevance = partial(_score_by_one, IG)


_EPSILON = 2.0**-52


@njit(cache=True, nogil=True)
def sliding_wins(values_of, codes_of, n_known_of, missing_of, is_whole, roles, n_bins, out):
    """Count the wins of cut columns.

    Parameters
    ----------
    values_of, codes_of, n_known_of, missing_of
        The sorted columns, see `mauc.binning.mdl.sorted_columns`; a missing value ties with
        every value.
    is_whole : ndarray of shape (n_features,), bool
        Whether a column holds whole numbers only, whose sums are exact.
    roles : ndarray of shape (n_subproblems, n_classes), int32
        0 for the classes of the first side, 1 for the second, -1 for those left out.
    n_bins : int
    out : ndarray of shape (n_features, n_subproblems), int64
        Filled: 2 #(s_0 > s_1) + #(s_0 = s_1) over the samples of either side, s the state.
    """
    n, n_classes = values_of.shape[1], roles.shape[1]
    grouped = np.empty(n + n_classes, np.float64)
    starts, places = np.zeros(n_classes + 1, np.int64), np.empty(n_classes, np.int64)
    part, sides = np.empty(n, np.float64), np.empty(n, np.int64)
    for f in range(values_of.shape[0]):
        values, codes, n_known = values_of[f], codes_of[f], n_known_of[f]
        missing = missing_of[f]
        _group(values, codes, n_known, starts, places, grouped)
        for s in range(roles.shape[0]):
            role = roles[s]
            known, gone = np.zeros(2, np.int64), np.zeros(2, np.int64)
            only = np.full(2, -1, np.int64)
            n_members = 0
            for k in range(n_classes):
                if role[k] >= 0:
                    n_members += 1
                    only[role[k]] = k
                    known[role[k]] += starts[k + 1] - starts[k] - 1
                    gone[role[k]] += missing[k]
            if n_members == 2 and only[0] >= 0 and only[1] >= 0:
                first, second = starts[only[0]], starts[only[1]]
                _merge(grouped, first, second, known[0] + known[1], part, sides)
            else:
                _take(values, codes, n_known, role, part, sides)
            wins = _cut_wins(part, sides, known[0] + known[1], n_bins, is_whole[f])
            # A pair of samples with a missing value is a tie.
            both = (known[0] + gone[0]) * (known[1] + gone[1])
            out[f, s] = wins + both - known[0] * known[1]


@njit_part
def _group(values, codes, n_known, starts, places, grouped):
    """Write the sorted values class by class, each class with an infinity at its end.

    Class k is ``grouped[starts[k]:starts[k + 1]]``.
    """
    starts[:] = 0
    for i in range(n_known):
        starts[codes[i] + 1] += 1
    for k in range(len(places)):
        starts[k + 1] += starts[k] + 1
        places[k] = starts[k]
        grouped[starts[k + 1] - 1] = np.inf
    for i in range(n_known):
        k = codes[i]
        grouped[places[k]] = values[i]
        places[k] += 1


@njit_part
def _merge(grouped, a, b, n, part, sides):
    """Merge the n values of two classes, from a and from b on, into one ascending list."""
    # part[:i] holds the values before a and before b. A branch would be mispredicted half the time.
    for i in range(n):
        u, v = grouped[a], grouped[b]
        is_second = np.int64(v < u)
        part[i] = min(u, v)
        sides[i] = is_second
        a += 1 - is_second
        b += is_second


@njit_part
def _take(values, codes, n_known, role, part, sides):
    """Copy the values of the classes that have a role, in order."""
    i = 0
    for row in range(n_known):
        side = role[codes[row]]
        if side >= 0:
            part[i], sides[i] = values[row], side
            i += 1


@njit_part
def _cut_wins(values, sides, n, n_bins, is_whole):
    """Return the wins of side 0 over side 1 by the states of n ascending values."""
    wins, less = np.int64(0), np.int64(0)
    top, i = 0, 0
    for b in range(n_bins + 1):
        low, rise = 0.0, np.inf
        if b < n_bins:
            # bounds are b n / n_bins, halves rounded up; a bin may be empty
            bottom, top = top, (2 * (b + 1) * n + n_bins) // (2 * n_bins)
            if top == bottom:
                continue
            low, high, size = values[bottom], values[top - 1], top - bottom
            total = 0.0
            for place in range(bottom, top):
                total += values[place] - low
            rise = min(total / size, high - low)
            if not is_whole:
                # Each value is rounded, and so is each addition: what is closer to the mean than
                # that counts as equal to it.
                rise += (4 + size) * _EPSILON * max(abs(low), abs(high))
        # values[:i] are at most an earlier threshold; `less` of them are of side 1
        n_first, n_second = np.int64(0), np.int64(0)
        while i < n and values[i] - low <= rise:
            n_second += sides[i]
            n_first += 1 - sides[i]
            i += 1
        wins += n_first * (2 * less + n_second)
        less += n_second
    return wins


def fast_relevance(problem, decomposition, chosen, n_bins=10):
    r"""Score features by the area under a ROC curve of few thresholds.

    Parameters
    ----------
    problem : Problem
        A missing value ties with every value.
    decomposition : Decomposition
        For ``"whole"`` the score is the mean over all class pairs.
    chosen : slice or list of int
    n_bins : int, default=10
        Bins, and thresholds, of every sub-problem.

    Returns
    -------
    scores : ndarray of shape (n_chosen, n_subproblems)
        In [1/2, 1]; 1/2 for a constant feature.

    Notes
    -----
    On a sub-problem of n samples the values in ascending order are cut into bins that end at
    round(b n / n_bins); the mean of each bin is a threshold t, above which a sample is called
    positive; a value that equals t up to rounding is not above it. The area under the points of
    all thresholds and the corners, by trapezoids, is folded around 1/2.

    References
    ----------
    .. [1] X. Chen, M. Wasikowski, "FAST: a ROC-based feature selection metric for small samples
       and imbalanced data classification problems", KDD 2008.
    """
    XT = problem.float_columns(chosen)
    is_whole = decomposition.name == "whole"
    parts = Decomposition("one-vs-one", problem.n_classes) if is_whole else decomposition
    roles = parts.roles
    wins = np.empty((len(XT), parts.n_subproblems), np.int64)
    columns = sorted_columns(XT, problem.codes, problem.n_classes)
    sliding_wins(*columns, _are_whole(XT), roles, n_bins, wins)
    sizes = [(roles == side) @ problem.class_counts for side in (0, 1)]
    max_wins = 2.0 * sizes[0] * sizes[1]
    folded = folded_auc(wins, max_wins)
    return mean_of_quotients(folded, max_wins)[:, np.newaxis] if is_whole else folded


def _are_whole(XT):
    """Return which columns hold whole numbers only, small enough to be exact; NaN is ignored."""
    is_exact = np.fmax.reduce(np.abs(XT), axis=1) <= 2.0**53
    return is_exact & (np.fmax.reduce(np.abs(np.rint(XT) - XT), axis=1) == 0)


def fisher_relevance(problem, decomposition, chosen):
    r"""Score features by the scatter between classes over that within them.

    Parameters
    ----------
    problem : Problem
        Missing values are left out of their feature. Weights are frequencies: weight 2 is the
        sample given twice.
    decomposition : Decomposition
    chosen : slice or list of int

    Returns
    -------
    scores : ndarray of shape (n_chosen, n_subproblems)
        0 for a feature that is constant on a sub-problem, inf for one that is constant within
        its classes only.

    Notes
    -----
    With :math:`n_k` samples of class k, mean :math:`\mu_k` and variance :math:`\sigma_k^2` (over
    :math:`n_k`), and mean :math:`\mu` of all,

    .. math:: \frac{\sum_k n_k (\mu_k - \mu)^2}{\sum_k n_k \sigma_k^2}

    References
    ----------
    .. [1] R. O. Duda, P. E. Hart, D. G. Stork, "Pattern Classification", 2nd ed., 2001.
    """
    parts = [_scatters(*part) for part in subproblem_moments(problem, decomposition, chosen)]
    return np.column_stack([_quotient(between, within) for between, within, _, _ in parts])


def anova_relevance(problem, decomposition, chosen):
    r"""Score features by the F statistic of a one-way analysis of variance.

    Parameters and returns as in `fisher_relevance`; a feature with at most one known value per
    class scores 0, because there is no variance within classes.

    Notes
    -----
    With n known values of c classes,

    .. math:: F = \frac{\sum_k n_k (\mu_k - \mu)^2 / (c - 1)}{\sum_k n_k \sigma_k^2 / (n - c)}

    Classes without a known value do not count in c.
    """
    scores = []
    for part in subproblem_moments(problem, decomposition, chosen):
        between, within, n, n_groups = _scatters(*part)
        is_free = (n_groups > 1) & (n > n_groups)
        # An infinite quotient must not be multiplied by 0 degrees of freedom.
        freedom = np.where(is_free, n - n_groups, 1.0) / np.maximum(n_groups - 1, 1)
        scores.append(np.where(is_free, freedom * _quotient(between, within), 0.0))
    return np.column_stack(scores)


def _scatters(count, offset, scatter):
    """Return the scatter between and within classes, and the numbers of values and of classes."""
    n, _, between = pool_means(count, offset)
    return between, scatter.sum(axis=1), n, (count > 0).sum(axis=1)


def _quotient(between, within):
    """Return between / within: inf without scatter within, 0 without any scatter."""
    has_within = within > 0
    quotient = between / np.where(has_within, within, 1.0)
    return np.where(has_within, quotient, np.where(between > 0, np.inf, 0.0))


def fsdd_relevance(problem, decomposition, chosen, beta=2.0, constants="last"):
    r"""Score features by the spread between classes minus that within them.

    Parameters
    ----------
    problem : Problem
        Missing values are left out of their feature. Weights are frequencies: weight 2 is the
        sample given twice.
    decomposition : Decomposition
    chosen : slice or list of int
    beta : float, default=2.0
        Weight of the spread within classes.
    constants : {"last", "first"}, default="last"
        Where features without spread rank.

    Returns
    -------
    scores : ndarray of shape (n_chosen, n_subproblems)
        -inf (inf with ``constants="first"``) for a feature that is constant on a sub-problem or
        has fewer than two known values there.

    Notes
    -----
    With :math:`n_k` samples of class k, mean :math:`\bar f_k` and variance :math:`s_k^2` (over
    :math:`n_k - 1`, 0 for a single sample), and mean :math:`\bar f` and variance :math:`s^2`
    (over n - 1) of all (Eq. 8-11 of [1]_),

    .. math:: \frac{1}{s^2} \Big[ \sum_k \frac{n_k}{n} (\bar f_k - \bar f)^2
              - \beta \sum_k \frac{n_k}{n} s_k^2 \Big]

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    """
    moments = subproblem_moments(problem, decomposition, chosen)
    scores = np.column_stack([fsdd_of_moments(*part, beta) for part in moments])
    if constants == "first":
        scores[np.isneginf(scores)] = np.inf
    return scores


def fsdd_of_moments(count, offset, scatter, beta):
    """Compute FSDD from class counts, class means (minus any constant) and class scatters.

    Parameters
    ----------
    count, offset, scatter : ndarray of shape (n_features, n_classes)
        See `mauc.engine.moments.class_moments`.
    beta : float

    Returns
    -------
    scores : ndarray of shape (n_features,)
    """
    n = count.sum(axis=1)
    share = count / np.maximum(n, 1e-300)[:, np.newaxis]
    centre = (share * offset).sum(axis=1)
    between = (share * (offset - centre[:, np.newaxis]) ** 2).sum(axis=1)
    has_spread = count > 1.0
    class_variance = np.where(has_spread, scatter / np.where(has_spread, count - 1.0, 1.0), 0.0)
    within = (share * class_variance).sum(axis=1)
    # The squares about the mean are those within the classes plus those between them.
    total = scatter.sum(axis=1) + n * between
    is_scored = (n > 1) & (total > 0)
    variance = np.where(is_scored, total, 1.0) / np.where(is_scored, n - 1.0, 1.0)
    return np.where(is_scored, (between - beta * within) / variance, -np.inf)
