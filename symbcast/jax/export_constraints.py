"""The constraints with which `jax.export` is asked to export a function, as texts of JAX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, product

from symbcast.adapters.jax import dimension_text
from symbcast.core.algebra.formulas import Comparison, Compatible, Formula, all_of, clauses, expand, literals
from symbcast.core.algebra.terms import Dim, Operation, Symbol, symbols_of
from symbcast.errors import DimensionError
from symbcast.paths.conclusions import Conclusions

# How many combinations of alternatives are tried.
MAX_TRIED = 12


def candidates(conclusions: Conclusions) -> Iterator[list[str]]:
    """Yield constraints to try: the clauses of the condition, one alternative of each, general ones first."""
    assumed = [t for a in conclusions.scope.assumptions for c in clauses(a.formula) for t in _texts(c)]
    requirements = [
        e for c in clauses(conclusions.formula) for e in (clauses(expand(c)) if isinstance(c, Compatible) else [c])
    ]
    ways = [sorted(literals(c), key=_demands) for c in requirements]
    paths = [[s.formula for s in o.steps if s.kind != "suppose"] for o in conclusions.exploration.outcomes if o.works]
    for chosen in (
        *islice(product(*ways), MAX_TRIED),
        *sorted(paths, key=lambda path: _demands(all_of(path)))[:MAX_TRIED],
    ):
        for as_multiples in _WAYS:
            texts = [t for f in chosen for c in clauses(f) for t in _texts(c, as_multiples)]
            yield list(dict.fromkeys([*assumed, *texts]))
            # jax assumes that names may be 1 unless a constraint excludes it.
            named = [f"{s.name} >= 2" for s in conclusions.scope.names if s not in _fixed(chosen)]
            yield list(dict.fromkeys([*assumed, *texts, *named]))


def _demands(formula: Formula) -> tuple[int, int]:
    """Return a sort key for how demanding an alternative is; fixed sizes are the most demanding."""
    parts = clauses(formula)
    fixed = sum(
        isinstance(p, Comparison) and p.operator == "==" and isinstance(p.right, int) and isinstance(p.left, Symbol)
        for p in parts
    )
    return fixed, len(parts)


def _fixed(chosen: Iterable[Formula]) -> set[Dim]:
    """Return the sizes that must equal a number."""
    parts = [p for f in chosen for p in clauses(f) if isinstance(p, Comparison)]
    return {p.left for p in parts if p.operator == "==" and isinstance(p.right, int)}


# Ways to write that a size is a multiple: for ``-1``, JAX divides the number of elements by a negative number.
_WAYS = ("mod", "negative", "new name")


def _multiple(clause: Comparison, way: str) -> str | None:
    """Return the text of a clause which states that a size is a multiple of a number; None for any other clause."""
    rest = clause.left
    if clause.operator != "==" or clause.right != 0 or not isinstance(rest, Operation) or rest.kind != "%":
        return None
    size, number = rest.args
    if not number.is_constant:
        return None
    match way:
        case "negative":
            return f"mod({dimension_text(size.dim())}, - {number.constant}) == 0"
        case "new name" if isinstance(size, Symbol):
            return f"{size.name} == {number.constant}*{size.name}_{number.constant}"
    return None


def _texts(formula: Formula, as_multiples: str = "mod") -> Iterator[str]:
    """Yield the constraints for a formula; parts that JAX cannot express, such as inequality, are left out."""
    for clause in clauses(formula):
        if not isinstance(clause, Comparison):
            continue
        left, right = clause.left, clause.right
        # A multiple can be written as a number times a new name, so that JAX sees how to divide it.
        multiple = _multiple(clause, as_multiples)
        if multiple is not None:
            yield multiple
            continue
        try:
            match clause.operator:
                case "==":
                    if isinstance(left, int) or (isinstance(right, Symbol) and not isinstance(left, Symbol)):
                        left, right = right, left
                    if not set(symbols_of((left,))).isdisjoint(symbols_of((right,))):
                        continue  # jax would keep substituting one side for the other forever
                    yield f"{dimension_text(left)} == {dimension_text(right)}"
                case "<=":
                    yield f"{dimension_text(right)} >= {dimension_text(left)}"
                case "<":
                    yield f"{dimension_text(right)} >= {dimension_text(left)} + 1"
                case "!=" if isinstance(left, Symbol) and right == 1:
                    yield f"{dimension_text(left)} >= 2"
        except DimensionError:
            continue
