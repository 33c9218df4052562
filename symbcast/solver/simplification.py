"""Conditions simplified: decided by the ladder, unions of cases made short, until nothing changes any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.logic.formulas import (
    FALSE,
    AllOf,
    AnyOf,
    Comparison,
    Formula,
    all_of,
    any_of,
    clauses,
)
from symbcast.solver.connectivity import Ties
from symbcast.solver.decision import Decision
from symbcast.solver.disjunctions import Cases
from symbcast.solver.knowledge import Knowledge
from symbcast.solver.literals import canonical
from symbcast.solver.normal_form import as_relation_of_terms, flattened, put_in, symbols_in
from symbcast.solver.set_formulas import describe
from symbcast.solver.set_products import split

if TYPE_CHECKING:
    from symbcast.algebra.symbols import Symbol

_ROUNDS = 12
_HELD = 16
"""A disjunction of more conjunctions, already short, is not decided about again."""


def simplified(formula: Formula, knowledge: Knowledge) -> Formula:
    """Return an equivalent formula under what is known, in which nothing is redundant; simplifying it changes nothing.

    Where forms follow each other in a circle it is the shortest of them, so that this too is a fixed point.
    """
    path = [formula]
    done: set[Formula] = set()
    while len(path) <= _ROUNDS:
        found = _restored(_step(path[-1], knowledge, done), path[-1])
        if found in path:
            return min(path[path.index(found) :], key=lambda f: (size(f), repr(f)))
        path.append(found)
    return path[-1]


def size(formula: Formula) -> int:
    """Return how many literals a formula has."""
    return sum(map(size, formula.parts)) if isinstance(formula, (AllOf, AnyOf)) else 1


def _step(formula: Formula, knowledge: Knowledge, done: set[Formula]) -> Formula:
    known = _split([put_in(formula, knowledge.values) if knowledge.values else formula], knowledge)
    if FALSE in known:
        return FALSE
    held: list[Formula] = []
    rest: list[Formula] = []
    for symbols, group in _groups(known, knowledge):
        short = _shortened(group, symbols, knowledge, done) if any(map(_is_of_cases, group)) else None
        if short is not None and _is_to_hold(short, knowledge):
            held += short
        else:
            rest += group if short is None else short
    decision = Decision(knowledge, rest)
    if decision.impossible or FALSE in held:
        return FALSE
    unproven = decision.unproven
    decided: list[Formula] = []
    for symbols, group in _groups(decision.clauses, knowledge):
        fixed = unproven.intersection(group) or all(as_relation_of_terms(c) is not None for c in group)
        short = None if fixed else _shortened(group, symbols, knowledge, done)
        decided += group if short is None else short
    return all_of([*decided, *held])


def _split(formulas: Sequence[Formula], knowledge: Knowledge) -> list[Formula]:
    """Return conjuncts; those that are products of sets as what they say of each symbol, which needs no solver."""
    found: dict[Formula, None] = {}
    for clause in flattened(formulas):
        sets = split(clause, knowledge.domains) if len(symbols_in(clause)) > 1 else None
        if sets is None:
            found[clause] = None
        else:
            domains = knowledge.domains
            described = (describe(s, members, domains[s]) for s, members in sets.items())
            found.update(dict.fromkeys(c for f in described for c in clauses(f)))
    return list(found)


def _is_to_hold(short: Sequence[Formula], knowledge: Knowledge) -> bool:
    """Return whether a disjunction of cases is to stay: to decide about it would only write it in another way."""
    cases = [c for c in short if isinstance(c, AnyOf) and _is_of_cases(c)]
    if not cases:
        return False
    if len(dict.fromkeys(s for f in short for s in symbols_in(f))) == 1:
        described = all_of(Decision(knowledge, short).clauses)
        return size(all_of(short)) < size(described)
    return len(short) == 1 or any(len(c.parts) > _HELD for c in cases)


def _groups(formulas: Sequence[Formula], knowledge: Knowledge) -> Iterator[tuple[list[Symbol], list[Formula]]]:
    """Yield the symbols that formulas or assumptions tie together, with the formulas about them."""
    ties = Ties(knowledge.domains)
    ties.tie(formulas)
    ties.tie(knowledge.others)
    about = ties.sorted(formulas)
    for first, symbols in ties.all():
        if first in about:
            yield symbols, about[first]


def _shortened(
    group: list[Formula], symbols: Sequence[Symbol], knowledge: Knowledge, done: set[Formula]
) -> list[Formula] | None:
    """Return the conjuncts of the shortest equivalent of some formulas, which may be these; None where none was found.

    ``done`` are those that are known to be as short.
    """
    asked = dict.fromkeys(s for f in group for s in symbols_in(f))
    if not any(isinstance(c, AnyOf) for c in group) or (len(asked) < 2 and not any(map(_is_of_cases, group))):
        return None
    formula = all_of(group)
    if formula in done:
        return group
    others = [f for f in knowledge.others if not asked.keys().isdisjoint(symbols_in(f))]
    others = [f for f in knowledge.others if set(symbols_in(f)) <= set(symbols)] if others else []
    around = [s for s in symbols if s in asked or any(s in symbols_in(f) for f in others)]
    cases = Cases(formula, around, knowledge.domains, others)
    found = cases.shortest()
    if cases.is_grown:
        done.add(formula if found is None else found)
    if found is None:
        return None
    if _is_two_level(formula) and size(found) >= size(formula):
        return group
    return list(clauses(found))


def _is_of_cases(formula: Formula) -> bool:
    """Return whether a formula is a disjunction with a conjunction in it."""
    return isinstance(formula, AnyOf) and any(isinstance(part, AllOf) and part.parts for part in formula.parts)


def _is_two_level(formula: Formula) -> bool:
    inner = AnyOf if isinstance(formula, AllOf) else AllOf
    parts = formula.parts if isinstance(formula, (AllOf, AnyOf)) else ()
    leaves = (leaf for part in parts for leaf in (part.parts if isinstance(part, inner) else (part,)))
    return not any(isinstance(leaf, (AllOf, AnyOf)) for leaf in leaves)


def _restored(formula: Formula, given: Formula) -> Formula:
    """Return a formula with its comparisons written as in the given one, where they are there."""
    written: dict[Formula, Comparison] = {}
    for leaf in _leaves([given]):
        written.setdefault(canonical(leaf), leaf)
    return _rewritten(formula, written)


def _rewritten(formula: Formula, written: dict[Formula, Comparison]) -> Formula:
    match formula:
        case Comparison():
            return written.get(canonical(formula), formula)
        case AllOf(parts):
            return all_of(_rewritten(p, written) for p in parts)
        case AnyOf(parts):
            return any_of(_rewritten(p, written) for p in parts)
    return formula


def _leaves(formulas: Iterable[Formula]) -> Iterator[Comparison]:
    for formula in formulas:
        if isinstance(formula, Comparison):
            yield formula
        elif isinstance(formula, (AllOf, AnyOf)):
            yield from _leaves(formula.parts)
