"""Operands aligned by their rule, the names of what is shown of them, and the status of each axis."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer, axis_text, names_of_operands
from symbcast.core.algebra.sequences import is_sequence
from symbcast.core.algebra.terms import stored
from symbcast.core.logic.formulas import FALSE, dims_of, holds
from symbcast.core.reasons import PAST_END, SIZE
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting.constraints import Constraint
    from symbcast.core.broadcasting.placement import Places
    from symbcast.core.program.calls.call import Call


class Mark(Enum):
    """The status of an axis; its value is the mark shown under it."""

    FINE = "ok"
    CONDITIONAL = "?"
    IMPOSSIBLE = "x"
    UNDECIDED = "~"


_MARKS = {
    Verdict.ALWAYS: Mark.FINE,
    Verdict.SOMETIMES: Mark.CONDITIONAL,
    Verdict.NEVER: Mark.IMPOSSIBLE,
    Verdict.UNKNOWN: Mark.UNDECIDED,
}


class Alignment:
    """The aligned operands of a result; made once for all that is said about it.

    ``dims`` are the sizes of each operand as the rule lays them.
    """

    result: Call
    dims: tuple[tuple[Dim, ...], ...]
    places: Places

    def __init__(self, result: Call) -> None:
        self.result = result
        self.dims = result.dims
        self.places = result.rule.places(list(map(len, self.dims)))

    def at(self, concrete: Call) -> Alignment:
        """Return the alignment of the operands at some sizes, given the result for these."""
        if self.result.is_open:
            return Alignment(concrete)
        made = Alignment.__new__(Alignment)
        made.result, made.dims, made.places = concrete, concrete.dims, self.places
        return made

    @stored
    def names(self) -> list[str]:
        """The names of the operands."""
        return names_of_operands(self.result.rule, len(self.dims))

    @stored
    def namer(self) -> Namer:
        """What writes the sizes of the result."""
        return Namer(self.result)

    def cells(self, axis: int) -> list[tuple[int, Dim]]:
        """Return the operands that have a size on an axis, with the size."""
        return [(n, d) for n, _, d in self.places_of(axis)]

    def sizes(self, operand: int, axis: int) -> list[Dim]:
        """Return the sizes of an operand on an axis: usually one, or none if it does not reach the axis."""
        return [d for n, _, d in self._by_axis.get(axis, ()) if n == operand]

    def places_of(self, axis: int) -> Sequence[tuple[int, int, Dim]]:
        """Return the operands that have a size on an axis, with the position of the size in each operand."""
        return self._by_axis.get(axis, ())

    @stored
    def _by_axis(self) -> dict[int, list[tuple[int, int, Dim]]]:
        found: dict[int, list[tuple[int, int, Dim]]] = {}
        for n, (axes, dims) in enumerate(zip(self.places.of, self.dims, strict=True)):
            for i, axis in enumerate(axes):
                found.setdefault(axis, []).append((n, i, dims[i]))
        return found

    @stored
    def _axes(self) -> dict[Constraint, list[int]]:
        """The axes of each constraint; none if it is only about ranks."""
        found: dict[Constraint, list[int]] = {}
        past_the_end = iter([a for a in self.all_axes if a >= self.places.rank])
        for constraint in self.result.constraints:
            axes = found.setdefault(constraint, [])
            if constraint.code == PAST_END.code:
                axes.append(next(past_the_end))
            else:
                axes.extend(self._axes_of(constraint))
        return found

    @stored
    def _constraints(self) -> dict[int, list[Constraint]]:
        found: dict[int, list[Constraint]] = {}
        for constraint, axes in self._axes.items():
            for axis in axes:
                found.setdefault(axis, []).append(constraint)
        return found

    @stored
    def sequence(self) -> int | None:
        """The axis that represents all axes of sequences; None if there is none."""
        if not self.result.is_open:
            return None
        return next((a for a in self.all_axes if any(is_sequence(d) for _, d in self.cells(a))), None)

    def axis_text(self, axis: int) -> str:
        """Name an axis by its number from each end that it can be counted from."""
        return axis_text(axis, self.places.rank, self.sequence)

    def counted(self, axis: int) -> int:
        """Return an axis counted from the front, or from the end if it follows an unknown number of axes."""
        return axis if self.sequence is None or axis < self.sequence else axis - self.places.rank

    def axes_of(self, constraint: Constraint) -> list[int]:
        """Return the axes that a constraint of the result is about."""
        return self._axes.get(constraint, [])

    def _axes_of(self, constraint: Constraint) -> list[int]:
        origin = constraint.origin
        if constraint.code == SIZE.code:
            # The origin of a size counts the axes of its operand, not those of the aligned shapes.
            axes = self.places.of[origin.operands[0]]
            return [axes[origin.axis]] if origin.axis is not None and origin.axis < len(axes) else []
        if origin.axis is not None:
            return [origin.axis]
        if constraint.requirement == FALSE:
            return self._refused(origin.operands)
        return list(self.places.of[origin.operands[-1]])

    def _hanging(self) -> list[int]:
        return [a for a in self.all_axes if not 0 <= a < self.places.rank]

    def _refused(self, operands: Sequence[int]) -> list[int]:
        """Return the axes where ranks do not fit: axes outside the output, else axes that some operand lacks."""
        lacking = [a for a in self.all_axes if len(self.cells(a)) < len(operands)]
        return self._hanging() or lacking or sorted({a for n in operands for a in self.places.of[n]})

    @stored
    def all_axes(self) -> tuple[int, ...]:
        """Every axis in use, including axes outside the output, which can be far from the others."""
        return tuple(sorted({*range(self.places.rank), *self._by_axis}))

    @stored
    def _clashing(self) -> frozenset[int]:
        if self.result.verdict is not Verdict.NEVER:
            return frozenset()
        return frozenset(a for c in self.result.conflict for a in self.axes_of(c))

    @property
    def clashing(self) -> list[int]:
        """The axes of the conflict."""
        return sorted(self._clashing)

    def mark(self, axis: int) -> Mark:
        """Return the status of an axis by its own constraints; the axes of a conflict are impossible together."""
        if axis in self._clashing:
            return Mark.IMPOSSIBLE
        if self.result.is_plain:
            return _MARKS[self.result.masks.verdict_at(axis)]
        constraints = self._constraints.get(axis)
        return _MARKS[self.verdict(constraints)] if constraints else Mark.FINE

    @staticmethod
    def _is_no_question(constraint: Constraint) -> bool:
        requirement = constraint.requirement
        return all(isinstance(d, int) for d in dims_of(requirement)) and holds(requirement)

    def verdict(self, constraints: Sequence[Constraint]) -> Verdict:
        """Return the verdict on only some of the result's constraints."""
        requirements = [c.requirement for c in constraints]
        if all(isinstance(d, int) for r in requirements for d in dims_of(r)):
            return Verdict.ALWAYS if all(map(holds, requirements)) else Verdict.NEVER
        from symbcast.core.solver.decision.decision import Decision

        asked = set(requirements)
        if all(c.requirement in asked or self._is_no_question(c) for c in self.result.constraints):
            return self.result.verdict  # exactly the question that was already decided
        assert self.result.scope is not None and self.result.scope.knowledge is not None
        return Decision(self.result.scope.knowledge, requirements).verdict
