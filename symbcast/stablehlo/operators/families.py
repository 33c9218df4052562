"""All operators: importing a family registers its operators. A new file of operators is added to both lists."""

from symbcast.stablehlo.graph import OPERATORS
from symbcast.stablehlo.operators import (
    contractions,
    control,
    elementwise,
    indexing,
    layout,
    shapes,
)

__all__ = [
    "OPERATORS",
    "contractions",
    "control",
    "elementwise",
    "indexing",
    "layout",
    "shapes",
]
