"""Shorter conjuncts that are tried: without each min and max of a term and a number, if these make no difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.core.algebra.operations import Substitution
from symbcast.core.effort import EffortSpentError
from symbcast.core.logic.formulas import Formula, all_of, dims_of, negate, with_dims
from symbcast.core.solver.budget import SHORTENED, share
from symbcast.core.solver.decision.decision import Decision

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim, Operation, Term
    from symbcast.core.solver.decision.knowledge import Knowledge


def without_extremes(conjuncts: Sequence[Formula], knowledge: Knowledge) -> Sequence[Formula]:
    """Replace ``min`` and ``max`` of a size and a number by the size where that is proved equivalent.

    >>> from symbcast.core.solver.decision.knowledge import Knowledge
    >>> from symbcast.core.text import parse_formula
    >>> formulas = [parse_formula(text) for text in ("max(H//16, 1)*max(W//16, 1) == 196", "H == W")]
    >>> without_extremes(formulas, Knowledge.of_names(tuple(formulas[0].left.symbols())))[0]
    Comparison('==', (H//16)*(W//16), 196)
    """
    dims = dict.fromkeys(d for c in conjuncts for d in dims_of(c) if not isinstance(d, int))
    extremes = dict(found for d in dims for found in _extremes(d))
    if not extremes:
        return conjuncts
    put_in = Substitution(extremes, of_symbols=False)
    made = [with_dims(c, lambda dim: dim if isinstance(dim, int) else put_in.term(dim).dim()) for c in conjuncts]
    try:
        with share(SHORTENED):
            is_same = _implies(conjuncts, made, knowledge) and _implies(made, conjuncts, knowledge)
    except EffortSpentError:
        is_same = False
    return made if is_same else conjuncts


def _extremes(value: Term) -> Iterator[tuple[Operation, Dim]]:
    """Yield each min and max of a term and a number, at any depth, with the term; inner ones are replaced in it."""
    for operation in value.operations():
        for arg in operation.args:
            yield from _extremes(arg)
        others = [arg for arg in operation.args if not arg.is_constant]
        if operation.kind in ("min", "max") and len(others) == 1:
            inner = Substitution(dict(_extremes(others[0])), of_symbols=False)
            yield operation, inner.term(others[0]).dim()


def _implies(given: Sequence[Formula], asked: Sequence[Formula], knowledge: Knowledge) -> bool:
    other = all_of(c for c in asked if c not in given)
    return Decision(knowledge, [*given, negate(other)]).satisfiable is False
