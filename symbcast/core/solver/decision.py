"""Constraints decided under assumptions: which tier decides which formulas, cheapest first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

from symbcast.core.algebra.arithmetic import join, replace_symbols, without_joins_with_one
from symbcast.core.algebra.formulas import FALSE, Comparison, Formula, clauses, dims_of
from symbcast.core.algebra.terms import Dim, Operation, Symbol, symbols_of, term
from symbcast.core.effort import (
    DECIDED,
    CostedValue,
    Effort,
    EffortSpentError,
    Tier,
    budget_share,
    charge,
    compute_once,
    counting,
    stop_reason,
    was_stopped,
)
from symbcast.core.effort import current as current_effort
from symbcast.core.solver.evaluation import (
    as_relation,
    names_in_order,
    normal_conjuncts,
    replace_in_formula,
    symbols_in,
)
from symbcast.core.solver.f1_names.relations import Relation
from symbcast.core.solver.f2_one_size.decided_terms import DecidedTerms, decided_alone, solved_composites
from symbcast.core.solver.f2_one_size.set_formulas import set_formula, shortest_set_formula
from symbcast.core.solver.f2_one_size.set_products import divided_by_boxes, split_by_symbol
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.f4_products.propagation import propagated
from symbcast.core.solver.groups import RelationGroup, SingleSymbolGroup, SymbolGroup, TiedSymbols, UndecidedGroup
from symbcast.core.solver.points import point_cost
from symbcast.core.solver.repeats import RepeatedGroup, Repeats, one_copy, repeats_of
from symbcast.core.solver.residues import PeriodTooLongError
from symbcast.core.solver.size_sets import ALL, SizeSet
from symbcast.core.structs import NamedTuple
from symbcast.core.verdicts import HasVerdict, Possible

if TYPE_CHECKING:
    from symbcast.core.solver.linear_groups import IsomorphicGroups


NO_WEIGHTS: Mapping[Symbol, int] = MappingProxyType({})


class ContradictionError(Exception):
    """The assumptions cannot all hold."""


class AssumptionSet:
    """Assumptions, split into their parts.

    ``domains`` holds the set of each remaining symbol; ``values`` gives the value of the other symbols (a size, or the
    symbol that represents them); ``others`` holds the assumptions that tie several symbols together; ``stated`` is the
    same as a set; ``weights`` is the number of symbols that each remaining one represents. Those given are of symbols
    that already represent others.
    """

    def __init__(
        self,
        symbols: Sequence[Symbol],
        domains: Mapping[Symbol, SizeSet],
        assumptions: Iterable[Formula],
        weights: Mapping[Symbol, int] = NO_WEIGHTS,
    ) -> None:
        self.symbols = tuple(symbols)
        self.domains: dict[Symbol, SizeSet] = {s: domains.get(s, ALL) for s in symbols}
        self.values: dict[Symbol, Dim] = {}
        self.weights: dict[Symbol, int] = dict.fromkeys(symbols, 1)
        if weights:
            self.weights.update((s, weights.get(s, 1)) for s in symbols)
        self.others: list[Formula] = []
        self._take_sizes()
        pending = list(assumptions)
        while pending:
            self.others = []
            before = len(self.values)
            for clause in normal_conjuncts(replace_in_formula(f, self.values) for f in pending):
                self._take(clause)
            self._take_sizes()
            if len(self.values) == before:
                break
            pending = self.others
        if any(not domain for domain in self.domains.values()):
            raise ContradictionError
        self._check_others()
        self.stated: frozenset[Formula] = frozenset(self.others)

    @classmethod
    def of_names(cls, symbols: Sequence[Symbol]) -> Self:
        """Return that nothing is known about some sizes."""
        known = cls.__new__(cls)
        known.symbols, known.domains = tuple(symbols), dict.fromkeys(symbols, ALL)
        known.values, known.weights = {}, dict.fromkeys(symbols, 1)
        known.others, known.stated = [], frozenset()
        return known

    def renamed(self, names: Mapping[Symbol, Symbol]) -> AssumptionSet:
        """Return the same assumptions about other symbols."""
        known = AssumptionSet.of_names([names[s] for s in self.symbols])
        known.domains = {names[s]: domain for s, domain in self.domains.items()}
        known.values = {names[s]: replace_symbols(v, names) for s, v in self.values.items()}
        known.weights = {names[s]: weight for s, weight in self.weights.items()}
        known.others = [replace_in_formula(f, names) for f in self.others]
        known.stated = frozenset(known.others)
        return known

    def is_same(self, other: AssumptionSet) -> bool:
        """Return whether the same is known about the same symbols, in the same order."""
        if self is other:
            return True
        ours, theirs = ((k.domains, k.values, k.weights) for k in (self, other))
        return self.symbols == other.symbols and self.others == other.others and ours == theirs

    def _check_others(self) -> None:
        """Raise `ContradictionError` if the assumptions that tie symbols together provably contradict each other."""
        if not self.others:
            return
        from symbcast.core.solver.linear_groups import IsomorphicGroups

        tied = {s for f in self.others for s in symbols_in(f)}
        symbols = [s for s in self.symbols if s in tied]
        try:
            with budget_share(DECIDED):
                can_hold = IsomorphicGroups(self.domains, self.weights).decide(symbols, self.others, []).satisfiable
        except EffortSpentError:
            return
        if can_hold is False:
            raise ContradictionError

    def _take(self, clause: Formula) -> None:
        if clause == FALSE:
            raise ContradictionError
        # Two equalities of one round may concern the same symbols: substitute the first into the second.
        clause = replace_in_formula(clause, self.values)
        symbols = symbols_in(clause)
        if len(symbols) == 1:
            (symbol,) = symbols
            narrowed = narrowed_set(self.domains[symbol], clause)
            if narrowed is not None:
                self.domains[symbol] = narrowed
                return
        match clause:
            case Comparison("==", left, right) if len(symbols) == 2 and left in symbols and right in symbols:
                if not self._merge(*symbols):
                    self.others.append(clause)
            case _:
                sets = split_by_symbol(clause, self.domains)
                if sets is None:
                    self.others.append(clause)
                else:
                    self.domains.update(sets)

    def _merge(self, first: Symbol, gone: Symbol) -> bool:
        """Merge two symbols into one representative; return False if the combined set would have too long a period."""
        if self.symbols.index(gone) < self.symbols.index(first):
            first, gone = gone, first
        try:
            self.domains[first] = self.domains[first] & self.domains[gone]
        except PeriodTooLongError:
            return False
        del self.domains[gone]
        self.weights[first] += self.weights.pop(gone)
        self.values = {s: first if v == gone else v for s, v in self.values.items()}
        self.values[gone] = first
        return True

    def _take_sizes(self) -> None:
        """Substitute the size of each symbol that has only one."""
        for symbol, domain in list(self.domains.items()):
            size = domain.only if domain is not ALL else None
            if size is not None:
                self.values = {s: size if v == symbol else v for s, v in self.values.items()}
                self.values[symbol] = size
                del self.domains[symbol], self.weights[symbol]


# The ladder: which tier decides which formulas, cheapest first.
#
# Formulas over one symbol become sets of sizes (F2). The remaining ones tie symbols together; each group of tied
# symbols is decided separately, by the graph if all its formulas relate plain sizes (F1), otherwise with z3 (F3, F4).


# Units of effort for reading a constraint.
_FORMULA = 100
# Units of effort for a clause of constraints that were not decided.
_PER_CLAUSE = 1_000


class Decision(HasVerdict):
    """The decision on some constraints under assumptions.

    ``clauses`` is the condition: an irredundant conjunction equivalent to the constraints, or only `FALSE` if nothing
    satisfies them. ``unproven`` are the clauses that may be redundant, and ``reason`` says why the verdict or the
    minimality is undecided. ``sets`` holds the set of each symbol as far as clauses about it alone narrow it;
    ``narrowing`` are those clauses.
    """

    def __init__(self, assumptions: AssumptionSet, constraints: Iterable[Formula]) -> None:
        self.assumptions = assumptions
        self.sets: dict[Symbol, SizeSet] = dict(assumptions.domains)
        self.narrowing: dict[Symbol, list[Formula]] = {}
        self.values: dict[Symbol, int] = {}
        self.parts: list[SymbolGroup] = []
        self._groups: IsomorphicGroups | None = None
        self.part_of: dict[Symbol, SymbolGroup] = {}
        self._is_clash = False
        self._evidence: dict[str, CostedValue[dict[Symbol, int] | None] | None] = {}
        self._values_known: dict[Symbol, Dim] | None = None
        self._places: dict[Symbol, int] = {}
        self.constraints = list(constraints)
        # The units for the parts, and the stages paid meanwhile; None if anything was cut short.
        self._cost: tuple[int, set[CostedValue[Any]]] | None = None
        remaining = self._without_decided_alone()
        try:
            with budget_share(DECIDED) as effort:
                paid = set(effort.paid)
                self.impossible = self._decide(remaining)
            self._cost = None if effort.is_cut else (effort.used, effort.paid - paid)
        except EffortSpentError:
            self.impossible = False
            self.parts = [UndecidedGroup(assumptions.domains, self._undecided(remaining), stop_reason())]
            self.part_of = dict.fromkeys(assumptions.domains, self.parts[0])

    def is_taken_over(self, assumptions: AssumptionSet, constraints: Sequence[Formula]) -> bool:
        """Return whether this decides a question within the active call as a new decision would; charge its cost then.

        It does not for another question, and if the call has less left than a decision gets.
        """
        counter = current_effort()
        if self._cost is None or counter is None or not counter.is_call or counter.left < DECIDED:
            return False
        if was_stopped() or self.constraints != list(constraints) or not self.assumptions.is_same(assumptions):
            return False
        units, paid = self._cost
        counter.left -= units
        counter.paid |= paid
        return True

    def _without_decided_alone(self) -> list[Formula]:
        """Return the constraints without what each decides alone; of a single one, the rest is asked anyway."""
        conjuncts = [clause for c in self.constraints for clause in clauses(c)]
        if sum(map(_has_terms, conjuncts)) < 2:
            return self.constraints
        known = self.assumptions
        try:
            return decided_alone([replace_in_formula(c, known.values) for c in conjuncts], known.domains)
        except EffortSpentError:
            return self.constraints

    def _decide(self, constraints: Sequence[Formula]) -> bool:
        """Create the parts; return whether the constraints are unsatisfiable."""
        charge(_FORMULA * (2 + len(constraints)))
        repeats = repeats_of(self.assumptions, constraints)
        if repeats is not None:
            return self._decide_once(repeats)
        # Sets first: what they decide ties no symbols together, so the groups after them are smaller.
        tied = self._take_in_order(constraints)
        self._is_clash = tied is None
        if tied is None:
            # Even if nothing can hold, the assumptions determine which sizes can fail.
            self.sets = dict(self.assumptions.domains)
        self._divide(tied or [])
        return tied is None or any(part.satisfiable is False for part in self.parts)

    def _decide_once(self, repeats: Repeats) -> bool:
        """Decide one of the copies that repeat in the constraints; create its parts, each for all copies."""
        known = self.assumptions
        one = Decision(one_copy(known, repeats), repeats.clauses)
        if one.impossible:
            self._is_clash = one._is_clash
            self._divide([])
            return True
        self.sets, self.narrowing, self.values = dict(one.sets), dict(one.narrowing), dict(one.values)
        for member, first in repeats.representatives().items():
            self.sets[member] = one.sets[first]
            if first in one.narrowing:
                self.narrowing[member] = [replace_in_formula(f, {first: member}) for f in one.narrowing[first]]
            if first in one.values:
                self.values[member] = one.values[first]
        self.parts = [RepeatedGroup.of(part, repeats, known, Decision) for part in one.parts]
        self.part_of = {s: part for part in self.parts for s in part.symbols}
        return False

    def _undecided(self, constraints: Sequence[Formula]) -> list[Formula]:
        """Return the clauses of assumptions and constraints, without the alternatives that the assumptions exclude."""
        formulas = normal_conjuncts([*self.assumptions.others, *constraints])
        try:
            # The call has no effort left: this small counter is its own, so that the text does not depend on that.
            with counting(Effort(_PER_CLAUSE * len(formulas))):
                return normal_conjuncts(map(DecidedTerms(self.assumptions.domains).formula, formulas))
        except EffortSpentError:
            return formulas

    @property
    def satisfiable(self) -> bool | None:
        """Whether the constraints can hold; None if undecided."""
        if self.impossible:
            return False
        return None if any(part.satisfiable is None for part in self.parts) else True

    @property
    def _possible(self) -> Possible:
        can_hold = self.satisfiable
        return can_hold, None if can_hold is None else self.violable

    @property
    def violable(self) -> bool | None:
        """Whether the constraints can fail under the assumptions; None if undecided."""
        if self.impossible or any(part.violable for part in self.parts):
            return True
        return None if any(part.violable is None for part in self.parts) else False

    @property
    def clauses(self) -> list[Formula]:
        """The conjuncts of the condition."""
        if self.impossible:
            return [FALSE]
        return [clause for part in self.parts for clause in part.clauses]

    @property
    def unproven(self) -> set[Formula]:
        """The conjuncts that may be redundant."""
        return {clause for part in self.parts for clause in part.unproven}

    @property
    def reason(self) -> str:
        """Why something was not decided."""
        return next((part.reason for part in self.parts if part.reason), "")

    @property
    def evidence_reason(self) -> str:
        """Why a witness or counterexample may not be the smallest."""
        return next((part.evidence_reason for part in self.parts if part.evidence_reason), "")

    def tiers(self, shown: Mapping[Symbol, str]) -> dict[Tier, list[str]]:
        """Return the tiers that decided the constraints, cheapest first, with the names of the symbols in their groups.

        Unconstrained symbols are left out.
        """
        decided: dict[Tier | None, list[Symbol]] = {Tier.F2: list(self.narrowing)} if self._is_clash else {}
        for part in () if self._is_clash else self.parts:
            decided.setdefault(part.tier, []).extend(part.symbols)
        return {tier: [shown.get(s, s.name) for s in decided[tier]] for tier in Tier if tier in decided}

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy everything, None if there are none or none were found."""
        return self._evidence_once("witness", self._witness)

    def _witness(self) -> dict[Symbol, int] | None:
        return None if self.impossible else self.whole([part.witness() for part in self.parts])

    def _evidence_once(self, kind: str, work: Callable[[], dict[Symbol, int] | None]) -> dict[Symbol, int] | None:
        """Return evidence that is searched for once, unless another question of the call had taken the effort."""
        sizes, self._evidence[kind] = compute_once(self._evidence.get(kind), work)
        return sizes

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break a constraint.

        One part must break; the others are as small as the assumptions allow.
        """
        return self._evidence_once("counterexample", self._counterexample)

    def _counterexample(self) -> dict[Symbol, int] | None:
        if not self.impossible and not any(part.violable for part in self.parts):
            return None
        bases = [part.base() for part in self.parts]
        if self.impossible:
            return self.whole(bases)
        self._places = {s: n for n, s in enumerate(self.assumptions.domains)}
        best: _Break | None = None
        for position, part in enumerate(self.parts):
            base = bases[position]
            sizes = part.counterexample() if part.violable else None
            if sizes is not None and base is not None:
                best = self._smaller(best, _Break(position, part.symbols, base, sizes))
        if best is None:
            return None
        return self.whole([*bases[: best.position], best.sizes, *bases[best.position + 1 :]])

    def _smaller(self, best: _Break | None, other: _Break) -> _Break:
        """Return the cheaper break; on a tie, the one whose sizes come first in the order of the symbols."""
        if best is None:
            return other
        costs = [b.cost(self.assumptions.weights) for b in (best, other)]
        if costs[0] != costs[1]:
            return best if costs[0] < costs[1] else other
        order = sorted({*best.symbols, *other.symbols}, key=self._places.__getitem__)
        sizes = [[(first.sizes | second.base)[s] for s in order] for first, second in ((best, other), (other, best))]
        return best if sizes[0] <= sizes[1] else other

    def fixed(self, dim: Dim) -> Dim:
        """Return the dimension with all decided symbols replaced; a number if the facts decide all of them."""
        if isinstance(dim, int):
            return dim
        dim = replace_symbols(dim, self._known())
        if isinstance(dim, int):
            return dim
        part = self._part_of(dim)
        size = part.constant(dim) if part is not None else None
        return dim if size is None else size

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is proved to be 1 or equal to ``target`` wherever the constraints hold."""
        decided = DecidedTerms(self.sets)  # as in the constraints, which no longer mention what the sets decide
        data, target = decided.dim(data), decided.dim(target)
        if data in (1, target):
            return True
        if isinstance(target, Operation) and target.kind == "join" and term(data) in target.args:
            return True
        part = self._part_of(data)
        if part is None or any(self.part_of.get(s) is not part for s in symbols_of((target,))):
            return False  # no formula ties them together
        try:
            return part.covers(data, target)
        except PeriodTooLongError:
            return False

    def _known(self) -> dict[Symbol, Dim]:
        """Return the value of each decided symbol: its size, or the symbol that represents it."""
        if self._values_known is None:
            known: dict[Symbol, Dim] = {s: replace_symbols(v, self.values) for s, v in self.assumptions.values.items()}
            known.update(self.values)
            for symbol, part in self.part_of.items():
                is_plain = isinstance(part, (RelationGroup, SingleSymbolGroup)) or (
                    isinstance(part, RepeatedGroup) and part.is_plain
                )
                size = part.constant(symbol) if is_plain else None
                if size is not None:
                    known[symbol] = size
            self._values_known = known
        return self._values_known

    def _part_of(self, dim: Dim) -> SymbolGroup | None:
        symbols = symbols_of((dim,))
        parts = {id(self.part_of.get(s)): self.part_of.get(s) for s in symbols}
        return next(iter(parts.values())) if len(parts) == 1 else None

    def whole(self, of_parts: Sequence[Mapping[Symbol, int] | None]) -> dict[Symbol, int] | None:
        """Return sizes of all symbols from those of the parts."""
        sizes: dict[Any, int] = {}
        for part in of_parts:
            if part is None:
                return None
            sizes.update(part)
        for symbol, value in self.assumptions.values.items():
            sizes[symbol] = value if isinstance(value, int) else sizes[value]
        return {symbol: sizes[symbol] for symbol in self.assumptions.symbols}

    def with_values(self, sizes: dict[Symbol, int]) -> dict[Symbol, int]:
        """Return some sizes with those of the symbols that are known to equal them."""
        for symbol, value in self.assumptions.values.items():
            if not isinstance(value, int) and value in sizes:
                sizes[symbol] = sizes[value]
        return sizes

    def _take_in_order(self, constraints: Sequence[Formula]) -> list[Formula] | None:
        """Return what `_take` does under names in order of appearance: no choice depends on those of the question."""
        assumptions = self.assumptions
        names = names_in_order(assumptions.symbols)
        if not names or not any(map(_has_terms, (*constraints, *assumptions.others))):
            return self._take(constraints)
        inner = Decision.__new__(Decision)
        inner.assumptions = assumptions.renamed(names)
        inner.sets, inner.narrowing, inner.values = dict(inner.assumptions.domains), {}, {}
        tied = inner._take([replace_in_formula(c, names) for c in constraints])
        ours = {name: s for s, name in names.items()}
        self.sets = {ours[s]: members for s, members in inner.sets.items()}
        self.narrowing = {ours[s]: [replace_in_formula(f, ours) for f in each] for s, each in inner.narrowing.items()}
        self.values = {ours[s]: size for s, size in inner.values.items()}
        return None if tied is None else [replace_in_formula(c, ours) for c in tied]

    def _take(self, constraints: Iterable[Formula]) -> list[Formula] | None:
        """Turn the formulas about one symbol into sets; return the rest, or None if they are unsatisfiable."""
        assumptions = self.assumptions
        pending = normal_conjuncts(replace_in_formula(c, assumptions.values) for c in constraints)
        while True:
            tied: list[Formula] = []
            for clause in pending:
                if clause == FALSE:
                    return None
                symbols = symbols_in(clause)
                alone = len(symbols) == 1 and self._narrow(next(iter(symbols)), clause)
                if not alone and not self._narrow_each(clause):
                    tied.append(clause)
            if any(not members for members in self.sets.values()):
                return None
            sizes = {
                s: size
                for s, members in self.sets.items()
                if members is not ALL and s not in self.values and (size := members.only) is not None
            }
            if sizes:
                self.values.update(sizes)
                pending = normal_conjuncts(replace_in_formula(c, sizes) for c in tied)
                continue
            # What is assumed word for word holds: that is not for a solver to find out.
            tied = [clause for clause in tied if clause not in assumptions.stated]
            pending = divided_by_boxes(tied, self.sets, self._where) or normal_conjuncts(
                map(DecidedTerms(self.sets).formula, tied)
            )
            least = {s: members.least() or 0 for s, members in self.sets.items()} if pending == tied else {}
            if pending == tied:
                pending = solved_composites(tied, least)
            if pending == tied:
                known = [formula for clauses in self.narrowing.values() for formula in clauses]
                pending = propagated(tied, least, known)
            if pending == tied:
                return tied

    def _where(self, sets: Mapping[Symbol, SizeSet], constraints: Sequence[Formula]) -> list[Formula] | None:
        """Return what constraints require where each symbol is in a set; None if they are found to contradict it."""
        try:
            known = AssumptionSet(list(self.assumptions.domains), sets, self.assumptions.others)
        except ContradictionError:
            return None
        inside = Decision(known, ())
        tied = inside._take([replace_in_formula(c, known.values) for c in constraints])
        narrowed = (s for s, members in known.domains.items() if inside.sets[s] is not members)
        sizes = (set_formula(s, inside.sets[s], known.domains[s]) for s in narrowed)
        return None if tied is None else normal_conjuncts([*sizes, *tied])

    def _narrow(self, symbol: Symbol, clause: Formula) -> bool:
        narrowed = narrowed_set(self.sets[symbol], clause)
        if narrowed is None:
            return False
        self.sets[symbol] = narrowed
        self.narrowing.setdefault(symbol, []).append(clause)
        return True

    def _narrow_each(self, clause: Formula) -> bool:
        """Use a clause about several symbols if it is a product of sets; return whether it is."""
        sets = split_by_symbol(clause, self.sets)
        for symbol, members in (sets or {}).items():
            if not self.sets[symbol] <= members:
                self.narrowing.setdefault(symbol, []).append(set_formula(symbol, members, self.sets[symbol]))
                self.sets[symbol] = members
        return sets is not None

    def _divide(self, tied: Sequence[Formula]) -> None:
        """Create a part for each group of symbols that formulas tie together, and for each remaining symbol."""
        groups = TiedSymbols(self.assumptions.domains)
        groups.tie(tied)
        # Assumptions tie symbols too: sizes that they exclude together are no evidence.
        groups.tie(self.assumptions.others)
        constrained, assumed = groups.sorted(tied), groups.sorted(self.assumptions.others)
        for first, symbols in groups.all():
            part = self._part(symbols, constrained.get(first, []), assumed.get(first, []))
            self.parts.append(part)
            for symbol in symbols:
                self.part_of[symbol] = part

    def _part(self, symbols: list[Symbol], formulas: list[Formula], others: list[Formula]) -> SymbolGroup:
        domains, weights = self.assumptions.domains, self.assumptions.weights
        if not formulas and not others and len(symbols) == 1:
            (symbol,) = symbols
            try:
                return SingleSymbolGroup(symbol, domains[symbol], self.sets[symbol], self.narrowing.get(symbol, ()))
            except PeriodTooLongError:
                pass  # the combined pattern of wanted and unwanted sizes is too large
        relations: list[Relation] = [r for f in formulas if (r := as_relation(f)) is not None]
        if not others and len(relations) == len(formulas):
            try:
                return RelationGroup(symbols, domains, self.sets, relations, weights)
            except PeriodTooLongError:
                pass  # the solver handles classes of sizes with different periods
        if self._groups is None:
            from symbcast.core.solver.linear_groups import IsomorphicGroups

            self._groups = IsomorphicGroups(domains, weights)
        narrowed = [s for s in symbols if self.sets[s] is not domains[s]]
        sets = [shortest_set_formula(s, self.sets[s], domains[s], self.narrowing[s]) for s in narrowed]
        return self._groups.decide(symbols, others, [*sets, *formulas])


def _has_terms(formula: Formula) -> bool:
    """Return whether a formula is about more than plain symbols."""
    return any(not isinstance(dim, int) and not dim.is_Symbol for dim in dims_of(formula))


class _Break(NamedTuple):
    """A part with sizes that break it, and with its least sizes."""

    position: int
    symbols: tuple[Symbol, ...]
    base: dict[Symbol, int]
    sizes: dict[Symbol, int]

    def cost(self, weights: Mapping[Symbol, int]) -> tuple[int, int]:
        """Return how many more zeros breaking takes, and how much it adds to the sum."""
        broken, least = (point_cost(self.symbols, sizes, weights) for sizes in (self.sizes, self.base))
        return broken[0] - least[0], broken[1] - least[1]


# Joins of more members are not searched for members that another covers: that takes a question for each pair.
COMPARED_UP_TO = 64


def collapsed_join(members: Iterable[Dim], decision: Decision) -> Dim:
    """Return the size of an axis wherever the condition holds; a plain dimension if the facts decide it."""
    decided = DecidedTerms(decision.sets)
    sizes = (decided.shortest(without_joins_with_one(term(decision.fixed(member))).dim()) for member in members)
    distinct = list(dict.fromkeys(size for size in sizes if size != 1))
    number = next((d for d in distinct if isinstance(d, int)), None)
    if number is not None:
        return number
    if len(distinct) < 2:
        return distinct[0] if distinct else 1
    if len(distinct) <= COMPARED_UP_TO:
        distinct = _uncovered(distinct, decision)
    return join(distinct)


def _uncovered(members: list[Dim], decision: Decision) -> list[Dim]:
    """Drop members that are 1 or equal to another one, starting from the end, so that the first name is kept."""
    needed = list(members)
    for member in reversed(members):
        others = [m for m in needed if m is not member]
        if any(decision.covers(member, other) for other in others):
            needed = others
    return needed
