"""The race of combinations: what wins, what it costs, what comes back."""

import pickle
from itertools import count

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline

from mauc import MDFS, ConsensusSelector, GreedyMAUC, best_subset
from mauc.best import ALL, Combination, _Grid, _problem, _Race, _seconds
from mauc.classifiers.base import OneHotColumns
from mauc.exceptions import MaucError
from mauc.experiments import DatasetSpec

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


class _Table(_Race):
    """A race on two folds whose measurements are given."""

    def __init__(self, given):
        super().__init__(GRID, X, Y, None, cv=2, end=None)
        self.given = given

    def measure(self, fold, wanted):
        for one in wanted:
            if len(self.mauc.get(one, ())) == fold:
                self.mauc.setdefault(one, []).append(self.given.get(one, [0.5, 0.5])[fold])


GRID = _Grid(_problem(X, Y, None), ["maucd", "mdfs"], [2, 5, 8], ["nb", "boosting"])


def test_slow_classifiers_climb_from_the_best_while_they_gain():
    slow = {size: Combination("maucd", size, "boosting") for size in (2, 5, 8)}
    race = _Table(
        {
            Combination("maucd", 2, "nb"): [0.90, 0.90],
            slow[2]: [0.91, 0.91],
            slow[5]: [0.93, 0.93],
            slow[8]: [0.92, 0.92],
        }
    )
    race.run()
    assert race.choose() == slow[5]
    n_folds = {one: len(found) for one, found in race.mauc.items() if one.classifier == "boosting"}
    assert n_folds == {slow[2]: 1, slow[5]: 2, slow[8]: 1}  # neither mdfs nor all features


def test_slow_classifiers_are_not_tried_where_nothing_is_left_to_gain():
    race = _Table({Combination("maucd", 2, "nb"): [1.0, 1.0]})
    race.run()
    assert {one.classifier for one in race.mauc} == {"nb"}


def test_what_is_far_behind_is_dropped_after_a_fold():
    best, near = Combination("maucd", 2, "nb"), Combination("mdfs", 2, "nb")
    race = _Table({best: [0.90, 0.90], near: [0.89, 0.90]})  # the error of 89 rows is 0.03
    race.run()
    assert {one for one, found in race.mauc.items() if len(found) == 2} == {best, near}


def test_a_fold_that_was_not_completed_does_not_count():
    race = _Race(GRID, X, Y, None, cv=2, end=0.0)  # the time is over after the first measurement
    race.run()
    assert not race.is_finished
    assert len(race.mauc) == 3  # all sizes at once
    assert race.choose() in race.mauc


@pytest.mark.parametrize("classifiers", [["nb", "boosting"], ["forest", "boosting"], ["nb", "1nn"]])
@pytest.mark.parametrize("spread", [0.02, 0.2])
def test_the_time_may_be_over_at_any_moment(monkeypatch, classifiers, spread):
    grid = _Grid(_problem(X, Y, None), ["mdfs", "maucd"], [2, 5], classifiers)
    rng = np.random.default_rng(0)

    class Given(_Race):
        def _ranking(self, fold, selector):
            return np.arange(13)

        def _evaluator(self, fold, ranking):
            return self

        def evaluate(self, ranking, sizes, model, response_method):
            return 0.9 - spread * rng.random(len(sizes))

    ends = []
    for end in range(60):
        ticks = count()
        monkeypatch.setattr("mauc.best.perf_counter", lambda ticks=ticks: next(ticks))
        race = Given(grid, X, Y, None, cv=3, end=end)
        race.run()
        assert len(race.mauc[race.choose()]) >= race.n_complete
        ends.append(race.is_finished)
    assert not ends[0]
    assert ends[-1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"selectors": []}, "selectors must be one or more"),
        ({"classifiers": []}, "classifiers must be one or more"),
        ({"classifiers": ["nb", "nb"]}, "of different names"),
        ({"selectors": [SelectKBest()]}, "those of mauc, .* got SelectKBest"),
        ({"selectors": [MDFS(keep=["hue"])]}, "without wishes here, got keep of MDFS"),
        ({"selectors": [GreedyMAUC(exclude=[0])]}, "got exclude of GreedyMAUC"),
        ({"selectors": [GreedyMAUC(feature_groups=[[0, 1]])]}, "got feature_groups"),
        ({"selectors": [ConsensusSelector(selector=MDFS(budget=3))]}, "got selector__budget"),
    ],
)
def test_refusals_before_the_race(given, message):
    with pytest.raises(MaucError, match=message):
        best_subset(X, Y, **{**QUICK, **given})


def test_estimators_race_with_their_seeds_and_go_into_a_plan():
    selectors = [MDFS(random_state=7), MDFS(schedule="hardest"), "mdfs"]
    models = ["svm", RandomForestClassifier(5, random_state=1)]
    best = best_subset(
        X, Y, **{**QUICK, "outer": None, "selectors": selectors, "classifiers": models}
    )
    made = best.grid.selectors
    assert {name: one.random_state for name, one in made.items()} == {
        "MDFS": 7, "MDFS-2": 0, "mdfs": 0,
    }  # fmt: skip
    plan = best.plan(DatasetSpec("wine"))
    assert [(one.name, one.options) for one in plan.selectors] == [
        ("MDFS", {"random_state": 7}),
        ("MDFS-2", {"random_state": 0, "schedule": "hardest"}),
        ("mdfs", {}),
    ]
    assert plan.classifiers[0].options == {"C": 1.0}
    assert plan.classifiers[1].options == {"n_estimators": 5, "random_state": 1}
    best.grid.classifiers["Pipeline"] = make_pipeline(RandomForestClassifier())
    with pytest.raises(MaucError, match=r"Pipeline cannot be written into a plan: .*must hold"):
        best.plan(DatasetSpec("wine"))


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


def test_linear_models_take_read_only_numbers_and_unseen_words():
    table = X.iloc[:, :3].assign(kind=np.array(["a", "b", None])[np.arange(len(Y)) % 3])
    for columns, n_made in (([0, 1], 2), ([0, 3], 3)):
        encode = OneHotColumns().fit(table.iloc[:, columns])
        values = table.iloc[:2, columns].replace({"b": "new"})
        assert encode.transform(values).shape == (2, n_made)
    assert encode.transform(values)[:, 1:].tolist() == [[1.0, 0.0], [0.0, 0.0]]
    numbers = X.to_numpy(copy=True)
    numbers.flags.writeable = False
    np.testing.assert_array_equal(OneHotColumns().fit(numbers).transform(numbers), numbers)


def test_two_classes_groups_and_one_feature():
    is_first = (Y == 0).to_numpy()
    best = best_subset(X.iloc[:, :1], is_first, groups=np.arange(len(Y)) // 2, **QUICK)
    assert best.measure == "AUC"
    assert best.choice.size == 1
    assert "MAUC" not in str(best)


def test_all_features_race_and_are_reported():
    few = {**QUICK, "outer": None, "selectors": ["maucd"], "sizes": [1]}
    best = best_subset(X, Y, **few)
    assert best.choice == (ALL, 13, "nb")
    assert best.pipeline.feature_names_in_.tolist() == list(X)
    page = best.report(X, Y).to_dict()
    assert (page["title"], len(page["features"])) == ("all 13 features, ranked by MAUCD", 13)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("1h", 3600), (7, 7), (1e-5, 1e-5)]
)
def test_time(text, seconds):
    assert _seconds(text) == seconds


@pytest.mark.parametrize("time", ["soon", 0, -1, True, np.inf, np.nan])
def test_wrong_time(time):
    with pytest.raises(MaucError, match="time must be seconds above 0"):
        best_subset(X, Y, time=time)
