"""Sizes as values: the operators of the dialects ``shape``, ``tensor`` and ``arith`` on shapes and indices.

A value of type ``!shape.shape`` is followed as a vector of its sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from symbcast.core.algebra.arithmetic import multiply
from symbcast.core.algebra.formulas import all_of, equal
from symbcast.core.algebra.terms import Dim
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import INT64, Elements, from_array
from symbcast.operators.values.elements import truth
from symbcast.operators.values.value import EVERY, Decider, Value
from symbcast.stablehlo.graph import HloCall, operator


def _vector(dims: Sequence[Dim]) -> Value:
    return Value((len(dims),), INT64, Elements(tuple(dims)))


def _number(dim: Dim) -> Value:
    return Value((), INT64, Elements((dim,)))


def _dims(call: HloCall, position: int) -> Dims:
    """Return the sizes in a shape."""
    sizes = call.sizes(position)
    return call.give_up(f"the sizes in {call.input_name(position)} are not known") if sizes is None else sizes


@operator("shape.shape_of", elements=Decider.SIZES)
def shape_of(call: HloCall) -> Value:
    """The sizes of a tensor."""
    return _vector(call.shape(0))


@operator("tensor.dim", "shape.dim", elements=Decider.SIZES)
def dim(call: HloCall) -> Value:
    """The size of an axis."""
    dims, index = call.shape(0), call.numbers(1)
    if not index:
        call.give_up("the axis is not known")
    return _number(dims[call.axis(index[0], len(dims))])


@operator("tensor.rank", "shape.rank", elements=Decider.SIZES)
def rank(call: HloCall) -> Value:
    """The number of axes: of a tensor, or of the shape in a vector."""
    dims = call.shape(0)
    return _number(len(dims) if call.node.op_type == "tensor.rank" else dims[0])


@operator("shape.const_shape")
def const_shape(call: HloCall) -> Value:
    """A shape of numbers."""
    numbers = call.attribute("shape")
    return Value((len(numbers),), INT64, from_array(numbers))


@operator("shape.const_size")
def const_size(call: HloCall) -> Value:
    """A size that is a number."""
    return _number(call.integer("value"))


@operator("shape.num_elements", elements=Decider.SIZES)
def num_elements(call: HloCall) -> Value:
    """The product of sizes."""
    return _number(multiply(*_dims(call, 0)))


@operator("tensor.from_elements", elements=EVERY)
@operator("shape.from_extents")
def from_elements(call: HloCall) -> Value:
    """A tensor of given elements."""
    items = [call.element(n) for n in range(len(call.inputs))]
    kind = call.node.types[0]
    shape = (len(items),) if kind is None or kind.sizes is None else tuple(n or 0 for n in kind.sizes)
    return Value(shape, call.dtype(), Elements(tuple(items)))


@operator("shape.broadcast")
def broadcast(call: HloCall) -> Value:
    """The shape to which shapes are broadcast."""
    return _vector(call.broadcast(*(_dims(call, n) for n in range(len(call.inputs)))))


@operator("shape.concat")
def concat(call: HloCall) -> Value:
    """Shapes joined."""
    return _vector((*_dims(call, 0), *_dims(call, 1)))


@operator("shape.cstr_broadcastable")
def cstr_broadcastable(call: HloCall) -> Value:
    """Require that shapes can be broadcast together."""
    call.broadcast(*(_dims(call, n) for n in range(len(call.inputs))))
    return Value(None)


@operator("shape.cstr_eq")
def cstr_eq(call: HloCall) -> Value:
    """Require that shapes be equal."""
    call.alike([_dims(call, n) for n in range(len(call.inputs))], "the shapes must be equal")
    return Value(None)


@operator("shape.shape_eq")
def shape_eq(call: HloCall) -> Value:
    """Whether shapes are equal."""
    first, *others = (_dims(call, n) for n in range(len(call.inputs)))
    if any(len(other) != len(first) for other in others):
        return call.output((), Elements((0,)))
    return call.output((), Elements((all_of(map(equal, (*first,) * len(others), chain(*others))),)))


@operator("shape.cstr_require")
def cstr_require(call: HloCall) -> Value:
    """Require that a truth value hold."""
    items = call.elements(0)
    formula = truth(items[0]) if items else None
    if formula is None:
        call.note("not checked: what it requires is not known")
    else:
        call.require(formula, call.text("msg", "the module requires it"))
    return Value(None)


@operator("shape.assuming_all", "shape.const_witness")
def witness(call: HloCall) -> Value:
    """A witness that requirements hold: they are required where they are stated."""
    if call.node.op_type == "shape.const_witness" and not call.flag("passing"):
        call.refuse("the witness says that its requirement fails")
    return Value(None)


@operator("shape.assuming")
def assuming(call: HloCall) -> Sequence[Value]:
    """Its region, which runs where a witness holds."""
    return call.run("0", ())


@operator("tensor.reshape")
def reshape(call: HloCall) -> Value:
    """The elements in a shape that an operand holds."""
    call.equal(multiply(*call.shape(0)), multiply(*_dims(call, 1)), "there must be as many elements")
    return call.output(_dims(call, 1), call.value(0).content)
