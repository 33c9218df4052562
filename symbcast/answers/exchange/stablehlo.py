"""A broadcast as StableHLO: dynamic_broadcast_in_dim, annotated with the proved axes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from symbcast.answers.explanation.names import Namer, operand_names, rule_text
from symbcast.core.broadcasting.outputs import members_of, same_size
from symbcast.core.characters import visible
from symbcast.core.logic.formulas import TRUE, all_of
from symbcast.errors import DimensionError

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.core.program.calls.call import Call

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")
_ELEMENT = re.compile(r"[A-Za-z][A-Za-z0-9]*|complex<f(32|64)>")
_SHAPES = ("target", "result")
"""The rules' name for an operand that is only a shape: it has no elements to broadcast."""


def stablehlo_source(call: Call, name: str = "broadcast", element_type: str = "f32") -> str:
    """Return a module with one function that takes tensors and returns each of them broadcast to the output shape.

    An operand that is only a shape, such as the target of `unidirectional`, is passed as a tensor of ``i32`` sizes. The
    output's sizes are computed from those of the operands, or taken from one operand that is proved to have the
    output's size. The shapes must be able to broadcast. Raises `DimensionError` for a layout that StableHLO
    cannot express, and ValueError for a name or a type that it does not allow.

    >>> from symbcast.answers.public.result import broadcast, call_of
    >>> print(stablehlo_source(call_of(broadcast("N, 3", "M, 1", assume="N >= 2 and M == N"))))
    // numpy of A (N, 3), B (M, 1)
    module {
      func.func @broadcast(%A: tensor<?x3xf32>, %B: tensor<?x1xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
        %0 = stablehlo.get_dimension_size %A, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
        %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
        %2 = stablehlo.constant dense<3> : tensor<1xi32>
        %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %4 = "stablehlo.dynamic_broadcast_in_dim"(%A, %3) {
          broadcast_dimensions = array<i64: 0, 1>,
          known_expanding_dimensions = array<i64>,
          known_nonexpanding_dimensions = array<i64: 0, 1>
        } : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
        %5 = "stablehlo.dynamic_broadcast_in_dim"(%B, %3) {
          broadcast_dimensions = array<i64: 0, 1>,
          known_expanding_dimensions = array<i64: 1>,
          known_nonexpanding_dimensions = array<i64: 0>
        } : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
        return %4, %5 : tensor<?x3xf32>, tensor<?x3xf32>
      }
    }
    <BLANKLINE>
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a function here: write an identifier")
    if not _ELEMENT.fullmatch(element_type):
        raise ValueError(f"{element_type!r} is not an element type: write f32, bf16 or i64, for example")
    return "\n".join([*_comment(call), *_Module(call, name, element_type).lines(), ""])


def _comment(call: Call) -> Iterator[str]:
    namer = Namer(call)
    shapes = (f"{n} {namer.shape(s)}" for n, s in zip(operand_names(call), call.operands, strict=True))
    yield visible(f"// {rule_text(call.rule)} of {', '.join(shapes)}")
    if call.clauses:
        yield visible(f"// valid when {namer.formula(all_of(call.clauses))}")


class _Module:
    """Writes the operations in order; ``_values`` maps each existing operation to its value."""

    def __init__(self, call: Call, name: str, element_type: str) -> None:
        assert call.shape is not None
        self._call = call
        self._name = name
        self._output = call.emission.output
        self._places = call.rule.places([s.rank for s in call.operands]).of
        self._valid = call.valid_sizes()
        self._lines: list[str] = []
        self._values: dict[str, str] = {}
        called = operand_names(call)
        self._is_shape = [n in _SHAPES for n in called]
        self._arguments = [f"%{n.replace(' ', '_')}" for n in called]
        self._types = [
            f"tensor<{s.rank}xi32>" if is_shape else _tensor(s.dims, element_type)
            for s, is_shape in zip(call.operands, self._is_shape, strict=True)
        ]
        self._result = _tensor(call.shape.dims, element_type)

    def lines(self) -> list[str]:
        """Return the lines of the module."""
        sizes = self._output_sizes()
        tensors = [n for n, is_shape in enumerate(self._is_shape) if not is_shape]
        results = [self._broadcast(n, sizes) for n in tensors]
        given = ", ".join(f"{a}: {t}" for a, t in zip(self._arguments, self._types, strict=True))
        types = ", ".join([self._result] * len(results))
        gives = types if len(results) == 1 else f"({types})"
        return [
            "module {",
            f"  func.func @{self._name}({given}) -> {gives} {{",
            *(f"    {line}" for line in self._lines),
            f"    return {', '.join(results)} : {types}" if results else "    return",
            "  }",
            "}",
        ]

    def _operation(self, text: str) -> str:
        """Return the value of an operation, writing it only once."""
        if text not in self._values:
            self._values[text] = f"%{len(self._values)}"
            self._lines.extend(f"{self._values[text]} = {text}".split("\n"))
        return self._values[text]

    def _broadcast(self, operand: int, sizes: str) -> str:
        """Return an operand broadcast to the output's sizes."""
        places, rank = self._places[operand], len(self._output)
        if any(not 0 <= p < rank for p in places) or len(set(places)) < len(places):
            dims = self._call.operands[operand]
            raise DimensionError(
                dims, "StableHLO maps each axis to one axis of the output", "drop the axes that hang over"
            )
        known = [
            self._valid.stretched([size], self._output[place]).known
            for size, place in zip(self._call.operands[operand].dims, places, strict=True)
        ]
        axes = [_array([n for n, k in enumerate(known) if k == word]) for word in ("expanding", "nonexpanding")]
        return self._operation(
            f'"stablehlo.dynamic_broadcast_in_dim"({self._arguments[operand]}, {sizes}) {{\n'
            f"  broadcast_dimensions = {_array(places)},\n"
            f"  known_expanding_dimensions = {axes[0]},\n"
            f"  known_nonexpanding_dimensions = {axes[1]}\n"
            f"}} : ({self._types[operand]}, tensor<{rank}xi32>) -> {self._result}"
        )

    def _output_sizes(self) -> str:
        """Return the sizes of the output as one tensor."""
        rank = len(self._output)
        sizes = [self._output_size(axis) for axis in range(rank)]
        if not sizes:
            return self._operation("stablehlo.constant dense<> : tensor<0xi32>")
        if rank == 1:
            return sizes[0]
        types = ", ".join(["tensor<1xi32>"] * rank)
        return self._operation(f"stablehlo.concatenate {', '.join(sizes)}, dim = 0 : ({types}) -> tensor<{rank}xi32>")

    def _output_size(self, axis: int) -> str:
        """Return the size of an output axis: a number, that of an operand, or the join of several."""
        assert self._call.shape is not None
        size, output = self._call.shape.dims[axis], self._output[axis]
        if isinstance(size, int):
            return self._number(size)
        members = {member for member in members_of(output) if member != 1}
        cells = [(n, i, s) for n, i, s in self._cells(axis) if s in members]
        for n, i, member in cells:
            if same_size(output, member) == TRUE or self._valid.stretched([member], output).known == "nonexpanding":
                return self._extent(n, i)
        joined = self._extent(*cells[0][:2])
        for n, i, _ in cells[1:]:
            other, one = self._extent(n, i), self._number(1)
            types = "(tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>"
            is_one = self._operation(f"stablehlo.compare EQ, {joined}, {one} : {types}")
            joined = self._operation(f"stablehlo.select {is_one}, {other}, {joined} : tensor<1xi1>, tensor<1xi32>")
        return joined

    def _cells(self, axis: int) -> Iterator[tuple[int, int, Dim]]:
        """Yield the operands on an output axis, each with its own axis there and the size; each size once."""
        found: set[Dim] = set()
        for n, places in enumerate(self._places):
            for i, place in enumerate(places):
                size = self._call.operands[n].dims[i]
                if place == axis and size not in found:
                    found.add(size)
                    yield n, i, size

    def _number(self, size: int) -> str:
        return self._operation(f"stablehlo.constant dense<{size}> : tensor<1xi32>")

    def _extent(self, operand: int, axis: int) -> str:
        """Return the size of an operand's axis, as a tensor of rank 1."""
        argument, kind = self._arguments[operand], self._types[operand]
        if self._is_shape[operand]:
            return self._operation(f"stablehlo.slice {argument} [{axis}:{axis + 1}] : ({kind}) -> tensor<1xi32>")
        size = self._operation(f"stablehlo.get_dimension_size {argument}, dim = {axis} : ({kind}) -> tensor<i32>")
        return self._operation(f"stablehlo.reshape {size} : (tensor<i32>) -> tensor<1xi32>")


def _tensor(dims: Sequence[Dim], element_type: str) -> str:
    """Return the type of a tensor, with ``?`` for a size that is not a number."""
    sizes = (str(d) if isinstance(d, int) else "?" for d in dims)
    return f"tensor<{'x'.join([*sizes, element_type])}>"


def _array(axes: Sequence[int]) -> str:
    return f"array<i64: {', '.join(map(str, axes))}>" if axes else "array<i64>"
