"""The kinds of sinks."""

import json
import shlex
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from streamgauge.errors import StreamgaugeError, require_between
from streamgauge.sinks.delivery import PermanentError, Sink

__all__ = ["Call", "Command", "Webhook"]

RETRIED_STATUSES = (408, 425, 429)
"""The answers of a client's fault that are tried again, as those of the server's are."""


class Call(Sink):
    """Calls a function with each event, as a dictionary of plain values.

    Parameters
    ----------
    function
        The function. If it raises, it is called again later.
    options
        As for `Sink`.

    Examples
    --------
    >>> from streamgauge import Gauge
    >>> sent = []
    >>> with Gauge(budgets="error<0.2") as gauge, Call(sent.append, source="shop") as sink:
    ...     gauge.notify(sink)
    ...     gauge.update([1] * 4000, [1, 1, 0, 1] * 1000)
    ...     gauge.flush()
    >>> [(facts["source"], facts["outcome"], facts["row"]) for facts in sent]
    [('shop', 'broken', 2000)]
    """

    def __init__(self, function: Callable[[dict[str, Any]], object], **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self._function = function

    def deliver(self, facts: dict[str, Any]) -> None:
        """Call the function."""
        self._function(facts)


class Webhook(Sink):
    """Posts each event as JSON to an address.

    The id of the event is also in the header ``Idempotency-Key``. Answers from 200 to 299 mean that it was delivered;
    other faults of the request, such as 404, are not retried. Redirects are not followed.

    Parameters
    ----------
    url
        The address, with http or https.
    headers
        Further headers, such as ``{"Authorization": "Bearer ..."}``.
    timeout
        The most seconds of an attempt.
    body
        Returns what is posted, from the facts of the event; None for the facts. Slack, for instance, takes
        ``lambda facts: {"text": facts["text"]}``.
    options
        As for `Sink`.

    Examples
    --------
    >>> Webhook("https://example.org/alerts", headers={"Authorization": "Bearer secret"})
    Webhook('https://example.org')
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 10.0,
        body: Callable[[dict[str, Any]], object] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**options)
        require_between("timeout", timeout, 0.0, float("inf"))
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            msg = f"url = {url!r}: it must start with http:// or https:// and name a host"
            raise StreamgaugeError(msg)
        self._url, self._timeout, self._body = url, timeout, body
        self._headers = {"Content-Type": "application/json", **(headers or {})}
        self._opener = urllib.request.build_opener(_NoRedirects)

    def __repr__(self) -> str:
        parts = urlsplit(self._url)  # paths of webhooks are often secret
        port = "" if parts.port is None else f":{parts.port}"
        return f"Webhook('{parts.scheme}://{parts.hostname}{port}')"

    def deliver(self, facts: dict[str, Any]) -> None:
        """Post the event."""
        body = facts if self._body is None else self._body(facts)
        request = urllib.request.Request(
            self._url,
            data=json.dumps(body).encode(),
            headers={**self._headers, "Idempotency-Key": facts["id"]},
            method="POST",
        )
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                answer.read(1 << 16)
        except urllib.error.HTTPError as error:
            error.close()
            msg = f"the answer was {error.code} {error.reason}"
            if error.code < 500 and error.code not in RETRIED_STATUSES:
                raise PermanentError(msg) from None
            raise OSError(msg) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirects, which could lead to another host."""

    def redirect_request(self, *_: object) -> None:
        """Return no request."""


class Command(Sink):
    """Runs a command for each event, with the event as a line of JSON on its standard input.

    An exit status other than 0 means that it failed, and is run again later.

    Parameters
    ----------
    command
        The program with its arguments, as a list or as one text; no shell is involved.
    timeout
        The most seconds of a run.
    options
        As for `Sink`.

    Examples
    --------
    >>> Command("mail -s 'model alert' me@example.org")
    Command(['mail', '-s', 'model alert', 'me@example.org'])
    """

    def __init__(self, command: str | Sequence[str], *, timeout: float = 60.0, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        require_between("timeout", timeout, 0.0, float("inf"))
        self._command = shlex.split(command) if isinstance(command, str) else list(command)
        self._timeout = timeout
        if not self._command:
            msg = "command: it must name a program"
            raise StreamgaugeError(msg)

    def __repr__(self) -> str:
        return f"Command({self._command})"

    def deliver(self, facts: dict[str, Any]) -> None:
        """Run the command."""
        done = subprocess.run(
            self._command,
            input=json.dumps(facts).encode() + b"\n",
            capture_output=True,
            timeout=self._timeout,
            check=False,
        )
        if done.returncode:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
            msg = f"{self._command[0]} ended with status {done.returncode}: {last[0]}"
            raise OSError(msg)
