"""Weights of class pairs in selectors and in the choice of a size: laws of all that take them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine

from mauc import MAUCD, MDFS, ConsensusSelector, GreedyMAUC, feature_pair_auc
from mauc.data.problem import Decomposition
from mauc.exceptions import MaucError
from mauc.search.lists import SCHEDULES
from tests.helpers.selector_cases import assert_same_fit

SELECTORS = {
    "mdfs": MDFS("all", random_state=0),
    "mdfs round_robin": MDFS("all", schedule="round_robin"),
    "mdfs rand_robin": MDFS("all", schedule="rand_robin", random_state=0),
    "mdfs hardest": MDFS("all", schedule="hardest"),
    "maucd": MAUCD("all"),
    "greedy": GreedyMAUC("all"),
    "consensus": ConsensusSelector(GreedyMAUC(5), n_resamples=4, random_state=0),
}
WINE, Y = load_wine(return_X_y=True, as_frame=True)
ONLY_12 = {(0, 1): 0, (0, 2): 0}


def weighted(name, pair_weight):
    selector = clone(SELECTORS[name])
    key = "selector__pair_weight" if name == "consensus" else "pair_weight"
    return selector.set_params(**{key: pair_weight})


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("equal", [{(0, 1): 1}, {0: {1: 1}}, 3 * np.ones((3, 3))])
def test_equal_weights_are_none(name, equal):
    assert_same_fit(weighted(name, equal).fit(WINE, Y), clone(SELECTORS[name]).fit(WINE, Y))


@pytest.mark.parametrize("name", SELECTORS)
def test_a_pair_of_weight_zero_does_not_count(name):
    """With weights on one pair alone the choice is that of the two classes."""
    found = weighted(name, ONLY_12).fit(WINE, Y)
    auc = feature_pair_auc(WINE, Y)[:, 2]
    if name.startswith("mdfs"):
        assert set(found.trace_.subproblems) == {2}
        assert_allclose(found.scores_, auc)
    elif name == "maucd":
        assert_array_equal(found.ranking_, np.argsort(-auc, kind="stable"))
    else:
        assert found.ranking_[0] in np.argsort(-auc)[:2]
    if name.startswith("greedy"):
        assert set(found.trace_.subproblems[:3]) == {2}


@pytest.mark.parametrize("name", SELECTORS)
def test_only_ratios_matter_and_tables_are_dicts(name):
    frame = pd.DataFrame(np.ones((3, 3)), index=[2, 1, 0], columns=[2, 1, 0])
    frame.loc[1, 2] = frame.loc[2, 1] = 4.0
    wanted = weighted(name, {(1, 2): 4}).fit(WINE, Y)
    for same in (frame, 5 * frame, {1: {2: 4.0}}):
        assert_array_equal(weighted(name, same).fit(WINE, Y).ranking_, wanted.ranking_)


def test_maucd_is_the_weighted_mean():
    auc = feature_pair_auc(WINE, Y)
    found = MAUCD("all", pair_weight={(0, 1): 2, (1, 2): 5}).fit(WINE, Y)
    assert_allclose(found.scores_, auc @ [2, 1, 5] / 8)
    counts = np.bincount(Y)
    prior = np.array([counts[0] * counts[1], counts[0] * counts[2], counts[1] * counts[2]])
    found = MAUCD("all", pair_weight="prior").fit(WINE, Y)
    assert_allclose(found.scores_, auc @ prior / prior.sum())


@pytest.mark.parametrize(("name", "tolerance"), [("random", 0.03), ("round_robin", 0.002)])
def test_pairs_are_drawn_in_proportion(name, tolerance):
    rng = np.random.RandomState(0)
    shares = np.array([0.75, 0.25, 0.0])
    schedule = SCHEDULES[name](Decomposition("one-vs-one", 3), np.ones(3), rng, shares)
    drawn = [schedule.next_list(np.ones(3, bool)) for _ in range(1000)]
    assert_allclose(np.bincount(drawn, minlength=3) / 1000, shares, atol=tolerance)


def test_a_dear_pair_gets_better_features():
    X, y = load_digits(return_X_y=True)
    pair = list(zip(*np.triu_indices(10, 1), strict=True)).index((3, 8))
    plain, dear = (GreedyMAUC(8, pair_weight=weight).fit(X, y) for weight in (None, {(3, 8): 100}))
    assert dear.separations_[pair] > 1.2 * plain.separations_[pair]
    assert dear.predicted_mauc_[-1] != plain.predicted_mauc_[-1]


def test_the_choice_without_weights_is_another_start():
    plain, found = GreedyMAUC(5).fit(WINE, Y), GreedyMAUC(5, pair_weight=ONLY_12).fit(WINE, Y)
    by_weights = GreedyMAUC(5, pair_weight=ONLY_12, keep=[9, 6, 10, 11, 1]).fit(WINE, Y)
    assert by_weights.predicted_mauc_[-1] == pytest.approx(0.9963, abs=5e-5)
    assert found.predicted_mauc_[-1] == pytest.approx(0.9987, abs=5e-5)
    assert set(found.ranking_) == set(plain.ranking_)
    # Its trace is that of a search with weights: ranks are among all features that are left.
    again = GreedyMAUC(5, pair_weight=ONLY_12, keep=found.ranking_.tolist()).fit(WINE, Y)
    for part in ("features", "subproblems", "ranks", "scores"):
        assert_array_equal(getattr(found.trace_, part), getattr(again.trace_, part))
    assert_array_equal(found.predicted_mauc_, again.predicted_mauc_)


@pytest.mark.parametrize(
    "wishes",
    [
        {},
        {"exclude": [6]},
        {"keep": [3], "feature_groups": [[0, 2], [5, 7]]},
        {"feature_costs": 1.0 + np.arange(13) % 3, "budget": 9},
    ],
)
@pytest.mark.parametrize("pair_weight", [ONLY_12, {(0, 1): 30}, {(0, 2): 0}])
def test_weights_never_predict_less_than_the_choice_without(wishes, pair_weight):
    plain = GreedyMAUC(5, **wishes).fit(WINE, Y)
    found = GreedyMAUC(5, **wishes, pair_weight=pair_weight).fit(WINE, Y)
    kept = GreedyMAUC(5, pair_weight=pair_weight, keep=plain.ranking_.tolist()).fit(WINE, Y)
    assert found.predicted_mauc_[-1] >= kept.predicted_mauc_[-1]


def test_bounds_hold_with_weights():
    """Features that bounds rule out are not the best: threads and blocks change nothing."""
    rng = np.random.default_rng(1)
    y = np.arange(600) % 12
    X = rng.normal(size=(600, 3000)) + rng.normal(size=(12, 3000))[y] * rng.random(3000)
    weight = {(0, 1): 50, (2, 3): 0, (4, 5): 1e-12}
    one = GreedyMAUC(40, pair_weight=weight).fit(X, y)
    two = GreedyMAUC(40, pair_weight=weight, keep=[]).fit(X, y)
    assert_array_equal(one.ranking_, two.ranking_)
    assert_array_equal(
        GreedyMAUC(40, pair_weight=weight, n_jobs=2).fit(X, y).ranking_, one.ranking_
    )


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ({(0, 7): 1}, "pair_weight must name classes .*got 7"),
        ({0: 1}, r"pairs of labels as keys, .*got 0"),
        ({(0, 1): -1}, "finite, >= 0 and symmetric"),
        (np.zeros((3, 3)), "positive for at least one pair"),
        ("cost", "pair_weight must be one of"),
    ],
)
def test_wrong_weights_are_refused(weight, message):
    with pytest.raises(MaucError, match=message):
        MDFS(2, pair_weight=weight).fit(WINE, Y)


def test_sketches_are_weighted():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 50, (300, 6)).astype(float), np.arange(300) % 3
    for selector in (MAUCD("all", pair_weight=ONLY_12), MDFS("all", pair_weight=ONLY_12)):
        exact = clone(selector).set_params().fit(X, y)
        assert_allclose(clone(selector).partial_fit(X, y).scores_, exact.scores_)
