"""Why sizes fail: the axis, the sizes on each side, and why constraints clash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING

from symbcast.answers.explanation.alignment import Alignment
from symbcast.answers.explanation.names import axis_text
from symbcast.answers.explanation.words import in_words
from symbcast.core.algebra.sequences import Rank
from symbcast.core.characters import listed
from symbcast.core.logic.formulas import FALSE, TRUE, Compatible, Formula, all_of, clauses, dims_of, holds
from symbcast.core.program.calls.bindings import bind, operands_at
from symbcast.core.reasons import SIZE
from symbcast.core.verdicts import Verdict
from symbcast.errors import RuleArgumentError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.broadcasting.constraints import Constraint
    from symbcast.core.program.calls.call import Call

PAIRS_TRIED = 100
_LONGEST = 300
"""How long a requirement in words may be; a longer one is shown as a formula."""


def at_sizes(result: Call, sizes: Mapping[str, int]) -> Call | None:
    """Return the result for the operands at some sizes; None if a dimension is not a size or a rank is refused.

    Raises `BindingError` for names that the result does not have.
    """
    bind(result, sizes, {})
    return at_evidence(result, sizes)


def at_evidence(result: Call, sizes: Mapping[str, int]) -> Call | None:
    """Return the same as `at_sizes`, for sizes that are known to be valid."""
    try:
        return _at(result, sizes)
    except RuleArgumentError:
        return None


def _at(result: Call, sizes: Mapping[str, int]) -> Call | None:
    shapes = operands_at(result, sizes)
    return None if shapes is None else type(result)(result.rule, shapes, None)


def failure_at(aligned: Alignment, sizes: Mapping[str, int], shown: int = 1) -> str:
    """Return the failure at some sizes: "axis 0 (-2) would be 2 beside 3"; empty if there is none."""
    try:
        concrete = _at(aligned.result, sizes)
    except RuleArgumentError as error:
        return error.problem
    if concrete is None:
        return _no_size(aligned, sizes)
    broken = failures(aligned.at(concrete), "would be")
    more = len(broken) - shown
    if more > 0:
        broken = [*broken[:shown], f"{more} more {'axis fails' if more == 1 else 'axes fail'} too"]
    return "; ".join(broken)


def failures(aligned: Alignment, verb: str = "has") -> list[str]:
    """Return for each broken constraint of integer shapes the sizes that clash."""
    return [_failure(c, aligned, verb) for c in aligned.result.constraints if not holds(c.requirement)]


def _failure(constraint: Constraint, aligned: Alignment, verb: str) -> str:
    """Return the sizes that clash in a broken constraint over integers."""
    names, origin = aligned.names, constraint.origin
    if constraint.requirement == FALSE:
        return refusal(constraint, aligned)
    if origin.axis is not None:
        cells = [(n, d) for n, d in aligned.cells(origin.axis) if n in origin.operands]
        where = aligned.axis_text(origin.axis)
        return f"{where} {verb} {_beside(cells, names)} ({constraint.reason})"
    beside = " beside ".join(f"{names[n]} {shape}" for n, shape in enumerate(aligned.result.operands))
    return f"{beside}: {constraint.reason}"


def refusal(constraint: Constraint, aligned: Alignment) -> str:
    """Return why a rule refuses the ranks of a result's operands."""
    operands = constraint.origin.operands
    # A reason about several operands names them itself.
    return f"{aligned.names[operands[0]]}: {constraint.reason}" if len(operands) == 1 else constraint.reason


def _beside(cells: Sequence[tuple[int, Dim]], names: Sequence[str]) -> str:
    """Return the sizes of an axis; for more than two operands, two that clash and the names of their operands."""
    numbers = [(n, d) for n, d in cells if isinstance(d, int)]
    if len(names) > 2:
        left, right = clashing_pair(numbers)
        return f"{left[1]} of {names[left[0]]} beside {right[1]} of {names[right[0]]}"
    return " beside ".join(str(d) for _, d in numbers)


def clashing_pair(cells: Sequence[tuple[int, Dim]]) -> tuple[tuple[int, Dim], tuple[int, Dim]]:
    """Return two sizes that differ and are not 1; if there are none, the first two."""
    telling = [cell for cell in cells if isinstance(cell[1], int) and cell[1] != 1]
    other = next((cell for cell in telling if cell[1] != telling[0][1]), None)
    return (telling[0], other) if other is not None else (cells[0], cells[1])


def _no_size(aligned: Alignment, sizes: Mapping[str, int]) -> str:
    from symbcast.core.solver.evaluation.evaluation import predicate

    result = aligned.result
    assert result.scope is not None
    given = result.scope.symbol_sizes(sizes)
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, tuple(given))(*given.values()):
            origin = constraint.origin
            assert origin.axis is not None and origin.rank is not None
            operand = origin.operands[0]
            dim = aligned.namer.dim(aligned.dims[operand][origin.axis])
            return f"{axis_text(origin.axis, origin.rank)} of {aligned.names[operand]}, {dim}, would not be a size"
    return ""


def conflict_lines(aligned: Alignment, shown: int = 4) -> list[str]:
    """Return why a broadcast is never valid: each clashing constraint's requirement, and the facts against it."""
    result = aligned.result
    if result.scope is None:
        lines = failures(aligned)
        return lines if len(lines) <= shown else [*lines[: shown - 1], f"and on {len(lines) - shown + 1} more axes"]
    asked = [_asked(c, aligned) for c in result.conflict]
    lines = [text for text, _ in asked]
    if len(lines) > shown:
        lines = [*lines[: shown - 1], f"and {len(lines) - shown + 1} more"]
    if not all(depends for _, depends in asked):
        return lines
    known = _known(aligned, [c.requirement for c in result.conflict])
    if known:
        return [*lines, f"but {known}"]
    return [*lines, "and these cannot hold together" if len(lines) > 1 else "and no sizes satisfy this"]


def _asked(constraint: Constraint, aligned: Alignment) -> tuple[str, bool]:
    """Return the requirement of one constraint in a conflict, with its origin, and whether sizes could meet it."""
    names, origin = aligned.names, constraint.origin
    if constraint.requirement == FALSE:
        return refusal(constraint, aligned), False
    if constraint.code == SIZE.code:
        assert origin.axis is not None and origin.rank is not None
        where = f"{axis_text(origin.axis, origin.rank)} of {names[origin.operands[0]]}"
        return f"{where} must be a size: {_needed(constraint.requirement, aligned)}", True
    if origin.axis is None or origin.rank is None:
        if all(isinstance(d, int) for d in dims_of(constraint.requirement)):
            return constraint.reason, False
        return f"{constraint.reason}: {_needed(constraint.requirement, aligned)}", True
    where = aligned.axis_text(origin.axis)
    cells = [(n, d) for n, d in aligned.cells(origin.axis) if n in origin.operands]
    pair = clashing_pair(cells) if len(cells) > 1 else ()
    clash = isinstance(constraint.requirement, Compatible) and _differ(*[d for _, d in pair])
    if clash or all(isinstance(d, int) for _, d in cells):
        return f"{where} has {_beside(cells, names)} ({constraint.reason})", False
    requirement = constraint.requirement
    if isinstance(requirement, Compatible):
        cells = list(_narrowed(cells, aligned.result))
        requirement = Compatible(tuple(d for _, d in cells))
    of = listed([names[n] for n, _ in cells], limit=4)
    return f"{where} of {of} needs: {_needed(requirement, aligned)}", True


def _differ(*sizes: Dim) -> bool:
    return len({d for d in sizes if isinstance(d, int) and d != 1}) > 1


def _narrowed(cells: Sequence[tuple[int, Dim]], result: Call) -> Sequence[tuple[int, Dim]]:
    """Return two sizes of an axis that never broadcast together; all sizes if there is no such pair."""
    from symbcast.core.solver.decision.decision import Decision

    assert result.scope is not None and result.scope.knowledge is not None
    distinct = list({d: (n, d) for n, d in reversed(cells) if d != 1}.values())[::-1]
    for pair in islice(combinations(distinct, 2), PAIRS_TRIED):
        asked = Compatible(tuple(d for _, d in pair))
        if Decision(result.scope.knowledge, [asked]).verdict is Verdict.NEVER:
            return pair
    return cells


def _needed(requirement: Formula, aligned: Alignment) -> str:
    """Return a constraint's requirement in words: its own reduced form if it can hold at all."""
    from symbcast.core.solver.decision.decision import Decision

    result = aligned.result
    assert result.scope is not None and result.scope.knowledge is not None
    asked: list[Formula] = list(clauses(requirement))
    reduced = Decision(result.scope.knowledge, [requirement]).clauses
    if reduced and reduced != [FALSE]:
        asked = reduced
    namer, needed = aligned.namer, all_of(asked)
    text = in_words(needed, namer)
    return text if len(text) <= _LONGEST else namer.formula(needed)


def _known(aligned: Alignment, requirements: Sequence[Formula]) -> str:
    """Return the known bounds and assumptions about the symbols in some formulas, in words."""
    from symbcast.core.program.sizes.premises import own_set
    from symbcast.core.solver.groups.normal_form import symbols_in
    from symbcast.core.solver.sets.set_formulas import describe

    result, namer = aligned.result, aligned.namer
    concerned = list(dict.fromkeys(s for r in requirements for s in symbols_in(r)))
    said: list[str] = []
    for assumption in result.assumptions:
        symbols = list(symbols_in(assumption.formula))
        if any(s in concerned for s in symbols):
            said.append(in_words(assumption.formula, namer))
            concerned.extend(s for s in symbols if s not in concerned)
    for s in concerned:
        if isinstance(s, Rank):
            continue  # only that some bound exists
        own = describe(s, own_set(s, result.min_size))
        if own != TRUE:
            said.append(in_words(own, namer))
    return listed(list(dict.fromkeys(said)), limit=6)
