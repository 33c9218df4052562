"""Products of tensors."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from symbcast.graphs.values.value import Value
from symbcast.operators.context import Dims
from symbcast.stablehlo.node_call import HloCall
from symbcast.stablehlo.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim

Pair: TypeAlias = "tuple[Sequence[int], Sequence[int]]"
"""Axes of the two operands that belong together."""

_CONTRACTED = "the sizes summed over must be equal"
_BATCHED = "the sizes of batch axes must be equal"


@operator("dot_general", constraints="C9 C10 C12")
def dot_general(call: HloCall) -> Value:
    """A product summed over pairs of axes, for each position on pairs of batch axes."""
    numbers = call.dimensions("dot_dimension_numbers", "DotDimensionNumbers")
    batch = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    summed = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    return call.made(_product(call, batch, summed))


def _product(call: HloCall, batch: Pair, summed: Pair, gone: Sequence[int] = ()) -> Dims:
    """Return the shape of a product; ``gone`` are other axes of the second operand that the result does not have."""
    left, right = call.shape(0), call.shape(1)
    joined = call.alike([_of(left, batch[0]), _of(right, batch[1])], _BATCHED)
    call.same_shape(_of(left, summed[0]), _of(right, summed[1]), _CONTRACTED)
    return (*joined, *_but(left, [*batch[0], *summed[0]]), *_but(right, [*batch[1], *summed[1], *gone]))


def _of(dims: Dims, axes: Sequence[int]) -> Dims:
    return tuple(dims[n] for n in axes)


def _but(dims: Dims, axes: Sequence[int]) -> Dims:
    return tuple(d for n, d in enumerate(dims) if n not in axes)


@operator("chlo.ragged_dot")
def ragged_dot(call: HloCall) -> Value:
    """A product of groups along one axis of the first operand; data say how long the groups are."""
    text = str(call.attribute("ragged_dot_dimension_numbers"))
    numbers = defaultdict(list, {name: [*map(int, found.split(","))] for name, found in _NUMBERS.findall(text)})
    batch, summed = (
        (numbers[f"lhs_{kind}_dimensions"], numbers[f"rhs_{kind}_dimensions"]) for kind in ("batching", "contracting")
    )
    (ragged,), groups = numbers["lhs_ragged_dimensions"], numbers["rhs_group_dimensions"]
    left, sizes, known = call.shape(0), call.shape(2), [*batch[0], *summed[0]]
    axes = (
        known[: known.index(ragged)] if ragged in known else [*batch[0], *(n for n in range(ragged) if n not in known)]
    )
    if len(sizes) > 1:
        call.same_shape(sizes[:-1], _of(left, axes), "there must be groups for each position on the axes before")
    for n in groups:
        call.equal(call.shape(1)[n], sizes[-1], "there must be a matrix for each group")
    shape = _product(call, batch, summed, groups)
    return call.made((sizes[-1], *shape) if ragged in summed[0] else shape)


_NUMBERS = re.compile(r"(\w+) = \[([\d, ]+)\]")


@operator("dot")
def dot(call: HloCall) -> Value:
    """A product of matrices and vectors."""
    left, right = call.shape(0), call.shape(1)
    call.equal(left[-1], right[0], _CONTRACTED)
    return call.made((*left[:-1], *right[1:]))


@operator("einsum", "unary_einsum")
def einsum(call: HloCall) -> Value:
    """A product that an equation describes: a letter stands for one size."""
    taken, _, made = call.text("einsum_config").partition("->")
    sizes: dict[str, Dim] = {}
    for letters, dims in zip(taken.split(","), call.shapes(), strict=True):
        if "." in letters:
            call.give_up("an ellipsis is not followed")
        for letter, size in zip(letters.strip(), dims, strict=True):
            call.equal(size, sizes.setdefault(letter, size), f"the sizes of {letter} must be equal")
    return call.made(tuple(sizes[letter] for letter in made.strip()))


@operator("cholesky", constraints="C1 C3")
def cholesky(call: HloCall) -> Value:
    """A decomposition of square matrices."""
    dims = call.shape(0)
    call.equal(dims[-2], dims[-1], "the matrices must be square")
    return call.made(dims)


@operator("triangular_solve", constraints="C3 C4")
def triangular_solve(call: HloCall) -> Value:
    """Solutions of equations with triangular matrices, from the left or from the right."""
    a, b = call.shape(0), call.shape(1)
    call.equal(a[-2], a[-1], "the matrices must be square")
    call.equal(a[-1], b[-2 if call.flag("left_side") else -1], "the matrices must fit the right-hand sides")
    stack = call.alike([b[:-2], a[:-2]], _BATCHED)
    return call.made((*stack, *b[-2:]))


@operator("fft", constraints="C4 C5")
def fft(call: HloCall) -> Value:
    """Fourier transforms over the last axes: the sizes of real tensors are the attribute's."""
    dims, lengths = call.shape(0), call.integers("fft_length") or []
    kind, whole = call.keyword("fft_type"), len(call.shape(0)) - len(lengths)
    if kind in ("FFT", "IFFT"):
        return call.made(dims)
    wanted = lengths if kind == "RFFT" else [*lengths[:-1], lengths[-1] // 2 + 1]
    for axis, (size, length) in enumerate(zip(dims[whole:], wanted, strict=True), whole):
        is_empty = kind == "IRFFT" and axis == len(dims) - 1 and lengths[-1] == 0
        call.equal(size, 0 if is_empty else length, f"axis {axis} must have the length of the transform")
    last = lengths[-1] if kind == "IRFFT" else lengths[-1] // 2 + 1 if lengths[-1] else dims[-1]
    return call.made((*dims[:-1], last))
