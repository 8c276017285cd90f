"""The report of a run as a document of sections."""

from collections.abc import Sequence

from streamgauge._format.text import shorten_stream_name
from streamgauge.records import RunData
from streamgauge.reports.model import Document
from streamgauge.reports.sections import Subject, Surface, build_sections
from streamgauge.reports.title import build_title, describe_run, get_part
from streamgauge.significance import Comparison

__all__ = ["build_document"]


def build_document(results: RunData, comparisons: Sequence[Comparison] = (), surface: Surface = "text") -> Document:
    """Return the report of a run for a surface.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes, evaluate
    >>> document = build_document(evaluate(SEA(n_rows=1000), NaiveBayes()))
    >>> [block.title for section in document.sections for block in section.blocks][:2]
    ['Answer', 'After 1,000 rows, over all rows']
    """
    stream = shorten_stream_name(str(get_part(results.description, "stream").get("name", "")))
    sections = build_sections(Subject(results, comparisons, results.learners), surface)
    return Document(build_title(results), describe_run(results), sections, stream)
