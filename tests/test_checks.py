"""How many classes are a class."""

import numpy as np
import pytest

from mauc import MAUCD, MDFS
from mauc.checks import MAX_CLASSES, allow_many_classes, is_class_count
from mauc.exceptions import MaucError


@pytest.mark.parametrize(
    ("n_classes", "n_samples", "is_class"),
    [
        (2, 2, True),
        (20, 20, True),
        (21, 41, False),
        (21, 42, True),
        (MAX_CLASSES, 2000, True),
        (MAX_CLASSES + 1, 10**6, False),
    ],
)
def test_what_can_be_a_class(n_classes, n_samples, is_class):
    assert is_class_count(n_classes, n_samples) is is_class


def test_selectors_refuse_more_classes_before_anything_is_allocated():
    n = 2 * (MAX_CLASSES + 1)
    X, y = np.random.default_rng(0).normal(size=(n, 2)), np.arange(n) // 2
    for work in (MDFS(1).fit, MAUCD(1).fit):
        with pytest.raises(MaucError, match=r"1,001 classes in 2,002 rows.*allow_many_classes\(\)"):
            work(X, y)
    with allow_many_classes():
        assert len(MAUCD(1).fit(X, y).classes_) == MAX_CLASSES + 1
    with pytest.raises(MaucError, match="1,001 classes"):
        MAUCD(1).fit(X, y)
