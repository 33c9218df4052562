"""Models written as text, and all sizes of their dynamic dimensions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping

from onnx import ModelProto, NodeProto, parser

import symbcast as sb
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import size_at


def parsed(text: str, opset: int = 18, ir_version: int = 10) -> ModelProto:
    """Return the model whose graph, and functions, are written in ONNX's own language; nodes are called as outputs."""
    imports = f'"" : {opset}, "local" : 1, "elsewhere" : 1'
    model = parser.parse_model(f"<ir_version: {ir_version}, opset_import: [{imports}]>\n{text}")
    _name(model.graph.node)
    for function in model.functions:
        _name(function.node)
    return model


def _name(nodes: Iterable[NodeProto]) -> None:
    for node in nodes:
        node.name = node.output[0]
        for attribute in node.attribute:
            _name(attribute.g.node)


def points(model: ModelProto, sizes: Iterable[int] = (1, 2, 3, 4)) -> Iterator[dict[str, int]]:
    """Yield sizes for all names of dimensions of the inputs."""
    dims = (d for i in model.graph.input for d in i.type.tensor_type.shape.dim)
    names = dict.fromkeys(d.dim_param for d in dims if d.dim_param)
    for point in itertools.product(sizes, repeat=len(names)):
        yield dict(zip(names, point, strict=True))


def holds(report: sb.onnx.ModelReport, sizes: Mapping[str, int]) -> bool:
    """Return whether the condition of a report holds at some sizes."""
    condition = report.condition
    names = {s.name for s in condition.symbols}
    return condition.guard()({name: size for name, size in sizes.items() if name in names})


def shape_at(report: sb.onnx.ModelReport, name: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of a value, which no data decide, at some sizes."""
    bound = {symbol(n): size for n, size in sizes.items()}
    found = report.shapes[name]
    assert found is not None
    return tuple(size_at(d, bound) for d in found.dims)
