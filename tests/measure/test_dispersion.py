"""GreedyMAUC on features whose spread separates classes: by hand, the definition, laws."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from mauc import GreedyMAUC
from mauc.data.door import make_problem
from mauc.measure import effects as module
from mauc.measure.effects import FOLDED, find_folded, measure
from mauc.selectors.greedy_mauc import spread_sentence
from tests.helpers.array_source import CountingSource
from tests.helpers.cli_helpers import run, run_json
from tests.helpers.selector_cases import assert_same_fit


def spread_data(rng, n=600, m=40, c=3, ratio=2.0, n_shifted=2):
    """Noise, the first columns shifted by class, and one, column m - 1, that is wide in class 1."""
    y = np.arange(n) % c
    X = rng.normal(size=(n, m))
    for j in range(n_shifted):
        X[:, j] += 0.5 * rng.permutation(c)[y]
    X[y == 1, m - 1] *= ratio
    return X, y


def test_folded_scores():
    # A score of 0.674 is at the quartile: half of all lie nearer to the median. 0 may be missing.
    table = dict(zip(np.arange(256, dtype=np.uint8).view(np.int8).tolist(), FOLDED, strict=True))
    assert abs(table[22]) <= 1
    assert table[0] == 0
    assert table[127] == 122  # 32 Phi^-1(2 Phi(3.97) - 1)
    assert all(table[z] == table[-z] for z in range(128))
    assert all(table[z] <= table[z + 1] for z in range(1, 127))


def test_a_spread_feature_is_found_among_noise():
    for seed in range(20):
        for n_shifted in (0, 2):
            X, y = spread_data(np.random.default_rng(seed), n_shifted=n_shifted)
            selector = GreedyMAUC(10).fit(X, y)
            assert 39 in selector.ranking_[: n_shifted + 1]
            assert_array_equal(selector.folded_features_, [39])
            assert selector.scores_[39] == selector.scores_[2:].max()


def test_effects_equal_the_definition(rng):
    X, y = spread_data(rng, m=12)
    X[y == 1, 8:10] *= 3.0
    X[:, 9] += 2.0 * (y == 0)
    X[y == 2, 10] *= 0.6
    y[:30] = 3  # too few samples for an effect of spread
    y[30:45] = 4
    effects, scores = measure(make_problem(X, y))
    columns, found = find_folded(effects, scores)
    codes, expected = np.sort(y), {}
    for f in range(12):
        z = np.abs(scores.scores[f] / 32.0)
        folded = np.where(z > 0, np.rint(32 * ndtri(np.maximum(2 * ndtr(z) - 1, 1e-300))), 0) / 32
        parts = [folded[codes == k] for k in range(5)]
        squares = [((part - part.mean()) ** 2).sum() for part in parts]
        row = []
        for i in range(5):
            for j in range(i + 1, 5):
                n_i, n_j = len(parts[i]), len(parts[j])
                pooled = 40 * sum(squares) / (len(y) - 5)
                variance = (squares[i] + squares[j] + pooled) / (n_i + n_j + 38)
                g = (parts[i].mean() - parts[j].mean()) / np.sqrt(variance)
                chance = 1 / n_i + 1 / n_j
                ratio = g * g / (chance * (1 + g * g / 8) + 0.05)
                g *= ratio / 4 if ratio < 2 else 1 - 1 / ratio
                luck = chi2.isf(0.01 / (12 * 6), 1) * chance  # six pairs of classes of 20 or more
                counts = min(n_i, n_j) >= 20 and g * g > max(luck, 2 * effects[f, len(row)] ** 2)
                row.append(0.5 * g if counts else 0.0)
        by_order = np.exp(-(effects[f] ** 2) / 8)
        if (by_order * (1 - np.exp(-np.square(row) / 8))).mean() > 1 - by_order.mean():
            expected[f] = row
    assert {8, 11} <= set(expected)
    assert_array_equal(columns, list(expected))
    assert_allclose(found, list(expected.values()), atol=1e-9)


@pytest.mark.parametrize("n", [30, 60, 150, 600])
def test_order_alone_has_no_spread(n):
    n_found = 0
    for seed in range(20):
        X, y = spread_data(np.random.default_rng(seed), n, 60, ratio=1.0, n_shifted=20)
        n_found += len(GreedyMAUC(5).fit(X, y).folded_features_)
    assert n_found <= 1  # one in a hundred data sets


def test_without_spread_the_ranking_is_the_plain_one(rng, monkeypatch):
    X, y = spread_data(rng, ratio=1.0, n_shifted=10)
    fitted = GreedyMAUC("all").fit(X, y)
    monkeypatch.setattr(module, "_MIN_CLASS_COUNT", 10**6)
    assert_same_fit(GreedyMAUC("all").fit(X, y), fitted)


def test_missing_values_are_no_middle(rng):
    X, y = spread_data(rng, ratio=1.0)
    X[(y == 1) & (rng.random(len(y)) < 0.5), 20] = np.nan
    assert len(GreedyMAUC(5).fit(X, y).folded_features_) == 0


def test_the_prediction_knows_the_spread():
    # |x| of two normal classes, one three times as wide, has an AUC of 2 arctan(3) / pi = 0.795.
    predicted = []
    for seed in range(5):
        X, y = spread_data(np.random.default_rng(seed), m=10, c=2, ratio=3.0, n_shifted=0)
        selector = GreedyMAUC(3).fit(X, y)
        assert selector.ranking_[0] == 9
        assert_array_equal(selector.trace_.to_frame()["predicted_mauc"], selector.predicted_mauc_)
        assert_allclose(selector.trace_[0].score, selector.scores_[9], rtol=1e-9)
        predicted.append(selector.predicted_mauc_[0])
    assert_allclose(np.mean(predicted), 0.795, atol=0.02)


def test_the_most_useful_are_kept(rng, monkeypatch):
    X, y = spread_data(rng)
    X[y == 2, 20:24] *= np.array([2.0, 3.0, 4.0, 5.0])
    assert_array_equal(GreedyMAUC(5).fit(X, y).folded_features_, [20, 21, 22, 23, 39])
    monkeypatch.setattr(module, "MAX_FOLDED", 2)
    assert_array_equal(GreedyMAUC(5).fit(X, y).folded_features_, [22, 23])


def test_rows_maps_blocks_and_threads_change_nothing(rng, monkeypatch):
    X, y = spread_data(rng)
    fitted = GreedyMAUC("all").fit(X, y)
    order = rng.permutation(len(y))
    assert_same_fit(GreedyMAUC("all").fit(X[order], y[order]), fitted)
    assert_same_fit(GreedyMAUC("all").fit(np.exp(X), y), fitted)
    assert_array_equal(GreedyMAUC("all").fit(-X, y).ranking_, fitted.ranking_)
    assert_same_fit(GreedyMAUC("all", n_jobs=2).fit(X, y), fitted)
    monkeypatch.setattr(module, "_BLOCK_CELLS", 2000)
    assert_same_fit(GreedyMAUC("all").fit(X, y), fitted)


@pytest.mark.parametrize("max_samples", [200, 2048])
def test_a_source_gives_the_same(rng, max_samples):
    X, y = spread_data(rng, ratio=4.0)
    fitted = GreedyMAUC(12, max_samples=max_samples).fit(X, y)
    assert_array_equal(fitted.folded_features_, [39])
    streamed = GreedyMAUC(12, max_samples=max_samples).fit(CountingSource(X), y)
    assert_same_fit(streamed, fitted)
    assert_array_equal(streamed.folded_features_, [39])


def test_alternatives_are_of_features_without_spread(rng):
    X, y = spread_data(rng)
    X[:, 10] = X[:, 0] + 0.05 * rng.normal(size=len(y))
    X[:, 11] = X[:, 39] + 0.05 * rng.normal(size=len(y))
    selector = GreedyMAUC(3).fit(X, y)
    chosen = set(selector.ranking_.tolist())
    assert len(chosen & {11, 39}) == len(chosen & {0, 10}) == 1
    kept = pickle.loads(pickle.dumps(selector))
    assert dict(kept.alternatives_) == dict(selector.alternatives_)
    for feature, exchanges in selector.alternatives_.items():
        others = {one.alternative for one in exchanges}
        assert others == ({0: {10}, 10: {0}}.get(feature, others))
        assert feature not in (11, 39) or not exchanges


def test_a_feature_of_spread_is_told_on_the_command_line_and_on_the_page(tmp_path, rng):
    X, y = spread_data(rng, m=10)
    frame = pd.DataFrame(X).add_prefix("x").assign(label=np.array(list("abc"))[y])
    frame.to_csv(tmp_path / "a.csv", index=False)
    words = ("select", tmp_path / "a.csv", "--target", "label", "-k", 3)
    sentence = "x9 separates classes by its spread, which its AUC alone does not show"
    assert sentence in run(*words, "--report", tmp_path / "a.html").stdout
    assert f"{sentence}." in (tmp_path / "a.html").read_text()
    assert run_json(*words)["by_spread"] == ["x9"]
    assert spread_sentence(GreedyMAUC(3).fit(X[:, :9], y), frame.columns) == ""
