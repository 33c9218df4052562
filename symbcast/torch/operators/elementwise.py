"""Element by element: the operands are broadcast, and what keeps a tensor's shape as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from symbcast.onnx.values.value import Value
from symbcast.torch.registry import operator

if TYPE_CHECKING:
    from symbcast.torch.node_call import TorchCall


@operator(
    "logical_and", "logical_or", "logical_xor", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__", "where"
)
def pointwise(call: TorchCall) -> Value:
    """All tensors are broadcast; one that is written in place keeps its shape."""
    shapes = [v.shape for v in call.arguments.values() if isinstance(v, Value)]
    given = [s for s in shapes if s is not None]
    if len(given) < len(shapes) or not given:
        call.give_up("the shape of an operand is not known")
    if _is_in_place(call) or call.node.op_type == "aten.masked_fill":
        for other in given[1:]:
            call.broadcast(other, given[0], rule="unidirectional")
        return Value(given[0])
    return Value(call.broadcast(*given) if len(given) > 1 else given[0])


def _is_in_place(call: TorchCall) -> bool:
    name = call.node.op_type
    return bool(name.endswith("_") and not name.endswith("__"))


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
    "feature_dropout",
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
    "tril",
    "triu",
    "zeros_like",
    "ones_like",
    "full_like",
    "empty_like",
    "rand_like",
    "randn_like",
    "fill",
    "fill_",
    "zero_",
    "flip",
    "roll",
    "renorm",
    "hardswish_",
    "relu_",
    "positive",
    "bernoulli",
    "gelu_",
    "celu_",
    "selu_",
    "softplus",
    "sort",
    "argsort",
    "log_sigmoid",
    "conj",
    "resolve_conj",
    "resolve_neg",
    "real",
)
def kept(call: TorchCall) -> list[Value]:
    """Each output has the shape of the first operand; an axis that is named must be there."""
    dims = call.dims("self", "input", "data", "a")
    if call.given("dim") is not None and dims:
        for axis in call.numbers_of("dim") or ():
            call.axis(axis, len(dims))
    return [Value(dims)] * len(call.node.output)


@operator("copy", "copy_")
def copied(call: TorchCall) -> Value:
    """What is copied is broadcast to the tensor that is written."""
    dims = call.dims("self")
    call.broadcast(call.dims("src"), dims, rule="unidirectional")
    return Value(dims)


@operator("_assert_tensor_metadata", "_assert_async", "_functional_assert_async", "sym_constrain_range", "manual_seed")
def nothing(call: TorchCall) -> Value:
    """It asks nothing of sizes."""
    return Value(None)
