"""The rows of a run: read them, name their labels, average MAUC, measure stability."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy import stats

from mauc.checks import check_choice
from mauc.exceptions import MaucError
from mauc.io.registry import dataset_label
from mauc.registry import CLASSIFIERS, PEERS, SELECTORS
from mauc.stability import UNKNOWN, stability

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

PROBLEM = ("dataset", "classifier", "size")
SETTING = (*PROBLEM, "selector")
SPLIT = ("repeat", "fold")
_SELECTION = ("dataset", "selector", "size")


def rows_of(run: Any, *columns: str) -> Any:
    """Return the rows of a run, a DataFrame or the path of its folder, that must have columns."""
    if isinstance(run, str | Path):
        from mauc.experiments import load_run

        rows = load_run(run)
    elif hasattr(run, "columns"):
        rows = as_pandas(run)
    else:
        got = type(run).__name__
        raise MaucError(f"a run must be a DataFrame of rows or the path of a run, got {got}.")
    check_columns(rows, columns)
    if columns and len(rows) == 0:
        raise MaucError("a run must have at least one row, got none.")
    return rows


def as_pandas(rows: Any) -> "pd.DataFrame":
    """Return rows as a pandas frame; `mauc.load_run` may have given another kind."""
    import pandas

    if isinstance(rows, pandas.DataFrame):
        return cast("pd.DataFrame", rows)
    if hasattr(rows, "to_pandas"):
        return cast("pd.DataFrame", rows.to_pandas())
    raise MaucError(f"rows must be a data frame, got {type(rows).__name__}.")


def check_columns(rows: "pd.DataFrame", wanted: tuple[str, ...]) -> None:
    """Refuse rows without the columns wanted."""
    absent = [name for name in wanted if name not in rows]
    if absent:
        raise MaucError(
            f"rows must have the columns {', '.join(wanted)}; {', '.join(absent)} "
            f"{'is' if len(absent) == 1 else 'are'} missing."
        )


def labels_of(rows: Any, column: str, wanted: Iterable[str] | str | None = None) -> list[str]:
    """Return the labels of a column in the order of the plan, or the wanted ones of them."""
    present = [str(label) for label in rows[column].unique()]
    if wanted is None:
        return present
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    for label in wanted:
        check_choice(column, label, present, quoted=False)
    return wanted


def select_rows(rows: Any, **wanted: Iterable[str] | str | None) -> Any:
    """Return the rows whose labels are among those wanted, given by column; None keeps all."""
    kept = {column: labels_of(rows, column, labels) for column, labels in wanted.items()}
    for column, labels in kept.items():
        rows = rows[rows[column].isin(labels)]
    return rows


def shown_name(kind: str, label: str) -> str:
    """Return a label of a run as tables and figures write it.

    Parameters
    ----------
    kind : {"selector", "classifier", "dataset"}
    label : str

    Examples
    --------
    >>> from mauc.stats import shown_name
    >>> shown_name("selector", "mrmr"), shown_name("selector", "my own")
    ('mRMR', 'my own')
    """
    if kind == "dataset":
        return dataset_label(label)
    methods = SELECTORS if kind == "selector" else CLASSIFIERS | PEERS
    return methods[label.lower()].label if label.lower() in methods else label


@dataclass(frozen=True)
class Cells:
    """MAUC of every setting on every split."""

    mauc: Array  #: of shape (n_settings, n_splits); NaN where there is no row, or a failed one
    settings: "pd.DataFrame"  #: the columns of `SETTING`; labels as they appear, sizes ascending
    line: Array  #: of shape (n_rows,): the line of `mauc` of every row of the run
    column: Array  #: of shape (n_rows,): its column

    def spread(self, values: Array) -> Array:
        """Return a column of the run in the shape of `mauc`, NaN where there is no row."""
        spread = np.full(self.mauc.shape, np.nan)
        spread[self.line, self.column] = values
        return spread


def make_cells(rows: "pd.DataFrame") -> Cells:
    """Arrange the rows of a run; rows with a status other than "ok" count as failed."""
    rows = as_pandas(rows)
    check_columns(rows, (*SETTING, *SPLIT, "mauc"))
    line, keys = group_rows(rows, SETTING)
    column, splits = group_rows(rows, SPLIT)
    _check_distinct(rows, line * len(splits) + column)

    mauc = rows["mauc"].to_numpy(dtype=np.float64, na_value=np.nan)
    if "status" in rows:
        mauc = np.where((rows["status"] == "ok").to_numpy(dtype=bool, na_value=False), mauc, np.nan)
    if np.isinf(mauc).any():
        raise MaucError("rows must have a finite mauc, or NaN where a run failed, got infinity.")
    cells = Cells(np.empty((len(keys), len(splits))), keys, line, column)
    cells.mauc[:] = cells.spread(mauc)
    return cells


def group_rows(rows: "pd.DataFrame", keys: tuple[str, ...]) -> tuple[Array, "pd.DataFrame"]:
    """Return the group of each row and the values of each; numbers ascend, names as they appear."""
    import pandas as pd

    codes = []
    for key in keys:
        is_number = pd.api.types.is_numeric_dtype(rows[key])
        codes.append(pd.factorize(rows[key], sort=is_number)[0])
        if (codes[-1] < 0).any():
            raise MaucError(f"rows must name {key} in every row, got a missing value.")
    # A group is one number: the codes of its keys are the digits.
    numbers = np.ravel_multi_index(codes, [ranks.max(initial=0) + 1 for ranks in codes])
    group, _ = pd.factorize(numbers, sort=True)
    first = np.flatnonzero(~pd.Series(numbers).duplicated())
    first = first[np.argsort(group[first])]
    return group, rows[list(keys)].iloc[first].reset_index(drop=True)


def row_means(values: Array) -> Array:
    """Average what is present in each row of (n_rows, n_columns); NaN where nothing is."""
    n = (~np.isnan(values)).sum(axis=1)
    total = np.nansum(values, axis=1)
    return np.asarray(np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0))


def _check_distinct(rows: "pd.DataFrame", cell: Array) -> None:
    _, first, count = np.unique(cell, return_index=True, return_counts=True)
    if (count > 1).any():
        repeated = rows.iloc[first[np.argmax(count > 1)]]
        shown = ", ".join(f"{key} {repeated[key]}" for key in (*SETTING, *SPLIT))
        raise MaucError(f"rows must hold a measurement once, got {count.max()} of {shown}.")


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


def problem_scores(rows: "pd.DataFrame", problems: str = "dataset") -> "pd.DataFrame":
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
