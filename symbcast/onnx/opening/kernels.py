"""The kernels of ONNX Runtime's CPU provider: which element types each operator is implemented for.

`kernels.json` lists them as recorded from ONNX Runtime 1.32 by ``tests/onnx/record_kernels.py``: for each operator the
ranges of versions, and for each of its type parameters one letter for each type.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import TypeAlias

from symbcast.onnx.opening.schemas import Operator

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
    found: Mapping[str, list[tuple[int, int, Mapping[str, list[str]]]]]
    found = json.loads(files(__package__).joinpath("kernels.json").read_text())
    return found


_TYPES = {letter: name for name, letter in LETTERS.items()}


Texts: TypeAlias = "tuple[str | None, ...]"
"""The types of inputs or outputs as ONNX writes them; None for those that are unknown or not given."""


@lru_cache(maxsize=4096)
def is_implemented(operator: Operator, inputs: Texts, outputs: Texts, *, with_casts: bool = False) -> bool:
    """Return whether there is a kernel for a node whose values have these types.

    ``with_casts`` takes float16 for float32: ONNX Runtime puts casts around nodes that have neither a kernel for
    float16 nor a definition by other operators.
    """
    rows = [
        {parameter: [_TYPES.get(t, t) for t in types] for parameter, types in allowed.items()}
        for first, last, allowed in _kernels().get(operator.title, ())
        if first == operator.version or first < operator.version <= last < _OPEN
    ]
    return _fits(rows, _parameters(operator, inputs, outputs), _widened if with_casts else str)


def _fits(rows: Sequence[Mapping[str, list[str]]], types: Mapping[str, str], seen_as: Callable[[str], str]) -> bool:
    return any(all(seen_as(types[p]) in allowed for p, allowed in row.items() if p in types) for row in rows)


def _widened(name: str) -> str:
    return _FLOAT if name == _HALF else name


def _parameters(operator: Operator, inputs: Texts, outputs: Texts) -> Mapping[str, str]:
    """Return the type parameters of an operator, each with the type of the first value that has it."""
    found: dict[str, str] = {}
    for slots, texts in ((operator.inputs, inputs), (operator.outputs, outputs)):
        for position, text in enumerate(texts):
            if slots and text is not None:
                for parameter in slots[min(position, len(slots) - 1)]:
                    found.setdefault(parameter, text)
    return found
