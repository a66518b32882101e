"""Means of quotients are the doubles nearest to the true means."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from mauc.engine.arrays import mean_of_quotients
from tests.helpers.strategies import examples


def true_mean(numerators, denominators):
    total = sum(Fraction(int(a), int(b)) for a, b in zip(numerators, denominators, strict=True))
    return float(total / len(numerators))


@st.composite
def quotients(draw):
    denominators = draw(st.lists(st.integers(1, 10**6), min_size=1, max_size=40))
    rows = [[draw(st.integers(0, b)) for b in denominators] for _ in range(3)]
    return np.array(rows, float), np.array(denominators, float)


@examples(150)
@given(quotients())
def test_the_mean_is_rounded_once(parts):
    numerators, denominators = parts
    found = mean_of_quotients(numerators / denominators, denominators)
    assert found.tolist() == [true_mean(row, denominators) for row in numerators]


@pytest.mark.parametrize("largest", [10, 1000, 10**7])
@pytest.mark.parametrize("n_terms", [2, 3, 45, 325])
def test_many_terms(rng, n_terms, largest):
    denominators = rng.integers(1, largest, n_terms) * 2.0
    numerators = np.rint(denominators * (0.5 + rng.random((20, n_terms)) / 2))
    found = mean_of_quotients(numerators / denominators, denominators)
    assert found.tolist() == [true_mean(row, denominators) for row in numerators]


def test_middles_between_doubles_are_decided_by_fractions():
    # (1 + 2^-52 + 1) / 2 lies half-way between 1 and the next double; ties go to the even one
    denominators = np.array([2.0**51, 2.0**51])
    numerators = np.array([[2.0**51 - 1, 2.0**51], [2.0**50 + 1, 2.0**50 + 2]])
    found = mean_of_quotients(numerators / denominators, denominators)
    assert found.tolist() == [true_mean(row, denominators) for row in numerators]
    rest = mean_of_quotients(np.array([[1.0, 1.0 + 2.0**-52], [1.0, 1.0]]), np.zeros(2))
    assert rest.tolist() == [1.0, 1.0]


def test_what_is_no_quotient_counts_as_it_is(rng):
    values = rng.random((5, 7))
    wanted = [float(sum(map(Fraction, row)) / 7) for row in values]
    assert mean_of_quotients(values, np.zeros(7)).tolist() == wanted
    assert mean_of_quotients(values, np.full(7, np.inf)).tolist() == wanted
    assert mean_of_quotients(values, np.full(7, 0.3)).tolist() == wanted
    assert_array_equal(mean_of_quotients(values[:, :1], np.array([2.0])), values[:, 0])
    assert mean_of_quotients(values[:0], np.zeros(7)).shape == (0,)
