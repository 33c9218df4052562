"""The rule of libraries that decide what is stretched before they know the sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from symbcast.core.algebra import formulas
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.broadcast_rule import Ask, Column, Instead, Law, OutputDim, Rule
from symbcast.core.rules.declaration import Alias, Reason, Remedy
from symbcast.core.rules.placement import AtRight, Dims
from symbcast.core.rules.registry import rule

UNSTRETCHED = Reason(
    "unstretched", "sizes must be equal: only a size that is written as 1 is stretched", (Remedy.TRANSPOSE,)
)


class EqualUnlessWrittenOne(Law):
    """All sizes must be equal, except those that are written as 1; the output is their common size, or 1.

    ``stretched`` are the operands whose size is written as 1 there; None to see it from the sizes.
    """

    # A missing axis is stretched, and a size that turns out to be 1 is not: so not `takes_missing_as_one`.
    stretches_base: ClassVar[bool] = True

    def __init__(self, stretched: frozenset[int] | None = None) -> None:
        self.stretched = stretched

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return (UNSTRETCHED,)

    def asks(self, column: Column) -> Iterator[Ask]:
        (first, size), *others = self._rigid(column) or [(0, 1)]
        for n, other in others:
            yield Ask(formulas.equal(size, other), (first, n), UNSTRETCHED)

    def output(self, column: Column) -> OutputDim:
        # All are equal, and an integer among them says most.
        sizes = [size for _, size in self._rigid(column)]
        return next((size for size in sizes if isinstance(size, int)), next(iter(sizes), 1))

    def _rigid(self, column: Column) -> list[tuple[int, Dim]]:
        """Return the operands that are not stretched, with their sizes."""
        sizes = zip(column.operands, column.sizes, strict=True)
        if self.stretched is None:
            return [(n, size) for n, size in sizes if size != 1]
        return [(n, size) for n, size in sizes if n not in self.stretched]


@rule
class Static(Rule):
    """Right-aligned as in `Numpy`, but only a size that is written as 1 is stretched: an unknown size never is.

    PyTensor decides from static shapes which axes are stretched; an axis of unknown length must then have the same
    length as the others, even if it turns out to be 1. PyTorch decides so for unbacked sizes, which come from data.
    An assumption such as ``N == 1`` does not make a size static; write 1.

    >>> import symbcast as sb
    >>> sb.broadcast("N, 3", "M, 1", rule="static").condition, sb.broadcast("N, 3", "M, 1").condition
    (Condition('N == M'), Condition('N == M or N == 1 or M == 1'))
    """

    name: ClassVar[str] = "static"
    family: ClassVar[str] = "static"
    aliases: ClassVar[tuple[str | Alias, ...]] = (
        Alias("pytensor", "PyTensor documentation, Broadcasting"),
        Alias("torch-unbacked", "PyTorch documentation, Dynamic shapes, unbacked symints"),
    )
    variadic: ClassVar[bool] = True
    needs_shape: ClassVar[bool] = True
    summary: ClassVar[str] = "as numpy, but only a size that is written as 1 is stretched, an unknown size never"
    document: ClassVar[str] = "PyTensor documentation, Broadcasting"
    placement = AtRight()
    law = EqualUnlessWrittenOne()
    instead = (Instead("numpy"),)

    def at_sizes(self, shapes: Sequence[Dims]) -> Rule:
        """Return the rule for integers: it stretches what the shapes write as 1, and no other size that is 1."""
        return _StaticAt(self.called, tuple(map(tuple, shapes)))


class _StaticAt(Static):
    """`Static` at integers, which were written as the sizes of some shapes."""

    def __init__(self, called: str, written: tuple[tuple[Dim, ...], ...]) -> None:
        self.written = written
        super().__init__(called=called)

    def law_at(self, axis: int, law: Law) -> Law:
        rank = max(map(len, self.written))
        starts = [axis - rank + len(shape) for shape in self.written]
        ones = (n for n, own in enumerate(starts) if own >= 0 and self.written[n][own] == 1)
        return EqualUnlessWrittenOne(frozenset(ones))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _StaticAt) and self.written == other.written

    def __hash__(self) -> int:
        return hash(self.written)
