"""Without matplotlib every display names the extra that brings it."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from mauc import MAUCD, siren_study
from mauc.extras import MissingExtraError
from mauc.plotting import (
    CriticalDifferenceDisplay,
    CurvesDisplay,
    PairMapDisplay,
    SirenDisplay,
    SizeCurveDisplay,
    StabilityDisplay,
    TraceDisplay,
    WinDrawLossDisplay,
    __all__,
)


def make_displays():
    X, y = load_iris(return_X_y=True)
    selector = MAUCD("auto").fit(X, y)
    rows = pd.DataFrame([
        {"dataset": dataset, "repeat": 0, "fold": fold, "selector": selector, "classifier": "nb",
         "size": 2, "status": "ok", "mauc": 0.9 + 0.01 * fold, "features": np.arange(2),
         "n_train": 90, "n_test": 10, "n_features": 10}
        for dataset in ("wine", "glass") for fold in range(2) for selector in ("mdfs", "su")
    ])  # fmt: skip
    return [
        PairMapDisplay.from_selector(selector),
        TraceDisplay.from_selector(selector),
        SizeCurveDisplay.from_selector(selector),
        SirenDisplay.from_study(siren_study(X, y, n_features=2)),
        CurvesDisplay.from_run(rows),
        StabilityDisplay.from_run(rows),
        WinDrawLossDisplay.from_run(rows),
        CriticalDifferenceDisplay.from_run(rows),
    ]


def test_every_display_names_the_extra(monkeypatch):
    displays = make_displays()
    assert {type(display).__name__ for display in displays} == set(__all__)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)  # importing it now fails
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for display in displays:
        with pytest.raises(MissingExtraError, match=r"pip install 'mauc\[plot\]'"):
            display.plot()
