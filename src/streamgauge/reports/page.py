"""The report page: one HTML file that needs nothing else, neither a server nor a network."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from streamgauge._format.markup import Markup, join_markup, tag
from streamgauge._format.palette import COLOURS, DASHES
from streamgauge._format.text import count, make_printable
from streamgauge.errors import StreamgaugeError
from streamgauge.records import RunData
from streamgauge.reports.alarms import alarm_marks, alarms_section
from streamgauge.reports.charts import (
    Chart,
    balance_chart,
    cost_chart,
    curve_charts,
    difference_chart,
    figure_of,
    label_chart,
    point_limit,
)
from streamgauge.reports.comparisons import Comparison
from streamgauge.reports.findings import findings, limits
from streamgauge.reports.matters import (
    chart_section,
    confusion_data,
    confusion_section,
    costs_section,
    matrix_section,
    words_section,
)
from streamgauge.reports.sections import (
    finals_section,
    folds_section,
    pairs_section,
    run_section,
    section,
    verdicts_section,
)
from streamgauge.reports.series import panels
from streamgauge.reports.title import lead, part_of, title_of
from streamgauge.reports.unlabelled_spans import hidden_spans

__all__ = ["banners", "curves_section", "header", "marks_of", "page_html", "whole_page", "write_page"]

BANNER = {"class_": "banner", "role": "status"}
"""How a line is marked that must be seen before any number."""


def write_page(results: RunData, path: str | Path, comparisons: Sequence[Comparison] = ()) -> Path:
    """Write the report of an evaluation to a file, and give its path.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> write_page(Results.from_readings((), n_rows=0), Path(mkdtemp()) / "report.html").name
    'report.html'
    """
    path = Path(path)
    try:
        path.write_text(page_html(results, comparisons), encoding="utf-8")
    except OSError as error:
        msg = f"cannot write the report to {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    return path


def page_html(results: RunData, comparisons: Sequence[Comparison] = ()) -> str:
    """Make the report of an evaluation: what was found, values, curves, costs, folds, pairs and what was run.

    Examples
    --------
    >>> "This run was cut short" in page_html(Results.from_readings((), n_rows=250, complete=False))
    True
    """
    shown, learners = panels(results), results.learners
    curves = curve_charts(results, learners)
    cost, balance, label = cost_chart(results), balance_chart(results), label_chart(results)
    difference = difference_chart(results)
    pairs_note = (
        "Broken line: no difference. Once a band is clear of it, the difference is real, however often one looked."
    )
    labels_note = results.feedback.sentence if results.feedback is not None else ""
    body = join_markup(
        header(title_of(results), lead(results)),
        banners(results),
        verdicts_section(comparisons),
        words_section(findings(results), limits(results, comparisons, warnings=False)),
        finals_section(shown, learners),
        curves_section(curves, [results]),
        chart_section("Differences along the run", difference, note=pairs_note),
        alarms_section(results),
        confusion_section(results),
        chart_section("Classes and labels", balance, label, note=labels_note),
        costs_section(results, cost),
        folds_section(shown, learners),
        matrix_section(comparisons),
        pairs_section(comparisons),
        run_section(results.description),
    )
    # In the order in which their figures stand in the page.
    charts = [*curves, *(chart for chart in (difference, balance, label, cost) if chart is not None)]
    confusion = confusion_data(results)
    return whole_page(title_of(results), body, learners, charts, [marks_of(results)], confusion)


def whole_page(
    title: str,
    body: Markup,
    learners: Sequence[str],
    charts: Sequence[Chart],
    runs: Sequence[Mapping[str, object]],
    confusion: Mapping[str, object] | None = None,
) -> str:
    """Put a page together: its body, its style and script, and what the script draws.

    Examples
    --------
    >>> whole_page("mine", Markup("<p>all</p>"), (), (), ()).startswith("<!doctype html>")
    True
    """
    style = _asset("uPlot.min.css") + _asset("page.css")
    script = f"/*! uPlot\n{_asset('uPlot.LICENSE')}\n*/\n{_asset('uPlot.iife.min.js')}\n{_asset('page.js')}"
    limit = point_limit(charts)
    data = {
        "learners": [make_printable(learner) for learner in learners],
        "dashes": DASHES,
        "colours": len(COLOURS),
        "runs": list(runs),
        "charts": [chart.data(limit) for chart in charts],
        "confusion": confusion,
    }
    return Template(_asset("page.html")).substitute(
        title=join_markup(title, " – streamgauge"),  # noqa: RUF001
        policy=f"default-src 'none'; img-src data:; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        body=body,
        data=_json(data),
        script=script,
    )


def marks_of(results: RunData, learners: Sequence[str] | None = None) -> dict[str, object]:
    """Gather what is marked on every curve of a run: true drifts, alarms, and rows whose labels are hidden.

    Examples
    --------
    >>> marks_of(Results.from_readings((), n_rows=0))
    {'drifts': [], 'alarms': [], 'hidden': []}
    """
    names = list(results.learners if learners is None else learners)
    alarms = [[row, names.index(results.learners[at]), kind] for row, at, kind in alarm_marks(results)]
    drifts = [[drift.position, drift.stop] for drift in results.drifts]
    return {"drifts": drifts, "alarms": alarms, "hidden": [list(span) for span in hidden_spans(results)]}


def header(title: str, words: str) -> Markup:
    """Head a page.

    Examples
    --------
    >>> header("tree", "Evaluated on 10 rows.")[:8]
    '<header>'
    """
    brand = tag("p", "streamgauge", tag("span", " evaluation report"), class_="brand")
    return tag("header", brand, tag("h1", title), tag("p", words, class_="lead"))


def banners(results: RunData) -> Markup:
    """Tell what must be known before any number: that a run was cut short, that a learner failed.

    Examples
    --------
    >>> banners(Results.from_readings((), n_rows=0))
    ''
    """
    told = [
        tag("p", tag("strong", "A learner failed. "), f"{failure}; it has no readings from there on.", **BANNER)
        for failure in results.failures
    ]
    if not results.complete:
        whole = part_of(results.description, "stream").get("n_rows")
        of_whole = f" of {whole:,}" if isinstance(whole, int) and whole > results.n_rows else ""
        text = f" It read {results.n_rows:,}{of_whole} rows; every number and verdict here is of these rows only."
        told.insert(0, tag("p", tag("strong", "This run was cut short."), text, **BANNER))
    return join_markup(*told)


def curves_section(charts: Sequence[Chart], runs: Sequence[RunData]) -> Markup:
    """Put the curves of runs under a heading, and say how to read them.

    Examples
    --------
    >>> "There are no readings." in curves_section([], [])
    True
    """
    if not charts:
        return tag("p", "There are no readings.", class_="note")
    n_drifts = sum(len(results.drifts) for results in runs)
    hints = {
        "Lines are means over folds; bands reach from the lowest to the highest fold.": any(c.bands for c in charts),
        f"Grey marks: {count(n_drifts, 'true drift')} of the stream.": n_drifts > 0,
        "Triangles: alarms of detectors on a learner's errors, pale where they only warn.": any(
            results.alarms for results in runs
        ),
        "Hatched: rows whose labels the learners never see, paler where that holds for some of them only.": any(
            hidden_spans(results) for results in runs
        ),
        "Long curves are thinned: neighbouring readings share their least and greatest value.": any(
            len(chart.rows) > point_limit(charts) for chart in charts
        ),
        "Point to read values, drag to zoom, double-click to zoom out; choose a name to hide or show it.": True,
    }
    noscript = tag("p", "The curves need JavaScript; every final value is in the tables.", class_="note")
    return section(
        "Curves",
        tag("div", *(figure_of(chart) for chart in charts), class_="charts"),
        tag("p", " ".join(hint for hint, holds in hints.items() if holds), class_="note screen"),
        tag("noscript", noscript),
    )


def _asset(name: str) -> str:
    return files("streamgauge.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Name an inline script or style in a content security policy, which then allows it and no other."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(data: object) -> str:
    """Write JSON that no text in it can break out of the script element."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
