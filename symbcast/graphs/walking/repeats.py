"""Nodes that differ from an earlier one only in names: their outputs are taken over, without asking again.

Models repeat their layers, so most nodes of a large one have a twin: the same operator and attributes, on inputs about
which the same is known. What a node gives is a function of these, of the conditions under which it runs, and of what
the walk knows about sizes. A node is a twin's model only if it left no trace in the walk; a second twin of a node with
requirements is one, because these are recorded already.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from symbcast.graphs.values.value import Constant, Value

if TYPE_CHECKING:
    from symbcast.graphs.requirements.recorder import Asker

Key: TypeAlias = "tuple[Any, ...]"

_INCOMPARABLE = -1
"""The key of a value whose facts are more than its shape, type, elements and decider."""


class Repeats:
    """The outputs of nodes of one walk, by everything that decides them."""

    def __init__(self, asker: Asker, trace: Callable[[], Hashable]) -> None:
        self._asker = asker
        self._trace = trace
        """Counts what nodes leave in the walk."""
        self._numbers: dict[Hashable, int] = {}
        """The key of a value by the facts about it."""
        self._outputs: dict[Key, Sequence[Value | int]] = {}
        """Values, and the positions of inputs that are handed on."""
        self._knowledge: Hashable = None
        """The knowledge about sizes under which these are the outputs."""

    def key(self, kind: Hashable | None, inputs: Sequence[Value | None]) -> Key | None:
        """Return what decides a node's outputs, besides the knowledge about sizes; None if that is unknown."""
        if kind is None:
            return None
        keys = [None if v is None else v.key or self.number(v) for v in inputs]
        return None if _INCOMPARABLE in keys else (kind, self._asker.guards, *keys)

    def table(self) -> Mapping[Key, Sequence[Value | int]]:
        """Return what nodes give under the present knowledge: values, and the positions of inputs that are handed on.

        Values are shared: nothing may change them.
        """
        knowledge = self._asker.knowledge
        if knowledge != self._knowledge:
            self._outputs.clear()
            self._knowledge = knowledge
        return self._outputs

    def outputs(self, key: Key, inputs: Sequence[Value | None]) -> Sequence[Value] | None:
        """Return the outputs of a node with a key and these inputs; None if none are known."""
        found = self.table().get(key)
        if found is None:
            return None
        return [cast("Value", inputs[v]) if isinstance(v, int) else v for v in found]

    def state(self) -> Hashable:
        """Return what changes if a node leaves a trace."""
        return self._asker.knowledge, self._asker.recorded, self._trace()

    def keep(self, key: Key, before: Hashable, inputs: Sequence[Value | None], outputs: Sequence[Value]) -> None:
        """Take over the outputs of a node for its twins, if it left no trace since ``before``.

        A constant that was read as an array may have other numbers than another one with the same key.
        """
        if before != self.state():
            return
        for given in inputs:
            if isinstance(given, Constant) and given.was_read:
                return
        kept: list[Value | int] = []
        for value in outputs:
            if isinstance(value, Constant) and value in inputs:
                kept.append(inputs.index(value))
            elif type(value) is Value and (value.key or self.number(value)) != _INCOMPARABLE:
                kept.append(value)
            else:
                return
        self._outputs[key] = kept

    def forget(self) -> Callable[[], None]:
        """Start anew, because requirements will be discarded; return the function that takes the outputs back."""
        before = self._outputs, self._knowledge
        self._outputs, self._knowledge = {}, None

        def restore() -> None:
            self._outputs, self._knowledge = before

        return restore

    def number(self, value: Value) -> int:
        """Set the key of a value and return it."""
        facts = value.facts()
        value.key = _INCOMPARABLE if facts is None else self._numbers.setdefault(facts, len(self._numbers) + 1)
        return value.key
