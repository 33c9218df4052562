"""Where a run stops at some sizes: the first operation whose own requirements fail there."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.explanation.names import Namer
from symbcast.core.effort import EffortSpentError, share
from symbcast.core.logic.formulas import Formula, all_of
from symbcast.core.program.operations.needs import needs
from symbcast.core.program.sizes.premises import knowledge
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.errors import AssumptionError

if TYPE_CHECKING:
    from symbcast.answers.report.failures import Sizes
    from symbcast.core.program.operations.operation import Op
    from symbcast.core.program.whole.program import Program

_EFFORT = 100_000
"""Units for one requirement: it is shown as it is if that does not suffice to simplify it."""


class Stop(NamedTuple):
    """An operation that fails at some sizes, and its own requirement that fails there, as text."""

    op: Op
    requirement: str


class Stops:
    """Where runs of a program stop: each requirement with the first operation that has it, in order."""

    def __init__(self, program: Program) -> None:
        self._program = program

    @cached_property
    def _required(self) -> list[tuple[Formula, Op]]:
        """The requirements; a long program repeats most of its operations, and with them their requirements."""
        met: set[Hashable] = set()
        found: dict[Formula, Op] = {}
        for op in self._program.operations:
            key = (op.kind, op.rule, *[s.dims for s in op.operands]) if op.formula is None else op.formula
            if key not in met:
                met.add(key)
                for formula in needs(op):
                    found.setdefault(formula, op)
        return list(found.items())

    def first(self, sizes: Sizes) -> tuple[Formula, Op] | None:
        """Return the first requirement that fails at some sizes and its operation; None if none is known to fail.

        Requirements on sizes that are not given are left out.
        """
        for formula, op in self._required:
            if symbols_in(formula).keys() <= sizes.keys() and not holds_at(formula, sizes):
                return formula, op
        return None


def first_stop(program: Program, sizes: Sizes) -> Stop | None:
    """Return where a run of a program stops at some sizes; None if no operation is known to fail."""
    found = Stops(program).first(sizes)
    if found is None:
        return None
    formula, op = found
    return Stop(op, Namer.of(program.shown).formula(_simplified(program, formula)))


def _simplified(program: Program, formula: Formula) -> Formula:
    met = tuple(symbols_in(formula))
    about = [a for a in program.assumptions if symbols_in(a.formula).keys() <= {*met}]
    try:
        with share(_EFFORT):
            return all_of(Decision(knowledge(met, about, program.min_size), [formula]).clauses)
    except (AssumptionError, EffortSpentError):
        return formula
