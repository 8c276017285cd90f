"""Ray: cells on the cores of a cluster, one actor a core.

The driver keeps all that is needed to replace an actor: states that are fetched regularly, and the plans since then.
When an actor dies, with its node or alone, another one loads its last state elsewhere and runs these plans again.
"""

import os
import pickle
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np

from streamgauge._engine.batch_plan import (
    BatchPlan,
    BatchResult,
    Executor,
    PlanMaker,
    RowRange,
    RunSpec,
    SavedStates,
)
from streamgauge._engine.cells import CellGroup
from streamgauge._optional import library
from streamgauge.backends.messages import pack_plan, pack_result, unpack_plan, unpack_result
from streamgauge.backends.processes import pickle_spec, split_cells
from streamgauge.errors import StreamgaugeError, require_at_least, require_between

__all__ = ["Ray"]

MAX_PLANS = 32
"""The most plans with rows kept for actors that must be replaced; then states are fetched."""

DEPTH = 3
"""How many plans may be pending if rows are sent, and at least otherwise."""

MAX_DEPTH, MAX_BYTES = 64, 256 << 20
"""How many plans may be pending if actors make the rows, and about how many bytes they may take."""

BYTES_OF_OPERATION = 64
"""What a plan takes for each of its operations, if they are not those of the rows in their order."""

CALLS, CALL_SECONDS = 4, 2.0
"""A call of an actor has at most a fourth of what may be pending, so that it always has the next one, and takes at most
about this number of seconds, so that results come often."""

MAX_FETCHING = 0.05
"""The share of the driver's time that fetching states may take if actors make the rows; then they come less often."""

CONTROL = "control"
"""The concurrency group of calls of an actor that are answered while it runs plans."""

MAX_DEATHS = 3
"""An actor that dies more often in a row, without a reply in between, is not replaced."""

START_SECONDS = 120.0
"""How long the cluster may take to place all actors."""


@dataclass(frozen=True)
class Ray:
    """Run cells on a Ray cluster: one actor per core, each with a group of cells.

    If rows are sent, each batch is put into the object store once, and at most three are pending at a time. If actors
    make the rows, they run ahead of the results: no actor waits for another one as long as it is less than `window`
    ahead. Nodes may die: their cells continue elsewhere from states that are fetched regularly, and the results stay
    the same to the last bit.

    Parameters
    ----------
    address
        The address of a cluster, such as ``10.0.0.1:6379`` or ``auto``; ``local`` to start one on this machine; None
        for the environment variable ``RAY_ADDRESS`` or, if it is not set, ``local``.
    n
        The number of actors; None for one per core of the cluster. The results do not depend on it.
    save_every
        The seconds between two fetches of the states of all cells.
    rows
        "sent": every batch is put into the object store; "made": every actor computes or reads the rows itself, so all
        nodes must see the same stream, such as a file on a shared disk. None for "made" if the stream is computed.
    window
        The seconds of work by which actors that make the rows may be ahead of the results. Those do not depend on it.
    options
        Options of the actors, as for ``ray.remote``, such as ``{"resources": {"highmem": 1}}``.

    Examples
    --------
    >>> Ray("10.0.0.1:6379", n=64)
    Ray(address='10.0.0.1:6379', n=64, save_every=20.0, rows=None, window=30.0, options={})
    """

    address: str | None = None
    n: int | None = None
    save_every: float = 20.0
    rows: Literal["sent", "made"] | None = None
    window: float = 30.0
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.n is not None:
            require_at_least("actors", self.n, 1)
        require_between("save_every", self.save_every, 0.0, float("inf"))
        require_between("window", self.window, 0.0, float("inf"), open_low=False)

    @contextmanager
    def open(self, run_spec: RunSpec) -> Iterator[Executor]:
        """Place the cells on the cluster for the length of a run."""
        ray = library("ray", "ray")
        with _connect(ray, self.address):
            n = self.n or max(1, int(ray.cluster_resources().get("CPU", 1)))
            rows = run_spec.rows
            made = rows is not None and (rows.is_computed if self.rows is None else self.rows == "made")
            specs = split_cells(run_spec, n, with_rows=made)
            actors = [_Actor(ray, spec, self.options) for spec in specs]
            try:
                _wait_until_ready(ray, actors)
                n_copies = 1 + run_spec.n_cells * run_spec.with_cell_batches
                yield _ClusterExecutor(ray, actors, self.save_every, _Window(self.window, n_copies) if made else None)
            finally:
                for actor in actors:
                    actor.end()


@contextmanager
def _connect(ray: Any, address: str | None) -> Iterator[None]:  # noqa: ANN401
    """Connect to a cluster, unless this process is connected; close only a new connection."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    is_remote = (address or os.environ.get("RAY_ADDRESS", "local")) != "local"
    options = {} if is_remote else {"include_dashboard": False}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations inside Ray
            ray.init(address, log_to_driver=False, logging_level="error", **options)
    except (ConnectionError, ValueError, RuntimeError, TimeoutError) as error:
        where = address or os.environ.get("RAY_ADDRESS", "this machine")
        reason = str(error).strip().partition("\n")[0]
        msg = f"no Ray cluster at {where}: {reason}; check it with 'ray status'"
        raise StreamgaugeError(msg) from error
    try:
        yield
    finally:
        ray.shutdown()


class _RemoteGroup:
    """A group of cells on the cluster.

    Its plans are numbered. `halt` and `resume` are called while plans run, to withdraw those that have not begun.
    """

    def __init__(self, description: bytes, folders: list[str]) -> None:
        sys.path += [folder for folder in folders if folder not in sys.path and Path(folder).exists()]
        run_spec: RunSpec = pickle.loads(description)
        self._group = CellGroup(run_spec)
        self._maker = None if run_spec.rows is None else run_spec.rows.open()
        self._n_done = self._n_begun = 0
        self._error: Exception | None = None
        self._turn = threading.Condition()
        self._halted = False
        self._term, self._end = 0, 0  # calls of an earlier term run no plan from this one on

    def ready(self) -> None:
        """Return when the cells are built."""

    def run(self, term: int, number: int, message: "_Message") -> list[bytes]:
        """Run plans, from this number on; return their results up to a plan that fails or was withdrawn."""
        results: list[bytes] = []
        works = message if isinstance(message, list) else [message]
        try:
            while len(results) < len(works) and self._begin(term, number + len(results)):
                results.append(self._run_next(number + len(results), works[len(results)]))
        except Exception as error:
            self._error = error
            if not results:
                raise
        return results

    def _begin(self, term: int, number: int) -> bool:
        """Wait while plans are withdrawn; return whether this one is to run."""
        with self._turn:
            self._turn.wait_for(lambda: not self._halted)
            if term < self._term and number >= self._end:
                return False
            self._n_begun = number + 1
            return True

    def _run_next(self, number: int, work: "_Work") -> bytes:
        """Run a plan; its number must be the next one for the state of the cells."""
        if self._error is not None:
            raise self._error
        if number != self._n_done:
            msg = f"plan {number} was sent to an actor that has run {self._n_done}"
            raise RuntimeError(msg)
        if not isinstance(work, RowRange):
            plan = unpack_plan(*work)
            result = self._group.run(plan)
        else:
            started = time.perf_counter()
            plan = cast("PlanMaker", self._maker).plan(work)
            result = self._group.run(plan)
            result = replace(result, seconds=time.perf_counter() - started)
        packed = pack_result(result, plan)
        self._n_done = number + 1
        return packed

    def halt(self) -> int:
        """Begin no further plan; return how many were begun."""
        with self._turn:
            self._halted = True
            return self._n_begun

    def resume(self, term: int, end: int) -> None:
        """Begin plans again; those of earlier terms only up to a number."""
        with self._turn:
            self._term, self._end, self._halted = term, end, False
            self._turn.notify_all()

    def save(self) -> tuple[SavedStates, bytes | None]:
        return self._group.save(), None if self._maker is None else self._maker.save()

    def load(self, n_done: int, state: tuple[SavedStates, bytes | None], trusted: bool) -> None:  # noqa: FBT001
        self._n_done = -1
        saved, maker_state = state
        self._group.load(saved, trusted=trusted)
        if self._maker is not None and maker_state is not None:
            self._maker.load(maker_state)
        self._n_done = self._n_begun = n_done


_Work = RowRange | tuple[bytes, list[Any]]
"""A plan without its rows, or with them: its description and its columns."""

_Message = list[RowRange] | tuple[bytes, list[Any]]
"""The plans of a call."""


@dataclass
class _Call:
    """A call of an actor: the number of its first plan, how many it has, the message, and the future of the results."""

    first: int
    n: int
    message: Any
    results: Any

    @property
    def end(self) -> int:
        return self.first + self.n

    def cut(self, end: int) -> None:
        """Leave out its plans from a number on."""
        if end < self.end:
            self.n, self.message = end - self.first, self.message[: end - self.first]


class _Actor:
    """The driver's side of an actor, with all that another actor needs to replace it."""

    def __init__(self, ray: Any, run_spec: RunSpec, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        self._ray, self._run_spec, self._options = ray, run_spec, options
        self._description = ray.put(pickle_spec(run_spec))
        self._saved: tuple[int, Any, bool] | None = None  # the number of plans, the state, whether it is trusted
        self._n_submitted = self._term = 0
        self._since: deque[_Call] = deque()  # the calls that ended since that state was saved
        self._pending: deque[_Call] = deque()
        self._received: deque[bytes] = deque()  # results that were not collected
        self._saving: tuple[Any, int] | None = None
        self._n_deaths = 0
        self._handle = self._place(1)

    def _place(self, n_cores: float) -> Any:  # noqa: ANN401
        """Place an actor on a node; a replacement reserves no core, since there may be none left."""
        options = {"num_cpus": n_cores, "scheduling_strategy": "SPREAD", **self._options}
        remote = self._ray.remote(concurrency_groups={CONTROL: 1})(_RemoteGroup)
        return remote.options(**options).remote(self._description, sys.path)

    def wait_until_ready(self, seconds: float) -> None:
        self._wait_for(self._handle.ready.remote(), seconds)

    def _wait_for(self, future: Any, seconds: float | None = None) -> None:  # noqa: ANN401
        """Wait for a call before the first plan; replace the actor if it dies."""
        errors = self._ray.exceptions
        while True:
            try:
                self._ray.get(future, timeout=seconds)
            except errors.RayTaskError as error:
                raise _unwrap(error) from None
            except errors.GetTimeoutError:
                raise
            except errors.RayError as error:
                _require_startable(self._ray, error)
                self._replace(error)
                future = self._handle.ready.remote()
            else:
                return

    @property
    def learners(self) -> str:
        return ", ".join(dict.fromkeys(name for name, _ in self._run_spec.cells))

    def submit(self, message: Any, n: int) -> None:  # noqa: ANN401
        """Submit the message of n plans."""
        first = self._n_submitted
        self._pending.append(_Call(first, n, message, self._run(first, message)))
        self._n_submitted += n

    def _run(self, first: int, message: Any) -> Any:  # noqa: ANN401
        return self._handle.run.remote(self._term, first, message)

    def load(self, saved: Any, *, trusted: bool) -> None:  # noqa: ANN401
        self._saved = (0, saved, trusted)
        self._wait_for(self._handle.load.remote(*self._saved))

    def collect(self, plan: BatchPlan) -> BatchResult:
        if not self._received:
            self._receive()
        return unpack_result(self._received.popleft(), plan)

    def _receive(self) -> None:
        """Wait for the results of the oldest pending call."""
        results = self._get_results()
        call = self._pending.popleft()
        if len(results) < call.n:  # the next plan failed: if it is called for alone, its error is raised
            message, first = call.message[len(results) :], call.first + len(results)
            self._pending.appendleft(_Call(first, len(message), message, self._run(first, message)))
            call.cut(first)
        self._received += results
        self._since.append(call)
        self._n_deaths = 0

    def _get_results(self) -> list[bytes]:
        """Wait for the oldest pending call; replace the actor if it dies."""
        while True:
            try:
                results: list[bytes] = self._ray.get(self._pending[0].results)
            except self._ray.exceptions.RayTaskError as error:
                raise _unwrap(error) from None
            except self._ray.exceptions.RayError as error:
                self._replace(error)
            else:
                return results

    def _replace(self, error: Exception) -> None:
        """Start another actor from the last saved state, and submit all later plans to it."""
        self._n_deaths += 1
        if self._n_deaths > MAX_DEATHS:
            reason = str(error).strip().partition("\n")[0]
            msg = f"an actor died {self._n_deaths} times in a row while it ran {self.learners}: {reason}"
            raise StreamgaugeError(msg) from error
        self.end()
        self._saving = None
        self._handle = self._place(0)
        if self._saved is not None:
            self._handle.load.remote(*self._saved)
        for call in (*self._since, *self._pending):
            call.results = self._run(call.first, call.message)

    def halt(self) -> Any:  # noqa: ANN401
        """Begin no further plan; return the future of the number of plans that were begun."""
        return self._handle.halt.options(concurrency_group=CONTROL).remote()

    def count_begun(self, halted: Any) -> int:  # noqa: ANN401
        """Return how many plans were begun when the actor was halted, or have results if it has died since."""
        n_begun: int = self._pending[0].first if self._pending else self._n_submitted
        with suppress(self._ray.exceptions.RayError):
            n_begun = max(n_begun, self._ray.get(halted))
        return n_begun

    def withdraw(self, end: int) -> None:
        """Withdraw the plans from a number on, and let the others begin."""
        self._term += 1
        self._handle.resume.options(concurrency_group=CONTROL).remote(self._term, end)
        self._n_submitted = min(self._n_submitted, end)
        while self._pending and self._pending[-1].first >= end:
            self._pending.pop()
        if self._pending:
            self._pending[-1].cut(end)
        if self._saving is not None:
            self._saving = self._saving[0], min(self._saving[1], end)

    def save(self) -> None:
        """Request the state after all submitted plans."""
        if self._saving is None:
            self._saving = (self._handle.save.remote(), self._n_submitted)

    def fetch(self, *, wait: bool = False) -> None:
        """Fetch the requested state, if it is available."""
        if self._saving is None:
            return
        state, n_done = self._saving
        is_due = not self._pending or self._pending[0].first >= n_done
        if not (is_due and (wait or self._ray.wait([state], timeout=0)[0])):
            return
        self._saving = None
        try:
            saved = self._ray.get(state)
        except self._ray.exceptions.RayTaskError as error:
            raise _unwrap(error) from None
        except self._ray.exceptions.RayError:
            return  # the actor has died, which the next result shows
        self._saved = (n_done, self._ray.put(saved), True)
        while self._since and self._since[0].first < n_done:
            self._since.popleft()

    def end(self) -> None:
        with suppress(Exception):  # it may have died, or the cluster with it
            self._ray.kill(self._handle)


def _unwrap(error: Any) -> Exception:  # noqa: ANN401
    """Return the error that was raised in an actor."""
    cause = error.cause
    if not isinstance(cause, Exception):
        return RuntimeError(str(error))
    cause.add_note(f"in an actor:\n{error.traceback_str}")
    return cause


def _wait_until_ready(ray: Any, actors: list[_Actor]) -> None:  # noqa: ANN401
    deadline = time.monotonic() + START_SECONDS
    try:
        for actor in actors:
            actor.wait_until_ready(max(0.0, deadline - time.monotonic()))
    except ray.exceptions.GetTimeoutError:
        free = ray.available_resources().get("CPU", 0)
        msg = (
            f"the cluster could not place {len(actors)} actors within {START_SECONDS:.0f} s ({free:.0f} cores are free)"
        )
        raise StreamgaugeError(msg) from None


def _require_startable(ray: Any, error: Exception) -> None:  # noqa: ANN401
    """Raise if an actor can never be built, however often it is tried."""
    reason = str(error).strip().splitlines()[-1]
    if "ModuleNotFound" in reason:
        msg = f"an actor could not be started: {reason}; use Ray(options={{'runtime_env': {{'working_dir': '.'}}}})"
        raise StreamgaugeError(msg) from error
    if isinstance(error, ray.exceptions.RayActorError) and error.actor_init_failed:
        msg = f"an actor could not build its cells: {reason}"
        raise StreamgaugeError(msg) from error


@dataclass
class _Window:
    """How far actors that make the rows may be ahead of the results.

    Parameters
    ----------
    seconds
        The seconds of work.
    n_copies
        How many times a pending plan keeps about the bytes of its rows.
    """

    seconds: float
    n_copies: int
    row_seconds: float | None = None
    """The seconds that an actor takes for a row, on average; None before the first result."""

    def has_room(self, plans: Sequence[BatchPlan], calls: int = 1) -> bool:
        """Return whether another plan may be pending beside some, or may be in their call, of several `calls`."""
        if self.row_seconds is None:
            return False
        batches = [plan.batch for plan in plans if plan.batch is not None]
        n_bytes = sum(map(_count_bytes, plans)) * self.n_copies
        seconds = self.row_seconds * sum(map(len, batches))
        limit = self.seconds if calls == 1 else min(self.seconds / calls, CALL_SECONDS)
        return len(plans) < MAX_DEPTH // calls and n_bytes < MAX_BYTES // calls and seconds < limit

    def measure(self, plan: BatchPlan, results: Sequence[BatchResult]) -> None:
        """Measure the speed of the actors."""
        seconds = [result.seconds for result in results if result.seconds is not None]
        if seconds and plan.batch is not None:
            self.row_seconds = sum(seconds) / len(seconds) / len(plan.batch)


def _count_bytes(plan: BatchPlan) -> int:
    """Return about how many bytes a pending plan takes."""
    if plan.batch is None or plan.schedule is None:
        return 0
    n_operations = 0 if plan.schedule.moves is None else len(plan.schedule.batch)
    return plan.batch.x.nbytes + BYTES_OF_OPERATION * n_operations


class _ClusterExecutor:
    """Runs plans in a group of cells in each of several actors.

    With a `window` actors make the rows: a call of an actor has several plans, and an actor has several calls pending,
    so that it waits for no other one until it is a window ahead.
    """

    reads_ahead: ClassVar[bool] = True

    def __init__(self, ray: Any, actors: list[_Actor], save_every: float, window: _Window | None) -> None:  # noqa: ANN401
        self._ray, self._actors, self._save_every, self._window = ray, actors, save_every, window
        self._pending: deque[BatchPlan] = deque()
        self._unsent: list[BatchPlan] = []  # the last of the pending plans
        self._n_collected = 0
        self._n_kept, self._n_requested, self._fetching = 0, 0, 0.0
        self._opened_at = self._saved_at = time.monotonic()

    @property
    def depth(self) -> int:
        window, n = self._window, len(self._pending)
        if window is None or n < DEPTH:
            return DEPTH
        return n + 1 if window.has_room(self._pending) else n

    @property
    def makes_rows(self) -> bool:
        return self._window is not None

    def submit(self, plan: BatchPlan) -> None:
        self._pending.append(plan)
        if self._window is None or plan.row_range is None:
            self._send_unsent()
            self._n_kept += 1
            self._send(self._put(plan), 1)
            return
        self._unsent.append(plan)
        if not self._window.has_room(self._unsent, CALLS):
            self._send_unsent()

    def _put(self, plan: BatchPlan) -> Any:  # noqa: ANN401
        """Store a plan with its rows in the object store."""
        description, columns = pack_plan(plan)
        return self._ray.put((description, [np.frombuffer(column, dtype=np.uint8) for column in columns]))

    def _send_unsent(self) -> None:
        """Send plans whose rows the actors make in one call."""
        if self._unsent:
            message = [plan.row_range for plan in self._unsent]
            self._unsent = []
            self._send(message, len(message))

    def _send(self, message: Any, n: int) -> None:  # noqa: ANN401
        """Send the message of n plans to all actors, and request their states if it is time."""
        for actor in self._actors:
            actor.submit(message, n)
        is_time = time.monotonic() - self._saved_at >= self._save_every
        if self._window is None and (is_time or self._n_kept >= MAX_PLANS):
            self._n_kept, self._saved_at = 0, time.monotonic()
            for actor in self._actors:
                actor.fetch(wait=True)
                actor.save()

    def collect(self) -> list[BatchResult]:
        if len(self._unsent) == len(self._pending) or (self._window and self._window.has_room(self._pending)):
            self._send_unsent()  # the results are needed, or no more plans will come
        plan = self._pending.popleft()
        results = [actor.collect(plan) for actor in self._actors]
        self._n_collected += 1
        started = time.monotonic()
        for actor in self._actors:
            actor.fetch()
        if self._window is not None:
            self._fetching += time.monotonic() - started
            self._window.measure(plan, results)
            self._request_states()
        return results

    def _request_states(self) -> None:
        """Request the states of the actors whose turn it is, spread evenly over the seconds between two of one."""
        now = time.monotonic()
        if self._fetching > MAX_FETCHING * (now - self._opened_at):
            return
        n = len(self._actors)
        due = min(int(n * (now - self._saved_at) / self._save_every), n)
        for index in range(self._n_requested, self._n_requested + due):
            self._actors[index % n].save()
        if due:
            self._n_requested, self._saved_at = (self._n_requested + due) % n, now

    def withdraw(self) -> int:
        if self._window is None:
            return 0
        halted = [actor.halt() for actor in self._actors]
        end = max(actor.count_begun(n_begun) for actor, n_begun in zip(self._actors, halted, strict=True))
        for actor in self._actors:
            actor.withdraw(end)
        n_left = end - self._n_collected
        n_withdrawn = len(self._pending) - n_left
        self._pending, self._unsent = deque(list(self._pending)[:n_left]), []
        return n_withdrawn

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        state = self._ray.put((saved, saved.scheduler))
        for actor in self._actors:
            actor.load(state, trusted=trusted)
