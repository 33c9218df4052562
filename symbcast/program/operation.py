"""The operations of a program, as they were handed over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from symbcast.broadcasting import Rule
from symbcast.broadcasting.constraints import Constraint, Origin
from symbcast.characters import visible
from symbcast.logic.formulas import FALSE, Formula, clauses
from symbcast.program.size_needs import equalities, size_needs
from symbcast.reasons import EQUAL, EQUAL_RANKS, REQUIRED_FORMULA, SIZE
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
        return (*self._size_constraints(), *self._own_constraints())

    def _size_constraints(self) -> Iterator[Constraint]:
        for position, operand in enumerate(self.operands):
            for axis, dim in enumerate(operand.dims):
                origin = Origin("size", (position,), axis, operand.rank, self.name)
                for need in size_needs((dim,)):
                    yield Constraint(need, origin, SIZE)

    def _own_constraints(self) -> Iterator[Constraint]:
        if self.rule is not None:
            for constraint in self.rule.emit([s.dims for s in self.operands]).constraints:
                origin = constraint.origin._replace(operation=self.name)
                yield Constraint(constraint.requirement, origin, constraint.why, constraint.details)
        elif self.kind == "equal":
            left, right = self.operands
            if left.rank != right.rank:
                origin = Origin("equal", (0, 1), operation=self.name)
                yield Constraint(FALSE, origin, EQUAL_RANKS, {"left": left.rank, "right": right.rank})
                return
            for axis, formula in enumerate(equalities(left, right)):
                yield Constraint(formula, Origin("equal", (0, 1), axis, left.rank, self.name), EQUAL)
        elif self.kind == "require" and self.formula is not None:
            for clause in clauses(self.formula):
                yield Constraint(clause, Origin("require", (), operation=self.name), REQUIRED_FORMULA)

    def __repr__(self) -> str:
        return f"<Op {visible(str(self))}>"

    def __str__(self) -> str:
        if self.rule is not None:
            return f"{self.name}: {self.rule.called} of {', '.join(map(str, self.operands))}"
        if self.kind == "equal":
            return f"{self.name}: {' equal to '.join(map(str, self.operands))}"
        return f"{self.name}: {self.kind} {self.text}"
