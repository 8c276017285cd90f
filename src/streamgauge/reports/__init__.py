"""Reports: the terminal, HTML pages, Markdown and LaTeX."""

from streamgauge.reports.confusion_text import format_confusion
from streamgauge.reports.page import page_html, write_page
from streamgauge.reports.paper_files import write_paper
from streamgauge.reports.study import report, write_report
from streamgauge.reports.terminal import build_summary

__all__ = [
    "build_summary",
    "format_confusion",
    "page_html",
    "report",
    "write_page",
    "write_paper",
    "write_report",
]
