"""The page made of the figures."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from benchmarks.performance.figures import OURS, Figure, load, ratio_of
from benchmarks.performance.pictures import draw_growth, draw_ratios
from benchmarks.performance.records import Record, Records

__all__ = ["write"]


@dataclass(frozen=True)
class Chapter:
    """Sections that are told and drawn together."""

    name: str
    title: str
    sections: tuple[str, ...]


CHAPTERS = (
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

Written by `make peers` on {machine}; do not edit. The tables are CSV files in this folder, one a section.
[roofline.md](roofline.md) tells how far the hottest kernels are from what a machine can do.

```
$ make peers                                                      # all, half an hour of CPU
$ python -m benchmarks.performance --resume                       # goes on with a run that was cut short
$ python -m benchmarks.performance --quick --out perf             # a few minutes of CPU, into another folder
$ python -m benchmarks.performance --only hoeffding_tree folds    # some sections anew
```

Nanoseconds are CPU time per row, the best of several turns in which all systems take part (of one turn at quick size),
unless a note says otherwise; on a busy machine ratios within one run hold where nanoseconds do not, although a Java
virtual machine then compiles late and looks slower than it is. The ratio says how many times as long as ours a system
took. Ours is `evaluate` on rows in memory in one thread. MOA is charged with what it reports of its task thread, less
its MajorityClass on the same stream, so that generator, compiler and garbage collector are not counted. Slow systems
see the first rows only: *ours* beside their accuracy is that of our learner after as many rows. Peak memory is that of
the whole process, virtual machine or interpreter and rows in memory included; model memory is what the learner holds at
the end (MOA: by how much its heap grows). streamDM, which is to be built from source, is left out.
"""


@dataclass(frozen=True)
class Goal:
    """A ratio that is to be reached: of time, or of the memory of the model."""

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
)


def write(folder: Path, records: Records) -> None:
    """Write the page and the pictures of all tables that are in a folder."""
    tables = {section: folder / f"{section}.csv" for chapter in CHAPTERS for section in chapter.sections}
    found = {section: load(path) for section, path in tables.items() if path.exists()}
    parts = [HEAD.format(machine=_machine()), _goals(found, records), _measured(records)]
    for chapter in CHAPTERS:
        figures = [figure for section in chapter.sections for figure in found.get(section, ())]
        if not figures:
            continue
        picture = folder / f"{chapter.name}.png"
        if chapter.name == "growth":
            draw_growth(figures, picture)
        else:
            draw_ratios(figures, chapter.title, picture)
        parts += [f"## {chapter.title}\n", f"![{chapter.title}]({picture.name})\n", _table(figures)]
    (folder / "README.md").write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


def _goals(found: dict[str, list[Figure]], records: Records) -> str:
    lines = ["## Goals\n", "| what | beside | goal | ratio | |", "|---|---|--:|--:|---|"]
    for goal in GOALS:
        section, ratio = next(
            ((section, told) for section, figures in found.items() if (told := _ratio(goal, figures)) is not None),
            ("", None),
        )
        reached = "" if ratio is None else f"{ratio:.1f}"
        verdict = "not measured" if ratio is None else _verdict(ratio >= goal.ratio, records.done.get(section))
        lines.append(f"| {goal.subject}, {goal.of} | {goal.system} | {goal.ratio:.0f} | {reached} | {verdict} |")
    return "\n".join(lines).replace(", wall time, time", ", wall time") + "\n"


def _verdict(reached: bool, record: Record | None) -> str:  # noqa: FBT001
    """Say whether a goal is met; few rows or a busy machine, on which Java compiles late, prove nothing."""
    if record is None or record.size != "full":
        return "open: too few rows to tell"
    if record.load > 2 * (os.cpu_count() or 1):
        return f"{'reached' if reached else 'missed'}, to be repeated: the machine was busy"
    return "met" if reached else "MISSED"


def _ratio(goal: Goal, figures: list[Figure]) -> float | None:
    both = {figure.system: figure for figure in figures if figure.subject == goal.subject}
    if goal.system not in both or OURS not in both:
        return None
    if goal.of == "time":
        return ratio_of(both[goal.system], figures)
    theirs, ours = both[goal.system].model_mb, both[OURS].model_mb
    return theirs / ours if theirs and ours else None


def _measured(records: Records) -> str:
    """Tell of each section how it was measured: sizes may differ, and so may the machine's load."""
    lines = ["## How it was measured\n"]
    lines += ["| section | size | when | CPU s, all systems | load at the end | without |", "|---|---|---|--:|--:|---|"]
    for name, record in records.done.items():
        when = record.at.removesuffix("+00:00").replace("T", " ")
        cells = [name, record.size, when, str(record.cpu_seconds), f"{record.load:.1f}", "; ".join(record.without)]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [f"\n`{name}` could not be measured the last time: {reason}" for name, reason in records.failed.items()]
    return "\n".join(lines) + "\n"


def _table(figures: list[Figure]) -> str:
    """Make a table, without the columns in which nothing stands."""
    rows = [_cells(figure, ratio_of(figure, figures)) for figure in figures]
    heads = [head for head in rows[0] if any(row[head] for row in rows)]
    lines = ["| " + " | ".join(heads) + " |"]
    lines.append("|" + "|".join("---" if head in ("what", "system", "note") else "--:" for head in heads) + "|")
    lines += ["| " + " | ".join(row[head] for head in heads) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cells(figure: Figure, ratio: float | None) -> dict[str, str]:
    return {
        "what": figure.subject,
        "size": "" if figure.size is None else f"{figure.size:,}",
        "system": figure.system,
        "rows": f"{figure.n_rows:,}",
        "ns per row": _short(figure.ns_per_row),
        "rows per s": _short(1e9 / figure.ns_per_row),
        "ratio": "" if ratio is None else f"{ratio:,.1f}",
        "accuracy": "" if figure.accuracy is None else f"{figure.accuracy:.4f}",
        "ours": "" if figure.our_accuracy is None or figure.system == OURS else f"{figure.our_accuracy:.4f}",
        "peak MB": "" if figure.peak_mb is None else _short(figure.peak_mb),
        "model MB": "" if figure.model_mb is None else _short(figure.model_mb),
        "note": figure.note,
    }


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _machine() -> str:
    model = platform.processor() or platform.machine()
    told = Path("/proc/cpuinfo")
    if told.exists():
        names = [line.split(":")[1].strip() for line in told.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}"
