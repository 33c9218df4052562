"""Repairs: changes that make a broadcast valid, or do what was intended; ranked, and each one decided again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from symbcast.answers.explanation.alignment import Alignment
from symbcast.answers.explanation.edits import MOST_AXES, Edit, Framework, Meeting, Slice, views
from symbcast.answers.explanation.fixes import Fix, assumed, by_other_rule, placed_elsewhere
from symbcast.answers.explanation.names import Namer, rule_text
from symbcast.answers.explanation.surprises import outer_products
from symbcast.core.algebra.sequences import SequenceSymbol, is_sequence
from symbcast.core.algebra.terms import Dim
from symbcast.core.broadcasting import Rule
from symbcast.core.characters import clipped
from symbcast.core.program.calls.call import Call
from symbcast.core.program.limits import check_limit
from symbcast.core.shapes import Shape, any_shape_of, is_open
from symbcast.core.structs import Struct
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.core.program.sizes.assumptions import Assumption
    from symbcast.core.program.statements.statement import Statement

TRIED = 40
"""How many changes are checked."""
FRAMEWORKS: tuple[Framework, ...] = ("numpy", "torch", "onnx")
MOST_OPERANDS = 4
"""With more operands, none is edited."""
_TARGET = "target"


class RepairData(TypedDict):
    """A repair, see `Repair`; shapes and conditions are text that parses back."""

    kind: str
    text: str
    operands: list[str]
    rule: str
    assume: list[str]
    verdict: str
    shape: str | None
    condition: str
    code: dict[str, str]


class Repair(Struct):
    """A change, and the answer with it.

    Attributes:
        kind: ``unsqueeze``, ``squeeze``, ``reshape`` (ones moved), ``transpose``, ``slice``, ``assume`` or ``rule``.
        text: The change in words.
        operands: The operands after it.
        rule: The rule after it.
        assume: What it assumes, as text.
        verdict: Whether the shapes broadcast then.
        shape: The output then.
        condition: What must hold then still, as a `symbcast.Condition`; true where the verdict is always.
        code: The edit as code, by framework: ``numpy``, ``torch`` and ``onnx`` (in ONNX's own text). An assumption has
            code for the first two unless it is about a sequence of axes; another rule has none. ONNX has no code that
            permutes axes of an unknown rank.
    """

    kind: str
    text: str
    operands: tuple[Shape, ...]
    rule: Rule
    assume: tuple[str, ...]
    verdict: Verdict
    shape: Shape | None
    condition: Statement
    code: Mapping[str, str]

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> RepairData:
        """Return the repair as plain data for JSON."""
        return {
            "kind": self.kind,
            "text": self.text,
            "operands": list(map(str, self.operands)),
            "rule": rule_text(self.rule),
            "assume": list(self.assume),
            "verdict": self.verdict.value,
            "shape": None if self.shape is None else str(self.shape),
            "condition": str(self.condition),
            "code": dict(self.code),
        }


class _Candidate(NamedTuple):
    """A change that is not decided yet; the lower its ``cost``, the likelier it is intended."""

    cost: float
    kind: str
    operand: int
    make: Callable[[Sequence[Framework]], tuple[Fix, Mapping[str, str]]]
    """Computes the changed question, and the code for some frameworks: most candidates never need them."""


def repairs(result: Call, limit: int = 5) -> tuple[Repair, ...]:
    """Return changes that make a broadcast valid, the likeliest first, at most ``limit``.

    If it is valid for some sizes, the weakest assumption that makes it valid is its condition; the assumption here is
    the likeliest one, that sizes are equal. If it is valid but does something surely unintended (see `surprises`), the
    changes avoid that.

    >>> import symbcast
    >>> for repair in symbcast.broadcast("N, C, H, W", "C").repairs():
    ...     print(repair, "|", repair.code.get("numpy"))
    reshape B to (C, 1, 1) | b[:, None, None]
    transpose A to (N, H, W, C) | a.transpose(0, 2, 3, 1)
    assume "W == C" if that is known | assert W == C
    assume "W == C or W == 1 or C == 1" if that is known | assert W == C or W == 1 or C == 1
    """
    check_limit(limit)
    verdict = result.verdict
    aligned = Alignment(result)
    if verdict is Verdict.UNKNOWN or not _needs_repair(aligned):
        return ()
    found: list[tuple[bool, Repair]] = []
    for candidate in islice(_ranked(aligned), TRIED):
        if sum(certain for certain, _ in found) >= limit:
            break
        repair = _decided(aligned, candidate)
        if repair is not None:
            found.append((repair.verdict is Verdict.ALWAYS, repair))
    return tuple(repair for _, repair in sorted(found, key=lambda pair: not pair[0]))[:limit]


def best_edit(aligned: Alignment) -> tuple[Fix, Mapping[str, str]] | None:
    """Return the likeliest repair and its NumPy code, if it realigns an operand and the broadcast is always valid then.

    Any edit is likelier than an assumption or another rule: it costs less than 0, as more sizes meet their like.
    """
    first = min(_edits(aligned), key=_cost, default=None) if _needs_repair(aligned) else None
    if first is None or first.kind == "slice":
        return None
    fix, code = first.make(FRAMEWORKS[:1])
    answer = _improved(aligned, fix)
    return (fix, code) if answer is not None and answer.verdict is Verdict.ALWAYS else None


def _cost(candidate: _Candidate) -> float:
    return candidate.cost


def _needs_repair(aligned: Alignment) -> bool:
    """Return whether a broadcast may fail, or makes an unintended outer product."""
    return aligned.result.verdict is not Verdict.ALWAYS or bool(_count(aligned))


def _improved(aligned: Alignment, fix: Fix) -> Call | None:
    """Return the answer to a changed question; None if it is not an improvement."""
    result = aligned.result
    try:
        answer = fix.ask(result)
        verdict = answer.verdict
    except SymbcastError:
        return None
    is_better = verdict is Verdict.ALWAYS or (verdict is Verdict.SOMETIMES and result.verdict is Verdict.NEVER)
    is_as_surprising = result.verdict is Verdict.ALWAYS and _count(Alignment(answer)) >= _count(aligned)
    return answer if is_better and not is_as_surprising else None


def _decided(aligned: Alignment, candidate: _Candidate) -> Repair | None:
    """Return a change with the answer to the changed question; None if it is not an improvement."""
    fix, made = candidate.make(FRAMEWORKS)
    answer = _improved(aligned, fix)
    if answer is None:
        return None
    verdict = answer.verdict
    text = fix.text if verdict is Verdict.ALWAYS else f"{fix.text}; valid for some sizes then"
    assume = tuple(a.text for a in fix.assume)
    from symbcast.core.program.statements.statement import public

    return Repair(candidate.kind, text, fix.operands, fix.rule, assume, verdict, answer.shape, public(answer), made)


def _count(aligned: Alignment) -> int:
    """Return the number of unintended outer products in a broadcast."""
    return sum(1 for _ in outer_products(aligned))


def _ranked(aligned: Alignment) -> list[_Candidate]:
    """Return the changes, the likeliest first."""
    found: list[_Candidate] = []
    alike: Counter[object] = Counter()
    for candidate in sorted(_edits(aligned), key=_cost):
        # An operand's axes have many orders: only the likeliest is kept, to leave room for other edits.
        alike[candidate.operand, candidate.kind] += 1
        if alike[candidate.operand, candidate.kind] <= _OF_A_KIND[candidate.kind]:
            found.append(candidate)
    return sorted((*found, *_others(aligned)), key=_cost)


def _others(aligned: Alignment) -> Iterator[_Candidate]:
    """Yield assumptions, and other rules or attributes."""
    result = aligned.result
    if result.verdict is Verdict.SOMETIMES:
        weakest = {" and ".join(a.text for a in fix.assume): fix for fix in assumed(aligned)}
        for number, fix in enumerate(weakest.values()):
            frameworks = () if any(map(_is_of_axes, fix.assume)) else FRAMEWORKS[:2]
            asserted: dict[str, str] = {f: "\n".join(_asserted(f, fix.assume)) for f in frameworks}
            yield _Candidate(_ASSUME + number, "assume", -1, partial(_pair, fix, asserted))
    elsewhere = () if result.is_open else placed_elsewhere(result)
    for number, fix in enumerate((*elsewhere, *by_other_rule(result))):
        yield _Candidate(_RULE + number, "rule", -1, partial(_pair, fix, {}))


def _pair(fix: Fix, code: Mapping[str, str], _: Sequence[Framework]) -> tuple[Fix, Mapping[str, str]]:
    return fix, code


def _is_of_axes(assumption: Assumption) -> bool:
    """Return whether an assumption is about sequences of axes, which no variable of a program holds."""
    from symbcast.core.solver.groups.normal_form import symbols_in

    return any(isinstance(s, SequenceSymbol) for s in symbols_in(assumption.formula))


def _asserted(framework: Framework, assumptions: Sequence[Assumption]) -> Iterator[str]:
    for assumption in assumptions:
        yield f"assert {assumption.text}" if framework == "numpy" else f"torch._check({assumption.text})"


_MEETING, _ASSUME, _RULE = 100, 50, 70
"""What it costs that a size meets none of its like, to assume something, and to use another rule."""
_OF_A_KIND = {"unsqueeze": 2, "squeeze": 2, "reshape": 2, "transpose": 1, "slice": 1}
"""How many edits to list per kind and operand."""
_COSTS = {"unsqueeze": 1.0, "squeeze": 1.0, "reshape": 2.0, "transpose": 3.0, "slice": 20.0}


def _edits(aligned: Alignment) -> Iterator[_Candidate]:
    """Yield edits of one operand that make more sizes meet an equal size than now."""
    result = aligned.result
    if not result.rule.placement.is_at_right:
        return
    shapes = [s.dims for s in result.operands]
    longest = max(map(len, shapes), default=0)
    if longest > MOST_AXES or len(shapes) > MOST_OPERANDS:
        return
    editable = [n for n in range(len(shapes)) if result.rule.operand_name(n) != _TARGET]
    found: list[tuple[int, int, Edit]] = []
    meetings = [(n, Meeting(shapes, n)) for n in editable]
    for n, meeting in meetings:
        if meeting.may_grow:
            rank = _known_rank(shapes) if is_open(result.operands[n]) else longest
            found += [(gained, n, view) for gained, view in views(shapes[n], rank, meeting)]
    if not found:  # a slice is likely only if no placement of the whole operand is
        for n, meeting in meetings:
            found += [(gained, n, cut) for cut in _slices(shapes, n) if (gained := meeting.gain_of(cut.made)) > 0]
    others = [sum([d != 1 for d in s]) for s in shapes]
    for gained, position, edit in found:
        fewest = min([*others[:position], *others[position + 1 :]], default=0)
        cost = _COSTS[edit.kind] - gained * _MEETING + _unlikeliness(edit, fewest, position)
        yield _Candidate(cost, edit.kind, position, partial(_edited, aligned, position, edit))


def _known_rank(shapes: Sequence[Sequence[Dim]]) -> int:
    """Return how many axes of some operand are known."""
    return max(sum(not is_sequence(dim) for dim in dims) for dims in shapes)


def _edited(
    aligned: Alignment, position: int, edit: Edit, frameworks: Sequence[Framework]
) -> tuple[Fix, Mapping[str, str]]:
    """Return the question with an operand edited, and the code of the edit."""
    name, operands = aligned.names[position], list(aligned.result.operands)
    operands[position] = any_shape_of(edit.made)
    fix = Fix(_text(edit, name, aligned.namer), tuple(operands), aligned.result.rule)
    return fix, _code(edit, name, frameworks)


def _unlikeliness(edit: Edit, fewest: int, position: int) -> float:
    """Return a tie-breaker for edits of one kind with equally many matches: lower for smaller edits and later axes.

    ``fewest`` is the least number of sizes other than 1 in another operand.
    """
    places = [back for back, size in enumerate(reversed(edit.made), 1) if size != 1]
    is_smaller = len(places) <= fewest
    return edit.inversions * 0.1 + sum(places) * 0.01 + (0 if is_smaller else 0.5) - position * 0.001


def _slices(shapes: Sequence[Sequence[Dim]], position: int) -> Iterator[Slice]:
    """Yield slices of one axis to a smaller size that it meets."""
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
        return f"slice axis {edit.place} of {name} to {namer.dim(edit.size)}, as in {made}"
    return f"{'transpose' if edit.kind == 'transpose' else 'reshape'} {name} to {made}"


def _code(edit: Edit, name: str, frameworks: Sequence[Framework]) -> dict[str, str]:
    variable = name.lower() if name.isidentifier() else f"x{name.rpartition(' ')[2]}"
    found = {framework: edit.code(framework, variable) for framework in frameworks}
    return {framework: code for framework, code in found.items() if code}
