"""Where operators are kept: each a function from a call to its outputs, by its name without the overload."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symbcast.graphs.values.value import Value
from symbcast.torch.node_call import TorchCall

Operator: TypeAlias = Callable[[TorchCall], "Value | Sequence[Value]"]

OPERATORS: dict[tuple[str, str], Operator] = {}


def operator(*names: str) -> Callable[[Operator], Operator]:
    """Offer a function as the operators of some names, of ``aten`` where they have no other namespace."""

    def offer(function: Operator) -> Operator:
        for name in names:
            OPERATORS["", name if "." in name else f"aten.{name}"] = function
        return function

    return offer
