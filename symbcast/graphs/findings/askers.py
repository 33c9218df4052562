"""Find the operations of a model that require a condition, or that fail where it does not hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Hashable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from symbcast.answers.report.failures import Sizes
from symbcast.core.logic.formulas import AllOf, AnyOf, Comparison, Formula
from symbcast.core.logic.whole_quotients import quotient_asked_whole
from symbcast.core.program.operations.needs import needs
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Operation
    from symbcast.core.program.operations.operation import Op
    from symbcast.core.program.whole.program import Program


class Askers:
    """The operations of an environment, and the requirements of each."""

    def __init__(self, env: Program) -> None:
        self._env = env

    @cached_property
    def _asked(self) -> list[tuple[Op, tuple[Formula, ...]]]:
        return [(op, asked) for op in self._env.operations if (asked := needs(op))]

    @cached_property
    def _by_formula(self) -> dict[Hashable, list[Op]]:
        found: dict[Hashable, list[Op]] = defaultdict(list)
        for op, formulas in self._asked:
            for formula in formulas:
                found[_key(formula)].append(op)
        return found

    def of(self, clause: Formula, failing: Sizes | None) -> Sequence[Op]:
        """Return the operations that require exactly this clause, after earlier ones that fail where it does.

        If none requires exactly this clause, return those that fail; if none fails, search for the fewest operations
        that imply it, which may take long.
        """
        found = self.exactly(clause)
        failed = self.failing(failing) if failing else []
        if found:
            return [*(op for op in failed if op.number < found[0].number), *found]
        return failed or self._env.requirement(clause).origins

    def exactly(self, clause: Formula) -> Sequence[Op]:
        """Return the operations that have exactly this requirement."""
        return self._by_formula.get(_key(clause), [])

    def asking_whole(self, quotients: Container[Operation], before: int) -> Iterator[tuple[Op, Formula]]:
        """Yield the operations before a number that require one of some quotients to be whole, with the requirement."""
        for op, formulas in self._asked:
            for f in formulas if op.number < before else ():
                if isinstance(f, Comparison) and quotient_asked_whole(f) in quotients:
                    yield op, f

    def all_asked(self, node: str | None) -> list[Formula]:
        """Return all requirements of a node on sizes."""
        return [f for op, asked in self._asked if op.origin == node for f in asked if symbols_in(f)]

    def failing(self, sizes: Sizes) -> list[Op]:
        """Return the operations that are not valid at the given sizes."""
        return [op for op, formulas in self._asked if not all(holds_at(f, sizes) for f in formulas)]


def _key(formula: Formula) -> Hashable:
    """Return a key that is equal for formulas that differ only in order."""
    match formula:
        case Comparison("==" | "!=" as operator, left, right):
            return operator, frozenset((left, right))
        case Comparison():
            return formula
        case AllOf(parts) | AnyOf(parts):
            return type(formula), frozenset(map(_key, parts))
        case _:
            return type(formula), frozenset(formula.dims)
