"""Labels that are encoded once give what `mauc_score` gives, to the bit."""

import numpy as np
import pytest

from mauc import mauc_score
from mauc.exceptions import AbsentClassWarning
from mauc.metrics.mauc import ClassPairs


def test_scores_are_mauc_scores():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 60)
    classes = np.arange(5)  # one of them absent
    for scores in (rng.normal(size=(60, 5)), rng.integers(0, 2, (60, 5)).astype(float)):
        with pytest.warns(AbsentClassWarning):
            expected = mauc_score(y, scores, labels=classes)
        assert ClassPairs.of_test(y, classes).mauc(scores) == expected


def test_a_vector_has_the_scores_of_the_second_class():
    scores = np.array([0.1, 0.9, 0.9])
    assert ClassPairs.of_test(np.array(["a", "a", "b"]), np.array(["a", "b"])).mauc(scores) == 0.75
