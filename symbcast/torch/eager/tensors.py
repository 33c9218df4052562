"""Tensors that have a shape, an element type and known elements, but no data, and calls of operators on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

from symbcast.core.algebra.arithmetic import ceil_divide, multiply
from symbcast.core.algebra.formulas import FORMULA_KINDS, equal
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.graph import NOTHING, Node
from symbcast.graphs.walking.requirements import NodePlace
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import Elements, is_size
from symbcast.operators.values.value import Value
from symbcast.torch.calls import TorchCall, scalar, shape_of_value, size_of
from symbcast.torch.eager.symbolic_numbers import UNKNOWN_REAL, NumberRun, RealNode, SizeNode, TruthNode, symint
from symbcast.torch.graph import StoredTorchTensor, operator_name
from symbcast.torch.library import load_torch


class SharedMemory:
    """The memory that a tensor shares with its views; once it is written to, nothing is known about elements."""

    def __init__(self) -> None:
        self.is_written = False


@lru_cache(maxsize=1)
def tensor_class() -> type:
    """Return the class of tensors without data; it is made when torch is there."""
    torch = load_torch()

    class SymbolicTensor(torch.Tensor):  # type: ignore[misc, name-defined]
        """A tensor without data: ``value`` is what is known of it, ``run`` is the run that it belongs to."""

        value: Value
        memory: SharedMemory
        run: Any
        is_given: bool
        """Whether it is an argument, so that data can be any numbers."""

        @staticmethod
        def __new__(cls: Any, value: Value, dtype: Any, run: Any, memory: SharedMemory) -> Any:
            assert value.shape is not None
            # Torch never reads these sizes: it asks `__torch_dispatch__` of the run's mode for sizes, strides and
            # contiguity.
            tensor = torch.Tensor._make_wrapper_subclass(
                cls, (2,) * len(value.shape), dtype=dtype, device="cpu", dispatch_sizes_strides_policy="sizes"
            )
            tensor.value, tensor.memory, tensor.run, tensor.is_given = value, memory, run, False
            return tensor

        def __init__(self, *args: Any) -> None:
            super().__init__()

        def __repr__(self, **options: Any) -> str:
            return f"tensor of shape {self.value.shape}"

        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise RuntimeError("a tensor is used outside its own run")

        def tolist(self) -> Any:
            return [row.tolist() for row in self.unbind(0)] if self.dim() else self.item()

        def numpy(self, *args: Any, **options: Any) -> Any:
            self.run.give_up("the elements of a tensor are needed as a NumPy array")

        __array__ = numpy

        def data_ptr(self) -> int:
            return int(self.run.give_up("the memory of a tensor is read"))

        def __deepcopy__(self, memo: Any) -> Any:
            return self.clone()

        def __reduce_ex__(self, protocol: Any) -> Any:
            self.run.give_up("a tensor is pickled")

        __torch_function__ = torch._C._disabled_torch_function_impl

    return SymbolicTensor


def is_without_data(value: Any) -> bool:
    """Return whether a value is a tensor without data."""
    return isinstance(value, tensor_class())


def tensor_value(tensor: Any) -> Value:
    """Return what is known of a tensor, with or without data."""
    if not is_without_data(tensor):
        return StoredTorchTensor(tensor)
    value: Value = tensor.value
    return value.with_content(None) if tensor.memory.is_written else value


def tensor_dims(tensor: Any) -> Dims:
    """Return the shape of a tensor, with or without data."""
    dims = tensor_value(tensor).shape
    assert dims is not None
    return dims


class TensorRun(Protocol):
    """The run that a tensor belongs to; see `symbcast.torch.eager.runs`."""

    asker: Any
    numbers: NumberRun
    place: NodePlace | None


def _size(run: TensorRun, tensor: Any, axis: int | None = None) -> Any:
    sizes = [symint(d, run.numbers) for d in tensor_dims(tensor)]
    return sizes if axis is None else sizes[axis]


def _stride(run: TensorRun, tensor: Any, axis: int | None = None) -> Any:
    # The layout is not followed: these are the strides of contiguous memory.
    dims = tensor_dims(tensor)
    strides = [symint(multiply(*dims[n + 1 :]), run.numbers) for n in range(len(dims))]
    return strides if axis is None else strides[axis]


def _count(run: TensorRun, tensor: Any) -> Any:
    return symint(multiply(*tensor_dims(tensor)), run.numbers)


def _number(run: TensorRun, tensor: Any) -> Any:
    """Return the only element of a tensor as a number that torch computes with."""
    torch = load_torch()
    if not is_without_data(tensor):
        return tensor.item()
    run.asker.require(run.place, equal(multiply(*tensor_dims(tensor)), 1), "there must be one element")
    value = tensor_value(tensor)
    items = value.content.items if isinstance(value.content, Elements) else ()
    known = items[0] if items else None
    if tensor.dtype == torch.bool:
        formula = known if isinstance(known, FORMULA_KINDS) else run.numbers.is_true_for_data()
        return torch.SymBool(TruthNode(formula, run.numbers))
    if tensor.dtype.is_floating_point or tensor.dtype.is_complex:
        # Elements that are real numbers are not followed.
        return torch.SymFloat(RealNode(UNKNOWN_REAL, run.numbers))
    if is_size(known):
        return symint(known, run.numbers)
    return torch.SymInt(SizeNode(run.numbers.integer_of_data(), run.numbers))


def _equal(run: TensorRun, *rest: Any, **options: Any) -> Any:
    return run.numbers.ask(run.numbers.is_true_for_data())


# What torch asks about tensors, by operator.
ABOUT: dict[str, Callable[..., Any]] = {
    "aten.sym_size": _size,
    "aten.size": _size,
    "aten.sym_stride": _stride,
    "aten.stride": _stride,
    "aten.sym_numel": _count,
    "aten.numel": _count,
    "aten.dim": lambda run, tensor: len(tensor_dims(tensor)),
    "aten.is_contiguous": lambda run, tensor, *rest, **options: True,
    "aten.is_non_overlapping_and_dense": lambda run, tensor: True,
    "aten.is_strides_like_format": lambda run, tensor, *rest: False,
    "aten.sym_storage_offset": lambda run, tensor: 0,
    "aten.storage_offset": lambda run, tensor: 0,
    "aten.item": _number,
    "aten._local_scalar_dense": _number,
    "aten.is_nonzero": lambda run, tensor: bool(_number(run, tensor)),
    "aten.equal": _equal,
    "aten.allclose": _equal,
    "prim.device": lambda run, tensor: load_torch().device("cpu"),
    "prim.layout": lambda run, tensor: load_torch().strided,
}


# A call of an operator in a run of torch code, as the functions of `symbcast.torch.operators` see it.


class _Fx:
    """The parts of an fx node that operators read: target, arguments, and the value that torch would record."""

    def __init__(self, target: Any, value: Any, kwargs: Any = NOTHING) -> None:
        self.target, self.meta, self.args, self.kwargs = target, {"val": value}, (), kwargs


class EagerCall(TorchCall):
    """A call with its arguments; ``sample`` is the result of torch's own shape function at some sizes, if any."""

    def __init__(
        self, run: Any, place: NodePlace | None, target: Any, arguments: Mapping[str, Any], sample: Any
    ) -> None:
        kind = operator_name(target)
        # A list is one result of the schema, but an output of each of its tensors.
        count = len(sample) if isinstance(sample, (list, tuple)) else max(1, len(target._schema.returns))
        outputs = [f"{kind}.{n}" for n in range(count)]
        self._arguments = {name: resolved_argument(v) for name, v in arguments.items()}
        values = list(_values(list(self._arguments.values())))
        raw = _Fx(target, sample, _as_fx(dict(arguments)))
        node = Node(kind, [f"input {n}" for n in range(len(values))], outputs, name=kind, raw=raw)
        # The base class reads a graph's scope and its nodes, which a run does not have: its fields are set here.
        self.place = NodePlace(kind, kind, node, values) if place is None else place
        self.node, self.inputs, self.version = node, values, 0
        self.walk, self.scope, self.asker = run.walk, None, run.asker  # type: ignore[assignment]
        self._recording = run.walk
        self.bounds = run.asker.bounds
        self._attributes = None

    def _recorded(self) -> Sequence[Value]:
        """Return outputs of unknown shape: torch recorded none."""
        return [Value(None) for _ in self.node.outputs]

    @property
    def parts(self) -> Dim | None:
        """Return into how many tensors the operator cuts one; None for other operators."""
        kind = self.node.op_type.removeprefix("aten.")
        if kind not in ("unbind", "split", "chunk", "unsafe_split", "unsafe_chunk"):
            return None
        dims = shape_of_value(self.argument("self"))
        size = dims[self.axis_of(self.number("dim", 0), len(dims))] if dims else 1
        each = size_of(self.argument("split_size"))
        if kind.endswith("split"):
            return None if each is None else ceil_divide(size, each)
        if kind == "unbind":
            return size
        # `chunk` rounds the size of a part up, so it may return fewer parts than requested.
        return ceil_divide(size, ceil_divide(size, self.number("chunks")))


def _as_fx(argument: Any) -> Any:
    """Return arguments in which tensors are nodes that record them."""
    if isinstance(argument, dict):
        return {name: _as_fx(v) for name, v in argument.items()}
    if isinstance(argument, (list, tuple)):
        return [_as_fx(v) for v in argument]
    return _Fx(None, argument) if isinstance(argument, load_torch().Tensor) else argument


def resolved_argument(argument: Any) -> Any:
    """Return an argument with values instead of tensors and numbers of torch."""
    if isinstance(argument, (list, tuple)):
        return [resolved_argument(a) for a in argument]
    torch = load_torch()
    if isinstance(argument, torch.Tensor):
        return tensor_value(argument)
    if isinstance(argument, torch.SymInt | torch.SymBool | torch.SymFloat):
        return _of_node(argument.node)
    return argument


def _of_node(node: Any) -> Value:
    if isinstance(node, SizeNode):
        return scalar(node.dim)
    if isinstance(node, TruthNode):
        return scalar(node.formula)
    if isinstance(node, RealNode) and node.ratio is not UNKNOWN_REAL:
        return scalar(node.ratio)
    return scalar(None)


def _values(arguments: Sequence[Any]) -> Iterator[Value]:
    for value in arguments:
        if isinstance(value, list):
            yield from _values(value)
        elif isinstance(value, Value):
            yield value
