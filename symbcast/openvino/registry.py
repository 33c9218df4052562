"""Where operators are kept: each a function from a call to its outputs, by the name of its type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from symbcast.graphs.values.value import Value
from symbcast.openvino.node_call import OpenVinoCall

Operator: TypeAlias = Callable[[OpenVinoCall], "Value | Sequence[Value]"]

OPERATORS: dict[tuple[str, str], Operator] = {}
"""Those of OpenVINO's own operator sets, whatever their versions."""


def operator(*names: str) -> Callable[[Operator], Operator]:
    """Offer a function as the operators of some names, of whatever operator set."""

    def offer(function: Operator) -> Operator:
        for name in names:
            OPERATORS["", name] = function
        return function

    return offer
