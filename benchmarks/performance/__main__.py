"""Measure everything beside the peers and write tables and pictures: ``python -m benchmarks.performance [--quick]``."""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.performance import pages
from benchmarks.performance.figures import Figure, save
from benchmarks.performance.growth import growth
from benchmarks.performance.parts import detectors, files, measures, sampling
from benchmarks.performance.races import Sizes, folds, prequential
from peers import moa

DOCS = Path(__file__).resolve().parents[2] / "docs" / "performance"
SECTIONS: dict[str, Callable[[Sizes, Path], list[Figure]]] = {
    "prequential": prequential,
    "folds": folds,
    "detectors": detectors,
    "measures": measures,
    "files": files,
    "sampling": sampling,
    "growth": growth,
}
FULL = Sizes(
    n_rows=1_000_000,
    turns=3,
    streams=("RBF", "hyperplane", "SEA"),
    exponents=(4, 5, 6, 7),
    attributes=(10, 30, 100, 300, 1_000),
    classes=(2, 5, 10, 30, 100),
    folds=(1, 3, 10, 30, 100),
    learners=(1, 2, 5, 10),
    n_growth_rows=200_000,
    n_values=1_000_000,
    n_file_rows=200_000,
)
QUICK = Sizes(
    n_rows=100_000,
    turns=1,
    streams=("RBF",),
    exponents=(4, 5, 6),
    attributes=(10, 100, 1_000),
    classes=(2, 10, 100),
    folds=(1, 10, 100),
    learners=(1, 10),
    n_growth_rows=20_000,
    n_values=200_000,
    n_file_rows=50_000,
)


def main() -> None:
    """Measure the sections asked for, then write the page of all that there are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.performance", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="some three minutes instead of thirty")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS), help="sections to measure")
    parser.add_argument("--out", type=Path, default=DOCS, help="folder for tables and pictures")
    asked = parser.parse_args()
    reason = moa.why_not_compiled()
    if reason is not None:
        parser.error(f"{reason}; the rows that all learn are those of its generators")
    asked.out.mkdir(parents=True, exist_ok=True)
    sizes = QUICK if asked.quick else FULL
    for name in asked.only:
        print(f"== {name}", flush=True)
        with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
            save(SECTIONS[name](sizes, Path(folder)), asked.out / f"{name}.csv")
        pages.write(asked.out, "quick" if asked.quick else "full")
    print(f"{asked.out / 'README.md'} tells")


if __name__ == "__main__":
    main()
