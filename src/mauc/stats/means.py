"""Average MAUC: rows of a run in, means with their spread, or scores of problems, out."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from mauc.checks import check_choice
from mauc.stats.cells import as_pandas, check_columns, make_cells
from mauc.stats.paired import row_means

if TYPE_CHECKING:
    import pandas as pd

_CELL = ["dataset", "classifier", "size"]


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
        (with n - 1 below, NaN for fewer than 2 splits). A setting that failed on every split
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
    The training parts of cross-validation overlap, so the n values of a cell are not independent
    and s / sqrt(n) is too small. The interval takes the corrected variance of [1]_,
    (1/n + n_test/n_train) s^2, with the t distribution of n - 1 degrees of freedom.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52
       (2003).
    """
    rows = as_pandas(rows)
    check_columns(rows, ("status", "n_train", "n_test"))
    means = mean_mauc(rows)
    parts = rows[rows["status"] == "ok"].groupby([*_CELL, "selector"], observed=True)
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
        A problem is a data set (mean over its classifiers and sizes), or each data set,
        classifier and size by itself.

    Returns
    -------
    scores : DataFrame of shape (n_problems, n_selectors)
        Cells that some selector lacks are left out.
    """
    check_choice("problems", problems, ("dataset", "cell"))
    rows = as_pandas(rows)
    means = mean_mauc(rows)
    scores = means.pivot(index=_CELL, columns="selector", values="mean")
    scores = scores[[str(name) for name in rows["selector"].unique()]].dropna()
    return scores if problems == "cell" else scores.groupby(level="dataset", sort=False).mean()
