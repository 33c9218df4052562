"""A pass of onnx-ir that writes symbcast's shapes into a model, for a ``Sequential`` with other passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from symbcast.adapters.onnx_ir import write
from symbcast.core.algebra.terms import Dim, Symbol
from symbcast.core.shapes import any_shape_of
from symbcast.errors import DimensionError, MissingExtraError
from symbcast.graphs.inputs import free_name, place_name
from symbcast.onnx.front_end import check
from symbcast.onnx.reader import UNNAMED
from symbcast.onnx.report import ModelReport
from symbcast.operators.values.value import Value

try:
    import onnx_ir
except ModuleNotFoundError as error:
    raise MissingExtraError("symbcast.onnx.passes", "onnx-ir") from error

# Tensors in memory with more bytes are weights, which are not copied for a check.
_LARGE = 1 << 20


class SymbolicShapeInferencePass(onnx_ir.passes.InPlacePass):
    """Write the shape and element type of each value of a model, in branches and loop bodies too.

    The keyword arguments are those of `symbcast.onnx.check`. Large weights are not read, in memory or in files.
    A size is a number, a name, or an expression as onnx-ir reads it; one that onnx-ir cannot express has a name of its
    own, the same wherever the size occurs. Values whose shape is unknown stay as they are, and so do the model's names
    of sizes that data decide.

    Attributes:
        report: the `ModelReport` on the last model: its condition, findings and what was not analysed.

    Raises what `symbcast.onnx.check` raises; in a ``Sequential``, that is the cause of a ``PassError``.

    >>> import onnx_ir
    >>> from onnx_ir.passes.common import TopologicalSortPass
    >>> model = onnx_ir.from_onnx_text('''<ir_version: 9, opset_import: ["" : 18]>
    ... heads (float[N, T, D] x) => (float[a, b, c, d] z) <int64[4] wanted = {0, 0, 8, -1}> {
    ...   y = Reshape(x, wanted)  z = Relu(y) }''')
    >>> shapes = SymbolicShapeInferencePass()
    >>> result = onnx_ir.passes.Sequential(shapes, TopologicalSortPass())(model)
    >>> [str(value.shape) for node in result.model.graph for value in node.outputs], result.modified
    (['[N,T,8,floor(D/8)]', '[N,T,8,floor(D/8)]'], True)
    >>> shapes.report.condition
    Condition('D % 8 == 0')
    """

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self.report: ModelReport | None = None
        self._arguments = arguments

    def call(self, model: onnx_ir.Model) -> onnx_ir.passes.PassResult:
        """Write the shapes into a model; the result says whether any changed."""
        with _light(model):
            report = self.report = check(model, **self._arguments)
        writer = _Writer(report)
        changes = [writer.writes(value, known) for value, known in _values(model, report)]
        return onnx_ir.passes.PassResult(model, any(changes))


@contextmanager
def _light(model: onnx_ir.Model) -> Iterator[None]:
    """Put references to no file in the place of large tensors in memory, which the check would copy."""
    kept = [
        (value, value.const_value)
        for graph in model.graphs()
        for value in graph.initializers.values()
        if not isinstance(value.const_value, onnx_ir.ExternalTensor | None) and value.const_value.nbytes > _LARGE
    ]
    try:
        for value, tensor in kept:
            value.const_value = onnx_ir.ExternalTensor(
                "weights", None, None, tensor.dtype, shape=onnx_ir.Shape(tensor.shape.numpy()), name=tensor.name or ""
            )
        yield
    finally:
        for value, tensor in kept:
            value.const_value = tensor


def _values(model: onnx_ir.Model, report: ModelReport) -> Iterator[tuple[onnx_ir.Value, Value]]:
    """Yield the inputs of a model and what its nodes make, with what is known about each."""
    checked = report._checked
    for value in model.graph.inputs:
        if value.name in checked.inputs.values:
            yield value, checked.inputs.values[value.name]
    inner = [value for graph in model.graph.subgraphs() for node in graph for value in node.outputs]
    makers = Counter(value.name for value in inner)
    for value in (value for node in model.graph for value in node.outputs):
        if value.name in checked.walk.top.values:
            yield value, checked.walk.top.values[value.name]
    for value in inner:
        # A name may occur in several branches, and it is unknown which of the values the walk kept.
        if makers[value.name] == 1 and value.name in checked.walk.inner:
            yield value, checked.walk.inner[value.name]


class _Writer:
    """Writes sizes as onnx-ir has them; those that it cannot express get names, the same one for equal sizes."""

    def __init__(self, report: ModelReport) -> None:
        self._open = report._checked.asker.origins.keys()
        self._taken = set(report._env.shown.values())
        self._names: dict[Dim, str] = {}

    def writes(self, value: onnx_ir.Value, known: Value) -> bool:
        """Write a shape and an element type into a value; return whether anything changed."""
        if known.shape is None or not isinstance(value.type, onnx_ir.TensorType | None):
            return False
        before = value.shape, value.dtype
        said: list[Any] = list(value.shape or ())
        said = said if len(said) == len(known.shape) else [None] * len(known.shape)
        dims = [self._dim(value, axis, dim, said[axis]) for axis, dim in enumerate(known.shape)]
        if value.dtype is None and known.dtype:
            value.dtype = onnx_ir.DataType(known.dtype)
        if before[0] != dims:
            value.shape = onnx_ir.Shape(dims)
        return (value.shape, value.dtype) != before

    def _dim(self, value: onnx_ir.Value, axis: int, dim: Dim, said: Any) -> Any:
        if isinstance(dim, int):
            return dim
        is_said = isinstance(said, int) or (said is not None and (said.value or "").strip() not in UNNAMED)
        # An expression of an input stays as the model writes it.
        stays = not isinstance(dim, Symbol) if value.is_graph_input() else not self._open.isdisjoint(dim.symbols())
        if is_said and stays:
            return said
        if isinstance(dim, Symbol):
            return onnx_ir.SymbolicDim(dim.name)
        try:
            return write(any_shape_of((dim,)))[0]
        except DimensionError:
            name = self._names.get(dim) or free_name(place_name(value.name or "size", axis), self._taken)
            self._names[dim] = name
            return onnx_ir.SymbolicDim(name)
