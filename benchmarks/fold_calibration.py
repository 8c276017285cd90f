"""Calibration of tests over folds or rows alone, in the accuracy; see docs/calibration.md.

Every repetition evaluates the learners below with new seeds on 1,000 rows of a new stream (or part of electricity). The
cases:

- seeds: two random forests of one algorithm, with separate seeds in each fold: no difference.
- one seed: the same, but each of the two has one seed for all of its folds, as if folds copied one learner.
- mirrored: two algorithms of equal true accuracy on any stream: a coin per row decides which of two learners predicts
  for the first; the other predicts for the second. Without randomness the learners are naive Bayes and a Hoeffding
  tree, with randomness naive Bayes and the forest. The folds share the coins, as they share the rows.
- noise: a forest against itself behind a noise filter that redraws the class with probability 0.05 or 0.10, with the
  same seeds (common random numbers) and with other seeds, the latter also for 20 and 30 folds.

Repetitions are appended to results/fold_calibration.csv as they end, so that ``python -m benchmarks fold_calibration``
can be stopped at any time and resumes there. At the end it writes the tables to the page, and by stream to
results/fold_calibration.md. With ``CALIBRATION_REPETITIONS=0`` it only writes the tables; with
``CALIBRATION_PART=2/3`` it runs the second third of the missing repetitions, to run several processes at once.
"""

import csv
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge import randomness
from streamgauge.errors import StreamgaugeError
from streamgauge.learners import AdaptiveRandomForest, NoiseFilter
from streamgauge.protocols import CellBatch, Learner, LearnerSpec, Scheme, Stream
from streamgauge.records import PairSums, Schema
from streamgauge.results import Results
from streamgauge.significance import PairWatch, mcnemar, sign_flip, wilcoxon
from streamgauge.streams import LED, in_memory, load

N_ROWS = 1000
K = 10
REPETITIONS = 200
MANY_FOLDS = (20, 30)
REPETITIONS_WITH_MANY_FOLDS = 100
ALPHA = 0.05
RESULTS = Path(__file__).parent / "results" / "fold_calibration.csv"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
MARKS = ("<!-- tables -->", "<!-- end of tables -->")
TABLES = RESULTS.with_suffix(".md")
N_ELECTRICITY = 45_312

SCHEMES: dict[str, Callable[[int], Scheme]] = {
    "bootstrap": sg.Bootstrap,
    "cross-validation": sg.CrossValidation,
    "split": sg.Split,
}
STREAMS = ("RBF", "SEA", "hyperplane", "LED", "electricity")
TESTS = ("wilcoxon", "sign_flip", "mcnemar")
COLUMNS = ("stream", "scheme", "folds", "repetition", "claim", "difference", *TESTS)

CLAIMS = {
    "seeds": ("a", "b"),
    "one seed": ("one a", "one b"),
    "noise 0.05, same seeds": ("a", "a 0.05"),
    "noise 0.10, same seeds": ("a", "a 0.1"),
    "noise 0.05, other seeds": ("b", "a 0.05"),
    "noise 0.10, other seeds": ("b", "a 0.1"),
}
MIRRORED = {"mirrored, without randomness": ("bayes", "tree"), "mirrored, with randomness": ("bayes", "a")}
NULLS = ("seeds", *MIRRORED)
NOISES = tuple(claim for claim in CLAIMS if claim.startswith("noise"))

Row = dict[str, object]
Job = tuple[str, str, int, int]


@dataclass(frozen=True)
class OneSeed:
    """A learner with the same seed in every fold."""

    learner: LearnerSpec
    seed: int
    seedless: bool = False

    def build(self, schema: Schema, seed: int) -> Learner:
        """Build the learner, ignoring the seed of the fold."""
        del seed
        return self.learner.build(schema, self.seed)


@dataclass
class Hits:
    """A recorder of correct predictions of some learners: by learner and fold, in batches."""

    learners: frozenset[str]
    batches: dict[tuple[str, int], list[NDArray[np.bool_]]] = field(default_factory=dict)
    needs_votes: bool = False

    @contextmanager
    def open(self, *_: object) -> Iterator[Callable[[CellBatch], None]]:
        """Open it for a run."""
        yield self._record

    def _record(self, batch: CellBatch) -> None:
        if batch.learner in self.learners:
            self.batches.setdefault((batch.learner, batch.fold), []).append(batch.trace.correct)

    def collect(self, learner: str) -> NDArray[np.bool_]:
        """Return the hits of a learner, bool [folds, n]."""
        folds = sorted(fold for name, fold in self.batches if name == learner)
        return np.stack([np.concatenate(self.batches[learner, fold]) for fold in folds])


def open_stream(name: str, repetition: int) -> Stream:
    """Return the rows of a repetition."""
    seed = repetition + 1
    if name == "electricity":
        start = int(randomness.below(seed, "part", 0, 0, 1, N_ELECTRICITY - N_ROWS)[0])
        return in_memory(load_electricity(), N_ROWS, start)
    source = {
        "RBF": sg.RandomRBF(seed=seed),
        "SEA": sg.SEA(drift_every=N_ROWS // 4, noise=0.1, seed=seed),
        "hyperplane": sg.Hyperplane(n_drifting=5, magnitude=0.001, seed=seed),
        "LED": LED(seed=seed),
    }[name]
    return in_memory(source, N_ROWS)


def build_learners(repetition: int) -> dict[str, LearnerSpec]:
    """Return the learners; a noise filter with probability 0 only changes how seeds are derived."""
    forest = AdaptiveRandomForest(3)
    return {
        "a": NoiseFilter(forest, 0.0, seed=1),
        "b": NoiseFilter(forest, 0.0, seed=2),
        "a 0.05": NoiseFilter(forest, 0.05, seed=1, redraw=True),
        "a 0.1": NoiseFilter(forest, 0.10, seed=1, redraw=True),
        "one a": OneSeed(forest, 2 * repetition + 1),
        "one b": OneSeed(forest, 2 * repetition + 2),
        "bayes": sg.NaiveBayes(),
        "tree": sg.HoeffdingTree(grace_period=50, leaf_prediction="majority"),
    }


def run(job: Job) -> list[Row]:
    """Run one repetition; return a row for each case."""
    stream, scheme, n_folds, repetition = job
    learners, hits = build_learners(repetition), Hits(frozenset({"a", "b", "bayes", "tree"}))
    if n_folds != K:
        learners = {name: learners[name] for name in ("b", "a 0.05", "a 0.1")}
    results = sg.evaluate(
        open_stream(stream, repetition),
        learners,
        scheme=SCHEMES[scheme](n_folds),
        seed=repetition + 1,
        every=N_ROWS,
        live_test=None,
        recorders=[hits] if n_folds == K else [],
        backend=sg.Threads(1),
    )
    claims = {claim: pair for claim, pair in CLAIMS.items() if set(pair) <= set(learners)}
    rows = [run_tests(claim, find_pair(results, *pair)) for claim, pair in claims.items()]
    rows += mirror(hits, repetition) if n_folds == K else []
    facts = dict(zip(COLUMNS[:4], job, strict=True))
    return [{**facts, **row} for row in rows]


def find_pair(results: Results, first: str, second: str) -> PairSums:
    """Return the sums of two learners, in any order."""
    return next(pair for pair in results.pairs if {pair.first, pair.second} == {first, second})


def mirror(hits: Hits, repetition: int) -> Iterator[Row]:
    """Choose by a coin per row which of two learners predicts for the first; a random learner is run with two seeds."""
    heads = randomness.uniform(repetition + 1, "coin", 0, 0, N_ROWS) < 0.5
    correct = []
    for first, second in MIRRORED.values():
        twins = (hits.collect(second), hits.collect("b" if second == "a" else second))
        correct += [np.where(heads, hits.collect(first), twins[0]), np.where(heads, twins[1], hits.collect(first))]
    watch = PairWatch([str(number) for number in range(len(correct))], K, None)
    watch.update(np.ascontiguousarray(np.stack(correct)), None, [], [])
    for claim, index in zip(MIRRORED, (0, -1), strict=True):  # the pair of the first two, and that of the last two
        yield run_tests(claim, watch.sums()[index])


def run_tests(claim: str, pair: PairSums) -> Row:
    """Return the p-value of each test of a pair."""
    differences = pair.fold_differences
    tests = (
        wilcoxon(differences),
        sign_flip(differences, n_flips=10_000),
        mcnemar(int(pair.only_first[0]), int(pair.only_second[0])),
    )
    p_values = {name: f"{test.p_value:.6g}" for name, test in zip(TESTS, tests, strict=True)}
    return {"claim": claim, "difference": f"{differences.mean():.6g}", **p_values}


def list_jobs(n_repetitions: int) -> Iterator[Job]:
    """Yield the jobs, with all streams and schemes of a repetition before the next."""
    for repetition in range(n_repetitions):
        yield from ((stream, scheme, K, repetition) for stream, scheme in product(STREAMS, SCHEMES))
    for repetition in range(min(n_repetitions, REPETITIONS_WITH_MANY_FOLDS)):
        yield from ((stream, "bootstrap", k, repetition) for stream, k in product(STREAMS, MANY_FOLDS))


def _has_electricity() -> bool:
    """Return whether the registry finds the stream, in STREAMGAUGE_DATA or its cache."""
    try:
        load("electricity", offline=True)
    except StreamgaugeError:
        return False
    return True


@cache
def load_electricity() -> Stream:
    """Return the rows of the electricity market."""
    return in_memory(load("electricity", offline=True), N_ELECTRICITY)


def read_rows() -> list[dict[str, str]]:
    """Read the finished repetitions."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def main() -> None:
    """Run the missing repetitions, then write and print the tables."""
    n_repetitions = int(os.environ.get("CALIBRATION_REPETITIONS", REPETITIONS))
    part, n_parts = (int(number) for number in os.environ.get("CALIBRATION_PART", "1/1").split("/"))
    done = {(r["stream"], r["scheme"], int(r["folds"]), int(r["repetition"])) for r in read_rows()}
    missing = [
        job for job in list_jobs(n_repetitions) if job not in done and (job[0] != "electricity" or _has_electricity())
    ]
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        for job in missing[part - 1 :: n_parts]:
            writer.writerows(run(job))
            file.flush()
    rows = read_rows()
    summary = "\n".join(write_tables(rows, streams=("all",))) + "\n"
    TABLES.write_text("\n".join(write_tables(rows)).lstrip() + "\n", encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{summary}{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")
    print(summary)


def write_tables(rows: Sequence[dict[str, str]], streams: Sequence[str] = ("all", *STREAMS)) -> Iterator[str]:
    """Yield the lines of the tables of some streams, in Markdown."""
    yield "\nShare of claims if there is no difference; it should be at most 0.05, up to sampling error.\n"
    yield from write_table(rows, NULLS, K, streams)
    yield "\nShare of claims if there is no difference, but all folds of a learner have one seed.\n"
    yield from write_table(rows, ("one seed",), K, streams)
    yield "\nShare of claims if there is a difference.\n"
    yield from write_table(rows, NOISES, K, streams)
    for k in MANY_FOLDS:
        yield f"\nShare of claims if there is a difference, with {k} folds.\n"
        yield from write_table(rows, NOISES[2:], k, streams)


def write_table(
    rows: Sequence[dict[str, str]], claims: Sequence[str], n_folds: int, streams: Sequence[str]
) -> Iterator[str]:
    """Yield the lines of a table with the rates of some cases and their standard errors."""
    heads = ("claim", "folds by", "stream", "n", "Wilcoxon", "sign-flip", "McNemar")
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for claim, scheme, stream in product(claims, SCHEMES, streams):
        chosen = [
            row
            for row in rows
            if (row["claim"], row["scheme"], int(row["folds"])) == (claim, scheme, n_folds)
            and stream in ("all", row["stream"])
        ]
        if chosen:
            rejected = {test: [float(row[test]) <= ALPHA for row in chosen] for test in TESTS}
            rates = " | ".join(map(format_rate, rejected.values()))
            yield f"| {claim} | {scheme} | {stream} | {len(chosen)} | {rates} |"


def format_rate(claimed: Sequence[bool]) -> str:
    """Format a rate with its standard error."""
    mean = sum(claimed) / len(claimed)
    return f"{mean:.3f} ±{math.sqrt(mean * (1 - mean) / len(claimed)):.3f}"


if __name__ == "__main__":
    main()
