"""Valid but surely unintended effects: outer products of shapes of different ranks, and sizes stretched onto others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from symbcast.answers.data import SurpriseData
from symbcast.answers.explanation.evidence import Alignment
from symbcast.core.algebra.formulas import Compatible, Formula, all_of, at_most, different, equal
from symbcast.core.algebra.symbols import Rest, axis_of, is_sequence, rank_of
from symbcast.core.algebra.terms import Dim, symbols_of
from symbcast.core.programs.bindings import RankedSizes
from symbcast.core.shapes import is_open
from symbcast.core.structs import Struct
from symbcast.core.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.core.programs.broadcast_call import BroadcastCall

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
        happens = [different(d, 1) for d in (twice, _size(aligned, short, axis))]
        sizes = valid.smallest(happens)
        if sizes is not None and result.shape is not None:
            pair = tuple(sorted((long, short)))
            shown = " and ".join(f"{names[n]} {namer.shape(result.operands[n])}" for n in pair)
            text = f"{shown} make an outer product: {namer.dim(twice)} of both is on two axes of the output"
            text = f"{text} {namer.shape(result.shape)}"
            yield Surprise("outer-product", text, pair, aligned.counted(axis), sizes, all_of(happens))


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
            yield Surprise("stretch", text, pair, aligned.counted(axis) - back, sizes, all_of(happens))


def _stretch(
    cells: Sequence[_Cell], place: int, valid: _ValidSizes
) -> tuple[_Cell, _Cell, list[Formula], dict[str, int]] | None:
    """Return the size at a place, another size that it can be stretched onto, and where; None if there is none."""
    cell = cells[place]
    other = next((c for c in cells if c.size != cell.size), None)
    if other is None:
        return None
    happens = [*cell.is_there, equal(cell.size, 1), different(other.size, 1)]
    sizes = valid.smallest(happens)
    return None if sizes is None else (cell, other, happens, sizes)


def _rows(aligned: Alignment, axis: int) -> list[list[_Cell]]:
    """Return the sizes on an axis that are not numbers.

    The axis that represents all unnamed axes has a row for each axis that is distinguished, the last one first, and
    one row for the axes before them.
    """
    result = aligned.result
    cells = [(n, i, dim) for n, i, dim in aligned.places_of(axis) if not isinstance(dim, int)]
    unrolled = None if result.scope is None else result.scope.unrolled
    if unrolled is None:
        return [[_Cell(n, dim) for n, _, dim in cells]]
    rests = [s for s in symbols_of(dim for *_, dim in cells) if isinstance(s, Rest)]
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
        return _Cell(operand, dim, (at_most(from_end, rank_of(own[start])),))
    is_there = at_most(from_end + back - 1, rank_of(own[start]))
    return _Cell(operand, axis_of(dim, back), (is_there,), aligned.namer.dim(dim))


class _ValidSizes:
    """The valid sizes of a broadcast; ``mentioned`` are further formulas that `smallest` will be asked about."""

    def __init__(self, result: BroadcastCall, mentioned: Iterable[Formula] = ()) -> None:
        self._result = result
        self._ranked: RankedSizes | None = None
        if result.is_open:
            from symbcast.core.programs.bindings import RankedSizes

            self._ranked = RankedSizes.of_call("surprises", result, mentioned)

    def smallest(self, formulas: Sequence[Formula]) -> dict[str, int] | None:
        """Return the smallest valid sizes at which formulas hold; None if there are none."""
        from symbcast.core.solver.decision import Decision

        result, ranked = self._result, self._ranked
        if ranked is not None:
            sizes = Decision(ranked.assumption_set, [*ranked.required, *formulas]).witness()
            return None if sizes is None else ranked.named(sizes)
        if result.scope is None:
            from symbcast.core.algebra.formulas import holds

            return {} if all(map(holds, formulas)) else None
        required = [c.requirement for c in result.constraints]
        sizes = Decision(result.scope.assumption_set, [*required, *formulas]).witness()
        return None if sizes is None else result.scope.named(sizes)
