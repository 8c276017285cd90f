"""The log of the server: to standard error, or to a file that is rotated."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path

from streamgauge.errors import StreamgaugeError

__all__ = ["LEVELS", "LOGGER", "open_log"]

LEVELS = ("debug", "info", "warning", "error")
LOGGER = logging.getLogger("streamgauge.serve")
MAX_FILE_BYTES = 10_000_000
"""Size at which a log file is rotated."""

N_FILES = 5
"""Number of older log files that are kept."""

MAX_REPEATS = 20
"""Largest number of lines with the same text, before its values are inserted, in a minute."""

_LOGGERS = (LOGGER, *map(logging.getLogger, ("uvicorn", "asyncio")))


class _RepeatFilter(logging.Filter):
    """Leaves out lines that repeat too often, so that no client can fill the log."""

    def __init__(self) -> None:
        super().__init__()
        self._began, self._counts = 0.0, dict[str, int]()

    def filter(self, record: logging.LogRecord) -> bool:
        if time.monotonic() - self._began > 60.0:
            self._began, self._counts = time.monotonic(), {}
        count = self._counts[str(record.msg)] = self._counts.get(str(record.msg), 0) + 1
        if count == MAX_REPEATS:
            record.msg = f"{record.msg} (further lines like this one are left out for a minute)"
        return count <= MAX_REPEATS


@contextmanager
def open_log(path: Path | None, level: str) -> Iterator[None]:
    """Write the log of the server, of a level and above, to a file while the block runs; None for standard error."""
    try:
        handler = (
            logging.StreamHandler()
            if path is None
            else RotatingFileHandler(path, maxBytes=MAX_FILE_BYTES, backupCount=N_FILES, encoding="utf-8")
        )
    except OSError as error:
        msg = f"cannot write the log file {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    handler.addFilter(_RepeatFilter())
    before = [(logger.level, logger.propagate) for logger in _LOGGERS]
    for logger in _LOGGERS:
        logger.setLevel(level.upper())
        logger.propagate = False
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger, (old_level, propagated) in zip(_LOGGERS, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(old_level)
            logger.propagate = propagated
        handler.close()
