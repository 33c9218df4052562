"""Read torch's errors, logs and reports about sizes: what they mean, why torch gives them, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from symbcast.core.signatures import with_advice
from symbcast.errors import ShapeTypeError
from symbcast.torch.compiled.recompiles import RecompileReport, explain_recompiles
from symbcast.torch.errors import calls, constraints, data_dependent, kernels, logs
from symbcast.torch.errors.causes import cause_of, lines_of
from symbcast.torch.errors.messages import Message, messages_in, rows_of
from symbcast.torch.errors.remedies import Remedy
from symbcast.torch.guards.guards import Guards, Specialised
from symbcast.torch.guards.log_texts import Names, errors_in, plain
from symbcast.torch.guards.suggestions import Suggestion

_ROWS = rows_of(constraints.ROWS, calls.ROWS, data_dependent.ROWS, logs.ROWS, kernels.ROWS)
_SUGGESTED = re.compile(r"Suggested fixes:[^\n]*\n(?P<fixes>(?:[ \t]+\S[^\n]*\n?)+)")
_IS_EXPORT = re.compile(
    r"Constraints violated|Specializations unexpectedly|dim hint|this guard was added|_export/|satisfy the "
    r"generated guard"
    r"|specialized it to be a constant|must always be"
)
_IS_COMPILED = re.compile(r"Recompiling function|torch\._dynamo hit config|User stack:|\[__(?:guards|recompiles)")
_FORCED = re.compile(r"resulted in a specialized value|must be specialized to")
_NOTHING = "no constraint on sizes was found in torch's error"


class Refusal:
    """What an error of torch says about sizes.

    ``text`` is the error's text. A text may hold several errors, such as a log: ``errors`` has each of them, and the
    other attributes are about all of its messages.
    """

    def __init__(self, text: str, min_size: int = 1) -> None:
        self.text = text
        self._min_size = min_size

    @cached_property
    def errors(self) -> tuple[Refusal, ...]:
        """The errors in the text that are about sizes, each once; the refusal itself if there is at most one."""
        parts = [Refusal(part, self._min_size) for part in errors_in(plain(self.text))]
        found = [part for part in parts if part.messages]
        return tuple(found) if len(found) > 1 else (self,)

    @cached_property
    def _plain(self) -> str:
        return plain(self.text)

    @cached_property
    def _names(self) -> Names:
        return Names(self._plain)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Torch's messages about sizes, in order, each once."""
        return tuple(messages_in(self._plain, self._names, _ROWS))

    @cached_property
    def recompiles(self) -> RecompileReport:
        """The recompilations of ``torch.compile`` in the text."""
        return explain_recompiles(self._plain)

    @cached_property
    def guards(self) -> Guards:
        """The requirements that the error lists, as one minimal condition, and the axes that torch fixed."""
        guards = [m.guard for m in self.messages if m.guard is not None]
        names = [*self._names.by_source.values(), *self._names.by_symbol.values()]
        return Guards(guards, names, self._min_size, specialised=self._fixed())

    def _fixed(self) -> Iterator[Specialised]:
        seen: set[str] = set()
        for message in self.messages:
            if message.fixed is not None and message.fixed.axis not in seen:
                seen.add(message.fixed.axis)
                yield message.fixed

    @property
    def names(self) -> frozenset[str]:
        """The axes that the error is about: torch's names of them, and the names of their `Dim`."""
        fixed = (s.source for s in self.guards.specialised)
        return frozenset((*self._names.by_source, *self._names.by_source.values(), *fixed))

    @property
    def suggested(self) -> str:
        """Torch's own suggested fixes; empty if there are none."""
        found = _SUGGESTED.search(self._plain)
        return "" if found is None else found["fixes"].strip("\n")

    @cached_property
    def _remedy(self) -> Remedy:
        return Remedy(self._names, self.guards, self.guards.specialised, bool(_FORCED.search(self._plain)))

    def suggest(self) -> Suggestion | None:
        """Return the ``dynamic_shapes`` of the axes that the error names, as text; None if it is not about an export.

        The other axes stay as the export had them. Where torch names a `Dim` without its axis, a line gives the value
        for that name. With the module at hand, ``symbcast.torch.check(...).suggest()`` covers all axes.
        """
        is_export = _IS_EXPORT.search(self._plain) and not _IS_COMPILED.search(self._plain)
        return self._remedy.suggestion() if is_export else None

    def repaired(self, dynamic_shapes: Any) -> Any:
        """Return the caller's ``dynamic_shapes`` with the axes of this error changed; this needs torch."""
        return self._remedy.repaired(dynamic_shapes)

    def explain(self) -> str:
        """Return for each error its requirements in words, the reasons, and what to do."""
        if len(self.errors) > 1:
            parts = [f"error {n}\n{chr(10).join(error._lines())}" for n, error in enumerate(self.errors, 1)]
        else:
            parts = ["\n".join(self._lines())]
        parts += [self.recompiles.explain()] if self.recompiles.recompilations else []
        return "\n\n".join(filter(None, parts)) or _NOTHING

    def _lines(self) -> Iterator[str]:
        answered = [m.guard for m in self.messages if m.advice and m.guard is not None]
        for clause in self.guards.clauses:
            if not clause.guards or not all(g in answered for g in clause.guards):
                yield f"torch asks that {clause.text}"
                yield from _indented(why=cause_of(clause, self.guards.all), at=", ".join(lines_of(clause)))
        for message in self.messages:
            if message.guard is None or message.guard.formula is None or message.advice:
                yield message.meaning
                yield from _indented(why=message.why, at=message.line, do=message.advice)
        suggestion = self.suggest()
        if suggestion is not None:
            yield "export again with, and all other axes as before,"
            yield from (f"  {line}" for line in suggestion.lines)
            if suggestion.shapes != "{}":
                yield f"  dynamic_shapes = {suggestion.shapes}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data: clauses with their reasons, messages, and the suggested dynamic shapes."""
        suggestion = self.suggest()
        clauses = self.guards.clauses
        return {
            "clauses": [{"text": c.text, "why": cause_of(c, self.guards.all), "at": [*lines_of(c)]} for c in clauses],
            "fixed": [{"axis": s.axis, "size": s.size} for s in self.guards.specialised],
            "messages": [
                {"meaning": m.meaning, "why": m.why, "advice": m.advice, "line": m.line, "said": m.said}
                for m in self.messages
            ],
            "dynamic_shapes": None
            if suggestion is None
            else {"lines": list(suggestion.lines), "shapes": suggestion.shapes},
        }

    def __str__(self) -> str:
        return self.explain()


def _indented(**texts: str) -> Iterator[str]:
    yield from (f"  {label}: {text}" for label, text in texts.items() if text)


@with_advice
def read_error(error: BaseException | str, min_size: int = 1) -> Refusal:
    """Read an error of torch, its text, or a log with several: requirements on sizes, reasons, and what to do.

    Reads the errors of ``torch.export``, ``torch.compile`` and of calls of exported programs, the errors of operators
    about sizes, reports of ``draft_export``, and ``TORCH_LOGS``. This needs no torch.

    >>> refusal = read_error('''Constraints violated (H)!
    ...   - Not all values of H = L['x'].size()[2] in the specified range satisfy the generated guard
    ...     (L['x'].size()[2] // 2) != 1.
    ...   - Not all values of H = L['x'].size()[2] in the specified range satisfy the generated guard
    ...     (L['x'].size()[2] % 4) == 0.
    ... ''')
    >>> print(refusal)
    torch asks that H % 4 == 0
      why: the code divides the axis into equal parts: a view, reshape, split or unfold with a written size
    export again with, and all other axes as before,
      _H = Dim('_H')
      dynamic_shapes = {'x': {2: 4*_H}}
    """
    if not isinstance(error, (BaseException, str)):
        raise ShapeTypeError(
            error, "an error of torch", "give the exception that torch.export.export raised, or its text"
        )
    return Refusal(str(error), min_size)
