"""Answers about a whole program: the solver's view of it, and the operations that each conjunct comes from."""

from __future__ import annotations

from collections import ChainMap, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.core.algebra.arithmetic import replace_symbols
from symbcast.core.algebra.formulas import FALSE, Compatible, Formula, all_of, negate
from symbcast.core.algebra.symbols import Rest, sequences_of
from symbcast.core.algebra.terms import Symbol
from symbcast.core.characters import visible
from symbcast.core.effort import CostedValue, Tier, compute_once, is_spent, kept_property
from symbcast.core.programs.arguments import LONG_TEXT, assumption_set, own_set
from symbcast.core.programs.operations import Op, operation_requirements
from symbcast.core.programs.stretching import ValidSizes
from symbcast.core.solver.counterexamples import ClauseFailures, smallest_conflict
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import names_in_order, normal_conjuncts, symbols_in
from symbcast.core.solver.f4_products.propagation import propagated
from symbcast.core.solver.groups import TiedSymbols
from symbcast.core.solver.points import Point, smallest_of
from symbcast.core.solver.simplification.factoring import factored, without_extremes
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import dim_text, formula_text
from symbcast.core.verdicts import HasVerdict, Possible, Verdict, possible, within_bound

if TYPE_CHECKING:
    from symbcast.core.account import SamplePoints
    from symbcast.core.programs.state import ProgramState
    from symbcast.core.programs.unknown_rank import UnrolledSequences


class ProgramView:
    """The sizes of a program, ``symbols``, and the facts known about them, ``assumed``.

    ``unrolled`` says how many axes of each sequence are distinguished; None if the program has no sequences.
    """

    def __init__(self, state: ProgramState, unrolled: UnrolledSequences | None = None) -> None:
        order = state.names.order
        self.unrolled = unrolled
        self.symbols = tuple(order) if unrolled is None else (*unrolled.symbols(order), *unrolled.hidden)
        self._assumptions = state.assumptions if unrolled is None else unrolled.known(state.assumptions)
        self._min_size = state.min_size

    @staticmethod
    def of(state: ProgramState, mentioned: Iterable[Formula] = ()) -> ProgramView:
        """Return the solver's view of a program in its present state; axes in ``mentioned`` are distinguished too."""
        sequences = sequences_of(state.names.order)
        if not sequences:
            return ProgramView(state)
        from symbcast.core.programs.unknown_rank import UnrolledSequences

        required = [formula for op in state.ops for formula in operation_requirements(op)]
        assumed = [a.formula for a in state.assumptions]
        return ProgramView(state, UnrolledSequences([*required, *assumed, *mentioned], sequences, state.min_size))

    @kept_property
    def assumption_set(self) -> AssumptionSet:
        """The facts known about the sizes; raises `AssumptionError` if the assumptions contradict each other."""
        return assumption_set(self.symbols, self._assumptions, self._min_size)

    @property
    def assumed(self) -> list[Formula]:
        """The assumptions, and the facts about sizes that follow from ranks."""
        return [a.formula for a in self._assumptions]

    @property
    def bound(self) -> str:
        """Why the answer covers only some ranks; empty if it covers all."""
        return "" if self.unrolled is None else self.unrolled.reason

    def seen(self, formulas: Iterable[Formula]) -> list[Formula]:
        """Return formulas in the symbols of this view."""
        if self.unrolled is None:
            return list(formulas)
        return [instance for formula in formulas for instance in self.unrolled.formulas(formula)]

    def needs(self, op: Op) -> tuple[Formula, ...]:
        """Return the requirements of an operation as distinct clauses."""
        required = operation_requirements(op)
        return required if self.unrolled is None else tuple(dict.fromkeys(self.seen(required)))

    def named(self, sizes: Mapping[Symbol, int], names: Mapping[Symbol, str]) -> dict[str, int]:
        """Return sizes by name; the axes of a sequence are combined, as in ``batch=(2, 3)``."""
        if self.unrolled is None:
            return {name: sizes[s] for s, name in names.items()}
        return self.unrolled.named(sizes, names)


Needs: TypeAlias = "Callable[[Op], tuple[Formula, ...]]"
"""Returns the requirements of an operation as distinct clauses, in the symbols of the decision."""


def clashing_operations(state: ProgramState, assumptions: AssumptionSet, needs: Needs) -> tuple[Op, ...]:
    """Return the fewest operations that cannot hold together, in order."""
    groups = _distinct((op for op in state.ops if op.kind != "assume"), needs)
    refused = [state.ops[n] for n in state.refused]
    # Everything before the first refused operation can hold, so if only one was refused, it is in every clash.
    required = [n for n, (op, _) in enumerate(groups) if len(refused) == 1 and op is refused[0]]
    clash = smallest_conflict([needed for _, needed in groups], assumptions, required, state.sizes())
    return tuple(groups[n][0] for n in clash)


def clashing_clauses(
    ops: Sequence[Op], assumptions: AssumptionSet, needs: Needs
) -> tuple[tuple[Op, tuple[Formula, ...]], ...]:
    """Return the fewest clauses of some operations that cannot hold together, by operation."""
    required = [(op, clause) for op in ops for clause in needs(op)]
    # The operations are the fewest that cannot hold together, so each of them requires one of these clauses: as many
    # clauses as operations need no search.
    clash = smallest_conflict([(clause,) for _, clause in required], assumptions) if len(required) > len(ops) else ()
    clashing = [required[n] for n in clash] or required
    return tuple((op, tuple(clause for other, clause in clashing if other is op)) for op in ops)


class Origins:
    """Finds the operations that the conjuncts of a condition come from."""

    def __init__(self, state: ProgramState, order: Iterable[Symbol], assumed: Sequence[Formula], needs: Needs) -> None:
        self._min_size = state.min_size
        self._assumed = [f for f in assumed if symbols_in(f)]
        self._ties = TiedSymbols(order)
        self._ties.tie(self._assumed)
        required = [(op, [f for f in needs(op) if symbols_in(f)]) for op in state.ops if op.kind != "assume"]
        for _, formulas in required:
            self._ties.tie(formulas)
        self._asking: dict[Hashable, list[Op]] = defaultdict(list)
        self._near: dict[Symbol, dict[tuple[Formula, ...], Op]] = defaultdict(dict)
        for op, formulas in required:
            for formula in formulas:
                self._asking[_key(formula)].append(op)
            for root, tied in self._ties.sorted(formulas).items():
                self._near[root].setdefault(tuple(tied), op)
        self._known: dict[tuple[Symbol, ...], CostedValue[AssumptionSet] | None] = {}
        self._members = dict(self._ties.all())

    def of(self, clause: Formula) -> tuple[tuple[Op, ...], bool]:
        """Return the operations that require a clause, or else the fewest that imply it, and which of the two it is."""
        asking = self._asking.get(_key(clause))
        if asking:
            return tuple(asking), True

        # Only operations that share symbols with the clause, directly or through others, can be relevant to it.
        # A clause may be about sizes that only the condition as a whole ties: as one of several alternatives.
        roots = tuple(dict.fromkeys(map(self._ties.find, symbols_in(clause))))
        near = self._near[roots[0]]
        if len(roots) > 1:
            joined = (item for root in roots for item in self._near[root].items())
            near = dict(sorted(joined, key=lambda item: item[1].number))
        groups = [*near, (negate(clause),)]
        implying = smallest_conflict(groups, self._assumptions(roots), required=(len(near),))
        implying = implying or tuple(range(len(groups)))  # together they imply it, even if a smaller set might
        ops = list(near.values())
        return tuple(ops[n] for n in implying if n < len(ops)), False

    def _assumptions(self, roots: tuple[Symbol, ...]) -> AssumptionSet:
        def known() -> AssumptionSet:
            symbols = [s for root in roots for s in self._members[root]]
            assumed = [f for f in self._assumed if not symbols_in(f).keys().isdisjoint(symbols)]
            return AssumptionSet(symbols, {s: own_set(s, self._min_size) for s in symbols}, assumed)

        found, self._known[roots] = compute_once(self._known.get(roots), known)
        return found


def _distinct(ops: Iterable[Op], needs: Needs) -> list[tuple[Op, Sequence[Formula]]]:
    """Return the first operation of each distinct set of requirements, and these requirements."""
    first: dict[tuple[Formula, ...], Op] = {}
    for op in ops:
        needed = needs(op)
        if needed:
            first.setdefault(needed, op)
    return [(op, needed) for needed, op in first.items()]


def _key(formula: Formula) -> Hashable:
    """Return a key that is equal for formulas that differ only in order."""
    return frozenset(formula.dims) if isinstance(formula, Compatible) else formula


class ProgramRequirement(NamedTuple):
    """A conjunct of a program's condition, and the operations that it comes from, in order.

    The origins are the operations that each require it, or otherwise the fewest that together imply it.
    """

    condition: Formula
    origins: tuple[Op, ...]
    is_direct: bool = True
    """Whether each origin requires it by itself."""

    def __repr__(self) -> str:
        return f"<Requirement {visible(str(self))}>"

    def __str__(self) -> str:
        return f"{formula_text(self.condition)} [{', '.join(op.name for op in self.origins)}]"


class ProgramAnswers(HasVerdict):
    """The answers about a program in its present state; created again when the program grows.

    ``known`` is a decision made elsewhere, perhaps of the same question.
    """

    def __init__(self, state: ProgramState, known: Decision | None = None) -> None:
        self.state = state
        self._known = known
        self.extent = program_extent(state)
        self.view = ProgramView.of(state)
        _ = self.view.assumption_set  # raises for assumptions that contradict each other
        self._breaks: ClauseFailures | None = None
        self._named_witness: dict[str, int] | None = None
        self._samples: CostedValue[SamplePoints] | None = None

    @kept_property
    def decision(self) -> Decision:
        """The decision that the answers rest on."""
        required = [FALSE] if self.state.refused else self.view.seen(_in_order(self.state))
        if self._known is not None and self._known.is_taken_over(self.view.assumption_set, required):
            return self._known
        return Decision(self.view.assumption_set, required)

    @kept_property
    def shortest(self) -> Decision:
        """The decision whose clauses are shown: if they are long, one more about them, as they simplify each other."""
        first = self.decision
        length = _length(first.clauses)
        if length <= LONG_TEXT or first.satisfiable is None:
            return first
        least = {s: members.least() or 0 for s, members in first.sets.items()}
        single = [clause for clause in first.clauses if len(symbols_in(clause)) == 1]
        tied = [clause for clause in first.clauses if len(symbols_in(clause)) != 1]
        if _length([*single, *propagated(tied, least, single)]) >= length:
            return first
        again = Decision(self.view.assumption_set, first.clauses)
        is_better = _length(again.clauses) < length and len(again.unproven) <= len(first.unproven)
        return again if is_better else first

    @kept_property
    def _shown(self) -> Sequence[Formula]:
        """The conjuncts of the condition; if they are long, in a form that writes once what they share."""
        shortest = self.shortest
        if _length(shortest.clauses) <= LONG_TEXT or shortest.unproven:
            return shortest.clauses
        shorter = factored(shortest.clauses, self.view.assumption_set.domains)
        return shorter if _length(shorter) <= LONG_TEXT else without_extremes(shorter, self.view.assumption_set)

    @property
    def _possible(self) -> Possible:
        # A refused operation clashes at any rank.
        bound = "" if self.state.refused else self.view.bound
        return possible(within_bound(self.decision.verdict, bound))

    def samples(self) -> tuple[dict[str, int] | None, dict[str, int] | None]:
        """Return sizes by name at which every operation is valid, and at which one is not: see `samples_of`."""
        from symbcast.core.account import samples_of

        samples, self._samples = compute_once(self._samples, lambda: samples_of(self.decision))
        return self.named(samples.working), self.named(samples.failing)

    @property
    def clauses(self) -> Sequence[Formula]:
        """The conjuncts of the condition; none when it is true."""
        return self._shown if not self.view.bound else normal_conjuncts(_in_order(self.state))

    @property
    def unproven(self) -> Collection[Formula]:
        """The conjuncts that may be redundant: whether the others imply them is undecided."""
        return self.shortest.unproven if not self.view.bound else self.clauses

    @property
    def tiers(self) -> dict[Tier, list[str]]:
        """The tiers that decided the program, each with the names of the sizes concerned."""
        return self.decision.tiers(self.state.names.shown)

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
        decision = self.decision
        point = evidence(decision)
        if not decision.evidence_reason or self.shortest is decision:
            return point
        return smallest_of(decision.assumptions.symbols, [point, evidence(self.shortest)])

    def named(self, sizes: Mapping[Symbol, int] | None) -> dict[str, int] | None:
        """Return sizes by their display names."""
        return None if sizes is None else self.view.named(sizes, self.state.names.shown)

    @kept_property
    def conflict(self) -> tuple[Op, ...]:
        """The fewest operations that cannot hold together; empty unless the verdict is never."""
        if self.verdict is not Verdict.NEVER:
            return ()
        return clashing_operations(self.state, self.view.assumption_set, self.view.needs)

    @kept_property
    def clashes(self) -> tuple[ProgramRequirement, ...]:
        """The requirements of the conflicting operations that clash, and no others."""
        parts = clashing_clauses(self.conflict, self.view.assumption_set, self.view.needs)
        return tuple(ProgramRequirement(all_of(clauses), (op,)) for op, clauses in parts)

    @kept_property
    def valid_sizes(self) -> ValidSizes:
        """The sizes at which the program is valid."""
        formulas = [*self.view.assumed, *self.clauses]
        return ValidSizes(self.view.symbols, self.state.min_size, formulas, self.decision)

    def valid_sizes_of(self, sizes: Iterable[Symbol]) -> ValidSizes:
        """Return `valid_sizes` with additional sizes, which may be unconstrained."""
        if self.view.unrolled is None:
            return self.valid_sizes
        others = [s for s in sizes if not isinstance(s, Rest) and s not in self.view.symbols]
        if not others:
            return self.valid_sizes
        view = ProgramView.of(self.state, [Compatible(tuple(others))])
        return ValidSizes(view.symbols, self.state.min_size, [*view.assumed, *view.seen(self.clauses)], None)

    def failing(self, clause: Formula) -> dict[str, int] | None:
        """Return the smallest sizes at which a formula fails, whether or not other requirements hold."""
        if is_spent():
            return None
        return self.named(Decision(self.view.assumption_set, [clause]).counterexample())

    @kept_property
    def _origins(self) -> Origins:
        view = self.view
        return Origins(self.state, view.symbols, view.assumed, view.needs)

    def requirement(self, clause: Formula) -> ProgramRequirement:
        """Return a conjunct of the condition with the operations that it comes from."""
        return ProgramRequirement(clause, *self._origins.of(clause))

    def breaking(self, clause: Formula) -> Mapping[str, int] | None:
        """Return the smallest sizes at which a conjunct fails while all others hold, if possible.

        A `ChainMap` of the sizes that differ from those of the witness, and these.
        """
        if is_spent():
            return None
        decision = self.shortest
        if self._breaks is None or self._breaks.decision is not decision:
            self._breaks, self._named_witness = ClauseFailures(decision, self._shown), None
        sizes = self._breaks.at(clause)
        if not isinstance(sizes, ChainMap) or self.view.unrolled is not None:
            return self.named(sizes)
        if self._named_witness is None:
            self._named_witness = self.named(sizes.maps[-1]) or {}
        names, changed = self.state.names.shown, sizes.maps[0]
        return ChainMap({names[s]: size for s, size in changed.items() if s in names}, self._named_witness)

    @kept_property
    def requirements(self) -> tuple[ProgramRequirement, ...]:
        """The conjuncts of the condition with the operations that they come from, ordered by their first operation."""
        clauses = [] if self.verdict is Verdict.NEVER else self._shown
        return tuple(sorted(map(self.requirement, clauses), key=lambda r: [op.number for op in r.origins[:1]]))


def _length(clauses: Iterable[Formula]) -> int:
    """Return the length of a condition as text."""
    return len(formula_text(all_of(clauses)))


def _in_order(state: ProgramState) -> list[Formula]:
    """Return the standing requirements, with the names of each join in the program's order."""
    # Programs held as masks (`symbcast.core.solver.f1_names.many_broadcasts`) know no other order, and must say the
    # same.
    places: dict[Any, int] = {s: n for n, s in enumerate(state.names.order)}
    return [_join_in_order(f, places) if isinstance(f, Compatible) else f for f in state.standing]


def _join_in_order(join: Compatible, places: Mapping[Any, int]) -> Compatible:
    """Return a join with its names in the order of their places; its terms in that of the places of their names."""
    if all(m in places for m in join.dims):
        return Compatible(tuple(sorted(join.dims, key=places.__getitem__)))
    terms = [d for d in join.dims if d not in places]
    if len(terms) < 2:
        return join
    # Terms are sorted by names where they are made: under names by place, that order does not depend on the names.
    names = names_in_order(tuple(places))
    ordered = iter(sorted(terms, key=lambda d: dim_text(replace_symbols(d, names))))
    return Compatible(tuple(d if d in places else next(ordered) for d in join.dims))


def program_extent(state: ProgramState) -> tuple[int, int]:
    """Return the number of operations and the number of sizes that the answers cover."""
    return len(state.ops), len(state.names.order)


def check_assumptions(state: ProgramState) -> None:
    """Raise `AssumptionError` if the assumptions contradict each other, naming the fewest that do."""
    _ = ProgramView.of(state).assumption_set


def check_sizes(state: ProgramState, known: int) -> None:
    """Raise `AssumptionError` if a size added after the first ``known`` ones has no possible value."""
    order = state.names.order
    added = islice(reversed(order), len(order) - known)
    new = [s for s in added if type(s) is not Symbol and not own_set(s, state.min_size)]
    if new:
        assumption_set(new, (), state.min_size)
