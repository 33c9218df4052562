"""Why sizes fail: which axis, with what on each side, and why constraints clash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from symbcast.explaining.alignment import Alignment
from symbcast.explaining.naming import Namer, axis_text, cut, listed, operand_names
from symbcast.explaining.words import in_words
from symbcast.formulas import FALSE, AllOf, Formula, clauses, dims_of, holds
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.constraints import Constraint
    from symbcast.dims import Dim
    from symbcast.result import Result

AXES_SHOWN = 3


def at_sizes(result: Result, sizes: Mapping[str, int]) -> Result | None:
    """Return the result for the operands at some sizes, None where a dimension is no size there.

    Raises `BindingError` for sizes that the result is not about.
    """
    from symbcast.binding import bind
    from symbcast.result import Result as Concrete

    shapes = bind(result, sizes).shapes
    return None if shapes is None else Concrete(result.rule, shapes, None)


def failure_at(result: Result, sizes: Mapping[str, int]) -> str:
    """Return what goes wrong at some sizes: "axis 0 (-2) would be 2 beside 3"; empty where nothing does."""
    concrete = at_sizes(result, sizes)
    if concrete is None:
        return _no_size(result, sizes)
    broken = failures(concrete, "would be")
    if len(broken) > AXES_SHOWN:
        broken = [*broken[:AXES_SHOWN], f"{len(broken) - AXES_SHOWN} more axes fail too"]
    return "; ".join(broken)


def failures(concrete: Result, verb: str = "has") -> list[str]:
    """Return what each broken constraint of integer shapes has beside what."""
    if concrete.verdict is not Verdict.NEVER:
        return []
    alignment = Alignment(concrete)
    return [failure(c, alignment, verb) for c in concrete.constraints if not holds(c.requirement)]


def failure(constraint: Constraint, alignment: Alignment, verb: str) -> str:
    """Return what one constraint over integers that does not hold has beside what."""
    axes = alignment.axes_of(constraint)
    if constraint.requirement == FALSE or constraint.origin.axis is None:
        return constraint.reason
    axis, names = axes[0], operand_names(alignment.result)
    cells = [(n, d) for n, d in alignment.cells(axis) if n in constraint.origin.operands]
    where = axis_text(axis, alignment.places.rank)
    beside = _beside(cells, names)
    return f"{where} {verb} {beside} ({constraint.reason})"


def _beside(cells: Sequence[tuple[int, Dim]], names: Sequence[str]) -> str:
    """Return two sizes that clash; which operands they are of where there are more than two."""
    numbers = [(n, d) for n, d in cells if isinstance(d, int)]
    if len(names) > 2:
        telling = [(n, d) for n, d in numbers if d != 1]
        other = next(((n, d) for n, d in telling if d != telling[0][1]), None)
        if other is not None:
            return f"{telling[0][1]} ({names[telling[0][0]]}) beside {other[1]} ({names[other[0]]})"
    return " beside ".join(str(d) for _, d in numbers)


def _no_size(result: Result, sizes: Mapping[str, int]) -> str:
    from symbcast.deciding.compiled import predicate

    assert result.scope is not None
    namer, names = Namer(result), operand_names(result)
    given = {s: sizes[name] for s, name in result.scope.names.items() if name in sizes}
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, tuple(given))(*given.values()):
            origin = constraint.origin
            assert origin.axis is not None and origin.rank is not None
            operand = origin.operands[0]
            dim = namer.dim(result.operands[operand][origin.axis])
            return f"{axis_text(origin.axis, origin.rank)} of {names[operand]}, {dim}, would not be a size"
    return ""


def conflict_lines(result: Result) -> list[str]:
    """Return why a broadcast is never valid: what each clashing constraint asks, and what is known against it."""
    alignment = Alignment(result)
    if result.scope is None:
        broken = failures(result)
        return broken if len(broken) <= AXES_SHOWN + 1 else [*broken[:AXES_SHOWN], f"... and on {len(broken) - AXES_SHOWN} more axes"]
    lines = [_asked(c, alignment) for c in result.conflict]
    known = _known(result, [c.requirement for c in result.conflict])
    if known:
        lines.append(f"but {known}")
    elif len(lines) > 1:
        lines.append("and these cannot hold together")
    return lines


def _asked(constraint: Constraint, alignment: Alignment) -> str:
    """Return what one constraint of a conflict asks, by where it comes from."""
    result, origin = alignment.result, constraint.origin
    names = operand_names(result)
    numbers = [d for d in dims_of(constraint.requirement) if isinstance(d, int)]
    if constraint.requirement == FALSE or (origin.axis is None and not result.symbols):
        return constraint.reason
    of = listed([names[n] for n in origin.operands], limit=4)
    if origin.rule == "size":
        assert origin.axis is not None and origin.rank is not None
        where = f"{axis_text(origin.axis, origin.rank)} of {of}"
        return f"{where} must be a size: {_needed(constraint, result)}"
    if origin.axis is None or origin.rank is None:
        return f"{constraint.reason}: {_needed(constraint, result)}"
    where = f"{axis_text(origin.axis, origin.rank)} of {of}"
    cells = alignment.cells(origin.axis)
    if len({n for n in numbers if n != 1}) > 1 and origin.rule in ("numpy", "bidirectional", "paddle"):
        return f"{where} has {_beside(cells, names)} ({constraint.reason})"
    if all(isinstance(d, int) for _, d in cells):
        return f"{where} has {_beside(cells, names)} ({constraint.reason})"
    return f"{where} needs: {_needed(constraint, result)}"


def _needed(constraint: Constraint, result: Result) -> str:
    """Return what a constraint asks in words: its own reduced form where it can hold at all."""
    from symbcast.deciding.decide import Decision

    assert result.scope is not None and result.scope.knowledge is not None
    asked: list[Formula] = list(clauses(constraint.requirement))
    reduced = Decision(result.scope.knowledge, [constraint.requirement]).clauses
    if reduced and reduced != [FALSE]:
        asked = reduced
    return cut(in_words(AllOf(tuple(asked)) if len(asked) > 1 else asked[0], Namer(result)), 300)


def _known(result: Result, requirements: Sequence[Formula]) -> str:
    """Return what is known of the symbols in some formulas, in words: bounds and assumptions."""
    from symbcast.deciding.normal import symbols_in
    from symbcast.deciding.residues import describe
    from symbcast.formulas import TRUE
    from symbcast.scope import own_set

    assert result.scope is not None
    namer = Namer(result)
    concerned = list(dict.fromkeys(s for r in requirements for s in symbols_in(r)))
    said: list[str] = []
    for assumption in result.assumptions:
        symbols = list(symbols_in(assumption.formula))
        if any(s in concerned for s in symbols):
            said.append(in_words(assumption.formula, namer))
            concerned.extend(s for s in symbols if s not in concerned)
    for s in concerned:
        own = describe(s, own_set(s, result.scope.min_size))
        if own != TRUE:
            said.append(in_words(own, namer))
    return cut(listed(list(dict.fromkeys(said)), limit=6), 400)
