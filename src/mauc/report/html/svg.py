"""The drawings of a page: numbers in, positions of lines, points and ticks in an SVG out."""

import math
from dataclasses import dataclass
from typing import Any

PANEL_WIDTH, PANEL_HEIGHT = 360, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 34  # margins of a panel
_INSET = 8  # from the margin to the first and the last size
_DIGIT = 7  # width of one in a label
_MIN_PAD = 0.002  # around MAUCs that hardly differ
RANGES_WIDTH, _ROW, _RANGES_TOP, _MARGIN = 400, 30, 6, 24


@dataclass(frozen=True)
class Scale:
    """A linear or logarithmic scale from values to positions."""

    low: float
    high: float
    start: float
    stop: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Return the position of a value."""
        ends = value, self.low, self.high
        value, low, high = map(math.log, ends) if self.is_log else ends
        return round(self.start + (value - low) / (high - low) * (self.stop - self.start), 1)

    def ticks(self) -> list[dict[str, Any]]:
        """Return positions and labels of round values, all with as many digits, at least two."""
        values = nice_ticks(self.low, self.high)
        decimals = (len(f"{value:.10f}".rstrip("0").split(".")[1]) for value in values)
        digits = max(2, *decimals)
        return [{"at": self.at(value), "label": f"{value:.{digits}f}"} for value in values]


def place_panel(panel: dict[str, Any]) -> dict[str, Any]:
    """Place the curves of a panel: paths of lines and bars, and points, for each of its series."""
    series = panel["series"]
    sizes = sorted({size for one in series for size in one["sizes"]})
    columns = ("mean", "lower", "upper")
    shown = [v for one in series for column in columns for v in one[column] if v is not None]
    low, high = (max(min(shown), 0.0), min(max(shown), 1.0)) if shown else (0.5, 1.0)
    pad = max(_MIN_PAD - (high - low), 0.0)
    up = Scale(low - pad, min(high + pad, 1.0), PANEL_HEIGHT - _BOTTOM, _TOP)
    first, last = sizes[0], sizes[-1]
    if last - first < 2:
        first, last = first - 1, last + 1
    # Sizes that would crowd at the left stand on a logarithmic axis.
    is_log = len(sizes) > 2 and sizes[len(sizes) // 2] < 0.3 * last
    across = Scale(first, last, _LEFT + _INSET, PANEL_WIDTH - _RIGHT - _INSET, is_log)
    x_ticks: list[dict[str, Any]] = []
    for size in (panel.get("chosen", last), last, first, *reversed(sizes), (first + last) // 2):
        at = across.at(size)
        has_room = all(abs(at - tick["at"]) > _DIGIT * (len(str(last)) + 1) for tick in x_ticks)
        if has_room and (size in sizes or len(x_ticks) < 3):
            x_ticks.append({"at": at, "label": str(size)})
    return {
        "width": PANEL_WIDTH,
        "height": PANEL_HEIGHT,
        "left": _LEFT,
        "right": PANEL_WIDTH - _RIGHT,
        "bottom": PANEL_HEIGHT - _BOTTOM,
        "x_ticks": x_ticks,
        "y_ticks": up.ticks(),
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
            bars.append(f"M{x} {up.at(max(lower, up.low))}V{up.at(min(upper, up.high))}")
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
    pad = max(0.15 * (high - low), _MIN_PAD)
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
        "ticks": across.ticks(),
        "width": RANGES_WIDTH,
        "bottom": _RANGES_TOP + _ROW * len(rows) + 4,
        "height": _RANGES_TOP + _ROW * len(rows) + 22,
    }


def nice_ticks(low: float, high: float) -> list[float]:
    """Return the roundest numbers between two values that are at least three.

    >>> nice_ticks(0.81, 0.97), nice_ticks(0.81, 0.89)
    ([0.85, 0.9, 0.95], [0.82, 0.84, 0.86, 0.88])
    """
    power = 10.0 ** math.ceil(math.log10(high - low))
    for step in (part * power for part in (0.5, 0.2, 0.1, 0.05, 0.02)):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first >= 2:
            break
    return [round(at * step, 10) for at in range(first, last + 1)]
