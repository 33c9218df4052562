"""What operators make of elements that are known: integers, real numbers and truth values, some of them symbolic.

Every step gives None where its outcome is not exactly known. The runtime's integer division rounds towards zero, and
its floats round; what that could change is not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product as combinations
from math import isqrt, prod
from typing import TYPE_CHECKING, TypeAlias

from symbcast.formulas import (
    FALSE,
    FORMULA_KINDS,
    TRUE,
    Comparison,
    Formula,
    Operator,
    all_of,
    any_of,
    different,
    negate,
)
from symbcast.onnx.contents import (
    MAX_ELEMENTS,
    Content,
    Element,
    Elements,
    Ramp,
    Ratio,
    as_ramp,
    as_ratio,
    is_size,
    listed,
    ratio,
)
from symbcast.onnx.sizes import add, ceil_divide, floor_divide, modulo, multiply
from symbcast.onnx.values import Dims, Value

if TYPE_CHECKING:
    from symbcast.dims import Dim
    from symbcast.onnx.asking import Asker
    from symbcast.onnx.sizes import Bounds

Unary: TypeAlias = "Callable[[Bounds, Element], Element]"
Binary: TypeAlias = "Callable[[Asker, int, Element, Element], Element]"

INTEGERS = frozenset({2, 3, 4, 5, 6, 7, 12, 13})
_REALS = frozenset({1, 11})
_SHORT_REALS = frozenset({10, 16})
_BOOL = 9
_EXACT_IN_SHORT = 2048


def truth(element: Element) -> Formula | None:
    """Return a truth value as a formula."""
    if isinstance(element, FORMULA_KINDS):
        return element
    return (TRUE if element else FALSE) if isinstance(element, int) else None


def _known(asker: Asker, formula: Formula) -> Element:
    """Return a formula as 0 or 1 where it is decided by bounds."""
    found = asker.is_known(formula)
    return formula if found is None else int(found)


# Of two elements.


def _add(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    if is_size(a) and is_size(b):
        return add(a, b)
    x, y = as_ratio(a), as_ratio(b)
    if x is None or y is None:
        return None
    return ratio(add(multiply(x.above, y.below), multiply(y.above, x.below)), multiply(x.below, y.below))


def _subtract(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    y = as_ratio(b)
    return None if y is None else _add(asker, dtype, a, ratio(multiply(-1, y.above), y.below))


def _multiply(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    if is_size(a) and is_size(b):
        return multiply(a, b)
    x, y = as_ratio(a), as_ratio(b)
    if x is None or y is None:
        return None
    return ratio(multiply(x.above, y.above), multiply(x.below, y.below))


def _divide(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    x, y = as_ratio(a), as_ratio(b)
    if x is None or y is None or not asker.bounds.is_at_least(y.above, 1):
        return None
    if dtype not in INTEGERS:
        return ratio(multiply(x.above, y.below), multiply(x.below, y.above))
    return _quotient_towards_zero(asker.bounds, x.above, y.above)


def _quotient_towards_zero(bounds: Bounds, above: Dim, below: Dim) -> Dim:
    """Return a quotient rounded towards zero; the divisor is positive."""
    if bounds.is_at_least(above, 0):
        return floor_divide(above, below)
    negative = ceil_divide(bounds.smaller(above, 0), below)
    return add(floor_divide(bounds.larger(above, 0), below), negative)


def _modulo(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    if not (is_size(a) and is_size(b)) or dtype not in INTEGERS:
        return None
    return modulo(a, b) if asker.bounds.is_at_least(b, 1) else None


def _power(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    if b == Ratio(1, 2):
        return _square_root(asker.bounds, a)
    x = as_ratio(a)
    if b == Ratio(1, 2):
        return _square_root(asker.bounds, a)
    if x is None or not isinstance(b, int) or not 0 <= b <= _MAX_EXPONENT:
        return None
    return ratio(multiply(1, *[x.above] * b), multiply(1, *[x.below] * b))


_MAX_EXPONENT = 8


def _smaller(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    return asker.bounds.smaller(a, b) if is_size(a) and is_size(b) else None


def _larger(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    return asker.bounds.larger(a, b) if is_size(a) and is_size(b) else None


def _comparing(operator: Operator, exchanged: bool = False) -> Binary:
    def compare(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
        if operator == "==" and (isinstance(a, FORMULA_KINDS) or isinstance(b, FORMULA_KINDS)):
            return _same_truth(asker, a, b)
        x, y = as_ratio(a), as_ratio(b)
        if x is None or y is None:
            return None
        left, right = multiply(x.above, y.below), multiply(y.above, x.below)
        if exchanged:
            left, right = right, left
        return _known(asker, Comparison(operator, left, right))

    return compare


def _same_truth(asker: Asker, a: Element, b: Element) -> Element:
    p, q = truth(a), truth(b)
    if p is None or q is None:
        return None
    return _known(asker, any_of([all_of([p, q]), all_of([negate(p), negate(q)])]))


def _and(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    p, q = truth(a), truth(b)
    if FALSE in (p, q):
        return 0
    return None if p is None or q is None else _known(asker, all_of([p, q]))


def _or(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    p, q = truth(a), truth(b)
    if TRUE in (p, q):
        return 1
    return None if p is None or q is None else _known(asker, any_of([p, q]))


def _xor(asker: Asker, dtype: int, a: Element, b: Element) -> Element:
    q = truth(b)
    return None if q is None else _same_truth(asker, a, negate(q))


BINARY: Mapping[str, Binary] = {
    "Add": _add,
    "And": _and,
    "Div": _divide,
    "Equal": _comparing("=="),
    "Greater": _comparing("<", exchanged=True),
    "GreaterOrEqual": _comparing("<=", exchanged=True),
    "Less": _comparing("<"),
    "LessOrEqual": _comparing("<="),
    "Max": _larger,
    "Min": _smaller,
    "Mod": _modulo,
    "Mul": _multiply,
    "Or": _or,
    "Pow": _power,
    "Sub": _subtract,
    "Xor": _xor,
}


def selected(asker: Asker, name: str, condition: Element, yes: Element, no: Element) -> Element:
    """Return one element or the other, as a truth value says; where sizes decide, a size by cases called ``name``."""
    chosen = truth(condition)
    if chosen == TRUE:
        return yes
    if chosen == FALSE:
        return no
    if yes is None or yes == no:
        return yes if yes == no else None
    if chosen is None or not is_size(yes) or not is_size(no):
        return None
    if not (asker.bounds.is_at_least(yes, 0) and asker.bounds.is_at_least(no, 0)):
        return None
    return asker.by_cases(name, f"an element of {name}, by where it is taken from", chosen, yes, no)


# Of one element.


def _floor(bounds: Bounds, a: Element) -> Element:
    return floor_divide(a.above, a.below) if isinstance(a, Ratio) else a


def _ceil(bounds: Bounds, a: Element) -> Element:
    return ceil_divide(a.above, a.below) if isinstance(a, Ratio) else a


def _round(bounds: Bounds, a: Element) -> Element:
    return a if is_size(a) else None


def _negate(bounds: Bounds, a: Element) -> Element:
    x = as_ratio(a)
    return None if x is None else ratio(multiply(-1, x.above), x.below)


def _absolute(bounds: Bounds, a: Element) -> Element:
    x = as_ratio(a)
    if x is None:
        return None
    if bounds.is_at_least(x.above, 0):
        return a
    return _negate(bounds, a) if bounds.is_at_most(x.above, 0) else None


def _relu(bounds: Bounds, a: Element) -> Element:
    return bounds.larger(a, 0) if is_size(a) else None


def _square_root(bounds: Bounds, a: Element) -> Element:
    if isinstance(a, int) and a >= 0 and isqrt(a) ** 2 == a:
        return isqrt(a)
    return None


def _sign(bounds: Bounds, a: Element) -> Element:
    if not is_size(a):
        return None
    if bounds.is_at_least(a, 1):
        return 1
    return (a > 0) - (a < 0) if isinstance(a, int) else None


def _not(bounds: Bounds, a: Element) -> Element:
    found = truth(a)
    if found in (TRUE, FALSE):
        return int(found == FALSE)
    return None if found is None else negate(found)


UNARY: Mapping[str, Unary] = {
    "Abs": _absolute,
    "Ceil": _ceil,
    "Floor": _floor,
    "Neg": _negate,
    "Not": _not,
    "Relu": _relu,
    "Round": _round,
    "Sign": _sign,
    "Sqrt": _square_root,
}


def cast(value: Value, to: int, asker: Asker) -> Content | None:
    """Return the content of a value as elements of another type."""
    content = value.content
    if content is None or to == value.dtype:
        return content
    if isinstance(content, Elements):
        return _if_any(tuple(_cast_element(e, value.dtype, to, asker) for e in content.items))
    return content if to in INTEGERS and value.dtype in INTEGERS else None


def _cast_element(element: Element, dtype: int, to: int, asker: Asker) -> Element:
    if isinstance(element, FORMULA_KINDS):
        return element if to == _BOOL else None
    if to == _BOOL:
        x = as_ratio(element)
        return None if x is None else _known(asker, different(x.above, 0))
    if to in INTEGERS:
        return _towards_zero(element, asker)
    if to in _SHORT_REALS:
        return element if isinstance(element, int) and abs(element) <= _EXACT_IN_SHORT else None
    return element if to in _REALS else None


def _towards_zero(element: Element, asker: Asker) -> Element:
    if not isinstance(element, Ratio):
        return element
    return _quotient_towards_zero(asker.bounds, element.above, element.below)


# Of whole tensors.


def _if_any(items: tuple[Element, ...]) -> Elements | None:
    return Elements(items) if any(i is not None for i in items) else None


def mapped(content: Content | None, step: Callable[[Element], Element]) -> Content | None:
    """Return what becomes of a content where each element becomes something else; only listed ones are followed."""
    return _if_any(tuple(map(step, content.items))) if isinstance(content, Elements) else None


def combined(values: Sequence[Value], shape: Dims, step: Callable[..., Element]) -> Content | None:
    """Return the content of several values broadcast together to a shape, with their elements put together."""
    if all(isinstance(d, int) for d in shape) and prod(shape) <= MAX_ELEMENTS:
        values = [_narrowed(v, shape) for v in values]
        if all(isinstance(d, int) for v in values for d in v.shape or ()):
            return _if_any(_spread(values, shape, step))
    return _ramps(values, shape, step)


def _narrowed(value: Value, output: Dims) -> Value:
    """Return an operand with 1 for each size that is 1 in what it is broadcast to: it can be no other."""
    dims = value.shape or ()
    aligned = output[len(output) - len(dims) :]
    narrow = tuple(1 if wanted == 1 else size for size, wanted in zip(dims, aligned, strict=True))
    return value if narrow == dims else Value(narrow, value.dtype, value.content)


def _items(items: tuple[Element, ...] | None, size: int) -> tuple[Element, ...]:
    return (None,) * size if items is None else items


def _spread(values: Sequence[Value], shape: Dims, step: Callable[..., Element]) -> tuple[Element, ...]:
    """Return the elements of a small static output, each of the elements of the operands that meet there."""
    size = prod(int(d) for d in shape)
    listings = [_items(listed(v.content, v.shape), prod(v.shape or ())) for v in values]
    if all(v.shape == shape for v in values):
        return tuple(map(step, *listings))
    places = [_places(v.shape or (), shape) for v in values]
    return tuple(step(*(items[place[n]] for items, place in zip(listings, places, strict=True))) for n in range(size))


def _places(shape: Dims, output: Dims) -> list[int]:
    """Return, for each element of the output, which element of an operand lies there."""
    sizes = [1] * (len(output) - len(shape)) + [int(d) for d in shape]
    strides = [0 if size == 1 else prod(sizes[axis + 1 :]) for axis, size in enumerate(sizes)]
    return [
        sum(i * s for i, s in zip(index, strides, strict=True))
        for index in combinations(*(range(int(d)) for d in output))
    ]


def _ramps(values: Sequence[Value], shape: Dims, step: Callable[..., Element]) -> Ramp | None:
    """Return the sum, difference or product of ramps as a ramp."""
    if len(values) != 2:
        return None
    left, right = (_laid_out(v, shape) for v in values)
    if left is None or right is None:
        return None
    function = getattr(step, "func", step)
    if function in (_add, _subtract):
        sign = 1 if function is _add else -1
        pairs = zip(left.strides, right.strides, strict=True)
        strides = tuple(add(a, multiply(sign, b)) for a, b in pairs)
        return Ramp(add(left.start, multiply(sign, right.start)), strides)
    if function is _multiply:
        if any(left.strides):
            left, right = right, left
        if not any(left.strides):
            return Ramp(multiply(left.start, right.start), tuple(multiply(left.start, s) for s in right.strides))
    return None


def _laid_out(value: Value, output: Dims) -> Ramp | None:
    """Return a value as a ramp over the axes of the output; None where it may be stretched along one it counts on."""
    ramp = as_ramp(value.content, value.shape)
    if ramp is None or value.shape is None:
        return None
    missing = len(output) - len(value.shape)
    strides: list[object] = [0] * missing
    for size, stride, wanted in zip(value.shape, ramp.strides, output[missing:], strict=True):
        if size not in (wanted, 1) and stride != 0:
            return None
        strides.append(0 if size == 1 else stride)
    return Ramp(ramp.start, tuple(strides))
