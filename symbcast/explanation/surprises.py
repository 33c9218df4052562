"""What is valid, and surely not meant: outer products by shapes of unlike ranks, and sizes stretched onto others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from symbcast.explanation.alignment import Alignment
from symbcast.explanation.names import Namer, axis_text, operand_names
from symbcast.logic.formulas import Formula, all_of, different, equal
from symbcast.solver.decision import Decision
from symbcast.verdicts import Verdict

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim
    from symbcast.program.call import Call

SurpriseKind: TypeAlias = Literal["outer-product", "stretch"]


class SurpriseData(TypedDict):
    """A surprise, see `Surprise`."""

    kind: str
    text: str
    operands: list[int]
    axis: int
    sizes: dict[str, int]


@dataclass(frozen=True)
class Surprise:
    """Something that a valid broadcast does, and that was surely not meant.

    Attributes:
        kind: ``outer-product``, where shapes of unlike ranks are each stretched along an axis of the other; or
            ``stretch``, where a size with a name is 1 and is stretched onto another one with a name.
        text: The same in words.
        operands: The operands that it is about.
        axis: The axis of the output, counted from the front.
        sizes: The smallest sizes at which it happens.
        when: The formula that holds where it happens, in valid sizes.
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


def surprises(result: Call) -> tuple[Surprise, ...]:
    """Return what a broadcast does at valid sizes that was surely not meant.

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
    return (*outer_products(result), *_stretches(result, Alignment(result)))


def outer_products(result: Call) -> Iterator[Surprise]:
    """Yield operands of unlike ranks that are stretched along each other, so that one size is on two axes.

    Without that size on both, as in ``x[:, None] - y``, it is how an outer product is written.
    """
    ranks, placement = [s.rank for s in result.laid], result.rule.placement
    if result.is_open or len(set(ranks)) < 2 or not placement.is_at_right or placement.base(ranks) is not None:
        return
    alignment, names, namer = Alignment(result), operand_names(result), Namer(result)
    rank = alignment.places.rank
    for long, short in permutations(range(len(ranks)), 2):
        axis = next((a for a in range(rank) if _size(alignment, long, a) == 1 != _size(alignment, short, a)), None)
        own = [_size(alignment, long, a) for a in range(rank) if _size(alignment, short, a) == 1]
        twice = next((d for d in own if d != 1 and d in result.operands[short].dims), None)
        if ranks[long] <= ranks[short] or axis is None or twice is None:
            continue
        happens = [different(d, 1) for d in (twice, _size(alignment, short, axis))]
        sizes = _sizes(result, happens)
        if sizes is not None and result.shape is not None:
            pair = tuple(sorted((long, short)))
            shown = " and ".join(f"{names[n]} {namer.shape(result.operands[n])}" for n in pair)
            text = f"{shown} make an outer product: {namer.dim(twice)} of both is on two axes of the output"
            yield Surprise("outer-product", f"{text} {namer.shape(result.shape)}", pair, axis, sizes, all_of(happens))


def _size(alignment: Alignment, operand: int, axis: int) -> Dim:
    """Return the size of an operand on an axis, 1 where it has none."""
    return next((d for n, d in alignment.cells(axis) if n == operand), 1)


def _stretches(result: Call, alignment: Alignment) -> Iterator[Surprise]:
    """Yield the sizes with names that can be 1 beside others with names that are not."""
    names, namer = operand_names(result), Namer(result)
    for axis in alignment.all_axes:
        named = [(n, d) for n, d in alignment.cells(axis) if not isinstance(d, int)]
        for operand, dim in named:
            other = next(((n, d) for n, d in named if d != dim), None)
            if other is None:
                continue
            happens = [equal(dim, 1), different(other[1], 1)]
            sizes = _sizes(result, happens)
            if sizes is not None:
                where = axis_text(axis, alignment.places.rank)
                onto = f"{namer.dim(other[1])} of {names[other[0]]}"
                text = f"where {namer.dim(dim)} is 1, {where} of {names[operand]} is stretched onto {onto}"
                yield Surprise("stretch", text, (operand, other[0]), axis, sizes, all_of(happens))


def _sizes(result: Call, formulas: Sequence[Formula]) -> dict[str, int] | None:
    """Return the smallest valid sizes at which formulas hold, None where there are none."""
    if result.scope is None:
        from symbcast.logic.formulas import holds

        return {} if all(map(holds, formulas)) else None
    required = [c.requirement for c in result.constraints]
    found = Decision(result.scope.knowledge, [*required, *formulas]).witness()
    return None if found is None else {name: found[s] for s, name in result.scope.names.items()}
