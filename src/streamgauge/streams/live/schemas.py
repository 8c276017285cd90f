"""The schema of a live stream, which nothing but its user can tell."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from streamgauge.errors import StreamgaugeError
from streamgauge.protocols import is_stream
from streamgauge.records import Attribute, Schema
from streamgauge.streams.files import File

__all__ = ["schema_of"]

HINT = "{'attributes': {'price': None, 'day': ['mo', 'tu']}, 'classes': ['up', 'down']}"


def schema_of(given: object) -> Schema:
    """Give the schema that a user means: itself, that of a stream or a file, or one written as a mapping.

    In a mapping, and in a file of JSON that holds one, attributes are names with None for a number, or with the nominal
    values; any of them may then be missing in a row. Values and classes that are no texts are named as in events of
    JSON: True is `true`, 1.0 is `1`.

    Examples
    --------
    >>> schema = schema_of({"attributes": {"price": None, "day": ["mo", "tu"]}, "classes": ["up", "down"]})
    >>> schema.n_values.tolist(), schema.classes
    ([0, 2], ('up', 'down'))
    """
    if isinstance(given, Schema):
        return given
    if is_stream(given):
        return given.schema
    if isinstance(given, str | Path):
        return _from_json(Path(given)) if Path(given).suffix == ".json" else File(given).schema
    if isinstance(given, Mapping):
        return _written(given)
    msg = f"what do the rows look like? Give schema: a file with such rows, or {HINT}"
    raise StreamgaugeError(msg)


def _from_json(path: Path) -> Schema:
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"cannot read the schema {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    except ValueError as error:
        msg = f"the schema {path} is not JSON: {error}"
        raise StreamgaugeError(msg) from None
    if not isinstance(given, Mapping):
        msg = f"the schema {path} is not an object with attributes and classes"
        raise StreamgaugeError(msg)
    return _written(given)


def _written(given: Mapping[str, object]) -> Schema:
    attributes, classes = given.get("attributes", {}), given.get("classes")
    if isinstance(attributes, list | tuple):
        attributes = dict.fromkeys(attributes)
    if not isinstance(attributes, Mapping) or not isinstance(classes, list | tuple):
        msg = f"a schema is written as {HINT}"
        raise StreamgaugeError(msg)
    columns = []
    for name, values in attributes.items():
        if values is not None and not isinstance(values, list | tuple):
            msg = f"attribute {name!r} of the schema: give None for a number, or the list of its values"
            raise StreamgaugeError(msg)
        columns.append(Attribute(str(name), None if values is None else tuple(map(_name, values)), missing=True))
    return Schema(tuple(columns), tuple(map(_name, classes)))


def _name(value: object) -> str:
    """Name a value as the decoder of events does."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)
