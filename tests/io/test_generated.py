"""Generated sets follow their formulas, and the siren set does what it is for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mauc import MAUCD, MDFS, ChiSquare, SymmetricalUncertainty
from mauc.classifiers import NormalNaiveBayes
from mauc.datasets import load_dataset, make_control_charts, make_siren
from mauc.evaluation import FoldEvaluator
from mauc.exceptions import MaucError
from mauc.io.generated import CHARTS

t = np.arange(60)


@pytest.fixture(scope="module")
def charts():
    dataset = make_control_charts(n_per_class=300)
    return {name: dataset.X[dataset.y == name] for name in CHARTS}


def test_normal_charts_are_uniform_around_30(charts):
    values = charts["Normal"]
    assert values.min() >= 24
    assert values.max() <= 36
    # 18000 values: the mean has a standard error of 0.026, the variance 12 one of 0.08
    assert values.mean() == pytest.approx(30, abs=0.1)
    assert values.var() == pytest.approx(12, abs=0.3)


def test_cyclic_charts_are_sines_within_the_noise(charts):
    periods = np.linspace(10, 15, 201)
    waves = np.sin(2 * np.pi * t / periods[:, None])
    for series in charts["Cyclic"]:
        amplitudes = np.clip(waves @ (series - 30) / (waves**2).sum(axis=1), 10, 15)
        rest = series - 30 - amplitudes[:, None] * waves
        # the noise is at most 6; the grid of periods costs some of a phase
        assert np.abs(rest).max(axis=1).min() < 8


@pytest.mark.parametrize(("name", "sign"), [("Increasing trend", 1), ("Decreasing trend", -1)])
def test_trends_have_slopes_in_their_range(charts, name, sign):
    slopes = sign * (charts[name] - 30) @ t / (t @ t)
    noise = 6 / np.sqrt(3 * (t @ t))  # standard error of a slope
    assert slopes.min() > 0.2 - 4 * noise
    assert slopes.max() < 0.5 + 4 * noise
    assert slopes.mean() == pytest.approx(0.35, abs=0.02)


@pytest.mark.parametrize(("name", "sign"), [("Upward shift", 1), ("Downward shift", -1)])
def test_shifts_happen_in_the_middle_third(charts, name, sign):
    moved = sign * (charts[name] - 30)
    assert np.abs(moved[:, :20]).max() <= 6
    assert (moved[:, 39:] > 1.4).all()  # at least 7.5 less 6 of noise
    size = moved[:, 40:].mean(axis=1)
    assert size.mean() == pytest.approx(13.75, abs=0.8)
    assert size.min() > 7.5 - 3
    assert size.max() < 20 + 3


@pytest.mark.data
def test_charts_agree_with_the_published_sample(load_paper_data):
    X, y = load_paper_data("synthetic")
    ours = make_control_charts(n_per_class=1000).X.reshape(6, 1000, 60)
    for code in range(6):
        theirs = X[y == code].astype(float)
        # of 60 points some are 3 standard errors off by chance, hardly any 5
        error = np.hypot(theirs.std(axis=0) / 10, ours[code].std(axis=0) / np.sqrt(1000))
        assert (np.abs(theirs.mean(axis=0) - ours[code].mean(axis=0)) < 5 * error).all()
        assert_allclose(theirs.std(axis=0), ours[code].std(axis=0), rtol=0.35)


@pytest.mark.parametrize("make", [make_control_charts, make_siren])
def test_a_seed_settles_the_set(make):
    again = [make(n_per_class=5, random_state=seed) for seed in (3, 3, 4)]
    assert_array_equal(again[0].X, again[1].X)
    assert again[0].fingerprint() == again[1].fingerprint() != again[2].fingerprint()


def test_bundled_generated_sets_are_frozen():
    assert load_dataset("control_charts").fingerprint() == "22041ee47cd22f9d32fc1e0fe8a1b760"
    assert load_dataset("siren").fingerprint() == "3f2a929f247f0930c7e1416e5b1097c8"


def test_siren_has_the_columns_it_names():
    dataset = make_siren(n_per_class=3, n_easy=1, n_hard=3, n_loud=2, n_quiet=2, n_noise=1)
    assert dataset.feature_names == [
        "loud1",
        "loud2",
        "quiet1-2a",
        "quiet1-2b",
        "quiet1-3a",
        "quiet1-3b",
        "quiet2-3a",
        "quiet2-3b",
        "noise1",
    ]
    assert dataset.X.shape == (12, 9)
    assert sorted(set(dataset.y)) == ["easy1", "hard1", "hard2", "hard3"]
    charts = make_control_charts(n_per_class=2, length=3)
    assert charts.y.tolist() == [name for name in CHARTS for _ in range(2)]
    assert charts.feature_names == ["t0", "t1", "t2"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_averaging_filters_fail_on_the_siren_and_mdfs_does_not(seed):
    dataset = make_siren(random_state=seed)
    X, y = dataset.X, dataset.y
    fold = FoldEvaluator(X[::2], y[::2], X[1::2], y[1::2])

    def mauc(selector):
        ranking = selector.fit(X[::2], y[::2]).ranking_
        return fold.evaluate(ranking, [20], NormalNaiveBayes())[0]

    # 9 of the 15 class pairs are easy: without quiet features (9 + 6 / 2) / 15 = 0.8
    for averaging in (MAUCD(20), ChiSquare(20), SymmetricalUncertainty(20)):
        assert mauc(averaging) == pytest.approx(0.8, abs=0.03)
    assert mauc(MDFS(20, random_state=0)) > 0.97


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (make_control_charts, {"n_per_class": 0}, "n_per_class must be an int of at least 1"),
        (make_control_charts, {"length": 2.5}, r"length must be an int .* got 2\.5"),
        (make_siren, {"n_hard": 1}, "n_hard must be an int of at least 2, got 1"),
        (make_siren, {"n_noise": -1}, "n_noise must be an int of at least 0, got -1"),
    ],
)
def test_counts_that_make_no_set(make, options, message):
    with pytest.raises(MaucError, match=message):
        make(**options)
