"""Values as a page and JSON can hold them: names, numbers, and features in bins by class."""

import math
from typing import Any

import numpy as np

from mauc.data.labels import missing_mask
from mauc.data.problem import Problem

N_BINS = 24
_CENTRE = (0.005, 0.995)  # quantiles between which nearly all values lie
_MAX_RANGE = 1.5  # a range that is longer than this times the centre is cut
_BLOCK = 64
_DIGITS = 7  # significant digits
_DRAWN = (30, 200)  # rows of a class on a scatter plot: at least, at most

Array = np.ndarray[Any, Any]


def number(value: Any) -> float | None:
    """Return a number with 7 significant digits; None if it is not finite: JSON has no NaN.

    >>> number(2 / 3), number(float("nan"))
    (0.6666667, None)
    """
    value = float(value)
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None


def shown_auc(value: float | None) -> str:
    """Return an AUC with three decimals, four of them close to 1, so that 1.000 means 1.

    >>> shown_auc(0.98764), shown_auc(0.9999999), shown_auc(1.0), shown_auc(None)
    ('0.988', '0.9999', '1.000', '—')
    """
    if value is None:
        return "—"
    return f"{min(value, 0.9999):.4f}" if 0.9995 <= value < 1.0 else f"{value:.3f}"


def draw_rows(problem: Problem, places: Array, max_points: int) -> tuple[Array, list[Array]]:
    """Draw rows of each class at random for scatter plots of the features at some places.

    Return the places, of too many the first, and the rows; there are at most `max_points` values.
    """
    most = max_points // problem.n_classes
    places = places[: most // _DRAWN[0]]
    n_drawn = min(_DRAWN[1], most // max(1, len(places)))
    order, starts, _ = problem.by_class
    rng = np.random.default_rng(0)
    rows = (rng.permutation(rows)[:n_drawn] for rows in np.split(order, starts[1:-1]))
    return places, [np.sort(part) for part in rows]


def bin_features(
    problem: Problem, X: Any, columns: Array, plotted: Array, rows: Array
) -> list[dict[str, Any]]:
    """Count the values of features in bins by class; X names the categories of nominal columns.

    Every column gets ``counts`` (n_classes lists of n_bins counts), ``missing`` (one count per
    class), and its bins: their ``levels`` (names, for at most 24 values), or ``low`` and ``high``
    of 24 bins of equal width. ``is_cut``: the first and the last bin also hold the values beyond,
    outliers that would press all others into one bin; ``is_nominal``: the levels are categories.
    `plotted` columns also have ``points`` of `rows`: numbers of levels, or from 0, low, to 1, high.
    """
    found = []
    for start in range(0, len(columns), _BLOCK):
        block = columns[start : start + _BLOCK]
        for column, values in zip(block, problem.value_columns(block), strict=True):
            if problem.is_nominal[column]:
                bins = _categories(X, int(column), values)
            else:
                bins = _number_bins(values.astype(np.float64))
            found.append(_count(bins, problem, rows if column in plotted else None))
    return found


def _count(bins: dict[str, Any], problem: Problem, rows: Array | None) -> dict[str, Any]:
    bin_of, n_bins = bins.pop("bins"), bins.pop("n_bins")
    points = bins.pop("shares", bin_of)
    is_known = bin_of >= 0
    if rows is not None:
        bins["points"] = [number(point) for point in np.where(is_known, points, np.nan)[rows]]
    cells = problem.codes[is_known].astype(np.int64) * n_bins + bin_of[is_known]
    counts = np.bincount(cells, minlength=problem.n_classes * n_bins)
    missing = np.bincount(problem.codes[~is_known], minlength=problem.n_classes)
    return {
        **bins,
        "counts": counts.reshape(problem.n_classes, n_bins).tolist(),
        "missing": missing.tolist(),
    }


def _number_bins(values: Array) -> dict[str, Any]:
    bin_of = np.full(len(values), -1, np.int64)
    is_known = ~np.isnan(values)
    known = values[is_known]
    levels = np.unique(known)
    if len(levels) <= N_BINS:
        bin_of[is_known] = np.searchsorted(levels, known)
        names = [f"{level:.6g}" for level in levels]
        if len(set(names)) < len(names):
            names = [repr(float(level)) for level in levels]
        return {"bins": bin_of, "n_bins": max(1, len(levels)), "levels": names}
    finite = levels[np.isfinite(levels)]
    low, high = finite[0], finite[-1]
    lower, upper = np.quantile(known, _CENTRE, method="nearest")
    # halves, because the distance of two doubles may be no double
    is_long = lower < upper and high / 2 - low / 2 > _MAX_RANGE * (upper / 2 - lower / 2)
    is_cut = bool(len(finite) < len(levels) or is_long)
    if is_cut and np.isfinite([lower, upper]).all() and lower < upper:
        low, high = lower, upper
    shares = (np.clip(values, low, high) / 2 - low / 2) / (high / 2 - low / 2)
    bin_of[is_known] = np.minimum((shares[is_known] * N_BINS).astype(np.int64), N_BINS - 1)
    return {
        "bins": bin_of,
        "n_bins": N_BINS,
        "shares": shares,
        "levels": None,
        "low": number(low),
        "high": number(high),
        "is_cut": is_cut,
    }


def _categories(X: Any, column: int, codes: Array) -> dict[str, Any]:
    """Return a bin for each category; of many, the rare ones share the last."""
    bin_of = np.where(np.isnan(codes), -1, codes).astype(np.int64)
    names = _category_names(X, column, bin_of)
    if len(names) > N_BINS:
        counts = np.bincount(bin_of[bin_of >= 0], minlength=len(names))
        frequent = np.sort(np.argsort(-counts, kind="stable")[: N_BINS - 1])
        renumbered = np.full(len(names), N_BINS - 1)
        renumbered[frequent] = np.arange(N_BINS - 1)
        bin_of = np.where(bin_of >= 0, renumbered[bin_of], -1)
        names = [*(names[code] for code in frequent), f"{len(names) - N_BINS + 1} others"]
    return {"bins": bin_of, "n_bins": max(1, len(names)), "levels": names, "is_nominal": True}


def _category_names(X: Any, column: int, codes: Array) -> list[str]:
    if hasattr(X, "columns"):
        values = X.iloc[:, column] if hasattr(X, "iloc") else X[X.columns[column]]
        values = np.asarray(values, dtype=object)
    elif hasattr(X, "tocsc"):
        values = codes  # a sparse matrix holds the codes themselves
    else:
        values = np.asarray(X, dtype=object)[:, column]
    known, first = np.unique(codes, return_index=True)
    shown = np.where(missing_mask(values[first]), "missing", [str(v) for v in values[first]])
    named = {int(code): str(name) for code, name in zip(known, shown, strict=True)}
    return [named.get(code, str(code)) for code in range(max(named, default=-1) + 1)]
