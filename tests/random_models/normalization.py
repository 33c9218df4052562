"""Nodes that normalise, each with what scales and shifts it: mostly of the right length."""

from __future__ import annotations

import numpy as np
from random_models.maker import MICROSOFT, Maker, Tensor


def batch_norm(maker: Maker) -> None:
    data = maker.tensor(least=2)
    if data:
        vectors = [maker.vector(data, 1) for _ in range(4)] if maker.chance(30) else [maker.vector(data, 1)] * 4
        maker.keep(maker.node("BatchNormalization", [data.name, *vectors]), data.rank, (data,))


def instance_norm(maker: Maker) -> None:
    data = maker.tensor(least=3)
    if data and data.is_full:
        vectors = [maker.vector(data, 1) for _ in range(2)]
        maker.keep(maker.node("InstanceNormalization", [data.name, *vectors]), data.rank, (data,))


def group_norm(maker: Maker) -> None:
    data, groups = maker.tensor(least=3), maker.random.randint(1, 2)
    if data and data.is_full:
        per_group = maker.constant(np.ones(groups), np.float32)
        vectors = [maker.vector(data, 1) if maker.opset >= 21 else per_group for _ in range(2)]
        made = maker.node("GroupNormalization", [data.name, *vectors], num_groups=groups)
        maker.keep(made, data.rank, (data,))


def lp_norm(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data and data.is_full:
        p = maker.random.randint(1, 2)
        maker.keep(maker.node("LpNormalization", [data.name], axis=maker.axis(data), p=p), data.rank, (data,))


def mean_variance(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data and data.is_full:
        axes = sorted({maker.random.randrange(data.rank) for _ in range(2)})
        maker.keep(maker.node("MeanVarianceNormalization", [data.name], axes=axes), data.rank, (data,))


def local_response(maker: Maker) -> None:
    data = maker.tensor(4) or maker.tensor(least=3)
    if data and data.is_full:
        size = maker.random.choice([1, 3, 5])
        maker.keep(maker.node("LRN", [data.name], size=size), data.rank, (data,))


def layer_norm_of_some(maker: Maker) -> None:
    """The axes from any one on, scale and bias of as many axes, and the statistics."""
    data = maker.tensor(least=1)
    if not (data and data.is_full):
        return
    axis = maker.axis(data)
    sizes = [maker.axis_size(data, n) for n in range(axis % data.rank, data.rank)]
    scale = maker.filled(sizes) if maker.chance(60) else maker.vector(data, -1)
    inputs = [data.name, scale, *([maker.vector(data, -1)] if maker.chance(30) else [])]
    made = maker.nodes("LayerNormalization", inputs, maker.random.choice([1, 3]), axis=axis)
    for name in made:
        maker.keep(name, data.rank, (data,))


def skip_norm(maker: Maker) -> None:
    data = maker.tensor(3) or maker.tensor(2)
    if not (data and data.is_full):
        return
    skip = maker.tensor(data.rank) if maker.chance(50) else data
    op_type = maker.random.choice(["SkipLayerNormalization", "SkipSimplifiedLayerNormalization"])
    vectors = [maker.vector(data, -1) for _ in range(maker.random.randint(1, 2))]
    made = maker.node(op_type, [data.name, skip.name if skip else data.name, *vectors], domain=MICROSOFT)
    maker.keep(made, data.rank, (data,))


def simplified_norm(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data and data.is_full:
        made = maker.node("SimplifiedLayerNormalization", [data.name, maker.vector(data, -1)], axis=-1)
        maker.keep(made, data.rank, (data,))


def loss(maker: Maker) -> None:
    """Scores and the class that each is of."""
    scores, likely = maker.tensor(least=2, most=4), maker.chance(70)
    if not (scores and scores.is_full):
        return
    other = maker.tensor(scores.rank - 1)
    if likely or not other:
        labels = maker.node("ArgMax", [scores.name], axis=1, keepdims=0)
    else:
        labels = maker.cast(other.name, 7)
    reduction = maker.random.choice(["none", "mean", "sum"])
    weights = [maker.vector(scores, 1)] if maker.chance(40) else []
    op_type = maker.random.choice(["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
    made = maker.node(op_type, [scores.name, labels, *weights], reduction=reduction)
    result = Tensor(made, scores.rank - 1 if reduction == "none" else 0)
    maker.keep(result.name, result.rank)


STEPS = [
    batch_norm,
    instance_norm,
    group_norm,
    lp_norm,
    mean_variance,
    local_response,
    layer_norm_of_some,
    skip_norm,
    simplified_norm,
    loss,
]
