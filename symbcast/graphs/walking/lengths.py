"""The total length of the sizes in a walk: if it exceeds a limit, long sizes become unknown ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.terms import Term
from symbcast.graphs.requirements.lengths import long_ones
from symbcast.graphs.values.contents import Elements
from symbcast.graphs.values.value import Constant, Value

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.graph import Node
    from symbcast.graphs.requirements.recorder import Asker

_LIMIT = 100_000
"""The maximum number of atoms in all long sizes of a walk; 96 exported models stay below 40,000."""


class Lengths:
    """The total length of the long sizes in one walk."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self.left = _LIMIT
        """What is left of the limit."""

    def limited(self, outputs: Sequence[Value], node: Node) -> Sequence[Value]:
        """Return the outputs of a node, with unknown sizes for long ones once the limit is exceeded.

        Raises `TooLongError` if the walk is to be repeated with names for sizes that depend on cases.
        """
        for value in outputs:
            self._asker.check_lengths(value.shape or ())
            self.left -= sum(long_ones(_dims_of(value)))
        return outputs if self.left >= 0 else [self._shortened(value, node.title) for value in outputs]

    def _shortened(self, value: Value, label: str) -> Value:
        if not long_ones(_dims_of(value)):
            return value
        if value.shape is None:
            return Value(None, value.dtype)
        return Value(tuple(self._named(dim, f"{label}_dim_{n}") for n, dim in enumerate(value.shape)), value.dtype)

    def _named(self, dim: Dim, name: str) -> Dim:
        if not long_ones([dim]):
            return dim
        least = max(self._asker.bounds.least(dim) or 0, 0)
        return self._asker.symbol(name, "a size whose formula is too long to follow", least, is_undecided=True)


def _dims_of(value: Value) -> Sequence[Dim]:
    shape = value.shape or ()
    if isinstance(value, Constant) or not isinstance(value.content, Elements):
        return shape
    return [*shape, *(item for item in value.content.items if isinstance(item, Term))]
