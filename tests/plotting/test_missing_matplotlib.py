"""Without matplotlib every display names the extra that brings it."""

import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from mauc import MAUCD, GreedyMAUC
from mauc.extras import MissingExtraError
from mauc.plotting import (
    CostCurveDisplay,
    CriticalDifferenceDisplay,
    CurvesDisplay,
    PairMapDisplay,
    SizeCurveDisplay,
    StabilityDisplay,
    TraceDisplay,
    WinDrawLossDisplay,
    __all__,
)


def make_drawings():
    X, y = load_iris(return_X_y=True)
    selector = MAUCD("auto").fit(X, y)
    rows = pd.DataFrame(
        [
            {
                "dataset": dataset,
                "repeat": 0,
                "fold": fold,
                "selector": selector,
                "classifier": "nb",
                "size": 2,
                "status": "ok",
                "mauc": 0.9 + 0.01 * fold,
                "features": np.arange(2),
                "n_train": 90,
                "n_test": 10,
                "n_features": 10,
            }
            for dataset in "abcde"
            for fold in range(2)
            for selector in ("mdfs", "su")
        ]
    )
    of_selectors = (PairMapDisplay, TraceDisplay, SizeCurveDisplay)
    of_runs = (CurvesDisplay, StabilityDisplay, WinDrawLossDisplay, CriticalDifferenceDisplay)
    return [
        *(partial(display.from_selector, selector) for display in of_selectors),
        *(partial(display.from_run, rows) for display in of_runs),
        CostCurveDisplay(GreedyMAUC(2, feature_costs=[1] * 4).fit(X, y).cost_curve_).plot,
        selector.trace_.plot,
    ]


def test_every_display_names_the_extra(monkeypatch):
    drawings = make_drawings()
    assert {type(draw()).__name__ for draw in drawings} == set(__all__)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)  # importing it now fails
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in drawings:
        with pytest.raises(MissingExtraError, match=r"pip install 'mauc\[plot\]'"):
            draw()
