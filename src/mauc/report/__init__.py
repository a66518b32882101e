"""Rows of a run as the paper shows them: tables, and published values beside reproduced ones."""

from mauc.layout import Group, Layout, Value, markdown_table
from mauc.report.html import Report, selection_report
from mauc.report.published import load_published, load_published_runtime, paper_folder
from mauc.report.published_comparison import PublishedComparison, compare_published
from mauc.report.run_tables import run_tables
from mauc.report.runtime import runtime_table
from mauc.report.summaries import ranks_table, stability_table, summary_table, win_draw_loss_table
from mauc.report.tables import FrameTable, MaucCell, MaucTable, Table, mauc_table
from mauc.report.write import (
    write_figures,
    write_published,
    write_tables,
    write_with_published,
)

__all__ = [
    "FrameTable", "Group", "Layout", "MaucCell", "MaucTable", "PublishedComparison", "Report",
    "Table", "Value", "compare_published", "load_published", "load_published_runtime", "markdown_table", "mauc_table", "paper_folder", "ranks_table",
    "run_tables", "runtime_table", "selection_report", "stability_table", "summary_table",
    "win_draw_loss_table", "write_figures", "write_published", "write_tables",
    "write_with_published",
]  # fmt: skip
