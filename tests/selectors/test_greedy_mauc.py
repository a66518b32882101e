"""GreedyMAUC: cases by hand, the definition as an oracle, laws, awkward inputs, sources."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier

from mauc import MDFS, GreedyMAUC
from mauc.classifiers import NearestNeighbor, NormalNaiveBayes
from mauc.data.door import make_problem
from mauc.data.rows import hashed_rows
from mauc.evaluation import FoldEvaluator
from mauc.exceptions import ConstantInputWarning, NotEnoughMemoryError, SmallClassWarning
from mauc.measure.effects import measure
from mauc.search import choice as choice_module
from mauc.search import greedy as bounds_module
from mauc.search.choice import enough_features
from mauc.search.greedy import search_candidates
from mauc.selectors import greedy_mauc as greedy_module
from tests.helpers.array_source import CountingSource
from tests.helpers.oracle_greedy import doubt_of, greedy, shrinkage_intensity
from tests.helpers.selector_cases import assert_same_fit
from tests.helpers.strategies import problems

TREES = ExtraTreesClassifier(20)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def quiet_fit(selector, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallClassWarning)
        warnings.simplefilter("ignore", ConstantInputWarning)
        return selector.fit(X, y)


def mixed_data(rng, n=70, m=9, c=4):
    """Shifted classes, a duplicate, a constant, coarse values and missing ones."""
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    X = rng.normal(size=(n, m)) + y[:, None] * rng.normal(size=m) / 2
    X[:, 1] = X[:, 0]
    X[:, 2] = 7.0
    X[:, 3] = X[:, 3].round()
    X[rng.random(n) < 0.3, 4] = np.nan
    X[:, 5] = X[:, 6] + X[:, 7]
    return X, y


class TestByHand:
    """Numbers that can be worked out on paper."""

    def test_one_feature_has_the_effect_of_its_auc(self):
        # Values of 2 and 3 are the only pairs out of order, so AUC = 3/4; none of them is tied.
        X, y = np.array([[1.0], [3.0], [2.0], [4.0]]), np.array([0, 0, 1, 1])
        X = np.repeat(X, 50, axis=0) + np.linspace(0, 0.5, 200)[:, np.newaxis]
        selector = GreedyMAUC(1).fit(X, np.repeat(y, 50))
        effect = np.sqrt(2) * ndtri(0.75)
        # d^2 = 0.91 is more than twice s^2 = (1 + d^2 / 8) / 50 + 0.05.
        less = effect * (1 - ((1 + effect**2 / 8) / 50 + 0.05) / effect**2)
        assert_allclose(selector.separations_, [less**2], rtol=1e-12)
        assert_allclose(selector.scores_, [1 - np.exp(-(less**2) / 8)], rtol=1e-12)

    def test_an_effect_below_its_noise_keeps_a_part(self):
        # 2 x 2 samples: normal scores of -37, 10 and -10, 37 in 1/32, so the means differ by 27
        # and each class has a sum of squares of 1104.5; that is the variance pooled, too.
        X, y = np.array([[1.0], [3.0], [2.0], [4.0]]), np.array([0, 0, 1, 1])
        difference = 27 / np.sqrt(1104.5)
        share = 0.5 * (1 - 2 / 100)  # of the difference: two samples of each class
        effect = share * difference + (1 - share) * np.sqrt(2) * ndtri(0.75)
        ratio = effect**2 / (1 + effect**2 / 8 + 0.05)
        assert 0.6 < ratio < 0.7
        assert_allclose(GreedyMAUC(1).fit(X, y).separations_, [(effect * ratio / 4) ** 2])

    def test_independent_features_add_their_squares(self):
        # Each cell of a 6 x 6 design holds three rows of each class: correlation 0.
        X = np.array([[a, b] for a in range(6) for b in range(6)] * 6, dtype=float)
        X[108:] += [[0.5, 0.5]]
        y = np.repeat([0, 1], 108)
        selector = GreedyMAUC(2, shrinkage=0.0).fit(X, y)
        # 6 + 5 + ... + 1 of 6 x 6 values are in order; 1/12 of the pairs are tied, which is few.
        effect = np.sqrt(2) * ndtri(21 / 36)
        ratio = effect**2 / (2 / 108 * (1 + effect**2 / 8) + 0.05)
        assert 1.2 < ratio < 1.4
        assert_allclose(selector.separations_, [2 * (effect * ratio / 4) ** 2], rtol=1e-12)

    def test_errors_of_rare_pairs_count_less(self):
        # 40 samples of a and b, 5 of c: errors of a and b count 40 / 50, others h / (h + 10) with
        # h = 2 / (1 / 40 + 1 / 5).
        y = np.repeat([0, 1, 2], [40, 40, 5])
        X = np.random.default_rng(3).normal(size=(85, 1)) + 2.0 * y[:, None]
        selector = GreedyMAUC(1).fit(X, y)
        h = 2 / (1 / 40 + 1 / 5)
        stakes = np.array([0.8, h / (h + 10), h / (h + 10)])
        left = stakes @ np.exp(-selector.separations_ / 8) / stakes.sum()
        assert_allclose(selector.scores_, [1 - left], rtol=1e-12)

    def test_a_copy_adds_only_what_shrinkage_leaves(self):
        rng = np.random.default_rng(1)
        y = np.repeat([0, 1], 50)
        x = rng.normal(size=100) + y
        X = np.column_stack([x, x])
        alone = GreedyMAUC(1).fit(X, y).separations_[0]
        # [d d] [[1, r], [r, 1]]^-1 [d d]' = 2 d^2 / (1 + r)
        both = GreedyMAUC(2, shrinkage=0.2).fit(X, y).separations_[0]
        assert_allclose(both, 2 * alone / 1.8, rtol=1e-12)
        trusted = GreedyMAUC(2, shrinkage=0.0).fit(X, y)
        assert_allclose(trusted.separations_[0], alone, rtol=1e-9)

    def test_a_hard_pair_comes_before_a_better_mean(self):
        # Features 0 and 1 repeat each other on the easy pair; only 2 tells b from c.
        rng = np.random.default_rng(2)
        y = np.repeat([0, 1, 2], 60)
        easy = rng.normal(size=180) + 3.0 * (y == 0)
        almost = easy + 0.3 * rng.normal(size=180)
        hard = rng.normal(size=180) + 1.5 * (y == 2)
        selector = GreedyMAUC(2).fit(np.column_stack([easy, almost, hard]), y)
        assert selector.ranking_[1] == 2
        assert selector.trace_[1].subproblem_name == "1 vs 2"
        assert selector.trace_[1].rank == 1


# No shrinkage at all may leave no inverse; then a floor under the variance stands in.
@given(
    problems(max_samples=25),
    st.sampled_from([0.05, 0.2, 1.0]),
)
def test_equals_the_definition(problem, shrinkage):
    X, y = problem
    selector = quiet_fit(GreedyMAUC("all", shrinkage=shrinkage), X, y)
    ranking, gains, history = greedy(X, y, X.shape[1], shrinkage)
    assert_array_equal(selector.ranking_, ranking)
    assert_allclose(selector.trace_.scores[: len(gains)], gains, atol=1e-11)
    if history:
        assert_allclose(selector.separations_, history[-1], rtol=1e-9, atol=1e-9)


def test_equals_the_definition_on_wider_data(rng):
    for c in (2, 3, 6):
        X, y = mixed_data(rng, n=60, m=14, c=c)
        selector = GreedyMAUC("all").fit(X, y)
        ranking, gains, history = greedy(X, y, 14, selector.shrinkage_, doubt_of(y))
        assert_array_equal(selector.ranking_, ranking)
        assert_allclose(selector.trace_.scores[:13], gains, rtol=1e-9)
        assert_allclose(selector.separations_, history[-1], rtol=1e-9)


@pytest.mark.parametrize(
    "transform",
    [lambda x: np.exp(x), lambda x: x**3, lambda x: -x, lambda x: -np.expm1(2 * x), np.arctan],
)
def test_monotone_maps_change_nothing(rng, transform):
    X, y = mixed_data(rng)
    one = GreedyMAUC("all").fit(X, y)
    for columns in ([0], [0, 1, 3, 4], list(range(9))):
        mapped = X.copy()
        mapped[:, columns] = transform(X[:, columns])
        assert_same_fit(GreedyMAUC("all").fit(mapped, y), one)


def test_order_of_columns_is_followed(rng):
    X, y = mixed_data(rng)
    X = X[:, [0, 3, 4, 5, 6, 7, 8]]
    order = rng.permutation(7)
    selector = GreedyMAUC("all", shrinkage=0.2)
    one, other = clone(selector).fit(X, y), clone(selector).fit(X[:, order], y)
    assert_array_equal(order[other.ranking_], one.ranking_)
    assert_array_equal(other.separations_, one.separations_)


@pytest.mark.parametrize("options", [{}, {"shrinkage": 0.0}])
def test_rating_every_feature_changes_nothing(rng, monkeypatch, options):
    # More steps than a window of bounds has; copies reach the floor of the variance.
    X, y = mixed_data(rng, n=120, m=150, c=6)
    X[:, 100:] = X[:, :50] + 0.2 * rng.normal(size=(120, 50))
    X[:, 90] = X[:, 91]
    monkeypatch.setattr(bounds_module, "MIN_EFFECTS", 0)
    bounded = GreedyMAUC("all", **options).fit(X, y)
    monkeypatch.setattr(bounds_module, "MIN_EFFECTS", np.inf)
    assert_same_fit(GreedyMAUC("all", **options).fit(X, y), bounded)


def test_correlations_of_a_part_of_the_samples(rng):
    X, y = mixed_data(rng, n=400)
    # Whole fits agree while the samples do not pass the limit.
    assert_same_fit(GreedyMAUC(max_samples=400).fit(X, y), GreedyMAUC(max_samples=None).fit(X, y))
    part = GreedyMAUC("all", max_samples=50).fit(X, y)
    assert not np.array_equal(part.separations_, GreedyMAUC("all").fit(X, y).separations_)
    assert_array_equal(part.scores_, GreedyMAUC("all").fit(X, y).scores_)
    # An eighth of the samples of every class, with the ranks among all
    problem = make_problem(X, y)
    _, scores = measure(problem, max_samples=50)
    _, full = measure(problem)
    order = np.argsort(y, kind="stable").astype(np.int32)
    starts = np.concatenate([[0], np.cumsum(np.bincount(y))])
    assert_array_equal(scores.scores, full.scores[:, hashed_rows(problem, order, starts, 50)])
    assert_array_equal(scores.class_counts, np.bincount(np.sort(y)[::8]))


def test_a_rare_class_may_have_no_sample_in_the_part(rng):
    y = np.array([0] * 500 + [1] * 500 + [2] * 2)
    X = rng.normal(size=(1002, 5)) + y[:, None]
    selector = GreedyMAUC("all", max_samples=20).fit(X, y)
    assert sorted(selector.ranking_) == list(range(5))
    assert np.isfinite(selector.separations_).all()
    assert np.isfinite(selector.predicted_mauc_).all()
    assert selector.predicted_mauc_[-1] > 0.7


def test_a_feature_that_varies_outside_the_part_is_not_constant():
    y = np.arange(1000) % 2
    X = np.zeros((1000, 2))
    X[999, 1] = 1.0
    selector = GreedyMAUC("all", max_samples=10).fit(X, y)
    assert_array_equal(selector.ranking_, [1, 0])
    assert selector.scores_[1] > 0


def test_shrinkage_equals_the_definition(rng):
    for c in (2, 3, 5):
        X, y = mixed_data(rng, n=60, c=c)
        X = X[:, [0, 1, 3, 4, 5, 6, 7, 8]]
        assert_allclose(GreedyMAUC().fit(X, y).shrinkage_, shrinkage_intensity(X, y), rtol=1e-9)
    X, y = rng.normal(size=(12, 3)), np.repeat([0, 1, 2, 3, 4, 5], 2)
    assert_allclose(GreedyMAUC().fit(X, y).shrinkage_, shrinkage_intensity(X, y), rtol=1e-9)


@pytest.mark.parametrize("shrinkage", ["auto", 0.0, 0.2, 1.0])
def test_copies_and_sums_do_no_harm(rng, shrinkage):
    X, y = mixed_data(rng)
    X = np.column_stack([X] * 6 + [X @ rng.normal(size=(9, 5))])
    selector = GreedyMAUC("all", shrinkage=shrinkage).fit(X, y)
    assert sorted(selector.ranking_) == list(range(59))
    assert np.isfinite(selector.separations_).all()


def test_perfect_features_do_not_end_the_choice():
    # A column for each class: all AUCs are 0.5 or 1, and so large D that errors are tiny.
    y = np.repeat(np.arange(5), 30)
    X = np.column_stack([y == k for k in range(5)] * 40).astype(float)
    selector = GreedyMAUC("all").fit(X, y)
    assert sorted(selector.ranking_) == list(range(200))
    assert_array_equal(np.sort(selector.ranking_[:4] % 5), np.unique(selector.ranking_[:4] % 5))


def test_fewer_samples_than_features(rng):
    X, y = rng.normal(size=(80, 5000)).astype(np.float32), np.arange(80) % 4
    X[:, 17] += 3 * y
    selector = GreedyMAUC(60).fit(X, y)
    assert selector.ranking_[0] == 17
    assert len(set(selector.ranking_)) == 60
    assert np.isfinite(selector.predicted_mauc_).all()


@pytest.mark.parametrize("c", [26, 200])
def test_many_classes(rng, c):
    y = rng.permutation(np.arange(5 * c) % c)
    X = rng.normal(size=(5 * c, 20))
    X[:, 3] += y
    selector = GreedyMAUC(10).fit(X, y)
    assert selector.ranking_[0] == 3
    assert selector.pair_auc_.shape == (10, c * (c - 1) // 2)


def test_classes_of_one_sample(rng):
    X, y = rng.normal(size=(30, 6)), np.array([0] * 14 + [1] * 14 + [2, 3])
    with pytest.warns(SmallClassWarning):
        selector = GreedyMAUC("all").fit(X, y)
    ranking, _, history = greedy(X, y, 6, selector.shrinkage_, doubt_of(y))
    assert_array_equal(selector.ranking_, ranking)
    assert_allclose(selector.separations_, history[-1], rtol=1e-9)
    with pytest.warns(SmallClassWarning):
        alone = GreedyMAUC("all").fit(X[-2:], [0, 1])
    assert np.isfinite(alone.separations_).all()


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["usps", "indiana", "isolet"])
def test_few_features_serve_better_than_those_of_mdfs(load_paper_data, name):
    X, y = load_paper_data(name)
    X = np.asarray(X, dtype=np.float32)
    fold = FoldEvaluator(X[::2], y[::2], X[1::2], y[1::2])
    sizes = [10, 20]
    for classifier in (NormalNaiveBayes(), NearestNeighbor()):
        ours, theirs = (
            fold.evaluate(selector.fit(X[::2], y[::2]).ranking_, sizes, classifier).mean()
            for selector in (GreedyMAUC(20), MDFS(20, random_state=0))
        )
        assert ours > theirs + 0.005


def test_predicted_keeps_the_fewest_features_that_are_predicted_to_be_enough(monkeypatch):
    X, y = load_digits(return_X_y=True)
    full = GreedyMAUC(64).fit(X, y)
    searches = []

    def counted(*args, **options):
        searches.append(args[1])
        return search_candidates(*args, **options)

    monkeypatch.setattr(choice_module, "search_candidates", counted)
    selector = GreedyMAUC("predicted").fit(X, y)
    assert searches == [64]
    n_kept = len(selector.ranking_)
    assert_same_fit(selector, GreedyMAUC(n_kept).fit(X, y))
    assert_array_equal(selector.ranking_, full.ranking_[:n_kept])
    assert_array_equal(selector.predicted_mauc_, full.predicted_mauc_[:n_kept])
    assert n_kept == enough_features(full.predicted_mauc_)
    assert_same_fit(GreedyMAUC().fit(X, y), selector)  # the default
    assert len(GreedyMAUC(None).fit(X, y).ranking_) == 32  # half


@pytest.mark.parametrize(
    ("mauc", "n"),
    [
        ([0.8, 0.9, 0.9004, 0.9004], 2),  # what follows adds 0.0004
        ([0.8, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.91], 8),  # the eighth is within twice two and four
        ([0.8, *(7 * [0.9]), 0.95], 2),  # the ninth is not
        ([0.0, 0.0, 0.9, 0.0, 0.9], 3),  # groups: only 3 or 5 features are a choice
        ([*(20 * [0.0]), 0.9], 21),
        ([0.7], 1),
    ],
)
def test_enough_is_where_twice_as_many_and_four_more_add_nothing(mauc, n):
    assert enough_features(np.array(mauc)) == n


def test_weights_of_pairs_are_compared_with_none_at_the_predicted_size(wine):
    weight = {("0", "1"): 0} if wine[1].dtype.kind in "UO" else {(0, 1): 0}
    default = GreedyMAUC(pair_weight=weight).fit(*wine)
    asked = GreedyMAUC(len(default.ranking_), pair_weight=weight).fit(*wine)
    assert_same_fit(default, asked)


def test_the_trace_tells_the_predicted_mauc_of_every_step(wine):
    selector = GreedyMAUC(4).fit(*wine)
    assert_array_equal(selector.trace_.to_frame()["predicted_mauc"], selector.predicted_mauc_)
    assert all(0 < step.score < 1 for step in selector.trace_)
    assert selector.trace_[0].score == selector.scores_.max()
    assert selector.ranking_[0] == selector.scores_.argmax()


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 900)
    X = (rng.normal(size=(900, 80)) + y[:, np.newaxis] * rng.uniform(0, 0.5, 80)).astype(np.float32)
    X[:, 30:34] = rng.integers(0, 6, (900, 4)) + y[:, np.newaxis] % 3
    X[::7, 3] = X[::5, 30] = np.nan
    return X, y


def check_fits(selector, X, y, memory=400_000):
    source = CountingSource(X, memory=memory)
    selector.fit(X, y)
    results = ("ranking_", "scores_", "pair_auc_", "predicted_mauc_", "separations_")
    expected = {name: getattr(selector, name) for name in results}
    alternatives = dict(selector.alternatives_)
    for n_jobs in (1, 2):
        selector.set_params(n_jobs=n_jobs).fit(source, y)
        for name in results:
            np.testing.assert_array_equal(getattr(selector, name), expected[name])
        assert dict(selector.alternatives_) == alternatives
    return source


@pytest.mark.parametrize(
    "options",
    [
        {"max_samples": 200},
        {"max_samples": 200, "categorical_features": [30, 31, 33]},
        {"max_samples": None, "shrinkage": 0.2},
        {"n_features_to_select": "predicted", "max_samples": 100},
    ],
    ids=str,
)
def test_equals_array(table, options):
    X, y = table
    check_fits(GreedyMAUC(**{"n_features_to_select": 12, **options}), X, y)


@pytest.mark.parametrize("values", [2, 3])
def test_rows_that_many_columns_tell_apart(table, values):
    _, y = table
    X = np.random.default_rng(2).integers(0, values, (900, 80)).astype(np.float32)
    X[100:400] = X[500:800]  # equal rows
    nominal = [5, 6, 70]
    source = check_fits(GreedyMAUC(8, max_samples=150, categorical_features=nominal), X, y)
    # Looked at one by one, but read in groups, each twice as large as the last.
    reads = source.reads[: len(source.reads) // 2]
    sizes = [len(places) for places in reads]
    assert sizes[1:7] == [1, 2, 4, 8, 13, 13]  # columns that an eighth of the memory holds


def test_few_columns_are_read_to_choose_rows(table):
    X, y = table
    source = CountingSource(X, memory=400_000)
    GreedyMAUC(5, max_samples=200).fit(source, y)
    first = source.reads.index(next(places for places in source.reads[1:] if len(places) > 2))
    assert sum(map(len, source.reads[1:first])) <= 3


def test_only_chosen_columns_are_read_again(table):
    X, y = table
    source = CountingSource(X, memory=400_000)
    selector = GreedyMAUC(3, max_samples=None).fit(source, y)
    n_read = np.bincount(np.concatenate(source.reads), minlength=80)
    n_read[0] -= 1  # not all columns are constant
    n_read[selector.ranking_] -= 1
    np.testing.assert_array_equal(n_read, np.ones(80))


def test_too_little_memory(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(greedy_module, "_SMALL_BYTES", 0)
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 50_000)
    for data in (X, CountingSource(X, memory=400_000)):
        with pytest.raises(
            NotEnoughMemoryError, match=r"80 features x 900 samples.*lower max_samples \(2048\)"
        ):
            GreedyMAUC(5).fit(data, y)
    GreedyMAUC(5, max_samples=100).fit(X, y)


@pytest.mark.parametrize(
    "options",
    [{"max_samples": 50}, {"prior": TREES}, {"max_samples": 50, "prior": TREES}],
)
def test_weights_stand_for_repeated_rows(rng, options):
    y, weight = np.arange(120) % 3, rng.integers(1, 4, 120)
    X = rng.normal(size=(120, 6)) + np.outer(y, [2, 1, 0.5, 0, 0, 0])
    X[y == 1, 4] *= 4  # separates by its spread
    X[::7, 1] = np.nan
    found = GreedyMAUC("all", **options).fit(X, y, sample_weight=weight)
    wanted = GreedyMAUC("all", **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_array_equal(found.ranking_, wanted.ranking_)
    assert_array_equal(found.folded_features_, wanted.folded_features_)
    assert_allclose(found.predicted_mauc_, wanted.predicted_mauc_, rtol=1e-9)
    if "prior" in options:
        assert_allclose(found.prior_, wanted.prior_, rtol=1e-9)
    for feature in range(6):
        exchanges = [fit.alternatives_[feature] for fit in (found, wanted)]
        assert [one.alternative for one in exchanges[0]] == [
            one.alternative for one in exchanges[1]
        ]
