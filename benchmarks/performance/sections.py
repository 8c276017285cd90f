"""One section in a process of its own: ``python -m benchmarks.performance.sections NAME SIZE FILE``.

Its figures are printed as they come and are in the file when the section is complete.
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
"""The module that has the section: it is imported only where it is run, since it may need what is not installed."""


def measure(name: str, size: str, path: Path) -> None:
    """Measure a section and save its figures."""
    figures: list[Figure] = []
    section = import_module(f"benchmarks.performance.{SECTIONS[name]}").SECTIONS[name]
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        for figure in section(SIZES[size], Path(folder)):
            figures.append(figure)
            print(_told(figure), flush=True)
    save(figures, path)


def _told(figure: Figure) -> str:
    size = "" if figure.size is None else f" {figure.size:,}"
    accuracy = "" if figure.accuracy is None else f"  accuracy {figure.accuracy:.4f}"
    return f"  {figure.subject + size:<48} {figure.system:<14} {figure.ns_per_row:>14,.1f} ns a row{accuracy}"


def main() -> None:
    """Measure the section of the command line."""
    name, size, path = sys.argv[1:]
    measure(name, size, Path(path))


if __name__ == "__main__":
    main()
