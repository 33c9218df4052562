"""An ``ov.Model`` as a graph of named values.

Its nodes, constants, element types, and the calls that operators see.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from math import prod
from typing import Any

from symbcast.core.algebra.terms import Dim
from symbcast.graphs.check import Offered, OperatorTable
from symbcast.graphs.graph import NOTHING, Graph, Node
from symbcast.graphs.walking.node_call import NodeCall
from symbcast.graphs.walking.unknown_ranks import Reaches
from symbcast.operators.operator import Dims
from symbcast.operators.values import contents
from symbcast.operators.values.value import Constant, ElementSource, Value

NUMBERS = {
    "f32": contents.FLOAT, "u8": contents.UINT8, "i8": contents.INT8, "u16": contents.UINT16, "i16": contents.INT16,
    "i32": contents.INT32, "i64": contents.INT64, "string": contents.STRING, "boolean": contents.BOOL,
    "f16": contents.FLOAT16, "f64": contents.DOUBLE, "u32": contents.UINT32, "u64": contents.UINT64,
    "bf16": contents.BFLOAT16,
}  # fmt: skip


def element_type_number(element_type: Any) -> int:
    """Return the number of an element type; 0 if it is dynamic or unknown to ONNX."""
    return NUMBERS.get(element_type.get_type_name(), 0)


_REALS = frozenset({contents.FLOAT, contents.FLOAT16, contents.DOUBLE})
_READ = contents.INTEGERS | _REALS | {contents.BOOL}


def static_shape(op: Any) -> tuple[int, ...]:
    """Return the shape of a node's output if it is static; iterating over an ``ov.Shape`` takes ten times as long."""
    shape = op.get_output_shape(0)
    return tuple([shape[axis] for axis in range(len(shape))])


class OpenVinoConstant(Constant):
    """The constant of a Constant node."""

    def __init__(self, op: Any) -> None:
        shape = static_shape(op)
        super().__init__(op, shape, element_type_number(op.get_output_element_type(0)))
        self._is_long = prod(shape) > contents.MAX_ELEMENTS

    def read(self) -> contents.Content | None:
        """Return the elements of short tensors, and of long integer tensors."""
        is_whole = self.dtype in contents.INTEGERS or self.dtype == contents.BOOL
        if not is_whole and (self.dtype not in _REALS or self._is_long):
            return None
        return contents.from_array(self.array)

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the data of a constant that is short enough to be listed."""
        if self.dtype not in _READ:
            return None
        return OpenVinoConstant, self.shape, self.dtype, None if self._is_long else self.raw.get_data().tobytes()

    @property
    def array(self) -> Any:
        """The numbers."""
        self.was_read = self._is_long
        return self.raw.get_data()


# A value has the name of its tensor; if the tensor has several names, it is the one equal to its node's name. Without
# a tensor name, it has the friendly name of its node, with ``.0``, ``.1`` appended if the node has several outputs.


class OpenVinoNode(Node):
    """A node; ``raw`` is OpenVINO's object. ``version`` is its opset's version; ``domain`` names a custom opset."""

    __slots__ = ("_attributes", "_graphs", "_kind", "graph", "place")

    def __init__(  # noqa: PLR0913, PLR0917 - all that a node is, by position, as there are many
        self,
        graph: OpenVinoGraph,
        place: int,
        op: Any,
        op_type: str,
        domain: str,
        version: int,
        inputs: Sequence[str],
        outputs: Sequence[str],
    ) -> None:
        """``place`` is its index among the nodes of its graph."""
        self.graph = graph
        self.place = place
        self.raw = op
        self.op_type = op_type
        self.domain = domain
        self.version = version
        self.inputs = inputs
        self.outputs = outputs
        self.name = op.get_friendly_name()
        self._attributes: Mapping[str, Any] | None = None
        self._graphs: Mapping[str, Graph] | None = None
        self._kind: str | None = None

    @property
    def attributes(self) -> Mapping[str, Any]:
        """The attributes as OpenVINO returns them."""
        if self._attributes is None:
            self._attributes = self.raw.get_attributes()
        return self._attributes

    @property
    def kind(self) -> str | None:
        """The operator, its attributes and the element types of its outputs; None if it runs graphs.

        The element types of inputs are known about their values.
        """
        if self._kind is None and self.op_type not in BODIES:
            self._kind = self.graph.kind_of(self)
        return self._kind

    @property
    def graphs(self) -> Mapping[str, Graph]:
        """The branches of an If, or the body of a loop."""
        if self._graphs is None:
            names = BODIES.get(self.op_type)
            self._graphs = NOTHING if names is None else self._read_graphs(names)
        return self._graphs

    def _read_graphs(self, names: Sequence[str]) -> Mapping[str, Graph]:
        bodies = (self.raw.get_function(n) for n in range(2)) if len(names) > 1 else (self.raw.get_function(),)
        return {name: OpenVinoGraph(body) for name, body in zip(names, bodies, strict=True)}

    @property
    def held(self) -> tuple[int, ...] | None:
        """The shape of a constant."""
        return static_shape(self.raw) if self.op_type == "Constant" else None


class OpenVinoGraph(Graph):
    """The graph of a model, or of a body of one of its nodes; ``raw`` is the ``ov.Model``."""

    def __init__(self, model: Any) -> None:
        self.raw = model
        self._copy: Any = None
        self._copies: list[Any] | None = None
        self._opsets: dict[str, tuple[int, str]] = {}
        self._kinds: dict[tuple[Any, ...], str] = {}
        self.parameters = list(model.get_parameters())
        names = _Names()
        nodes: list[Node] = []
        for place, op in enumerate(model.get_ordered_ops()):
            info = op.get_type_info()
            name = info.name
            if name == "Result":
                names.hand_on(op)
                continue
            outputs = names.of_outputs(op)
            if name != "Parameter":
                version, domain = self._opset(info.version_id)
                nodes.append(OpenVinoNode(self, place, op, name, domain, version, names.of_inputs(op), outputs))
        super().__init__(
            nodes,
            [names.of(p.get_output_tensor(0)) for p in self.parameters],
            [names.of(r.get_input_tensor(0)) for r in model.get_results()],
            name=str(model.get_friendly_name()),
        )

    def _opset(self, version: str) -> tuple[int, str]:
        """Return the number of an operator set, and its name if it is a custom one."""
        opset = self._opsets.get(version)
        if opset is None:
            number = int(version[5:]) if version.startswith("opset") and version[5:].isdecimal() else 0
            opset = self._opsets[version] = number, "" if number else version
        return opset

    def kind_of(self, node: OpenVinoNode) -> str:
        """Return the kind of a node, the same text for all nodes of this kind, whose hash Python computes once."""
        op = node.raw
        types = [op.get_output_element_type(n).to_string() for n in range(len(node.outputs))]
        key = (node.op_type, node.domain, node.version, repr(node.attributes), *types)
        return self._kinds.get(key) or self._kinds.setdefault(key, repr(key))

    def copy_of(self, node: OpenVinoNode) -> Any:
        """Return the node of a modifiable copy of the model, the same one on every call."""
        if self._copies is None:
            self._copy = self.raw.clone()
            self._copies = self._copy.get_ordered_ops()
        # That a clone lists its nodes in the same order is documented nowhere.
        copy = self._copies[node.place]
        if copy.get_friendly_name() != node.name or copy.get_type_info().name != node.op_type:
            raise LookupError(f"a copy of the model has a different node instead of {node.name}")
        return copy


class _Names:
    """The names of the values of a graph, by their tensors.

    A tensor is the same object for the node that makes it and for those that take it, as long as it is held. OpenVINO
    returns it in half the time of an output and its node.
    """

    def __init__(self) -> None:
        self._by_tensor: dict[int, str] = {}
        self._tensors: list[Any] = []
        self._taken: set[str] = set()

    def of(self, tensor: Any) -> str:
        """Return the name of a value."""
        return self._by_tensor[id(tensor)]

    def of_inputs(self, op: Any) -> list[str]:
        """Return the names of the inputs of a node."""
        known, tensor = self._by_tensor, op.get_input_tensor
        return [known[id(tensor(n))] for n in range(op.get_input_size())]

    def of_outputs(self, op: Any) -> list[str]:
        """Give each output of a node a name."""
        taken = self._taken
        called = []
        for index in range(op.get_output_size()):
            tensor = op.get_output_tensor(index)
            names = tensor.get_names()
            name = names.pop() if len(names) == 1 else _chosen(names, op, index)
            if name in taken:
                name = self._free(name)
            taken.add(name)
            self._by_tensor[id(tensor)] = name
            # The name goes by the id, which another tensor could get if this one were not held.
            self._tensors.append(tensor)
            called.append(name)
        return called

    def hand_on(self, op: Any) -> None:
        """Give the output of a node the name of its input."""
        tensor = op.get_output_tensor(0)
        self._by_tensor[id(tensor)] = self.of(op.get_input_tensor(0))
        self._tensors.append(tensor)

    def _free(self, name: str) -> str:
        free, number = name, 2
        while free in self._taken:
            free, number = f"{name} ({number})", number + 1
        return free


def _chosen(names: Set[str], op: Any, index: int) -> str:
    """Return the name of an output of a node with several names, or none."""
    own: str = op.get_friendly_name()
    if names:
        return own if own in names else min(names)
    return f"{own}.{index}" if op.get_output_size() > 1 else own


# The operators that contain models, and our names for these models.
BODIES = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "TensorIterator": ("body",)}


class OpenVinoCall(NodeCall):
    """A node with its inputs; its outputs get OpenVINO's element types."""

    # Outputs.

    def output(self, shape: Dims | None, content: contents.Content | None = None, position: int = 0) -> Value:
        """Return an output with OpenVINO's element type."""
        return Value(shape, element_type_number(self.node.raw.get_output_element_type(position)), content)

    # Numeric inputs.

    def input_numbers(self, position: int, what: str) -> list[int]:
        """Return the numbers that an input lists; give up on the node if they are unknown."""
        numbers = self.numbers(position)
        if numbers is None:
            self.give_up(f"{what} are in {self.input_name(position)}, whose elements are not known")
        return numbers

    def input_axes(self, position: int, rank: int) -> list[int]:
        """Return the axes that an input lists, counted from the front."""
        return [self.axis(a, rank) for a in self.input_numbers(position, "the axes")]

    def axes_of(self, dims: Dims, axes: Iterable[int]) -> list[int]:
        """Return axes counted from the front; 0 and -1 are valid for a scalar and dropped."""
        places = [self.axis(a, max(len(dims), 1)) for a in axes]
        return places if dims else []

    def input_sizes(self, position: int, least: int = 0) -> tuple[Dim, ...]:
        """Return the sizes that an input lists; each unknown size is a new symbol."""
        items: Sequence[object] | None = self.elements(position)
        if items is None:
            lengths = self.shape(position)
            if len(lengths) > 1 or any(not isinstance(n, int) for n in lengths):
                self.give_up(f"the sizes are in {self.input_name(position)}, whose elements are not known")
            items = (None,) * (int(lengths[0]) if lengths else 1)  # type: ignore[arg-type]
        name = self.input_name(position)
        dims: list[Dim] = []
        for n, item in enumerate(items):
            if contents.is_size(item):
                if least >= 0:
                    self.is_size(item, "a size must not be negative")
                dims.append(item)
                continue
            dims.append(self.fresh(f"size_{n}", f"element {n} of {name}", by=[position]))
            self.note_data(f"element {n} of {name}, which is data, must not be negative", position)
        return tuple(dims)


# The table of OpenVINO's operators by type name, for all operator sets, and reaches that several of them share.


OPERATORS: OperatorTable[OpenVinoCall] = OperatorTable()
# The sources of the elements of outputs, by the name of an operator: OpenVINO's schemas do not tell them.
ELEMENTS: dict[str, ElementSource] = {}


def operator(
    *names: str, reaches: Reaches | None = None, elements: ElementSource | None = None
) -> Callable[[Offered], Offered]:
    """Make the decorated function answer for operators; ``elements`` says what decides the elements of outputs."""
    if elements is not None:
        ELEMENTS.update(dict.fromkeys(names, elements))
    return OPERATORS.offer(*names, reaches=reaches)


def may_be_number(shapes: Sequence[Dims | None]) -> bool:
    """Return whether data may be a scalar, which OpenVINO treats as if it had a last axis of size 1."""
    return len(shapes[0] or ()) == 1
