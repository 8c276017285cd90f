"""The log of a run: every reading, alarm, verdict and failure as a line of JSON, written as it happens."""

import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from streamgauge._format.times import format_time
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Alarm, Failure, ModelVerdict, Reading, Verdict

__all__ = ["LogWriter", "open_log"]

ORDER = ("reading", "alarm", "verdict", "model_verdict", "failure")
"""The order of events of one row."""


TIMED = ("reading", "verdict", "model_verdict")
"""Events at reading rows, whose times are known."""


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
        verdicts: Iterable[Verdict | ModelVerdict],
        failures: Iterable[Failure],
        times: Mapping[int, float] | None = None,
    ) -> None:
        """Write the events of a batch in the order of their rows, whatever the size of the batch.

        `times` are those of reading rows, if the rows carry them: readings and verdicts are written with their time.
        """
        facts = list(readings)
        rows = {reading.row for reading in facts}
        new_failures = [failure for failure in failures if failure not in self._known_failures]
        self._known_failures.update(new_failures)
        events: list[tuple[str, dict[str, Any]]] = [("reading", asdict(reading)) for reading in facts]
        events += [("alarm", asdict(alarm)) for alarm in alarms]
        for verdict in verdicts:
            kind = "model_verdict" if isinstance(verdict, ModelVerdict) else "verdict"
            events += [(kind, change) for change in _list_changes(verdict, rows)]
        events += [("failure", asdict(failure)) for failure in new_failures]
        for event, values in sorted(events, key=lambda item: (item[1]["row"], ORDER.index(item[0]))):
            time = times.get(values["row"]) if times and event in TIMED else None
            self.write(event, values if time is None else {"row": values["row"], "time": format_time(time), **values})


def _list_changes(verdict: Verdict | ModelVerdict, rows: Container[int]) -> Iterator[dict[str, Any]]:
    """Yield where among the reading rows a verdict was reached, and where one no longer held."""
    earlier = verdict.earlier
    if isinstance(verdict, ModelVerdict):
        about = {"learner": verdict.learner, "requirement": verdict.requirement}
    else:
        about = {"first": verdict.first, "second": verdict.second}
    changes = (
        [] if earlier is None else [(earlier.since, earlier.outcome, True), (earlier.until, earlier.outcome, False)]
    )
    if verdict.row is not None:
        changes.append((verdict.row, verdict.outcome, True))
    for row, outcome, holds in changes:
        if row in rows:
            yield {"row": row, **about, "measure": verdict.measure, "outcome": outcome, "holds": holds}


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
