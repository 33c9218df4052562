"""Bounds of the positions that sorts and searches return, and the elements of an inverted permutation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import subtract
from symbcast.graphs.operators.estimates import places
from symbcast.graphs.values.contents import Interval, Places
from symbcast.graphs.values.value import Value
from symbcast.torch.node_call import raw_argument
from symbcast.torch.reading.element_types import INT64

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.torch.node_call import TorchCall

_SEARCHES = frozenset(f"aten.{n}" for n in ("topk", "kthvalue", "mode", "median", "max", "min", "cummax", "cummin"))
_DISTINCT = frozenset(f"aten.{n}" for n in ("_unique", "_unique2", "unique_dim", "unique_consecutive"))


def with_positions(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return outputs; the second one of a sort, a search or a list of distinct elements has positions."""
    kind = call.node.op_type
    if kind in _DISTINCT:
        return _with_groups(call, outputs)
    if (kind != "aten.sort" and kind not in _SEARCHES) or len(outputs) != 2 or outputs[1].shape is None:
        return outputs
    dims, axis = call.dims("self"), call.number("dim", -1)
    if not dims:
        return [outputs[0], Value((), INT64, Interval(0, 0, True))]
    size, axis = dims[axis], axis % len(dims)
    found = places(size)
    if kind in ("aten.sort", "aten.topk"):
        found = Places(0, subtract(size, 1), axis, kind == "aten.sort")
    return [outputs[0], Value(outputs[1].shape, INT64, found)]


def _with_groups(call: TorchCall, outputs: Sequence[Value]) -> Sequence[Value]:
    """Return distinct elements with the bounds of the position of each original element among them."""
    first, *others = outputs
    if not others or not first.shape or others[0].shape is None:
        return outputs
    axis = 0 if call.given("dim") is None else call.number("dim") % len(first.shape)
    return [first, Value(others[0].shape, INT64, places(first.shape[axis])), *others[1:]]


def all_places(size: Dim, axis: int) -> Places:
    """Return the positions along an axis in some order, as after a sort: each occurs."""
    return Places(0, subtract(size, 1), axis, True)


def part_of(content: Places) -> Places:
    """Return a part of positions; those that are left still differ along their axis."""
    assert content.low is not None and content.high is not None
    return Places(content.low, content.high, content.axis)


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
