"""The bootstrap interval of MAUC."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc import mauc_interval, mauc_score
from mauc.exceptions import AbsentClassWarning, MaucError, UndefinedMAUCError


@pytest.fixture
def scored(rng):
    y = np.repeat([0, 1, 2], [20, 30, 40])
    return y, np.eye(3)[y] + rng.normal(size=(90, 3))


def test_a_resample_is_the_mauc_of_its_samples(scored):
    y, scores = scored
    interval = mauc_interval(y, scores, n_bootstrap=3, random_state=5)
    for seed, value in zip(np.random.SeedSequence(5).spawn(3), interval.values, strict=True):
        generator = np.random.default_rng(seed)
        rows = []
        for code in range(3):
            members = np.flatnonzero(y == code)
            times = generator.multinomial(len(members), np.full(len(members), 1 / len(members)))
            rows.extend(np.repeat(members, times))
        assert value == pytest.approx(mauc_score(y[rows], scores[rows]), abs=1e-12)


def test_the_point_is_mauc_and_lies_within(scored):
    interval = mauc_interval(*scored)
    assert interval.mauc == pytest.approx(mauc_score(*scored), abs=1e-15)
    assert interval.lower < interval.mauc < interval.upper
    assert "95% interval" in str(interval)


def test_perfect_scores_have_no_spread():
    interval = mauc_interval([0, 0, 1, 1], [[2, 1], [3, 0], [0, 4], [1, 5]], n_bootstrap=20)
    assert (interval.lower, interval.mauc, interval.upper) == (1.0, 1.0, 1.0)


def test_n_threads_agnosticism(scored):
    one, two = (mauc_interval(*scored, n_bootstrap=50, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_array_equal(one.values, two.values)


def test_the_interval_covers_the_truth_about_as_often_as_it_says(rng):
    # Normal scores of two classes one apart: AUC = Phi(1 / sqrt(2)) = 0.76.
    covered = 0
    for _ in range(100):
        y = np.repeat([0, 1], 40)
        scores = rng.normal(size=80) + y
        interval = mauc_interval(y, scores, n_bootstrap=200, level=0.9)
        covered += interval.lower <= 0.7602 <= interval.upper
    assert 80 <= covered <= 97


def test_an_absent_class_is_left_out(scored):
    y, scores = scored
    with pytest.warns(AbsentClassWarning, match="1 of 3 pairs"):
        interval = mauc_interval(y[y < 2], scores[y < 2], labels=[0, 1, 2], n_bootstrap=10)
    assert np.isnan(interval.pair_lower).tolist() == [False, True, True]
    assert 0 < interval.lower <= interval.upper <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bootstrap": 0}, "n_bootstrap must be"),
        ({"level": 1.0}, r"level must be a number in \(0, 1\), got 1.0"),
    ],
)
def test_bad_options_are_named(scored, options, message):
    with pytest.raises(MaucError, match=message):
        mauc_interval(*scored, **options)


def test_one_class_has_no_mauc():
    with pytest.raises(UndefinedMAUCError):
        mauc_interval([0, 0], [[1, 0], [0, 1]], labels=[0, 1])
