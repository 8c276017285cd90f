"""Scikit-learn classifiers with `partial_fit`, and pipelines that end in one."""

import inspect
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError, require_at_least, unknown_name
from streamgauge.learners.adapters.chunked import (
    ChunkedLearner,
    choose_block_rows,
    clean_votes,
    learn_copies,
    pad_rows,
)
from streamgauge.learners.adapters.row_frames import RowFrames, Rows, check_rows, choose_rows, list_nested
from streamgauge.learners.adapters.seeding import generate_seeds
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.protocols import Learner
from streamgauge.records import Schema
from streamgauge.tasks import Classification, Regression, require_numbers

__all__ = [
    "EstimatorModel",
    "RegressorModel",
    "ScikitLearn",
    "copy_estimator",
    "explain_failure",
    "find_estimator_tasks",
    "has_partial_fit",
    "has_seeds",
]

FIRST_CHUNK = 1000
"""Default number of rows of a chunk for a pipeline with steps that are fitted once, on the first one."""

ROW_WISE = frozenset(
    {
        "Binarizer",
        "FunctionTransformer",
        "KBinsDiscretizer",
        "MaxAbsScaler",
        "MinMaxScaler",
        "MissingIndicator",
        "Normalizer",
        "OneHotEncoder",
        "OrdinalEncoder",
        "PolynomialFeatures",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "SelectFromModel",
        "SelectKBest",
        "SelectPercentile",
        "SimpleImputer",
        "SplineTransformer",
        "StandardScaler",
        "TargetEncoder",
        "VarianceThreshold",
    }
)
"""Steps of scikit-learn that transform a row in the same way, to the bit, whatever other rows they get with it."""

PASSES_MISSING = frozenset({"MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler", "VarianceThreshold"})
"""Steps of scikit-learn that take missing values and leave them missing."""


@dataclass(frozen=True)
class ScikitLearn:
    """A classifier or regressor with `partial_fit`; each fold gets an untrained copy with its own `random_state`.

    In a pipeline the last step must have `partial_fit`. Other steps that have it learn too. Steps without it, such as a
    ColumnTransformer, OneHotEncoder or SimpleImputer, are fitted once, on the first chunk, and stay as they are. All
    steps learn a row after it has been predicted. Until its first chunk is full, the learner predicts the majority
    class, or the mean target, of the rows in it.

    A pipeline with a ColumnTransformer or an encoder gets a pandas frame with the names of columns and categories;
    other estimators get an array with nominal values as codes. Missing values are NaN in both. A classifier that takes
    no `sample_weight` learns a row of weight 2 twice, and fails at a fractional weight. Its state is pickled, so load
    only states that you trust.

    Parameters
    ----------
    estimator
        The classifier, which is copied and never changed.
    chunk_size
        Number of rows that are learnt at once; 1 learns row by row. Rows are predicted before their chunk is learnt.
        None for 1, or for 1,000 if steps of a pipeline are fitted once.
    rows
        What the estimator gets: an "array" of codes, a "frame" with names as strings, or "categories", a frame whose
        nominal columns have the dtype category. None decides by the estimator.
    seed
        Two learners with the same seed share their random numbers in each fold.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> ScikitLearn(GaussianNB())
    ScikitLearn(estimator=GaussianNB(), chunk_size=1, rows=None, seed=1)
    """

    estimator: Any
    chunk_size: int | None = None
    rows: Rows | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if self.chunk_size is None:
            fitted_once = any(map(_is_fitted_once, _list_steps(self.estimator)[:-1]))
            object.__setattr__(self, "chunk_size", FIRST_CHUNK if fitted_once else 1)
        require_at_least("chunk_size", self._n_together, 1)
        if self.rows is not None:
            check_rows(self.rows)

    @property
    def _n_together(self) -> int:
        return self.chunk_size  # type: ignore[return-value]  # set when it is built

    @property
    def short_name(self) -> str:
        """Default name of the learner."""
        return type(self.estimator).__name__

    @property
    def seedless(self) -> bool:
        """Whether neither the estimator nor any nested one has a `random_state`."""
        return not has_seeds(self.estimator)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that the estimator can do, by its type; empty if it does not say."""
        return find_estimator_tasks(self.estimator)

    def check_schema(self, schema: Schema) -> None:
        """Raise if rows have missing values that the estimator is known not to take, or lack a column that it names."""
        _check_columns(self.estimator, schema)
        refusing = _find_step_without_missing(self.estimator)
        if refusing is not None and schema.missing.any():
            column = schema.attributes[int(schema.missing.argmax())].name
            msg = f"{refusing} takes no missing values, and the column {column!r} has some: {_MISSING_HINT}"
            raise StreamgaugeError(msg)

    def build(self, schema: Schema, seed: int) -> Learner:
        """Return a learner with an untrained, seeded copy of the estimator."""
        estimator = copy_estimator(self.estimator, seed)
        rows = choose_rows(estimator, schema) if self.rows is None else RowFrames(schema, self.rows)
        kind = EstimatorModel if schema.target is None else RegressorModel
        model = kind(
            _Pipeline(estimator) if hasattr(estimator, "steps") else estimator,
            schema.n_classes,
            rows=rows,
            chunk_size=self._n_together,
        )
        return ChunkedLearner(model, schema, self._n_together, "ScikitLearn")


_MISSING_HINT = (
    "use streamgauge.learners.Encoded(...) around it, or a pipeline with a SimpleImputer before it, as in "
    "make_pipeline(SimpleImputer(), ...)"
)


_CODES_HINT = ", or set rows='array' for codes"


@contextmanager
def explain_failure(name: str, fitted_on: str, more_rows: str, codes: str = "") -> Iterator[None]:
    """Add to an error of scikit-learn what to do about it.

    Parameters
    ----------
    name
        The name of the model.
    fitted_on
        The rows that an encoder was fitted on.
    more_rows, codes
        How else to have it fitted on more rows, and to pass codes; empty if there is no way.

    Examples
    --------
    >>> with explain_failure("SVC", "its", ""):
    ...     raise ValueError("Input X contains NaN")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: Input X contains NaN; SVC takes no missing values: use ...
    """
    try:
        yield
    except ValueError as error:
        hints = {
            "contains NaN": f"{name} takes no missing values: {_MISSING_HINT}",
            "Found unknown categories": (
                f"the encoder was fitted on {fitted_on} rows, in which they do not occur: set its "
                "handle_unknown='ignore' (for OrdinalEncoder 'use_encoded_value' with unknown_value=-1)" + more_rows
            ),
            "could not convert string to float": (
                "nominal columns are passed by name, since the pipeline has an encoder or a ColumnTransformer: "
                "encode all of them" + codes
            ),
        }
        hint = next((hint for text, hint in hints.items() if text in str(error)), None)
        if hint is None:
            raise
        msg = f"{str(error).splitlines()[0]}; {hint}"
        raise StreamgaugeError(msg) from error


def _list_steps(estimator: Any) -> list[Any]:  # noqa: ANN401
    """Return the steps of a pipeline, also of one inside it, without those that do nothing; or the estimator alone."""
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list):
        return [estimator]
    parts = [step for _, step in steps if step is not None and not isinstance(step, str)]
    return [part for step in parts for part in _list_steps(step)]


def _is_fitted_once(step: Any) -> bool:  # noqa: ANN401
    """Return whether a step before the last one needs fitting and has no `partial_fit`."""
    return not hasattr(step, "partial_fit") and _needs_fitting(step)


def _check_columns(estimator: Any, schema: Schema) -> None:  # noqa: ANN401
    """Raise if a ColumnTransformer names a column that the stream lacks."""
    names = [attribute.name for attribute in schema.attributes]
    for part in list_nested(estimator):
        if type(part).__name__ == "ColumnTransformer":
            for *_, columns in part.transformers:
                for column in [columns] if isinstance(columns, str) else columns if isinstance(columns, list) else []:
                    if isinstance(column, str) and column not in names:
                        raise unknown_name(kind="column", name=column, known=names)
            return  # nested ones see other columns


def _find_step_without_missing(estimator: Any) -> str | None:  # noqa: ANN401
    """Return the name of the step of scikit-learn that missing values would reach and that does not take them."""
    for step in _list_steps(estimator):
        name, tags = type(step).__name__, getattr(step, "__sklearn_tags__", None)
        if tags is None or not type(step).__module__.startswith("sklearn.") or hasattr(step, "estimator"):
            return None  # not known
        if name in PASSES_MISSING:
            continue
        decides_itself = name in {"ColumnTransformer", "FeatureUnion", "FunctionTransformer"}
        return None if decides_itself or tags().input_tags.allow_nan else name
    return None


def find_estimator_tasks(estimator: Any) -> tuple[str, ...]:  # noqa: ANN401
    """Return the names of the tasks that an estimator can do, by its tags; empty if it has none.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier, SGDRegressor
    >>> find_estimator_tasks(SGDClassifier()), find_estimator_tasks(SGDRegressor()), find_estimator_tasks(42)
    (('classification',), ('regression',), ())
    """
    tags = getattr(estimator, "__sklearn_tags__", None)
    kinds = {"classifier": (Classification.name,), "regressor": (Regression.name,)}
    return () if tags is None else kinds.get(str(tags().estimator_type), ())


def has_partial_fit(thing: object) -> bool:
    """Return whether an object is a classifier with `partial_fit`, or a pipeline that ends in one.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.pipeline import make_pipeline
    >>> has_partial_fit(make_pipeline(GaussianNB())), has_partial_fit(42)
    (True, False)
    """
    last = (_list_steps(thing) or [None])[-1]
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
    rows
        Converts rows to what the estimator takes; None for arrays.
    chunk_size
        Number of rows that are learnt at once, which decides how many are predicted in a call.
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

    any_number = True

    def __init__(
        self,
        estimator: Any,  # noqa: ANN401
        n_classes: int,
        *,
        rows: RowFrames | None = None,
        chunk_size: int = 1,
        classes_always: bool = False,
    ) -> None:
        self._estimator, self._n_classes, self._classes_always = estimator, n_classes, classes_always
        self._rows, self._chunk_size = rows, chunk_size
        last = estimator.last if isinstance(estimator, _Pipeline) else estimator
        self._name, self._takes_weight = type(last).__name__, _accepts(last, "sample_weight")
        self._classes = {"classes": np.arange(n_classes)} if _accepts(last, "classes") else {}
        self._is_fitted = False

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the estimator; its prediction gets the most, even if they disagree."""
        votes, codes = np.zeros((len(x), self._n_classes)), np.empty(len(x), dtype=np.int32)
        with self._explain_failure():
            for part, last, rows in self._split(x):
                codes[part] = np.asarray(last.predict(rows)).astype(np.int32)[: part.stop - part.start]
                if hasattr(last, "predict_proba"):
                    probabilities = last.predict_proba(rows)[: part.stop - part.start]
                    votes[part, last.classes_.astype(np.intp)] = probabilities
        clean_votes(votes)
        differs = np.flatnonzero(pick_winners(votes) != codes)
        most = votes[differs].max(axis=1, initial=0.0)
        votes[differs, codes[differs]] = np.where(most == 0.0, 1.0, np.nextafter(most, np.inf))
        return votes

    def predict_codes(self, x: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the predictions of the estimator."""
        codes = np.empty(len(x), dtype=np.int32)
        with self._explain_failure():
            for part, last, rows in self._split(x):
                codes[part] = np.asarray(last.predict(rows)).astype(np.int32)[: part.stop - part.start]
        return codes

    def _split(self, x: NDArray[np.float64]) -> Iterator[tuple[slice, Any, Any]]:
        """Yield rows in padded blocks of a fixed size, as the last step takes them, and that step.

        Steps that transform each row by itself get all rows at once; the others get blocks.
        """
        pipeline = self._estimator if isinstance(self._estimator, _Pipeline) else None
        last = self._estimator if pipeline is None else pipeline.last
        whole = pipeline is None or pipeline.is_row_wise
        rows: Any = self._prepare(x) if whole else x
        is_sparse = hasattr(rows, "tocsr")
        rows = rows.tocsr() if is_sparse else rows
        size = choose_block_rows(1 if is_sparse else rows.shape[1], self._chunk_size)  # a sparse one needs no BLAS
        with np.errstate(divide="ignore", invalid="ignore"):  # naive Bayes takes the logarithm of counts of 0
            for start in range(0, len(x), size):
                block = pad_rows(rows, start, size)
                yield slice(start, min(start + size, len(x))), last, block if whole else self._prepare(block)

    def _prepare(self, x: NDArray[np.float64]) -> Any:  # noqa: ANN401
        """Return rows as the last step takes them."""
        rows = x if self._rows is None else self._rows.convert(x)
        return self._estimator.transform(rows) if isinstance(self._estimator, _Pipeline) else rows

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn rows with `partial_fit`."""
        if weight is None:
            self._partial_fit(x, y)
        elif self._takes_weight:
            self._partial_fit(x, y, sample_weight=weight)
        else:
            learn_copies(self._partial_fit, self._name, (x, y), weight)

    def _partial_fit(self, x: NDArray[np.float64], y: NDArray[np.int32], **options: object) -> None:
        if not self._is_fitted or self._classes_always:
            options = {**options, **self._classes}
        with self._explain_failure():
            self._estimator.partial_fit(x if self._rows is None else self._rows.convert(x), y, **options)
        self._is_fitted = True

    def _explain_failure(self) -> AbstractContextManager[None]:
        return explain_failure(self._name, f"the first {self._chunk_size:,}", ", or a larger chunk_size", _CODES_HINT)

    def save(self) -> Any:  # noqa: ANN401
        """Return the estimator and whether it has been fitted."""
        return self._estimator, self._is_fitted

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Restore a saved estimator."""
        self._estimator, self._is_fitted = state


class RegressorModel(EstimatorModel):
    """A regressor as a model of chunks; see `streamgauge.learners.adapters.chunked.Model`.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> model = RegressorModel(SGDRegressor(random_state=1), 0)
    >>> model.fit(np.array([[1.0], [2.0]]), np.array([1.0, 2.0]), None)
    >>> model.predict_votes(np.array([[1.5]])).shape
    (1,)
    """

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the predictions of the estimator; those of numbers too large to be squared are an error."""
        numbers = np.empty(len(x))
        with self._explain_failure():
            for part, last, rows in self._split(x):
                numbers[part] = np.asarray(last.predict(rows), dtype=np.float64).reshape(-1)[: part.stop - part.start]
        return require_numbers(numbers)

    predict_codes = predict_votes  # type: ignore[assignment]


class _Pipeline:
    """A pipeline with `partial_fit`, which that of scikit-learn lacks; steps without it are fitted once."""

    def __init__(self, pipeline: Any) -> None:  # noqa: ANN401
        *self._before, self.last = _list_steps(pipeline)
        self._is_fitted = False
        self.is_row_wise = all(map(_is_row_wise, self._before))
        for step in self._before:
            if not hasattr(step, "transform"):
                msg = f"the step {type(step).__name__} of a pipeline has no transform, so it cannot prepare rows"
                raise StreamgaugeError(msg)

    def transform(self, x: Any) -> Any:  # noqa: ANN401
        """Return rows as the last step takes them."""
        for step in self._before:
            x = step.transform(x)
        return x

    def partial_fit(self, x: Any, y: Any, **options: Any) -> None:  # noqa: ANN401
        weight = {name: value for name, value in options.items() if name == "sample_weight"}
        for step in self._before:
            if _is_fitted_once(step):
                x = step.transform(x) if self._is_fitted else step.fit_transform(x, y)
                continue
            if hasattr(step, "partial_fit") and _needs_fitting(step):
                step.partial_fit(x, y, **(weight if _accepts(step, "sample_weight") else {}))
            x = step.transform(x)
        self._is_fitted = True
        self.last.partial_fit(x, y, **options)


def _is_row_wise(step: Any) -> bool:  # noqa: ANN401
    """Return whether a step transforms a row in the same way, to the bit, whatever other rows it gets with it."""
    name = type(step).__name__
    if isinstance(step, str) or step is None:  # "passthrough" or "drop"
        return True
    if not type(step).__module__.startswith("sklearn."):
        return False
    if name == "FrozenEstimator":
        return _is_row_wise(step.estimator)
    if name in {"ColumnTransformer", "FeatureUnion", "Pipeline"}:
        parts = {"ColumnTransformer": "transformers", "FeatureUnion": "transformer_list", "Pipeline": "steps"}[name]
        return all(_is_row_wise(part) for _, part, *_ in getattr(step, parts))
    if name == "FunctionTransformer":
        return step.func is None or isinstance(step.func, np.ufunc)
    return name in ROW_WISE


def _needs_fitting(step: Any) -> bool:  # noqa: ANN401
    """Return whether a step learns: a frozen step does not, nor does one without a fitted state."""
    if type(step).__name__ == "FrozenEstimator":
        return False
    tags = getattr(step, "__sklearn_tags__", None)
    return tags is None or bool(tags().requires_fit)


def _accepts(estimator: Any, option: str) -> bool:  # noqa: ANN401
    return option in inspect.signature(estimator.partial_fit).parameters
