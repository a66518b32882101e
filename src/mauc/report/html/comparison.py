"""Rows of an experiment in, tables with significance and curves as plain dicts out."""

from dataclasses import replace
from typing import Any

from mauc.plotting.axes import selector_styles
from mauc.report.html.recipe import short_name
from mauc.report.html.values import number
from mauc.report.provenance import stamp_of
from mauc.report.summaries import win_draw_loss_table
from mauc.report.tables import Table, mauc_table
from mauc.selectors.base import RankingSelector
from mauc.stats import Comparison, compare_to, mean_interval
from mauc.stats.rows import labels_of, rows_of, shown_name

_COLUMNS = (
    "dataset",
    "repeat",
    "fold",
    "selector",
    "classifier",
    "size",
    "mauc",
    "status",
    "error",
    "n_train",
    "n_test",
)


def summarise_comparison(
    run: Any,
    selector: RankingSelector,
    comparison: Comparison | None = None,
    measure: str = "MAUC",
) -> dict[str, Any]:
    """Collect what a page says about an experiment, the rows of a run or its folder.

    By default the baseline is the selector of the page, see `find_reference`, and the test that of
    the paper.
    """
    rows = rows_of(run, *_COLUMNS)
    selectors = labels_of(rows, "selector")
    comparison = comparison or Comparison(find_reference(selector, selectors))
    if len(selectors) == 1:
        comparison = replace(comparison, reference=None)
    styles = selector_styles(selectors)
    tables: list[Table] = [
        mauc_table(rows, dataset, comparison, measure=measure)
        for dataset in labels_of(rows, "dataset")
    ]
    tests = []
    reference = comparison.reference
    if reference is not None:
        tables.append(win_draw_loss_table(rows, comparison))
        tests = _tests(rows, comparison)
    return {
        "reference": None if reference is None else shown_name("selector", reference),
        "test": str(comparison),
        "alpha": comparison.alpha,
        "tables": [part.to_dict() for table in tables for part in table.layouts()],
        "tests": tests,
        "curves": _curves(rows, styles),
        "styles": _styles(styles),
        "stamp": list(stamp_of(rows)) if "versions" in rows else [],
    }


def find_reference(selector: RankingSelector, labels: list[str]) -> str:
    """Return the label of the selector in a run, or that of MDFS, or the first."""
    name = short_name(selector, labels)
    if name is not None:
        return name
    return "mdfs" if "mdfs" in labels else labels[0]


def _tests(rows: Any, comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "dataset": shown_name("dataset", row.dataset),
            "classifier": shown_name("classifier", row.classifier),
            "size": int(row.size),
            "selector": shown_name("selector", row.selector),
            "n": int(row.n),
            "mean": number(row.mean),
            "reference_mean": number(row.reference_mean),
            "difference": number(row.difference),
            "p_value": number(row.p_value),
            "mark": row.mark if row.p_value == row.p_value else "",
        }
        for row in compare_to(rows, comparison).itertuples(index=False, name="Test")
    ]


def _curves(rows: Any, styles: dict[str, Any]) -> list[dict[str, Any]]:
    panels = []
    for (dataset, classifier), panel in mean_interval(rows).groupby(
        ["dataset", "classifier"], sort=False
    ):
        series = [
            {
                "selector": str(name),
                "sizes": [int(size) for size in curve["size"]],
                **{
                    column: [number(value) for value in curve[column]]
                    for column in ("mean", "lower", "upper")
                },
            }
            for name, curve in sorted(  # the last is drawn over the others
                panel.groupby("selector", sort=False), key=lambda part: styles[part[0]]["zorder"]
            )
        ]
        panels.append(
            {
                "dataset": shown_name("dataset", dataset),
                "classifier": shown_name("classifier", classifier),
                "series": series,
            }
        )
    return panels


def _styles(styles: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "selector": str(name),
            "label": shown_name("selector", name),
            # black is the colour of the text, which is white in dark mode
            "colour": style["color"].replace("#000000", "currentColor"),
            "dashes": [] if style["linestyle"] == "-" else [2.0 * n for n in style["linestyle"][1]],
            "width": style["linewidth"],
        }
        for name, style in styles.items()
    ]
