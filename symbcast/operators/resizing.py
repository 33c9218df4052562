"""Images resized by scales, or sampled at the positions of a grid.

A runtime multiplies a size by a scale as floats, and truncates the result. If the scale is the float nearest to a short
fraction, the result is usually the size times the fraction, rounded down: in 32 bits, 30 times 0.7 is 21. The ONNX
document uses the exact value of the float, which is a little less than 0.7, so its result is 20. In 64 bits 30 times
0.7 is 21, but 90 times 0.7 is 62.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import lru_cache, partial
from math import isfinite

from symbcast.core.algebra.arithmetic import floor_divide, multiply
from symbcast.core.algebra.formulas import Formula, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.rules.placement import rank_if_known
from symbcast.core.structs import NamedTuple
from symbcast.operators.attributes import AxesOrAll, Ratios
from symbcast.operators.operator import TWICE, Context, Dims, expect_shape, operator
from symbcast.operators.reach import Reach, reach_of

# Sizes below it are scaled exactly as in the runtime.
MAX_SCALED = 1 << 14

_MAX_DENOMINATOR = 1024


class Scale(NamedTuple):
    """A scale: one dimension over another; ``exact`` says that rounding cannot change a result.

    Attributes:
        of_number: Multiplies a number by the scale where rounding may change the result; None if unknown.
    """

    above: Dim
    below: Dim
    exact: bool
    of_number: Callable[[int], int] | None = None

    @property
    def is_one(self) -> Formula:
        """The condition under which the scale keeps a size."""
        return equal(self.above, self.below)

    @property
    def is_one_or_more(self) -> Formula:
        """The condition under which the scale does not reduce a size."""
        return at_most(self.below, self.above)

    def times(self, size: Dim) -> Dim | None:
        """Return a size times the scale, rounded down; None if floats may round differently."""
        if self.exact:
            return floor_divide(multiply(size, self.above), self.below)
        return self.of_number(size) if self.of_number is not None and isinstance(size, int) else None


class Rounding(NamedTuple):
    """How a runtime multiplies a size by a scale.

    Attributes:
        bits: The precision of floats, 24 or 53.
        is_product_rounded: Whether the product is rounded to a float too.
        added: The number added to the scale before multiplying.
    """

    bits: int
    is_product_rounded: bool = True
    added: Fraction = Fraction(0)

    def float_of(self, number: float | Fraction) -> Fraction:
        """Return the float nearest to a number."""
        if self.bits == 53:
            return Fraction(float(number))
        import numpy as np

        return Fraction(float(np.float32(float(number))))

    def product(self, scale: Fraction, size: int) -> int:
        """Return a size times a scale as the runtime computes it."""
        if not self.is_product_rounded or self.added:
            return int(size * (scale + self.added))
        return int(self.float_of(self.float_of(size) * scale))


# A 32-bit float, used at its exact value.
DOCUMENT = Rounding(24, is_product_rounded=False)
SINGLE = Rounding(24)
# A millionth more lifts a product over the integer that it should be.
SINGLE_NUDGED = Rounding(24, added=Fraction(1, 10**6))
DOUBLE = Rounding(53)


@lru_cache(maxsize=256)
def scale_of(number: float, rounding: Rounding) -> Scale | None:
    """Return a float as a scale; None if it is not finite.

    >>> scale_of(0.5, SINGLE)[:3], scale_of(0.30000001192092896, SINGLE)[:3]
    ((1, 2, True), (3, 10, True))
    >>> scale_of(0.7, DOUBLE)[:3], scale_of(0.7, DOUBLE).times(90)
    ((7, 10, False), 62)
    >>> scale_of(0.699999988079071, DOCUMENT)[:3]
    (11744051, 16777216, True)
    """
    if not isfinite(number):
        return None
    rounded = rounding.float_of(number)
    short, is_exact = _short(rounded, rounding)
    if not rounding.is_product_rounded:
        short, is_exact = short if is_exact and rounded >= short else rounded, True
    return Scale(short.numerator, short.denominator, is_exact, None if is_exact else partial(rounding.product, rounded))


def quotient_scale(above: Dim, below: Dim, rounding: Rounding) -> Scale | None:
    """Return the scale that is a quotient of sizes, itself computed in floats."""
    if isinstance(above, int) and isinstance(below, int):
        return scale_of(above / below, rounding)
    is_power_of_two = isinstance(below, int) and below & (below - 1) == 0
    return Scale(above, below, is_power_of_two or not rounding.is_product_rounded or bool(rounding.added))


def resize(context: Context, dims: Dims, axes: Sequence[int], sizes: Sequence[Dim]) -> Dims:
    """Return a shape with new sizes on some axes; if an axis is named twice, the last size counts."""
    context.refuse_if(len(sizes) != len(axes), f"there must be {len(axes)} sizes, not {len(sizes)}")
    output = list(dims)
    for axis, size in zip(axes, sizes, strict=True):
        output[context.axis(axis, len(dims))] = size
    return tuple(output)


def _short(number: Fraction, rounding: Rounding) -> tuple[Fraction, bool]:
    """Return a short fraction that rounds to a float, else the float; and whether the fraction gives exact results."""
    short = number.limit_denominator(_MAX_DENOMINATOR)
    if not short or rounding.float_of(short) != number:
        return number, False
    if rounding.added and short.denominator > _LONGEST:
        return short, False
    # Let the float be (1 + d) * p / q, and let rounding multiply the product by 1 + e; with 24 bits abs(d) and abs(e)
    # are at most 2 ** -24. As long as p * size < 2 ** 23, neither error moves a fractional product past an integer. A
    # product whose exact value is an integer is rounded to it unless the errors put it below by more than half the
    # spacing of floats, which cannot happen if d >= -2 ** -25. If q is a power of two, the product is exact as a float
    # up to p * size == 2 ** 24.
    off = number / short - 1
    limit = 1 << (rounding.bits - 1 if off else rounding.bits)
    return short, off >= -Fraction(1, 2 << rounding.bits) and short.numerator * MAX_SCALED <= limit


# What is added to a scale cannot show in sizes below 2 ** 14 where the scale's denominator is at most this.
_LONGEST = 64


def _resized(shapes: Sequence[Dims], axes: Sequence[int] | None, scales: object) -> list[Reach | None]:
    """The resized axes; all of them if none are named."""
    if axes is not None:
        return [reach_of(axes), None]
    rank = rank_if_known(shapes[1]) if len(shapes) > 1 else None
    return [None if rank is None else Reach(rank=rank), None]


@operator("resize", reach=_resized)
def resize_operator(
    context: Context, data: Dims, sizes: Dims | None = None, axes: AxesOrAll = None, scales: Ratios = None
) -> Dims:
    """New sizes of some axes, or of all: given by the second operand, or old sizes times scales, rounded down."""
    context.refuse_if((sizes is None) is (scales is None), "either sizes or scales must be given")
    resized = context.distinct_axes(range(len(data)) if axes is None else axes, len(data), TWICE)
    if sizes is not None:
        return resize(context, data, resized, sizes)
    ratios = scales or ()
    context.refuse_if(len(ratios) != len(resized), f"there must be {len(resized)} scales, not {len(ratios)}")
    scaled = [Scale(*ratio, exact=True).times(data[a]) for a, ratio in zip(resized, ratios, strict=True)]
    return resize(context, data, resized, [size for size in scaled if size is not None])


# Sample images at the positions of a grid, and make grids by affine maps.


def grid_sample(context: Context, dims: Dims, grid: Dims, *, ranks: Collection[int], is_filled: bool) -> Dims:
    """Return the shape of an image (N, C, ...) sampled at a grid (N, ..., axes): (N, C) and the axes of the grid.

    ``is_filled`` says that the image must not be empty.
    """
    if len(grid) != len(dims) or len(dims) not in ranks:
        allowed = ", ".join(map(str, ranks))
        context.refuse(f"input and grid must have the same rank, {allowed}, but have {len(dims)} and {len(grid)}")
    expect_shape(context, "the grid", grid, (dims[0], *(None for _ in dims[2:]), len(dims) - 2))
    if is_filled:
        context.filled(dims[2:], "there must be elements to sample")
    return (*dims[:2], *grid[1:-1])


def affine_grid(context: Context, theta: Dims, size: Dims) -> Dims:
    """Return the shape of a grid for an output (N, C, ...), made from one matrix per batch element."""
    context.refuse_if(len(size) not in (4, 5), "the size must be 4 or 5 numbers")
    axes = len(size) - 2
    expect_shape(context, "theta", theta, (size[0], axes, axes + 1))
    return (size[0], *size[2:], axes)
