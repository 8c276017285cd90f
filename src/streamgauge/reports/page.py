"""The report page: one HTML file that needs nothing else, neither a server nor a network."""

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.markup import Markup, joined, tag
from streamgauge.palette import COLOURS, DASHES
from streamgauge.records import Results
from streamgauge.reports.alarms import alarm_marks, alarms_section
from streamgauge.reports.comparisons import Comparison
from streamgauge.reports.curves import curves_of, thinned
from streamgauge.reports.keys import key
from streamgauge.reports.leads import lead, part_of, title_of
from streamgauge.reports.panels import Panel, panels
from streamgauge.reports.sections import (
    finals_section,
    folds_section,
    pairs_section,
    run_section,
    verdicts_section,
)
from streamgauge.wording import RATE, count, printable, titled

__all__ = ["page_html", "write_page"]

MOST_POINTS = 2_000
"""How many points a curve may have: more than a screen has columns."""

PAGE_POINTS = 40_000
"""How many points all curves of a page share, so that it stays below about 1 MB."""

FEWEST_POINTS = 200
"""How many points a curve may have however many curves there are."""

BANNER = {"class_": "banner", "role": "status"}
"""How a line is marked that must be seen before any number."""


def write_page(results: Results, path: str | Path, comparisons: Sequence[Comparison] = ()) -> Path:
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


def page_html(results: Results, comparisons: Sequence[Comparison] = ()) -> str:
    """Make the report of an evaluation: verdicts, values, curves, folds, pairs and what was run, in that order.

    Examples
    --------
    >>> "This run was cut short" in page_html(Results.from_readings((), n_rows=250, complete=False))
    True
    """
    shown = panels(results)
    learners = results.learners
    title = title_of(results)
    style = _asset("uPlot.min.css") + _asset("page.css")
    script = f"/*! uPlot\n{_asset('uPlot.LICENSE')}\n*/\n{_asset('uPlot.iife.min.js')}\n{_asset('page.js')}"
    body = joined(
        _header(title, lead(results)),
        _banner(results),
        _failures(results),
        verdicts_section(comparisons),
        finals_section(shown, learners),
        _curves_section(shown, learners, len(results.drifts), len(results.alarms)),
        alarms_section(results),
        folds_section(shown, learners),
        pairs_section(comparisons),
        run_section(results.description),
    )
    return Template(_asset("page.html")).substitute(
        title=joined(title, " – streamgauge"),  # noqa: RUF001
        policy=f"default-src 'none'; img-src data:; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        body=body,
        data=_json({**_data(shown, learners), **_marks(results)}),
        script=script,
    )


def _marks(results: Results) -> dict[str, object]:
    """Gather what is marked on every curve."""
    return {"drifts": [[d.position, d.stop] for d in results.drifts], "alarms": alarm_marks(results)}


def _asset(name: str) -> str:
    return files("streamgauge.reports").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    """Name an inline script or style in a content security policy, which then allows it and no other."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(data: object) -> str:
    """Write JSON that no text in it can break out of the script element."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _header(title: str, words: str) -> Markup:
    brand = tag("p", "streamgauge", tag("span", " evaluation report"), class_="brand")
    return tag("header", brand, tag("h1", title), tag("p", words, class_="lead"))


def _failures(results: Results) -> Markup:
    """Tell which learners failed, and where."""
    return joined(
        *(
            tag("p", tag("strong", "A learner failed. "), f"{failure}; it has no readings from there on.", **BANNER)
            for failure in results.failures
        )
    )


def _banner(results: Results) -> Markup:
    if results.complete:
        return Markup()
    whole = part_of(results.description, "stream").get("n_rows")
    of_whole = f" of {whole:,}" if isinstance(whole, int) and whole > results.n_rows else ""
    strong = tag("strong", "This run was cut short.")
    text = f" It read {results.n_rows:,}{of_whole} rows; every number and verdict here is of these rows only."
    return tag("p", strong, text, **BANNER)


def _curves_section(shown: Sequence[Panel], learners: Sequence[str], n_drifts: int, n_alarms: int) -> Markup:
    if not shown:
        return tag("p", "There are no readings.", class_="note")
    figures = joined(*(_figure(panel, learners) for panel in shown))
    folded = any(panel.n_folds > 1 for panel in shown)
    notes = [
        "Lines are means over folds; bands reach from the lowest to the highest fold." if folded else "",
        "Point to read values, drag to zoom, double-click to zoom out; choose a learner to hide or show it.",
    ]
    if n_drifts:
        notes.insert(1, f"Grey marks: {count(n_drifts, 'true drift')} of the stream.")
    if n_alarms:
        notes.insert(1, "Triangles: alarms of detectors on a learner's errors, pale where they only warn.")
    if any(len(panel.rows) > _limit(shown) for panel in shown):
        notes.insert(1, "Long curves are thinned: neighbouring readings share their least and greatest value.")
    return tag(
        "section",
        tag("h2", "Curves", id="curves"),
        tag("div", figures, class_="charts"),
        tag("p", " ".join(notes), class_="note screen"),
        tag("noscript", tag("p", "The curves need JavaScript; every final value is in the tables.", class_="note")),
        aria_labelledby="curves",
    )


def _figure(panel: Panel, learners: Sequence[str]) -> Markup:
    legend = (
        tag(
            "li",
            tag(
                "button",
                key(at),
                tag("span", name, class_="name"),
                tag("span", class_="value"),
                type="button",
                aria_pressed="true",
                data_learner=at,
            ),
        )
        for at, name in enumerate(learners)
        if name in panel.values
    )
    unit = titled("", panel.unit)
    caption = tag("figcaption", tag("b", panel.measure), f"{unit} over {panel.forgetting}")
    where = tag("p", class_="where")
    return tag("figure", caption, tag("div", class_="plot"), where, tag("ul", *legend, class_="legend"))


def _limit(shown: Sequence[Panel]) -> int:
    """Give the number of points a curve may have, fewer the more curves there are."""
    n_curves = sum(len(panel.values) for panel in shown)
    return min(MOST_POINTS, max(FEWEST_POINTS, PAGE_POINTS // max(n_curves, 1)))


def _data(shown: Sequence[Panel], learners: Sequence[str]) -> dict[str, object]:
    """Gather what the script draws."""
    charts = [_chart(panel, learners, _limit(shown)) for panel in shown]
    names = [printable(learner) for learner in learners]
    return {"learners": names, "dashes": DASHES, "colours": len(COLOURS), "charts": charts}


def _chart(panel: Panel, learners: Sequence[str], limit: int) -> dict[str, object]:
    rows, drawn = thinned(panel.rows, curves_of(panel), limit)
    folded = panel.n_folds > 1
    lines = [
        {
            "learner": at,
            "mean": _numbers(drawn[name].mean),
            **({"low": _numbers(drawn[name].low), "high": _numbers(drawn[name].high)} if folded else {}),
        }
        for at, name in enumerate(learners)
        if name in drawn
    ]
    return {
        "measure": printable(panel.measure),
        "forgetting": printable(panel.forgetting),
        "rate": panel.unit == RATE,
        "rows": rows.tolist(),
        "lines": lines,
    }


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    """Round to a thousandth of a percent; a gap is null."""
    return [value if math.isfinite(value) else None for value in np.round(values, 5).tolist()]
