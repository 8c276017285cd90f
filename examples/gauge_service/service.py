"""A service with a model, a challenger in its shadow, labels that come later, a gauge, a budget and an alert.

``python examples/gauge_service/service.py --folder state`` starts it on this machine alone, at port 8123::

    curl -d '{"id": "p1", "amount": 90}' http://127.0.0.1:8123/predict
    curl -d '{"id": "p1", "fraud": true}' http://127.0.0.1:8123/labels
    curl http://127.0.0.1:8123/reading     (also /metrics for Prometheus, and /report for a page)

Every request is appended to a log before it is answered. After a kill the service loads its last saved gauge and takes
the requests since then from the log, so that nothing is lost; a request that a client sends again counts once.
"""

import argparse
import asyncio
import json
import math
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

import streamgauge as sg
from streamgauge.records import Alarm, ModelVerdict, Verdict
from streamgauge.sinks import Webhook

BUDGET = "recall[fraud]>0.6"
MAX_BODY = 4096
SAVE_EVERY = 500
"""After how many requests the gauge is saved."""

Event = Alarm | Verdict | ModelVerdict


def champion(amount: float) -> float:
    """Return the probability of a fraud."""
    return 0.9 if amount > 80.0 else 0.1


def challenger(amount: float) -> float:
    """Return the probability of a fraud."""
    return min(max((amount - 20.0) / 60.0, 0.01), 0.99)


def is_alert(event: Event) -> bool:
    """Return whether somebody must be called: the champion breaks its budget."""
    return isinstance(event, ModelVerdict) and (event.learner, event.outcome) == ("champion", "broken")


class GaugeOnDisk:
    """A gauge with the log of everything that was pushed since it was saved."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder, self._log = folder, folder / "requests.jsonl"
        saved = max(folder.glob("gauge-*"), key=self._read_position, default=None)
        position = 0 if saved is None else self._read_position(saved)
        self.gauge = self._make_gauge() if saved is None else sg.Gauge.load(saved)
        self._mend()
        self._n_unsaved = 0
        with self._log.open("rb") as file:
            file.seek(position)
            for line in file:
                self._push(json.loads(line))
        self._file = os.open(self._log, os.O_WRONLY | os.O_APPEND)

    @staticmethod
    def _make_gauge() -> sg.Gauge:
        return sg.Gauge(
            ["accuracy", "recall[fraud]", "pr_auc[fraud]"],
            models=["champion", "challenger"],
            classes=["ok", "fraud"],
            score_of="fraud",
            forgetting=["Landmark", "Window(5000)"],
            budgets=BUDGET,
            every=100,
            patience=30 * 86_400.0,
        )

    @staticmethod
    def _read_position(path: Path) -> int:
        return int(path.name.partition("-")[2])

    def _mend(self) -> None:
        """Cut off a line that was being written when the process was killed; its request had no answer."""
        self._log.touch()
        text = self._log.read_bytes()
        end = text.rfind(b"\n") + 1
        if end < len(text):
            os.truncate(self._log, end)

    def add(self, message: dict[str, Any]) -> None:
        """Log a message, then push it."""
        os.write(self._file, json.dumps(message).encode() + b"\n")
        self._push(message)
        self._n_unsaved += 1
        if self._n_unsaved >= SAVE_EVERY:
            self.save()

    def _push(self, message: dict[str, Any]) -> None:
        if "fraud" in message:
            self.gauge.labelled(message["id"], "fraud" if message["fraud"] else "ok")
        else:
            amount = message["amount"]
            self.gauge.predicted(message["id"], {"champion": champion(amount), "challenger": challenger(amount)})

    def save(self) -> None:
        """Save the gauge under the length of the log so far; an older file is removed once the new one is there."""
        known = list(self._folder.glob("gauge-*"))
        saved = self.gauge.save(self._folder / f"gauge-{self._log.stat().st_size}")
        for path in known:
            if path != saved:
                path.unlink()
        self._n_unsaved = 0


class Service:
    """The requests that the service answers."""

    def __init__(self, folder: Path, alert: str | None) -> None:
        self._state = GaugeOnDisk(folder)
        self._gauge, self._sink = self._state.gauge, None
        if alert is not None:
            self._sink = Webhook(alert, source="payments", only=is_alert, ledger=folder / "alerts.txt")

    @asynccontextmanager
    async def live(self, _: Starlette) -> AsyncIterator[None]:
        """Send alerts while the service runs, save the gauge at its end."""
        if self._sink is not None:
            for verdict in self._gauge.verdicts():  # one that was reached, but not sent, before a kill
                self._sink(verdict)
            self._gauge.notify(self._sink)
        yield
        await asyncio.to_thread(self._gauge.close)
        self._state.save()
        if self._sink is not None:
            await asyncio.to_thread(self._sink.close)

    async def predict(self, request: Request) -> Response:
        """Answer for a payment."""
        message = await read(request, amount=(int, float))
        if message is None:
            return JSONResponse({"error": 'send {"id": text, "amount": number}'}, 400)
        self._state.add(message)
        return JSONResponse({"fraud": champion(message["amount"]) > 0.5})

    async def label(self, request: Request) -> Response:
        """Take the label of a payment, which may come weeks later."""
        message = await read(request, fraud=bool)
        if message is None:
            return JSONResponse({"error": 'send {"id": text, "fraud": true or false}'}, 400)
        self._state.add(message)
        return JSONResponse({"accepted": True})

    async def reading(self, _: Request) -> Response:
        """Return the current values and verdicts."""
        current = await asyncio.to_thread(self._gauge.reading)
        verdicts = [str(verdict) for verdict in await asyncio.to_thread(self._gauge.verdicts)]
        values = [
            [one.learner, one.forgetting, one.measure, None if math.isnan(one.value) else one.value] for one in current
        ]
        counts = vars(self._gauge.counts)
        return JSONResponse({"row": current.row, "values": values, "verdicts": verdicts, "counts": counts})

    async def metrics(self, _: Request) -> Response:
        """Return the metrics for Prometheus."""
        return PlainTextResponse(await asyncio.to_thread(self._gauge.metrics, "payments"))

    async def report(self, _: Request) -> Response:
        """Return a page."""
        with tempfile.TemporaryDirectory() as folder:
            path = await asyncio.to_thread(self._gauge.report, Path(folder) / "report.html")
            return HTMLResponse(path.read_text())


def make_app(folder: Path, alert: str | None) -> Starlette:
    """Return the service."""
    service = Service(folder, alert)
    routes = [
        Route("/predict", service.predict, methods=["POST"]),
        Route("/labels", service.label, methods=["POST"]),
        Route("/reading", service.reading),
        Route("/metrics", service.metrics),
        Route("/report", service.report),
    ]
    return Starlette(routes=routes, lifespan=service.live)


async def read(request: Request, **fields: Any) -> dict[str, Any] | None:  # noqa: ANN401
    """Return the message of a request: its id and one more field; None if it is another."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            return None
    try:
        message = json.loads(body)
        (name, kind), *_ = fields.items()
        is_good = isinstance(message["id"], str) and isinstance(message[name], kind)
    except (KeyError, TypeError, ValueError):
        return None
    return {"id": message["id"], name: message[name]} if is_good else None


def main() -> None:
    """Serve until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Serve a model with a gauge, on this machine alone.")
    parser.add_argument("--folder", type=Path, default=Path("gauge_service"))
    parser.add_argument("--port", type=int, default=8123)
    parser.add_argument("--alert", help="the address that gets an alert by POST")
    options = parser.parse_args()
    app = make_app(options.folder, options.alert)
    uvicorn.run(app, host="127.0.0.1", port=options.port, log_level="warning", limit_concurrency=200)


if __name__ == "__main__":
    main()
