"""What holds for every selector: scikit-learn's checks, frames, pipelines, weights, sparse data."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

import mauc.selectors
from mauc import MAUCD, MDFS, SubproblemSelector
from mauc.metrics.scorer import MAUCScorer

SELECTORS = {
    "MDFS": MDFS(random_state=0),
    "MDFS hardest": MDFS(schedule="hardest", ties="mauc"),
    "MAUCD": MAUCD(),
    "one-vs-rest in turn": SubproblemSelector(decomposition="one-vs-rest", schedule="round_robin"),
    "pairs by share": SubproblemSelector(schedule="rand_robin", random_state=0),
    "whole": SubproblemSelector(decomposition="whole", random_state=0),
}


@pytest.fixture(params=SELECTORS)
def selector(request):
    """Every selector in turn, unfitted."""
    return clone(SELECTORS[request.param])


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


NAMED = {name: kind() for name, kind in vars(mauc.selectors).items() if isinstance(kind, type)}


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@pytest.mark.parametrize("name", {**NAMED, **SELECTORS})
def test_scikit_learn_checks_pass_and_none_is_skipped(name):
    # check_array_api_input is skipped unless SCIPY_ARRAY_API=1, which conftest.py sets.
    results = check_estimator({**NAMED, **SELECTORS}[name], on_skip=None)
    status = {result["check_name"]: result["status"] for result in results}
    assert {name: state for name, state in status.items() if state != "passed"} == {}
    assert "check_array_api_input" in status


def test_tags_tell_the_truth(selector):
    tags = get_tags(selector)
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan
    assert tags.target_tags.required


@pytest.mark.parametrize(
    ("wanted", "n_selected"),
    [(1, 1), (5, 5), (13, 13), (np.int64(4), 4), ("all", 13), (0.5, 6), (1.0, 13), (0.001, 1)],
)
def test_n_features_to_select(selector, wine, wanted, n_selected):
    selector.set_params(n_features_to_select=wanted).fit(*wine)
    assert len(selector.ranking_) == len(set(selector.ranking_)) == n_selected
    assert selector.support_.sum() == n_selected
    assert selector.transform(wine[0]).shape == (178, n_selected)
    assert selector.n_features_to_select is wanted  # fit leaves the parameters alone


def test_learned_attributes_agree(selector, wine):
    X, y = wine
    selector.set_params(n_features_to_select=6).fit(X, y)
    assert selector.n_features_in_ == 13
    assert selector.classes_.tolist() == ["barbera", "barolo", "grignolino"]
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
        assert 0.5 <= step.score <= 1


def test_rankings_are_nested(selector, rng):
    X, y = rng.normal(size=(60, 40)).round(1), rng.integers(0, 5, 60)
    rankings = {
        k: clone(selector).set_params(n_features_to_select=k).fit(X, y).ranking_
        for k in (1, 10, 30, "all")
    }
    assert_array_equal(rankings[30][:10], rankings[10])
    assert_array_equal(rankings["all"][:30], rankings[30])
    assert_array_equal(rankings[10][:1], rankings[1])
    assert sorted(rankings["all"]) == list(range(40))


def test_agnostic_to_threads(selector, rng):
    X, y = rng.normal(size=(80, 150)).round(2), rng.integers(0, 4, 80)
    one = clone(selector).set_params(n_jobs=1).fit(X, y)
    for n_jobs in (2, -1):
        assert_same_fit(clone(selector).set_params(n_jobs=n_jobs).fit(X, y), one)


def test_pandas_in_and_out(selector, wine):
    pd = pytest.importorskip("pandas")
    X, y = wine
    X = X.set_axis(np.arange(len(X)) + 1000)
    selector.set_output(transform="pandas").fit(X, pd.Series(y, index=X.index))
    chosen = selector.transform(X)
    assert isinstance(chosen, pd.DataFrame)
    assert list(chosen.columns) == list(selector.get_feature_names_out())
    assert list(chosen.columns) == list(X.columns[selector.support_])
    assert chosen.index.equals(X.index)
    assert_array_equal(selector.feature_names_in_, X.columns)
    pd.testing.assert_frame_equal(chosen, X.loc[:, selector.support_])


def test_polars_in_and_out(selector, wine):
    pl = pytest.importorskip("polars")
    X, y = (
        pl.DataFrame({name: wine[0][name].to_numpy() for name in wine[0]}),
        pl.Series(wine[1].tolist()),
    )
    selector.set_output(transform="polars").fit(X, y)
    chosen = selector.transform(X)
    assert isinstance(chosen, pl.DataFrame)
    assert chosen.columns == list(selector.get_feature_names_out())
    assert chosen.equals(X[:, np.flatnonzero(selector.support_).tolist()])
    assert_same_fit(selector, clone(selector).fit(*wine))


def test_frames_of_mixed_types_equal_their_array(selector, rng):
    pd = pytest.importorskip("pandas")
    X = rng.integers(0, 2, (50, 5))
    y = rng.integers(0, 3, 50)
    types = ("int8", "float32", "bool", "Int64", "float64")
    frame = pd.DataFrame({f"x{j}": pd.Series(X[:, j]).astype(t) for j, t in enumerate(types)})
    assert_same_fit(clone(selector).fit(frame, y), clone(selector).fit(X.astype(float), y))
    frame.loc[3, "x3"] = pd.NA
    X = X.astype(float)
    X[3, 3] = np.nan
    assert_same_fit(clone(selector).fit(frame, y), clone(selector).fit(X, y))


def test_names_without_a_frame(selector, wine):
    X, y = wine
    selector.fit(X.to_numpy(), y)
    names = [f"x{j}" for j in np.flatnonzero(selector.support_)]
    assert list(selector.get_feature_names_out()) == names
    assert list(selector.get_feature_names_out(X.columns)) == list(X.columns[selector.support_])
    assert {step.feature_name for step in selector.trace_} == set(names)


@pytest.mark.parametrize(
    "dtype", ["str", "object", "category", "ordered", "int", "float", "string"]
)
def test_labels_of_any_type(selector, wine, dtype):
    pd = pytest.importorskip("pandas")
    X, names = wine
    codes = np.unique(names, return_inverse=True)[1]
    y = {
        "str": names,
        "object": names.astype(object),
        "category": pd.Series(names).astype("category"),
        "ordered": pd.Series(pd.Categorical(names, ["barolo", "grignolino", "barbera"], True)),
        "int": codes * 7 - 3,
        "float": codes.astype(float),
        "string": pd.Series(names, dtype="string"),
    }[dtype]
    selector.fit(X, y)
    assert_array_equal(selector.classes_, np.unique(np.asarray(y)))
    assert_array_equal(selector.ranking_, clone(selector).fit(X, codes).ranking_)


def test_two_classes(selector, wine):
    X, y = wine
    selector.fit(X, y == "barolo")
    assert selector.pair_auc_.shape == (6, 1)
    assert selector.classes_.tolist() == [False, True]


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


def test_pipeline(selector, wine):
    X, y = wine
    pipeline = make_pipeline(selector, GaussianNB()).fit(X, y)
    alone = clone(selector).fit(X, y)
    wanted = GaussianNB().fit(alone.transform(X), y).predict_proba(alone.transform(X))
    assert_array_equal(pipeline.predict_proba(X), wanted)
    assert_array_equal(pipeline[:-1].get_feature_names_out(), alone.get_feature_names_out())


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_equals_dense(selector, rng, make):
    X = np.where(rng.random((90, 25)) < 0.7, 0, rng.integers(-3, 9, (90, 25))).astype(float)
    y = rng.integers(0, 4, 90)
    dense, stored = clone(selector).fit(X, y), clone(selector).fit(make(X), y)
    assert_same_fit(stored, dense)
    chosen = stored.transform(make(X))
    assert sparse.issparse(chosen)
    assert_array_equal(chosen.toarray(), dense.transform(X))


def test_missing_values_pass(selector, rng):
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 3, 60)
    X[rng.random(X.shape) < 0.2] = np.nan
    X[0, 0], X[1, 1] = np.inf, -np.inf
    chosen = selector.fit(X, y).transform(X)
    assert_array_equal(chosen, X[:, selector.support_])


def test_unit_weights_change_nothing(selector, wine):
    X, y = wine
    weighted = clone(selector).fit(X, y, sample_weight=np.full(len(y), 1.0))
    assert_same_fit(weighted, clone(selector).fit(X, y))


def test_weights_stand_for_repeated_rows(selector, rng):
    X, y = rng.normal(size=(50, 12)), rng.integers(0, 3, 50)
    w = rng.integers(1, 4, 50) * np.where(y == 0, 5, 1)
    weighted = clone(selector).fit(X, y, sample_weight=w)
    repeated = clone(selector).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_same_fit(weighted, repeated)


class TestRouting:
    """Sample weights by metadata routing, alone, in a pipeline and in cross-validation."""

    @pytest.fixture(autouse=True)
    def routing(self):
        with config_context(enable_metadata_routing=True):
            yield

    @pytest.fixture
    def weights(self, wine):
        return np.random.default_rng(3).random(len(wine[1])) ** 4

    def test_weights_reach_the_selector_of_a_pipeline(self, selector, wine, weights):
        X, y = wine
        alone = clone(selector).fit(X, y, sample_weight=weights)
        assert not np.array_equal(alone.scores_, clone(selector).fit(X, y).scores_)
        pipeline = make_pipeline(
            selector.set_fit_request(sample_weight=True),
            GaussianNB().set_fit_request(sample_weight=False),
        )
        pipeline.fit(X, y, sample_weight=weights)
        assert_same_fit(pipeline[0], alone)

    def test_weights_stay_out_unless_requested(self, selector, wine, weights):
        X, y = wine
        pipeline = make_pipeline(
            selector.set_fit_request(sample_weight=False),
            GaussianNB().set_fit_request(sample_weight=True),
        )
        pipeline.fit(X, y, sample_weight=weights)
        assert_same_fit(pipeline[0], clone(selector).fit(X, y))

    def test_weights_reach_every_fold(self, selector, wine, weights):
        X, y = wine
        X = X.to_numpy()
        pipeline = make_pipeline(
            selector.set_fit_request(sample_weight=True),
            GaussianNB().set_fit_request(sample_weight=True),
        )
        scorer = MAUCScorer().set_score_request(sample_weight=True)
        folds = KFold(3, shuffle=True, random_state=0)
        results = cross_validate(
            pipeline, X, y, cv=folds, scoring=scorer, params={"sample_weight": weights},
            return_estimator=True,
        )  # fmt: skip
        for fold, (train, test) in enumerate(folds.split(X)):
            alone = clone(selector).fit(X[train], y[train], sample_weight=weights[train])
            fitted = results["estimator"][fold]
            assert_same_fit(fitted[0], alone)
            score = scorer(fitted, X[test], y[test], sample_weight=weights[test])
            assert results["test_score"][fold] == score
