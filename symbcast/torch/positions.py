"""Bounds of the positions that sorts and searches return, and the elements of an inverted permutation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import subtract
from symbcast.graphs.operators.estimates import places
from symbcast.graphs.values.contents import Interval
from symbcast.graphs.values.value import Value
from symbcast.torch.node_call import raw_argument
from symbcast.torch.reading.element_types import INT64

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.torch.node_call import TorchCall

_SEARCHES = frozenset(f"aten.{n}" for n in ("topk", "kthvalue", "mode", "median", "max", "min", "cummax", "cummin"))


def with_positions(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return outputs; the second one of a sort or a search has the positions along its axis."""
    kind = call.node.op_type
    if (kind != "aten.sort" and kind not in _SEARCHES) or len(outputs) != 2 or outputs[1].shape is None:
        return outputs
    dims = call.dims("self")
    size = dims[call.number("dim", -1)] if dims else 1
    found = all_places(size) if kind == "aten.sort" else places(size)
    return [outputs[0], Value(outputs[1].shape, INT64, found)]


def all_places(size: Dim) -> Interval:
    """Return the bounds of positions along an axis, of which each occurs, as after a sort."""
    return Interval(0, subtract(size, 1), True)


def writes_all(call: TorchCall) -> bool:
    """Return whether a write by index replaces each element of a vector: its only index is a permutation."""
    given, raw = call.given("indices"), raw_argument(call, "indices")
    if call.flag("accumulate") or not isinstance(given, list) or len(given) != 1:
        return False
    return isinstance(given[0], Value) and given[0].shape == call.dims("self") and _is_permutation(raw[0])


def _is_permutation(node: Any) -> bool:
    """Return whether a node has each position along a vector once: the order of a sort, which nothing writes to."""
    if len(getattr(node.meta.get("val"), "shape", ())) != 1 or any(_may_write_to(user, node) for user in node.users):
        return False
    made = _name(node)
    if made == "getitem" and node.args[1] == 1:
        return _name(node.args[0]) == "sort"
    return made in ("argsort", "randperm")


def _name(node: Any) -> str:
    return str(getattr(node.target, "overloadpacket", None) or getattr(node.target, "__name__", "")).removeprefix(
        "aten."
    )


def _may_write_to(user: Any, node: Any) -> bool:
    """Return whether a node changes its first argument, or is a view of it, which others may change."""
    arguments = getattr(getattr(user.target, "_schema", None), "arguments", ())
    return bool(user.args and user.args[0] is node and arguments and arguments[0].alias_info is not None)
