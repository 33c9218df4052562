"""One node of an exported program with its resolved arguments, for an operator function, and the table of operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, Protocol, cast

from symbcast.core.algebra.arithmetic import add, floor_divide, maximum, minimum, modulo, multiply, subtract
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.formulas import FORMULA_KINDS, Formula, negate
from symbcast.core.algebra.terms import Dim
from symbcast.graphs.check import OperatorTable
from symbcast.graphs.walking.node_call import GraphScope, NodeCall, RefusedError, UnknownShapeError, Walker
from symbcast.graphs.walking.requirements import NodePlace
from symbcast.operators.operator import Dims
from symbcast.operators.values.contents import Element, Elements, SizeRatio, is_size
from symbcast.operators.values.value import Decider, Value, join_deciders
from symbcast.torch.graph import TorchNode
from symbcast.torch.library import INT64, load_torch, node_class, onnx_type_number

Recorded = Callable[[Any, bool], "Dims | None"]


# The number that torch writes for "to the end of the axis".
TO_THE_END = (1 << 63) - 1


class RecordedShapes(Protocol):
    """A walk that knows the shapes that torch recorded.

    ``looked`` counts how often operators read what their node's kind does not have.
    """

    looked: int
    counts: dict[int, tuple[Value, Dim]]
    """How many elements of a value are not 0, by its identity; the value is kept, so that no other one has it."""

    def recorded(self, sizes: Iterable[Any], is_of_data: bool) -> Dims | None:
        """Return recorded sizes; None if one is not a size. ``is_of_data`` says whether data decide new sizes."""


class TorchCall(NodeCall):
    """A node with its arguments by their schema names.

    Integers, booleans and real numbers that the graph computes from sizes are represented as scalar tensors with a
    known element.
    """

    def __init__(self, place: NodePlace, walk: Walker, scope: GraphScope) -> None:
        super().__init__(place, walk, scope)
        self._recording = cast("RecordedShapes", walk)
        self._node = cast("TorchNode", place.node)
        self._names = self._node.names
        self._arguments: dict[str, Any] | None = None

    # Arguments.

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments by name, with nodes resolved to values; arguments of Python functions by position."""
        if self._arguments is None:
            self._arguments = {name: self.resolved(v) for name, v in _bound(self.node.raw).items()}
        return self._arguments

    def resolved(self, argument: Any) -> Any:
        """Return an argument as the graph has it with values instead of nodes."""
        if isinstance(argument, (list, tuple)):
            return [self.resolved(a) for a in argument]
        if argument in self._names if isinstance(argument, node_class()) else False:
            return self.scope.find(self._names[argument])
        return argument

    def argument(self, *names: str) -> Any:
        """Return the first argument given among some names; None if there is none."""
        return next((self.arguments[n] for n in names if self.arguments.get(n) is not None), None)

    def dims(self, *names: str) -> Dims:
        """Return the shape of a tensor; raises `UnknownShapeError` if it is unknown."""
        return shape_of_value(self.argument(*names))

    def value_of(self, name: str) -> Value:
        """Return a tensor; raises `UnknownShapeError` if it is unknown."""
        value = self.argument(name)
        if not isinstance(value, Value):
            raise UnknownShapeError
        return value

    def maybe_dims(self, name: str) -> Dims | None:
        """Return the shape of an optional tensor."""
        value = self.argument(name)
        return None if value is None else shape_of_value(value)

    def expand_to(self, dims: Dims, *names: str) -> None:
        """Require that the tensors among these arguments that are given broadcast to a shape."""
        for name in names:
            operand = self.maybe_dims(name)
            if operand is not None:
                self.broadcast(operand, dims, rule="unidirectional")

    def same_shape_if_given(self, name: str, expected: Dims, reason: str) -> None:
        """Require that an optional tensor have a shape."""
        operand = self.maybe_dims(name)
        if operand is not None:
            self.same_shape(operand, expected, reason)

    def tensors(self, name: str) -> list[Dims]:
        """Return the shapes of a list of tensors."""
        return [shape_of_value(v) for v in self.argument(name) or ()]

    def number(self, name: str, default: int | None = None) -> int:
        """Return an integer argument that must be a known number."""
        size = self.size(name, default)
        if not isinstance(size, int):
            self.give_up(f"{name} is not a number here")
        return size

    def numbers_of(self, *names: str) -> list[int] | None:
        """Return integer arguments that must be known, a single one as a list; None if the argument is not given."""
        argument = self.argument(*names)
        if argument is None:
            return None
        sizes = [size_of(v) for v in (argument if isinstance(argument, list) else [argument])]
        if not all(isinstance(s, int) for s in sizes):
            self.give_up(f"{names[0]} is not a list of numbers here")
        return [int(s) for s in sizes if isinstance(s, int)]

    def size(self, name: str, default: Dim | None = None) -> Dim | None:
        """Return an integer as a size; None if it is unknown."""
        argument = self.argument(name)
        return default if argument is None else size_of(argument)

    def sizes_of(self, name: str) -> list[Dim | None]:
        """Return a list of integers as sizes, None for each unknown one."""
        return [size_of(v) for v in self.argument(name) or ()]

    def known_sizes(self, name: str) -> list[Dim]:
        """Return a list of integers as sizes; raises `UnknownShapeError` if one is unknown."""
        sizes = self.sizes_of(name)
        if any(d is None for d in sizes):
            self.give_up(f"data decide {name}")
        return [d for d in sizes if d is not None]

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a boolean argument."""
        argument = self.argument(name)
        return default if argument is None else bool(argument)

    def dtype_of(self, name: str) -> str:
        """Return the element type of a tensor as torch recorded it, such as ``float32``; empty if it is unknown."""
        argument = _bound(self.node.raw).get(name)
        return str(getattr(getattr(argument, "meta", {}).get("val"), "dtype", "")).removeprefix("torch.")

    def axis_of(self, axis: int, rank: int) -> int:
        """Return an axis counted from the front."""
        # Torch treats a scalar as if it had one axis.
        return self.axis(axis, max(rank, 1))

    # Outputs.

    def recorded(self, proof: str) -> Sequence[Value]:
        """Return the outputs with torch's recorded shapes; ``proof`` says why they are valid at all sizes."""
        # Torch's guards alone do not make them valid at the sizes that the guards refuse: see `unchecked`.
        assert proof
        return self._recorded()

    def _recorded(self) -> Sequence[Value]:
        value = self.node.raw.meta.get("val")
        values = value if isinstance(value, (tuple, list)) else [value]
        is_of_data = self.is_data()
        if self._node.need_sizes():
            self._recording.looked += 1
        return [recorded_value(v, self._recording.recorded, is_of_data) for v in values]

    def unchecked(self, reason: str, *, is_about_data: bool = False) -> Sequence[Value]:
        """Leave a note, and return outputs that were not analysed: torch's ranks, with new sizes that are not decided.

        For ``is_about_data`` see `NodeCall.note`.
        """
        # The sizes that torch recorded are valid only where its guards hold, and the answer is about all sizes.
        self.note(reason, is_about_data=is_about_data)
        outputs = self._recorded()
        shapes = [v.shape for v in self.inputs if v is not None]
        if all(numbers_of(shape) is not None for shape in shapes) and not join_deciders(self.inputs) & Decider.SIZES:
            return outputs
        return [v if v.shape is None else self._renamed(v, n) for n, v in enumerate(outputs)]

    def _renamed(self, value: Value, output: int) -> Value:
        text = f"a size of the output of an operator that is not analysed [{self.place.name}]"
        names = [f"{self.size_prefix}_{output}_{axis}" for axis in range(len(value.shape or ()))]
        return Value(tuple(self.asker.symbol(name, text, is_undecided=True) for name in names), value.dtype)

    def unless(self, chosen: Formula, dims: Dims, compute: Callable[[], Dims]) -> Dims:
        """Return a shape where a formula holds, else the shape that ``compute`` returns and requires only there."""
        if self.is_known(chosen) is not None:
            return dims if self.is_known(chosen) else compute()
        try:
            with self.asker.under(negate(chosen)):
                computed = compute()
        except RefusedError:
            return dims
        # Where torch leaves an operator early, it may give another rank: the graph has one of them.
        if len(computed) != len(dims):
            recorded = len(self.node.raw.meta["val"].shape)
            self.require(chosen if recorded == len(dims) else negate(chosen), f"the graph needs {recorded} axes here")
            return dims if recorded == len(dims) else computed
        text = "depending on whether an operand is empty"
        return tuple(
            a if a == b else self.asker.by_cases(f"{self.size_prefix}_dim_{n}", f"axis {n}, {text}", chosen, a, b)
            for n, (a, b) in enumerate(zip(dims, computed, strict=True))
        )

    def count(self, most: Dim | None = None, *, text: str = "the number of elements") -> Dim:
        """Return a new size, at most ``most``, for an axis whose length depends on the elements of the inputs."""
        # It may be 0: a lower bound that holds only where inputs are not empty would make them so by assumption.
        return self.fresh("count", text, most=most)

    def count_of(self, mask: Value) -> Dim:
        """Return how many elements of a tensor are not 0: the same size each time, unless nodes may write to it."""
        counts = self._recording.counts
        known = counts.get(id(mask))
        if known is not None and known[1] in self.asker.origins and mask.decided_by == Decider.DATA:
            return known[1]
        size = self.count(multiply(*shape_of_value(mask)))
        counts[id(mask)] = mask, size
        return size

    def is_data_in(self, name: str) -> bool:
        """Return whether only data decide the elements of an argument."""
        value = self.argument(name)
        return isinstance(value, Value) and join_deciders([value]) == Decider.DATA


def raw_argument(call: TorchCall, name: str) -> Any:
    """Return an argument as the graph has it: a node, a list of nodes, or a constant."""
    # No twin takes over what the operator returns: the nodes may differ in more than is known about their values. So
    # `as_strided` looks at the storage of its input.
    cast("RecordedShapes", call.walk).looked += 1
    return _bound(call.node.raw).get(name)


def recorded_value(value: Any, read: Recorded, is_of_data: bool) -> Value:
    """Return a value as torch recorded it; ``is_of_data`` says whether only data decide its new sizes."""
    torch = load_torch()
    if isinstance(value, torch.SymInt | int) and not isinstance(value, bool):
        sizes = read((value,), is_of_data)
        return scalar(None if sizes is None else sizes[0])
    if isinstance(value, torch.SymFloat | torch.SymBool | float | bool):
        return scalar(None)
    if not isinstance(value, torch.Tensor):
        return Value(None)
    return Value(read(value.shape, is_of_data), onnx_type_number(value.dtype))


def scalar(element: Element) -> Value:
    """Return an integer, real number or boolean that the graph computes."""
    return Value((), INT64, None if element is None else Elements((element,)))


def element_of(value: Any) -> Element:
    """Return an argument as a number or formula; None if it is unknown."""
    if isinstance(value, Value):
        return value.content.items[0] if isinstance(value.content, Elements) and not value.shape else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def size_of(value: Any) -> Dim | None:
    """Return an argument as an integer; None if it is unknown."""
    element = element_of(value)
    return element if is_size(element) else None


def formula_of(value: Any) -> Formula | None:
    """Return a boolean argument as a formula; None if it is unknown."""
    element = element_of(value)
    return element if isinstance(element, FORMULA_KINDS) else None


def argument_ratio(value: Any) -> SizeRatio | None:
    """Return an integer or real argument as a quotient; None if it is unknown."""
    element = element_of(value)
    return element if isinstance(element, SizeRatio) else SizeRatio(element, 1) if is_size(element) else None


_MOST_BELOW = 1 << 10


def exact_ratio(number: float) -> SizeRatio | None:
    """Return a float as a quotient if its products with sizes are exact floats: over a small power of two.

    >>> exact_ratio(0.75), exact_ratio(0.7)
    (SizeRatio(above=3, below=4), None)
    """
    above, below = number.as_integer_ratio() if isfinite(number) else (0, _MOST_BELOW + 1)
    return SizeRatio(above, below) if below <= _MOST_BELOW and abs(above) <= _MOST_BELOW * _MOST_BELOW else None


def is_exact(ratio: SizeRatio) -> bool:
    """Return whether floats hold a quotient exactly."""
    # A quotient of two sizes is rounded, so its products with others may differ from the exact ones.
    return isinstance(ratio.below, int) and 0 < ratio.below <= _MOST_BELOW and ratio.below & (ratio.below - 1) == 0


def product_of(left: SizeRatio, right: SizeRatio) -> SizeRatio:
    """Return the product of two quotients."""
    return SizeRatio(multiply(left.above, right.above), multiply(left.below, right.below))


# Torch's functions of integers, by the names that its graphs and its symbolic numbers share, without ``sym_``.
INTEGER_FUNCTIONS: dict[str, Callable[..., Dim]] = {
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "neg": partial(subtract, 0),
    "floordiv": floor_divide,
    "mod": modulo,
    "max": lambda *sizes: maximum(sizes),
    "min": lambda *sizes: minimum(sizes),
    "sum": add,
}
# Those that have no value where the second integer is 0.
DIVISIONS = ("floordiv", "mod")


def shape_of_value(value: Any) -> Dims:
    """Return the shape of a value; raises `UnknownShapeError` if it is unknown."""
    if isinstance(value, Value):
        if value.shape is None:
            raise UnknownShapeError
        return value.shape
    if isinstance(value, (int, float, complex)):
        return ()
    raise UnknownShapeError


def arguments_by_name(target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an operator by schema name, or by position for a Python function."""
    schema = getattr(target, "_schema", None)
    if schema is None:
        return {**{str(n): a for n, a in enumerate(args)}, **kwargs}
    arguments = {a.name: a.default_value for a in schema.arguments if a.has_default_value()}
    arguments.update(zip((a.name for a in schema.arguments), args, strict=False))
    arguments.update(kwargs)
    return arguments


def _bound(fx: Any) -> dict[str, Any]:
    return arguments_by_name(fx.target, fx.args, fx.kwargs)


OPERATORS: OperatorTable[TorchCall] = OperatorTable("aten")
operator = OPERATORS.offer
