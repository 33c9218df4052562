"""The nodes behind a `torch.SymInt`, `torch.SymBool` and `torch.SymFloat` whose sizes are symbcast's.

Torch computes with such a number through the methods of its node, and its compiled code calls the same methods. Where
torch needs an answer, such as in an ``if``, the node asks the run that it belongs to.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any, NoReturn, Protocol

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, minimum, modulo, multiply, subtract
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Formula, all_of, any_of, equal, negate
from symbcast.core.algebra.terms import Dim
from symbcast.core.text.notation import formula_text
from symbcast.operators.values.contents import SizeRatio
from symbcast.torch.calls import is_exact
from symbcast.torch.library import load_torch

# A real number that data decide.
UNKNOWN_REAL = SizeRatio(0, 0)


class NumberRun(Protocol):
    """A run that the numbers belong to: it answers the questions about sizes."""

    def ask(self, formula: Formula) -> bool:
        """Return whether a formula holds in this run."""

    def expect(self, formula: Formula) -> None:
        """Require a formula that torch checks."""

    def number(self, dim: Dim) -> int:
        """Return a size as a number, and restrict the run to it."""

    def shown(self, dim: Dim) -> int:
        """Return a number that a size can be, for text only."""

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, without a decision."""

    def is_true_for_data(self) -> Formula:
        """Return a formula for a boolean that data decide."""

    def integer_of_data(self) -> Dim:
        """Return an integer that data decide."""

    def give_up(self, reason: str) -> NoReturn:
        """End the run, because what follows is unknown."""


class NumberNode:
    """What all three kinds have in common; ``run`` is the run that they belong to."""

    kind = "int"
    expr = _hint = None  # torch's Python code looks for its own expression and for an example's value

    def __init__(self, run: NumberRun) -> None:
        self.run = run

    def is_int(self) -> bool:
        return self.kind == "int"

    def is_bool(self) -> bool:
        return self.kind == "bool"

    def is_float(self) -> bool:
        return self.kind == "float"

    def is_nested_int(self) -> bool:
        return False

    def is_symbolic(self) -> bool:
        return True

    def is_constant(self) -> bool:
        return False

    # A hint is the number of an example: torch would decide by it, without a question to the run.
    def has_hint(self) -> bool:
        return False

    def nested_int(self) -> None:
        return None

    def maybe_as_int(self) -> int | None:
        return None

    maybe_as_float = maybe_as_bool = maybe_as_int
    constant_int = constant_bool = nested_int

    def clone(self) -> NumberNode:
        return self

    def wrap_int(self, number: int) -> NumberNode:
        return SizeNode(int(number), self.run)

    def wrap_float(self, number: float) -> NumberNode:
        return RealNode(factor_ratio(number), self.run, number)

    def wrap_bool(self, value: bool) -> NumberNode:
        return TruthNode(TRUE if value else FALSE, self.run)

    def str(self) -> builtins.str:
        raise NotImplementedError

    def __str__(self) -> builtins.str:
        return self.str()

    def __repr__(self) -> builtins.str:
        return self.str()

    def _graph_repr(self) -> builtins.str:
        """Return the text of the number in torch's own drawings of graphs."""
        return self.str()


class TruthNode(NumberNode):
    """A boolean: a formula about sizes."""

    kind = "bool"

    def __init__(self, formula: Formula, run: NumberRun) -> None:
        super().__init__(run)
        self.formula = formula

    def str(self) -> builtins.str:

        return formula_text(self.formula)

    def guard_bool(self, file: builtins.str = "", line: int = 0) -> bool:
        return self.run.ask(self.formula)

    bool_ = guard_size_oblivious = guard_or_false = guard_or_true = guard_bool

    def expect_true(self, file: builtins.str, line: int) -> bool:
        self.run.expect(self.formula)
        return True

    def statically_known_true(self, file: builtins.str, line: int) -> bool:
        return self.run.is_known(self.formula) is True

    def guard_int(self, file: builtins.str = "", line: int = 0) -> int:
        return int(self.bool_())

    int_ = guard_int

    def sym_not(self) -> NumberNode:
        return TruthNode(negate(self.formula), self.run)

    def sym_and(self, other: TruthNode) -> NumberNode:
        return TruthNode(all_of([self.formula, other.formula]), self.run)

    def sym_or(self, other: TruthNode) -> NumberNode:
        return TruthNode(any_of([self.formula, other.formula]), self.run)

    and_ = bitwise_and = sym_and
    or_ = bitwise_or = sym_or

    def eq(self, other: TruthNode) -> TruthNode:
        both = all_of([self.formula, other.formula])
        return TruthNode(any_of([both, all_of([negate(self.formula), negate(other.formula)])]), self.run)

    def ne(self, other: TruthNode) -> NumberNode:
        return TruthNode(negate(self.eq(other).formula), self.run)

    def sym_ite(self, yes: NumberNode, no: NumberNode) -> NumberNode:
        return yes if self.bool_() else no

    def sym_float(self) -> NumberNode:
        return RealNode(SizeRatio(int(self.bool_()), 1), self.run)


# The largest denominator of a factor: a size times it is exact, because a float holds it exactly.
_MOST_BELOW = 64


def factor_ratio(number: float) -> SizeRatio:
    """Return a factor as a quotient, if a size times it is exact."""
    if not isfinite(number):
        return UNKNOWN_REAL
    above, below = float(number).as_integer_ratio()
    return SizeRatio(above, below) if below <= _MOST_BELOW else UNKNOWN_REAL


def _relation(relation: Any) -> Callable[[Any, Any], TruthNode]:
    return lambda node, other: node._compared(relation, other)


def _of_two(function: Callable[[Dim, Dim], Dim]) -> Callable[[SizeNode, SizeNode], NumberNode]:
    return lambda node, other: SizeNode(function(node.dim, other.dim), node.run)


_SUMS: tuple[Callable[[Dim, Dim], Dim], ...] = (add, subtract, multiply)


class OrderedNode(NumberNode):
    """A number that is compared: with nodes of its own kind, as torch converts the operands before."""

    def _compared(self, relation: Any, other: Any) -> TruthNode:
        raise NotImplementedError

    eq, ne, lt, le = map(_relation, ("==", "!=", "<", "<="))

    def gt(self, other: OrderedNode) -> TruthNode:
        return other.lt(self)

    def ge(self, other: OrderedNode) -> TruthNode:
        return other.le(self)


class SizeNode(OrderedNode):
    """An integer: a dimension."""

    kind = "int"

    def __init__(self, dim: Dim, run: NumberRun) -> None:
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

    def guard_int(self, file: builtins.str = "", line: int = 0) -> int:
        return self.run.number(self.dim)

    int_ = guard_int

    def guard_bool(self, file: builtins.str = "", line: int = 0) -> bool:
        return self.run.ask(negate(equal(self.dim, 0)))

    bool_ = guard_bool

    add, sub, mul = map(_of_two, _SUMS)
    sym_min = _of_two(lambda a, b: minimum((a, b)))
    sym_max = _of_two(lambda a, b: maximum((a, b)))

    def _divisor(self, other: SizeNode) -> None:
        if self.run.ask(equal(other.dim, 0)):
            raise ZeroDivisionError("integer division or modulo by zero")

    def int_floordiv(self, other: SizeNode) -> NumberNode:
        self._divisor(other)
        return SizeNode(floor_divide(self.dim, other.dim), self.run)

    floordiv = int_floordiv

    def mod(self, other: SizeNode) -> NumberNode:
        self._divisor(other)
        return SizeNode(modulo(self.dim, other.dim), self.run)

    def int_truediv(self, other: SizeNode) -> NumberNode:
        self._divisor(other)
        return RealNode(SizeRatio(self.dim, other.dim), self.run)

    truediv = int_truediv

    def pow_by_natural(self, other: SizeNode) -> NumberNode:
        return SizeNode(multiply(*[self.dim] * self.run.number(other.dim)), self.run)

    pow = pow_by_natural

    def neg(self) -> NumberNode:
        return SizeNode(subtract(0, self.dim), self.run)

    def pos(self) -> NumberNode:
        return self

    def abs(self) -> NumberNode:
        return SizeNode(maximum((self.dim, subtract(0, self.dim))), self.run)

    def sym_int(self) -> NumberNode:
        return self

    ceil = floor = trunc = sym_int

    def round(self, digits: int | None = None) -> NumberNode:
        return self

    def is_integer(self) -> NumberNode:
        return TruthNode(TRUE, self.run)

    def sym_float(self) -> NumberNode:
        return RealNode(SizeRatio(self.dim, 1), self.run)

    def sym_sum(self, nodes: Sequence[SizeNode]) -> NumberNode:
        return SizeNode(add(*(n.dim for n in nodes)), self.run)

    def lshift(self, other: SizeNode) -> NumberNode:
        return SizeNode(multiply(self.dim, 1 << self.run.number(other.dim)), self.run)

    def rshift(self, other: SizeNode) -> NumberNode:
        return SizeNode(floor_divide(self.dim, 1 << self.run.number(other.dim)), self.run)

    def _bits(self, function: Callable[[int, int], int], other: SizeNode) -> NumberNode:
        return SizeNode(function(self.run.number(self.dim), self.run.number(other.dim)), self.run)

    def bitwise_and(self, other: SizeNode) -> NumberNode:
        mask = other.dim
        # n & (2**k - 1) is n % 2**k for every integer n.
        if isinstance(mask, int) and mask > 0 and mask & (mask + 1) == 0:
            return SizeNode(modulo(self.dim, mask + 1), self.run)
        return self._bits(operator.and_, other)

    def bitwise_or(self, other: SizeNode) -> NumberNode:
        return self._bits(operator.or_, other)

    def bitwise_xor(self, other: SizeNode) -> NumberNode:
        return self._bits(operator.xor, other)

    def _compared(self, relation: Any, other: SizeNode) -> TruthNode:
        return TruthNode(Comparison(relation, self.dim, other.dim), self.run)

    def _is_dense(self, sizes: Sequence[NumberNode], strides: Sequence[NumberNode]) -> NumberNode:
        # Memory layouts are not followed: every tensor without data counts as contiguous.
        return TruthNode(TRUE, self.run)

    is_contiguous = is_non_overlapping_and_dense = _is_dense

    def _is_other(self, sizes: Sequence[NumberNode], strides: Sequence[NumberNode]) -> NumberNode:
        return TruthNode(FALSE, self.run)

    is_channels_last_contiguous_2d = is_channels_last_contiguous_3d = _is_other
    is_channels_last_strides_2d = is_channels_last_strides_3d = _is_other


def symint(dim: Dim, run: NumberRun) -> Any:
    """Return a dimension as an integer that torch computes with: a number, or a `torch.SymInt`."""
    return dim if isinstance(dim, int) else load_torch().SymInt(SizeNode(dim, run))


def dimension_of(value: Any) -> Dim | None:
    """Return an integer of torch or Python as a dimension; None for anything else."""
    if isinstance(value, load_torch().SymInt):
        node = value.node
        return node.dim if isinstance(node, SizeNode) else None
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


class RealNode(OrderedNode):
    """A real number: a quotient of sizes, or one that data decide; ``constant`` is its value if it is a number."""

    kind = "float"

    def __init__(self, ratio: SizeRatio, run: NumberRun, number: float | None = None) -> None:
        super().__init__(run)
        self.ratio, self.constant = ratio, number

    def maybe_as_float(self) -> float | None:  # type: ignore[override]
        return self.constant

    def str(self) -> builtins.str:
        return "a number" if self.ratio is UNKNOWN_REAL else f"{self.ratio.above}/{self.ratio.below}"

    @property
    def _is_known(self) -> bool:
        return self.ratio is not UNKNOWN_REAL

    def _of(self, exact: Callable[[SizeRatio, SizeRatio], SizeRatio], other: RealNode) -> NumberNode:
        if self.constant is not None and other.constant is not None:
            return self.run.give_up("a real number of two others")
        known = all(n._is_known and is_exact(n.ratio) for n in (self, other))
        return RealNode(exact(self.ratio, other.ratio) if known else UNKNOWN_REAL, self.run)

    def add(self, other: RealNode) -> NumberNode:
        return self._of(lambda a, b: SizeRatio(add(multiply(a.above, b.below), multiply(b.above, a.below)),
                                           multiply(a.below, b.below)), other)  # fmt: skip

    def sub(self, other: RealNode) -> NumberNode:
        return self._of(lambda a, b: SizeRatio(subtract(multiply(a.above, b.below), multiply(b.above, a.below)),
                                           multiply(a.below, b.below)), other)  # fmt: skip

    def mul(self, other: RealNode) -> NumberNode:
        return self._of(lambda a, b: SizeRatio(multiply(a.above, b.above), multiply(a.below, b.below)), other)

    def float_truediv(self, other: RealNode) -> NumberNode:
        if other._is_known and self.run.ask(equal(other.ratio.above, 0)):
            raise ZeroDivisionError("float division by zero")
        return self._of(lambda a, b: SizeRatio(multiply(a.above, b.below), multiply(a.below, b.above)), other)

    truediv = float_truediv

    def float_pow(self, other: RealNode) -> NumberNode:
        return RealNode(UNKNOWN_REAL, self.run)

    pow = mod = int_floordiv = floordiv = float_pow

    def neg(self) -> NumberNode:
        return RealNode(
            SizeRatio(subtract(0, self.ratio.above), self.ratio.below) if self._is_known else UNKNOWN_REAL, self.run
        )

    def abs(self) -> NumberNode:
        return RealNode(UNKNOWN_REAL, self.run)

    def pos(self) -> NumberNode:
        return self

    sym_float = pos

    def _whole(self) -> tuple[Dim, Dim]:
        if not self._has_positive_divisor():
            self.run.give_up("a real number that data decide becomes an integer")
        return self.ratio.above, self.ratio.below

    def floor(self) -> NumberNode:
        return SizeNode(floor_divide(*self._whole()), self.run)

    def ceil(self) -> NumberNode:
        above, below = self._whole()
        # ceil(a / b) is -floor(-a / b).
        return SizeNode(subtract(0, floor_divide(subtract(0, above), below)), self.run)

    def trunc(self) -> NumberNode:
        above, below = self._whole()
        if not self.run.ask(Comparison("<=", 0, above)):
            return self.ceil()
        return SizeNode(floor_divide(above, below), self.run)

    sym_int = trunc

    def is_integer(self) -> NumberNode:
        above, below = self._whole()
        return TruthNode(equal(modulo(above, below), 0), self.run)

    def round(self, digits: int | None = None) -> NumberNode:
        self.run.give_up("a real number is rounded to the nearest")

    def guard_float(self, file: builtins.str, line: int) -> float:
        if not self._is_known:
            self.run.give_up("a real number that data decide is needed as a number")
        return self.run.number(self.ratio.above) / self.run.number(self.ratio.below)

    def int_(self) -> int:
        return int(self.guard_float("", 0))

    def _has_positive_divisor(self) -> bool:
        return self._is_known and self.run.is_known(Comparison("<=", 1, self.ratio.below)) is True

    def _compared(self, relation: Any, other: RealNode) -> TruthNode:
        a, b = self.ratio, other.ratio
        # Multiplying out keeps the relation only for divisors above 0.
        if not (self._has_positive_divisor() and other._has_positive_divisor()):
            return TruthNode(self.run.is_true_for_data(), self.run)
        return TruthNode(Comparison(relation, multiply(a.above, b.below), multiply(b.above, a.below)), self.run)

    def sym_min(self, other: RealNode) -> NumberNode:
        return self if self.le(other).bool_() else other

    def sym_max(self, other: RealNode) -> NumberNode:
        return other if self.le(other).bool_() else self
