"""ConsensusSelector as users meet it; the contract of all selectors is in test_estimators.py."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_wine

from mauc import FSDD, MDFS, MRMR, AnovaF, ConsensusSelector, GreedyMAUC, ReliefF
from mauc.exceptions import MaucError
from mauc.registry import SELECTORS, make_selector
from mauc.selectors import consensus as module
from mauc.selectors.consensus import RULES, Votes, complementary_halves, rank_by_votes
from mauc.stats import stability
from tests.helpers.xor_pairs import make_pairs


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def consensus(selector="greedy", k=4, **options):
    return ConsensusSelector(selector, k, **{"n_resamples": 8, "random_state": 0, **options})


@pytest.mark.parametrize("name", [name for name in SELECTORS if name != "consensus"])
def test_any_selector(wine, name):
    selector = consensus(name, n_resamples=4).fit(*wine)
    assert selector.rankings_.shape == (4, 4)
    assert selector.support_.sum() == 4
    assert selector.accepts == make_selector(name).accepts._replace(weights=False)


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
    from sklearn.base import BaseEstimator

    from mauc.data.problem import make_problem

    problem = make_problem(BaseEstimator(), X, y)
    halves = complementary_halves(problem, 4, np.random.RandomState(0))
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
    selector = consensus(GreedyMAUC()).set_params(selector__alpha=0.5)
    assert selector.selector.alpha == 0.5
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
        (
            {"selector": GreedyMAUC(interactions=True), "rule": "loss"},
            'rule must be "auto", "frequency" or "rank" for GreedyMAUC with interactions=True',
        ),
        ({"selector": GreedyMAUC(prior=[1.0, 2.0])}, "one weight for each of the 13 features"),
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
    plain = consensus(GreedyMAUC(prior=None), k=2, rule=rule).fit(X, y).ranking_
    prior = np.ones(13)
    prior[plain[0]] = 1e-6
    assert plain[0] not in consensus(GreedyMAUC(prior=prior), k=2, rule=rule).fit(X, y).ranking_
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X).add_prefix("x")
    by_name = GreedyMAUC(prior={f"x{f}": weight for f, weight in enumerate(prior)})
    assert plain[0] not in consensus(by_name, k=2, rule=rule).fit(frame, y).ranking_


def test_halves_grow_trees_if_all_samples_do(rng, monkeypatch):
    def spied(selector):
        made.append(clone(selector))
        return made[-1]

    monkeypatch.setattr(module, "clone", spied)
    y = np.arange(80) % 2
    for n_features, grows in ((50, True), (30, False)):  # a half of 40 samples would be few
        made = []
        X = rng.normal(size=(80, n_features)) + y[:, np.newaxis]
        consensus(GreedyMAUC(), n_resamples=2).fit(X, y)
        assert [one.prior_ is not None for one in made] == [grows, grows]


def test_auto_takes_the_search_where_there_is_one(wine):
    for selector, rule in (
        (GreedyMAUC(), "loss"),
        (GreedyMAUC(interactions=True), "frequency"),
        (MDFS(), "frequency"),
    ):
        one, other = consensus(selector).fit(*wine), consensus(selector, rule=rule).fit(*wine)
        assert_array_equal(one.ranking_, other.ranking_)
        assert_array_equal(one.trace_.scores, other.trace_.scores)
        assert one.score_label == RULES[rule]


def test_loss_weighs_features_by_the_trees_of_all_samples(wine, monkeypatch):
    def spied(state, votes):
        priors.append(state.prior)
        return searched(state, votes)

    priors, searched = [], module.rank_near_ties
    monkeypatch.setattr(module, "rank_near_ties", spied)
    consensus(GreedyMAUC(prior="extra_trees"), n_resamples=2).fit(*wine)
    alone = GreedyMAUC(4, prior="extra_trees").fit(*wine)
    assert_array_equal(priors[0], alone.prior_)


def test_pairs_that_act_together(rng):
    X, y, wanted = make_pairs("xor", 0, n_samples=300, n_features=20)
    copy = X[:, wanted[0]] + 0.1 * rng.normal(size=len(y))
    shifted = rng.normal(size=len(y)) + y
    X = np.column_stack([X, copy, shifted, shifted + 0.1 * rng.normal(size=len(y))])
    plain = consensus(GreedyMAUC(prior=None), k=4).fit(X, y)
    assert not {*wanted} <= {*plain.ranking_}
    selector = consensus(GreedyMAUC(prior=None, interactions=True), k=4).fit(X, y)
    assert {*wanted} & {*selector.ranking_} or 20 in selector.ranking_
    for feature, exchanges in selector.alternatives_.items():
        if feature in (*wanted, 20):
            assert exchanges == []  # the model without products knows nothing of them
    assert any(selector.alternatives_.values())


def test_other_selectors_have_alternatives_too(wine):
    selector = consensus(ReliefF(3), k=3, n_resamples=2).fit(*wine)
    assert list(selector.alternatives_) == selector.ranking_.tolist()


def test_stable_features_are_chosen_from_all_halves(rng):
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 30))
    X[:, [3, 8]] += 3 * y[:, np.newaxis]
    selector = consensus(AnovaF(2), None).fit(X, y)
    assert set(selector.ranking_) == {3, 8}
    assert_array_equal(selector.frequencies_[[3, 8]], 1)
    assert selector.stability_.value == 1
    assert selector.error_control_.at(1.0).n_features == 2
