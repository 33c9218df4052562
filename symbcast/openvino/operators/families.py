"""All operators: each family puts its own into the registry when it is imported."""

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
