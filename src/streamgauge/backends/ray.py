"""Ray: cells on the cores of a cluster, one actor a core.

Actors keep nothing that is not kept here as well: states that are fetched now and then, and the orders since. When an
actor dies, with its node or alone, another takes over its last state elsewhere and carries out these orders again.
"""

import os
import pickle
import sys
import time
import warnings
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np

from streamgauge._engine.batch_plan import BatchPlan, BatchResult, RowRange, SavedStates
from streamgauge._engine.cell_group import CellGroup
from streamgauge._engine.executor import Executor
from streamgauge._engine.run_spec import PlanMaker, RunSpec
from streamgauge.backends.messages import packed, packed_answer, unpacked, unpacked_answer
from streamgauge.backends.processes import described_by_bytes, shared_out
from streamgauge.errors import StreamgaugeError, require_at_least, require_between
from streamgauge.learners.adapters.libraries import library

__all__ = ["Ray"]

MOST_ORDERS = 32
"""So many orders are kept at most for actors that must start again; then states are fetched."""

MOST_DEATHS = 3
"""An actor that dies so often in a row, without an answer between, is not started again."""

PATIENCE = 120.0
"""So many seconds may pass until the cluster has found a place for all actors."""


@dataclass(frozen=True)
class Ray:
    """Run cells on a Ray cluster: one actor per core, each with a group of cells.

    Each batch is put into the object store once, and no more than three are on their way at a time. Nodes may die:
    their cells go on elsewhere from states that are fetched now and then, and the results stay the same to the last
    bit.

    Parameters
    ----------
    address
        The address of a cluster, such as ``10.0.0.1:6379`` or ``auto``; ``local`` for one that is started on this
        machine; None for that of the variable ``RAY_ADDRESS`` or, where there is none, ``local``.
    n
        How many actors; None for one per core of the cluster. The results do not depend on it.
    save_every
        After how many seconds the states of all cells are fetched, so that they can go on elsewhere.
    rows
        "sent": every batch is put into the object store; "made": every actor makes or reads the rows itself, for
        which all nodes must see the stream alike, such as a file on a disk that they share. None for "made" where the
        stream is computed.
    options
        Options of the actors, as for ``ray.remote``: ``{"resources": {"highmem": 1}}``.

    Examples
    --------
    >>> Ray("10.0.0.1:6379", n=64)
    Ray(address='10.0.0.1:6379', n=64, save_every=20.0, rows=None, options={})
    """

    address: str | None = None
    n: int | None = None
    save_every: float = 20.0
    rows: Literal["sent", "made"] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.n is not None:
            require_at_least("actors", self.n, 1)
        require_between("save_every", self.save_every, 0.0, float("inf"))

    @contextmanager
    def host(self, run_spec: RunSpec) -> Iterator[Executor]:
        """Place the cells on the cluster for the length of a run."""
        ray = library("ray", "ray")
        with _connected(ray, self.address):
            n = self.n or max(1, int(ray.cluster_resources().get("CPU", 1)))
            made = run_spec.source is not None and (
                run_spec.source.is_made if self.rows is None else self.rows == "made"
            )
            crews = shared_out(run_spec, n, with_source=made)
            actors = [_Actor(ray, of_actor, self.options) for of_actor in crews]
            try:
                _wait_until_ready(ray, actors)
                yield _Cluster(ray, actors, self.save_every, made=made)
            finally:
                for actor in actors:
                    actor.end()


@contextmanager
def _connected(ray: Any, address: str | None) -> Iterator[None]:  # noqa: ANN401
    """Connect to a cluster, unless this process is connected; a connection that was made is closed."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    is_there = (address or os.environ.get("RAY_ADDRESS", "local")) != "local"
    started = {} if is_there else {"include_dashboard": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Ray, about its own future
            ray.init(address, log_to_driver=False, logging_level="error", **started)
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        where = address or os.environ.get("RAY_ADDRESS", "this machine")
        reason = str(error).strip().partition("\n")[0]
        msg = f"no Ray cluster at {where}: {reason}; 'ray status' tells whether one is there"
        raise StreamgaugeError(msg) from error
    try:
        yield
    finally:
        ray.shutdown()


class _Cells:
    """What runs on the cluster: a group of cells."""

    def __init__(self, description: bytes, folders: list[str]) -> None:
        sys.path += [folder for folder in folders if folder not in sys.path and Path(folder).exists()]
        run_spec: RunSpec = pickle.loads(description)
        self._group = CellGroup(run_spec)
        self._maker = None if run_spec.source is None else run_spec.source.opened()
        self._n_done = 0

    def ready(self) -> None:
        """Answer when the cells are built."""

    def run_plan(self, number: int, parcel: "tuple[bytes, list[Any]] | RowRange") -> bytes:
        """Carry out an order; its number says whether it is the next one for the state that the cells are in."""
        if number != self._n_done:
            msg = f"order {number} came to an actor that has carried out {self._n_done}"
            raise RuntimeError(msg)
        self._n_done = -1  # unless it gets to its end
        order = cast("PlanMaker", self._maker).order(parcel) if isinstance(parcel, RowRange) else unpacked(*parcel)
        answer = packed_answer(self._group.run_plan(order), order)
        self._n_done = number + 1
        return answer

    def save(self) -> tuple[SavedStates, bytes | None]:
        return self._group.save(), None if self._maker is None else self._maker.save()

    def load(self, n_done: int, state: tuple[SavedStates, bytes | None], trusted: bool) -> None:  # noqa: FBT001
        self._n_done = -1
        saved, of_maker = state
        self._group.load(saved, trusted=trusted)
        if self._maker is not None and of_maker is not None:
            self._maker.load(of_maker)
        self._n_done = n_done


@dataclass
class _Open:
    """An order that was given and not taken back yet: what carries it, and the answer to come."""

    parcel: Any
    answer: Any


class _Actor:
    """An actor, seen from here, with all that another one needs to take over."""

    def __init__(self, ray: Any, run_spec: RunSpec, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        self._ray, self._crew, self._options = ray, run_spec, options
        self._description = ray.put(described_by_bytes(run_spec))
        self._saved: tuple[int, Any, bool] | None = None  # after how many orders, the state, whether to trust it
        self._n_given = 0
        self._since: deque[Any] = deque()  # the orders answered since that state was saved
        self._open: deque[_Open] = deque()
        self._saving: tuple[Any, int] | None = None
        self._n_deaths = 0
        self._handle = self._placed(1)

    def _placed(self, n_cores: float) -> Any:  # noqa: ANN401
        """Have an actor placed on a node; one that takes over needs no core of its own, for there may be none left."""
        options = {"num_cpus": n_cores, "scheduling_strategy": "SPREAD", **self._options}
        return self._ray.remote(_Cells).options(**options).remote(self._description, sys.path)

    def wait_until_ready(self, seconds: float) -> None:
        self._wait_for(self._handle.ready.remote(), seconds)

    def _wait_for(self, answer: Any, seconds: float | None = None) -> None:  # noqa: ANN401
        """Wait for what comes before the first order, wherever it is done."""
        errors = self._ray.exceptions
        while True:
            try:
                self._ray.get(answer, timeout=seconds)
            except errors.RayTaskError as error:
                raise _told(error) from None
            except errors.GetTimeoutError:
                raise
            except errors.RayError as error:
                _require_startable(self._ray, error)
                self._start_again(error)
                answer = self._handle.ready.remote()
            else:
                return

    @property
    def learners(self) -> str:
        return ", ".join(dict.fromkeys(name for name, _ in self._crew.cells))

    def give(self, parcel: Any) -> None:  # noqa: ANN401
        self._open.append(_Open(parcel, self._handle.run_plan.remote(self._n_given, parcel)))
        self._n_given += 1

    def load(self, saved: Any, *, trusted: bool) -> None:  # noqa: ANN401
        self._saved = (0, saved, trusted)
        self._wait_for(self._handle.load.remote(*self._saved))

    def take(self, order: BatchPlan) -> BatchResult:
        answer = self._answer()
        self._since.append(self._open.popleft().parcel)
        self._n_deaths = 0
        return unpacked_answer(answer, order)

    def _answer(self) -> bytes:
        """Wait for the oldest open order, wherever it is carried out."""
        while True:
            try:
                answer: bytes = self._ray.get(self._open[0].answer)
            except self._ray.exceptions.RayTaskError as error:
                raise _told(error) from None
            except self._ray.exceptions.RayError as error:
                self._start_again(error)
            else:
                return answer

    def _start_again(self, error: Exception) -> None:
        self._n_deaths += 1
        if self._n_deaths > MOST_DEATHS:
            reason = str(error).strip().partition("\n")[0]
            msg = f"an actor died {self._n_deaths} times in a row while it ran {self.learners}: {reason}"
            raise StreamgaugeError(msg) from error
        self.end()
        self._saving = None
        self._handle = self._placed(0)
        if self._saved is not None:
            self._handle.load.remote(*self._saved)
        again = [*self._since, *(one.parcel for one in self._open)]
        first = self._n_given - len(again)
        answers = [self._handle.run_plan.remote(first + place, parcel) for place, parcel in enumerate(again)]
        for one, answer in zip(self._open, answers[len(self._since) :], strict=True):
            one.answer = answer

    def save(self) -> None:
        """Ask for the state after all that was given; it comes when it is there."""
        if self._saving is None:
            self._saving = (self._handle.save.remote(), len(self._since) + len(self._open))

    def fetch(self, *, wait: bool = False) -> None:
        """Take the state that was asked for, if it is there."""
        if self._saving is None:
            return
        state, n_orders = self._saving
        there = len(self._since) >= n_orders and (wait or self._ray.wait([state], timeout=0)[0])
        if not there:
            return
        self._saving = None
        try:
            saved = self._ray.get(state)
        except self._ray.exceptions.RayTaskError as error:
            raise _told(error) from None
        except self._ray.exceptions.RayError:
            return  # it has died; the next answer will tell
        n_done = self._n_given - len(self._open) - len(self._since) + n_orders
        self._saved = (n_done, self._ray.put(saved), True)
        for _ in range(n_orders):
            self._since.popleft()

    def end(self) -> None:
        with suppress(Exception):  # it may have died, or the cluster with it
            self._ray.kill(self._handle)


def _told(error: Any) -> Exception:  # noqa: ANN401
    """Give the error of an actor as it was raised there."""
    cause = error.cause
    if not isinstance(cause, Exception):
        return RuntimeError(str(error))
    cause.add_note(f"in an actor:\n{error.traceback_str}")
    return cause


def _wait_until_ready(ray: Any, actors: list[_Actor]) -> None:  # noqa: ANN401
    deadline = time.monotonic() + PATIENCE
    try:
        for actor in actors:
            actor.wait_until_ready(max(0.0, deadline - time.monotonic()))
    except ray.exceptions.GetTimeoutError:
        free = ray.available_resources().get("CPU", 0)
        msg = (
            f"the cluster has not found places for {len(actors)} actors in {PATIENCE:.0f} s ({free:.0f} cores are free)"
        )
        raise StreamgaugeError(msg) from None


def _require_startable(ray: Any, error: Exception) -> None:  # noqa: ANN401
    """Raise where an actor did not die but can never be built, however often one tries."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, ray.exceptions.RayTaskError):
        raise _told(cause) from None
    reason = str(error).strip().splitlines()[-1]
    if "ModuleNotFound" in reason:
        msg = f"an actor could not be started: {reason}; give Ray(options={{'runtime_env': {{'working_dir': '.'}}}})"
        raise StreamgaugeError(msg) from error


class _Cluster:
    """Hosts a group in each of several actors."""

    depth: ClassVar[int] = 3
    reads_ahead: ClassVar[bool] = True

    def __init__(self, ray: Any, actors: list[_Actor], save_every: float, *, made: bool) -> None:  # noqa: ANN401
        self._ray, self._actors, self._save_every, self._made = ray, actors, save_every, made
        self._given: deque[BatchPlan] = deque()
        self._n_given, self._saved_at = 0, time.monotonic()

    def give(self, order: BatchPlan) -> None:
        parcel = self._parcel(order)
        for actor in self._actors:
            actor.give(parcel)
        self._given.append(order)
        self._n_given += 1
        if self._n_given >= MOST_ORDERS or time.monotonic() - self._saved_at >= self._save_every:
            self._n_given, self._saved_at = 0, time.monotonic()
            for actor in self._actors:
                actor.fetch(wait=True)
                actor.save()

    def _parcel(self, order: BatchPlan) -> Any:  # noqa: ANN401
        """Give what carries an order: its rows, in the object store, or how to make them."""
        if self._made and order.batch is not None and order.batch.start >= 0:
            asked = (order.reading_rows, order.n_done, order.keeps, order.confused)
            return RowRange(order.batch.start, len(order.batch), *asked)
        description, columns = packed(order)
        return self._ray.put((description, [np.frombuffer(column, dtype=np.uint8) for column in columns]))

    def take(self) -> list[BatchResult]:
        order = self._given.popleft()
        results_of_groups = [actor.take(order) for actor in self._actors]
        for actor in self._actors:
            actor.fetch()
        return results_of_groups

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        self._made = False  # the labels still owed are known here alone
        state = self._ray.put((saved, None))
        for actor in self._actors:
            actor.load(state, trusted=trusted)
