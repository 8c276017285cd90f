"""Calibration of the two-way t: how often it claims a difference that does not exist, in any measure.

Every repetition evaluates the learners below, with new seeds, on new rows of each of five streams, with ten folds of
each of three schemes, and tests eight measures. The nulls:

- seeds: two baggings of three trees, alike but for their seeds in each fold.
- mirrored: for each row a coin decides whether naive Bayes or a tree predicts for the first; the other predicts for the
  second. The folds share the coins, as they share the rows.
- symmetric, naive Bayes and symmetric, tree: the first sees one half of the attributes, the second the other, and the
  label depends on both halves alike. Over streams of the source the two are equal in every measure; on one stream
  either may be better, by what it learnt there.

The answer "on this stream" must hold its level under seeds and mirrored, that "for such streams" under all four.

The rule, written down before the repetitions were run: five streams, 1,000 repetitions of each stream, scheme and null
with the seeds 1 to 1,000, level 0.05. Pooled over the streams (5,000 repetitions) at most 0.060 may be rejected for
each measure, null and scheme, and no single cell (one stream, 1,000 repetitions) above 0.076. A cell above is run once
more with the 4,000 fresh seeds 1,001 to 5,000 and counts by that run alone; it may reject at most 0.061. A measure that
fails for a question is offered without a p-value for it. Repetitions in which a measure is refused, since a class has
too few rows or the measure is undefined, count in no rate; their share is shown.

Power is that of a bagging against itself behind a noise filter that changes 0.05 of the predictions, with the same
seeds (common random numbers) and with other seeds, in 200 repetitions.

``python -m benchmarks calibration`` appends finished repetitions to ``.cache/calibration.csv``, so that it can be
stopped and resumes there; ``CALIBRATION_PART=1/2`` runs the first half, to run several processes at once, and
``CALIBRATION_REPETITIONS=0`` only writes the tables: the rates of all cells to results/calibration.csv, and the page
docs/calibration.md.
"""

import csv
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import randomness
from streamgauge._engine.blocks import BlockHistory, BlockState
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import NoiseFilter, OzaBag
from streamgauge.measures import measure as find_measure
from streamgauge.protocols import CellBatch, LearnerSpec, Recorder, Scheme, Stream
from streamgauge.records import BlockLayout, BlockTallies, Schema, Trace
from streamgauge.records.blocks import list_boundaries
from streamgauge.results import Results
from streamgauge.significance import Comparison, two_way_t
from streamgauge.significance.two_way import leave_blocks_out
from streamgauge.streams import ArrayStream, in_memory

K = 10
ALPHA = 0.05
REPETITIONS = 1000
FRESH_REPETITIONS = 4000
POWER_REPETITIONS = 200
POOLED_LIMIT, CELL_LIMIT, FRESH_LIMIT = 0.060, 0.076, 0.061
ROOT = Path(__file__).resolve().parents[1]
REPETITIONS_FILE = ROOT / ".cache" / "calibration.csv"
RATES_FILE = Path(__file__).parent / "results" / "calibration.csv"
PAGE = ROOT / "docs" / "calibration.md"
MARKS = ("<!-- rates -->", "<!-- end of rates -->")

SCHEMES: dict[str, Callable[[int], Scheme]] = {
    "bootstrap": sg.Bootstrap,
    "cross-validation": sg.CrossValidation,
    "split": sg.Split,
}
MEASURES = ("accuracy", "f1[1]", "kappa", "kappa_m", "g_mean", "mcc", "roc_auc[1]", "pr_auc[1]")
NULLS = ("seeds", "mirrored", "symmetric, naive Bayes", "symmetric, tree")
POWERS = ("noise, same seeds", "noise, other seeds")
QUESTIONS = {"on this stream": NULLS[:2], "for such streams": NULLS}
"""The nulls under which each question must keep its level."""

COLUMNS = ("stream", "scheme", "null", "repetition", *(f"{m} {q}" for m in MEASURES for q in QUESTIONS))

SHARED_COLUMNS = ("row", "y_true", "majority_hit", "no_change_hit")

Row = dict[str, object]
Job = tuple[str, str, int]


@dataclass(frozen=True)
class Source:
    """A symmetric source of rows, in which the label depends on two halves of the attributes alike.

    Parameters
    ----------
    rule
        How the label depends on a half: ``linear`` or ``xor``.
    offset
        Added to the log-odds of the positive class, to make it rare.
    n_rows
        The number of rows.
    drifts
        Whether the rule is reversed at half of the rows.
    """

    rule: str
    offset: float = 0.0
    n_rows: int = 5000
    drifts: bool = False

    def draw(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Draw attributes [n, 6] and labels."""
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(self.n_rows, 6))
        logit = self._weigh(x[:, :3]) + self._weigh(x[:, 3:])
        if self.drifts:
            logit[self.n_rows // 2 :] *= -1.0
        return x, (rng.random(self.n_rows) < 1.0 / (1.0 + np.exp(-logit - self.offset))).astype(np.int32)

    def _weigh(self, half: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.rule == "linear":
            return half[:, 0] + 0.6 * half[:, 1] + 0.3 * half[:, 2] - 0.2
        return 1.5 * np.sign(half[:, 0] * half[:, 1]) + 0.8 * (half[:, 2] > 0.3) - 0.4


TEN_PERCENT, TWO_PERCENT = Source("xor", -3.45), Source("linear", -4.8, 10_000)
SYMMETRIC = {
    "linear": Source("linear"),
    "xor": Source("xor"),
    "drifting": Source("linear", drifts=True),
    "10 % positives": TEN_PERCENT,
    "2 % positives": TWO_PERCENT,
}
PLAIN: dict[str, Callable[[int], Stream]] = {
    "RBF": lambda seed: sg.RandomRBF(seed=seed),
    "SEA": lambda seed: sg.SEA(drift_every=1250, noise=0.1, seed=seed),
    "hyperplane": lambda seed: sg.Hyperplane(n_drifting=5, magnitude=0.001, seed=seed),
}
STREAMS = {"seeds": (*PLAIN, "10 % positives", "2 % positives"), "symmetric": tuple(SYMMETRIC)}
"""The streams of the nulls."""


def open_stream(name: str, repetition: int) -> Stream:
    """Return the rows of a repetition."""
    if name in PLAIN:
        return in_memory(PLAIN[name](repetition), 5000)
    return ArrayStream(*SYMMETRIC[name].draw(repetition))


@dataclass
class Traces:
    """A recorder of the traces of some learners: by learner and fold, in batches."""

    learners: frozenset[str]
    batches: dict[tuple[str, int], list[Trace]] = field(default_factory=dict)
    needs_votes: bool = True

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        """Open it for a run."""
        yield self._record

    def _record(self, batch: CellBatch) -> None:
        if batch.learner in self.learners and len(batch.trace):
            self.batches.setdefault((batch.learner, batch.fold), []).append(batch.trace)

    def collect(self, learner: str, fold: int, column: str) -> NDArray[Any]:
        """Return a column of the traces of a learner in a fold."""
        return np.concatenate([getattr(trace, column) for trace in self.batches[learner, fold]])


def evaluate(
    stream: Stream, learners: object, scheme: str, repetition: int, recorders: Sequence[Recorder] = ()
) -> Results:
    """Evaluate learners with ten folds."""
    return sg.evaluate(
        stream,
        learners,
        scheme=SCHEMES[scheme](K),
        measures=MEASURES,
        seed=repetition,
        every=stream.n_rows,
        live_test=None,
        backend=sg.Threads(1),
        recorders=recorders,
    )


def run_plain(job: Job) -> Iterator[Row]:
    """Run the nulls of seeds and of mirrored learners once."""
    stream, scheme, repetition = job
    bag = OzaBag(sg.HoeffdingTree(grace_period=50), 3)
    learners: dict[str, LearnerSpec] = {"a": NoiseFilter(bag, 0.0, seed=1), "b": NoiseFilter(bag, 0.0, seed=2)}
    if repetition <= POWER_REPETITIONS:
        learners["noisy"] = NoiseFilter(bag, 0.05, seed=1)
    learners |= {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(grace_period=50)}
    traces, rows = Traces(frozenset({"bayes", "tree"})), open_stream(stream, repetition)
    results = evaluate(rows, learners, scheme, repetition, recorders=[traces])
    compare = partial(sg.compare, results)
    yield {"null": "seeds", **run_tests(partial(compare, "a", "b"))}
    if "noisy" in learners:
        yield {"null": POWERS[0], **run_tests(partial(compare, "a", "noisy"))}
        yield {"null": POWERS[1], **run_tests(partial(compare, "b", "noisy"))}
    blocks = mirror(traces, repetition, rows.n_rows or 0)
    yield {"null": "mirrored", **run_tests(partial(compare_blocks, blocks, scheme))}


def run_symmetric(job: Job) -> Iterator[Row]:
    """Run the symmetric nulls once: each half of the attributes is a stream with the same labels and folds."""
    stream, scheme, repetition = job
    x, y = SYMMETRIC[stream].draw(repetition)
    learners = {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(grace_period=50)}
    halves = []
    for half in (x[:, :3], x[:, 3:]):
        rows = ArrayStream(np.ascontiguousarray(half), y)
        blocks = evaluate(rows, learners, scheme, repetition).blocks
        if blocks is not None:
            halves.append(blocks)
    for learner, null in enumerate(NULLS[2:]):
        pair = join_learners([blocks.select_learners([learner]) for blocks in halves])
        yield {"null": null, **run_tests(partial(compare_blocks, pair, scheme))}


def join_learners(parts: Sequence[BlockTallies]) -> BlockTallies:
    """Join the tallies of one learner of each of several runs."""
    votes = {(index, *key[1:]): bins for index, part in enumerate(parts) for key, bins in part.votes.items()}
    numbers = np.concatenate([part.numbers for part in parts])
    return BlockTallies(parts[0].rows, parts[0].layout, numbers, votes)


def mirror(traces: Traces, repetition: int, n_rows: int) -> BlockTallies:
    """Return the tallies of two learners that share the predictions of naive Bayes and a tree by a coin per row."""
    heads = randomness.uniform(repetition, "coin", 0, 0, n_rows) < 0.5
    layout = BlockLayout(2, ("ranks",))
    history = BlockHistory((2, K), layout)
    for fold in range(K):
        shared = {name: traces.collect("bayes", fold, name) for name in SHARED_COLUMNS}
        (first, first_votes), (second, second_votes) = (
            [traces.collect(learner, fold, column) for column in ("y_pred", "votes")] for learner in ("bayes", "tree")
        )
        for learner, coin in enumerate((heads, ~heads)):
            state = BlockState(layout, sg.Landmark().build(2, layout.statistics))  # type: ignore[arg-type]
            state.block_rows = [*list_boundaries(0, n_rows - 1, n_rows), n_rows]
            votes = np.where(coin[:, None], first_votes, second_votes)
            state.update(Trace(y_pred=np.where(coin, first, second), votes=votes, **shared), [])
            history.add({learner * K + fold: state.kept})
    blocks = history.build()
    assert blocks is not None  # there are rows
    return blocks


def compare_blocks(blocks: BlockTallies, scheme: str, *, measure: str) -> Comparison:
    """Compare two learners by their tallies."""
    known = find_measure(measure)
    bound = known.bind(Schema((), ("0", "1")))  # type: ignore[attr-defined]
    values, _ = leave_blocks_out(blocks, bound, ("first", "second"), ("0", "1"), pooled=False)
    return two_way_t(values, scheme=SCHEMES[scheme].__name__)


def run_tests(compare: Callable[..., Comparison]) -> Row:
    """Return the p-values of all measures for both questions; empty where a measure is refused."""
    row: Row = {}
    for measure in MEASURES:
        try:
            outcome = compare(measure=measure)
        except StreamgaugeError:
            continue
        p_values = (outcome.p_value, math.nan if outcome.such_streams is None else outcome.such_streams.p_value)
        row |= {f"{measure} {question}": f"{p:.4g}" for question, p in zip(QUESTIONS, p_values, strict=True)}
    return row


def list_jobs(repetitions: range) -> Iterator[tuple[str, Job]]:
    """Yield the jobs, with all streams and schemes of a repetition before the next."""
    for repetition, kind in product(repetitions, STREAMS):
        for stream, scheme in product(STREAMS[kind], SCHEMES):
            yield kind, (stream, scheme, repetition)


RUNNERS = {"seeds": run_plain, "symmetric": run_symmetric}


def read_repetitions() -> list[dict[str, str]]:
    """Read the finished repetitions of all processes."""
    rows: list[dict[str, str]] = []
    for path in sorted(REPETITIONS_FILE.parent.glob(f"{REPETITIONS_FILE.stem}*.csv")):
        with path.open(encoding="utf-8", newline="") as lines:
            rows += csv.DictReader(lines)
    return rows


def main() -> None:
    """Run the missing repetitions, then those of cells above the limit with fresh seeds; write the tables."""
    n_repetitions = int(os.environ.get("CALIBRATION_REPETITIONS", REPETITIONS))
    part, n_parts = (int(number) for number in os.environ.get("CALIBRATION_PART", "1/1").split("/"))
    run_missing(list(list_jobs(range(1, n_repetitions + 1)))[part - 1 :: n_parts], part)
    if n_repetitions == REPETITIONS and n_parts == 1:
        fresh = range(REPETITIONS + 1, REPETITIONS + FRESH_REPETITIONS + 1)
        above = {
            (rate.kind, rate.stream, rate.scheme)
            for rate in compute_rates(read_repetitions())
            if rate.stream != "all" and rate.must_hold and rate.share > CELL_LIMIT
        }
        run_missing([job for job in list_jobs(fresh) if (job[0], *job[1][:2]) in above], part)
    write_tables()


def run_missing(jobs: Sequence[tuple[str, Job]], part: int) -> None:
    """Run the jobs that are not finished."""
    done = {(r["null"].startswith("symmetric"), r["stream"], r["scheme"], r["repetition"]) for r in read_repetitions()}
    path = REPETITIONS_FILE.with_stem(f"{REPETITIONS_FILE.stem}-{part}")
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        for kind, job in jobs:
            stream, scheme, repetition = job
            if (kind == "symmetric", stream, scheme, str(repetition)) not in done:
                facts = {"stream": stream, "scheme": scheme, "repetition": repetition}
                writer.writerows([{**facts, **row} for row in RUNNERS[kind](job)])
                file.flush()


@dataclass(frozen=True)
class Rate:
    """How often a null was rejected in one measure, on one stream or on all of them."""

    question: str
    null: str
    scheme: str
    stream: str
    measure: str
    n: int
    n_refused: int
    n_rejected: int
    fresh: bool = False

    @property
    def kind(self) -> str:
        """The kind of job."""
        return "symmetric" if self.null.startswith("symmetric") else "seeds"

    @property
    def share(self) -> float:
        """The share of rejections among the tests."""
        return self.n_rejected / self.n if self.n else math.nan

    @property
    def must_hold(self) -> bool:
        """Whether the test promises its level here."""
        return self.null in QUESTIONS[self.question]

    @property
    def limit(self) -> float:
        """The most that may be rejected."""
        if self.stream == "all":
            return POOLED_LIMIT
        return FRESH_LIMIT if self.fresh else CELL_LIMIT


def compute_rates(rows: Sequence[dict[str, str]], *, fresh: bool = False) -> list[Rate]:
    """Compute the rates of all cells, and pooled over the streams; of the first repetitions or of the fresh ones."""
    chosen = [row for row in rows if (int(row["repetition"]) > REPETITIONS) == fresh]
    rates = []
    for null, scheme in product((*NULLS, *POWERS), SCHEMES):
        of_null = [row for row in chosen if (row["null"], row["scheme"]) == (null, scheme)]
        for stream in ("all", *dict.fromkeys(row["stream"] for row in of_null)):
            cell = [row for row in of_null if stream in ("all", row["stream"])]
            for measure, question in product(MEASURES, QUESTIONS):
                tested = [float(row[f"{measure} {question}"]) for row in cell if row[f"{measure} {question}"]]
                n_rejected = sum(p <= ALPHA for p in tested)
                n_refused = len(cell) - len(tested)
                rates.append(
                    Rate(question, null, scheme, stream, measure, len(tested), n_refused, n_rejected, fresh=fresh)
                )
    return [rate for rate in rates if rate.n + rate.n_refused]


def judge(rates: Sequence[Rate], fresh: Sequence[Rate]) -> list[Rate]:
    """Return the rates that break the rule; a cell above its limit counts by its fresh repetitions alone."""
    again = {(r.question, r.null, r.scheme, r.stream, r.measure): r for r in fresh if r.stream != "all"}
    broken = []
    for rate in rates:
        if rate.must_hold and rate.share > rate.limit:
            counted = again.get((rate.question, rate.null, rate.scheme, rate.stream, rate.measure), rate)
            if counted.share > counted.limit:
                broken.append(counted)
    return broken


def write_tables() -> None:
    """Write the rates of all cells and the tables of the page; print whether the rule holds."""
    rows = read_repetitions()
    rates, fresh = compute_rates(rows), compute_rates(rows, fresh=True)
    broken = judge(rates, fresh)
    with RATES_FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["question", "null", "scheme", "stream", "measure", "tested", "refused", "rejected", "fresh"])
        writer.writerows(
            [r.question, r.null, r.scheme, r.stream, r.measure, r.n, r.n_refused, r.n_rejected, int(r.fresh)]
            for r in (*rates, *fresh)
        )
    text = "\n".join([*write_page(rates, fresh), "", describe_rule(rates, broken), ""])
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")
    print(text)


def write_page(rates: Sequence[Rate], fresh: Sequence[Rate]) -> Iterator[str]:
    """Yield the lines of the tables: nulls pooled over the streams, the worst cells, and power."""
    pooled = {(r.question, r.null, r.scheme, r.measure): r for r in rates if r.stream == "all"}
    for question, nulls in QUESTIONS.items():
        yield f"\nShare of claims *{question}* where there is no difference, pooled over five streams.\n"
        yield from write_table(pooled, question, nulls)
    cells = sorted((r for r in rates if r.stream != "all" and r.must_hold), key=lambda r: -r.share)[:8]
    yield "\nThe single cells with the highest shares.\n"
    yield "| question | null | folds by | stream | measure | share | with fresh seeds |"
    yield "|---|---|---|---|---|---|---|"
    again = {(r.question, r.null, r.scheme, r.stream, r.measure): r for r in fresh}
    for r in cells:
        repeated = again.get((r.question, r.null, r.scheme, r.stream, r.measure)) if r.share > CELL_LIMIT else None
        second = f"{repeated.share:.3f}" if repeated else ""
        facts = (r.question, r.null, r.scheme, r.stream, f"`{r.measure}`", f"{r.share:.3f}", second)
        yield "| " + " | ".join(facts) + " |"
    for question in QUESTIONS:
        yield f"\nShare of claims *{question}* where there is a difference, pooled over five streams.\n"
        yield from write_table(pooled, question, POWERS)


def write_table(pooled: dict[tuple[str, str, str, str], Rate], question: str, nulls: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table of pooled rates."""
    yield "| null | folds by | n | " + " | ".join(f"`{measure}`" for measure in MEASURES) + " |"
    yield "|" + "---|" * (3 + len(MEASURES))
    for null, scheme in product(nulls, SCHEMES):
        row = [pooled[question, null, scheme, m] for m in MEASURES if (question, null, scheme, m) in pooled]
        if row:
            n = max(rate.n + rate.n_refused for rate in row)
            yield f"| {null} | {scheme} | {n:,} | " + " | ".join(map(format_rate, row)) + " |"


def format_rate(rate: Rate) -> str:
    """Format a rate, with the share of refused tests if there are any."""
    refused = rate.n_refused / (rate.n + rate.n_refused)
    return f"{rate.share:.3f}" + (f" ({refused:.0%} refused)" if refused >= 0.005 else "")


def describe_rule(rates: Sequence[Rate], broken: Sequence[Rate]) -> str:
    """Return whether the rule holds, in words."""
    held = [rate for rate in rates if rate.must_hold]
    if not held:
        return "No repetitions were run."
    if not broken:
        pooled = max(rate.share for rate in held if rate.stream == "all")
        return f"The rule holds: the highest pooled share is {pooled:.3f}."
    lines = [f"{r.question}: {r.measure}, {r.null}, {r.scheme}, {r.stream}: {r.share:.3f}" for r in broken]
    return "The rule is broken by:\n\n" + "\n".join(f"- {line}" for line in lines)


if __name__ == "__main__":
    main()
