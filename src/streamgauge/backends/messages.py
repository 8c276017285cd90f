"""Parcels: how orders and what they bring travel between processes.

The columns of an order are laid beside its description, once for all groups. What comes back does not repeat the rows
that were sent: it names them.
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

__all__ = ["Buffers", "Columns", "packed", "packed_answer", "receive", "send", "unpacked", "unpacked_answer"]

Buffers = list[memoryview]
"""Columns, as bytes."""

Columns = tuple[str, Sequence[tuple[int, int]]]
"""Where columns lie: the path of a file, and the start and stop of each."""

N_LENGTH = 8
"""A message follows its length, which takes so many bytes."""


def packed(order: BatchPlan) -> tuple[bytes, Buffers]:
    """Pack an order: its description, and its columns apart.

    Examples
    --------
    >>> from streamgauge._engine.schedule import LabelTotals
    >>> description, columns = packed(BatchPlan([100], 100, LabelTotals()))
    >>> unpacked(description, columns).reading_rows
    [100]
    """
    columns: list[pickle.PickleBuffer] = []
    description = pickle.dumps(order, protocol=5, buffer_callback=columns.append)
    return description, [column.raw() for column in columns]


def unpacked(description: bytes, columns: Sequence[Any]) -> BatchPlan:
    """Unpack an order; its columns are copies, since a learner may keep the rows that it is given."""
    order: BatchPlan = pickle.loads(description, buffers=[bytearray(column) for column in columns])
    return order


def packed_answer(results_of_groups: BatchResult, order: BatchPlan) -> bytes:
    """Pack what an order brought, without the rows of the order.

    Examples
    --------
    >>> from streamgauge._engine.schedule import LabelTotals
    >>> import numpy as np
    >>> order = BatchPlan([100], 100, LabelTotals())
    >>> answer = packed_answer(BatchResult((0,), (0,), np.ones((1, 1, 1, 1)), (100,), {}, ()), order)
    >>> unpacked_answer(answer, order).n_scored
    (100,)
    """
    out = io.BytesIO()
    n = 0 if results_of_groups.correct is None else results_of_groups.correct.shape[1]
    bits = replace(
        results_of_groups, correct=_as_bits(results_of_groups.correct), scored=_as_bits(results_of_groups.scored)
    )
    _Packer(out, _batches(order)).dump((n, bits))
    return out.getvalue()


def unpacked_answer(answer: bytes, order: BatchPlan) -> BatchResult:
    """Unpack what an order brought."""
    bits: BatchResult
    n, bits = _Unpacker(io.BytesIO(answer), _batches(order)).load()
    return replace(bits, correct=_of_bits(bits.correct, n), scored=_of_bits(bits.scored, n))


def _as_bits(column: NDArray[Any] | None) -> Any:  # noqa: ANN401
    """Pack truth values, eight into a byte."""
    return None if column is None else np.packbits(column, axis=1)


def _of_bits(column: NDArray[Any] | None, n: int) -> NDArray[np.bool_] | None:
    return None if column is None else np.unpackbits(column, axis=1, count=n).astype(np.bool_)


def _batches(order: BatchPlan) -> list[Batch]:
    """Give the rows of an order that passages refer to."""
    batches = [] if order.plan is None else [order.plan.batch]
    return batches if order.batch is None else [*batches, order.batch]


class _Packer(pickle.Pickler):
    """Names the rows of an order instead of packing them."""

    def __init__(self, out: io.BytesIO, batches: Sequence[Batch]) -> None:
        super().__init__(out, protocol=5)
        self._names = {id(batch): place for place, batch in enumerate(batches)}

    def persistent_id(self, thing: object) -> int | None:
        return self._names.get(id(thing)) if isinstance(thing, Batch) else None


class _Unpacker(pickle.Unpickler):
    """Puts the rows of an order where they are named."""

    def __init__(self, packed: io.BytesIO, batches: Sequence[Batch]) -> None:
        super().__init__(packed)
        self._batches = batches

    def persistent_load(self, name: int) -> Batch:
        return self._batches[name]


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
    pipe.write(len(content).to_bytes(N_LENGTH, "little"))
    pipe.write(content)
    pipe.flush()


def receive(pipe: BinaryIO) -> Any:  # noqa: ANN401
    """Wait for a message; raises EOFError where none can come any more."""
    length = pipe.read(N_LENGTH)
    content = pipe.read(int.from_bytes(length, "little"))
    if len(length) < N_LENGTH or len(content) < int.from_bytes(length, "little"):
        raise EOFError
    return pickle.loads(content)
