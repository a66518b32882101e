"""The paper's Table 10: seconds of every selector on every data set."""

from collections.abc import Mapping
from typing import Any

from mauc.layout import GAP, Group, Layout, Value
from mauc.report.provenance import describe_protocols
from mauc.report.published import load_published_runtime
from mauc.report.tables import FrameTable
from mauc.stats.rows import labels_of, rows_of, shown_name


def runtime_table(
    run: Any, *, published: bool = True, methods: Mapping[str, str] | None = None
) -> FrameTable:
    """Give the median seconds that each selector takes for its whole ranking.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    published : bool, default=True
        Put the paper's seconds beside those of its selectors and data sets.
    methods : mapping of str to str, optional
        Method of the paper for selectors that the run labels otherwise.

    Returns
    -------
    table : FrameTable
        Its frame has the columns dataset, selector, n, seconds and published_seconds.

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
    paper = {
        (row.dataset, row.selector): row.seconds
        for row in load_published_runtime().itertuples(index=False)
    }
    names = dict(methods or {})
    frame["published_seconds"] = [
        paper.get((dataset.lower(), names.get(selector, selector).lower()), float("nan"))
        for dataset, selector in zip(frame["dataset"], frame["selector"], strict=True)
    ]
    if not published:
        frame = frame.drop(columns="published_seconds")
    is_beside = published and frame["published_seconds"].notna().any()
    groups = [_group("this run" if is_beside else "", frame, "seconds", datasets, selectors)]
    if is_beside:
        known = set(frame.loc[frame["published_seconds"].notna(), "selector"])
        printed = [name for name in selectors if name in known]
        groups.append(_group("published", frame, "published_seconds", datasets, printed))
    layout = Layout(
        name="runtime",
        caption="Median seconds of each selector for its whole ranking on the training part, "
        f"{describe_protocols(rows)}."
        + (" Published: the paper's Table 10, on its machine." if is_beside else ""),
        columns=tuple(shown_name("dataset", dataset) for dataset in datasets),
        groups=tuple(groups),
        over="Data Set",
        heads=("source", "selector"),
        scale=0.75 if len(datasets) > 5 else 1.0,
    )
    return FrameTable(frame, (layout,))


def _group(name: str, frame: Any, column: str, datasets: list[str], selectors: list[str]) -> Group:
    seconds = frame.set_index(["dataset", "selector"])[column].to_dict()
    rows = tuple(
        (
            shown_name("selector", selector),
            tuple(Value(_show(seconds.get((dataset, selector)))) for dataset in datasets),
        )
        for selector in selectors
    )
    return Group(name, rows)


def _show(seconds: float | None) -> str:
    if seconds is None or seconds != seconds:
        return GAP
    return "<0.001" if 0 < seconds < 0.0005 else f"{seconds:.3f}"
