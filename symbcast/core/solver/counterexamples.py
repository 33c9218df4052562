"""Why formulas fail: the fewest that clash, and the smallest sizes at which one conjunct of a condition fails."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice

from symbcast.core.algebra.formulas import Compatible, Formula, clauses, dims_of, expand, negate, with_values
from symbcast.core.algebra.terms import Symbol
from symbcast.core.effort import CONFLICT, SAMPLED, EffortSpentError, budget_share, evidence_units
from symbcast.core.solver.decision import AssumptionSet, Decision
from symbcast.core.solver.evaluation import holds_at, in_normal_form, replace_in_formula, standard_names, symbols_in
from symbcast.core.solver.groups import SymbolGroup
from symbcast.core.solver.points import least_size
from symbcast.core.solver.search import GroupEvidence, GroupQuestions

_SUBSETS_TRIED = 300
# Of more groups no subsets are tried: hardly any would be reached.
_FEW = 24
# Of no more names, the smallest sizes are known for certain.
_FEW_NAMES = 4


def smallest_conflict(
    groups: Sequence[Sequence[Formula]],
    assumptions: AssumptionSet,
    required: Collection[int] = (),
    sizes: Mapping[Symbol, int] | None = None,
) -> tuple[int, ...]:
    """Return the positions of the fewest groups that cannot hold together; empty if no conflict is proved.

    Among equally small conflicts, the first in order is returned. ``required`` are positions known to be in every
    conflict, and ``sizes`` are sizes at which most groups hold, if known: both only save time. Subsets are first tried
    by size, which is quick for a few groups and needs no solver for plain sizes; then `smallest_clash` takes over. If
    the effort does not suffice, all groups are returned: the caller knows that they cannot hold together.
    """
    try:
        with budget_share(CONFLICT):
            return _smallest_subset(groups, assumptions, required, sizes)
    except EffortSpentError:
        return tuple(range(len(groups)))


def _smallest_subset(
    groups: Sequence[Sequence[Formula]],
    assumptions: AssumptionSet,
    required: Collection[int],
    sizes: Mapping[Symbol, int] | None,
) -> tuple[int, ...]:
    if len(groups) <= _FEW:
        subsets = _subsets(len(groups), frozenset(required))
        for chosen in islice(subsets, _SUBSETS_TRIED):
            if Decision(assumptions, [f for n in chosen for f in groups[n]]).impossible:
                return chosen
        if next(subsets, None) is None:
            return ()
    from symbcast.core.solver.smallest_clash import smallest_clash

    return smallest_clash(groups, assumptions, required, sizes)


def _subsets(count: int, required: frozenset[int]) -> Iterator[tuple[int, ...]]:
    """Yield the choices of positions that contain all required ones, by size and then in order."""
    others = [n for n in range(count) if n not in required]
    for size in range(max(1, len(required)), count + 1):
        yield from sorted(tuple(sorted({*required, *more})) for more in combinations(others, size - len(required)))


class ClauseFailures:
    """Where the conjuncts of a condition fail, given all of them; each is asked for the cost of what it touches."""

    def __init__(self, decision: Decision, conjuncts: Iterable[Formula]) -> None:
        self.decision = decision
        self._conjuncts: dict[int, list[Formula]] = {}
        for clause in conjuncts:
            part = group_of(decision, clause)
            if part is not None and all(decision.part_of.get(s) is part for s in symbols_in(clause)):
                self._conjuncts.setdefault(id(part), []).append(clause)
        self._beside: dict[int, _OtherConjuncts] = {}
        # The smallest sizes at which formulas about a few names hold, by all that decides them.
        self._failures: dict[tuple[object, ...], list[int] | None] = {}

    def at(self, clause: Formula) -> Mapping[Symbol, int] | None:
        """Return the smallest sizes that satisfy the assumptions and break a conjunct.

        The others hold there, unless it can fail only together with some of them; then they are ignored. None if there
        are no such sizes, or none were found. If there is a witness, the result is a `ChainMap` of the sizes that
        differ from it, and the witness.
        """
        part = group_of(self.decision, clause)
        if part is None:
            return None
        beside = self._beside.get(id(part))
        if beside is None:
            conjuncts = self._conjuncts.get(id(part), [])
            beside = self._beside[id(part)] = _OtherConjuncts(
                self.decision.assumptions, part, conjuncts, self._failures
            )
        sizes = beside.broken(clause)
        if sizes is None:
            return None
        rest = self.decision.witness()
        if rest is not None:
            return ChainMap(self.decision.with_values(beside.differing(sizes, rest)), rest)
        parts = self.decision.parts
        return self.decision.whole([p.witness() or p.base() if p is not part else sizes for p in parts])


def group_of(decision: Decision, clause: Formula) -> SymbolGroup | None:
    """Return the first part that decides sizes of a formula; None if it has none, or all have known values."""
    parts = {id(part): part for s in symbols_in(clause) if (part := decision.part_of.get(s)) is not None}
    if len(parts) < 2:
        return next(iter(parts.values()), None)
    return next(part for part in decision.parts if id(part) in parts)


class _OtherConjuncts:
    """The conjuncts and assumptions about the sizes of one part, and which of them hold where all sizes are least."""

    def __init__(
        self,
        assumptions: AssumptionSet,
        part: SymbolGroup,
        conjuncts: Sequence[Formula],
        failures: dict[tuple[object, ...], list[int] | None],
    ) -> None:
        self._assumptions = assumptions
        self._symbols = tuple(part.symbols)
        self._places = {s: n for n, s in enumerate(self._symbols)}
        self._least = {s: least_size(assumptions.domains[s]) or 0 for s in self._symbols}
        self._least_beyond: dict[Symbol, int] | None = None
        self._conjuncts = conjuncts
        tied = [f for f in assumptions.others if symbols_in(f).keys() <= self._places.keys()]
        self._facts = [*conjuncts, *tied]
        self._touching: dict[Symbol, list[int]] = {}
        for number, fact in enumerate(self._facts):
            for symbol in symbols_in(fact):
                self._touching.setdefault(symbol, []).append(number)
        self._failing = [n for n, fact in enumerate(self._facts) if not holds_at(fact, self._least)]
        self._failures = failures

    def broken(self, clause: Formula) -> Mapping[Symbol, int] | None:
        """Return the smallest sizes of the part that break a conjunct; a `ChainMap` if all but its own are least."""
        failure: Mapping[Symbol, int] | None = self._alone(clause)
        if failure is None:
            others = [c for c in self._conjuncts if c != clause]
            for beside in ([],) if _is_needed(clause, others) else (others, []):
                failure = failure or _smallest_failure(self._assumptions, self._symbols, [*beside, negate(clause)])
        return failure

    def differing(self, sizes: Mapping[Symbol, int], witness: Mapping[Symbol, int]) -> dict[Symbol, int]:
        """Return those of some sizes, which `broken` returned, that differ from the witness."""
        if not isinstance(sizes, ChainMap):
            return {s: size for s, size in sizes.items() if witness[s] != size}
        if self._least_beyond is None:
            self._least_beyond = {s: size for s, size in self._least.items() if witness[s] != size}
        return {**self._least_beyond, **sizes.maps[0]}

    def _alone(self, clause: Formula) -> Mapping[Symbol, int] | None:
        """Return the smallest sizes of a clause's own symbols that break it, if all other sizes can then be least."""
        # Among equal sums, the smallest sizes come first in order of appearance; the clause may use a different order.
        own = sorted((s for s in symbols_in(clause) if s in self._places), key=self._places.__getitem__)
        broken = self._smallest(own, negate(clause))
        if broken is None:
            return None
        sizes = ChainMap(broken, self._least)
        near = {n for s in own for n in self._touching.get(s, ())}
        facts = self._facts
        if any(facts[n] != clause for n in self._failing if n not in near):
            return None
        if not all(holds_at(facts[n], sizes) for n in near if facts[n] != clause or n >= len(self._conjuncts)):
            return None
        return sizes

    def _smallest(self, symbols: Sequence[Symbol], formula: Formula) -> dict[Symbol, int] | None:
        """Return the smallest sizes at which a formula holds; once for those about a few names that differ in them."""
        known = self._assumptions
        is_plain = all(isinstance(d, int) or d.is_Symbol for d in dims_of(formula))
        if known.others or not is_plain or len(symbols) > _FEW_NAMES:
            return _smallest_failure(known, symbols, [formula])
        facts = ((known.domains[s], known.weights[s]) for s in symbols)
        key = (replace_in_formula(formula, standard_names(symbols)), *facts)
        if key not in self._failures:
            found = _smallest_failure(known, symbols, [formula])
            self._failures[key] = None if found is None else [found[s] for s in symbols]
        sizes = self._failures[key]
        return None if sizes is None else dict(zip(symbols, sizes, strict=True))


def _is_needed(clause: Formula, others: Iterable[Formula]) -> bool:
    """Return whether a term of another conjunct has no value where a clause fails, so that it cannot fail alone."""
    needs = {need for other in others for formula in clauses(with_values(other)) for need in _spelled_out(formula)}
    return needs.issuperset(_spelled_out(clause))


def _spelled_out(formula: Formula) -> Iterator[Formula]:
    return map(in_normal_form, clauses(expand(formula) if isinstance(formula, Compatible) else formula))


def _smallest_failure(
    assumptions: AssumptionSet, symbols: Sequence[Symbol], formulas: Sequence[Formula]
) -> dict[Symbol, int] | None:
    """Return the smallest sizes of some symbols at which formulas hold, with the assumptions about these alone."""
    assumed = [f for f in assumptions.others if symbols_in(f).keys() <= set(symbols)]
    try:
        with budget_share(evidence_units(len(symbols)) + SAMPLED):
            questions = GroupQuestions(symbols, assumptions.domains, assumed, formulas)
            return GroupEvidence(questions, assumptions.weights).satisfying(formulas)
    except EffortSpentError:
        return None
