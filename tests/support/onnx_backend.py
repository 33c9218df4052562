"""The node tests of the onnx package, with every input dimension made a symbol."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import sympy
from onnx import ModelProto, TensorProto, numpy_helper

from symbcast.core.algebra.formulas import dims_of
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.solver.evaluation import predicate

SMALL = 64
"""Integer inputs of at most so many elements may be shapes, axes or counts: these are given as constants."""


class Case(NamedTuple):
    """A model with the sizes of its symbols, and the shapes of its outputs, as they are recorded."""

    name: str
    model: ModelProto
    sizes: dict[str, int]
    outputs: dict[str, tuple[int, ...]]


@cache
def recorded() -> tuple[Any, ...]:
    """Return the node tests as onnx has them."""
    from onnx.backend.test.loader import load_node_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the data are worked out as the tests are loaded
        return tuple(sorted(load_node_model_tests(), key=lambda case: case.name))


def case(test: Any, *, with_constants: bool) -> Case:
    """Return a test with a symbol for each dimension of each input, and small integer inputs as constants or not."""
    model = ModelProto()
    model.CopyFrom(test.model)
    inputs, outputs = test.data_sets[0]
    given = dict(zip([i.name for i in model.graph.input], inputs, strict=True))
    sizes: dict[str, int] = {}
    kept = []
    for declared in model.graph.input:
        held = given[declared.name]
        if with_constants and (tensor := _constant(held, declared.name)) is not None:
            model.graph.initializer.append(tensor)
            continue
        kept.append(declared)
        if declared.type.WhichOneof("value") == "tensor_type":
            for axis, dim in enumerate(declared.type.tensor_type.shape.dim):
                dim.dim_param = f"{_name(declared.name)}_{axis}"
                sizes[dim.dim_param] = _shape(held)[axis]
    del model.graph.input[:], model.graph.value_info[:]
    model.graph.input.extend(kept)
    found = {o.name: _shape(v) for o, v in zip(model.graph.output, outputs, strict=True) if not isinstance(v, list)}
    for output in model.graph.output:
        output.ClearField("type")
    return Case(test.name, model, sizes, found)


def _name(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text)


def _constant(value: Any, name: str) -> TensorProto | None:
    """Return a small tensor of integers or truth values, or a scalar, as a tensor of a model."""
    if isinstance(value, TensorProto):
        value = numpy_helper.to_array(value)
    if not isinstance(value, np.ndarray | np.generic) or np.size(value) > SMALL:
        return None
    array = np.asarray(value)
    if array.dtype.kind not in "iub" and array.ndim:
        return None
    return numpy_helper.from_array(array, name) if array.dtype.kind in "iubf" else None


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(value.dims) if isinstance(value, TensorProto) else tuple(np.shape(value))


def at(expression: Any, sizes: dict[str, int]) -> Any:
    """Return a dimension or a condition at the recorded sizes."""
    if isinstance(expression, int):
        return expression
    expression = sympy.sympify(expression)
    return expression.xreplace({s: sympy.Integer(sizes[s.name]) for s in expression.free_symbols if s.name in sizes})


def is_refused(report: Any, sizes: dict[str, int]) -> bool:
    """Return whether something that the nodes ask is false at the recorded sizes.

    What is asked of sizes that data decide is passed over. Nothing is decided or made shorter here.
    """
    for op in report._checked.env.operations:
        for constraint in op.constraints if op.kind != "assume" else ():
            symbols = tuple(symbols_of(dims_of(constraint.requirement)))
            if all(s.name in sizes for s in symbols):
                asked = predicate(constraint.requirement, symbols)
                if not asked(*(sizes[s.name] for s in symbols)):
                    return True
    return False
