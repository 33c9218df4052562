"""A rule that requires, in addition to another rule, that the output equal a wanted shape: its last operand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

from symbcast.core.algebra.sequences import is_sequence
from symbcast.core.broadcasting import Emission, Joined, Rule
from symbcast.core.broadcasting.constraints import Constraint
from symbcast.core.broadcasting.laws import Ask
from symbcast.core.broadcasting.outputs import members_of, rank_of_output
from symbcast.core.broadcasting.placement import Places, run
from symbcast.core.broadcasting.unknown_rank import expanded_at_right
from symbcast.core.logic.formulas import FALSE, Formula, any_of, equal, one_or_equal
from symbcast.core.reasons import Reason
from symbcast.errors import RuleArgumentError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting.laws import OutputDim
    from symbcast.core.broadcasting.placement import Dims

OUTPUT_SIZE = Reason("output-size", "this size must equal the output's")
OUTPUT_RANK = Reason("output-rank", "the output's rank is {rank}, not {wanted}")


class WithOutput(Rule):
    """Another rule, ``inner``, whose output is the last operand."""

    name: ClassVar[str] = "output"
    family: ClassVar[str] = "questions"
    summary: ClassVar[str] = "another rule, with the wanted output as the last operand"
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
        """Place operands as the inner rule does, and the output at the right."""
        found = self.inner.places(ranks[:-1])
        return Places(found.rank, (*found.of, run(found.rank - ranks[-1], ranks[-1])))

    def emit(self, shapes: Sequence[Dims]) -> Emission:
        """Return the inner rule's requirements, and that its output equal the last shape."""
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

    def expand(self, shapes: Sequence[Dims]) -> list[Dims]:
        """Place operands as the inner rule does; operands and output get as many named axes as the longest has.

        Raises `RuleArgumentError` if sizes precede the output's sequence, unless both outputs have the same sequence
        there.
        """
        *operands, wanted = shapes
        laid = [*self.inner.expand(operands), wanted]
        # Every rule that accepts shapes that begin with a sequence aligns them at the right.
        found = expanded_at_right(laid)
        if found is None:
            given = self.inner.emit_open(operands).output
            alike = [members_of(dim) == (size,) for dim, size in zip(given, wanted, strict=False) if is_sequence(size)]
            if len(given) == len(wanted) and alike == [True]:
                return laid
            problem = "sizes precede a sequence of axes, and the wanted output has a different sequence there"
            raise RuleArgumentError(self.inner.name, problem, "ask for each rank separately")
        return found

    def emit_open(self, shapes: Sequence[Dims]) -> Emission:
        """Return the inner rule's requirements for shapes of unknown rank, and that its output equal the last shape.

        The output has as many axes as the wanted shape, so sizes are compared on every axis that either of them has.
        """
        *operands, wanted = shapes
        own = self.inner.emit_open(operands)
        *laid, given = self.expand(shapes)
        asked = [c for c in own.constraints if c.origin.axis is None]
        if any(c.requirement == FALSE for c in asked):
            return Emission(asked, tuple(given))
        last = len(shapes) - 1
        ranks = rank_of_output(own.output), rank_of_output(tuple(wanted))
        if ranks[0] != ranks[1]:
            details = {"rank": str(ranks[0]), "wanted": str(ranks[1])}
            asked.append(self.constraint(Ask(_same(*ranks), (last,), OUTPUT_RANK, details)))
        found = self.inner.emit(laid)
        rank = len(found.output)
        everyone = tuple(range(len(shapes)))
        sized = list(found.constraints)
        for back in range(1, min(rank, len(given)) + 1):
            formulas = _gives(found.output[-back], given[-back])
            sized += [self.constraint(Ask(f, everyone, OUTPUT_SIZE), rank - back, rank) for f in formulas]
        place = next((n for n, dim in enumerate(found.output) if any(map(is_sequence, members_of(dim)))), None)
        asked += [Constraint(c.requirement, c.origin._replace(sequence=place), c.why, c.details) for c in sized]
        # Leading axes that only one of them has are a sequence without axes.
        front = found.output[: max(rank - len(given), 0)]
        return Emission(asked, (*front, *given[max(len(given) - rank, 0) :]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WithOutput) and (self.inner, self.count) == (other.inner, other.count)

    def __hash__(self) -> int:
        return hash((self.inner, self.count))

    def __reduce__(self) -> tuple[object, ...]:
        return WithOutput, (self.inner, self.count)


def _same(rank: Dim, wanted: Dim) -> Formula:
    """Return the formula that two ranks, which are different terms, are equal."""
    return FALSE if isinstance(rank, int) and isinstance(wanted, int) else equal(rank, wanted)


def _gives(output: OutputDim, size: Dim) -> Iterator[Formula]:
    """Yield the requirements for an output to equal a size; for a join, one member is that size, the others 1 or it."""
    if not isinstance(output, Joined):
        yield equal(output, size)
        return
    members = list(dict.fromkeys(output))
    yield from (one_or_equal(member, size) for member in members)
    yield any_of([equal(size, 1), *(equal(member, size) for member in members)])
