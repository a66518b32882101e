"""Rows of a run as the paper shows them: tables in four formats, figures, and the HTML page."""

from mauc.layout import Group, Layout, Value, markdown_table
from mauc.report.html import Report, selection_report
from mauc.report.provenance import describe_protocols
from mauc.report.summaries import (
    ranks_table,
    run_tables,
    runtime_table,
    stability_table,
    summary_table,
    win_draw_loss_table,
)
from mauc.report.tables import FrameTable, Table, mauc_table
from mauc.report.write import write_figures, write_tables

__all__ = [
    "FrameTable",
    "Group",
    "Layout",
    "Report",
    "Table",
    "Value",
    "describe_protocols",
    "markdown_table",
    "mauc_table",
    "ranks_table",
    "run_tables",
    "runtime_table",
    "selection_report",
    "stability_table",
    "summary_table",
    "win_draw_loss_table",
    "write_figures",
    "write_tables",
]
