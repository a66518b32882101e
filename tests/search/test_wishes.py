"""Choosing units of features: what is kept comes first, and nothing exceeds size or budget."""

import numpy as np
import pytest

from mauc.data.wishes import Wishes
from mauc.search.wishes import Purse, choose_units, members_by_gain

# Units 0 = {1, 2}, 2 = {3} and 3 = {4}; feature 0 is excluded.
UNIT_OF = np.array([-1, 0, 0, 2, 3])
COSTS = np.array([4.0, 0.0, 3.0, 2.0])


def test_a_purse_closes_what_is_too_large_or_too_expensive():
    purse = Purse(Wishes(UNIT_OF, (3,), COSTS, 9.0), 3)
    assert purse.is_open.tolist() == [True, False, True, True]
    turns = purse.turns()
    assert next(turns) == 3  # to be kept
    purse.take(3)
    assert purse.fits([0])
    assert not purse.fits([0, 2])  # 2 + 4 + 3 = 9, but four features
    assert next(turns) is None
    purse.take(0)
    assert not purse.is_open.any()
    assert next(turns, "the end") == "the end"


def test_a_purse_opens_only_units_that_are_named():
    assert Purse(Wishes(UNIT_OF), 5, only={2, 3}).is_open.tolist() == [
        False,
        False,
        True,
        True,
    ]


def test_members_go_by_gain_then_by_column():
    wishes = Wishes(np.array([0, 0, 0, 1]))
    assert members_by_gain(wishes, 0, np.array([1.0, 2.0, 1.0, 9.0])).tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("budget", "wanted", "gains"),
    [
        (np.inf, [1, 2, 0, 3], [5.0, 4.0, 3.0, 2.0]),  # by gain per cost
        (4.0, [1, 2], [5.0, 4.0]),  # 9 for 4 by gain, 3 + 2 for 2 by gain per cost
    ],
)
def test_the_better_of_two_passes_is_taken(budget, wanted, gains):
    unit_of, costs = np.array([0, 1, 1, 2]), np.array([1.0, 4.0, 1.0])
    wishes = Wishes(unit_of, (1,) if budget == np.inf else (), costs, budget)
    given = []

    def gains_given(chosen):
        given.append([*chosen])
        return np.array([3.0, 5.0, 4.0, 2.0])

    chosen = choose_units(wishes, 4, gains_given)
    assert (chosen.features, chosen.gains) == (wanted, gains)
    assert chosen.total == sum(gains)
    assert given[0] == []
