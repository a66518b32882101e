"""Panels of curves in, the places of their lines, points and ticks in an SVG out."""

import math
from typing import Any

WIDTH, HEIGHT = 360, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 12, 10, 34


def place_panel(panel: dict[str, Any]) -> dict[str, Any]:
    """Place the curves of a panel.

    Parameters
    ----------
    panel : dict
        One of ``curves`` of a comparison: its series have sizes, mean, lower and upper.

    Returns
    -------
    drawing : dict
        ``x_ticks`` and ``y_ticks`` (place and label), and for every series the ``path`` of its
        line (with gaps where nothing was measured), that of its ``bars`` (intervals) and its
        ``points``.
    """
    sizes = sorted({size for one in panel["series"] for size in one["sizes"]})
    shown = [
        value
        for one in panel["series"]
        for column in ("mean", "lower", "upper")
        for value in one[column]
        if value is not None
    ]
    low, high = (min(shown), min(max(shown), 1.0)) if shown else (0.5, 1.0)
    ticks = nice_ticks(max(low, 0.0), high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])
    if low == high:
        low, high = low - 0.01, high + 0.01
    first, last = sizes[0], sizes[-1]

    def across(size: float) -> float:
        share = 0.5 if first == last else (size - first) / (last - first)
        return round(_LEFT + 8 + share * (WIDTH - _LEFT - _RIGHT - 16), 1)

    def down(value: float) -> float:
        share = (min(value, high) - low) / (high - low)
        return round(_TOP + (1 - share) * (HEIGHT - _TOP - _BOTTOM), 1)

    digits = max(2, _digits(ticks))
    step = -(-len(sizes) // 10)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": _LEFT,
        "right": WIDTH - _RIGHT,
        "bottom": HEIGHT - _BOTTOM,
        "x_ticks": [{"at": across(size), "label": str(size)} for size in sizes[::step]],
        "y_ticks": [{"at": down(tick), "label": f"{tick:.{digits}f}"} for tick in ticks],
        "series": [_place_series(one, across, down) for one in panel["series"]],
    }


def _place_series(one: dict[str, Any], across: Any, down: Any) -> dict[str, Any]:
    path, bars, points, is_down = [], [], [], False
    columns = (one["sizes"], one["mean"], one["lower"], one["upper"])
    for size, mean, lower, upper in zip(*columns, strict=True):
        if mean is None:
            is_down = False  # a gap, never a guess
            continue
        x, y = across(size), down(mean)
        path.append(f"{'L' if is_down else 'M'}{x} {y}")
        is_down = True
        if lower is not None and upper is not None:
            bars.append(f"M{x} {down(lower)}V{down(upper)}")
        points.append({"x": x, "y": y, "size": size, "mean": f"{mean:.4f}"})
    return {
        "selector": one["selector"],
        "path": "".join(path),
        "bars": "".join(bars),
        "points": points,
    }


def nice_ticks(low: float, high: float, n_wanted: int = 5) -> list[float]:
    """Return round numbers between two values, about as many as wanted.

    Examples
    --------
    >>> from mauc.report.html.curves_svg import nice_ticks
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


def _digits(ticks: list[float]) -> int:
    return max(len(f"{tick:.10f}".rstrip("0").split(".")[1]) for tick in ticks)
