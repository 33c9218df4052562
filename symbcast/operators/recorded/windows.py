"""Operators that a program records: convolutions and pools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.broadcasting import Parameter
from symbcast.core.broadcasting.unknown_rank import known_rank
from symbcast.operators.context import Context, Dims
from symbcast.operators.networks.windows import (
    Positions,
    Window,
    conv,
    convolved_channels,
    covering,
    fitting,
    fitting_rounded_up,
    pool,
    spatial_axes,
    transposed_channels,
    transposed_length,
    weights_of_rank,
)
from symbcast.operators.reach import Reach
from symbcast.operators.rearranging.padding import ends_of
from symbcast.operators.recorded import attributes as kind
from symbcast.operators.recorded.operator import Operator, reading, recorded

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class _Windowed(Operator):
    """The common base of convolutions and pools."""

    strides: int | tuple[int, ...]
    dilations: int | tuple[int, ...]
    padding: Any

    def rank_of_data(self, ranks: Iterable[int | None]) -> Reach | None:
        """Return the reach into data whose rank follows from other operands, or from attributes with a value per axis.

        ``ranks`` are the ranks of data that the operands require, None for an operand of unknown rank.
        """
        given = (self.strides, self.dilations, self.padding)
        attributes = (len(found) + 2 for found in given if isinstance(found, tuple))
        rank = next((r for r in (*ranks, *attributes) if r is not None), None)
        return None if rank is None else Reach(rank=rank)

    def windows(self, context: Context, kernel: Dims) -> list[Window]:
        """Return the windows along each axis; none may be empty."""
        rank = len(kernel)
        for size in kernel:
            context.at_most(1, size, "the window must not be empty")
        strides = _each(context, self.strides, rank, "strides")
        dilations = _each(context, self.dilations, rank, "dilations")
        ends = ends_of(context, 0 if isinstance(self.padding, str) else self.padding, rank, "padding")
        return [Window(k, s, d, *e) for k, s, d, e in zip(kernel, strides, dilations, ends, strict=True)]


_WINDOW = (Parameter("strides", 1), Parameter("padding", 0), Parameter("dilations", 1))
_WINDOW_KINDS = reading(strides=kind.positives, padding=kind.natural_ends, dilations=kind.positives)


def _covering(_: Context, size: Dim, window: Window) -> Dim:
    return covering(size, window.stride)


@recorded
class Conv(_Windowed):
    """A convolution of (N, C, ...) with weights (M, C / groups, ...), and a bias (M,)."""

    name = "conv"
    variadic = True
    operands = ("data", "weights", "bias")
    parameters = (*_WINDOW, Parameter("groups", 1))
    kinds = reading(**_WINDOW_KINDS, groups=kind.positive)
    groups: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes: data and weights have the same rank, and the bias has one axis."""
        return _one_rank_and_bias(self, shapes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims, weights = _data_and_weights(context, shapes)
        convolved_channels(context, dims, weights, self.groups)
        _bias(context, shapes[2:], weights[0])
        positions = _covering if self.padding == "same" else fitting
        return conv(context, dims, weights, self.windows(context, weights[2:]), positions)


@recorded
class ConvTranspose(_Windowed):
    """A transposed convolution of (N, C, ...) with weights (C, M / groups, ...), and a bias (M,)."""

    name = "conv_transpose"
    variadic = True
    operands = ("data", "weights", "bias")
    parameters = (*_WINDOW, Parameter("groups", 1), Parameter("output_padding", 0))
    kinds = reading(**_WINDOW_KINDS, groups=kind.positive, output_padding=kind.naturals)
    groups: int
    output_padding: int | tuple[int, ...]

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes: data and weights have the same rank, and the bias has one axis."""
        return _one_rank_and_bias(self, shapes)

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        if self.padding == "same":
            context.refuse("padding='same' is not supported here: write it in numbers")
        dims, weights = _data_and_weights(context, shapes)
        channels = transposed_channels(context, dims, weights, self.groups)
        _bias(context, shapes[2:], channels)
        extras = _each(context, self.output_padding, len(dims) - 2, "output_padding")
        found = []
        for size, window, extra in zip(dims[2:], self.windows(context, weights[2:]), extras, strict=True):
            length = transposed_length(size, window, extra)
            context.at_most(1, size, "the input must not be empty")
            context.at_most(1, length, "the output must not be empty")
            found.append(length)
        return (dims[0], channels, *found)


@recorded
class Pool(_Windowed):
    """A pool of (N, C, ...); the second operand is the size of the window."""

    name = "pool"
    operands = ("data", "kernel")
    parameters = (*_WINDOW, Parameter("ceil_mode", False))
    kinds = reading(**_WINDOW_KINDS, ceil_mode=kind.truth)
    ceil_mode: bool

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes: data have two more axes than the kernel has sizes."""
        data, kernel = map(known_rank, shapes)
        found = self.rank_of_data((data, None if kernel is None else kernel + 2))
        return [found, None if found is None or found.rank is None else Reach(rank=max(0, found.rank - 2))]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims, kernel = shapes
        if len(spatial_axes(context, dims)) != len(kernel):
            context.refuse(f"the kernel must be {len(dims) - 2} sizes, one for each axis after batch and channels")
        positions: Positions = fitting_rounded_up if self.ceil_mode else fitting
        positions = _covering if self.padding == "same" else positions
        return pool(context, dims, self.windows(context, kernel), positions)


def _one_rank_and_bias(operator: _Windowed, shapes: Sequence[Dims]) -> list[Reach | None]:
    found = operator.rank_of_data(map(known_rank, shapes[:2]))
    return [found, found, Reach(rank=1)][: len(shapes)]


def _data_and_weights(context: Context, shapes: Sequence[Dims]) -> tuple[Dims, Dims]:
    if len(shapes) not in (2, 3):
        context.refuse(f"takes data, weights and an optional bias, not {len(shapes)} shapes")
    dims, weights = shapes[:2]
    spatial_axes(context, dims)
    weights_of_rank(context, weights, len(dims))
    return dims, weights


def _bias(context: Context, given: Iterable[Dims], channels: Dim) -> None:
    for bias in given:
        if len(bias) != 1:
            context.refuse(f"the bias must have one axis, but has {len(bias)}")
        context.equal(channels, bias[0], "there must be one bias for each output channel")


def _each(context: Context, given: int | tuple[int, ...], rank: int, name: str) -> tuple[int, ...]:
    if isinstance(given, int):
        return (given,) * rank
    if len(given) != rank:
        axes = "1 axis" if rank == 1 else f"{rank} axes"
        context.refuse(f"{name} has {len(given)} numbers for {axes}; write one number, or one for each axis")
    return given
