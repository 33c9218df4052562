"""Repairs: changes that make a broadcast valid, or do what was intended; ranked, and each one decided again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice, permutations, zip_longest
from typing import TYPE_CHECKING, Literal, TypeAlias

from symbcast.answers.explanation.evidence import Alignment, outer_products
from symbcast.answers.explanation.fixes import Fix, assumed, by_other_rule, placed_elsewhere
from symbcast.answers.explanation.words import Namer, rule_text
from symbcast.core.algebra.arithmetic import check_limit
from symbcast.core.algebra.symbols import SequenceSymbol, is_sequence
from symbcast.core.algebra.terms import Dim, lazy_property
from symbcast.core.characters import shorten_end
from symbcast.core.programs.arguments import Assumption
from symbcast.core.programs.broadcast_call import BroadcastCall
from symbcast.core.rules import Rule
from symbcast.core.shapes import Shape, any_shape_of, is_open
from symbcast.core.solver.evaluation import symbols_in
from symbcast.core.structs import NamedTuple, Struct
from symbcast.core.text.notation import dim_text
from symbcast.core.verdicts import Verdict
from symbcast.errors import SymbcastError

if TYPE_CHECKING:
    from symbcast.answers.data import RepairData
    from symbcast.core.programs.conditions import Statement


# Edits of an operand: move axes, insert or remove sizes of 1, slice an axis; with the code for each.


Framework: TypeAlias = Literal["numpy", "torch", "onnx"]
# Operands with more axes are not edited: there are too many possibilities.
MOST_AXES = 6
# The order of more sizes than these is kept.
_PERMUTED = 5


class ViewEdit(Struct):
    """A rearrangement of an operand: ``axes[i]`` is the axis that becomes axis ``i``, None for a new one of size 1.

    Removed axes have size 1. A sequence of axes stays in front; the others are then counted from the end.
    """

    dims: tuple[Dim, ...]
    axes: tuple[int | None, ...]

    @lazy_property
    def result(self) -> tuple[Dim, ...]:
        """The sizes after the edit."""
        return tuple([1 if axis is None else self.dims[axis] for axis in self.axes])

    @lazy_property
    def kept_axes(self) -> list[int]:
        """The remaining axes, in their new order."""
        return [axis for axis in self.axes if axis is not None]

    @lazy_property
    def dropped(self) -> list[int]:
        """The axes that are left out."""
        kept_axes = self.kept_axes
        return [axis for axis in range(len(self.dims)) if axis not in kept_axes]

    @lazy_property
    def new(self) -> list[int]:
        """The places of the new axes."""
        return [place for place, axis in enumerate(self.axes) if axis is None]

    @property
    def is_open(self) -> bool:
        """Whether the rank of the operand is not known."""
        return is_sequence(self.dims[0]) if self.dims else False

    def counted(self, axes: Sequence[int], rank: int) -> list[int]:
        """Return the axes of a shape, counted from the known end."""
        return [axis - rank for axis in axes] if self.is_open else list(axes)

    @lazy_property
    def inversions(self) -> int:
        """The number of axis pairs whose order changes."""
        return sum([a > b for a, b in combinations(self.kept_axes, 2)])

    @lazy_property
    def kind(self) -> str:
        """The kind of edit: ``transpose``, ``reshape``, ``unsqueeze`` or ``squeeze``."""
        if self.inversions:
            return "transpose"
        if self.new:
            return "reshape" if self.dropped else "unsqueeze"
        return "squeeze"

    def code(self, framework: Framework, name: str) -> str:
        """Return code that computes the edited operand from a variable; empty if the framework has none for it."""
        if framework == "onnx":
            # Transpose needs a permutation of all axes.
            return "" if self.is_open and self.inversions else "\n".join(_onnx(self, name))
        code = name
        if self.dropped:
            axes = self.counted(self.dropped, len(self.dims))
            code = f"{code}.squeeze({axes[0] if len(axes) == 1 else tuple(axes)})"
        if self.inversions:
            code = _transposed(self, framework, code)
        return f"{code}[{', '.join(_index(self))}]" if self.new else code


def _order(view: ViewEdit) -> list[int]:
    """Return each remaining axis's number among the remaining axes, in the new order."""
    return [sorted(view.kept_axes).index(axis) for axis in view.kept_axes]


def _transposed(view: ViewEdit, framework: Framework, name: str) -> str:
    order = _order(view)
    if view.is_open:
        axes = tuple(view.counted(order[1:], len(order))), tuple(range(1 - len(order), 0))
        return f"np.moveaxis({name}, {axes[0]}, {axes[1]})" if framework == "numpy" else f"{name}.movedim{axes}"
    return f"{name}.{'transpose' if framework == 'numpy' else 'permute'}({', '.join(map(str, order))})"


def _index(view: ViewEdit) -> Iterator[str]:
    """Yield an index with new axes. It omits whole axes at the end, or at the front after a sequence."""
    if view.is_open:
        yield "..."
    axes = view.axes[view.new[0] :] if view.is_open else view.axes[: view.new[-1] + 1]
    yield from ("None" if axis is None else ":" for axis in axes)


def _onnx(view: ViewEdit, name: str) -> Iterator[str]:
    steps = [
        ("Squeeze", view.counted(view.dropped, len(view.dims))),
        ("Transpose", _order(view) if view.inversions else []),
        ("Unsqueeze", view.counted(view.new, len(view.axes))),
    ]
    operand = name
    for number, (operator, axes) in enumerate([step for step in steps if step[1]], 1):
        output = f"{name}_{number}"
        if operator == "Transpose":
            yield f"{output} = Transpose <perm = {axes}> ({operand})"
        else:
            yield f"{output}_axes = Constant <value_ints = {axes}> ()"
            yield f"{output} = {operator} ({operand}, {output}_axes)"
        operand = output


class SliceEdit(Struct):
    """A slice of an operand: its first ``size`` elements along an axis."""

    dims: tuple[Dim, ...]
    axis: int
    size: Dim

    kind = "slice"
    inversions = 0

    @property
    def place(self) -> int:
        """The axis, counted from the end if the rank is not known."""
        return self.axis - len(self.dims) if is_sequence(self.dims[0]) else self.axis

    @property
    def result(self) -> tuple[Dim, ...]:
        """The sizes after the edit."""
        return (*self.dims[: self.axis], self.size, *self.dims[self.axis + 1 :])

    def code(self, framework: Framework, name: str) -> str:
        """Return code that computes the edited operand from a variable."""
        if framework == "onnx":
            ends = {} if not isinstance(self.size, int) else {"ends": self.size}
            inputs = {"starts": 0, "axes": self.place, **ends}
            lines = [f"{name}_1_{key} = Constant <value_ints = [{value}]> ()" for key, value in inputs.items()]
            return "\n".join([*lines, f"{name}_1 = Slice ({name}, {name}_1_starts, {name}_1_ends, {name}_1_axes)"])
        part = f":{self.size if isinstance(self.size, int) else dim_text(self.size)}"
        behind = len(self.dims) - self.axis - 1
        index = [*[":"] * self.axis, part] if 0 <= self.place <= behind else ["...", part, *[":"] * behind]
        return f"{name}[{', '.join(index)}]"


Edit: TypeAlias = ViewEdit | SliceEdit


class Meeting:
    """How often sizes of an operand other than 1 meet an equal size of another operand, aligned at the right."""

    def __init__(self, shapes: Sequence[Sequence[Dim]], position: int) -> None:
        others = [s[::-1] for n, s in enumerate(shapes) if n != position]
        # The sizes of the others, from the last axis on; 1 is not counted.
        self._met = [{*sizes} for sizes in zip_longest(*others, fillvalue=1)]
        self._now = 0
        # Whether some size meets none of its like now, but occurs in another operand: only then can an order gain.
        self.may_grow = False
        for back, size in enumerate(reversed(shapes[position])):
            if self.meets(size, back):
                self._now += 1
            elif size != 1 and any(size in other for other in others):
                self.may_grow = True

    def meets(self, size: Dim, back: int) -> bool:
        """Return whether a size would meet its like on an axis, counted from the last one, which is 0."""
        return size != 1 and back < len(self._met) and size in self._met[back]

    def gain(self, meetings: int) -> int:
        """Return how much more often than now the operand's sizes meet their like if they do so this often."""
        return meetings - self._now

    def gain_of(self, dims: Sequence[Dim]) -> int:
        """Return how much more often sizes meet their like if the operand gets these."""
        return self.gain(sum([self.meets(size, back) for back, size in enumerate(reversed(dims))]))


def views(dims: Sequence[Dim], rank: int, meeting: Meeting) -> Iterator[tuple[int, ViewEdit]]:
    """Yield the ways to place an operand's sizes other than 1 on the axes of a shape of some rank, with 1 elsewhere.

    Leading ones are left out. For an operand of unknown rank, ``rank`` counts the axes of its known end. Views are
    yielded with their gain, if that is above 0.
    """
    sizes = tuple(dims)
    if any(map(is_sequence, sizes)):
        ends = _views_of_end(sizes, rank) if is_sequence(sizes[0]) else ()
        yield from ((gained, view) for view in ends if (gained := meeting.gain_of(view.result)) > 0)
        return
    real = [axis for axis, dim in enumerate(sizes) if dim != 1]
    meets = [[meeting.meets(sizes[axis], back) for back in range(rank - 1, -1, -1)] for axis in real]
    seen = {sizes}
    in_any_order = permutations if len(real) <= _PERMUTED else combinations
    for places in in_any_order(range(rank), len(real)):
        gained = meeting.gain(sum([there[place] for there, place in zip(meets, places, strict=True)]))
        if gained <= 0:
            continue
        start = min(places)
        axes: list[int | None] = [None] * (rank - start)
        for axis, place in zip(real, places, strict=True):
            axes[place - start] = axis
        reordered = tuple([1 if axis is None else sizes[axis] for axis in axes])
        if reordered not in seen:
            seen.add(reordered)
            yield gained, ViewEdit(sizes, tuple(_with_ones(sizes, axes)))


def _views_of_end(dims: tuple[Dim, ...], rank: int) -> Iterator[ViewEdit]:
    """Yield the ways to place the axes after a leading sequence."""
    known = dims[1:]
    real = [axis for axis, dim in enumerate(known) if dim != 1]
    seen = {dims}
    in_any_order = permutations if len(real) <= _PERMUTED else combinations
    for count in range(len(real), rank + 1):
        for places in in_any_order(range(count), len(real)):
            axes: list[int | None] = [None] * count
            for axis, place in zip(real, places, strict=True):
                axes[place] = axis
            view = ViewEdit(dims, (0, *(None if a is None else a + 1 for a in _with_ones(known, axes))))
            if view.result not in seen:
                seen.add(view.result)
                yield view


def _with_ones(dims: Sequence[Dim], axes: Sequence[int | None]) -> list[int | None]:
    """Return axes that reuse existing size-1 axes instead of new ones, if this moves no axis or all of them fit."""
    ones = [axis for axis, dim in enumerate(dims) if dim == 1]
    if len(ones) == sum([axis is None for axis in axes]):
        every = iter(ones)
        return [next(every) if axis is None else axis for axis in axes]
    axes_with_ones = list(axes)
    for place, axis in enumerate(axes):
        if axis is None:
            before = max((a for a in axes[:place] if a is not None), default=-1)
            after = min((a for a in axes[place:] if a is not None), default=len(dims))
            axes_with_ones[place] = next((n for n in ones if before < n < after), None)
            ones = [n for n in ones if n != axes_with_ones[place]]
    return axes_with_ones


# How many changes are checked.
TRIED = 40
FRAMEWORKS: tuple[Framework, ...] = ("numpy", "torch", "onnx")
# With more operands, none is edited.
MOST_OPERANDS = 4
_TARGET = "target"


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


def repairs(result: BroadcastCall, limit: int = 5) -> tuple[Repair, ...]:
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
    ranked: list[tuple[bool, Repair]] = []
    for candidate in islice(_ranked(aligned), TRIED):
        if sum(certain for certain, _ in ranked) >= limit:
            break
        repair = _decided(aligned, candidate)
        if repair is not None:
            ranked.append((repair.verdict is Verdict.ALWAYS, repair))
    return tuple(repair for _, repair in sorted(ranked, key=lambda pair: not pair[0]))[:limit]


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


def _improved(aligned: Alignment, fix: Fix) -> BroadcastCall | None:
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
    fix, operands = candidate.make(FRAMEWORKS)
    answer = _improved(aligned, fix)
    if answer is None:
        return None
    verdict = answer.verdict
    text = fix.text if verdict is Verdict.ALWAYS else f"{fix.text}; it is then valid for some sizes"
    assume = tuple(a.text for a in fix.assume)
    from symbcast.core.programs.conditions import public_condition

    return Repair(
        candidate.kind, text, fix.operands, fix.rule, assume, verdict, answer.shape, public_condition(answer), operands
    )


def _count(aligned: Alignment) -> int:
    """Return the number of unintended outer products in a broadcast."""
    return sum(1 for _ in outer_products(aligned))


def _ranked(aligned: Alignment) -> list[_Candidate]:
    """Return the changes, the likeliest first."""
    candidates: list[_Candidate] = []
    alike: Counter[object] = Counter()
    for candidate in sorted(_edits(aligned), key=_cost):
        # An operand's axes have many orders: only the likeliest is kept, to leave room for other edits.
        alike[candidate.operand, candidate.kind] += 1
        if alike[candidate.operand, candidate.kind] <= _OF_A_KIND[candidate.kind]:
            candidates.append(candidate)
    return sorted((*candidates, *_others(aligned)), key=_cost)


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
    return any(isinstance(s, SequenceSymbol) for s in symbols_in(assumption.formula))


def _asserted(framework: Framework, assumptions: Sequence[Assumption]) -> Iterator[str]:
    for assumption in assumptions:
        yield f"assert {assumption.text}" if framework == "numpy" else f"torch._check({assumption.text})"


# What it costs that a size meets none of its like, to assume something, and to use another rule.
_MEETING, _ASSUME, _RULE = 100, 50, 70
# How many edits to list per kind and operand.
_OF_A_KIND = {"unsqueeze": 2, "squeeze": 2, "reshape": 2, "transpose": 1, "slice": 1}
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
    edits: list[tuple[int, int, Edit]] = []
    meetings = [(n, Meeting(shapes, n)) for n in editable]
    for n, meeting in meetings:
        if meeting.may_grow:
            known = (sum(not is_sequence(dim) for dim in dims) for dims in shapes)
            rank = max(known) if is_open(result.operands[n]) else longest
            edits += [(gained, n, view) for gained, view in views(shapes[n], rank, meeting)]
    if not edits:  # a slice is likely only if no placement of the whole operand is
        for n, meeting in meetings:
            edits += [(gained, n, cut) for cut in _slices(shapes, n) if (gained := meeting.gain_of(cut.result)) > 0]
    others = [sum([d != 1 for d in s]) for s in shapes]
    for gained, position, edit in edits:
        fewest = min([*others[:position], *others[position + 1 :]], default=0)
        cost = _COSTS[edit.kind] - gained * _MEETING + _unlikeliness(edit, fewest, position)
        yield _Candidate(cost, edit.kind, position, partial(_edited, aligned, position, edit))


def _edited(
    aligned: Alignment, position: int, edit: Edit, frameworks: Sequence[Framework]
) -> tuple[Fix, Mapping[str, str]]:
    """Return the question with an operand edited, and the code of the edit."""
    name, operands = aligned.names[position], list(aligned.result.operands)
    operands[position] = any_shape_of(edit.result)
    fix = Fix(_text(edit, name, aligned.namer), tuple(operands), aligned.result.rule)
    return fix, _code(edit, name, frameworks)


def _unlikeliness(edit: Edit, fewest: int, position: int) -> float:
    """Return a tie-breaker for edits of one kind with equally many matches: lower for smaller edits and later axes.

    ``fewest`` is the least number of sizes other than 1 in another operand.
    """
    places = [back for back, size in enumerate(reversed(edit.result), 1) if size != 1]
    is_smaller = len(places) <= fewest
    return edit.inversions * 0.1 + sum(places) * 0.01 + (0 if is_smaller else 0.5) - position * 0.001


def _slices(shapes: Sequence[Sequence[Dim]], position: int) -> Iterator[SliceEdit]:
    """Yield slices of one axis to a smaller size that it meets."""
    own = tuple(shapes[position])
    for back in range(1, len(own) + 1):
        size = own[-back]
        for n, other in enumerate(shapes):
            facing = other[-back] if n != position and back <= len(other) else None
            if isinstance(size, int) and isinstance(facing, int) and 1 < facing < size:
                yield SliceEdit(own, len(own) - back, facing)


def _text(edit: Edit, name: str, namer: Namer) -> str:
    result = shorten_end(namer.shape(edit.result), 100)
    if isinstance(edit, SliceEdit):
        return f"slice axis {edit.place} of {name} to {namer.dim(edit.size)}, as in {result}"
    return f"{'transpose' if edit.kind == 'transpose' else 'reshape'} {name} to {result}"


def _code(edit: Edit, name: str, frameworks: Sequence[Framework]) -> dict[str, str]:
    variable = name.lower() if name.isidentifier() else f"x{name.rpartition(' ')[2]}"
    codes = {framework: edit.code(framework, variable) for framework in frameworks}
    return {framework: code for framework, code in codes.items() if code}
