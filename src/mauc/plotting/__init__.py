"""Displays: they hold the numbers, `.plot(ax)` draws them, `.to_frame()` returns them."""

from mauc.plotting.critical_difference import CriticalDifferenceDisplay
from mauc.plotting.curves import CurvesDisplay
from mauc.plotting.pair_map import PairMapDisplay
from mauc.plotting.siren import SirenDisplay
from mauc.plotting.size_curve import SizeCurveDisplay
from mauc.plotting.stability import StabilityDisplay
from mauc.plotting.trace import TraceDisplay
from mauc.plotting.tree import TreeDisplay
from mauc.plotting.win_draw_loss import WinDrawLossDisplay

__all__ = [
    "CriticalDifferenceDisplay", "CurvesDisplay", "PairMapDisplay", "SirenDisplay",
    "SizeCurveDisplay", "StabilityDisplay", "TraceDisplay", "TreeDisplay", "WinDrawLossDisplay",
]  # fmt: skip
