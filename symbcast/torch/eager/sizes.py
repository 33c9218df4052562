"""The node behind a `torch.SymInt`: a dimension."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, minimum, modulo, multiply, subtract
from symbcast.core.logic.formulas import FALSE, TRUE, Comparison, equal, negate
from symbcast.graphs.values.contents import Ratio
from symbcast.torch.eager.nodes import KINDS, Node, Run, TruthNode
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class SizeNode(Node):
    """An integer: a dimension."""

    kind = "int"

    def __init__(self, dim: Dim, run: Run) -> None:
        super().__init__(run)
        self.dim = dim

    @property
    def constant(self) -> int | None:
        """The number, if it is one."""
        return self.dim if isinstance(self.dim, int) else None

    def maybe_as_int(self) -> int | None:
        return self.constant

    def str(self) -> builtins.str:
        return str(self.dim)

    def guard_int(self, file: builtins.str, line: int) -> int:
        return self.run.number(self.dim)

    def int_(self) -> int:
        return self.run.number(self.dim)

    def bool_(self) -> bool:
        return self.run.ask(negate(equal(self.dim, 0)))

    def guard_bool(self, file: builtins.str, line: int) -> bool:
        return self.bool_()

    def _made(self, function: Callable[[Dim, Dim], Dim], other: SizeNode) -> Node:
        return SizeNode(function(self.dim, other.dim), self.run)

    def add(self, other: SizeNode) -> Node:
        return self._made(add, other)

    def sub(self, other: SizeNode) -> Node:
        return self._made(subtract, other)

    def mul(self, other: SizeNode) -> Node:
        return self._made(multiply, other)

    def _divisor(self, other: SizeNode) -> None:
        if self.run.ask(equal(other.dim, 0)):
            raise ZeroDivisionError("integer division or modulo by zero")

    def int_floordiv(self, other: SizeNode) -> Node:
        self._divisor(other)
        return self._made(floor_divide, other)

    floordiv = int_floordiv

    def mod(self, other: SizeNode) -> Node:
        self._divisor(other)
        return self._made(modulo, other)

    def int_truediv(self, other: SizeNode) -> Node:
        self._divisor(other)
        return KINDS["float"](Ratio(self.dim, other.dim), self.run)

    truediv = int_truediv

    def pow_by_natural(self, other: SizeNode) -> Node:
        return SizeNode(multiply(*[self.dim] * self.run.number(other.dim)), self.run)

    pow = pow_by_natural

    def neg(self) -> Node:
        return SizeNode(subtract(0, self.dim), self.run)

    def pos(self) -> Node:
        return self

    def abs(self) -> Node:
        return SizeNode(maximum((self.dim, subtract(0, self.dim))), self.run)

    def sym_int(self) -> Node:
        return self

    ceil = floor = trunc = sym_int

    def round(self, digits: int | None = None) -> Node:
        return self

    def is_integer(self) -> Node:
        return TruthNode(TRUE, self.run)

    def sym_float(self) -> Node:
        return KINDS["float"](Ratio(self.dim, 1), self.run)

    def sym_min(self, other: SizeNode) -> Node:
        return SizeNode(minimum((self.dim, other.dim)), self.run)

    def sym_max(self, other: SizeNode) -> Node:
        return SizeNode(maximum((self.dim, other.dim)), self.run)

    def sym_sum(self, nodes: Sequence[SizeNode]) -> Node:
        return SizeNode(add(*(n.dim for n in nodes)), self.run)

    def lshift(self, other: SizeNode) -> Node:
        return SizeNode(multiply(self.dim, 1 << self.run.number(other.dim)), self.run)

    def rshift(self, other: SizeNode) -> Node:
        return SizeNode(floor_divide(self.dim, 1 << self.run.number(other.dim)), self.run)

    def _bits(self, function: Callable[[int, int], int], other: SizeNode) -> Node:
        return SizeNode(function(self.run.number(self.dim), self.run.number(other.dim)), self.run)

    def bitwise_and(self, other: SizeNode) -> Node:
        mask = other.dim
        if isinstance(mask, int) and mask > 0 and mask & (mask + 1) == 0:
            return SizeNode(modulo(self.dim, mask + 1), self.run)
        return self._bits(operator.and_, other)

    def bitwise_or(self, other: SizeNode) -> Node:
        return self._bits(operator.or_, other)

    def bitwise_xor(self, other: SizeNode) -> Node:
        return self._bits(operator.xor, other)

    def eq(self, other: SizeNode) -> Node:
        return self._compared("==", self.dim, other.dim)

    def ne(self, other: SizeNode) -> Node:
        return self._compared("!=", self.dim, other.dim)

    def lt(self, other: SizeNode) -> Node:
        return self._compared("<", self.dim, other.dim)

    def le(self, other: SizeNode) -> Node:
        return self._compared("<=", self.dim, other.dim)

    def gt(self, other: SizeNode) -> Node:
        return self._compared("<", other.dim, self.dim)

    def ge(self, other: SizeNode) -> Node:
        return self._compared("<=", other.dim, self.dim)

    def _compared(self, relation: Any, left: Dim, right: Dim) -> Node:
        return TruthNode(Comparison(relation, left, right), self.run)

    def _is_dense(self, sizes: Sequence[Node], strides: Sequence[Node]) -> Node:
        """Return that tensors without elements are contiguous: their memory layout is not followed."""
        return TruthNode(TRUE, self.run)

    is_contiguous = is_non_overlapping_and_dense = _is_dense

    def _is_other(self, sizes: Sequence[Node], strides: Sequence[Node]) -> Node:
        return TruthNode(FALSE, self.run)

    is_channels_last_contiguous_2d = is_channels_last_contiguous_3d = _is_other
    is_channels_last_strides_2d = is_channels_last_strides_3d = _is_other


KINDS["int"] = SizeNode


def symint(dim: Dim, run: Run) -> Any:
    """Return a dimension as an integer that torch computes with: a number, or a `torch.SymInt`."""
    return dim if isinstance(dim, int) else load().SymInt(SizeNode(dim, run))


def dim_of(value: Any) -> Dim | None:
    """Return an integer of torch or Python as a dimension; None for anything else."""
    if isinstance(value, load().SymInt):
        node = value.node
        return node.dim if isinstance(node, SizeNode) else None
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None
