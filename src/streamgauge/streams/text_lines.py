"""Text files as lines, for operations that copy rows without parsing their values: sampling and shuffling."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Protocol

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Column, Key
from streamgauge.streams.files.delimited import Start, read_start
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import Mark, locate_errors, prefix_errors, read_arff_header, read_from
from streamgauge.streams.writers import format_arff_header, format_csv_header

__all__ = ["Consumer", "RawText", "feed", "open_raw"]


class Consumer(Protocol):
    """A native reader of rows that returns the text for each of its outputs."""

    def update(self, chunk: bytes) -> Sequence[bytes]:
        """Process a chunk of the rows."""
        ...

    def finish(self) -> Sequence[bytes]:
        """Process the end of the rows."""
        ...


@dataclass(frozen=True)
class RawText:
    """A file whose rows are lines of delimited values.

    Parameters
    ----------
    source
        The bytes of the file.
    kind
        "arff", "csv" or "tsv".
    columns
        Columns with their roles; the kinds of the columns of a CSV file are unknown.
    delimiter, missing
        Delimiter of values, and the values that mean missing.
    mark
        Position of the first row.
    relation
        Name of the relation of an ARFF file.
    start
        First line of a CSV file.
    expected
        Declared content of each column of a CSV file: "numbers", "names", or something else.
    """

    source: Source
    kind: str
    columns: tuple[Column, ...]
    delimiter: str
    missing: tuple[str, ...]
    mark: Mark
    relation: str = ""
    start: Start | None = None
    expected: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def class_index(self) -> int:
        """Index of the class column."""
        return [column.role for column in self.columns].index("class")

    @property
    def classes(self) -> list[str] | None:
        """Classes declared in the header; None if it declares none."""
        return list(self.columns[self.class_index].values or ()) if self.kind == "arff" else None

    @property
    def keep_mask(self) -> list[bool] | None:
        """For each column whether it is kept; None if all are."""
        mask = [column.role != "dropped" for column in self.columns]
        return None if all(mask) else mask

    @property
    def layout(self) -> _native.RawRows:
        """Layout of the rows, for native code."""
        arff = self.kind == "arff"
        return _native.RawRows(ord(self.delimiter), arff, list(self.missing), len(self.columns), self.class_index)

    @cached_property
    def head(self) -> bytes:
        """The bytes before the rows."""
        length = self.mark[1]
        head = b""
        for chunk in self.source.read_chunks():
            head += chunk
            if len(head) >= length:
                break
        return head[:length]

    def read_chunks(self) -> Iterator[bytes]:
        """Return an iterator over the bytes of the rows."""
        return read_from(self.source, self.mark)

    def format_header(self, first: str | None = None) -> bytes:
        """Return the header of a copy of the kept columns, optionally with one more numeric column in front."""
        if self.keep_mask is None and first is None:
            return self.head if self.head.endswith(b"\n") or not self.head else self.head + b"\n"
        columns = [(column.name, column.values) for column in self.columns if column.role != "dropped"]
        if first is not None:
            columns.insert(0, (first, None))
        if self.kind == "arff":
            return format_arff_header(self.relation, columns)
        if self.start is not None and not self.start.has_header:
            return b""
        return format_csv_header([name for name, _ in columns], self.delimiter)

    @property
    def file_options(self) -> dict[str, Any]:
        """Options of `File` to read a copy of the kept columns."""
        kept = [i for i, column in enumerate(self.columns) if column.role != "dropped"]
        roles = [self.columns[i].role for i in kept]
        options: dict[str, Any] = {"target": roles.index("class"), "delimiter": self.delimiter}
        options["missing"] = self.missing
        if self.start is not None:
            options["header"] = self.start.has_header
            for option, content in (("numeric", "numbers"), ("nominal", "names")):
                options[option] = [
                    j for j, i in enumerate(kept) if self.expected[i] == content and roles[j] == "attribute"
                ]
        options["weight"] = roles.index("weight") if "weight" in roles else None
        return options

    def check_header(self, classes: dict[str, int]) -> None:
        """Raise if the first line was parsed as a row but, judging by the classes, may be a header."""
        start = self.start
        if start is None or not start.guessed or start.has_header:
            return
        unique = classes.get(start.fields[self.class_index]) == 1 and sum(classes.values()) > 1
        if unique or start.fields == tuple(str(i) for i in range(len(start.fields))):
            raise _build_header_error(self.source, start)


def open_raw(file: File, features: tuple[Key, ...] | None = None) -> RawText | None:
    """Open a file as lines; return None if its rows are not lines of delimited values.

    Parameters
    ----------
    file
        The file.
    features
        Attributes to keep; None for all that the file keeps.
    """
    selection = file._selection if features is None else replace(file._selection, keep=features)
    source = file._source
    if file.kind == "arff":
        header, declared = read_arff_header(source)
        with prefix_errors(source):
            roles = selection.resolve_roles([column.name for column in declared])
        columns = [replace(column, role=role) for column, role in zip(declared, roles, strict=True)]
        if _is_sparse(source, header.mark):
            return None
        return RawText(
            source=source,
            kind="arff",
            columns=tuple(columns),
            delimiter=file.delimiter or ",",
            missing=file.missing,
            mark=header.mark,
            relation=header.relation,
        )
    if file.kind != "csv":
        return None
    with locate_errors(source):
        start = read_start(source, header=file.header, delimiter=file.delimiter)
    if start.guessed and start.has_header and not _has_numbers(source, start):
        raise _build_header_error(source, start)
    with prefix_errors(source):
        roles = selection.resolve_roles(start.names)
        expected = tuple(selection.resolve_contents(start.names))
    return RawText(
        source=source,
        kind="tsv" if start.delimiter == "\t" else "csv",
        columns=tuple(Column(name, "text", role=role) for name, role in zip(start.names, roles, strict=True)),
        delimiter=start.delimiter,
        missing=file.missing,
        mark=start.first_row,
        start=start,
        expected=expected,
    )


def feed(consumer: Consumer, chunks: Iterable[bytes]) -> Iterator[Sequence[bytes]]:
    """Feed chunks of rows to a native consumer and yield its outputs, the last one after the end of the rows."""
    for chunk in chunks:
        yield consumer.update(chunk)
    yield consumer.finish()


def _is_sparse(source: Source, mark: Mark) -> bool:
    """Return whether the first row is sparse; the rows of an ARFF file are all sparse or all dense."""
    lines = b"".join(islice(read_from(source, mark), 1)).splitlines()
    first = next((line for line in map(bytes.strip, lines) if line and not line.startswith(b"%")), b"")
    return first.startswith(b"{")


def _has_numbers(source: Source, start: Start) -> bool:
    """Return whether the first row below a guessed header has a number, which distinguishes rows from headers."""
    lines = b"".join(islice(read_from(source, start.first_row), 1)).splitlines()
    first = next((line for line in lines if line.strip()), b"")
    try:
        fields = _native.split_line(first, ord(start.delimiter))
    except ValueError:
        return True  # the error is raised when the row is parsed
    return any(_native.is_number(text) for text, _ in fields)


def _build_header_error(source: Source, start: Start) -> StreamgaugeError:
    return StreamgaugeError(
        f"{source.name}, line {start.mark[2]} may name the columns or be a row: set header=True or header=False"
    )
