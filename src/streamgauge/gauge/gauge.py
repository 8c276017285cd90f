"""The instrument alone: labels and predictions are pushed in, readings and verdicts are read out."""

import threading
import time as clock
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from streamgauge._engine.collector import Progress
from streamgauge._engine.pushed import PushedModel, PushedRows, PushedRun
from streamgauge._foreign import name_callable, needs_times
from streamgauge._format.text import to_text
from streamgauge.errors import FailureWarning, StreamgaugeError, require_at_least, require_between, require_kind
from streamgauge.evaluation import Evaluation
from streamgauge.gauge.classes import ClassCodes
from streamgauge.gauge.columns import ClassReader, NumberReader, PushedColumns, RowReader, is_column
from streamgauge.gauge.history import ReadingHistory
from streamgauge.gauge.merging import find_obstacle
from streamgauge.gauge.metrics import format_metrics
from streamgauge.gauge.reading import GaugeReading
from streamgauge.gauge.waiting import JoinCounts, Row, WaitingRows
from streamgauge.measures import depends_on_classes, describe_measure, expand_all, measure
from streamgauge.measures.errors import AdjustedR2, adjusted_r2
from streamgauge.measures.functions import describe_error
from streamgauge.measures.own import FunctionMeasure
from streamgauge.names import FAMILIES, make
from streamgauge.protocols import Forgetting
from streamgauge.records import Alarm, ModelVerdict, NumericTarget, Schema, Verdict
from streamgauge.records.serialise import loading, pack, unpack
from streamgauge.results import Results
from streamgauge.significance.live import LiveTest
from streamgauge.significance.requirements import as_requirements
from streamgauge.streams.output_files import replace_atomically
from streamgauge.tasks import find_task

__all__ = ["Gauge"]

Event = Alarm | Verdict | ModelVerdict
"""What a gauge calls functions with: an alarm, or a verdict that was reached or no longer holds."""

MAX_ROWS_WAITING = 8_192
"""When this number of single rows has been pushed, they are counted."""

MAX_PENDING = 65_536
"""When this number of rows of columns has been pushed, they are counted."""

MAX_BATCH = 4 * MAX_PENDING
"""The most rows that are counted at once."""

TALLY_BYTES = 64 << 20
"""The most bytes of the confusion matrices of the readings of a batch."""

FLUSH_SECONDS = 1.0
"""How often rows are counted while functions wait for events."""


class Gauge:
    """Measures predictions that another program makes: push rows in, read values and verdicts out.

    It computes what `evaluate` computes on the same predictions in prequential evaluation with all labels. It may be
    used from several threads and from asyncio: pushing a row only stores it, and rows are counted when thousands wait
    or when something is read.

    Parameters
    ----------
    measures, forgetting, detectors, live_test, budgets
        As for `evaluate`.
    numeric
        Whether targets and predictions are numbers rather than classes.
    models
        The names of the models, if there are several: `y_pred` is then a dictionary by name. Or the name of the one.
    classes
        The classes that are known, in the order of the columns of probabilities. Others get the next codes as they
        appear in labels or predictions.
    score_of
        The class whose probability the predictions are, if they are one number for each row; two classes only. From 0.5
        on it is the predicted class.
    every
        The number of rows between two readings of the curve, at which verdicts are updated.
    patience
        How many seconds a prediction waits for its label, see `predicted`.
    most_waiting
        The most predictions that wait.

    Examples
    --------
    >>> gauge = Gauge(["accuracy", "kappa"], forgetting="Window(3)")
    >>> for y_true, y_pred in [("up", "up"), ("up", "down"), ("down", "down"), ("down", "down")]:
    ...     gauge.update(y_true, y_pred)
    >>> gauge.reading()["accuracy"].__round__(3)
    0.667
    >>> gauge.update(["up", "down"], ["up", "down"])
    >>> print(gauge.reading())
    After 6 rows
    accuracy 100.00%
    kappa 100.00%
    """

    def __init__(  # noqa: PLR0913
        self,
        measures: object = None,
        *,
        numeric: bool = False,
        models: str | Sequence[str] = "model",
        classes: Sequence[object] | None = None,
        score_of: object = None,
        forgetting: Forgetting | str | Sequence[Forgetting | str] | None = None,
        detectors: object = (),
        every: int = 1000,
        live_test: LiveTest | None = LiveTest(),
        budgets: object = None,
        patience: float = 86_400.0,
        most_waiting: int = 1_000_000,
    ) -> None:
        require_at_least("every", every, 1)
        require_at_least("most_waiting", most_waiting, 1)
        require_between("patience", patience, 0.0, float("inf"))
        self.models: tuple[str, ...] = _check_models(models)
        self._classes = ClassCodes(() if classes is None else classes)
        self._reader: RowReader = (
            NumberReader(self.models) if numeric else ClassReader(self._classes, self.models, score_of)
        )
        if numeric and (classes is not None or score_of is not None):
            msg = "numeric = True: numbers have no classes, so leave out classes= and score_of="
            raise StreamgaugeError(msg)
        if numeric:
            _refuse_unknown_attributes(measures)
        if not len(self._classes) and not numeric:
            _refuse_class_names(measures, budgets)
        self._options: dict[str, Any] = {
            "measures": measures,
            "forgetting": forgetting,
            "detectors": detectors,
            "every": every,
            "live_test": live_test,
            "budgets": budgets,
        }
        self._own = {"numeric": numeric, "score_of": score_of, "patience": patience, "most_waiting": most_waiting}
        self._lock = threading.RLock()
        self._specs = {name: PushedModel(name) for name in self.models}
        self._origin = 0.0
        self._evaluation = self._build(self._make_schema(("0", "1")))
        self.forgettings, self.measures = self._evaluation.forgettings, self._evaluation.measures
        self._needs_times = any(map(needs_times, self.forgettings))
        self._reader.with_votes = self._evaluation.run_spec.with_votes
        self._run: PushedRun | None = None
        self._history = ReadingHistory(every)
        self._waiting = WaitingRows(patience, most_waiting)
        self._rows: list[int | Row] = []
        self._is_mixed = False  # whether a row has ever been more than one number
        self._columns: list[PushedColumns] = []
        self._n_pending = 0
        self._needs_look = False
        self._has_times: bool | None = True if self._needs_times else None
        self._last_time: float | None = None
        self._failure: Exception | None = None
        self._functions: list[Callable[[Event], object]] = []
        self._flusher: threading.Thread | None = None
        self._closed = threading.Event()
        fast = len(self.models) == 1 and score_of is None and not self._needs_times and not numeric
        self._true_part = self._classes.true_part if fast else {}
        self._predicted_part = self._classes.predicted_part if fast else {}

    def _make_schema(self, unknown: tuple[str, ...] = ("0",)) -> Schema:
        """Return the schema of the rows so far; `unknown` stands for the classes as long as there are none."""
        if self._own["numeric"]:
            return Schema((), target=NumericTarget("y", self._origin))
        return Schema((), self._classes.names or unknown)

    def _build(self, schema: Schema) -> Evaluation:
        return Evaluation(PushedRows(schema), self._specs, **self._options)

    # pushing

    def update(
        self,
        y_true: object,
        y_pred: object,
        weight: object = None,
        time: object = None,
    ) -> None:
        """Add one row, or columns of rows.

        Parameters
        ----------
        y_true
            The true class, or a column of them. None or NaN for an unknown one: such a row is counted, but not scored.
        y_pred
            The predicted class; or its probabilities, a dictionary by class or a sequence in the order of `classes`;
            None for no prediction, which counts as an error. Of rows a column of them, an array [n, classes], or a
            dictionary of columns by class. With several `models` a dictionary of all that by model.
        weight
            The weight of the row, or a column; None for 1.
        time
            When the row arrived, in seconds since 1970, or a column. None for now if a forgetting needs times.

        Examples
        --------
        >>> gauge = Gauge("log_loss", models=["champion", "challenger"], classes=["ok", "fraud"])
        >>> gauge.update("fraud", {"champion": [0.5, 0.5], "challenger": {"fraud": 1.0}})
        >>> [round(one.value, 3) for one in gauge.reading()]
        [0.693, 0.0]
        """
        if weight is None and time is None:
            try:
                row = self._true_part[y_true] + self._predicted_part[y_pred]
            except (KeyError, TypeError):
                pass
            else:
                rows = self._rows
                rows.append(row)  # one step for all threads; whoever counts the rows removes them from this same list
                if len(rows) >= MAX_ROWS_WAITING:
                    self.flush()
                return
        if is_column(y_true):
            self._add_columns(self._reader.read_columns(y_true, y_pred, weight, self._find_time(time)))
        else:
            code, prediction = self._reader.read_label(y_true), self._read_prediction(y_pred, weight, time)
            self._add_row((code, *prediction))

    def predicted(self, key: str | int, y_pred: object, weight: object = None, time: object = None) -> None:
        """Keep a prediction until its label comes; it is scored then, in the order of the labels.

        If no label comes for `patience` seconds, the prediction is dropped; `counts` has the number of such. A second
        prediction with the same key is ignored, so that an event may be sent again.

        Parameters
        ----------
        key
            What the label will come with: a text or a whole number.
        y_pred, weight, time
            As for `update`, of one row.

        Examples
        --------
        >>> gauge = Gauge()
        >>> gauge.predicted("order 17", "ok")
        >>> gauge.labelled("order 17", "fraud")
        True
        >>> gauge.reading()["accuracy"], gauge.counts.joined
        (0.0, 1)
        """
        prediction = self._read_prediction(y_pred, weight, time)
        with self._lock:
            row = self._waiting.add_prediction(_check_key(key), prediction, clock.time())
        if row is not None:
            self._add_row(row)

    def labelled(self, key: str | int, y_true: object) -> bool:
        """Score the prediction with a key; return whether there was one. A label may also come before it."""
        code = self._reader.read_label(y_true, needed=True)
        with self._lock:
            row = self._waiting.add_label(_check_key(key), code, clock.time())
        if row is not None:
            self._add_row(row)
        return row is not None

    def _read_prediction(self, y_pred: object, weight: object, time: object) -> Any:  # noqa: ANN401
        return self._reader.read_prediction(y_pred, weight, self._find_time(time))

    def _find_time(self, time: object) -> object:
        """Return the time of rows, now if it is needed; raise if other rows had a time and these have none."""
        if time is None and self._needs_times:
            return clock.time()
        if self._has_times is None:
            self._has_times = time is not None
        elif self._has_times != (time is not None):
            have = "the rows before had times" if self._has_times else "the rows before had none"
            msg = f"time = {time!r}: {have}; give a time with every row or with none"
            raise StreamgaugeError(msg)
        return time

    def _add_row(self, row: Row) -> None:
        self._is_mixed = True
        self._rows.append(row)
        if len(self._rows) >= MAX_ROWS_WAITING:
            self.flush()

    def _add_columns(self, columns: PushedColumns) -> None:
        with self._lock:
            self._take_rows()
            self._columns.append(columns)
            self._n_pending += len(columns.y)
            if self._n_pending >= MAX_PENDING:
                self.flush()

    def _take_rows(self) -> None:
        """Move the single rows that have been pushed into columns."""
        n = len(self._rows)
        if n:
            rows = self._rows[:n]
            del self._rows[:n]
            self._columns += self._reader.collect_rows(rows, mixed=self._is_mixed)
            self._n_pending += n

    def flush(self) -> None:
        """Count all rows that have been pushed; whatever reads from the gauge does it first."""
        with self._lock:
            if self._failure is not None:
                msg = f"the gauge has failed before: {self._failure}"
                raise StreamgaugeError(msg) from self._failure
            self._take_rows()
            if not self._n_pending:
                return
            columns, self._columns, self._n_pending = self._columns, [], 0
            try:
                self._count(columns)
            except Exception as error:
                self._failure = error
                raise

    def _count(self, parts: Sequence[PushedColumns]) -> None:
        if self._run is None and self._own["numeric"]:
            known = (part.y[~np.isnan(part.y)] for part in parts)
            self._origin = next((float(column[0]) for column in known if len(column)), 0.0)
        run = self._grow()
        columns = PushedColumns.join(
            parts, self._evaluation.stream.schema.n_classes, with_votes=self._reader.with_votes
        )
        if columns.time is not None and len(columns.time):
            self._last_time = float(columns.time[-1])
        size = self._find_batch_size()
        for start in range(0, len(columns.y), size):
            rows = slice(start, start + size)
            predictions = [
                (codes[rows], None if votes is None else votes[rows]) for codes, votes in columns.predictions
            ]
            weight, time = (None if column is None else column[rows] for column in (columns.weight, columns.time))
            self._note(run.push(columns.y[rows], predictions, weight, time))

    def _find_batch_size(self) -> int:
        tally_bytes = find_task(self._evaluation.stream.schema).tally_bytes
        reading_bytes = tally_bytes * len(self.models) * len(self.forgettings)
        return min(MAX_BATCH, max(1, TALLY_BYTES // reading_bytes) * self.every)

    def _grow(self) -> PushedRun:
        """Return the run, built for all classes that have appeared."""
        schema = self._make_schema()
        if self._run is not None and self._evaluation.stream.schema == schema:
            return self._run
        state = None if self._run is None else self._run.save()
        if self._evaluation.stream.schema != schema:
            self._evaluation = self._build(schema)
        self._run = self._evaluation.push_rows()
        if state is not None:
            self._run.load(state)
        return self._run

    def _note(self, progress: Progress) -> None:
        """Keep the readings of a batch, and call the functions that wait for events."""
        self._history.add(progress)
        for event in (*progress.alarms, *progress.new_verdicts):
            for function in self._functions:
                try:
                    function(event)
                except Exception as error:  # of a user's function, which must not stop the measuring
                    msg = f"{name_callable(function)} failed for an event of the gauge: {describe_error(error)}"
                    warnings.warn(msg, FailureWarning, stacklevel=2)

    # reading

    @property
    def every(self) -> int:
        """The number of rows between two readings of the curve."""
        return self._evaluation.every

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes so far, by code."""
        return self._classes.names

    @property
    def n_rows(self) -> int:
        """The number of rows so far, without those that wait for a label."""
        with self._lock:
            return (0 if self._run is None else self._run.n_done) + self._n_pending + len(self._rows)

    @property
    def counts(self) -> JoinCounts:
        """What happened to predictions and labels that came with a key."""
        with self._lock:
            self._waiting.expire(clock.time())
            return JoinCounts(**vars(self._waiting.counts))

    def reading(self) -> GaugeReading:
        """Return the current value of every measure, for each model and forgetting.

        Examples
        --------
        >>> gauge = Gauge(["accuracy", "error"])
        >>> gauge.update([1, 0, 1, 1], [1, 0, 0, 1])
        >>> gauge.reading()["error"]
        0.25
        """
        with self._lock:
            run = self._read()
            shape = (len(self.models), len(self.forgettings), len(self.measures))
            values = np.full(shape, np.nan) if run is None else run.read()
            return GaugeReading(
                row=0 if run is None else run.n_done,
                time=self._last_time,
                models=self.models,
                forgettings=tuple(map(to_text, self.forgettings)),
                measures=tuple(known.name for known in self.measures),
                values=values,
                units=tuple(str(describe_measure(known)["unit"]) for known in self.measures),
            )

    def _read(self) -> PushedRun | None:
        """Count all rows and return the run; None if there were none."""
        self.flush()
        if self._run is not None and self._needs_look:
            self._needs_look = False
            progress = self._run.finish(always=True)
            if progress is not None:
                self._note(progress)
        return self._run

    def results(self) -> Results:
        """Return the results so far, as `evaluate` would: for reports, plots, tests and tables.

        The gauge does not change. Of the curve at most some 4,000 readings are kept.

        Examples
        --------
        >>> gauge = Gauge(models=["a", "b"], every=2)
        >>> gauge.update([1, 0, 1, 1], {"a": [1, 0, 0, 1], "b": [0, 0, 0, 1]})
        >>> gauge.results()
        After 4 rows of a gauge, over all rows
           accuracy %
        a      75.00*
        b       50.00
        """
        with self._lock:
            run = self._read()
            if run is None:
                msg = "the gauge has no rows yet: push some with update(), or with predicted() and labelled()"
                raise StreamgaugeError(msg)
            evaluation = self._build(self._evaluation.stream.schema)
            copy = evaluation.push_rows()
            copy.load(run.save())
            last = copy.finish()
            parts = self._history.list_parts(len(evaluation.stream.schema.classes))
            return evaluation.results([*parts, *([] if last is None else [last])])

    def curve(
        self, measure: str, model: str | None = None, forgetting: str | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the rows of the readings, and the values of a measure there.

        Examples
        --------
        >>> gauge = Gauge(every=2)
        >>> gauge.update([1, 0, 1, 1], [1, 0, 0, 1])
        >>> [column.tolist() for column in gauge.curve("accuracy")]
        [[2, 4], [1.0, 0.75]]
        """
        results = self.results()
        if model is None and len(self.models) > 1:
            msg = f"there are several models: give one of {', '.join(self.models)}"
            raise StreamgaugeError(msg)
        return results.rows, results.curve(model or self.models[0], measure, forgetting)[:, 0]

    def verdicts(self) -> tuple[Verdict | ModelVerdict, ...]:
        """Return what is known of each pair of models and of each model and budget, at the last reading.

        Examples
        --------
        >>> gauge = Gauge(budgets="error<0.2", every=1000)
        >>> gauge.update([1] * 2000, [1, 1, 0, 1] * 500)
        >>> print(gauge.verdicts()[0])
        model breaks error<0.2: its error is 25.00%, at least 21.23%; known since row 2,000
        """
        with self._lock:
            run = self._read()
            return () if run is None else (*run.collector.verdicts, *run.collector.model_verdicts)

    def alarms(self) -> tuple[Alarm, ...]:
        """Return the alarms of the detectors so far, at most the newest 10,000."""
        with self._lock:
            self._read()
            return tuple(self._history.alarms)

    def report(self, path: Path | str = "report.html", **options: Any) -> Path:  # noqa: ANN401
        """Write a report to a file and return its path; see `Results.report`."""
        return self.results().report(path, **options)

    def metrics(self, name: str = "gauge") -> str:
        """Return values, verdicts and counts in the text format of Prometheus, for an endpoint of a service.

        Parameters
        ----------
        name
            The label that tells this gauge from others.

        Examples
        --------
        >>> gauge = Gauge()
        >>> gauge.update([1, 0], [1, 1])
        >>> [line for line in gauge.metrics("shop").splitlines() if line.startswith("streamgauge_measure")]
        ['streamgauge_measure{gauge="shop",model="model",measure="accuracy",forgetting="Landmark()"} 0.5']
        """
        with self._lock:
            return format_metrics(name, self.reading(), self._history.n_alarms, self.verdicts(), self.counts)

    # events

    def notify(self, function: Callable[[Event], object]) -> None:
        """Call a function with each alarm, and each verdict as it is reached or no longer holds, once each.

        Rows are from now on counted every second, so that an event is not late; `close` ends that. The function is
        called while the gauge is locked, so it must be quick: `streamgauge.sinks` has functions that only queue events.
        If it raises, there is a warning, and measuring continues.

        Examples
        --------
        >>> gauge, events = Gauge(budgets="error<0.2"), []
        >>> gauge.notify(events.append)
        >>> gauge.update([1] * 4000, [1, 1, 0, 1] * 1000)
        >>> gauge.close()
        >>> [event.outcome for event in events]
        ['broken']
        """
        require_kind("function", function, Callable, "a function of one argument")  # type: ignore[arg-type]
        with self._lock:
            self._functions.append(function)
            if self._flusher is None:
                self._closed.clear()
                self._flusher = threading.Thread(target=self._flush_regularly, name="gauge", daemon=True)
                self._flusher.start()

    def _flush_regularly(self) -> None:
        while not self._closed.wait(FLUSH_SECONDS):
            try:
                self.flush()
            except Exception:  # the next call of the gauge raises it
                return

    def close(self) -> None:
        """Count all rows and stop counting them every second; the gauge may still be read and pushed to."""
        self._closed.set()
        flusher, self._flusher = self._flusher, None
        if flusher is not None:
            flusher.join()
        self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # states

    def save(self, path: Path | str) -> Path:
        """Save the whole gauge in a file and return its path; predictions that wait for their labels are part of it.

        Examples
        --------
        >>> from tempfile import mkdtemp
        >>> gauge = Gauge()
        >>> gauge.update([1, 0, 1], [1, 0, 0])
        >>> Gauge.load(gauge.save(Path(mkdtemp()) / "gauge")).reading() ["accuracy"].__round__(3)
        0.667
        """
        state, path = self.to_bytes(), Path(path)
        with replace_atomically(path) as temporary:
            temporary.write_bytes(state)
        return path

    def to_bytes(self) -> bytes:
        """Return the whole gauge as bytes, which `from_bytes` reads."""
        with self._lock:
            self._read()
            facts = {
                "models": self.models,
                "classes": self.classes,
                "n_declared": self._reader.n_declared,
                "options": self._describe_options(),
                **self._own,
                "origin": self._origin,
                "has_times": self._has_times,
                "last_time": self._last_time,
                "waiting": self._waiting.save(),
            }
            run = b"" if self._run is None else self._run.save()
            return pack("gauge", facts, [run, self._history.save()])

    def _describe_options(self) -> dict[str, Any]:
        """Return the options as plain values; raise if one of them is an object that text cannot describe."""
        call = self._evaluation.describe_arguments()
        obstacles = [why for why in call["obstacles"] if not why.startswith(("stream", "learner"))]
        if obstacles:
            msg = f"the gauge cannot be saved: {'; '.join(obstacles)}"
            raise StreamgaugeError(msg)
        names = ("measures", "forgettings", "detectors", "live_test", "every")
        return {**{name: call[name] for name in names}, "budgets": call.get("budgets")}

    @classmethod
    def load(cls, path: Path | str) -> "Gauge":
        """Return a gauge that was saved in a file."""
        try:
            state = Path(path).read_bytes()
        except OSError as error:
            msg = f"cannot read {path}: {error.strerror or error}"
            raise StreamgaugeError(msg) from None
        return cls.from_bytes(state)

    @classmethod
    def from_bytes(cls, state: bytes) -> "Gauge":
        """Return a gauge from the bytes of `to_bytes`."""
        facts, parts = unpack("gauge", state)
        with loading("gauge"):
            options, (run, history) = facts["options"], parts
            detectors = FAMILIES["detectors"]()
            live_test = options["live_test"]
            gauge = cls(
                options["measures"],
                models=facts["models"] if len(facts["models"]) > 1 else facts["models"][0],
                numeric=facts["numeric"],
                classes=None if facts["numeric"] else facts["classes"][: facts["n_declared"]],
                score_of=facts["score_of"],
                forgetting=options["forgettings"],
                detectors={name: make("detector", text, detectors) for name, text in options["detectors"].items()},
                every=options["every"],
                live_test=None if live_test is None else make("live test", live_test, {"LiveTest": LiveTest}),
                budgets=options["budgets"],
                patience=facts["patience"],
                most_waiting=facts["most_waiting"],
            )
            for name in facts["classes"]:
                gauge._classes.find(name)
            gauge._origin = facts["origin"]
            if run:
                gauge._grow().load(run)
            gauge._history.load(history)
            gauge._has_times, gauge._last_time = facts["has_times"], facts["last_time"]
            gauge._waiting.load(facts["waiting"])
        return gauge

    def __reduce__(self) -> tuple[object, ...]:
        return Gauge.from_bytes, (self.to_bytes(),)

    def merge(self, other: "Gauge") -> None:
        """Add all rows of another gauge with the same options, such as that of another process.

        Counts, sums, areas and pairs are those of one gauge that saw all rows, and so are verdicts that follow from
        them. It is refused where the order of the rows of both would matter, which is unknown: under forgettings other
        than `Landmark`, with detectors, for measures of the baselines, and for budgets and pairs that are judged by
        blocks of consecutive rows. The curve so far is dropped.

        Examples
        --------
        >>> first, second = Gauge(), Gauge()
        >>> first.update([1, 0], [1, 1])
        >>> second.update(["other", 0], [0, 0])
        >>> first.merge(second)
        >>> first.reading()["accuracy"], first.classes
        (0.5, ('1', '0', 'other'))
        """
        if other is self:
            msg = "a gauge cannot be merged with itself: its rows would count twice"
            raise StreamgaugeError(msg)
        with other._lock:
            other.flush()
            theirs, run = other.classes, None if other._run is None else other._run.save()
            options, waiting = other._describe_options() | {"models": other.models}, other._waiting
            last_time, has_times = other._last_time, other._has_times
        with self._lock:
            self.flush()
            if self._describe_options() | {"models": self.models} != options:
                msg = "the gauges have other models or options: only gauges that measure the same can be merged"
                raise StreamgaugeError(msg)
            obstacle = find_obstacle(self._evaluation)
            if obstacle:
                msg = f"the gauges cannot be merged: {obstacle}"
                raise StreamgaugeError(msg)
            if run is not None and self._run is not None and has_times != self._has_times:
                msg = "the rows of one gauge have times, those of the other have none"
                raise StreamgaugeError(msg)
            codes = [self._classes.find(name) for name in theirs]
            if run is not None:
                self._grow().merge(run, codes[: other._evaluation.stream.schema.n_classes] or [0])
                self._history.clear()
                self._needs_look = True
                times = [time for time in (self._last_time, last_time) if time is not None]
                self._last_time, self._has_times = max(times, default=None), has_times
            for row in self._waiting.merge(waiting, codes):
                self._add_row(row)


def _check_models(models: str | Sequence[str]) -> tuple[str, ...]:
    names = (models,) if isinstance(models, str) else tuple(models)
    if not names or len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
        msg = f"models = {models!r}: give a name, or a list of different names"
        raise StreamgaugeError(msg)
    return names


def _check_key(key: object) -> str | int:
    if isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool)):
        return key
    msg = f"key = {key!r}: it must be a text or a whole number"
    raise StreamgaugeError(msg)


def _refuse_unknown_attributes(measures: object) -> None:
    """Raise if a measure needs the number of attributes, which a gauge does not see."""
    wanted = measures if isinstance(measures, list | tuple) else (measures,)
    for one in wanted:
        found = adjusted_r2 if one in ("all", adjusted_r2.name) else one
        if isinstance(found, AdjustedR2) and found.n_attributes is None:
            msg = "adjusted_r2 needs the number of attributes, which a gauge does not see: AdjustedR2(n_attributes=...)"
            raise StreamgaugeError(msg)


def _refuse_class_names(measures: object, budgets: object) -> None:
    """Raise if measures or budgets name classes, which are not known yet."""
    named = [measure(one) for one in expand_all(measures)] if measures is not None else []  # type: ignore[arg-type]
    for budget in as_requirements(budgets):
        try:
            named.append(measure(budget.measure))
        except StreamgaugeError:  # one of the measures
            continue
    for one in named:
        if depends_on_classes(one) and not isinstance(one, FunctionMeasure):
            msg = f"{one.name} needs to know the classes: pass classes= with their names"
            raise StreamgaugeError(msg)
