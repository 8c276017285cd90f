"""Damaged libsvm and compressed files, predictions, times, experiments and options; readers of `benchmarks.fuzzing`."""

import bz2
import csv
import gzip
import io
import lzma
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.datasets import load_svmlight_file

import streamgauge as sg
from benchmarks.fuzz_files import CSV_FILES, mutate
from benchmarks.fuzz_tables import change_numbers
from benchmarks.fuzzing import Misread, Reader, Try, naming, per_input
from streamgauge.errors import StreamgaugeError
from streamgauge.experiments import read as read_experiment
from streamgauge.names import FAMILIES, make
from streamgauge.results import Predictions, read_errors
from streamgauge.streams import File
from tests.support.text_reference import RefusedError, read_arff

LIBSVM_FILES = (
    b"1 1:0.5 3:2\n-1 2:1e-3 # note\n+1 1:-7 2:8 3:9\n",
    b"0 0:1\n1 0:2.25 5:3\r\n\n2 7:0.1\n",
    b"3 10:1 200:1\n4 1:.5\n",
)
LONG = b"9" * 40
TOKENS = (b":", b" ", b"\n", b"\r\n", b"#", b"\0", b"\xff", b"-", b"nan", b"1e999", b"0:", b"18446744073709551616:1")
TIMES = (
    b"when,price,class\n2024-01-01T00:00:00,1,a\n2024-01-01 12:30:15.25,2,b\n2024-02-29T23:59:59Z,3,a\n",
    b"when,price,class\n2023-12-31,1,a\n2024-01-01,2,b\n2024-01-02,5,a\n",
    b"when,price,class\n2024-03-10T01:00:00+02:00,1,a\n2024-03-10T02:00:00-05:30,2,b\n",
)
EXPERIMENTS = (
    b'name = "small"\nrows = 4000\nseeds = [1, 2]\nmeasures = ["accuracy", "kappa_m"]\n[streams]\n'
    b'sea = { stream = "SEA(noise=0.1)", rows = 4000 }\nrbf = "RandomRBF(speed=0.01)"\n[learners]\n'
    b'bayes = "NaiveBayes"\ntree = "HoeffdingTree(grace_period=100)"\n',
    b'streams = ["SEA", "STAGGER"]\nlearners = ["NoChange", "MajorityClass"]\nrows = 100\nschemes = ["Bootstrap(3)"]\n'
    b'forgettings = ["Window(50)"]\nlabellings = ["Delayed(5)"]\ndetectors = ["DDM"]\nscore = "last"\nevery = 7\n',
    b'learners = ["NaiveBayes"]\nbudgets = ["error<0.5"]\n[[samples]]\nfile = "rows.csv"\ntraining_positives = 5\n'
    b"training_balance = [0.5, 1.0]\ntest_balance = 0.5\nlabelled = [0.1, 1.0]\n",
)
TOML_TOKENS = (
    b'"', b"'", b'"""', b"[", b"]", b"[[", b"{", b"}", b"=", b"\n", b"#", b",", b".", b"inf", b"nan", b"-1",
    b"0x1F", b"1e400", b"true", b"1979-05-27", b"\xff", b"\0", b"9223372036854775808", b"[" * 300, b"a.b.c = 1\n",
    b'"\\u0000"', b"\r",
)  # fmt: skip
TEXTS = {
    "streams": (
        "SEA(noise=0.1, seed=2)",
        "RandomRBF(speed=0.01)",
        "ConceptDrift(SEA(), STAGGER(), 500, width=10)",
        "LED(5)",
    ),
    "learners": ("HoeffdingTree(grace_period=100)", "OzaBag(NaiveBayes(), 3)", "LeveragingBagging(n_members=2)", "KNN"),
    "schemes": ("Bootstrap(10)", "CrossValidation(k=3)", "Chunks(50)", "Prequential(test='all')", "Holdout(100, 50)"),
    "labellings": ("Delayed(700)", "Fraction(0.4)", "DelayedByTime(7 days)", "AllLabels"),
    "forgettings": ("Window(500)", "Fading(0.99)", "TimeWindow(7 days)", "AdwinWindow(delta=0.002)", "EWMA(0.1)"),
    "detectors": ("DDM(warning=2.0)", "Adwin", "PageHinkley(threshold=50, delta=0.005)", "EDDM()"),
}
TEXT_TOKENS = (
    "(", ")", ",", "=", "'", '"', "\\", "[", "]", "{", "}", "-", "1e999", "nan", "inf", "None", "True", "*", "**",
    "lambda: 1", "9" * 30, "\0", "\ud800", "é", "10**10**10", "'a'*10**12", "-1", "0", "1j", "...", "x.y", "SEA()",
    "NaiveBayes()", "(" * 200, "\n", "#", ";", "if", "f'{1}'", "b'a'", " days",
)  # fmt: skip


def change(data: bytes, random: Random, tokens: tuple[bytes, ...]) -> bytes:
    """Replace, insert, repeat or drop some bytes."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        start = random.randint(0, len(changed))
        end = min(len(changed), start + random.choice((0, 1, 2, 8, 40)))
        changed[start:end] = random.choice(
            (random.choice(tokens), random.randbytes(1), b"", bytes(changed[end : end + 20]), LONG)
        )
    return bytes(changed)


def try_libsvm(path: Path, random: Random) -> bool | None:
    """Read a libsvm file, beside scikit-learn."""
    path.write_bytes(change(random.choice(LIBSVM_FILES), random, TOKENS))
    with naming(path.name):
        x, y = read_file(path)
    try:
        rows, labels = load_svmlight_file(str(path))
        expected = rows.toarray()
        names = [float(name) for name in y]
    except Exception:
        return None
    found = np.array(x)
    width = max(found.shape[1], expected.shape[1])
    # It counts from 1 unless there is an index 0, as we do, but leaves out attributes after the last value alike.
    both = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in (found, expected)]
    if not np.array_equal(names, labels, equal_nan=True) or not np.array_equal(both[0], both[1]):
        msg = f"{path.read_bytes()!r}: {x}, {y} where scikit-learn found {expected}, {labels}"
        raise Misread(msg)
    return True


def read_file(path: Path, **options: Any) -> tuple[list[list[float]], list[str]]:  # noqa: ANN401
    """Return the numbers and class names of a file."""
    stream = File(path, **options)
    x: list[list[float]] = []
    y: list[str] = []
    for batch in stream.batches(3):
        x += batch.x.tolist()
        y += [stream.schema.classes[code] if code >= 0 else "" for code in batch.y]
    return x, y


def compress_zip(data: bytes) -> bytes:
    """Return an archive with one file."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rows.csv", data)
    return sink.getvalue()


def decompress_zip(data: bytes) -> bytes:
    """Return the only file of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        (member,) = archive.namelist()
        return archive.read(member)


COMPRESSIONS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    "gz": (gzip.compress, gzip.decompress),
    "bz2": (bz2.compress, bz2.decompress),
    "xz": (lzma.compress, lzma.decompress),
    "zip": (compress_zip, decompress_zip),
    "zst": (
        lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True)),
        lambda data: bytes(pa.input_stream(io.BytesIO(data), compression="zstd").read()),
    ),
}


def try_compressed(folder: Path, random: Random) -> bool | None:
    """Read a damaged compressed file; what is read must be what the plain file holds."""
    suffix = random.choice(list(COMPRESSIONS))
    compress, decompress = COMPRESSIONS[suffix]
    plain = random.choice(CSV_FILES) * random.choice((1, 1, 50))
    data = bytearray(compress(compress(plain) if random.random() < 0.1 else plain))
    path, other = folder / f"rows.csv.{suffix}", folder / "plain.csv"
    path.write_bytes(change_numbers(data, random, 0, len(data), 1) if random.random() < 0.9 else data[: len(data) // 2])
    header = random.random() < 0.5
    with naming(path.name):
        found = read_file(path, header=header)
    try:
        other.write_bytes(decompress(path.read_bytes()))
    except Exception:
        msg = f"{suffix} was read although it is damaged"
        raise Misread(msg) from None
    if repr(found) != repr(read_file(other, header=header)):
        msg = f"{suffix} was read differently from the plain file"
        raise Misread(msg)
    return True


@cache
def write_predictions(kind: str) -> bytes:
    """Return a file of predictions."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415

    with TemporaryDirectory() as folder:
        path = Path(folder) / f"predictions.{kind}"
        learners = {"bayes": sg.NaiveBayes(), "majority": sg.MajorityClass()}
        sg.evaluate(sg.SEA(n_rows=40, noise=0.1), learners, recorders=[Predictions(path)], progress=False)
        return path.read_bytes()


def try_predictions(folder: Path, random: Random) -> bool | None:
    """Read the errors of a learner from a damaged file of predictions; CSV and ARFF beside readers in Python."""
    kind = random.choice(("csv", "arff", "parquet", "arrow"))
    data = write_predictions(kind)
    path = folder / f"predictions.{kind}"
    is_text = kind in ("csv", "arff")
    path.write_bytes(
        change(data, random, TOKENS) if is_text else change_numbers(bytearray(data), random, 0, len(data), 1)
    )
    with naming(path.name):
        found = read_errors(path, "bayes")
    if not is_text:
        return None
    try:
        expected = (_read_csv_errors if kind == "csv" else _read_arff_errors)(path.read_bytes())
    except (RefusedError, ValueError, KeyError, IndexError, TypeError, AttributeError):
        return None
    if found.errors.tolist() != expected:
        msg = f"{path.read_bytes()!r}: {found.errors.tolist()} where Python found {expected}"
        raise Misread(msg)
    return True


def _read_csv_errors(data: bytes) -> list[float]:
    rows = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    chosen = [row for row in rows if row["learner"].strip(" \t") == "bayes" and float(row["fold"]) == 0]
    known = [row for row in chosen if row["true"].strip(" \t") not in ("?", "")]
    return [float(row["predicted"].strip(" \t") != row["true"].strip(" \t")) for row in known]


def _read_arff_errors(data: bytes) -> list[float]:
    table = read_arff(data)
    names = [name for name, _ in table.attributes]
    learner, fold, predicted = (names.index(name) for name in ("learner", "fold", "predicted"))
    learners, classes = table.attributes[learner][1] or (), table.attributes[predicted][1] or ()
    errors = []
    for x, y in zip(table.x, table.y, strict=True):
        if x[learner] == learners.index("bayes") and x[fold] == 0 and y >= 0:
            is_known = not np.isnan(x[predicted])
            errors.append(float(not is_known or classes[int(x[predicted])] != table.classes[y]))
    return errors


def try_times(path: Path, random: Random) -> bool | None:
    """Read a CSV file with a time of each row, beside Python's own reader of ISO 8601."""
    path.write_bytes(mutate(random, TIMES))
    with naming(path.name):
        stream = File(path, time="when", header=True)
        found = [time for batch in stream.batches(2) if batch.time is not None for time in batch.time.tolist()]
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))
        times = [datetime.fromisoformat(row["when"].strip()) for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, csv.Error):
        return None
    expected = [time.replace(tzinfo=time.tzinfo or UTC).timestamp() for time in times]
    if not np.allclose(found, expected, rtol=0.0, atol=1e-6):
        msg = f"{path.read_bytes()!r}: {found} where Python found {expected}"
        raise Misread(msg)
    return True


def try_experiment(folder: Path, random: Random) -> bool | None:
    """Read a damaged experiment, beside Python's own reader of TOML."""
    path = folder / "damaged.toml"
    path.write_bytes(change(random.choice(EXPERIMENTS), random, TOML_TOKENS))
    try:
        experiment = read_experiment(path)
    except StreamgaugeError as error:
        if not all(str(path) in line for line in str(error).splitlines()):
            msg = f"a line names no file: {error}"
            raise AssertionError(msg) from error
        raise StreamgaugeError(str(error).splitlines()[0]) from None
    facts = tomllib.loads(path.read_text(encoding="utf-8"))
    learners = facts["learners"]
    found = (experiment.seeds, experiment.rows, list(experiment.learners), experiment.score)
    seeds = facts.get("seeds") or [1]
    expected = (
        tuple(seeds if isinstance(seeds, list) else [seeds]),
        facts.get("rows"),
        list(learners) if isinstance(learners, dict | list) else [learners],
        facts.get("score") or "first",
    )
    if found != expected:
        msg = f"{found} where TOML has {expected}"
        raise Misread(msg)
    return True


def try_options(random: Random) -> None:
    """Build an object from a damaged text."""
    family = random.choice(list(TEXTS))
    text = random.choice(TEXTS[family])
    digits = [place for place, character in enumerate(text) if character.isdigit()]
    if digits and random.random() < 0.4:
        place = random.choice(digits)
        number = random.choice(
            (str(random.randrange(100)), "0", "-1", "1e9", "0.5", "None", "'2'", "()", "10**9", "nan", "inf")
        )
        text = text[:place] + number + text[place + 1 :]
    for _ in range(random.choice((0, 0, 1, 1, 2, 4)) if digits else 1):
        start = random.randint(0, len(text))
        end = min(len(text), start + random.choice((0, 1, 2, 8)))
        text = text[:start] + random.choice((*TEXT_TOKENS, chr(random.randrange(0x3000)))) + text[end:]
    known = FAMILIES[family]()
    within = FAMILIES["detectors"]() if family == "learners" else FAMILIES["streams"]() if family == "schemes" else {}
    make(family.removesuffix("s"), text, known, within)


@contextmanager
def in_folder(read: Callable[[Path, Random], bool | None], name: str, folder: Path) -> Iterator[Try]:
    """Return what reads an input in a folder, or in a file of that folder."""
    (folder / "rows.csv").write_bytes(b"a,class\n" + b"1,yes\n2,no\n" * 30)
    yield partial(read, folder / name)


READERS = (
    Reader("libsvm", 40, partial(in_folder, try_libsvm, "rows.libsvm"), "scikit-learn"),
    Reader("gzip, bzip2, xz, zip, zstd", 20, partial(in_folder, try_compressed, ""), "Python, pyarrow"),
    Reader("times", 20, partial(in_folder, try_times, "rows.csv"), "Python"),
    Reader("predictions", 20, partial(in_folder, try_predictions, ""), "Python (CSV, ARFF)"),
    Reader("experiments", 20, partial(in_folder, try_experiment, ""), "Python (TOML)"),
    Reader("options as text", 30, per_input(try_options)),
)
