"""Compare selectors with a reference: rows of a run in, means, marks and counts out."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.exceptions import MaucError
from mauc.stats.cells import Cells, as_pandas, check_columns, group_rows, make_cells
from mauc.stats.checks import check_alpha, check_known
from mauc.stats.paired import corrected_t_tests, row_means, wilcoxon_tests

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray[Any, Any]

TESTS = ("wilcoxon", "corrected_t")


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


def compare_to(
    rows: "pd.DataFrame", reference: str, *, test: str = "wilcoxon", alpha: float = 0.05
) -> "pd.DataFrame":
    """Compare every selector with a reference, on each data set, classifier and size.

    Parameters
    ----------
    rows : DataFrame
        One row per measurement, as `mauc.load_run` gives.
    reference : str
        The selector to compare with; "mdfs" in the paper.
    test : {"wilcoxon", "corrected_t"}, default="wilcoxon"
        `wilcoxon_test`, as in the paper, or `corrected_t_test`, which allows for overlapping
        training parts (n_train and n_test are the means over the pairs).
    alpha : float, default=0.05
        A mark is given for p-values below it.

    Returns
    -------
    comparison : DataFrame
        Columns dataset, classifier, size, selector, n, mean, reference_mean, difference,
        statistic, p_value, mark. Values are paired by repeat and fold; a split where either
        failed is left out, also of the means, and n counts the others. The mark says what the
        selector is against the reference: "better", "worse" or "none". Without a pair n is 0
        and the numbers are NaN.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.stats import compare_to
    >>> maucs = {"mdfs": [0.91, 0.92, 0.93, 0.94, 0.95, 0.96], "su": [0.9, 0.9, 0.9, 0.9, 0.9, 0.9]}
    >>> rows = pd.concat([
    ...     pd.DataFrame({"dataset": "glass", "classifier": "nb", "size": 10, "selector": name,
    ...                   "repeat": 0, "fold": range(6), "mauc": mauc})
    ...     for name, mauc in maucs.items()])
    >>> compare_to(rows, "mdfs")[["selector", "n", "statistic", "p_value", "mark"]]
      selector  n  statistic  p_value   mark
    0       su  6        0.0  0.03125  worse
    """
    check_known(test, TESTS, "test")
    check_alpha(alpha)
    cells = make_cells(rows)
    selectors = cells.settings["selector"]
    check_known(reference, list(selectors.unique()), "reference")
    lines = np.flatnonzero(selectors != reference)
    values, others = cells.mauc[lines], _reference_values(cells, reference)[lines]
    if test == "wilcoxon":
        tests = wilcoxon_tests(values, others, alpha)
    else:
        is_pair = ~np.isnan(values - others)
        n_test, n_train = (
            row_means(np.where(is_pair, part[lines], np.nan)) for part in _part_sizes(rows, cells)
        )
        tests = corrected_t_tests(values, others, n_test / n_train, alpha)
    return (
        cells.settings.iloc[lines]
        .reset_index(drop=True)
        .assign(
            n=tests.n,
            mean=tests.mean,
            reference_mean=tests.reference_mean,
            difference=tests.mean - tests.reference_mean,
            statistic=tests.statistic,
            p_value=tests.p_value,
            mark=tests.mark,
        )
    )


def win_draw_loss(
    comparison: "pd.DataFrame", by: str | Sequence[str] = ("classifier",)
) -> "pd.DataFrame":
    """Count where the reference wins, draws and loses against each selector.

    Parameters
    ----------
    comparison : DataFrame
        What `compare_to` gives.
    by : str or sequence of str, default=("classifier",)
        Columns to count apart: any of "dataset", "classifier" and "size". Figure 4 of the paper
        counts per classifier, over all data sets and sizes; with () there is one count.

    Returns
    -------
    counts : DataFrame
        Columns `by`, selector, win, draw, loss. A win of the reference is a selector marked
        "worse". Comparisons without an answer (p-value NaN) count nowhere.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.stats import win_draw_loss
    >>> comparison = pd.DataFrame({
    ...     "dataset": ["a", "b", "c"], "classifier": "nb", "size": 10, "selector": "su",
    ...     "p_value": [0.01, 0.2, 0.03], "mark": ["worse", "none", "worse"]})
    >>> win_draw_loss(comparison)
      classifier selector  win  draw  loss
    0         nb       su    2     1     0
    """
    keys = [by] if isinstance(by, str) else list(by)
    for key in keys:
        check_known(key, ("dataset", "classifier", "size"), "by")
    if len(set(keys)) != len(keys):
        raise MaucError(f"by must name a column once, got {keys!r}.")
    check_columns(comparison, (*keys, "selector", "p_value", "mark"))
    has_answer = comparison["p_value"].notna()
    counts = comparison[[*keys, "selector"]].assign(
        win=(comparison["mark"] == "worse") & has_answer,
        draw=(comparison["mark"] == "none") & has_answer,
        loss=(comparison["mark"] == "better") & has_answer,
    )
    grouped = counts.groupby([*keys, "selector"], sort=False, observed=True)
    return grouped.sum().astype(np.int64).reset_index()


def _reference_values(cells: Cells, reference: str) -> Array:
    """Return for every setting the values of the reference beside it; NaN if it has none."""
    problem, problems = group_rows(cells.settings, ("dataset", "classifier", "size"))
    lines = np.flatnonzero(cells.settings["selector"] == reference)
    values = np.full((len(problems), cells.mauc.shape[1]), np.nan)
    values[problem[lines]] = cells.mauc[lines]
    return values[problem]


def _part_sizes(rows: "pd.DataFrame", cells: Cells) -> tuple[Array, Array]:
    """Return n_test and n_train in the shape of `Cells.mauc`."""
    rows = as_pandas(rows)
    check_columns(rows, ("n_train", "n_test"))
    n_test = rows["n_test"].to_numpy(dtype=np.float64, na_value=np.nan)
    n_train = rows["n_train"].to_numpy(dtype=np.float64, na_value=np.nan)
    if not (np.nanmin(n_test, initial=1) > 0 and np.nanmin(n_train, initial=1) > 0):
        raise MaucError("rows must have a positive n_train and n_test.")
    return cells.spread(n_test), cells.spread(n_train)
