"""AUCs that the ranking needed are kept for ``pair_auc_``, not computed again."""

import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from mauc import ARCO, MAUCD, MDFS, GreedyMAUC, SubproblemSelector, feature_pair_auc
from mauc.selectors import base
from mauc.selectors import pair_auc as engine

SELECTORS = [
    MDFS(20, random_state=0),
    MAUCD(20),
    ARCO(20),
    GreedyMAUC(20),
    GreedyMAUC("predicted"),
    SubproblemSelector(20, decomposition="one-vs-rest", schedule="round_robin"),
]


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_nothing_is_computed_twice(selector, monkeypatch):
    X, y = load_digits(return_X_y=True)
    counted = []
    count = engine.dense_wins

    def dense_wins(XT, *args, **options):
        counted.append(len(XT))
        return count(XT, *args, **options)

    monkeypatch.setattr(engine, "dense_wins", dense_wins)
    monkeypatch.setattr("mauc.selectors.pair_auc.dense_wins", dense_wins)
    selector.fit(X, y)
    assert sum(counted) == X.shape[1]
    assert_array_equal(selector.pair_auc_, feature_pair_auc(X, y)[selector.ranking_])


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_without_room_the_selected_are_computed_again(selector, monkeypatch):
    X, y = load_digits(return_X_y=True)
    wanted = selector.fit(X, y).pair_auc_
    monkeypatch.setattr(engine, "_MAX_KEPT", 0)
    calls = []

    def compute(*args):
        calls.append(args)
        return engine.chosen_pair_auc(*args)

    monkeypatch.setattr(base, "chosen_pair_auc", compute)
    assert_array_equal(selector.fit(X, y).pair_auc_, wanted)
    assert len(calls) == 1


def test_few_of_many_features_take_no_room():
    problem = type("Shape", (), {"n_features": 1600, "n_classes": 3})
    assert engine.allocate_pair_auc(problem, 99) is None
    assert engine.allocate_pair_auc(problem, 100).shape == (1600, 3)
    wide = type("Shape", (), {"n_features": 2**22 // 3 + 1, "n_classes": 3})
    assert engine.allocate_pair_auc(wide, wide.n_features) is None
