"""MDL cuts against the definition."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from mauc.binning.contingency import CHI, IG, SU, mdl_cut_points, subproblem_scores
from mauc.data.problem import Decomposition
from mauc.engine.arrays import count_rows
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


def test_weights_by_hand():
    # the same two rows: 1 > (log2 1 + log2 7 - 2) / n holds for n = 0.81, not for 0.8
    y = np.array([0, 1], np.int32)
    for weight, n_cuts in ((0.405, 1), (0.4, 0), (3.0, 1)):
        rows = count_rows(2, np.full(2, weight))
        assert len(mdl_cut_points(read_only([0.0, 1.0]), y, whole(2), rows)[0]) == n_cuts


@examples(60)
@given(rival_strategies.single_columns(), rival_strategies.seeds())
def test_weighted_cuts_and_scores(problem, seed):
    x, y, n_classes = problem
    rng, roles = np.random.default_rng(seed), rival_strategies.roles(n_classes)
    weights = rng.uniform(0.1, 5, len(y))
    for role in roles:
        part, local = oracle.subproblem(x, y, role)
        wanted = oracle.cut_points(part, local, role.max() + 1, weights[role[y] >= 0])
        points = mdl_cut_points(read_only(x), y, role, count_rows(len(y), weights))[0]
        assert_array_equal(points, wanted)
    weights = rng.integers(0, 4, len(y)).astype(float)
    weights[0] = 1
    out = np.empty((3, 1, len(roles)))
    subproblem_scores(read_only(x), y, roles, ALL, out, count_rows(len(y), weights))
    times = weights.astype(int)
    assert_array_equal(out, score(read_only(np.repeat(x, times)), np.repeat(y, times), roles))


def test_more_cuts_than_were_reserved():
    # a class change every 50 rows: 99 cuts of one column
    y = (np.arange(5000) // 50 % 2).astype(np.int32)
    points, offsets = mdl_cut_points(read_only(np.arange(5000.0)), y, whole(2))
    assert_array_equal(points, oracle.cut_points(np.arange(5000.0), y, 2))
    assert offsets[-1] == len(points) == 99


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
