"""Rows of an experiment in, tables with significance and curves as plain dicts out."""

from dataclasses import replace
from typing import Any

from mauc.plotting.axes import selector_styles
from mauc.report.html.recipe import short_name
from mauc.report.html.values import number, plain, text
from mauc.report.provenance import stamp_of
from mauc.report.summaries import win_draw_loss_table
from mauc.report.tables import Table, mauc_table
from mauc.selectors.base import RankingSelector
from mauc.stats import Comparison, compare_to, mean_interval
from mauc.stats.rows import labels_of, rows_of, shown_name

_COLUMNS = (
    "dataset", "repeat", "fold", "selector", "classifier", "size", "mauc", "status", "error",
    "n_train", "n_test",
)  # fmt: skip


def summarise_comparison(
    run: Any, selector: RankingSelector, comparison: Comparison | None = None
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
    tables: list[Table] = [
        mauc_table(rows, dataset, comparison) for dataset in labels_of(rows, "dataset")
    ]
    tests = []
    reference = comparison.reference
    if reference is not None:
        tables.append(win_draw_loss_table(rows, comparison))
        tests = _tests(rows, comparison)
    return {
        "reference": None if reference is None else text(shown_name("selector", reference)),
        "test": str(comparison),
        "alpha": comparison.alpha,
        "tables": [plain(part.to_dict()) for table in tables for part in table.layouts()],
        "tests": tests,
        "curves": _curves(rows),
        "styles": _styles(selectors),
        "stamp": [text(line) for line in stamp_of(rows)] if "versions" in rows else [],
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
            "dataset": text(shown_name("dataset", row.dataset)),
            "classifier": text(shown_name("classifier", row.classifier)),
            "size": int(row.size),
            "selector": text(shown_name("selector", row.selector)),
            "n": int(row.n),
            "mean": number(row.mean),
            "reference_mean": number(row.reference_mean),
            "difference": number(row.difference),
            "p_value": number(row.p_value),
            "mark": row.mark if row.p_value == row.p_value else "",
        }
        for row in compare_to(rows, comparison).itertuples(index=False, name="Test")
    ]


def _curves(rows: Any) -> list[dict[str, Any]]:
    panels = []
    for (dataset, classifier), panel in mean_interval(rows).groupby(
        ["dataset", "classifier"], sort=False
    ):
        series = [
            {
                "selector": text(name),
                "sizes": [int(size) for size in curve["size"]],
                **{
                    column: [number(value) for value in curve[column]]
                    for column in ("mean", "lower", "upper")
                },
            }
            for name, curve in panel.groupby("selector", sort=False)
        ]
        panels.append(
            {
                "dataset": text(shown_name("dataset", dataset)),
                "classifier": text(shown_name("classifier", classifier)),
                "series": series,
            }
        )
    return panels


def _styles(selectors: list[str]) -> list[dict[str, Any]]:
    styles = selector_styles(selectors)
    found = []
    for name in selectors:
        line = styles[name]["linestyle"]
        found.append(
            {
                "selector": text(name),
                "label": text(shown_name("selector", name)),
                # black is the colour of the text, which is white in dark mode
                "colour": styles[name]["color"].replace("#000000", "currentColor"),
                "dashes": [] if line == "-" else [2.0 * length for length in line[1]],
            }
        )
    return found
