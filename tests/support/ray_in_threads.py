"""A stand-in for Ray: each actor is a thread of this process, with a second one for its control calls."""

import pickle
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

__all__ = ["ActorDiedError", "RayInThreads"]


class RayError(Exception):
    """Any error of Ray."""


class RayTaskError(RayError):
    """An error that was raised in an actor."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause, self.traceback_str = cause, str(cause)


class ActorDiedError(RayError):
    """The actor of a call has died."""

    actor_init_failed = False


class _Handle:
    """An actor; `before` is called with its number, the method and the arguments before each call."""

    def __init__(self, owner: "RayInThreads", make: Callable[[], object]) -> None:
        self.owner, self.index, self.dead = owner, len(owner.actors), False
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self._threads = {group: ThreadPoolExecutor(1) for group in ("", "control")}
        self._actor = self._threads[""].submit(make)

    def __getattr__(self, name: str) -> Any:
        return _Method(self, name, "")

    def submit(self, name: str, group: str, arguments: tuple[Any, ...]) -> "Future[Any]":
        self.calls.append((name, arguments))
        return self._threads[group].submit(self._run, name, arguments)

    def _run(self, name: str, arguments: tuple[Any, ...]) -> Any:
        if not self.dead:
            self.owner.before(self, name, arguments)
        if self.dead:
            raise ActorDiedError
        try:
            values = [value.result() if isinstance(value, Future) else value for value in arguments]
            return getattr(self._actor.result(), name)(*pickle.loads(pickle.dumps(values)))
        except Exception as error:
            raise RayTaskError(error) from error


class _Method:
    """A method of an actor."""

    def __init__(self, handle: _Handle, name: str, group: str) -> None:
        self._handle, self._name, self._group = handle, name, group

    def options(self, *, concurrency_group: str) -> "_Method":
        return _Method(self._handle, self._name, concurrency_group)

    def remote(self, *arguments: Any) -> "Future[Any]":
        return self._handle.submit(self._name, self._group, arguments)


class RayInThreads:
    """The part of Ray that the backend uses."""

    exceptions = SimpleNamespace(
        RayError=RayError, RayTaskError=RayTaskError, RayActorError=ActorDiedError, GetTimeoutError=TimeoutError
    )

    def __init__(self) -> None:
        self.actors: list[_Handle] = []
        self.before: Callable[[_Handle, str, tuple[Any, ...]], object] = lambda *_: None

    def is_initialized(self) -> bool:
        return True

    def put(self, value: object) -> "Future[Any]":
        future: Future[Any] = Future()
        future.set_result(value)
        return future

    def get(self, future: "Future[Any]", timeout: float | None = None) -> Any:
        return future.result(timeout)

    def wait(self, futures: "list[Future[Any]]", timeout: float) -> "tuple[list[Future[Any]], list[Future[Any]]]":  # noqa: ARG002
        return [future for future in futures if future.done()], []

    def kill(self, handle: _Handle) -> None:
        handle.dead = True

    def remote(self, **_: object) -> Callable[[type], Any]:
        def decorate(actor: type) -> Any:
            def make(*arguments: Any) -> _Handle:
                values = [value.result() if isinstance(value, Future) else value for value in arguments]
                self.actors.append(_Handle(self, lambda: actor(*values)))
                return self.actors[-1]

            made = SimpleNamespace(remote=make)
            made.options = lambda **_: made
            return made

        return decorate
