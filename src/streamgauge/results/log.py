"""The log of a run: every reading, alarm, verdict and failure as a line of JSON, written as it happens."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from streamgauge.errors import StreamgaugeError
from streamgauge.records import Alarm, Failure, Reading, Verdict

__all__ = ["LogWriter", "open_log"]

ORDER = ("reading", "alarm", "verdict", "failure")
"""The order of events of one row."""


class LogWriter:
    """Writes the events of a run as lines of JSON.

    Parameters
    ----------
    write
        Called with each line.

    Examples
    --------
    >>> log = LogWriter(print)
    >>> log.write("alarm", {"row": 7, "learner": "tree"})
    {"event": "alarm", "row": 7, "learner": "tree"}
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write, self._known_failures = write, set[Failure]()

    def write(self, event: str, facts: Mapping[str, Any]) -> None:
        """Write one event; NaN, which JSON lacks, becomes null."""
        self._write(json.dumps({"event": event, **{name: _to_json(value) for name, value in facts.items()}}))

    def write_batch(
        self,
        readings: Iterable[Reading],
        alarms: Iterable[Alarm],
        verdicts: Iterable[Verdict],
        failures: Iterable[Failure],
    ) -> None:
        """Write the events of a batch in the order of their rows, whatever the size of the batch."""
        new_failures = [failure for failure in failures if failure not in self._known_failures]
        self._known_failures.update(new_failures)
        events: list[tuple[str, dict[str, Any]]] = [("reading", asdict(reading)) for reading in readings]
        events += [("alarm", asdict(alarm)) for alarm in alarms]
        events += [("verdict", {**asdict(verdict), "sentence": str(verdict)}) for verdict in verdicts]
        events += [("failure", asdict(failure)) for failure in new_failures]
        for event, facts in sorted(events, key=lambda item: (_get_row(item[1]), ORDER.index(item[0]))):
            self.write(event, facts)


def _get_row(facts: Mapping[str, Any]) -> int:
    """Return the row of an event; that of a verdict which no longer holds is where it ended."""
    earlier = facts.get("earlier")
    row = facts["row"]
    return int(row if row is not None else 0 if earlier is None else earlier["until"])


def _to_json(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value


@contextmanager
def open_log(path: Path | str) -> Iterator[LogWriter]:
    r"""Open the log of a run; each line can be read as soon as it is written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> with open_log(path) as log:
    ...     log.write("start", {"seed": 1})
    >>> path.read_text()
    '{"event": "start", "seed": 1}\n'
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        msg = f"cannot write the log {path}: {error.strerror or error}"
        raise StreamgaugeError(msg) from error
    with file:
        yield LogWriter(lambda line: file.write(f"{line}\n"))
