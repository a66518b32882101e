"""Priors: the definition as an oracle, estimators on robust scores, laws, wrong ones."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from mauc import ConsensusSelector, GreedyMAUC
from mauc.data.door import make_problem
from mauc.exceptions import MaucError, NotEnoughMemoryError
from mauc.measure.effects import measure
from mauc.search import greedy as bounds_module
from mauc.search import prior as prior_module
from mauc.search.prior import learn_importances, value_scores
from tests.helpers.array_source import CountingSource
from tests.helpers.oracle_greedy import doubt_of, score_correlations, separations
from tests.helpers.selector_cases import assert_same_fit
from tests.helpers.told_prior import Told, prior_of

TREES = ExtraTreesClassifier(20)


def data(rng, n=120, m=30, c=4):
    y = np.arange(n) % c
    X = rng.normal(size=(n, m))
    X[:, :8] += rng.normal(size=(c, 8))[y]
    X[:, 8:11] = X[:, :3] + 0.3 * rng.normal(size=(n, 3))
    X[:, 4] = X[:, 4].round()
    X[::6, 5] = np.nan
    return X, y


def unpruned(X, y, k, prior, shrinkage):
    """Every candidate at every step, matrices inverted."""
    effects, scores = measure(make_problem(X, y))
    R = score_correlations(scores, shrinkage, doubt_of(y))

    def errors(chosen):
        return np.exp(-separations(effects, R, chosen) / 8).sum()

    chosen, gains = [], []
    before = effects.shape[1]
    for _ in range(k):
        left = [f for f in range(len(effects)) if f not in chosen]
        of_left = np.array([1 - errors([*chosen, f]) / before for f in left])
        best = int(np.argmax(prior[left] * of_left))
        chosen.append(left[best])
        gains.append(of_left[best])
        before = errors(chosen)
    return chosen, gains


class TestByHand:
    """Two features, one of which is better."""

    def fit(self, prior):
        y = np.repeat([0, 1], 40)
        z = np.tile(np.arange(40.0), 2)
        X = np.column_stack([z + 10 * y, np.tile(np.arange(40.0) * 17 % 40, 2) + 20 * y])
        return GreedyMAUC(2, prior=None if prior is None else prior_of(prior)).fit(X, y)

    def test_the_larger_weighted_gain_goes_first(self):
        weak, strong = self.fit(None).scores_
        assert_array_equal(self.fit(None).ranking_, [1, 0])
        share = weak / strong
        assert_array_equal(self.fit([1.0, 1.01 * share]).ranking_, [1, 0])
        assert_array_equal(self.fit([1.0, 0.99 * share]).ranking_, [0, 1])

    def test_scores_and_gains_are_not_weighted(self):
        plain, weighted = self.fit(None), self.fit([5.0, 1.0])
        assert_allclose(weighted.prior_, [1.0, 0.2])
        assert plain.prior_ is None
        assert_array_equal(weighted.scores_, plain.scores_)
        assert weighted.trace_.scores[0] == plain.scores_[0]
        assert_array_equal(weighted.trace_.ranks, [2, 1])


def test_equals_the_definition(rng):
    X, y = data(rng)
    for _ in range(3):
        prior = rng.uniform(0.2, 1.0, 30)
        prior[7] = 1.0
        selector = GreedyMAUC(20, prior=prior_of(3 * prior)).fit(X, y)
        chosen, gains = unpruned(X, y, 20, prior, selector.shrinkage_)
        assert_array_equal(selector.ranking_, chosen)
        assert_allclose(selector.trace_.scores, gains, rtol=1e-8)


@pytest.mark.parametrize("weight", [1.0, 1e-200, 1e200, 3])
def test_equal_weights_are_no_prior(rng, weight):
    X, y = data(rng)
    plain = GreedyMAUC("all", prior=None).fit(X, y)
    equal = GreedyMAUC("all", prior=Told(np.full(30, weight))).fit(X, y)
    plain.prior_ = np.ones(30)
    assert_same_fit(equal, plain)


def test_rating_every_feature_changes_nothing(rng, monkeypatch):
    X, y = data(rng, n=150, m=200, c=6)
    X[:, 100:] = X[:, :100] + 0.2 * rng.normal(size=(150, 100))
    for prior in (prior_of(rng.uniform(0.2, 1, 200)), Told(rng.random(200) ** 9), TREES):
        monkeypatch.setattr(bounds_module, "MIN_EFFECTS", 0)
        bounded = GreedyMAUC("all", prior=prior).fit(X, y)
        monkeypatch.setattr(bounds_module, "MIN_EFFECTS", np.inf)
        assert_same_fit(GreedyMAUC("all", prior=prior).fit(X, y), bounded)


def test_features_without_gain_go_by_weight():
    y = np.arange(40) % 2
    X = np.column_stack([np.repeat(np.arange(20.0), 2)] * 3 + [y])
    assert_array_equal(
        GreedyMAUC("all", prior=Told([1, 3, 2, 0.1])).fit(X, y).ranking_, [3, 1, 2, 0]
    )


@pytest.mark.parametrize("prior", [TREES, "told"])
def test_order_of_rows_and_maps_change_nothing(rng, prior):
    X, y = data(rng)
    # Trees look at the values; another unit is the same to them.
    maps = [lambda x: 4 * x, lambda x: x / 2]
    if isinstance(prior, str):
        prior, maps = prior_of(rng.uniform(0.2, 1, 30)), [*maps, np.exp, lambda x: x**3]
    for options in ({}, {"max_samples": 50}):
        one = GreedyMAUC("all", prior=prior, **options).fit(X, y)
        order = rng.permutation(len(y))
        other = GreedyMAUC("all", prior=prior, n_jobs=2, **options)
        assert_same_fit(other.fit(X[order], y[order]), one)
        # Which samples are kept of many depends on the direction of a feature.
        for transform in (*maps, *([] if options else [np.negative])):
            mapped = X.copy()
            mapped[:, ::2] = transform(X[:, ::2])
            assert_same_fit(GreedyMAUC("all", prior=prior, **options).fit(mapped, y), one)


def test_sparse_and_sources_equal_dense(rng):
    X = np.where(rng.random((90, 25)) < 0.7, 0, rng.integers(-3, 9, (90, 25))).astype(float)
    y = np.arange(90) % 3
    for prior in (TREES, prior_of(rng.uniform(0.2, 1, 25))):
        one = GreedyMAUC("all", prior=prior).fit(X, y)
        assert_same_fit(GreedyMAUC("all", prior=prior).fit(sparse.csr_array(X), y), one)
        source = CountingSource(X, memory=20_000)
        assert_same_fit(GreedyMAUC("all", prior=prior).fit(source, y), one)


def test_importances_are_those_of_an_estimator_on_robust_scores(rng):
    X, y = data(rng)
    X[:, 0] *= -1
    problem = make_problem(X, y)
    _, scores = measure(problem)
    q1, median, q3 = np.nanquantile(X, [0.25, 0.5, 0.75], axis=0)
    Z = np.rint(np.clip(32 * (X - median) / (q3 - q1) * 1.349, -127, 127))
    Z = np.nan_to_num(Z)[np.argsort(y, kind="stable")]
    # The first class has a positive mean of the normal scores in all features.
    Z *= np.where(scores.sums[0] < 0, -1, 1)
    trees = ExtraTreesClassifier(20, random_state=0).fit(Z, np.sort(y))
    assert_array_equal(learn_importances(TREES, problem, scores), trees.feature_importances_)
    weights = GreedyMAUC(5, prior=TREES).fit(X, y).prior_
    assert weights.max() == 1.0
    ratio = trees.feature_importances_ / trees.feature_importances_.max()
    assert_allclose(weights, np.maximum(ratio, 1e-4) ** 0.2)


def test_trees_prefer_what_serves_in_company(rng):
    # Few samples of many features: the prior finds more of those that tell the classes apart.
    n_found = {False: 0, True: 0}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.arange(80) % 4
        X = rng.normal(size=(80, 1500))
        X[:, :30] += rng.normal(size=(4, 30))[y]
        for has_trees in n_found:
            prior = ExtraTreesClassifier(200) if has_trees else None
            n_found[has_trees] += (GreedyMAUC(30, prior=prior).fit(X, y).ranking_ < 30).sum()
    assert n_found[True] > n_found[False]


def test_the_default_grows_no_trees(rng):
    X, y = data(rng, n=20)  # fewer samples than features
    one = GreedyMAUC(10).fit(X, y)
    assert one.prior_ is None
    assert_same_fit(GreedyMAUC(10, prior=None).fit(X, y), one)


def test_nothing_to_split(rng):
    X, y = rng.normal(size=(1000, 4)), np.r_[np.zeros(998, int), 1, 1]
    # No sample of the rare class is among the two that the trees see.
    selector = GreedyMAUC("all", prior=TREES, max_samples=2).fit(X, y)
    assert_array_equal(selector.prior_, np.ones(4))


def test_nominal_noise_has_no_large_weight(rng):
    n = 200
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 6))
    X[:, 0] += y
    X[:, 1] = rng.integers(0, 60, n)
    X[:, 2] = rng.integers(0, 4, n) + 2 * y
    nominal = GreedyMAUC("all", prior=ExtraTreesClassifier(200), categorical_features=[1, 2]).fit(
        X, y
    )
    problem = make_problem(X, y)
    _, scores = measure(problem)
    for known in scores.nominal.values():
        known.share = np.inf  # all of it is confirmed
    plain = learn_importances(ExtraTreesClassifier(200), problem, scores)
    assert nominal.prior_[1] < (plain[1] / plain.max()) ** 0.2
    assert nominal.prior_[1] < nominal.prior_[[0, 2, 3, 4, 5]].min()


@pytest.mark.parametrize(
    "prior",
    ["auto", "sklearn.svm.LinearSVC", np.ones(3), [1, 2, 1], {"a": 1.0}, 3.0, True],
)
def test_a_prior_is_an_estimator(rng, prior):
    X = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
    wanted = r"prior must be None or an estimator with .* such as ExtraTreesClassifier\(200, "
    with pytest.raises(MaucError, match=wanted) as caught:
        GreedyMAUC(2, prior=prior).fit(X, np.arange(30) % 2)
    assert str(caught.value).endswith(f", got {prior!r}.")


def test_too_little_memory_for_an_estimator(rng, monkeypatch):
    monkeypatch.setattr(prior_module, "_SMALL_CELLS", 0)
    monkeypatch.setattr("mauc.memory.free_memory", lambda: 1000)
    X, y = data(rng)
    with pytest.raises(NotEnoughMemoryError, match=r"30 features x 120 samples.*prior=None"):
        GreedyMAUC(5, prior=TREES).fit(X, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("prior", [ExtraTreesClassifier(3), RandomForestClassifier(3)])
def test_the_checks_of_scikit_learn(prior):
    failing = {}
    if isinstance(prior, RandomForestClassifier):
        reason = "a bootstrap of weighted rows is not one of repeated rows"
        kinds = ("dense", "sparse")
        failing = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}
    check_estimator(GreedyMAUC(prior=prior), expected_failed_checks=failing)


def test_importances_and_coefficients_by_hand(rng):
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 3
    wanted = np.array([0.5, 1.0, 1e-4]) ** 0.2  # 2, 4 and 0, the last of them raised to the floor
    told = [
        Told([2, 4, 0]),
        Told(coef=[[-1, 2, 0], [1, -2, 0]]),
        Told(coef=[-2, 4, 0]),
        make_pipeline(StandardScaler(), make_pipeline(StandardScaler(), Told([2, 4, 0]))),
    ]
    for prior in told:
        assert_allclose(GreedyMAUC(2, prior=prior).fit(X, y).prior_, wanted)
    assert_array_equal(GreedyMAUC(2, prior=Told([0, 0, 0])).fit(X, y).prior_, np.ones(3))


@pytest.mark.parametrize(
    "wrap", [lambda told: told, lambda told: make_pipeline("passthrough", told)]
)
def test_an_estimator_gets_the_weights_of_its_rows(rng, wrap):
    X, y, w = rng.normal(size=(40, 2)), np.arange(40) % 2, rng.integers(1, 9, 40)
    GreedyMAUC(2, prior=wrap(Told([1, 2]))).fit(X, y, sample_weight=w)
    assert_array_equal(np.sort(Told.weights), np.sort(w))


def test_a_copy_of_an_estimator_is_fitted_with_a_seed(rng):
    X, y = data(rng)
    one = GreedyMAUC("all", prior=ExtraTreesClassifier(20, random_state=0)).fit(X, y)
    trees = ExtraTreesClassifier(20)
    assert_same_fit(GreedyMAUC("all", prior=trees).fit(X, y), one)
    assert not hasattr(trees, "estimators_")
    assert trees.random_state is None


@pytest.mark.parametrize(
    "prior",
    [
        RandomForestClassifier(10),
        make_pipeline(StandardScaler(), LogisticRegression()),
        LinearSVC(dual=False),
        DecisionTreeClassifier(),
    ],
)
def test_estimators_do_not_see_the_order_of_the_rows(rng, prior):
    X, y = data(rng)
    one = GreedyMAUC("all", prior=prior).fit(X, y)
    assert one.prior_.max() == 1.0
    assert len(np.unique(one.prior_)) > 5
    order = rng.permutation(len(y))
    changed = X[order] * np.where(np.arange(30) % 2, -4, 4)
    assert_same_fit(GreedyMAUC("all", prior=clone(one).prior).fit(changed, y[order]), one)


def test_parameters_of_an_estimator_are_nested():
    selector = GreedyMAUC(prior=RandomForestClassifier()).set_params(prior__n_estimators=50)
    assert clone(selector).prior.n_estimators == selector.get_params()["prior__n_estimators"] == 50


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (KNeighborsClassifier(), r"feature_importances_ or coef_ .*Classifier has nothing"),
        (Told([1, 2]), "finite ones of all 3 features; Told has 2"),
        (Told([1, np.nan, 1]), "finite ones of all 3 features; Told has 3"),
        (RandomForestClassifier(-1), "that can be fitted; RandomForestClassifier: .*n_estimators"),
        (RandomForestClassifier, "prior must be None or an estimator .* got <class"),
    ],
)
def test_wrong_estimators_are_named(rng, prior, message):
    with pytest.raises(MaucError, match=message):
        GreedyMAUC(2, prior=prior).fit(rng.normal(size=(30, 3)), np.arange(30) % 2)


@pytest.mark.parametrize("rule", ["loss", "frequency"])
def test_halves_fit_the_estimator(rng, rule):
    X, y = data(rng, m=12)
    plain = ConsensusSelector(GreedyMAUC(3), n_resamples=4, rule=rule, random_state=0)
    first = plain.fit(X, y).ranking_[0]
    told = clone(plain).set_params(selector__prior=Told((np.arange(12) != first).astype(float)))
    assert (told.fit(X, y).rankings_[:, 0] != first).all()
    one, other = (
        clone(plain).set_params(selector__prior=DecisionTreeClassifier()).fit(X, y)
        for _ in range(2)
    )
    assert_array_equal(other.rankings_, one.rankings_)
    assert_array_equal(other.ranking_, one.ranking_)


def scores_of(X, y=None, **options):
    y = np.arange(X.shape[0]) % 2 if y is None else y
    selector = GreedyMAUC(**options)
    problem = make_problem(X, y, selector.fit_options)
    _, scores = measure(problem, max_samples=selector.max_samples)
    found = value_scores(problem, scores)
    return found[:, np.argsort(scores.rows)].T


def test_by_hand():
    # Median 2, quartiles 1 and 3: the unit is 2 / 1.349.
    x = np.array([0.0, 1, 2, 3, 4])
    assert_array_equal(scores_of(x[:, None])[:, 0], np.rint(32 * (x - 2) * 1.349 / 2))


def test_mostly_equal_values_are_measured_by_their_deviation(rng):
    x = np.zeros(200)
    x[:30] = rng.integers(1, 4, 30)
    wanted = np.rint(np.clip(32 * x / x.std(), -127, 127))
    assert_array_equal(scores_of(x[:, None])[:, 0], wanted)


def test_missing_constant_and_infinite_values(rng):
    X = rng.normal(size=(60, 5))
    known = scores_of(X[:45])
    X[45:, 0] = np.nan
    X[:, 1] = 7.0
    X[:, 2] = np.nan
    X[0, 3], X[1, 3] = np.inf, -np.inf
    X[0, 4] = 1e308
    finite = scores_of(X[:, 3:4].clip(-4, 4))
    found = scores_of(X)
    assert_array_equal(found[:45, 0], known[:, 0])
    assert not found[45:, 0].any()
    assert not found[:, 1:3].any()
    assert found[0, 3] == 127
    assert found[1, 3] == -127
    assert found[0, 4] == 127
    # Two infinite values leave the unit of the others as it was.
    assert_array_equal(found[2:, 3], finite[2:, 0])
    assert not found[1:, 4].any()  # where s is the standard deviation


@pytest.mark.parametrize("values", [[np.inf, -np.inf, 0.0], [np.inf, np.inf, -np.inf]])
def test_mostly_infinite_values_keep_their_order(values):
    x = np.repeat(values, 20)
    found = scores_of(x[:, None])[:, 0].astype(int)
    for low, high in ((0.0, np.inf), (-np.inf, 0.0), (-np.inf, np.inf)):
        if low in values and high in values:
            assert found[x == low].max() < found[x == high].min()


@pytest.mark.parametrize("factor", [2.0**-900, 0.5, 2.0**900, 2.0**1020])
def test_units_do_not_matter(rng, factor):
    X = rng.normal(size=(80, 4))
    X[:, 1] = rng.random(80) < 0.1  # by its deviation
    assert_array_equal(scores_of(X * factor), scores_of(X))
    assert_array_equal(scores_of(-X), -scores_of(X))


def test_kept_rows_are_scored_by_all(rng):
    X, y = rng.normal(size=(300, 3)), np.arange(300) % 3
    problem = make_problem(X, y)
    _, scores = measure(problem, max_samples=30)
    found = value_scores(problem, scores)
    assert found.shape == (3, 30)
    assert_array_equal(found, scores_of(X, y).T[:, scores.rows])


def test_nominal_features_keep_the_scores_of_their_categories(rng):
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    X[:, 1] = rng.integers(0, 5, 90)
    selector = GreedyMAUC(categorical_features=[1])
    problem = make_problem(X, y, selector.fit_options)
    _, scores = measure(problem)
    assert_array_equal(value_scores(problem, scores)[1], scores.scores[1])
