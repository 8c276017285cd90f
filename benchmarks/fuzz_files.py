"""Mutated ARFF and CSV files: the native reader and a slow reference must both refuse them or read the same rows.

They are two readers of `benchmarks.fuzzing`. The tests run a few thousand files.
"""

from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import cast

import numpy as np

from benchmarks.fuzzing import Misread, Reader, per_input
from streamgauge.errors import StreamgaugeError
from streamgauge.streams.files.column_roles import Selection
from streamgauge.streams.files.delimited import open_delimited
from streamgauge.streams.files.source import Source
from streamgauge.streams.files.text_files import TextReader, open_arff
from tests.support.text_reference import RefusedError, Table, read_arff, read_csv

ARFF_FILES = (
    b"% note\n@relation 'a b'\n@attribute n numeric\n@attribute day {mo, tu, 'w e'}\n@attribute \"r\" REAL\n"
    b"@attribute class {1,2,3}\n\n@data\n1.5,mo,0.25,1\n?, tu ,-3e-2,2\n2,'w e',.5,3,{0.5}\n"
    b"{0 4, 3 2}\n% x\n7,mo,1.,?\n",
    b"@RELATION r\r\n@ATTRIBUTE a\tinteger % c\r\n@ATTRIBUTE 'it\\'s' {\"x\\ty\",'?',z}\r\n@attribute c{UP,DOWN}\r\n"
    b"@DATA\r\n12345678901234567890,z,UP\r\n{}\r\n{ 1 'x\\ty' , 2 DOWN } , {2}\r\n0.1,'?',DOWN\r\n1e-7,\"z\",?\r\n",
    b"@attribute a real\n@attribute b real\n@attribute c {0,1}\n@data\n0.123456789012345678,1,0\n-17,99999999999999,1\n"
    b"3.14159265358979,2.718281828459045,0\n100000,1e5,1\n",
)
CSV_FILES = (
    b"n,day,c\n1.5,mo,1\n?,tu,2\n-3e2,mo,10\n,we,1\n",
    b'a,b,class\r\n1,"x, ""y""",UP\r\n 2 , z ,DOWN\r\n"3",z,\r\n0.30000000000000004,z,UP\r\n',
    b"1,2,0\n3,4,1\n5.5,6e-3,1\n\n12345678,87654321.125,0\n",
    b"red,round,1,yes\nblue,square,2,no\nred,?,3,yes\n",
)
TOKENS = (
    b",", b"'", b'"', b"\\", b"{", b"}", b"?", b"%", b" ", b"\t", b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3\xa9",
    b"nan", b"inf", b"1e999", b"1e-999", b".", b"-", b"+", b"e", b"0", b"123456789", b"@data", b"@attribute ", b":",
    b"\xff\xfe", b'""', b"''", b"\\'", b", {3}", b"{0 1}", b"mo", b"1", b"1.0", b"99999999999999999999", b";",
    b"\xef\xbb\xbf",
)  # fmt: skip


class MemorySource:
    """A file in memory that is read in chunks of a given size."""

    compression = None
    suffix = ".csv"
    name = "fuzz"

    def __init__(self, data: bytes, chunk: int) -> None:
        self.data = data
        self.chunk = chunk

    def read_chunks(self, offset: int = 0) -> Iterator[bytes]:
        """Yield the bytes from an offset on."""
        for start in range(offset, len(self.data), self.chunk):
            yield self.data[start : min(len(self.data), start + self.chunk)]


def mutate(random: Random, files: tuple[bytes, ...]) -> bytes:
    """Change a file in a few places, half of the files gently, so that many remain readable."""
    data = bytearray(random.choice(files))
    change = _change_gently if random.random() < 0.5 else _change_roughly
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        change(data, random, files)
    return bytes(data)


def _change_gently(data: bytearray, random: Random, files: tuple[bytes, ...]) -> None:
    """Change a digit or insert a character, or repeat, drop or copy a line."""
    kind = random.randrange(5)
    digits = [position for position, byte in enumerate(data) if 48 <= byte <= 57]
    if kind <= 1 and digits:
        start = random.choice(digits)
        data[start : start + 1] = random.choice((b"%d", b"%d5", b"-%d", b".%d", b"%de", b"0%d0")) % random.randrange(10)
    elif kind == 2:
        start = random.randint(0, len(data))
        data[start:start] = random.choice((b" ", b"\t", b"\n", b"\r\n", b"?", b"% ", b'"'))
    else:
        lines = bytes(data).split(b"\n")
        start = random.randrange(len(lines))
        other = random.choice(files).split(b"\n") if kind == 3 else lines
        lines[start : start + random.randrange(2)] = [random.choice(other)][: random.randrange(2)]
        data[:] = b"\n".join(lines)


def _change_roughly(data: bytearray, random: Random, files: tuple[bytes, ...]) -> None:
    """Replace any bytes by any others."""
    start = random.randint(0, len(data))
    end = min(len(data), start + random.choice((0, 1, 1, 2, 8, 40)))
    kind = random.randrange(6)
    if kind <= 2:
        data[start:end] = random.choice(TOKENS)
    elif kind == 3:
        data[start:end] = bytes([random.randrange(256)])
    elif kind == 4:
        other = random.choice(files)
        offset = random.randrange(len(other))
        data[start:end] = other[offset : offset + random.choice((1, 5, 30))]
    else:
        del data[start : len(data) if random.random() < 0.1 else end]


def compare(
    reader: Callable[[Source], TextReader], reference: Callable[[bytes], Table], data: bytes, random: Random
) -> bool:
    """Return whether both readers read a file; raise if they differ in its rows or in the position of an error."""
    source = cast("Source", MemorySource(data, random.choice((1, 3, 7, 64, 10_000))))
    expected, refusal, table, message = None, None, None, None
    try:
        expected = reference(data)
    except RefusedError as error:
        refusal = error
    try:
        table = read_table(reader(source), random.choice((1, 2, 5, 1000)))
    except StreamgaugeError as error:
        message = str(error)
    if (expected is None) != (table is None):
        msg = f"reference: {refusal or expected}; native: {message or table}"
        raise Misread(msg)
    if expected is None or table is None:
        check_same_position(refusal or RefusedError(None), message or "")
        return False
    if not _is_equal(table, expected):
        msg = f"reference: {expected}; native: {table}"
        raise Misread(msg)
    return True


def _is_equal(table: Table, expected: Table) -> bool:
    """Return whether two tables are equal, their numbers bit for bit."""
    values = [np.array(part.x, dtype=np.float64) for part in (table, expected)]
    bits = [np.where(np.isnan(x), np.nan, x).tobytes() for x in values]
    names = [(part.attributes, part.classes, part.y, part.weight) for part in (table, expected)]
    return bits[0] == bits[1] and names[0] == names[1]


def check_same_position(refusal: RefusedError, message: str) -> None:
    """Raise unless a native message names the line, and the column if the reference knows it."""
    line = "" if refusal.line is None else f", line {refusal.line}"
    column = "" if refusal.column is None else f", column {refusal.column}"
    if not message.startswith(f"fuzz{line}{column}") or (message + " ")[len(f"fuzz{line}{column}")] not in " ,:":
        msg = f"reference: line {refusal.line}, column {refusal.column}; native: {message}"
        raise Misread(msg)


def read_table(reader: TextReader, size: int) -> Table:
    """Read all rows, and the second half twice."""
    attributes = [(attribute.name, attribute.values) for attribute in reader.schema.attributes]
    table = Table(attributes, reader.schema.classes)
    for x, y, weight, _ in reader.read_rows(size, 0):
        table.x += x.tolist()
        table.y += y.tolist()
        table.weight += [1.0] * len(y) if weight is None else weight.tolist()
    if reader.n_rows != len(table.y):
        msg = f"the reader announced {reader.n_rows} rows and read {len(table.y)}"
        raise Misread(msg)
    middle = len(table.y) // 2
    again = [label for _, y, *_ in reader.read_rows(size, middle) for label in y.tolist()]
    if again != table.y[middle:]:
        msg = f"from row {middle} on: {again} instead of {table.y[middle:]}"
        raise Misread(msg)
    return table


def open_native_arff(source: Source) -> TextReader:
    """Open an ARFF file."""
    return open_arff(source, Selection(), ",", ("?", ""))


def open_native_csv(source: Source, *, header: bool) -> TextReader:
    """Open a CSV file with or without a header."""
    return open_delimited(source, Selection(), ("?", ""), header=header, delimiter=",")


def fuzz(n: int, seed: int) -> tuple[int, int]:
    """Compare the readers on `n` mutated files of each format; return how many of each were read."""
    random = Random(seed)
    n_arff = n_csv = 0
    for i in range(n):
        files = mutate(random, ARFF_FILES), mutate(random, CSV_FILES)
        header = random.random() < 0.5
        try:
            n_arff += compare(open_native_arff, read_arff, files[0], random)
            csv = partial(open_native_csv, header=header), partial(read_csv, header=header)
            n_csv += compare(*csv, files[1], random)
        except BaseException:
            print(f"pair {i} of seed {seed}, header={header}: {files}")
            raise
    return n_arff, n_csv


def refuse_or_read(
    reader: Callable[[Source], TextReader], reference: Callable[[bytes], Table], data: bytes, random: Random
) -> bool:
    """Return True if both readers read a file alike; raise a `StreamgaugeError` if both refuse it."""
    if not compare(reader, reference, data, random):
        msg = "both refuse it"
        raise StreamgaugeError(msg)
    return True


def try_arff(random: Random) -> bool:
    """Read a mutated ARFF file."""
    return refuse_or_read(open_native_arff, read_arff, mutate(random, ARFF_FILES), random)


def try_csv(random: Random) -> bool:
    """Read a mutated CSV file."""
    header = random.random() < 0.5
    both = partial(open_native_csv, header=header), partial(read_csv, header=header)
    return refuse_or_read(*both, mutate(random, CSV_FILES), random)


READERS = (
    Reader("ARFF", 60, per_input(try_arff), "our own in Python"),
    Reader("CSV", 60, per_input(try_csv), "our own in Python"),
)
