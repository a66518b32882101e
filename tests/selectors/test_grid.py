"""Every decomposition x relevance x schedule equals a literal loop over sorted lists."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from sklearn.base import BaseEstimator

from mauc import (
    FAST,
    FSDD,
    MAUCD,
    MDFS,
    AnovaF,
    ChiSquare,
    FisherScore,
    InformationGain,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
)
from mauc.data.decomposition import DECOMPOSITIONS, Decomposition
from mauc.data.problem import make_problem
from mauc.registry import RELEVANCES
from mauc.selectors.lists import SCHEDULES
from tests.helpers import oracle_fsdd, oracle_further, oracle_mdl, oracles

N_CLASSES, N_FEATURES = 4, 14


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    y = rng.permutation(np.repeat(np.arange(N_CLASSES), [12, 18, 24, 30]))
    shifts = rng.normal(size=(N_CLASSES, N_FEATURES)) * np.linspace(0, 2.5, N_FEATURES)
    return rng.normal(size=(len(y), N_FEATURES)) + shifts[y], y


@pytest.fixture(scope="module")
def matrices(data):
    """Give ``(decomposition, relevance) -> scores`` of shape (n_features, n_subproblems)."""
    problem = make_problem(BaseEstimator(), *data)
    return {
        (name, relevance): entry.score(problem, Decomposition(name, N_CLASSES), slice(None))
        for name in DECOMPOSITIONS
        for relevance, entry in RELEVANCES.items()
    }


def score_by_definition(X, y, role, relevance):
    inside = role[y] >= 0
    X, local = X[inside], role[y][inside]
    if relevance == "auc":
        return oracles.folded_auc(X, local, role.max() + 1).mean(axis=1)
    if relevance == "fsdd":
        return [oracle_fsdd.fsdd(column, local) for column in X.T]
    if relevance in ("fisher", "anova"):
        return [getattr(oracle_further, relevance)(column, local) for column in X.T]
    if relevance == "fast":
        return np.array(oracle_further.fast(X, local, role.max() + 1, 10), dtype=float)
    statistic = ["chi2", "su", "ig"].index(relevance)
    whole = np.arange(role.max() + 1)
    return [oracle_mdl.subproblem_scores(column, local, whole)[1][statistic] for column in X.T]


@pytest.mark.parametrize("relevance", RELEVANCES)
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_scores_equal_the_definition(data, matrices, decomposition, relevance):
    roles = Decomposition(decomposition, N_CLASSES).roles
    wanted = [score_by_definition(*data, role, relevance) for role in roles]
    got = matrices[decomposition, relevance]
    assert_allclose(got, np.transpose(wanted), rtol=1e-9, atol=1e-10)


def draws(rng, n_lists, shares):
    """Yield lists at random; the library draws 256 at once."""
    while True:
        if shares is None:
            yield from rng.randint(n_lists, size=256)
        else:
            yield from rng.choice(n_lists, size=256, p=shares)


def tournament(decomposition):
    """Return the order of a round-robin; four classes play 0-3 1-2, 0-2 3-1, 0-1 2-3."""
    if decomposition == "one-vs-one":
        pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        return [pairs.index(p) for p in [(0, 3), (1, 2), (0, 2), (1, 3), (0, 1), (2, 3)]]
    return list(range(N_CLASSES)) if decomposition == "one-vs-rest" else [0]


def select_by_definition(scores, auc, decomposition, schedule, counts, seed):
    """Draw all features from the lists, as (feature, list) pairs."""
    n_features, n_lists = scores.shape
    lists = [
        sorted(range(n_features), key=lambda f, p=p: (-scores[f, p], f)) for p in range(n_lists)
    ]
    rng = np.random.RandomState(seed)
    shares = None
    if schedule == "rand_robin":
        sizes = {
            "one-vs-one": [counts[i] + counts[j] for i in range(4) for j in range(i + 1, 4)],
            "one-vs-rest": counts,
            "whole": [1],
        }[decomposition]
        shares = np.array(sizes) / sum(sizes)
    at_random = draws(rng, n_lists, shares)
    order, turn = tournament(decomposition), 0
    separation = np.zeros(n_lists)
    chosen = []
    while len(chosen) < n_features:
        is_open = [len(entries) > 0 for entries in lists]
        if schedule == "round_robin":
            while not is_open[order[turn % n_lists]]:
                turn += 1
            drawn = order[turn % n_lists]
            turn += 1
        elif schedule == "hardest":
            drawn = min((p for p in range(n_lists) if is_open[p]), key=lambda p: separation[p])
        else:
            drawn = next(p for p in at_random if is_open[p])
        feature = lists[drawn].pop(0)
        if feature not in [f for f, _ in chosen]:  # otherwise the turn is over
            chosen.append((feature, drawn))
            separation += ndtri(np.minimum(auc[feature], 1 - 1e-4)) ** 2
    return chosen


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("relevance", RELEVANCES)
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_selection_equals_the_literal_loop(data, matrices, decomposition, relevance, schedule):
    selector = SubproblemSelector(
        "all", decomposition=decomposition, relevance=relevance, schedule=schedule, random_state=9
    ).fit(*data)
    scores = matrices[decomposition, relevance]
    auc = matrices[decomposition, "auc"]
    counts = np.bincount(data[1])
    wanted = select_by_definition(scores, auc, decomposition, schedule, counts, 9)
    assert [(step.feature, step.subproblem) for step in selector.trace_] == wanted
    assert [step.score for step in selector.trace_] == [scores[f, p] for f, p in wanted]
    assert_allclose(selector.scores_, scores.mean(axis=1), rtol=1e-15)


@pytest.mark.parametrize("relevance", RELEVANCES)
def test_ties_by_mean_relevance(rng, relevance):
    # whole numbers of few values tie often
    X, y = rng.integers(0, 2, (40, 12)).astype(float), rng.permutation(np.arange(40) % 3)
    problem = make_problem(BaseEstimator(), X, y)
    scores = RELEVANCES[relevance].score(problem, Decomposition("one-vs-one", 3), slice(None))
    options = {"decomposition": "one-vs-one", "relevance": relevance, "schedule": "round_robin"}
    selector = SubproblemSelector("all", ties="mauc", **options).fit(X, y)
    is_auc = relevance in ("auc", "fast")
    mean = oracles.exact_mean(scores) if is_auc else scores.mean(axis=1)
    # Columns in order of their means: then equal scores of the literal algorithm go by it.
    order = np.argsort(-mean, kind="stable")
    turns = itertools.cycle(selector.decomposition_.rounds())
    wanted = oracles.algorithm_1(scores[order], 12, turns)
    assert_array_equal(selector.ranking_, order[[feature for feature, _, _ in wanted]])


@settings(max_examples=20)
@given(relevance=st.sampled_from(list(RELEVANCES)), schedule=st.sampled_from(list(SCHEDULES)))
def test_mdfs_and_spreadfx_are_presets(data, relevance, schedule):
    options = {"schedule": schedule, "random_state": 0}
    pairs = SubproblemSelector("all", **options).fit(*data)
    assert list(MDFS("all", **options).fit(*data).trace_) == list(pairs.trace_)
    options["relevance"] = relevance
    rest = SubproblemSelector("all", decomposition="one-vs-rest", **options).fit(*data)
    assert list(SpreadFx("all", **options).fit(*data).trace_) == list(rest.trace_)


@pytest.mark.parametrize(
    ("preset", "relevance"),
    [(MAUCD, "auc"), (ChiSquare, "chi2"), (SymmetricalUncertainty, "su"), (InformationGain, "ig"),
     (FSDD, "fsdd"), (FisherScore, "fisher"), (AnovaF, "anova"), (FAST, "fast")],
)  # fmt: skip
def test_filters_of_one_list_are_presets(data, preset, relevance):
    free = SubproblemSelector("all", decomposition="whole", relevance=relevance).fit(*data)
    fitted = preset("all").fit(*data)
    assert_array_equal(fitted.ranking_, free.ranking_)
    assert_array_equal(fitted.scores_, free.scores_)
