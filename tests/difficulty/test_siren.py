"""The siren study measures the difficulty of class pairs and who neglects the hard ones."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.feature_selection import SelectKBest

from mauc import FSDD, MAUCD, MDFS, ChiSquare, GreedyMAUC
from mauc.difficulty import SirenStudy, siren_index, siren_study
from mauc.difficulty.siren import third_weights
from mauc.exceptions import MaucError, MaucWarning, SmallClassWarning, UndefinedMAUCError
from mauc.registry import RELEVANCES
from mauc.report.html import selection_report
from mauc.selectors import make_selector

GIVEN = [0.8, 0.9, 0.7]  # AUCs of three pairs, where it does not matter how hard they are


def hand_study(ranks, auc, chosen=(0,), **parts):
    """A study of three classes whose numbers are given."""
    ranks = np.asarray(ranks, dtype=float)
    return SirenStudy(
        classes=np.array(["a", "b", "c"]),
        class_counts=np.array([5, 6, 7]),
        feature_names=np.array([f"f{j}" for j in range(len(ranks))]),
        relevance="auc",
        n_folds=5,
        auc=np.asarray(auc, dtype=float),
        ranks=ranks,
        feature_auc=1.0 - ranks / 10,
        chosen=np.array(chosen),
        **parts,
    )


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def planted():
    """Four classes: six features set {0, 1} apart from {2, 3}, three split 0, 1 and three 2, 3."""
    rng = np.random.default_rng(7)
    y = np.repeat(np.arange(4), 60)
    X = rng.normal(size=(240, 12))
    X[:, :6] += 3.0 * (y >= 2)[:, np.newaxis]
    X[:, 6:9] += 1.0 * (y == 1)[:, np.newaxis]
    X[:, 9:] += 1.0 * (y == 3)[:, np.newaxis]
    return X, y


def test_the_index_of_a_case_countable_by_hand():
    # One of three features: last on the hardest pair, in the middle, first on the easiest.
    study = hand_study([[3, 2, 1], [1, 1, 2], [2, 3, 3]], auc=[0.6, 0.8, 1.0])
    assert_array_equal(study.neglect(), [1.0, 0.5, 0.0])
    assert study.index == 1.0
    # The second feature is best where it is hard: nobody is lured away from there.
    assert_array_equal(study.neglect([1]), [0.0, 0.0, 0.5])
    assert siren_index([1], study) == 0.0
    # Two of three: ranks 3 and 1 against the best possible 1 and 2, one feature left out.
    assert_array_equal(study.neglect([0, 1]), [0.5, 0.0, 0.0])
    assert_allclose(study.shortfall([0]), [0.2, 0.1, 0.0])


def test_neglect_is_the_probability_that_a_feature_left_out_outranks_a_chosen_one(planted):
    study = siren_study(*planted, relevance="chi2", n_features=5)
    left_out = np.setdiff1d(np.arange(12), study.chosen)
    assert_array_equal(study.ranks.sum(axis=0), np.full(6, 12 * 13 / 2))
    for pair, neglect in enumerate(study.neglect()):
        ranks = study.ranks[:, pair]
        wins = [
            1.0 if ranks[out] < ranks[chosen] else 0.5 if ranks[out] == ranks[chosen] else 0.0
            for out, chosen in itertools.product(left_out, study.chosen)
        ]
        assert_allclose(neglect, np.mean(wins))


def test_all_features_neglect_nothing(wine):
    study = siren_study(*wine, n_features=13, auc=GIVEN)
    assert_array_equal(study.neglect(), np.zeros(3))
    assert_array_equal(study.shortfall(), np.zeros(3))
    assert study.index == 0.0
    with pytest.raises(MaucError, match="pass siren_study selectors="):
        study.comparison()


@given(st.lists(st.sampled_from([0.6, 0.7, 0.8, 0.9, np.nan]), min_size=1, max_size=12))
def test_weights_of_a_third_sum_to_one_and_know_no_order(difficulty):
    difficulty = np.array(difficulty)
    weights = third_weights(difficulty)
    if np.isnan(difficulty).all():
        assert np.isnan(weights).all()
        return
    assert_allclose(weights.sum(), 1.0)
    assert not weights[np.isnan(difficulty)].any()
    assert_array_equal(third_weights(difficulty[::-1]), weights[::-1])
    for value in np.unique(difficulty[~np.isnan(difficulty)]):
        assert len(np.unique(weights[difficulty == value])) == 1
    # No weight on a pair while an easier one has more.
    known = np.argsort(difficulty)[: (~np.isnan(difficulty)).sum()]
    assert (np.diff(weights[known]) <= 1e-12).all()


def test_equally_hard_pairs_are_both_thirds():
    study = hand_study([[3, 2, 1], [1, 1, 2], [2, 3, 3]], auc=[1.0, 1.0, 1.0])
    assert_allclose(study.weights("hard"), np.full(3, 1 / 3))
    assert study.index == 0.0
    assert set(study.to_frame()["third"]) == {"middle"}


def test_how_hard_the_pairs_are_may_be_given(wine):
    study = siren_study(*wine, auc=[0.8, np.nan, 0.7])
    assert_array_equal(study.order, [2, 0, 1])
    assert "AUC with all features by a given measure" in str(study)


@pytest.mark.parametrize("relevance", RELEVANCES)
def test_a_pair_is_measured_on_its_samples_alone(wine, relevance):
    X, y = wine
    study = siren_study(X, y, relevance=relevance, auc=GIVEN)
    for pair, classes in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = y.isin(classes)
        alone = siren_study(X[rows], y[rows], relevance=relevance, auc=GIVEN[:1])
        assert_array_equal(alone.ranks[:, 0], study.ranks[:, pair])
        assert_array_equal(alone.feature_auc[:, 0], study.feature_auc[:, pair])


@pytest.mark.parametrize(
    ("relevance", "name"), [("chi2", "chi"), ("su", "su"), ("auc", "maucd"), ("fsdd", "fsdd")]
)
def test_the_chosen_are_those_of_the_selector(wine, relevance, name):
    study = siren_study(*wine, relevance=relevance, n_features=5, selectors=[name], auc=GIVEN)
    assert_array_equal(study.chosen, make_selector(name, 5).fit(*wine).ranking_)
    assert_array_equal(study.selections[name], study.chosen)
    assert study.comparison()["index"].tolist() == [study.index]


def test_whole_problem_rankers_fall_for_the_sirens_and_mdfs_does_not(planted):
    X, y = planted
    names = ["mdfs", "maucd", "chi"]
    study = siren_study(X, y, relevance="auc", selectors=names, n_features=6)
    table = study.comparison().set_index("selector")
    # They take the six features of the easy pairs, of which none is among the best of a hard one.
    for name in ("maucd", "chi"):
        assert table.loc[name, "easy"] == 0.0
        assert table.loc[name, "index"] > 0.6
        assert table.loc[name, "shortfall"] > 0.1
    assert table.loc["mdfs", "index"] < 0.4
    assert table.loc["mdfs", "shortfall"] < 0.02
    assert table["worst_pair"].isin(["0 vs 1", "2 vs 3"]).all()


def test_selectors_by_name_object_mapping_ranking_and_mask(planted):
    X, y = planted
    mask = np.arange(12) < 3
    selectors = {
        "by name": "chi",
        "object": ChiSquare(4),
        "ranking": [0, 1, 2, 3, 4],
        "mask": mask,
        "other": SelectKBest(k=3),
    }
    study = siren_study(X, y, n_features=4, selectors=selectors)
    assert_array_equal(study.selections["by name"], study.selections["object"])
    assert_array_equal(study.selections["ranking"], [0, 1, 2, 3])
    assert_array_equal(study.selections["mask"], [0, 1, 2])
    assert study.comparison()["n_features"].tolist() == [4, 4, 4, 3, 3]
    assert siren_index(np.arange(12), study) == 0.0
    fitted = MAUCD("all").fit(X, y)
    assert siren_index(fitted, study, n_features=4) == siren_index(fitted.ranking_[:4], study)
    assert siren_index(SelectKBest(k=3).fit(X, y), study) == siren_index(
        study.selections["other"], study
    )
    by_class_name = siren_study(X, y, n_features=4, selectors=[MDFS(4, random_state=0), "chi"])
    assert list(by_class_name.selections) == ["MDFS", "chi"]
    assert_array_equal(by_class_name.selections["chi"], study.selections["by name"])


def test_a_selector_is_asked_for_the_number(planted):
    X, y = planted
    study = siren_study(X, y, n_features=4, selectors=[GreedyMAUC(), MDFS(2, random_state=0)])
    assert_array_equal(study.selections["GreedyMAUC"], GreedyMAUC(4).fit(X, y).ranking_)
    assert len(study.selections["MDFS"]) == 4


def test_frame_holds_the_pairs_hardest_first(wine):
    X, y = wine
    study = siren_study(X, y, relevance="auc", n_features=3, auc=GIVEN)
    frame = study.to_frame()
    assert frame["auc"].is_monotonic_increasing
    assert frame["third"].tolist() == ["hard", "middle", "easy"]
    assert_array_equal(frame["pair"], np.array(study.names)[study.order])
    assert_allclose(frame["best_auc"] - frame["chosen_auc"], frame["shortfall"])
    row = frame.iloc[0]
    pair = study.order[0]
    assert row["best_feature"] == X.columns[study.feature_auc[:, pair].argmax()]
    assert row["chosen_feature"] in X.columns[study.chosen]
    assert_allclose(row["mean_rank"], study.ranks[study.chosen, pair].mean())


def test_the_best_judge_has_the_hard_pairs_of_a_page_with_all_features():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    study = siren_study(X, y, n_features=5)
    selector = MAUCD(63).fit(X, y)
    conclusion = selection_report(selector, X, y).to_dict()["conclusion"]
    assert study.judge == conclusion["every"]["judge"]
    assert np.nanmean(study.auc) == pytest.approx(conclusion["every"]["mauc"], abs=1e-6)
    assert study.judge in str(study)


def test_str_names_the_hardest_pairs_the_index_and_the_selectors():
    study = hand_study(
        [[3, 2, 1], [1, 1, 2], [2, 3, 3]],
        auc=[np.nan, 0.8, 1.0],
        selections={"mine": np.array([1])},
    )
    assert str(study).splitlines() == [
        "3 class pairs; the best 1 of 3 features by auc",
        "AUC with all features by a given measure",
        "hardest pairs  AUC     neglect  shortfall",
        "a vs c         0.8000  0.500    0.1000",
        "b vs c         1.0000  0.000    0.0000",
        "a vs b         -       1.000    0.2000",
        "siren index 0.500 (neglect 0.500 on the hardest third, 0.000 on the easiest)",
        "selector  index  hard   easy   shortfall",
        "mine      0.000  0.000  0.500  0.0000",
    ]


def test_a_class_of_a_single_sample_has_no_auc(rng):
    y = np.repeat(["a", "b", "c", "d"], [20, 20, 3, 1])
    X = rng.normal(size=(44, 5))
    with pytest.warns(SmallClassWarning, match="'d'"):
        study = siren_study(X, y)
    assert_array_equal(np.isnan(study.auc), [False, False, True, False, True, True])
    assert (study.weights("hard")[np.isnan(study.auc)] == 0).all()
    assert 0.0 <= study.index <= 1.0
    assert study.to_frame()["third"].tolist()[-3:] == ["unknown"] * 3


def test_no_pair_that_can_be_measured(rng):
    X = rng.normal(size=(3, 4))
    unknown = pytest.raises(UndefinedMAUCError, match="at least 2 classes of 2 samples")
    with unknown, pytest.warns(SmallClassWarning):
        siren_study(X, [0, 1, 2])
    with pytest.warns(SmallClassWarning):
        study = siren_study(X, [0, 1, 2], auc=np.full(3, np.nan))
    assert np.isnan(study.index)
    assert "siren index nan" in str(study)


@pytest.mark.parametrize("relevance", RELEVANCES)
def test_missing_values_and_constant_columns(wine, relevance):
    X = wine[0].to_numpy().copy()
    X[::5, 3] = np.nan
    X[:, 4] = 1.0
    X[:, 5] = np.nan
    study = siren_study(X, wine[1], relevance=relevance)
    assert not np.isnan(study.auc).any()
    assert not np.isnan(study.ranks).any()
    assert_array_equal(study.ranks[4], study.ranks[5])
    assert (study.ranks[4] > 11).all()  # last, together or with others that tell nothing
    assert (study.best_auc <= 1.0).all()


def test_threads_change_nothing_and_a_generator_is_a_seed(planted):
    X, y = planted
    studies = [siren_study(X, y, selectors=["mdfs"], n_jobs=n_jobs) for n_jobs in (1, 3)]
    for part in ("auc", "ranks", "feature_auc", "chosen"):
        assert_array_equal(getattr(studies[0], part), getattr(studies[1], part))
    assert_array_equal(studies[0].selections["mdfs"], studies[1].selections["mdfs"])
    by_state = [siren_study(X, y, random_state=np.random.RandomState(5)).auc for _ in range(2)]
    assert_array_equal(*by_state)
    assert (by_state[0] != studies[0].auc).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relevance": "chi"}, "did you mean 'chi2'"),
        ({"n_features": 14}, r"n_features must be None or an int in \[1, 13\]"),
        ({"n_features": 0.5}, "n_features must be None or an int in"),
        ({"cv": 1}, "cv must be an int of at least 2"),
        (
            {"auc": [0.7, 0.8]},
            r"auc must have 3 values, .* float64 of shape \(2,\)",
        ),
        ({"selectors": ["mdsf"]}, "did you mean 'mdfs'"),
        ({"selectors": ["chi", "chi"]}, "distinct names, got 'chi' twice"),
        ({"selectors": {"mine": [0, 0]}}, "distinct columns"),
        ({"selectors": {"mine": [99]}}, r"columns in \[0, 12\]"),
        ({"selectors": {"mine": [0.5]}}, "column numbers or a mask of 13"),
    ],
)
def test_bad_arguments_are_named(wine, options, message):
    with pytest.raises(MaucError, match=message):
        siren_study(*wine, **options)


def test_nominal_columns_are_taken_as_categories(rng):
    y = np.repeat(["a", "b", "c"], 30)
    # A colour per class, in an order that no threshold separates, and noise.
    colour = np.where(y == "b", "m", np.where(rng.random(90) < 0.5, "k", "z"))
    frame = pd.DataFrame({"size": rng.normal(size=90), "colour": pd.Categorical(colour)})
    frame["weight"] = rng.normal(size=90)
    study = siren_study(frame, y, n_features=1, selectors=["chi", "su"])
    assert study.feature_names[study.chosen].tolist() == ["colour"]
    assert study.selections["chi"].tolist() == study.selections["su"].tolist() == [1]
    assert study.auc[[0, 2]].min() > 0.95 > study.auc[1]
    codes = frame.assign(colour=frame["colour"].cat.codes).to_numpy(np.float64)
    flagged = siren_study(codes, y, n_features=1, selectors=["chi"], categorical_features=[1])
    assert_array_equal(flagged.auc, study.auc)
    assert_array_equal(flagged.ranks, study.ranks)
    assert (siren_study(codes, y, n_features=1).auc != study.auc).any()


def test_what_takes_numbers_only_gets_codes_and_says_so(rng):
    X = rng.integers(0, 3, (60, 3)).astype(float)
    y = np.arange(60) % 3
    X[:, 2] = (y + (rng.random(60) < 0.2)) % 3
    with pytest.warns(MaucWarning, match="codes, in the order of their values, for fsdd: numbers"):
        study = siren_study(X, y, selectors=["chi", "fsdd"], categorical_features=[2])
    assert_array_equal(study.selections["fsdd"], FSDD(1).fit(X, y).ranking_)
    with pytest.warns(MaucWarning, match="for relevance 'fisher': numbers only"):
        other = siren_study(X, y, relevance="fisher", categorical_features=[2])
    # How hard a pair is does not depend on the relevance, which alone sees codes.
    assert_array_equal(other.auc, study.auc)
    assert_array_equal(other.feature_auc, study.feature_auc)


def test_selectors_that_are_given_get_the_nominal_columns_as_well(rng):
    y = np.arange(90) % 3
    X = np.column_stack([np.array([1, 0, 2])[y], y + rng.normal(size=90)])
    X[rng.random(90) < 0.3, 0] = 0
    named = siren_study(X, y, n_features=1, selectors=["maucd"], categorical_features=[0])
    given = siren_study(X, y, n_features=1, selectors=[MAUCD(1)], categorical_features=[0])
    assert_array_equal(given.selections["MAUCD"], named.selections["maucd"])


def test_too_many_classes_are_refused_before_anything_is_allocated(rng, monkeypatch):
    y = np.repeat(np.arange(500), 2)
    X = rng.normal(size=(1000, 30))
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 10**7)
    message = (
        r"500 classes, which are 124,750 class pairs, times 30 features need .* 10 MB are free"
    )
    with pytest.raises(MaucError, match=message):
        siren_study(X, y)


def test_verbose_says_how_far_it_is_and_changes_nothing(planted, monkeypatch, capsys):
    from mauc import progress

    X, y = planted
    quiet = siren_study(X, y, selectors=["mdfs"])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    told = siren_study(X, y, selectors=["mdfs"], verbose=True)
    assert "mauc: siren study" in capsys.readouterr().err
    assert_array_equal(told.auc, quiet.auc)
    assert str(told) == str(quiet)
