"""Watches every pair of learners of a run: counts, analyses them at readings, and keeps the verdicts."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import combinations, repeat
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.errors import StreamgaugeError
from streamgauge.measures import accuracy, list_statistics
from streamgauge.protocols import Measure
from streamgauge.records import (
    BlockTallies,
    Differences,
    PairSums,
    Verdict,
)
from streamgauge.records.serialise import pack, unpack
from streamgauge.significance.confidence_sequences import (
    MIN_LIVE_ROWS,
    boundary_factor,
)
from streamgauge.significance.interim_analyses import (
    BLOCK_DELAYS,
    Analysis,
    AnalysisHistory,
    BlockAnalysis,
    InterimAnalysis,
    analyse_measures,
)
from streamgauge.significance.live import LiveTest, Monitor, Pair
from streamgauge.significance.sample_size import rows_until
from streamgauge.significance.two_way import (
    measure_looks_without_blocks,
)

__all__ = ["MAX_PAIRED", "BlockSource", "LiveBlocks", "PairWatch", "list_pairs"]


MAX_PAIRED = 100
"""The most learners that are compared in pairs; of more, the first ones are."""

Named = TypeVar("Named")


def list_pairs(learners: Sequence[Named]) -> list[tuple[Named, Named]]:
    """Return the pairs of learners that a run compares.

    Examples
    --------
    >>> list_pairs(["tree", "bayes", "last"])
    [('tree', 'bayes'), ('tree', 'last'), ('bayes', 'last')]
    >>> len(list_pairs(range(1000)))
    4950
    """
    return list(combinations(learners[:MAX_PAIRED], 2))


class BlockSource(Protocol):
    """Where the tallies of blocks of rows come from during a run."""

    def find_end(self, row: int) -> int:
        """Return the last end of a block up to a row; 0 if there is none."""
        ...

    def build(self, row: int | None = None, *, min_length: int = 1) -> BlockTallies | None:
        """Return the tallies of the blocks up to a row, of at least some rows; None if there are none."""
        ...


@dataclass(frozen=True)
class LiveBlocks:
    """What live verdicts on any measure are computed from.

    Parameters
    ----------
    source
        Where the tallies of blocks come from; None if no measure needs them.
    measures
        The measures to compare.
    classes
        The names of the classes.
    crossed
        Whether all folds score the same rows.
    labels_wait
        Whether labels can arrive later than their rows, or never.
    n_rows
        The number of rows if it is known; the last look is there.

    Examples
    --------
    >>> LiveBlocks().measures
    (accuracy,)
    """

    source: BlockSource | None = None
    measures: tuple[Measure, ...] = (accuracy,)
    classes: tuple[str, ...] = ()
    crossed: bool = True
    labels_wait: bool = False
    n_rows: int | None = None


COUNTS_ONLY = LiveBlocks()
"""The accuracy by counts of correct predictions."""


class _MeasureWatch:
    """The verdicts on all pairs in one measure, and their history."""

    def __init__(self, monitor: Monitor, *, by_counts: bool) -> None:
        self.monitor, self.by_counts = monitor, by_counts
        self.last: Analysis | None = None
        self.history = AnalysisHistory()

    def save(self) -> tuple[dict[str, Any], bytes]:
        looks = [[row, _to_json(analysis)] for row, analysis in self.history.analyses]
        seen = None if self.last is None else _to_json(self.last)
        return {"seen": seen, "n_looks": self.history.n_looks, "looks": looks}, self.monitor.save()

    def load(self, facts: dict[str, Any], state: bytes) -> None:
        self.monitor.load(state)
        self.last = None if facts["seen"] is None else _from_json(facts["seen"])
        self.history = AnalysisHistory([(row, _from_json(values)) for row, values in facts["looks"]], facts["n_looks"])


class PairWatch:
    """Counts of every pair of learners of a run, analysed at every reading, in one measure or several.

    Parameters
    ----------
    names
        Names of the learners.
    n_folds
        Number of folds.
    live_test
        How to compare; None to count only.
    n_looks
        The number of readings, if known.
    live_blocks
        The measures, and the tallies of blocks that those need which are not functions of the counts.

    Examples
    --------
    >>> watch = PairWatch(["tree", "bayes"], 3, LiveTest())
    >>> right = np.stack([np.ones((3, 2000), dtype=np.bool_), np.zeros((3, 2000), dtype=np.bool_)])
    >>> watch.update(right, None, [1000, 2000], [1000, 2000])
    >>> print(watch.verdicts()[0])
    tree is better than bayes in accuracy, known since row 1,000
    """

    def __init__(
        self,
        names: Sequence[str],
        n_folds: int,
        live_test: LiveTest | None,
        n_looks: int | None = None,
        live_blocks: LiveBlocks = COUNTS_ONLY,
    ) -> None:
        self._names = list_pairs(names)
        self._indices = list_pairs(range(len(names)))
        self._shape, self._live_blocks = (min(len(names), MAX_PAIRED), n_folds), live_blocks
        self._counter = _native.PairCounter(*self._shape)
        self._live_test, self._n_looks = (live_test if len(names) > 1 else None), n_looks
        self._watches = self._make_watches()
        self._reads_counts = any(watch.by_counts for watch in self._watches)
        self._row = 0
        self._changes: list[Verdict] = []
        self.predicted_from: NDArray[np.int64] = np.zeros(len(names), dtype=np.int64)
        """The row after which each learner had a scored prediction, no abstention, in every fold; set by the run."""

    def _make_watches(self) -> list[_MeasureWatch]:
        live_test, facts = self._live_test, self._live_blocks
        if live_test is None:
            return []
        n_folds, measures, waits = self._shape[1], facts.measures, facts.labels_wait
        return [
            _MeasureWatch(
                Monitor(live_test, n_looks=self._n_looks, measure=measure, n_measures=len(measures)),
                by_counts=facts.source is None or live_test.uses_counts(measure, n_folds, labels_wait=waits),
            )
            for measure in measures
        ]

    def merge(self, state: bytes) -> None:
        """Add the counts of a saved watch over the same learners, of other rows; earlier verdicts are dropped.

        Verdicts that need blocks of consecutive rows will find none.
        """
        facts, (counter, *_) = unpack("PairWatch", state)
        if [tuple(pair) for pair in facts["names"]] != self._names:
            msg = "the saved state is that of other learners"
            raise StreamgaugeError(msg)
        try:
            self._counter.merge(counter)
        except ValueError as error:
            raise StreamgaugeError(str(error)) from error
        self._watches, self._changes = self._make_watches(), []

    def update(
        self,
        correct: NDArray[np.bool_],
        scored: NDArray[np.bool_] | None,
        cuts: Sequence[int],
        reading_rows: Sequence[int],
        longest_delays: Sequence[int] = (),
    ) -> None:
        """Count the predictions of a step, and analyse the pairs after each reading row.

        `correct` [learners, folds, n] marks the predictions that were right, `scored` [folds, n] those that count
        (None: all). `cuts` are the positions of the reading rows in the step, `longest_delays` the most rows that a
        label took to arrive until each of them.
        """
        start, correct = 0, correct[:MAX_PAIRED]
        of_blocks = self._analyse_blocks(reading_rows, longest_delays or [0] * len(cuts))
        for cut, row, analyses in zip(cuts, reading_rows, of_blocks, strict=True) if self._watches else ():
            if self._reads_counts:
                self._counter.update(correct, scored, start, cut)
                start = cut
            self._judge(row, analyses)
        self._counter.update(correct, scored, start)

    def analyse(self, row: int, longest_delay: int = 0) -> None:
        """Analyse the counts and the blocks after the last row of a run, whether or not it is a reading row."""
        if self._watches:
            (analyses,) = self._analyse_blocks([row], [longest_delay], final=True)
            self._judge(row, analyses)

    def _judge(self, row: int, of_blocks: Sequence[BlockAnalysis]) -> None:
        """Decide all pairs after `row` rows, by the counts and by the analyses of blocks, if there are any."""
        self._row = row
        counts = InterimAnalysis.from_counter(self._counter) if self._reads_counts else None
        if counts is None and not of_blocks:
            return
        silent, left = self._list_silent(row), iter(of_blocks)
        for watch in self._watches:
            analysis = counts if watch.by_counts else next(left, None)
            if analysis is not None:
                watch.last = analysis
                changed = watch.monitor.update(self._names, analysis, row, silent)
                if changed:
                    verdicts = watch.monitor.verdicts(self._names, analysis)
                    self._changes += [_add_rows_left(verdicts[index], analysis.n_rows) for index in changed]
        seen = [(watch.history, watch.last) for watch in self._watches if watch.last is not None]
        if len(seen) == len(self._watches):  # counts come before the first block: all histories have the same rows
            for history, last in seen:
                history.append(row, last)

    def _list_silent(self, row: int) -> frozenset[Pair]:
        """Return the pairs of which one learner has not predicted yet."""
        spoken = (self.predicted_from < row).tolist()
        if all(spoken):
            return frozenset()
        pairs = zip(self._names, self._indices, strict=True)
        return frozenset(pair for pair, (first, second) in pairs if not (spoken[first] and spoken[second]))

    def _analyse_blocks(
        self, rows: Sequence[int], longest_delays: Sequence[int], *, final: bool = False
    ) -> Iterator[list[BlockAnalysis]]:
        """Yield for each reading the analyses of the measures that need blocks, none if they are not due.

        The looks of a batch are measured together, but for votes, whose bins need memory.
        """
        watches, facts = [watch for watch in self._watches if not watch.by_counts], self._live_blocks
        if not watches or facts.source is None:
            yield from ([] for _ in rows)
            return
        measures = [watch.monitor.measure for watch in watches]
        lasts = [watch.last for watch in watches]
        first_rows = [last.first_row if isinstance(last, BlockAnalysis) else None for last in lasts]
        looks: Iterable[BlockTallies | None] = self._build_due(
            facts.source, rows, longest_delays, lasts[0], final=final
        )
        measured: Iterator[NDArray[np.float64] | None] = repeat(None)
        if "ranks" not in list_statistics(measures):
            looks = list(looks)
            measured = iter(measure_looks_without_blocks([look for look in looks if look is not None], measures))
        for look in looks:
            analyses = []
            if look is not None:
                analyses = analyse_measures(
                    look,
                    measures,
                    self._indices,
                    facts.classes,
                    crossed=facts.crossed,
                    first_rows=first_rows,
                    values=next(measured),
                )
                first_rows = [analysis.first_row for analysis in analyses]
            yield analyses

    def _build_due(
        self,
        source: BlockSource,
        rows: Sequence[int],
        longest_delays: Sequence[int],
        last: Analysis | None,
        *,
        final: bool,
    ) -> Iterator[BlockTallies | None]:
        """Yield for each reading the tallies of blocks if they are to be analysed; None if not."""
        before = 0 if last is None else last.n_rows
        for row, longest_delay in zip(rows, longest_delays, strict=True):
            end, blocks = source.find_end(row), None
            is_due = end == row and 10 * end >= 11 * before  # as `list_looks` has it
            if end > before and (is_due or final or end == self._live_blocks.n_rows):
                blocks = source.build(row, min_length=BLOCK_DELAYS * longest_delay)
                before = before if blocks is None else int(blocks.rows[-1])
            yield blocks

    def take_changes(self) -> list[Verdict]:
        """Return the verdicts as they were reached, or no longer held, since the last call."""
        changes, self._changes = self._changes, []
        return changes

    def verdicts(self, failed: frozenset[str] = frozenset()) -> tuple[Verdict, ...]:
        """Return the verdicts of the last analysis, without pairs of failed learners, by pair and measure."""
        by_measure = [
            [_add_rows_left(verdict, watch.last.n_rows) for verdict in watch.monitor.verdicts(self._names, watch.last)]
            for watch in self._watches
            if watch.last is not None
        ]
        return tuple(
            verdict
            for of_pair in zip(*by_measure, strict=True)
            for verdict in of_pair
            if not {verdict.first, verdict.second} & failed
        )

    def differences(self, failed: frozenset[str] = frozenset()) -> Differences | None:
        """Return the history of the differences, without pairs of failed learners, by measure and pair."""
        parts = []
        for watch in self._watches:
            if watch.last is not None:
                judge = partial(watch.monitor.verdicts, self._names)
                parts.append(watch.history.differences(judge, (self._row, watch.last), failed))
        known = [part for part in parts if part is not None]
        return Differences.join(known) if known else None

    def sums(self, failed: frozenset[str] = frozenset()) -> tuple[PairSums, ...]:
        """Return the sums of all pairs, without those of failed learners."""
        return tuple(
            PairSums(first, second, *self._counter.sums(*indices))
            for (first, second), indices in zip(self._names, self._indices, strict=True)
            if not {first, second} & failed
        )

    def save(self) -> bytes:
        """Return the serialised state."""
        saved = [watch.save() for watch in self._watches]
        facts = {
            "names": self._names,
            "row": self._row,
            "predicted_from": self.predicted_from.tolist(),
            "measures": [watch.monitor.measure.name for watch in self._watches],
            "watches": [facts for facts, _ in saved],
        }
        return pack("PairWatch", facts, [self._counter.save(), *(state for _, state in saved)])

    def load(self, state: bytes) -> None:
        """Restore the saved state of a watch over the same learners; a damaged state raises and changes nothing."""
        facts, parts = unpack("PairWatch", state)
        measures = [watch.monitor.measure.name for watch in self._watches]
        if [tuple(pair) for pair in facts["names"]] != self._names or facts["measures"] != measures:
            msg = "the saved state is that of other learners, or of another live test"
            raise StreamgaugeError(msg)
        counter = _native.PairCounter(*self._shape)
        try:
            counter.load(parts[0])
        except ValueError as error:
            raise StreamgaugeError(str(error)) from error
        for watch, saved, monitor in zip(self._watches, facts["watches"], parts[1:], strict=True):
            watch.load(saved, monitor)
        self._counter, self._row = counter, facts["row"]
        self.predicted_from = np.array(facts["predicted_from"], dtype=np.int64)


def _add_rows_left(verdict: Verdict, n_rows: int) -> Verdict:
    """Return a verdict with about how many more rows it needs, if it is undecided and has an interval."""
    if verdict.row is not None or verdict.interval is None or n_rows < MIN_LIVE_ROWS:
        return verdict
    claim_alpha = verdict.alpha / verdict.n_claims
    scale = (verdict.interval[1] - verdict.interval[0]) / 2 * math.sqrt(n_rows)
    scale /= boundary_factor(n_rows, MIN_LIVE_ROWS, alpha=claim_alpha)

    def compute_radius(n: int) -> float:
        return scale * boundary_factor(n, MIN_LIVE_ROWS, alpha=claim_alpha) / math.sqrt(n)

    until = rows_until(verdict.difference, verdict.rope, compute_radius, n_rows)
    return verdict if until is None else replace(verdict, rows_left=until - n_rows)


def _to_json(analysis: Analysis) -> list[Any]:
    """Return an analysis as JSON values, which keep every bit of the numbers."""
    values = [getattr(analysis, field.name) for field in fields(analysis)]
    columns = [value.tolist() if isinstance(value, np.ndarray) else value for value in values]
    return [isinstance(analysis, BlockAnalysis), *columns]


def _from_json(values: list[Any]) -> Analysis:
    from_blocks, *columns = values
    if from_blocks:
        n_rows, n_blocks, first_row, differences, variance, crossed, notes = columns
        differences, variance = (np.array(column, dtype=np.float64) for column in (differences, variance))
        return BlockAnalysis(n_rows, n_blocks, first_row, differences, variance, crossed, tuple(notes))
    n_rows, n_scored, only_first, only_second, n_blocks, parts = columns
    return InterimAnalysis(
        n_rows=n_rows,
        n_scored=np.array(n_scored, dtype=np.int64),
        only_first=np.array(only_first, dtype=np.int64).reshape(-1, len(n_scored)),
        only_second=np.array(only_second, dtype=np.int64).reshape(-1, len(n_scored)),
        n_blocks=n_blocks,
        parts=np.array(parts).reshape(-1, 5),
    )
