"""The groups of F3 and F4, and groups that differ from these only in the names of their symbols."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from symbcast.core.algebra.arithmetic import MAX_SIZE, add, replace_symbols
from symbcast.core.algebra.formulas import (
    AllOf,
    AnyOf,
    Compatible,
    Formula,
    at_most,
    dims_of,
    equal,
    literal_count,
    literals,
    one_or_equal,
)
from symbcast.core.algebra.symbols import name_text
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.effort import EVIDENCE, EffortSpentError, Tier, budget_share, kept_property
from symbcast.core.solver.evaluation import (
    is_any_size,
    names_in_order,
    replace_in_formula,
    size_at,
    standard_names,
    symbols_in,
    value_function,
    with_larger_joins,
)
from symbcast.core.solver.f1_names.one_broadcast import irredundant_joins
from symbcast.core.solver.f2_one_size.clauses import clauses_of
from symbcast.core.solver.f2_one_size.set_formulas import shortest_set_formula
from symbcast.core.solver.f2_one_size.univariate import narrowed_set
from symbcast.core.solver.f3_linear.equations import set_aside, with_defined_sizes
from symbcast.core.solver.f3_linear.orders import Orders
from symbcast.core.solver.irredundance import Reduction, without_implied
from symbcast.core.solver.points import least_size
from symbcast.core.solver.search import BEYOND, GroupEvidence, GroupQuestions, is_beyond, is_linear
from symbcast.core.solver.size_sets import SizeSet
from symbcast.core.structs import NamedTuple

# Tiers F3 and F4: a group of formulas that compound terms tie together, reduced with samples and z3.
#
# Samples show quickly that a formula is possible; z3 is asked only about the formulas that no sample satisfies. If a
# question stays open, the clause stays in place, marked, so that the condition stays exact.


_LARGE = 1 << 31
# Of more formulas, only those that others do not imply are put in canonical form.
_MANY = 50

# With more symbols, sizes from definitions are not minimised: z3 takes minutes for that.
_SMALLEST_OF = 400


class LinearQuestion(NamedTuple):
    """Symbols that formulas tie together, what is known of them, and the number of sizes that each represents."""

    symbols: Sequence[Symbol]
    domains: Mapping[Symbol, SizeSet]
    assumptions: Sequence[Formula]
    formulas: Sequence[Formula]
    weights: Mapping[Symbol, int]


class LinearGroup:
    """A group of symbols, the assumptions about them, and the formulas that constrain them.

    ``clauses`` is an equivalent of ``formulas`` under the assumptions; ``satisfiable`` and ``violable`` say whether
    the formulas can hold and can fail (None: undecided, and ``reason`` says why); ``unproven`` holds the clauses that
    may be redundant. Everything except ``satisfiable`` is computed on demand.
    """

    def __init__(
        self,
        symbols: Sequence[Symbol],
        domains: Mapping[Symbol, SizeSet],
        assumptions: Sequence[Formula],
        formulas: Sequence[Formula],
        weights: Mapping[Symbol, int],
    ) -> None:
        self.symbols = tuple(symbols)
        self.domains = domains
        self.assumptions = list(assumptions)
        self.formulas = list(formulas)
        self.weights = weights
        crowded = len(self.formulas) > _MANY
        self._definitions, rest = set_aside(self.formulas, self.assumptions, domains)
        rest = _without_covered_joins(rest)
        if crowded:
            questions = GroupQuestions(self.symbols, domains, self.assumptions, rest)
            rest = without_implied(questions, rest)
            self.formulas = [*(d.formula for d in self._definitions), *rest]
        self._rest = rest
        # The place of each formula and its clauses, if there are not very many.
        self._places: dict[Formula, int] = {}
        for place, formula in enumerate(() if crowded else self.formulas):
            for clause in (formula, *clauses_of(formula)):
                self._places.setdefault(clause, place)
        canonical = [clauses_of(f) for f in rest]
        distinct = list(dict.fromkeys(c for conjuncts in canonical for c in conjuncts))
        self.questions = GroupQuestions(self.symbols, domains, self.assumptions, distinct)
        self.samples = self.questions.samples
        # The filter above already asked whether the others imply these.
        needed = {conjuncts[0] for conjuncts in canonical if len(conjuncts) == 1} if crowded else ()
        self._reduction = Reduction(self.questions, distinct, needed)
        self.satisfiable = self._reduction.satisfiable
        if self.satisfiable and any(map(_has_large_number, self.formulas)):
            self.satisfiable = self._holds_at_sizes()
        self._evidence = GroupEvidence(self.questions, weights)

    def _holds_at_sizes(self) -> bool | None:
        """Return whether the formulas can hold at numbers up to the largest size; None if that is not known."""
        is_possible = self.questions.ask([*self.formulas, *(at_most(s, MAX_SIZE) for s in self.symbols)])
        if not is_possible:
            self.questions.reason = self.questions.reason or BEYOND
        return True if is_possible else None

    @kept_property
    def clauses(self) -> list[Formula]:
        """The reduced formulas."""
        placed = self._placed(self._in_cases(self._reduction.result.clauses))
        return placed if self.unproven else [*map(self._described, with_larger_joins(placed))]

    def _placed(self, reduced: Sequence[Formula]) -> list[Formula]:
        """Return definitions and reduced clauses in the order of the formulas; of many formulas, definitions first."""
        defining = [c for d in reversed(self._definitions) for c in clauses_of(d.formula)]
        origins = self._reduction.origins

        def place(clause: Formula) -> int:
            return self._places.get(origins.get(clause, clause), -1)

        return sorted([*defining, *reduced], key=place)

    def _described(self, clause: Formula) -> Formula:
        """Return alternatives that the reduction left for one symbol as its set: ``N == 4 or N <= 3`` as ``N <= 4``."""
        symbols = symbols_in(clause)
        if len(symbols) != 1 or not isinstance(clause, AnyOf):
            return clause
        (symbol,) = symbols
        members = narrowed_set(self.domains[symbol], clause)
        return clause if members is None else shortest_set_formula(symbol, members, self.domains[symbol], [clause])

    def _in_cases(self, reduced: Sequence[Formula]) -> list[Formula]:
        """Return conjuncts in which a given disjunction of cases replaces those made of it, if it is shorter."""
        conjuncts = list(reduced)
        for formula in self._rest:
            if not isinstance(formula, AnyOf) or not any(isinstance(part, AllOf) for part in formula.parts):
                continue
            spelled = [frozenset(literals(c)) for c in clauses_of(formula)]
            of_cases = [c for c in conjuncts if any(s.issuperset(literals(c)) for s in spelled)]
            if literal_count(formula) < sum(map(literal_count, of_cases)):
                place = conjuncts.index(of_cases[0])
                shorter = [*conjuncts[:place], formula, *(c for c in conjuncts[place:] if c not in of_cases)]
                questions = GroupQuestions(self.symbols, self.domains, self.assumptions, [])
                try:
                    with budget_share(EVIDENCE):
                        if all(questions.ask([*shorter, questions.negated(c)]) is False for c in of_cases):
                            conjuncts = shorter
                except EffortSpentError:
                    pass  # the longer form is as exact
        return conjuncts

    @property
    def unproven(self) -> set[Formula]:
        """The clauses that the others may imply."""
        return self._reduction.result.unproven

    @property
    def tier(self) -> Tier:
        """The tier that decides it."""
        return Tier.F3 if all(map(is_linear, (*self.assumptions, *self.formulas))) else Tier.F4

    @property
    def violable(self) -> bool | None:
        """Whether the formulas can fail; None if undecided."""
        return True if self._definitions else self._reduction.violable

    @property
    def reason(self) -> str:
        """Why something is undecided."""
        _ = self._reduction.result  # so that the reason does not depend on earlier questions
        return self.questions.reason

    @property
    def evidence_reason(self) -> str:
        """Why the sizes found may not be the smallest."""
        return self._evidence.reason

    def implies(self, formula: Formula) -> bool:
        """Return whether the formula provably holds wherever assumptions and formulas do."""
        try:
            with budget_share(EVIDENCE):
                shown = self.samples.all_hold(self.clauses) & ~self.samples.mask(formula)
                return self.questions.possible([*self.clauses, self.questions.negated(formula)], shown) is False
        except EffortSpentError:
            return False

    def constant(self, dim: Dim) -> int | None:
        """Return the only size that a dimension provably has wherever the formulas hold, if there is one."""
        point = self.samples.first(self.samples.all_hold(self.clauses))
        if point is None:
            return None
        value = value_function(dim, self.symbols)(*point)
        return value if 0 <= value <= MAX_SIZE and self.implies(equal(dim, value)) else None

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is provably 1 or equal to ``target`` wherever the formulas hold."""
        return self.implies(one_or_equal(data, target))

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes at which assumptions and formulas hold.

        For very many symbols, and where the smallest are not found, they are the smallest of symbols not defined.
        """
        is_large = bool(self._definitions) and len(self.symbols) > _SMALLEST_OF and not self._places
        point = None if is_large else self._evidence.satisfying(self.formulas)
        if point is None and self._definitions:
            sizes = self._evidence.satisfying(self._rest)
            point = None if sizes is None else with_defined_sizes(self._definitions, sizes)
            return None if point is None or is_beyond(point) else point
        return point

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes at which the assumptions hold and some formula does not."""
        return self._evidence.breaking(self.clauses) if self.clauses else None

    def base(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes at which the assumptions hold."""
        return self._evidence.satisfying([])


class OrderGroup:
    """Many orders of sizes, with the attributes of a `LinearGroup`: their graph decides them, in few steps each."""

    reason = ""
    unproven: set[Formula] = set()  # noqa: RUF012
    tier = Tier.F3

    def __init__(self, orders: Orders, group: LinearQuestion) -> None:
        self.symbols = orders.symbols
        self._orders = orders
        self._group = group
        self._evidence = GroupEvidence(
            GroupQuestions(self.symbols, group.domains, group.assumptions, []), group.weights
        )
        self.satisfiable = self._least(0) is not None

    @classmethod
    def of(cls, group: LinearQuestion) -> OrderGroup | None:
        """Return the group of many orders; None for another group, and where sizes would be too large."""
        if len(group.formulas) + len(group.assumptions) <= _MANY:
            return None
        orders = Orders.of(group.symbols, group.domains, group.formulas, group.assumptions)
        found = None if orders is None else cls(orders, group)
        return None if found is None or is_beyond(found._least(1) or found._least(0) or {}) else found

    def _least(self, low: int) -> dict[Symbol, int] | None:
        """Return the least sizes, at least ``low`` wherever their sets allow it."""
        return self._orders.least([min(low, least_size(self._group.domains[s]) or 0) for s in self.symbols])

    @kept_property
    def clauses(self) -> list[Formula]:
        """The orders that others do not imply."""
        if not self.satisfiable:
            return []
        group = self._group
        definitions, _ = set_aside(group.formulas, group.assumptions, group.domains)
        needed = self._orders.without_implied([d.formula for d in definitions])
        return [clause for formula in needed for clause in clauses_of(formula)]

    @property
    def violable(self) -> bool:
        """Whether the orders can fail."""
        return not self.satisfiable or bool(self.clauses)

    @property
    def evidence_reason(self) -> str:
        """Why the sizes found may not be the smallest."""
        return self._evidence.reason

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy assumptions and orders."""
        return self._least(1) or self._evidence.satisfying(self.clauses)

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break an order."""
        return self._evidence.breaking(self.clauses) if self.clauses else None

    def base(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions."""
        return self._evidence.satisfying([])

    def constant(self, dim: Dim) -> int | None:
        """Return the only size that a dimension has wherever the orders hold."""
        point = self._least(0)
        value = None if point is None else size_at(dim, point)
        return value if value is not None and self._is_equal(dim, value) else None

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is 1, or equals ``target``, wherever the orders hold."""
        return self._is_equal(data, 1) or self._is_equal(data, target)

    def _is_equal(self, left: Dim, right: Dim) -> bool:
        return not self._can_be_less(left, right) and not self._can_be_less(right, left)

    def _can_be_less(self, left: Dim, right: Dim) -> bool:
        formulas = [*self._orders.orders, at_most(add(left, 1), right)]
        orders = Orders.of(self.symbols, self._group.domains, formulas, self._group.assumptions)
        return orders is None or orders.least([0] * len(self.symbols)) is not None


@lru_cache(maxsize=4096)
def _has_large_number(formula: Formula) -> bool:
    """Return whether a formula has a number so large that a size may have to be larger than sizes can be."""
    numbers = (n for d in dims_of(formula) for n in ((d,) if isinstance(d, int) else d.coefficients.values()))
    return any(abs(n) > _LARGE for n in numbers)


def _without_covered_joins(formulas: Sequence[Formula]) -> list[Formula]:
    """Return formulas without the joins that others of them cover: so many questions for a solver less."""
    numbers: dict[Dim, int] = {}
    joins = {
        f: tuple(numbers.setdefault(d, len(numbers)) for d in f.dims) for f in formulas if isinstance(f, Compatible)
    }
    needed = set(irredundant_joins(dict.fromkeys(joins.values()), {}))
    return [f for f in formulas if not isinstance(f, Compatible) or joins[f] in needed]


# Groups of symbols that differ only in the names of their symbols, decided once.
#
# A network repeats the same few relations layer by layer. The decision about a group depends on its symbols only
# through their order and the facts known about each; so the answers about the first such group, with its symbols
# replaced, also apply to the others. Terms are sorted by the names of their symbols, so a group whose names are not in
# order is decided under names that are: choices among equally good answers then depend on the order of appearance
# alone. Only linear groups are compared with others.


class IsomorphicGroups:
    """The groups decided so far, keyed so that isomorphic groups share a key."""

    def __init__(self, domains: Mapping[Symbol, SizeSet], weights: Mapping[Symbol, int]) -> None:
        self.domains = domains
        self.weights = weights
        self._decided: dict[tuple[Any, ...], SharedGroup] = {}

    def decide(
        self, symbols: Sequence[Symbol], assumptions: Sequence[Formula], formulas: Sequence[Formula]
    ) -> LinearGroup | OrderGroup | RenamedGroup:
        """Return the group, or an isomorphic one with its symbols replaced."""
        key = self._key(symbols, assumptions, formulas)
        if key in self._decided:
            return RenamedGroup(self._decided[key], symbols)
        names = names_in_order(symbols)
        own = {s: names.get(s, s) for s in symbols}
        domains = {name: self.domains[s] for s, name in own.items()}
        weights = {name: self.weights[s] for s, name in own.items()}
        known, renamed = ([replace_in_formula(f, names) for f in each] for each in (assumptions, formulas))
        question = LinearQuestion(tuple(own.values()), domains, known, renamed, weights)
        like = SharedGroup(OrderGroup.of(question) or LinearGroup(*question))
        if key is not None:
            self._decided[key] = like
        return RenamedGroup(like, symbols) if names else like.group

    def _key(
        self, symbols: Sequence[Symbol], assumptions: Sequence[Formula], formulas: Sequence[Formula]
    ) -> tuple[Any, ...] | None:
        if not all(map(is_linear, (*assumptions, *formulas))):
            return None
        names = standard_names(symbols)
        return (
            () if all(map(is_any_size, symbols)) else tuple(sorted(range(len(symbols)), key=lambda n: symbols[n].name)),
            tuple((self.domains[s], self.weights[s]) for s in symbols),
            tuple(replace_in_formula(f, names) for f in assumptions),
            tuple(replace_in_formula(f, names) for f in formulas),
        )


class SharedGroup:
    """A group whose evidence is kept for isomorphic groups."""

    def __init__(self, group: LinearGroup | OrderGroup) -> None:
        self.group = group

    @kept_property
    def witness(self) -> dict[Symbol, int] | None:
        """The smallest sizes that satisfy it."""
        return self.group.witness()

    @kept_property
    def counterexample(self) -> dict[Symbol, int] | None:
        """The smallest sizes that break it."""
        return self.group.counterexample()

    @kept_property
    def base(self) -> dict[Symbol, int] | None:
        """The smallest sizes that its assumptions allow."""
        return self.group.base()


class RenamedGroup:
    """A group isomorphic to one that was decided; it reuses that group's answers."""

    def __init__(self, like: SharedGroup, symbols: Sequence[Symbol]) -> None:
        self.like = like
        self.symbols = tuple(symbols)
        theirs = like.group.symbols
        self._ours = dict(zip(theirs, self.symbols, strict=True))
        self._theirs = dict(zip(self.symbols, theirs, strict=True))
        self.satisfiable = like.group.satisfiable
        self.tier = like.group.tier

    @property
    def evidence_reason(self) -> str:
        """Why the sizes found may not be the smallest."""
        return self._in_our_words(self.like.group.evidence_reason)

    @property
    def violable(self) -> bool | None:
        """Whether it can fail; None if undecided."""
        return self.like.group.violable

    @kept_property
    def clauses(self) -> list[Formula]:
        """The condition, irredundant."""
        return [replace_in_formula(clause, self._ours) for clause in self.like.group.clauses]

    @kept_property
    def unproven(self) -> set[Formula]:
        """The clauses that the others may imply."""
        open_ones = self.like.group.unproven
        pairs = zip(self.clauses, self.like.group.clauses, strict=True)
        return {clause for clause, theirs in pairs if theirs in open_ones} if open_ones else set()

    @property
    def reason(self) -> str:
        """Why something is undecided."""
        return self._in_our_words(self.like.group.reason)

    def _in_our_words(self, reason: str) -> str:
        """Return a reason, which may quote a formula, with the names of these symbols."""
        ours = {theirs.name: name_text(own.name) for theirs, own in self._ours.items()}
        return re.sub(r"(?<![\w.])[^\W\d]\w*", lambda word: ours.get(word[0], word[0]), reason) if reason else ""

    def witness(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy assumptions and clauses."""
        return self._renamed(self.like.witness)

    def counterexample(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break a clause."""
        return self._renamed(self.like.counterexample)

    def base(self) -> dict[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions."""
        return self._renamed(self.like.base)

    def constant(self, dim: Dim) -> int | None:
        """Return the only size that a dimension has wherever the clauses hold."""
        return self.like.group.constant(replace_symbols(dim, self._theirs))

    def covers(self, data: Dim, target: Dim) -> bool:
        """Return whether ``data`` is 1 or equals ``target`` wherever the clauses hold."""
        return self.like.group.covers(replace_symbols(data, self._theirs), replace_symbols(target, self._theirs))

    def _renamed(self, sizes: Mapping[Symbol, int] | None) -> dict[Symbol, int] | None:
        return None if sizes is None else {ours: sizes[theirs] for ours, theirs in self._theirs.items()}
