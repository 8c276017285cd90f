"""Streams written to files, so that reading them back gives the same rows to the last bit."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.protocols import Stream
from streamgauge.records import UNLABELLED, Batch, Schema
from streamgauge.streams.output_files import file_kind, replacing, writing_bytes

__all__ = ["Writer", "arff_header", "arff_name", "csv_header", "csv_name", "write", "writing_rows"]

_BATCH = 65_536
_SEPARATORS = {"arff": ",", "csv": ",", "tsv": "\t"}
_ARFF_MARKS = frozenset(" ,{}%'\"\\\t\n\r")
_ARFF_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def write(
    stream: Stream,
    path: str | Path,
    *,
    n_rows: int | None = None,
    target: str = "class",
    weight: str | None = None,
) -> int:
    """Write the rows of a stream to a file; gives how many there were.

    Numbers are written as the shortest text that reads back as the same number. The file appears when all of it is
    written. Its name says what it is: ``.arff``, ``.csv``, ``.tsv`` (with ``.gz`` or ``.zst`` behind for a compressed
    one) or ``.parquet``. The class is the last column.

    Parameters
    ----------
    stream
        The rows.
    path
        Where to write them.
    n_rows
        How many rows to write; needed where the stream never ends.
    target
        What the class column is called.
    weight
        What the column of instance weights is called, in CSV and Parquet; None for ``weight`` where the first rows
        carry weights, and for none where they do not. ARFF has its own place for weights.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.streams import SEA
    >>> path = Path(tempfile.mkdtemp()) / "sea.csv"
    >>> write(SEA(), path, n_rows=1000)
    1000
    >>> len(path.read_text().splitlines())
    1001
    """
    path = Path(path)
    batches = _rows(stream, n_rows)
    first = next(batches, None)
    if weight is None and first is not None and first.weight is not None:
        weight = "weight"
    done = 0
    with writing_rows(path, stream.schema, target=target, weight=weight) as put:
        for batch in () if first is None else chain((first,), batches):
            put(batch)
            done += len(batch)
    return done


@contextmanager
def writing_rows(
    path: Path, schema: Schema, *, target: str = "class", weight: str | None = None
) -> Iterator[Callable[[Batch], None]]:
    r"""Open a file for the rows of a schema; it yields a function that takes batches.

    The file appears under its name when the block ends well. Options are those of `write`.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.records import Attribute
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> with writing_rows(path, Schema((Attribute("price"),), ("up", "down"))) as put:
    ...     put(Batch(0, np.array([[0.1]]), np.array([1], dtype=np.int32)))
    >>> path.read_text()
    'price,class\n0.1,down\n'
    """
    kind, compression = file_kind(path)
    writer = Writer(schema, kind, target=target, weight=weight, relation=path.name.split(".")[0])
    if kind == "parquet":
        import pyarrow.parquet as pq  # noqa: PLC0415  (slow to import)

        with replacing(path) as temporary, pq.ParquetWriter(temporary, writer.arrow_schema, compression="zstd") as file:
            yield lambda batch: file.write_table(writer.table(batch))
    else:
        with writing_bytes(path, compression) as out:
            out.write(writer.header)
            yield lambda batch: _ignore(out.write(writer.lines(batch)))


def _ignore(_: object) -> None:
    """Forget a result."""


def _rows(stream: Stream, n_rows: int | None) -> Iterator[Batch]:
    if n_rows is not None:
        require_at_least("n_rows", n_rows, 0)
    elif stream.n_rows is None:
        msg = "the stream never ends; say how many rows to write (n_rows)"
        raise StreamgaugeError(msg)
    left = n_rows
    for batch in stream.batches(_BATCH):
        if left is None:
            yield batch
            continue
        if left == 0:
            return
        n = min(left, len(batch))
        left -= n
        weight = None if batch.weight is None else batch.weight[:n]
        yield Batch(batch.start, batch.x[:n], batch.y[:n], weight)


class Writer:
    r"""Turns the rows of a schema into the bytes of one kind of file.

    Parameters
    ----------
    schema
        What the rows look like.
    kind
        "arff", "csv", "tsv" or "parquet".
    target, weight
        What the columns of class and weight are called; None for no weight column.
    relation
        The name of the relation in ARFF.

    Examples
    --------
    >>> from streamgauge.records import Attribute
    >>> writer = Writer(Schema((Attribute("price"),), ("up", "down")), "csv")
    >>> writer.header + writer.lines(Batch(0, np.array([[0.1]]), np.array([1], dtype=np.int32)))
    b'price,class\n0.1,down\n'
    """

    def __init__(
        self, schema: Schema, kind: str, *, target: str = "class", weight: str | None = None, relation: str = "stream"
    ) -> None:
        taken = [attribute.name for attribute in schema.attributes]
        for role, name in (("class", target), ("weight", weight)):
            if name in taken:
                msg = f"an attribute is called {name!r} too; give the {role} column another name"
                raise StreamgaugeError(msg)
            taken.append(name or "")
        self._schema, self._kind = schema, kind
        self._target, self._weight, self._relation = target, weight, relation
        if kind != "parquet":
            self._writing = self._text_writing()

    def _text_writing(self) -> _native.Writing:
        arff = self._kind == "arff"
        quoted = arff_name if arff else _csv_value
        separator = _SEPARATORS[self._kind]
        weight = "column" if self._weight is not None else "none"
        return _native.Writing(
            ord(separator),
            [
                None if attribute.values is None else [quoted(value, separator).encode() for value in attribute.values]
                for attribute in self._schema.attributes
            ],
            [quoted(name, separator).encode() for name in self._schema.classes],
            "braces" if arff else weight,
        )

    @property
    def header(self) -> bytes:
        """What stands before the rows."""
        if self._kind == "arff":
            return arff_header(self._schema, self._relation, target=self._target)
        names = [attribute.name for attribute in self._schema.attributes]
        weight = [] if self._weight is None else [self._weight]
        return csv_header([*names, *weight, self._target], _SEPARATORS[self._kind])

    def lines(self, batch: Batch) -> bytes:
        """Give the lines of the rows of a batch."""
        self._check(batch)
        try:
            return self._writing.lines(np.ascontiguousarray(batch.x), np.ascontiguousarray(batch.y), batch.weight)
        except ValueError as error:
            msg = f"in the rows from {batch.start} on: {error}"
            raise StreamgaugeError(msg) from None

    def _check(self, batch: Batch) -> None:
        if batch.weight is not None and self._weight is None and self._kind != "arff":
            msg = f"rows from {batch.start} on carry weights and those before do not; name the column (weight='weight')"
            raise StreamgaugeError(msg)

    @property
    def arrow_schema(self) -> Any:  # noqa: ANN401  (pyarrow has no types)
        """The Arrow schema of the rows: a nominal column is a dictionary of texts, its values kept in the metadata."""
        import pyarrow as pa  # noqa: PLC0415

        fields = [_arrow_field(attribute.name, attribute.values) for attribute in self._schema.attributes]
        if self._weight is not None:
            fields.append(_arrow_field(self._weight, None))
        return pa.schema([*fields, _arrow_field(self._target, self._schema.classes)])

    def table(self, batch: Batch) -> Any:  # noqa: ANN401
        """Give the rows of a batch as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415

        self._check(batch)
        columns = [
            _arrow_column(values, attribute.values)
            for values, attribute in zip(batch.x.T, self._schema.attributes, strict=True)
        ]
        if self._weight is not None:
            columns.append(pa.array(np.ones(len(batch)) if batch.weight is None else batch.weight))
        columns.append(_arrow_column(np.where(batch.y == UNLABELLED, np.nan, batch.y), self._schema.classes))
        return pa.Table.from_arrays(columns, schema=self.arrow_schema)


def _arrow_field(name: str, values: tuple[str, ...] | None) -> Any:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    from streamgauge.streams.files.tables import NAMES_KEY  # noqa: PLC0415

    if values is None:
        return pa.field(name, pa.float64())
    return pa.field(name, pa.dictionary(pa.int32(), pa.string()), metadata={NAMES_KEY: json.dumps(values)})


def _arrow_column(values: Any, names: tuple[str, ...] | None) -> Any:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    missing = np.isnan(values)
    if names is None:
        return pa.array(values, mask=missing)
    codes = np.where(missing, 0, values).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=missing), pa.array(names, pa.string()))


def arff_header(schema: Schema, relation: str, *, target: str) -> bytes:
    r"""Give what stands before the rows of an ARFF file.

    Examples
    --------
    >>> from streamgauge.records import Attribute
    >>> schema = Schema((Attribute("it's"), Attribute("day", ("mo", "tu"))), ("up", "down"))
    >>> print(arff_header(schema, "market", target="class").decode())
    @relation market
    <BLANKLINE>
    @attribute 'it\'s' numeric
    @attribute day {mo,tu}
    @attribute class {up,down}
    <BLANKLINE>
    @data
    <BLANKLINE>
    """
    lines = [f"@relation {arff_name(relation)}", ""]
    for name, values in (*((a.name, a.values) for a in schema.attributes), (target, schema.classes)):
        kind = "numeric" if values is None else "{" + ",".join(map(arff_name, values)) + "}"
        lines.append(f"@attribute {arff_name(name)} {kind}")
    return "\n".join([*lines, "", "@data", ""]).encode()


def csv_header(names: list[str], separator: str) -> bytes:
    r"""Give the first line of a CSV file.

    Examples
    --------
    >>> csv_header(["price", "up, down"], ",")
    b'price,"up, down"\n'
    """
    return (separator.join(csv_name(name, separator) for name in names) + "\n").encode()


def arff_name(name: str, separator: str = ",") -> str:
    r"""Give a name as ARFF wants it: in quotes where it needs them.

    Examples
    --------
    >>> arff_name("up"), arff_name("it's 5%"), arff_name("?")
    ('up', "'it\\'s 5%'", "'?'")
    """
    plain = name not in {"", "?"} and separator not in name and _ARFF_MARKS.isdisjoint(name) and name.isprintable()
    return name if plain else "'" + name.translate(_ARFF_ESCAPES) + "'"


def csv_name(name: str, separator: str) -> str:
    """Give a name as CSV wants it: in quotes where it needs them.

    Examples
    --------
    >>> csv_name("up", ","), csv_name('a "b", c', ",")
    ('up', '"a ""b"", c"')
    """
    if "\n" in name or "\r" in name:
        msg = f"the name {name!r} has a line break, which a CSV file cannot hold; write ARFF or Parquet"
        raise StreamgaugeError(msg)
    plain = name and name == name.strip() and separator not in name and '"' not in name
    return name if plain else '"' + name.replace('"', '""') + '"'


def _csv_value(name: str, separator: str) -> str:
    if name in {"", "?"}:
        msg = f"a nominal value is called {name!r}, which a CSV file reads as missing; write ARFF or Parquet"
        raise StreamgaugeError(msg)
    return csv_name(name, separator)
