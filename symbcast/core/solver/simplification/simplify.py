"""Conditions simplified under assumptions: decided operations are replaced, and unions of cases shortened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from symbcast.core.algebra.bounds import lower_bound
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    Leaf,
    all_of,
    any_of,
    clauses,
    literal_count,
    lost_needs,
    negate,
    operations_in,
    with_dims,
    with_leaves,
)
from symbcast.core.algebra.term_arithmetic import Substitution
from symbcast.core.algebra.terms import Operation, Symbol, Term, constant, term
from symbcast.core.effort import SHORTENED, EffortSpentError, Stage, budget_stage, charge
from symbcast.core.solver.decision import AssumptionSet, ContradictionError, Decision
from symbcast.core.solver.evaluation import (
    as_relation_of_terms,
    normal_conjuncts,
    replace_in_formula,
    standard_names,
    symbols_in,
    with_joins,
    with_larger_joins,
)
from symbcast.core.solver.f2_one_size.clauses import canonical_comparison
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.solver.f2_one_size.set_products import split_by_symbol
from symbcast.core.solver.groups import FormulaGroup, formula_groups
from symbcast.core.solver.simplification.cases import CaseSimplifier
from symbcast.core.solver.size_sets import SizeSet

# Operations that nearby comparisons decide: where ``M > N``, ``min(M, N)`` is N; where ``N < 4``, ``N//4`` is 0.
#
# A literal of a disjunction matters only where the other literals fail and where the conjuncts next to the disjunction
# hold. Only comparisons without operations are used as facts, and these stay unchanged, so no two comparisons simplify
# each other.


# With more facts, only the first ones are used.
_FACTS = 12
# Units of effort for asking whether a fact decides an operation.
_QUESTION = 10


def without_decided_operations(conjuncts: Sequence[Formula]) -> list[Formula]:
    """Return conjuncts in which operations decided by nearby comparisons are replaced.

    >>> from symbcast.core.text import parse_formula
    >>> texts = ("min(M, N) == 1 or M <= N", "max(M, 3) == K", "M >= 3")
    >>> without_decided_operations([parse_formula(text) for text in texts])
    [AnyOf((Comparison('==', N, 1), Comparison('<=', M, N))), Comparison('==', M, K), Comparison('<=', 3, M)]
    """
    if not any(map(_has_operation, conjuncts)):
        return list(conjuncts)
    facts = [room for clause in conjuncts if not _has_operation(clause) for room in _rooms(clause)]
    decided = [_decided_clause(clause, facts) for clause in conjuncts]
    if not any(map(_has_extreme, decided)):
        return decided
    # Comparisons of quotients are facts too. Only clauses with a min or max change now, and these are no such facts:
    # two clauses that were both rewritten because the other holds would be weaker together.
    facts += [room for clause in decided if not _has_extreme(clause) for room in _rooms(clause)]
    return [_decided_clause(clause, facts) if _has_extreme(clause) else clause for clause in decided]


def _decided_clause(clause: Formula, facts: Sequence[Term]) -> Formula:
    if not _has_operation(clause):
        return clause
    if isinstance(clause, AnyOf):
        beside = [room for part in clause.parts if not _has_operation(part) for room in _rooms(negate(part))]
        return any_of(_replaced(part, [*beside, *facts]) for part in clause.parts)
    return _replaced(clause, facts)


def _rooms(formula: Formula) -> Iterator[Term]:
    """Yield the terms that a comparison states to be non-negative."""
    if isinstance(formula, Comparison):
        room = term(formula.right) - term(formula.left)
        match formula.operator:
            case "<=":
                yield room
            case "<":
                yield room - constant(1)
            case "==":
                yield room
                yield -room


def _has_operation(formula: Formula) -> bool:
    return any(True for _ in _operations(formula))


def _has_extreme(formula: Formula) -> bool:
    return any(o.kind in ("min", "max") for o in operations_in(formula))


def _operations(formula: Formula) -> Iterator[Operation]:
    """Yield the operations of a comparison, or of all comparisons in a disjunction."""
    for part in formula.parts if isinstance(formula, AnyOf) else (formula,):
        if isinstance(part, Comparison):
            for side in (part.left, part.right):
                if not isinstance(side, int):
                    yield from side.operations()


def _replaced(formula: Formula, facts: Sequence[Term]) -> Formula:
    """Return a comparison with the operations that the facts decide replaced."""
    values = {o: value for o in dict.fromkeys(_operations(formula)) if (value := _value(o, facts[:_FACTS])) is not None}
    if not values:
        return formula
    replaced = with_dims(formula, Substitution(values, of_symbols=False).dim)
    return all_of([replaced, *lost_needs(formula, replaced)])


def _value(operation: Operation, facts: Sequence[Term]) -> Term | None:
    """Return the term that an operation clearly equals, given the facts."""
    args = operation.args
    match operation.kind:
        case "min" | "max":
            for member in args:
                apart = (o - member if operation.kind == "min" else member - o for o in args if o is not member)
                if all(_holds(room, facts) for room in apart):
                    return member
        case "//" | "%":
            dividend, divisor = args
            if _holds(dividend, facts) and _holds(divisor - dividend - constant(1), facts):
                return constant(0) if operation.kind == "//" else dividend
    return None


def _holds(room: Term, facts: Iterable[Term]) -> bool:
    """Return whether a term is non-negative, unconditionally or because a fact is a lower bound of it."""
    charge(_QUESTION)
    return any(least is not None and least >= 0 for least in map(lower_bound, (room, *(room - f for f in facts))))


_ROUNDS = 12
# A disjunction of more conjunctions, already short, is not decided about again.
_LONG_CASES = 16


def simplified(formula: Formula, assumptions: AssumptionSet) -> Formula:
    """Return an equivalent formula under the known facts without redundant parts; simplifying it again changes nothing.

    Sizes that no formula ties together are simplified separately.
    """
    shorter = _simplified(formula, assumptions)
    for _ in range(_ROUNDS):
        if shorter == formula or not any(isinstance(with_joins(clause), Compatible) for clause in clauses(shorter)):
            break
        # A join that was or is now spelled out may be read in another order: repeat until its form settles.
        formula, shorter = shorter, _simplified(shorter, assumptions)
    return shorter


def _simplified(formula: Formula, assumptions: AssumptionSet) -> Formula:
    known = _split([replace_in_formula(formula, assumptions.values)], assumptions)
    if FALSE in known:
        return FALSE
    groups = formula_groups(assumptions.domains, known, assumptions.others)
    for _ in range(_ROUNDS):
        forms = [_of_group(group, assumptions.domains) for group in groups]
        if FALSE in forms:
            return FALSE
        known = [clause for form in forms for clause in clauses(form)]
        # Fewer formulas may tie sizes together now, and the first formulas of groups may have changed.
        groups = formula_groups(assumptions.domains, known, assumptions.others)
        if [all_of(group.formulas) for group in groups] == [form for form in forms if form != TRUE]:
            break
    return all_of(with_larger_joins(known))


def _of_group(group: FormulaGroup, domains: Mapping[Symbol, SizeSet]) -> Formula:
    """Return the formulas of a group, simplified; groups that differ only in the names of symbols are one question."""
    names = standard_names(group.symbols)
    sets = tuple(domains[s] for s in group.symbols)
    renamed = [replace_in_formula(formula, names) for formula in (*group.others, all_of(group.formulas))]
    form = _stage(tuple(names.values()), sets, tuple(renamed[:-1]), renamed[-1])()
    return replace_in_formula(form, {standard: s for s, standard in names.items()})


def _fixed_point(
    symbols: tuple[Symbol, ...], sets: tuple[SizeSet, ...], others: tuple[Formula, ...], formula: Formula
) -> Formula:
    """Return a form that `_step` does not change.

    If forms follow each other in a cycle, return the shortest of them, so that this is a fixed point too.
    """
    assumptions = AssumptionSet(symbols, dict(zip(symbols, sets, strict=True)), others)
    path = [formula]
    done: set[Formula] = set()
    while len(path) <= _ROUNDS:
        try:
            form = _restored(_step(path[-1], assumptions, done), path[-1])
        except EffortSpentError:
            break
        if form in path:
            return min(path[path.index(form) :], key=lambda f: (literal_count(f), repr(f)))
        path.append(form)
    return path[-1]


@lru_cache(maxsize=1024)
def _stage(
    symbols: tuple[Symbol, ...], sets: tuple[SizeSet, ...], others: tuple[Formula, ...], formula: Formula
) -> Stage[Formula]:
    return budget_stage(SHORTENED, lambda: _fixed_point(symbols, sets, others, formula), lambda: formula)


def _step(formula: Formula, assumptions: AssumptionSet, done: set[Formula]) -> Formula:
    known, bridges = _without_bridges(
        _split([replace_in_formula(formula, assumptions.values)], assumptions), assumptions
    )
    if FALSE in known:
        return FALSE
    rest: list[Formula] = []
    for group in formula_groups(assumptions.domains, known, assumptions.others):
        short = _shortened(group, assumptions, done) if any(map(_is_of_cases, group.formulas)) else None
        if short is not None and _is_kept_whole(short, assumptions):
            bridges += short
        else:
            rest += group.formulas if short is None else short
    decision = Decision(assumptions, rest)
    if decision.impossible or FALSE in bridges:
        return FALSE
    unproven = decision.unproven
    decided: list[Formula] = []
    for group in formula_groups(assumptions.domains, decision.clauses, assumptions.others):
        fixed = unproven.intersection(group.formulas) or all(
            as_relation_of_terms(c) is not None for c in group.formulas
        )
        short = None if fixed else _shortened(group, assumptions, done)
        decided += group.formulas if short is None else short
    return all_of([*decided, *bridges])


def _without_bridges(known: Sequence[Formula], assumptions: AssumptionSet) -> tuple[list[Formula], list[Formula]]:
    """Return conjuncts without bridges, and the bridges, all shortened.

    A bridge is a disjunction that is the only link between sizes. In ``C and D and (c or d)``, where C and c are about
    some sizes, D and d about others, nothing in C and D is redundant unless it already is within C or D; and c is as
    short as it can be where C holds. So the product of C and d, one for each alternative, is never examined.
    """
    others: list[Formula] = []
    short: list[Formula] = []
    for group in () if FALSE in known else formula_groups(assumptions.domains, known, assumptions.others):
        bridge, parts = _bridge(group)
        if bridge is None:
            others += group.formulas
            continue
        others += (f for f in group.formulas if f is not bridge)
        possible = [(part, form) for part in parts if (form := _where_all_hold(part, assumptions)) != FALSE]
        if len(possible) == 1:
            others += clauses(any_of(possible[0][0].alternatives))
        else:
            short += clauses(any_of(form for _, form in possible))
    return (list(known), []) if FALSE in known else (others, short)


def _bridge(group: FormulaGroup) -> tuple[Formula | None, list[FormulaGroup]]:
    """Return a bridge, and the groups left without it that its alternatives are about; None if there is no bridge."""
    for formula in group.formulas:
        if isinstance(formula, AnyOf):
            rest = [f for f in group.formulas if f is not formula]
            parts = [p for p in formula_groups(group.symbols, rest, group.others, formula.parts) if p.alternatives]
            if len(parts) > 1:
                return formula, parts
    return None, []


def _where_all_hold(part: FormulaGroup, assumptions: AssumptionSet) -> Formula:
    """Return that one of the alternatives holds, simplified under all other formulas about the group."""
    domains = {s: assumptions.domains[s] for s in part.symbols}
    try:
        known = AssumptionSet(part.symbols, domains, [*part.others, *part.formulas])
    except ContradictionError:
        return FALSE
    return simplified(any_of(part.alternatives), known)


def _split(formulas: Sequence[Formula], assumptions: AssumptionSet) -> list[Formula]:
    """Return conjuncts, with products of sets replaced by a constraint on each symbol, which needs no solver."""
    conjuncts: dict[Formula, None] = {}
    for clause in dict.fromkeys(
        map(with_joins, normal_conjuncts(without_decided_operations(normal_conjuncts(formulas))))
    ):
        sets = split_by_symbol(clause, assumptions.domains) if len(symbols_in(clause)) > 1 else None
        if sets is None:
            conjuncts[clause] = None
        else:
            domains = assumptions.domains
            described = (set_formula(s, members, domains[s]) for s, members in sets.items())
            conjuncts.update(dict.fromkeys(c for f in described for c in clauses(f)))
    return list(conjuncts)


def _is_kept_whole(short: Sequence[Formula], assumptions: AssumptionSet) -> bool:
    """Return whether to keep a disjunction of cases, because deciding it would only write it differently."""
    cases = [c for c in short if isinstance(c, AnyOf) and _is_of_cases(c)]
    if not cases:
        return False
    if len(dict.fromkeys(s for f in short for s in symbols_in(f))) == 1:
        described = all_of(Decision(assumptions, short).clauses)
        return literal_count(all_of(short)) < literal_count(described)
    return len(short) == 1 or any(len(c.parts) > _LONG_CASES for c in cases)


def _shortened(group: FormulaGroup, assumptions: AssumptionSet, done: set[Formula]) -> list[Formula] | None:
    """Return the conjuncts of the shortest equivalent of some formulas, possibly unchanged; None if none was found.

    ``done`` are those already known to be shortest.
    """
    formulas = group.formulas
    symbols = dict.fromkeys(s for f in formulas for s in symbols_in(f))
    if not any(isinstance(c, AnyOf) for c in formulas) or (len(symbols) < 2 and not any(map(_is_of_cases, formulas))):
        return None
    formula = all_of(formulas)
    if formula in done:
        return formulas
    is_tied = any(not symbols.keys().isdisjoint(symbols_in(f)) for f in group.others)
    others = group.others if is_tied else []
    around = [s for s in group.symbols if s in symbols or any(s in symbols_in(f) for f in others)]
    cases = CaseSimplifier(formula, around, assumptions.domains, others)
    shortest = cases.shortest()
    if cases.is_grown:
        done.add(formula if shortest is None else shortest)
    if shortest is None:
        return None
    if _is_two_level(formula) and literal_count(shortest) >= literal_count(formula):
        return formulas
    return list(clauses(shortest))


def _is_of_cases(formula: Formula) -> bool:
    """Return whether a formula is a disjunction with a conjunction in it."""
    return isinstance(formula, AnyOf) and any(isinstance(part, AllOf) and part.parts for part in formula.parts)


def _is_two_level(formula: Formula) -> bool:
    inner = AnyOf if isinstance(formula, AllOf) else AllOf
    parts = formula.parts if isinstance(formula, (AllOf, AnyOf)) else ()
    leaves = (leaf for part in parts for leaf in (part.parts if isinstance(part, inner) else (part,)))
    return not any(isinstance(leaf, (AllOf, AnyOf)) for leaf in leaves)


def _restored(formula: Formula, original: Formula) -> Formula:
    """Return a formula with its comparisons written as in the given one, if that is as easy to read."""
    written: dict[Formula, Comparison] = {}
    for leaf in _leaves([original]):
        canonical = canonical_comparison(leaf)
        if _is_solved(leaf) or not _is_solved(canonical):
            written.setdefault(canonical, leaf)
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
    def changed(leaf: Leaf) -> Formula:
        return written.get(canonical_comparison(leaf), leaf) if isinstance(leaf, Comparison) else leaf

    return with_leaves(formula, changed)


def _leaves(formulas: Iterable[Formula]) -> Iterator[Comparison]:
    for formula in formulas:
        if isinstance(formula, Comparison):
            yield formula
        elif isinstance(formula, (AllOf, AnyOf)):
            yield from _leaves(formula.parts)
