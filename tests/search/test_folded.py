"""The search with folded scores: the definition as an oracle, laws, memory."""

from contextlib import nullcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier

from mauc import GreedyMAUC
from mauc.data.door import make_problem
from mauc.exceptions import NotEnoughMemoryError
from mauc.measure.effects import measure, with_folded
from mauc.search import greedy as bounds_module
from mauc.selectors import greedy_mauc as greedy_module
from tests.helpers.oracle_greedy import doubt_of, pair_stakes, score_correlations, separations
from tests.helpers.selector_cases import assert_same_fit
from tests.helpers.told_prior import prior_of


def data(rng, n=400, m=16):
    """Main effects, copies, missing and coarse values, and three features of spread."""
    y = np.arange(n) % 7 // 3  # classes of different sizes
    X = rng.normal(size=(n, m))
    X[:, :4] += 0.6 * rng.normal(size=(3, 4))[y]
    X[:, 4] = X[:, 0] + 0.3 * rng.normal(size=n)
    X[:, 10] = X[:, 10].round()
    X[::9, 8] = np.nan
    X[y == 1, 12] *= 4.0
    X[y != 2, 13] *= 4.0
    X[y == 0, 14] *= 3.0
    X[:, 14] += X[:, 13]
    return X, y


def definition(X, y, k, shrinkage, prior):
    """Every feature at every step, alone and with its folded scores, matrices inverted."""
    effects, scores = measure(make_problem(X, y), n_room=20)
    m = len(effects)
    columns = with_folded(effects, scores)
    R, stakes = score_correlations(columns.scores, shrinkage, doubt_of(y)), pair_stakes(y)

    def error(features, *, with_last=True):
        folded = set(features) if with_last else set(features[:-1])
        further = [m + j for j, f in enumerate(columns.folded) if f in folded]
        return stakes @ np.exp(-separations(columns.effects, R, [*features, *further]) / 8)

    chosen, gains = [], []
    while len(chosen) < k:
        left = [f for f in range(m) if f not in chosen]
        joint = {f: 1 - error([*chosen, f]) / error(chosen) for f in left}
        alone = {f: 1 - error([*chosen, f], with_last=False) / error(chosen) for f in left}
        best = max(left, key=lambda f: prior[f] * max(joint[f], alone[f]))
        gains.append(joint[best])
        chosen.append(best)
    return chosen, gains


def test_equals_the_definition(rng):
    for weights in (None, rng.uniform(0.5, 1, 16)):
        X, y = data(rng)
        prior = None if weights is None else prior_of(weights)
        selector = GreedyMAUC(15, prior=prior).fit(X, y)
        weights = np.ones(16) if weights is None else weights
        chosen, gains = definition(X, y, 15, selector.shrinkage_, weights)
        assert_array_equal(selector.folded_features_, [12, 13, 14])
        assert_array_equal(selector.ranking_, chosen)
        assert_allclose(selector.trace_.scores, gains, rtol=1e-8)


def test_rating_every_feature_changes_nothing(rng, monkeypatch):
    X, y = data(rng, n=300, m=150)
    X[:, 100:] = X[:, 50:100] + 0.2 * rng.normal(size=(300, 50))
    monkeypatch.setattr(bounds_module, "MIN_EFFECTS", 0)
    bounded = GreedyMAUC("all").fit(X, y)
    assert len(bounded.folded_features_) > 0
    monkeypatch.setattr(bounds_module, "MIN_EFFECTS", np.inf)
    assert_same_fit(GreedyMAUC("all").fit(X, y), bounded)


def test_rankings_are_nested(rng):
    X, y = data(rng)
    whole = GreedyMAUC("all").fit(X, y)
    for k in range(1, 9):
        part = GreedyMAUC(k).fit(X, y)
        assert_array_equal(part.ranking_, whole.ranking_[:k])
        assert_array_equal(part.trace_.scores, whole.trace_.scores[:k])


@pytest.mark.parametrize("options", [{}, {"prior": ExtraTreesClassifier(20)}, {"max_samples": 200}])
def test_order_of_rows_and_maps_change_nothing(rng, options):
    X, y = data(rng)
    one = GreedyMAUC("all", **options).fit(X, y)
    order = rng.permutation(len(y))
    assert_same_fit(GreedyMAUC("all", n_jobs=2, **options).fit(X[order], y[order]), one)
    # Which samples are kept of many depends on the direction of a feature.
    maps = [(lambda x: 4 * x) if "prior" in options else np.exp]  # trees look at the values
    for transform in (*maps, *([] if "max_samples" in options else [np.negative])):
        mapped = X.copy()
        mapped[:, ::2] = transform(X[:, ::2])
        assert_same_fit(GreedyMAUC("all", **options).fit(mapped, y), one)


def test_more_columns_than_features(rng):
    y = np.arange(600) % 2
    X = rng.normal(size=(600, 7)) * np.where(y == 0, 3, 1)[:, None]
    selector = GreedyMAUC("all").fit(X, y)
    assert_array_equal(selector.folded_features_, np.arange(7))
    kept = GreedyMAUC("all", keep=selector.ranking_[::-1].tolist()).fit(X, y)
    assert kept.predicted_mauc_[-1] == selector.predicted_mauc_[-1] > 0.8


def test_their_room_is_counted(rng, monkeypatch):
    X, y = data(rng)
    monkeypatch.setattr(greedy_module, "_SMALL_BYTES", 0)
    # 16 features: scores of 400 samples; AUCs of 3 pairs, and effects, twice; 5 steps; 6 sums and
    # centers of classes; and the steps of 5 folded scores.
    n_bytes = 16 * 400 + 8 * 16 * (3 + 2 * 3 + 5 + 6 + 5)
    for free, is_enough in ((n_bytes, True), (n_bytes - 1, False)):
        with monkeypatch.context() as patch:
            patch.setattr("mauc.memory.free_memory", lambda free=free: free)
            with nullcontext() if is_enough else pytest.raises(NotEnoughMemoryError):
                GreedyMAUC(5).fit(X, y)
