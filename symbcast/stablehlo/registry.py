"""The table of operators by dialect and name, with the constraints of the specification that each implements."""

from __future__ import annotations

from collections.abc import Callable

from symbcast.graphs.operators.table import Offered, OperatorTable
from symbcast.stablehlo.node_call import HloCall

OPERATORS: OperatorTable[HloCall] = OperatorTable("stablehlo")
IMPLEMENTED: dict[str, frozenset[str]] = {}
"""The constraints that operators implement, such as ``C2``, by name: those about sizes."""


def operator(*names: str, constraints: str = "") -> Callable[[Offered], Offered]:
    """Make the decorated function answer for operators; a name without a dot is one of StableHLO.

    ``constraints`` are those of the specification that it requires or that its output has, such as ``"C2 C6"``.
    """
    for name in names if constraints else ():
        IMPLEMENTED[name] = IMPLEMENTED.get(name, frozenset()) | frozenset(constraints.split())
    return OPERATORS.offer(*names)
