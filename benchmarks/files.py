"""Million rows per second of CPU from CSV and ARFF, one thread, next to pyarrow, pandas and River on the same rows.

Run with ``python -m benchmarks files``. Every reader must return float64 values; pyarrow and pandas return columns,
which is cheaper for them than rows.
"""

import tempfile
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.csv
from river import stream as river

from benchmarks.turns import run_in_turns
from streamgauge.records import Schema
from streamgauge.streams import File

N_ROWS = 200_000
N_ATTRIBUTES = 10
N_RIVER = 10_000
ROUNDS = 9
BATCH = 8_192


def write_rows(folder: Path, digits: str | None, n_rows: int = N_ROWS, n_classes: int = 3) -> tuple[Path, Path]:
    """Write the same rows as CSV and as ARFF: ten numbers and a class."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.random((n_rows, N_ATTRIBUTES)), columns=[f"a{i}" for i in range(N_ATTRIBUTES)])
    table["class"] = rng.integers(0, n_classes, n_rows)
    csv, arff = folder / "rows.csv", folder / "rows.arff"
    table.to_csv(csv, index=False, float_format=digits)
    header = "@relation rows\n" + "".join(f"@attribute {name} numeric\n" for name in table.columns[:-1])
    rows = csv.read_text().split("\n", 1)[1]
    domain = ",".join(map(str, range(n_classes)))
    arff.write_text(f"{header}@attribute class {{{domain}}}\n@data\n{rows}")
    return csv, arff


def measure_rates(readers: Mapping[str, Callable[[], int]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return million rows per second of CPU, the best of several rounds in which all readers take turns."""
    return {name: (best.result or 0) / best.seconds / 1e6 for name, best in run_in_turns(readers, rounds).items()}


def build_readers(csv: Path, arff: Path) -> dict[str, Callable[[], int]]:
    """Return all readers of the two files."""
    return {
        "CSV, schema known": partial(read_ours, csv, File(csv).schema),
        "CSV, schema inferred": partial(read_ours, csv),
        "ARFF": partial(read_ours, arff),
        "pyarrow CSV": partial(read_pyarrow, csv),
        "pandas CSV": partial(read_pandas, csv),
        "River iter_csv": partial(read_river_csv, csv),
        "River iter_arff": partial(read_river_arff, arff),
    }


def read_ours(path: Path, declared: Schema | None = None) -> int:
    """Read all rows; a CSV file without a declared schema needs another pass to infer it."""
    return sum(len(batch) for batch in File(path, declared=declared).batches(BATCH))


def read_pyarrow(path: Path) -> int:
    """Read all rows as a table of columns."""
    options = pyarrow.csv.ReadOptions(use_threads=False)
    n_rows: int = pyarrow.csv.read_csv(path, read_options=options).num_rows
    return n_rows


def read_pandas(path: Path) -> int:
    """Read all rows as a table of columns."""
    return len(pd.read_csv(path))


def read_river_csv(path: Path) -> int:
    """Read some rows as dicts of numbers."""
    numbers: dict[Hashable, Callable[[Any], Any]] = {f"a{i}": float for i in range(N_ATTRIBUTES)}
    rows = river.iter_csv(str(path), target="class", converters=numbers)
    return sum(1 for _, _ in zip(range(N_RIVER), rows, strict=False))


def read_river_arff(path: Path) -> int:
    """Read some rows as dicts of numbers."""
    rows = river.iter_arff(str(path), target="class")
    return sum(1 for _, _ in zip(range(N_RIVER), rows, strict=False))


def main() -> None:
    """Print the tables."""
    for label, digits in (("6 digits", "%.6f"), ("all digits", None)):
        with tempfile.TemporaryDirectory() as folder:
            csv, arff = write_rows(Path(folder), digits)
            rates = measure_rates(build_readers(csv, arff))
            size = csv.stat().st_size / N_ROWS
        print(f"{N_ROWS:,} rows of {N_ATTRIBUTES} numbers ({label}, {size:.0f} bytes per row) and a class")
        peers = list(rates)[3:]
        print(f"{'':22}{'M rows/s':>10}" + "".join(f"{'/ ' + peer:>18}" for peer in peers))
        for name, rate in rates.items():
            print(f"  {name:20}{rate:10.3f}" + "".join(f"{rate / rates[peer]:18.2f}" for peer in peers))
