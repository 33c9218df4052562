"""The argument of shape functions: knowledge about sizes, methods that state requirements, shapes of operands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeAlias

from symbcast.core.algebra.arithmetic import floor_divide, modulo, subtract
from symbcast.core.algebra.bounds import Bounds
from symbcast.core.algebra.formulas import (
    FALSE,
    TRUE,
    AllOf,
    AnyOf,
    Comparison,
    Compatible,
    Formula,
    all_of,
    any_of,
    at_most,
    definedness,
    equal,
    holds,
)
from symbcast.core.algebra.terms import Dim
from symbcast.core.text.printing import dim_text

Dims: TypeAlias = "tuple[Dim, ...]"

TWICE = "no axis may be named twice"


class Context(ABC):
    """One operation of a program, as a shape function sees it.

    A shape function states its requirements with `equal`, `at_most`, `is_size`, `require` and `broadcast`, each with a
    reason for users: a clause that says what must hold, such as ``"the inner sizes must be equal"``. It refuses errors
    that no sizes could fix, such as a wrong rank.

    Attributes:
        bounds: known lower bounds of sizes.
    """

    bounds: Bounds

    @abstractmethod
    def require(self, formula: Formula, reason: str) -> None:
        """Require that a formula hold."""

    @abstractmethod
    def refuse(self, reason: str) -> NoReturn:
        """Report that the operation is valid at no sizes, because of its ranks or attributes, and abort it."""

    def refuse_if(self, is_wrong: object, reason: str) -> None:
        """Refuse the operation if its ranks or attributes are wrong."""
        if is_wrong:
            self.refuse(reason)

    @abstractmethod
    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        """Broadcast shapes by one of the project's rules, and return the output."""

    def equal(self, left: Dim, right: Dim, reason: str) -> None:
        """Require that two sizes be equal."""
        if left is not right and left != right:
            self.require(equal(left, right), reason)

    def at_most(self, left: Dim, right: Dim, reason: str) -> None:
        """Require that one size be at most another."""
        if not self.bounds.is_at_most(left, right):
            self.require(at_most(left, right), reason)

    def one_of(self, size: Dim, allowed: Iterable[Dim], reason: str) -> None:
        """Require that a size be one of the allowed ones."""
        self.require(any_of(equal(size, a) for a in allowed), reason)

    def divide(self, size: Dim, count: Dim, reason: str) -> Dim:
        """Require that a size be a multiple of a count, and return the quotient."""
        self.require(equal(modulo(size, count), 0), reason)
        return floor_divide(size, count)

    def same_shape(self, dims: Dims, expected: Dims, reason: str) -> None:
        """Require that two tensors have the same shape."""
        if len(dims) != len(expected):
            self.refuse(reason)
        for left, right in zip(dims, expected, strict=True):
            self.equal(left, right, reason)

    def is_size(self, dim: Dim, reason: str) -> None:
        """Require that a dimension be defined and not negative."""
        needs = ([] if dim >= 0 else [FALSE]) if isinstance(dim, int) else definedness(dim)
        for need in needs:
            self.require(need, reason)

    def are_sizes(self, dims: Iterable[Dim], reason: str) -> None:
        """Require that each dimension be defined and not negative."""
        for dim in dims:
            self.is_size(dim, reason)

    def filled(self, dims: Iterable[Dim], reason: str) -> None:
        """Require that no size be 0."""
        for dim in dims:
            self.at_most(1, dim, reason)

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail; None if that depends on the sizes."""
        value = evaluated(formula)
        return True if value == TRUE else False if value == FALSE else None

    def is_positive(self, dims: Iterable[Dim]) -> bool:
        """Return whether all sizes are known to be at least 1."""
        return all(self.bounds.is_at_least(d, 1) for d in dims)

    def empty(self, dims: Iterable[Dim]) -> Formula:
        """Return the condition that one of the given sizes is 0."""
        return any_of(equal(d, 0) for d in dims if not self.bounds.is_at_least(d, 1))

    def axis(self, axis: int, rank: int) -> int:
        """Return an axis counted from the front; refuse one that is out of range."""
        if not -rank <= axis < rank:
            counted = f"{rank} {'axis' if rank == 1 else 'axes'}"
            self.refuse(f"axis {axis} is out of range for {counted}{f' ({-rank} to {rank - 1})' if rank else ''}")
        return axis % rank if rank else 0

    def distinct_axes(self, axes: Iterable[int], rank: int, reason: str) -> list[int]:
        """Return axes counted from the front; refuse an axis that is named twice, for the given reason."""
        counted = [self.axis(a, rank) for a in axes]
        if len(set(counted)) < len(counted):
            self.refuse(reason)
        return counted


def evaluated(formula: Formula) -> Formula:
    """Return a formula in which comparisons of numbers, and of a size with itself, are evaluated.

    >>> from symbcast.core.algebra.symbols import symbol
    >>> N = symbol("N")
    >>> evaluated(at_most(N, N + 1)) == TRUE, evaluated(Compatible((N, 1, N))) == TRUE, evaluated(equal(N, 1))
    (True, True, Comparison('==', N, 1))
    """
    match formula:
        case Comparison(operator, left, right):
            if isinstance(left, int) and isinstance(right, int):
                return TRUE if holds(formula) else FALSE
            difference = subtract(right, left)
            return evaluated(Comparison(operator, 0, difference)) if isinstance(difference, int) else formula
        case AllOf(parts):
            return all_of(map(evaluated, parts))
        case AnyOf(parts):
            return any_of(map(evaluated, parts))
        case Compatible(dims):
            sizes = {d for d in dims if d != 1}
            if len(sizes) < 2:
                return TRUE
            return FALSE if len([d for d in sizes if isinstance(d, int)]) > 1 else formula
        case _:
            return formula


# Shapes that an operand must have: weights, states, caches and masks.


class OptionalOperand(NamedTuple):
    """An optional operand: its name, and its shape if known."""

    name: str
    dims: Dims | None


def expect_shape(context: Context, what: str, dims: Dims | None, expected: Sequence[Dim | None]) -> None:
    """Require that an operand, if known, have the given shape; None means any size."""
    if dims is None:
        return
    if len(dims) != len(expected):
        context.refuse(f"{what} must have rank {len(expected)}, but has {len(dims)}")
    for axis, (size, target) in enumerate(zip(dims, expected, strict=True)):
        if target is not None:
            context.equal(size, target, f"axis {axis} of {what} must be {dim_text(target)}")


def expect_one_of(context: Context, what: str, dims: Dims | None, allowed: Sequence[Dims], reason: str) -> None:
    """Require that an operand, if known, have one of the allowed shapes."""
    if dims is None:
        return
    shapes = [shape for shape in allowed if len(shape) == len(dims)]
    if not shapes:
        ranks = ", ".join(str(n) for n in sorted({len(shape) for shape in allowed}))
        context.refuse(f"the rank of {what} must be one of {ranks}, and is {len(dims)}")
    context.require(any_of(all_of(map(equal, dims, shape)) for shape in shapes), reason)
