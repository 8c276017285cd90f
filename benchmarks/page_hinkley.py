"""Table 2 of Gama, Sebastiao and Rodrigues, "Issues in evaluation of stream learning algorithms", KDD 2009.

How late the Page-Hinkley test (delta 0.001, lambda 2.5) finds the three drifts of the SEA concepts in the error rate of
naive Bayes, for six fading factors: mean and standard deviation over generated streams, beside the paper's single run.

The paper watches the prequential error rate, the mean of the errors so far, and has naive Bayes start anew after an
alarm, its error rate with it: only then can one threshold find three drifts. So here. An alarm detects a drift up to
10,000 rows after it; a false alarm shortly before a drift leaves a young learner that hardly suffers from it, so that
with much fading some drifts are missed.
"""

import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamgauge import NaiveBayes
from streamgauge.drift import AlarmScore, OfMean, PageHinkley, score_alarms
from streamgauge.records import DRIFT, Batch, Drift, Step
from streamgauge.streams import drifts_of, named

N_STREAMS = 100
FADINGS = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 0.0)
"""1 - factor, as in the paper."""
PUBLISHED = Path(__file__).resolve().parents[2] / "shared" / "paper" / "page_hinkley_delays.csv"


def main() -> None:
    """Print delays and false alarms."""
    published = {float(row["one_minus_alpha"]): row for row in read_published()}
    print(f"mean ± standard deviation of the delay over {N_STREAMS} streams, the paper's single run in brackets")
    heads = [f"{name} drift" for name in ("1st", "2nd", "3rd")]
    print(
        f"{'1 - factor':<12}"
        + "".join(f"{head:>22}" for head in heads)
        + f"{'missed':>9}{'repeated':>10}  false alarms"
    )
    for fading in FADINGS:
        scores = [score(seed, fading) for seed in range(1, N_STREAMS + 1)]
        paper = published.get(fading, {})
        cells = []
        for place, column in enumerate(("first_drift", "second_drift", "third_drift")):
            delays = delays_of(scores, place)
            cells.append(f"{delays.mean():,.0f} ±{delays.std(ddof=1):,.0f} ({paper.get(column, '?')})")
        missed, repeated = (sum(getattr(s, name) for s in scores) for name in ("n_missed", "n_repeated"))
        false = np.array([false_before(s) for s in scores])
        told = ", ".join(f"{mean:.2f}" for mean in false.mean(axis=0)) + f" ({paper.get('false_alarms', '?')})"
        print(f"{fading:<12g}" + "".join(f"{cell:>22}" for cell in cells) + f"{missed:>9}{repeated:>10}  {told}")


def read_published() -> Iterator[dict[str, str]]:
    """Give the rows of the published table, none where it is not at hand."""
    if PUBLISHED.is_file():
        with PUBLISHED.open(encoding="utf-8", newline="") as lines:
            yield from csv.DictReader(lines)


def score(seed: int, fading: float) -> AlarmScore:
    """Score the alarms on one stream."""
    stream = named("SEA(Gama)", seed)
    drifts: tuple[Drift, ...] = drifts_of(stream)
    (batch,) = stream.batches(60_000)
    return score_alarms(alarms_of(batch, fading, seed), drifts, n_rows=len(batch), max_delay=10_000)


def alarms_of(batch: Batch, fading: float, seed: int) -> list[int]:
    """Give the rows of the alarms, after each of which the learner starts anew."""
    detector = OfMean(PageHinkley(delta=1e-3, threshold=2.5, factor=1.0 - fading, direction="up"))
    schema = named("SEA(Gama)", seed).schema
    alarms: list[int] = []
    start = 0
    while start < len(batch):
        rest = Batch(0, batch.x[start:], batch.y[start:])
        predictions, _ = NaiveBayes().build(schema, 1).interleave(Step(rest), with_votes=False)
        found = np.flatnonzero(detector.build().update(predictions != rest.y) == DRIFT)
        if not len(found):
            break
        alarms.append(start + int(found[0]))
        start = alarms[-1] + 1
    return alarms


def delays_of(scores: Sequence[AlarmScore], place: int) -> NDArray[np.float64]:
    """Give the delays of one of the drifts where it was detected."""
    delays = (one.delays[place] for one in scores)
    return np.array([delay for delay in delays if delay is not None], dtype=np.float64)


def false_before(score: AlarmScore) -> list[int]:
    """Count the false alarms between one drift and the next, before each; those after the last are left out."""
    edges = [0, *(one.drift.position for one in score.drifts)]
    return [sum(low <= row < high for row in score.false_alarms) for low, high in itertools.pairwise(edges)]


if __name__ == "__main__":
    main()
