"""Where an operand of a broadcast is stretched: always, never, or at some of the valid sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from symbcast.core.algebra.arithmetic import value_of
from symbcast.core.algebra.formulas import FALSE, TRUE, Formula, all_of, any_of, equal, negate
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import CostedValue, compute_once, kept_property
from symbcast.core.programs.arguments import own_set
from symbcast.core.rules import Rule
from symbcast.core.rules.broadcast_rule import OutputDim, same_size
from symbcast.core.rules.placement import Dims
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.simplification.simplify import simplified
from symbcast.core.verdicts import HasVerdict, Possible, Verdict, possible

Known: TypeAlias = Literal["expanding", "nonexpanding", ""]
"""What StableHLO is given about an axis; empty if it depends on the sizes, or is undecided."""


@dataclass(frozen=True)
class AxisStretch(HasVerdict):
    """Whether and where one operand is stretched on one output axis.

    Attributes:
        decision: The decision whether it is stretched there at the valid sizes: its size is 1, and the output's is
            another. None if it never is.
        known: ``"nonexpanding"`` if its size is always the output's, else ``"expanding"`` if its size is always
            1, so that its only element stands for each of the output's.
        where: At which of the valid sizes it is stretched, as an unsimplified formula.
        assumptions: What is known about the valid sizes.
    """

    decision: Decision | None
    known: Known
    where: Formula
    assumptions: AssumptionSet

    @property
    def _possible(self) -> Possible:
        return (False, True) if self.decision is None else possible(self.decision.verdict)

    @property
    def reason(self) -> str:
        """Why something was not decided."""
        decided = (Verdict.ALWAYS, Verdict.NEVER)
        return "" if self.decision is None or self.verdict in decided else self.decision.reason

    @kept_property
    def formula(self) -> Formula:
        """The condition, without redundancy, under which the operand is stretched at valid sizes."""
        match self.verdict:
            case Verdict.ALWAYS:
                return TRUE
            case Verdict.NEVER:
                return FALSE
        return simplified(self.where, self.assumptions)


class ValidSizes:
    """The sizes at which an answer is valid under its assumptions; there must be some.

    ``decision`` is that of the answer, None if its sizes are integers. The other arguments are its symbols, their
    minimum size, the assumptions about them, and other formulas that must hold.
    """

    def __init__(
        self, symbols: Sequence[Symbol], min_size: int, formulas: Sequence[Formula], decision: Decision | None
    ) -> None:
        self._symbols = tuple(symbols)
        self._min_size = min_size
        self._formulas = formulas
        self._decision = decision
        self._known: dict[tuple[tuple[Dim, ...], OutputDim], CostedValue[AxisStretch] | None] = {}

    @kept_property
    def assumptions(self) -> AssumptionSet:
        """What is known about the sizes at which the answer is valid."""
        own = {s: own_set(s, self._min_size) for s in self._symbols}
        return AssumptionSet(self._symbols, own, self._formulas)

    def stretch(self, rule: Rule, operands: Sequence[Dims], operand: int, axis: int) -> AxisStretch:
        """Return where an operand is stretched on an output axis; on axes that it does not reach, its size is 1."""
        operands = [tuple(map(value_of, dims)) for dims in operands]
        places = rule.places([len(s) for s in operands]).of[operand]
        # Several only if the rule lays several of the operand's axes onto one.
        sizes = [size for place, size in zip(places, operands[operand], strict=False) if place == axis]
        return self.stretched(sizes or [1], rule.emit(operands).output[axis])

    def stretched(self, sizes: Sequence[Dim], output: OutputDim) -> AxisStretch:
        """Return where an operand's size is stretched to that of an output axis.

        >>> from symbcast.core.algebra.symbols import symbol
        >>> N = symbol("N")
        >>> found = ValidSizes([N], 2, [], None).stretched([1], N)
        >>> found.verdict, found.formula, found.known
        (<Verdict.ALWAYS: 'always'>, AllOf(()), 'expanding')
        """
        question = tuple(sizes), output
        found, self._known[question] = compute_once(self._known.get(question), lambda: self._stretched(*question))
        return found

    def _stretched(self, sizes: Sequence[Dim], output: OutputDim) -> AxisStretch:
        # What the decision fixes needs no further question: most axes are decided so.
        known_sizes = sizes if self._decision is None else [self._decision.fixed(size) for size in sizes]
        sames = [same_size(output, size) for size in known_sizes]
        ones = [equal(size, 1) if not isinstance(size, int) else TRUE if size == 1 else FALSE for size in known_sizes]
        same, one = all_of(sames), all_of(ones)
        where = any_of(all_of((o, negate(s))) for o, s in zip(ones, sames, strict=True))
        decision = None if where == FALSE else Decision(self.assumptions, [where])
        if decision is None or decision.verdict is Verdict.NEVER:
            return AxisStretch(None, "nonexpanding" if self._always(same) else "", FALSE, self.assumptions)
        known: Known = "expanding" if self._always(one) else ""
        return AxisStretch(decision, known, where, self.assumptions)

    def _always(self, formula: Formula) -> bool:
        if formula in (TRUE, FALSE):
            return formula == TRUE
        return Decision(self.assumptions, [formula]).verdict is Verdict.ALWAYS
