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
from streamgauge._format.text import count, make_printable
from streamgauge.records import RunData
from streamgauge.reports.alarms import build_alarms_section, list_alarm_marks
from streamgauge.reports.calibration import build_calibration_section
from streamgauge.reports.charts import (
    Chart,
    build_balance_chart,
    build_cost_chart,
    build_curve_charts,
    build_difference_charts,
    build_figure,
    build_label_chart,
    compute_point_limit,
    round_times,
)
from streamgauge.reports.confusion import build_confusion_section, collect_confusion_data
from streamgauge.reports.costs import build_costs_section
from streamgauge.reports.findings import list_findings, list_limitations
from streamgauge.reports.headline import write_headline
from streamgauge.reports.label_estimates import build_estimates_section
from streamgauge.reports.live_sections import build_live_section, build_model_verdicts_section
from streamgauge.reports.ranked import build_leading_grids
from streamgauge.reports.rankings import build_p_matrix_section
from streamgauge.reports.sections import (
    build_chart_section,
    build_comparisons_section,
    build_configuration_section,
    build_finals_section,
    build_findings_section,
    build_folds_section,
    build_grid_section,
    build_pairs_section,
    build_section,
    fold_sections,
)
from streamgauge.reports.series import list_series
from streamgauge.reports.title import build_title, describe_run, get_part
from streamgauge.reports.unlabelled_spans import find_unlabelled_spans
from streamgauge.significance import Comparison
from streamgauge.streams.output_files import replace_atomically

__all__ = [
    "assemble_page",
    "build_banners",
    "build_curves_section",
    "build_header",
    "collect_marks",
    "page_html",
    "write_page",
]

BANNER = {"class_": "banner", "role": "status"}
"""Attributes of a line that must be read before any number."""


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
    >>> "This run was cut short" in page_html(RunData.from_readings((), n_rows=250, complete=False))
    True
    """
    all_series, learners = list_series(results), results.learners
    curves = build_curve_charts(results, learners)
    cost, balance, label = build_cost_chart(results), build_balance_chart(results), build_label_chart(results)
    differences = build_difference_charts(results)
    labels_note = results.feedback.sentence if results.feedback is not None else ""
    body = join_markup(
        build_header(build_title(results), describe_run(results)),
        build_banners(results),
        build_headline(write_headline(results, comparisons)),
        build_model_verdicts_section(results.model_verdicts),
        *(build_grid_section(grid, learners) for grid in build_leading_grids(results, comparisons)),
        build_finals_section(all_series, learners),
        build_comparisons_section(comparisons),
        build_curves_section(curves, [results]),
        build_live_section(results, differences),
        build_alarms_section(results),
        build_confusion_section(results),
        build_calibration_section(results, learners),
        build_chart_section("Classes and labels", balance, label, note=labels_note),
        build_estimates_section(results.label_estimates),
        build_costs_section(results, cost),
        build_folds_section(all_series, learners),
        build_findings_section(
            list_findings(results, comparisons, pairs=False), list_limitations(results, comparisons, warnings=False)
        ),
        fold_sections("All tests and p-values", build_p_matrix_section(comparisons), build_pairs_section(comparisons)),
        build_configuration_section(results.description),
    )
    # In the order of their figures on the page.
    charts = [*curves, *differences, *(chart for chart in (balance, label, cost) if chart is not None)]
    return assemble_page(
        build_title(results), body, learners, charts, [collect_marks(results)], collect_confusion_data(results)
    )


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
    style = _read_asset("uPlot.min.css") + _read_asset("page.css")
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


def collect_marks(results: RunData, learners: Sequence[str] | None = None) -> dict[str, object]:
    """Return the marks on the curves of a run: true drifts, alarms, and spans of rows without labels.

    If the rows carry times, the same marks follow over time; times between two readings are interpolated.

    Examples
    --------
    >>> collect_marks(RunData.from_readings((), n_rows=0))
    {'drifts': [], 'alarms': [], 'hidden': []}
    """
    names = list(results.learners if learners is None else learners)
    alarms = [[row, names.index(results.learners[index]), kind] for row, index, kind in list_alarm_marks(results)]
    drifts = [[drift.position, drift.stop] for drift in results.drifts]
    hidden = [list(span) for span in find_unlabelled_spans(results)]
    marks: dict[str, object] = {"drifts": drifts, "alarms": alarms, "hidden": hidden}
    if not results.has_time_axis:
        return marks

    def find(rows: list[int]) -> list[float]:
        return round_times(results.find_times(rows))

    timed = {
        "drifts": [find(ends) for ends in drifts],
        "alarms": [[*find([row]), *rest] for row, *rest in alarms],
        "hidden": [[*find([start, stop]), whole] for start, stop, whole in hidden],
    }
    return {**marks, "timed": timed}


def build_header(title: str, description: str) -> Markup:
    """Return the header of a page.

    Examples
    --------
    >>> build_header("tree", "Evaluated on 10 rows.")[:8]
    '<header>'
    """
    brand = tag("p", "streamgauge", tag("span", " evaluation report"), class_="brand")
    return tag("header", brand, tag("h1", title), tag("p", description, class_="lead"))


def build_banners(results: RunData) -> Markup:
    """Return the warnings at the top of a page: a run that was cut short, learners that failed.

    Examples
    --------
    >>> build_banners(RunData.from_readings((), n_rows=0))
    ''
    """
    banners = [
        tag("p", tag("strong", "A learner failed. "), f"{failure}; it has no later readings.", **BANNER)
        for failure in results.failures
    ]
    if not results.complete:
        n_planned = get_part(results.description, "stream").get("n_rows")
        planned = f" of {n_planned:,}" if isinstance(n_planned, int) and n_planned > results.n_rows else ""
        text = f" It read {results.n_rows:,}{planned} rows; all numbers and verdicts are for these rows only."
        banners.insert(0, tag("p", tag("strong", "This run was cut short."), text, **BANNER))
    return join_markup(*banners)


def build_headline(sentences: Sequence[str]) -> Markup:
    """Return the answers of a run, the first thing on its page.

    Examples
    --------
    >>> build_headline(["Best: tree."])
    '<div class="headline"><p>Best: tree.</p></div>'
    """
    return tag("div", *(tag("p", sentence) for sentence in sentences), class_="headline") if sentences else Markup()


def build_curves_section(charts: Sequence[Chart], runs: Sequence[RunData]) -> Markup:
    """Return the section with the curves of runs and an explanation of their marks.

    Examples
    --------
    >>> "There are no readings." in build_curves_section([], [])
    True
    """
    if not charts:
        return tag("p", "There are no readings.", class_="note")
    n_drifts = sum(len(results.drifts) for results in runs)
    hints = {
        "Lines are means over folds; bands range from the lowest to the highest fold.": any(c.bands for c in charts),
        f"Grey marks: {count(n_drifts, 'true drift')} of the stream.": n_drifts > 0,
        "Triangles: alarms of detectors on a learner's errors, pale for warnings.": any(
            results.alarms for results in runs
        ),
        "Hatched: rows whose labels the learners never see, paler if some of them have labels.": any(
            find_unlabelled_spans(results) for results in runs
        ),
        "Over time, marks between two readings are at interpolated times.": _has_switch(runs)
        and any(results.alarms or results.drifts for results in runs),
        "Long curves are downsampled to the minimum and maximum of neighbouring readings.": any(
            len(chart.rows) > compute_point_limit(charts) for chart in charts
        ),
        "Hover to read values, drag to zoom, double-click to reset; click a name to hide or show it.": True,
    }
    noscript = tag("p", "The curves need JavaScript; all final values are in the tables.", class_="note")
    return build_section(
        "Curves",
        _build_switch() if _has_switch(runs) else Markup(),
        tag("div", *(build_figure(chart) for chart in charts), class_="charts"),
        tag("p", " ".join(hint for hint, holds in hints.items() if holds), class_="note screen"),
        tag("noscript", noscript),
    )


def _has_switch(runs: Sequence[RunData]) -> bool:
    return bool(runs) and all(results.has_time_axis for results in runs)


def _build_switch() -> Markup:
    """Return the buttons that switch all charts between rows and time."""
    buttons = [
        tag("button", text, type="button", data_x=x, aria_pressed=pressed)
        for x, text, pressed in (("time", "time", "true"), ("row", "rows", "false"))
    ]
    return tag("div", tag("span", "Over"), *buttons, class_="switch screen", role="group", aria_label="x axis")


def _read_asset(name: str) -> str:
    return files("streamgauge.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _hash_source(content: str) -> str:
    """Return the hash of an inline script or style for the content security policy, which allows no other."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _to_script_json(data: object) -> str:
    """Return JSON whose strings cannot close the script element."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
