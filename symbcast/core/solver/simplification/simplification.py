"""Simplified conditions: decided by the ladder, with unions of cases shortened, until nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from symbcast.core.effort import EffortSpentError, Stage
from symbcast.core.logic.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    clauses,
)
from symbcast.core.solver.budget import SHORTENED, stage
from symbcast.core.solver.decision.decision import Decision
from symbcast.core.solver.decision.knowledge import ContradictionError, Knowledge
from symbcast.core.solver.groups.connectivity import Group, groups
from symbcast.core.solver.groups.normal_form import (
    as_relation_of_terms,
    flattened,
    put_in,
    standard_names,
    symbols_in,
    with_joins,
    with_larger_joins,
)
from symbcast.core.solver.groups.set_products import split
from symbcast.core.solver.sets.literals import canonical
from symbcast.core.solver.sets.set_formulas import describe
from symbcast.core.solver.simplification.decided_operations import decided
from symbcast.core.solver.simplification.disjunctions import Cases

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.solver.sets.size_sets import SizeSet

_ROUNDS = 12
_HELD = 16
"""A disjunction of more conjunctions, already short, is not decided about again."""


def simplified(formula: Formula, knowledge: Knowledge) -> Formula:
    """Return an equivalent formula under the known facts without redundant parts; simplifying it again changes nothing.

    Sizes that no formula ties together are simplified separately.
    """
    found = _simplified(formula, knowledge)
    for _ in range(_ROUNDS):
        if found == formula or not any(isinstance(with_joins(clause), Compatible) for clause in clauses(found)):
            break
        # A join that was or is now spelled out may be read in another order: repeat until its form settles.
        formula, found = found, _simplified(found, knowledge)
    return found


def _simplified(formula: Formula, knowledge: Knowledge) -> Formula:
    known = _split([put_in(formula, knowledge.values) if knowledge.values else formula], knowledge)
    if FALSE in known:
        return FALSE
    for _ in range(_ROUNDS):
        found = [_of_group(group, knowledge.domains) for group in groups(knowledge.domains, known, knowledge.others)]
        if FALSE in found:
            return FALSE
        known = [clause for form in found for clause in clauses(form)]
        # Fewer formulas may tie sizes together now, and the first formulas of groups may have changed.
        again = groups(knowledge.domains, known, knowledge.others)
        if [all_of(group.formulas) for group in again] == [form for form in found if form != TRUE]:
            break
    return all_of(with_larger_joins(known))


def _of_group(group: Group, domains: Mapping[Symbol, SizeSet]) -> Formula:
    """Return the formulas of a group, simplified; groups that differ only in the names of symbols are one question."""
    names = standard_names(group.symbols)
    sets = tuple(domains[s] for s in group.symbols)
    asked = [put_in(formula, names) for formula in (*group.others, all_of(group.formulas))]
    found = _stage(tuple(names.values()), sets, tuple(asked[:-1]), asked[-1])()
    return put_in(found, {standard: s for s, standard in names.items()})


def _fixed_point(
    symbols: tuple[Symbol, ...], sets: tuple[SizeSet, ...], others: tuple[Formula, ...], formula: Formula
) -> Formula:
    """Return a form that `_step` does not change.

    If forms follow each other in a cycle, return the shortest of them, so that this is a fixed point too.
    """
    knowledge = Knowledge(symbols, dict(zip(symbols, sets, strict=True)), others)
    path = [formula]
    done: set[Formula] = set()
    while len(path) <= _ROUNDS:
        try:
            found = _restored(_step(path[-1], knowledge, done), path[-1])
        except EffortSpentError:
            break
        if found in path:
            return min(path[path.index(found) :], key=lambda f: (size(f), repr(f)))
        path.append(found)
    return path[-1]


@lru_cache(maxsize=1024)
def _stage(
    symbols: tuple[Symbol, ...], sets: tuple[SizeSet, ...], others: tuple[Formula, ...], formula: Formula
) -> Stage[Formula]:
    return stage(SHORTENED, lambda: _fixed_point(symbols, sets, others, formula), lambda: formula)


def size(formula: Formula) -> int:
    """Return the number of literals in a formula."""
    return sum(map(size, formula.parts)) if isinstance(formula, (AllOf, AnyOf)) else 1


def _step(formula: Formula, knowledge: Knowledge, done: set[Formula]) -> Formula:
    known, held = _without_bridges(_split([put_in(formula, knowledge.values)], knowledge), knowledge)
    if FALSE in known:
        return FALSE
    rest: list[Formula] = []
    for group in groups(knowledge.domains, known, knowledge.others):
        short = _shortened(group, knowledge, done) if any(map(_is_of_cases, group.formulas)) else None
        if short is not None and _is_to_hold(short, knowledge):
            held += short
        else:
            rest += group.formulas if short is None else short
    decision = Decision(knowledge, rest)
    if decision.impossible or FALSE in held:
        return FALSE
    unproven = decision.unproven
    decided: list[Formula] = []
    for group in groups(knowledge.domains, decision.clauses, knowledge.others):
        fixed = unproven.intersection(group.formulas) or all(
            as_relation_of_terms(c) is not None for c in group.formulas
        )
        short = None if fixed else _shortened(group, knowledge, done)
        decided += group.formulas if short is None else short
    return all_of([*decided, *held])


def _without_bridges(known: Sequence[Formula], knowledge: Knowledge) -> tuple[list[Formula], list[Formula]]:
    """Return conjuncts without bridges, and the bridges, all shortened.

    A bridge is a disjunction that is the only link between sizes. In ``C and D and (c or d)``, where C and c are about
    some sizes, D and d about others, nothing in C and D is redundant unless it already is within C or D; and c is as
    short as it can be where C holds. So the product of C and d, one for each alternative, is never examined.
    """
    found: list[Formula] = []
    short: list[Formula] = []
    for group in () if FALSE in known else groups(knowledge.domains, known, knowledge.others):
        bridge, parts = _bridge(group)
        if bridge is None:
            found += group.formulas
            continue
        found += (f for f in group.formulas if f is not bridge)
        possible = [(part, form) for part in parts if (form := _where_all_hold(part, knowledge)) != FALSE]
        if len(possible) == 1:
            found += clauses(any_of(possible[0][0].alternatives))
        else:
            short += clauses(any_of(form for _, form in possible))
    return (list(known), []) if FALSE in known else (found, short)


def _bridge(group: Group) -> tuple[Formula | None, list[Group]]:
    """Return a bridge, and the groups left without it that its alternatives are about; None if there is no bridge."""
    for formula in group.formulas:
        if isinstance(formula, AnyOf):
            rest = [f for f in group.formulas if f is not formula]
            parts = [p for p in groups(group.symbols, rest, group.others, formula.parts) if p.alternatives]
            if len(parts) > 1:
                return formula, parts
    return None, []


def _where_all_hold(part: Group, knowledge: Knowledge) -> Formula:
    """Return that one of the alternatives holds, simplified under all other formulas about the group."""
    domains = {s: knowledge.domains[s] for s in part.symbols}
    try:
        known = Knowledge(part.symbols, domains, [*part.others, *part.formulas])
    except ContradictionError:
        return FALSE
    return simplified(any_of(part.alternatives), known)


def _split(formulas: Sequence[Formula], knowledge: Knowledge) -> list[Formula]:
    """Return conjuncts, with products of sets replaced by a constraint on each symbol, which needs no solver."""
    found: dict[Formula, None] = {}
    for clause in dict.fromkeys(map(with_joins, flattened(decided(flattened(formulas))))):
        sets = split(clause, knowledge.domains) if len(symbols_in(clause)) > 1 else None
        if sets is None:
            found[clause] = None
        else:
            domains = knowledge.domains
            described = (describe(s, members, domains[s]) for s, members in sets.items())
            found.update(dict.fromkeys(c for f in described for c in clauses(f)))
    return list(found)


def _is_to_hold(short: Sequence[Formula], knowledge: Knowledge) -> bool:
    """Return whether to keep a disjunction of cases, because deciding it would only write it differently."""
    cases = [c for c in short if isinstance(c, AnyOf) and _is_of_cases(c)]
    if not cases:
        return False
    if len(dict.fromkeys(s for f in short for s in symbols_in(f))) == 1:
        described = all_of(Decision(knowledge, short).clauses)
        return size(all_of(short)) < size(described)
    return len(short) == 1 or any(len(c.parts) > _HELD for c in cases)


def _shortened(given: Group, knowledge: Knowledge, done: set[Formula]) -> list[Formula] | None:
    """Return the conjuncts of the shortest equivalent of some formulas, possibly unchanged; None if none was found.

    ``done`` are those already known to be shortest.
    """
    group = given.formulas
    asked = dict.fromkeys(s for f in group for s in symbols_in(f))
    if not any(isinstance(c, AnyOf) for c in group) or (len(asked) < 2 and not any(map(_is_of_cases, group))):
        return None
    formula = all_of(group)
    if formula in done:
        return group
    is_tied = any(not asked.keys().isdisjoint(symbols_in(f)) for f in given.others)
    others = given.others if is_tied else []
    around = [s for s in given.symbols if s in asked or any(s in symbols_in(f) for f in others)]
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
    """Return a formula with its comparisons written as in the given one, if that is as easy to read."""
    written: dict[Formula, Comparison] = {}
    for leaf in _leaves([given]):
        found = canonical(leaf)
        if _is_solved(leaf) or not _is_solved(found):
            written.setdefault(found, leaf)
    return _rewritten(formula, written)


def _is_solved(formula: Formula) -> bool:
    """Return whether a comparison is between a symbol and an integer, which is on the right of ``==`` and ``!=``."""
    match formula:
        case Comparison(operator, int(), size):
            return not isinstance(size, int) and size.is_Symbol and operator in ("<=", "<")
        case Comparison(_, size, int()):
            return not isinstance(size, int) and size.is_Symbol
    return False


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
