"""What the classifiers share: validation, labels, weights, prediction."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris

from mauc.classifiers import RBFSVM, NearestNeighbor, NormalNaiveBayes
from mauc.classifiers.base import Samples
from mauc.exceptions import MaucError
from mauc.lab import C45

X, Y = load_iris(return_X_y=True)
DIGITS, _LABELS = load_digits(return_X_y=True)


def unweighted(X, y, n_classes):
    return Samples(X, y.astype(np.int32), np.ones(len(y)), n_classes, np.empty(0, np.int64))


DIGITS_TRAIN = unweighted(DIGITS[::2], _LABELS[::2], 10)
MODELS = [C45(), NearestNeighbor(), NormalNaiveBayes(), RBFSVM()]
each_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)


@each_model
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((sparse.csr_array(X), Y), "Sparse data"),
        ((np.where(X > 7, np.inf, X), Y), "infinity"),
        (([["a"], ["b"]], [0, 1]), "column 0 of the array .* has values such as"),
        ((X, Y[1:]), "inconsistent numbers of samples"),
        ((X, None), "requires y to be passed"),
        ((X, Y + 0.5), "Unknown label type"),
        ((X[:, 0], Y), "2D array"),
    ],
)
def test_bad_training_data_are_errors_of_this_library(model, arguments, message):
    with pytest.raises(MaucError, match=message):
        model.fit(*arguments)


@each_model
def test_bad_test_data_are_errors_of_this_library(model):
    model.fit(X, Y)
    with pytest.raises(MaucError, match="expecting 4 features"):
        model.predict(X[:, :3])


@each_model
def test_bad_weights_are_errors_of_this_library(model):
    for weights, message in ((-np.ones(150), "Negative"), (np.ones(3), "shape"), (0 * Y, "must")):
        with pytest.raises(MaucError, match=message):
            model.fit(X, Y, weights)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (C45(confidence=2), "confidence"),
        (NearestNeighbor(min_range="x"), "min_range"),
        (RBFSVM(C=0), "C must be"),
    ],
)
def test_options_are_checked_before_the_data(model, message):
    with pytest.raises(MaucError, match=message):
        model.fit("no data", None)


@each_model
def test_weights_count_rows_and_others_have_no_scale(model):
    rng = np.random.default_rng(0)
    holes = np.where(rng.random(X.shape) < 0.1, np.nan, X)[::2]
    weight, y = rng.integers(0, 4, len(holes)), Y[::2]
    scores = [
        model.fit(*arguments).predict_proba(holes)
        for arguments in (
            (holes, y, weight),
            (np.repeat(holes, weight, axis=0), np.repeat(y, weight)),
            (holes, y, weight + 0.5),
            (holes, y, 3.0 * weight + 1.5),
        )
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-9)
    np.testing.assert_allclose(scores[2], scores[3], atol=1e-9)


@each_model
def test_a_class_of_weight_zero_keeps_its_label(model):
    model.fit(X, Y, (Y > 0).astype(float))
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    assert not (model.predict(X) == 0).any()


@each_model
def test_to_prepare_is_not_to_fit(model):
    fresh = type(model)()
    fresh.prepare(unweighted(X, Y, 3))
    assert vars(fresh) == vars(type(model)())


def nested_scores(model, n_jobs=None):
    nested = model.nest(DIGITS_TRAIN, DIGITS[1::2], "predict_proba", n_jobs)
    return np.array(list(nested(np.arange(64)[::-1], [5, 64])))


@pytest.mark.parametrize("model", [NormalNaiveBayes(), NearestNeighbor(smooth=True)])
def test_threads_and_blocks_do_not_matter(model, monkeypatch):
    expected = nested_scores(model)
    monkeypatch.setattr("mauc.classifiers.nearest._NESTED_DISTANCES", 10_000)
    np.testing.assert_array_equal(nested_scores(model, n_jobs=2), expected)


def test_without_a_kernel_matrix_there_is_no_work_to_share():
    assert RBFSVM(precompute=False).nest(DIGITS_TRAIN, DIGITS[1::2], "predict_proba") is None
