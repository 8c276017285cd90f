"""What was measured: figures as rows of a CSV file."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

__all__ = ["OURS", "Figure", "load", "ratio_of", "save"]

OURS = "streamgauge"


@dataclass(frozen=True)
class Figure:
    """What one system took for one thing."""

    subject: str
    """What was done: a learner on a stream, a detector, an axis of growth."""
    system: str
    n_rows: int
    ns_per_row: float
    """Of CPU, unless `note` says otherwise."""
    accuracy: float | None = None
    our_accuracy: float | None = None
    """Of ours on the same rows, where another system sees fewer of them."""
    peak_mb: float | None = None
    """The most memory that its process had, rows in memory, interpreter or virtual machine included."""
    model_mb: float | None = None
    """What the learner itself holds at the end."""
    size: int | None = None
    """Where cost grows with something: how much there was of it."""
    note: str = ""


def ratio_of(figure: Figure, figures: Iterable[Figure]) -> float | None:
    """Tell how many times as long it took as ours; None where ours is not among the figures."""
    for other in figures:
        if (other.system, other.subject, other.size) == (OURS, figure.subject, figure.size):
            return figure.ns_per_row / other.ns_per_row
    return None


def save(figures: list[Figure], path: Path) -> None:
    """Write figures, with rows per second and the ratio to ours beside them; the file appears whole or not at all."""
    whole = path.with_suffix(".part")
    with whole.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow([*(field.name for field in fields(Figure)), "rows_per_second", "ratio"])
        for figure in figures:
            ratio = ratio_of(figure, figures)
            cells = [f"{cell:.6g}" if isinstance(cell, float) else cell for cell in asdict(figure).values()]
            table.writerow([*cells, f"{1e9 / figure.ns_per_row:.6g}", "" if ratio is None else f"{ratio:.4g}"])
    whole.replace(path)


def load(path: Path) -> list[Figure]:
    """Read figures back."""
    with path.open(newline="", encoding="utf-8") as file:
        return [_figure(row) for row in csv.DictReader(file)]


def _figure(row: dict[str, str]) -> Figure:
    def number(name: str) -> float | None:
        return float(row[name]) if row.get(name) else None

    return Figure(
        subject=row["subject"],
        system=row["system"],
        n_rows=int(row["n_rows"]),
        ns_per_row=float(row["ns_per_row"]),
        accuracy=number("accuracy"),
        our_accuracy=number("our_accuracy"),
        peak_mb=number("peak_mb"),
        model_mb=number("model_mb"),
        size=int(row["size"]) if row["size"] else None,
        note=row["note"],
    )
