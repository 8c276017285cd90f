"""Objects of users and of other libraries, wrapped once: the only module that asks what an object can do.

Everything behind it works with the base classes of `streamgauge.protocols`, which have a default for all that is
optional. (Learners of other libraries have their adapters in `streamgauge.learners.adapters`.)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import (
    Detector,
    Forgetting,
    ForgettingState,
    Labelling,
    LabellingBase,
    Learner,
    LearnerSpec,
    LiveStreamBase,
    MajorityBaseline,
    Measure,
    Recorder,
    Scheme,
    SchemeBase,
    Stream,
    StreamBase,
)
from streamgauge.records import Arrivals, Batch, Drift, NumericTarget, Schema, Step, Tallies, Trace

__all__ = [
    "adopt_labelling",
    "adopt_scheme",
    "adopt_stream",
    "build_majority",
    "build_sums",
    "close_iterator",
    "find_declared_gil",
    "find_end_of_training",
    "find_kernel",
    "find_module",
    "find_short_name",
    "find_task_name",
    "find_tasks",
    "find_unit",
    "find_unlabelled_learning",
    "find_vector_form",
    "is_factory",
    "is_frame",
    "is_series",
    "is_stream",
    "is_stream_class",
    "is_trained",
    "knows_drifts",
    "list_needed_statistics",
    "name_callable",
    "needs_times",
    "needs_training",
    "needs_votes",
    "overrides",
    "read_scorer",
    "save_part",
]


def is_stream(thing: object) -> TypeGuard[Stream]:
    """Return whether a thing is a stream; reads nothing, since that may cost a pass.

    Examples
    --------
    >>> is_stream(42)
    False
    """
    return is_stream_class(type(thing))


def is_stream_class(kind: type) -> bool:
    """Return whether the instances of a class are streams."""
    return all(hasattr(kind, member) for member in ("schema", "n_rows", "fingerprint", "batches"))


def knows_drifts(stream: Stream) -> bool:
    """Return whether a stream has its own `drifts_before`; asking another one for its drifts could cost a pass."""
    return getattr(type(stream), "drifts_before", None) not in {None, StreamBase.drifts_before}


def is_frame(thing: object) -> bool:
    """Return whether a thing is a table of pandas, polars or Arrow."""
    return hasattr(thing, "__arrow_c_stream__") and (hasattr(thing, "columns") or hasattr(thing, "column_names"))


def is_series(thing: object) -> bool:
    """Return whether a thing is a column of pandas or polars."""
    return hasattr(thing, "to_frame")


def name_callable(function: object) -> str:
    """Return the name of a function, with the options that a partial sets; or the class of another callable.

    Examples
    --------
    >>> name_callable(abs), name_callable(Schema((), ("a", "b"))), name_callable(partial(round, ndigits=2))
    ('abs', 'Schema', 'round(ndigits=2)')
    """
    if isinstance(function, partial):
        options = ", ".join([*map(repr, function.args), *(f"{k}={v!r}" for k, v in function.keywords.items())])
        return f"{name_callable(function.func)}({options})"
    return str(getattr(function, "__name__", type(function).__name__))


def find_module(function: object) -> str:
    """Return the name of the module of a function; that of the function in a partial."""
    plain = function.func if isinstance(function, partial) else function
    return str(getattr(plain, "__module__", ""))


def read_scorer(thing: object) -> tuple[Callable[..., float], int, tuple[str, ...]] | None:
    """Return the function, sign and response methods of a scorer of scikit-learn; None for anything else.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> function, sign, response = read_scorer(get_scorer("neg_log_loss"))
    >>> function.__name__, sign, response
    ('log_loss', -1, ('predict_proba',))
    """
    function = getattr(thing, "_score_func", None)
    response = getattr(thing, "_response_method", None)
    if function is None or response is None:
        return None
    options = getattr(thing, "_kwargs", {})
    methods = (response,) if isinstance(response, str) else tuple(response)
    return partial(function, **options) if options else function, getattr(thing, "_sign", 1), methods


def is_factory(thing: object) -> bool:
    """Return whether a thing builds an object when it is called: a class or a function, but not a model."""
    return callable(thing) and (isinstance(thing, type) or not hasattr(thing, "predict"))


def build_majority(forgetting: Forgetting, n_classes: int) -> MajorityBaseline | None:
    """Build the majority class of the labels that a forgetting remembers; None for the majority of all labels.

    Examples
    --------
    >>> from streamgauge.forgetting import Landmark
    >>> build_majority(Landmark(), 2) is None
    True
    """
    build = getattr(forgetting, "build_majority", None)
    return None if build is None else build(n_classes)


def build_sums(
    forgetting: Forgetting,
    target: NumericTarget,
    statistics: Sequence[str],
    compute_losses: Callable[[Trace], NDArray[np.float64]],
) -> ForgettingState:
    """Build the state of a forgetting for a numeric target; raise ValueError if it has none.

    Examples
    --------
    >>> from streamgauge.forgetting import Landmark
    >>> build_sums(Landmark(), NumericTarget(), ["error"], lambda trace: trace.y_true).n_bytes > 0
    True
    """
    build = getattr(forgetting, "build_sums", None)
    if build is None:
        msg = "it has no method build_sums(target, statistics, compute_losses), which numeric targets need"
        raise ValueError(msg)
    state: ForgettingState = build(target, statistics, compute_losses)
    return state


def close_iterator(iterator: Iterator[Any]) -> None:
    """Close an iterator, if it is a generator."""
    close = getattr(iterator, "close", None)
    if close is not None:
        close()


def needs_times(part: Labelling | Forgetting) -> bool:
    """Return whether a labelling or a forgetting needs rows with times.

    Examples
    --------
    >>> from streamgauge.forgetting import TimeWindow, Window
    >>> needs_times(TimeWindow("7 days")), needs_times(Window(1000))
    (True, False)
    """
    return bool(getattr(part, "needs_times", False))


def needs_votes(part: Measure | Recorder) -> bool:
    """Return whether a measure or recorder needs the votes of predictions; one without this attribute does not."""
    return bool(getattr(part, "needs_votes", False))


def list_needed_statistics(measure: Measure) -> tuple[str, ...]:
    """Return the statistics that a measure needs beyond counts; none by default."""
    return tuple(getattr(measure, "statistics", ()))


def keeps_all_rows(forgetting: Forgetting) -> bool:
    """Return whether the memory of a forgetting grows with the stream if it keeps rows."""
    return getattr(forgetting, "keeps_rows", "none") == "all"


def find_unit(measure: Measure) -> str:
    """Return the unit of a measure; a rate by default."""
    return str(getattr(measure, "unit", "rate"))


def find_tasks(spec: LearnerSpec) -> tuple[str, ...]:
    """Return the names of the tasks that a learner can do; empty if it does not say.

    One of ours that does not say classifies. A learner of classes round another one, too.

    Examples
    --------
    >>> from streamgauge.learners import NaiveBayes, NoChange
    >>> find_tasks(NaiveBayes()), find_tasks(NoChange())
    (('classification',), ('classification', 'regression'))
    """
    declared: tuple[str, ...] | None = getattr(spec, "tasks", None)
    if declared is not None:
        return declared
    return ("classification",) if type(spec).__module__.startswith("streamgauge.") else ()


def find_task_name(measure: Measure) -> str:
    """Return the name of the task whose tallies a measure measures; empty if it does not say."""
    return str(getattr(measure, "task", ""))


def find_vector_form(measure: Measure) -> Callable[[Tallies], NDArray[np.float64]] | None:
    """Return the method of a measure that measures many tallies at once; None if it has none."""
    method: Callable[[Tallies], NDArray[np.float64]] | None = getattr(measure, "over", None)
    return method


def find_unlabelled_learning(learner: Learner) -> Callable[..., None] | None:
    """Return the method by which a learner learns rows without a label; None if it has none."""
    method: Callable[..., None] | None = getattr(learner, "learn_unlabelled", None)
    return method


def find_end_of_training(learner: Learner) -> Callable[[], None] | None:
    """Return the method by which a learner is notified that its training ends; None if it has none."""
    method: Callable[[], None] | None = getattr(learner, "end_training", None)
    return method


def needs_training(spec: LearnerSpec) -> bool:
    """Return whether the learners of a specification are fitted only when their training ends."""
    return bool(getattr(spec, "needs_training", False))


def find_short_name(spec: LearnerSpec) -> str:
    """Return the short name of a learner; the name of its class by default."""
    return str(getattr(spec, "short_name", type(spec).__name__))


def find_declared_gil(spec: LearnerSpec) -> bool | None:
    """Return whether a learner declares that it holds Python's global interpreter lock; None if it does not say."""
    declared = getattr(spec, "holds_gil", None)
    return None if declared is None else bool(declared)


def find_kernel(detector: Detector) -> object:
    """Return the native kernel of a detector; None if it has none."""
    return getattr(detector, "kernel", None)


def adopt_stream(stream: Stream) -> StreamBase:
    """Return a stream with all defaults; one of ours as it is.

    Examples
    --------
    >>> from streamgauge import SEA
    >>> adopt_stream(SEA()).ends
    False
    """
    if isinstance(stream, StreamBase):
        return stream
    live = all(hasattr(stream, member) for member in ("state", "restore", "committed"))
    return _ForeignLiveStream(stream) if live else _ForeignStream(stream)


class _ForeignStream(StreamBase):
    """A stream that does not inherit from `StreamBase`."""

    def __init__(self, stream: Stream) -> None:
        self._stream: Any = stream
        self.checked = bool(getattr(stream, "checked", False))
        self.in_memory = bool(getattr(stream, "in_memory", False))
        self.ends = bool(getattr(stream, "ends", False))

    def __repr__(self) -> str:
        return repr(self._stream)

    @property
    def schema(self) -> Schema:
        return self._stream.schema  # type: ignore[no-any-return]

    @property
    def n_rows(self) -> int | None:
        return self._stream.n_rows  # type: ignore[no-any-return]

    @property
    def fingerprint(self) -> str:
        return self._stream.fingerprint  # type: ignore[no-any-return]

    def batches(self, size: int, start: int = 0) -> Iterator[Batch]:
        return self._stream.batches(size, start)  # type: ignore[no-any-return]

    @property
    def has_times(self) -> bool | None:
        return getattr(self._stream, "has_times", None)

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(getattr(self._stream, "notes", ()))

    @property
    def status(self) -> str:
        return str(getattr(self._stream, "status", ""))

    def facts(self) -> Mapping[str, object]:
        facts: Mapping[str, object] = getattr(self._stream, "facts", dict)()
        return facts

    def drifts_before(self, row: int | None) -> tuple[Drift, ...]:
        drifts = getattr(self._stream, "drifts_before", None)
        return () if drifts is None else drifts(row)


class _ForeignLiveStream(_ForeignStream, LiveStreamBase):
    """A live stream that does not inherit from `LiveStreamBase`."""

    def state(self) -> bytes:
        return self._stream.state()  # type: ignore[no-any-return]

    def restore(self, state: bytes) -> None:
        self._stream.restore(state)

    def committed(self, state: bytes) -> None:
        self._stream.committed(state)


def adopt_scheme(scheme: Scheme) -> SchemeBase:
    """Return a scheme with all defaults; one of ours as it is."""
    return scheme if isinstance(scheme, SchemeBase) else _ForeignScheme(scheme)


class _ForeignScheme(SchemeBase):
    """A scheme that does not inherit from `SchemeBase`."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme: Any = scheme

    @property
    def n_folds(self) -> int:
        return self._scheme.n_folds  # type: ignore[no-any-return]

    def step(self, batch: Batch, fold: int, seed: int) -> Step:
        return self._scheme.step(batch, fold, seed)  # type: ignore[no-any-return]

    @property
    def test(self) -> str:
        return str(getattr(self._scheme, "test", super().test))

    @property
    def training(self) -> int | Stream:
        return getattr(self._scheme, "training", super().training)

    @property
    def repetitions(self) -> int:
        return getattr(self._scheme, "repetitions", super().repetitions)

    @property
    def trains_first(self) -> bool:
        return bool(getattr(self._scheme, "trains_first", super().trains_first))

    @property
    def period(self) -> tuple[int, int] | None:
        return getattr(self._scheme, "period", super().period)

    @property
    def max_batch_rows(self) -> int:
        return getattr(self._scheme, "max_batch_rows", super().max_batch_rows)

    def bind(self, stream: Stream) -> SchemeBase:
        bind = getattr(self._scheme, "bind", None)
        return self if bind is None else adopt_scheme(bind(stream))

    def learnable_after(self, batch: Batch) -> NDArray[np.int64] | None:
        learnable_after = getattr(self._scheme, "learnable_after", super().learnable_after)
        return learnable_after(batch)

    def inserted_tests(self, start: int, stop: int) -> list[tuple[int, Batch]]:
        inserted = getattr(self._scheme, "inserted_tests", super().inserted_tests)
        return inserted(start, stop)

    def final_test(self, n_rows: int) -> Batch | None:
        final = getattr(self._scheme, "final_test", super().final_test)
        return final(n_rows)


def overrides(scheme: Scheme, method: str) -> bool:
    """Return whether a scheme has a method that is not the default of `SchemeBase`."""
    own = scheme._scheme if isinstance(scheme, _ForeignScheme) else scheme
    return getattr(type(own), method, None) not in {None, getattr(SchemeBase, method)}


def is_trained(spec: LearnerSpec) -> bool:
    """Return whether the learners of a specification can predict before they have learnt a row of the stream."""
    return bool(getattr(spec, "trained", False))


def adopt_labelling(labelling: Labelling) -> LabellingBase:
    """Return a labelling with all defaults; one of ours as it is."""
    return labelling if isinstance(labelling, LabellingBase) else _ForeignLabelling(labelling)


class _ForeignLabelling(LabellingBase):
    """A labelling that does not inherit from `LabellingBase`."""

    def __init__(self, labelling: Labelling) -> None:
        self._labelling: Any = labelling

    def arrivals(self, batch: Batch, seed: int) -> Arrivals | None:
        return self._labelling.arrivals(batch, seed)  # type: ignore[no-any-return]

    @property
    def attribute(self) -> str | None:
        return getattr(self._labelling, "attribute", None) if hasattr(self._labelling, "bind_column") else None

    @property
    def delays(self) -> bool:
        return bool(getattr(self._labelling, "delays", False))

    def bind_column(self, index: int) -> LabellingBase:
        return adopt_labelling(self._labelling.bind_column(index))


def save_part(part: object, name: str) -> bytes:
    """Return the saved state of a part of a cell; the error names the part if it cannot be saved."""
    save = getattr(part, "save", None)
    if save is None or not hasattr(part, "load"):
        msg = f"a checkpoint cannot save {name}: {type(part).__name__} has no methods save() and load()"
        raise StreamgaugeError(msg)
    try:
        state = save()
    except Exception as error:  # such as an object that cannot be pickled
        msg = f"a checkpoint cannot save {name}: {type(error).__name__}: {error}"
        raise StreamgaugeError(msg) from error
    return state if isinstance(state, bytes) else bytes(state)
