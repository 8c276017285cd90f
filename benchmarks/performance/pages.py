"""The page of the figures."""

import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.performance.figures import OURS, Figure, compute_ratio, load
from benchmarks.performance.pictures import draw_growth, draw_matrix, draw_ratios
from benchmarks.performance.records import Record, Records
from benchmarks.performance.sections import MATRIX
from benchmarks.performance.summary import build_summary

__all__ = ["write"]


@dataclass(frozen=True)
class Chapter:
    """Sections with a common heading and picture."""

    name: str
    title: str
    sections: tuple[str, ...]


CHAPTERS = (
    Chapter("matrix", "Every learner on every stream", MATRIX),
    Chapter(
        "prequential",
        "Prequential evaluation: the same learner on the same rows",
        ("naive_bayes", "hoeffding_tree", "leveraging_bagging", "adaptive_random_forest"),
    ),
    Chapter("folds", "Ten folds of bootstrap", ("folds",)),
    Chapter("detectors", "Detectors", ("detectors",)),
    Chapter("measures", "Measures, read every 1,000 rows", ("measures",)),
    Chapter("files", "Files", ("files",)),
    Chapter("sampling", "Sampling", ("sampling",)),
    Chapter(
        "growth",
        "Growth of cost",
        ("growth_rows", "growth_attributes", "growth_classes", "growth_folds", "growth_learners"),
    ),
)
HEAD = """# Performance

Written by `make peers`; do not edit. The tables are also CSV files in this folder, one per section.
[roofline.md](roofline.md) compares the hottest kernels with the limits of the machine.

```
$ make peers                                                      # everything, two hours of CPU time
$ python -m benchmarks.performance --resume                       # resumes an interrupted run
$ python -m benchmarks.performance --quick --out perf             # a quarter of an hour, into another folder
$ python -m benchmarks.performance --only matrix_led folds        # only these sections
$ python -m benchmarks.performance --only matrix_led --learners NaiveBayes
```

- **Time.** Nanoseconds are CPU time per row, the best of several rounds in which all systems take part (one round with
  `--quick` or `--short`), unless a note says otherwise. On a busy machine nanoseconds are too high, but ratios within
  one run hold, except that a Java virtual machine compiles late and looks slower than it is.
- **Ratio.** The time of a system divided by ours. Ours is `evaluate` on rows in memory in one thread. The time of MOA
  is that of its task thread, minus its MajorityClass on the same stream; generator, compiler and garbage collector are
  not counted. It runs in a new virtual machine, as users start it; "warm" is the best of several runs in one.
- **Rows.** Slow systems see only the first rows. The column *ours* is the accuracy of our learner after as many rows.
- **Memory.** Peak memory is that of the whole process, including the virtual machine or interpreter and rows in memory.
  Model memory is the size of the learner at the end (for MOA: the growth of its heap).
- **Vowpal Wabbit** is the loop of its driver over its binary cache, with reading it.
- streamDM must be built from source and is not included.
"""


@dataclass(frozen=True)
class Goal:
    """A ratio to reach: of time, or of the memory of the model."""

    subject: str
    system: str
    ratio: float
    of: str = "time"


FOLDS = "10-fold bootstrap, HoeffdingTree"
GOALS = (
    Goal("HoeffdingTree, RBF", "MOA", 40.0),
    Goal("HoeffdingTree, RBF", "River", 500.0),
    Goal("HoeffdingTree, RBF", "MOA", 1.0, "model memory"),
    Goal("NaiveBayes, RBF", "MOA", 15.0),
    Goal("LeveragingBagging, RBF", "MOA", 35.0),
    Goal("AdaptiveRandomForest, RBF", "MOA", 60.0),
    Goal(f"{FOLDS}, RBF, wall time", "MOA", 60.0),
    Goal(f"{FOLDS}, moving RBF, wall time", "MOA", 60.0),
    Goal("Adwin", "River", 10.0),
    Goal("HoeffdingTree, electricity from ARFF, reading included", "MOA", 25.0),
    Goal("HoeffdingTree, covertype from ARFF, reading included", "MOA", 25.0),
)


def write(folder: Path, records: Records) -> None:
    """Write the page and the pictures of all tables in a folder."""
    paths = {section: folder / f"{section}.csv" for chapter in CHAPTERS for section in chapter.sections}
    tables = {section: load(path) for section, path in paths.items() if path.exists()}
    matrix = [figure for section in MATRIX for figure in tables.get(section, ())]
    parts = [HEAD, build_summary(matrix), _build_goals(tables, records), _build_records(records)]
    for chapter in CHAPTERS:
        figures = [figure for section in chapter.sections for figure in tables.get(section, ())]
        if not figures:
            continue
        picture = folder / f"{chapter.name}.png"
        if chapter.name == "growth":
            draw_growth(figures, picture)
        elif chapter.name == "matrix":
            draw_matrix(figures, picture)
        else:
            draw_ratios(figures, chapter.title, picture)
        parts += [f"## {chapter.title}\n", f"![{chapter.title}]({picture.name})\n", _build_table(figures)]
    (folder / "README.md").write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


def _build_goals(tables: dict[str, list[Figure]], records: Records) -> str:
    lines = ["## Goals\n", "| what | compared with | goal | ratio | |", "|---|---|--:|--:|---|"]
    for goal in GOALS:
        ratios = {section: _compute_ratio(goal, figures) for section, figures in tables.items()}
        section, ratio = next(((section, ratio) for section, ratio in ratios.items() if ratio is not None), ("", None))
        reached = "" if ratio is None else f"{ratio:.1f}"
        verdict = "not measured" if ratio is None else _judge(records.done.get(section), reached=ratio >= goal.ratio)
        lines.append(f"| {goal.subject}, {goal.of} | {goal.system} | {goal.ratio:.0f} | {reached} | {verdict} |")
    return "\n".join(lines).replace(", wall time, time", ", wall time") + "\n"


def _judge(record: Record | None, *, reached: bool) -> str:
    """Return whether a goal is met; few rows, or a busy machine, on which Java compiles late, prove nothing."""
    if record is None or record.size != "full":
        return "open: too few rows"
    if record.load > 2 * (os.cpu_count() or 1):
        return f"{'reached' if reached else 'missed'}, but repeat: the machine was busy"
    return "met" if reached else "MISSED"


def _compute_ratio(goal: Goal, figures: list[Figure]) -> float | None:
    both = {figure.system: figure for figure in figures if figure.subject == goal.subject}
    if goal.system not in both or OURS not in both:
        return None
    if goal.of == "time":
        return compute_ratio(both[goal.system], figures)
    theirs, ours = both[goal.system].model_mb, both[OURS].model_mb
    return theirs / ours if theirs and ours else None


def _build_records(records: Records) -> str:
    """Return the table of how each section was measured: size and load may differ."""
    lines = ["## How it was measured\n"]
    heads = ("section", "size", "when", "CPU s, all systems", "load at the end", "without", "machine")
    lines += [f"| {' | '.join(heads)} |", "|---|---|---|--:|--:|---|---|"]
    for name, record in records.done.items():
        when = record.at.removesuffix("+00:00").replace("T", " ")
        cells = [name, record.size, when, str(record.cpu_seconds), f"{record.load:.1f}", "; ".join(record.without)]
        cells.append(record.machine)
        lines.append("| " + " | ".join(cells) + " |")
    lines += [f"\n`{name}` could not be measured the last time: {reason}" for name, reason in records.failed.items()]
    return "\n".join(lines) + "\n"


def _build_table(figures: list[Figure]) -> str:
    """Return a table without empty columns."""
    rows = [_build_cells(figure, compute_ratio(figure, figures)) for figure in figures]
    heads = [head for head in rows[0] if any(row[head] for row in rows)]
    lines = ["| " + " | ".join(heads) + " |"]
    lines.append("|" + "|".join("---" if head in ("what", "system", "note") else "--:" for head in heads) + "|")
    lines += ["| " + " | ".join(row[head] for head in heads) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _build_cells(figure: Figure, ratio: float | None) -> dict[str, str]:
    return {
        "what": figure.subject,
        "size": "" if figure.size is None else f"{figure.size:,}",
        "system": figure.system,
        "rows": f"{figure.n_rows:,}",
        "ns per row": _format_number(figure.ns_per_row),
        "rows per s": _format_number(1e9 / figure.ns_per_row),
        "ratio": "" if ratio is None else f"{ratio:,.1f}",
        "accuracy": "" if figure.accuracy is None else f"{figure.accuracy:.4f}",
        "ours": "" if figure.our_accuracy is None or figure.system == OURS else f"{figure.our_accuracy:.4f}",
        "peak MB": "" if figure.peak_mb is None else _format_number(figure.peak_mb),
        "model MB": "" if figure.model_mb is None else _format_number(figure.model_mb),
        "note": figure.note,
    }


def _format_number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
