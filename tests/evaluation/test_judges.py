"""The judges of the panel against scikit-learn, on subsets of every size."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestNeighbors

from mauc import mauc_score
from mauc.data.door import FitOptions, make_problem
from mauc.evaluation import judges
from mauc.evaluation.judges import JUDGES, score_fold, split_fold
from mauc.registry import Accepts


def digits_split(n_train=900):
    X, y = load_digits(return_X_y=True)
    problem = make_problem(X, y)
    return split_fold(problem, np.arange(64), np.arange(n_train), np.arange(n_train, 1797))


def test_the_linear_discriminant_is_that_of_scikit_learn_on_every_prefix(monkeypatch):
    split, shrinkage = digits_split(), 0.1
    monkeypatch.setattr(
        judges, "_shrink", lambda R, *_: (1 - shrinkage) * R + shrinkage * np.eye(len(R))
    )
    sizes = (3, 20, 64)
    for size, scores in zip(sizes, score_fold("lda", split, sizes), strict=True):
        Z, codes = split.train[:, :size], split.codes
        means = np.array([Z[codes == k].mean(axis=0) for k in range(10)])
        spread = np.maximum(np.sqrt(((Z - means[codes]) ** 2).mean(axis=0)), 0.05)
        varies = Z.any(axis=0)
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage)
        within = ((Z - means[codes]) / spread)[:, varies]
        scale = np.sqrt((within**2).mean())  # scikit-learn shrinks towards the mean variance
        if np.allclose((within**2).mean(axis=0), scale**2):
            model.fit((Z / spread)[:, varies], codes)
            wanted = model.predict_proba((split.test[:, :size] / spread)[:, varies])
            assert_allclose(np.exp(scores), wanted, atol=1e-9)


def test_a_wide_table_has_the_same_discriminant_in_the_space_of_its_rows(monkeypatch):
    split = digits_split(100)
    (direct,) = score_fold("lda", split, [64])
    monkeypatch.setattr(judges, "_MAX_WIDTH", 10)
    narrow = split._replace(
        train=np.tile(split.train[:50], 2),
        test=np.tile(split.test, 2),
        codes=split.codes[:50],
        weights=split.weights[:50],
        ends=np.arange(129),
    )
    (rotated,) = score_fold("lda", narrow, [128])
    monkeypatch.setattr(judges, "_MAX_WIDTH", 2000)
    (plain,) = score_fold("lda", narrow, [128])
    assert_allclose(rotated, plain, atol=1e-7)
    assert direct.shape == rotated.shape


def test_the_nearest_sample_of_each_class_decides():
    split = digits_split()
    (scores,) = score_fold("nn", split, [30])
    nearest = NearestNeighbors(n_neighbors=1).fit(split.train[:, :30])
    found = nearest.kneighbors(split.test[:, :30], return_distance=False)[:, 0]
    assert_array_equal(scores.argmax(axis=1), split.codes[found])


@pytest.mark.parametrize("judge", JUDGES)
def test_sizes_are_those_of_a_split_on_the_first_features(judge):
    split = digits_split()
    several = list(score_fold(judge, split, [64] if judge == "lda" else [5, 64]))
    (alone,) = score_fold(judge, split, [64])
    assert_allclose(several[-1], alone, atol=1e-8)
    assert all(part.shape == (897, 10) for part in several)


def test_words_missing_values_and_weights(rng):
    y = np.repeat([0, 1, 2], 40)
    X = pd.DataFrame({"a": y + rng.normal(size=120), "b": np.array(["u", "v", "w"])[y]})
    X.loc[::7, "a"] = np.nan
    X.loc[::11, "b"] = None
    weight = np.where(np.arange(120) % 3 == 0, 2.0, 1.0)
    problem = make_problem(X, y, FitOptions(Accepts(nominal=True)), weight)
    rows = np.arange(120)
    split = split_fold(problem, np.array([1, 0]), rows[::2], rows[1::2])
    assert split.ends.tolist() == [0, 4, 5]  # a missing word is a category
    for judge in JUDGES:
        one, both = score_fold(judge, split, [1, 2])
        assert not np.isnan(both).any()
        assert mauc_score(y[1::2], both) > 0.9
        assert mauc_score(y[1::2], one) > 0.8
