"""A fitted selector as one page for a browser: what was chosen, why, and what remains hard."""

from mauc.report.html.report import Report, selection_report

__all__ = ["Report", "selection_report"]
