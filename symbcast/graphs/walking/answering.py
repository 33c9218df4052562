"""The protocol that a walk requires of a front end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from symbcast.graphs.graph import Node
    from symbcast.graphs.values.value import Value
    from symbcast.graphs.walking.node_call import NodeCall
    from symbcast.graphs.walking.reaches import Reaches


class Answering(Protocol):
    """The parts of a front end that a walk uses; see `symbcast.graphs.front_end`."""

    @property
    def reaches(self) -> Reaches:
        """Returns the number of axes that operators use of inputs of unknown rank."""

    @property
    def call(self) -> Callable[..., NodeCall]:
        """Creates the call of an operator from a place, a walk and a scope."""

    @property
    def tail(self) -> Callable[[Any], Sequence[Value]]:
        """Handles an operator that has no function."""

    def operator(self, node: Node) -> Callable[[Any], Value | Sequence[Value]] | None:
        """Return the function for a node's operator; None if there is none."""
