"""The node behind a `torch.SymFloat`: a quotient of sizes, or a real number that data decide."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import add, floor_divide, modulo, multiply, subtract
from symbcast.core.logic.formulas import Comparison, Formula, equal
from symbcast.graphs.values.contents import Ratio
from symbcast.torch.eager.nodes import KINDS, UNKNOWN_REAL, Node, Run, TruthNode
from symbcast.torch.eager.sizes import SizeNode
from symbcast.torch.node_call import is_exact

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class RealNode(Node):
    """A real number: a quotient of sizes, or one that data decide; ``number`` is its value if it is a constant."""

    kind = "float"

    def __init__(self, ratio: Ratio, run: Run, number: float | None = None) -> None:
        super().__init__(run)
        self.ratio = ratio
        self.number = number

    @property
    def constant(self) -> float | None:
        """The number, if it is one."""
        return self.number

    def maybe_as_float(self) -> float | None:  # type: ignore[override]
        return self.number

    def str(self) -> builtins.str:
        return "a number" if self.ratio is UNKNOWN_REAL else f"{self.ratio.above}/{self.ratio.below}"

    @property
    def _is_known(self) -> bool:
        return self.ratio is not UNKNOWN_REAL

    def _of(self, exact: Callable[[Ratio, Ratio], Ratio], other: RealNode) -> Node:
        if self.number is not None and other.number is not None:
            return self.run.give_up("a real number of two others")
        known = all(n._is_known and is_exact(n.ratio) for n in (self, other))
        return RealNode(exact(self.ratio, other.ratio) if known else UNKNOWN_REAL, self.run)

    def add(self, other: RealNode) -> Node:
        return self._of(lambda a, b: Ratio(add(multiply(a.above, b.below), multiply(b.above, a.below)),
                                           multiply(a.below, b.below)), other)  # fmt: skip

    def sub(self, other: RealNode) -> Node:
        return self._of(lambda a, b: Ratio(subtract(multiply(a.above, b.below), multiply(b.above, a.below)),
                                           multiply(a.below, b.below)), other)  # fmt: skip

    def mul(self, other: RealNode) -> Node:
        return self._of(lambda a, b: Ratio(multiply(a.above, b.above), multiply(a.below, b.below)), other)

    def float_truediv(self, other: RealNode) -> Node:
        if other._is_known and self.run.ask(equal(other.ratio.above, 0)):
            raise ZeroDivisionError("float division by zero")
        return self._of(lambda a, b: Ratio(multiply(a.above, b.below), multiply(a.below, b.above)), other)

    truediv = float_truediv

    def float_pow(self, other: RealNode) -> Node:
        return RealNode(UNKNOWN_REAL, self.run)

    pow = float_pow
    mod = int_floordiv = floordiv = float_pow

    def neg(self) -> Node:
        return RealNode(
            Ratio(subtract(0, self.ratio.above), self.ratio.below) if self._is_known else UNKNOWN_REAL, self.run
        )

    def abs(self) -> Node:
        return RealNode(UNKNOWN_REAL, self.run)

    def pos(self) -> Node:
        return self

    sym_float = pos

    def _whole(self) -> tuple[Dim, Dim]:
        if not self._is_known or self.run.settled(Comparison("<=", 1, self.ratio.below)) is not True:
            self.run.give_up("a real number that data decide becomes an integer")
        return self.ratio.above, self.ratio.below

    def floor(self) -> Node:
        return SizeNode(floor_divide(*self._whole()), self.run)

    def ceil(self) -> Node:
        above, below = self._whole()
        return SizeNode(subtract(0, floor_divide(subtract(0, above), below)), self.run)

    def trunc(self) -> Node:
        above, below = self._whole()
        if not self.run.ask(Comparison("<=", 0, above)):
            return self.ceil()
        return SizeNode(floor_divide(above, below), self.run)

    sym_int = trunc

    def is_integer(self) -> Node:
        above, below = self._whole()
        return TruthNode(equal(modulo(above, below), 0), self.run)

    def round(self, digits: int | None = None) -> Node:
        self.run.give_up("a real number is rounded to the nearest")

    def guard_float(self, file: builtins.str, line: int) -> float:
        if not self._is_known:
            self.run.give_up("a real number that data decide is needed as a number")
        return self.run.number(self.ratio.above) / self.run.number(self.ratio.below)

    def int_(self) -> int:
        return int(self.guard_float("", 0))

    def _compared(self, relation: Any, left: RealNode, right: RealNode) -> Node:
        a, b = left.ratio, right.ratio
        known = left._is_known and right._is_known
        settled = self.run.settled
        if not known or any(settled(Comparison("<=", 1, r.below)) is not True for r in (a, b)):
            return TruthNode(self.run.is_true_for_data(), self.run)
        return TruthNode(Comparison(relation, multiply(a.above, b.below), multiply(b.above, a.below)), self.run)

    def eq(self, other: RealNode) -> Node:
        return self._compared("==", self, other)

    def ne(self, other: RealNode) -> Node:
        return self._compared("!=", self, other)

    def lt(self, other: RealNode) -> Node:
        return self._compared("<", self, other)

    def le(self, other: RealNode) -> Node:
        return self._compared("<=", self, other)

    def gt(self, other: RealNode) -> Node:
        return self._compared("<", other, self)

    def ge(self, other: RealNode) -> Node:
        return self._compared("<=", other, self)

    def sym_min(self, other: RealNode) -> Node:
        return self if self.run.ask(_formula(self.le(other))) else other

    def sym_max(self, other: RealNode) -> Node:
        return other if self.run.ask(_formula(self.le(other))) else self


KINDS["float"] = RealNode


def _formula(node: Node) -> Formula:
    assert isinstance(node, TruthNode)
    return node.formula
