"""Edits of an operand: move axes, insert or remove sizes of 1, slice an axis; with the code for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, zip_longest
from typing import TYPE_CHECKING, Literal, TypeAlias

from symbcast.core.algebra.sequences import is_sequence
from symbcast.core.algebra.terms import stored
from symbcast.core.structs import Struct
from symbcast.core.text.printing import dim_text

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Framework: TypeAlias = Literal["numpy", "torch", "onnx"]
MOST_AXES = 6
"""Operands with more axes are not edited: there are too many possibilities."""
_PERMUTED = 5
"""The order of more sizes than these is kept."""


class View(Struct):
    """A rearrangement of an operand: ``axes[i]`` is the axis that becomes axis ``i``, None for a new one of size 1.

    Removed axes have size 1. A sequence of axes stays in front; the others are then counted from the end.
    """

    dims: tuple[Dim, ...]
    axes: tuple[int | None, ...]

    @stored
    def made(self) -> tuple[Dim, ...]:
        """The sizes after the edit."""
        return tuple([1 if axis is None else self.dims[axis] for axis in self.axes])

    @stored
    def kept(self) -> list[int]:
        """The remaining axes, in their new order."""
        return [axis for axis in self.axes if axis is not None]

    @stored
    def dropped(self) -> list[int]:
        """The axes that are left out."""
        kept = self.kept
        return [axis for axis in range(len(self.dims)) if axis not in kept]

    @stored
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

    @stored
    def inversions(self) -> int:
        """The number of axis pairs whose order changes."""
        return sum([a > b for a, b in combinations(self.kept, 2)])

    @stored
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
        found = name
        if self.dropped:
            axes = self.counted(self.dropped, len(self.dims))
            found = f"{found}.squeeze({axes[0] if len(axes) == 1 else tuple(axes)})"
        if self.inversions:
            found = _transposed(self, framework, found)
        return f"{found}[{', '.join(_index(self))}]" if self.new else found


def _order(view: View) -> list[int]:
    """Return each remaining axis's number among the remaining axes, in the new order."""
    return [sorted(view.kept).index(axis) for axis in view.kept]


def _transposed(view: View, framework: Framework, name: str) -> str:
    order = _order(view)
    if view.is_open:
        axes = tuple(view.counted(order[1:], len(order))), tuple(range(1 - len(order), 0))
        return f"np.moveaxis({name}, {axes[0]}, {axes[1]})" if framework == "numpy" else f"{name}.movedim{axes}"
    return f"{name}.{'transpose' if framework == 'numpy' else 'permute'}({', '.join(map(str, order))})"


def _index(view: View) -> Iterator[str]:
    """Yield an index with new axes. It omits whole axes at the end, or at the front after a sequence."""
    if view.is_open:
        yield "..."
    axes = view.axes[view.new[0] :] if view.is_open else view.axes[: view.new[-1] + 1]
    yield from ("None" if axis is None else ":" for axis in axes)


def _onnx(view: View, name: str) -> Iterator[str]:
    steps = [
        ("Squeeze", view.counted(view.dropped, len(view.dims))),
        ("Transpose", _order(view) if view.inversions else []),
        ("Unsqueeze", view.counted(view.new, len(view.axes))),
    ]
    operand = name
    for number, (operator, axes) in enumerate([step for step in steps if step[1]], 1):
        made = f"{name}_{number}"
        if operator == "Transpose":
            yield f"{made} = Transpose <perm = {axes}> ({operand})"
        else:
            yield f"{made}_axes = Constant <value_ints = {axes}> ()"
            yield f"{made} = {operator} ({operand}, {made}_axes)"
        operand = made


class Slice(Struct):
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
    def made(self) -> tuple[Dim, ...]:
        """The sizes after the edit."""
        return (*self.dims[: self.axis], self.size, *self.dims[self.axis + 1 :])

    def code(self, framework: Framework, name: str) -> str:
        """Return code that computes the edited operand from a variable."""
        if framework == "onnx":
            ends = {} if not isinstance(self.size, int) else {"ends": self.size}
            given = {"starts": 0, "axes": self.place, **ends}
            lines = [f"{name}_1_{key} = Constant <value_ints = [{value}]> ()" for key, value in given.items()]
            return "\n".join([*lines, f"{name}_1 = Slice ({name}, {name}_1_starts, {name}_1_ends, {name}_1_axes)"])
        part = f":{self.size if isinstance(self.size, int) else dim_text(self.size)}"
        behind = len(self.dims) - self.axis - 1
        index = [*[":"] * self.axis, part] if 0 <= self.place <= behind else ["...", part, *[":"] * behind]
        return f"{name}[{', '.join(index)}]"


Edit: TypeAlias = View | Slice


class Meeting:
    """How often sizes of an operand other than 1 meet an equal size of another operand, aligned at the right."""

    def __init__(self, shapes: Sequence[Sequence[Dim]], position: int) -> None:
        others = [s[::-1] for n, s in enumerate(shapes) if n != position]
        self._met = [{*sizes} for sizes in zip_longest(*others, fillvalue=1)]
        """The sizes of the others, from the last axis on; 1 is not counted."""
        self._now = 0
        self.may_grow = False
        """Whether some size meets none of its like now, but occurs in another operand: only then can an order gain."""
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


def views(dims: Sequence[Dim], rank: int, meeting: Meeting) -> Iterator[tuple[int, View]]:
    """Yield the ways to place an operand's sizes other than 1 on the axes of a shape of some rank, with 1 elsewhere.

    Leading ones are left out. For an operand of unknown rank, ``rank`` counts the axes of its known end. Views are
    yielded with their gain, if that is above 0.
    """
    found = tuple(dims)
    if any(map(is_sequence, found)):
        ends = _views_of_end(found, rank) if is_sequence(found[0]) else ()
        yield from ((gained, view) for view in ends if (gained := meeting.gain_of(view.made)) > 0)
        return
    real = [axis for axis, dim in enumerate(found) if dim != 1]
    meets = [[meeting.meets(found[axis], back) for back in range(rank - 1, -1, -1)] for axis in real]
    met = {found}
    in_any_order = permutations if len(real) <= _PERMUTED else combinations
    for places in in_any_order(range(rank), len(real)):
        gained = meeting.gain(sum([there[place] for there, place in zip(meets, places, strict=True)]))
        if gained <= 0:
            continue
        start = min(places)
        axes: list[int | None] = [None] * (rank - start)
        for axis, place in zip(real, places, strict=True):
            axes[place - start] = axis
        made = tuple([1 if axis is None else found[axis] for axis in axes])
        if made not in met:
            met.add(made)
            yield gained, View(found, tuple(_with_ones(found, axes)))


def _views_of_end(dims: tuple[Dim, ...], rank: int) -> Iterator[View]:
    """Yield the ways to place the axes after a leading sequence."""
    known = dims[1:]
    real = [axis for axis, dim in enumerate(known) if dim != 1]
    met = {dims}
    in_any_order = permutations if len(real) <= _PERMUTED else combinations
    for count in range(len(real), rank + 1):
        for places in in_any_order(range(count), len(real)):
            axes: list[int | None] = [None] * count
            for axis, place in zip(real, places, strict=True):
                axes[place] = axis
            view = View(dims, (0, *(None if a is None else a + 1 for a in _with_ones(known, axes))))
            if view.made not in met:
                met.add(view.made)
                yield view


def _with_ones(dims: Sequence[Dim], axes: Sequence[int | None]) -> list[int | None]:
    """Return axes that reuse existing size-1 axes instead of new ones, if this moves no axis or all of them fit."""
    ones = [axis for axis, dim in enumerate(dims) if dim == 1]
    if len(ones) == sum([axis is None for axis in axes]):
        every = iter(ones)
        return [next(every) if axis is None else axis for axis in axes]
    found = list(axes)
    for place, axis in enumerate(axes):
        if axis is None:
            before = max((a for a in axes[:place] if a is not None), default=-1)
            after = min((a for a in axes[place:] if a is not None), default=len(dims))
            found[place] = next((n for n in ones if before < n < after), None)
            ones = [n for n in ones if n != found[place]]
    return found
