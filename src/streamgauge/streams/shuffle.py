"""Shuffling of files of any size."""

import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from streamgauge import _native
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.streams.files import File
from streamgauge.streams.files.text_files import Mark, locate_errors
from streamgauge.streams.files.used_files import refuse_replacing
from streamgauge.streams.output_files import detect_format, open_output
from streamgauge.streams.text_lines import RawText, feed, open_raw

__all__ = ["shuffle"]

_N_BUCKETS = 64
_MAX_BYTES_IN_MEMORY = 1 << 25
_MAX_BYTES_SPOOLED = 1 << 20
_CHUNK_BYTES = 1 << 18


def shuffle(source: File | str | Path, path: str | Path, *, seed: int = 1) -> int:
    r"""Write the rows of a text file in random order and return their number.

    Every order is equally likely, within the limits of 64-bit seeds, and the same seed yields the same order. The text
    of a row is unchanged; blank lines and comments between rows are dropped. Memory does not grow with the file: its
    rows are scattered over temporary files, each of which is then shuffled in memory.

    Parameters
    ----------
    source
        An ARFF, CSV or TSV file, or its path.
    path
        Path of the output, in the same format.
    seed
        Random seed of the order.

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
    refuse_replacing(file, path)
    raw = open_raw(file)
    kind, compression = detect_format(path)
    if raw is None or raw.kind != kind:
        sparse = file.kind == "arff" and raw is None
        source_kind = "sparse ARFF" if sparse else raw.kind if raw else file.kind
        msg = f"cannot shuffle {file.path} ({source_kind}) to {path} ({kind}): convert it first ('streamgauge convert')"
        raise StreamgaugeError(msg)
    with locate_errors(raw.source), open_output(path, compression) as out:
        out.write(raw.format_header())
        return _Shuffler(raw, seed, out.write).shuffle(raw.read_chunks(), 0, raw.mark)


class _Shuffler:
    """Scatters rows over buckets, shuffles small buckets in memory, and scatters large ones again."""

    def __init__(self, raw: RawText, seed: int, write: Callable[[bytes], object]) -> None:
        self._layout = raw.layout
        self._seed = seed
        self._write = write

    def shuffle(self, chunks: Iterable[bytes], address: int, mark: Mark) -> int:
        """Write rows in random order and return their number; each scattering has its own random `address`."""
        scatter = _native.Scatter(self._layout, _N_BUCKETS, self._seed, address, mark)
        with ExitStack() as files:
            buckets = [
                files.enter_context(tempfile.SpooledTemporaryFile(_MAX_BYTES_SPOOLED)) for _ in range(_N_BUCKETS)
            ]
            for parts in feed(scatter, chunks):
                for bucket, part in zip(buckets, parts, strict=True):
                    bucket.write(part)
            for i, bucket in enumerate(buckets):
                self._write_bucket(bucket, address * _N_BUCKETS + i + 1)
        return scatter.n_rows

    def _write_bucket(self, bucket: IO[bytes], address: int) -> None:
        size = bucket.tell()
        bucket.seek(0)
        if size <= _MAX_BYTES_IN_MEMORY:
            self._write(_native.shuffled_lines(bucket.read(), self._seed, address))
        else:
            self.shuffle(iter(lambda: bucket.read(_CHUNK_BYTES), b""), address, (0, 0, 0))
