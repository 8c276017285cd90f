"""What a page that watches is told: once a second what has changed, and nothing else."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from streamgauge._engine.journal import JournalView
from streamgauge._engine.journal.format import EVENTS
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.charts import Panel, news
from streamgauge.serve.launched_runs import Jobs
from streamgauge.serve.run_folders import Library
from streamgauge.serve.runs import marked

__all__ = ["MOST_NEW", "Watcher", "watch"]

MOST_NEW = 2_000
"""How many new points are told one by one; where more came, the page asks for the whole, thinned."""

MOST_MORE = 500
"""How many alarms are told as further ones; after that all are told anew, those that fall together as one."""

MOST_WATCHED = 32
"""How many runs, and panels, one page may watch."""

SECONDS = 1.0
"""How often a page is told what has changed."""


@dataclass
class _Place:
    """How far a page has got with one run."""

    generation: int
    n_records: int
    events_size: int = -1
    events_generation: int = -1
    n_events: int = 0
    n_more: int = 0
    status: dict[str, Any] = field(default_factory=dict)
    state: str = ""


class Watcher:
    """Knows what one page has been told.

    Parameters
    ----------
    library
        The runs.
    jobs
        Those that were started here; None where a page may start none.

    Examples
    --------
    >>> import tempfile
    >>> Watcher(Library(tempfile.mkdtemp())).changes()
    {'runs': []}
    """

    def __init__(self, library: Library, jobs: Jobs | None = None) -> None:
        self._library, self._jobs = library, jobs
        self._places: dict[str, _Place] = {}
        self._panels: tuple[Panel, ...] = ()
        self._told = ""

    def subscribe(self, wanted: object) -> None:
        """Take what a page shows: per run how far it has got (generation and number of records), and its panels."""
        facts = wanted if isinstance(wanted, dict) else {}
        runs, panels = facts.get("runs"), facts.get("panels")
        if not (isinstance(runs, dict) and isinstance(panels, list) and max(len(runs), len(panels)) <= MOST_WATCHED):
            msg = f"a page names the runs and panels that it shows, at most {MOST_WATCHED} of each"
            raise StreamgaugeError(msg)
        self._panels = tuple(map(Panel.of, panels))
        self._places = {}
        for name, place in runs.items():
            if not (isinstance(place, list) and len(place) == 2 and all(isinstance(part, int) for part in place)):
                msg = "of each run a page tells the generation and the number of records that it has"
                raise StreamgaugeError(msg)
            self._places[name] = _Place(*place)

    def changes(self) -> dict[str, Any]:
        """Tell what has changed since the last call."""
        told: dict[str, Any] = {}
        summaries = self._library.summaries()
        failed = self._jobs.failures() if self._jobs else {}
        text = json.dumps([summaries, failed])
        if text != self._told:
            self._told, told["runs"] = text, summaries
            if failed:
                told["failed"] = failed
        for name, place in list(self._places.items()):
            try:
                changed = self._changes_of(name, place)
            except StreamgaugeError:  # its folder was removed
                del self._places[name]
                changed = {"gone": True}
            if changed:
                told.setdefault("watched", {})[name] = changed
        return told

    def _changes_of(self, name: str, place: _Place) -> dict[str, Any]:
        run = self._library.run(name)
        view = run.journal()
        if view is None:
            return self._once_saved(run.summary()["state"], place)
        told = self._new_points(view, place)
        status = view.status()
        state = view.state_of(status)
        if (status, state) != (place.status, place.state):
            place.status, place.state = status, state
            told["status"] = {**status, "state": state}
        told |= _new_alarms(view, place, status.get("n_rows", 0))
        return told

    def _once_saved(self, state: str, place: _Place) -> dict[str, Any]:
        """Tell once that a run has become saved results."""
        if place.state == "saved":
            return {}
        was_shown, place.state = place.state, "saved"
        return {"saved": True, "status": {"state": state}} if was_shown else {}

    def _new_points(self, view: JournalView, place: _Place) -> dict[str, Any]:
        generation, records = view.records(skip=place.n_records)
        if generation != place.generation or len(records) > MOST_NEW:
            known = place.n_records
            place.generation = generation
            place.n_records = len(view.records()[1])
            return {"again": True} if known or place.n_records else {}
        if not len(records):
            return {}
        place.n_records += len(records)
        panels = [news(view.layout, records, panel) if _is_in(panel, view) else None for panel in self._panels]
        told = {"generation": generation, "n_records": place.n_records}
        return {**told, "rows": view.layout.rows(records).tolist(), "panels": panels}


def _is_in(panel: Panel, view: JournalView) -> bool:
    layout = view.layout
    if panel.kind == "measure":
        return panel.name in layout.measures and panel.under in layout.forgettings
    return panel.kind == "cost" or (panel.name, panel.under) in layout.pairs


def _new_alarms(view: JournalView, place: _Place, n_rows: int) -> dict[str, Any]:
    try:
        size = (view.folder / EVENTS).stat().st_size
    except OSError:
        return {}
    if size == place.events_size:
        return {}
    place.events_size = size
    generation, events = view.events(skip=place.n_events)
    place.n_more += len(events)
    if generation == place.events_generation and place.n_more <= MOST_MORE:
        place.n_events += len(events)
        return {"more_alarms": marked(events, n_rows)} if events else {}
    place.events_generation, events = view.events()
    place.n_events, place.n_more = len(events), 0
    return {"alarms": marked(events, n_rows)}


async def watch(socket: WebSocket, library: Library, jobs: Jobs | None) -> None:
    """Tell a page what changes, until it goes."""
    await socket.accept()
    watcher = Watcher(library, jobs)
    hearing = asyncio.ensure_future(_hear(socket, watcher))
    try:
        while not hearing.done():
            told = await run_in_threadpool(watcher.changes)
            await socket.send_text(json.dumps(told))
            await asyncio.wait((hearing,), timeout=SECONDS)
    except (WebSocketDisconnect, RuntimeError):  # it left while it was told something
        pass
    finally:
        hearing.cancel()
        await asyncio.gather(hearing, return_exceptions=True)


async def _hear(socket: WebSocket, watcher: Watcher) -> None:
    """Take what the page says, until it leaves or talks nonsense."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        try:
            watcher.subscribe(json.loads(message.get("text") or ""))
        except (ValueError, TypeError) as error:
            await socket.close(1007, str(error)[:100])
            return
