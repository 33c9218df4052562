"""Which arrays have the same elements, and how numbers of true elements are related: the values of a path, numbered.

Equal numbers are equal elements in the same order: the same operation on the same operands. A mask is read as a formula
over *subjects*: each element of a subject is some real number, or NaN, independent of those of others, and a mask says
for each whether it is true. So masks over common subjects part the elements: into those where two masks are
true, where only one is, and so on. Each part that some elements can be in has a size, and the number of true elements
of a mask is the sum of the sizes of its parts: one more symbol is made only where a mask divides a part. Masks that are
equal have one number of true elements, those of complements add up to all, and of disjoint ones to at most all.

A single boolean is a mask with one element. Conditions on all or any elements, or on an extreme, become conditions on
these numbers, and single integers are compared as sizes.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from symbcast.arrays.array_facts import IntegerSpan
from symbcast.core.algebra import arithmetic
from symbcast.core.algebra.formulas import Comparison, Formula, all_of, any_of, at_most, different, equal, negate
from symbcast.core.algebra.terms import Dim
from symbcast.operators.operator import Dims
from symbcast.paths.path import Path
from symbcast.paths.sizes import Size

# How many combinations of what elements may be are looked at; masks of more are not related to others.
MAX_SAMPLES = 512
# Larger numbers have no floats just beside them.
_MOST = 1e15
_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}
_TURNED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}
_NOT = ("logical_not", "invert")
_AND, _OR, _XOR = ("logical_and", "bitwise_and"), ("logical_or", "bitwise_or"), ("logical_xor", "bitwise_xor")
_ABOVE_ZERO = ("absolute", "fabs", "square", "sqrt", "exp", "exp2")
# Of these, the results for finite operands are never NaN.
_NEVER_NAN = ("add", "subtract", "multiply", "square", "absolute", "negative", "minimum", "maximum", "positive", "sign")
_KEEPS = ("maximum.reduce", "minimum.reduce", "index", "moved")

_COMPUTED: dict[str, Callable[..., Dim]] = {
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "negative": lambda a: arithmetic.multiply(-1, a),
}

Assignment = dict[Hashable, Any]


class Value:
    """What is known about the elements of a number.

    Attributes:
        key: the operation and its operands: numbers of arrays, and constants as ``("constant", c)``.
        dims: the shape of its arrays.
        kind: the kind of their dtype.
        joins: the joins that led to the elements.
        span: bounds of the elements, for integers.
        integer: the only element as a size, once it is known.
        count: the number of true elements, once it was requested.
        is_asked: whether code asked for the truth of the only element.
    """

    __slots__ = ("count", "dims", "integer", "is_asked", "joins", "key", "kind", "span")

    def __init__(self, key: tuple[Any, ...], dims: Dims, kind: str, joins: tuple[Any, ...]) -> None:
        self.key, self.dims, self.kind, self.joins = key, dims, kind, joins
        self.span: IntegerSpan | None = None
        self.integer: Dim | None = None
        self.count: Dim | None = None
        self.is_asked = False


class _Parts:
    """A division of elements by masks over common subjects: how many elements there are where which masks are true."""

    def __init__(self, size: Dim) -> None:
        self.size = size
        self.masks: list[int] = []
        self.subjects: set[Hashable] = set()
        self.sizes: dict[tuple[bool, ...], Dim] = {(): size}


class Numbering:
    """The numbers of the values of one path."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.values: list[Value] = []
        self._numbers: dict[Hashable, int] = {}
        self._parts: list[_Parts] = []

    def number(self, key: tuple[Any, ...], dims: Dims, kind: str, joins: tuple[Any, ...] = ()) -> int:
        """Return the number of an operation on operands."""
        whole = (key, dims, kind)
        if whole not in self._numbers:
            self._numbers[whole] = len(self.values)
            self.values.append(Value(key, dims, kind, joins))
        return self._numbers[whole]

    def new(self, dims: Dims, kind: str, joins: tuple[Any, ...] = ()) -> int:
        """Return the number of elements that are like no others."""
        return self.number(("new", len(self.values)), dims, kind, joins)

    def elementwise(
        self, name: str, operands: Sequence[Any], dims: Dims, kind: str, joins: tuple[Any, ...] = ()
    ) -> int:
        """Return the number of a result; what is computed of reordered elements is what is computed, reordered."""
        moves = {self.values[n].key[1] if self.values[n].key[0] == "moved" else None for n in self._arrays(operands)}
        serial = moves.pop() if len(moves) == 1 else None
        if serial is None:
            return self.number((name, *operands), dims, kind, joins)
        inner = [self.values[n].key[2] if n in self._arrays(operands) else n for n in operands]
        shape = self.values[next(self._arrays(inner))].dims
        return self.moved(self.elementwise(name, inner, shape, kind, joins), dims, serial)

    def moved(self, number: int, dims: Dims, serial: Any = None) -> int:
        """Return the number of reordered elements."""
        value = self.values[number]
        serial = (len(self.values), dims) if serial is None else serial
        return self.number(("moved", serial, number), dims, value.kind, value.joins)

    def _arrays(self, operands: Sequence[Any]) -> Iterator[int]:
        return (n for n in operands if isinstance(n, int) and self.values[n].dims)

    # Numbers of true elements.

    def mask(self, number: int) -> int:
        """Return the number of a mask of the elements that are not zero."""
        value = self.values[number]
        if value.kind == "b":
            return number
        return self.elementwise("not_equal", (number, ("constant", 0)), value.dims, "b", value.joins)

    def count(self, number: int) -> Dim:
        """Return the number of true elements of a mask."""
        value = self.values[number]
        if value.key[0] == "moved":
            return self.count(value.key[2])
        if value.count is None:
            value.count = self._counted(number)
        return value.count

    def _counted(self, number: int) -> Dim:
        value = self.values[number]
        size = arithmetic.multiply(*value.dims)
        subjects = set(self._subjects(number))
        related = [p for p in self._parts if not p.subjects.isdisjoint(subjects)]
        parts = related[0] if related else _Parts(size)
        for other in related[1:]:
            parts = self._merged(parts, other)
        masks, subjects = [*parts.masks, number], subjects | parts.subjects
        found = self._signatures(masks, subjects)
        if found is None or size != parts.size:
            return self._new_count(size, value)
        self._parts = [p for p in self._parts if p not in related]
        self._parts.append(parts)
        parts.masks, parts.subjects, before = masks, subjects, parts.sizes
        parts.sizes = {}
        for signature, here in before.items():
            can = [is_true for is_true in (True, False) if (*signature, is_true) in found]
            if len(can) == 2:
                true = self._new_count(here, value)
                parts.sizes |= {(*signature, True): true, (*signature, False): arithmetic.subtract(here, true)}
            else:
                parts.sizes |= {(*signature, is_true): here for is_true in can}
        true = arithmetic.add(*(s for signature, s in parts.sizes.items() if signature[-1]))
        if not value.dims:
            self._suppose_known(number, true)
        return true

    def _new_count(self, most: Dim, value: Value) -> Dim:
        count = self._new_symbol(value)
        if most != 1:
            self._path.suppose(at_most(count, most))
        return count

    def _new_symbol(self, value: Value) -> Dim:
        """Return a symbol for a number of true elements, or for a single boolean."""
        what, upper = ("count", None) if value.dims else ("data", 1)
        return self._path.data_size(what, 0, upper, value.joins)

    def _merged(self, one: _Parts, other: _Parts) -> _Parts:
        """Return the common division: what it must have of each part is known, but not how the parts overlap."""
        value = self.values[one.masks[-1]]
        merged = _Parts(one.size)
        merged.masks, merged.subjects = one.masks + other.masks, one.subjects | other.subjects
        merged.sizes = {}
        columns = list(other.sizes)
        left = dict(other.sizes)
        for row, (signature, here) in enumerate(one.sizes.items()):
            is_last, rest = row == len(one.sizes) - 1, here
            for column in columns:
                if is_last:
                    common = left[column]
                elif column == columns[-1]:
                    common = rest
                else:
                    common = self._new_symbol(value)
                merged.sizes[*signature, *column] = common
                rest = arithmetic.subtract(rest, common)
                left[column] = arithmetic.subtract(left[column], common)
        for common in merged.sizes.values():
            self._path.suppose(at_most(0, common))
        return merged

    def _signatures(self, masks: Sequence[int], subjects: set[Hashable]) -> set[tuple[bool, ...]] | None:
        """Return which masks can be true at once; None if that takes too long."""
        order = sorted(subjects, key=str)
        samples = [self._samples(s, masks) for s in order]
        if math.prod(map(len, samples)) > MAX_SAMPLES:
            return None
        points = (dict(zip(order, chosen, strict=True)) for chosen in product(*samples))
        return {tuple(self._holds(m, at) for m in masks) for at in points}

    # Masks as formulas over subjects.

    def _literal(self, number: int) -> tuple[str, Hashable, float] | None:
        """Return a comparison as its relation of a subject to a constant; None for any other mask."""
        name, *operands = self.values[number].key
        if name not in _RELATIONS or len(operands) != 2:
            return None
        left, right = operands
        if _is_constant(left):
            left, right, name = right, left, _TURNED.get(name, name)
        if isinstance(left, int) and _is_constant(right):
            return (name, left, right[1]) if self.values[left].dims == self.values[number].dims else None
        if left == right:
            return name, ("pair", left, right), 0
        if str(right) < str(left):
            left, right, name = right, left, _TURNED.get(name, name)
        return name, ("pair", left, right, self.values[number].dims), 0

    def _parts_of(self, number: int) -> tuple[int, ...] | None:
        """Return the masks that a mask combines; None if it combines none."""
        value = self.values[number]
        name, *operands = value.key
        if name not in (*_NOT, *_AND, *_OR, *_XOR):
            return None
        masks = [n for n in operands if isinstance(n, int)]
        is_plain = all(self.values[n].kind == "b" and self.values[n].dims == value.dims for n in masks)
        return tuple(masks) if is_plain and len(masks) == len(operands) else None

    def _subjects(self, number: int) -> Iterator[Hashable]:
        literal, inner = self._literal(number), self._parts_of(number)
        if literal is not None:
            yield literal[1]
        elif inner is None:
            yield number
        else:
            for mask in inner:
                yield from self._subjects(mask)

    def _holds(self, number: int, at: Assignment) -> bool:
        literal, inner, name = self._literal(number), self._parts_of(number), self.values[number].key[0]
        if literal is not None:
            return _RELATIONS[literal[0]](at[literal[1]], literal[2])
        if inner is None:
            return bool(at[number])
        known = [self._holds(n, at) for n in inner]
        if name in _NOT:
            return not known[0]
        return all(known) if name in _AND else any(known) if name in _OR else known[0] != known[1]

    def _constants(self, number: int, subject: Hashable) -> Iterator[float]:
        literal = self._literal(number)
        if literal is not None:
            if literal[1] == subject:
                yield literal[2]
        else:
            for mask in self._parts_of(number) or ():
                yield from self._constants(mask, subject)

    def _samples(self, subject: Hashable, masks: Sequence[int]) -> list[Any]:
        """Return numbers that stand for all that an element of a subject can be, as far as masks tell them apart."""
        if isinstance(subject, tuple):
            return self._signs(*subject[1:3])
        assert isinstance(subject, int)
        kind = self.values[subject].kind
        if kind == "b":
            return [False, True]
        constants = sorted({c for m in masks for c in self._constants(m, subject)} | {0})
        near: list[float] = [constants[0] - 1, *constants, constants[-1] + 1]
        if kind in "iu":
            near = [math.floor(near[0]), *(c for c in constants if c == int(c)), math.ceil(near[-1])]
            between: list[float] = [math.floor(a) + 1 for a, b in pairwise(constants) if math.floor(a) + 1 < b]
        else:
            between = [(a + b) / 2 for a, b in pairwise(constants)]
        samples = [s for s in (*near, *between) if s >= 0 or not self._is_above_zero(subject)]
        return samples + ([] if self._is_no_nan(subject) else [math.nan])

    def _signs(self, left: Hashable, right: Hashable) -> list[Any]:
        """Return the signs that ``left - right`` can have, and NaN."""
        nan = [] if self._is_no_nan(left) and self._is_no_nan(right) else [math.nan]
        if left == right:
            return [0, *nan]
        if self._is_at_most(left, right):
            return [-1, 0, *nan]
        return [0, 1, *nan] if self._is_at_most(right, left) else [-1, 0, 1, *nan]

    def _is_at_most(self, left: Hashable, right: Hashable) -> bool:
        """Return whether elements are extremes of the elements that others are taken from."""
        low, high = self._key(left), self._key(right)
        source_of = {"index": 1, "maximum.reduce": 1, "minimum.reduce": 1}
        of_low = left if low[0] not in source_of else low[1]
        of_high = right if high[0] not in source_of else high[1]
        return of_low == of_high and (low[0] == "minimum.reduce" or high[0] == "maximum.reduce")

    def _key(self, operand: Hashable) -> tuple[Any, ...]:
        return self.values[operand].key if isinstance(operand, int) else ("constant", operand)

    def _is_above_zero(self, number: Hashable) -> bool:
        name, *operands = self._key(number)
        if isinstance(number, int) and self.values[number].kind == "u":
            return True
        if name in _ABOVE_ZERO or (name == "power" and operands[-1] in (("constant", 2), ("constant", 4))):
            return True
        return name in (*_KEEPS, "add.reduce", "mean") and self._is_above_zero(operands[-1 if name == "moved" else 0])

    def _is_no_nan(self, number: Hashable) -> bool:
        """Return whether elements are no NaN; those of arguments are finite."""
        name, *operands = self._key(number)
        if not isinstance(number, int) or self.values[number].kind in "biu":
            return True
        if name in _KEEPS:
            return self._is_no_nan(operands[-1 if name == "moved" else 0])
        # Results for finite operands may be infinite, and then a difference is NaN.
        is_plain = all(self._key(n)[0] in ("argument", "index", "constant") for n in operands)
        return name == "argument" or (name in _NEVER_NAN and is_plain)

    # Single elements.

    def is_asked(self, number: int) -> bool:
        """Return whether code asked for the truth of a single element, or of what it is computed from."""
        inner = self._parts_of(number) or ()
        return self.values[number].is_asked or any(map(self.is_asked, inner))

    def truth(self, number: int) -> Formula:
        """Return the formula that a single element is true."""
        value = self.values[number]
        name, *operands = value.key
        if name in ("any", "all"):
            size, count = arithmetic.multiply(*self.values[operands[0]].dims), self.count(self.mask(operands[0]))
            return at_most(1, count) if name == "any" else equal(count, size)
        inner = self._parts_of(number)
        if inner is not None and name not in _XOR:
            known = [self.truth(n) for n in inner]
            return negate(known[0]) if name in _NOT else (all_of if name in _AND else any_of)(known)
        literal = self._literal(number)
        if literal is not None:
            left, right = map(self.integer, operands)
            if left is not None and right is not None:
                return _compared(name, left, right)
            relation, subject, limit = literal
            of_extreme = self._of_extreme(relation, subject, limit) if isinstance(subject, int) else None
            if of_extreme is not None:
                return of_extreme
        return equal(self.count(self.mask(number)), 1)

    def _of_extreme(self, name: str, subject: int, constant: float) -> Formula | None:
        """Return what a comparison of a maximum or minimum says of all elements."""
        which, *operands = self.values[subject].key
        # One boolean says it as well if no true elements of these were counted.
        if which not in ("maximum.reduce", "minimum.reduce") or not any(operands[0] in p.subjects for p in self._parts):
            return None
        if name in ("equal", "not_equal"):
            both = [self._of_extreme(n, subject, constant) for n in ("less_equal", "greater_equal")]
            whole = all_of(f for f in both if f is not None)
            return whole if name == "equal" else negate(whole)
        array = self.values[operands[0]]
        each = self.elementwise(name, (operands[0], ("constant", constant)), array.dims, "b", array.joins)
        is_any = name.startswith("greater") == (which == "maximum.reduce")
        count = self.count(each)
        return at_most(1, count) if is_any else equal(count, arithmetic.multiply(*array.dims))

    def integer(self, operand: Any) -> Dim | None:
        """Return a single integer as a size if it has one: a count, a size, a constant, what is computed of these."""
        if not isinstance(operand, int):
            is_known = operand[0] == "size" or (operand[0] == "constant" and type(operand[1]) is int)
            size: Dim = operand[1]
            return size if is_known else None
        value = self.values[operand]
        name, *operands = value.key
        if value.integer is None and not value.dims and value.kind in "iu":
            if name == "count":
                value.integer = self.count(operands[0])
            elif name in _COMPUTED:
                known = [d for d in map(self.integer, operands) if d is not None]
                is_linear = name != "multiply" or any(isinstance(d, int) for d in known)
                if len(known) == len(operands) and is_linear:
                    value.integer = _COMPUTED[name](*known)
            if value.integer is None and value.span is not None and self._path.bounds.is_at_least(value.span.low, 0):
                value.integer = self.any_integer(value)
        return value.integer

    def any_integer(self, value: Value) -> Dim:
        """Return a new integer that data decide, within the bounds of an element if these are not negative."""
        path, span = self._path, value.span
        if span is not None and span.low == span.high:
            return span.low
        first = path.data_size("integer", joins=value.joins)
        if span is None or not path.bounds.is_at_least(span.low, 0):
            return arithmetic.subtract(first, path.data_size("integer", joins=value.joins))
        path.suppose(at_most(span.low, first))
        path.suppose(at_most(first, span.high))
        return first

    def _suppose_known(self, number: int, true: Dim) -> None:
        """Suppose what is known of a single element where sizes decide it: the sum of nothing, one element twice."""
        literal = self._literal(number)
        if literal is None:
            return
        name, subject, constant = literal
        known: list[tuple[Formula, float]] = []
        if isinstance(subject, int):
            which, *operands = self.values[subject].key
            if which in ("add.reduce", "mean"):
                empty = equal(arithmetic.multiply(*self.values[operands[0]].dims), 0)
                known.append((empty, 0.0 if which == "add.reduce" else math.nan))
        elif isinstance(subject, tuple):
            left, right = map(self._key, subject[1:3])
            if left[0] == right[0] == "index" and left[1] == right[1]:
                places = zip(left[2][1:], right[2][1:], strict=True)
                known.append((all_of(equal(p[1], q[1]) for p, q in places), 0.0))
        for where, sample in known:
            is_true = int(_RELATIONS[name](sample, constant))
            self._path.suppose(any_of([negate(where), equal(true, is_true)]))


def _compared(name: str, left: Dim, right: Dim) -> Formula:
    match name:
        case "equal":
            return equal(left, right)
        case "not_equal":
            return different(left, right)
        case "less_equal" | "greater_equal":
            return at_most(left, right) if name == "less_equal" else at_most(right, left)
    return Comparison("<", left, right) if name == "less" else Comparison("<", right, left)


def _is_constant(operand: Any) -> bool:
    """Return whether an operand is a number that can be compared with others."""
    if not isinstance(operand, tuple) or operand[0] != "constant":
        return False
    return type(operand[1]) in (bool, int, float) and abs(operand[1]) < _MOST


def constant(value: Any) -> tuple[Any, ...] | None:
    """Return a number or a size as an operand; None for any other value."""
    if type(value) is Size:
        return "size", value.dim
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        value = value.item()
    if type(value) in (bool, int, float, complex, str) or value is None or value is Ellipsis:
        return "constant", value
    return None
