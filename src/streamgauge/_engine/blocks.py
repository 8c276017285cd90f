"""Keeps the tallies of blocks of rows: in the cells at the ends of blocks, and in the collector for the whole run."""

from collections.abc import Sequence

import numpy as np

from streamgauge.forgetting import NativeForgetting
from streamgauge.records import BlockLayout, BlockTallies, CellBlocks, Tallies, Trace
from streamgauge.records.blocks import MAX_VOTE_BINS, find_block_length
from streamgauge.records.serialise import loading, pack, pack_columns, unpack, unpack_columns

__all__ = ["BlockHistory", "BlockState"]


class BlockState:
    """The state of `Landmark` in a cell, whose tallies are kept at the ends of blocks as well.

    Parameters
    ----------
    layout
        What is kept of a tally.
    state
        The state of the landmark.

    Examples
    --------
    >>> from streamgauge.forgetting import Landmark
    >>> layout = BlockLayout(2, ())
    >>> state = BlockState(layout, Landmark().build(2))
    >>> y, hit = np.zeros(20, dtype=np.int32), np.zeros(20, dtype=np.bool_)
    >>> state.block_rows = [8, 16]
    >>> [tally.width for tally in state.update(Trace(np.arange(20), y, y, hit, hit), [10, 20])]
    [10, 20]
    >>> state.kept.rows, state.kept.numbers[:, 0].tolist()
    ((8, 16), [8.0, 16.0])
    """

    def __init__(self, layout: BlockLayout, state: NativeForgetting) -> None:
        self._layout, self._state = layout, state
        self._nothing = CellBlocks((), np.empty((0, layout.n_numbers)))
        self.block_rows: Sequence[int] = ()
        """The ends of blocks in the next trace."""
        self.kept = self._nothing
        """The tallies at the ends of blocks in the last trace."""

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Tallies:
        """Add a trace; return the tally before each of the reading rows, and keep those at the ends of blocks."""
        if not self.block_rows:
            self.kept = self._nothing
            return self._state.update(trace, reading_rows)
        rows = sorted({*reading_rows, *self.block_rows})
        readings, blocks = np.searchsorted(rows, reading_rows), np.searchsorted(rows, self.block_rows)
        if self._layout.has_votes and trace.votes is not None:
            ranked, binned = np.zeros((2, len(rows)), dtype=np.bool_)
            ranked[readings] = ranked[blocks[-1]] = binned[blocks] = True  # the last block has the areas of all rows
            tallies, bins = self._state.update_with_bins(trace, rows, ranked, binned, MAX_VOTE_BINS)
        else:
            tallies, bins = self._state.update(trace, rows), []
        numbers, votes = self._layout.flatten(tallies.select(blocks)), tuple(map(tuple, bins))
        self.kept = CellBlocks(tuple(self.block_rows), numbers, votes)
        return tallies.select(readings)

    @property
    def n_bytes(self) -> int:
        """The memory of the state in bytes."""
        return self._state.n_bytes

    def save(self) -> bytes:
        """Return the complete state."""
        return self._state.save()

    def load(self, state: bytes) -> None:
        """Restore a saved state, bit for bit."""
        self._state.load(state)


class BlockHistory:
    """The tallies of all cells at the ends of blocks: of a long run, those of blocks joined in pairs.

    Parameters
    ----------
    shape
        The numbers of learners and folds.
    layout
        What is kept of a tally.

    Examples
    --------
    >>> history = BlockHistory((2, 1), BlockLayout(2, ()))
    >>> kept = CellBlocks((8,), np.ones((1, 7)))
    >>> history.add({0: kept, 1: kept})
    >>> history.build().rows.tolist()
    [8]
    """

    def __init__(self, shape: tuple[int, int], layout: BlockLayout) -> None:
        self._shape, self._layout = shape, layout
        self._cells: list[CellBlocks | None] = [
            CellBlocks((), np.empty((0, layout.n_numbers))) for _ in range(shape[0] * shape[1])
        ]

    def add(self, kept: dict[int, CellBlocks | None]) -> None:
        """Add the tallies of cells at the next ends of blocks; None for a cell that has failed."""
        for index, blocks in kept.items():
            before = self._cells[index]
            self._cells[index] = None if before is None or blocks is None else _thin(CellBlocks.join([before, blocks]))

    def build(self) -> BlockTallies | None:
        """Return the tallies of the blocks; None if there are none."""
        if all(cell is None or not cell.rows for cell in self._cells):
            return None
        return BlockTallies.from_cells(self._cells, self._shape, self._layout)

    def save(self) -> bytes:
        """Return the whole state."""
        return pack("block history", {}, [b"" if cell is None else _pack_cell(cell) for cell in self._cells])

    def load(self, state: bytes) -> None:
        """Restore the state of a run with the same cells."""
        _, parts = unpack("block history", state)
        with loading("block history"):
            if len(parts) != len(self._cells):
                msg = "it has another number of cells"
                raise ValueError(msg)
            self._cells = [_unpack_cell(part) if part else None for part in parts]


def _thin(blocks: CellBlocks) -> CellBlocks:
    """Drop the ends of blocks that have been joined with the next."""
    length = find_block_length(blocks.rows[-1]) if blocks.rows else 1
    keep = [index for index, row in enumerate(blocks.rows[:-1]) if row % length == 0]
    return blocks.select([*keep, len(blocks.rows) - 1]) if len(keep) + 1 < len(blocks.rows) else blocks


def _pack_cell(blocks: CellBlocks) -> bytes:
    bins = [bins for by_class in blocks.votes for bins in by_class]
    columns = {
        "rows": np.array(blocks.rows, dtype=np.int64),
        "numbers": blocks.numbers,
        "levels": np.array([level for level, _, _ in bins], dtype=np.int64),
        "sizes": np.array([len(index) for _, index, _ in bins], dtype=np.int64),
        "index": np.concatenate([index for _, index, _ in bins]) if bins else np.empty(0, dtype=np.int64),
        "weights": np.concatenate([weights for _, _, weights in bins], axis=1) if bins else np.empty((2, 0)),
    }
    return pack_columns("cell blocks", {"n_votes": len(blocks.votes)}, columns)


def _unpack_cell(state: bytes) -> CellBlocks:
    facts, columns = unpack_columns("cell blocks", state)
    ends = np.cumsum(columns["sizes"])[:-1]
    parts = zip(
        columns["levels"].tolist(),
        np.split(columns["index"], ends),
        np.split(columns["weights"], ends, axis=1),
        strict=False,
    )
    bins = list(parts) if len(columns["levels"]) else []
    n_votes = facts["n_votes"]
    per_row = len(bins) // n_votes if n_votes else 0
    votes = tuple(tuple(bins[index * per_row : (index + 1) * per_row]) for index in range(n_votes))
    return CellBlocks(tuple(columns["rows"].tolist()), columns["numbers"], votes)
