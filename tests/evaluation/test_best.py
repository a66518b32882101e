"""The race of combinations: what wins, what it costs, what comes back."""

import pickle
from dataclasses import dataclass
from functools import partial
from itertools import chain, count, repeat

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline

from mauc import MDFS, ConsensusSelector, GreedyMAUC, best_subset
from mauc.classifiers.base import OneHotColumns
from mauc.data.door import FitOptions, make_problem
from mauc.evaluation.best import _seconds
from mauc.evaluation.folds import make_folds
from mauc.evaluation.race import ACCEPTS, ALL, CLASSIFIERS, Combination, Grid, Race
from mauc.exceptions import LeftOutWarning, MaucError

X, Y = load_wine(return_X_y=True, as_frame=True)
QUICK = {"classifiers": ["nb", "1nn"], "cv": 3, "outer": 2, "time": None}


PROBLEM = make_problem(X, Y, FitOptions(ACCEPTS))


class _Fixed(Race):
    """A race whose results are given."""

    def __init__(self, mauc):
        self.mauc = mauc
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


class _Table(Race):
    """A race whose measurements are given, on two folds if nothing else is said."""

    def __init__(self, given, end=None, cv=2, grid=None, y=Y):
        super().__init__(grid or GRID, make_problem(X, y, FitOptions(ACCEPTS)), cv=cv, end=end)
        for number, fold in enumerate(self._folds):
            fold.on = partial(_Given, given, number, self._grid.classifiers)

    def _ranking(self, fold, selector):
        return selector


@dataclass
class _Given:
    """A fold whose MAUC is given for every selector, in place of its ranking."""

    given: dict
    number: int
    classifiers: dict
    selector: str

    def mauc(self, model, sizes):
        models = [model, *(model if isinstance(model, Pipeline) else [])]
        name = next(name for name, one in self.classifiers.items() if one in models)
        found = [self.given.get((self.selector, size, name), [0.5] * 9) for size in sizes]
        return np.array([mauc[self.number] for mauc in found])


GRID = Grid(PROBLEM, ["maucd", "mdfs"], [2, 5, 8], ["nb", "boosting"])


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
    assert race.is_finished
    assert race.choose() == slow[5]
    n_folds = {one: len(found) for one, found in race.mauc.items() if one.classifier == "boosting"}
    everything = Combination(ALL, 13, "boosting")
    assert n_folds == {everything: 2, slow[2]: 1, slow[5]: 2, slow[8]: 1}  # and not mdfs


def test_slow_classifiers_are_not_tried_where_nothing_is_left_to_gain():
    race = _Table({Combination(ALL, 13, "nb"): [1.0, 1.0]})
    race.run()
    assert {one.classifier for one in race.mauc} == {"nb"}


def test_what_is_far_behind_is_dropped_after_a_fold():
    best, near = Combination("maucd", 2, "nb"), Combination("mdfs", 2, "nb")
    race = _Table({best: [0.90, 0.90], near: [0.89, 0.90]})  # the error of 89 rows is 0.03
    race.run()
    last = {one for one, found in race.mauc.items() if len(found) == 2}
    assert last == {best, near, (ALL, 13, "nb"), (ALL, 13, "boosting")}


def test_a_first_fold_of_1_does_not_end_the_race_for_others():
    lucky, steady = Combination(ALL, 13, "nb"), Combination(ALL, 13, "boosting")
    rare = np.arange(178) % 20 == 0
    race = _Table({lucky: [1.0, 0.8], steady: [0.95, 0.95]}, y=rare)
    race.run()
    assert race.choose() == steady


def test_slow_classifiers_join_once_there_is_something_to_gain():
    lucky, steady = Combination(ALL, 13, "nb"), Combination(ALL, 13, "boosting")
    race = _Table({lucky: [1.0, 1.0, 0.9, 0.9], steady: [0.99] * 4}, cv=4)
    race.run((0, 3))  # the first stage
    assert race.choose() == steady
    assert len(race.mauc[steady]) == 4


def test_unequal_classes_have_a_larger_error():
    is_rare = np.arange(178) % 20 == 0  # 9 rows, of which 4 or 5 are tested
    equal, unequal = (
        Race(GRID, make_problem(X, y, FitOptions(ACCEPTS)), cv=2)
        for y in (np.arange(178) % 2, is_rare)
    )
    assert equal._n_trials == pytest.approx(89, abs=0.1)
    assert 15 < unequal._n_trials < 20


FULL = Grid(PROBLEM, ["maucd", "mdfs"], [2, 5], ["nb", "logistic", "boosting"])
ALL_LINEAR, ALL_TREES = (Combination(ALL, 13, name) for name in ("logistic", "boosting"))


def race_until(monkeypatch, end, given, until=None, **options):
    """Return a race of which every block takes a second."""
    ticks = count()
    monkeypatch.setattr("mauc.evaluation.race.perf_counter", lambda: next(ticks))
    race = _Table(given, end=end, grid=FULL, **options)
    race.run(until)
    return race


@pytest.mark.parametrize("best", [ALL_LINEAR, ALL_TREES])
def test_a_time_that_ends_at_any_moment_costs_little(monkeypatch, best):
    rng = np.random.default_rng(0)
    given = {one: 0.8 + 0.02 * rng.random(5) for one in FULL.combinations()}
    given[best] = given[best] + 0.03
    finished = set()
    for end in range(-1, 60):
        race = race_until(monkeypatch, end, given, cv=5)
        choice, n_folds = race.choose(), race.n_folds
        assert len(race.mauc[choice]) == len(race.mauc[best]) == n_folds
        assert np.mean(given[choice][:n_folds]) >= np.mean(given[best][:n_folds]) - 0.005
        finished.add(race.is_finished)
    assert finished == {False, True}


def test_selections_that_were_not_measured_on_all_folds_are_not_compared(monkeypatch):
    lucky = Combination("maucd", 2, "nb")  # the best on the folds that there is time for
    given = {ALL_LINEAR: [0.8] * 5, ALL_TREES: [0.79] * 5, lucky: [0.99, 0.99, 0.99, 0.1, 0.1]}
    seen = set()
    for end in range(60):
        race = race_until(monkeypatch, end, given, cv=5)
        seen.add(len(race.mauc.get(lucky, ())))
        assert race.choose() == ALL_LINEAR
    assert {0, 1, 2, 3} <= seen


def test_a_race_goes_as_far_as_another(monkeypatch):
    rng = np.random.default_rng(0)
    given = {one: 0.8 + 0.02 * rng.random(5) for one in FULL.combinations()}
    for end in range(40):
        cut = race_until(monkeypatch, end, given, cv=5)
        again = race_until(monkeypatch, None, given, None if cut.is_finished else cut.last, cv=5)
        assert again.mauc == cut.mauc


def test_of_too_many_features_the_largest_selection_races_first(monkeypatch):
    monkeypatch.setattr("mauc.evaluation.race.MAX_ALL", 12)
    assert {one[:2] for one in FULL.first()} == {("maucd", 5)}
    race = race_until(monkeypatch, 0, {("maucd", 5, "boosting"): [0.9] * 5})
    assert race.choose() == ("maucd", 5, "boosting")
    assert len(race.mauc) == 3


def test_only_slow_classifiers_race_as_if_they_were_quick():
    grid = Grid(PROBLEM, ["maucd"], [2], ["boosting", "forest"])
    race = _Table({("maucd", 2, "forest"): [0.9, 0.9]}, grid=grid)
    race.run()
    assert race.choose() == ("maucd", 2, "forest")


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


def test_estimators_race_by_the_names_of_their_classes_with_their_seeds():
    grid = Grid(
        PROBLEM,
        [MDFS(random_state=7), MDFS(schedule="hardest"), "mdfs", "mauc.selectors.MDFS"],
        classifiers=["svm", RandomForestClassifier(5), "sklearn.naive_bayes.GaussianNB"],
    )
    assert {name: one.random_state for name, one in grid.selectors.items()} == {
        "MDFS": 7,
        "MDFS-2": 0,
        "mdfs": 0,
        "mauc.selectors.MDFS": 0,
    }
    assert [type(one).__name__ for one in grid.classifiers.values()] == [
        "RBFSVM",
        "RandomForestClassifier",
        "GaussianNB",
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_every_classifier_takes_words_and_gaps_and_gives_scores(classifier, n_classes):
    table = X.iloc[:, :4].copy()
    table.iloc[::7, 0] = np.nan
    table["kind"] = pd.Categorical(np.array(["a", "b", "c"])[Y])
    kinds = np.minimum(Y, n_classes - 1)
    given = {**QUICK, "classifiers": [classifier], "selectors": ["maucd"], "sizes": [1]}
    best = best_subset(table, kinds, **given)
    assert best.features == ["kind"]
    assert best.interval.mauc == 1.0
    if classifier != "svc":  # it has decision_function
        assert best.pipeline.predict_proba(table).shape == (len(Y), n_classes)


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


def test_too_few_rows_for_a_classifier_are_an_error_that_names_it():
    rows = [0, 1, 60, 61, 140, 141]
    with pytest.raises(MaucError, match=r"^KNeighborsClassifier cannot be used on these data"):
        best_subset(X.iloc[rows], Y[rows], classifiers=["knn"], cv=2, outer=None)


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


def test_a_classifier_without_probabilities_is_reported():
    few = {**QUICK, "outer": None, "selectors": ["maucd"], "sizes": [13], "classifiers": ["svc"]}
    page = best_subset(X, Y == 0, **few).report(X, Y == 0).to_dict()
    assert len(page["features"]) == 13


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("5m", 300), ("1h", 3600), (7, 7), (1e-5, 1e-5)]
)
def test_time(text, seconds):
    assert _seconds(text) == seconds


@pytest.mark.parametrize("time", ["soon", 0, -1, True, np.inf, np.nan])
def test_wrong_time(time):
    with pytest.raises(MaucError, match="time must be seconds above 0"):
        best_subset(X, Y, time=time)


@pytest.fixture
def late(monkeypatch):
    """A clock by which the time is over as soon as it has begun."""
    ticks = chain([0.0], repeat(1e9))
    for module in ("best", "race"):
        monkeypatch.setattr(f"mauc.evaluation.{module}.perf_counter", lambda: next(ticks))


@pytest.mark.usefixtures("late")
def test_two_outer_folds_are_used_whatever_the_time():
    best = best_subset(X, Y, **{**QUICK, "outer": 4, "time": 1})
    assert {one[:2] for one in (best.choice, *best.outer_choices)} == {(ALL, 13)}
    assert (best.n_compared, best.n_folds, len(best.outer_choices)) == (2, 1, 2)
    assert not best.is_finished
    text = str(best)
    assert "best of 2 combinations (of 18) measured on the same 1 of 3 folds." in text
    assert "Time ran out; a longer limit tries more." in text
    assert "did not see (2 of 4 outer folds): MAUC" in text
    assert best.race[0][:4] == (ALL, 13, "nb", 1)


@pytest.mark.usefixtures("late")
def test_outer_folds_are_used_until_every_class_was_tested(monkeypatch):
    monkeypatch.setattr("mauc.evaluation.best.make_folds", lambda *given: make_folds(*given)[::-1])
    rows = np.arange(len(Y))
    groups = np.where(Y == 1, rows % 2, 2 + rows // 2)  # the second class is in two folds only
    best = best_subset(X, Y, groups=groups, **{**QUICK, "outer": 5, "time": 1})
    assert len(best.outer_choices) == 4
    assert np.isfinite(best.interval.mauc)


def test_text_of_a_race_that_was_not_cut():
    best = best_subset(X, Y, **QUICK)
    text = f"best of {best.n_compared} combinations (of 18) measured on the same 3 folds."
    assert text in str(best)
    assert "ime ran out" not in str(best)
    assert "outer folds" not in str(best)
    assert sum(row[3] == 3 for row in best.race) == best.n_compared


def test_dates_of_a_frame_are_no_candidates():
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = pd.DataFrame(generator.normal(size=(90, 3)) + y[:, np.newaxis], columns=["a", "b", "c"])
    given = {"classifiers": ["nb"], "selectors": ["maucd"], "sizes": [1], "cv": 3, "time": None}
    plain = best_subset(X, y, outer=2, **given)
    dated = X.assign(when=pd.date_range("2024-01-01", periods=90))[["when", "a", "b", "c"]]
    with pytest.warns(LeftOutWarning, match="when"):
        best = best_subset(dated, y, outer=2, **given)
    assert best.choice == plain.choice == ("all", 3, "nb")
    assert best.features == ["a", "b", "c"]
    assert best.n_features == 3
    assert best.interval.mauc == pytest.approx(plain.interval.mauc)
    assert best.pipeline.predict_proba(dated).shape == (90, 3)
