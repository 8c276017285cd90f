"""Access control: a layer around the whole application, for pages and WebSockets alike."""

import hmac
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamgauge.serve.service_log import LOGGER

__all__ = ["HEALTH", "Guard", "is_loopback", "is_same_origin"]

COOKIE = "streamgauge"
HEALTH = "/health"
"""Path that answers whether the server works, without a token and under any host name."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
"""Headers of every response: the page may run, load and contact nothing but this server."""


def is_loopback(host: str) -> bool:
    """Return whether a host name stands for this machine only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host.strip("[]").lower() in LOOPBACK


class Guard:
    """Middleware that refuses unauthorised requests.

    Without a token, requests must name this machine in the Host header, which stops DNS rebinding. With a token,
    requests must present it: once in the address (``/?token=...``), then as a cookie, or as ``Authorization: Bearer
    ...``. WebSockets and all methods but GET and HEAD must also come from this page (same origin). ``GET /health`` is
    answered to everybody.

    Parameters
    ----------
    app
        The application behind the guard.
    token
        The token; None for none.
    hosts
        Further host names of this server.
    """

    def __init__(self, app: ASGIApp, token: str | None = None, hosts: Iterable[str] = ()) -> None:
        self._app, self._token = app, token
        self._hosts = LOOPBACK | {host.strip("[]").lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        send_logged = _log_status(scope, _add_headers(send))
        response: Response | None
        if scope["path"] == HEALTH and scope.get("method") == "GET":
            response = None
        elif self._token is not None and _find_token(scope) is not None and scope["type"] == "http":
            response = self._log_in(scope)
        else:
            refusal = self._find_refusal(scope, headers)
            response = None if refusal is None else PlainTextResponse(refusal[1], status_code=refusal[0])
        if response is None:
            await self._app(scope, receive, send_logged)
        elif scope["type"] == "websocket":
            _log(scope, 403)
            await send({"type": "websocket.close", "code": 1008})
        else:
            await response(scope, receive, send_logged)

    def _log_in(self, scope: Scope) -> Response:
        """Exchange the token in an address for a cookie, so that it appears in no history and no log."""
        if not self._is_token(_find_token(scope) or ""):
            return PlainTextResponse("the token is wrong", status_code=403)
        response = RedirectResponse(scope["path"], status_code=303)
        secure = scope.get("scheme") == "https"
        response.set_cookie(COOKIE, self._cookie, httponly=True, samesite="strict", secure=secure)
        return response

    def _find_refusal(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        """Return status and reason for refusing a request; None if it is allowed."""
        host = headers.get("host", "")
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._token is None:
            if _split_address(f"//{host}")[1] not in self._hosts:
                return 400, "this server does not have that host name"
            has_token = False
        else:
            has_token = self._is_token(bearer)
            if not has_token and not self._has_cookie(headers):
                return 401, "a token is needed: open the address that the server printed when it started"
        changes = scope["type"] == "websocket" or scope["method"] not in {"GET", "HEAD"}
        if changes and not has_token and not is_same_origin(headers.get("origin"), host):
            return 403, "only the page of this server may do this"
        return None

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), (self._token or "").encode()) and bool(self._token)

    @property
    def _cookie(self) -> str:
        """The value of the cookie, a MAC of the token: it stays valid after a restart with the same token."""
        return hmac.digest((self._token or "").encode(), b"streamgauge dashboard", "sha256").hex()

    def _has_cookie(self, headers: Mapping[str, str]) -> bool:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self._cookie.encode())


def _find_token(scope: Scope) -> str | None:
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return query["token"][0] if "token" in query else None


def _split_address(address: str) -> tuple[str, str, str]:
    """Return scheme, host name and host with port of an address; empty texts if it is none."""
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname or "", parts.netloc.lower()
    except ValueError:
        return "", "", ""


def is_same_origin(origin: str | None, host: str) -> bool:
    """Return whether a page of an origin belongs to the host that a request names.

    Examples
    --------
    >>> is_same_origin("http://127.0.0.1:8765", "127.0.0.1:8765"), is_same_origin("http://[", "127.0.0.1:8765")
    (True, False)
    """
    scheme, _, netloc = _split_address(origin or "")
    return scheme in {"http", "https"} and bool(host) and netloc == host.lower()


def _add_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return send_with_headers


def _log_status(scope: Scope, send: Send) -> Send:
    async def send_and_log(message: Message) -> None:
        if message["type"] == "http.response.start":
            _log(scope, message["status"])
        await send(message)

    return send_and_log


def _log(scope: Scope, status: int) -> None:
    """Log a request without its query, which may contain the token."""
    client = scope["client"][0] if scope.get("client") else "unknown"
    line = ("%s %s %.200r: %d", client, scope.get("method", "WEBSOCKET"), scope["path"], status)
    if status >= 500:
        LOGGER.error(*line)
    elif status in {400, 401, 403}:
        LOGGER.warning(*line)
    else:
        LOGGER.info(*line)
