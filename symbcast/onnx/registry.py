"""The operators that are known, each a function from a call to its outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TypeAlias

from symbcast.onnx.call import Call
from symbcast.onnx.knowing.values import Value

Operator: TypeAlias = Callable[[Call], "Value | Sequence[Value]"]

_OPERATORS: dict[tuple[str, str], Operator] = {}

_FAMILIES = (
    "attention",
    "attention_contrib",
    "classic",
    "contrib",
    "control",
    "convolving",
    "declared",
    "detecting",
    "elementwise",
    "indexing",
    "joining",
    "loops",
    "making",
    "matrices",
    "padding",
    "pooling",
    "quantized",
    "quantized_matrices",
    "recurrent",
    "reducing",
    "resampling",
    "reshaping",
    "selecting",
    "shaping",
    "signals",
    "slicing",
    "texts",
)


def operator(*names: str, domain: str = "") -> Callable[[Operator], Operator]:
    """Offer a function as the operators of some names."""

    def offer(function: Operator) -> Operator:
        for name in names:
            _OPERATORS[domain, name] = function
        return function

    return offer


@cache
def operators() -> dict[tuple[str, str], Operator]:
    """Return all operators by domain and name; the domain of ONNX itself is empty."""
    for family in _FAMILIES:
        import_module(f"symbcast.onnx.operators.{family}")
    return _OPERATORS
