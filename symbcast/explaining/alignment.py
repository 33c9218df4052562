"""Where a rule lays each axis of the operands, and how each axis of the aligned shapes fares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symbcast.formulas import FALSE, dims_of, holds
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.constraints import Constraint
    from symbcast.dims import Dim
    from symbcast.result import Result
    from symbcast.rules.base import Rule


class Mark(Enum):
    """How an axis fares: its value is what is shown under it."""

    FINE = "ok"
    CONDITIONAL = "?"
    IMPOSSIBLE = "x"
    UNDECIDED = "~"


@dataclass(frozen=True)
class Places:
    """``rank`` is that of the aligned shapes; ``of[n][i]`` the axis on which axis i of operand n is laid.

    An axis below 0 or from ``rank`` on hangs over: the rule has no axis there.
    """

    rank: int
    of: tuple[tuple[int, ...], ...]

    @property
    def all(self) -> range:
        """Every axis in use, those that hang over included."""
        used = [axis for axes in self.of for axis in axes]
        return range(min(0, *used, 0), max(self.rank, *(a + 1 for a in used), 0))


def places(rule: Rule, shapes: Sequence[Sequence[Dim]]) -> Places:
    """Return where a rule lays the axes of some shapes.

    >>> from symbcast.rules import find_rule
    >>> places(find_rule("pdpd", {"axis": 1}), [("N", "C", "H", "W"), ("C",)]).of
    ((0, 1, 2, 3), (1,))
    """
    ranks = [len(s) for s in shapes]
    match rule.name:
        case "explicit":
            return Places(ranks[1], (tuple(_attribute(rule, "axes"))[: ranks[0]], _run(0, ranks[1])))
        case "unidirectional":
            return Places(ranks[1], (_run(ranks[1] - ranks[0], ranks[0]), _run(0, ranks[1])))
        case "pdpd":
            return _pdpd(rule, *ranks)
        case "onnx-legacy" if _attribute(rule, "broadcast"):
            return _legacy(rule, *ranks)
    rank = max(ranks, default=0)
    return Places(rank, tuple(_run(rank - r, r) for r in ranks))


def _pdpd(rule: Rule, a: int, b: int) -> Places:
    axis = _attribute(rule, "axis")
    if _attribute(rule, "flavour") != "paddle":
        return Places(a, (_run(0, a), _run(a - b if axis == -1 else axis, b)))
    rank, short = max(a, b), min(a, b)
    start = rank - short if axis == -1 or a == b else axis
    return Places(rank, (_run(0, a), _run(start, b)) if a >= b else (_run(start, a), _run(0, b)))


def _legacy(rule: Rule, a: int, b: int) -> Places:
    axis = _attribute(rule, "axis")
    start = a - b if axis is None else axis + a if axis < 0 else axis
    if _attribute(rule, "flavour") != "openvino":
        return Places(a, (_run(0, a), _run(start, b)))
    padded = b + max(0, a - b - start)
    rank = max(a, padded)
    return Places(rank, (_run(rank - a, a), _run(rank - padded, b)))


def _attribute(rule: Rule, name: str) -> Any:
    return getattr(rule, name)


def _run(start: int, length: int) -> tuple[int, ...]:
    return tuple(range(start, start + length))


class Alignment:
    """The operands of a result laid under each other."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.places = places(result.rule, result.operands)

    def cells(self, axis: int) -> list[tuple[int, Dim]]:
        """Return the operands that have a size on an axis, with the size."""
        return [(n, self.result.operands[n][i]) for n, i in self._by_axis.get(axis, ())]

    @cached_property
    def _by_axis(self) -> dict[int, list[tuple[int, int]]]:
        found: dict[int, list[tuple[int, int]]] = {}
        for n, axes in enumerate(self.places.of):
            for i, axis in enumerate(axes):
                found.setdefault(axis, []).append((n, i))
        return found

    @cached_property
    def _axes(self) -> dict[Constraint, list[int]]:
        """The axes that each constraint is about; none where it is about the ranks alone."""
        found: dict[Constraint, list[int]] = {}
        past_the_end = iter([a for a in self.places.all if a >= self.places.rank])
        for constraint in self.result.constraints:
            axes = found.setdefault(constraint, [])
            if self._is_past_the_end(constraint):
                axes.append(next(past_the_end))
            else:
                axes.extend(self._axes_of(constraint))
        return found

    @cached_property
    def _constraints(self) -> dict[int, list[Constraint]]:
        found: dict[int, list[Constraint]] = {}
        for constraint, axes in self._axes.items():
            for axis in axes:
                found.setdefault(axis, []).append(constraint)
        return found

    def axes_of(self, constraint: Constraint) -> list[int]:
        """Return the axes that a constraint of the result is about."""
        return self._axes.get(constraint, [])

    def _axes_of(self, constraint: Constraint) -> list[int]:
        origin = constraint.origin
        if origin.rule == "size":
            # The origin of a size counts the axes of its operand, not those of the aligned shapes.
            axes = self.places.of[origin.operands[0]]
            return [axes[origin.axis]] if origin.axis is not None and origin.axis < len(axes) else []
        if origin.axis is not None:
            return [origin.axis]
        if constraint.requirement == FALSE:
            return self._refused(origin.operands)
        return list(self.places.of[origin.operands[-1]])

    def _is_past_the_end(self, constraint: Constraint) -> bool:
        origin = constraint.origin
        return origin.rule == "pdpd" and origin.axis is None and constraint.requirement != FALSE

    def _hanging(self) -> list[int]:
        return [a for a in self.places.all if not 0 <= a < self.places.rank]

    def _refused(self, operands: Sequence[int]) -> list[int]:
        hanging = self._hanging()
        rule = self.result.rule
        if hanging:
            return hanging
        if rule.name not in ("none", "onnx-legacy", "unidirectional"):
            return sorted({a for n in operands for a in self.places.of[n]})
        lacking = [a for a in self.places.all if len(self.cells(a)) < len(operands)]
        return [a for a in lacking if a in _attribute(rule, "keep")] if rule.name == "unidirectional" else lacking

    @cached_property
    def _clashing(self) -> frozenset[int]:
        if self.result.verdict is not Verdict.NEVER:
            return frozenset()
        return frozenset(a for c in self.result.conflict for a in self.axes_of(c))

    @property
    def clashing(self) -> list[int]:
        """The axes of the conflict."""
        return sorted(self._clashing)

    def mark(self, axis: int) -> Mark:
        """Return how an axis fares by its own constraints; those of a conflict are impossible together."""
        constraints = self._constraints.get(axis, [])
        if not constraints:
            return Mark.FINE
        if axis in self._clashing:
            return Mark.IMPOSSIBLE
        match self.verdict(constraints):
            case Verdict.ALWAYS:
                return Mark.FINE
            case Verdict.NEVER:
                return Mark.IMPOSSIBLE
            case Verdict.SOMETIMES:
                return Mark.CONDITIONAL
        return Mark.UNDECIDED

    def verdict(self, constraints: Sequence[Constraint]) -> Verdict:
        """Return the verdict on some of the result's constraints alone."""
        requirements = [c.requirement for c in constraints]
        if all(isinstance(d, int) for r in requirements for d in dims_of(r)):
            return Verdict.ALWAYS if all(map(holds, requirements)) else Verdict.NEVER
        from symbcast.deciding.decide import Decision

        assert self.result.scope is not None and self.result.scope.knowledge is not None
        return Decision(self.result.scope.knowledge, requirements).verdict
