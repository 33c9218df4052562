"""What decides the elements that a node makes, from what decides those of its inputs.

A node whose condition was not followed may fail by its sizes unless what it was not followed for is proven to be data:
every element depends on data that may be chosen. `DATA` says just that; all else leaves the model's verdict open.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import FORMULA_KINDS
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.onnx.values.contents import Content, Elements, Ramp, Ratio, Stack, is_size
from symbcast.onnx.values.deciders import Decider
from symbcast.onnx.values.numbers import FLOATS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from symbcast.core.algebra.symbols import Symbol
    from symbcast.onnx.values.value import Dims, Value


class SizesOfData(Protocol):
    """Says which sizes data decide."""

    def is_of_data(self, size: Symbol) -> bool:
        """Return whether it is proven that data decide a size."""


def joined(values: Iterable[Value | None]) -> Decider:
    """Return what decides elements that are worked out from all of some values."""
    found = Decider.NUMBERS
    for value in values:
        if value is not None:
            found |= Decider.SIZES if value.decided_by is None else value.decided_by
    return found


def decider_of_content(content: Content | None, shape: Dims | None, sizes: SizesOfData) -> Decider | None:
    """Return what decides elements that are known exactly; None where they are not.

    ``sizes`` says which sizes data decide.
    """
    match content:
        case Elements(items):
            if None in items:
                return None
            return _of_symbols({s for item in items for s in _symbols_of_element(item)}, sizes)
        case Ramp() | Stack():
            parts = content.parts if isinstance(content, Stack) else (content,)
            found = _of_symbols(set(symbols_of([d for p in parts for d in (p.start, *p.strides)])), sizes)
            if any(any(p.strides) for p in parts) and numbers_of(shape) is None:
                found |= Decider.SIZES
            return found
        case None:
            return None
    return Decider.NUMBERS if hasattr(content, "array") else None


def _symbols_of_element(item: Any) -> Iterable[Symbol]:
    if isinstance(item, int):
        return ()
    if isinstance(item, FORMULA_KINDS):
        return symbols_in(item)
    return symbols_of(item if isinstance(item, Ratio) else (item,) if is_size(item) else ())


def _of_symbols(symbols: Iterable[Symbol], sizes: SizesOfData) -> Decider:
    found = Decider.NUMBERS
    for s in symbols:
        found |= Decider.DATA if sizes.is_of_data(s) else Decider.SIZES
    return found


_SHAPES_ONLY = frozenset({"Shape", "Size", "SequenceLength"})
_RANDOM = frozenset({
    "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike",
})  # fmt: skip
_SELECTING = frozenset({"Clip", "Max", "Min"})
"""Operators that take elements of one operand or another by their values."""


def decider_of_output(node: Any, version: int, domain: str, inputs: Sequence[Value | None], position: int) -> Decider:
    """Return what decides the output at a position, whose elements are not known exactly, from what decides the inputs.

    Inputs of the output's own type variable hold what the elements are made of; the others say how they are laid out.
    """
    op_type = node.op_type
    if op_type in _SHAPES_ONLY:
        return Decider.SIZES
    if op_type in _RANDOM:
        return Decider.DATA
    signature = _signature(op_type, version, domain)
    made_of = list(inputs)
    is_moving = op_type in _SELECTING
    if signature is not None:
        kind = signature.outputs[min(position, len(signature.outputs) - 1)]
        last = len(signature.inputs) - 1
        same = [v for n, v in enumerate(inputs) if signature.inputs[min(n, last)] == kind]
        is_moving |= kind in signature.parametric
        if is_moving and joined(same):
            made_of = same
    return decider_of_made(made_of, is_moving=is_moving)


def decider_of_made(made_of: Sequence[Value | None], *, is_moving: bool) -> Decider:
    """Return what decides elements that are made of those of some values.

    ``is_moving`` where elements are taken from them as they are, and nothing is computed.
    """
    found = joined(made_of)
    if found == Decider.NUMBERS and not is_moving and any(_is_open(v) for v in made_of):
        return Decider.SIZES  # how often one number is there is decided by sizes
    if found == Decider.BOTH and not is_moving and any(_is_free(v) for v in made_of):
        return Decider.DATA
    return found


def _is_open(value: Value | None) -> bool:
    return value is not None and numbers_of(value.shape) is None


def _is_free(value: Value | None) -> bool:
    """Return whether data may make elements whatever they have to be, so that they make up for what sizes decide."""
    if value is None or value.decided_by != Decider.DATA:
        return False
    return value.dtype in FLOATS or value.content is None


class _Signature:
    """The types of an operator's inputs and outputs, as the standard names them.

    ``parametric`` are those that hold texts as well as numbers: nothing is computed with these, elements are moved.
    """

    __slots__ = ("inputs", "outputs", "parametric")

    def __init__(self, schema: Any) -> None:
        self.inputs = tuple(i.type_str for i in schema.inputs) or ("",)
        self.outputs = tuple(o.type_str for o in schema.outputs) or ("",)
        allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        self.parametric = frozenset(name for name, types in allowed.items() if "tensor(string)" in types)


@lru_cache(maxsize=1024)
def _signature(op_type: str, version: int, domain: str) -> _Signature | None:
    from onnx import defs

    try:
        return _Signature(defs.get_schema(op_type, version, domain))
    except defs.SchemaError:
        return None
