"""Alarms and verdicts as plain values, and what identifies one."""

import hashlib
import json
import math
from dataclasses import asdict
from typing import Any

from streamgauge.records import Alarm, ModelVerdict, Verdict

__all__ = ["Event", "describe_event", "identify_event"]

Event = Alarm | Verdict | ModelVerdict

_KINDS = {Alarm: "alarm", Verdict: "verdict", ModelVerdict: "model_verdict"}


def describe_event(event: Event, source: str = "") -> dict[str, Any]:
    """Return an event as JSON values: its kind, its text, its fields, an id, and where it comes from.

    Examples
    --------
    >>> facts = describe_event(Alarm(1200, "tree", 0, "DDM", "drift"), source="shop")
    >>> facts["event"], facts["source"], facts["row"], facts["text"]
    ('alarm', 'shop', 1200, 'tree: drift signalled by DDM after row 1,200')
    """
    text = str(event)
    if isinstance(event, Alarm):
        text = f"{event.learner}: {event.kind} signalled by {event.detector} after row {event.row:,}"
    facts = {name: _to_json(value) for name, value in asdict(event).items()}
    return {"event": _KINDS[type(event)], "id": identify_event(event, source), "source": source, "text": text, **facts}


def identify_event(event: Event, source: str = "") -> str:
    """Return what is the same for the same event whenever it is found, and differs between two events.

    An alarm is identified by its row, a verdict by the row at which it was reached, or at which it no longer held.

    Examples
    --------
    >>> first, again = (identify_event(Alarm(1200, "tree", 0, "DDM", "drift")) for _ in range(2))
    >>> first == again, first == identify_event(Alarm(1201, "tree", 0, "DDM", "drift"))
    (True, False)
    """
    facts: tuple[object, ...]
    if isinstance(event, Alarm):
        facts = event.row, event.learner, event.fold, event.detector, event.kind
    else:
        ended = None if event.earlier is None or event.row is not None else event.earlier.until
        about = (event.learner, event.requirement) if isinstance(event, ModelVerdict) else (event.first, event.second)
        facts = *about, event.measure, event.outcome, event.row, ended
    text = json.dumps([source, _KINDS[type(event)], *facts])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _to_json(value: Any) -> Any:  # noqa: ANN401
    """Return a value with null for NaN and infinite numbers, which JSON lacks."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [_to_json(part) for part in value]
    return {name: _to_json(part) for name, part in value.items()} if isinstance(value, dict) else value
