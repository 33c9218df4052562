"""Reductions, statistics, and other operators that torch builds from several steps along an axis."""

from __future__ import annotations

from functools import partial
from math import factorial, inf

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, multiply, subtract
from symbcast.core.algebra.formulas import TRUE, Comparison, any_of, at_most, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.walking.reshaping import summed_along
from symbcast.operators.indexing import meet, top_k
from symbcast.operators.operator import TWICE, Dims
from symbcast.operators.products import reduce, search
from symbcast.operators.values import intervals
from symbcast.operators.values.contents import Content, DistinctPlaces, Elements, Interval
from symbcast.operators.values.intervals import fitted, interval_of
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall, operator, shape_of_value
from symbcast.torch.contents import estimated, indexed_by, operand_as, some_contents, translation


@operator(
    "sum", "mean", "prod", "any", "all", "var", "std", "var_mean", "std_mean", "logsumexp", "norm",
    "linalg_vector_norm", "count_nonzero", "nansum", "nanmean",
)  # fmt: skip
def reduced(call: TorchCall) -> list[Value]:
    """A reduction along axes."""
    dims, kind = call.dims("self"), call.node.op_type.removeprefix("aten.")
    axes = _axes(call, dims)
    # Most require nothing: an empty sum is 0, an empty mean is NaN; no axes mean all of them, except for any and all.
    if axes == [] and kind == "logsumexp":
        call.require(call.empty(dims) if dims else TRUE, "an axis must be named")
    if axes == [] and kind not in ("any", "all"):
        axes = None
    order = call.argument("ord", "p") if kind in ("norm", "linalg_vector_norm") else None
    if isinstance(order, (int, float)) and (order < 0 or order == inf):
        for axis in range(len(dims)) if axes is None else axes:
            call.at_most(1, dims[axis], "the axis must not be empty: this norm is not defined without elements")
    output = reduce(call, dims, axes, keepdims=call.flag("keepdim"))
    return [Value(output)] * len(call.node.outputs)


@translation("sum")
def sum_contents(call: TorchCall, output: Value) -> Content | None:
    dims, part = call.dims("self"), interval_of(call.value_of("self"), call.bounds)
    if part.low is None or part.high is None or not call.bounds.is_at_least(part.low, 0):
        return None
    axes = call.numbers_of("dim") or range(len(dims))
    most = multiply(part.high, *(dims[axis] for axis in axes))
    return fitted(Interval(0, most), output.dtype, call.bounds)


@translation("count_nonzero")
def count_nonzero_contents(call: TorchCall, output: Value) -> Content | None:
    dims = call.dims("self")
    axes = call.numbers_of("dim") or range(len(dims))
    return Interval(0, multiply(*(dims[axis] for axis in axes)))


def _axes(call: TorchCall, dims: Dims) -> list[int] | None:
    """Return the given axes, counted from the front; None if none are given."""
    numbers = call.numbers_of("dim")
    axes = None if numbers is None else call.distinct_axes(numbers, max(len(dims), 1), TWICE)
    return [] if axes and not dims else axes


@operator("amax", "amin", "max", "min", "argmax", "argmin", "mode", "aminmax", "median", "nanmedian")
def searched(call: TorchCall) -> list[Value]:
    """A search along axes, which must not be empty; two tensors are broadcast.

    Only the median of all elements need not exist.
    """
    if call.argument("other") is not None:
        return [Value(call.broadcast(call.dims("self"), call.dims("other")))]
    dims = call.dims("self")
    axes = _axes(call, dims) or None
    everywhere = () if "median" in call.node.op_type else range(len(dims))
    for axis in everywhere if axes is None else axes:
        search(call, dims, axis, keepdims=True)
    output = reduce(call, dims, axes, keepdims=call.flag("keepdim"))
    return [Value(output)] * len(call.node.outputs)


@translation("max", "min", "amax", "amin")
def extreme_contents(call: TorchCall, output: Value) -> Content | None:
    return some_contents(call, output) if call.argument("other") is None else None


@translation("argmax", "argmin")
def argmax_contents(call: TorchCall, output: Value) -> Content | None:
    dims = call.dims("self")
    return intervals.places(multiply(*dims) if call.argument("dim") is None or not dims else dims[call.number("dim")])


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
    output = top_k(call, dims or (1,), call.number("dim", -1), k)
    return [Value(output if dims else ())] * 2


@operator("cdist", "_cdist_forward")
def distances(call: TorchCall) -> Value:
    """The distances between the rows of two matrices."""
    left, right = call.dims("x1"), call.dims("x2")
    call.equal(left[-1], right[-1], "the rows must have equal length")
    return Value((*call.broadcast(left[:-2], right[:-2]), left[-2], right[-2]))


# Quantiles, numerical gradients, powers of points and other operators over samples.


# How many elements `quantile` sorts at most.
_MOST_SORTED = 1 << 24


@operator("quantile", "nanquantile")
def quantiles(call: TorchCall) -> Value:
    """The quantiles along an axis, or of all elements; several quantiles are put first."""
    dims, points = call.dims("self"), call.dims("q")
    call.filled(dims, "there must be elements")
    call.refuse_if(len(points) > 1, "the quantiles must be a number or a vector")
    axis = call.argument("dim")
    places = None if axis is None else call.distinct_axes([call.number("dim")], max(len(dims), 1), TWICE)
    sorted_length = multiply(*dims) if places is None else dims[places[0]] if dims else 1
    call.at_most(sorted_length, _MOST_SORTED, "torch sorts at most 2**24 elements")
    axes = None if places is None else places if dims else []
    return Value((*points, *reduce(call, dims, axes, keepdims=call.flag("keepdim"))))


@operator("gradient")
def gradients(call: TorchCall) -> list[Value]:
    """The numerical gradient along each axis, or along the given ones."""
    dims, order = call.dims("self"), call.number("edge_order", 1)
    axes = call.numbers_of("dim")
    places = list(range(len(dims))) if axes is None else call.distinct_axes(axes, len(dims), TWICE)
    call.refuse_if(order not in (1, 2), "the order of the edges must be 1 or 2")
    spacing = call.argument("spacing")
    call.refuse_if(isinstance(spacing, list) and len(spacing) != len(places), "there must be one spacing for each axis")
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
    call.refuse_if(not dims or (is_plain and len(dims) != 1), "the points must be a vector")
    count = call.size("N", dims[-1])
    if count is None:
        call.give_up("data decide N")
    call.at_most(0 if is_plain else 2, count, "there must be enough powers")
    return Value((*dims, count))


@operator("combinations")
def chosen_together(call: TorchCall) -> Value:
    """All selections of ``r`` elements of a vector."""
    dims, count = call.dims("self"), call.number("r", 2)
    call.refuse_if(len(dims) != 1 or count < 0, "the tensor must be a vector, and the number of elements not negative")
    if count == 0:
        return Value((0,))
    step = 1 if call.flag("with_replacement") else -1
    factors: list[Dim] = [add(dims[0], step * n) for n in range(count)]
    return Value((floor_divide(multiply(*factors), factorial(count)), count))


@operator("cartesian_prod")
def all_tuples(call: TorchCall) -> Value:
    """All tuples with one element of each vector."""
    shapes = call.tensors("tensors")
    call.refuse_if(any(len(s) != 1 for s in shapes) or not shapes, "the tensors must be vectors")
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
    call.refuse_if(not dims, "the tensor must have an axis")
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
    dims, target = call.dims("self"), tuple(call.known_sizes("size"))
    call.broadcast(target, dims, rule="unidirectional")
    return Value(target)


@operator("ravel")
def flat(call: TorchCall) -> Value:
    """All elements as a vector."""
    return Value((multiply(*call.dims("self")),))


@operator("cov", "corrcoef")
def covariances(call: TorchCall) -> Value:
    """The covariance or correlation of variables (V, samples): (V, V), or a scalar for one variable."""
    dims = call.dims("self")
    call.refuse_if(len(dims) > 2, "there must be at most two axes: variables and samples")
    samples = dims[-1] if dims else 1
    for name in ("fweights", "aweights"):
        weights = call.maybe_dims(name)
        if weights is not None:
            call.same_shape(weights, (samples,), "there must be one weight for each sample")
            call.at_most(1, samples, "torch looks for the least weight")
    if len(dims) < 2:
        return Value(())
    # One variable has a scalar, several a matrix: the rank depends on a size.
    if isinstance(dims[0], int):
        return Value(() if dims[0] == 1 else (dims[0], dims[0]))
    if not len(call.node.raw.meta["val"].shape):
        call.equal(dims[0], 1, "the exported graph has the scalar of one variable")
        return Value(())
    call.require(Comparison("!=", dims[0], 1), "the exported graph has a matrix, which one variable does not give")
    return Value((dims[0], dims[0]))


# Differences, turns, diagonals and other operators that torch builds from several steps.


@operator("diff")
def differences(call: TorchCall) -> Value:
    """Differences of neighbours along an axis, taken ``n`` times; tensors may be put before and after."""
    dims, times = call.dims("self"), call.number("n", 1)
    call.refuse_if(not dims, "the tensor must have an axis")
    call.refuse_if(times < 0, "the order must not be negative")
    if times == 0:  # nothing else is checked
        return Value(dims)
    place = call.axis(call.number("dim", -1), len(dims))
    length = dims[place]
    for name in ("prepend", "append"):
        more = call.maybe_dims(name)
        if more is None:
            continue
        call.refuse_if(len(more) != len(dims), f"{name} must have the axes of the tensor")
        expected = (*dims[:place], more[place], *dims[place + 1 :])
        call.same_shape(more, expected, f"{name} must have the sizes of the tensor on the other axes")
        length = add(length, more[place])
    count = maximum((subtract(length, times), 0))
    return Value((*dims[:place], count, *dims[place + 1 :]))


@operator("rot90")
def turned(call: TorchCall) -> Value:
    """A plane turned by quarters; an odd number of them exchanges its two axes."""
    dims, axes = call.dims("self"), call.numbers_of("dims") or [0, 1]
    call.refuse_if(len(axes) != 2 or len(dims) < 2, "there must be two axes to turn")
    first, second = call.distinct_axes(axes, len(dims), TWICE)
    output = list(dims)
    if call.number("k", 1) % 2:
        output[first], output[second] = dims[second], dims[first]
    return Value(tuple(output))


@operator("take_along_dim")
def taken_along(call: TorchCall) -> Value:
    """Elements along an axis by indices, which are broadcast with the tensor on the other axes."""
    dims, indices = call.dims("self"), call.dims("indices")
    if call.argument("dim") is None:
        indexed_by(call, call.value_of("indices"), multiply(*dims), indices)
        return Value((multiply(*indices),))
    call.refuse_if(len(dims) != len(indices), "the indices must have the axes of the tensor")
    call.refuse_if(not dims, "the tensor must have an axis")
    place = call.axis(call.number("dim"), len(dims))
    free = [tuple(d for n, d in enumerate(shape) if n != place) for shape in (dims, indices)]
    others = call.broadcast(*free)
    shape = (*others[:place], indices[place], *others[place:])
    # Torch takes indices modulo the size of the axis, so only an empty axis has none of them.
    meet(call, None, None, dims[place], shape)
    return Value(shape)


@operator("take")
def taken(call: TorchCall) -> Value:
    """Elements of the flattened tensor by indices."""
    indices = call.dims("index")
    indexed_by(call, call.value_of("index"), multiply(*call.dims("self")), indices, from_end=True)
    return Value(indices)


@operator("put", "put_")
def placed(call: TorchCall) -> Value:
    """A tensor with elements of a source written at indices into the flattened tensor."""
    dims, indices = call.dims("self"), call.dims("index")
    call.equal(multiply(*call.dims("source")), multiply(*indices), "there must be an element for each index")
    indexed_by(call, call.value_of("index"), multiply(*dims), indices, from_end=True)
    return Value(dims)


@operator("diag_embed")
def on_a_diagonal(call: TorchCall) -> Value:
    """The last axis as the diagonal of new square matrices."""
    dims, offset = call.dims("self"), call.number("offset", 0)
    call.refuse_if(not dims, "the tensor must have an axis")
    rank = len(dims) + 1
    places = call.distinct_axes([call.number("dim1", -2), call.number("dim2", -1)], rank, TWICE)
    size, output = add(dims[-1], abs(offset)), list(dims[:-1])
    for place in sorted(places):
        output.insert(place, size)
    return Value(tuple(output))


@operator("bincount")
def counted(call: TorchCall) -> Value:
    """How often each number up to the largest one occurs in a vector, up to ``minlength`` at least."""
    dims, least = call.dims("self"), call.size("minlength", 0)
    call.refuse_if(len(dims) != 1, "the numbers must be a vector")
    weights = call.maybe_dims("weights") or dims  # without numbers, torch does not look at them
    call.require(any_of([call.empty(dims), equal(weights[0], dims[0])]), "there must be a weight for each number")
    low = interval_of(call.value_of("self"), call.bounds).low
    # Data can choose numbers that are not negative.
    if not call.is_data_in("self") and (low is None or not call.bounds.is_at_least(low, 0)):
        call.note("not checked: the numbers must not be negative")
    if least is None:
        return Value((call.count(),))
    call.is_size(least, "minlength must not be negative")
    return Value((add(least, call.count(text="how many numbers there are beyond minlength")),))


@operator("histc")
def histogram(call: TorchCall) -> Value:
    """The counts of ``bins`` equal intervals."""
    bins = call.number("bins", 100)
    call.refuse_if(bins < 1, "there must be at least one interval")
    return Value((bins,))


@operator("multinomial")
def sampled(call: TorchCall) -> Value:
    """Categories drawn for each row; without replacement, at most as many as there are."""
    dims, count = call.dims("self"), call.size("num_samples")
    call.refuse_if(len(dims) not in (1, 2), "the probabilities must be a vector or a matrix")
    if count is None:
        call.give_up("data decide num_samples")
    call.at_most(1, count, "there must be at least one sample")
    some = at_most(1, dims[-1])
    call.require(any_of([some, equal(dims[0], 0)]) if len(dims) == 2 else some, "there must be a category")
    if not call.flag("replacement"):
        call.at_most(count, dims[-1], "without replacement, there must be as many categories as samples")
    return Value((*dims[:-1], count))


@translation("multinomial")
def multinomial_contents(call: TorchCall, output: Value) -> Content | None:
    return intervals.places(call.dims("self")[-1])


@operator("trapezoid", "trapz")
def integral(call: TorchCall) -> Value:
    """An integral along an axis, with equal steps."""
    dims = call.dims("y")
    if call.argument("x") is not None:
        call.give_up("steps given by a tensor")
    call.refuse_if(not dims, "the tensor must have an axis")
    place = call.axis(call.number("dim", -1), len(dims))
    return Value(reduce(call, dims, [place], keepdims=False))


@translation("argsort", "randperm")
def argsort_contents(call: TorchCall, output: Value) -> Content | None:
    dims = shape_of_value(output)
    axis = call.number("dim", -1)
    return DistinctPlaces(0, subtract(dims[axis], 1), axis % len(dims), True) if dims else Elements((0,))


@operator("isin")
def is_member(call: TorchCall) -> Value:
    """Whether each element occurs in another tensor."""
    if call.argument("elements") is not None:
        return Value(call.dims("elements"))
    return Value(None if call.argument("element") is None else ())


@operator("norm_except_dim")
def norms_of_slices(call: TorchCall) -> Value:
    """The norms of the slices along the first or another axis, or of all elements for -1."""
    dims, axis = call.dims("v"), call.number("dim", 0)
    if axis == -1:
        return Value(())
    place = call.axis(axis, len(dims))
    # Torch views the slices as the rows of a matrix, whose other size it infers: it cannot without a row.
    call.at_most(1, dims[place], "there must be a slice: torch views them as the rows of a matrix")
    return Value(tuple(d if n == place else 1 for n, d in enumerate(dims)))


@operator("_weight_norm")
def weight_norm(call: TorchCall) -> Value:
    """Weights scaled to norms ``g`` of their slices along the first or the last axis."""
    dims, scale, axis = call.dims("v"), call.dims("g"), call.number("dim", 0)
    if axis not in (0, len(dims) - 1, -1) or not dims:
        call.give_up("only the first and the last axis are read")
    place = axis % len(dims)
    norms = tuple(d if n == place else 1 for n, d in enumerate(dims))
    if axis == -1:
        call.give_up("a norm over all axes")
    call.filled(dims, "the weights must not be empty: the kernel divides by their number")
    call.same_shape(scale, norms, "there must be one norm for each slice: the kernel does not check it")
    return Value(dims)


@operator("prelu")
def leaky(call: TorchCall) -> Value:
    """A rectifier with one slope, or one for each channel."""
    dims, weight = call.dims("self"), call.dims("weight")
    call.refuse_if(len(weight) > 1, "the slopes must be a vector or a number")
    if weight:
        channels = dims[1] if len(dims) > 1 else 1
        call.broadcast(weight, (channels,), rule="unidirectional")
    return Value(dims)


@translation("cumsum")
def cumsum_contents(call: TorchCall, output: Value) -> Content | None:
    value = operand_as(call, "self", output.dtype)
    axis = call.number("dim") % len(shape_of_value(value))
    return estimated(
        output, summed_along(value, axis, call.bounds), partial(intervals.summed_along, value, axis, call.bounds)
    )
