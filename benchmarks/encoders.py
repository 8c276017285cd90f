"""Cost of an encoder before native learners: CPU time in turns, best of several.

Rows have 20 numbers and 5 nominal attributes of 10 values, with gaps; one-hot they have 70 columns. `Encoded` may take
at most 1.5 times what the learner itself takes on rows that are encoded already.
"""

from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.turns import run_in_turns
from streamgauge._format.text import to_text
from streamgauge.learners import Encoded, HoeffdingTree, LogisticRegression, NaiveBayes, Perceptron
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Attribute, Batch, Schema, Step

GOAL = 1.5
TURNS = 5
N_ROWS = 200_000
N_BATCH = 32_768
SCHEMA = Schema(
    (
        *(Attribute(f"x{i}", missing=True) for i in range(20)),
        *(Attribute(f"n{i}", tuple("abcdefghij"), missing=True) for i in range(5)),
    ),
    ("no", "yes"),
)
LEARNERS: tuple[LearnerSpec, ...] = (
    LogisticRegression(standardise=False),
    LogisticRegression(),
    Perceptron(standardise=False),
    NaiveBayes(),
    HoeffdingTree(),
)


def draw_rows(n_rows: int, seed: int = 1) -> Batch:
    """Return rows of numbers of many scales and of nominal values, with a gap in one of fifty."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n_rows, 20))
    y = (numbers[:, 0] + numbers[:, 1] + random.normal(size=n_rows) > 0).astype(np.int32)
    x = np.column_stack([numbers * 10.0 ** np.arange(-10, 10), random.integers(0, 10, (n_rows, 5))])
    x[random.random(x.shape) < 0.02] = np.nan
    return Batch(0, x, y)


def encode_rows(batch: Batch) -> Batch:
    """Return all rows as `Encoded` shows them to a learner."""
    learner = Encoded(NaiveBayes()).build(SCHEMA, 1)
    learner.learn(batch.x, batch.y, None)
    return Batch(0, learner.encode(batch.x), batch.y)


def make_run(spec: LearnerSpec, schema: Schema, batch: Batch) -> Callable[[], None]:
    """Return a function that runs a learner."""
    step = Step(batch)
    parts = [step.part(start, start + N_BATCH) for start in range(0, len(batch), N_BATCH)]

    def run() -> None:
        learner = spec.build(schema, 1)
        for part in parts:
            learner.interleave(part, with_votes=False)

    return run


def main() -> None:
    """Print the table."""
    table = Table(title=f"{N_ROWS:,} rows of 20 numbers and 5 nominal attributes, one-hot 70 columns")
    for heading in (
        "learner",
        "rows/s encoded",
        "ns a row",
        "on wide rows",
        "ratio",
        "on the rows as they are",
        "ratio",
    ):
        table.add_column(heading, justify="left" if heading == "learner" else "right")
    batch = draw_rows(N_ROWS)
    wide, wide_schema = encode_rows(batch), Encoded().encode_schema(SCHEMA)
    for spec in LEARNERS:
        runs = {
            "encoded": make_run(Encoded(spec), SCHEMA, batch),
            "wide": make_run(spec, wide_schema, wide),
            "plain": make_run(spec, SCHEMA, batch),
        }
        encoded, on_wide, plain = (best.seconds for best in run_in_turns(runs, TURNS).values())
        table.add_row(
            to_text(spec),
            f"{N_ROWS / encoded:,.0f}",
            f"{encoded / N_ROWS * 1e9:.0f}",
            f"{on_wide / N_ROWS * 1e9:.0f}",
            f"{encoded / on_wide:.2f}{'' if encoded <= GOAL * on_wide else ' too slow'}",
            f"{plain / N_ROWS * 1e9:.0f}",
            f"{encoded / plain:.2f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
