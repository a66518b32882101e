"""The contract of all estimators: each law once, for every selector, classifier and discretiser."""

import inspect
import pickle
from itertools import pairwise

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from mauc import FCBF, JMI, MDFS, MRMR, GreedyMAUC, MDLDiscretizer, ReliefF, SubproblemSelector
from mauc import registry as methods
from mauc.classifiers import C45, RBFSVM, NearestNeighbor
from mauc.data import columns as block_width_module
from mauc.metrics.scorer import MAUCScorer
from mauc.selectors import arco as arco_module
from mauc.selectors.information import binned as binned_module
from mauc.selectors.information import fcbf as fcbf_module
from mauc.selectors.relieff import relieff as relieff_module


def with_seed(estimator):
    """Return an estimator whose draws, if there are any, are alike in every fit."""
    has_seed = "random_state" in estimator.get_params()
    if "n_resamples" in estimator.get_params():
        estimator.set_params(n_resamples=4)
    return estimator.set_params(random_state=0) if has_seed else estimator


SELECTORS = {name: with_seed(entry()) for name, entry in methods.SELECTORS.items()} | {
    "mdfs hardest": MDFS(schedule="hardest", ties="mauc"),
    "mrmr mdl": MRMR(binning="mdl"),
    "mrmr width": MRMR(binning="equal_width"),
    "mrmr frequency": MRMR(binning="equal_frequency", n_bins=4),
    "mrmr quotient": MRMR(criterion="quotient", binning="equal_frequency"),
    "relieff log": ReliefF(n_iterations="log", random_state=0),
    "jmi mdl": JMI(binning="mdl"),
    "fcbf frequency": FCBF(binning="equal_frequency", threshold=0.01),
    "pairs by share": SubproblemSelector(schedule="rand_robin", random_state=0),
    "pairs su": SubproblemSelector(relevance="su", schedule="round_robin"),
    "pairs ig": SubproblemSelector(relevance="ig", schedule="round_robin"),
    "pairs fsdd": SubproblemSelector(relevance="fsdd", schedule="round_robin"),
    "pairs fast": SubproblemSelector(relevance="fast", schedule="round_robin"),
    "rest in turn": SubproblemSelector(decomposition="one-vs-rest", schedule="round_robin"),
    "rest anova": SubproblemSelector(
        relevance="anova", decomposition="one-vs-rest", schedule="round_robin"
    ),
    "whole": SubproblemSelector(decomposition="whole", random_state=0),
}
OTHERS = {name: entry() for name, entry in methods.CLASSIFIERS.items()} | {
    "1nn smooth": NearestNeighbor(smooth=True),
    "svm at once": RBFSVM(precompute=False),
    "c45 unpruned": C45(prune=False, min_samples_leaf=1),
    "c45 without raising": C45(subtree_raising=False),
    "discretizer": MDLDiscretizer(),
}
ESTIMATORS = SELECTORS | OTHERS
IS_ARRAY_API_CHECKED = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)
WEIGHTED = [name for name, selector in SELECTORS.items() if selector.accepts.weights]
# Those that rank by AUC: it is counted, so a weight of 3 and three rows agree to the bit.
COUNTED = [name for name in WEIGHTED if SELECTORS[name].accepts.infinite]
SPARSE = [name for name, selector in SELECTORS.items() if selector.accepts.sparse]


def names_in(names):
    """Parametrise a test by the selectors of these names, unfitted."""
    return pytest.mark.parametrize("selector", names, indirect=True)


@pytest.fixture(params=SELECTORS)
def selector(request):
    """Every selector in turn, unfitted."""
    return clone(SELECTORS[request.param])


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, np.array(["barolo", "grignolino", "barbera"])[y]


@pytest.fixture
def many(rng):
    """Four classes, 30 columns with ties and gaps, two constant ones and a copy."""
    y = rng.integers(0, 4, 90)
    X = (rng.normal(size=(90, 30)) + rng.normal(size=(4, 30))[y]).round(1)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[:, 3], X[:, 17], X[:, 20] = 2.5, 0.0, X[:, 9]
    return X, y


@pytest.fixture
def integers(rng):
    """Small integers, which every type holds, of four classes."""
    y = rng.integers(0, 4, 90)
    return rng.integers(0, 30, (90, 12)) + rng.integers(0, 12, (4, 12))[y], y


def fit_all(selector, X, y, **options):
    """Fit a copy that ranks all features."""
    return clone(selector).set_params(n_features_to_select="all", **options).fit(X, y)


def assert_same_fit(one, other):
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.support_, other.support_)
    assert_array_equal(one.scores_, other.scores_)
    assert_array_equal(one.pair_auc_, other.pair_auc_)
    assert list(one.trace_) == list(other.trace_)


def takes_weights(estimator):
    return "sample_weight" in inspect.signature(estimator.fit).parameters


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_scikit_learn_checks_pass_and_none_is_skipped(name):
    estimator = clone(ESTIMATORS[name])
    if name in SELECTORS and takes_weights(estimator) != (name in WEIGHTED):
        pytest.skip("fit has weights, which this relevance refuses: scikit-learn knows no such")
    # Since scikit-learn 1.9 check_array_api_input is for all, and skipped unless
    # SCIPY_ARRAY_API=1, which conftest.py sets.
    results = check_estimator(estimator, on_skip=None)
    status = {result["check_name"]: result["status"] for result in results}
    assert {check: state for check, state in status.items() if state != "passed"} == {}
    assert "check_readonly_memmap_input" in status
    assert ("check_array_api_input" in status) == IS_ARRAY_API_CHECKED
    assert ("check_estimator_sparse_array" in status) or not get_tags(estimator).input_tags.sparse


@pytest.mark.parametrize("name", [*SELECTORS, "discretizer"])
def test_tags_tell_the_truth(name):
    tags = get_tags(ESTIMATORS[name])
    accepts = getattr(ESTIMATORS[name], "accepts", methods.Accepts(sparse=True))
    assert tags.input_tags.sparse == accepts.sparse
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical == accepts.nominal
    assert tags.target_tags.required
    # The same, written down by hand for every family.
    families = ("mrmr", "jmi", "fcbf", "relieff", "chi", "su", "schi", "ssu", "ig")
    is_binned = name.split()[0] in families or name in ("pairs su", "pairs ig")
    by_auc = (
        "mdfs", "maucd", "greedy", "subproblem", "rest in", "whole", "pairs by", "consensus"
    )  # fmt: skip
    assert accepts.sparse == (not name.startswith("relieff"))
    assert accepts.nominal == (is_binned or name.startswith(by_auc))


def test_weights_only_where_they_mean_something(selector):
    can_be_weighted = isinstance(selector, SubproblemSelector) or selector.accepts.weights
    assert takes_weights(selector) == can_be_weighted


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
        assert 1 <= step.rank <= (13 if isinstance(selector, GreedyMAUC) else 6)


@names_in(COUNTED)
def test_scores_of_auc_are_folded(selector, wine):
    for step in selector.set_params(n_features_to_select=6).fit(*wine).trace_:
        assert 0.5 <= step.score <= 1


@pytest.mark.filterwarnings("ignore::mauc.exceptions.ConstantInputWarning")
def test_rankings_are_nested(selector, many):
    rankings = [
        clone(selector).set_params(n_features_to_select=k).fit(*many).ranking_
        for k in (1, 7, 20, "all")
    ]
    for short, long in pairwise(rankings):
        assert_array_equal(short, long[: len(short)])
    assert sorted(rankings[-1]) == list(range(30))


@pytest.mark.filterwarnings("ignore::mauc.exceptions.ConstantInputWarning")
def test_agnostic_to_threads_and_blocks(selector, many, monkeypatch):
    wanted = fit_all(selector, *many, n_jobs=1)
    for module in (binned_module, arco_module, fcbf_module):
        monkeypatch.setattr(module, "BLOCK_WORK", 1)
    monkeypatch.setattr(relieff_module, "PANEL_QUERIES", 7)
    for constant, size in (
        ("_BLOCK_BYTES", 1),
        ("_BLOCK_BYTES", 4 * 90 * 9),
        ("_BLOCK_SCORES", 11),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(block_width_module, constant, size)
            for n_jobs in (1, 2, 3, -1):
                assert_same_fit(fit_all(selector, *many, n_jobs=n_jobs), wanted)


@pytest.mark.parametrize(
    "dtype", ["bool", "u1", "i2", "u2", "i4", "i8", "u8", "f2", "f4", "f8", ">f8"]
)
def test_agnostic_to_type(selector, integers, dtype):
    X, y = integers
    X = X % 2 if dtype == "bool" else X
    wanted = fit_all(selector, X.astype(np.float64), y)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        assert_same_fit(fit_all(selector, layout(X.astype(dtype)), y), wanted)


def test_agnostic_to_layout(selector, integers):
    X, y = integers
    X = np.ascontiguousarray(X / 4.0)
    wanted = fit_all(selector, X, y)
    wide = np.zeros((180, 36))
    wide[::2, ::3] = X
    read_only = X.copy()
    read_only.flags.writeable = False
    for layout in (np.asfortranarray(X), wide[::2, ::3], read_only, X[::-1][::-1], X.tolist()):
        assert_same_fit(fit_all(selector, layout, y), wanted)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.ConstantInputWarning")
@names_in(SPARSE)
@pytest.mark.parametrize(
    "make", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix,
             sparse.csc_matrix]
)  # fmt: skip
def test_sparse_equals_dense(selector, rng, make):
    y = rng.integers(0, 4, 90)
    X = np.where(rng.random((90, 25)) < 0.7, 0.0, rng.integers(-3, 9, (90, 25)) + y[:, np.newaxis])
    X[5, 5], X[:, 6], X[:, 7] = np.nan, 0.0, 1.5
    assert_same_fit(fit_all(selector, make(X), y), fit_all(selector, X, y))
    selector.set_params(n_features_to_select=20)
    dense, stored = clone(selector).fit(X, y), clone(selector).fit(make(X), y)
    assert_same_fit(stored, dense)
    chosen = stored.transform(make(X))
    assert sparse.issparse(chosen)
    assert_array_equal(chosen.toarray(), dense.transform(X))


@names_in(SPARSE)
def test_sparse_is_not_densified_as_a_whole(selector, rng, monkeypatch):
    X = sparse.csc_array(np.where(rng.random((60, 600)) < 0.05, rng.random((60, 600)), 0))
    widths = []
    to_array = sparse.csc_array.toarray
    monkeypatch.setattr(
        sparse.csc_array, "toarray", lambda self: widths.append(self.shape[1]) or to_array(self)
    )
    selector.set_params(n_features_to_select=5).fit(X, np.arange(60) % 3)
    assert max(widths, default=0) <= 256


def test_pandas_in_and_out(selector, wine):
    pd = pytest.importorskip("pandas")
    X, y = wine
    X = X.set_axis(np.arange(len(X)) + 1000)
    selector.set_output(transform="pandas").fit(X, pd.Series(y, index=X.index))
    chosen = selector.transform(X)
    assert isinstance(chosen, pd.DataFrame)
    assert list(chosen.columns) == list(selector.get_feature_names_out())
    assert chosen.index.equals(X.index)
    pd.testing.assert_frame_equal(chosen, X.loc[:, selector.support_])
    plain = clone(selector).fit(X.to_numpy(), y)
    assert_array_equal(selector.ranking_, plain.ranking_)
    assert_array_equal(selector.scores_, plain.scores_)


def test_polars_in_and_out(selector, wine):
    pl = pytest.importorskip("polars")
    X = pl.DataFrame({name: wine[0][name].to_numpy() for name in wine[0]})
    selector.set_output(transform="polars").fit(X, pl.Series(wine[1].tolist()))
    chosen = selector.transform(X)
    assert isinstance(chosen, pl.DataFrame)
    assert chosen.columns == list(selector.get_feature_names_out())
    assert chosen.equals(X[:, np.flatnonzero(selector.support_).tolist()])
    assert_same_fit(selector, clone(selector).fit(*wine))


def test_frames_of_mixed_types_equal_their_array(selector, rng):
    pd = pytest.importorskip("pandas")
    # Booleans of a frame are nominal to those that take nominal columns.
    types = ["int8", "float32", "int64" if selector.accepts.nominal else "bool", "Int64", "float64"]
    X, y = rng.integers(0, 2, (50, 5)), rng.integers(0, 3, 50)
    frame = pd.DataFrame({f"x{j}": pd.Series(X[:, j]).astype(t) for j, t in enumerate(types)})
    names = frame.columns
    wanted = clone(selector).fit(pd.DataFrame(X.astype(float), columns=names), y)
    assert_same_fit(clone(selector).fit(frame, y), wanted)
    frame.loc[3, "x3"] = pd.NA
    X = X.astype(float)
    X[3, 3] = np.nan
    wanted = clone(selector).fit(pd.DataFrame(X, columns=names), y)
    assert_same_fit(clone(selector).fit(frame, y), wanted)


def test_missing_values_of_frames(selector, rng):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = rng.integers(0, 9, (50, 4)).astype(float), rng.integers(0, 3, 50)
    X[::7, 1] = np.nan
    wanted = fit_all(selector, X, y)
    frame = pd.DataFrame({f"x{j}": pd.Series(X[:, j]).astype("Int64") for j in range(4)})
    columns = {f"x{j}": [None if v != v else v for v in X[:, j].tolist()] for j in range(4)}
    for data in (frame, pl.DataFrame(columns)):
        assert_same_fit(fit_all(selector, data, y), wanted)


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


def test_missing_values_pass(selector, rng):
    X, y = rng.normal(size=(60, 8)), rng.integers(0, 3, 60)
    X[rng.random(X.shape) < 0.2] = np.nan
    if selector.accepts.infinite:
        X[0, 0], X[1, 1] = np.inf, -np.inf
    selector.set_params(n_features_to_select=4)
    assert_array_equal(selector.fit(X, y).transform(X), X[:, selector.support_])
    assert np.isfinite(selector.scores_).all()


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


@names_in(COUNTED)
def test_unit_weights_change_nothing(selector, wine):
    X, y = wine
    weighted = clone(selector).fit(X, y, sample_weight=np.full(len(y), 1.0))
    assert_same_fit(weighted, clone(selector).fit(X, y))


@names_in(COUNTED)
def test_weights_stand_for_repeated_rows(selector, rng):
    X, y = rng.normal(size=(50, 12)), rng.integers(0, 3, 50)
    w = rng.integers(1, 4, 50) * np.where(y == 0, 5, 1)
    weighted = clone(selector).fit(X, y, sample_weight=w)
    repeated = clone(selector).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_same_fit(weighted, repeated)


@names_in(WEIGHTED)
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
