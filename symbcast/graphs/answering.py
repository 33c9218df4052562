"""What a walk needs of a front end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node
    from symbcast.graphs.node_call import NodeCall
    from symbcast.graphs.reaches import Reaches
    from symbcast.graphs.values.value import Value


class Answering(Protocol):
    """What a walk needs of a front end; see `symbcast.graphs.front_end`."""

    @property
    def reaches(self) -> Reaches:
        """How far operators look into inputs of unknown rank."""

    @property
    def call(self) -> Callable[..., NodeCall]:
        """Makes the call of an operator, of a place, a walk and a scope."""

    @property
    def tail(self) -> Callable[[Any], Sequence[Value]]:
        """Answers for an operator that has no function."""

    def operator(self, node: Node) -> Callable[[Any], Value | Sequence[Value]] | None:
        """Return the function of a node's operator; None where there is none."""
