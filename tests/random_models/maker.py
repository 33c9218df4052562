"""A model in the making: nodes one after another, each of values that are there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from onnx import ModelProto, helper, numpy_helper

FLOAT, INT64, BOOL = 1, 7, 9
MICROSOFT = "com.microsoft"
OPSETS = (18, 18, 19, 20, 21, 22)
NAMES = "NMK"
MAX_RANK = 5

Step = Callable[["Maker"], None]


@dataclass(frozen=True)
class Tensor:
    """A tensor of floats; ``is_full`` where it surely holds something."""

    name: str
    rank: int
    is_full: bool = False


class Maker:
    """What nodes are made with; ``random`` decides, be it Hypothesis's or one with a seed."""

    def __init__(self, random: Random, min_size: int = 1, least_rank: int = 1, greatest_rank: int = 3) -> None:
        self.random = random
        self.opset: int = random.choice(OPSETS)
        self.tensors: list[Tensor] = []
        self.integers: list[Tensor] = []
        """Tensors of integers that come from sizes."""
        self.inputs: list[tuple[str, list[str | int]]] = []
        self.functions: list[Any] = []
        self._nodes: list[Any] = []
        self._constants: list[Any] | None = []
        self._count = 0
        self.symbols = NAMES[: random.randint(1, len(NAMES))]
        for n in range(random.randint(1, 3)):
            rank = random.randint(least_rank, greatest_rank)
            dims = [random.choice([*self.symbols, *self.symbols, 1, 2, 3]) for _ in range(rank)]
            self.inputs.append((f"x{n}", dims))
            self.tensors.append(Tensor(f"x{n}", rank, is_full=min_size > 0))

    # Choices.

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def tensor(self, rank: int | None = None, least: int = 0, most: int = MAX_RANK) -> Tensor | None:
        """Return one of the tensors that are there; None where none is as it must be."""
        found = [t for t in self.tensors if least <= t.rank <= most and rank in (None, t.rank)]
        return self.random.choice(found) if found else None

    def axis(self, tensor: Tensor) -> int:
        """Return an axis, counted from the front or from the back."""
        return self.random.randrange(-tensor.rank, tensor.rank)

    def numbers(self, count: int, low: int, high: int) -> list[int]:
        return [self.random.randint(low, high) for _ in range(count)]

    # Nodes.

    def new(self) -> str:
        self._count += 1
        return f"v{self._count}"

    def constant(self, values: Any, dtype: Any = np.int64) -> str:
        tensor = numpy_helper.from_array(np.array(values, dtype=dtype), self.new())
        if self._constants is not None:
            self._constants.append(tensor)
            return tensor.name
        return self.node("Constant", [], value=tensor)

    def node(self, op_type: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node with one output."""
        (output,) = self.nodes(op_type, inputs, 1, **attributes)
        return output

    def nodes(self, op_type: str, inputs: Sequence[str], outputs: int, **attributes: Any) -> list[str]:
        """Add a node with several outputs."""
        made = [self.new() for _ in range(outputs)]
        self._nodes.append(helper.make_node(op_type, inputs, made, name=f"{op_type}_{self._count}", **attributes))
        return made

    def cast(self, name: str, to: int) -> str:
        return self.node("Cast", [name], to=to)

    def vector(self, like: Tensor, axis: int) -> str:
        """Add nodes that make a vector, mostly one that is as long as an axis of a tensor."""
        other = self.tensor(1)
        match self.random.randrange(6):
            case 0 if other:
                return other.name
            case 1:
                return self.constant(np.ones(self.random.randint(1, 4)), np.float32)
            case _:
                return self.filled([self.axis_size(like, axis)])

    def axis_size(self, of: Tensor, axis: int) -> str:
        """Add a node that works out the size of an axis, as a vector of one integer."""
        axis %= of.rank
        return self.node("Shape", [of.name], start=axis, end=axis + 1)

    def filled(self, sizes: Sequence[str | int], value: Any = 1, dtype: Any = np.float32) -> str:
        """Add nodes that make a tensor of one number, of sizes that are numbers or vectors of one integer."""
        parts = [self.constant([size]) if isinstance(size, int) else size for size in sizes]
        shape = parts[0] if len(parts) == 1 else self.node("Concat", parts, axis=0)
        return self.node("ConstantOfShape", [shape], value=numpy_helper.from_array(np.array([value], dtype)))

    def keep(self, name: str, rank: int, of: Sequence[Tensor] = ()) -> None:
        """Take in a tensor; where those that it is made ``of`` are full, so is it."""
        if rank <= MAX_RANK:
            self.tensors.append(Tensor(name, rank, bool(of) and all(t.is_full for t in of)))

    def keep_integers(self, name: str, rank: int) -> None:
        """Take in a tensor of integers."""
        if rank < MAX_RANK:
            self.integers.append(Tensor(name, rank))

    # Sizes: vectors of one integer that come from shapes.

    def size(self, may_be_large: bool = False) -> str:
        """Add nodes that work out a size."""
        tensor = self.tensor(least=1)
        if tensor is None or self.chance(20):
            return self.constant([self.random.randint(1, 4)])
        made = self._size_of(tensor, may_be_large)
        for _ in range(self.random.choice([0, 0, 1, 1, 2])):
            made = self._changed(made)
        return made

    def _size_of(self, tensor: Tensor, may_be_large: bool) -> str:
        axis = self.random.randrange(tensor.rank)
        shape = self.node("Shape", [tensor.name])
        match self.random.randrange(8 if may_be_large else 6):
            case 0:
                return self.node("Shape", [tensor.name], start=axis, end=axis + 1)
            case 1:
                return self.node("Slice", [shape, self.constant([axis]), self.constant([axis + 1])])
            case 2:
                one = self.node("Gather", [shape, self.constant(axis - tensor.rank)])
                return self.node("Unsqueeze", [one, self.constant([0])])
            case 3:
                return self.node(self.random.choice(["ReduceMax", "ReduceMin"]), [shape], keepdims=1)
            case 6:
                return self.node("ReduceProd", [shape], keepdims=1)
            case 7:
                return self.node("Reshape", [self.node("Size", [tensor.name]), self.constant([-1])])
            case _:
                return self.node("Gather", [shape, self.constant([axis])])

    def _changed(self, size: str) -> str:
        number = self.random.randint(1, 3)
        match self.random.randrange(8):
            case 0:
                chosen = self.node("Equal", [size, self.constant([number])])
                return self.node("Where", [chosen, self.constant([self.random.randint(1, 3)]), size])
            case 1:
                real = self.node("Div", [self.node("Cast", [size], to=FLOAT), self.constant([2], np.float32)])
                return self.node("Cast", [self.node(self.random.choice(["Ceil", "Floor"]), [real])], to=INT64)
            case 2:
                return self.node(self.random.choice(["Div", "Mod"]), [size, self.constant([number])])
            case 3:
                both = self.node("Concat", [size, self.constant([number])], axis=0)
                return self.node("ReduceMax", [both], keepdims=1)
            case 4:
                return self.node("Mul", [size, self.constant([2])])
            case _:
                op_type = self.random.choice(["Add", "Sub", "Min", "Max"])
                return self.node(op_type, [size, self.constant([number])])

    def sizes(self, count: int, low: int = 1, high: int = 4) -> str:
        """Add nodes that work out a vector of sizes, some of them constants."""
        parts = [
            self.size() if self.chance(50) else self.constant([self.random.randint(low, high)]) for _ in range(count)
        ]
        return self.node("Concat", parts, axis=0)

    def scalar(self) -> str:
        """Add nodes that work out a size as a tensor of no axis."""
        return self.node("Squeeze", [self.size(), self.constant([0])])

    def count(self) -> str:
        """Add nodes that make a vector of integers that count."""
        start, step = self.random.choice([0, 0, 0, 1, -1]), self.random.choice([1, 1, 2])
        return self.node("Range", [self.constant(start), self.scalar(), self.constant(step)])

    # Graphs within.

    @contextmanager
    def within(self) -> Iterator[list[Any]]:
        """Put nodes into a graph of their own meanwhile, which sees what is there already."""
        nodes, tensors, self._nodes, self.tensors = self._nodes, self.tensors, [], list(self.tensors)
        try:
            yield self._nodes
        finally:
            self._nodes, self.tensors = nodes, tensors

    @contextmanager
    def apart(self, parameters: Sequence[Tensor]) -> Iterator[list[Any]]:
        """Put nodes into a function meanwhile, which sees its parameters alone."""
        constants, self._constants = self._constants, None
        try:
            with self.within() as nodes:
                self.tensors = list(parameters)
                yield nodes
        finally:
            self._constants = constants

    # The whole.

    def model(self) -> ModelProto:
        """Return the model, its last value its output."""
        output = self.tensors[-1].name
        if not self._nodes:
            output = self.node("Identity", [output])
        graph = helper.make_graph(
            self._nodes,
            "random",
            [helper.make_tensor_value_info(name, FLOAT, dims) for name, dims in self.inputs],
            [helper.make_tensor_value_info(output, FLOAT, None)],
            initializer=self._constants,
        )
        domains = {"": self.opset, "local": 1, MICROSOFT: 1}
        imports = [helper.make_opsetid(*pair) for pair in domains.items()]
        return helper.make_model(graph, opset_imports=imports, ir_version=10, functions=self.functions)
