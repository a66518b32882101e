"""What scikit-learn asks of every rival filter: checks, frames, pickles, pipelines."""

import inspect
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from mauc import (
    FSDD,
    MRMR,
    ChiSquare,
    ReliefF,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
)

RIVALS = {
    "FSDD": FSDD(),
    "CHI": ChiSquare(),
    "SU": SymmetricalUncertainty(),
    "SCHI": SpreadFx(),
    "SSU": SpreadFx(relevance="su"),
    "ReliefF": ReliefF(),
    "ReliefF log": ReliefF(n_iterations="log", random_state=0),
    "mRMR": MRMR(),
    "mRMR MDL": MRMR(binning="mdl"),
    "mRMR MIQ": MRMR(criterion="quotient", binning="equal_frequency"),
    "pairs SU": SubproblemSelector(relevance="su", schedule="round_robin"),
}


@pytest.fixture(params=RIVALS)
def selector(request):
    """Every rival in turn, unfitted."""
    return clone(RIVALS[request.param])


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, np.array(["barolo", "grignolino", "barbera"])[y]


def assert_same_fit(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.support_, other.support_)
    assert_array_equal(one.scores_, other.scores_)
    assert_array_equal(one.pair_auc_, other.pair_auc_)
    assert list(one.trace_) == list(other.trace_)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
def test_scikit_learn_checks_pass_and_none_is_skipped(selector):
    if isinstance(selector, SubproblemSelector):
        # `fit` has weights, which this relevance refuses; scikit-learn expects both or neither
        selector.set_params(relevance="fsdd")
    results = check_estimator(selector, on_skip=None)
    status = {result["check_name"]: result["status"] for result in results}
    assert {name: state for name, state in status.items() if state != "passed"} == {}
    assert "check_readonly_memmap_input" in status
    assert ("check_estimator_sparse_array" in status) or not get_tags(selector).input_tags.sparse


def test_tags_tell_the_truth(selector):
    tags = get_tags(selector)
    assert tags.input_tags.sparse == (not isinstance(selector, ReliefF))
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical == (not isinstance(selector, FSDD))
    assert tags.target_tags.required


@pytest.mark.parametrize("name", RIVALS)
def test_weights_only_where_they_mean_something(name):
    takes = "sample_weight" in inspect.signature(RIVALS[name].fit).parameters
    assert takes == (name in ("FSDD", "pairs SU"))


def test_learned_attributes_agree(selector, wine):
    X, y = wine
    selector.set_params(n_features_to_select=6).fit(X, y)
    assert selector.n_features_in_ == 13
    assert selector.classes_.tolist() == ["barbera", "barolo", "grignolino"]
    assert_array_equal(selector.feature_names_in_, X.columns)
    assert_array_equal(np.flatnonzero(selector.support_), np.sort(selector.ranking_))
    assert_array_equal(selector.support_, selector.get_support())
    assert selector.scores_.shape == (13,)
    assert selector.pair_auc_.shape == (6, 3)
    assert ((selector.pair_auc_ >= 0.5) & (selector.pair_auc_ <= 1)).all()
    assert len(selector.subproblem_names_) == selector.decomposition_.n_subproblems
    assert len(selector.trace_) == 6
    for step, feature in zip(selector.trace_, selector.ranking_, strict=True):
        assert step.feature == feature
        assert step.feature_name == X.columns[feature]
        assert step.subproblem_name == selector.subproblem_names_[step.subproblem]
        assert 1 <= step.rank <= 6


def test_rankings_are_nested(selector, rng):
    y = rng.integers(0, 4, 70)
    X = (rng.normal(size=(70, 30)) + rng.normal(size=(4, 30))[y]).round(1)
    rankings = {
        k: clone(selector).set_params(n_features_to_select=k).fit(X, y).ranking_
        for k in (1, 10, 20, "all")
    }
    assert_array_equal(rankings[10][:1], rankings[1])
    assert_array_equal(rankings[20][:10], rankings[10])
    assert_array_equal(rankings["all"][:20], rankings[20])
    assert sorted(rankings["all"]) == list(range(30))


def test_frames_in_and_out(selector, wine):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = wine
    plain = clone(selector).fit(X.to_numpy(), y)
    selector.set_output(transform="pandas").fit(X, pd.Series(y))
    chosen = selector.transform(X)
    pd.testing.assert_frame_equal(chosen, X.loc[:, selector.support_])
    assert list(chosen.columns) == list(selector.get_feature_names_out())
    assert_array_equal(selector.ranking_, plain.ranking_)
    assert_array_equal(selector.scores_, plain.scores_)
    X = pl.DataFrame({name: X[name].to_numpy() for name in X})
    selector = clone(selector).set_output(transform="polars").fit(X, pl.Series(y.tolist()))
    chosen = selector.transform(X)
    assert chosen.equals(X[:, np.flatnonzero(selector.support_).tolist()])
    assert chosen.columns == list(selector.get_feature_names_out())
    assert_array_equal(selector.ranking_, plain.ranking_)


def test_names_without_a_frame(selector, wine):
    X, y = wine
    selector.fit(X.to_numpy(), y)
    names = [f"x{j}" for j in np.flatnonzero(selector.support_)]
    assert list(selector.get_feature_names_out()) == names
    assert list(selector.get_feature_names_out(X.columns)) == list(X.columns[selector.support_])
    assert {step.feature_name for step in selector.trace_} == set(names)


def test_clone_and_pickle(selector, wine):
    fitted = clone(selector).fit(*wine)
    assert_same_fit(pickle.loads(pickle.dumps(fitted)), fitted)
    again = clone(fitted)
    assert not hasattr(again, "ranking_")
    assert again.get_params() == selector.get_params()
    assert_same_fit(again.fit(*wine), fitted)


def test_fit_leaves_the_data_alone(selector, wine):
    X, y = wine[0].to_numpy(), wine[1].copy()
    before = X.copy(), y.copy()
    selector.fit(X, y).transform(X)
    assert_array_equal(X, before[0])
    assert_array_equal(y, before[1])


def test_pipeline_and_grid_search(selector, wine):
    X, y = wine
    pipeline = make_pipeline(selector, GaussianNB()).fit(X, y)
    alone = clone(selector).fit(X, y)
    wanted = GaussianNB().fit(alone.transform(X), y).predict_proba(alone.transform(X))
    assert_array_equal(pipeline.predict_proba(X), wanted)
    assert_array_equal(pipeline[:-1].get_feature_names_out(), alone.get_feature_names_out())
    step = type(selector).__name__.lower()
    search = GridSearchCV(pipeline, {f"{step}__n_features_to_select": [1, 5]}, cv=2).fit(X, y)
    assert search.best_params_ == {f"{step}__n_features_to_select": 5}


def test_two_classes(selector, wine):
    X, y = wine
    selector.fit(X, y == "barolo")
    assert selector.pair_auc_.shape == (6, 1)
    assert selector.classes_.tolist() == [False, True]
