"""Elementwise operators, on one tensor or several that are broadcast together, and all operators declared as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.algebra.formulas import any_of, different, equal
from symbcast.core.text.printing import dim_text
from symbcast.graphs.front_end import Operator
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.reshaping import expect, expect_numbers, known_shape, real_number, summed_along
from symbcast.onnx.operators.declarations import (
    CONTRIB_DECLARATIONS,
    DECLARATIONS,
    OperatorDeclaration,
    RuntimeDifference,
    operator,
)
from symbcast.onnx.operators.reductions import reduced, reduced_content
from symbcast.operators.context import Dims
from symbcast.operators.values.contents import BOOL, FLOATS, INTEGERS, ConstantNumbers, Content, Elements, is_size
from symbcast.operators.values.elements import BINARY
from symbcast.operators.values.intervals import interval_of
from symbcast.operators.values.tensors import cast, chosen, clipped, of_each, of_several
from symbcast.operators.values.value import Value

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


# Elementwise operators on one tensor, or on several that are broadcast together.


@operator("Identity")
def identity(call: NodeCall) -> Value:
    """The same."""
    return call.value(0)


SOFTMAX_AXIS = RuntimeDifference(
    "Softmax LogSoftmax Hardmax",
    "refuses an axis at the end of the shape",
    "before opset 11 the shape may be cut there",
)


@operator("Hardmax", "LogSoftmax", "Softmax")
def along_axis(call: NodeCall) -> Value:
    """Each line along an axis is mapped to a new one."""
    dims = call.shape(0)
    axis = call.integer("axis", 1 if call.version < 13 else -1)
    # Before opset 11 the axis was where the shape is cut in two, which may be at its end.
    if axis != len(dims) or call.version >= 11 or call.does(SOFTMAX_AXIS):
        call.axis(axis, len(dims))
    return Value(dims, call.dtype())


CUMULATED_AXIS = RuntimeDifference(
    "CumProd CumSum",
    "does not look at the axis of an empty tensor, nor of a scalar",
    "the axis is one of the input's",
)


@operator("CumProd", "CumSum")
def cumulated(call: NodeCall) -> Value:
    """Cumulative sums or products along an axis, which is an input."""
    dims = call.shape(0)
    expect_numbers(call, 1)
    axes = call.numbers(1)
    if axes is None:
        call.note(f"not checked: {call.input_name(1)}, which is data, must be an axis", is_about_data=True, by=[1])
    if call.does(CUMULATED_AXIS):
        _check_axes(call, dims, axes or ())
    else:
        for axis in axes or ():
            call.axis(axis, len(dims))
    content = None
    if axes and -len(dims) <= axes[0] < len(dims) and call.node.op_type == "CumSum":
        is_exclusive, is_reversed = bool(call.integer("exclusive")), bool(call.integer("reverse"))
        content = summed_along(call.value(0), axes[0], call.bounds, is_exclusive=is_exclusive, is_reversed=is_reversed)
    return Value(dims, call.dtype(), content)


def _check_axes(call: NodeCall, dims: Dims, axes: Sequence[int]) -> None:
    """Require the axes of a tensor that is not empty."""
    if not dims:
        call.refuse("a scalar cannot be cumulated")
    if not all(-len(dims) <= axis < len(dims) for axis in axes):
        call.require(call.empty(dims), f"the axis must be from {-len(dims)} to {len(dims) - 1}")


@operator("Clip")
def clip(call: NodeCall) -> Value:
    """Each element, clipped to bounds."""
    value, dims = call.value(0), call.shape(0)
    content = None
    if call.version >= 11:
        expect_numbers(call, 1, 2)
        low, high = (call.elements(n) if call.has(n) else () for n in (1, 2))
        if low is not None and high is not None:
            content = clipped(value, low, high, call.asker)
    return Value(dims, value.dtype, content)


@operator("Dropout")
def dropout(call: NodeCall) -> Sequence[Value]:
    """The output and the mask have the shape of the input."""
    value = call.value(0)
    if call.version >= 12 and call.has(1):
        expect_numbers(call, 1)
        ratio = real_number(call, 1)
        if ratio is None:
            reason = f"not checked: {call.input_name(1)}, which is data, must be at least 0 and below 1"
            call.note(reason, is_about_data=True, by=[1])
        elif not 0 <= ratio < 1:
            call.refuse("the ratio must be at least 0 and below 1")
    return value, Value(call.shape(0), BOOL if call.version >= 10 else value.dtype)


DIVISION_BY_ZERO = RuntimeDifference(
    "Div Mod",
    "refuses to divide integers by 0",
    "leaves the result open",
)


def pair_broadcast(call: NodeCall) -> Dims:
    """Return two operands broadcast together; before opset 7 by the attributes ``broadcast`` and ``axis``."""
    shape = _legacy(call) if call.version < 7 and call.node.op_type not in ("Mod", "BitShift") else None
    if shape is None:
        shape = call.broadcast(call.shape(0), call.shape(1))
    if call.node.op_type == "Mod" and call.dtype() in FLOATS and call.version < 28 and not call.integer("fmod"):
        call.refuse("real numbers need fmod=1 before opset 28")
    if call.node.op_type in ("Div", "Mod") and call.does(DIVISION_BY_ZERO) and call.dtype() in INTEGERS:
        _require_divisor(call, shape)
    return shape


def _require_divisor(call: NodeCall, shape: Dims) -> None:
    """Require that no integer be divided by 0, which ONNX Runtime refuses."""
    divisor = call.value(1).content
    items = divisor.items if isinstance(divisor, Elements) else None
    if items is None:
        found = interval_of(call.value(1), call.bounds)
        is_number = isinstance(divisor, ConstantNumbers) and divisor.array.all()
        is_positive = found.low is not None and call.bounds.is_at_least(found.low, 1)
        if not (is_number or is_positive):
            call.note(
                f"not checked: {call.input_name(1)}, which is data, must not contain 0", is_about_data=True, by=[1]
            )
        return
    empty = [equal(d, 0) for d in shape if not call.bounds.is_at_least(d, 1)]
    for item in dict.fromkeys(items):
        if not is_size(item):
            call.note(
                f"not checked: {call.input_name(1)}, which is data, must not contain 0", is_about_data=True, by=[1]
            )
        elif not call.bounds.is_at_least(item, 1) and not call.bounds.is_at_most(item, -1):
            call.require(any_of([*empty, different(item, 0)]), "no integer may be divided by 0")


def _legacy(call: NodeCall) -> Dims:
    axis = call.attribute("axis")
    attributes = {} if axis is None else {"axis": int(axis)}
    return call.broadcast(
        call.shape(0), call.shape(1), rule="onnx-legacy", broadcast=call.integer("broadcast"), **attributes
    )


@operator("Max", "Min", "Sum", "Mean")
def variadic(call: NodeCall) -> Value:
    """Any number of operands, broadcast together; before opset 8 their shapes are equal."""
    shapes = [call.shape(n) for n in range(len(call.inputs))]
    shape = shapes[0]
    if call.version < 8:
        for other in shapes[1:]:
            shape = call.broadcast(shape, other, rule="none")
    elif len(shapes) > 1:
        shape = call.broadcast(*shapes)
    values = [call.value(n) for n in range(len(call.inputs))]
    if len(values) == 1:
        return values[0]
    step = BINARY.get({"Sum": "Add"}.get(call.node.op_type, call.node.op_type))
    return Value(shape, call.dtype(), of_several(step, values, shape, call.asker))


@operator("Where")
def where(call: NodeCall) -> Value:
    """Elements of one tensor or the other, selected by a condition; all three are broadcast together."""
    shape = call.broadcast(call.shape(0), call.shape(1), call.shape(2))
    values = [call.value(n) for n in range(3)]
    content = chosen(call.place.name, values, shape, call.asker)
    return Value(shape, call.dtype(1) or call.dtype(2), content)


PRELU_BOTH_WAYS = RuntimeDifference(
    "PRelu",
    "broadcasts slope and data both ways",
    "the slope is broadcast onto the data",
)


@operator("PRelu")
def prelu(call: NodeCall) -> Value:
    """The slope is broadcast onto the data; ONNX Runtime broadcasts both ways."""
    data, slope = call.shape(0), call.shape(1)
    if call.version < 7 and len(slope) == 1 and slope != (1,) and len(data) > 1:
        # Before opset 7 a slope of one axis is one for each channel.
        slope = (*slope, *([1] * (len(data) - 2)))
    if call.does(PRELU_BOTH_WAYS):
        return Value(call.broadcast(data, slope), call.dtype())
    call.broadcast(slope, data, rule="unidirectional")
    return Value(data, call.dtype())


# The operators declared as data, each followed by its signature: see `symbcast.onnx.operators.declarations`.


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
            known = [found for part in either if (found := self._sum(part)) is not None]
            call.require(any_of(equal(size, k) for k in known), f"{what} must be {' or '.join(map(dim_text, known))}")
            return
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
        found = self.call.integer(text[1:])
        if found < 1:
            self.call.refuse(f"the attribute {text[1:]} must be positive")
        return found

    def output(self, pattern: ShapePattern) -> Dims | None:
        """Return an output."""
        if pattern.name == "broadcast":
            return pair_broadcast(self.call)
        if pattern.name == "reduced":
            return reduced(self.call)
        if pattern.name:
            return self.shapes[pattern.name]
        found = [self._made(text) for text in pattern.sizes]
        if pattern.rest is not None:
            found[pattern.rest : pattern.rest] = self.rest or ()
        return tuple(found)

    def _made(self, text: str) -> Dim:
        found = self._sum(text)
        if found is None:
            found = self.named[text] = self.call.fresh(text, f"{text}, which no input tells")
        return found


def _unchanged(
    declaration: OperatorDeclaration, signature: DeclaredSignature, call: NodeCall
) -> Value | Sequence[Value]:
    """Return an output with the shape and type of the only input: usually the input itself."""
    value = call.value(0)
    if value.shape is not None and type(value) is Value and value.content is None:
        return value
    return _follow(declaration, signature, call)


def _follow(declaration: OperatorDeclaration, signature: DeclaredSignature, call: NodeCall) -> Value | Sequence[Value]:
    """Return the outputs of a call by its operator's declaration."""
    sizes = _Sizes(call)
    for position, pattern in enumerate(signature.inputs):
        if not pattern.is_optional or call.has(position):
            sizes.meet(position, pattern)
    if declaration.axis is not None:
        call.axis(call.integer("axis", declaration.axis), len(call.shape(0)))
    if declaration.note:
        call.note(declaration.note)
    shapes = [sizes.output(p) for p in signature.outputs]
    dtype = _dtype(call, declaration)
    if len(shapes) > 1:
        return [Value(shape, dtype) for shape in shapes]
    content = _CONTENTS[declaration.content](call, shapes[0], dtype) if declaration.content else None
    return Value(shapes[0], dtype, content)


def _dtype(call: NodeCall, declaration: OperatorDeclaration) -> int:
    found = declaration.dtype
    if isinstance(found, int):
        return found
    if found.startswith("#"):
        return call.dtype(int(found[1:])) or (call.dtype(1) if declaration.content == "pairs" else 0)
    return call.integer(found, call.dtype() if found == "dtype" else 0)


def _each(call: NodeCall, _: Dims | None, dtype: int) -> Content | None:
    return of_each(call.node.op_type, call.value(0), call.bounds)


def _cast(call: NodeCall, _: Dims | None, dtype: int) -> Content | None:
    return cast(call.value(0), dtype, call.asker)


def _pairs(call: NodeCall, shape: Dims | None, dtype: int) -> Content | None:
    is_followed = call.node.op_type != "Mod" or not call.integer("fmod")
    step = BINARY.get(call.node.op_type) if is_followed else None
    return of_several(step, [call.value(0), call.value(1)], shape, call.asker)


_CONTENTS: dict[str, Callable[[NodeCall, Dims | None, int], Content | None]] = {
    "each": _each,
    "cast": _cast,
    "pairs": _pairs,
    "whole": lambda call, shape, dtype: reduced_content(call),
}


def _operator(declaration: OperatorDeclaration) -> Operator[NodeCall]:
    is_unchanged = (declaration.signature, declaration.dtype, declaration.axis) == ("X -> X", "#0", None)
    return partial(_unchanged if is_unchanged else _follow, declaration, read_signature(declaration.signature))


for _declaration in (*DECLARATIONS, *CONTRIB_DECLARATIONS):
    operator(*_declaration.operators.split(), domain=_declaration.domain)(_operator(_declaration))
