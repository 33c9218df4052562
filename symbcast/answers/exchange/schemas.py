"""Data checked against the JSON Schemas of this package, with the position of what is wrong.

It knows the keywords that these schemas use; `jsonschema` is not needed to read what symbcast wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symbcast.errors import ExchangeError

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (Mapping,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
}


def check_schema(value: Any, schema: Mapping[str, Any], place: str = "data") -> None:
    """Raise `ExchangeError` for the first part of a value that a schema refuses.

    >>> check_schema({"n": 1}, {"type": "object", "properties": {"n": {"type": "integer", "minimum": 2}}})
    Traceback (most recent call last):
    symbcast.errors.ExchangeError: data.n: is 1, less than 2
    """
    _check(value, schema, place, schema.get("$defs", {}))


def _check(value: Any, schema: Mapping[str, Any], place: str, defined: Mapping[str, Any]) -> None:
    if "$ref" in schema:
        _check(value, defined[schema["$ref"].rpartition("/")[2]], place, defined)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        raise ExchangeError(place, f"is {value!r:.40}, not {' or '.join(kinds)}")
    allowed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if allowed is not None and not any(type(value) is type(a) and value == a for a in allowed):
        raise ExchangeError(place, f"is {value!r:.40}, not {' or '.join(map(repr, allowed))}")
    if "minimum" in schema and _is(value, "integer") and value < schema["minimum"]:
        raise ExchangeError(place, f"is {value}, less than {schema['minimum']}")
    if isinstance(value, Mapping):
        _check_members(value, schema, place, defined)
    if isinstance(value, list) and "items" in schema:
        for n, item in enumerate(value):
            _check(item, schema["items"], f"{place}[{n}]", defined)


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _check_members(value: Mapping[Any, Any], schema: Mapping[str, Any], place: str, defined: Mapping[str, Any]) -> None:
    missing = next((key for key in schema.get("required", ()) if key not in value), None)
    if missing is not None:
        raise ExchangeError(place, f"has no {missing!r}")
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for key, member in value.items():
        if key in known:
            _check(member, known[key], f"{place}.{key}", defined)
        elif others is False:
            raise ExchangeError(place, f"has an unknown member {key!r:.40}")
        elif isinstance(others, Mapping):
            _check(member, others, f"{place}.{key}", defined)
