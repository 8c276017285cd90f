"""Scikit-learn classifiers with `partial_fit`, and pipelines that end in one."""

import inspect
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least
from streamgauge.learners.adapters.chunked import ChunkedLearner, clean_votes, learn_copies
from streamgauge.learners.adapters.seeding import generate_seeds
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import Schema

__all__ = ["EstimatorModel", "ScikitLearn", "copy_estimator", "has_partial_fit", "has_seeds"]


@dataclass(frozen=True)
class ScikitLearn:
    """A classifier with `partial_fit`; each fold gets an untrained copy with its own `random_state`.

    In a pipeline the last step must have `partial_fit`, and every other step must have it too or need no fitting. All
    steps learn a row after it has been predicted.

    Nominal values are passed as codes, missing values as NaN. Until its first chunk is full, the learner predicts the
    majority class of the rows in it. A classifier that takes no `sample_weight` learns a row of weight 2 twice, and
    fails at a fractional weight. Its state is pickled, so load only states that you trust.

    Parameters
    ----------
    estimator
        The classifier, which is copied and never changed.
    chunk_size
        Number of rows that are learnt at once; 1 learns row by row. Rows are predicted before their chunk is learnt.
    seed
        Two learners with the same seed share their random numbers in each fold.

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
        """Default name of the learner."""
        return type(self.estimator).__name__

    @property
    def seedless(self) -> bool:
        """Whether neither the estimator nor any nested one has a `random_state`."""
        return not has_seeds(self.estimator)

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with an untrained, seeded copy of the estimator."""
        estimator = copy_estimator(self.estimator, seed)
        model = EstimatorModel(_Pipeline(estimator) if hasattr(estimator, "steps") else estimator, schema.n_classes)
        return ChunkedLearner(model, schema, self.chunk_size, "ScikitLearn")


def has_partial_fit(thing: object) -> bool:
    """Return whether an object is a classifier with `partial_fit`, or a pipeline that ends in one.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> has_partial_fit(make_pipeline(GaussianNB())), has_partial_fit(42)
    (True, False)
    """
    steps = getattr(thing, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) and steps else thing
    return hasattr(last, "partial_fit") and hasattr(last, "predict")


def has_seeds(estimator: Any) -> bool:  # noqa: ANN401
    """Return whether an estimator, or a nested one, takes a seed.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> has_seeds(SGDClassifier())
    True
    """
    return bool(_list_seed_options(estimator))


def copy_estimator(estimator: Any, seed: int) -> Any:  # noqa: ANN401
    """Return an untrained copy of an estimator; the copy and all nested estimators are seeded.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> first, second = (copy_estimator(SGDClassifier(), seed) for seed in (1, 1))
    >>> first.random_state.randint(100) == second.random_state.randint(100)
    True
    """
    if not hasattr(estimator, "get_params"):
        return deepcopy(estimator)
    from sklearn.base import clone  # noqa: PLC0415  (installed, since there is an estimator)

    copy = clone(estimator)
    names = _list_seed_options(copy)
    if names:
        # A generator, since an estimator with an integer seed restarts the same sequence at every call.
        seeds = zip(names, generate_seeds(seed), strict=False)
        copy.set_params(**{name: np.random.RandomState(nested) for name, nested in seeds})
    return copy


def _list_seed_options(estimator: Any) -> list[str]:  # noqa: ANN401
    params = estimator.get_params() if hasattr(estimator, "get_params") else {}
    return sorted(name for name in params if name.rpartition("__")[2] == "random_state")


class EstimatorModel:
    """An estimator as a model of chunks; see `streamgauge.learners.adapters.chunked.Model`.

    Parameters
    ----------
    estimator
        The estimator.
    n_classes
        Number of classes.
    classes_always
        Whether the classes are passed to every call of `partial_fit`, not only to the first.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = EstimatorModel(GaussianNB(), 2)
    >>> model.fit(np.array([[1.0], [2.0], [8.0], [9.0]]), np.array([0, 0, 1, 1], dtype=np.int32), None)
    >>> model.predict_votes(np.array([[1.5]])).round(3).tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, estimator: Any, n_classes: int, *, classes_always: bool = False) -> None:  # noqa: ANN401
        self._estimator, self._n_classes, self._classes_always = estimator, n_classes, classes_always
        last = estimator.last if isinstance(estimator, _Pipeline) else estimator
        self._name, self._takes_weight = type(last).__name__, _accepts(last, "sample_weight")
        self._classes = {"classes": np.arange(n_classes)} if _accepts(last, "classes") else {}
        self._is_fitted = False

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the estimator; its prediction gets the most, even if they disagree."""
        votes, codes = np.zeros((len(x), self._n_classes)), self.predict_codes(x)
        if hasattr(self._estimator, "predict_proba"):
            with np.errstate(divide="ignore", invalid="ignore"):
                votes[:, self._estimator.classes_.astype(np.intp)] = self._estimator.predict_proba(x)
            clean_votes(votes)
        differs = np.flatnonzero(pick_winners(votes) != codes)
        most = votes[differs].max(axis=1, initial=0.0)
        votes[differs, codes[differs]] = np.where(most == 0.0, 1.0, np.nextafter(most, np.inf))
        return votes

    def predict_codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the predictions of the estimator."""
        with np.errstate(divide="ignore", invalid="ignore"):  # naive Bayes takes the logarithm of counts of 0
            return np.asarray(self._estimator.predict(x)).astype(np.int32)

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn rows with `partial_fit`."""
        options: dict[str, object] = {} if self._is_fitted and not self._classes_always else dict(self._classes)
        if weight is None:
            self._estimator.partial_fit(x, y, **options)
        elif self._takes_weight:
            self._estimator.partial_fit(x, y, sample_weight=weight, **options)
        else:
            learn_copies(lambda x, y: self._estimator.partial_fit(x, y, **options), self._name, (x, y), weight)
        self._is_fitted = True

    def save(self) -> Any:  # noqa: ANN401
        """Return the estimator and whether it has been fitted."""
        return self._estimator, self._is_fitted

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Restore a saved estimator."""
        self._estimator, self._is_fitted = state


class _Pipeline:
    """A pipeline with `partial_fit`, which that of scikit-learn lacks."""

    def __init__(self, pipeline: Any) -> None:  # noqa: ANN401
        *before, (_, self.last) = pipeline.steps
        self._before = [step for _, step in before if step is not None and not isinstance(step, str)]
        for step in self._before:
            if not hasattr(step, "partial_fit") and _needs_fitting(step):
                msg = (
                    f"the step {type(step).__name__} of a pipeline has no partial_fit, so it cannot learn a stream: "
                    "fit it on other rows and wrap it in sklearn.frozen.FrozenEstimator, or remove it"
                )
                raise StreamgaugeError(msg)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name != "predict_proba":
            raise AttributeError(name)
        predict_proba = self.last.predict_proba  # raises AttributeError if the last step lacks it
        return lambda x: predict_proba(self._transform(x))

    @property
    def classes_(self) -> Any:  # noqa: ANN401
        return self.last.classes_

    def predict(self, x: NDArray[np.float64]) -> Any:  # noqa: ANN401
        return self.last.predict(self._transform(x))

    def _transform(self, x: Any) -> Any:  # noqa: ANN401
        for step in self._before:
            x = step.transform(x)
        return x

    def partial_fit(self, x: Any, y: Any, **options: Any) -> None:  # noqa: ANN401
        weight = {name: value for name, value in options.items() if name == "sample_weight"}
        for step in self._before:
            if hasattr(step, "partial_fit") and _needs_fitting(step):
                step.partial_fit(x, y, **(weight if _accepts(step, "sample_weight") else {}))
            x = step.transform(x)
        self.last.partial_fit(x, y, **options)


def _needs_fitting(step: Any) -> bool:  # noqa: ANN401
    """Return whether a step learns: a frozen step does not, nor does one without a fitted state."""
    if type(step).__name__ == "FrozenEstimator":
        return False
    tags = getattr(step, "__sklearn_tags__", None)
    return tags is None or bool(tags().requires_fit)


def _accepts(estimator: Any, option: str) -> bool:  # noqa: ANN401
    return option in inspect.signature(estimator.partial_fit).parameters
