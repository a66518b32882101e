"""The value that says how selectors are compared: its words and its checks."""

import dataclasses

import pytest

from mauc.exceptions import MaucError
from mauc.stats import PAPER_COMPARISON, Comparison


def test_words():
    assert str(Comparison("su", "corrected_t")) == "corrected resampled t-test at 5 %"
    assert str(Comparison("su", "wilcoxon", 0.1)) == "Wilcoxon signed-rank test at 10 %"
    assert Comparison(alpha=0.001).level == "0.1 %"
    assert Comparison("mdfs", "wilcoxon", 0.05) == PAPER_COMPARISON


@pytest.mark.parametrize("alpha", [0, 1, 5, -0.1, float("nan"), "0.05", None, True])
def test_a_level_that_is_none_is_refused(alpha):
    with pytest.raises(MaucError, match=r"alpha must be a number in \(0, 1\), got"):
        Comparison(alpha=alpha)


def test_a_test_that_is_none_is_refused():
    with pytest.raises(MaucError, match=r"test must be one of .* did you mean 'wilcoxon'"):
        Comparison(test="wilcoxn")


def test_it_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        PAPER_COMPARISON.alpha = 0.5
