"""Compare selectors with a baseline: rows of a run in, tests, marks and counts out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mauc.checks import check_choice, check_level
from mauc.exceptions import MaucError, option
from mauc.stats.paired import corrected_t_tests, smallest_p_value, wilcoxon_tests
from mauc.stats.rows import (
    PROBLEM,
    SETTING,
    Cells,
    as_pandas,
    check_columns,
    group_rows,
    make_cells,
    mean_mauc,
    row_means,
)

if TYPE_CHECKING:
    import pandas as pd

Array = np.ndarray

#: paired tests by name, with how tables and pages call them
TESTS = {"wilcoxon": "Wilcoxon signed-rank test", "corrected_t": "corrected resampled t-test"}


@dataclass(frozen=True)
class Comparison:
    """Baseline, test and level of a comparison of selectors.

    Parameters
    ----------
    reference : str or None, default="mdfs"
        Baseline selector, with which the others are compared. None: no baseline, so no marks.
    test : {"wilcoxon", "corrected_t"}, default="wilcoxon"
        `wilcoxon_test`, as in the paper, or `corrected_t_test`, which allows for overlapping
        training parts.
    alpha : float, default=0.05
        Level of significance: a mark is given for p-values below it.

    Examples
    --------
    >>> from mauc.stats import Comparison
    >>> print(Comparison("su", test="corrected_t"))
    corrected resampled t-test at 5 %
    """

    reference: str | None = "mdfs"
    test: str = "wilcoxon"
    alpha: float = 0.05

    def __post_init__(self) -> None:
        """Refuse a test or level that does not exist."""
        check_choice(option("test"), self.test, TESTS)
        check_level(option("alpha"), self.alpha)

    def __str__(self) -> str:
        """Return the test and its level in words."""
        return f"{TESTS[self.test]} at {self.level}"

    @property
    def level(self) -> str:
        """The level in percent, such as "5 %"."""
        return f"{100 * self.alpha:g} %"

    def shortage(self, n_splits: int) -> str:
        """Return a sentence if the test cannot reject on so few splits, whatever the values."""
        p_value = smallest_p_value(self.test, n_splits)
        if p_value < self.alpha:
            return ""
        needed = n_splits + 1
        while smallest_p_value(self.test, needed) >= self.alpha:
            needed += 1
        other = " or take the test corrected_t, which can reject on 2"
        return (
            f"{n_splits} split{'s are' if n_splits > 1 else ' is'} too few for the "
            f"{TESTS[self.test]} to reject at {self.level}, whatever the values"
            + (f" (p >= {p_value:.3g})" if self.test == "wilcoxon" else "")
            + f": run at least {needed}"
            + (f"{other}." if self.test == "wilcoxon" else ".")
        )


#: the baseline, test and level of Wang and Tang's tables
PAPER_COMPARISON = Comparison()


def compare_to(
    rows: "pd.DataFrame", comparison: Comparison | str, **options: Any
) -> "pd.DataFrame":
    """Compare every selector with a reference, on each data set, classifier and size.

    Parameters
    ----------
    rows : DataFrame
        One row per measurement, as `mauc.load_run` gives.
    comparison : Comparison or str
        Baseline selector, test and level; or the baseline alone.
    **options
        With the baseline alone: `test` and `alpha` of the `Comparison`, by default those of the
        paper (Wilcoxon at 5 %). For the corrected t-test, n_train and n_test are means over the
        pairs.

    Returns
    -------
    compared : DataFrame
        Columns dataset, classifier, size, selector, n, mean, reference_mean, difference,
        statistic, p_value, mark. Values are paired by repeat and fold; a split where either
        failed is left out, also of the means, and n counts the others. The mark tells whether the
        selector is "better" or "worse" than the reference, or "none". Without a pair n is 0 and
        the numbers are NaN.

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
    if isinstance(comparison, str):
        comparison = Comparison(comparison, **options)
    elif options:
        raise MaucError(f"a Comparison has its own test and level; leave out {', '.join(options)}.")
    cells = make_cells(rows)
    selectors = cells.settings["selector"]
    reference = check_choice("reference", comparison.reference, selectors.unique())
    lines = np.flatnonzero(selectors != reference)
    values, others = cells.mauc[lines], _reference_values(cells, reference)[lines]
    if comparison.test == "wilcoxon":
        tests = wilcoxon_tests(values, others, comparison.alpha)
    else:
        is_pair = ~np.isnan(values - others)
        n_test, n_train = (
            row_means(np.where(is_pair, part[lines], np.nan)) for part in _part_sizes(rows, cells)
        )
        tests = corrected_t_tests(values, others, n_test / n_train, comparison.alpha)
    return cells.settings.iloc[lines].reset_index(drop=True).assign(**tests)


def marked_means(rows: "pd.DataFrame", comparison: Comparison) -> "pd.DataFrame":
    """Return `mean_mauc` with marks against the reference: "better", "worse", "none".

    The mark is "" for the reference, where nothing could be compared, and without a reference.
    """
    means = mean_mauc(rows)
    if comparison.reference is None:
        return means.assign(mark="")
    compared = compare_to(rows, comparison)
    key = list(SETTING)
    answered = compared.loc[compared["p_value"].notna(), [*key, "mark"]]
    return means.merge(answered, how="left", on=key).fillna({"mark": ""})


def win_draw_loss(
    compared: "pd.DataFrame", by: str | Sequence[str] = ("classifier",)
) -> "pd.DataFrame":
    """Count where the reference wins, draws and loses against each selector.

    Parameters
    ----------
    compared : DataFrame
        What `compare_to` gives.
    by : str or sequence of str, default=("classifier",)
        Columns to group by: any of "dataset", "classifier" and "size". Figure 4 of the paper
        counts per classifier, over all data sets and sizes; () gives one count.

    Returns
    -------
    counts : DataFrame
        Columns `by`, selector, win, draw, loss. A win of the reference is a selector marked
        "worse". Comparisons without an answer (p-value NaN) do not count.

    Examples
    --------
    >>> import pandas as pd
    >>> from mauc.stats import win_draw_loss
    >>> compared = pd.DataFrame({
    ...     "dataset": ["a", "b", "c"], "classifier": "nb", "size": 10, "selector": "su",
    ...     "p_value": [0.01, 0.2, 0.03], "mark": ["worse", "none", "worse"]})
    >>> win_draw_loss(compared)
      classifier selector  win  draw  loss
    0         nb       su    2     1     0
    """
    keys = [by] if isinstance(by, str) else list(by)
    for key in keys:
        check_choice("by", key, PROBLEM)
    if len(set(keys)) != len(keys):
        raise MaucError(f"by must name a column once, got {keys!r}.")
    check_columns(compared, (*keys, "selector", "p_value", "mark"))
    has_answer = compared["p_value"].notna()
    counts = compared[[*keys, "selector"]].assign(
        win=(compared["mark"] == "worse") & has_answer,
        draw=(compared["mark"] == "none") & has_answer,
        loss=(compared["mark"] == "better") & has_answer,
    )
    grouped = counts.groupby([*keys, "selector"], sort=False, observed=True)
    return grouped.sum().astype(np.int64).reset_index()


def _reference_values(cells: Cells, reference: str) -> Array:
    """Return for every setting the values of the reference beside it; NaN if it has none."""
    problem, problems = group_rows(cells.settings, PROBLEM)
    lines = np.flatnonzero(cells.settings["selector"] == reference)
    values = np.full((len(problems), cells.mauc.shape[1]), np.nan)
    values[problem[lines]] = cells.mauc[lines]
    found: Array = values[problem]
    return found


def _part_sizes(rows: "pd.DataFrame", cells: Cells) -> tuple[Array, Array]:
    """Return n_test and n_train in the shape of `Cells.mauc`."""
    rows = as_pandas(rows)
    check_columns(rows, ("n_train", "n_test"))
    n_test = rows["n_test"].to_numpy(dtype=np.float64, na_value=np.nan)
    n_train = rows["n_train"].to_numpy(dtype=np.float64, na_value=np.nan)
    if not (np.nanmin(n_test, initial=1) > 0 and np.nanmin(n_train, initial=1) > 0):
        raise MaucError("rows must have a positive n_train and n_test.")
    return cells.spread(n_test), cells.spread(n_train)
