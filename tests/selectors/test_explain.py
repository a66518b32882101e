"""Explanations: what is said of a feature is what was measured."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine

from mauc import MDFS, MRMR, GreedyMAUC, feature_pair_auc
from mauc.exceptions import MaucError


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_a_feature_countable_by_hand():
    # b orders the classes but for one exchange (8 of 9 pairs won), a without any.
    X = pd.DataFrame({"a": [0, 1, 2, 3, 4, 5], "b": [0, 1, 3, 2, 4, 5], "c": [1] * 6})
    selector = MDFS(1, random_state=0).fit(X, [0, 0, 0, 1, 1, 1])
    chosen, other, constant = (selector.explain(name) for name in "abc")
    assert (chosen.status, chosen.step, chosen.best_auc, chosen.best_rank) == ("chosen", 1, 1.0, 1)
    assert chosen.chosen_for is None  # there is but one pair
    assert (other.best_auc, other.best_rank, other.place) == (pytest.approx(8 / 9), 2, 2)
    assert other.covered_by == "a"
    assert constant.status == "constant"
    assert "MAUC" not in str(other)  # of two classes


def test_best_pair_and_rank_are_those_of_all_aucs(wine):
    X, y = wine
    selector, auc = GreedyMAUC(3).fit(X, y), feature_pair_auc(X, y)
    for column in range(X.shape[1]):
        found = selector.explain(column)
        pair = auc[column].argmax()
        assert found.best_auc == auc[column, pair]
        assert found.best_rank == 1 + (auc[:, pair] > auc[column, pair]).sum()
        assert found.best_pair == ["0 vs 1", "0 vs 2", "1 vs 2"][pair]


@pytest.mark.parametrize("selector", [GreedyMAUC(4), MRMR(4), MDFS(4, random_state=1)])
def test_places_are_those_of_the_full_ranking(wine, selector):
    X, y = wine
    full = clone(selector).set_params(n_features_to_select="all").fit(X, y).ranking_
    selector = clone(selector).fit(X, y)
    for place, column in enumerate(full, 1):
        found = selector.explain(int(column))
        assert (found.place or found.step) == place
        assert (found.status == "chosen") == (place <= 4)


def test_steps_tell_what_the_trace_has(wine):
    selector = GreedyMAUC(3).fit(*wine)
    steps = selector.trace_.to_frame()
    for step, row in steps.iterrows():
        found = selector.explain(row["feature_name"])
        assert (found.step, found.chosen_for) == (step, row["subproblem_name"])
        assert (found.added, found.predicted_mauc) == (row["added"], row["predicted_mauc"])
        assert f"chosen at step {step} of 3 for {row['subproblem_name']}." in str(found)


def test_correlation_is_that_of_normal_scores_within_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 400)
    a = rng.normal(size=1200) + y
    twin = 0.9 * (a - y) + np.sqrt(1 - 0.81) * rng.normal(size=1200) + 0.2 * y
    X = pd.DataFrame({"a": a, "twin": twin, "noise": rng.normal(size=1200)})
    selector = GreedyMAUC(1).fit(X, y)
    found = selector.explain("twin")
    assert (found.covered_by, found.correlation) == ("a", pytest.approx(0.9, abs=0.03))
    assert "covered by a (correlation 0." in str(found)
    noise = selector.explain("noise")
    assert abs(noise.correlation) < 0.15
    assert "No chosen feature covers it" in str(noise)


def test_a_feature_that_helps_adds_more_than_a_copy_or_noise():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 200)
    a, b = rng.normal(size=600) + 1.5 * (y == 1), rng.normal(size=600) + 1.2 * (y == 2)
    X = pd.DataFrame({"a": a, "copy": a, "b": b, "noise": rng.normal(size=600)})
    selector = GreedyMAUC(1, keep=["a"]).fit(X, y)
    adds = {name: selector.explain(name).would_add for name in ("copy", "b", "noise")}
    assert adds["b"] > 0.1
    assert max(adds["copy"], adds["noise"]) < 0.02
    assert selector.explain("b").place == 2


def test_excluded_features_are_called_so(wine):
    found = GreedyMAUC(3, exclude=["hue"]).fit(*wine).explain("hue")
    assert found.status == "excluded"
    assert found.place is None
    assert str(found).startswith("hue was excluded beforehand.")


def test_a_pickle_holds_no_data_and_asks_for_them(wine):
    X, y = wine
    fitted = MDFS(3, random_state=0).fit(X, y)
    before = len(pickle.dumps(fitted))
    expected = str(fitted.explain("ash"))
    assert len(pickle.dumps(fitted)) == before
    again = pickle.loads(pickle.dumps(fitted))
    with pytest.raises(MaucError, match=r"selector\.explain\(feature, X, y\)"):
        again.explain("ash")
    assert str(again.explain("ash", X, y)) == expected
    with pytest.raises(MaucError, match="fitted on"):
        again.explain("ash", X + np.arange(len(X))[:, None] * X, y)


def test_a_new_fit_forgets_the_old_explanations(wine):
    X, y = wine
    selector = MDFS(3, random_state=0).fit(X, y)
    selector.explain(0)
    selector.fit(X.iloc[:, :5], y)
    assert selector.explain(0).n_features == 5


def test_unknown_features_are_refused_with_the_nearest(wine):
    selector = MDFS(3, random_state=0).fit(*wine)
    with pytest.raises(MaucError, match="did you mean 'proline'"):
        selector.explain("prolin")
    with pytest.raises(MaucError, match=r"in \[0, 12\]"):
        selector.explain(13)


def test_names_of_arrays_are_x0_x1():
    X, y = load_breast_cancer(return_X_y=True)
    found = GreedyMAUC(3).fit(X, y).explain("x0")
    assert found.feature == "x0"
    assert "predicted AUC" in str(found)


def test_weights_of_0_are_absent(wine):
    X, y = wine
    weight = np.ones(len(y))
    weight[::5] = 0
    some = weight > 0
    weighted = MDFS(3, random_state=0).fit(X, y, sample_weight=weight).explain("hue")
    assert weighted.best_auc == pytest.approx(
        MDFS(3, random_state=0).fit(X[some], y[some]).explain("hue").best_auc
    )
