"""Read ``.tflite`` files: the tables of the flatbuffer as graphs of named values.

The tables are read with generated accessors, which follow any offset that a file has. A damaged file leads them out of
the file, which raises, or has them count more items than the file has bytes, which `_Budget` refuses.
"""

from __future__ import annotations

import gzip
import re
import struct
import zlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from io import BytesIO
from math import prod
from os import PathLike, fsdecode
from pathlib import Path
from typing import Any

from symbcast.core.algebra.symbols import Unknown, symbol
from symbcast.core.algebra.terms import Dim
from symbcast.core.programs.program import Program
from symbcast.core.shapes import Shape, is_open
from symbcast.core.structs import NamedTuple
from symbcast.errors import BindingError, MissingExtraError, ModelError
from symbcast.graphs.graph import NOTHING, Graph, Node
from symbcast.graphs.inputs import KnownInputs, ModelInputs, free_name, inputs_of, place_name
from symbcast.graphs.model import Model, check_path
from symbcast.graphs.registry import check_front_end, wrong_model
from symbcast.operators.values.contents import (
    BFLOAT16,
    BOOL,
    DOUBLE,
    FLOAT,
    FLOAT16,
    INT8,
    INT16,
    INT32,
    INT64,
    INTEGERS,
    MAX_ELEMENTS,
    STRING,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    Content,
    Elements,
    from_array,
)
from symbcast.operators.values.value import Constant, Decider, Value

# Element types by their number in the schema; 0 for those that ONNX has no number for.
_DTYPES = (
    FLOAT, FLOAT16, INT32, UINT8, INT64, STRING, BOOL, INT16, 0, INT8, DOUBLE, 0, UINT64, 0, 0, UINT32, UINT16, 0,
    BFLOAT16,
)  # fmt: skip
_NUMPY = {
    FLOAT: "<f4", FLOAT16: "<f2", DOUBLE: "<f8", BOOL: "?", INT8: "<i1", INT16: "<i2", INT32: "<i4", INT64: "<i8",
    UINT8: "<u1", UINT16: "<u2", UINT32: "<u4", UINT64: "<u8",
}  # fmt: skip
_WHOLE = INTEGERS | {BOOL}
# The subgraphs that an operator runs, by the accessors of its options.
_BODIES = {
    "IF": ("then_subgraph_index", "else_subgraph_index"),
    "WHILE": ("cond_subgraph_index", "body_subgraph_index"),
    "CALL_ONCE": ("init_subgraph_index",),
    "STABLEHLO_COMPOSITE": ("decomposition_subgraph_index",),
}
# More graphs in graphs than this are not read: a file of a kilobyte can nest them two to the power of its operators.
_MAX_GRAPHS = 1 << 14
# The accessors of generated tables that are no fields.
_NO_FIELD = re.compile(r"GetRoot.*|Init|.*(AsNumpy|IsNone|BufferHasIdentifier)")
# An interpreter takes shapes of 32 bits.
_MOST = (1 << 31) - 1
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@cache
def schema() -> Any:
    """Return the generated classes of the schema: those of ai-edge-litert if it is installed, else of ``tflite``."""
    for module in ("ai_edge_litert.schema_py_generated", "tflite"):
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
                raise
    raise MissingExtraError("symbcast.litert", "litert")


@cache
def _names(enumeration: str) -> Mapping[int, str]:
    """Return the names of the members of an enumeration of the schema by their numbers."""
    return {n: name for name, n in vars(getattr(schema(), enumeration)).items() if isinstance(n, int)}


class _Budget:
    """Counts the items that are read from a file; each takes a byte at least, so there are no more than bytes."""

    def __init__(self, size: int) -> None:
        # Tables may be shared, such as equal options; a file of a hundred bytes has few of anything.
        self._left = 8 * size + 1024

    def spend(self, count: int) -> range:
        """Charge items; raises `ValueError` if the file cannot have that many."""
        self._left -= count
        if self._left < 0:
            raise ValueError("it counts more items than it has bytes")
        return range(count)


@cache
def _fields(kind: Any) -> tuple[tuple[str, str, bool], ...]:
    """Return the accessors of a generated table, their names in snake case, and whether each is a vector."""
    names = [n for n, f in vars(kind).items() if n[0].isupper() and not _NO_FIELD.fullmatch(n) and callable(f)]
    vectors = {n.removesuffix("Length") for n in names if n.endswith("Length") and n.removesuffix("Length") in names}
    return tuple(
        (n, _WORD.sub("_", n).lower(), n in vectors)
        for n in names
        if not (n.endswith("Length") and n.removesuffix("Length") in vectors)
    )


def _options(operator: Any, budget: _Budget) -> Mapping[str, Any]:
    """Return the options of an operator: numbers, truth values, texts and lists of numbers, by name in snake case."""
    for number, suffix in ((operator.BuiltinOptionsType(), ""), (operator.BuiltinOptions2Type(), "2")):
        name = _names(f"BuiltinOptions{suffix}").get(number) if number else None
        table = getattr(operator, f"BuiltinOptions{suffix}")() if name else None
        if table is None:
            continue
        kind = getattr(schema(), str(name))
        options = kind()
        options.Init(table.Bytes, table.Pos)
        return {label: _field(options, field, is_vector, budget) for field, label, is_vector in _fields(kind)}
    return NOTHING


def _field(table: Any, name: str, is_vector: bool, budget: _Budget) -> Any:
    if not is_vector:
        value = getattr(table, name)()
        return value if isinstance(value, (int, float, bytes)) else None
    get = getattr(table, name)
    return [get(n) for n in budget.spend(getattr(table, f"{name}Length")())]


class LiteRtTensor(NamedTuple):
    """A tensor of a subgraph: its shape in the file, which axes are open, and where its elements are, if constant."""

    name: str
    shape: tuple[int, ...]
    open_axes: frozenset[int]
    dtype: int
    buffer: tuple[int, int] | None
    is_plain: bool


class LiteRtConstant(Constant):
    """A constant tensor; ``raw`` is the content of the file, of which its buffer is a part."""

    def __init__(self, file: bytes, tensor: LiteRtTensor) -> None:
        super().__init__(file, tensor.shape, tensor.dtype)
        self._sizes, self._buffer = tensor.shape, tensor.buffer or (0, 0)
        # Sparse tensors, strings and elements of 4 bits have other forms.
        self._is_plain = tensor.is_plain
        self._is_long = prod(tensor.shape) > MAX_ELEMENTS

    def read(self) -> Content | None:
        """Return the elements of short tensors, and of long integer tensors."""
        if self.dtype not in _WHOLE and self._is_long:
            return None
        return None if self.array is None else from_array(self.array)

    def facts(self) -> Hashable | None:
        """Return the shape and type, and the data of a constant that is short enough to be listed."""
        if not self._is_plain:
            return None
        start, length = self._buffer
        data = None if self._is_long else self.raw[start : start + length]
        return LiteRtConstant, self.shape, self.dtype, data

    @property
    def array(self) -> Any:
        """The numbers; None if they are not stored one by one."""
        import numpy as np

        if not self._is_plain:
            return None
        self.was_read = self._is_long
        kind = np.dtype(_NUMPY[self.dtype])
        return np.frombuffer(self.raw, kind, prod(self._sizes), self._buffer[0]).reshape(self._sizes)


class LiteRtNode(Node):
    """An operator; ``number`` is its index in its subgraph, which LiteRT prints as its node number.

    Attributes:
        attributes: the options of the operator, named as in the schema.
        graphs: the subgraphs that it runs.
        tensors: its outputs, as the file has them.
        first: its first input, as the file has it; None for an input of the graph, which is resized before XNNPACK
            takes operators.
    """

    __slots__ = ("attributes", "first", "graphs", "number", "tensors")
    attributes: Mapping[str, Any]
    graphs: Mapping[str, Graph]

    def __init__(self, number: int, op_type: str, inputs: Sequence[str], outputs: Sequence[str], domain: str) -> None:
        super().__init__(op_type, inputs, outputs, domain=domain)
        self.number = number
        self.tensors: Sequence[LiteRtTensor | None] = ()
        self.first: LiteRtTensor | None = None
        self.attributes = NOTHING
        self.graphs = NOTHING

    @property
    def kind(self) -> str | None:
        """The operator, its options and its outputs in the file; None if it runs graphs or has a state."""
        if self.graphs or self.op_type in _WITH_STATE:
            return None
        outputs = [t and (t.dtype, t.shape if self.op_type == "SLICE" else ()) for t in self.tensors]
        channels = self.first and self.op_type == "CONV_2D" and self.first.shape[-1:]
        return repr((self.op_type, self.domain, self.version, outputs, channels, self.attributes))

    @property
    def path(self) -> tuple[str, ...]:
        """No modules: LiteRT keeps names of values, which are those of the operators that a converter fused."""
        return ()


_WITH_STATE = ("CALL_ONCE", "VAR_HANDLE", "READ_VARIABLE", "ASSIGN_VARIABLE")


class LiteRtGraph(Graph):
    """A subgraph; ``tensors`` are those of its inputs."""

    has_initializers = False

    def __init__(self, nodes: Sequence[Node], names: _Names, constants: Mapping[str, Value], called: str) -> None:
        super().__init__(nodes, names.of(names.inputs), names.of(names.outputs), constants, called)
        self.tensors = [names.tensors[n] for n in names.inputs]


class _Names(NamedTuple):
    """The tensors of a subgraph with a name for each, and the indices of its inputs and outputs."""

    tensors: Sequence[LiteRtTensor]
    labels: Sequence[str]
    inputs: Sequence[int]
    outputs: Sequence[int]

    def of(self, indices: Sequence[int]) -> list[str]:
        """Return the names of tensors; -1 is one that is not given. Raises `IndexError` for an index out of range."""
        if any(not -1 <= n < len(self.labels) for n in indices):
            raise IndexError("an operator has a tensor that is not there")
        return [self.labels[n] if n >= 0 else "" for n in indices]


class _File:
    """The tables of one file."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.budget = _Budget(len(content))
        self.model = schema().Model.GetRootAs(content, 0)
        if content[4:8] != b"TFL3":
            raise ValueError("it has no identifier TFL3")
        self._graphs: dict[int, LiteRtGraph] = {}
        self._around: list[int] = []
        self._inner: dict[int, int] = {}

    def _each(self, table: Any, field: str) -> Iterator[Any]:
        get = getattr(table, field)
        for n in self.budget.spend(getattr(table, f"{field}Length")()):
            yield get(n)

    @cached_property
    def _codes(self) -> list[tuple[str, str, int]]:
        """The name, the domain and the version of each operator that the file lists."""
        codes = []
        for code in self._each(self.model, "OperatorCodes"):
            # Numbers from 127 on do not fit into the older field.
            number = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
            custom = code.CustomCode()
            name = _names("BuiltinOperator").get(number, f"BUILTIN_{number}")
            is_custom = name == "CUSTOM"
            label = (custom or b"").decode("utf-8", "replace") if is_custom else name
            codes.append((label or "CUSTOM", "custom" if is_custom else "", code.Version()))
        return codes

    @cached_property
    def _buffers(self) -> list[tuple[int, int]]:
        """Where each buffer begins in the file, and its length."""
        places = []
        for buffer in self._each(self.model, "Buffers"):
            start, length = (buffer.Offset(), buffer.Size()) if hasattr(buffer, "Offset") else (0, 0)
            if start <= 1:  # the data are in the flatbuffer
                length = buffer.DataLength()
                offset = buffer._tab.Offset(4)
                start = buffer._tab.Vector(offset) if offset else 0
            if start + length > len(self.content):
                raise ValueError("a buffer extends past the end of the file")
            places.append((start, length))
        return places

    @cached_property
    def signatures(self) -> dict[str, Any]:
        """The signatures of the model, by their keys."""
        return {(s.SignatureKey() or b"").decode(): s for s in self._each(self.model, "SignatureDefs")}

    def graph(self, number: int) -> LiteRtGraph:
        """Return a subgraph, the same one on every call; raises `ValueError` for one that runs itself."""
        if number in self._around:
            raise ValueError(f"subgraph {number} runs itself")
        if number not in self._graphs:
            if not 0 <= number < self.model.SubgraphsLength():
                raise IndexError(f"there is no subgraph {number}")
            self._around.append(number)
            self._graphs[number] = self._read_graph(self.model.Subgraphs(number), number)
            self._around.pop()
        return self._graphs[number]

    def count_inner(self, number: int) -> int:
        """Return how many graphs there are in a graph, at any depth."""
        return self._inner[number]

    def _read_graph(self, table: Any, number: int) -> LiteRtGraph:
        tensors = [self._tensor(t) for t in self._each(table, "Tensors")]
        names = _Names(
            tensors, self._labels(tensors, number), *(self._numbers(table, f) for f in ("Inputs", "Outputs"))
        )
        nodes = [self._node(n, op, names) for n, op in enumerate(self._each(table, "Operators"))]
        for node in nodes:
            node.name = f"node {node.number}" + (f" of subgraph {number}" if number else "")
        inner = [index for node in nodes for index in self._bodies(node)]
        self._inner[number] = sum(1 + self._inner[n] for n in inner)
        if self._inner[number] > _MAX_GRAPHS:
            raise ValueError("its subgraphs are nested too deeply")
        made = {name for node in nodes for name in node.outputs} | set(names.of(names.inputs))
        pairs = zip(names.labels, tensors, strict=True)
        constants = {name: self._held(t) for name, t in pairs if name not in made}
        return LiteRtGraph(nodes, names, constants, (table.Name() or b"").decode("utf-8", "replace"))

    def _bodies(self, node: LiteRtNode) -> list[int]:
        fields = _BODIES.get(node.op_type, ()) if node.attributes else ()
        numbers = [int(node.attributes[field]) for field in fields]
        if numbers:
            labels = [field.removesuffix("_subgraph_index") for field in fields]
            node.graphs = {label: self.graph(n) for label, n in zip(labels, numbers, strict=True)}
        return numbers

    def _numbers(self, table: Any, field: str) -> list[int]:
        return [int(n) for n in self._each(table, field)]

    def _tensor(self, table: Any) -> LiteRtTensor:
        shape = tuple(self._numbers(table, "Shape"))
        signature = self._numbers(table, "ShapeSignature")
        if any(n < 0 for n in shape):
            raise ValueError("a tensor has a negative size")
        is_signed = len(signature) == len(shape)
        open_axes = frozenset(axis for axis, n in enumerate(signature) if n < 0) if is_signed else frozenset()
        kind = table.Type()
        dtype = _DTYPES[kind] if kind < len(_DTYPES) else 0
        start, length = self._buffers[table.Buffer()] if self._buffers else (0, 0)
        is_plain = dtype in _NUMPY and table.Sparsity() is None
        if is_plain and length and length != prod(shape) * struct.calcsize(_SIZES[_NUMPY[dtype][-2:]]):
            raise ValueError("a constant does not have the bytes of its shape")
        label = (table.Name() or b"").decode("utf-8", "replace")
        return LiteRtTensor(label, shape, open_axes, dtype, (start, length) if length else None, is_plain)

    def _labels(self, tensors: Sequence[LiteRtTensor], number: int) -> list[str]:
        """Return a name for each tensor: that of the signature, or its own, or its index; equal ones are numbered."""
        own = dict(enumerate(t.name for t in tensors))
        for signature in self.signatures.values():
            if signature.SubgraphIndex() == number:
                for field in ("Inputs", "Outputs"):
                    for pair in self._each(signature, field):
                        name = (pair.Name() or b"").decode("utf-8", "replace")
                        own[pair.TensorIndex()] = name or own.get(pair.TensorIndex(), "")
        taken: set[str] = set()
        labels = []
        for n in range(len(tensors)):
            name = own[n] or f"tensor_{n}"
            name = f"{name} ({n})" if name in taken else name
            taken.add(name)
            labels.append(name)
        return labels

    def _held(self, tensor: LiteRtTensor) -> Value:
        """Return a tensor that no operator makes: a constant, a state, or elements of which there are none."""
        if tensor.buffer is not None:
            return LiteRtConstant(self.content, tensor)
        value = Value(tensor.shape, tensor.dtype, Elements(()) if 0 in tensor.shape else None)
        value.decided_by = Decider.NUMBERS if 0 in tensor.shape else Decider.DATA
        return value

    def _node(self, number: int, table: Any, names: _Names) -> LiteRtNode:
        op_type, domain, version = self._codes[table.OpcodeIndex()]
        inputs, outputs = (self._numbers(table, field) for field in ("Inputs", "Outputs"))
        node = LiteRtNode(number, op_type, names.of(inputs), names.of(outputs), domain)
        node.version = version
        node.tensors = [names.tensors[n] if n >= 0 else None for n in outputs]
        node.first = names.tensors[inputs[0]] if inputs and inputs[0] >= 0 and inputs[0] not in names.inputs else None
        node.attributes = NOTHING if domain else _options(table, self.budget)
        return node


_SIZES = {"f4": "f", "f2": "e", "f8": "d", "?": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q"}
_SIZES |= {f"u{n}": _SIZES[f"i{n}"] for n in "1248"}


class LiteRtModel(Model):
    """A model; ``raw`` is the content of its file. With ``is_strict``, only axes that are open in it have names."""

    graph: LiteRtGraph

    def __init__(self, source: str, file: _File, number: int, path: Path | None, is_strict: bool) -> None:
        graph = file.graph(number)
        super().__init__(source, graph, path=path, raw=file.content, inner=file.count_inner(number))
        self.is_strict = is_strict

    def read_inputs(self, env: Program, given: KnownInputs, *, are_open: bool = False) -> ModelInputs:
        """Return the inputs of the subgraph, resized to the shapes that a caller gives."""
        for name, size in given.bind.items():
            if size > _MOST:
                raise BindingError(f"{name}={size}: no size of LiteRT is above {_MOST}")
        taken: set[str] = set()
        values = {}
        for name, tensor in zip(self.graph.inputs, self.graph.tensors, strict=True):
            dims = self._resized(name, tensor, given.shapes.get(name))
            labels = [free_name(place_name(name, axis), taken) if d is None else "" for axis, d in enumerate(dims)]
            sizes: list[Dim] = [symbol(n) if d is None else d for n, d in zip(labels, dims, strict=True)]
            values[name] = Value(tuple(sizes), tensor.dtype)
        return inputs_of(values, env, given, {}, are_open=are_open)

    def _resized(self, name: str, tensor: LiteRtTensor, shape: Shape | None) -> list[int | None]:
        """Return the sizes of an input, None for one that is open: in the file, or by a shape that the caller gives."""
        dims = [None if axis in tensor.open_axes else d for axis, d in enumerate(tensor.shape)]
        if shape is None:
            return dims
        if is_open(shape):
            raise BindingError(
                f"{name} is given as {shape}, but in the model it has rank {len(dims)}", "give each size"
            )
        if len(shape) != len(dims):
            raise BindingError(f"{name} is given with rank {len(shape)}, but in the model it has rank {len(dims)}")
        if any(isinstance(size, int) and size > _MOST for size in shape.dims):
            raise BindingError(f"{name} is given as {shape}, and no size of LiteRT is above {_MOST}")
        for axis, (d, size) in enumerate(zip(dims, shape.dims, strict=True)) if self.is_strict else ():
            if d not in (None, size) and not isinstance(size, Unknown):
                where = f"{name} is given with {size} on axis {axis}, which the file fixes at {d}"
                raise BindingError(where, f"write {d} there, or leave out strict=True: it changes open axes only")
        is_kept = self.is_strict  # what is left of the shape is the file's
        return [d if d == size or is_kept else None for d, size in zip(dims, shape.dims, strict=True)]


def read(model: Any, runtime: str = "", signature: str | None = None, is_strict: bool = False) -> LiteRtModel:
    """Return a model from a file, its content or an interpreter; raises `ModelError` if it cannot be read."""
    schema()
    source, content, path = _content(model)
    return _guarded(source, lambda: _chosen(source, content, path, signature, is_strict))


def _chosen(source: str, content: bytes, path: Path | None, signature: str | None, is_strict: bool) -> LiteRtModel:
    file = _File(content)
    if signature is None:
        return LiteRtModel(source, file, 0, path, is_strict)
    if signature not in file.signatures:
        known = ", ".join(sorted(file.signatures)) or "none"
        raise ModelError(source, f"has no signature {signature!r}", f"its signatures are {known}")
    return LiteRtModel(source, file, file.signatures[signature].SubgraphIndex(), path, is_strict)


def _content(model: Any) -> tuple[str, bytes, Path | None]:
    """Return the name of a model, the content of its file, and its path if it has one."""
    if isinstance(model, (str, PathLike)):
        source = fsdecode(model)
        check_front_end(source, "litert")
        check_path(source, "give the path of a model, such as model.tflite")
        return source, _unpacked(source, Path(source).read_bytes()), Path(source)
    if isinstance(model, (bytes, bytearray)):
        return "model", _unpacked("model", bytes(model)), None
    # An interpreter that was given the content of a file keeps it.
    content = getattr(model, "_model_content", None)
    if isinstance(content, bytes):
        return "model", content, None
    hint = "give the path of a model, such as model.tflite, or its content as bytes"
    raise wrong_model(model, "a model", hint)


def _unpacked(source: str, data: bytes) -> bytes:
    """Return the content of a file, which may be compressed by gzip; a flatbuffer has at most 2 GB."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            return file.read(_MOST)
    except (EOFError, OSError, zlib.error) as error:
        raise ModelError(source, "is truncated or damaged: it cannot be unzipped", "fetch it again") from error


def _guarded(source: str, load: Callable[[], LiteRtModel]) -> LiteRtModel:
    """Return what is loaded; raises `ModelError` for whatever damage makes the accessors raise."""
    try:
        return load()
    except ModelError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, struct.error) as error:
        raise ModelError(source, f"is no model of LiteRT: {error}", "it may be truncated; convert it again") from None
