"""MDFS, SubproblemSelector, SpreadFx and the filters of one list: algorithm, definitions, WEKA."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.feature_selection import f_classif

from mauc import (
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
    feature_pair_auc,
)
from mauc.data import columns as block_width_module
from mauc.data.door import make_problem
from mauc.data.problem import DECOMPOSITIONS, Decomposition
from mauc.exceptions import ConstantInputWarning, NoEvidenceWarning
from mauc.registry import RELEVANCES, SELECTORS
from mauc.search.lists import SCHEDULES
from mauc.selectors.list_selector import ListSelector
from tests.helpers import (
    oracle_further,
    oracles,
    rival_strategies,
    strategies,
    weka,
)
from tests.helpers.oracle_relevances import DEFINITIONS
from tests.helpers.strategies import examples

quiet = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")


def steps_of(selector):
    return [(step.feature, step.subproblem, step.rank) for step in selector.trace_]


def assert_is_algorithm_1(X, y, n_wanted, seed, **options):
    relevance = oracles.folded_auc(X, y, int(y.max()) + 1)
    draws = oracles.uniform_draws(seed, relevance.shape[1])
    selector = MDFS(n_wanted, random_state=seed, **options).fit(X, y)
    wanted = oracles.algorithm_1(relevance, n_wanted, draws)
    assert steps_of(selector) == wanted
    assert_array_equal(selector.ranking_, [feature for feature, _, _ in wanted])
    assert_array_equal(selector.trace_.scores, [relevance[f, p] for f, p, _ in wanted])
    assert_array_equal(selector.scores_, oracles.exact_mean(relevance))
    assert_array_equal(selector.pair_auc_, relevance[selector.ranking_])


@quiet
def test_mdfs_by_hand():
    # Column 0 serves the pair (0, 1) best, column 1 the two pairs with class 2.
    X = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [0, 1], [1, 1]])
    y = [0, 0, 1, 1, 2, 2]
    assert_array_equal(feature_pair_auc(X, y), [[1, 0.75, 0.75], [0.5, 1, 1]])
    for seed in range(20):
        first_pair = next(oracles.uniform_draws(seed, 3))
        selector = MDFS("all", random_state=seed).fit(X, y)
        assert selector.ranking_.tolist() == ([0, 1] if first_pair == 0 else [1, 0])
        assert selector.trace_[0].subproblem == first_pair
        assert selector.trace_[0].score == 1.0


@quiet
@examples(80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_equals_algorithm_1(monkeypatch, data):
    X, y = data.draw(strategies.problems(max_features=12, max_samples=15))
    n_wanted = data.draw(st.integers(1, X.shape[1]))
    monkeypatch.setattr(block_width_module, "_BLOCK_SCORES", data.draw(st.integers(1, 100)))
    assert_is_algorithm_1(X, y, n_wanted, data.draw(st.integers(0, 2**32 - 1)))


@quiet
def test_equals_algorithm_1_on_digits():
    X, y = load_digits(return_X_y=True)
    relevance = feature_pair_auc(X, y)
    wanted = oracles.algorithm_1(relevance, 64, oracles.uniform_draws(1, 45))
    assert steps_of(MDFS("all", random_state=1).fit(X, y)) == wanted


@quiet
def test_ties_by_mauc():
    # Both columns separate the pair (0, 1) perfectly; only the second separates (0, 2), (1, 2).
    X = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [0, 2], [1, 2]])
    y = [0, 0, 1, 1, 2, 2]
    relevance = feature_pair_auc(X, y)
    assert_array_equal(relevance[:, 0], [1.0, 1.0])
    for seed in range(5):
        assert MDFS(1, ties="mauc", random_state=seed).fit(X, y).ranking_ == [1]
    seed = next(s for s in range(50) if next(oracles.uniform_draws(s, 3)) == 0)
    assert MDFS(1, ties="index", random_state=seed).fit(X, y).ranking_ == [0]


@quiet
def test_random_state(rng):
    X, y = rng.normal(size=(50, 30)), rng.integers(0, 5, 50)
    one, same = (MDFS(10, random_state=3).fit(X, y).ranking_ for _ in range(2))
    assert_array_equal(one, same)
    others = [MDFS(10, random_state=seed).fit(X, y).ranking_.tolist() for seed in range(8)]
    assert len(set(map(tuple, others))) > 1
    shared = np.random.RandomState(3)
    assert_array_equal(MDFS(10, random_state=shared).fit(X, y).ranking_, one)
    MDFS(10).fit(X, y)


@quiet
def test_maucd_by_hand():
    # Column 1 separates all three pairs, column 0 one of them, column 2 none.
    X = np.array([[0, 1, 5], [0, 1, 5], [1, 2, 5], [1, 2, 5], [0, 3, 5], [1, 3, 5]])
    selector = MAUCD("all").fit(X, [0, 0, 1, 1, 2, 2])
    assert_array_equal(selector.ranking_, [1, 0, 2])
    assert_array_equal(selector.scores_, [(1 + 0.75 + 0.75) / 3, 1.0, 0.5])
    assert_array_equal(selector.trace_.scores, selector.scores_[[1, 0, 2]])
    assert_array_equal(selector.trace_.ranks, [1, 2, 3])
    assert selector.subproblem_names_ == ["all classes"]


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
    problem = make_problem(*data)
    return {
        (name, relevance): entry.score(problem, Decomposition(name, N_CLASSES), slice(None))
        for name in DECOMPOSITIONS
        for relevance, entry in RELEVANCES.items()
    }


def score_by_definition(X, y, role, relevance):
    inside = role[y] >= 0
    return [DEFINITIONS[relevance](column, role[y][inside]) for column in X[inside].T]


def test_every_relevance_has_a_definition():
    assert set(DEFINITIONS) == set(RELEVANCES), (
        "a relevance needs its literal definition in DEFINITIONS of "
        "tests/helpers/oracle_relevances.py"
    )


@pytest.mark.parametrize("relevance", RELEVANCES)
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
def test_scores_equal_the_definition(data, matrices, decomposition, relevance):
    roles = Decomposition(decomposition, N_CLASSES).roles
    wanted = [score_by_definition(*data, role, relevance) for role in roles]
    got = matrices[decomposition, relevance]
    assert_allclose(got, np.transpose(wanted), rtol=1e-9, atol=1e-10)


def random_turns(rng, n_lists, shares):
    """Yield lists at random; the library random_turns 256 at once."""
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
    at_random = random_turns(rng, n_lists, shares)
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
    for step in selector.trace_:
        n_better = (scores[:, step.subproblem] > step.score).sum()
        n_equal = (scores[:, step.subproblem] == step.score).sum()
        assert n_better < step.rank <= n_better + n_equal
    assert_allclose(selector.scores_, scores.mean(axis=1), rtol=1e-15)


@pytest.mark.parametrize("relevance", RELEVANCES)
def test_ties_by_mean_relevance(rng, relevance):
    # whole numbers of few values tie often
    X, y = rng.integers(0, 2, (40, 12)).astype(float), rng.permutation(np.arange(40) % 3)
    problem = make_problem(X, y)
    scores = RELEVANCES[relevance].score(problem, Decomposition("one-vs-one", 3), slice(None))
    options = {"decomposition": "one-vs-one", "relevance": relevance, "schedule": "round_robin"}
    selector = SubproblemSelector("all", ties="mauc", **options).fit(X, y)
    mean = oracles.exact_mean(scores) if relevance == "auc" else scores.mean(axis=1)
    # Columns in order of their means: then equal scores of the literal algorithm go by it.
    order = np.argsort(-mean, kind="stable")
    turns = itertools.cycle(selector.decomposition_.rounds())
    wanted = oracles.algorithm_1(scores[order], 12, turns)
    assert_array_equal(selector.ranking_, order[[feature for feature, _, _ in wanted]])


@examples(20)
@given(relevance=st.sampled_from(list(RELEVANCES)), schedule=st.sampled_from(list(SCHEDULES)))
def test_mdfs_and_spreadfx_are_presets(data, relevance, schedule):
    options = {"schedule": schedule, "random_state": 0}
    pairs = SubproblemSelector("all", **options).fit(*data)
    assert list(MDFS("all", **options).fit(*data).trace_) == list(pairs.trace_)
    options["relevance"] = relevance
    rest = SubproblemSelector("all", decomposition="one-vs-rest", **options).fit(*data)
    assert list(SpreadFx("all", **options).fit(*data).trace_) == list(rest.trace_)


ONE_LIST = {
    name: entry.estimator_class
    for name, entry in SELECTORS.items()
    if issubclass(entry.estimator_class, ListSelector)
    and entry.estimator_class().recipe.decomposition == "whole"
}


@pytest.mark.parametrize("name", ONE_LIST)
def test_filters_of_one_list_are_presets(data, name):
    relevance = ONE_LIST[name]().recipe.relevance
    free = SubproblemSelector("all", decomposition="whole", relevance=relevance).fit(*data)
    fitted = ONE_LIST[name]("all").fit(*data)
    assert_array_equal(fitted.ranking_, free.ranking_)
    assert_array_equal(fitted.scores_, free.scores_)


def test_every_relevance_has_a_filter_of_one_list():
    found = {filter_of_one().recipe.relevance for filter_of_one in ONE_LIST.values()}
    assert found == set(RELEVANCES), (
        "a relevance needs a class in src/mauc/selectors/filters.py whose preset is "
        'Recipe("whole", the relevance, "round_robin"), and its entry in SELECTORS of '
        "src/mauc/registry.py"
    )


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def by_score(scores):
    return np.argsort(-np.asarray(scores), kind="stable")


@pytest.mark.parametrize("name", weka.REFERENCES)
def test_chi_square_su_and_ig_equal_weka(name):
    X, y, _, reference = weka.load(name)
    no_cut = np.diff(reference["cuts_offset"]) == 0
    for make, key in (
        (ChiSquare, "score_chi"),
        (SymmetricalUncertainty, "score_su"),
        (InformationGain, "score_ig"),
    ):
        selector = make("all", n_jobs=2).fit(X, y)
        assert_allclose(selector.scores_, reference[key], rtol=1e-9, atol=1e-14)
        assert_array_equal(selector.scores_[no_cut], 0.0)  # there is nothing to round
        assert_array_equal(selector.ranking_, by_score(selector.scores_))
        assert_array_equal(selector.trace_.scores, selector.scores_[selector.ranking_])


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e9 + 0.1])
def test_constant_features_are_last_for_fsdd(wine, value):
    X, y = wine
    X = np.insert(X, [0, 5], value, axis=1)  # columns 0 and 6
    selector = FSDD(13).fit(X, y)  # warnings are errors: none where no constant is selected
    assert not {0, 6} & set(selector.ranking_)
    assert_array_equal(np.isneginf(selector.scores_), np.isin(np.arange(15), [0, 6]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = FSDD(14).fit(X, y)
    assert selector.ranking_[-1] == 0
    assert [w.category for w in caught] == [ConstantInputWarning]
    assert "1 of the 14 selected features are constant" in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(ConstantInputWarning, match="2 of the 15 selected features"):
        assert FSDD("all").fit(X, y).ranking_[-2:].tolist() == [0, 6]


@quiet
def test_constant_features_rank_first_if_asked():
    X = np.array([[5.0, 0.0, 1.0], [5.0, 1.0, 3.0], [5.0, 9.0, 2.0], [5.0, 8.0, 4.0]])
    y = [0, 0, 1, 1]
    assert FSDD("all", constants="last").fit(X[:, 1:], y).ranking_.tolist() == [0, 1]
    with pytest.warns(ConstantInputWarning, match="they rank first"):
        selector = FSDD("all", constants="first").fit(X, y)
    assert selector.ranking_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="constants must be one of"):
        FSDD(constants="never").fit(X, y)


def test_fisher_and_f_by_hand():
    # means 1 and 5 about 3: between 2 * 4 + 2 * 4 = 16, within 4 * 1 = 4
    X, y = np.array([[0.0], [2.0], [4.0], [6.0]]), [0, 0, 1, 1]
    assert FisherScore("all").fit(X, y).scores_.tolist() == [4.0]
    assert AnovaF("all").fit(X, y).scores_.tolist() == [8.0]  # 4 * (4 - 2) / (2 - 1)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_f_equals_scikit_learn(load):
    X, y = load(return_X_y=True)
    selector = AnovaF("all").fit(X, y)
    wanted = f_classif(X, y)[0]
    assert_allclose(selector.scores_, wanted, rtol=1e-9)
    assert_array_equal(selector.ranking_, by_score(wanted))
    n, c = len(y), len(set(y))
    fisher = FisherScore("all").fit(X, y)
    assert_allclose(fisher.scores_, wanted * (c - 1) / (n - c), rtol=1e-9)
    assert_array_equal(fisher.ranking_, selector.ranking_)


@quiet
@given(rival_strategies.moment_problems())
def test_fisher_and_f_equal_the_definition(problem):
    X, y, weight = problem
    rows = np.repeat(np.arange(len(y)), 1 if weight is None else weight)
    for make, literal in ((FisherScore, oracle_further.fisher), (AnovaF, oracle_further.anova)):
        selector = make("all").fit(X, y, sample_weight=weight)
        wanted = [literal(column, y[rows]) for column in X[rows].T]
        assert_allclose(selector.scores_, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.SmallClassWarning")
def test_no_freedom_no_f():
    X, y = np.array([[1.0, 5.0], [2.0, 5.0], [np.nan, 5.0]]), ["a", "b", "b"]
    assert AnovaF("all").fit(X, y).scores_.tolist() == [0.0, 0.0]
    assert FisherScore("all").fit(X, y).scores_.tolist() == [np.inf, 0.0]


def test_a_class_without_a_cut_is_named(rng):
    y = np.repeat(["a", "b", "rare"], [60, 60, 3])
    X = rng.random((123, 6)) + np.outer(y == "b", [0, 0, 0.8, 0.8, 0.8, 0])
    X[120:] = X[[0, 60, 1]]  # rows of the rare class are like those of the others
    text = "no feature has an MDL cut for 'rare vs rest': 1 of the 4 selected were chosen there"
    with pytest.warns(NoEvidenceWarning, match=text):
        chosen = SpreadFx(4).fit(X, y)
    assert chosen.trace_.scores.min() == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SpreadFx("all").fit(X, y)  # nothing is chosen
        SpreadFx(3, relevance="auc").fit(X, y)
