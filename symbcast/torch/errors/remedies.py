"""The dynamic shapes that torch accepts, from the requirements in its error.

An error names only some axes. The suggestion covers these; the other axes stay as the caller wrote them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from symbcast.core.algebra.symbols import symbol
from symbcast.torch.guards.guards import Specialised
from symbcast.torch.guards.log_texts import Names
from symbcast.torch.guards.spec_texts import nested
from symbcast.torch.guards.suggestions import AUTO, FIXED, Suggester, Suggestion, with_range
from symbcast.torch.reading.inputs import Axis, Input, Inputs
from symbcast.torch.reading.library import load

if TYPE_CHECKING:
    from symbcast.torch.guards.guards import Guards


class Remedy:
    """The changes to ``dynamic_shapes`` that answer an error.

    ``by_source`` and ``by_name`` have the text for an axis, by torch's name of it and by the name of its `Dim`.
    """

    def __init__(self, names: Names, guards: Guards, fixed: Iterable[Specialised], is_forced: bool) -> None:
        self._names = names
        self._guards = guards
        self._fixed = [s for s in fixed if s.size > 1]
        self._is_forced = is_forced
        self._of_one = {s.source for s in fixed if s.size <= 1}

    @cached_property
    def _inputs(self) -> Inputs:
        """The arguments that the error names, with their axes."""
        named = [s for s in self._names.by_source if s.startswith("L[") and ".size()" in s and s not in self._of_one]
        groups: dict[str, list[Axis]] = {}
        for source in named:
            argument, _, place = source.partition(".size()")
            size = symbol(self._names.name_of(source))
            axis = Axis(argument, int(place.strip("[]")), source, None, size)
            groups.setdefault(argument, []).append(axis)
        inputs = (Input(a, a, None, tuple(sorted(axes, key=lambda x: x.axis or 0))) for a, axes in groups.items())
        return Inputs(tuple(inputs), {}, ())

    @cached_property
    def _texts(self) -> tuple[dict[str, str], list[str]]:
        fixed = {s.source: AUTO if self._is_forced else FIXED for s in self._fixed}
        of_name = {self._names.name_of(source): text for source, text in fixed.items()}
        own = {axis.source for axis in self._inputs.axes}
        said = {s: t for s, t in Suggester(self._inputs, self._guards).texts()[0].items() if s in own}
        said = {s: fixed.get(s, of_name.get(self._names.name_of(s), text)) for s, text in said.items()}
        refused = [source for source, text in said.items() if text in (AUTO, FIXED)]
        again, lines = Suggester(self._inputs, self._guards, refused).texts()
        again = {s: again[s] for s in said}
        return {s: text if text in (AUTO, FIXED) else again[s] for s, text in said.items()}, lines

    @property
    def by_source(self) -> dict[str, str]:
        """The text for each axis that the error names."""
        return self._texts[0]

    @cached_property
    def by_name(self) -> dict[str, str]:
        """The text for each `Dim` that the error names, also where it does not name the axis."""
        found = {self._names.name_of(source): text for source, text in self.by_source.items()}
        for s in self._fixed:
            found.setdefault(self._names.name_of(s.source), AUTO if self._is_forced else FIXED)
        return found

    def suggestion(self) -> Suggestion | None:
        """Return the dynamic shapes of the axes that the error names; None if it names none."""
        if not self.by_name:
            return None
        unplaced = [n for n in self.by_name if n not in map(self._names.name_of, self.by_source)]
        lines = [*self._texts[1], *(f"{n} = {self.by_name[n]}" for n in unplaced if n.isidentifier())]
        return Suggestion(tuple(lines), nested(self._inputs, self.by_source))

    def repaired(self, dynamic_shapes: Any) -> Any:
        """Return dynamic shapes with the axes of the error changed, and all others as they are."""
        dim = load("torch.export").Dim
        space: dict[str, Any] = {"Dim": dim}
        for line in self._texts[1]:
            exec(line, space)
        ranges: dict[str, list[tuple[int, int]]] = {}
        _changed(dynamic_shapes, "", lambda place, given: self._noted(place, given, ranges))
        for name, given in ranges.items():
            space[name] = _within(space[name], given)
        return _changed(dynamic_shapes, "", lambda place, given: self._entry(place, given, space))

    def _text(self, place: str, given: Any) -> str | None:
        named = str(given.__name__) if hasattr(given, "__name__") else ""
        return self.by_source.get(place, self.by_name.get(named) if named else None)

    def _noted(self, place: str, given: Any, ranges: dict[str, list[tuple[int, int]]]) -> Any:
        """Note the range of a `Dim` that is replaced by another one."""
        text, ends = self._text(place, given), (getattr(given, "min", None), getattr(given, "max", None))
        if text is not None and text.isidentifier() and text != FIXED and all(isinstance(e, int) for e in ends):
            ranges.setdefault(text, []).append(ends)  # type: ignore[arg-type]
        return given

    def _entry(self, place: str, given: Any, space: dict[str, Any]) -> Any:
        text = self._text(place, given)
        if text is None:
            return given
        return with_range(space["Dim"], given) if text == AUTO else eval(text, dict(space))


def _within(dim: Any, ranges: Iterable[tuple[int, int]]) -> Any:
    """Return a `Dim` with the ranges that the caller gave, as far as the requirements allow."""
    low, high = dim.min, dim.max
    for least, most in ranges:
        low, high = max(low, least), min(high, most)
    return dim if low > high else type(dim)(dim.__name__, min=low, max=high)


def _changed(value: Any, place: str, change: Callable[[str, Any], Any]) -> Any:
    if isinstance(value, Mapping):
        if value and all(isinstance(k, int) for k in value) and not _has_nested(value):
            return {k: change(f"{place}.size()[{k}]", v) for k, v in value.items()}
        return {k: _changed(v, f"{place}[{k!r}]" if place else f"L[{k!r}]", change) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        make = getattr(type(value), "_make", type(value))  # a named tuple takes several arguments
        if _has_nested(value):
            return make(_changed(v, f"{place}[{n}]", change) for n, v in enumerate(value))
        return make(change(f"{place}.size()[{n}]", v) for n, v in enumerate(value))
    return change(place, value) if value is not None and re.fullmatch(r"L\['\w+'\]", place) else value


def _has_nested(value: Any) -> bool:
    items = value.values() if isinstance(value, Mapping) else value
    return any(isinstance(v, (Mapping, list, tuple)) for v in items)
