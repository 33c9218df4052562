"""The kernels of ONNX Runtime's CPU provider: which element types each operator is implemented for.

`kernels.json` lists them as recorded from ONNX Runtime 1.32 by ``tests/onnx/record_kernels.py``: for each operator the
ranges of versions, and for each of its type parameters one letter for each type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from symbcast.onnx.opening.schemas import schema as schema_of
from symbcast.onnx.opening.types import ValueType

LETTERS: Mapping[str, str] = {
    "tensor(float)": "f",
    "tensor(double)": "d",
    "tensor(float16)": "h",
    "tensor(bfloat16)": "H",
    "tensor(bool)": "?",
    "tensor(string)": "s",
    "tensor(int8)": "b",
    "tensor(int16)": "i",
    "tensor(int32)": "j",
    "tensor(int64)": "k",
    "tensor(uint8)": "B",
    "tensor(uint16)": "I",
    "tensor(uint32)": "J",
    "tensor(uint64)": "K",
}
"""One letter for each type that most kernels take; other types are written out."""
_HALF, _FLOAT = "tensor(float16)", "tensor(float)"
_OPEN = 2**31 - 1
"""The last version of a kernel that implements only its first version."""


@cache
def _kernels() -> Mapping[str, list[tuple[int, int, Mapping[str, list[str]]]]]:
    found = json.loads(files(__package__).joinpath("kernels.json").read_text())
    names = {letter: name for name, letter in LETTERS.items()}
    return {
        operator: [
            (first, last, {parameter: [names.get(t, t) for t in types] for parameter, types in allowed.items()})
            for first, last, allowed in rows
        ]
        for operator, rows in found.items()
    }


def is_implemented(node: Any, schema: Any, types: Mapping[str, ValueType], *, with_casts: bool = False) -> bool:
    """Return whether there is a kernel for a node whose values have these types.

    ``with_casts`` takes float16 for float32: ONNX Runtime puts casts around nodes that have neither a kernel for
    float16 nor a definition by other operators.
    """
    written = tuple((parameter, types[name].text) for parameter, name in _parameters(node, schema, types))
    return _is_listed(f"{schema.domain}:{schema.name}", schema.since_version, written, with_casts)


@lru_cache(maxsize=4096)
def _is_listed(operator: str, version: int, written: tuple[tuple[str, str], ...], with_casts: bool) -> bool:
    rows = [
        allowed
        for first, last, allowed in _kernels().get(operator, ())
        if first == version or first < version <= last < _OPEN
    ]
    return _fits(rows, dict(written), _widened if with_casts else str)


def _fits(rows: list[Mapping[str, list[str]]], types: Mapping[str, str], seen_as: Callable[[str], str]) -> bool:
    return any(all(seen_as(types[p]) in allowed for p, allowed in row.items() if p in types) for row in rows)


def _widened(name: str) -> str:
    return _FLOAT if name == _HALF else name


def _parameters(node: Any, schema: Any, types: Mapping[str, ValueType]) -> Iterator[tuple[str, str]]:
    """Yield the type parameters of an operator, each with the first value of that type."""
    met: set[str] = set()
    for slots, names in zip(
        _slots(schema.domain, schema.name, schema.since_version), (node.input, node.output), strict=True
    ):
        for position, name in enumerate(names):
            if not slots or not name or name not in types:
                continue
            for parameter in slots[min(position, len(slots) - 1)]:
                if parameter not in met:
                    met.add(parameter)
                    yield parameter, name


@lru_cache(maxsize=1024)
def _slots(domain: str, name: str, version: int) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the type and the name of each input and output in a schema, which takes long to read."""
    found = schema_of(name, version, domain)
    return [(s.type_str, s.name) for s in found.inputs], [(s.type_str, s.name) for s in found.outputs]
