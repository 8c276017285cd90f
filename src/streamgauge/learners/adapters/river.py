"""Classifiers of River, and objects with the same methods."""

import inspect
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import count, repeat
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge._optional import library
from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.learners.adapters.chunked import ChunkedLearner, clean_votes, learn_copies
from streamgauge.learners.adapters.saved_states import SizeCache, measure_size, pickle_state, unpickle_state
from streamgauge.learners.adapters.seeding import SEED_NAMES, generate_seeds
from streamgauge.learners.plain_loop import as_learner_error, pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import UNLABELLED, Schema, Step

__all__ = ["NominalValues", "River"]

NominalValues = Literal["names", "codes"]
"""How nominal values are passed to a model: as strings, which River treats as categories, or as numbers."""

BLOCK_ROWS = 1024
"""Number of rows that are converted to dicts at a time."""


@dataclass(frozen=True, repr=False)
class River:
    """A classifier of River; each fold gets an untrained copy in which every seed option has its own seed.

    A row is a dict by attribute name, without missing values; classes are codes. A model that takes no weight `w`
    learns a row of weight 2 twice, and fails at a fractional weight. The state is pickled, so load only states that
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

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with an untrained, seeded copy of the model."""
        model = _copy_model(self.model, generate_seeds(seed))
        if schema.n_classes > 2 and not getattr(model, "_multiclass", True):
            msg = (
                f"{self.short_name} supports only two classes, but there are {schema.n_classes}: "
                "wrap it in river.multiclass.OneVsRestClassifier"
            )
            raise StreamgaugeError(msg)
        if self.chunk_size > 1:
            return ChunkedLearner(_ManyModel(model, schema, self.nominal), schema, self.chunk_size, "River")
        return _RiverLearner(model, schema, self.nominal)


def _copy_model(model: Any, seeds: Iterator[int]) -> Any:  # noqa: ANN401
    """Return an untrained copy of a model, in which every seed option is set to the next of the seeds."""
    return model.clone(_set_seeds(model._get_params(), seeds)) if hasattr(model, "_get_params") else deepcopy(model)


def _set_seeds(options: dict[str, Any], seeds: Iterator[int]) -> dict[str, Any]:
    """Return options of River's `_get_params` with seeds; the options of components are in nested dicts."""
    return {
        name: next(seeds) if name in SEED_NAMES else _set_nested_seeds(value, seeds) for name, value in options.items()
    }


def _set_nested_seeds(value: Any, seeds: Iterator[int]) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return _set_seeds(value, seeds)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], type):
        return value[0], _set_seeds(value[1], seeds)
    if isinstance(value, list | tuple) and any(hasattr(part, "_get_params") for part in value):
        return type(value)(_copy_model(part, seeds) for part in value)
    return value


def _describe(value: Any) -> str:  # noqa: ANN401
    """Return a model as text, with the options that differ from their defaults; River's own texts are too long."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_describe, value))}]"
    if hasattr(value, "steps"):
        return " | ".join(map(_describe, value.steps.values()))
    if not isinstance(value, River) and not hasattr(value, "_get_params"):
        return repr(value)
    try:
        defaults = _describe_options(type(value)())
    except TypeError:  # it has required options
        parameters = inspect.signature(type(value)).parameters.values()
        defaults = {parameter.name: _describe(parameter.default) for parameter in parameters}
    options = [f"{name}={text}" for name, text in _describe_options(value).items() if text != defaults.get(name)]
    return f"{type(value).__name__}({', '.join(options)})"


def _describe_options(model: Any) -> dict[str, str]:  # noqa: ANN401
    names = [name for name in inspect.signature(type(model)).parameters if hasattr(model, name)]
    return {name: _describe(getattr(model, name)) for name in names}


class _RowConverter:
    """Converts rows to dicts by attribute name."""

    def __init__(self, schema: Schema, nominal: NominalValues) -> None:
        self._names = [attribute.name for attribute in schema.attributes]
        values = [attribute.values if nominal == "names" else None for attribute in schema.attributes]
        self._values_by_index = {index: names for index, names in enumerate(values) if names is not None}

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
        names = self._names
        for start in range(0, len(x), BLOCK_ROWS):
            block = x[start : start + BLOCK_ROWS]
            if not self._values_by_index and not np.isnan(block).any():
                for row in block.tolist():
                    yield dict(zip(names, row, strict=False))
            elif not names:
                yield from ({} for _ in range(len(block)))
            else:
                for row in zip(*self.to_columns(block).values(), strict=True):
                    yield {name: value for name, value in zip(names, row, strict=True) if value is not None}


class _RiverLearner:
    """The learner of one fold, row by row."""

    def __init__(self, model: Any, schema: Schema, nominal: NominalValues) -> None:  # noqa: ANN401
        self._model, self._n_classes = model, schema.n_classes
        self._converter = _RowConverter(schema, nominal)
        self._n_seen, self._size = 0, SizeCache()
        last = list(model.steps.values())[-1] if hasattr(model, "steps") else model
        self._name = type(last).__name__
        self._takes_weight = "w" in inspect.signature(last.learn_one).parameters
        self._has_probabilities = hasattr(last, "predict_proba_one")

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((len(x), self._n_classes))
        for i, row in enumerate(self._converter.to_dicts(x)):
            votes[i] = self._vote(row)
        return clean_votes(votes)

    def _vote(self, row: dict[str, Any]) -> list[float]:
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

    def learn(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        self._n_seen += len(y)
        for i, (row, label) in enumerate(zip(self._converter.to_dicts(x), y.tolist(), strict=True)):
            if weight is None:
                self._model.learn_one(row, label)
            elif weight[i] > 0:
                self._learn_weighted(row, label, float(weight[i]))

    def _learn_weighted(self, row: dict[str, Any], label: int, weight: float) -> None:
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

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        vote, learn, learn_weighted = self._vote, self._model.learn_one, self._learn_weighted
        labels = step.labels.tolist()
        self._n_seen += len(labels)
        tested = [True] * len(labels) if step.test is None else step.test.tolist()
        weights = repeat(None, len(labels)) if step.learning_weight is None else step.learning_weight.tolist()
        no_votes = [0.0] * self._n_classes
        votes_by_row: list[list[float]] = []
        n_done = 0
        try:
            for row, label, test, weight in zip(
                self._converter.to_dicts(step.batch.x), labels, tested, weights, strict=True
            ):
                votes_by_row.append(vote(row) if test else no_votes)
                if label != UNLABELLED and weight != 0.0:
                    if weight is None:
                        learn(row, label)
                    else:
                        learn_weighted(row, label, weight)
                n_done += 1
        except Exception as error:
            raise as_learner_error(n_done, self._to_array(votes_by_row), error, with_votes=with_votes) from error
        votes = self._to_array(votes_by_row)
        return pick_winners(votes), votes if with_votes else None

    def _to_array(self, votes_by_row: list[list[float]]) -> NDArray[np.float64]:
        return clean_votes(np.array(votes_by_row, dtype=np.float64).reshape(-1, self._n_classes))

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
