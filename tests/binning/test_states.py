"""Bins that do not look at the classes: three states, equal width, equal frequency."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.binning.states import MAX_BINS, equal_frequency, equal_width, three_states
from tests.helpers import oracle_mrmr as oracle
from tests.helpers import rival_strategies
from tests.helpers.strategies import examples


def codes_of(method, XT, *args, weights=None):
    XT = XT.view()
    XT.flags.writeable = False  # as the library calls them: one compiled version per type
    codes = np.empty(XT.shape, dtype=np.uint8)
    n_states = np.empty(len(XT), dtype=np.int64)
    method(XT, *args, codes, n_states, *([] if weights is None else [weights]))
    return codes, n_states


def test_countable_by_hand():
    # mean 3, sd sqrt(82 / 4) = 4.53 (over n - 1): only 11 lies outside
    XT = np.array([[0.0, 1.0, 1.0, 2.0, 11.0], [5.0] * 5, [0.0, 1.0, np.nan, 0.0, 1.0]])
    codes, n_states = codes_of(three_states, XT)
    assert codes.tolist() == [[1, 1, 1, 1, 2], [1] * 5, [1, 2, 3, 1, 2]]
    assert n_states.tolist() == [3, 3, 4]


def test_the_deviation_is_over_n_less_one():
    # mean 2, squares 14: sd 1.87 over n would leave 0 outside, 2.16 over n - 1 does not
    codes, _ = codes_of(three_states, np.array([[0.0, 1.0, 2.0, 5.0]]))
    assert codes.tolist() == [[1, 1, 1, 2]]


@examples(150)
@given(rival_strategies.feature_columns())
def test_three_states_equal_the_definition(XT):
    codes, n_states = codes_of(three_states, XT)
    literal, cuts = oracle.three_states(XT[0])
    values = XT[0].astype(np.float64)
    is_clear = np.ones(len(values), dtype=bool)
    for cut in cuts:
        # sd is irrational: at the cut itself the last digit of sd decides
        is_clear &= ~(np.abs(values - cut) <= 1e-12 * max(abs(cut), 1.0) * 10)
    assert_array_equal(codes[0][is_clear], literal[is_clear])
    assert n_states[0] == 3 + np.isnan(values).any()


def test_weighted_bins_by_hand():
    # 0 0 0 1 1 2: the halves part between the zeros and the ones, thirds have two rows each
    XT, weights = np.array([[1.0, 0.0, 2.0, np.nan]]), np.array([2, 3, 1, 9])
    for n_bins, wanted in ((2, [1, 0, 1, 2]), (3, [1, 0, 2, 3])):
        assert codes_of(equal_frequency, XT, n_bins, weights=weights)[0].tolist() == [wanted]
    # mean 2/3, sd 0.82: only 2 lies outside; half the weight: 0.89 and the same
    for unit in (1.0, 0.5):
        assert codes_of(three_states, XT, weights=unit * weights)[0].tolist() == [[1, 1, 2, 3]]


@examples(60)
@given(rival_strategies.feature_columns(), rival_strategies.seeds(), st.sampled_from([2, 3, 7]))
def test_weights_are_repeated_rows(XT, seed, n_bins):
    times = np.random.default_rng(seed).integers(1, 5, XT.shape[1])
    repeated = np.repeat(XT, times, axis=1)
    codes, n_states = codes_of(equal_frequency, XT, n_bins, weights=times)
    wanted, n_wanted = codes_of(equal_frequency, repeated, n_bins)
    assert_array_equal(np.repeat(codes, times, axis=1), wanted)
    assert n_states == n_wanted
    codes, (literal, cuts) = (
        codes_of(three_states, XT, weights=times)[0],
        oracle.three_states(repeated[0]),
    )
    near = [np.abs(XT[0] - cut) <= 1e-9 * max(abs(cut), 1.0) for cut in cuts]  # sd is irrational
    is_clear = np.repeat(~np.any(near, axis=0), times)
    assert_array_equal(np.repeat(codes[0], times)[is_clear], literal[is_clear])


@examples(100)
@given(rival_strategies.feature_columns())
def test_a_feature_that_varies_never_becomes_constant(XT):
    codes, _ = codes_of(three_states, XT)
    known = ~np.isnan(XT[0].astype(np.float64))
    n_values = len(np.unique(XT[0][known]))
    n_used = len(np.unique(codes[0][known]))
    assert (n_used >= 2) == (n_values >= 2)
    if n_values == 2:
        assert n_used == 2


@examples(80)
@given(rival_strategies.feature_columns(), st.sampled_from([1, 2, 3, 5, 10, MAX_BINS]))
def test_equal_frequency_equals_the_definition(XT, n_bins):
    codes, n_states = codes_of(equal_frequency, XT, n_bins)
    assert_array_equal(codes[0], oracle.equal_frequency(XT[0], n_bins))
    assert n_states[0] == n_bins + np.isnan(XT[0].astype(np.float64)).any()


@examples(80)
@given(rival_strategies.feature_columns(), st.sampled_from([1, 2, 4, 8, MAX_BINS]))
def test_equal_width_equals_the_definition(XT, n_bins):
    codes, n_states = codes_of(equal_width, XT, n_bins)
    literal = oracle.equal_width(XT[0], n_bins)
    values = XT[0].astype(np.float64)
    known = values[~np.isnan(values)]
    place = values
    if len(known) and np.ptp(known) > 0:
        place = n_bins * ((values - known.min()) / np.ptp(known))
    # at an edge the last digit of the quotient decides
    is_clear = ~(np.abs(place - np.rint(place)) < 1e-9) | np.isnan(place)
    assert_array_equal(codes[0][is_clear], literal[is_clear])
    assert (np.abs(codes[0].astype(int) - literal) <= 1).all()
    assert n_states[0] == n_bins + np.isnan(values).any()


def test_an_offset_keeps_the_states():
    # quarters: the values stay exact under the offset, only mean and sd could suffer
    values = np.random.default_rng(0).integers(0, 4000, (3, 1001)) / 4.0
    expected, _ = codes_of(three_states, values)
    codes, _ = codes_of(three_states, values + 1e9)
    assert_array_equal(codes, expected)
