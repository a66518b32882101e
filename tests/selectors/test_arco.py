"""ARCO: AUC less rank correlation, equal to its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mauc import ARCO, MAUCD
from tests.helpers import oracle_further as oracle
from tests.helpers import rival_strategies
from tests.helpers.selector_cases import assert_same_fit
from tests.helpers.strategies import examples


@pytest.fixture
def many(rng):
    """Four classes, 30 columns with ties and gaps, two constant ones and a copy."""
    y = rng.integers(0, 4, 90)
    X = (rng.normal(size=(90, 30)) + rng.normal(size=(4, 30))[y]).round(1)
    X[rng.random(X.shape) < 0.02] = np.nan
    X[:, 3], X[:, 17], X[:, 20] = 2.5, 0.0, X[:, 9]
    return X, y


def test_by_hand():
    # column 1 is column 0 upside down: AUC 1 but correlation 1; column 2 has AUC 3/4 and
    # ranks 2, 1, 4, 3: correlation 0.6; so 0.75 - 0.6 beats 1 - 1
    X = np.array([[1, 9, 2], [2, 8, 1], [3, 7, 4], [4, 6, 3]])
    selector = ARCO("all").fit(X, [0, 0, 1, 1])
    assert_allclose(selector.scores_, [1.0, 1.0, 1.0])
    assert selector.ranking_.tolist() == [0, 2, 1]
    assert_allclose(selector.trace_.scores, [1.0, 1 - 0.6, 1 - (1 + 0.6) / 2])


@pytest.mark.filterwarnings("ignore::mauc.exceptions.MaucWarning")
@examples(60)
@given(rival_strategies.seeds(), st.sampled_from([0.0, 0.3, 1.0, 2.5]), st.booleans())
def test_arco_equals_the_definition(seed, weight, is_small):
    rng = np.random.default_rng(seed)
    n, m, n_classes = rng.integers(8, 40), rng.integers(1, 9), rng.integers(2, 5)
    y = np.append(np.arange(n_classes).repeat(2), rng.integers(0, n_classes, n - 2 * n_classes))
    X = rng.normal(size=(n, m)) + y[:, np.newaxis] * rng.normal(size=m)
    if is_small:
        X = rng.integers(0, 3, (n, m)).astype(np.uint8)
        X[:, -1] = X[:, 0]
    else:
        X[:, m // 2] = X[:, m // 2].round()
        X[rng.random((n, m)) < rng.choice([0.0, 0.2])] = np.nan
        X[:, -1] = rng.choice([1.5, np.nan]) if rng.random() < 0.3 else X[:, -1]
    k = int(rng.integers(1, m + 1))
    selector = ARCO(k, redundancy_weight=weight).fit(X, y)
    ranking, scores, relevance = oracle.arco(X.astype(float), y, n_classes, k, weight)
    assert_array_equal(selector.ranking_, ranking)
    assert_allclose(selector.trace_.scores, scores, rtol=1e-13, atol=1e-15)
    assert_allclose(selector.scores_, relevance, rtol=1e-14)


def test_arco_of_weight_zero_is_maucd(many):
    X, y = many
    X = np.delete(X, [3, 17], axis=1)
    arco, maucd = ARCO("all", redundancy_weight=0).fit(X, y), MAUCD("all").fit(X, y)
    assert_same_fit(arco, maucd)


def test_only_the_order_of_values_counts_for_arco(many):
    X, y = many
    X = np.delete(X, [3, 17], axis=1)
    assert_same_fit(ARCO("all").fit(np.exp(X), y), ARCO("all").fit(X, y))
    X = np.where(np.nanmax(X, axis=0) == X, np.inf, X)
    assert np.isfinite(ARCO("all").fit(X, y).scores_).all()
