"""Files with a flipped bit or a cut end: each is read, or refused with a message that names it.

Run with ``python -m benchmarks.damaged_files [N] [SEED ...]``: N flips and N // 10 cuts per seed, spread over all
formats that are not text. Every file is read in a process of its own, so that a crash, an endless loop and a huge
allocation are seen. It prints what became of the files and stops with an error if one was treated wrongly. The tests
read a few hundred.
"""

import os
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.results import Predictions, load, read_errors, save
from streamgauge.streams import File, write

SECONDS, MEGABYTES = 20, 512
"""What reading a small file may take; the memory is that beyond the libraries."""

OUTCOMES = ("read", "refused", "raw exception", "message without the file", "impossible values", "huge allocation")


def build_table(n: int) -> Any:  # noqa: ANN401  (pyarrow has no types)
    """Build a table with a column of every kind that a file may hold."""
    random = np.random.default_rng(7)
    missing = random.random((4, n)) < 0.1
    days = pa.array(np.array(["mo", "tu", "wé"])[random.integers(0, 3, n)], mask=missing[0])
    numbers = pa.array(random.normal(size=n), mask=missing[1])
    return pa.table(
        {
            "number": numbers,
            "small": numbers.cast(pa.float32()),
            "whole": pa.array(random.integers(0, 9, n), mask=missing[2]),
            "price": pa.array([Decimal(int(cents)) / 100 for cents in random.integers(0, 999, n)], pa.decimal128(9, 2)),
            "flag": pa.array(random.random(n) < 0.5),
            "time": pa.array(np.arange(n) + 1_700_000_000, pa.timestamp("s")),
            "day": days,
            "long": days.cast(pa.large_string()),
            "code": days.dictionary_encode(),
            "class": pa.array(np.array(["up", "down"])[random.integers(0, 2, n)]),
        }
    )


def write_ipc(path: Path, table: Any, new: Callable[..., Any], compression: str | None = None) -> None:  # noqa: ANN401
    """Write a table in several record batches."""
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with new(str(path), table.schema, options=options) as file:
        file.write_table(table, max_chunksize=max(1, len(table) // 3))


def write_files(folder: Path, n: int) -> list[Path]:
    """Write sound files of every format."""
    table = build_table(n)
    write_ipc(folder / "file.arrow", table, pa.ipc.new_file)
    write_ipc(folder / "stream.arrow", table, pa.ipc.new_stream)
    write_ipc(folder / "zstd.arrow", table, pa.ipc.new_file, "zstd")
    pyarrow.feather.write_feather(table, str(folder / "lz4.feather"))
    pq.write_table(table, folder / "snappy.parquet", row_group_size=n // 3)
    pq.write_table(table, folder / "plain.parquet", compression="none", use_dictionary=False)
    options: dict[str, Any] = {"compression": "zstd", "data_page_version": "2.0", "write_page_checksum": True}
    pq.write_table(table, folder / "pages.parquet", **options)
    encodings = {"number": "BYTE_STREAM_SPLIT", "whole": "DELTA_BINARY_PACKED", "class": "DELTA_BYTE_ARRAY"}
    options = {"compression": "gzip", "use_dictionary": False, "column_encoding": encodings}
    pq.write_table(table.select(list(encodings)), folder / "delta.parquet", **options)
    write(sg.SEA(n_rows=n), folder / "own.parquet")
    random = np.random.default_rng(7)
    x, y = random.normal(size=(n, 4)), random.integers(0, 2, n)
    arrays: dict[str, Any] = {"x": x, "y": np.array(["up", "down"])[y], "weight": random.random(n)}
    np.savez(folder / "plain.npz", **arrays, attributes=np.array(["a", "b", "c", "d"]))
    np.savez_compressed(folder / "small.npz", **arrays)
    np.save(folder / "array.npy", np.column_stack([x, y]))
    fields = [("number", "f8"), ("day", "U2"), ("time", "M8[s]"), ("class", "S4")]
    records = zip(x[:, 0], np.array(["mo", "tu"])[y], np.arange(n), arrays["y"], strict=True)
    np.save(folder / "records.npy", np.array([(a, b, np.datetime64(int(t), "s"), c) for a, b, t, c in records], fields))
    return sorted(folder.iterdir())


def write_results(folder: Path) -> list[Path]:
    """Write the results of a run and its predictions; return the tables."""
    recorder = Predictions(folder / "predictions.parquet")
    learners = [sg.NaiveBayes(), sg.MajorityClass()]
    measures = ("accuracy", "log_loss", "roc_auc_ovr_macro")
    save(sg.evaluate(sg.SEA(n_rows=600), learners, measures=measures, recorders=[recorder], every=200), folder)
    return sorted(folder.glob("*.parquet"))


def read_stream(path: Path) -> None:
    """Read all rows of a file; raise if a value is not in its schema."""
    stream = File(path)
    n_names = [None if attribute.values is None else len(attribute.values) for attribute in stream.schema.attributes]
    n_rows = 0
    for batch in stream.batches(50):
        n_rows += len(batch)
        sound = batch.y.min(initial=0) >= -1 and batch.y.max(initial=0) < stream.schema.n_classes
        sound &= batch.time is None or bool((np.diff(batch.time, prepend=batch.time[0]) >= 0).all())
        for column, n in zip(batch.x.T, n_names, strict=True):
            known = column[~np.isnan(column)]
            sound &= bool(np.isfinite(known).all()) if n is None else not len(np.setdiff1d(known, np.arange(n)))
        if not sound:
            raise AssertionError
    if n_rows != stream.n_rows:
        raise AssertionError


def read_results(path: Path) -> None:
    """Load the results beside a table, or the predictions that it holds."""
    if path.name == "predictions.parquet":
        read_errors(path, "NaiveBayes")
    else:
        load(path.parent)


def damage(data: bytes, random: Random, *, cut: bool) -> bytes:
    """Return the bytes with one bit flipped, or cut off."""
    changed = bytearray(data)
    if cut:
        return bytes(changed[: random.randrange(len(changed))])
    bit = random.randrange(8 * len(changed))
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def try_reading(read: Callable[[Path], None], path: Path, name: str) -> str:
    """Read a file in a process of its own and return what became of it; a message must hold the name."""
    child = os.fork()
    if child == 0:
        os._exit(_read_quietly(read, path, name))
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return OUTCOMES[os.WEXITSTATUS(status)]


def _read_quietly(read: Callable[[Path], None], path: Path, name: str) -> int:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    signal.alarm(SECONDS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = 0
    try:
        read(path)
    except StreamgaugeError as error:
        outcome = 1 if name in str(error) else 3
    except AssertionError:
        outcome = 4
    except BaseException:
        outcome = 2
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return 5 if grown > 1024 * MEGABYTES else outcome


def survey(n: int, seed: int, *, n_rows: int = 120) -> Counter[str]:
    """Damage files of every kind `n` times by a bit and `n // 10` times by a cut; return the count of each outcome."""
    random, outcomes = Random(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "streams").mkdir()
        files = [(path, read_stream, path.name) for path in write_files(Path(folder) / "streams", n_rows)]
        results = Path(folder) / "results"
        files += [(path, read_results, path.parent.name) for path in write_results(results)]
        sound = {path: path.read_bytes() for path, *_ in files}
        for path, read, name in files:
            if (outcome := try_reading(read, path, name)) != "read":
                msg = f"{path.name} is sound, but: {outcome}"
                raise RuntimeError(msg)
        for i in range(n + n // 10):
            path, read, name = files[i % len(files)]
            path.write_bytes(damage(sound[path], random, cut=i >= n))
            outcome = try_reading(read, path, name)
            outcomes[outcome] += 1
            if outcome not in OUTCOMES[:2]:
                print(f"damage {i} of seed {seed} to {path.name}: {outcome}")
                (Path(tempfile.gettempdir()) / f"damaged-{seed}-{i}-{path.name}").write_bytes(path.read_bytes())
            path.write_bytes(sound[path])
    return outcomes


def main(n: int = 2_000, *seeds: int) -> None:
    """Survey and print the counts."""
    total = Counter[str]()
    for outcomes in map(partial(survey, n), seeds or (1,)):
        total += outcomes
    print(", ".join(f"{outcome}: {count}" for outcome, count in total.most_common()))
    if set(total) - set(OUTCOMES[:2]):
        sys.exit(1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
