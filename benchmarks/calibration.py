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
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import randomness
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import NoiseFilter, OzaBag
from streamgauge.measures import measure as find_measure
from streamgauge.protocols import CellBatch, LearnerSpec, Scheme, Stream
from streamgauge.records import BlockLayout, BlockTallies, Schema, Trace
from streamgauge.records.blocks import BASELINES, find_block_length
from streamgauge.significance import two_way_t
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
class Votes:
    """A recorder of predictions and votes, by learner and fold."""

    batches: dict[tuple[str, int], list[Trace]] = field(default_factory=dict)
    needs_votes: bool = True

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        """Open it for a run."""
        yield lambda batch: self.batches.setdefault((batch.learner, batch.fold), []).append(batch.trace)

    def join(self, learner: str, column: str) -> NDArray[Any]:
        """Return a column of all folds of a learner, [folds, n, ...]."""
        return np.stack(
            [np.concatenate([getattr(t, column) for t in self.batches[learner, fold] if len(t)]) for fold in range(K)]
        )


@dataclass(frozen=True)
class Predictions:
    """What a learner predicted in each fold: classes and shares of the votes for class 1, [folds, n]."""

    classes: NDArray[np.int32]
    shares: NDArray[np.float64]

    def mix(self, other: "Predictions", mine: NDArray[np.bool_]) -> "Predictions":
        """Return the own predictions for some rows, and those of another learner for the others."""
        return Predictions(np.where(mine, self.classes, other.classes), np.where(mine, self.shares, other.shares))


@dataclass(frozen=True)
class Run:
    """A run: labels, hits of the majority class by fold, and the predictions of each learner."""

    y: NDArray[np.int32]
    majority_hit: NDArray[np.bool_]
    learners: dict[str, Predictions]


def evaluate(stream: Stream, learners: dict[str, LearnerSpec], scheme: str, repetition: int) -> Run:
    """Evaluate learners with ten folds."""
    votes = Votes()
    sg.evaluate(
        stream,
        learners,
        scheme=SCHEMES[scheme](K),
        measures="accuracy",
        seed=repetition,
        every=stream.n_rows,
        live_test=None,
        recorders=[votes],
        backend=sg.Threads(1),
    )
    predictions = {}
    for name in learners:
        of_class = votes.join(name, "votes")
        total = of_class.sum(axis=2)
        shares = np.where(total > 0.0, of_class[:, :, 1] / np.where(total > 0.0, total, 1.0), 0.5)
        predictions[name] = Predictions(votes.join(name, "y_pred"), shares)
    first = next(iter(learners))
    return Run(votes.join(first, "y_true")[0], votes.join(first, "majority_hit"), predictions)


LAYOUT = BlockLayout(2, (BASELINES, "ranks"))


def tally(run: Run, pair: Sequence[Predictions]) -> BlockTallies:
    """Return the tallies of blocks of two learners, with the votes for class 1 in 256 bins of equal numbers of rows.

    A run with areas among its measures keeps such tallies itself, in bins that do not depend on the order of rows and
    are finer near 0 and 1. `check_tallies` compares the two. The standard errors of ROC AUC agree to 1 %. With 2 %
    positives those of PR AUC are up to a quarter too small here and up to a tenth in a run: levels are no better here.
    """
    n = len(run.y)
    length = find_block_length(n)
    ends = [row for row in range(length, n, length) if 2 * (n - row) >= length] + [n]
    block = np.searchsorted(ends, np.arange(n), side="right")
    n_blocks = len(ends)
    numbers = np.zeros((2, K, n_blocks, LAYOUT.n_numbers))
    votes = {}
    for learner, fold in product(range(2), range(K)):
        predicted, shares = pair[learner].classes[fold], pair[learner].shares[fold]
        cell = (block * 2 + run.y) * 3 + predicted + 1  # the first column is that of abstentions
        counts = np.bincount(cell, minlength=6 * n_blocks).reshape(n_blocks, 2, 3)
        hits = np.bincount(block, run.majority_hit[fold], minlength=n_blocks)
        width = np.bincount(block, minlength=n_blocks)
        columns = [
            counts[:, :, 1:].reshape(n_blocks, 4),
            counts[:, :, 0],
            hits[:, None],
            0.0 * hits[:, None],
            width[:, None],
        ]
        numbers[learner, fold, :, :9] = np.concatenate(columns, axis=1)
        edges = np.unique(np.sort(shares)[:: -(-n // 255)])
        bins = np.searchsorted(edges, shares, side="right")
        weights = [
            np.bincount((block * 257 + bins)[run.y == truth], minlength=257 * n_blocks).reshape(n_blocks, 257)
            for truth in (1, 0)
        ]
        votes[learner, fold, 1] = (2 * np.arange(257) + 1, np.stack(weights).astype(np.float64))
        order = np.argsort(shares, kind="stable")
        numbers[learner, fold, -1, 9:] = np.nan
        areas = numbers[learner, fold, -1, 9:].reshape(4, 2, 2)
        areas[0, 1], areas[2, 1] = compute_areas(shares[order], run.y[order] == 1)
    return BlockTallies(np.array(ends), LAYOUT, numbers, votes)


def compute_areas(shares: NDArray[np.float64], positive: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the areas under the ROC and the precision-recall curve of ascending shares."""
    last = np.append(shares[1:] != shares[:-1], True)  # where ties end
    starts = np.append(0, np.flatnonzero(last)[:-1] + 1)
    own, others = np.add.reduceat(positive, starts, dtype=float), np.add.reduceat(~positive, starts, dtype=float)
    n_own, n_others = own.sum(), others.sum()
    below = np.cumsum(others) - others / 2
    above, others_above = np.cumsum(own[::-1])[::-1], np.cumsum(others[::-1])[::-1]
    return float(own @ below / (n_own * n_others)), float(own @ (above / (above + others_above)) / n_own)


def run_plain(job: Job) -> Iterator[Row]:
    """Run the nulls of seeds and of mirrored learners once."""
    stream, scheme, repetition = job
    bag = OzaBag(sg.HoeffdingTree(grace_period=50), 3)
    learners: dict[str, LearnerSpec] = {"a": NoiseFilter(bag, 0.0, seed=1), "b": NoiseFilter(bag, 0.0, seed=2)}
    if repetition <= POWER_REPETITIONS:
        learners["noisy"] = NoiseFilter(bag, 0.05, seed=1)
    learners |= {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(grace_period=50)}
    run = evaluate(open_stream(stream, repetition), learners, scheme, repetition)
    predictions = run.learners
    heads = randomness.uniform(repetition, "coin", 0, 0, len(run.y)) < 0.5
    pairs = {"seeds": ("a", "b"), POWERS[0]: ("a", "noisy"), POWERS[1]: ("b", "noisy")}
    for null, (first, second) in pairs.items():
        if second in predictions:
            yield {"null": null, **run_tests(tally(run, [predictions[first], predictions[second]]), scheme)}
    bayes, tree = predictions["bayes"], predictions["tree"]
    mirrored = [bayes.mix(tree, heads), bayes.mix(tree, ~heads)]
    yield {"null": "mirrored", **run_tests(tally(run, mirrored), scheme)}


def run_symmetric(job: Job) -> Iterator[Row]:
    """Run the symmetric nulls once: each half of the attributes is a stream with the same labels and folds."""
    stream, scheme, repetition = job
    x, y = SYMMETRIC[stream].draw(repetition)
    learners: dict[str, LearnerSpec] = {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(grace_period=50)}
    halves = [np.ascontiguousarray(half) for half in (x[:, :3], x[:, 3:])]
    runs = [evaluate(ArrayStream(half, y), learners, scheme, repetition) for half in halves]
    for name, null in zip(learners, NULLS[2:], strict=True):
        yield {"null": null, **run_tests(tally(runs[0], [run.learners[name] for run in runs]), scheme)}


def check_tallies(n_repetitions: int = 10) -> None:
    """Print the greatest relative difference of p-values from those of runs that keep tallies of blocks themselves."""
    worst = 0.0
    for repetition, scheme in product(range(1, n_repetitions + 1), SCHEMES):
        stream = open_stream("10 % positives", repetition)
        learners: dict[str, LearnerSpec] = {"bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(grace_period=50)}
        run = evaluate(stream, learners, scheme, repetition)
        row = run_tests(tally(run, list(run.learners.values())), scheme)
        results = sg.evaluate(stream, learners, scheme=SCHEMES[scheme](K), measures=MEASURES, seed=repetition)
        for measure in (name for name in MEASURES if f"{name} on this stream" in row):
            p_value = sg.compare(results, measure=measure).p_value
            worst = max(worst, abs(float(str(row[f"{measure} on this stream"])) - p_value) / max(p_value, 0.01))
    print(f"greatest relative difference of p-values: {worst:.3g}")


def run_tests(blocks: BlockTallies, scheme: str) -> Row:
    """Return the p-values of all measures for both questions; empty where a measure is refused."""
    row: Row = {}
    for name in MEASURES:
        measure = find_measure(name).bind(Schema((), ("0", "1")))  # type: ignore[attr-defined]
        try:
            values, _ = leave_blocks_out(blocks, measure, ("first", "second"), ("0", "1"), pooled=False)
        except StreamgaugeError:
            continue
        outcome = two_way_t(values, scheme=SCHEMES[scheme].__name__)
        p_values = (outcome.p_value, math.nan if outcome.such_streams is None else outcome.such_streams.p_value)
        row |= {f"{name} {question}": f"{p:.4g}" for question, p in zip(QUESTIONS, p_values, strict=True)}
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
