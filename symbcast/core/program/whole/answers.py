"""Answers about a whole program, decided from its requirements, except those that a later one implies."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.sequences import Rest
from symbcast.core.algebra.symbols import Symbol
from symbcast.core.characters import visible
from symbcast.core.effort import is_spent
from symbcast.core.logic.formulas import FALSE, Compatible, Formula, all_of
from symbcast.core.program.calls.expansion import ValidSizes
from symbcast.core.program.limits import LONG
from symbcast.core.program.operations.operation import Op
from symbcast.core.program.sizes.premises import knowledge, own_set
from symbcast.core.program.whole.origins import Origins, clash, clashing_clauses
from symbcast.core.program.whole.views import View
from symbcast.core.solver.budget import once, was_stopped
from symbcast.core.solver.decision.counterexamples import Breaks
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.groups.normal_form import flattened, symbols_in
from symbcast.core.solver.products.propagation import propagated
from symbcast.core.solver.sets.smallest import smallest
from symbcast.core.solver.simplification.candidates import without_extremes
from symbcast.core.solver.simplification.factoring import factored
from symbcast.core.text.printing import formula_text
from symbcast.core.verdicts import Verdict, within_bound

if TYPE_CHECKING:
    from symbcast.core.effort import Kept
    from symbcast.core.fallback_points import Samples
    from symbcast.core.program.whole.trace import Trace
    from symbcast.core.solver.answer import Tier
    from symbcast.core.solver.sets.smallest import Point


class Requirement(NamedTuple):
    """A conjunct of a program's condition, and the operations that it comes from, in order.

    The origins are the operations that each require it, or otherwise the fewest that together imply it.
    """

    condition: Formula
    origins: tuple[Op, ...]
    is_asked: bool = True
    """Whether each origin requires it by itself."""

    def __repr__(self) -> str:
        return f"<Requirement {visible(str(self))}>"

    def __str__(self) -> str:
        return f"{formula_text(self.condition)} [{', '.join(op.name for op in self.origins)}]"


class Answers:
    """The answers about a trace in its present state; created again when the trace grows.

    ``known`` is a decision made elsewhere, perhaps of the same question.
    """

    def __init__(self, trace: Trace, known: Decision | None = None) -> None:
        self.trace = trace
        self._known = known
        self.extent = extent(trace)
        self.view = View.of(trace)
        self.knowledge = self.view.knowledge
        self._decision: Kept[Decision] | None = None
        self._shortest: Kept[Decision] | None = None
        self._written: Kept[Sequence[Formula]] | None = None
        self._conflict: tuple[Op, ...] | None = None
        self._clashes: tuple[Requirement, ...] | None = None
        self._origins: Origins | None = None
        self._requirements: tuple[Requirement, ...] | None = None
        self._breaks: Breaks | None = None
        self._named_witness: dict[str, int] | None = None
        self._samples: Samples | None = None

    @property
    def decision(self) -> Decision:
        """The decision that the answers rest on."""
        found, self._decision = once(self._decision, self._decide)
        return found

    def _decide(self) -> Decision:
        asked = [FALSE] if self.trace.refused else self.view.seen(_in_order(self.trace))
        if self._known is not None and self._known.is_taken_over(self.knowledge, asked):
            return self._known
        return Decision(self.knowledge, asked)

    @property
    def shortest(self) -> Decision:
        """The decision whose clauses are shown: if they are long, one more about them, as they simplify each other."""
        found, self._shortest = once(self._shortest, self._decide_again)
        return found

    def _decide_again(self) -> Decision:
        found = self.decision
        length = _length(found.clauses)
        if length <= LONG or found.satisfiable is None:
            return found
        least = {s: members.least() or 0 for s, members in found.wanted.items()}
        single = [clause for clause in found.clauses if len(symbols_in(clause)) == 1]
        tied = [clause for clause in found.clauses if len(symbols_in(clause)) != 1]
        if _length([*single, *propagated(tied, least, single)]) >= length:
            return found
        again = Decision(self.knowledge, found.clauses)
        is_better = _length(again.clauses) < length and len(again.unproven) <= len(found.unproven)
        return again if is_better else found

    @property
    def _shown(self) -> Sequence[Formula]:
        """The conjuncts of the condition; if they are long, in a form that writes once what they share."""
        found, self._written = once(self._written, self._write)
        return found

    def _write(self) -> Sequence[Formula]:
        found = self.shortest
        if _length(found.clauses) <= LONG or found.unproven:
            return found.clauses
        shorter = factored(found.clauses, self.knowledge.domains)
        return shorter if _length(shorter) <= LONG else without_extremes(shorter, self.knowledge)

    @property
    def verdict(self) -> Verdict:
        """Whether the program is valid always, sometimes, never, or it is unknown."""
        found = self.decision.verdict
        return within_bound(found, self.view.bound) if not self.trace.refused else found

    def samples(self) -> tuple[dict[str, int] | None, dict[str, int] | None]:
        """Return sizes by name at which every operation is valid, and at which one is not: see `samples_of`."""
        from symbcast.core.fallback_points import samples_of

        found = self._samples
        if found is None:
            found = samples_of(self.decision)
            self._samples = None if was_stopped() else found
        return self.named(found.working), self.named(found.failing)

    @property
    def clauses(self) -> Sequence[Formula]:
        """The conjuncts of the condition; none when it is true."""
        return self._shown if not self.view.bound else flattened(_in_order(self.trace))

    @property
    def unproven(self) -> Collection[Formula]:
        """The conjuncts that may be redundant: whether the others imply them is undecided."""
        return self.shortest.unproven if not self.view.bound else self.clauses

    @property
    def tiers(self) -> dict[Tier, list[str]]:
        """The tiers that decided the program, each with the names of the sizes concerned."""
        return self.decision.tiers(self.trace.names.shown)

    @property
    def reason(self) -> str:
        """Why something is unknown or unproven."""
        return self.shortest.reason or self.view.bound

    @property
    def evidence_reason(self) -> str:
        """Why a witness or counterexample may not be the smallest."""
        return self.decision.evidence_reason and self.shortest.evidence_reason

    def witness(self) -> dict[str, int] | None:
        """Return the smallest sizes at which every operation is valid, by name."""
        return self.named(self._smallest(Decision.witness))

    def counterexample(self) -> dict[str, int] | None:
        """Return the smallest sizes at which some operation is not valid, by name."""
        return self.named(self._smallest(Decision.counterexample))

    def _smallest(self, evidence: Callable[[Decision], Point | None]) -> Point | None:
        """Return evidence; if it may not be the smallest, that of the shorter clauses is searched for too."""
        found = self.decision
        point = evidence(found)
        if not found.evidence_reason or self.shortest is found:
            return point
        return smallest(found.knowledge.symbols, [point, evidence(self.shortest)])

    def named(self, sizes: Mapping[Symbol, int] | None) -> dict[str, int] | None:
        """Return sizes by their display names."""
        return None if sizes is None else self.view.named(sizes, self.trace.names.shown)

    @property
    def conflict(self) -> tuple[Op, ...]:
        """The fewest operations that cannot hold together; empty unless the verdict is never."""
        if self._conflict is None:
            self._conflict = (
                () if self.verdict is not Verdict.NEVER else clash(self.trace, self.knowledge, self.view.needs)
            )
        return self._conflict

    @property
    def clashes(self) -> tuple[Requirement, ...]:
        """The requirements of the conflicting operations that clash, and no others."""
        if self._clashes is None:
            parts = clashing_clauses(self.conflict, self.knowledge, self.view.needs)
            self._clashes = tuple(Requirement(all_of(clauses), (op,)) for op, clauses in parts)
        return self._clashes

    @cached_property
    def valid_sizes(self) -> ValidSizes:
        """The sizes at which the program is valid."""
        trace = self.trace
        formulas = [*self.view.assumed, *self.clauses]
        return ValidSizes(self.view.symbols, trace.min_size, formulas, self.decision)

    def valid_sizes_of(self, sizes: Iterable[Symbol]) -> ValidSizes:
        """Return `valid_sizes` with additional sizes, which may be unconstrained."""
        if self.view.unrolled is None:
            return self.valid_sizes
        others = [s for s in sizes if not isinstance(s, Rest) and s not in self.view.symbols]
        if not others:
            return self.valid_sizes
        view = View.of(self.trace, [Compatible(tuple(others))])
        return ValidSizes(view.symbols, self.trace.min_size, [*view.assumed, *view.seen(self.clauses)], None)

    def failing(self, clause: Formula) -> dict[str, int] | None:
        """Return the smallest sizes at which a formula fails, whether or not other requirements hold."""
        if is_spent():
            return None
        return self.named(Decision(self.knowledge, [clause]).counterexample())

    def requirement(self, clause: Formula) -> Requirement:
        """Return a conjunct of the condition with the operations that it comes from."""
        if self._origins is None:
            view = self.view
            self._origins = Origins(self.trace, view.symbols, view.assumed, view.needs)
        return Requirement(clause, *self._origins.of(clause))

    def breaking(self, clause: Formula) -> Mapping[str, int] | None:
        """Return the smallest sizes at which a conjunct fails while all others hold, if possible.

        A `ChainMap` of the sizes that differ from those of the witness, and these.
        """
        if is_spent():
            return None
        decision = self.shortest
        if self._breaks is None or self._breaks.decision is not decision:
            self._breaks, self._named_witness = Breaks(decision, self._shown), None
        sizes = self._breaks.at(clause)
        if not isinstance(sizes, ChainMap) or self.view.unrolled is not None:
            return self.named(sizes)
        if self._named_witness is None:
            self._named_witness = self.named(sizes.maps[-1]) or {}
        names, changed = self.trace.names.shown, sizes.maps[0]
        return ChainMap({names[s]: size for s, size in changed.items() if s in names}, self._named_witness)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The conjuncts of the condition with the operations that they come from, ordered by their first operation."""
        if self._requirements is None:
            clauses = [] if self.verdict is Verdict.NEVER else self._shown
            found = map(self.requirement, clauses)
            self._requirements = tuple(sorted(found, key=lambda r: [op.number for op in r.origins[:1]]))
        return self._requirements


def _length(clauses: Iterable[Formula]) -> int:
    """Return the length of a condition as text."""
    return len(formula_text(all_of(clauses)))


def _in_order(trace: Trace) -> list[Formula]:
    """Return the standing requirements, with the names of each join in the program's order.

    This matches programs held as masks (`symbcast.core.program.whole.mask_program`), which know no other order.
    """
    places: dict[Any, int] = {s: n for n, s in enumerate(trace.names.order)}
    return [
        Compatible(tuple(sorted(f.dims, key=places.__getitem__)))
        if isinstance(f, Compatible) and all(m in places for m in f.dims)
        else f
        for f in trace.standing
    ]


def extent(trace: Trace) -> tuple[int, int]:
    """Return the number of operations and the number of sizes that the answers cover."""
    return len(trace.ops), len(trace.names.order)


def check_assumptions(trace: Trace) -> None:
    """Raise `AssumptionError` if the assumptions contradict each other, naming the fewest that do."""
    _ = View.of(trace).knowledge


def check_sizes(trace: Trace, known: int) -> None:
    """Raise `AssumptionError` if a size added after the first ``known`` ones has no possible value."""
    order = trace.names.order
    added = islice(reversed(order), len(order) - known)
    new = [s for s in added if type(s) is not Symbol and not own_set(s, trace.min_size)]
    if new:
        knowledge(new, (), trace.min_size)
