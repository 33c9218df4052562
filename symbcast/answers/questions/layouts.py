"""Broadcasts as columns, and how a case reads their operands: stretched axes and strides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from symbcast.answers.questions.choices import Column
from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.sequences import is_sequence
from symbcast.core.algebra.terms import Operation, Term, term
from symbcast.core.broadcasting import Joined, Rule
from symbcast.core.broadcasting.outputs import members_of
from symbcast.core.shapes import Shape, any_shape_of, is_open, shape_of

if TYPE_CHECKING:
    from symbcast.answers.questions.ranks import Ranks
    from symbcast.core.algebra.terms import Dim

_TARGET = "target"
"""What rules call an operand that is a shape to broadcast to, and has no elements."""


@dataclass(frozen=True)
class Layout:
    """How a broadcast reads its operands in one case.

    Attributes:
        name: The broadcast's name; empty for a single broadcast.
        shape: The output. A sequence of axes is one entry, here and in the attributes below.
        operands: The operands that have elements, with their shapes in this case.
        strides: For each of these operands, the distance in elements to the next one along each output axis, for
            contiguous operands, the last axis innermost; 0 where the operand is stretched or has no axis.
        stretched: For each of these operands, whether it is stretched, or has no axis, on each output axis.
    """

    name: str
    shape: Shape
    operands: tuple[Shape, ...]
    strides: tuple[Shape, ...]
    stretched: tuple[tuple[bool, ...], ...]


class Broadcast(NamedTuple):
    """A broadcast that is divided into cases: operands, the output as the rule emits it, and the axes' positions.

    ``axes[n][i]`` is the output axis of axis ``i`` of operand ``n``; ``axes[n]`` is None for one without elements.
    """

    name: str
    operands: tuple[Shape, ...]
    output: tuple[Dim | Joined, ...]
    axes: tuple[tuple[int, ...] | None, ...]

    @property
    def is_operator(self) -> bool:
        """Whether it is an operator such as a matmul, for which only the output is given."""
        return all(axes is None for axes in self.axes)

    def columns(self) -> Iterator[Column]:
        """Yield the columns to choose from."""
        for axis, found in enumerate(self.output):
            sizes = [
                operand.dims[place]
                for operand, axes in zip(self.operands, self.axes, strict=True)
                for place, lies in enumerate(axes or ())
                if lies == axis
            ]
            if isinstance(found, Joined):
                yield Column(tuple(dict.fromkeys((*found, *sizes))))
            elif any(size != found for size in sizes):
                yield Column(tuple(dict.fromkeys(s for s in sizes if s != found)), found)

    def layout(self, resolve: Callable[[Dim], Dim]) -> Layout:
        """Return how operands are read where sizes resolve to others."""
        resolve = _but_sequences(resolve)
        joined = [next((d for d in map(resolve, members_of(o)) if d != 1), 1) for o in self.output]
        operands, strides, stretched = [], [], []
        for operand, axes in zip(self.operands, self.axes, strict=True):
            if axes is None:
                continue
            dims = tuple(map(resolve, operand.dims))
            own: list[Dim] = [0] * len(joined)
            is_stretched = [True] * len(joined)
            step: Dim = 1
            for dim, axis in reversed(list(zip(dims, axes, strict=True))):
                if 0 <= axis < len(joined):
                    is_stretched[axis] = dim == 1 != joined[axis]
                    own[axis] = 0 if is_stretched[axis] else step
                # Axes that follow one another are read as one: the stride of a sequence is that of its last axis.
                step = step if is_sequence(dim) else multiply(step, dim)
            operands.append(any_shape_of(dims))
            strides.append(shape_of(own))
            stretched.append(tuple(is_stretched))
        return Layout(self.name, any_shape_of(joined), tuple(operands), tuple(strides), tuple(stretched))

    @property
    def naive(self) -> int | None:
        """The number of cases if nothing is known: for each axis, the possible sets of stretched operands."""
        count = 1
        for axis in range(len(self.output)):
            meeting = sum(axis in (axes or ()) for axes in self.axes)
            count *= max(1, 2**meeting - 1)
        return count


class OpenBroadcast(NamedTuple):
    """A broadcast of shapes, some of unknown rank; ``output`` is given for an operator."""

    name: str
    rule: Rule
    operands: tuple[Shape, ...]
    output: Shape | None
    ranks: Ranks

    @property
    def is_operator(self) -> bool:
        """Whether it is an operator such as a matmul, for which only the output is given."""
        return _is_operator(self.rule, self.output)

    def columns(self) -> Iterator[Column]:
        """Yield the columns to choose from."""
        for column in broadcast_of(self.name, self.rule, self.operands, self.output).columns():
            yield from self.ranks.unrolled(column)

    def layout(self, resolve: Callable[[Dim], Dim]) -> Layout:
        """Return how operands are read where sizes and ranks resolve to others."""
        ranks = self.ranks.at(resolve)
        operands = tuple(self.ranks.shape(s, ranks) for s in self.operands)
        output = None if self.output is None else self.ranks.shape(self.output, ranks)
        return broadcast_of(self.name, self.rule, operands, output).layout(resolve)

    @property
    def naive(self) -> None:
        """None: the axes cannot be counted, so neither can the cases."""
        return


def broadcast_of(name: str, rule: Rule, operands: tuple[Shape, ...], output: Shape | None = None) -> Broadcast:
    """Return a broadcast by a rule; ``output`` is given for an operator, where only the output is shown.

    The rule aligns operands of unknown rank; an axis that represents several then comes first.
    """
    if output is not None and _is_operator(rule, output):
        return Broadcast(name, operands, output.dims, (None,) * len(operands))
    dims: Sequence[Sequence[Dim]] = [s.values for s in operands]
    if any(map(is_open, operands)):
        emitted, dims = rule.emit_open(dims).output, rule.expand(dims)
        operands = tuple(map(any_shape_of, dims))
    else:
        emitted = rule.emit(dims).output
    places = rule.places(list(map(len, dims)))
    fits = places.rank == len(emitted)
    axes = tuple(of if fits and rule.operand_name(n) != _TARGET else None for n, of in enumerate(places.of))
    return Broadcast(name, operands, emitted, axes)


def _is_operator(rule: Rule, output: Shape | None) -> bool:
    return rule.family == "operators" and output is not None


def _but_sequences(resolve: Callable[[Dim], Dim]) -> Callable[[Dim], Dim]:
    """Return the resolved sizes; the axes of a sequence are not a size, and stay unchanged."""
    return lambda dim: dim if is_sequence(dim) else resolve(dim)


def joins_in(dims: Sequence[Dim]) -> Iterator[Column]:
    """Yield a column for each join within sizes, the inner ones first."""
    for dim in dims:
        if not isinstance(dim, int) and not dim.is_Symbol:
            yield from _joins_in(term(dim))


def _joins_in(value: Term) -> Iterator[Column]:
    for operation in value.operations():
        for arg in operation.args:
            yield from _joins_in(arg)
        if isinstance(operation, Operation) and operation.kind == "join":
            yield Column(tuple(arg.dim() for arg in operation.args))
