"""Just enough ARFF to exchange rows with MOA."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv

from streamgauge.records import Attribute, Schema

__all__ = ["read", "write"]


def write(path: Path, schema: Schema, x: NDArray[np.float64], y: NDArray[np.int32]) -> None:
    """Write rows, the class last, every float with all of its digits.

    Attributes and values are named by their codes (`a0`, `v0`), which need no quotes.
    """
    sizes = [*schema.n_values.tolist(), schema.n_classes]
    names = [*(f"a{i}" for i in range(schema.n_attributes)), "class"]
    head = [f"@attribute {name} {_domain(n)}" for name, n in zip(names, sizes, strict=True)]
    columns = [_cells(column, n) for column, n in zip([*x.T, y], sizes, strict=True)]
    with path.open("wb") as file:
        file.write("\n".join(["@relation rows", *head, "@data", ""]).encode("ascii"))
        csv.write_csv(pa.table(columns, names), file, csv.WriteOptions(include_header=False, quoting_style="none"))


def read(path: Path) -> tuple[Schema, NDArray[np.float64], NDArray[np.int32]]:
    """Read rows whose last attribute is the class; `?` is missing.

    Understands what MOA writes and what plain files say: no quotes, no sparse rows.
    """
    attributes, n_head = _header(path)
    names = [attribute.name for attribute in attributes]
    dangling = [""] * _ends_with_comma(path, n_head)
    table = csv.read_csv(
        path,
        csv.ReadOptions(skip_rows=n_head, column_names=names + dangling),
        convert_options=csv.ConvertOptions(
            include_columns=names,
            column_types={a.name: pa.string() if a.is_nominal else pa.float64() for a in attributes},
            null_values=["?"],
            strings_can_be_null=True,
        ),
    )
    codes = [_codes(table.column(a.name), a) for a in attributes]
    schema = Schema(
        tuple(
            Attribute(a.name, a.values, missing=bool(np.isnan(column).any()))
            for a, column in zip(attributes[:-1], codes[:-1], strict=True)
        ),
        attributes[-1].values or (),
    )
    return schema, np.ascontiguousarray(np.column_stack(codes[:-1])), codes[-1].astype(np.int32)


def _values(n_values: int) -> list[str]:
    return [f"v{code}" for code in range(n_values)]


def _domain(n_values: int) -> str:
    return "{" + ",".join(_values(n_values)) + "}" if n_values else "numeric"


def _cells(column: NDArray[np.float64] | NDArray[np.int32], n_values: int) -> pa.Array:
    cells = pa.array(column, from_pandas=True)
    if n_values:
        return pa.array(_values(n_values)).take(cells.cast(pa.int64())).fill_null("?")
    return cells.cast(pa.string()).fill_null("?") if cells.null_count else cells


def _header(path: Path) -> tuple[list[Attribute], int]:
    """Give the attributes, the class among them, and how many lines come before the rows."""
    attributes: list[Attribute] = []
    with path.open(encoding="utf-8") as lines:
        for n_lines, line in enumerate(lines, start=1):
            words = line.split(maxsplit=2)
            keyword = words[0].lower() if words else ""
            if keyword == "@data":
                return attributes, n_lines
            if keyword == "@attribute":
                _, name, domain = words
                values = tuple(value.strip() for value in domain.strip().strip("{}").split(","))
                attributes.append(Attribute(name, values if domain.startswith("{") else None))
    msg = f"{path} has no @data"
    raise ValueError(msg)


def _ends_with_comma(path: Path, n_head: int) -> bool:
    with path.open(encoding="utf-8") as lines:
        rows = (line.strip() for position, line in enumerate(lines) if position >= n_head)
        return next(filter(None, rows)).endswith(",")


def _codes(column: pa.ChunkedArray, attribute: Attribute) -> NDArray[np.float64]:
    values = column
    if attribute.values is not None:
        values = pc.index_in(column, pa.array(attribute.values)).cast(pa.float64())
        if values.null_count > column.null_count:
            msg = f"{attribute.name}: a value that the header does not name"
            raise ValueError(msg)
    filled: NDArray[np.float64] = values.fill_null(np.nan).to_numpy()
    return filled
