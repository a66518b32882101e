"""What would help a hard pair: one case per verdict."""

import numpy as np
import pytest

from mauc import feature_pair_auc
from mauc.report.html.diagnose import TITLES, PairFacts, chance_auc, diagnose


def facts(**changes):
    usual = {
        "names": ("u", "v"), "counts": (100, 100), "n_features": 50, "chosen_auc": 0.85,
        "best_auc": 0.85, "best_feature": "b", "set_auc": 0.9, "every_auc": 0.9, "added_auc": None,
    }  # fmt: skip
    return PairFacts(**(usual | changes))


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"set_auc": 0.995}, "separated", "nothing needs to be done"),
        ({"counts": (100, 7)}, "few", "v has 7: more samples are needed"),
        ({"counts": (3, 7)}, "few", "u has 3 and v has 7"),
        # 12 and 12 samples: the best of 20,000 features without information may reach 0.99
        ({"counts": (12, 12), "n_features": 20_000, "best_auc": 0.93}, "few", "chance alone"),
        ({"chosen_auc": 0.7, "best_auc": 0.93, "added_auc": 0.95}, "left_out",
         "b alone has an AUC of 0.930 here, the best chosen feature 0.700; with it Naive Bayes "
         "gets from 0.900 to 0.950."),
        # without cross-validation the gap decides
        ({"chosen_auc": 0.7, "best_auc": 0.93, "set_auc": None, "every_auc": None}, "left_out",
         "the best chosen feature 0.700."),
        ({"every_auc": 0.95}, "more", "all 50 features reaches 0.950"),
        # a better feature that does not help in the set is not recommended
        ({"chosen_auc": 0.7, "best_auc": 0.93, "added_auc": 0.9}, "limit", "another classifier"),
        ({"chosen_auc": 0.6, "best_auc": 0.62, "set_auc": 0.61, "every_auc": 0.62}, "none",
         "other measurements are needed"),
        ({}, "limit", "another classifier or other measurements"),
    ],
)  # fmt: skip
def test_every_verdict_has_its_case(changes, kind, words):
    found, sentence = diagnose(facts(**changes))
    assert found == kind
    assert words in sentence
    assert kind in TITLES


def test_chance_is_what_noise_reaches():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [15, 25])
    best = [feature_pair_auc(rng.normal(size=(40, 500)), y).max() for _ in range(200)]
    assert np.mean(np.array(best) > chance_auc((15, 25), 500)) < 0.08
    assert np.quantile(best, 0.95) > chance_auc((15, 25), 500) - 0.05
