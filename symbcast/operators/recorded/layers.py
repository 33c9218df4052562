"""Operators that a program records: attention, normalisations, recurrent layers and resized axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from symbcast.core.broadcasting import AttributeValue, Parameter
from symbcast.core.broadcasting import Kind as AttributeKind
from symbcast.core.broadcasting.unknown_rank import known_rank, place_of
from symbcast.operators.context import TWICE, Context, Dims
from symbcast.operators.networks.attention import attend, broadcast_stack, grouped_stack
from symbcast.operators.networks.normalisation import check_channels, group_norm, layer_norm, per_channel
from symbcast.operators.networks.recurrent import GATES, Layer, Layout, Role, recurrent
from symbcast.operators.networks.scales import Scale, resize
from symbcast.operators.operands import Operand
from symbcast.operators.reach import ANY, Reach, reach_of
from symbcast.operators.recorded import attributes as kind
from symbcast.operators.recorded.operator import Operator, reading, recorded
from symbcast.operators.recorded.parts import Silent


@recorded
class Attention(Operator):
    """``softmax(query @ key.T + mask) @ value``; groups of heads may share keys and values."""

    name = "attention"
    variadic = True
    operands = ("query", "key", "value", "mask")
    parameters = (Parameter("grouped", False),)
    kinds = reading(grouped=kind.truth)
    grouped: bool

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The last two axes; also the heads if groups of them share keys. The mask aligns with the scores."""
        tensor = Reach(last=3 if self.grouped else 2, is_written=True)
        return [tensor, tensor, tensor, ANY][: len(shapes)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        if len(shapes) not in (3, 4):
            context.refuse(f"takes queries, keys, values and an optional mask, not {len(shapes)} shapes")
        query, key, value, *masks = shapes
        least = 3 if self.grouped else 2
        if min(map(len, (query, key, value))) < least:
            context.refuse(f"queries, keys and values must have at least {least} axes")
        found = attend(context, query, key, value, grouped_stack if self.grouped else broadcast_stack)
        for mask in masks:
            context.broadcast(mask, (*found[:-1], key[-2]), rule="unidirectional")
        return found


@recorded
class LayerNorm(Operator):
    """A normalisation over the axes from ``axis`` on; scale and bias have the shape of these axes."""

    name = "layer_norm"
    variadic = True
    operands = ("data", "scale", "bias")
    parameters = (Parameter("axis", -1),)
    kinds = reading(axis=kind.whole)
    axis: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The normalised axes, if they are counted from the end."""
        if self.axis >= 0:
            return [None] * len(shapes)
        return [reach_of((self.axis,)), *[Reach(rank=-self.axis)] * (len(shapes) - 1)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims = shapes[0]
        layer_norm(context, dims, context.axis(self.axis, len(dims)), _parameters(context, shapes, self.operands[1:]))
        return dims


@recorded
class GroupNorm(Operator):
    """A normalisation of groups of channels; scale and bias have one number for each channel."""

    name = "group_norm"
    variadic = True
    operands = ("data", "scale", "bias")
    parameters = (Parameter("groups", 1),)
    kinds = reading(groups=kind.positive)
    groups: int

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The batch axis and the channel axis."""
        return [Reach(first=2), *[Reach(rank=1)] * (len(shapes) - 1)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims = shapes[0]
        check_channels(context, dims)
        group_norm(context, dims[1], self.groups, _parameters(context, shapes, self.operands[1:]))
        return dims


@recorded
class BatchNorm(Operator):
    """A normalisation of channels; scale, bias, means and variances have one number for each."""

    name = "batch_norm"
    variadic = True
    operands = ("data", "scale", "bias", "mean", "variance")

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The batch axis and the channel axis."""
        return [Reach(first=2), *[Reach(rank=1)] * (len(shapes) - 1)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        dims = shapes[0]
        check_channels(context, dims)
        per_channel(context, dims[1], _parameters(context, shapes, self.operands[1:]))
        return dims


def _parameters(context: Context, shapes: Sequence[Dims], names: Sequence[str]) -> dict[str, Dims | None]:
    """Return the given parameters by name."""
    if len(shapes) > len(names) + 1:
        context.refuse(f"takes at most {len(names) + 1} shapes, not {len(shapes)}")
    return dict(zip(names, shapes[1:], strict=False))


@recorded
class Resize(Operator):
    """New sizes of some axes, or of all: given by the second operand, or old sizes times scales, rounded down."""

    name = "resize"
    variadic = True
    operands = ("data", "sizes")
    parameters = (Parameter("axes", None), Parameter("scales", None))
    kinds = reading(axes=kind.axes_or_all, scales=kind.ratios)
    axes: tuple[int, ...] | None
    scales: tuple[tuple[int, int], ...] | None

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """The resized axes; all of them if none are named."""
        data = None if self.axes is None else reach_of(self.axes)
        if self.axes is None and len(shapes) > 1 and (rank := known_rank(shapes[1])) is not None:
            data = Reach(rank=rank)
        return [data, None][: len(shapes)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        if len(shapes) + (self.scales is not None) != 2:
            context.refuse("either sizes or scales must be given")
        dims = shapes[0]
        axes = context.distinct_axes(range(len(dims)) if self.axes is None else self.axes, len(dims), TWICE)
        if self.scales is None:
            return resize(context, dims, axes, shapes[1])
        scales = [Scale(*pair, exact=True) for pair in self.scales]
        if len(scales) != len(axes):
            context.refuse(f"there must be {len(axes)} scales, not {len(scales)}")
        sizes = [s.times(dims[a]) for a, s in zip(axes, scales, strict=True)]
        return resize(context, dims, axes, [size for size in sizes if size is not None])


@recorded
class Recurrent(Operator):
    """One output of RNN, GRU or LSTM layers: all hidden states, or the last ones, or the last cell states.

    The second operand holds the hidden size, followed by the projected size if any; ``roles`` names the other operands.
    The first output states the requirements of the whole operation.
    """

    name = "recurrent"
    variadic = True
    operands = ("data", "sizes")
    parameters = (
        Parameter("cell", "LSTM", tuple(GATES), kind=AttributeKind.WORD),
        Parameter("roles", ()),
        Parameter("layers", 1),
        Parameter("bidirectional", False),
        Parameter("batch_first", False),
        Parameter("part", 0),
    )
    kinds = reading(
        cell=kind.text,
        roles=kind.texts,
        layers=kind.positive,
        bidirectional=kind.truth,
        batch_first=kind.truth,
        part=kind.naturals,
    )
    cell: str
    roles: tuple[str, ...]
    layers: int
    bidirectional: bool
    batch_first: bool
    part: int

    @property
    def written_name(self) -> str:
        """``rnn``, ``gru`` or ``lstm``."""
        return self.cell.lower()

    def written_attributes(self) -> Mapping[str, AttributeValue]:
        """Those that all three take."""
        found = self.attributes()
        return {name: found[name] for name in ("layers", "bidirectional", "batch_first") if name in found}

    def reaches(self, shapes: Sequence[Dims]) -> Sequence[Reach | None]:
        """All axes: data have three."""
        return [Reach(rank=3) if place_of(s) is not None and n == 0 else None for n, s in enumerate(shapes)]

    def output(self, context: Context, shapes: Sequence[Dims]) -> Dims:
        if len(shapes) != len(self.roles) + 2:
            context.refuse("takes data, sizes, and one operand for each name")
        layer = self._layer(context, *shapes[:2])
        roles = layer.operands().keys()
        if not roles >= set(self.roles):
            context.refuse(f"takes operands named {', '.join(roles)}")
        operands = {cast("Role", r): Operand(r, s) for r, s in zip(self.roles, shapes[2:], strict=True)}
        asking = context if self.part == 0 else Silent(context)
        found = recurrent(asking, layer, operands)
        return found[self.part] if self.part < len(found) else context.refuse(f"there is no output {self.part}")

    def _layer(self, context: Context, dims: Dims, sizes: Dims) -> Layer:
        if len(dims) != 3:
            context.refuse(f"data must have three axes, not {len(dims)}")
        if len(sizes) not in (1, 2):
            context.refuse("the sizes must be a hidden size and an optional projection")
        axes = "NT" if self.batch_first else "TN"
        at = dict(zip(axes, dims, strict=False))
        return Layer(
            self.cell,
            Layout(axes, "DN", axes, "RC"),
            at["N"],
            dims[2],
            sizes[0],
            at["T"],
            2 if self.bidirectional else 1,
            self.layers,
            sizes[1] if len(sizes) > 1 else None,
            bias_gates=GATES[self.cell],
        )
