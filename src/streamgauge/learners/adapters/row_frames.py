"""Rows as the models of other libraries want them: an array of codes, or a frame with names."""

from collections.abc import Iterator
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from streamgauge._optional import library
from streamgauge.errors import unknown_name
from streamgauge.records import Schema

__all__ = ["RowFrames", "Rows", "check_rows", "choose_rows", "list_nested"]

Rows = Literal["array", "frame", "categories"]
"""An array with nominal values as codes; a pandas frame with their names as strings; or with dtype category."""

NO_LIMIT = 2**31 - 1


class RowFrames:
    """Converter of rows into what a model takes: a frame by attribute name, or the array itself.

    A missing value is NaN. In a frame, numeric columns are float64; nominal ones have the strings that pandas itself
    reads from a file, or the dtype category with all values of the attribute in their order.

    Parameters
    ----------
    schema
        The schema of the rows.
    rows
        What to convert to.
    max_categories
        With "categories": nominal attributes with more values stay codes, for models that take no more.

    Examples
    --------
    >>> from streamgauge.records import Attribute
    >>> schema = Schema((Attribute("amount"), Attribute("country", ("DE", "FR"), missing=True)), classes=("no", "yes"))
    >>> RowFrames(schema, "frame").convert(np.array([[9.5, 1.0], [3.0, np.nan]]))
       amount country
    0     9.5      FR
    1     3.0     NaN
    """

    def __init__(self, schema: Schema, rows: Rows, *, max_categories: int = NO_LIMIT) -> None:
        check_rows(rows)
        self._rows = rows
        if rows == "array":
            return
        pandas = library("pandas", "pandas")
        self._pandas, self._names = pandas, [attribute.name for attribute in schema.attributes]
        self._columns = pandas.Index(self._names)
        self._makers = {
            index: self._choose_maker(attribute.values)
            for index, attribute in enumerate(schema.attributes)
            if attribute.values is not None and (rows == "frame" or len(attribute.values) <= max_categories)
        }

    def _choose_maker(self, values: tuple[str, ...]) -> Any:  # noqa: ANN401
        """Return the function that makes a column from codes, -1 for missing."""
        pandas = self._pandas
        if self._rows == "categories":
            dtype = pandas.CategoricalDtype(list(values))
            code_type = np.min_scalar_type(-max(len(values), 1))
            return lambda codes: pandas.Categorical.from_codes(codes.astype(code_type), dtype=dtype, validate=False)
        names = pandas.Series(list(values) or [""]).array  # a repeated look-up by code takes a third of a conversion
        if names.dtype == object:
            plain = np.array([*values, np.nan], dtype=object)
            return lambda codes: plain[codes]
        return lambda codes: names.take(codes, allow_fill=True)

    def convert(self, x: NDArray[np.float64]) -> Any:  # noqa: ANN401
        """Return rows as the model takes them.

        Examples
        --------
        >>> RowFrames(Schema((), ("a", "b")), "array").convert(np.zeros((2, 0))).shape
        (2, 0)
        """
        if self._rows == "array":
            return x
        if not self._makers:
            return self._pandas.DataFrame(x, columns=self._columns)
        columns: list[Any] = list(np.ascontiguousarray(x.T))
        for index, make in self._makers.items():
            codes = columns[index]
            missing = np.isnan(codes)
            columns[index] = make((np.where(missing, -1.0, codes) if missing.any() else codes).astype(np.intp))
        frame = self._pandas.DataFrame(dict(enumerate(columns)), copy=False)
        frame.columns = self._columns
        return frame


def check_rows(rows: str) -> None:
    """Raise unless `rows` is one of the kinds that models take.

    Examples
    --------
    >>> check_rows("frames")
    Traceback (most recent call last):
    ...
    streamgauge.errors.StreamgaugeError: there is no kind of rows 'frames'; did you mean frame?
    """
    if rows not in get_args(Rows):
        raise unknown_name(kind="kind of rows", name=str(rows), known=get_args(Rows))


def choose_rows(model: Any, schema: Schema) -> RowFrames:  # noqa: ANN401
    """Return the converter of rows for a model of scikit-learn, LightGBM, XGBoost or CatBoost.

    A frame with names goes to a ColumnTransformer or an encoder, also inside a pipeline; one with dtype category to
    models that read categories from it; an array with codes to all others.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from streamgauge.records import Attribute
    >>> schema, x = Schema((Attribute("country", ("DE", "FR")),), classes=("no", "yes")), np.array([[1.0]])
    >>> choose_rows(SGDClassifier(), schema).convert(x).tolist()
    [[1.0]]
    >>> choose_rows(make_pipeline(OneHotEncoder(), SGDClassifier()), schema).convert(x)["country"].tolist()
    ['FR']
    """
    parts = list(list_nested(model))
    included = [part.dtype_include for part in parts if type(part).__name__ == "make_column_selector"]
    if any(_means_category(include) for include in included):
        return RowFrames(schema, "categories")
    if any(map(_wants_names, parts)):
        return RowFrames(schema, "frame")
    limits = [limit for limit in map(_find_category_limit, parts) if limit is not None]
    if limits and any(attribute.is_nominal for attribute in schema.attributes):
        return RowFrames(schema, "categories", max_categories=min(limits))
    return RowFrames(schema, "array")


def list_nested(model: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield a model and all objects in its options, at any depth.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> [type(part).__name__ for part in list_nested(make_pipeline(StandardScaler())) if hasattr(part, "fit")]
    ['Pipeline', 'StandardScaler']
    """
    seen: set[int] = set()
    pending = [model]
    while pending:
        part = pending.pop(0)
        if isinstance(part, list | tuple):
            pending[:0] = part
            continue
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if hasattr(part, "get_params") and not isinstance(part, type):
            pending[:0] = part.get_params(deep=False).values()


def _means_category(include: Any) -> bool:  # noqa: ANN401
    """Return whether a column selector takes columns of dtype category alone."""
    kinds = {str(kind) for kind in (include if isinstance(include, list | tuple) else (include,))}
    return "category" in kinds and not kinds & {"object", "str", "string", str(object), str(str)}


def _wants_names(part: Any) -> bool:  # noqa: ANN401
    """Return whether a step selects columns by name, or encodes names of categories."""
    name, module = type(part).__name__, type(part).__module__
    if module.startswith("catboost."):
        return bool(part.get_param("cat_features"))
    return name == "ColumnTransformer" or (name.endswith("Encoder") and not name.startswith("Label"))


def _find_category_limit(part: Any) -> int | None:  # noqa: ANN401
    """Return the most values of a column of dtype category that a model takes; None if it does not take any."""
    name, package = type(part).__name__, type(part).__module__.partition(".")[0]
    if name.startswith("HistGradientBoosting"):
        options = part.get_params(deep=False)
        return options["max_bins"] if options.get("categorical_features") == "from_dtype" else None
    takes_them = package == "lightgbm" or (package == "xgboost" and bool(getattr(part, "enable_categorical", False)))
    return NO_LIMIT if takes_them else None
