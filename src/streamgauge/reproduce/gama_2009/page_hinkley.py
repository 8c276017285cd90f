"""Table 2: how late the Page-Hinkley test finds the drifts of the SEA concepts.

The paper watches the prequential error rate, the mean of the errors so far, of naive Bayes, and has it start anew after
an alarm, its error rate with it: only then can one threshold find three drifts. So here. An alarm detects a drift up to
10,000 rows after it; a false alarm shortly before a drift leaves a young learner that hardly suffers from it, so that
with much fading some drifts are missed.
"""

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.drift import AlarmScore, OfMean, PageHinkley, score_alarms
from streamgauge.groups import Backend
from streamgauge.learners import DriftReset, NaiveBayes
from streamgauge.reproduce.findings import Claim, Done, Experiment, Finding, Piece, Scale, Table
from streamgauge.reproduce.published import published
from streamgauge.reproduce.rowwise import RowLosses
from streamgauge.reproduce.running import run
from streamgauge.streams import drifts_of, named

__all__ = ["DELAYS", "FADINGS", "delays_of", "false_before", "find_delays", "score", "watch"]

DELTA, THRESHOLD = 1e-3, 2.5
FADINGS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0.0)
"""1 - factor, as in the paper."""
N_STREAMS: dict[Scale, int] = {"tiny": 2, "quick": 100, "paper": 500}
MAX_DELAY = 10_000
STREAM = "SEA(Gama)"
DRIFTS = ("first drift", "second drift", "third drift")


def watch(fading: float, seed: int, backend: Backend) -> tuple[list[int], NDArray[np.bool_]]:
    """Give the rows of the alarms on one stream, after each of which the learner starts anew, and the errors."""
    detector = OfMean(PageHinkley(delta=DELTA, threshold=THRESHOLD, factor=1.0 - fading, direction="up"))
    losses = RowLosses()
    learner = DriftReset(NaiveBayes(), detector, on_warning=False)
    stream = named(STREAM, seed)
    # Watched once more from outside, the same detector sees the same errors and starts anew at the same rows.
    options = {"detectors": {"it": detector}, "recorders": [losses], "every": stream.n_rows, "backend": backend}
    results = run(stream, {"it": learner}, **options)
    return [alarm.row for alarm in results.alarms], ~losses.correct["it"]


def score(seed: int, fading: float, backend: Backend) -> AlarmScore:
    """Score the alarms on one stream."""
    alarms, errors = watch(fading, seed, backend)
    return score_alarms(alarms, drifts_of(named(STREAM, seed)), n_rows=len(errors), max_delay=MAX_DELAY)


def delays_of(scores: Sequence[AlarmScore], place: int) -> NDArray[np.float64]:
    """Give the delays of one of the drifts where it was detected."""
    delays = (one.delays[place] for one in scores)
    return np.array([delay for delay in delays if delay is not None], dtype=np.float64)


def false_before(score: AlarmScore) -> list[int]:
    """Count the false alarms between one drift and the next, before each; those after the last are left out."""
    edges = [0, *(one.drift.position for one in score.drifts)]
    return [sum(low <= row < high for row in score.false_alarms) for low, high in itertools.pairwise(edges)]


def _delays(fading: float, n_streams: int, backend: Backend) -> dict[str, Any]:
    scores = [score(seed, fading, backend) for seed in range(1, n_streams + 1)]
    return {
        "fading": fading,
        "n_streams": n_streams,
        "delays": [delays_of(scores, place).tolist() for place in range(3)],
        "false_alarms": np.mean([false_before(one) for one in scores], axis=0).tolist(),
        "missed": sum(one.n_missed for one in scores),
        "repeated": sum(one.n_repeated for one in scores),
    }


def _delay_pieces(scale: Scale) -> list[Piece]:
    n = N_STREAMS[scale]
    return [Piece(f"{fading:g}", partial(_delays, fading, n)) for fading in FADINGS]


DELAYS = Experiment("gama-2009-table-2", _delay_pieces)


def find_delays(done: Done) -> Finding:
    """Tell the delays beside those that were published."""
    rows, inside = [], []
    for fading in FADINGS:
        holds, printed = done[f"{fading:g}"], published("gama-2009-table-2")[f"{fading:g}"]
        told = [(*_spread(delays), theirs) for delays, theirs in zip(holds["delays"], printed["delays"], strict=True)]
        inside += [abs(mean - theirs) <= 2 * deviation for mean, deviation, theirs in told]
        texts = [
            f"{mean:,.0f} ±{deviation:,.0f} ({theirs:,}, {mean - theirs:+,.0f})" for mean, deviation, theirs in told
        ]
        alarms = ", ".join(f"{mean:.2f}" for mean in holds["false_alarms"])
        rows.append((fading, *texts, f"{alarms} ({', '.join(map(str, printed['false_alarms']))})", holds["missed"]))
    n = done[f"{FADINGS[0]:g}"]["n_streams"]
    table = Table(
        "Delays: ours ± standard deviation (published, difference)",
        ("1 - factor", *DRIFTS, "false alarms before each drift (published)", f"missed, of {3 * n:,}"),
        tuple(rows),
    )
    first = [_spread(done[f"{fading:g}"]["delays"][0])[0] for fading in FADINGS]
    false = [sum(done[f"{fading:g}"]["false_alarms"]) for fading in FADINGS]
    claims = (
        Claim("more fading finds the first drift sooner", first == sorted(first)),
        Claim("hardly any false alarms but with a factor of 1 - 1e-4", false[0] > 0.15 >= max(false[1:])),
        Claim(
            f"published delays lie within two standard deviations of our means; here {sum(inside)} of {len(inside)}",
            sum(inside) >= 0.9 * len(inside),
        ),
    )
    notes = (
        f"The paper's figures are of a single stream; ours are means over {n} streams that were generated by its"
        " description, and the standard deviation says how far a single stream may lie from them.",
        "The published delay of the third drift at 1 - 1e-8, 2,511, repeats that of the second drift; between 1,637 and"
        " 1,641 beside it, it is most likely a slip of the pen.",
        "The paper does not say what becomes of the learner after an alarm; ours starts anew, its error rate with it.",
    )
    draw = partial(_draw_delays, done)
    return Finding(f"{n} streams of 60,000 rows", (table,), draw, claims, notes, _delay_data(done), size=(8, 4))


def _spread(delays: Sequence[float]) -> tuple[float, float]:
    """Give mean and standard deviation of delays."""
    mean = float(np.mean(delays)) if len(delays) else float("nan")
    return mean, float(np.std(delays, ddof=1)) if len(delays) > 1 else 0.0


def _draw_delays(done: Done, figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
    axis = figure.subplots()
    places = np.arange(len(FADINGS))
    for drift, name in enumerate(DRIFTS):
        shift = 0.08 * (drift - 1)
        means, spread = zip(*(_spread(done[f"{fading:g}"]["delays"][drift]) for fading in FADINGS), strict=True)
        axis.errorbar(places + shift, means, spread, fmt="o", c=f"C{drift}", label=name, capsize=2)
        theirs = [published("gama-2009-table-2")[f"{fading:g}"]["delays"][drift] for fading in FADINGS]
        axis.plot(places + shift, theirs, "_", c="black", markersize=10, label="published" if drift == 0 else None)
    axis.set_xticks(places, [f"{fading:g}" for fading in FADINGS])
    axis.set(xlabel="1 - factor", ylabel="delay, rows", title="Page-Hinkley on SEA, naive Bayes")
    axis.legend(fontsize=8)


def _delay_data(done: Done) -> Table:
    rows = [
        (fading, place + 1, stream + 1, delay)
        for fading in FADINGS
        for place, delays in enumerate(done[f"{fading:g}"]["delays"])
        for stream, delay in enumerate(delays)
    ]
    return Table("delays", ("1 - factor", "drift", "detection", "delay"), tuple(rows))
