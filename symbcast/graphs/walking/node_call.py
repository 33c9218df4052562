"""Give an operator's function its node, and everything that is known about the inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, Self

from symbcast.core.algebra.arithmetic import add
from symbcast.core.algebra.bounds import numbers_of
from symbcast.core.algebra.sequences import is_sequence, mentions_rest, rank_of, sequences_of
from symbcast.core.algebra.terms import symbols_of
from symbcast.core.broadcasting.unknown_rank import place_of
from symbcast.core.logic.formulas import FALSE, TRUE, Formula
from symbcast.graphs.values.contents import listed, sizes_of
from symbcast.graphs.values.deciders import Decider
from symbcast.graphs.values.value import Value
from symbcast.graphs.walking.deciding import joined
from symbcast.operators.context import Context, Dims, evaluated
from symbcast.operators.reach import is_of_each_axis

if TYPE_CHECKING:
    from symbcast.core.algebra.symbols import Symbol
    from symbcast.core.algebra.terms import Dim
    from symbcast.graphs.requirements.recorder import Place
    from symbcast.graphs.values.contents import Element
    from symbcast.graphs.walking.walker import GraphScope, Walker


class Difference(Protocol):
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

    def __init__(self, place: Place, walk: Walker, scope: GraphScope) -> None:
        self.place = place
        self.node = place.node
        self.inputs = place.inputs
        self.version = place.node.version
        """The version of the node's operator set."""
        self.walk = walk
        self.scope = scope
        self.asker = walk.asker
        self.bounds = walk.asker.bounds
        self._attributes: Mapping[str, Any] | None = None

    def of(self, inputs: Sequence[Value | None], version: int | None = None, **attributes: Any) -> Self:
        """Return the node with other inputs, and with another version or attributes if given."""
        made = copy(self)
        made.inputs = inputs
        if version is not None:
            made.version = version
        if attributes:
            made._attributes = attributes
        return made

    # Attributes.

    def attribute(self, name: str) -> Any:
        """Return an attribute as the model stores it; None if it is missing."""
        return (self.node.attributes if self._attributes is None else self._attributes).get(name)

    def integer(self, name: str, default: int = 0) -> int:
        """Return an integer attribute; a truth value is returned as 0 or 1."""
        found = self.attribute(name)
        return default if found is None else int(found)

    def integers(self, name: str) -> list[int] | None:
        """Return an attribute that is a list of integers; None if it is missing."""
        found = self.attribute(name)
        return None if found is None else [int(n) for n in found]

    def text(self, name: str, default: str = "") -> str:
        """Return a string attribute."""
        found = self.attribute(name)
        if isinstance(found, bytes):
            return found.decode("utf-8", "replace")
        return default if found is None else str(found)

    def flag(self, name: str, default: bool = False) -> bool:
        """Return an attribute as a truth value."""
        found = self.attribute(name)
        return default if found is None else bool(found)

    # Inputs.

    def has(self, position: int) -> bool:
        """Return whether an input is given."""
        return position < len(self.inputs) and self.inputs[position] is not None

    def value(self, position: int) -> Value:
        """Return an input; raises `UnknownShapeError` if it is not given."""
        found = self.inputs[position] if position < len(self.inputs) else None
        if found is None:
            raise UnknownShapeError
        return found

    def shape(self, position: int) -> Dims:
        """Return the shape of an input; raises `UnknownShapeError` if it is unknown."""
        found = self.value(position).shape
        if found is None:
            raise UnknownShapeError
        return found

    def rank_of(self, position: int) -> Dim:
        """Return the rank of an input; if the model's inputs do not determine it, return a new size."""
        ends = self.walk.open.ends(self.value(position))
        place = place_of(ends)
        if place is None:
            return len(ends)
        if self.asker.sequences.issuperset(sequences_of(symbols_of((ends[place],)))):
            return add(rank_of(ends[place]), len(ends) - 1)
        return self.fresh("rank", f"the rank of {self.input_name(position)}")

    def dtype(self, position: int = 0) -> int:
        """Return the element type of an input, 0 if it is unknown."""
        found = self.inputs[position] if position < len(self.inputs) else None
        return found.dtype if found is not None else 0

    def elements(self, position: int) -> tuple[Element, ...] | None:
        """Return the elements of an input in row-major order; None if they are not known individually."""
        if not self.has(position):
            return None
        value = self.value(position)
        return listed(value.content, value.shape)

    def sizes(self, position: int) -> tuple[Dim, ...] | None:
        """Return the elements of an input if all are known integer dimensions."""
        if not self.has(position):
            return None
        value = self.value(position)
        return sizes_of(value.content, value.shape)

    def numbers(self, position: int) -> list[int] | None:
        """Return the elements of an input if all are numbers."""
        found = numbers_of(self.sizes(position))
        return None if found is None else list(found)

    def axes(self, name: str, position: int, since: int) -> list[int] | None:
        """Return axes given by an attribute before version ``since``, and by an input from then on; None if not given.

        Raises `UnknownShapeError` if the input's numbers are unknown.
        """
        if self.version < since:
            return self.integers(name)
        if not self.has(position):
            return None
        found = self.numbers(position)
        if found is None:
            raise UnknownShapeError
        return found

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
        found = [d for d in dims if not self.bounds.is_at_least(d, 1)]
        if any(map(mentions_rest, found)):
            self.give_up("whether there are elements depends on an unknown number of axes")
        return super().empty(found)

    def _check_axes(self, *dims: Dim) -> None:
        for dim in dims:
            if not isinstance(dim, int) and mentions_rest(dim) and not is_sequence(dim):
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
        found = self.asker.broadcast(self.place, shapes, rule, attributes)
        if found is None:
            raise RefusedError
        return found

    def fresh(
        self, label: str, text: str, least: int = 0, *, by: Sequence[int] | None = None, most: Dim | None = None
    ) -> Symbol:
        """Return a new size that no input's shape determines, named after the node and described by ``text``.

        ``by`` holds the positions of the inputs that decide it, None for all of them; ``most`` is an upper bound.
        """
        name, said = f"{self.size_prefix}_{label}", f"{text} [{self.place.name}]"
        found = self.asker.symbol(name, said, least, is_undecided=not self.is_data(by))
        if most is not None:
            self.asker.limit(found, most)
        return found

    @property
    def size_prefix(self) -> str:
        """What the names of its new sizes begin with: the node's name, unless that is only a number."""
        return self.place.name

    def is_data(self, positions: Sequence[int] | None = None) -> bool:
        """Return whether only data decide the elements of the inputs at some positions; None means all inputs."""
        inputs = self.inputs if positions is None else [self.inputs[n] for n in positions if self.has(n)]
        return joined(inputs) == Decider.DATA

    def does(self, difference: Difference) -> bool:
        """Return whether the user asked for a runtime with this difference from the documentation."""
        return self.asker.runtime == difference.runtime

    def input_name(self, position: int) -> str:
        """Return the name of an input."""
        given = self.place.inputs
        if self.inputs is not given and position < len(self.inputs):
            places = [n for n, v in enumerate(given) if v is self.inputs[position]]  # values may be shared
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
