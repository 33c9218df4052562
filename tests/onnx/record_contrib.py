"""Runs single nodes of ONNX Runtime's own, those of its optimiser among them, at small sizes."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.extend(str(Path(__file__).parents[1] / folder) for folder in (".", "support", "surveys"))

from recorded_nodes import floats, node, record, sized, values, zeros

MICROSOFT, BLOCKED, CLASSIC = "com.microsoft", "com.microsoft.nchwc", "ai.onnx.ml"
FEW, TWO = range(3), (1, 2)


def integers(*shape, kind="int64"):
    return {"shape": list(shape), "type": kind}


def number(item, kind):
    return {"shape": [], "type": kind, "values": [item]}


def own(op, attributes, inputs, *ranges, outputs=1, domain=MICROSOFT):
    """Return a row of an operator that is not of ONNX itself."""
    return sized(node(op, 17, attributes, inputs, outputs, domain=domain), *ranges)


SCALE, POINT = number(1.0, "float"), number(0, "uint8")


def small(*shape):
    return integers(*shape, kind="uint8")


def with_other_channels():
    """Give rows of operators whose channels lie last, or in blocks."""
    for channels_last, image in ((1, small("N", "H", "W", 4)), (0, small("N", 4, "H", "W"))):
        inputs = [image, SCALE, POINT, small(6, "C", 3, 3), SCALE, POINT, SCALE, POINT]
        yield own("QLinearConv", {"channels_last": channels_last}, inputs, (0, 1), (2, 3, 5), (3,), (3, 4))
        for more in ({}, {"ceil_mode": 1, "strides": [2, 2]}, {"pads": [1, 1, 1, 1]}, {"auto_pad": "SAME_LOWER"}):
            attributes = {"kernel_shape": [3, 3], "channels_last": channels_last, **more}
            inputs = [image, SCALE, POINT, SCALE, POINT]
            yield own("QLinearAveragePool", attributes, inputs, (0, 1), range(5), (3,))
            if channels_last:
                yield own("NhwcMaxPool", {"kernel_shape": [3, 3], **more}, [image], (0, 1), range(5), (3,))
    for channels in (3, 16, 32):
        yield own("ReorderInput", {}, [floats("N", channels, "H", 3)], (0, 1), (0, 2), domain=BLOCKED)
    yield own("ReorderInput", {"channels_last": 1}, [floats("N", "H", 3, 16)], (0, 1), (0, 2), domain=BLOCKED)
    for channels, is_last in ((15, 0), (16, 1), (17, 0), (0, 0)):
        attributes = {"channels": channels, "channels_last": is_last}
        yield own("ReorderOutput", attributes, [floats("N", 16, "H", 3)], (0, 1), (0, 2), domain=BLOCKED)
    image = floats("N", 16, "H", 3)
    for more in ({}, {"auto_pad": "SAME_UPPER", "strides": [2, 2]}):
        yield own("Conv", more, [image, zeros(32, 16, 3, 3)], (0, 1), (2, 3, 4), domain=BLOCKED)
    added = [image, zeros(16, 1, 3, 3), zeros(16), floats("N", 16, "S", 1)]
    yield own("Conv", {"group": 16}, added, (0, 1), (2, 3, 4), TWO, domain=BLOCKED)
    for op in ("MaxPool", "AveragePool"):
        for more in ({}, {"pads": [1, 1, 1, 1]}):
            yield own(op, {"kernel_shape": [3, 3], **more}, [image], (0, 1), range(5), domain=BLOCKED)
    for op in ("GlobalMaxPool", "GlobalAveragePool"):
        yield own(op, {}, [image], (0, 1), range(4), domain=BLOCKED)
    for scales in ([1, 1, 2, 3], [1, 2, 2, 3]):
        yield own("Upsample", {"scales": scales}, [image], (0, 1), range(4), domain=BLOCKED)


def of_states():
    """Give rows of operators with a state, and of attention."""
    for attributes in ({}, {"axis": 1}, {"axis": 0}, {"mode": "circular"}):
        inputs = [floats("B", 2, "M", 3), floats("C", 2, "N", 3), integers("B")]
        yield sized(node("TensorScatter", 24, attributes, inputs), TWO, range(1, 4), TWO, range(4))
    for heads, key_heads in ((2, 2), (4, 2), (2, 4), (3, 2)):
        inputs = [floats("B", "T", 2 * heads), floats("B", "T", 2 * key_heads), floats("B", "T", 3 * key_heads)]
        attributes = {"q_num_heads": heads, "kv_num_heads": key_heads, "update_rule": "linear"}
        yield own("LinearAttention", attributes, inputs, TWO, TWO, outputs=2)
    attributes = {"q_num_heads": 2, "kv_num_heads": 2}
    operands = [floats("B", "T", 4), floats("B", "T", 4), floats("B", "T", 6)]
    decay, beta = floats("B", "T", "D"), floats("B", "T", "E")
    for rule, gates, ranges in (
        ("gated", [decay], [range(1, 6)]),
        ("delta", [None, beta], [range(1, 4)]),
        ("gated_delta", [decay], [(2,)]),
        ("none", [], []),
    ):
        inputs = [*operands, None, *gates] if gates else operands
        yield own("LinearAttention", {**attributes, "update_rule": rule}, inputs, TWO, TWO, *ranges, outputs=2)
    inputs = [floats("B", "C", "L"), floats("D", 1, "K"), floats("C"), floats("B", "C", "P")]
    yield own("CausalConvWithState", {}, inputs, TWO, TWO, (1, 4), TWO, (1, 2, 3), FEW, outputs=2)
    yield own("LinearAttentionGate", {}, [floats("B", "T", "H"), floats("H"), floats("G")], TWO, TWO, TWO, TWO)
    grown, held = floats("B", "L", 8), floats("B", 2, "P", 4)
    for shared in (0, 1):
        inputs = [grown, grown, grown, None, None, held, held, values([1], "int32")]
        attributes = {"num_heads": 2, "past_present_share_buffer": shared}
        yield own("DecoderMaskedMultiHeadAttention", attributes, inputs, TWO, TWO, (2, 3), outputs=3)
    crossed = [grown, floats("B", 2, "S", 4), floats("C", 2, "S", 4)]
    yield own("DecoderMaskedMultiHeadAttention", {"num_heads": 2}, crossed, TWO, TWO, (1, 3), TWO)
    inputs = [floats("B", "S", 8), integers(3, "B", "S"), floats("M", "W"), floats("M", "W")]
    attributes = {"mrope_section": [1, 1, 0], "num_heads": 2}
    yield own("MRotaryEmbedding", attributes, inputs, TWO, TWO, (1, 2, 3), range(1, 5))


def of_experts():
    """Give rows of mixtures of experts."""
    for attributes in (
        {"activation_type": "silu", "k": 2},
        {"activation_type": "silu", "k": 3},
        {"activation_type": "swiglu", "swiglu_fusion": 1},
        {"activation_type": "swiglu"},
        {"k": 0},
    ):
        inputs = [floats("T", 4), floats("U", 2), floats(2, "F", 4), None, floats(2, 4, "I")]
        yield own("MoE", attributes, inputs, (1, 3), (1, 3), (2, 4), (2,))
    inputs = [floats("B", "S", 4), floats("U", 2), floats(2, "F", 4), floats("E", "G"), floats("E", 4, "I")]
    yield own("MoE", {}, inputs, TWO, TWO, (1, 2, 4), (2,), (2, 3), (2, 3), (2,))
    third = [floats("T", 4), floats("T", 2), zeros(2, 3, 4), None, zeros(2, 4, 3), None, zeros(2, 3, 4)]
    yield own("MoE", {"activation_type": "silu"}, third, TWO)


def of_elements():
    """Give rows of products, norms and others."""
    yield own("CDist", {"metric": "euclidean"}, [floats("M", "N"), floats("K", "L")], TWO, TWO, TWO, TWO)
    yield own("GatedAdd", {}, [floats("A", "C"), floats("B", "C"), floats("A", "G")], TWO, TWO, TWO, TWO)
    yield own("GatedRMSNorm", {}, [floats("A", "H"), floats("C"), floats("B", "H")], TWO, range(1, 7), range(1, 5), TWO)
    yield own("MurmurHash3", {}, [integers("A", "B", kind="int32")], FEW, FEW)
    yield own("NGramRepeatBlock", {"ngram_size": 2}, [integers("A", "L"), floats("B", "V")], TWO, TWO, TWO, TWO)
    for rows in (16, 17):
        four = {"K": rows, "N": 3, "block_size": 16, "quant_type": 1}
        inputs = [floats("A", "B"), small("C"), floats("D")]
        yield own("MatMulBnb4", four, inputs, FEW, (16, 17), (23, 24, 25, 26), (2, 3, 4))
    regions = [floats("N", "C", 4, 4), floats("R", "F"), integers("S", kind="int32"), values([3, 2], "int32")]
    yield own("CropAndResize", {}, regions, TWO, TWO, FEW, (3, 4), FEW)
    grid = [floats("N", "C", "H", 2), floats("M", "h", "w", 2)]
    yield own("GridSample", {}, grid, TWO, TWO, FEW, TWO, FEW, TWO)
    for shape in ([4], [1, 4]):
        pads = {"shape": shape, "type": "int64", "values": [1, 0, 2, -1]}
        yield own("Pad", {}, [floats("A", "B"), pads], FEW, FEW)
    yield own("Range", {}, [number(0, "int64"), {"sizes": ["N"], "type": "int64"}, number(2, "int64")], range(5))
    pads = values([1, 0, 0, 1], "int64")
    kernel = {"kernel_shape": [3, 3]}
    for more in ([pads], []):
        inputs = [floats("N", "C", "H", 3), floats("C", 2, 3, 3), *more]
        yield own("ConvTransposeWithDynamicPads", kernel, inputs, TWO, TWO, (1, 3))


if __name__ == "__main__":
    record([*with_other_channels(), *of_states(), *of_experts(), *of_elements()], "contrib")
