"""Limits on the length of the sizes in a walk.

A size that depends on a rare case, such as a 0 in the target of a reshape that copies an axis, is written as one
formula: ``q + k - k*min(q, 1)``. Products of these in later nodes grow exponentially with the number of nodes. So the
length of all long sizes is counted. A walk that exceeds the limit is repeated with a name for each size that depends
on a case. If even that is too long, long sizes become unknown ones, and the answer is incomplete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.terms import Term
from symbcast.graphs.values.contents import Elements
from symbcast.graphs.values.value import Value

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.requirements.recorder import Asker

_LONG = 30
"""Sizes with more atoms than this count as long."""
_LIMIT = 100_000
"""The maximum number of atoms in all long sizes of a walk; 96 exported models stay below 40,000."""


class TooLongError(Exception):
    """The sizes of a walk became too long; not an error of the caller, as the model is walked again in another way."""


class Lengths:
    """The total length of the long sizes in one walk."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._left = _LIMIT

    def limited(self, outputs: Sequence[Value], label: str) -> Sequence[Value]:
        """Return the outputs of a node, with unknown sizes for long ones once the limit is exceeded.

        Raises `TooLongError` if the walk can be repeated with names for sizes that depend on cases.
        """
        self._left -= sum(length for value in outputs for length in map(_length, _dims_of(value)) if length > _LONG)
        if self._left >= 0:
            return outputs
        if not self._asker.names_cases:
            raise TooLongError
        return [self._shortened(value, label) for value in outputs]

    def _shortened(self, value: Value, label: str) -> Value:
        if all(_length(dim) <= _LONG for dim in _dims_of(value)):
            return value
        dims = value.shape or ()
        made = Value(tuple(self._named(dim, f"{label}_dim_{n}") for n, dim in enumerate(dims)), value.dtype)
        return made if value.shape is not None else Value(None, value.dtype)

    def _named(self, dim: Dim, name: str) -> Dim:
        if _length(dim) <= _LONG:
            return dim
        least = max(self._asker.bounds.least(dim) or 0, 0)
        return self._asker.symbol(name, "a size whose formula is too long to follow", least, is_undecided=True)


def _dims_of(value: Value) -> Iterator[Dim]:
    yield from value.shape or ()
    if isinstance(value.content, Elements):
        yield from (item for item in value.content.items if isinstance(item, Term))


def _length(dim: Dim) -> int:
    return 0 if isinstance(dim, int) else dim.size
