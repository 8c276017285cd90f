"""Figures 8 and 9: the Page-Hinkley test of the error rate over all rows, on one stream of SEA concepts."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.curves import tabulate_curves
from papers.findings import Claim, Done, Entry, Experiment, Finding, Piece, Table
from papers.gama_2009.page_hinkley import DELTA, EVERYTHING, STREAM, THRESHOLD, count_false_alarms, watch
from papers.published import read_published
from papers.row_losses import RowLosses
from streamgauge.backends import Backend
from streamgauge.drift import AlarmScore, score_alarms
from streamgauge.streams import drifts_of, paper_stream

__all__ = ["FIRST_STREAM", "compute_statistic", "find_figure_8", "find_figure_9"]

EVERY = 50
"""Rows between the points of the curves."""


def compute_statistic(rate: NDArray[np.float64], factor: float = 1.0) -> NDArray[np.float64]:
    """Return the Page-Hinkley statistic of an error rate after each row, as the paper defines it.

    Examples
    --------
    >>> compute_statistic(np.array([0.0, 0.0, 1 / 3, 0.5])).round(3).tolist()
    [0.0, 0.0, 0.221, 0.512]
    """
    from scipy.signal import lfilter  # noqa: PLC0415

    mean = np.cumsum(rate) / np.arange(1, len(rate) + 1)
    summed = lfilter([1.0], [1.0, -factor], rate - mean - DELTA)
    return np.asarray(summed - np.minimum.accumulate(summed))


def _run_first_stream(backend: Backend) -> dict[str, Any]:
    drifts = [drift.position for drift in drifts_of(paper_stream(STREAM, 1))]
    result: dict[str, Any] = {"drifts": drifts, "runs": {}}
    for fading in (0.0, 1e-5, 1e-4):
        losses = RowLosses()
        alarms = watch(fading, 1, backend, [losses])[EVERYTHING]
        errors = ~losses.correct[EVERYTHING]
        rows = np.arange(1, len(errors) + 1)
        rate = np.cumsum(errors) / rows
        parts = np.split(rate, np.add(alarms, 1, dtype=np.int64))
        statistic = np.concatenate([compute_statistic(part, 1.0 - fading) for part in parts])
        curves = {"rate": rate[EVERY - 1 :: EVERY].tolist(), "statistic": statistic[EVERY - 1 :: EVERY].tolist()}
        result["runs"][f"{fading:g}"] = {"alarms": alarms, **curves}
    return {"rows": rows[EVERY - 1 :: EVERY].tolist(), **result}


FIRST_STREAM = Experiment("gama-2009-first-stream", lambda _: [Piece("curves", _run_first_stream)], edition=2)


def find_figure_8(done: Done) -> Finding:
    """Check how the test detects the first drift."""
    result = done["curves"]
    plain = result["runs"]["0"]
    rows, statistic, rate = (np.array(column) for column in (result["rows"], plain["statistic"], plain["rate"]))
    drift, alarm = result["drifts"][0], plain["alarms"][0]
    published_delay = read_published("gama-2009-table-2")["0"]["delays"][0]
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

    return Finding(
        basis="1 stream",
        tables=(table,),
        draw=draw,
        claims=claims,
        notes=(
            "Published only as a picture; the row of its alarm is taken from Table 2. Ours is one generated stream.",
        ),
        data=tabulate_curves({"row": result["rows"], "error rate": plain["rate"], "statistic": plain["statistic"]}),
        size=(8, 4.5),
    )


def find_figure_9(done: Done) -> Finding:
    """Compare the delays on one stream without and with fading."""
    result = done["curves"]
    published, drifts = read_published("gama-2009-table-2"), result["drifts"]
    scores = [
        score_alarms(curves["alarms"], drifts, n_rows=result["rows"][-1], max_delay=result["rows"][-1])
        for curves in result["runs"].values()
    ]
    rows: list[tuple[Entry, ...]] = []
    for fading, score in zip(result["runs"], scores, strict=True):
        theirs = published[fading]
        pairs = zip(score.delays, theirs["delays"], strict=True)
        delays = [f"{'missed' if ours is None else f'{ours:,}'} ({printed:,})" for ours, printed in pairs]
        rows.append((float(fading), *delays, f"{sum(count_false_alarms(score))} ({sum(theirs['false_alarms'])})"))
    heads = tuple(f"drift at {drift:,}" for drift in drifts)
    table = Table("Delays on one stream, ours (published)", ("1 - factor", *heads, "false alarms"), tuple(rows))
    data = [
        (float(fading), *row)
        for fading, curves in result["runs"].items()
        for row in zip(result["rows"], curves["rate"], curves["statistic"], strict=True)
    ]
    return Finding(
        basis="1 stream",
        tables=(table,),
        draw=partial(_draw_runs, result),
        claims=_check_alarms(scores),
        notes=(
            "One generated stream, compared with one of the authors'; gama-2009-table-2 has means over many.",
            "After an alarm the learner and the test are reset; the error rate continues over all rows.",
        ),
        data=Table("curves", ("1 - factor", "row", "error rate", "statistic"), tuple(data)),
        size=(8, 6),
    )


def _check_alarms(scores: Sequence[AlarmScore]) -> tuple[Claim, ...]:
    """Return the claims on the alarms of one stream, given its scores from no fading to most fading."""
    n_false = [sum(count_false_alarms(score)) for score in scores]
    delays = np.array([score.delays for score in scores], dtype=np.float64)
    sooner = bool(np.all(np.diff(delays, axis=0) < 0))  # False if a drift was missed: its delay is NaN
    return (
        Claim("more fading detects each drift sooner, and none is missed", sooner),
        Claim("false alarms only with a factor of 1 - 1e-4", n_false[-1] > 0 == sum(n_false[:-1])),
    )


def _draw_runs(result: Mapping[str, Any], figure: Any) -> None:  # noqa: ANN401
    for axis, (fading, curves) in zip(
        figure.subplots(3, 1, sharex=True, sharey=True), result["runs"].items(), strict=True
    ):
        axis.plot(result["rows"], curves["rate"], linewidth=1)
        for drift in result["drifts"]:
            axis.axvline(drift, c="C3", linestyle="--", linewidth=1)
        for alarm in curves["alarms"]:
            axis.axvline(alarm, c="C2", linewidth=1)
        axis.set(ylabel="error rate", ylim=(0.1, 0.2), title="no fading" if fading == "0" else f"1 - factor = {fading}")
    axis.set(xlabel="rows; drifts are dashed, alarms are not")
