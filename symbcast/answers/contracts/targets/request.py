"""What a writer gets: the boxes of a contract as ranges on the axes of inputs, and the errors it raises."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.answers.contracts.inputs import Tensor
from symbcast.core.algebra.terms import Operation, term
from symbcast.core.shapes import shape as read_shape
from symbcast.errors import TargetError, UndecidedError

if TYPE_CHECKING:
    from symbcast.answers.contracts.question import Question
    from symbcast.core.algebra.terms import Dim

Box = Mapping[str, range]


class Axis(NamedTuple):
    """An axis of an input in a box: its sizes, the one to optimise for, and the name of its size, if it is one."""

    sizes: range
    best: int
    name: str = ""

    @property
    def is_fixed(self) -> bool:
        """Whether there is only one size."""
        return len(self.sizes) == 1


Axes = dict[str, tuple[Axis, ...]]
"""The axes of each input by name."""


@dataclass(frozen=True)
class Request:
    """A contract to write for a target; it is proved and has boxes.

    Attributes:
        target: The name of the target.
        form: The form of the contract.
        boxes: Its boxes, by the names of sizes.
        question: The condition, its names and its inputs.
        tensors: The inputs by name: those of the question, and those that the caller gives.
        typical: The typical sizes by name.
        data: Returns the contract as data for JSON.
        other: Returns the text of the same question in another form, for the nearest thing that a target expresses.
    """

    target: str
    form: str
    boxes: tuple[Box, ...]
    question: Question
    tensors: Mapping[str, Tensor]
    typical: Mapping[str, tuple[int, ...]]
    data: Callable[[], Mapping[str, Any]] = field(repr=False)
    other: Callable[[str, int, Collection[str]], str] = field(repr=False)

    def box(self, hint: str) -> Box:
        """Return the only box; raise `TargetError` if there are several."""
        if len(self.boxes) > 1:
            raise self.refused(f"it takes one range for each size, and the contract has {len(self.boxes)}", hint, "box")
        return self.boxes[0]

    def plain(self, box: Box) -> Box:
        """Return a box without steps; raise `TargetError` if a size advances in steps."""
        for name, sizes in box.items():
            if sizes.step > 1:
                from symbcast.answers.contracts.wanted import range_text

                raise self.refused(f"it takes every size of a range, and {name} is {range_text(sizes)}", _BOXES, "box")
        return box

    def refused(
        self, problem: str, hint: str, form: str = "", most: int = 1, fixed: Collection[str] = ()
    ) -> TargetError:
        """Return the error that a target cannot express the contract, with the nearest thing that it can.

        That is the contract in another form, with at most ``most`` boxes, or with some sizes fixed.
        """
        nearest = ""
        if form and (form != self.form or fixed):
            with suppress(TargetError, UndecidedError):
                nearest = self.other(form, most, fixed)
        return TargetError(self.target, problem, hint, nearest)

    def axes(self, box: Box) -> Axes:
        """Return the axes of all inputs in a box."""
        if not self.tensors:
            raise TargetError(self.target, "it needs the shapes of inputs", 'give them: inputs={"x": "N, 3, H, W"}')
        return {name: tuple(self._axes(name, tensor, box)) for name, tensor in self.tensors.items()}

    def _axes(self, name: str, tensor: Tensor, box: Box) -> Iterator[Axis]:
        if tensor.shape is None or tensor.shape.rank is None:
            raise TargetError(self.target, f"the rank of {name} is unknown", "give its shape with inputs=")
        for dim in tensor.shape.dims:
            yield self.axis(dim, box)

    def axis(self, dim: Dim, box: Box) -> Axis:
        """Return the range of a dimension in a box."""
        if isinstance(dim, int):
            return Axis(range(dim, dim + 1), dim)
        if dim.is_Symbol:
            name = self.name_of(dim)
            return Axis(box[name], self.best(name, box), name)
        return self._of_term(dim, box)

    def _of_term(self, dim: Any, box: Box) -> Axis:
        """Return the range of a linear expression of sizes, which grows or falls with each of them."""
        low, high, best, step = 0, 0, 0, 0
        for monomial, factor in term(dim).coefficients.items():
            if len(monomial) > 1 or any(isinstance(atom, Operation) for atom in monomial):
                raise TargetError(
                    self.target, f"the range of {dim} cannot be read off its sizes", "name it: it is a size"
                )
            sizes = box[self.name_of(monomial[0])] if monomial else range(1, 2)
            ends = sorted((factor * sizes[0], factor * sizes[-1]))
            low, high = low + ends[0], high + ends[1]
            best += factor * (self.best(self.name_of(monomial[0]), box) if monomial else 1)
            step = gcd(step, factor * sizes.step) if len(sizes) > 1 else step
        return Axis(range(low, high + 1, step or 1), best)

    def name_of(self, symbol: Any) -> str:
        """Return the name of a size of an input in the contract."""
        name: str = self.question.names.get(symbol, symbol.name)
        if name not in self.boxes[0]:
            raise TargetError(self.target, f"the contract has no size {name}", "its sizes are those of the condition")
        return name

    def best(self, name: str, box: Box) -> int:
        """Return the size to optimise for: the greatest typical one, else the greatest."""
        return max((n for n in self.typical.get(name, ()) if n in box[name]), default=box[name][-1])


_BOXES = "pad to fewer sizes, or take form='box' or form='list'"


def tensors_of(question: Question, inputs: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the inputs of a question, with the shapes that a caller gives for some of them."""
    found = dict(question.inputs)
    for name, shape in inputs.items():
        found[name] = Tensor(read_shape(shape), found[name].element_type if name in found else "")
    return found
