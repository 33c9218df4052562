"""The operations of a program, as they were passed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from symbcast.core.broadcasting import Demand, Emission, Rule, find_rule
from symbcast.core.broadcasting.constraints import Constraint, Origin
from symbcast.core.characters import visible
from symbcast.core.logic.formulas import Formula, clauses
from symbcast.core.program.operations.size_needs import size_needs
from symbcast.core.reasons import REQUIRED_FORMULA, SIZE
from symbcast.core.shapes import Shape, is_open

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Kind: TypeAlias = str
"""``"broadcast"``, ``"equal"``, ``"require"``, ``"assume"``, or the name of an operator, such as ``"matmul"``."""


SAME = find_rule("none", {})
"""The rule for shapes that must be equal."""


def emission_of(rule: Rule, operands: Sequence[Shape]) -> Emission:
    """Return the emission of a rule for shapes, whose ranks may be unknown."""
    dims = [s.values for s in operands]
    return rule.emit_open(dims) if any(map(is_open, operands)) else rule.emit(dims)


def demand_of(rule: Rule, operands: Sequence[Shape]) -> Demand:
    """Return the demand of a rule on shapes, whose ranks may be unknown."""
    dims = [s.values for s in operands]
    if not any(map(is_open, operands)):
        return rule.demand(dims)
    constraints, output = rule.emit_open(dims)
    return Demand(output, [c.requirement for c in constraints])


class Op(NamedTuple):
    """One operation of a `symbcast.ShapeEnv`.

    ``origin`` is the caller's name for it; ``operands`` are the shapes as passed, ``rule`` is the broadcast rule
    or the operator; ``formula`` and ``text`` are the requirement or assumption; ``output`` is the shape that
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
        """Its display name: its origin, or its kind and number."""
        return self.origin if self.origin is not None else f"{self.kind}_{self.number}"

    @property
    def laid(self) -> list[Sequence[Dim]]:
        """The operands of a broadcast as its rule lays them: one axis represents all axes of unknown number."""
        dims: list[Sequence[Dim]] = [s.dims for s in self.operands]
        return self.rule.expand(dims) if self.rule is not None and any(map(is_open, self.operands)) else dims

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Its constraints, including those that make the dimensions of its operands sizes."""
        return (*self._size_constraints(), *self._own_constraints())

    def _size_constraints(self) -> Iterator[Constraint]:
        for position, operand in enumerate(self.operands):
            for axis, dim in enumerate(operand.dims):
                origin = Origin("size", (position,), axis, len(operand.dims), self.name)
                for need in size_needs((dim,)):
                    yield Constraint(need, origin, SIZE)

    def _own_constraints(self) -> Iterator[Constraint]:
        if self.rule is not None:
            for constraint in emission_of(self.rule, self.operands).constraints:
                origin = constraint.origin._replace(operation=self.name)
                yield Constraint(constraint.requirement, origin, constraint.why, constraint.details)
        elif self.kind == "equal":
            for constraint in emission_of(SAME, self.operands).constraints:
                origin = constraint.origin._replace(rule="equal", operation=self.name)
                yield Constraint(constraint.requirement, origin, constraint.why, constraint.details)
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
