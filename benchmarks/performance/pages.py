"""The page and the pictures made of the figures."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.performance.figures import OURS, Figure, load, ratio_of

__all__ = ["write"]

TITLES = {
    "prequential": "Prequential evaluation: the same learner on the same rows",
    "folds": "Ten folds of bootstrap",
    "detectors": "Detectors",
    "measures": "Measures, read every 1,000 rows",
    "files": "Files",
    "sampling": "Sampling",
    "growth": "Growth of cost",
}
HEAD = """# Performance

Written by `make peers` ({size} size: {command}) on {machine}; do not edit. The tables are CSV files in this folder.
[roofline.md](roofline.md) tells how far the hottest kernels are from what a machine can do.

```
$ make peers                                            # all, some 30 minutes
$ python -m benchmarks.performance --quick --out perf   # some 3 minutes
$ python -m benchmarks.performance --only detectors files
```

Nanoseconds are CPU time per row, the best of several turns in which all systems take part (of one turn at quick size),
unless a note says otherwise; on a busy machine ratios within one run hold where nanoseconds do not. The ratio says how
many times as long as ours a system took. Ours is `evaluate` on rows in memory in one thread. MOA is charged with what
it reports of its task thread, less its MajorityClass on the same stream, so that generator, compiler and garbage
collector are not counted. Loops in Python see the first rows only, so that their accuracy is that of a younger model.
Peak memory is that of the whole process, virtual machine or interpreter and rows in memory included; model memory is
what the learner holds at the end (MOA: by how much its heap grows). streamDM is left out.
"""


@dataclass(frozen=True)
class Goal:
    """A ratio that is to be reached."""

    subject: str
    system: str
    ratio: float


GOALS = (
    Goal("HoeffdingTree, RBF", "MOA", 40.0),
    Goal("HoeffdingTree, RBF", "River", 500.0),
    Goal("NaiveBayes, RBF", "MOA", 15.0),
    Goal("LeveragingBagging, RBF", "MOA", 35.0),
    Goal("AdaptiveRandomForest, RBF", "MOA", 60.0),
    Goal("10-fold bootstrap, HoeffdingTree, RBF", "MOA", 60.0),
    Goal("Adwin", "River", 10.0),
)


def write(folder: Path, size: str) -> None:
    """Write the page and the pictures of all tables that are in a folder."""
    found = {name: load(folder / f"{name}.csv") for name in TITLES if (folder / f"{name}.csv").exists()}
    command = "`python -m benchmarks.performance" + (" --quick`" if size == "quick" else "`")
    parts = [HEAD.format(size=size, command=command, machine=_machine()), _goals(found)]
    for name, figures in found.items():
        parts.append(f"## {TITLES[name]}\n")
        picture = f"{name}.png"
        if name == "growth":
            _draw_growth(figures, folder / picture)
        else:
            _draw_ratios(figures, TITLES[name], folder / picture)
        parts += [f"![{TITLES[name]}]({picture})\n", _table(figures)]
    (folder / "README.md").write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")


def _goals(found: dict[str, list[Figure]]) -> str:
    figures = [figure for section in found.values() for figure in section]
    lines = ["## Goals\n", "| what | beside | goal | ratio | |", "|---|---|--:|--:|---|"]
    for goal in GOALS:
        for figure in figures:
            ratio = ratio_of(figure, figures)
            if (figure.subject, figure.system) == (goal.subject, goal.system) and ratio is not None:
                verdict = "met" if ratio >= goal.ratio else "MISSED"
                lines.append(f"| {goal.subject} | {goal.system} | {goal.ratio:.0f} | {ratio:.1f} | {verdict} |")
    return "\n".join(lines) + "\n"


def _table(figures: list[Figure]) -> str:
    sized = any(figure.size is not None for figure in figures)
    heads = ["what", *(["size"] if sized else []), "system", "rows", "ns per row", "rows per s", "ratio", "accuracy"]
    heads += ["peak MB", "model MB", "note"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for figure in figures:
        ratio = ratio_of(figure, figures)
        cells = [figure.subject, *([f"{figure.size:,}"] if sized else []), figure.system, f"{figure.n_rows:,}"]
        cells += [_short(figure.ns_per_row), _short(1e9 / figure.ns_per_row), "" if ratio is None else f"{ratio:,.1f}"]
        cells.append("" if figure.accuracy is None else f"{figure.accuracy:.4f}")
        cells += ["" if mb is None else _short(mb) for mb in (figure.peak_mb, figure.model_mb)]
        lines.append("| " + " | ".join([*cells, figure.note]) + " |")
    return "\n".join(lines) + "\n"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _machine() -> str:
    model = platform.processor() or platform.machine()
    told = Path("/proc/cpuinfo")
    if told.exists():
        names = [line.split(":")[1].strip() for line in told.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return f"{os.cpu_count()} cores of {model}, Python {platform.python_version()}"


def _pyplot() -> Any:  # noqa: ANN401
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    from matplotlib import pyplot  # noqa: PLC0415

    return pyplot


def _draw_ratios(figures: list[Figure], title: str, path: Path) -> None:
    """Draw how many times as long as ours each system took."""
    pyplot = _pyplot()
    systems = list(dict.fromkeys(figure.system for figure in figures if figure.system != OURS))
    subjects = list(dict.fromkeys(figure.subject for figure in figures))
    height = 0.8 / max(1, len(systems))
    picture, axes = pyplot.subplots(
        figsize=(8, 1.2 + 0.22 * len(subjects) * max(2, len(systems))), layout="constrained"
    )
    for at, system in enumerate(systems):
        of_system = [figure for figure in figures if figure.system == system]
        places = [subjects.index(figure.subject) + at * height for figure in of_system]
        axes.barh(places, [ratio_of(figure, figures) or 0.0 for figure in of_system], height, label=system)
    axes.axvline(1.0, color="black", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks([at + 0.4 - height / 2 for at in range(len(subjects))], subjects)
    axes.invert_yaxis()
    axes.set_xlabel(f"times as long as {OURS}")
    axes.set_title(title, fontsize=11)
    axes.legend(frameon=False, fontsize=8)
    picture.savefig(path, dpi=110)
    pyplot.close(picture)


def _draw_growth(figures: list[Figure], path: Path) -> None:
    """Draw nanoseconds per row over what grows."""
    pyplot = _pyplot()
    axes_of = list(dict.fromkeys(figure.subject.split(",")[0] for figure in figures))
    picture, grid = pyplot.subplots(2, 3, figsize=(11, 6.5), layout="constrained")
    for plot in grid.flat[len(axes_of) :]:
        plot.set_axis_off()
    for axis, plot in zip(axes_of, grid.flat, strict=False):
        mine = [figure for figure in figures if figure.subject.split(",")[0] == axis]
        for line in dict.fromkeys((figure.subject, figure.system) for figure in mine):
            points = [(f.size, f.ns_per_row) for f in mine if (f.subject, f.system) == line]
            label = f"{line[1]}, {line[0].split(', ')[1]}"
            plot.plot(*zip(*points, strict=True), marker="o", label=label)
        plot.set(xscale="log", yscale="log", xlabel=axis, ylabel="ns of CPU per row")
        plot.legend(frameon=False, fontsize=8)
    picture.savefig(path, dpi=110)
    pyplot.close(picture)
