"""Where operators are kept: each a function from a call to its outputs, by domain and name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from symbcast.graphs.node_call import NodeCall
from symbcast.graphs.values.value import Value

Operator: TypeAlias = Callable[[NodeCall], "Value | Sequence[Value]"]

MICROSOFT = "com.microsoft"
"""The domain of the operators that ONNX Runtime adds, and that its optimiser puts into models."""

OPERATORS: dict[tuple[str, str], Operator] = {}


Offered = TypeVar("Offered", bound=Operator)


def operator(*names: str, domain: str = "") -> Callable[[Offered], Offered]:
    """Offer a function as the operators of some names."""

    def offer(function: Offered) -> Offered:
        for name in names:
            OPERATORS[domain, name] = function
        return function

    return offer
