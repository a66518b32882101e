"""Displays: they hold the numbers, `.plot(ax=None)` draws them, `.to_frame()` returns them.

As in scikit-learn, a class method (`from_run`, `from_selector`) makes and draws a
display, `plot` draws it again and returns it, and what was drawn is in `ax_` and `figure_`.
"""

from mauc.plotting.comparisons import CriticalDifferenceDisplay, WinDrawLossDisplay
from mauc.plotting.curves import CurvesDisplay, StabilityDisplay
from mauc.plotting.selection import (
    CostCurveDisplay,
    PairMapDisplay,
    SizeCurveDisplay,
    TraceDisplay,
)

__all__ = [
    "CostCurveDisplay",
    "CriticalDifferenceDisplay",
    "CurvesDisplay",
    "PairMapDisplay",
    "SizeCurveDisplay",
    "StabilityDisplay",
    "TraceDisplay",
    "WinDrawLossDisplay",
]
