"""Arrow, Parquet and NumPy files with changed structure: each is refused, or read as an independent reader reads it.

They are readers of `benchmarks.fuzzing`. Tables of random shape, kinds of columns, gaps, row groups and compressions
are written, and then changed where it hurts: lengths, offsets, counts and types of the metadata of Arrow, the footer
and page headers of Parquet, and the header of arrays, also inside an archive whose checksums are right. Polars reads
Arrow and Parquet as well, NumPy reads the arrays.
"""

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.fuzzing import Misread, Reader, naming
from streamgauge.streams import File

SIZES = (0, 1, 2, 3, 7, 8, 16, 63, 127, 255, 1 << 14, 1 << 31, (1 << 32) - 1)


def build_table(random: Random) -> pa.Table:
    """Build a small table: numbers of several kinds with gaps, and a class."""
    n = random.choice((1, 3, 20, 200))
    kinds = (pa.float64(), pa.float32(), pa.int64(), pa.int16())
    columns = {}
    for i in range(random.randint(1, 4)):
        values = [None if random.random() < 0.1 else random.randrange(-1000, 1000) for _ in range(n)]
        columns[f"a{i}"] = pa.array(values, random.choice(kinds))
    names = pa.array([random.choice(("up", "down", "flat")) for _ in range(n)])
    columns["class"] = names.dictionary_encode() if random.random() < 0.5 else names
    return pa.table(columns)


def make_parquet(random: Random) -> bytes:
    """Return a Parquet file, changed."""
    buffer = io.BytesIO()
    options = {"compression": random.choice(("none", "snappy", "zstd")), "use_dictionary": random.random() < 0.5}
    pq.write_table(build_table(random), buffer, row_group_size=random.choice((5, 1000)), **options)
    data = bytearray(buffer.getvalue())
    footer = int.from_bytes(data[-8:-4], "little")
    region = (len(data) - 8 - footer, len(data) - 4) if random.random() < 0.7 else (4, len(data) - 8 - footer)
    return change_numbers(data, random, *region, width=1)


def make_arrow(random: Random) -> bytes:
    """Return an Arrow file or stream, changed."""
    sink = io.BytesIO()
    table = build_table(random)
    new = pa.ipc.new_file if random.random() < 0.5 else pa.ipc.new_stream
    with new(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=random.choice((7, 1000)))
    data = bytearray(sink.getvalue())
    return change_numbers(data, random, 0, len(data), width=random.choice((2, 4, 8)))


def change_numbers(data: bytearray, random: Random, start: int, stop: int, width: int) -> bytes:
    """Replace some aligned numbers of a region by lengths and offsets that are likely to hurt."""
    for _ in range(random.choice((1, 1, 2, 4))):
        position = random.randrange(start, max(start + 1, stop)) // width * width
        old = int.from_bytes(data[position : position + width], "little")
        new = random.choice((*SIZES, old + 1, old - 1, old * 2, old ^ (1 << random.randrange(8 * width))))
        data[position : position + width] = (new % (1 << (8 * width))).to_bytes(width, "little")
    return bytes(data)


def make_npz(random: Random) -> bytes:
    """Return an archive of arrays with right checksums, of which one header or body is changed."""
    table = build_table(random)
    x = np.column_stack([table[name].to_numpy().astype(np.float64) for name in table.column_names[:-1]])
    arrays = {"x": x, "y": np.array(table["class"].to_pylist())}
    changed = random.choice(("x", "y"))
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, np.asfortranarray(array) if random.random() < 0.3 else array)
            content = buffer.getvalue()
            archive.writestr(f"{name}.npy", change_header(content, random) if name == changed else content)
    return sink.getvalue()


def make_npy(random: Random) -> bytes:
    """Return an array of numbers, or of records, of which the header or the body is changed."""
    table = build_table(random)
    columns = [table[name].to_numpy().astype(np.float64) for name in table.column_names[:-1]]
    classes = np.array([("down", "flat", "up").index(name) for name in table["class"].to_pylist()])
    array = np.column_stack([*columns, classes])
    if random.random() < 0.3:
        array = np.nan_to_num(array).astype(random.choice(("<i4", ">i8", "<f4", "<u2")))
    buffer = io.BytesIO()
    np.save(buffer, np.asfortranarray(array) if random.random() < 0.3 else array)
    return change_header(buffer.getvalue(), random)


def change_header(content: bytes, random: Random) -> bytes:
    """Change the header of an array: its type, order, shape or length; or its bytes."""
    types = [(b"<f8", new) for new in (b"<f4", b">f8", b"<i8", b"|O8")]
    texts = [(b"<U", b"|S"), (b"<U4", b"<U1"), (b"<U", b">U"), (b"(", b"(9,"), (b", 1)", b", 2)"), *types]
    texts += [(b"False", b"True "), (b"True", b"False")]
    if random.random() < 0.6:
        old, new = random.choice(texts)
        if old in content:
            length = int.from_bytes(content[8:10], "little")
            head = content[10 : 10 + length].replace(old, new, 1)
            head = head.rstrip(b" \n").ljust(length - 1)[: length - 1] + b"\n"
            return content[:10] + head + content[10 + length :]
    data = bytearray(content)
    return change_numbers(data, random, 0, len(data), width=1)


def read_ours(path: Path) -> tuple[list[list[float]], list[str]]:
    """Read the numbers and class names of a file by streamgauge."""
    stream = File(str(path)) if path.suffix in (".npz", ".npy") else File(str(path), target="class")
    x: list[list[float]] = []
    y: list[str] = []
    for batch in stream.batches(50):
        x += batch.x.tolist()
        y += [stream.schema.classes[code] if code >= 0 else "" for code in batch.y]
    return x, y


def read_independently(path: Path) -> tuple[list[list[float]], list[str]]:
    """Read the same by polars, or by NumPy."""
    if path.suffix == ".npy":
        rows = np.load(path, allow_pickle=False)
        return rows[:, :-1].astype(np.float64).tolist(), [
            "" if np.isnan(value) else str(value) for value in rows[:, -1].tolist()
        ]
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as arrays:
            labels = [str(label).rstrip("\0") for label in arrays["y"].tolist()]
            return arrays["x"].astype(np.float64).tolist(), labels
    if path.suffix == ".parquet":
        frame = polars.read_parquet(path)
    else:
        data = path.read_bytes()
        frame = (polars.read_ipc if data[:6] == b"ARROW1" else polars.read_ipc_stream)(io.BytesIO(data))
    names = [name for name in frame.columns if name != "class"]
    columns = [[np.nan if value is None else float(value) for value in frame[name].to_list()] for name in names]
    x = [list(row) for row in zip(*columns, strict=True)]
    return x, ["" if label is None else str(label) for label in frame["class"].to_list()]


def is_same(ours: tuple[list[list[float]], list[str]], other: tuple[list[list[float]], list[str]]) -> bool:
    """Return whether both read the same rows."""
    if ours[1] != other[1] and list(map(_as_number, ours[1])) != list(map(_as_number, other[1])):
        return False
    try:
        return bool(np.array_equal(np.array(ours[0]), np.array(other[0]), equal_nan=True))
    except ValueError:  # rows of different lengths
        return False


def _as_number(name: str) -> float | str:
    """Return the number that a name of a class writes; other names as they are."""
    try:
        return float(name)
    except ValueError:
        return name


def try_file(path: Path, make: Callable[[Random], bytes], random: Random) -> bool | None:
    """Make a file and read it; return whether the other reader found the same, None if it refuses the file."""
    path.write_bytes(make(random))
    with naming(path.name):
        ours = read_ours(path)
    try:
        other = read_independently(path)
    except BaseException:  # polars panics
        return None
    if not is_same(ours, other):
        msg = f"{ours} where the other reader found {other}"
        raise Misread(msg)
    return True


@contextmanager
def open_table_reader(
    kind: str, make: Callable[[Random], bytes], folder: Path
) -> Iterator[Callable[[Random], bool | None]]:
    """Return what makes and reads files of a kind, in a folder."""
    yield partial(try_file, folder / f"table.{kind}", make)


READERS = (
    Reader("Parquet", 20, partial(open_table_reader, "parquet", make_parquet), "polars"),
    Reader("Arrow", 20, partial(open_table_reader, "arrow", make_arrow), "polars"),
    Reader("npz", 20, partial(open_table_reader, "npz", make_npz), "NumPy"),
    Reader("npy", 20, partial(open_table_reader, "npy", make_npy), "NumPy"),
)
