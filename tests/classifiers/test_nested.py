"""Scores on nested feature sets, whatever the blocks and threads."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mauc.classifiers import RBFSVM, NearestNeighbor, NormalNaiveBayes
from mauc.classifiers.base import Samples

X, Y = load_digits(return_X_y=True)
TRAIN = Samples.unweighted(X[::2], Y[::2].astype(np.int32), 10)


def nested_scores(model, n_jobs=None):
    nested = model.nest(TRAIN, X[1::2], "predict_proba", n_jobs)
    return np.array(list(nested(np.arange(64)[::-1], [5, 64])))


@pytest.mark.parametrize("model", [NormalNaiveBayes(), NearestNeighbor(smooth=True)])
def test_threads_and_blocks_do_not_matter(model, monkeypatch):
    expected = nested_scores(model)
    monkeypatch.setattr("mauc.classifiers.nearest._NESTED_DISTANCES", 10_000)
    monkeypatch.setattr("mauc.classifiers.bayes._MAX_RESERVED", 10_000)
    np.testing.assert_array_equal(nested_scores(model, n_jobs=2), expected)


def test_without_a_kernel_matrix_there_is_no_work_to_share():
    assert RBFSVM(precompute=False).nest(TRAIN, X[1::2], "predict_proba") is None
