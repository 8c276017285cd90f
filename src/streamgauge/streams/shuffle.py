"""Rows in random order, for files of any size."""

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.streams.files import File
from streamgauge.streams.files.text_files import Mark, located
from streamgauge.streams.output_files import file_kind, writing_bytes
from streamgauge.streams.text_lines import RawText, open_raw

__all__ = ["shuffle"]

_BUCKETS = 64
_IN_MEMORY = 1 << 25
_SPOOLED = 1 << 20
_CHUNK = 1 << 18


def shuffle(source: File | str | Path, path: str | Path, *, seed: int = 1) -> int:
    r"""Write the rows of a text file in random order; gives how many there were.

    Every order is equally likely, as far as 64-bit seeds go, and the same seed gives the same order. The text of a
    row stays as it is; blank lines and comments between rows are left out. Memory does not grow with the file: its
    rows are scattered over temporary files, each of which is then shuffled in memory.

    Parameters
    ----------
    source
        An ARFF, CSV or TSV file, or its path.
    path
        Where to write; a file of the same format.
    seed
        Decides the order.

    Examples
    --------
    >>> here = Path(tempfile.mkdtemp())
    >>> _ = (here / "a.csv").write_text("number,class\n" + "".join(f"{i},{i % 2}\n" for i in range(6)))
    >>> shuffle(here / "a.csv", here / "b.csv", seed=3)
    6
    >>> sorted((here / "b.csv").read_text().splitlines()) == sorted((here / "a.csv").read_text().splitlines())
    True
    """
    require_at_least("seed", seed, 0)
    file, path = source if isinstance(source, File) else File(source), Path(path)
    raw = open_raw(file)
    kind, compression = file_kind(path)
    if raw is None or raw.kind != kind:
        found = (
            "a sparse ARFF file" if file.kind == "arff" and raw is None else f"a {raw.kind if raw else file.kind} file"
        )
        msg = f"{file.path} is {found}, and {path} would be {kind}: convert it first ('streamgauge convert')"
        raise StreamgaugeError(msg)
    with located(raw.source), writing_bytes(path, compression) as out:
        out.write(raw.header())
        return _Shuffling(raw, seed, out.write).rows(raw.chunks(), 0, raw.place)


class _Shuffling:
    """Scatters rows over buckets, and the rows of a bucket that is still too large again."""

    def __init__(self, raw: RawText, seed: int, put: Callable[[bytes], object]) -> None:
        self._rows = raw.rows
        self._seed = seed
        self._put = put

    def rows(self, chunks: Iterable[bytes], address: int, place: Mark) -> int:
        """Write rows in random order; `address` tells apart the scatterings of one shuffle."""
        scatter = _native.Scatter(self._rows, _BUCKETS, self._seed, address, place)
        with ExitStack() as files:
            buckets = [files.enter_context(tempfile.SpooledTemporaryFile(_SPOOLED)) for _ in range(_BUCKETS)]
            for parts in _scattered(scatter, chunks):
                for bucket, part in zip(buckets, parts, strict=True):
                    bucket.write(part)
            for i, bucket in enumerate(buckets):
                self._bucket(bucket, address * _BUCKETS + i + 1)
        return scatter.n_rows

    def _bucket(self, bucket: IO[bytes], address: int) -> None:
        size = bucket.tell()
        bucket.seek(0)
        if size <= _IN_MEMORY:
            self._put(_native.shuffled_lines(bucket.read(), self._seed, address))
        else:
            self.rows(iter(lambda: bucket.read(_CHUNK), b""), address, (0, 0, 0))


def _scattered(scatter: _native.Scatter, chunks: Iterable[bytes]) -> Iterator[list[bytes]]:
    for chunk in chunks:
        yield scatter.update(chunk)
    yield scatter.finish()
