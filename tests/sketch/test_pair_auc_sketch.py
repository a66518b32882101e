"""PairAUCSketch: never further from the AUC of all rows than it says, however rows come."""

import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from mauc import MDFS, PairAUCSketch, feature_pair_auc, sketch_rows
from mauc.data.source import ColumnSource
from mauc.exceptions import LooseBoundWarning, MaucError, MaucTypeError, UndefinedMAUCError
from tests.helpers.strategies import codes, examples, float_tables

pytestmark = [
    pytest.mark.filterwarnings("ignore::mauc.exceptions.ConstantInputWarning"),
    pytest.mark.filterwarnings("ignore::mauc.exceptions.SmallClassWarning"),
    pytest.mark.filterwarnings("ignore::mauc.exceptions.LooseBoundWarning"),
]

MAKES = {
    "normal": lambda rng, n: rng.normal(size=n),
    "ties": lambda rng, n: rng.integers(0, 9, n) / 8,
    "many ties": lambda rng, n: rng.normal(size=n).round(2),
    "atom": lambda rng, n: np.where(rng.random(n) < 0.6, 0.0, rng.normal(size=n)),
    "two zeros": lambda rng, n: rng.choice([0.0, -0.0, 5e-324, -5e-324], n),
    "missing": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.normal(size=n)),
    "infinite": lambda rng, n: rng.choice([np.inf, -np.inf, 1.0, 2.0, 1.8e308, -1.8e308], n),
    "heavy tails": lambda rng, n: rng.standard_cauchy(n) ** 5,
    "denormal": lambda rng, n: rng.integers(-300, 300, n) * 5e-324,
    "constant": lambda rng, n: np.full(n, 7.0),
    "all missing": lambda rng, n: np.full(n, np.nan),
    "neighbours": lambda rng, n: 1.0 + rng.integers(0, 200, n) * 2.0**-52,
}


def make_rows(seed, n=400, n_classes=3, shift=True):
    """Return one column of every kind, and labels that they depend on."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    X = np.column_stack([make(rng, n) for make in MAKES.values()])
    if shift:
        X[:, 0] += y
    return X, y


def assert_within(sketch, X, y):
    """Assert that no AUC is further from the exact one than the sketch says; return the bound."""
    bound = sketch.error_bound()
    for folded in (True, False):
        exact = feature_pair_auc(X, y, folded=folded)
        found = sketch.pair_auc(folded=folded)
        assert (np.abs(found - exact) <= bound).all()
        assert_array_equal(found[bound == 0], exact[bound == 0])
    return bound


def in_parts(X, y, n_parts, **options):
    sketch = PairAUCSketch(**options)
    for rows in np.array_split(np.arange(len(y)), n_parts):
        sketch.update(X[rows], y[rows])
    return sketch


def test_case_counted_by_hand():
    # bins are chosen by the first 16 rows; 3.5 of 4 pairs of 1, 2 | 2, 3
    sketch = PairAUCSketch(16)
    sketch.update([[1.0], [2.0]], [0, 0]).update([[2.0], [3.0]], [1, 1])
    assert_array_equal(sketch.pair_auc(folded=False), [[0.125]])
    assert_array_equal(sketch.pair_auc(), [[0.875]])
    assert_array_equal(sketch.error_bound(), [[0.0]])
    assert sketch.n_rows == 4
    assert_array_equal(sketch.class_counts, [2, 2])


@pytest.mark.parametrize("n_parts", [1, 2, 7])
@pytest.mark.parametrize("n_buffered", [1, 50, None])
def test_never_above_its_bound(n_parts, n_buffered):
    X, y = make_rows(n_parts)
    sketch = in_parts(X, y, n_parts, n_bins=32, n_buffered=n_buffered)
    bound = assert_within(sketch, X, y)
    names = list(MAKES)
    for name in ("ties", "two zeros", "infinite", "constant", "all missing"):
        assert (bound[names.index(name)] == 0).all(), name
    if n_buffered is None:
        assert_array_equal(bound, 0.0)  # the first rows are kept
    else:
        assert 0 < bound[names.index("normal")].max() < 0.1


@examples(100)
@given(data=st.data())
def test_never_above_its_bound_however_rows_come(data):
    # Ties, missing and infinite values; parts drift apart, and come as rows or as other sketches.
    n, n_classes = data.draw(st.integers(4, 80)), data.draw(st.integers(2, 4))
    X, y = data.draw(float_tables(n)), data.draw(codes(n, n_classes))
    cuts = sorted(data.draw(st.lists(st.integers(1, n - 1), max_size=5, unique=True)))
    sketch = PairAUCSketch(16, n_buffered=data.draw(st.sampled_from([1, 8, 1000])))
    moved = []
    for rows in np.split(np.arange(n), cuts):
        factor = data.draw(st.sampled_from([1.0, 1.0, -1.0, 1e-3, 1e3]))
        shift = data.draw(st.sampled_from([0.0, 0.0, 0.5, -40.0, 1e9]))
        with np.errstate(over="ignore"):  # the largest numbers become infinite
            part = X[rows] * factor + shift
        moved.append(part)
        how = data.draw(st.sampled_from(["rows", "sketch", "same bins"]))
        if how == "rows" or sketch.n_features is None:
            sketch.update(part, y[rows])
        elif how == "sketch":
            n_bins, n_buffered = data.draw(st.sampled_from([(16, 1), (24, 8), (64, 1), (16, 99)]))
            sketch.merge(PairAUCSketch(n_bins, n_buffered=n_buffered).update(part, y[rows]))
        else:
            sketch = sketch.empty_like().update(part, y[rows]) + sketch
    bound = assert_within(sketch, np.concatenate(moved), y)
    assert bound.max() <= 0.5 + 1e-9


def test_sketches_of_different_numbers_of_bins():
    X, y = make_rows(11, n=600)
    for few, many in ((16, 64), (64, 16)):
        for n_buffered in (None, 20):
            second = PairAUCSketch(many, n_buffered=20).update(X[300:], y[300:])
            first = PairAUCSketch(few, n_buffered=n_buffered).update(X[:300], y[:300])
            merged = first.copy().merge(second)
            assert_within(merged, X, y)
            assert max(len(bins.edges) for bins in merged._bins) <= 6 * few
    empty = PairAUCSketch(16).merge(PairAUCSketch(64, n_buffered=20).update(X, y))
    assert_within(empty, X, y)
    assert max(len(bins.edges) for bins in empty._bins) <= 96


@pytest.mark.filterwarnings("error::mauc.exceptions.LooseBoundWarning")
@pytest.mark.parametrize("n_parts", [4, 60])
def test_accurate_in_the_order_of_the_classes(n_parts):
    # Every class has a place and a scale of its own; bins are fixed by the first quarter.
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 8, 8000))
    places, scales = 5 * rng.normal(size=(8, 10)), np.exp(1.5 * rng.normal(size=(8, 10)))
    X = places[y] + scales[y] * rng.standard_t(3, size=(8000, 10))
    exact = feature_pair_auc(X, y)
    for order in (np.arange(8000), np.arange(8000)[::-1], rng.permutation(8000)):
        sketch = in_parts(X[order], y[order], n_parts, n_buffered=2000)
        assert np.abs(sketch.pair_auc() - exact).max() <= 0.002
        assert assert_within(sketch, X[order], y[order]).max() < 0.01


@pytest.mark.filterwarnings("error::mauc.exceptions.LooseBoundWarning")
def test_a_bound_that_grows_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 3)), rng.integers(0, 2, 4000)
    first = in_parts(X, y, 8, n_buffered=1100)
    assert first.error_bound().max() < 0.001
    later = X + np.array([1e6, 0.0, 0.0])
    both = np.concatenate([X, later]), np.tile(y, 2)
    assert assert_within(first.copy().update(later, y), *both).max() < 0.001  # bins are split
    fixed = first.empty_like().update(X, y).update(later, y)
    with pytest.warns(LooseBoundWarning, match=r"1 of 3 features .* those of 'x0' by up to 0.1"):
        assert_within(fixed, *both)


def test_exact_up_to_n_bins_distinct_values():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(64, 1))
    y = rng.integers(0, 3, 4000)
    X = values[rng.integers(0, 64, 4000)]
    X[rng.random(4000) < 0.1] = np.nan
    sketch = in_parts(X, y, 40, n_bins=64, n_buffered=16)
    assert_array_equal(sketch.error_bound(), 0.0)
    assert_array_equal(sketch.pair_auc(), feature_pair_auc(X, y))
    more = sketch.copy().update([[99.0]], [0])  # the 65th
    assert more.error_bound().max() > 0
    assert_array_equal(sketch.error_bound(), 0.0)


def test_infinity_stays_exact_when_sketches_are_merged():
    low, lowest = -np.finfo(float).max, -np.inf
    X = np.array([low, low, lowest, 0.0, lowest, lowest, low, 0.0])[:, np.newaxis]
    y = np.array([0, 1, 0, 1, 0, 1, 1, 0])
    # The first sketch knows -inf as what is below the lowest float, the second by itself.
    made = []
    for start in (0, 4):
        made.append(PairAUCSketch(16, n_buffered=1))
        for rows in (slice(start, start + 2), slice(start + 2, start + 4)):
            made[-1].update(X[rows], y[rows])
    for sketch in (made[0] + made[1], made[1] + made[0]):
        assert_array_equal(sketch.error_bound(), 0.0)
        assert_array_equal(sketch.pair_auc(), feature_pair_auc(X, y))


def test_values_unseen_by_fixed_bins_share_the_gaps():
    # The bins are those of 0 and 5: between and above them the order is not known.
    empty = PairAUCSketch(16).update([[0.0], [5.0]], [0, 1]).empty_like()
    X, y = np.array([[0.0], [5.0], [5.0], [7.0], [8.0]]), np.array([0, 0, 1, 0, 1])
    sketch = empty.copy().update(X[:3], y[:3])
    assert_array_equal(sketch.error_bound(), 0.0)
    # 5 and 7 are below 8, or above it: one of 6 pairs
    assert assert_within(sketch.update(X[3:], y[3:]), X, y) == pytest.approx(1 / 12)


def test_n_jobs_layout_and_container_change_no_bit():
    X, y = make_rows(5, n=500)
    X = X[:, :6]
    first = in_parts(X, y, 3, n_bins=32, n_buffered=100)
    frame = pd.DataFrame(X)
    others = [
        in_parts(X, y, 3, n_bins=32, n_buffered=100, n_jobs=2),
        in_parts(np.asfortranarray(X), y, 3, n_bins=32, n_buffered=100),
        in_parts(np.repeat(X, 2, axis=1)[:, ::2], y, 3, n_bins=32, n_buffered=100),
    ]
    for kind in (frame, frame.assign(first=1).drop(columns="first"), pl.DataFrame(X)):
        sketch = PairAUCSketch(32, n_buffered=100)
        for rows in np.array_split(np.arange(500), 3):
            part = kind.iloc[rows] if hasattr(kind, "iloc") else kind[rows]
            sketch.update(part, y[rows])
        others.append(sketch)
    for other in others:
        assert_array_equal(other.pair_auc(), first.pair_auc())
        assert_array_equal(other.error_bound(), first.error_bound())


@pytest.mark.parametrize(
    "dtype", [bool, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.float16]
)
def test_number_types(dtype):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 100, (300, 3)).astype(dtype), rng.integers(0, 3, 300)
    assert_array_equal(in_parts(X, y, 4, n_buffered=20).pair_auc(), feature_pair_auc(X, y))


def test_dates_are_sketched_as_seconds():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    days = np.datetime64("2020-01-01", "ns") + rng.integers(0, 60, (200, 2)).astype("m8[D]")
    frame = pd.DataFrame(days, columns=["a", "b"])
    frame.loc[::7, "a"] = pd.NaT
    sketch = PairAUCSketch(64).update(frame[:90], y[:90]).update(frame[90:], y[90:])
    assert_array_equal(sketch.error_bound(), 0.0)
    assert_array_equal(sketch.pair_auc(), feature_pair_auc(frame, y))


@pytest.mark.parametrize("make", [sparse.csc_array, sparse.csr_array, sparse.coo_array])
def test_sparse_rows_are_those_of_their_array(make):
    X, y = make_rows(2, n=600)
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.7, 0.0, X)
    sketch = PairAUCSketch(32)
    for rows in np.array_split(np.arange(600), 4):
        sketch.update(make(X[rows]), y[rows])
    bound = assert_within(sketch, X, y)
    assert (bound[1] == 0).all()


def test_classes_come_when_they_come():
    X, y = make_rows(4, n=900, n_classes=4)
    labels = np.array(["d", "b", "a", "c"])[y]
    order = np.argsort(y, kind="stable")
    for n_buffered in (20, None):
        sketch = in_parts(X[order], labels[order], 9, n_bins=64, n_buffered=n_buffered)
        assert_array_equal(sketch.classes_, ["a", "b", "c", "d"])
        assert_within(sketch, X, labels)
    empty = PairAUCSketch(64).update(X, labels).empty_like()
    few = empty.update(X[labels < "c"], labels[labels < "c"])
    assert_array_equal(few.class_counts[2:], [0, 0])
    assert_array_equal(few.pair_auc()[:, 1:], 0.5)  # nothing is known of c and d
    assert_array_equal(few.error_bound()[:, 1:], 0.5)


def test_pickles_and_copies():
    X, y = make_rows(6, n=300)
    for n_buffered in (10, None):
        sketch = PairAUCSketch(32, n_buffered=n_buffered).update(X[:200], y[:200])
        before = sketch.pair_auc()
        other = pickle.loads(pickle.dumps(sketch))
        other.update(X[200:], y[200:])
        assert_array_equal(sketch.pair_auc(), before)
        sketch.update(X[200:], y[200:])
        assert_array_equal(other.pair_auc(), sketch.pair_auc())


def test_a_question_changes_nothing():
    X, y = make_rows(7, n=400)
    asked, silent = PairAUCSketch(32, n_buffered=150), PairAUCSketch(32, n_buffered=150)
    for rows in np.array_split(np.arange(400), 8):
        asked.update(X[rows], y[rows]).pair_auc()
        silent.update(X[rows], y[rows])
    assert_array_equal(asked.pair_auc(), silent.pair_auc())
    assert_array_equal(asked.error_bound(), silent.error_bound())


def test_size_does_not_grow_with_rows():
    rng = np.random.default_rng(0)
    sketch = PairAUCSketch(64, n_buffered=200)
    sizes = []
    for _ in range(30):
        sketch.update(rng.normal(size=(500, 4)), rng.integers(0, 3, 500))
        sizes.append(sketch.nbytes)
    most = 4 * (6 * 64 + 2) * (8 + 2 * 3 * 8)
    assert max(sizes) <= most
    for bins in sketch._bins:
        assert len(bins.edges) < 6 * 64


def test_counts_of_ten_billion_rows():
    # 2 n_i n_j is beyond what float64 counts exactly
    X = np.array([[0.0], [1.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1])
    sketch = PairAUCSketch(16).update(X, y)
    for _ in range(32):
        sketch = sketch + sketch
    assert sketch.n_rows == 4 * 2**32
    assert abs(sketch.pair_auc()[0, 0] - 0.875) <= sketch.error_bound()[0, 0] < 1e-8


def test_errors_name_the_thing():
    X, y = make_rows(8, n=50)
    with pytest.raises(MaucError, match=r"n_bins must be an int in \[16, 1048576\], got 3"):
        PairAUCSketch(3)
    with pytest.raises(UndefinedMAUCError, match="at least 2 classes"):
        PairAUCSketch().pair_auc()
    with pytest.raises(UndefinedMAUCError, match="at least 2 classes, got 1"):
        PairAUCSketch().update([[1.0]], ["a"]).pair_auc()
    with pytest.raises(MaucError, match="must have rows to have bins"):
        PairAUCSketch().empty_like()
    sketch = PairAUCSketch().update(X, y)
    with pytest.raises(MaucError, match="X has 2 features, but the sketch has 12"):
        sketch.update(X[:, :2], y)
    with pytest.raises(MaucError, match="X has 2 features"):
        sketch.merge(PairAUCSketch().update(X[:, :2], y))
    with pytest.raises(MaucError, match="one kind"):
        sketch.update(X, y.astype(str))
    with pytest.raises(MaucError, match="y must hold a label for every row, got None"):
        sketch.update(X, None)
    with pytest.raises(MaucError, match="label for every sample"):
        sketch.update(X[:2], [1.0, np.nan])
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [1, 2]})
    named = PairAUCSketch().update(frame, [0, 1])
    with pytest.raises(MaucError, match="column 0 is 'b', but was 'a'"):
        named.update(frame[["b", "a"]], [0, 1])
    with pytest.raises(MaucError, match="column 'c' has dtype"):
        PairAUCSketch().update(pd.DataFrame({"c": ["u", "v"]}), [0, 1])
    with pytest.raises(MaucError, match="must be a PairAUCSketch, got int"):
        sketch.merge(3)
    assert sketch.n_rows == 50


def test_repr_tells_what_it_holds():
    assert repr(PairAUCSketch(64)) == "PairAUCSketch(n_bins=64): no rows yet"
    X, y = make_rows(9, n=50)
    text = repr(PairAUCSketch(64).update(X, y))
    assert text == "PairAUCSketch(n_bins=64): 50 rows, 12 features, 3 classes, 5 kB"


@pytest.mark.data
@pytest.mark.parametrize("name", ["isolet", "mnist", "usps", "indiana", "phoneme"])
def test_within_two_thousandths_on_the_data_of_the_paper(name, load_paper_data):
    X, y = load_paper_data(name)
    exact = feature_pair_auc(X, y, n_jobs=2)
    by_class = np.argsort(y, kind="stable")
    shuffled = np.random.default_rng(0).permutation(len(y))
    for order in (np.arange(len(y)), shuffled, by_class):
        sketch = PairAUCSketch(1024, n_buffered=len(y) // 4, n_jobs=2)
        for rows in np.array_split(order, 32):
            sketch.update(X[rows], y[rows])
        difference = np.abs(sketch.pair_auc() - exact)
        assert (difference <= sketch.error_bound()).all()
        assert difference.max() <= 0.002


class ListSource(ColumnSource):
    """Columns of several types, read in parts of 70 rows; whole columns are refused."""

    def __init__(self, columns, names=None, types=None):
        self._columns = columns
        self.n_checks = 0
        types = types or [column.dtype for column in columns]
        super().__init__("table.bin", len(columns[0]), types, feature_names=names)

    def read(self, places):
        raise AssertionError("a whole column was read")

    def read_rows(self, start, stop, places):
        return [self._columns[j][start:stop] for j in places]

    def row_parts(self):
        return [(at, min(at + 70, self.shape[0])) for at in range(0, self.shape[0], 70)]

    def check_unchanged(self):
        self.n_checks += 1


@pytest.fixture
def columns(rng):
    n = 500
    days = np.datetime64("2021-03-01", "s") + rng.integers(0, 40, n).astype("m8[D]")
    return [
        rng.normal(size=n).astype(np.float32),
        rng.integers(0, 9, n),
        rng.random(n) < 0.4,
        days,
        np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    ]


def test_a_source_is_read_by_parts_of_its_rows(columns, rng):
    y = rng.integers(0, 3, 500)
    source = ListSource(columns, names=list("abcde"))
    sketch = sketch_rows(source, y, n_bins=64)
    assert source.n_checks == 1
    assert sketch.n_rows == 500
    assert_array_equal(sketch.feature_names, list("abcde"))
    exact = np.concatenate([feature_pair_auc(column[:, np.newaxis], y) for column in columns])
    bound = sketch.error_bound()
    assert (np.abs(sketch.pair_auc() - exact) <= bound).all()
    assert_array_equal(sketch.pair_auc()[1:4], exact[1:4])
    same = PairAUCSketch(64).update(source, y)
    assert_array_equal(same.pair_auc(), sketch.pair_auc())


def test_dask_collections_are_read_by_parts_of_their_rows(columns, rng, monkeypatch):
    X, y = np.column_stack([columns[0], columns[4]]), rng.integers(0, 3, 500)
    blocks = da.from_array(X, chunks=(60, 2))
    monkeypatch.setattr(da.Array, "__array__", lambda *_: pytest.fail("all rows were computed"))
    sketch = PairAUCSketch(64).update(blocks, da.from_array(y, chunks=100))
    parts = PairAUCSketch(64)
    for start in range(0, 500, 60):
        parts.update(X[start : start + 60], y[start : start + 60])
    assert_array_equal(sketch.pair_auc(), parts.pair_auc())
    found = MDFS(1, random_state=0).partial_fit(blocks, y)
    assert found.sketch_.n_rows == 500


def test_pairs_are_added_one_by_one(columns, rng):
    X, y = np.column_stack([columns[0], columns[4]]), rng.integers(0, 2, 500)
    whole = PairAUCSketch(64).update(X, y)
    parts = ((X[at : at + 90], y[at : at + 90]) for at in range(0, 500, 90))
    assert_array_equal(sketch_rows(parts, n_bins=64).pair_auc(), whole.pair_auc())


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(2000, 4)), columns=list("abcd"))
    table["few"] = rng.integers(0, 20, 2000)
    table["label"] = rng.choice(["x", "y", "z"], 2000)
    table["a"] += table["label"] == "x"
    table.loc[::9, "b"] = np.nan
    return table


def test_dask_frames_with_labels_by_name_or_as_a_series_or_array(frame):
    parts = dd.from_pandas(frame, npartitions=4)
    X, y = frame.drop(columns="label"), frame["label"]
    wanted = PairAUCSketch().update(X, y).pair_auc()
    found = sketch_rows(parts, "label")
    assert_array_equal(found.pair_auc(), wanted)
    assert_array_equal(found.feature_names, X.columns)
    for labels in (parts["label"], y.to_numpy()):
        again = sketch_rows(parts.drop(columns="label"), labels)
        assert_array_equal(again.pair_auc(), wanted)
    some = sketch_rows(parts[parts["few"] < 7], "label")
    assert_within(some, X[X["few"] < 7], y[X["few"] < 7])


def test_partitions_counted_where_they_lie_whatever_the_scheduler(frame):
    # as docs/scale.md says: bins by a few rows, and every partition counted in these
    first = frame[::4]
    empty = PairAUCSketch(64).update(first.drop(columns="label"), first["label"]).empty_like()

    @dask.delayed
    def count(part):
        return empty.copy().update(part.drop(columns="label"), part["label"])

    found = []
    for scheduler, order in (("threads", range(11)), ("synchronous", range(10, -1, -1))):
        parts = dd.from_pandas(frame, npartitions=11).to_delayed()
        counted = dask.compute(*(count(parts[at]) for at in order), scheduler=scheduler)
        found.append(sum(counted, empty))
    bound = assert_within(found[0], frame.drop(columns="label"), frame["label"])
    assert (bound[4] == 0).all()  # few values
    assert 0 < bound[:4].max() < 0.01
    whole = empty.copy().update(frame.drop(columns="label"), frame["label"])
    for merged in found:  # in any order, nothing is lost
        assert_array_equal(merged.pair_auc(), whole.pair_auc())
        assert_array_equal(merged.error_bound(), whole.error_bound())


def test_errors_of_sketch_rows_name_the_thing(columns, frame, rng):
    y = rng.integers(0, 2, 500)
    with pytest.raises(MaucError, match=r"label for every row, got None"):
        sketch_rows(ListSource(columns))
    with pytest.raises(MaucError, match=r"table.bin has 500 rows, but y has 3 labels"):
        sketch_rows(ListSource(columns), y[:3])
    types = [column.dtype for column in columns[:-1]] + [np.dtype(object)]
    with pytest.raises(MaucError, match=r"table.bin: column 'x4' holds text"):
        sketch_rows(ListSource(columns, types=types), y)
    with pytest.raises(MaucTypeError, match="data must be a source or a Dask collection"):
        sketch_rows(np.zeros((3, 2)), [0, 1, 1])
    with pytest.raises(MaucTypeError, match="got ndarray"):
        sketch_rows(np.zeros((3, 2)))
    with pytest.raises(MaucTypeError, match="part 0 of data must be a pair"):
        sketch_rows([np.zeros((3, 2))])
    with pytest.raises(MaucError, match="must name a column of a Dask data frame, got 'labels'"):
        sketch_rows(dd.from_pandas(frame, npartitions=4), "labels")
