"""Exchange of rows with MOA as ARFF files."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from streamgauge import streams
from streamgauge.records import Attribute, Schema

__all__ = ["read", "write"]

Rows = tuple[Schema, NDArray[np.float64], NDArray[np.int32]]


def write(path: Path, schema: Schema, x: NDArray[np.float64], y: NDArray[np.int32]) -> None:
    """Write rows with the class last and all digits of every float.

    Attributes and values are named by their codes (`a0`, `v0`), since MOA does not understand all quotes.
    """
    attributes = tuple(
        Attribute(f"a{i}", _name_values(int(n)) if n else None, missing=True) for i, n in enumerate(schema.n_values)
    )
    streams.write(streams.ArrayStream(x, y, schema=Schema(attributes, _name_values(schema.n_classes))), path)


def read(path: Path) -> Rows:
    """Read rows whose last attribute is the class; an attribute is `missing` if one of its values is.

    MOA ends every row with a comma, which is not valid ARFF and is removed first.
    """
    text = path.read_bytes()
    if text.endswith(b",\n"):
        with TemporaryDirectory() as folder:
            copy = Path(folder, "rows.arff")
            copy.write_bytes(text.replace(b",\n", b"\n"))
            return read(copy)
    file = streams.File(path)
    batch = streams.take(file, file.n_rows or 0)
    attributes = [
        replace(attribute, missing=bool(np.isnan(column).any()))
        for attribute, column in zip(file.schema.attributes, batch.x.T, strict=True)
    ]
    return Schema(tuple(attributes), file.schema.classes), batch.x, batch.y


def _name_values(n_values: int) -> tuple[str, ...]:
    return tuple(f"v{code}" for code in range(n_values))
