"""Edits of an operand: its axes moved, sizes of 1 put in or left out, an axis sliced; with the code that does it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Literal, TypeAlias

from symbcast.text.printing import dim_text

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim

Framework: TypeAlias = Literal["numpy", "torch", "onnx"]
MOST_AXES = 6
"""Operands of more axes are not edited: there are too many ways."""
_PERMUTED = 5
"""The order of more sizes than these is kept."""


@dataclass(frozen=True)
class View:
    """A rearrangement of an operand: ``axes[i]`` is the axis that becomes axis ``i``, None for a new one of size 1.

    Axes that are left out have the size 1.
    """

    dims: tuple[Dim, ...]
    axes: tuple[int | None, ...]

    @property
    def made(self) -> tuple[Dim, ...]:
        """The sizes after the edit."""
        return tuple(1 if axis is None else self.dims[axis] for axis in self.axes)

    @property
    def kept(self) -> list[int]:
        """The axes that stay, in their new order."""
        return [axis for axis in self.axes if axis is not None]

    @property
    def dropped(self) -> list[int]:
        """The axes that are left out."""
        return [axis for axis in range(len(self.dims)) if axis not in self.kept]

    @property
    def new(self) -> list[int]:
        """The places of the new axes."""
        return [place for place, axis in enumerate(self.axes) if axis is None]

    @property
    def inversions(self) -> int:
        """How many pairs of axes change their order."""
        return sum(a > b for a, b in combinations(self.kept, 2))

    @property
    def kind(self) -> str:
        """What it does."""
        if self.inversions:
            return "transpose"
        if self.new:
            return "reshape" if self.dropped else "unsqueeze"
        return "squeeze"

    def code(self, framework: Framework, name: str) -> str:
        """Return code that makes the edited operand of one of that name."""
        if framework == "onnx":
            return "\n".join(_onnx(self, name))
        order = [sorted(self.kept).index(axis) for axis in self.kept]
        found = name
        if self.dropped:
            axes = self.dropped[0] if len(self.dropped) == 1 else tuple(self.dropped)
            found = f"{found}.squeeze({axes})"
        if self.inversions:
            method = "transpose" if framework == "numpy" else "permute"
            found = f"{found}.{method}({', '.join(map(str, order))})"
        return (
            f"{found}[{', '.join('None' if a is None else ':' for a in _shortened(self.axes))}]" if self.new else found
        )


def _shortened(axes: Sequence[int | None]) -> Sequence[int | None]:
    """Return an index without the whole axes at its end."""
    last = max(place for place, axis in enumerate(axes) if axis is None)
    return axes[: last + 1]


def _onnx(view: View, name: str) -> Iterator[str]:
    order = [sorted(view.kept).index(axis) for axis in view.kept]
    steps = [("Squeeze", view.dropped), ("Transpose", order if view.inversions else []), ("Unsqueeze", view.new)]
    operand = name
    for number, (operator, axes) in enumerate([step for step in steps if step[1]], 1):
        made = f"{name}_{number}"
        if operator == "Transpose":
            yield f"{made} = Transpose <perm = {axes}> ({operand})"
        else:
            yield f"{made}_axes = Constant <value_ints = {axes}> ()"
            yield f"{made} = {operator} ({operand}, {made}_axes)"
        operand = made


@dataclass(frozen=True)
class Slice:
    """The first elements of an operand along an axis, ``size`` of them."""

    dims: tuple[Dim, ...]
    axis: int
    size: Dim

    kind = "slice"
    inversions = 0

    @property
    def made(self) -> tuple[Dim, ...]:
        """The sizes after the edit."""
        return (*self.dims[: self.axis], self.size, *self.dims[self.axis + 1 :])

    def code(self, framework: Framework, name: str) -> str:
        """Return code that makes the edited operand of one of that name."""
        if framework == "onnx":
            ends = {} if not isinstance(self.size, int) else {"ends": self.size}
            given = {"starts": 0, "axes": self.axis, **ends}
            lines = [f"{name}_1_{key} = Constant <value_ints = [{value}]> ()" for key, value in given.items()]
            return "\n".join([*lines, f"{name}_1 = Slice ({name}, {name}_1_starts, {name}_1_ends, {name}_1_axes)"])
        part = f":{self.size if isinstance(self.size, int) else dim_text(self.size)}"
        behind = len(self.dims) - self.axis - 1
        index = [*[":"] * self.axis, part] if self.axis <= behind else ["...", part, *[":"] * behind]
        return f"{name}[{', '.join(index)}]"


Edit: TypeAlias = View | Slice


def views(dims: Sequence[Dim], rank: int) -> Iterator[View]:
    """Yield the ways to lay the sizes of an operand other than 1 on axes of shapes of a rank, and 1 elsewhere.

    Ones in front of all others are left out.
    """
    found = tuple(dims)
    real = [axis for axis, dim in enumerate(found) if dim != 1]
    met = {found}
    in_any_order = permutations if len(real) <= _PERMUTED else combinations
    for places in in_any_order(range(rank), len(real)):
        start = min(places, default=rank)
        axes: list[int | None] = [None] * (rank - start)
        for axis, place in zip(real, places, strict=True):
            axes[place - start] = axis
        view = View(found, tuple(_with_ones(found, axes)))
        if view.made not in met:
            met.add(view.made)
            yield view


def _with_ones(dims: Sequence[Dim], axes: Sequence[int | None]) -> Iterator[int | None]:
    """Yield axes with those of size 1 that there are in the place of new ones: where that moves no axis, or all fit."""
    ones = [axis for axis, dim in enumerate(dims) if dim == 1]
    if len(ones) == sum(axis is None for axis in axes):
        found = iter(ones)
        yield from (next(found) if axis is None else axis for axis in axes)
        return
    for place, axis in enumerate(axes):
        before = max((a for a in axes[:place] if a is not None), default=-1)
        after = min((a for a in axes[place:] if a is not None), default=len(dims))
        fitting = [n for n in ones if before < n < after]
        if axis is not None or not fitting:
            yield axis
            continue
        ones.remove(fitting[0])
        yield fitting[0]
