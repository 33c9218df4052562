"""All operator modules; each registers its own operators. Add a new module to both lists."""

from symbcast.onnx.operators import constants
from symbcast.onnx.operators.attention import attention, attention_contrib, attention_packed, caches
from symbcast.onnx.operators.contrib import (
    channel_layouts,
    contrib,
    contrib_variants,
    detection,
    experts,
    quantized,
    quantized_matrices,
)
from symbcast.onnx.operators.control import control, loops, optionals, sequences
from symbcast.onnx.operators.elementwise import (
    classic,
    declared,
    elementwise,
    losses,
    matrices,
    recurrent,
    reductions,
    texts,
)
from symbcast.onnx.operators.layout import concatenation, indices, layout, pads, reshape, selection, slices
from symbcast.onnx.operators.windows import convolutions, pools, resize, signals
from symbcast.onnx.registry import OPERATORS

__all__ = ["FAMILIES", "OPERATORS"]

FAMILIES = (
    attention,
    attention_contrib,
    attention_packed,
    caches,
    channel_layouts,
    classic,
    concatenation,
    constants,
    contrib,
    contrib_variants,
    control,
    convolutions,
    declared,
    detection,
    elementwise,
    experts,
    indices,
    layout,
    loops,
    losses,
    matrices,
    optionals,
    pads,
    pools,
    quantized,
    quantized_matrices,
    recurrent,
    reductions,
    reshape,
    resize,
    selection,
    sequences,
    signals,
    slices,
    texts,
)
"""The modules of operators."""
