"""The application: what the page asks for, by address."""

import json
import math
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from streamgauge._engine.journal.format import to_json
from streamgauge.errors import StreamgaugeError
from streamgauge.serve.charts import Panel, curves, table
from streamgauge.serve.guard import Guard
from streamgauge.serve.launched_runs import Jobs, choices
from streamgauge.serve.live import watch
from streamgauge.serve.metrics import TYPE, metrics_text
from streamgauge.serve.run_folders import Library

__all__ = ["create_app"]

MOST_PAGES = 64
"""How many pages may watch at once."""

MOST_BYTES = 65_536
"""How long what a page sends may be."""

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_OWN = ("index.html", "dashboard.css", "icon.svg")
_UPLOT = ("uPlot.iife.min.js", "uPlot.min.css")


class _Site:
    """Answers requests about the runs of one folder."""

    def __init__(self, library: Library, jobs: Jobs | None) -> None:
        self.library, self.jobs, self.n_pages = library, jobs, 0

    def runs(self, _: Request) -> Response:
        facts = {"folder": self.library.folder.name, "can_start": self.jobs is not None}
        return JSONResponse({**facts, "runs": self.library.summaries()})

    def run(self, request: Request) -> Response:
        return JSONResponse(to_json(self.library.run(_asked(request, "id")).details()))

    def verdicts(self, request: Request) -> Response:
        return JSONResponse(to_json(self.library.run(_asked(request, "id")).verdicts()))

    def curves(self, request: Request) -> Response:
        run, panel = self.library.run(_asked(request, "id")), _panel(_asked(request, "panel"))
        points = round(_number(request, "points", 2_000.0, most=1e9))
        span = (_number(request, "from", -math.inf), _number(request, "to", math.inf))
        return Response(curves(run.readings(panel.kind), panel, *span, points), media_type="application/octet-stream")

    def table(self, request: Request) -> Response:
        query = request.query_params
        runs = [self.library.run(name) for name in query.getlist("id")]
        panels = [_panel(text) for text in query.getlist("panel")]
        span = (_number(request, "from", -math.inf), _number(request, "to", math.inf))
        pieces = table(runs, panels, *span, query.getlist("hidden"))
        first = next(pieces)  # so that a mistake is told before the answer begins
        head = {"content-disposition": 'attachment; filename="streamgauge.csv"'}
        return StreamingResponse(_chained(first, pieces), media_type="text/csv", headers=head)

    def choices(self, _: Request) -> Response:
        return JSONResponse(choices())

    def metrics(self, _: Request) -> Response:
        return Response(metrics_text(self.library, self.n_pages), media_type=TYPE)

    async def stop(self, request: Request) -> Response:
        wanted = await _sent(request)
        await run_in_threadpool(self.library.run(str(wanted.get("id", ""))).stop)
        return JSONResponse({"stopping": wanted.get("id")}, status_code=202)

    async def start(self, request: Request) -> Response:
        if self.jobs is None:
            raise HTTPException(403, "this server starts no runs")
        name = await run_in_threadpool(self.jobs.start, await _sent(request))
        return JSONResponse({"id": name}, status_code=202)

    async def live(self, socket: WebSocket) -> None:
        if self.n_pages >= MOST_PAGES:
            await socket.close(1013)
            return
        self.n_pages += 1
        try:
            await watch(socket, self.library, self.jobs)
        finally:
            self.n_pages -= 1


def create_app(
    library: Library, *, token: str | None = None, hosts: tuple[str, ...] = (), can_start: bool = True
) -> Starlette:
    """Make the application for any ASGI server.

    Parameters
    ----------
    library
        The runs.
    token
        What a page must know; None for none, and then only for calls by a name of this machine.
    hosts
        Further names of this machine.
    can_start
        Whether a page may start and stop runs.

    Examples
    --------
    >>> import tempfile
    >>> from starlette.testclient import TestClient
    >>> page = TestClient(create_app(Library(tempfile.mkdtemp())), base_url="http://127.0.0.1")
    >>> page.get("/api/runs").json()["runs"]
    []
    """
    jobs = Jobs(library.folder) if can_start else None
    site = _Site(library, jobs)
    routes = [
        Route("/", _asset_of("index.html")),
        *(Route(f"/assets/{name}", _asset_of(name)) for name in _assets() if name != "index.html"),
        Route("/api/runs", site.runs),
        Route("/api/run", site.run),
        Route("/api/verdicts", site.verdicts),
        Route("/api/curves", site.curves),
        Route("/api/table.csv", site.table),
        Route("/api/choices", site.choices),
        Route("/metrics", site.metrics),
        WebSocketRoute("/api/live", site.live),
    ]
    if can_start:
        routes += [Route("/api/start", site.start, methods=["POST"]), Route("/api/stop", site.stop, methods=["POST"])]
    guard = Middleware(Guard, token=token, hosts=hosts)
    app = Starlette(routes=routes, middleware=[guard], exception_handlers={StreamgaugeError: _told})
    app.state.jobs = jobs
    return app


@cache
def _assets() -> dict[str, bytes]:
    """Read the files of the page; those of uPlot are those of the report."""
    own = files("streamgauge.serve").joinpath("assets")
    scripts = sorted(path.name for path in own.iterdir() if path.name.endswith(".js"))
    shared = files("streamgauge.reports").joinpath("assets")
    return {
        **{name: own.joinpath(name).read_bytes() for name in (*_OWN, *scripts)},
        **{name: shared.joinpath(name).read_bytes() for name in _UPLOT},
    }


def _asset_of(name: str) -> Callable[[Request], Response]:
    content = _assets()[name]
    seal = f'"{sha256(content).hexdigest()[:24]}"'
    headers = {"etag": seal, "cache-control": "no-cache"}
    kind = _TYPES[name.rpartition(".")[2]]

    def answer(request: Request) -> Response:
        if request.headers.get("if-none-match") == seal:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    return answer


def _told(_: Request, error: Exception) -> Response:
    return PlainTextResponse(str(error), status_code=400)


def _asked(request: Request, name: str) -> str:
    text = request.query_params.get(name)
    if text is None:
        raise _refuse(name)
    return text


def _number(request: Request, name: str, usual: float, most: float = math.inf) -> float:
    text = request.query_params.get(name)
    try:
        number = usual if text in {None, ""} else float(str(text))
    except ValueError:
        raise _refuse(name) from None
    if math.isnan(number) or number > most:
        raise _refuse(name)
    return number


def _refuse(name: str) -> StreamgaugeError:
    return StreamgaugeError(f"the address lacks {name}, or it is no such thing")


def _panel(text: str) -> Panel:
    try:
        return Panel.of(json.loads(text))
    except (json.JSONDecodeError, RecursionError):
        return Panel.of(None)


async def _sent(request: Request) -> dict[str, Any]:
    """Read what a page sends: a JSON object of moderate length."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise HTTPException(413, "that is too long")
    try:
        wanted = json.loads(body)
    except (ValueError, RecursionError):
        wanted = None
    if not isinstance(wanted, dict):
        raise HTTPException(400, "send a JSON object")
    return wanted


def _chained(first: str, rest: Any) -> Any:  # noqa: ANN401
    yield first
    yield from rest
