"""Find the node that is responsible for a condition, its reason, and the operands that meet there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.report.failures import Sizes, broken, shape_at, texts_at
from symbcast.core.characters import cut
from symbcast.core.logic.formulas import TRUE, AnyOf, Comparison, Compatible, Formula, dims_of
from symbcast.graphs.findings.sequences import described
from symbcast.graphs.requirements.location import located_reason
from symbcast.graphs.requirements.recorder import Reason
from symbcast.graphs.values.contents import sizes_of
from symbcast.graphs.values.value import is_of_unknown_rank, sizes_known

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting.constraints import Constraint
    from symbcast.core.program.operations.operation import Op
    from symbcast.graphs.requirements.recorder import Asker, Place
    from symbcast.graphs.values.value import Value

SHOWN = 2
"""How many operands are shown of a node."""
_LISTED = 8
"""The maximum number of elements to show instead of the shape of an operand that holds the node's parameters."""


class Blame(NamedTuple):
    """A node with a requirement, and the part of it that fails: ``broken`` is None if none is known to fail."""

    place: Place
    op: Op
    broken: Constraint | None

    @property
    def asked(self) -> Formula | None:
        """The requirement of the node: the part of it that fails, or else all of it."""
        return self.broken.requirement if self.broken is not None else self.op.formula

    def reason(self, asker: Asker) -> str:
        """Return why the node requires it, with the axis counted from both ends if it is about one axis."""
        if self.op.kind == "require":
            return self._required(asker).text
        if self.broken is None:
            return ""
        return located_reason(self.place.inputs, [s.dims for s in self.op.operands], self.broken)

    def meeting(self, asker: Asker) -> tuple[Dim, ...]:
        """Return the sizes that must be equal or broadcast, if that requirement fails; otherwise none."""
        if self.op.kind == "require":
            return _joined(self._required(asker).formula)
        return () if self.broken is None else _joined(self.broken.requirement)

    def code(self, asker: Asker) -> str:
        """Return the code of the reason; empty if the operator words the reason itself."""
        if self.op.kind == "require":
            return self._required(asker).code
        return "" if self.broken is None else self.broken.code

    def _required(self, asker: Asker) -> Reason:
        assert self.op.formula is not None
        return asker.reasons.get((self.place.name, self.op.formula), Reason())

    def shown(self) -> tuple[int, ...]:
        """Return the positions, among the given operands, of those that meet where it fails."""
        values = [v for v in self.place.inputs if v is not None]
        dims = {d for d in dims_of(self.asked) if d != 1} if self.asked is not None else set()
        touched = {n: dims & {*(sizes_known(v) or ()), *(content_of(n, v) or ())} for n, v in enumerate(values)}
        first = next((n for n, found in touched.items() if found), 0)
        others = [n for n in range(len(values)) if n != first]
        # Prefer the other side of the failure, then any other operand involved, then the first one.
        second = sorted(others, key=lambda n: (not touched[n] - touched[first], not touched[n], n))[: SHOWN - 1]
        return tuple(sorted([first, *second]))[: len(values)]


def _joined(formula: Formula) -> tuple[Dim, ...]:
    """Return the sizes that a formula compares: two that must be equal, or those that must broadcast."""
    match formula:
        case Compatible(dims):
            return tuple(dict.fromkeys(d for d in dims if d != 1))
        case Comparison("==", left, right) if 0 not in (left, right):  # else it is about a remainder, not a size
            return left, right
        case AnyOf(parts) if parts and all(isinstance(p, Comparison) and p.operator == "==" for p in parts):
            found = dict.fromkeys(d for d in dims_of(formula) if d != 1)
            return tuple(found) if len(found) == 2 else ()
        case _:
            return ()


def blame(asker: Asker, ops: Sequence[Op], sizes: Sizes | None, clause: Formula = TRUE) -> Blame | None:
    """Return the first of some operations that fails at the given sizes, or else the first one.

    If several of its requirements fail, prefer the one worded like the clause.
    """
    known = [op for op in ops if op.origin in asker.places]
    for op in known if sizes is not None else ():
        assert op.origin is not None and sizes is not None
        found = broken(op, sizes, clause)
        if found is not None:
            return Blame(asker.places[op.origin], op, found)
    return next((Blame(asker.places[op.origin], op, None) for op in known if op.origin is not None), None)


def content_of(position: int, value: Value) -> tuple[Dim, ...] | None:
    """Return the elements of an integer, or a short list of integers, that a node takes after its first operand."""
    if not position or value.shape is None or len(value.shape) > 1:
        return None
    length = value.shape[0] if value.shape else 1
    if not isinstance(length, int) or length > _LISTED:
        return None
    return sizes_of(value.content, value.shape)


def shapes_at(blamed: Blame, sizes: Sizes) -> str:
    """Return the operands that meet, at the given sizes: ``(1, 64, 25) beside (1, 64, 26)``."""
    values = [v for v in blamed.place.inputs if v is not None]
    return " beside ".join(_at(n, values[n], sizes) for n in blamed.shown())


def _at(position: int, value: Value, sizes: Sizes) -> str:
    content = content_of(position, value)
    if content is not None:
        listing = ", ".join(texts_at(content, sizes))
        return cut(f"[{listing}]" if value.shape else listing, 60)
    dims = sizes_known(value)
    if dims is None or is_of_unknown_rank(dims):
        return cut(described(value, lambda d: texts_at([d], sizes)[0]), 60) or "an unknown shape"
    return shape_at(dims, sizes)
