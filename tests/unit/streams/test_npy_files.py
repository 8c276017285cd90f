"""Arrays of NumPy as streams: what is read is what was saved, and what cannot be right is refused."""

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import streamgauge as sg
from streamgauge.errors import StreamgaugeError
from streamgauge.streams import File, take

RANDOM = np.random.default_rng(3)
X, Y = RANDOM.normal(size=(500, 3)), RANDOM.integers(1, 4, 500)
RECORDS = np.array(
    [(x, day, label, n) for x, day, label, n in zip(X[:, 0], Y % 2, Y, Y + 5, strict=True)],
    dtype=[("price", ">f4"), ("day", "U2"), ("class", "S3"), ("n", "<u2")],
)


def save(path: Path, array: NDArray[Any]) -> Path:
    np.save(path, array)
    return path


@pytest.mark.parametrize(
    "change",
    [lambda a: a, np.asfortranarray, lambda a: a.astype(">f8"), lambda a: a.astype(np.longdouble)],
    ids=["by row", "by column", "other byte order", "long double"],
)
def test_the_last_column_of_an_array_is_the_class(tmp_path: Path, change: Any) -> None:
    file = File(save(tmp_path / "a.npy", change(np.column_stack([X, Y]))))
    assert [attribute.name for attribute in file.schema.attributes] == ["x0", "x1", "x2"]
    assert file.schema.classes == ("1", "2", "3")
    for size, start in ((1, 498), (7, 0), (100, 250), (1000, 0), (10, 500)):
        batches = list(file.batches(size, start))
        assert [batch.start for batch in batches] == list(range(start, 500, size))
        np.testing.assert_array_equal(np.concatenate([np.empty((0, 3)), *(b.x for b in batches)]), X[start:])
        np.testing.assert_array_equal(np.concatenate([np.empty(0), *(b.y for b in batches)]), Y[start:] - 1)


def test_an_array_and_the_csv_file_of_it_are_the_same_stream(tmp_path: Path) -> None:
    array = np.column_stack([X.round(3), Y])
    array[5, 1] = np.nan
    array[9, 3] = np.nan
    lines = [",".join("?" if np.isnan(v) else repr(float(v)).removesuffix(".0") for v in row) for row in array]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    npy, csv = File(save(tmp_path / "a.npy", array)), File(tmp_path / "a.csv", header=False)
    assert npy.schema.classes == csv.schema.classes
    assert [attribute.name for attribute in npy.schema.attributes] == [a.name for a in csv.schema.attributes]
    np.testing.assert_array_equal(take(npy, 500).x, take(csv, 500).x)
    np.testing.assert_array_equal(take(npy, 500).y, take(csv, 500).y)


def test_the_fields_of_a_structured_array_are_columns_with_all_options(tmp_path: Path) -> None:
    path = save(tmp_path / "r.npy", RECORDS)
    file = File(path, target="class", weight="n", nominal=("day",))
    assert [(a.name, a.values) for a in file.schema.attributes] == [("price", None), ("day", ("0", "1"))]
    batch = take(file, 500)
    np.testing.assert_array_equal(batch.x, np.column_stack([X[:, 0].astype(np.float32), Y % 2]))
    np.testing.assert_array_equal(batch.weight, Y + 5)
    assert [file.schema.classes[code] for code in batch.y] == [str(y) for y in Y]
    file = File(path, target="class", nominal=("n",), drop=("day",))
    assert file.schema.attributes[1].values == ("6", "7", "8")
    file = File(path, target=2, keep=("price",))
    assert [attribute.name for attribute in file.schema.attributes] == ["price"]


def test_an_array_is_found_by_its_content_and_evaluated(tmp_path: Path) -> None:
    path = save(tmp_path / "a.npy", np.column_stack([X, (X[:, 0] > 0)]))
    path.rename(tmp_path / "a.data")
    results = sg.evaluate(File(tmp_path / "a.data"), sg.NaiveBayes())
    assert results.final("NaiveBayes", "accuracy").mean > 0.9


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (X[:, 0], r"holds an array \[500\] of float64; a stream needs a 2-d array of numbers"),
        (np.zeros((2, 2, 2)), r"holds an array \[2, 2, 2\]"),
        (np.array([["a", "b"]]), r"holds an array \[1, 2\] of <U1"),
        (np.zeros((2, 2), dtype=complex), "of complex128"),
        (np.array([[{}, 1]], dtype=object), "holds Python objects, which are never loaded"),
        (np.zeros(3, dtype=[("a", "f8", (2,)), ("c", "i4")]), "numbers, strings or times in its fields"),
        (np.zeros((3, 2), dtype=[("a", "f8"), ("c", "i4")]), "it must be 1-d"),
        (RANDOM.normal(size=(1500, 4)), "x3"),
        (np.array([(1.0, b"\xff"), (2.0, b"a")], dtype=[("a", "f8"), ("c", "S1")]), "cannot be read"),
        (np.array([[np.inf, 1], [0, 0]]), r"column 'x0': row 0 \(counted from 0\) holds inf"),
    ],
)
def test_what_is_no_stream_is_refused_with_the_name_of_the_file(
    tmp_path: Path, array: NDArray[Any], message: str
) -> None:
    path = save(tmp_path / "odd.npy", array)
    with pytest.raises(StreamgaugeError, match=message) as caught:
        take(File(path), 2)
    assert "odd.npy" in str(caught.value)


class Trap:
    """An object whose unpickling leaves a mark."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.path,))


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_nothing_is_unpickled(tmp_path: Path, suffix: str) -> None:
    array = np.array([Trap(tmp_path / "mark")], dtype=object)
    bytes_of = io.BytesIO()
    np.save(bytes_of, array)
    pickle.loads(pickle.dumps(Trap(tmp_path / "proof")))
    assert (tmp_path / "proof").exists()
    path = tmp_path / f"trap{suffix}"
    if suffix == ".npy":
        path.write_bytes(bytes_of.getvalue())
    else:
        np.savez(path, x=array, y=np.zeros(1, dtype=int))
    with pytest.raises(StreamgaugeError, match="Python objects"):
        take(File(path), 1)
    assert not (tmp_path / "mark").exists()


def write_header(header: str, values: bytes, version: bytes = b"\1\0") -> bytes:
    text = header.encode()
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version[0] == 1 else 4, "little") + text + values


@pytest.mark.parametrize(
    "data",
    [
        write_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", bytes(31)),
        write_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", bytes(33)),
        write_header("{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -2)}", bytes(32)),
        write_header("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2)}", bytes(32)),
        write_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2.0, 2)}", bytes(32)),
        write_header("{'descr': '<f8', 'fortran_order': False, 'shape': [2, 2]}", bytes(32)),
        write_header("{'descr': '<f8', 'fortran_order': False}", bytes(32)),
        write_header("{'descr': '<q9', 'fortran_order': False, 'shape': (2, 2)}", bytes(32)),
        write_header("{'descr': '<U0', 'fortran_order': False, 'shape': (2, 2)}", b""),
        write_header("__import__('os').abort()", bytes(32)),
        write_header("(" * 9000, bytes(32)),
        write_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}" + " " * 20_000, bytes(32), b"\2\0"),
        write_header("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2)}", bytes(32), b"\7\0"),
        b"\x93NUMPY\1",
        b"",
    ],
)
def test_a_header_must_account_for_every_byte(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "odd.npy"
    path.write_bytes(data)
    with pytest.raises(StreamgaugeError, match=r"odd\.npy cannot be read: it is damaged or cut off"):
        take(File(path), 2)
    with zipfile.ZipFile(tmp_path / "odd.npz", "w") as archive:
        archive.writestr("x.npy", data)
        archive.writestr("y.npy", data)
    with pytest.raises(StreamgaugeError, match=r"odd\.npz cannot be read"):
        take(File(tmp_path / "odd.npz"), 2)


def test_an_archive_that_unpacks_to_a_huge_row_is_refused(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 12500000)}"
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", write_header(header.decode(), bytes(100_000_000)))
        archive.writestr("y.npy", write_header("{'descr': '<i8', 'fortran_order': False, 'shape': (1,)}", bytes(8)))
    assert (tmp_path / "bomb.npz").stat().st_size < 200_000
    with pytest.raises(StreamgaugeError, match=r"bomb\.npz: x\.npy has rows of 100000000 bytes; at most 67108864"):
        take(File(tmp_path / "bomb.npz"), 1)


def test_a_flipped_bit_in_the_values_of_an_archive_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, x=X, y=Y)
    data = bytearray(path.read_bytes())
    data[data.index(X[100].tobytes())] ^= 1
    path.write_bytes(data)
    with pytest.raises(StreamgaugeError, match=r"a\.npz cannot be read: .*Bad CRC-32"):
        list(File(path).batches(100))
