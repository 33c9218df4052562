"""Operands aligned by their rule with the status of each axis; why sizes fail, and why constraints clash.

Surprises are valid but surely unintended: outer products of shapes of different ranks, sizes stretched onto others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import combinations, islice, permutations
from typing import TYPE_CHECKING, Literal, TypeAlias

from symbcast.answers.explanation.words import Namer, axis_text, in_words, names_of_operands
from symbcast.core.algebra import formulas
from symbcast.core.algebra.formulas import FALSE, TRUE, Compatible, Formula
from symbcast.core.algebra.symbols import Rank, Rest, axis_of, is_sequence, rank_of
from symbcast.core.algebra.terms import Dim, lazy_property, symbols_of
from symbcast.core.characters import prose_list
from symbcast.core.programs.arguments import own_set
from symbcast.core.programs.bindings import RankedSizes, bind, operands_at
from symbcast.core.rules.declaration import PAST_END, SIZE, Constraint
from symbcast.core.rules.placement import Places
from symbcast.core.shapes import is_open
from symbcast.core.solver.evaluation import predicate, symbols_in
from symbcast.core.solver.f2_one_size.set_formulas import set_formula
from symbcast.core.structs import NamedTuple, Struct
from symbcast.core.verdicts import Verdict
from symbcast.errors import RuleArgumentError

if TYPE_CHECKING:
    from symbcast.answers.data import SurpriseData
    from symbcast.core.programs.broadcast_call import BroadcastCall
    from symbcast.core.solver.decision import AssumptionSet, Decision


# Operands aligned by their rule, the names of what is shown of them, and the status of each axis.


class AxisMark(Enum):
    """The status of an axis; its value is the mark shown under it."""

    FINE = "ok"
    CONDITIONAL = "?"
    IMPOSSIBLE = "x"
    UNDECIDED = "~"


_MARKS = {
    Verdict.ALWAYS: AxisMark.FINE,
    Verdict.SOMETIMES: AxisMark.CONDITIONAL,
    Verdict.NEVER: AxisMark.IMPOSSIBLE,
    Verdict.UNKNOWN: AxisMark.UNDECIDED,
}


class Alignment:
    """The aligned operands of a result; made once for all that is said about it.

    ``dims`` are the sizes of each operand as the rule lays them.
    """

    result: BroadcastCall
    dims: tuple[tuple[Dim, ...], ...]
    places: Places

    def __init__(self, result: BroadcastCall) -> None:
        self.result = result
        self.dims = result.dims
        self.places = result.rule.places(list(map(len, self.dims)))

    def at(self, concrete: BroadcastCall) -> Alignment:
        """Return the alignment of the operands at some sizes, given the result for these."""
        if self.result.is_open:
            return Alignment(concrete)
        alignment = Alignment.__new__(Alignment)
        alignment.result, alignment.dims, alignment.places = concrete, concrete.dims, self.places
        return alignment

    @lazy_property
    def names(self) -> list[str]:
        """The names of the operands."""
        return names_of_operands(self.result.rule, len(self.dims))

    @lazy_property
    def namer(self) -> Namer:
        """What writes the sizes of the result."""
        return Namer(self.result)

    def cells(self, axis: int) -> list[tuple[int, Dim]]:
        """Return the operands that have a size on an axis, with the size."""
        return [(n, d) for n, _, d in self.places_of(axis)]

    def sizes(self, operand: int, axis: int) -> list[Dim]:
        """Return the sizes of an operand on an axis: usually one, or none if it does not reach the axis."""
        return [d for n, _, d in self._by_axis.get(axis, ()) if n == operand]

    def places_of(self, axis: int) -> Sequence[tuple[int, int, Dim]]:
        """Return the operands that have a size on an axis, with the position of the size in each operand."""
        return self._by_axis.get(axis, ())

    @lazy_property
    def _by_axis(self) -> dict[int, list[tuple[int, int, Dim]]]:
        by_axis: dict[int, list[tuple[int, int, Dim]]] = {}
        for n, (axes, dims) in enumerate(zip(self.places.of, self.dims, strict=True)):
            for i, axis in enumerate(axes):
                by_axis.setdefault(axis, []).append((n, i, dims[i]))
        return by_axis

    @lazy_property
    def _axes(self) -> dict[Constraint, list[int]]:
        """The axes of each constraint; none if it is only about ranks."""
        axes_of: dict[Constraint, list[int]] = {}
        past_the_end = iter([a for a in self.all_axes if a >= self.places.rank])
        for constraint in self.result.constraints:
            axes = axes_of.setdefault(constraint, [])
            if constraint.code == PAST_END.code:
                axes.append(next(past_the_end))
            else:
                axes.extend(self._axes_of(constraint))
        return axes_of

    @lazy_property
    def _constraints(self) -> dict[int, list[Constraint]]:
        by_axis: dict[int, list[Constraint]] = {}
        for constraint, axes in self._axes.items():
            for axis in axes:
                by_axis.setdefault(axis, []).append(constraint)
        return by_axis

    @lazy_property
    def sequence(self) -> int | None:
        """The axis that represents all axes of sequences; None if there is none."""
        if not self.result.is_open:
            return None
        return next((a for a in self.all_axes if any(is_sequence(d) for _, d in self.cells(a))), None)

    def axis_text(self, axis: int) -> str:
        """Name an axis by its number from each end that it can be counted from."""
        return axis_text(axis, self.places.rank, self.sequence)

    def counted(self, axis: int) -> int:
        """Return an axis counted from the front, or from the end if it follows an unknown number of axes."""
        return axis if self.sequence is None or axis < self.sequence else axis - self.places.rank

    def axes_of(self, constraint: Constraint) -> list[int]:
        """Return the axes that a constraint of the result is about."""
        return self._axes.get(constraint, [])

    def _axes_of(self, constraint: Constraint) -> list[int]:
        origin = constraint.origin
        if constraint.code == SIZE.code:
            # The origin of a size counts the axes of its operand, not those of the aligned shapes.
            axes = self.places.of[origin.operands[0]]
            return [axes[origin.axis]] if origin.axis is not None and origin.axis < len(axes) else []
        if origin.axis is not None:
            return [origin.axis]
        if constraint.requirement == FALSE:
            return self._refused(origin.operands)
        return list(self.places.of[origin.operands[-1]])

    def _refused(self, operands: Sequence[int]) -> list[int]:
        """Return the axes where ranks do not fit: axes outside the output, else axes that some operand lacks."""
        lacking = [a for a in self.all_axes if len(self.cells(a)) < len(operands)]
        hanging = [a for a in self.all_axes if not 0 <= a < self.places.rank]
        return hanging or lacking or sorted({a for n in operands for a in self.places.of[n]})

    @lazy_property
    def all_axes(self) -> tuple[int, ...]:
        """Every axis in use, including axes outside the output, which can be far from the others."""
        return tuple(sorted({*range(self.places.rank), *self._by_axis}))

    @lazy_property
    def _clashing(self) -> frozenset[int]:
        if self.result.verdict is not Verdict.NEVER:
            return frozenset()
        return frozenset(a for c in self.result.conflict for a in self.axes_of(c))

    @property
    def clashing(self) -> list[int]:
        """The axes of the conflict."""
        return sorted(self._clashing)

    def mark(self, axis: int) -> AxisMark:
        """Return the status of an axis by its own constraints; the axes of a conflict are impossible together."""
        if axis in self._clashing:
            return AxisMark.IMPOSSIBLE
        if self.result.is_plain:
            return _MARKS[self.result.masks.verdict_at(axis)]
        constraints = self._constraints.get(axis)
        return _MARKS[self._decided(constraints)] if constraints else AxisMark.FINE

    @staticmethod
    def _is_no_question(constraint: Constraint) -> bool:
        requirement = constraint.requirement
        return all(isinstance(d, int) for d in formulas.dims_of(requirement)) and formulas.holds(requirement)

    def _decided(self, constraints: Sequence[Constraint]) -> Verdict:
        """Return the verdict on only some of the result's constraints."""
        requirements = [c.requirement for c in constraints]
        if all(isinstance(d, int) for r in requirements for d in formulas.dims_of(r)):
            return Verdict.ALWAYS if all(map(formulas.holds, requirements)) else Verdict.NEVER

        decided = set(requirements)
        if all(c.requirement in decided or self._is_no_question(c) for c in self.result.constraints):
            return self.result.verdict  # exactly the question that was already decided
        assert self.result.scope is not None and self.result.scope.assumption_set is not None
        return _decision(self.result.scope.assumption_set, requirements).verdict


# Why sizes fail: the axis, the sizes on each side, and why constraints clash.


PAIRS_TRIED = 100
# How long a requirement in words may be; a longer one is shown as a formula.
_LONGEST = 300


def at_sizes(result: BroadcastCall, sizes: Mapping[str, int]) -> BroadcastCall | None:
    """Return the result for the operands at some sizes; None if a dimension is not a size or a rank is refused.

    Raises `BindingError` for names that the result does not have.
    """
    bind(result, sizes, {})
    return at_evidence(result, sizes)


def at_evidence(result: BroadcastCall, sizes: Mapping[str, int]) -> BroadcastCall | None:
    """Return the same as `at_sizes`, for sizes that are known to be valid."""
    try:
        return _at(result, sizes)
    except RuleArgumentError:
        return None


def _at(result: BroadcastCall, sizes: Mapping[str, int]) -> BroadcastCall | None:
    shapes = operands_at(result, sizes)
    return None if shapes is None else type(result)(result.rule_at_sizes, shapes, None)


def failure_at(aligned: Alignment, sizes: Mapping[str, int], shown: int = 1) -> str:
    """Return the failure at some sizes: "axis 0 (-2) has 2 and 3"; empty if there is none."""
    try:
        concrete = _at(aligned.result, sizes)
    except RuleArgumentError as error:
        return error.problem
    if concrete is None:
        return _no_size(aligned, sizes)
    broken = failures(aligned.at(concrete))
    more = len(broken) - shown
    if more > 0:
        broken = [*broken[:shown], f"{more} more {'axis fails' if more == 1 else 'axes fail'} too"]
    return "; ".join(broken)


def failures(aligned: Alignment) -> list[str]:
    """Return for each broken constraint of integer shapes the sizes that clash."""
    return [_failure(c, aligned) for c in aligned.result.constraints if not formulas.holds(c.requirement)]


def _failure(constraint: Constraint, aligned: Alignment) -> str:
    """Return the sizes that clash in a broken constraint over integers."""
    names, origin = aligned.names, constraint.origin
    if constraint.requirement == FALSE:
        return refusal_reason(constraint, aligned)
    if origin.axis is not None:
        cells = [(n, d) for n, d in aligned.cells(origin.axis) if n in origin.operands]
        where = aligned.axis_text(origin.axis)
        return f"{where} has {_clashing_sizes(cells, names)} ({constraint.reason})"
    operands = " and ".join(f"{names[n]} {shape}" for n, shape in enumerate(aligned.result.operands))
    return f"{operands}: {constraint.reason}"


def refusal_reason(constraint: Constraint, aligned: Alignment) -> str:
    """Return why a rule refuses the ranks of a result's operands."""
    operands = constraint.origin.operands
    # A reason about several operands names them itself.
    return f"{aligned.names[operands[0]]}: {constraint.reason}" if len(operands) == 1 else constraint.reason


def _clashing_sizes(cells: Sequence[tuple[int, Dim]], names: Sequence[str]) -> str:
    """Return the sizes of an axis; for more than two operands, two that clash and the names of their operands."""
    numbers = [(n, d) for n, d in cells if isinstance(d, int)]
    if len(names) > 2:
        left, right = clashing_pair(numbers)
        return f"{left[1]} of {names[left[0]]} and {right[1]} of {names[right[0]]}"
    return " and ".join(str(d) for _, d in numbers)


def clashing_pair(cells: Sequence[tuple[int, Dim]]) -> tuple[tuple[int, Dim], tuple[int, Dim]]:
    """Return two sizes that differ and are not 1; if there are none, the first two."""
    telling = [cell for cell in cells if isinstance(cell[1], int) and cell[1] != 1]
    other = next((cell for cell in telling if cell[1] != telling[0][1]), None)
    return (telling[0], other) if other is not None else (cells[0], cells[1])


def _no_size(aligned: Alignment, sizes: Mapping[str, int]) -> str:

    result = aligned.result
    assert result.scope is not None
    bound = result.scope.symbol_sizes(sizes)
    for constraint in result.size_constraints():
        if not predicate(constraint.requirement, tuple(bound))(*bound.values()):
            origin = constraint.origin
            assert origin.axis is not None and origin.rank is not None
            operand = origin.operands[0]
            dim = aligned.namer.dim(aligned.dims[operand][origin.axis])
            return f"{axis_text(origin.axis, origin.rank)} of {aligned.names[operand]}, {dim}, would not be a size"
    return ""


def constraint_conflict_lines(aligned: Alignment, shown: int = 4) -> list[str]:
    """Return why a broadcast is never valid: each clashing constraint's requirement, and the facts against it."""
    result = aligned.result
    if result.scope is None:
        lines = failures(aligned)
        return lines if len(lines) <= shown else [*lines[: shown - 1], f"and on {len(lines) - shown + 1} more axes"]
    conflicts = [_conflict_line(c, aligned) for c in result.conflict]
    lines = [text for text, _ in conflicts]
    if len(lines) > shown:
        lines = [*lines[: shown - 1], f"and {len(lines) - shown + 1} more"]
    if not all(depends for _, depends in conflicts):
        return lines
    known = _known(aligned, [c.requirement for c in result.conflict])
    if known:
        return [*lines, f"but {known}"]
    return [*lines, "and these cannot hold together" if len(lines) > 1 else "and no sizes satisfy this"]


def _conflict_line(constraint: Constraint, aligned: Alignment) -> tuple[str, bool]:
    """Return the requirement of one constraint in a conflict, with its origin, and whether sizes could meet it."""
    names, origin = aligned.names, constraint.origin
    if constraint.requirement == FALSE:
        return refusal_reason(constraint, aligned), False
    if constraint.code == SIZE.code:
        assert origin.axis is not None and origin.rank is not None
        where = f"{axis_text(origin.axis, origin.rank)} of {names[origin.operands[0]]}"
        return f"{where} must be a size: {_needed(constraint.requirement, aligned)}", True
    if origin.axis is None or origin.rank is None:
        if all(isinstance(d, int) for d in formulas.dims_of(constraint.requirement)):
            return constraint.reason, False
        return f"{constraint.reason}: {_needed(constraint.requirement, aligned)}", True
    where = aligned.axis_text(origin.axis)
    cells = [(n, d) for n, d in aligned.cells(origin.axis) if n in origin.operands]
    pair = clashing_pair(cells) if len(cells) > 1 else ()
    clash = isinstance(constraint.requirement, Compatible) and _differ(*[d for _, d in pair])
    if clash or all(isinstance(d, int) for _, d in cells):
        return f"{where} has {_clashing_sizes(cells, names)} ({constraint.reason})", False
    requirement = constraint.requirement
    if isinstance(requirement, Compatible):
        cells = list(_narrowed(cells, aligned.result))
        requirement = Compatible(tuple(d for _, d in cells))
    of = prose_list([names[n] for n, _ in cells], limit=4)
    return f"{where} of {of} needs: {_needed(requirement, aligned)}", True


def _decision(known: AssumptionSet, requirements: Sequence[Formula]) -> Decision:
    from symbcast.core.solver.decision import Decision  # with all tiers; for few names, masks decided

    return Decision(known, requirements)


def _differ(*sizes: Dim) -> bool:
    return len({d for d in sizes if isinstance(d, int) and d != 1}) > 1


def _narrowed(cells: Sequence[tuple[int, Dim]], result: BroadcastCall) -> Sequence[tuple[int, Dim]]:
    """Return two sizes of an axis that never broadcast together; all sizes if there is no such pair."""
    assert result.scope is not None and result.scope.assumption_set is not None
    distinct = list({d: (n, d) for n, d in reversed(cells) if d != 1}.values())[::-1]
    for pair in islice(combinations(distinct, 2), PAIRS_TRIED):
        compatible = Compatible(tuple(d for _, d in pair))
        if _decision(result.scope.assumption_set, [compatible]).verdict is Verdict.NEVER:
            return pair
    return cells


def _needed(requirement: Formula, aligned: Alignment) -> str:
    """Return a constraint's requirement in words: its own reduced form if it can hold at all."""
    result = aligned.result
    assert result.scope is not None and result.scope.assumption_set is not None
    conjuncts: list[Formula] = list(formulas.clauses(requirement))
    reduced = _decision(result.scope.assumption_set, [requirement]).clauses
    if reduced and reduced != [FALSE]:
        conjuncts = reduced
    namer, needed = aligned.namer, formulas.all_of(conjuncts)
    text = in_words(needed, namer)
    return text if len(text) <= _LONGEST else namer.formula(needed)


def _known(aligned: Alignment, requirements: Sequence[Formula]) -> str:
    """Return the known bounds and assumptions about the symbols in some formulas, in words."""
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
        own = set_formula(s, own_set(s, result.min_size))
        if own != TRUE:
            said.append(in_words(own, namer))
    return prose_list(list(dict.fromkeys(said)), limit=6)


# Surprises: valid but surely unintended effects.


SurpriseKind: TypeAlias = Literal["outer-product", "stretch"]


class Surprise(Struct):
    """An effect of a valid broadcast that is surely unintended.

    Attributes:
        kind: ``outer-product``, where shapes of different ranks are each stretched along an axis of the other; or
            ``stretch``, where a named size is 1 and is stretched onto another named size.
        text: The effect in words.
        operands: The operands involved.
        axis: The axis of the output, counted from the front; from the end if a sequence of axes precedes it.
        sizes: The smallest sizes at which it happens.
        when: The formula that holds where it happens, among valid sizes.
    """

    kind: SurpriseKind
    text: str
    operands: tuple[int, ...]
    axis: int
    sizes: Mapping[str, int]
    when: Formula

    def to_dict(self) -> SurpriseData:
        """Return the surprise as plain data for JSON."""
        return {
            "kind": self.kind,
            "text": self.text,
            "operands": list(self.operands),
            "axis": self.axis,
            "sizes": dict(self.sizes),
        }

    def __str__(self) -> str:
        return self.text


def surprises(result: BroadcastCall) -> tuple[Surprise, ...]:
    """Return the surely unintended effects of a broadcast at valid sizes.

    >>> import symbcast
    >>> for surprise in symbcast.broadcast("N", "N, 1").surprises:
    ...     print(surprise)
    A (N,) and B (N, 1) make an outer product: N of both is on two axes of the output (N, N)
    >>> for surprise in symbcast.broadcast("N", "M").surprises:
    ...     print(surprise)
    where N is 1, axis 0 (-1) of A is stretched onto M of B
    where M is 1, axis 0 (-1) of B is stretched onto N of A
    """
    if result.verdict not in (Verdict.ALWAYS, Verdict.SOMETIMES):
        return ()
    aligned = Alignment(result)
    return (*outer_products(aligned), *_stretches(aligned))


def outer_products(aligned: Alignment) -> Iterator[Surprise]:
    """Yield operands of different ranks that are stretched along each other, so that one size is on two axes.

    Without a shared size, as in ``x[:, None] - y``, the outer product is intended. An operand of unknown
    rank is reported if it has more known axes than the other operand has axes in all.
    """
    result = aligned.result
    placement = result.rule.placement
    pairs = _of_unlike_ranks(aligned)
    if not pairs or not placement.is_at_right or placement.base(list(map(len, aligned.dims))) is not None:
        return
    names, namer, valid = aligned.names, aligned.namer, _ValidSizes(result)
    rank = aligned.places.rank
    for long, short in pairs:
        axis = next((a for a in range(rank) if _size(aligned, long, a) == 1 != _size(aligned, short, a)), None)
        own = [_size(aligned, long, a) for a in range(rank) if _size(aligned, short, a) == 1]
        twice = next((d for d in own if d != 1 and d in result.operands[short].dims), None)
        if axis is None or twice is None:
            continue
        happens = [formulas.different(d, 1) for d in (twice, _size(aligned, short, axis))]
        sizes = valid.smallest(happens)
        if sizes is not None and result.shape is not None:
            pair = tuple(sorted((long, short)))
            shown = " and ".join(f"{names[n]} {namer.shape(result.operands[n])}" for n in pair)
            text = f"{shown} make an outer product: {namer.dim(twice)} of both is on two axes of the output"
            text = f"{text} {namer.shape(result.shape)}"
            yield Surprise("outer-product", text, pair, aligned.counted(axis), sizes, formulas.all_of(happens))


def _of_unlike_ranks(aligned: Alignment) -> list[tuple[int, int]]:
    """Return the pairs of operands where the first is known to have more axes than the second."""
    result = aligned.result
    least = list(map(len, aligned.dims))
    most: Sequence[int | None] = least
    if result.is_open and result.scope is not None and result.scope.unrolled is not None:
        if result.scope.unrolled.mixed:
            return []  # not all ranks are checked
        least = [sum(not is_sequence(d) for d in s.dims) for s in result.operands]
        most = [None if is_open(s) else s.rank for s in result.operands]
    pairs = permutations(range(len(least)), 2)
    return [(long, short) for long, short in pairs if (end := most[short]) is not None and least[long] > end]


def _size(aligned: Alignment, operand: int, axis: int) -> Dim:
    """Return the size of an operand on an axis, 1 if it has none."""
    return next(iter(aligned.sizes(operand, axis)), 1)


class _Cell(NamedTuple):
    """The size of an operand on an axis.

    ``is_there`` states that the axis exists, if it belongs to a sequence; ``sequence`` is the sequence's name if the
    aligned shapes do not name the axis.
    """

    operand: int
    size: Dim
    is_there: tuple[Formula, ...] = ()
    sequence: str = ""


def _stretches(aligned: Alignment) -> Iterator[Surprise]:
    """Yield the named sizes that can be 1 while other named sizes on their axis are not."""
    names, namer = aligned.names, aligned.namer
    rows = [(axis, _rows(aligned, axis)) for axis in aligned.all_axes]
    cells_shown = [cell for _, row in rows for cells in row for cell in cells]
    valid = _ValidSizes(aligned.result, [f for cell in cells_shown for f in (*cell.is_there, Compatible((cell.size,)))])
    for axis, row in rows:
        for place in range(max(map(len, row), default=0)):
            # The last axis of a sequence on which it happens represents them all.
            stretches = (_stretch(cells, place, valid) for cells in row)
            back, stretch = next(((n, s) for n, s in enumerate(stretches) if s is not None), (0, None))
            if stretch is None:
                continue
            cell, other, happens, sizes = stretch
            if cell.sequence:
                where = f"an axis of {cell.sequence} of {names[cell.operand]} is 1, it"
            else:
                where = f"{namer.dim(cell.size)} is 1, {aligned.axis_text(axis)} of {names[cell.operand]}"
            onto = f"{other.sequence or namer.dim(other.size)} of {names[other.operand]}"
            text = f"where {where} is stretched onto {onto}"
            pair = cell.operand, other.operand
            yield Surprise("stretch", text, pair, aligned.counted(axis) - back, sizes, formulas.all_of(happens))


def _stretch(
    cells: Sequence[_Cell], place: int, valid: _ValidSizes
) -> tuple[_Cell, _Cell, list[Formula], dict[str, int]] | None:
    """Return the size at a place, another size that it can be stretched onto, and where; None if there is none."""
    cell = cells[place]
    other = next((c for c in cells if c.size != cell.size), None)
    if other is None:
        return None
    happens = [*cell.is_there, formulas.equal(cell.size, 1), formulas.different(other.size, 1)]
    sizes = valid.smallest(happens)
    return None if sizes is None else (cell, other, happens, sizes)


def _rows(aligned: Alignment, axis: int) -> list[list[_Cell]]:
    """Return the sizes on an axis that are not numbers."""
    result = aligned.result
    cells = [(n, i, dim) for n, i, dim in aligned.places_of(axis) if not isinstance(dim, int)]
    unrolled = None if result.scope is None else result.scope.unrolled
    if unrolled is None:
        return [[_Cell(n, dim) for n, _, dim in cells]]
    rests = [s for s in symbols_of(dim for *_, dim in cells) if isinstance(s, Rest)]
    # The axis that represents all unnamed axes has a row for each axis that is distinguished, the last one first, and
    # one row for the axes before them.
    count = max((unrolled.depths[s.sequence] - s.place for s in rests), default=0)
    return [[_cell(aligned, place, back) for place in cells] for back in range(1, count + 2 if rests else 2)]


def _cell(aligned: Alignment, place: tuple[int, int, Dim], back: int) -> _Cell:
    """Return the size at a place of an aligned operand; for a sequence, that of an axis counted from its end."""
    operand, index, dim = place
    own = aligned.result.operands[operand].dims
    start = next((n for n, d in enumerate(own) if is_sequence(d)), len(own))
    from_end = len(aligned.dims[operand]) - index - (len(own) - start - 1)
    if index < start or from_end < 1:
        return _Cell(operand, dim)
    if not is_sequence(dim):
        return _Cell(operand, dim, (formulas.at_most(from_end, rank_of(own[start])),))
    is_there = formulas.at_most(from_end + back - 1, rank_of(own[start]))
    return _Cell(operand, axis_of(dim, back), (is_there,), aligned.namer.dim(dim))


class _ValidSizes:
    """The valid sizes of a broadcast; ``mentioned`` are further formulas that `smallest` will be asked about."""

    def __init__(self, result: BroadcastCall, mentioned: Iterable[Formula] = ()) -> None:
        self._result = result
        self._ranked: RankedSizes | None = None
        if result.is_open:
            self._ranked = RankedSizes.of_call("surprises", result, mentioned)

    def smallest(self, more: Sequence[Formula]) -> dict[str, int] | None:
        """Return the smallest valid sizes at which ``more`` holds too; None if there are none."""
        result, ranked = self._result, self._ranked
        if ranked is not None:
            sizes = _decision(ranked.assumption_set, [*ranked.required, *more]).witness()
            return None if sizes is None else ranked.named(sizes)
        if result.scope is None:
            return {} if all(map(formulas.holds, more)) else None
        required = [c.requirement for c in result.constraints]
        sizes = _decision(result.scope.assumption_set, [*required, *more]).witness()
        return None if sizes is None else result.scope.named(sizes)
