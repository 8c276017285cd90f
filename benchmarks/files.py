"""Nanoseconds of CPU per row from CSV and ARFF, next to pyarrow, polars, pandas and River on the same rows.

Run with ``python -m benchmarks files``. The rows are numbers, names, or both. Ours returns rows of float64 values and
codes of names; pyarrow, polars and pandas return columns, which is cheaper for them, with names as texts.
"""

import tempfile
from collections.abc import Callable, Hashable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.csv
from numpy.typing import NDArray
from river import stream as river

from benchmarks.turns import run_in_turns
from streamgauge.records import Schema
from streamgauge.streams import File

N_ROWS = 200_000
N_ATTRIBUTES = 10
N_RIVER = 10_000
ROUNDS = 9
BATCH = 8_192
Column = int | list[str]
"""Names, whole numbers below a bound, numbers in [0, 1) of all digits (0), or of some (-6: six)."""
LEVELS = ["low", "medium", "high", "none", "very-high"]
JOBS = ["private", "self-employed", "federal-government", "local-government", "without-pay", "never-worked"]
KINDS: dict[str, list[Column]] = {
    "10 numbers of all digits": [0] * 10,
    "10 numbers of six digits": [-6] * 10,
    "5 numbers and 5 names": [column for i in range(5) for column in (0, LEVELS[: 2 + i % 4])],
    "6 whole numbers and 6 long names": [column for i in range(6) for column in (10 ** (i + 1), JOBS[i % 3 :])],
    "24 names": [LEVELS[: 2 + i % 4] for i in range(24)],
    "22 letters": [list("bcxfkshelnty")[: 2 + i % 10] for i in range(22)],
    "10 whole numbers and 44 of 0 and 1": [4_000, 360, 60, 1_300, 600, 7_000, 255, 255, 255, 7_000, *[2] * 44],
}


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


def write_kind(folder: Path, kind: str, n_rows: int = N_ROWS) -> tuple[Path, Path]:
    """Write rows of a kind as CSV and as ARFF, which declares the names."""
    rng = np.random.default_rng(5)
    columns = [*KINDS[kind], [f"group{i}" for i in range(3)]]
    names = [*(f"a{i}" for i in range(len(columns) - 1)), "class"]
    table = pd.DataFrame({name: _draw_column(column, n_rows, rng) for name, column in zip(names, columns, strict=True)})
    stem = kind.replace(" ", "_").replace(",", "")
    csv, arff = folder / f"{stem}.csv", folder / f"{stem}.arff"
    table.to_csv(csv, index=False)
    header = ["@relation rows"]
    for name, column in zip(table.columns, columns, strict=True):
        values = "{" + ",".join(column) + "}" if isinstance(column, list) else "numeric"
        header.append(f"@attribute {name} {values}")
    arff.write_text("\n".join([*header, "@data", csv.read_text().split("\n", 1)[1]]))
    return csv, arff


def _draw_column(column: Column, n_rows: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return numbers in [0, 1) of all digits or of some, whole numbers below a bound, or names."""
    if isinstance(column, list):
        return np.array(column)[rng.integers(len(column), size=n_rows)]
    if column > 0:
        return rng.integers(column, size=n_rows)
    return np.round(rng.random(n_rows), -column) if column else rng.random(n_rows)


def measure_times(readers: Mapping[str, Callable[[], int]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return nanoseconds of CPU per row, the best of several rounds in which all readers take turns."""
    return {name: 1e9 * best.seconds / (best.result or 1) for name, best in run_in_turns(readers, rounds).items()}


def build_readers(csv: Path, arff: Path) -> dict[str, Callable[[], int]]:
    """Return all readers of the two files."""
    return {
        "CSV, schema known": partial(read_ours, csv, File(csv, header=True).schema),
        "CSV, schema inferred": partial(read_ours, csv),
        "ARFF": partial(read_ours, arff),
        "pyarrow": partial(read_pyarrow, csv),
        "polars": partial(read_polars, csv),
        "pandas": partial(read_pandas, csv),
    }


def build_river_readers(csv: Path, arff: Path) -> dict[str, Callable[[], int]]:
    """Return River's readers of files of ten numbers and a class."""
    return {"River iter_csv": partial(read_river_csv, csv), "River iter_arff": partial(read_river_arff, arff)}


def read_ours(path: Path, declared: Schema | None = None) -> int:
    """Read all rows; a CSV file without a declared schema needs another pass to infer it."""
    header = True if path.suffix == ".csv" else None
    return sum(len(batch) for batch in File(path, declared=declared, header=header).batches(BATCH))


def read_pyarrow(path: Path) -> int:
    """Read all rows as a table of columns."""
    options = pyarrow.csv.ReadOptions(use_threads=False)
    n_rows: int = pyarrow.csv.read_csv(path, read_options=options).num_rows
    return n_rows


def read_polars(path: Path) -> int:
    """Read all rows as a table of columns."""
    return pl.read_csv(path).height


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
    """Print a table: ours, and how many times as long the others take as ours with a known schema."""
    print(f"{N_ROWS:,} rows and a class, ns of CPU per row, and times as long as ours with a known schema")
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            csv, arff = write_kind(Path(folder), kind)
            times = measure_times(build_readers(csv, arff))
            size = csv.stat().st_size / N_ROWS
        print(f"{kind}, {size:.0f} bytes per row")
        for name, time in times.items():
            print(f"  {name:22}{time:8.0f} ns{1e3 * size / time:8.0f} MB/s{time / times['CSV, schema known']:8.2f}")
