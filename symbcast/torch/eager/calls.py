"""A call of an operator in a run of torch code, as the functions of `symbcast.torch.operators` see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.arithmetic import ceil_divide
from symbcast.graphs.graph import NOTHING, Node
from symbcast.graphs.requirements.recorder import Place
from symbcast.graphs.values.value import Value
from symbcast.torch.eager.nodes import UNKNOWN_REAL, TruthNode
from symbcast.torch.eager.reals import RealNode
from symbcast.torch.eager.sizes import SizeNode
from symbcast.torch.eager.tensors import value_of
from symbcast.torch.node_call import TorchCall, scalar, shape_of, size_of
from symbcast.torch.reading.graph import type_of
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim


class _Fx:
    """The parts of an fx node that operators read: target, arguments, and the value that torch would record."""

    def __init__(self, target: Any, value: Any, kwargs: Any = NOTHING) -> None:
        self.target, self.meta, self.args, self.kwargs = target, {"val": value}, (), kwargs


class EagerCall(TorchCall):
    """A call with its arguments; ``sample`` is the result of torch's own shape function at some sizes, if any."""

    def __init__(self, run: Any, place: Place | None, target: Any, given: Mapping[str, Any], sample: Any) -> None:
        kind = type_of(target)
        outputs = [f"{kind}.{n}" for n in range(count_of(target, sample))]
        self._arguments = {name: resolved(v) for name, v in given.items()}
        values = list(_values(list(self._arguments.values())))
        node = Node(
            kind,
            [f"input {n}" for n in range(len(values))],
            outputs,
            name=kind,
            raw=_Fx(target, sample, _as_fx(dict(given))),
        )
        self.place = Place(kind, kind, node, values) if place is None else place
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
        dims = shape_of(self.given("self"))
        size = dims[self.axis_of(self.number("dim", 0), len(dims))] if dims else 1
        each = size_of(self.given("split_size"))
        if kind.endswith("split"):
            return None if each is None else ceil_divide(size, each)
        if kind == "unbind":
            return size
        return ceil_divide(size, ceil_divide(size, self.number("chunks")))


def _as_fx(given: Any) -> Any:
    """Return arguments in which tensors are nodes that record them."""
    if isinstance(given, dict):
        return {name: _as_fx(v) for name, v in given.items()}
    if isinstance(given, (list, tuple)):
        return [_as_fx(v) for v in given]
    return _Fx(None, given) if isinstance(given, load().Tensor) else given


def given_of(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an operator by the names of its schema."""
    arguments = target._schema.arguments
    found = {a.name: a.default_value for a in arguments if a.has_default_value()}
    found.update(zip((a.name for a in arguments), args, strict=False))
    found.update(kwargs)
    return found


def resolved(argument: Any) -> Any:
    """Return an argument with values instead of tensors and numbers of torch."""
    if isinstance(argument, (list, tuple)):
        return [resolved(a) for a in argument]
    torch = load()
    if isinstance(argument, torch.Tensor):
        return value_of(argument)
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


def _values(given: Sequence[Any]) -> Iterator[Value]:
    for value in given:
        if isinstance(value, list):
            yield from _values(value)
        elif isinstance(value, Value):
            yield value


def count_of(target: Any, sample: Any) -> int:
    """Return the number of outputs of an operator."""
    if isinstance(sample, (list, tuple)):
        return len(sample)
    return max(1, len(target._schema.returns))
