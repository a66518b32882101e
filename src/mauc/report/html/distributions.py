"""The values of chosen features by class: columns of a Problem in, binned counts out."""

from typing import Any

import numpy as np

from mauc.data.problem import Problem
from mauc.report.html.values import number, text

N_BINS = 24
_CENTRE = (0.005, 0.995)  # quantiles between which nearly all values lie
_MAX_RANGE = 1.5  # a range that is longer than this times the centre is cut
_BLOCK = 64

Array = np.ndarray[Any, Any]


def bin_features(problem: Problem, X: Any, columns: Array) -> list[dict[str, Any]]:
    """Count the values of features in bins, apart for every class.

    Parameters
    ----------
    problem : Problem
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        What the problem was made of; names the categories of nominal columns.
    columns : ndarray of shape (n_chosen,)

    Returns
    -------
    distributions : list of dict
        For every column ``counts`` (n_classes lists of n_bins counts), ``missing`` (one count
        per class), and what the bins are: their ``levels`` (names, where there are at most 24
        values), or ``low`` and ``high`` of 24 bins of equal width. ``is_cut`` says that the
        first and the last bin also hold the values beyond, ``is_nominal`` that the levels are
        categories.

    Notes
    -----
    A few outliers would press all other values into one bin. Where the range is longer than 1.5
    times the distance between the 0.5 % and the 99.5 % quantile, the bins lie between these.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from mauc.data.problem import make_problem
    >>> from mauc.registry import Accepts
    >>> from mauc.report.html.distributions import bin_features
    >>> X = np.array([[1.0], [2.0], [2.0], [np.nan]])
    >>> problem = make_problem(BaseEstimator(), X, [0, 0, 1, 1], accepts=Accepts())
    >>> bins = bin_features(problem, X, np.array([0]))[0]
    >>> bins["levels"], bins["counts"], bins["missing"]
    (['1', '2'], [[1, 1], [0, 1]], [0, 1])
    """
    found = []
    for start in range(0, len(columns), _BLOCK):
        block = columns[start : start + _BLOCK]
        for column, values in zip(block, problem.value_columns(block), strict=True):
            if problem.is_nominal[column]:
                bins = _categories(X, int(column), values)
            else:
                bins = _number_bins(values.astype(np.float64))
            found.append(_count(bins, problem))
    return found


def _count(bins: dict[str, Any], problem: Problem) -> dict[str, Any]:
    places, n_bins = bins.pop("places"), bins.pop("n_bins")
    is_known = places >= 0
    cells = problem.codes[is_known].astype(np.int64) * n_bins + places[is_known]
    counts = np.bincount(cells, minlength=problem.n_classes * n_bins)
    missing = np.bincount(problem.codes[~is_known], minlength=problem.n_classes)
    return {
        **bins,
        "counts": counts.reshape(problem.n_classes, n_bins).tolist(),
        "missing": missing.tolist(),
    }


def _number_bins(values: Array) -> dict[str, Any]:
    places = np.full(len(values), -1, np.int64)
    is_known = ~np.isnan(values)
    known = values[is_known]
    levels = np.unique(known)
    if len(levels) <= N_BINS:
        places[is_known] = np.searchsorted(levels, known)
        names = [f"{level:.6g}" for level in levels]
        if len(set(names)) < len(names):
            names = [repr(float(level)) for level in levels]
        return {"places": places, "n_bins": max(1, len(levels)), "levels": names}
    finite = levels[np.isfinite(levels)]
    low, high = finite[0], finite[-1]
    centre = np.quantile(known, _CENTRE, method="nearest")
    # halves, because the distance of two doubles may be no double
    is_cut = bool(len(finite) < len(levels) or _is_long(low, high, *centre))
    if is_cut and np.isfinite(centre).all() and centre[0] < centre[1]:
        low, high = centre
    share = (np.clip(known, low, high) / 2 - low / 2) / (high / 2 - low / 2)
    places[is_known] = np.minimum((share * N_BINS).astype(np.int64), N_BINS - 1)
    return {
        "places": places,
        "n_bins": N_BINS,
        "levels": None,
        "low": number(low),
        "high": number(high),
        "is_cut": is_cut,
    }


def _is_long(low: float, high: float, lower: float, upper: float) -> bool:
    return bool(lower < upper and high / 2 - low / 2 > _MAX_RANGE * (upper / 2 - lower / 2))


def _categories(X: Any, column: int, codes: Array) -> dict[str, Any]:
    """Return a bin for each category, the rare ones of many in a last one together."""
    places = np.where(np.isnan(codes), -1, codes).astype(np.int64)
    names = _category_names(X, column, places)
    if len(names) > N_BINS:
        counts = np.bincount(places[places >= 0], minlength=len(names))
        frequent = np.sort(np.argsort(-counts, kind="stable")[: N_BINS - 1])
        renumbered = np.full(len(names), N_BINS - 1)
        renumbered[frequent] = np.arange(N_BINS - 1)
        places = np.where(places >= 0, renumbered[places], -1)
        names = [*(names[code] for code in frequent), f"{len(names) - N_BINS + 1} others"]
    return {"places": places, "n_bins": max(1, len(names)), "levels": names, "is_nominal": True}


def _category_names(X: Any, column: int, codes: Array) -> list[str]:
    if hasattr(X, "columns"):
        values = X.iloc[:, column] if hasattr(X, "iloc") else X[X.columns[column]]
        values = np.asarray(values, dtype=object)
    elif hasattr(X, "tocsc"):
        values = codes  # a sparse matrix holds the codes themselves
    else:
        values = np.asarray(X, dtype=object)[:, column]
    known, first = np.unique(codes, return_index=True)
    named = {int(code): text(values[at]) for code, at in zip(known, first, strict=True)}
    return [named.get(code, str(code)) for code in range(max(named, default=-1) + 1)]
