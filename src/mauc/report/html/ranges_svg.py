"""MAUC of the chosen and of all features with their intervals, placed in an SVG."""

from typing import Any

from mauc.report.html.curves_svg import nice_ticks

WIDTH, ROW, TOP = 400, 30, 6
_MARGIN = 24


def place_ranges(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Place the MAUCs of a conclusion on one scale.

    Parameters
    ----------
    summary : dict
        Of a page.

    Returns
    -------
    drawing : dict or None
        ``rows`` (``at``, ``from`` and ``to`` of each interval, and its ``y``), ``ticks``,
        ``width`` and ``height``; None where nothing was measured.
    """
    conclusion = summary["conclusion"]
    found = [one for one in (conclusion["chosen"], conclusion["every"]) if one is not None]
    if not found:
        return None
    bounds = [one[key] for one in found for key in ("mauc", "lower", "upper")]
    known = [bound for bound in bounds if bound is not None]
    low, high = float(min(known)), float(max(known))
    pad = max(0.15 * (high - low), 0.002)
    low, high = low - pad, min(high + pad, 1.0)

    def across(value: float) -> float:
        return _MARGIN + round((value - low) / (high - low) * (WIDTH - 2 * _MARGIN), 1)

    ticks = nice_ticks(low, high, 3)
    digits = max(len(f"{tick:.6f}".rstrip("0").split(".")[1]) for tick in ticks)
    rows = []
    for place, one in enumerate(found):
        ends = [one["mauc"] if one[key] is None else one[key] for key in ("lower", "upper")]
        rows.append(
            {
                "y": TOP + ROW * place + ROW / 2,
                "at": across(one["mauc"]),
                "from": across(ends[0]),
                "to": across(ends[1]),
            }
        )
    return {
        "rows": rows,
        "ticks": [{"at": across(tick), "label": f"{tick:.{max(2, digits)}f}"} for tick in ticks],
        "width": WIDTH,
        "bottom": TOP + ROW * len(rows) + 4,
        "height": TOP + ROW * len(rows) + 22,
    }
