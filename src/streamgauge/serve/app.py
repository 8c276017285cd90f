"""The web application: pages, data for them, and commands."""

import json
import math
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from streamgauge._engine.journal.format import to_json
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.charts import Panel, encode_curves, write_csv
from streamgauge.serve.experiment_view import describe_experiment
from streamgauge.serve.guard import HEALTH, Guard
from streamgauge.serve.launched_runs import LaunchedRuns, list_choices, list_options
from streamgauge.serve.live import watch
from streamgauge.serve.metrics import TYPE, format_metrics
from streamgauge.serve.run_folders import RunFolders

__all__ = ["create_app"]

MAX_PAGES = 64
"""Largest number of pages that may watch at once."""

MAX_BYTES = 65_536
"""Largest size of a request body."""

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_OWN = ("index.html", "dashboard.css", "icon.svg")
_SHARED = ("uPlot.iife.min.js", "uPlot.min.css", "stacked.css", "times.js")


class _Site:
    """Answers requests about the runs of one folder."""

    def __init__(self, run_folders: RunFolders, launched_runs: LaunchedRuns | None) -> None:
        self.run_folders, self.launched_runs, self.n_pages = run_folders, launched_runs, 0

    def send_runs(self, _: Request) -> Response:
        facts = {"folder": self.run_folders.folder.name, "can_start": self.launched_runs is not None}
        return _answer({**facts, "runs": self.run_folders.list_summaries()})

    def send_run(self, request: Request) -> Response:
        return _answer(self.run_folders.find_run(_get_text(request, "id")).describe())

    def send_verdicts(self, request: Request) -> Response:
        return _answer(self.run_folders.find_run(_get_text(request, "id")).list_verdicts())

    def send_experiment(self, request: Request) -> Response:
        return _answer(describe_experiment(self.run_folders, _get_text(request, "name")))

    def send_curves(self, request: Request) -> Response:
        run, panel = self.run_folders.find_run(_get_text(request, "id")), _parse_panel(_get_text(request, "panel"))
        n_points = round(_get_number(request, "points", 2_000.0, greatest=1e9))
        content = encode_curves(run.read_curves(panel.kind), panel, *_get_span(request), n_points, x=_get_x(request))
        return Response(content, media_type="application/octet-stream")

    def send_table(self, request: Request) -> Response:
        query = request.query_params
        runs = [self.run_folders.find_run(name) for name in query.getlist("id")]
        panels = [_parse_panel(text) for text in query.getlist("panel")]
        pieces = write_csv(runs, panels, *_get_span(request), query.getlist("hidden"), x=_get_x(request))
        first = next(pieces)  # errors must be raised before the response begins
        headers = {"content-disposition": 'attachment; filename="streamgauge.csv"'}
        return StreamingResponse(_prepend(first, pieces), media_type="text/csv", headers=headers)

    def send_choices(self, _: Request) -> Response:
        return _answer({**list_choices(), "options": list_options()})

    def send_metrics(self, _: Request) -> Response:
        return Response(format_metrics(self.run_folders, self.n_pages), media_type=TYPE)

    def send_health(self, _: Request) -> Response:
        readable = self.run_folders.is_readable()
        return _answer({"status": "ok" if readable else "the results folder cannot be read"}, 200 if readable else 503)

    async def stop(self, request: Request) -> Response:
        wanted = await _read_body(request)
        await run_in_threadpool(self.run_folders.find_run(str(wanted.get("id", ""))).stop)
        return _answer({"stopping": wanted.get("id")}, status_code=202)

    async def start(self, request: Request) -> Response:
        if self.launched_runs is None:
            raise HTTPException(403, "this server does not start runs")
        name = await run_in_threadpool(self.launched_runs.start, await _read_body(request))
        return _answer({"id": name}, status_code=202)

    async def send_live(self, socket: WebSocket) -> None:
        if self.n_pages >= MAX_PAGES:
            await socket.close(1013)
            return
        self.n_pages += 1
        try:
            await watch(socket, self.run_folders, self.launched_runs)
        finally:
            self.n_pages -= 1


def create_app(
    run_folders: RunFolders, *, token: str | None = None, hosts: tuple[str, ...] = (), can_start: bool = True
) -> Starlette:
    """Create the application for any ASGI server.

    Parameters
    ----------
    run_folders
        The runs.
    token
        Secret that a page must present; None for none, which admits only requests to a name of this machine.
    hosts
        Further names of this machine.
    can_start
        Whether a page may start and stop runs.

    Examples
    --------
    >>> import tempfile
    >>> from starlette.testclient import TestClient
    >>> page = TestClient(create_app(RunFolders(tempfile.mkdtemp())), base_url="http://127.0.0.1")
    >>> page.get("/api/runs").json()["runs"]
    []
    """
    launched_runs = LaunchedRuns(run_folders.folder) if can_start else None
    site = _Site(run_folders, launched_runs)
    routes = [
        Route("/", _make_asset_handler("index.html")),
        *(Route(f"/assets/{name}", _make_asset_handler(name)) for name in _read_assets() if name != "index.html"),
        Route("/api/runs", site.send_runs),
        Route("/api/run", site.send_run),
        Route("/api/verdicts", site.send_verdicts),
        Route("/api/experiment", site.send_experiment),
        Route("/api/curves", site.send_curves),
        Route("/api/table.csv", site.send_table),
        Route("/api/choices", site.send_choices),
        Route("/metrics", site.send_metrics),
        Route(HEALTH, site.send_health),
        WebSocketRoute("/api/live", site.send_live),
    ]
    if can_start:
        routes += [Route("/api/start", site.start, methods=["POST"]), Route("/api/stop", site.stop, methods=["POST"])]
    guard = Middleware(Guard, token=token, hosts=hosts)
    app = Starlette(routes=routes, middleware=[guard], exception_handlers={StreamgaugeError: _send_error})
    app.state.launched_runs = launched_runs
    return app


@cache
def _read_assets() -> dict[str, bytes]:
    """Read the files of the page; uPlot, tables on phones and the times of rows are shared with the report."""
    own = files("streamgauge.serve").joinpath("assets")
    scripts = sorted(path.name for path in own.iterdir() if path.name.endswith(".js"))
    shared = files("streamgauge.reports").joinpath("assets")
    return {
        **{name: own.joinpath(name).read_bytes() for name in (*_OWN, *scripts)},
        **{name: shared.joinpath(name).read_bytes() for name in _SHARED},
    }


def _make_asset_handler(name: str) -> Callable[[Request], Response]:
    content = _read_assets()[name]
    etag = f'"{sha256(content).hexdigest()[:24]}"'
    headers = {"etag": etag, "cache-control": "no-cache"}
    kind = _TYPES[name.rpartition(".")[2]]

    def send(request: Request) -> Response:
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    return send


def _send_error(_: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error).encode(errors="backslashreplace"), status_code=400)


def _answer(facts: object, status_code: int = 200) -> Response:
    """Answer with JSON that every client reads, whatever a file or a request contained."""
    return Response(json.dumps(to_json(facts)), status_code, media_type="application/json")


def _get_text(request: Request, name: str) -> str:
    text = request.query_params.get(name)
    if text is None:
        raise _make_error(name)
    return text


def _get_number(request: Request, name: str, default: float, greatest: float = math.inf) -> float:
    text = request.query_params.get(name)
    try:
        number = default if text in {None, ""} else float(str(text))
    except ValueError:
        raise _make_error(name) from None
    if math.isnan(number) or abs(number) > greatest:
        raise _make_error(name)
    return number


def _get_span(request: Request) -> tuple[float, float]:
    return _get_number(request, "from", -math.inf), _get_number(request, "to", math.inf)


def _get_x(request: Request) -> str:
    name = "x"
    x = request.query_params.get(name, "row")
    if x not in {"row", "time"}:
        raise _make_error(name)
    return x


def _make_error(name: str) -> StreamgaugeError:
    return StreamgaugeError(f"the parameter {name} of the request is missing or invalid")


def _parse_panel(text: str) -> Panel:
    try:
        return Panel.parse(json.loads(text))
    except (ValueError, RecursionError):
        return Panel.parse(None)


async def _read_body(request: Request) -> dict[str, Any]:
    """Read a JSON object of limited size."""
    body = b""
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BYTES:
                raise HTTPException(413, "the request is too long")
    except ClientDisconnect:
        raise HTTPException(400, "the request is not complete") from None
    try:
        wanted = json.loads(body)
    except (ValueError, RecursionError):
        wanted = None
    if not isinstance(wanted, dict):
        raise HTTPException(400, "send a JSON object")
    return wanted


def _prepend(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest
