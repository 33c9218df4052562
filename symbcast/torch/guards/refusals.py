"""Read torch's export errors: combine the constraints that an error lists into one condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from symbcast.core.algebra.symbols import symbol
from symbcast.errors import DimensionError, ShapeTypeError
from symbcast.graphs.inputs.knowledge import identifier
from symbcast.torch.guards.guard_texts import GuardReader, shown_guard
from symbcast.torch.guards.guards import Guard, Guards, Specialised
from symbcast.torch.reading.inputs import shown_source

_SIZE = re.compile(r"L\['\w+'\](?:\[[^\]]*\])*\.size\(\)\[\d+\]")
_NAMED = re.compile(rf"values of (\w+) = ({_SIZE.pattern})")
_GUARD = re.compile(r"generated guard:? (.+)")
_FIXED = re.compile(
    rf"You marked (?P<name>.+?) as dynamic but your code specialized it to be a constant \((?P<size>\d+)\)"
    rf"|(?P<source>{_SIZE.pattern}).*?(?:constant|specialized it to be a constant|inferred to be) \(?(?P<number>\d+)\)?"
)
_SUGGESTED = re.compile(r"Suggested fixes:[^\n]*\n(?P<fixes>(?:[ \t]+\S[^\n]*\n?)+)")


class Refusal:
    """The requirements on dynamic dimensions in an error of ``torch.export.export``.

    ``text`` is the error's text.
    """

    def __init__(self, text: str, min_size: int = 1) -> None:
        self.text = text
        self._min_size = min_size

    @cached_property
    def guards(self) -> Guards:
        """The constraints that the error lists, as one minimal condition, and the axes that torch fixed."""
        names = {source: name for name, source in _NAMED.findall(self.text)}
        for source in _SIZE.findall(self.text):
            names.setdefault(source, _called(source))
        reader = GuardReader({source: symbol(name) for source, name in names.items()})
        return Guards(tuple(_guards(self.text, reader)), names.values(), self._min_size, specialised=self._fixed(names))

    def _fixed(self, names: dict[str, str]) -> Iterator[Specialised]:
        seen = set()
        for found in _FIXED.finditer(self.text):
            source = found["source"] or found["name"]
            axis = _shown_axis(source) if _SIZE.fullmatch(source) else source
            if axis not in seen:
                seen.add(axis)
                yield Specialised(axis, int(found["size"] or found["number"]), source, True)

    @property
    def suggested(self) -> str:
        """Torch's own suggested fixes; empty if there are none."""
        found = _SUGGESTED.search(self.text)
        return "" if found is None else found["fixes"].strip("\n")

    def explain(self) -> str:
        """Return the requirements in words."""
        lines = [f"torch asks that {c.text}" for c in self.guards.clauses]
        lines += [f"torch fixed {s.axis} at {s.size}" for s in self.guards.specialised]
        return "\n".join(lines) or "no constraint on sizes was found in torch's error"

    def __str__(self) -> str:
        return self.explain()


def read_error(error: BaseException | str, min_size: int = 1) -> Refusal:
    """Read an error of ``torch.export.export``, or its text; return its requirements on dynamic dimensions.

    >>> refusal = read_error('''Constraints violated (H)!
    ...   - Not all values of H = L['x'].size()[2] in the specified range satisfy the generated guard
    ...     (L['x'].size()[2] // 2) != 1.
    ...   - Not all values of H = L['x'].size()[2] in the specified range satisfy the generated guard
    ...     (L['x'].size()[2] % 4) == 0.
    ... ''')
    >>> print(refusal)
    torch asks that H % 4 == 0
    """
    if not isinstance(error, (BaseException, str)):
        raise ShapeTypeError(
            error, "an error of torch", "give the exception that torch.export.export raised, or its text"
        )
    return Refusal(str(error), min_size)


def _guards(text: str, reader: GuardReader) -> Iterator[Guard]:
    seen = set()
    for found in _GUARD.findall(re.sub(r"guard\s*\n\s+", "guard ", text)):
        shown = found.strip().rstrip(".")
        if shown in seen:
            continue
        seen.add(shown)
        try:
            yield Guard(shown_guard(shown), reader.formula(shown))
        except DimensionError as error:
            yield Guard(shown_guard(shown), None, "", error.problem)


def _called(source: str) -> str:
    return f"{identifier(shown_source(source).partition('.size()')[0])}_dim_{source.rpartition('[')[2].rstrip(']')}"


def _shown_axis(source: str) -> str:
    shown, _, axis = shown_source(source).rpartition(".size()")
    return f"{shown}.shape{axis}"
