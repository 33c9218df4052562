"""Repairs: what to change so that a broadcast is valid, or does what was meant; ranked, and each one decided again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from symbcast.algebra.terms import Dim
from symbcast.broadcasting import Rule
from symbcast.characters import clipped
from symbcast.errors import SymbcastError
from symbcast.explanation.edits import MOST_AXES, Edit, Framework, Slice, views
from symbcast.explanation.fixes import Fix, assumed, by_other_rule, placed_elsewhere
from symbcast.explanation.names import Namer, operand_names
from symbcast.explanation.surprises import surprises
from symbcast.logic.formulas import Formula, all_of
from symbcast.program.call import Call
from symbcast.shapes import Shape, shape_of
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.program.assumptions import Assumption

TRIED = 40
"""How many changes are decided about."""
FRAMEWORKS: tuple[Framework, ...] = ("numpy", "torch", "onnx")
_TARGET = "target"


@dataclass(frozen=True)
class Repair:
    """A change, and the answer with it.

    Attributes:
        kind: ``unsqueeze``, ``squeeze``, ``reshape`` (ones moved), ``transpose``, ``slice``, ``assume`` or ``rule``.
        text: The change in words.
        operands: The operands after it.
        rule: The rule after it.
        assume: What it assumes, as text.
        verdict: Whether the shapes broadcast then.
        shape: The output then.
        condition: What must hold then still; true where the verdict is always.
        code: The edit as code, by framework: ``numpy``, ``torch`` and ``onnx`` (in ONNX's own text). An assumption has
            code for the first two, another rule none.
    """

    kind: str
    text: str
    operands: tuple[Shape, ...]
    rule: Rule
    assume: tuple[str, ...]
    verdict: Verdict
    shape: Shape | None
    condition: Formula
    code: Mapping[str, str]

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class _Candidate:
    """A change that is not decided yet: the less ``cost``, the likelier it is meant."""

    cost: float
    kind: str
    fix: Fix
    code: Mapping[str, str]


def repairs(result: Call, limit: int = 5) -> tuple[Repair, ...]:
    """Return what to change so that a broadcast is valid, the likeliest first, at most ``limit``.

    Where it is valid for some sizes the weakest assumption that makes it valid is its condition; the assumption here
    is the likeliest, that sizes are equal. Where it is valid but does what was surely not meant, see `surprises`, the
    changes are those that do not.

    >>> import symbcast
    >>> for repair in symbcast.broadcast("N, C, H, W", "C").repairs():
    ...     print(repair, "|", repair.code.get("numpy"))
    reshape B to (C, 1, 1) | b[:, None, None]
    transpose A to (N, H, W, C) | a.transpose(0, 2, 3, 1)
    assume "C == W" if that is known | assert C == W
    """
    verdict = result.verdict
    surprising = _count(result)
    if verdict is Verdict.UNKNOWN or (verdict is Verdict.ALWAYS and not surprising):
        return ()
    found: list[tuple[bool, Repair]] = []
    for candidate in islice(_ranked(result), TRIED):
        if sum(certain for certain, _ in found) >= limit:
            break
        repair = _decided(result, candidate, surprising)
        if repair is not None:
            found.append((repair.verdict is Verdict.ALWAYS, repair))
    return tuple(repair for _, repair in sorted(found, key=lambda pair: not pair[0]))[:limit]


def _decided(result: Call, candidate: _Candidate, surprising: int) -> Repair | None:
    """Return a change with the answer to the changed question; None where it is no better than the question was."""
    fix = candidate.fix
    try:
        answer = fix.ask(result)
        verdict = answer.verdict
    except SymbcastError:
        return None
    is_better = verdict is Verdict.ALWAYS or (verdict is Verdict.SOMETIMES and result.verdict is Verdict.NEVER)
    if not is_better or (result.verdict is Verdict.ALWAYS and _count(answer) >= surprising):
        return None
    text = fix.text if verdict is Verdict.ALWAYS else f"{fix.text}; valid for some sizes then"
    assume = tuple(a.text for a in fix.assume)
    condition = all_of(answer.clauses)
    return Repair(
        candidate.kind, text, fix.operands, fix.rule, assume, verdict, answer.shape, condition, candidate.code
    )


def _count(result: Call) -> int:
    """Return how many outer products a broadcast makes that were not meant."""
    return sum(s.kind == "outer-product" for s in surprises(result))


def _ranked(result: Call) -> list[_Candidate]:
    """Return the changes, the likeliest first."""
    found: list[_Candidate] = []
    alike: Counter[object] = Counter()
    for candidate in sorted(_edits(result), key=lambda edit: edit.cost):
        # Of the many orders of the axes of one operand the likeliest is told, so that there is room for others.
        changed = next(n for n, s in enumerate(candidate.fix.operands) if s.dims != result.operands[n].dims)
        alike[changed, candidate.kind] += 1
        if alike[changed, candidate.kind] <= _OF_A_KIND[candidate.kind]:
            found.append(candidate)
    return sorted((*found, *_others(result)), key=lambda candidate: candidate.cost)


def _others(result: Call) -> Iterator[_Candidate]:
    """Yield assumptions, and other rules or attributes."""
    if result.verdict is Verdict.SOMETIMES:
        for number, fix in enumerate(assumed(result)):
            asserted = {name: "\n".join(_asserted(name, fix.assume)) for name in FRAMEWORKS[:2]}
            yield _Candidate(_ASSUME + number, "assume", fix, asserted)
    for number, fix in enumerate((*placed_elsewhere(result), *by_other_rule(result))):
        yield _Candidate(_RULE + number, "rule", fix, {})


def _asserted(framework: Framework, assumptions: Sequence[Assumption]) -> Iterator[str]:
    for assumption in assumptions:
        yield f"assert {assumption.text}" if framework == "numpy" else f"torch._check({assumption.text})"


_MEETING, _ASSUME, _RULE = 100, 50, 70
"""What it costs that a size meets none of its like, to assume something, and to use another rule."""
_OF_A_KIND = {"unsqueeze": 2, "squeeze": 2, "reshape": 2, "transpose": 1, "slice": 1}
"""How many edits of one kind and one operand are told."""
_COSTS = {"unsqueeze": 1.0, "squeeze": 1.0, "reshape": 2.0, "transpose": 3.0, "slice": 20.0}


def _edits(result: Call) -> Iterator[_Candidate]:
    """Yield edits of one operand with which more sizes meet their like than do now."""
    placement, names = result.rule.placement, operand_names(result)
    if not placement.is_at_right:
        return
    shapes = [s.dims for s in result.operands]
    now, namer = _meetings(shapes), Namer(result)
    longest = max(map(len, shapes), default=0)
    for position, dims in enumerate(shapes):
        if len(dims) > MOST_AXES or longest > MOST_AXES or result.rule.operand_name(position) == _TARGET:
            continue
        edits: list[Edit] = [*views(dims, [longest]), *_slices(shapes, position)]
        for edit in edits:
            made = [*shapes[:position], edit.made, *shapes[position + 1 :]]
            gained = _meetings(made) - now
            if gained > 0:
                operands = tuple(map(shape_of, made))
                text = _text(edit, names[position], namer)
                cost = _COSTS[edit.kind] - gained * _MEETING + _unlikeliness(edit, made, position)
                yield _Candidate(cost, edit.kind, Fix(text, operands, result.rule), _code(edit, names[position]))


def _meetings(shapes: Sequence[Sequence[Dim]]) -> int:
    """Return how many sizes other than 1 have their like on the same axis, aligned at the right."""
    count = 0
    for back in range(1, max(map(len, shapes), default=0) + 1):
        sizes = [s[-back] for s in shapes if back <= len(s) and s[-back] != 1]
        count += len(sizes) - len(set(sizes))
    return count


def _unlikeliness(edit: Edit, made: Sequence[Sequence[Dim]], position: int) -> float:
    """Return what tells edits apart that are of one kind and meet as many: less for less, and for later axes."""
    own = made[position]
    places = [back for back in range(1, len(own) + 1) if own[-back] != 1]
    others = [len([d for d in s if d != 1]) for n, s in enumerate(made) if n != position]
    is_smaller = len(places) <= min(others, default=0)
    return edit.inversions * 0.1 + sum(places) * 0.01 + (0 if is_smaller else 0.5) - position * 0.001


def _slices(shapes: Sequence[Sequence[Dim]], position: int) -> Iterator[Slice]:
    """Yield cuts of one axis to a smaller size that it meets."""
    own = tuple(shapes[position])
    for back in range(1, len(own) + 1):
        size = own[-back]
        for n, other in enumerate(shapes):
            met = other[-back] if n != position and back <= len(other) else None
            if isinstance(size, int) and isinstance(met, int) and 1 < met < size:
                yield Slice(own, len(own) - back, met)


def _text(edit: Edit, name: str, namer: Namer) -> str:
    made = clipped(namer.shape(edit.made), 100)
    if isinstance(edit, Slice):
        return f"slice axis {edit.axis} of {name} to {namer.dim(edit.size)}, as in {made}"
    return f"{'transpose' if edit.kind == 'transpose' else 'reshape'} {name} to {made}"


def _code(edit: Edit, name: str) -> dict[str, str]:
    variable = name.lower() if name.isidentifier() else f"x{name.rpartition(' ')[2]}"
    return {framework: edit.code(framework, variable) for framework in FRAMEWORKS}
