"""The siren study of section 4.1: by hand, against its definition, and as it is drawn."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine

from mauc.registry import RELEVANCES
from mauc.selectors import make_selector
from reproduction.research.siren import (
    SirenStudy,
    draw,
    draw_difficulty,
    draw_ranks,
    siren_index,
    siren_study,
    third_weights,
)

GIVEN = [0.8, 0.9, 0.7]  # AUCs of three pairs, where it does not matter how hard they are


def hand_study(ranks, auc, chosen=(0,), **parts):
    """A study of three classes whose numbers are given."""
    ranks = np.asarray(ranks, dtype=float)
    return SirenStudy(
        classes=np.array(["a", "b", "c"]),
        relevance="auc",
        auc=np.asarray(auc, dtype=float),
        ranks=ranks,
        feature_auc=1.0 - ranks / 10,
        chosen=np.array(chosen),
        **parts,
    )


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def planted():
    """Four classes: six features set {0, 1} apart from {2, 3}, three split 0, 1 and three 2, 3."""
    rng = np.random.default_rng(7)
    y = np.repeat(np.arange(4), 60)
    X = rng.normal(size=(240, 12))
    X[:, :6] += 3.0 * (y >= 2)[:, np.newaxis]
    X[:, 6:9] += 1.0 * (y == 1)[:, np.newaxis]
    X[:, 9:] += 1.0 * (y == 3)[:, np.newaxis]
    return X, y, np.array([0.6, 1.0, 1.0, 1.0, 1.0, 0.7])


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
    assert_array_equal(study.neglect([0, 1, 2]), np.zeros(3))


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


@pytest.mark.parametrize("relevance", RELEVANCES)
def test_a_pair_is_measured_on_its_samples_alone(wine, relevance):
    X, y = wine
    study = siren_study(X, y, GIVEN, relevance=relevance, n_features=3)
    for pair, classes in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = np.isin(y, classes)
        alone = siren_study(X[rows], y[rows], GIVEN[:1], relevance=relevance, n_features=3)
        assert_array_equal(alone.ranks[:, 0], study.ranks[:, pair])
        assert_array_equal(alone.feature_auc[:, 0], study.feature_auc[:, pair])


@pytest.mark.parametrize(
    ("relevance", "name"), [("chi2", "chi"), ("su", "su"), ("auc", "maucd"), ("fsdd", "fsdd")]
)
def test_the_chosen_are_those_of_the_selector(wine, relevance, name):
    selectors = {name: make_selector(name)}
    study = siren_study(*wine, GIVEN, relevance=relevance, n_features=5, selectors=selectors)
    assert_array_equal(study.chosen, make_selector(name, 5).fit(*wine).ranking_)
    assert_array_equal(study.selections[name], study.chosen)
    assert study.measures(study.selections[name])["index"] == study.index


def test_whole_problem_rankers_fall_for_the_sirens_and_mdfs_does_not(planted):
    selectors = {name: make_selector(name) for name in ("mdfs", "maucd", "chi")}
    selectors["mdfs"].set_params(random_state=0)
    study = siren_study(*planted, relevance="auc", selectors=selectors, n_features=6)
    found = {name: study.measures(chosen) for name, chosen in study.selections.items()}
    # They take the six features of the easy pairs, of which none is among the best of a hard one.
    for name in ("maucd", "chi"):
        assert found[name]["easy"] == 0.0
        assert found[name]["index"] > 0.6
        assert found[name]["shortfall"] > 0.1
    assert found["mdfs"]["index"] < 0.4
    assert found["mdfs"]["shortfall"] < 0.02


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


def dots(ax, label):
    (found,) = (c for c in ax.collections if c.get_label() == label)
    return np.asarray(found.get_offsets())[:, 1]


def test_panels_show_the_study_hardest_pair_first(wine):
    study = siren_study(*wine, GIVEN, n_features=4)
    upper, lower = draw(study).axes
    order = study.order
    assert_array_equal(dots(upper, "all features"), study.auc[order])
    assert_array_equal(dots(upper, "best single feature"), study.best_auc[order])
    assert_allclose(
        dots(upper, "best of the 4 chosen"), study.feature_auc[study.chosen].max(axis=0)[order]
    )
    assert_allclose(dots(lower, "mean rank"), study.ranks[study.chosen].mean(axis=0)[order])
    labels = [label.get_text() for label in lower.get_xticklabels()]
    assert labels == np.array(study.names)[order].tolist()
    assert lower.get_ylim() == (13.5, 0.5)  # rank 1 at the top
    assert f"siren index {study.index:.3f}" in lower.get_title(loc="left")
    spans = [patch for patch in lower.patches if patch.get_height() == 1]  # axes coordinates
    assert [round(patch.get_x() + patch.get_width() / 2) for patch in spans] == [0]
    plt.close("all")


def test_pairs_that_tie_into_both_thirds_and_unknown_ones_are_not_shaded():
    for auc in ([1.0, 1.0, 1.0], [np.nan] * 3):
        study = hand_study([[3, 2, 1], [1, 1, 2], [2, 3, 3]], auc=auc)
        for panel in (draw_difficulty, draw_ranks):
            ax = plt.subplots()[1]
            panel(study, ax)
            assert not [patch for patch in ax.patches if patch.get_height() == 1]
            assert "shaded" not in ax.get_xlabel()
    plt.close("all")
