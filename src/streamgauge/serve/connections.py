"""Connections of the dashboard: a slow or silent client cannot shut others out."""

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from streamgauge.streams.live.connections import ConnectionTable

__all__ = ["BODY_SECONDS", "HEADER_SECONDS", "MAX_CONNECTIONS", "make_protocol"]

MAX_CONNECTIONS = 512
"""The most open connections without those of open pages; one more replaces that which has waited longest."""

HEADER_SECONDS = 15.0
"""The most time until a connection has sent the header of its next request."""

BODY_SECONDS = 15.0
"""The most time for the body of a request."""

STALL_SECONDS = 60.0
"""The most time for which a client may not read its response."""


class _LimitedProtocol(H11Protocol):
    """A connection that is in the table while it waits for its client."""

    table: ClassVar[ConnectionTable]
    _phase = "header"

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401
        super().connection_made(transport)
        self.table.add(self, transport.abort, seconds=HEADER_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self.table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.transport.get_protocol() is not self:  # it has become the WebSocket of a page
            self.table.remove(self)
            return
        self.table.touch(self)
        self._note_phase()

    def on_response_complete(self) -> None:
        self._note_phase()
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.table.wait(self, STALL_SECONDS)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.table.work(self)

    def _note_phase(self) -> None:
        """Note what the connection waits for, if that has changed."""
        if self.cycle is None or self.cycle.response_complete:
            phase = "header"
        else:
            phase = "body" if self.cycle.more_body else "response"
        if phase == self._phase:
            return
        self._phase = phase
        if phase == "response":
            self.table.work(self)
        else:
            self.table.wait(self, HEADER_SECONDS if phase == "header" else BODY_SECONDS)


def make_protocol(table: ConnectionTable) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol with the limits of a table."""
    return type("Protocol", (_LimitedProtocol,), {"table": table})
