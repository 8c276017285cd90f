"""Models of other libraries that can only be fitted on all rows at once."""

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.chunked import clean_votes, learn_copies, pad_rows
from streamgauge.learners.adapters.row_frames import RowFrames, choose_rows, list_nested
from streamgauge.learners.adapters.saved_states import measure_size, pickle_state, unpickle_state
from streamgauge.learners.adapters.scikit_learn import copy_estimator, explain_failure
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema
from streamgauge.tasks import require_numbers

__all__ = [
    "EstimatorMember",
    "FittedEstimator",
    "is_estimator",
    "is_fit_only",
    "name_model",
    "predict_in_blocks",
    "predict_in_one_thread",
    "require_predictor",
    "set_threads",
]

BLOCK_ROWS = 64
"""Number of rows per prediction call. It is constant, since rounding may depend on it."""

ROW_WISE = (
    "lightgbm",
    "xgboost",
    "catboost",
    "sklearn.tree",
    "sklearn.ensemble._forest",
    "sklearn.ensemble._gb",
    "sklearn.ensemble._hist_gradient_boosting",
)
"""Modules of models that vote for a row with the same bits whatever rows are predicted with it, and predict the class
with the most votes. Others get blocks of a fixed size, since their rounding may depend on it."""


def is_fit_only(thing: object) -> bool:
    """Return whether an object is a model that can only be fitted on all rows at once.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> is_fit_only(DecisionTreeClassifier()), is_fit_only(SGDClassifier())
    (True, False)
    """
    return is_estimator(thing) and not hasattr(_find_last_step(thing), "partial_fit")


def is_estimator(thing: object) -> bool:
    """Return whether an object has the methods of scikit-learn's models.

    Examples
    --------
    >>> is_estimator("text")
    False
    """
    is_spec = isinstance(thing, LearnerSpec)
    return not is_spec and not isinstance(thing, type) and hasattr(thing, "fit") and hasattr(thing, "predict")


def require_predictor(estimator: Any) -> None:  # noqa: ANN401
    """Raise if a model declares that it is neither a classifier nor a regressor.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> require_predictor(KMeans())
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: KMeans is a clusterer; streamgauge evaluates classifiers and regressors
    """
    if not hasattr(estimator, "__sklearn_tags__"):
        return
    kind = estimator.__sklearn_tags__().estimator_type
    if kind not in {None, "classifier", "regressor"}:
        msg = f"{name_model(estimator)} is a {kind}; streamgauge evaluates classifiers and regressors"
        raise StreamgaugeError(msg)


def name_model(estimator: Any) -> str:  # noqa: ANN401
    """Return the name of the class of a model; of the last step of a pipeline.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> name_model(make_pipeline(SVC()))
    'SVC'
    """
    return type(_find_last_step(estimator)).__name__


def _find_last_step(estimator: Any) -> Any:  # noqa: ANN401
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if isinstance(steps, list) and steps else estimator


class FittedEstimator:
    """A model with `fit` and `predict`, such as those of scikit-learn; see `streamgauge.learners.refitted.Fittable`.

    Parameters
    ----------
    estimator
        The model, of which every fit makes a copy.
    schema
        The schema of the rows.
    rows
        Converts rows to what the model takes; None decides by the model.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from streamgauge.records import Attribute
    >>> model = FittedEstimator(DecisionTreeClassifier(), Schema((Attribute("x"),), ("a", "b", "c")))
    >>> model.fit(np.array([[1.0], [2.0]]), np.array([0, 2], dtype=np.int32), None, seed=1)
    >>> model.predict_votes(np.array([[2.0]])).tolist()
    [[0.0, 0.0, 1.0]]
    """

    def __init__(self, estimator: Any, schema: Schema, rows: RowFrames | None = None) -> None:  # noqa: ANN401
        self._estimator, self._n_classes = estimator, schema.n_classes
        self._fitted: Any = None
        steps, last = getattr(estimator, "steps", None), _find_last_step(estimator)
        self.name = name_model(estimator)
        self._weight_option = ""
        if _accepts_weight(last):
            self._weight_option = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
        self._frames = rows or choose_rows(estimator, schema)
        self.is_row_wise = not steps and type(last).__module__.startswith(ROW_WISE)
        """Whether it votes with the same bits whatever rows are predicted together."""
        self._has_threads = any(map(_has_threads, list_nested(estimator)))

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None, seed: int) -> None:
        """Fit a new copy; a model of rows of one class predicts that class."""
        if (y == y[0]).all():
            self._fitted = int(y[0])
        else:
            self._fit_copy(x, y, weight, seed)

    def _fit_copy(self, x: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None, seed: int) -> None:
        fitted = copy_estimator(self._estimator, seed)
        if self._has_threads:
            set_threads(fitted)
        with self._explain_failure():
            if weight is None:
                fitted.fit(self._frames.convert(x), y)
            elif self._weight_option:
                fitted.fit(self._frames.convert(x), y, **{self._weight_option: weight})
            else:
                learn_copies(lambda x, y: fitted.fit(self._frames.convert(x), y), self.name, (x, y), weight)
        self._fitted = predict_in_one_thread(fitted) if self._has_threads else fitted

    def _explain_failure(self) -> AbstractContextManager[None]:
        return explain_failure(self.name, "the collected", ", or fit on more rows")

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the model; its prediction gets the most, even if they disagree."""
        if self.is_row_wise or isinstance(self._fitted, int):
            return self.predict_together(x)
        return predict_in_blocks(self._predict_both, x, self._n_classes, BLOCK_ROWS)

    def predict_together(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of rows in one call; where it has none, 1 for the predicted class."""
        if isinstance(self._fitted, int):
            votes = np.zeros((len(x), self._n_classes))
            votes[:, self._fitted] = 1.0
            return votes
        rows = self._frames.convert(x)
        if not hasattr(self._fitted, "predict_proba"):
            return self._mark(rows)
        votes = self._vote(rows)
        lost = ~votes.any(axis=1)
        if lost.any():  # such as naive Bayes on a constant column, whose probabilities are NaN
            votes[lost] = self._mark(rows)[lost]
        return votes

    def _vote(self, rows: Any) -> NDArray[np.float64]:  # noqa: ANN401
        with (
            self._explain_failure(),
            np.errstate(divide="ignore", invalid="ignore"),
        ):  # naive Bayes takes the logarithm of counts of 0
            probabilities = np.asarray(self._fitted.predict_proba(rows), dtype=np.float64)
        if probabilities.shape[1] == self._n_classes:
            return clean_votes(probabilities)
        votes = np.zeros((len(probabilities), self._n_classes))
        votes[:, np.asarray(self._fitted.classes_).astype(np.intp)] = probabilities
        return clean_votes(votes)

    def _mark(self, rows: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Return votes of 1 for the predicted classes."""
        with self._explain_failure(), np.errstate(divide="ignore", invalid="ignore"):
            codes = np.asarray(self._fitted.predict(rows)).reshape(-1).astype(np.intp)
        return np.eye(self._n_classes)[codes]

    def _predict_both(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        rows = self._frames.convert(x)
        marks = self._mark(rows)
        if not hasattr(self._fitted, "predict_proba"):
            return marks
        votes, codes = self._vote(rows), marks.argmax(axis=1)
        differs = np.flatnonzero(pick_winners(votes) != codes)
        most = votes[differs].max(axis=1, initial=0.0)
        votes[differs, codes[differs]] = np.where(most == 0.0, 1.0, np.nextafter(most, np.inf))
        return votes

    @property
    def n_bytes(self) -> int:
        """The memory of the fitted model in bytes."""
        return measure_size(self._fitted)

    def save(self) -> Any:  # noqa: ANN401
        """Return the fitted model."""
        return self._fitted

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Restore a fitted model."""
        self._fitted = state


class FittedRegressor(FittedEstimator):
    """A regressor with `fit` and `predict`; see `streamgauge.learners.refitted.Fittable`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from streamgauge.records import Attribute, NumericTarget
    >>> model = FittedRegressor(DecisionTreeRegressor(), Schema((Attribute("x"),), target=NumericTarget()))
    >>> model.fit(np.array([[1.0], [2.0]]), np.array([0.5, 2.5]), None, seed=1)
    >>> model.predict_votes(np.array([[2.0]])).tolist()
    [2.5]
    """

    def fit(self, x: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None, seed: int) -> None:
        """Fit a new copy."""
        self._fit_copy(x, y, weight, seed)

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the predictions of the model."""
        if self.is_row_wise:
            return self.predict_together(x)
        numbers = np.empty(len(x))
        for start in range(0, len(x), BLOCK_ROWS):
            part = numbers[start : start + BLOCK_ROWS]
            part[:] = self.predict_together(pad_rows(x, start, BLOCK_ROWS))[: len(part)]
        return numbers

    def predict_together(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the predictions of rows in one call; those of numbers too large to be squared are an error."""
        with self._explain_failure():
            predicted = self._fitted.predict(self._frames.convert(x))
        return require_numbers(np.asarray(predicted, dtype=np.float64).reshape(-1))


class EstimatorMember(FittedEstimator):
    """A member of an ensemble of chunks: a model that is fitted on its chunk, and may be updated by later ones.

    Parameters
    ----------
    estimator, schema, rows
        As for `FittedEstimator`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from streamgauge.records import Attribute
    >>> member = EstimatorMember(GaussianNB(), Schema((Attribute("x"),), ("a", "b")))
    >>> rows, labels = np.array([[1.0], [2.0], [8.0], [9.0]]), np.array([0, 0, 1, 1], dtype=np.int32)
    >>> member.learn_chunk(rows, labels, None)
    >>> member.predict(np.array([[1.5]])).round(3).tolist()
    [[1.0, 0.0]]
    """

    def __init__(self, estimator: Any, schema: Schema, rows: RowFrames | None = None) -> None:  # noqa: ANN401
        super().__init__(estimator, schema, rows)
        self._seed, self._is_updated = 1, False

    def make_copy(self, seed: int, *, is_updated: bool) -> "EstimatorMember":
        """Return a member without rows; `is_updated` says whether it continues to learn after its first chunk."""
        member = copy(self)
        member._fitted, member._seed, member._is_updated = None, seed, is_updated
        return member

    @property
    def can_be_updated(self) -> bool:
        """Whether it can learn further chunks."""
        return hasattr(self._estimator, "partial_fit")

    def predict(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the votes of each row."""
        return self.predict_together(x)

    def learn_chunk(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None) -> None:
        """Learn a chunk: the first by `fit`, later ones by `partial_fit`."""
        is_first = self._fitted is None
        if is_first and not (self._is_updated and len(np.unique(y)) < self._n_classes):
            self.fit(x, y, weight, self._seed)
            return
        if is_first:  # a class that is not in the first chunk may come later
            self._fitted = copy_estimator(self._estimator, self._seed)
        takes_classes = "classes" in inspect.signature(self._fitted.partial_fit).parameters
        classes = {"classes": np.arange(self._n_classes)} if is_first and takes_classes else {}
        if weight is None or self._weight_option:
            options = classes if weight is None else {**classes, self._weight_option: weight}
            self._fitted.partial_fit(self._frames.convert(x), y, **options)
        else:
            rows = (x, y)
            fit = self._fitted.partial_fit
            learn_copies(lambda x, y: fit(self._frames.convert(x), y, **classes), self.name, rows, weight)

    def save(self) -> bytes:
        """Return the state as a pickle."""
        return pickle_state("EstimatorMember", self._fitted)

    def load(self, state: Any) -> None:  # noqa: ANN401
        """Restore a saved state, which must be trusted since it is a pickle."""
        self._fitted = unpickle_state("EstimatorMember", state)


def predict_in_blocks(
    predict: Callable[[NDArray[np.float64]], NDArray[np.float64]], x: NDArray[np.float64], n_classes: int, size: int
) -> NDArray[np.float64]:
    """Return the votes of rows, predicted in padded blocks of one size: the same bits in batches of any size.

    Examples
    --------
    >>> predict_in_blocks(lambda x: np.full((len(x), 2), float(len(x))), np.zeros((3, 1)), 2, 4).tolist()
    [[4.0, 4.0], [4.0, 4.0], [4.0, 4.0]]
    """
    votes = np.empty((len(x), n_classes))
    for start in range(0, len(x), size):
        part = votes[start : start + size]
        part[:] = predict(pad_rows(x, start, size))[: len(part)]
    return votes


def _accepts_weight(estimator: Any) -> bool:  # noqa: ANN401
    """Return whether a model can be fitted with weights."""
    try:
        return "sample_weight" in inspect.signature(estimator.fit).parameters
    except ValueError:  # a method of native code without a signature
        return False


def set_threads(estimator: Any) -> Any:  # noqa: ANN401
    """Set LightGBM and XGBoost, in place, so that their numbers do not depend on threads; return the estimator.

    Examples
    --------
    >>> from lightgbm import LGBMClassifier
    >>> options = set_threads(LGBMClassifier()).get_params()
    >>> options["n_jobs"], options["deterministic"], options["verbosity"]
    (1, True, -1)
    """
    for part in list_nested(estimator):
        package = type(part).__module__.partition(".")[0]
        if package in {"lightgbm", "xgboost"} and _has_threads(part):
            known = part.get_params(deep=False)
            wanted: dict[str, Any] = {"n_jobs": 1}
            if package == "lightgbm":
                wanted |= {"deterministic": True, "verbosity": -1}
                wanted |= {} if known.get("force_col_wise") else {"force_row_wise": True}
            part.set_params(**{option: value for option, value in wanted.items() if known.get(option) is None})
    return estimator


def _has_threads(part: Any) -> bool:  # noqa: ANN401
    return hasattr(part, "n_jobs") and hasattr(part, "set_params")


def predict_in_one_thread(estimator: Any) -> Any:  # noqa: ANN401
    """Make a fitted forest add up the votes of its trees in their order, in place; return the estimator.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> predict_in_one_thread(RandomForestClassifier(n_jobs=4)).n_jobs
    1
    """
    for part in list_nested(estimator):
        if type(part).__module__.startswith("sklearn.") and getattr(part, "n_jobs", None) not in {None, 1}:
            part.n_jobs = 1
    return estimator
