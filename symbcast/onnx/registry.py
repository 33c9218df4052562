"""Where operators are kept: each a function from a call to its outputs, by domain and name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.values.value import Value

Operator: TypeAlias = Callable[[NodeCall], "Value | Sequence[Value]"]

OPERATORS: dict[tuple[str, str], Operator] = {}


def operator(*names: str, domain: str = "") -> Callable[[Operator], Operator]:
    """Offer a function as the operators of some names."""

    def offer(function: Operator) -> Operator:
        for name in names:
            OPERATORS[domain, name] = function
        return function

    return offer
