"""Reductions: axes become size 1 or are removed."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import TRUE
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.operators.reductions import reduce, search
from symbcast.operators.selecting.selection import top_k
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.operators.context import Dims
    from symbcast.torch.node_call import TorchCall


@operator(
    "sum",
    "mean",
    "prod",
    "any",
    "all",
    "var",
    "std",
    "var_mean",
    "std_mean",
    "logsumexp",
    "norm",
    "linalg_vector_norm",
    "count_nonzero",
    "nansum",
    "nanmean",
)
def reduced(call: TorchCall) -> list[Value]:
    """A reduction; most require nothing: an empty sum is 0 and an empty mean is NaN."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.")
    axes = _axes(call, dims)
    if axes == [] and kind == "logsumexp":
        call.require(call.empty(dims) if dims else TRUE, "an axis must be named")
    if axes == [] and kind not in ("any", "all"):
        axes = None
    if kind in ("norm", "linalg_vector_norm") and _has_no_identity(call.given("ord", "p")):
        for axis in range(len(dims)) if axes is None else axes:
            call.at_most(1, dims[axis], "the axis must not be empty: this norm is not defined without elements")
    found = reduce(call, dims, axes, keepdims=call.flag("keepdim"))
    return [Value(found)] * len(call.node.outputs)


def _axes(call: TorchCall, dims: Dims) -> list[int] | None:
    """Return the given axes, counted from the front; None if none are given."""
    given = call.numbers_of("dim")
    found = None if given is None else call.distinct_axes(given, max(len(dims), 1), TWICE)
    return [] if found and not dims else found


def _has_no_identity(order: object) -> bool:
    return isinstance(order, (int, float)) and (order < 0 or order == inf)


@operator("amax", "amin", "max", "min", "argmax", "argmin", "mode", "aminmax")
def searched(call: TorchCall) -> list[Value]:
    """A search along axes, which must not be empty; two tensors are broadcast."""
    if call.given("other") is not None:
        return [Value(call.broadcast(call.dims("self"), call.dims("other")))]
    dims = call.dims("self")
    axes = _axes(call, dims) or None
    for axis in range(len(dims)) if axes is None else axes:
        search(call, dims, axis, keepdims=True)
    found = reduce(call, dims, axes, keepdims=call.flag("keepdim"))
    return [Value(found)] * len(call.node.outputs)


@operator("median", "nanmedian")
def middle(call: TorchCall) -> list[Value]:
    """The median of all elements, if any, or along an axis, which must not be empty."""
    dims = call.dims("self")
    axes = _axes(call, dims)
    for axis in axes or ():
        search(call, dims, axis, keepdims=True)
    found = reduce(call, dims, axes, keepdims=call.flag("keepdim"))
    return [Value(found)] * len(call.node.outputs)


@operator("kthvalue")
def kth(call: TorchCall) -> list[Value]:
    """The ``k``-th smallest element along an axis, which must have at least ``k``; a scalar has one element."""
    dims, k = call.dims("self"), call.size("k")
    place = call.axis_of(call.number("dim", -1), len(dims))
    if k is None:
        _note_k(call)
    else:
        call.at_most(1, k, "k must be 1 or more")
        call.at_most(k, dims[place] if dims else 1, "the axis must have at least k elements")
    return [Value(reduce(call, dims, [place] if dims else (), keepdims=call.flag("keepdim")))] * 2


def _note_k(call: TorchCall) -> None:
    call.note("not checked: the axis must have at least k elements", is_about_data=call.is_data_in("k"))


@operator("topk")
def largest(call: TorchCall) -> list[Value]:
    """The ``k`` largest elements along an axis, which must have at least ``k``; a scalar has one element."""
    dims, k = call.dims("self"), call.size("k")
    if k is None:
        _note_k(call)
        place = call.axis_of(call.number("dim", -1), len(dims))
        k = call.count(dims[place] if dims else 1, text="k")
    found = top_k(call, dims or (1,), call.number("dim", -1), k)
    return [Value(found if dims else ())] * 2


@operator("cdist", "_cdist_forward")
def distances(call: TorchCall) -> Value:
    """The distances between the rows of two matrices."""
    left, right = call.dims("x1"), call.dims("x2")
    call.equal(left[-1], right[-1], "the rows must have equal length")
    return Value((*call.broadcast(left[:-2], right[:-2]), left[-2], right[-2]))
