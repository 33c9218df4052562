"""What an operator's function is given: its node, the walk, and everything that is known about its inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self

from symbcast.core.algebra import bounds, symbols
from symbcast.core.algebra.arithmetic import add, replace_symbols, subtract
from symbcast.core.algebra.formulas import FALSE, FORMULA_KINDS, TRUE, Formula, all_of, any_of, negate
from symbcast.core.algebra.symbols import AxisSequence, SequenceSymbol, Unknown
from symbcast.core.algebra.terms import Dim, Symbol, symbols_of
from symbcast.core.rules.placement import sequence_place
from symbcast.core.solver.evaluation import evaluated, symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.graphs.inputs import place_name
from symbcast.operators.operator import Context, Dims
from symbcast.operators.reach import is_of_each_axis
from symbcast.operators.values.contents import Content, Element, Elements, IndexRamp, is_size, listed, sizes_of
from symbcast.operators.values.elements import truth
from symbcast.operators.values.value import (
    NEVER,
    UNKNOWN,
    Decider,
    OpenValue,
    OptionalValue,
    SequenceValue,
    Value,
    common_to,
    join_deciders,
    sequence_of,
)

if TYPE_CHECKING:
    from symbcast.graphs.graph import Graph
    from symbcast.graphs.walking.requirements import NodePlace, Requirements


class Fork(NamedTuple):
    """An If whose outputs differ in rank: the condition for its then-branch, and the outputs of each branch."""

    chosen: Formula
    yes: Sequence[Value]
    no: Sequence[Value]


def either(asker: Requirements, name: str, chosen: Formula, yes: Value, no: Value) -> Value:
    """Return the merged value of two cases, chosen by a formula, as far as it is known."""
    if yes is NEVER or no is NEVER:
        return no if yes is NEVER else yes
    if isinstance(yes, OptionalValue) or isinstance(no, OptionalValue):
        return _either_optional(asker, name, chosen, yes, no)
    if isinstance(yes, SequenceValue) and isinstance(no, SequenceValue):
        return _either_sequence(asker, name, chosen, yes, no)
    dtype = yes.dtype or no.dtype
    if yes.shape is None or no.shape is None or len(yes.shape) != len(no.shape):
        return Value(None, dtype)
    dims = [
        a
        if a == b
        else asker.by_cases(f"{name}_dim_{n}", f"axis {n} of {name}, depending on the branch taken", chosen, a, b)
        for n, (a, b) in enumerate(zip(yes.shape, no.shape, strict=True))
    ]
    value = Value(tuple(dims), dtype, _either_content(asker, name, chosen, yes, no) if yes.shape == no.shape else None)
    value.decided_by = _decider(asker, chosen, yes, no)
    return value


def _decider(asker: Requirements, chosen: Formula, yes: Value, no: Value) -> Decider | None:
    """Return what decides elements of one value or the other, including the choice between them unless all are data."""
    if yes.decided_by is None or no.decided_by is None:
        return None
    decider = yes.decided_by | no.decided_by
    if decider != Decider.DATA:
        for size in symbols_in(chosen):
            decider |= Decider.DATA if asker.is_of_data(size) else Decider.SIZES
    return decider


def _either_content(asker: Requirements, name: str, chosen: Formula, yes: Value, no: Value) -> Content | None:
    """Return the merged elements of two values of the same shape, chosen by a formula."""
    a, b = yes.content, no.content
    if a == b:
        return a
    if isinstance(a, Elements) and isinstance(b, Elements) and len(a.items) == len(b.items) <= _MOST:
        pairs = zip(a.items, b.items, strict=True)
        items = [_either_element(asker, f"{name}_{n}", chosen, *pair) for n, pair in enumerate(pairs)]
        return Elements(tuple(items)) if any(i is not None for i in items) else None
    if isinstance(a, IndexRamp) and isinstance(b, IndexRamp):
        pairs = zip((a.start, *a.strides), (b.start, *b.strides), strict=True)
        elements = [_either_element(asker, f"{name}_{n}", chosen, *pair) for n, pair in enumerate(pairs)]
        sizes = [d for d in elements if is_size(d)]
        return IndexRamp(sizes[0], tuple(sizes[1:])) if len(sizes) == len(elements) else None
    return None


# How many elements are distinguished by the branch taken.
_MOST = 64


def _either_element(asker: Requirements, name: str, chosen: Formula, yes: Element, no: Element) -> Element:
    if yes == no or yes is None or no is None:
        return yes if yes == no else None
    if isinstance(yes, FORMULA_KINDS) or isinstance(no, FORMULA_KINDS):
        p, q = truth(yes), truth(no)
        return None if p is None or q is None else any_of([all_of([chosen, p]), all_of([negate(chosen), q])])
    if not is_size(yes) or not is_size(no):
        return None
    # A size by cases is never negative, so negative numbers are represented with an offset.
    least = min([0, *(n for n in (yes, no) if isinstance(n, int))])
    if not all(asker.bounds.is_at_least(d, least) for d in (yes, no)):
        return None
    text = f"an element of {name}, depending on the branch taken"
    return add(asker.by_cases(name, text, chosen, subtract(yes, least), subtract(no, least)), least)


def _either_sequence(
    asker: Requirements, name: str, chosen: Formula, yes: SequenceValue, no: SequenceValue
) -> SequenceValue:
    if yes.items is not None and no.items is not None and len(yes.items) == len(no.items):
        pairs = enumerate(zip(yes.items, no.items, strict=True))
        return sequence_of(either(asker, f"{name}_{n}", chosen, a, b) for n, (a, b) in pairs)
    length = yes.length
    if length != no.length:
        text = f"the length of {name}, depending on the branch taken"
        length = asker.by_cases(f"{name}_length", text, chosen, yes.length, no.length)
    return SequenceValue(length, common_to([yes, no]), yes.dtype or no.dtype)


def _either_optional(asker: Requirements, name: str, chosen: Formula, yes: Value, no: Value) -> Value:
    there = [v.is_there if isinstance(v, OptionalValue) else TRUE for v in (yes, no)]
    inner = [v.inner if isinstance(v, OptionalValue) else v for v in (yes, no)]
    is_there = any_of([all_of([chosen, there[0]]), all_of([negate(chosen), there[1]])])
    if there[0] == FALSE or inner[0] is None:
        return OptionalValue(inner[1], is_there)
    if there[1] == FALSE or inner[1] is None:
        return OptionalValue(inner[0], is_there)
    return OptionalValue(either(asker, name, chosen, inner[0], inner[1]), is_there)


class GraphScope:
    """The values of a graph by name, and the scope of the graph that contains it."""

    __slots__ = ("around", "depth", "values")

    def __init__(self, around: GraphScope | None = None) -> None:
        self.values: dict[str, Value] = {}
        self.around = around
        self.depth: int = around.depth + 1 if around else 0

    def find(self, name: str) -> Value | None:
        """Return the value with a name; None for the empty name, which marks a missing input."""
        scope: GraphScope | None = self
        while scope is not None:
            value = scope.values.get(name)
            if value is not None:
                return value
            scope = scope.around
        return UNKNOWN if name else None


class Walker(Protocol):
    """A walk through a model, as its nodes see it; see `symbcast.graphs.walking.walk`.

    Attributes:
        fork: set by an If whose branches give no common value to continue with.
        open: what is known about values of unknown rank.
    """

    fork: Fork | None
    open: OpenValues

    @property
    def asker(self) -> Requirements:
        """The recorder of requirements on sizes."""

    def within(self, graph: Graph, scope: GraphScope, inputs: Sequence[Value]) -> list[Value]:
        """Walk through a graph inside another, such as a branch or a loop body; return its outputs."""

    @property
    def has_ample(self) -> bool:
        """Whether two thirds of the walk budgets are left: to try what takes a third, do it, and go on."""

    def trying(self) -> AbstractContextManager[None]:
        """Discard the notes made in this context when it ends."""

    def apart(self) -> AbstractContextManager[dict[str, Value]]:
        """Do not keep the values of inner graphs that are walked in this context; yield them instead."""

    def keep_common(self, inner: Mapping[str, Value]) -> None:
        """Discard the shapes of values in inner graphs if another walk through these graphs gave different ones."""

    def leave(self, place: NodePlace, reason: str, is_about_data: bool = False, enough: Formula = FALSE) -> None:
        """Note a node whose conditions, or only whose conditions on data, were not checked."""


class OpenValues:
    """The values of unknown rank in one walk."""

    def __init__(self, asker: Requirements) -> None:
        self._asker = asker
        # The sequences of axes of otherwise unknown values.
        self._open: dict[int, tuple[Value, Dims]] = {}
        # The sizes for axes of sequences that occur in no input's shape.
        self._axes: dict[Symbol, Symbol] = {}

    def ends(self, value: Value) -> Dims:
        """Return a value's shape; if its rank is unknown, return a sequence of axes and the known axes after it."""
        if value.shape is not None:
            return value.shape
        if isinstance(value, OpenValue):
            return value.ends
        if value is UNKNOWN or id(value) not in self._open:
            # The value is stored too, so that no other value can get its id.
            self._open[id(value)] = value, (AxisSequence.anonymous(f"...{len(self._open)}").rest(),)
        return self._open[id(value)][1]

    def opened(self, dims: Dims, dtype: int) -> Value:
        """Return a value of unknown rank; if its shape is only a sequence, values with that sequence share it."""
        if len(dims) > 1 or not self._asker.sequences.isdisjoint(symbols.sequences_of(symbols_of(dims))):
            return OpenValue(dims, dtype)
        value = Value(None, dtype)
        self._open[id(value)] = value, dims
        return value

    def axis_named(self, name: str, axis: int, dim: Dim) -> Dim:
        """Return a new named size for an axis that a node requires of a value of unknown rank."""
        for s in symbols_of((dim,)):
            is_axis = isinstance(s, SequenceSymbol) and s.sequence not in self._asker.sequences
            if (is_axis or isinstance(s, Unknown)) and s not in self._axes:
                text = f"axis {axis} of {name}, whose rank is unknown"
                self._axes[s] = self._asker.symbol(place_name(name, axis), text)
        return replace_symbols(dim, self._axes)


class KnownDifference(Protocol):
    """A behaviour of a runtime that differs from the operator documentation."""

    @property
    def runtime(self) -> str:
        """The name of the runtime, as users give it."""


class UnknownShapeError(Exception):
    """A shape that an operator needs is unknown, so its outputs are unknown too."""


class RefusedError(UnknownShapeError):
    """A node cannot run at any sizes, which is recorded as a requirement; its outputs never exist."""


_OF_DATA = re.compile(r", which (?:is|are) data,")


class NodeCall(Context):
    """A node with its inputs.

    Requirements on sizes are stated with `equal`, `at_most`, `require` and `broadcast`. Each has a reason for users,
    which says what must hold, such as ``"sizes must be equal off the axis of Concat"``.
    """

    def __init__(self, place: NodePlace, walk: Walker, scope: GraphScope) -> None:
        self.place = place
        self.node = place.node
        self.inputs = place.inputs
        # The version of the node's operator set.
        self.version = place.node.version
        self.walk = walk
        self.scope = scope
        self.asker = walk.asker
        self.bounds = walk.asker.bounds
        self._attributes: Mapping[str, Any] | None = None

    def of(self, inputs: Sequence[Value | None], version: int | None = None, **attributes: Any) -> Self:
        """Return the node with other inputs, and with another version or attributes if given."""
        call = copy(self)
        call.inputs = inputs
        if version is not None:
            call.version = version
        if attributes:
            call._attributes = attributes
        return call

    # Attributes.

    def attribute(self, name: str) -> Any:
        """Return an attribute as the model stores it; None if it is missing."""
        return (self.node.attributes if self._attributes is None else self._attributes).get(name)

    def integer(self, name: str, default: int = 0) -> int:
        """Return an integer attribute; a truth value is returned as 0 or 1."""
        value = self.attribute(name)
        return default if value is None else int(value)

    def integers(self, name: str) -> list[int] | None:
        """Return an attribute that is a list of integers; None if it is missing."""
        values = self.attribute(name)
        return None if values is None else [int(n) for n in values]

    def text(self, name: str, default: str = "") -> str:
        """Return a string attribute."""
        value = self.attribute(name)
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        return default if value is None else str(value)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return an attribute as a truth value."""
        value = self.attribute(name)
        return default if value is None else bool(value)

    # Inputs.

    def has(self, position: int) -> bool:
        """Return whether an input is given."""
        return position < len(self.inputs) and self.inputs[position] is not None

    def value(self, position: int) -> Value:
        """Return an input; raises `UnknownShapeError` if it is not given."""
        value = self.inputs[position] if position < len(self.inputs) else None
        if value is None:
            raise UnknownShapeError
        return value

    def shape(self, position: int) -> Dims:
        """Return the shape of an input; raises `UnknownShapeError` if it is unknown."""
        shape = self.value(position).shape
        if shape is None:
            raise UnknownShapeError
        return shape

    def values(self) -> list[Value]:
        """Return all inputs; raises `UnknownShapeError` if one is not given."""
        return [self.value(n) for n in range(len(self.inputs))]

    def shapes(self) -> list[Dims]:
        """Return the shapes of all inputs; raises `UnknownShapeError` if one is unknown."""
        return [self.shape(n) for n in range(len(self.inputs))]

    def rank_of(self, position: int) -> Dim:
        """Return the rank of an input; if the model's inputs do not determine it, return a new size."""
        ends = self.walk.open.ends(self.value(position))
        place = sequence_place(ends)
        if place is None:
            return len(ends)
        if self.asker.sequences.issuperset(symbols.sequences_of(symbols_of((ends[place],)))):
            return add(symbols.rank_of(ends[place]), len(ends) - 1)
        return self.fresh("rank", f"the rank of {self.input_name(position)}")

    def dtype(self, position: int = 0) -> int:
        """Return the element type of an input, 0 if it is unknown."""
        value = self.inputs[position] if position < len(self.inputs) else None
        return value.dtype if value is not None else 0

    def elements(self, position: int) -> tuple[Element, ...] | None:
        """Return the elements of an input in row-major order; None if they are not known individually."""
        if not self.has(position):
            return None
        value = self.value(position)
        return listed(value.content, value.shape)

    def element(self, position: int) -> Element:
        """Return the first element of an input; None if it is unknown."""
        return (self.elements(position) or (None,))[0]

    def size_in(self, position: int, label: str, least: int = 0) -> Dim:
        """Return the size that an input holds as its only element; a new size of that label if it is unknown."""
        item = self.element(position)
        if is_size(item):
            return item
        return self.fresh(label, f"what {self.input_name(position)} holds", least, by=[position])

    def sizes(self, position: int) -> tuple[Dim, ...] | None:
        """Return the elements of an input if all are known integer dimensions."""
        if not self.has(position):
            return None
        value = self.value(position)
        return sizes_of(value.content, value.shape)

    def numbers(self, position: int) -> list[int] | None:
        """Return the elements of an input if all are numbers."""
        numbers = bounds.numbers_of(self.sizes(position))
        return None if numbers is None else list(numbers)

    def axes(self, name: str, position: int, since: int) -> list[int] | None:
        """Return axes given by an attribute before version ``since``, and by an input from then on; None if not given.

        Raises `UnknownShapeError` if the input's numbers are unknown.
        """
        if self.version < since:
            return self.integers(name)
        if not self.has(position):
            return None
        axes = self.numbers(position)
        if axes is None:
            raise UnknownShapeError
        return axes

    def output(self, shape: Dims | None, content: Content | None = None, position: int = 0) -> Value:
        """Return an output of the node; its element type is that of the first input, unless the front end knows it."""
        return Value(shape, self.dtype(), content)

    # Requirements.

    def require(self, formula: Formula, reason: str) -> None:
        """Require that a formula hold."""
        if evaluated(formula) == TRUE:
            return
        if not is_of_each_axis(formula):
            self.give_up("its requirement covers all axes, but the rank is unknown")
        self.asker.require(self.place, formula, reason)

    def equal(self, left: Dim, right: Dim, reason: str) -> None:
        """Require that two sizes be equal."""
        self._check_axes(left, right)
        self.asker.equal(self.place, left, right, reason)

    def at_most(self, left: Dim, right: Dim, reason: str) -> None:
        """Require that one size be at most another."""
        self._check_axes(left, right)
        self.asker.at_most(self.place, left, right, reason)

    def is_size(self, dim: Dim, reason: str) -> None:
        """Require that a dimension be nonnegative."""
        self._check_axes(dim)
        self.asker.is_size(self.place, dim, reason)

    def empty(self, dims: Iterable[Dim]) -> Formula:
        """Return the formula that one of some sizes is 0; give up if this depends on an unknown number of axes."""
        may_be_0 = [d for d in dims if not self.bounds.is_at_least(d, 1)]
        if any(map(symbols.mentions_rest, may_be_0)):
            self.give_up("whether there are elements depends on an unknown number of axes")
        return super().empty(may_be_0)

    def _check_axes(self, *dims: Dim) -> None:
        for dim in dims:
            if not isinstance(dim, int) and symbols.mentions_rest(dim) and not symbols.is_sequence(dim):
                self.give_up("its requirement covers all axes, but the rank is unknown")

    def is_known(self, formula: Formula) -> bool | None:
        """Return whether a formula is known to hold or to fail, using only numbers and bounds."""
        return self.asker.is_known(formula)

    def refuse(self, reason: str) -> NoReturn:
        """Record that the node cannot run at any sizes, and give up on its outputs."""
        self.asker.never(self.place, reason)
        raise RefusedError

    def rank(self, position: int, allowed: Iterable[int], what: str) -> Dims:
        """Return the shape of an input, and require that its rank be one of the allowed ones."""
        shape = self.shape(position)
        if len(shape) not in allowed:
            self.refuse(f"{what} must not have rank {len(shape)}")
        return shape

    def broadcast(self, *shapes: Dims, rule: str = "numpy", **attributes: Any) -> Dims:
        """Broadcast shapes by one of the project's rules, and return the output."""
        output = self.asker.broadcast(self.place, shapes, rule, attributes)
        if output is None:
            raise RefusedError
        return output

    def fresh(
        self, label: str, text: str, least: int = 0, *, by: Sequence[int] | None = None, most: Dim | None = None
    ) -> Symbol:
        """Return a new size that no input's shape determines, named after the node and described by ``text``.

        ``by`` holds the positions of the inputs that decide it, None for all of them; ``most`` is an upper bound.
        """
        name, said = f"{self.size_prefix}_{label}", f"{text} [{self.place.name}]"
        size = self.asker.symbol(name, said, least, is_undecided=not self.is_data(by))
        if most is not None:
            self.asker.limit(size, most)
        return size

    @property
    def size_prefix(self) -> str:
        """What the names of its new sizes begin with: the node's name, unless that is only a number."""
        return self.place.name

    def is_data(self, positions: Sequence[int] | None = None) -> bool:
        """Return whether only data decide the elements of the inputs at some positions; None means all inputs."""
        inputs = self.inputs if positions is None else [self.inputs[n] for n in positions if self.has(n)]
        return join_deciders(inputs) == Decider.DATA

    def does(self, difference: KnownDifference) -> bool:
        """Return whether the user asked for a runtime with this difference from the documentation."""
        return self.asker.runtime == difference.runtime

    def input_name(self, position: int) -> str:
        """Return the name of an input."""
        declared = self.place.inputs
        if self.inputs is not declared and position < len(self.inputs):
            places = [n for n, v in enumerate(declared) if v is self.inputs[position]]  # values may be shared
            position = position if position in places else next(iter(places), position)
        return self.node.inputs[position] if position < len(self.node.inputs) else f"input {position}"

    def give_up(self, reason: str) -> NoReturn:
        """Leave the outputs unknown, for the given reason."""
        raise UnknownShapeError(reason)

    def note(
        self, reason: str, *, is_about_data: bool = False, by: Sequence[int] | None = None, enough: Formula = FALSE
    ) -> None:
        """Note a condition of the node that was not checked.

        ``is_about_data`` says that the condition concerns the elements of the inputs at the positions ``by``, None for
        all of them: it may depend on sizes unless only data decide these elements. It holds whatever these are at sizes
        that are ``enough``. Where the reason says ", which are data," but sizes may decide them, it says so instead.
        """
        is_data = is_about_data and self.is_data(by)
        if is_about_data and not is_data:
            reason = _OF_DATA.sub(", which may depend on sizes,", reason)
        self.walk.leave(self.place, reason, is_data, enough)

    def note_data(self, reason: str, *positions: int) -> None:
        """Note a condition on the elements of the inputs at some positions that was not checked; see `note`."""
        self.note(f"not checked: {reason}", is_about_data=True, by=positions)
