"""MAUC of score matrices: the definition, scikit-learn's value, and what users bring."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from mauc import MAUCD, auc_mu_score, mauc_interval, mauc_score, pair_auc_scores
from mauc.classifiers import NormalNaiveBayes
from mauc.evaluation import evaluate_ranking
from mauc.exceptions import AbsentClassWarning, MaucError, TinyUnitsWarning
from mauc.metrics.mauc import ClassPairs
from tests.helpers import oracles
from tests.helpers.strategies import examples


@st.composite
def scored(draw, max_classes=6):
    """Draw ``(y, scores)`` with every class present and many ties or none."""
    n_classes = draw(st.integers(2, max_classes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_samples = draw(st.integers(n_classes, 30))
    y = np.concatenate((np.arange(n_classes), rng.integers(0, n_classes, n_samples - n_classes)))
    scores = rng.normal(size=(n_samples, n_classes))
    decimals = draw(st.sampled_from([None, 1, 0]))
    scores = scores if decimals is None else scores.round(decimals)
    if draw(st.booleans()):
        scores[rng.random(scores.shape) < 0.2] = np.inf
        scores[rng.random(scores.shape) < 0.2] = -np.inf
    return rng.permutation(y), scores


def test_by_hand():
    # A_01 = 3/4 (one win, one tie), A_10 = 1, so (3/4 + 1) / 2.
    report = pair_auc_scores([0, 0, 1], [[3, 0], [1, 1], [1, 2]])
    assert_array_equal(report.auc_first, [3 / 4])
    assert_array_equal(report.auc_second, [1.0])
    assert_array_equal(report.auc, [7 / 8])
    assert report.mauc == mauc_score([0, 0, 1], [[3, 0], [1, 1], [1, 2]]) == 7 / 8


@examples(80)
@given(scored())
def test_equals_the_definition(problem):
    y, scores = problem
    assert mauc_score(y, scores) == pytest.approx(
        oracles.mauc(y, scores, scores.shape[1]), abs=1e-14
    )


@given(scored(), st.integers(0, 2**32 - 1))
def test_weights_equal_the_definition(problem, seed):
    y, scores = problem
    rng = np.random.default_rng(seed)
    w = rng.choice([0.0, 0.25, 1.0, 3.5], len(y))
    totals = np.bincount(y, w, minlength=scores.shape[1])
    assume((totals > 0).all())
    wanted = oracles.mauc(y, scores, scores.shape[1], w)
    assert mauc_score(y, scores, sample_weight=w) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize(("n_classes", "decimals"), [(3, 1), (10, 2), (26, 17)])
def test_equals_scikit_learn(rng, n_classes, decimals):
    scores = rng.dirichlet(np.ones(n_classes), 500).round(decimals)
    scores[:, 0] += 1 - scores.sum(axis=1)  # rounded rows must still sum to 1 for scikit-learn
    scores = np.abs(scores) / np.abs(scores).sum(axis=1, keepdims=True)
    y = np.concatenate((np.arange(n_classes), rng.integers(0, n_classes, 500 - n_classes)))
    for average in ("weighted", "macro"):
        wanted = roc_auc_score(y, scores, multi_class="ovo", average=average)
        assert mauc_score(y, scores, average=average) == pytest.approx(wanted, abs=1e-12)
    names = np.array([f"class {k:02d}" for k in range(n_classes)])
    assert mauc_score(names[y], scores) == pytest.approx(wanted, abs=1e-12)


def test_equals_scikit_learn_on_two_classes(rng):
    y, scores = rng.integers(0, 2, 200), rng.normal(size=200).round(1)
    assert mauc_score(y, scores) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    w = rng.random(200)
    weighted = roc_auc_score(y, scores, sample_weight=w)
    assert mauc_score(y, scores, sample_weight=w) == pytest.approx(weighted, abs=1e-12)
    both = np.column_stack((1 - scores, scores))
    assert mauc_score(y, both) == pytest.approx(roc_auc_score(y, scores), abs=1e-12)


@given(scored())
def test_a_monotone_map_of_a_column_keeps_mauc(problem):
    y, scores = problem
    images = np.column_stack([np.unique(s, return_inverse=True)[1] for s in scores.T])
    assert mauc_score(y, np.exp(images)) == mauc_score(y, scores)


@given(scored())
def test_negated_scores_give_one_minus_mauc(problem):
    y, scores = problem
    assert mauc_score(y, -scores) == pytest.approx(1 - mauc_score(y, scores), abs=1e-12)


def test_constant_scores_give_one_half():
    assert mauc_score([0, 1, 2, 0], np.ones((4, 3))) == 0.5


@given(scored(), st.randoms(use_true_random=False))
def test_labels_in_any_order(problem, random):
    y, scores = problem
    names = np.array(["kiwi", "apple", "plum", "fig", "pear", "lime"])[: scores.shape[1]]
    columns = list(range(len(names)))
    random.shuffle(columns)
    value = mauc_score(names[y], scores[:, columns], labels=names[columns])
    assert value == pytest.approx(mauc_score(y, scores), abs=1e-14)


@pytest.mark.parametrize(
    "convert",
    [list, np.array, lambda y: np.array(y, dtype=object), lambda y: np.array(y)[:, np.newaxis]],
)
def test_labels_of_any_container(convert):
    scores = [[9, 1, 0], [4, 5, 1], [2, 6, 2], [0, 1, 8]]
    assert mauc_score(convert(["a", "a", "b", "c"]), scores) == 1.0
    assert mauc_score(convert(["a", "a", "b", "c"]), scores, labels=list("abc")) == 1.0


def test_labels_and_scores_of_frames():
    scores = pd.DataFrame([[9, 1, 0], [4, 5, 1], [2, 6, 2], [0, 1, 8]], columns=list("abc"))
    y = pd.Series(["a", "a", "b", "c"], index=[7, 5, 3, 1])
    assert mauc_score(y, scores) == 1.0
    assert mauc_score(y.astype("category"), scores, labels=scores.columns) == 1.0
    assert mauc_score(pl.Series(y.tolist()), pl.DataFrame(scores)) == 1.0


def test_one_dimensional_scores_are_those_of_the_second_class():
    assert mauc_score(["no", "no", "yes"], [0.1, 0.2, 0.9]) == 1.0
    assert mauc_score(["no", "no", "yes"], [0.1, 0.2, 0.9], labels=["yes", "no"]) == 0.0
    report = pair_auc_scores(["no", "no", "yes"], [0.1, 0.9, 0.9])
    assert_array_equal(report.auc_first, report.auc_second)
    assert report.mauc == 0.75


def test_absent_classes_are_left_out_with_a_warning(rng):
    y, scores = rng.choice([0, 2, 3], 60), rng.normal(size=(60, 5))
    wanted = oracles.mauc(y, scores, 5)
    text = r"2 of 5 classes have no sample \(1, 4\): MAUC is the mean over 3 of 10 pairs\."
    with pytest.warns(AbsentClassWarning, match=text):
        assert mauc_score(y, scores, labels=range(5)) == pytest.approx(wanted, abs=1e-14)
    report = pair_auc_scores(y, scores, labels=range(5))  # the report says it without a warning
    assert report.mauc == pytest.approx(wanted, abs=1e-14)
    assert_array_equal(report.absent, [1, 4])
    assert report.n_pairs_absent == 7
    assert np.isnan(report.auc).sum() == 7


def test_scikit_learn_drops_a_missing_class_without_a_word(rng):
    """As docs/howto/rare_class.md says."""
    y, scores = rng.integers(1, 3, 40), rng.dirichlet([1, 1, 1], 40)
    found = roc_auc_score(y, scores, multi_class="ovo", labels=[0, 1, 2])
    with pytest.warns(AbsentClassWarning):
        assert mauc_score(y, scores, labels=[0, 1, 2]) == pytest.approx(found, abs=1e-12)
    with pytest.raises(ValueError, match="Number of classes in y_true not equal"):
        roc_auc_score(y, scores, multi_class="ovo")


def test_a_class_without_weight_is_absent():
    scores = [[2, 1, 0], [1, 2, 0], [0, 1, 5]]
    with pytest.warns(AbsentClassWarning, match="1 of 3 classes"):
        assert mauc_score([0, 1, 2], scores, sample_weight=[1, 1, 0]) == 1.0


def test_the_report_names_every_pair():
    scores = [[9, 1, 0], [4, 5, 1], [2, 6, 2], [0, 7, 8]]
    report = pair_auc_scores(["a", "a", "b", "c"], scores)
    assert len(report) == 3
    assert report.names == ["a vs b", "a vs c", "b vs c"]
    assert_array_equal(report.class_weights, [2, 1, 1])
    lines = str(report).splitlines()
    assert lines[0].split() == ["pair", "A_ij", "A_ji", "mean"]
    assert lines[1] == "b vs c  0.0000  1.0000  0.5000"  # the hardest pair first
    assert lines[-1] == "MAUC 0.8333 over 3 pairs"


def test_the_report_as_a_frame():
    frame = pair_auc_scores(["a", "a", "b", "c"], np.eye(4, 3)).to_frame()
    assert list(frame.columns) == ["class_i", "class_j", "n_i", "n_j", "auc_i", "auc_j", "auc"]
    assert frame["class_j"].tolist() == ["b", "c", "c"]
    assert_allclose(frame["n_i"], [2, 2, 1])


TWO = np.ones((2, 2))


@pytest.mark.parametrize(
    ("arguments", "options", "text"),
    [
        (([0, 1, 2], np.ones((3, 2))), {}, r"a column for each class in y_true \(3\), got 2"),
        (([0, 1, 1], np.ones((3, 3))), {}, "classes are absent from y_true, pass labels="),
        (([0, 1], np.ones((2, 1))), {}, "a column for each class, got 1 column"),
        (([0, 1], [[0.5, np.nan], [1, 2]]), {}, "must not contain NaN"),
        (([0, 1], TWO), {"labels": [0, 1, 2]}, "name the 2 columns .* got 3"),
        (([0, 1], TWO), {"labels": [1, 1]}, "labels must be distinct"),
        ((["a", "b"], TWO), {"labels": ["a", "c"]}, "got also 'b'"),
        (([[0, 1], [1, 0]], TWO), {}, r"y_true must have one dimension, got shape \(2, 2\)"),
        (([0, 1], TWO), {"labels": [[0, 1]] * 2}, "labels must have one dimension, got shape"),
        (([0, 0], TWO), {"labels": [0, 1]}, "samples of at least 2 classes, got only 0"),
        (([0, 1, 1], TWO), {}, "inconsistent numbers of samples"),
        (([0, 1], TWO), {"average": "micro"}, "average must be one of 'macro', 'weighted'"),
        (([0, 1], TWO), {"average": "weighted", "pair_weight": "prior"}, 'must be "macro" with'),
        (([0, 1], TWO), {"pair_weight": {(0, 2): 1}}, r"name classes \(0, 1\), got 2"),
        (([0, 1], TWO), {"sample_weight": [1]}, "inconsistent numbers"),
        (([0, 1], TWO), {"sample_weight": [1, -1]}, "Negative values"),
        (([0, 1], TWO), {"sample_weight": [1, np.nan]}, "NaN"),
    ],
)
def test_bad_input(arguments, options, text):
    with pytest.raises(MaucError, match=text):
        mauc_score(*arguments, **options)


MISSING_LABELS = {
    "NaN": np.array([0.0, 1.0, np.nan, 1.0]),
    "None": [0, 1, None, 1],
    "NaN beside strings": ["a", "b", float("nan"), "b"],
    "NaT": np.array(["2020-01-01", "2021-01-01", "NaT", "2021-01-01"], "M8[D]"),
    "NaT beside numbers": [0, 1, pd.NaT, 1],
    "NA": [0, 1, pd.NA, 1],
    "Int64": pd.Series([0, 1, None, 1], dtype="Int64"),
    "boolean": pd.Series([False, True, None, True], dtype="boolean"),
    "string": pd.Series(["a", "b", None, "b"], dtype="string"),
    "category": pd.Series(["a", "b", None, "b"], dtype="category"),
    "datetime": pd.to_datetime(pd.Series(["2020-01-01", "2021-01-01", None, "2021-01-01"])),
    "column": np.array([[0.0], [1.0], [np.nan], [1.0]]),
}


@pytest.mark.parametrize("y", MISSING_LABELS.values(), ids=MISSING_LABELS)
def test_a_missing_label_is_refused_as_in_fit(y):
    scores = np.arange(4.0)
    message = "must hold a label for every sample, .* \\(first at position 2\\)"
    for function in (mauc_score, pair_auc_scores, mauc_interval):
        with pytest.raises(MaucError, match="y_true " + message):
            function(y, scores)
    with pytest.raises(MaucError, match="y " + message):
        MAUCD(1).fit(scores[:, np.newaxis], y)
    with pytest.raises(MaucError, match="y " + message):
        evaluate_ranking([0], [1], NormalNaiveBayes(), scores[:, None], y, scores[:, None], y)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series([0, 1, 0, 1], dtype="Int64"),
        pd.Series([False, True, False, True], dtype="boolean"),
        pd.Series(["a", "b", "a", "b"], dtype="string"),
        pd.Series(["a", "b", "a", "b"], dtype="category"),
        pd.to_datetime(pd.Series(["2020-01-01", "2021-01-01"] * 2)),
    ],
    ids=lambda y: str(y.dtype),
)
def test_nullable_labels_without_a_missing_one_are_taken(y):
    assert mauc_score(y, [1.0, 3.0, 2.0, 4.0]) == 1.0


@pytest.mark.parametrize("factor", [1e200, 1e-200, 1e300, 5e-324, 2.0**-1000])
def test_weights_of_any_size_give_the_same(rng, factor):
    y, scores = np.arange(40) % 4, rng.normal(size=(40, 4)).round(1)
    weights = rng.integers(1, 9, 40).astype(float)
    wanted = mauc_score(y, scores, sample_weight=weights)
    got = mauc_score(y, scores, sample_weight=factor * weights)
    assert got == pytest.approx(wanted, abs=1e-12)
    # Of another size in every class: the pairs do not change.
    by_class = weights * np.array([1e200, 1e-200, 1.0, factor])[y]
    got = pair_auc_scores(y, scores, sample_weight=by_class)
    auc = pair_auc_scores(y, scores, sample_weight=weights).auc
    assert_allclose(got.auc, auc, rtol=1e-12)
    assert got.class_weights[1] == pytest.approx(1e-200 * weights[y == 1].sum())


@pytest.mark.parametrize("frames", [pd, pl])
def test_columns_of_a_frame_are_found_by_the_names_of_the_classes(rng, frames):
    y = np.array(["low", "mid", "high"])[rng.integers(0, 3, 90)]
    names = ["low", "mid", "high"]
    scores = (y[:, np.newaxis] == names) + rng.normal(size=(90, 3))
    wanted = mauc_score(y, scores, labels=names)
    frame = frames.DataFrame(dict(zip(names, scores.T, strict=True)))
    assert mauc_score(y, frame) == wanted
    assert mauc_score(y, frame, labels=names) == wanted
    with pytest.raises(MaucError, match="in their order, got 'high', 'low', 'mid' for columns"):
        mauc_score(y, frame, labels=np.unique(y))
    # Names that are not those of the classes say nothing.
    other = frames.DataFrame(dict(zip("abc", scores.T, strict=True)))
    assert mauc_score(y, other) == mauc_score(y, scores)
    # Nor does a class without a sample need labels.
    is_kept = y != "mid"
    kept = frames.DataFrame(dict(zip(names, scores[is_kept].T, strict=True)))
    with pytest.warns(AbsentClassWarning):
        assert mauc_score(y[is_kept], kept) > 0.5


def test_whole_numbers_name_columns_too(rng):
    y = rng.integers(0, 3, 60)
    scores = np.eye(3)[y] + rng.normal(size=(60, 3))
    frame = pd.DataFrame(scores[:, [2, 0, 1]], columns=["2", "0", "1"])
    assert mauc_score(y, frame) == mauc_score(y, scores)


def test_scores_are_mauc_scores():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 60)
    classes = np.arange(5)  # one of them absent
    for scores in (rng.normal(size=(60, 5)), rng.integers(0, 2, (60, 5)).astype(float)):
        with pytest.warns(AbsentClassWarning):
            expected = mauc_score(y, scores, labels=classes)
        assert ClassPairs.of_test(y, classes).mauc(scores) == expected


BIG = 2**53 + np.array([0, 2, 1, 3])  # float64 holds the even ones


@pytest.mark.parametrize(
    ("scores", "where"),
    [
        (BIG, "y_score"),
        (BIG.astype(np.uint64), "y_score"),
        (BIG.tolist(), "y_score"),
        (pd.Series(BIG, dtype="Int64"), "y_score"),
        (pl.Series(BIG), "y_score"),
        ([Decimal(int(one)) for one in BIG], "y_score"),
        (np.column_stack((-BIG, BIG)), r"y_score: some values in 2 columns \(0, 1\)"),
        (pd.DataFrame({"a": [0.5] * 4, "b": BIG}), r"y_score: some values in 1 column \('b'\)"),
        (pl.DataFrame({"a": [0.5] * 4, "b": BIG}), r"y_score: some values in 1 column \('b'\)"),
    ],
)
def test_scores_are_read_as_doubles(scores, where):
    with pytest.warns(TinyUnitsWarning, match=f"{where}.* differ by less than float64 holds"):
        found = mauc_score([0, 0, 1, 1], scores)
    assert found == mauc_score([0, 0, 1, 1], np.asarray(scores, np.float64)) < 0.75
    mauc_score([0, 0, 1, 1], 2**60 + 4096 * np.arange(4))  # no warning: all of them differ


def test_auc_mu_by_hand():
    # p_a - p_b is 7 and -1 for the samples of a, -1 for that of b: one win, one tie.
    y, scores = ["a", "a", "b", "c"], [[8, 1, 1], [3, 4, 3], [4, 5, 1], [1, 2, 7]]
    assert auc_mu_score(y, scores) == pytest.approx((3 / 4 + 1 + 1) / 3, abs=1e-15)
    # Taking a for b, W[b, a], costs 3: 3 p_a - p_b is 23 and 5 against 7; c stays the farthest.
    costs = pd.DataFrame(1 - np.eye(3), list("abc"), list("abc"))
    costs.loc["b", "a"] = 3
    assert auc_mu_score(y, scores, costs) == auc_mu_score(y, scores, costs.loc[["c", "a", "b"]])
    assert auc_mu_score(y, scores, costs) == pytest.approx((1 / 2 + 1 + 1) / 3, abs=1e-15)
    # Differences of large numbers are not those of their ranks.
    big = [[Decimal(value) * 2**70 for value in row] for row in scores]
    assert auc_mu_score(y, big) == auc_mu_score(y, scores)
    with pytest.warns(AbsentClassWarning, match="1 of 3 classes"):
        assert auc_mu_score(y[:3], scores[:3], labels=list("abc")) == 3 / 4
    assert auc_mu_score([0, 0, 1], [1.0, 2.0, 2.0]) == 3 / 4


@pytest.mark.parametrize("decimals", [0, 9])
def test_auc_mu_is_that_of_lightgbm(rng, decimals):
    lightgbm = pytest.importorskip("lightgbm")
    y, weights = rng.integers(0, 4, 200), rng.choice([0.25, 1.0, 3.5], 200)
    scores = (np.eye(4)[y] + rng.normal(size=(200, 4))).round(decimals)
    costs = rng.choice([0.5, 1.0, 2.0], (4, 4)) * (1 - np.eye(4))
    for of_errors in (None, costs):
        data = lightgbm.Dataset(
            rng.normal(size=(200, 2)), y, weight=weights, init_score=scores.ravel(order="F")
        )
        params = {"objective": "multiclass", "num_class": 4, "metric": "auc_mu", "verbosity": -1}
        if of_errors is not None:
            params["auc_mu_weights"] = of_errors.ravel().tolist()
        wanted = lightgbm.Booster(params, data).eval_train()[0][2]  # of the initial scores
        found = auc_mu_score(y, scores, of_errors, sample_weight=weights)
        assert found == pytest.approx(wanted, abs=1e-12)


def test_auc_mu_of_wrong_input():
    y, scores = [0, 1, 2], np.eye(3)
    for weights, text in (
        (np.ones((2, 2)), r"weights must have shape \(3, 3\), got \(2, 2\)"),
        (np.ones((3, 3)), "0 on the diagonal and positive elsewhere"),
        (np.eye(3) - 1, "0 on the diagonal and positive elsewhere"),
        (np.where(np.eye(3), 0, np.inf), "weights must be finite"),
    ):
        with pytest.raises(MaucError, match=text):
            auc_mu_score(y, scores, weights)
    with pytest.raises(MaucError, match="y_score contains infinity"):
        auc_mu_score(y, np.where(scores, np.inf, 0))
