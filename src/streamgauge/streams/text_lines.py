"""Text files as lines, for what copies rows without reading their values: sampling and shuffling."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.files import File
from streamgauge.streams.files.column_roles import Column, Key, Role
from streamgauge.streams.files.delimited import Start, read_start
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import Mark, about, chunks_from, located, read_arff_header
from streamgauge.streams.writers import arff_name, csv_header

__all__ = ["RawText", "open_raw"]


@dataclass(frozen=True)
class RawText:
    """A file whose rows are lines of delimited values.

    Parameters
    ----------
    source
        Its bytes.
    kind
        "arff", "csv" or "tsv".
    columns
        Its columns with their roles; those of a CSV file have no kind that is known.
    delimiter, missing
        How values are written.
    place
        Where the rows start.
    relation
        The name of the relation of an ARFF file.
    start
        The first line of a CSV file.
    expected
        What a user says that each column of a CSV file holds: "numbers", "names", or something else.
    """

    source: Source
    kind: str
    columns: tuple[Column, ...]
    delimiter: str
    missing: tuple[str, ...]
    place: Mark
    relation: str = ""
    start: Start | None = None
    expected: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns are called."""
        return tuple(column.name for column in self.columns)

    @property
    def class_field(self) -> int:
        """Which column is the class."""
        return [column.role for column in self.columns].index("class")

    @property
    def classes(self) -> list[str] | None:
        """The classes that the header declares; None where it declares none."""
        return list(self.columns[self.class_field].values or ()) if self.kind == "arff" else None

    @property
    def kept(self) -> list[bool] | None:
        """Which columns are not left out; None for all."""
        kept = [column.role != "dropped" for column in self.columns]
        return None if all(kept) else kept

    @property
    def rows(self) -> _native.RawRows:
        """What its rows look like."""
        arff = self.kind == "arff"
        return _native.RawRows(ord(self.delimiter), arff, list(self.missing), len(self.columns), self.class_field)

    @cached_property
    def head(self) -> bytes:
        """The bytes before the rows."""
        length = self.place[1]
        head = b""
        for chunk in self.source.chunks():
            head += chunk
            if len(head) >= length:
                break
        return head[:length]

    def chunks(self) -> Iterator[bytes]:
        """Give the bytes of the rows."""
        return chunks_from(self.source, self.place)

    def header(self, first: str | None = None) -> bytes:
        """Give what stands before the rows of a copy of the kept columns, with one more in front."""
        if self.kept is None and first is None:
            return self.head if self.head.endswith(b"\n") or not self.head else self.head + b"\n"
        columns = [column for column in self.columns if column.role != "dropped"]
        if first is not None:
            columns.insert(0, Column(first, "numeric"))
        if self.kind == "arff":
            declared = [f"@attribute {arff_name(column.name)} {_arff_kind(column)}" for column in columns]
            return "\n".join([f"@relation {arff_name(self.relation)}", "", *declared, "", "@data", ""]).encode()
        if self.start is not None and not self.start.has_header:
            return b""
        return csv_header([column.name for column in columns], self.delimiter)

    @property
    def reading(self) -> dict[str, Any]:
        """The options of `File` with which a copy of the kept columns is read."""
        kept = [i for i, column in enumerate(self.columns) if column.role != "dropped"]
        place = {i: kept.index(i) for i in kept}
        options: dict[str, Any] = {"target": place[self.class_field], "delimiter": self.delimiter}
        options["missing"] = self.missing
        if self.start is not None:
            options["header"] = self.start.has_header
            for option, held in (("numeric", "numbers"), ("nominal", "names")):
                found = [i for i in kept if self.expected[i] == held and self.columns[i].role == "attribute"]
                options[option] = [place[i] for i in found]
        options["weight"] = next((place[i] for i in kept if self.columns[i].role == "weight"), None)
        return options

    def check_header(self, classes: dict[str, int]) -> None:
        """Raise where a first line that was taken for a row may name the columns, as the classes show."""
        start = self.start
        if start is None or not start.guessed or start.has_header:
            return
        alone = classes.get(start.fields[self.class_field]) == 1 and sum(classes.values()) > 1
        if alone or start.fields == tuple(str(i) for i in range(len(start.fields))):
            raise _doubtful(self.source, start)


def open_raw(file: File, features: tuple[Key, ...] | None = None) -> RawText | None:
    """Open a file as lines; None where its rows are not lines of delimited values.

    Parameters
    ----------
    file
        The file.
    features
        The attributes to keep; None for all that the file keeps.
    """
    selection = file._selection if features is None else replace(file._selection, keep=features)
    source = file._source
    if file.kind == "arff":
        header, columns = read_arff_header(source, selection)
        if _is_sparse(source, header.mark):
            return None
        found = (tuple(columns), file.delimiter or ",", file.missing, header.mark)
        return RawText(source, "arff", *found, relation=header.relation)
    if file.kind != "csv":
        return None
    with located(source):
        start = read_start(source, header=file.header, delimiter=file.delimiter)
    if start.guessed and start.has_header and not _has_numbers(source, start):
        raise _doubtful(source, start)
    with about(source):
        roles: list[Role] = selection.roles(start.names)
        expected = tuple(selection.expected(start.names))
    columns = [Column(name, "text", role=role) for name, role in zip(start.names, roles, strict=True)]
    kind = "tsv" if start.delimiter == "\t" else "csv"
    found = (tuple(columns), start.delimiter, file.missing, start.first_row)
    return RawText(source, kind, *found, start=start, expected=expected)


def _is_sparse(source: Source, place: Mark) -> bool:
    """Say whether the first row is sparse; ARFF files are one or the other."""
    lines = b"".join(islice(chunks_from(source, place), 1)).splitlines()
    first = next((line for line in map(bytes.strip, lines) if line and not line.startswith(b"%")), b"")
    return first.startswith(b"{")


def _has_numbers(source: Source, start: Start) -> bool:
    """Say whether the first line below a header has a number, as a header is told from a row by that."""
    lines = b"".join(islice(chunks_from(source, start.first_row), 1)).splitlines()
    first = next((line for line in lines if line.strip()), b"")
    try:
        fields = _native.split_line(first, ord(start.delimiter))
    except ValueError:
        return True  # the fault is told where the row is read
    return any(_native.is_number(text) for text, _ in fields)


def _doubtful(source: Source, start: Start) -> StreamgaugeError:
    return StreamgaugeError(
        f"{source.name}, line {start.place[2]} may name the columns or be a row: say header=True or header=False"
    )


def _arff_kind(column: Column) -> str:
    return "numeric" if column.values is None else "{" + ",".join(map(arff_name, column.values)) + "}"
