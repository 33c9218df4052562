"""The OpenVINO front end: models and their parameters, the walk, the report, and ``symbcast.openvino.check``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from symbcast.core.advice import with_advice
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import Formula, at_most
from symbcast.core.algebra.symbols import symbol
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.programs.arguments import Assumptions
from symbcast.core.programs.program import Program
from symbcast.core.shapes import ShapeLike
from symbcast.core.structs import NamedTuple
from symbcast.graphs.check import FrontEnd, check_graph, read_question
from symbcast.graphs.graph import Node
from symbcast.graphs.inputs import NOTHING, ContentsLike, KnownInputs, Layouts, ModelInputs, inputs_of, place_name
from symbcast.graphs.model import Model, check_path, import_library
from symbcast.graphs.registry import wrong_model
from symbcast.graphs.report.graph_report import GraphReport
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.walk import Walk
from symbcast.openvino.graph import (
    ELEMENTS,
    OPERATORS,
    OpenVinoCall,
    OpenVinoConstant,
    OpenVinoGraph,
    element_type_number,
)
from symbcast.openvino.reading import read_model, start_reader
from symbcast.operators.values.value import FIRST, Decider, Value, decider_of_source

if TYPE_CHECKING:
    import openvino


def load_graph(model: Any) -> tuple[str, OpenVinoGraph]:
    """Return the name of a model and its graph.

    Raises `ModelError` for a file that OpenVINO cannot read.
    """
    is_path = isinstance(model, (str, os.PathLike))
    if is_path:
        start_reader(os.fsdecode(model))
    openvino = import_library("openvino", "symbcast.openvino", "openvino")
    if is_path:
        source = os.fsdecode(model)
        check_path(source, "give the path of a model, such as model.xml")
        return source, OpenVinoGraph(read_model(openvino, source))
    if isinstance(model, openvino.Model):
        return str(model.get_friendly_name()), OpenVinoGraph(model)
    raise wrong_model(model, "a model", "give the path of a model, such as model.xml, or an openvino.Model")


class SizeInterval(NamedTuple):
    """The range of a size; ``most`` is None if there is no upper bound."""

    size: Dim
    least: int
    most: int | None


def read_parameters(
    graph: OpenVinoGraph, env: Program, known: KnownInputs = NOTHING, *, are_open: bool = True
) -> tuple[ModelInputs, tuple[SizeInterval, ...]]:
    """Read the parameters of a graph and the intervals of their sizes, with what the caller knows about them.

    A dynamic dimension is named ``<input>_dim_<axis>``; dimensions that share an ``ov.Symbol`` are one size, named
    after the first of them. A dimension ``2..5`` is a size in that range. Raises `BindingError` if the given shapes,
    sizes or contents do not fit these inputs. ``are_open`` is as in `symbcast.graphs.graph`.
    """
    names = graph.inputs
    reader = _Reader()
    values = {name: reader.value(name, op) for name, op in zip(names, graph.parameters, strict=True)}
    inputs = inputs_of(values, env, known, {}, are_open=are_open)
    intervals = (
        i for name, op in zip(names, graph.parameters, strict=True) for i in _intervals(op, inputs.named[name])
    )
    return inputs, tuple(dict.fromkeys(intervals))


class _Reader:
    """Reads the parameters of one model."""

    def __init__(self) -> None:
        self._by_symbol: dict[Any, Symbol] = {}
        self._taken: set[str] = set()

    def value(self, name: str, op: Any) -> Value:
        """Return the value of a parameter."""
        declared = op.get_output_partial_shape(0)
        shape = None
        if declared.rank.is_static:
            shape = tuple(self._dim(d, place_name(name, axis)) for axis, d in enumerate(declared))
        return Value(shape, element_type_number(op.get_output_element_type(0)))

    def _dim(self, dimension: Any, name: str) -> Dim:
        if dimension.is_static:
            return int(dimension.get_length())
        own = dimension.get_symbol() if dimension.has_symbol() else None
        known = self._by_symbol.get(own) if own is not None else None
        if known is None:
            while name in self._taken:
                name += "_"
            self._taken.add(name)
            known = symbol(name)
            if own is not None:
                self._by_symbol[own] = known
        return known


def _intervals(op: Any, dims: tuple[Dim, ...] | None) -> Iterator[SizeInterval]:
    """Yield the intervals of a parameter's dynamic dimensions."""
    declared = op.get_output_partial_shape(0)
    for dimension, dim in zip(declared, dims or (), strict=True) if declared.rank.is_static else ():
        if not dimension.is_static:
            # OpenVINO says -1 where there is no upper bound.
            most = int(dimension.get_max_length())
            yield SizeInterval(dim, int(dimension.get_min_length()), most if most >= 0 else None)


class OpenVinoModel(Model):
    """A model; ``raw`` is the ``ov.Model``."""

    graph: OpenVinoGraph

    def __init__(self, source: str, graph: OpenVinoGraph, path: Path | None) -> None:
        super().__init__(source, graph, path=path, raw=graph.raw)
        self._intervals: tuple[SizeInterval, ...] = ()

    def read_inputs(self, env: Program, known: KnownInputs, *, are_open: bool = False) -> ModelInputs:
        """Return the parameters as values, with what the caller knows about them."""
        inputs, self._intervals = read_parameters(self.graph, env, known, are_open=are_open)
        return inputs

    def said(self, inputs: ModelInputs, min_size: int) -> Iterator[tuple[Formula, str]]:
        """Yield the ranges of sizes from the dimensions of parameters."""
        for size, least, most in self._intervals:
            if most is not None:
                yield at_most(size, most), f"{least} <= {size} <= {most}"
            if least > min_size or not isinstance(size, Symbol):  # the least size of symbols is assumed
                yield at_most(least, size), f"{size} >= {least}" if most is None and least > min_size else ""


def read(model: Any, runtime: str) -> OpenVinoModel:
    """Return a model from a file or an ``openvino.Model``; raises `ModelError` if it cannot be read."""
    source, graph = load_graph(model)
    return OpenVinoModel(source, graph, Path(fspath(model)) if isinstance(model, (str, PathLike)) else None)


class OpenVinoWalk(Walk):
    """A walk through one model; see `symbcast.graphs.walking.walk` for what it keeps."""

    def constant(self, node: Node) -> Value | None:
        """Return what a node holds."""
        if node.op_type != "Constant":
            return None
        constant = OpenVinoConstant(node.raw)
        self._repeats.number(constant)
        return constant

    def decided(self, node: Node, inputs: Sequence[Value | None], position: int, output: Value) -> Decider:
        """Return what decides the elements of an output that are not known exactly."""
        if node.op_type == "TopK" and position == 0:
            return decider_of_source(FIRST, inputs[:1])
        return decider_of_source(ELEMENTS.get(node.op_type), inputs[:1] if node.op_type in _OF_FIRST_ALONE else inputs)

    def unknown(self, call: NodeCall, reason: str) -> Sequence[Value]:
        """Return outputs with OpenVINO's element types."""
        outputs = super().unknown(call, reason)
        output = cast("OpenVinoCall", call).output
        return outputs or [output(None, position=n) for n in range(len(call.node.outputs))]


# Operators without a function, that OpenVINO itself infers.
ELEMENTS.update(dict.fromkeys(("BatchToSpace", "ExtractImagePatches", "Roll", "SpaceToBatch"), FIRST))
# Operators that compute with only their first input.
_OF_FIRST_ALONE = ("ConvertLike", "TopK")


# Operators without a function: use OpenVINO's own shape inference if all sizes are numbers.
#
# The inference runs on a copy of the model, with the node's inputs replaced by parameters of the given shapes.


def infer(call: OpenVinoCall) -> Sequence[Value]:
    """Return the outputs as OpenVINO infers them; each unknown size is a new symbol."""
    kind = call.node.op_type if not call.node.domain else f"{call.node.domain}::{call.node.op_type}"
    values = call.values()
    shapes = [numbers_of(call.shape(n)) for n in range(len(values))]
    if any(s is None for s in shapes):
        call.give_up(f"{kind} is not supported here unless all sizes of its inputs are numbers")
    call.note(f"{kind} is not supported here: its shape is inferred by OpenVINO")
    try:
        inferred = _inferred(call.node, values, [list(s or ()) for s in shapes])
    except RuntimeError as error:
        call.refuse(f"OpenVINO refuses it: {_last_line(error)}")
    outputs = []
    for n, shape in enumerate(inferred):
        if shape.rank.is_dynamic:
            outputs.append(call.output(None, position=n))
            continue
        dims = [
            int(d.get_length()) if d.is_static else call.fresh(f"{n}_dim_{axis}", f"axis {axis} of output {n}")
            for axis, d in enumerate(shape)
        ]
        outputs.append(call.output(tuple(dims), position=n))
    return outputs


def _inferred(node: Any, values: Sequence[Value], shapes: Sequence[list[int]]) -> list[Any]:
    """Return the shapes that OpenVINO infers for a node with given input shapes."""
    from openvino import opset1

    copy = node.graph.copy_of(node)
    arguments = []
    for position, (value, shape) in enumerate(zip(values, shapes, strict=True)):
        # Constants stay, because their numbers may decide the shape.
        if isinstance(value, OpenVinoConstant):
            arguments.append(copy.input_value(position))
        else:
            arguments.append(opset1.parameter(shape, node.raw.get_input_element_type(position)).output(0))
    copy.set_arguments(arguments)
    copy.validate_and_infer_types()
    return [copy.get_output_partial_shape(n) for n in range(copy.get_output_size())]


def _last_line(error: RuntimeError) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else "it gives no reason"


class OpenVinoReport(GraphReport):
    """The input sizes at which a model runs, every shape in it, and the requirements of each node.

    Everything is computed on demand, and the model is never changed.
    """


_LAYOUTS = Layouts.of(
    images="Convolution GroupConvolution BinaryConvolution ConvolutionBackpropData GroupConvolutionBackpropData "
    "MaxPool AvgPool BatchNormInference LRN DepthToSpace SpaceToDepth",
    keeping="Convert Add Subtract Multiply Divide Power Sqrt Negative Abs Clamp Relu PRelu Sigmoid Tanh Pad Concat "
    "FakeQuantize",
)

FRONT_END = FrontEnd(
    name="openvino",
    read=read,
    operators=OPERATORS.with_files("symbcast.openvino.operators"),
    report=OpenVinoReport,
    runtimes={"openvino": "what OpenVINO does on the CPU"},
    tail=infer,
    call=OpenVinoCall,
    walk=OpenVinoWalk,
    layouts=_LAYOUTS,
    module=__name__,
)


@with_advice
def check(  # noqa: PLR0913 - each is a fact about the model or an option of the check
    model: str | PathLike[str] | openvino.Model,
    assume: Assumptions = (),
    min_size: int = 1,
    *,
    bind: Mapping[str, int] | None = None,
    shapes: Mapping[str, ShapeLike] | None = None,
    values: Mapping[str, ContentsLike] | None = None,
    budget: float | None = None,
) -> OpenVinoReport:
    """Find the input sizes at which an OpenVINO model runs, and every shape in it.

    ``model`` is a file that OpenVINO reads, such as ``model.xml``, or an ``openvino.Model``; it is not changed. A
    dynamic dimension is named ``<input>_dim_<axis>``; dimensions that share an ``openvino.Symbol`` are one size. The
    interval of a dimension, such as ``2..5``, is assumed. The other arguments are as in `symbcast.onnx.check`.
    "Runs" means that inference on the CPU succeeds.

    Raises `ModelError` for anything that is not a model, `BindingError` for shapes, sizes and contents that its inputs
    cannot have, `AssumptionError` for assumptions that are contradictory or mention sizes that the model does not have,
    and `MissingExtraError` without the extra ``openvino``.

    >>> import numpy as np
    >>> import openvino as ov
    >>> from openvino import opset13 as op
    >>> x = op.parameter([-1, -1, -1], np.float32, name="x")
    >>> heads = ov.Model([op.reshape(x, op.constant([0, 0, 8, -1]), special_zero=True)], [x])
    >>> report = check(heads)
    >>> report.condition, *report.outputs.values()
    (Condition('x_dim_2 % 8 == 0'), Shape('(x_dim_0, x_dim_1, 8, x_dim_2//8)'))
    >>> report = check(heads, shapes={"x": "batch, T, 64"})
    >>> report.verdict.value, *report.outputs.values()
    ('always', Shape('(batch, T, 8, 8)'))
    """
    question = read_question(FRONT_END, assume, min_size, bind=bind, shapes=shapes, values=values, budget=budget)
    return OpenVinoReport(check_graph(FRONT_END, read(model, question.runtime), question))
