"""Arrow and Parquet files whose bytes are wrong: each is refused with its name before anything computes with it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import streamgauge as sg
from streamgauge.errors import DamageWarning, StreamgaugeError
from streamgauge.results import Predictions, load, read_errors, save
from streamgauge.streams import File
from streamgauge.streams.files.record_batches import read_table

N = 40_000
DAMAGED = "cannot be read: it is damaged or cut off"
Change = Callable[[bytearray], None]


def write_ipc(path: Path, table: Any, new: Callable[..., Any] = pa.ipc.new_file) -> Path:
    with new(str(path), table.schema) as file:
        file.write_table(table, max_chunksize=len(table) // 4)
    return path


def build_table(n: int = N) -> Any:
    days = pa.array(np.array(["monday", "tuesday"])[np.arange(n) % 2])
    return pa.table({"number": np.arange(n, dtype=np.float64), "day": days, "class": days})


def read_all(path: Path) -> None:
    for _ in File(path).batches(1000):
        pass


def build_wild_indexes() -> Any:
    wild = pa.DictionaryArray.from_arrays(
        pa.array([0, 1 << 30, 1, -7] * 10, pa.int32()), pa.array(["a", "b"]), safe=False
    )
    return pa.table({"number": np.arange(40.0), "class": wild})


def build_wild_offsets() -> Any:
    offsets = np.arange(41, dtype=np.int32)
    offsets[20] = 1 << 30
    text = pa.StringArray.from_buffers(40, pa.py_buffer(offsets), pa.py_buffer(bytes(40)))
    return pa.table({"number": np.arange(40.0), "class": text})


def build_no_text() -> Any:
    text = pa.StringArray.from_buffers(2, pa.py_buffer(np.arange(3, dtype=np.int32)), pa.py_buffer(b"\xff\xfe"))
    return pa.table({"number": np.arange(2.0), "class": text})


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
@pytest.mark.parametrize("build", [build_wild_indexes, build_wild_offsets, build_no_text])
def test_what_would_crash_a_computation_is_found_before_it(
    tmp_path: Path, build: Callable[[], Any], new: Callable[..., Any]
) -> None:
    with new(str(tmp_path / "wild.arrow"), build().schema) as file:
        file.write_table(build())
    with pytest.raises(StreamgaugeError, match=rf"wild\.arrow {DAMAGED}"):
        read_all(tmp_path / "wild.arrow")


@pytest.mark.parametrize("new", [pa.ipc.new_file, pa.ipc.new_stream])
def test_a_file_that_is_cut_off_while_it_is_read_ends_in_an_error(tmp_path: Path, new: Callable[..., Any]) -> None:
    path = write_ipc(tmp_path / "cut.arrow", build_table(), new)
    batches = File(path).batches(1000)
    next(batches)
    with path.open("r+b") as file:  # a mapped file would now end the process with a bus error
        file.truncate(path.stat().st_size // 3)
    with pytest.raises(StreamgaugeError, match=rf"cut\.arrow ({DAMAGED}|has changed since it was first read)"):
        list(batches)


@pytest.mark.parametrize("suffix", [".arrow", ".feather", ".parquet"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"cut{suffix}"
    if suffix == ".parquet":
        pq.write_table(build_table(), path)
    else:
        write_ipc(path, build_table())
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(StreamgaugeError, match=rf"cut{suffix} {DAMAGED}"):
        read_all(path)


def test_the_checksum_of_a_page_is_compared(tmp_path: Path) -> None:
    path = tmp_path / "pages.parquet"
    table = pa.table({"number": np.arange(1000.0), "class": pa.array(["a", "b"] * 500)})
    options: dict[str, Any] = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    pq.write_table(table, path, **options)
    data = bytearray(path.read_bytes())
    data[data.index(np.arange(500.0, 510.0).tobytes())] ^= 1
    path.write_bytes(data)
    with pytest.raises(StreamgaugeError, match=rf"pages\.parquet {DAMAGED} .*could not verify page integrity"):
        read_all(path)


def test_a_table_must_have_the_columns_that_are_wanted_once(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), path)
    with pytest.raises(StreamgaugeError, match=r"t\.parquet must have one column 'a'; it has a, a"):
        read_table(path, ["a"])
    with pytest.raises(StreamgaugeError, match="must have one column 'b'"):
        read_table(path, ["b"])


def test_damaged_results_and_predictions_are_refused_or_left_out_by_name(tmp_path: Path) -> None:
    recorder = Predictions(tmp_path / "predictions.parquet")
    learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
    save(sg.evaluate(sg.SEA(n_rows=600), learners, recorders=[recorder], every=200, resources=True), tmp_path)

    def read_predictions(folder: Path) -> None:
        read_errors(folder, "bayes")

    readers: dict[str, Callable[[Path], object]] = {"predictions": read_predictions, "readings": load, "blocks": load}
    for name, read in (readers | {"resources": load, "labels": load}).items():
        path = tmp_path / f"{name}.parquet"
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        is_needed = name in {"predictions", "readings"}
        message = rf"{name}\.parquet .*not match its checksum"
        with (
            pytest.raises(StreamgaugeError, match=message) if is_needed else pytest.warns(DamageWarning, match=message)
        ):
            read(tmp_path)
        path.write_bytes(data)
        read(tmp_path)


def test_an_error_of_arrow_with_several_lines_is_reported_in_one(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a": [1.0, 2.0], "class": ["x", "y"]}), path)
    data = bytearray(path.read_bytes())
    footer = int.from_bytes(data[-8:-4], "little")
    data[-8 - footer] = 0xFF  # the first field of the metadata
    path.write_bytes(data)
    with pytest.raises(StreamgaugeError, match="is damaged or cut off") as refusal:
        _ = File(path).schema
    assert len(str(refusal.value).splitlines()) == 1
