"""Where operators are kept: each a function from a call to its outputs, by domain and name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.values.value import Value

Operator: TypeAlias = Callable[[NodeCall], "Value | Sequence[Value]"]

OPERATORS: dict[tuple[str, str], Operator] = {}


Offered = TypeVar("Offered", bound=Operator)


def operator(*names: str, domain: str = "") -> Callable[[Offered], Offered]:
    """Offer a function as the operators of some names."""

    def offer(function: Offered) -> Offered:
        for name in names:
            OPERATORS[domain, name] = function
        return function

    return offer
