"""Adapters of other selectors: a full ranking, the same every time, the signal first."""

import inspect

import numpy as np
import pytest

from mauc import mauc_score
from reproduction.beyond import rivals
from reproduction.beyond.rivals import LightGBM, Rival, StandardizedLogistic, TimeLimitError

NEEDS = {
    "MrmrSelection": "mrmr", "MultiSURF": "skrebate", "LightGBMGain": "lightgbm",
    "LightGBMShap": "lightgbm", "Boruta": "boruta",
}  # fmt: skip
RIVALS = sorted(
    (
        value
        for value in vars(rivals).values()
        if inspect.isclass(value) and issubclass(value, Rival) and value is not Rival
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
    assert set(first.ranking_[:2]) == {3, 5}
    # Runs rank it by its scores.
    np.testing.assert_array_equal(np.argsort(-first.scores_), first.ranking_)
    assert list(np.flatnonzero(first.get_support())) == [3, 5]


def test_a_wrapper_leaves_the_rest_unranked(problem):
    X, y = problem
    fitted = rivals.ForwardLDA(max_features=3).fit(X, y)
    assert len(fitted.ranking_) == 3
    # Runs do not rank what has minus infinity.
    np.testing.assert_array_equal(np.argsort(-fitted.scores_)[:3], fitted.ranking_)
    assert np.isneginf(fitted.scores_).sum() == 9


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


def test_the_time_of_multisurf_has_a_linear_and_a_quadratic_part():
    seconds = [2 * n + 3 * n**2 for n in (100, 400, 1600)]
    assert rivals.extrapolated((100, 400), seconds[:2], 1600) == pytest.approx(seconds[2])
    assert rivals.extrapolated((100, 400), [1.0, 2.0], 1600) == pytest.approx(8)


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


@pytest.mark.parametrize("model", [StandardizedLogistic(), LightGBM(n_estimators=5)])
def test_classifiers_score_the_classes(model, problem):
    if isinstance(model, LightGBM):
        pytest.importorskip("lightgbm")
    X, y = problem
    model.fit(X, y)
    assert list(model.classes_) == ["a", "b", "c"]
    assert mauc_score(y, model.predict_proba(X)) > 0.95
    assert set(model.predict(X)) == {"a", "b", "c"}
