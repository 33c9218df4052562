"""A front end of three operations for a format of its own, as a package outside symbcast would write it.

A model is JSON: ``{"inputs": {"x": "N, 3"}, "nodes": [["add", ["x", "y"], "z"]], "outputs": ["z"]}``.
"""

import json
from pathlib import Path

from symbcast.core.shapes import shape
from symbcast.graphs.check import FrontEnd
from symbcast.graphs.graph import Graph, Node
from symbcast.graphs.inputs import inputs_of
from symbcast.graphs.model import Model
from symbcast.graphs.registry import Registered
from symbcast.graphs.report.graph_report import GraphReport
from symbcast.operators.joining_and_slicing import concat
from symbcast.operators.products import matmul
from symbcast.operators.values.value import Value


class ToyNode(Node):
    """A node; ``raw`` is what follows its output."""

    @property
    def attributes(self):
        return self.raw


class ToyModel(Model):
    """A model; ``raw`` is what the file holds."""

    def __init__(self, path):
        data = json.loads(Path(path).read_text("utf-8"))
        nodes = [ToyNode(kind, inputs, [out], name=out, raw=rest) for kind, inputs, out, rest in data["nodes"]]
        super().__init__(str(path), Graph(nodes, list(data["inputs"]), data["outputs"]), path=Path(path), raw=data)

    def read_inputs(self, env, given, *, are_open=False):
        values = {name: Value(shape(text).dims) for name, text in self.raw["inputs"].items()}
        return inputs_of(values, env, given, {}, are_open=are_open)


def add_(call):
    """Two operands, broadcast together."""
    return Value(call.broadcast(call.shape(0), call.shape(1)))


def matmul_(call):
    """A product of matrices, or of batches of them."""
    return Value(matmul(call, call.shape(0), call.shape(1)))


def concat_(call):
    """Tensors put together along an axis."""
    return Value(concat(call, [call.shape(n) for n in range(len(call.inputs))], call.integer("axis")))


FRONT_END = FrontEnd(
    name="toy",
    read=lambda path, runtime: ToyModel(path),
    operators={("", "add"): add_, ("", "matmul"): matmul_, ("", "concat"): concat_},
    report=GraphReport,
    runtimes={"toy": "what a toy does"},
)
REGISTERED = Registered("toy", (".toy",), "toy_front_end:FRONT_END")
