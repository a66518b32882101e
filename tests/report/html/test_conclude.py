"""The conclusion of a page: its numbers are those of the library, its sentences follow them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier

from mauc import (
    MAUCD,
    MDFS,
    GreedyMAUC,
    feature_pair_auc,
    mauc_interval,
    mauc_score,
    pair_auc_scores,
    select_k,
)
from mauc.data.door import FitOptions, make_problem
from mauc.datasets import make_siren
from mauc.evaluation import judges
from mauc.evaluation.judges import JUDGES
from mauc.exceptions import MaucWarning
from mauc.report.html import selection_report
from mauc.report.html.conclude import (
    TITLES,
    PairFacts,
    chance_auc,
    choose_step,
    diagnose,
    stable_word,
)
from mauc.report.html.held_out import hold_out
from mauc.stats import stability


@pytest.fixture(scope="module")
def siren():
    data = make_siren()
    selector = MDFS(10, random_state=0).fit(data.X, data.y)
    report = selection_report(selector, data.X, data.y, feature_names=data.feature_names)
    problem = make_problem(data.X, data.y, FitOptions(selector.accepts))
    return data, selector, report, hold_out(selector, problem)


def measured(held, judged, judge, y, weight=None):
    """Return the mean MAUC of the folds, and their interval, by the functions of the library."""
    maucs, rows, numbers = [], [], []
    for fold, ((_, test), scores) in enumerate(zip(held.folds, judged.scores[judge], strict=True)):
        part = None if weight is None else weight[test]
        maucs.append(mauc_score(y[test], scores, sample_weight=part))
        rows.append(test)
        numbers.append(np.full(len(test), fold))
    rows, scores = np.concatenate(rows), np.concatenate(judged.scores[judge])
    part = None if weight is None else weight[rows]
    folds = np.concatenate(numbers)
    return np.mean(maucs), mauc_interval(y[rows], scores, sample_weight=part, folds=folds)


def test_mauc_and_interval_are_those_of_the_held_out_scores(siren):
    data, _, report, held = siren
    conclusion = report.to_dict()["conclusion"]
    for key, columns in (("chosen", None), ("every", np.arange(data.n_features))):
        judged = held.ask(columns)
        found = {judge: measured(held, judged, judge, data.y) for judge in JUDGES}
        mauc = {JUDGES[judge]: value for judge, (value, _) in found.items()}
        assert conclusion[key]["judges"] == pytest.approx(mauc, rel=1e-6)
        best = max(mauc, key=mauc.get)
        assert conclusion[key]["judge"] == best
        assert f"by {best}" in report.to_html()
        value, interval = found[judged.best]
        assert conclusion[key]["mauc"] == pytest.approx(value, rel=1e-6)
        for name in ("lower", "upper", "level"):
            assert conclusion[key][name] == pytest.approx(getattr(interval, name), rel=1e-6)
    lower, upper = conclusion["chosen"]["lower"], conclusion["chosen"]["upper"]
    assert lower < conclusion["chosen"]["mauc"] < upper
    text = report.to_html()
    assert f"{conclusion['chosen']['mauc']:.3f}</span>" in text
    assert f"95&nbsp;% interval {lower:.3f} to {upper:.3f}" in text
    assert text.index('id="conclusion"') < text.index('id="data-section"')


def test_the_hardest_pairs_come_with_what_would_help(siren):
    data, selector, report, held = siren
    summary = report.to_dict()
    judged = held.ask()
    auc = np.mean(
        [
            pair_auc_scores(data.y[test], scores).auc
            for (_, test), scores in zip(held.folds, judged.scores[judged.best], strict=True)
        ],
        axis=0,
    )
    hard = summary["conclusion"]["hard"]
    assert [pair["pair"] for pair in hard] == np.argsort(auc, kind="stable")[:3].tolist()
    np.testing.assert_allclose([pair["auc"] for pair in hard], np.sort(auc)[:3], rtol=1e-6)
    np.testing.assert_allclose(summary["pairs"]["set_auc"], auc, rtol=1e-6)
    # the table of all pairs has the same order
    listed = [auc[row["pair"]] for row in summary["pairs"]["hardest"]]
    assert listed == sorted(listed)
    # MDFS leaves out the quiet features of a hard pair on this data set
    first = hard[0]
    assert first["kind"] == "left_out"
    row = next(row for row in summary["pairs"]["hardest"] if row["pair"] == first["pair"])
    assert not selector.support_[row["all_column"]]
    assert data.feature_names[row["all_column"]] == row["all_feature"]
    more = held.ask(added=row["all_column"])
    added = more.auc[judged.best][first["pair"]]
    assert first["advice"].startswith(f"{row['all_feature']} alone has an AUC of ")
    assert first["advice"].endswith(f"to {added:.3f}.")
    assert summary["conclusion"]["hard_title"] == "The 3 hardest of 15 pairs of classes"


def test_stability_is_that_of_the_fits_without_a_fold(siren):
    data, selector, report, held = siren
    summary = report.to_dict()
    stable = summary["conclusion"]["stability"]
    wanted = stability(held.selections, data.n_features).value
    assert stable["value"] == pytest.approx(wanted, rel=1e-6)
    times = [sum(f in chosen for chosen in held.selections) for f in selector.ranking_]
    assert [one["n_fits"] for one in summary["features"]] == times
    assert stable["n_always"] == times.count(5)
    html = report.to_html()
    assert f"{times.count(5)} of 10 features were chosen in all 5 fits" in html
    card = html[html.index("How stable is it?") : html.index("10 features were chosen")]
    assert f'<span class="figure">{wanted:.3f}</span>' in card  # the number that gives the word
    assert f"<b>{stable['word']}</b>: 1 if all 5 fits choose the same features, about 0 if" in card
    assert "stable from 0.75, unstable below 0.4" in card
    assert "again" not in stable
    assert "chance" not in stable


@pytest.mark.parametrize(
    ("value", "word"),
    [(0.7496, "stable"), (0.749, "fairly stable"), (0.3996, "fairly stable"), (0.399, "unstable")],
)
def test_the_word_fits_the_number_as_it_is_shown(value, word):
    assert stable_word(value) == word
    selector = MDFS(4, random_state=0).fit(*load_wine(return_X_y=True))
    found = {"hard": [], "chosen": None, "every": None, "stability": {"value": value}}
    step = "auto" if word == "unstable" else "use"
    assert choose_step(selector, found | {"is_clear": True}, 13)[0] == step


def test_many_features_are_drawn_in_part(rng):
    X = rng.normal(size=(40, 260))
    report = selection_report(MAUCD(250).fit(X, np.repeat([0, 1], 20)), X, np.repeat([0, 1], 20))
    assert "Drawn are the first 200 of 250 chosen features." in report.to_html()


def test_all_features_leave_nothing_to_compare():
    X, y = load_wine(return_X_y=True)
    report = selection_report(MDFS("all", random_state=0).fit(X, y), X, y)
    conclusion = report.to_dict()["conclusion"]
    assert conclusion["every"] is None
    assert conclusion["stability"] is None
    assert "there was nothing to choose" in report.to_html()


def test_too_few_samples_are_the_reason():
    X = np.arange(8.0).reshape(4, 2)
    y = ["a", "b", "b", "c"]
    with pytest.warns(MaucWarning):
        selector = MAUCD(1).fit(X, y)
    report = selection_report(selector, X, y)
    conclusion = report.to_dict()["conclusion"]
    assert conclusion["chosen"] is None
    assert "2 classes of 2 samples or more, got 1 of 3" in conclusion["reason"]
    assert {pair["kind"] for pair in conclusion["hard"]} == {"few"}
    assert "There is no cross-validated MAUC" in report.to_html()


def test_a_class_of_one_sample_is_named(rng):
    X = rng.normal(size=(41, 3))
    y = np.repeat(["a", "b", "rare"], [20, 20, 1])
    with pytest.warns(MaucWarning):
        selector = MAUCD(2).fit(X, y)
    report = selection_report(selector, X, y)
    assert report.to_dict()["conclusion"]["absent"] == ["rare"]
    assert len(report.to_dict()["conclusion"]["hard"]) == 1
    assert "of one sample could not be judged" in report.to_html()


def test_a_part_of_the_rows_is_said(monkeypatch):
    X, y = load_digits(return_X_y=True)
    monkeypatch.setattr(judges, "MAX_ROWS", 400)
    report = selection_report(MAUCD(5).fit(X, y), X, y)
    conclusion = report.to_dict()["conclusion"]
    assert conclusion["is_part"]
    words = " ".join(report.to_html().split())
    assert f"of {conclusion['n_rows']} samples drawn from the 1,797" in words


def weighted_rows(rng):
    """Numbers and categories, of which the second half of the rows counts little."""
    y = np.repeat(["u", "v", "w"], 40)
    codes = np.repeat([0, 1, 2], 40)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    X["a"] += codes
    X["colour"] = np.where(rng.random(120) < 0.6, y, rng.choice(["u", "v", "w"], 120))
    return X, y, rng.uniform(0.1, 5, 120)


def test_rows_of_weight_zero_change_nothing_in_the_conclusion(rng):
    X, y, weight = weighted_rows(rng)
    junk = pd.DataFrame(rng.normal(size=(200, 4)) * 100, columns=list("abcd"))
    junk["colour"] = rng.choice(["u", "other"], 200)
    X_all = pd.concat([X, junk], ignore_index=True)
    y_all = np.concatenate((y, rng.choice(["u", "v", "w"], 200)))
    weight_all = np.concatenate((weight, np.zeros(200)))
    found = []
    for data in ((X, y, weight), (X_all, y_all, weight_all)):
        selector = MAUCD(2).fit(*data)
        report = selection_report(selector, *data[:2], sample_weight=data[2])
        html = report.to_html()
        section = html[html.index('id="conclusion"') : html.index("</section>")]
        found.append((section, report.to_dict()["conclusion"]))
    assert found[0] == found[1]
    assert "without each of 5 stratified parts of the 120 samples" in " ".join(section.split())
    assert found[0][1]["n_rows"] == found[1][1]["n_samples"] == 120


def test_weights_count_in_the_numbers_of_the_conclusion(rng):
    X, y, weight = weighted_rows(rng)
    selector = MAUCD(2).fit(X, y, weight)
    report = selection_report(selector, X, y, sample_weight=weight)
    problem = make_problem(X, y, FitOptions(selector.accepts), weight)
    held = hold_out(selector, problem)
    conclusion = report.to_dict()["conclusion"]
    for key, columns in (("chosen", None), ("every", np.arange(5))):
        judged = held.ask(columns)
        mauc, interval = measured(held, judged, judged.best, y, weight)
        assert conclusion[key]["mauc"] == pytest.approx(mauc, rel=1e-6)
        assert conclusion[key]["lower"] == pytest.approx(min(interval.lower, mauc), rel=1e-6)
        assert mauc != pytest.approx(measured(held, judged, judged.best, y)[0], abs=1e-4)
    assert "Weights count in fitting, in MAUC and in its interval" in report.to_html()


def facts(**changes):
    usual = {
        "names": ("u", "v"),
        "counts": (100, 100),
        "n_features": 50,
        "chosen_auc": 0.85,
        "best_auc": 0.85,
        "best_feature": "b",
        "set_auc": 0.9,
        "reached": (0.91, "trees"),
        "every": (0.91, "a line"),
        "lower": 0.85,
    }
    return PairFacts(**(usual | changes))


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"set_auc": 0.995}, "separated", "nothing needs to be done"),
        # an AUC near 1 of a few samples may be chance
        ({"set_auc": 0.995, "lower": 0.66, "counts": (3, 40)}, "few", "u has 3: more samples"),
        ({"counts": (100, 7)}, "few", "v has 7: more samples are needed"),
        ({"counts": (3, 7)}, "few", "u has 3 and v has 7"),
        # 12 and 12 samples: the best of 20,000 features without information may reach 0.99
        ({"counts": (12, 12), "n_features": 20_000, "best_auc": 0.93}, "few", "chance alone"),
        (
            {"chosen_auc": 0.7, "best_auc": 0.93, "added_auc": 0.95, "judge": "trees"},
            "left_out",
            "b alone has an AUC of 0.930 here, the best chosen feature 0.700; with it trees "
            "gets from 0.900 to 0.950.",
        ),
        # without cross-validation the gap decides
        (
            {"chosen_auc": 0.7, "best_auc": 0.93, "set_auc": None, "reached": None, "every": None},
            "left_out",
            "the best chosen feature 0.700.",
        ),
        ({"set_auc": None, "reached": None, "every": None}, "unknown", "was not measured"),
        (
            {"every": (0.95, "a line")},
            "more",
            "With all 50 features a line reaches 0.950 here, with the chosen no classifier more "
            "than 0.910 (trees)",
        ),
        # a better feature that does not help in the set is not recommended
        ({"chosen_auc": 0.7, "best_auc": 0.93, "added_auc": 0.9}, "limit", "trees reaches 0.910"),
        (
            {
                "chosen_auc": 0.57,
                "best_auc": 0.59,
                "set_auc": 0.51,
                "reached": (0.52, "trees"),
                "every": (0.53, "a line"),
                "lower": 0.4,
            },
            "none",
            "other measurements are needed",
        ),
        # no single feature separates, all together do
        (
            {
                "best_auc": 0.55,
                "chosen_auc": 0.55,
                "reached": (0.55, "trees"),
                "every": (0.99, "trees"),
                "lower": 0.4,
            },
            "more",
            "trees reaches 0.990",
        ),
        ({}, "limit", "with all 50 no classifier more than 0.910 (a line)"),
    ],
)
def test_every_verdict_has_its_case(changes, kind, words):
    found, sentence = diagnose(facts(**changes))
    assert found == kind
    assert words in sentence
    assert kind in TITLES


def test_chance_is_what_noise_reaches():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [15, 25])
    best = [feature_pair_auc(rng.normal(size=(40, 500)), y).max() for _ in range(200)]
    assert np.mean(np.array(best) > chance_auc((15, 25), 500)) < 0.08
    assert np.quantile(best, 0.95) > chance_auc((15, 25), 500) - 0.05


def test_no_sentence_is_contradicted_by_other_classifiers(rng):
    # Sums modulo 2: no feature and no line separates the classes, trees and neighbours do.
    X = rng.integers(0, 2, (600, 6)) + 0.1 * rng.normal(size=(600, 6))
    y = (X[:, :2] > 0.5).sum(axis=1) % 2
    conclusion = selection_report(MAUCD(6).fit(X, y), X, y).to_dict()["conclusion"]
    assert conclusion["chosen"]["mauc"] > 0.99
    assert conclusion["chosen"]["judges"]["Naive Bayes"] < 0.6
    assert [pair["kind"] for pair in conclusion["hard"]] == ["separated"]
    assert conclusion["next"]["why"].startswith("All features are in use")


def test_the_page_of_a_chosen_size_has_the_numbers_of_its_curve():
    X, y = load_wine(return_X_y=True)
    for classifier in (None, KNeighborsClassifier()):
        if classifier is None:
            selector = GreedyMAUC("auto").fit(X, y)
        else:
            curve = select_k(GreedyMAUC(), X, y, classifier=classifier)
            selector = GreedyMAUC(curve.size).fit(X, y)
            selector.size_curve_ = curve
        curve = selector.size_curve_
        report = selection_report(selector, X, y, classifier=classifier)
        chosen = report.to_dict()["conclusion"]["chosen"]
        assert chosen["judge"] == curve.judge
        assert chosen["mauc"] == pytest.approx(curve.mean[curve.sizes == curve.size][0], rel=1e-6)
        assert report.to_dict()["conclusion"]["next"]["kind"] != "auto"
    assert list(chosen["judges"]) == ["KNeighborsClassifier"]
    assert "KNeighborsClassifier was trained" in " ".join(report.to_html().split())


def test_statements_about_all_features_are_those_of_the_best_classifier():
    X, y = load_digits(return_X_y=True)
    conclusion = selection_report(MAUCD(5).fit(X, y), X, y).to_dict()["conclusion"]
    forest = cross_val_predict(
        RandomForestClassifier(50, random_state=0), X, y, method="predict_proba"
    )
    # With all features a forest does better than any classifier with five of them.
    assert mauc_score(y, forest) > conclusion["chosen"]["mauc"] + 0.01
    assert " less, by " in conclusion["verdict"]
    assert {pair["kind"] for pair in conclusion["hard"]} <= {"more", "left_out"}
