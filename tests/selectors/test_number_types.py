"""All selectors read all types of numbers as float64, and AUCs read dates as seconds."""

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from mauc import MDFS, GreedyMAUC, MDLDiscretizer, feature_pair_auc
from mauc.classifiers import NormalNaiveBayes
from mauc.exceptions import LeftOutWarning, MaucError
from mauc.lab import C45
from tests.helpers.selector_cases import SELECTORS
from tests.helpers.strategies import examples

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N = 60
RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, N)
STEPS = RNG.integers(0, 500, N) + 60 * Y
NOISE, SIGNAL = RNG.normal(size=N), RNG.normal(size=N) + Y
IS_MISSING = np.isin(np.arange(N), [3, 7, 11])
DATES = np.datetime64("2024-05-01", "ns") + STEPS.astype("m8[ms]")
DURATIONS = DATES - np.datetime64("1970-01-01", "ns")


def with_gaps(values):
    """Return a list with None where values are missing."""
    return [None if gone else value for value, gone in zip(values, IS_MISSING, strict=True)]


def with_nat(values):
    values = values.copy()
    values[IS_MISSING] = "NaT"
    return values


#: a column of pandas or polars, and whether it has missing values
PANDAS = {
    "uint64": (STEPS.astype(np.uint64), False),
    "Int64 with NA": (pd.array(with_gaps(STEPS.tolist()), "Int64"), True),
    "Float64 with NA": (pd.array(with_gaps(STEPS.astype(float)), "Float64"), True),
    "longdouble": (STEPS.astype(np.longdouble), False),
    "Arrow integers": (pd.Series(with_gaps(STEPS.tolist()), dtype="int64[pyarrow]"), True),
    "datetime64 with NaT": (with_nat(DATES), True),
    "time zone": (pd.Series(with_nat(DATES)).dt.tz_localize("UTC"), True),
    "timedelta64": (DURATIONS, False),
    "Arrow dates": (pd.Series(with_nat(DATES)).astype("timestamp[ns, tz=UTC][pyarrow]"), True),
}
POLARS = {
    "Int64 with null": (pl.Series(with_gaps(STEPS.tolist())), True),
    "Float64 with null": (pl.Series(with_gaps(STEPS.astype(float))), True),
    "Datetime with null": (pl.Series(with_nat(DATES)), True),
    "Duration": (pl.Series(DURATIONS), False),
    "Date with null": (
        pl.Series(
            with_gaps([datetime.date(2000, 1, 1) + datetime.timedelta(int(k)) for k in STEPS])
        ),
        True,
    ),
    "Time with null": (
        pl.Series(with_gaps([datetime.time(1, 0, 0, int(k)) for k in STEPS])),
        True,
    ),
}
CASES = [
    *(pytest.param(pd.DataFrame, *case, id=f"pandas {name}") for name, case in PANDAS.items()),
    *(pytest.param(pl.DataFrame, *case, id=f"polars {name}") for name, case in POLARS.items()),
]
DATED = [case for case in CASES if any(word in case.id.lower() for word in ("date", "time", "dur"))]
CASES = [case for case in CASES if case.id not in {dated.id for dated in DATED}]


def reference(has_missing):
    """The same table in float64."""
    steps = np.where(IS_MISSING & has_missing, np.nan, STEPS)
    return np.column_stack([NOISE, steps, SIGNAL])


def make(method):
    return clone(SELECTORS[method]).set_params(n_features_to_select="all")


def assert_same(found, wanted):
    assert_array_equal(found.ranking_, wanted.ranking_)
    assert_array_equal(found.pair_auc_, wanted.pair_auc_)
    assert_allclose(found.scores_, wanted.scores_, rtol=1e-9)


@pytest.mark.parametrize(("kind", "column", "has_missing"), CASES)
@examples(5)
@given(method=st.sampled_from(list(SELECTORS)))
def test_a_column_beside_floats(kind, column, has_missing, method):
    X = kind({"noise": NOISE, "column": column, "signal": SIGNAL})
    assert_same(make(method).fit(X, Y), make(method).fit(reference(has_missing), Y))


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@pytest.mark.parametrize(("kind", "column", "has_missing"), DATED)
def test_dates_are_left_out_by_selectors_and_measured_by_aucs(kind, column, has_missing):
    X = kind({"noise": NOISE, "column": column, "signal": SIGNAL})
    assert_array_equal(feature_pair_auc(X, Y), feature_pair_auc(reference(has_missing), Y))
    without = np.column_stack([NOISE, np.zeros(N), SIGNAL])
    for method in ("greedy", "fsdd", "mrmr", "relieff"):
        with pytest.warns(LeftOutWarning, match=r"1 of 3 columns hold dates .*\('column'\)"):
            found = make(method).set_params(n_features_to_select=2).fit(X, Y)
        assert_array_equal(np.sort(found.ranking_), [0, 2])
        assert_allclose(found.scores_, make(method).fit(without, Y).scores_, rtol=1e-9)
        assert len(make(method).fit(X, Y).ranking_) == 2
        assert isinstance(found.transform(X), np.ndarray)  # what is not selected does not matter


def test_nothing_but_dates_is_refused():
    days = np.column_stack([DATES, DATES[::-1]])
    with pytest.raises(MaucError, match=r"must hold numbers, got dates .*\(datetime64\[ns\]\)"):
        MDFS(1).fit(days, Y)
    with pytest.raises(MaucError, match="holds no dates or durations, got 'a', 'b'"):
        MDFS(1).partial_fit(pd.DataFrame(days, columns=["a", "b"]), Y)


@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
def test_aucs_of_arrays_of_dates(kind):
    columns = np.column_stack([STEPS, STEPS[::-1], np.roll(STEPS, 1)])
    start = np.datetime64("2024-05-01", "ns") if kind[0] == "d" else np.timedelta64(2**60, "ns")
    X, wanted = columns.astype("m8[us]") + start, columns.astype(float)
    X[IS_MISSING, 0], wanted[IS_MISSING, 0] = "NaT", np.nan
    assert_array_equal(feature_pair_auc(X, Y), feature_pair_auc(wanted, Y))


@pytest.mark.parametrize("method", SELECTORS)
@examples(3)
@given(kind=st.sampled_from(["int64", "longdouble"]), order=st.sampled_from("CF"))
def test_arrays(kind, order, method):
    X = np.column_stack([STEPS, STEPS[::-1], np.roll(STEPS, 1)])
    found = make(method).fit(np.asarray(X, kind, order=order), Y)
    assert_same(found, make(method).fit(X.astype(float), Y))


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_nat_is_missing_not_the_smallest_value(kind):
    # Taken for the smallest value, NaT in one class would separate it perfectly.
    days = np.array(["2001-01-02", "2001-01-03"] * 4, "datetime64[ns]")
    y = np.repeat([0, 1], 4)
    days[:4] = "NaT"
    X = kind(np.column_stack([days, days[::-1]]))
    assert feature_pair_auc(X, y).tolist() == [[0.5], [0.5]]


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("unit", ["D", "ms", "ns"])
def test_classifiers_take_dates_as_seconds(kind, unit):
    days = np.datetime64("2001-01-01", unit) + STEPS.astype("m8[D]").astype(f"m8[{unit}]")
    days[IS_MISSING] = "NaT"
    X = kind(np.column_stack([days, days]))
    seconds = np.where(IS_MISSING, np.nan, 978307200.0 + 86400.0 * STEPS)
    wanted = np.column_stack([seconds, seconds])
    for classifier in (NormalNaiveBayes(), C45()):
        found = classifier.fit(X, Y).predict_proba(X)
        assert_array_equal(found, classifier.fit(wanted, Y).predict_proba(wanted))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_dates_beside_numbers_in_a_classifier(kind):
    X = kind({"when": with_nat(DATES), "signal": SIGNAL})
    whole, rest = np.divmod(DATES.view("i8"), 10**9)  # the quotient would be rounded twice
    wanted = np.column_stack([np.where(IS_MISSING, np.nan, whole + rest / 1e9), SIGNAL])
    found = NormalNaiveBayes().fit(X, Y)
    assert found.feature_names_in_.tolist() == ["when", "signal"]
    assert_array_equal(
        found.predict_proba(X), NormalNaiveBayes().fit(wanted, Y).predict_proba(wanted)
    )


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_cut_points_are_in_seconds(kind):
    days = np.datetime64("2001-01-01", "us") + np.arange(40).astype("m8[D]")
    X, y = kind({"when": days, "noise": np.arange(40) % 3}), np.arange(40) >= 20
    discretizer = MDLDiscretizer().fit(X, y)
    assert discretizer.cut_points_[0].tolist() == [978307200 + 86400 * 19.5]
    assert_array_equal(discretizer.transform(X)[:, 0], y)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.filterwarnings("ignore::mauc.exceptions.LeftOutWarning")
def test_a_selection_beside_dates_is_evaluated_and_transformed(kind):
    X = kind({"noise": NOISE, "when": with_nat(DATES), "signal": SIGNAL})
    selector = MDFS("auto", random_state=0).fit(X, Y)
    assert selector.transform(X).shape == (N, selector.size_curve_.size)
    output = "pandas" if kind is pd.DataFrame else "polars"
    kept = MDFS(2, random_state=0).set_output(transform=output).fit(X, Y).transform(X)
    assert kept.shape == (N, 2)


@pytest.mark.filterwarnings("ignore::mauc.exceptions.LeftOutWarning")
def test_dates_are_neither_kept_nor_ranked():
    X = pd.DataFrame({"noise": NOISE, "when": DATES, "signal": SIGNAL})
    for fit in (
        GreedyMAUC(2, keep=["when"]).fit,
        MDFS("fdr", keep=["when"]).fit,
        MDFS(2, keep=["when"]).partial_fit,
    ):
        with pytest.raises(MaucError, match=r"keep must name features, got dates .*\('when'\)"):
            fit(X, Y)
    pair = {"pair": ["when", "signal"]}
    assert GreedyMAUC(2, keep=["pair"], feature_groups=pair).fit(X, Y).ranking_[0] == 2
    for selector in (MDFS("all").fit(X, Y), MDFS("all").partial_fit(X, Y)):
        assert sorted(selector.ranking_) == [0, 2]
        (sentence,) = selector.explain("when", X, Y).sentences
        assert sentence == "when was left out: it holds dates or durations."
