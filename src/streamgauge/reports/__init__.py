"""Reports: tables on the terminal, HTML pages, Markdown and LaTeX."""

from streamgauge.reports.page import page_html, write_page
from streamgauge.reports.study import report, write_report
from streamgauge.reports.tables import pairs_table, results_table, summary

__all__ = [
    "page_html",
    "pairs_table",
    "report",
    "results_table",
    "summary",
    "write_page",
    "write_report",
]
