"""Define how nodes see the walk: the values of their graph, values of unknown rank, and helper functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from symbcast.core.algebra.arithmetic import add, replaced, subtract
from symbcast.core.algebra.sequences import AxisSequence, SequenceSymbol, sequences_of
from symbcast.core.algebra.symbols import Symbol, Unknown
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.logic.formulas import FALSE, FORMULA_KINDS, TRUE, Formula, all_of, any_of, negate
from symbcast.core.solver.groups.normal_form import symbols_in
from symbcast.graphs.inputs.knowledge import place_name
from symbcast.graphs.values.contents import Elements, Ramp, is_size
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.elements import truth
from symbcast.graphs.values.value import (
    NEVER,
    UNKNOWN,
    OpenValue,
    OptionalValue,
    SequenceValue,
    Value,
    common_to,
    sequence_of,
)

if TYPE_CHECKING:
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.graph import Graph
    from symbcast.graphs.requirements.recorder import Asker, Place
    from symbcast.graphs.values.contents import Content, Element
    from symbcast.operators.context import Dims


class Fork(NamedTuple):
    """An If whose outputs differ in rank: the condition for its then-branch, and the outputs of each branch."""

    chosen: Formula
    yes: Sequence[Value]
    no: Sequence[Value]


def either(asker: Asker, name: str, chosen: Formula, yes: Value, no: Value) -> Value:
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
    made = Value(tuple(dims), dtype, _either_content(asker, name, chosen, yes, no) if yes.shape == no.shape else None)
    made.decided_by = _decider(asker, chosen, yes, no)
    return made


def _decider(asker: Asker, chosen: Formula, yes: Value, no: Value) -> Decider | None:
    """Return what decides elements of one value or the other, including the choice between them unless all are data."""
    if yes.decided_by is None or no.decided_by is None:
        return None
    found = yes.decided_by | no.decided_by
    if found != Decider.DATA:
        for size in symbols_in(chosen):
            found |= Decider.DATA if asker.is_of_data(size) else Decider.SIZES
    return found


def _either_content(asker: Asker, name: str, chosen: Formula, yes: Value, no: Value) -> Content | None:
    """Return the merged elements of two values of the same shape, chosen by a formula."""
    a, b = yes.content, no.content
    if a == b:
        return a
    if isinstance(a, Elements) and isinstance(b, Elements) and len(a.items) == len(b.items) <= _MOST:
        pairs = zip(a.items, b.items, strict=True)
        items = [_either_element(asker, f"{name}_{n}", chosen, *pair) for n, pair in enumerate(pairs)]
        return Elements(tuple(items)) if any(i is not None for i in items) else None
    if isinstance(a, Ramp) and isinstance(b, Ramp):
        pairs = zip((a.start, *a.strides), (b.start, *b.strides), strict=True)
        found = [_either_element(asker, f"{name}_{n}", chosen, *pair) for n, pair in enumerate(pairs)]
        sizes = [d for d in found if is_size(d)]
        return Ramp(sizes[0], tuple(sizes[1:])) if len(sizes) == len(found) else None
    return None


_MOST = 64
"""How many elements are distinguished by the branch taken."""


def _either_element(asker: Asker, name: str, chosen: Formula, yes: Element, no: Element) -> Element:
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


def _either_sequence(asker: Asker, name: str, chosen: Formula, yes: SequenceValue, no: SequenceValue) -> SequenceValue:
    if yes.items is not None and no.items is not None and len(yes.items) == len(no.items):
        pairs = enumerate(zip(yes.items, no.items, strict=True))
        return sequence_of(either(asker, f"{name}_{n}", chosen, a, b) for n, (a, b) in pairs)
    length = yes.length
    if length != no.length:
        text = f"the length of {name}, depending on the branch taken"
        length = asker.by_cases(f"{name}_length", text, chosen, yes.length, no.length)
    return SequenceValue(length, common_to([yes, no]), yes.dtype or no.dtype)


def _either_optional(asker: Asker, name: str, chosen: Formula, yes: Value, no: Value) -> Value:
    there = [v.is_there if isinstance(v, OptionalValue) else TRUE for v in (yes, no)]
    held = [v.held if isinstance(v, OptionalValue) else v for v in (yes, no)]
    is_there = any_of([all_of([chosen, there[0]]), all_of([negate(chosen), there[1]])])
    if there[0] == FALSE or held[0] is None:
        return OptionalValue(held[1], is_there)
    if there[1] == FALSE or held[1] is None:
        return OptionalValue(held[0], is_there)
    return OptionalValue(either(asker, name, chosen, held[0], held[1]), is_there)


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
            found = scope.values.get(name)
            if found is not None:
                return found
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
    def asker(self) -> Asker:
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

    def leave(self, place: Place, reason: str, is_about_data: bool = False, enough: Formula = FALSE) -> None:
        """Note a node whose conditions, or only whose conditions on data, were not checked."""


class OpenValues:
    """The values of unknown rank in one walk."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._open: dict[int, tuple[Value, Dims]] = {}
        """The sequences of axes of otherwise unknown values."""
        self._axes: dict[Symbol, Symbol] = {}
        """The sizes for axes of sequences that occur in no input's shape."""

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
        if len(dims) > 1 or not self._asker.sequences.isdisjoint(sequences_of(symbols_of(dims))):
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
        return replaced(dim, self._axes)
