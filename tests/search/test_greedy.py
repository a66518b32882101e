"""The search of GreedyMAUC: features that are not scored again, and what pairs count."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mauc import GreedyMAUC
from mauc.measure.effects import measure
from mauc.search.greedy import pair_stakes
from tests.helpers.told_prior import prior_of


@pytest.mark.parametrize("has_prior", [False, True])
def test_most_features_are_scored_once(rng, monkeypatch, has_prior):
    X, y = rng.normal(size=(300, 3000)), np.arange(300) % 10
    X[:, :30] += rng.normal(size=(10, 30))[y]
    kept = {}

    def keep(*args, **options):
        effects, scores = measure(*args, **options)
        kept.update(now=effects, first=effects.copy())
        return effects, scores

    monkeypatch.setattr("mauc.selectors.greedy_mauc.measure", keep)
    prior = prior_of(rng.uniform(0.5, 1, 3000)) if has_prior else None
    GreedyMAUC(20, prior=prior).fit(X, y)
    assert (kept["now"] == kept["first"]).all(axis=1).mean() > 0.9


def test_errors_of_pairs_with_few_samples_count_less():
    # Harmonic means of sizes 10 and 10, 10 and 30 (15), 30 and 30: h / (h + 10), the largest 1.
    sizes = np.array([10, 10, 30, 30])
    expected = np.array([10 / 20, 15 / 25, 15 / 25, 15 / 25, 15 / 25, 30 / 40]) / (30 / 40)
    assert_allclose(pair_stakes(sizes, None), expected)
    shares = np.array([4.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert_allclose(pair_stakes(sizes, shares), shares * expected / (4 * expected[0]))
