"""One section in a separate process: ``python -m benchmarks.performance.sections NAME SIZE FILE``.

Its figures are printed as they are measured, and saved to the file when the section is complete.
"""

import sys
import tempfile
from importlib import import_module
from pathlib import Path

from benchmarks.performance.figures import Figure, save
from benchmarks.performance.sizes import SIZES

__all__ = ["SECTIONS", "measure"]

SECTIONS = {
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


def measure(name: str, size: str, path: Path) -> None:
    """Measure a section and save its figures."""
    figures: list[Figure] = []
    section = import_module(f"benchmarks.performance.{SECTIONS[name]}").SECTIONS[name]
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        for figure in section(SIZES[size], Path(folder)):
            figures.append(figure)
            print(_format_figure(figure), flush=True)
    save(figures, path)


def _format_figure(figure: Figure) -> str:
    size = "" if figure.size is None else f" {figure.size:,}"
    accuracy = "" if figure.accuracy is None else f"  accuracy {figure.accuracy:.4f}"
    return f"  {figure.subject + size:<48} {figure.system:<14} {figure.ns_per_row:>14,.1f} ns per row{accuracy}"


def main() -> None:
    """Measure the section of the command line."""
    name, size, path = sys.argv[1:]
    measure(name, size, Path(path))


if __name__ == "__main__":
    main()
