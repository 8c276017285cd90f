"""The one loop: any number of learners and folds, in lock-step over the batches of a stream."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from streamgauge import _native
from streamgauge.backends import Threads
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.forgetting import Landmark
from streamgauge.interruption import asked_to_stop
from streamgauge.labelling import AllLabels
from streamgauge.learners import as_spec
from streamgauge.measures import build_state, facts_of, measured, measures_of
from streamgauge.naming import described
from streamgauge.progress import progress_bar
from streamgauge.protocols import (
    Backend,
    Forgetting,
    ForgettingState,
    Labelling,
    Learner,
    LearnerSpec,
    Measure,
    Scheme,
    Stream,
    Workers,
)
from streamgauge.randomness import fold_seed
from streamgauge.records import Batch, PairSums, Reading, Results, Schema, Step, Tally, Trace, readings_of
from streamgauge.schemes import Prequential
from streamgauge.streams import as_stream, drifts_of
from streamgauge.streams.truth import sooner

__all__ = ["Evaluation", "evaluate"]


def evaluate(
    stream: object,
    learners: object,
    *,
    progress: bool | None = False,
    on_reading: Callable[[Reading], object] | None = None,
    **options: object,
) -> Results:
    """Evaluate learners on a stream, all in one pass.

    It stands for this loop, run for every learner in every fold side by side::

        for x, y in stream:
            score(learner.predict(x), y)
            learner.learn(x, y)

    Ctrl-C ends it after the batch at hand; what was measured so far is returned, marked as not complete.

    Parameters
    ----------
    stream
        A stream, or a pair of arrays (x, y).
    learners
        A learner, several, or several by name; scikit-learn classifiers with `partial_fit` too.
    progress
        Whether to show a progress bar; None for only where standard error is a terminal.
    on_reading
        Called with every reading as soon as it is there.
    options
        Those of `Evaluation`: scheme, labelling, forgetting, measures, every, n_rows, seed, batch_size, backend.

    Examples
    --------
    >>> from streamgauge import HoeffdingTree, MajorityClass, SEA, evaluate
    >>> results = evaluate(SEA(n_rows=10_000), [HoeffdingTree(), MajorityClass()], every=5_000)
    >>> results.learners, results.rows.tolist()
    (('HoeffdingTree', 'MajorityClass'), [5000, 10000])
    >>> bool(results.curve("HoeffdingTree", "accuracy")[-1, 0] > results.curve("MajorityClass", "accuracy")[-1, 0])
    True
    """
    evaluation = Evaluation(stream, learners, **options)  # type: ignore[arg-type]
    if evaluation.n_rows is None:
        msg = "the stream never ends: say with n_rows how many rows to read, or iterate over an Evaluation"
        raise StreamgaugeError(msg)
    kept = []
    with asked_to_stop() as stopping, progress_bar(evaluation.n_rows, shown=progress) as advance_to:
        for progress_now in evaluation.advance(stopping):
            kept.append(progress_now)
            advance_to(progress_now.n_rows)
            if on_reading is not None:
                for reading in evaluation.readings_of(progress_now):
                    on_reading(reading)
    return evaluation.results(kept)


@dataclass(frozen=True)
class Progress:
    """What one batch brought: its stops and the values there, as in `Results`."""

    n_rows: int
    rows: NDArray[np.int64]
    values: NDArray[np.float64]


class Evaluation:
    """An evaluation that can be watched: iterate over it to get each reading as soon as it is there.

    Its memory does not grow with the stream, so the stream need not end.

    Parameters
    ----------
    stream, learners
        As for `evaluate`.
    scheme
        Which rows are tested and learnt in which fold.
    labelling
        Which labels the learners may see.
    forgetting
        How the past fades, or several ways of it.
    measures
        What to measure: names, measures, or plain functions of a tally or of y_true and y_pred; one or several.
    every
        A reading is taken after so many rows, and always at the end. None for 200 readings, or one every 10,000 rows
        where nobody knows how many rows there will be.
    n_rows
        How many rows to read at most.
    seed
        Decides the folds and, with each learner's own seed, the learners' randomness.
    batch_size
        How many rows go into native code at once; the results do not depend on it.
    backend
        Where the cells run; the results do not depend on it.

    Examples
    --------
    >>> from streamgauge import SEA, NaiveBayes
    >>> for reading in Evaluation(SEA(), NaiveBayes(), every=1000):
    ...     if reading.row == 3000:
    ...         break
    >>> reading.measure
    'accuracy'
    """

    def __init__(  # noqa: PLR0913
        self,
        stream: object,
        learners: object,
        *,
        scheme: Scheme = Prequential(),
        labelling: Labelling = AllLabels(),
        forgetting: Forgetting | Sequence[Forgetting] = Landmark(),
        measures: object = "accuracy",
        every: int | None = None,
        n_rows: int | None = None,
        seed: int = 1,
        batch_size: int = 32_768,
        backend: Backend = Threads(),
    ) -> None:
        self.stream: Stream = as_stream(stream)
        self.specs = named_learners(learners)
        self.scheme, self.labelling, self.backend, self.seed = scheme, labelling, backend, seed
        self.forgettings = tuple(forgetting) if isinstance(forgetting, Sequence) else (forgetting,)
        self.measures: tuple[Measure, ...] = measures_of(measures, self.stream)
        for option, value in (("n_rows", n_rows), ("every", every), ("batch_size", batch_size)):
            if value is not None:
                require_at_least(option, value, 1)
        require_at_least("seed", seed, 0)
        self.n_rows = sooner(n_rows, self.stream.n_rows)
        self.every = every or (10_000 if self.n_rows is None else max(1, self.n_rows // 200))
        self.batch_size = batch_size
        self._pairs = _native.PairCounter(len(self.specs), scheme.n_folds)
        self._n_done = 0
        self._seconds = 0.0
        self._complete = False

    def __iter__(self) -> Iterator[Reading]:
        for progress in self.advance():
            yield from self.readings_of(progress)

    def readings_of(self, progress: Progress) -> Iterator[Reading]:
        """Give the readings that a batch brought."""
        names = (tuple(self.specs), self._forgetting_names, self._measure_names)
        return readings_of(progress.rows, progress.values, *names)

    def advance(self, stopping: Callable[[], bool] = lambda: False) -> Iterator[Progress]:
        """Run from the start, batch by batch, until the rows end or `stopping` says so."""
        schema = self.stream.schema
        folds = [_Fold(fold, schema) for fold in range(self.scheme.n_folds)]
        cells = [
            _Cell(name, spec.build(schema, fold_seed(self.seed, fold.number, spec.seed)), fold, self._states(schema))
            for (name, spec), fold in product(self.specs.items(), folds)
        ]
        self._pairs = _native.PairCounter(len(self.specs), len(folds))
        self._n_done, self._complete = 0, False
        checked = getattr(self.stream, "checked", False)
        started = time.perf_counter()
        with self.backend.start() as workers:
            for batch in _limited(self.stream.batches(self.batch_size), self.n_rows):
                if not checked:
                    schema.check(batch)
                yield self._advance_by(batch, folds, cells, workers)
                self._seconds = time.perf_counter() - started
                if stopping():
                    break
            else:
                self._complete = True
        if self._n_done % self.every:  # the last part of the stream has a reading too
            yield Progress(
                self._n_done, np.array([self._n_done]), self._measured([cell.finish(self._n_done) for cell in cells])
            )

    def _advance_by(self, batch: Batch, folds: "list[_Fold]", cells: "list[_Cell]", workers: Workers) -> Progress:
        stop = batch.start + len(batch)
        stops = list(range((batch.start // self.every + 1) * self.every, stop + 1, self.every))

        def prepare(fold: "_Fold") -> None:
            fold.take(self.labelling.reveal(self.scheme.step(batch, fold.number, self.seed), self.seed))

        workers.map(prepare, folds)
        with_votes = any(getattr(measure, "needs_votes", False) for measure in self.measures)
        tallies = workers.map(lambda cell: cell.advance(stops, with_votes=with_votes), cells)
        if len(self.specs) > 1:
            correct = np.stack([cell.correct for cell in cells]).reshape(len(self.specs), len(folds), len(batch))
            whole = all(fold.step.scored is None for fold in folds)
            scored = None if whole else np.stack([fold.scored_mask for fold in folds])
            self._pairs.update(correct, scored)
        self._n_done = stop
        return Progress(stop, np.array(stops, dtype=np.int64), self._measured(tallies))

    def _states(self, schema: Schema) -> list[ForgettingState]:
        return [build_state(forgetting, schema.n_classes, self.measures) for forgetting in self.forgettings]

    def _measured(self, tallies: Sequence[Sequence[Sequence[Tally]]]) -> NDArray[np.float64]:
        """Measure the tallies [cell][forgetting][stop] into values [stop, learner, fold, forgetting, measure]."""
        values = measured(self.measures, [of_stops for of_cell in tallies for of_stops in of_cell])
        shape = (len(self.specs), self.scheme.n_folds, len(self.forgettings), *values.shape[1:])
        return np.moveaxis(values.reshape(shape), 3, 0)

    @property
    def _forgetting_names(self) -> tuple[str, ...]:
        return tuple(described(forgetting) for forgetting in self.forgettings)

    @property
    def _measure_names(self) -> tuple[str, ...]:
        return tuple(measure.name for measure in self.measures)

    def results(self, progress: Iterable[Progress]) -> Results:
        """Put together what the batches brought."""
        kept = [part for part in progress if len(part.rows)]
        shape = (0, len(self.specs), self.scheme.n_folds, len(self.forgettings), len(self.measures))
        names = list(self.specs)
        pairs = tuple(
            PairSums(names[a], names[b], *self._pairs.sums(a, b))
            for a, b in product(range(len(names)), repeat=2)
            if a < b
        )
        return Results(
            np.concatenate([np.empty(0, dtype=np.int64), *(part.rows for part in kept)]),
            np.concatenate([np.empty(shape), *(part.values for part in kept)]),
            tuple(names),
            self._forgetting_names,
            self._measure_names,
            pairs,
            self._n_done,
            self._complete,
            self._description(),
        )

    def _description(self) -> dict[str, object]:
        learners = {name: {"spec": described(spec), "seedless": spec.seedless} for name, spec in self.specs.items()}
        test = getattr(self.scheme, "test", "all")
        return {
            "stream": {"name": described(self.stream), "fingerprint": self.stream.fingerprint, "n_rows": self.n_rows},
            "drifts": [asdict(drift) for drift in drifts_of(self.stream, self._n_done)],
            "learners": learners,
            "scheme": {"name": described(self.scheme), "n_folds": self.scheme.n_folds, "test": test},
            "labelling": described(self.labelling),
            "forgettings": list(self._forgetting_names),
            "measures": {m.name: facts_of(m) for m in self.measures},
            "every": self.every,
            "seed": self.seed,
            "seconds": self._seconds,
        }


class _Fold:
    """What the learners of one fold share: the step at hand and the hits of the two baselines."""

    def __init__(self, number: int, schema: Schema) -> None:
        self.number = number
        self._baselines = _native.Baselines(schema.n_classes)

    def take(self, step: Step) -> None:
        """Take the next step and let the baselines predict it."""
        self.step = step
        self._scored = scored = slice(None) if step.scored is None else step.scored
        self.row = np.arange(step.batch.start, step.batch.start + len(step.batch))[scored]
        self.y_true = step.batch.y[scored]
        columns = (step.batch.weight, step.batch.time)
        self.weight, self.time = (None if column is None else column[scored] for column in columns)
        hits = self._baselines.update(step.batch.y, step.labels, step.learning_weight)
        self.majority_hit, self.no_change_hit = (hit[scored] for hit in hits)

    @property
    def scored_mask(self) -> NDArray[np.bool_]:
        """Which rows of the batch are scored."""
        mask = np.zeros(len(self.step.batch), dtype=np.bool_)
        mask[self._scored] = True
        return mask

    def trace(self, predictions: NDArray[np.int32], votes: NDArray[np.float64] | None) -> Trace:
        """Make the trace of one learner's predictions."""
        votes = None if votes is None else votes[self._scored]
        hits = (self.majority_hit, self.no_change_hit)
        return Trace(self.row, self.y_true, predictions[self._scored], *hits, self.weight, votes, self.time)


class _Cell:
    """One learner in one fold; it touches only its own state."""

    def __init__(self, name: str, learner: Learner, fold: _Fold, states: Sequence[ForgettingState]) -> None:
        self._name, self._learner, self._fold, self._states = name, learner, fold, states

    def advance(self, stops: Sequence[int], *, with_votes: bool) -> list[Sequence[Tally]]:
        """Do the step of the fold; give the tallies per forgetting and stop."""
        batch = self._fold.step.batch
        try:
            predictions, votes = self._learner.interleave(self._fold.step, with_votes=with_votes)
        except Exception as error:
            msg = (
                f"learner {self._name!r} failed in fold {self._fold.number}, "
                f"rows {batch.start} to {batch.start + len(batch) - 1}: {type(error).__name__}: {error}"
            )
            raise StreamgaugeError(msg) from error
        self.correct: NDArray[np.bool_] = np.equal(predictions, batch.y)
        trace = self._fold.trace(predictions, votes)
        return [state.update(trace, stops) for state in self._states]

    def finish(self, stop: int) -> list[Sequence[Tally]]:
        """Give the tallies at the end."""
        nothing = slice(0, 0)
        hits = (self._fold.majority_hit[nothing], self._fold.no_change_hit[nothing])
        y = self._fold.y_true[nothing]
        trace = Trace(self._fold.row[nothing], y, y, *hits, votes=np.empty((0, 0)))
        return [state.update(trace, [stop]) for state in self._states]


def named_learners(learners: object) -> dict[str, LearnerSpec]:
    """Give every learner a name: the given one, or its class's, with its options where two would be the same.

    Examples
    --------
    >>> from streamgauge import MajorityClass, NoChange
    >>> list(named_learners([MajorityClass(), NoChange()]))
    ['MajorityClass', 'NoChange']
    """
    if isinstance(learners, Mapping):
        named = {str(name): as_spec(learner) for name, learner in learners.items()}
    else:
        specs = [as_spec(one) for one in (learners if isinstance(learners, list | tuple) else (learners,))]
        short = [type(getattr(spec, "estimator", spec)).__name__ for spec in specs]
        names = [name if short.count(name) == 1 else described(spec) for name, spec in zip(short, specs, strict=True)]
        named = dict(zip(names, specs, strict=True))
        if len(named) < len(specs):
            repeated = next(name for name in names if names.count(name) > 1)
            msg = (
                f"two learners are the same: {repeated}; give them names, as in {{'a': ..., 'b': ...}}, or other seeds"
            )
            raise StreamgaugeError(msg)
    if not named:
        msg = "there is no learner to evaluate"
        raise StreamgaugeError(msg)
    return named


def _limited(batches: Iterator[Batch], n_rows: int | None) -> Iterator[Batch]:
    """Give the batches up to a number of rows."""
    for batch in batches:
        if n_rows is None or batch.start + len(batch) < n_rows:
            yield batch
            continue
        left = slice(0, n_rows - batch.start)
        columns = (None if column is None else column[left] for column in (batch.weight, batch.time))
        yield Batch(batch.start, batch.x[left], batch.y[left], *columns)
        return
