"""Any scikit-learn classifier with `partial_fit`, and pipelines that end in one."""

import inspect
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.learners.adapters.chunked import ChunkLearner, repeated, usable
from streamgauge.learners.adapters.seeding import seeds
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import Schema

__all__ = ["EstimatorModel", "ScikitLearn", "fresh_estimator", "has_seeds", "learns_by_parts"]


@dataclass(frozen=True)
class ScikitLearn:
    """A classifier with `partial_fit`; each fold gets its own fresh copy, with its own `random_state`.

    A pipeline will do where its last step has `partial_fit` and every other step has it too or needs no fitting; what
    comes before the last step learns a row after it was predicted, as the classifier does.

    Nominal values reach it as codes, missing ones as NaN. It abstains until it has learnt. A classifier that takes no
    `sample_weight` learns a row of weight 2 twice, and fails at a weight that is not whole. Its state is saved with
    pickle, so load only what you saved yourself.

    Parameters
    ----------
    estimator
        The classifier, which is copied and never changed. The copies have learnt nothing.
    chunk_size
        How many rows it learns at once. Rows are predicted before the chunk they belong to is learnt; with 1, row by
        row, as a stream demands.
    seed
        Two learners with the same seed share their randomness in each fold.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> ScikitLearn(GaussianNB())
    ScikitLearn(estimator=GaussianNB(), chunk_size=1, seed=1)
    """

    estimator: Any
    chunk_size: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        require_at_least("chunk_size", self.chunk_size, 1)

    @property
    def short_name(self) -> str:
        """What it is called where it has no other name."""
        return type(self.estimator).__name__

    @property
    def seedless(self) -> bool:
        """Whether the estimator, and all inside it, has no `random_state`."""
        return not has_seeds(self.estimator)

    def build(self, schema: Schema, seed: int) -> Learner:
        """Copy the estimator and give the copy its own seed."""
        estimator = fresh_estimator(self.estimator, seed)
        model = EstimatorModel(_Pipeline(estimator) if hasattr(estimator, "steps") else estimator, schema.n_classes)
        return ChunkLearner(model, schema, self.chunk_size, "ScikitLearn")


def learns_by_parts(thing: object) -> bool:
    """Say whether a thing is a classifier with `partial_fit`, or a pipeline that ends in one.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> learns_by_parts(make_pipeline(GaussianNB())), learns_by_parts(42)
    (True, False)
    """
    steps = getattr(thing, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) and steps else thing
    return hasattr(last, "partial_fit") and hasattr(last, "predict")


def has_seeds(estimator: Any) -> bool:  # noqa: ANN401
    """Say whether an estimator, or one inside it, takes a seed.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> has_seeds(SGDClassifier())
    True
    """
    return bool(_seed_names(estimator))


def fresh_estimator(estimator: Any, seed: int) -> Any:  # noqa: ANN401
    """Copy an estimator, without what it has learnt, and seed the copy and all inside it.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> one, two = (fresh_estimator(SGDClassifier(), seed) for seed in (1, 1))
    >>> one.random_state.randint(100) == two.random_state.randint(100)
    True
    """
    if not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    from sklearn.base import clone  # noqa: PLC0415  (who has an estimator has scikit-learn)

    copy = clone(estimator)
    names = _seed_names(copy)
    if names:
        # A generator, not a number: of a number one is made anew at every call, with the same draws again.
        copy.set_params(**{name: np.random.RandomState(own) for name, own in zip(names, seeds(seed), strict=False)})
    return copy


def _seed_names(estimator: Any) -> list[str]:  # noqa: ANN401
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return sorted(name for name in params if name.rpartition("__")[2] == "random_state")


class EstimatorModel:
    """An estimator as the model of a learner; see `streamgauge.learners.adapters.chunked.Model`.

    Parameters
    ----------
    estimator
        What votes and learns.
    n_classes
        How many classes there are.
    classes_always
        Whether `partial_fit` is told the classes each time, not only the first.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = EstimatorModel(GaussianNB(), 2)
    >>> model.fit(np.array([[1.0], [2.0], [8.0], [9.0]]), np.array([0, 0, 1, 1], dtype=np.int32), None)
    >>> model.votes(np.array([[1.5]])).round(3).tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, estimator: Any, n_classes: int, *, classes_always: bool = False) -> None:  # noqa: ANN401
        self._estimator, self._n_classes, self._classes_always = estimator, n_classes, classes_always
        last = estimator.last if isinstance(estimator, _Pipeline) else estimator
        self._name, self._takes_weight = type(last).__name__, _takes(last, "sample_weight")
        self._classes = {"classes": np.arange(n_classes)} if _takes(last, "classes") else {}
        self._told = False

    def votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Vote with the estimator's probabilities; most for its prediction, even where they say otherwise."""
        votes, codes = np.zeros((len(x), self._n_classes)), self.codes(x)
        if hasattr(self._estimator, "predict_proba"):
            with np.errstate(divide="ignore", invalid="ignore"):
                votes[:, self._estimator.classes_.astype(np.intp)] = self._estimator.predict_proba(x)
            usable(votes)
        other = np.flatnonzero(pick_winners(votes) != codes)
        most = votes[other].max(axis=1, initial=0.0)
        votes[other, codes[other]] = np.where(most == 0.0, 1.0, np.nextafter(most, np.inf))
        return votes

    def codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        """Give the estimator's predictions."""
        with np.errstate(divide="ignore", invalid="ignore"):  # naive Bayes takes logarithms of what it never saw
            return np.asarray(self._estimator.predict(x)).astype(np.int32)

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn rows with `partial_fit`."""
        options: dict[str, object] = {} if self._told and not self._classes_always else dict(self._classes)
        if weight is None:
            self._estimator.partial_fit(x, y, **options)
        elif self._takes_weight:
            self._estimator.partial_fit(x, y, sample_weight=weight, **options)
        else:
            repeated(lambda x, y: self._estimator.partial_fit(x, y, **options), self._name, (x, y), weight)
        self._told = True

    def save(self) -> Any:  # noqa: ANN401
        """Give the estimator and whether it was told the classes."""
        return self._estimator, self._told

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Take over an estimator."""
        self._estimator, self._told = state


class _Pipeline:
    """Gives a pipeline the `partial_fit` that scikit-learn's lacks."""

    def __init__(self, pipeline: Any) -> None:  # noqa: ANN401
        *before, (_, self.last) = pipeline.steps
        self._before = [step for _, step in before if step is not None and not isinstance(step, str)]
        for step in self._before:
            if not hasattr(step, "partial_fit") and _needs_fitting(step):
                msg = (
                    f"the step {type(step).__name__} of a pipeline has no partial_fit, so it cannot learn a stream: "
                    "fit it on other rows and wrap it in sklearn.frozen.FrozenEstimator, or leave it out"
                )
                raise StreamgaugeError(msg)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name != "predict_proba":
            raise AttributeError(name)
        probabilities = self.last.predict_proba  # there only where the last step has it
        return lambda x: probabilities(self._transformed(x))

    @property
    def classes_(self) -> Any:  # noqa: ANN401
        return self.last.classes_

    def predict(self, x: NDArray[np.float64]) -> Any:  # noqa: ANN401
        return self.last.predict(self._transformed(x))

    def _transformed(self, x: Any) -> Any:  # noqa: ANN401
        for step in self._before:
            x = step.transform(x)
        return x

    def partial_fit(self, x: Any, y: Any, **options: Any) -> None:  # noqa: ANN401
        weight = {name: value for name, value in options.items() if name == "sample_weight"}
        for step in self._before:
            if hasattr(step, "partial_fit") and _needs_fitting(step):
                step.partial_fit(x, y, **(weight if _takes(step, "sample_weight") else {}))
            x = step.transform(x)
        self.last.partial_fit(x, y, **options)


def _needs_fitting(step: Any) -> bool:  # noqa: ANN401
    """Say whether a step learns: one that was frozen does not, nor does one whose work no row can change."""
    if type(step).__name__ == "FrozenEstimator":
        return False
    tags = getattr(step, "__sklearn_tags__", None)
    return tags is None or bool(tags().requires_fit)


def _takes(estimator: Any, option: str) -> bool:  # noqa: ANN401
    return option in inspect.signature(estimator.partial_fit).parameters
