"""Rows as users push them, read and checked: labels, predictions, weights and times."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from streamgauge._foreign import is_frame
from streamgauge.errors import StreamgaugeError
from streamgauge.gauge.classes import SHIFT, ClassCodes
from streamgauge.gauge.waiting import Prediction
from streamgauge.learners.plain_loop import Predicted
from streamgauge.records.columns import pad_classes
from streamgauge.tasks import pick_winners, require_numbers

__all__ = ["ClassReader", "NumberReader", "PushedColumns", "RowReader", "is_column"]

MASK = (1 << SHIFT) - 1


@dataclass(frozen=True)
class PushedColumns:
    """Rows that were pushed together.

    Parameters
    ----------
    y
        The codes of the true classes, int32 [n], or numbers.
    predictions
        For each model its predictions, codes or numbers [n], and its votes, float64 [n, classes], if it gave any.
    weight, time
        Weights and times, float64 [n]; None if they have none.

    Examples
    --------
    >>> y = np.zeros(2, dtype=np.int32)
    >>> columns = PushedColumns(y, [(y, None)], None, None)
    >>> PushedColumns.join([columns, columns], 2, with_votes=True).predictions[0][1].shape
    (4, 2)
    """

    y: NDArray[np.int32]
    predictions: Sequence[Predicted]
    weight: NDArray[np.float64] | None
    time: NDArray[np.float64] | None

    @classmethod
    def join(cls, parts: Sequence["PushedColumns"], n_classes: int, *, with_votes: bool) -> "PushedColumns":
        """Join rows one after the other, with votes for a number of classes if they are needed."""
        predictions: list[Predicted] = []
        for of_model in zip(*(part.predictions for part in parts), strict=True):
            codes = _concatenate([codes for codes, _ in of_model])
            votes = (
                _concatenate([_fill_votes(codes, votes, n_classes) for codes, votes in of_model])
                if with_votes
                else None
            )
            predictions.append((codes, votes))
        weight = None
        if any(part.weight is not None for part in parts):
            weight = _concatenate([np.ones(len(part.y)) if part.weight is None else part.weight for part in parts])
        times = [part.time for part in parts if part.time is not None]
        return cls(
            y=_concatenate([part.y for part in parts]),
            predictions=predictions,
            weight=weight,
            time=_concatenate(times) if times else None,
        )


def _concatenate(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _fill_votes(codes: NDArray[np.int32], votes: NDArray[np.float64] | None, n_classes: int) -> NDArray[np.float64]:
    """Return votes for all classes; those of rows that only have a predicted class are 1 for that."""
    if votes is not None:
        return pad_classes(votes, n_classes)
    votes = np.zeros((len(codes), n_classes))
    predicted = np.flatnonzero(codes >= 0)
    votes[predicted, codes[predicted]] = 1.0
    return votes


def is_column(values: object) -> bool:
    """Return whether values are a column rather than one value.

    Examples
    --------
    >>> [is_column(values) for values in ("up", 1, np.int64(1), [1], np.array(["up"]))]
    [False, False, False, True, True]
    """
    if isinstance(values, str | int | float | None):
        return False
    return isinstance(values, list | tuple | np.ndarray) or np.ndim(values) > 0  # type: ignore[arg-type]


class RowReader(ABC):
    """Reads rows and checks everything, so that counting them cannot fail.

    Parameters
    ----------
    models
        The names of the models.
    """

    target_type: ClassVar[type[np.generic]]
    """The type of targets and of predictions."""

    n_declared = 0
    """The number of classes that were declared."""

    def __init__(self, models: tuple[str, ...]) -> None:
        self._models = models
        self.with_votes = False
        """Whether a measure needs votes; else they only decide the predicted class."""

    @abstractmethod
    def read_label(self, y_true: object, *, needed: bool = False) -> Any:  # noqa: ANN401
        """Return a label as a target; that of an unknown one is as the task has it, unless it is needed."""

    @abstractmethod
    def _read_labels(self, y_true: Any) -> NDArray[Any]:  # noqa: ANN401
        """Return a column of labels as targets."""

    @abstractmethod
    def _read_one(self, y_pred: Any) -> tuple[Any, tuple[float, ...] | None]:  # noqa: ANN401
        """Return the prediction of one model for one row, and its votes if it gave any."""

    @abstractmethod
    def _read_many(self, y_pred: Any) -> Any:  # noqa: ANN401
        """Return the predictions of one model for a column of rows, and its votes if it gave any."""

    def read_prediction(self, y_pred: object, weight: object, time: object) -> Prediction:
        """Return the predictions of all models for one row."""
        read = [self._read_one(of_model) for of_model in self._split(y_pred)]
        return (
            tuple(code for code, _ in read),
            tuple(votes if self.with_votes else None for _, votes in read),
            None if weight is None else float(self._check_weights([weight])[0]),
            None if time is None else float(read_times(time)[0]),
        )

    def _split(self, y_pred: object) -> list[Any]:
        """Return the predictions by model."""
        if len(self._models) == 1:
            return [y_pred]
        if not isinstance(y_pred, Mapping) or set(y_pred) != set(self._models):
            msg = f"y_pred must be a dictionary with the prediction of each model: {', '.join(self._models)}"
            raise StreamgaugeError(msg)
        return [y_pred[name] for name in self._models]

    def read_columns(self, y_true: Any, y_pred: object, weight: object, time: object) -> PushedColumns:  # noqa: ANN401
        """Return columns of rows."""
        y = self._read_labels(y_true)
        n = len(y)
        predictions = [self._read_many(of_model) for of_model in self._split(y_pred)]
        weights = None if weight is None else self._check_weights(weight)
        times = None if time is None else read_times(time)
        times = np.repeat(times, n) if times is not None and len(times) == 1 else times
        names = [*(f"predictions of {name}" for name in self._models), "weight", "time"]
        for name, column in zip(names, [*(codes for codes, _ in predictions), weights, times], strict=True):
            if column is not None and len(column) != n:
                msg = f"{name}: {len(column):,} values, but there are {n:,} labels"
                raise StreamgaugeError(msg)
        return PushedColumns(y, predictions, weights, times)

    def _check_weights(self, weight: Any) -> NDArray[np.float64]:  # noqa: ANN401
        try:
            weights = np.array(weight, dtype=np.float64, ndmin=1)
        except (TypeError, ValueError) as error:
            msg = f"weight: {error}"
            raise StreamgaugeError(msg) from None
        if weights.ndim != 1 or not (np.isfinite(weights).all() and (weights >= 0.0).all()):
            msg = "weights must be finite numbers of at least 0, one for each row"
            raise StreamgaugeError(msg)
        return weights

    def collect_rows(self, rows: list[Any], *, mixed: bool) -> list[PushedColumns]:
        """Return single rows as columns; `mixed` if some are more than one number."""
        if not mixed:
            return [_decode_rows(rows)]
        groups = groupby(rows, key=lambda row: isinstance(row, int))
        return [
            _decode_rows(list(group)) if plain else _collect(list(group), self.target_type) for plain, group in groups
        ]


class NumberReader(RowReader):
    """Reads rows whose targets and predictions are numbers.

    Examples
    --------
    >>> reader = NumberReader(("model",))
    >>> reader.read_label(1.5), reader.read_prediction(None, None, None)
    (1.5, ((nan,), (None,), None, None))
    """

    target_type = np.float64

    def read_label(self, y_true: object, *, needed: bool = False) -> float:
        """Return a label; NaN for an unknown one, unless it is needed."""
        number = float(self._read_numbers([np.nan if y_true is None else y_true])[0])
        if needed and math.isnan(number):
            msg = f"label {y_true!r}: a label must be a number"
            raise StreamgaugeError(msg)
        return number

    def _read_labels(self, y_true: Any) -> NDArray[np.float64]:  # noqa: ANN401
        return self._read_numbers(y_true)

    def _read_one(self, y_pred: Any) -> tuple[float, None]:  # noqa: ANN401
        return float(self._read_numbers([np.nan if y_pred is None else y_pred])[0]), None

    def _read_many(self, y_pred: Any) -> tuple[NDArray[np.float64], None]:  # noqa: ANN401
        return self._read_numbers(y_pred), None

    @staticmethod
    def _read_numbers(values: Any) -> NDArray[np.float64]:  # noqa: ANN401
        try:
            numbers = np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            msg = f"targets and predictions must be numbers: {error}"
            raise StreamgaugeError(msg) from None
        if numbers.ndim != 1:
            msg = f"a column of numbers must have one axis, not the shape {numbers.shape}"
            raise StreamgaugeError(msg)
        return require_numbers(numbers)


class ClassReader(RowReader):
    """Reads rows of classes, and finds their codes.

    Parameters
    ----------
    classes
        The codes of the classes, to which new ones are added.
    models
        The names of the models.
    score_of
        The class whose probability predictions are; None if they are classes, or probabilities of all.

    Examples
    --------
    >>> reader = ClassReader(ClassCodes(["ok", "fraud"]), ("model",), score_of="fraud")
    >>> reader.with_votes = True
    >>> reader.read_prediction(0.75, None, None)
    ((1,), ((0.25, 0.75),), None, None)
    """

    target_type = np.int32

    def __init__(self, classes: ClassCodes, models: tuple[str, ...], score_of: object) -> None:
        super().__init__(models)
        self._classes, self.n_declared = classes, len(classes)
        self._score_code: int | None = None
        if score_of is not None:
            if self.n_declared != 2:
                msg = f"score_of = {score_of!r} needs both classes: pass classes=, two of them"
                raise StreamgaugeError(msg)
            self._score_code = classes.find(score_of)
            if self._score_code not in (0, 1):
                msg = f"score_of = {score_of!r} is none of the classes {', '.join(classes.names[:2])}"
                raise StreamgaugeError(msg)

    def read_label(self, y_true: object, *, needed: bool = False) -> int:
        """Return the code of a label; that of an unknown one is `UNLABELLED`, unless it is needed."""
        code = self._classes.find(y_true)
        if needed and code < 0:
            msg = f"label {y_true!r}: a label must be a class"
            raise StreamgaugeError(msg)
        return code

    def _read_labels(self, y_true: Any) -> NDArray[np.int32]:  # noqa: ANN401
        return self._classes.encode(_as_column(y_true))

    def _read_one(self, y_pred: Any) -> tuple[int, tuple[float, ...] | None]:  # noqa: ANN401
        if self._score_code is None and not isinstance(y_pred, Mapping) and not is_column(y_pred):
            return self._classes.find(y_pred), None
        votes = self._read_votes(
            {label: [share] for label, share in y_pred.items()} if isinstance(y_pred, Mapping) else [y_pred]
        )
        return int(pick_winners(votes)[0]), tuple(votes[0].tolist())

    def _read_many(self, y_pred: Any) -> Predicted:  # noqa: ANN401
        if is_frame(y_pred):  # with a column for each class
            y_pred = {name: y_pred[name] for name in y_pred.columns}
        is_list = isinstance(y_pred, list | tuple) and len(y_pred) > 0
        if is_list and isinstance(y_pred[0], Mapping):
            read = [self._read_one(row) for row in y_pred]
            votes = [np.array(shares) for _, shares in read]
            padded = np.stack([pad_classes(shares, len(self._classes)) for shares in votes])
            return self._keep(padded)
        if (
            self._score_code is not None
            or isinstance(y_pred, Mapping)
            or np.ndim(y_pred[:1] if is_list else y_pred) == 2
        ):
            return self._keep(self._read_votes(y_pred))
        return self._classes.encode(_as_column(y_pred)), None

    def _keep(self, votes: NDArray[np.float64]) -> Predicted:
        return pick_winners(votes), votes if self.with_votes else None

    def _read_votes(self, y_pred: Any) -> NDArray[np.float64]:  # noqa: ANN401
        """Return votes, float64 [n, classes], of columns by class, of a table, or of scores of one class."""
        try:
            if self._score_code is not None:
                score = np.asarray(y_pred, dtype=np.float64)
                if score.ndim != 1 or not ((score >= 0.0) & (score <= 1.0)).all():
                    msg = "predictions must be probabilities of one class, from 0 to 1, one for each row"
                    raise StreamgaugeError(msg)
                pair = (score, 1.0 - score) if self._score_code == 0 else (1.0 - score, score)
                return np.stack(pair, axis=1)
            if isinstance(y_pred, Mapping):
                shares = {
                    self.read_label(label, needed=True): np.asarray(column, dtype=np.float64)
                    for label, column in y_pred.items()
                }
                votes = np.zeros((len(next(iter(shares.values()), ())), len(self._classes)))
                for code, column in shares.items():
                    votes[:, code] = column
            else:
                votes = np.array(y_pred, dtype=np.float64)
        except (TypeError, ValueError) as error:
            msg = f"predictions are neither classes nor probabilities: {error}"
            raise StreamgaugeError(msg) from None
        if not isinstance(y_pred, Mapping) and (votes.ndim != 2 or votes.shape[1] != self.n_declared):
            given = votes.shape[-1] if votes.ndim == 2 else "no"
            msg = (
                f"{given} probabilities for {self.n_declared} classes: declare the classes in their order with classes="
            )
            raise StreamgaugeError(msg)
        if not (np.isfinite(votes).all() and (votes >= 0.0).all()):
            msg = "probabilities must be finite numbers of at least 0"
            raise StreamgaugeError(msg)
        return votes


def _decode_rows(rows: Sequence[Any]) -> PushedColumns:
    """Return rows of one model that are one number each."""
    numbers = np.array(rows, dtype=np.int64)
    codes = (numbers & MASK).astype(np.int32) - np.int32(1)
    return PushedColumns((numbers >> SHIFT).astype(np.int32), [(codes, None)], None, None)


def _collect(rows: Sequence[Any], target_type: type[np.generic]) -> PushedColumns:
    y, codes, votes, weight, time = zip(*rows, strict=True)
    predictions: list[Predicted] = []
    for of_model, shares in zip(zip(*codes, strict=True), zip(*votes, strict=True), strict=True):
        column = np.array(of_model, dtype=target_type)
        predictions.append((column, _stack_votes(shares, column)))
    return PushedColumns(
        y=np.array(y, dtype=target_type),
        predictions=predictions,
        weight=None
        if all(one is None for one in weight)
        else np.array([1.0 if one is None else one for one in weight]),
        time=None if time[0] is None else np.array(time, dtype=np.float64),
    )


def _stack_votes(shares: Sequence[tuple[float, ...] | None], codes: NDArray[np.int32]) -> NDArray[np.float64] | None:
    known = [row for row in shares if row is not None]
    if not known:
        return None
    width = max([*map(len, known), int(codes.max()) + 1])
    votes = _fill_votes(codes, None, width)
    for index, row in enumerate(shares):
        if row is not None:
            votes[index] = 0.0
            votes[index, : len(row)] = row
    return votes


def _as_column(values: Any) -> Any:  # noqa: ANN401
    """Return a column as an array or a list."""
    column = values if isinstance(values, list | tuple | np.ndarray) else np.asarray(values)
    if isinstance(column, np.ndarray) and column.ndim != 1:
        msg = f"a column of classes must have one axis, not the shape {column.shape}"
        raise StreamgaugeError(msg)
    return column


def read_times(time: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """Return times in seconds since 1970.

    Examples
    --------
    >>> read_times(datetime(1970, 1, 2)).tolist(), read_times(np.array(["1970-01-01T00:01"], "M8[m]")).tolist()
    ([86400.0], [60.0])
    """
    try:
        if isinstance(time, datetime):
            return np.array([(time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()])
        column = np.array(time, ndmin=1)
        times = (
            column.astype("datetime64[us]").astype(np.float64) / 1e6
            if column.dtype.kind == "M"
            else column.astype(np.float64)
        )
    except (TypeError, ValueError) as error:
        msg = f"time: {error}"
        raise StreamgaugeError(msg) from None
    if times.ndim != 1 or not np.isfinite(times).all():
        msg = "times must be finite numbers of seconds since 1970, one for each row"
        raise StreamgaugeError(msg)
    return times
