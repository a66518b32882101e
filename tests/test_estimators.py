"""What scikit-learn asks of all estimators: its own checks, tags and metadata routing.

The laws of the selectors are in tests/selectors/test_contract.py.
"""

import numpy as np
import pytest
import sklearn
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import KFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from mauc import MDLDiscretizer
from mauc import registry as methods
from mauc.classifiers import RBFSVM, NearestNeighbor
from mauc.lab import C45
from mauc.metrics import make_mauc_scorer
from tests.helpers.selector_cases import SELECTORS, assert_same_fit

OTHERS = {name: entry() for name, entry in methods.CLASSIFIERS.items()} | {
    "1nn smooth": NearestNeighbor(smooth=True),
    "svm at once": RBFSVM(precompute=False),
    "c45 unpruned": C45(prune=False, min_samples_leaf=1),
    "c45 without raising": C45(subtree_raising=False),
    "discretizer": MDLDiscretizer(),
}
ESTIMATORS = SELECTORS | OTHERS
#: one of each class: variants of it differ in what the contract covers
CHECKED = [*methods.SELECTORS, *OTHERS]
IS_ARRAY_API_CHECKED = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9)


@pytest.fixture(params=SELECTORS)
def selector(request):
    """Every selector in turn, unfitted."""
    return clone(SELECTORS[request.param])


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, np.array(["barolo", "grignolino", "barbera"])[y]


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@pytest.mark.parametrize("name", CHECKED)
def test_scikit_learn_checks_pass_and_none_is_skipped(name):
    estimator = clone(ESTIMATORS[name])
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
    assert tags.input_tags.allow_nan == accepts.missing
    assert tags.input_tags.categorical == accepts.nominal
    assert tags.target_tags.required


@pytest.mark.parametrize(
    "selector", ["mdfs", "greedy", "chi", "mrmr", "relieff", "consensus"], indirect=True
)
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
        scorer = make_mauc_scorer().set_score_request(sample_weight=True)
        folds = KFold(3, shuffle=True, random_state=0)
        results = cross_validate(
            pipeline,
            X,
            y,
            cv=folds,
            scoring=scorer,
            params={"sample_weight": weights},
            return_estimator=True,
        )
        for fold, (train, test) in enumerate(folds.split(X)):
            alone = clone(selector).fit(X[train], y[train], sample_weight=weights[train])
            fitted = results["estimator"][fold]
            assert_same_fit(fitted[0], alone)
            score = scorer(fitted, X[test], y[test], sample_weight=weights[test])
            assert results["test_score"][fold] == score
