"""Models that cannot learn row by row: they are fitted on collected rows, when training ends or again and again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import adopt_scheme, find_end_of_training, find_short_name, find_tasks, needs_training
from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.learners.adapters.fit_only import (
    FittedEstimator,
    FittedRegressor,
    is_estimator,
    name_model,
    require_predictor,
)
from streamgauge.learners.adapters.saved_states import SizeCache, pickle_state, unpickle_state
from streamgauge.learners.adapters.scikit_learn import ScikitLearn, find_estimator_tasks, has_seeds
from streamgauge.learners.baselines import make_stand_in
from streamgauge.learners.plain_loop import as_learner_error, fill_votes
from streamgauge.learners.trees import HoeffdingTree
from streamgauge.protocols import Learner, LearnerSpec, Scheme
from streamgauge.randomness import fold_seed
from streamgauge.records import Schema, Step, find_known
from streamgauge.records.columns import protect
from streamgauge.tasks import find_task

__all__ = ["Fittable", "Refitted", "RefittedLearner", "plan_fits"]

Rows = NDArray[np.float64]
Labels = NDArray[Any]
Weights = NDArray[np.float64]

DEFAULTS = {"every": 1_000, "window": 10_000, "first": 100}
"""The options of `Refitted` where a scheme does not train first and none were set."""


@dataclass(frozen=True)
class Refitted:
    """A model that is fitted on collected rows: when training ends, every n rows, or both.

    It is for models that cannot learn row by row: trees, forests and gradient boosting of scikit-learn, LightGBM,
    XGBoost, pipelines that end in one, and WEKA's static classifiers through MOA. Any other learner may be fitted in
    this way, too; it then starts afresh with every fit.

    Until its first fit it predicts the majority class so far. A row counts when it is learnt: with late labels, when
    its label arrives. Every fit starts from an untrained copy with a seed of its own. Rows of one class only make a
    model that predicts this class. A model that takes no `sample_weight` learns a row of weight 2 twice, and fails at a
    fractional weight. Models that tell categories from numbers get a pandas frame with the names; other models get
    nominal values as codes, and missing values as NaN. The time of a fit is part of the learner's training time. The
    state is pickled, so load only states that you trust.

    LightGBM and XGBoost run in one thread unless `n_jobs` is set; LightGBM is set to `deterministic`, so that its
    numbers do not depend on the threads. Models fitted with several threads predict in one.

    Parameters
    ----------
    estimator
        The model, which is copied and never changed; or any other learner.
    every
        The number of learnt rows between two fits. None to fit when training ends, in schemes that train first; in all
        others `evaluate` then fits after 100 rows and every 1,000 rows, on the last 10,000, and says so in a note.
    window
        The number of most recently learnt rows to fit on; None for all so far, whose memory grows with the stream.
    first
        The number of learnt rows before the first fit; None for `every`. Without `every` it is the only fit.
    seed
        Two learners with the same seed share their random numbers in each fold.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from streamgauge import SEA, evaluate
    >>> tree = Refitted(DecisionTreeClassifier(max_depth=5), every=1_000, window=5_000)
    >>> results = evaluate(SEA(n_rows=10_000), tree)
    >>> bool(results.curve("DecisionTreeClassifier", "accuracy")[-1, 0] > 0.8)
    True
    """

    estimator: Any = HoeffdingTree()
    every: int | None = None
    window: int | None = None
    first: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        for option, value in (("every", self.every), ("window", self.window), ("first", self.first)):
            if value is not None:
                require_at_least(option, value, 1)
        if not is_estimator(self.estimator):
            from streamgauge.learners.adapters import as_spec  # noqa: PLC0415  (circular: it makes Refitted)

            object.__setattr__(self, "estimator", as_spec(self.estimator))
        else:
            require_predictor(self.estimator)
        if isinstance(self.estimator, Refitted):
            msg = f"{self.estimator!r} is fitted again already: set every, window and first there"
            raise StreamgaugeError(msg)

    @property
    def short_name(self) -> str:
        """Default name of the learner."""
        is_spec = isinstance(self.estimator, LearnerSpec)
        return find_short_name(self.estimator) if is_spec else name_model(self.estimator)

    @property
    def seedless(self) -> bool:
        """Whether neither the model nor any nested one takes a seed."""
        return self.estimator.seedless if isinstance(self.estimator, LearnerSpec) else not has_seeds(self.estimator)

    @property
    def needs_training(self) -> bool:
        """Whether it is fitted only when training ends."""
        return self.every is None and self.first is None

    @property
    def holds_gil(self) -> bool | None:
        """True for a model of Python; that of another learner decides otherwise."""
        return None if isinstance(self.estimator, LearnerSpec) else True

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that the model can do; empty if it does not say."""
        is_spec = isinstance(self.estimator, LearnerSpec)
        return find_tasks(self.estimator) if is_spec else find_estimator_tasks(self.estimator)

    def check_schema(self, schema: Schema) -> None:
        """Raise if rows have missing values that the model is known not to take, or lack a column that it names."""
        from streamgauge.learners.adapters import check_nested  # noqa: PLC0415  (circular: it makes Refitted)

        spec = self.estimator if isinstance(self.estimator, LearnerSpec) else ScikitLearn(self.estimator)
        check_nested(spec, schema)

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner without rows."""
        model: Fittable
        if isinstance(self.estimator, LearnerSpec):
            model = _FittedLearner(self.estimator, schema)
        else:
            model = (FittedEstimator if schema.target is None else FittedRegressor)(self.estimator, schema)
        return RefittedLearner(model, schema, seed, every=self.every, window=self.window, first=self.first)


def plan_fits(learners: Mapping[str, LearnerSpec], scheme: Scheme) -> tuple[dict[str, LearnerSpec], tuple[str, ...]]:
    """Return learners with a time for their fits, and a note on each that had none.

    A model that is fitted when training ends would never be under a scheme that does not train first.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from streamgauge.schemes import Prequential, TrainThenTest
    >>> learners = {"tree": Refitted(DecisionTreeClassifier())}
    >>> plan_fits(learners, TrainThenTest(1_000)) == (learners, ())
    True
    >>> planned, notes = plan_fits(learners, Prequential())
    >>> planned["tree"]
    Refitted(estimator=DecisionTreeClassifier(), every=1000, window=10000, first=100, seed=1)
    >>> notes[0].partition(":")[0]
    'tree cannot learn row by row'
    """
    adopted = adopt_scheme(scheme)
    if adopted.trains_first or adopted.training != 0:
        return dict(learners), ()
    waiting = [name for name, spec in learners.items() if needs_training(spec)]
    notes = tuple(
        f"{name} cannot learn row by row: it is fitted after {DEFAULTS['first']} learnt rows and again every "
        f"{DEFAULTS['every']:,}, on the last {DEFAULTS['window']:,}; choose with Refitted(..., every=, window=, first=)"
        for name in waiting
    )
    return {name: _fit_regularly(spec) if name in waiting else spec for name, spec in learners.items()}, notes


def _fit_regularly(spec: LearnerSpec) -> "Refitted":
    every, window, first = DEFAULTS["every"], DEFAULTS["window"], DEFAULTS["first"]
    if not isinstance(spec, Refitted):
        return Refitted(spec, every, window, first, spec.seed)
    return replace(spec, every=every, window=window if spec.window is None else spec.window, first=first)


class Fittable(Protocol):
    """A model that is fitted on all its rows at once."""

    @property
    def name(self) -> str:
        """The name in errors."""
        ...

    def fit(self, x: Rows, y: Labels, weight: Weights | None, seed: int) -> None:
        """Forget what was learnt, and learn rows."""
        ...

    def predict_votes(self, x: Rows) -> NDArray[np.float64]:
        """Return the votes of each row for the classes, float64 [n, c]; the same bits in batches of any size."""
        ...

    @property
    def n_bytes(self) -> int:
        """The memory of the model in bytes."""
        ...

    def save(self) -> Any:  # noqa: ANN401
        """Return the state, as an object that can be pickled."""
        ...

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Restore a state."""
        ...


class RefittedLearner:
    """Learner that collects rows and fits its model on them.

    Parameters
    ----------
    model
        The model.
    schema
        The schema of the rows.
    seed
        The seed of the fits.
    every, window, first
        As for `Refitted`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from streamgauge import SEA
    >>> from streamgauge.streams import take
    >>> learner, rows = Refitted(DecisionTreeClassifier()).build(SEA().schema, seed=1), take(SEA(), 100)
    >>> learner.learn(rows.x, rows.y, None)
    >>> before = learner.predict(rows.x).argmax(axis=1)
    >>> learner.end_training()
    >>> len(set(before.tolist())), bool((learner.predict(rows.x).argmax(axis=1) == rows.y).all())
    (1, True)
    """

    def __init__(
        self,
        model: Fittable,
        schema: Schema,
        seed: int,
        *,
        every: int | None = None,
        window: int | None = None,
        first: int | None = None,
    ) -> None:
        self._model, self._schema, self._seed = model, schema, seed
        self._every, self._next_fit = every, every if first is None else first
        self._task = find_task(schema)
        self._rows = _RecentRows(schema.n_attributes, window, self._task.make_abstentions(0))
        self._n_learnt = self._n_fits = self._n_fitted = 0  # the last: rows learnt until the last fit
        self.learning_seconds = 0.0
        self._collects = True
        self._stand_in = make_stand_in(schema, self._task.make_abstentions(0), np.empty(0))
        self._saved_model: bytes | None = None
        self._size = SizeCache()

    def predict(self, x: Rows) -> NDArray[np.float64]:
        """Return the votes of each row; does not change the learner."""
        if not self._n_fits:
            return self._stand_in.predict(np.ascontiguousarray(x))
        return self._model.predict_votes(x) if len(x) else self._task.make_outputs(0)

    def learn(self, x: Rows, y: Labels, weight: Weights | None) -> None:
        """Collect labelled rows; fit the model whenever that is due."""
        learnt = np.ones(len(y), dtype=np.bool_) if weight is None else weight > 0
        for span in self._split(learnt):
            if not self._n_fits:
                self._stand_in.learn(x[span], y[span], None if weight is None else weight[span])
            self._collect(x, y, weight, np.flatnonzero(learnt[span]) + span.start)

    def learn_together(self, x: Rows, y: Labels, weight: Weights | None) -> None:
        """Fit the model on these rows alone; for ensembles of chunks."""
        self._n_learnt += len(y)
        self._fit(x, y, weight)

    def predict_together(self, x: Rows) -> NDArray[np.float64]:
        """Return the votes of each row; for ensembles of chunks."""
        return self.predict(x)

    def end_training(self) -> None:
        """Fit the model on the collected rows, unless that has just been done."""
        if self._collects and self._n_learnt > self._n_fitted:
            self._fit(*self._rows.columns)
        self._stop_collecting()

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Predict each tested row of a step, then collect it."""
        x, y, weight = step.batch.x, step.labels, step.learning_weight
        known = find_known(y)
        learnt = known if weight is None else known & (weight > 0)
        votes = self._task.make_outputs(len(y))
        for span in self._split(learnt):
            self._predict_span(step, span, votes, with_votes=with_votes)
            try:
                self._collect(x, y, weight, np.flatnonzero(learnt[span]) + span.start)
            except Exception as error:
                raise as_learner_error(span.stop - 1, votes, error, with_votes=with_votes) from error
        return self._task.decide(votes), votes if with_votes else None

    def _predict_span(self, step: Step, span: slice, votes: NDArray[np.float64], *, with_votes: bool) -> None:
        """Predict the tested rows of a part of a step, in which the model does not change."""
        if not self._n_fits:
            predictions, part = self._stand_in.interleave(step.part(span.start, span.stop), with_votes=True)
            votes[span] = predictions if part is None else part
            return
        rows = np.arange(span.start, span.stop) if step.test is None else span.start + np.flatnonzero(step.test[span])
        if not len(rows):
            return
        fill_votes(self._model.predict_votes, step.batch.x, rows, votes, with_votes=with_votes)

    def _split(self, learnt: NDArray[np.bool_]) -> Iterator[slice]:
        """Split rows after each row with which a fit is due."""
        start = 0
        while start < len(learnt):
            stop = len(learnt)
            if self._next_fit is not None:
                due = np.flatnonzero(learnt[start:])[self._next_fit - self._n_learnt - 1 :][:1]
                stop = start + int(due[0]) + 1 if len(due) else stop
            yield slice(start, stop)
            start = stop

    def _collect(self, x: Rows, y: Labels, weight: Weights | None, rows: NDArray[np.intp]) -> None:
        """Collect some rows, at most up to the next fit; fit the model if that is due."""
        self._n_learnt += len(rows)
        if self._collects:
            self._rows.add(x[rows], y[rows], None if weight is None else weight[rows])
        if self._n_learnt == self._next_fit:
            self._next_fit = None if self._every is None else self._n_learnt + self._every
            self._fit(*self._rows.columns)
            self._stop_collecting()

    def _stop_collecting(self) -> None:
        """Drop the collected rows if there will be no further fit."""
        if self._every is None:
            self._collects, self._next_fit = False, None
            self._rows.clear()

    def _fit(self, x: Rows, y: Labels, weight: Weights | None) -> None:
        seed = fold_seed(self._seed, self._n_fits, 1)
        began = perf_counter()
        try:
            self._model.fit(protect(x), protect(y), protect(weight), seed)
        except Exception as error:
            reason = str(as_learner_error(0, np.empty((0, 1)), error, with_votes=False)).strip().partition("\n")[0]
            msg = f"{self._model.name} cannot be fitted on {len(y):,} rows: {reason}"
            raise StreamgaugeError(msg) from error
        self.learning_seconds += perf_counter() - began
        self._n_fits, self._n_fitted = self._n_fits + 1, self._n_learnt
        self._saved_model, self._size = None, SizeCache()

    @property
    def n_bytes(self) -> int:
        """Bytes of the model, measured once a fit, and of the collected rows."""
        return self._rows.n_bytes + self._size.get(self._n_fitted, lambda: self._model.n_bytes)

    def save(self) -> bytes:
        """Return the state as a pickle."""
        counts = (self._n_learnt, self._n_fits, self._n_fitted, self._next_fit, self._collects)
        if self._n_fits and self._saved_model is None:  # once a fit, since predicting may change what is pickled
            self._saved_model = pickle_state("Refitted", self._model.save())
        return pickle_state("Refitted", (counts, self._saved_model, self._rows.columns, self._stand_in.save()))

    def load(self, state: bytes) -> None:
        """Restore a saved state, which must be trusted since it is a pickle."""
        counts, saved_model, columns, stand_in = unpickle_state("Refitted", state)
        self._stand_in.load(stand_in)
        if saved_model is not None:
            self._model.load(unpickle_state("Refitted", saved_model))
        self._rows.clear()
        self._rows.add(*columns)
        self._n_learnt, self._n_fits, self._n_fitted, self._next_fit, self._collects = counts
        self._saved_model, self._size = saved_model, SizeCache()


class _RecentRows:
    """The last rows, or all of them, in columns that grow."""

    def __init__(self, n_attributes: int, window: int | None, no_labels: Labels) -> None:
        self._n_attributes, self._window, self._no_labels = n_attributes, window, no_labels
        self.clear()

    def clear(self) -> None:
        """Drop all rows."""
        self._x, self._y, self._weight = np.empty((0, self._n_attributes)), self._no_labels, np.empty(0)
        self._start = self._stop = 0

    def add(self, x: Rows, y: Labels, weight: Weights | None) -> None:
        """Add rows; drop those that leave the window."""
        if self._window is not None:
            recent = slice(max(0, len(y) - self._window), None)
            x, y, weight = x[recent], y[recent], None if weight is None else weight[recent]
        if self._stop + len(y) > len(self._y):
            self._make_room(len(y))
        new = slice(self._stop, self._stop + len(y))
        self._x[new], self._y[new], self._weight[new] = x, y, 1.0 if weight is None else weight
        self._stop = new.stop
        if self._window is not None:
            self._start = max(self._start, self._stop - self._window)

    def _make_room(self, n: int) -> None:
        """Move the rows to the start of larger columns."""
        kept = self._stop - self._start
        capacity = max(64, 2 * (kept + n))
        for name, column in (("_x", self._x), ("_y", self._y), ("_weight", self._weight)):
            larger = np.empty((capacity, *column.shape[1:]), dtype=column.dtype)
            larger[:kept] = column[self._start : self._stop]
            setattr(self, name, larger)
        self._start, self._stop = 0, kept

    @property
    def columns(self) -> tuple[Rows, Labels, Weights | None]:
        """Copies of the values, labels and weights; None if all weights are 1."""
        kept = slice(self._start, self._stop)
        weight = self._weight[kept].copy()
        return self._x[kept].copy(), self._y[kept].copy(), None if (weight == 1.0).all() else weight

    @property
    def n_bytes(self) -> int:
        """The memory of the columns in bytes."""
        return self._x.nbytes + self._y.nbytes + self._weight.nbytes


class _FittedLearner:
    """Another learner, a new one for every fit."""

    def __init__(self, spec: LearnerSpec, schema: Schema) -> None:
        self._spec, self._schema = spec, schema
        self._learner = spec.build(schema, fold_seed(1, 0, spec.seed))
        self.name = find_short_name(spec)

    def fit(self, x: Rows, y: Labels, weight: Weights | None, seed: int) -> None:
        self._learner = self._spec.build(self._schema, fold_seed(seed, 0, self._spec.seed))
        self._learner.learn(x, y, weight)
        end_training = find_end_of_training(self._learner)
        if end_training is not None:
            end_training()

    def predict_votes(self, x: Rows) -> NDArray[np.float64]:
        return np.asarray(self._learner.predict(np.ascontiguousarray(x)))

    @property
    def n_bytes(self) -> int:
        return self._learner.n_bytes

    def save(self) -> bytes:
        return self._learner.save()

    def load(self, state: bytes) -> None:
        self._learner.load(state)
