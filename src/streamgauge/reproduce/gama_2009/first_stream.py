"""Figures 8 and 9: the Page-Hinkley test on one stream of SEA concepts."""

import itertools
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.drift import score_alarms
from streamgauge.groups import Backend
from streamgauge.reproduce.findings import Claim, Done, Entry, Experiment, Finding, Piece, Table
from streamgauge.reproduce.gama_2009.page_hinkley import DELTA, MAX_DELAY, STREAM, THRESHOLD, watch
from streamgauge.reproduce.published import published
from streamgauge.streams import drifts_of, named

__all__ = ["FIRST_STREAM", "find_figure_8", "find_figure_9", "statistic_of"]

EVERY = 50
"""Rows between the points of the curves."""


def statistic_of(errors: NDArray[np.bool_], factor: float = 1.0) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give the error rate so far and the Page-Hinkley statistic of it, after each row, as the paper defines them.

    Examples
    --------
    >>> rate, statistic = statistic_of(np.array([False, False, True, True]))
    >>> rate.round(3).tolist(), statistic.round(3).tolist()
    ([0.0, 0.0, 0.333, 0.5], [0.0, 0.0, 0.221, 0.512])
    """
    from scipy.signal import lfilter  # noqa: PLC0415

    counts = np.arange(1, len(errors) + 1)
    rate = np.cumsum(errors) / counts
    mean = np.cumsum(rate) / counts
    summed = lfilter([1.0], [1.0, -factor], rate - mean - DELTA)
    return rate, summed - np.minimum.accumulate(summed)


def _first_stream(backend: Backend) -> dict[str, Any]:
    drifts = [drift.position for drift in drifts_of(named(STREAM, 1))]
    holds: dict[str, Any] = {"drifts": drifts, "runs": {}}
    for fading in (0.0, 1e-5, 1e-4):
        alarms, errors = watch(fading, 1, backend)
        edges = [0, *(alarm + 1 for alarm in alarms), len(errors)]
        parts = [statistic_of(errors[low:high], 1.0 - fading) for low, high in itertools.pairwise(edges) if low < high]
        rate, statistic = (np.concatenate(part)[EVERY - 1 :: EVERY].tolist() for part in zip(*parts, strict=True))
        holds["runs"][f"{fading:g}"] = {"alarms": alarms, "rate": rate, "statistic": statistic}
    return {"rows": list(range(EVERY, len(errors) + 1, EVERY)), **holds}


FIRST_STREAM = Experiment("gama-2009-first-stream", lambda _: [Piece("curves", _first_stream)])


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
    first: list[int | None] = []
    rows: list[tuple[Entry, ...]] = []
    for fading, of_run in holds["runs"].items():
        scored = score_alarms(of_run["alarms"], drifts, n_rows=holds["rows"][-1], max_delay=MAX_DELAY)
        theirs = known[fading]["delays"]
        first.append(scored.delays[0])
        cells = zip(scored.delays, theirs, strict=False)
        texts = [f"{'missed' if ours is None else f'{ours:,}'} ({printed:,})" for ours, printed in cells]
        rows.append((float(fading), *texts, scored.n_false))
    heads = tuple(f"drift at {drift:,}" for drift in drifts)
    table = Table("Delays on one stream, ours (published)", ("1 - factor", *heads, "false alarms"), tuple(rows))
    known_first = [delay for delay in first if delay is not None]
    sooner = len(known_first) == len(first) and known_first == sorted(known_first, reverse=True)
    claims = (Claim("more fading finds the first drift sooner", sooner),)

    draw = partial(_draw_runs, holds)
    notes = (
        "One generated stream beside one of the authors'; means over many are in gama-2009-table-2.",
        "After an alarm the learner and its error rate start anew, which is why the rate leaps there.",
    )
    data = [
        (float(fading), *row)
        for fading, one in holds["runs"].items()
        for row in zip(holds["rows"], one["rate"], one["statistic"], strict=True)
    ]
    curves = Table("curves", ("1 - factor", "row", "error rate", "statistic"), tuple(data))
    return Finding("1 stream", (table,), draw, claims, notes, curves, size=(8, 6))


def _draw_runs(holds: Mapping[str, Any], figure: Any) -> None:  # noqa: ANN401
    for axis, (fading, of_run) in zip(
        figure.subplots(3, 1, sharex=True, sharey=True), holds["runs"].items(), strict=True
    ):
        axis.plot(holds["rows"], of_run["rate"], linewidth=1)
        for drift in holds["drifts"]:
            axis.axvline(drift, c="C3", linestyle="--", linewidth=1)
        for alarm in of_run["alarms"]:
            axis.axvline(alarm, c="C2", linewidth=1)
        axis.set(ylabel="error rate", ylim=(0, 0.4), title="no fading" if fading == "0" else f"1 - factor = {fading}")
    axis.set(xlabel="rows; drifts are dashed, alarms are not")
