"""Paired tests: published and hand-worked examples, SciPy, and the laws of a comparison."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mauc.exceptions import MaucError
from mauc.stats import corrected_t_test, wilcoxon_test

NAN = float("nan")
OPPOSITE = {"better": "worse", "worse": "better", "none": "none"}

# Table 2 of Demšar (JMLR 7, 2006): AUC of C4.5 and of C4.5+m on 14 data sets.
DEMSAR = np.array(
    [
        [
            0.763,
            0.599,
            0.954,
            0.628,
            0.882,
            0.936,
            0.661,
            0.583,
            0.775,
            1.000,
            0.940,
            0.619,
            0.972,
            0.957,
        ],
        [
            0.768,
            0.591,
            0.971,
            0.661,
            0.888,
            0.931,
            0.668,
            0.583,
            0.838,
            1.000,
            0.962,
            0.666,
            0.981,
            0.978,
        ],
    ]
)

# Darwin's maize, crossed minus self-fertilised, in eighths of an inch: the 15 pairs of Fisher,
# The Design of Experiments (1935), chapter 3.
MAIZE = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]

grid = st.integers(-6, 6)  # few levels: many ties and zeros
levels = st.lists(st.tuples(grid, grid), min_size=1, max_size=70)


def test_signed_ranks_of_three_pairs_by_hand():
    # differences 1, -2, 3: W+ = 1 + 3, W- = 2; of 8 choices of signs W+ is 0 1 2 3 3 4 5 6,
    # 3 are at least 4, so p = 2 * 3/8
    test = wilcoxon_test([1, 0, 3], [0, 2, 0])
    assert (test.n, test.statistic, test.p_value, test.mark) == (3, 2.0, 0.75, "none")
    assert test.mean_difference == pytest.approx(2 / 3)


def test_wilcoxon_of_darwins_maize():
    # ranks of the two negative differences: 10 and 14; p = 0.041 in the literature
    test = wilcoxon_test(MAIZE, np.zeros(15))
    assert test.statistic == 24
    assert test.p_value == pytest.approx(0.0413, abs=5e-5)
    assert test.mark == "better"


def test_wilcoxon_of_demsar_table_2():
    # In thousandths: 5 -8 17 33 6 -5 7 0 63 0 22 47 9 21. Without the two zeros 5 and -5 share
    # rank 1.5 and -8 has rank 5: W- = 6.5 of 78. Demšar splits the zeros instead and has 12 of
    # 105; both reject at 0.05.
    test = wilcoxon_test(DEMSAR[1], DEMSAR[0])
    assert test.statistic == 6.5
    z = (6.5 - 39) / np.sqrt((12 * 13 * 25 - (2**3 - 2) / 2) / 24)
    assert test.p_value == pytest.approx(2 * stats.norm.cdf(z))
    assert (test.n, test.mark) == (14, "better")


def test_differences_equal_but_for_rounding_are_ties():
    assert 0.4 - 0.3 != 0.3 - 0.2  # for floats
    test = wilcoxon_test([0.4, 0.2, 0.7], [0.3, 0.3, 0.3])
    assert test.statistic == 1.5  # ranks 1.5, 1.5, 3
    assert wilcoxon_test([0.1 + 0.2], [0.3]).p_value == 1  # no difference at all


def p_by_signs(differences):
    """Two-sided p-value over all signs of the ranks, as a fraction."""
    kept = [d for d in differences if d != 0]
    ranks = [Fraction(r).limit_denominator(2) for r in stats.rankdata(np.abs(kept))]
    observed = sum(r for r, d in zip(ranks, kept, strict=True) if d > 0)
    sums = [
        sum(r for r, s in zip(ranks, signs, strict=True) if s)
        for signs in product((0, 1), repeat=len(ranks))
    ]
    tails = sum(s <= observed for s in sums), sum(s >= observed for s in sums)
    return min(Fraction(1), 2 * Fraction(min(tails), len(sums)))


@given(st.lists(grid, min_size=1, max_size=9))
def test_small_samples_with_ties_are_exact(differences):
    test = wilcoxon_test(differences, np.zeros(len(differences)))
    wanted = p_by_signs(differences) if any(differences) else 1
    assert test.p_value == pytest.approx(float(wanted), abs=1e-15)


@pytest.mark.parametrize("n", [1, 2, 6, 14, 30, 50, 51, 100])
@pytest.mark.parametrize("kind", ["distinct", "ties", "zeros"])
def test_wilcoxon_agrees_with_scipy(rng, n, kind):
    differences = rng.normal(0.2, 1, n).round(9)
    if kind == "ties":
        differences = (differences.round(1) + 0.05).round(2)
    if kind == "zeros":
        differences[: n // 4] = 0
    test = wilcoxon_test(differences, np.zeros(n))
    wanted = stats.wilcoxon(differences)
    assert test.statistic == wanted.statistic
    assert test.p_value == pytest.approx(wanted.pvalue, rel=1e-12)


@pytest.mark.parametrize("n", [1, 10, 60])
def test_no_difference_has_p_one_and_no_mark(n):
    for test in (
        wilcoxon_test(np.arange(n), np.arange(n)),
        corrected_t_test(np.arange(n + 1), np.arange(n + 1), n_train=9, n_test=1),
    ):
        assert (test.mean_difference, test.statistic, test.p_value) == (0, 0, 1)
        assert test.mark == "none"


def test_the_mark_follows_the_ranks_not_the_mean():
    # one large loss outweighs many small wins in the mean, not in the ranks
    differences = np.append(np.arange(1, 12) / 1000, -0.9)
    test = wilcoxon_test(0.95 + differences, np.full(12, 0.95))
    assert test.mean_difference < 0
    assert test.mark == "better"


def test_corrected_t_by_hand():
    # Bouckaert & Frank (2004), Eq. 5: mean 0.2, variance 0.01, 3 pairs, 1/3 + 10/90 = 4/9:
    # t = 0.2 / sqrt(4/9 * 0.01) = 3; with 2 degrees of freedom F(t) = 1/2 + t / (2 sqrt(2 + t^2))
    test = corrected_t_test([0.9, 0.7, 0.8], [0.6, 0.6, 0.6], n_train=90, n_test=10)
    assert test.statistic == pytest.approx(3)
    assert test.p_value == pytest.approx(1 - 3 / np.sqrt(11))
    assert (test.n, test.mark) == (3, "none")
    assert test.mean_difference == pytest.approx(0.2)


def test_corrected_t_without_overlap_is_the_paired_t_test(rng):
    values, reference = rng.random(20), rng.random(20) - 0.2
    wanted = stats.ttest_rel(values, reference)
    test = corrected_t_test(values, reference, n_train=1e12, n_test=1e-3)
    assert test.statistic == pytest.approx(wanted.statistic, rel=1e-9)
    assert test.p_value == pytest.approx(wanted.pvalue, rel=1e-8)


def test_corrected_t_of_equal_differences_is_certain():
    test = corrected_t_test([0.9, 0.5, 0.3], [0.8, 0.4, 0.2], n_train=90, n_test=10)
    assert (test.statistic, test.p_value, test.mark) == (np.inf, 0, "better")


@given(levels, st.sampled_from([0.01, 0.05, 0.3]))
def test_swapping_gives_the_opposite_mark(pairs, alpha):
    values, reference = np.array(pairs, dtype=float).T / 7
    for run in (
        wilcoxon_test,
        lambda a, b, alpha: corrected_t_test(a, b, n_train=9, n_test=1, alpha=alpha),
    ):
        test, swapped = run(values, reference, alpha=alpha), run(reference, values, alpha=alpha)
        assert swapped.mark == OPPOSITE[test.mark]
        np.testing.assert_allclose(swapped.p_value, test.p_value, rtol=1e-12)
        assert swapped.mean_difference == -test.mean_difference


@given(levels, st.randoms(use_true_random=False))
def test_order_of_pairs_and_scale_do_not_matter(pairs, random):
    shuffled = list(pairs)
    random.shuffle(shuffled)
    test = wilcoxon_test(*np.array(pairs, dtype=float).T)
    again = wilcoxon_test(*(np.array(shuffled, dtype=float).T * 1e-3))
    assert (test.n, test.statistic, test.mark) == (again.n, again.statistic, again.mark)
    assert test.p_value == pytest.approx(again.p_value, rel=1e-12)


def test_pairs_with_a_nan_are_left_out_and_not_counted():
    values, reference = [NAN, 3, 1, 0, 3, 8], [1, NAN, 0, 2, 0, NAN]
    assert wilcoxon_test(values, reference) == wilcoxon_test([1, 0, 3], [0, 2, 0])
    sizes = {"n_train": 90, "n_test": 10}
    kept = corrected_t_test([1, 0, 3], [0, 2, 0], **sizes)
    assert corrected_t_test(values, reference, **sizes) == kept
    assert kept.n == 3


@pytest.mark.parametrize("values", [[], [NAN, NAN]])
def test_without_a_pair_there_is_no_answer(values):
    for test in (
        wilcoxon_test(values, values),
        corrected_t_test(values, values, n_train=9, n_test=1),
    ):
        assert (test.n, test.mark) == (0, "none")
        assert np.isnan([test.mean_difference, test.statistic, test.p_value]).all()


def test_one_pair_has_no_variance():
    test = corrected_t_test([0.9], [0.8], n_train=9, n_test=1)
    assert (test.n, test.mark) == (1, "none")
    assert np.isnan([test.statistic, test.p_value]).all()
    assert wilcoxon_test([0.9], [0.8]).p_value == 1


def test_bad_input_is_named():
    with pytest.raises(MaucError, match=r"must be paired, got 2 and 3"):
        wilcoxon_test([1, 2], [1, 2, 3])
    with pytest.raises(MaucError, match=r"values must be one-dimensional, got shape \(1, 2\)"):
        wilcoxon_test([[1, 2]], [1, 2])
    with pytest.raises(MaucError, match=r"reference must be finite"):
        wilcoxon_test([1, 2], [1, np.inf])
    with pytest.raises(MaucError, match=r"alpha must be a number in \(0, 1\), got 5"):
        wilcoxon_test([1, 2], [1, 2], alpha=5)
    with pytest.raises(MaucError, match=r"must be positive, got n_train=0"):
        corrected_t_test([1, 2], [1, 2], n_train=0, n_test=1)
