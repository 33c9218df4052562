"""All operators, in the table of the registry."""

from symbcast.stablehlo.operators import (
    collectives,
    control,
    elementwise,
    indexing,
    layout,
    products,
    reductions,
    shapes,
    windows,
)
from symbcast.stablehlo.registry import OPERATORS

__all__ = [
    "OPERATORS",
    "collectives",
    "control",
    "elementwise",
    "indexing",
    "layout",
    "products",
    "reductions",
    "shapes",
    "windows",
]
