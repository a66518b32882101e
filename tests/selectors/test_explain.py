"""Explanations: what is said of a feature is what was measured."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine

from mauc import MAUCD, MDFS, MRMR, GreedyMAUC, feature_pair_auc
from mauc.exceptions import MaucError


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_a_feature_countable_by_hand():
    # b orders the classes but for one exchange (8 of 9 pairs won), a without any.
    X = pd.DataFrame({"a": [0, 1, 2, 3, 4, 5], "b": [0, 1, 3, 2, 4, 5], "c": [1] * 6})
    y = [0, 0, 0, 1, 1, 1]
    selector = MDFS(1, random_state=0).fit(X, y)
    chosen, other, constant = (selector.explain(name, X, y) for name in "abc")
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
        found = selector.explain(column, X, y)
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
        found = selector.explain(int(column), X, y)
        assert (found.place or found.step) == place
        assert (found.status == "chosen") == (place <= 4)


def test_steps_tell_what_the_trace_has(wine):
    selector = GreedyMAUC(3).fit(*wine)
    steps = selector.trace_.to_frame()
    for step, row in steps.iterrows():
        found = selector.explain(row["feature_name"], *wine)
        assert (found.step, found.chosen_for) == (step, row["subproblem_name"])
        assert (found.added, found.predicted_mauc) == (row["added"], row["predicted_mauc"])
        assert f"chosen at step {step} of 3 for {row['subproblem_name']}." in str(found)


def test_places_go_beyond_the_predicted_number(wine):
    selector = GreedyMAUC().fit(*wine)
    full = GreedyMAUC("all").fit(*wine).ranking_
    assert len(selector.ranking_) < len(full)
    last = selector.explain(int(full[-1]), *wine)
    assert (last.place, last.status) == (len(full), "not chosen")


def test_correlation_is_that_of_normal_scores_within_classes():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 400)
    a = rng.normal(size=1200) + y
    twin = 0.9 * (a - y) + np.sqrt(1 - 0.81) * rng.normal(size=1200) + 0.2 * y
    X = pd.DataFrame({"a": a, "twin": twin, "noise": rng.normal(size=1200)})
    selector = GreedyMAUC(1).fit(X, y)
    found = selector.explain("twin", X, y)
    assert (found.covered_by, found.correlation) == ("a", pytest.approx(0.9, abs=0.03))
    assert "covered by a (correlation 0." in str(found)
    noise = selector.explain("noise", X, y)
    assert abs(noise.correlation) < 0.15
    assert "No chosen feature covers it" in str(noise)


def test_a_feature_that_helps_adds_more_than_a_copy_or_noise():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 200)
    a, b = rng.normal(size=600) + 1.5 * (y == 1), rng.normal(size=600) + 1.2 * (y == 2)
    X = pd.DataFrame({"a": a, "copy": a, "b": b, "noise": rng.normal(size=600)})
    selector = GreedyMAUC(1, keep=["a"]).fit(X, y)
    adds = {name: selector.explain(name, X, y).would_add for name in ("copy", "b", "noise")}
    assert adds["b"] > 0.1
    assert max(adds["copy"], adds["noise"]) < 0.02
    assert selector.explain("b", X, y).place == 2


def test_excluded_features_are_called_so(wine):
    found = GreedyMAUC(3, exclude=["hue"]).fit(*wine).explain("hue", *wine)
    assert found.status == "excluded"
    assert found.place is None
    assert str(found).startswith("hue was excluded beforehand.")


def test_other_data_than_those_of_the_fit_are_refused(wine):
    X, y = wine
    fitted = pickle.loads(pickle.dumps(MDFS(3, random_state=0).fit(X, y)))
    expected = str(fitted.explain("ash", X, y))
    shuffled = np.random.default_rng(0).permutation(len(y))
    assert str(fitted.explain("ash", X.iloc[shuffled], y.iloc[shuffled])) == expected
    changed = X.copy()
    changed.loc[[3, 50], "ash"] += 1  # a column that was not chosen
    assert "ash" not in X.columns[fitted.ranking_]
    with pytest.raises(MaucError, match="fitted on, but 176 of the 178 rows are among the 178"):
        fitted.explain("ash", changed, y)
    with pytest.raises(MaucError, match="with other weights"):
        fitted.explain("ash", X, y, np.arange(len(y)) + 1)
    sketched = MDFS(3, random_state=0).partial_fit(X, y)  # it does not know its rows
    assert str(sketched.explain("ash", X, y)) == expected
    with pytest.raises(MaucError, match="AUCs of feature"):
        sketched.explain("ash", X + np.arange(len(X))[:, None] * X, y)


def test_all_ties_are_said_to_serve_a_pair():
    y = np.repeat([0, 1, 2], 20)
    X = np.column_stack([y, y > 0, np.random.default_rng(0).normal(size=60)])
    selector = MAUCD(3).fit(X, y)
    assert selector.explain(0, X, y).serves == ("0 vs 1", "0 vs 2", "1 vs 2")
    assert selector.explain(1, X, y).serves == ("0 vs 1", "0 vs 2")
    assert selector.explain(2, X, y).serves == ()


def test_names_of_features_are_not_rewritten_for_two_classes():
    y = np.repeat([0, 1], 20)
    X = pd.DataFrame({"MAUC": np.arange(40) % 9 + 4 * y, "class pair": np.arange(40) % 7})
    X["mean AUC"] = X["MAUC"] + np.arange(40) % 2
    selector = MDFS(1, random_state=0).fit(X, y)
    said = {name: str(selector.explain(name, X, y)) for name in X}
    for name, text in said.items():
        assert text.startswith(f"{name} was ")
    assert "covered by MAUC (" in said["mean AUC"]
    assert "predicted AUC of" in said["mean AUC"]


def test_a_new_fit_forgets_the_old_explanations(wine):
    X, y = wine
    selector = MDFS(3, random_state=0).fit(X, y)
    selector.explain(0, X, y)
    X = X.iloc[:, :5]
    selector.fit(X, y)
    assert selector.explain(0, X, y).n_features == 5


def test_unknown_features_are_refused_with_the_nearest(wine):
    selector = MDFS(3, random_state=0).fit(*wine)
    with pytest.raises(MaucError, match="did you mean 'proline'"):
        selector.explain("prolin", *wine)
    with pytest.raises(MaucError, match=r"in \[0, 12\]"):
        selector.explain(13, *wine)


def test_names_of_arrays_are_x0_x1():
    X, y = load_breast_cancer(return_X_y=True)
    found = GreedyMAUC(3).fit(X, y).explain("x0", X, y)
    assert found.feature == "x0"
    assert "predicted AUC" in str(found)


def test_weights_of_0_are_absent(wine):
    X, y = wine
    weight = np.ones(len(y))
    weight[::5] = 0
    some = weight > 0
    weighted = MDFS(3, random_state=0).fit(X, y, sample_weight=weight)
    plain = MDFS(3, random_state=0).fit(X[some], y[some])
    assert weighted.explain("hue", X, y, weight).best_auc == pytest.approx(
        plain.explain("hue", X[some], y[some]).best_auc
    )
