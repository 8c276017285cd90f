"""The report page: one self-contained HTML file that needs neither a server nor a network."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.palette import COLOURS, DASHES
from streamgauge._format.text import make_printable
from streamgauge.records import RunData
from streamgauge.reports.charts import Chart, compute_point_limit
from streamgauge.reports.confusion import collect_confusion_data
from streamgauge.reports.html import list_charts, to_markup
from streamgauge.reports.marks import collect_marks
from streamgauge.reports.sections import Subject, build_sections
from streamgauge.reports.title import build_title, describe_run
from streamgauge.significance import Comparison
from streamgauge.streams.output_files import replace_atomically

__all__ = ["assemble_page", "build_header", "page_html", "write_page"]


def write_page(results: RunData, path: str | Path, comparisons: Sequence[Comparison] = ()) -> Path:
    """Write the report of an evaluation to a file and return its path.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> write_page(RunData.from_readings((), n_rows=0), Path(mkdtemp()) / "report.html").name
    'report.html'
    """
    path = Path(path)
    with replace_atomically(path) as temporary:
        temporary.write_text(page_html(results, comparisons), encoding="utf-8")
    return path


def page_html(results: RunData, comparisons: Sequence[Comparison] = ()) -> str:
    """Return the report of an evaluation as an HTML page.

    Examples
    --------
    >>> "Cut short after 250 rows" in page_html(RunData.from_readings((), n_rows=250, complete=False))
    True
    """
    sections = build_sections(Subject(results, comparisons, results.learners), "page")
    head = build_header(build_title(results), describe_run(results))
    body = join_markup(head, *(to_markup(section, results.learners) for section in sections))
    marks, confusion = [collect_marks(results)], collect_confusion_data(results)
    return assemble_page(build_title(results), body, results.learners, list_charts(sections), marks, confusion)


def assemble_page(
    title: str,
    body: Markup,
    learners: Sequence[str],
    charts: Sequence[Chart],
    runs: Sequence[Mapping[str, object]],
    confusion: Mapping[str, object] | None = None,
) -> str:
    """Return a whole page: its body, style and script, and the data for the script.

    Examples
    --------
    >>> assemble_page("mine", Markup("<p>all</p>"), (), (), ()).startswith("<!doctype html>")
    True
    """
    style = "".join(map(_read_asset, ("uPlot.min.css", "page.css", "stacked.css")))
    script = (
        f"/*! uPlot\n{_read_asset('uPlot.LICENSE')}\n*/\n{_read_asset('uPlot.iife.min.js')}\n"
        f"{_read_asset('times.js')}{_read_asset('page.js')}"
    )
    limit = compute_point_limit(charts)
    data = {
        "learners": [make_printable(learner) for learner in learners],
        "dashes": DASHES,
        "colours": len(COLOURS),
        "runs": list(runs),
        "charts": [chart.to_data(limit) for chart in charts],
        "confusion": confusion,
    }
    return Template(_read_asset("page.html")).substitute(
        title=join_markup(title, " – streamgauge"),  # noqa: RUF001
        policy=f"default-src 'none'; img-src data:; script-src {_hash_source(script)}; "
        f"style-src {_hash_source(style)}; base-uri 'none'; form-action 'none'",
        style=style,
        body=body,
        data=_to_script_json(data),
        script=script,
    )


def build_header(title: str, description: str) -> Markup:
    """Return the header of a page.

    Examples
    --------
    >>> build_header("tree", "Evaluated on 10 rows.")[:8]
    '<header>'
    """
    brand = tag("p", "streamgauge", tag("span", " evaluation report"), class_="brand")
    return tag("header", brand, tag("h1", title), tag("p", description, class_="lead"))


def _read_asset(name: str) -> str:
    return files("streamgauge.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _hash_source(content: str) -> str:
    """Return the hash of an inline script or style for the content security policy, which allows no other."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _to_script_json(data: object) -> str:
    """Return JSON whose strings cannot close the script element."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
