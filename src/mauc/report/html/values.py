"""Names and numbers as a page and JSON can hold them."""

import math
from typing import Any

_DIGITS = 7  # significant digits


def text(value: Any) -> str:
    r"""Return a name as text that can be written as UTF-8.

    Examples
    --------
    >>> from mauc.report.html.values import text
    >>> text(3), text("a\ud800")
    ('3', 'a\\ud800')
    """
    return str(value).encode("utf-8", "backslashreplace").decode("utf-8")


def number(value: Any) -> float | None:
    """Return a number with 7 significant digits; None if it is not finite, for JSON has no NaN.

    Examples
    --------
    >>> from mauc.report.html.values import number
    >>> number(2 / 3), number(float("nan"))
    (0.6666667, None)
    """
    value = float(value)
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None


def plural(count: int, noun: str) -> str:
    """Return a count and its noun, such as "1 class" or "12,000 samples"."""
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"


def shown_auc(value: float | None) -> str:
    """Return an AUC with three decimals, more of them close to 1, so that 1.000 means 1.

    Examples
    --------
    >>> from mauc.report.html.values import shown_auc
    >>> shown_auc(0.98764), shown_auc(0.99987), shown_auc(1.0), shown_auc(None)
    ('0.988', '0.9999', '1.000', '—')
    """
    if value is None:
        return "—"
    for digits in (3, 4, 5, 6):
        shown = f"{value:.{digits}f}"
        if value == 1.0 or float(shown) < 1.0:
            return shown
    return shown
