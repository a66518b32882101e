"""The contract of the selectors: each law once, for all of them and their variants."""

import gc
import pickle
import tempfile
import weakref
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from mauc import GreedyMAUC
from mauc.data import columns as columns_module
from mauc.measure import information, ranks, relieff
from mauc.registry import SELECTORS as METHODS
from mauc.selectors import fcbf
from tests.helpers.selector_cases import (
    COUNTED,
    SELECTORS,
    SPARSE,
    assert_same_fit,
    fit_all,
    integer_table,
)
from tests.helpers.strategies import examples

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

pytestmark = pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")

seeds = st.integers(0, 2**32 - 1)


def every(names=SELECTORS):
    return pytest.mark.parametrize("name", names)


def strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def memory_map(X):
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, X)
        file.flush()
        return np.load(file.name, mmap_mode="r")


def named(make):
    """Make a frame of columns x0, x1, ..., the names of columns that have none."""
    return lambda X: make({f"x{j}": X[:, j] for j in range(X.shape[1])})


NUMBERS = ("u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
#: ways to hold a table, and the types of numbers that they can have
FORMS = {
    "C": (np.ascontiguousarray, ("bool", "f2", "g", ">f8", ">f4", ">i4", *NUMBERS)),
    "F": (np.asfortranarray, ("bool", "f2", "g", ">f8", ">f4", ">i4", *NUMBERS)),
    "strided": (strided, NUMBERS),
    "memory map": (memory_map, NUMBERS),
    "reversed": (lambda X: X[::-1][::-1], NUMBERS),
    "list": (lambda X: X.tolist(), ("bool", "i8", "f8")),
    "pandas": (named(pd.DataFrame), NUMBERS),
    "polars": (named(pl.DataFrame), NUMBERS),
    "csr": (sparse.csr_array, NUMBERS),
    "csc": (sparse.csc_array, NUMBERS),
    "coo": (sparse.coo_array, NUMBERS),
    "csr matrix": (sparse.csr_matrix, NUMBERS),
    "csc matrix": (sparse.csc_matrix, NUMBERS),
}
SPARSE_FORMS = [form for form in FORMS if form.startswith("c")]


def tables_of(name):
    """Give every selector the types of its kernels, and a share of all: together they meet each."""
    yield from (("C", "u1"), ("F", "f4"))
    tables = [(form, dtype) for form, (_, dtypes) in FORMS.items() for dtype in dtypes]
    for is_sparse, names in ((False, list(SELECTORS)), (True, SPARSE)):
        own = [table for table in tables if (table[0] in SPARSE_FORMS) == is_sparse]
        if name in names:
            yield from own[names.index(name) :: len(names)]


@every()
def test_the_form_of_a_table_does_not_matter(name):
    X, y = integer_table(list(SELECTORS).index(name))
    variants = {
        "dense": X,
        "bool": X % 2,
        "sparse": np.where(np.random.default_rng(0).random(X.shape) < 0.6, 0, X),
    }
    wanted = {}
    for form, dtype in tables_of(name):
        kind = "bool" if dtype == "bool" else "sparse" if form in SPARSE_FORMS else "dense"
        values = variants[kind]
        if kind not in wanted:
            wanted[kind] = fit_all(SELECTORS[name], values.astype(np.float64), y)
        found = fit_all(SELECTORS[name], FORMS[form][0](values.astype(dtype)), y)
        assert_same_fit(found, wanted[kind], same_names=True)


@every(SPARSE)
def test_sparse_columns_may_be_missing_constant_or_empty(name, rng):
    y = rng.integers(0, 4, 90)
    X = np.where(rng.random((90, 25)) < 0.7, 0.0, rng.integers(-3, 9, (90, 25)) + y[:, np.newaxis])
    X[5, 5], X[:, 6], X[:, 7] = np.nan, 0.0, 1.5
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=20)
    dense, stored = clone(selector).fit(X, y), clone(selector).fit(sparse.csr_array(X), y)
    assert_same_fit(stored, dense)
    chosen = stored.transform(sparse.csr_array(X))
    assert sparse.issparse(chosen)
    assert_array_equal(chosen.toarray(), dense.transform(X))


@every(SPARSE)
def test_sparse_is_not_densified_as_a_whole(name, rng, monkeypatch):
    X = sparse.csc_array(np.where(rng.random((60, 600)) < 0.05, rng.random((60, 600)), 0))
    widths = []
    to_array = sparse.csc_array.toarray
    monkeypatch.setattr(
        sparse.csc_array, "toarray", lambda self: widths.append(self.shape[1]) or to_array(self)
    )
    clone(SELECTORS[name]).set_params(n_features_to_select=5).fit(X, np.arange(60) % 3)
    assert max(widths, default=0) <= 256


LABELS = {
    "str": lambda y: np.array(["d", "e", "g", "h"])[y],
    "object": lambda y: np.array(["d", "e", "g", "h"], object)[y],
    "category": lambda y: pd.Series(np.array(["d", "e", "g", "h"])[y]).astype("category"),
    "ordered": lambda y: pd.Series(pd.Categorical.from_codes(y, list("dehg"), ordered=True)),
    "string": lambda y: pd.Series(np.array(["d", "e", "g", "h"])[y], dtype="string"),
    "polars": lambda y: pl.Series(np.array(["d", "e", "g", "h"])[y].tolist()),
    "int": lambda y: y * 7 - 3,
    "float": lambda y: y.astype(float),
    "two": lambda y: y == 1,
}


@every()
@examples(4)
@given(seed=seeds, kind=st.sampled_from(list(LABELS)))
def test_labels_of_any_type(name, seed, kind):
    X, y = integer_table(seed)
    labels = LABELS[kind](y)
    fitted = fit_all(SELECTORS[name], X, labels)
    assert_array_equal(fitted.classes_, np.unique(np.asarray(labels)))
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    assert_same_fit(fitted, fit_all(SELECTORS[name], X, codes))


@every([name for name in SELECTORS if not name.startswith(("relieff", "consensus"))])
@examples(5)
@given(seed=seeds)
def test_the_order_of_rows_does_not_matter(name, seed):
    # Of equally near neighbours ReliefF takes the first, and the halves of a consensus are of rows.
    X, y = integer_table(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    found, wanted = (fit_all(SELECTORS[name], *table) for table in ((X[order], y[order]), (X, y)))
    assert_array_equal(found.pair_auc_, wanted.pair_auc_)
    assert_array_equal(found.ranking_, wanted.ranking_)
    assert_allclose(found.scores_, wanted.scores_, rtol=1e-12)
    if isinstance(found, GreedyMAUC):
        assert_same_fit(found, wanted)


@every()
@examples(4)
@given(
    seed=seeds,
    n_jobs=st.sampled_from([1, 2, 3, -1]),
    block=st.sampled_from([("_BLOCK_BYTES", 1), ("_BLOCK_BYTES", 2160), ("_BLOCK_SCORES", 11)]),
)
def test_threads_and_blocks_do_not_matter(name, seed, n_jobs, block):
    X, y = integer_table(seed, n_features=20)
    X = X.astype(float)
    X[np.random.default_rng(seed).random(X.shape) < 0.02] = np.nan
    X[:, 3], X[:, 17] = 2.5, 0.0
    wanted = fit_all(SELECTORS[name], X, y, n_jobs=1)
    with pytest.MonkeyPatch.context() as patch:
        for module in (fcbf, information, ranks):
            patch.setattr(module, "BLOCK_WORK", 1)
        patch.setattr(relieff, "PANEL_QUERIES", 7)
        patch.setattr(columns_module, *block)
        assert_same_fit(fit_all(SELECTORS[name], X, y, n_jobs=n_jobs), wanted)


@every()
@examples(3)
@given(seed=seeds)
def test_missing_values(name, seed):
    rng = np.random.default_rng(seed)
    X, y = integer_table(seed)
    X = X.astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    fitted = fit_all(SELECTORS[name], X, y)
    assert np.isfinite(fitted.scores_).all()
    columns = {f"x{j}": [None if v != v else int(v) for v in X[:, j]] for j in range(10)}
    frame = pd.DataFrame({key: pd.array(values, "Int64") for key, values in columns.items()})
    for table in (frame, pl.DataFrame(columns)):
        assert_same_fit(fit_all(SELECTORS[name], table, y), fitted, same_names=True)
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=4).fit(X, y)
    assert_array_equal(selector.transform(X), X[:, selector.support_])
    X[0, 0] = np.inf
    if selector.accepts.infinite:
        X[1, 1] = -np.inf
        assert np.isfinite(clone(selector).fit(X, y).scores_).all()
    else:
        with pytest.raises(ValueError, match="contains infinity"):
            clone(selector).fit(X, y)


@every()
@examples(2)
@given(seed=seeds)
def test_rankings_are_nested(name, seed):
    X, y = integer_table(seed, n_features=20)
    X[:, 3] = 7
    rankings = [
        clone(SELECTORS[name]).set_params(n_features_to_select=k).fit(X, y).ranking_
        for k in (1, 7, 13, "all")
    ]
    for short, long in pairwise(rankings):
        assert_array_equal(short, long[: len(short)])
    assert sorted(rankings[-1]) == list(range(20))


@every([name for name in SELECTORS if name != "consensus"])
@examples(3)
@given(seed=seeds)
def test_copies_go_by_column_and_constants_score_nothing(name, seed):
    X, y = integer_table(seed, n_features=20)
    X[:, 3] = X[:, 17] = 7
    fitted = fit_all(SELECTORS[name], X, y)
    ranking = fitted.ranking_.tolist()
    assert ranking.index(1) < ranking.index(10)
    assert ranking.index(3) < ranking.index(17)
    if name in ("arco", "jmi", "greedy", "fisher", "anova"):
        assert ranking[-2:] == [3, 17]


@every()
@examples(3)
@given(seed=seeds)
def test_weights_stand_for_repeated_rows(name, seed):
    rng = np.random.default_rng(seed)
    X, y = integer_table(seed)
    X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    weight = rng.integers(0, 4, len(y)) * np.where(y == 0, 5, 1)
    weight[np.unique(y, return_index=True)[1]] = 1  # every class has a row
    weighted = fit_all(SELECTORS[name], X, y, sample_weight=weight)
    repeated = fit_all(SELECTORS[name], np.repeat(X, weight, axis=0), np.repeat(y, weight))
    if name in COUNTED:
        assert_same_fit(weighted, repeated)
    else:
        assert_array_equal(weighted.pair_auc_[0], repeated.pair_auc_[0])
        assert_allclose(weighted.scores_, repeated.scores_, rtol=1e-9)
        for learned in ("predicted_mauc_", "separations_", "shrinkage_"):
            found, wanted = (getattr(one, learned, 0.0) for one in (weighted, repeated))
            assert_allclose(found, wanted, rtol=1e-9, err_msg=learned)


@every()
@examples(3)
@given(seed=seeds)
def test_rows_of_weight_0_are_absent(name, seed):
    rng = np.random.default_rng(seed)
    X, y = integer_table(seed)
    X = np.column_stack([X, 0.1 * y])  # constant in every class
    weight = rng.integers(0, 3, len(y)) * 0.5  # sums of which are exact
    weight[np.unique(y, return_index=True)[1]] = 1.0  # every class has a row
    X[weight == 0] = 1e9
    kept = weight > 0
    absent = fit_all(SELECTORS[name], X[kept], y[kept], sample_weight=weight[kept])
    assert_same_fit(fit_all(SELECTORS[name], X, y, sample_weight=weight), absent)


@every()
@examples(3)
@given(seed=seeds, unit=st.sampled_from([2.0**-80, 0.3, 1e60]))
def test_weights_that_are_not_whole_have_no_unit(name, seed, unit):
    X, y = integer_table(seed)
    weight = np.random.default_rng(seed).uniform(0.2, 3, len(y))
    fitted = fit_all(SELECTORS[name], X, y, sample_weight=weight)
    scaled = fit_all(SELECTORS[name], X, y, sample_weight=unit * weight)
    assert_array_equal(scaled.ranking_, fitted.ranking_)
    assert_allclose(scaled.scores_, fitted.scores_, rtol=1e-9)


@every()
def test_columns_without_a_known_value(name, rng):
    X, y = rng.normal(size=(40, 4)) + np.arange(40)[:, np.newaxis] % 2, np.arange(40) % 2
    X[:, [1, 2]] = np.nan
    ranking = fit_all(SELECTORS[name], X, y).ranking_
    assert set(ranking[:2]) == {0, 3} or name.startswith(("relieff", "consensus"))


@every()
def test_bad_labels_and_sizes(name):
    X, y = integer_table(0)
    for labels, text in (
        (np.zeros(60), "y must hold at least 2 classes to tell apart"),
        (y[:59], r"inconsistent numbers of samples: \[60, 59\]"),
        (np.where(y == 0, np.nan, y), "y must hold a label .* contains NaN"),
    ):
        with pytest.raises(ValueError, match=text):
            clone(SELECTORS[name]).fit(X, labels)
    for wanted, text in (
        (0, r"must be in \[1, 10\] .*, got 0\."),
        (11, r"must be in \[1, 10\] .*, got 11\."),
        (1.5, r"must be in \(0, 1\], got 1\.5"),
    ):
        with pytest.raises(ValueError, match=f"n_features_to_select .*{text}"):
            clone(SELECTORS[name]).set_params(n_features_to_select=wanted).fit(X, y)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, np.array(["barolo", "grignolino", "barbera"])[y]


@pytest.fixture(params=SELECTORS)
def selector(request):
    """Every selector in turn, unfitted."""
    return clone(SELECTORS[request.param])


@examples(8)
@given(
    name=st.sampled_from(list(SELECTORS)),
    wanted=st.sampled_from(
        [(1, 1), (13, 13), (np.int64(4), 4), ("all", 13), (0.5, 6), (1.0, 13), (0.001, 1)]
    ),
)
def test_n_features_to_select(wine, name, wanted):
    wanted, n_selected = wanted
    selector = clone(SELECTORS[name]).set_params(n_features_to_select=wanted).fit(*wine)
    assert len(selector.ranking_) == len(set(selector.ranking_)) == n_selected
    assert selector.transform(wine[0]).shape == (178, n_selected)
    assert selector.n_features_to_select is wanted  # fit leaves the parameters alone


def test_learned_attributes_agree(selector, wine):
    X, y = wine
    selector.set_params(n_features_to_select=6).fit(X, y)
    assert selector.n_features_in_ == 13
    assert selector.classes_.tolist() == ["barbera", "barolo", "grignolino"]
    assert_array_equal(selector.feature_names_in_, X.columns)
    assert_array_equal(np.flatnonzero(selector.support_), np.sort(selector.ranking_))
    assert_array_equal(selector.support_, selector.get_support())
    assert selector.scores_.shape == (13,)
    assert selector.pair_auc_.shape == (6, 3)
    assert ((selector.pair_auc_ >= 0.5) & (selector.pair_auc_ <= 1)).all()
    assert len(selector.subproblem_names_) == selector.decomposition_.n_subproblems
    assert len(selector.trace_) == 6
    for step, feature in zip(selector.trace_, selector.ranking_, strict=True):
        assert step.feature == feature
        assert step.feature_name == X.columns[feature]
        assert step.subproblem_name == selector.subproblem_names_[step.subproblem]
        assert 1 <= step.rank <= (13 if isinstance(selector, GreedyMAUC) else 6)


@every(COUNTED)
def test_scores_of_auc_are_folded(name, wine):
    for step in fit_all(SELECTORS[name], *wine).trace_:
        assert 0.5 <= step.score <= 1


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(selector, wine, library):
    X, y = wine
    X = X.set_axis(np.arange(len(X)) + 1000)
    labels = pd.Series(y, index=X.index)
    if library == "polars":
        X, labels = pl.DataFrame(X.to_dict("list")), y
    selector.set_output(transform=library).fit(X, labels)
    chosen = selector.transform(X)
    assert list(chosen.columns) == list(selector.get_feature_names_out())
    assert chosen.equals(X[chosen.columns])
    assert_same_fit(selector, clone(selector).fit(wine[0].to_numpy(), y))


def test_frames_of_mixed_types_equal_their_array(selector, rng):
    # Booleans of a frame are nominal to those that take nominal columns.
    types = ["int8", "float32", "int64" if selector.accepts.nominal else "bool", "Int64", "float64"]
    X, y = rng.integers(0, 2, (50, 5)).astype(float), rng.integers(0, 3, 50)
    frame = pd.DataFrame({f"x{j}": pd.Series(X[:, j]).astype(t) for j, t in enumerate(types)})
    frame.loc[3, "x3"] = pd.NA
    X[3, 3] = np.nan
    assert_same_fit(clone(selector).fit(frame, y), clone(selector).fit(X, y))


def test_names_without_a_frame(selector, wine):
    X, y = wine
    selector.fit(X.to_numpy(), y)
    names = [f"x{j}" for j in np.flatnonzero(selector.support_)]
    assert list(selector.get_feature_names_out()) == names
    assert list(selector.get_feature_names_out(X.columns)) == list(X.columns[selector.support_])
    assert {step.feature_name for step in selector.trace_} == set(names)


def test_clone_pickle_and_untouched_data(selector, wine):
    X, y = wine[0].to_numpy(), wine[1].copy()
    before = X.copy(), y.copy()
    fitted = clone(selector).fit(X, y)
    fitted.transform(X)
    assert_array_equal(X, before[0])
    assert_array_equal(y, before[1])
    assert_same_fit(pickle.loads(pickle.dumps(fitted)), fitted)
    again = clone(fitted)
    assert not hasattr(again, "ranking_")
    assert again.get_params() == selector.get_params()
    assert_same_fit(again.fit(X, y), fitted)


@every(METHODS)
def test_pipeline_and_grid_search(name, wine):
    X, y = wine
    selector = clone(SELECTORS[name])
    pipeline = make_pipeline(selector, GaussianNB()).fit(X, y)
    alone = clone(selector).fit(X, y)
    wanted = GaussianNB().fit(alone.transform(X), y).predict_proba(alone.transform(X))
    assert_array_equal(pipeline.predict_proba(X), wanted)
    assert_array_equal(pipeline[:-1].get_feature_names_out(), alone.get_feature_names_out())
    step = type(selector).__name__.lower()
    search = GridSearchCV(pipeline, {f"{step}__n_features_to_select": [1, 5]}, cv=2).fit(X, y)
    assert search.best_params_ == {f"{step}__n_features_to_select": 5}


@pytest.fixture
def little_to_collect():
    """Leave what there is already out of a collection of garbage, which then takes no time."""
    gc.freeze()
    yield
    gc.unfreeze()


@every(METHODS)
@pytest.mark.usefixtures("little_to_collect")
def test_a_fitted_selector_keeps_no_data(name):
    sizes = []
    for n_samples in (2100, 2200):  # beyond the rows that a search samples
        X, y = integer_table(0, n_samples)
        X = X.astype(float)
        fitted = clone(SELECTORS[name]).set_params(n_features_to_select=3).fit(X, y)
        fitted.explain(int(fitted.ranking_[0]), X, y)
        reference = weakref.ref(X)
        del X
        gc.collect()
        assert reference() is None
        sizes.append(len(pickle.dumps(fitted)) - 8 * n_samples)  # a hash of each row
    assert abs(sizes[0] - sizes[1]) < 100


@every()
def test_powers_of_two_change_nothing(name):
    X, y = integer_table(3)
    X = X / 8.0 - 1.0
    wanted = clone(SELECTORS[name]).fit(X, y)
    # As in WEKA a range below 1e-6 counts as constant to ReliefF, with a warning.
    for exponent in (600, 1000) if "relieff" in name else (-1000, -600, 600, 1000):
        assert_same_fit(clone(SELECTORS[name]).fit(np.ldexp(X, exponent), y), wanted)
