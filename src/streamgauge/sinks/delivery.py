"""Delivery of events from a queue by a thread: once each, retried, never blocking whoever measures."""

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.sinks.event import Event, describe_event

__all__ = ["PermanentError", "Sink", "SinkCounts"]

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
"""The seconds before the first retry, and at most; a pause is twice as long as the one before."""


class PermanentError(Exception):
    """A failure of a delivery that another attempt would not mend."""


@dataclass
class SinkCounts:
    """What happened to the events of a sink.

    Parameters
    ----------
    sent
        Events that were delivered.
    waiting
        Events that wait, with that which is being delivered.
    repeated
        Events that had been delivered before, and were not sent again.
    failed
        Events that were given up after all attempts.
    dropped
        Events for which there was no room.
    last_error
        Why the last attempt that failed did; empty if none did.

    Examples
    --------
    >>> SinkCounts(sent=2).sent
    2
    """

    sent: int = 0
    waiting: int = 0
    repeated: int = 0
    failed: int = 0
    dropped: int = 0
    last_error: str = ""


class Sink(ABC):
    """Delivers events in their order from a queue, in a thread of its own; call it with an event.

    A sink is what `Gauge.notify` takes, and what `evaluate` takes as `on_verdict`. Calling it only queues the event. An
    attempt that fails is repeated after growing pauses, for `patience` seconds; then the event counts as failed and the
    next one is tried. Receivers get the id of an event, so that they can drop one that came twice because an answer
    was lost.

    Parameters
    ----------
    source
        Where the events come from, as receivers see it.
    only
        Returns whether an event is to be sent; None for all.
    patience
        How many seconds an event is tried.
    most_waiting
        The most events that wait; further ones are dropped, and counted.
    ledger
        A file for the ids of the events that were delivered, so that they are not sent again after a restart; None to
        remember them as long as this object lives.
    """

    def __init__(
        self,
        *,
        source: str = "",
        only: Callable[[Event], bool] | None = None,
        patience: float = 3600.0,
        most_waiting: int = 1000,
        ledger: Path | str | None = None,
    ) -> None:
        require_between("patience", patience, 0.0, float("inf"))
        require_at_least("most_waiting", most_waiting, 1)
        self._source, self._only, self._patience, self._most_waiting = source, only, patience, most_waiting
        self._ledger = None if ledger is None else Path(ledger)
        self._known = self._read_ledger()
        self._queue: deque[dict[str, Any]] = deque()
        self._counts = SinkCounts()
        self._changed = threading.Condition()
        self._is_closing = self._gives_up = False
        self._thread: threading.Thread | None = None

    @abstractmethod
    def deliver(self, facts: dict[str, Any]) -> None:
        """Deliver an event, as `describe_event` describes it; raise if that fails, `PermanentError` if for good."""

    def __call__(self, event: Event) -> None:
        """Queue an event."""
        if self._only is not None and not self._only(event):
            return
        facts = describe_event(event, self._source)
        with self._changed:
            if facts["id"] in self._known:
                self._counts.repeated += 1
                return
            if self._counts.waiting >= self._most_waiting:
                self._counts.dropped += 1
                return
            self._known.add(facts["id"])
            self._queue.append(facts)
            self._counts.waiting += 1
            if self._thread is None:
                self._is_closing = False
                self._thread = threading.Thread(target=self._work, name="sink", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    @property
    def counts(self) -> SinkCounts:
        """What happened to the events so far."""
        with self._changed:
            return replace(self._counts)

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._queue:
                    if self._is_closing:
                        return
                    self._changed.wait()
                facts = self._queue.popleft()
            is_sent = self._try(facts)
            if is_sent:
                self._note_in_ledger(facts["id"])
            with self._changed:
                self._counts.waiting -= 1
                self._counts.sent += is_sent
                self._counts.failed += not is_sent
                self._changed.notify_all()

    def _try(self, facts: dict[str, Any]) -> bool:
        """Deliver an event, again and again; return whether that succeeded."""
        deadline, pause = time.monotonic() + self._patience, FIRST_PAUSE
        while True:
            try:
                self.deliver(facts)
            except PermanentError as error:
                self._note_error(error)
                return False
            except Exception as error:  # of a user's function, of the network or of a process
                self._note_error(error)
            else:
                return True
            with self._changed:
                left = deadline - time.monotonic()
                if left <= 0.0 or self._changed.wait_for(lambda: self._gives_up, min(pause, left)):
                    return False
            pause = min(2.0 * pause, LONGEST_PAUSE)

    def _note_error(self, error: Exception) -> None:
        with self._changed:
            self._counts.last_error = f"{type(error).__name__}: {error}"

    def _read_ledger(self) -> set[str]:
        if self._ledger is None or not self._ledger.exists():
            return set()
        try:
            return set(self._ledger.read_text(encoding="ascii").split())
        except (OSError, UnicodeDecodeError) as error:
            msg = f"cannot read the ledger {self._ledger}: {error}"
            raise StreamgaugeError(msg) from None

    def _note_in_ledger(self, event_id: str) -> None:
        if self._ledger is None:
            return
        try:
            self._ledger.parent.mkdir(parents=True, exist_ok=True)
            with self._ledger.open("a", encoding="ascii") as file:
                file.write(f"{event_id}\n")
        except OSError as error:  # the event was delivered, and this process remembers it
            self._note_error(error)

    def close(self, timeout: float = 10.0) -> SinkCounts:
        """Wait until all events are delivered, at most `timeout` seconds, and give up the rest; return the counts."""
        with self._changed:
            thread, self._is_closing = self._thread, True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._counts.waiting, timeout)
            self._counts.failed += len(self._queue)
            self._counts.waiting -= len(self._queue)
            self._queue.clear()
            self._gives_up = True
            self._changed.notify_all()
        if thread is not None:
            thread.join(timeout)
        with self._changed:
            self._thread, self._gives_up = None, False
        return self.counts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
