"""Writing streams to files; reading a file back yields exactly the same rows."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least, require_whole
from streamgauge.protocols import Stream
from streamgauge.records import UNLABELLED, Attribute, Batch, Schema, find_known
from streamgauge.streams.batching import concatenate, slice_batch
from streamgauge.streams.files.used_files import refuse_replacing
from streamgauge.streams.output_files import TABLE_KINDS, detect_format, open_output, replace_atomically

__all__ = [
    "Writer",
    "format_arff_header",
    "format_csv_header",
    "open_row_writer",
    "quote_arff",
    "quote_csv",
    "write",
]

_BATCH = 65_536
_SEPARATORS = {"arff": ",", "csv": ",", "tsv": "\t"}
_ARFF_SPECIAL = frozenset(" ,{}%'\"\\\t\n\r")
_ARFF_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


def write(
    stream: Stream,
    path: str | Path,
    *,
    n_rows: int | None = None,
    target: str = "class",
    weight: str | None = None,
    time: str | None = None,
) -> int:
    """Write the rows of a stream to a file and return their number.

    Numbers are written as the shortest decimal that reads back as the same number. The file appears when it is
    complete. Its name determines the format: ``.arff``, ``.csv``, ``.tsv`` (followed by ``.gz`` or ``.zst`` to compress
    it), ``.parquet``, ``.arrow`` or ``.feather`` (both Arrow IPC). The class is the last column.

    Parameters
    ----------
    stream
        The rows.
    path
        Path of the file.
    n_rows
        Number of rows to write; required if the stream never ends.
    target
        Name of the column of the class, or of the numeric target, whose name is that of the schema by default.
    weight
        Name of the column of instance weights; None for ``weight`` if the first rows have weights, else for no such
        column. ARFF writes weights in braces after the row.
    time
        Name of the column of times, the first one, in seconds since 1970 UTC; None for ``time`` if the rows have times,
        else for no such column. ``File(path, time="time")`` reads it.

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
    refuse_replacing(stream, path)
    batches = _read_batches(stream, n_rows)
    first = next(batches, None)
    if weight is None and first is not None and first.weight is not None:
        weight = "weight"
    has_times = first is not None and first.time is not None
    schema = stream.schema
    if has_times:
        schema = replace(schema, attributes=(Attribute(time or "time"), *schema.attributes))
    n_written = 0
    with open_row_writer(Path(path), schema, target=target, weight=weight) as write_batch:
        for batch in () if first is None else chain((first,), batches):
            write_batch(_put_time_first(batch) if has_times else batch)
            n_written += len(batch)
    return n_written


def _put_time_first(batch: Batch) -> Batch:
    """Return rows whose first value is their time."""
    if batch.time is None:
        msg = f"rows from {batch.start} on have no times, and earlier rows have"
        raise StreamgaugeError(msg)
    return replace(batch, x=np.column_stack([batch.time, batch.x]), time=None)


@contextmanager
def open_row_writer(
    path: Path, schema: Schema, *, target: str = "class", weight: str | None = None, whole: Collection[str] = ()
) -> Iterator[Callable[[Batch], object]]:
    r"""Open a file for rows of a schema and yield a function that writes a batch.

    The file appears under its name when the block succeeds. The options are those of `write`; attributes that are
    `whole` numbers are integers in Parquet and Arrow. The bytes of the file do not depend on the sizes of the batches.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.records import Attribute
    >>> path = Path(tempfile.mkdtemp()) / "rows.csv"
    >>> with open_row_writer(path, Schema((Attribute("price"),), ("up", "down"))) as write_batch:
    ...     _ = write_batch(Batch(0, np.array([[0.1]]), np.array([1], dtype=np.int32)))
    >>> path.read_text()
    'price,class\n0.1,down\n'
    """
    kind, compression = detect_format(path)
    writer = Writer(schema, kind, target=target, weight=weight, whole=whole, relation=path.name.split(".")[0])
    if kind in TABLE_KINDS:
        with replace_atomically(path) as temporary, _open_table(temporary, kind, writer.arrow_schema) as file:
            groups = _RowGroups(lambda batch: file.write_table(writer.to_table(batch)), schema.n_attributes)
            yield groups.add
            groups.flush()
    else:
        with open_output(path, compression) as out:
            out.write(writer.header)
            yield lambda batch: out.write(writer.format_lines(batch))


def _open_table(path: Path, kind: str, schema: Any) -> Any:  # noqa: ANN401  (pyarrow has no types)
    import pyarrow as pa  # noqa: PLC0415  (slow to import)
    import pyarrow.parquet as pq  # noqa: PLC0415

    if kind == "parquet":
        return pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True)
    return pa.ipc.new_file(path, schema)


class _RowGroups:
    """Collects rows into groups of equal size: a file with a group for each small batch is large and slow."""

    def __init__(self, write: Callable[[Batch], object], n_attributes: int) -> None:
        self._write, self._n_attributes = write, n_attributes
        self._parts: list[Batch] = []
        self._n = 0

    def add(self, batch: Batch) -> None:
        """Add rows, and write a group when it is full."""
        while len(batch):
            part = slice_batch(batch, 0, _BATCH - self._n)
            if self._parts and (part.weight is None) != (self._parts[0].weight is None):
                self.flush()  # the writer says what is wrong with such rows
            self._parts.append(part)
            self._n += len(part)
            batch = slice_batch(batch, len(part), len(batch))
            if self._n == _BATCH:
                self.flush()

    def flush(self) -> None:
        """Write the rows that wait."""
        if self._parts:
            self._write(concatenate(self._parts, self._parts[0].start, self._n_attributes))
        self._parts, self._n = [], 0


def _read_batches(stream: Stream, n_rows: int | None) -> Iterator[Batch]:
    """Yield the first `n_rows` rows of a stream in batches; all of them if it is None."""
    if n_rows is not None:
        require_at_least("n_rows", n_rows, 0)
    elif stream.n_rows is None:
        msg = "the stream never ends: pass n_rows to say how many rows to write"
        raise StreamgaugeError(msg)
    n_left = n_rows
    for batch in stream.batches(_BATCH):
        if n_left is None:
            yield batch
            continue
        if n_left == 0:
            return
        n = min(n_left, len(batch))
        n_left -= n
        yield slice_batch(batch, 0, n)


class Writer:
    r"""A formatter of rows of a schema for one file format.

    Parameters
    ----------
    schema
        Schema of the rows.
    kind
        "arff", "csv", "tsv", "parquet" or "arrow".
    target, weight
        Names of the class and weight columns; None for no weight column.
    whole
        Names of the attributes that are integers in Parquet and Arrow.
    relation
        Name of the relation in ARFF.

    Examples
    --------
    >>> from streamgauge.records import Attribute
    >>> writer = Writer(Schema((Attribute("price"),), ("up", "down")), "csv")
    >>> writer.header + writer.format_lines(Batch(0, np.array([[0.1]]), np.array([1], dtype=np.int32)))
    b'price,class\n0.1,down\n'
    """

    def __init__(
        self,
        schema: Schema,
        kind: str,
        *,
        target: str = "class",
        weight: str | None = None,
        whole: Collection[str] = (),
        relation: str = "stream",
    ) -> None:
        target = schema.target.name if schema.target is not None and target == "class" else target
        names = [attribute.name for attribute in schema.attributes]
        for role, name in (("class", target), ("weight", weight)):
            if name in names:
                msg = f"there is already a column {name!r}: choose another name for the {role} column"
                raise StreamgaugeError(msg)
            names += [] if name is None else [name]
        values = [value for attribute in schema.attributes for value in attribute.values or ()]
        _check_names(names, [*values, *schema.classes], kind)
        if schema.target is not None and any("\n" in value for value in values):
            msg = (
                "a nominal value contains a line end, which no text file with a numeric target may hold: write Parquet"
            )
            raise StreamgaugeError(msg)
        self._schema, self._kind = schema, kind
        self._target, self._weight, self._relation, self._whole = target, weight, relation, whole
        if kind not in TABLE_KINDS:
            self._formatter = self._build_formatter()

    def _build_formatter(self) -> _native.Writing:
        arff = self._kind == "arff"
        quote = quote_arff if arff else _quote_csv_value
        separator = _SEPARATORS[self._kind]
        weight = "column" if self._weight is not None else "none"
        return _native.Writing(
            ord(separator),
            [
                None if attribute.values is None else [quote(value, separator).encode() for value in attribute.values]
                for attribute in self._attributes
            ],
            [quote(name, separator).encode() for name in self._schema.classes],
            "braces" if arff else weight,
        )

    @property
    def _attributes(self) -> tuple[Attribute, ...]:
        """The columns before the weight and the class: the attributes, and a numeric target."""
        schema = self._schema
        return schema.attributes if schema.target is None else (*schema.attributes, Attribute(self._target))

    @property
    def header(self) -> bytes:
        """The bytes before the rows."""
        classes = [] if self._schema.target is not None else [(self._target, self._schema.classes)]
        if self._kind == "arff":
            columns = [(attribute.name, attribute.values) for attribute in self._attributes]
            return format_arff_header(self._relation, [*columns, *classes])
        names = [attribute.name for attribute in self._attributes]
        weight = [] if self._weight is None else [self._weight]
        return format_csv_header([*names, *weight, *(name for name, _ in classes)], _SEPARATORS[self._kind])

    def format_lines(self, batch: Batch) -> bytes:
        """Return the rows of a batch as lines of text."""
        self._check_weight(batch)
        x, y = batch.x, batch.y
        if self._schema.target is not None:
            x, y = np.column_stack([x, y]), np.full(len(y), UNLABELLED, dtype=np.int32)
        try:
            text = self._formatter.lines(np.ascontiguousarray(x), np.ascontiguousarray(y), batch.weight)
        except ValueError as error:
            msg = f"in the rows from {batch.start} on: {error}"
            raise StreamgaugeError(msg) from None
        if self._schema.target is None:
            return text
        separator = _SEPARATORS[self._kind].encode()  # without the unknown class at the end of each row
        return text.replace(separator + b"?\n", b"\n").replace(separator + b"?" + separator + b"{", separator + b"{")

    def _check_weight(self, batch: Batch) -> None:
        if batch.weight is not None and self._weight is None and self._kind != "arff":
            msg = f"rows from {batch.start} on have weights and earlier rows have none: pass weight='weight'"
            raise StreamgaugeError(msg)

    @property
    def arrow_schema(self) -> Any:  # noqa: ANN401  (pyarrow has no types)
        """Arrow schema of the rows: a nominal column is a dictionary of strings, with its values in the metadata."""
        import pyarrow as pa  # noqa: PLC0415

        fields = [
            pa.field(attribute.name, pa.int64())
            if attribute.name in self._whole
            else _build_arrow_field(attribute.name, attribute.values)
            for attribute in self._schema.attributes
        ]
        if self._weight is not None:
            fields.append(_build_arrow_field(self._weight, None))
        return pa.schema([*fields, _build_arrow_field(self._target, self._schema.classes or None)])

    def to_table(self, batch: Batch) -> Any:  # noqa: ANN401
        """Return the rows of a batch as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415

        self._check_weight(batch)
        columns = [
            _build_arrow_column(values, attribute.values)
            for values, attribute in zip(batch.x.T, self._schema.attributes, strict=True)
        ]
        if self._weight is not None:
            columns.append(pa.array(np.ones(len(batch)) if batch.weight is None else batch.weight))
        targets = np.where(find_known(batch.y), batch.y, np.nan)
        columns.append(_build_arrow_column(targets, self._schema.classes or None))
        schema = self.arrow_schema
        return pa.Table.from_arrays(
            [column.cast(field.type) for column, field in zip(columns, schema, strict=True)], schema=schema
        )


def _check_names(columns: Sequence[str], values: Sequence[str], kind: str) -> None:
    """Raise if a file of a kind cannot hold the name of a column, of a nominal value or of a class."""
    text = kind not in TABLE_KINDS
    if text and "" in columns:
        msg = f"column {columns.index('') + 1} has no name, which text cannot represent: name it, or write Parquet"
        raise StreamgaugeError(msg)
    if not text and (missing := {"", "?"}.intersection(values)):
        msg = f"the nominal value {min(missing)!r} would be read from {kind.title()} as missing: write ARFF"
        raise StreamgaugeError(msg)
    for name in (*columns, *values):
        if text and "\0" in name:
            msg = f"the name {name!r} contains a zero byte, which no text file may hold: write Parquet"
            raise StreamgaugeError(msg)
        require_whole("column or value", name)


def _build_arrow_field(name: str, values: tuple[str, ...] | None) -> Any:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    from streamgauge.streams.files.tables import NAMES_KEY  # noqa: PLC0415

    if values is None:
        return pa.field(name, pa.float64())
    return pa.field(name, pa.dictionary(pa.int32(), pa.string()), metadata={NAMES_KEY: json.dumps(values)})


def _build_arrow_column(values: Any, names: tuple[str, ...] | None) -> Any:  # noqa: ANN401
    import pyarrow as pa  # noqa: PLC0415

    missing = np.isnan(values)
    if names is None:
        return pa.array(values, mask=missing)
    codes = np.where(missing, 0, values).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=missing), pa.array(names, pa.string()))


def format_arff_header(relation: str, columns: Iterable[tuple[str, Sequence[str] | None]]) -> bytes:
    r"""Return the header of an ARFF file; a column is a name and its nominal values, None for a numeric one.

    Examples
    --------
    >>> print(format_arff_header("market", [("it's", None), ("day", ("mo", "tu")), ("class", ("up", "down"))]).decode())
    @relation market
    <BLANKLINE>
    @attribute 'it\'s' numeric
    @attribute day {mo,tu}
    @attribute class {up,down}
    <BLANKLINE>
    @data
    <BLANKLINE>
    """
    lines = [f"@relation {quote_arff(relation)}", ""]
    for name, values in columns:
        kind = "numeric" if values is None else "{" + ",".join(map(quote_arff, values)) + "}"
        lines.append(f"@attribute {quote_arff(name)} {kind}")
    return "\n".join([*lines, "", "@data", ""]).encode()


def format_csv_header(names: list[str], separator: str) -> bytes:
    r"""Return the header line of a CSV file.

    Examples
    --------
    >>> format_csv_header(["price", "up, down"], ",")
    b'price,"up, down"\n'
    """
    return (separator.join(quote_csv(name, separator) for name in names) + "\n").encode()


def quote_arff(name: str, separator: str = ",") -> str:
    r"""Return a name as written in ARFF, in quotes if necessary.

    Examples
    --------
    >>> quote_arff("up"), quote_arff("it's 5%"), quote_arff("?")
    ('up', "'it\\'s 5%'", "'?'")
    """
    plain = name not in {"", "?"} and separator not in name and _ARFF_SPECIAL.isdisjoint(name) and name.isprintable()
    return name if plain else "'" + name.translate(_ARFF_ESCAPES) + "'"


def quote_csv(name: str, separator: str) -> str:
    """Return a name as written in CSV, in quotes if necessary.

    Examples
    --------
    >>> quote_csv("up", ","), quote_csv('a "b", c', ",")
    ('up', '"a ""b"", c"')
    """
    if "\n" in name or "\r" in name:
        msg = f"the name {name!r} contains a line break, which CSV cannot represent: write ARFF or Parquet"
        raise StreamgaugeError(msg)
    plain = name and name == name.strip() and separator not in name and '"' not in name and name[0] != "\ufeff"
    return name if plain else '"' + name.replace('"', '""') + '"'


def _quote_csv_value(name: str, separator: str) -> str:
    if name in {"", "?"}:
        msg = f"the nominal value {name!r} would be read from CSV as missing: write ARFF or Parquet"
        raise StreamgaugeError(msg)
    return quote_csv(name, separator)
