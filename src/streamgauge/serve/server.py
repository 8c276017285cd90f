"""The server of the dashboard."""

import asyncio
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.serve.run_folders import RunFolders

__all__ = ["Settings", "serve"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")


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

    def __post_init__(self) -> None:
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
    """Serve the page of the runs in a folder until Ctrl-C.

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
    except ImportError as error:
        msg = f"the dashboard needs {error.name}: pip install 'streamgauge[serve]'"
        raise StreamgaugeError(msg) from None
    app = create_app(run_folders, token=settings.token, can_start=settings.can_start)
    config = uvicorn.Config(
        app, log_level="warning", ws="websockets-sansio", ws_max_size=65_536, server_header=False, lifespan="off"
    )
    with _listen(settings) as listener:
        server = uvicorn.Server(config)
        asyncio.run(_run(server, listener, settings, on_ready))


class _Server(Protocol):
    """The part of uvicorn's server that is used."""

    started: bool
    should_exit: bool

    async def serve(self, sockets: list[socket.socket]) -> None: ...


async def _run(server: _Server, listener: socket.socket, settings: Settings, on_ready: Callable[[str], object]) -> None:
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    on_ready(settings.build_address(listener.getsockname()[1]))
    while not serving.done():
        await asyncio.wait((serving,), timeout=1.0)
        if settings.parent is not None and os.getppid() != settings.parent:
            server.should_exit = True
    await serving


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
