"""Elementwise operators: those that broadcast their operands, and those that keep a tensor's shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.core.logic.formulas import any_of, different, equal
from symbcast.graphs.values.intervals import interval_of
from symbcast.graphs.values.value import Value
from symbcast.operators.context import TWICE
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.graphs.operators.table import Operator
    from symbcast.torch.node_call import TorchCall


@operator(
    "logical_and",
    "logical_or",
    "logical_xor",
    "__and__",
    "__or__",
    "__xor__",
    "__lshift__",
    "__rshift__",
    "where",
    "floor_divide",
    "floor_divide_",
    "subtract",
    "multiply",
    "divide",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "not_equal",
    "arctan2",
    "special_xlogy",
    "masked_fill",
    "masked_fill_",
    "rsub",
    "true_divide",
    "mish_",
    "relu6_",
    "special_ndtr",
    "_prelu_kernel",
    "_masked_scale",
    "binomial",
    *(f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tanh")),
    *(f"__i{name}__" for name in ("and", "or", "xor", "lshift", "rshift")),
)
def pointwise(call: TorchCall) -> Value:
    """An elementwise operator: all tensors are broadcast; a tensor written in place keeps its shape."""
    shapes = [v.shape for v in call.arguments.values() if isinstance(v, Value)]
    given = [s for s in shapes if s is not None]
    if len(given) < len(shapes) or not given:
        call.give_up("the shape of an operand is unknown")
    if call.node.op_type in ("aten.masked_fill", "aten.masked_fill_") and call.maybe_dims("value"):
        call.refuse("the value to fill with must have no axes")
    if _is_in_place(call):
        dims = call.dims("self", "input")  # its position among the arguments differs: defaults come first
        for value in call.arguments.values():
            if isinstance(value, Value) and value is not call.given("self", "input"):
                call.broadcast(value.shape or (), dims, rule="unidirectional")
        return Value(dims)
    return Value(call.broadcast(*given) if len(given) > 1 else given[0])


def _is_in_place(call: TorchCall) -> bool:
    name = call.node.op_type
    return name.startswith("aten.__i") or bool(name.endswith("_") and not name.endswith("__"))


def written(rule: Operator[TorchCall]) -> Operator[TorchCall]:
    """Return the rule of an operator that writes its result into its first tensor, which keeps its shape."""

    def in_place(call: TorchCall) -> Value:
        found = rule(call)
        result = found if isinstance(found, Value) else found[0]
        dims = call.dims("self", "input")
        call.same_shape(result.shape or (), dims, "the result is written into the tensor, which keeps its shape")
        return Value(dims)

    return in_place


@operator(
    "to",
    "_to_copy",
    "type_as",
    "contiguous",
    "detach",
    "detach_",
    "alias",
    "lift_fresh",
    "lift_fresh_copy",
    "dropout",
    "dropout_",
    "alpha_dropout",
    "clone",
    "native_dropout",
    "softmax",
    "_softmax",
    "log_softmax",
    "_log_softmax",
    "cumsum",
    "cumprod",
    "logcumsumexp",
    "zeros_like",
    "ones_like",
    "full_like",
    "empty_like",
    "rand_like",
    "randn_like",
    "zero_",
    "hardswish",
    "hardswish_",
    "uniform_",
    "exponential_",
    "randint_like",
    "rrelu",
    "relu_",
    "positive",
    "gelu_",
    "celu_",
    "selu_",
    "softplus",
    "sort",
    "msort",
    "argsort",
    "log_sigmoid",
    "conj",
    "resolve_conj",
    "resolve_neg",
    "real",
    "absolute",
    "negative",
    "fix",
    "imag",
    "data",
    "alias_copy",
    "special_softmax",
    "special_log_softmax",
    "cumsum_",
    "cumprod_",
    "random_",
    "normal_",
    "log_normal_",
    "cauchy_",
    "geometric_",
    "bernoulli_",
    "exponential",
    "cauchy",
    "geometric",
    "log_normal",
    "poisson",
    "rrelu_",
    "threshold_",
    "_safe_softmax",
    "_conj",
    "_pin_memory",
    "pin_memory",
    "lift",
    "zero",
    "uniform",
    "normal_functional",
    "_standard_gamma",
    "special_multigammaln",
    "fake_quantize_per_tensor_affine",
    "fake_quantize_per_tensor_affine_cachemask",
)
def kept(call: TorchCall) -> list[Value]:
    """Each output has the shape of the first operand; a given axis must exist."""
    dims = call.dims("self", "input", "data", "a")
    for axis in call.numbers_of("dim") or ():
        call.axis_of(axis, len(dims))
    return [Value(dims)] * len(call.node.outputs)


@operator("cummax", "cummin")
def extremes(call: TorchCall) -> list[Value]:
    """Running extremes and where they are; the axis must exist, unless the tensor is empty."""
    dims = call.dims("self")
    rank, axis = max(len(dims), 1), call.number("dim")
    if not -rank <= axis < rank:
        call.require(call.empty(dims), f"axis {axis} is out of range for {rank} axes, unless the tensor is empty")
    return [Value(dims)] * 2


@operator("fill", "fill_")
def filled(call: TorchCall) -> Value:
    """A tensor with every element set to one value, given as a scalar."""
    if call.maybe_dims("value"):
        call.refuse("the value to fill with must have no axes")
    return Value(call.dims("self"))


@operator("tril", "triu", "tril_", "triu_")
def triangle(call: TorchCall) -> Value:
    """The lower or upper triangle of matrices."""
    dims = call.dims("self")
    if len(dims) < 2:
        call.refuse("a matrix must have at least two axes")
    return Value(dims)


@operator("renorm")
def renormed(call: TorchCall) -> Value:
    """The slices along an axis, each scaled to a maximum norm."""
    dims = call.dims("self")
    if len(dims) < 2:
        call.refuse("the tensor must have at least two axes")
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
    """Elements shifted along axes, wrapping around; nothing is checked for an empty tensor."""
    dims, axes = call.dims("self"), call.numbers_of("dims") or []
    shifts = len(call.given("shifts") or ()) if isinstance(call.given("shifts"), list) else 1
    if shifts != max(len(axes), 1):
        call.refuse("there must be one shift for each axis")
    is_right = all(-len(dims) <= a < len(dims) for a in axes)
    if not is_right:
        call.require(call.empty(dims), "a given axis must exist")
    return Value(dims)


@operator("bernoulli")
def drawn(call: TorchCall) -> Value:
    """Random zeros and ones; a tensor of probabilities is broadcast to the output, unless the output is empty."""
    dims, given = call.dims("self"), call.maybe_dims("p") or ()
    if len(given) > len(dims):
        call.refuse("the probabilities must not have more axes than the tensor")
    for p, size in zip(given, dims[len(dims) - len(given) :], strict=True):
        fits = any_of([call.empty(dims), equal(p, 1), equal(p, size)])
        call.require(fits, "the probabilities must broadcast to the tensor")
    return Value(dims)


@operator("feature_dropout", "feature_dropout_", "feature_alpha_dropout", "feature_alpha_dropout_")
def without_features(call: TorchCall) -> Value:
    """Dropout of whole channels."""
    dims = call.dims("input", "self")
    if len(dims) < 2 and call.flag("train") and call.given("p"):
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
    elif not call.is_data_in("self"):
        call.note("not checked: its assertion, which sizes may decide")
    return Value(None)


@operator("_assert_tensor_metadata", "sym_constrain_range", "manual_seed", "_linalg_check_errors")
def nothing(call: TorchCall) -> Value:
    """An operator without requirements on sizes."""
    return Value(None)
