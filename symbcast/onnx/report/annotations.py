"""Annotate a model with the shapes of its values: numbers, names, and expressions as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from symbcast.answers.explanation.names import Namer
from symbcast.core.algebra.symbols import Symbol
from symbcast.onnx.report.element_types import element_types
from symbcast.onnx.report.graphs import graphs_of

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.model import Checked
    from symbcast.graphs.values.value import Value

_TENSOR = "tensor_type"


def annotated(checked: Checked) -> Any:
    """Return a copy of a model with ``value_info`` of every tensor whose shape is known, and its outputs' shapes.

    A size that is a number is a ``dim_value``; others are a ``dim_param``: a name as the model has it, or an
    expression as text. Unnamed dimensions of inputs get their names from the report. The model's own declarations
    stay for sizes that data decide and for values of unknown shape.
    """
    made = type(checked.model.raw)()
    made.CopyFrom(checked.model.raw)
    _Annotator(checked).annotate(made.graph)
    return made


class _Annotator:
    """Writes the shapes of one model's values into a copy of it."""

    def __init__(self, checked: Checked) -> None:
        self._walk = checked.walk
        self._inputs = checked.inputs.values
        self._namer = Namer.of(checked.env.shown)
        self._open = checked.asker.origins.keys()
        self._types = element_types(checked.model.raw)

    def annotate(self, graph: Any) -> None:
        for declared in graph.input:
            self._name_dims(declared)
        self._fill(graph, self._walk.top.values)
        inner = [g for g in graphs_of(graph) if g is not graph]
        made = Counter(name for g in inner for node in g.node for name in node.output)
        # A name may occur in several branches, and it is unknown which of the values the walk kept.
        known = {name: value for name, value in self._walk.inner.items() if made[name] == 1}
        for found in inner:
            self._fill(found, known)

    def _fill(self, graph: Any, values: Mapping[str, Value]) -> None:
        """Write the shapes of the values that a graph's nodes make."""
        declared = {v.name: v for v in (*graph.value_info, *graph.output)}
        for name in (n for node in graph.node for n in node.output if n):
            value = values.get(name)
            if value is None or value.shape is None:
                continue
            if name in declared:
                self._write(declared[name], value)
            elif self._types.get(name) or value.dtype:
                made = graph.value_info.add()
                made.name = name
                self._write(made, value)

    def _write(self, declared: Any, value: Value) -> None:
        """Write a shape into a value's declared type, if it is a tensor."""
        if declared.type.WhichOneof("value") not in (None, _TENSOR) or value.shape is None:
            return
        tensor = declared.type.tensor_type
        dtype = tensor.elem_type or self._types.get(declared.name) or value.dtype
        if not dtype:
            return
        said = [_said(d) for d in tensor.shape.dim]
        if len(said) != len(value.shape):
            said = [None] * len(value.shape)
        tensor.elem_type = dtype
        tensor.shape.SetInParent()  # also record that a scalar has no axes
        del tensor.shape.dim[:]
        for dim, before in zip(value.shape, said, strict=True):
            self._write_dim(tensor.shape.dim.add(), before if before is not None and self._is_open(dim) else dim)

    def _write_dim(self, made: Any, dim: Dim | str) -> None:
        if isinstance(dim, int):
            made.dim_value = dim
        elif isinstance(dim, str):
            made.dim_param = dim
        else:
            made.dim_param = dim.name if isinstance(dim, Symbol) else self._namer.dim(dim)

    def _is_open(self, dim: Dim) -> bool:
        """Return whether data decide a size."""
        return not isinstance(dim, int) and not self._open.isdisjoint(dim.symbols())

    def _name_dims(self, declared: Any) -> None:
        """Give the dimensions of an input the sizes and names that the report has for them."""
        value = self._inputs.get(declared.name)
        if value is None or value.shape is None or declared.type.WhichOneof("value") != _TENSOR:
            return
        for made, dim in zip(declared.type.tensor_type.shape.dim, value.shape, strict=True):
            if not made.dim_param or isinstance(dim, int | Symbol):
                self._write_dim(made, dim)


def _said(dim: Any) -> int | str | None:
    """Return a model's number or name for a dimension; None without either."""
    if dim.WhichOneof("value") == "dim_value":
        return int(dim.dim_value) if dim.dim_value >= 0 else None
    return str(dim.dim_param) or None
