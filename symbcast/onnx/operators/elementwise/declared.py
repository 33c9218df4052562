"""The operators declared as data, each followed by its signature: see `symbcast.onnx.declared.declarations`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply
from symbcast.core.logic.formulas import any_of, equal
from symbcast.core.text.printing import dim_text
from symbcast.graphs.operators.elementwise import of_each, of_several
from symbcast.graphs.operators.expected_shapes import expect, expect_numbers, known_shape
from symbcast.graphs.operators.table import Operator
from symbcast.graphs.values.contents import Content
from symbcast.graphs.values.elements import BINARY
from symbcast.graphs.values.tensors import cast
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.onnx.declared.contrib_declarations import CONTRIB_DECLARATIONS
from symbcast.onnx.declared.declarations import DECLARATIONS, Declaration
from symbcast.onnx.operators.elementwise.elementwise import pair_broadcast
from symbcast.onnx.operators.elementwise.reductions import reduced, reduced_content
from symbcast.onnx.registry import operator
from symbcast.operators.context import Dims

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class Pattern(NamedTuple):
    """One input or output of a signature: a shape by name, or sizes with any number of axes at ``rest``."""

    name: str
    sizes: tuple[str, ...]
    rest: int | None
    is_optional: bool


class Signature(NamedTuple):
    """The declared inputs and outputs of an operator."""

    inputs: tuple[Pattern, ...]
    outputs: tuple[Pattern, ...]


def read(text: str) -> Signature:
    """Parse a signature.

    >>> read("(N, C, ...), (C)? -> X").inputs[1]
    Pattern(name='', sizes=('C',), rest=None, is_optional=True)
    """
    before, _, after = text.partition("->")
    inputs, outputs = (tuple(map(_pattern, re.findall(r"\([^)]*\)\??|[^,\s]+", part))) for part in (before, after))
    return Signature(inputs, outputs)


def _pattern(text: str) -> Pattern:
    is_optional, text = text.endswith("?"), text.rstrip("?")
    if not text.startswith("("):
        return Pattern(text, (), None, is_optional)
    sizes = [s.strip() for s in text[1:-1].split(",") if s.strip()]
    rest = sizes.index("...") if "..." in sizes else None
    return Pattern("", tuple(s for s in sizes if s != "..."), rest, is_optional)


class _Sizes:
    """The sizes that a call has by the names of a signature."""

    def __init__(self, call: NodeCall) -> None:
        self.call = call
        self.named: dict[str, Dim] = {}
        self.shapes: dict[str, Dims | None] = {}
        self.rest: Dims | None = None

    def meet(self, position: int, pattern: Pattern) -> None:
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

    def _name(self, position: int, pattern: Pattern, dims: Dims) -> None:
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

    def output(self, pattern: Pattern) -> Dims | None:
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


def _unchanged(declaration: Declaration, signature: Signature, call: NodeCall) -> Value | Sequence[Value]:
    """Return an output with the shape and type of the only input: usually the input itself."""
    value = call.value(0)
    if value.shape is not None and type(value) is Value and value.content is None:
        return value
    return _follow(declaration, signature, call)


def _follow(declaration: Declaration, signature: Signature, call: NodeCall) -> Value | Sequence[Value]:
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


def _dtype(call: NodeCall, declaration: Declaration) -> int:
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


def _operator(declaration: Declaration) -> Operator[NodeCall]:
    is_unchanged = (declaration.signature, declaration.dtype, declaration.axis) == ("X -> X", "#0", None)
    return partial(_unchanged if is_unchanged else _follow, declaration, read(declaration.signature))


for _declaration in (*DECLARATIONS, *CONTRIB_DECLARATIONS):
    operator(*_declaration.operators.split(), domain=_declaration.domain)(_operator(_declaration))
