"""Worked examples from the slides of Bifet, "Evaluation" (Paris, 2 December 2016)."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from papers.findings import Claim, Done, Experiment, Finding, Piece, Scale, Table, compare
from papers.published import read_published
from papers.running import run
from papers.worked_examples import build_finding, check_matrix, tabulate
from streamgauge._engine.meter import FIGURES, Meter
from streamgauge.backends import Backend
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import AdaptiveRandomForest, HoeffdingTree
from streamgauge.records import Batch, Step
from streamgauge.significance import critical_difference, mcnemar
from streamgauge.streams import paper_stream
from streamgauge.tasks import Classification

__all__ = ["COSTS", "NUMBERS", "find_costs", "find_numbers"]

HOUR = 3_600_000_000_000
"""Nanoseconds."""
N_ROWS: dict[Scale, int] = {"tiny": 500, "quick": 50_000, "paper": 1_000_000}


def _compute_numbers(_: Backend) -> dict[str, Any]:
    from scipy.special import chdtri  # noqa: PLC0415

    # Nemenyi: the critical difference is CD = q sqrt(k (k + 1) / (6 N)).
    ks = [int(k) for k in read_published("bifet-2016-nemenyi")]
    quantiles = {
        str(k): [critical_difference(k, 1, alpha=alpha) / np.sqrt(k * (k + 1) / 6) for alpha in (0.05, 0.10)]
        for k in ks
    }
    corrected = mcnemar(20, 40, variant="corrected").statistic
    return {"nemenyi": quantiles, "mcnemar": float(chdtri(1, 0.01)), "corrected": corrected}


NUMBERS = Experiment("bifet-2016-numbers", lambda _: [Piece("numbers", _compute_numbers)])


def find_numbers(done: Done) -> Finding:
    """Compare the measures, the chance matrix and the critical values."""
    result, published = done["numbers"], read_published("bifet-2016-confusion")
    measures, agreement = check_matrix(published, "Measures of the confusion matrix 75, 8 / 7, 10")
    matrix = np.array(published["confusion"], dtype=np.float64)
    chance = np.outer(matrix.sum(axis=1), matrix.sum(axis=0)) / matrix.sum()
    cells = [f"{true} predicted {predicted}" for true in "+-" for predicted in "+-"]
    ours, theirs = (
        dict(zip(cells, np.ravel(counts).tolist(), strict=True)) for counts in (chance, published["chance_matrix"])
    )
    chance_table = tabulate(ours, theirs, "The matrix of a chance predictor with the same totals")
    rows = [
        (f"{k} learners at {alpha}", *compare(round(quantile, 3), printed))
        for k, quantiles in read_published("bifet-2016-nemenyi").items()
        for alpha, quantile, printed in zip((0.05, 0.10), result["nemenyi"][k], quantiles, strict=True)
    ]
    nemenyi = Table("q of the Nemenyi test", ("figure", "ours", "published", "difference"), tuple(rows))
    limit = tabulate(
        {"chi-square at 0.99": round(result["mcnemar"], 3)},
        {"chi-square at 0.99": read_published("bifet-2016-mcnemar")["critical"]},
        "McNemar's critical value",
    )
    worst = max(abs(float(row[3] or 0.0)) for row in rows)
    claims = (
        agreement,
        Claim("the chance matrix agrees to the last digit", all(not row[3] for row in chance_table.rows)),
        Claim("every q of Nemenyi agrees to within 0.0015", worst <= 0.0015),
        Claim("McNemar's critical value at 0.99 agrees to the last digit", not limit.rows[0][3]),
    )
    notes = (
        "The slides truncate the geometric mean of 0.72907 to 72.90 %.",
        f"The largest difference in Nemenyi's q is {worst:.3f}: the slides divide a printed, rounded table of the"
        " studentised range by the square root of 2.",
        "The slides define McNemar with continuity correction, |a - b - 1|^2 / (a + b); the papers of 2009 and 2015 do"
        " not correct. mcnemar(..., variant='corrected') is the version of the slides; for 40 against 20 it is"
        f" {result['corrected']:.4f}.",
    )
    return build_finding(measures, claims, notes, chance_table, nemenyi, limit)


class _Costly:
    """A learner of a given size whose clock advances by the given hours with each prediction."""

    def __init__(self, gigabytes: int, hours: int) -> None:
        self.n_bytes = gigabytes * 2**30
        self._nanoseconds, self._now = hours * HOUR, 0

    def clock(self) -> int:
        """Return the time in nanoseconds."""
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
        """Return an empty state."""
        return b""

    def load(self, state: bytes) -> None:
        """Load nothing."""


def _compute_costs(_: Backend) -> dict[str, Any]:
    """Meter the two classifiers of the slides."""
    result = {}
    row = Step(Batch(0, np.zeros((1, 1)), np.zeros(1, dtype=np.int32)))
    for name, published in read_published("bifet-2016-ram-hours").items():
        learner = _Costly(published["gigabytes"], published["hours"])
        meter = Meter(learner, Classification(("0", "1")), learner.clock)
        meter.interleave(row, with_votes=False, cuts=[1])
        result[name] = meter.take_notes()[-1][FIGURES.index("ram_hours")]
    return result


def _measure_costs(n_rows: int, backend: Backend) -> dict[str, Any]:
    """Measure the cost of a tree and of a forest."""
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
    lambda scale: [Piece("worked", _compute_costs), Piece("measured", partial(_measure_costs, N_ROWS[scale]))],
)


def find_costs(done: Done) -> Finding:
    """Compare the example of the slides, and report the cost of two learners on this machine."""
    published, ours, measured = read_published("bifet-2016-ram-hours"), done["worked"], done["measured"]
    example = Table(
        "The example of the slides",
        ("classifier", "accuracy", "hours", "GB", "RAM-hours, ours", "published", "difference"),
        tuple(
            (name, facts["accuracy"], facts["hours"], facts["gigabytes"], *compare(ours[name], facts["ram_hours"]))
            for name, facts in published.items()
        ),
    )
    last = [curve[-1] for curve in measured["ram_hours"]]
    columns = (*(measured[name] for name in ("learners", "accuracy", "hours", "gigabytes")), last)
    costs = Table(
        f"Measured on RBF(10,0.001), {measured['n_rows']:,} rows",
        ("learner", "accuracy", "CPU hours", "GB at the end", "RAM-hours"),
        tuple(zip(*columns, strict=True)),
    )
    exact = all(not row[6] for row in example.rows)
    claims = (
        Claim("our meter charges the two classifiers of the slides with 2,000 and 800 RAM-hours", exact),
        Claim("B, with twice the memory, costs less than half as much as A", ours["B"] < ours["A"] / 2),
    )

    def draw(figure: Any) -> None:  # noqa: ANN401  (Matplotlib has no types)
        axis = figure.subplots()
        for name, curve in zip(measured["learners"], measured["ram_hours"], strict=True):
            axis.plot(measured["rows"], curve, label=name)
        axis.set(title="cumulative cost of learners", xlabel="rows", ylabel="RAM-hours", yscale="log")
        axis.legend()

    return Finding(
        basis=f"the example is computed exactly; {measured['n_rows']:,} rows measured, 1 run",
        tables=(example, costs),
        draw=draw,
        claims=claims,
        notes=("The measured table has no published counterpart; its times depend on the machine.",),
        size=(7, 3.5),
    )
