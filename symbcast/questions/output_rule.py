"""A rule that asks, besides what another rule does, that the output be a wanted shape: its last operand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from symbcast.broadcasting import Emission, Joined, Rule
from symbcast.broadcasting.constraints import Constraint
from symbcast.broadcasting.laws import Ask
from symbcast.broadcasting.placement import Places, run
from symbcast.logic.formulas import FALSE, Formula, any_of, equal, one_or_equal
from symbcast.reasons import Reason

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.broadcasting.laws import OutputDim
    from symbcast.broadcasting.placement import Dims

OUTPUT_SIZE = Reason("output-size", "this must be the output's size")
OUTPUT_RANK = Reason("output-rank", "the output's rank is {rank}, not {wanted}")


class WithOutput(Rule):
    """Another rule, ``inner``, whose output is the last operand."""

    name: ClassVar[str] = "output"
    family: ClassVar[str] = "questions"
    summary: ClassVar[str] = "another rule, with the output that is wanted as the last operand"
    document: ClassVar[str] = ""
    variadic: ClassVar[bool] = True
    own_reasons: ClassVar[tuple[Reason, ...]] = (OUTPUT_SIZE, OUTPUT_RANK)

    def __init__(self, inner: Rule, count: int) -> None:
        self.inner = inner
        self.count = count
        self.operands = (*(inner.operand_name(n) for n in range(count)), "wanted")  # type: ignore[misc] # of this one
        super().__init__(called=inner.called)

    def attributes(self) -> dict[str, object]:  # type: ignore[override] # those of the inner rule
        """Return the attributes of the inner rule."""
        return dict(self.inner.attributes())

    def check_shapes(self, shapes: Sequence[Dims]) -> None:
        self.inner.check_shapes(shapes[:-1])

    def places(self, ranks: Sequence[int]) -> Places:
        """As the inner rule lays its operands; the output lies at the right."""
        found = self.inner.places(ranks[:-1])
        return Places(found.rank, (*found.of, run(found.rank - ranks[-1], ranks[-1])))

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """Return what the inner rule asks, and that its output be the last shape."""
        found, wanted = self.inner.emit(shapes[:-1]), shapes[-1]
        last = len(shapes) - 1
        if len(found.output) != len(wanted):
            ask = Ask(FALSE, (last,), OUTPUT_RANK, {"rank": len(found.output), "wanted": len(wanted)})
            return Emission([*found.constraints, self.constraint(ask)], found.output)
        asked: list[Constraint] = []
        operands = tuple(range(len(shapes)))
        for axis, (size, given) in enumerate(zip(wanted, found.output, strict=True)):
            asked += [self.constraint(Ask(f, operands, OUTPUT_SIZE), axis, len(wanted)) for f in _gives(given, size)]
        return Emission([*found.constraints, *asked], tuple(wanted))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithOutput) and (self.inner, self.count) == (other.inner, other.count)

    def __hash__(self) -> int:
        return hash((self.inner, self.count))

    def __reduce__(self) -> tuple[object, ...]:
        return WithOutput, (self.inner, self.count)


def _gives(output: OutputDim, size: Dim) -> Iterator[Formula]:
    """Yield what must hold for an output to be of a size: of a join, one member is that size and the others 1 or it."""
    if not isinstance(output, Joined):
        yield equal(output, size)
        return
    members = list(dict.fromkeys(output))
    yield from (one_or_equal(member, size) for member in members)
    yield any_of([equal(size, 1), *(equal(member, size) for member in members)])
