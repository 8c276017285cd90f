"""The figures worked out in the slides of Bifet, "Evaluation" (Paris, 2 December 2016)."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.findings import Claim, Done, Experiment, Finding, Piece, Scale, Table, beside
from papers.published import published
from papers.running import run
from papers.worked import compared, finding_of, matrix_finding
from streamgauge._engine.meter import FIGURES, Meter
from streamgauge.backends import Backend
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import AdaptiveRandomForest, HoeffdingTree
from streamgauge.records import Batch, Step
from streamgauge.significance import critical_difference, mcnemar
from streamgauge.streams import paper_stream

__all__ = ["COSTS", "NUMBERS", "find_costs", "find_numbers"]

HOUR = 3_600_000_000_000
"""Nanoseconds."""
N_ROWS: dict[Scale, int] = {"tiny": 500, "quick": 50_000, "paper": 1_000_000}


def _numbers(_: Backend) -> dict[str, Any]:
    from scipy.special import chdtri  # noqa: PLC0415

    # Nemenyi: q is what the critical difference is made of, CD = q sqrt(k (k + 1) / (6 N)).
    ks = [int(k) for k in published("bifet-2016-nemenyi")]
    quantiles = {
        str(k): [critical_difference(k, 1, alpha=alpha) / np.sqrt(k * (k + 1) / 6) for alpha in (0.05, 0.10)]
        for k in ks
    }
    corrected = mcnemar(40, 20, variant="corrected").statistic
    return {"nemenyi": quantiles, "mcnemar": float(chdtri(1, 0.01)), "corrected": corrected}


NUMBERS = Experiment("bifet-2016-numbers", lambda _: [Piece("numbers", _numbers)])


def find_numbers(done: Done) -> Finding:
    """Tell the measures, the chance matrix and the critical values."""
    holds, figures = done["numbers"], published("bifet-2016-confusion")
    measures, exact = matrix_finding(figures, "Measures of the confusion matrix 75, 8 / 7, 10")
    matrix = np.array(figures["confusion"], dtype=np.float64)
    chance = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / matrix.sum()
    places = [f"{true} predicted {predicted}" for true in "+-" for predicted in "+-"]
    ours, theirs = (
        dict(zip(places, np.ravel(one).tolist(), strict=True)) for one in (chance, figures["chance_matrix"])
    )
    by_chance = compared(ours, theirs, "The matrix of a chance predictor with the same totals")
    rows = [
        (f"{k} learners at {alpha}", *beside(round(found, 3), printed))
        for k, known in published("bifet-2016-nemenyi").items()
        for alpha, found, printed in zip((0.05, 0.10), holds["nemenyi"][k], known, strict=True)
    ]
    nemenyi = Table("q of the Nemenyi test", ("figure", "ours", "published", "difference"), tuple(rows))
    limit = compared(
        {"chi-square at 0.99": round(holds["mcnemar"], 3)},
        {"chi-square at 0.99": published("bifet-2016-mcnemar")["critical"]},
        "McNemar's critical value",
    )
    worst = max(abs(float(row[3] or 0.0)) for row in rows)
    claims = (
        exact,
        Claim("the matrix of chance is ours to its last digit", all(not row[3] for row in by_chance.rows)),
        Claim("every q of Nemenyi is ours to within 0.0015", worst <= 0.0015),
        Claim("McNemar's critical value at 0.99 is ours to its last digit", not limit.rows[0][3]),
    )
    notes = (
        "The slides cut the geometric mean of 0.72907 to 72.90 %.",
        f"Of Nemenyi's q the largest difference is {worst:.3f}: the slides take a printed table of the studentised"
        " range over the root of 2, rounded on the way.",
        "The slides write McNemar as |a - b - 1|^2 / (a + b), corrected for continuity, where the papers of 2009 and"
        " 2015 do not correct; mcnemar(..., variant='corrected') is that of the slides: for 40 against 20 it is"
        f" {holds['corrected']:.4f}.",
    )
    return finding_of(measures, claims, notes, by_chance, nemenyi, limit)


class _Costly:
    """A learner that holds so many bytes, and whose only row takes so many hours of a clock of its own."""

    def __init__(self, gigabytes: int, hours: int) -> None:
        self.n_bytes = gigabytes * 2**30
        self._nanoseconds, self._now = hours * HOUR, 0

    def clock(self) -> int:
        """Tell the time in nanoseconds."""
        return self._now

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote for the first class."""
        self._now += self._nanoseconds
        return np.tile((1.0, 0.0), (len(x), 1))

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn nothing."""

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict and learn a step."""
        votes = self.predict(step.batch.x)
        return np.zeros(len(votes), dtype=np.int32), votes if with_votes else None

    def save(self) -> bytes:
        """Have no state."""
        return b""

    def load(self, state: bytes) -> None:
        """Have no state."""


def _worked_costs(_: Backend) -> dict[str, Any]:
    """Let our meter charge the two classifiers of the slides."""
    holds = {}
    row = Step(Batch(0, np.zeros((1, 1)), np.zeros(1, dtype=np.int32)))
    for name, figures in published("bifet-2016-ram-hours").items():
        learner = _Costly(figures["gigabytes"], figures["hours"])
        meter = Meter(learner, 2, learner.clock)
        meter.interleave(row, with_votes=False, cuts=[1])
        holds[name] = meter.notes()[-1][FIGURES.index("ram_hours")]
    return holds


def _measured_costs(n_rows: int, backend: Backend) -> dict[str, Any]:
    """Measure what a tree and a forest cost."""
    learners = {"HoeffdingTree": HoeffdingTree(), "AdaptiveRandomForest": AdaptiveRandomForest()}
    stream = paper_stream("RBF(10,0.001)", n_rows=n_rows)
    results = run(stream, learners, resources=True, every=max(1, n_rows // 50), backend=backend)
    cost = results.resources
    if cost is None:
        msg = "no costs were measured"
        raise StreamgaugeError(msg)
    return {
        "n_rows": n_rows,
        "rows": cost.rows.tolist(),
        "accuracy": results.values[-1, :, 0, 0, 0].tolist(),
        "hours": (cost.cpu_seconds[-1, :, 0] / 3600.0).tolist(),
        "gigabytes": (cost.n_bytes[-1, :, 0] / 2**30).tolist(),
        "ram_hours": cost.ram_hours[:, :, 0].T.tolist(),
        "learners": list(learners),
    }


COSTS = Experiment(
    "bifet-2016-ram-hours",
    lambda scale: [Piece("worked", _worked_costs), Piece("measured", partial(_measured_costs, N_ROWS[scale]))],
)


def find_costs(done: Done) -> Finding:
    """Tell the example of the slides, and what two learners cost here."""
    known, ours, seen = published("bifet-2016-ram-hours"), done["worked"], done["measured"]
    example = Table(
        "The example of the slides",
        ("classifier", "accuracy", "hours", "GB", "RAM-hours, ours", "published", "difference"),
        tuple(
            (name, one["accuracy"], one["hours"], one["gigabytes"], *beside(ours[name], one["ram_hours"]))
            for name, one in known.items()
        ),
    )
    last = [curve[-1] for curve in seen["ram_hours"]]
    columns = zip(seen["learners"], seen["accuracy"], seen["hours"], seen["gigabytes"], last, strict=True)
    measured = Table(
        f"Measured on RBF(10,0.001), {seen['n_rows']:,} rows",
        ("learner", "accuracy", "CPU hours", "GB at the end", "RAM-hours"),
        tuple(columns),
    )
    exact = all(not row[6] for row in example.rows)
    claims = (
        Claim("our meter charges the two classifiers of the slides with 2,000 and 800 RAM-hours", exact),
        Claim("B, with twice the memory, costs less than half of A", ours["B"] < ours["A"] / 2),
    )

    def draw(figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
        axis = figure.subplots()
        for name, curve in zip(seen["learners"], seen["ram_hours"], strict=True):
            axis.plot(seen["rows"], curve, label=name)
        axis.set(title="what learners cost so far", xlabel="rows", ylabel="RAM-hours", yscale="log")
        axis.legend()

    notes = ("The measured table has no published counterpart; its times are those of the machine it ran on.",)
    basis = f"the example is worked out; {seen['n_rows']:,} rows measured, 1 run"
    return Finding(basis, (example, measured), draw, claims, notes, size=(7, 3.5))
