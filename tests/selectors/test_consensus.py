"""ConsensusSelector: halves, votes, near-ties, and what users meet."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.ensemble import ExtraTreesClassifier

from mauc import ARCO, FCBF, FSDD, MAUCD, MDFS, MRMR, AnovaF, ConsensusSelector, GreedyMAUC
from mauc.data.door import make_problem
from mauc.exceptions import MaucError
from mauc.registry import SELECTORS, make_selector
from mauc.selectors import consensus as module
from mauc.selectors.consensus import (
    RULES,
    Votes,
    rank_by_votes,
    rank_near_ties,
    stability_sentence,
)
from mauc.selectors.error_bound import ErrorControl
from mauc.selectors.greedy_mauc import measure_state
from mauc.selectors.halves import complementary_halves
from mauc.stability import UNKNOWN, Stability
from mauc.stats import stability
from tests.helpers.oracle_greedy import score_correlations, separations
from tests.helpers.told_prior import Told, prior_of


def test_fit_takes_groups(wine):
    X, y = wine
    groups = np.arange(len(y)) // 4
    one, two = (ConsensusSelector(MAUCD(3), random_state=0, n_resamples=6) for _ in range(2))
    assert_array_equal(one.fit(X, y, groups=groups).rankings_.shape, (6, 3))
    order = np.random.default_rng(0).permutation(len(y))
    two.fit(X[order], y[order], groups=groups[order].astype(str))
    assert_array_equal(one.rankings_, two.rankings_)


def test_rankings_of_different_lengths_are_cut_to_the_shortest():
    X, y = load_wine(return_X_y=True)
    one_round = FCBF("all", max_rounds=1)
    found = ConsensusSelector(one_round, n_resamples=10, random_state=0).fit(X, y)
    assert 1 <= len(found.ranking_) == found.rankings_.shape[1] <= len(one_round.fit(X, y).ranking_)
    assert found.frequencies_.sum() == pytest.approx(len(found.ranking_))


RANKINGS = np.array([[0, 1, 2], [0, 2, 1], [3, 1, 0], [3, 1, 2]])


def test_votes_by_hand():
    votes = Votes(RANKINGS, 5)
    votes.extend()
    votes.extend()
    assert_array_equal(votes.frequencies, [0.5, 0.75, 0.25, 0.5, 0])
    # Feature 0: ranks 1, 1, 3, 3; feature 4 is never among the first 2.
    assert_array_equal(votes.mean_ranks, [2, 2.25, 2.75, 2, 3])
    votes.extend()
    assert_array_equal(votes.frequencies, [0.75, 1, 0.75, 0.5, 0])


def test_frequency_by_hand():
    # 0 and 3 are first twice each: the lower column; then 1 (3 of 4), then 0, 1, 2 of 3: 2.
    ranking, scores = rank_by_votes(Votes(RANKINGS, 5), "frequency")
    assert_array_equal(ranking, [0, 1, 2])
    assert_allclose(scores, [0.5, 0.75, 0.75])


def test_rank_by_hand():
    # Sums of ranks: at 1 1.5 (0) and 1.5 (3); at 2 3 has 2, 1 has 2.25; at 3 1 has 2.25.
    ranking, scores = rank_by_votes(Votes(RANKINGS, 5), "rank")
    assert_array_equal(ranking, [0, 3, 1])
    assert_allclose(scores, [1.5, 2, 2.25])


@pytest.fixture
def samples(rng):
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 12)) + rng.normal(size=(3, 12))[y]
    X[:, 5] = X[:, 2] + 0.1 * rng.normal(size=90)
    X[:, 6] = X[:, 3] + 0.1 * rng.normal(size=90)
    X[:, 11] = 1.0
    return X, y


def state_of(X, y, prior=None):
    state = measure_state(GreedyMAUC(), make_problem(X, y), 12)
    return state.with_prior(prior)


def rank(state, rankings):
    return rank_near_ties(state, Votes(rankings, 12))


def oracle(model, rankings, k, weights):
    """Each step inverts the correlations anew and counts the votes anew."""
    R = score_correlations(model.scores, model.options.shrinkage, model.options.doubt)

    def loss(chosen):
        return np.exp(-separations(model.effects, R, chosen) / 8).sum()

    chosen, gains = [], []
    for step in range(k):
        before = loss(chosen)
        found = {
            f: weights[f] * (before - loss([*chosen, f])) / before
            for f in range(11)  # 11 is constant
            if f not in chosen
        }
        near = [f for f, gain in found.items() if gain >= 0.9 * max(found.values())]
        votes = {f: sum(f in ranking[: step + 1] for ranking in rankings) for f in near}
        best = max(near, key=lambda f: (votes[f], found[f]))
        chosen.append(best)
        gains.append(found[best])
    return chosen, gains


@pytest.mark.parametrize("has_prior", [False, True])
def test_equals_the_definition(samples, rng, has_prior):
    X, y = samples
    weights = rng.uniform(0.5, 1, 12) if has_prior else np.ones(12)
    n_other = 0
    for _ in range(5):
        rankings = np.array([rng.permutation(12)[:7] for _ in range(6)])
        expected, gains = oracle(state_of(X, y), rankings, 7, weights)
        for blocks in ([(0, 12)], [(0, 5), (5, 12)]):
            state = state_of(X, y, weights if has_prior else None)
            state.blocks = blocks  # one per thread
            ranking, found = rank(state, rankings)
            assert_array_equal(ranking, expected)
            assert_allclose(found, gains, rtol=1e-6)
        plain = GreedyMAUC(7, prior=prior_of(weights)).fit(X, y).ranking_
        n_other += (np.array(expected) != plain).any()
    assert n_other > 0  # there were near-ties, and the votes decided


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def consensus(selector="greedy", k=4, **options):
    return ConsensusSelector(selector, k, **{"n_resamples": 8, "random_state": 0, **options})


@pytest.mark.parametrize("name", [name for name in SELECTORS if name != "consensus"])
def test_any_selector(wine, name):
    selector = consensus(name, n_resamples=2).fit(*wine)
    assert selector.rankings_.shape == (2, 4)
    assert list(selector.alternatives_) == selector.ranking_.tolist()
    assert selector.accepts == make_selector(name).accepts


def test_halves_have_the_weights_of_their_rows(wine, rng):
    X, y = wine
    weight = rng.integers(0, 4, len(y)) / 3  # whole ones are dealt out as copies are
    kept = weight > 0
    selector = consensus(ARCO(4)).fit(X, y, sample_weight=weight)
    problem = make_problem(X[kept], y[kept], sample_weight=weight[kept])
    halves = complementary_halves(problem, 4, np.random.RandomState(0))
    for ranking, half in zip(selector.rankings_, halves, strict=True):
        rows = np.flatnonzero(kept)[half]
        alone = ARCO(4).fit(X[rows], y[rows], sample_weight=weight[rows])
        assert_array_equal(ranking, alone.ranking_)


@pytest.mark.parametrize("rule", RULES)
def test_what_is_learnt_agrees(wine, rule):
    selector = consensus(rule=rule).fit(*wine)
    held = (selector.rankings_[:, :, np.newaxis] == np.arange(13)).any(axis=1)
    assert_array_equal(selector.frequencies_, held.mean(axis=0))
    assert selector.stability_ == stability(selector.rankings_, 13)
    frame = selector.trace_.to_frame()
    assert_array_equal(frame["frequency"], selector.frequencies_[selector.ranking_])
    assert_array_equal(frame["mean_rank"], selector.mean_ranks_[selector.ranking_])
    assert_allclose(selector.scores_, (5 - selector.mean_ranks_) / 4)
    if rule in ("frequency", "rank"):
        expected = rank_by_votes(Votes(selector.rankings_, 13), rule)[0]
        assert_array_equal(selector.ranking_, expected)


def test_halves_are_what_the_selector_ranks_alone(wine):
    X, y = wine
    selector = consensus(GreedyMAUC(4)).fit(X, y)
    halves = complementary_halves(make_problem(X, y), 4, np.random.RandomState(0))
    for ranking, half in zip(selector.rankings_, halves, strict=True):
        assert_array_equal(ranking, GreedyMAUC(4).fit(X[half], y[half]).ranking_)


@pytest.mark.parametrize("rule", RULES)
def test_the_order_of_rows_and_threads_do_not_matter(wine, rng, rule):
    X, y = wine
    turned = rng.permutation(len(y))
    one = consensus(rule=rule).fit(X, y)
    other = consensus(rule=rule, n_jobs=3).fit(X[turned], y[turned])
    for name in ("ranking_", "rankings_", "frequencies_", "scores_", "pair_auc_"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert_array_equal(one.trace_.scores, other.trace_.scores)


def test_size_of_the_selector_is_taken_unless_one_is_given(wine):
    assert len(ConsensusSelector(GreedyMAUC(3), n_resamples=2).fit(*wine).ranking_) == 3
    assert len(ConsensusSelector(GreedyMAUC(3), 5, n_resamples=2).fit(*wine).ranking_) == 5
    predicted = GreedyMAUC("predicted")
    found = ConsensusSelector(predicted, n_resamples=2).fit(*wine).ranking_
    assert len(found) == len(clone(predicted).fit(*wine).ranking_)


def test_a_seed_of_the_selector_is_kept_and_one_is_drawn_without(wine):
    fixed = consensus(MDFS(4, random_state=3), rule="frequency").fit(*wine)
    again = consensus(MDFS(4, random_state=3), rule="frequency").fit(*wine)
    assert_array_equal(fixed.rankings_, again.rankings_)
    drawn = consensus(MDFS(4), rule="frequency")
    assert_array_equal(drawn.fit(*wine).rankings_, clone(drawn).fit(*wine).rankings_)
    assert (drawn.rankings_ != fixed.rankings_).any()
    assert drawn.selector.random_state is None


def test_nominal_columns(rng):
    pd = pytest.importorskip("pandas")
    y = rng.integers(0, 3, 90)
    word = np.array(list("abcdef"))[2 * y + rng.integers(0, 2, 90)]
    frame = pd.DataFrame(rng.normal(size=(90, 4))).add_prefix("x").assign(word=word)
    assert consensus(k=1).fit(frame, y).ranking_[0] == 4
    codes = frame.assign(word=pd.factorize(word, sort=True)[0]).to_numpy()
    assert consensus(k=1, categorical_features=[4]).fit(codes, y).ranking_[0] == 4


def test_nested_parameters(wine):
    selector = consensus(GreedyMAUC()).set_params(selector__shrinkage=0.5)
    assert selector.selector.shrinkage == 0.5
    fitted = selector.fit(*wine)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).ranking_, fitted.ranking_)
    assert fitted.predicted_mauc_.shape == (4,)
    assert (np.diff(fitted.predicted_mauc_[:3]) > 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selector": "gready"}, "selector must be one of .* did you mean 'greedy'"),
        ({"selector": "consensus"}, "selector must be a selector of mauc other than Consensus"),
        ({"selector": 5}, 'such as GreedyMAUC.*or its short name, such as "greedy", got 5'),
        ({"n_resamples": 7}, "n_resamples must be even, as halves come in pairs, got 7"),
        ({"n_resamples": 0}, "n_resamples must be an int of at least 2, got 0"),
        ({"rule": "vote"}, "rule must be one of 'auto', 'frequency', 'rank', 'loss'"),
        (
            {"selector": MRMR(), "rule": "loss"},
            'rule must be "auto", "frequency" or "rank" for MRMR',
        ),
        ({"selector": GreedyMAUC(prior=[1.0, 2.0])}, "prior must be None or an estimator"),
        (
            {"selector": MDFS(categorical_features=[0])},
            "categorical_features must be given to ConsensusSelector, not to its MDFS",
        ),
        (
            {"selector": FSDD(), "categorical_features": [0]},
            "categorical_features must be None for FSDD, which takes numbers only",
        ),
        ({"n_features_to_select": 14}, r"n_features_to_select must be in \[1, 13\]"),
        ({"random_state": "x"}, "random_state|seed"),
    ],
)
def test_wrong_options_are_refused(wine, options, message):
    with pytest.raises(MaucError, match=message):
        consensus().set_params(**options).fit(*wine)


def test_no_cluster(wine):
    with pytest.raises(MaucError, match=r"client must be None for ConsensusSelector.*on halves"):
        consensus().fit(*wine, client="tcp://nowhere:1")


def test_memory_is_asked_for_before_anything_is_read(wine, monkeypatch):
    monkeypatch.setattr(module, "_SMALL_BYTES", 0)

    def refuse(n_bytes, what, advice):
        raise MemoryError(f"{n_bytes} {what}: {advice}")

    monkeypatch.setattr(module, "check_memory", refuse)
    for rule, n_effects in (("loss", 3), ("frequency", 2)):
        n_bytes = 8 * 13 * (n_effects * 3 + 2 * 4) + 2 * 13 * 178
        with pytest.raises(MemoryError, match=f"{n_bytes} .*: select fewer features"):
            consensus(rule=rule).fit(*wine)


@pytest.mark.parametrize("rule", RULES)
def test_a_prior_of_the_selector_is_respected(wine, rule):
    X, y = wine
    plain = consensus(GreedyMAUC(), k=2, rule=rule).fit(X, y).ranking_
    prior = Told((np.arange(13) != plain[0]).astype(float))
    assert plain[0] not in consensus(GreedyMAUC(prior=prior), k=2, rule=rule).fit(X, y).ranking_


def test_auto_takes_the_search_where_there_is_one(wine):
    for selector, rule in ((GreedyMAUC(), "loss"), (MDFS(), "frequency")):
        one, other = consensus(selector).fit(*wine), consensus(selector, rule=rule).fit(*wine)
        assert_array_equal(one.ranking_, other.ranking_)
        assert_array_equal(one.trace_.scores, other.trace_.scores)
        assert one.score_label == RULES[rule]


def test_loss_weighs_features_by_the_estimator_of_all_samples(wine, monkeypatch):
    def spied(state, votes):
        priors.append(state.prior)
        return searched(state, votes)

    priors, searched = [], module.rank_near_ties
    monkeypatch.setattr(module, "rank_near_ties", spied)
    consensus(GreedyMAUC(prior=ExtraTreesClassifier(20)), n_resamples=2).fit(*wine)
    alone = GreedyMAUC(4, prior=ExtraTreesClassifier(20)).fit(*wine)
    assert_array_equal(priors[0], alone.prior_)


def test_stable_features_are_chosen_from_all_halves(rng):
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 30))
    X[:, [3, 8]] += 3 * y[:, np.newaxis]
    selector = consensus(AnovaF(2), None).fit(X, y)
    assert set(selector.ranking_) == {3, 8}
    assert_array_equal(selector.frequencies_[[3, 8]], 1)
    assert selector.stability_.value == 1
    assert selector.error_control_.at(1.0).n_features == 2


def sentence_of(frequencies, n_chosen, n_resamples=50, stability=None):
    return stability_sentence(
        SimpleNamespace(
            stability_=stability or Stability(0.8, 0.01, 0.7, 0.9),
            error_control_=ErrorControl(np.array(frequencies), n_chosen, n_resamples // 2),
            rankings_=np.zeros((n_resamples, n_chosen), np.int64),
        )
    )


@pytest.mark.parametrize(
    ("n_high", "n_features", "end"),
    [
        (
            4,
            20,
            "4 features are chosen from 80% of them or more, of which at most 2.1 are expected "
            "to be wrong",
        ),  # 25 / (20 (2 * 0.8 - 1))
        (
            2,
            2000,
            "2 features are chosen from 80% of them or more, of which at most 0.0208 are "
            "expected to be wrong",
        ),
        (1, 6, "1 feature is chosen from 80% of them or more"),  # the bound is 6
        (0, 20, "no feature is chosen from 80% of them or more"),
    ],
)
def test_a_bound_is_told_where_it_excludes_something(n_high, n_features, end):
    frequencies = np.where(np.arange(n_features) < n_high, 0.8, 0.1)
    start = "stability over 50 halves of the samples: 0.800 (0.700 to 0.900); "
    assert sentence_of(frequencies, 5) == start + end


def test_nothing_is_said_where_all_features_are_chosen():
    assert sentence_of(np.ones(3), 3, stability=UNKNOWN) == ""
