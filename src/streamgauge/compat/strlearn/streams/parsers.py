"""stream-learn's parsers of ARFF, CSV and npy files."""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from streamgauge.compat.strlearn.streams.chunks import Chunk, PositionedStream
from streamgauge.errors import StreamgaugeError, make_printable, require_at_least
from streamgauge.streams import File, take

__all__ = ["ARFFParser", "CSVParser", "NPYParser"]

ChunkSize = int | Literal["auto"]


class _Parser(PositionedStream):
    """A file in chunks."""

    def __init__(self, path: str | Path, chunk_size: ChunkSize, n_chunks: int) -> None:
        require_at_least("n_chunks", n_chunks, 1)
        if chunk_size != "auto":
            require_at_least("chunk_size", chunk_size, 1)
        self.name = self.path = path
        x, self._y = self._load()
        self._x = np.ascontiguousarray(x, dtype=np.float64)
        n_rows = len(self._y)
        self.n_chunks, self.chunk_size = n_chunks, n_rows // n_chunks if chunk_size == "auto" else chunk_size
        if not 0 < self.chunk_size * n_chunks <= n_rows:
            wanted = f"{n_chunks} chunks of {chunk_size} rows"
            msg = f"{path} has {n_rows} rows, too few for {wanted}; set n_chunks, or chunk_size and n_chunks"
            raise StreamgaugeError(msg)

    @abstractmethod
    def _load(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return the attributes and the labels of all rows, and set `classes_`."""

    def read_rows(self, start: int, stop: int) -> Chunk:
        """Return the rows from one position to another."""
        return self._x[start:stop], self._y[start:stop]

    def __str__(self) -> str:
        return f'{type(self).__name__}("{self.name}", chunk_size={self.chunk_size}, n_chunks={self.n_chunks})'


class ARFFParser(_Parser):
    """An ARFF file in chunks; names of classes and categories are codes in alphabetical order, as in stream-learn.

    Unlike there, the class may have any name and attributes of any type that `File` reads, and `reset` returns to the
    start.

    Parameters
    ----------
    path
        The file, whose last attribute is the class.
    chunk_size
        Rows per chunk; "auto" divides the rows of the file among the chunks.
    n_chunks
        The number of chunks.

    Examples
    --------
    >>> import tempfile
    >>> from streamgauge.compat.strlearn.streams import StreamGenerator
    >>> path = tempfile.mkdtemp() + "/stream.arff"
    >>> StreamGenerator(n_chunks=4, chunk_size=50, random_state=1).save_to_arff(path)
    >>> stream = ARFFParser(path, chunk_size=50, n_chunks=4)
    >>> [len(y) for x, y in stream]
    [50, 50, 50, 50]
    """

    def __init__(self, path: str | Path, chunk_size: ChunkSize = "auto", n_chunks: int = 250) -> None:
        super().__init__(path, chunk_size, n_chunks)

    def _load(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        rows = File(self.path)
        whole, schema = take(rows, rows.n_rows or 0), rows.schema
        x = whole.x.copy()
        for column, attribute in enumerate(schema.attributes):
            if attribute.values is not None:
                known = ~np.isnan(x[:, column])
                x[known, column] = _rank(attribute.values)[x[known, column].astype(np.intp)]
        self.names = [attribute.name for attribute in schema.attributes]
        self.types = np.array(["numeric" if each.values is None else "nominal" for each in schema.attributes])
        self.n_attributes, self.n_classes = schema.n_attributes, schema.n_classes
        self.classes_ = np.arange(schema.n_classes)
        return x, _rank(schema.classes)[whole.y]


class CSVParser(_Parser):
    """A CSV file of numbers in chunks; the last column is the class.

    Parameters
    ----------
    path, chunk_size, n_chunks
        As in `ARFFParser`.
    classes
        The labels; those of the file if None.
    delimiter
        What stands between values.
    read_header
        Whether the first line has the names of the columns.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/stream.csv"
    >>> np.savetxt(path, [[1.5, 0], [2.5, 1], [3.5, 1], [4.5, 0]], delimiter=",", header="size,kind")
    >>> stream = CSVParser(path, chunk_size=2, n_chunks=2, read_header=True)
    >>> stream.get_chunk()[1].tolist(), stream.classes_.tolist()
    ([0, 1], [0, 1])
    """

    def __init__(
        self,
        path: str | Path,
        chunk_size: ChunkSize = "auto",
        n_chunks: int = 250,
        classes: Sequence[Any] | None = None,
        delimiter: str = ",",
        read_header: bool = False,
    ) -> None:
        self._labels, self.delimiter, self.read_header = classes, delimiter, read_header
        super().__init__(path, chunk_size, n_chunks)

    def _load(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        options: dict[str, Any] = {"delimiter": self.delimiter, "skiprows": int(self.read_header), "ndmin": 2}
        try:
            table = np.loadtxt(self.path, **options)
        except ValueError:
            try:
                table = np.loadtxt(self.path, converters=lambda cell: float(cell or "nan"), **options)
            except ValueError as error:
                msg = f"{self.path}: {error}; all columns must be numbers (read_header=True skips a line of names)"
                raise StreamgaugeError(msg) from None
        return _split_table(self, table, self._labels)

    def __str__(self) -> str:
        shown = f'classes={None if self._labels is None else list(self._labels)}, delimiter="{self.delimiter}"'
        return f"{super().__str__()[:-1]}, {shown})"


class NPYParser(_Parser):
    """An npy file of numbers in chunks; the last column is the class.

    Parameters
    ----------
    path, chunk_size, n_chunks
        As in `ARFFParser`.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/stream.npy"
    >>> np.save(path, np.array([[1.5, 0], [2.5, 1], [3.5, 1]]))
    >>> NPYParser(path, n_chunks=3).get_chunk()
    (array([[1.5]]), array([0]))
    """

    def __init__(self, path: str | Path, chunk_size: ChunkSize = "auto", n_chunks: int = 250) -> None:
        super().__init__(path, chunk_size, n_chunks)

    def _load(self) -> tuple[NDArray[np.float64], NDArray[Any]]:
        try:
            with Path(self.path).open("rb") as file:
                table = np.load(file, allow_pickle=False)
        except FileNotFoundError:
            raise
        except Exception as error:  # NumPy raises nearly any on damaged bytes
            msg = f"{self.path} is not an npy file of numbers: {make_printable(str(error))}"
            raise StreamgaugeError(msg) from None
        if not isinstance(table, np.ndarray):
            msg = f"{self.path} is an archive, not an npy file of numbers: evaluate it as a File"
            raise StreamgaugeError(msg)
        if table.ndim != 2 or table.shape[1] < 2 or table.dtype.kind not in "fiub":
            msg = f"{self.path} holds {table.dtype} of shape {table.shape}; it must be numbers, rows by columns"
            raise StreamgaugeError(msg)
        return _split_table(self, table, None)


def _split_table(
    parser: _Parser, table: NDArray[Any], classes: Sequence[Any] | None
) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Return the attributes and the labels of a table, whole numbers if they are, and set the classes of its parser."""
    y = table[:, -1]
    if np.isfinite(y).all() and (y == np.rint(y)).all():
        y = y.astype(np.int64)
    parser.classes_ = np.unique(y) if classes is None else np.asarray(classes)
    return table[:, :-1], y


def _rank(names: Sequence[str]) -> NDArray[np.int64]:
    """Return the position of each name in alphabetical order."""
    return np.argsort(np.argsort(np.array(names, dtype=np.str_), kind="stable"))
