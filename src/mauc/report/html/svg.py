"""The drawings of a page: numbers in, positions of lines, points and ticks in an SVG out."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

PANEL_WIDTH, PANEL_HEIGHT = 360, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 34  # margins of a panel
_INSET = 8  # from the margin to the first and the last size
_MAX_SIZES = 10  # labels below a panel
RANGES_WIDTH, _ROW, _RANGES_TOP, _MARGIN = 400, 30, 6, 24


@dataclass(frozen=True)
class Scale:
    """A linear scale from values to positions."""

    low: float
    high: float
    start: float
    stop: float

    def at(self, value: float) -> float:
        """Return the position of a value, the middle where the scale has a single value."""
        share = 0.5 if self.low == self.high else (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.stop - self.start), 1)

    def ticks(self, values: Iterable[float]) -> list[dict[str, Any]]:
        """Return positions and labels of round values, all with as many digits, at least two."""
        values = list(values)
        decimals = (len(f"{value:.10f}".rstrip("0").split(".")[1]) for value in values)
        digits = max(2, *decimals)
        return [{"at": self.at(value), "label": f"{value:.{digits}f}"} for value in values]


def place_panel(panel: dict[str, Any]) -> dict[str, Any]:
    """Place the curves of a panel: paths of lines and bars, and points, for each of its series."""
    series = panel["series"]
    sizes = sorted({size for one in series for size in one["sizes"]})
    columns = ("mean", "lower", "upper")
    shown = [v for one in series for column in columns for v in one[column] if v is not None]
    low, high = (min(shown), min(max(shown), 1.0)) if shown else (0.5, 1.0)
    ticks = nice_ticks(max(low, 0.0), high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    if low == high:
        low, high = low - 0.01, high + 0.01
    left, right = _LEFT + _INSET, PANEL_WIDTH - _RIGHT - _INSET
    across = Scale(sizes[0], sizes[-1], left, right)
    up = Scale(low, high, PANEL_HEIGHT - _BOTTOM, _TOP)
    step = -(-len(sizes) // _MAX_SIZES)
    return {
        "width": PANEL_WIDTH,
        "height": PANEL_HEIGHT,
        "left": _LEFT,
        "right": PANEL_WIDTH - _RIGHT,
        "bottom": PANEL_HEIGHT - _BOTTOM,
        "x_ticks": [{"at": across.at(size), "label": str(size)} for size in sizes[::step]],
        "y_ticks": up.ticks(ticks),
        "series": [_place_series(one, across, up) for one in series],
    }


def _place_series(one: dict[str, Any], across: Scale, up: Scale) -> dict[str, Any]:
    path, bars, points, is_down = [], [], [], False
    columns = (one["sizes"], one["mean"], one["lower"], one["upper"])
    for size, mean, lower, upper in zip(*columns, strict=True):
        if mean is None:
            is_down = False
            continue
        x, y = across.at(size), up.at(mean)
        path.append(f"{'L' if is_down else 'M'}{x} {y}")
        is_down = True
        if lower is not None and upper is not None:
            bars.append(f"M{x} {up.at(lower)}V{up.at(min(upper, up.high))}")
        points.append({"x": x, "y": y, "size": size, "mean": f"{mean:.4f}"})
    return {
        "selector": one["selector"],
        "path": "".join(path),
        "bars": "".join(bars),
        "points": points,
    }


def place_ranges(conclusion: dict[str, Any]) -> dict[str, Any] | None:
    """Place MAUC of the chosen and of all features, with intervals; None if not measured."""
    found = [one for one in (conclusion["chosen"], conclusion["every"]) if one is not None]
    if not found:
        return None
    bounds = [one[key] for one in found for key in ("mauc", "lower", "upper")]
    known = [bound for bound in bounds if bound is not None]
    low, high = float(min(known)), float(max(known))
    pad = max(0.15 * (high - low), 0.002)
    across = Scale(low - pad, min(high + pad, 1.0), _MARGIN, RANGES_WIDTH - _MARGIN)
    rows = []
    for at, one in enumerate(found):
        ends = [one["mauc"] if one[key] is None else one[key] for key in ("lower", "upper")]
        rows.append(
            {
                "y": _RANGES_TOP + _ROW * at + _ROW / 2,
                "at": across.at(one["mauc"]),
                "from": across.at(ends[0]),
                "to": across.at(ends[1]),
            }
        )
    return {
        "rows": rows,
        "ticks": across.ticks(nice_ticks(across.low, across.high, 3)),
        "width": RANGES_WIDTH,
        "bottom": _RANGES_TOP + _ROW * len(rows) + 4,
        "height": _RANGES_TOP + _ROW * len(rows) + 22,
    }


def nice_ticks(low: float, high: float, n_wanted: int = 5) -> list[float]:
    """Return round numbers between two values, about as many as wanted.

    >>> nice_ticks(0.81, 0.97)
    [0.85, 0.9, 0.95]
    """
    span = max(high - low, 1e-4)
    power = 10.0 ** math.floor(math.log10(span / n_wanted))
    step = next(f * power for f in (1, 2, 5, 10) if f * power >= span / n_wanted - 1e-12)
    ticks = []
    at = math.ceil(low / step - 1e-9)
    while at * step <= high + 1e-9:
        ticks.append(round(at * step, 10))
        at += 1
    return ticks or [low]
