"""Operations that nearby comparisons decide: where ``M > N``, ``min(M, N)`` is N; where ``N < 4``, ``N//4`` is 0.

A literal of a disjunction matters only where the other literals fail and where the conjuncts next to the disjunction
hold. Only comparisons without operations are used as facts, and these stay unchanged, so no two comparisons simplify
each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from symbcast.core.algebra.lower_bounds import lower_bound
from symbcast.core.algebra.operations import Substitution
from symbcast.core.algebra.terms import Operation, Term, constant, term
from symbcast.core.effort import charge
from symbcast.core.logic.formulas import AnyOf, Comparison, Formula, any_of, negate, with_dims

_FACTS = 12
"""With more facts, only the first ones are used."""
_QUESTION = 10
"""Units of effort for asking whether a fact decides an operation."""


def decided(conjuncts: Sequence[Formula]) -> list[Formula]:
    """Return conjuncts in which operations decided by nearby comparisons are replaced.

    >>> from symbcast.core.text import parse_formula
    >>> decided([parse_formula(text) for text in ("min(M, N) == 1 or M <= N", "max(M, 3) == K", "M >= 3")])
    [AnyOf((Comparison('==', N, 1), Comparison('<=', M, N))), Comparison('==', M, K), Comparison('<=', 3, M)]
    """
    if not any(map(_has_operation, conjuncts)):
        return list(conjuncts)
    facts = [room for clause in conjuncts for room in _rooms(clause)]
    return [_decided_clause(clause, facts) for clause in conjuncts]


def _decided_clause(clause: Formula, facts: Sequence[Term]) -> Formula:
    if not _has_operation(clause):
        return clause
    if isinstance(clause, AnyOf):
        beside = [room for part in clause.parts for room in _rooms(negate(part))]
        return any_of(_replaced(part, [*beside, *facts]) for part in clause.parts)
    return _replaced(clause, facts)


def _rooms(formula: Formula) -> Iterator[Term]:
    """Yield the terms that a comparison without operations states to be non-negative."""
    if isinstance(formula, Comparison) and not _has_operation(formula):
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


def _operations(formula: Formula) -> Iterator[Operation]:
    """Yield the operations of a comparison, or of all comparisons in a disjunction."""
    for part in formula.parts if isinstance(formula, AnyOf) else (formula,):
        if isinstance(part, Comparison):
            for side in (part.left, part.right):
                if not isinstance(side, int):
                    yield from side.operations()


def _replaced(formula: Formula, facts: Sequence[Term]) -> Formula:
    """Return a comparison with the operations that the facts decide replaced."""
    found = {o: value for o in dict.fromkeys(_operations(formula)) if (value := _value(o, facts[:_FACTS])) is not None}
    if not found:
        return formula
    put_in = Substitution(found, of_symbols=False)
    return with_dims(formula, lambda dim: put_in.term(term(dim)).dim())


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
