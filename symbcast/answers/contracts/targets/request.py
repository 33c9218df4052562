"""What a writer gets: the boxes of a contract as ranges on the axes of inputs, and the errors it raises."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

from symbcast.answers.contracts.inputs import Tensor
from symbcast.answers.contracts.wanted import range_text
from symbcast.core.algebra.terms import Operation, term
from symbcast.core.shapes import shape as read_shape
from symbcast.errors import TargetError, UndecidedError

if TYPE_CHECKING:
    from symbcast.answers.contracts.question import Question
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim

Box = Mapping[str, range]


class Axis(NamedTuple):
    """An axis of an input in a box.

    Attributes:
        sizes: Its sizes.
        best: The one to optimise for.
        text: The dimension as text.
        name: The name of its size; empty if it is a number or an expression.
    """

    sizes: range
    best: int
    text: str
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
        derived: The sizes that are linear expressions of the others.
        question: The condition, its names and its inputs.
        tensors: The inputs by name: those of the question, and those that the caller gives.
        typical: The typical sizes by name.
        data: Returns the contract as data for JSON.
        other: Returns the text of the same question in another form, for the nearest thing that a target expresses.
    """

    target: str
    form: str
    boxes: tuple[Box, ...]
    derived: Mapping[Symbol, Dim]
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

    def intervals(self, box: Box, *, may_be_equal: bool = False) -> Axes:
        """Return the axes of all inputs for a target that accepts every size of a range, on each axis by itself.

        Raises `TargetError` if a size advances in steps or is derived, or if an expression such as ``2*N`` has gaps.
        If sizes ``may_be_equal``, the target holds axes of one name to one size: it may be derived as another one.
        """
        self.require_free(may_be_equal=may_be_equal)
        for name, sizes in box.items():
            if sizes.step > 1:
                raise self.refused(f"it takes every size of a range, and {name} is {range_text(sizes)}", _BOXES, "box")
        axes = self.axes(box)
        for name, shape in axes.items():
            for axis in shape:
                if axis.sizes.step > 1:
                    problem = f"it takes every size of a range, and {axis.text} of {name} is {range_text(axis.sizes)}"
                    raise self.refused(problem, "fix its sizes with form='list'", "list")
        return axes

    def require_free(self, *, may_be_equal: bool = False) -> None:
        """Raise `TargetError` if a size is derived from others."""
        for s, expression in self.derived.items():
            if may_be_equal and not isinstance(expression, int) and expression.is_Symbol:
                continue
            relation = f"{self.question.names[s]} is {self.question.namer.dim(expression)}"
            raise self.refused(f"it bounds each size by itself, and {relation}", "take form='box'", "box")

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
            axis = self.axis(dim, box)
            if axis.sizes[0] < 0:
                raise TargetError(
                    self.target, f"{axis.text} of {name} is {axis.sizes[0]} at some sizes", "want sizes where it is not"
                )
            yield axis

    def axis(self, dim: Dim, box: Box) -> Axis:
        """Return the range of a dimension in a box."""
        if isinstance(dim, int):
            return Axis(range(dim, dim + 1), dim, str(dim))
        if dim.is_Symbol:
            name = self.name_of(dim)
            root = next((e for s, e in self.derived.items() if s == dim), dim)
            text = name if isinstance(root, int) or not root.is_Symbol else self.name_of(root)
            return Axis(box[name], self.best(name, box), text, name)
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
        return Axis(range(low, high + 1, step or 1), best, self.question.namer.dim(dim))

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
        known = found.get(name, Tensor(None))
        found[name] = known._replace(shape=read_shape(shape))
    return found
