"""Adapters of other selectors: a full ranking, the same every time, the signal first."""

import inspect

import numpy as np
import pytest

from mauc import mauc_score
from reproduction.beyond import rivals
from reproduction.beyond.rivals import LightGBM, Rival, TimeLimitError

NEEDS = {
    "MrmrSelection": "mrmr",
    "LightGBMGain": "lightgbm",
    "Boruta": "boruta",
    "XGBoostGain": "xgboost",
    "CatBoostGain": "catboost",
    "Abess": "abess",
    "CMIM": "skfeature",
    "DISR": "skfeature",
    "FeatureEngineMRMR": "feature_engine",
}
#: the first ranks by the smallest subset that has a column, the second by sums over the chosen
UNORDERED = {"FeatureEngineMRMR", "DISR"}
RIVALS = sorted(
    (
        value
        for value in vars(rivals).values()
        if inspect.isclass(value) and issubclass(value, Rival) and not value.__subclasses__()
    ),
    key=lambda rival: rival.__name__,
)


@pytest.fixture(scope="module")
def problem():
    """Three classes; columns 3 and 5 tell them apart, column 7 is constant."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.standard_normal((60, 12))
    X[:, 3] += 4 * (y == 1)
    X[:, 5] += 4 * (y == 2)
    X[:, 7] = 1.0
    return X.astype(np.float32), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("rival", RIVALS, ids=lambda rival: rival.__name__)
@pytest.mark.filterwarnings("ignore")
def test_a_rival_ranks_the_signal_first_and_repeats_itself(rival, problem, monkeypatch):
    if rival.__name__ in NEEDS:
        pytest.importorskip(NEEDS[rival.__name__])
    monkeypatch.setattr(rivals, "N_TREES", 50)
    monkeypatch.setattr(rivals, "N_ROUNDS", 10)
    X, y = problem
    first, again = (rival(2, random_state=3).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.ranking_, again.ranking_)
    assert sorted(first.ranking_) == list(range(12))
    assert {3, 5} <= set(first.ranking_[: 5 if rival.__name__ in UNORDERED else 2])
    # Runs rank it by its scores.
    np.testing.assert_array_equal(np.argsort(-first.scores_), first.ranking_)
    chosen = np.sort(first.ranking_[:2])
    assert list(np.flatnonzero(first.get_support())) == list(chosen)


@pytest.mark.filterwarnings("ignore")
def test_mrmr_with_functions_of_all_columns_is_that_of_the_package(problem):
    mrmr = pytest.importorskip("mrmr")
    pd = pytest.importorskip("pandas")
    X, y = problem
    X = X.astype(float)
    X[:, 8] = X[:, 3] + 0.1 * X[:, 0]
    expected = mrmr.mrmr_classif(pd.DataFrame(X), pd.Series(y), K=8, show_progress=False, n_jobs=1)
    assert list(rivals.MrmrSelection(8).fit(X, y).ranking_[:8]) == list(expected)


def test_what_takes_too_long_is_stopped_and_says_so(problem):
    class Endless(Rival):
        def _order(self, X, y):
            while True:
                pass

    with pytest.raises(TimeLimitError, match=r"not finished within 0\.05 s of processor time"):
        Endless(time_limit=0.05).fit(*problem)
    with pytest.raises(TimeLimitError, match="would take more than 60 s"):
        rivals.check_expected(100, 60)
    with rivals.limited(10):
        rivals.check_expected(61, 60)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["LightGBMGain", "XGBoostGain", "CatBoostGain"])
def test_boosted_trees_take_codes_of_words_as_categories(name):
    pytest.importorskip(NEEDS[name])
    # Four words in an order that no threshold follows: a split on categories tells the classes.
    rng = np.random.default_rng(0)
    words = rng.integers(0, 8, 400)
    y = (words % 2 == 0).astype(int)
    X = np.column_stack([y + 0.9 * rng.normal(size=400), words])
    as_words = getattr(rivals, name)().fit(X, y, np.array([False, True]))
    assert list(as_words.ranking_) == [1, 0]


def test_ties_go_by_f_statistic_then_by_column():
    y = np.array([0, 0, 1, 1])
    X = np.array([[0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1.5, 1]], float)
    np.testing.assert_array_equal(rivals.by_scores(np.zeros(3), X, y), [1, 0, 2])
    np.testing.assert_array_equal(rivals.by_scores(np.array([0, 0, 1.0]), X, y), [2, 1, 0])


def test_some_rows_keep_two_of_each_class():
    y = np.repeat([0, 1, 2], [90, 8, 2])
    rows = rivals.some_rows(y, 10, 0)
    assert list(np.bincount(y[rows])) == [9, 2, 2]
    np.testing.assert_array_equal(rivals.some_rows(y, 200, 0), np.arange(100))


def test_boosted_trees_score_the_classes(problem):
    pytest.importorskip("lightgbm")
    X, y = problem
    model = LightGBM(n_estimators=5).fit(X, y)
    assert list(model.classes_) == ["a", "b", "c"]
    assert mauc_score(y, model.predict_proba(X)) > 0.95
    assert set(model.predict(X)) == {"a", "b", "c"}
