"""`Buckets`: a few padded shapes that cover the sizes of real requests with the least padding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from symbcast.answers.contracts.buckets.packing import Shape, least_padding
from symbcast.answers.contracts.proof import prove
from symbcast.answers.contracts.search.space import Axis, Group, space_of
from symbcast.answers.contracts.wanted import Wanted
from symbcast.core.effort import EffortSpentError, charge
from symbcast.core.logic.formulas import all_of
from symbcast.core.program.calls.certificate import Certificate
from symbcast.core.solver.budget import reason, share
from symbcast.core.solver.evaluation.evaluation import predicate
from symbcast.errors import BindingError, ShapeTypeError, UndecidedError

if TYPE_CHECKING:
    from symbcast.answers.contracts.question import Question
    from symbcast.core.algebra.symbols import Symbol

Traffic: TypeAlias = "Mapping[Any, float] | Iterable[Any]"
"""Sizes, or sizes with how often each occurs; for two sizes, pairs."""
PACKED = 1_500_000
"""Units of effort for the choice of shapes."""


@dataclass(frozen=True)
class Buckets:
    """Padded shapes for requests; each request takes the smallest one that is large enough.

    Attributes:
        shapes: The sizes of each shape by name, in order.
        waste: The padding as a part of the requests themselves, in elements: 0.1 for a tenth more.
        is_least: Whether no other choice of as many valid shapes has less padding.
        reason: Why that is not proved; empty if it is.
        proof: For each clause of the condition, whether z3 proved that all shapes satisfy it.
        others: The ranges of the other sizes; the shapes work with all of them.
    """

    shapes: list[dict[str, int]]
    waste: float
    is_least: bool
    reason: str
    proof: Certificate
    others: dict[str, range]

    def of(self, **sizes: int) -> dict[str, int] | None:
        """Return the smallest shape for a request; None if it is too large for all of them."""
        fits = [shape for shape in self.shapes if all(shape[name] >= n for name, n in sizes.items())]
        return min(fits, key=lambda shape: prod(shape.values()), default=None)


def buckets_of(  # noqa: PLR0913, PLR0917 - the question, and what a caller gives
    question: Question,
    wanted: Wanted,
    box: Mapping[Symbol, range],
    k: int,
    traffic: Traffic,
    sizes: tuple[str, ...],
) -> Buckets:
    """Return at most ``k`` shapes for the traffic; see `symbcast.answers.contracts.contract.Contract.buckets`.

    The other sizes have the ranges of ``box``.
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ShapeTypeError(k, "a number of buckets", "write 1 or more")
    if question.open:
        raise UndecidedError(question.open)
    symbols = _bucketed(question, wanted, sizes)
    weights = _weights(traffic, len(symbols))
    wanted = Wanted({s: r if s in symbols else box[s] for s, r in wanted.ranges.items()}, {})
    try:
        with share(PACKED):
            valid = _Valid(question, wanted, symbols)
            found = least_padding(weights, k, valid.axes, valid.holds)
    except EffortSpentError:
        raise UndecidedError(reason()) from None
    if found is None:
        raise UndecidedError("no valid shape in the wanted ranges covers the largest sizes of the traffic")
    boxes = [
        {**wanted.ranges, **{s: range(n, n + 1) for s, n in zip(symbols, shape, strict=True)}} for shape in found.shapes
    ]
    proof = prove(boxes, question.clauses)
    if not proof:
        raise UndecidedError("z3 did not prove the shapes for all other sizes: give these narrower ranges")
    names = [question.names[s] for s in symbols]
    others = {name: wanted.ranges[s] for s, name in question.names.items() if s not in symbols}
    shapes = [dict(zip(names, shape, strict=True)) for shape in found.shapes]
    return Buckets(shapes, found.waste, not found.open, found.open, proof, others)


def _bucketed(question: Question, wanted: Wanted, sizes: tuple[str, ...]) -> tuple[Symbol, ...]:
    """Return the sizes that the shapes are about."""
    symbols = {name: s for s, name in question.names.items()}
    unknown = [name for name in sizes if name not in symbols]
    if unknown:
        raise BindingError(f"there is no size {unknown[0]}; the sizes are {', '.join(symbols)}")
    found = tuple(symbols[n] for n in sizes) or tuple(s for s, r in wanted.ranges.items() if len(r) > 1)
    if not 1 <= len(found) <= 2:
        free = ", ".join(question.names[s] for s in found)
        raise BindingError(f"buckets are about one or two sizes, not {free or 'none'}", 'name them: sizes=["H", "W"]')
    return found


def _weights(traffic: Traffic, count: int) -> dict[tuple[int, ...], float]:
    """Return how often each point occurs; raise `ShapeTypeError` for what is no traffic."""
    hint = "write sizes such as [120, 300], or {120: 5, 300: 1}; for two sizes, pairs"
    items = traffic.items() if isinstance(traffic, Mapping) else ((point, 1) for point in traffic)
    found: dict[tuple[int, ...], float] = {}
    for point, weight in items:
        sizes = point if isinstance(point, tuple | list) else (point,)
        if len(sizes) != count or any(isinstance(n, bool) or not isinstance(n, int) or n < 1 for n in sizes):
            raise ShapeTypeError(point, f"{count} size{'s' * (count > 1)} of a request", hint)
        if not isinstance(weight, int | float) or not 0 <= weight < float("inf"):
            raise ShapeTypeError(weight, "how often a size occurs", hint)
        found[tuple(sizes)] = found.get(tuple(sizes), 0) + weight
    found = {point: weight for point, weight in found.items() if weight}
    if not found:
        raise ShapeTypeError(traffic, "traffic with at least one request", hint)
    return found


class _Valid:
    """Which shapes work with all wanted values of the other sizes."""

    def __init__(self, question: Question, wanted: Wanted, symbols: tuple[Symbol, ...]) -> None:
        space = space_of(question.formula, wanted)
        found = {} if space.is_empty else {s: group for group in space.groups for s in group.axes}
        self.axes: list[Axis] = [found[s].axes[s] if found else Axis(0, 0) for s in symbols]
        groups: list[Group] = list({id(found[s]): found[s] for s in symbols if found}.values())
        self._clauses = [clause for group in groups for clause in group.clauses]
        others = [s for group in groups for s in group.axes if s not in symbols]
        self._symbols, self._others = symbols, others
        self._holds = predicate(all_of(self._clauses), (*symbols, *others))
        # Clauses that tie a shape to other sizes are tried at these sizes; the proof covers all of them.
        self._points = list(_some_points([found[s].axes[s] for s in others])) if self._clauses else []

    def holds(self, shape: Shape) -> bool:
        """Return whether a shape of sizes on the axes works; necessary only, if other sizes are tied to it."""
        if not self._clauses:
            return True
        charge(len(self._points))
        return all(self._holds(*shape, *point) for point in self._points)


def _some_points(axes: list[Axis]) -> Iterable[tuple[int, ...]]:
    return product(*(dict.fromkeys((axis.low, (axis.low + axis.high) // 2, axis.high)) for axis in axes))
