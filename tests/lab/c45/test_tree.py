"""The tree kernels against the definition written as plain recursion."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mauc.lab.c45.estimator import fit_tree
from tests.helpers.c45_oracle import Oracle, fit, fractions, sort_all
from tests.helpers.strategies import examples


def assert_same_tree(tree, oracle, X):
    assert np.count_nonzero(tree.n_children == 0) == oracle.root.leaves()
    assert len(tree.feature) == oracle.root.size()
    expected = np.array([oracle.fractions(x) for x in X])
    np.testing.assert_allclose(fractions(tree, X), expected, atol=1e-9, rtol=0)


@st.composite
def data_sets(draw, missing=False, nominal=False, dtype=np.float64):
    """Columns that tell the class a little, with ties, noise, gaps around the tolerances."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m, n_classes = draw(st.integers(1, 70)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    y = rng.integers(0, n_classes, n).astype(np.int32)
    noise = draw(st.sampled_from([0.3, 1.0, 3.0]))
    X = rng.normal(0.0, 1.0, (n_classes, m))[y] + rng.normal(0.0, noise, (n, m))
    X = np.round(X, draw(st.integers(0, 3))) * draw(st.sampled_from([1.0, 1e-5, 4e-7, 1e6]))
    n_values = np.zeros(m, np.int32)
    if nominal:
        for j in np.flatnonzero(rng.random(m) < 0.6):
            n_values[j] = rng.integers(1, 6) if rng.random() < 0.8 else max(1, n // 2)
            X[:, j] = rng.integers(0, n_values[j], n)
    if missing:
        X[rng.random(X.shape) < draw(st.sampled_from([0.05, 0.4]))] = np.nan
    return X.astype(dtype), y, n_classes, n_values


OPTIONS = st.fixed_dictionaries(
    {
        "prune": st.booleans(),
        "raising": st.booleans(),
        "confidence": st.sampled_from([0.05, 0.25, 0.5]),
        "min_leaf": st.sampled_from([1.0, 2.0, 5.0]),
    }
)


@examples(150)
@given(st.sampled_from([np.float32, np.float64]).flatmap(lambda t: data_sets(dtype=t)), OPTIONS)
def test_complete_data_agree_with_the_definition(data, options):
    X, y, n_classes, _ = data
    assert_same_tree(fit(X, y, n_classes, **options), Oracle(X, y, n_classes, **options), X)


@examples(150)
@given(data_sets(missing=True, nominal=True), OPTIONS)
def test_missing_and_nominal_values_agree_with_the_definition(data, options):
    X, y, n_classes, n_values = data
    tree = fit(X, y, n_classes, n_values, **options)
    assert_same_tree(tree, Oracle(X, y, n_classes, n_values, **options), X)


@examples(60)
@given(data_sets(missing=True, nominal=True), OPTIONS, st.integers(0, 1000))
def test_weights_agree_with_the_definition(data, options, seed):
    X, y, n_classes, n_values = data
    weight = np.round(np.random.default_rng(seed).uniform(0.3, 3.0, len(y)), 2)
    tree = fit(X, y, n_classes, n_values, weight, **options)
    assert_same_tree(tree, Oracle(X, y, n_classes, n_values, weight, weight, **options), X)


def test_a_tree_outgrows_its_first_arrays():
    """Noise gives many nodes and many branches to raise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 3000).astype(np.int32)
    X = np.round(y[:, None] * rng.random(6) + rng.normal(size=(3000, 6)), 1)
    tree = fit(X, y, 5, prune=False)
    assert len(tree.feature) > 500
    inner = np.flatnonzero(tree.n_children)
    children = tree.counts[tree.first_child[inner]] + tree.counts[tree.first_child[inner] + 1]
    np.testing.assert_array_equal(children, tree.counts[inner])


@examples(60)
@given(data_sets(missing=True, nominal=True), st.integers(0, 1000), st.booleans())
def test_columns_share_one_sort(data, seed, drop_missing):
    """A tree on some columns of shared orders is the tree fitted to these columns alone."""
    X, y, n_classes, n_values = data
    if drop_missing:
        X, n_values = np.nan_to_num(X), np.zeros(X.shape[1], np.int32)
    rng = np.random.default_rng(seed)
    columns = rng.permutation(X.shape[1])[: rng.integers(1, X.shape[1] + 1)].astype(np.int32)
    data = sort_all(X, y, n_classes, n_values)
    before = data.order.copy()
    shared = fit_tree(data, columns)
    np.testing.assert_array_equal(data.order, before)
    alone = fit(X[:, columns], y, n_classes, n_values[columns])
    for name in set(shared._fields) - {"feature"}:
        np.testing.assert_array_equal(getattr(shared, name), getattr(alone, name))
    inner = alone.feature >= 0
    np.testing.assert_array_equal(shared.feature[inner], columns[alone.feature[inner]])


def test_tree_countable_by_hand():
    """1 2 | 3 4 with two rows of a class each side: one cut at 2, gain 1 bit, no correction."""
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    y = np.array([0, 0, 1, 1], np.int32)
    tree = fit(X, y, 2, prune=False)
    np.testing.assert_array_equal(tree.feature, [0, -1, -1])
    assert tree.threshold[0] == 2.0
    np.testing.assert_array_equal(tree.counts, [[2, 2], [2, 0], [0, 2]])


def test_missing_value_follows_both_branches():
    """Three quarters of the known weight went left: a missing value is 3/4 class 0."""
    X = np.array([[1.0]] * 6 + [[2.0]] * 2)
    y = np.array([0] * 6 + [1] * 2, np.int32)
    tree = fit(X, y, 2)
    np.testing.assert_array_equal(fractions(tree, np.array([[np.nan]])), [[0.75, 0.25]])


def test_a_value_one_ulp_apart_is_not_a_cut():
    X = np.array([[1.0], [1.0], [np.nextafter(1.0, 2)], [np.nextafter(1.0, 2)]])
    tree = fit(X, np.array([0, 0, 1, 1], np.int32), 2)
    assert len(tree.feature) == 1
