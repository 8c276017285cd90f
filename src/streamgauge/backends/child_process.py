"""Processes that answer messages: they run the cells of a run, or the runs of an experiment.

A child gets messages on standard input and replies on its standard output; what its learners print goes to standard
error. It ends when its pipe is closed, and so when its parent dies. What it is to do is a function, which its parent
sends first.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any, BinaryIO, cast

from streamgauge.backends.messages import receive, send
from streamgauge.errors import StreamgaugeError
from streamgauge.learners.call_limit import interrupt_waits

__all__ = ["ChildProcess", "Serve", "pickle_by_value"]

Serve = Callable[[BinaryIO, BinaryIO], None]
"""What a child does: it receives from the first pipe and sends into the second until EOFError."""

COMMAND = "from streamgauge.backends.child_process import main; main()"


class ChildProcess:
    """A process that answers messages, as its parent sees it.

    Parameters
    ----------
    serve
        What it does: a function of a module.
    on_reply
        Called in another thread with every reply at once, so that no child waits until its reply is read, and with None
        when there are no more.
    """

    def __init__(self, serve: Serve, on_reply: Callable[[Any], object]) -> None:
        # Sets of strings have the same order in every child; Ctrl-C reaches the parent only.
        environment = {"PYTHONHASHSEED": "0", **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._process = subprocess.Popen(
            [sys.executable, "-c", COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self._requests, self._replies = cast("BinaryIO", self._process.stdin), cast("BinaryIO", self._process.stdout)
        Thread(target=self._listen, args=(on_reply,), name="streamgauge-listener", daemon=True).start()
        self.send(sys.path)
        self.send(serve)

    def _listen(self, on_reply: Callable[[Any], object]) -> None:
        with suppress(EOFError, OSError, ValueError):
            while True:
                on_reply(receive(self._replies))
        on_reply(None)

    def send(self, message: object) -> None:
        """Send a message; none arrives if the child is dead, which the end of its replies says."""
        with suppress(BrokenPipeError):
            send(self._requests, message)

    def interrupt(self) -> None:
        """Stop what it does as Ctrl-C does."""
        if sys.platform != "win32":  # where Ctrl-C reaches all processes of a terminal
            self._process.send_signal(signal.SIGINT)

    def describe_death(self) -> str:
        """Return how it died, after the end of its replies."""
        code = self._process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"

    def close(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._requests, self._replies):
            with suppress(OSError):
                pipe.close()


def pickle_by_value(thing: object, describe: Callable[[], str], remedy: str) -> bytes:
    """Pickle a thing with what no other process could import; an error names what `describe` returns, and a remedy.

    Examples
    --------
    >>> from threading import Lock
    >>> pickle_by_value(Lock(), lambda: "the lock", "use none")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: the lock cannot be sent to another process: TypeError: ...; use none
    """
    import cloudpickle  # noqa: PLC0415  (slow to import)

    try:
        return cast("bytes", cloudpickle.dumps(thing, protocol=5))
    except Exception as error:
        msg = f"{describe()} cannot be sent to another process: {type(error).__name__}: {error}; {remedy}"
        raise StreamgaugeError(msg) from error


def main() -> None:
    """Serve until the pipe is closed; this is the child."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    interrupt_waits()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    try:
        import cloudpickle  # noqa: PLC0415, F401  (needed to unpickle what it has pickled)

        sys.path[:] = receive(requests)
        serve: Serve = receive(requests)
        serve(requests, replies)
    except (EOFError, BrokenPipeError):
        pass  # the parent has ended
    except KeyboardInterrupt:
        pass  # the parent handles it
    os._exit(0)  # without waiting for threads that learners have left running
