"""Seconds of every selector on every data set, as in the paper's Table 10."""

from typing import Any

from mauc.layout import GAP, Group, Layout, Value
from mauc.report.provenance import describe_protocols
from mauc.report.tables import FrameTable
from mauc.stats.rows import labels_of, rows_of, shown_name


def runtime_table(run: Any) -> FrameTable:
    """Give the median seconds that each selector takes for its whole ranking.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.

    Returns
    -------
    table : FrameTable
        Its frame has the columns dataset, selector, n and seconds.

    Notes
    -----
    A selector is timed once per split, whatever the number of classifiers and sizes. The median
    is robust against a split during which the machine did other work.
    """
    rows = rows_of(run, "dataset", "repeat", "fold", "selector", "select_seconds")
    datasets, selectors = labels_of(rows, "dataset"), labels_of(rows, "selector")
    split = ["dataset", "selector", "repeat", "fold"]
    # "first" skips NaN: a failed classifier does not undo a selection that was timed
    timed = rows.groupby(split, sort=False)["select_seconds"].first().reset_index()
    means = timed.groupby(["dataset", "selector"], sort=False)["select_seconds"]
    frame = means.agg(n="count", seconds="median").reset_index()
    seconds = frame.set_index(["dataset", "selector"])["seconds"].to_dict()
    lines = tuple(
        (
            shown_name("selector", selector),
            tuple(Value(_show(seconds.get((dataset, selector)))) for dataset in datasets),
        )
        for selector in selectors
    )
    layout = Layout(
        name="runtime",
        caption="Median seconds of each selector for its whole ranking on the training part, "
        f"{describe_protocols(rows)}.",
        columns=tuple(shown_name("dataset", dataset) for dataset in datasets),
        groups=(Group("", lines),),
        over="Data Set",
        heads=("", "selector"),
        scale=0.75 if len(datasets) > 5 else 1.0,
    )
    return FrameTable(frame, (layout,))


def _show(seconds: float | None) -> str:
    if seconds is None or seconds != seconds:
        return GAP
    return "<0.001" if 0 < seconds < 0.0005 else f"{seconds:.3f}"
