"""Tests of features on class pairs against SciPy, and the features that are significant."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.datasets import load_wine

from mauc import MAUCD, MDFS, MRMR, ConsensusSelector, GreedyMAUC, mauc_interval, pair_tests
from mauc.exceptions import MaucError, NoEvidenceWarning
from mauc.measure.pair_tests import adjust
from mauc.registry import SELECTORS

quiet = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
WINE, Y = load_wine(return_X_y=True, as_frame=True)


def table(tests, name="p"):
    """Return a column as an array of shape (n_features, n_pairs)."""
    frame = tests.to_frame().sort_values(["column", "class_i", "class_j"])
    return frame[name].to_numpy().reshape(len(frame["column"].unique()), -1)


def test_by_hand():
    # U = 3.5 of 4; one tie of two: s^2 = 4/12 (5 - 6/12) = 1.5; z = (3.5 - 2 - 1/2) / s.
    (row,) = pair_tests([[1.0], [2.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    assert (row.feature, row.class_i, row.class_j, row.higher) == ("x0", "a", "b", "b")
    assert row.auc == 3.5 / 4
    assert_allclose([row.z, row.p], [1.5**-0.5, 2 * stats.norm.sf(1.5**-0.5)], rtol=1e-14)
    assert (row.p_adjusted, row.test) == (row.p, "Mann-Whitney")


@quiet
@pytest.mark.parametrize("seed", range(8))
def test_p_is_that_of_scipy_and_the_interval_that_of_mauc_interval(seed):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1, 2], [4 + seed, 9, 20]))
    X = np.round(rng.normal(size=(len(y), 6)) + y[:, None] * rng.normal(size=6), seed % 3)
    X[rng.random(X.shape) < 0.1 * (seed % 2)] = np.nan
    for row in pair_tests(X, y, level=0.9):
        x = X[:, row.column]
        one, other = (x[(y == k) & ~np.isnan(x)] for k in (row.class_i, row.class_j))
        wanted = stats.mannwhitneyu(one, other, method="asymptotic")
        auc = wanted.statistic / (len(one) * len(other))
        assert_allclose(row.auc, max(auc, 1 - auc), rtol=1e-14)
        assert row.higher == (None if auc == 0.5 else row.class_i if auc > 0.5 else row.class_j)
        values, counts = np.unique(np.concatenate([one, other]), return_counts=True)
        if row.test == "Mann-Whitney":
            assert_allclose(row.p, wanted.pvalue, rtol=1e-12, atol=1e-12)
        else:
            assert row.p > wanted.pvalue
            assert counts.max() > len(one) / 2 + len(other) / 2
            mode = values[counts.argmax()]
            law = stats.hypergeom(len(one) + len(other), counts.max(), len(one))
            tails = law.cdf((one == mode).sum()), law.sf((one == mode).sum() - 1)
            assert_allclose(row.p, min(1.0, 2 * min(tails)), rtol=1e-12)
        if seed % 2 == 0:
            score = np.concatenate([one, other]) * (1 if row.higher == row.class_j else -1)
            interval = mauc_interval(
                np.repeat([0, 1], [len(one), len(other)]),
                np.column_stack([-score, score]),
                level=0.9,
            )
            wanted = [interval.pair_lower[0], interval.pair_upper[0]]
            assert_allclose([row.lower, row.upper], wanted, rtol=1e-9)


def test_adjusted_over_all_and_most_significant_first():
    tests = pair_tests(WINE, Y)
    assert_allclose(tests.p_adjusted, stats.false_discovery_control(tests.p, method="by"))
    assert (np.diff(tests.p) >= 0).all()
    assert set(tests.feature) == set(WINE.columns)
    assert_array_equal(adjust(tests.p.reshape(3, -1)).ravel(), tests.p_adjusted)


@quiet
def test_agnostic_to_rows_threads_layout_and_monotone_maps():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.7, size=(80, 40)).astype(float), rng.integers(0, 4, 80)
    wanted = pair_tests(X, y)
    rows = rng.permutation(80)
    for again in (
        pair_tests(X[rows], y[rows]),
        pair_tests(np.asfortranarray(X), y, n_jobs=2),
        pair_tests(sparse.csr_matrix(X), y),
        pair_tests(X.astype(np.uint8), y),
        pair_tests(np.exp(X), y),
    ):
        for name in ("column", "auc", "lower", "upper", "z", "p", "higher"):
            assert_array_equal(getattr(again, name), getattr(wanted, name))
    assert_array_equal(table(pair_tests(-X, y)), table(wanted))


@quiet
def test_what_tells_nothing_has_p_1():
    X = np.array([[1.0, np.nan, 3.0], [1.0, np.nan, 3.0], [1.0, 5.0, 3.0], [1.0, 4.0, np.nan]])
    constant, absent, _ = sorted(pair_tests(X, [0, 0, 1, 1]), key=lambda row: row.column)
    assert (constant.auc, constant.z, constant.p, constant.higher) == (0.5, 0.0, 1.0, None)
    assert np.isnan(absent.auc)
    assert (absent.lower, absent.upper, absent.p) == (0.0, 1.0, 1.0)


def test_a_rare_value_in_a_rare_class_is_not_taken_for_evidence():
    # One row of 1003 differs, and is of the class of 3: that happens with probability 3 / 1003.
    X, y = np.zeros((1003, 1)), np.repeat([0, 1], [3, 1000])
    X[0] = 1.0
    (row,) = pair_tests(X, y)
    assert_allclose(row.p, 2 * 3 / 1003)
    assert row.test == "Fisher"
    assert stats.mannwhitneyu(X[:3, 0], X[3:, 0], method="asymptotic").pvalue < 1e-60


def test_many_rows_that_share_a_value_do_not_hide_what_the_others_tell():
    # As many zeros in both classes: having one tells nothing, but the other values are shifted.
    rng = np.random.default_rng(0)
    X, y = np.zeros((4000, 1)), np.repeat([0, 1], 2000)
    X[:800, 0], X[2000:2800, 0] = rng.lognormal(size=800), rng.lognormal(2.0, size=800)
    (row,) = pair_tests(X, y)
    wanted = stats.mannwhitneyu(X[:2000, 0], X[2000:, 0], method="asymptotic").pvalue
    assert wanted < 1e-10
    assert_allclose(row.p, wanted, rtol=1e-9)
    assert row.test == "Mann-Whitney"


@pytest.mark.parametrize(("n_others", "test"), [(79, "Fisher"), (80, "Mann-Whitney")])
def test_fishers_test_counts_up_to_40_other_rows_in_the_smaller_class(n_others, test):
    # Classes of 100 each: half of the rows that are not 0 are expected in each.
    X, y = np.zeros((200, 1)), np.repeat([0, 1], 100)
    X[:40, 0], X[100 : 60 + n_others, 0] = np.arange(40) + 1.0, np.arange(n_others - 40) + 50.0
    assert pair_tests(X, y)[0].test == test


def test_nominal_columns_have_the_smallest_p_of_their_categories():
    y = np.repeat([0, 1], 20)
    frame = pd.DataFrame(
        {
            "kind": ["u"] * 15 + ["v"] * 5 + ["v"] * 10 + ["w"] * 10,
            "id": [f"row {at}" for at in range(40)],
            "binary": (["u"] * 15 + ["v"] * 5) * 2,
        }
    )
    rows = {row.feature: row for row in pair_tests(frame, y)}
    law = stats.hypergeom(40, 15, 20)
    assert_allclose(rows["kind"].p, 3 * 2 * law.sf(14))  # u, of three categories
    assert (rows["kind"].test, rows["kind"].higher) == ("Fisher", None)
    assert np.isnan([rows["kind"].z, rows["kind"].lower]).all()
    assert rows["id"].p == 1.0
    assert (rows["binary"].p, rows["binary"].auc, rows["binary"].higher) == (1.0, 0.5, None)


def noisy(n_rows=120, n_features=30, shift=2.0):
    """Return three classes; the first five features separate the first class."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(n_rows, n_features)), np.arange(n_rows) % 3
    X[y == 0, :5] += shift
    return X, y


@pytest.mark.parametrize("method", sorted(set(SELECTORS) - {"consensus"}))
def test_selectors_choose_the_significant_features_in_their_order(method):
    X, y = noisy()
    X = np.abs(X)  # for chi-square
    p = table(pair_tests(X, y))
    wanted = adjust(np.minimum(1, 3 * p.min(axis=1))) <= 0.05
    assert 0 < wanted.sum() < 30
    selector = SELECTORS[method](n_features_to_select="fdr")
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    selector.fit(X, y)
    if method != "fcbf":  # which leaves redundant ones out
        assert_array_equal(selector.support_, wanted)
    assert not selector.support_[~wanted].any()
    assert len(selector.trace_) == len(selector.pair_auc_) == selector.support_.sum()
    assert selector.transform(X).shape[1] == selector.support_.sum()


def test_of_noise_one_feature_is_selected_with_a_warning():
    X, y = noisy(shift=0.0)
    best = int(pair_tests(X, y).column[0])
    for selector in (MAUCD("fdr"), GreedyMAUC("fdr", fdr_alpha=0.01)):
        with pytest.warns(NoEvidenceWarning, match=r"adjusted p-value is \d.*fdr_alpha is 0.0"):
            assert selector.fit(X, y).ranking_.tolist() == [best]


def test_wishes_and_pairs_that_do_not_count():
    X, y = noisy()
    found = MAUCD("fdr", keep=[9], exclude=[0], feature_groups=[[1, 20]]).fit(X, y)
    assert_array_equal(np.flatnonzero(found.support_), [1, 2, 3, 4, 9, 20])
    assert found.ranking_[0] == 9
    with pytest.warns(NoEvidenceWarning):  # only the second and third class count
        MAUCD("fdr", pair_weight={(0, 1): 0, (0, 2): 0}).fit(X, y)


@pytest.mark.parametrize("selector", [GreedyMAUC, MAUCD, MDFS, MRMR])
def test_a_budget_that_pays_for_no_significant_feature_is_refused(selector):
    X, y = noisy()
    costs = np.where(np.arange(30) < 5, [9.0, 8, 7, 8, 9] + [0.0] * 25, 1.0)
    wishes = {"feature_costs": costs, "budget": 5}
    with pytest.raises(MaucError, match=r"budget must pay .*'fdr'.* 'x2', costs 7, got 5; raise"):
        selector("fdr", **wishes).fit(X, y)
    assert selector("fdr", keep=[9], **wishes).fit(X, y).ranking_.tolist() == [9]
    found = selector("fdr", feature_costs=costs, budget=7).fit(X, y)
    assert found.ranking_.tolist() == [2]


@quiet
def test_that_values_are_missing_is_evidence_where_they_have_a_side():
    X, y = noisy(shift=0.0)
    X[y == 0, 7] = np.nan
    assert MAUCD("fdr", missing="side").fit(X, y).ranking_.tolist() == [7]
    assert 7 not in MAUCD("fdr").fit(X, y).ranking_


def test_what_is_refused():
    X, y = noisy()
    with pytest.raises(MaucError, match=r"sample_weight and groups must be None .*'fdr', whose"):
        MAUCD("fdr").fit(X, y, groups=y)
    with pytest.raises(MaucError, match=r"fdr_alpha must be a number in \(0, 1\), got 1"):
        MDFS("fdr", fdr_alpha=1).fit(X, y)
    with pytest.raises(MaucError, match=r"fdr_alpha must be a number in \(0, 1\), got -1"):
        MDFS(3, fdr_alpha=-1).fit(X, y)
    with pytest.raises(MaucError, match='"all", "auto", "predicted", got \'fdr\''):
        ConsensusSelector("greedy", "fdr").fit(X, y)
    with pytest.raises(MaucError, match="level"):
        pair_tests(X, y, level=2)
