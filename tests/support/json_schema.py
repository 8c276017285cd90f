"""A validator of JSON schemas, for the keywords that ours use; any other keyword is an error."""

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["find_violations"]

Schema = dict[str, Any]

TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
KNOWN = {"$schema", "title", "$defs", "$ref", "type", "const", "enum", "pattern", "anyOf", "items", "prefixItems"}
KNOWN |= {"minItems", "maxItems", "properties", "required", "additionalProperties"}


def find_violations(value: Any, schema: Schema, root: Schema | None = None, at: str = "") -> Iterator[str]:
    """Yield where a value breaks a schema."""
    root = schema if root is None else root
    assert set(schema) <= KNOWN, schema
    if "$ref" in schema:
        yield from find_violations(value, root["$defs"][schema["$ref"].rpartition("/")[2]], root, at)
    if "anyOf" in schema and all(any(find_violations(value, part, root)) for part in schema["anyOf"]):
        yield f"{at}: none of the choices"
    yield from _check_value(value, schema, at)
    if isinstance(value, dict):
        yield from _check_object(value, schema, root, at)
    if isinstance(value, list):
        parts = schema.get("prefixItems", [schema.get("items", {})] * len(value))
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{at}: {len(value)} items"
        for index, (item, part) in enumerate(zip(value, parts, strict=False)):
            yield from find_violations(item, part, root, f"{at}[{index}]")


def _check_value(value: Any, schema: Schema, at: str) -> Iterator[str]:
    names = schema.get("type", list(TYPES))
    types = tuple(kind for name in ([names] if isinstance(names, str) else names) for kind in TYPES[name])
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        yield f"{at}: {value!r} is no {names}"
    if "const" in schema and value != schema["const"]:
        yield f"{at}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: {value!r} is none of {schema['enum']}"
    if "pattern" in schema and not (isinstance(value, str) and re.search(schema["pattern"], value)):
        yield f"{at}: {value!r} does not match {schema['pattern']}"


def _check_object(value: dict[str, Any], schema: Schema, root: Schema, at: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{at}: {name} is missing"
    for name, item in value.items():
        further = schema.get("additionalProperties", True)
        part = properties.get(name, further)
        if part is False:
            yield f"{at}: {name} is not expected"
        elif isinstance(part, dict):
            yield from find_violations(item, part, root, f"{at}.{name}")
