"""Arrow, Parquet and NumPy files with changed structure: each is refused, or read as an independent reader reads it.

Run with ``python -m benchmarks.fuzz_tables [N] [SEED] [FOLDER]``: N files, a third of each kind. Tables of random
shape, kinds of columns, gaps, row groups and compressions are written, and then changed where it hurts: lengths,
offsets, counts and types of the metadata of Arrow, the footer and page headers of Parquet, and the header of arrays
inside an archive whose checksums are right. Polars reads Arrow and Parquet as well, NumPy reads the arrays. Batches of
files are read in a process of their own, so that a crash and an endless loop are seen. It prints what became of the
files of each kind; those that were treated wrongly stay in the folder.
"""

import io
import multiprocessing
import sys
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.errors import StreamgaugeError
from streamgauge.streams import File

BATCH_FILES = 200
SECONDS = 5.0
"""The most seconds that reading a file may take."""

OUTCOMES = ("refused", "read alike", "read by us alone", "MISREAD", "RAW EXCEPTION", "TOO SLOW", "CRASH")
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


KINDS: dict[str, Callable[[Random], bytes]] = {"parquet": make_parquet, "arrow": make_arrow, "npz": make_npz}


def read_ours(path: Path) -> tuple[list[list[float]], list[str]]:
    """Read the numbers and class names of a file by streamgauge."""
    stream = File(str(path)) if path.suffix == ".npz" else File(str(path), target="class")
    x: list[list[float]] = []
    y: list[str] = []
    for batch in stream.batches(50):
        x += batch.x.tolist()
        y += [stream.schema.classes[code] if code >= 0 else "" for code in batch.y]
    return x, y


def read_independently(path: Path) -> tuple[list[list[float]], list[str]]:
    """Read the same by polars, or by NumPy."""
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
    """Return whether both read the same rows; a column that one of them leaves out is no misreading."""
    if ours[1] != other[1]:
        return False
    try:
        return bool(np.array_equal(np.array(ours[0]), np.array(other[0]), equal_nan=True))
    except ValueError:  # rows of different lengths
        return False


def judge(path: Path) -> str:
    """Return what became of a file."""
    started = time.perf_counter()
    try:
        ours = read_ours(path)
    except StreamgaugeError as error:
        named = str(path) in str(error) and len(str(error).splitlines()) == 1
        return ("refused" if named else "RAW EXCEPTION") if time.perf_counter() - started < SECONDS else "TOO SLOW"
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return "RAW EXCEPTION"
    if time.perf_counter() - started > SECONDS:
        return "TOO SLOW"
    try:
        other = read_independently(path)
    except BaseException:
        return "read by us alone"
    return "read alike" if is_same(ours, other) else "MISREAD"


def read_batch(kind: str, seed: int, n: int, folder: str, counts: "multiprocessing.Queue[str]") -> None:
    """Make and read some files; what misbehaves is kept in the folder."""
    random = Random(f"{kind} {seed}")
    for i in range(n):
        path = Path(folder) / f"{seed}-{i}.{kind}"
        path.write_bytes(KINDS[kind](random))
        counts.put("")  # it has begun
        outcome = judge(path)
        counts.put(outcome)
        if not outcome.isupper():
            path.unlink()


def fuzz(kind: str, n: int, seed: int, folder: str) -> Counter[str]:
    """Read `n` files of a kind in processes of their own; return the number of each outcome."""
    context, counts = multiprocessing.get_context("fork"), Counter[str]()
    for start in range(0, n, BATCH_FILES):
        queue = context.Queue()
        size = min(BATCH_FILES, n - start)
        process = context.Process(target=read_batch, args=(kind, seed * 1_000_000 + start, size, folder, queue))
        process.start()
        n_done, began = 0, False
        with suppress(Exception):
            while n_done < size:
                outcome = queue.get(timeout=60.0)
                began = not outcome
                if outcome:
                    counts[outcome] += 1
                    n_done += 1
        if n_done < size:
            counts["TOO SLOW" if process.is_alive() else "CRASH"] += began
            process.kill()
        process.join()
    return counts


def main(n: int = 3_000, seed: int = 1) -> None:
    """Fuzz all kinds and print a table."""
    with TemporaryDirectory() as temporary:
        folder = sys.argv[3] if len(sys.argv) > 3 else temporary
        print("| kind | files | " + " | ".join(OUTCOMES) + " |")
        print("|---|" + "---:|" * (len(OUTCOMES) + 1))
        for kind in KINDS:
            counts = fuzz(kind, n // len(KINDS), seed, folder)
            print(
                f"| {kind} | {sum(counts.values()):,} | " + " | ".join(f"{counts[o]:,}" for o in OUTCOMES) + " |",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
