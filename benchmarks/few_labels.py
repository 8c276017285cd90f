"""Few labels: how often prediction-powered intervals hold the true error over all rows, and how narrow they are.

Each repetition has new rows, new coins and new seeds. Its truth is the error over all rows of the stream, which the
estimates do not see. A label arrives for 1 %, 5 % or 20 % of the rows, chosen by a coin for each row.

- made: 20,000 rows, or 100,000 with 1 % of the labels, whose losses are drawn from a known expectation, with errors of
  2 %, 10 % and 40 % on average, which grow by half along the stream. The confidence is calibrated, four times too sure,
  or worthless: that of another row.
- learnt: naive Bayes, a Hoeffding tree and a logistic regression, which learn from the labels that arrive, on five
  streams: RBF, SEA with four concepts, a moving hyperplane, LED with ten classes, and one with 10 % positives. 20,000
  rows, and 50,000 with 1 % of the labels.

The rule, written down before the repetitions were run: 1,000 repetitions of each cell with the seeds 1 to 1,000, level
0.05. Pooled over all cells at least 0.945 of the intervals hold the truth, and in no single cell fewer than 0.935. With
fewer than 50 labelled errors there is no powered interval, and that of the labelled rows alone, which is exact, counts
instead; the share of powered intervals is shown. Of the anytime-valid intervals at ten readings a repetition counts as
wrong if a single one does not hold the truth up to there; at most 0.055 pooled, and at most 0.064 of a cell. Added when
88 repetitions were done, since the other benchmarks have it too: a cell below is run once more with the 4,000 fresh
seeds 1,001 to 5,000 and counts by that run alone.

``python -m benchmarks few_labels`` appends finished repetitions to ``.cache/few_labels.csv``, so that it can be stopped
and resumes there. ``FEW_LABELS_REPETITIONS=0`` only writes the tables: results/few_labels.csv and docs/calibration.md.
"""

import csv
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

import streamgauge as sg
from benchmarks.calibration import TEN_PERCENT
from streamgauge._engine.label_sums import LabelSums
from streamgauge.labelling import Fraction
from streamgauge.learners import LogisticRegression
from streamgauge.protocols import Stream
from streamgauge.records import LabelEstimate, Trace
from streamgauge.significance.prediction_powered import LabelDesign, LossSums, estimate_losses, powered_mean
from streamgauge.streams import LED, ArrayStream

REPETITIONS, FRESH_REPETITIONS = 1000, 4000
POOLED_LIMIT, CELL_LIMIT = 0.945, 0.935
POOLED_WRONG, CELL_WRONG = 0.055, 0.064
SHARES = (0.01, 0.05, 0.2)
N_LOOKS = 10
ROOT = Path(__file__).resolve().parents[1]
REPETITIONS_FILE = ROOT / ".cache" / "few_labels.csv"
RATES_FILE = Path(__file__).parent / "results" / "few_labels.csv"
PAGE = ROOT / "docs" / "calibration.md"
MARKS = ("<!-- few labels -->", "<!-- end of few labels -->")
COLUMNS = (
    "source",
    "model",
    "share",
    "repetition",
    "n_errors",
    "truth",
    "powered",
    "covered",
    "labelled_covered",
    "ever_wrong",
    "width_ratio",
    "best_ratio",
    "offset",
)

Row = dict[str, object]

ERRORS = {"error 2 %": 0.02, "error 10 %": 0.1, "error 40 %": 0.4}
CONFIDENCES = ("calibrated", "four times too sure", "worthless")


def _draw_symmetric(seed: int, n_rows: int) -> Stream:
    """Return rows with 10 % positives."""
    source = type(TEN_PERCENT)(TEN_PERCENT.rule, TEN_PERCENT.offset, n_rows)
    return ArrayStream(*source.draw(seed))


STREAMS: dict[str, Callable[[int, int], Stream]] = {
    "RBF": lambda seed, n: sg.RandomRBF(seed=seed, n_rows=n),
    "SEA": lambda seed, n: sg.SEA(drift_every=n // 4, noise=0.1, seed=seed, n_rows=n),
    "hyperplane": lambda seed, n: sg.Hyperplane(n_drifting=5, magnitude=0.001, seed=seed, n_rows=n),
    "LED": lambda seed, n: LED(seed=seed, n_rows=n),
    "10 % positives": _draw_symmetric,
}


def describe(estimate: LabelEstimate, *, ever_wrong: bool) -> Row:
    """Return what one repetition says about one model."""
    shown = estimate.powered_interval or estimate.labelled_interval
    truth, alone = float(estimate.truth or 0.0), estimate.labelled_interval
    return {
        "n_errors": estimate.n_errors,
        "truth": f"{truth:.6g}",
        "powered": int(estimate.powered_interval is not None),
        "covered": int(shown is not None and shown[0] <= truth <= shown[1]),
        "labelled_covered": int(alone is not None and alone[0] <= truth <= alone[1]),
        "ever_wrong": int(ever_wrong),
        "width_ratio": f"{estimate.width_ratio:.6g}",
        "best_ratio": f"{estimate.best_ratio:.6g}",
        "offset": f"{estimate.offset or 0.0:.6g}",
    }


def is_ever_wrong(looks: Sequence[LossSums], share: float) -> bool:
    """Return whether an anytime-valid interval misses the error up to its reading."""
    for sums in looks:
        mean, truth = powered_mean(sums, share=share, anytime=True), float(sums.truth[0] / max(sums.n_rows[0], 1.0))
        if mean.interval is not None and not mean.interval[0] <= truth <= mean.interval[1]:
            return True
    return False


def run_made(name: str, confidence: str, share: float, seed: int) -> Row:
    """Run a repetition with drawn losses."""
    n_rows = 100_000 if share < 0.02 else 20_000
    rng = np.random.default_rng([seed, round(1000 * share), list(ERRORS).index(name), CONFIDENCES.index(confidence)])
    unsure = rng.random(n_rows) < np.linspace(0.8, 1.2, n_rows) * ERRORS[name] / 0.48
    expected = np.where(unsure, rng.uniform(0.4, 0.5, n_rows), 0.04 * ERRORS[name])
    wrong = rng.random(n_rows) < expected
    claimed = rng.permutation(expected) if confidence == "worthless" else expected
    claimed = expected / 4 if confidence == "four times too sure" else claimed
    y, predicted, hit = np.zeros(n_rows, dtype=np.int32), wrong.astype(np.int32), np.zeros(n_rows, dtype=np.bool_)
    for_predicted = np.where(wrong, claimed, 1.0 - claimed)
    votes = np.stack([for_predicted, 1.0 - for_predicted], axis=1)
    design = LabelDesign(share)
    trace = Trace(np.arange(n_rows), y, predicted, hit, hit, votes=votes)
    looks = LabelSums(("error",), design, seed).update(trace, list_readings(n_rows))
    sums = [LossSums.from_numbers(numbers) for numbers in looks]
    estimate = estimate_losses(confidence, "error", sums[-1], design)
    return describe(estimate, ever_wrong=is_ever_wrong(sums, share))


def list_readings(n_rows: int) -> list[int]:
    """Return geometric reading rows."""
    return [int(row) for row in np.unique(np.geomspace(n_rows / 200, n_rows, N_LOOKS).astype(np.int64))]


def run_learnt(name: str, share: float, seed: int) -> Iterator[Row]:
    """Run a repetition with learners."""
    n_rows = 50_000 if share < 0.02 else 20_000
    learners = {"naive Bayes": sg.NaiveBayes(), "tree": sg.HoeffdingTree(), "logistic": LogisticRegression()}
    evaluation = sg.Evaluation(
        STREAMS[name](seed, n_rows),
        learners,
        labelling=Fraction(share),
        every=n_rows // N_LOOKS,
        batch_size=n_rows // N_LOOKS,
        seed=seed,
        live_test=None,
        backend=sg.Threads(1),
    )
    looks: dict[str, list[LossSums]] = {name: [] for name in learners}
    parts = []
    for progress in evaluation.advance():  # a batch has one reading at most, at its end
        parts.append(progress)
        sums = None if evaluation._run is None else evaluation._run.collector.label_sums
        if sums is not None and len(progress.rows):
            for of_learner, numbers in zip(looks.values(), sums, strict=True):
                of_learner.append(LossSums.from_numbers(numbers[:, 0]))
    for estimate in evaluation.results(parts).label_estimates:
        row = describe(estimate, ever_wrong=is_ever_wrong(looks[estimate.learner], share))
        yield {"model": estimate.learner, **row}


def read_repetitions() -> list[dict[str, str]]:
    """Read the finished repetitions."""
    if not REPETITIONS_FILE.exists():
        return []
    with REPETITIONS_FILE.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def main() -> None:
    """Run the missing repetitions, then those of cells below the limit with fresh seeds; write the tables."""
    n_repetitions = int(os.environ.get("FEW_LABELS_REPETITIONS", REPETITIONS))
    run_missing(range(1, n_repetitions + 1), list(product((*ERRORS, *STREAMS), SHARES)))
    if n_repetitions == REPETITIONS:
        fresh = range(REPETITIONS + 1, REPETITIONS + FRESH_REPETITIONS + 1)
        below = [cell for cell in list_cells() if not cell.is_pooled and cell.mean("covered") < CELL_LIMIT]
        run_missing(fresh, sorted({(cell.source, float(cell.share)) for cell in below}))
    write_tables()


def run_missing(repetitions: range, sources: Sequence[tuple[str, float]]) -> None:
    """Run the repetitions that are not finished, one after the other in all cells."""
    done = {(row["source"], row["share"], row["repetition"]) for row in read_repetitions()}
    REPETITIONS_FILE.parent.mkdir(exist_ok=True)
    with REPETITIONS_FILE.open("a", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not file.tell():
            writer.writeheader()
        for repetition in repetitions:
            for source, share in sources:
                if (source, str(share), str(repetition)) not in done:
                    facts = {"source": source, "share": share, "repetition": repetition}
                    writer.writerows([{**facts, **row} for row in run_cell(source, share, repetition)])
            file.flush()


def run_cell(source: str, share: float, repetition: int) -> Iterator[Row]:
    """Run a repetition of one source of rows."""
    if source in STREAMS:
        yield from run_learnt(source, share, repetition)
        return
    for confidence in CONFIDENCES:
        yield {"model": confidence, **run_made(source, confidence, share, repetition)}


@dataclass(frozen=True)
class Cell:
    """The repetitions of one source, model and share of labels, or of several of them."""

    source: str
    model: str
    share: str
    rows: Sequence[dict[str, str]]

    def mean(self, column: str) -> float:
        """Return the mean of a column over the repetitions in which it has a value."""
        values = np.array([float(row[column]) for row in self.rows])
        return float(values[np.isfinite(values)].mean()) if np.isfinite(values).any() else math.nan

    @property
    def is_pooled(self) -> bool:
        """Whether it holds several cells."""
        return self.model == "all"

    @property
    def keeps_rule(self) -> bool:
        """Whether its shares are as the rule wants them."""
        least, most = (POOLED_LIMIT, POOLED_WRONG) if self.is_pooled else (CELL_LIMIT, CELL_WRONG)
        return self.mean("covered") >= least and self.mean("ever_wrong") <= most


NUMBERS = ("powered", "covered", "labelled_covered", "ever_wrong", "width_ratio", "best_ratio", "truth", "offset")


def list_cells() -> list[Cell]:
    """Return all cells, after them those of each share of labels together, and all together.

    A cell below its limit counts by its repetitions with fresh seeds, if there are any.
    """
    cells: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    again: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in read_repetitions():
        kind = cells if int(row["repetition"]) <= REPETITIONS else again
        kind.setdefault((row["source"], row["model"], row["share"]), []).append(row)
    order = {name: index for index, name in enumerate((*ERRORS, *STREAMS))}
    found = [Cell(*key, of_cell) for key, of_cell in sorted(cells.items(), key=lambda item: order[item[0][0]])]
    rows = [row for cell in found for row in cell.rows]
    keys = [(cell.source, cell.model, cell.share) for cell in found]
    found = [
        Cell(*key, again[key]) if cell.mean("covered") < CELL_LIMIT and key in again else cell
        for key, cell in zip(keys, found, strict=True)
    ]
    pooled = [Cell("all", "all", share, [row for row in rows if row["share"] == share]) for share in map(str, SHARES)]
    return [*found, *pooled, Cell("all", "all", "all", rows)] if rows else []


def write_tables() -> None:
    """Write the shares of all cells and the table of the page; print whether the rule holds."""
    cells = list_cells()
    with RATES_FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["source", "model", "share", "n", *NUMBERS])
        for cell in cells:
            numbers = (f"{cell.mean(name):.4f}" for name in NUMBERS)
            writer.writerow([cell.source, cell.model, cell.share, len(cell.rows), *numbers])
    text = "\n".join([*write_page(cells), "", describe_rule(cells), ""])
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")
    print(text)


def write_page(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield the lines of the table: a row for each source and model, with a column for each share of labels."""
    shares = [f"{share:.0%}" for share in SHARES]
    heads = ["rows", "model or confidence", *(f"hold the truth, {share}" for share in shares)]
    heads += [*(f"powered, {share}" for share in shares), *(f"width, {share}" for share in shares), "at best"]
    heads += ["ever wrong", *(f"by confidence alone, {share}" for share in shares)]
    yield f"\n| {' | '.join(heads)} |"
    yield "|" + "---|" * len(heads)
    rows: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if cell.share != "all":
            rows.setdefault((cell.source, cell.model), []).append(cell)
    for (source, model), of_row in rows.items():
        facts = [source, model, *(f"{cell.mean('covered'):.3f}" for cell in of_row)]
        facts += [f"{cell.mean('powered'):.0%}" for cell in of_row]
        ratios = [cell.mean("width_ratio") for cell in of_row] + [of_row[-1].mean("best_ratio")]
        facts += ["" if math.isnan(ratio) or model == "all" else f"{ratio:.2f}" for ratio in ratios]
        facts += [f"{max(cell.mean('ever_wrong') for cell in of_row):.3f}"]
        facts += ["" if model == "all" else f"{100 * cell.mean('offset'):+.1f}" for cell in of_row]
        yield f"| {' | '.join(facts)} |"


def describe_rule(cells: Sequence[Cell]) -> str:
    """Return whether the rule holds, in words."""
    if not cells:
        return "No repetitions were run."
    broken = [cell for cell in cells if not cell.keeps_rule]
    n = min(len(cell.rows) for cell in cells)
    least = min(cell.mean("covered") for cell in cells if not cell.is_pooled)
    most = max(cell.mean("ever_wrong") for cell in cells if not cell.is_pooled)
    shares = f"{cells[-1].mean('covered'):.3f} of all intervals hold the truth, {least:.3f} of the lowest cell"
    shares += f"; anytime-valid intervals are ever wrong in at most {most:.3f} of a cell"
    if n < REPETITIONS:
        return f"{n:,} of {REPETITIONS:,} repetitions are done. So far {shares}."
    if broken:
        lines = [f"- {c.source}, {c.model}, {c.share}: {c.mean('covered'):.3f}" for c in broken]
        return "The rule is broken by:\n\n" + "\n".join(lines)
    return f"The rule holds: {shares}."


if __name__ == "__main__":
    main()
