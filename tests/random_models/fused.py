"""Recurrent networks, attention, and what ONNX Runtime's optimiser writes in the domain of Microsoft."""

from __future__ import annotations

import numpy as np
from random_models.maker import MICROSOFT, Maker, Tensor

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(maker: Maker) -> None:
    data = maker.tensor(3)
    if not (data and data.is_full):
        return
    op_type, hidden = maker.random.choice(list(_GATES)), maker.random.randint(1, 3)
    direction = maker.random.choice(["forward", "reverse", "bidirectional"])
    ways, gates = 1 + (direction == "bidirectional"), _GATES[op_type] * hidden
    width = maker.axis_size(data, 2) if maker.chance(80) else maker.random.randint(1, 3)
    inputs = [data.name, maker.filled([ways, gates, width]), maker.filled([ways, gates, hidden])]
    batch = maker.axis_size(data, 1) if maker.chance(80) else maker.random.randint(1, 3)
    inputs.append(maker.filled([ways, 2 * gates]) if maker.chance(30) else "")
    inputs.append(maker.filled([batch], 1, np.int32) if maker.chance(30) else "")
    inputs.append(maker.filled([ways, batch, hidden]) if maker.chance(40) else "")
    made = maker.nodes(op_type, inputs, 2, hidden_size=hidden, direction=direction)
    maker.keep(made[0], 4)
    maker.keep(made[1], 3)


def fused_matmul(maker: Maker) -> None:
    a, b = maker.tensor(least=1), maker.tensor(least=1)
    if a and b and a.is_full and b.is_full:
        rank = max(a.rank, b.rank, 2) - (a.rank == 1) - (b.rank == 1)
        flags = {name: maker.random.randint(0, 1) for name in ("transA", "transB")}
        maker.keep(maker.node("FusedMatMul", [a.name, b.name], domain=MICROSOFT, **flags), rank, (a, b))


def fused_conv(maker: Maker) -> None:
    data = maker.tensor(4)
    if data and data.is_full:
        weights = maker.constant(np.zeros([*maker.numbers(2, 1, 3), *maker.numbers(2, 1, 3)]), np.float32)
        attributes = {"activation": "Relu", "pads": maker.numbers(4, 0, 1)}
        maker.keep(maker.node("FusedConv", [data.name, weights], domain=MICROSOFT, **attributes), 4)


def fused_gemm(maker: Maker) -> None:
    a, b = maker.tensor(2), maker.tensor(2)
    if a and b and a.is_full and b.is_full:
        flags = {name: maker.random.randint(0, 1) for name in ("transA", "transB")}
        inputs = [a.name, b.name, *([maker.vector(b, 1)] if maker.chance(50) else [])]
        maker.keep(maker.node("FusedGemm", inputs, domain=MICROSOFT, activation="Relu", **flags), 2, (a, b))


def bias_gelu(maker: Maker) -> None:
    data = maker.tensor(least=1)
    if data and data.is_full:
        op_type = maker.random.choice(["BiasGelu", "FastGelu"])
        maker.keep(maker.node(op_type, [data.name, maker.vector(data, -1)], domain=MICROSOFT), data.rank, (data,))


def quick_gelu(maker: Maker) -> None:
    data = maker.tensor()
    op_type = maker.random.choice(["QuickGelu", "Gelu"])
    maker.keep(maker.node(op_type, [data.name], domain=MICROSOFT), data.rank, (data,))


def _projected(maker: Maker, data: Tensor, width: int) -> str:
    """Add nodes that give a tensor a last axis of a size."""
    weights = maker.filled([maker.axis_size(data, -1), width])
    return maker.node("MatMul", [data.name, weights])


def attention(maker: Maker) -> None:
    data = maker.tensor(3)
    if not (data and data.is_full):
        return
    heads, size = maker.random.randint(1, 2), maker.random.randint(1, 2)
    width = heads * size
    rows = maker.axis_size(data, 2) if maker.chance(80) else maker.random.randint(1, 4)
    inputs = [data.name, maker.filled([rows, 3 * width]), maker.filled([3 * width])]
    if maker.chance(40):
        inputs.append(maker.filled([maker.axis_size(data, 0), maker.axis_size(data, 1)], 1, np.int32))
    maker.keep(maker.node("Attention", inputs, num_heads=heads, domain=MICROSOFT), 3)


def multi_head(maker: Maker) -> None:
    queries, keys = maker.tensor(3), maker.tensor(3)
    if not (queries and keys and queries.is_full and keys.is_full):
        return
    heads, size = maker.random.randint(1, 2), maker.random.randint(1, 2)
    width = heads * size
    key = _projected(maker, keys, width)
    value = _projected(maker, keys if maker.chance(80) else queries, maker.random.choice([width, heads * 3]))
    inputs = [_projected(maker, queries, width), key, value]
    if maker.chance(30):
        inputs.append(maker.filled([2 * width + width]))
    maker.keep(maker.node("MultiHeadAttention", inputs, num_heads=heads, domain=MICROSOFT), 3)


def rotated(maker: Maker) -> None:
    data = maker.tensor(3)
    if not (data and data.is_full):
        return
    heads, half = maker.random.randint(1, 2), maker.random.randint(1, 2)
    rows = maker.axis_size(data, 1) if maker.chance(50) else maker.random.randint(1, 4)
    cache = maker.filled([rows, half])
    places = maker.constant([0])
    if maker.chance(30):
        places = maker.filled([maker.axis_size(data, 0), maker.axis_size(data, 1)], 0, np.int64)
    inputs = [_projected(maker, data, heads * 2 * half), places, cache, cache]
    maker.keep(maker.node("RotaryEmbedding", inputs, num_heads=heads, domain=MICROSOFT), 3)


def embedded(maker: Maker) -> None:
    ids = maker.tensor(2)
    if not (ids and ids.is_full):
        return
    words = maker.cast(maker.node("Mul", [ids.name, maker.constant(0, np.float32)]), 6)
    width = maker.random.randint(1, 3)
    tables = [maker.constant(np.ones((maker.random.randint(2, 4), width)), np.float32) for _ in range(2)]
    scale = [maker.constant(np.ones(width), np.float32)] * 2
    inputs = [words, "", tables[0], tables[1], "", *scale]
    made = maker.nodes("EmbedLayerNormalization", inputs, 2, domain=MICROSOFT)
    maker.keep(made[0], 3)


STEPS = [
    recurrent,
    recurrent,
    fused_matmul,
    fused_conv,
    fused_gemm,
    bias_gelu,
    quick_gelu,
    attention,
    multi_head,
    rotated,
    embedded,
]
