"""All tables of a run: mean MAUC, seconds, ranks, stability, win/draw/loss and a summary."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mauc.exceptions import MaucError, MaucWarning
from mauc.layout import GAP, Group, Layout, Value
from mauc.report.provenance import describe_protocols, shortage_notes
from mauc.report.tables import (
    MARKS,
    MAX_UNSCALED,
    FrameTable,
    Table,
    mauc_table,
    show_number,
)
from mauc.stats import (
    PAPER_COMPARISON,
    Comparison,
    average_ranks,
    compare_to,
    friedman_test,
    holm_test,
    mean_mauc,
    problem_scores,
    selector_stability,
    win_draw_loss,
)
from mauc.stats.rows import labels_of, rows_of, shown_name

_ALL = "all"


def run_tables(run: Any, comparison: Comparison = PAPER_COMPARISON) -> dict[str, Table]:
    """Make all tables of a run.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    comparison : Comparison, default=PAPER_COMPARISON
        Baseline selector, test and level; without a baseline there are no marks, and the tables
        "win/draw/loss" and "summary" are left out.

    Returns
    -------
    tables : dict of str to Table
        "mauc DATASET" for every data set, then "runtime", "ranks", "stability", "win/draw/loss"
        and "summary". A summary for which the run has too little is left out with a warning.
    """
    rows = rows_of(run, "dataset", "selector")
    tables: dict[str, Table] = {
        f"mauc {dataset}": mauc_table(rows, dataset, comparison)
        for dataset in labels_of(rows, "dataset")
    }
    for name, make in _SUMMARIES.items():
        if comparison.reference is None and name in _NEED_REFERENCE:
            continue
        try:
            tables[name] = make(rows, comparison)
        except MaucError as error:
            warnings.warn(f"no table of {name}: {error}", MaucWarning, stacklevel=2)
    return tables


def win_draw_loss_table(run: Any, comparison: Comparison = PAPER_COMPARISON) -> FrameTable:
    """Count how often the reference wins, draws and loses: the paper's Figure 4 as numbers.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    comparison : Comparison, default=PAPER_COMPARISON
        Baseline selector, test and level.

    Returns
    -------
    table : FrameTable
        Its frame has the columns classifier (with "all" last), selector, win, draw, loss.
    """
    import pandas as pd

    rows = rows_of(run, "dataset", "classifier", "selector", "size", "mauc")
    compared = compare_to(rows, comparison)
    total = win_draw_loss(compared, by=()).assign(classifier=_ALL)
    frame = pd.concat([win_draw_loss(compared), total], ignore_index=True)
    counts = {
        (row.classifier, row.selector): f"{row.win}/{row.draw}/{row.loss}"
        for row in frame.itertuples(index=False)
    }
    classifiers = [*labels_of(rows, "classifier"), _ALL]
    cells = {
        selector: [counts.get((classifier, selector), GAP) for classifier in classifiers]
        for selector in labels_of(compared, "selector")
    }
    caption = (
        f"Win/draw/loss of {_baseline(comparison)} against each selector over all data sets and "
        f"sizes, {comparison}, {describe_protocols(rows)}."
    )
    columns = [shown_name("classifier", name) for name in classifiers]
    notes = shortage_notes(rows, comparison)
    more: dict[str, Any] = {"over": "Classifier", "notes": notes}
    return _table(frame, "win-draw-loss", caption, columns, _lines(cells), **more)


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
    cells = {
        name: [_seconds(seconds.get((key, name), np.nan)) for key in datasets] for name in selectors
    }
    caption = (
        "Median seconds of each selector for its whole ranking on the training part, "
        f"{describe_protocols(rows)}."
    )
    columns = [shown_name("dataset", name) for name in datasets]
    more = {"over": "Data Set", "scale": 0.75 if len(datasets) > 5 else 1.0}
    return _table(frame, "runtime", caption, columns, _lines(cells), **more)


def ranks_table(run: Any, comparison: Comparison = PAPER_COMPARISON) -> FrameTable:
    """Rank the selectors on every data set, classifier and size, and over data sets.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    comparison : Comparison, default=PAPER_COMPARISON
        Its reference is the control of Holm's test over data sets (None for no test), at its
        level.

    Returns
    -------
    table : FrameTable
        Its frame has the columns selector, problems (a classifier, "all", or "data sets"),
        n_problems, rank, and for the data sets p_holm and mark against the reference.

    Notes
    -----
    Ranks of a classifier are means over its data sets and sizes; those over data sets compare
    the mean MAUC of all their classifiers and sizes, one value per data set, because only data
    sets are independent of each other. Problems that some selector lacks are left out.
    """
    import pandas as pd

    rows = rows_of(run, "dataset", "classifier", "selector", "size", "mauc")
    selectors = labels_of(rows, "selector")
    cells = problem_scores(rows, "cell")
    parts = {
        name: cells[cells.index.get_level_values("classifier") == name]
        for name in labels_of(rows, "classifier")
    }
    parts = {**parts, _ALL: cells, "data sets": problem_scores(rows, "dataset")}
    frames, notes = [], []
    for name, scores in parts.items():
        part = {"selector": selectors, "problems": name, "n_problems": len(scores)}
        frames.append(pd.DataFrame({**part, "rank": _ranks(scores)}))
    frame = pd.concat(frames, ignore_index=True).assign(p_holm=np.nan, mark="")
    scores = parts["data sets"]
    if len(scores) > 1 and len(selectors) > 1:
        friedman = friedman_test(scores.to_numpy())
        notes.append(
            f"Friedman test over {len(scores)} data sets: chi-square {friedman.statistic:.2f}, "
            f"p = {friedman.p_value:.3g}; Iman-Davenport F {friedman.f_statistic:.2f}, "
            f"p = {friedman.f_p_value:.3g}."
        )
        if comparison.reference is not None:
            _add_holm(frame, scores, comparison)
            notes.append(
                f"† (‡): worse (better) than {_baseline(comparison)} over data sets, Holm's test "
                f"at {comparison.level}."
            )
    n_all = len(mean_mauc(rows)[["dataset", "classifier", "size"]].drop_duplicates())
    n_absent = n_all - len(cells)
    if n_absent > 0:
        notes.append(f"{n_absent} of {n_all} problems left out: not every selector has a value.")
    caption = (
        "Mean ranks of the selectors, 1 is best: over the data sets and sizes of each classifier, "
        f"over all of these, and over data sets, {describe_protocols(rows)}."
    )
    shown = {(row.problems, row.selector): row for row in frame.itertuples(index=False)}
    lines = tuple(
        (
            shown_name("selector", selector),
            tuple(
                Value(show_number(row.rank, ".2f"), marks=MARKS.get(row.mark, ""))
                for row in (shown[name, selector] for name in parts)
            ),
        )
        for selector in selectors
    )
    columns = [shown_name("classifier", name) for name in parts]
    return _table(frame, "ranks", caption, columns, lines, notes=tuple(notes))


def stability_table(run: Any) -> FrameTable:
    """Measure how much the selections of each selector agree over the splits.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.

    Returns
    -------
    table : FrameTable
        Its frame has the columns dataset, selector, size, stability, lower, upper, n.
    """
    rows = rows_of(run, "dataset", "selector", "size", "features", "n_features")
    frame = selector_stability(rows)
    sizes = sorted(int(size) for size in frame["size"].unique())
    values = frame.set_index(["dataset", "selector", "size"])["stability"].to_dict()
    groups = []
    for dataset, here in frame.groupby("dataset", sort=False):
        lines = _lines(
            {
                name: [show_number(values.get((dataset, name, size), np.nan)) for size in sizes]
                for name in labels_of(here, "selector")
            }
        )
        groups.append(Group(shown_name("dataset", dataset), lines))
    caption = (
        "Stability of the selections over the splits (Nogueira, Sechidis and Brown; 1: always the "
        f"same features, 0: as if drawn at random), {describe_protocols(rows)}."
    )
    layout = Layout(
        "stability",
        caption,
        tuple(map(str, sizes)),
        tuple(groups),
        "Feature Subset Size",
        ("data set", "selector"),
        scale=0.85 if len(sizes) > MAX_UNSCALED else 1.0,
    )
    return FrameTable(frame, (layout,))


def summary_table(run: Any, comparison: Comparison = PAPER_COMPARISON) -> FrameTable:
    """Give one line per selector: mean MAUC, rank, win/draw/loss, stability, seconds.

    Parameters
    ----------
    run : DataFrame or path
        The rows of a run, or its folder.
    comparison : Comparison, default=PAPER_COMPARISON
        The baseline whose wins, draws and losses are counted, test and level.

    Returns
    -------
    table : FrameTable
        Its frame has the columns selector, mauc and rank over the problems (data set,
        classifier, size) that every selector has, and win, draw, loss, stability and seconds
        over all that the selector has.
    """
    import pandas as pd

    rows = rows_of(run, "dataset", "classifier", "selector", "size", "mauc")
    selectors = labels_of(rows, "selector")
    scores = problem_scores(rows, "cell")
    counts = win_draw_loss(compare_to(rows, comparison), by=())
    stability = selector_stability(rows).groupby("selector")["stability"].mean()
    seconds = runtime_table(rows).to_frame().groupby("selector")["seconds"].mean()
    ranks = _ranks(scores)
    frame = pd.DataFrame({"selector": selectors, "mauc": scores.mean().to_numpy(), "rank": ranks})
    frame = frame.merge(counts, how="left", on="selector")
    frame["stability"] = frame["selector"].map(stability)
    frame["seconds"] = frame["selector"].map(seconds)
    shown = {
        row.selector: [
            show_number(row.mauc),
            show_number(row.rank, ".2f"),
            GAP if row.win != row.win else f"{row.win:.0f}/{row.draw:.0f}/{row.loss:.0f}",
            show_number(row.stability),
            show_number(row.seconds, ".3g"),
        ]
        for row in frame.itertuples(index=False)
    }
    caption = (
        f"Selectors over {len(scores)} problems (data set, classifier, size), "
        f"{describe_protocols(rows)}: mean MAUC and mean rank; and over all that a selector has, "
        f"win/draw/loss of {_baseline(comparison)} against it ({comparison}), mean stability, "
        "mean seconds."
    )
    columns = ["MAUC", "rank", "win/draw/loss", "stability", "seconds"]
    notes = shortage_notes(rows, comparison)
    return _table(frame, "summary", caption, columns, _lines(shown), notes=notes)


def _table(
    frame: Any, name: str, caption: str, columns: list[str], lines: Any, **more: Any
) -> FrameTable:
    """Return a table of one row per selector."""
    groups, heads = (Group("", lines),), ("", "selector")
    layout = Layout(name, caption, tuple(columns), groups, heads=heads, **more)
    return FrameTable(frame, (layout,))


def _lines(texts: Mapping[str, list[str]]) -> tuple[tuple[str, tuple[Value, ...]], ...]:
    """Return the rows of selectors with their texts."""
    return tuple(
        (shown_name("selector", name), tuple(map(Value, row))) for name, row in texts.items()
    )


def _seconds(seconds: float) -> str:
    return "<0.001" if 0 < seconds < 0.0005 else show_number(seconds)


def _ranks(scores: Any) -> Any:
    n_problems, n_selectors = scores.shape
    if n_problems == 0:
        return np.full(n_selectors, np.nan)
    return average_ranks(scores.to_numpy()) if n_selectors > 1 else np.ones(1)


def _baseline(comparison: Comparison) -> str:
    return shown_name("selector", str(comparison.reference))


def _add_holm(frame: Any, scores: Any, comparison: Comparison) -> None:
    reference = comparison.reference
    pairs = holm_test(scores.to_numpy(), list(scores.columns), reference, comparison.alpha)
    found = pairs.set_index("method")
    is_set = (frame["problems"] == "data sets") & (frame["selector"] != reference)
    names = frame.loc[is_set, "selector"]
    frame.loc[is_set, "p_holm"] = found.loc[names, "p_holm"].to_numpy()
    frame.loc[is_set, "mark"] = found.loc[names, "mark"].to_numpy()


_SUMMARIES: dict[str, Callable[[Any, Comparison], Table]] = {
    "runtime": lambda rows, _: runtime_table(rows),
    "ranks": ranks_table,
    "stability": lambda rows, _: stability_table(rows),
    "win/draw/loss": win_draw_loss_table,
    "summary": summary_table,
}
_NEED_REFERENCE = ("win/draw/loss", "summary")
