"""Stability of selections: hand-worked sets, Kuncheva's index, and the rows of a run."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mauc.exceptions import MaucError
from mauc.stats import selector_stability, stability


def kuncheva(selections, n_features):
    """Mean index of all pairs (Kuncheva 2007, Eq. 2)."""
    k = len(selections[0])
    overlap = [len({*a} & {*b}) for a, b in combinations(selections, 2)]
    return np.mean([(r * n_features - k**2) / (k * (n_features - k)) for r in overlap])


def test_three_selections_by_hand():
    # The sets of the vignette of the R package stabm. Held by 3 3 3 1 1 1 1 0 0 0 of 3 sets:
    # sum p(1-p) = 4 * 2/9, times 3/2, over 10 features: 2/15. Mean size 13/3: 13/30 * 17/30.
    # 1 - 2/15 * 900/221 = 101/221
    found = stability([[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 4, 5, 6]], n_features=10)
    assert found.value == pytest.approx(101 / 221)


def test_variance_and_interval_by_hand():
    # Theorem 7 of Nogueira et al.: sets {0,1} {0,1} {0,2} of 4: value 1/3, k/d = 1/2, and all
    # sizes are alike so that only sum z p / d = (1 + 2/3)/4, (1 + 2/3)/4, (1 + 1/3)/4 differs,
    # over 1/4: 5/3, 5/3, 4/3 and a constant. Squares about the mean 14/9: 1/81 + 1/81 + 4/81.
    found = stability([[0, 1], [1, 0], [2, 0]], n_features=4)
    assert found.value == pytest.approx(1 / 3)
    variance = 4 / 9 * 6 / 81
    assert found.variance == pytest.approx(variance)
    assert found.upper - found.value == pytest.approx(1.959964 * np.sqrt(variance), rel=1e-6)
    assert found.lower == 0.0  # not below
    wide = stability([[0, 1], [1, 0], [2, 0]], n_features=4, alpha=0.01)
    assert wide.upper - wide.value == pytest.approx(2.575829 * np.sqrt(variance), rel=1e-6)


@given(st.integers(2, 20), st.integers(2, 30), st.data())
def test_identical_selections_give_one(n_sets, n_features, data):
    chosen = data.draw(st.sets(st.integers(0, n_features - 1), min_size=1, max_size=n_features - 1))
    found = stability([sorted(chosen)] * n_sets, n_features)
    assert found.value == 1
    assert found.variance == pytest.approx(0, abs=1e-28)


@given(st.integers(2, 12), st.data())
def test_equal_sizes_give_the_index_of_kuncheva(n_features, data):
    size = data.draw(st.integers(1, n_features - 1))
    one = st.permutations(range(n_features)).map(lambda order: order[:size])
    selections = data.draw(st.lists(one, min_size=2, max_size=6))
    found = stability(selections, n_features).value
    assert found == pytest.approx(kuncheva(selections, n_features))


@given(st.integers(3, 10), st.data())
def test_bounds_and_names_of_features(n_features, data):
    sets = st.sets(st.integers(0, n_features - 1))
    selections = data.draw(st.lists(sets, min_size=2, max_size=6))
    assume(0 < sum(map(len, selections)) < len(selections) * n_features)
    found = stability([sorted(s) for s in selections], n_features)
    assert -1 / (len(selections) - 1) - 1e-12 <= found.value <= 1
    renamed = [[n_features - 1 - f for f in s] for s in selections]
    assert stability(renamed, n_features).value == pytest.approx(found.value, abs=1e-12)
    # what is left out is as stable as what is taken
    rest = [sorted({*range(n_features)} - s) for s in selections]
    assert stability(rest, n_features).value == pytest.approx(found.value, abs=1e-12)


def test_random_selections_give_zero_and_the_variance_is_that_of_the_estimate(rng):
    # Selections of unequal sizes in which the first 5 of 20 features are favoured: over many
    # runs the estimates spread as the variance says.
    chance = np.where(np.arange(20) < 5, 0.8, 0.1)

    def run():
        shift = rng.choice([0.6, 1.2], size=(60, 1))
        return stability([np.flatnonzero(row) for row in rng.random((60, 20)) < chance * shift], 20)

    runs = [run() for _ in range(300)]
    spread = np.var([found.value for found in runs], ddof=1)
    assert np.mean([found.variance for found in runs]) == pytest.approx(spread, rel=0.25)
    random = [rng.permutation(100)[:10] for _ in range(400)]
    assert abs(stability(random, 100).value) < 0.01


@pytest.mark.parametrize("selection", [[0, 1, 2], []])
def test_nothing_to_choose_has_no_stability(selection):
    found = stability([selection, selection], n_features=3)
    assert np.isnan([found.value, found.variance, found.lower, found.upper]).all()


def test_bad_selections_are_named():
    with pytest.raises(MaucError, match=r"at least 2 selections to compare, got 1"):
        stability([[0, 1]], 5)
    with pytest.raises(MaucError, match=r"columns of \[0, 5\) \(n_features\), got 0 to 5"):
        stability([[0, 5], [0, 1]], 5)
    with pytest.raises(MaucError, match=r"hold a feature once, got \[1, 1\]"):
        stability([[1, 1], [0, 1]], 5)
    with pytest.raises(MaucError, match=r"must list column numbers"):
        stability([[0.5, 1], [0, 1]], 5)
    with pytest.raises(MaucError, match=r"alpha must be a number in \(0, 1\)"):
        stability([[0], [1]], 5, alpha=1)


def run_rows(selections, **columns):
    """Rows of one repeat, a fold a selection."""
    rows = [
        {
            "dataset": "glass",
            "selector": "mdfs",
            "size": 2,
            "repeat": 0,
            "fold": fold,
            "classifier": "nb",
            "features": features,
            "n_features": 4,
            **columns,
        }
        for fold, features in enumerate(selections)
    ]
    return pd.DataFrame(rows)


def test_classifiers_share_a_selection():
    sets = [np.array([0, 1]), np.array([0, 1]), np.array([0, 2])]
    one = selector_stability(run_rows(sets))
    both = selector_stability(pd.concat([run_rows(sets), run_rows(sets, classifier="1nn")]))
    pd.testing.assert_frame_equal(one, both)
    assert list(one) == ["dataset", "selector", "size", "stability", "lower", "upper", "n"]
    wanted = stability(sets, 4)
    row = one.iloc[0]
    assert (row["stability"], row["lower"], row["upper"]) == (
        wanted.value,
        wanted.lower,
        wanted.upper,
    )
    assert row["n"] == 3


def test_failed_selections_count_nowhere():
    table = selector_stability(run_rows([[0, 1], None, [0, 1], [0, 2], []]))
    assert table["n"].tolist() == [3]
    assert table["stability"][0] == pytest.approx(1 / 3)


def test_settings_keep_the_order_of_the_rows_and_gaps_stay():
    rows = pd.concat(
        [
            run_rows([[0, 1], [0, 1]], dataset="wine", size=20),
            run_rows([[0, 1], [0, 1]], dataset="wine", size=3),
            run_rows([[0, 1], None], dataset="glass", selector="su"),
            run_rows([[2, 3], [0, 1]], dataset="glass"),
        ]
    )
    table = selector_stability(rows)
    assert table["dataset"].tolist() == ["wine", "wine", "glass", "glass"]
    assert table["size"].tolist() == [3, 20, 2, 2]
    assert table["selector"].tolist() == ["mdfs", "mdfs", "mdfs", "su"]
    assert table["n"].tolist() == [2, 2, 2, 1]
    assert table["stability"].tolist()[:3] == [1, 1, -1]
    assert np.isnan(table["stability"][3])


def test_rows_without_features_are_refused():
    with pytest.raises(MaucError, match=r"features is missing"):
        selector_stability(run_rows([[0], [1]]).drop(columns="features"))
    two = pd.concat([run_rows([[0, 1]]), run_rows([[0], [1]], n_features=5).iloc[1:]])
    with pytest.raises(MaucError, match=r"one n_features per data set, got several for 'glass'"):
        selector_stability(two)
