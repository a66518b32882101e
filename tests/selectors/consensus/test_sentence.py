"""The sentence on the stability of a choice: bounds that exclude something, and others."""

from types import SimpleNamespace

import numpy as np
import pytest

from mauc.selectors.consensus import stability_sentence
from mauc.selectors.error_bound import ErrorControl
from mauc.stability import UNKNOWN, Stability


def sentence_of(frequencies, n_chosen, n_resamples=50, stability=None):
    return stability_sentence(
        SimpleNamespace(
            stability_=stability or Stability(0.8, 0.01, 0.7, 0.9),
            error_control_=ErrorControl(np.array(frequencies), n_chosen, n_resamples // 2),
            rankings_=np.zeros((n_resamples, n_chosen), np.int64),
        )
    )


@pytest.mark.parametrize(
    ("n_high", "n_features", "end"),
    [
        (4, 20, "4 features are chosen from 80% of them or more, of which at most 2.1 are expected "
         "to be wrong"),  # 25 / (20 (2 * 0.8 - 1))
        (2, 2000, "2 features are chosen from 80% of them or more, of which at most 0.0208 are "
         "expected to be wrong"),
        (1, 6, "1 feature is chosen from 80% of them or more"),  # the bound is 6
        (0, 20, "no feature is chosen from 80% of them or more"),
    ],
)  # fmt: skip
def test_a_bound_is_told_where_it_excludes_something(n_high, n_features, end):
    frequencies = np.where(np.arange(n_features) < n_high, 0.8, 0.1)
    start = "stability over 50 halves of the samples: 0.800 (0.700 to 0.900); "
    assert sentence_of(frequencies, 5) == start + end


def test_nothing_is_said_where_all_features_are_chosen():
    assert sentence_of(np.ones(3), 3, stability=UNKNOWN) == ""
