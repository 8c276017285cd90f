"""Measured figures, stored as rows of a CSV file."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

__all__ = ["OURS", "Figure", "compute_ratio", "load", "save"]

OURS = "streamgauge"


@dataclass(frozen=True)
class Figure:
    """Time and memory of one system on one subject."""

    subject: str
    """A learner on a stream, a detector, an axis of growth."""
    system: str
    n_rows: int
    ns_per_row: float
    """Nanoseconds of CPU, unless `note` says otherwise."""
    accuracy: float | None = None
    our_accuracy: float | None = None
    """Our accuracy on the same rows, if another system sees fewer of them."""
    peak_mb: float | None = None
    """Peak memory of the process, including rows in memory and interpreter or virtual machine."""
    model_mb: float | None = None
    """Memory of the learner at the end."""
    size: int | None = None
    """Size along the axis of growth."""
    note: str = ""


def compute_ratio(figure: Figure, figures: Iterable[Figure]) -> float | None:
    """Return the ratio of its time to ours; None if ours is not among the figures."""
    for other in figures:
        if (other.system, other.subject, other.size) == (OURS, figure.subject, figure.size):
            return figure.ns_per_row / other.ns_per_row
    return None


def save(figures: list[Figure], path: Path) -> None:
    """Write figures, with rows per second and the ratio to ours, atomically."""
    temporary = path.with_suffix(".part")
    with temporary.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*(field.name for field in fields(Figure)), "rows_per_second", "ratio"])
        for figure in figures:
            ratio = compute_ratio(figure, figures)
            cells = [f"{cell:.6g}" if isinstance(cell, float) else cell for cell in asdict(figure).values()]
            table.writerow([*cells, f"{1e9 / figure.ns_per_row:.6g}", "" if ratio is None else f"{ratio:.4g}"])
    temporary.replace(path)


def load(path: Path) -> list[Figure]:
    """Read figures from a file."""
    with path.open(newline="", encoding="utf-8") as file:
        return [_parse_figure(row) for row in csv.DictReader(file)]


def _parse_figure(row: dict[str, str]) -> Figure:
    def parse(name: str) -> float | None:
        return float(row[name]) if row.get(name) else None

    return Figure(
        subject=row["subject"],
        system=row["system"],
        n_rows=int(row["n_rows"]),
        ns_per_row=float(row["ns_per_row"]),
        accuracy=parse("accuracy"),
        our_accuracy=parse("our_accuracy"),
        peak_mb=parse("peak_mb"),
        model_mb=parse("model_mb"),
        size=int(row["size"]) if row["size"] else None,
        note=row["note"],
    )
