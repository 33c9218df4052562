"""Graphs for the walk: named values, and nodes that compute values from others.

A front end reads the graphs of its framework into these classes. Framework objects that it needs later stay in ``raw``,
which nothing in this folder reads.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symbcast.answers.outcomes import CodeLine
    from symbcast.operators.values.value import Value

NOTHING: Mapping[str, Any] = {}  # a mappingproxy does not pickle
_IN_PATH = re.compile(r"[./](?!\d+(?:[./]|$))")


class Node:
    """An operation, with the names of its input and output values.

    Attributes:
        op_type: the operator's name, such as ``"Add"``.
        inputs: names of values, in the order of the operator's inputs; empty for an input that is not given.
        outputs: names of the values that it computes; empty for an output that is not used.
        name: its display name; empty if it has none.
        domain: the domain of the operator, empty for the framework's own.
        version: the version of the operator set.
        raw: the framework's object for it.
    """

    __slots__ = ("domain", "inputs", "name", "op_type", "outputs", "raw", "version")

    def __init__(  # noqa: PLR0913 - all that a node is
        self,
        op_type: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        *,
        name: str = "",
        domain: str = "",
        version: int = 0,
        raw: Any = None,
    ) -> None:
        self.op_type = op_type
        self.inputs = inputs
        self.outputs = outputs
        self.name = name
        self.domain = domain
        self.version = version
        self.raw = raw

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes by name: numbers, texts, lists of these, and other values of the framework."""
        return NOTHING

    @property
    def graphs(self) -> Mapping[str, Graph]:
        """The subgraphs that it runs, such as branches, by name."""
        return NOTHING

    @property
    def kind(self) -> Hashable | None:
        """Everything but its name and those of its values; None if that cannot be compared with other nodes."""
        return None

    @property
    def held(self) -> tuple[int, ...] | None:
        """The shape of its tensor, if it is a constant."""
        return None

    @property
    def where(self) -> str:
        """Its origin as text; empty if that is unknown."""
        return ""

    @property
    def path(self) -> tuple[str, ...]:
        """The modules around it, outermost first; those in its name, if the framework records nothing else."""
        return module_path(self.title.rpartition("/")[0])

    @property
    def line(self) -> CodeLine | None:
        """The line of the user's code that it comes from."""
        return None

    @property
    def title(self) -> str:
        """Its name in answers."""
        return self.name or (self.outputs[0] if self.outputs else "") or self.op_type


def module_path(name: str) -> tuple[str, ...]:
    """Return the modules in a name with slashes or dots; an index stays with the list that it is in.

    >>> module_path("/encoder/layers.0.attention/0")
    ('encoder', 'layers.0', 'attention/0')
    """
    return tuple(part for part in _IN_PATH.split(name.strip("/")) if part)


class Graph:
    """Nodes, ordered so that each comes after those whose values it uses.

    ``inputs`` and ``outputs`` are names of values.

    Attributes:
        has_initializers: whether users know its constants as initializers.
    """

    has_initializers = True

    def __init__(
        self,
        nodes: Sequence[Node],
        inputs: Sequence[str],
        outputs: Sequence[str],
        constants: Mapping[str, Value] = NOTHING,
        name: str = "",
    ) -> None:
        self.nodes = nodes
        self.inputs = inputs
        self.outputs = outputs
        self._constants = constants
        self.name = name

    @property
    def constants(self) -> Mapping[str, Value]:
        """The constants of the graph, by name."""
        return self._constants

    def and_inner(self) -> Iterator[Graph]:
        """Yield the graph and all graphs that its nodes run, at any depth."""
        pending = [self]
        while pending:
            graph = pending.pop()
            yield graph
            for node in graph.nodes:
                pending.extend(node.graphs.values())
