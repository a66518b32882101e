"""The walk over the lists and the trace it leaves."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mauc.selectors.lists import RankingLists, draw_features
from mauc.selectors.trace import SelectionTrace, TraceStep


class Script:
    """A schedule that lets the lists speak as written."""

    needs_scores = False

    def __init__(self, turns, *, draws_until_new=False):
        self.turns = iter(turns)
        self.draws_until_new = draws_until_new

    def next_list(self, is_open):
        return next(turn for turn in self.turns if is_open[turn])


class Observer(Script):
    needs_scores = True

    def __init__(self, turns):
        super().__init__(turns)
        self.seen = []

    def observe(self, scores):
        self.seen.append(scores)


LISTS = RankingLists(
    features=np.array([[0, 1, 2], [0, 2, 1]]),
    scores=np.array([[0.9, 0.8, 0.7], [0.95, 0.85, 0.6]]),
)


def walked(turns, n_wanted, **options):
    features, lists, ranks, scores = draw_features(LISTS, Script(turns, **options), n_wanted, None)
    return list(
        zip(features.tolist(), lists.tolist(), ranks.tolist(), scores.tolist(), strict=True)
    )


def test_a_feature_already_selected_is_dropped():
    # The second turn brings feature 0 again and is lost; the third goes on in the list.
    assert walked([0, 1, 1, 0], 3) == [(0, 0, 1, 0.9), (2, 1, 2, 0.85), (1, 0, 2, 0.8)]


def test_a_list_is_drawn_from_until_new():
    assert walked([0, 1, 0], 3, draws_until_new=True) == [
        (0, 0, 1, 0.9),
        (2, 1, 2, 0.85),
        (1, 0, 2, 0.8),
    ]


def test_an_exhausted_list_is_closed():
    assert walked([0] * 3, 3) == [(0, 0, 1, 0.9), (1, 0, 2, 0.8), (2, 0, 3, 0.7)]
    # Lists of two cannot bring a third feature: list 0 closes, then list 1, and the walk ends.
    short = RankingLists(LISTS.features[:, :2], LISTS.scores[:, :2])
    features, *_ = draw_features(short, Script([0, 0, 0, 0, 1, 1, 1]), 3, None)
    assert features.tolist() == [0, 1, 2]


def test_a_schedule_is_told_the_scores_of_what_is_selected():
    schedule = Observer([0, 1, 1])
    draw_features(LISTS, schedule, 2, lambda feature: feature * 10)
    assert schedule.seen == [0, 20]


@pytest.fixture
def trace():
    return SelectionTrace(
        features=np.array([4, 2]),
        subproblems=np.array([1, 0]),
        ranks=np.array([1, 3]),
        scores=np.array([0.9, 0.8]),
        feature_names=np.array(["d", "b"]),
        subproblem_names=np.array(["u vs w", "u vs v"]),
    )


def test_trace_is_a_sequence_of_steps(trace):
    assert len(trace) == 2
    assert trace[0] == TraceStep(0, 4, "d", 1, "u vs w", 1, 0.9)
    assert trace[-1] == trace[1] == TraceStep(1, 2, "b", 0, "u vs v", 3, 0.8)
    assert list(trace) == [trace[0], trace[1]]
    with pytest.raises(IndexError):
        trace[2]


def test_trace_as_a_frame(trace):
    pytest.importorskip("pandas")
    frame = trace.to_frame()
    assert frame.index.name == "step"
    assert list(frame.columns) == list(TraceStep._fields[1:])
    assert_array_equal(frame["feature"], [4, 2])
    assert frame["subproblem_name"].tolist() == ["u vs w", "u vs v"]
