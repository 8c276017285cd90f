"""The server of the dashboard."""

import asyncio
import ctypes
import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.serve.run_folders import RunFolders
from streamgauge.serve.service_log import LEVELS, LOGGER, open_log
from streamgauge.streams.live.connections import ConnectionTable, count_affordable

__all__ = ["Settings", "serve"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MAX_WAITING = 1_024
"""Largest number of connections that wait to be accepted."""

MAX_THREADS = 8
"""Largest number of requests that are answered at once: what each thread has once needed stays its memory."""

M_ARENA_MAX = -8
"""The parameter of glibc for the most arenas."""

SHUTDOWN_SECONDS = 5
"""Most seconds for which a server that ends finishes requests."""


@dataclass(frozen=True)
class Settings:
    """Settings of the server.

    Parameters
    ----------
    host
        Address to listen on; by default only this machine can connect.
    port
        Port to listen on; 0 picks a free one.
    token
        Secret that a page must present, of at least 16 characters. On any address but this machine one is required,
        and generated if missing.
    can_start
        Whether a page may start and stop runs.
    parent
        Id of the process with which the server ends; None for none.
    log_file
        File to which the log is appended, rotated at 10 MB; None for standard error.
    log_level
        Least level of what is logged: debug, info (requests and starts), warning (refusals) or error.

    Examples
    --------
    >>> Settings().token is None, len(Settings(host="0.0.0.0").token)
    (True, 43)
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    can_start: bool = True
    parent: int | None = None
    log_file: Path | None = None
    log_level: str = "warning"

    def __post_init__(self) -> None:
        if self.log_level not in LEVELS:
            msg = f"log_level {self.log_level!r}: it must be one of {', '.join(LEVELS)}"
            raise StreamgaugeError(msg)
        require_between("port", self.port, 0, 65_535, open_low=False)
        if self.token is not None and len(self.token) < 16:
            msg = "the token is too short: it needs at least 16 characters"
            raise StreamgaugeError(msg)
        if self.token is None and self.host not in LOOPBACK:
            object.__setattr__(self, "token", secrets.token_urlsafe(32))

    def build_address(self, port: int) -> str:
        """Return the address of the page at a port.

        Examples
        --------
        >>> Settings().build_address(8765)
        'http://127.0.0.1:8765/'
        """
        host = socket.gethostname() if self.host in {"0.0.0.0", "::"} else self.host
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{port}/" + (f"?token={self.token}" if self.token else "")


def serve(folder: Path | str, settings: Settings = Settings(), on_ready: Callable[[str], object] = print) -> None:
    """Serve the page of the runs in a folder until Ctrl-C, SIGTERM or SIGHUP.

    Parameters
    ----------
    folder
        The results folder.
    settings
        Address, port, token and permissions.
    on_ready
        Called with the address once the page can be opened.
    """
    run_folders = RunFolders(folder)
    try:
        import uvicorn  # noqa: PLC0415
        import websockets  # noqa: F401, PLC0415

        from streamgauge.serve.app import create_app  # noqa: PLC0415
        from streamgauge.serve.connections import MAX_CONNECTIONS, make_protocol  # noqa: PLC0415
    except ImportError as error:
        msg = f"the dashboard needs {error.name}: pip install 'streamgauge[serve]'"
        raise StreamgaugeError(msg) from None
    app = create_app(run_folders, token=settings.token, can_start=settings.can_start)
    table = ConnectionTable(max_connections=count_affordable(MAX_CONNECTIONS))
    config = uvicorn.Config(
        app,
        http=make_protocol(table),
        ws="websockets-sansio",
        ws_max_size=65_536,
        log_config=None,
        access_log=False,  # it would write the token of an address into the log
        server_header=False,
        lifespan="off",
        backlog=table.max_connections // 4,  # accepted before any that gives way is closed
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    _limit_arenas()
    with open_log(settings.log_file, settings.log_level), _listen(settings) as listener:
        server = uvicorn.Server(config)
        asyncio.run(_run(server, listener, table, settings, on_ready))
        LOGGER.info("stopped")


class _Server(Protocol):
    """The part of uvicorn's server that is used."""

    started: bool
    should_exit: bool

    async def serve(self, sockets: list[socket.socket]) -> None: ...


async def _run(
    server: _Server,
    listener: socket.socket,
    table: ConnectionTable,
    settings: Settings,
    on_ready: Callable[[str], object],
) -> None:
    from anyio import to_thread  # noqa: PLC0415  (of the optional server)

    to_thread.current_default_thread_limiter().total_tokens = MAX_THREADS
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    if serving.done():
        return await serving
    listener.listen(MAX_WAITING)
    if sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, _stop, server)
    LOGGER.info("serving %s", settings.build_address(listener.getsockname()[1]).partition("?")[0])
    on_ready(settings.build_address(listener.getsockname()[1]))
    n_closed = 0
    while not serving.done():
        await asyncio.wait((serving,), timeout=1.0)
        table.close_overdue()
        if table.n_closed > n_closed:
            LOGGER.warning("%d connections of slow clients closed", table.n_closed - n_closed)
            n_closed = table.n_closed
        if settings.parent is not None and os.getppid() != settings.parent:
            _stop(server)
        if server.should_exit:
            table.close_waiting()
    return await serving


def _stop(server: _Server) -> None:
    server.should_exit = True


def _limit_arenas() -> None:
    """Have all threads allocate from two arenas: of each that glibc opens, the most it ever needed stays."""
    with suppress(AttributeError, OSError, TypeError):  # other systems
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        msg = f"cannot listen on {settings.host}, port {settings.port}: {error.strerror}; try another --port, or 0"
        raise StreamgaugeError(msg) from None
    return listener
