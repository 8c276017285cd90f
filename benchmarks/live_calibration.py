"""Calibration of live verdicts in any measure: how often one claims a difference that does not exist, and how soon.

Every repetition evaluates the learners below, with new seeds, on new rows of each of five streams, with ten folds of
each of three schemes and with one fold, and looks at the tallies 100 times, at rows that grow geometrically. The live
verdicts are those of `streamgauge.significance.PairWatch`, from the tallies that a run keeps, with a margin of 0, which
is the hardest case: a wider one needs more evidence for a claim. A claim at any look counts, whether or not it held to
the end. The accuracy is compared by counts of correct predictions, in one fold by the exact sequence (``exact=True``);
the error, as all other measures, by tallies of blocks of rows. The nulls:

- seeds: two baggings of three trees, alike but for their seeds in each fold; not with one fold, where two seeds are two
  different models.
- mirrored: for each row a coin decides whether naive Bayes or a tree predicts for the first; the other predicts for the
  second. The folds share the coins, as they share the rows.
- mirrored noise: the same with a bagging and itself behind a filter that changes 0.05 of the predictions. The two
  differ evenly from the first row on, in every fold on other rows.

Once labels come with their rows, of which there are 10,000, or 20,000 with 2 % positives. Once they come 500 rows late,
so that a block has at least 5,000 rows and the first look with a verdict is at about 160,000 rows: there are 250,000,
looks begin at half of them, and the baggings have one naive Bayes, which is fast.

The rule, written down before the repetitions were run: 1,000 repetitions of each stream, scheme and null with labels
at once and 200 with late labels, level 0.05, one pair. Pooled over the streams at most 0.055 may be claimed for each
measure, null, scheme and delay, and no single cell (one stream) above 0.064. A cell above is run once more with fresh
seeds, 4,000 or as many as there is time for, and counts by that run alone. Areas take two thirds of the time and are
measured in every third repetition. Repetitions in which a measure has no interval at the last look, since a class has
too few rows or the measure is undefined, and no claim before, count in no rate; their share is shown. A measure that
fails is not offered for live verdicts.

Power is that of a bagging against itself behind a noise filter, with the same seeds and ten folds, and with one fold:
the row of the live verdict, divided by the row from which on the two-way t of the same rows has p <= 0.05 at all looks
at which a live verdict is possible. The median of the ratio may be at most 3 for each measure and noise. Repetitions
count in which the two-way t is significant from the first third of the rows on, so that a ratio of 3 can be seen.

What was tried before: the boundary was chosen among some thirty by the accuracy and F1 of repetitions with the seeds 1
to 125 of these streams, so those seeds are not used here. The ratio was defined after some dozen pilot runs, in which
the two-way t was also tested before a live verdict is possible, with 20 rows of a class instead of 200, and a noise of
0.005 was tried: there several medians were above 3, most of them since 10,000 rows do not suffice to see a verdict.

``python -m benchmarks live_calibration`` appends finished repetitions to ``.cache/live_calibration-1.csv``, so that it
can be stopped and resumes there; ``CALIBRATION_PART=1/2`` runs the first half, to run several processes at once,
``CALIBRATION_REPETITIONS=100`` the first hundred, and ``CALIBRATION_REPETITIONS=0`` only writes the tables: all
repetitions to results/live_calibration_repetitions.csv.gz, from which any machine can go on, the rates of all cells to
results/live_calibration.csv, and the page docs/calibration.md. Delete the repetitions after a change of the verdicts.
`check_looks` compares the intervals with those of runs.
"""

import csv
import gzip
import io
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from benchmarks.calibration import PLAIN, ROOT, SYMMETRIC
from streamgauge import randomness
from streamgauge._engine.blocks import BlockHistory, BlockState
from streamgauge.labelling import AllLabels, Delayed
from streamgauge.learners import NoiseFilter, OzaBag
from streamgauge.measures import list_statistics
from streamgauge.measures import measure as find_measure
from streamgauge.protocols import CellBatch, LearnerSpec, Measure, Scheme, Stream
from streamgauge.records import BlockLayout, Schema, Trace, Verdict
from streamgauge.records.blocks import BASELINES, list_boundaries
from streamgauge.significance import LiveTest, PairWatch, two_way_t
from streamgauge.significance.interim_analyses import analyse_measures
from streamgauge.significance.pair_watch import LiveBlocks
from streamgauge.significance.two_way import measure_without_blocks
from streamgauge.streams import ArrayStream, in_memory

K = 10
ALPHA = 0.05
N_LOOKS = 100
FIRST_LOOK = 200
REPETITIONS, LATE_REPETITIONS, FRESH_REPETITIONS = 1000, 200, 4000
USED_SEEDS = 10_000
"""Repetition n has the seed n beyond these, some of which were used to choose the boundary."""

POWER_REPETITIONS = 10
POOLED_LIMIT, CELL_LIMIT, RATIO_LIMIT = 0.055, 0.064, 3.0
REPETITIONS_FILE = ROOT / ".cache" / "live_calibration.csv"
KEPT_FILE = Path(__file__).parent / "results" / "live_calibration_repetitions.csv.gz"
RATES_FILE = Path(__file__).parent / "results" / "live_calibration.csv"
PAGE = ROOT / "docs" / "calibration.md"
MARKS = ("<!-- live rates -->", "<!-- end of live rates -->")

ONE_FOLD = "one fold"
SCHEMES: dict[str, Callable[[], Scheme]] = {
    "bootstrap": lambda: sg.Bootstrap(K),
    "cross-validation": lambda: sg.CrossValidation(K),
    "split": lambda: sg.Split(K),
    ONE_FOLD: sg.Prequential,
}
DELAYS = {"at once": 0, "500 rows late": 500}
LABELLINGS = {"at once": AllLabels(), "500 rows late": Delayed(500)}
N_ROWS = {"at once": 10_000, "500 rows late": 250_000}
TWO_PERCENT = "2 % positives"
STREAMS = (*PLAIN, "10 % positives", TWO_PERCENT)

CLASSES = ("0", "1")
NAMES = (
    *(
        "accuracy",
        "error",
        "f1[1]",
        "kappa",
        "kappa_m",
        "g_mean",
        "mcc",
        "brier",
        "log_loss",
        "roc_auc[1]",
        "pr_auc[1]",
    ),
)
MEASURES: tuple[Measure, ...] = tuple(
    find_measure(name).bind(Schema((), CLASSES)) if "[" in name else find_measure(name)  # type: ignore[attr-defined]
    for name in NAMES
)
N_AREAS = 2
"""The last of them need votes in bins."""

AREAS_IN = 3
"""They are measured in every third repetition."""

LIVE = LiveTest(alpha=ALPHA, rope=0.0, shared=False)

SEEDS, MIRRORED, MIRRORED_NOISE = NULLS = ("seeds", "mirrored", "mirrored noise")
NOISES = (0.05, 0.02)
POWERS = tuple(f"noise {noise:g}" for noise in NOISES)
COLUMNS = (
    *("stream", "scheme", "labels", "case", "repetition"),
    *(f"{name}{what}" for name in NAMES for what in ("", " at the end")),
)

UNMEASURED = "-"
"""What the file of repetitions has where a measure was not measured."""

Row = dict[str, object]
Job = tuple[str, str, str, int]
"""The stream, the scheme, when labels come, and the number of the repetition."""

Cell = tuple[str, str, str, str, str]
"""The null, the scheme, when labels come, the stream or all of them, and the measure."""


def count_rows(stream: str, labels: str) -> int:
    """Return the number of rows of a stream."""
    return N_ROWS[labels] * (2 if stream == TWO_PERCENT and labels == "at once" else 1)


def open_stream(name: str, labels: str, repetition: int) -> Stream:
    """Return the rows of a repetition."""
    n_rows = count_rows(name, labels)
    if name in PLAIN:
        return in_memory(PLAIN[name](USED_SEEDS + repetition), n_rows)
    return ArrayStream(*replace(SYMMETRIC[name], n_rows=n_rows).draw(USED_SEEDS + repetition))


def build_learners(labels: str, scheme: str, repetition: int) -> dict[str, LearnerSpec]:
    """Return the learners; a noise filter with probability 0 only changes how seeds are derived."""
    tree = sg.HoeffdingTree(grace_period=50)
    bag = OzaBag(tree, 3) if labels == "at once" else OzaBag(sg.NaiveBayes(), 1)
    learners: dict[str, LearnerSpec] = {"bayes": sg.NaiveBayes(), "tree": tree, "a": NoiseFilter(bag, 0.0, seed=1)}
    if scheme != ONE_FOLD:
        learners["b"] = NoiseFilter(bag, 0.0, seed=2)
    tells_power = labels == "at once" and repetition <= POWER_REPETITIONS and scheme in ("bootstrap", ONE_FOLD)
    noises = NOISES if tells_power else NOISES[:1]
    return learners | {f"noise {noise:g}": NoiseFilter(bag, noise, seed=1) for noise in noises}


@dataclass
class Traces:
    """A recorder of the predictions of each learner in each fold."""

    batches: dict[tuple[str, int], list[Trace]] = field(default_factory=lambda: defaultdict(list))
    needs_votes: bool = True

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        """Open it for a run."""
        yield lambda batch: self.batches[batch.learner, batch.fold].append(batch.trace)

    def collect(self, learner: str, delay: int, n_rows: int) -> list[Trace]:
        """Return the predictions of a learner by fold, in the order in which labels arrive."""
        folds = sorted(fold for name, fold in self.batches if name == learner)
        return [join_traces(self.batches[learner, fold], delay, n_rows) for fold in folds]


def join_traces(parts: Sequence[Trace], delay: int, n_rows: int) -> Trace:
    """Join the predictions of consecutive batches; the row of each is that at which its label arrives, if it does."""
    names = ("row", "y_true", "y_pred", "majority_hit", "no_change_hit", "votes")
    columns = {name: np.concatenate([getattr(part, name) for part in parts if len(part)]) for name in names}
    columns["row"] = columns["row"] + delay
    arrived = int(np.searchsorted(columns["row"], n_rows))
    return Trace(**{name: column[:arrived] for name, column in columns.items()})


def mix(first: Sequence[Trace], second: Sequence[Trace], heads: NDArray[np.bool_]) -> list[Trace]:
    """Return the predictions of one learner for some rows and those of another for the rest, by fold."""
    return [
        replace(
            one,
            y_pred=np.where(heads, one.y_pred, other.y_pred),
            votes=np.where(heads[:, None], one.votes, other.votes),  # type: ignore[arg-type]
        )
        for one, other in zip(first, second, strict=True)
    ]


def choose_measures(repetition: int) -> tuple[Measure, ...]:
    """Return the measures of a repetition."""
    return MEASURES if repetition % AREAS_IN == 0 else MEASURES[:-N_AREAS]


class Blocks:
    """The tallies at the ends of blocks, as a run keeps them.

    Parameters
    ----------
    learners
        The predictions of each learner by fold.
    looks
        The rows of the looks, the last one that of the end.
    measures
        What will be measured.
    """

    def __init__(self, learners: Sequence[Sequence[Trace]], looks: Sequence[int], measures: Sequence[Measure]) -> None:
        self.measures = tuple(measures)
        statistics = {*list_statistics(measures), BASELINES} - {"rows"}
        layout = BlockLayout(2, tuple(sorted(statistics)))
        history = BlockHistory((len(learners), len(learners[0])), layout)
        kept = {}
        for index, trace in enumerate(trace for folds in learners for trace in folds):
            state = BlockState(layout, sg.Landmark().build(2, layout.native_statistics))  # type: ignore[arg-type]
            state.block_rows = sorted({*list_boundaries(0, looks[-1]), *looks})
            state.update(trace, looks)  # areas are exact at looks
            kept[index] = state.kept
        history.add(kept)
        self.find_end, self.build = history.find_end, history.build


def list_looks(n_rows: int, labels: str) -> list[int]:
    """Return the rows of the looks, growing geometrically."""
    first = FIRST_LOOK if labels == "at once" else n_rows // 2
    return [int(row) for row in np.unique(np.geomspace(first, n_rows, N_LOOKS).round())]


def look_at(
    learners: Sequence[Sequence[Trace]],
    blocks: Blocks,
    looks: Sequence[int],
    delay: int,
    live_test: LiveTest = LIVE,
) -> dict[tuple[int, str], Verdict]:
    """Return the live verdicts on the first two learners, the next two and so on, by pair and measure, after looks."""
    correct = np.stack([np.stack([trace.correct for trace in folds]) for folds in learners])
    measures = blocks.measures[:1] if live_test.exact else blocks.measures
    facts = LiveBlocks(blocks, measures, CLASSES, labels_wait=delay > 0)
    names = [str(number) for number in range(len(learners))]
    watch = PairWatch(names, len(learners[0]), live_test, live_blocks=facts)
    cuts = np.searchsorted(learners[0][0].row, looks)
    watch.update(correct, None, cuts.tolist(), looks, [delay] * len(looks))
    watch.analyse(looks[-1], delay)
    pairs = {
        (first, second): number for number, (first, second) in enumerate(zip(names[::2], names[1::2], strict=True))
    }
    found = ((pairs.get((verdict.first, verdict.second)), verdict) for verdict in watch.verdicts())
    return {(number, verdict.measure): verdict for number, verdict in found if number is not None}


def find_claim(verdict: Verdict) -> object:
    """Return the row at which a verdict was reached, whether or not it still holds; 0 for no claim."""
    if verdict.row is not None:
        return verdict.row
    if verdict.earlier is not None:
        return verdict.earlier.since
    return "" if verdict.interval is None else 0


def test_at_looks(blocks: Blocks, looks: Sequence[int], pair: int) -> Row:
    """Return the row from which on the two-way t of each measure is significant at all looks; empty if it is not.

    It looks where a live verdict is possible: with enough blocks, and rows of each class.
    """
    row: Row = {}
    ends = {blocks.find_end(look): look for look in looks}
    both = [2 * pair, 2 * pair + 1]
    tallies = [
        (look, at_look.select_learners(both))
        for end, look in reversed(ends.items())
        if (at_look := blocks.build(end)) is not None
    ]
    for measure in blocks.measures:
        since: int | None = None
        for look, at_look in tallies:
            if analyse_measures(at_look, [measure], [(0, 1)], CLASSES)[0].notes[0]:
                break
            if not two_way_t(measure_without_blocks(at_look, measure)).p_value <= ALPHA:
                break
            since = look
        row[f"{measure.name} at the end"] = "" if since is None else since
    return row


def run(job: Job) -> Iterator[Row]:
    """Run one repetition; yield a row for each case."""
    stream_name, scheme, labels, repetition = job
    stream, traces = open_stream(stream_name, labels, repetition), Traces()
    learners = build_learners(labels, scheme, repetition)
    sg.evaluate(
        stream,
        learners,
        scheme=SCHEMES[scheme](),
        measures="accuracy",
        seed=USED_SEEDS + repetition,
        every=stream.n_rows,
        live_test=None,
        labelling=LABELLINGS[labels],
        recorders=[traces],
        backend=sg.Threads(1),
    )
    n_rows = int(stream.n_rows or 0)
    by_fold = {name: traces.collect(name, DELAYS[labels], n_rows) for name in learners}
    heads = randomness.uniform(USED_SEEDS + repetition, "coin", 0, 0, len(by_fold["a"][0])) < 0.5
    pairs = (
        {case: (by_fold["a"], by_fold[case]) for case in POWERS if case in learners} if "noise 0.02" in learners else {}
    )
    if "b" in learners:
        pairs[SEEDS] = (by_fold["a"], by_fold["b"])
    for null, (one, other) in {MIRRORED: ("bayes", "tree"), MIRRORED_NOISE: ("a", "noise 0.05")}.items():
        pairs[null] = (mix(by_fold[one], by_fold[other], heads), mix(by_fold[one], by_fold[other], ~heads))
    compared = [learner for pair in pairs.values() for learner in pair]
    looks = list_looks(n_rows, labels)
    blocks = Blocks(compared, looks, choose_measures(repetition))
    verdicts = look_at(compared, blocks, looks, DELAYS[labels])
    if scheme == ONE_FOLD and not DELAYS[labels]:
        verdicts |= look_at(compared, blocks, looks, 0, replace(LIVE, exact=True))
    for number, case in enumerate(pairs):
        claims = {measure.name: find_claim(verdicts[number, measure.name]) for measure in blocks.measures}
        at_the_end = test_at_looks(blocks, looks, number) if case in POWERS else {}
        yield {"case": case, **claims, **at_the_end}


def check_looks(n_repetitions: int = 2) -> None:
    """Print the greatest difference of an end of an interval from that of a run that looks at the same rows."""
    worst = 0.0
    for repetition, scheme, labels in product(range(1, n_repetitions + 1), SCHEMES, DELAYS):
        stream, delay = open_stream("10 % positives", labels, repetition), DELAYS[labels]
        learners = {name: build_learners(labels, scheme, repetition)[name] for name in ("bayes", "a")}
        traces = Traces()
        results = sg.evaluate(
            stream,
            learners,
            scheme=SCHEMES[scheme](),
            measures=NAMES,
            seed=USED_SEEDS + repetition,
            labelling=LABELLINGS[labels],
            live_test=replace(LIVE, measure=NAMES),
            recorders=[traces],
        )
        n_rows = int(stream.n_rows or 0)
        pair = [traces.collect(name, delay, n_rows) for name in learners]
        looks = results.differences.rows.tolist() if results.differences is not None else []
        verdicts = look_at(pair, Blocks(pair, looks, MEASURES), looks, delay)
        for ours, theirs in zip(verdicts.values(), results.verdicts, strict=True):
            if ours.interval is None or theirs.interval is None:
                print(f"{ours.measure}: {ours.interval} here, {theirs.interval} in the run")
            else:
                worst = max(worst, *(abs(a - b) for a, b in zip(ours.interval, theirs.interval, strict=True)))
    print(f"greatest difference of an end of an interval: {worst:.3g}")


def list_jobs(repetitions: range) -> Iterator[Job]:
    """Yield the jobs, with all streams and schemes of a repetition before the next; late labels in every fifth."""
    for repetition in repetitions:
        yield from ((stream, scheme, "at once", repetition) for stream, scheme in product(STREAMS, SCHEMES))
        if repetition % (REPETITIONS // LATE_REPETITIONS) == 0:
            yield from ((stream, scheme, "500 rows late", repetition) for stream, scheme in product(STREAMS, SCHEMES))


def read_repetitions() -> list[dict[str, str]]:
    """Read the finished repetitions of all processes and earlier runs, each once, in order."""
    rows: list[dict[str, str]] = []
    if KEPT_FILE.exists():
        with gzip.open(KEPT_FILE, "rt", encoding="utf-8", newline="") as lines:
            rows += csv.DictReader(lines)
    for path in sorted(REPETITIONS_FILE.parent.glob(f"{REPETITIONS_FILE.stem}*.csv")):
        with path.open(encoding="utf-8", newline="") as lines:
            rows += csv.DictReader(lines)
    by_job = {(int(row["repetition"]), row["labels"], row["stream"], row["scheme"], row["case"]): row for row in rows}
    return [by_job[key] for key in sorted(by_job)]


def write_repetitions(rows: Sequence[dict[str, str]]) -> None:
    """Write all finished repetitions; the same ones give the same bytes."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    KEPT_FILE.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def main() -> None:
    """Run the missing repetitions, then those of cells above the limit with fresh seeds; write the tables."""
    n_repetitions = int(os.environ.get("CALIBRATION_REPETITIONS", REPETITIONS))
    part, n_parts = (int(number) for number in os.environ.get("CALIBRATION_PART", "1/1").split("/"))
    run_missing(list(list_jobs(range(1, n_repetitions + 1)))[part - 1 :: n_parts], part)
    if n_repetitions == REPETITIONS and n_parts == 1:
        above = {(r.stream, r.scheme, r.labels) for r in compute_rates(read_repetitions()) if r.is_above}
        fresh = range(REPETITIONS + 1, REPETITIONS + FRESH_REPETITIONS + 1)
        run_missing([job for job in list_jobs(fresh) if job[:3] in above], part)
    write_tables()


def run_missing(jobs: Sequence[Job], part: int) -> None:
    """Run the jobs that are not finished."""
    done = {(row["stream"], row["scheme"], row["labels"], int(row["repetition"])) for row in read_repetitions()}
    path = REPETITIONS_FILE.with_stem(f"{REPETITIONS_FILE.stem}-{part}")
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, UNMEASURED, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        for job in jobs:
            if job not in done:
                facts = dict(zip(("stream", "scheme", "labels", "repetition"), job, strict=True))
                writer.writerows([{**facts, **row} for row in run(job)])
                file.flush()


@dataclass(frozen=True)
class Rate:
    """How often a difference was claimed in one measure under a null, on one stream or on all of them."""

    null: str
    scheme: str
    labels: str
    stream: str
    measure: str
    n: int
    n_refused: int
    n_claimed: int
    fresh: bool = False

    @property
    def share(self) -> float:
        """The share of claims among the repetitions with an interval."""
        return self.n_claimed / self.n if self.n else math.nan

    @property
    def is_above(self) -> bool:
        """Whether it is above what the rule allows."""
        return self.share > (POOLED_LIMIT if self.stream == "all" else CELL_LIMIT)

    @property
    def is_above_beyond_chance(self) -> bool:
        """Whether as many claims are too unlikely at the limit, by the binomial distribution."""
        from scipy.stats import binom  # noqa: PLC0415

        limit = POOLED_LIMIT if self.stream == "all" else CELL_LIMIT
        return float(binom.sf(self.n_claimed - 1, self.n, limit)) < 0.001

    @property
    def upper(self) -> float:
        """The upper end of the exact 95 % interval of the share."""
        from scipy.stats import beta  # noqa: PLC0415

        return float(beta.ppf(0.975, self.n_claimed + 1, self.n - self.n_claimed)) if self.n > self.n_claimed else 1.0

    @property
    def cell(self) -> Cell:
        """What it is a rate of."""
        return (self.null, self.scheme, self.labels, self.stream, self.measure)


def compute_rates(rows: Sequence[dict[str, str]], *, fresh: bool = False) -> list[Rate]:
    """Compute the rates of all cells, and pooled over the streams; of the first repetitions or of the fresh ones."""
    cells: dict[Cell, list[str]] = defaultdict(list)
    for row in rows:
        if (int(row["repetition"]) > REPETITIONS) == fresh and row["case"] in NULLS:
            for stream, name in product(("all", row["stream"]), NAMES):
                if row[name] != UNMEASURED:
                    cells[row["case"], row["scheme"], row["labels"], stream, name].append(row[name])
    rates = []
    for cell in sorted(cells, key=_rank_cell):
        tested = [int(claim) for claim in cells[cell] if claim]
        counts = (len(tested), len(cells[cell]) - len(tested), sum(claim > 0 for claim in tested))
        rates.append(Rate(*cell, *counts, fresh))
    return rates


def _rank_cell(cell: Cell) -> tuple[int, ...]:
    orders = (NULLS, tuple(SCHEMES), tuple(DELAYS), ("all", *STREAMS), NAMES)
    return tuple(order.index(part) for order, part in zip(orders, cell, strict=True))


def judge(rates: Sequence[Rate], fresh: Sequence[Rate]) -> list[Rate]:
    """Return the rates that break the rule; a single cell above its limit counts by its fresh repetitions alone."""
    again = {rate.cell: rate for rate in fresh if rate.stream != "all"}
    counted = [again.get(rate.cell, rate) if rate.is_above else rate for rate in rates]
    return [rate for rate in counted if rate.is_above]


def write_tables() -> None:
    """Write the rates of all cells and the tables of the page; print whether the rule holds."""
    rows = read_repetitions()
    write_repetitions(rows)
    rates, fresh = compute_rates(rows), compute_rates(rows, fresh=True)
    with RATES_FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["null", "scheme", "labels", "stream", "measure", "tested", "refused", "claimed", "fresh"])
        writer.writerows([*r.cell, r.n, r.n_refused, r.n_claimed, int(r.fresh)] for r in (*rates, *fresh))
    text = "\n".join(
        [*write_page(rates, fresh), *write_power(rows), "", describe_rule(rates, fresh), "", describe_power(rows), ""]
    )
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")
    print(text)


def write_page(rates: Sequence[Rate], fresh: Sequence[Rate]) -> Iterator[str]:
    """Yield the lines of the tables of false claims: pooled over the streams, and the worst cells."""
    for labels in DELAYS:
        pooled = {rate.cell: rate for rate in rates if rate.stream == "all" and rate.labels == labels}
        if pooled:
            yield f"\nShare of runs with a false claim at any look, labels {labels}, pooled over five streams.\n"
            yield from write_table(pooled, labels)
    again = {rate.cell: rate for rate in fresh}
    yield "\nThe single cells with the highest shares.\n"
    yield "| null | folds by | labels | stream | measure | n | share | with fresh seeds |"
    yield "|---|---|---|---|---|---|---|---|"
    single = [rate for rate in rates if rate.stream != "all" and rate.n]
    for rate in sorted(single, key=lambda rate: -rate.share)[:8]:
        second = again.get(rate.cell) if rate.is_above else None
        shares = (f"{rate.share:.3f}", f"{second.share:.3f} of {second.n:,}" if second is not None else "")
        facts = (rate.null, rate.scheme, rate.labels, rate.stream, f"`{rate.measure}`", f"{rate.n:,}", *shares)
        yield "| " + " | ".join(facts) + " |"


def write_table(pooled: dict[Cell, Rate], labels: str) -> Iterator[str]:
    """Yield the lines of a table of pooled rates."""
    yield "| null | folds by | n | " + " | ".join(f"`{name}`" for name in NAMES) + " |"
    yield "|" + "---|" * (3 + len(NAMES))
    for null, scheme in product(NULLS, SCHEMES):
        row = [pooled.get((null, scheme, labels, "all", name)) for name in NAMES]
        if any(row):
            n = max(rate.n + rate.n_refused for rate in row if rate is not None)
            shares = ["" if rate is None else format_rate(rate) for rate in row]
            yield f"| {null} | {scheme} | {n:,} | " + " | ".join(shares) + " |"


def format_rate(rate: Rate) -> str:
    """Format a rate, with the share of repetitions without an interval if there are any."""
    refused = rate.n_refused / (rate.n + rate.n_refused)
    return f"{rate.share:.3f}" + (f" ({refused:.0%} refused)" if refused >= 0.005 else "")


def write_power(rows: Sequence[dict[str, str]]) -> Iterator[str]:
    """Yield the lines of the table of rows that a live verdict needs, compared with the test at the end."""
    yield "\nRows of the live verdict, divided by the rows from which on the test at the end is significant: medians.\n"
    yield "| noise | folds | n | " + " | ".join(f"`{name}`" for name in NAMES) + " |"
    yield "|" + "---|" * (3 + len(NAMES))
    for case, scheme in product(POWERS, ("bootstrap", ONE_FOLD)):
        chosen = [row for row in rows if (row["case"], row["scheme"]) == (case, scheme)]
        if chosen:
            ratios = [f"{find_ratio(chosen, name):.2f}".replace("nan", "") for name in NAMES]
            folds = "ten, common seeds" if scheme == "bootstrap" else "one"
            yield f"| {case.removeprefix('noise ')} | {folds} | {len(chosen):,} | " + " | ".join(ratios) + " |"


def find_ratio(rows: Sequence[dict[str, str]], name: str) -> float:
    """Return the median ratio of rows; infinite if less than half of the runs have a verdict, NaN if there are none."""
    ratios = []
    for row in rows:
        end = row[f"{name} at the end"]
        if end.isdecimal() and 3 * int(end) <= count_rows(row["stream"], row["labels"]):
            ratios.append(int(row[name] or 0) / int(end) or math.inf)
    return float(np.median(ratios)) if ratios else math.nan


def describe_rule(rates: Sequence[Rate], fresh: Sequence[Rate]) -> str:
    """Return whether the rule holds, in words; of an unfinished benchmark, what is above its limit beyond chance."""
    if not rates:
        return "No repetitions were run."
    broken = judge(rates, fresh)
    pooled = max(rate.share for rate in rates if rate.stream == "all" and rate.n)
    n_done = {labels: count_done(rates, labels) for labels in DELAYS}
    if n_done == {"at once": REPETITIONS, "500 rows late": LATE_REPETITIONS}:
        intro = f"The rule {'is broken by' if broken else 'holds'}: the highest pooled share is {pooled:.3f}."
    else:
        broken = [rate for rate in broken if rate.is_above_beyond_chance]
        at_once, late = n_done.values()
        done = f"So far {at_once:,} of {REPETITIONS:,} repetitions, and {late} of {LATE_REPETITIONS} with late labels"
        what = "above its limit beyond chance (p < 0.001)"
        intro = f"{done}, have been run. " + (f"What is {what}:" if broken else f"No cell is {what}. ")
        if not broken:
            intro += describe_upper_ends(rates)
    lines = [f"- {', '.join(rate.cell)}: {rate.share:.3f} of {rate.n:,}" for rate in broken]
    return "\n".join([intro, "", *lines] if lines else [intro])


def describe_upper_ends(rates: Sequence[Rate]) -> str:
    """Return how high the pooled rates can be by their 95 % intervals, in words."""
    pooled = [rate for rate in rates if rate.stream == "all" and rate.n]
    shown = [rate for rate in pooled if rate.upper <= POOLED_LIMIT]
    open_cells = sorted((rate for rate in pooled if rate.upper > POOLED_LIMIT), key=lambda rate: -rate.upper)
    text = f"The 95 % intervals of {len(shown)} of the {len(pooled)} pooled shares end at {POOLED_LIMIT} or below"
    if open_cells:
        worst = open_cells[0]
        text += (
            f"; the others are not known as exactly yet, the least {worst.measure} ({worst.null}, {worst.scheme},"
            f" labels {worst.labels}): {worst.share:.3f} of {worst.n:,}, up to {worst.upper:.3f}"
        )
    return text + "."


def describe_power(rows: Sequence[dict[str, str]]) -> str:
    """Return which ratios of rows are above the limit, in words."""
    above = []
    for case, scheme, name in product(POWERS, ("bootstrap", ONE_FOLD), NAMES):
        ratio = find_ratio([row for row in rows if (row["case"], row["scheme"]) == (case, scheme)], name)
        if ratio > RATIO_LIMIT:
            above.append(f"- {case}, {scheme}, {name}: {ratio:.2f}")
    if not above:
        return f"No median ratio is above {RATIO_LIMIT:g}."
    return "\n".join([f"Median ratios above {RATIO_LIMIT:g}:", "", *above])


def count_done(rates: Sequence[Rate], labels: str) -> int:
    """Return the number of finished repetitions of all streams."""
    whole = {(r.scheme, r.stream): r.n + r.n_refused for r in rates if r.labels == labels and r.measure == NAMES[0]}
    return min(whole.values(), default=0)


if __name__ == "__main__":
    main()
