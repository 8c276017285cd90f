"""Messages: how plans and results travel between processes.

The columns of a plan are laid beside its description, once for all groups. A result does not repeat the rows that were
sent: it refers to them.
"""

import io
import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.batch_plan import BatchPlan, BatchResult
from streamgauge.records import Batch

__all__ = [
    "RUNNING",
    "Buffers",
    "Columns",
    "pack_plan",
    "pack_result",
    "receive",
    "send",
    "unpack_plan",
    "unpack_result",
]

Buffers = list[memoryview]
"""Columns as bytes."""

Columns = tuple[str, Sequence[tuple[int, int]]]
"""Where columns lie: the path of a file, and the start and stop of each."""

RUNNING = "running"
"""The kind of message that names the learner which a worker runs next."""

LENGTH_BYTES = 8
"""The size of the length before a message."""


def pack_plan(plan: BatchPlan) -> tuple[bytes, Buffers]:
    """Pack a plan: its description, and its columns separately.

    Examples
    --------
    >>> from streamgauge._engine.schedule import LabelTotals
    >>> description, columns = pack_plan(BatchPlan([100], 100, LabelTotals()))
    >>> unpack_plan(description, columns).reading_rows
    [100]
    """
    columns: list[pickle.PickleBuffer] = []
    description = pickle.dumps(plan, protocol=5, buffer_callback=columns.append)
    return description, [column.raw() for column in columns]


def unpack_plan(description: bytes, columns: Sequence[Any]) -> BatchPlan:
    """Unpack a plan; its columns are copies, since a learner may keep the rows that it gets."""
    plan: BatchPlan = pickle.loads(description, buffers=[bytearray(column) for column in columns])
    return plan


def pack_result(result: BatchResult, plan: BatchPlan) -> bytes:
    """Pack the result of a plan, without the rows of the plan.

    Examples
    --------
    >>> from streamgauge._engine.schedule import LabelTotals
    >>> import numpy as np
    >>> plan = BatchPlan([100], 100, LabelTotals())
    >>> packed = pack_result(BatchResult((0,), (0,), np.ones((1, 1, 1, 1)), (100,), {}, ()), plan)
    >>> unpack_result(packed, plan).n_scored
    (100,)
    """
    out = io.BytesIO()
    n = 0 if result.correct is None else result.correct.shape[1]
    bits = replace(result, correct=_to_bits(result.correct), scored=_to_bits(result.scored))
    _Pickler(out, _list_batches(plan)).dump((n, bits))
    return out.getvalue()


def unpack_result(packed: bytes, plan: BatchPlan) -> BatchResult:
    """Unpack the result of a plan."""
    bits: BatchResult
    n, bits = _Unpickler(io.BytesIO(packed), _list_batches(plan)).load()
    return replace(bits, correct=_from_bits(bits.correct, n), scored=_from_bits(bits.scored, n))


def _to_bits(column: NDArray[Any] | None) -> Any:  # noqa: ANN401
    return None if column is None else np.packbits(column, axis=1)


def _from_bits(column: NDArray[Any] | None, n: int) -> NDArray[np.bool_] | None:
    return None if column is None else np.unpackbits(column, axis=1, count=n).view(np.bool_)


def _list_batches(plan: BatchPlan) -> list[Batch]:
    """Return the rows of a plan that a result may refer to."""
    batches = [] if plan.schedule is None else [plan.schedule.batch]
    return batches if plan.batch is None else [*batches, plan.batch]


class _Pickler(pickle.Pickler):
    """Pickles references to the rows of a plan instead of the rows."""

    def __init__(self, out: io.BytesIO, batches: Sequence[Batch]) -> None:
        super().__init__(out, protocol=5)
        self._indices = {id(batch): index for index, batch in enumerate(batches)}

    def persistent_id(self, thing: object) -> int | None:
        return self._indices.get(id(thing)) if isinstance(thing, Batch) else None


class _Unpickler(pickle.Unpickler):
    """Resolves references to the rows of a plan."""

    def __init__(self, packed: io.BytesIO, batches: Sequence[Batch]) -> None:
        super().__init__(packed)
        self._batches = batches

    def persistent_load(self, index: int) -> Batch:
        return self._batches[index]


def send(pipe: BinaryIO, message: object) -> None:
    """Send a message.

    Examples
    --------
    >>> import io
    >>> pipe = io.BytesIO()
    >>> send(pipe, {"n": 1})
    >>> _ = pipe.seek(0)
    >>> receive(pipe)
    {'n': 1}
    """
    content = pickle.dumps(message, protocol=5)
    pipe.write(len(content).to_bytes(LENGTH_BYTES, "little"))
    pipe.write(content)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:  # noqa: ANN401
    """Wait for a message; raise EOFError if the pipe is closed."""
    length = pipe.read(LENGTH_BYTES)
    content = pipe.read(int.from_bytes(length, "little"))
    if len(length) < LENGTH_BYTES or len(content) < int.from_bytes(length, "little"):
        raise EOFError
    return pickle.loads(content)
