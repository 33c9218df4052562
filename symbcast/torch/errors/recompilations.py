"""``symbcast.torch.explain_recompiles``: why a compiled function was compiled again, and which axes to mark."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from symbcast.core.advice import Guessable, with_advice
from symbcast.core.algebra.symbols import symbol
from symbcast.core.solver.evaluation import holds_at, symbols_in
from symbcast.core.structs import NamedTuple
from symbcast.errors import ShapeTypeError
from symbcast.torch.guards.guard_texts import SIZE, GuardReader, shown_axis, size_name, without_log_prefixes
from symbcast.torch.guards.guards import Guard, Guards
from symbcast.torch.library import load_torch

_TENSOR_CHECK = re.compile(r"check_tensor\((?P<source>.+?), \w+, .*size=\[(?P<size>[^\]]*)\]")
_LAMBDA = re.compile(r"\+- (?:LAMBDA_GUARD|SYMBOLIC_SHAPE_GUARD): (?P<guard>[^\n]*?)(?:  # (?P<place>[^\n]*))?$", re.M)


class CacheEntry(NamedTuple):
    """A compiled version of a frame.

    Attributes:
        name: dynamo's identifier, such as ``0/1``.
        shapes: the sizes of each tensor argument that it serves; None for an open size.
        guards: the conditions on open sizes.
        axes: the axis that each size in the conditions is of.
    """

    name: str
    shapes: dict[str, tuple[int | None, ...]]
    guards: Guards
    axes: dict[str, str]

    @property
    def condition(self) -> str:
        """The sizes that it serves, in words."""
        parts = [f"{name} is ({', '.join('?' if d is None else str(d) for d in dims)}{',' * (len(dims) == 1)})"
                 for name, dims in self.shapes.items()]  # fmt: skip
        return "; ".join([*parts, *(self._spelled(c.text) for c in self.guards.clauses)]) or "everything"

    def _spelled(self, text: str) -> str:
        return re.sub(r"\w+", lambda m: self.axes.get(m[0], m[0]), text)


def entries_of(function: Any) -> list[CacheEntry]:
    """Return the cache entries of a compiled function or module, oldest first.

    Raises `ShapeTypeError` for what ``torch.compile`` did not return.
    """
    code = code_of(function)
    listed = load_torch("torch._dynamo.eval_frame")._debug_get_cache_entry_list(code)
    # Dynamo lists the newest entry first.
    return [_entry(e) for e in reversed(listed)]


def code_of(function: Any) -> Any:
    """Return the code object that dynamo compiles for a function, a method or a module."""
    inner = getattr(function, "_orig_mod", None) or getattr(function, "_torchdynamo_orig_callable", None) or function
    inner = getattr(inner, "forward", inner)
    code = getattr(getattr(inner, "__func__", inner), "__code__", None)
    if code is None:
        raise ShapeTypeError(function, "a compiled function or a log", "give what torch.compile returned, or its log")
    return code


def _entry(raw: Any) -> CacheEntry:
    manager = raw.guard_manager
    shapes: dict[str, tuple[int | None, ...]] = {}
    for part in manager.code_parts:
        match = _TENSOR_CHECK.search(part)
        if match is not None and "_parameters[" not in match["source"] and "_buffers[" not in match["source"]:
            sizes = [s.strip() for s in match["size"].split(",") if s.strip()]
            name = re.sub(r"L\['(\w+)'\]", r"\1", match["source"])
            shapes[name] = tuple(None if s == "None" else int(s) for s in sizes)
    text = str(manager)
    found_guards = [(m["guard"], m["place"] or "") for m in _LAMBDA.finditer(text) if ".size()" in m["guard"]]
    names = {source: size_name(source) for guard, _ in found_guards for source in SIZE.findall(guard)}
    reader = GuardReader({source: symbol(name) for source, name in names.items()})
    guards = [_guard(guard, reader, place) for guard, place in found_guards]
    axes = {name: shown_axis(source) for source, name in names.items()}
    return CacheEntry(str(raw.compile_id), shapes, Guards(guards, names.values(), 0), axes)


def _guard(text: str, reader: GuardReader, place: str) -> Guard:
    line = re.search(r"(\S+\.py:\d+) in", place)
    return Guard.read(text, reader, f"line {line[1]}" if line and "site-packages" not in line[1] else "")


# Reasons for which dynamo compiles again, as ``TORCH_LOGS="recompiles"`` writes them.


_TENSOR_NAME = r"tensor '(?P<tensor>(?:[^'\n]|\['[^']*'\])+)'"
_PARAMETER = "_parameters["


class RecompileReason(NamedTuple):
    """Why a cache entry could not be used.

    Attributes:
        kind: size, integer, branch, alike, stride, or another property of an argument.
        text: torch's text.
        meaning: its meaning.
        advice: what avoids it.
        opens: the axes to mark, if that avoids it, each as its tensor, its number and the sizes that it had.
    """

    kind: str
    text: str
    meaning: str
    advice: str
    opens: tuple[tuple[str, int, tuple[int, ...]], ...] = ()


def _plain(source: str) -> str:
    return re.sub(r"L\['(\w+)'\]", r"\1", source)


def _size(m: re.Match[str]) -> RecompileReason:
    tensor, axis, sizes = _plain(m["tensor"]), int(m["axis"]), (int(m["wanted"]), int(m["actual"]))
    shown = f"{tensor}.shape[{axis}] was {sizes[0]} in the entry and is {sizes[1]} in the call"
    if _PARAMETER in tensor or m["more"]:
        advice = "this is a parameter: set torch._dynamo.config.force_parameter_static_shapes = False"
        return RecompileReason("parameter", m[0], shown, advice)
    advice = f"torch._dynamo.mark_dynamic({tensor}, {axis}) before the first call"
    if {0, 1} & {*sizes}:
        advice = (
            f"torch._dynamo.decorators.mark_unbacked({tensor}, {axis}) before the first call: torch compiles sizes of "
            "0 and 1 apart, and mark_dynamic does not change that"
        )
    return RecompileReason("size", m[0], shown, advice, ((tensor, axis, sizes),))


def _stride(m: re.Match[str]) -> RecompileReason:
    shown = f"the memory layout of {_plain(m['tensor'])} differs: stride {m['wanted']} in the entry, {m['actual']} now"
    return RecompileReason(
        "stride", m[0], shown, f"pass {_plain(m['tensor'])}.contiguous(), or mark the axes whose sizes change"
    )


def _property(m: re.Match[str]) -> RecompileReason:
    tensor, what = _plain(m["tensor"]), m["what"]
    advice = {
        "rank": "pass tensors with the same number of axes; each rank is its own entry",
        "dtype": "cast the tensor before the call; each element type is its own entry",
        "requires_grad": "call it under torch.no_grad() each time, or never",
    }.get(what, f"keep the {what} of the tensor the same")
    return RecompileReason(
        what, m[0], f"the {what} of {tensor} differs: {m['wanted']} in the entry, {m['actual']} now", advice
    )


def _equal(m: re.Match[str]) -> RecompileReason:
    axes = [(_plain(m[tensor]), int(m[axis])) for tensor, axis in (("one", "first"), ("other", "second"))]
    left, right = (f"{tensor}.shape[{axis}]" for tensor, axis in axes)
    marks = " and ".join(f"torch._dynamo.mark_dynamic({tensor}, {axis})" for tensor, axis in axes)
    return RecompileReason(
        "alike",
        m[0],
        f"the entry was compiled for {left} == {right}, which were equal by chance",
        f"mark both: {marks}; unmarked axes of one size share a symbol",
        tuple((*axis, ()) for axis in axes),
    )


def _branch(m: re.Match[str]) -> RecompileReason:
    said = re.sub(r"(\w[\w\[\]'.]*?)\.size\(\)\[(\d+)\]", r"\1.shape[\2]", _plain(m["guard"])).strip()
    shown = f"the entry serves only {said}"
    low = re.fullmatch(r"2 <= (?P<t>[\w.\[\]']+)\.shape\[(?P<a>\d+)\]", said)
    if low is not None:
        mark = f"torch._dynamo.decorators.mark_unbacked({low['t']}, {low['a']})"
        advice = f"{mark}: torch compiles sizes of 0 and 1 apart"
        return RecompileReason("branch", m[0], shown, advice, ((low["t"], int(low["a"]), (1,)),))
    advice = "nothing to mark: the code or an operator takes another branch there, so each branch needs its own entry"
    return RecompileReason("branch", m[0], shown, advice)


def _integer(m: re.Match[str]) -> RecompileReason:
    name = _plain(m["name"])
    if re.fullmatch(r"-?\d+", m["value"]):
        advice = f"nothing to mark: the next value makes {name} dynamic; pass it as a tensor if it decides nothing"
        return RecompileReason("integer", m[0], f"the integer {name} was {m['value']} in the entry", advice)
    advice = f"each value of {name} is its own entry: keep it, or pass a tensor"
    return RecompileReason("value", m[0], f"{name} was {m['value']} in the entry", advice)


_SIZE = r"(?:L\['\w+'\]|\w+)(?:\[[^\]\n]*\]|\.(?!size)\w+)*"
_TABLE: tuple[tuple[str, Callable[[re.Match[str]], RecompileReason]], ...] = (
    (rf"{_TENSOR_NAME} size mismatch at index (?P<axis>\d+)\. expected (?P<wanted>\d+), actual (?P<actual>\d+)"
     r"(?P<more>\. Guard failed on a parameter)?", _size),
    (rf"{_TENSOR_NAME} strides? mismatch at index \d+\. expected (?P<wanted>\d+), actual (?P<actual>\d+)", _stride),
    (rf"{_TENSOR_NAME} (?P<what>rank|dtype|device|requires_grad|dispatch key set|Tensor|layout) mismatch\.? expected "
     r"(?P<wanted>[^,\n]+?),? (?:actual|got) (?P<actual>[^\n]+)", _property),
    (rf"(?P<one>{_SIZE})\.size\(\)\[(?P<first>\d+)\] == (?P<other>{_SIZE})\.size\(\)\[(?P<second>\d+)\](?![^\n#]*[<>])",
     _equal),
    (r"(?P<guard>[^\n#]*\.size\(\)\[\d+\][^\n#]*)", _branch),
    (r"(?P<name>L\['\w+'\]|\w+) == (?P<value>[^\n#]+?)(?=\s*(?:#|\n|$))", _integer),
)  # fmt: skip
_READERS = tuple((re.compile(pattern), build) for pattern, build in _TABLE)


def read_reason(text: str) -> RecompileReason:
    """Return a reason in words; one that is not about sizes keeps torch's text.

    >>> read_reason("tensor 'x' size mismatch at index 0. expected 3, actual 4").advice
    'torch._dynamo.mark_dynamic(x, 0) before the first call'
    """
    for pattern, build in _READERS:
        # The rows are in order of precision.
        match = pattern.match(text.strip())
        if match is not None:
            return build(match)
    shown = re.sub(r"\s*#.*", "", text.strip())
    return RecompileReason(
        "other", text, f"a guard that is not about sizes failed: {_plain(shown)}", "keep it the same in all calls"
    )


_EVENT = re.compile(
    r"Recompiling function (?P<function>\S+) in (?P<place>[^\n]+)\n\s*triggered by the following guard failure\(s\):\n"
    r"(?P<reasons>(?:[ \t]*(?:- |guard \d+)[^\n]*\n?)+)"
)
_LIMIT = re.compile(
    r"hit config\.\w+ \((?P<limit>\d+)\)\s*\n?\s*function: '(?P<function>[^']+)' \((?P<place>[^)\n]+)\)\s*\n?"
    r"\s*(?:last reason|reasons): +(?P<reasons>[^\n]+)"
)
# The same of torch 2.0 and 2.1.
_FAILED = re.compile(
    r'GuardFail\(reason="(?P<reasons>[^"\n]+)", orig_code=<code object (?P<function>\w+) at (?P<place>\w+)'
)
_ONE = re.compile(r"^[ \t]*- (?:(?P<entry>\d+/[\d_]+): )?(?P<reason>[^\n]+)", re.M)
_ENTRY = re.compile(r"^(?P<entry>\d+/[\d_]+): ")


class Recompilation(NamedTuple):
    """A function that was compiled again: where it is defined, and why each entry could not be used."""

    function: str
    place: str
    reasons: tuple[tuple[str, RecompileReason], ...]
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

    def __init__(self, recompilations: Iterable[Recompilation], entries: Iterable[CacheEntry] = ()) -> None:
        self.recompilations = tuple(recompilations)
        self.entries = tuple(entries)

    @cached_property
    def _reasons(self) -> list[RecompileReason]:
        return [reason for event in self.recompilations for _, reason in event.reasons]

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """The axes whose sizes made torch compile again: ``mark_unbacked`` if a size was 0 or 1."""
        seen: dict[tuple[str, int], set[int]] = {}
        for tensor, axis, sizes in (*(axis for reason in self._reasons for axis in reason.opens), *self._opened):
            seen.setdefault((tensor, axis), set()).update(sizes)
        return tuple(
            Mark(tensor, axis, "mark_unbacked" if sizes & {0, 1} else "mark_dynamic")
            for (tensor, axis), sizes in seen.items()
            if (tensor, axis) not in self._fixed
        )

    @cached_property
    def _fixed(self) -> dict[tuple[str, int], RecompileReason]:
        """The axes that the code fixes: torch opens an axis that differs in its second entry, if it can."""
        fixed = {}
        # Logs have no entries, and need no torch.
        is_automatic = bool(self.entries) and load_torch("torch._dynamo.config").automatic_dynamic_shapes
        for tensor, axis, numbers in self._opened if is_automatic else ():
            entries = [e.shapes[tensor][axis] for e in self.entries if tensor in e.shapes]
            if None not in entries and len(numbers - {0, 1}) > 1:
                shown = f"the code fixes {tensor}.shape[{axis}]: torch did not open it, so each size is its own entry"
                fixed[tensor, axis] = RecompileReason("fixed", "", shown, "pad to few sizes, or change what fixes it")
        return fixed

    @property
    def _branches(self) -> Iterator[RecompileReason]:
        """Yield the entries with open axes whose guards exclude sizes of other entries."""
        for entry in self.entries:
            for other in self.entries:
                sizes = {
                    size_name(f"{t}.size()[{n}]"): d for t, dims in other.shapes.items() for n, d in enumerate(dims)
                }
                known = {symbol(name): d for name, d in sizes.items() if d is not None and d > 1}
                for clause in entry.guards.clauses:
                    about = {*symbols_in(clause.formula)}
                    if about <= known.keys() and not holds_at(clause.formula, known):
                        shown = (
                            f"entry {entry.name} serves only {entry._spelled(clause.text)}, unlike entry {other.name}"
                        )
                        yield RecompileReason("branch", "", shown, "nothing to mark: each branch needs its own entry")

    @property
    def _opened(self) -> Iterator[tuple[str, int, set[int]]]:
        """Yield the axes that one entry fixes and another leaves open, with the fixed sizes."""
        tensors = dict.fromkeys(tensor for entry in self.entries for tensor in entry.shapes)
        for tensor in tensors:
            shapes = [entry.shapes[tensor] for entry in self.entries if tensor in entry.shapes]
            # A failed guard names only the first axis that differs; torch opens every axis that does.
            for axis in range(min(map(len, shapes))):
                sizes = {shape[axis] for shape in shapes}
                numbers = {size for size in sizes if size is not None}
                if len(sizes) > 1 and len(set(map(len, shapes))) == 1:
                    yield tensor, axis, numbers

    @property
    def needed(self) -> tuple[RecompileReason, ...]:
        """The reasons that no mark removes, such as a branch on a size or another element type."""
        is_marked = {mark[:2] for mark in self.marks}
        left = [r for r in self._reasons if r.kind != "integer" and not r.opens]
        # A stride follows from a size that is marked.
        needed = [r for r in left if r.kind != "stride" or not is_marked]
        needed += [*self._fixed.values(), *(() if any(r.kind == "branch" for r in needed) else self._branches)]
        return tuple({r.meaning: r for r in needed}.values())

    @property
    def is_one_enough(self) -> bool:
        """Whether one entry serves all calls after the marks."""
        return not self.needed and not self._may_broadcast

    @property
    def _may_broadcast(self) -> bool:
        """Whether an unbacked axis may meet an open axis of another tensor, where torch takes its size for equal."""
        tensors = {mark.tensor for mark in self.marks}
        return bool(self.entries) and len(tensors) > 1 and any(mark.kind == "mark_unbacked" for mark in self.marks)

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
        elif self.needed:
            yield "one entry cannot serve all of these calls: " + "; ".join(r.meaning for r in self.needed)
        else:
            yield "whether one entry then serves all of these calls is not known: a size of 1 may broadcast"

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
    texts = load_torch("torch._dynamo.utils").guard_failures.get(code, [])
    place = f"{code.co_filename}:{code.co_firstlineno}"
    events = [Recompilation(code.co_name, place, (_named(text),)) for text in texts]
    return RecompileReport(events, entries_of(function_or_log))


def _named(text: str) -> tuple[str, RecompileReason]:
    match = _ENTRY.match(text)
    first = text.partition("\nUser stack trace")[0]
    return (match["entry"], read_reason(first[match.end() :])) if match is not None else ("", read_reason(first))


def recompilations_in(log: str) -> Iterator[Recompilation]:
    """Yield the recompilations in a log, in order."""
    text = without_log_prefixes(log)
    events: list[tuple[int, Recompilation]] = []
    for match in _EVENT.finditer(text):
        reasons = tuple((m["entry"] or "", read_reason(m["reason"])) for m in _ONE.finditer(match["reasons"]))
        events.append((match.start(), Recompilation(match["function"], match["place"].strip(), reasons)))
    for match in (*_LIMIT.finditer(text), *_FAILED.finditer(text)):
        event = Recompilation(match["function"], match["place"], (_named(match["reasons"]),), match.re is _LIMIT)
        events.append((match.start(), event))
    if not events and (lines := [m for m in _ONE.finditer(text) if m["entry"]]):  # the first lines were cut off
        reasons = tuple((m["entry"], read_reason(m["reason"])) for m in lines)
        events.append((0, Recompilation("a function", "its first lines are not in the log", reasons)))
    yield from (event for _, event in sorted(events, key=lambda pair: pair[0]))
