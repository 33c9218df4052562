"""Simple operators declared as data: the shapes of inputs and outputs in one line, and the element type.

A signature lists the inputs and then, after an arrow, the outputs:

    X                any shape; equal names mean equal shapes; "*" is a shape that need not be known
    (N, C, ...)      named sizes; equal names mean equal sizes; "..." is any number of axes
    (N, 2*C, @heads) sums of products of names, numbers and attributes, and "rest", the product of the axes under "...";
                     one name in a product may be new: it is the size divided by the other factors
    (N|1)            either size
    (1<=N)           a size that is at least 1
    number           one number, a scalar or a vector of length 1
    input?           an optional input
    -> X             the shape, or the named sizes, of the inputs
    -> X, (M)        several outputs; a name that no input has is a new size
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.algebra.formulas import any_of, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.core.text.notation import dim_text
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import expect, expect_numbers, known_shape
from symbcast.graphs.walking.unknown_ranks import Reaches, reaches_nothing
from symbcast.onnx.operators.declarations import Intervals, operator
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import Content
from symbcast.operators.values.value import Value

DType: TypeAlias = "int | str"
"""An element type: a number of ``TensorProto.DataType``, the name of an attribute, or an input as #n."""
ContentFunction: TypeAlias = "Callable[[NodeCall, int], Content | None]"
"""Returns the known elements of the output of a call, given its element type."""


class DeclaredOperator(NamedTuple):
    """Operators that share a signature.

    Attributes:
        operators: their names.
        signature: the shapes of the inputs and outputs.
        dtype: the element type of the outputs.
        content: computes the known elements of the only output.
        domain: the domain of their names.
        note: a note about unchecked conditions, if any.
    """

    operators: str
    signature: str
    dtype: DType
    content: ContentFunction | None
    domain: str
    note: str


DECLARED: list[DeclaredOperator] = []
_ANY_SHAPE = ("X -> X", "* -> *")


def declare(  # noqa: PLR0913 - all that is known about an operator
    operators: str,
    signature: str,
    dtype: DType = "#0",
    *,
    content: ContentFunction | None = None,
    domain: str = "",
    note: str = "",
    reaches: Reaches | None = None,
    interval: Intervals | None = None,
) -> None:
    """Declare operators of one signature; see `DeclaredOperator`, and `OnnxOperators.offer` for reach and interval."""
    declared = DeclaredOperator(operators, signature, dtype, content, domain, note)
    DECLARED.append(declared)
    if reaches is None and signature in _ANY_SHAPE and not domain:
        reaches = reaches_nothing
    follow = _unchanged if (signature, dtype) == ("X -> X", "#0") else _follow
    function = partial(follow, declared, read_signature(signature))
    operator(*operators.split(), domain=domain, reaches=reaches, interval=interval)(function)


class ShapePattern(NamedTuple):
    """One input or output of a signature: a shape by name, or sizes with any number of axes at ``rest``."""

    name: str
    sizes: tuple[str, ...]
    rest: int | None
    is_optional: bool


class DeclaredSignature(NamedTuple):
    """The declared inputs and outputs of an operator."""

    inputs: tuple[ShapePattern, ...]
    outputs: tuple[ShapePattern, ...]


def read_signature(text: str) -> DeclaredSignature:
    """Parse a signature.

    >>> read_signature("(N, C, ...), (C)? -> X").inputs[1]
    ShapePattern(name='', sizes=('C',), rest=None, is_optional=True)
    """
    before, _, after = text.partition("->")
    inputs, outputs = (tuple(map(_pattern, re.findall(r"\([^)]*\)\??|[^,\s]+", part))) for part in (before, after))
    return DeclaredSignature(inputs, outputs)


def _pattern(text: str) -> ShapePattern:
    is_optional, text = text.endswith("?"), text.rstrip("?")
    if not text.startswith("("):
        return ShapePattern(text, (), None, is_optional)
    sizes = [s.strip() for s in text[1:-1].split(",") if s.strip()]
    rest = sizes.index("...") if "..." in sizes else None
    return ShapePattern("", tuple(s for s in sizes if s != "..."), rest, is_optional)


class _Sizes:
    """The sizes that a call has by the names of a signature."""

    def __init__(self, call: NodeCall) -> None:
        self.call = call
        self.named: dict[str, Dim] = {}
        self.shapes: dict[str, Dims | None] = {}
        self.rest: Dims | None = None

    def meet(self, position: int, pattern: ShapePattern) -> None:
        """Bind an input's sizes to names; require sizes with a known name to be equal."""
        call = self.call
        if pattern.name == "number":
            expect_numbers(call, position)
        elif pattern.name == "*":
            self.shapes["*"] = call.value(position).shape
        elif pattern.name:
            known = self.shapes.get(pattern.name)
            if known is None:
                self.shapes[pattern.name] = call.shape(position)
            else:
                expect(call, position, call.input_name(position), known)
        else:
            dims = known_shape(call, position, call.input_name(position)) if position else call.shape(position)
            if dims is not None:
                self._name(position, pattern, dims)

    def _name(self, position: int, pattern: ShapePattern, dims: Dims) -> None:
        call, count = self.call, len(pattern.sizes)
        name = call.input_name(position)
        free = len(dims) - count
        if free < 0 or (free and pattern.rest is None):
            more = " or more" if pattern.rest is not None else ""
            call.refuse(f"{name} must have {count} axes{more}, but has {len(dims)}")
        if pattern.rest is not None:
            self._meet_rest(name, dims[pattern.rest : pattern.rest + free])
            dims = dims[: pattern.rest] + dims[pattern.rest + free :]
        for axis, (text, size) in enumerate(zip(pattern.sizes, dims, strict=True)):
            at = axis + free if pattern.rest is not None and axis >= pattern.rest else axis
            self._meet_size(f"axis {at} of {name}", text, size)

    def _meet_rest(self, name: str, rest: Dims) -> None:
        if self.rest is None:
            self.rest = rest
        elif len(rest) != len(self.rest):
            self.call.refuse(f"{name} must have as many axes as the operands before it")
        else:
            for size, known in zip(rest, self.rest, strict=True):
                self.call.equal(size, known, f"the axes of {name} must be those of the operands before it")

    def _meet_size(self, what: str, text: str, size: Dim) -> None:
        """Require that a size match its text; a new name gets its value."""
        least, _, text = text.rpartition("<=")
        if least:
            self.call.at_most(int(least), size, f"{what} must be at least {least}")
        call, either = self.call, text.split("|")
        if len(either) > 1:
            known = [one for part in either if (one := self._sum(part)) is not None]
            call.require(any_of(equal(size, k) for k in known), f"{what} must be {' or '.join(map(dim_text, known))}")
            return
        # `2*C` with a new C defines C as half the size, and requires an even one.
        factors = text.split("*")
        unknown = [f for f in factors if f.isidentifier() and f != "rest" and f not in self.named]
        if "+" in text or not unknown:
            value = self._sum(text)
            if value is not None:
                is_plain = text == dim_text(value)
                call.equal(
                    size, value, f"{what} must be {text}" + ("" if is_plain else f", which is {dim_text(value)}")
                )
        elif len(unknown) == 1:
            by = multiply(*(self._factor(f) or 0 for f in factors if f not in unknown))
            if by != 1:
                call.require(equal(modulo(size, by), 0), f"{what} must be a multiple of {dim_text(by)}")
            self.named[unknown[0]] = size if by == 1 else floor_divide(size, by)

    def _sum(self, text: str) -> Dim | None:
        """Return a sum of products; None where a name in it has no value."""
        total: Dim = 0
        for product in text.split("+"):
            factors = [self._factor(f) for f in product.split("*")]
            known = [f for f in factors if f is not None]
            if len(known) < len(factors):
                return None
            total = add(total, multiply(*known))
        return total

    def _factor(self, text: str) -> Dim | None:
        if text.isdecimal():
            return int(text)
        if text == "rest":
            return multiply(*self.rest or ())
        if not text.startswith("@"):
            return self.named.get(text)
        # An attribute that is left out reads as 0, so this refuses it too.
        number = self.call.integer(text[1:])
        if number < 1:
            self.call.refuse(f"the attribute {text[1:]} must be positive")
        return number

    def output(self, pattern: ShapePattern) -> Dims | None:
        """Return an output."""
        if pattern.name:
            return self.shapes[pattern.name]
        dims = [self._output_size(text) for text in pattern.sizes]
        if pattern.rest is not None:
            dims[pattern.rest : pattern.rest] = self.rest or ()
        return tuple(dims)

    def _output_size(self, text: str) -> Dim:
        size = self._sum(text)
        if size is None:
            size = self.named[text] = self.call.fresh(text, f"{text}, which no input tells")
        return size


def _unchanged(declared: DeclaredOperator, signature: DeclaredSignature, call: NodeCall) -> Value | Sequence[Value]:
    """Return an output with the shape and type of the only input: usually the input itself."""
    value = call.value(0)
    # Such operators keep the shape and may change the elements: known elements must not pass through.
    if value.shape is not None and type(value) is Value and value.content is None:
        return value
    return _follow(declared, signature, call)


def _follow(declared: DeclaredOperator, signature: DeclaredSignature, call: NodeCall) -> Value | Sequence[Value]:
    """Return the outputs of a call by its operator's signature."""
    sizes = _Sizes(call)
    for position, pattern in enumerate(signature.inputs):
        if not pattern.is_optional or call.has(position):
            sizes.meet(position, pattern)
    if declared.note:
        call.note(declared.note)
    shapes = [sizes.output(p) for p in signature.outputs]
    dtype = _dtype(call, declared.dtype)
    if len(shapes) > 1:
        return [Value(shape, dtype) for shape in shapes]
    return Value(shapes[0], dtype, None if declared.content is None else declared.content(call, dtype))


def _dtype(call: NodeCall, dtype: DType) -> int:
    if isinstance(dtype, int):
        return dtype
    if dtype.startswith("#"):
        return call.dtype(int(dtype[1:]))
    return call.integer(dtype, call.dtype() if dtype == "dtype" else 0)
