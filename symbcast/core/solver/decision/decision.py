"""The ladder: which tier decides which formulas, cheapest first.

Formulas over one symbol become sets of sizes (F2). The remaining ones tie symbols together; each group of tied symbols
is decided separately, by the graph if all its formulas relate plain sizes (F1), otherwise with z3 (F3, F4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.core.algebra.arithmetic import replaced
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.effort import Effort, EffortSpentError, charge, counting
from symbcast.core.effort import current as active
from symbcast.core.logic.formulas import FALSE, Formula
from symbcast.core.solver.answer import Tier
from symbcast.core.solver.budget import DECIDED, once, reason, share, was_stopped
from symbcast.core.solver.decision.boxes import divided
from symbcast.core.solver.decision.knowledge import ContradictionError, Knowledge
from symbcast.core.solver.groups.components import Alone, Part, Plain, Undecided
from symbcast.core.solver.groups.composite_sizes import solved_composites
from symbcast.core.solver.groups.connectivity import Ties
from symbcast.core.solver.groups.decided_terms import DecidedTerms
from symbcast.core.solver.groups.normal_form import as_relation, flattened, put_in, symbols_in
from symbcast.core.solver.groups.set_products import split
from symbcast.core.solver.masks.relations import Relation
from symbcast.core.solver.products.propagation import propagated
from symbcast.core.solver.sets.set_formulas import describe, shortest
from symbcast.core.solver.sets.size_sets import ALL, PeriodTooLongError, SizeSet
from symbcast.core.solver.sets.smallest import cost
from symbcast.core.solver.sets.univariate import narrow
from symbcast.core.verdicts import verdict_of

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.effort import Kept
    from symbcast.core.solver.decision.isomorphism import Likenesses
    from symbcast.core.verdicts import Verdict


_FORMULA = 100
"""Units of effort for reading a constraint."""
_PER_CLAUSE = 1_000
"""Units of effort for a clause of constraints that were not decided."""


class Decision:
    """The decision on some constraints under assumptions.

    ``clauses`` is the condition: an irredundant conjunction equivalent to the constraints, or only `FALSE` if nothing
    satisfies them. ``unproven`` are the clauses that may be redundant, and ``reason`` says why the verdict or the
    minimality is undecided.
    """

    def __init__(self, knowledge: Knowledge, constraints: Iterable[Formula]) -> None:
        self.knowledge = knowledge
        self.wanted: dict[Symbol, SizeSet] = dict(knowledge.domains)
        self.asked: dict[Symbol, list[Formula]] = {}
        self.values: dict[Symbol, int] = {}
        self.parts: list[Part] = []
        self._groups: Likenesses | None = None
        self.part_of: dict[Symbol, Part] = {}
        self._is_clash = False
        self._evidence: dict[str, Kept[dict[Symbol, int] | None] | None] = {}
        self._values_known: dict[Symbol, Dim] | None = None
        self._places: dict[Symbol, int] = {}
        given = list(constraints)
        self._given = given
        self._cost: tuple[int, set[Kept[Any]]] | None = None
        """The units for the parts, and the stages paid meanwhile; None if anything was cut short."""
        try:
            with share(DECIDED) as effort:
                paid = set(effort.paid)
                self.impossible = self._decide(given)
            self._cost = None if effort.is_cut else (effort.used, effort.paid - paid)
        except EffortSpentError:
            self.impossible = False
            self.parts = [Undecided(knowledge.domains, self._undecided(given), reason())]
            self.part_of = dict.fromkeys(knowledge.domains, self.parts[0])

    def is_taken_over(self, knowledge: Knowledge, constraints: Sequence[Formula]) -> bool:
        """Return whether this decides a question within the active call as a new decision would; charge its cost then.

        It does not for another question, and if the call has less left than a decision gets.
        """
        counter = active()
        if self._cost is None or counter is None or not counter.is_call or counter.left < DECIDED:
            return False
        if was_stopped() or self._given != list(constraints) or not self.knowledge.is_same(knowledge):
            return False
        units, paid = self._cost
        counter.left -= units
        counter.paid |= paid
        return True

    def _decide(self, constraints: Sequence[Formula]) -> bool:
        """Create the parts; return whether the constraints are unsatisfiable."""
        charge(_FORMULA * (2 + len(constraints)))
        tied = self._take(constraints)
        self._is_clash = tied is None
        if tied is None:
            # Even if nothing can hold, the assumptions determine which sizes can fail.
            self.wanted = dict(self.knowledge.domains)
        self._divide(tied or [])
        return tied is None or any(part.satisfiable is False for part in self.parts)

    def _undecided(self, constraints: Sequence[Formula]) -> list[Formula]:
        """Return the clauses of assumptions and constraints, without the alternatives that the assumptions exclude."""
        formulas = flattened([*self.knowledge.others, *constraints])
        try:
            # The call has no effort left: this small counter is its own, so that the text does not depend on that.
            with counting(Effort(_PER_CLAUSE * len(formulas))):
                return flattened(map(DecidedTerms(self.knowledge.domains).formula, formulas))
        except EffortSpentError:
            return formulas

    @property
    def satisfiable(self) -> bool | None:
        """Whether the constraints can hold; None if undecided."""
        if self.impossible:
            return False
        return None if any(part.satisfiable is None for part in self.parts) else True

    @property
    def verdict(self) -> Verdict:
        """Whether the constraints hold always, sometimes or never, as far as that was decided."""
        can_hold = self.satisfiable
        return verdict_of(can_hold, None if can_hold is None else self.violable)

    @property
    def violable(self) -> bool | None:
        """Whether the constraints can fail under the assumptions; None if undecided."""
        if self.impossible or any(part.violable for part in self.parts):
            return True
        return None if any(part.violable is None for part in self.parts) else False

    @property
    def constraints(self) -> Sequence[Formula]:
        """The constraints, as they were given."""
        return self._given

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
        found: dict[Tier | None, list[Symbol]] = {Tier.F2: list(self.asked)} if self._is_clash else {}
        for part in () if self._is_clash else self.parts:
            found.setdefault(part.tier, []).extend(part.symbols)
        return {tier: [shown.get(s, s.name) for s in found[tier]] for tier in Tier if tier in found}

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy everything, None if there are none or none were found."""
        return self._kept("witness", self._witness)

    def _witness(self) -> dict[Symbol, int] | None:
        return None if self.impossible else self.whole([part.witness() for part in self.parts])

    def _kept(self, kind: str, work: Callable[[], dict[Symbol, int] | None]) -> dict[Symbol, int] | None:
        """Return evidence that is searched for once, unless another question of the call had taken the effort."""
        found, self._evidence[kind] = once(self._evidence.get(kind), work)
        return found

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break a constraint.

        One part must break; the others are as small as the assumptions allow.
        """
        return self._kept("counterexample", self._counterexample)

    def _counterexample(self) -> dict[Symbol, int] | None:
        if not self.impossible and not any(part.violable for part in self.parts):
            return None
        bases = [part.base() for part in self.parts]
        if self.impossible:
            return self.whole(bases)
        self._places = {s: n for n, s in enumerate(self.knowledge.domains)}
        best: _Break | None = None
        for position, part in enumerate(self.parts):
            base = bases[position]
            sizes = part.counterexample() if part.violable else None
            if sizes is not None and base is not None:
                best = self._smaller(best, _Break(position, part.symbols, base, sizes))
        if best is None:
            return None
        return self.whole([*bases[: best.position], best.sizes, *bases[best.position + 1 :]])

    def _smaller(self, best: _Break | None, found: _Break) -> _Break:
        """Return the cheaper break; on a tie, the one whose sizes come first in the order of the symbols."""
        if best is None:
            return found
        costs = [b.cost(self.knowledge.weights) for b in (best, found)]
        if costs[0] != costs[1]:
            return best if costs[0] < costs[1] else found
        order = sorted({*best.symbols, *found.symbols}, key=self._places.__getitem__)
        sizes = [[(first.sizes | second.base)[s] for s in order] for first, second in ((best, found), (found, best))]
        return best if sizes[0] <= sizes[1] else found

    def fixed(self, dim: Dim) -> Dim:
        """Return the dimension with all decided symbols replaced; a number if the facts decide all of them."""
        if isinstance(dim, int):
            return dim
        dim = replaced(dim, self._known())
        if isinstance(dim, int):
            return dim
        part = self._part_of(dim)
        size = part.constant(dim) if part is not None else None
        return dim if size is None else size

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is proved to be 1 or equal to ``target`` wherever the constraints hold."""
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
            known: dict[Symbol, Dim] = {s: replaced(v, self.values) for s, v in self.knowledge.values.items()}
            known.update(self.values)
            for symbol, part in self.part_of.items():
                size = part.constant(symbol) if isinstance(part, (Plain, Alone)) else None
                if size is not None:
                    known[symbol] = size
            self._values_known = known
        return self._values_known

    def _part_of(self, dim: Dim) -> Part | None:
        symbols = symbols_of((dim,))
        parts = {id(self.part_of.get(s)): self.part_of.get(s) for s in symbols}
        return next(iter(parts.values())) if len(parts) == 1 else None

    def whole(self, found: Sequence[Mapping[Symbol, int] | None]) -> dict[Symbol, int] | None:
        """Return sizes of all symbols from those of the parts."""
        sizes: dict[Any, int] = {}
        for part in found:
            if part is None:
                return None
            sizes.update(part)
        for symbol, value in self.knowledge.values.items():
            sizes[symbol] = value if isinstance(value, int) else sizes[value]
        return {symbol: sizes[symbol] for symbol in self.knowledge.symbols}

    def with_values(self, sizes: dict[Symbol, int]) -> dict[Symbol, int]:
        """Return some sizes with those of the symbols that are known to equal them."""
        for symbol, value in self.knowledge.values.items():
            if not isinstance(value, int) and value in sizes:
                sizes[symbol] = sizes[value]
        return sizes

    def _take(self, constraints: Iterable[Formula]) -> list[Formula] | None:
        """Turn the formulas about one symbol into sets; return the rest, or None if they are unsatisfiable."""
        knowledge = self.knowledge
        pending = flattened(put_in(c, knowledge.values) if knowledge.values else c for c in constraints)
        while True:
            tied: list[Formula] = []
            for clause in pending:
                if clause == FALSE:
                    return None
                symbols = symbols_in(clause)
                alone = len(symbols) == 1 and self._narrow(next(iter(symbols)), clause)
                if not alone and not self._narrow_each(clause):
                    tied.append(clause)
            if any(not wanted for wanted in self.wanted.values()):
                return None
            sizes = {
                s: size
                for s, wanted in self.wanted.items()
                if wanted is not ALL and s not in self.values and (size := wanted.only) is not None
            }
            if sizes:
                self.values.update(sizes)
                pending = flattened(put_in(c, sizes) for c in tied)
                continue
            # What is assumed word for word holds: that is not for a solver to find out.
            tied = [clause for clause in tied if clause not in knowledge.given]
            pending = divided(tied, self.wanted, self._where) or flattened(map(DecidedTerms(self.wanted).formula, tied))
            least = {s: wanted.least() or 0 for s, wanted in self.wanted.items()} if pending == tied else {}
            if pending == tied:
                pending = solved_composites(tied, least)
            if pending == tied:
                known = [formula for asked in self.asked.values() for formula in asked]
                pending = propagated(tied, least, known)
            if pending == tied:
                return tied

    def _where(self, sets: Mapping[Symbol, SizeSet], constraints: Sequence[Formula]) -> list[Formula] | None:
        """Return what constraints require where each symbol is in a set; None if they are found to contradict it."""
        try:
            known = Knowledge(list(self.knowledge.domains), sets, self.knowledge.others)
        except ContradictionError:
            return None
        inside = Decision(known, ())
        tied = inside._take([put_in(c, known.values) for c in constraints])
        narrowed = (s for s, members in known.domains.items() if inside.wanted[s] is not members)
        sizes = (describe(s, inside.wanted[s], known.domains[s]) for s in narrowed)
        return None if tied is None else flattened([*sizes, *tied])

    def _narrow(self, symbol: Symbol, clause: Formula) -> bool:
        narrowed = narrow(self.wanted[symbol], clause)
        if narrowed is None:
            return False
        self.wanted[symbol] = narrowed
        self.asked.setdefault(symbol, []).append(clause)
        return True

    def _narrow_each(self, clause: Formula) -> bool:
        """Use a clause about several symbols if it is a product of sets; return whether it is."""
        sets = split(clause, self.wanted)
        for symbol, members in (sets or {}).items():
            if not self.wanted[symbol] <= members:
                self.asked.setdefault(symbol, []).append(describe(symbol, members, self.wanted[symbol]))
                self.wanted[symbol] = members
        return sets is not None

    def _divide(self, tied: Sequence[Formula]) -> None:
        """Create a part for each group of symbols that formulas tie together, and for each remaining symbol."""
        groups = Ties(self.knowledge.domains)
        groups.tie(tied)
        groups.tie(self.knowledge.others)
        constrained, assumed = groups.sorted(tied), groups.sorted(self.knowledge.others)
        for first, symbols in groups.all():
            part = self._part(symbols, constrained.get(first, []), assumed.get(first, []))
            self.parts.append(part)
            for symbol in symbols:
                self.part_of[symbol] = part

    def _part(self, symbols: list[Symbol], formulas: list[Formula], others: list[Formula]) -> Part:
        domains, weights = self.knowledge.domains, self.knowledge.weights
        if not formulas and not others and len(symbols) == 1:
            (symbol,) = symbols
            try:
                return Alone(symbol, domains[symbol], self.wanted[symbol], self.asked.get(symbol, ()))
            except PeriodTooLongError:
                pass  # the combined pattern of wanted and unwanted sizes is too large
        relations: list[Relation] = [r for f in formulas if (r := as_relation(f)) is not None]
        if not others and len(relations) == len(formulas):
            try:
                return Plain(symbols, domains, self.wanted, relations, weights)
            except PeriodTooLongError:
                pass  # the solver handles classes of sizes with different periods
        if self._groups is None:
            from symbcast.core.solver.decision.isomorphism import Likenesses

            self._groups = Likenesses(domains, weights)
        narrowed = [s for s in symbols if self.wanted[s] is not domains[s]]
        sets = [shortest(s, self.wanted[s], domains[s], self.asked[s]) for s in narrowed]
        return self._groups.decide(symbols, others, [*sets, *formulas])


class _Break(NamedTuple):
    """A part with sizes that break it, and with its least sizes."""

    position: int
    symbols: tuple[Symbol, ...]
    base: dict[Symbol, int]
    sizes: dict[Symbol, int]

    def cost(self, weights: Mapping[Symbol, int]) -> tuple[int, int]:
        """Return how many more zeros breaking takes, and how much it adds to the sum."""
        broken, least = (cost(self.symbols, sizes, weights) for sizes in (self.sizes, self.base))
        return broken[0] - least[0], broken[1] - least[1]
