"""Marks on the curves of a page: drifts, alarms, hidden labels, their legend, and the switch between rows and time."""

from collections.abc import Sequence

from streamgauge._format.markup import Markup, tag
from streamgauge._format.text import count
from streamgauge.records import RunData
from streamgauge.reports.alarms import list_alarm_marks
from streamgauge.reports.charts import round_times
from streamgauge.reports.model import Drawing
from streamgauge.reports.unlabelled_spans import find_unlabelled_spans

__all__ = ["collect_marks", "draw_marks_legend", "draw_switch"]


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


def draw_marks_legend(results: RunData) -> Drawing:
    """Return the legend of the marks on the curves of a run, and how to use the curves.

    Examples
    --------
    >>> "true drift" in draw_marks_legend(RunData.from_readings((), n_rows=0)).markup
    False
    """
    kinds = {alarm.kind for alarm in results.alarms}
    spans = find_unlabelled_spans(results)
    n_drifts = count(len(results.drifts), "true drift")
    line = tag("line", x1=16, y1=0, x2=16, y2=14, class_="mark-drift")
    strokes = [tag("line", x1=x, y1=14, x2=x + 14, y2=0, class_="mark-hidden") for x in (2, 10, 18)]
    entries = [
        (bool(results.drifts), [line], f"{n_drifts} of the stream"),
        ("drift" in kinds, [_draw_triangle("mark-alarm")], "alarm of a detector, in the colour of the learner"),
        ("warning" in kinds, [_draw_triangle("mark-alarm mark-warning")], "warning of a detector"),
        (bool(spans), strokes, "rows whose labels the learners never see, paler if some of them have labels"),
    ]
    items = [tag("li", _draw_sign(marks), tag("span", text)) for is_there, marks, text in entries if is_there]
    legend = tag("ul", *items, class_="keys") if items else Markup()
    hint = tag("p", "Hover to read values, drag to zoom, double-click to reset; click a name to hide or show it.")
    missing = tag("p", "The curves need JavaScript; all final values are in the tables.", class_="note")
    return Drawing(tag("div", legend, tag("div", hint, class_="note screen"), tag("noscript", missing), class_="below"))


def _draw_triangle(kind: str) -> Markup:
    return tag("polygon", points="16,3 10,13 22,13", class_=kind)


def _draw_sign(marks: Sequence[Markup]) -> Markup:
    return tag("svg", *marks, class_="key sign", viewBox="0 0 32 14", aria_hidden="true")


def draw_switch() -> Drawing:
    """Return the buttons that switch all charts between rows and time.

    Examples
    --------
    >>> draw_switch().markup.count("<button")
    2
    """
    buttons = [
        tag("button", text, type="button", data_x=x, aria_pressed=pressed)
        for x, text, pressed in (("time", "time", "true"), ("row", "rows", "false"))
    ]
    switch = tag("div", tag("span", "Over"), *buttons, class_="switch screen", role="group", aria_label="x axis")
    return Drawing(switch)
