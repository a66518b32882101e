"""MDL cuts: against the definition and against WEKA, by every way to find them."""

from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mauc.binning import mdl
from mauc.binning.contingency import CHI, IG, SU, mdl_cut_points, subproblem_scores
from mauc.binning.mdl import CLASS, COUNT, ENDS, make_entries
from mauc.data.decomposition import Decomposition
from tests.helpers import oracle_mdl as oracle
from tests.helpers import rival_strategies
from tests.helpers.strategies import examples

ALL = np.array([CHI, SU, IG])


def read_only(x, dtype=np.float64):
    x = np.ascontiguousarray(np.atleast_2d(np.asarray(x, dtype=dtype)))
    x.flags.writeable = False
    return x


def whole(n_classes):
    return np.arange(n_classes, dtype=np.int32)


def score(XT, y, roles):
    out = np.full((3, len(XT), len(roles)), np.nan)
    subproblem_scores(XT, y, roles, ALL, out)
    return out


def test_cut_by_hand():
    # ten rows of each class, cleanly parted: H = 1, E = 0, and 1 > (log2 19 + log2 7 - 2) / 20
    y = np.repeat([0, 1], 10).astype(np.int32)
    points, offsets = mdl_cut_points(read_only(np.arange(20.0)), y, whole(2))
    assert_array_equal(points, [9.5])
    assert_array_equal(offsets, [0, 1])


def test_a_cut_must_pay_for_itself():
    # two rows: 1 > (log2 1 + log2 7 - 2) / 2 holds, so even one row a side is cut
    y = np.array([0, 1], np.int32)
    assert_array_equal(mdl_cut_points(read_only([0.0, 1.0]), y, whole(2))[0], [0.5])
    # alternating classes: nothing is gained anywhere near the price
    y = np.tile([0, 1], 10).astype(np.int32)
    assert len(mdl_cut_points(read_only(np.arange(20.0)), y, whole(2))[0]) == 0


def test_more_cuts_than_were_reserved():
    # a class change every 50 rows: 99 cuts of one column
    y = (np.arange(5000) // 50 % 2).astype(np.int32)
    points, offsets = mdl_cut_points(read_only(np.arange(5000.0)), y, whole(2))
    assert_array_equal(points, oracle.cut_points(np.arange(5000.0), y, 2))
    assert offsets[-1] == len(points) == 99


def entries_by_value(entries, n_entries):
    """Return the classes and counts of every distinct value of a column, in order."""
    cls, count, ends = entries[:, :n_entries]
    assert (ends <= 1).all()
    pairs = np.column_stack([cls, count]).tolist()
    parts = np.split(np.arange(n_entries), np.flatnonzero(ends) + 1)
    assert len(parts[-1]) == 0  # every value has an end
    return [sorted(pairs[e] for e in part) for part in parts]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_real", [0, 1, 6])
def test_counted_entries_are_those_of_a_sort(rng, dtype, n_real):
    n, n_classes = 500, 3
    X = rng.integers(-7, 8, (6, n)) / 10
    X[1, rng.random(n) < 0.3] = np.nan
    X[2, X[2] == -0.7] = np.nan
    X[3], X[4], X[5] = np.nan, 0.25, np.where(X[5] == 0, -0.0, X[5])
    X[:n_real] = rng.random((n_real, n))
    XT, y = read_only(X, dtype), rng.integers(0, n_classes, n).astype(np.int32)
    with mock.patch.object(mdl, "_sort_entries", wraps=mdl._sort_entries) as sort:
        entries, n_entries, values, missing = make_entries(XT, y, n_classes)
    assert sum(len(call.args[0]) for call in sort.call_args_list) == n_real
    wanted = mdl._sort_entries(XT, y, n_classes)
    assert_array_equal(n_entries, wanted[1])
    assert_array_equal(missing, wanted[3])
    for f, n_known in enumerate(np.isfinite(XT).sum(axis=1)):
        assert_array_equal(values[f, :n_known], wanted[2][f, :n_known])
        assert not np.signbit(values[f, :n_known][values[f, :n_known] == 0]).any()
        got = entries_by_value(entries[f], n_entries[f])
        assert got == entries_by_value(wanted[0][f], n_entries[f])


@examples(200)
@given(rival_strategies.single_columns())
def test_cuts_and_scores_equal_the_definition(problem):
    x, y, n_classes = problem
    roles = rival_strategies.roles(n_classes)
    got = score(read_only(x), y, roles)
    for s, role in enumerate(roles):
        cuts, wanted = oracle.subproblem_scores(x, y, role)
        assert_array_equal(mdl_cut_points(read_only(x), y, role)[0], cuts)
        assert_allclose(got[:, 0, s], wanted, rtol=1e-9, atol=1e-12)


@given(rival_strategies.single_columns(), st.sampled_from([np.float32, np.float64]))
def test_entries_hold_the_rows(problem, dtype):
    x, y, n_classes = problem
    x = read_only(x, dtype)
    entries, n_entries, values, missing = make_entries(x, y, n_classes)
    known = ~np.isnan(x[0])
    ascending = np.sort(x[0][known]).astype(np.float64)
    assert_array_equal(values[0, : known.sum()], ascending)
    assert_array_equal(missing[0], np.bincount(y[~known], minlength=n_classes))
    entries = entries[0, :, : n_entries[0]]
    values_of = np.unique(ascending)[np.cumsum(np.append(0, entries[ENDS]))[:-1]]
    pairs = zip(values_of.tolist(), entries[CLASS].tolist(), strict=True)
    wanted = Counter(zip(x[0][known].tolist(), y[known].tolist(), strict=True))
    assert dict(zip(pairs, entries[COUNT].tolist(), strict=True)) == wanted


def test_zeros_of_either_sign_are_one_value():
    x = np.tile([0.0, -0.0], 10)
    y = np.tile([0, 1], 10).astype(np.int32)
    assert len(mdl_cut_points(read_only(x), y, whole(2))[0]) == 0
    assert_array_equal(score(read_only(x), y, rival_strategies.roles(2)), 0.0)


def test_midpoint_of_neighbouring_doubles_goes_by_value():
    # the midpoint rounds to the upper value, which then is not above the cut
    below = np.nextafter(1.0, 2.0)
    above = np.nextafter(below, 2.0)
    assert (below + above) / 2 == above
    x = np.repeat([below, above], 20)
    y = np.repeat([0, 1, 2], [20, 10, 10]).astype(np.int32)
    roles = rival_strategies.roles(3)
    got = score(read_only(x), y, roles)
    for s, role in enumerate(roles):
        assert_allclose(got[:, 0, s], oracle.subproblem_scores(x, y, role)[1], atol=1e-12)
    assert_array_equal(got[:, 0, 0], 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pairs_of_unequal_classes_are_scored_as_if_alone(rng, dtype, monkeypatch):
    # Batches fill classes up with missing values, which must not count; columns miss some, too.
    counts = [1, 3, 9, 9, 20, 31]
    y = rng.permutation(np.repeat(np.arange(6, dtype=np.int32), counts))
    XT = (rng.normal(size=(5, len(y))) + rng.normal(size=(5, 6))[:, y]).round(1).astype(dtype)
    XT[rng.random(XT.shape) < 0.15] = np.nan
    XT = read_only(XT, dtype)
    roles = Decomposition("one-vs-one", 6).roles
    together = np.empty((3, 5, len(roles)))
    subproblem_scores(XT, y, roles, [0, 1, 2], together)
    for pair, role in enumerate(roles):
        rows = np.flatnonzero(role[y] >= 0)
        alone = np.empty((3, 5, 1))
        two = np.array([[0, 1]], np.int32)
        part = read_only(XT[:, rows], dtype)
        subproblem_scores(part, role[y][rows], two, [0, 1, 2], alone)
        assert_array_equal(together[:, :, pair], alone[:, :, 0])
    monkeypatch.setattr("mauc.binning.contingency._BATCH_VALUES", 1)
    one_by_one = np.empty_like(together)
    subproblem_scores(XT, y, roles, [0, 1, 2], one_by_one)
    assert_array_equal(one_by_one, together)
