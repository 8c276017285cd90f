"""Models of other libraries that can only be fitted on all rows at once."""

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamgauge.errors import StreamgaugeError
from streamgauge.learners.adapters.chunked import clean_votes, learn_copies
from streamgauge.learners.adapters.row_frames import choose_rows, list_nested
from streamgauge.learners.adapters.saved_states import measure_size
from streamgauge.learners.adapters.scikit_learn import copy_estimator
from streamgauge.learners.plain_loop import pick_winners
from streamgauge.protocols import LearnerSpec
from streamgauge.records import Schema
from streamgauge.records.columns import protect

__all__ = [
    "FittedEstimator",
    "is_estimator",
    "is_fit_only",
    "name_model",
    "predict_in_one_thread",
    "require_classifier",
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


def require_classifier(estimator: Any) -> None:  # noqa: ANN401
    """Raise if a model declares that it is no classifier.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> require_classifier(DecisionTreeRegressor())
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: DecisionTreeRegressor is a regressor; streamgauge evaluates classifiers
    """
    if not hasattr(estimator, "__sklearn_tags__"):
        return
    kind = estimator.__sklearn_tags__().estimator_type
    if kind not in {None, "classifier"}:
        msg = f"{name_model(estimator)} is a {kind}; streamgauge evaluates classifiers"
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

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from streamgauge.records import Attribute
    >>> model = FittedEstimator(DecisionTreeClassifier(), Schema((Attribute("x"),), ("a", "b", "c")))
    >>> model.fit(np.array([[1.0], [2.0]]), np.array([0, 2], dtype=np.int32), None, seed=1)
    >>> model.predict_votes(np.array([[2.0]])).tolist()
    [[0.0, 0.0, 1.0]]
    """

    def __init__(self, estimator: Any, schema: Schema) -> None:  # noqa: ANN401
        self._estimator, self._n_classes = estimator, schema.n_classes
        self._fitted: Any = None
        steps, last = getattr(estimator, "steps", None), _find_last_step(estimator)
        self.name = name_model(estimator)
        self._weight_option = ""
        if _accepts_weight(last):
            self._weight_option = f"{steps[-1][0]}__sample_weight" if steps else "sample_weight"
        self._frames = choose_rows(estimator, schema)
        self._is_row_wise = not steps and type(last).__module__.startswith(ROW_WISE)

    def fit(self, x: NDArray[np.float64], y: NDArray[np.int32], weight: NDArray[np.float64] | None, seed: int) -> None:
        """Fit a new copy; a model of rows of one class predicts that class."""
        if (y == y[0]).all():
            self._fitted = int(y[0])
            return
        fitted = set_threads(copy_estimator(self._estimator, seed))
        if weight is None:
            fitted.fit(self._frames.convert(x), y)
        elif self._weight_option:
            fitted.fit(self._frames.convert(x), y, **{self._weight_option: weight})
        else:
            learn_copies(lambda x, y: fitted.fit(self._frames.convert(x), y), self.name, (x, y), weight)
        self._fitted = predict_in_one_thread(fitted)

    def predict_votes(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of the model; its prediction gets the most, even if they disagree."""
        votes = np.zeros((len(x), self._n_classes))
        if isinstance(self._fitted, int):
            votes[:, self._fitted] = 1.0
        elif self._is_row_wise:
            votes[:] = self._vote(x)
        else:
            for start in range(0, len(x), BLOCK_ROWS):
                block = x[start : start + BLOCK_ROWS]
                full = block if len(block) == BLOCK_ROWS else np.resize(block, (BLOCK_ROWS, x.shape[1]))
                votes[start : start + BLOCK_ROWS] = self._vote(protect(full))[: len(block)]
        return votes

    def _vote(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        votes, rows = np.zeros((len(x), self._n_classes)), self._frames.convert(x)
        has_votes = hasattr(self._fitted, "predict_proba")
        if has_votes:
            with np.errstate(divide="ignore", invalid="ignore"):
                votes[:, np.asarray(self._fitted.classes_).astype(np.intp)] = self._fitted.predict_proba(rows)
            clean_votes(votes)
        if not (has_votes and self._is_row_wise):
            codes = np.asarray(self._fitted.predict(rows)).reshape(len(x)).astype(np.int32)
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
        if package not in {"lightgbm", "xgboost"} or not hasattr(part, "set_params"):
            continue
        known = part.get_params(deep=False)
        wanted: dict[str, Any] = {"n_jobs": 1}
        if package == "lightgbm":
            wanted |= {"deterministic": True, "verbosity": -1}
            if not known.get("force_col_wise"):
                wanted["force_row_wise"] = True
        part.set_params(**{option: value for option, value in wanted.items() if known.get(option) is None})
    return estimator


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
