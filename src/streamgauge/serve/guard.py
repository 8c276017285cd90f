"""Who may ask for what: a layer round the whole application, for pages and sockets alike."""

import hmac
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "is_loopback"]

COOKIE = "streamgauge"
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
"""What every answer carries: the page may run, load and talk to nothing but this server."""


def is_loopback(host: str) -> bool:
    """Say whether a name stands for this machine alone.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("[::1]"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host.strip("[]").lower() in LOOPBACK


class Guard:
    """Lets through who may come in.

    Without a token, only who calls this machine by a name of its own: a page of another site that was led here by a
    false address is refused. With one, only who has it: in the address once (``/?token=...``), then in a cookie, or as
    ``Authorization: Bearer ...``. Sockets and whatever changes something must come from this very page.

    Parameters
    ----------
    app
        What is guarded.
    token
        The token; None for none.
    hosts
        Further names that this server is called by.
    """

    def __init__(self, app: ASGIApp, token: str | None = None, hosts: Iterable[str] = ()) -> None:
        self._app, self._token = app, token
        self._hosts = LOOPBACK | {host.strip("[]").lower() for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        answer: Response | None
        if self._token is not None and _token_in(scope) is not None and scope["type"] == "http":
            answer = self._let_in(scope)
        else:
            reason = self._reason_against(scope, headers)
            answer = None if reason is None else PlainTextResponse(reason[1], status_code=reason[0])
        if answer is None:
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer(scope, receive, _with_headers(send))

    def _let_in(self, scope: Scope) -> Response:
        """Change the token in an address for a cookie, so that it stands in no history and no log."""
        if not self._is_token(_token_in(scope) or ""):
            return PlainTextResponse("this token is not the right one", status_code=403)
        answer = RedirectResponse(scope["path"], status_code=303)
        secure = scope.get("scheme") == "https"
        answer.set_cookie(COOKIE, self._sealed, httponly=True, samesite="strict", secure=secure)
        return answer

    def _reason_against(self, scope: Scope, headers: Mapping[str, str]) -> tuple[int, str] | None:
        host = headers.get("host", "")
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._token is None:
            if (urlsplit(f"//{host}").hostname or "") not in self._hosts:
                return 400, "this server is not called by that name"
            has_key = False
        else:
            has_key = self._is_token(bearer)
            if not has_key and not self._has_cookie(headers):
                return 401, "a token is needed: open the address that the server printed when it started"
        changes = scope["type"] == "websocket" or scope["method"] not in {"GET", "HEAD"}
        if changes and not has_key and not _is_of_this_page(headers.get("origin"), host):
            return 403, "this is only for the page of this server"
        return None

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(), (self._token or "").encode()) and bool(self._token)

    @property
    def _sealed(self) -> str:
        """What stands in the cookie: it proves that its owner knew the token, also after a restart."""
        return hmac.digest((self._token or "").encode(), b"streamgauge dashboard", "sha256").hex()

    def _has_cookie(self, headers: Mapping[str, str]) -> bool:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return found is not None and hmac.compare_digest(found.value.encode(), self._sealed.encode())


def _token_in(scope: Scope) -> str | None:
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return query["token"][0] if "token" in query else None


def _is_of_this_page(origin: str | None, host: str) -> bool:
    parts = urlsplit(origin or "")
    return parts.scheme in {"http", "https"} and bool(host) and parts.netloc.lower() == host.lower()


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sending
