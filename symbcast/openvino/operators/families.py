"""All operators: importing a family registers its operators."""

from symbcast.openvino.operators import (
    control,
    elementwise,
    indices,
    layout,
    loops,
    matrices,
    recurrent,
    reshape,
    sizes,
    windows,
)
from symbcast.openvino.registry import OPERATORS

__all__ = [
    "OPERATORS",
    "control",
    "elementwise",
    "indices",
    "layout",
    "loops",
    "matrices",
    "recurrent",
    "reshape",
    "sizes",
    "windows",
]
