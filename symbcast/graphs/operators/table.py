"""Define the table of a front end's operators, and the decorator that registers functions in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall

Call = TypeVar("Call", bound=NodeCall)
Operator: TypeAlias = Callable[[Call], Value | Sequence[Value]]
"""The function of an operator, from a call to its outputs."""
Offered = TypeVar("Offered", bound=Callable[..., Value | Sequence[Value]])


class OperatorTable(dict[tuple[str, str], Operator[Call]]):
    """Map operators to functions from a call to its outputs, by domain (empty for the framework's own) and name.

    A name without a dot is in ``namespace``, if the framework has one.
    """

    def __init__(self, namespace: str = "") -> None:
        super().__init__()
        self._namespace = namespace

    def offer(self, *names: str, domain: str = "") -> Callable[[Offered], Offered]:
        """Register the decorated function for the operators with these names.

        >>> table = OperatorTable("aten")
        >>> @table.offer("relu", "prims.neg")
        ... def same(call):
        ...     return call.inputs[0]
        >>> sorted(table)
        [('', 'aten.relu'), ('', 'prims.neg')]
        """

        def put(function: Offered) -> Offered:
            for name in names:
                within = f"{self._namespace}." if self._namespace and "." not in name else ""
                self[domain, within + name] = function
            return function

        return put
