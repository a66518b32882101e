"""Features that could replace chosen ones: against the definition, and as users see them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import ndtr
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from mauc import GreedyMAUC
from mauc.data.problem import make_problem
from mauc.selectors.greedy_mauc import prediction as module
from mauc.selectors.greedy_mauc.prediction import MAX_LOSS, MIN_SHARE, Alternatives, Exchange
from mauc.selectors.greedy_mauc.search import measure_state
from tests.helpers.oracle_greedy import model_correlations


@pytest.fixture
def groups(rng):
    """Three classes; features 0-2, 3-5, ... repeat each other, the more so the earlier."""
    y = np.arange(150) % 3
    base = rng.normal(size=(150, 5)) + 1.2 * rng.normal(size=(3, 5))[y]
    noise = np.tile([0.1, 0.2, 0.6], 5)
    X = np.repeat(base, 3, axis=1) + noise * rng.normal(size=(150, 15))
    return np.column_stack([X, rng.normal(size=(150, 3)), np.ones(150)]), y


def oracle(X, y, ranking):
    """Solve for every set anew."""
    model = measure_state(GreedyMAUC(), make_problem(BaseEstimator(), X, y), 1)
    R, effects = model_correlations(model), model.effects

    def mauc(chosen):
        d = effects[chosen]
        squares = (d * np.linalg.solve(R[np.ix_(chosen, chosen)], d)).sum(axis=0)
        return ndtr(np.sqrt(squares / 2)).mean()

    chosen, found = list(ranking), {}
    for f in chosen:
        rest = [g for g in chosen if g != f]
        adds = mauc(chosen) - mauc(rest)
        rows = []
        for g in np.setdiff1d(np.flatnonzero(model.scores.varies), chosen).tolist():
            loss = mauc(chosen) - mauc([*rest, g])
            share = 1 - (mauc([*chosen, g]) - mauc([*rest, g])) / adds
            if loss <= MAX_LOSS and share >= MIN_SHARE:
                rows.append((-share, g, loss, adds, R[f, g]))
        found[f] = sorted(rows)[:5]
    return found


@pytest.mark.parametrize("k", [3, 5, 7, "predicted"])
def test_equals_the_definition(groups, k):
    selector = GreedyMAUC(k, prior=None).fit(*groups)
    expected = oracle(*groups, selector.ranking_.tolist())
    assert sum(map(len, expected.values())) >= 2
    check_exchanges(selector, expected)


@pytest.mark.parametrize("k", [6, 8, "predicted"])
def test_of_features_that_act_together_nothing_is_known_and_the_others_equal_the_definition(
    groups, rng, k
):
    X, y = groups
    # Two features that rise together in the first class and against each other in the second.
    pair = rng.normal(size=(150, 2))
    pair[:, 1] += np.array([4.0, -4.0, 0.0])[y] * pair[:, 0]
    X = np.column_stack([X, pair, pair + 0.01 * rng.normal(size=(150, 2))])
    selector = GreedyMAUC(k, prior=None, interactions=True).fit(X, y)
    interacting = selector.interactions_.members
    assert interacting
    assert interacting <= {19, 20, 21, 22}
    assert interacting <= {*selector.ranking_.tolist()}
    expected = oracle(X, y, selector.ranking_.tolist())
    assert any(expected[f] for f in expected.keys() - interacting)
    check_exchanges(selector, {f: [] if f in interacting else rows for f, rows in expected.items()})
    for one in (one for exchanges in selector.alternatives_.values() for one in exchanges):
        assert one.alternative < X.shape[1]  # no product


def check_exchanges(selector, expected):
    assert list(selector.alternatives_) == selector.ranking_.tolist()
    for f, exchanges in selector.alternatives_.items():
        assert [one.alternative for one in exchanges] == [row[1] for row in expected[f]]
        for one, (share, _, loss, adds, r) in zip(exchanges, expected[f], strict=True):
            assert one.feature == f
            assert_allclose(
                [one.loss, one.loss_without, one.share, one.correlation], [loss, adds, -share, r],
                atol=1e-8,
            )  # fmt: skip


def test_copies_come_first(groups):
    selector = GreedyMAUC(5).fit(*groups)
    nearest = {f: found[0].alternative for f, found in selector.alternatives_.items() if found}
    assert len(nearest) >= 2
    assert all(f // 3 == other // 3 for f, other in nearest.items())  # of the same group


def test_a_pickle_holds_what_was_found_and_little_more(groups):
    selector = GreedyMAUC(5).fit(*groups)
    stored = pickle.loads(pickle.dumps(selector))
    assert selector._exchanges._state is None
    assert dict(stored.alternatives_) == dict(selector.alternatives_)


def test_large_states_are_not_held(groups, monkeypatch):
    later = GreedyMAUC(5).fit(*groups)
    assert later._exchanges._state is not None
    monkeypatch.setattr(module, "_MAX_HELD", 0)
    at_once = GreedyMAUC(5).fit(*groups)
    assert at_once._exchanges._state is None
    assert dict(at_once.alternatives_) == dict(later.alternatives_)


def test_of_a_source_and_of_threads_they_are_the_same(groups, tmp_path):
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    from mauc import open_columns

    X, y = groups
    frame = pd.DataFrame(X).add_prefix("x")
    frame.to_parquet(tmp_path / "table.parquet")
    expected = GreedyMAUC(5).fit(X, y).alternatives_
    for n_jobs in (1, 2):
        source, labels = open_columns(tmp_path / "table.parquet", y)
        found = GreedyMAUC(5, n_jobs=n_jobs).fit(source, labels)
        assert dict(found.alternatives_) == dict(expected)


def test_constant_and_all_features(groups):
    X, y = groups
    selector = GreedyMAUC("all").fit(X, y)
    assert all(exchanges == [] for exchanges in selector.alternatives_.values())
    assert str(selector.alternatives_) == (
        "no chosen feature can be replaced at a loss of 0.001 or less"
    )
    with pytest.warns(match="every feature is constant"):
        constant = GreedyMAUC(1).fit(np.ones((6, 2)), [0, 1] * 3)
    assert constant.alternatives_[0] == []


def test_before_fit():
    with pytest.raises(NotFittedError):
        _ = GreedyMAUC().alternatives_


def test_printed_and_framed():
    pytest.importorskip("pandas")
    rows = [
        [Exchange(17, 18, 0.0004, 0.01, 0.9, 0.8), Exchange(17, 16, 0.00099, 0.01, 0.8, 0.7)],
        [],
        [Exchange(3, 4, -0.0002, 0.01, 0.9, 0.8)],
    ]
    found = Alternatives([17, 2, 3], rows, [f"x{j}" for j in range(20)])
    assert str(found).splitlines() == [
        "x17 could be replaced by x18, x16 at a loss of at most 0.0010",
        "x3 could be replaced by x4 at no loss",
    ]
    assert found.names(17) == ["x18", "x16"]
    frame = found.to_frame()
    assert list(frame.columns) == [
        "feature", "alternative", "loss", "loss_without", "share", "correlation",
    ]  # fmt: skip
    assert list(frame["alternative"]) == ["x18", "x16", "x4"]
    many = Alternatives(range(30), [[Exchange(j, 31, 0.0005, 0.1, 1, 1)] for j in range(30)],
                        [f"x{j}" for j in range(32)])  # fmt: skip
    assert str(many).splitlines()[-1] == "... and 10 more"
    assert str(many).startswith("x0 could be replaced by x31 at a loss of 0.0005\n")


def test_the_search_itself_is_unchanged_by_being_asked(groups):
    selector = GreedyMAUC(5).fit(*groups)
    before = selector.predicted_mauc_.copy()
    _ = selector.alternatives_
    assert_array_equal(selector.predicted_mauc_, before)
