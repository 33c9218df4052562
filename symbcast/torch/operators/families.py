"""All operators: importing a family registers its operators."""

from typing import Any

from symbcast.graphs.front_end import Operator
from symbcast.torch.calls import OPERATORS, TorchCall
from symbcast.torch.library import load_torch
from symbcast.torch.operators import (
    control,
    convolutions,
    elementwise,
    gradients,
    indexing,
    layout,
    linear_algebra,
    losses,
    networks,
    reductions,
)

__all__ = [
    "OPERATORS",
    "by_tag",
    "control",
    "convolutions",
    "elementwise",
    "gradients",
    "indexing",
    "layout",
    "linear_algebra",
    "losses",
    "networks",
    "reductions",
]


def by_tag(target: Any) -> Operator[TorchCall] | None:
    """Return the operator for a target without one of its own; None if there is none.

    It is elementwise if torch tags it as pointwise; or it writes the result of another operator into its tensor.
    """
    if _is_pointwise(target):
        return elementwise.pointwise
    namespace, _, name = str(getattr(getattr(target, "_schema", None), "name", "")).partition("::")
    if not _is_in_place(name):
        return None
    packet = getattr(getattr(load_torch().ops, namespace), name[:-1], None)
    is_elementwise = _is_pointwise(getattr(packet, target._overloadname, None))
    return elementwise.pointwise if is_elementwise else in_place(f"{namespace}.{name}")


def in_place(name: str) -> Operator[TorchCall] | None:
    """Return the operator that writes the result of another one, named without the last ``_``, into its tensor."""
    rule = OPERATORS.get(("", name[:-1])) if _is_in_place(name) else None
    return None if rule is None else elementwise.written(rule)


def _is_pointwise(target: Any) -> bool:
    return any(tag.name == "pointwise" for tag in getattr(target, "tags", ()))


def _is_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")
