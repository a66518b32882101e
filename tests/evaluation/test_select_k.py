"""The choice of the number of features."""

import sys

import matplotlib as mpl
import matplotlib.pyplot
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.neighbors import KNeighborsClassifier

from mauc import FCBF, FSDD, MAUCD, MDFS, MRMR, ChiSquare, SizeCurve, mauc_score, select_k
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.classifiers.likelihood import nested_log_probabilities
from mauc.data.door import FitOptions, make_problem
from mauc.evaluation.folds import make_folds
from mauc.evaluation.select_k import auto_sizes
from mauc.exceptions import MaucError, UndefinedMAUCError
from mauc.lab import C45
from mauc.plotting import SizeCurveDisplay
from mauc.registry import Accepts


@pytest.fixture(scope="module", autouse=True)
def small_forests():
    """Grow few trees: here it matters who judges, not how well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mauc.evaluation.judges.N_TREES", 8)
        yield


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def of_judge(curve, judge):
    """Return the curve of one of the classifiers."""
    return next(one for one in (curve, *curve.others) if one.judge == judge)


def test_the_smallest_size_within_one_standard_error_by_hand():
    # Means 0.80, 0.88, 0.90; the best has values 0.88, 0.92: standard error 0.02.
    curve = SizeCurve(np.array([1, 5, 9]), np.array([[0.8, 0.88, 0.88], [0.8, 0.88, 0.92]]))
    assert curve.best_size == 9
    assert curve.standard_error[2] == pytest.approx(0.02)
    assert curve.threshold == pytest.approx(0.88)
    assert curve.size == 5
    assert SizeCurve(curve.sizes, curve.fold_mauc, "best").size == 9


def test_near_one_a_tolerance_stands_for_the_standard_error():
    curve = SizeCurve(np.array([1, 9]), np.array([[0.9992, 1.0], [0.9992, 1.0]]))
    assert curve.size == 1
    assert curve.summary.startswith("1 feature: MAUC 0.9992")
    assert SizeCurve(curve.sizes, curve.fold_mauc, tolerance=0.0).size == 9


def test_equal_means_go_by_size():
    assert SizeCurve(np.array([2, 3]), np.array([[0.9, 0.9], [0.9, 0.9]])).best_size == 2


def test_a_best_size_at_the_edge_is_said():
    rising, falling = np.array([[0.8, 0.9], [0.8, 0.9]]), np.array([[0.9, 0.8], [0.9, 0.8]])
    more = SizeCurve(np.array([5, 9]), rising, n_features=20)
    assert "largest size tried (9 of 20 features): try larger" in more.edge_note
    assert str(more).splitlines()[1] == more.edge_note
    assert "all 9 features" in SizeCurve(more.sizes, rising, n_features=9).edge_note
    assert "smallest size tried (5): try smaller" in SizeCurve(more.sizes, falling).edge_note
    assert SizeCurve(np.array([1, 9]), falling).edge_note == ""  # none is smaller than 1
    assert SizeCurve(np.array([9]), rising[:, :1]).edge_note == ""  # a point, no curve


@pytest.mark.parametrize("classifier", [NormalNaiveBayes(), NearestNeighbor()])
def test_every_value_is_that_of_a_pipeline_fitted_on_the_fold(wine, classifier):
    X, y = wine
    curve = select_k(
        MAUCD(),
        X,
        y,
        sizes=[2, 5],
        classifier=classifier,
        response_method="predict_proba",
        cv=3,
    )
    for place, (train, test) in enumerate(
        make_folds(make_problem(X, y, FitOptions(Accepts())), 3, 0)
    ):
        for column, size in enumerate((2, 5)):
            chosen = MAUCD(size).fit(X[train], y[train]).ranking_
            model = clone(classifier).fit(X[train][:, chosen], y[train])
            value = mauc_score(y[test], model.predict_proba(X[test][:, chosen]))
            assert_allclose(curve.fold_mauc[place, column], value, atol=1e-12)


@pytest.mark.parametrize("selector", [MDFS, MAUCD, MRMR, FSDD, ChiSquare])
def test_auto_is_the_size_of_the_curve(wine, selector):
    X, y = wine
    fitted = selector("auto").fit(X, y)
    assert len(fitted.ranking_) == fitted.size_curve_.size == fitted.transform(X).shape[1]
    if "random_state" not in fitted.get_params():
        assert_array_equal(fitted.ranking_, selector(fitted.size_curve_.size).fit(X, y).ranking_)


def test_most_of_the_noise_is_left_out(rng):
    y = np.repeat([0, 1, 2], 20)
    signal = 3 * np.eye(3)[y] + rng.normal(size=(60, 3))
    X = np.column_stack([rng.normal(size=(60, 60)), signal])
    chosen = set(MAUCD("auto").fit(X, y).ranking_.tolist())
    assert chosen >= {60, 61, 62}
    assert len(chosen) <= 10


def test_it_repeats_itself_and_ignores_threads():
    X, y = load_digits(return_X_y=True)
    curves = [select_k(MAUCD(), X[:500], y[:500], n_jobs=n_jobs) for n_jobs in (1, 2, 1)]
    for curve in curves[1:]:
        assert_array_equal(curve.fold_mauc, curves[0].fold_mauc)


def test_sparse_weighted_and_nominal_input(wine):
    X, y = wine
    dense = MAUCD("auto").fit(X, y, sample_weight=np.ones(len(y)))
    assert_array_equal(MAUCD("auto").fit(sparse.csr_array(X), y).ranking_, dense.ranking_)
    frame = pd.DataFrame(X[:, :3], columns=list("abc"))
    frame["d"] = pd.Categorical(np.where(y == 0, "u", "v"))
    assert "d" in ChiSquare("auto").fit(frame, y).get_feature_names_out()


def test_a_class_of_one_sample_is_never_tested_on(wine):
    X, y = wine
    y = np.where(np.arange(len(y)) == 0, 9, y)
    with pytest.warns(UserWarning, match="single sample"):
        assert 1 <= len(MAUCD("auto").fit(X, y).ranking_) <= 13


def test_too_few_samples_of_any_kind_are_an_error():
    with (
        pytest.warns(UserWarning, match="single sample"),
        pytest.raises(UndefinedMAUCError, match="at least 2 classes of 2 samples"),
    ):
        MAUCD("auto").fit([[1.0], [2.0], [3.0]], [0, 1, 1])


def test_sizes_grow_from_one_to_all():
    assert auto_sizes(3).tolist() == [1, 2, 3]
    sizes = auto_sizes(5000)
    assert (sizes[0], sizes[-1]) == (1, 100)
    assert len(sizes) < 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "magic"}, "rule must be one of"),
        ({"cv": 1}, "cv must be an int of at least 2"),
        ({"sizes": [0, 3]}, r"sizes must be in \[1, 13\]"),
        ({"tolerance": -1}, "tolerance must be a number >= 0"),
        ({"sizes": [1.5]}, "sizes must be whole numbers"),
    ],
)
def test_bad_options_are_named(wine, options, message):
    with pytest.raises(MaucError, match=message):
        select_k(MAUCD(), *wine, **options)


def test_the_display_holds_the_numbers_and_draws_the_choice(wine):
    mpl.use("agg")
    curve = select_k(MAUCD(), *wine)
    display = curve.plot()
    assert isinstance(display, SizeCurveDisplay)
    assert_array_equal(display.to_frame()["mauc"], curve.mean)
    legend = [text.get_text() for text in display.ax_.get_legend().texts]
    assert any(text.endswith(f"chosen: {curve.size}") for text in legend)
    assert display.ax_.get_xlabel() == "number of features"
    mpl.pyplot.close(display.figure_)


def test_the_products_are_the_densities_one_by_one(rng):
    X, y = rng.normal(size=(40, 3)) * [1, 50, 0.1] + [0, 1e6, -3], np.arange(40) % 3
    X[rng.random(X.shape) < 0.1] = np.nan
    train, test = np.arange(0, 40, 2), np.arange(1, 40, 2)
    found = nested_log_probabilities(X[train], y[train], X[test], 3, [1, 3], np.ones(len(train)))
    scores = [score.copy() for score in found]
    for size, got in zip((1, 3), scores, strict=True):
        for row, values in enumerate(X[test, :size]):
            joint = np.empty(3)
            for label in range(3):
                total = np.log((y[train] == label).mean())
                for feature, value in enumerate(values):
                    column = X[train, feature]
                    column = (column - np.nanmean(column)) / np.nanstd(column)
                    z = (value - np.nanmean(X[train, feature])) / np.nanstd(X[train, feature])
                    own = column[y[train] == label]
                    deviation = max(np.nanstd(own), 0.05)
                    if not np.isnan(z):
                        total -= (z - np.nanmean(own)) ** 2 / (2 * deviation**2)
                        total -= np.log(deviation)
                joint[label] = total
            assert_allclose(got[row], joint - np.log(np.exp(joint).sum()), atol=1e-9)


def test_integers_and_infinite_values_are_taken(wine):
    X, y = wine
    whole = (10 * X).astype(np.int32)
    assert len(MAUCD("auto").fit(whole, y).ranking_) >= 1
    X = X.copy()
    X[::7, 0] = np.inf
    assert len(MAUCD("auto").fit(X, y).ranking_) >= 1


def test_a_selector_that_ranks_fewer_features_ends_the_curve(wine):
    X, y = wine
    assert len(FCBF("all", max_rounds=1).fit(X, y).ranking_) < 13
    assert select_k(FCBF(max_rounds=1), X, y).sizes[-1] < 13
    assert len(FCBF("auto", max_rounds=1).fit(X, y).ranking_) >= 1


@pytest.fixture(scope="module")
def junk(wine):
    """Wine, and 200 rows of noise of weight 0 with random labels."""
    X, y = wine
    rng = np.random.default_rng(0)
    noise = X.mean(axis=0) + 20 * X.std(axis=0) * rng.normal(size=(200, 13))
    weights = np.repeat([1.0, 0.0], [178, 200])
    return np.vstack((X, noise)), np.concatenate((y, rng.integers(0, 3, 200))), weights


def test_rows_of_weight_zero_change_nothing(junk):
    X, y, weights = junk
    clean = MAUCD("auto").fit(X[weights > 0], y[weights > 0])
    spoilt = MAUCD("auto").fit(X, y)  # what the junk would do
    assert str(clean.size_curve_).startswith("7 features: MAUC 0.9996")
    assert spoilt.size_curve_.mean.max() < 0.9
    weighted = MAUCD("auto").fit(X, y, sample_weight=weights)
    assert_array_equal(weighted.size_curve_.fold_mauc, clean.size_curve_.fold_mauc)
    assert_array_equal(weighted.ranking_, clean.ranking_)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(13)])
    for table in (frame, sparse.csc_array(X), X.tolist()):
        curve = select_k(MAUCD(), table, y.tolist(), sample_weight=weights)
        assert_array_equal(curve.fold_mauc, clean.size_curve_.fold_mauc)


@pytest.mark.parametrize("classifier", [None, NormalNaiveBayes(), C45(), NearestNeighbor()])
@pytest.mark.parametrize("selector", [MAUCD(), MRMR(), FSDD()])
def test_weights_of_zero_are_dropped_for_every_method(junk, selector, classifier):
    X, y, weights = junk
    kept = weights > 0
    options = {"classifier": classifier, "sizes": [2, 5]}
    clean = select_k(selector, X[kept], y[kept], **options)
    assert_array_equal(
        select_k(selector, X, y, sample_weight=weights, **options).fold_mauc, clean.fold_mauc
    )


def test_weights_reach_naive_bayes_and_mauc(wine, rng):
    # A whole weight is a row repeated; in one fold the repetitions are all on the same side.
    X, y = wine
    weights = rng.integers(1, 4, len(y))
    curve, plain = (
        of_judge(select_k(MAUCD(), X, y, sizes=[3, 6], cv=4, **given), "Naive Bayes")
        for given in ({"sample_weight": weights}, {})
    )
    assert not np.allclose(curve.fold_mauc, plain.fold_mauc, atol=1e-6)
    problem = make_problem(X, y, FitOptions(Accepts()))
    for place, (train, test) in enumerate(make_folds(problem, 4, 0)):
        train, test = (np.repeat(rows, weights[rows]) for rows in (train, test))
        ranking = MAUCD(6).fit(X[train], y[train]).ranking_
        columns = X[:, ranking]
        ones = np.ones(len(train))
        scores = nested_log_probabilities(columns[train], y[train], columns[test], 3, [3, 6], ones)
        expected = [mauc_score(y[test], score) for score in scores]
        assert_allclose(curve.fold_mauc[place], expected, atol=1e-9)


@pytest.mark.parametrize("factor", [1e200, 1e-200, 1e-320])
def test_the_unit_of_weights_does_not_matter(wine, factor):
    X, y = wine
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    one, two = (
        select_k(MAUCD(), X, y, sample_weight=unit * weights).fold_mauc for unit in (1.0, factor)
    )
    assert_allclose(one, two, atol=1e-12 if factor > 1e-300 else 1e-3)


def test_unequal_weights_need_methods_that_take_them(wine):
    X, y = wine
    weights = np.arange(len(y)) % 3.0
    with pytest.raises(MaucError, match=r"KNeighborsClassifier takes no sample weights.* 1 to 2"):
        select_k(MAUCD(), X, y, sample_weight=weights, classifier=KNeighborsClassifier())
    model, equal = KNeighborsClassifier(), 3.0 * (weights > 0)
    found = select_k(MAUCD(), X, y, sample_weight=equal, classifier=model, sizes=[2])
    wanted = select_k(MAUCD(), X[weights > 0], y[weights > 0], classifier=model, sizes=[2])
    assert_allclose(found.fold_mauc, wanted.fold_mauc)


def test_wrong_weights_are_named(wine):
    X, y = wine
    with pytest.raises(MaucError, match="every class a positive total, got 0 for class 1"):
        select_k(MAUCD(), X, y, sample_weight=np.where(y == 1, 0.0, 1.0))
    with pytest.raises(MaucError, match=r"sample_weight\.shape"):
        select_k(MAUCD(), X, y, sample_weight=[1.0])


def test_folds_count_rows_of_positive_weight(wine):
    # One row of class 0 has weight: it is never tested on, and two classes are left.
    X, y = wine
    weights = np.where((y > 0) | (np.arange(len(y)) == 0), 1.0, 0.0)
    with pytest.warns(UserWarning, match="single sample"):
        curve = select_k(MAUCD(), X, y, sample_weight=weights, sizes=[3])
    assert len(curve.fold_mauc) == 5
    few = np.isin(np.arange(len(y)), [0, 60, 175, 176]) * 1.0
    with (
        pytest.warns(UserWarning, match="single sample"),
        pytest.raises(UndefinedMAUCError, match="at least 2 classes of 2 samples"),
    ):
        select_k(MAUCD(), X, y, sample_weight=few)


def test_the_best_of_the_panel_names_the_size(rng):
    # Sums modulo 2 of two features: Naive Bayes and a line see nothing, neighbours and trees do.
    X = rng.integers(0, 2, (400, 2)) + 0.1 * rng.normal(size=(400, 2))
    y = (X > 0.5).sum(axis=1) % 2
    curve = select_k(MAUCD(), np.column_stack([X, rng.normal(size=400)]), y, sizes=[1, 2, 3])
    assert curve.leader.mean.max() > 0.99
    assert of_judge(curve, "Naive Bayes").mean.max() < 0.6
    assert curve.judge in curve.summary
    assert curve.mean[curve.sizes == curve.size][0] >= curve.threshold


def test_the_honest_mean_of_noise_is_one_half():
    found, best = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        curve = select_k(MAUCD(), rng.normal(size=(60, 8)), np.arange(60) % 2, sizes=[1, 2, 4, 8])
        found.append(curve.honest_mauc)
        best.append(curve.mean.max())
    assert abs(np.mean(found) - 0.5) < 0.05
    assert np.mean(best) > np.mean(found) + 0.05


def test_the_honest_mean_by_hand():
    # Without the last fold size 1 is the best, and has 0.6 on it; without another one size 2. On
    # the folds that chose they have 0.9, 0.8 and 0.8: half of the difference is taken off.
    values = np.array([[0.9, 0.8], [0.9, 0.8], [0.6, 0.8]])
    assert SizeCurve(np.array([1, 2]), values).honest_mauc == pytest.approx(
        (0.8 + 0.8 + 0.6) / 3 - 0.1 / 2
    )
    assert np.isnan(SizeCurve(np.array([1, 2]), values[:2]).honest_mauc)


def test_many_rows_are_judged_in_part(monkeypatch, rng):
    y = np.repeat([0, 1, 2], [900, 80, 20])
    X = rng.normal(size=(1000, 4)) + y[:, np.newaxis] * [1.0, 0.5, 0.0, 0.0]
    whole = select_k(MAUCD(), X, y, sizes=[1, 2])
    monkeypatch.setattr(sys.modules["mauc.evaluation.select_k"], "MAX_ROWS", 500)
    part = select_k(MAUCD(), X, y, sizes=[1, 2])
    assert not np.array_equal(part.leader.mean, whole.leader.mean)
    assert part.leader.mean.max() == pytest.approx(whole.leader.mean.max(), abs=0.05)
