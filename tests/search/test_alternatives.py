"""Alternatives of chosen features: the definition as an oracle, what is kept, what is printed."""

import pickle
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.special import ndtr
from sklearn.exceptions import NotFittedError

from mauc import GreedyMAUC
from mauc.data.door import make_problem
from mauc.search import greedy as search_module
from mauc.search.alternatives import MAX_LOSS, MIN_SHARE, Alternative, Alternatives
from mauc.selectors.greedy_mauc import measure_state
from tests.helpers.oracle_greedy import score_correlations, separations


@pytest.fixture
def groups(rng):
    """Three classes; features 0-2, 3-5, ... repeat each other, the more so the earlier."""
    y = np.arange(150) % 3
    base = rng.normal(size=(150, 5)) + 1.2 * rng.normal(size=(3, 5))[y]
    noise = np.tile([0.1, 0.2, 0.6], 5)
    X = np.repeat(base, 3, axis=1) + noise * rng.normal(size=(150, 15))
    return np.column_stack([X, rng.normal(size=(150, 3)), np.ones(150)]), y


def oracle(X, y, selector):
    """Solve for every set anew, effects scaled so that all chosen have the predicted MAUC."""
    model = measure_state(selector, make_problem(X, y), 1)
    R = score_correlations(model.scores, model.options.shrinkage, model.options.doubt)

    def scaled(chosen, scale):
        return ndtr(scale * np.sqrt(separations(model.effects, R, chosen) / 2)).mean()

    chosen, found = selector.ranking_.tolist(), {}
    high = selector.predicted_mauc_[-1]
    is_high = scaled(chosen, 1.0) > high
    scale = brentq(lambda scale: scaled(chosen, scale) - high, 0, 1) if is_high else 1.0
    mauc = partial(scaled, scale=scale)
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
    selector = GreedyMAUC(k).fit(*groups)
    expected = oracle(*groups, selector)
    assert any(expected.values())
    check_alternatives(selector, expected)


@pytest.mark.parametrize("k", [6, 8, "predicted"])
def test_of_features_of_spread_nothing_is_known_and_the_others_equal_the_definition(groups, rng, k):
    X, y = groups
    wide = rng.normal(size=150) * np.array([1.0, 5.0, 1.0])[y]
    X = np.column_stack([X, wide, wide + 0.01 * rng.normal(size=150)])
    selector = GreedyMAUC(k).fit(X, y)
    folded = {*selector.folded_features_.tolist()}
    assert folded == {19, 20}
    assert folded & {*selector.ranking_.tolist()}
    expected = oracle(X, y, selector)
    assert any(expected[f] for f in expected.keys() - folded)
    check_alternatives(selector, {f: [] if f in folded else rows for f, rows in expected.items()})
    for other in (other for others in selector.alternatives_.values() for other in others):
        assert other.alternative < X.shape[1]  # no folded scores


def check_alternatives(selector, expected):
    assert list(selector.alternatives_) == selector.ranking_.tolist()
    for f, others in selector.alternatives_.items():
        assert [other.alternative for other in others] == [row[1] for row in expected[f]]
        for other, (share, _, loss, adds, r) in zip(others, expected[f], strict=True):
            assert other.feature == f
            assert_allclose(
                [other.loss, other.loss_without, other.share, other.correlation],
                [loss, adds, -share, r],
                atol=1e-8,
            )


def test_a_pickle_holds_what_was_found_and_little_more(groups):
    selector = GreedyMAUC(5).fit(*groups)
    stored = pickle.loads(pickle.dumps(selector))
    assert selector._alternatives.state is None
    assert dict(stored.alternatives_) == dict(selector.alternatives_)


def test_large_states_are_not_held(groups, monkeypatch):
    later = GreedyMAUC(5).fit(*groups)
    assert later._alternatives.state is not None
    monkeypatch.setattr(search_module, "MAX_HELD", 0)
    at_once = GreedyMAUC(5).fit(*groups)
    assert at_once._alternatives.state is None
    assert dict(at_once.alternatives_) == dict(later.alternatives_)


def test_constant_and_all_features(groups):
    X, y = groups
    selector = GreedyMAUC("all").fit(X, y)
    assert all(others == [] for others in selector.alternatives_.values())
    assert str(selector.alternatives_) == (
        "no chosen feature can be replaced at a predicted loss of 0.001 or less"
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
        [Alternative(17, 18, 0.0004, 0.01, 0.9, 0.8), Alternative(17, 16, 0.00099, 0.01, 0.8, 0.7)],
        [],
        [Alternative(3, 4, -0.0002, 0.01, 0.9, 0.8)],
    ]
    found = Alternatives([17, 2, 3], rows, [f"x{j}" for j in range(20)])
    assert str(found).splitlines() == [
        "x17 could be replaced by x18, x16 at a predicted loss of at most 0.0010 (± 0.0016)",
        "x3 could be replaced by x4 at no predicted loss (± 0.0016)",
    ]
    assert found.names(17) == ["x18", "x16"]
    frame = found.to_frame()
    assert list(frame.columns) == [
        "feature",
        "alternative",
        "loss",
        "loss_without",
        "share",
        "correlation",
    ]
    assert list(frame["alternative"]) == ["x18", "x16", "x4"]
    many = Alternatives(
        range(30),
        [[Alternative(j, 31, 0.0005, 0.1, 1, 1)] for j in range(30)],
        [f"x{j}" for j in range(32)],
    )
    assert str(many).splitlines()[-1] == "... and 10 more"
    assert str(many).startswith("x0 could be replaced by x31 at a predicted loss of 0.0005 (±")
