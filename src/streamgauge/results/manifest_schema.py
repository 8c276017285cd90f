"""The JSON schema of ``manifest.json``, from the types of what it holds."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import numpy as np

from streamgauge.records.description import RunDescription
from streamgauge.records.manifest import FORMAT, RunManifest
from streamgauge.results.manifest import ResultsManifest

__all__ = ["build_manifest_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_CHECKSUM = {"type": "string", "pattern": "^[0-9a-f]{8}$"}
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": ["number", "null"]},  # NaN is null
    NoneType: {"type": "null"},
    Any: {},
}

Definitions = dict[str, Any]
"""Schemas of records by name."""


def build_manifest_schema() -> dict[str, Any]:
    """Return the JSON schema of ``manifest.json``.

    Its ``$defs`` has that of a verdict, and of what describes a run in checkpoints, journals and stores.

    Examples
    --------
    >>> build_manifest_schema()["$defs"]["Verdict"]["properties"]["outcome"]
    {'enum': ['first', 'second', 'equivalent', 'undecided']}
    """
    definitions: dict[str, Any] = {}
    schema = _describe_record(ResultsManifest, definitions)
    definitions[RunManifest.__name__] = _describe_record(RunManifest, definitions)
    properties = {**schema["properties"], "format": {"const": FORMAT}, "checksum": _CHECKSUM}
    properties["files"] = {"type": "object", "additionalProperties": _CHECKSUM}
    return {
        "$schema": DIALECT,
        "title": "manifest.json of streamgauge",
        **schema,
        "properties": properties,
        "required": [*schema["required"], "files", "checksum"],
        "$defs": dict(sorted(definitions.items())),
    }


def _describe(hint: Any, definitions: Definitions) -> dict[str, Any]:  # noqa: ANN401  (a type)
    """Return the schema of a type; records are referred to by name."""
    if is_dataclass(hint) or is_typeddict(hint):
        name = hint.__name__
        if name not in definitions:
            definitions[name] = _describe_record(hint, definitions)
        return {"$ref": f"#/$defs/{name}"}
    if hint in _PLAIN:
        return _PLAIN[hint]
    return _WRITERS[get_origin(hint)](get_args(hint), definitions)


def _describe_choice(arguments: tuple[Any, ...], definitions: Definitions) -> dict[str, Any]:
    return {"anyOf": [_describe(argument, definitions) for argument in arguments]}


def _describe_mapping(arguments: tuple[Any, ...], definitions: Definitions) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": _describe(arguments[1], definitions)}


def _describe_array(arguments: tuple[Any, ...], definitions: Definitions) -> dict[str, Any]:
    if len(arguments) == 2 and arguments[1] is not ...:
        items = [_describe(argument, definitions) for argument in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    return {"type": "array", "items": _describe(arguments[0], definitions)}


def _describe_record(record: Any, definitions: Definitions) -> dict[str, Any]:  # noqa: ANN401
    """Return the schema of a dataclass, all of whose fields are written, or of a typed dictionary."""
    hints = get_type_hints(record, include_extras=True)
    optional = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
    if is_dataclass(record):
        hints = {field.name: hints[field.name] for field in fields(record)}
        optional = {"files"} & hints.keys()
    properties = {
        name: _describe(get_args(hint)[0] if get_origin(hint) is NotRequired else hint, definitions)
        for name, hint in hints.items()
    }
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": record is RunDescription,  # to which users may add facts
    }


_WRITERS: dict[Any, Callable[[tuple[Any, ...], Definitions], dict[str, Any]]] = {
    Literal: lambda arguments, _: {"enum": list(arguments)},
    Union: _describe_choice,
    UnionType: _describe_choice,
    tuple: _describe_array,
    list: _describe_array,
    np.ndarray: lambda *_: {"type": "array"},
    dict: _describe_mapping,
    Mapping: _describe_mapping,
}
"""How the types with arguments are described."""
