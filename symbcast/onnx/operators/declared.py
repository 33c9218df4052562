"""The operators that are declared as data (`symbcast.onnx.declarations`), each followed by its signature."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from symbcast.onnx.declarations import DECLARATIONS, Declaration
from symbcast.onnx.node_call import NodeCall
from symbcast.onnx.operators.elementwise import pair_broadcast
from symbcast.onnx.operators.expected_shapes import expect, expect_numbers, known_shape
from symbcast.onnx.operators.reductions import reduced, reduced_content
from symbcast.onnx.registry import Operator, operator
from symbcast.onnx.values.contents import Content
from symbcast.onnx.values.elements import BINARY, UNARY
from symbcast.onnx.values.tensors import cast, combined, mapped
from symbcast.onnx.values.value import Dims, Value
from symbcast.text.printing import dim_text

if TYPE_CHECKING:
    from symbcast.algebra.terms import Dim


class Pattern(NamedTuple):
    """One input of a signature: a shape by name, or sizes by name with any number of axes at ``rest``."""

    name: str
    sizes: tuple[str, ...]
    rest: int | None
    is_optional: bool


class Signature(NamedTuple):
    """What goes in and what comes out."""

    inputs: tuple[Pattern, ...]
    output: Pattern


def read(text: str) -> Signature:
    """Return the signature that a text is.

    >>> read("(N, C, ...), (C)? -> X").inputs[1]
    Pattern(name='', sizes=('C',), rest=None, is_optional=True)
    """
    before, _, after = text.partition("->")
    inputs = re.findall(r"\([^)]*\)\??|[^,\s]+", before)
    return Signature(tuple(map(_pattern, inputs)), _pattern(after.strip()))


def _pattern(text: str) -> Pattern:
    is_optional, text = text.endswith("?"), text.rstrip("?")
    if not text.startswith("("):
        return Pattern(text, (), None, is_optional)
    sizes = [s.strip() for s in text[1:-1].split(",")]
    rest = sizes.index("...") if "..." in sizes else None
    return Pattern("", tuple(s for s in sizes if s != "..."), rest, is_optional)


class _Sizes:
    """The sizes that a call has by the names of a signature."""

    def __init__(self, call: NodeCall) -> None:
        self.call = call
        self.named: dict[str, Dim] = {}
        self.shapes: dict[str, Dims | None] = {}
        self.rest: Dims = ()

    def meet(self, position: int, pattern: Pattern) -> None:
        """Take in an input: name its sizes, and require those to be equal that have a name already."""
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
            call.refuse(f"{name} must have {count} axes{more}, and has {len(dims)}")
        if pattern.rest is not None:
            self.rest = dims[pattern.rest : pattern.rest + free]
            dims = dims[: pattern.rest] + dims[pattern.rest + free :]
        for axis, (letter, size) in enumerate(zip(pattern.sizes, dims, strict=True)):
            known = self.named.setdefault(letter, size)
            at = axis + free if pattern.rest is not None and axis >= pattern.rest else axis
            call.equal(size, known, f"axis {at} of {name} must be {letter}, which is {dim_text(known)}")

    def output(self, pattern: Pattern) -> Dims | None:
        """Return the output."""
        if pattern.name == "broadcast":
            return pair_broadcast(self.call)
        if pattern.name == "reduced":
            return reduced(self.call)
        if pattern.name:
            return self.shapes[pattern.name]
        found = [self.named[s] for s in pattern.sizes]
        if pattern.rest is not None:
            found[pattern.rest : pattern.rest] = self.rest
        return tuple(found)


def _follow(declaration: Declaration, signature: Signature, call: NodeCall) -> Value:
    """Return the output of a call by its operator's declaration."""
    sizes = _Sizes(call)
    for position, pattern in enumerate(signature.inputs):
        if not pattern.is_optional or call.has(position):
            sizes.meet(position, pattern)
    if declaration.axis is not None:
        call.axis(call.integer("axis", declaration.axis), len(call.shape(0)))
    shape = sizes.output(signature.output)
    dtype = _dtype(call, declaration)
    content = _CONTENTS[declaration.content](call, shape, dtype) if declaration.content else None
    return Value(shape, dtype, content)


def _dtype(call: NodeCall, declaration: Declaration) -> int:
    found = declaration.dtype
    if isinstance(found, int):
        return found
    if found.startswith("#"):
        return call.dtype(int(found[1:])) or (call.dtype(1) if declaration.content == "pairs" else 0)
    return call.integer(found, call.dtype() if found == "dtype" else 0)


def _each(call: NodeCall, _: Dims | None, dtype: int) -> Content | None:
    step, content = UNARY.get(call.node.op_type), call.value(0).content
    return mapped(content, partial(step, call.bounds)) if step and content is not None else None


def _cast(call: NodeCall, _: Dims | None, dtype: int) -> Content | None:
    return cast(call.value(0), dtype, call.asker)


def _pairs(call: NodeCall, shape: Dims | None, dtype: int) -> Content | None:
    step, values = BINARY.get(call.node.op_type), [call.value(0), call.value(1)]
    if step is None or shape is None or any(v.content is None for v in values):
        return None
    if call.node.op_type == "Mod" and call.integer("fmod"):
        return None
    return combined(values, shape, partial(step, call.asker, call.dtype()))


_CONTENTS: dict[str, Callable[[NodeCall, Dims | None, int], Content | None]] = {
    "each": _each,
    "cast": _cast,
    "pairs": _pairs,
    "whole": lambda call, shape, dtype: reduced_content(call),
}


def _operator(declaration: Declaration) -> Operator:
    return partial(_follow, declaration, read(declaration.signature))


for _declaration in DECLARATIONS:
    operator(*_declaration.operators.split(), domain=_declaration.domain)(_operator(_declaration))
