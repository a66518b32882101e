"""The predicted MAUC: refits as oracles, cases by hand, awkward inputs."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from mauc import GreedyMAUC, mauc_score
from mauc.data.door import make_problem
from mauc.exceptions import SmallClassWarning
from mauc.measure import effects as effects_module
from mauc.measure import nominal_scores
from mauc.measure.effects import Candidates, measure
from mauc.measure.nominal_scores import NominalColumn, further_axes
from mauc.search import prediction as module
from mauc.search.greedy import SearchOptions, search_candidates
from mauc.search.prediction import (
    Prediction,
    count_sizes,
    evaluated_sizes,
    lucky_shares,
)


def shifted_data(rng, n=90, m=6, c=3):
    y = rng.permutation(np.arange(n) % c)
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m)) + y[:, None] * rng.normal(size=m)
    return X, y


def ranked(X, y, shrinkage, k):
    """Return the prediction, the ranking, the scores and the labels as these are sorted."""
    problem = make_problem(np.asfortranarray(X), y)
    effects, scores = measure(problem)
    state, found = search_candidates(Candidates(effects, scores), k, SearchOptions(shrinkage))
    labels = np.repeat(np.arange(len(scores.class_counts)), scores.class_counts)
    return Prediction(state.leave(), found.n_steps), found.ranking, scores, labels


def smoothed_mauc(log_odds, labels):
    """Count wins of both scores of each pair of classes, with half a win of one pair added."""
    found = []
    for i in np.unique(labels):
        for j in np.setdiff1d(labels, i):
            a, b = log_odds[labels == i, i], log_odds[labels == j, i]
            wins = (a[:, None] > b).sum() + 0.5 * (a[:, None] == b).sum()
            found.append((wins + 0.5) / (len(a) * len(b) + 1))
    return np.mean(found)


def refitted_log_odds(Z, labels, shrinkage):
    """Return log odds of linear discriminants, one refitted for each sample that is left out."""
    n, classes = len(Z), np.unique(labels)
    nu = n - len(classes)

    def scatter(Z, labels):
        deviations = Z - np.array([Z[labels == k].mean(axis=0) for k in classes])[labels]
        return deviations.T @ deviations

    fixed = shrinkage * np.diag(np.diag(scatter(Z, labels)))
    log_odds = np.empty((n, len(classes)))
    for i in range(n):
        others = np.arange(n) != i
        S = ((1 - shrinkage) * scatter(Z[others], labels[others]) + fixed) / (nu - 1)
        logs = []
        for k in classes:
            v = Z[i] - Z[others][labels[others] == k].mean(axis=0)
            logs.append(np.log(np.mean(labels == k)) - 0.5 * v @ np.linalg.solve(S, v))
        for k in classes:
            log_odds[i, k] = logs[k] - np.logaddexp.reduce(np.delete(logs, k))
    return log_odds


@pytest.mark.parametrize("shrinkage", [0.0, 0.3])
@pytest.mark.parametrize("c", [2, 4])
def test_equals_refits_without_each_sample(rng, monkeypatch, shrinkage, c):
    monkeypatch.setattr(module, "lucky_shares", lambda chosen, z: np.zeros_like(chosen))
    X, y = shifted_data(rng, n=60, c=c)
    prediction, ranking, scores, labels = ranked(X, y, shrinkage, 5)
    found = prediction.mauc
    for k in (1, 2, 5):
        Z = scores.scores[ranking[:k]].T.astype(float)
        if len(np.unique(Z, axis=0)) == len(Z):
            wanted = smoothed_mauc(refitted_log_odds(Z, labels, shrinkage), labels)
            assert_allclose(found[k - 1], max(wanted, 0.5), rtol=1e-12)


def nominal_leftover(rng, weights=None):
    """Return what is left of a search in three nominal columns and a number, and the labels."""
    y = np.sort(rng.integers(0, 4, 200))
    X = (y[:, np.newaxis] + rng.integers(0, [2, 3, 4], (200, 3))) % 5
    X = np.column_stack([X, y + rng.normal(size=200)])
    selector = GreedyMAUC(categorical_features=[0, 1, 2])
    problem = make_problem(X, y, selector.fit_options, weights)
    state, _ = search_candidates(Candidates(*measure(problem)), 4, SearchOptions(0.3))
    return state.leave(), y


def confirmed(left, share):
    """Return the same with nominal columns whose effects are confirmed to that part."""
    return left._replace(nominal=[known and NominalColumn(share) for known in left.nominal])


def test_nominal_columns_equal_refits_on_all_their_axes(rng, monkeypatch):
    monkeypatch.setattr(module, "lucky_shares", lambda chosen, z: np.zeros_like(chosen))
    left, labels = nominal_leftover(rng)
    left = confirmed(left, 1.0)
    whole, _, stops = module._add_axes(left, [1, 2, 3, 4])
    assert stops[-1] > 4 + 3  # each of the nominal columns has further ones
    found = module.predict_sizes(left, [4])
    Z = whole.rows.T.astype(float)
    log_odds = refitted_log_odds(Z, labels, 0.3)
    assert_allclose(found, [smoothed_mauc(log_odds, labels)], rtol=1e-12)


def test_weights_of_nominal_columns_are_copies_of_the_rows(rng):
    # A leave-pair-out AUC is the exception: its shares are set.
    left, _ = nominal_leftover(rng)
    copies = confirmed(left, 0.8)._replace(
        rows=np.repeat(left.rows, 2, axis=1),
        weights=np.ones(400),
        class_counts=2 * left.class_counts,
        class_weights=2 * left.class_weights,
        other_sums=2 * left.other_sums,
        other_scales=left.other_scales / np.sqrt(2),
    )
    heavy = confirmed(left, 0.8)._replace(
        weights=np.full(200, 2.0),
        class_weights=2 * left.class_weights,
        other_sums=2 * left.other_sums,
        other_scales=left.other_scales / np.sqrt(2),
    )
    sizes = [1, 2, 3, 4]
    assert_allclose(
        module.predict_sizes(heavy, sizes), module.predict_sizes(copies, sizes), rtol=1e-9
    )


def test_log_odds_far_apart_are_right():
    logs = np.array([[0.0, -1.0, -3.0], [0.0, -650.0, -2000.0], [-5.0, -5.0, -5.0]])
    found = np.empty((3, 3))
    module.leave_out(
        -2 * logs,
        np.zeros((3, 3)),
        np.zeros(3),
        np.zeros(3, np.int32),
        np.ones(3),
        np.ones(3),
        np.zeros(3),
        0.0,
        10**9,
        np.empty(3),
        np.empty(3),
        found,
    )
    for i, row in enumerate(logs):
        wanted = [row[g] - np.logaddexp.reduce(np.delete(row, g)) for g in range(3)]
        assert_allclose(found[:, i], wanted, rtol=1e-6, atol=1e-6)


class TestByHand:
    """Numbers that can be counted."""

    def test_a_perfect_feature_does_not_promise_one(self):
        # All 3 x 3 pairs are won: (9 + 1/2) / (9 + 1).
        X, y = np.array([[1.0, 2, 3, 101, 102, 103]]).T, [0, 0, 0, 1, 1, 1]
        assert_allclose(GreedyMAUC(1).fit(X, y).predicted_mauc_, [0.95], rtol=1e-14)

    def test_ties_stay_ties(self):
        # 30 x 30 pairs: 20 x 20 won, 10 x 10 lost, 400 tied, whoever is left out; luck taken off.
        X = np.repeat([[0.0], [1.0], [0.0], [1.0]], [20, 10, 10, 20], axis=0)
        y = np.repeat([0, 1], 30)
        found = GreedyMAUC(1).fit(X, y).predicted_mauc_
        assert 0.6 < found < (400 + 200 + 0.5) / 901

    def test_one_sample_per_class_tells_nothing(self):
        with pytest.warns(SmallClassWarning):
            selector = GreedyMAUC("all").fit(np.arange(6.0).reshape(2, 3), [0, 1])
        assert_array_equal(selector.predicted_mauc_, 0.5)

    def test_sizes(self):
        assert evaluated_sizes(30) == [*range(1, 21), 22, 24, 26, 28, 30]
        assert evaluated_sizes(1) == [1]


def test_between_two_sizes_the_last_holds(rng):
    X, y = shifted_data(rng, m=40)
    found = GreedyMAUC("all").fit(X, y).predicted_mauc_
    sizes = evaluated_sizes(40)
    for size, following in zip(sizes, [*sizes[1:], 41], strict=True):
        assert (found[size - 1 : following - 1] == found[size - 1]).all()
    assert len(np.unique(found)) > 2


def uncorrected(X, y, k):
    """Return the mean of Phi(D_p / sqrt(2)): what the model predicts of its own estimates."""
    return ndtr(np.sqrt(GreedyMAUC(k).fit(X, y).separations_ / 2)).mean()


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_much_noise_is_seen_to_be_noise(seed):
    X, y = np.random.default_rng(seed).normal(size=(60, 3000)), np.arange(60) % 3
    assert uncorrected(X, y, 10) > 0.93
    assert GreedyMAUC(10).fit(X, y).predicted_mauc_.max() < 0.68


@pytest.mark.parametrize("shape", [(100, 10), (200, 60)])
def test_noise_is_predicted_to_tell_nothing(shape):
    y = np.arange(shape[0]) % 2
    draws = (np.random.default_rng(seed).normal(size=shape) for seed in range(12))
    found = [GreedyMAUC("predicted").fit(X, y).predicted_mauc_[-1] for X in draws]
    assert np.mean(found) < 0.52


@pytest.mark.parametrize(("n_classes", "n_categories"), [(4, 5), (3, 12)])
def test_nominal_noise_is_predicted_to_tell_nothing(n_classes, n_categories):
    y = np.arange(240) % n_classes
    draws = (np.random.default_rng(seed).integers(0, n_categories, (240, 20)) for seed in range(8))
    selector = GreedyMAUC("predicted", categorical_features=np.ones(20, bool))
    assert np.mean([selector.fit(X, y).predicted_mauc_[-1] for X in draws]) < 0.52


def one_hot_truth(X, y, X_new, y_new):
    """Return the MAUC, on other samples, of a linear discriminant of indicators."""
    columns = [(column, np.unique(column)) for column in X.T]
    Z = np.hstack([column[:, np.newaxis] == values for column, values in columns])
    pairs = zip(X_new.T, columns, strict=True)
    Z_new = np.hstack([column[:, np.newaxis] == values for column, (_, values) in pairs])
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1).fit(Z, y)
    return mauc_score(y_new, model.predict_log_proba(Z_new))


def test_prediction_sees_all_axes_of_nominal_features():
    # Categories tell classes in a circle: of no order of them that one score could have.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 4600)
    X = (y[:, np.newaxis] + rng.integers(0, [2, 3, 4], (4600, 3))) % 5
    selector = GreedyMAUC("all", categorical_features=[0, 1, 2]).fit(X[:600], y[:600])
    for k in (1, 2, 3):
        S = selector.ranking_[:k]
        true = one_hot_truth(X[:600, S], y[:600], X[600:, S], y[600:])
        assert abs(selector.predicted_mauc_[k - 1] - true) < 0.02


def test_weak_nominal_features_do_not_lower_the_prediction():
    # Twelve of five categories each, all of which tell a little: each adds something.
    errors = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 5000)
        X = rng.integers(0, 5, (5000, 12))
        X = np.where(rng.random((5000, 12)) < 0.12, 2 * y[:, np.newaxis], X)
        selector = GreedyMAUC("all", categorical_features=np.ones(12, bool))
        found = selector.fit(X[:1000], y[:1000]).predicted_mauc_
        assert np.diff(found).min() > -0.01  # the standard error is 0.014
        errors.append(found[-1] - one_hot_truth(X[:1000], y[:1000], X[1000:], y[1000:]))
    assert abs(np.mean(errors)) < 0.02


def test_prediction_holds_on_other_samples():
    # Twelve of 400 features tell something; of the first ten chosen, about half do.
    errors = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        shifts = np.zeros((3, 400))
        shifts[:, :12] = rng.normal(size=(3, 12)) * 0.7
        y, y_new = np.arange(90) % 3, np.arange(3000) % 3
        X = rng.normal(size=(90, 400)) + shifts[y]
        selector = GreedyMAUC(10).fit(X, y)
        S = selector.ranking_
        X_new = rng.normal(size=(3000, 10)) + shifts[:, S][y_new]
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=selector.shrinkage_)
        true = mauc_score(y_new, model.fit(X[:, S], y).predict_proba(X_new))
        errors.append([selector.predicted_mauc_[-1] - true, uncorrected(X, y, 10) - true])
    after, before = np.mean(errors, axis=0)
    assert abs(after) < 0.015
    assert before > 0.015


def test_prediction_holds_on_digits():
    X, y = load_digits(return_X_y=True)
    half = GreedyMAUC("predicted").fit(X[::2], y[::2])
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=half.shrinkage_)
    model.fit(half.transform(X[::2]), y[::2])
    measured = mauc_score(y[1::2], model.predict_proba(half.transform(X[1::2])))
    assert abs(half.predicted_mauc_[-1] - measured) < 0.005


@pytest.mark.parametrize("c", [2, 3])
def test_rare_classes_and_features_constant_in_each_class(rng, c):
    y = np.array([0] * 20 + [1] * 20 + [2])[: 20 * c + 1 if c == 3 else 40]
    X = np.column_stack([y, rng.normal(size=(len(y), 3)), y == 1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallClassWarning)
        found = GreedyMAUC("all").fit(X, y).predicted_mauc_
    assert np.isfinite(found).all()
    assert (found >= 0.5).all()
    assert (found < 1).all()
    if c == 2:
        assert_allclose(found[0], (400 + 0.5) / 401, rtol=2e-4)


def test_only_the_first_512_features_are_looked_at(rng):
    X, y = rng.normal(size=(30, 600)), np.arange(30) % 2
    selector = GreedyMAUC("all").fit(X, y)
    assert (selector.predicted_mauc_[512:] == selector.predicted_mauc_[511]).all()


def test_nothing_is_computed_before_it_is_asked_for(rng, monkeypatch):
    X, y = shifted_data(rng, n=300, c=3)
    monkeypatch.setattr(module, "leave_out", None)
    selector = GreedyMAUC(4).fit(X, y)
    monkeypatch.undo()
    kept = pickle.loads(pickle.dumps(selector))
    wanted = selector.predicted_mauc_
    assert wanted[-1] > 0.5
    assert_array_equal(kept.predicted_mauc_, wanted)
    assert_array_equal(selector.trace_.to_frame()["predicted_mauc"], wanted)


def test_the_expected_truth_is_that_of_the_chosen(rng):
    # One feature in ten tells something; the 50 largest of 5000 are looked at.
    true = np.where(rng.random(5000) < 0.1, rng.normal(size=5000) * 3, 0.0)
    z = true + rng.normal(size=5000)
    largest = np.argsort(np.abs(z))[-50:]
    kept = 1 - lucky_shares(z[largest], count_sizes(z))
    assert_allclose((kept * z[largest] ** 2).sum(), (true * z)[largest].sum(), rtol=0.1)


@pytest.mark.parametrize("z", [[0.0], [1e6], [0.0, 1e300, -5.0], [3.0] * 7])
def test_shares_are_shares(z):
    shares = lucky_shares(np.array(z), count_sizes(np.array(z)))
    assert ((shares >= 0) & (shares <= 1)).all()


def awkward_table():
    """Six features of which one tells by its spread, one has ties and two are nominal."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    X = pd.DataFrame(rng.normal(size=(240, 6)) + 0.6 * np.eye(3, 6)[y], columns=list("abcdef"))
    X["b"] *= 1 + 3 * (y == 2)
    X["c"] = X["c"].round()
    X["d"] = pd.Categorical(np.array(list("uvwx"))[(y + rng.integers(0, 3, 240)) % 4])
    X["e"] = X["d"].cat.rename_categories(dict(zip("uvwx", "UVWX", strict=True)))
    X["g"] = 1.0
    return X, y, rng.integers(1, 4, 240) / 2


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("pair_weight", [None, {(1, 2): 30}])
def test_a_set_is_predicted_whatever_its_order(is_weighted, pair_weight):
    X, y, weights = awkward_table()
    weights = weights if is_weighted else None

    def fit(size, **wishes):
        return GreedyMAUC(size, pair_weight=pair_weight, **wishes).fit(X, y, sample_weight=weights)

    plain = fit(5)
    assert "b" in X.columns[plain.folded_features_]
    for order in ([4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [0, 1, 2, 3, 4]):
        kept = fit(5, keep=plain.ranking_[order].tolist())
        assert kept.ranking_.tolist() == plain.ranking_[order].tolist()
        assert kept.predicted_mauc_[-1] == plain.predicted_mauc_[-1]
    for feature in plain.ranking_:
        one = fit(5, keep=[int(feature)])
        if set(one.ranking_) == set(plain.ranking_):
            assert one.predicted_mauc_[-1] == plain.predicted_mauc_[-1]
    assert_array_equal(kept.predicted_mauc_, plain.predicted_mauc_)  # in its own order, so far
    # A constant feature adds nothing, costs and groups change the order alone.
    assert fit(6, keep=["g", *plain.ranking_]).predicted_mauc_[-1] == plain.predicted_mauc_[-1]
    others = [at for at in range(7) if at not in plain.ranking_]
    dear = fit(5, exclude=others, feature_costs=np.arange(7.0) + 1)
    pair = fit(5, exclude=others, feature_groups=[plain.ranking_[[1, 4]].tolist()])
    assert dear.predicted_mauc_[-1] == pair.predicted_mauc_[-1] == plain.predicted_mauc_[-1]


def test_sets_of_many_features_are_predicted_whatever_their_order(monkeypatch):
    monkeypatch.setattr(effects_module, "_MIN_CLASS_COUNT", 10**6)  # one column per feature
    X, y = load_digits(return_X_y=True)

    def fit(size, **wishes):
        return GreedyMAUC(size, **wishes).fit(X, y)

    plain = fit(27)
    kept = fit(27, keep=plain.ranking_.tolist())
    assert_array_equal(kept.predicted_mauc_, plain.predicted_mauc_)
    backwards = fit(27, keep=plain.ranking_[::-1].tolist())
    found = pickle.loads(pickle.dumps(backwards)).predicted_mauc_
    assert found[-1] == plain.predicted_mauc_[-1]
    # MAUC is predicted for 24 and 26 features; the value of 24 stands for 25, too.
    assert found[23] == found[24] != found[22]
    fewer = fit(24, keep=backwards.ranking_[:24].tolist())
    assert_array_equal(found[:24], fewer.predicted_mauc_)


@pytest.mark.parametrize("blank", [None, "blank"])
def test_words_of_one_class_predict_as_a_flag_does(blank):
    # Two words at random for the rarest class: their scores vary in it alone.
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], (284, 128, 35))
    X = pd.DataFrame(generator.normal(size=(447, 4)) + 0.8 * y[:, np.newaxis] ** [0, 1, 0.5, 1])
    X.columns = list("abcd")
    words = np.where(y == 2, np.where(generator.random(447) < 0.5, "ringed", "released"), blank)
    flag, word = (
        GreedyMAUC(5).fit(X.assign(w=w), y) for w in ((y == 2).astype(float), pd.Categorical(words))
    )
    plain = GreedyMAUC(4).fit(X, y)
    assert_array_equal(word.ranking_, flag.ranking_)
    assert_allclose(word.predicted_mauc_, flag.predicted_mauc_, atol=0.01)
    assert word.predicted_mauc_[-1] > plain.predicted_mauc_[-1]


def test_axes_of_a_nominal_column_are_computed_once(monkeypatch):
    X, y, _ = awkward_table()
    columns = []

    def counted(scores, *args):
        columns.append(scores.tobytes())
        return further_axes(scores, *args)

    monkeypatch.setattr(nominal_scores, "further_axes", counted)
    selector = GreedyMAUC(None, feature_costs=dict.fromkeys(X.columns, 1), budget=3).fit(X, y)
    assert selector.predicted_mauc_[-1] > 0.5
    assert len(columns) == 2  # of many sets with one of the two nominal columns, or with both
