"""Live updates of a page: once a second, what has changed."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from streamgauge._engine.journal import JournalReader
from streamgauge._engine.journal.format import EVENTS, to_json
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.charts import Panel, list_new_points, to_json_column
from streamgauge.serve.curve_sources import MALFORMED
from streamgauge.serve.launched_runs import LaunchedRuns
from streamgauge.serve.run_folders import RunFolders
from streamgauge.serve.runs import merge_alarms

__all__ = ["MAX_NEW_POINTS", "Watcher", "watch"]

MAX_NEW_POINTS = 2_000
"""Largest number of points sent as news; after more, the page requests the downsampled curves again."""

MAX_NEW_ALARMS = 500
"""Largest number of alarms sent as additions; after more, all alarms are sent again, with close ones merged."""

MAX_WATCHED = 32
"""Largest number of runs, and of panels, that a page may watch."""

UPDATE_SECONDS = 1.0
"""Seconds between updates."""


@dataclass
class _Position:
    """What a page already has of one run."""

    generation: int
    n_records: int
    events_size: int = -1
    events_generation: int = -1
    n_events: int = 0
    n_sent_alarms: int = 0
    status: dict[str, Any] = field(default_factory=dict)
    state: str = ""


class Watcher:
    """Tracks what one page already has.

    Parameters
    ----------
    run_folders
        The runs.
    launched_runs
        Runs that pages started; None if pages may not start any.

    Examples
    --------
    >>> import tempfile
    >>> Watcher(RunFolders(tempfile.mkdtemp())).find_changes()
    {'runs': []}
    """

    def __init__(self, run_folders: RunFolders, launched_runs: LaunchedRuns | None = None) -> None:
        self._run_folders, self._launched_runs = run_folders, launched_runs
        self._positions: dict[str, _Position] = {}
        self._panels: tuple[Panel, ...] = ()
        self._sent_runs = ""

    def subscribe(self, wanted: object) -> None:
        """Set what a page shows: its panels, and per run the generation and number of records that it has."""
        facts = wanted if isinstance(wanted, dict) else {}
        runs, panels = facts.get("runs"), facts.get("panels")
        if not (isinstance(runs, dict) and isinstance(panels, list) and max(len(runs), len(panels)) <= MAX_WATCHED):
            msg = f"send runs and panels, at most {MAX_WATCHED} of each"
            raise StreamgaugeError(msg)
        self._panels = tuple(map(Panel.parse, panels))
        self._positions = {}
        for name, pair in runs.items():
            if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, int) for part in pair)):
                msg = "send [generation, number of records] for each run"
                raise StreamgaugeError(msg)
            self._positions[name] = _Position(*pair)

    def find_changes(self) -> dict[str, Any]:
        """Return what has changed since the last call."""
        changes: dict[str, Any] = {}
        summaries = self._run_folders.list_summaries()
        failed = self._launched_runs.list_failures() if self._launched_runs else {}
        text = json.dumps(to_json([summaries, failed]))
        if text != self._sent_runs:
            self._sent_runs, changes["runs"] = text, summaries
            if failed:
                changes["failed"] = failed
        for name, position in list(self._positions.items()):
            try:
                run_changes = self._find_run_changes(name, position)
            except MALFORMED:  # its folder was removed, or a file of it is malformed
                del self._positions[name]
                run_changes = {"gone": True}
            if run_changes:
                changes.setdefault("watched", {})[name] = run_changes
        return changes

    def _find_run_changes(self, name: str, position: _Position) -> dict[str, Any]:
        run = self._run_folders.find_run(name)
        view = run.get_journal()
        if view is None:
            return _announce_saved(run.summarise()["state"], position)
        changes = self._find_new_points(view, position)
        status = view.status()
        state = view.state_of(status)
        if (status, state) != (position.status, position.state):
            position.status, position.state = status, state
            changes["status"] = {**status, "state": state}
        changes |= _find_new_alarms(view, position, status.get("n_rows", 0))
        return changes

    def _find_new_points(self, view: JournalReader, position: _Position) -> dict[str, Any]:
        generation, records = view.records(skip=position.n_records)
        if generation != position.generation or len(records) > MAX_NEW_POINTS:
            n_before = position.n_records
            position.generation = generation
            position.n_records = len(view.records()[1])
            return {"again": True} if n_before or position.n_records else {}
        if not len(records):
            return {}
        position.n_records += len(records)
        times = view.layout.times(records)
        return {
            "generation": generation,
            "n_records": position.n_records,
            "rows": view.layout.rows(records).tolist(),
            **({} if times is None else {"times": to_json_column(times)}),
            "panels": [
                list_new_points(view.layout, records, panel) if _has_panel(view, panel) else None
                for panel in self._panels
            ],
        }


def _announce_saved(state: str, position: _Position) -> dict[str, Any]:
    """Return once that the results of a run were saved."""
    if position.state == "saved":
        return {}
    was_shown, position.state = position.state, "saved"
    return {"saved": True, "status": {"state": state}} if was_shown else {}


def _has_panel(view: JournalReader, panel: Panel) -> bool:
    layout = view.layout
    if panel.kind == "measure":
        return panel.name in layout.measures and panel.forgetting in layout.forgettings
    names, measure = {panel.name, panel.second_learner}, panel.compared or layout.compared[0]
    return panel.kind == "cost" or any(names == {*pair} and measure == name for *pair, name in layout.pairs)


def _find_new_alarms(view: JournalReader, position: _Position, n_rows: int) -> dict[str, Any]:
    try:
        size = (view.folder / EVENTS).stat().st_size
    except OSError:
        return {}
    if size == position.events_size:
        return {}
    position.events_size = size
    generation, events = view.events(skip=position.n_events)
    position.n_sent_alarms += len(events)
    if generation == position.events_generation and position.n_sent_alarms <= MAX_NEW_ALARMS:
        position.n_events += len(events)
        return {"more_alarms": merge_alarms(events, n_rows)} if events else {}
    position.events_generation, events = view.events()
    position.n_events, position.n_sent_alarms = len(events), 0
    return {"alarms": merge_alarms(events, n_rows)}


async def watch(socket: WebSocket, run_folders: RunFolders, launched_runs: LaunchedRuns | None) -> None:
    """Send changes to a page until it disconnects."""
    await socket.accept()
    watcher = Watcher(run_folders, launched_runs)
    receiving = asyncio.ensure_future(_receive(socket, watcher))
    try:
        while not receiving.done():
            changes = await run_in_threadpool(watcher.find_changes)
            await socket.send_text(json.dumps(to_json(changes)))
            await asyncio.wait((receiving,), timeout=UPDATE_SECONDS)
    except (WebSocketDisconnect, RuntimeError):  # it disconnected during a send
        pass
    finally:
        receiving.cancel()
        await asyncio.gather(receiving, return_exceptions=True)


async def _receive(socket: WebSocket, watcher: Watcher) -> None:
    """Process the messages of a page until it disconnects or sends an invalid one."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        try:
            watcher.subscribe(json.loads(message.get("text") or ""))
        except (ValueError, TypeError, RecursionError) as error:
            await socket.close(1007, str(error).encode(errors="replace")[:100].decode(errors="ignore"))
            return
