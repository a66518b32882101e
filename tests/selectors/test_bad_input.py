"""Bad input: each gets the error or warning that a user can act on."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mauc import (
    ARCO,
    FCBF,
    FSDD,
    JMI,
    MAUCD,
    MDFS,
    MRMR,
    GreedyMAUC,
    ReliefF,
    SpreadFx,
    SubproblemSelector,
    feature_pair_auc,
)
from mauc.exceptions import ConstantInputWarning, LeftOutWarning, MaucError, SmallClassWarning

X = np.array([[1.0, 5.0, 2.0], [2.0, 4.0, 2.5], [3.0, 4.5, 1.0], [4.0, 3.0, 3.0]])
Y = np.array([0, 0, 1, 1])


@pytest.fixture(params=[MDFS, MAUCD, SubproblemSelector])
def make(request):
    """Every class of selectors."""
    return request.param


@pytest.mark.parametrize(
    ("label", "shown"), [(3, "3"), (2.0, r"2\.0"), ("a", "'a'"), (True, "True")]
)
def test_one_class_only(make, label, shown):
    text = f"y must hold at least 2 classes to tell apart, got one class: {shown}\\."
    with pytest.raises(MaucError, match=text):
        make(2).fit(X, [label] * 4)


class Unread:
    """Data that fail when anyone looks at them."""

    def __getattr__(self, name):
        raise AssertionError(f"the data were looked at: {name}")

    def __len__(self):
        raise AssertionError("the data were looked at")


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (MDFS(schedule="never"), "schedule must be one of 'random', .*, got 'never'"),
        (MDFS(n_jobs=0), "n_jobs must be None or an int other than 0, got 0"),
        (MDFS(random_state="seed"), "cannot be used to seed"),
        (MDFS("some"), "n_features_to_select must be an int"),
        (SubproblemSelector(relevance="auk"), "relevance .* got 'auk'; did you mean 'auc'"),
        (SubproblemSelector(decomposition=3), "decomposition must be one of .*, got 3"),
        (SubproblemSelector(ties=["index"]), "ties must be one of"),
        (MRMR(criterion="ratio"), "criterion must be one of 'difference', 'quotient', got 'ratio'"),
        (FSDD(beta="2"), "beta must be a finite number, got '2'"),
        (ARCO(redundancy_weight=-1), "redundancy_weight must be a number >= 0, got -1"),
        (ReliefF(n_neighbors=0), "n_neighbors must be an int of at least 1, got 0"),
        (ReliefF(n_iterations="some"), 'n_iterations must be "all", "log" or an int'),
        (GreedyMAUC(shrinkage=2), r'shrinkage must be a number in \[0, 1\] or "auto", got 2'),
        (GreedyMAUC(max_samples=1), "max_samples must be None or an int of at least 2, got 1"),
        (GreedyMAUC(prior="trees"), "prior must be None or an estimator .*, got 'trees'"),
        (MRMR(binning="bins"), "binning must be one of 'three_states', .*'none', got 'bins'"),
        (MRMR(binning="equal_width", n_bins=1), r"n_bins must be an int in \[2, 255\], got 1"),
        (SpreadFx(relevance="relief"), "relevance must be one of 'auc', 'chi2', .*, got 'relief'"),
        (ARCO(redundancy_weight=np.inf), "redundancy_weight must be a finite .*, got inf"),
        (JMI(binning="bins"), "binning must be one of 'three_states', .*, got 'bins'"),
        (FCBF(threshold=1.5), r"threshold must be a number in \[0, 1\], got 1\.5"),
        (FCBF(max_rounds=0), "max_rounds must be None or an int of at least 1, got 0"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_wrong_option_is_refused_before_the_data_are_looked_at(selector, text):
    with pytest.raises(MaucError, match=text):
        selector.fit(Unread(), Unread())


OBJECTS = np.column_stack((X.astype(object), ["red", "red", "blue", "red"]))


@pytest.mark.parametrize(
    ("data", "labels", "text"),
    [
        (X, None, "requires y to be passed, but the target y is None"),
        (X, Y.astype(object), "Unknown label type"),
        (X, [0.1, 0.2, 0.3, 0.4], "Unknown label type: continuous"),
        (X[:0], Y[:0], r"Found array with 0 sample\(s\)"),
        (X[:, :0], Y, r"Found array with 0 feature\(s\)"),
        (X[:, 0], Y, "Expected 2D array, got 1D array"),
        (X + 1j, Y, "Complex data not supported"),
        (OBJECTS, Y, "could not convert string to float: 'red'"),
    ],
)
def test_data_that_are_none(make, data, labels, text):
    with pytest.raises(ValueError, match=text):
        make(2).fit(data, labels)


@pytest.mark.parametrize("wanted", [0.0, -0.5, np.nan, np.inf, "most", True, [2]])
def test_a_wrong_number_of_features(make, wanted):
    text = 'n_features_to_select must be an int, a fraction, "all", "auto" or "fdr"'
    if isinstance(wanted, float):
        text = rf"n_features_to_select as a fraction .* must be in \(0, 1\], got {wanted}"
    with pytest.raises(MaucError, match=text):
        make(wanted).fit(X, Y)


def test_no_labels_for_a_function():
    with pytest.raises(ValueError, match=r"y .*None|None.* y"):
        feature_pair_auc(X, None)


def test_missing_label_of_a_frame(make):
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    names = ["a", "a", None, "b"]
    text = r"contains NaN or None \(first at position 2\)"
    for y in (
        pd.Series(names),
        pd.Series(names, dtype="category"),
        pd.Series(names, dtype="string"),
        pl.Series(names),
        pl.Series(names, dtype=pl.Categorical),
    ):
        with pytest.raises(MaucError, match=text):
            make(2).fit(X, y)
    for y in (pd.Series([0, 0, None, 1], dtype="Int64"), pl.Series([0, 0, None, 1])):
        with pytest.raises(ValueError, match=r"y must hold a label .* contains NaN"):
            make(2).fit(X, y)


def frame_with(column, index=None):
    pd = pytest.importorskip("pandas")
    return pd.DataFrame({"height": X[:, 0], "colour": column, "width": X[:, 1]}, index=index)


NAMES_COLUMN = r"X must be numeric, but column 'colour' has dtype .* encode or drop it first"
COLOURS = ["red", "red", "blue", "red"]


@pytest.mark.parametrize("make", [FSDD, ARCO])
@pytest.mark.parametrize("dtype", ["str", "object", "string", "category"])
def test_text_column_of_a_pandas_frame(make, dtype):
    pd = pytest.importorskip("pandas")
    frame = frame_with(pd.Series(COLOURS, dtype=dtype))
    with pytest.raises(MaucError, match=NAMES_COLUMN) as caught:
        make(2).fit(frame, Y)
    assert "values such as 'red'" in str(caught.value)


def test_text_column_of_a_polars_frame_or_of_one_with_its_own_index(make):
    pl = pytest.importorskip("polars")
    polars = pl.DataFrame({"height": X[:, 0], "colour": COLOURS})
    for frame in (polars, frame_with(COLOURS, index=[10, 11, 12, 13])):
        with pytest.raises(MaucError, match=NAMES_COLUMN):
            FSDD(2).fit(frame, Y)
        make(2).fit(frame, Y)


def test_date_column(make):
    pd = pytest.importorskip("pandas")
    with pytest.warns(LeftOutWarning, match=r"1 of 3 columns hold dates .* \('colour'\)"):
        fitted = make(2).fit(frame_with(pd.Timestamp("2011-05-09")), Y)
    assert fitted.scores_[1] == 0.5
    assert sorted(fitted.ranking_) == [0, 2]
    assert fitted.feature_names_in_[1] == "colour"


def test_a_class_with_one_sample(make):
    text = r"1 of 3 classes have a single sample \(7\): what is measured on"
    with pytest.warns(SmallClassWarning, match=text) as caught:
        make(2).fit(np.vstack((X, X[:1])), [0, 0, 1, 1, 7])
    assert caught[0].filename == __file__  # the warning points at the line of the user


@pytest.mark.parametrize(
    "constant",
    [
        np.ones((4, 3)),
        np.zeros((4, 3), np.uint8),
        np.tile([1.5, -2.0, np.inf], (4, 1)),
        np.full((4, 3), np.nan),
        sparse.csr_array((4, 3)),
        sparse.csc_array(np.tile([1.0, 0.0, 3.0], (4, 1))),
    ],
    ids=["ones", "bytes", "different", "missing", "empty sparse", "sparse"],
)
def test_all_constant(make, constant):
    text = "every feature is constant or missing: none tells classes apart"
    with pytest.warns(ConstantInputWarning, match=text):
        selector = make(2).fit(constant, Y)
    assert_array_equal(selector.ranking_, [0, 1])
    assert_array_equal(selector.pair_auc_, [[0.5], [0.5]])


def test_one_column_that_varies_is_enough(make):
    varying = np.column_stack((np.ones((4, 2)), X[:, 0]))
    assert 2 in make(3).fit(varying, Y).ranking_
    assert 2 in make(3).fit(sparse.csr_array(varying), Y).ranking_
    assert make(1).fit(sparse.csr_array([[0.0], [0.0], [0.0], [1.0]]), Y).ranking_ == [0]


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        ([1, 1, 1, -1], "Negative values in data passed to `sample_weight`"),
        ([1, 1, 1], r"sample_weight\.shape == \(3,\), expected \(4,\)"),
        ([1, 1, 1, np.nan], "sample_weight contains NaN"),
        ([1, 1, 0, 0], r"sample_weight must give every class a positive total, got 0 for class 1"),
    ],
)
def test_bad_weights(make, weights, text):
    with pytest.raises(ValueError, match=text):
        make(2).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("matrix", [sparse.csr_array, sparse.csc_matrix])
def test_relieff_refuses_sparse(matrix):
    for selector in (ReliefF(), ReliefF(categorical_features=[0])):
        with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
            selector.fit(matrix(np.eye(6)), [0, 0, 0, 1, 1, 1])


def test_too_many_values_to_be_states():
    column, y = np.arange(300.0)[:, np.newaxis], np.arange(300) % 2
    for selector in (MRMR("all", binning="none"), MRMR("all", categorical_features=[0])):
        with pytest.raises(MaucError, match="column 0 must have at most 255 distinct values"):
            selector.fit(column, y)
    MRMR("all", binning="none").fit(column // 2, y)


def test_text_in_an_array_names_its_column_and_the_way_out(make):
    text = r"column 2 of the array \(<U\d+\) has values such as 'red'; pass a data frame"
    rows = np.column_stack([X[:, :2].astype(str), COLOURS])
    with pytest.raises(MaucError, match=text):
        make(2).fit(rows, Y)
    with pytest.raises(
        MaucError, match=r"column 2 of the array .*'red'.*; encode or drop it first"
    ):
        FSDD(2).fit(rows, Y)
    with pytest.raises(MaucError, match=r"array of text \(<U\d+\); convert it first: X\.astype"):
        make(2).fit(rows[:, :2], Y)


def test_text_behind_a_column_transformer_names_set_output():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"colour": COLOURS, "height": X[:, 0], "width": X[:, 1]})
    scale = ColumnTransformer([("scale", StandardScaler(), ["width"])], remainder="passthrough")
    text = r"column 1 of the array \(object\) .* 'red' .*set_output\(transform=\"pandas\"\)"
    with pytest.raises(MaucError, match=text):
        make_pipeline(scale, MAUCD(1)).fit(frame, Y)
    make_pipeline(scale.set_output(transform="pandas"), MAUCD(1)).fit(frame, Y)
