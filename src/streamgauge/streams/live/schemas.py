"""The schema of a live stream, as users specify it."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from streamgauge._foreign import is_stream
from streamgauge.errors import StreamgaugeError
from streamgauge.records import Attribute, Schema
from streamgauge.streams.base import require_classes
from streamgauge.streams.files import File

__all__ = ["as_schema", "read_json"]

EXAMPLE = "{'attributes': {'price': None, 'day': ['mo', 'tu']}, 'classes': ['up', 'down']}"


def as_schema(given: object) -> Schema:
    """Return a schema given as such, as a stream or a file with this schema, or as a mapping.

    In a mapping, or a JSON file that holds one, an attribute is a name with None for a number, or with a list of
    nominal values; any attribute may then be missing in a row. Values and classes that are not strings are named as
    in JSON events: True is `true`, 1.0 is `1`.

    Examples
    --------
    >>> schema = as_schema({"attributes": {"price": None, "day": ["mo", "tu"]}, "classes": ["up", "down"]})
    >>> schema.n_values.tolist(), schema.classes
    ([0, 2], ('up', 'down'))
    """
    schema = _find_schema(given)
    require_classes(schema, "a live stream")
    return schema


def _find_schema(given: object) -> Schema:
    if isinstance(given, Schema):
        return given
    if is_stream(given):
        return given.schema
    if isinstance(given, str | Path):
        return _read_schema(Path(given)) if Path(given).suffix == ".json" else File(given).schema
    if isinstance(given, Mapping):
        return _from_mapping(given)
    msg = f"a live stream needs schema: a file with rows of that schema, or a mapping such as {EXAMPLE}"
    raise StreamgaugeError(msg)


def _read_schema(path: Path) -> Schema:
    given = json.loads(read_json(path, "schema"))
    if not isinstance(given, Mapping):
        msg = f"the schema {path} is not an object with attributes and classes"
        raise StreamgaugeError(msg)
    return _from_mapping(given)


def read_json(path: Path, kind: str) -> str:
    """Return the text of a JSON file; raise if it cannot be read or is not JSON."""
    try:
        text = path.read_text(encoding="utf-8")
        json.loads(text)
    except OSError as error:
        msg = f"cannot read the {kind} {path}: {error.strerror}"
        raise StreamgaugeError(msg) from None
    except (ValueError, RecursionError) as error:
        msg = f"the {kind} {path} is not JSON: {error}"
        raise StreamgaugeError(msg) from None
    return text


def _from_mapping(given: Mapping[str, object]) -> Schema:
    attributes, classes = given.get("attributes", {}), given.get("classes")
    if isinstance(attributes, list | tuple):
        names = list(map(str, attributes))
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            msg = f"the schema has two attributes called {repeated!r}"
            raise StreamgaugeError(msg)
        attributes = dict.fromkeys(names)
    if not isinstance(attributes, Mapping) or not isinstance(classes, list | tuple):
        msg = f"a schema has attributes and classes, as in {EXAMPLE}"
        raise StreamgaugeError(msg)
    columns = []
    for name, values in attributes.items():
        if values is not None and not isinstance(values, list | tuple):
            msg = f"attribute {name!r} of the schema must be None for a number, or a list of nominal values"
            raise StreamgaugeError(msg)
        columns.append(Attribute(str(name), None if values is None else tuple(map(_as_name, values)), missing=True))
    return Schema(tuple(columns), tuple(map(_as_name, classes)))


def _as_name(value: object) -> str:
    """Return the name of a value, as the event decoder forms it."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)
