"""Test sets with hidden labels that are known for scoring: every prediction is scored, none of them can be learnt."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_stream
from streamgauge.errors import StreamgaugeError, unknown_name
from streamgauge.protocols import LabellingBase, Stream, StreamBase
from streamgauge.records import NEVER, Arrivals, Batch, Schema
from streamgauge.streams.column_rules import sort_names
from streamgauge.streams.files import File
from streamgauge.streams.sampling.recipes import read_recipe

__all__ = ["HiddenLabels", "find_sample_folder", "open_test"]


@dataclass(frozen=True)
class HiddenLabels(LabellingBase):
    """A labelling that hides the labels of some rows.

    Parameters
    ----------
    rows
        Positions of these rows in the stream, ascending, int64 [n].

    Examples
    --------
    >>> batch = Batch(4, np.zeros((3, 1)), np.array([0, 1, 1], dtype=np.int32))
    >>> (HiddenLabels(np.array([1, 5])).arrivals(batch, seed=1).row == NEVER).tolist()
    [False, True, False]
    """

    rows: NDArray[np.int64]

    def arrivals(self, batch: Batch, seed: int) -> Arrivals | None:  # noqa: ARG002
        """Return arrivals that hide the labels of these rows; None if a batch has none of them."""
        start = batch.start
        low, high = np.searchsorted(self.rows, (start, start + len(batch)))
        if low == high:
            return None
        row = np.arange(start, start + len(batch))
        row[self.rows[low:high] - start] = NEVER
        return Arrivals(row)


@dataclass(frozen=True)
class _WithTruth(StreamBase):
    """A stream with the missing labels filled in."""

    stream: Stream
    rows: NDArray[np.int64]
    codes: NDArray[np.int32]

    @property
    def schema(self) -> Schema:
        """Schema of the rows."""
        return self.stream.schema

    @property
    def n_rows(self) -> int | None:
        """Number of rows."""
        return self.stream.n_rows

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the stream, marked as completed."""
        return f"{self.stream.fingerprint} with truth"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the stream."""
        return adopt_stream(self.stream).notes

    @property
    def has_times(self) -> bool | None:
        """Whether the rows of the stream carry times."""
        return adopt_stream(self.stream).has_times

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        """Yield the rows from `start` on, `size` at a time."""
        for batch in self.stream.batches(size, start):
            low, high = np.searchsorted(self.rows, (batch.start, batch.start + len(batch)))
            y = batch.y.copy()
            y[self.rows[low:high] - batch.start] = self.codes[low:high]
            yield replace(batch, y=y)


def open_test(folder: str | Path) -> tuple[Stream, HiddenLabels]:
    r"""Return the test set of a sample with all labels, and the labelling that hides those without one in its file.

    Evaluated with that labelling, a learner sees only the labels in the file, but is scored on every row.

    Parameters
    ----------
    folder
        Folder of the sample.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.streams.sampling import Balance, sample
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "all.csv").write_text("a,class\n" + "".join(f"{i},{i % 2}\n" for i in range(100)))
    >>> _ = sample(here / "all.csv", here / "drawn", Balance(10), labelled=0.25)
    >>> stream, labelling = open_test(here / "drawn")
    >>> next(stream.batches(80)).y.min(), len(labelling.rows)
    (np.int32(0), 60)
    """
    folder = Path(folder)
    recipe = read_recipe(folder / "recipe.json")
    file = File(folder / f"test.{recipe.suffix}", **recipe.file_options)
    rows, names = _read_truth(folder / "test.truth.csv")
    if file.kind == "csv":
        # A file with hidden labels may lack a class that the recipe lists.
        schema = Schema(file.schema.attributes, sort_names(recipe.classes))
        file = replace(file, declared=schema)
    code_of = {name: code for code, name in enumerate(file.schema.classes)}
    unknown = set(names) - set(code_of)
    if unknown:
        error = unknown_name("class", min(unknown), code_of)
        raise error
    codes = np.array([code_of[name] for name in names], dtype=np.int32)
    return _WithTruth(file, rows, codes), HiddenLabels(rows)


def find_sample_folder(stream: object) -> Path | None:
    """Return the folder of the sample whose test set `open_test` returned; None for any other stream.

    Examples
    --------
    >>> find_sample_folder(File("rows.csv")) is None
    True
    """
    is_sample = isinstance(stream, _WithTruth) and isinstance(stream.stream, File)
    return Path(stream.stream.path).parent if is_sample else None  # type: ignore[attr-defined]


def _read_truth(path: Path) -> tuple[NDArray[np.int64], list[str]]:
    """Return the rows with hidden labels and their classes; none if there is no such file."""
    if not path.is_file():
        return np.empty(0, dtype=np.int64), []
    with path.open(newline="") as file:
        lines = csv.reader(file)
        if next(lines, None) != ["row", "class"]:
            msg = f"{path} is not a truth file of a sample: its first line must be row,class"
            raise StreamgaugeError(msg)
        try:
            pairs = [(int(row), name) for row, name in lines]
        except ValueError:
            msg = f"{path} is damaged: each line must be a row and its class"
            raise StreamgaugeError(msg) from None
    return np.array([row for row, _ in pairs], dtype=np.int64), [name for _, name in pairs]
