"""The trace of a selection."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_wine

from mauc import GreedyMAUC
from mauc.selectors.trace import SelectionTrace, TraceStep


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
    assert trace[0] == TraceStep(1, 4, "d", 1, "u vs w", 1, 0.9)
    assert trace[-1] == trace[1] == TraceStep(2, 2, "b", 0, "u vs v", 3, 0.8)
    assert list(trace) == [trace[0], trace[1]]
    assert trace[:1] == [trace[0]]
    assert trace[::-1] == [trace[1], trace[0]]
    with pytest.raises(IndexError):
        trace[2]


def test_details_are_arrays_computed_when_asked_for():
    X, y = load_wine(return_X_y=True)
    selector = GreedyMAUC(3).fit(X, y)
    details = selector.trace_.details
    assert str(details) == "Details(predicted_mauc)"  # no array of the search
    assert (len(details), list(details), "predicted_mauc" in details) == (
        1,
        ["predicted_mauc"],
        True,
    )
    assert isinstance(details["predicted_mauc"], np.ndarray)
    assert len(details["predicted_mauc"]) == 3
    assert details["predicted_mauc"] is selector.predicted_mauc_


def test_trace_as_a_frame(trace):
    pytest.importorskip("pandas")
    frame = trace.to_frame()
    assert frame.index.name == "step"
    assert list(frame.columns) == list(TraceStep._fields[1:])
    assert_array_equal(frame["feature"], [4, 2])
    assert frame["subproblem_name"].tolist() == ["u vs w", "u vs v"]


@pytest.mark.parametrize(
    ("predicted", "wanted"),
    [
        # No step takes 0.0005 or more.
        ([0.8, 0.8, 0.7996], ""),
        # One does, and the next one adds more.
        ([0.8, 0.79, 0.82], "b lowers the (*); features that follow make up for it"),
        ([0.8, 0.79, 0.78], "b, c lower the (*); it is as high with the first feature"),
        ([0.7, 0.9, 0.88], "c lowers the (*); it is as high with the first 2 features"),
    ],
)
def test_steps_that_lower_the_predicted_mauc_are_named_with_the_reason(predicted, wanted):
    numbers = np.arange(3)
    trace = SelectionTrace(
        features=numbers,
        subproblems=numbers,
        ranks=numbers + 1,
        scores=numbers / 3,
        feature_names=np.array(list("abc")),
        subproblem_names=np.array(["u vs v"] * 3),
        details={"predicted_mauc": np.array(predicted)},
        n_classes=3,
    )
    reason = (
        "predicted MAUC (the search maximises the separation of the classes, the prediction "
        "subtracts what may be chance)"
    )
    assert trace.fall_sentence() == wanted.replace("(*)", reason)
    assert (wanted != "") == ("lower" in str(trace))
    assert trace.fall_sentence(["p", "b", "c"]) == trace.fall_sentence()  # names of all features


def test_a_trace_without_a_prediction_has_no_step_that_lowers_it(trace):
    assert trace.fall_sentence() == ""
