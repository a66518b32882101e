"""Friedman test and what follows it, against the worked example of Demšar (JMLR 7, 2006)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from mauc.exceptions import MaucError
from mauc.stats import (
    average_ranks,
    critical_difference,
    friedman_test,
    holm_test,
    rank_cliques,
)

NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
# Table 6: AUC on 14 data sets. In row 13 the paper ranks the two values printed 0.975 as 2 and 3
# (it knew more digits), so the first is a little larger here.
AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.00, 1.00, 1.00, 1.00],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.97501, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
# Ties of table 6: three pairs (2^3 - 2 each) and one of four (4^3 - 4)
TIES = 1 - (3 * 6 + 60) / (14 * 4 * 15)

tables = hnp.arrays(
    np.int64, st.tuples(st.integers(2, 8), st.integers(2, 6)), elements=st.integers(0, 4)
)


def test_ranks_of_two_problems_by_hand():
    # ranks 1 2 3 and, with a tie for the first two places, 1.5 1.5 3
    np.testing.assert_array_equal(average_ranks([[9, 8, 7], [9, 9, 5]]), [1.25, 1.75, 3])


def test_friedman_by_hand():
    # ranks 1 2 3, 1 2 3, 1 3 2, 1 2 3: sums 4 9 11, chi2 = 12/(4*3*4) * (16+81+121) - 3*4*4 = 6.5,
    # F = 3 * 6.5 / (8 - 6.5) = 13
    test = friedman_test([[3, 2, 1], [3, 2, 1], [3, 1, 2], [3, 2, 1]])
    assert test.statistic == pytest.approx(6.5)
    assert test.p_value == pytest.approx(np.exp(-6.5 / 2))  # chi-square with 2 degrees
    assert test.f_statistic == pytest.approx(13)


def test_friedman_of_demsar():
    # section 3.2.2: mean ranks 3.143 2.000 2.893 1.964, chi2 = 9.28 without the correction for ties
    test = friedman_test(AUC)
    np.testing.assert_allclose(test.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert test.statistic * TIES == pytest.approx(9.28, abs=5e-3)
    assert test.f_p_value == pytest.approx(stats.f.sf(test.f_statistic, 3, 39))
    wanted = stats.friedmanchisquare(*AUC.T)
    assert test.statistic == pytest.approx(wanted.statistic)
    assert test.p_value == pytest.approx(wanted.pvalue)


@given(tables)
def test_friedman_agrees_with_scipy_and_with_anova_of_ranks(scores):
    test = friedman_test(scores)
    n_problems, n_methods = scores.shape
    ranks = stats.rankdata(-scores, axis=1)
    within = ((ranks - ranks.mean(axis=1, keepdims=True)) ** 2).sum()
    between = n_problems * ((ranks.mean(axis=0) - ranks.mean()) ** 2).sum()
    rest = within - between
    if within == 0:
        assert (test.statistic, test.p_value, test.f_p_value) == (0, 1, 1)
        return
    if n_methods > 2:
        wanted = stats.friedmanchisquare(*scores.T)
        assert test.statistic == pytest.approx(wanted.statistic, abs=1e-9)
    # Iman and Davenport's F is the two-way analysis of variance of the ranks
    if rest < 1e-9:
        assert test.f_statistic == np.inf
        assert test.f_p_value == 0
    else:
        f = between / (n_methods - 1) / (rest / ((n_methods - 1) * (n_problems - 1)))
        assert test.f_statistic == pytest.approx(f, abs=1e-9)


@given(tables)
def test_only_the_order_within_problems_matters(scores):
    test = friedman_test(scores)
    moved = friedman_test(np.exp(scores) + 10.0 * np.arange(len(scores))[:, None])
    np.testing.assert_array_equal(test.ranks, moved.ranks)
    assert test.statistic == moved.statistic
    flipped = friedman_test(-scores)
    np.testing.assert_allclose(flipped.ranks, scores.shape[1] + 1 - test.ranks)
    assert flipped.p_value == pytest.approx(test.p_value, abs=1e-12)


@pytest.mark.parametrize(
    ("n_methods", "alpha", "q"),
    [
        (2, 0.05, 1.960),
        (3, 0.05, 2.343),
        (4, 0.05, 2.569),
        (5, 0.05, 2.728),
        (10, 0.05, 3.164),
        (2, 0.10, 1.645),
        (4, 0.10, 2.291),
        (10, 0.10, 2.920),
    ],
)
def test_nemenyi_quantiles_of_demsar_table_5a(n_methods, alpha, q):
    # n_problems such that the root is 1
    n_problems = n_methods * (n_methods + 1) / 6
    difference = critical_difference(n_methods, n_problems, alpha)
    assert difference == pytest.approx(q, abs=1.1e-3)  # the table cuts off digits


def test_nemenyi_groups_of_demsar():
    # "CD = 2.569 sqrt(4*5 / (6*14)) = 1.25": nothing differs; at 0.10 it is 1.12 and C4.5 is
    # worse than C4.5+m and C4.5+m+cf, while C4.5+cf belongs to both groups (Figure 1a)
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=5e-3)
    ranks = average_ranks(AUC)
    assert rank_cliques(ranks, critical_difference(4, 14)) == [(3, 1, 2, 0)]
    loose = critical_difference(4, 14, alpha=0.10)
    assert loose == pytest.approx(1.12, abs=5e-3)
    assert rank_cliques(ranks, loose) == [(3, 1, 2), (2, 0)]


def test_holm_of_demsar():
    # Table of section 3.2.2 with C4.5 as control, SE = 0.488: z = (3.143 - 1.964) / SE = 2.416,
    # 2.342, 0.512; p = 0.016, 0.019, 0.607; Holm rejects the first two at 0.05
    pairs = holm_test(AUC, NAMES, control="C4.5")
    assert list(pairs["method"]) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf"]
    assert set(pairs["other"]) == {"C4.5"}
    np.testing.assert_allclose(pairs["statistic"], [2.416, 2.342, 0.512], atol=1.5e-3)
    np.testing.assert_allclose(pairs["p_value"], [0.016, 0.019, 0.607], atol=1.5e-3)
    p = pairs["p_value"].to_numpy()
    # 3 p1 = 0.047; 2 p2 = 0.038 may not fall below it
    np.testing.assert_allclose(pairs["p_holm"], [3 * p[0], 3 * p[0], p[2]])
    assert list(pairs["mark"]) == ["better", "better", "none"]


def test_holm_of_all_pairs_corrects_for_all_of_them():
    pairs = holm_test(AUC, NAMES)
    assert len(pairs) == 6
    assert (pairs["rank"] <= pairs["other_rank"]).all()
    assert pairs["p_value"].is_monotonic_increasing
    assert pairs["p_holm"].is_monotonic_increasing
    assert pairs["p_holm"][0] == pytest.approx(6 * pairs["p_value"][0])
    assert set(pairs["mark"]) == {"none"}


def test_holm_marks_against_a_control_that_wins():
    pairs = holm_test([[3, 2, 1]] * 12, ["a", "b", "c"], control="a")
    assert dict(zip(pairs["method"], pairs["mark"], strict=True)) == {"b": "worse", "c": "worse"}


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.integers(1, 20))
def test_cliques_are_the_maximal_groups(ranks, difference):
    cliques = rank_cliques(ranks, difference)
    groups = [{*clique} for clique in cliques]
    near = {
        (i, j) for i in range(len(ranks)) for j in range(i) if abs(ranks[i] - ranks[j]) < difference
    }
    covered = {(i, j) for group in groups for i in group for j in group if j < i}
    assert covered == near
    assert not any(a < b or (a == b and a is not b) for a in groups for b in groups)


def test_bad_tables_are_named():
    with pytest.raises(MaucError, match=r"at least 2 problems and 2 methods, got shape \(1, 3\)"):
        friedman_test([[1, 2, 3]])
    with pytest.raises(MaucError, match=r"NaN in 1 of 3 problems \(rows 1\); leave these"):
        average_ranks([[1, 2], [np.nan, 3], [1, 2]])
    with pytest.raises(MaucError, match=r"control must be one of .*did you mean 'C4.5\+cf'"):
        holm_test(AUC, NAMES, control="C45+cf")
    with pytest.raises(MaucError, match=r"names must be 4 different names"):
        holm_test(AUC, ["a", "b", "c", "a"])
    with pytest.raises(MaucError, match=r"at least 2 methods"):
        critical_difference(1, 10)
    with pytest.raises(MaucError, match=r"alpha must be a number in \(0, 1\)"):
        critical_difference(3, 10, alpha=0)
    with pytest.raises(MaucError, match=r"ranks must be finite"):
        rank_cliques([1, np.nan], 1)
