"""Reductions, sorts, normalisations, random numbers."""

from __future__ import annotations

from symbcast.graphs.operators.folding import folded
from symbcast.graphs.values.contents import Content, Elements
from symbcast.graphs.values.elements import BINARY
from symbcast.graphs.values.numbers import BOOL
from symbcast.graphs.values.value import Value
from symbcast.operators.reductions import reduce as reduced_shape
from symbcast.stablehlo.node_call import HloCall
from symbcast.stablehlo.registry import operator

_STEPS = {
    "stablehlo.add": "Add",
    "stablehlo.multiply": "Mul",
    "stablehlo.maximum": "Max",
    "stablehlo.minimum": "Min",
    "stablehlo.and": "And",
    "stablehlo.or": "Or",
}
"""Operations that fold elements, and their names in `symbcast.graphs.values.elements`."""


@operator("reduce", constraints="C1 C7")
def reduce(call: HloCall) -> list[Value]:
    """Tensors of one shape, each folded along some axes."""
    count = len(call.inputs) // 2
    dims = call.alike(call.shapes()[:count], "all inputs must have the same shape")
    check_initial(call)
    shape = reduced_shape(call, dims, call.integers("dimensions"), keepdims=False)
    return [call.made(shape, _content(call) if count == 1 and not shape else None, n) for n in range(count)]


def check_initial(call: HloCall) -> None:
    """Note initial values that are no numbers: the specification has none, and MLIR's verifier takes some."""
    if any(call.shapes()[len(call.inputs) // 2 :]):
        call.note("not checked: initial values must be numbers")


def _content(call: HloCall) -> Content | None:
    """Return the one element to which all elements and the initial value are folded by an operation on numbers."""
    operations = [op.operation.name for op in call.node.raw.regions[0].blocks[0].operations]
    step = _STEPS.get(operations[0]) if len(operations) == 2 else None
    start = call.elements(1)
    if step is None or (step in ("And", "Or")) != (call.dtype() == BOOL) or not start:
        return None
    found = folded(call, step)
    if found is None or not isinstance(found, Elements):
        return None
    item = BINARY[step](call.asker, call.dtype(), start[0], found.items[0])
    return None if item is None else Elements((item,))


@operator("sort", constraints="C2 C3")
def sort(call: HloCall) -> list[Value]:
    """Tensors of one shape, sorted along an axis by a comparison of their elements."""
    shape = call.alike(call.shapes(), "all inputs must have the same shape")
    return [call.made(shape, output=n) for n in range(len(call.inputs))]


# Normalisations: one number for each feature.


_OF_FEATURES = {
    "stablehlo.batch_norm_inference": ([1, 2, 3, 4], 0),
    "stablehlo.batch_norm_training": ([1, 2], 2),
    "stablehlo.batch_norm_grad": ([1, 2, 3], 2),
}
"""The operands with one number for each feature, and how many results have one."""


@operator("batch_norm_inference", "batch_norm_training", constraints="C3 C4 C5 C6 C7")
@operator("batch_norm_grad", constraints="C3 C4 C5")
def batch_norm(call: HloCall) -> list[Value]:
    """Normalised features, or their gradients, and tensors with one number for each feature."""
    operands, results = _OF_FEATURES[call.node.op_type]
    tensors = [call.shape(n) for n in range(len(call.inputs)) if n not in operands]
    shape = call.alike(tensors, "the operand and its gradient must have the same shape")
    size = call.shape(0)[call.integer("feature_index")]
    for n in operands:
        call.equal(call.shape(n)[0], size, "there must be one number for each feature")
    return [call.made(shape), *(call.made(call.shape(1), output=1 + n) for n in range(results))]


# Random numbers.


@operator("rng", constraints="C3")
def rng(call: HloCall) -> Value:
    """Random numbers in a shape that an operand holds."""
    return call.made(call.wanted(2))


@operator("rng_bit_generator", constraints="C1 C2")
def rng_bit_generator(call: HloCall) -> list[Value]:
    """The next state of a generator, and random bits in the shape of the result's type."""
    dims = call.shape(0)
    if len(dims) != 1:
        call.give_up("the state must have one axis")
    (state,) = dims
    algorithm = call.keyword("rng_algorithm")
    bits = call.width(call.node.raw.operands[0])
    if algorithm == "THREE_FRY":
        call.equal(state, 128 // bits, "the state must have 128 bits")
    elif algorithm == "PHILOX":
        call.one_of(state, (128 // bits, 192 // bits), "the state must have 128 or 192 bits")
    return [call.made((state,)), call.made(call.declared(1), output=1)]


@operator("custom_call.stablehlo.dynamic_rng_bit_generator")
def dynamic_rng_bit_generator(call: HloCall) -> list[Value]:
    """The next state of a generator, and random bits in a shape that an operand holds."""
    return [call.made(call.shape(0)), call.made(call.wanted(1, 1), output=1)]
