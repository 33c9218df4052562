"""Apply operators to known elements: integers, real numbers and truth values, some of them symbolic.

Every step returns None if its result is not known exactly. The runtime's integer division rounds towards zero, its
floats round, and its integers wrap around; results that could be affected are treated as unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from math import isqrt
from typing import Protocol, TypeAlias

from symbcast.core.algebra import formulas
from symbcast.core.algebra.arithmetic import add, ceil_divide, floor_divide, modulo, multiply
from symbcast.core.algebra.bounds import Bounds, exact_quotient
from symbcast.core.algebra.formulas import FALSE, FORMULA_KINDS, TRUE, Comparison, Formula, Operator
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.operators.values.contents import (
    BOOL,
    INTEGERS,
    Element,
    SizeRatio,
    as_ratio,
    as_represented,
    is_power_of_two,
    is_rounded,
    is_size,
    ratio,
)


class KnownSizes(Protocol):
    """What is known about the sizes of a model, and a way to define a size by cases.

    Attributes:
        bounds: known lower bounds of sizes.
    """

    bounds: Bounds

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, using only numbers and bounds."""

    def by_cases(self, name: str, text: str, chosen: Formula, yes: Dim, no: Dim) -> Symbol:
        """Return a size that equals one dimension if a formula holds, and another if it does not."""


Unary: TypeAlias = "Callable[[Bounds, Element], Element]"
Binary: TypeAlias = "Callable[[KnownSizes, int, Element, Element], Element]"

_REALS = frozenset({1, 10, 11, 16})


def truth(element: Element) -> Formula | None:
    """Return a truth value as a formula."""
    if isinstance(element, FORMULA_KINDS):
        return element
    return (TRUE if element else FALSE) if isinstance(element, int) else None


def _known(known: KnownSizes, formula: Formula) -> Element:
    """Return a formula as 0 or 1 if bounds decide it, else unchanged."""
    value = known.is_known(formula)
    return formula if value is None else int(value)


# Of two elements.


def _in_type(step: Binary) -> Binary:
    """Wrap a step so that its result is None if the element type may not represent it exactly."""

    @wraps(step)
    def held_step(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
        return as_represented(step(known, dtype, a, b), dtype, known.bounds)

    return held_step


@_in_type
def _add(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    if is_size(a) and is_size(b):
        return add(a, b)
    x, y = as_ratio(a), as_ratio(b)
    if x is None or y is None or (is_rounded(x) and is_rounded(y)):
        return None
    return ratio(add(multiply(x.above, y.below), multiply(y.above, x.below)), multiply(x.below, y.below))


def _subtract(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    y = as_ratio(b)
    return None if y is None else _add(known, dtype, a, ratio(multiply(-1, y.above), y.below))


@_in_type
def _multiply(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    if is_size(a) and is_size(b):
        return multiply(a, b)
    x, y = as_ratio(a), as_ratio(b)
    if x is None or y is None or (is_rounded(x) and not _shifts(y)) or (is_rounded(y) and not _shifts(x)):
        return None
    return ratio(multiply(x.above, y.above), multiply(x.below, y.below))


def _shifts(number: SizeRatio) -> bool:
    """Return whether multiplying floats by a number involves no rounding."""
    return is_power_of_two(number.above) and not is_rounded(number)


@_in_type
def _divide(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    x, y = as_ratio(a), as_ratio(b)
    if x is None or y is None or not known.bounds.is_at_least(y.above, 1):
        return None
    if dtype not in INTEGERS:
        if is_rounded(y) or (is_rounded(x) and not _shifts(y)):
            return None
        return ratio(multiply(x.above, y.below), multiply(x.below, y.above))
    return quotient_towards_zero(known.bounds, x.above, y.above)


def quotient_towards_zero(bounds: Bounds, above: Dim, below: Dim) -> Dim:
    """Return a quotient rounded towards zero; the divisor is positive."""
    whole = exact_quotient((above,), (below,))
    if whole is not None:
        return whole
    if bounds.is_at_least(above, 0):
        return floor_divide(above, below)
    # One of the two quotients is 0: a negative one rounds up, a positive one down.
    negative = ceil_divide(bounds.smaller(above, 0), below)
    return add(floor_divide(bounds.larger(above, 0), below), negative)


def _modulo(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    if not (is_size(a) and is_size(b)) or dtype not in INTEGERS:
        return None
    return modulo(a, b) if known.bounds.is_at_least(b, 1) else None


@_in_type
def _power(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    x = as_ratio(a)
    if b == SizeRatio(1, 2):
        return _square_root(known.bounds, a)
    if x is None or not isinstance(b, int) or not 0 <= b <= _MAX_EXPONENT or (is_rounded(x) and b > 1):
        return None
    return ratio(multiply(*[x.above] * b), multiply(*[x.below] * b))


_MAX_EXPONENT = 8


def _comparing(operator: Operator, exchanged: bool = False) -> Binary:
    def compare(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
        if operator == "==" and (isinstance(a, FORMULA_KINDS) or isinstance(b, FORMULA_KINDS)):
            return _same_truth(known, a, b)
        x, y = as_ratio(a), as_ratio(b)
        if x is None or y is None:
            return None
        left, right = multiply(x.above, y.below), multiply(y.above, x.below)
        # Formulas have only < and <=, so that a > b is b < a.
        if exchanged:
            left, right = right, left
        return _known(known, Comparison(operator, left, right))

    return compare


def _same_truth(known: KnownSizes, a: Element, b: Element) -> Element:
    p, q = truth(a), truth(b)
    if p is None or q is None:
        return None
    return _known(
        known, formulas.any_of([formulas.all_of([p, q]), formulas.all_of([formulas.negate(p), formulas.negate(q)])])
    )


def _and(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    p, q = truth(a), truth(b)
    # One that is false decides, even beside one that is unknown.
    if FALSE in (p, q):
        return 0
    return None if p is None or q is None else _known(known, formulas.all_of([p, q]))


def _or(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    p, q = truth(a), truth(b)
    # One that is true decides, even beside one that is unknown.
    if TRUE in (p, q):
        return 1
    return None if p is None or q is None else _known(known, formulas.any_of([p, q]))


def _xor(known: KnownSizes, dtype: int, a: Element, b: Element) -> Element:
    q = truth(b)
    return None if q is None else _same_truth(known, a, formulas.negate(q))


BINARY: Mapping[str, Binary] = {
    "Add": _add,
    "And": _and,
    "Div": _divide,
    "Equal": _comparing("=="),
    "Greater": _comparing("<", exchanged=True),
    "GreaterOrEqual": _comparing("<=", exchanged=True),
    "Less": _comparing("<"),
    "LessOrEqual": _comparing("<="),
    "Max": lambda known, _, a, b: known.bounds.larger(a, b) if is_size(a) and is_size(b) else None,
    "Min": lambda known, _, a, b: known.bounds.smaller(a, b) if is_size(a) and is_size(b) else None,
    "Mod": _modulo,
    "Mul": _multiply,
    "Or": _or,
    "Pow": _power,
    "Sub": _subtract,
    "Xor": _xor,
}


def selected(known: KnownSizes, name: str, condition: Element, yes: Element, no: Element) -> Element:
    """Select one element or the other by a truth value; if sizes decide it, return a size by cases called ``name``."""
    chosen = truth(condition)
    if chosen == TRUE:
        return yes
    if chosen == FALSE:
        return no
    if yes is None or yes == no:
        return yes if yes == no else None
    if chosen is None or not is_size(yes) or not is_size(no):
        return None
    # A size by cases is never negative.
    if not (known.bounds.is_at_least(yes, 0) and known.bounds.is_at_least(no, 0)):
        return None
    return known.by_cases(name, f"an element of {name}, depending on which value it is taken from", chosen, yes, no)


# Of one element.


def _negate(bounds: Bounds, a: Element) -> Element:
    x = as_ratio(a)
    return None if x is None else ratio(multiply(-1, x.above), x.below)


def _absolute(bounds: Bounds, a: Element) -> Element:
    x = as_ratio(a)
    if x is None:
        return None
    if bounds.is_at_least(x.above, 0):
        return a
    if bounds.is_at_most(x.above, 0):
        return _negate(bounds, a)
    return bounds.larger(a, multiply(-1, a)) if is_size(a) else None


def _square_root(bounds: Bounds, a: Element) -> Element:
    if isinstance(a, int) and a >= 0 and isqrt(a) ** 2 == a:
        return isqrt(a)
    return None


def _sign(bounds: Bounds, a: Element) -> Element:
    x = as_ratio(a)
    if x is None:
        return None
    if bounds.is_at_least(x.above, 0):
        return bounds.smaller(x.above, 1)
    return bounds.larger(x.above, -1) if bounds.is_at_most(x.above, 0) else None


def _not(bounds: Bounds, a: Element) -> Element:
    formula = truth(a)
    if formula in (TRUE, FALSE):
        return int(formula == FALSE)
    return None if formula is None else formulas.negate(formula)


UNARY: Mapping[str, Unary] = {
    "Abs": _absolute,
    "Ceil": lambda _, a: ceil_divide(a.above, a.below) if isinstance(a, SizeRatio) else a,
    "Floor": lambda _, a: floor_divide(a.above, a.below) if isinstance(a, SizeRatio) else a,
    "Neg": _negate,
    "Not": _not,
    "Relu": lambda bounds, a: bounds.larger(a, 0) if is_size(a) else None,
    "Round": lambda _, a: a if is_size(a) else None,
    "Sign": _sign,
    "Sqrt": _square_root,
}


def cast_element(element: Element, to: int, known: KnownSizes) -> Element:
    """Return an element cast to another type."""
    if isinstance(element, FORMULA_KINDS):
        return element if to == BOOL else None
    if to == BOOL:
        x = as_ratio(element)
        return None if x is None else _known(known, formulas.different(x.above, 0))
    if to in INTEGERS:
        if isinstance(element, SizeRatio):
            element = quotient_towards_zero(known.bounds, element.above, element.below)
        return as_represented(element, to, known.bounds)
    return as_represented(element, to, known.bounds) if to in _REALS else None
