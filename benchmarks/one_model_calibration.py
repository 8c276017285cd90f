"""Calibration of verdicts on one model alone: false claims at any of 100 looks, and how soon a change is found.

Each case simulates the predictions of a model whose measure is exactly at its limit, or was better and comes to its
limit, so that any claim that it breaks the requirement is false (and, exactly at the limit, also that it keeps it). The
looks are at geometric rows. With late labels a row counts when its label arrives, 500 rows later; in the cases "in
runs" errors come in runs of 500 rows, so that the rows whose labels are still missing depend on each other. The cases
with a learner run an evaluation on labels that are coins: every learner errs on half of the rows.

The rule: pooled over all cases at most 0.055 of the repetitions may have a false claim at any look, and in no case more
than 0.064.

The power is the number of rows after a change from an error of 2 % to 8 % at row 100,000 until ``error<0.05`` is known
to be broken, with the starts of this package and with the mean over all rows alone.

Repetitions are appended to results/one_model_calibration.csv as they end, so that ``python -m benchmarks
one_model_calibration`` can be stopped at any time and resumes there. At the end it writes the tables to the page. With
``CALIBRATION_REPETITIONS=0`` it only writes the tables.
"""

import csv
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge.labelling import Delayed
from streamgauge.records import Attribute, BlockLayout, BlockTallies, CellBlocks, Schema
from streamgauge.records.blocks import BASELINES, list_boundaries
from streamgauge.significance import LiveTest
from streamgauge.significance.requirements import Requirement
from streamgauge.significance.single_model import ModelWatch
from streamgauge.streams import ArrayStream

REPETITIONS = 1000
REPETITIONS_WITH_LEARNER = 200
REPETITIONS_OF_CHANGES = 50
AT_ONCE = 50
N_LOOKS = 100
DELAY = 500
N_POWER = 200_000
CHANGE = 100_000
ALPHA = 0.05
RESULTS = Path(__file__).parent / "results" / "one_model_calibration.csv"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "calibration.md"
MARKS = ("<!-- one model -->", "<!-- end of one model -->")
COLUMNS = ("case", "repetition", "outcome", "row")

SCHEMA = Schema((Attribute("x"),), ("0", "1"))
LAYOUT = BlockLayout(2, (BASELINES,))

Column = NDArray[np.bool_]
Rows = tuple[Column, Column, Column]
"""Whether each row is of class 1, was predicted as such, and whether the majority class was right."""


def draw_errors(rng: np.random.Generator, error: NDArray[np.float64] | float, n: int) -> Rows:
    """Draw balanced labels, and predictions with an error rate."""
    positive = rng.random(n) < 0.5
    return positive, positive ^ (rng.random(n) < error), np.zeros(n, dtype=np.bool_)


def draw_drift(rng: np.random.Generator, n: int) -> Rows:
    """Draw errors that rise from 2 % to the limit of 5 %."""
    return draw_errors(rng, 0.05 - 0.03 * np.maximum(1.0 - 2.0 * np.arange(n) / n, 0.0), n)


def draw_rare(rng: np.random.Generator, n: int) -> Rows:
    """Draw a class of 2 % of the rows, half of which are found, among as many false alarms."""
    positive = rng.random(n) < 0.02
    return positive, rng.random(n) < np.where(positive, 0.5, 0.01), np.zeros(n, dtype=np.bool_)


def draw_f1(rng: np.random.Generator, n: int) -> Rows:
    """Draw a class of 10 % of the rows with an F1 of 0.6: 6 of 100 rows found, 4 missed and 4 false alarms."""
    positive = rng.random(n) < 0.1
    return positive, rng.random(n) < np.where(positive, 0.6, 4 / 90), np.zeros(n, dtype=np.bool_)


def draw_baseline(rng: np.random.Generator, n: int) -> Rows:
    """Draw a model and a majority class that err on 30 % of the rows each, half of them the same rows."""
    positive = rng.random(n) < 0.3
    shared, own = rng.random(n) < 0.3, rng.random(n) < 0.3
    same = rng.random(n) < 0.5
    return positive, positive ^ own, ~np.where(same, own, shared)


def repeat_in_runs(rng: np.random.Generator, rates: tuple[float, float], n: int) -> NDArray[np.float64]:
    """Return a rate for each row: in each run of 500 rows one of two, by chance."""
    return np.repeat(rng.choice(rates, -(-n // DELAY)), DELAY)[:n]


def draw_kappa_in_runs(rng: np.random.Generator, n: int) -> Rows:
    """Draw a kappa of 0.6: in each run of 500 rows the model errs on one row in ten, or on three."""
    return draw_errors(rng, repeat_in_runs(rng, (0.1, 0.3), n), n)


def draw_baseline_in_runs(rng: np.random.Generator, n: int) -> Rows:
    """Draw a model and a majority class that are equally good on every row: in each run both err rarely, or often."""
    rates = repeat_in_runs(rng, (0.05, 0.4), n)
    positive, own = rng.random(n) < 0.3, rng.random(n) < rates
    return positive, positive ^ own, rng.random(n) >= rates


def draw_coins(rng: np.random.Generator, n: int) -> Rows:
    """Draw labels that are coins, for a learner."""
    return draw_errors(rng, 0.5, n)


@dataclass(frozen=True)
class Case:
    """What is simulated: the requirement, the draw of the rows, their number, and whether labels are late."""

    requirement: str
    draw: Callable[[np.random.Generator, int], Rows]
    n_rows: int
    late: bool = False
    claims: tuple[str, ...] = ("broken", "kept")
    """The outcomes that are false."""

    @property
    def repetitions(self) -> int:
        """The number of repetitions."""
        return REPETITIONS_WITH_LEARNER if self.draw is draw_coins else REPETITIONS

    @property
    def looks(self) -> list[int]:
        """The rows of the looks."""
        return np.unique(np.geomspace(100, self.n_rows, N_LOOKS).astype(int)).tolist()  # type: ignore[no-any-return]


def draw_at_limit(rng: np.random.Generator, n: int) -> Rows:
    """Draw errors at the limit."""
    return draw_errors(rng, 0.05, n)


def draw_kappa(rng: np.random.Generator, n: int) -> Rows:
    """Draw a kappa of 0.6."""
    return draw_errors(rng, 0.2, n)


def draw_change(rng: np.random.Generator, n: int) -> Rows:
    """Draw errors that change from 2 % to 8 %."""
    return draw_errors(rng, np.where(np.arange(n) < CHANGE, 0.02, 0.08), n)


def draw_small_change(rng: np.random.Generator, n: int) -> Rows:
    """Draw errors that change from 2 % to 6 %."""
    return draw_errors(rng, np.where(np.arange(n) < CHANGE, 0.02, 0.06), n)


NOW, LATER = 20_000, 400_000
CASES = {
    "error<0.05, at the limit": Case("error<0.05", draw_at_limit, NOW),
    "error<0.05, rising to the limit": Case("error<0.05", draw_drift, NOW, claims=("broken",)),
    "recall[1]>0.5, 2 % positives": Case("recall[1]>0.5", draw_rare, NOW),
    "f1[1]>0.6": Case("f1[1]>0.6", draw_f1, NOW),
    "kappa>0.6": Case("kappa>0.6", draw_kappa, NOW),
    "error<reference(5000)+0": Case("error<reference(5000)+0", draw_at_limit, NOW),
    "recall[1]>reference(5000)-0": Case("recall[1]>reference(5000)-0", draw_rare, NOW),
    "beats majority": Case("beats majority", draw_baseline, NOW),
    "error<0.5, naive Bayes on coins": Case("error<0.5", draw_coins, 5_000),
    "error<reference(1000)+0, naive Bayes on coins": Case("error<reference(1000)+0", draw_coins, 5_000),
    "beats majority, naive Bayes on coins": Case("beats majority", draw_coins, 5_000),
    "error<0.5, naive Bayes on coins, late": Case("error<0.5", draw_coins, 10_000, late=True),
    "beats majority, naive Bayes on coins, late": Case("beats majority", draw_coins, 10_000, late=True),
    "error<0.05, at the limit, late": Case("error<0.05", draw_at_limit, NOW, late=True),
    "error<0.05, rising to the limit, late": Case("error<0.05", draw_drift, NOW, late=True, claims=("broken",)),
    "recall[1]>0.5, 2 % positives, late": Case("recall[1]>0.5", draw_rare, NOW, late=True),
    "f1[1]>0.6, late": Case("f1[1]>0.6", draw_f1, NOW, late=True),
    "error<reference(5000)+0, late": Case("error<reference(5000)+0", draw_at_limit, NOW, late=True),
    "beats majority, late": Case("beats majority", draw_baseline, NOW, late=True),
    "beats majority, in runs, late": Case("beats majority", draw_baseline_in_runs, NOW, late=True),
    "kappa>0.6, late": Case("kappa>0.6", draw_kappa, LATER, late=True),
    "kappa>0.6, in runs, late": Case("kappa>0.6", draw_kappa_in_runs, LATER, late=True),
}
"""The cases of which every claim is false."""

BROKEN = ("broken",)
CHANGES = {
    "2 % to 8 %": Case("error<0.05", draw_change, N_POWER, claims=BROKEN),
    "2 % to 6 %": Case("error<0.05", draw_small_change, N_POWER, claims=BROKEN),
    "2 % to 8 %, late": Case("error<0.05", draw_change, N_POWER, late=True, claims=BROKEN),
    "2 % to 8 %, reference": Case("error<reference(20000)+0.01", draw_change, N_POWER, claims=BROKEN),
}
"""The cases of which the time until a true claim is measured."""


class Tallied:
    """Cumulative tallies of many simulated runs at all ends of blocks."""

    def __init__(self, rows: list[int], numbers: NDArray[np.float64]) -> None:
        self.rows, self._numbers = rows, numbers

    def read_numbers(self, row: int) -> NDArray[np.float64]:
        """Return the numbers of all runs at an end of a block."""
        return self._numbers[:, self.rows.index(row)]

    def build(self, row: int | None = None, *, min_length: int = 1) -> BlockTallies | None:
        """Return the tallies of blocks up to a row."""
        rows = [end for end in self.rows if row is None or end <= row]
        shape = (len(self._numbers), 1)
        return BlockTallies.from_cumulative(
            rows, self._numbers[:, : len(rows)], [[] for _ in self._numbers], shape, LAYOUT, min_length=min_length
        )


def tally(rows: Rows, at: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the cumulative numbers of a run at some rows, float64 [rows, numbers]."""
    positive, predicted, majority = rows
    cells = [~positive & ~predicted, ~positive & predicted, positive & ~predicted, positive & predicted]
    counts = [np.append(0, np.cumsum(column))[at] for column in (*cells, majority)]
    nothing = np.zeros(len(at))
    return np.stack([*counts[:4], nothing, nothing, counts[4], nothing, at], axis=1).astype(np.float64)


def simulate(case: Case, numbers: range, looks: list[int], *, since_start: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the first outcome of each repetition that counts as a claim, and its row; an empty one if there is none."""
    ends, delay = list_boundaries(0, case.n_rows), DELAY if case.late else 0
    at = np.maximum(np.array([*ends, *looks], dtype=np.int64) - delay, 0)
    seed = zlib.crc32(f"{case.requirement} {case.draw.__name__} {case.late}".encode())
    tallies = np.stack([tally(case.draw(np.random.default_rng([seed, n]), case.n_rows), at) for n in numbers])
    names = [str(number) for number in numbers]
    requirement = Requirement.parse(case.requirement).bind(SCHEMA)
    watch = ModelWatch(names, 1, [requirement], LAYOUT, alpha=ALPHA, shared=False)
    of_blocks, of_looks = tallies[:, : len(ends)], tallies[:, len(ends) :]
    watch.add({index: CellBlocks(tuple(ends), of_blocks[index]) for index in range(len(names))})
    known = Tallied([] if since_start else ends, of_blocks)
    first: dict[str, tuple[str, int]] = {}
    for index, row in enumerate(looks):
        watch.look(row, known, of_looks[:, index], longest_delay=delay)
        for verdict in watch.verdicts():
            if verdict.outcome in case.claims:
                first.setdefault(verdict.learner, (verdict.outcome, row))
        if len(first) == len(names):
            break
    for name in names:
        yield first.get(name, ("", 0))


def run_learner(case: Case, numbers: range) -> Iterator[tuple[str, int]]:
    """Yield the same of evaluations of naive Bayes on labels that are coins."""
    for number in numbers:
        rng = np.random.default_rng([77, number])
        stream = ArrayStream(rng.normal(size=(case.n_rows, 2)), case.draw(rng, case.n_rows)[0].astype(np.int32))
        evaluation = sg.Evaluation(
            stream,
            sg.NaiveBayes(),
            budgets=case.requirement,
            every=case.n_rows // N_LOOKS,
            batch_size=case.n_rows // N_LOOKS,
            labelling=Delayed(DELAY if case.late else 0),
            live_test=LiveTest(alpha=ALPHA),
        )
        claims = [
            (verdict.outcome, int(progress.rows[-1]))
            for progress in evaluation.advance()
            for verdict in progress.model_verdicts
        ]
        yield next((claim for claim in claims if claim[0] in case.claims), ("", 0))


def repeat(case: Case, numbers: range, name: str) -> Iterator[tuple[str, int]]:
    """Yield the outcome and row of repetitions of a case."""
    if name in CASES:
        has_learner = case.draw is draw_coins
        yield from run_learner(case, numbers) if has_learner else simulate(case, numbers, case.looks)
    else:
        looks = list(range(CHANGE + 250, case.n_rows + 1, 250))
        yield from simulate(case, numbers, looks, since_start=name.endswith(ALL_ROWS))


ALL_ROWS = ", all rows"


def run_missing() -> None:
    """Run the repetitions that are not in the file yet."""
    wanted = {**CASES, **CHANGES, **{f"{name}{ALL_ROWS}": case for name, case in CHANGES.items() if not case.late}}
    done: dict[str, int] = {}
    for repetition in read_results():
        done[repetition["case"]] = done.get(repetition["case"], 0) + 1
    limit = int(os.environ.get("CALIBRATION_REPETITIONS", "1000000"))
    new = not RESULTS.exists()
    with RESULTS.open("a", newline="") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        for name, case in wanted.items():
            n_wanted = min(limit, case.repetitions if name in CASES else REPETITIONS_OF_CHANGES)
            for start in range(done.get(name, 0), n_wanted, AT_ONCE):
                numbers = range(start, min(start + AT_ONCE, n_wanted))
                for number, (outcome, row) in zip(numbers, repeat(case, numbers, name), strict=True):
                    writer.writerow((name, number, outcome, row))
                file.flush()
            print(f"{name}: {n_wanted}")


def read_results() -> list[dict[str, str]]:
    """Return the repetitions so far."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="") as file:
        return list(csv.DictReader(file))


def build_tables() -> str:
    """Return the tables of the page."""
    rows = read_results()
    lines = ["| requirement | rows | repetitions | false claims |", "|---|---|---|---|"]
    total = false = 0
    for name, case in CASES.items():
        own = [row for row in rows if row["case"] == name]
        if not own:
            continue
        wrong = sum(bool(row["outcome"]) for row in own)
        total, false = total + len(own), false + wrong
        lines.append(f"| {name} | {case.n_rows:,} | {len(own):,} | {wrong / len(own):.3f} |")
    lines += [f"| all | | {total:,} | {false / max(total, 1):.3f} |", ""]
    lines += ["| change at row 100,000 | since any start: median rows (found) | over all rows alone |", "|---|---|---|"]
    for name in CHANGES:
        cells = []
        for suffix in ("", ALL_ROWS):
            own = [row for row in rows if row["case"] == name + suffix]
            found, n = [int(row["row"]) - CHANGE for row in own if row["outcome"]], len(own)
            cells.append(f"{np.median(found):,.0f} ({len(found) / n:.2f})" if found else "never" if n else "")
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and write the tables to the page."""
    run_missing()
    text, tables = PAGE.read_text(), build_tables()
    if all(mark in text for mark in MARKS):
        before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
        PAGE.write_text(f"{before}{MARKS[0]}\n{tables}\n{MARKS[1]}{after}")
    print(tables)
