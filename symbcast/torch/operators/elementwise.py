"""Elementwise operators, and tensors created from sizes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from symbcast.core.algebra.arithmetic import add, ceil_divide, multiply, subtract
from symbcast.core.algebra.formulas import FALSE, TRUE, all_of, any_of, at_most, different, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.check import Operator
from symbcast.operators.indexing import one_hot
from symbcast.operators.operator import TWICE
from symbcast.operators.values import intervals
from symbcast.operators.values.contents import BOOL, Content, IndexRamp, Interval
from symbcast.operators.values.elements import UNARY, quotient_towards_zero
from symbcast.operators.values.intervals import interval_of, some_of
from symbcast.operators.values.tensors import chosen
from symbcast.operators.values.value import Decider, Value
from symbcast.torch.calls import OPERATORS, TorchCall, operator, raw_argument, shape_of_value, size_of
from symbcast.torch.contents import computed, estimated, indexed_by, operand_as, translation
from symbcast.torch.graph import StoredTorchTensor
from symbcast.torch.library import INT64, load_torch


@operator(
    "logical_and", "logical_or", "logical_xor", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__", "where",
    "floor_divide", "floor_divide_", "subtract", "multiply", "divide", "greater", "greater_equal", "less",
    "less_equal", "not_equal", "arctan2", "special_xlogy", "masked_fill", "masked_fill_", "rsub", "true_divide",
    "mish_", "relu6_", "special_ndtr", "_prelu_kernel", "_masked_scale", "binomial",
    *(f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")),
    *(f"__i{name}__" for name in ("and", "or", "xor", "lshift", "rshift")),
)  # fmt: skip
def pointwise(call: TorchCall) -> Value:
    """An elementwise operator: all tensors are broadcast; a tensor written in place keeps its shape."""
    shapes = [v.shape for v in call.arguments.values() if isinstance(v, Value)]
    known_shapes = [s for s in shapes if s is not None]
    if len(known_shapes) < len(shapes) or not known_shapes:
        call.give_up("the shape of an operand is unknown")
    if call.node.op_type in ("aten.masked_fill", "aten.masked_fill_") and call.maybe_dims("value"):
        call.refuse("the value to fill with must have no axes")
    if call.node.op_type.startswith("aten.__i") or _is_in_place(call.node.op_type):
        dims = call.dims("self", "input")  # its position among the arguments differs: defaults come first
        for value in call.arguments.values():
            if isinstance(value, Value) and value is not call.argument("self", "input"):
                call.broadcast(value.shape or (), dims, rule="unidirectional")
        return Value(dims)
    return Value(call.broadcast(*known_shapes) if len(known_shapes) > 1 else known_shapes[0])


@translation("rsub")
def rsub_contents(call: TorchCall, output: Value) -> Content | None:
    return _on_operands(call, "Sub", output.dtype, ("other", "self"))


def _on_operands(call: TorchCall, name: str, dtype: int, of: Sequence[str] = ("self", "other")) -> Content | None:
    """Apply an operation to operands cast to an element type; return None if ``alpha`` scales one."""
    if call.argument("alpha") not in (None, 1):
        return None
    return computed(call, name, *(operand_as(call, n, dtype) for n in of[: 1 if name in UNARY else 2])).content


@translation("floor_divide", "div")
def div_contents(call: TorchCall, output: Value) -> Content | None:
    # Rounding down and rounding towards zero agree only if no operand is negative.
    if call.node.op_type == "aten.div" and call.argument("rounding_mode") is None:
        return None
    above, below = (operand_as(call, name, output.dtype) for name in ("self", "other"))
    ends = [interval_of(v, call.bounds).low for v in (above, below)]
    if any(low is None or not call.bounds.is_at_least(low, n) for n, low in enumerate(ends)):
        return None
    return computed(call, "Div", above, below).content


@translation("where")
def where_contents(call: TorchCall, output: Value) -> Content | None:
    others = [operand_as(call, name, output.dtype) for name in ("self", "other")]
    values = [operand_as(call, "condition", BOOL), *others]
    exact = chosen(call.place.name, values, call.broadcast(*map(shape_of_value, values)), call.asker)
    return estimated(output, exact, partial(intervals.chosen, others, call.bounds))


@operator(
    "to", "_to_copy", "type_as", "contiguous", "detach", "detach_", "alias", "lift_fresh", "lift_fresh_copy",
    "dropout", "dropout_", "alpha_dropout", "clone", "native_dropout", "softmax", "_softmax", "log_softmax",
    "_log_softmax", "cumsum", "cumprod", "logcumsumexp", "zeros_like", "ones_like", "full_like", "empty_like",
    "rand_like", "randn_like", "zero_", "hardswish", "hardswish_", "uniform_", "exponential_", "randint_like",
    "rrelu", "relu_", "positive", "gelu_", "celu_", "selu_", "softplus", "sort", "msort", "argsort", "log_sigmoid",
    "conj", "resolve_conj", "resolve_neg", "real", "absolute", "negative", "fix", "imag", "data", "alias_copy",
    "special_softmax", "special_log_softmax", "cumsum_", "cumprod_", "random_", "normal_", "log_normal_", "cauchy_",
    "geometric_", "bernoulli_", "exponential", "cauchy", "geometric", "log_normal", "poisson", "rrelu_", "threshold_",
    "_safe_softmax", "_conj", "_pin_memory", "pin_memory", "lift", "zero", "uniform", "normal_functional",
    "_standard_gamma", "special_multigammaln", "fake_quantize_per_tensor_affine",
    "fake_quantize_per_tensor_affine_cachemask", "quantize_per_tensor", "dequantize",
)  # fmt: skip
def with_shape_of_first(call: TorchCall) -> list[Value]:
    """Each output has the shape of the first operand; a given axis must exist."""
    dims = call.dims("self", "input", "data", "a")
    for axis in call.numbers_of("dim") or ():
        call.axis_of(axis, len(dims))
    return [Value(dims)] * len(call.node.outputs)


@operator(*(f"fake_quantize_per_channel_affine{end}" for end in ("", "_cachemask")), "quantize_per_channel")
def quantized_by_channel(call: TorchCall) -> list[Value]:
    """A tensor with a scale and a zero point for each part along an axis."""
    dims, scales, zeros = call.dims("self"), call.dims("scale", "scales"), call.dims("zero_point", "zero_points")
    call.refuse_if(len(scales) != 1 or len(zeros) != 1, "the scales and the zero points must be vectors")
    axis = call.number("axis")
    call.refuse_if(not 0 <= axis < len(dims), "the axis must be one of the tensor, counted from the front")
    call.equal(scales[0], dims[axis], "there must be a scale for each part of the axis")
    if call.node.op_type.startswith("aten.fake"):
        call.at_most(1, dims[axis], "torch looks for the least zero point")
    call.equal(zeros[0], scales[0], "there must be a zero point for each scale")
    return [Value(dims)] * len(call.node.outputs)


def _of_one_value(output: Value, element: Dim) -> Content:
    return IndexRamp(element, (0,) * len(output.shape or ()))


@translation("to", "_to_copy", "type_as")
def to_contents(call: TorchCall, output: Value) -> Content | None:
    return operand_as(call, "self", output.dtype).content


@operator("cummax", "cummin")
def extremes(call: TorchCall) -> list[Value]:
    """Running extremes and where they are."""
    dims = call.dims("self")
    rank, axis = max(len(dims), 1), call.number("dim")
    # Torch does not look at the axis of an empty tensor.
    if not -rank <= axis < rank:
        call.require(call.empty(dims), f"axis {axis} is out of range for {rank} axes, unless the tensor is empty")
    return [Value(dims)] * 2


@operator("fill", "fill_")
def filled(call: TorchCall) -> Value:
    """A tensor with every element set to one value, given as a scalar."""
    call.refuse_if(call.maybe_dims("value"), "the value to fill with must have no axes")
    return Value(call.dims("self"))


@operator("tril", "triu", "tril_", "triu_", "renorm")
def of_matrices(call: TorchCall) -> Value:
    """The lower or upper triangle of matrices, or the slices along an axis, each scaled to a maximum norm."""
    dims = call.dims("self")
    call.refuse_if(len(dims) < 2, "a matrix must have at least two axes")
    if "renorm" in call.node.op_type:
        call.axis(call.number("dim"), len(dims))
    return Value(dims)


@operator("flip")
def flipped(call: TorchCall) -> Value:
    """The elements in reverse order along some axes."""
    dims = call.dims("self")
    call.distinct_axes(call.numbers_of("dims") or (), max(len(dims), 1), TWICE)
    return Value(dims)


@operator("roll")
def rolled(call: TorchCall) -> Value:
    """Elements shifted along axes, wrapping around."""
    dims, axes = call.dims("self"), call.numbers_of("dims") or []
    shifts = len(call.argument("shifts") or ()) if isinstance(call.argument("shifts"), list) else 1
    call.refuse_if(shifts != max(len(axes), 1), "there must be one shift for each axis")
    # Torch does not look at the axes of an empty tensor.
    if not all(-len(dims) <= a < len(dims) for a in axes):
        call.require(call.empty(dims), "a given axis must exist")
    return Value(dims)


@operator("bernoulli")
def drawn(call: TorchCall) -> Value:
    """Random zeros and ones; a tensor of probabilities is broadcast to the output, unless the output is empty."""
    dims, probabilities = call.dims("self"), call.maybe_dims("p") or ()
    call.refuse_if(len(probabilities) > len(dims), "the probabilities must not have more axes than the tensor")
    for p, size in zip(probabilities, dims[len(dims) - len(probabilities) :], strict=True):
        fits = any_of([call.empty(dims), equal(p, 1), equal(p, size)])
        call.require(fits, "the probabilities must broadcast to the tensor")
    return Value(dims)


@operator("feature_dropout", "feature_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_")
def without_features(call: TorchCall) -> Value:
    """Dropout of whole channels."""
    dims = call.dims("input", "self")
    if len(dims) < 2 and call.flag("train") and call.argument("p"):
        call.require(call.empty(dims), "there must be a batch and channels")
    return Value(dims)


@operator("copy", "copy_")
def copied(call: TorchCall) -> Value:
    """A tensor overwritten with a source, which is broadcast to it."""
    dims = call.dims("self")
    call.broadcast(call.dims("src"), dims, rule="unidirectional")
    return Value(dims)


@operator("_assert_async", "_functional_assert_async")
def asserted(call: TorchCall) -> Value:
    """A run-time assertion about an element of a tensor."""
    value = call.value_of("self")
    known = interval_of(value, call.bounds)
    if known.low is not None and known.low == known.high and known.is_attained:
        call.require(different(known.low, 0), "the program asserts it")
    elif (
        value.decided_by == Decider.NUMBERS
        and (constant := _computed(call, raw_argument(call, "self"), {})) is not None
    ):
        call.require(TRUE if bool(constant) else FALSE, "the program asserts it")
    elif not call.is_data_in("self"):
        call.note("not checked: its assertion, which sizes may decide")
    return Value(None)


# The largest number of elements that are computed here.
_MOST_COMPUTED = 1 << 16


def _computed(call: TorchCall, fx: Any, known: dict[Any, Any]) -> Any:
    """Return what a node computes from stored tensors alone, as torch computes it; None if it takes others."""
    if fx not in known:
        known[fx] = _compute(call, fx, known)
    return known[fx]


def _compute(call: TorchCall, fx: Any, known: dict[Any, Any]) -> Any:
    torch = load_torch()
    value, size = call.resolved(fx), getattr(getattr(fx, "meta", {}).get("val"), "numel", lambda: 0)()
    if isinstance(value, StoredTorchTensor):
        return None if value.is_fake or size > _MOST_COMPUTED else value.raw.detach().clone()
    if getattr(fx, "op", "") != "call_function" or torch.Tag.nondeterministic_seeded in getattr(fx.target, "tags", ()):
        return None
    taken = {node: _computed(call, node, known) for node in fx.all_input_nodes}
    if not taken or any(tensor is None for tensor in taken.values()) or not size <= _MOST_COMPUTED:
        return None
    args, kwargs = load_torch("torch.fx.node").map_arg((fx.args, fx.kwargs), taken.__getitem__)
    with torch.no_grad():
        return fx.target(*args, **kwargs)


@operator(
    "_assert_tensor_metadata", "sym_constrain_range", "manual_seed", "_linalg_check_errors", "promote_types",
    *(f"torch._functorch.predispatch.{name}" for name in ("lazy_load_decompositions", "_vmap_decrement_nesting")),
)  # fmt: skip
def nothing(call: TorchCall) -> Value:
    """An operator without requirements on sizes."""
    return Value(None)


# Tensors created from sizes.


@operator(
    "full", "zeros", "ones", "empty", "rand", "randn", "randint", "new_full", "new_zeros", "new_ones", "new_empty",
    "empty_permuted", "empty_strided", "new_empty_strided",
)  # fmt: skip
def created(call: TorchCall) -> Value:
    """A tensor of a given shape."""
    sizes = call.known_sizes("size")
    call.are_sizes(sizes, "a size must not be negative")
    return Value(tuple(sizes))


@translation("full", "new_full", "full_like", "scalar_tensor", "fill", "fill_")
def full_contents(call: TorchCall, output: Value) -> Content | None:
    fill = call.argument("fill_value", "s", "value")
    element = int(fill) if isinstance(fill, bool) else size_of(fill)
    return None if element is None else _of_one_value(output, element)


@translation("zeros", "zeros_like", "new_zeros", "zero_", "ones", "ones_like", "new_ones")
def zeros_contents(call: TorchCall, output: Value) -> Content:
    return _of_one_value(output, int("ones" in call.node.op_type))


@translation("randint", "randint_like")
def randint_contents(call: TorchCall, output: Value) -> Content | None:
    low, high = call.size("low", 0), call.size("high")
    return None if low is None or high is None else some_of(Interval(low, subtract(high, 1)))


@operator("scalar_tensor")
def single(call: TorchCall) -> Value:
    """A scalar tensor."""
    return Value(())


@operator("arange")
def counted(call: TorchCall) -> Value:
    """Numbers from a start to an end (exclusive), in steps."""
    start, step, end = call.size("start", 0), call.size("step", 1), call.size("end")
    if all(not isinstance(call.argument(n), Value) for n in ("start", "step", "end")):
        call.refuse_if(isinstance(step, int) and step == 0, "the step must not be 0")
        if not all(isinstance(n, int) for n in (start, step, end)):
            return next(iter(call.recorded("its arguments are numbers")))
    if start is None or end is None or step is None:
        note = "not checked: the end must not be before the start, and the step not 0"
        call.note(note, is_about_data=call.is_data())
        return Value((call.count(),))
    # How far it goes forward, and backward, and in which steps.
    ways = {
        sign: [at_most(1, multiply(sign, step)), at_most(0, multiply(sign, subtract(end, start)))] for sign in (1, -1)
    }

    def count(sign: int) -> Dim:
        return ceil_divide(multiply(sign, subtract(end, start)), multiply(sign, step))

    for sign, (is_step, is_after) in ways.items():
        if call.bounds.is_at_least(multiply(sign, step), 0):
            call.require(is_step, "the step must not be 0")
            call.require(is_after, "the end must not be before the start")
            return Value((count(sign),))
    call.require(any_of(map(all_of, ways.values())), "the end must not be before the start, nor the step 0")
    text = f"the number of steps [{call.place.name}]"
    return Value((call.asker.by_cases(f"{call.size_prefix}_count", text, ways[1][0], count(1), count(-1)),))


@translation("arange")
def arange_contents(call: TorchCall, output: Value) -> Content | None:
    start, step = call.size("start", 0), call.size("step", 1)
    return None if start is None or step is None or call.size("end") is None else IndexRamp(start, (step,))


@operator(
    "linspace", "logspace", *(f"{kind}_window" for kind in ("hann", "hamming", "blackman", "bartlett", "kaiser")),
    "fft_fftfreq", "fft_rfftfreq", "randperm",
)  # fmt: skip
def spaced(call: TorchCall) -> Value:
    """A given count of numbers that are evenly spaced or in random order; ``fft_rfftfreq`` keeps half of them."""
    count = size_of(call.argument("steps", "window_length", "n"))
    if count is None:
        call.note("not checked: the number must not be negative", is_about_data=call.is_data())
        return Value((call.count(),))
    if call.node.op_type == "aten.fft_rfftfreq":
        count = add(quotient_towards_zero(call.bounds, count, 2), 1)
    call.is_size(count, "a size must not be negative")
    return Value((count,))


@operator("eye")
def unit(call: TorchCall) -> Value:
    """A matrix with ones on its main diagonal."""
    rows = call.size("n")
    columns = rows if call.argument("m") is None else call.size("m")
    sizes: list[Dim] = []
    for size in (rows, columns):
        if size is None:
            call.note("not checked: a size must not be negative", is_about_data=call.is_data())
            sizes.append(call.count())
        else:
            call.is_size(size, "a size must not be negative")
            sizes.append(size)
    return Value(tuple(sizes))


@operator("one_hot")
def one_hot_(call: TorchCall) -> Value:
    """Class indices as one-hot rows."""
    classes = call.size("num_classes")
    if classes == -1:
        call.at_most(1, multiply(*call.dims("self")), "there must be an element to infer the number of classes from")
    if classes is None:
        call.note("not checked: each class index must be below the number of classes", is_about_data=call.is_data())
    if classes is None or classes == -1:
        return Value((*call.dims("self"), call.count(text="the number of classes")))
    output = one_hot(call, call.dims("self"), -1, classes)
    indexed_by(call, call.value_of("self"), classes, call.dims("self"))
    return Value(output)


@translation("one_hot")
def one_hot_contents(call: TorchCall, output: Value) -> Content | None:
    return Interval(0, 1)


@operator("meshgrid")
def mesh(call: TorchCall) -> list[Value]:
    """Vectors, each along its own axis; the indexing ``xy`` swaps the first two axes."""
    shapes = call.tensors("tensors")
    call.refuse_if(not shapes or any(len(s) > 1 for s in shapes), "there must be tensors, each with at most one axis")
    sizes = [s[0] if s else 1 for s in shapes]
    output = sizes[1::-1] + sizes[2:] if call.argument("indexing") == "xy" and len(sizes) > 1 else sizes
    return [Value(tuple(output))] * len(sizes)


# Known elements of what operators compute that torch tags as pointwise: these need no function of their own.


_ARITHMETIC = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "remainder": "Mod", "maximum": "Max", "minimum": "Min",
    "eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual",
    "neg": "Neg", "abs": "Abs", "sign": "Sign",
}  # fmt: skip


_LOGIC = {
    "logical_and": "And", "logical_or": "Or", "logical_xor": "Xor", "logical_not": "Not",
    "bitwise_and": "And", "bitwise_or": "Or", "bitwise_not": "Not", "__and__": "And", "__or__": "Or",
}  # fmt: skip


@translation(*_ARITHMETIC)
def arithmetic_contents(call: TorchCall, output: Value) -> Content | None:
    name = _ARITHMETIC[call.node.op_type.removeprefix("aten.")]
    is_comparison = output.dtype == BOOL and name not in UNARY
    return _on_operands(call, name, INT64 if is_comparison else output.dtype)


@translation(*_LOGIC)
def logic_contents(call: TorchCall, output: Value) -> Content | None:
    name = _LOGIC[call.node.op_type.removeprefix("aten.")]
    return _on_operands(call, name, BOOL) if output.dtype == BOOL else None


@translation("clamp", "clamp_min", "clamp_max", "clip")
def clamp_contents(call: TorchCall, output: Value) -> Content | None:
    clamped = operand_as(call, "self", output.dtype)
    for name, step in (("min", "Max"), ("max", "Min")):
        if call.argument(name) is not None:
            clamped = computed(call, step, clamped, operand_as(call, name, output.dtype))
    return clamped.content


# Operators without a function of their own.


def by_tag(target: Any) -> Operator[TorchCall] | None:
    """Return the operator for a target without one of its own; None if there is none.

    It is elementwise if torch tags it as pointwise; or it writes the result of another operator into its tensor.
    """
    if _is_pointwise(target):
        return pointwise
    namespace, _, name = str(getattr(getattr(target, "_schema", None), "name", "")).partition("::")
    if not _is_in_place(name):
        return None
    packet = getattr(getattr(load_torch().ops, namespace), name[:-1], None)
    is_elementwise = _is_pointwise(getattr(packet, target._overloadname, None))
    return pointwise if is_elementwise else in_place(f"{namespace}.{name}")


def in_place(name: str) -> Operator[TorchCall] | None:
    """Return the operator that writes the result of another one, named without the last ``_``, into its tensor."""
    rule = OPERATORS.get(("", name[:-1])) if _is_in_place(name) else None
    return None if rule is None else partial(_written, rule)


def _written(rule: Operator[TorchCall], call: TorchCall) -> Value:
    outputs = rule(call)
    result = outputs if isinstance(outputs, Value) else outputs[0]
    dims = call.dims("self", "input")
    call.same_shape(result.shape or (), dims, "the result is written into the tensor, which keeps its shape")
    return Value(dims)


def _is_pointwise(target: Any) -> bool:
    return any(tag.name == "pointwise" for tag in getattr(target, "tags", ()))


def _is_in_place(name: str) -> bool:
    # Two underscores end the name of a Python method, such as `__and__`, which returns a new tensor.
    return name.endswith("_") and not name.endswith("__")
