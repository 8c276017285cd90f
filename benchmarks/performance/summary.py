"""Ratios of the matrix: a table of each learner's mean and lowest, and the grid of the picture."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log

from benchmarks.performance.figures import OURS, Figure, compute_ratio

__all__ = ["Cell", "build_summary", "list_cells"]

WARM = ", warm"
HEADS = (
    "learner",
    "beside",
    "streams",
    "geometric mean",
    "lowest",
    "on",
    "geometric mean, warm",
    "lowest, warm",
    "accuracy, ours - theirs",
    "lowest",
)


@dataclass(frozen=True)
class Cell:
    """The ratio of another system's time to ours, and how much more accurate ours is, on the same rows."""

    learner: str
    stream: str
    system: str
    ratio: float
    accuracy: float


def list_cells(figures: list[Figure]) -> list[Cell]:
    """Return the cells of the matrix, those of warm virtual machines as well."""
    ours = {figure.subject: figure for figure in figures if figure.system == OURS}
    cells = []
    for figure in figures:
        ratio = compute_ratio(figure, figures)
        if figure.system != OURS and ratio is not None:
            learner, _, stream = figure.subject.partition(", ")
            accuracy = (ours[figure.subject].accuracy or 0.0) - (figure.accuracy or 0.0)
            cells.append(Cell(learner, stream, figure.system, ratio, accuracy))
    return cells


def build_summary(figures: list[Figure]) -> str:
    """Return the table of geometric means and lowest ratios, or that nothing has been measured."""
    lines = ["## Times as fast, by learner\n"]
    cells = list_cells(figures)
    if not cells:
        lines.append("Not measured yet: `make peers` fills this table.")
        return "\n".join(lines) + "\n"
    lines += [f"| {' | '.join(HEADS)} |", "|---|---|--:|--:|--:|---|--:|--:|--:|--:|"]
    for learner in dict.fromkeys(cell.learner for cell in cells):
        both = {
            is_warm: [cell for cell in cells if cell.learner == learner and cell.system.endswith(WARM) == is_warm]
            for is_warm in (False, True)
        }
        lines.append(f"| {' | '.join(_summarise(learner, both))} |")
    return "\n".join(lines) + "\n"


def _summarise(learner: str, both: Mapping[bool, list[Cell]]) -> list[str]:
    """Return the cells of a learner's line."""
    cold, warm = both[False], both[True]
    lowest = min(cold, key=lambda cell: cell.ratio)
    differences = [cell.accuracy for cell in cold]
    return [
        learner,
        lowest.system,
        str(len(cold)),
        f"{_compute_mean(cold):.1f}",
        f"{lowest.ratio:.1f}",
        lowest.stream,
        f"{_compute_mean(warm):.1f}" if warm else "",
        f"{min(cell.ratio for cell in warm):.1f}" if warm else "",
        f"{sum(differences) / len(differences):+.4f}",
        f"{min(differences):+.4f}",
    ]


def _compute_mean(cells: list[Cell]) -> float:
    """Return the geometric mean; a ratio that noise makes negative counts as 0.1."""
    return exp(sum(log(max(cell.ratio, 0.1)) for cell in cells) / len(cells))
