"""The rows whose correlations are measured: a function of values, not of places."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc import GreedyMAUC
from mauc.data.door import make_problem
from mauc.data.problem import group_by_class
from mauc.data.rows import hashed_rows
from tests.helpers.selector_cases import assert_same_fit

N = 5000


def tall_tables(rng):
    """Tables of 5,000 x 20: of reals, with ties, of bytes, of bits, with copies and gaps."""
    y = rng.choice(5, N, p=[0.4, 0.3, 0.2, 0.09, 0.01])
    reals = rng.normal(size=(N, 20)) + y[:, np.newaxis] * rng.normal(size=20) / 2
    copies = reals[rng.integers(0, N // 50, N)].round(1)
    gaps = np.where(rng.random((N, 20)) < 0.3, np.nan, reals.round(1))
    return {
        "reals": reals,
        "ties": reals.round(),
        "bytes": np.clip(20 * (reals + 3), 0, 255).astype(np.uint8),
        "bits": reals > 0,
        "copies": copies,
        "gaps": gaps,
    }, y


def fitted(X, y, **options):
    with np.errstate(all="ignore"):
        return GreedyMAUC("all", **options).fit(X, y)


@pytest.mark.parametrize("kind", ["reals", "ties", "bytes", "bits", "copies", "gaps"])
def test_row_order_does_not_matter(rng, kind):
    tables, y = tall_tables(rng)
    X = tables[kind]
    one = fitted(X, y)
    assert one.shrinkage_ != fitted(X, y, max_samples=None).shrinkage_
    for order in (rng.permutation(N), np.arange(N)[::-1]):
        assert_same_fit(fitted(X[order], y[order]), one)


def sampled(X, y, n_kept):
    problem = make_problem(X, y)
    order, starts, _ = group_by_class(problem.codes, problem.n_classes)
    places = hashed_rows(problem, order.astype(np.int32), starts, n_kept)
    assert len(np.unique(places)) == n_kept
    return order[places]


@pytest.mark.parametrize("kind", ["reals", "ties", "bytes", "bits", "copies", "gaps"])
def test_every_class_has_its_share(rng, kind):
    tables, y = tall_tables(rng)
    rows = sampled(tables[kind], y, 500)
    assert (np.abs(np.bincount(y[rows]) - np.bincount(y) / 10) <= 1).all()


@pytest.mark.parametrize("kind", ["reals", "ties", "bits", "copies", "gaps"])
def test_a_weight_is_taken_as_its_copies_would_be(rng, kind):
    tables, y = tall_tables(rng)
    X, y, weight = tables[kind][:600], y[:600], rng.integers(1, 4, 600)

    def kept(X, y, sample_weight=None):
        problem = make_problem(X, y, sample_weight=sample_weight)
        order, starts, weights = group_by_class(problem.codes, problem.n_classes, sample_weight)
        weights = weights if sample_weight is not None else None
        rows = X[order[hashed_rows(problem, order.astype(np.int32), starts, 200, weights)]]
        return np.nan_to_num(rows[np.lexsort(rows.T)])

    repeated = np.repeat(X, weight, axis=0), np.repeat(y, weight)
    assert_array_equal(kept(X, y, weight.astype(float)), kept(*repeated))


def test_equal_rows_are_taken_as_often_as_they_occur(rng):
    # Of two columns of bits there are four kinds of rows.
    X, y = rng.random((N, 2)) < [0.5, 0.1], np.arange(N) % 2
    rows = sampled(X, y, 1000)
    kinds = X @ [1, 2]
    share = np.bincount(kinds[rows], minlength=4) / 1000
    assert np.abs(share - np.bincount(kinds, minlength=4) / N).max() < 0.01


def test_the_sample_is_not_a_part_of_the_range(rng):
    tables, y = tall_tables(rng)
    X = tables["reals"]
    rows = sampled(X, y, 1000)
    ranks = np.argsort(np.argsort(X, axis=0), axis=0) / N
    # Of a uniform sample of 1,000 the mean has standard error 0.009, the deviation 0.004.
    assert np.abs(ranks[rows].mean(axis=0) - 0.5).max() < 0.04
    assert np.abs(ranks[rows].std(axis=0) - 12**-0.5).max() < 0.02


def nominal_table(rng, n=4000):
    """Eight nominal columns: of three to 400 categories, with gaps, of pairs with equal counts."""
    y = rng.integers(0, 3, n)
    columns = [
        (rng.integers(0, size, n) + y * rng.integers(0, 2, n)) % size
        for size in (3, 4, 6, 10, 20, 400)
    ]
    columns.append(rng.permutation(n) // 2)
    X = np.column_stack([*columns, rng.integers(0, 2, n)]).astype(float)
    X[rng.random(n) < 0.1, 1] = np.nan
    return X, y


def renamed(X, rng):
    out = X.copy()
    for column in out.T:
        is_known = ~np.isnan(column)
        names = rng.permutation(10000)
        column[is_known] = names[column[is_known].astype(int)]
    return out


@pytest.mark.parametrize("seed", range(4))
def test_names_of_categories_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, y = nominal_table(rng)
    for n_columns in (8, 3):  # few columns: rows that are equal everywhere
        table, flags = X[:, :n_columns], np.ones(n_columns, bool)
        one = fitted(table, y, categorical_features=flags)
        assert (
            one.shrinkage_
            != fitted(table, y, categorical_features=flags, max_samples=None).shrinkage_
        )
        for _ in range(3):
            assert_same_fit(fitted(renamed(table, rng), y, categorical_features=flags), one)
        order = rng.permutation(len(y))
        assert_same_fit(fitted(table[order], y[order], categorical_features=flags), one)


def test_row_order_does_not_matter_to_categories_with_equal_counts(rng):
    # Both categories of the first column have the same counts: it is the last to decide.
    y = np.repeat([0, 1], 2000)
    X = np.column_stack([np.arange(4000) % 2, rng.integers(0, 3, 4000) + y]).astype(float)
    one = fitted(X, y, categorical_features=[0, 1])
    for _ in range(3):
        order = rng.permutation(4000)
        assert_same_fit(fitted(X[order], y[order], categorical_features=[0, 1]), one)
