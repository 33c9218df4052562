"""The operations of a program, as they were handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from symbcast.constraints import Constraint
    from symbcast.formulas import Formula
    from symbcast.rules.base import Rule
    from symbcast.shapes import Shape

Kind: TypeAlias = str
"""``"broadcast"``, ``"equal"``, ``"require"``, ``"assume"``, or the name of an operator, such as ``"matmul"``."""


class Op(NamedTuple):
    """One operation of a `symbcast.ShapeEnv`.

    ``origin`` is what the caller calls it; ``operands`` are the shapes as they were handed over, ``rule`` theirs if
    it is a broadcast, or the operator; ``formula`` and ``text`` what is required or assumed; ``output`` the shape that
    was returned.
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
        if self.rule is not None:
            return f"{self.name}: {self.rule.called} of {', '.join(map(str, self.operands))}"
        if self.kind == "equal":
            return f"{self.name}: {' equal to '.join(map(str, self.operands))}"
        return f"{self.name}: {self.kind} {self.text}"
