"""Rows of a run in, mean MAUC with its spread, scores of problems and stability out."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from mauc.checks import check_choice
from mauc.exceptions import MaucError
from mauc.stability import UNKNOWN, stability
from mauc.stats.rows import (
    PROBLEM,
    SETTING,
    SPLIT,
    as_pandas,
    check_columns,
    group_rows,
    make_cells,
    row_means,
)  # fmt: skip

if TYPE_CHECKING:
    import pandas as pd

_SELECTION = ("dataset", "selector", "size")


def mean_mauc(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Average MAUC over the splits.

    Parameters
    ----------
    rows : DataFrame
        One row per measurement, as `mauc.load_run` gives.

    Returns
    -------
    means : DataFrame
        Columns dataset, classifier, size, selector, n (splits that did not fail), mean and std
        (divided by n - 1; NaN for fewer than 2 splits). A setting that failed on every split
        has n = 0 and a NaN mean.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.stats import mean_mauc
    >>> rows = pd.DataFrame({
    ...     "dataset": "glass", "classifier": "nb", "size": 10, "selector": "mdfs",
    ...     "repeat": 0, "fold": [0, 1, 2], "mauc": [0.75, 0.25, float("nan")]})
    >>> mean_mauc(rows)[["selector", "n", "mean"]]
      selector  n  mean
    0     mdfs  2   0.5
    """
    cells = make_cells(rows)
    n = (~np.isnan(cells.mauc)).sum(axis=1)
    mean = row_means(cells.mauc)
    squares = (cells.mauc - mean[:, None]) ** 2
    std = np.sqrt(row_means(squares) * n / np.where(n > 1, n - 1, np.nan))
    return cells.settings.assign(n=n, mean=mean, std=std)


def mean_interval(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Average MAUC over the splits, with a 95 % interval of the mean.

    Parameters
    ----------
    rows : DataFrame
        One row per measurement, as `mauc.load_run` gives.

    Returns
    -------
    means : DataFrame
        The columns of `mean_mauc`, and lower and upper; NaN for fewer than 2 splits.

    Notes
    -----
    The training parts of cross-validation overlap, so the values of a cell are not independent;
    the variance is that of `corrected_t_test`.
    """
    rows = as_pandas(rows)
    check_columns(rows, ("status", "n_train", "n_test"))
    means = mean_mauc(rows)
    parts = rows[rows["status"] == "ok"].groupby(list(SETTING), observed=True)
    ratio = (parts["n_test"].mean() / parts["n_train"].mean()).rename("ratio").reset_index()
    ratio = means.merge(ratio, how="left")["ratio"].to_numpy()
    n = means["n"].to_numpy(float)
    n = np.where(n > 1, n, np.nan)  # a single value has no spread
    half = stats.t.ppf(0.975, n - 1) * np.sqrt(1 / n + ratio) * means["std"].to_numpy()
    return means.assign(lower=means["mean"] - half, upper=means["mean"] + half)


def problem_scores(rows: "pd.DataFrame", problems: str = "dataset") -> Any:
    """Return the mean MAUC of every selector on every problem.

    Parameters
    ----------
    rows : DataFrame
        One row per measurement, as `mauc.load_run` gives.
    problems : {"dataset", "cell"}, default="dataset"
        A problem is a data set (mean over its classifiers and sizes), or a combination of data
        set, classifier and size.

    Returns
    -------
    scores : DataFrame of shape (n_problems, n_selectors)
        Cells that some selector lacks are left out.
    """
    check_choice("problems", problems, ("dataset", "cell"))
    rows = as_pandas(rows)
    means = mean_mauc(rows)
    scores = means.pivot(index=list(PROBLEM), columns="selector", values="mean")
    scores = scores[[str(name) for name in rows["selector"].unique()]].dropna()
    return scores if problems == "cell" else scores.groupby(level="dataset", sort=False).mean()


def selector_stability(rows: "pd.DataFrame") -> "pd.DataFrame":
    """Measure the stability of each selector over the splits of a data set.

    Parameters
    ----------
    rows : DataFrame
        One row per measurement, as `mauc.load_run` gives; the columns dataset, selector, size,
        repeat, fold, features and n_features are used.

    Returns
    -------
    table : DataFrame
        Columns dataset, selector, size, stability, lower, upper (95 % interval) and n, the
        number of selections. Names are in the order of their first row, sizes ascending.
        Classifiers share a selection, so it counts once; rows of failed selections have no
        features and do not count. With fewer than 2 selections, or if there was nothing to
        choose, the numbers are NaN.

    See Also
    --------
    stability : The measure.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.stats import selector_stability
    >>> rows = pd.DataFrame({
    ...     "dataset": "glass", "selector": "mdfs", "size": 2, "repeat": 0, "fold": [0, 1, 2],
    ...     "features": [[0, 1], [0, 1], [0, 2]], "n_features": 4})
    >>> selector_stability(rows)[["selector", "size", "stability", "n"]].round(3)
      selector  size  stability  n
    0     mdfs     2      0.333  3
    """
    rows = as_pandas(rows)
    check_columns(rows, (*_SELECTION, *SPLIT, "features", "n_features"))
    group, settings = group_rows(rows, _SELECTION)
    split, splits = group_rows(rows, SPLIT)
    features = rows["features"].to_numpy(dtype=object)
    n_features = rows["n_features"].to_numpy()

    selected = np.flatnonzero([np.ndim(chosen) > 0 and len(chosen) > 0 for chosen in features])
    # A cell is represented by its first row: np.unique sorts by group, then by split.
    _, first = np.unique((group * len(splits) + split)[selected], return_index=True)
    chosen = selected[first]
    ends = np.searchsorted(group[chosen], np.arange(len(settings) + 1))
    found = []
    for start, stop in pairwise(ends):
        cells = chosen[start:stop]
        if len(cells) < 2:
            found.append(UNKNOWN)
            continue
        if len(np.unique(n_features[cells])) > 1:
            name = rows["dataset"].iloc[cells[0]]
            raise MaucError(
                f"rows must give one n_features per data set, got several for {name!r}."
            )
        found.append(stability(features[cells], int(n_features[cells[0]])))
    numbers = np.array([(one.value, one.lower, one.upper) for one in found], np.float64)
    settings[["stability", "lower", "upper"]] = numbers.reshape(-1, 3)
    return settings.assign(n=np.diff(ends))
