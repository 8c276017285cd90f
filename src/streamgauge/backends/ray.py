"""Ray: cells on the cores of a cluster, one actor a core.

The driver keeps all that is needed to replace an actor: states that are fetched regularly, and the plans since then.
When an actor dies, with its node or alone, another one loads its last state elsewhere and runs these plans again.
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
"""The most plans kept for actors that must be replaced; then states are fetched."""

MAX_DEATHS = 3
"""An actor that dies more often in a row, without a reply in between, is not replaced."""

START_SECONDS = 120.0
"""How long the cluster may take to place all actors."""


@dataclass(frozen=True)
class Ray:
    """Run cells on a Ray cluster: one actor per core, each with a group of cells.

    Each batch is put into the object store once, and at most three are pending at a time. Nodes may die: their cells
    continue elsewhere from states that are fetched regularly, and the results stay the same to the last bit.

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
    options
        Options of the actors, as for ``ray.remote``, such as ``{"resources": {"highmem": 1}}``.

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
                yield _ClusterExecutor(ray, actors, self.save_every, made=made)
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
    """A group of cells on the cluster."""

    def __init__(self, description: bytes, folders: list[str]) -> None:
        sys.path += [folder for folder in folders if folder not in sys.path and Path(folder).exists()]
        run_spec: RunSpec = pickle.loads(description)
        self._group = CellGroup(run_spec)
        self._maker = None if run_spec.rows is None else run_spec.rows.open()
        self._n_done = 0

    def ready(self) -> None:
        """Return when the cells are built."""

    def run(self, number: int, message: "tuple[bytes, list[Any]] | RowRange") -> bytes:
        """Run a plan; its number must be the next one for the state of the cells."""
        if number != self._n_done:
            msg = f"plan {number} was sent to an actor that has run {self._n_done}"
            raise RuntimeError(msg)
        self._n_done = -1  # until it ends
        plan = cast("PlanMaker", self._maker).plan(message) if isinstance(message, RowRange) else unpack_plan(*message)
        packed = pack_result(self._group.run(plan), plan)
        self._n_done = number + 1
        return packed

    def save(self) -> tuple[SavedStates, bytes | None]:
        return self._group.save(), None if self._maker is None else self._maker.save()

    def load(self, n_done: int, state: tuple[SavedStates, bytes | None], trusted: bool) -> None:  # noqa: FBT001
        self._n_done = -1
        saved, maker_state = state
        self._group.load(saved, trusted=trusted)
        if self._maker is not None and maker_state is not None:
            self._maker.load(maker_state)
        self._n_done = n_done


@dataclass
class _Pending:
    """A submitted plan: its message, and the future of its result."""

    message: Any
    result: Any


class _Actor:
    """The driver's side of an actor, with all that another actor needs to replace it."""

    def __init__(self, ray: Any, run_spec: RunSpec, options: Mapping[str, Any]) -> None:  # noqa: ANN401
        self._ray, self._run_spec, self._options = ray, run_spec, options
        self._description = ray.put(pickle_spec(run_spec))
        self._saved: tuple[int, Any, bool] | None = None  # the number of plans, the state, whether it is trusted
        self._n_submitted = 0
        self._since: deque[Any] = deque()  # the messages of plans that ended since that state was saved
        self._pending: deque[_Pending] = deque()
        self._saving: tuple[Any, int] | None = None
        self._n_deaths = 0
        self._handle = self._place(1)

    def _place(self, n_cores: float) -> Any:  # noqa: ANN401
        """Place an actor on a node; a replacement reserves no core, since there may be none left."""
        options = {"num_cpus": n_cores, "scheduling_strategy": "SPREAD", **self._options}
        return self._ray.remote(_RemoteGroup).options(**options).remote(self._description, sys.path)

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

    def submit(self, message: Any) -> None:  # noqa: ANN401
        self._pending.append(_Pending(message, self._handle.run.remote(self._n_submitted, message)))
        self._n_submitted += 1

    def load(self, saved: Any, *, trusted: bool) -> None:  # noqa: ANN401
        self._saved = (0, saved, trusted)
        self._wait_for(self._handle.load.remote(*self._saved))

    def collect(self, plan: BatchPlan) -> BatchResult:
        packed = self._get_result()
        self._since.append(self._pending.popleft().message)
        self._n_deaths = 0
        return unpack_result(packed, plan)

    def _get_result(self) -> bytes:
        """Wait for the oldest pending plan; replace the actor if it dies."""
        while True:
            try:
                packed: bytes = self._ray.get(self._pending[0].result)
            except self._ray.exceptions.RayTaskError as error:
                raise _unwrap(error) from None
            except self._ray.exceptions.RayError as error:
                self._replace(error)
            else:
                return packed

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
        messages = [*self._since, *(pending.message for pending in self._pending)]
        first = self._n_submitted - len(messages)
        results = [self._handle.run.remote(number, message) for number, message in enumerate(messages, first)]
        for pending, result in zip(self._pending, results[len(self._since) :], strict=True):
            pending.result = result

    def save(self) -> None:
        """Request the state after all submitted plans."""
        if self._saving is None:
            self._saving = (self._handle.save.remote(), len(self._since) + len(self._pending))

    def fetch(self, *, wait: bool = False) -> None:
        """Fetch the requested state, if it is available."""
        if self._saving is None:
            return
        state, n_plans = self._saving
        is_available = len(self._since) >= n_plans and (wait or self._ray.wait([state], timeout=0)[0])
        if not is_available:
            return
        self._saving = None
        try:
            saved = self._ray.get(state)
        except self._ray.exceptions.RayTaskError as error:
            raise _unwrap(error) from None
        except self._ray.exceptions.RayError:
            return  # the actor has died, which the next result shows
        n_done = self._n_submitted - len(self._pending) - len(self._since) + n_plans
        self._saved = (n_done, self._ray.put(saved), True)
        for _ in range(n_plans):
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


class _ClusterExecutor:
    """Runs plans in a group of cells in each of several actors."""

    depth: ClassVar[int] = 3
    reads_ahead: ClassVar[bool] = True

    def __init__(self, ray: Any, actors: list[_Actor], save_every: float, *, made: bool) -> None:  # noqa: ANN401
        self._ray, self._actors, self._save_every, self._made = ray, actors, save_every, made
        self._pending: deque[BatchPlan] = deque()
        self._n_submitted, self._saved_at = 0, time.monotonic()

    def submit(self, plan: BatchPlan) -> None:
        message = self._make_message(plan)
        for actor in self._actors:
            actor.submit(message)
        self._pending.append(plan)
        self._n_submitted += 1
        if self._n_submitted >= MAX_PLANS or time.monotonic() - self._saved_at >= self._save_every:
            self._n_submitted, self._saved_at = 0, time.monotonic()
            for actor in self._actors:
                actor.fetch(wait=True)
                actor.save()

    def _make_message(self, plan: BatchPlan) -> Any:  # noqa: ANN401
        """Return a plan without its rows if actors make them, else with its rows in the object store."""
        row_range = plan.row_range
        if self._made and row_range is not None:
            return row_range
        description, columns = pack_plan(plan)
        return self._ray.put((description, [np.frombuffer(column, dtype=np.uint8) for column in columns]))

    def collect(self) -> list[BatchResult]:
        plan = self._pending.popleft()
        results = [actor.collect(plan) for actor in self._actors]
        for actor in self._actors:
            actor.fetch()
        return results

    def load(self, saved: SavedStates, *, trusted: bool) -> None:
        self._made = False  # only the driver knows the rows that wait for their labels
        state = self._ray.put((saved, None))
        for actor in self._actors:
            actor.load(state, trusted=trusted)
