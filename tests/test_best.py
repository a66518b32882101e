"""The race of combinations: what wins, what it costs, what comes back."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from mauc import best_subset
from mauc.best import ALL, Combination, _Race, _seconds
from mauc.exceptions import MaucError

X, Y = load_wine(return_X_y=True, as_frame=True)
QUICK = {"classifiers": ["nb", "1nn"], "cv": 3, "outer": 2, "time": None}


class _Fixed(_Race):
    """A race whose results are given."""

    def __init__(self, mauc):
        self.mauc, self.n_complete = mauc, 2
        self._grid = type("Grid", (), {"classifiers": dict.fromkeys(["nb", "svm"])})


def test_simplest_within_one_standard_error_wins():
    best = Combination("greedy", 20, "svm")  # mean 0.95
    near = Combination("greedy", 10, "svm")  # loses 0.002, standard error 0.002
    same = Combination("mdfs", 10, "nb")  # the same loss, the simpler classifier
    far = Combination("greedy", 5, "nb")  # loses 0.010, always: no chance
    short = Combination("mrmr", 5, "nb")  # dropped after a fold
    found = {best: [0.94, 0.96], near: [0.94, 0.956], same: [0.94, 0.956], far: [0.93, 0.95]}
    assert _Fixed({**found, short: [0.99]}).choose() == same


def test_no_simplicity_is_worth_more_than_the_largest_loss():
    best, rival = Combination("greedy", 20, "nb"), Combination("greedy", 5, "nb")
    # loses 0.01 on average with a standard error of 0.03
    assert _Fixed({best: [0.95, 0.95], rival: [0.97, 0.91]}).choose() == best


def test_result_is_deterministic_clonable_and_picklable():
    first, second = (best_subset(X, Y, **QUICK) for _ in range(2))
    assert first.choice == second.choice
    assert first.race == second.race
    assert first.interval.mauc == second.interval.mauc
    model = pickle.loads(pickle.dumps(clone(first.pipeline).fit(X, Y)))
    np.testing.assert_array_equal(model.predict_proba(X), first.pipeline.predict_proba(X))
    assert set(first.features) <= set(X.columns)
    assert len(first.features) == first.choice.size


def test_noise_is_not_praised():
    noise = np.random.default_rng(0).normal(size=(120, 30))
    interval = best_subset(noise, np.arange(120) % 3, **QUICK).interval
    assert interval.mauc < 0.6


@pytest.mark.parametrize("classifier", ["nb", "logistic", "boosting"])
def test_nominal_and_missing_values(classifier):
    table = X.iloc[:, :4].copy()
    table.iloc[::7, 0] = np.nan
    table["kind"] = pd.Categorical(np.array(["a", "b", "c"])[Y])
    best = best_subset(table, Y, **{**QUICK, "classifiers": [classifier], "sizes": [1]})
    assert best.features == ["kind"]
    assert best.interval.mauc == 1.0
    assert best.pipeline.predict_proba(table).shape == (len(Y), 3)


def test_two_classes_groups_and_one_feature():
    is_first = (Y == 0).to_numpy()
    best = best_subset(X.iloc[:, :1], is_first, groups=np.arange(len(Y)) // 2, **QUICK)
    assert best.measure == "AUC"
    assert best.choice.size == 1
    assert "MAUC" not in str(best)


def test_all_features_race():
    assert any(row[0] == ALL for row in best_subset(X, Y, **{**QUICK, "outer": None}).race)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("5m", 300), ("1h", 3600), (7, 7)])
def test_time(text, seconds):
    assert _seconds(text) == seconds


@pytest.mark.parametrize("time", ["soon", 0, -1, True])
def test_wrong_time(time):
    with pytest.raises(MaucError, match="time must be seconds above 0"):
        best_subset(X, Y, time=time)
