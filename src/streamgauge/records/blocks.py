"""Tallies of blocks of rows, from which any measure can be tested; see `streamgauge.significance.two_way`.

A run keeps cumulative tallies at the boundaries of at most 40 blocks of consecutive rows. Boundaries are multiples of a
length that depends on the number of rows alone and doubles as the run proceeds, so that memory stays bounded and
neither batches nor restarts change a bit.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.records.columns import pad_classes
from streamgauge.records.number_tally import NumberTallies
from streamgauge.records.tally import Column, Tallies, sum_classes

__all__ = [
    "BASELINES",
    "FIRST_LENGTH",
    "MAX_MATRIX_CLASSES",
    "MAX_VOTE_BINS",
    "BlockLayout",
    "BlockTallies",
    "CellBlocks",
    "NumberLayout",
    "VoteBins",
    "align_bins",
    "choose_ends",
    "find_block_length",
    "list_boundaries",
    "list_looks",
    "make_layout",
]

MAX_BLOCKS = 40
"""There are more than half this number of blocks, and at most this number."""

FIRST_LENGTH = 8
"""The number of rows of a block in a short run."""

MAX_MATRIX_CLASSES = 20
"""Whole confusion matrices are kept up to this number of classes, else hits, true and predicted weight of a class."""

MAX_VOTE_BINS = 192
"""The most bins of votes for a class."""

BASELINES = "baselines"
"""The statistic of a layout that stands for the hits of the majority class and of no change."""

NOT_SCALARS = ("calibration", "ranks", "rows", BASELINES)
"""Statistics that are not kept, or not as one number."""

N_RANKS = 4
"""The number of statistics of a ranking by votes; see `Tally.ranks`."""

VoteBins = tuple[NDArray[np.int64], NDArray[np.float64]]
"""The votes for one class: the bins in use in ascending order of the votes, and the weight of the rows of the class and
of other classes in each, float64 [2, bins]. Bins are narrow where there are many rows, so that an area changes about as
much without a block of rows as it does by the votes themselves."""


def find_block_length(n_rows: int) -> int:
    """Return the number of rows of a block after some rows.

    Examples
    --------
    >>> [find_block_length(n_rows) for n_rows in (100, 320, 321, 10_000)]
    [8, 8, 16, 256]
    """
    length = FIRST_LENGTH
    while n_rows > MAX_BLOCKS * length:
        length *= 2
    return length


def list_boundaries(start: int, stop: int) -> list[int]:
    """Return the ends of blocks after row `start` and up to row `stop`.

    Examples
    --------
    >>> list_boundaries(300, 400)
    [304, 312, 320, 336, 352, 368, 384, 400]
    """
    boundaries: list[int] = []
    row = start
    while True:
        length = find_block_length(row + 1)
        row = (row // length + 1) * length
        if row > stop:
            return boundaries
        boundaries.append(row)


def list_looks(every: int, start: int, stop: int, n_rows: int | None = None) -> list[int]:
    """Return the reading rows after `start` and up to `stop` at which live verdicts are computed from blocks.

    The rows grow by a tenth from one to the next, so that the cost of a row falls; the last row is one of them.

    Parameters
    ----------
    every
        The number of rows between two readings.
    start, stop
        The range.
    n_rows
        The number of rows of the run; None if it is unknown.

    Examples
    --------
    >>> list_looks(100, 1000, 2000, n_rows=1950)
    [1100, 1300, 1500, 1700, 1900, 1950]
    """
    looks, row = [], every
    while row <= stop:
        if row > start:
            looks.append(row)
        row = max(row + every, -(-11 * row // (10 * every)) * every)
    if n_rows is not None and start < n_rows <= stop and n_rows not in looks:
        looks = sorted([*looks, n_rows])
    return looks


@dataclass(frozen=True)
class BlockLayout:
    """The numbers of a tally in a row, so that they can be added and subtracted.

    Parameters
    ----------
    n_classes
        The number of classes.
    statistics
        What is kept beyond counts.

    Examples
    --------
    >>> layout = BlockLayout(2, ())
    >>> from streamgauge.records import Tally
    >>> tallies = Tallies.stack([Tally(np.array([[4.0, 3.0], [1.0, 2.0]]), np.zeros(2), 7.0, 5.0, 10)])
    >>> numbers = layout.flatten(tallies)
    >>> numbers.tolist(), layout.restore(numbers).hits.tolist()
    ([[4.0, 3.0, 1.0, 2.0, 0.0, 0.0, 10.0]], [6.0])
    """

    n_classes: int
    statistics: tuple[str, ...]

    @property
    def has_matrices(self) -> bool:
        """Whether confusion matrices are whole."""
        return self.n_classes <= MAX_MATRIX_CLASSES

    @property
    def has_votes(self) -> bool:
        """Whether votes are kept in bins."""
        return "ranks" in self.statistics and self.has_matrices

    @property
    def native_statistics(self) -> tuple[str, ...]:
        """The statistics that a forgetting keeps beyond counts."""
        return tuple(statistic for statistic in self.statistics if statistic != BASELINES)

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each part of a tally."""
        c = self.n_classes
        counts = {"confusion": (c, c), "abstained": (c,)}
        shapes: dict[str, tuple[int, ...]] = (
            counts if self.has_matrices else dict.fromkeys(("right", "support", "predicted"), (c,))
        )
        baselines = ["majority_hits", "no_change_hits"] if BASELINES in self.statistics else []
        scalars = [statistic for statistic in self.statistics if statistic not in NOT_SCALARS]
        shapes = {**shapes, **dict.fromkeys([*baselines, "width", *scalars], ())}
        return {**shapes, "ranks": (N_RANKS, c, c)} if self.has_votes else shapes

    @cached_property
    def positions(self) -> dict[str, tuple[int, int]]:
        """The position of the first number of each part of a tally, and that after its last."""
        ends = list(accumulate((math.prod(shape) for shape in self.shapes.values()), initial=0))
        return dict(zip(self.shapes, pairwise(ends), strict=True))

    @property
    def n_numbers(self) -> int:
        """How many numbers a tally has."""
        return max(end for _, end in self.positions.values())

    @property
    def n_ranks(self) -> int:
        """How many of the last numbers say how votes rank rows, and cannot be added."""
        return N_RANKS * self.n_classes**2 if self.has_votes else 0

    @property
    def n_counts(self) -> int:
        """How many of the first numbers are counts or weights, which are never below 0."""
        return self.find_position("width")

    def find_position(self, name: str) -> int:
        """Return the position of the first number of a part of a tally."""
        return self.positions[name][0]

    def flatten(self, tallies: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Return the numbers of tallies, float64 [tallies, numbers]."""
        n = len(tallies)
        return np.concatenate([getattr(tallies, name).reshape(n, -1) for name in self.shapes], axis=1, dtype=np.float64)

    def adopt(self, numbers: NDArray[np.float64], saved: "BlockLayout") -> NDArray[np.float64]:
        """Return numbers, [..., numbers], of a layout with fewer classes, which are the first, as those of this one.

        Examples
        --------
        >>> BlockLayout(3, ()).adopt(np.arange(1.0, 8.0), BlockLayout(2, ())).tolist()
        [1.0, 2.0, 0.0, 3.0, 4.0, 0.0, 0.0, 0.0, 0.0, 5.0, 6.0, 0.0, 7.0]
        """
        if saved == self:
            return numbers
        ahead, c = numbers.shape[:-1], self.n_classes
        parts: dict[str, Column] = {
            name: numbers[..., start:end].reshape((*ahead, *saved.shapes[name]))
            for name, (start, end) in saved.positions.items()
        }
        if saved.has_matrices and not self.has_matrices:
            confusion, abstained = parts["confusion"], parts["abstained"]
            parts["right"] = np.diagonal(confusion, axis1=-2, axis2=-1)
            parts["support"], parts["predicted"] = confusion.sum(axis=-1) + abstained, confusion.sum(axis=-2)
        columns = []
        for name, shape in self.shapes.items():
            part = parts[name]
            n_axes = 2 if name in ("confusion", "ranks") else len(shape)
            for axis in range(part.ndim - n_axes, part.ndim):
                part = pad_classes(part, c, axis, fill=np.nan if name == "ranks" else 0.0)
            columns.append(part.reshape((*ahead, math.prod(shape))))
        return np.concatenate(columns, axis=-1)

    def restore(self, numbers: NDArray[np.float64], ranks: Column | None = None) -> Any:  # noqa: ANN401
        """Return the tallies of numbers; `ranks` replaces how votes rank rows, which cannot be added."""
        parts: dict[str, Column] = {
            name: numbers[:, start:end].reshape(len(numbers), *self.shapes[name])
            for name, (start, end) in self.positions.items()
        }
        if ranks is not None:
            parts["ranks"] = ranks
        parts.setdefault("majority_hits", np.zeros(len(numbers)))
        parts.setdefault("no_change_hits", np.zeros(len(numbers)))
        parts["width"] = np.nan_to_num(parts["width"]).astype(np.int64)  # NaN for a learner that has failed
        return Tallies(**parts) if self.has_matrices else _MarginTallies.of(parts)  # type: ignore[arg-type]

    def restore_left_out(self, parts: Sequence[NDArray[np.float64]]) -> Any:  # noqa: ANN401
        """Return the tallies of `BlockTallies.leave_out`, those of several one after the other."""
        numbers = np.asfortranarray(parts[0] if len(parts) == 1 else np.concatenate(parts))  # measures read columns
        numbers.flags.writeable = False
        with np.errstate(invalid="ignore"):  # a learner that has failed
            return self.restore(numbers)


@dataclass(frozen=True)
class NumberLayout(BlockLayout):
    """The layout of tallies of a numeric target, whose sums all can be added and subtracted.

    Examples
    --------
    >>> from streamgauge.records import NumberTally
    >>> layout = NumberLayout(0, ("absolute_error",))
    >>> numbers = layout.flatten(NumberTallies.stack([NumberTally(4.0, {"absolute_error": 6.0}, 4)]))
    >>> numbers.tolist(), layout.restore(numbers).column("absolute_error").tolist()
    ([[4.0, 4.0, 6.0]], [6.0])
    """

    @property
    def has_matrices(self) -> bool:
        """Whether confusion matrices are whole."""
        return False

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each part of a tally."""
        return dict.fromkeys(("total", "width", *self.statistics), ())

    def flatten(self, tallies: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Return the numbers of tallies, float64 [tallies, numbers]."""
        sums = [tallies.column(statistic) for statistic in self.statistics]
        return np.stack([tallies.total, tallies.width, *sums], axis=1, dtype=np.float64)

    def restore(self, numbers: NDArray[np.float64], ranks: Column | None = None) -> Any:  # noqa: ANN401, ARG002
        """Return the tallies of numbers."""
        total, width, *sums = numbers.T
        return NumberTallies(
            total=total,
            sums=dict(zip(self.statistics, sums, strict=True)),
            width=np.nan_to_num(width).astype(np.int64),  # NaN for a learner that has failed
        )


def make_layout(n_classes: int, statistics: tuple[str, ...]) -> BlockLayout:
    """Return the layout of the tallies of a number of classes, or of a numeric target, without classes.

    Examples
    --------
    >>> make_layout(2, ()).n_numbers, make_layout(0, ("absolute_error",)).n_numbers
    (7, 3)
    """
    return BlockLayout(n_classes, statistics) if n_classes else NumberLayout(0, statistics)


class _MarginTallies(Tallies):
    """Tallies without confusion matrices, for very many classes."""

    @classmethod
    def of(cls, parts: dict[str, Column]) -> "_MarginTallies":
        tallies: _MarginTallies = object.__new__(cls)
        right, support, predicted = (parts.pop(name) for name in ("right", "support", "predicted"))
        abstained = np.zeros_like(right)  # only their sum is known
        abstained[:, 0] = sum_classes(support) - sum_classes(predicted)
        facts = dict.fromkeys(("squared_weight", "log_loss", "brier", "calibration", "ranks"))
        vars(tallies).update(
            **{**facts, **parts},
            right=right,
            support=support,
            predicted=predicted,
            abstained=abstained,
            false_positives=predicted - right,
            false_negatives=support - right,
        )
        return tallies

    @property
    def confusion(self) -> Column:
        msg = f"whole confusion matrices are kept of at most {MAX_MATRIX_CLASSES} classes"
        raise StreamgaugeError(msg)

    @property
    def n_classes(self) -> int:
        return int(self.right.shape[-1])


@dataclass(frozen=True)
class CellBlocks:
    """Cumulative tallies of one learner in one fold at some rows.

    Parameters
    ----------
    rows
        The rows, ascending.
    numbers
        The tallies by `BlockLayout`, float64 [rows, numbers].
    votes
        For each row the votes for each class; empty if they are not kept.

    Examples
    --------
    >>> blocks = CellBlocks((8, 16), np.array([[8.0], [16.0]]))
    >>> len(blocks.rows)
    2
    """

    rows: tuple[int, ...]
    numbers: NDArray[np.float64]
    votes: tuple[tuple[VoteBins, ...], ...] = ()

    def select(self, indices: Sequence[int]) -> "CellBlocks":
        """Return the tallies at some of the rows."""
        votes = tuple(self.votes[index] for index in indices) if self.votes else ()
        return CellBlocks(tuple(self.rows[index] for index in indices), self.numbers[list(indices)], votes)

    @classmethod
    def join(cls, parts: Sequence["CellBlocks"]) -> "CellBlocks":
        """Join tallies of later rows to those of earlier ones."""
        return cls(
            tuple(row for part in parts for row in part.rows),
            np.concatenate([part.numbers for part in parts]),
            tuple(votes for part in parts for votes in part.votes),
        )


@dataclass(frozen=True)
class BlockTallies:
    """The tallies of blocks of consecutive rows, for each learner and fold.

    Parameters
    ----------
    rows
        The row after the last of each block, int64 [blocks], ascending.
    layout
        The meaning of the numbers.
    numbers
        The tallies of the blocks, float64 [learners, folds, blocks, numbers]; NaN for a learner that has failed. How
        votes rank rows cannot be added: the last block has that of all rows, the others NaN.
    votes
        The votes for each class by learner, fold and class, as `VoteBins` of all blocks: the weights are float64
        [2, blocks, bins], bins in ascending order of the votes. Empty if they are not kept.

    Examples
    --------
    >>> layout = BlockLayout(2, ())
    >>> numbers = np.ones((1, 1, 3, layout.n_numbers))
    >>> blocks = BlockTallies(np.array([8, 16, 24]), layout, numbers)
    >>> blocks.n_blocks, blocks.merge([[0, 1], [2]]).numbers[0, 0, :, 0].tolist()
    (3, [2.0, 1.0])
    """

    rows: NDArray[np.int64]
    layout: BlockLayout
    numbers: NDArray[np.float64]
    votes: Mapping[tuple[int, int, int], VoteBins] = field(default_factory=dict)

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return len(self.rows)

    @cached_property
    def left_out(self) -> Any:  # noqa: ANN401
        """The tallies over all rows and without each block, of each learner and fold: [learners, folds, 1 + blocks]."""
        return self.layout.restore_left_out([self.leave_out()])

    def leave_out(self) -> NDArray[np.float64]:
        """Return the numbers over all rows and without each block, float64 [left out, numbers]."""
        whole = self.numbers.sum(axis=2, keepdims=True)
        return np.concatenate([whole, whole - self.numbers], axis=2).reshape(-1, self.numbers.shape[-1])

    def merge(self, groups: Sequence[Sequence[int]]) -> "BlockTallies":
        """Return the tallies of groups of consecutive blocks."""
        starts, ends = [group[0] for group in groups], [group[-1] for group in groups]
        numbers = np.add.reduceat(self.numbers, starts, axis=2)
        n_ranks = self.layout.n_ranks
        if n_ranks:
            numbers[..., -n_ranks:] = self.numbers[:, :, ends, -n_ranks:]
        votes = {key: (bins, np.add.reduceat(weights, starts, axis=1)) for key, (bins, weights) in self.votes.items()}
        return BlockTallies(self.rows[ends], self.layout, numbers, votes)

    def select_learners(self, indices: Sequence[int]) -> "BlockTallies":
        """Return the tallies of some learners."""
        votes = {
            (new, fold, code): bins
            for new, index in enumerate(indices)
            for (learner, fold, code), bins in self.votes.items()
            if learner == index
        }
        return BlockTallies(self.rows, self.layout, self.numbers[list(indices)], votes)

    @classmethod
    def from_cumulative(
        cls,
        rows: Sequence[int],
        numbers: NDArray[np.float64],
        votes: Sequence[Sequence[Sequence[VoteBins]]],
        shape: tuple[int, int],
        layout: BlockLayout,
        *,
        min_length: int = 1,
    ) -> "BlockTallies":
        """Return the tallies of blocks from the cumulative tallies of all cells, by learner and fold.

        A last block of less than half the length of the others joins the one before it, and blocks in which no cell
        scored a row join the next.

        Parameters
        ----------
        rows
            The rows of the cumulative tallies, ascending.
        numbers
            Those of each cell, float64 [cells, rows, numbers]; NaN for a learner that has failed.
        votes
            For each cell and row the votes for each class; empty for a cell that has failed, or if they are not kept.
        shape, layout
            The numbers of learners and folds, and the meaning of the numbers.
        min_length
            The fewest rows of a block.
        """
        keep = choose_ends(rows, numbers[:, :, layout.find_position("width")], min_length)
        chosen = numbers[:, keep]
        blocks = chosen.copy()
        blocks[:, 1:] -= chosen[:, :-1]
        n_ranks = layout.n_ranks
        if n_ranks:
            blocks[:, :, -n_ranks:] = np.nan
            blocks[:, -1, -n_ranks:] = chosen[:, -1, -n_ranks:]
        bins = _BlockVotes(
            {
                (*divmod(index, shape[1]), code): [of_cell[end][code] for end in keep]
                for index, of_cell in enumerate(votes)
                for code in range(layout.n_classes if of_cell else 0)
            }
        )
        ends = np.array([rows[index] for index in keep], dtype=np.int64)
        return cls(ends, layout, blocks.reshape(*shape, *blocks.shape[1:]), bins)


class _BlockVotes(Mapping[tuple[int, int, int], VoteBins]):
    """The votes of blocks from cumulative ones: computed when they are read, since few measures need any."""

    def __init__(self, cumulative: Mapping[tuple[int, int, int], Sequence[VoteBins]]) -> None:
        self._cumulative = cumulative
        self._known: dict[tuple[int, int, int], VoteBins] = {}

    def __getitem__(self, key: tuple[int, int, int]) -> VoteBins:
        if key not in self._known:
            parts = self._cumulative[key]
            bins, weights = _native.split_votes(parts)
            self._known[key] = (bins, weights.reshape(2, len(parts), len(bins)))
        return self._known[key]

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        return iter(self._cumulative)

    def __len__(self) -> int:
        return len(self._cumulative)


def choose_ends(rows: Sequence[int], widths: NDArray[np.float64], min_length: int = 1) -> list[int]:
    """Return the indices of the rows that end a block, from how many rows each cell has scored at each row.

    Examples
    --------
    >>> choose_ends([8, 16, 24, 26], np.array([[8.0, 8.0, 16.0, 18.0]]))
    [0, 3]
    """
    length = find_block_length(rows[-1])
    length *= max(-(-min_length // length), 1)
    ends = [index for index, row in enumerate(rows) if row % length == 0 or index == len(rows) - 1]
    if len(ends) > 1 and 2 * (rows[ends[-1]] - rows[ends[-2]]) < length:
        del ends[-2]
    known = widths[:, ends]
    scored = known[np.isfinite(known[:, -1])].sum(axis=0).tolist()  # without learners that have failed
    fresh = [end for end, (before, now) in zip(ends, pairwise([0.0, *scored]), strict=True) if now > before]
    return fresh or ends[-1:]


def align_bins(parts: Sequence[VoteBins]) -> VoteBins:
    """Return the bins that all parts have in common, and the votes in them, [2, parts, bins] or [2, parts, ..., bins].

    Of bins that overlap the widest is taken.

    Examples
    --------
    >>> narrow, wide = (np.array([9, 11, 19]), np.ones((2, 3))), (np.array([10]), np.ones((2, 1)))
    >>> bins, votes = align_bins([narrow, wide])
    >>> bins.tolist(), votes[0].tolist()
    ([10, 19], [[2.0, 1.0], [1.0, 0.0]])
    """
    shape = parts[0][1].shape[1:-1]
    if shape:
        rows = 2 * math.prod(shape)
        parts = [(bins, np.ascontiguousarray(weights.reshape(rows, len(bins)))) for bins, weights in parts]
    common, votes = _native.align_votes(parts)
    return common, np.moveaxis(votes.reshape(2, *shape, len(parts), len(common)), -2, 1)
