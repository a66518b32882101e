"""Paired tests of two selectors on the same splits: values of both in, p-value and mark out."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from mauc.checks import check_level
from mauc.exceptions import MaucError
from mauc.stats.rows import row_means

Array = np.ndarray

_DIGITS = 12  # differences that agree to this many digits of the largest value are ties
_MAX_FLIPPED = 13  # up to this many pairs SciPy enumerates all signs when there are ties or zeros


@dataclass(frozen=True)
class PairedTest:
    """Result of a paired test of values against a reference."""

    n: int  #: pairs with both values present
    mean_difference: float  #: mean of values - reference; NaN without a pair
    statistic: float  #: smaller rank sum (Wilcoxon) or t; NaN where it has no meaning
    p_value: float  #: two-sided; NaN where the statistic is
    mark: str  #: "better", "worse" or "none" than the reference, at the level given


def wilcoxon_test(values: ArrayLike, reference: ArrayLike, *, alpha: float = 0.05) -> PairedTest:
    """Compare paired values by the two-sided Wilcoxon signed-rank test.

    Parameters
    ----------
    values, reference : array-like of shape (n_pairs,)
        Measurements on the same splits; pairs with a NaN are left out.
    alpha : float, default=0.05
        A mark is given for p-values below it.

    Returns
    -------
    test : PairedTest
        The statistic is the smaller of W+ and W-. The mark follows the larger of the two, not the
        mean difference: the two may have different signs. If all differences are zero the
        p-value is 1; without any pair it is NaN.

    See Also
    --------
    corrected_t_test : Takes into account that the training parts of splits overlap.

    Notes
    -----
    The p-value is that of `scipy.stats.wilcoxon` with its default ``method="auto"``: exact for
    up to 50 distinct differences, and for up to 13 with ties or zeros; else from the normal
    distribution. Differences that agree to 12 digits of the largest value are ties.

    The test assumes independent pairs. Values of repeated cross-validation are not, so its
    p-values are too small there; the paper [1]_ uses it so, on the 100 values of 10 times
    10-fold cross-validation.

    References
    ----------
    .. [1] R. Wang, K. Tang, "Feature Selection for MAUC-Oriented Classification Systems".
    .. [2] F. Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1, 1945.

    Examples
    --------
    >>> from mauc.stats import wilcoxon_test
    >>> test = wilcoxon_test([0.9, 0.8, 0.9, 0.7, 0.9, 0.8], [0.8, 0.6, 0.6, 0.3, 0.4, 0.2])
    >>> test.statistic, test.p_value, test.mark
    (0.0, 0.03125, 'better')
    """
    values, reference = _check_pairs(values, reference)
    check_level("alpha", alpha)
    return _single(wilcoxon_tests(values[None], reference[None], alpha))


def corrected_t_test(
    values: ArrayLike, reference: ArrayLike, *, n_train: float, n_test: float, alpha: float = 0.05
) -> PairedTest:
    """Compare paired values by the corrected resampled t-test of Nadeau and Bengio.

    Parameters
    ----------
    values, reference : array-like of shape (n_pairs,)
        Measurements on the same splits; pairs with a NaN are left out.
    n_train, n_test : float
        Samples in the training and in the test part of a split (their means if they differ).
    alpha : float, default=0.05
        A mark is given for p-values below it.

    Returns
    -------
    test : PairedTest
        Fewer than 2 pairs have no variance: statistic and p-value are NaN. If all
        differences are the same the p-value is 0, or 1 if they are zero.

    Notes
    -----
    The mean of the n differences over sqrt((1/n + n_test/n_train) s^2), s^2 their variance (Eq. 5
    of [2]_), has Student's distribution with n - 1 degrees of freedom. The usual t-test has 1/n
    alone; the second term accounts for the overlap of the training parts.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the Generalization Error", Machine Learning 52,
       2003.
    .. [2] R. R. Bouckaert, E. Frank, "Evaluating the Replicability of Significance Tests for
       Comparing Learning Algorithms", PAKDD 2004.

    Examples
    --------
    >>> from mauc.stats import corrected_t_test
    >>> test = corrected_t_test([0.9, 0.7, 0.8], [0.6, 0.6, 0.6], n_train=90, n_test=10)
    >>> round(test.statistic, 6), test.mark  # 0.2 / sqrt((1/3 + 1/9) * 0.01)
    (3.0, 'none')
    """
    values, reference = _check_pairs(values, reference)
    if not (n_train > 0 and n_test > 0):
        raise MaucError(
            f"n_train and n_test must be positive, got n_train={n_train!r}, n_test={n_test!r}."
        )
    check_level("alpha", alpha)
    ratio = np.array([n_test / n_train])
    return _single(corrected_t_tests(values[None], reference[None], ratio, alpha))


def wilcoxon_tests(values: Array, reference: Array, alpha: float) -> dict[str, Array]:
    """Compute `wilcoxon_test` for every row of two arrays of shape (n_samples, n_pairs)."""
    values, reference, is_pair = _keep_pairs(values, reference)
    n = is_pair.sum(axis=1)
    statistic, sign, p_value = (np.full(len(values), np.nan) for _ in range(3))
    # Rows with as many pairs go together; failures are rare, so there are few such groups.
    for n_pairs in np.unique(n[n > 0]):
        rows = np.flatnonzero(n == n_pairs)
        positive, negative, p_value[rows] = signed_rank_tests(
            values[rows][is_pair[rows]].reshape(-1, n_pairs),
            reference[rows][is_pair[rows]].reshape(-1, n_pairs),
        )
        statistic[rows] = np.minimum(positive, negative)
        sign[rows] = np.sign(positive - negative)
    return _results(values, reference, n, statistic, p_value, marks_of(sign, p_value, alpha))


def corrected_t_tests(
    values: Array, reference: Array, test_to_train: Array, alpha: float
) -> dict[str, Array]:
    """Compute `corrected_t_test` for every row; `test_to_train` is n_test / n_train of each."""
    values, reference, is_pair = _keep_pairs(values, reference)
    n = is_pair.sum(axis=1)
    # In whole units equal differences stay equal, so their variance is exactly zero; the unit
    # itself falls out of t.
    differences = in_units(np.nan_to_num(values), np.nan_to_num(reference))
    mean = row_means(np.where(is_pair, differences, np.nan))
    residuals = np.where(is_pair, differences - mean[:, None], 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # n < 2: NaN; no spread: infinite
        variance = (residuals**2).sum(axis=1) / (n - 1)
        statistic = mean / np.sqrt((1 / n + test_to_train) * variance)
    statistic[n < 2] = np.nan
    statistic[(n >= 2) & ~differences.any(axis=1)] = 0.0  # 0 / 0: no difference at all
    p_value = 2 * stats.t.sf(np.abs(statistic), np.maximum(n - 1, 1))
    return _results(values, reference, n, statistic, p_value, marks_of(statistic, p_value, alpha))


def smallest_p_value(test: str, n_pairs: int) -> float:
    """Return the smallest p-value that a test can give on so many pairs."""
    if test == "wilcoxon":
        all_above = np.arange(1.0, n_pairs + 1.0)[np.newaxis]
        return float(wilcoxon_tests(all_above, np.zeros_like(all_above), 0.05)["p_value"][0])
    return 0.0 if n_pairs > 1 else 1.0  # the t-test of one pair has no variance


def _results(
    values: Array, reference: Array, n: Array, statistic: Array, p_value: Array, mark: Array
) -> dict[str, Array]:
    """Return the columns of `compare_to`, of shape (n_samples,)."""
    mean, reference_mean = row_means(values), row_means(reference)
    return {
        "n": n,
        "mean": mean,
        "reference_mean": reference_mean,
        "difference": mean - reference_mean,
        "statistic": statistic,
        "p_value": p_value,
        "mark": mark,
    }


def _keep_pairs(values: Array, reference: Array) -> tuple[Array, Array, Array]:
    """Return both with NaN where either has it, and where neither has."""
    is_pair = ~(np.isnan(values) | np.isnan(reference))
    return np.where(is_pair, values, np.nan), np.where(is_pair, reference, np.nan), is_pair


def marks_of(sign: Array, p_value: Array, alpha: float) -> Array:
    """Return "better", "worse" or "none" by a sign and whether it is significant."""
    is_significant = p_value < alpha  # not for NaN
    marks = [is_significant & (sign > 0), is_significant & (sign < 0)]
    return np.select(marks, ["better", "worse"], "none").astype(object)


def _single(tests: dict[str, Array]) -> PairedTest:
    one = {name: column[0] for name, column in tests.items()}
    return PairedTest(
        int(one["n"]),
        float(one["difference"]),
        float(one["statistic"]),
        float(one["p_value"]),
        str(one["mark"]),
    )


def _check_pairs(values: ArrayLike, reference: ArrayLike) -> tuple[Array, Array]:
    checked = []
    for name, given in (("values", values), ("reference", reference)):
        array = np.asarray(given, dtype=np.float64)
        if array.ndim != 1:
            raise MaucError(f"{name} must be one-dimensional, got shape {array.shape}.")
        if np.isinf(array).any():
            raise MaucError(f"{name} must be finite, or NaN where a run failed, got infinity.")
        checked.append(array)
    if len(checked[0]) != len(checked[1]):
        raise MaucError(
            f"values and reference must be paired, got {len(checked[0])} and {len(checked[1])}."
        )
    return checked[0], checked[1]


def signed_rank_tests(values: Array, reference: Array) -> tuple[Array, Array, Array]:
    """Return W+, W- and the p-value of SciPy, or 1 without a difference, of every row of pairs."""
    # docs/methods/measures.md has a table of the null distributions.
    n_samples, n_pairs = values.shape
    units = in_units(values, reference)
    absolute = np.abs(units)
    n_zero = (absolute == 0).sum(axis=1)
    # Zeros hold the lowest ranks, so the others move down by their number.
    ranks = np.maximum(stats.rankdata(absolute, axis=1) - n_zero[:, None], 0)
    positive = np.where(units > 0, ranks, 0.0).sum(axis=1)
    negative = np.where(units < 0, ranks, 0.0).sum(axis=1)

    # A zero counts as a tie: a sample with zeros is not free of ties.
    is_tied = (np.diff(np.sort(absolute, axis=1), axis=1) == 0).any(axis=1) | (n_zero > 0)
    p_value = np.ones(n_samples)
    has_answer = n_zero < n_pairs
    for tied in (False, True):
        # SciPy chooses one null distribution for a whole batch: no batch mixes the two kinds.
        chosen = np.flatnonzero(has_answer & (is_tied == tied))
        if not len(chosen):
            continue
        if tied and n_pairs <= _MAX_FLIPPED:
            p_value[chosen] = [_p_of_signs(ranks[row], positive[row]) for row in chosen]
        else:
            p_value[chosen] = stats.wilcoxon(units[chosen], axis=1).pvalue
    return positive, negative, p_value


def in_units(values: Array, reference: Array) -> Array:
    """Return differences as whole multiples of the last digit that counts."""
    largest = np.maximum(np.abs(values), np.abs(reference)).max(axis=1, initial=0.0)
    largest = np.where(largest == 0, 1.0, largest)
    # 1e-290 keeps the unit itself above the smallest float.
    exponent = np.maximum(np.ceil(np.log10(largest)) - _DIGITS, -290)
    return np.asarray(np.round((values - reference) / 10.0 ** exponent[:, None]))


def _p_of_signs(ranks: Array, positive: float) -> float:
    # Ranks are multiples of 1/2: twice a rank is an integer. SciPy's permutation test gives the
    # same number, but calls the statistic for each of the 2^n signs (0.2 s for 10 pairs).
    doubled = np.sort((2 * ranks[ranks > 0]).astype(np.int64))
    below = _count_up_to(tuple(doubled.tolist()))
    observed = round(2 * positive)
    n_signs = below[-1]
    at_most = below[observed]
    at_least = n_signs - (below[observed - 1] if observed else 0)
    return float(min(1.0, 2 * min(at_most, at_least) / n_signs))


@lru_cache(maxsize=4096)
def _count_up_to(doubled: tuple[int, ...]) -> Array:
    """Count the choices of signs with twice W+ at most 0, 1, 2, ..."""
    counts = np.zeros(sum(doubled) + 1, dtype=np.int64)
    counts[0] = 1
    for rank in doubled:
        with_rank = counts[:-rank].copy()
        counts[rank:] += with_rank
    return np.cumsum(counts)
