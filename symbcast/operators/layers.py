"""Layers of neural networks: attention, normalisations, recurrent cells, and their operators in programs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, TypeAlias, cast

from symbcast.core.algebra.arithmetic import add, multiply
from symbcast.core.algebra.formulas import FALSE, Formula, any_of, equal
from symbcast.core.algebra.terms import Dim
from symbcast.core.structs import NamedTuple
from symbcast.operators.attributes import Positive, Text, Texts, Truth, Whole
from symbcast.operators.operator import Context, Dims, OptionalOperand, expect_shape, operator
from symbcast.operators.products import reduce
from symbcast.operators.reach import ANY, Reach, reach_of

# Attention: queries look up keys and retrieve values, in heads; query heads may share key and value heads.


Stack: TypeAlias = "Callable[[Context, Dims, Dims, Dims], Dims]"
"""Returns the axes of the output before the last two, for queries, keys and values."""


def broadcast_stack(context: Context, query: Dims, key: Dims, value: Dims) -> Dims:
    """Broadcast all axes before the last two."""
    return context.broadcast(query[:-2], key[:-2], value[:-2])


def grouped_stack(context: Context, query: Dims, key: Dims, value: Dims) -> Dims:
    """Broadcast the axes before the heads; equal groups of query heads each share a key head and a value head."""
    for shared in dict.fromkeys((key[-3], value[-3])):
        share_heads(context, query[-3], shared)
    return (*context.broadcast(query[:-3], key[:-3], value[:-3]), query[-3])


def equal_stack(context: Context, query: Dims, key: Dims, value: Dims) -> Dims:
    """Require equal batches and as many key heads as value heads, each shared by a group of query heads."""
    for other in (key, value):
        context.equal(query[0], other[0], "queries, keys and values must have the same batch")
    context.equal(key[1], value[1], "there must be the same number of heads for keys and values")
    share_heads(context, query[1], key[1])
    return query[:2]


def share_heads(context: Context, heads: Dim, shared: Dim) -> None:
    """Require that each shared head serve the same number of query heads."""
    if heads != shared:
        context.divide(
            heads, shared, "the number of query heads must be a multiple of the number of key and value heads"
        )


def attend(context: Context, query: Dims, key: Dims, value: Dims, stack: Stack = broadcast_stack) -> Dims:
    """Return the shape of ``softmax(query @ key.T) @ value``.

    Queries ``(..., L, E)``, keys ``(..., S, E)`` and values ``(..., S, V)`` give ``(..., L, V)``; ``stack`` computes
    the axes before the last two.
    """
    leading = stack(context, query, key, value)
    context.equal(key[-2], value[-2], "there must be a value for each key")
    context.equal(query[-1], key[-1], "vectors of queries and keys must have the same length")
    return (*leading, query[-2], value[-1])


def head_width(context: Context, size: Dim, heads: Dim, what: str) -> Dim:
    """Return the width of one head, where the heads are joined on one axis."""
    return context.divide(size, heads, f"the last size of {what} must be a multiple of the {heads} heads")


def in_heads(context: Context, dims: Dims, heads: int, what: str) -> Dims:
    """Return ``(batch, length, heads * width)`` as ``(batch, heads, length, width)``."""
    return dims[0], heads, dims[1], head_width(context, dims[2], heads, what)


def cached(context: Context, caches: tuple[Dims | None, Dims | None], key: Dims, value: Dims) -> Dim | None:
    """Return the number of keys in the caches of keys and values; None if unknown.

    A cache ``(batch, heads, past, width)`` must fit the keys or values that are appended to it.
    """
    past_key, past_value = caches
    expect_shape(context, "past_key", past_key, (*key[:2], None, key[3]))
    before = None if past_key is None else past_key[2]
    expect_shape(context, "past_value", past_value, (*value[:2], before, value[3]))
    return before


def present(dims: Dims, before: Dim) -> Dims:
    """Return the shape of a cache with the current keys or values appended to those ``before``."""
    return (*dims[:2], add(before, dims[2]), dims[3])


def check_scores_bias(
    context: Context, what: str, bias: Dims | None, scores: Dims, ranks: Collection[int] = (4,)
) -> None:
    """Require that the last two sizes of a bias fit the scores ``(batch, heads, L, S)``; the others may also be 1."""
    if bias is None:
        return
    context.refuse_if(len(bias) not in ranks, f"{what} must not have rank {len(bias)}")
    expect_shape(context, what, bias, (*(None for _ in bias[:-2]), *scores[2:]))
    for size, whole in zip(bias[-3::-1], scores[1::-1], strict=False):
        context.one_of(size, (1, whole), f"{what} must fit the batch and the heads")


# Normalisations: the shapes that scales, shifts and statistics must fit.


Parameters: TypeAlias = "Mapping[str, Dims | None]"
"""The shapes of scales, shifts and statistics by name; None for one that is not given, or unknown."""


def layer_norm(
    context: Context, dims: Dims, first: int, parameters: Parameters, *, parameters_broadcast: bool = False
) -> Dims:
    """Return the shape of the statistics over the axes from ``first`` on, which become 1.

    Parameters have the shape of these axes, or, if broadcasting is allowed, any shape that broadcasts onto the data.
    """
    for name, shape in parameters.items():
        if shape is None:
            continue
        if parameters_broadcast:
            context.broadcast(shape, dims, rule="unidirectional")
        else:
            context.same_shape(shape, dims[first:], f"{name} must have the shape of the normalised axes")
    return reduce(context, dims, range(first, len(dims)), keepdims=True)


def group_norm(
    context: Context, channels: Dim, groups: int, parameters: Parameters, *, is_per_group: bool = False
) -> None:
    """Require equal groups of channels, and parameters with one number for each channel or each group."""
    context.divide(channels, groups, f"the channels must be a multiple of the {groups} groups")
    if is_per_group:
        per_channel(context, groups, parameters, what="group")
    else:
        per_channel(context, channels, parameters)


def check_channels(context: Context, dims: Dims) -> None:
    """Require a batch axis and a channel axis."""
    context.refuse_if(len(dims) < 2, "the input must have a batch and channels")


def per_channel(
    context: Context, channels: Dim, parameters: Parameters, *, what: str = "channel", unless: Formula = FALSE
) -> None:
    """Require that each parameter have one number for each channel, ``unless`` a given formula holds."""
    for name, shape in parameters.items():
        if shape is None or shape == (channels,):
            continue
        reason = f"{name} must have one number for each {what}"
        if len(shape) == 1:
            context.require(any_of([unless, equal(shape[0], channels)]), reason)
        elif unless == FALSE:
            context.refuse(reason)
        else:
            context.require(unless, reason)


# Recurrent layers and cells, RNN, GRU and LSTM: the shapes of weights, biases, states and outputs.


# The number of gates of a cell, by its kind.
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}

Role: TypeAlias = Literal["hidden", "cell", "lengths", "weights", "recurrence", "bias", "peepholes"]

STATES: tuple[Role, ...] = ("hidden", "cell")


class RecurrentLayout(NamedTuple):
    """The order of axes, one letter each: T for time, N for the batch, D for the directions of all layers.

    The last axis of data, states and output, features or the hidden size, has no letter. An output without D joins its
    directions on the last axis. In weights, R stands for the rows (all gates of all hidden elements) and C for the
    columns.
    """

    data: str
    state: str
    output: str
    weights: str = "DRC"


class RecurrentLayer(NamedTuple):
    """The sizes of one recurrent layer or of several stacked ones.

    Attributes:
        hidden: The number of elements of a cell.
        projection: The size of the hidden state if it differs from that of the cell.
        bias_gates: The number of bias values for each hidden element.
    """

    kind: str
    layout: RecurrentLayout
    batch: Dim
    features: Dim
    hidden: Dim
    length: Dim = 1
    directions: int = 1
    layers: int = 1
    projection: Dim | None = None
    bias_gates: int = 0

    @property
    def state(self) -> Dim:
        """The size of the hidden state."""
        return self.hidden if self.projection is None else self.projection

    @property
    def states(self) -> list[Dims]:
        """The shapes of the hidden state, and of an LSTM's cell state."""
        sizes = (self.state, self.hidden) if self.kind == "LSTM" else (self.state,)
        return [(*self._laid(self.layout.state), size) for size in sizes]

    @property
    def output(self) -> Dims:
        """The shape of the hidden states at all time steps."""
        width = self.state if "D" in self.layout.output else multiply(self.directions, self.state)
        return (*self._laid(self.layout.output), width)

    def operands(self) -> dict[Role, Dims]:
        """Return the shape of each operand except the data."""
        rows, order = multiply(GATES[self.kind], self.hidden), self.layout.weights
        lead = order[:-2]
        shapes: dict[Role, Dims] = {
            "lengths": (self.batch,),
            "weights": self._laid(order, R=rows, C=self.features),
            "recurrence": self._laid(order, R=rows, C=self.state),
            "bias": (*self._laid(lead), multiply(self.bias_gates, self.hidden)),
        }
        if self.kind == "LSTM":
            shapes["peepholes"] = (*self._laid(lead), multiply(3, self.hidden))
        return {**dict(zip(STATES, self.states, strict=False)), **shapes}

    def _laid(self, letters: str, **others: Dim) -> Dims:
        sizes = {"T": self.length, "N": self.batch, "D": self.directions * self.layers, **others}
        return tuple(sizes[letter] for letter in letters)


def recurrent(context: Context, layer: RecurrentLayer, operands: Mapping[Role, OptionalOperand]) -> list[Dims]:
    """Require that operands fit a layer; return the shapes of all hidden states and of the last states.

    Data ``(T, N, features)`` and weights ``(D, gates * hidden, features)`` give ``(T, D, N, hidden)`` and states
    ``(D, N, hidden)`` if the layout is ``Layout("TN", "DN", "TDN")``.
    """
    expected = layer.operands()
    for role, operand in operands.items():
        if role in expected:
            expect_shape(context, *operand, expected[role])
    return [layer.output, *layer.states]


# The operators of programs.


def _last_axes(shapes: Sequence[Dims], grouped: bool) -> list[Reach | None]:
    """The last two axes; also the heads if groups of them share keys. The mask aligns with the scores."""
    tensor = Reach(last=3 if grouped else 2, is_written=True)
    return [tensor, tensor, tensor, ANY]


@operator("attention", reach=_last_axes)
def attention(  # noqa: PLR0913, PLR0917 - its operands are its own
    context: Context, query: Dims, key: Dims, value: Dims, mask: Dims | None = None, grouped: Truth = False
) -> Dims:
    """``softmax(query @ key.T + mask) @ value``; groups of heads may share keys and values."""
    least = 3 if grouped else 2
    if min(map(len, (query, key, value))) < least:
        context.refuse(f"queries, keys and values must have at least {least} axes")
    output = attend(context, query, key, value, grouped_stack if grouped else broadcast_stack)
    if mask is not None:
        context.broadcast(mask, (*output[:-1], key[-2]), rule="unidirectional")
    return output


def _normalised(shapes: Sequence[Dims], axis: int) -> list[Reach | None]:
    """The normalised axes, if they are counted from the end."""
    if axis >= 0:
        return [None] * len(shapes)
    return [reach_of((axis,)), Reach(rank=-axis), Reach(rank=-axis)]


@operator("layer_norm", reach=_normalised)
def layer_norm_operator(
    context: Context, data: Dims, scale: Dims | None = None, bias: Dims | None = None, axis: Whole = -1
) -> Dims:
    """A normalisation over the axes from ``axis`` on; scale and bias have the shape of these axes."""
    layer_norm(context, data, context.axis(axis, len(data)), {"scale": scale, "bias": bias})
    return data


_BATCH_AND_CHANNELS = [Reach(first=2), *[Reach(rank=1)] * 4]


@operator("group_norm", reach=_BATCH_AND_CHANNELS)
def group_norm_operator(
    context: Context, data: Dims, scale: Dims | None = None, bias: Dims | None = None, groups: Positive = 1
) -> Dims:
    """A normalisation of groups of channels; scale and bias have one number for each channel."""
    check_channels(context, data)
    group_norm(context, data[1], groups, {"scale": scale, "bias": bias})
    return data


@operator("batch_norm", reach=_BATCH_AND_CHANNELS)
def batch_norm(  # noqa: PLR0913, PLR0917 - its operands are its own
    context: Context,
    data: Dims,
    scale: Dims | None = None,
    bias: Dims | None = None,
    mean: Dims | None = None,
    variance: Dims | None = None,
) -> Dims:
    """A normalisation of channels; scale, bias, means and variances have one number for each."""
    check_channels(context, data)
    per_channel(context, data[1], {"scale": scale, "bias": bias, "mean": mean, "variance": variance})
    return data


@operator(
    "recurrent",
    operands=("data", "sizes"),
    reach=lambda shapes, **_: [Reach(rank=3), *[None] * (len(shapes) - 1)],  # data have three axes
    has_parts=True,
    choices={"cell": tuple(GATES)},
    named_by="cell",
    written_attributes=lambda attributes: {
        name: attributes[name] for name in ("layers", "bidirectional", "batch_first") if name in attributes
    },
)
def recurrent_operator(  # noqa: PLR0913, PLR0917 - its attributes are its own
    context: Context,
    shapes: Sequence[Dims],
    cell: Text = "LSTM",
    roles: Texts = (),
    layers: Positive = 1,
    bidirectional: Truth = False,
    batch_first: Truth = False,
) -> list[Dims]:
    """RNN, GRU or LSTM layers: all hidden states, the last ones, and the last cell states.

    The second operand holds the hidden size, followed by the projected size if any; ``roles`` names the other operands.
    """
    context.refuse_if(len(shapes) != len(roles) + 2, "takes data, sizes, and one operand for each name")
    data, sizes, *others = shapes
    context.refuse_if(len(data) != 3, f"data must have three axes, not {len(data)}")
    context.refuse_if(len(sizes) not in (1, 2), "the sizes must be a hidden size and an optional projection")
    axes = "NT" if batch_first else "TN"
    size_of = dict(zip(axes, data, strict=False))
    layer = RecurrentLayer(
        cell,
        RecurrentLayout(axes, "DN", axes, "RC"),
        size_of["N"],
        data[2],
        sizes[0],
        size_of["T"],
        2 if bidirectional else 1,
        layers,
        sizes[1] if len(sizes) > 1 else None,
        bias_gates=GATES[cell],
    )
    known_roles = layer.operands().keys()
    if not known_roles >= set(roles):
        context.refuse(f"takes operands named {', '.join(known_roles)}")
    operands = {cast("Role", r): OptionalOperand(r, s) for r, s in zip(roles, others, strict=True)}
    return recurrent(context, layer, operands)
