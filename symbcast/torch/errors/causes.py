"""Why torch asks for a clause: read from the shape of the guards behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from symbcast.core.algebra.symbols import Symbol
from symbcast.core.algebra.terms import Operation, term
from symbcast.core.logic.formulas import AllOf, AnyOf, Comparison, Formula
from symbcast.core.solver.evaluation.evaluation import holds_at
from symbcast.core.solver.groups.normal_form import symbols_in

if TYPE_CHECKING:
    from symbcast.torch.guards.guards import Clause, Guard

_ONE = (
    "torch treats sizes of 0 and 1 apart, because a size of 1 broadcasts: a size that the code computes from this one "
    "must be 2 or more"
)
_TWO = "torch assumes 2 or more for each open size when it exports; the program does not check this at run time"
_MULTIPLE = "the code divides the axis into equal parts: a view, reshape, split or unfold with a written size"
_BACK = (
    "the code rounds the axis down and goes back, such as pooling and upsampling before a skip connection, so only "
    "whole "
    "multiples come out equal"
)
_MOST = (
    "the code has a limit: a table with that many rows (such as position embeddings), a slice, or an if that the "
    "example "
    "takes one way"
)
_LEAST = (
    "the example takes the branch for larger sizes: an if or min/max in the code, or a window, slice or pad that "
    "needs as "
    "much"
)
_EQUAL = "the code adds, multiplies or concatenates along these axes, and neither is 1 in the example"
_RELATED = "the code combines a size with one computed from the other: concatenated, sliced, flattened or strided"
_NUMBER = "the code needs that number: a weight, a written size in a view, or a comparison"
_OTHER = "the example takes the branch for other sizes: an operator or an if compares the size with that number"
_OPEN = "torch could not show it for all sizes in the range"


def cause_of(clause: Clause, guards: Iterable[Guard]) -> str:
    """Return why torch asks for a clause; ``guards`` are all of the digest."""
    formula = clause.formula
    behind = [g.formula for g in clause.guards if g.formula is not None]
    sizes = list(symbols_in(formula))
    behind += _at_the_bound(formula, [g.formula for g in guards if g.formula is not None])
    if len(sizes) > 1:
        return _of_several(formula)
    match formula:
        case Comparison("==", left, right) if _is_remainder(left, right):
            return _BACK if any(map(_is_round_trip, behind)) else _MULTIPLE
        case Comparison("==", left, right):
            plain = isinstance(left, Symbol) and isinstance(right, int)
            return _NUMBER if plain else _BACK if _is_round_trip(formula) else _OPEN
        case Comparison("!=", left, right):
            return _ONE if right in (0, 1) and not _is_remainder(left, right) else _OTHER
        case Comparison("<=" | "<", left, right):
            if _is_remainder(left, right):
                return _BACK
            if left == 2 and not any(map(_excludes_one, behind)):
                return _TWO
            if isinstance(right, int):
                return _MOST
            return _ONE if any(map(_excludes_one, behind)) else _LEAST
        case AnyOf(parts):
            return _ONE if any(map(_excludes_one, behind)) else _OTHER if parts else _OPEN
        case _:
            return _OPEN


def _at_the_bound(formula: Formula, guards: Iterable[Formula]) -> Iterator[Formula]:
    """Yield the guards that fail just below a lower bound."""
    match formula:
        case Comparison("<=", int(low), Symbol() as size):
            for guard in guards:
                if [*symbols_in(guard)] == [size] and not holds_at(guard, {size: low - 1}):
                    yield guard


def _of_several(formula: Formula) -> str:
    match formula:
        case Comparison("==", left, right) if isinstance(left, Symbol) and isinstance(right, Symbol):
            return _EQUAL
        case Comparison("=="):
            return _RELATED
        case Comparison("!="):
            return "the example takes the branch for different sizes"
        case _:
            return "the example takes the branch for these sizes, or a slice or window needs it"


def _is_remainder(left: object, right: object) -> bool:
    atoms = [d for d in (left, right) if not isinstance(d, int)]
    return any(isinstance(op, Operation) and op.kind == "%" for d in atoms for op in term(d).operations())  # type: ignore[arg-type]


def _is_round_trip(formula: Formula) -> bool:
    """Return whether a guard compares a multiple of a quotient, such as ``2*(H//4) == H//2``."""
    return any(
        isinstance(f, Comparison)
        and f.operator == "=="
        and any(op.kind == "//" for d in (f.left, f.right) for op in term(d).operations())
        for f in _parts(formula)
    )


def _excludes_one(formula: Formula) -> bool:
    return any(
        isinstance(f, Comparison) and f.operator == "!=" and any(d in (0, 1) for d in (f.left, f.right))
        for f in _parts(formula)
    )


def _parts(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, (AllOf, AnyOf)):
        for part in formula.parts:
            yield from _parts(part)
    else:
        yield formula


def lines_of(clause: Clause) -> Iterable[str]:
    """Return the lines of code that torch recorded for the guards behind a clause, each once."""
    return dict.fromkeys(g.line for g in clause.guards if g.line)
