"""Nominal columns of the selectors: by type, by mask, by number and by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from mauc import (
    FCBF,
    FSDD,
    JMI,
    MAUCD,
    MDFS,
    MRMR,
    ChiSquare,
    GreedyMAUC,
    InformationGain,
    MDLDiscretizer,
    ReliefF,
    SpreadFx,
    SubproblemSelector,
    SymmetricalUncertainty,
    feature_pair_auc,
)
from mauc.exceptions import MaucError
from tests.helpers.selector_cases import assert_same_fit
from tests.helpers.strategies import examples

NOMINAL = {
    "CHI": ChiSquare("all"),
    "SU": SymmetricalUncertainty("all"),
    "SCHI": SpreadFx("all"),
    "SSU": SpreadFx("all", relevance="su"),
    "ReliefF": ReliefF("all"),
    "mRMR": MRMR("all"),
    "mRMR MDL": MRMR("all", binning="mdl"),
    "mRMR width": MRMR("all", binning="equal_width"),
    "mRMR frequency": MRMR("all", binning="equal_frequency", n_bins=4),
    "pairs IG": SubproblemSelector("all", relevance="ig", schedule="round_robin"),
    "IG": InformationGain("all"),
    "JMI": JMI("all"),
    "JMI MDL": JMI("all", binning="mdl"),
    "FCBF": FCBF("all"),
    "FCBF frequency": FCBF("all", binning="equal_frequency", n_bins=3),
    "MDFS": MDFS("all", random_state=0),
    "MAUCD": MAUCD("all"),
    "rest AUC": SubproblemSelector("all", decomposition="one-vs-rest", schedule="hardest"),
    "GreedyMAUC": GreedyMAUC("all"),
}


@pytest.fixture(params=NOMINAL)
def selector(request):
    """Every selector that takes nominal columns."""
    return clone(NOMINAL[request.param])


def mixed_table(rng):
    """A numeric, a nominal, a numeric and a nominal column, each with gaps, of three classes."""
    y = rng.integers(0, 3, 80)
    X = np.column_stack(
        [
            rng.normal(size=80) + y,
            # no order, and one category far from the others: bins by value would merge them
            np.array([0, 1, 2, 100])[(rng.integers(0, 3, 80) + y) % 4],
            rng.normal(size=80),
            rng.integers(0, 3, 80),
        ]
    )
    X[rng.random(X.shape) < 0.08] = np.nan
    return X, y


@pytest.fixture
def mixed(rng):
    return mixed_table(rng)


def fitted_with(selector, X, y, flags=None):
    return clone(selector).set_params(categorical_features=flags).fit(X, y)


def words(column):
    """Return words in the order of the codes."""
    return [None if v != v else f"v{v:03.0f}" for v in column.tolist()]


def columns_of(X):
    """Return the columns of a frame whose nominal ones hold words."""
    return {"a": X[:, 0], "b": words(X[:, 1]), "c": X[:, 2], "d": words(X[:, 3])}


def object_array(X):
    X = X.astype(object)
    X[:, 1], X[:, 3] = words(X[:, 1]), words(X[:, 3])
    return X


def frame_of(X, **types):
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]).astype(types)


DECLARED = ["a", "v000", "v001", "v001b", "v002", "v100", "z"]  # some of which are not used
#: ways to hold a table whose columns 1 and 3 are nominal, and what tells that they are
FORMS = {
    "mask": (np.asarray, [False, True, False, True]),
    "numbers from the end": (np.asarray, [-3, -1]),
    "array of numbers": (np.asarray, np.array([3, 1])),
    "tuple": (np.asarray, (1, 3)),
    "objects": (object_array, [1, 3]),
    "pandas names": (frame_of, ["b", "d"]),
    "pandas numbers": (frame_of, [1, 3]),
    "pandas mask": (frame_of, [False, True, False, True]),
    "pandas categories": (lambda X: frame_of(X, b="category", d="category"), None),
    "pandas category and name": (lambda X: frame_of(X, b="category"), ["d"]),
    "pandas words": (lambda X: pd.DataFrame(columns_of(X)), None),
    "pandas strings": (lambda X: pd.DataFrame(columns_of(X)).astype({"d": "string"}), None),
    "pandas declared": (
        lambda X: pd.DataFrame(columns_of(X)).astype(
            dict.fromkeys("bd", pd.CategoricalDtype(DECLARED))
        ),
        None,
    ),
    "polars words": (lambda X: pl.DataFrame(columns_of(X)), None),
    "polars categories": (
        lambda X: pl.DataFrame(columns_of(X), schema_overrides={"b": pl.Categorical}),
        None,
    ),
    "polars declared": (
        lambda X: pl.DataFrame(
            columns_of(X), schema_overrides=dict.fromkeys("bd", pl.Enum(DECLARED))
        ),
        None,
    ),
}


@pytest.mark.parametrize("name", NOMINAL)
@examples(10)
@given(form=st.sampled_from(list(FORMS)), seed=st.integers(0, 2**32 - 1))
def test_the_form_of_a_table_does_not_matter(name, form, seed):
    X, y = mixed_table(np.random.default_rng(seed))
    make, flags = FORMS[form]
    wanted = fitted_with(NOMINAL[name], X, y, [1, 3])
    assert_same_fit(fitted_with(NOMINAL[name], make(X), y, flags), wanted)


def test_flags_count(selector, mixed):
    wanted = fitted_with(selector, *mixed, [1, 3])
    assert not np.array_equal(wanted.scores_, fitted_with(selector, *mixed).scores_)


def test_transform_keeps_categories(selector, mixed):
    X, y = mixed
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"]).astype({"b": "category"})
    frame["d"] = pd.Series([None if v != v else f"v{v:03.0f}" for v in X[:, 3]]).astype("category")
    fitted = fitted_with(selector, frame, y).set_output(transform="pandas")
    pd.testing.assert_frame_equal(fitted.transform(frame), frame)
    plain = fitted_with(selector, frame, y)
    assert plain.transform(frame).shape == (80, 4)


def test_auc_of_every_feature(selector, mixed):
    fitted = fitted_with(selector, *mixed, [1, 3])
    wanted = feature_pair_auc(*mixed, categorical_features=[1, 3])
    assert_array_equal(fitted.pair_auc_, wanted[fitted.ranking_])


def test_the_names_of_categories_do_not_matter(selector, mixed):
    X, y = mixed
    renamed = X.copy()
    for j in (1, 3):
        values = np.unique(X[~np.isnan(X[:, j]), j])
        renamed[:, j] = np.append(values[::-1], np.nan)[np.searchsorted(values, X[:, j])]
    one, other = (fitted_with(selector, table, y, [1, 3]) for table in (X, renamed))
    assert_array_equal(one.ranking_, other.ranking_)
    assert_array_equal(one.pair_auc_, other.pair_auc_)
    assert_allclose(one.scores_, other.scores_, rtol=1e-12)


def test_row_order_and_threads_do_not_matter(selector, mixed):
    X, y = mixed
    order = np.random.default_rng(0).permutation(len(y))
    wanted = fitted_with(selector, X, y, [1, 3])
    if not isinstance(selector, ReliefF):  # which has ties among neighbours
        assert_same_fit(fitted_with(selector, X[order], y[order], [1, 3]), wanted)
    assert_same_fit(fitted_with(clone(selector).set_params(n_jobs=3), X, y, [1, 3]), wanted)


@pytest.mark.parametrize("name", ["CHI", "SSU", "mRMR", "MDFS", "MAUCD", "GreedyMAUC"])
def test_flagged_columns_of_a_sparse_matrix(rng, name):
    X, y = rng.integers(0, 4, (60, 5)).astype(float), rng.integers(0, 3, 60)
    wanted = fitted_with(NOMINAL[name], X, y, [1, 3])
    for make in (sparse.csr_array, sparse.csc_matrix):
        assert_same_fit(fitted_with(NOMINAL[name], make(X), y, [1, 3]), wanted)
        apart = X.copy()
        apart[:, 1] *= 10**9  # codes between which there are others
        assert_same_fit(fitted_with(NOMINAL[name], make(apart), y, [1, 3]), wanted)


def test_a_category_goes_to_those_that_take_it(mixed):
    X, y = mixed
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(y == 1, "u", "v")})
    assert ChiSquare(1).fit(frame, y).get_feature_names_out().tolist() == ["b"]
    frame["b"] = [*frame["b"][:-1], 3]
    with pytest.raises(MaucError, match=r"column 'b' has dtype object .* name it in categorical_f"):
        ChiSquare().fit(frame, y)
    data = np.array(pd.DataFrame({"a": X[:, 0], "b": np.where(y == 1, "u", "v")}), dtype=object)
    with pytest.raises(MaucError, match="could not convert string to float"):
        ChiSquare().fit(data, y)


@pytest.mark.parametrize(
    "refuses", [FSDD(), SpreadFx(relevance="fsdd"), MDLDiscretizer()], ids=repr
)
def test_a_category_where_order_counts(refuses, mixed):
    X, y = mixed
    frame = pd.DataFrame({"a": X[:, 0], "b": pd.Categorical(np.where(y == 1, "u", "v"))})
    with pytest.raises(MaucError, match="X must be numeric, but column 'b' has dtype category"):
        refuses.fit(frame, y)


@pytest.mark.parametrize("relevance", ["fisher", "fsdd"])
def test_flags_where_order_counts(mixed, relevance):
    text = f"categorical_features must be None for relevance '{relevance}'"
    for make in (SpreadFx, SubproblemSelector):
        with pytest.raises(MaucError, match=text):
            make(relevance=relevance, categorical_features=[1]).fit(*mixed)


@pytest.mark.parametrize("c", [2, 3, 5])
def test_a_function_of_a_chosen_nominal_feature_is_the_last_useful_one(c):
    # Column 1 groups the categories of column 0: given these, it tells nothing.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.arange(600) % c
        shares, others = rng.dirichlet(np.full(12, 0.6), c), rng.dirichlet(np.full(6, 1.5), c)
        X = rng.normal(size=(600, 8))
        X[:, 0] = [rng.choice(12, p=shares[k]) for k in y]
        X[:, 1] = X[:, 0] // 3
        X[:, 2] = [rng.choice(6, p=others[k]) for k in y]
        X[:, 3] = rng.integers(0, 5, 600)
        X[:, 4] += 0.5 * rng.permutation(np.linspace(-1, 1, c))[y]
        ranking = GreedyMAUC(8, categorical_features=[0, 1, 2, 3]).fit(X, y).ranking_.tolist()
        assert ranking.index(1) > max(map(ranking.index, (0, 2, 4)))
