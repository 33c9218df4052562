"""``symbcast.torch.explain_recompiles``: why a compiled function was compiled again, and what to mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

from symbcast.core.guesses import Guessable
from symbcast.core.signatures import with_advice
from symbcast.torch.compiled.entries import Entry, code_of, entries_of
from symbcast.torch.compiled.reasons import Reason, read_reason
from symbcast.torch.guards.log_texts import plain
from symbcast.torch.reading.library import load

_EVENT = re.compile(
    r"Recompiling function (?P<function>\S+) in (?P<place>[^\n]+)\n\s*triggered by the following guard failure\(s\):\n"
    r"(?P<reasons>(?:[ \t]*(?:- |guard \d+)[^\n]*\n?)+)"
)
_LIMIT = re.compile(
    r"hit config\.\w+ \((?P<limit>\d+)\)\s*\n?\s*function: '(?P<function>[^']+)' \((?P<place>[^)\n]+)\)\s*\n?"
    r"\s*(?:last reason|reasons): +(?P<reasons>[^\n]+)"
)
_ONE = re.compile(r"^[ \t]*- (?:(?P<entry>\d+/[\d_]+): )?(?P<reason>[^\n]+)", re.M)
_ENTRY = re.compile(r"^(?P<entry>\d+/[\d_]+): ")


class Recompilation(NamedTuple):
    """A function that was compiled again: where it is defined, and why each entry could not be used."""

    function: str
    place: str
    reasons: tuple[tuple[str, Reason], ...]
    is_last: bool = False
    """Whether the limit on recompilations was reached, after which the function runs uncompiled."""


class Mark(NamedTuple):
    """An axis to mark before the first call; ``call`` is the line to write."""

    tensor: str
    axis: int
    kind: str

    @property
    def call(self) -> str:
        """The line to write before the first call."""
        where = "torch._dynamo." if self.kind == "mark_dynamic" else "torch._dynamo.decorators."
        return f"{where}{self.kind}({self.tensor}, {self.axis})"


class RecompileReport(Guessable):
    """Why a function was compiled several times.

    Attributes:
        recompilations: each recompilation, with the guard of each entry that failed.
        entries: the cache entries and the sizes that each serves; empty for a log.
        marks: the axes to mark before the first call.
        is_one_enough: whether one entry then serves all the calls that were seen.
    """

    def __init__(self, recompilations: Iterable[Recompilation], entries: Iterable[Entry] = ()) -> None:
        self.recompilations = tuple(recompilations)
        self.entries = tuple(entries)

    @cached_property
    def _reasons(self) -> list[Reason]:
        return [reason for event in self.recompilations for _, reason in event.reasons]

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The axes whose sizes made torch compile again: ``mark_unbacked`` if a size was 0 or 1."""
        seen: dict[tuple[str, int], set[int]] = {}
        for reason in self._reasons:
            if reason.kind == "size" and reason.axis is not None:
                seen.setdefault((reason.tensor, reason.axis), set()).update(reason.sizes)
            elif reason.kind == "alike":
                for tensor, axis in re.findall(r"mark_dynamic\(([^,]+), (\d+)\)", reason.advice):
                    seen.setdefault((tensor, int(axis)), set())
            elif reason.kind == "branch" and "mark_unbacked(" in reason.advice:
                for tensor, axis in re.findall(r"mark_unbacked\(([^,]+), (\d+)\)", reason.advice):
                    seen.setdefault((tensor, int(axis)), set()).add(1)
        for tensor, axis, sizes in self._opened:
            seen.setdefault((tensor, axis), set()).update(sizes)
        return tuple(
            Mark(tensor, axis, "mark_unbacked" if sizes & {0, 1} else "mark_dynamic")
            for (tensor, axis), sizes in seen.items()
        )

    @property
    def _opened(self) -> Iterator[tuple[str, int, set[int]]]:
        """Yield the axes that one entry fixes and another leaves open, with the fixed sizes.

        A failed guard names only the first axis that differs; torch opens every axis that does.
        """
        tensors = dict.fromkeys(tensor for entry in self.entries for tensor in entry.shapes)
        for tensor in tensors:
            shapes = [entry.shapes[tensor] for entry in self.entries if tensor in entry.shapes]
            for axis in range(min(map(len, shapes))):
                sizes = {shape[axis] for shape in shapes}
                numbers = {size for size in sizes if size is not None}
                if len(sizes) > 1 and len(set(map(len, shapes))) == 1:
                    yield tensor, axis, numbers

    @property
    def needed(self) -> tuple[Reason, ...]:
        """The reasons that no mark removes, such as a branch on a size or another element type."""
        is_marked = {mark[:2] for mark in self.marks}
        left = [
            r for r in self._reasons if r.kind not in ("size", "alike", "integer") and "mark_unbacked" not in r.advice
        ]
        # A stride follows from a size that is marked.
        kept = [r for r in left if r.kind != "stride" or not is_marked]
        return tuple({r.meaning: r for r in kept}.values())

    @property
    def is_one_enough(self) -> bool:
        """Whether one entry serves all calls after the marks."""
        return not self.needed

    def explain(self) -> str:
        """Return the recompilations in words, and what to do."""
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        for entry in self.entries:
            yield f"entry {entry.name} serves: {entry.condition}"
        for event in self.recompilations:
            end = "; the limit was reached, and it now runs uncompiled" if event.is_last else ""
            yield f"{event.function} ({event.place}) was compiled again{end}"
            for name, reason in event.reasons:
                yield f"  {f'entry {name}: ' if name else ''}{reason.meaning}"
                yield f"    do: {reason.advice}"
        if not self.recompilations:
            yield "no recompilation was found"
            return
        for mark in self.marks:
            yield f"before the first call: {mark.call}"
        if self.is_one_enough:
            if self.entries:
                yield "then one entry serves all of these calls"
            else:
                yield "then these axes do not differ any more; a log names only the first axis that differs"
        else:
            yield "one entry cannot serve all of these calls: " + "; ".join(r.meaning for r in self.needed)

    def __str__(self) -> str:
        return self.explain()


@with_advice
def explain_recompiles(function_or_log: Any) -> RecompileReport:
    """Explain why a function was compiled again: from what ``torch.compile`` returned, or from a log.

    A log is text with the lines of ``TORCH_LOGS="recompiles"``, or the warning about the limit on recompilations; it
    needs no torch. A compiled function is not called.

    >>> print(explain_recompiles('''Recompiling function f in net.py:3
    ...     triggered by the following guard failure(s):
    ...     - 0/0: tensor 'x' size mismatch at index 0. expected 3, actual 4'''))
    f (net.py:3) was compiled again
      entry 0/0: x.shape[0] was 3 in the entry and is 4 in the call
        do: torch._dynamo.mark_dynamic(x, 0) before the first call
    before the first call: torch._dynamo.mark_dynamic(x, 0)
    then these axes do not differ any more; a log names only the first axis that differs
    """
    if isinstance(function_or_log, str):
        return RecompileReport(recompilations_in(function_or_log))
    code = code_of(function_or_log)
    texts = load("torch._dynamo.utils").guard_failures.get(code, [])
    place = f"{code.co_filename}:{code.co_firstlineno}"
    events = [Recompilation(code.co_name, place, (_named(text),)) for text in texts]
    return RecompileReport(events, entries_of(function_or_log))


def _named(text: str) -> tuple[str, Reason]:
    found = _ENTRY.match(text)
    first = text.partition("\nUser stack trace")[0]
    return (found["entry"], read_reason(first[found.end() :])) if found is not None else ("", read_reason(first))


def recompilations_in(log: str) -> Iterator[Recompilation]:
    """Yield the recompilations in a log, in order."""
    text = plain(log)
    events: list[tuple[int, Recompilation]] = []
    for found in _EVENT.finditer(text):
        reasons = tuple((m["entry"] or "", read_reason(m["reason"])) for m in _ONE.finditer(found["reasons"]))
        events.append((found.start(), Recompilation(found["function"], found["place"].strip(), reasons)))
    for found in _LIMIT.finditer(text):
        event = Recompilation(found["function"], found["place"], (_named(found["reasons"]),), True)
        events.append((found.start(), event))
    if not events and (lines := [m for m in _ONE.finditer(text) if m["entry"]]):  # the first lines were cut off
        reasons = tuple((m["entry"], read_reason(m["reason"])) for m in lines)
        events.append((0, Recompilation("a function", "its first lines are not in the log", reasons)))
    yield from (event for _, event in sorted(events, key=lambda pair: pair[0]))
