"""GreedyMAUC with interactions: XOR pairs, the definition as an oracle, laws, other inputs."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier

from mauc.data.problem import make_problem
from mauc.exceptions import NotEnoughMemoryError
from mauc.selectors.greedy_mauc import estimator as greedy_module
from mauc.selectors.greedy_mauc import interactions as interactions_module
from mauc.selectors.greedy_mauc import search as bounds_module
from mauc.selectors.greedy_mauc.dispersion import find_folded
from mauc.selectors.greedy_mauc.effects import measure
from mauc.selectors.greedy_mauc.estimator import GreedyMAUC
from mauc.selectors.greedy_mauc.interactions import add_folded, add_products, find_pairs
from tests.helpers.oracle_greedy import score_correlations, separations
from tests.helpers.selector_cases import assert_same_fit
from tests.helpers.xor_pairs import KINDS, make_pairs


def data(rng, n=400, m=16, c=3):
    """Main effects, copies, missing and coarse values, and two pairs that act together."""
    y = np.arange(n) % c
    X = rng.normal(size=(n, m))
    X[:, :4] += 0.6 * rng.normal(size=(c, 4))[y]
    X[:, 4] = X[:, 0] + 0.3 * rng.normal(size=n)
    X[:, 7] = np.where(y == 0, 1, -1) * X[:, 6] + 0.5 * X[:, 7]
    X[:, 9] = np.where(y == 1, 1, -1) * X[:, 8] + X[:, 9]
    X[:, 10] = X[:, 10].round()
    X[::9, 8] = np.nan
    return X, y


def fit(X, y, k="all", **options):
    return GreedyMAUC(k, interactions=True, **options).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_found_among_noise(kind):
    for seed in range(3):
        X, y, wanted = make_pairs(kind, seed)
        selector = fit(X, y, 10)
        assert set(wanted) <= set(selector.ranking_[: max(5, len(wanted))])
        entered = {(one.first, one.second) for one in selector.interactions_ if one.step > 0}
        pairs = zip(wanted[::2], wanted[1::2], strict=True)
        assert {tuple(sorted(pair)) for pair in pairs} <= entered


def test_without_it_they_are_not():
    X, y, wanted = make_pairs("xor", 0)
    assert not set(wanted) <= set(GreedyMAUC(10).fit(X, y).ranking_)


def test_the_prediction_sees_the_product():
    X, y, _ = make_pairs("xor", 0)
    selector = fit(X, y, 5)
    assert selector.predicted_mauc_[0] < 0.6
    assert selector.predicted_mauc_[1] > 0.95
    assert len(GreedyMAUC("predicted", interactions=True).fit(X, y).ranking_) == 2


def test_statistics_equal_the_definition(rng):
    X, y = data(rng, n=90, m=11)
    X = X[:, 3:]
    y[:3] = 3  # three samples have no correlation of their own
    X[y == 1, 5] = 2.0  # and neither has a feature that is constant in a class
    _, scores = measure(make_problem(GreedyMAUC(), X, y))
    codes = np.sort(y)
    expected = {}
    for f in range(8):
        for g in range(f):
            z, weights = [], []
            for k in (0, 1, 2):
                a, b = (scores.scores[j, codes == k].astype(float) for j in (f, g))
                if a.std() > 0 and b.std() > 0:
                    z.append(np.arctanh(np.clip(np.corrcoef(a, b)[0, 1], -0.999, 0.999)))
                    weights.append(len(a) - 3)
            z, weights = np.array(z), np.array(weights)
            q = (weights * (z - np.average(z, weights=weights)) ** 2).sum()
            expected[g, f] = chi2.sf(q, len(z) - 1)
    found = find_pairs(scores, np.arange(8), np.arange(8))
    assert found.n_tested == 28
    wanted = sorted((pair for pair in expected if expected[pair] < 0.01 / 28), key=expected.get)
    assert len(wanted) >= 1
    assert list(map(tuple, found.pairs)) == wanted
    assert_allclose(found.p_values, [expected[pair] for pair in wanted], rtol=1e-6)


def test_blocks_change_nothing(rng, monkeypatch):
    X, y = data(rng)
    _, scores = measure(make_problem(GreedyMAUC(), X, y))
    one = find_pairs(scores, np.arange(16), np.arange(16))
    monkeypatch.setattr("mauc.selectors.greedy_mauc.interactions._BLOCK_CELLS", 50)
    monkeypatch.setattr("mauc.selectors.greedy_mauc.interactions._ROWS", 7)
    other = find_pairs(scores, np.arange(16), np.arange(16))
    assert len(one) >= 2
    assert list(one) == list(other)


def test_noise_has_no_pairs():
    n_found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 30)) @ rng.normal(size=(30, 30)), np.arange(200) % 4
        n_found += len(fit(X, y, 3).interactions_)
    assert n_found <= 2  # one in a hundred data sets


def test_without_pairs_nothing_changes(rng):
    X, y = rng.normal(size=(200, 20)) + np.arange(200)[:, None] % 3 * rng.random(20), None
    y = np.arange(200) % 3
    selector = fit(X, y)
    assert len(selector.interactions_) == 0
    assert str(selector.interactions_) == "no interaction among 190 pairs of features"
    assert_same_fit(selector, GreedyMAUC("all").fit(X, y))
    assert GreedyMAUC("all").fit(X, y).interactions_ is None


def test_a_product_whose_features_suffice_has_no_effect(rng):
    X, y = data(rng)
    problem = make_problem(GreedyMAUC(), X, y)
    effects, scores = measure(problem, noise_correction=1.0, n_room=60)
    found = find_pairs(scores, np.arange(16), np.arange(16))
    alone = add_folded(effects, scores, np.zeros(0, np.int64), np.zeros((0, 3)))
    products, numbers = add_products(alone, found, 1.0)
    for (f, g), row in zip(products.members, products.effects[16:], strict=True):
        is_used = row != 0
        assert is_used.any()
        assert (row[is_used] ** 2 > (effects[f] ** 2 + effects[g] ** 2)[is_used]).all()
    # The correction grows with the number of pairs that were tested.
    more, fewer = add_products(alone, replace(found, n_tested=10**6), 1.0)
    both = np.isin(numbers, fewer)
    assert np.abs(more.effects[16:]).sum() < np.abs(products.effects[16:][both]).sum()


def definition(X, y, k, shrinkage, prior, interactions=True):
    """Every move at every step, matrices inverted."""
    problem = make_problem(GreedyMAUC(), X, y)
    effects, scores = measure(problem, noise_correction=1.0, n_room=80)
    m = len(effects)
    products = add_folded(effects, scores, *find_folded(effects, scores, 1.0))
    if interactions:
        pairs = find_pairs(scores, np.arange(m), np.arange(m))
        products, _ = add_products(products, pairs, 1.0)
    R = score_correlations(products.scores, shrinkage)

    def error(features):
        columns = [*features]
        columns += [m + j for j, pair in enumerate(products.members) if set(pair) <= set(features)]
        return np.exp(-separations(products.effects, R, columns) / 8).sum()

    chosen, gains = [], []
    while len(chosen) < k:
        left = [f for f in range(m) if f not in chosen]
        moves = [[f] for f in left]
        for f, g in products.members:
            new = [one for one in {f, g} if one not in chosen]
            moves += [new] if len(new) == 2 else []
        values = [
            np.mean(prior[new]) * (1 - error([*chosen, *new]) / error(chosen)) / len(new)
            for new in moves
        ]
        best = moves[int(np.argmax(values))]
        if len(best) == 2:
            alone = [prior[f] * (1 - error([*chosen, f]) / error(chosen)) for f in best]
            best = best if alone[0] >= alone[1] else best[::-1]
        for f in best[: k - len(chosen)]:
            gains.append(1 - error([*chosen, f]) / error(chosen))
            chosen.append(int(f))
    return chosen, gains


@pytest.mark.parametrize("interactions", [False, True])
def test_equals_the_definition(rng, interactions):
    for prior in (None, rng.uniform(0.5, 1, 16)):
        X, y = data(rng)
        X[y == 1, 12] *= 4.0
        X[y != 2, 13] *= 4.0
        X[y == 0, 14] *= 3.0
        X[:, 14] += 0.0 if interactions else X[:, 13]  # together they would interact
        selector = GreedyMAUC(15, interactions=interactions, prior=prior).fit(X, y)
        weights = np.ones(16) if prior is None else prior
        chosen, gains = definition(X, y, 15, selector.shrinkage_, weights, interactions)
        assert_array_equal(selector.folded_features_, [12, 13, 14])
        if interactions:
            assert (selector.interactions_.steps > 0).sum() >= 2
        assert_array_equal(selector.ranking_, chosen)
        assert_allclose(selector.trace_.scores, gains, rtol=1e-8)


def test_rating_every_feature_changes_nothing(rng, monkeypatch):
    X, y = data(rng, n=300, m=150)
    X[:, 100:] = X[:, 50:100] + 0.2 * rng.normal(size=(300, 50))
    monkeypatch.setattr(bounds_module, "MIN_EFFECTS", 0)
    bounded = fit(X, y)
    assert (bounded.interactions_.steps > 0).any()
    monkeypatch.setattr(bounds_module, "MIN_EFFECTS", np.inf)
    assert_same_fit(fit(X, y), bounded)


def test_products_and_rankings_are_nested(rng):
    X, y = data(rng)
    whole = fit(X, y)
    ranking = whole.ranking_.tolist()
    for one in whole.interactions_:
        if one.step > 0:  # it counts from its later feature on
            assert one.step == 1 + max(ranking.index(one.first), ranking.index(one.second))
    for k in range(1, 9):
        part = fit(X, y, k)
        assert_array_equal(part.ranking_, whole.ranking_[:k])
        assert_array_equal(part.trace_.scores, whole.trace_.scores[:k])
        wanted = np.where(whole.interactions_.steps <= k, whole.interactions_.steps, 0)
        assert_array_equal(part.interactions_.steps, wanted)


@pytest.mark.parametrize("options", [{}, {"prior": ExtraTreesClassifier(20)}, {"max_samples": 200}])
def test_order_of_rows_and_maps_change_nothing(rng, options):
    X, y = data(rng)
    one = fit(X, y, **options)
    order = rng.permutation(len(y))
    assert_same_fit(fit(X[order], y[order], n_jobs=2, **options), one)
    # Which samples are kept of many depends on the direction of a feature.
    maps = [(lambda x: 4 * x) if "prior" in options else np.exp]  # trees look at the values
    for transform in (*maps, *([] if "max_samples" in options else [np.negative])):
        mapped = X.copy()
        mapped[:, ::2] = transform(X[:, ::2])
        assert_same_fit(fit(mapped, y, **options), one)


def test_categories_take_no_part(rng):
    X, y = data(rng)
    X[:, 6] = np.where(X[:, 6] > 0, 1.0, 0.0) + (X[:, 6] > 1)
    assert [6, 7] in fit(X, y).interactions_.pairs.tolist()
    nominal = fit(X, y, categorical_features=[6])
    assert 6 not in nominal.interactions_.pairs
    assert len(nominal.interactions_) > 0
    assert sorted(nominal.ranking_) == list(range(16))


def test_a_rare_class_without_a_kept_sample(rng):
    X, y, wanted = make_pairs("xor", 1)
    y[:2] = 2
    selector = fit(X, y, 5, max_samples=100)
    assert set(wanted) <= set(selector.ranking_)
    assert np.isfinite(selector.separations_).all()


def test_candidates_of_many_features(rng, monkeypatch):
    X, y = data(rng, m=60)
    one = fit(X, y, 10)
    assert one.interactions_.n_tested == 60 * 59 // 2
    monkeypatch.setattr(interactions_module, "MAX_FEATURES", 50)
    assert fit(X, y, 10).interactions_.n_tested == 60 * 59 // 2
    monkeypatch.setattr(interactions_module, "MAX_TESTED", 5000)
    monkeypatch.setattr(interactions_module, "N_CANDIDATES", 30)
    few = fit(X, y, 10)
    assert few.interactions_.n_tested == 30 * 29 // 2
    candidates = GreedyMAUC(30).fit(X, y).ranking_
    assert np.isin(few.interactions_.pairs, candidates).all()


def test_many_pairs_many_steps(rng):
    # More pairs than are kept, and more columns than rows of the factor.
    y = np.arange(400) % 2
    shared = rng.normal(size=(400, 1))
    X = shared * np.where((y == 1)[:, None] & (np.arange(600) % 2 == 1), -1, 1)
    X = X + rng.normal(size=(400, 600))
    selector = fit(X, y, 560)
    assert len(selector.interactions_) == 60
    assert len(set(selector.ranking_)) == 560
    assert np.isfinite(selector.predicted_mauc_).all()


def test_more_products_count_than_features(rng):
    y = np.arange(600) % 2
    X = rng.normal(size=(600, 7)) + 2 * np.where(y == 0, rng.normal(size=600), 0)[:, None]
    selector = fit(X, y)
    assert sum(one.step > 0 for one in selector.interactions_) > 2 * 7
    kept = fit(X, y, keep=selector.ranking_[::-1].tolist())
    assert kept.predicted_mauc_[-1] == selector.predicted_mauc_[-1] > 0.8


def test_names_frame_and_copies():
    X, y, (a, b) = make_pairs("xor", 2)
    X = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    selector = fit(X, y, 5)
    frame = selector.interactions_.to_frame()
    assert list(frame.loc[0, ["first_name", "second_name", "step"]]) == [
        f"gene {min(a, b)}", f"gene {max(a, b)}", 2
    ]  # fmt: skip
    assert str(selector.interactions_).splitlines()[0].split() == [
        "feature", "with", "p-value", "step"
    ]  # fmt: skip
    assert str(selector.interactions_).splitlines()[1].endswith("2")
    assert_same_fit(pickle.loads(pickle.dumps(selector)), selector)
    assert_same_fit(clone(selector).fit(X, y), selector)


def test_too_little_memory(rng, monkeypatch):
    X, y = data(rng)
    monkeypatch.setattr(greedy_module, "_SMALL_BYTES", 0)
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 13_000)
    GreedyMAUC(5).fit(X, y)
    with pytest.raises(NotEnoughMemoryError, match="interactions=False"):
        fit(X, y, 5)
