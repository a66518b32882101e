"""Frames with words and categories: evaluated as classifiers that are fitted on them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

from mauc import MAUCD, mauc_score, select_k
from mauc.classifiers import CLASSIFIERS, NormalNaiveBayes, make_classifier
from mauc.data.door import FitOptions, make_problem
from mauc.evaluation import FoldEvaluator, evaluate_ranking
from mauc.evaluation.folds import make_folds
from mauc.exceptions import MaucError
from mauc.lab import evaluate_tuned_svm, tune_rbf_svm
from mauc.registry import Accepts

N = 240
RNG = np.random.default_rng(9)
Y = RNG.integers(0, 3, N)
PLACE = np.where(RNG.random(N) < 0.8, 3 * Y, 0) + RNG.integers(0, 3, N)
PLACE[-1] = 9  # a category that is not in the training part
NUMBERS = np.array([4, 0, 7, 2, 8, 5, 1, 6, 3, 9])[PLACE]
WORDS = np.array(list("eahcifbgdz"), dtype=object)[PLACE]
WORDS[[3, 170]] = None
WEAK = RNG.normal(size=N) + 0.5 * Y
TRAIN, TEST = np.arange(0, 150), np.arange(150, N)
OTHERS = np.array([3, 0, 5, 1, 4, 2])[
    np.where(RNG.random(N) < 0.5, 2 * Y, 0) + RNG.integers(0, 2, N)
]
FRAMES = {
    "pandas words": pd.DataFrame({"x": WEAK, "k": WORDS, "n": OTHERS}),
    "pandas word categories": pd.DataFrame({"x": WEAK, "k": pd.Categorical(WORDS), "n": OTHERS}),
    "pandas number categories": pd.DataFrame(
        {"x": WEAK, "k": pd.Categorical(NUMBERS), "n": OTHERS}
    ),
    "polars words": pl.DataFrame({"x": WEAK, "k": WORDS.tolist(), "n": OTHERS}),
    "polars categories": pl.DataFrame(
        {"x": WEAK, "k": WORDS.tolist(), "n": OTHERS}, schema_overrides={"k": pl.Categorical}
    ),
}
RANKING, SIZES = np.array([1, 0, 2]), [1, 2, 3]
GRID = {"C_values": [1.0, 8.0], "gamma_values": [0.1, 1.0]}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


@pytest.fixture(params=CLASSIFIERS)
def model(request):
    return make_classifier(request.param)


def rows(frame, places):
    return frame[places.tolist()] if isinstance(frame, pl.DataFrame) else frame.iloc[places]


def split(frame):
    return rows(frame, TRAIN), Y[TRAIN], rows(frame, TEST), Y[TEST]


def refits(model, data, weights=None, names=()):
    """Return the MAUC of fits on the first columns of a ranking."""
    X_train, y_train, X_test, y_test = data
    values = []
    for size in SIZES:
        columns = [X_train.columns[j] for j in RANKING[:size]]
        given = {} if weights is None else {"sample_weight": weights}
        fitted = clone(model)
        if names:
            fitted.set_params(categorical_features=[name for name in names if name in columns])
        fitted.fit(X_train[columns], y_train, **given)
        values.append(mauc_score(y_test, fitted.predict_proba(X_test[columns])))
    return values


def subclass_of(model):
    """Return a classifier whose sizes are fitted one by one."""
    return type("Subclass", (type(model),), {})(**model.get_params())


def test_a_ranking_is_evaluated_as_by_refits(model, frame):
    data = split(frame)
    wanted = refits(model, data)
    assert wanted[0] > 0.7
    assert_array_equal(evaluate_ranking(RANKING, SIZES, model, *data), wanted)
    fold = FoldEvaluator(*data)
    assert_array_equal(fold.evaluate(RANKING, SIZES, model), wanted)
    assert_array_equal(fold.evaluate(RANKING, SIZES, subclass_of(model)), wanted)


def test_columns_that_the_classifier_names_are_added(model, frame):
    data = split(frame)
    wanted = refits(model, data, names=["n"])
    assert not np.array_equal(wanted, refits(model, data))
    for own in (["n"], "n", [2], [False, False, True]):
        model.set_params(categorical_features=own)
        assert_array_equal(evaluate_ranking(RANKING, SIZES, model, *data), wanted)
    assert_array_equal(evaluate_ranking(RANKING, SIZES, subclass_of(model), *data), wanted)
    model.set_params(categorical_features=None)
    fold = FoldEvaluator(*data, categorical_features=["n"])
    assert_array_equal(fold.evaluate(RANKING, SIZES, model), wanted)


@pytest.mark.parametrize("name", ["nb", "c45"])
def test_a_category_of_weight_0_is_unseen(frame, name):
    model, data = make_classifier(name), split(frame)
    weights = np.where(PLACE[TRAIN] == 4, 0.0, 1.0)
    weights[0] = 2.0
    wanted = refits(model, data, weights)
    found = evaluate_ranking(RANKING, SIZES, model, *data, train_weight=weights)
    assert_array_equal(found, wanted)


def test_tuning(frame):
    frame = frame[["x", "k"]]
    codes = np.column_stack([WEAK, PLACE])
    codes[[value is None or value != value for value in frame["k"]], 1] = np.nan
    found = tune_rbf_svm(frame, Y, **GRID)
    wanted = tune_rbf_svm(codes, Y, categorical_features=[1], **GRID)
    assert np.abs(found.scores - wanted.scores).max() < 1e-9
    assert found.mauc > tune_rbf_svm(codes, Y, **GRID).mauc
    data = split(frame)
    scores = evaluate_tuned_svm([1, 0], [1, 2], *data, **GRID)
    tuned = scores.tunings[0].classifier()
    assert_array_equal(scores.mauc, evaluate_ranking([1, 0], [1, 2], tuned, *data))


def test_other_classifiers_get_indicators(frame):
    X_train, y_train, X_test, y_test = split(frame)
    column = np.asarray(X_train["k"], dtype=object)
    known = [value for value in column if value is not None and value == value]
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    encoder.fit(np.array(known, dtype=object)[:, np.newaxis])

    def wide(X, size):
        values = np.array(X["k"], dtype=object)[:, np.newaxis]
        others = [np.asarray(X[name], dtype=float) for name in ("x", "n")][: size - 1]
        return np.column_stack([encoder.transform(values), *others])

    model = RandomForestClassifier(5, random_state=0)
    found = evaluate_ranking(RANKING, SIZES, model, X_train, y_train, X_test, y_test)
    wanted = []
    for size in SIZES:
        fitted = clone(model).fit(wide(X_train, size), y_train)
        wanted.append(mauc_score(y_test, fitted.predict_proba(wide(X_test, size))))
    assert_array_equal(found, wanted)


@pytest.mark.parametrize("frame", ["pandas words", "polars categories"], indirect=True)
def test_a_foreign_classifier_with_categorical_features_is_told_of_them(frame):
    model = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=3)
    found = evaluate_ranking(RANKING, [1], model, *split(frame))
    X_train, y_train, X_test, y_test = split(
        FRAMES["pandas words"].assign(k=pd.Categorical(np.asarray(frame["k"], dtype=object)))
    )
    fitted = clone(model).fit(X_train[["k"]], y_train)
    assert found[0] == pytest.approx(mauc_score(y_test, fitted.predict_proba(X_test[["k"]])))


def folds_of(frame, n_folds):
    accepts = Accepts(nominal=True)
    yield from make_folds(make_problem(frame, Y, FitOptions(accepts)), n_folds, 0)


def test_select_k_gives_other_classifiers_indicators():
    frame = FRAMES["pandas number categories"][["x", "k"]]
    model = LogisticRegression(max_iter=5000)
    curve = select_k(MAUCD(), frame, Y, sizes=[1], classifier=model, cv=3)
    for fold, (train, test) in enumerate(folds_of(frame, 3)):
        assert MAUCD(1).fit(frame.iloc[train], Y[train]).ranking_[0] == 1
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        X = encoder.fit(frame.iloc[train][["k"]]).transform(frame[["k"]])
        fitted = clone(model).fit(X[train], Y[train])
        wanted = mauc_score(Y[test], fitted.predict_proba(X[test]))
        assert curve.fold_mauc[fold, 0] == pytest.approx(wanted)


@pytest.mark.parametrize("own", [["n"], [2], [False, False, True]])
@pytest.mark.parametrize(
    "X",
    [FRAMES["pandas words"], FRAMES["polars words"], FRAMES["pandas words"].assign(k=0.0)],
    ids=["pandas", "polars", "numbers"],
)
def test_select_k_keeps_the_categorical_features_of_the_classifier(own, X):
    model = NormalNaiveBayes(categorical_features=own)
    curve = select_k(MAUCD(), X, Y, classifier=model, sizes=SIZES, cv=3)
    if isinstance(X, pl.DataFrame):  # a missing word is a category
        X = X.with_columns(k=pl.col("k").fill_null("zz"))
    elif X["k"].dtype != float:
        X = X.fillna({"k": "zz"})
    for fold, (train, test) in enumerate(folds_of(X, 3)):
        ranking = MAUCD("all").fit(rows(X, train), Y[train]).ranking_
        for place, size in enumerate(SIZES):
            chosen = [X.columns[j] for j in ranking[:size]]
            named = ["n"] if "n" in chosen else None
            fitted = NormalNaiveBayes(categorical_features=named)
            fitted.fit(rows(X, train)[chosen], Y[train])
            scores = fitted.predict_log_proba(rows(X, test)[chosen])
            assert curve.fold_mauc[fold, place] == mauc_score(Y[test], scores)
    assert model.categorical_features == own


def test_tables_without_categories_are_refused(model):
    X_train, y_train, X_test, y_test = split(FRAMES["pandas words"])
    numbers = sparse.csr_array(np.ones((len(y_test), 3)))
    fitted = model.fit(X_train, y_train)
    for wrong in (numbers, sparse.csr_matrix(numbers)):
        with pytest.raises(MaucError, match="must be a data frame or an array of two dimensions"):
            fitted.predict(wrong)
        with pytest.raises(MaucError, match="must be a data frame or an array of two dimensions"):
            FoldEvaluator(X_train, y_train, wrong, y_test)
    with pytest.raises(MaucError, match="must have the 3 columns of X_train, got 2"):
        FoldEvaluator(X_train, y_train, X_test[["x", "k"]], y_test)
    with pytest.raises(MaucError, match="must have the 3 columns of X_train, got 2"):
        FoldEvaluator(X_train, y_train, X_test.to_numpy()[:, :2], y_test)
    with pytest.raises(MaucError, match="must be a data frame or an array of two dimensions"):
        FoldEvaluator(X_train, y_train, X_test["k"], y_test)
