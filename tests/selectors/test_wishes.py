"""Features to keep and to exclude, groups, costs and a budget: laws of all that take them."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine

from mauc import MAUCD, MDFS, MRMR, ConsensusSelector, GreedyMAUC, SymmetricalUncertainty
from mauc.data.wishes import Wishes, WishOptions
from mauc.exceptions import MaucError

WINE, Y = load_wine(return_X_y=True, as_frame=True)
NAMES = list(WINE.columns)
SELECTORS = {
    "mdfs": MDFS(random_state=0),
    "mdfs hardest": MDFS(schedule="hardest"),
    "maucd": MAUCD(),
    "mrmr": MRMR(),
    "mrmr quotient": MRMR(criterion="quotient"),
    "greedy": GreedyMAUC(),
}
COSTS = dict.fromkeys(NAMES, 1.0)


@pytest.fixture(params=SELECTORS)
def choose(request):
    """Return a function that fits the selector with wishes and returns it."""

    def fit(size=None, X=WINE, **wishes):
        selector = type(SELECTORS[request.param])(**SELECTORS[request.param].get_params())
        return selector.set_params(n_features_to_select=size, **wishes).fit(X, Y)

    return fit


def chosen(selector):
    return [NAMES[column] for column in selector.ranking_]


def constraints(n_features=4, **wishes):
    return Wishes.of(WishOptions(**wishes), [f"x{j}" for j in range(n_features)])


def test_units_by_hand():
    found = constraints(
        5,
        keep=["x4"],
        exclude=[0],
        feature_groups={"pair": ["x1", 2]},
        budget=9,
        feature_costs={"pair": 4, "x3": 3, "x4": 2},
    )
    assert found.unit_of.tolist() == [-1, 0, 0, 2, 3]
    assert (found.keep, found.n_available, found.n_kept) == ((3,), 4, 1)
    assert found.costs.tolist() == [4.0, 0.0, 3.0, 2.0]
    # gains 8 and 4 of the group cost 4 together; a loss is worse at a high cost
    worth = found.worth(np.array([9.0, 8.0, 4.0, 6.0, -5.0]))
    assert worth[[0, 2, 3]].tolist() == [3.0, 2.0, -10.0]
    assert found.ends(np.array([4, 1, 2, 3])).tolist() == [True, False, True, True]
    assert found.spent(np.array([4, 1, 2, 3])).tolist() == [2.0, 6.0, 6.0, 9.0]


def test_wishes_that_wish_nothing_change_nothing(choose):
    wanted, found = choose("all"), choose("all", keep=[], exclude=[])
    for name in ("ranking_", "scores_", "pair_auc_"):
        assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert_array_equal(found.trace_.subproblems, wanted.trace_.subproblems)
    equal = choose("all", feature_costs=[2.0] * len(NAMES))
    assert_array_equal(equal.ranking_, wanted.ranking_)


def test_kept_features_come_first_and_excluded_ones_never(choose):
    found = choose(5, keep=["hue", "ash"], exclude="flavanoids")
    assert chosen(found)[:2] == ["hue", "ash"]
    assert len(found.ranking_) == 5
    everything = choose("all", keep=[2], exclude=WINE.columns == "flavanoids")
    assert sorted(chosen(everything)) == sorted(set(NAMES) - {"flavanoids"})
    assert chosen(everything)[0] == "ash"


def test_groups_are_chosen_whole_or_not_at_all(choose):
    groups = {"acids": ["malic_acid", "ash", "hue"], "wine": ["alcohol", "proline"]}
    for size in range(2, 9):
        found = chosen(choose(size, feature_groups=groups))
        assert len(found) <= size
        for group in groups.values():
            assert set(group) <= set(found) or not set(group) & set(found)
    assert set(chosen(choose(4, feature_groups=groups, keep=["acids"]))[:3]) == {*groups["acids"]}
    assert not set(chosen(choose("all", feature_groups=groups, exclude="ash"))) & {*groups["acids"]}


def test_a_budget_is_not_exceeded_and_shared_costs_are_paid_once(choose):
    costs = {name: 1.0 + at % 3 for at, name in enumerate(NAMES)}
    for budget in (3, 7, 11):
        found = choose(feature_costs=costs, budget=budget)
        assert sum(costs[name] for name in chosen(found)) == found.trace_.details["spent"][-1]
        assert found.trace_.details["spent"][-1] <= budget
    groups = {"assay": ["flavanoids", "proline", "hue"]}
    shared = {name: 2.0 for name in NAMES if name not in groups["assay"]} | {"assay": 3.0}
    found = choose(feature_costs=shared, feature_groups=groups, budget=3)
    assert set(chosen(found)) == {*groups["assay"]}
    assert_allclose(found.trace_.details["spent"], 3.0)


def test_prices_that_add_up_to_the_budget_are_paid(choose):
    prices = dict.fromkeys(NAMES, 0.1) | {"hue": 0.2}  # 0.1 + 0.2 is above 0.3 in doubles
    assert chosen(choose(feature_costs=prices, budget=0.3, keep=["ash", "hue"])) == ["ash", "hue"]
    assert len(choose(feature_costs=prices, budget=0.3, exclude=["hue"]).ranking_) == 3


def test_the_dear_twin_of_a_feature_is_not_bought(choose):
    X = WINE.assign(twin=WINE["flavanoids"])
    found = choose(3, X, feature_costs=[*COSTS.values(), 50.0])
    assert "flavanoids" in chosen(found)
    assert 13 not in found.ranking_


def test_constant_features_and_groups_of_them(choose):
    X = WINE.assign(one=1.0, two=2.0)
    found = choose("all", X, keep=["one"], feature_groups=[["two", "ash"]])
    assert sorted(found.ranking_) == list(range(15))
    assert found.ranking_[0] == 13


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"keep": ["ash"], "exclude": ["ash"]}, "keep and exclude must not name.*ash"),
        ({"keep": ["ashes"]}, "keep must name features .*got 'ashes'"),
        ({"keep": [True]}, "keep as a mask must have 13 entries, got 1"),
        ({"keep": [13]}, "got 13"),
        ({"exclude": NAMES}, "exclude must leave a feature"),
        ({"feature_groups": [["ash"], ["hue", "ash"]]}, "'ash' in 'group 1' and in 'group 2'"),
        ({"feature_groups": {"none": []}}, "got none in 'none'"),
        ({"feature_groups": ["ash"]}, "must be a dict or a list of lists"),
        ({"budget": 3}, "budget needs feature_costs"),
        ({"feature_costs": {"ash": 1}}, "got none for 'alcohol'"),
        ({"feature_costs": [1.0, 2.0]}, "feature_costs must have a number per feature"),
        ({"feature_costs": COSTS | {"ash": -1}}, "got -1 for 'ash'"),
        ({"feature_costs": COSTS | {"ash": "dear"}}, "feature_costs must have a number"),
        ({"feature_costs": COSTS, "budget": 0.5}, "cheapest of which costs 1, got 0.5"),
        ({"feature_costs": COSTS, "budget": 1, "keep": ["ash", "hue"]}, "which cost 2, got 1"),
        ({"feature_costs": COSTS, "budget": -1}, "budget must be a number >= 0"),
        ({"n_features_to_select": 1, "keep": ["ash", "hue"]}, "at least 2 .*keep.*got 1"),
        ({"n_features_to_select": 13, "exclude": ["ash"]}, r"in \[1, 12\]"),
    ],
)
def test_impossible_wishes_are_refused(wishes, message):
    with pytest.raises(MaucError, match=message):
        GreedyMAUC(**wishes).fit(WINE, Y)


def test_others_refuse_wishes():
    with pytest.raises(TypeError, match="keep"):
        SymmetricalUncertainty(keep=["ash"])
    with pytest.raises(MaucError, match="keep must be None for the MDFS of a ConsensusSelector"):
        ConsensusSelector(MDFS(3, keep=["ash"])).fit(WINE, Y)


def test_what_others_add_given_kept_features():
    # flavanoids tell what total_phenols do, and more
    alone = GreedyMAUC("all").fit(WINE, Y)
    given = GreedyMAUC("all", keep=["flavanoids"]).fit(WINE, Y)
    rank = [chosen(one).index("total_phenols") for one in (alone, given)]
    assert rank[1] >= rank[0]
    wanted = GreedyMAUC(3).fit(WINE, Y)
    again = GreedyMAUC(3, keep=chosen(wanted)).fit(WINE, Y)
    assert_allclose(again.predicted_mauc_, wanted.predicted_mauc_)
    assert_allclose(again.separations_, wanted.separations_)


def test_predicted_ends_with_a_whole_group():
    groups = [NAMES[start : start + 4] for start in range(0, 12, 4)]
    found = GreedyMAUC("predicted", feature_groups=groups, keep=["proline"]).fit(WINE, Y)
    assert (len(found.ranking_) - 1) % 4 == 0


def test_the_joint_gain_of_a_group_is_that_of_its_features():
    """Two features that separate only together win as a group over one that is better alone."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    noise = rng.normal(size=400)
    X = np.column_stack([noise + 0.3 * y, noise + 0.01 * rng.normal(size=400), 0.6 * y])
    X[:, 2] += rng.normal(size=400)
    found = GreedyMAUC(2, feature_groups=[[0, 1]], shrinkage=0.0).fit(X, y)
    assert sorted(found.ranking_) == [0, 1]


def test_features_that_count_by_spread_can_be_excluded():
    rng = np.random.default_rng(3)
    y = np.arange(600) % 3
    X = rng.normal(size=(600, 12))
    X[:, 0] *= np.where(y == 2, 3.0, 1.0)
    X[:, 1] += 0.5 * y
    X[:, 2] = X[:, 3] * np.where(y == 0, 1.0, -1.0) + 0.1 * X[:, 2]
    assert 0 in GreedyMAUC(5).fit(X, y).ranking_
    wished = GreedyMAUC(5, exclude=[0, 2]).fit(X, y)
    assert not {0, 2} & set(wished.ranking_.tolist())
    assert len(set(wished.ranking_.tolist())) == 5
    grouped = {"feature_groups": [[0, 5], [2, 3]], "feature_costs": np.ones(12), "budget": 4}
    bought = GreedyMAUC(None, **grouped).fit(X, y).ranking_
    assert len(set(bought.tolist())) == len(bought) <= 4
    assert ((0 in bought), (2 in bought)) == ((5 in bought), (3 in bought))


def test_cost_curve():
    costs = pd.Series(COSTS) + 1
    found = GreedyMAUC(feature_costs=costs, budget=8).fit(WINE, Y)
    frame = found.cost_curve_.to_frame()
    assert_allclose(frame["cost"], 2.0 * frame["n_features"])
    assert_array_equal(frame["mauc"], found.predicted_mauc_)
    assert "predicted MAUC" in str(found.cost_curve_)
    with pytest.raises(AttributeError, match="feature_costs"):
        _ = GreedyMAUC(3).fit(WINE, Y).cost_curve_


def small_problem(seed):
    """Return 12 features, three groups of them, costs, and a budget that pays for some."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(300) % 4)
    means = rng.normal(size=(4, 12)) * rng.choice([0.2, 0.5, 1.0], 12)
    X = rng.normal(size=(300, 12)) @ (0.4 * rng.normal(size=(12, 12)) + np.eye(12)) + means[y]
    order = rng.permutation(12).tolist()
    units = [order[:2], order[2:4], order[4:7], *([j] for j in order[7:])]
    costs = rng.integers(1, 10, 12).astype(float)
    return X, y, units, costs, costs.sum() * rng.uniform(0.2, 0.5)


@pytest.mark.parametrize(
    "seed", [seed if seed < 3 else pytest.param(seed, marks=pytest.mark.slow) for seed in range(20)]
)
def test_a_budget_is_spent_nearly_as_exhaustive_search_would(seed):
    X, y, units, costs, budget = small_problem(seed)

    def predicted(columns):
        others = np.setdiff1d(range(12), columns)
        selector = GreedyMAUC("all", exclude=others, **options).fit(X, y)
        return selector.predicted_mauc_[-1]

    options = {"feature_groups": units[:3], "feature_costs": costs}
    found = GreedyMAUC(None, budget=budget, **options).fit(X, y)
    assert costs[found.ranking_].sum() <= budget
    sets = (np.concatenate(some) for n in range(1, 9) for some in combinations(units, n))
    best = max(predicted(one) for one in sets if costs[one].sum() <= budget)
    assert found.predicted_mauc_[-1] >= best - 0.002
