"""One broadcast of shapes, some of unknown rank: constraints that hold at every rank, over finitely many sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import join
from symbcast.core.algebra.formulas import Formula, definedness
from symbcast.core.algebra.symbols import Rest, mentions_rest
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.effort import kept_property
from symbcast.core.rules import Emission, OutputDim, Rule
from symbcast.core.rules.broadcast_rule import members_of, open_axes
from symbcast.core.rules.declaration import Constraint
from symbcast.core.shapes import Shape, any_shape_of, known_rank
from symbcast.core.solver.decision import Decision, collapsed_join
from symbcast.core.solver.evaluation import normal_conjuncts

if TYPE_CHECKING:
    from symbcast.core.programs.scope import Scope


class OpenRanks:
    """Operands of unknown rank under a rule.

    ``aligned`` are the sizes of the operands as the rule aligns them, with a single axis for all axes of a sequence
    that are not distinguished; ``emission`` is what the rule emits for these, once for each distinguished axis. The
    scope is unrolled accordingly.
    """

    def __init__(self, rule: Rule, operands: tuple[Shape, ...], scope: Scope) -> None:
        self.operands = operands
        self._rule = rule
        self._scope = scope
        dims = [s.dims for s in operands]
        self.aligned = tuple(map(tuple, rule.expand(dims)))
        rule.check_shapes(self.aligned)
        self._emitted = rule.emit_open([s.values for s in operands])
        unrolled = scope.unrolled or scope.unroll(self._requirements)
        constraints = [
            Constraint(formula, c.origin, c.why, c.details)
            for c in self._emitted.constraints
            for formula in unrolled.formulas(c.requirement)
        ]
        self.emission = Emission(constraints, self._emitted.output)
        # Why the answer is about some ranks only; empty where it is about all.
        self.reason = unrolled.reason

    @property
    def _requirements(self) -> list[Formula]:
        sizes = [need for dims in self.aligned for dim in dims if not isinstance(dim, int) for need in definedness(dim)]
        return [*sizes, *(c.requirement for c in self._emitted.constraints)]

    def check(self, question: str) -> None:
        """Raise `UnknownRankError` for a question that requires known ranks."""
        for operand in self.operands:
            known_rank(operand, question)

    @property
    def axes(self) -> int:
        """The number of axes of the aligned operands that represent several axes; they come first.

        Raises `UnknownRankError` if they do not come first, or if the answer covers only some ranks.
        """
        count = open_axes(self.emission.output)
        if count is None or self.reason:
            self.check("axes counted from the end")
        return count or 0

    @property
    def clauses(self) -> tuple[Formula, ...]:
        """The requirements, unsimplified; one requirement covers all axes of a sequence at once."""
        return tuple(normal_conjuncts(self._requirements))

    @kept_property
    def at_any_rank(self) -> Decision:
        """The decision on the requirements that hold at all ranks; only for an answer that covers only some ranks."""
        return Decision(*self._scope.at_any_rank(self._requirements))

    def aligned_output(self, decision: Decision) -> tuple[Dim, ...]:
        """Return the output with one size for each axis of the aligned operands."""
        return tuple(self._output_dim(dim, decision) for dim in self.emission.output)

    def _output_dim(self, dim: OutputDim, decision: Decision) -> Dim:
        members = members_of(dim)
        if any(map(mentions_rest, members)):
            # Two sequences may have the same sizes and yet differ in length.
            return join([m for m in members if not _is_empty(m, decision)] or members)
        return collapsed_join(members, self.at_any_rank if self.reason else decision)

    def output(self, sizes: Iterable[Dim], decision: Decision) -> Shape:
        """Return the output, without sequences that are known to have no axes."""
        # All axes of a base exist, so they need not be distinguished if nothing else is known about them.
        dims = self._rule.rolled([s.values for s in self.operands], tuple(sizes))
        return any_shape_of(d for d in dims if not _is_empty(d, decision))


def _is_empty(dim: Dim, decision: Decision) -> bool:
    """Return whether a sequence in an output is known to have no axes."""
    rests = [s for s in symbols_of((dim,)) if isinstance(s, Rest)]
    ranks = [(decision.fixed(s.sequence.rank), s.place) for s in rests]
    return bool(rests) and all(isinstance(rank, int) and rank <= place for rank, place in ranks)
