"""One section in a separate process: ``python -m benchmarks.performance.sections NAME SIZE FILE``.

Its figures are printed as they are measured, and saved to the file when the section is complete.
"""

import sys
import tempfile
from functools import partial
from importlib import import_module
from pathlib import Path

from benchmarks.performance.figures import Figure, load, save
from benchmarks.performance.sizes import SIZES

__all__ = ["MATRIX", "SECTIONS", "measure"]

MATRIX = (
    "matrix_rbf_10x2",
    "matrix_rbf_20x4",
    "matrix_hyperplane",
    "matrix_sea",
    "matrix_agrawal",
    "matrix_led",
    "matrix_random_tree",
    "matrix_waveform",
    "matrix_electricity",
    "matrix_covertype",
    "matrix_poker_hand",
)
"""Sections of the matrix, one per stream; of these a run may measure only some learners."""
SECTIONS = {
    **dict.fromkeys(MATRIX, "matrix"),
    "naive_bayes": "races",
    "hoeffding_tree": "races",
    "leveraging_bagging": "races",
    "adaptive_random_forest": "races",
    "folds": "races",
    "detectors": "parts",
    "measures": "parts",
    "files": "parts",
    "sampling": "parts",
    "growth_rows": "growth",
    "growth_attributes": "growth",
    "growth_classes": "growth",
    "growth_folds": "growth",
    "growth_learners": "growth",
}
"""The module of each section, imported only when the section runs, since it may need libraries that are missing."""


def measure(name: str, size: str, path: Path, learners: tuple[str, ...] = ()) -> None:
    """Measure a section and save its figures; of the matrix only some learners, and the others stay."""
    section = import_module(f"benchmarks.performance.{SECTIONS[name]}").SECTIONS[name]
    if name in MATRIX:
        section = partial(section, names=learners)
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        for figure in section(SIZES[size], Path(folder)):
            figures.append(figure)
            print(_format_figure(figure), flush=True)
    if learners and path.exists():
        figures = [figure for figure in load(path) if figure.subject.split(", ")[0] not in learners] + figures
    save(figures, path)


def _format_figure(figure: Figure) -> str:
    size = "" if figure.size is None else f" {figure.size:,}"
    accuracy = "" if figure.accuracy is None else f"  accuracy {figure.accuracy:.4f}"
    time = f"{figure.ns_per_row:>14,.1f} ns per row, {figure.n_rows:,} rows"
    return f"  {figure.subject + size:<48} {figure.system:<14} {time}{accuracy}"


def main() -> None:
    """Measure the section of the command line."""
    name, size, path, *learners = sys.argv[1:]
    measure(name, size, Path(path), tuple(learners))


if __name__ == "__main__":
    main()
