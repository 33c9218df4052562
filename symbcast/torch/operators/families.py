"""All operators: importing a family registers its operators."""

from typing import Any

from symbcast.graphs.operators.table import Operator
from symbcast.torch.node_call import TorchCall
from symbcast.torch.operators import (
    attention,
    cells,
    composites,
    control,
    creation,
    elementwise,
    factors,
    gradients,
    indices,
    layout,
    linear_algebra,
    losses,
    matrices,
    pads,
    parts,
    reductions,
    scalars,
    sequences,
    spectral,
    statistics,
    windows,
)
from symbcast.torch.registry import OPERATORS

__all__ = [
    "OPERATORS",
    "attention",
    "by_tag",
    "cells",
    "composites",
    "control",
    "creation",
    "elementwise",
    "factors",
    "gradients",
    "indices",
    "layout",
    "linear_algebra",
    "losses",
    "matrices",
    "pads",
    "parts",
    "reductions",
    "scalars",
    "sequences",
    "spectral",
    "statistics",
    "windows",
]


def by_tag(target: Any) -> Operator[TorchCall] | None:
    """Return the operator for a target that torch tags as pointwise; None for others."""
    return elementwise.pointwise if any(tag.name == "pointwise" for tag in getattr(target, "tags", ())) else None
