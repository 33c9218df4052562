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

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, modulo, multiply, subtract
from symbcast.core.algebra.formulas import FALSE, TRUE, Comparison, Formula, all_of, any_of, equal, negate
from symbcast.core.algebra.terms import Dim
from symbcast.core.text.notation import formula_text
from symbcast.operators.values.contents import SizeRatio
from symbcast.torch.calls import DIVISIONS, INTEGER_FUNCTIONS, is_exact, product_of
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


def _always(value: Any) -> Callable[..., Any]:
    return lambda node, *_: value


def _itself(node: NumberNode, *_: Any) -> NumberNode:
    return node


def _says(formula: Formula) -> Callable[..., NumberNode]:
    return lambda node, *_: TruthNode(formula, node.run)


class NumberNode:
    """What all three kinds have in common; ``run`` is the run that they belong to."""

    expr = _hint = None  # torch's Python code looks for its own expression and for an example's value

    def __init__(self, run: NumberRun) -> None:
        self.run = run

    is_symbolic = _always(True)
    # A hint is the number of an example: torch would decide by it, without a question to the run.
    is_int = is_bool = is_float = is_nested_int = is_constant = has_hint = _always(False)
    nested_int = maybe_as_int = maybe_as_float = maybe_as_bool = constant_int = constant_bool = _always(None)
    clone = _itself

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

    # Torch's own drawings of graphs ask for the last one.
    __repr__ = _graph_repr = __str__


class TruthNode(NumberNode):
    """A boolean: a formula about sizes."""

    is_bool = _always(True)

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


def _computed(name: str) -> Callable[..., NumberNode]:
    def computed(node: SizeNode, *others: SizeNode) -> NumberNode:
        if name in DIVISIONS:
            others[0].refuse_zero("integer division or modulo by zero")
        return SizeNode(INTEGER_FUNCTIONS[name](node.dim, *(n.dim for n in others)), node.run)

    return computed


def _of_bits(function: Callable[[int, int], int]) -> Callable[..., NumberNode]:
    return lambda node, other: SizeNode(function(node.run.number(node.dim), node.run.number(other.dim)), node.run)


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

    is_int = _always(True)

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

    add, sub, mul, neg, sym_max, sym_min = map(_computed, ("add", "sub", "mul", "neg", "max", "min"))
    int_floordiv = floordiv = _computed("floordiv")
    mod = _computed("mod")

    def refuse_zero(self, text: builtins.str) -> None:
        if self.run.ask(equal(self.dim, 0)):
            raise ZeroDivisionError(text)

    def int_truediv(self, other: SizeNode) -> NumberNode:
        other.refuse_zero("integer division or modulo by zero")
        return RealNode(SizeRatio(self.dim, other.dim), self.run)

    truediv = int_truediv

    def pow_by_natural(self, other: SizeNode) -> NumberNode:
        return SizeNode(multiply(*[self.dim] * self.run.number(other.dim)), self.run)

    pow = pow_by_natural

    def abs(self) -> NumberNode:
        return SizeNode(maximum((self.dim, subtract(0, self.dim))), self.run)

    pos = sym_int = ceil = floor = trunc = round = _itself

    def sym_float(self) -> NumberNode:
        return RealNode(SizeRatio(self.dim, 1), self.run)

    def sym_sum(self, nodes: Sequence[SizeNode]) -> NumberNode:
        return SizeNode(add(*(n.dim for n in nodes)), self.run)

    def lshift(self, other: SizeNode) -> NumberNode:
        return SizeNode(multiply(self.dim, 1 << self.run.number(other.dim)), self.run)

    def rshift(self, other: SizeNode) -> NumberNode:
        return SizeNode(floor_divide(self.dim, 1 << self.run.number(other.dim)), self.run)

    def bitwise_and(self, other: SizeNode) -> NumberNode:
        mask = other.dim
        # n & (2**k - 1) is n % 2**k for every integer n.
        if isinstance(mask, int) and mask > 0 and mask & (mask + 1) == 0:
            return SizeNode(modulo(self.dim, mask + 1), self.run)
        return _of_bits(operator.and_)(self, other)

    bitwise_or, bitwise_xor = map(_of_bits, (operator.or_, operator.xor))

    def _compared(self, relation: Any, other: SizeNode) -> TruthNode:
        return TruthNode(Comparison(relation, self.dim, other.dim), self.run)

    # Memory layouts are not followed: every tensor without data counts as contiguous.
    is_integer = is_contiguous = is_non_overlapping_and_dense = _says(TRUE)
    is_channels_last_contiguous_2d = is_channels_last_contiguous_3d = _says(FALSE)
    is_channels_last_strides_2d = is_channels_last_strides_3d = _says(FALSE)


def symint(dim: Dim, run: NumberRun) -> Any:
    """Return a dimension as an integer that torch computes with: a number, or a `torch.SymInt`."""
    return dim if isinstance(dim, int) else load_torch().SymInt(SizeNode(dim, run))


def dimension_of(value: Any) -> Dim | None:
    """Return an integer of torch or Python as a dimension; None for anything else."""
    if isinstance(value, load_torch().SymInt):
        node = value.node
        return node.dim if isinstance(node, SizeNode) else None
    return int(value) if isinstance(value, int) and not isinstance(value, bool) else None


def _of_ratios(exact: Callable[[SizeRatio, SizeRatio], SizeRatio]) -> Callable[..., NumberNode]:
    def computed(node: RealNode, other: RealNode) -> NumberNode:
        if node.constant is not None and other.constant is not None:
            return node.run.give_up("a real number of two others")
        is_known = all(n._is_known and is_exact(n.ratio) for n in (node, other))
        return RealNode(exact(node.ratio, other.ratio) if is_known else UNKNOWN_REAL, node.run)

    return computed


def _of_sum(function: Callable[[Dim, Dim], Dim]) -> Callable[..., NumberNode]:
    def added(a: SizeRatio, b: SizeRatio) -> SizeRatio:
        return SizeRatio(function(multiply(a.above, b.below), multiply(b.above, a.below)), multiply(a.below, b.below))

    return _of_ratios(added)


class RealNode(OrderedNode):
    """A real number: a quotient of sizes, or one that data decide; ``constant`` is its value if it is a number."""

    is_float = _always(True)

    def __init__(self, ratio: SizeRatio, run: NumberRun, number: float | None = None) -> None:
        super().__init__(run)
        self.ratio, self.constant = ratio, number

    def maybe_as_float(self) -> float | None:
        return self.constant

    def str(self) -> builtins.str:
        return "a number" if self.ratio is UNKNOWN_REAL else f"{self.ratio.above}/{self.ratio.below}"

    @property
    def _is_known(self) -> bool:
        return self.ratio is not UNKNOWN_REAL

    add, sub = _of_sum(add), _of_sum(subtract)
    mul = _of_ratios(product_of)

    def float_truediv(self, other: RealNode) -> NumberNode:
        if other._is_known and self.run.ask(equal(other.ratio.above, 0)):
            raise ZeroDivisionError("float division by zero")
        return _of_ratios(lambda a, b: product_of(a, SizeRatio(b.below, b.above)))(self, other)

    truediv = float_truediv

    def float_pow(self, *_: RealNode) -> NumberNode:
        return RealNode(UNKNOWN_REAL, self.run)

    pow = mod = int_floordiv = floordiv = abs = float_pow

    def neg(self) -> NumberNode:
        return RealNode(
            SizeRatio(subtract(0, self.ratio.above), self.ratio.below) if self._is_known else UNKNOWN_REAL, self.run
        )

    pos = sym_float = _itself

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
