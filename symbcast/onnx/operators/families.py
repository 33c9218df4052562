"""All operators: importing a family registers its operators. A new file of operators is added to both lists."""

from symbcast.onnx.operators import (
    attention,
    attention_contrib,
    channel_layouts,
    classic,
    control,
    convolutions,
    elementwise,
    fused,
    indexing,
    layout,
    quantized,
    reductions,
    sequences,
    signals,
)
from symbcast.onnx.operators.declarations import OPERATORS

__all__ = [
    "OPERATORS",
    "attention",
    "attention_contrib",
    "channel_layouts",
    "classic",
    "control",
    "convolutions",
    "elementwise",
    "fused",
    "indexing",
    "layout",
    "quantized",
    "reductions",
    "sequences",
    "signals",
]
