"""Quantiles, numerical gradients, powers of points and other operators over samples."""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, multiply, subtract
from symbcast.core.logic.formulas import Comparison
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.operators.reductions import reduce
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.torch.node_call import TorchCall

_MOST_SORTED = 1 << 24
"""How many elements `quantile` sorts at most."""


@operator("quantile", "nanquantile")
def quantiles(call: TorchCall) -> Value:
    """The quantiles along an axis, or of all elements; several quantiles are put first."""
    dims, asked = call.dims("self"), call.dims("q")
    for size in dims:
        call.at_most(1, size, "there must be elements")
    if len(asked) > 1:
        call.refuse("the quantiles must be a number or a vector")
    given = call.given("dim")
    places = None if given is None else call.distinct_axes([call.number("dim")], max(len(dims), 1), TWICE)
    sorted_length = multiply(*dims) if places is None else dims[places[0]] if dims else 1
    call.at_most(sorted_length, _MOST_SORTED, "torch sorts at most 2**24 elements")
    axes = None if places is None else places if dims else []
    return Value((*asked, *reduce(call, dims, axes, keepdims=call.flag("keepdim"))))


@operator("gradient")
def gradients(call: TorchCall) -> list[Value]:
    """The numerical gradient along each axis, or along the given ones."""
    dims, order = call.dims("self"), call.number("edge_order", 1)
    axes = call.numbers_of("dim")
    places = list(range(len(dims))) if axes is None else call.distinct_axes(axes, len(dims), TWICE)
    if order not in (1, 2):
        call.refuse("the order of the edges must be 1 or 2")
    spacing = call.given("spacing")
    if isinstance(spacing, list) and len(spacing) != len(places):
        call.refuse("there must be one spacing for each axis")
    for n, place in enumerate(places):
        call.at_most(order + 1, dims[place], f"an axis must have at least {order + 1} elements")
        if isinstance(spacing, list) and isinstance(spacing[n], Value):
            call.same_shape(call.tensors("spacing")[n], (dims[place],), "there must be one coordinate for each element")
    return [Value(dims)] * len(places)


@operator("vander", "linalg_vander")
def powers(call: TorchCall) -> Value:
    """The powers of points, one row for each point."""
    is_plain = call.node.op_type == "aten.vander"
    dims = call.dims("x") or (() if is_plain else (1,))
    if not dims or (is_plain and len(dims) != 1):
        call.refuse("the points must be a vector")
    count = call.size("N", dims[-1])
    if count is None:
        call.give_up("data decide N")
    call.at_most(0 if is_plain else 2, count, "there must be enough powers")
    return Value((*dims, count))


@operator("combinations")
def chosen_together(call: TorchCall) -> Value:
    """All selections of ``r`` elements of a vector."""
    dims, count = call.dims("self"), call.number("r", 2)
    if len(dims) != 1 or count < 0:
        call.refuse("the tensor must be a vector, and the number of elements not negative")
    if count == 0:
        return Value((0,))
    step = 1 if call.flag("with_replacement") else -1
    factors: list[Dim] = [add(dims[0], step * n) for n in range(count)]
    return Value((floor_divide(multiply(*factors), factorial(count)), count))


@operator("cartesian_prod")
def all_tuples(call: TorchCall) -> Value:
    """All tuples with one element of each vector."""
    shapes = call.tensors("tensors")
    if any(len(s) != 1 for s in shapes) or not shapes:
        call.refuse("the tensors must be vectors")
    return Value(shapes[0] if len(shapes) == 1 else (multiply(*(s[0] for s in shapes)), len(shapes)))


@operator("dist")
def distance(call: TorchCall) -> Value:
    """The norm of the difference of two tensors, which are broadcast."""
    call.broadcast(call.dims("self"), call.dims("other"))
    return Value(())


@operator("cumulative_trapezoid")
def integrated(call: TorchCall) -> Value:
    """The integrals up to each point after the first."""
    dims, points = call.dims("y"), call.maybe_dims("x")
    if not dims:
        call.refuse("the tensor must have an axis")
    place = call.axis(call.number("dim", -1), len(dims))
    if points is not None:
        call.give_up("the points are broadcast in several ways")
    return Value((*dims[:place], maximum((subtract(dims[place], 1), 0)), *dims[place + 1 :]))


@operator("diagflat")
def square_of(call: TorchCall) -> Value:
    """A square matrix with all elements on a diagonal."""
    size = add(multiply(*call.dims("self")), abs(call.number("offset", 0)))
    return Value((size, size))


@operator("sum_to_size")
def summed_to(call: TorchCall) -> Value:
    """The sums over the axes that broadcasting added or stretched."""
    dims, wanted = call.dims("self"), tuple(call.known_sizes("size"))
    call.broadcast(wanted, dims, rule="unidirectional")
    return Value(wanted)


@operator("ravel")
def flat(call: TorchCall) -> Value:
    """All elements as a vector."""
    return Value((multiply(*call.dims("self")),))


@operator("cov", "corrcoef")
def covariances(call: TorchCall) -> Value:
    """The covariance or correlation of variables (V, samples): (V, V), or a scalar for one variable."""
    dims = call.dims("self")
    if len(dims) > 2:
        call.refuse("there must be at most two axes: variables and samples")
    samples = dims[-1] if dims else 1
    for name in ("fweights", "aweights"):
        weights = call.maybe_dims(name)
        if weights is not None:
            call.same_shape(weights, (samples,), "there must be one weight for each sample")
            call.at_most(1, samples, "torch looks for the least weight")
    if len(dims) < 2:
        return Value(())
    if isinstance(dims[0], int):
        return Value(() if dims[0] == 1 else (dims[0], dims[0]))
    if not len(call.node.raw.meta["val"].shape):
        call.equal(dims[0], 1, "the exported graph has the scalar of one variable")
        return Value(())
    call.require(Comparison("!=", dims[0], 1), "the exported graph has a matrix, which one variable does not give")
    return Value((dims[0], dims[0]))
