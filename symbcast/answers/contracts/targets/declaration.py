"""How a target is declared, and what its writer gets: boxes as ranges on axes or as lines; and the rules that it keeps.

A writer makes a draft, holds it against the rules of its target, and returns it as text, which keeps them all.
The tests hold the texts against the readers themselves, or against the same rules written a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import gcd
from typing import Any, Generic, TypeVar

from symbcast.answers.contracts.question import ContractQuestion, Tensor, range_text
from symbcast.answers.guards.clauses import ascii_identifier
from symbcast.core.algebra.terms import Dim, Operation, Symbol, symbols_of, term
from symbcast.core.shapes import shape as read_shape
from symbcast.core.structs import NamedTuple
from symbcast.errors import TargetError, UndecidedError

# What a writer gets: the boxes of a contract as ranges on the axes of inputs, and the errors it raises.


Box = Mapping[str, range]


class BoundedAxis(NamedTuple):
    """An axis of an input in a box.

    Attributes:
        sizes: Its sizes.
        best: The one to optimise for.
        text: The dimension as text.
        name: The name of its size; empty if it is a number or an expression.
        has_gaps: Whether an expression leaves out sizes of the range, as ``2*a + 3*b`` does 6 for a and b in 1..2.
    """

    sizes: range
    best: int
    text: str
    name: str = ""
    has_gaps: bool = False

    @property
    def is_fixed(self) -> bool:
        """Whether there is only one size."""
        return len(self.sizes) == 1


# The axes of each input by name.
BoundedAxes = dict[str, tuple[BoundedAxis, ...]]


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
    question: ContractQuestion
    tensors: Mapping[str, Tensor]
    typical: Mapping[str, tuple[int, ...]]
    data: Callable[[], Mapping[str, Any]] = field(repr=False)
    other: Callable[[str, int, Collection[str]], str] = field(repr=False)

    def box(self, hint: str) -> Box:
        """Return the only box; raise `TargetError` if there are several."""
        if len(self.boxes) > 1:
            raise self.refused(f"it takes one range for each size, and the contract has {len(self.boxes)}", hint, "box")
        return self.boxes[0]

    def intervals(self, box: Box, *, may_be_equal: bool = False) -> BoundedAxes:
        """Return the axes of all inputs for a target that accepts every size of a range, on each axis by itself.

        Raises `TargetError` if a size advances in steps or is derived, or if an expression such as ``2*N`` has gaps or
        varies with another axis.
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
                if axis.has_gaps:
                    problem = f"it takes every size of a range, and {axis.text} of {name} leaves some out"
                    raise self.refused(problem, "fix its sizes with form='list'", "list")
        self._require_independent(box)
        return axes

    def _require_independent(self, box: Box) -> None:
        """Raise `TargetError` if an expression varies with another axis: N + 1 and N are not any two sizes."""
        seen: dict[str, tuple[Dim, str]] = {}
        for name, tensor in self.tensors.items():
            for dim in () if tensor.shape is None else tensor.shape.dims:
                for size in () if isinstance(dim, int) else map(self.name_of, symbols_of((dim,))):
                    other, of = seen.setdefault(size, (dim, name))
                    if len(box[size]) > 1 and dim != other:
                        text, its = (self.question.namer.dim(d) for d in (dim, other))
                        problem = f"it bounds each axis by itself, and {text} of {name} varies with {its} of {of}"
                        raise self.refused(problem, "fix its sizes with form='list'", "list")

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

    def axes(self, box: Box) -> BoundedAxes:
        """Return the axes of all inputs in a box."""
        if not self.tensors:
            raise TargetError(self.target, "it needs the shapes of inputs", 'give them: inputs={"x": "N, 3, H, W"}')
        return {name: tuple(self._axes(name, tensor, box)) for name, tensor in self.tensors.items()}

    def _axes(self, name: str, tensor: Tensor, box: Box) -> Iterator[BoundedAxis]:
        if tensor.shape is None or tensor.shape.rank is None:
            raise TargetError(self.target, f"the rank of {name} is unknown", "give its shape with inputs=")
        for dim in tensor.shape.dims:
            axis = self.axis(dim, box)
            if axis.sizes[0] < 0:
                raise TargetError(
                    self.target, f"{axis.text} of {name} is {axis.sizes[0]} at some sizes", "want sizes where it is not"
                )
            yield axis

    def axis(self, dim: Dim, box: Box) -> BoundedAxis:
        """Return the range of a dimension in a box."""
        if isinstance(dim, int):
            return BoundedAxis(range(dim, dim + 1), dim, str(dim))
        if dim.is_Symbol:
            name = self.name_of(dim)
            root = next((e for s, e in self.derived.items() if s == dim), dim)
            text = name if isinstance(root, int) or not root.is_Symbol else self.name_of(root)
            return BoundedAxis(box[name], self.best(name, box), text, name)
        return self._of_term(dim, box)

    def _of_term(self, dim: Any, box: Box) -> BoundedAxis:
        """Return the range of a linear expression of sizes, which grows or falls with each of them."""
        low, high, best, steps = 0, 0, 0, list[tuple[int, int]]()
        for monomial, factor in term(dim).coefficients.items():
            if len(monomial) > 1 or any(isinstance(atom, Operation) for atom in monomial):
                raise TargetError(
                    self.target, f"the range of {dim} cannot be read off its sizes", "name it: it is a size"
                )
            sizes = box[self.name_of(monomial[0])] if monomial else range(1, 2)
            ends = sorted((factor * sizes[0], factor * sizes[-1]))
            low, high = low + ends[0], high + ends[1]
            best += factor * (self.best(self.name_of(monomial[0]), box) if monomial else 1)
            if len(sizes) > 1:
                steps.append((abs(factor) * sizes.step, len(sizes) - 1))
        step = gcd(*(size for size, _ in steps)) or 1
        text = self.question.namer.dim(dim)
        return BoundedAxis(range(low, high + 1, step), best, text, has_gaps=_leaves_gaps(steps, step))

    def name_of(self, symbol: Any) -> str:
        """Return the name of a size of an input in the contract."""
        name: str = self.question.names.get(symbol, symbol.name)
        if name not in self.boxes[0]:
            raise TargetError(self.target, f"the contract has no size {name}", "its sizes are those of the condition")
        return name

    def best(self, name: str, box: Box) -> int:
        """Return the size to optimise for: the greatest typical one, else the greatest."""
        return max((n for n in self.typical.get(name, ()) if n in box[name]), default=box[name][-1])


def _leaves_gaps(steps: Sequence[tuple[int, int]], step: int) -> bool:
    """Return whether sums of up to so many steps of some sizes leave out multiples of their divisor ``step``."""
    reached = 0
    # From the smallest step on: what is reached is everything up to `reached`, and no later step is smaller, so the
    # next multiple is left out exactly if this step is larger than it.
    for size, count in sorted(steps):
        if size > reached + step:
            return True
        reached += size * count
    return False


_BOXES = "use form='profiles' or form='list', or pad inside the model: symbcast.onnx.free(..., pad='zero')"


def tensors_of(question: ContractQuestion, inputs: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return the inputs of a question, with the shapes that a caller gives for some of them."""
    tensors = dict(question.inputs)
    for name, shape in inputs.items():
        tensors[name] = tensors.get(name, Tensor(None))._replace(shape=read_shape(shape))
    return tensors


AnyDraft = TypeVar("AnyDraft")


@dataclass(frozen=True)
class TargetRule(Generic[AnyDraft]):
    """One requirement of a target.

    Attributes:
        text: The requirement, as the first part of a sentence: ``"a tensor has at least one dimension"``.
        source: The document or the source file that has it.
        broken: Returns what of a draft breaks it, as the rest of the sentence; empty if nothing does.
        hint: What to do then.
    """

    text: str
    source: str
    broken: Callable[[AnyDraft], str]
    hint: str


def kinds_of(request: Request, names: Iterable[str]) -> dict[str, str]:
    """Return the element types of inputs, empty if unknown."""
    return {name: request.tensors[name].element_type for name in names}


def typed(of: str, known: Collection[str], source: str, hint: str) -> TargetRule[Any]:
    """Return the rule that the element types of inputs are among those that a target has.

    ``of`` is what has the type: ``"an input"``. A draft has the types as ``kinds``, by the names of the inputs.
    """

    def broken(draft: Any) -> str:
        unknown = ((name, kind) for name, kind in draft.kinds.items() if kind and kind not in known)
        return first_refused(f"{name} has {kind}" for name, kind in unknown)

    return TargetRule(f"the element type of {of} is one of {', '.join(known)}", source, broken, hint)


class Target(NamedTuple):
    """A target: its writer, the forms that it can express, what it writes, and the rules that each text keeps.

    ``place`` is where lists have it; ``also`` are other names that people try.
    """

    write: Callable[[Request], str]
    forms: str
    text: str
    rules: Sequence[TargetRule[Any]] = ()
    place: int = 99
    also: tuple[str, ...] = ()


# The targets whose modules are loaded.
DECLARED: dict[str, Target] = {}


def target(name: str, *declared: Any, **more: Any) -> Callable[[Callable[[Request], str]], Callable[[Request], str]]:
    """Declare the function below as the writer of a target; the other arguments are the fields of `Target`."""

    def declare(write: Callable[[Request], str]) -> Callable[[Request], str]:
        DECLARED[name] = Target(write, *declared, **more)
        return write

    return declare


def verify_draft(request: Request, rules: Sequence[TargetRule[AnyDraft]], draft: AnyDraft) -> None:
    """Raise `TargetError` with the first rule that a draft breaks."""
    for rule in rules:
        problem = rule.broken(draft)
        if problem:
            raise TargetError(request.target, f"{rule.text}, and {problem}", rule.hint)


def first_refused(problems: Iterable[str]) -> str:
    """Return the first of some texts that is not empty; empty if there is none."""
    return next(filter(None, problems), "")


# Sizes that advance in steps as lines: ``step * k + offset``, with k in a range.


class SteppedSize(NamedTuple):
    """A size as a linear expression of free ones, which have bounds.

    Attributes:
        factors: The factor of each free size.
        offset: The number that is added.
        free: The free size of its own, with the bounds ``low`` and ``high``; empty if the size is fixed or derived.
    """

    factors: dict[str, int]
    offset: int
    free: str = ""
    low: int = 0
    high: int = 0

    @property
    def expression(self) -> str:
        """The expression as text without parentheses, which JAX does not read.

        >>> SteppedSize({"_H": 32, "N": 1}, -3).expression
        '32*_H + N - 3'
        """
        parts = [name if factor == 1 else f"{factor}*{name}" for name, factor in self.factors.items() if factor]
        parts += [str(self.offset)] if self.offset or not parts else []
        return " + ".join(parts).replace("+ -", "- ")


def lines_of(request: Request, box: Box, reserved: Collection[str]) -> dict[str, SteppedSize]:
    """Return each size of a box as a line; derived sizes as expressions of the others.

    No name of a free size is a reserved word. Raises `TargetError` if a size is not linear.
    """
    derived = {request.question.names[s]: expression for s, expression in request.derived.items()}
    lines = free_lines({name: sizes for name, sizes in box.items() if name not in derived}, reserved)
    lines.update({name: line_of(request, expression, lines) for name, expression in derived.items()})
    return {name: lines[name] for name in box}


def free_lines(box: Box, reserved: Collection[str] = ()) -> dict[str, SteppedSize]:
    """Return each size of a box as a line; all names are identifiers, none is reserved, and no two are equal.

    >>> line = free_lines({"H": range(64, 1281, 32), "N": range(1, 17), "C": range(3, 4)})["H"]
    >>> line.expression, line.low, line.high
    ('32*_H', 2, 40)
    """
    return {name: _line(spelled, box[name]) for name, spelled in distinct(box, reserved).items()}


def distinct(names: Iterable[str], reserved: Collection[str] = ()) -> dict[str, str]:
    """Return an identifier for each name; none is reserved, and none equals another, also not with ``_`` in front.

    >>> distinct(["a.b", "a_b", "lambda"], {"lambda"})
    {'a.b': 'a_b', 'a_b': 'a_b_', 'lambda': 'lambda_'}
    """
    spellings: dict[str, str] = {}
    taken = {*reserved}
    for name in names:
        spelled = ascii_identifier(name)
        while spelled in taken or f"_{spelled}" in taken:
            spelled += "_"
        taken |= {spelled, f"_{spelled}"}
        spellings[name] = spelled
    return spellings


def _line(name: str, sizes: range) -> SteppedSize:
    if len(sizes) == 1:
        return SteppedSize({}, sizes[0])
    if sizes.step == 1:
        return SteppedSize({name: 1}, 0, name, sizes[0], sizes[-1])
    step, free = sizes.step, f"_{name}"
    low = max(1, sizes[0] // step)  # a free size of 0 is refused by JAX, and a special case for torch
    return SteppedSize({free: step}, sizes[0] - low * step, free, low, low + len(sizes) - 1)


def line_of(request: Request, dim: Dim, lines: Mapping[str, SteppedSize]) -> SteppedSize:
    """Return a dimension of an input as an expression of the free sizes; raise `TargetError` if it is not linear."""
    factors: dict[str, int] = {}
    offset = 0
    for monomial, factor in term(dim).coefficients.items():
        if len(monomial) > 1 or any(isinstance(atom, Operation) for atom in monomial):
            raise TargetError(request.target, f"it has no way to write the size {dim}", "name it: it is a size")
        line = lines[request.name_of(monomial[0])] if monomial else SteppedSize({}, 1)
        offset += factor * line.offset
        for name, own in line.factors.items():
            factors[name] = factors.get(name, 0) + factor * own
    return SteppedSize(factors, offset)
