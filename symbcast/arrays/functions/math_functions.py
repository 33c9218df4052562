"""Stand-ins for functions of `math`: of sizes, of numbers computed from them, and of numbers that are data."""

from __future__ import annotations

import math
from typing import Any

from symbcast.arrays.functions.replacements import is_one, stands_for
from symbcast.arrays.symbolic.dims import here
from symbcast.arrays.symbolic.symbolic_array import SymbolicArray
from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.logic.formulas import Comparison, at_most, equal
from symbcast.paths.values.real import Real
from symbcast.paths.values.size import Size

_MOST = 709
"""The greatest integer whose exponential is a float."""


def _number(real: Any, *values: Any, zero_of: Any = None) -> Any:
    """Return a function of numbers: one that data decide if any of them is."""
    arrays = [v for v in values if type(v) is SymbolicArray]
    if not arrays:
        return Real.applied(real, values, here(), zero_of=zero_of)
    for array in arrays:
        if array.dims:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        if array.dtype.kind not in "biuf":
            here().fail_to_trace("a function of math gets other than real numbers")
    return SymbolicArray((), float)


def _data_fail() -> bool:
    """Return whether data are such that a function has no value: both are followed."""
    path = here()
    return path.ask(equal(path.data_size("data", 0, 1), 1))


@stands_for(math.sqrt, is_ours=is_one)
def root(real: Any, value: Any) -> Any:
    found = _number(real, value, zero_of=value)
    if value < 0:
        raise ValueError("math domain error")
    return found


@stands_for(math.isqrt, is_ours=is_one)
def integer_root(real: Any, value: Any) -> Any:
    if type(value) is not Size:
        return real(value)
    path = here()
    if path.ask(Comparison("<", value.dim, 0)):
        raise ValueError("isqrt() argument must be nonnegative")
    found = path.opaque(("isqrt", value.dim), 0, value.dim, ("isqrt", value.dim))
    if found is None:
        return real(path.number(value.dim))
    path.suppose(at_most(multiply(found.dim, found.dim), value.dim))
    return found


@stands_for(math.log, math.log2, math.log10, is_ours=is_one)
def logarithm(real: Any, value: Any, *base: Any) -> Any:
    found = _number(real, value, *base)
    if value <= 0:
        raise ValueError("math domain error")
    if any(type(v) is SymbolicArray for v in base) and _data_fail():
        raise ValueError("math domain error")
    return found


@stands_for(math.exp, is_ours=is_one)
def exponential(real: Any, value: Any) -> Any:
    found = _number(real, value)
    if _data_fail() if type(value) is SymbolicArray else value > _MOST:
        raise OverflowError("math range error")
    return found


@stands_for(math.isnan, math.isinf, is_ours=is_one)
def never(real: Any, value: Any) -> bool:
    return False


@stands_for(math.isfinite, is_ours=is_one)
def always(real: Any, value: Any) -> bool:
    return True


_TOTAL = (math.sin, math.cos, math.tan, math.atan, math.tanh, math.asinh, math.erf, math.erfc, math.fabs)
_TOTAL_OF_SEVERAL = (math.atan2, math.hypot, math.copysign, math.degrees, math.radians)


@stands_for(*_TOTAL, *_TOTAL_OF_SEVERAL, is_ours=is_one)
def total(real: Any, *values: Any) -> Any:
    return _number(real, *values)


def _is_data(*values: Any, **_: Any) -> bool:
    return any(type(v) is SymbolicArray for v in values)


@stands_for(
    *(math.acos, math.asin, math.acosh, math.atanh, math.sinh, math.cosh, math.pow, math.fmod, math.expm1, math.log1p),
    *(math.gamma, math.lgamma),
    is_ours=_is_data,
)
def partial(real: Any, *values: Any) -> Any:
    found = _number(real, *values)
    if _data_fail():
        raise OverflowError("math range error") if real in _GROWING else ValueError("math domain error")
    return found


_GROWING = (math.sinh, math.cosh, math.expm1)
"""Functions without a value only where it is greater than all floats."""
