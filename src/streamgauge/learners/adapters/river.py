"""Classifiers of River, and objects with the same methods."""

import inspect
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, count, repeat
from types import FunctionType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.learners.adapters.chunked import ChunkedLearner, clean_votes, learn_copies
from streamgauge.learners.adapters.saved_states import SizeCache, measure_size, pickle_state, unpickle_state
from streamgauge.learners.adapters.seeding import SEED_NAMES, generate_seeds
from streamgauge.learners.plain_loop import Predicted, as_learner_error, pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import Schema, Step, find_known
from streamgauge.tasks import Classification, Regression, find_task

__all__ = ["NominalValues", "River"]

NominalValues = Literal["names", "codes"]
"""How nominal values are passed to a model: as strings, which River treats as categories, or as numbers."""

BLOCK_ROWS = 1024
"""Number of rows that are converted to dicts at a time."""


@dataclass(frozen=True, repr=False)
class River:
    """A classifier or regressor of River; each fold gets an untrained copy in which every seed option has its own seed.

    A row is a dict by attribute name; classes are codes. The key of a missing value is absent, which all classifiers of
    River accept. Steps that look up features by name treat an absent key as None: an imputer fills it, a Grouper or
    aggregate has a group for it, a Select leaves it out, and a function gets None for it. A model that takes no weight
    `w` learns a row of weight 2 twice, and fails at a fractional weight. The state is pickled, so load only states that
    you trust.

    Parameters
    ----------
    model
        The classifier, which is copied and never changed.
    chunk_size
        Number of rows that are learnt at once; 1 learns row by row, more uses `learn_many`. Rows are predicted before
        their chunk is learnt.
    nominal
        Whether nominal values are passed as "names" (strings) or "codes" (numbers).
    seed
        Two learners with the same seed share their random numbers in each fold.

    Examples
    --------
    >>> from river.forest import ARFClassifier
    >>> River(ARFClassifier(n_models=5), seed=3)
    River(model=ARFClassifier(n_models=5), seed=3)
    """

    model: Any
    chunk_size: int = 1
    nominal: NominalValues = "names"
    seed: int = 1

    def __post_init__(self) -> None:
        require_at_least("chunk_size", self.chunk_size, 1)
        if self.nominal not in get_args(NominalValues):
            raise unknown_name(kind="kind of nominal values", name=str(self.nominal), known=get_args(NominalValues))
        if self.chunk_size > 1 and not hasattr(self.model, "learn_many"):
            msg = f"{self.short_name} has no learn_many, so it learns row by row: chunk_size must be 1"
            raise StreamgaugeError(msg)

    def __repr__(self) -> str:
        return _describe(self)

    @property
    def short_name(self) -> str:
        """Default name of the learner."""
        return type(self.model).__name__

    @property
    def seedless(self) -> bool:
        """Whether no part of the model takes a seed."""
        seeds = count()
        _copy_model(self.model, seeds)
        return next(seeds) == 0

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that the model can do, by its kind; empty if that is neither."""
        kinds = _list_kinds(_find_last(self.model))
        known = ((Classification.name, "Classifier"), (Regression.name, "Regressor"))
        return tuple(task for task, kind in known if kind in kinds)

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with an untrained, seeded copy of the model."""
        model = _copy_model(self.model, generate_seeds(seed), _choose_adjustment(self.model, schema))
        if schema.n_classes > 2 and not getattr(model, "_multiclass", True):
            msg = (
                f"{self.short_name} supports only two classes, but there are {schema.n_classes}: "
                "wrap it in river.multiclass.OneVsRestClassifier"
            )
            raise StreamgaugeError(msg)
        if schema.target is not None and self.chunk_size > 1:
            msg = f"{self.short_name} with a numeric target learns row by row: chunk_size must be 1"
            raise StreamgaugeError(msg)
        if self.chunk_size > 1:
            return ChunkedLearner(_ManyModel(model, schema, self.nominal), schema, self.chunk_size, "River")
        return _RiverLearner(model, schema, self.nominal)


def _choose_adjustment(model: Any, schema: Schema) -> Callable[[Any], None] | None:  # noqa: ANN401
    """Return what to do with the components of a copy, so that they take rows without missing values."""
    if not hasattr(model, "_get_params"):
        return None
    from streamgauge.learners.adapters.river_steps import accept_absent_keys, fix_order  # noqa: PLC0415

    return accept_absent_keys if schema.missing.any() else fix_order


def _copy_model(model: Any, seeds: Iterator[int], adjust: Callable[[Any], None] | None = None) -> Any:  # noqa: ANN401
    """Return an untrained copy of a model, in which every seed option is set to the next of the seeds.

    `adjust` is called with the copy of every component.
    """
    if not hasattr(model, "_get_params"):
        return deepcopy(model)
    kinds = _list_kinds(model)
    if kinds & {"Pipeline", "TransformerUnion"}:
        parts = model.steps if "Pipeline" in kinds else model.transformers
        copy = type(model)(*((name, _copy_model(part, seeds, adjust)) for name, part in parts.items()))
    elif not inspect.signature(model.clone).parameters:  # some detectors and metrics
        copy = model.clone()
    else:
        options = model._get_params()
        copy = model.clone({name: _copy_option(model, name, options[name], seeds, adjust) for name in options})
    if adjust is not None:
        adjust(copy)
    return copy


def _copy_option(
    model: Any,  # noqa: ANN401
    name: str,
    value: Any,  # noqa: ANN401
    seeds: Iterator[int],
    adjust: Callable[[Any], None] | None,
) -> Any:  # noqa: ANN401
    """Return the copy of an option of a model; that of a component is given as its class and options."""
    if name in SEED_NAMES:
        return next(seeds)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], type) and isinstance(value[1], dict):
        component = getattr(model, name, None)
        return value if component is None else _copy_model(component, seeds, adjust)
    return _copy_parts(value, seeds, adjust)


def _copy_parts(value: Any, seeds: Iterator[int], adjust: Callable[[Any], None] | None) -> Any:  # noqa: ANN401
    """Return a copy of a value in which components are untrained; River's `clone` would share some of them."""
    if isinstance(value, list | tuple) and type(value) in {list, tuple}:
        return type(value)(_copy_parts(part, seeds, adjust) for part in value)
    if isinstance(value, dict) and type(value) is dict:
        return {key: _copy_parts(part, seeds, adjust) for key, part in value.items()}
    return _copy_model(value, seeds, adjust) if hasattr(value, "_get_params") else deepcopy(value)


def _describe(value: Any) -> str:  # noqa: ANN401
    """Return a model as text, with the options that differ from their defaults; River's own texts are too long."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_describe, value))}]"
    if isinstance(value, type | FunctionType):
        return value.__name__
    kinds = _list_kinds(value)
    if "Pipeline" in kinds:
        return " | ".join(map(_describe, value.steps.values()))
    if "TransformerUnion" in kinds:
        sign = " * " if "TransformerProduct" in kinds else " + "
        parts = map(_describe, value.transformers.values())
        return f"({sign.join(f'({part})' if ' | ' in part else part for part in parts)})"
    if not isinstance(value, River) and not hasattr(value, "_get_params"):
        return repr(value)
    try:
        defaults = _describe_options(type(value)())
    except TypeError:  # it has required options
        parameters = inspect.signature(type(value)).parameters.values()
        defaults = {parameter.name: _describe(parameter.default) for parameter in parameters}
    options = [f"{name}={text}" for name, text in _describe_options(value).items() if text != defaults.get(name)]
    return f"{type(value).__name__}({', '.join([*_describe_arguments(value), *options])})"


def _describe_options(model: Any) -> dict[str, str]:  # noqa: ANN401
    parameters = inspect.signature(type(model)).parameters.values()
    names = [option.name for option in parameters if option.kind != option.VAR_POSITIONAL]
    return {name: _describe(getattr(model, name)) for name in names if hasattr(model, name)}


def _describe_arguments(model: Any) -> list[str]:  # noqa: ANN401
    """Return the arguments without a name, such as the columns of a Select."""
    parameters = inspect.signature(type(model)).parameters.values()
    names = [option.name for option in parameters if option.kind == option.VAR_POSITIONAL]
    values = [getattr(model, name, ()) for name in names]
    return [text for value in values for text in map(_describe, sorted(value) if isinstance(value, set) else value)]


def _list_kinds(model: object) -> set[str]:
    """Return the names of the classes that an object belongs to."""
    return {kind.__name__ for kind in type(model).__mro__}


def _find_last(model: Any) -> Any:  # noqa: ANN401
    """Return the last step of a pipeline, or the model."""
    return list(model.steps.values())[-1] if hasattr(model, "steps") else model


class _RowConverter:
    """Converts rows to dicts by attribute name."""

    def __init__(self, schema: Schema, nominal: NominalValues) -> None:
        self._names = [attribute.name for attribute in schema.attributes]
        values = [attribute.values if nominal == "names" else None for attribute in schema.attributes]
        self._values_by_index = {index: names for index, names in enumerate(values) if names is not None}
        self.missing_names = {attribute.name for attribute in schema.attributes if attribute.missing}
        self.has_names = bool(self._values_by_index)

    def to_columns(self, x: NDArray[np.float64]) -> dict[str, list[Any]]:
        """Return the columns by name; a missing value is None."""
        columns: list[list[Any]] = x.T.tolist()
        missing = np.isnan(x)
        for index, names in self._values_by_index.items():
            codes = np.where(missing[:, index], len(names), x[:, index]).astype(np.intp)
            columns[index] = np.array([*names, None], dtype=object)[codes].tolist()
        for index in np.flatnonzero(missing.any(axis=0)).tolist():
            for row in np.flatnonzero(missing[:, index]).tolist():
                columns[index][row] = None
        return dict(zip(self._names, columns, strict=True))

    def to_dicts(self, x: NDArray[np.float64]) -> Iterator[dict[str, Any]]:
        """Yield the rows one by one."""
        return chain.from_iterable(map(self._convert, _split(x)))

    def _convert(self, x: NDArray[np.float64]) -> list[dict[str, Any]]:
        names = self._names
        missing = np.isnan(x).any(axis=1)
        if not names:
            return [{} for _ in range(len(x))]
        if not self._values_by_index:
            rows = [dict(zip(names, row)) for row in x.tolist()]  # noqa: B905  (as long as each other)
        else:
            rows = [dict(zip(names, row)) for row in zip(*self.to_columns(x).values(), strict=True)]  # noqa: B905
        for index in np.flatnonzero(missing).tolist():
            values = rows[index].items()
            rows[index] = {name: value for name, value in values if value is not None and value == value}  # noqa: PLR0124
        return rows


def _split(x: NDArray[np.float64]) -> Iterator[NDArray[np.float64]]:
    return (x[start : start + BLOCK_ROWS] for start in range(0, len(x), BLOCK_ROWS))


class _RiverLearner:
    """The learner of one fold, row by row."""

    def __init__(self, model: Any, schema: Schema, nominal: NominalValues) -> None:  # noqa: ANN401
        self._model, self._n_classes, self._task = model, schema.n_classes, find_task(schema)
        self._converter = _RowConverter(schema, nominal)
        self._n_seen, self._size = 0, SizeCache()
        last = _find_last(model)
        self._name = type(last).__name__
        self._takes_weight = "w" in inspect.signature(last.learn_one).parameters
        self._has_probabilities = hasattr(last, "predict_proba_one")

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._to_array([self._vote(row) for row in self._converter.to_dicts(x)])

    def _vote(self, row: dict[str, Any]) -> Any:  # noqa: ANN401
        if not self._n_classes:
            number = self._model.predict_one(row)
            return np.nan if number is None else float(number)
        votes = [0.0] * self._n_classes
        if self._has_probabilities:
            try:
                for label, probability in self._model.predict_proba_one(row).items():
                    votes[label] = probability
            except NotImplementedError:
                self._has_probabilities = False
            else:
                return votes
        label = self._model.predict_one(row)
        if label is not None:
            votes[label] = 1.0
        return votes

    def learn(self, x: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None) -> None:
        self._n_seen += len(y)
        for i, (row, label) in enumerate(zip(self._converter.to_dicts(x), y.tolist(), strict=True)):
            if weight is None:
                self._model.learn_one(row, label)
            elif weight[i] > 0:
                self._learn_weighted(row, label, float(weight[i]))

    def _learn_weighted(self, row: dict[str, Any], label: float, weight: float) -> None:
        if self._takes_weight:
            self._model.learn_one(row, label, w=weight)
        else:
            for _ in range(self._count_copies(weight)):
                self._model.learn_one(row, label)

    def _count_copies(self, weight: float) -> int:
        if not weight.is_integer():
            msg = f"{self._name} takes no weight w, so it cannot learn a row with weight {weight}"
            raise StreamgaugeError(msg)
        return int(weight)

    def interleave(self, step: Step, *, with_votes: bool) -> Predicted:
        vote, learn, learn_weighted = self._vote, self._model.learn_one, self._learn_weighted
        labels, known = step.labels.tolist(), find_known(step.labels).tolist()
        self._n_seen += len(labels)
        tested = [True] * len(labels) if step.test is None else step.test.tolist()
        weights = repeat(None, len(labels)) if step.learning_weight is None else step.learning_weight.tolist()
        no_votes = self._task.make_outputs(1)[0].tolist()
        votes_by_row: list[Any] = []
        n_done = 0
        try:
            for row, label, is_known, test, weight in zip(
                self._converter.to_dicts(step.batch.x), labels, known, tested, weights, strict=True
            ):
                votes_by_row.append(vote(row) if test else no_votes)
                if is_known and weight != 0.0:
                    if weight is None:
                        learn(row, label)
                    else:
                        learn_weighted(row, label, weight)
                n_done += 1
        except Exception as error:
            explained = self._explain(error)
            raise as_learner_error(n_done, self._to_array(votes_by_row), explained, with_votes=with_votes) from error
        votes = self._to_array(votes_by_row)
        return self._task.decide(votes), votes if with_votes else None

    def _explain(self, error: Exception) -> Exception:
        """Return an error of River with what to do about it, if that is known."""
        text = f"{type(error).__name__}: {error}"
        if isinstance(error, KeyError) and error.args and error.args[0] in self._converter.missing_names:
            name = error.args[0]
            hint = (
                f"the row has no {name}, since its value is missing: fill it before, as in "
                f"StatImputer(({name!r}, stats.Mean())) | ..."
            )
            return StreamgaugeError(f"{text}; {hint}")
        names_a_type = any(word in str(error) for word in ("str", "real", "sequence"))
        if isinstance(error, TypeError | ValueError) and names_a_type and self._converter.has_names:
            hint = (
                "a step got the name of a category where it expects a number: select numbers before it, as in "
                "SelectType(float) | ..., encode names with OneHotEncoder(), or set nominal='codes'"
            )
            return StreamgaugeError(f"{text}; {hint}")
        return error

    def _to_array(self, votes_by_row: list[Any]) -> NDArray[np.float64]:
        outputs = np.array(votes_by_row, dtype=np.float64).reshape(self._task.make_outputs(len(votes_by_row)).shape)
        return clean_votes(outputs) if self._n_classes else outputs

    @property
    def n_bytes(self) -> int:
        """Bytes of all objects of the model; measured only after every quarter more rows, since it is slow."""
        return self._size.get(self._n_seen, lambda: measure_size(self._model))

    def save(self) -> bytes:
        return pickle_state("River", self._model)

    def load(self, state: bytes) -> None:
        self._model, self._size = unpickle_state("River", state), SizeCache()


class _ManyModel:
    """A model that learns chunks with `learn_many`."""

    any_number = False

    def __init__(self, model: Any, schema: Schema, nominal: NominalValues) -> None:  # noqa: ANN401
        self._model, self._n_classes = model, schema.n_classes
        self._converter = _RowConverter(schema, nominal)
        self._frame = library("pandas", "river").DataFrame
        self._series = library("pandas", "river").Series

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((len(x), self._n_classes))
        probabilities = self._model.predict_proba_many(self._frame(self._converter.to_columns(x)))
        for label in probabilities.columns:
            votes[:, int(label)] = probabilities[label]
        return clean_votes(votes)

    def predict_codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        return pick_winners(self.predict_votes(x))

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        if weight is None:
            self._model.learn_many(self._frame(self._converter.to_columns(x)), self._series(y.tolist()))
        else:
            learn_copies(lambda x, y: self.fit(x, y, None), type(self._model).__name__, (x, y), weight)

    def save(self) -> Any:  # noqa: ANN401
        return self._model

    def load(self, state: Any) -> None:  # noqa: ANN401
        self._model = state
