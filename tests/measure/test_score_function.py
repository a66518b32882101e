"""A user's function as relevance: what it is called with, may return, and what is refused."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectKBest, f_classif, mutual_info_classif
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from mauc import ConsensusSelector, SpreadFx, SubproblemSelector
from mauc.data import columns as columns_module
from mauc.data.problem import DECOMPOSITIONS
from mauc.exceptions import MaucError, MaucWarning
from mauc.report.html.recipe import call_of, import_line
from tests.helpers.array_source import CountingSource
from tests.helpers.selector_cases import assert_same_fit

LABELS = np.array(["barolo", "grignolino", "barbera"])


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, LABELS[y]


def gap(X, y, sample_weight=None):
    """Distance of the least and the largest class mean, column by column."""
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    means = [np.average(X[y == k], axis=0, weights=weight[y == k]) for k in np.unique(y)]
    return np.ptp(means, axis=0)


def by_function(function, **options):
    return SubproblemSelector("all", relevance=function, schedule="round_robin", **options)


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_f_classif_ranks_as_its_relevance_does(wine, decomposition):
    wanted = by_function("anova", decomposition=decomposition).fit(*wine)
    found = by_function(f_classif, decomposition=decomposition).fit(*wine)
    assert_array_equal(found.ranking_, wanted.ranking_)
    assert_allclose(found.scores_, wanted.scores_, rtol=1e-9)
    assert found.score_label == "f_classif"


def test_mutual_information_ranks_as_in_select_k_best(wine):
    score = partial(mutual_info_classif, random_state=0)
    wanted = SelectKBest(score, k="all").fit(*wine).scores_
    found = by_function(score, decomposition="whole").fit(*wine)
    assert_array_equal(found.scores_, wanted)
    assert found.score_label == "mutual_info_classif"


def test_what_a_function_is_called_with(wine):
    calls = []

    def look(X, y):
        calls.append((X.copy(), np.array(y), X.flags.writeable))
        return np.zeros(X.shape[1])

    X, y = wine
    table = X.to_numpy(float)
    by_function(look, decomposition="one-vs-one").fit(X, y)
    for (part, labels, _), pair in zip(calls, [(2, 0), (2, 1), (0, 1)], strict=True):
        inside = np.isin(y, LABELS[list(pair)])
        assert_array_equal(part, table[inside])
        assert_array_equal(labels, y[inside])
    calls.clear()
    by_function(look, decomposition="one-vs-rest").fit(X, y)
    for (part, labels, _), label in zip(calls, np.unique(y), strict=True):
        assert_array_equal(part, table)
        assert_array_equal(labels, y == label)
        assert labels.dtype == bool
    calls.clear()
    by_function(look, decomposition="whole").fit(X, y)
    [(part, labels, writeable)] = calls
    assert_array_equal(part, table)
    assert_array_equal(labels, y)
    assert part.dtype == np.float64
    assert not writeable


@pytest.mark.parametrize("kind", [np.float32, np.uint8, np.int64, sparse.csr_array, CountingSource])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_form_threads_and_blocks_do_not_matter(rng, monkeypatch, kind, n_jobs):
    X, y = rng.integers(0, 9, (60, 11)), rng.integers(0, 4, 60)
    X[:, 3] += y
    wanted = by_function(gap).fit(X.astype(float), y)
    monkeypatch.setattr(columns_module, "_BLOCK_SCORES", 13)
    made = X.astype(kind) if isinstance(kind, type) and issubclass(kind, np.generic) else kind(X)
    assert_same_fit(by_function(gap, n_jobs=n_jobs).fit(made, y), wanted)


def test_weights_are_given_to_a_function_that_takes_them(wine):
    X, y = wine
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    found = by_function(gap).fit(X, y, sample_weight=weight)
    times = weight.astype(int)
    wanted = by_function(gap).fit(np.repeat(X.to_numpy(), times, axis=0), np.repeat(y, times))
    assert_array_equal(found.ranking_, wanted.ranking_)
    assert_allclose(found.scores_, wanted.scores_)
    with pytest.raises(MaucError, match="sample_weight must be None for relevance=f_classif"):
        by_function(f_classif).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_no_score_ranks_last_with_a_warning(wine, decomposition):
    def without(X, y):
        scores = gap(X, y)
        scores[[0, 4]] = [np.nan, np.inf]
        return scores

    X, y = wine
    with pytest.warns(MaucWarning, match=r"without gave no score \(NaN\) to 1 of 13 .*'alcohol'"):
        selector = by_function(without, decomposition=decomposition).fit(X, y)
    assert (selector.ranking_[0], selector.ranking_[-1]) == (4, 0)
    assert (selector.scores_[4], selector.scores_[0]) == (np.inf, -np.inf)


def test_a_score_that_is_missing_here_and_infinite_there():
    X, y = np.arange(12.0).reshape(6, 2) % 5, [0, 0, 1, 1, 2, 2]

    def score(X, y):
        return np.array([np.nan if 0 in y else np.inf, 1.0])

    with pytest.warns(MaucWarning, match="1 of 2 features"):
        selector = by_function(score, ties="mauc").fit(X, y)
    assert selector.scores_.tolist() == [-np.inf, 1.0]


@pytest.mark.parametrize(
    ("found", "got"),
    [
        (np.ones((13, 2)), r"got shape \(13, 2\)"),
        (np.ones(12), r"got shape \(12,\)"),
        ((np.ones(13), np.ones(13), 1), "got tuple that is no such array"),
        ("scores", "got str that is no such array"),
        (None, r"got shape \(\)"),
    ],
)
def test_what_is_no_score_of_every_column(wine, found, got):
    def mine(X, y):
        return found

    with pytest.raises(MaucError, match=rf"relevance=mine must return .* \(13,\), .*{got}"):
        by_function(mine).fit(*wine)


def test_values_that_a_function_may_not_get(wine):
    X, y = wine
    gone = X.copy()
    gone.iloc[3, 2] = np.nan
    with pytest.raises(MaucError, match=r"no missing value \(NaN\) for relevance=gap.*'ash'"):
        by_function(gap).fit(gone, y)
    with pytest.raises(MaucError, match="infinity"):
        by_function(gap).fit(X.replace(X.iloc[0, 0], np.inf), y)
    with pytest.raises(MaucError, match="must be numeric, but column 'word'"):
        by_function(gap).fit(X.assign(word=y), y)
    with pytest.raises(MaucError, match="categorical_features must be None for relevance gap"):
        by_function(gap, categorical_features=[0]).fit(X, y)


def test_what_is_neither_name_nor_function(wine):
    with pytest.raises(MaucError, match="relevance must be a name or a function of X and y, got 3"):
        by_function(3).fit(*wine)


def test_an_error_of_the_function_is_its_own(wine):
    def broken(X, y):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        by_function(broken).fit(*wine)


def test_sklearn_checks_pass():
    check_estimator(SubproblemSelector(relevance=gap, random_state=0))


def test_it_is_an_estimator_as_others_are(wine):
    X, y = wine
    selector = SubproblemSelector(3, relevance=f_classif, random_state=0).fit(X, y)
    for copied in (clone(selector), pickle.loads(pickle.dumps(selector))):
        assert_same_fit(copied.fit(X, y), selector)
    assert "f_classif" in repr(selector)
    assert selector._repr_html_()
    model = make_pipeline(selector, GaussianNB()).set_output(transform="pandas").fit(X, y)
    assert model.score(X, y) > 0.8
    assert list(model[0].transform(X).columns) == list(X.columns[selector.support_])
    assert import_line(selector).splitlines()[1].endswith(" import f_classif")
    assert "relevance=f_classif" in call_of(selector)


def test_other_ways_to_fit(wine):
    X, y = wine
    inner = SubproblemSelector(2, relevance=f_classif, random_state=0)
    assert len(ConsensusSelector(inner, n_resamples=4, random_state=0).fit(X, y).ranking_) == 2
    significant = clone(inner).set_params(n_features_to_select="fdr").fit(X, y)
    assert 2 < len(significant.ranking_) <= 13
    assert "best pair" in str(inner.fit(X, y).explain("ash", X, y))
    steps = SpreadFx(3, relevance=f_classif).fit(X, y).trace_
    assert [step.subproblem_name for step in steps] == [f"{k} vs rest" for k in np.unique(y)]
