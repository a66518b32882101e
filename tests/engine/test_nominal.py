"""Leave-pair-out AUC of nominal columns: by hand, by the definition, and what it promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mauc import SubproblemSelector, feature_pair_auc
from mauc.engine.nominal import _MIN_TABLE, apparent_pair_auc, count_categories
from mauc.exceptions import MaucError


def nominal_auc(X, y, **options):
    return feature_pair_auc(X, y, categorical_features=np.ones(X.shape[1], bool), **options)


def pair_oracle(x, is_first, is_second):
    """Every pair of rows, each scored by the others: the definition, in fractions."""
    known = x == x
    n_i, n_j = int((is_first & known).sum()), int((is_second & known).sum())
    won = 0.0
    for a in np.flatnonzero(is_first):
        for b in np.flatnonzero(is_second):
            if x[a] != x[a] or x[b] != x[b] or x[a] == x[b]:
                won += 0.5
                continue
            in_i = [int((is_first & (x == x[row])).sum()) for row in (a, b)]
            in_j = [int((is_second & (x == x[row])).sum()) for row in (a, b)]
            # times n_i + n_j, so that all are whole numbers
            n = n_i + n_j
            of_a = ((in_i[0] - 1) * n + n_i, in_j[0] * n + n_j)
            of_b = (in_i[1] * n + n_i, (in_j[1] - 1) * n + n_j)
            left, right = of_a[0] * of_b[1], of_b[0] * of_a[1]
            won += 1.0 if left > right else 0.5 if left == right else 0.0
    return max(0.5, won / (is_first.sum() * is_second.sum()))


def oracle(x, y):
    classes = np.unique(y)
    pairs = [(i, j) for a, i in enumerate(classes) for j in classes[a + 1 :]]
    return [pair_oracle(x, y == i, y == j) for i, j in pairs]


def test_by_hand():
    # Classes a a a b b b in categories 0 0 1 1 2 2: pi is 1/2. Without itself a row of class a
    # scores 1.5/0.5 = 3 in category 0 and 0.5/1.5 = 1/3 in category 1, one of class b 1.5/0.5 = 3
    # in category 1 and 0.5/1.5 = 1/3 in category 2. Of the 9 pairs 2 tie (0 and 1), 4 are won (0
    # and 2), 1 is in one category, 2 tie (1 and 2): 6.5 / 9.
    x, y = np.array([[0, 0, 1, 1, 2, 2]]).T, list("aaabbb")
    assert_array_equal(nominal_auc(x, y), [[6.5 / 9]])


def test_categories_that_tell_the_class():
    y = np.repeat([0, 1, 2], 20)
    x = (10 * y + np.arange(60) % 4)[:, np.newaxis]
    assert_array_equal(nominal_auc(x, y), [[1, 1, 1]])


def test_constant_missing_and_distinct_columns_say_nothing():
    y = np.repeat([0, 1, 2], 20)
    X = np.column_stack([np.ones(60), np.full(60, np.nan), np.arange(60)])
    assert_array_equal(nominal_auc(X, y), np.full((3, 3), 0.5))


@st.composite
def nominal_columns(draw):
    n = draw(st.integers(4, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_classes, n_categories = draw(st.integers(2, 4)), draw(st.integers(3, 12))
    y = np.sort(rng.choice(n_classes, n, p=rng.dirichlet(np.full(n_classes, 0.7))))
    y[:n_classes] = np.arange(n_classes)
    x = (rng.integers(0, n_categories, n) * rng.integers(0, 2, n) + y) % n_categories
    x = np.where(rng.random(n) < draw(st.sampled_from([0, 0.2])), np.nan, x)
    x[:3] = 0, 1, 2  # more than two categories
    return x, rng.permutation(y)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.SmallClassWarning")
@given(nominal_columns())
def test_equals_the_definition(data):
    x, y = data
    wanted = oracle(np.nan_to_num(x, nan=99), y)  # a missing value is a category
    assert_allclose(nominal_auc(x[:, np.newaxis], y)[0], wanted, rtol=1e-14)


@given(nominal_columns())
def test_apparent_auc_is_that_of_the_odds_of_the_rows_themselves(data):
    x, y = data
    x = np.nan_to_num(x, nan=99)
    table = np.array([[(x[y == k] == v).sum() for v in np.unique(x)] for k in np.unique(y)])
    wanted = []
    for i, j in zip(*np.triu_indices(len(table), 1), strict=True):
        a, b = table[i], table[j]
        # Categories by the odds a / b, compared as whole numbers: 1 where won, 1/2 where tied.
        order = np.sign(np.outer(a, b) - np.outer(b, a))
        wanted.append((np.outer(a, b) * (1 + order) / 2).sum() / (a.sum() * b.sum()))
    counts = count_categories(x, y.astype(np.int32), len(table))
    assert_allclose(apparent_pair_auc(counts), wanted, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.SmallClassWarning")
@given(nominal_columns())
def test_one_against_the_rest_equals_the_definition(data):
    x, y = data
    if len(np.unique(y)) == 2:
        return
    selector = SubproblemSelector("all", decomposition="one-vs-rest", categorical_features=[0])
    found = selector.fit(x[:, np.newaxis], y)
    x = np.nan_to_num(x, nan=99)
    wanted = np.mean([pair_oracle(x, y == k, y != k) for k in np.unique(y)])
    assert_allclose(found.scores_, [wanted], rtol=1e-14)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.SmallClassWarning")
@given(nominal_columns(), st.integers(0, 99))
def test_rows_and_names_of_categories_do_not_matter(data, seed):
    x, y = data
    rng = np.random.default_rng(seed)
    wanted = nominal_auc(x[:, np.newaxis], y)
    order = rng.permutation(len(y))
    assert_array_equal(nominal_auc(x[order, np.newaxis], y[order]), wanted)
    names = np.append(rng.permutation(50)[:12], np.nan)
    renamed = names[np.where(np.isnan(x), -1, x).astype(int)]
    assert_array_equal(nominal_auc(renamed[:, np.newaxis], y), wanted)


def test_two_categories_have_the_plain_auc(rng):
    X, y = rng.integers(0, 2, (90, 6)).astype(float), rng.integers(0, 4, 90)
    flags = np.where(X, np.nan, 5)  # one of them may be the missing value
    assert_array_equal(nominal_auc(flags, y), feature_pair_auc(X, y))
    weights = rng.uniform(0, 2, 90)
    for options in ({}, {"sample_weight": weights}):
        for table in (X, 7 - 3 * X):
            wanted = feature_pair_auc(table, y, **options)
            assert_array_equal(nominal_auc(table, y, **options), wanted)


def test_noise_of_many_categories_stays_at_one_half():
    values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 1000, (2000, 1)), rng.integers(0, 2, 2000)
        values.append(nominal_auc(X, y)[0, 0])
    assert abs(np.mean(values) - 0.5) < 0.03


def test_signal_of_some_categories_is_found():
    values = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x, rate = rng.integers(0, 20, 2000), rng.random(20)
        values.append(nominal_auc(x[:, np.newaxis], rng.random(2000) < rate[x])[0, 0])
    assert 0.79 < np.mean(values) < 0.85


def rest_auc(X, y, sample_weight=None):
    selector = SubproblemSelector(
        "all", decomposition="one-vs-rest", categorical_features=np.ones(X.shape[1], bool)
    )
    return selector.fit(X, y, sample_weight=sample_weight).scores_


def categories_with_gaps(rng, n=80, n_classes=3):
    X, y = rng.integers(0, 9, (n, 3)).astype(float), np.arange(n) % n_classes
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.mark.parametrize("weight", [1, 2, 3, 0.5, 0.1, 1 / 3, 1e200, 1e-200])
def test_equal_weights_are_no_weights(rng, weight):
    X, y = categories_with_gaps(rng)
    weights = np.full(80, weight)
    assert_array_equal(nominal_auc(X, y, sample_weight=weights), nominal_auc(X, y))
    assert_array_equal(rest_auc(X, y, weights), rest_auc(X, y))


@pytest.mark.parametrize("units", [(2, 3, 5), (1000.5, 1.5, 0.1), (1e200, 1, 1e-200)])
def test_the_unit_of_a_class_does_not_matter(rng, units):
    X, y = categories_with_gaps(rng)
    by_class = np.array(units)[y]
    assert_array_equal(nominal_auc(X, y, sample_weight=by_class), nominal_auc(X, y))
    for weights in (rng.uniform(0.5, 1.5, 80), rng.integers(1, 5, 80)):
        found = nominal_auc(X, y, sample_weight=by_class * weights)
        assert_allclose(found, nominal_auc(X, y, sample_weight=weights), rtol=1e-9)


def test_others_of_vanishing_weight_do_not_count(rng):
    X, y = categories_with_gaps(rng, n_classes=4)
    X[y == 3] += 20  # categories of their own
    found = rest_auc(X, y, np.array([1e200, 1e200, 1e200, 1e-200])[y])
    pairs = [rest_auc(X[y < 3], y[y < 3]), nominal_auc(X, np.where(y == 3, 1, 0))[:, 0]]
    assert_allclose(found, (3 * pairs[0] + pairs[1]) / 4, rtol=1e-9)


def test_rows_of_weight_0_are_absent(rng):
    X, y = categories_with_gaps(rng)
    for weights in (rng.integers(0, 2, 80), rng.integers(0, 4, 80), rng.uniform(-1, 1, 80).clip(0)):
        is_there = weights > 0
        for auc in (nominal_auc, rest_auc):
            found = auc(X, y, sample_weight=weights)
            wanted = auc(X[is_there], y[is_there], sample_weight=weights[is_there])
            assert_array_equal(found, wanted)


def weighted_oracle(x, is_first, is_second, weights):
    """Every pair of rows, scored by the weights of the others: the definition, in doubles."""
    scaled = np.zeros(len(x))
    for side in (is_first, is_second):
        scaled[side] = weights[side] * weights[side].sum() / (weights[side] ** 2).sum()

    def score(row, leaves_first):
        side = is_first if leaves_first else is_second
        here = scaled[side & (x == x[row])]
        own = (here**2).sum() / here.sum()
        in_i, in_j = (scaled[one & (x == x[row])].sum() for one in (is_first, is_second))
        n_i, n_j = scaled[is_first].sum(), scaled[is_second].sum()
        in_i, in_j = (in_i - own, in_j) if leaves_first else (in_i, in_j - own)
        return round(np.log((in_i + n_i / (n_i + n_j)) / (in_j + n_j / (n_i + n_j))), 10)

    won = 0.0
    for a in np.flatnonzero(is_first):
        for b in np.flatnonzero(is_second):
            of_a, of_b = score(a, True), score(b, False)
            share = 0.5 if x[a] == x[b] or of_a == of_b else float(of_a > of_b)
            won += share * scaled[a] * scaled[b]
    return max(0.5, won / (scaled[is_first].sum() * scaled[is_second].sum()))


@pytest.mark.parametrize("seed", range(6))
def test_weights_equal_the_definition(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 8, 45).astype(float), np.arange(45) % 3
    weights = [rng.integers(1, 4, 45), rng.lognormal(size=45)][seed % 2].astype(float)
    pairs = [(0, 1), (0, 2), (1, 2)]
    wanted = [weighted_oracle(x, y == i, y == j, weights) for i, j in pairs]
    assert_allclose(nominal_auc(x[:, np.newaxis], y, sample_weight=weights)[0], wanted, rtol=1e-12)
    wanted = np.mean([weighted_oracle(x, y == k, y != k, weights) for k in range(3)])
    assert_allclose(rest_auc(x[:, np.newaxis], y, weights), [wanted], rtol=1e-12)


@pytest.mark.parametrize("kind", ["0.5", "whole", "lognormal", "by class"])
def test_noise_with_weights_stays_at_one_half(kind):
    pairs, rests = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(0, 1000, (2000, 1)), rng.integers(0, 3, 2000)
        weights = {
            "whole": rng.integers(0, 6, 2000),
            "lognormal": rng.lognormal(size=2000),
            "by class": np.array([1000.5, 1.5, 3])[y],
        }.get(kind)
        weights = np.full(2000, float(kind)) if weights is None else weights
        pairs.append(nominal_auc(X, y, sample_weight=weights)[0].mean())
        rests.append(rest_auc(X, y, weights)[0])
    assert abs(np.mean(pairs) - 0.5) < 0.03
    assert abs(np.mean(rests) - 0.5) < 0.03


def test_threads_blocks_and_layouts_do_not_matter(rng):
    X, y = rng.integers(0, 30, (200, 70)).astype(float), rng.integers(0, 5, 200)
    wanted = nominal_auc(X, y)
    for other in (np.asfortranarray(X), X.astype(np.uint8), sparse.csr_array(X)):
        for n_jobs in (1, 3):
            assert_array_equal(nominal_auc(other, y, n_jobs=n_jobs), wanted)
    singles = [nominal_auc(X[:, [j]], y)[0] for j in range(70)]
    assert_array_equal(singles, wanted)


def test_many_classes_and_categories_need_no_table(rng):
    n, n_classes = 3000, 200
    x, y = rng.permutation(n), np.arange(n) % n_classes
    x[: n // 3] = x[n // 3 : 2 * (n // 3)]
    assert n_classes * n > max(_MIN_TABLE, 4 * n)
    found = nominal_auc(x[:, np.newaxis], y)[0]
    is_some = y < 3
    wanted = oracle(x[is_some].astype(float), y[is_some])
    assert_allclose(found[[0, 1, n_classes - 1]], wanted, rtol=1e-14)


def test_not_folded_needs_an_order(rng):
    X, y = rng.integers(0, 4, (20, 2)), np.arange(20) % 2
    with pytest.raises(MaucError, match=r"folded must be True .* got False with nominal column 1"):
        feature_pair_auc(X, y, folded=False, categorical_features=[1])
