"""Table 2: delays of the Page-Hinkley test at the drifts of the SEA concepts.

The test monitors the prequential error rate (the mean of all errors so far) of naive Bayes. The paper does not say what
happens to learner and error rate after an alarm. Here the learner is reset; otherwise a drift that lowers the error is
never detected. The error rate may cover everything ("we monitor the evolution of the error rate") or be reset as well:
both readings are run. An alarm detects the most recent drift; all but the first alarm after a drift are false.
"""

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.findings import Claim, Done, Entry, Experiment, Finding, Piece, Scale, Table
from papers.published import read_published
from papers.running import run
from streamgauge.backends import Backend
from streamgauge.drift import AlarmScore, OfMean, PageHinkley, score_alarms
from streamgauge.learners import DriftReset, NaiveBayes
from streamgauge.protocols import Recorder
from streamgauge.streams import drifts_of, paper_stream

__all__ = [
    "DELAYS",
    "EVERYTHING",
    "FADINGS",
    "SINCE_ALARM",
    "count_false_alarms",
    "find_delays",
    "score_stream",
    "select_delays",
    "watch",
]

Results = Sequence[Mapping[str, Any]]
"""Results of one reading, one for each of `FADINGS`."""
DELTA, THRESHOLD = 1e-3, 2.5
FADINGS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0.0)
"""1 - factor, as in the paper."""
N_STREAMS: dict[Scale, int] = {"tiny": 2, "quick": 100, "paper": 500}
STREAM, N_ROWS = "SEA(Gama)", 60_000
DRIFTS = ("first drift", "second drift", "third drift")
EVERYTHING, SINCE_ALARM = "error rate over everything", "error rate since the last alarm"
READINGS = {EVERYTHING: False, SINCE_ALARM: True}
"""The monitored value, and whether it is reset after an alarm."""


def watch(fading: float, seed: int, backend: Backend, recorders: Sequence[Recorder] = ()) -> dict[str, list[int]]:
    """Return the rows of the alarms on one stream for each reading; the learner is reset after each alarm."""
    test = PageHinkley(delta=DELTA, threshold=THRESHOLD, factor=1.0 - fading, direction="up")
    detectors = {reading: OfMean(test, restart) for reading, restart in READINGS.items()}
    learners = {
        reading: DriftReset(NaiveBayes(), detector, on_warning=False) for reading, detector in detectors.items()
    }
    # An equal detector outside the learner sees the same errors and is reset at the same rows: its alarms are recorded.
    options = {"detectors": detectors, "recorders": recorders, "every": N_ROWS, "backend": backend}
    alarms = run(paper_stream(STREAM, seed), learners, **options).alarms
    return {
        reading: [alarm.row for alarm in alarms if alarm.learner == alarm.detector == reading] for reading in READINGS
    }


def score_stream(fading: float, seed: int, backend: Backend) -> dict[str, AlarmScore]:
    """Score the alarms on one stream, for each reading."""
    drifts = drifts_of(paper_stream(STREAM, seed))
    # Any delay is allowed up to the next drift.
    return {
        reading: score_alarms(alarms, drifts, n_rows=N_ROWS, max_delay=N_ROWS)
        for reading, alarms in watch(fading, seed, backend).items()
    }


def select_delays(delays: Sequence[Sequence[float | None]], drift: int) -> NDArray[np.float64]:
    """Return the delays of one drift on every stream; NaN if it was missed.

    Examples
    --------
    >>> select_delays([(700, 900, 800), (600, None, 900)], 1).tolist()
    [900.0, nan]
    """
    return np.array([stream_delays[drift] for stream_delays in delays], dtype=np.float64)


def count_false_alarms(score: AlarmScore) -> list[int]:
    """Count the false alarms before each drift and after the last: all but the first after a drift.

    Examples
    --------
    >>> alarms = [300, 1_100, 1_200, 1_300, 2_100]
    >>> count_false_alarms(score_alarms(alarms, [1_000, 2_000], n_rows=3_000, max_delay=3_000))
    [1, 2, 0]
    """
    return [score.n_false, *(drift.n_repeated for drift in score.drifts)]


def _measure_delays(fading: float, n_streams: int, backend: Backend) -> dict[str, Any]:
    scores = [score_stream(fading, seed, backend) for seed in range(1, n_streams + 1)]
    return {
        reading: {
            "delays": [score[reading].delays for score in scores],
            "false_alarms": [count_false_alarms(score[reading]) for score in scores],
        }
        for reading in READINGS
    }


def _list_pieces(scale: Scale) -> list[Piece]:
    return [Piece(f"{fading:g}", partial(_measure_delays, fading, N_STREAMS[scale])) for fading in FADINGS]


DELAYS = Experiment("gama-2009-table-2", _list_pieces, edition=2)


def find_delays(done: Done) -> Finding:
    """Compare the delays of both readings with the published ones."""
    by_reading = {reading: [done[f"{fading:g}"][reading] for fading in FADINGS] for reading in READINGS}
    n = len(by_reading[EVERYTHING][0]["delays"])
    return Finding(
        basis=f"{n} streams of {N_ROWS:,} rows",
        tables=tuple(_build_table(reading, results) for reading, results in by_reading.items()),
        draw=partial(_draw_delays, by_reading),
        claims=(*_check_everything(by_reading[EVERYTHING]), _check_since_alarm(by_reading[SINCE_ALARM])),
        notes=_write_notes(n),
        data=_tabulate_delays(by_reading),
        size=(10, 4),
    )


def _build_table(reading: str, results: Results) -> Table:
    rows: list[tuple[Entry, ...]] = []
    for fading, result in zip(FADINGS, results, strict=True):
        printed = read_published("gama-2009-table-2")[f"{fading:g}"]
        delays = []
        for drift, theirs in enumerate(printed["delays"]):
            mean, deviation = _summarise_delays(result["delays"], drift)
            delays.append(f"{mean:,.0f} ±{deviation:,.0f} ({theirs:,}, {mean - theirs:+,.0f})")
        n_false = ", ".join(f"{mean:.2f}" for mean in np.mean(result["false_alarms"], axis=0))
        false_alarms = f"{n_false} ({', '.join(map(str, printed['false_alarms']))})"
        n_missed = sum(delay is None for stream_delays in result["delays"] for delay in stream_delays)
        rows.append((fading, *delays, false_alarms, n_missed, _count_complete(result)))
    n = len(results[0]["delays"])
    counts = (f"missed, of {3 * n:,}", f"streams with all drifts detected, of {n:,}")
    false_head = "false alarms before each drift and after the last, per stream (published)"
    title = f"With the {reading}: mean delay ± standard deviation (published, difference)"
    return Table(title, ("1 - factor", *DRIFTS, false_head, *counts), tuple(rows))


def _check_everything(results: Results) -> tuple[Claim, ...]:
    n_false = [int(np.sum(result["false_alarms"])) for result in results]
    n, n_complete = len(results[0]["delays"]), [_count_complete(result) for result in results]
    return (
        Claim(
            f"{EVERYTHING}: more fading detects each drift sooner (neighbours may differ by a standard error)",
            all(_do_delays_grow(results, drift) for drift in range(len(DRIFTS))),
        ),
        Claim(
            f"{EVERYTHING}: false alarms only with a factor of 1 - 1e-4; here {n_false[0]}, and {sum(n_false[1:])}",
            n_false[0] > 0 == sum(n_false[1:]),
        ),
        Claim(
            f"{EVERYTHING}: hardly any drift is missed; all are detected on at least 97 of 100 streams (here"
            f" {n_complete[0]} of {n}), with less fading than 1e-4 on 99 (here {min(n_complete[1:])} of {n})",
            n_complete[0] >= 0.97 * n and min(n_complete[1:]) >= 0.99 * n,
        ),
    )


def _do_delays_grow(results: Results, drift: int) -> bool:
    """Return whether the delays of a drift grow from each fading to the next weaker one, on the same streams."""
    delays = [select_delays(result["delays"], drift) for result in results]

    def compare(sooner: NDArray[np.float64], later: NDArray[np.float64]) -> tuple[float, float]:
        both = (later - sooner)[~np.isnan(later - sooner)]
        return (float(both.mean()), float(both.std() / np.sqrt(len(both)))) if len(both) else (np.nan, np.nan)

    neighbours = [compare(*pair) for pair in itertools.pairwise(delays)]
    mean, error = compare(delays[0], delays[-1])
    return mean > 3 * error and all(mean >= -error for mean, error in neighbours)


def _check_since_alarm(results: Results) -> Claim:
    inside = []
    for fading, result in zip(FADINGS, results, strict=True):
        for drift, theirs in enumerate(read_published("gama-2009-table-2")[f"{fading:g}"]["delays"]):
            mean, deviation = _summarise_delays(result["delays"], drift)
            inside.append(abs(mean - theirs) <= 2 * deviation)
    text = f"{SINCE_ALARM}: published delays lie within two standard deviations of our means"
    return Claim(f"{text}; here {sum(inside)} of {len(inside)}", sum(inside) >= 0.9 * len(inside))


def _write_notes(n: int) -> tuple[str, ...]:
    return (
        f"The paper reports a single stream. Ours are means over {n} streams generated from its description; the"
        " standard deviation shows how far a single stream may lie from them.",
        "The paper does not say what happens to learner and error rate after an alarm. In both readings the learner is"
        " reset. Over everything, false alarms occur where the paper has them; the second and third drift are detected"
        " later than published, since the mean of many rows moves slowly. Since the last alarm, delays are closest to"
        " the published ones; false alarms occur with every factor, most of them 31 rows after an alarm, as soon as"
        " the test can raise one: an error rate over so few rows rises by chance.",
        "A drift is missed if no alarm comes before the next one; means are over detected drifts. The paper's run"
        " misses none; over many streams a miss is rare, not impossible. With strong fading, a false alarm shortly"
        " before a drift leaves a young learner that hardly suffers from it (streams 36 and 46). With weak fading, an"
        " error rate that started high must first climb above its own mean: in stream 95, where the first drift is"
        " detected last or not at all, it was 0.017 below its mean at this drift, the most of streams 1 to 100 (mean"
        " 0.007).",
        "The published delay of the third drift at 1 - 1e-8, 2,511, repeats that of the second drift; between its"
        " neighbours 1,637 and 1,641 it is most likely a misprint.",
    )


def _count_complete(result: Mapping[str, Any]) -> int:
    """Count the streams on which no drift was missed."""
    return sum(None not in stream_delays for stream_delays in result["delays"])


def _summarise_delays(delays: Sequence[Sequence[float | None]], drift: int) -> tuple[float, float]:
    """Return mean and standard deviation of the delays of a drift where it was detected."""
    detected = select_delays(delays, drift)
    detected = detected[~np.isnan(detected)]
    mean = float(detected.mean()) if len(detected) else float("nan")
    return mean, float(detected.std(ddof=1)) if len(detected) > 1 else 0.0


def _draw_delays(by_reading: Mapping[str, Results], figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
    positions = np.arange(len(FADINGS))
    axes = figure.subplots(1, len(by_reading), sharey=True)
    for axis, (reading, results) in zip(axes, by_reading.items(), strict=True):
        for drift, name in enumerate(DRIFTS):
            shifted = positions + 0.08 * (drift - 1)
            means, spread = zip(*(_summarise_delays(result["delays"], drift) for result in results), strict=True)
            axis.errorbar(shifted, means, spread, fmt="o", c=f"C{drift}", label=name, capsize=2)
            theirs = [read_published("gama-2009-table-2")[f"{fading:g}"]["delays"][drift] for fading in FADINGS]
            axis.plot(shifted, theirs, "_", c="black", markersize=10, label="published" if drift == 2 else None)
        axis.set_xticks(positions, [f"{fading:g}" for fading in FADINGS])
        axis.set(xlabel="1 - factor", title=reading)
    axes[0].set(ylabel="delay, rows", ylim=(0, None))
    axes[0].legend(fontsize=8)


def _tabulate_delays(by_reading: Mapping[str, Results]) -> Table:
    rows = [
        (reading, fading, drift + 1, stream + 1, delay)
        for reading, results in by_reading.items()
        for fading, result in zip(FADINGS, results, strict=True)
        for stream, stream_delays in enumerate(result["delays"])
        for drift, delay in enumerate(stream_delays)
    ]
    return Table("delays", ("reading", "1 - factor", "drift", "stream", "delay"), tuple(rows))
