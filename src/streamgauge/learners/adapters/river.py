"""Any classifier of River, or any object with its methods."""

import inspect
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import count, repeat
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.learners.adapters.chunked import ChunkLearner, repeated, usable
from streamgauge.learners.adapters.libraries import library
from streamgauge.learners.adapters.saved_states import Size, pickled, size_of, unpickled
from streamgauge.learners.adapters.seeding import SEED_NAMES, seeds
from streamgauge.learners.plain_loop import as_learner_error, pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import UNLABELLED, Schema, Step

__all__ = ["NominalValues", "River"]

NominalValues = Literal["names", "codes"]
"""How nominal values reach a model: as texts, which River takes for categories, or as numbers."""

BLOCK = 1024
"""Of how many rows the dicts are held at once."""


@dataclass(frozen=True, repr=False)
class River:
    """A classifier of River; each fold gets its own fresh copy, in which everything that takes a seed has its own.

    A row is a dict by the names of the attributes, without those whose values are missing; classes are their codes.
    A model that takes no weight `w` learns a row of weight 2 twice, and fails at a weight that is not whole. Its state
    is saved with pickle, so load only what you saved yourself.

    Parameters
    ----------
    model
        The classifier, which is copied and never changed. The copies have learnt nothing.
    chunk_size
        How many rows it learns at once, with `learn_many` where it is more than 1: rows are then predicted before the
        chunk they belong to is learnt. With 1, row by row, as a stream demands.
    nominal
        Whether nominal values are "names" (texts) or "codes" (numbers).
    seed
        Two learners with the same seed share their randomness in each fold.

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
            msg = f"{self.short_name} has no learn_many, so it learns row by row: leave chunk_size at 1"
            raise StreamgaugeError(msg)

    def __repr__(self) -> str:
        return _text(self)

    @property
    def short_name(self) -> str:
        """What it is called where it has no other name."""
        return type(self.model).__name__

    @property
    def seedless(self) -> bool:
        """Whether nothing in the model takes a seed."""
        asked = count()
        _fresh(self.model, asked)
        return next(asked) == 0

    def build(self, schema: Schema, seed: int) -> Learner:
        """Copy the model and give everything in the copy that takes a seed its own."""
        model = _fresh(self.model, seeds(seed))
        if schema.n_classes > 2 and not getattr(model, "_multiclass", True):
            msg = (
                f"{self.short_name} tells two classes apart and there are {schema.n_classes}: "
                "wrap it in river.multiclass.OneVsRestClassifier"
            )
            raise StreamgaugeError(msg)
        if self.chunk_size > 1:
            return ChunkLearner(_ManyModel(model, schema, self.nominal), schema, self.chunk_size, "River")
        return _RiverLearner(model, schema, self.nominal)


def _fresh(model: Any, own: Iterator[int]) -> Any:  # noqa: ANN401
    """Copy a model without what it has learnt, and give everything in it that takes a seed the next of the seeds."""
    return model.clone(_seeded(model._get_params(), own)) if hasattr(model, "_get_params") else deepcopy(model)


def _seeded(options: dict[str, Any], own: Iterator[int]) -> dict[str, Any]:
    """Set the seeds among options as River's `_get_params` gives them; those of parts are in dicts inside."""
    return {name: next(own) if name in SEED_NAMES else _seeded_option(value, own) for name, value in options.items()}


def _seeded_option(value: Any, own: Iterator[int]) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return _seeded(value, own)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], type):
        return value[0], _seeded(value[1], own)
    if isinstance(value, list | tuple) and any(hasattr(part, "_get_params") for part in value):
        return type(value)(_fresh(part, own) for part in value)
    return value


def _text(value: Any) -> str:  # noqa: ANN401
    """Write a model with the options that are not as usual; River's own texts take many lines, or say nothing."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_text, value))}]"
    if hasattr(value, "steps"):
        return " | ".join(map(_text, value.steps.values()))
    if not isinstance(value, River) and not hasattr(value, "_get_params"):
        return repr(value)
    try:
        usual = _option_texts(type(value)())
    except TypeError:  # it needs options
        places = inspect.signature(type(value)).parameters.values()
        usual = {place.name: _text(place.default) for place in places}
    options = [f"{name}={text}" for name, text in _option_texts(value).items() if text != usual.get(name)]
    return f"{type(value).__name__}({', '.join(options)})"


def _option_texts(model: Any) -> dict[str, str]:  # noqa: ANN401
    names = [name for name in inspect.signature(type(model)).parameters if hasattr(model, name)]
    return {name: _text(getattr(model, name)) for name in names}


class _Rows:
    """Turns rows into what River takes."""

    def __init__(self, schema: Schema, nominal: NominalValues) -> None:
        self._names = [attribute.name for attribute in schema.attributes]
        values = [attribute.values if nominal == "names" else None for attribute in schema.attributes]
        self._values = {place: names for place, names in enumerate(values) if names is not None}

    def columns(self, x: NDArray[np.float64]) -> dict[str, list[Any]]:
        """Give the columns by name; a missing value is None."""
        found: list[list[Any]] = x.T.tolist()
        gone = np.isnan(x)
        for place, names in self._values.items():
            codes = np.where(gone[:, place], len(names), x[:, place]).astype(np.intp)
            found[place] = np.array([*names, None], dtype=object)[codes].tolist()
        for place in np.flatnonzero(gone.any(axis=0)).tolist():
            for i in np.flatnonzero(gone[:, place]).tolist():
                found[place][i] = None
        return dict(zip(self._names, found, strict=True))

    def dicts(self, x: NDArray[np.float64]) -> Iterator[dict[str, Any]]:
        """Give the rows one by one."""
        names = self._names
        for start in range(0, len(x), BLOCK):
            part = x[start : start + BLOCK]
            if not self._values and not np.isnan(part).any():
                for row in part.tolist():
                    yield dict(zip(names, row, strict=False))
            elif not names:
                yield from ({} for _ in range(len(part)))
            else:
                for row in zip(*self.columns(part).values(), strict=True):
                    yield {name: value for name, value in zip(names, row, strict=True) if value is not None}


class _RiverLearner:
    """The learner of one fold, row by row."""

    def __init__(self, model: Any, schema: Schema, nominal: NominalValues) -> None:  # noqa: ANN401
        self._model, self._n_classes = model, schema.n_classes
        self._rows = _Rows(schema, nominal)
        self._n_seen, self._size = 0, Size()
        last = list(model.steps.values())[-1] if hasattr(model, "steps") else model
        self._name = type(last).__name__
        self._takes_weight = "w" in inspect.signature(last.learn_one).parameters
        self._has_probabilities = hasattr(last, "predict_proba_one")

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((len(x), self._n_classes))
        for i, row in enumerate(self._rows.dicts(x)):
            votes[i] = self._votes_of(row)
        return usable(votes)

    def _votes_of(self, row: dict[str, Any]) -> list[float]:
        votes = [0.0] * self._n_classes
        if self._has_probabilities:
            try:
                for label, vote in self._model.predict_proba_one(row).items():
                    votes[label] = vote
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
        for i, (row, label) in enumerate(zip(self._rows.dicts(x), y.tolist(), strict=True)):
            if weight is None:
                self._model.learn_one(row, label)
            elif weight[i] > 0:
                self._learn_weighted(row, label, float(weight[i]))

    def _learn_weighted(self, row: dict[str, Any], label: int, weight: float) -> None:
        if self._takes_weight:
            self._model.learn_one(row, label, w=weight)
        else:
            for _ in range(_copies(weight, self._name)):
                self._model.learn_one(row, label)

    def interleave(self, step: Step, *, with_votes: bool) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        votes_of, learn, learn_weighted = self._votes_of, self._model.learn_one, self._learn_weighted
        labels = step.labels.tolist()
        self._n_seen += len(labels)
        tested = [True] * len(labels) if step.test is None else step.test.tolist()
        weights = repeat(None, len(labels)) if step.learning_weight is None else step.learning_weight.tolist()
        nothing = [0.0] * self._n_classes
        found: list[list[float]] = []
        n_done = 0
        try:
            for row, label, test, weight in zip(self._rows.dicts(step.batch.x), labels, tested, weights, strict=True):
                found.append(votes_of(row) if test else nothing)
                if label != UNLABELLED and weight != 0.0:
                    if weight is None:
                        learn(row, label)
                    else:
                        learn_weighted(row, label, weight)
                n_done += 1
        except Exception as error:
            raise as_learner_error(n_done, self._table(found), error, with_votes=with_votes) from error
        votes = self._table(found)
        return pick_winners(votes), votes if with_votes else None

    def _table(self, found: list[list[float]]) -> NDArray[np.float64]:
        return usable(np.array(found, dtype=np.float64).reshape(-1, self._n_classes))

    @property
    def n_bytes(self) -> int:
        """The memory of all objects of the model, as measured every quarter more rows, for that takes long."""
        return self._size.after(self._n_seen, lambda: size_of(self._model))

    def save(self) -> bytes:
        return pickled("River", self._model)

    def load(self, state: bytes) -> None:
        self._model, self._size = unpickled("River", state), Size()


def _copies(weight: float, name: str) -> int:
    if not weight.is_integer():
        msg = f"{name} takes no weight w, so it cannot learn a row with weight {weight}"
        raise StreamgaugeError(msg)
    return int(weight)


class _ManyModel:
    """A model that learns chunks with `learn_many`."""

    def __init__(self, model: Any, schema: Schema, nominal: NominalValues) -> None:  # noqa: ANN401
        self._model, self._n_classes = model, schema.n_classes
        self._rows = _Rows(schema, nominal)
        self._frame = library("pandas", "river").DataFrame
        self._series = library("pandas", "river").Series

    def votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((len(x), self._n_classes))
        found = self._model.predict_proba_many(self._frame(self._rows.columns(x)))
        for label in found.columns:
            votes[:, int(label)] = found[label]
        return usable(votes)

    def codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        return pick_winners(self.votes(x))

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        if weight is None:
            self._model.learn_many(self._frame(self._rows.columns(x)), self._series(y.tolist()))
        else:
            repeated(lambda x, y: self.fit(x, y, None), type(self._model).__name__, (x, y), weight)

    def save(self) -> Any:  # noqa: ANN401
        return self._model

    def load(self, state: Any) -> None:  # noqa: ANN401
        self._model = state
