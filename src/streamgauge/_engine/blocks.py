"""Keeps the tallies of blocks of rows: in the cells at the ends of blocks, and in the collector for the whole run."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.forgetting import NativeForgetting, NumberSums
from streamgauge.records import BlockLayout, BlockTallies, CellBlocks, Trace
from streamgauge.records.blocks import MAX_VOTE_BINS, VoteBins, find_block_length, make_layout
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
    looks
        Whether the numbers at reading rows are needed too, for live verdicts.

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

    def __init__(self, layout: BlockLayout, state: NativeForgetting | NumberSums, *, looks: bool = False) -> None:
        self._layout, self._state, self._looks = layout, state, looks
        self._nothing = CellBlocks((), np.empty((0, layout.n_numbers)))
        self.block_rows: Sequence[int] = ()
        """The ends of blocks in the next trace."""
        self.kept = self._nothing
        """The tallies at the ends of blocks in the last trace."""
        self.looks = self._nothing.numbers
        """The numbers of the tallies at the reading rows of the last trace, [readings, numbers]."""

    def update(self, trace: Trace, reading_rows: Sequence[int]) -> Any:  # noqa: ANN401
        """Add a trace; return the tally before each of the reading rows, and keep those at the ends of blocks."""
        if not self.block_rows:
            self.kept = self._nothing
            tallies = self._state.update(trace, reading_rows)
            self.looks = self._flatten(tallies)
            return tallies
        rows = sorted({*reading_rows, *self.block_rows})
        readings, blocks = np.searchsorted(rows, reading_rows), np.searchsorted(rows, self.block_rows)
        if self._layout.has_votes and trace.votes is not None and isinstance(self._state, NativeForgetting):
            ranked, binned = np.zeros((2, len(rows)), dtype=np.bool_)
            ranked[readings] = ranked[blocks[-1]] = binned[blocks] = True  # the last block has the areas of all rows
            tallies, bins = self._state.update_with_bins(trace, rows, ranked, binned, MAX_VOTE_BINS)
        else:
            tallies, bins = self._state.update(trace, rows), []
        numbers, votes = self._layout.flatten(tallies.select(blocks)), tuple(map(tuple, bins))
        self.kept = CellBlocks(tuple(self.block_rows), numbers, votes)
        tallies = tallies.select(readings)
        self.looks = self._flatten(tallies)
        return tallies

    def _flatten(self, tallies: Any) -> NDArray[np.float64]:  # noqa: ANN401
        return self._layout.flatten(tallies) if len(tallies) and self._looks else self._nothing.numbers

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

    def merge(self, state: bytes, classes: Sequence[int]) -> None:
        """Add the rows of a saved state, whose classes have these codes here."""
        self._state.merge(state, classes)


class BlockHistory:
    """The cumulative tallies of all cells at the ends of blocks: of a long run, those of blocks joined in pairs.

    Parameters
    ----------
    shape
        The numbers of learners and folds.
    layout
        What is kept of a tally.

    Examples
    --------
    >>> history = BlockHistory((2, 1), BlockLayout(2, ()))
    >>> kept = CellBlocks((8, 16), np.ones((2, 7)))
    >>> history.add({0: kept, 1: kept})
    >>> history.build().rows.tolist(), history.find_end(15)
    ([8], 8)
    """

    def __init__(self, shape: tuple[int, int], layout: BlockLayout) -> None:
        self._shape, self.layout = shape, layout
        n_cells = shape[0] * shape[1]
        self.rows: list[int] = []
        """The ends of blocks, ascending; up to the last addition those of joined blocks are dropped."""
        self._numbers = np.empty((n_cells, 0, layout.n_numbers))
        self._votes: list[list[tuple[VoteBins, ...]]] = [[] for _ in range(n_cells)]
        self.is_stopped = False
        """Whether no blocks are kept any more, since the rows are not consecutive."""

    def stop(self) -> None:
        """Drop all blocks, and keep none from now on."""
        self.rows, self.is_stopped = [], True
        self._numbers, self._votes = self._numbers[:, :0], [[] for _ in self._votes]

    def add(self, kept: Mapping[int, CellBlocks | None]) -> None:
        """Add the tallies of cells at the next ends of blocks; None for a cell that has failed."""
        known = next((blocks for blocks in kept.values() if blocks is not None), None)
        if known is None or not known.rows or self.is_stopped:
            return
        self._thin()
        numbers = np.full((len(self._numbers), len(known.rows), self.layout.n_numbers), np.nan)
        for index, blocks in kept.items():
            if blocks is not None:
                numbers[index] = blocks.numbers
                self._votes[index] += blocks.votes
            else:
                self._votes[index] = []
        self.rows += known.rows
        self._numbers = np.concatenate([self._numbers, numbers], axis=1)

    def find_end(self, row: int) -> int:
        """Return the last end of a block up to a row; 0 if there is none."""
        index = bisect_right(self.rows, row)
        return self.rows[index - 1] if index else 0

    def build(self, row: int | None = None, *, min_length: int = 1) -> BlockTallies | None:
        """Return the tallies of the blocks, up to a row and of at least some rows; None if there are none."""
        n = len(self.rows) if row is None else bisect_right(self.rows, row)
        if not n:
            return None
        failed = np.isnan(self._numbers[:, n - 1, 0])
        numbers = self._numbers[:, :n]
        if failed.any():
            numbers = np.where(failed[:, None, None], np.nan, numbers)
        votes = [[] if gone else of_cell for gone, of_cell in zip(failed.tolist(), self._votes, strict=True)]
        return BlockTallies.from_cumulative(
            self.rows[:n], numbers, votes, self._shape, self.layout, min_length=min_length
        )

    def read_numbers(self, row: int) -> NDArray[np.float64]:
        """Return the cumulative numbers of all cells at the end of a block, float64 [cells, numbers]."""
        return self._numbers[:, self.rows.index(row)]

    def _thin(self) -> None:
        """Drop the ends of blocks that have been joined with the next."""
        length = find_block_length(self.rows[-1]) if self.rows else 1
        keep = [index for index, row in enumerate(self.rows) if row % length == 0 or index == len(self.rows) - 1]
        if len(keep) < len(self.rows):
            self.rows = [self.rows[index] for index in keep]
            self._numbers = self._numbers[:, keep]
            self._votes = [[votes[index] for index in keep] if votes else [] for votes in self._votes]

    def save(self) -> bytes:
        """Return the whole state."""
        cells = [
            CellBlocks(tuple(self.rows), numbers, tuple(votes))
            for numbers, votes in zip(self._numbers, self._votes, strict=True)
        ]
        facts = {"layout": [self.layout.n_classes, self.layout.statistics], "is_stopped": self.is_stopped}
        return pack("block history", facts, [_pack_cell(cell) for cell in cells])

    def load(self, state: bytes) -> None:
        """Restore the state of a run with the same cells, perhaps of fewer classes."""
        facts, parts = unpack("block history", state)
        with loading("block history"):
            cells = [_unpack_cell(part) for part in parts]
            if len(cells) != len(self._numbers) or len({cell.rows for cell in cells}) != 1:
                msg = "it has other cells"
                raise ValueError(msg)
            n_classes, statistics = facts["layout"]
            saved = make_layout(n_classes, tuple(statistics))
            self._numbers = self.layout.adopt(np.stack([cell.numbers for cell in cells]), saved)
            self.rows, self.is_stopped = list(cells[0].rows), facts["is_stopped"]
            n = self.layout.n_classes if self.layout.has_votes else 0
            self._votes = [[_pad_votes(votes, n) for votes in cell.votes] if n else [] for cell in cells]


def _pad_votes(votes: tuple[VoteBins, ...], n_classes: int) -> tuple[VoteBins, ...]:
    """Return the bins of the votes for more classes: no row voted for the new ones."""
    if len(votes) == n_classes:
        return votes
    weight = float(votes[0][1].sum())
    return (*votes, *[(_find_bin_of_zero(), np.array([[0.0], [weight]]))] * (n_classes - len(votes)))


@cache
def _find_bin_of_zero() -> NDArray[np.int64]:
    """Return the bin of the rows that did not vote for a class."""
    state, code, hit = _native.landmark(2, ["ranks"]), np.zeros(1, dtype=np.int32), np.zeros(1, dtype=np.bool_)
    state.update(code, code, hit, hit, None, np.empty(0, dtype=np.int64), votes=np.array([[1.0, 0.0]]))
    return state.vote_bins(MAX_VOTE_BINS)[1][0]


def _pack_cell(blocks: CellBlocks) -> bytes:
    parts = [part for by_class in blocks.votes for part in by_class]
    columns = {
        "rows": np.array(blocks.rows, dtype=np.int64),
        "numbers": blocks.numbers,
        "sizes": np.array([len(bins) for bins, _ in parts], dtype=np.int64),
        "bins": np.concatenate([bins for bins, _ in parts]) if parts else np.empty(0, dtype=np.int64),
        "weights": np.concatenate([weights for _, weights in parts], axis=1) if parts else np.empty((2, 0)),
    }
    return pack_columns("cell blocks", {"n_votes": len(blocks.votes)}, columns)


def _unpack_cell(state: bytes) -> CellBlocks:
    facts, columns = unpack_columns("cell blocks", state)
    ends = np.cumsum(columns["sizes"])[:-1]
    weights = map(np.ascontiguousarray, np.split(columns["weights"], ends, axis=1))
    parts = list(zip(np.split(columns["bins"], ends), weights, strict=True)) if len(columns["sizes"]) else []
    n_votes = facts["n_votes"]
    per_row = len(parts) // n_votes if n_votes else 0
    votes = tuple(tuple(parts[index * per_row : (index + 1) * per_row]) for index in range(n_votes))
    return CellBlocks(tuple(columns["rows"].tolist()), columns["numbers"], votes)
