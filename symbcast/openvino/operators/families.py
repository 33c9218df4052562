"""All operators: importing a family registers its operators. A new file of operators is added to both lists."""

from symbcast.openvino.graph import OPERATORS
from symbcast.openvino.operators import (
    control,
    elementwise,
    indexing,
    layout,
    networks,
)

__all__ = [
    "OPERATORS",
    "control",
    "elementwise",
    "indexing",
    "layout",
    "networks",
]
