"""Rows of a run as the paper shows them: tables, and published values beside reproduced ones."""

from mauc.report.html import Report, selection_report
from mauc.report.layout import Table
from mauc.report.published import load_published, load_published_runtime, paper_folder
from mauc.report.published_comparison import PublishedComparison, compare_published
from mauc.report.run_tables import run_tables
from mauc.report.runtime import runtime_table
from mauc.report.summaries import ranks_table, stability_table, summary_table, win_draw_loss_table
from mauc.report.tables import MaucTable, mauc_table
from mauc.report.write import (
    write_figures,
    write_published,
    write_tables,
    write_with_published,
)

__all__ = [
    "MaucTable", "PublishedComparison", "Report", "Table", "compare_published",
    "load_published", "load_published_runtime", "mauc_table", "paper_folder", "ranks_table",
    "run_tables", "runtime_table", "selection_report", "stability_table", "summary_table",
    "win_draw_loss_table", "write_figures", "write_published", "write_tables",
    "write_with_published",
]  # fmt: skip
