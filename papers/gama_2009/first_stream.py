"""Figures 8 and 9: the Page-Hinkley test on one stream of SEA concepts, on the error rate over everything."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.findings import Claim, Done, Entry, Experiment, Finding, Piece, Table
from papers.gama_2009.page_hinkley import DELTA, EVERYTHING, STREAM, THRESHOLD, false_alarms, watch
from papers.published import published
from papers.rowwise import RowLosses
from streamgauge.backends import Backend
from streamgauge.drift import AlarmScore, score_alarms
from streamgauge.streams import drifts_of, paper_stream

__all__ = ["FIRST_STREAM", "find_figure_8", "find_figure_9", "statistic_of"]

EVERY = 50
"""Rows between the points of the curves."""


def statistic_of(rate: NDArray[np.float64], factor: float = 1.0) -> NDArray[np.float64]:
    """Give the Page-Hinkley statistic of an error rate after each row, as the paper defines it.

    Examples
    --------
    >>> statistic_of(np.array([0.0, 0.0, 1 / 3, 0.5])).round(3).tolist()
    [0.0, 0.0, 0.221, 0.512]
    """
    from scipy.signal import lfilter  # noqa: PLC0415

    mean = np.cumsum(rate) / np.arange(1, len(rate) + 1)
    summed = lfilter([1.0], [1.0, -factor], rate - mean - DELTA)
    return np.asarray(summed - np.minimum.accumulate(summed))


def _first_stream(backend: Backend) -> dict[str, Any]:
    drifts = [drift.position for drift in drifts_of(paper_stream(STREAM, 1))]
    holds: dict[str, Any] = {"drifts": drifts, "runs": {}}
    for fading in (0.0, 1e-5, 1e-4):
        losses = RowLosses()
        alarms = watch(fading, 1, backend, [losses])[EVERYTHING]
        errors = ~losses.correct[EVERYTHING]
        rows = np.arange(1, len(errors) + 1)
        rate = np.cumsum(errors) / rows
        parts = np.split(rate, np.add(alarms, 1, dtype=np.int64))
        statistic = np.concatenate([statistic_of(part, 1.0 - fading) for part in parts])
        shown = {"rate": rate[EVERY - 1 :: EVERY].tolist(), "statistic": statistic[EVERY - 1 :: EVERY].tolist()}
        holds["runs"][f"{fading:g}"] = {"alarms": alarms, **shown}
    return {"rows": rows[EVERY - 1 :: EVERY].tolist(), **holds}


FIRST_STREAM = Experiment("gama-2009-first-stream", lambda _: [Piece("curves", _first_stream)], edition=2)


def find_figure_8(done: Done) -> Finding:
    """Tell how the test finds the first drift."""
    holds = done["curves"]
    plain = holds["runs"]["0"]
    rows, statistic, rate = (np.array(column) for column in (holds["rows"], plain["statistic"], plain["rate"]))
    drift, alarm = holds["drifts"][0], plain["alarms"][0]
    published_delay = published("gama-2009-table-2")["0"]["delays"][0]
    table = Table(
        "The first drift, without fading",
        ("figure", "ours", "published"),
        (("drift at row", drift, 15_000), ("alarm at row", alarm, 15_000 + published_delay)),
    )
    before = statistic[rows <= drift]
    between = (rows > drift) & (rows <= alarm)
    claims = (
        Claim("before the drift the statistic stays below the threshold", bool(before.max() < THRESHOLD)),
        Claim("after the drift the statistic rises until the alarm", bool(statistic[between][-1] > 0.9 * THRESHOLD)),
        Claim("the error rate rises, too", bool(rate[between][-1] > rate[rows <= drift][-1])),
    )

    def draw(figure: Any) -> None:  # noqa: ANN401
        shown = rows <= max(drift + 3_000, alarm + 500)
        top, bottom = figure.subplots(2, 1, sharex=True)
        top.plot(rows[shown], rate[shown], linewidth=1)
        top.set(ylabel="error rate", title="naive Bayes on SEA, first drift")
        bottom.plot(rows[shown], statistic[shown], linewidth=1, label="Page-Hinkley statistic")
        bottom.axhline(THRESHOLD, c="grey", linestyle=":", label="threshold")
        for axis in (top, bottom):
            axis.axvline(drift, c="C3", linestyle="--", linewidth=1)
            axis.axvline(alarm, c="C2", linewidth=1)
        bottom.set(xlabel="rows")
        bottom.legend(fontsize=8)

    notes = ("Published only as a picture; the row of its alarm is that of Table 2. Ours is one generated stream.",)
    data = Table(
        "curves",
        ("row", "error rate", "statistic"),
        tuple(zip(holds["rows"], plain["rate"], plain["statistic"], strict=True)),
    )
    return Finding("1 stream", (table,), draw, claims, notes, data, size=(8, 4.5))


def find_figure_9(done: Done) -> Finding:
    """Tell the delays on one stream without and with fading."""
    holds = done["curves"]
    known, drifts = published("gama-2009-table-2"), holds["drifts"]
    found = [
        score_alarms(of_run["alarms"], drifts, n_rows=holds["rows"][-1], max_delay=holds["rows"][-1])
        for of_run in holds["runs"].values()
    ]
    rows: list[tuple[Entry, ...]] = []
    for fading, scored in zip(holds["runs"], found, strict=True):
        cells = zip(scored.delays, known[fading]["delays"], strict=True)
        texts = [f"{'missed' if ours is None else f'{ours:,}'} ({printed:,})" for ours, printed in cells]
        rows.append((float(fading), *texts, f"{sum(false_alarms(scored))} ({sum(known[fading]['false_alarms'])})"))
    heads = tuple(f"drift at {drift:,}" for drift in drifts)
    table = Table("Delays on one stream, ours (published)", ("1 - factor", *heads, "false alarms"), tuple(rows))
    draw = partial(_draw_runs, holds)
    notes = (
        "One generated stream beside one of the authors'; means over many are in gama-2009-table-2.",
        "After an alarm the learner and the test start anew; the error rate goes on over everything.",
    )
    data = [
        (float(fading), *row)
        for fading, one in holds["runs"].items()
        for row in zip(holds["rows"], one["rate"], one["statistic"], strict=True)
    ]
    curves = Table("curves", ("1 - factor", "row", "error rate", "statistic"), tuple(data))
    return Finding("1 stream", (table,), draw, _claims(found), notes, curves, size=(8, 6))


def _claims(found: Sequence[AlarmScore]) -> tuple[Claim, ...]:
    """Tell what is claimed of the alarms on one stream, from those without fading to those with most."""
    n_false = [sum(false_alarms(scored)) for scored in found]
    delays = np.array([scored.delays for scored in found], dtype=np.float64)
    sooner = bool(np.all(np.diff(delays, axis=0) < 0))  # which no difference to a missed one, NaN, is
    return (
        Claim("more fading finds each of the drifts sooner, and none is missed", sooner),
        Claim("false alarms only with a factor of 1 - 1e-4", n_false[-1] > 0 == sum(n_false[:-1])),
    )


def _draw_runs(holds: Mapping[str, Any], figure: Any) -> None:  # noqa: ANN401
    for axis, (fading, of_run) in zip(
        figure.subplots(3, 1, sharex=True, sharey=True), holds["runs"].items(), strict=True
    ):
        axis.plot(holds["rows"], of_run["rate"], linewidth=1)
        for drift in holds["drifts"]:
            axis.axvline(drift, c="C3", linestyle="--", linewidth=1)
        for alarm in of_run["alarms"]:
            axis.axvline(alarm, c="C2", linewidth=1)
        axis.set(ylabel="error rate", ylim=(0.1, 0.2), title="no fading" if fading == "0" else f"1 - factor = {fading}")
    axis.set(xlabel="rows; drifts are dashed, alarms are not")
