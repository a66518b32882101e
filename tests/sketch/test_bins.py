"""Bins of one feature: their number, and bounds against all data that have the same counts."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.sketch.bins import (
    SPLITTING,
    Bins,
    add_values,
    count_bins,
    fix_edges,
    merge_bins,
    no_bins,
    pair_bounds,
    rebase,
)


def wins_of(x, y):
    """Return 2 #(x_0 > x_1) + #(x_0 = x_1), by the definition."""
    first, second = x[y == 0][:, np.newaxis], x[y == 1]
    return int((2 * (first > second) + (first == second)).sum())


def bins_of(x, y, edges, n_classes=2):
    edges = np.array(edges, float)
    return Bins(edges, count_bins(x.astype(float), y.astype(np.int32), edges, n_classes))


def test_wins_lie_between_those_of_all_data_with_these_counts():
    # 0 | 1, 1, 2 | 4: the middle bin holds the values 1, 2 and 3
    y = np.array([0, 0, 1, 1, 1])
    found = []
    for middle in product([1, 2, 3], repeat=3):
        x = np.array([middle[0], 4, middle[1], middle[2], 0])
        found.append(wins_of(x, y))
    bins = bins_of(np.array([1, 4, 1, 2, 0]), y, [1.0, 4.0])
    fewest, most = pair_bounds(bins)
    assert (fewest[0], most[0]) == (min(found), max(found))


VALUES = np.array([0.0, 1.0, 2.0, 2.5, 3.0])


@pytest.mark.parametrize("seed", range(12))
def test_merged_bounds_hold_for_all_data_with_the_counts_of_the_parts(seed):
    rng = np.random.default_rng(seed)
    # Values that frequently are edges, the bin of one value [2, next), and NaN.
    candidates = np.unique(np.append(VALUES, np.nextafter(2.0, 3.0)))
    edges = [np.sort(rng.choice(candidates, rng.integers(1, 5), replace=False)) for _ in range(3)]
    y = rng.integers(0, 2, (2, 3))
    x = rng.choice(VALUES, (2, 3))
    x[rng.random((2, 3)) < 0.15] = np.nan
    parts = [bins_of(values, labels, e) for values, labels, e in zip(x, y, edges, strict=False)]
    merged = merge_bins(*parts, n_bins=16)
    assert_array_equal(merged.edges, np.union1d(*edges[:2]))
    for total in (merged, rebase(merged, edges[2])):
        fewest, most = pair_bounds(total)
        found = [
            wins_of_all(np.concatenate(pair), y.ravel())
            for pair in product(*(same_counts(*part) for part in zip(x, y, edges, strict=False)))
        ]
        assert fewest[0] <= min(found)
        assert max(found) <= most[0]


def same_counts(x, y, edges):
    """Yield all values, of `VALUES`, with which the classes have the same counts between edges."""
    counts = bins_of(x, y, edges).counts
    for values in product([*VALUES, np.nan], repeat=len(x)):
        if np.array_equal(bins_of(np.array(values), y, edges).counts, counts):
            yield np.array(values)


def wins_of_all(x, y):
    """Return the wins by the definition; a missing value ties with every value."""
    first, second = x[y == 0][:, np.newaxis], x[y == 1]
    is_tie = (first == second) | np.isnan(first) | np.isnan(second)
    return int((2 * (first > second) + is_tie).sum())


def test_counts_of_float32_fall_into_the_bins_of_float64(rng):
    x = rng.normal(size=400).astype(np.float32)
    x[:6] = np.inf, -np.inf, np.nan, 0.0, np.float32(1e-45), np.finfo(np.float32).max
    edges = np.unique(np.concatenate([rng.normal(size=50), [1e300, -1e300, 1e-300, np.inf, x[7]]]))
    y = np.zeros(400, np.int32)
    wide = count_bins(x.astype(np.float64), y, edges, 1)
    assert_array_equal(count_bins(x, y, edges, 1), wide)
    known = x[x == x].astype(float)
    wanted = np.bincount(np.searchsorted(edges, known, "right"), minlength=len(edges) + 1)
    assert_array_equal(wide[:-1, 0], wanted)
    assert wide[-1, 0] == 1


@pytest.mark.parametrize("n_bins", [16, 64, 1000])
def test_fixed_edges_are_few_and_keep_frequent_values_apart(rng, n_bins):
    x = np.where(rng.random(9000) < 0.5, 2.5, rng.normal(size=9000))
    y = rng.integers(0, 3, 9000).astype(np.int32)
    bins = add_values(no_bins(3), x, y, n_bins)
    assert bins.growth == SPLITTING
    assert n_bins < len(bins.edges) < 3 * n_bins
    assert {2.5, np.nextafter(2.5, 3)} <= set(bins.edges)
    assert bins.loose is None
    fewest, most = pair_bounds(bins)
    n_pairs = np.bincount(y)[[0, 0, 1]] * np.bincount(y)[[1, 2, 2]]
    assert 0 < ((most - fewest) / (4 * n_pairs)).max() < 0.75 / n_bins
    if n_bins == 64:  # a sketch of fewer bins takes fewer of its edges, which lose nothing
        coarse = merge_bins(no_bins(3), bins, 16)
        assert len(coarse.edges) < 3 * 16
        assert coarse.loose is None


def test_edges_lie_around_the_first_values_as_well():
    x = np.linspace(0.0, 1.0, 3001)
    edges = fix_edges(x, np.ones(3001), 64)
    assert edges[0] < -10
    assert edges[-1] > 10
    assert ((edges > 0) & (edges < 1)).sum() > 40
    extreme = np.array([-np.inf, -1e308, 0.0, 1e308, np.inf])
    assert np.isfinite(fix_edges(extreme, np.ones(5), 16)[:-1]).all()
