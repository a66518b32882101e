"""CHI, SU and IG as relevances: WEKA's scores, every decomposition, nominal columns."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator

from mauc.binning.contingency import CHI, IG, SU
from mauc.data.decomposition import DECOMPOSITIONS, Decomposition
from mauc.data.problem import make_problem
from mauc.registry import RELEVANCES, Accepts
from mauc.selectors.relevance import contingency_scores
from tests.helpers import oracle_mdl as oracle
from tests.helpers import weka_filters

NAMES = {"chi2": "score_chi", "su": "score_su", "ig": "score_ig"}


class Flagged(BaseEstimator):
    """Stands for a selector with nominal columns."""

    def __init__(self, categorical_features=None):
        self.categorical_features = categorical_features


def problem_of(X, y, categorical_features=None):
    return make_problem(
        Flagged(categorical_features),
        X,
        y,
        accepts=Accepts(sparse=True, infinite=True, nominal=True),
    )


@pytest.mark.parametrize("name", weka_filters.REFERENCES)
def test_scores_equal_weka(name):
    X, y, n_classes, reference = weka_filters.load(name)
    problem, whole = problem_of(X, y), Decomposition("whole", n_classes)
    for relevance, key in NAMES.items():
        scores = RELEVANCES[relevance].score(problem, whole, slice(None))[:, 0]
        assert_allclose(scores, reference[key], rtol=1e-9, atol=1e-14)
        # where no cut pays there is nothing to round
        no_cut = np.diff(reference["cuts_offset"]) == 0
        assert_array_equal(scores[no_cut], 0.0)


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_every_subproblem_has_its_own_cuts(rng, decomposition):
    y = rng.integers(0, 4, 90)
    X = rng.normal(size=(90, 6)).round(1) + y[:, np.newaxis] * np.arange(6) / 2
    X[rng.random(X.shape) < 0.1] = np.nan
    problem, parts = problem_of(X, y), Decomposition(decomposition, 4)
    scores = contingency_scores(problem, parts, slice(None), [CHI, SU, IG])
    for f in range(6):
        for s, role in enumerate(parts.roles):
            _, wanted = oracle.subproblem_scores(X[:, f], y, role)
            assert_allclose(scores[:, f, s], wanted, rtol=1e-9, atol=1e-12)
    some = contingency_scores(problem, parts, [4, 1], [SU])
    assert_array_equal(some, scores[SU : SU + 1, [4, 1]])


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_categories_are_bins(rng, decomposition):
    y = rng.integers(0, 4, 80)
    X = np.column_stack([rng.integers(0, 5, 80), rng.normal(size=80), y % 2]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    problem, parts = problem_of(X, y, [0, 2]), Decomposition(decomposition, 4)
    scores = contingency_scores(problem, parts, slice(None), [CHI, SU, IG])
    plain = contingency_scores(problem_of(X, y), parts, slice(None), [CHI, SU, IG])
    assert_array_equal(scores[:, 1], plain[:, 1])
    for f, n_bins in ((0, 5), (2, 2)):
        bins = np.where(np.isnan(X[:, f]), -1, X[:, f]).astype(int)
        for s, role in enumerate(parts.roles):
            local_bins, local = oracle.subproblem(bins, y, role)
            wanted = oracle.scores(local_bins, local, n_bins, role.max() + 1)
            assert_allclose(scores[:, f, s], wanted, rtol=1e-9, atol=1e-12)


def test_names_of_categories_are_irrelevant(rng):
    y = rng.integers(0, 3, 60)
    X = rng.integers(0, 4, (60, 1))
    whole = Decomposition("whole", 3)
    names = np.array(["d", "a", "c", "b"])[X].astype(object)
    wanted = contingency_scores(problem_of(X, y, [0]), whole, slice(None), [CHI, SU, IG])
    got = contingency_scores(problem_of(names, y, [0]), whole, slice(None), [CHI, SU, IG])
    assert_allclose(got, wanted, rtol=1e-13)


def test_a_nominal_column_without_a_known_value_scores_nothing():
    X = np.column_stack([np.full(6, np.nan), np.arange(6.0)])
    problem = problem_of(X, [0, 0, 0, 1, 1, 1], [0])
    scores = contingency_scores(problem, Decomposition("whole", 2), slice(None), [CHI, SU, IG])
    assert_array_equal(scores[:, 0], 0.0)
    assert (scores[:, 1] > 0).all()
