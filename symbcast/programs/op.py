"""The operations of a program, as they were handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from symbcast.broadcasting import Rule
    from symbcast.constraints import Constraint
    from symbcast.formulas import Formula
    from symbcast.shapes import Shape

Kind: TypeAlias = Literal["broadcast", "equal", "require", "assume"]


class Op(NamedTuple):
    """One operation of a `symbcast.ShapeEnv`.

    ``origin`` is what the caller calls it; ``operands`` are the shapes as they were handed over, ``rule`` theirs if
    it is a broadcast; ``formula`` and ``text`` what is required or assumed; ``output`` the shape that was returned.
    """

    number: int
    kind: Kind
    origin: str | None
    operands: tuple[Shape, ...] = ()
    rule: Rule | None = None
    formula: Formula | None = None
    text: str = ""
    output: Shape | None = None

    @property
    def name(self) -> str:
        """What it is called: by its origin, or by its kind and number."""
        return self.origin if self.origin is not None else f"{self.kind}_{self.number}"

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What it asks, and that the dimensions of its operands be sizes."""
        from symbcast.programs.operations import constraints

        return tuple(constraints(self))

    def __repr__(self) -> str:
        from symbcast.display.text import visible

        return f"<Op {visible(str(self))}>"

    def __str__(self) -> str:
        match self.kind:
            case "broadcast":
                called = self.rule.called if self.rule else ""
                return f"{self.name}: {called} of {', '.join(map(str, self.operands))}"
            case "equal":
                return f"{self.name}: {' equal to '.join(map(str, self.operands))}"
            case kind:
                return f"{self.name}: {kind} {self.text}"
